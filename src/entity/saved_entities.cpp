#include "shoal/entity/saved_entities.h"

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"

namespace shoal {

Status check_entities(StateReader& from, std::string_view name, std::span<const Entity> entities, NullEntities nulls) {
    if (from.is_trusted()) return {};
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (is_possible(entities[i]) || (!entities[i] && nulls == NullEntities::kAllowed)) continue;
        return from.error(
            name, concat("element ", i, " is ", entity_text(entities[i]), ", which is not the id of an entity"));
    }
    return {};
}

Status read_entities(StateReader& from, std::string_view name, Array<Entity>& to, NullEntities nulls) {
    if (Status status = from.array(name, to); !status) return status;
    return check_entities(from, name, to, nulls);
}

}  // namespace shoal
