// Recordings: what is played again is what was recorded, what differs is named, and a damaged file does no harm.

#include "shoal/save/recording.h"
#include "shoal/save/frames.h"

#include "save/state_log.h"
#include "shoal/base/file.h"
#include "shoal/entity/entity_text.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"

#include "support/small_files.h"
#include "support/testing.h"
#include "support/whole_world.h"
#include "support/zstd_memory.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <unistd.h>

namespace recording_test {

using namespace shoal;
using namespace shoal_test;

constexpr std::uint64_t kBase = 0x676E6964726F6365;  // docs/formats/recording.md

std::string temporary_path(const std::string& name) {
    return (std::filesystem::temp_directory_path() / ("shoal_recording_test_" + std::to_string(getpid()) + name))
        .string();
}
std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What a frame gets; some get nothing.
std::string inputs_of(int frame) { return frame % 3 == 1 ? std::string() : "frame " + std::to_string(frame); }

/// Records frames of a sea. Returns the bytes of the file.
std::string record(Sea& sea, const std::string& name, int num_frames) {
    const std::string path = temporary_path(name);
    Recorder recorder(sea.world);
    const std::string setup = "a sea";
    EXPECT_TRUE(recorder.start(path, bytes_of(setup)).ok());
    for (int frame = 0; frame < num_frames; ++frame) {
        EXPECT_EQ(recorder.num_bytes(), std::filesystem::file_size(path));
        sea.meddle();
        if (frame % 2 == 0) sea.world.transforms().compute_moved();
        const std::string inputs = inputs_of(frame);
        recorder.step(1.0f / 60, bytes_of(inputs));
    }
    EXPECT_EQ(recorder.num_frames(), std::uint64_t(num_frames));
    const Status status = recorder.stop();
    EXPECT_TRUE(status.ok()) << status.message();
    std::string bytes = *read_file(path);
    EXPECT_EQ(recorder.num_bytes(), bytes.size());
    std::filesystem::remove(path);
    return bytes;
}

/// Plays frames of a recording in a sea, until one differs. Returns what differs, or what is wrong with the recording.
std::string play(Sea& sea, const std::string& bytes, const std::function<void(int)>& before_step = {}) {
    Result<Replay> replay = Replay::open(bytes_of(bytes));
    if (!replay) return std::string(replay.message());
    EXPECT_EQ(text_of(replay->setup()), "a sea");
    if (Status status = replay->begin(sea.world); !status) return std::string(status.message());
    for (int frame = 0; replay->next(); ++frame) {
        EXPECT_EQ(text_of(replay->inputs()), inputs_of(frame));
        EXPECT_EQ(replay->dt(), 1.0f / 60);
        sea.meddle();
        if (frame % 2 == 0) sea.world.transforms().compute_moved();
        if (before_step) before_step(frame);
        replay->step();
        EXPECT_EQ(replay->frame(), sea.world.frame());
        if (replay->difference()) return replay->difference().text();
    }
    return std::string(replay->status().message());
}

TEST(Recording, is_played_again_alike_with_any_number_of_workers) {
    const LeakCheck leaks;
    Sea sea(nullptr, 8);
    sea.run(6);
    const std::string bytes = record(sea, "workers", 25);
    for (const std::uint32_t num_workers : {1, 2, 3, 8}) {
        ThreadedExecutor workers(num_workers);
        Sea other(&workers, 99);
        EXPECT_EQ(play(other, bytes), "") << num_workers << " workers";
        EXPECT_EQ(state_hash(other.world), state_hash(sea.world));
        EXPECT_EQ(other.world.frame(), sea.world.frame());
    }
}

/// Changes one number of one fin, if something says so that is not in the world.
void add_drift(Sea& sea, const Entity& who) {
    sea.world.schedule().add("drift", sea.world.query<Write<&Fin::velocity>>(), [&who](Entity entity, auto&& v) {
        if (entity == who) v.x += 1000;
    });
}

TEST(Recording, a_pass_that_reads_what_is_not_in_the_world_is_named_with_the_field_and_the_entity) {
    const Entity nobody;
    Sea sea(nullptr, 8);
    sea.run(6);
    add_drift(sea, nobody);
    const std::string bytes = record(sea, "drift", 20);
    for (const std::uint32_t num_workers : {1, 3}) {
        Entity who;
        ThreadedExecutor workers(num_workers);
        Sea other(&workers, 8);
        add_drift(other, who);
        const std::string found = play(other, bytes, [&](int frame) {
            const auto fins = other.world.manager<Fin>().core().table().entities();
            const auto is_active = [&](Entity fin) { return other.world.entities().is_active(fin); };
            if (frame == 11) who = *std::find_if(fins.begin(), fins.end(), is_active);
        });
        const std::string begin = "frame 18, pass \"drift\": fin.velocity of entity " + entity_text(who) + " is [";
        EXPECT_EQ(found.substr(0, begin.size()), begin) << found;
        EXPECT_NE(found.find("] here and ["), std::string::npos) << found;
        EXPECT_TRUE(found.ends_with("] in the recording")) << "and no other value: " << found;
        EXPECT_EQ(other.world.frame(), 18u);
        EXPECT_EQ(other.world.get<float>(who, "fin.velocity.x").value(), std::stof(found.substr(begin.size())))
            << "the world has its own state again";
        EXPECT_TRUE(other.validate().ok());
    }
}

TEST(Recording, the_first_of_several_passes_that_differ_is_named) {
    struct Counting {
        explicit Counting(int when) {
            EXPECT_TRUE(entities.create(all).ok());
            EXPECT_TRUE(fins.add(all, Fin{}).ok());
            world.schedule().add("push", query<Write<&Fin::drag>>(fins), [this, when](auto&& drag) {
                drag += world.frame() == std::uint64_t(when) ? 2.0f : 1.0f;  // World::frame() counts the step already
            });
            world.schedule().add("pull", query<Write<&Fin::velocity>, Read<&Fin::drag>>(fins),
                                 [](auto&& v, float drag) { v.x += drag; });
        }
        EntityManager entities;
        World world{entities};
        Manager<Fin>& fins = world.manager<Fin>();
        std::vector<Entity> all = std::vector<Entity>(5);
    };
    const std::string path = temporary_path("several");
    Counting recorded(-1), other(4);
    Recorder recorder(recorded.world);
    ASSERT_TRUE(recorder.start(path).ok());
    for (int i = 0; i < 8; ++i) recorder.step(1);
    ASSERT_TRUE(recorder.stop().ok());
    const std::string bytes = *read_file(path);
    std::filesystem::remove(path);
    Result<Replay> replay = Replay::open(bytes_of(bytes)), moved = Replay::open(bytes_of(bytes));
    ASSERT_TRUE(replay.ok() && moved.ok() && replay->begin(other.world).ok());
    ASSERT_TRUE(replay->next());
    replay->step();
    *moved = std::move(*replay);  // goes on where it was
    while (moved->next() && !moved->difference()) moved->step();
    *replay = std::move(*moved);
    EXPECT_EQ(replay->difference().text(),
              "frame 4, pass \"push\": fin.drag of entity 1:1 is 5.0 here and 4.0 in the recording; 9 other values "
              "differ too");
    EXPECT_EQ(replay->difference().frame, 4u);
    EXPECT_EQ(replay->difference().pass, "push");
    EXPECT_EQ(replay->difference().value.component, "fin");
    EXPECT_EQ(replay->difference().value.field, "drag");
    EXPECT_EQ(replay->difference().value.entity, other.all[0]);
    const Replay last(std::move(*replay));
    EXPECT_EQ(last.difference().frame, 4u) << "it goes along";
}

/// A world with passes that a test chooses, which is recorded for some frames and played again.
struct Small {
    Small() {
        EXPECT_TRUE(entities.create(all).ok());
        EXPECT_TRUE(scars.add(all, Fin{}).ok());
    }
    EntityManager entities;
    World world{entities};
    Manager<Fin>& scars = world.manager<Fin>();
    std::vector<Entity> all = std::vector<Entity>(5);
};
/// The bytes of a recording of some frames.
std::string record(Small& small, int num_frames) {
    const std::string path = temporary_path("small");
    Recorder recorder(small.world);
    EXPECT_TRUE(recorder.start(path).ok());
    for (int i = 0; i < num_frames; ++i) recorder.step(1);
    EXPECT_TRUE(recorder.stop().ok());
    const std::string bytes = *read_file(path);
    std::filesystem::remove(path);
    return bytes;
}
template <class AddPasses>
std::string difference_of(AddPasses&& add_passes, int num_frames = 6) {
    Small recorded, other;
    add_passes(recorded, false), add_passes(other, true);
    const std::string bytes = record(recorded, num_frames);
    Result<Replay> replay = Replay::open(bytes_of(bytes));
    EXPECT_TRUE(replay.ok() && replay->begin(other.world).ok());
    while (replay->next() && !replay->difference()) replay->step();
    EXPECT_TRUE(replay->status().ok());
    return replay->difference().text();
}

TEST(Recording, commands_that_differ_are_named_when_the_world_settles) {
    EXPECT_EQ(difference_of([](Small& small, bool differs) {
                  small.world.schedule().add("grow", {}, [&small, differs](PassContext& frame) {
                      if (frame.frame == 2) small.world.commands().create(Fin{});
                      if (frame.frame == 2 && differs) small.world.commands().create(Fin{});
                  });
              }),
              "frame 3, settle: entity 7:1 has fin here and not in the recording");
    EXPECT_EQ(difference_of([](Small& small, bool differs) {
                  small.world.schedule().add("lose", {}, [&small, differs](PassContext& frame) {
                      if (frame.frame == 1 && differs) small.world.commands().remove<Fin>(small.all[2]);
                  });
              }),
              "frame 2, settle: entity 3:1 has fin in the recording and not here");
}

TEST(Recording, a_pass_may_have_tabs_and_line_breaks_in_its_name) {
    EXPECT_EQ(difference_of([](Small& small, bool) {
                  small.world.schedule().add("a\tb\nc", query<Write<&Fin::drag>>(small.scars),
                                             [](auto&& drag) { drag += 1; });
              }),
              "");
}

TEST(Recording, a_pass_that_runs_in_one_of_both_is_named) {
    const auto add = [](Small& small, bool runs) {
        small.world.schedule().add("one", {}, [](PassContext&) {});
        small.world.schedule().add("two", {}, [](PassContext&) {});
        small.world.schedule().add("off", {writes_everything()}, [&small, runs](PassContext& frame) {
            if (frame.frame == 2 && !runs) static_cast<void>(small.world.schedule().enable("two", false));
        });
    };
    EXPECT_EQ(difference_of(add), "frame 4, pass \"two\": it runs here, and not in the recording at this place");
    EXPECT_EQ(difference_of([&](Small& small, bool differs) { add(small, !differs); }),
              "frame 4, pass \"two\": it runs in the recording, and not here at this place");
}

TEST(Recording, a_value_that_is_the_same_again_at_the_end_of_the_frame_is_named_without_its_entity) {
    EXPECT_EQ(difference_of([](Small& small, bool differs) {
                  small.world.schedule().add("spoil", query<Write<&Fin::drag>>(small.scars),
                                             [differs](auto&& drag) { drag = differs ? 2.0f : 1.0f; });
                  small.world.schedule().add("mend", query<Write<&Fin::drag>>(small.scars),
                                             [](auto&& drag) { drag = 3; });
              }),
              "frame 1, pass \"spoil\": fin.drag differs after it, and is the same again at the end of the frame");
}

TEST(Recording, a_frame_that_is_alike_after_one_that_differs_is_no_difference) {
    const auto add_passes = [](Small& small, bool differs) {
        small.world.schedule().add("spoil", {writes_everything()}, [&small, differs](PassContext& frame) {
            const bool spoils = differs && frame.frame == 2;
            small.scars.set<&Fin::drag>(small.scars.instance(small.all[1]), spoils ? 8.0f : 1.0f);
        });
        small.world.schedule().add("mend", query<Write<&Fin::drag>>(small.scars), [](auto&& drag) { drag = 3; });
    };
    Small recorded, other;
    add_passes(recorded, false), add_passes(other, true);
    const std::string bytes = record(recorded, 4);
    Result<Replay> replay = Replay::open(bytes_of(bytes));
    ASSERT_TRUE(replay.ok() && replay->begin(other.world).ok());
    std::vector<bool> differ;
    while (replay->next()) {
        replay->step();
        differ.push_back(bool(replay->difference()));
    }
    EXPECT_EQ(differ, (std::vector<bool>{false, false, true, false}));
}

TEST(Recording, a_pass_that_declares_nothing_is_watched_too) {
    EXPECT_EQ(difference_of([](Small& small, bool differs) {
                  small.world.schedule().add("all", {writes_everything()}, [&small, differs](PassContext& frame) {
                      if (differs && frame.frame == 3)
                          small.scars.set<&Fin::drag>(small.scars.instance(small.all[1]), 8);
                  });
              }),
              "frame 4, pass \"all\": fin.drag of entity 2:1 is 8.0 here and 0.0 in the recording");
}

TEST(Recording, ends_when_the_world_is_taken_to_another_frame_and_says_so) {
    Small small;
    Frames frames(small.world, 4);
    const std::string path = temporary_path("rewound");
    Recorder recorder(small.world);
    ASSERT_TRUE(recorder.start(path).ok());
    recorder.step(1), recorder.step(1);
    ASSERT_TRUE(frames.rewind(1).ok());
    recorder.step(1);
    EXPECT_FALSE(recorder.is_recording());
    EXPECT_EQ(recorder.num_frames(), 2u);
    EXPECT_EQ(small.world.frame(), 2u) << "the world was stepped";
    EXPECT_NE(recorder.stop().message().find("it is at frame 1 and was recorded up to frame 2; "),
              std::string_view::npos)
        << recorder.status().message();
    EXPECT_FALSE(Recorder(small.world).start("/nowhere/there.rec").ok());
    ASSERT_TRUE(recorder.start(path).ok());
    EXPECT_EQ(recorder.num_frames(), 0u) << "of the recording before, nothing is left";
    EXPECT_TRUE(recorder.status().ok());
    recorder.step(1);
    EXPECT_EQ(recorder.num_frames(), 1u);
    EXPECT_TRUE(recorder.stop().ok());
    EXPECT_EQ(recorder.num_bytes(), std::filesystem::file_size(path));
    ASSERT_TRUE(recorder.start(path).ok());
    small.world.step(1);  // beside the recorder
    recorder.step(1);
    EXPECT_FALSE(recorder.is_recording());
    EXPECT_NE(recorder.stop().message().find("it is at frame 4 and was recorded up to frame 3; "),
              std::string_view::npos)
        << recorder.status().message();
    ASSERT_TRUE(recorder.start(path).ok());
    recorder.step(1);
    {
        const SmallFiles limit(recorder.num_bytes());
        recorder.step(1);
    }
    EXPECT_FALSE(recorder.is_recording());
    EXPECT_EQ(recorder.num_frames(), 1u) << "the second could not be written";
    EXPECT_FALSE(recorder.stop().ok());
    std::filesystem::remove(path);
}

// --- what the guide shows ----------------------------------------------------------------------------------------

struct Input {
    float push = 0;
};
struct Game {
    Game() {
        EXPECT_TRUE(entities.create(all).ok());
        EXPECT_TRUE(fins.add(all, Fin{}).ok());
        world.schedule().add("push", query<Write<&Fin::velocity>>(fins), [this](auto&& v) { v.x += input.push; });
    }
    EntityManager entities;
    World world{entities};
    Manager<Fin>& fins = world.manager<Fin>();
    std::vector<Entity> all = std::vector<Entity>(5);
    Input input;
};

Status record(Game& game, const std::string& path, std::span<const Input> inputs, std::span<const std::byte> setup) {
    // [world/recorder]
    Recorder recorder(game.world);
    if (Status status = recorder.start(path, setup); !status) return status;  // setup: how the program made this world
    for (const Input& input : inputs) {
        game.input = input;
        recorder.step(0.5f, std::as_bytes(std::span(&input, 1)));  // in place of world.step()
    }
    return recorder.stop();
    // [world/recorder]
}

Status play(Game& game, std::span<const std::byte> bytes) {
    // [world/replay]
    Result<Replay> replay = Replay::open(bytes);  // of the file
    if (!replay) return replay.status();
    if (Status status = replay->begin(game.world); !status) return status;
    while (replay->next()) {
        std::memcpy(&game.input, replay->inputs().data(), sizeof game.input);
        replay->step();
        if (replay->difference()) return Status::error(replay->difference().text());
    }
    return replay->status();
    // [world/replay]
}

TEST(Recording, hands_inputs_back_to_a_program_that_has_its_own) {
    const std::string path = temporary_path("game");
    const Input inputs[] = {{1}, {0.5f}, {-2}};
    Game recorded, same, other;
    ASSERT_TRUE(record(recorded, path, inputs, {}).ok());
    const std::string bytes = *read_file(path);
    std::filesystem::remove(path);
    const Status status = play(same, bytes_of(bytes));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(state_hash(same.world), state_hash(recorded.world));
    other.world.schedule().add("pull", query<Write<&Fin::velocity>>(other.fins), [](auto&& v) { v.y -= 1; });
    EXPECT_NE(play(other, bytes_of(bytes)).message().find("frame 1, pass \"pull\": it runs here, and not in"),
              std::string_view::npos);
}

TEST(Recording, a_file_that_is_cut_short_anywhere_is_an_error_after_the_frames_that_are_whole) {
    Sea sea(nullptr, 2);
    sea.run(2);
    const std::string bytes = record(sea, "cut", 4);
    Random random(seed());
    SCOPED_TRACE(seed_text());
    for (std::int64_t i = 0; i < 60; ++i) {
        const std::size_t size = i < 20 ? std::size_t(i) * 5 : random.below(std::uint32_t(bytes.size()));
        Sea other(nullptr, 2);
        const std::string problem = play(other, bytes.substr(0, size));
        // Between two records the file is a shorter recording.
        if (problem.empty()) {
            EXPECT_GT(size, 100u);
            EXPECT_LT(other.world.frame(), sea.world.frame());
        } else {
            EXPECT_TRUE(problem.find("damaged after ") != std::string::npos ||
                        problem.find("is not a recording") != std::string::npos ||
                        problem.find("has no whole beginning") != std::string::npos)
                << problem;
        }
    }
}

TEST(Recording, a_byte_that_was_changed_anywhere_is_an_error) {
    Sea sea(nullptr, 2);
    sea.run(2);
    const std::string bytes = record(sea, "flip", 3);
    Random random(seed());
    SCOPED_TRACE(seed_text());
    for (int i = 0; i < 60; ++i) {
        std::string damaged = bytes;
        const std::size_t at = i < 40 ? std::size_t(i) : random.below(std::uint32_t(bytes.size()));
        damaged[at] = char(damaged[at] ^ (1 << random.below(8)));
        Sea other(nullptr, 2);
        EXPECT_NE(play(other, damaged), "") << "byte " << at;
    }
}

/// The same recording with other records, with the right checksums. change(log) returns the state of the record that the log has
/// read last.
template <class Change>
std::string with_records(const std::string& bytes, Change&& change) {
    const std::string path = temporary_path("false");
    std::filesystem::remove(path);
    Result<StateLogReader> from = StateLogReader::open(bytes_of(bytes), kBase);
    Result<StateLogWriter> to = StateLogWriter::create(path, kBase);
    EXPECT_TRUE(from.ok() && to.ok());
    while (from->next()) EXPECT_TRUE(to->append(change(*from), nullptr, from->frame()).ok());
    std::string result = *read_file(path);
    std::filesystem::remove(path);
    return result;
}

/// The same recording, of which one record has other bytes in one part.
std::string with_false_record(const std::string& bytes, std::uint64_t chosen, Random& random) {
    return with_records(bytes, [&](const StateLogReader& log) {
        const Snapshot state = log.state();
        if (log.num_records() != chosen) return log.state();
        // Mostly what only recordings have: tests of saves damage the rest.
        if (random.below(4) == 0) return damaged_copy(state, random);
        Snapshot changed = damaged_copy(log.state(nullptr, "recording"), random);
        SnapshotWriter others(changed);
        for (std::size_t i = 0; i < state.num_parts(); ++i)
            if (const SnapshotPart part = state.part(i); !part.path.starts_with("recording/"))
                others.copy(part.path, state, part);
        return changed;
    });
}

TEST(Recording, a_false_record_with_the_right_checksums_does_no_harm) {
    Sea sea(nullptr, 2);
    sea.run(2);
    const std::string bytes = record(sea, "false", 4);
    Random random(seed());
    SCOPED_TRACE(seed_text());
    int num_found = 0;
    for (std::int64_t i = 0, end = scaled_operations(150); i < end; ++i) {
        const std::string changed = with_false_record(bytes, 1 + random.below(5), random);
        Sea other(nullptr, 2);
        Result<Replay> replay = Replay::open(bytes_of(changed));
        bool is_found = !replay || !replay->begin(other.world);
        for (int frame = 0; !is_found && replay->next(); ++frame) {
            other.meddle();
            if (frame % 2 == 0) other.world.transforms().compute_moved();
            replay->step();
            is_found = bool(replay->difference());
            ASSERT_EQ(is_found, !replay->difference().text().empty());
        }
        num_found += is_found || !replay->status();
        const Status status = other.validate();
        ASSERT_TRUE(status.ok()) << status.message();
    }
    EXPECT_GT(num_found, 0);
}

/// A recording of a small world for some frames.
std::string record_small(int num_frames) {
    const std::string path = temporary_path("small");
    Small recorded;
    Recorder recorder(recorded.world);
    EXPECT_TRUE(recorder.start(path).ok());
    for (int i = 0; i < num_frames; ++i) recorder.step(1);
    EXPECT_TRUE(recorder.stop().ok());
    std::string bytes = *read_file(path);
    std::filesystem::remove(path);
    return bytes;
}

/// Plays a recording in a small world until a frame differs. Returns that.
ReplayDifference play_small(const std::string& bytes) {
    Small other;
    Result<Replay> replay = Replay::open(bytes_of(bytes));
    EXPECT_TRUE(replay.ok() && replay->begin(other.world).ok());
    while (replay->next() && !replay->difference()) replay->step();
    return replay->difference();
}

TEST(Recording, a_record_of_another_frame_is_a_difference_also_if_that_is_frame_0) {
    const std::string bytes = record_small(3), path = temporary_path("zero");
    Result<StateLogReader> from = StateLogReader::open(bytes_of(bytes), kBase);
    Result<StateLogWriter> to = StateLogWriter::create(path, kBase);
    for (std::uint64_t i = 0; from->next(); ++i)
        EXPECT_TRUE(to->append(from->state(), nullptr, i == 2 ? 0 : from->frame()).ok());
    const ReplayDifference found = play_small(*read_file(path));
    std::filesystem::remove(path);
    EXPECT_TRUE(found);
    EXPECT_EQ(found.frame, 0u);
    EXPECT_EQ(found.text(), "frame 0, settle: the world is at frame 2 here");
}

TEST(Recording, a_record_without_a_frame_is_damage_after_the_frames_before_it) {
    const std::string bytes = record_small(3), path = temporary_path("without");
    Result<StateLogReader> from = StateLogReader::open(bytes_of(bytes), kBase);
    Result<StateLogWriter> to = StateLogWriter::create(path, kBase);
    for (int i = 0; from->next(); ++i)
        EXPECT_TRUE(to->append(i == 3 ? from->state(nullptr, "world") : from->state(), nullptr, from->frame()).ok());
    const std::string changed = *read_file(path);
    std::filesystem::remove(path);
    Small other;
    Result<Replay> replay = Replay::open(bytes_of(changed));
    ASSERT_TRUE(replay.ok() && replay->begin(other.world).ok());
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(replay->next() && replay->status().ok());
        replay->step();
        EXPECT_FALSE(replay->difference());
    }
    EXPECT_FALSE(replay->next());
    EXPECT_FALSE(replay->next());
    EXPECT_TRUE(replay->status().message().starts_with("the recording is damaged after 2 frames: "))
        << replay->status().message();
}

