#pragma once
// Page memory, which holds all data that grows with the number of rows.
//
// A PageRange is reserved address space. Writing to a page commits it. A discarded page is returned to the system and
// reads as zero again. Ranges are never moved or protected, so there are few mappings.
//
// A PagePool serves the tables of one world:
//
//     small table             a block of a shared slab of 2 MiB, in steps of 256 bytes
//     table filled at once    a block of up to 16 MiB beside others in 2 MiB pages: few page faults
//     large table             a range of its own; a returned range keeps its pages for the next table of the same shape
//
// Thread: one thread at a time per pool.

#include "shoal/base/detail/array.h"
#include "shoal/base/status.h"

#include <cstddef>
#include <cstdint>

namespace shoal {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kLargePageBytes = std::size_t(2) << 20;
inline constexpr std::size_t kCacheLineBytes = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

/// The page memory that one owner holds, in bytes: used <= committed <= reserved.
struct MemoryUse {
    std::size_t used_bytes = 0;       ///< bytes that hold data
    std::size_t committed_bytes = 0;  ///< bytes that are backed by memory
    std::size_t reserved_bytes = 0;   ///< bytes of address space

    SHOAL_API MemoryUse& operator+=(const MemoryUse& other);
};

/// Reserved address space. It is a plain value: its holder must call release_pages().
struct PageRange {
    std::byte* data = nullptr;
    std::size_t num_bytes = 0;
};

/// Called before each reservation of address space, with its size in bytes. A program with a memory budget can return
/// false when the budget is used up; the call that needed the memory then fails as if the system were out of memory.
/// With nullptr, every reservation is allowed.
struct PageHooks {
    bool (*may_reserve)(void* context, std::size_t num_bytes) = nullptr;
    void* context = nullptr;
};
/// Replaces the hooks and returns the previous ones.
/// Thread: set the hooks before other threads start. Any thread may call them.
SHOAL_API PageHooks set_page_hooks(const PageHooks& hooks);

/// Reserves `num_bytes` (rounded up to pages), aligned to `alignment` (a power of two, at least a page).
/// Errors: out of address space, or the hooks do not allow it.
SHOAL_API Result<PageRange> reserve_pages(std::size_t num_bytes, std::size_t alignment = kPageBytes);
/// The part of PageArray::reserve() that does not depend on the element type.
SHOAL_API Status reserve_elements(PageRange& range, std::size_t& num_reserved, std::size_t element_bytes,
                                  std::size_t capacity, std::size_t minimum);
SHOAL_API void release_pages(PageRange range);
/// Returns the pages of [begin, begin + num_bytes) to the system. Requires: `begin` and `num_bytes` are multiples of
/// kPageBytes.
SHOAL_API void discard_pages(std::byte* begin, std::size_t num_bytes);
/// Advises the system to use 2 MiB pages in [begin, begin + num_bytes). Requires: `begin` and `num_bytes` are
/// multiples of kLargePageBytes.
SHOAL_API void prefer_large_pages(std::byte* begin, std::size_t num_bytes);
/// Advises the system to use 4 KiB pages, even if it uses 2 MiB pages by default. Requires: `begin` and `num_bytes`
/// are multiples of kPageBytes.
SHOAL_API void prefer_small_pages(std::byte* begin, std::size_t num_bytes);

/// An array of `T` in reserved address space. Elements are zero until they are written.
/// Shape: capacity(). Requires: T is trivially copyable, and zero is its empty value.
template <class T>
class PageArray {
public:
    PageArray() = default;
    PageArray(PageArray&& other) noexcept : range_(other.range_), capacity_(other.capacity_) {
        other.range_ = {};
        other.capacity_ = 0;
    }
    PageArray& operator=(PageArray&& other) noexcept {
        std::swap(range_, other.range_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~PageArray() {
        if (range_.data != nullptr) release_pages(range_);
    }

    /// Reserves room for `capacity` elements. If address space is limited, the capacity is halved until it is a small
    /// part of the remaining space, but never below `minimum`. Requires: nothing is reserved yet. Errors: not even
    /// `minimum` fits.
    Status reserve(std::size_t capacity, std::size_t minimum) {
        return reserve_elements(range_, capacity_, sizeof(T), capacity, minimum);
    }

    T* data() { return reinterpret_cast<T*>(range_.data); }
    const T* data() const { return reinterpret_cast<const T*>(range_.data); }
    T& operator[](std::size_t index) { return data()[index]; }
    const T& operator[](std::size_t index) const { return data()[index]; }
    std::size_t capacity() const { return capacity_; }
    std::size_t reserved_bytes() const { return range_.num_bytes; }

    /// Returns to the system the pages that contain only elements in [begin, end). They read as zero afterwards.
    void discard(std::size_t begin, std::size_t end) {
        const std::size_t first = round_up(begin * sizeof(T), kPageBytes);
        const std::size_t last = end == capacity_ ? range_.num_bytes : end * sizeof(T) / kPageBytes * kPageBytes;
        if (first < last) discard_pages(range_.data + first, last - first);
    }

private:
    PageRange range_;
    std::size_t capacity_ = 0;
};

struct PagePoolOptions {
    /// How many committed bytes the pool may keep in ranges that were given back, so that later tables can use them.
    std::size_t max_kept_bytes = std::size_t(512) << 20;
};

struct PagePoolStatistics {
    std::size_t num_slabs = 0;             ///< slabs of 2 MiB, including the slabs of shared blocks
    std::size_t slab_used_bytes = 0;       ///< bytes in blocks that tables hold
    std::size_t slab_committed_bytes = 0;  ///< bytes in pages written so far, including free pages
    std::size_t num_kept_ranges = 0;       ///< ranges that were given back and are kept for later tables
    std::size_t kept_bytes = 0;            ///< bytes committed in those ranges
};

/// The page memory that many tables share.
class PagePool {
public:
    static constexpr std::size_t kGranuleBytes = 256;
    static constexpr std::size_t kMaxBlockBytes = kLargePageBytes;
    static constexpr std::size_t kMaxSharedBytes = std::size_t(16) << 20;

    SHOAL_API explicit PagePool(const PagePoolOptions& options = {});
    SHOAL_API ~PagePool();
    PagePool(const PagePool&) = delete;
    PagePool& operator=(const PagePool&) = delete;

    /// Allocates a block in a slab, aligned to 64 bytes. Its content is unspecified.
    /// Requires: 0 < num_bytes <= kMaxBlockBytes. Errors: out of address space.
    SHOAL_API Result<std::byte*> allocate_block(std::size_t num_bytes);
    SHOAL_API void free_block(std::byte* block, std::size_t num_bytes);

    /// Like allocate_block(), but the block shares 2 MiB pages with other shared blocks. Sets `*is_zero` to whether all
    /// bytes are known to be 0.
    /// Requires: 0 < num_bytes <= kMaxSharedBytes. Errors: out of address space.
    SHOAL_API Result<std::byte*> allocate_shared(std::size_t num_bytes, bool* is_zero = nullptr);
    SHOAL_API void free_shared(std::byte* block, std::size_t num_bytes);

    /// Returns a range of at least `num_bytes`, aligned to kLargePageBytes. Its content is unspecified. Prefers a range
    /// that was given back with the same `shape` and still has its pages. Sets `*hint` to the hint that was passed to
    /// give_range() for that range, or to 0. Errors: out of address space. If the process has a memory limit, asking
    /// for more than 1/32 of the remaining space is also an error, although reserve_pages() would allow it.
    SHOAL_API Result<PageRange> take_range(std::size_t num_bytes, std::uint64_t shape, std::size_t* hint);
    /// Gives a range back to the pool. `committed_bytes` is how many of its bytes are backed by memory. When
    /// take_range() reuses the range, it returns `hint`.
    SHOAL_API void give_range(PageRange range, std::uint64_t shape, std::size_t committed_bytes, std::size_t hint);

    /// Returns unused pages to the system: the free pages in slabs, and the ranges that were given back and not reused
    /// within two trims.
    SHOAL_API void trim();

    SHOAL_API PagePoolStatistics statistics() const;

private:
    struct Slab;
    struct SharedRange;
    struct KeptRange {
        PageRange range;
        std::uint64_t shape;
        std::size_t committed_bytes;
        std::size_t hint;
        std::uint32_t age;
    };

    Slab* find_slab(const std::byte* block);
    static void delete_shared(SharedRange* shared);

    PagePoolOptions options_;
    Array<Slab*> slabs_{Owner("page pool")};
    Array<SharedRange*> shared_{Owner("page pool")};
    Array<KeptRange> kept_{Owner("page pool")};
    std::size_t next_slab_ = 0;
    std::size_t num_shared_ = 0;  // shared blocks allocated so far
    std::size_t kept_bytes_ = 0;
};

}  // namespace shoal
