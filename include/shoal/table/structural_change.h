#pragma once
// The structural changes of a table, for code that keeps something beside its rows: an index, a renderer, a journal.
// Thread: that of the table.

#include "shoal/base/memory.h"
#include "shoal/base/row_range.h"
#include "shoal/entity/entity.h"

#include <span>

namespace shoal {

/// One structural change, while changes are watched. In a table with holes, added rows may be holes; a hole that gets
/// an owner is added again; a row that loses its owner is removed, and nothing moves.
struct StructuralChange {
    enum class Kind : std::uint8_t { kAdded, kMoved, kRemoved, kSwapped } kind;
    RowRange rows;  ///< added: the new rows; moved: where one went; removed: where it was; swapped: one of two
    std::uint32_t from_row = 0;  ///< moved: where it came from; swapped: the other one
    Entity entity;               ///< moved, removed: the owner; swapped: the entity that now owns rows.begin
};

/// The changes of a table, listed while anyone watches. Nobody pays for a list that nobody reads.
class StructuralChanges {
public:
    bool are_watched() const { return num_watchers_ != 0; }
    /// Starts or stops watching. Calls are counted.
    SHOAL_API void watch(bool watch);
    std::span<const StructuralChange> all() const { return changes_; }
    void clear() { changes_.clear(); }

    /// Each does nothing while nobody watches.
    SHOAL_API void add_rows(RowRange rows, Entity owner = {});
    void move_row(std::uint32_t from, std::uint32_t to, Entity owner) {
        add({StructuralChange::Kind::kMoved, {to, to + 1}, from, owner});
    }
    void remove_row(std::uint32_t row, Entity owner) {
        add({StructuralChange::Kind::kRemoved, {row, row + 1}, 0, owner});
    }
    void swap_rows(std::uint32_t a, std::uint32_t b, Entity owner_of_a) {
        add({StructuralChange::Kind::kSwapped, {a, a + 1}, b, owner_of_a});
    }

private:
    void add(const StructuralChange& change) {
        if (SHOAL_UNLIKELY(num_watchers_ != 0)) changes_.push_back(change);
    }

    std::uint32_t num_watchers_ = 0;
    Array<StructuralChange> changes_{Owner("table")};
};

}  // namespace shoal
