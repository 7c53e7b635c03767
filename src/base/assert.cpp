#include "shoal/base/assert.h"

#include "shoal/base/running_pass.h"

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

AssertionHandler set_assertion_handler(AssertionHandler handler) {
    return g_handler.exchange(handler == nullptr ? &print_failure : handler);
}

void fail_assertion(const AssertionFailure& failure) {
    g_handler.load()(failure);
    std::abort();
}

}  // namespace shoal
