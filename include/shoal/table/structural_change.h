#pragma once
// What a table tells those who keep something beside its rows: an index of their own, a renderer, a journal.

#include "shoal/base/row_range.h"
#include "shoal/entity/entity.h"

namespace shoal {

/// One structural change, while changes are watched. In a table with holes, added rows may be holes; a hole that gets
/// an owner is added again, a row that loses its owner is removed and nothing moves.
struct StructuralChange {
    enum class Kind : std::uint8_t { kAdded, kMoved, kRemoved, kSwapped } kind;
    RowRange rows;  ///< added: the new rows; moved: where one went; removed: where it was; swapped: one of two
    std::uint32_t from_row = 0;  ///< moved: where it came from; swapped: the other one
    Entity entity;               ///< moved, removed: the owner; swapped: who owns rows.begin now
};

}  // namespace shoal
