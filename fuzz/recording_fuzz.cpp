// Fuzzes recordings. A recording is either refused with a message, or played with its differences reported. The world
// remains usable. An input is the bytes of a recording, whose checksums are corrected first, or a byte followed by
// changes (state_changes.h) to a valid recording:
//
//     0 to 3   changes to the state of this record
//     4        changes to the bytes of records
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"
#include "shoal/save/recording.h"
#include "shoal/save/save.h"
#include "shoal/world/world.h"
#include "state_changes.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

using namespace shoal;
using namespace shoal_fuzz;

namespace {

constexpr std::uint64_t kBase = 0x676E6964726F6365;  // docs/formats/recording.md
constexpr std::uint64_t kMaxBytes = std::uint64_t(1) << 24;
constexpr std::uint8_t kNumRecords = 4;

struct Leaf {
    std::uint32_t age = 0;
    float light = 1;
};
SHOAL_COMPONENT(Leaf, age, light)
struct Dew {
    std::uint32_t drops = 0;
};
SHOAL_COMPONENT((Dew, enableable), drops)

/// A world with a manager, a database with zones, passes and a command.
struct Garden {
    Garden() {
        must(entities.create(all).ok() && leaves.add(all, Leaf{}).ok());
        for (std::uint32_t i = 0; i < all.size(); ++i) must(database.insert(all[i], Zone(i % 2), Dew{i}).ok());
        world.schedule().add("grow", query<Write<&Leaf::age>>(leaves), [](auto&& age) { age += 1; });
        world.schedule().add("dry", {writes_everything()}, [this](PassContext& frame) {
            if (frame.frame == 1) world.commands().destroy(all[5]);
        });
    }
    EntityManager entities;
    World world{entities};
    Manager<Leaf>& leaves = world.manager<Leaf>();
    Database& database = world.database();
    std::vector<Entity> all = std::vector<Entity>(6);
};

/// A folder for a file, which is deleted when the program ends.
struct Temporary {
    Temporary() {
        path = (std::filesystem::temp_directory_path() / "shoal_recording_fuzz_XXXXXX").string();
        must(mkdtemp(path.data()) != nullptr);
    }
    ~Temporary() { std::filesystem::remove_all(path); }
    std::string file() const { return path + "/garden.rec"; }
    std::string path;
};

std::string record_garden(const Temporary& to) {
    Garden garden;
    Recorder recorder(garden.world);
    must(recorder.start(to.file()).ok());
    for (int i = 1; i < kNumRecords; ++i) recorder.step(0.5f, std::as_bytes(std::span(&i, 1)));
    must(recorder.stop().ok());
    return *read_file(to.file());
}

std::string with_changed_state(const Temporary& room, std::string_view sound, std::size_t number,
                               const std::vector<Change>& changes) {
    Result<StateLogReader> from = StateLogReader::open(std::as_bytes(std::span(sound)), kBase);
    std::filesystem::remove(room.file());
    Result<StateLogWriter> to = StateLogWriter::create(room.file(), kBase);
    must(from.ok() && to.ok());
    for (std::size_t i = 0; from->next(); ++i) {
        const Snapshot state = i == number ? changed(from->state(), changes) : from->state();
        must(to->append(state, nullptr, from->frame()).ok());
    }
    return *read_file(room.file());
}

void play(std::span<const std::byte> bytes) {
    const auto must_be_text = [](std::string_view text) { must(!text.empty() && is_utf8(text)); };
    Result<Replay> replay = Replay::open(bytes, {.max_bytes = kMaxBytes});
    if (!replay) return must_be_text(replay.message());
    Garden garden;
    if (const Status status = replay->begin(garden.world); !status) return must_be_text(status.message());
    Frames frames(garden.world, 4);
    while (replay->next()) {
        replay->step();
        if (replay->difference()) must_be_text(replay->difference().text());
    }
    if (const Status status = replay->status(); !status) must_be_text(status.message());
    must(garden.database.validate().ok());
    garden.world.step(0.5f);
    Snapshot state;
    must(save(garden.world, state).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Temporary room;
    static const std::string sound = record_garden(room);
    if (size == 0) return 0;
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
    if (data[0] > kNumRecords) {
        std::vector<std::byte> file(bytes.begin(), bytes.end());
        put_checksums_right(file);
        play(file);
        return 0;
    }
    const std::vector<Change> changes = changes_in(bytes.subspan(1));
    const std::string file =
        data[0] == kNumRecords ? changed_log(sound, changes) : with_changed_state(room, sound, data[0], changes);
    play(std::as_bytes(std::span(file)));
    return 0;
}
