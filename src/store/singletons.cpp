#include "shoal/store/detail/singletons.h"

#include "shoal/base/assert.h"
#include "shoal/base/text.h"
#include "shoal/entity/detail/saved_entities.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/table/detail/access_guard.h"
#include "shoal/table/detail/table.h"

#include <algorithm>

namespace shoal {

Status Singletons::make_row(ComponentManager& manager) {
    EntityManager& entities = directory_.entities();
    const Schema& schema = manager.schema();
    const std::span<const Entity> owners = manager.table().entities();
    const auto num_alive = std::count_if(owners.begin(), owners.end(), [&](Entity e) { return entities.alive(e); });
    if (!schema.singleton() || num_alive > 1)
        return Status::error(concat("\"", schema.name(),
                                    "\" is a singleton, but the world made its manager from a schema ",
                                    "without `singleton`, and it has ", num_alive,
                                    " of them; compile the blob again that this schema came from"));
    for (std::uint32_t row = manager.num_rows(); row-- > 0;)
        if (!entities.alive(manager.table().entities()[row])) manager.remove(Instance{row});
    if (num_alive == 1) return {};
    if (!entities.alive(entity_))
        if (Status status = entities.create(std::span(&entity_, 1)); !status) return status;
    return manager.add_images(std::span(&entity_, 1), manager.schema().default_image().data(), 0).status();
}

ComponentManager& Singletons::require(const Schema& component) {
    SHOAL_ASSERT(component.singleton(), "the component type is not declared singleton");
    auto* const manager = dynamic_cast<ComponentManager*>(directory_.require_or_end(component));
    SHOAL_ASSERT(
        manager != nullptr && manager->schema().layout_hash() == component.layout_hash() &&
            manager->schema().singleton(),
        "the world keeps this singleton in another store, with other fields, or by the schema of a blob without "
        "`singleton`");
    if (!directory_.is_held()) {
        const Status status = make_row(*manager);
        SHOAL_ASSERT(status.ok(), status.ok() ? "" : status.message().data());
    }
    return *manager;
}

const ComponentManager& Singletons::require(const Schema& component) const {
    const auto* const manager = directory_.find_as<ComponentManager>(component.id());
    SHOAL_ASSERT(manager != nullptr && manager->schema().layout_hash() == component.layout_hash() &&
                     manager->schema().singleton() && manager->num_rows() == 1,
                 "the world has no such singleton yet; World::singleton() of a world that is not const makes it");
    if constexpr (SHOAL_CHECKED != 0) ask_read_guard(manager->table(), 0);
    return *manager;
}

std::byte* Singletons::write(const Schema& component) {
    SHOAL_ASSERT(!directory_.is_held(),
                 "a pass called World::singleton(), which may write; name it in the query: Singleton<Read<&T::field>>");
    return require(component).table().write_element(0, 0);
}

const std::byte* Singletons::read(const Schema& component) const { return require(component).table().column(0); }

void Singletons::note_deaths() {
    if (!directory_.entities().alive(entity_)) entity_ = kNullEntity;
}

void Singletons::destroy() {
    if (entity_) directory_.entities().destroy(std::span(&entity_, 1));
    entity_ = kNullEntity;
}

// --- saving ------------------------------------------------------------------------------------------------------

void Singletons::save(SnapshotWriter& to) const { to.value("singletons", entity_); }

Status Singletons::load(SnapshotReader& from) {
    Entity entity;
    if (Status status = from.value("singletons", entity); !status) return status;
    if (Status status = check_entities(from, "singletons", {&entity, 1}, true); !status) return status;
    entity_ = entity;
    return {};
}

Status Singletons::finish_load(SnapshotReader& from) {
    for (Store* store : directory_.stores()) {
        auto* const manager = dynamic_cast<ComponentManager*>(store);  // only managers keep singletons
        if (manager == nullptr || !manager->schema().singleton()) continue;
        if (manager->num_rows() == 0) {
            if (Status status = make_row(*manager); !status) return status;
        } else if (!from.is_trusted() &&
                   (manager->num_rows() != 1 || !directory_.entities().alive(manager->table().entities()[0]))) {
            return from.error(concat("stores/", manager->schema().name()),
                              "a singleton has one row, of a living entity");
        }
    }
    return {};
}

}  // namespace shoal
