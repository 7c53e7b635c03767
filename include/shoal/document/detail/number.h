#pragma once
// Parses numbers in JSON syntax.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

enum class NumberForm : std::uint8_t {
    kMalformed,  ///< not a JSON number
    kInteger,
    kLargeInteger,  ///< above the largest int64
    kDouble,
    kTooLarge,  ///< beyond the largest double
};

struct ParsedNumber {
    NumberForm form;
    const char* end;  ///< the end of the number; the caller checks the next characters
    union {
        std::int64_t integer;
        std::uint64_t large_integer;
        double number;
    };
};

/// Reads the longest number at the start of [begin, end). Integers that do not fit into 64 bits are read as doubles.
/// Doubles are rounded correctly.
SHOAL_API ParsedNumber parse_number(const char* begin, const char* end);

}  // namespace shoal
