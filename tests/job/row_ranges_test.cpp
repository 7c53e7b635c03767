#include "shoal/job/row_ranges.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace shoal {
namespace {

std::vector<RowRange> ranges(const RowCuts& cuts) {
    std::vector<RowRange> result;
    for (std::uint32_t chunk = 0; chunk < cuts.num_chunks; ++chunk) result.push_back(cuts.range(chunk));
    return result;
}

void expect_sound(const RowCuts& cuts, std::uint32_t num_rows, std::uint32_t granularity) {
    ASSERT_LE(cuts.num_chunks, kMostChunks);
    std::uint32_t expected_begin = 0;
    for (const RowRange range : ranges(cuts)) {
        ASSERT_EQ(range.begin, expected_begin) << "chunks follow one another";
        ASSERT_EQ(range.begin % granularity, 0u) << "no two chunks share a cache line";
        ASSERT_GT(range.end, range.begin);
        expected_begin = range.end;
    }
    ASSERT_EQ(expected_begin, num_rows) << "every row is in a chunk";
}

// req: E12
TEST(RowCuts, chunks_cover_all_rows_once_and_share_no_cache_line) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(20'000); ++i) {
        const std::uint32_t num_rows = static_cast<std::uint32_t>(random.next()) >> random.below(32);
        const std::uint32_t granularity = random.below(2) == 0 ? kByteGranularity : kBitGranularity;
        const std::uint32_t least_rows = 1 + random.below(10'000);
        expect_sound(cut_rows(num_rows, granularity, least_rows), num_rows, granularity);
        if (::testing::Test::HasFatalFailure()) FAIL() << num_rows << ' ' << granularity << ' ' << least_rows;
    }
    for (const std::uint32_t num_rows : {0u, 1u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 1u << 22, 1u << 31, ~0u})
        for (const std::uint32_t least_rows : {1u, 4096u, ~0u})
            expect_sound(cut_rows(num_rows, kByteGranularity, least_rows), num_rows, kByteGranularity);
}

TEST(RowCuts, small_loops_are_one_chunk_and_large_ones_are_many) {
    EXPECT_EQ(cut_rows(0).num_chunks, 0u);
    EXPECT_EQ(cut_rows(1).num_chunks, 1u);
    EXPECT_EQ(cut_rows(kUsualRowsPerChunk).num_chunks, 1u);
    EXPECT_EQ(cut_rows(kUsualRowsPerChunk + 1).num_chunks, 2u);
    EXPECT_EQ(cut_rows(1'000'000).num_chunks, 245u);
    EXPECT_EQ(cut_rows(1u << 22).num_chunks, kMostChunks);
    EXPECT_EQ(cut_rows(1000, kByteGranularity, 1).num_chunks, 16u) << "a heavy pass is cut finer";
}

TEST(ForRows, visits_every_row_once_with_the_same_cuts_for_any_number_of_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    SerialExecutor serial;
    for (int round = 0; round < 20; ++round) {
        const std::uint32_t num_rows = random.below(200'000);
        const std::vector<RowRange> expected = ranges(cut_rows(num_rows));
        for (unsigned num_workers = 0; num_workers <= 5; ++num_workers) {
            const auto threaded = num_workers == 0 ? nullptr : std::make_unique<shoal::ThreadedExecutor>(num_workers);
            Executor& executor = threaded == nullptr ? static_cast<Executor&>(serial) : *threaded;
            std::vector<std::uint8_t> visits(num_rows);  // not atomic: each row belongs to one chunk
            std::vector<RowRange> seen(expected.size());
            std::atomic<std::uint32_t> highest_worker{0};
            for_rows(executor, num_rows, kByteGranularity, [&](RowRange rows, std::uint32_t worker) {
                for (std::uint32_t row = rows.begin; row < rows.end; ++row) ++visits[row];
                seen[rows.begin / cut_rows(num_rows).rows_per_chunk] = rows;
                for (std::uint32_t before = highest_worker; before < worker;)
                    if (highest_worker.compare_exchange_weak(before, worker)) break;
            });
            ASSERT_EQ(visits, std::vector<std::uint8_t>(num_rows, 1));
            ASSERT_EQ(seen, expected);
            ASSERT_LT(highest_worker, executor.num_workers());
        }
    }
}

TEST(ForRows, a_small_loop_stays_on_the_calling_thread) {
    const auto executor = std::make_unique<shoal::ThreadedExecutor>(3);
    std::thread::id thread;
    for_rows(*executor, 100, kByteGranularity, [&](RowRange rows, std::uint32_t worker) {
        thread = std::this_thread::get_id();
        EXPECT_EQ(rows, (RowRange{0, 100}));
        EXPECT_EQ(worker, 0u);
    });
    EXPECT_EQ(thread, std::this_thread::get_id());
    for_rows(*executor, 0, kByteGranularity, [&](RowRange, std::uint32_t) { FAIL() << "there are no rows"; });
}

TEST(ForRows, sums_what_workers_collect) {
    const auto executor = std::make_unique<shoal::ThreadedExecutor>(4);
    constexpr std::uint32_t kRows = 1'000'003;
    struct alignas(64) Sum {
        std::uint64_t value = 0;
    };
    std::vector<Sum> sums(executor->num_workers());
    for_rows(*executor, kRows, kByteGranularity, [&](RowRange rows, std::uint32_t worker) {
        for (std::uint32_t row = rows.begin; row < rows.end; ++row) sums[worker].value += row;
    });
    std::uint64_t total = 0;
    for (const Sum& sum : sums) total += sum.value;
    EXPECT_EQ(total, std::uint64_t(kRows) * (kRows - 1) / 2);
}

}  // namespace
}  // namespace shoal
