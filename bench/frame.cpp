// A frame of a game: eight passes over 200,000 entities of 12 kinds. Commands change a few entities in every frame. The
// reference has packed arrays for each kind, and arrays with the table and row of each entity.
//
//     in each frame    1,000 get wet, and 1,000 are dry again after ten frames
//                      1,000 die and are made again
//                      2,000 fall asleep or wake up: an enableable component
//
// All changes to an entity are derived from its own values, so both sides do the same in any row order.

#include "shoal/command/commands.h"
#include "shoal/query/query.h"
#include "shoal/world/world.h"

#include "body_components.h"
#include "reference.h"
#include "workloads.h"

#include <algorithm>
#include <string>
#include <vector>

namespace shoal_bench {
namespace {

using namespace shoal;

struct Life {
    std::uint32_t seed = 0, kind = 0, is_asleep = 0;
};
SHOAL_COMPONENT(Life, seed, kind, is_asleep)
struct Energy {
    float value = 1;
};
SHOAL_COMPONENT(Energy, value)
struct Age {
    float value = 0;
};
SHOAL_COMPONENT(Age, value)
struct Heat {
    float value = 1;
};
SHOAL_COMPONENT(Heat, value)
struct Wet {
    float since = 0;
};
SHOAL_COMPONENT(Wet, since)
struct Awake {};
SHOAL_COMPONENT((Awake, enableable))

constexpr std::size_t kAll = 200'000, kFirstWet = 10'000, kGivenOrTaken = 2'000;
constexpr std::uint32_t kNumKinds = 12;

constexpr float kLastsWet = 10 * kDt;

/// How many of 65,536 entities get wet, die, or change between asleep and awake in a frame; and the increment of
/// `since`.
struct Weather {
    std::uint32_t wet = 0, death = 0, sleep = 0;
    float wet_step = 0;
};
constexpr Weather kMixed{.wet = 328, .death = 328, .sleep = 655, .wet_step = kDt};
constexpr Weather kShowers{.wet = 328, .wet_step = kDt};
constexpr Weather kFrost{};  // no entity gets wet or dry

enum class Fate { kNone, kWet, kDeath, kSleep };

SHOAL_INLINE Fate draw_fate(std::uint32_t& seed, const Weather& weather) {
    seed = seed * 1664525u + 1013904223u;
    std::uint32_t drawn = seed >> 16;
    if (SHOAL_LIKELY(drawn >= weather.wet + weather.death + weather.sleep)) return Fate::kNone;
    if (drawn < weather.wet) return Fate::kWet;
    drawn -= weather.wet;
    return drawn < weather.death ? Fate::kDeath : Fate::kSleep;
}

// The work of a pass on one entity, shared by both sides.
Vec3 first_place(std::uint32_t seed) { return {float(seed >> 20), float(seed >> 10 & 1023), float(seed & 1023)}; }
Vec3 first_speed(std::uint32_t seed) { return {float(seed >> 24), float(seed >> 16 & 255), 0}; }
std::uint32_t next_seed(std::uint32_t seed) { return static_cast<std::uint32_t>(mix(seed)); }
SHOAL_INLINE void drag(Vec3& velocity, float mass) { velocity *= 1 - mass / 1024; }
SHOAL_INLINE void soak(float& since, float step, Vec3& position) {
    since += step;
    position.y -= since;
}

constexpr bool has_mass(std::uint32_t kind) { return kind % 3 == 1; }
constexpr bool has_energy(std::uint32_t kind) { return kind % 3 == 2; }
constexpr bool has_age(std::uint32_t kind) { return kind / 3 % 2 == 1; }
constexpr bool has_heat(std::uint32_t kind) { return kind / 6 == 1; }

// --- shoal ---------------------------------------------------------------------------------------------------------

/// Calls ask(values...) with the component values of an entity of a kind.
template <class Ask>
void with_components(std::uint32_t kind, std::uint32_t seed, const Ask& ask) {
    const auto with_food = [&](const auto&... others) {
        if (has_mass(kind)) return ask(others..., Mass{1});
        if (has_energy(kind)) return ask(others..., Energy{});
        ask(others...);
    };
    const auto with_age = [&](const auto&... others) {
        has_age(kind) ? with_food(others..., Age{}) : with_food(others...);
    };
    const auto with_heat = [&](const auto&... others) {
        has_heat(kind) ? with_age(others..., Heat{}) : with_age(others...);
    };
    with_heat(Position{first_place(seed)}, Velocity{first_speed(seed)}, Life{seed, kind, 0}, Awake{});
}

class Game {
public:
    explicit Game(bool in_database) {
        Database& database = world_.database();
        if (in_database)
            database.component<Wet>();
        else
            world_.manager<Wet>();
        Commands& commands = world_.commands();
        for (std::uint32_t i = 0; i < kAll; ++i)
            with_components(i % kNumKinds, next_seed(i), [&](const auto&... values) {
                const Entity made = commands.create(0, values...);
                if (i < kFirstWet) commands.add(made, Wet{});
            });
        world_.settle();
        add_moving_passes();
        add_changing_passes();
    }

