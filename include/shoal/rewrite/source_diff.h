#pragma once
// Compares two sources by key, regardless of format and of position in the text.
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
// The order of entities, components and fields is ignored. A list is one value. An entity counts as moved if its key is
// unique in both texts and its parent differs.
// Thread: any thread.

#include "shoal/rewrite/detail/source_tree.h"

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

/// Returns the differences, grouped by entity. The content of an added or removed item is not listed separately.
/// An item counts as `changed` as a whole if it is a mapping on one side and a value on the other, or if its types
/// differ. Lifetime: as long as the trees.
SHOAL_API std::vector<SourceDifference> diff_sources(const SourceTree& before, const SourceTree& after);

/// Returns the differences as readable lines. Lines begin with `-`, `+` or `>`, or with the path of an entity.
SHOAL_API std::string differences_text(const std::vector<SourceDifference>& differences);

}  // namespace shoal
