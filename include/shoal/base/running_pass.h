#pragma once
// The pass that a thread runs, so that whoever reports a bug can name it. A schedule says which pass it is; the message of
// a failed assertion ends with it, and an assertion handler of the program's own can ask for it (see assert.h).
//
// Thread: each thread has its own.

#include "shoal/base/config.h"

namespace shoal {

/// Returns the name of the pass that the calling thread runs, or nullptr. Lifetime: until the pass ends.
SHOAL_API const char* running_pass();

/// Says which pass the calling thread runs from now on, or none with nullptr.
SHOAL_API void set_running_pass(const char* name);

}  // namespace shoal
