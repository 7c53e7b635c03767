#pragma once
// Describes the changes from each version of a component type to the next. Blobs and saves of an older version are
// converted column by column. A blob is converted each time a world spawns it, or once by migrate().
//     struct Hull {
//         float armor = 20;             // version 1 called it "armour", and counted in centimetres
//         float width = 2, length = 6;  // one field "size" before version 3
//     };
//     SHOAL_COMPONENT((Hull, version(3)), (armor, unit("mm")), width, length)
//
//     Migrations& hull = registry.migrations<Hull>();
//     hull.from(1).rename("armour", "armor").convert("armor", [](float centimetres) { return 10 * centimetres; });
//     hull.from(2).split("size", {"width", "length"}, [](Vec2 size, float& width, float& length) {
//         width = size.x;
//         length = size.y;
//     });
//
//     Result<Blob> fleet = Blob::read(path);
//     if (!fleet) return fleet.status();
//     if (Status status = migrate(*fleet, registry); !status) return status;
//
//     version 1   armour  size          a blob has its own schemas, so its columns have names
//     version 2   armor   size          each step changes some of them
//     version 3   armor   width length  fields of the newest version are taken by name
//
// A field that the older version did not have gets its default. If a field has a new type, its values are converted,
// provided that the new type can hold all of them. Enums are converted by name. Each field that the newest version no
// longer has must be named by a step, even if only in remove(), so that nothing is lost by accident. A version that
// only added fields needs no step. If a later step changes an added field, it skips components that are older than the
// field. In these components, the changed field gets its default. World::spawn() migrates a blob at each spawn, using
// World::registry(), so a blob that is spawned often should be migrated once beforehand.
// Thread: one thread adds the steps before any blob is migrated; then any thread may migrate.

#include "shoal/resource/detail/registry.h"
#include "shoal/table/detail/any_value.h"

#include <vector>

namespace shoal {

class Blob;
struct FieldChange;

/// The components of one type during a conversion: a column of values per field, found by name.
class FieldColumns {
public:
    enum class Given : std::uint8_t { kNo, kPartly, kYes };
    /// The values of one field. A split field has a lane for each float; other fields have one lane for the whole
    /// value.
    struct Column {
        std::string name;
        ValueType type;
        Array<const std::byte*> lanes{Owner("migration")};  // the first row of each lane
        std::size_t stride = 0;                             // bytes from one row to the next
        Array<std::byte> own{Owner("migration")};           // memory of a single lane; empty if lanes are in the blob
        std::vector<EnumeratorDefinition> names{};          // the enumerators of an enum, if they have changed
        Given given = Given::kYes;                          // used by convert_image()
    };