TEST(Recording, names_that_somebody_has_made_up_cost_no_more_than_they_are_long) {
    // 100,000 that no world has, and as many of a component type that this one has. If each were looked for among the others, or
    // looked at the rows, this would take minutes.
    constexpr std::size_t kNumNames = 100'000;
    std::string lines;
    for (std::size_t i = 0; i < kNumNames; ++i)
        lines += "c" + std::to_string(i) + "\tf\nfin\tf" + std::to_string(i) + "\n";
    const std::vector<std::uint64_t> hashes(2 * kNumNames, 7);
    const std::string changed = with_records(record_small(2), [&](const StateLogReader& log) {
        if (log.num_records() == 1) return log.state();
        return with_parts(log.state(), [&](ChangedPart& part) {
            const auto put = [&](std::span<const std::byte> bytes) { part.bytes.assign(bytes.begin(), bytes.end()); };
            if (part.path == "recording/fields") put(bytes_of(lines));
            if (part.path == "recording/field_hashes") put(std::as_bytes(std::span(hashes)));
            return true;
        });
    });
    EXPECT_EQ(play_small(changed).text(), "frame 1, settle: c0.f differs");
}

TEST(Recording, other_values_are_counted_in_fields_that_the_world_has) {
    struct Pushed {
        explicit Pushed(float push) {
            EXPECT_TRUE(entities.create(all).ok());
            EXPECT_TRUE(fins.add(all, Fin{}).ok() && ages.add(all, Age{}).ok());
            world.schedule().add("push", query<Write<&Fin::drag>>(fins), [push](auto&& drag) { drag += push; });
            world.schedule().add("age", query<Write<&Age::frames>>(ages),
                                 [push](auto&& age) { age += std::uint32_t(push); });
        }
        EntityManager entities;
        World world{entities};
        Manager<Fin>& fins = world.manager<Fin>();
        Manager<Age>& ages = world.manager<Age>();
        std::vector<Entity> all = std::vector<Entity>(4);
    } recorded(1), other(2);
    const std::string path = temporary_path("pushed");
    Recorder recorder(recorded.world);
    ASSERT_TRUE(recorder.start(path).ok());
    recorder.step(1);
    ASSERT_TRUE(recorder.stop().ok());
    const std::string bytes = *read_file(path);
    std::filesystem::remove(path);
    Result<Replay> replay = Replay::open(bytes_of(bytes));
    ASSERT_TRUE(replay.ok() && replay->begin(other.world).ok() && replay->next());
    replay->step();
    EXPECT_EQ(
        replay->difference().text(),
        "frame 1, pass \"push\": fin.drag of entity 1:1 is 2.0 here and 1.0 in the recording; 7 other values differ "
        "too");
}

