#include "shoal/table/write_guard.h"

namespace shoal {
namespace {
thread_local const WriteGuard* t_guard = nullptr;
}  // namespace

const WriteGuard* set_write_guard(const WriteGuard* guard) {
    const WriteGuard* before = t_guard;
    t_guard = guard;
    return before;
}

void ask_write_guard(const Table& table, std::uint32_t column) {
    if (t_guard != nullptr) t_guard->require(table, column);
}

void ask_write_guard(const void* object, const char* what) {
    if (t_guard != nullptr) t_guard->require(object, what);
}

}  // namespace shoal
