#pragma once
// Holds the rows of a text query in place, so that a caller such as a script's loop can fetch the batches one by one
// instead of passing a callback.
//
//     HeldRows held(query);  // rows stay where they are from now on
//     for (std::size_t i = 0; i < held.num_batches(); ++i) {
//         const TextColumn mass = held.batch(i).column(0, 0);
//         for (std::uint32_t k = 0; k < held.batch(i).num_rows(); ++k) *mass.write<float>(k) *= 2;
//     }
//     held.finish();  // marks what the query writes as written
//
//     found by the loop of the query       kept as
//     a run of rows                        one batch, however many blocks of the loop it spans
//     short runs, rows in any order        one batch that lists its rows: TextColumn::rows
//
// The object holds the rows that matched when it was made. Until finish() is called, nothing is marked as written, and
// stores that compute other values from written components are not notified.
// Thread: as for the query's loops. A pass may hold rows while it runs.

#include "shoal/query/text_query.h"

namespace shoal {

class SHOAL_API HeldRows {
public:
    /// Finds the rows. Lifetime: `query` outlives this object. While this object exists, structural calls end the
    /// program.
    explicit HeldRows(const TextQuery& query);
    ~HeldRows();
    HeldRows(const HeldRows&) = delete;
    HeldRows& operator=(const HeldRows&) = delete;

    std::size_t num_batches() const;
    /// Requires: index < num_batches(). Lifetime: this object.
    const TextBatch& batch(std::size_t index) const;
    /// Marks the written components in all rows, and notifies the stores that compute other values from these
    /// components.
    void finish(Executor* executor = nullptr);

private:
    TextQuery::Held* held_;
};

}  // namespace shoal
