#pragma once
// What sources with slips in them include; mutants.py says more. Only the copies that it makes use this header.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace shoal_slips {

/// The number of the slip that this process makes; 0: none.
inline const int chosen = [] {
    const char* const text = std::getenv("SHOAL_SLIP");
    return text == nullptr ? 0 : std::atoi(text);
}();

/// A byte for each slip, set when its place is reached: a file that all processes of a test write to, also those that it kills.
inline unsigned char* const reached = []() -> unsigned char* {
    const char* const path = std::getenv("SHOAL_SLIPS_REACHED");
    const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
    struct stat facts = {};
    if (file < 0 || ::fstat(file, &facts) != 0) return nullptr;
    void* const bytes =
        ::mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return bytes == MAP_FAILED ? nullptr : static_cast<unsigned char*>(bytes);
}();

inline bool is_made(int number) {
    if (reached != nullptr) reached[number] = 1;
    return chosen == number;
}

}  // namespace shoal_slips

#define SHOAL_SLIP(number) ::shoal_slips::is_made(number)
