#pragma once
// One row on its way from a table to the end of another, when its entity gains or loses components by a call with C++
// types. All that can be known beforehand stands in the step that the row before it has taken:
//
//     find    entity -> table, row; the table's last step; do its addresses still hold, and is there room?
//     make    owner, columns (from its row to the target; the last row of its table into its place), index, stamps
//
// Where that does not lead (another component than last time, a table that has grown elsewhere, opaque columns, toggled
// component types, a journal, more than 65,536 tables), nothing is found and the slow way is taken, which prepares the
// next step. Nothing is found either while rows are held; the slow way then ends the program.
// Thread: that of the database.

#include "shoal/database/database_slots.h"
#include "shoal/database/database_state.h"
#include "shoal/database/database_table.h"

namespace shoal {

/// Where a row has gone.
struct MovedRow {
    const DatabaseTable::Step* step = nullptr;  ///< nullptr: it has not moved
    std::uint32_t row = 0;                      ///< in the target of the step
};

class RowMove {
public:
    template <bool kAdds>
    SHOAL_INLINE static RowMove find(DatabaseState& d, Entity entity, TypedKey key) {
        const DatabaseDirectory::Place place = d.directory_.find_unless_held(entity);
        if (SHOAL_UNLIKELY(!place)) return {};
        DatabaseTable& from = *d.tables_[place.table];
        const DatabaseTable::Step& step = kAdds ? from.last_added_ : from.last_removed_;
        if (SHOAL_UNLIKELY(step.key != key || !step.path.is_known(from.table_, step.target->table_))) return {};
        if (SHOAL_UNLIKELY(!step.target->has_reserved_row() || (kAdds && d.is_dead(entity)))) return {};
        return {&from, &step, place.row};
    }
    explicit operator bool() const { return from_ != nullptr; }
    /// The number of the archetype to which the row goes.
    std::uint32_t target_type() const { return step_->target->type_number(); }

    template <bool kAdds>
    SHOAL_INLINE MovedRow make(DatabaseState& d, Entity entity) const {
        const std::uint32_t row = step_->path.take<!kAdds>(from_->table_, step_->target->table_, row_, entity);
        d.directory_.set_reserved(entity, step_->target->number(), row);
        ++d.num_structural_changes_;
        if (SHOAL_UNLIKELY(from_->num_rows() == 0)) d.note_rows(*from_);
        return {step_, row};
    }

    /// Both, out of line.
    template <bool kAdds>
    SHOAL_API static MovedRow find_and_make(DatabaseState& d, Entity entity, TypedKey key);

private:
    RowMove() = default;
    RowMove(DatabaseTable* from, const DatabaseTable::Step* step, std::uint32_t row)
        : from_(from), step_(step), row_(row) {}

    DatabaseTable* from_ = nullptr;
    const DatabaseTable::Step* step_ = nullptr;
    std::uint32_t row_ = 0;
};

namespace detail {

/// Writes the components that a row has gained.
template <class... Ts>
SHOAL_INLINE void write_gained(const MovedRow& moved, const Ts&... values) {
    std::byte* const* gained = moved.step->gained.data();
    ((write_component_to([&](std::uint32_t c) { return gained[c]; }, moved.row, values), gained += kNumColumns<Ts>),
     ...);
}

}  // namespace detail
}  // namespace shoal