    /// `columns` has the form of BlobComponents::columns. Lifetime: the schema and the columns must outlive this
    /// object.
    SHOAL_API FieldColumns(const Schema& schema, std::span<const std::byte* const> columns, std::size_t num_rows);
    std::size_t num_rows() const { return num_rows_; }
    std::span<const Column> columns() const { return columns_; }
    /// Returns the column, or nullptr if there is none. Lifetime: until a column is added or removed.
    SHOAL_API const Column* find(std::string_view name) const;
    /// Errors of all functions below: there is no such field, the new name already exists, or the field has a different
    /// type. On error, nothing has changed.
    SHOAL_API Status rename(std::string_view from, std::string_view to);
    SHOAL_API Status remove(std::string_view name);
    /// Returns the packed values of a field. Enums may also be read as integers. Lifetime: until the field is removed.
    SHOAL_API Result<const std::byte*> read(std::string_view name, const ValueType& type);
    /// Adds a field and returns its values, which are zero. Lifetime: until the field is removed.
    SHOAL_API Result<std::byte*> add(std::string_view name, const ValueType& type);
    /// Records whether the values of a field were given. Defaults, and values computed from them, count as not given.
    SHOAL_API Status mark(std::string_view name, Given given);
    /// Renames enumerators of an enum. `names` has pairs of an old name and its new name. Unknown old names are
    /// ignored.
    SHOAL_API Status rename_values(std::string_view name, std::span<const std::pair<std::string, std::string>> names);

private:
    std::size_t num_rows_;
    Array<Column> columns_{Owner("migration")};
};

namespace detail {
/// A type, or a value of that type, with its index in a list.
template <std::size_t kIndex, class T>
struct Numbered {
    T value{};
};
template <class Indices, class... Ts>
struct NumberedValues;
template <std::size_t... kIndices, class... Ts>
struct NumberedValues<std::index_sequence<kIndices...>, Ts...> : Numbered<kIndices, Ts>... {};
template <std::size_t kIndex, class T>
T& value_at(Numbered<kIndex, T>& numbered) {
    return numbered.value;
}

/// The parameter types and the result type of a function object that is not a template.
template <class Function>
struct CallOf : CallOf<decltype(&Function::operator())> {};
template <class Class, class Returned, class... Taken>
struct CallOf<Returned (Class::*)(Taken...) const> {
    using Result = Returned;
    static constexpr std::size_t kNumParameters = sizeof...(Taken);
    static constexpr bool kIsReference[kNumParameters + 1] = {std::is_lvalue_reference_v<Taken>..., false};
    /// A value for each parameter type.
    using Values = NumberedValues<std::index_sequence_for<Taken...>, std::remove_cvref_t<Taken>...>;
    template <std::size_t kIndex>
    using Value = std::remove_reference_t<decltype(value_at<kIndex>(std::declval<Values&>()))>;
};

/// Converts some rows. Only the function knows the types.
using ConvertRows = void (*)(const std::byte* const* from, std::byte* const* to, std::size_t num_rows);
}  // namespace detail

struct NamedType {
    std::string name;
    ValueType type;
};
/// The changes from one version to the next. They are made in the order in which they were added.
class MigrationStep {
public:
    /// A field has a new name.
    SHOAL_API MigrationStep& rename(std::string_view from, std::string_view to);
    /// A field was removed; its values are lost.
    SHOAL_API MigrationStep& remove(std::string_view field);
    /// Components that are older than the field get this value instead of its default.
    SHOAL_API MigrationStep& set(std::string_view field, AnyValue value);
    /// The values of a field have changed, and perhaps also their type. function(old value) returns the new value.
    /// Requires: the function has no captures. This also applies to the functions below.
    template <class Function>
    MigrationStep& convert(std::string_view field, Function) {
        using Call = detail::CallOf<Function>;
        static_assert(Call::kNumParameters == 1, "convert() takes a function of one value; see split() and compute()");
        using From = typename Call::template Value<0>;
        struct Convert {
            void operator()(const From& from, typename Call::Result& to) const { to = Function()(from); }
        };
        const std::string_view names[] = {field};
        return add_function<Convert, 1, 1>(names, names);
    }
    /// A field was split: function(old value, new value&, ...).
    template <std::size_t kTo, class Function>
    MigrationStep& split(std::string_view field, const std::string_view (&to)[kTo], Function) {
        const std::string_view from[] = {field};
        return add_function<Function, 1, kTo>(from, to);
    }
    /// Fields are computed from other fields, which are removed: function(old values ..., new values& ...).
    template <std::size_t kFrom, std::size_t kTo, class Function>
    MigrationStep& compute(const std::string_view (&from)[kFrom], const std::string_view (&to)[kTo], Function) {
        return add_function<Function, kFrom, kTo>(from, to);
    }

