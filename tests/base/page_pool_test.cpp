#include "shoal/base/detail/page_memory.h"
#include "shoal/base/random.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace shoal {
namespace {

std::size_t num_resident_bytes(const std::byte* begin, std::size_t num_bytes) {
    std::vector<unsigned char> present(num_bytes / kPageBytes);
    EXPECT_EQ(::mincore(const_cast<std::byte*>(begin), num_bytes, present.data()), 0);
    std::size_t count = 0;
    for (const unsigned char page : present) count += page & 1;
    return count * kPageBytes;
}

/// The expected content of a pool: blocks by address, each filled with its own byte.
class PoolModel {
public:
    explicit PoolModel(PagePool& pool) : pool_(pool) {}

    void allocate(std::size_t num_bytes, std::byte fill) {
        const Result<std::byte*> block = pool_.allocate_block(num_bytes);
        ASSERT_TRUE(block) << block.message();
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(*block) % kCacheLineBytes, 0u);
        const auto next = blocks_.lower_bound(*block);
        if (next != blocks_.end()) {
            ASSERT_LE(*block + num_bytes, next->first) << "it overlaps the next block";
        }
        if (next != blocks_.begin()) {
            const auto before = std::prev(next);
            ASSERT_LE(before->first + before->second.num_bytes, *block) << "it overlaps the block before";
        }
        std::memset(*block, static_cast<int>(fill), num_bytes);
        blocks_[*block] = {num_bytes, fill};
        used_bytes_ += round_up(num_bytes, PagePool::kGranuleBytes);
    }

    void free_one(std::size_t choice) {
        const auto block = std::next(blocks_.begin(), static_cast<std::ptrdiff_t>(choice % blocks_.size()));
        for (std::size_t i = 0; i < block->second.num_bytes; i += 61) ASSERT_EQ(block->first[i], block->second.fill);
        ASSERT_EQ(block->first[block->second.num_bytes - 1], block->second.fill);
        pool_.free_block(block->first, block->second.num_bytes);
        used_bytes_ -= round_up(block->second.num_bytes, PagePool::kGranuleBytes);
        blocks_.erase(block);
    }

    std::size_t num_blocks() const { return blocks_.size(); }
    std::size_t used_bytes() const { return used_bytes_; }

private:
    struct Block {
        std::size_t num_bytes;
        std::byte fill;
    };
    PagePool& pool_;
    std::map<std::byte*, Block> blocks_;
    std::size_t used_bytes_ = 0;
};

