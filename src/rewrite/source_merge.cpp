#include "shoal/rewrite/source_merge.h"

#include "rewrite/container.h"
#include "rewrite/moved_entities.h"
#include "rewrite/source_tree_builder.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/source/detail/source_keys.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shoal {
namespace {

// --- the result ------------------------------------------------------------------------------------------------------

/// The origin of an item in a merged tree.
struct MergedFrom {
    const SourceItem* other = nullptr;  ///< the same item in the other text, if it exists
    bool is_same = false;               ///< the item is unchanged
};

struct MergedTree {
    SourceTreeBuilder builder;
    HashMap<std::uint64_t, MergedFrom> from{Owner("source merge")};  // by the item's address

    SourceItem& add(SourceItem& parent, const SourceItem& layout, MergedFrom where) {
        SourceItem item = layout;
        item.children.clear();
        SourceItem& added = builder.add(parent, std::move(item));
        from.add(key_of(added), where);
        return added;
    }
    const MergedFrom& find(const SourceItem& item) const { return *from.find(key_of(item)); }

    static std::uint64_t key_of(const SourceItem& item) { return reinterpret_cast<std::uintptr_t>(&item); }
};

// --- the merge -------------------------------------------------------------------------------------------------------

class Merger {
public:
    Merger(const SourceTree& base, const SourceTree& a, const SourceTree& b, Diagnostics& diagnostics)
        : base_(base), a_(a), b_(b), unique_base_(base), unique_a_(a), unique_b_(b), diagnostics_(diagnostics) {}

    /// Returns false if there were conflicts.
    bool merge(MergedTree& out) {
        out_ = &out;
        const SourceItem& a = a_.root();
        const SourceItem& b = b_.root();
        const SourceItem* const base = base_.root().kind == a.kind ? &base_.root() : nullptr;
        if (a.kind == b.kind) {
            set_root(a, &b, false);
            merge_children(out_->builder.root(), base, a, b);
        } else if (base != nullptr && same(base_, *base, a_, a)) {
            take_root(b);
        } else if (base_.root().kind == b.kind && same(base_, base_.root(), b_, b)) {
            take_root(a);
        } else {
            conflict(a, "one text is a level, the other an entity", &b, nullptr);
        }
        return !has_conflicts_;
    }

private:
    /// The items at the same place in the three texts.
    struct Three {
        const SourceItem* base;
        const SourceItem* a;
        const SourceItem* b;
        bool is_chosen = false;  ///< the only item is taken unchanged
    };
    using Items = std::vector<const SourceItem*>;

    static bool same(const SourceTree& tree, const SourceItem& item, const SourceTree& others,
                     const SourceItem& other) {
        return same_item(tree, item, others, other);
    }

    void set_root(const SourceItem& layout, const SourceItem* other, bool is_same) {
        SourceItem& root = out_->builder.root();
        root = layout;
        root.children.clear();
        out_->from.add(MergedTree::key_of(root), {other, is_same});
    }

    void take_root(const SourceItem& item) {
        set_root(item, nullptr, true);
        for (const SourceItem* child : item.children) take(out_->builder.root(), *child);
    }

    /// Copies an item with all its children to the result.
    void take(SourceItem& parent, const SourceItem& item) {
        SourceItem& added = out_->add(parent, item, {nullptr, true});
        for (const SourceItem* child : item.children) take(added, *child);
    }

    void merge_children(SourceItem& out, const SourceItem* base, const SourceItem& a, const SourceItem& b) {
        for (const Three& three : children_of(base, a, b)) merge_item(out, three);
    }

    // --- elements without a key --------------------------------------------------------------------------------------

