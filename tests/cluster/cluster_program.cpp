// A world that is made of numbers of a seed, run by any number of ranks: it prints the hash of its state after each
// frame, which is to be the same for all. cluster_test.cpp runs it.
//
//     cluster_program --seed 7 --frames 30 --workers 2 --entities 400
//         [--rebalance 5] [--checkpoint FOLDER --at 10 | --each] [--restore FOLDER [--empty]] [--report]
//         [--kill-after MICROSECONDS] ...

#include "shoal/cluster/cluster.h"

#include "shoal/base/text.h"
#include "shoal/command/commands.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/job/executor.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <sys/resource.h>

using namespace shoal;

struct Place {
    Vec3 position{};
};
SHOAL_COMPONENT(Place, (position, split))
struct Motion {
    Vec3 velocity{};
};
SHOAL_COMPONENT(Motion, velocity)
struct Charge {
    float value = 0;
    std::uint32_t births = 0;
};
SHOAL_COMPONENT(Charge, value, births)
struct Friend {
    Entity other{};
};
SHOAL_COMPONENT(Friend, other)
struct Asleep {
    std::uint32_t frames = 0;
};
SHOAL_COMPONENT((Asleep, enableable), frames)
struct Mass {  // kept by a manager
    float value = 1;
    Entity heavier{};
};
SHOAL_COMPONENT(Mass, value, heavier)

namespace {

struct Options {
    std::uint64_t seed = 1, frames = 20, workers = 1, entities = 300, rebalance = 0, at = 0, kill_after = 0, tiles = 6,
                  crowd = 0;
    std::string checkpoint, restore, mistake;
    bool report = false, list = false, each = false, empty = false;
};

Options read(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const char* const value = i + 1 < argc ? argv[i + 1] : "";
        const auto number = [&](std::string_view name, std::uint64_t& to) {
            if (word == name) to = std::strtoull(value, nullptr, 10), ++i;
        };
        number("--seed", options.seed), number("--frames", options.frames), number("--workers", options.workers);
        number("--entities", options.entities), number("--rebalance", options.rebalance), number("--at", options.at);
        number("--kill-after", options.kill_after), number("--tiles", options.tiles);
        number("--crowd", options.crowd);
        if (word == "--checkpoint") options.checkpoint = value, ++i;
        if (word == "--restore") options.restore = value, ++i;
        if (word == "--mistake") options.mistake = value, ++i;
        if (word == "--list") options.list = true;
        if (word == "--each") options.each = true;
        if (word == "--empty") options.empty = true;
        if (word == "--report") options.report = true;
    }
    return options;
}

struct Sea {
    Sea(const Options& given, Executor& executor, const GridZones& grid)
        : options(given),
          world(entities, {.executor = &executor, .seed = given.seed + (is_other("seed") ? 1 : 0)}),
          database(world.database()),
          masses(world.manager<Mass>()),
          transforms(world.transforms()),
          tiles(is_other("tiles") ? GridZones({.tile_size = 9, .num_x = 6, .num_y = 6}) : grid),
          cluster(world, MPI_COMM_WORLD,
                  {.zones = tiles,
                   .reach = 1,
                   .divide = given.mistake == "division" ? divide_by_rank : nullptr,
                   .imbalance = is_other("imbalance") ? 0.5 : 0}) {}

    /// Whether this rank is to differ from the others in something.
    bool is_other(std::string_view in) const {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return options.mistake == in && rank == 1;
    }
    /// Says something else on each rank.
    static void divide_by_rank(const void*, std::span<const std::uint64_t>, std::uint32_t num_ranks,
                               std::span<std::uint32_t> ranks) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        for (std::size_t zone = 0; zone < ranks.size(); ++zone)
            ranks[zone] = static_cast<std::uint32_t>(zone + std::size_t(rank)) % num_ranks;
    }

    Options options;
    EntityManager entities;
    World world;
    Database& database;
    Manager<Mass>& masses;
    TransformManager& transforms;
    GridZones tiles;
    Cluster cluster;
};

