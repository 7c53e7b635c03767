#pragma once
// The order of rows by a field's values, kept from one loop to the next.
//
//     as the plan visits them     e1 7    e2 3    e3 3    e4 9        entities, keys
//     order                       1       2       0       3           equal keys: as the plan visits them
//
// If the rows are the same as in the last loop, sorting starts from the last order. This costs one walk if that order
// is still right; otherwise, the ranges that are still in order are merged.
// Thread: the thread that begins a loop.

#include "shoal/query/detail/query_plan.h"

namespace shoal::detail {

class SortedRows {
public:
    /// Sorts by the plan's field number `field`.
    SortedRows(std::size_t field, SortKey key) : field_(field), key_(key) {}

    /// Updates the order. Requires: the rows are held.
    void refresh(const PlanState& plan);
    /// Shape: the number of visited rows.
    std::span<const Entity> owners() const { return owners_; }

private:
    struct Ranked {
        std::uint64_t key;
        std::uint32_t index;
        friend bool operator<(const Ranked& a, const Ranked& b) {
            return a.key != b.key ? a.key < b.key : a.index < b.index;
        }
    };
    static void collect(void* self, FoundRows& found);
    void sort();

    std::size_t field_;
    SortKey key_;
    Array<Entity> found_{Owner("query")}, found_before_{Owner("query")};  // in the plan's order
    Array<std::uint64_t> keys_{Owner("query")};                           // the key of each element of found_
    Array<Ranked> order_{Owner("query")}, merged_{Owner("query")};
    Array<Entity> owners_{Owner("query")};  // the sorted entities
};

}  // namespace shoal::detail
