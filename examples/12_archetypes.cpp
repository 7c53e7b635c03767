// A program that knows its archetypes can list them. Code that uses an unlisted combination does not compile.
#include <shoal/query/typed_database.h>

#include <cstdio>
#include <vector>

struct Position {
    shoal::Vec3 value{};
};
SHOAL_COMPONENT(Position, value)
struct Velocity {
    shoal::Vec3 value{};
};
SHOAL_COMPONENT(Velocity, value)
struct Food {
    float grams = 1;
};
SHOAL_COMPONENT(Food, grams)

using Types = shoal::Archetypes<shoal::Has<Position, Velocity>,         // fish
                                shoal::Has<Position, Food>,             // plankton
                                shoal::Has<Position, Velocity, Food>>;  // shrimp

int main() {
    using namespace shoal;
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    TypedDatabase<Types> sea(database);

    std::vector<Entity> fish(100), plankton(1000), shrimp(10);
    if (!sea.create<Position, Velocity>(fish, 0, Position{}, Velocity{{1, 0, 0}})) return 1;
    if (!sea.create<Position, Food>(plankton, 0)) return 1;
    if (!sea.create<Position, Velocity, Food>(shrimp, 0)) return 1;
    //     sea.create<Velocity, Food>(...);          error: no listed archetype has just these components
    //     sea.query<Read<&Asleep::since>>();        error: no listed archetype matches this query

    const auto swim = sea.query<Write<&Position::value>, Read<&Velocity::value>>();
    swim.for_each([](auto&& position, Vec3 velocity) { position += velocity * 0.5f; });
    std::printf("%d of 3 archetypes swim, %d rows; a fish is at x = %g\n",
                sea.kNumMatching<Write<&Position::value>, Read<&Velocity::value>>, static_cast<int>(swim.num_rows()),
                sea.get<&Position::value>(sea.find(fish[3])).x);

    // The components of an entity are known only at run time. Changing to an unlisted archetype is an error.
    if (!sea.add(fish[0], Food{2})) return 1;
    const Result<bool> step = sea.remove<Position>(plankton[0]);
    std::printf("%s\n", std::string(step.message()).c_str());
}
