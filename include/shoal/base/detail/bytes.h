#pragma once
// memcpy and memmove without <cstring>, which would add 460 preprocessed lines to every file that includes shoal.
// Thread: any; callers synchronize access to the bytes.

#include "shoal/base/detail/config.h"

#include <cstddef>

namespace shoal {

/// Copies bytes that do not overlap.
SHOAL_INLINE void copy_bytes(void* to, const void* from, std::size_t num_bytes) {
    __builtin_memcpy(to, from, num_bytes);
}

/// Returns the value whose bytes are at `place`, aligned or not.
template <class T>
SHOAL_INLINE T read_as(const void* place) {
    T value;
    copy_bytes(static_cast<void*>(&value), place, sizeof(T));
    return value;
}

/// Copies bytes that may overlap.
SHOAL_INLINE void move_bytes(void* to, const void* from, std::size_t num_bytes) {
    __builtin_memmove(to, from, num_bytes);
}

}  // namespace shoal
