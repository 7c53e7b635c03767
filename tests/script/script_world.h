#pragma once
// A world with wheels, and scripts in it.

#include "shoal/script/scripts.h"
#include "shoal/world/world.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace shoal {

struct Wheel {
    float angle = 0, speed = 0;
};
SHOAL_COMPONENT((Wheel, name("wheel")), angle, speed)

struct ScriptWorld {
    explicit ScriptWorld(const ScriptOptions& options = {}) : world(entities), scripts(world, options) {
        world.manager<Wheel>();
    }

    /// Makes wheels of speed 0, 1, 2 ...
    std::vector<Entity> make_wheels(std::size_t count) {
        std::vector<Entity> made(count);
        EXPECT_TRUE(entities.create(made));
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_TRUE(world.manager<Wheel>().add(made[i], {.speed = static_cast<float>(i)}));
        return made;
    }
    float angle(Entity entity) {
        return world.manager<Wheel>().get<&Wheel::angle>(world.manager<Wheel>().instance(entity));
    }
    /// Runs a text as script "test", and shows the error if there is one.
    bool run(std::string_view text) {
        const Status status = scripts.run(text, "test");
        if (!status) std::fprintf(stderr, "%.*s\n", static_cast<int>(status.message().size()), status.message().data());
        return status.ok();
    }
    /// The message of a text that fails.
    std::string error_of(std::string_view text) { return std::string(scripts.run(text, "test").message()); }

    EntityManager entities{{.max_death_list = 64}};  ///< a burst that no list has room for is short
    World world;
    Scripts scripts;
};

}  // namespace shoal
