// Stamps and the list of changes alone.

#include "shoal/table/detail/change_stamps.h"

#include "shoal/state/snapshot.h"

#include "shoal/base/random.h"

#include "support/testing.h"

#include <algorithm>
#include <vector>

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
    for (const std::uint32_t more : {0u, 1u, kRowsPerChangeMark, kRowsPerChangeMark + 1}) {
        stamps.set_now(10 + more);
        stamps.mark_rows(RowRange{kRowsPerStampBlock, 2 * kRowsPerStampBlock + more});
        EXPECT_EQ(stamps.written(1, 1), 10 + more);
        EXPECT_EQ(stamps.written(1, 2), more == 0 ? 7u : 10 + more) << "a row of the next block";
        EXPECT_EQ(stamps.placed(3), 0u);
    }
    EXPECT_EQ(stamps.written(0, 4), 9u);
    EXPECT_EQ(stamps.written(0, 0), 0u) << "no rows are no write";
    stamps.set_now(50);
    EXPECT_TRUE(stamps.mark_block(0, RowRange{kRowsPerStampBlock, 2 * kRowsPerStampBlock}));
    EXPECT_EQ(stamps.written(0, 1), 50u);
    EXPECT_FALSE(stamps.mark_block(0, RowRange{kRowsPerStampBlock, 2 * kRowsPerStampBlock + 1}));
    const std::uint16_t first_column = 0;
    EXPECT_TRUE(stamps.mark_only_block(&first_column + 1, 1, kRowsPerStampBlock));
    EXPECT_FALSE(stamps.mark_only_block(&first_column + 1, 1, kRowsPerStampBlock + 1)) << "there are two blocks";
    EXPECT_EQ(stamps.written(0, 0), 50u);
    EXPECT_EQ(stamps.written(0, 3), 0u);
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

TEST(ChangeStamps, recent_writes_are_told_by_eight_rows_and_many_rows_by_their_block) {
    constexpr std::uint32_t kRows = kElementsPerSnapshotBlock;
    ChangeStamps stamps(2);
    stamps.reserve(4 * kRows);
    stamps.set_now(5);
    stamps.mark(0, kRows + 17);
    stamps.set_now(6);
    stamps.mark(0, RowRange{kRows - 1, kRows + 1});
    stamps.mark_row(kRows + 1000);
    EXPECT_EQ(stamps.written_since(0, 1, 5).words[0], 0b101u);
    EXPECT_EQ(stamps.written_since(0, 1, 6).words[0], 0b001u);
    EXPECT_EQ(stamps.written_since(1, 1, 5).words[0], 0u);
    for (const std::uint32_t column : {0u, 1u})
        EXPECT_EQ(stamps.written_since(column, 1, 6).words[1], std::uint64_t(1) << (1000 / 8 - 64));
    EXPECT_EQ(stamps.placed_since(1, 6).count(), 1u);
    EXPECT_TRUE(stamps.written_since(0, 0, 6).has(SnapshotMarks::kCount - 1));
    EXPECT_EQ(stamps.written_since(0, 0, 6).count(), 1u);
    EXPECT_TRUE(stamps.written_since(0, 1, 7).is_empty());
    stamps.mark(1, RowRange{2 * kRows, 3 * kRows - 1});
    EXPECT_EQ(stamps.written_since(1, 2, 6).count(), SnapshotMarks::kCount);
    EXPECT_TRUE(stamps.written_since(1, 3, 6).is_empty());
    stamps.mark(1, RowRange{3 * kRows + kRowsPerStampBlock, 3 * kRows + 2 * kRowsPerStampBlock});
    const SnapshotMarks one_block = stamps.written_since(1, 3, 6);
    constexpr std::size_t kMarks = kRowsPerStampBlock / kRowsPerChangeMark;
    EXPECT_EQ(one_block.count(), kMarks);
    EXPECT_TRUE(one_block.has(kMarks) && one_block.has(2 * kMarks - 1));
}

