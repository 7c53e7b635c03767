#include "source/composer_state.h"

#include "shoal/base/string_id.h"
#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::size_t kMaxComponentsPerEntity = 1024;
constexpr std::uint16_t kMaxLayers = 1024;
constexpr std::uint64_t kMaxSearchSteps = 1 << 28;

std::string_view without_hash(std::string_view key) { return !key.empty() && key[0] == '#' ? key.substr(1) : key; }

std::string_view key_name(EntityKey key) { return kEntityKeys[static_cast<std::size_t>(key)]; }

constexpr std::uint8_t bit(WrapperKey key) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(key)); }

Node first_of(Node a, Node b) { return a ? a : b; }

}  // namespace

// --- reading the keys of an entity ---------------------------------------------------------------------------------

void Composer::wrong_kind(Node node, std::string_view key, std::string_view wanted) {
    diagnostics_.error(node.position(), concat("`", key, "` is ", kind_name(node.kind())), concat("write ", wanted));
}

void Composer::read_keys(Node node, bool of_level, EntityText& text, std::vector<Node>& others) {
    const auto allowed = [&](EntityKey key) {
        switch (key) {
            case EntityKey::kUnits:
            case EntityKey::kEntities:
                return of_level;
            case EntityKey::kEditor:
                return false;  // only its name is read
            case EntityKey::kGuid:
            case EntityKey::kType:
            case EntityKey::kName:
            case EntityKey::kPlainType:
            case EntityKey::kPlainGuid:
            case EntityKey::kId:
                return true;
            default:
                return !of_level;
        }
    };
    const auto ignored = [&](std::string_view key) {
        return std::find(options_.ignored_keys.begin(), options_.ignored_keys.end(), key) !=
               options_.ignored_keys.end();
    };
    const bool is_source = depth_ == 1 && !result_.is_level_;  // a level whose `units` is mistyped looks like an entity
    const auto helps = [&](EntityKey key) {
        return allowed(key) || (is_source && (key == EntityKey::kUnits || key == EntityKey::kEntities));
    };
    int index = -1;
    for (const Node child : node) {
        const std::string_view key = child.key();
        index = entity_keys_.find(key, index);
        if (index >= 0) text.keys[index] = child;
        if (index >= 0 && allowed(static_cast<EntityKey>(index))) continue;
        if (ignored(key)) continue;
        if (options_.keep_unknown_keys) {
            others.push_back(child);
            continue;
        }
        const int close = closest_text(key, kEntityKeys, std::size(kEntityKeys));
        diagnostics_.error(child.key_position(),
                           concat(of_level ? "a level" : "an entity", " has no key ", quoted(key)),
                           close >= 0 && kEntityKeys[close] != key && helps(static_cast<EntityKey>(close))
                               ? concat("did you mean `", kEntityKeys[close], "`?")
                               : "remove it, or list it under `ignored_keys` in a schema file");
    }
}

void Composer::read_name(const EntityText& text, MergedEntity& entity) {
    Node name = text[EntityKey::kName];
    if (!name)
        if (const Node editor = text[EntityKey::kEditor]; editor && editor.is_mapping()) name = editor.find("name");
    if (!name || name.is_null()) return;
    if (!name.is_string()) return wrong_kind(name, "name", "a text");
    entity.name = name.as_string();
}

/// Returns the GUID that a mapping gives itself; empty when there is none.
std::string_view Composer::guid_of(Node node, SourcePosition& position) {
    for (const std::string_view key : {"_guid", "guid", "id"}) {
        const Node guid = node.find(key);
        if (guid && key == "_guid" && !guid.is_string() && !guid.is_null()) wrong_kind(guid, key, "a text");
        if (!guid || !guid.is_string()) continue;
        position = guid.position();
        return without_hash(guid.as_string());
    }
    return {};
}

bool Composer::entry_of_list(Node item, EntityKey key, Entry& entry) {
    const bool deletes = key == EntityKey::kDeletedChildren || key == EntityKey::kDeletedComponents;
    entry = {{}, item.position(), item};
    if (deletes && item.is_string()) {
        entry.key = without_hash(item.as_string());
        return true;
    }
    if (!item.is_mapping()) {
        diagnostics_.error(item.position(), concat("an element of `", key_name(key), "` is ", kind_name(item.kind())),
                           deletes ? "write a GUID or name" : "write a mapping");
        return false;
    }
    entry.key = guid_of(item, entry.position);
    if (!entry.key.empty()) return true;
    const bool needs_target = deletes || key == EntityKey::kModifiedChildren || key == EntityKey::kModifiedComponents;
    if (needs_target)
        diagnostics_.error(item.position(), concat("an element of `", key_name(key), "` does not say what it is for"),
                           "give it a `_guid`");
    entry.has_key = false;
    return !needs_target;
}

