#pragma once
// Build configuration: the number of bits in ids, checked mode and symbol export.
//
// Code compiled for different kinds of build must not be linked together, because types differ in size. Every source
// that includes shoal refers to a symbol named after its kind of build, and the library defines only the symbol for its
// own kind. Linking a mixed program fails, and the linker names the missing symbol.

#if !defined(SHOAL_WIDE_IDS)
#define SHOAL_WIDE_IDS 0
#endif
#if !defined(SHOAL_CHECKED)
#define SHOAL_CHECKED 0
#endif

/// The number of index bits in a 32-bit id. Two bits are spare, and the rest hold the generation.
#if !defined(SHOAL_INDEX_BITS)
#define SHOAL_INDEX_BITS 22
#endif
#if SHOAL_INDEX_BITS < 16 || SHOAL_INDEX_BITS > 22
#error "SHOAL_INDEX_BITS is 16 to 22: with fewer than 8 bits of generation ids come back too soon"
#endif
#if SHOAL_WIDE_IDS && SHOAL_INDEX_BITS != 22
#error "SHOAL_INDEX_BITS is for 32-bit ids; those of SHOAL_WIDE_IDS have 32 bits of index"
#endif

#define SHOAL_JOIN_(a, b, c) a##b##c
#define SHOAL_JOIN(a, b, c) SHOAL_JOIN_(a, b, c)
#if SHOAL_WIDE_IDS
#define SHOAL_IDS_SYMBOL shoal_is_built_with_wide_ids
#elif SHOAL_INDEX_BITS != 22
#define SHOAL_IDS_SYMBOL SHOAL_JOIN(shoal_is_built_with_, SHOAL_INDEX_BITS, _index_bits)
#endif
#if defined(SHOAL_IDS_SYMBOL) && SHOAL_CHECKED
#define SHOAL_BUILD_SYMBOL SHOAL_JOIN(SHOAL_IDS_SYMBOL, _and, _checks)
#elif defined(SHOAL_IDS_SYMBOL)
#define SHOAL_BUILD_SYMBOL SHOAL_IDS_SYMBOL
#elif SHOAL_CHECKED
#define SHOAL_BUILD_SYMBOL shoal_is_built_with_checks
#else
#define SHOAL_BUILD_SYMBOL shoal_is_built_without_checks
#endif

#define SHOAL_API __attribute__((visibility("default")))
#define SHOAL_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define SHOAL_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
// Without optimisation, forced inlining makes code larger and slower to compile, but no faster.
#ifdef __NO_INLINE__
#define SHOAL_INLINED
#else
#define SHOAL_INLINED __attribute__((always_inline))
#endif
#define SHOAL_INLINE inline SHOAL_INLINED
#define SHOAL_NOINLINE __attribute__((noinline, cold))

#define SHOAL_VERSION_MAJOR 0
#define SHOAL_VERSION_MINOR 1
#define SHOAL_VERSION_PATCH 0

extern "C" SHOAL_API const char SHOAL_BUILD_SYMBOL;

namespace shoal {

/// Makes every source that includes shoal refer to the symbol for its kind of build.
inline const char* const kBuildSymbol __attribute__((used)) = &SHOAL_BUILD_SYMBOL;

}  // namespace shoal