    static Items counted_in(const SourceItem* item, ItemRole place) {
        Items items;
        for (std::size_t i = 0; item != nullptr && i < item->children.size(); ++i)
            if (is_counted(*item->children[i]) && item->children[i]->place == place) items.push_back(item->children[i]);
        return items;
    }
    static bool same(const SourceTree& tree, const Items& items, const SourceTree& others, const Items& other) {
        return std::equal(items.begin(), items.end(), other.begin(), other.end(),
                          [&](const SourceItem* x, const SourceItem* y) { return same(tree, *x, others, *y); });
    }
    /// Returns true to take the elements without keys from `b`, and false to take them from `a`. Since an index does
    /// not identify an element, all of them count as one value.
    bool takes_counted_of_b(const SourceItem* base, const SourceItem& a, const SourceItem& b, ItemRole place) {
        const Items before = counted_in(base, place), in_a = counted_in(&a, place), in_b = counted_in(&b, place);
        if (same(a_, in_a, b_, in_b) || same(base_, before, b_, in_b)) return false;
        if (same(base_, before, a_, in_a)) return true;
        conflict(in_a.empty() ? a : *in_a[0],
                 concat("the entities of a list in ", shoal::quoted(entity_path(a)),
                        " that have no key were changed by both; with a `_guid`, each is merged by itself"),
                 in_b.empty() ? &b : in_b[0], before.empty() ? nullptr : before[0]);
        return false;
    }

    /// Returns the children in the order of `a`. A child that only `b` has follows the child that it follows in `b`.
    std::vector<Three> children_of(const SourceItem* base, const SourceItem& a, const SourceItem& b) {
        bool takes_b[16] = {}, is_asked[16] = {};
        for (const SourceItem* parent : {&a, &b})
            for (const SourceItem* child : parent->children) {
                const auto place = static_cast<std::size_t>(child->place);
                if (is_counted(*child) && !std::exchange(is_asked[place], true))
                    takes_b[place] = takes_counted_of_b(base, a, b, child->place);
            }
        HashMap<std::uint64_t, std::vector<const SourceItem*>> after{Owner("source merge")};  // by the preceding item
        std::uint64_t anchors[16] = {};
        for (std::size_t i = 0; i < std::size(anchors); ++i) anchors[i] = i;
        for (const SourceItem* child : b.children) {
            std::uint64_t& anchor = anchors[static_cast<std::size_t>(child->place)];
            if (is_counted(*child)) {
                if (takes_b[static_cast<std::size_t>(child->place)]) after.insert(anchor, {}).value->push_back(child);
            } else if (const SourceItem* const in_a = a_.find(a, child->place, child->key))
                anchor = MergedTree::key_of(*in_a);
            else
                after.insert(anchor, {}).value->push_back(child);
        }
        std::vector<Three> all;
        const auto add_after = [&](std::uint64_t anchor) {
            if (const auto* const found = after.find(anchor))
                for (const SourceItem* child : *found)
                    all.push_back({find_base(base, *child), nullptr, child, is_counted(*child)});
        };
        bool has_begun[16] = {};
        for (const SourceItem* child : a.children) {
            const auto place = static_cast<std::size_t>(child->place);
            if (!has_begun[place]) add_after(place);
            has_begun[place] = true;
            if (!is_counted(*child))
                all.push_back({find_base(base, *child), child, b_.find(b, child->place, child->key)});
            else if (!takes_b[place])
                all.push_back({nullptr, child, nullptr, true});
            add_after(MergedTree::key_of(*child));
        }
        for (std::size_t place = 0; place < std::size(anchors); ++place)
            if (!has_begun[place]) add_after(place);
        return all;
    }

    const SourceItem* find_base(const SourceItem* base, const SourceItem& item) const {
        return base == nullptr ? nullptr : base_.find(*base, item.place, item.key);
    }

    void merge_item(SourceItem& out, const Three& three) {
        const auto& [base, a, b, is_chosen] = three;
        if (is_chosen) return take(out, a != nullptr ? *a : *b);
        if (a == nullptr) return merge_missing(out, base, a_, *b, b_, unique_a_);
        if (b == nullptr) return merge_missing(out, base, b_, *a, a_, unique_b_);
        if (same(a_, *a, b_, *b)) return take(out, *a);
        if (a->is_mapping() && b->is_mapping() && a->kind == b->kind && merge_mapping(out, three)) return;
        if (base != nullptr && same(base_, *base, a_, *a)) return take(out, *b);
        if (base != nullptr && same(base_, *base, b_, *b)) return take(out, *a);
        conflict_of_values(three);
    }