/// Calls visit(entry) for each element of a list, or each member of a mapping.
template <class Visit>
void Composer::each_entry(Node list, EntityKey key, Visit&& visit) {
    if (!list || list.is_null()) return;
    if (!list.is_list() && !list.is_mapping())
        return wrong_kind(list, key_name(key), "a list, or a mapping by GUID or name");
    Entry entry;
    for (const Node child : list) {
        if (list.is_list()) {
            if (entry_of_list(child, key, entry)) visit(entry);
            continue;
        }
        entry = {without_hash(child.key()), child.key_position(), child};
        if (entry.key.empty())
            diagnostics_.error(child.key_position(), concat("an element of `", key_name(key), "` has an empty key"),
                               "give it a GUID or a name");
        else
            visit(entry);
    }
}

// --- entities ------------------------------------------------------------------------------------------------------

/// Merges what `node` says with its prefab, or into `modified` when it is an element of `modified_children`.
const MergedEntity* Composer::merge(Node node, const Entry& entry, const MergedEntity* modified) {
    if (!node.is_mapping()) {
        diagnostics_.error(node.position(), concat("an entity is a mapping, this is ", kind_name(node.kind())),
                           "write { ... } with `components`, `children` or `prefab`");
        return nullptr;
    }
    if (depth_ == options_.max_depth) {
        diagnostics_.error(node.position(),
                           concat("children and prefabs lie more than ", options_.max_depth, " deep in one another"),
                           "make the source flatter");
        return nullptr;
    }
    ++depth_;
    const MergedEntity* result = merge_within_depth(node, entry, modified);
    --depth_;
    return result;
}

const MergedEntity* Composer::merge_within_depth(Node node, const Entry& entry, const MergedEntity* modified) {
    EntityText text;
    std::vector<Node> others;
    read_keys(node, false, text, others);
    Draft draft;
    const MergedEntity* base = modified;
    if (const Node prefab = text[EntityKey::kPrefab]; modified == nullptr) {
        base = use_prefab(prefab, draft.base_failed);
        if (prefab && prefab.is_string()) draft.base_name = prefab.as_string();
    } else if (prefab && !prefab.is_null()) {
        diagnostics_.error(prefab.position(), "`modified_children` cannot give a child another prefab",
                           "delete the child and add a new one under `children`");
    }
    MergedEntity* entity = base == nullptr ? arena_.make<MergedEntity>() : arena_.make<MergedEntity>(*base);
    entity->key = entry.key;
    entity->key_hash = hash_text(entry.key);
    if (modified == nullptr) entity->position = node.has_key() ? node.key_position() : node.position();
    read_name(text, *entity);
    if (!others.empty()) {
        others.insert(others.begin(), entity->other_keys.begin(), entity->other_keys.end());
        entity->other_keys = arena_.copy(std::span<const Node>(others));
    }
    merge_components(text, *entity, draft);
    merge_children(text, *entity, draft);
    count(*entity);
    return entity;
}

/// Counts the subtree, and refuses it when it is too large before anything is expanded.
void Composer::count(MergedEntity& entity) {
    if (too_large_) {
        entity.children = {};
        entity.num_entities = 1;
        entity.num_components = entity.components.size();
        entity.height = 1;
        return;
    }
    const bool is_level = entity.num_entities == 0;
    entity.num_entities = is_level ? 0 : 1;
    entity.num_components = entity.components.size();
    entity.height = 1;
    for (const MergedEntity* child : entity.children) {
        entity.num_entities += child->num_entities;  // no overflow: each is at most the limit
        entity.num_components += child->num_components;
        entity.height = std::max(entity.height, child->height + 1);
        if (entity.num_entities > options_.max_entities || entity.num_components > options_.max_components) break;
    }
    const auto refuse = [&](std::string problem) {
        too_large_ = true;
        diagnostics_.error(entity.position,
                           concat(is_level ? "this level has " : "this entity and its children have ", problem),
                           "look for a prefab that uses another one many times");
    };
    if (entity.num_entities > options_.max_entities)
        return refuse(concat("more than ", options_.max_entities, " entities"));
    if (entity.num_components > options_.max_components)
        return refuse(concat("more than ", options_.max_components, " components"));
    if (entity.height > options_.max_depth + 1)
        return refuse(concat("children more than ", options_.max_depth, " deep"));
}

