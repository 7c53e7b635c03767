#pragma once
// Memory of Zstandard that runs out. In a program that includes this, contexts of Zstandard take their memory here: the functions
// that make them stand in front of those of its shared library.

#ifndef ZSTD_STATIC_LINKING_ONLY
#define ZSTD_STATIC_LINKING_ONLY  // for contexts with an allocator
#endif
#include <zstd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace shoal_test {

/// Refuses the N-th piece of memory, or all from the N-th on, while it lives; of 0, none, and counts them.
/// Thread: one at a time; contexts are made on any.
class ShortZstdMemory {
public:
    explicit ShortZstdMemory(std::uint32_t fail_at, bool for_good = false) {
        num_calls_ = 0, for_good_ = for_good, fail_at_ = fail_at;
    }
    ~ShortZstdMemory() { fail_at_ = 0; }
    bool has_failed() const { return fail_at_ != 0 && num_calls_ >= fail_at_; }
    std::uint32_t num_calls() const { return num_calls_; }

    static constexpr ZSTD_customMem memory() {
        return {[](void*, std::size_t num_bytes) { return allows() ? std::malloc(num_bytes) : nullptr; },
                [](void*, void* taken) { std::free(taken); }, nullptr};
    }

private:
    static bool allows() {
        const std::uint32_t number = ++num_calls_;
        return for_good_ && fail_at_ != 0 ? number < fail_at_ : number != fail_at_;
    }
    static inline std::atomic<std::uint32_t> fail_at_{0}, num_calls_{0};
    static inline std::atomic<bool> for_good_{false};
};

}  // namespace shoal_test

extern "C" {
[[gnu::used]] inline ZSTD_DCtx* ZSTD_createDCtx() {
    return ZSTD_createDCtx_advanced(shoal_test::ShortZstdMemory::memory());
}
[[gnu::used]] inline ZSTD_CCtx* ZSTD_createCCtx() {
    return ZSTD_createCCtx_advanced(shoal_test::ShortZstdMemory::memory());
}
}
