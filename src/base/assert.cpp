#include "shoal/base/assert.h"

#include "shoal/base/detail/running_pass.h"
#include "shoal/base/text.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace shoal {
namespace {

thread_local const char* t_running_pass = nullptr;

void print_failure(const AssertionFailure& failure) {
    std::fprintf(stderr, "%s:%d: shoal: assertion failed: %s\n  %s\n", failure.file, failure.line, failure.condition,
                 failure.message);
    if (t_running_pass != nullptr) std::fprintf(stderr, "  in the pass \"%s\"\n", t_running_pass);
}

std::atomic<AssertionHandler> g_handler{&print_failure};

}  // namespace

const char* running_pass() { return t_running_pass; }

void set_running_pass(const char* name) { t_running_pass = name; }

void refuse_structural_call(const char* call, std::string_view kind, std::string_view component, bool passes_run) {
    const std::string about = component.empty() ? std::string() : concat(" for \"", component, '"');
    const std::string caller = running_pass() == nullptr ? std::string("was called")
                                                         : concat("was called in the pass \"", running_pass(), '"');
    fail_assertion(
        "no pass and no loop runs",
        concat(
            call, " of ", kind, about, ' ', caller,
            passes_run ? " while the passes of a world ran" : " while a loop ran over its rows",
            "; let the function take a Commands&, or ask World::commands() in a pass without rows, and call its add(), "
            "remove(), create(), destroy() or move(), which reach every store when the world settles"));
}

AssertionHandler set_assertion_handler(AssertionHandler handler) {
    return g_handler.exchange(handler == nullptr ? &print_failure : handler);
}

void fail_assertion(const char* condition, const std::string& message, std::source_location at) {
    fail_assertion({condition, message.c_str(), at.file_name(), static_cast<int>(at.line())});
}

void fail_assertion(const AssertionFailure& failure) {
    g_handler.load()(failure);
    std::abort();
}

}  // namespace shoal
