#include "support/older_world.h"

#include "shoal/save/save.h"

namespace shoal_test {

void say_what_changed(ComponentRegistry& registry) {
    Migrations& hull = registry.migrations<now::Hull>();
    hull.from(1).rename("armour", "armor").convert("armor", [](float centimetres) { return 10 * centimetres; });
    hull.from(2).split("size", {"width", "length"}, [](Vec2 size, float& width, float& length) {
        width = size.x;
        length = size.y;
    });
    registry.migrations<now::Sail>().from(1).convert("area", [](float area) { return area + 100; });
    registry.migrations<now::Wind>().from(1).split("speed", {"velocity"},
                                                   [](float speed, Vec3& velocity) { velocity = {0, speed, 0}; });
    registry.migrations<now::Mooring>().renamed_from("berth");
    registry.migrations<now::Logbook>().renamed_from("log");
    must(registry.add<now::Signal>().ok());
}

Then::Then(std::uint64_t seed, std::uint32_t num_ships) : world(entities, {.seed = seed}), sea(world.database()) {
    sea.component<Spot>(), sea.component<then::Hull>(), sea.component<then::Signal>(), sea.component<then::Log>();
    sea.component<then::Berth>(), sea.component<Plankton>();
    world.manager<then::Cargo>(), world.manager<then::Sail>(), world.manager<then::Follows>();
    world.manager<Fin>(), world.singleton<then::Wind>();
    fill(world.random(), num_ships);
}

void Then::fill(Random& random, std::uint32_t num_ships) {
    for (std::uint32_t i = 0; i < num_ships; ++i) {
        const Entity made = *entities.create();
        all.push_back(made);
        const then::Hull hull{random.unit(),
                              {random.unit(), 5},
                              std::uint16_t(i),
                              random.below(2) == 0 ? then::Paint::kGrey : then::Paint::kRed};
        const Zone zone = random.below(3);
        must(sea.insert(made, zone, Spot{{float(i), 0, 0}}, hull).ok());
        if (i % 3 == 0) must(sea.add(made, then::Berth{i + 7}).ok());
        const then::Signal signal{std::uint8_t(i)};
        if (i % 8 == 0) must(sea.add(made, Disabled{signal}).ok());
        if (i % 8 == 4) must(sea.add(made, signal).ok());
        if (i % 5 == 0) must(sea.add(made, Plankton{i, Kind::kAnimal, true}).ok());
        for (std::uint32_t k = 0; k < i % 3; ++k) must(sea.add(made, then::Log{float(i + k)}).ok());
        for (std::uint32_t k = 0; k < i % 4; ++k) must(world.manager<then::Cargo>().add(made, {i * 10 + k}).ok());
        if (i % 2 == 0) must(world.manager<then::Sail>().add(made, {float(i)}).ok());
        if (i % 7 == 1) must(world.manager<then::Follows>().add(made, {float(i), all[i / 2]}).ok());
        if (i % 6 == 0) must(world.manager<Fin>().add(made, {{1, 2, float(i)}, 0.5f}).ok());
    }
    for (std::uint32_t i = 0; i < all.size(); i += 11) entities.destroy(all[i]);
    world.singleton<then::Wind>().speed = 12;
    for (int i = 0; i < 3; ++i) world.step(0.1f);
}

Array<std::byte> Then::bytes() {
    Array<std::byte> result{Owner("test")};
    must(save(world, result).ok());
    return result;
}

Now::Now() : world(entities), sea(world.database()) {
    say_what_changed(world.registry());
    sea.component<now::Logbook>(), sea.component<Plankton>(), sea.component<now::Mooring>();
    sea.component<now::Signal>(), sea.component<now::Hull>(), sea.component<Spot>();
    world.manager<now::Follows>(), world.manager<now::Sail>(), world.manager<now::Cargo>();
    world.manager<Fin>(), world.singleton<now::Wind>();
}

}  // namespace shoal_test
