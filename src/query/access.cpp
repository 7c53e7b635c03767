#include "shoal/query/detail/access.h"

#include "shoal/store/store.h"

namespace shoal {

namespace {

/// Whether the rows of an access are separated by zone. Values of a `many` type after the first are in one table for
/// all zones.
bool is_kept_in_zones(const Access& access) {
    if (!access.in_zones) return false;
    for (const Schema* schema : access.store->schemas())
        if (schema->many() && (access.component == ComponentId() || schema->id() == access.component)) return false;
    return true;
}

bool have_common_zone(const Access& a, const Access& b) {
    bool any = !is_kept_in_zones(a) || !is_kept_in_zones(b);
    if (!any) a.zones_now().for_each([&](Zone zone) { any |= b.zones_now().contains(zone); });
    return any;
}

}  // namespace

Access Access::in(const ZoneSet& of_rows) const {
    SHOAL_ASSERT(store != nullptr && store->places_whole_entities(),
                 "only rows of a database lie in zones; say reads(database).in(zones) or writes(database).in(zones)");
    Access result = *this;
    result.in_zones = true;
    result.zones = of_rows;
    return result;
}

Access Access::in(const LiveZones& of_rows) const {
    Access result = in(ZoneSet());
    result.live = &of_rows;
    return result;
}

Access Access::of_query_in(const ZoneSet& of_rows, const LiveZones* of_live_rows) const {
    if (store == nullptr || !store->places_whole_entities()) return *this;
    return of_live_rows != nullptr ? in(*of_live_rows) : in(of_rows);
}

bool conflict(const Access& a, const Access& b, bool all_zones) {
    if (!a.writes && !b.writes) return false;
    if (a.is_everything() || b.is_everything()) return true;
    if (a.store != b.store || a.object != b.object) return false;
    if (!all_zones && !have_common_zone(a, b)) return false;
    if (a.component == ComponentId() || b.component == ComponentId()) return true;
    return a.component == b.component && (a.field == kAllFields || b.field == kAllFields || a.field == b.field);
}

}  // namespace shoal
