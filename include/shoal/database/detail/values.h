#pragma once
// The options of a database, and the arguments and results of its calls.
// Thread: plain values.

#include "shoal/database/detail/table.h"

namespace shoal {

struct DatabaseOptions {
    Zone first_zone = 0;  ///< for entities that get a row from add(), or are created or spawned without a zone
    std::uint32_t capacity_rows = kDefaultCapacityRows - 1;  ///< the capacity of each table
};

/// Values of one component type for the entities of a call. Without a source, values are defaults (for an opaque
/// field, the default of its C++ type); at most one source is set. A plain struct of views. Lifetime: the call.
struct ComponentValues {
    ComponentType component;
    const std::byte* images = nullptr;            ///< struct images, in the order of the entities
    std::size_t stride = 0;                       ///< bytes from one image to the next; 0: one image for all
    std::span<const std::byte* const> columns{};  ///< or one column for each of the schema's columns, indexed by entity
    /// Or a function that writes one row, for C++ types that are not plain bytes.
    void (*write)(const void* context, Table& table, std::uint32_t first_column, std::uint32_t row,
                  std::size_t entity) = nullptr;
    const void* context = nullptr;
    bool is_disabled = false;  ///< for an enableable component type: it is added disabled

    bool has_values() const { return images != nullptr || !columns.empty() || write != nullptr; }
};

/// Returns the values of a component type, or nullptr.
inline const ComponentValues* find_values(std::span<const ComponentValues> values, ComponentType component) {
    for (const ComponentValues& given : values)
        if (given.component == component) return &given;
    return nullptr;
}

/// The table and row of an entity. Lifetime: until the next structural call.
struct DatabaseRow {
    DatabaseTable* table = nullptr;
    std::uint32_t row = kNilRow;
    [[no_unique_address]] detail::KnownRow
        known{};  ///< lets checked builds detect stale rows and rows of another database

    explicit operator bool() const { return table != nullptr; }
    friend bool operator==(DatabaseRow a, DatabaseRow b) { return a.table == b.table && a.row == b.row; }
};

namespace detail {

/// Ends the program, because the row is nil or was removed, or its entity does not have the component.
[[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse_row(DatabaseRow row, const Schema& component);
/// Like refuse_row(), but looks up the schema here, so that callers do not have to.
template <class T>
[[noreturn]] SHOAL_NOINLINE void refuse_row_of(DatabaseTable* table, std::uint32_t row) {
    refuse_row({table, row}, schema_of<T>());
}

/// Exists if one of the types looks like an undeclared component: a struct that is neither an entity nor a list.
template <class... Ts>
using IfUndeclared =
    std::enable_if_t<((std::is_class_v<Ts> && std::is_aggregate_v<Ts> && !std::is_same_v<Ts, Entity> &&
                       !DescribedComponent<ComponentOfGiven<Ts>> && !requires(const Ts& list) { list.data(); }) ||
                      ...)>;
/// The result of store calls with such types, so that the compiler reports this mistake instead of listing all other
/// calls.
template <class... Ts>
struct Undeclared {
    static_assert(kIsDescribed<Undeclared>, "a component is not declared; write SHOAL_COMPONENT(Name, fields...)");
};
struct UndeclaredCalls {
    template <class... Ts, class... Given, class = IfUndeclared<Ts..., Given...>>
    Undeclared<Given...> create(const Given&...);
    template <class... Ts, class... Given, class = IfUndeclared<Ts..., Given...>>
    Undeclared<Given...> insert(const Given&...);
    template <class... Ts, class... Given, class = IfUndeclared<Ts..., Given...>>
    Undeclared<Given...> add(const Given&...);
    template <class... Ts, class... Given, class = IfUndeclared<Ts..., Given...>>
    Undeclared<Given...> remove(const Given&...);
};

}  // namespace detail

}  // namespace shoal
