// The size of the state of XXH3 is only known with this, and is the same in all versions with a stable XXH3.
#define XXH_STATIC_LINKING_ONLY

#include "shoal/base/hash_stream.h"

#include "shoal/base/assert.h"

#include <xxhash.h>

#include <new>

namespace shoal {

HashStream::HashStream() {
    static_assert(sizeof(XXH3_state_t) <= kStateBytes && alignof(XXH3_state_t) <= 64);
    const XXH_errorcode failed = XXH3_64bits_reset(::new (static_cast<void*>(state_)) XXH3_state_t);
    SHOAL_ASSERT(failed == XXH_OK, "the state of a hash could not be set");
}

void HashStream::add(const void* data, std::size_t num_bytes) {
    XXH3_64bits_update(reinterpret_cast<XXH3_state_t*>(state_), data, num_bytes);
}

std::uint64_t HashStream::hash() const { return XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_)); }

}  // namespace shoal
