#pragma once
// The result of a merge: a tree of items, and from which text each of them is laid out.
// Thread: one thread at a time per tree.

#include "rewrite/source_tree_builder.h"

namespace shoal {

/// Where an item of a merged tree is from.
struct MergedFrom {
    const SourceItem* other = nullptr;  ///< what the other text says of it, if both say something
    bool is_same = false;               ///< it is as it stands in its text
};

struct MergedTree {
    SourceTreeBuilder builder;
    HashMap<std::uint64_t, MergedFrom> from{Owner("source merge")};  // by address

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

/// Returns the merged tree as a document, laid out as the texts of its items are.
Document write_merged(MergedTree& tree);

}  // namespace shoal
