// Saves, logs of persisted worlds and zones in files: they are refused with a message, and the world is as it was, or else the
// world that was loaded works. An input is the bytes of a save or of a log, whose sizes and checksums are put right first; or,
// after a first byte that says who reads what, a list of changes to something sound, 8 bytes each: part, kind, value, place.
//
//     0   the state of a world with something of everything, and all kinds of commands but spawns
//     1   that of an older program, whose fields are converted, in commands too
//     2   the log in a folder that World::recover() reads: the parts are its records
//     3   a zone of a database
//     4   the state of a world with models, named values, what was spawned from a blob, and commands to spawn it
#include "shoal/base/file.h"
#include "shoal/base/saved_state.h"
#include "shoal/base/text.h"
#include "shoal/pose/model_pose.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/data_table.h"
#include "shoal/world/persist.h"
#include "support/older_world.h"
#include "support/whole_world.h"
#include "world/state_file.h"
#include "world/state_log.h"

#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

using namespace shoal;
using shoal_test::must;

namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t(1) << 24;

struct Change {
    std::uint16_t part;
    std::uint8_t kind, value;
    std::uint32_t place;
};

enum Kind : std::uint8_t { kCut, kLeaveOut, kSetByte, kFlipBit, kAddToByte, kCopy, kSetNumber, kAppend, kRename };
constexpr std::uint32_t kNumKinds = kRename + 1;

std::vector<Change> changes_in(std::span<const std::byte> bytes) {
    std::vector<Change> changes(bytes.size() / sizeof(Change));
    if (!changes.empty()) std::memcpy(changes.data(), bytes.data(), changes.size() * sizeof(Change));
    return changes;
}

/// Does to some elements what a change says. Requires: there are some.
void change_elements(std::vector<std::byte>& bytes, std::size_t element_bytes, const Change& change) {
    constexpr std::uint32_t kNumbers[] = {0,          1,          2,          3,          0xFFFF,     0x10000,
                                          0x3FFFFF,   0x400000,   1 << 20,    0x7FFFFFFF, 0x80000000, 0xFFFFFFFE,
                                          0xFFFFFFFF, 0x3F800000, 0x7FC00000, 0x7F800000};
    const std::size_t place = change.place % bytes.size(), count = bytes.size() / element_bytes;
    const std::size_t element = change.place % count, other = (change.place / count + change.value) % count;
    switch (change.kind % kNumKinds) {
        case kCut:
            bytes.resize(change.place % (count + 1) * element_bytes);
            break;
        case kSetByte:
            bytes[place] = std::byte(change.value);
            break;
        case kFlipBit:
            bytes[place] ^= std::byte(1 << change.value % 8);
            break;
        case kAddToByte:
            bytes[place] = std::byte(std::uint8_t(bytes[place]) + change.value);
            break;
        case kCopy:
            std::memmove(bytes.data() + element * element_bytes, bytes.data() + other * element_bytes, element_bytes);
            break;
        case kSetNumber:
            if (bytes.size() >= 4)
                std::memcpy(bytes.data() + change.place % (bytes.size() / 4) * 4, &kNumbers[change.value % 16], 4);
            break;
        case kAppend:
            for (std::size_t i = 0; i <= change.value % 16u; ++i) {
                const std::size_t from = (element + i) % count * element_bytes;
                for (std::size_t k = 0; k < element_bytes; ++k) bytes.push_back(bytes[from + k]);
            }
            break;
        default:
            break;
    }
}

/// A path that is not in the place of `path`, but beside it.
std::string renamed(std::string_view path, std::uint8_t how) {
    constexpr std::string_view kNames[] = {"number", "armor", "width", "place.x", "sealed...", "velocity",
                                           "leader", "rope",  "since", "depth",   "height",    "cells..."};
    const std::size_t field = path.find("field/");
    const std::size_t end = field == std::string_view::npos ? path.rfind('/') + 1 : field + 6;
    return concat(path.substr(0, end), how % 2 == 0 ? "" : "x", kNames[how / 2 % std::size(kNames)]);
}

/// The state with parts that are cut short, left out, called otherwise, or have other bytes.
SavedState changed(const SavedState& from, const std::vector<Change>& changes) {
    SavedState result;
    StateWriter to(result);
    for (std::size_t i = 0; i < from.num_parts(); ++i) {
        const StatePart part = from.part(i);
        std::vector<std::byte> bytes(static_cast<std::size_t>(part.num_bytes()));
        from.copy(part, 0, part.num_elements, bytes.data());
        bool is_there = true;
        std::string path(part.path);
        for (const Change& change : changes) {
            if (change.part % from.num_parts() != i) continue;
            is_there &= change.kind % kNumKinds != kLeaveOut;
            if (change.kind % kNumKinds == kRename) path = renamed(part.path, change.value);
            if (!bytes.empty()) change_elements(bytes, part.element_bytes, change);
        }
        if (is_there && result.find(path) == result.num_parts())
            to.elements(path, bytes.data(), part.element_bytes, bytes.size() / part.element_bytes);
    }
    return result;
}

