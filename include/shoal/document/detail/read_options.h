#pragma once
// Options of all readers. Each reader uses those of its format, and ignores the others.
// Thread: a value.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

struct ReadOptions {
    /// How deep lists and mappings may be nested. Readers do not recurse, so a large value only costs memory.
    std::uint32_t max_depth = 128;
    /// SJSON only: a word that is not a literal is a string, as in `type = vec3`. Schema files are read like this. In
    /// sources, a forgotten quote is an error.
    bool bare_texts = false;
};

}  // namespace shoal
