#include "shoal/base/detail/config.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#define SHOAL_TEXT_OF_(x) #x
#define SHOAL_TEXT_OF(x) SHOAL_TEXT_OF_(x)

extern "C" {

const char SHOAL_BUILD_SYMBOL = 0;

// Debuggers can read this symbol without debug information.
SHOAL_API extern const unsigned char shoal_num_index_bits;
const unsigned char shoal_num_index_bits = SHOAL_WIDE_IDS ? 32 : SHOAL_INDEX_BITS;

// Each shoal library defines this symbol in every kind of build, so that static libraries of different kinds cannot be
// linked into one program.
SHOAL_API extern const char* const shoal_has_one_kind_of_build_in_a_program;
const char* const shoal_has_one_kind_of_build_in_a_program = SHOAL_TEXT_OF(SHOAL_BUILD_SYMBOL);
}

namespace {

// Shared libraries of different kinds can be linked into one program. Both then use the definition in the library that
// is loaded first.
[[gnu::constructor]] void require_one_kind_of_build() {
    const char* const* volatile first_loaded = &shoal_has_one_kind_of_build_in_a_program;
    const std::string_view here = SHOAL_TEXT_OF(SHOAL_BUILD_SYMBOL), first = *first_loaded;
    if (here == first) return;
    std::fprintf(stderr, "shoal: this program has loaded two kinds of shoal's libraries, %s and %s; link one of them\n",
                 first.data(), here.data());
    std::abort();
}

}  // namespace
