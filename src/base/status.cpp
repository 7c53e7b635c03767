#include "shoal/base/status.h"

#include "shoal/base/detail/memory.h"

#include <cstring>
#include <span>

namespace shoal {

Status Status::error(std::string_view message) {
    Status status;
    status.message_ = static_cast<char*>(allocate_memory(message.size() + 1, "status"));
    std::memcpy(status.message_, message.data(), message.size());
    status.message_[message.size()] = '\0';
    for (char& c : std::span(status.message_, message.size()))
        if (c == '\0') c = '?';
    return status;
}

char* Status::copy(const char* message) {
    if (message == nullptr) return nullptr;
    const std::size_t num_bytes = std::strlen(message) + 1;
    char* result = static_cast<char*>(allocate_memory(num_bytes, "status"));
    std::memcpy(result, message, num_bytes);
    return result;
}

void Status::release(char* message) noexcept { release_memory(message, std::strlen(message) + 1, "status"); }

}  // namespace shoal