TEST(ChangeStamps, marks_and_stamps_tell_what_a_stamp_of_each_row_would) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal::Random random(shoal_test::seed());
    constexpr std::uint32_t kNumRows = kElementsPerSnapshotBlock + kRowsPerStampBlock + 100, kNumColumns = 2;
    constexpr std::uint32_t kMarks = kRowsPerStampBlock / kRowsPerChangeMark;
    ChangeStamps stamps(kNumColumns);
    stamps.reserve(kNumRows);
    std::vector<std::vector<std::uint64_t>> naive(kNumColumns, std::vector<std::uint64_t>(kNumRows, 0));
    std::vector<std::uint64_t> placed(kNumRows, 0);
    std::uint64_t now = 1;
    for (std::int64_t i = shoal_test::scaled_operations(50'000); i > 0; --i) {
        const std::uint32_t c = random.below(kNumColumns), row = random.below(kNumRows), dice = random.below(16);
        const RowRange rows{row, std::min(row + 1 + random.below(40), kNumRows)};
        const bool is_in_marks =  // blocks are not written from their first row on
            row % kRowsPerStampBlock >= kRowsPerChangeMark &&
            row / kRowsPerStampBlock == (rows.end - 1) / kRowsPerStampBlock;
        const auto write = [&](std::vector<std::uint64_t>& to) {
            std::fill(to.begin() + rows.begin, to.begin() + rows.end, now);
        };
        if (dice < 4) stamps.mark(c, row), naive[c][row] = now;
        if (dice == 4 && is_in_marks) stamps.mark(c, rows), write(naive[c]);
        if (dice == 5) stamps.mark_row(row), placed[row] = now;
        if (dice == 6 && is_in_marks) stamps.mark_rows(rows), write(placed);
        if (dice == 7) stamps.set_now(now += random.below(30) == 0 ? random.below(600) : random.below(3));
        const std::uint32_t block = random.below(6), begin = block * kRowsPerStampBlock;
        if (dice == 8 && block < 5 && random.below(8) == 0) {  // the whole block
            const RowRange all{begin, begin + kRowsPerStampBlock};
            std::vector<std::uint64_t>& to = random.below(2) == 0 ? placed : naive[c];
            &to == &placed ? stamps.mark_rows(all) : stamps.mark(c, all);
            std::fill(to.begin() + all.begin, to.begin() + all.end, now);
        }
        const std::uint32_t snapshot_block = begin / kElementsPerSnapshotBlock;
        const std::uint32_t first_mark = begin % kElementsPerSnapshotBlock / kRowsPerChangeMark;
        const std::uint64_t since = now - std::min<std::uint64_t>(now, random.below(200));
        const SnapshotMarks marks = stamps.written_since(c, snapshot_block, since);
        std::uint64_t last = 0;
        for (std::uint32_t mark = 0; mark < kMarks; ++mark) {
            std::uint64_t written = 0;
            for (std::uint32_t k = 0; k < kRowsPerChangeMark; ++k)
                if (const std::uint32_t at = begin + mark * kRowsPerChangeMark + k; at < kNumRows)
                    written = std::max({written, naive[c][at], placed[at]});
            last = std::max(last, written);
            const bool must_tell = written >= since && written != 0, must_not = written < since && since + 127 >= now;
            ASSERT_TRUE(!must_tell || marks.has(first_mark + mark)) << "written at " << written;
            ASSERT_FALSE(must_not && marks.has(first_mark + mark)) << "not since " << written;
        }
        ASSERT_EQ(stamps.written(c, block), last);
    }
}

/// All bytes of the stamps of some rows as they are saved.
std::string saved_bytes(const ChangeStamps& stamps, std::uint32_t num_rows) {
    Snapshot state;
    SnapshotWriter to(state);
    stamps.save(to, num_rows);
    std::string bytes;
    Array<std::byte> room{Owner("test")};
    for (std::size_t i = 0; i < state.num_parts(); ++i)
        for (const std::byte byte : state.block(state.part(i), 0, room)) bytes += static_cast<char>(byte);
    return bytes;
}

TEST(ChangeStamps, a_block_that_was_empty_is_saved_as_if_nothing_had_been_in_it) {
    ChangeStamps used(2), loaded(2);
    for (ChangeStamps* stamps : {&used, &loaded}) stamps->reserve(1);
    used.set_now(3);
    used.mark(1, 0u);
    Snapshot empty;
    SnapshotWriter to(empty);
    used.save(to, 0);
    SnapshotReader from(empty);
    ASSERT_TRUE(loaded.load(from, 0).ok());
    for (ChangeStamps* stamps : {&used, &loaded}) stamps->set_now(5), stamps->mark_row(0);
    EXPECT_EQ(saved_bytes(used, 1), saved_bytes(loaded, 1));
    for (ChangeStamps* stamps : {&used, &loaded}) stamps->set_now(6), stamps->mark(0, 0u);
    EXPECT_EQ(saved_bytes(used, 1), saved_bytes(loaded, 1));
    EXPECT_EQ(loaded.written(1, 0), 5u);
}

}  // namespace
}  // namespace shoal
