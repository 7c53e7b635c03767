#include "shoal/table/detail/access_guard.h"

namespace shoal {
namespace {
thread_local const AccessGuard* t_guard = nullptr;
}  // namespace

const AccessGuard* set_access_guard(const AccessGuard* guard) {
    const AccessGuard* before = t_guard;
    t_guard = guard;
    return before;
}

void ask_write_guard(const Table& table, std::uint32_t column) {
    if (t_guard != nullptr) t_guard->require_write(table, column);
}

void ask_write_guard(const void* object, const char* what) {
    if (t_guard != nullptr) t_guard->require_write(object, what);
}

void ask_read_guard(const Table& table, std::uint32_t column) {
    if (t_guard != nullptr) t_guard->require_read(table, column);
}

void ask_read_guard(const void* object, const char* what) {
    if (t_guard != nullptr) t_guard->require_read(object, what);
}

}  // namespace shoal
