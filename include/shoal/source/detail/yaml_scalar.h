#pragma once
// The meaning of a plain YAML scalar in the core schema of YAML 1.2.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <string_view>

namespace shoal {

enum class YamlMeaning : std::uint8_t {
    kString,
    kNull,
    kTrue,
    kFalse,
    kInteger,
    kLargeInteger,  ///< above the largest int64
    kNumber,
    kNotFinite,    ///< .inf or .nan
    kTooLarge,     ///< beyond the largest double, or beyond 64 bits if it is not decimal
    kLeadingZero,  ///< 012: octal in YAML 1.1, decimal in 1.2
};

struct YamlScalar {
    YamlMeaning meaning;
    union {
        std::int64_t integer;
        std::uint64_t large_integer;
        double number;
    };
};

/// Requires: the text is not quoted and has no tag.
SHOAL_API YamlScalar read_yaml_scalar(std::string_view text);

}  // namespace shoal