TEST(PagePool, blocks_never_overlap_and_keep_their_bytes_under_random_use) {
    const shoal_test::LeakCheck leaks;
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    PagePool pool;
    PoolModel model(pool);
    std::uint32_t wanted = 0;
    for (std::int64_t i = shoal_test::scaled_operations(100000); i > 0; --i) {
        if (i % 5000 == 0) wanted = random.below(600);  // grow and shrink in turns
        if (i % 997 == 0) pool.trim();
        if (model.num_blocks() < wanted + random.below(20)) {
            const std::size_t num_bytes = 1 + random.below(random.below(50) == 0 ? 300'000 : 4000);
            model.allocate(num_bytes, static_cast<std::byte>(random.below(256)));
        } else if (model.num_blocks() > 0) {
            model.free_one(random.below(1u << 20));
        }
        if (HasFatalFailure()) return;
        if (i % 100 == 0) {
            const PagePoolStatistics statistics = pool.statistics();
            ASSERT_EQ(statistics.slab_used_bytes, model.used_bytes());
            ASSERT_GE(statistics.slab_committed_bytes, statistics.slab_used_bytes);
        }
    }
    while (model.num_blocks() > 0) model.free_one(0);
    EXPECT_EQ(pool.statistics().slab_used_bytes, 0u);
}

TEST(PagePool, small_tables_share_a_slab_in_steps_of_256_bytes) {
    PagePool pool;
    std::vector<std::byte*> blocks;
    for (int i = 0; i < 8192; ++i) blocks.push_back(*pool.allocate_block(200));
    EXPECT_EQ(pool.statistics().num_slabs, 1u);
    EXPECT_EQ(pool.statistics().slab_used_bytes, kLargePageBytes);
    blocks.push_back(*pool.allocate_block(1));
    EXPECT_EQ(pool.statistics().num_slabs, 2u);
    for (std::size_t i = 0; i < blocks.size(); ++i) pool.free_block(blocks[i], i < 8192 ? 200 : 1);
}

TEST(PagePool, a_freed_block_makes_room_for_the_next) {
    PagePool pool;
    std::byte* const whole = *pool.allocate_block(PagePool::kMaxBlockBytes);
    pool.free_block(whole, PagePool::kMaxBlockBytes);
    EXPECT_EQ(*pool.allocate_block(PagePool::kMaxBlockBytes), whole);
    EXPECT_EQ(pool.statistics().num_slabs, 1u);
    pool.free_block(whole, PagePool::kMaxBlockBytes);
}

TEST(PagePool, a_slab_that_was_full_is_used_again_when_a_block_of_it_is_freed) {
    constexpr std::size_t kHalf = kLargePageBytes / 2;
    PagePool pool;
    std::byte* halves[4];
    for (std::byte*& half : halves) half = *pool.allocate_block(kHalf);  // for the third, the first slab is searched
    EXPECT_EQ(pool.statistics().num_slabs, 2u);
    pool.free_block(halves[0], kHalf);
    EXPECT_EQ(*pool.allocate_block(kHalf), halves[0]);
    EXPECT_EQ(pool.statistics().num_slabs, 2u);
    for (std::byte* half : halves) pool.free_block(half, kHalf);
}

TEST(PagePool, trim_gives_free_slab_pages_back_after_a_burst) {
    PagePool pool;
    std::vector<std::byte*> blocks;
    for (int i = 0; i < 512; ++i) {
        blocks.push_back(*pool.allocate_block(kPageBytes));
        std::memset(blocks.back(), 1, kPageBytes);
    }
    std::byte* const slab = blocks.front();
    ASSERT_EQ(num_resident_bytes(slab, kLargePageBytes), kLargePageBytes);
    pool.trim();
    EXPECT_EQ(num_resident_bytes(slab, kLargePageBytes), kLargePageBytes) << "pages in use stay";
    for (std::size_t i = 1; i < blocks.size(); ++i) pool.free_block(blocks[i], kPageBytes);
    pool.trim();
    EXPECT_LE(num_resident_bytes(slab, kLargePageBytes), kPageBytes);
    EXPECT_EQ(pool.statistics().slab_committed_bytes, kPageBytes);
    EXPECT_EQ(blocks[0][kPageBytes - 1], std::byte(1));
    pool.free_block(blocks[0], kPageBytes);
}

TEST(PagePool, shared_blocks_never_overlap_and_know_whether_they_are_zero) {
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    struct Block {
        std::byte* data;
        std::size_t num_bytes;
        std::byte fill;
    };
    PagePool pool;
    std::vector<Block> blocks;
    std::size_t num_zero = 0;
    for (std::int64_t i = shoal_test::scaled_operations(2000); i > 0; --i) {
        if (i % 97 == 0) pool.trim();
        if (blocks.size() < 8 && random.below(2) == 0) {
            Block block{nullptr, 1 + random.below(1u << (8 + random.below(16))), std::byte(1 + random.below(255))};
            bool is_zero = false;
            block.data = *pool.allocate_shared(block.num_bytes, &is_zero);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % kCacheLineBytes, 0u);
            for (std::size_t k = 0; is_zero && k < block.num_bytes; k += 499) ASSERT_EQ(block.data[k], std::byte(0));
            num_zero += is_zero;
            std::memset(block.data, static_cast<int>(block.fill), block.num_bytes);
            blocks.push_back(block);
        } else if (!blocks.empty()) {
            std::swap(blocks[random.below(static_cast<std::uint32_t>(blocks.size()))], blocks.back());
            const Block block = blocks.back();
            for (std::size_t k = 0; k < block.num_bytes; k += 499) ASSERT_EQ(block.data[k], block.fill);
            ASSERT_EQ(block.data[block.num_bytes - 1], block.fill);
            pool.free_shared(block.data, block.num_bytes);
            blocks.pop_back();
        }
        ASSERT_LE(pool.statistics().slab_used_bytes, pool.statistics().slab_committed_bytes);
    }
    EXPECT_GT(num_zero, 0u);
    for (const Block& block : blocks) pool.free_shared(block.data, block.num_bytes);
    EXPECT_EQ(pool.statistics().slab_used_bytes, 0u);
    for (int i = 0; i < 3; ++i) pool.trim();
    EXPECT_EQ(pool.statistics().num_slabs, 0u) << "nobody holds any of it";
}

TEST(PagePool, shared_pages_that_no_block_touches_go_after_two_trims) {
    PagePool pool;
    std::byte* const stays = *pool.allocate_shared(kPageBytes);
    std::byte* const goes = *pool.allocate_shared(3 * kLargePageBytes);
    std::memset(stays, 1, kPageBytes);
    std::memset(goes, 1, 3 * kLargePageBytes);
    pool.free_shared(goes, 3 * kLargePageBytes);
    pool.trim();
    EXPECT_EQ(pool.statistics().slab_committed_bytes, 4 * kLargePageBytes) << "the next table may want them";
    pool.trim();
    EXPECT_EQ(pool.statistics().slab_committed_bytes, kLargePageBytes);
    EXPECT_EQ(stays[kPageBytes - 1], std::byte(1));
    pool.free_shared(stays, kPageBytes);
}

