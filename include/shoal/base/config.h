#pragma once
// What a build of shoal is: id width, checked mode, and how symbols are exported.
//
// All of shoal lives in `namespace shoal`, inside an inline namespace whose name carries the id width and the
// checked mode: code compiled for one kind of build does not link against another.

#if !defined(SHOAL_WIDE_IDS)
#define SHOAL_WIDE_IDS 0
#endif
#if !defined(SHOAL_CHECKED)
#define SHOAL_CHECKED 0
#endif

#if SHOAL_WIDE_IDS && SHOAL_CHECKED
#define SHOAL_ABI wide_checked
#elif SHOAL_WIDE_IDS
#define SHOAL_ABI wide
#elif SHOAL_CHECKED
#define SHOAL_ABI narrow_checked
#else
#define SHOAL_ABI narrow
#endif

#define SHOAL_API __attribute__((visibility("default")))
#define SHOAL_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define SHOAL_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
#define SHOAL_INLINE inline __attribute__((always_inline))
#define SHOAL_NOINLINE __attribute__((noinline, cold))

#define SHOAL_VERSION_MAJOR 0
#define SHOAL_VERSION_MINOR 1
#define SHOAL_VERSION_PATCH 0
