#include "shoal/rewrite/source_merge.h"

#include "rewrite/comment_merge.h"
#include "rewrite/merged_tree.h"
#include "rewrite/moved_entities.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace shoal {
namespace {

class Merger {
public:
    Merger(const SourceTree& base, const SourceTree& a, const SourceTree& b, Diagnostics& diagnostics)
        : base_(base), a_(a), b_(b), unique_base_(base), unique_a_(a), unique_b_(b), diagnostics_(diagnostics) {}

    /// Returns whether there were no conflicts.
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
    /// What the three texts say at one place.
    struct Three {
        const SourceItem* base;
        const SourceItem* a;
        const SourceItem* b;
        bool is_chosen = false;  ///< the one that is there is taken as it is
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

    /// Takes over an item with all that it holds.
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
    /// Returns whether those of `b` are taken and not those of `a`. Where they stand says nothing of who they are, so
    /// all of a list are one value.
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

    /// Returns the children in the order of `a`; each that only `b` has comes after the one that it follows there.
    std::vector<Three> children_of(const SourceItem* base, const SourceItem& a, const SourceItem& b) {
        bool takes_b[16] = {}, is_asked[16] = {};
        for (const SourceItem* parent : {&a, &b})
            for (const SourceItem* child : parent->children) {
                const auto place = static_cast<std::size_t>(child->place);
                if (is_counted(*child) && !std::exchange(is_asked[place], true))
                    takes_b[place] = takes_counted_of_b(base, a, b, child->place);
            }
        HashMap<std::uint64_t, std::vector<const SourceItem*>> after{Owner("source merge")};  // by what they follow
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

    /// Merges an item that only one text has: it is new there, or the other text has removed it.
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

    /// Merges what two mappings hold. False: their types are in conflict, or one of them has replaced a value.
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

    /// Returns a value for a message, if it is short.
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

}  // namespace

namespace {

std::optional<Document> merge(const SourceTree& base, const SourceTree& a, const SourceTree& b,
                              Diagnostics& diagnostics, SourceComments* comments) {
    MergedTree merged;
    if (!Merger(base, a, b, diagnostics).merge(merged)) return std::nullopt;
    Document document = write_merged(merged);
    const std::optional<SourceTree> again = read_source_tree(document.root(), diagnostics);
    if (again && same_item(*again, again->root(), merged.builder.tree(), merged.builder.root())) {
        if (comments != nullptr) merge_comments({base, a, b, *again}, *comments, diagnostics);
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
