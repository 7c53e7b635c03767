#pragma once
// Makes source trees, item by item.
// Thread: one thread at a time per builder.

#include "shoal/base/detail/hash_map.h"
#include "shoal/rewrite/detail/source_tree.h"

#include <deque>
#include <string>

namespace shoal {

struct SourceTree::Memory {
    std::deque<std::string> texts;  // that no document has
    std::deque<SourceItem> items;   // the root first
    std::deque<Document> documents;
    HashMap<std::uint64_t, const SourceItem*> index{Owner("source tree")};  // by parent, place and key
};

class SourceTreeBuilder {
public:
    SourceTreeBuilder() = default;

    SourceItem& root() { return memory().items.front(); }
    /// Adds a child. Returns nullptr, and `other`, when there is one with this place and key.
    SourceItem* add(SourceItem& parent, SourceItem item, const SourceItem*& other);
    /// The same for keys that are known to differ.
    SourceItem& add(SourceItem& parent, SourceItem item);
    /// Keeps a text that no document has.
    std::string_view keep(std::string_view text) { return memory().texts.emplace_back(text); }
    Node keep(Document document) { return memory().documents.emplace_back(std::move(document)).root(); }
    SourceTree& tree() { return tree_; }
    SourceTree finish() { return std::move(tree_); }

private:
    SourceTree::Memory& memory() { return *tree_.memory_; }

    SourceTree tree_;
};

/// Returns the place of what a key of an entity or level holds; kMember for keys that hold no items.
ItemRole place_of_key(std::string_view key, bool of_level);

inline constexpr std::size_t kNumItemRoles = static_cast<std::size_t>(ItemRole::kBeside) + 1;

/// Returns what holds the items of a place in the text of an entity or level; none if it is not there.
Node list_in(const SourceItem& entity, ItemRole place);
/// Returns the `data` that a component has its fields in; none if they are in the component itself.
Node data_of(const SourceItem& component);

/// Returns whether a child of the text of a component says its key or type, and is no field.
bool says_key_or_type(const SourceItem& component, Node child);

}  // namespace shoal
