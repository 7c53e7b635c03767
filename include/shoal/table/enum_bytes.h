#pragma once
// The value of an enum as bytes: 1, 2, 4 or 8 of them, the lowest of its number, in the byte order of the machine.
// Thread: any.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shoal {

/// Where the lowest bytes of a 64-bit number begin.
inline std::size_t first_enum_byte(std::uint32_t num_bytes) {
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(std::int64_t) - num_bytes : 0;
}

/// Requires: 1, 2, 4 or 8 bytes.
inline void write_enum_number(std::byte* to, std::uint32_t num_bytes, std::int64_t number) {
    std::memcpy(to, reinterpret_cast<const std::byte*>(&number) + first_enum_byte(num_bytes), num_bytes);
}

/// Returns the number; one whose highest bit is set is negative. Requires: as above.
inline std::int64_t read_enum_number(const std::byte* from, std::uint32_t num_bytes) {
    std::uint64_t bits = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&bits) + first_enum_byte(num_bytes), from, num_bytes);
    const std::uint32_t unused_bits = 64 - 8 * num_bytes;
    return static_cast<std::int64_t>(bits << unused_bits) >> unused_bits;
}

}  // namespace shoal
