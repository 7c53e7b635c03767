#pragma once
// The hash of bytes that come in pieces: what hash_bytes() says of all of them, one behind the other (see string_id.h).
// Thread: one at a time for each.

#include "shoal/base/config.h"

#include <cstddef>
#include <cstdint>

namespace shoal {

class HashStream {
public:
    SHOAL_API HashStream();
    HashStream(const HashStream&) = delete;
    HashStream& operator=(const HashStream&) = delete;

    SHOAL_API void add(const void* data, std::size_t num_bytes);
    /// Returns the hash of what was added so far.
    SHOAL_API std::uint64_t hash() const;

private:
    static constexpr std::size_t kStateBytes = 576;
    alignas(64) std::byte state_[kStateBytes];  // of XXH3
};

}  // namespace shoal
