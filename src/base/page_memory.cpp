#include "shoal/base/detail/page_memory.h"

#include "base/fixed_bit_set.h"
#include "base/flag_scope.h"
#include "base/os.h"
#include "base/shared_pages.h"
#include "shoal/base/detail/large_pages.h"
#include "shoal/base/text.h"

#include <utility>

namespace shoal {
namespace {

constexpr std::size_t kGranulesPerSlab = kLargePageBytes / PagePool::kGranuleBytes;
constexpr std::size_t kGranulesPerPage = kPageBytes / PagePool::kGranuleBytes;
constexpr std::size_t kPagesPerSlab = kLargePageBytes / kPageBytes;
constexpr std::uint32_t kKeptTrims = 2;  // a range that is not reused within this many trims is freed

constinit PageHooks g_page_hooks;

bool may_reserve(std::size_t num_bytes) {
    thread_local bool is_asking = false;
    if (g_page_hooks.may_reserve == nullptr) return true;
    SHOAL_ASSERT(!is_asking,
                 "a page hook made a call that reserves pages, which asks the hook again; it only counts bytes");
    const FlagScope scope(is_asking);
    return g_page_hooks.may_reserve(g_page_hooks.context, num_bytes);
}

constexpr std::size_t kShareOfOne = 32;  // a table or an index may take 1/32 of the remaining space
constexpr std::size_t kShareOfMany = 4;  // memory for many tables may take 1/4

/// If the process has a memory limit, no reservation may take most of the remaining space. Otherwise the first tables
/// would reserve it for rows that may never exist, and leave none for later tables.
bool is_modest(std::size_t num_bytes, std::size_t share) {
    return num_bytes <= kLargePageBytes || num_bytes <= os::left_address_space() / share;
}

}  // namespace

PageHooks set_page_hooks(const PageHooks& hooks) { return std::exchange(g_page_hooks, hooks); }

Result<PageRange> reserve_pages(std::size_t num_bytes, std::size_t alignment) {
    const std::size_t asked_bytes = num_bytes;
    num_bytes = round_up(num_bytes == 0 ? 1 : num_bytes, kPageBytes);
    const std::size_t slack = alignment > kPageBytes ? alignment : 0;
    const bool overflows = num_bytes < asked_bytes || num_bytes + slack < num_bytes;
    if (!overflows && !may_reserve(num_bytes + slack))
        return Status::error(concat("the program's page hooks do not allow ", asked_bytes,
                                    " more bytes of address space; raise its budget or lower the capacity"));
    auto* data = overflows ? nullptr : static_cast<std::byte*>(os::reserve(num_bytes + slack));
    if (data == nullptr)
        return Status::error(concat("cannot reserve ", asked_bytes, " bytes of address space; raise ",
                                    os::limit_of_reserve(num_bytes + slack), " or lower the capacity"));
    if (slack != 0) {
        // Keep only the aligned part of the reservation.
        const auto address = reinterpret_cast<std::uintptr_t>(data);
        const std::size_t head = round_up(address, alignment) - address;
        if (head != 0) os::release(data, head);
        if (slack != head) os::release(data + head + num_bytes, slack - head);
        data += head;
    }
    return PageRange{data, num_bytes};
}

Status reserve_elements(PageRange& range, std::size_t& num_reserved, std::size_t element_bytes, std::size_t capacity,
                        std::size_t minimum) {
    SHOAL_ASSERT(range.data == nullptr, "a PageArray is reserved once");
    SHOAL_ASSERT(minimum <= capacity, "the minimum of a PageArray is at most its capacity");
    constexpr std::size_t kMaxBytes = ~std::size_t(0);
    for (;; capacity = capacity / 2 < minimum ? minimum : capacity / 2) {
        const bool overflows = capacity > kMaxBytes / element_bytes;
        if (capacity > minimum && !overflows && !is_modest(capacity * element_bytes, kShareOfOne)) continue;
        Result<PageRange> reserved = reserve_pages(overflows ? kMaxBytes : capacity * element_bytes);
        if (reserved) {
            range = *reserved;
            num_reserved = capacity;
            return {};
        }
        if (capacity <= minimum) return reserved.status();
    }
}

void release_pages(PageRange range) {
    if (range.data != nullptr) os::release(range.data, range.num_bytes);
}

void discard_pages(std::byte* begin, std::size_t num_bytes) {
    if (num_bytes != 0) os::discard(begin, num_bytes);
}

void prefer_large_pages(std::byte* begin, std::size_t num_bytes) {
    if (num_bytes != 0) os::prefer_large_pages(begin, num_bytes);
}

void prefer_small_pages(std::byte* begin, std::size_t num_bytes) {
    if (num_bytes != 0) os::prefer_small_pages(begin, num_bytes);
}

/// 2 MiB of address space that small tables share.
struct PagePool::Slab {
    PageRange range;
    std::size_t num_used = 0;           // granules that blocks occupy
    std::size_t longest_free_hint = 0;  // upper bound of the longest free run; exact after a failed search
    FixedBitSet<kGranulesPerSlab> used;
    FixedBitSet<kPagesPerSlab> committed;  // pages that a block has covered since they were last discarded

