#include "shoal/table/structural_change.h"

#include "shoal/base/assert.h"

namespace shoal {

void StructuralChanges::watch(bool watch) {
    SHOAL_ASSERT(watch || num_watchers_ > 0, "nobody watches the changes of this table");
    num_watchers_ += watch ? 1u : ~0u;
    if (num_watchers_ == 0) changes_.clear();
}

/// Rows that follow on those added just before become one change with them, unless one owner is named.
void StructuralChanges::add_rows(RowRange rows, Entity owner) {
    const bool follows = !owner && !changes_.empty() && changes_.back().kind == StructuralChange::Kind::kAdded &&
                         changes_.back().rows.end == rows.begin;
    if (follows)
        changes_.back().rows.end = rows.end;
    else
        add({StructuralChange::Kind::kAdded, rows, 0, owner});
}

}  // namespace shoal
