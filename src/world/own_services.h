#pragma once
// The services that every world has.

#include "shoal/world/places.h"
#include "shoal/world/reactions.h"
#include "shoal/world/relations.h"
#include "shoal/world/service.h"
#include "shoal/world/world.h"
#include "world/text_uses.h"

namespace shoal {

struct World::OwnServices {
    explicit OwnServices(World& world) : relations(world), places(world), reactions(world), texts(world) {
        for (WorldService* service : {static_cast<WorldService*>(&relations), static_cast<WorldService*>(&places),
                                      static_cast<WorldService*>(&reactions), static_cast<WorldService*>(&texts)})
            world.services().add(*service);
    }

    Relations relations;
    FollowedPlaces places;
    Reactions reactions;
    TextCollection texts;
};

}  // namespace shoal
