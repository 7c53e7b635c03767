#pragma once
// A schema lists a component's fields once: name, type, default, unit, range and layout. It drives table columns,
// growth, row moves, blobs, the text compiler and every report; nothing else lists the fields.
//
// The same fields can be laid out in three ways (position is a Vec3, mass a float; rows 0, 1, 2 ...):
//
//     apart (the default)    mass      m0 m1 m2        position  xyz0 xyz1 xyz2
//     split                  mass      m0 m1 m2        position  x0 x1 x2   y0 y1 y2   z0 z1 z2
//     whole                  component {m0 xyz0} {m1 xyz1} {m2 xyz2}
//
// A schema comes from a C++ struct (describe.h) or from a definition made at run time (a schema file, a plugin).
// Thread: immutable after creation; any thread.

#include "shoal/base/detail/array.h"
#include "shoal/base/status.h"
#include "shoal/table/detail/attributes.h"
#include "shoal/table/detail/field.h"

#include <string>

namespace shoal {

inline constexpr std::uint32_t kMaxFields = 64;

/// Returns "kept", "cleared" or "dies_too", as in schema files, or "none" for a field that is not a relation.
SHOAL_API std::string_view relation_name(Relation relation);

/// A component's identity: the XXH3-64 hash of its name. It never depends on an address, RTTI or registration order.
using ComponentId = StringId;

/// One enumerator of a definition made at run time.
struct EnumeratorDefinition {
    std::string name{};
    std::int64_t value = 0;
    friend bool operator==(const EnumeratorDefinition&, const EnumeratorDefinition&) = default;
};

/// A field as it is declared. Zero means none: no unit, no range, a zero default.
struct FieldDefinition {
    std::string name{};  ///< such as "aabbox.min", for a field of a nested struct
    FieldType type = FieldType::kFloat;
    FieldType element_type = FieldType(0);  ///< the type of a blob array's elements
    std::uint32_t array_length = 0;         ///< 0: one value, otherwise the length of a fixed array
    std::uint32_t value_bytes = 0;          ///< of an enum (1, 2, 4 or 8), fixed string or opaque value; else may be 0
    std::uint32_t value_alignment = 0;      ///< required for opaque types; else 0 or the alignment
    std::uint32_t struct_offset = kPacked;  ///< bytes from the start of the C++ struct; kPacked: laid out as in C
    bool split = false, shorthand = false;  ///< shorthand: in text, the field's value may stand for the component
    std::string keys{};  ///< if a blob array is written as a mapping in text: the blob array with its keys
    Relation relation = Relation::kNone;  ///< only for fields of type entity
    bool has_range = false;
    double minimum = 0;  ///< with has_range: the least and greatest number allowed in text, inclusive
    double maximum = 0;
    std::string unit{};
    Array<EnumeratorDefinition> enumerators{kProgramOwner};
    Array<std::byte> default_value{kProgramOwner};  ///< empty: zero; otherwise array_length (or 1) values
    const OpaqueOperations* opaque = nullptr;

    static constexpr std::uint32_t kPacked = 0xFFFFFFFF;
};

/// A component as it is declared.
struct ComponentDefinition {
    std::string name{};
    std::uint32_t version = 1;
    bool whole = false;              ///< all fields in one column
    bool enableable = false;         ///< added and removed often, with a bit per row instead of a move
    bool many = false;               ///< an entity may have several components of the type
    bool singleton = false;          ///< a world has only one component of the type, kept whole
    std::uint32_t struct_bytes = 0;  ///< 0: laid out as in C
    std::uint32_t struct_alignment = 0;
    Array<FieldDefinition> fields{kProgramOwner};
};

/// A field of a schema: its definition with all sizes, offsets and columns filled in.
struct Field : FieldDefinition {
    std::uint32_t size = 0;          ///< bytes in the struct image: value_bytes x max(array_length, 1)
    std::uint32_t first_column = 0;  ///< the first column, as an index into Schema::columns()
    std::uint32_t num_columns = 1;   ///< lanes when split, else 1

