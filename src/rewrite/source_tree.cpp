#include "shoal/rewrite/detail/source_tree.h"

#include "rewrite/source_tree_builder.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/source/detail/entity_key.h"
#include "shoal/source/detail/source_keys.h"

#include <algorithm>
#include <utility>

namespace shoal {
namespace {

constexpr std::uint8_t kFirstList = static_cast<std::uint8_t>(SourceKey::kComponents);
static_assert(kFirstList + static_cast<int>(ItemRole::kEntities) - 1 == static_cast<int>(SourceKey::kEntities),
              "the roles of items in lists are in the order of the keys of these lists");

/// Returns the key of a list. Requires: not kMember or kBeside.
const KeyMeaning& meaning_of(ItemRole place) { return kSourceKeys[kFirstList + static_cast<int>(place) - 1]; }

bool has_deletions(ItemRole place) { return meaning_of(place).value == KeyValue::kDeletions; }

std::uint64_t index_key(const SourceItem* parent, ItemRole place, std::string_view key) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(parent));
    return hash_text(key) ^ hash_key(address + static_cast<std::uint64_t>(place));
}

}  // namespace

// --- trees ---------------------------------------------------------------------------------------------------------

SourceTree::SourceTree() : memory_(new Memory) { memory_->items.emplace_back(); }
SourceTree::~SourceTree() { delete memory_; }
SourceTree::SourceTree(SourceTree&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
SourceTree& SourceTree::operator=(SourceTree&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
}

const SourceItem& SourceTree::root() const { return memory_->items.front(); }

const SourceItem* SourceTree::find(const SourceItem& parent, ItemRole place, std::string_view key) const {
    const auto matches = [&](const SourceItem* item) {
        return item->parent == &parent && item->place == place && item->key == key;
    };
    const SourceItem* const* found = memory_->index.find_if(index_key(&parent, place, key), matches);
    return found == nullptr ? nullptr : *found;
}

SourceItem* SourceTreeBuilder::add(SourceItem& parent, SourceItem item, const SourceItem*& other) {
    other = tree_.find(parent, item.place, item.key);
    return other == nullptr ? &add(parent, std::move(item)) : nullptr;
}

SourceItem& SourceTreeBuilder::add(SourceItem& parent, SourceItem item) {
    item.parent = &parent;
    SourceItem& kept = memory().items.emplace_back(std::move(item));
    memory().index.add(index_key(&parent, kept.place, kept.key), &kept);
    parent.children.push_back(&kept);
    return kept;
}

// --- reading -------------------------------------------------------------------------------------------------------

namespace {

class TextReader {
public:
    explicit TextReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    std::optional<SourceTree> read(Document document) { return read(builder_.keep(std::move(document))); }

    std::optional<SourceTree> read(Node root) {
        const std::size_t num_errors = diagnostics_.num_errors();
        if (!root.is_mapping()) {
            refuse(root, "a source", "write one entity, or a level with `entities`");
            return std::nullopt;
        }
        SourceItem& item = builder_.root();
        item.text = root;
        item.position = root.position();
        item.kind = is_level_text(root) ? ItemKind::kLevel : ItemKind::kEntity;
        if (item.kind == ItemKind::kEntity) {
            std::string_view name;
            item.key = key_in(root, name);
            if (item.key.empty()) item.key = ".";
        }
        read_entity(item);
        if (diagnostics_.num_errors() != num_errors) return std::nullopt;
        return builder_.finish();
    }

private:
    void refuse(Node node, std::string_view what, std::string hint) {
        diagnostics_.error(node.position(), concat(what, " is a mapping, this is ", kind_name(node.kind())),
                           std::move(hint));
    }

    /// Adds a child, or reports that it already exists.
    SourceItem* add(SourceItem& parent, SourceItem item) {
        const SourceItem* other = nullptr;
        const SourcePosition position = item.position;
        const std::string_view key = item.key;
        SourceItem* const added = builder_.add(parent, std::move(item), other);
        if (added == nullptr)
            diagnostics_
                .error(position, concat("there is already ", quoted(key), " here"), "give one of them another key")
                .note(other->position, "the other is here");
        return added;
    }

    std::string_view plain_key(std::string_view key) {
        return normal_key(without_hash(key), [&](std::string_view text) { return builder_.keep(text); });
    }

    /// Returns the key in an element of a list, and the name of the key's member; empty if there is none.
    std::string_view key_in(Node element, std::string_view& name) {
        for (const SourceKey wanted : kGuidKeys) {
            const Node guid = element.find(key_name(wanted));
            if (!guid || !guid.is_string()) continue;
            name = key_name(wanted);
            return plain_key(guid.as_string());
        }
        return {};
    }

    void read_entity(SourceItem& item) {
        const Node node = item.text;
        const bool is_level = item.kind == ItemKind::kLevel;
        const bool is_short = !is_level && short_form_.has(node);
        const bool has_both = is_level && node.find("units") && node.find("entities");
        for (const Node child : node) {
            const std::string_view key = child.key();
            if (!item.key_name.empty() && key == item.key_name) continue;
            ItemRole place = place_of_key(key, is_level);
            if (place == ItemRole::kUnits && !has_both) place = ItemRole::kEntities;
            if (is_short && !is_entity_key(key))
                add_component(item, entry(ItemRole::kComponents, child, ItemForm::kShort));
            else if (place == ItemRole::kMember)
                add_member(item, ItemRole::kMember, child);
            else
                read_entries(item, place, child);
        }
    }

    /// Returns an item for a child of a mapping.
    SourceItem entry(ItemRole place, Node node, ItemForm form) {
        SourceItem item;
        item.key = plain_key(node.key());
        item.place = place;
        item.form = form;
        item.text = node;
        item.position = node.key_position();
        return item;
    }

    void read_entries(SourceItem& parent, ItemRole place, Node list) {
        if (list.is_null()) return;
        if (!list.is_list() && !list.is_mapping()) {
            diagnostics_.error(list.position(), concat("`", list.key(), "` is ", kind_name(list.kind())),
                               "write a list, or a mapping by GUID or name");
            return;
        }
        std::uint32_t num_counted = 0;
        for (const Node child : list)
            if (list.is_mapping())
                add_entry(parent, entry(place, child, ItemForm::kByKey));
            else
                read_element(parent, place, child, num_counted);
    }

    /// Reads an element of a list. Elements without a key are numbered from 0.
    void read_element(SourceItem& parent, ItemRole place, Node element, std::uint32_t& num_counted) {
        SourceItem item;
        item.place = place;
        item.form = ItemForm::kElement;
        item.text = element;
        item.position = element.position();
        if (has_deletions(place) && element.is_string()) {
            item.key = plain_key(element.as_string());
            return add_entry(parent, std::move(item));
        }
        if (!element.is_mapping()) return refuse(element, "an element of this list", "write a mapping with a `_guid`");
        item.key = key_in(element, item.key_name);
        if (item.key.empty()) item.key_name = {};
        if (!item.key_name.empty()) item.position = element.find(item.key_name).position();
        if (item.key.empty() && place == ItemRole::kComponents) item.key = type_in(element, true);
        const bool may_be_counted = meaning_of(place).value == KeyValue::kNewEntities;
        if (item.key.empty() && may_be_counted) item.key = builder_.keep(concat('[', num_counted++, ']'));
        if (!item.key.empty()) return add_entry(parent, std::move(item));
        diagnostics_.error(element.position(), "an element of this list does not say what it is about",
                           "give it a `_guid`");
    }

    void add_entry(SourceItem& parent, SourceItem item) {
        if (has_components(meaning_of(item.place))) return add_component(parent, std::move(item));
        const Node node = item.text;
        item.kind = has_deletions(item.place) ? ItemKind::kDeletion : ItemKind::kEntity;
        if (item.kind == ItemKind::kEntity && !node.is_mapping())
            return refuse(node, "an entity", "write { ... } with `components`, `children` or `prefab`");
        std::string_view name;
        if (item.form == ItemForm::kByKey && node.is_mapping() && key_in(node, name) == item.key) item.key_name = name;
        SourceItem* const added = add(parent, std::move(item));
        if (added != nullptr && added->kind == ItemKind::kEntity) read_entity(*added);
    }

    static std::string_view type_in(Node component, bool with_plain) {
        if (!component.is_mapping()) return {};
        for (const SourceKey key : kTypeKeys) {
            if (key == SourceKey::kPlainType && !with_plain && !component.find("data")) continue;
            if (const Node type = component.find(key_name(key)); type && type.is_string()) return type.as_string();
        }
        return {};
    }

    void add_component(SourceItem& parent, SourceItem item) {
        const Node node = item.text;
        const bool is_short = item.form == ItemForm::kShort, declares = item.place == ItemRole::kComponents;
        item.kind = ItemKind::kComponent;
        item.type = is_short ? item.key : type_in(node, declares);
        if (item.type.empty() && declares) item.type = item.key;
        if (!node.is_mapping() && !node.is_null()) item.value = node;
        SourceItem* const added = add(parent, std::move(item));
        if (added == nullptr || !node.is_mapping()) return;
        const Node data = is_short ? Node() : node.find("data");
        const bool is_wrapped = data && (data.is_mapping() || data.is_null());
        for (const Node child : node) {
            if (!is_short && says_key_or_type(*added, child)) continue;
            if (is_wrapped && child.key() == "data") continue;
            add_member(*added, is_wrapped ? ItemRole::kBeside : ItemRole::kMember, child);
        }
        if (is_wrapped)
            for (const Node child : data) add_member(*added, ItemRole::kMember, child);
    }

    void add_member(SourceItem& parent, ItemRole place, Node node) {
        SourceItem item;
        item.key = node.key();
        item.place = place;
        item.text = node;
        item.position = node.key_position();
        if (!node.is_mapping()) item.value = node;
        SourceItem* const added = add(parent, std::move(item));
        if (added == nullptr || !node.is_mapping()) return;
        for (const Node child : node) add_member(*added, ItemRole::kMember, child);
    }

    Diagnostics& diagnostics_;
    SourceTreeBuilder builder_;
    ShortForm short_form_;
};

}  // namespace

ItemRole place_of_key(std::string_view key, bool of_level) {
    for (std::size_t i = 1; i < kNumItemRoles - 1; ++i) {
        const auto role = static_cast<ItemRole>(i);
        if (meaning_of(role).name == key && has_meaning(meaning_of(role), of_level)) return role;
    }
    return ItemRole::kMember;
}

Node list_in(const SourceItem& entity, ItemRole place) {
    const bool of_level = entity.kind == ItemKind::kLevel;
    if (!entity.text || !entity.text.is_mapping()) return {};
    const bool has_both = of_level && entity.text.find("units") && entity.text.find("entities");
    for (const Node child : entity.text) {
        ItemRole own = place_of_key(child.key(), of_level);
        if (own == ItemRole::kUnits && !has_both) own = ItemRole::kEntities;
        if (own == place) return child;
    }
    return {};
}

Node data_of(const SourceItem& component) {
    if (component.form == ItemForm::kShort || !component.text || !component.text.is_mapping()) return {};
    const Node data = component.text.find("data");
    return data && (data.is_mapping() || data.is_null()) ? data : Node();
}

bool says_key_or_type(const SourceItem& component, Node child) {
    const std::string_view key = child.key();
    if (key == "_guid" || (!component.key_name.empty() && key == component.key_name)) return true;
    if (!child.is_string()) return false;
    if (key == "_type") return true;
    const Node data = component.text.find("data");
    const bool is_wrapped = data && (data.is_mapping() || data.is_null());
    return key == "type" && (component.place == ItemRole::kComponents || is_wrapped) && !component.text.find("_type");
}

std::optional<SourceTree> read_source_tree(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options) {
    Result<Document> document = read_document(file, diagnostics, options);
    if (!document) return std::nullopt;
    return TextReader(diagnostics).read(std::move(*document));
}

std::optional<SourceTree> read_source_tree(std::uint32_t file, Diagnostics& diagnostics, SourceComments& comments,
                                           const ReadOptions& options) {
    Result<Document> document = read_source_text(file, diagnostics, comments, options);
    if (!document) return std::nullopt;
    return TextReader(diagnostics).read(std::move(*document));
}

std::optional<SourceTree> read_source_tree(Node root, Diagnostics& diagnostics) {
    return TextReader(diagnostics).read(root);
}

SourceTree empty_source_tree(const SourceTree& other) {
    SourceTreeBuilder builder;
    builder.root().kind = other.root().kind;
    builder.root().key = builder.keep(other.root().key);
    return builder.finish();
}

// --- compositions --------------------------------------------------------------------------------------------------

namespace {

class CompositionReader {
public:
    explicit CompositionReader(const Composition& composition) : composition_(composition) {}

    SourceTree read() {
        const std::span<const ComposedEntity> entities = composition_.entities();
        std::vector<SourceItem*> items(entities.size());
        builder_.root().kind = composition_.is_level() ? ItemKind::kLevel : ItemKind::kEntity;
        for (std::size_t i = 0; i < entities.size(); ++i) {
            const ComposedEntity& composed = entities[i];
            const bool is_root = composed.parent == kNoBlobEntity;
            SourceItem item;
            item.key = composed.entity->key;
            item.kind = ItemKind::kEntity;
            item.place = is_root ? ItemRole::kEntities : ItemRole::kChildren;
            item.position = composed.entity->position;
            if (is_root && !composition_.is_level()) {
                builder_.root() = std::move(item);
                items[i] = &builder_.root();
            } else {
                items[i] = &builder_.add(is_root ? builder_.root() : *items[composed.parent], std::move(item));
            }
            add_parts(*items[i], *composed.entity);
        }
        return builder_.finish();
    }

private:
    void add_parts(SourceItem& item, const MergedEntity& entity) {
        if (!entity.name.empty()) {
            DocumentBuilder name;
            name.string(entity.name, entity.position);
            SourceItem member;
            member.key = key_name(SourceKey::kName);
            member.value = builder_.keep(name.finish());
            member.position = entity.position;
            builder_.add(item, std::move(member));
        }
        for (const MergedComponent& component : entity.components) {
            const Node fields = builder_.keep(merge_layers(*component.top));
            SourceItem part;
            part.key = component.key;
            part.type = composition_.types()[component.type];
            part.kind = ItemKind::kComponent;
            part.place = ItemRole::kComponents;
            part.position = component.position;
            if (!fields.is_mapping() && !fields.is_null()) part.value = fields;
            SourceItem& added = builder_.add(item, std::move(part));
            if (fields.is_mapping()) add_members(added, fields);
        }
        for (const Node other : entity.other_keys) add_member(item, other);
    }

    void add_members(SourceItem& parent, Node mapping) {
        for (const Node child : mapping) add_member(parent, child);
    }

    void add_member(SourceItem& parent, Node node) {
        const SourceItem* other = nullptr;
        SourceItem item;
        item.key = node.key();
        item.position = node.key_position();
        if (!node.is_mapping()) item.value = node;
        SourceItem* const added = builder_.add(parent, std::move(item), other);
        if (added != nullptr && node.is_mapping()) add_members(*added, node);
    }

    const Composition& composition_;
    SourceTreeBuilder builder_;
};

}  // namespace

SourceTree compose_source_tree(const Composition& composition) { return CompositionReader(composition).read(); }

// --- comparing -----------------------------------------------------------------------------------------------------

bool same_item(const SourceTree& a, const SourceItem& in_a, const SourceTree& b, const SourceItem& in_b) {
    if (in_a.kind != in_b.kind || in_a.type != in_b.type || in_a.children.size() != in_b.children.size()) return false;
    if (bool(in_a.value) != bool(in_b.value)) return false;
    if (in_a.value) return equal(in_a.value, in_b.value);
    for (const SourceItem* child : in_a.children) {
        const SourceItem* const other = b.find(in_b, child->place, child->key);
        if (other == nullptr || !same_item(a, *child, b, *other)) return false;
    }
    return true;
}

// --- names ---------------------------------------------------------------------------------------------------------

std::string_view role_name(ItemRole place) {
    const bool is_list = place != ItemRole::kMember && place != ItemRole::kBeside;
    return is_list ? meaning_of(place).name : std::string_view();
}

const SourceItem& entity_of(const SourceItem& item) {
    const SourceItem* at = &item;
    while (at->kind != ItemKind::kEntity && at->kind != ItemKind::kLevel) at = at->parent;
    return *at;
}

std::string entity_path(const SourceItem& item) {
    const SourceItem* at = &entity_of(item);
    if (at->kind == ItemKind::kLevel) return "the level";
    std::string path(at->key);
    for (at = at->parent; at != nullptr && at->kind == ItemKind::kEntity; at = at->parent)
        path = concat(at->key, '/', path);
    return path;
}

std::string member_path(const SourceItem& item) {
    std::string path;
    for (const SourceItem* at = &item; at->kind != ItemKind::kEntity && at->kind != ItemKind::kLevel; at = at->parent) {
        std::string part = concat(role_name(at->place), role_name(at->place).empty() ? "" : ".", at->key);
        path = path.empty() ? std::move(part) : concat(part, '.', path);
    }
    return path;
}

// --- one way of writing --------------------------------------------------------------------------------------------

namespace {

void write_members(const SourceItem& item, ItemRole place, DocumentBuilder& builder);

void write_value(const SourceItem& item, DocumentBuilder& builder) {
    if (item.value) return builder.value(item.value);
    if (item.kind == ItemKind::kDeletion) return builder.null();
    builder.begin_mapping(item.position);
    write_members(item, ItemRole::kMember, builder);
    builder.end();
}

void write_members(const SourceItem& item, ItemRole place, DocumentBuilder& builder) {
    for (const SourceItem* child : item.children) {
        if (child->place != place) continue;
        builder.key(child->key, child->position);
        write_value(*child, builder);
    }
}

/// Returns whether the fields of a component must be in `data`, separate from the keys beside them.
bool needs_data(const SourceItem& component) {
    return std::any_of(component.children.begin(), component.children.end(), [](const SourceItem* child) {
        return child->place == ItemRole::kBeside || is_wrapper_key(child->key);
    });
}

void write_component(const SourceItem& item, DocumentBuilder& builder) {
    const bool says_type = !item.type.empty() && item.type != item.key;
    if (item.value && !says_type) return builder.value(item.value);
    const bool has_data = needs_data(item);
    builder.begin_mapping(item.position);
    if (says_type) builder.string("_type", item.type);
    if (item.value) {
        builder.key("value");
        builder.value(item.value);
    }
    write_members(item, ItemRole::kBeside, builder);
    if (has_data) builder.begin_mapping("data");
    write_members(item, ItemRole::kMember, builder);
    if (has_data) builder.end();
    builder.end();
}

void write_item(const SourceItem& item, DocumentBuilder& builder) {
    if (item.kind == ItemKind::kComponent) return write_component(item, builder);
    if (item.kind == ItemKind::kMember || item.kind == ItemKind::kDeletion) return write_value(item, builder);
    builder.begin_mapping(item.position);
    write_members(item, ItemRole::kMember, builder);
    for (std::size_t i = 1; i < kNumItemRoles; ++i) {
        const auto place = static_cast<ItemRole>(i);
        const auto is_there = [&](const SourceItem* child) { return child->place == place; };
        if (std::none_of(item.children.begin(), item.children.end(), is_there)) continue;
        builder.begin_mapping(role_name(place));
        for (const SourceItem* child : item.children) {
            if (!is_there(child)) continue;
            builder.key(child->key, child->position);
            write_item(*child, builder);
        }
        builder.end();
    }
    builder.end();
}

void add_lines(const SourceItem& item, std::vector<std::string>& lines) {
    const bool is_entity = item.kind == ItemKind::kEntity || item.kind == ItemKind::kLevel;
    std::string line = entity_path(item);
    if (!is_entity) append_text(line, concat(' ', member_path(item)));
    if (item.kind == ItemKind::kComponent && !item.type.empty() && item.type != item.key)
        append_text(line, concat(" : ", item.type));
    if (item.value) {
        append_text(line, concat(" = ", write_sjson_line(item.value)));
    }
    lines.push_back(std::move(line));
    for (const SourceItem* child : item.children) add_lines(*child, lines);
}

}  // namespace

Document canonical_document(const SourceItem& item) {
    DocumentBuilder builder;
    write_item(item, builder);
    return builder.finish();
}

std::string canonical_lines(const SourceTree& tree) {
    std::vector<std::string> lines;
    add_lines(tree.root(), lines);
    std::sort(lines.begin(), lines.end());
    std::string text;
    for (const std::string& line : lines) append_text(text, concat(line, '\n'));
    return text;
}

}  // namespace shoal