void Composer::stale(const Entry& entry, EntityKey key, const Draft& draft, std::string_view what) {
    if (draft.base_failed || too_large_) return;
    const auto is_of_type = [&](const MergedComponent& c) { return result_.types_[c.type] == entry.key; };
    const bool is_component = key == EntityKey::kModifiedComponents || key == EntityKey::kDeletedComponents;
    const auto num_of_type = is_component ? std::count_if(components_.begin(), components_.end(), is_of_type) : 0;
    if (num_of_type > 1) {
        diagnostics_.warning(entry.position,
                             concat("`", key_name(key), "` names ", quoted(entry.key), ", but there are ", num_of_type,
                                    " components of this type"),
                             "name one of them by its GUID");
        return;
    }
    const std::string where =
        draft.base_name.empty() ? std::string("here") : concat("in the prefab ", quoted(draft.base_name));
    diagnostics_.warning(
        entry.position,
        concat("`", key_name(key), "` names ", quoted(entry.key), ", but there is no such ", what, ' ', where),
        "correct the GUID, or remove this");
}

// --- components ----------------------------------------------------------------------------------------------------

std::uint32_t Composer::type_index(std::string_view name) {
    std::vector<std::string_view>& types = result_.types_;
    for (const std::uint32_t guess : {last_type_ + 1, last_type_}) {
        if (guess >= types.size() || types[guess] != name) continue;
        return last_type_ = guess;
    }
    const auto [at, is_new] = type_by_name_.insert(name, static_cast<std::uint32_t>(types.size()));
    if (is_new) types.push_back(name);
    return last_type_ = *at;
}

/// Reads what stands for one component: its layer and, if it is said, its type. False: reported.
bool Composer::read_component(Node value, bool declares, ComponentLayer& layer, Node& type) {
    layer.value = layer.fields = value;
    if (!value.is_mapping()) return true;
    Node keys[std::size(kWrapperKeys)];
    int index = -1;
    bool has_others = false;
    for (const Node child : value) {
        index = wrapper_keys_.find(child.key(), index);
        if (index >= 0)
            keys[index] = child;
        else
            has_others = true;
    }
    const auto key = [&](WrapperKey wanted) { return keys[static_cast<std::size_t>(wanted)]; };
    type = key(WrapperKey::kType);
    layer.consumed_keys = bit(WrapperKey::kGuid) | bit(WrapperKey::kType);
    if (const Node data = key(WrapperKey::kData)) {
        if (!data.is_mapping() && !data.is_null()) return wrong_kind(data, "data", "a mapping of fields"), false;
        layer.fields = data;
        layer.consumed_keys |= bit(WrapperKey::kData);
        layer.has_other_keys = has_others;
        type = first_of(type, key(WrapperKey::kPlainType));
    } else if (!type && declares) {
        type = key(WrapperKey::kPlainType);
        layer.consumed_keys |= bit(WrapperKey::kPlainType);
    }
    if (!type || type.is_string()) return true;
    return wrong_kind(type, "type", "the name of a component type"), false;
}

int Composer::find_component(std::string_view key) const {
    for (std::size_t i = 0; i < components_.size(); ++i)
        if (components_[i].key == key) return static_cast<int>(i);
    int found = -1;
    for (std::size_t i = 0; i < components_.size(); ++i) {
        if (result_.types_[components_[i].type] != key) continue;
        if (found >= 0) return -1;  // several of this type: the name says too little
        found = static_cast<int>(i);
    }
    return found;
}

