#include "shoal/base/assert.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/react/service.h"
#include "shoal/store/detail/component_directory.h"

#include <algorithm>

namespace shoal {

void WorldServices::add(WorldService& service, std::uint32_t hooks) {
    SHOAL_ASSERT(!are_held(), "a pass added a service to the world that runs it; add it between steps");
    for (const WorldService* const other : services_) {
        if (other == nullptr) continue;
        SHOAL_ASSERT(other != &service, "the service was added to this world already");
        const bool is_own = service.stage() != ServiceStage::kProgram && other->stage() == service.stage();
        const bool have_one_part =
            service.state_version() != 0 && other->state_version() != 0 && other->name() == service.name();
        if (!is_own && !have_one_part) continue;
        const std::string message = concat("the world has a service \"", other->name(),
                                           "\" already; use that one, or end it before another one begins");
        fail_assertion("the world has no such service", message);
    }
    service.hooks_ = hooks;
    services_.push_back(&service);
    list(service);
    has_changed_ = true;
    if (num_loops_ == 0) put_in_order();
}

void WorldServices::remove(const WorldService& service) {
    SHOAL_ASSERT(!are_held(), "a pass removed a service of the world that runs it; remove it between steps");
    std::ranges::replace(services_, &service, nullptr);
    for (Asked& asked : asked_) std::ranges::replace(asked.services, &service, nullptr);
    has_changed_ = true;
    if (num_loops_ == 0) put_in_order();
}

bool WorldServices::are_held() const { return directory_.is_held(); }

WorldService* WorldServices::find(ServiceStage stage) const {
    for (WorldService* const service : services_)
        if (service != nullptr && service->stage() == stage) return service;
    return nullptr;
}

void WorldServices::end_all() {
    while (!services_.empty()) {
        WorldService& last = *services_.back();
        services_.pop_back();
        for (Asked& asked : asked_) std::ranges::replace(asked.services, &last, nullptr);
        last.world_ends();
    }
}

// --- zones that are unloaded -------------------------------------------------------------------------------------

ZoneSet WorldServices::unloaded_zones() const {
    ZoneSet zones;
    for_each([&](const WorldService& service) { zones.insert(service.unloaded_zones()); });
    return zones;
}

Zone WorldServices::unloaded_zone_of(Entity entity) const {
    Zone zone = kNoZone;
    for_each([&](const WorldService& service) {
        if (zone == kNoZone) zone = service.unloaded_zone_of(entity);
    });
    return zone;
}

Status WorldServices::check_loaded(std::span<const Entity> entities, std::string_view done) const {
    if (unloaded_zones().empty()) return {};
    for (const Entity entity : entities)
        if (const Zone zone = unloaded_zone_of(entity); zone != kNoZone)
            return Status::error(concat("entity ", entity_text(entity), " cannot be ", done, " while its zone ", zone,
                                        " is unloaded; call ZoneStreaming::load() before"));
    return {};
}

Status WorldServices::check_all_loaded(std::string_view done) const {
    const ZoneSet unloaded = unloaded_zones();
    if (unloaded.empty()) return {};
    std::string zones;
    unloaded.for_each([&](Zone zone) { zones += concat(zones.empty() ? "" : ", ", zone); });
    return Status::error(concat("the world cannot be ", done, " while zones are unloaded (", zones,
                                "); call ZoneStreaming::load_all() before"));
}

/// If services were added during a loop, moves them to their places. Also closes the gaps left by removed services.
void WorldServices::put_in_order() {
    has_changed_ = false;
    erase_if(services_, [](const WorldService* service) { return service == nullptr; });
    const auto comes_before = [](const WorldService* a, const WorldService* b) { return a->stage() < b->stage(); };
    for (auto next = services_.begin(); next != services_.end(); ++next)
        std::rotate(std::upper_bound(services_.begin(), next, *next, comes_before), next, next + 1);
    for (Asked& asked : asked_) asked.services.clear();
    for (WorldService* const service : services_) list(*service);
}

/// Appends a service to the lists of its hooks.
void WorldServices::list(WorldService& service) {
    for (std::uint32_t hook = 0; hook < kNumHooks; ++hook)
        if ((service.hooks_ >> hook & 1) != 0) asked_[hook].services.push_back(&service);
}

}  // namespace shoal
