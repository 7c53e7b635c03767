#pragma once
// Collects the rows that a loop writes in a store, if the store computes other values from its rows. The store is
// notified when the loop ends.
//
//     the store drives alone     every row of a part                         when the part is marked
//     drives, others joined      a bit for each row, set block by block      by the threads of the loop
//     is joined                  a list, block by block                      by the calling thread
//     several threads            a bit for each row of what is joined        by the threads of the loop
//
// Rows are in the order of the store, or of the driver, so the order does not depend on the number of workers.
// Thread: as in the table above. A block of a driver begins at a multiple of 64 rows, so two threads never write the
// same word; the bits of a joined store are set atomically.

#include "query/join_block.h"
#include "shoal/base/detail/bit_set.h"

namespace shoal::detail {

class ToldRows {
public:
    explicit ToldRows(std::uint8_t number) : store(number) {}

    /// Begins a loop. `num_rows` is the number of the store's rows if the store is the driver of a join, and otherwise
    /// 0.
    void begin(std::uint32_t num_rows);
    /// Allows several threads to add rows of all stores except the driver. Returns false if several threads might write
    /// the same row, which is possible if the loop visits each of an entity's rows in the driver and writes other
    /// stores.
    static bool share(std::span<ToldRows> all, const TermStores& places, std::size_t driver, bool writes_others);
    /// Adds the visited rows of a block.
    void add_block(const JoinBlock& block) {
        if (store == block.driver)
            for (std::uint32_t word = 0; word * 64 < block.size(); ++word)
                visited_.data()[block.rows.begin / 64 + word] = block.words[word];
        else
            block.for_each_visited([&](std::size_t i) { add(block.found[store][i]); });
    }
    /// Adds rows in a part of the driver: all rows, or only the visited ones.
    void add_all(RowRange part) {
        for (std::uint32_t row = part.begin; row < part.end; ++row) add(row);
    }
    void add_visited(RowRange part) {
        for (std::uint32_t row = part.begin; row < part.end; ++row)
            if (visited_[row]) rows_.push_back(row);
    }
    /// Notifies the store and ends the loop.
    void tell(Store& told, std::uint64_t columns, Executor* executor);

    std::uint8_t store;  ///< the number of the store in the query

private:
    void add(std::uint32_t row) { is_shared_ ? add_shared(row) : rows_.push_back(row); }
    void add_shared(std::uint32_t row);

    Array<std::uint32_t> rows_{Owner("query")};
    BitSet visited_{Owner("query")};
    bool is_shared_ = false;  // several threads set bits atomically
};

}  // namespace shoal::detail
