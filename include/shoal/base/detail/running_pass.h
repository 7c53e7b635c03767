#pragma once
// The name of the pass that a thread is running, for bug reports. A schedule sets it. The message of a failed assertion
// ends with it, and a custom assertion handler can read it (see assert.h). This file also has PassHold, which protects
// objects that must not change while passes are running.
//
// Thread: each thread has its own pass. A PassHold may be used from any thread.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <string_view>

namespace shoal {

/// Returns the name of the pass that the calling thread is running, or nullptr. Lifetime: until the pass ends.
SHOAL_API const char* running_pass();

/// Records that the calling thread is now running this pass, or no pass if `name` is nullptr.
SHOAL_API void set_running_pass(const char* name);

/// Ends the program, because `call` was made on an object of `kind` while passes or a loop were visiting its rows. If
/// `component` is not empty, it names the object's component type.
[[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse_structural_call(const char* call, std::string_view kind,
                                                                  std::string_view component, bool passes_run);

/// Protects an object that must not change while passes are running. It counts the worlds that are currently running
/// passes. While the count is not 0, structural calls on the object end the program.
class PassHold {
public:
    void hold(bool hold) { __atomic_fetch_add(&num_worlds_, hold ? 1u : ~0u, __ATOMIC_RELAXED); }
    bool is_held() const { return __atomic_load_n(&num_worlds_, __ATOMIC_RELAXED) != 0; }
    void require_free(const char* call, const char* kind) const {
        if (SHOAL_UNLIKELY(is_held())) refuse_structural_call(call, kind, {}, true);
    }

private:
    std::uint32_t num_worlds_ = 0;
};

}  // namespace shoal
