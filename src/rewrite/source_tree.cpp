#include "shoal/rewrite/detail/source_tree.h"

#include "rewrite/source_tree_builder.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/source/detail/source_grammar.h"

#include <algorithm>
#include <utility>

namespace shoal {
namespace {

constexpr std::uint8_t kFirstList = static_cast<std::uint8_t>(SourceKey::kComponents);
static_assert(kFirstList + static_cast<int>(ItemRole::kEntities) - 1 == static_cast<int>(SourceKey::kEntities),
              "the roles of items in lists are in the order of the keys of these lists");

bool is_list(ItemRole place) { return place != ItemRole::kMember && place != ItemRole::kBeside; }

/// Returns the key of the list for a role. Requires: is_list(place).
SourceKey list_key(ItemRole place) { return static_cast<SourceKey>(kFirstList + static_cast<int>(place) - 1); }

/// Returns the role of the items in the list that a key names; kMember if the key does not name a list.
ItemRole role_in(SourceKey key) {
    const bool has_items = key >= SourceKey::kComponents && key <= SourceKey::kEntities;
    return has_items ? static_cast<ItemRole>(static_cast<int>(key) - kFirstList + 1) : ItemRole::kMember;
}

bool has_both(Node level) { return level.find("units") && level.find("entities"); }

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

class TextReader : private GrammarUser {
public:
    explicit TextReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    std::optional<SourceTree> read(Document document) { return read(builder_.keep(std::move(document))); }

    std::optional<SourceTree> read(Node root) {
        const std::size_t num_errors = diagnostics_.num_errors();
        if (!root.is_mapping()) {
            refuse_kind(root, "a source", "write one entity, or a level with `entities`");
            return std::nullopt;
        }
        SourceItem& item = builder_.root();
        item.text = root;
        item.position = root.position();
        item.kind = is_level_text(root) ? ItemKind::kLevel : ItemKind::kEntity;
        if (item.kind == ItemKind::kEntity) {
            SourceEntry entry;
            grammar_.read_key(root, SourceKey::kChildren, entry);
            item.key = entry.key.empty() ? "." : entry.key;
        }
        read_entity(item);
        if (diagnostics_.num_errors() != num_errors) return std::nullopt;
        return builder_.finish();
    }

private:
    bool refuse(EntryProblem problem, Node node, SourceKey /*list*/) override {
        if (problem == EntryProblem::kNoList)
            diagnostics_.error(node.position(), concat("`", node.key(), "` is ", kind_name(node.kind())),
                               "write a list, or a mapping by GUID or name");
        if (problem == EntryProblem::kKind)
            refuse_kind(node, "an element of this list", "write a mapping with a `_guid`");
        if (problem == EntryProblem::kNoTarget) refuse_nameless(node);
        return problem == EntryProblem::kEmptyKey;
    }
    std::string_view keep(std::string_view key) override { return builder_.keep(key); }

    void refuse_nameless(Node element) {
        diagnostics_.error(element.position(), "an element of this list does not say what it is about",
                           "give it a `_guid`");
    }

