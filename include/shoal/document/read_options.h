#pragma once
// Limits that all readers share.

#include "shoal/base/config.h"

#include <cstdint>

namespace shoal {

struct ReadOptions {
    /// Lists and mappings inside one another. Readers do not recurse: a large value costs memory only.
    std::uint32_t max_depth = 128;
    /// SJSON only: a word that is no literal is a text, as in `type = vec3`. Schema files are read like this; in a
    /// source a forgotten quote shall be an error.
    bool bare_texts = false;
};

}  // namespace shoal
