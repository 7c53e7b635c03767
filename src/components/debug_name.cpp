// Sets and gets the names of entities.

#include "shoal/components/debug_name.h"

#include "shoal/base/text.h"

namespace shoal {

Status DebugNameManager::set_name(Entity entity, std::string_view name) {
    if (!names_.core().entity_manager().alive(entity))
        return Status::error(concat("cannot give the name \"", name, "\" to an entity that is not alive"));
    if (name.empty()) {
        names_.remove(entity);
        return {};
    }
    Result<StringId> id = texts_.intern_until_unused(name);
    if (!id) return id.status();
    return names_.add(entity, {*id}).status();
}

std::string_view DebugNameManager::name(Entity entity) const {
    const Instance instance = names_.instance(entity);
    if (!instance || !names_.core().entity_manager().alive(entity)) return {};
    return texts_.text(names_.get<&DebugName::name>(instance));
}

}  // namespace shoal