TEST(Recording, a_difference_leaves_the_frames_that_the_world_keeps_and_no_stores_of_the_recording) {
    const std::string path = temporary_path("kept");
    Small recorded, other;
    Recorder recorder(recorded.world);
    ASSERT_TRUE(recorder.start(path).ok());
    for (int i = 0; i < 6; ++i) {
        if (i == 3) {
            ASSERT_TRUE(recorded.world.manager<Age>().add(recorded.all[1], Age{}).ok());
        }
        recorder.step(1);
    }
    ASSERT_TRUE(recorder.stop().ok());
    const std::string bytes = *read_file(path);
    std::filesystem::remove(path);

    Result<Replay> replay = Replay::open(bytes_of(bytes));
    ASSERT_TRUE(replay.ok() && replay->begin(other.world).ok());
    Frames frames(other.world, 8);
    std::vector<std::uint64_t> hashes{state_hash(other.world)};
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(replay->next());
        other.scars.set<&Fin::drag>(other.scars.instance(other.all[0]), i < 3 ? 0.0f : 5.0f);
        replay->step();
        hashes.push_back(state_hash(other.world));
    }
    EXPECT_EQ(replay->difference().text(),
              "frame 4, settle: fin.drag of entity 1:1 is 5.0 here and 0.0 in the recording");
    EXPECT_EQ(other.world.directory().find(schema_of<Age>().id()), nullptr);
    EXPECT_EQ(frames.statistics().num_frames, 5u);
    other.world.step(1);
    hashes.push_back(state_hash(other.world));
    for (std::uint64_t frame = 5; frame != ~std::uint64_t(0); --frame) {
        ASSERT_TRUE(frames.rewind(frame).ok()) << frame;
        EXPECT_EQ(state_hash(other.world), hashes[frame]) << frame;
    }
}

