#pragma once
// The tables that stand for the component types of a world, and what each of their columns shows.

#include "shoal/store/field_path.h"
#include "shoal/world/world.h"

#include <optional>
#include <string>
#include <vector>

namespace shoal::sql {

/// What a column shows of a row.
enum class Shows : std::uint8_t {
    kEntity,
    kComponentPosition,  ///< which of the components of its entity it is
    kListPosition,       ///< which of the values of an array it is
    kField,              ///< a part of a field that is one value
    kWhole,              ///< a part of a field as a text
    kElement,            ///< a value of an array, or a number of it
    kZone,
};

struct CatalogColumn {
    std::string name;
    std::string type;
    Shows shows = Shows::kField;
    bool is_hidden = false;
    std::string path{};                ///< of the field within the component, such as "position.x"
    FieldPart part{};                  ///< of that
    ValueType element{};               ///< of kElement
    std::uint32_t element_offset = 0;  ///< bytes into a value of the array
};

/// A component type as a table, or one of its fields that is an array.
struct CatalogTable {
    std::string name;
    Store* store = nullptr;
    const Schema* kept = nullptr;     ///< as the store says it
    const Schema* schema = nullptr;   ///< of the columns, which may be more
    std::optional<FieldPart> list{};  ///< the field whose values are the rows
    std::vector<CatalogColumn> columns{};

    /// As CREATE TABLE says it.
    std::string declaration() const;
    bool has_one_row_per_entity() const { return !list && !kept->many(); }
};

/// Returns the tables of all component types that stores keep or show, each followed by those of its arrays.
std::vector<CatalogTable> list_component_tables(const World& world);
/// Returns numbers that are others as soon as the tables are others, or refer to what has ended.
std::vector<std::uint64_t> catalog_signature(const World& world);

/// Returns the name as SQL reads it: in quotes.
std::string sql_name(std::string_view name);
/// The same for a text.
std::string sql_text(std::string_view text);
/// Whether SQL takes two names for the same.
bool is_same_name(std::string_view a, std::string_view b);
/// The number that no name of `taken` has: `name`, `name_2`, `name_3` ...
std::string free_name(std::string_view name, const std::vector<std::string>& taken);

}  // namespace shoal::sql
