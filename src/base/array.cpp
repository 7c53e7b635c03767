#include "shoal/base/detail/array.h"

#include <cstdint>
#include <cstring>

namespace shoal::detail {

std::size_t grown_capacity(std::size_t size, std::size_t count) { return count > size * 2 ? count : size * 2; }

void* allocate_elements(std::size_t count, std::size_t element_bytes, const char* owner) {
    constexpr std::size_t kTooMany = PTRDIFF_MAX;  // no allocation of this size succeeds
    return allocate_memory(count > kTooMany / element_bytes ? kTooMany : count * element_bytes, owner);
}

void* reallocate_elements(void* elements, std::size_t size, std::size_t capacity, std::size_t count,
                          std::size_t element_bytes, const char* owner) {
    void* const memory = allocate_elements(count, element_bytes, owner);
    if (size > 0) std::memcpy(memory, elements, size * element_bytes);
    release_memory(elements, capacity * element_bytes, owner);
    return memory;
}

}  // namespace shoal::detail
