#pragma once
// Tells a string table whether states that need its strings still exist. A state takes the lease that is current when
// the state is saved. Each collection starts a new lease.
// Thread: any.

#include "shoal/base/detail/memory.h"

#include <atomic>
#include <cstdint>
#include <new>

namespace shoal {

class TextLease {
public:
    /// Returns a lease with one user. Each new lease of a table has a higher `number`.
    static TextLease& make(std::uint32_t number) {
        return *::new (allocate_memory(sizeof(TextLease), kOwner)) TextLease(number);
    }
    void take() { num_users_.fetch_add(1, std::memory_order_relaxed); }
    /// Removes a user. Removing the last one destroys the lease.
    void give_back() {
        if (num_users_.fetch_sub(1, std::memory_order_acq_rel) == 1) release_memory(this, sizeof(TextLease), kOwner);
    }
    bool is_taken() const { return num_users_.load(std::memory_order_acquire) > 1; }
    std::uint32_t number() const { return number_; }

private:
    static constexpr const char* kOwner = "string table";

    explicit TextLease(std::uint32_t number) : number_(number) {}

    std::uint32_t number_;
    std::atomic<std::uint32_t> num_users_{1};  // the table is the first user
};

}  // namespace shoal
