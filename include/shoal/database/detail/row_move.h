#pragma once
// Moves a single row when its entity gains or loses components in a call with C++ types. A table remembers the last
// step that one of its rows took; for the next row that takes the same step, only its entity is looked up:
//
//     find    entity -> table, row; is the table's last step the one asked for, do its addresses hold, is there room?
//     make    bits, owner, columns (from the row to the target; the table's last row into its place), index, stamps
//
// find() returns nothing if the components are not the same as last time, the memory of a table has moved, a column is
// opaque, a component type is `many`, there are more than 65,536 tables, or rows are held. The call for spans of
// components then does the work: it also prepares the next step, and ends the program if rows are held.
// Thread: the same as the database.

#include "shoal/database/detail/typed_slots.h"

namespace shoal {

class Database;

/// Where a row has moved to.
struct MovedRow {
    const DatabaseTable::Step* step = nullptr;  ///< nullptr: the row has not moved
    std::uint32_t row = 0;                      ///< the row in the target of the step
};

class RowMove {
public:
    template <bool kAdds>
    SHOAL_INLINE static RowMove find(Database& database, Entity entity, TypedKey key);
    explicit operator bool() const { return from_ != nullptr; }
    /// The number of the archetype that the row leaves.
    std::uint32_t type_number() const { return from_->type_number(); }

    /// Makes the step. take(path, from, to, row) moves the row and returns its new number.
    template <class Take>
    SHOAL_INLINE MovedRow make(Database& database, Entity entity, Take&& take) const;

    /// find() and make() in one call, out of line.
    template <bool kAdds>
    SHOAL_API static MovedRow find_and_make(Database& database, Entity entity, TypedKey key);

private:
    template <bool kAdds>
    SHOAL_INLINE static RowMove find_step(Database& database, Entity entity, TypedKey key);
    template <class Take>
    SHOAL_INLINE MovedRow make_but_bits(Database& database, Entity entity, Take&& take) const;
    template <bool kAdds>
    __attribute__((noinline)) MovedRow make_with_bits(Database& database, Entity entity) const;

    RowMove() = default;
    RowMove(DatabaseTable* from, const DatabaseTable::Step* step, std::uint32_t row)
        : from_(from), step_(step), row_(row) {}

    DatabaseTable* from_ = nullptr;
    const DatabaseTable::Step* step_ = nullptr;
    std::uint32_t row_ = 0;
};

namespace detail {

/// Writes the components that a row gained.
template <class... Ts>
SHOAL_INLINE void write_gained(const MovedRow& moved, const Ts&... values) {
    std::byte* const* gained = moved.step->gained.data();
    ((write_component_to([&](std::uint32_t c) { return gained[c]; }, moved.row, values), gained += kNumColumns<Ts>),
     ...);
}

}  // namespace detail
}  // namespace shoal

#include "shoal/database/database.h"

namespace shoal {

template <bool kAdds>
SHOAL_INLINE RowMove RowMove::find_step(Database& database, Entity entity, TypedKey key) {
    const DatabaseDirectory::Location place = database.directory_.find_unless_held(entity);
    if (SHOAL_UNLIKELY(!place)) return {};
    DatabaseTable& from = database.tables_[place.table];
    const DatabaseTable::Step& step = kAdds ? from.last_added_ : from.last_removed_;
    if (SHOAL_UNLIKELY(step.key != key || !step.path.is_known(from.table_, step.target->table_))) return {};
    if (SHOAL_UNLIKELY(!step.target->has_reserved_row() || (kAdds && database.is_dead(entity)))) return {};
    return {&from, &step, place.row};
}

template <bool kAdds>
SHOAL_INLINE RowMove RowMove::find(Database& database, Entity entity, TypedKey key) {
    const RowMove move = find_step<kAdds>(database, entity, key);
    if (SHOAL_UNLIKELY(!move || !(move.step_->bits.empty() || move.step_->has_reserved_bits()))) return {};
    return move;
}

template <class Take>
SHOAL_INLINE MovedRow RowMove::make(Database& database, Entity entity, Take&& take) const {
    if (SHOAL_UNLIKELY(!step_->bits.empty())) step_->move_bits(*from_, row_);
    return make_but_bits(database, entity, take);
}

template <class Take>
SHOAL_INLINE MovedRow RowMove::make_but_bits(Database& database, Entity entity, Take&& take) const {
    const std::uint32_t row = take(step_->path, from_->table_, step_->target->table_, row_);
    database.directory_.set_reserved(entity, step_->target->number(), row);
    database.tables_.count_changes();
    if (SHOAL_UNLIKELY(from_->num_rows() == 0)) database.tables_.note_rows(*from_);
    return {step_, row};
}

}  // namespace shoal