    void set_weather(const Weather& weather) { weather_ = weather; }
    void frame() { world_.step(kDt); }
    std::uint64_t num_changes() const { return world_.settle_statistics().last.num_moved; }

    std::uint64_t sum() {
        std::uint64_t result = 0;
        world_.query<Read<&Position::value>, Read<&Velocity::value>, Read<&Life::seed>, Read<&Life::is_asleep>>()
            .for_each([&](Vec3 position, Vec3 velocity, std::uint32_t seed, std::uint32_t is_asleep) {
                result += bits_of(position) + 7 * bits_of(velocity) + mix(seed + is_asleep);
            });
        world_.query<Read<&Life::seed>, Read<&Wet::since>>().for_each(
            [&](std::uint32_t seed, float since) { result += mix(seed) * 3 + bits_of(since); });
        world_.query<Read<&Life::seed>, Read<&Heat::value>>().for_each(
            [&](std::uint32_t seed, float heat) { result += mix(seed) * 5 + bits_of(heat); });
        return result;
    }

private:
    void add_moving_passes() {
        Schedule& schedule = world_.schedule();
        schedule.add("move", world_.query<Write<&Position::value>, Read<&Velocity::value>>(),
                     [](auto&& position, Vec3 velocity) { position += velocity * kDt; });
        schedule.add("drag", world_.query<Write<&Velocity::value>, Read<&Mass::value>>(),
                     [](Vec3& velocity, float mass) { drag(velocity, mass); });
        schedule.add("starve", world_.query<Write<&Energy::value>>(), [](float& energy) { energy -= kDt; });
        schedule.add("age", world_.query<Write<&Age::value>>(), [](float& age) { age += kDt; });
        schedule.add("cool", world_.query<Write<&Heat::value>>(), [](float& heat) { heat *= 1 - kDt; });
        schedule.add("swim", world_.query<Write<&Velocity::value>, With<Awake>>(),
                     [](Vec3& velocity) { velocity.y += kDt; });
    }
    void add_changing_passes() {
        world_.schedule().add(
            "decide", world_.query<Write<&Life::seed>, Write<&Life::is_asleep>, Read<&Life::kind>>(),
            [this](Commands& commands, Entity self, std::uint32_t& seed, std::uint32_t& is_asleep, std::uint32_t kind) {
                const Fate fate = draw_fate(seed, weather_);
                if (SHOAL_UNLIKELY(fate != Fate::kNone)) meet(commands, self, fate, seed, is_asleep, kind);
            });
        world_.schedule().add("soak", world_.query<Write<&Wet::since>, Write<&Position::value>>(),
                              [this](Commands& commands, Entity self, float& since, Vec3& position) {
                                  soak(since, weather_.wet_step, position);
                                  if (since > kLastsWet) commands.remove<Wet>(self);
                              });
    }
    static void meet(Commands& commands, Entity self, Fate fate, std::uint32_t seed, std::uint32_t& is_asleep,
                     std::uint32_t kind) {
        if (fate == Fate::kWet) return commands.add(self, Wet{});
        if (fate == Fate::kDeath) {
            commands.destroy(self);
            return with_components(kind, next_seed(seed),
                                   [&](const auto&... values) { commands.create(0, values...); });
        }
        is_asleep ^= 1u;
        if (is_asleep != 0)
            commands.remove<Awake>(self);
        else
            commands.add(self, Awake{});
    }

    Weather weather_;
    EntityManager entities_;
    World world_{entities_};
};

// --- by hand -------------------------------------------------------------------------------------------------------

struct PlainRow {
    Vec3 position, velocity;
    Life life;
    float food = 1, age = 0, heat = 1, since = 0;
};

/// The rows of a kind, in columns. `food` is mass or energy.
struct PlainTable {
    bool has_food = false, has_age = false, has_heat = false, has_since = false;
    std::vector<std::uint32_t> owners;
    std::vector<Vec3> positions, velocities;
    std::vector<std::uint32_t> seeds, kinds, are_asleep;
    std::vector<float> foods, ages, heats, sinces;

