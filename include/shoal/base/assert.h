#pragma once
// Reports bugs in the calling program. A failed assertion calls a replaceable handler and then ends the program.
//
// SHOAL_ASSERT guards memory safety and stays on in release builds. SHOAL_CHECK guards contracts that are expensive to
// check; only checked builds (SHOAL_CHECKED) compile it.
// Thread: set the handler before other threads start. Any thread may assert.

#include "shoal/base/detail/config.h"

namespace shoal {

/// What went wrong and where. All strings outlive the call.
struct AssertionFailure {
    const char* condition;
    const char* message;  ///< what the caller did wrong and what to do instead
    const char* file;
    int line;
};

/// Called once when an assertion fails. If it returns, the program ends with abort().
using AssertionHandler = void (*)(const AssertionFailure& failure);

/// Replaces the handler and returns the previous one. nullptr restores the default, which writes to standard error.
SHOAL_API AssertionHandler set_assertion_handler(AssertionHandler handler);

[[noreturn]] SHOAL_API SHOAL_NOINLINE void fail_assertion(const AssertionFailure& failure);

}  // namespace shoal

#define SHOAL_ASSERT(condition, message)                                                                      \
    do {                                                                                                      \
        if (SHOAL_UNLIKELY(!(condition))) ::shoal::fail_assertion({#condition, message, __FILE__, __LINE__}); \
    } while (false)

#if SHOAL_CHECKED
#define SHOAL_CHECK(condition, message) SHOAL_ASSERT(condition, message)
#else
#define SHOAL_CHECK(condition, message) static_cast<void>(0)
#endif
