#pragma once
// Tags: any number of short words on an entity ("enemy", "needs_light"), and all entities that carry one.
//
//     entity --Manager<Tag>--> chain of rows, one tag each                add_tag, has_tag, tags of one entity
//     tag --------------------> entities, side by side                    entities_with
//
// The second direction is made when it is first asked for, in one go over all rows, and kept until a row comes or
// goes, whoever adds or removes it (this class, the manager, a spawn, a settle). The dead are left out at once.
// Tags are added and removed, never rewritten in place through the manager: nothing would notice.
// Thread: a structural call of the manager each, entities_with() included: it may write what it keeps.

#include "shoal/base/hash_map.h"
#include "shoal/base/string_table.h"
#include "shoal/store/manager.h"

namespace shoal {

struct Tag {
    StringId tag;
};
SHOAL_COMPONENT((Tag, many), tag)

class TagManager {
public:
    /// Lifetime: `tags` and `texts` outlive this.
    SHOAL_API TagManager(Manager<Tag>& tags, StringTable& texts);
    SHOAL_API ~TagManager();
    TagManager(const TagManager&) = delete;
    TagManager& operator=(const TagManager&) = delete;

    /// Gives a living entity a tag. Nothing happens when it has it.
    /// Errors: an empty tag; the entity is dead; no memory; another text with the same hash is kept. Nothing changed.
    SHOAL_API Status add_tag(Entity entity, std::string_view tag);
    /// Takes a tag away and returns whether the entity had it.
    SHOAL_API bool remove_tag(Entity entity, StringId tag);
    bool remove_tag(Entity entity, std::string_view tag) { return remove_tag(entity, StringId(tag)); }

    /// Returns whether a living entity has the tag. Cost: as many steps as the entity has tags.
    SHOAL_API bool has_tag(Entity entity, StringId tag) const;
    bool has_tag(Entity entity, std::string_view tag) const { return has_tag(entity, StringId(tag)); }

    /// Calls visit(StringId) for each tag of an entity, the newest first (a tag spawned twice comes twice).
    /// The visitor adds and removes no tags.
    template <class Visitor>
    void for_each_tag(Entity entity, Visitor&& visit) const {
        for (Instance i = first(entity); i; i = tags_.next(i)) visit(tags_.get<&Tag::tag>(i));
    }
    /// Returns the text of a tag; empty when nobody kept it. Lifetime: that of the string table.
    std::string_view text(StringId tag) const { return texts_.text(tag); }

    /// Returns the living entities that have the tag, each once, in no order that means anything (but the same in
    /// every run). Lifetime: until the next call, or the next change of tags or destruction of entities.
    /// Cost: O(tags of all entities) after a tag came or went; O(result) after an entity died; else one look-up.
    SHOAL_API std::span<const Entity> entities_with(StringId tag);
    std::span<const Entity> entities_with(std::string_view tag) { return entities_with(StringId(tag)); }

private:
    /// The entities of one tag: by_tag_[begin, begin + count).
    struct List {
        StringId tag;
        std::uint32_t begin = 0;
        std::uint32_t count = 0;
        std::uint64_t num_deaths = 0;  // told of when the dead were last taken out
    };

    /// The first instance of a living entity.
    Instance first(Entity entity) const {
        return tags_.core().entity_manager().alive(entity) ? tags_.instance(entity) : kNilInstance;
    }
    Instance find(Entity entity, StringId tag) const;
    void build();
    void count_tags();
    List& list_of(StringId tag);

    Manager<Tag>& tags_;
    StringTable& texts_;
    DestructionCallback callback_;
    std::uint64_t num_deaths_ = 0;  // batches of entities that were destroyed
    std::uint64_t built_at_;        // num_structural_changes() of the manager
    Array<List> lists_{Owner("tags")};
    HashMap<StringId, std::uint32_t> list_by_tag_{Owner("tags")};  // place in lists_
    Array<Entity> by_tag_{Owner("tags")};                          // list after list
};

}  // namespace shoal