    void refuse_kind(Node node, std::string_view what, std::string hint) {
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

    void read_entity(SourceItem& item) {
        const bool is_level = item.kind == ItemKind::kLevel, has_units = is_level && has_both(item.text);
        grammar_.each_key(item.text, is_level, [&](Node child, KeyUse use, std::size_t row) {
            if (!item.key_name.empty() && child.key() == item.key_name) return;
            ItemRole place = use == KeyUse::kKnown ? role_in(static_cast<SourceKey>(row)) : ItemRole::kMember;
            if (place == ItemRole::kUnits && !has_units) place = ItemRole::kEntities;
            if (use == KeyUse::kComponent)
                add_component(item,
                              item_of({grammar_.plain_key(child.key()), child.key_position(), child, ItemForm::kShort},
                                      ItemRole::kComponents));
            else if (place == ItemRole::kMember)
                add_member(item, ItemRole::kMember, child);
            else
                read_entries(item, place, child);
        });
    }

    static SourceItem item_of(const SourceEntry& entry, ItemRole place) {
        SourceItem item;
        item.key = entry.key;
        item.key_name = entry.key_name;
        item.place = place;
        item.form = entry.form;
        item.text = entry.text;
        item.position = entry.has_key() ? entry.position : entry.text.position();
        return item;
    }

    /// Elements without a key get a number as their key, counted from 0. Components get their type as their key.
    void read_entries(SourceItem& parent, ItemRole place, Node list) {
        std::uint32_t num_counted = 0;
        grammar_.each_entry(list, list_key(place), [&](const SourceEntry& entry) {
            SourceItem item = item_of(entry, place);
            const bool is_nameless = !entry.has_key() && entry.text.is_mapping();
            if (is_nameless && place == ItemRole::kComponents)
                item.key = grammar_.read_component(entry.text).type_name(true);
            else if (is_nameless)
                item.key = builder_.keep(concat('[', num_counted++, ']'));
            if (is_nameless && item.key.empty()) return refuse_nameless(entry.text);
            add_entry(parent, std::move(item));
        });
    }

    void add_entry(SourceItem& parent, SourceItem item) {
        const KeyMeaning& list = meaning_of(list_key(item.place));
        if (has_components(list)) return add_component(parent, std::move(item));
        const Node node = item.text;
        item.kind = list.value == KeyValue::kDeletions ? ItemKind::kDeletion : ItemKind::kEntity;
        if (item.kind == ItemKind::kEntity && !node.is_mapping())
            return refuse_kind(node, "an entity", "write { ... } with `components`, `children` or `prefab`");
        if (item.form == ItemForm::kByKey && node.is_mapping()) {
            SourceEntry inside;
            grammar_.read_key(node, list_key(item.place), inside);
            if (inside.key == item.key) item.key_name = inside.key_name;
        }
        SourceItem* const added = add(parent, std::move(item));
        if (added != nullptr && added->kind == ItemKind::kEntity) read_entity(*added);
    }

    void add_component(SourceItem& parent, SourceItem item) {
        const Node node = item.text;
        const bool declares = item.place == ItemRole::kComponents;
        ComponentText text;
        if (item.form != ItemForm::kShort && node.is_mapping()) text = grammar_.read_component(node);
        item.kind = ItemKind::kComponent;
        item.type = text.type_name(declares);
        if (item.type.empty() && declares) item.type = item.key;
        if (!node.is_mapping() && !node.is_null()) item.value = node;
        SourceItem* const added = add(parent, std::move(item));
        if (added == nullptr || !node.is_mapping()) return;
        for (const Node child : node) {
            if (added->form != ItemForm::kShort && says_key_or_type(*added, child)) continue;
            if (text.is_wrapped() && child.key() == "data") continue;
            add_member(*added, text.is_wrapped() ? ItemRole::kBeside : ItemRole::kMember, child);
        }
        if (text.is_wrapped())
            for (const Node child : text.data) add_member(*added, ItemRole::kMember, child);
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
    SourceGrammar grammar_{*this};
};

}  // namespace

Node list_in(const SourceItem& entity, ItemRole place) {
    const bool of_level = entity.kind == ItemKind::kLevel;
    if (!entity.text || !is_list(place) || !has_meaning(meaning_of(list_key(place)), of_level)) return {};
    const bool is_missing = place == ItemRole::kUnits && !has_both(entity.text);
    const Node list = is_missing ? Node() : entity.text.find(role_name(place));
    return !list && place == ItemRole::kEntities ? entity.text.find("units") : list;
}

Node data_of(const SourceItem& component) {
    return component.form == ItemForm::kShort || !component.text ? Node() : wrapped_fields(component.text);
}

bool says_key_or_type(const SourceItem& component, Node child) {
    const std::string_view key = child.key();
    if (key == "_guid" || (!component.key_name.empty() && key == component.key_name)) return true;
    if (!child.is_string()) return false;
    if (key == "_type") return true;
    const bool may_be_type = component.place == ItemRole::kComponents || wrapped_fields(component.text);
    return key == "type" && may_be_type && !component.text.find("_type");
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

std::string_view role_name(ItemRole place) { return is_list(place) ? key_name(list_key(place)) : std::string_view(); }

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

/// Returns whether the fields of a component must be in `data`, because there are keys beside them.
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
