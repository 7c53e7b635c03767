#pragma once
// The rows that a loop has written of a store that computes more from them, to tell the store when the loop has ended.
//
//     the store drives alone     every row of a part                         when the part is marked
//     drives, others joined      a bit for each row, set block by block      by the threads of the loop
//     is joined                  a list, block by block                      by the calling thread
//     several threads            a bit for each row of what is joined        by the threads of the loop
//
// The order is that of the rows, or that of the driver's rows: it does not depend on the number of workers.
// Thread: as above. A block of a driver begins at a multiple of 64 rows, so two threads never write one word; the bits
// of a joined store are set one by one.

#include "query/join_block.h"
#include "shoal/base/detail/bit_set.h"

namespace shoal::detail {

class ToldRows {
public:
    explicit ToldRows(std::uint8_t number) : store(number) {}

    /// Begins a loop. Where others are joined and the store drives, `num_rows` are its rows; otherwise 0.
    void begin(std::uint32_t num_rows);
    /// Lets several threads add rows of stores that do not drive, or of all, and returns true. Returns false if a loop
    /// would write a row several times: it visits all rows that an entity has in the driver, and writes others.
    static bool share(std::span<ToldRows> all, const TermStores& places, std::size_t driver, bool writes_others);
    /// Adds the rows of a block that are visited.
    void add_block(const JoinBlock& block) {
        if (store == block.driver)
            for (std::uint32_t word = 0; word * 64 < block.size(); ++word)
                visited_.data()[block.rows.begin / 64 + word] = block.words[word];
        else
            block.for_each_visited([&](std::size_t i) { add(block.found[store][i]); });
    }
    /// Adds the rows of a part of the driver: all, or those of the blocks that were visited.
    void add_all(RowRange part) {
        for (std::uint32_t row = part.begin; row < part.end; ++row) add(row);
    }
    void add_visited(RowRange part) {
        for (std::uint32_t row = part.begin; row < part.end; ++row)
            if (visited_[row]) rows_.push_back(row);
    }
    /// Ends the loop.
    void tell(Store& told, std::uint64_t columns, Executor* executor);

    std::uint8_t store;  ///< its number among those of the query

private:
    void add(std::uint32_t row) { is_shared_ ? add_shared(row) : rows_.push_back(row); }
    void add_shared(std::uint32_t row);

    Array<std::uint32_t> rows_{Owner("query")};
    BitSet visited_{Owner("query")};
    bool is_shared_ = false;  // bits are set one by one, by several threads
};

}  // namespace shoal::detail
