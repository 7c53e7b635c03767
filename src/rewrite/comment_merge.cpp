#include "rewrite/comment_merge.h"

#include "rewrite/container.h"
#include "rewrite/source_tree_builder.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace shoal {
namespace {

using Comments = std::vector<Comment>;

/// What three texts say at one place, or none.
struct ThreeNodes {
    Node base, a, b;
};
/// An item of a tree, or none.
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

/// Which comments of a node.
struct Slot {
    bool is_inside;
    Comments NodeComments::* list;
};
constexpr Slot kAround[] = {{false, &NodeComments::before}, {false, &NodeComments::after}};
constexpr Slot kInside[] = {{true, &NodeComments::at_start}, {true, &NodeComments::at_end}};

/// Calls visit(line) for each line of a comment in which something is said.
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
        // What only one text says has the comments of that, which belong to another place if an element has got a key.
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

    /// Merges around the parts of an item that are no items: what says its key and type, lists of entries, and `data`.
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
        for (const std::string_view key : {"_type", "type"})
            merge([&](const SourceItem& in) {
                const Node child = in.form == ItemForm::kShort ? Node() : child_of(in, key);
                return child && says_key_or_type(in, child) ? child : Node();
            });
    }

    /// Merges inside of a list that is one value, if that is the same in all texts.
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

    // --- what is lost ------------------------------------------------------------------------------------------------

    /// How often a line of comment is in each text and in the result.
    struct Counts {
        std::size_t base = 0, a = 0, b = 0, merged = 0;

        /// Whether the result has a line less often than one text has it, but for those that the other has removed.
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
        if (!of_a && comment.position.file != file_of(trees_.b)) return;  // of the base, or of no text of the merge
        bool is_lost = false;
        each_line(comment, [&](const std::string& line) {
            Counts of_line = counts[line];
            if (!has_a_) of_line.a = of_line.base;
            if (!has_b_) of_line.b = of_line.base;
            if (!of_line.is_lost(of_a)) return;
            is_lost = true;
            ++counts[line].merged;  // the next one with this line is another one
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
    const bool has_a_, has_b_;  // comments, as JSON has not
    Comments before_;           // all, of all three texts
};

}  // namespace

void merge_comments(const MergedTrees& trees, SourceComments& comments, Diagnostics& diagnostics) {
    CommentMerger(trees, comments, diagnostics).merge();
}

}  // namespace shoal