/// Calls load(), after which the world is as it was, or sound.
template <class Load, class Validate>
void expect_refused_or_sound(World& world, Load&& load, Validate&& validate) {
    const std::uint64_t before = world.state_hash();
    Status status = load();
    if (!status && (status.message().empty() || !is_utf8(status.message()) || world.state_hash() != before)) {
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
    SavedState again;
    must(world.save(again).ok());
}

/// Poses follow from others, and those of a file are believed until they are computed anew.
Status but_for_poses(const Status& status) {
    const auto says = [&](std::string_view text) { return status.message().find(text) != std::string_view::npos; };
    const bool is_about_poses = says("its world pose does not follow") || (says("node ") && says(" is wrong"));
    return is_about_poses ? Status() : status;
}

// --- worlds with something of everything -------------------------------------------------------------------------

void load_into_sea(const SavedState& state) {
    shoal_test::Sea sea;
    sea.run(1);
    expect_refused_or_sound(
        sea.world, [&] { return sea.world.load(state, false); }, [&] { return but_for_poses(sea.validate()); });
    sea.run(2);
    expect_works(sea.world);
}

SavedState state_of_sea() {
    shoal_test::Sea sea;
    sea.run(6);
    sea.meddle();
    sea.ask(80);  // what waits is part of the state
    SavedState state;
    must(sea.world.save(state).ok());
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
    const Result<SavedState> state = read_state(bytes, serial, kMaxBytes);
    if (state) load_into_sea(*state);
    if (!state) must(!state.message().empty() && is_utf8(state.message()));
}

// --- older programs ----------------------------------------------------------------------------------------------

SavedState older_state() {
    namespace then = shoal_test::then;
    shoal_test::Then program(1, 60);
    Commands& commands = program.world.commands();
    const Entity one = commands.create(then::Hull{.number = 70}, then::Signal{3});
    commands.create(Zone(1), then::Berth{4}, shoal_test::Spot{{1, 2, 3}});
    commands.add(one, Off{then::Signal{9}});
    commands.add(program.all[3], then::Cargo{5});
    commands.remove<then::Berth>(program.all[0]);
    SerialExecutor serial;
    Result<SavedState> state = read_state(program.bytes(), serial);
    must(state.ok());
    return std::move(*state);
}

void load_older(const SavedState& state) {
    shoal_test::Now program;
    expect_refused_or_sound(
        program.world, [&] { return program.world.load(state, false); }, [&] { return program.sea.validate(); });
    expect_works(program.world);
}

// --- folders -----------------------------------------------------------------------------------------------------

/// A folder with a snapshot and a log of three frames.
struct Folder {
    Folder() {
        path = (std::filesystem::temp_directory_path() / "shoal_save_fuzz_XXXXXX").string();
        must(mkdtemp(path.data()) != nullptr);
        shoal_test::Sea sea;
        sea.run(1);
        must(sea.world.persist(path, {.keeps_all_frames = true}).ok());
        sea.run(3);
        must(sea.world.stop_persisting().ok());
        log = *read_file(log_path());
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string log_path() const { return path + "/0000000001.log"; }
    std::string path, log;
};

/// The records of a log, each changed where it is compressed, with checksums that are right.
std::string changed_log(std::string_view log, const std::vector<Change>& changes) {
    StateLogHeader begin{};
    std::memcpy(&begin, log.data(), sizeof begin);
    std::string result(log.substr(0, sizeof begin));
    log.remove_prefix(sizeof begin);
    for (std::size_t number = 0; !log.empty(); ++number) {
        StateRecordHeader header{};
        std::memcpy(&header, log.data(), sizeof header);
        std::vector<std::byte> body(static_cast<std::size_t>(header.body_bytes));
        must(ZSTD_decompress(body.data(), body.size(), log.data() + sizeof header,
                             static_cast<std::size_t>(header.packed_bytes)) == body.size());
        log.remove_prefix(sizeof header + static_cast<std::size_t>(header.packed_bytes));
        bool is_there = true;
        for (const Change& change : changes) {
            if (change.part % 4 != number) continue;
            is_there &= change.kind % kNumKinds != kLeaveOut;
            if (change.kind % kNumKinds == kRename) header.num_parts = change.place;
            if (change.kind % kNumKinds == kCopy) header.extra_bytes = change.place;
            if (!body.empty()) change_elements(body, 4, change);
        }
        if (!is_there) continue;
        std::vector<std::byte> packed(ZSTD_compressBound(body.size()));
        packed.resize(ZSTD_compress(packed.data(), packed.size(), body.data(), body.size(), -3));
        header.body_bytes = body.size(), header.packed_bytes = packed.size();
        header.checksum = checksum_of(header, packed.data(), begin.base);
        result.append(reinterpret_cast<const char*>(&header), sizeof header);
        result.append(reinterpret_cast<const char*>(packed.data()), packed.size());
    }
    return result;
}

void recover(const Folder& folder, std::string_view log) {
    must(write_file(folder.log_path(), log).ok());
    shoal_test::Sea sea;
    sea.run(1);
    expect_refused_or_sound(
        sea.world, [&] { return sea.world.recover(folder.path).status(); },
        [&] { return but_for_poses(sea.validate()); });
    sea.run(1);
    expect_works(sea.world);
}

/// The bytes of a log that begins from nothing.
void read_log(std::vector<std::byte> bytes) {
    StateLogHeader begin{};
    if (bytes.size() >= sizeof begin) {
        std::memcpy(&begin, bytes.data(), sizeof begin);
        begin.checksum = checksum_of(begin);
        std::memcpy(bytes.data(), &begin, sizeof begin);
    }
    for (std::size_t at = sizeof begin; at + sizeof(StateRecordHeader) <= bytes.size();) {
        StateRecordHeader header{};
        std::memcpy(&header, bytes.data() + at, sizeof header);
        if (header.packed_bytes > bytes.size() - at - sizeof header) break;
        header.checksum = checksum_of(header, bytes.data() + at + sizeof header, begin.base);
        std::memcpy(bytes.data() + at, &header, sizeof header);
        at += sizeof header + static_cast<std::size_t>(header.packed_bytes);
    }
    Result<StateLogReader> log = StateLogReader::open(bytes, begin.base, nullptr, kMaxBytes);
    if (!log) return must(!log.message().empty() && is_utf8(log.message()));
    while (log->next()) {
    }
    must(log->is_at_end() || is_utf8(log->problem().message()));
    if (log->num_records() != 0) load_into_sea(log->state());
}

// --- zones -------------------------------------------------------------------------------------------------------

SavedState state_of_zone(shoal_test::Sea& sea) {
    SavedState state;
    StateWriter to(state);
    sea.sea.write_zone(1, to);
    must(to.status().ok());
    sea.sea.drop_zone(1);
    return state;
}

void read_zone(const std::vector<Change>& changes) {
    shoal_test::Sea sea;
    sea.run(3);
    const SavedState state = changed(state_of_zone(sea), changes);
    expect_refused_or_sound(
        sea.world,
        [&] {
            StateReader from(state, false);
            return sea.sea.read_zone(1, from).status();
        },
        [&] { return sea.sea.validate(); });
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
    const DataEntry entry{DataPath("speed").id, {DataType::kFloat, 1, 1}, words};
    const Array<std::uint32_t> table = make_data_table({&entry, 1});
    Data data;
    data.values = add_array(writer, std::vector<std::uint32_t>(table.begin(), table.end()));
    const ModelPose pose{add_array(writer, std::vector<StringId>{StringId("hull"), StringId("mast")}),
                         add_array(writer, std::vector<std::uint32_t>{kNilRow, 0}),
                         add_array(writer, std::vector<Vec3>(2)), add_array(writer, std::vector<Quaternion>(2)),
                         add_array(writer, std::vector<Vec3>(2, Vec3{1, 1, 1}))};
    const std::uint32_t entity = writer.add_entity({});
    add_component(writer, entity, data);
    add_component(writer, entity, pose);
    add_component(writer, entity, shoal_test::Age{4});
    return *writer.write();
}

/// A world with models of a resource and of memory.
struct Harbour {
    Harbour() : world(entities, {.library = &library, .reloadable = true}) {
        world.manager<shoal_test::Age>(), world.data(), world.transforms();
        const Blob& ship = **library.load(blob_of_ship());
        const Spawned ships = *world.spawn(ship, {.copies = 2});
        must(world.data().set(ships.entity(0), "speed", 9.0f).ok());
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
};

SavedState state_of_harbour() {
    Harbour harbour;
    const Blob& ship = *harbour.library.find(ResourceId("ship"));
    harbour.world.commands().spawn(ship, {.position = {1, 2, 3}});
    harbour.world.commands().add(harbour.world.commands().spawn(ship), shoal_test::Age{9});
    SavedState state;
    must(harbour.world.save(state).ok());
    return state;
}

void load_harbour(const SavedState& state) {
    Harbour harbour;
    expect_refused_or_sound(
        harbour.world, [&] { return harbour.world.load(state, false); },
        [&] { return but_for_poses(harbour.world.model_poses().validate()); });
    harbour.world.model_poses().compute();
    expect_works(harbour.world);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    if (data[0] > 4) {
        const bool is_log = size >= 8 && std::memcmp(data, "shoallog", 8) == 0;
        is_log ? read_log({bytes.begin(), bytes.end()}) : read_save({bytes.begin(), bytes.end()});
        return 0;
    }
    const std::vector<Change> changes = changes_in(bytes.subspan(1));
    if (data[0] == 0) {
        static const SavedState sound = state_of_sea();
        load_into_sea(changed(sound, changes));
    } else if (data[0] == 1) {
        static const SavedState sound = older_state();
        load_older(changed(sound, changes));
    } else if (data[0] == 2) {
        static const Folder folder;
        recover(folder, changed_log(folder.log, changes));
    } else if (data[0] == 3) {
        read_zone(changes);
    } else {
        static const SavedState sound = state_of_harbour();
        load_harbour(changed(sound, changes));
    }
    return 0;
}