void Composer::add_component(const Entry& entry) {
    ComponentLayer layer;
    Node type;
    if (!read_component(entry.value, true, layer, type)) return;
    if (!entry.has_key && !type) {
        diagnostics_.error(entry.position, "a component in a list does not say what it is", "give it a `type`");
        return;
    }
    MergedComponent component;
    component.key = entry.has_key ? entry.key : type.as_string();
    component.position = entry.position;
    for (const MergedComponent& other : components_) {
        if (other.key != component.key) continue;
        diagnostics_
            .error(entry.position, concat("the component ", quoted(component.key), " is there already"),
                   "change it under `modified_components`, or give this one another key and a `type`")
            .note(other.position, "the other is here");
        return;
    }
    if (components_.size() == kMaxComponentsPerEntity) {
        diagnostics_.error(entry.position, concat("an entity has at most ", kMaxComponentsPerEntity, " components"),
                           "use children");
        return;
    }
    component.type = type_index(type ? type.as_string() : component.key);
    if (prefab_depth_ > 0) layer.shared_index = result_.num_shared_layers_++;
    component.top = arena_.make<ComponentLayer>(layer);
    components_.push_back(component);
}

void Composer::modify_component(const Entry& entry, const Draft& draft) {
    const int index = find_component(entry.key);
    if (index < 0) return stale(entry, EntityKey::kModifiedComponents, draft, "component");
    MergedComponent& component = components_[static_cast<std::size_t>(index)];
    ComponentLayer layer;
    Node type;
    if (entry.value.is_null()) return;
    if (!read_component(entry.value, false, layer, type)) return;
    const std::string_view type_name = result_.types_[component.type];
    if (type && type.as_string() != type_name) {
        diagnostics_
            .error(type.position(),
                   concat("the component ", quoted(entry.key), " is of type ", quoted(type_name), ", not ",
                          quoted(type.as_string())),
                   "delete it and add another one to change its type")
            .note(component.position, "it is declared here");
        return;
    }
    if (component.top->height == kMaxLayers) {
        diagnostics_.error(entry.position,
                           concat("the component ", quoted(entry.key), " is modified more than ", kMaxLayers, " times"),
                           "merge the changes");
        return;
    }
    layer.below = component.top;
    layer.height = static_cast<std::uint16_t>(component.top->height + 1);
    if (prefab_depth_ > 0) layer.shared_index = result_.num_shared_layers_++;
    component.top = arena_.make<ComponentLayer>(layer);
}

void Composer::delete_component(const Entry& entry, const Draft& draft) {
    const int index = find_component(entry.key);
    if (index < 0) return stale(entry, EntityKey::kDeletedComponents, draft, "component");
    components_.erase(components_.begin() + index);
}

void Composer::merge_components(const EntityText& text, MergedEntity& entity, const Draft& draft) {
    const Node added = text[EntityKey::kComponents], deleted = text[EntityKey::kDeletedComponents],
               modified = text[EntityKey::kModifiedComponents];
    if (!added && !deleted && !modified) return;
    components_.assign(entity.components.begin(), entity.components.end());
    each_entry(added, EntityKey::kComponents, [&](const Entry& entry) { add_component(entry); });
    each_entry(deleted, EntityKey::kDeletedComponents, [&](const Entry& entry) { delete_component(entry, draft); });
    each_entry(modified, EntityKey::kModifiedComponents, [&](const Entry& entry) { modify_component(entry, draft); });
    entity.components = arena_.copy(std::span<const MergedComponent>(components_));
}

// --- children ------------------------------------------------------------------------------------------------------

void Composer::add_children(Node list, EntityKey key, std::vector<const MergedEntity*>& children) {
    if (!list) return;
    HashMap<std::uint64_t, const MergedEntity*> by_key{Owner("composer")};
    by_key.reserve(children.size() + list.size());
    for (const MergedEntity* child : children) by_key.add(child->key_hash, child);
    std::uint32_t place = 0;
    each_entry(list, key, [&](const Entry& found) {
        Entry entry = found;
        if (!entry.has_key) entry.key = arena_.copy(concat('[', place, ']'));
        ++place;
        const auto same_key = [&](const MergedEntity* other) { return other->key == entry.key; };
        if (const auto* other = by_key.find_if(hash_text(entry.key), same_key)) {
            diagnostics_
                .error(entry.position, concat("there is an entity ", quoted(entry.key), " here already"),
                       "give it another GUID, or change the other under `modified_children`")
                .note((*other)->position, "the other is here");
            return;
        }
        const MergedEntity* child = merge(entry.value, entry, nullptr);
        if (child == nullptr) return;
        children.push_back(child);
        by_key.add(child->key_hash, child);
    });
}