float size_of(const Sea& sea) { return static_cast<float>(sea.options.tiles) * 10; }

[[noreturn]] void fail(const Status& status) {
    std::fprintf(stderr, "error: %.*s\n", int(status.message().size()), status.message().data());
    std::fflush(stderr);
    int is_there = 0;
    MPI_Initialized(&is_there);
    if (is_there != 0) MPI_Finalize();
    std::exit(1);
}
void require(const Status& status) {
    if (!status) fail(status);
}
template <class T>
T require(Result<T> result) {
    if (!result) fail(result.status());
    return std::move(*result);
}

void spawn(Sea& sea) {
    Random random(sea.options.seed + (sea.is_other("entities") ? 1 : 0));
    std::vector<Entity> all, dust;
    for (std::uint64_t i = 0; i < sea.options.entities; ++i) {
        const Vec3 place{random.unit() * size_of(sea), random.unit() * size_of(sea), 0};
        const Vec3 velocity{(random.unit() - 0.5f) * 20, (random.unit() - 0.5f) * 20, 0};
        const Zone zone = sea.tiles.zone_of(place);
        const Entity entity = require(
            i % 3 == 0 ? sea.database.create(zone, Place{place}, Motion{velocity}, Charge{random.unit(), 0}, Friend{},
                                             Asleep{})
                       : sea.database.create(zone, Place{place}, Motion{velocity}, Charge{random.unit(), 0}, Friend{}));
        all.push_back(entity);
        if (i % 4 == 0) {
            require(sea.masses.add(std::span(&entity, 1),
                                   Mass{random.unit(), all[random.below(std::uint32_t(all.size()))]}));
            require(sea.world.find_field("debug_name.name").status());
        }
        if (i % 5 == 0) {
            Entity child{};
            require(sea.entities.create(std::span(&child, 1)));
            require(sea.world.get<&Place::position>(entity) ? Status() : Status::error("a place is missing"));
            sea.world.commands().add(entity, Transform{.position = place});
            sea.world.commands().add(child, Transform{.position = {random.unit(), 0, 0}});
            sea.world.commands().add(child, ChildOf{entity});
            sea.world.commands().add(child, Mass{random.unit(), entity});
        }
        if (i % 15 == 0) {  // one that swims beside it and hangs below it, with something below in its turn
            const Entity mate =
                require(sea.database.create(zone, Place{place}, Motion{velocity}, Charge{0, 0}, Friend{entity}));
            Entity child{};
            require(sea.entities.create(std::span(&child, 1)));
            sea.world.commands().add(mate, Transform{.position = place});
            sea.world.commands().add(mate, ChildOf{entity});
            sea.world.commands().add(child, Transform{.position = {0, random.unit(), 0}});
            sea.world.commands().add(child, ChildOf{mate});
            all.push_back(mate);
        }
        if (i % 4 == 1)  // one that is numbers alone, until it meets another
            dust.push_back(
                require(i % 8 == 1 ? sea.database.create(zone, Place{place}, Motion{velocity}, Charge{random.unit(), 3})
                                   : sea.database.create(zone, Place{place}, Motion{velocity}, Charge{random.unit(), 4},
                                                         Asleep{random.below(9)})));
        if (i % 16 == 5) sea.world.commands().remove<Asleep>(dust.back());
        if (i % 6 == 0) sea.world.commands().tag(entity, "marked");
        if (i % 7 == 0) sea.world.commands().name(entity, concat("one ", i));
    }
    for (std::uint64_t i = 0; i < sea.options.crowd; ++i)  // a zone of which each column is a message of its own
        require(sea.database.create(7, Place{{15, 15, 0}}, Motion{}, Charge{random.unit(), 6}).status());
    for (const Entity entity : all)
        sea.world.commands().set<&Friend::other>(entity, random.below(4) == 0 && !dust.empty()
                                                             ? dust[random.below(std::uint32_t(dust.size()))]
                                                             : all[random.below(std::uint32_t(all.size()))]);
    sea.world.settle();
}

