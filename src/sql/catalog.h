#pragma once
// The tables for the component types of a world, and what each of their columns shows.

#include "shoal/store/field_path.h"
#include "shoal/world/world.h"

#include <optional>
#include <string>
#include <vector>

namespace shoal::sql {

/// What a column shows for a row.
enum class Shows : std::uint8_t {
    kEntity,
    kComponentPosition,  ///< the index of the component among the components of its entity
    kListPosition,       ///< the index of the value in an array
    kField,              ///< a part of a field, as one value
    kWhole,              ///< a part of a field as a text
    kElement,            ///< a value of an array, or one of its numbers
    kZone,
};

struct CatalogColumn {
    std::string name;
    std::string type;
    Shows shows = Shows::kField;
    bool is_hidden = false;
    std::string path{};                ///< of the field in the component, such as "position.x"
    FieldPart part{};                  ///< the field at `path`
    ValueType element{};               ///< for kElement
    std::uint32_t element_offset = 0;  ///< bytes into a value of the array
};

/// A component type as a table, or one of its array fields.
struct CatalogTable {
    std::string name;
    Store* store = nullptr;
    const Schema* kept = nullptr;     ///< in the store
    const Schema* schema = nullptr;   ///< the schema of the columns, which may have more fields
    std::optional<FieldPart> list{};  ///< the field whose values are the rows
    std::vector<CatalogColumn> columns{};

    /// As in CREATE TABLE.
    std::string declaration() const;
    bool has_one_row_per_entity() const { return !list && !kept->many(); }
};

/// Returns the tables of all component types that stores keep or show, each followed by the tables of its arrays.
std::vector<CatalogTable> list_component_tables(const World& world);
/// Returns numbers that change when the tables change, or when they would refer to destroyed objects.
std::vector<std::uint64_t> catalog_signature(const World& world);

/// Returns the name quoted for SQL.
std::string sql_name(std::string_view name);
/// The same for a text.
std::string sql_text(std::string_view text);
/// Whether two names are equal in SQL.
bool is_same_name(std::string_view a, std::string_view b);
/// The first name that is not in `taken`: `name`, `name_2`, `name_3` ...
std::string free_name(std::string_view name, const std::vector<std::string>& taken);

}  // namespace shoal::sql