    /// Adds a change of a different kind; see value_change.h.
    SHOAL_API MigrationStep& add(FieldChange change);
    /// Makes the changes. If `is_later` is set, the components are from an earlier version, so changes to fields that
    /// they do not have are skipped. Errors: a field is missing, already exists, or has a different type. On error,
    /// some changes may have been made.
    SHOAL_API Status run(FieldColumns& columns, bool is_later = false) const;
    MigrationStep() = default;
    SHOAL_API ~MigrationStep();
    MigrationStep(const MigrationStep&) = delete;

private:
    template <class Function, std::size_t kFrom, std::size_t kTo>
    MigrationStep& add_function(const std::string_view (&from)[kFrom], const std::string_view (&to)[kTo]) {
        static_assert(std::is_empty_v<Function> && std::is_default_constructible_v<Function>,
                      "a migration is a function without captures");
        static_assert(detail::CallOf<Function>::kNumParameters == kFrom + kTo,
                      "a migration takes a value of each old field, then a reference to each new one");
        return add_function<Function>(from, to, std::make_index_sequence<kFrom>(), std::make_index_sequence<kTo>());
    }
    template <class Function, std::size_t... kFrom, std::size_t... kTo>
    MigrationStep& add_function(const std::string_view* from, const std::string_view* to, std::index_sequence<kFrom...>,
                                std::index_sequence<kTo...>) {
        using Call = detail::CallOf<Function>;
        constexpr std::size_t kNumFrom = sizeof...(kFrom);
        static_assert((Call::kIsReference[kNumFrom + kTo] && ...),
                      "the new values of a migration are references, so that the function sets them");
        const NamedType old_types[] = {named_type<typename Call::template Value<kFrom>>(from[kFrom])...};
        const NamedType new_types[] = {named_type<typename Call::template Value<kNumFrom + kTo>>(to[kTo])...};
        return add_conversion(
            old_types, new_types, [](const std::byte* const* olds, std::byte* const* news, std::size_t num_rows) {
                for (std::size_t row = 0; row < num_rows; ++row) {
                    typename Call::Values values;
                    (copy_value(&detail::value_at<kFrom>(values), olds[kFrom], row), ...);
                    Function()(detail::value_at<kFrom>(values)..., detail::value_at<kNumFrom + kTo>(values)...);
                    (copy_value(news[kTo], row, detail::value_at<kNumFrom + kTo>(values)), ...);
                }
            });
    }
    SHOAL_API MigrationStep& add_conversion(std::span<const NamedType> from, std::span<const NamedType> to,
                                            detail::ConvertRows convert);
    template <class T>
    static NamedType named_type(std::string_view name) {
        static_assert(PlainValue<T>, "a migration works on values of plain field types");
        return {std::string(name), value_type_of<T>()};
    }
    template <class T>
    static void copy_value(T* to, const std::byte* from, std::size_t row) {
        copy_bytes(static_cast<void*>(to), from + row * sizeof(T), sizeof(T));
    }
    template <class T>
    static void copy_value(std::byte* to, std::size_t row, const T& from) {
        copy_bytes(to + row * sizeof(T), static_cast<const void*>(&from), sizeof(T));
    }
    Array<FieldChange*> changes_{Owner("migration")};
};

/// All steps for one component type. ComponentRegistry::migrations() makes this object.
class Migrations {
public:
    /// Returns the step from this version to the next. Each call for the same version returns the same object.
    /// Requires: version is at least 1.
    /// Lifetime: as long as the registry.
    SHOAL_API MigrationStep& from(std::uint32_t version);
    /// Records that the component type had a different name in older blobs, even if its version is the same. Requires:
    /// no other type has that name now.
    SHOAL_API Migrations& renamed_from(std::string_view name);
    std::span<const std::string> old_names() const { return old_names_; }
    bool has_steps() const { return !steps_.empty(); }
    /// Runs the steps from `version` up to, but not including, `end`. Errors: a step fails. The message contains the
    /// version.
    SHOAL_API Status run(std::uint32_t version, std::uint32_t end, FieldColumns& columns) const;

    Migrations() = default;
    SHOAL_API ~Migrations();
    Migrations(const Migrations&) = delete;
    Migrations& operator=(const Migrations&) = delete;

private:
    struct Step {
        std::uint32_t version;
        MigrationStep* step;
    };
    Array<Step> steps_{Owner("migration")};  // ascending by version
    std::vector<std::string> old_names_;
};

/// Whether two component types differ only in their names. Their versions, flags and columns are then equal.
SHOAL_API bool differ_in_name_only(const Schema& a, const Schema& b);

/// Whether a blob has components of an older version than the registered one.
SHOAL_API bool needs_migration(const Blob& blob, const ComponentRegistry& registry);
/// Converts components of older versions to the registered version. Afterwards the blob has the registry's schemas for
/// these component types; its bytes do not change.
/// Errors: a component is newer than the program, a field has no counterpart in the newest version, a value would be
/// lost in the conversion to a new type, or a step does not match the fields. The message names the blob, component,
/// version and field. On error, nothing has changed.
/// Cost: columns that no step changes, and that already have the layout of the newest version, are not copied.
SHOAL_API Status migrate(Blob& blob, const ComponentRegistry& registry);

/// Columns after a conversion, and the memory of new columns.
struct ConvertedColumns {
    Array<const std::byte*> columns{Owner("migration")};  // one per Schema::columns()
    std::vector<Array<std::byte>> memory{};
};
/// Converts columns from one schema of a component type to another. This is for schemas that are edited while the
/// program runs. Fields are matched by name, new fields get their defaults, and fields that `to` does not have are
/// dropped. If `migrations` has steps between the versions, these run first. Errors: the same as for migrate(), except
/// that a field without a counterpart is not an error. Lifetime: as long as `columns`.
SHOAL_API Result<ConvertedColumns> convert_rows(const Schema& from, std::span<const std::byte* const> columns,
                                                std::size_t num_rows, const Schema& to, const Migrations* migrations);
/// Like convert_rows(), but for saved rows. As in migrate(), a step must name each field that `to` does not have.
/// Errors: the same as for migrate(). Lifetime: as long as `columns`.
SHOAL_API Result<ConvertedColumns> migrate_rows(const Schema& from, std::span<const std::byte* const> columns,
                                                std::size_t num_rows, const Schema& to, const Migrations* migrations);
/// Like convert_rows(), but for a blob. Converts the component types whose fields differ from the ones in `schemas`.
SHOAL_API Status convert_fields(Blob& blob, std::span<const Schema> schemas, const ComponentRegistry& registry);

}  // namespace shoal