/// What no save can have.
struct Note {
    std::string text;
};
SHOAL_COMPONENT(Note, text)

TEST(Recording, an_older_recording_stays_if_the_disk_has_no_room_for_the_beginning_of_a_new_one) {
    const std::string path = temporary_path("no_room"), older = record_small(2);
    ASSERT_TRUE(write_file(path, older).ok());
    Small small;
    Recorder recorder(small.world);
    const auto start_without_room = [&] {
        const SmallFiles limit(100);
        return recorder.start(path);
    };
    const Status status = start_without_room();
    EXPECT_EQ(status.message(), "cannot write \"" + path + "\": cannot write: File too large");
    EXPECT_FALSE(recorder.is_recording());
    EXPECT_EQ(*read_file(path), older);
    ASSERT_TRUE(recorder.start(path).ok() && recorder.stop().ok()) << "when there is room, it is replaced";
    EXPECT_NE(*read_file(path), older);
    std::filesystem::remove(path);
}

TEST(Recording, an_older_recording_stays_if_the_world_cannot_be_saved) {
    const std::string path = temporary_path("older"), older = record_small(2);
    ASSERT_TRUE(write_file(path, older).ok());
    Small small;
    ASSERT_TRUE(small.world.manager<Note>().add(small.all[0], Note{"here"}).ok());
    Recorder recorder(small.world);
    EXPECT_EQ(recorder.start(path).message().substr(0, path.size() + 2), path + ": ");
    EXPECT_FALSE(recorder.is_recording());
    EXPECT_EQ(*read_file(path), older);
    ASSERT_TRUE(small.world.manager<Note>().remove(small.all[0]));
    std::filesystem::remove(path);
}