    /// Discards committed pages that no block overlaps.
    void discard_free_pages() {
        for (std::size_t page = committed.find(0, true); page < kPagesPerSlab; page = committed.find(page + 1, true)) {
            const std::size_t first = page * kGranulesPerPage;
            if (used.find(first, true) < first + kGranulesPerPage) continue;
            discard_pages(range.data + page * kPageBytes, kPageBytes);
            committed.set(page, page + 1, false);
        }
    }
};

PagePool::PagePool(const PagePoolOptions& options) : options_(options) {}

PagePool::~PagePool() {
    for (Slab* slab : slabs_) {
        SHOAL_ASSERT(slab->num_used == 0, "a page pool must outlive the tables that it serves");
        release_pages(slab->range);
        destroy_owned("page pool", slab);
    }
    for (SharedRange* shared : shared_) {
        SHOAL_ASSERT(shared->is_empty(), "a page pool must outlive the tables that it serves");
        delete_shared(shared);
    }
    for (const KeptRange& kept : kept_) release_pages(kept.range);
}

void PagePool::delete_shared(SharedRange* shared) {
    release_pages(shared->range);
    destroy_owned("page pool", shared);
}

Result<std::byte*> PagePool::allocate_block(std::size_t num_bytes) {
    SHOAL_ASSERT(num_bytes > 0 && num_bytes <= kMaxBlockBytes, "a slab block has 1 byte to 2 MiB");
    const std::size_t length = round_up(num_bytes, kGranuleBytes) / kGranuleBytes;
    for (std::size_t tried = 0; tried <= slabs_.size(); ++tried) {
        if (tried == slabs_.size()) {
            Result<PageRange> range = reserve_pages(kLargePageBytes, kLargePageBytes);
            if (!range) return range.status();
            Slab* const slab = make_owned<Slab>("page pool");
            slab->range = *range;
            slab->longest_free_hint = kGranulesPerSlab;
            next_slab_ = slabs_.size();
            slabs_.push_back(slab);
        }
        Slab& slab = *slabs_[next_slab_];
        if (slab.longest_free_hint >= length) {
            const std::size_t begin = slab.used.find_clear_run(length);
            if (begin < kGranulesPerSlab) {
                slab.used.set(begin, begin + length, true);
                slab.num_used += length;
                slab.committed.set(begin / kGranulesPerPage, (begin + length - 1) / kGranulesPerPage + 1, true);
                return slab.range.data + begin * kGranuleBytes;
            }
            slab.longest_free_hint = length - 1;
        }
        next_slab_ = next_slab_ + 1 < slabs_.size() ? next_slab_ + 1 : 0;
    }
    return Status::error("no slab has room");  // unreachable: a new slab always has room
}

PagePool::Slab* PagePool::find_slab(const std::byte* block) {
    for (Slab* slab : slabs_)
        if (block >= slab->range.data && block < slab->range.data + slab->range.num_bytes) return slab;
    return nullptr;
}

void PagePool::free_block(std::byte* block, std::size_t num_bytes) {
    Slab* slab = find_slab(block);
    SHOAL_ASSERT(slab != nullptr, "the block does not belong to this pool");
    const std::size_t begin = static_cast<std::size_t>(block - slab->range.data) / kGranuleBytes;
    const std::size_t length = round_up(num_bytes, kGranuleBytes) / kGranuleBytes;
    const std::size_t end = begin + length;
    SHOAL_ASSERT(length > 0 && end <= kGranulesPerSlab && slab->used.get(begin) && slab->used.get(end - 1),
                 "the block is not held by a table; it may have been freed twice");
    slab->used.set(begin, end, false);
    slab->num_used -= length;
    slab->longest_free_hint = kGranulesPerSlab;
}

Result<std::byte*> PagePool::allocate_shared(std::size_t num_bytes, bool* is_zero) {
    SHOAL_ASSERT(num_bytes > 0 && num_bytes <= kMaxSharedBytes, "a shared block has 1 byte to 16 MiB");
    // Stagger the blocks, so that the first rows of all tables are not in the same cache sets.
    const std::size_t stagger = num_shared_++ % (kPageBytes / kGranuleBytes) * kGranuleBytes;
    bool zero = true;
    std::byte* block = nullptr;
    for (std::size_t i = 0; block == nullptr && i < shared_.size(); ++i)
        block = shared_[i]->allocate(stagger, num_bytes, &zero);
    if (block == nullptr) {
        if (!is_modest(SharedRange::kBytes, kShareOfMany)) return Status::error("there is little address space left");
        Result<PageRange> range = reserve_pages(SharedRange::kBytes, kLargePageBytes);
        if (!range) return range.status();
        prefer_large_pages(range->data, range->num_bytes);
        shared_.push_back(make_owned<SharedRange>("page pool"));
        shared_.back()->range = *range;
        block = shared_.back()->allocate(stagger, num_bytes, &zero);
    }
    if (is_zero != nullptr) *is_zero = zero;
    return block;
}

void PagePool::free_shared(std::byte* block, std::size_t num_bytes) {
    for (SharedRange* shared : shared_)
        if (shared->contains(block)) return shared->free(block, num_bytes);
    SHOAL_ASSERT(false, "the block does not belong to this pool");
}

Result<PageRange> PagePool::take_range(std::size_t num_bytes, std::uint64_t shape, std::size_t* hint) {
    *hint = 0;
    for (std::size_t i = kept_.size(); i-- > 0;) {
        if (kept_[i].shape != shape || kept_[i].range.num_bytes < num_bytes) continue;
        const KeptRange kept = kept_[i];
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
        kept_bytes_ -= kept.committed_bytes;
        *hint = kept.hint;
        return kept.range;
    }
    if (!is_modest(num_bytes, kShareOfOne))
        return Status::error("it is too large a part of the address space that is left");
    return reserve_pages(num_bytes, kLargePageBytes);
}

void PagePool::give_range(PageRange range, std::uint64_t shape, std::size_t committed_bytes, std::size_t hint) {
    if (kept_bytes_ + committed_bytes > options_.max_kept_bytes) {
        release_pages(range);
        return;
    }
    kept_.push_back({range, shape, committed_bytes, hint, 0});
    kept_bytes_ += committed_bytes;
}

void PagePool::trim() {
    std::size_t num_left = 0;
    for (KeptRange& kept : kept_) {
        if (++kept.age < kKeptTrims) {
            kept_[num_left++] = kept;
            continue;
        }
        kept_bytes_ -= kept.committed_bytes;
        release_pages(kept.range);
    }
    kept_.resize(num_left);
    std::size_t num_shared_left = 0;
    for (SharedRange* shared : shared_) {
        if (shared->trim(kKeptTrims) && shared->is_empty())
            delete_shared(shared);
        else
            shared_[num_shared_left++] = shared;
    }
    shared_.resize(num_shared_left);
    for (Slab* slab : slabs_) {
        const std::size_t needed_pages = slab->num_used / kGranulesPerPage;
        if (slab->committed.count() > 2 * needed_pages + 16) slab->discard_free_pages();
    }
}

PagePoolStatistics PagePool::statistics() const {
    PagePoolStatistics result;
    result.num_slabs = slabs_.size();
    for (const Slab* slab : slabs_) {
        result.slab_used_bytes += slab->num_used * kGranuleBytes;
        result.slab_committed_bytes += slab->committed.count() * kPageBytes;
    }
    for (const SharedRange* shared : shared_) {
        result.num_slabs += SharedRange::kBytes / kLargePageBytes;
        result.slab_used_bytes += shared->used.count() * kPageBytes;
        result.slab_committed_bytes += shared->committed.count() * kLargePageBytes;
    }
    result.num_kept_ranges = kept_.size();
    result.kept_bytes = kept_bytes_;
    return result;
}

void prefer_large_pages_inside(void* begin, std::size_t num_bytes) {
    constexpr std::size_t kLeastBytes = 4 * kLargePageBytes;
    if (num_bytes < kLeastBytes) return;
    auto* const bytes = static_cast<std::byte*>(begin);
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::size_t skipped = round_up(address, kLargePageBytes) - address;
    prefer_large_pages(bytes + skipped, (num_bytes - skipped) / kLargePageBytes * kLargePageBytes);
}

MemoryUse& MemoryUse::operator+=(const MemoryUse& other) {
    used_bytes += other.used_bytes;
    committed_bytes += other.committed_bytes;
    reserved_bytes += other.reserved_bytes;
    return *this;
}

}  // namespace shoal
