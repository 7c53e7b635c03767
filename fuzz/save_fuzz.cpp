// Fuzzes saves, logs of persisted worlds and files of zones. Either they are refused with a message and the world does
// not change, or the loaded world works. An input is the bytes of a save or a log, whose sizes and checksums are
// corrected first, or a byte that selects one of these cases, followed by changes (state_changes.h) to valid data:
//
//     0   the state of a world with all features, and with all kinds of commands except spawns
//     1   the state of an older program, whose fields are converted, also in commands
//     2   the log in a folder for Persistence::recover(); the parts are its records
//     3   a zone of a database
//     4   the state of a world with models, named values, entities spawned from a blob, and spawn commands
//     5   the file of an unloaded zone in the state of a world, loaded by a world with or without zone streaming
#include "save/state_file.h"
#include "save/state_log.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/pose/model_pose.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/detail/property_table.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/save/zone_streaming.h"
#include "state_changes.h"
#include "support/older_world.h"
#include "support/saved_zones.h"
#include "support/whole_world.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

using namespace shoal;
using namespace shoal_fuzz;
using shoal_test::must;

namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t(1) << 24;

/// Calls load(), which must fail and leave the world unchanged, or succeed and leave it valid.
template <class Load, class Validate>
void expect_refused_or_sound(World& world, Load&& load, Validate&& validate) {
    const std::uint64_t before = state_hash(world);
    Status status = load();
    if (!status && (status.message().empty() || !is_utf8(status.message()) || state_hash(world) != before)) {
        std::fprintf(stderr, "refused, and the world is another: %.*s\n", int(status.message().size()),
                     status.message().data());
        std::abort();
    }
    if (!status) return;
    if (status = validate(); !status) {
        std::fprintf(stderr, "loaded, and the world is not sound: %.*s\n", int(status.message().size()),
                     status.message().data());
        std::abort();
    }
}

void expect_works(World& world) {
    for (int i = 0; i < 2; ++i) world.step(0.1f);
    Snapshot again;
    must(save(world, again).ok());
}

/// Ignores wrong world poses: load() keeps the poses of a file until they are next computed.
Status but_for_poses(const Status& status) {
    const auto says = [&](std::string_view text) { return status.message().find(text) != std::string_view::npos; };
    const bool is_about_poses = says("its world pose does not follow") || (says("node ") && says(" is wrong"));
    return is_about_poses ? Status() : status;
}

// --- worlds with all features ------------------------------------------------------------------------------------

void load_into_sea(const Snapshot& state) {
    shoal_test::Sea sea;
    sea.run(1);
    expect_refused_or_sound(
        sea.world, [&] { return load(sea.world, state, false); }, [&] { return but_for_poses(sea.validate()); });
    sea.run(2);
    expect_works(sea.world);
    for (const Zone zone : {0, 1, 2, 3}) sea.sea.drop_zone(zone);
    expect_works(sea.world);
}

Snapshot state_of_sea() {
    shoal_test::Sea sea;
    sea.run(6);
    sea.meddle();
    sea.ask(80);  // queued commands are part of the state
    Snapshot state;
    must(save(sea.world, state).ok());
    return state;
}

void read_save(std::vector<std::byte> bytes) {
    constexpr std::size_t kHeaderBytes = 64, kFileBytes = 16, kChecksum = 56;
    if (bytes.size() >= kHeaderBytes) {
        const std::uint64_t file_bytes = bytes.size();
        const std::uint64_t checksum = hash_bytes(bytes.data() + kHeaderBytes, bytes.size() - kHeaderBytes);
        std::memcpy(bytes.data() + kFileBytes, &file_bytes, sizeof file_bytes);
        std::memcpy(bytes.data() + kChecksum, &checksum, sizeof checksum);
    }
    SerialExecutor serial;
    const Result<Snapshot> state = read_state(bytes, serial, kMaxBytes);
    if (state) load_into_sea(*state);
    if (!state) must(!state.message().empty() && is_utf8(state.message()));
}

// --- older programs ----------------------------------------------------------------------------------------------

