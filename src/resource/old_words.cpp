#include "shoal/resource/detail/old_words.h"

#include "shoal/database/spawn_zone.h"
#include "shoal/resource/detail/property_table.h"
#include "shoal/resource/migration.h"

namespace shoal::old_words {

const Schema* schema_of_today(const Schema& older) {
    const Schema* const now = older.name() == kProperties ? &schema_of<Properties>()
                              : older.name() == kDisabled ? &schema_of<SpawnDisabled>()
                                                          : nullptr;
    return now != nullptr && differ_in_name_only(older, *now) ? now : nullptr;
}

}  // namespace shoal::old_words
