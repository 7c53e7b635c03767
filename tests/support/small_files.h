#pragma once
// A disk that is full.

#include <sys/resource.h>

#include <csignal>
#include <cstddef>

namespace shoal_test {

/// While it lives, files cannot grow beyond so many bytes, as if the disk were full.
struct SmallFiles {
    explicit SmallFiles(std::size_t num_bytes) : handler(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &limit);
        rlimit small = limit;
        small.rlim_cur = num_bytes;
        setrlimit(RLIMIT_FSIZE, &small);
    }
    SmallFiles(const SmallFiles&) = delete;
    ~SmallFiles() {
        setrlimit(RLIMIT_FSIZE, &limit);
        std::signal(SIGXFSZ, handler);
    }
    rlimit limit{};
    void (*handler)(int);
};

}  // namespace shoal_test
