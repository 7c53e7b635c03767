#include "shoal/source/source_merge.h"

#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "source/merged_tree.h"
#include "source/moved_entities.h"

#include <algorithm>

namespace shoal {
namespace {

class Merger {
public:
    Merger(const SourceTree& base, const SourceTree& a, const SourceTree& b, Diagnostics& diagnostics)
        : base_(base), a_(a), b_(b), unique_a_(a), unique_b_(b), diagnostics_(diagnostics) {}

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
    };

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

    /// Returns the children in the order of `a`; each that only `b` has comes after the one that it follows there.
    std::vector<Three> children_of(const SourceItem* base, const SourceItem& a, const SourceItem& b) const {
        HashMap<std::uint64_t, std::vector<const SourceItem*>> after{Owner("source merge")};  // by what they follow
        std::uint64_t anchors[16] = {};
        for (std::size_t i = 0; i < std::size(anchors); ++i) anchors[i] = i;
        for (const SourceItem* child : b.children) {
            std::uint64_t& anchor = anchors[static_cast<std::size_t>(child->place)];
            if (const SourceItem* const in_a = a_.find(a, child->place, child->key))
                anchor = MergedTree::key_of(*in_a);
            else
                after.insert(anchor, {}).value->push_back(child);
        }
        std::vector<Three> all;
        const auto add_after = [&](std::uint64_t anchor) {
            if (const auto* const found = after.find(anchor))
                for (const SourceItem* child : *found) all.push_back({find_base(base, *child), nullptr, child});
        };
        bool has_begun[16] = {};
        for (const SourceItem* child : a.children) {
            const auto place = static_cast<std::size_t>(child->place);
            if (!has_begun[place]) add_after(place);
            has_begun[place] = true;
            all.push_back({find_base(base, *child), child, b_.find(b, child->place, child->key)});
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
        const auto& [base, a, b] = three;
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
        const auto& [base, a, b] = three;
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
        const auto& [base, a, b] = three;
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
    UniqueEntities unique_a_, unique_b_;
    Diagnostics& diagnostics_;
    MergedTree* out_ = nullptr;
    bool has_conflicts_ = false;
};

}  // namespace

std::optional<Document> merge_sources(const SourceTree& base, const SourceTree& a, const SourceTree& b,
                                      Diagnostics& diagnostics) {
    MergedTree merged;
    if (!Merger(base, a, b, diagnostics).merge(merged)) return std::nullopt;
    Document document = write_merged(merged);
    const std::optional<SourceTree> again = read_source_tree(document.root(), diagnostics);
    if (again && same_item(*again, again->root(), merged.builder.tree(), merged.builder.root())) return document;
    diagnostics.error(a.root().position,
                      "the two texts are written so differently that no text says what they say together",
                      "write both in the same way: lists or mappings, the short or the long form");
    return std::nullopt;
}

}  // namespace shoal
