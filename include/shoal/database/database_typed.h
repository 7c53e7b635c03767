#pragma once
// The calls of Database that make entities from C++ types. Included by database.h.

#include "shoal/database/database.h"
#include "shoal/database/database_slots.h"

namespace shoal {

/// What the calls with one list of C++ types used last.
struct DatabaseState::TypedList {
    const Archetype* type = nullptr;
    DatabaseTable* table = nullptr;                // without toggled component types; or nullptr
    std::uint64_t placement = 0;                   // of the table, when the addresses were looked up
    Array<std::byte*> columns{Owner("database")};  // those of each component type of the list, in its order
};

// --- component types ---------------------------------------------------------------------------------------------

template <class T>
SHOAL_INLINE ComponentType Database::component() {
    static_assert(kIsDescribed<T>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
    static_assert(!DescriptionOf<T>::kMany, "an entity has one component of a type here; use a manager for `many`");
    const std::uint32_t known = component_by_slot_.find(detail::TypedSlot<T>::known());
    if (SHOAL_LIKELY(known != detail::ComponentSlots::kNone)) return {known};
    return remember_component(detail::TypedSlot<T>::get(), schema_of<T>());
}

template <class T>
SHOAL_INLINE ComponentType Database::find_component() const {
    const std::uint32_t known = component_by_slot_.find(detail::TypedSlot<T>::known());
    if (SHOAL_LIKELY(known != detail::ComponentSlots::kNone)) return {known};
    return find_component(schema_of<T>().id());
}

template <class... Ts>
SHOAL_INLINE Database::TypedList& Database::typed_list() {
    const std::uint32_t slot = detail::TypedSlot<TypedList, Ts...>::known();
    if (SHOAL_LIKELY(slot < lists_.size() && lists_[slot] != nullptr)) return *lists_[slot];
    return find_list<Ts...>();
}

template <class... Ts>
SHOAL_NOINLINE Database::TypedList& Database::find_list() {
    const ComponentType components[] = {component<Ts>()...};
    return remember_list(detail::TypedSlot<TypedList, Ts...>::get(), components);
}

template <class... Ts>
const Archetype& Database::archetype() {
    if constexpr (sizeof...(Ts) == 0)
        return archetype(std::span<const ComponentType>());
    else
        return *typed_list<Ts...>().type;
}

/// From one value for all, or a span of values.
template <class T, class Value>
ComponentValues Database::typed_values(const Value& value) {
    constexpr bool kOne = std::is_same_v<T, Value>;
    const T* first;
    if constexpr (kOne)
        first = &value;
    else
        first = value.data();
    ComponentValues result{.component = component<T>()};
    if constexpr (detail::kHasOpaque<T>) {
        result.context = first;
        result.write = [](const void* context, Table& table, std::uint32_t first_column, std::uint32_t row,
                          std::size_t entity) {
            detail::write_component(table, first_column, row, static_cast<const T*>(context)[kOne ? 0 : entity]);
        };
    } else {
        result.images = reinterpret_cast<const std::byte*>(first);
        result.stride = kOne ? 0 : sizeof(T);
    }
    return result;
}

// --- entities ----------------------------------------------------------------------------------------------------

template <DescribedComponent... Ts>
Status Database::create(std::span<Entity> out, Zone zone)
    requires(sizeof...(Ts) > 0)
{
    if constexpr ((detail::kHasOpaque<Ts> || ...))  // only C++ knows their defaults
        return create<Ts...>(out, zone, Ts{}...);
    else
        return create(out, archetype<Ts...>(), zone);
}

template <DescribedComponent... Ts>
Status Database::create(std::span<Entity> out, Zone zone, const std::type_identity_t<Ts>&... values)
    requires(sizeof...(Ts) > 0)
{
    const ComponentValues given[] = {typed_values<Ts>(values)...};
    return create(out, archetype<Ts...>(), zone, given);
}

template <DescribedComponent... Ts>
Status Database::create(std::span<Entity> out, Zone zone, std::span<const std::type_identity_t<Ts>>... values)
    requires(sizeof...(Ts) > 0)
{
    SHOAL_ASSERT(((values.size() == out.size()) && ...), "one value per entity is needed");
    const ComponentValues given[] = {typed_values<Ts>(values)...};
    return create(out, archetype<Ts...>(), zone, given);
}

template <DescribedComponent... Ts>
Result<AddCounts> Database::insert(std::span<const Entity> entities, Zone zone,
                                   std::span<const std::type_identity_t<Ts>>... values)
    requires(sizeof...(Ts) > 0)
{
    SHOAL_ASSERT(((values.size() == entities.size()) && ...), "one value per entity is needed");
    const ComponentValues given[] = {typed_values<Ts>(values)...};
    return insert(entities, archetype<Ts...>(), zone, given);
}

template <DescribedComponent... Ts>
SHOAL_INLINE Result<bool> Database::insert(Entity entity, Zone zone, const Ts&... values)
    requires(sizeof...(Ts) > 0)
{
    static_assert(detail::kDiffer<Ts...>, "a component type is named twice in one call; give each value once");
    TypedList& list = typed_list<Ts...>();
    DatabaseTable* const table = list.table;
    // What is left out here, such as the first row of a table, is done by the call below.
    if (SHOAL_LIKELY(table != nullptr && table->zone_ == zone && table->table_.placement() == list.placement &&
                     table->has_reserved_row() && directory_.is_free_unless_held(entity) && entities_.alive(entity))) {
        const std::uint32_t row = table->table_.append_one(entity);
        directory_.set_reserved(entity, table->number_, row);
        ++num_structural_changes_;
        std::byte* const* columns = list.columns.data();
        ((detail::write_component_to([&](std::uint32_t c) { return columns[c]; }, row, values),
          columns += detail::kNumColumns<Ts>),
         ...);
        return true;
    }
    return insert_through_span<Ts...>(entity, zone, list, values...);
}

/// By value: an address given away would keep insert() from holding its values in registers.
template <class... Ts>
SHOAL_NOINLINE Result<bool> Database::insert_through_span(Entity entity, Zone zone, TypedList& list, Ts... values) {
    const ComponentValues given[] = {typed_values<Ts>(values)...};
    Result<AddCounts> counts = insert(std::span<const Entity>(&entity, 1), *list.type, zone, given);
    if (!counts) return counts.status();
    const ComponentType components[] = {component<Ts>()...};
    note_table(list, zone, components);
    return counts->num_added != 0;
}

template <auto kMember>
void Database::spawn_into_tiles(const GridZones& tiles) {
    static_assert(std::is_same_v<ValueOf<kMember>, Vec3>, "a place is a Vec3");
    using Component = ComponentOf<kMember>;
    const Field& field = schema_of<Component>().fields()[FieldPlace<kMember>::kIndex];
    const Status status = spawn_into_tiles(component<Component>(), field.name, tiles);
    SHOAL_ASSERT(status.ok(), "a described Vec3 is a place");
}

}  // namespace shoal
