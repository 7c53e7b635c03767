#pragma once
// The calls of Database with C++ types that change entities, and those that look at one. Included by database.h.

#include "shoal/database/database.h"
#include "shoal/database/database_move.h"
#include "shoal/database/database_slots.h"

namespace shoal {

template <DescribedComponent... Ts>
Result<AddCounts> Database::add(std::span<const Entity> entities, const Ts&... values)
    requires(sizeof...(Ts) > 0)
{
    const ComponentValues given[] = {typed_values<Ts>(values)...};
    return add(entities, given);
}

template <DescribedComponent T>
Result<AddCounts> Database::add(std::span<const Entity> entities, std::span<const std::type_identity_t<T>> values) {
    SHOAL_ASSERT(values.size() == entities.size(), "one value per entity is needed");
    const ComponentValues given[] = {typed_values<T>(values)};
    return add(entities, given);
}

template <DescribedComponent... Ts>
SHOAL_INLINE Result<AddCounts> Database::add(Entity entity, const Ts&... values)
    requires(sizeof...(Ts) > 0)
{
    static_assert(detail::kDiffer<Ts...>, "a component type is named twice in one call; give each value once");
    constexpr TypedKey key = detail::TypedSlot<TypedList, Ts...>::key();
    if constexpr (sizeof...(Ts) == 1 && (detail::kIsToggled<Ts> && ...)) {
        if (const DatabaseRow at = find_switch(entity, key); SHOAL_LIKELY(at && !is_dead(entity))) {
            write_plain(*at.table, at.row, values...);
            const bool gains = switch_noted(at, true);
            return AddCounts{.num_added = gains, .num_set = !gains};
        }
    } else if (const MovedRow moved = RowMove::find_and_make<true>(*this, entity, key);
               SHOAL_LIKELY(moved.step != nullptr)) {
        detail::write_gained(moved, values...);
        return AddCounts{.num_added = 1};
    }
    return add_through_span<Ts...>(entity, values...);
}

/// By value: an address given away would keep add() from holding its values in registers.
template <class... Ts>
SHOAL_NOINLINE Result<AddCounts> Database::add_through_span(Entity entity, Ts... values) {
    const ComponentValues given[] = {typed_values<Ts>(values)...};
    return add_one(entity, given, detail::TypedSlot<TypedList, Ts...>::key());
}

template <DescribedComponent... Ts>
Result<std::uint32_t> Database::remove(std::span<const Entity> entities) {
    const ComponentType components[] = {component<Ts>()...};
    return remove(entities, components);
}

template <DescribedComponent... Ts>
SHOAL_INLINE Result<bool> Database::remove(Entity entity) {
    constexpr TypedKey key = detail::TypedSlot<TypedList, Ts...>::key();
    if constexpr (sizeof...(Ts) == 1 && (detail::kIsToggled<Ts> && ...)) {
        if (const DatabaseRow at = find_switch(entity, key); SHOAL_LIKELY(at)) return switch_noted(at, false);
    } else if (SHOAL_LIKELY(RowMove::find_and_make<false>(*this, entity, key).step != nullptr)) {
        return true;
    }
    return remove_through_span<Ts...>(entity);
}

template <class... Ts>
SHOAL_NOINLINE Result<bool> Database::remove_through_span(Entity entity) {
    const ComponentType components[] = {component<Ts>()...};
    return remove_one(entity, components, detail::TypedSlot<TypedList, Ts...>::key());
}

/// The row of an entity whose table has switched the component type of `key` last; else the nil row.
SHOAL_INLINE DatabaseRow Database::find_switch(Entity entity, TypedKey key) const {
    const DatabaseDirectory::Place place = directory_.find_unless_held(entity);
    if (SHOAL_UNLIKELY(!place)) return {};
    DatabaseTable* const table = tables_[place.table];
    return SHOAL_LIKELY(table->last_switched_.key == key) ? DatabaseRow{table, place.row} : DatabaseRow();
}

/// Sets a bit and returns whether it has changed.
SHOAL_INLINE bool Database::switch_noted(DatabaseRow at, bool on) {
    std::uint64_t& word = at.table->last_switched_.bits->words()[at.row / 64];
    const std::uint64_t bit = std::uint64_t(1) << (at.row % 64);
    if (((word & bit) != 0) == on) return false;
    word ^= bit;
    at.table->table_.stamp_row(at.row);
    ++num_structural_changes_;
    return true;
}

/// Sets a component of a row, and marks it as written.
template <class T>
void Database::write_plain(DatabaseTable& table, std::uint32_t row, const T& value) {
    if constexpr (DescriptionOf<T>::kNumFields != 0) {
        const std::uint32_t first = table.first_column(component<T>());
        detail::write_component(table.table_, first, row, value);
        for (std::uint32_t c = 0; c < schema_of<T>().columns().size(); ++c) table.table_.write_element(first + c, row);
    }
}

inline Result<bool> Database::move(Entity entity, Zone zone) {
    Result<std::uint32_t> count = move(std::span<const Entity>(&entity, 1), zone);
    if (!count) return count.status();
    return *count != 0;
}

// --- look-up -----------------------------------------------------------------------------------------------------

inline bool Database::has(Entity entity, ComponentType component) const {
    const DatabaseRow row = find(entity);
    return row && row.table->has(component, row.row);
}

template <class Visit>
void Database::for_each_table_of_zone(Zone zone, Visit&& visit) const {
    const std::uint32_t* const first = first_in_zone_.find(zone);
    if (first == nullptr) return;
    for (DatabaseTable* table = tables_[*first]; table != nullptr; table = table->next_in_zone_) visit(*table);
}

template <class T>
bool Database::has(Entity entity) const {
    const ComponentType component = find_component<T>();
    return component && has(entity, component);
}

template <auto kMember>
decltype(auto) Database::get(DatabaseRow row) const {
    SHOAL_ASSERT(row.table != nullptr && row.row < row.table->num_rows(), "the row is nil or was removed");
    const ComponentType component = find_component<ComponentOf<kMember>>();
    SHOAL_ASSERT(row.table->type().has_column_of(component), "the entity does not have this component");
    return static_cast<const DatabaseTable*>(row.table)->column<kMember>(component)[row.row];
}

template <auto kMember>
void Database::set(DatabaseRow row, const ValueOf<kMember>& value) {
    using Place = FieldPlace<kMember>;
    SHOAL_ASSERT(row.table != nullptr && row.row < row.table->num_rows(), "the row is nil or was removed");
    const ComponentType component = find_component<ComponentOf<kMember>>();
    SHOAL_ASSERT(row.table->type().has_column_of(component), "the entity does not have this component");
    const auto column = row.table->unmarked_column<kMember>(component);
    if constexpr (std::is_array_v<ValueOf<kMember>>)
        for (std::size_t i = 0; i < std::extent_v<ValueOf<kMember>>; ++i) column[row.row][i] = value[i];
    else
        column[row.row] = value;
    for (std::uint32_t c = 0; c < Place::kNumColumns; ++c)
        row.table->table_.write_element(row.table->first_column(component) + Place::kFirstColumn + c, row.row);
}

}  // namespace shoal
