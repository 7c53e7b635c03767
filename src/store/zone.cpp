#include "shoal/store/zone.h"

#include "shoal/base/assert.h"

#include <algorithm>
#include <bit>

namespace shoal {

void ZoneSet::insert(Zone zone) { insert_range(zone, zone + 1); }

void ZoneSet::insert_range(Zone begin, Zone end) {
    SHOAL_ASSERT(begin <= end && end <= kMaxZones, "zones are 0 to kMaxZones - 1");
    if (begin == end) return;
    if (words_.size() < (end + 63) / 64) words_.resize((end + 63) / 64, 0);
    for (Zone zone = begin; zone < end;) {
        const Zone step = std::min(end - zone, 64 - zone % 64);
        const std::uint64_t bits = step == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << step) - 1;
        words_[zone / 64] |= bits << (zone % 64);
        zone += step;
    }
}

void ZoneSet::insert(const ZoneSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size(), 0);
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
}

std::uint32_t ZoneSet::size() const {
    std::uint32_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::uint32_t>(std::popcount(word));
    return count;
}

bool operator==(const ZoneSet& a, const ZoneSet& b) {
    const std::size_t common = std::min(a.words_.size(), b.words_.size());
    const auto is_zero = [](std::uint64_t word) { return word == 0; };
    return std::equal(a.words_.begin(), a.words_.begin() + static_cast<std::ptrdiff_t>(common), b.words_.begin()) &&
           std::all_of(a.words_.begin() + static_cast<std::ptrdiff_t>(common), a.words_.end(), is_zero) &&
           std::all_of(b.words_.begin() + static_cast<std::ptrdiff_t>(common), b.words_.end(), is_zero);
}

}  // namespace shoal