    /// Merges an item that only one text has, because it is new in this text or was removed from the other one.
    void merge_missing(SourceItem& out, const SourceItem* base, const SourceTree& missing, const SourceItem& item,
                       const SourceTree& tree, const UniqueEntities& elsewhere) {
        const SourceItem* const moved = item.kind == ItemKind::kEntity ? elsewhere.find(item) : nullptr;
        if (base == nullptr) {
            const UniqueEntities& own = &tree == &a_ ? unique_a_ : unique_b_;
            if (moved != nullptr && own.find(item) == &item && counterpart(*moved, base_) == nullptr &&
                counterpart(*moved, tree) == nullptr)
                return conflict(
                    item, concat("the entity ", quoted(item.key), " is here in one text, and elsewhere in the other"),
                    moved, nullptr);
            const SourceItem* const was = item.kind == ItemKind::kEntity ? unique_base_.find(item) : nullptr;
            if (was != nullptr && moved == nullptr && own.find(item) == &item &&
                counterpart(*was, missing) == nullptr && counterpart(*was, tree) == nullptr)
                return conflict(
                    item, concat("the entity ", quoted(item.key), " was moved here, and removed in the other text"),
                    counterpart_or_above(*was, missing), was, "it is missing here");
            return take(out, item);
        }
        if (same(base_, *base, tree, item)) return;
        const SourceItem& gone = moved != nullptr ? *moved : *counterpart_or_above(item, missing);
        conflict(
            item,
            concat(what(item), " was changed here, and ", moved != nullptr ? "moved" : "removed", " in the other text"),
            &gone, base, moved != nullptr ? "it is here now" : "it is missing here");
    }

    const SourceItem* counterpart_or_above(const SourceItem& item, const SourceTree& tree) const {
        for (const SourceItem* at = item.parent; at != nullptr; at = at->parent)
            if (const SourceItem* const found = counterpart(*at, tree)) return found;
        return &tree.root();
    }

    /// Merges the contents of two mappings. Returns false if their types conflict, or if one of them has replaced a
    /// value.
    bool merge_mapping(SourceItem& out, const Three& three) {
        const auto& [base, a, b, is_chosen] = three;
        if (base != nullptr && (base->kind != a->kind || !base->is_mapping())) return false;
        const std::string_view old = base == nullptr ? a->type : base->type;
        if (a->type != b->type && (base == nullptr || (a->type != old && b->type != old))) return false;
        SourceItem& merged = out_->add(out, *a, {b, false});
        if (a->type == old) merged.type = b->type;
        merge_children(merged, base, *a, *b);
        return true;
    }

    // --- conflicts ---------------------------------------------------------------------------------------------------

    static std::string what(const SourceItem& item) {
        const std::string member = member_path(item);
        return member.empty() ? entity_path(item) : concat(entity_path(item), ' ', member);
    }

    /// Returns a short value as text for a message; empty for a long value.
    static std::string value_text(const SourceItem& item) {
        constexpr std::size_t kMostBytes = 40;
        std::string text = item.value ? write_sjson_line(item.value) : std::string();
        return text.empty() || text.size() > kMostBytes ? std::string("something else") : text;
    }

    void conflict_of_values(const Three& three) {
        const auto& [base, a, b, is_chosen] = three;
        const std::string_view problem = base == nullptr ? " was added by both" : " was changed by both";
        const std::string values = a->value || b->value
                                       ? concat(": it is ", value_text(*a), " here and ", value_text(*b), " there")
                                       : std::string(", and is of another type in each");
        conflict(*a, concat(what(*a), problem, values), b, base);
    }

    void conflict(const SourceItem& item, std::string problem, const SourceItem* other, const SourceItem* base,
                  std::string_view note = "the other is here") {
        has_conflicts_ = true;
        Diagnostic& entry = diagnostics_.error(item.position, concat("conflict: ", problem),
                                               "make both texts say the same there, and merge again");
        if (other != nullptr) entry.note(other->position, std::string(note));
        if (base != nullptr) entry.note(base->position, "before, it was this");
    }