/// Returns the first entity of a zone, which is the same for any number of ranks.
Entity first_of(const Sea& sea, Zone zone) {
    const DatabaseTable* const table =
        sea.database.find_table(sea.database.archetype<Place, Motion, Charge, Friend>(), zone);
    return table == nullptr || table->num_rows() == 0 ? kNullEntity : table->entities()[0];
}

void add_mistakes(Sea& sea) {
    const std::string_view mistake = sea.options.mistake;
    Schedule& schedule = sea.world.schedule();
    const LiveZones& near = sea.cluster.near();
    if (mistake == "order") schedule.add("late", sea.world.query<Read<&Place::position>>().in(near), [](Vec3) {});
    if (mistake == "writes")
        schedule.add("bad", sea.world.query<Write<&Charge::value>>(), [](float& value) { value = 0; });
    if (mistake == "zone")
        schedule.add("one", sea.world.query<Write<&Charge::value>>().in({3}), [](float& value) { value = 0; });
    if (mistake == "references")
        schedule.add("friends", sea.world.query<Read<&Friend::other>>().in(near), [](Entity) {});
    if (mistake == "itself")
        schedule.add("mix",
                     {reads<&Charge::births>(sea.database).in(near),
                      writes<&Charge::births>(sea.database).in(sea.cluster.own())},
                     [](PassContext&) {});
    if (mistake == "columns") {
        if (sea.is_other("columns"))
            schedule.add("look", sea.world.query<Read<&Charge::births>>().in(near), [](std::uint32_t) {});
        else
            schedule.add("look", sea.world.query<Read<&Motion::velocity>>().in(sea.cluster.own()), [](Vec3) {});
    }
}

