#include "shoal/base/assert.h"
#include "shoal/base/text.h"
#include "shoal/world/service.h"

#include <algorithm>

namespace shoal {

void WorldServices::add(WorldService& service) {
    SHOAL_ASSERT(!is_held_, "a pass added a service to the world that runs it; add it between steps");
    for (const WorldService* const other : services_) {
        if (other == nullptr) continue;
        SHOAL_ASSERT(other != &service, "the service was added to this world already");
        const bool is_own = service.stage() != ServiceStage::kProgram && other->stage() == service.stage();
        const bool have_one_part =
            service.state_version() != 0 && other->state_version() != 0 && other->name() == service.name();
        if (!is_own && !have_one_part) continue;
        const std::string message = concat("the world has a service \"", other->name(),
                                           "\" already; use that one, or end it before another one begins");
        fail_assertion({"the world has no such service", message.c_str(), __FILE__, __LINE__});
    }
    services_.push_back(&service);
    has_changed_ = true;
    if (num_loops_ == 0) put_in_order();
}

void WorldServices::remove(const WorldService& service) {
    SHOAL_ASSERT(!is_held_, "a pass removed a service of the world that runs it; remove it between steps");
    for (WorldService*& one : services_)
        if (one == &service) one = nullptr;
    has_changed_ = true;
    if (num_loops_ == 0) put_in_order();
}

WorldService* WorldServices::find(ServiceStage stage) const {
    for (WorldService* const service : services_)
        if (service != nullptr && service->stage() == stage) return service;
    return nullptr;
}

/// The world ends: tells the services, the last one first. Each is removed before.
void WorldServices::end_all() {
    while (!services_.empty()) {
        WorldService& last = *services_.back();
        services_.pop_back();
        last.world_ends();
    }
}

/// Those that were added in a loop are at the end, and those that were removed have left gaps.
void WorldServices::put_in_order() {
    has_changed_ = false;
    erase_if(services_, [](const WorldService* service) { return service == nullptr; });
    const auto comes_before = [](const WorldService* a, const WorldService* b) { return a->stage() < b->stage(); };
    for (auto next = services_.begin(); next != services_.end(); ++next)
        std::rotate(std::upper_bound(services_.begin(), next, *next, comes_before), next, next + 1);
}

}  // namespace shoal
