#pragma once
// What is different between two sources: by key, not by place in the text, and whatever their formats are.
//
//     const std::vector<SourceDifference> differences = diff_sources(before, after);
//     print(differences_text(differences));
//
//     a1 "big coral"
//     -   modified_components.transform.position = [4 0 12]
//     +   modified_components.transform.position = [4 0 13]
//     + a4 "new"
//     +   prefab = "reef/coral"
//     > a5 was at left/a5
//
// The order of entities, components and fields is no difference. A list is one value. An entity whose key is one of a kind in
// both texts, and that has another parent, was moved.
// Thread: any thread.

#include "shoal/rewrite/source_tree.h"

#include <string>
#include <string_view>
#include <vector>

namespace shoal {

struct SourceDifference {
    enum class Kind : std::uint8_t { kAdded, kRemoved, kChanged, kMoved };
    Kind kind = Kind::kChanged;
    const SourceItem* before = nullptr;  ///< nullptr: added
    const SourceItem* after = nullptr;   ///< nullptr: removed
};
/// Returns "added", "removed", "changed" or "moved".
SHOAL_API std::string_view difference_name(SourceDifference::Kind kind);

/// Returns the differences, those of an entity together. What holds something that was added or removed is one difference. Of
/// an item that is a mapping on one side and a value on the other, or whose type differs, the whole is `changed`.
/// Lifetime: that of the trees.
SHOAL_API std::vector<SourceDifference> diff_sources(const SourceTree& before, const SourceTree& after);

/// Returns them as lines for people. Lines begin with `-`, `+` or `>`, or with the path of an entity.
SHOAL_API std::string differences_text(const std::vector<SourceDifference>& differences);

}  // namespace shoal