void add_passes(Sea& sea) {
    World& world = sea.world;
    Cluster& cluster = sea.cluster;
    const float size = size_of(sea);
    // Reads what is around in the halo, in the order of rows: a sum of floats shows when the order is another.
    world.schedule().add(
        "feel",
        {reads<&Place::position>(sea.database), reads<&Motion::velocity>(sea.database),
         writes<&Charge::value>(sea.database).in(cluster.own())},
        [&sea](PassContext&) {
            const auto position = sea.database.field<&Place::position>();
            sea.cluster.own().now().for_each([&](Zone zone) {
                Vec3 sum{};
                const std::uint32_t n = std::uint32_t(sea.options.tiles), x = zone % n, y = zone / n;
                for (std::uint32_t row = y == 0 ? 0 : y - 1; zone < n * n && row < std::min(n, y + 2); ++row)
                    for (std::uint32_t column = x == 0 ? 0 : x - 1; column < std::min(n, x + 2); ++column)
                        for (const bool sleeps : {false, true}) {
                            const DatabaseTable* const table = sea.database.find_table(
                                sleeps ? sea.database.archetype<Place, Motion, Charge, Friend, Asleep>()
                                       : sea.database.archetype<Place, Motion, Charge, Friend>(),
                                row * n + column);
                            if (table == nullptr) continue;
                            const auto p = table->column<&Place::position>(sea.database.find_component<Place>());
                            const auto v = table->column<&Motion::velocity>(sea.database.find_component<Motion>());
                            const ComponentType asleep = sea.database.find_component<Asleep>();
                            for (std::uint32_t i = 0; i < table->num_rows(); ++i)
                                sum += sleeps && table->has(asleep, i) ? Vec3(p[i]) * 0.01f
                                                                       : Vec3(p[i]) * 0.01f + Vec3(v[i]);
                        }
                sea.database.for_each_table_of_zone(zone, [&](DatabaseTable& table) {
                    const ComponentType charge = sea.database.find_component<Charge>();
                    if (!table.type().has(charge) || table.num_rows() == 0) return;
                    auto value = table.unmarked_column<&Charge::value>(charge);
                    for (std::uint32_t i = 0; i < table.num_rows(); ++i)
                        value[i] = value[i] * 0.9f + sum.x * 1e-3f + sum.y * 1e-4f;
                    table.mark_written<&Charge::value>(charge, {0, table.num_rows()});
                });
            });
        });
    // Runs beside the pass "halo".
    world.schedule().add("look at names", {reads<&Charge::births>(sea.database).in(cluster.own())},
                         [&sea](PassContext&) {
                             sea.cluster.own().now().for_each([&](Zone zone) {
                                 sea.database.for_each_table_of_zone(zone, [&](DatabaseTable& table) {
                                     const std::span<const std::uint64_t> names = sea.cluster.names(table);
                                     bool same = names.size() == table.num_rows();
                                     for (std::uint32_t row = 0; same && row < table.num_rows(); ++row)
                                         same = names[row] == sea.cluster.name(table.entities()[row]) &&
                                                sea.cluster.find(names[row]) == table.entities()[row];
                                     if (!same) std::abort();
                                 });
                             });
                         });
    // Commands about those nearby, in the halo too. Each is asked about by one other at most.
    world.schedule().add(
        "meet", world.query<With<Charge>>().in(cluster.near()),
        [&sea](const PassContext& frame, Commands& commands, Entity entity) {
            const Zone zone = sea.database.find(entity).table->zone(),
                       asks = zone % sea.options.tiles == 0 ? zone : zone - 1;
            if (!sea.cluster.own().now().contains(asks)) return;  // who owns the zone before asks
            Random random = frame.random_for(sea.cluster.name(entity));
            const std::uint32_t what = random.below(60);
            if (what == 0) commands.destroy(entity);
            if (what == 1) commands.add(entity, Mass{random.unit(), entity});
            if (what == 2) commands.remove<Mass>(entity);
            if (what == 3) commands.add(entity, Asleep{random.below(9)});
            if (what == 11) commands.add(entity, Disabled{Asleep{random.below(9)}});
            if (what == 4) commands.remove<Asleep>(entity);
            if (what == 5) commands.set<&Charge::births>(entity, random.below(100));
            if (what == 6) commands.tag(entity, "met");
            if (what == 7) commands.untag(entity, "met");
            if (what == 8) commands.name(entity, concat("met ", random.below(1000)));
            if (what == 10 && asks % sea.options.tiles != 0)  // one that the owner may not know
                if (const Entity far = first_of(sea, asks - 1)) commands.set<&Friend::other>(entity, far);
            if (what == 12 || what == 13) {  // one that the owner hears of before it is born
                const std::uint32_t n = std::uint32_t(sea.options.tiles * sea.options.tiles);
                const Entity born = commands.create(random.below(n), Place{}, Motion{{1, 2, 0}},
                                                    Charge{random.unit(), 9}, Friend{entity}, Transform{});
                const Entity child = commands.create(Transform{}, ChildOf{born}, Mass{random.unit()});
                if (what == 13) commands.move(born, random.below(n));
                commands.set<&Friend::other>(entity, random.below(2) == 0 ? born : child);
            }
            if (what == 14) {  // one that is never born
                const Entity none = commands.create(asks, Place{}, Charge{});
                commands.destroy(none);
                commands.add(entity, Mass{random.unit(), none});
            }
            if (what == 9) commands.move(entity, random.below(std::uint32_t(sea.options.tiles * sea.options.tiles)));
        });
    world.schedule().add(
        "bear", world.query<Read<&Place::position>, Read<&Friend::other>>().in(cluster.own()),
        [&sea, size](const PassContext& frame, Commands& commands, Entity entity, Vec3 position, Entity other) {
            Random random = frame.random_for(sea.cluster.name(entity));
            if (random.below(50) != 0) return;
            const Vec3 place{std::min(position.x + random.unit() * 12, size),
                             std::min(position.y + random.unit() * 12, size), 0};
            const Vec3 velocity{random.unit() * 9, random.unit() * 9, 0};
            const Entity born = commands.create(sea.tiles.zone_of(place), Place{place}, Motion{velocity},
                                                Charge{random.unit(), 1}, Friend{other});
            if (random.below(3) == 0) commands.add(born, Mass{random.unit(), entity});
            if (random.below(3) == 0) commands.set<&Friend::other>(entity, born);
            if (random.below(2) == 0) {  // a ring of three that are born in one frame, mostly in different zones
                const Zone last = std::uint32_t(sea.options.tiles * sea.options.tiles) - 1;
                const Vec3 corner{size - place.x, size - place.y, 0};
                const Entity second = commands.create(sea.tiles.zone_of(corner), Place{corner}, Motion{velocity},
                                                      Charge{random.unit(), 7}, Friend{born});
                const Entity third = commands.create(random.below(last + 1), Place{corner}, Motion{velocity},
                                                     Charge{random.unit(), 8}, Friend{second});
                commands.set<&Friend::other>(born, third);
            }
            if (random.below(3) == 0)
                commands.create(sea.tiles.zone_of(place), Place{place}, Motion{velocity}, Charge{random.unit(), 5});
            if (random.below(3) != 0) return;
            for (const float mass : {random.unit(), random.unit()}) {  // twins that differ in what is below them alone
                const Entity twin = commands.create(sea.tiles.zone_of(place), Place{place}, Motion{velocity},
                                                    Charge{0, 2}, Friend{other}, Transform{.position = place});
                const Entity child = commands.create(Transform{}, ChildOf{twin}, Mass{mass, entity});
                commands.set<&Mass::value>(child, mass);
            }
        });
    // Tells friends that have died from friends that never were. Some mistakes read in halos what it writes.
    if (sea.options.mistake.empty())
        world.schedule().add("mourn", world.query<Read<&Friend::other>, Write<&Charge::births>>().in(cluster.own()),
                             [&sea](Entity other, std::uint32_t& births) {
                                 if (other && !sea.entities.alive(other)) births = births * 3 + 1;
                             });
    // What hung below an entity, in no zone, comes to a zone of its own. Other ranks may know it already.
    world.schedule().add(
        "grow", {reads<&Charge::births>(sea.database).in(cluster.own()), reads<&Transform::position>(sea.transforms)},
        [&sea](PassContext& frame) {
            sea.cluster.own().now().for_each([&](Zone zone) {
                sea.database.for_each_table_of_zone(zone, [&](DatabaseTable& table) {
                    for (const Entity entity : table.entities()) {
                        const Instance instance = sea.transforms.instance(entity);
                        const Instance below = instance ? sea.transforms.first_child(instance) : Instance();
                        Random random = frame.random_for(sea.cluster.name(entity));
                        if (!below || random.below(20) != 0) continue;
                        const Entity child = sea.transforms.entity(below);
                        if (!sea.database.has_row(child))
                            sea.world.commands().add(child, Place{{random.unit() * 20, 5, 0}}, Motion{{3, 2, 0}},
                                                     Charge{random.unit(), 12}, Friend{entity});
                    }
                });
            });
        });
    world.schedule().add("move", world.query<Write<&Place::position>, Write<&Motion::velocity>>().in(cluster.own()),
                         [size](const PassContext& frame, auto&& position, Vec3& velocity) {
                             Vec3 p = Vec3(position) + velocity * frame.dt;
                             if (p.x < 0 || p.x > size) velocity.x = -velocity.x;
                             if (p.y < 0 || p.y > size) velocity.y = -velocity.y;
                             position =
                                 Vec3{std::min(std::max(p.x, 0.0f), size), std::min(std::max(p.y, 0.0f), size), 0};
                         });
    world.schedule().add("cross", world.query<Read<&Place::position>>().in(cluster.own()),
                         [&sea](const PassContext& frame, Commands& commands, Entity entity, Vec3 position) {
                             const Zone zone = sea.tiles.zone_of(position);
                             commands.move(entity, zone);
                             Random random = frame.random_for(sea.cluster.name(entity));
                             if (random.below(150) != 0 || zone == sea.database.find(entity).table->zone()) return;
                             const Entity born =  // where the entity goes, and linked with it
                                 commands.create(zone, Place{position}, Motion{{2, 1, 0}}, Charge{random.unit(), 15},
                                                 Friend{entity}, Transform{.position = position});
                             commands.add(entity, Transform{});
                             random.below(2) == 0 ? commands.add(born, ChildOf{entity})
                                                  : commands.add(entity, ChildOf{born});
                         });
    add_mistakes(sea);
}