/// Finds a child by a path of keys: "a" or "a/b".
bool Composer::find_path(std::span<const MergedEntity* const> children, std::string_view key,
                         std::vector<std::uint32_t>& path) {
    for (std::uint32_t i = 0; i < children.size(); ++i) {
        if (++search_steps_ > kMaxSearchSteps) return false;
        const std::string_view child = children[i]->key;
        if (key.substr(0, child.size()) != child) continue;
        if (key.size() != child.size() && key[child.size()] != '/') continue;
        path.push_back(i);
        if (key.size() == child.size() || find_path(children[i]->children, key.substr(child.size() + 1), path))
            return true;
        path.pop_back();
    }
    return false;
}

bool Composer::find_deeper(std::span<const MergedEntity* const> children, std::string_view key,
                           std::vector<std::uint32_t>& path) {
    for (std::uint32_t i = 0; i < children.size(); ++i) {
        if (search_steps_ > kMaxSearchSteps) return false;
        path.push_back(i);
        if (find_path(children[i]->children, key, path) || find_deeper(children[i]->children, key, path)) return true;
        path.pop_back();
    }
    return false;
}

bool Composer::find_child(const Draft& draft, std::string_view key, std::vector<std::uint32_t>& path) {
    if (find_path(draft.children, key, path) || find_deeper(draft.children, key, path)) return true;
    if (search_steps_ > kMaxSearchSteps && !too_large_) {
        too_large_ = true;
        diagnostics_.error(uses_.back().position,
                           "looking for the targets of `modified_children` and `deleted_children` takes too long",
                           "name grandchildren by a path, such as \"trunk/branch\"");
    }
    return false;
}

/// Returns `entity` with the descendant at `path` replaced by `child`, or without it (nullptr).
const MergedEntity* Composer::edit(const MergedEntity& entity, std::span<const std::uint32_t> path,
                                   const MergedEntity* child) {
    std::vector<const MergedEntity*> children(entity.children.begin(), entity.children.end());
    search_steps_ += children.size() * 16;
    if (path.size() > 1)
        children[path[0]] = edit(*children[path[0]], path.subspan(1), child);
    else if (child != nullptr)
        children[path[0]] = child;
    else
        children.erase(children.begin() + path[0]);
    MergedEntity* edited = arena_.make<MergedEntity>(entity);
    edited->children = arena_.copy(std::span<const MergedEntity* const>(children));
    count(*edited);
    return edited;
}

void Composer::delete_child(const Entry& entry, Draft& draft) {
    std::vector<std::uint32_t> path;
    if (!find_child(draft, entry.key, path)) return stale(entry, EntityKey::kDeletedChildren, draft, "child");
    const auto at = draft.children.begin() + path[0];
    if (path.size() == 1)
        draft.children.erase(at);
    else
        *at = edit(**at, std::span<const std::uint32_t>(path).subspan(1), nullptr);
}

void Composer::modify_child(const Entry& entry, Draft& draft) {
    std::vector<std::uint32_t> path;
    if (!find_child(draft, entry.key, path)) return stale(entry, EntityKey::kModifiedChildren, draft, "child");
    const MergedEntity* target = draft.children[path[0]];
    for (std::size_t i = 1; i < path.size(); ++i) target = target->children[path[i]];
    Entry kept = entry;
    kept.key = target->key;
    const MergedEntity* changed = merge(entry.value, kept, target);
    if (changed == nullptr) return;
    const MergedEntity*& at = draft.children[path[0]];
    at = path.size() == 1 ? changed : edit(*at, std::span<const std::uint32_t>(path).subspan(1), changed);
}

void Composer::merge_children(const EntityText& text, MergedEntity& entity, Draft& draft) {
    const Node added = text[EntityKey::kChildren], deleted = text[EntityKey::kDeletedChildren],
               modified = text[EntityKey::kModifiedChildren];
    const auto is_empty = [](Node list) {
        return !list || list.is_null() || ((list.is_list() || list.is_mapping()) && list.size() == 0);
    };
    if (is_empty(added) && is_empty(deleted) && is_empty(modified)) return;
    draft.children.assign(entity.children.begin(), entity.children.end());
    add_children(added, EntityKey::kChildren, draft.children);
    each_entry(deleted, EntityKey::kDeletedChildren, [&](const Entry& entry) { delete_child(entry, draft); });
    each_entry(modified, EntityKey::kModifiedChildren, [&](const Entry& entry) { modify_child(entry, draft); });
    entity.children = arena_.copy(std::span<const MergedEntity* const>(draft.children));
}

}  // namespace shoal
