#include "shoal/base/assert.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace shoal {
namespace {

void print_failure(const AssertionFailure& failure) {
    std::fprintf(stderr, "%s:%d: shoal: assertion failed: %s\n  %s\n", failure.file, failure.line, failure.condition,
                 failure.message);
}

std::atomic<AssertionHandler> g_handler{&print_failure};

}  // namespace

AssertionHandler set_assertion_handler(AssertionHandler handler) {
    return g_handler.exchange(handler == nullptr ? &print_failure : handler);
}

void fail_assertion(const AssertionFailure& failure) {
    g_handler.load()(failure);
    std::abort();
}

}  // namespace shoal
