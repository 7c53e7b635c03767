#pragma once
// Tags are short words, such as "enemy" or "needs_light". An entity may have any number of tags, and can be found by
// any of them.
//
//     entity --Manager<Tag>--> chain of rows, one tag each                add_tag, has_tag, tags of one entity
//     tag --------------------> entities, side by side                    entities_with
//
// entities_with() builds the second mapping in one pass over all rows. It keeps the mapping until this class, the
// manager, a spawn or a settle adds or removes a row (see owners_by_value.h). Dead entities are left out immediately.
// A world's queries use the same lists, as in `world.query<Read<&Body::position>>().tagged("enemy")` or, in a text
// query, "body, #enemy". Do not overwrite a tag through the manager, because this would not update the lists. Remove
// the tag and add another one instead.
// Thread: the same as for Manager. entities_with() counts as a structural call, because it may build the lists.

#include "shoal/base/detail/string_table.h"
#include "shoal/store/detail/owners_by_value.h"
#include "shoal/store/manager.h"

namespace shoal {

struct Tag {
    StringId tag;
};
SHOAL_COMPONENT((Tag, many), tag)

class TagManager {
public:
    /// Lifetime: `tags` and `texts` outlive this object.
    TagManager(Manager<Tag>& tags, StringTable& texts) : tags_(tags), texts_(texts) {}
    TagManager(const TagManager&) = delete;
    TagManager& operator=(const TagManager&) = delete;

    /// Adds a tag to a living entity, unless the entity already has it. Errors: the tag is empty, the entity is dead,
    /// memory runs out, or the string table has a different string with the same hash. On error, nothing has changed.
    SHOAL_API Status add_tag(Entity entity, std::string_view tag);
    /// Removes a tag, and returns whether the entity had it.
    SHOAL_API bool remove_tag(Entity entity, StringId tag);
    bool remove_tag(Entity entity, std::string_view tag) { return remove_tag(entity, StringId(tag)); }

    /// Returns whether a living entity has the tag. Cost: O(tags of the entity).
    SHOAL_API bool has_tag(Entity entity, StringId tag) const;
    bool has_tag(Entity entity, std::string_view tag) const { return has_tag(entity, StringId(tag)); }

    /// Calls visit(StringId) for each tag of a living entity, newest first. A tag that was spawned twice is visited
    /// twice. The visitor must not add or remove tags.
    template <class Visitor>
    void for_each_tag(Entity entity, Visitor&& visit) const {
        for (Instance i = first(entity); i; i = tags_.next(i)) visit(tags_.get<&Tag::tag>(i));
    }
    /// Returns the string of a tag; empty if the string table does not have it. Lifetime: while an entity has the tag.
    std::string_view text(StringId tag) const { return texts_.text(tag); }

    /// Returns the living entities that have the tag, without duplicates. The order is unspecified but the same in
    /// every run.
    /// Lifetime: until the next call, until a tag is added or removed, or until an entity is destroyed.
    /// Cost: O(tags of all entities) if a tag was added or removed since the last call, O(result) if an entity died,
    /// and otherwise one look-up.
    std::span<const Entity> entities_with(StringId tag) { return tags_.core().rows().owners_by_value().living(tag); }
    std::span<const Entity> entities_with(std::string_view tag) { return entities_with(StringId(tag)); }

private:
    /// Returns the first instance of a living entity.
    Instance first(Entity entity) const {
        return tags_.core().entity_manager().alive(entity) ? tags_.instance(entity) : kNilInstance;
    }
    Instance find(Entity entity, StringId tag) const;

    Manager<Tag>& tags_;
    StringTable& texts_;
};

}  // namespace shoal
