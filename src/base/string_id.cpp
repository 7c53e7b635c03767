#include "shoal/base/string_id.h"

#include <xxhash.h>

namespace shoal {

std::uint64_t hash_bytes(const void* data, std::size_t num_bytes, std::uint64_t seed) {
    return XXH3_64bits_withSeed(data, num_bytes, seed);
}

std::uint64_t hash_text(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

}  // namespace shoal
