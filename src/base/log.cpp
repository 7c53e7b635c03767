#include "shoal/base/log.h"

#include "base/flag_scope.h"

#include <cstdio>

namespace shoal {
namespace {

void print_message(void*, LogLevel level, std::string_view message) {
    static constexpr const char* kNames[] = {"note", "warning", "error"};
    std::fprintf(stderr, "shoal: %s: %.*s\n", kNames[static_cast<int>(level)], static_cast<int>(message.size()),
                 message.data());
}

constinit LogHook g_hook = &print_message;
constinit void* g_context = nullptr;
thread_local bool t_is_in_hook = false;

}  // namespace

void set_log_hook(LogHook hook, void* context) {
    g_hook = hook == nullptr ? &print_message : hook;
    g_context = context;
}

void log(LogLevel level, std::string_view message) {
    if (t_is_in_hook) return print_message(nullptr, level, message);  // otherwise the hook would recurse forever
    const FlagScope scope(t_is_in_hook);
    g_hook(g_context, level, message);
}

}  // namespace shoal
