#include "shoal/store/detail/component_manager.h"

namespace shoal {

ComponentManager::ComponentManager(const Schema& schema, EntityManager& entities, PagePool& pool,
                                   const ManagerOptions& options)
    : rows_(schema, entities, pool,
            {.index = options.index,
             .death = options.death,
             .max_collected = options.max_collected,
             .capacity_rows = schema.singleton() ? 1 : options.capacity_rows,
             .kind = "a manager"}) {}

ComponentManager::~ComponentManager() = default;

Result<AddCounts> ComponentManager::add_images(std::span<const Entity> entities, const std::byte* images,
                                               std::size_t stride) {
    struct Images {
        const std::byte* first;
        std::size_t stride;
    } source{images, stride};
    return add(
        entities,
        [](void* context, Table& table, RowRange rows, std::size_t first_source) {
            const Images& images = *static_cast<const Images*>(context);
            if (images.stride == 0)
                table.fill(rows, images.first);
            else
                table.scatter(rows, images.first + first_source * images.stride, images.stride);
        },
        &source);
}

void ComponentManager::remove(Instance instance) {
    rows_.require_unlocked("remove()");
    rows_.require(instance);
    rows_.remove_row(instance.row);
}

}  // namespace shoal
