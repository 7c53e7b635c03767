// Stamps and the list of changes alone.

#include "shoal/table/detail/change_stamps.h"

#include "shoal/base/saved_state.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(ChangeStamps, a_mark_reaches_exactly_the_blocks_of_its_rows) {
    ChangeStamps stamps(2);
    stamps.reserve(5 * kRowsPerStampBlock);
    stamps.set_now(7);
    stamps.mark(1, RowRange{kRowsPerStampBlock - 1, 3 * kRowsPerStampBlock});
    for (std::uint32_t block = 0; block < 5; ++block) {
        EXPECT_EQ(stamps.written(0, block), 0u);
        EXPECT_EQ(stamps.written(1, block), block < 3 ? 7u : 0u) << block;
    }
    stamps.set_now(9);
    stamps.mark(0, 4 * kRowsPerStampBlock);
    stamps.mark(0, RowRange{8, 8});
    EXPECT_EQ(stamps.written(0, 4), 9u);
    EXPECT_EQ(stamps.written(0, 0), 0u) << "no rows are no write";
}

TEST(ChangeStamps, rows_that_come_count_for_every_column) {
    ChangeStamps stamps(3);
    stamps.reserve(2 * kRowsPerStampBlock);
    stamps.set_now(4);
    stamps.mark_row(kRowsPerStampBlock);
    stamps.set_now(5);
    stamps.mark(2, kRowsPerStampBlock);
    EXPECT_EQ(stamps.written(0, 1), 4u);
    EXPECT_EQ(stamps.written(2, 1), 5u);
    EXPECT_EQ(stamps.written(0, 0), 0u);
}

TEST(ChangeStamps, growing_keeps_what_was_written) {
    ChangeStamps stamps(3);
    stamps.reserve(1);
    stamps.set_now(3);
    for (std::uint32_t c = 0; c < 2; ++c) stamps.mark(c, 0u);
    stamps.reserve(100 * kRowsPerStampBlock);
    EXPECT_GE(stamps.num_blocks(), 100u);
    for (std::uint32_t c = 0; c < 3; ++c) EXPECT_EQ(stamps.written(c, 0), c < 2 ? 3u : 0u);
    for (std::uint32_t block = 1; block < 100; ++block) EXPECT_EQ(stamps.written(0, block), 0u);
}

/// All bytes of the stamps of some rows as they are saved.
std::string saved_bytes(const ChangeStamps& stamps, std::uint32_t num_rows) {
    SavedState state;
    StateWriter to(state);
    stamps.save(to, num_rows);
    std::string bytes;
    for (std::size_t i = 0; i < state.num_parts(); ++i)
        for (const std::byte byte : state.block(state.part(i), 0)) bytes += static_cast<char>(byte);
    return bytes;
}

TEST(ChangeStamps, a_block_that_was_empty_is_saved_as_if_nothing_had_been_in_it) {
    ChangeStamps used(2), loaded(2);
    for (ChangeStamps* stamps : {&used, &loaded}) stamps->reserve(1);
    used.set_now(3);
    used.mark(1, 0u);
    SavedState empty;
    StateWriter to(empty);
    used.save(to, 0);
    StateReader from(empty);
    ASSERT_TRUE(loaded.load(from, 0).ok());
    for (ChangeStamps* stamps : {&used, &loaded}) stamps->set_now(5), stamps->mark_row(0);
    EXPECT_EQ(saved_bytes(used, 1), saved_bytes(loaded, 1));
    for (ChangeStamps* stamps : {&used, &loaded}) stamps->set_now(6), stamps->mark(0, 0u);
    EXPECT_EQ(saved_bytes(used, 1), saved_bytes(loaded, 1));
    EXPECT_EQ(loaded.written(1, 0), 5u);
}

}  // namespace
}  // namespace shoal
