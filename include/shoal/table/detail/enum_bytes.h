#pragma once
// The value of an enum as bytes: the lowest 1, 2, 4 or 8 bytes of its number, in the byte order of the machine.
// Thread: any.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <cstdint>

namespace shoal {

/// Writes the number. Requires: num_bytes is 1, 2, 4 or 8.
SHOAL_API void write_enum_number(std::byte* to, std::uint32_t num_bytes, std::int64_t number);
/// Returns the number, which is negative if its highest bit is set. Requires: num_bytes is 1, 2, 4 or 8.
SHOAL_API std::int64_t read_enum_number(const std::byte* from, std::uint32_t num_bytes);

}  // namespace shoal