    const SourceTree& base_;
    const SourceTree& a_;
    const SourceTree& b_;
    UniqueEntities unique_base_, unique_a_, unique_b_;
    Diagnostics& diagnostics_;
    MergedTree* out_ = nullptr;
    bool has_conflicts_ = false;
};

// --- how it is written -----------------------------------------------------------------------------------------------

SourcePosition place_of(Node node) { return node ? node.position() : SourcePosition(); }

/// Writes a merged tree. Unchanged items are copied node by node, with their positions and comments. A list or mapping
/// that contains them gets the position of the one that it replaces.
class MergedWriter {
public:
    explicit MergedWriter(MergedTree& tree) : tree_(tree) {}

    Document write() {
        const SourceItem& root = tree_.builder.root();
        if (tree_.find(root).is_same)
            out_.value(root.text);
        else
            write_entity(root, ItemForm::kByKey, false);
        return out_.finish();
    }

private:
    /// Writes an item with its key. For an element without a key, `number` is its index among the elements without
    /// keys.
    void write_entry(const SourceItem& item, ItemForm form, std::size_t number = 0) {
        const bool is_element = form == ItemForm::kElement;
        const bool needs_guid = is_element && !says_key(item, number);
        if (tree_.find(item).is_same && item.form == form && !needs_guid)
            return is_element ? out_.value(item.text) : out_.member(item.text);
        if (!is_element && item.form != ItemForm::kElement) out_.key(item.text);
        if (!is_element && item.form == ItemForm::kElement) out_.key(item.key, item.text.position());
        switch (item.kind) {
            case ItemKind::kDeletion:
                return is_element ? out_.string(item.key, item.position) : out_.null();
            case ItemKind::kComponent:
                return write_component(item, form, needs_guid);
            case ItemKind::kMember:
                return write_member(item);
            case ItemKind::kEntity:
            case ItemKind::kLevel:
                return write_entity(item, form, needs_guid);
        }
    }

    /// Returns whether the text of a list element shows its key, as a member or as the element's number or type.
    static bool says_key(const SourceItem& item, std::size_t number) {
        if (item.kind == ItemKind::kDeletion) return true;
        if (item.form != ItemForm::kElement) return false;
        if (!item.key_name.empty()) return true;
        return item.kind == ItemKind::kComponent ? item.type == item.key : item.key == concat('[', number, ']');
    }

    void write_member(const SourceItem& item) {
        if (item.value) return out_.value(item.value);
        out_.begin_mapping(place_of(item.text));
        for (const SourceItem* child : item.children) write_entry(*child, ItemForm::kByKey);
        out_.end();
    }

    // --- entities ----------------------------------------------------------------------------------------------------

    void write_entity(const SourceItem& item, ItemForm form, bool needs_guid) {
        out_.begin_mapping(place_of(item.text));
        if (needs_guid) out_.string("_guid", item.key);
        const std::string_view own_key = needs_guid ? "_guid" : item.form == form ? item.key_name : std::string_view();
        if (!needs_guid && !own_key.empty()) out_.member(item.text.find(own_key));
        const bool is_short = can_be_short(item);
        bool is_done[kNumItemRoles] = {};
        for (const SourceItem* child : item.children) {
            bool& done = is_done[static_cast<std::size_t>(child->place)];
            if (!own_key.empty() && child->key == own_key && child->place == ItemRole::kMember) continue;
            if (child->place == ItemRole::kMember)
                write_entry(*child, ItemForm::kByKey);
            else if (is_short)
                write_entry(*child, ItemForm::kShort);
            else if (!std::exchange(done, true))
                write_list(item, child->place);
        }
        write_empty_lists(item, is_done);
        out_.end();
    }

    /// Returns whether an entity in the short form can keep that form.
    static bool can_be_short(const SourceItem& item) {
        bool has_short = false;
        for (const SourceItem* child : item.children) {
            if (child->place == ItemRole::kMember) {
                if (!is_entity_key(child->key) || !is_key_of_short_form(child->key)) return false;
                continue;
            }
            if (child->place != ItemRole::kComponents || !is_short_component(*child)) return false;
            has_short |= child->form == ItemForm::kShort && item.text && item.text.find(child->text.key());
        }
        return has_short;
    }

