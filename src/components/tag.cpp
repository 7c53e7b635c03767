// The tags of entities.

#include "shoal/components/tag.h"

#include "shoal/base/text.h"

namespace shoal {

Instance TagManager::find(Entity entity, StringId tag) const {
    Instance instance = first(entity);
    while (instance && tags_.get<&Tag::tag>(instance) != tag) instance = tags_.next(instance);
    return instance;
}

Status TagManager::add_tag(Entity entity, std::string_view tag) {
    if (tag.empty()) return Status::error("a tag needs a text");
    if (!tags_.core().entity_manager().alive(entity))
        return Status::error(concat("cannot give the tag \"", tag, "\" to an entity that is not alive"));
    Result<StringId> id = texts_.intern_until_unused(tag);
    if (!id) return id.status();
    if (find(entity, *id)) return {};
    return tags_.add(entity, {*id}).status();
}

bool TagManager::remove_tag(Entity entity, StringId tag) {
    bool had_it = false;
    for (Instance instance = find(entity, tag); instance; instance = find(entity, tag)) {
        tags_.remove(instance);
        had_it = true;
    }
    return had_it;
}

bool TagManager::has_tag(Entity entity, StringId tag) const { return !find(entity, tag).is_nil(); }

}  // namespace shoal
