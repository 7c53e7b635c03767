#pragma once
// Declares what a pass reads and writes, so that a schedule knows which passes may run in parallel.
//
//     reads<&Body::velocity>(bodies)      one field of one component type
//     reads<all_fields<Body>>(bodies)     all of its fields
//     writes(bodies)                      a manager, a database or another store as a whole
//     writes(scores)                      any object that passes share
//     writes(database).in({3, 4})         the rows of a database in some zones
//
// A query lists its accesses itself, including the zones. All other accesses are listed by hand. Thread: plain values.

#include "shoal/store/manager.h"

namespace shoal {

inline constexpr std::uint32_t kAllFields = 0xFFFFFFFF;

struct Access {
    const Store* store = nullptr;      ///< nullptr: the object is not a store
    const void* object = nullptr;      ///< nullptr: the whole store, or everything if there is no store
    ComponentId component{};           ///< null: all component types of the store
    std::uint32_t field = kAllFields;  ///< an index into Schema::fields()
    bool writes = false;
    bool in_zones = false;  ///< only rows in some zones are accessed
    ZoneSet zones{};
    const LiveZones* live = nullptr;  ///< if not nullptr, used instead of `zones`

    const ZoneSet& zones_now() const { return live != nullptr ? live->now() : zones; }
    bool is_everything() const { return store == nullptr && object == nullptr; }
    /// Returns this access, limited to the rows in some zones. Requires: the store is a database.
    SHOAL_API Access in(const ZoneSet& of_rows) const;
    SHOAL_API Access in(const LiveZones& of_rows) const;  ///< limited to the zones in `of_rows` at run time
    /// Like in(), but returns this access unchanged if the store is not a database, because only databases have zones.
    SHOAL_API Access of_query_in(const ZoneSet& of_rows, const LiveZones* of_live_rows) const;
};

/// Whether two passes with these accesses must not run in parallel, because one writes data that the other uses. If
/// `all_zones` is true, passes conflict even if they visit different zones.
SHOAL_API bool conflict(const Access& a, const Access& b, bool all_zones = false);

/// An access to a field. If a component is kept whole, its fields share cache lines, so they count as one field.
template <auto kMember>
Access field_access(const Store& store, bool writes) {
    std::uint32_t field = kAllFields;
    if constexpr (!kNamesAllFields<kMember> && FieldLayout<kMember>::kLayout != ColumnLayout::kWhole)
        field = FieldLayout<kMember>::kIndex;
    return {&store, nullptr, schema_of<ComponentOf<kMember>>().id(), field, writes};
}

/// An access to a whole object: a store, the store within a manager, or any other object.
template <class T>
Access object_access(const T& object, bool writes) {
    if constexpr (std::is_base_of_v<Store, T>)
        return {&object, nullptr, {}, kAllFields, writes};
    else if constexpr (requires { static_cast<const Store&>(object.core()); })
        return {&object.core(), nullptr, {}, kAllFields, writes};
    else
        return {nullptr, &object, {}, kAllFields, writes};
}

template <class T>
Access reads(const T& object) {
    return object_access(object, false);
}
template <class T>
Access writes(const T& object) {
    return object_access(object, true);
}
template <auto kMember, class T>
Access reads(const T& store) {
    const Access all = object_access(store, false);
    return field_access<kMember>(*all.store, false);
}
template <auto kMember, class T>
Access writes(const T& store) {
    const Access all = object_access(store, true);
    return field_access<kMember>(*all.store, true);
}
/// A pass that declares nothing may access anything, so it runs alone.
inline Access writes_everything() { return {.writes = true}; }

}  // namespace shoal
