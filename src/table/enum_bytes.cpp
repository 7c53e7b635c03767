#include "shoal/table/detail/enum_bytes.h"

#include <bit>
#include <cstring>

namespace shoal {
namespace {

/// The offset of the lowest bytes in a 64-bit number.
std::size_t first_byte(std::uint32_t num_bytes) {
    return std::endian::native == std::endian::big ? sizeof(std::int64_t) - num_bytes : 0;
}

}  // namespace

void write_enum_number(std::byte* to, std::uint32_t num_bytes, std::int64_t number) {
    std::memcpy(to, reinterpret_cast<const std::byte*>(&number) + first_byte(num_bytes), num_bytes);
}

std::int64_t read_enum_number(const std::byte* from, std::uint32_t num_bytes) {
    std::uint64_t bits = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&bits) + first_byte(num_bytes), from, num_bytes);
    const std::uint32_t unused_bits = 64 - 8 * num_bytes;
    return static_cast<std::int64_t>(bits << unused_bits) >> unused_bits;
}

}  // namespace shoal
