#pragma once
// Memory in pages, for all that grows with the number of rows.
//
// A PageRange is reserved address space: writing to a page commits it, discarding pages gives them back and reads
// as zero again. Nothing is ever moved or protected, so the number of mappings stays small.
//
// A PagePool serves the tables of one world:
//
//     small table  ->  a block of a shared slab (2 MiB), in steps of 256 bytes
//     filled at once  ->  a block of up to 16 MiB among others in 2 MiB pages: few page faults, and no page half used
//     large table  ->  a range of its own; a range given back keeps its pages for the next table of the same shape
//
// Thread: one thread at a time per pool.

#include "shoal/base/memory.h"
#include "shoal/base/status.h"

#include <cstddef>
#include <cstdint>

namespace shoal {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kLargePageBytes = std::size_t(2) << 20;
inline constexpr std::size_t kCacheLineBytes = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

/// What one owner holds of page memory, in bytes: used <= committed <= reserved.
struct MemoryUse {
    std::size_t used_bytes = 0;       ///< holds data
    std::size_t committed_bytes = 0;  ///< backed by memory
    std::size_t reserved_bytes = 0;   ///< address space

    MemoryUse& operator+=(const MemoryUse& other) {
        used_bytes += other.used_bytes;
        committed_bytes += other.committed_bytes;
        reserved_bytes += other.reserved_bytes;
        return *this;
    }
};

/// Reserved address space. An open value: whoever holds it releases it.
struct PageRange {
    std::byte* data = nullptr;
    std::size_t num_bytes = 0;
};

/// Reserves `num_bytes` (rounded up to pages), aligned to `alignment` (a power of two, at least a page).
/// Errors: no address space is left.
SHOAL_API Result<PageRange> reserve_pages(std::size_t num_bytes, std::size_t alignment = kPageBytes);
SHOAL_API void release_pages(PageRange range);
/// Gives the pages of [begin, begin + num_bytes) back; both are multiples of kPageBytes.
SHOAL_API void discard_pages(std::byte* begin, std::size_t num_bytes);
/// Asks for 2 MiB pages in [begin, begin + num_bytes); both are multiples of kLargePageBytes. A hint.
SHOAL_API void prefer_large_pages(std::byte* begin, std::size_t num_bytes);
/// Takes that back: pages of 4 KiB, also where the system gives 2 MiB pages to whoever does not refuse them.
/// Shape: multiples of kPageBytes. A hint.
SHOAL_API void prefer_small_pages(std::byte* begin, std::size_t num_bytes);

/// An array of `T` that grows in place inside reserved address space; zero until written.
/// Shape: indexed below capacity(). For trivially copyable T whose zero is its empty value.
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

    /// Reserves room for `capacity` elements; when the address space is short, for as many as it gives by halving,
    /// but never fewer than `minimum`. Requires: nothing is reserved yet. Errors: not even `minimum` fits.
    Status reserve(std::size_t capacity, std::size_t minimum) {
        SHOAL_ASSERT(range_.data == nullptr, "a PageArray is reserved once");
        SHOAL_ASSERT(minimum <= capacity, "the minimum of a PageArray is at most its capacity");
        constexpr std::size_t kMaxBytes = ~std::size_t(0);
        for (;; capacity = capacity / 2 < minimum ? minimum : capacity / 2) {
            const bool overflows = capacity > kMaxBytes / sizeof(T);
            Result<PageRange> range = reserve_pages(overflows ? kMaxBytes : capacity * sizeof(T));
            if (range) {
                range_ = *range;
                capacity_ = capacity;
                return {};
            }
            if (capacity <= minimum) return range.status();
        }
    }

    T* data() { return reinterpret_cast<T*>(range_.data); }
    const T* data() const { return reinterpret_cast<const T*>(range_.data); }
    T& operator[](std::size_t index) { return data()[index]; }
    const T& operator[](std::size_t index) const { return data()[index]; }
    std::size_t capacity() const { return capacity_; }
    std::size_t reserved_bytes() const { return range_.num_bytes; }

    /// Gives back whole pages that hold only elements of [begin, end). They read as zero.
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
    /// Pages that released ranges may keep for the next table, in bytes.
    std::size_t max_kept_bytes = std::size_t(512) << 20;
};

struct PagePoolStatistics {
    std::size_t num_slabs = 0;             ///< of 2 MiB; those of shared blocks are counted, too
    std::size_t slab_used_bytes = 0;       ///< in blocks that tables hold
    std::size_t slab_committed_bytes = 0;  ///< pages touched so far, free ones included
    std::size_t num_kept_ranges = 0;       ///< waiting for the next table of their shape
    std::size_t kept_bytes = 0;            ///< pages committed in them
};

/// Shared page memory of many tables.
class PagePool {
public:
    static constexpr std::size_t kGranuleBytes = 256;
    static constexpr std::size_t kMaxBlockBytes = kLargePageBytes;
    static constexpr std::size_t kMaxSharedBytes = std::size_t(16) << 20;

    SHOAL_API explicit PagePool(const PagePoolOptions& options = {});
    SHOAL_API ~PagePool();
    PagePool(const PagePool&) = delete;
    PagePool& operator=(const PagePool&) = delete;

    /// Returns a block of a slab, 64-byte aligned; its bytes are arbitrary. Requires: 0 < num_bytes <= kMaxBlockBytes.
    SHOAL_API Result<std::byte*> allocate_block(std::size_t num_bytes);
    SHOAL_API void free_block(std::byte* block, std::size_t num_bytes);

    /// The same in 2 MiB pages that all such blocks share; `*is_zero` tells whether all its bytes are known to be 0.
    /// Requires: 0 < num_bytes <= kMaxSharedBytes.
    SHOAL_API Result<std::byte*> allocate_shared(std::size_t num_bytes, bool* is_zero = nullptr);
    SHOAL_API void free_shared(std::byte* block, std::size_t num_bytes);

    /// Returns a range of at least `num_bytes`, aligned to kLargePageBytes. Ranges given back under the same `shape`
    /// come first, with their pages: `*committed_hint` is then what keep_range was told, else 0. Bytes are arbitrary.
    SHOAL_API Result<PageRange> take_range(std::size_t num_bytes, std::uint64_t shape, std::size_t* committed_hint);
    /// Gives a range back. `committed_bytes` of it hold pages; `hint` comes back with the range when it is reused.
    SHOAL_API void give_range(PageRange range, std::uint64_t shape, std::size_t committed_bytes, std::size_t hint);

    /// Gives pages back that have been waiting unused: ranges kept since the trim before last, free slab pages.
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
    std::size_t num_shared_ = 0;  // blocks ever given out
    std::size_t kept_bytes_ = 0;
};

}  // namespace shoal