    std::uint32_t num_values() const { return array_length == 0 ? 1 : array_length; }
};

/// One packed column of a component. Shape: a table holds element_bytes per row.
struct ColumnDefinition {
    std::uint32_t field_index = 0;  ///< kWholeComponent: the struct image of all fields
    std::uint32_t lane = 0;         ///< which lane of a split field; 0 is x
    std::uint32_t element_bytes = 0;
    std::uint32_t alignment = 0;
    std::uint32_t struct_offset = 0;  ///< where the element is in the struct image
    const OpaqueOperations* opaque = nullptr;

    static constexpr std::uint32_t kWholeComponent = 0xFFFFFFFF;
};

class Schema {
public:
    /// Errors: a missing or bad name, more than 64 fields, two fields with the same name, a size that does not fit the
    /// type, an enum without names or with duplicate names, an opaque field in a whole component, a default outside the
    /// range or of the wrong size, fields that overlap or are outside the struct, or an alignment above 64 bytes. The
    /// message names the component and the field.
    SHOAL_API static Result<Schema> make(ComponentDefinition definition);
    /// Returns the schema of a table whose rows hold several components: concatenates their columns and struct images,
    /// and names their fields "component.field". The combined schema is named "first+second+third".
    SHOAL_API static Schema combine(std::span<const Schema* const> components);
    SHOAL_API Schema(const Schema& other);
    SHOAL_API Schema(Schema&& other) noexcept;
    SHOAL_API Schema& operator=(const Schema& other);
    SHOAL_API Schema& operator=(Schema&& other) noexcept;
    SHOAL_API ~Schema();

    const std::string& name() const { return name_; }
    ComponentId id() const { return id_; }
    std::uint32_t version() const { return version_; }
    bool whole() const { return whole_; }
    bool enableable() const { return enableable_; }
    bool many() const { return many_; }
    bool singleton() const { return singleton_; }
    /// Whether combine() made this schema. If so, each field's name begins with the name of its component.
    bool combined() const { return combined_; }

    SHOAL_API std::span<const Field> fields() const;
    SHOAL_API std::span<const ColumnDefinition> columns() const;
    std::size_t num_columns() const { return columns_.size(); }
    const ColumnDefinition& column(std::size_t index) const { return columns_[index]; }
    /// Returns the index of the field called `name`, or -1.
    SHOAL_API int find_field(std::string_view name) const;

    /// The offset of a field in the elements of its first column: 0 unless the component is kept whole.
    std::uint32_t offset_in_column(const Field& field) const {
        return field.struct_offset - columns_[field.first_column].struct_offset;
    }

    /// The struct image: one component with all fields at their struct_offset. The defaults have this form.
    std::uint32_t struct_bytes() const { return struct_bytes_; }
    std::uint32_t struct_alignment() const { return struct_alignment_; }
    SHOAL_API std::span<const std::byte> default_image() const;

    /// The size of one row in all columns, in bytes.
    std::uint32_t row_bytes() const { return row_bytes_; }
    bool has_opaque() const { return has_opaque_; }
    /// Whether any field has this type, such as FieldType::kEntity.
    bool has(FieldType type) const { return type_mask_ >> static_cast<int>(type) & 1; }

    /// A hash that is equal for schemas whose columns have the same names, types and positions, so that whole columns
    /// can be copied.
    std::uint64_t layout_hash() const { return layout_hash_; }
    /// Returns a string such as "point_mass v1 {mass float, position vec3 split}" for messages.
    SHOAL_API std::string to_text() const;

private:
    Schema();

    std::string name_;
    ComponentId id_;
    std::uint32_t version_ = 1;
    bool whole_ = false;
    bool enableable_ = false;
    bool many_ = false;
    bool singleton_ = false;
    bool combined_ = false;
    bool has_opaque_ = false;
    std::uint32_t type_mask_ = 0;
    std::uint32_t struct_bytes_ = 0;
    std::uint32_t struct_alignment_ = 1;
    std::uint32_t row_bytes_ = 0;
    std::uint64_t layout_hash_ = 0;
    Array<Field> fields_{kProgramOwner};
    Array<ColumnDefinition> columns_{kProgramOwner};
    Array<std::byte> default_image_{kProgramOwner};

    friend struct SchemaMaker;
};

/// Turns `LikeThis` into `like_this`: the name of a struct into the name of its component.
SHOAL_API std::string snake_case(std::string_view name);

}  // namespace shoal
