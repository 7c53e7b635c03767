// The tags of entities, and the lists of the entities of each tag.

#include "shoal/components/tag.h"

#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::uint64_t kNeverBuilt = ~std::uint64_t(0);

}  // namespace

TagManager::TagManager(Manager<Tag>& tags, StringTable& texts) : tags_(tags), texts_(texts), built_at_(kNeverBuilt) {
    callback_ = tags.core().entity_manager().add_destruction_callback(
        [](void* self, std::span<const Entity>) { ++static_cast<TagManager*>(self)->num_deaths_; }, this);
}

TagManager::~TagManager() { tags_.core().entity_manager().remove_destruction_callback(callback_); }

// --- the tags of an entity ---------------------------------------------------------------------------------------

Instance TagManager::find(Entity entity, StringId tag) const {
    Instance instance = first(entity);
    while (instance && tags_.get<&Tag::tag>(instance) != tag) instance = tags_.next(instance);
    return instance;
}

Status TagManager::add_tag(Entity entity, std::string_view tag) {
    if (tag.empty()) return Status::error("a tag needs a text");
    if (!tags_.core().entity_manager().alive(entity))
        return Status::error(concat("cannot give the tag \"", tag, "\" to an entity that is not alive"));
    Result<StringId> id = texts_.intern(tag);
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

// --- the entities of a tag ---------------------------------------------------------------------------------------

std::span<const Entity> TagManager::entities_with(StringId tag) {
    if (built_at_ != tags_.core().num_structural_changes()) build();
    const std::uint32_t* const place = list_by_tag_.find(tag);
    if (place == nullptr) return {};
    List& list = lists_[*place];
    Entity* const begin = by_tag_.data() + list.begin;
    if (list.num_deaths != num_deaths_) {
        const EntityManager& entities = tags_.core().entity_manager();
        Entity* const end = std::remove_if(begin, begin + list.count, [&](Entity e) { return !entities.alive(e); });
        list.count = static_cast<std::uint32_t>(end - begin);
        list.num_deaths = num_deaths_;
    }
    return {begin, list.count};
}

void TagManager::build() {
    lists_.clear();
    list_by_tag_.clear();
    count_tags();
    std::uint32_t begin = 0;
    for (List& list : lists_) {
        list.begin = begin;
        begin += std::exchange(list.count, 0);
    }
    by_tag_.resize(begin);
    // Entity by entity, so that a second row of the same tag finds its entity at the end of the list.
    const std::span<const Entity> owners = tags_.entities();
    for (std::uint32_t row = 0; row < owners.size(); ++row) {
        if (first(owners[row]).row != row) continue;
        for_each_tag(owners[row], [&](StringId tag) {
            List& list = list_of(tag);
            Entity* const end = by_tag_.data() + list.begin + list.count;
            if (list.count > 0 && end[-1] == owners[row]) return;
            *end = owners[row];
            ++list.count;
        });
    }
    built_at_ = tags_.core().num_structural_changes();
}

/// Makes a list for each tag and counts its rows.
void TagManager::count_tags() {
    for (const StringId tag : tags_.column<&Tag::tag>()) ++list_of(tag).count;
}

TagManager::List& TagManager::list_of(StringId tag) {
    const auto [place, is_new] = list_by_tag_.insert(tag, static_cast<std::uint32_t>(lists_.size()));
    if (is_new) lists_.push_back({.tag = tag, .num_deaths = num_deaths_});
    return lists_[*place];
}

}  // namespace shoal
