#pragma once
// Tags: an entity has any number of short words, such as "enemy" or "needs_light", and can be found by each of them.
//
//     entity --Manager<Tag>--> chain of rows, one tag each                add_tag, has_tag, tags of one entity
//     tag --------------------> entities, side by side                    entities_with
//
// entities_with() builds the second mapping in one pass over all rows and keeps it until a row is added or removed,
// by this class, the manager, a spawn or a settle (see owners_by_value.h). Dead entities are left out immediately.
// Queries of a world use the same lists, `world.query<Read<&Body::position>>().tagged("enemy")`, and so do text
// queries: "body, #enemy". Do not overwrite a tag through the manager, which would not update the lists: remove it and
// add another.
// Thread: as for Manager; entities_with() counts as a structural call, because it may build the lists.

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

    /// Adds a tag to a living entity, unless the entity has it already. Errors: the tag is empty; the entity is dead;
    /// no memory; the string table has another text with the same hash. Nothing has changed.
    SHOAL_API Status add_tag(Entity entity, std::string_view tag);
    /// Removes a tag and returns whether the entity had it.
    SHOAL_API bool remove_tag(Entity entity, StringId tag);
    bool remove_tag(Entity entity, std::string_view tag) { return remove_tag(entity, StringId(tag)); }

    /// Returns whether a living entity has the tag. Cost: O(tags of the entity).
    SHOAL_API bool has_tag(Entity entity, StringId tag) const;
    bool has_tag(Entity entity, std::string_view tag) const { return has_tag(entity, StringId(tag)); }

    /// Calls visit(StringId) for each tag of a living entity, newest first; twice for a tag that was spawned twice.
    /// The visitor must not add or remove tags.
    template <class Visitor>
    void for_each_tag(Entity entity, Visitor&& visit) const {
        for (Instance i = first(entity); i; i = tags_.next(i)) visit(tags_.get<&Tag::tag>(i));
    }
    /// Returns the text of a tag; empty if the string table does not have it. Lifetime: while an entity has the tag.
    std::string_view text(StringId tag) const { return texts_.text(tag); }

    /// Returns the living entities that have the tag, each once, in an unspecified order that is the same in every run.
    /// Lifetime: until the next call, or until a tag is added or removed or an entity is destroyed. Cost: O(tags of all
    /// entities) after a tag was added or removed; O(result) after an entity died; otherwise one look-up.
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
