#pragma once
// Builds source trees item by item.
// Thread: one thread at a time per builder.

#include "shoal/base/detail/hash_map.h"
#include "shoal/rewrite/detail/source_tree.h"

#include <deque>
#include <string>

namespace shoal {

struct SourceTree::Memory {
    std::deque<std::string> texts;  // strings that are not in a document
    std::deque<SourceItem> items;   // the root first
    std::deque<Document> documents;
    HashMap<std::uint64_t, const SourceItem*> index{Owner("source tree")};  // by parent, place and key
};

class SourceTreeBuilder {
public:
    SourceTreeBuilder() = default;

    SourceItem& root() { return memory().items.front(); }
    /// Adds a child. If a child with this place and key exists, sets `other` to it and returns nullptr.
    SourceItem* add(SourceItem& parent, SourceItem item, const SourceItem*& other);
    /// Adds a child whose key is known to be new.
    SourceItem& add(SourceItem& parent, SourceItem item);
    /// Stores a string that is not in a document.
    std::string_view keep(std::string_view text) { return memory().texts.emplace_back(text); }
    Node keep(Document document) { return memory().documents.emplace_back(std::move(document)).root(); }
    SourceTree& tree() { return tree_; }
    SourceTree finish() { return std::move(tree_); }

private:
    SourceTree::Memory& memory() { return *tree_.memory_; }

    SourceTree tree_;
};

inline constexpr std::size_t kNumItemRoles = static_cast<std::size_t>(ItemRole::kBeside) + 1;

/// Returns the node, in the text of an entity or level, that contains the items with a given role; none if there is no
/// such node.
Node list_in(const SourceItem& entity, ItemRole place);
/// Returns the `data` of a component, or none if the fields are in the component itself.
Node data_of(const SourceItem& component);

/// Returns whether a child of a component's text is its key or its type, and not a field.
bool says_key_or_type(const SourceItem& component, Node child);

}  // namespace shoal