    static bool is_short_component(const SourceItem& item) {
        const auto is_beside = [](const SourceItem* child) { return child->place == ItemRole::kBeside; };
        return item.type == item.key && !is_entity_key(item.key) && is_key_of_short_form(item.key) &&
               std::none_of(item.children.begin(), item.children.end(), is_beside);
    }

    static bool is_unit(const SourceItem* item) { return item->place == ItemRole::kUnits; }

    void write_list(const SourceItem& item, ItemRole place) {
        Node list = list_in(item, place);
        if (const SourceItem* const other = tree_.find(item).other; !list && other != nullptr)
            list = list_in(*other, place);
        std::vector<const SourceItem*> entries;
        std::copy_if(item.children.begin(), item.children.end(), std::back_inserter(entries),
                     [&](const SourceItem* child) { return child->place == place; });
        const bool was_list = list && !list.is_null() ? list.is_list() : entries[0]->form == ItemForm::kElement;
        const bool is_list = was_list && std::none_of(entries.begin(), entries.end(), [](const SourceItem* entry) {
                                 return entry->kind == ItemKind::kComponent && entry->value;
                             });
        const bool has_both =
            item.kind == ItemKind::kLevel && std::any_of(item.children.begin(), item.children.end(), is_unit);
        list && !has_both ? out_.key(list) : out_.key(role_name(place));
        is_list ? out_.begin_list(place_of(list)) : out_.begin_mapping(place_of(list));
        std::size_t num_counted = 0;
        for (const SourceItem* entry : entries)
            write_entry(*entry, is_list ? ItemForm::kElement : ItemForm::kByKey,
                        is_counted(*entry) ? num_counted++ : 0);
        out_.end();
    }

    /// Keeps the empty lists of the text, and the keys that mark a level or a long form.
    void write_empty_lists(const SourceItem& item, const bool (&is_done)[kNumItemRoles]) {
        const bool is_level = item.kind == ItemKind::kLevel;
        bool has_list = std::find(std::begin(is_done), std::end(is_done), true) != std::end(is_done);
        for (std::size_t i = 1; i < kNumItemRoles; ++i) {
            const Node list = is_done[i] ? Node() : list_in(item, static_cast<ItemRole>(i));
            if (!list || list.size() != 0 || (is_level && is_done[static_cast<std::size_t>(ItemRole::kUnits)]))
                continue;
            out_.member(list);
            has_list = true;
        }
        if (has_list || (is_level ? says_level(item) : !has_other_keys(item))) return;
        out_.begin_mapping(role_name(is_level ? ItemRole::kEntities : ItemRole::kComponents));
        out_.end();
    }

    static bool says_level(const SourceItem& item) {
        return std::any_of(item.children.begin(), item.children.end(), [](const SourceItem* child) {
            return (child->key == "type" || child->key == "_type") && child->value && child->value.is_string() &&
                   child->value.as_string() == "level";
        });
    }

    /// Returns whether some keys would be read as components unless another key marks the long form.
    static bool has_other_keys(const SourceItem& item) {
        bool has_others = false;
        for (const SourceItem* child : item.children) {
            if (child->place != ItemRole::kMember || !is_key_of_short_form(child->key)) return false;
            has_others |= !is_entity_key(child->key);
        }
        return has_others;
    }

    // --- components --------------------------------------------------------------------------------------------------

    void write_component(const SourceItem& item, ItemForm form, bool needs_guid) {
        if (item.value) return out_.value(item.value);
        out_.begin_mapping(place_of(item.text));
        if (form == ItemForm::kShort) {
            write_members(item, ItemRole::kMember);
            return out_.end();
        }
        if (needs_guid) out_.string("_guid", item.key);
        write_type(item, form, needs_guid);
        write_members(item, ItemRole::kBeside);
        const Node data = data_of(item);
        const bool needs_data = data || needs_wrapper(item, form);
        if (needs_data) data ? out_.key(data) : out_.key("data");
        if (needs_data) out_.begin_mapping(place_of(data));
        write_members(item, ItemRole::kMember);
        if (needs_data) out_.end();
        out_.end();
    }

    void write_members(const SourceItem& item, ItemRole place) {
        for (const SourceItem* child : item.children)
            if (child->place == place) write_entry(*child, ItemForm::kByKey);
    }

