#pragma once
// Plain arrays for hand-written references. Their pages are at least as large as shoal's, so that ratios compare code
// and not page sizes.
//
//     shoal                                reference
//     column of a table, row index         PlainColumn: 2 MiB pages throughout
//     generations                          PageArray: 4 KiB pages

#include "harness.h"
#include "shoal/base/detail/page_memory.h"
#include "shoal/base/math.h"
#include "shoal/base/random.h"
#include "shoal/entity/entity.h"

#include <bit>
#include <cstdio>
#include <numeric>
#include <vector>

/// For functions with measured loops. (SHOAL_NOINLINE is for rarely called code, and optimises for size.)
#define SHOAL_BENCH_LOOP __attribute__((noinline))

namespace shoal_bench {

/// A fixed array in 2 MiB pages; zero until written.
template <class T>
class PlainColumn {
public:
    /// `place` must differ between the columns of a table, so that they do not start in the same cache sets.
    PlainColumn(std::size_t capacity, std::size_t place) {
        const std::size_t start = place / 4 % 4 * shoal::kPageBytes + place % 4 * shoal::kCacheLineBytes;
        const std::size_t num_bytes = start + capacity * sizeof(T);
        range_ = need(shoal::reserve_pages(shoal::round_up(num_bytes, shoal::kLargePageBytes), shoal::kLargePageBytes));
        shoal::prefer_large_pages(range_.data, range_.num_bytes);
        data_ = reinterpret_cast<T*>(range_.data + start);
    }
    ~PlainColumn() { shoal::release_pages(range_); }
    PlainColumn(const PlainColumn&) = delete;
    PlainColumn& operator=(const PlainColumn&) = delete;

    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t row) { return data_[row]; }
    const T& operator[](std::size_t row) const { return data_[row]; }

private:
    shoal::PageRange range_;
    T* data_ = nullptr;
};

struct Record {
    std::uint32_t generation = 0;
    std::uint32_t row = 0;
};

template <class T>
shoal::PageArray<T> plain_pages(std::size_t capacity) {
    shoal::PageArray<T> pages;
    need_ok(pages.reserve(capacity, capacity));
    return pages;
}

/// Shuffles `values`. The order depends only on the seed.
template <class T>
void shuffle(std::span<T> values, std::uint64_t seed) {
    shoal::Random random(seed);
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(std::uint32_t(i))]);
}

inline std::vector<std::uint32_t> shuffled_numbers(std::size_t count, std::uint64_t seed) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0u);
    shuffle(std::span(numbers), seed);
    return numbers;
}

/// Returns the resident memory of this process. Units: bytes.
inline double resident_bytes() {
    std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
    if (file == nullptr) fail("/proc/self/smaps_rollup cannot be read");
    char line[256];
    double kibibytes = 0;
    while (std::fgets(line, sizeof line, file) != nullptr)
        if (std::sscanf(line, "Rss: %lf kB", &kibibytes) == 1) break;
    std::fclose(file);
    return kibibytes * 1024;
}

/// The distance that entity number i moves in a second.
inline shoal::Vec3 velocity_of(std::size_t i) { return {float(i % 7), float(i % 5), float(i % 3)}; }

/// For checksums that do not depend on the order of values.
constexpr std::uint64_t mix(std::uint64_t value) { return shoal::Random(value).next(); }
constexpr std::uint64_t bits_of(float value) { return mix(std::bit_cast<std::uint32_t>(value)); }
constexpr std::uint64_t bits_of(shoal::Vec3 value) {
    return bits_of(value.x) + 3 * bits_of(value.y) + 5 * bits_of(value.z);
}

}  // namespace shoal_bench