    PlainRow row(std::size_t i) const {
        return {positions[i],
                velocities[i],
                {seeds[i], kinds[i], are_asleep[i]},
                has_food ? foods[i] : 1,
                has_age ? ages[i] : 0,
                has_heat ? heats[i] : 1,
                has_since ? sinces[i] : 0};
    }
    void append(std::uint32_t owner, const PlainRow& row) {
        owners.push_back(owner);
        positions.push_back(row.position), velocities.push_back(row.velocity);
        seeds.push_back(row.life.seed), kinds.push_back(row.life.kind), are_asleep.push_back(row.life.is_asleep);
        if (has_food) foods.push_back(row.food);
        if (has_age) ages.push_back(row.age);
        if (has_heat) heats.push_back(row.heat);
        if (has_since) sinces.push_back(row.since);
    }
    /// Replaces row i with the last row, and returns the owner of the moved row.
    std::uint32_t remove(std::size_t i) {
        const auto fill = [i](auto& column) {
            column[i] = column.back();
            column.pop_back();
        };
        fill(owners), fill(positions), fill(velocities), fill(seeds), fill(kinds), fill(are_asleep);
        if (has_food) fill(foods);
        if (has_age) fill(ages);
        if (has_heat) fill(heats);
        if (has_since) fill(sinces);
        return i < owners.size() ? owners[i] : 0xFFFFFFFF;
    }
};

/// Entities are numbers from 0 on. A wet entity either has a row in a separate table, or is in its kind's table of wet
/// entities.
class PlainGame {
public:
    explicit PlainGame(bool in_tables) : in_tables_(in_tables), place_of_(kAll), wet_row_of_(kAll, kNone) {
        for (std::uint32_t number = 0; number < 2 * kNumKinds; ++number) {
            const std::uint32_t kind = number % kNumKinds;
            PlainTable& table = tables_[number];
            table.has_food = has_mass(kind) || has_energy(kind);
            table.has_age = has_age(kind), table.has_heat = has_heat(kind), table.has_since = number >= kNumKinds;
        }
        for (std::uint32_t i = 0; i < kAll; ++i) create(i, i % kNumKinds, next_seed(i));
        for (std::uint32_t i = 0; i < kFirstWet; ++i) give(i);
    }

    void set_weather(const Weather& weather) { weather_ = weather; }
    void frame() {
        for (PlainTable& table : tables_) move(table);
        for (PlainTable& table : tables_) decide(table);
        soak_all();
        for (const std::uint32_t entity : given_) give(entity);
        for (const std::uint32_t entity : taken_) take(entity);
        for (const std::uint32_t entity : dead_) {
            take(entity);
            const PlainTable& table = tables_[place_of_[entity].table];
            const std::uint32_t row = place_of_[entity].row, kind = table.kinds[row], seed = table.seeds[row];
            remove(entity);
            create(entity, kind, next_seed(seed));
        }
        given_.clear(), taken_.clear(), dead_.clear();
    }

    std::uint64_t sum() const {
        std::uint64_t result = 0;
        for (const PlainTable& table : tables_)
            for (std::size_t i = 0; i < table.owners.size(); ++i) {
                result += bits_of(table.positions[i]) + 7 * bits_of(table.velocities[i]) +
                          mix(table.seeds[i] + table.are_asleep[i]);
                if (table.has_since) result += mix(table.seeds[i]) * 3 + bits_of(table.sinces[i]);
                if (table.has_heat) result += mix(table.seeds[i]) * 5 + bits_of(table.heats[i]);
            }
        for (std::size_t i = 0; i < wet_owners_.size(); ++i) {
            const RowLocation place = place_of_[wet_owners_[i]];
            result += mix(tables_[place.table].seeds[place.row]) * 3 + bits_of(wet_since_[i]);
        }
        return result;
    }

private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    struct RowLocation {
        std::uint32_t table = 0, row = 0;
    };

    SHOAL_BENCH_LOOP static void move(PlainTable& table) {
        const std::size_t n = table.owners.size();
        for (std::size_t i = 0; i < n; ++i) table.positions[i] += table.velocities[i] * kDt;
        const std::uint32_t kind = n == 0 ? 0 : table.kinds[0];
        for (std::size_t i = 0; has_mass(kind) && i < n; ++i) drag(table.velocities[i], table.foods[i]);
        for (std::size_t i = 0; has_energy(kind) && i < n; ++i) table.foods[i] -= kDt;
        for (float& age : table.ages) age += kDt;
        for (float& heat : table.heats) heat *= 1 - kDt;
        for (std::size_t i = 0; i < n; ++i)
            if (table.are_asleep[i] == 0) table.velocities[i].y += kDt;
    }
    SHOAL_BENCH_LOOP void decide(PlainTable& table) {
        for (std::size_t i = 0; i < table.owners.size(); ++i) {
            const Fate fate = draw_fate(table.seeds[i], weather_);
            if (SHOAL_LIKELY(fate == Fate::kNone)) continue;
            if (fate == Fate::kWet) given_.push_back(table.owners[i]);
            if (fate == Fate::kDeath) dead_.push_back(table.owners[i]);
            if (fate == Fate::kSleep) table.are_asleep[i] ^= 1u;
        }
    }
    SHOAL_BENCH_LOOP void soak_all() {
        const auto soak_one = [&](float& since, Vec3& position, std::uint32_t owner) {
            soak(since, weather_.wet_step, position);
            if (since > kLastsWet) taken_.push_back(owner);
        };
        for (std::size_t i = 0; i < wet_owners_.size(); ++i) {
            const RowLocation place = place_of_[wet_owners_[i]];
            soak_one(wet_since_[i], tables_[place.table].positions[place.row], wet_owners_[i]);
        }
        for (PlainTable& table : tables_)
            for (std::size_t i = 0; i < table.sinces.size(); ++i)
                soak_one(table.sinces[i], table.positions[i], table.owners[i]);
    }

