// Spawns the sea from its sources.

#include "sources.h"

#include <shoal/base/clock.h>
#include <shoal/base/text.h>
#include <shoal/plugin/plugins.h>

#include <cmath>
#include <vector>

namespace reef {

using namespace shoal;

namespace {

constexpr float kPi = 3.14159265f;
constexpr const char* kSchoolSources[kNumSpecies] = {"school/sardines", "school/fusiliers", "school/snappers",
                                                     "school/parrotfish"};

/// Compiles and spawns sources.
class Spawning {
public:
    Spawning(Sea& sea, Diagnostics& diagnostics) : sea_(sea), diagnostics_(diagnostics) {}

    Result<const Blob*> blob(const std::string& name) { return sea_.sources->blob(name, diagnostics_); }

    Result<Spawned> spawn(const std::string& name, std::uint32_t copies, std::span<const RootPose> poses = {}) {
        const Result<const Blob*> source = blob(name);
        if (!source) return source.status();
        const std::int64_t begin_ns = monotonic_ns();
        Result<Spawned> spawned =
            sea_.world.spawn(**source, {.copies = copies, .root_poses = poses, .keep_names = false});
        sea_.counts.spawn_ms += static_cast<double>(monotonic_ns() - begin_ns) * 1e-6;
        if (spawned) sea_.counts.num_spawned += spawned->entities().size();
        return spawned;
    }

private:
    Sea& sea_;
    Diagnostics& diagnostics_;
};

Vec3 anywhere_at_sea(Random& random) {
    return {(random.unit() - 0.5f) * kSeaSize, (random.unit() - 0.5f) * kSeaSize, 0};
}

/// Where the groups of a school start, and the directions that they face.
struct Groups {
    std::vector<RootPose> poses;
    std::vector<Vec2> ahead;