Snapshot older_state() {
    namespace then = shoal_test::then;
    shoal_test::Then program(1, 60);
    Commands& commands = program.world.commands();
    const Entity one = commands.create(then::Hull{.number = 70}, then::Signal{3});
    commands.create(Zone(1), then::Berth{4}, shoal_test::Spot{{1, 2, 3}});
    commands.add(one, Disabled{then::Signal{9}});
    commands.add(program.all[3], then::Cargo{5});
    commands.remove<then::Berth>(program.all[0]);
    SerialExecutor serial;
    Result<Snapshot> state = read_state(program.bytes(), serial);
    must(state.ok());
    return std::move(*state);
}

void load_older(const Snapshot& state) {
    shoal_test::Now program;
    expect_refused_or_sound(
        program.world, [&] { return load(program.world, state, false); }, [&] { return program.sea.validate(); });
    expect_works(program.world);
}

// --- folders -----------------------------------------------------------------------------------------------------

/// A folder that is deleted when the program ends.
struct TemporaryFolder {
    TemporaryFolder() {
        path = (std::filesystem::temp_directory_path() / "shoal_save_fuzz_XXXXXX").string();
        must(mkdtemp(path.data()) != nullptr);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
    std::string path;
};

/// A folder with a snapshot and a log of three frames.
struct Folder : TemporaryFolder {
    Folder() {
        shoal_test::Sea sea;
        sea.run(1);
        must(sea.persistence.start(path, {.keeps_all_frames = true}).ok());
        sea.run(3);
        must(sea.persistence.stop().ok());
        log = *read_file(log_path());
    }
    std::string log_path() const { return path + "/0000000001.log"; }
    std::string log;
};

void recover(const Folder& folder, std::string_view log) {
    must(write_file(folder.log_path(), log).ok());
    shoal_test::Sea sea;
    sea.run(1);
    expect_refused_or_sound(
        sea.world, [&] { return sea.persistence.recover(folder.path).status(); },
        [&] { return but_for_poses(sea.validate()); });
    sea.run(1);
    expect_works(sea.world);
}

/// Reads the bytes of a log without a base state.
void read_log(std::vector<std::byte> bytes) {
    const std::uint64_t base = put_checksums_right(bytes);
    Result<StateLogReader> log = StateLogReader::open(bytes, base, nullptr, kMaxBytes);
    if (!log) return must(!log.message().empty() && is_utf8(log.message()));
    while (log->next()) {
    }
    must(log->is_at_end() || is_utf8(log->problem().message()));
    if (log->num_records() != 0) load_into_sea(log->state());
}

// --- zones -------------------------------------------------------------------------------------------------------

Snapshot state_of_zone(shoal_test::Sea& sea) {
    Snapshot state;
    SnapshotWriter to(state);
    sea.sea.write_zone(1, to);
    must(to.status().ok());
    sea.sea.drop_zone(1);
    return state;
}

void read_zone(const std::vector<Change>& changes) {
    shoal_test::Sea sea;
    sea.run(3);
    const Snapshot state = changed(state_of_zone(sea), changes);
    expect_refused_or_sound(
        sea.world,
        [&] {
            SnapshotReader from(state, false);
            return sea.sea.read_zone(1, from).status();
        },
        [&] { return sea.sea.validate(); });
    expect_works(sea.world);
}

const std::string& folder_of_zones() {
    static const TemporaryFolder folder;
    return folder.path;
}

Snapshot state_with_zones() {
    shoal_test::Sea sea;
    ZoneStreaming zones(sea.world);
    must(zones.start(folder_of_zones()).ok());
    sea.run(4);
    must(zones.unload(1).ok() && zones.unload(3).ok());
    Snapshot state;
    must(save(sea.world, state).ok());
    return state;
}

void load_zones(const Snapshot& sound, const std::vector<Change>& changes) {
    const Snapshot state = shoal_test::with_file(sound, 1, changed(shoal_test::file_in(sound, 1), changes));
    shoal_test::Sea sea;
    ZoneStreaming zones(sea.world);
    if (changes.size() % 2 == 0) must(zones.start(folder_of_zones()).ok());
    sea.run(1);
    expect_refused_or_sound(
        sea.world, [&] { return load(sea.world, state, false); }, [&] { return but_for_poses(sea.validate()); });
    static_cast<void>(zones.load_all());  // may fail because of components that were added later
    must(but_for_poses(sea.validate()).ok());
    sea.run(1);
    expect_works(sea.world);
}

// --- models, named values and what was spawned -------------------------------------------------------------------

template <class T>
BlobArray<T> add_array(BlobWriter& writer, const std::vector<T>& values) {
    BlobArray<T> array;
    static_cast<BlobArrayBase&>(array) =
        writer.add_array(FieldTraits<T>::type, std::as_bytes(std::span<const T>(values)));
    return array;
}

template <class T>
void add_component(BlobWriter& writer, std::uint32_t entity, const T& value) {
    writer.add_component(*writer.add_component_type(schema_of<T>()), entity, std::as_bytes(std::span(&value, 1)));
}

std::vector<std::byte> blob_of_ship() {
    BlobWriter writer;
    writer.set_name("ship");
    const std::uint32_t words[] = {5};
    const PropertyEntry entry{PropertyPath("speed").id, {PropertyType::kFloat, 1, 1}, words};
    const Array<std::uint32_t> table = make_property_table({&entry, 1});
    Properties properties;
    properties.values = add_array(writer, std::vector<std::uint32_t>(table.begin(), table.end()));
    const ModelPose pose{add_array(writer, std::vector<StringId>{StringId("hull"), StringId("mast")}),
                         add_array(writer, std::vector<std::uint32_t>{kNilRow, 0}),
                         add_array(writer, std::vector<Vec3>(2)), add_array(writer, std::vector<Quaternion>(2)),
                         add_array(writer, std::vector<Vec3>(2, Vec3{1, 1, 1}))};
    const std::uint32_t entity = writer.add_entity({});
    add_component(writer, entity, properties);
    add_component(writer, entity, pose);
    add_component(writer, entity, shoal_test::Age{4});
    return *writer.write();
}

/// A world with models from a resource and from memory.
struct Harbour {
    Harbour() : world(entities, {.library = &library}) {
        world.manager<shoal_test::Age>(), world.properties(), world.transforms();
        const Blob& ship = **library.load(blob_of_ship());
        const Spawned ships = *world.spawn(ship, {.copies = 2});
        must(world.properties().set(ships.entity(0), "speed", 9.0f).ok());
        const StringId names[] = {StringId("pier"), StringId("crane"), StringId("hook")};
        const std::uint32_t parents[] = {kNilRow, 0, 1};
        const Vec3 positions[3] = {}, scales[3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
        const Quaternion rotations[3] = {};
        ModelPoseManager& models = world.model_poses();
        const Result<NodeTreeId> tree = models.add_node_tree({names, parents, positions, rotations, scales});
        must(tree.ok());
        const Entity quays[2] = {*entities.create(), *entities.create()};
        must(models.add(quays, *tree).ok());
        world.step(0.1f);
        models.set_local(models.instance(quays[1]), 1, {{1, 2, 3}});
    }
    ResourceLibrary library;
    EntityManager entities;
    World world;
    Reloader reloader{world};
};

Snapshot state_of_harbour() {
    Harbour harbour;
    const Blob& ship = *harbour.library.find(ResourceId("ship"));
    harbour.world.commands().spawn(ship, {.position = {1, 2, 3}});
    harbour.world.commands().add(harbour.world.commands().spawn(ship), shoal_test::Age{9});
    Snapshot state;
    must(save(harbour.world, state).ok());
    return state;
}

void load_harbour(const Snapshot& state) {
    Harbour harbour;
    expect_refused_or_sound(
        harbour.world, [&] { return load(harbour.world, state, false); },
        [&] { return but_for_poses(harbour.world.model_poses().validate()); });
    harbour.world.model_poses().compute();
    expect_works(harbour.world);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    if (data[0] > 5) {
        const bool is_log = size >= 8 && std::memcmp(data, "shoallog", 8) == 0;
        is_log ? read_log({bytes.begin(), bytes.end()}) : read_save({bytes.begin(), bytes.end()});
        return 0;
    }
    const std::vector<Change> changes = changes_in(bytes.subspan(1));
    if (data[0] == 0) {
        static const Snapshot sound = state_of_sea();
        load_into_sea(changed(sound, changes));
    } else if (data[0] == 1) {
        static const Snapshot sound = older_state();
        load_older(changed(sound, changes));
    } else if (data[0] == 2) {
        static const Folder folder;
        recover(folder, changed_log(folder.log, changes));
    } else if (data[0] == 3) {
        read_zone(changes);
    } else if (data[0] == 4) {
        static const Snapshot sound = state_of_harbour();
        load_harbour(changed(sound, changes));
    } else {
        static const Snapshot sound = state_with_zones();
        load_zones(sound, changes);
    }
    return 0;
}
