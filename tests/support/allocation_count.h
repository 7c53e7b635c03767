#pragma once
// Counts allocations of bookkeeping memory.

#include "shoal/base/detail/memory.h"

#include <cstdint>
#include <cstdlib>

namespace shoal_test {

/// Counts what is asked of the bookkeeping heap while it lives.
class AllocationCount {
public:
    AllocationCount()
        : before_(shoal::set_memory_hooks({[](void* self, std::size_t bytes, const char*) {
                                               ++static_cast<AllocationCount*>(self)->count_;
                                               return std::malloc(bytes);
                                           },
                                           [](void*, void* memory, std::size_t, const char*) { std::free(memory); },
                                           this})) {}
    ~AllocationCount() { shoal::set_memory_hooks(before_); }
    AllocationCount(const AllocationCount&) = delete;
    AllocationCount& operator=(const AllocationCount&) = delete;

    std::uint64_t count() const { return count_; }

private:
    shoal::MemoryHooks before_;
    std::uint64_t count_ = 0;
};

}  // namespace shoal_test