    /// Writes the members that hold the key and the type of a component. The type is written with its current name.
    void write_type(const SourceItem& item, ItemForm form, bool has_guid) {
        bool says_type = form == ItemForm::kByKey && item.place == ItemRole::kComponents && item.type == item.key;
        if (item.text.is_mapping() && item.form != ItemForm::kShort)
            for (const Node child : item.text) {
                if (!says_key_or_type(item, child) || (has_guid && child.key() == "_guid")) continue;
                const bool is_key = child.key() == "_guid" || child.key() == item.key_name;
                if (is_key ? item.form == form : child.as_string() == item.type) out_.member(child);
                says_type |= !is_key && child.as_string() == item.type;
            }
        if (!says_type && !item.type.empty()) out_.string("_type", item.type);
    }

    /// Returns whether the fields must be in `data`, because there are keys beside them, or because a field has the
    /// same name as a key, such as `_guid` or `type`.
    static bool needs_wrapper(const SourceItem& item, ItemForm form) {
        return std::any_of(item.children.begin(), item.children.end(), [&](const SourceItem* child) {
            if (child->place == ItemRole::kBeside) return true;
            const Node field = item.form == form && item.text.is_mapping() ? item.text.find(child->key) : Node();
            return is_wrapper_key(child->key) && !(field && !says_key_or_type(item, field));
        });
    }

    MergedTree& tree_;
    DocumentBuilder out_;
};

// --- its comments ----------------------------------------------------------------------------------------------------

/// The trees of the three texts that are merged, and the result, which uses their nodes.
struct MergedTrees {
    const SourceTree& base;
    const SourceTree& a;
    const SourceTree& b;
    const SourceTree& merged;
};

using Comments = std::vector<Comment>;

/// The nodes at the same place in the three texts; a node may be missing.
struct ThreeNodes {
    Node base, a, b;
};
/// An item in a tree; the item may be missing.
struct Found {
    const SourceTree* tree;
    const SourceItem* item;

    Found child(const SourceItem& like) const {
        return {tree, item == nullptr ? nullptr : tree->find(*item, like.place, like.key)};
    }
    Node text() const { return item == nullptr ? Node() : item->text; }
    Node value() const { return item == nullptr ? Node() : item->value; }
};
struct ThreeItems {
    Found base, a, b;
};

/// A list of a node's comments.
struct Slot {
    bool is_inside;
    Comments NodeComments::* list;
};
constexpr Slot kAround[] = {{false, &NodeComments::before}, {false, &NodeComments::after}};
constexpr Slot kInside[] = {{true, &NodeComments::at_start}, {true, &NodeComments::at_end}};

/// Calls visit(line) for each nonempty line of a comment.
template <class Visit>
void each_line(const Comment& comment, Visit&& visit) {
    for (const std::string& line : lines_of(comment))
        if (!line.empty()) visit(line);
}

bool says_same(const Comments& a, const Comments& b) {
    std::vector<std::string> of_a, of_b;
    for (const Comment& comment : a) each_line(comment, [&](const std::string& line) { of_a.push_back(line); });
    for (const Comment& comment : b) each_line(comment, [&](const std::string& line) { of_b.push_back(line); });
    return of_a == of_b;
}

Node child_of(const SourceItem& item, std::string_view key) {
    return item.text && item.text.is_mapping() ? item.text.find(key) : Node();
}

/// Merges the comments of each node. Takes them from the text that has changed them, or from `a` if both texts have
/// changed them. A JSON text has no comments, so it never changes them. Warns of each new comment that is missing from
/// the result.
class CommentMerger {
public:
    CommentMerger(const MergedTrees& trees, SourceComments& comments, Diagnostics& diagnostics)
        : trees_(trees),
          comments_(comments),
          diagnostics_(diagnostics),
          has_a_(!is_json(trees.a)),
          has_b_(!is_json(trees.b)) {}

