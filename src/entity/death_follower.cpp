#include "shoal/entity/detail/death_follower.h"

#include <algorithm>

namespace shoal {

void DeathFollower::sort(Array<Entity>& entities) { std::sort(entities.begin(), entities.end()); }

}  // namespace shoal