void print_report(const Sea& sea) {
    sea.world.services().for_each([&](const WorldService& service) {
        if (service.name() == "cluster")
            std::fprintf(stderr, "of rank %u: %s", sea.cluster.rank(), service.table().c_str());
    });
    for (const ClusterStatistics& rank : sea.cluster.gather_statistics())
        if (sea.cluster.rank() == 0)
            std::fprintf(stderr,
                         "rank %u: %u zones, %llu rows, %llu halo rows, %llu messages, halo %llu, structure %llu, "
                         "crossing %llu (%llu), commands %llu (%llu)\n",
                         rank.rank, rank.num_zones, (unsigned long long)rank.num_rows,
                         (unsigned long long)rank.num_halo_rows, (unsigned long long)rank.num_messages,
                         (unsigned long long)rank.halo_bytes, (unsigned long long)rank.structure_bytes,
                         (unsigned long long)rank.crossing_bytes, (unsigned long long)rank.num_crossed,
                         (unsigned long long)rank.command_bytes, (unsigned long long)rank.num_commands);
}

std::vector<Entity> entities_of(const Sea& sea) {
    std::vector<Entity> all;
    sea.cluster.own().now().for_each([&](Zone zone) {
        sea.database.for_each_table_of_zone(zone, [&](DatabaseTable& table) {
            all.insert(all.end(), table.entities().begin(), table.entities().end());
        });
    });
    return all;
}

