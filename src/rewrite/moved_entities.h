#pragma once
// Finds entities by their key alone, wherever they are in a tree.
// Thread: any thread.

#include "shoal/base/detail/hash_map.h"
#include "shoal/rewrite/detail/source_tree.h"

namespace shoal {

/// Whether an item is an entity that has no key and is identified by its index in a list.
inline bool is_counted(const SourceItem& item) { return item.kind == ItemKind::kEntity && item.key.starts_with('['); }

/// Returns the item at the same place in another tree, or nullptr.
inline const SourceItem* counterpart(const SourceItem& item, const SourceTree& others) {
    if (item.parent == nullptr) return &others.root();
    const SourceItem* const parent = counterpart(*item.parent, others);
    return parent == nullptr ? nullptr : others.find(*parent, item.place, item.key);
}

/// The entities whose key is unique in the tree. Ignores entities without a key, and changes to a prefab's children.
class UniqueEntities {
public:
    explicit UniqueEntities(const SourceTree& tree) { add(tree.root()); }

    /// Returns the only entity with the key of `item`, or nullptr.
    const SourceItem* find(const SourceItem& item) const {
        if (!is_named(item)) return nullptr;
        const SourceItem* const* found = entities_.find(item.key);
        return found == nullptr ? nullptr : *found;
    }

private:
    static bool is_named(const SourceItem& item) {
        return item.kind == ItemKind::kEntity && item.place != ItemRole::kModifiedChildren && !is_counted(item);
    }

    void add(const SourceItem& item) {
        if (is_named(item))
            if (const auto [other, is_new] = entities_.insert(item.key, &item); !is_new) *other = nullptr;
        for (const SourceItem* child : item.children)
            if (child->kind == ItemKind::kEntity) add(*child);
    }

    HashMap<std::string_view, const SourceItem*> entities_{Owner("source diff")};  // by key; nullptr: not unique
};

}  // namespace shoal
