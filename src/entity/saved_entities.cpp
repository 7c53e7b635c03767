#include "shoal/entity/detail/saved_entities.h"

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"

namespace shoal {

Status check_entities(SnapshotReader& from, std::string_view name, std::span<const Entity> entities, bool may_be_null) {
    if (from.is_trusted()) return {};
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (is_possible(entities[i]) || (!entities[i] && may_be_null)) continue;
        return from.error(
            name, concat("element ", i, " is ", entity_text(entities[i]), ", which is not the id of an entity"));
    }
    return {};
}

Status read_entities(SnapshotReader& from, std::string_view name, Array<Entity>& to, bool may_be_null) {
    if (Status status = from.array(name, to); !status) return status;
    return check_entities(from, name, to, may_be_null);
}

}  // namespace shoal