TEST(PagePool, a_range_is_aligned_and_new_when_none_is_kept) {
    PagePool pool;
    std::size_t hint = 77;
    const Result<PageRange> range = pool.take_range(3 * kPageBytes, 1, &hint);
    ASSERT_TRUE(range);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range->data) % kLargePageBytes, 0u);
    EXPECT_GE(range->num_bytes, 3 * kPageBytes);
    EXPECT_EQ(hint, 0u);
    pool.give_range(*range, 1, 0, 0);
}

TEST(PagePool, a_kept_range_comes_back_to_its_shape_only_with_its_pages_and_hint) {
    const shoal_test::LeakCheck leaks;
    PagePool pool;
    std::size_t hint = 0;
    const PageRange first = *pool.take_range(8 * kPageBytes, 1, &hint);
    std::memset(first.data, 5, 2 * kPageBytes);
    pool.give_range(first, 1, 2 * kPageBytes, 123);
    EXPECT_EQ(pool.statistics().num_kept_ranges, 1u);
    EXPECT_EQ(pool.statistics().kept_bytes, 2 * kPageBytes);

    const PageRange other = *pool.take_range(8 * kPageBytes, 2, &hint);
    EXPECT_NE(other.data, first.data);
    EXPECT_EQ(hint, 0u);
    const PageRange larger = *pool.take_range(9 * kPageBytes, 1, &hint);
    EXPECT_NE(larger.data, first.data);

    const PageRange again = *pool.take_range(8 * kPageBytes, 1, &hint);
    EXPECT_EQ(again.data, first.data);
    EXPECT_EQ(hint, 123u);
    EXPECT_EQ(again.data[2 * kPageBytes - 1], std::byte(5));
    EXPECT_EQ(pool.statistics().kept_bytes, 0u);
    for (const PageRange& range : {other, larger, again}) pool.give_range(range, 1, 0, 0);
}

TEST(PagePool, keeps_no_more_pages_than_allowed) {
    PagePool pool({.max_kept_bytes = 3 * kPageBytes});
    std::size_t hint = 0;
    const PageRange first = *pool.take_range(kPageBytes, 1, &hint);
    const PageRange second = *pool.take_range(kPageBytes, 1, &hint);
    pool.give_range(first, 1, 2 * kPageBytes, 0);
    pool.give_range(second, 1, 2 * kPageBytes, 0);
    EXPECT_EQ(pool.statistics().num_kept_ranges, 1u);
    EXPECT_EQ(pool.statistics().kept_bytes, 2 * kPageBytes);
}

TEST(PagePool, a_range_that_nobody_takes_is_gone_after_two_trims) {
    PagePool pool;
    std::size_t hint = 0;
    const PageRange range = *pool.take_range(4 * kPageBytes, 1, &hint);
    std::memset(range.data, 1, 4 * kPageBytes);
    pool.give_range(range, 1, 4 * kPageBytes, 0);
    pool.trim();
    EXPECT_EQ(pool.statistics().num_kept_ranges, 1u);
    pool.trim();
    EXPECT_EQ(pool.statistics().num_kept_ranges, 0u);
    EXPECT_EQ(pool.statistics().kept_bytes, 0u);
    unsigned char present = 0;
    EXPECT_EQ(::mincore(range.data, kPageBytes, &present), -1) << "the address space is still mapped";
}

TEST(PageHooks, one_that_throws_is_asked_again_for_the_next_pages) {
    const PageHooks before =
        set_page_hooks({.may_reserve = [](void*, std::size_t) -> bool { throw std::bad_alloc(); }});
    for (int i = 0; i < 2; ++i) EXPECT_THROW(static_cast<void>(reserve_pages(1)), std::bad_alloc);
    set_page_hooks({.may_reserve = [](void*, std::size_t) { return true; }});
    const Result<PageRange> range = reserve_pages(1);
    set_page_hooks(before);
    ASSERT_TRUE(range.ok());
    release_pages(*range);
}

TEST(PagePoolDeathTest, a_foreign_or_empty_block_is_a_bug) {
    PagePool pool;
    std::byte* const block = *pool.allocate_block(256);
    alignas(64) static std::byte foreign[256];
    EXPECT_DEATH(pool.free_block(foreign, 256), "does not belong to this pool");
    EXPECT_DEATH(static_cast<void>(pool.allocate_block(0)), "1 byte to 2 MiB");
    EXPECT_DEATH(static_cast<void>(pool.allocate_block(kLargePageBytes + 1)), "1 byte to 2 MiB");
    pool.free_block(block, 256);
    EXPECT_DEATH(pool.free_block(block, 256), "freed twice");
}

}  // namespace
}  // namespace shoal
