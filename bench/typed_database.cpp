// The typed view of a database with listed archetypes. Loops and look-ups are measured against the same calls of the
// database; adding and removing a component, which the view inlines, against plain columns.

#include "shoal/query/typed_database.h"
#include "body_components.h"
#include "plain_bodies.h"
#include "plain_sea.h"
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
    // Both sides run equally often, so that they have moved the same.
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

/// Entities gain and lose a mass: all in order, or (the suffix) 1 percent of them in random order.
struct Bodies {
    using Types = Archetypes<Has<Position, Velocity>, Has<Position, Velocity, Mass>>;

    explicit Bodies(std::size_t count) : n(count), values(count), ids(count), plain(count + 1, count) {
        need_ok(entities.create(ids));
    }
    void refill(bool heavy) {
        database.drop(ids);
        if (heavy)
            need_ok(database.insert<Position, Velocity, Mass>(ids, 0, positions(), velocities(), masses()).status());
        else
            need_ok(database.insert<Position, Velocity>(ids, 0, positions(), velocities()).status());
    }
    void refill_plain(bool heavy) {
        plain.clear();
        plain.add_all(heavy ? PlainSea::kHeavy : PlainSea::kLight, ids, values.position.data(), values.velocity.data(),
                      heavy ? values.mass.data() : nullptr);
    }
    std::span<const Position> positions() const {
        return {reinterpret_cast<const Position*>(values.position.data()), n};
    }
    std::span<const Velocity> velocities() const {
        return {reinterpret_cast<const Velocity*>(values.velocity.data()), n};
    }
    std::span<const Mass> masses() const { return {reinterpret_cast<const Mass*>(values.mass.data()), n}; }

    std::uint64_t sum() {
        std::uint64_t result = 0;
        query<Read<&Position::value>, Read<&Velocity::value>, Maybe<&Mass::value>>(database).for_each(
            [&](Entity entity, const Vec3& p, const Vec3& v, const float* mass) {
                result += bits_of(entity, p, v, mass == nullptr ? 0 : *mass);
            });
        return result;
    }

    std::size_t n;
    BodyValues values;
    EntityManager entities;
    PagePool pool;
    std::vector<Entity> ids;
    Database database{entities, pool};
    TypedDatabase<Types> typed{database};
    PlainSea plain;
};

void change_one(Bench& bench, Bodies& bodies, bool adds, const std::string& suffix,
                std::span<const std::uint32_t> order) {
    const std::string name = (adds ? "typed_database/add_one" : "typed_database/remove_one") + suffix;
    if (!bench.wants(name)) return;
    const auto refill = [&] { bodies.refill(!adds); };
    const auto refill_plain = [&] { bodies.refill_plain(!adds); };
    const auto change = [&] {
        std::uint32_t num_changed = 0;
        if (adds)
            for (const std::uint32_t i : order)
                num_changed += bodies.typed.add(bodies.ids[i], Mass{float(i % 13)})->num_added;
        else
            for (const std::uint32_t i : order) num_changed += *bodies.typed.remove<Mass>(bodies.ids[i]);
        if (num_changed != order.size()) fail("a component did not come or go");
    };
    const auto change_plain = [&] {
        for (const std::uint32_t i : order)
            bodies.plain.change(bodies.ids[i], adds ? PlainSea::kHeavy : PlainSea::kLight, float(i % 13));
    };
    bench.compare({name, order.size(), 1.3}, {refill, change, [&] { return bodies.sum(); }},
                  {refill_plain, change_plain, [&] { return bodies.plain.sum(); }});
}

void change(Bench& bench, std::size_t n) {
    if (!bench.wants("typed_database/add_one") && !bench.wants("typed_database/remove_one")) return;
    Bodies bodies(n);
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0u);
    const std::vector<std::uint32_t> shuffled = shuffled_numbers(n, 3);
    for (const bool adds : {true, false}) {
        change_one(bench, bodies, adds, "", all);
        change_one(bench, bodies, adds, "_1_percent", std::span(shuffled).first(n / 100));
    }
}

}  // namespace

void measure_typed_databases(Bench& bench) {
    for (const std::size_t n : bench.sizes({10'000, 100'000, 1'000'000})) {
        iterate_typed(bench, n);
        get_shuffled(bench, n);
        change(bench, n);
    }
}

}  // namespace shoal_bench