    void append(std::uint32_t entity, std::uint32_t table, const PlainRow& row) {
        place_of_[entity] = {table, std::uint32_t(tables_[table].owners.size())};
        tables_[table].append(entity, row);
    }
    void remove(std::uint32_t entity) {
        const RowLocation place = place_of_[entity];
        if (const std::uint32_t moved = tables_[place.table].remove(place.row); moved != kNone)
            place_of_[moved] = place;
    }
    void create(std::uint32_t entity, std::uint32_t kind, std::uint32_t seed) {
        append(entity, kind, {first_place(seed), first_speed(seed), {seed, kind, 0}});
    }
    void move_to(std::uint32_t entity, std::uint32_t table, const PlainRow& row) {
        remove(entity);
        append(entity, table, row);
    }
    void give(std::uint32_t entity) {
        if (in_tables_) {
            const RowLocation place = place_of_[entity];
            PlainRow row = tables_[place.table].row(place.row);
            row.since = 0;
            return move_to(entity, row.life.kind + kNumKinds, row);
        }
        std::uint32_t& row = wet_row_of_[entity];
        if (row == kNone) {
            row = std::uint32_t(wet_owners_.size());
            wet_owners_.push_back(entity);
            wet_since_.push_back(0);
        }
        wet_since_[row] = 0;
    }
    void take(std::uint32_t entity) {
        const RowLocation place = place_of_[entity];
        if (in_tables_ && place.table >= kNumKinds)
            return move_to(entity, place.table - kNumKinds, tables_[place.table].row(place.row));
        const std::uint32_t row = wet_row_of_[entity];
        if (row == kNone) return;
        wet_owners_[row] = wet_owners_.back(), wet_since_[row] = wet_since_.back();
        wet_row_of_[wet_owners_[row]] = row, wet_row_of_[entity] = kNone;
        wet_owners_.pop_back(), wet_since_.pop_back();
    }

    bool in_tables_;
    Weather weather_;
    PlainTable tables_[2 * kNumKinds];                    // by kind, followed by the tables for wet entities
    std::vector<RowLocation> place_of_;                   // by entity
    std::vector<std::uint32_t> wet_owners_, wet_row_of_;  // the table of wet entities; rows by entity
    std::vector<float> wet_since_;
    std::vector<std::uint32_t> given_, taken_, dead_;  // recorded by the passes of a frame
};

/// Compares whole frames with the hand-written game.
void mixed(Bench& bench, const std::string& name, bool in_database) {
    if (!bench.wants(name)) return;
    Game game(in_database);
    PlainGame plain(in_database);
    game.set_weather(kMixed);
    plain.set_weather(kMixed);
    bench.compare({name, kAll}, {{}, [&] { game.frame(); }, [&] { return game.sum(); }},
                  {{}, [&] { plain.frame(); }, [&] { return plain.sum(); }});
}

/// Measures the cost of adding or removing a component, including commands and settle. Frames with changing weather are
/// compared to frames of the same game with the same number of wet entities and no changes.
void given_or_taken(Bench& bench, const std::string& name, bool in_database, double target_ns) {
    if (!bench.wants(name)) return;
    Game game(in_database);
    const auto run_frame = [&](const Weather& weather) {
        game.set_weather(weather);
        game.frame();
    };
    for (int i = 0; i < 32; ++i) run_frame(kShowers);
    if (game.num_changes() < kGivenOrTaken / 2) fail("the weather does not change");
    bench.compare({name, kGivenOrTaken}, {{}, [&] { run_frame(kShowers); }, [] { return 0; }},
                  {{}, [&] { run_frame(kFrost); }, [] { return 0; }}, [&](Measurement& result) {
                      result.change_ns = (result.ratio - 1) * result.reference_ns;
                      result.target_change_ns = target_ns;
                  });
}

}  // namespace

void measure_frames(Bench& bench) {
    mixed(bench, "frame/mixed_manager", false);
    mixed(bench, "frame/mixed_database", true);
    given_or_taken(bench, "frame/given_or_taken_manager", false, 150);
    given_or_taken(bench, "frame/given_or_taken_database", true, 300);
}

}  // namespace shoal_bench
