#include "memory_limit.h"

#include "shoal/base/text.h"
#include "shoal/save/save.h"

namespace shoal_tool {

shoal::LoadOptions load_options(const Arguments& arguments) {
    return {.max_bytes = arguments.size(kMaxMemoryFlag.name)};
}

std::string for_user(std::string_view message) {
    constexpr std::string_view kForPrograms = "set LoadOptions::max_bytes";
    const std::size_t at = message.find(kForPrograms);
    if (at == std::string_view::npos) return std::string(message);
    return shoal::concat(message.substr(0, at), "give --", kMaxMemoryFlag.name, " a larger ", kMaxMemoryFlag.value,
                         message.substr(at + kForPrograms.size()));
}

}  // namespace shoal_tool