    void merge() {
        for (const Comment* comment : comments_.all()) before_.push_back(*comment);
        if (before_.empty()) return;
        const auto root = [](const SourceTree& tree) { return Found{&tree, &tree.root()}; };
        merge_item(trees_.merged.root(), {root(trees_.base), root(trees_.a), root(trees_.b)});
        report_lost();
    }

private:
    static std::uint32_t file_of(const SourceTree& tree) { return tree.root().position.file; }
    bool is_json(const SourceTree& tree) const {
        return file_of(tree) != 0 && source_format(diagnostics_.name(file_of(tree))) == SourceFormat::kJson;
    }

    // --- items -------------------------------------------------------------------------------------------------------

    void merge_item(const SourceItem& item, const ThreeItems& three) {
        // If only one text has an item, its comments are kept. An element that was given a key counts as a new item.
        const ThreeItems from = three.a.item == nullptr   ? ThreeItems{three.b, three.b, three.b}
                                : three.b.item == nullptr ? ThreeItems{three.a, three.a, three.a}
                                                          : three;
        if (from.a.item == nullptr) return;
        merge_node(item.text, {from.base.text(), from.a.text(), from.b.text()});
        merge_parts(item, from);
        if (item.value) merge_values(item.value, {from.base.value(), from.a.value(), from.b.value()});
        for (const SourceItem* child : item.children)
            merge_item(*child, {from.base.child(*child), from.a.child(*child), from.b.child(*child)});
    }

    /// Merges the comments around the parts of an item that are not items themselves: its key, its type, its lists and
    /// its `data`.
    void merge_parts(const SourceItem& item, const ThreeItems& from) {
        const auto merge = [&](auto&& part_of) {
            const Node of_base = from.base.item == nullptr ? Node() : part_of(*from.base.item);
            merge_node(part_of(item), {of_base, part_of(*from.a.item), part_of(*from.b.item)});
        };
        merge([](const SourceItem& in) { return in.key_name.empty() ? Node() : child_of(in, in.key_name); });
        if (item.kind == ItemKind::kEntity || item.kind == ItemKind::kLevel)
            for (std::size_t place = 1; place < kNumItemRoles; ++place)
                merge([&](const SourceItem& in) { return list_in(in, static_cast<ItemRole>(place)); });
        if (item.kind != ItemKind::kComponent) return;
        merge([](const SourceItem& in) { return data_of(in); });
        for (const SourceKey key : kTypeKeys)
            merge([&](const SourceItem& in) {
                const Node child = in.form == ItemForm::kShort ? Node() : child_of(in, key_name(key));
                return child && says_key_or_type(in, child) ? child : Node();
            });
    }

    /// Merges the comments inside a list that is one value, if the list is the same in all texts.
    void merge_values(Node value, const ThreeNodes& from) {
        const auto& [base, a, b] = from;
        if (!is_container(value) || !a || !b || !equal(a, value) || !equal(b, value)) return;
        const bool has_base = base && equal(base, value);
        auto of_base = has_base ? base.begin() : a.begin(), of_a = a.begin(), of_b = b.begin();
        for (const Node child : value) {
            const ThreeNodes inside{has_base ? *of_base : Node(), *of_a, *of_b};
            merge_node(child, inside);
            merge_values(child, inside);
            ++of_base, ++of_a, ++of_b;
        }
    }

    // --- nodes -------------------------------------------------------------------------------------------------------

    void merge_node(Node node, const ThreeNodes& from) {
        if (!node || !from.a || !from.b) return;
        if ((node.has_key() ? node.key_position() : node.position()).file != 0)
            for (const Slot& slot : kAround) merge_slot(node, from, slot);
        if (is_container(node) && node.position().file != 0)
            for (const Slot& slot : kInside) merge_slot(node, from, slot);
    }

    void merge_slot(Node node, const ThreeNodes& from, const Slot& slot) {
        const Comments of_base = comments_at(from.base, slot);
        Comments wanted = has_a_ ? comments_at(from.a, slot) : of_base;
        if (has_b_ && says_same(wanted, of_base)) wanted = comments_at(from.b, slot);
        if (says_same(wanted, comments_at(node, slot))) return;
        NodeComments& changed = slot.is_inside ? comments_.change_inside(node) : comments_.change_around(node);
        changed.*slot.list = std::move(wanted);
    }

