#include "shoal/entity/entity_text.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <charconv>

namespace shoal {

std::string entity_text(Entity entity) {
    return entity ? concat(entity.index(), ':', entity.generation()) : std::string("null");
}

bool read_entity(std::string_view text, Entity& entity) {
    if (text == "null") return entity = kNullEntity, true;
    const std::size_t colon = std::min(text.find(':'), text.size());
    const char* const end = text.data() + text.size();
    std::uint64_t index = 0, generation = 0;
    const auto before = std::from_chars(text.data(), text.data() + colon, index);
    if (colon == text.size() || before.ec != std::errc() || before.ptr != text.data() + colon) return false;
    const auto after = std::from_chars(text.data() + colon + 1, end, generation);
    if (after.ec != std::errc() || after.ptr != end) return false;
    if (index == 0 || index > kIndexMask || generation == 0 || generation > kGenerationMask) return false;
    entity = make_entity(static_cast<std::uint32_t>(index), static_cast<Generation>(generation));
    return true;
}

}  // namespace shoal