    /// Adds a group at a random place in the band of `school`, whose centre is `middle`.
    void add(const School& school, Vec3 middle, Random& random) {
        const float turn = school.bend * kPi / 180, along = random.unit() - 0.5f, angle = turn * along;
        const float aside = (random.unit() - 0.5f) * school.width;
        // The band is an arc that starts along x and is rotated to the heading.
        const float bent = std::abs(turn) > 1e-3f ? school.length / turn : 0;
        const Vec2 on_arc =
            bent != 0 ? Vec2{bent * std::sin(angle), bent * (1 - std::cos(angle))} : Vec2{along * school.length, 0};
        const Vec2 place = on_arc + Vec2{-std::sin(angle), std::cos(angle)} * aside;
        const float heading = school.heading * kPi / 180, c = std::cos(heading), s = std::sin(heading);
        const float half = (heading + angle) / 2;
        poses.push_back({.position = {middle.x + c * place.x - s * place.y, middle.y + s * place.x + c * place.y, 0},
                         .rotation = {0, 0, std::sin(half), std::cos(half)}});
        ahead.push_back({std::cos(2 * half), std::sin(2 * half)});
    }
};

School school_at(const Manager<School>& schools, Instance at) {
    return {schools.get<&School::species>(at), schools.get<&School::weight>(at),  schools.get<&School::length>(at),
            schools.get<&School::width>(at),   schools.get<&School::heading>(at), schools.get<&School::bend>(at)};
}

/// Spawns a school: as many groups of fish as fit into its share of all fish.
Status spawn_school(Sea& sea, Spawning& spawning, Instance at, float total_weight) {
    const School school = school_at(sea.schools, at);
    const std::string source = kSchoolSources[std::size_t(school.species)];
    const Result<const Blob*> blob = spawning.blob(source);
    if (!blob) return blob.status();
    const std::uint32_t size = (*blob)->num_entities();
    const float count = static_cast<float>(sea.options.num_fish) * school.weight / total_weight;
    const auto num_groups = static_cast<std::uint32_t>(count) / size;
    if (num_groups == 0) return {};
    const Vec3 middle = sea.transforms.world_position(sea.transforms.instance(sea.schools.entity(at)));
    Groups groups;
    for (std::uint32_t group = 0; group < num_groups; ++group) groups.add(school, middle, sea.world.random());
    const Result<Spawned> fish = spawning.spawn(source, num_groups, groups.poses);
    if (!fish) return fish.status();
    for (std::size_t i = 0; i < fish->entities().size(); ++i) {
        const DatabaseRow row = sea.database.find(fish->entities()[i]);
        sea.database.set<&Swim::velocity>(row, groups.ahead[i / size] * sea.database.get<&Swim::speed>(row));
    }
    return {};
}

Status spawn_schools(Sea& sea, Spawning& spawning) {
    float total_weight = 0;
    for (std::uint32_t row = 0; row < sea.schools.num_rows(); ++row)
        total_weight += sea.schools.get<&School::weight>(Instance{row});
    if (total_weight == 0) return {};
    for (std::uint32_t row = 0; row < sea.schools.num_rows(); ++row)
        if (Status status = spawn_school(sea, spawning, Instance{row}, total_weight); !status) return status;
    return {};
}

/// Spawns `count` copies of a source at random places.
Status scatter(Sea& sea, Spawning& spawning, const std::string& source, std::uint64_t count) {
    std::vector<RootPose> poses(count);
    for (RootPose& pose : poses) pose.position = anywhere_at_sea(sea.world.random());
    const auto spawned = spawning.spawn(source, static_cast<std::uint32_t>(count), poses);
    return spawned ? Status() : spawned.status();
}

/// Sets the position of each reef to the world position of its transform.
Status place_reefs(Sea& sea) {
    std::vector<Entity> reefs;
    query<With<Reef>>(sea.database).for_each([&](Entity entity) { reefs.push_back(entity); });
    sea.transforms.compute_moved();
    for (const Entity reef : reefs) {
        const DatabaseRow row = sea.database.find(reef);
        const Vec3 position = sea.transforms.world_position(sea.transforms.instance(reef));
        const Zone zone = sea.tiles.zone_of(position, sea.database.get<&Reef::radius>(row));
        sea.database.set<&Place::position>(row, position);
        if (const auto moved = sea.database.move(reef, zone); !moved) return moved.status();
    }
    return {};
}

}  // namespace

Sea::Sea(Executor& executor, const SeaOptions& given)
    : options(given),
      world(entities, {.executor = &executor, .seed = given.seed}),
      tiles(kGrid),
      database(world.database()),
      transforms(world.transforms({.mode = TransformMode::kDeferred})),
      schools(world.manager<School>()),
      fish(database.archetype<Place, Swim, Fish, Sated>()),
      sharks(database.archetype<Place, Swim, Hunter>()),
      blooms(database.archetype<Place, Bloom>()),
      reefs(database.archetype<Place, Reef>()),
      touching(kNumTiles),
      everywhere(ZoneSet()),
      fish_of_tile(kNumTiles),
      blooms_of_zone(kNumTiles + 1) {
    ZoneSet all;
    all.insert_range(0, tiles.num_zones());
    everywhere.set(std::move(all));
    if (given.watches) reloader.emplace(world);
    for (Zone tile = 0; tile < kNumTiles; ++tile) {
        const Vec3 low = low_corner(tile), high = low + Vec3{kTileSize, kTileSize, 0}, far = {kFarthest, kFarthest, 0};
        tiles.touch_box(low - far, high + far, touching[tile]);
    }
}

std::uint64_t Sea::database_rows(const Archetype& type) const {
    std::uint64_t count = 0;
    for (const DatabaseTable* table : database.all_tables())
        if (table != nullptr && &table->type() == &type) count += table->num_rows();
    return count;
}

Sea::~Sea() = default;

void Sea::step() {
    const auto count = [&](const Archetype& type, std::vector<std::uint64_t>& of_zones) {
        for (Zone zone = 0; zone < of_zones.size(); ++zone) {
            const DatabaseTable* const table = is_own(zone) ? database.find_table(type, zone) : nullptr;
            of_zones[zone] = table == nullptr ? 0 : table->num_rows();
        }
        if (share) share->gather(of_zones);
    };
    count(fish, fish_of_tile), count(blooms, blooms_of_zone);
    world.step(kFrameSeconds);
}

Status Sea::spawn(Diagnostics& diagnostics) {
    sources = std::make_unique<SeaSources>(*this);
    Spawning spawning(*this, diagnostics);
    if (Status status = sources->prepare(diagnostics); !status) return status;
    database.spawn_into_tiles<&Place::position>(tiles);
    if (const Result<Spawned> level = spawning.spawn("sea", 1); !level) return level.status();
    if (Status status = place_reefs(*this); !status) return status;
    if (Status status = spawn_schools(*this, spawning); !status) return status;
    if (Status status = scatter(*this, spawning, "fish/shark", num_sharks_wanted()); !status) return status;
    if (Status status = scatter(*this, spawning, "fish/bloom", num_blooms_wanted()); !status) return status;
    if (options.watches) sources->watch();
    return {};
}

Result<bool> Sea::reload_edited(Diagnostics& diagnostics, std::string& line) {
    if (!sources->has_changed()) return false;
    const Status reloaded = sources->reload(diagnostics, line);
    if (!line.empty())
        if (Status status = place_reefs(*this); !status) return status;
    if (!reloaded) return reloaded;
    return true;
}

}  // namespace reef
