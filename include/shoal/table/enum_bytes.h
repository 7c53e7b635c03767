#pragma once
// The value of an enum as bytes: 1, 2, 4 or 8 of them, the lowest of its number, in the byte order of the machine.
// Thread: any.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shoal {

/// Requires: 1, 2, 4 or 8 bytes.
inline void write_enum_number(std::byte* to, std::uint32_t num_bytes, std::int64_t number) {
    const std::size_t first = std::endian::native == std::endian::big ? sizeof number - num_bytes : 0;
    std::memcpy(to, reinterpret_cast<const std::byte*>(&number) + first, num_bytes);
}

/// Returns the number; one whose highest bit is set is negative. Requires: as above.
inline std::int64_t read_enum_number(const std::byte* from, std::uint32_t num_bytes) {
    std::uint64_t bits = 0;
    const std::size_t first = std::endian::native == std::endian::big ? sizeof bits - num_bytes : 0;
    std::memcpy(reinterpret_cast<std::byte*>(&bits) + first, from, num_bytes);
    const std::uint32_t unused_bits = 64 - 8 * num_bytes;
    return static_cast<std::int64_t>(bits << unused_bits) >> unused_bits;
}

}  // namespace shoal
