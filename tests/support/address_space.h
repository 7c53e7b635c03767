#pragma once
// Runs code where memory is short.

#include "shoal/base/detail/page_memory.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <functional>

namespace shoal_test {

/// Lets the address space of this process grow by `num_bytes` only. Returns whether that could be done.
inline bool limit_address_space(std::size_t num_bytes) {
    std::size_t num_pages = 0;
    if (FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%zu", &num_pages) != 1) num_pages = 0;
        std::fclose(file);
    }
    const rlim_t bytes = num_pages * shoal::kPageBytes + num_bytes;
    const rlimit limit{bytes, bytes};
    return num_pages != 0 && ::setrlimit(RLIMIT_AS, &limit) == 0;
}

/// Returns what `body` returns in a process of its own whose address space may grow by `num_bytes` only.
inline int with_address_space(std::size_t num_bytes, const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(limit_address_space(num_bytes) ? body() : 99);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace shoal_test
