// Compares loops and look-ups of a typed database, whose archetypes are listed, to the same calls of an untyped
// database.

#include "shoal/query/typed_database.h"
#include "reference.h"
#include "shoal/base/random.h"
#include "workloads.h"

#include <bit>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct ListedPosition {
    Vec3 value;
};
SHOAL_COMPONENT(ListedPosition, value)
struct ListedVelocity {
    Vec3 value = {1, 2, 3};
};
SHOAL_COMPONENT(ListedVelocity, value)
struct ListedFood {
    float value = 1;
};
SHOAL_COMPONENT(ListedFood, value)

namespace {

using Types = Archetypes<Has<ListedPosition, ListedVelocity>, Has<ListedPosition, ListedFood>>;

/// Half of the entities swim, half are food.
struct Sea {
    explicit Sea(std::size_t n) : asked(n) {
        need_ok(typed.create<ListedPosition, ListedVelocity>(std::span(asked).first(n / 2), 0));
        need_ok(typed.create<ListedPosition, ListedFood>(std::span(asked).subspan(n / 2), 0));
        Random random(1);
        for (std::size_t i = n; i > 1; --i) std::swap(asked[i - 1], asked[random.below(i)]);
    }
    std::uint64_t checksum() {
        std::uint64_t sum = 0;
        query<Read<&ListedPosition::value>>(database).for_each(
            [&](const Vec3& p) { sum += std::bit_cast<std::uint32_t>(p.x); });
        return sum;
    }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    TypedDatabase<Types> typed{database};
    std::vector<Entity> asked;
};

void iterate_typed(Bench& bench, std::size_t n) {
    if (!bench.wants("typed_database/iterate")) return;
    Sea mine(n), other(n);
    const auto swim = [](auto&& p, Vec3 v) { p += v * (1.0f / 64); };
    const auto typed = mine.typed.query<Write<&ListedPosition::value>, Read<&ListedVelocity::value>>();
    const auto plain = query<Write<&ListedPosition::value>, Read<&ListedVelocity::value>>(other.database);
    // Both sides run the same number of times, so their checksums are equal.
    bench.compare({"typed_database/iterate", n, 1.05},
                  {{}, [&] { typed.for_each(swim); }, [&] { return mine.checksum(); }},
                  {{}, [&] { plain.for_each(swim); }, [&] { return other.checksum(); }});
}

void get_shuffled(Bench& bench, std::size_t n) {
    if (!bench.wants("typed_database/get_shuffled")) return;
    Sea sea(n);
    float mine = 0, other = 0;
    const auto typed = [&] {
        mine = 0;
        for (const Entity entity : sea.asked) mine += sea.typed.get<&ListedPosition::value>(sea.typed.find(entity)).x;
    };
    const auto plain = [&] {
        other = 0;
        for (const Entity entity : sea.asked)
            other += sea.database.get<&ListedPosition::value>(sea.database.find(entity)).x;
    };
    bench.compare({"typed_database/get_shuffled", n, 1.05}, {{}, typed, [&] { return std::uint64_t(mine); }},
                  {{}, plain, [&] { return std::uint64_t(other); }});
}

}  // namespace

void measure_typed_databases(Bench& bench) {
    for (const std::size_t n : bench.sizes({10'000, 100'000, 1'000'000})) {
        iterate_typed(bench, n);
        get_shuffled(bench, n);
    }
}

}  // namespace shoal_bench
