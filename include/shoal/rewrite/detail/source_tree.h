#pragma once
// The content of one source as a tree of items. Items are found by key, regardless of the source's format and order.
//
//     Diagnostics diagnostics;
//     const std::uint32_t file = diagnostics.add_file("reef/garden.sjson", std::move(text));
//     std::optional<SourceTree> garden = read_source_tree(file, diagnostics);
//
//     entities = {                              level
//         a1 = {                                +- entity a1          place: entities
//             prefab = "reef/coral"                +- member prefab      value: "reef/coral"
//             modified_components = {              +- component glow     place: modified_components
//                 glow = { power = 2 }                +- member power       value: 2
//
// A source gives the same items in whichever form it is written: lists with `_guid` or mappings by key, short
// or long forms of entities, and fields inside or outside of `data`. Mappings of fields are items with members; a list
// is one value, like a number. Prefabs are not read, so an item has only the content of this text.
// compose_source_tree() returns the composed result instead.
// Lifetime: a SourceTree refers to the texts that the Diagnostics keeps. Thread: a tree does not change.

#include "shoal/document/detail/document.h"
#include "shoal/rewrite/source_text.h"
#include "shoal/source/detail/composer.h"
#include "shoal/source/detail/source_grammar.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

enum class ItemKind : std::uint8_t {
    kLevel,
    kEntity,
    kComponent,
    kDeletion,  ///< an element of `deleted_components` or `deleted_children`
    kMember,    ///< a value, or a mapping with members; may be in any item, including another member
};

/// The role of an item in its parent. Two items with the same parent differ in role or key.
enum class ItemRole : std::uint8_t {
    kMember,
    kComponents,
    kModifiedComponents,
    kDeletedComponents,
    kChildren,
    kModifiedChildren,
    kDeletedChildren,
    kUnits,     ///< the `units` of a level that also has `entities`
    kEntities,  ///< the entities of a level, even if its key is `units`
    kBeside,    ///< keys of a component besides its `data`
};

struct SourceItem {
    const SourceItem* parent = nullptr;
    std::string_view key;       ///< GUID or name, in the composer's form; empty for a level
    std::string_view type;      ///< type of a component; empty in a change that does not name the type
    std::string_view key_name;  ///< the name of the member that holds `key`: `_guid`, `guid` or `id`
    ItemKind kind = ItemKind::kMember;
    ItemRole place = ItemRole::kMember;
    ItemForm form = ItemForm::kByKey;
    Node text;   ///< the item's text; none in a composed tree
    Node value;  ///< the value, if the item is a member or component but not a mapping
    SourcePosition position;
    std::vector<const SourceItem*> children;  ///< in text order

    bool is_mapping() const { return !value && kind != ItemKind::kDeletion; }
};

class SourceTree {
public:
    SHOAL_API SourceTree(SourceTree&& other) noexcept;
    SHOAL_API SourceTree& operator=(SourceTree&& other) noexcept;
    SHOAL_API ~SourceTree();

    SHOAL_API const SourceItem& root() const;
    /// Returns the child of an item in this tree, or nullptr. Cost: O(1).
    SHOAL_API const SourceItem* find(const SourceItem& parent, ItemRole place, std::string_view key) const;

private:
    friend class SourceTreeBuilder;
    struct Memory;
    SourceTree();

    Memory* memory_;
};

/// Reads a file that `diagnostics` holds. Errors: the file cannot be read, is not a source, or has two entities or
/// components with the same key. On error, returns nothing, and `diagnostics` has the reason.
SHOAL_API std::optional<SourceTree> read_source_tree(std::uint32_t file, Diagnostics& diagnostics,
                                                     const ReadOptions& options = {640});
/// Like read_source_tree() above, but also reads the comments of the text.
SHOAL_API std::optional<SourceTree> read_source_tree(std::uint32_t file, Diagnostics& diagnostics,
                                                     SourceComments& comments, const ReadOptions& options = {640});
/// Makes a tree from a document that has already been read or built. Lifetime: as long as the document.
SHOAL_API std::optional<SourceTree> read_source_tree(Node root, Diagnostics& diagnostics);
/// Returns an empty source tree of the same kind as `other`.
SHOAL_API SourceTree empty_source_tree(const SourceTree& other);
/// Returns the entities of a composition, with prefabs merged in. Lifetime: as long as the composition.
SHOAL_API SourceTree compose_source_tree(const Composition& composition);

/// Returns whether two items have the same content, regardless of order.
SHOAL_API bool same_item(const SourceTree& a, const SourceItem& in_a, const SourceTree& b, const SourceItem& in_b);

/// Returns the key for a role in a source, such as "modified_components"; empty for members.
SHOAL_API std::string_view role_name(ItemRole place);
/// Returns the entity that an item is or belongs to, or the level if there is none.
SHOAL_API const SourceItem& entity_of(const SourceItem& item);
/// Returns the keys from the root to an item's entity, separated by `/`. The path of a level is "the level".
SHOAL_API std::string entity_path(const SourceItem& item);
/// Returns the path from an item's entity to the item, such as "modified_components.glow.power".
SHOAL_API std::string member_path(const SourceItem& item);
/// Returns an item as a document in canonical form, which uses mappings by key and has one way to write each item.
SHOAL_API Document canonical_document(const SourceItem& item);
/// Returns a sorted list with a line for each value of a tree, such as `a1/trunk components.glow.power = 2`. Texts with
/// the same content have the same lines.
SHOAL_API std::string canonical_lines(const SourceTree& tree);

}  // namespace shoal
