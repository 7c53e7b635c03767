#pragma once
// Writes field values as text, for blob dumps, entity descriptions and messages. Enums are written by name, vectors and
// arrays as lists, and string ids by their text, or as `#` and the hash if the text is unknown.
//
//     DocumentBuilder builder;
//     write_value(builder, value_type_of(field), bytes, names);
//     std::string text = write_sjson_line(builder.finish().root());  // [0.0 0.0 3.0]
//
// Thread: any.

#include "shoal/document/document_builder.h"
#include "shoal/table/detail/schema.h"

namespace shoal {

class StringTable;

/// The type of the value in a field or in part of a field.
struct ValueType {
    FieldType type = FieldType(0);          ///< 0: none
    FieldType element_type = FieldType(0);  ///< the type of a blob array's elements
    std::uint32_t array_length = 0;         ///< 0: one value
    std::uint32_t value_bytes = 0;          ///< size of one value
    /// The known enumerators of an enum. Lifetime: the schema.
    std::span<const EnumeratorDefinition> enumerators{};

    std::uint32_t num_values() const { return array_length == 0 ? 1 : array_length; }
    std::uint32_t num_bytes() const { return value_bytes * num_values(); }
    /// Compares the types, but not the names of enumerators.
    SHOAL_API bool operator==(const ValueType& other) const;
    /// Returns the name of the type with an article, for messages: "a vec3", "an int32", "an array of 4 floats".
    SHOAL_API std::string to_text() const;
};
SHOAL_API ValueType value_type_of(const FieldDefinition& field);
template <class T>
ValueType value_type_of() {
    const FieldTypeInfo info = FieldTraits<T>::info();
    return {info.type, info.element_type, info.array_length, info.value_bytes, {}};
}

/// The names that are needed to write a value as text.
class SHOAL_API ValueNames {
public:
    /// Returns the text of a string id or a resource id, or an empty string if it is unknown. Lifetime: the object that
    /// has the text.
    virtual std::string_view text(StringId id) const = 0;
    /// Writes an entity as `12:3`, or as null.
    SHOAL_API virtual void write_entity(DocumentBuilder& builder, Entity entity) const;
    /// Writes the resource and the length of an array that stays in its blob.
    SHOAL_API virtual void write_array(DocumentBuilder& builder, const BlobArrayBase& array, FieldType element) const;

protected:
    ~ValueNames() = default;
};

/// Looks up texts in a string table, which outlives this object. Without a table, no text is known.
class SHOAL_API PlainNames final : public ValueNames {
public:
    explicit PlainNames(const StringTable* texts = nullptr) : texts_(texts) {}
    SHOAL_API std::string_view text(StringId id) const override;

private:
    const StringTable* texts_;
};

/// Adds a value to the document being built. Opaque values become null, and enum values without a name become numbers.
SHOAL_API void write_value(DocumentBuilder& builder, const ValueType& type, const std::byte* bytes,
                           const ValueNames& names);
/// Adds `#` and the digits of a hash.
SHOAL_API void write_hash(DocumentBuilder& builder, std::uint64_t hash);
/// Adds a number, or the string "nan", "inf" or "-inf", because no text format has numbers for these.
SHOAL_API void write_number(DocumentBuilder& builder, double number);
/// Adds a float as the double that has the same shortest text, so that 0.1f is printed as 0.1.
SHOAL_API void write_number(DocumentBuilder& builder, float number);

/// Returns a hint for a message: the one of `names` that `name` was probably meant to be or, if none is similar, all
/// names, as in "it has x, y, z".
SHOAL_API std::string hint_for(std::string_view name, std::span<const std::string_view> names);

}  // namespace shoal
