#include "shoal/base/detail/page_memory.h"
#include "support/address_space.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>

#include <sys/mman.h>
#include <sys/resource.h>

namespace shoal {
namespace {

using shoal_test::kSanitized;
using shoal_test::with_address_space;

constexpr std::size_t kMegabyte = std::size_t(1) << 20;

std::size_t num_resident_pages(const std::byte* begin, std::size_t num_bytes) {
    std::string present(num_bytes / kPageBytes, '\0');
    EXPECT_EQ(::mincore(const_cast<std::byte*>(begin), num_bytes, reinterpret_cast<unsigned char*>(present.data())), 0);
    std::size_t count = 0;
    for (const char page : present) count += page & 1;
    return count;
}

bool is_aligned(const std::byte* address, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

TEST(Pages, a_range_is_aligned_zero_and_costs_only_what_is_written) {
    Result<PageRange> range = reserve_pages(256 * kMegabyte + 1);
    ASSERT_TRUE(range) << range.message();
    EXPECT_EQ(range->num_bytes, 256 * kMegabyte + kPageBytes);
    EXPECT_TRUE(is_aligned(range->data, kPageBytes));
    EXPECT_EQ(num_resident_pages(range->data, 16 * kMegabyte), 0u);
    EXPECT_EQ(range->data[12345], std::byte(0));
    range->data[5 * kPageBytes] = std::byte(1);
    EXPECT_GE(num_resident_pages(range->data, kPageBytes * 16), 1u);
    release_pages(*range);
}

TEST(Pages, a_range_has_the_alignment_asked_for_and_its_whole_size_can_be_used) {
    for (std::size_t alignment = kPageBytes; alignment <= 16 * kMegabyte; alignment *= 2) {
        Result<PageRange> range = reserve_pages(3 * kPageBytes, alignment);
        ASSERT_TRUE(range) << range.message();
        EXPECT_TRUE(is_aligned(range->data, alignment));
        EXPECT_EQ(range->num_bytes, 3 * kPageBytes);
        std::memset(range->data, 0xFF, range->num_bytes);
        release_pages(*range);
    }
}

TEST(Pages, discarded_pages_read_as_zero_and_give_their_memory_back) {
    Result<PageRange> range = reserve_pages(64 * kPageBytes);
    ASSERT_TRUE(range);
    std::memset(range->data, 7, range->num_bytes);
    EXPECT_EQ(num_resident_pages(range->data, range->num_bytes), 64u);
    discard_pages(range->data + 8 * kPageBytes, 16 * kPageBytes);
    EXPECT_EQ(num_resident_pages(range->data, range->num_bytes), 48u);
    EXPECT_EQ(range->data[8 * kPageBytes - 1], std::byte(7));
    EXPECT_EQ(range->data[8 * kPageBytes], std::byte(0));
    EXPECT_EQ(range->data[24 * kPageBytes - 1], std::byte(0));
    EXPECT_EQ(range->data[24 * kPageBytes], std::byte(7));
    release_pages(*range);
}

TEST(Pages, asking_for_large_pages_changes_no_content) {
    Result<PageRange> range = reserve_pages(2 * kLargePageBytes, kLargePageBytes);
    ASSERT_TRUE(range);
    std::memset(range->data, 3, kPageBytes);
    prefer_large_pages(range->data, range->num_bytes);
    EXPECT_EQ(range->data[kPageBytes - 1], std::byte(3));
    EXPECT_EQ(range->data[kPageBytes], std::byte(0));
    release_pages(*range);
}

TEST(Pages, nothing_can_be_released_and_discarded) {
    release_pages({});
    discard_pages(nullptr, 0);
    prefer_large_pages(nullptr, 0);
}

TEST(Pages, a_size_beyond_the_address_space_is_a_status) {
    for (const std::size_t num_bytes : {std::size_t(1) << 60, ~std::size_t(0), ~std::size_t(0) - kLargePageBytes}) {
        const Result<PageRange> range = reserve_pages(num_bytes, kLargePageBytes);
        EXPECT_FALSE(range);
        EXPECT_NE(range.message().find("cannot reserve"), std::string_view::npos) << range.message();
    }
}

TEST(PageArray, is_zero_until_written_and_never_moves) {
    PageArray<std::uint32_t> numbers;
    ASSERT_TRUE(numbers.reserve(10'000'000, 1));
    EXPECT_EQ(numbers.capacity(), 10'000'000u);
    EXPECT_GE(numbers.reserved_bytes(), 40'000'000u);
    const std::uint32_t* const data = numbers.data();
    EXPECT_EQ(numbers[0], 0u);
    EXPECT_EQ(numbers[9'999'999], 0u);
    numbers[9'999'999] = 5;
    EXPECT_EQ(numbers.data(), data);
    EXPECT_EQ(data[9'999'999], 5u);
}

TEST(PageArray, moving_takes_the_memory_along) {
    PageArray<int> first;
    ASSERT_TRUE(first.reserve(100, 100));
    first[3] = 7;
    PageArray<int> second = std::move(first);
    EXPECT_EQ(second[3], 7);
    EXPECT_EQ(second.capacity(), 100u);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(first.capacity(), 0u);
    first = std::move(second);
    EXPECT_EQ(first[3], 7);
    PageArray<int>& alias = first;
    first = std::move(alias);
    EXPECT_EQ(first[3], 7);
}

TEST(PageArray, discard_gives_back_whole_pages_inside_the_elements_only) {
    struct Wide {
        std::uint64_t words[3];
    };
    PageArray<Wide> rows;
    constexpr std::size_t kRows = 10000;
    ASSERT_TRUE(rows.reserve(kRows, kRows));
    for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{100, 5000}, {0, 1}, {9000, kRows}, {7, 7}}) {
        for (std::size_t i = 0; i < kRows; ++i) rows[i].words[0] = rows[i].words[2] = i + 1;
        rows.discard(begin, end);
        for (std::size_t i = 0; i < kRows; ++i) {
            if (i >= begin && i < end) continue;
            ASSERT_EQ(rows[i].words[0], i + 1);
            ASSERT_EQ(rows[i].words[2], i + 1);
        }
        const std::size_t num_bytes = rows.reserved_bytes();
        const std::size_t resident = num_resident_pages(reinterpret_cast<std::byte*>(rows.data()), num_bytes);
        const std::size_t num_discarded = (end - begin) * sizeof(Wide) / kPageBytes;
        EXPECT_LE(resident, num_bytes / kPageBytes - num_discarded + 1);
    }
}

TEST(PageArrayDeathTest, is_reserved_once) {
    PageArray<int> numbers;
    ASSERT_TRUE(numbers.reserve(1, 1));
    EXPECT_DEATH(static_cast<void>(numbers.reserve(1, 1)), "reserved once");
}

TEST(PageArrayDeathTest, the_minimum_is_not_above_the_capacity) {
    PageArray<int> numbers;
    EXPECT_DEATH(static_cast<void>(numbers.reserve(1, 2)), "minimum");
}

TEST(PageArray, a_capacity_whose_bytes_overflow_is_halved_like_any_other) {
    PageArray<std::uint64_t> numbers;
    ASSERT_TRUE(numbers.reserve(std::numeric_limits<std::size_t>::max() / 4, 1000));
    EXPECT_GE(numbers.capacity(), 1000u);
    EXPECT_GE(numbers.reserved_bytes() / sizeof(std::uint64_t), numbers.capacity());
    numbers[numbers.capacity() - 1] = 1;
}

TEST(PageArray, where_address_space_is_limited_a_reservation_is_halved_to_a_small_part_of_what_is_left) {
    if (kSanitized) GTEST_SKIP() << "the sanitizer itself needs the address space";
    const int result = with_address_space(100 * kMegabyte, [] {
        PageArray<std::byte> bytes;
        if (!bytes.reserve(1024 * kMegabyte, kMegabyte)) return 1;
        if (bytes.capacity() != 2 * kMegabyte) return 2;  // 1024, 512 ... 4 are more than a 32nd
        bytes[bytes.capacity() - 1] = std::byte(1);
        return 0;
    });
    EXPECT_EQ(result, 0);
}

TEST(PageArray, the_minimum_itself_is_tried_last) {
    if (kSanitized) GTEST_SKIP() << "the sanitizer itself needs the address space";
    const int result = with_address_space(100 * kMegabyte, [] {
        PageArray<std::byte> bytes;
        if (!bytes.reserve(1024 * kMegabyte, 70 * kMegabyte)) return 1;
        return bytes.capacity() == 70 * kMegabyte ? 0 : 2;
    });
    EXPECT_EQ(result, 0);
}

TEST(PageArray, when_not_even_the_minimum_fits_there_is_a_status_and_nothing_is_held) {
    if (kSanitized) GTEST_SKIP() << "the sanitizer itself needs the address space";
    const int result = with_address_space(100 * kMegabyte, [] {
        PageArray<std::byte> bytes;
        const Status status = bytes.reserve(1024 * kMegabyte, 200 * kMegabyte);
        if (status || bytes.capacity() != 0 || bytes.data() != nullptr) return 1;
        return status.message().find("209715200 bytes of address space") != std::string_view::npos ? 0 : 2;
    });
    EXPECT_EQ(result, 0);
}

TEST(Pages, the_message_names_the_limit_that_was_struck) {
    if (kSanitized) GTEST_SKIP() << "the sanitizer itself needs the address space";
    // Body for a child whose limit is small.
    const auto names = [](const char* limit) {
        const Result<PageRange> range = reserve_pages(1024 * kMegabyte);
        return range || range.message().find(limit) == std::string_view::npos ? 1 : 0;
    };
    EXPECT_EQ(with_address_space(100 * kMegabyte, [&] { return names("(ulimit -v)"); }), 0);
    const auto with_data = [&] {
        const rlimit limit{200 * kMegabyte, 200 * kMegabyte};
        return ::setrlimit(RLIMIT_DATA, &limit) == 0 ? names("(ulimit -d)") : 99;
    };
    EXPECT_EQ(with_address_space(std::size_t(1) << 40, with_data), 0);
}

TEST(PageHooks, a_program_may_refuse_a_reservation_and_is_asked_with_its_bytes) {
    struct Budget {
        std::size_t num_left = 100 * kMegabyte, num_asked = 0;
    } budget;
    const PageHooks before = set_page_hooks({[](void* context, std::size_t num_bytes) {
                                                 auto& self = *static_cast<Budget*>(context);
                                                 ++self.num_asked;
                                                 if (num_bytes > self.num_left) return false;
                                                 self.num_left -= num_bytes;
                                                 return true;
                                             },
                                             &budget});
    const Result<PageRange> fits = reserve_pages(60 * kMegabyte), too_much = reserve_pages(60 * kMegabyte);
    PageArray<std::byte> halved;
    const Status status = halved.reserve(64 * kMegabyte, kMegabyte);
    EXPECT_EQ(set_page_hooks(before).context, &budget);
    ASSERT_TRUE(fits.ok());
    release_pages(*fits);
    EXPECT_EQ(too_much.message(),
              "the program's page hooks do not allow 62914560 more bytes of address space; raise its budget or lower "
              "the capacity");
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(halved.capacity(), 32 * kMegabyte);
    EXPECT_EQ(budget.num_left, 8 * kMegabyte);
    const Result<PageRange> later = reserve_pages(200 * kMegabyte);
    ASSERT_TRUE(later.ok());
    release_pages(*later);
    EXPECT_EQ(budget.num_asked, 4u);
}

}  // namespace
}  // namespace shoal