std::FILE* list_file(const Sea& sea) {
    static std::FILE* const file =
        std::fopen(concat("/tmp/list.", sea.cluster.num_ranks(), '.', sea.cluster.rank()).c_str(), "w");
    return file;
}

std::string text_of(const Sea& sea, Entity entity) {
    const std::uint64_t name = sea.cluster.name(entity);
    return concat(name >> 41, ':', name & ((std::uint64_t(1) << 41) - 1));
}

/// Lets no file grow from now on, as a disk that is full.
void forbid_files() {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
}

void run(Sea& sea) {
    const Options& options = sea.options;
    if (!options.empty) spawn(sea);
    sea.database.component<Place>(), sea.database.component<Motion>(), sea.database.component<Charge>();
    sea.database.component<Friend>(), sea.database.component<Asleep>();
    sea.database.archetype<Place, Motion, Charge, Friend>();  // which passes ask for
    sea.database.archetype<Place, Motion, Charge, Friend, Asleep>();
    add_passes(sea);
    require(options.restore.empty() ? sea.cluster.start() : sea.cluster.restore(options.restore));
    if (options.kill_after != 0 && sea.cluster.rank() + 1 == sea.cluster.num_ranks())
        std::thread([time = std::chrono::microseconds(options.kill_after)] {
            std::this_thread::sleep_for(time);
            std::raise(SIGKILL);
        }).detach();
    while (sea.world.frame() < options.frames) {
        sea.world.step(1.0f / 10);
        const std::uint64_t hash = sea.cluster.state_hash(),
                            rows = sea.cluster.sum_count(sea.cluster.statistics().num_rows);
        const double total = sea.cluster.sum([&](Zone zone) {
            double sum = 0;
            sea.world.query<Read<&Charge::value>>().in({zone}).for_each([&](float value) { sum += value; });
            return sum;
        });
        if (sea.cluster.rank() == 0)
            std::printf("frame %llu rows %llu hash %016llx sum %.17g\n", (unsigned long long)sea.world.frame(),
                        (unsigned long long)rows, (unsigned long long)hash, total);
        if (options.list) {
            const std::vector<std::uint64_t> hashes = sea.cluster.zone_hashes();
            for (std::size_t zone = 0; sea.cluster.rank() == 0 && zone < hashes.size(); ++zone)
                std::fprintf(list_file(sea), "%llu zone %zu hash %016llx\n", (unsigned long long)sea.world.frame(),
                             zone, (unsigned long long)hashes[zone]);
        }
        if (options.list)
            for (const Entity entity : entities_of(sea))
                std::fprintf(
                    list_file(sea),
                    "%llu %s zone %u friend %s mass %g heavier %s charge %.9g %u asleep %d name %d tags %d at "
                    "%.9g %.9g transform %d\n",
                    (unsigned long long)sea.world.frame(), text_of(sea, entity).c_str(),
                    sea.database.find(entity).table->zone(),
                    sea.world.get<&Friend::other>(entity) ? text_of(sea, *sea.world.get<&Friend::other>(entity)).c_str()
                                                          : "-",
                    double(sea.world.get<&Mass::value>(entity) ? *sea.world.get<&Mass::value>(entity) : -1),
                    sea.world.get<&Mass::heavier>(entity) ? text_of(sea, *sea.world.get<&Mass::heavier>(entity)).c_str()
                                                          : "-",
                    double(*sea.world.get<&Charge::value>(entity)), *sea.world.get<&Charge::births>(entity),
                    sea.world.get<&Asleep::frames>(entity) ? int(*sea.world.get<&Asleep::frames>(entity)) : -1,
                    sea.world.get<&DebugName::name>(entity) ? 1 : 0, sea.world.get<&Tag::tag>(entity) ? 1 : 0,
                    double(Vec3(*sea.world.get<&Place::position>(entity)).x),
                    double(Vec3(*sea.world.get<&Place::position>(entity)).y),
                    sea.world.get<&Transform::position>(entity) ? 1 : 0);
        if (options.rebalance != 0 && sea.world.frame() % options.rebalance == 0) {
            std::vector<std::uint64_t> weights(sea.tiles.num_zones());
            Random random(sea.world.frame());
            for (std::uint64_t& weight : weights) weight = random.below(100);
            require(sea.cluster.divide(weights));
            require(sea.database.validate());
        }
        if (options.mistake == "weights")
            require(sea.cluster.divide(std::vector<std::uint64_t>(sea.tiles.num_zones() - sea.is_other("weights"))));
        if (options.each) require(sea.cluster.checkpoint(options.checkpoint));
        if (options.at != 0 && sea.world.frame() == options.at) {
            if (sea.is_other("unsettled")) require(sea.database.create(0, Place{}).status());
            if (sea.is_other("disk")) forbid_files();
            require(sea.cluster.checkpoint(options.checkpoint));
        }
    }
    require(sea.database.validate());
    if (options.report) print_report(sea);
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    const Options options = read(argc, argv);
    ThreadedExecutor executor{static_cast<std::uint32_t>(options.workers)};
    {
        Sea sea(options, executor,
                GridZones({.origin = {},
                           .tile_size = 10,
                           .num_x = std::uint32_t(options.tiles),
                           .num_y = std::uint32_t(options.tiles)}));
        require(sea.cluster.status());
        run(sea);
    }
    MPI_Finalize();
    return 0;
}
