#include "shoal/entity/detail/free_list.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace shoal {
namespace {

constexpr std::size_t kFirstCapacity = kPageBytes / sizeof(Entity);

}  // namespace

Status FreeList::reserve(std::size_t max_ids, std::size_t minimum) {
    // Powers of two, because reserve() may halve the size, and the result must also be a power of two.
    const std::size_t most = std::bit_ceil(std::max(max_ids, kFirstCapacity));
    const std::size_t least = std::min(most, std::bit_ceil(std::max(minimum, kFirstCapacity)));
    if (Status status = slots_.reserve(most, least); !status) return status;
    capacity_ = kFirstCapacity;
    return {};
}

void FreeList::grow(std::size_t num_ids) {
    SHOAL_ASSERT(num_ids <= slots_.capacity(), "more ids are free than there are indices");
    const std::size_t num_wrapped = oldest_ + num_ids_ > capacity_ ? oldest_ + num_ids_ - capacity_ : 0;
    std::memcpy(slots_.data() + capacity_, slots_.data(), num_wrapped * sizeof(Entity));
    num_touched_ = std::max(num_touched_, capacity_ + num_wrapped);
    capacity_ = std::bit_ceil(num_ids);
}

MemoryUse FreeList::memory_use() const {
    return {num_ids_ * sizeof(Entity), round_up(num_touched_ * sizeof(Entity), kPageBytes), slots_.reserved_bytes()};
}

}  // namespace shoal