    Comments comments_at(Node node, const Slot& slot) const {
        if (!node) return {};
        const NodeComments* const found = slot.is_inside ? comments_.inside(node) : comments_.around(node);
        return found == nullptr ? Comments() : found->*slot.list;
    }

    // --- lost comments -----------------------------------------------------------------------------------------------

    /// How often a comment line occurs in each text and in the result.
    struct Counts {
        std::size_t base = 0, a = 0, b = 0, merged = 0;

        /// Whether the line occurs less often in the result than in `a` (or `b`), not counting lines that the other
        /// text has removed.
        bool is_lost(bool of_a) const {
            const std::size_t here = of_a ? a : b, there = of_a ? b : a, removed = base - std::min(base, there);
            return merged + removed < here;
        }
    };

    void report_lost() {
        std::unordered_map<std::string, Counts> counts;
        for (const Comment& comment : before_)
            each_line(comment, [&](const std::string& line) {
                Counts& of_line = counts[line];
                of_line.base += comment.position.file == file_of(trees_.base);
                of_line.a += comment.position.file == file_of(trees_.a);
                of_line.b += comment.position.file == file_of(trees_.b);
            });
        const SourceComments kept = comments_.of(trees_.merged.root().text);
        for (const Comment* comment : kept.all())
            each_line(*comment, [&](const std::string& line) { ++counts[line].merged; });
        std::sort(before_.begin(), before_.end(), [](const Comment& a, const Comment& b) {
            return std::pair(a.position.file, a.position.offset) < std::pair(b.position.file, b.position.offset);
        });
        for (const Comment& comment : before_) report_if_lost(comment, counts);
    }

    void report_if_lost(const Comment& comment, std::unordered_map<std::string, Counts>& counts) {
        const bool of_a = comment.position.file == file_of(trees_.a);
        if (!of_a && comment.position.file != file_of(trees_.b)) return;  // from the base or from an unrelated text
        bool is_lost = false;
        each_line(comment, [&](const std::string& line) {
            Counts of_line = counts[line];
            if (!has_a_) of_line.a = of_line.base;
            if (!has_b_) of_line.b = of_line.base;
            if (!of_line.is_lost(of_a)) return;
            is_lost = true;
            ++counts[line].merged;  // so that each lost line is reported only once
        });
        if (!is_lost) return;
        diagnostics_
            .warning(comment.position,
                     "this comment is left out, because the other text has changed what it says or what it is about",
                     "if it still holds, add it to the merged text")
            .underline(comment.is_block ? 2 : 0);
    }

    const MergedTrees& trees_;
    SourceComments& comments_;
    Diagnostics& diagnostics_;
    const bool has_a_, has_b_;  // whether the texts can have comments; false for JSON
    Comments before_;           // all comments of the three texts
};

// --- the whole -------------------------------------------------------------------------------------------------------

std::optional<Document> merge(const SourceTree& base, const SourceTree& a, const SourceTree& b,
                              Diagnostics& diagnostics, SourceComments* comments) {
    MergedTree merged;
    if (!Merger(base, a, b, diagnostics).merge(merged)) return std::nullopt;
    Document document = MergedWriter(merged).write();
    const std::optional<SourceTree> again = read_source_tree(document.root(), diagnostics);
    if (again && same_item(*again, again->root(), merged.builder.tree(), merged.builder.root())) {
        if (comments != nullptr) CommentMerger({base, a, b, *again}, *comments, diagnostics).merge();
        return document;
    }
    diagnostics.error(a.root().position,
                      "the two texts are written so differently that no text says what they say together",
                      "write both in the same way: lists or mappings, the short or the long form");
    return std::nullopt;
}

}  // namespace

std::optional<Document> merge_sources(const SourceTree& base, const SourceTree& a, const SourceTree& b,
                                      Diagnostics& diagnostics) {
    return merge(base, a, b, diagnostics, nullptr);
}

std::optional<Document> merge_sources(const SourceTree& base, const SourceTree& a, const SourceTree& b,
                                      Diagnostics& diagnostics, SourceComments& comments) {
    return merge(base, a, b, diagnostics, &comments);
}

}  // namespace shoal
