#pragma once
// The tables for the component types of a world, and the content of each of their columns.

#include "shoal/store/field_path.h"
#include "shoal/world/world.h"

#include <optional>
#include <string>
#include <vector>

namespace shoal::sql {

/// The value that a column shows in a row.
enum class Shows : std::uint8_t {
    kEntity,
    kComponentPosition,  ///< the index of the component among its entity's components
    kListPosition,       ///< the index of the value in an array
    kField,              ///< a part of a field, as one value
    kWhole,              ///< a part of a field, as text
    kElement,            ///< a value of an array, or one of its numbers
    kZone,
};

struct CatalogColumn {
    std::string name;
    std::string type;
    Shows shows = Shows::kField;
    bool is_hidden = false;
    std::string path{};                ///< path of the field in the component, such as "position.x"
    FieldPart part{};                  ///< the field at `path`
    ValueType element{};               ///< for kElement
    std::uint32_t element_offset = 0;  ///< byte offset in each value of the array
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

/// Returns the tables of all component types that stores have or show. Each table is followed by the tables of its
/// arrays.
std::vector<CatalogTable> list_component_tables(const World& world);
/// Returns numbers that are different after the tables have changed or an object that they refer to was destroyed.
std::vector<std::uint64_t> catalog_signature(const World& world);

/// Returns the name quoted for SQL.
std::string sql_name(std::string_view name);
/// Returns the text quoted for SQL.
std::string sql_text(std::string_view text);
/// Whether two names are equal in SQL.
bool is_same_name(std::string_view a, std::string_view b);
/// Returns the first of `name`, `name_2`, `name_3` ... that is not in `taken`.
std::string free_name(std::string_view name, const std::vector<std::string>& taken);

}  // namespace shoal::sql