TEST(Recording, a_state_that_takes_more_memory_than_it_may_is_refused_with_what_to_do) {
    const std::string path = temporary_path("large");
    Small small, other;
    Recorder recorder(small.world);
    ASSERT_TRUE(recorder.start(path).ok());
    recorder.step(1);
    std::vector<Entity> more(20'000);
    ASSERT_TRUE(small.entities.create(more).ok() && small.scars.add(more, Fin{}).ok());
    recorder.step(1);
    ASSERT_TRUE(recorder.stop().ok());
    const std::string bytes = *read_file(path);
    std::filesystem::remove(path);
    EXPECT_EQ(Replay::open(bytes_of(bytes), {.max_bytes = 100}).message(),
              "record 0 at byte 40: its state is larger than 100 bytes; if you trust its source, set "
              "LoadOptions::max_bytes");
    const auto text_with = [&](std::uint64_t max_bytes) {
        Result<Replay> replay = Replay::open(bytes_of(bytes), {.max_bytes = max_bytes});
        EXPECT_TRUE(replay.ok() && replay->begin(other.world).ok());
        while (replay->next()) {
        }
        return std::string(replay->status().message());
    };
    const std::string found = text_with(100'000);
    EXPECT_EQ(found.substr(0, 53), "the recording cannot be read after 1 frame: record 2 ") << found;
    EXPECT_TRUE(
        found.ends_with(": its state is larger than 100000 bytes; if you trust its source, set "
                        "LoadOptions::max_bytes"))
        << found;
    EXPECT_EQ(text_with(0), "");
    EXPECT_EQ(text_with(1'000'000'000), "");
    EXPECT_TRUE(Replay::is_recording(bytes_of(bytes)));
    EXPECT_TRUE(Replay::is_recording(bytes_of(bytes.substr(0, 50)))) << "one that is cut";
}

TEST(Recording, memory_that_runs_out_while_it_is_read_is_no_damage) {
    const std::string path = temporary_path("no_memory");
    Small small, other;
    Recorder recorder(small.world);
    ASSERT_TRUE(recorder.start(path).ok());
    for (int i = 0; i < 3; ++i) recorder.step(1);
    ASSERT_TRUE(recorder.stop().ok());
    const std::string bytes = *read_file(path);
    std::filesystem::remove(path);
    int num_refused = 0, num_ended = 0;
    for (std::uint32_t fail_at = 1;; ++fail_at) {
        std::string why;
        {
            const ShortZstdMemory memory(fail_at, true);
            Result<Replay> replay = Replay::open(bytes_of(bytes));
            ++(replay ? num_ended : num_refused);
            why = replay.message();
            if (replay && replay->begin(other.world).ok()) {
                while (replay->next()) {
                }
                why = replay->status().message();
            }
        }
        if (why.empty()) break;
        EXPECT_NE(why.find("there is no memory to decompress"), std::string::npos) << why;
        EXPECT_EQ(why.find("damaged"), std::string::npos) << why;
        EXPECT_EQ(why.find("no whole beginning"), std::string::npos) << why;
    }
    EXPECT_GT(num_refused, 0);
    EXPECT_GT(num_ended, 1);
}

TEST(Recording, other_files_are_none) {
    for (const std::string text : {"", "shoalsav and more of it, up to a header of a log"}) {
        EXPECT_NE(Replay::open(bytes_of(text)).message().find("the file is not a recording: "), std::string_view::npos);
        EXPECT_FALSE(Replay::is_recording(bytes_of(text)));
    }
}

}  // namespace recording_test
