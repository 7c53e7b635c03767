// Worlds that are saved, kept, persisted and recorded while zones of them lie in files.

#include "shoal/base/detail/folder.h"
#include "shoal/base/file.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/react/observers.h"
#include "shoal/save/frames.h"
#include "shoal/save/persistence.h"
#include "shoal/save/recording.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/state/snapshot.h"

#include "support/changed_state.h"
#include "support/logged.h"
#include "support/saved_zones.h"
#include "support/small_files.h"
#include "support/testing.h"
#include "support/whole_world.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace zone_files_save_test {

using namespace shoal;
using namespace shoal_test;
namespace fs = std::filesystem;

Snapshot state_of(const World& world) {
    Snapshot state;
    const Status status = save(world, state);
    EXPECT_TRUE(status.ok()) << status.message();
    return state;
}
Array<std::byte> bytes_of_save(const World& world) {
    Array<std::byte> bytes{Owner("test")};
    const Status status = save(world, bytes);
    EXPECT_TRUE(status.ok()) << status.message();
    return bytes;
}

/// Folders for zones, which go, and what is logged meanwhile.
struct ZoneFilesSave : testing::Test {
    ZoneFilesSave() {
        set_log_hook([](void* self, LogLevel,
                        std::string_view text) { static_cast<ZoneFilesSave*>(self)->logged.emplace_back(text); },
                     this);
        fs::remove_all(outer);
        fs::create_directory(outer);
    }
    ~ZoneFilesSave() override {
        set_log_hook(nullptr, nullptr);
        fs::remove_all(outer);
    }
    std::string folder(std::string_view name) const { return outer + "/" + std::string(name); }
    /// The files of zones in a folder.
    static std::size_t num_files(const std::string& folder) { return list_folder(folder)->size() - 1; }

    const LeakCheck leaks;  // goes last
    const std::string outer =
        (fs::temp_directory_path() / ("shoal_zone_files_save_" + std::to_string(getpid()))).string();
    std::vector<std::string> logged;
};

/// A sea whose zones are streamed within a budget. A few are visited in each frame, by passes and between steps; what passes
/// and the program do to entities whose rows are away makes some zones fail to come back, until that is over.
struct StreamedSea : Sea {
    explicit StreamedSea(const std::string& folder, std::uint64_t seed = 1, Executor* executor = nullptr)
        : Sea(executor, seed) {
        must(zones.start(folder, budget()).ok());
        world.schedule().add("look", world.query<Read<&Hungry::since>>().in({1}), [](float) {}).every_frames(5);
    }
    static ZoneFileOptions budget() { return {.max_rows = 90, .max_bytes = 0, .kept = {2}}; }
    void frame(const std::function<void()>& step) {
        const auto turn = static_cast<Zone>(world.frame());
        if (turn % 3 != 0) world.query<Read<&Spot::position>>().in({turn % 7, 40 + turn}).for_each([](Vec3) {});
        if (turn % 4 == 1 && zones.unload(turn % 5).ok()) ++num_by_hand;
        if (turn % 6 == 2 && zones.load(3).ok()) ++num_by_hand;
        meddle();
        if (world.transforms().mode() == TransformMode::kDeferred && turn % 2 == 0) world.transforms().compute_moved();
        step();
    }
    void frame() {
        frame([this] { world.step(1.0f / 60); });
    }
    void frames(int count) {
        for (int i = 0; i < count; ++i) frame();
    }
    ZoneStreaming zones{world};
    int num_by_hand = 0;
};

/// `is_all`: not only what hashes see.
void expect_same(const StreamedSea& one, const StreamedSea& other, bool is_all = true) {
    ASSERT_EQ(state_hash(one.world), state_hash(other.world)) << "frame " << one.world.frame();
    ASSERT_EQ(one.zones.unloaded(), other.zones.unloaded()) << "frame " << one.world.frame();
    if (!is_all) return;
    ASSERT_EQ(difference(state_of(one.world), state_of(other.world)), "") << "frame " << one.world.frame();
}

TEST_F(ZoneFilesSave, a_world_goes_on_as_the_one_that_was_saved_where_zones_are_visited_and_leave) {
    std::uint64_t num_unloaded = 0, num_failed = 0;
    for (const std::uint64_t seed : {1, 2}) {
        StreamedSea saved(folder("saved"), seed);
        saved.frames(25);
        saved.world.query<Read<&Spot::position>>().in({1, 3, 9}).for_each([](Vec3) {});  // the next settle loads them
        num_unloaded += saved.zones.unloaded().size();
        // A zone cannot be read just now, so the next settles do not try again.
        const std::string away = folder("away");
        std::string path;
        Zone failed = 0;
        saved.zones.unloaded().for_each([&](Zone zone) { failed = zone < 7 && zone != 3 ? zone : failed; });
        const std::vector<std::string> names = list_folder(folder("saved")).value();
        for (const std::string& name : names)
            if (name.starts_with("zone_" + std::to_string(failed) + "_")) path = folder("saved") + "/" + name;
        ASSERT_NE(path, "");
        fs::rename(path, away);
        saved.world.query<Read<&Spot::position>>().in({failed}).for_each([](Vec3) {});
        saved.world.step(1.0f / 60);
        fs::rename(away, path);
        ASSERT_TRUE(saved.zones.unloaded().contains(failed));
        saved.world.query<Read<&Spot::position>>().in({1, 3, 9}).for_each([](Vec3) {});
        num_failed += logged.size();
        StreamedSea from_file(folder("from_file"), 99), from_state(folder("from_state"), 98);
        from_file.frames(8), from_state.frames(3);
        ASSERT_TRUE(save(saved.world, folder("whole.save")).ok());
        const Snapshot state = state_of(saved.world);
        Status status = load(from_file.world, folder("whole.save"));
        ASSERT_TRUE(status.ok()) << status.message();
        status = load(from_state.world, state);
        ASSERT_TRUE(status.ok()) << status.message();
        for (int i = 0; i < 70; ++i) {
            saved.frame(), from_file.frame(), from_state.frame();
            ASSERT_NO_FATAL_FAILURE(expect_same(saved, from_file, i % 10 == 0));
            ASSERT_NO_FATAL_FAILURE(expect_same(saved, from_state, i % 10 == 0));
        }
        for (StreamedSea* sea : {&saved, &from_file, &from_state}) {
            EXPECT_TRUE(sea->validate().ok()) << sea->validate().message();
            EXPECT_GT(sea->num_by_hand, 0);
        }
        EXPECT_EQ(num_files(folder("from_file")), saved.zones.unloaded().size()) << "others went";
    }
    EXPECT_GT(num_unloaded, 3u);
    EXPECT_GT(num_failed, 0u);
}

struct Napping {
    float since = 0;
};
SHOAL_COMPONENT((Napping, enableable), since)

/// A world whose zones have entities with something of all kinds.
struct Pond {
    Pond() {
        sea.component<Spot>(), sea.component<Hungry>(), sea.component<Egg>(), sea.component<Plankton>(),
            sea.component<Napping>();
    }
    explicit Pond(const std::string& folder) : Pond() { must(zones.start(folder).ok()); }

    std::vector<Entity> fill(Zone zone, int count) {
        std::vector<Entity> all;
        for (int i = 0; i < count; ++i) {
            const Entity made = all.emplace_back(*entities.create());
            must(sea.insert(made, zone, Spot{{random.unit(), float(i), 2}}).ok());
            if (i % 2 == 0) must(sea.add(made, Hungry{random.unit()}).ok());
            if (i % 6 == 1) must(sea.add(made, Disabled{Hungry{random.unit()}}).ok());
            for (int k = 0; k < i % 4; ++k) must(sea.add(made, Egg{std::uint16_t(random.below(1000))}).ok());
            if (i % 3 == 0) must(sea.add(made, Plankton{random.next(), Kind(i % 2), i % 5 == 0}).ok());
        }
        return all;
    }
    /// Fills zones 1 to `count`, and unloads all of them.
    void fill_and_unload(Zone count, int rows) {
        for (Zone zone = 1; zone <= count; ++zone) fill(zone, rows), must(zones.unload(zone).ok());
        world.step(0.1f);
    }
    std::map<Entity, std::string> texts() const {
        std::map<Entity, std::string> all;
        for (const DatabaseTable* table : sea.all_tables())
            for (std::uint32_t row = 0; table != nullptr && row < table->num_rows(); ++row)
                all[table->entities()[row]] = text_of(world, table->entities()[row]);
        return all;
    }

    Random random{7};
    EntityManager entities;
    World world{entities};
    ZoneStreaming zones{world};
    Persistence persistence{world};
    Database& sea = world.database();
};

TEST_F(ZoneFilesSave, a_persisted_world_has_its_unloaded_rows_also_when_zones_end_before) {
    const shoal_test::Logged logged;
    std::map<Entity, std::string> expected;
    {
        Pond saved(folder("zones"));
        ASSERT_TRUE(saved.persistence.start(folder("persisted")).ok());
        saved.fill(1, 40);
        expected = saved.texts();
        saved.world.step(0.1f);
        ASSERT_TRUE(saved.zones.unload(1).ok());
        std::destroy_at(&saved.zones);
        ::new (static_cast<void*>(&saved.zones)) ZoneStreaming(saved.world);
        EXPECT_FALSE(saved.persistence.statistics().is_running);
        ASSERT_EQ(logged.lines.size(), 1u);
        EXPECT_NE(logged.lines[0].find("make it before the Persistence, so that it ends after it"), std::string::npos);
    }
    Pond recovered;
    const Result<Recovered> found = recovered.persistence.recover(folder("persisted"));
    ASSERT_TRUE(found.ok()) << found.message();
    EXPECT_EQ(recovered.texts(), expected);
}

TEST_F(ZoneFilesSave, a_world_that_does_not_stream_zones_loads_all_rows) {
    Pond saved(folder("zones")), loaded;
    std::vector<Entity> come;
    for (Pond* pond : {&saved, &loaded})
        pond->world.observers().on_add<Spot>([&, pond](std::span<const Entity> some) {
            if (pond == &loaded) come.insert(come.end(), some.begin(), some.end());
        });
    const std::vector<Entity> all = saved.fill(1, 40);
    saved.fill(3, 30), saved.fill(2, 30);
    saved.world.step(0.1f);
    ASSERT_TRUE(saved.zones.unload(3).ok() && saved.zones.unload(1).ok());
    saved.entities.destroy(std::span(all).first(5));
    ASSERT_TRUE(saved.sea.remove<Plankton>(all[6]));  // it has no row
    ASSERT_TRUE(saved.sea.insert(all[5], 2, Napping{4}).ok());
    saved.fill(1, 3);
    saved.world.step(0.1f);
    const Array<std::byte> bytes = bytes_of_save(saved.world);
    const Status status = load(loaded.world, bytes);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(saved.zones.load_all().ok());
    EXPECT_EQ(state_hash(saved.world), state_hash(loaded.world));
    EXPECT_EQ(saved.texts(), loaded.texts());
    EXPECT_EQ(loaded.sea.num_rows(), 98u);
    EXPECT_TRUE(loaded.sea.validate().ok()) << loaded.sea.validate().message();
    EXPECT_EQ(come.size(), 0u);
    for (int i = 0; i < 3; ++i) saved.world.step(0.1f), loaded.world.step(0.1f);
    EXPECT_EQ(state_hash(saved.world), state_hash(loaded.world));
    EXPECT_EQ(come.size(), 65u) << "observers are told of the rows that were away";
    Pond streaming(folder("others"));
    ASSERT_TRUE(load(streaming.world, bytes_of_save(loaded.world)).ok());
    EXPECT_EQ(streaming.zones.unloaded(), ZoneSet()) << "all were in memory";
}

TEST_F(ZoneFilesSave, a_state_without_streamed_zones_leaves_nothing_of_those_that_were_unloaded) {
    Pond streaming(folder("zones")), saved;
    const std::vector<Entity> away = streaming.fill(1, 20);
    streaming.fill(2, 5);
    ASSERT_TRUE(streaming.zones.unload(1).ok());
    saved.fill(3, 30);
    ASSERT_TRUE(load(streaming.world, bytes_of_save(saved.world)).ok());
    EXPECT_EQ(streaming.zones.unloaded(), ZoneSet());
    EXPECT_EQ(streaming.zones.statistics().num_rows, 0u);
    EXPECT_EQ(num_files(folder("zones")), 0u);
    EXPECT_EQ(streaming.world.services().unloaded_zone_of(away[0]), kNoZone);
    EXPECT_EQ(streaming.texts(), saved.texts());
    ASSERT_TRUE(streaming.zones.unload(3).ok() && streaming.zones.load_all().ok());
    EXPECT_EQ(streaming.texts(), saved.texts());
}

TEST_F(ZoneFilesSave, a_row_that_was_given_again_meanwhile_keeps_no_other_from_being_loaded) {
    Pond saved(folder("zones")), streaming(folder("others")), whole;
    const std::vector<Entity> all = saved.fill(1, 10);
    ASSERT_TRUE(saved.zones.unload(1).ok());
    ASSERT_TRUE(saved.sea.add(all[2], Spot{{9, 9, 9}}).ok());
    const Array<std::byte> bytes = bytes_of_save(saved.world);
    whole.fill(4, 10);
    ASSERT_TRUE(load(whole.world, bytes).ok());
    ASSERT_TRUE(load(streaming.world, bytes).ok());
    EXPECT_EQ(streaming.zones.unloaded(), ZoneSet{1});
    EXPECT_TRUE(streaming.zones.load(1).ok());
    for (Pond* pond : {&whole, &streaming}) {
        EXPECT_EQ(pond->sea.num_rows(1), 10u);
        EXPECT_EQ(pond->sea.get<&Spot::position>(pond->sea.find(all[2])), (Vec3{9, 9, 9}));
        EXPECT_TRUE(pond->sea.validate().ok());
    }
}

TEST_F(ZoneFilesSave, a_world_goes_back_over_zones_that_left_and_came_and_is_what_it_was) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    constexpr std::uint64_t kKept = 12;
    StreamedSea sea(folder("zones"), 4);
    sea.frames(6);
    Frames frames(sea.world, kKept);
    std::map<std::uint64_t, Snapshot> known;
    ZoneSet seen;
    known[sea.world.frame()] = state_of(sea.world);
    for (int round = 0; round < 25; ++round) {
        for (std::uint32_t i = 2 + random.below(6); i > 0; --i) {
            sea.frame();
            const auto [at, is_new] = known.try_emplace(sea.world.frame());
            Snapshot now = state_of(sea.world);
            if (!is_new) {
                ASSERT_EQ(difference(at->second, now), "") << "frame " << sea.world.frame();
            }
            at->second = std::move(now);
            seen.insert(sea.zones.unloaded());
        }
        const FrameStatistics kept = frames.statistics();
        const std::uint64_t back = kept.first + random.below(kept.num_frames);
        const Status status = frames.rewind(back);
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(difference(known[back], state_of(sea.world)), "") << "back at frame " << back;
        ASSERT_EQ(num_files(folder("zones")), sea.zones.unloaded().size());
    }
    EXPECT_GT(seen.size(), 3u);
    EXPECT_TRUE(sea.validate().ok()) << sea.validate().message();
}

TEST_F(ZoneFilesSave, visits_and_failures_after_a_frame_do_not_count_when_the_world_has_gone_back_to_it) {
    Pond pond(folder("zones"));
    pond.fill(1, 20), pond.fill(2, 20);
    ASSERT_TRUE(pond.zones.unload(1).ok() && pond.zones.unload(2).ok());
    Frames frames(pond.world, 3);
    const auto visit = [&](Zone zone) { pond.world.query<Read<&Spot::position>>().in({zone}).for_each([](Vec3) {}); };
    const std::vector<std::string> names = *list_folder(folder("zones"));
    const auto rename = [&](bool is_away) {
        for (const std::string& name : names)
            if (name.starts_with("zone_1_"))
                is_away ? fs::rename(folder("zones/" + name), folder("away"))
                        : fs::rename(folder("away"), folder("zones/" + name));
    };
    rename(true);
    visit(1);
    pond.world.step(0.1f);
    rename(false);
    visit(2);  // the next settle would load it
    ASSERT_EQ(pond.zones.unloaded(), (ZoneSet{1, 2}));
    ASSERT_TRUE(frames.rewind(0).ok());
    pond.world.step(0.1f);
    EXPECT_EQ(pond.zones.unloaded(), (ZoneSet{1, 2})) << "nobody has visited them then";
    visit(1);
    pond.world.step(0.1f);
    EXPECT_EQ(pond.zones.unloaded(), ZoneSet{2}) << "it has not failed then, so it is tried at once";
}

TEST_F(ZoneFilesSave, a_file_that_was_cut_or_has_gone_is_whole_again_after_going_back) {
    Pond pond(folder("zones"));
    for (Zone zone = 1; zone <= 3; ++zone) pond.fill(zone, 20);
    const std::map<Entity, std::string> texts = pond.texts();
    for (Zone zone = 1; zone <= 3; ++zone) ASSERT_TRUE(pond.zones.unload(zone).ok());
    Frames frames(pond.world, 3);
    const std::uint64_t then = pond.world.frame();
    const std::vector<std::string> names = *list_folder(folder("zones"));
    for (const std::string& name : names) {
        if (name.starts_with("zone_1_")) fs::resize_file(folder("zones/" + name), 100);
        if (name.starts_with("zone_2_")) fs::remove(folder("zones/" + name));
    }
    pond.world.step(0.1f);
    ASSERT_FALSE(pond.zones.load(1).ok());
    ASSERT_FALSE(pond.zones.load(2).ok());
    const Status status = frames.rewind(then);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(num_files(folder("zones")), 3u);
    EXPECT_TRUE(pond.zones.load_all().ok());
    EXPECT_EQ(pond.texts(), texts);
}

TEST_F(ZoneFilesSave, a_zone_that_left_twice_comes_back_as_it_was_at_the_frame_also_if_both_files_are_as_long) {
    Pond pond(folder("zones"));
    const Entity fish = pond.fill(1, 20)[3];
    Frames frames(pond.world, 100);
    struct Known {
        float x;
        std::uint64_t frame;
    };
    std::map<std::uint64_t, Known> by_length;
    for (float x = 1.5f;; x += 1) {
        ASSERT_TRUE(pond.zones.load(1).ok() && pond.world.set(fish, "spot.position", Vec3{x, 0, 0}).ok());
        ASSERT_TRUE(pond.zones.unload(1).ok());
        pond.world.step(0.1f);
        const auto [known, is_new] =
            by_length.try_emplace(pond.zones.statistics().file_bytes, Known{x, pond.world.frame()});
        if (is_new) continue;
        ASSERT_TRUE(frames.rewind(known->second.frame).ok() && pond.zones.load(1).ok());
        EXPECT_EQ(pond.world.get<Vec3>(fish, "spot.position").value().x, known->second.x);
        break;
    }
}

TEST_F(ZoneFilesSave, who_dies_while_its_zone_is_away_is_not_looked_for_there_until_the_world_goes_back) {
    Pond pond(folder("zones"));
    const std::vector<Entity> fish = pond.fill(1, 6);
    ASSERT_TRUE(pond.zones.unload(1).ok());
    Frames frames(pond.world, 8);
    const auto zones = [&] {
        std::string text;
        for (const Entity one : fish) text += pond.world.services().unloaded_zone_of(one) == kNoZone ? '-' : '1';
        return text;
    };
    std::vector<std::string> known = {"111111"};
    for (const std::size_t i : {4, 1, 2}) {
        pond.entities.destroy(fish[i]);
        pond.world.step(0.1f);
        known.push_back(known.back());
        known.back()[i] = '-';
        EXPECT_EQ(zones(), known.back());
    }
    for (const std::uint64_t frame : {1u, 3u, 0u, 2u}) {
        ASSERT_TRUE(frames.rewind(frame, LaterFrames::kUntilStep).ok());
        EXPECT_EQ(zones(), known[frame]) << "frame " << frame;
    }
    ASSERT_TRUE(pond.zones.load_all().ok());
    for (std::size_t i = 0; i < fish.size(); ++i) EXPECT_EQ(pond.sea.has_row(fish[i]), known[2][i] == '1') << i;
}

TEST_F(ZoneFilesSave, frames_that_are_not_kept_because_a_file_has_gone_are_logged_once) {
    Pond pond(folder("zones"));
    Frames frames(pond.world, 3);
    pond.fill(1, 20);
    ASSERT_TRUE(pond.zones.unload(1).ok());
    const std::vector<std::string> names = *list_folder(folder("zones"));
    for (const std::string& name : names)
        if (name.starts_with("zone_")) fs::remove(folder("zones/" + name));
    for (int i = 0; i < 3; ++i) pond.world.step(0.1f);
    EXPECT_EQ(frames.statistics().num_frames, 0u);
    ASSERT_EQ(logged.size(), 1u);
    EXPECT_TRUE(logged[0].starts_with("no frame is kept: ")) << logged[0];
    EXPECT_NE(logged[0].find("zone 1 is unloaded, and cannot read"), std::string::npos) << logged[0];
    frames.keep(3);
    EXPECT_EQ(logged.size(), 2u) << "who asks anew is told anew";
}

/// Persists a sea for some frames, and is killed.
[[noreturn]] void live(const std::string& zones, const std::string& world, int num_frames) {
    StreamedSea sea(zones, 6);
    must(sea.persistence.start(world, {.max_log_records = 20, .keeps_all_frames = true}).ok());
    sea.frames(num_frames);
    must(sea.persistence.flush().ok());
    ::kill(::getpid(), SIGKILL);
    std::abort();
}

TEST_F(ZoneFilesSave, a_persisted_world_is_recovered_with_its_unloaded_zones_after_a_kill) {
    if (kThreadSanitized) GTEST_SKIP() << "the sanitizer does not follow threads into a child";
    StreamedSea uninterrupted(folder("uninterrupted"), 6);
    int num_frames = 0;
    for (const int count : {9, 26, 33}) {
        const pid_t child = ::fork();
        if (child == 0) live(folder("zones"), folder("world " + std::to_string(count)), count);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        StreamedSea recovered(folder("zones"), 99);
        const Result<Recovered> found = recovered.persistence.recover(folder("world " + std::to_string(count)));
        ASSERT_TRUE(found.ok()) << found.message();
        ASSERT_TRUE(found->found);
        for (; num_frames < count; ++num_frames) uninterrupted.frame();
        ASSERT_NO_FATAL_FAILURE(expect_same(uninterrupted, recovered));
        ASSERT_TRUE(recovered.persistence.start(folder("world " + std::to_string(count))).ok());
        for (int i = 0; i < 5; ++i, ++num_frames) uninterrupted.frame(), recovered.frame();
        ASSERT_NO_FATAL_FAILURE(expect_same(uninterrupted, recovered));
        EXPECT_TRUE(recovered.persistence.stop().ok());
    }
    EXPECT_GT(uninterrupted.zones.statistics().num_loads, 0u);
    EXPECT_FALSE(uninterrupted.zones.unloaded().empty());
}

TEST_F(ZoneFilesSave, states_share_the_files_of_zones_and_do_not_read_them_again) {
    std::map<Entity, std::string> texts;
    {
        Pond pond(folder("zones"));
        pond.fill(4, 5);
        for (const Zone zone : {1u, 2u}) pond.fill(zone, 1500);
        texts = pond.texts();
        ASSERT_TRUE(pond.persistence.start(folder("world")).ok());
        Frames frames(pond.world, 4);
        ASSERT_TRUE(pond.zones.unload(1).ok() && pond.zones.unload(2).ok());
        const std::uint64_t file_bytes = pond.zones.statistics().file_bytes;
        ASSERT_GT(file_bytes, 20'000u);
        pond.world.step(0.1f);
        EXPECT_GE(frames.statistics().last_own_bytes, file_bytes);
        ASSERT_TRUE(pond.persistence.flush().ok());
        const std::uint64_t log_bytes = pond.persistence.statistics().log_bytes;
        const std::vector<std::string> names = *list_folder(folder("zones"));
        for (const std::string& name : names)
            if (name.ends_with(".rows")) fs::remove(folder("zones") + "/" + name);
        for (int i = 0; i < 8; ++i) {
            pond.world.step(0.1f);
            EXPECT_LT(frames.statistics().last_own_bytes, 3000u);
        }
        EXPECT_EQ(frames.statistics().num_frames, 4u);
        EXPECT_GE(frames.statistics().last_state_bytes, file_bytes);
        ASSERT_TRUE(pond.persistence.stop().ok());
        EXPECT_LT(pond.persistence.statistics().log_bytes - log_bytes, file_bytes / 4);
        const Status status = save(pond.world, folder("whole.save"));
        EXPECT_NE(status.message().find("it cannot be saved: zone 1 is unloaded, and cannot read"),
                  std::string_view::npos)
            << status.message();
        EXPECT_FALSE(fs::exists(folder("whole.save")));
    }
    Pond recovered(folder("zones"));
    ASSERT_TRUE(recovered.persistence.recover(folder("world"))->found);
    EXPECT_EQ(recovered.zones.unloaded(), (ZoneSet{1, 2}));
    EXPECT_EQ(recovered.sea.num_rows(), 5u);
    ASSERT_TRUE(recovered.zones.load_all().ok());
    EXPECT_EQ(recovered.texts(), texts);
}

TEST_F(ZoneFilesSave, a_recording_is_played_again_alike_in_a_world_that_streams_zones) {
    const std::string path = folder("run.rec");
    StreamedSea recorded(folder("recorded"), 8);
    recorded.frames(10);
    {
        Recorder recorder(recorded.world);
        ASSERT_TRUE(recorder.start(path).ok());
        for (int i = 0; i < 20; ++i) recorded.frame([&] { recorder.step(1.0f / 60); });
        ASSERT_TRUE(recorder.stop().ok());
    }
    const std::string bytes = *read_file(path);
    for (const int changed : {-1, 12}) {
        StreamedSea sea(folder("played"), 99);
        Result<Replay> replay = Replay::open(std::as_bytes(std::span(bytes)));
        ASSERT_TRUE(replay.ok());
        const Status status = replay->begin(sea.world);
        ASSERT_TRUE(status.ok()) << status.message();
        int frame = 0;
        for (; replay->next() && !replay->difference(); ++frame) {
            if (frame == changed) sea.world.manager<Fin>().write_column<&Fin::drag>().span()[0] += 1;
            sea.frame([&] { replay->step(); });
        }
        EXPECT_TRUE(replay->status().ok()) << replay->status().message();
        EXPECT_EQ(num_files(folder("played")), sea.zones.unloaded().size());
        if (changed < 0) {
            EXPECT_FALSE(replay->difference()) << replay->difference().text();
            ASSERT_NO_FATAL_FAILURE(expect_same(recorded, sea));
        } else {
            EXPECT_EQ(frame, changed + 1);
            EXPECT_NE(replay->difference().text().find(" of entity "), std::string::npos)
                << replay->difference().text();
            sea.frames(10);
            EXPECT_TRUE(sea.validate().ok());
        }
    }
}

TEST_F(ZoneFilesSave, a_false_file_in_a_save_is_refused_and_changes_nothing_or_gives_zones_that_are_sound) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    StreamedSea saved(folder("saved"), 3);
    while (saved.zones.unloaded().size() < 3) saved.frame();
    const Snapshot sound = state_of(saved.world);
    const std::vector<Zone> zones = zones_in(sound);
    int num_refused = 0, num_taken = 0;
    for (std::int64_t i = 0, end = scaled_operations(200); i < end; ++i) {
        Snapshot damaged;
        if (i % 4 == 0) {
            std::vector<std::string> paths;
            for (std::size_t part = 0; part < sound.num_parts(); ++part)
                if (sound.part(part).path.starts_with("zones/")) paths.emplace_back(sound.part(part).path);
            damaged = damaged_copy(sound, random, paths[random.below(std::uint32_t(paths.size()))]);
        } else if (i % 8 == 6) {  // what fails is mostly not the zones
            damaged = damaged_copy(sound, random);
        } else {
            const Zone zone = zones[random.below(std::uint32_t(zones.size()))];
            damaged = with_file(sound, zone, damaged_copy(file_in(sound, zone), random));
        }
        const auto sea = std::make_unique<Sea>(nullptr, 11);
        ZoneStreaming zones(sea->world);
        if (i % 2 == 0) must(zones.start(folder("loaded"), StreamedSea::budget()).ok());
        sea->run(2);
        if (i % 2 == 0) static_cast<void>(zones.unload(2));
        const Snapshot before = state_of(sea->world);
        const Status status = load(sea->world, damaged, false);
        ++(status ? num_taken : num_refused);
        if (!status) {
            ASSERT_EQ(difference(before, state_of(sea->world)), "") << status.message();
        }
        if (i % 2 == 0) {
            ASSERT_EQ(num_files(folder("loaded")), zones.unloaded().size());
        }
        static_cast<void>(zones.load_all());
        ASSERT_TRUE(sea->validate().ok()) << sea->validate().message();
        sea->run(1);
    }
    EXPECT_GT(num_refused, 0);
    EXPECT_GT(num_taken, 0);
}

TEST_F(ZoneFilesSave, what_is_false_in_a_save_is_named) {
    Pond saved(folder("saved")), streaming(folder("streaming")), whole;
    saved.fill_and_unload(2, 20);
    const Snapshot sound = state_of(saved.world);
    const auto expect_refused = [&](const Snapshot& state, std::string_view what) {
        for (Pond* pond : {&streaming, &whole}) {
            const Status status = load(pond->world, state, false);
            EXPECT_NE(status.message().find(what), std::string_view::npos) << status.message();
            EXPECT_EQ(pond->sea.num_rows(), 0u);
            EXPECT_EQ(pond->zones.unloaded(), ZoneSet());
        }
        EXPECT_EQ(num_files(folder("streaming")), 0u);
    };
    const auto change_list = [&](auto&& change) {
        return with_part(sound, "zones/list", [&](std::vector<std::byte>& bytes) {
            std::vector<SavedZone> zones(bytes.size() / sizeof(SavedZone));
            std::memcpy(zones.data(), bytes.data(), bytes.size());
            change(zones);
            bytes.resize(zones.size() * sizeof(SavedZone));
            std::memcpy(bytes.data(), zones.data(), bytes.size());
        });
    };
    expect_refused(change_list([](auto& zones) { zones[1].zone = 1; }), "zone 1 is out of range, or not in its place");
    expect_refused(change_list([](auto& zones) { zones[1].zone = kMaxZones; }), "is out of range");
    expect_refused(change_list([](auto& zones) { zones[1].zone = 3; }), "part \"zones/3/file\": it is missing");
    expect_refused(change_list([](auto& zones) { ++zones[1].num_bytes; }), "elements, not ");
    expect_refused(change_list([](auto& zones) { ++zones[1].hash; }), "part \"zones/2/file\": its hash is wrong");
    expect_refused(with_file(sound, 2, file_in(sound, 1)), "it is zone 1, not 2");
    // What is not of the zones fails when their files are there already.
    expect_refused(
        with_part(sound, "world/clocks", [](auto& bytes) { std::fill(bytes.begin(), bytes.end(), std::byte()); }),
        "the stamp is out of range");
    expect_refused(with_part(sound, "schedule/seed", [](auto& bytes) { bytes.clear(); }), "part \"schedule/seed\"");
    expect_refused(with_part(sound, "zones/store", [](auto& bytes) { bytes.resize(3); }),
                   "\"dat\" is no database of the world");
    const auto with_rows = [&](std::string_view path, auto&& change) {
        return with_file(sound, 2, with_part(file_in(sound, 2), path, change));
    };
    expect_refused(
        with_rows("table/0/owner",
                  [](auto& bytes) { std::memcpy(bytes.data() + sizeof(Entity), bytes.data(), sizeof(Entity)); }),
        "has two rows");
    expect_refused(with_rows("table/0/components", [](auto& bytes) { bytes[0] = std::byte('x'); }),
                   "had other fields when the zone was written");
    const Entity without = make_entity(21, 1);  // the first in zone 2
    expect_refused(
        with_rows("further/egg/owner", [&](auto& bytes) { std::memcpy(bytes.data(), &without, sizeof without); }),
        "has none of them");
    EXPECT_TRUE(load(streaming.world, sound, false).ok());
    const Status status = load(whole.world, sound, false);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(whole.sea.num_rows(), 40u);
    // Only who makes files has a use for how many rows they have.
    const Snapshot other_count = change_list([](auto& zones) { ++zones[1].num_rows; });
    EXPECT_NE(load(streaming.world, other_count, false).message().find("zone 2 has 20 rows, not 21"),
              std::string_view::npos);
    EXPECT_EQ(streaming.zones.unloaded(), (ZoneSet{1, 2}));
}

TEST_F(ZoneFilesSave, a_save_without_a_part_of_its_zones_is_refused_with_what_is_missing) {
    Pond saved(folder("saved")), streaming(folder("streaming")), whole;
    saved.fill_and_unload(2, 20);
    const Snapshot sound = state_of(saved.world);
    const auto without = [&](std::string_view path) {
        return with_parts(sound, [&](const ChangedPart& part) { return part.path != path; });
    };
    const auto with_format = [](const Snapshot& from, std::uint32_t format) {
        return with_part(from, "world/format", [&](auto& bytes) { std::memcpy(bytes.data(), &format, sizeof format); });
    };
    const auto expect_refused = [&](const Snapshot& state, std::string_view what) {
        const Array<std::byte> bytes = std::move(*write_state(state, saved.world.executor()));
        for (Pond* pond : {&streaming, &whole}) {
            const Status status = load(pond->world, bytes);
            EXPECT_NE(status.message().find(what), std::string_view::npos) << status.message();
            EXPECT_EQ(pond->entities.num_alive(), 0u);
        }
        EXPECT_EQ(num_files(folder("streaming")), 0u);
    };
    expect_refused(without("zones/store"), "part \"zones/store\": it is missing, and zones are unloaded; take");
    expect_refused(without("zones/list"), "part \"zones/list\": it lists no zone, and \"world/format\" says that some");
    expect_refused(with_part(sound, "zones/list", [](auto& bytes) { bytes.clear(); }), "it lists no zone, and");
    expect_refused(without("zones/2/file"), "part \"zones/2/file\": it is missing, and its zone is listed; take");
    expect_refused(with_part(sound, "zones/list", [](auto& bytes) { bytes.resize(sizeof(SavedZone)); }),
                   "part \"zones/2/file\": it is there, and its zone is not listed; take");
    expect_refused(with_format(sound, 1), "it lists zones, and \"world/format\" says that none is unloaded; take");
    expect_refused(with_format(without("zones/list"), 1), "part \"zones/1/file\": it is there, and its zone is not");
    ASSERT_TRUE(saved.zones.load_all().ok());
    EXPECT_TRUE(load(streaming.world, bytes_of_save(saved.world)).ok());
    EXPECT_EQ(streaming.sea.num_rows(), 40u);
}

TEST_F(ZoneFilesSave, files_that_cannot_be_written_leave_the_world_as_it_was) {
    Pond pond(folder("zones"));
    pond.fill_and_unload(1, 10);
    pond.fill(2, 3000);
    ASSERT_TRUE(pond.zones.unload(2).ok());
    const Array<std::byte> saved = bytes_of_save(pond.world);
    constexpr std::size_t kFullAt = 20'000;
    ASSERT_GT(pond.zones.statistics().file_bytes, 2 * kFullAt);
    Frames frames(pond.world, 5);
    const std::uint64_t then = pond.world.frame();
    ASSERT_TRUE(pond.zones.load(1).ok() && pond.zones.load(2).ok());
    pond.world.step(0.1f);
    pond.fill(5, 20);
    ASSERT_TRUE(pond.zones.unload(5).ok());
    pond.world.step(0.1f);
    const std::string before = bytes_of(pond.world);
    const auto expect_refused = [&](const std::function<Status()>& load) {
        Status status;
        {
            const SmallFiles full(kFullAt);
            status = load();
        }
        EXPECT_TRUE(status.message().starts_with("cannot load zone 2: cannot append to \"" + folder("zones/zone_2_")))
            << status.message();
        EXPECT_EQ(bytes_of(pond.world), before);
        EXPECT_EQ(num_files(folder("zones")), 1u);
    };
    expect_refused([&] { return load(pond.world, saved); });
    expect_refused([&] { return frames.rewind(then); });
    ASSERT_TRUE(frames.rewind(then).ok());
    EXPECT_EQ(pond.zones.unloaded(), (ZoneSet{1, 2}));
    ASSERT_TRUE(pond.zones.load_all().ok());
    EXPECT_EQ(pond.sea.num_rows(), 3010u);
}

TEST_F(ZoneFilesSave, what_all_files_take_together_when_they_are_decompressed_counts) {
    Pond saved(folder("saved")), streaming(folder("streaming")), whole;
    constexpr std::size_t kCount = 40'000, kRowBytes = sizeof(Spot) + sizeof(Entity);
    for (Zone zone = 1; zone <= 3; ++zone) {
        std::vector<Entity> made(kCount);
        ASSERT_TRUE(saved.entities.create(made));
        ASSERT_TRUE(saved.sea.insert<Spot>(made, zone, std::vector<Spot>(kCount)).ok());
        ASSERT_TRUE(saved.zones.unload(zone).ok());
    }
    const Array<std::byte> bytes = bytes_of_save(saved.world);
    const std::uint64_t held = state_of(saved.world).num_bytes() + 10'000;
    const std::uint64_t one = held + kCount * kRowBytes, all = held + 3 * kCount * kRowBytes;
    for (Pond* pond : {&streaming, &whole}) {
        for (const std::uint64_t max_bytes : {one - kCount, one, all - kCount}) {
            const Status status = load(pond->world, bytes, {.max_bytes = max_bytes});
            EXPECT_NE(status.message().find(max_bytes < one ? "part \"zones/1/file\"" : "part \"zones/"),
                      std::string_view::npos)
                << status.message();
            EXPECT_NE(
                status.message().find(concat("and may take ", max_bytes, "; if you trust its source, set LoadOpt")),
                std::string_view::npos)
                << status.message();
            EXPECT_EQ(pond->entities.num_alive(), 0u);
        }
        const Status status = load(pond->world, bytes, {.max_bytes = all});
        EXPECT_TRUE(status.ok()) << status.message();
    }
    EXPECT_EQ(whole.sea.num_rows(), 3 * kCount);
    EXPECT_TRUE(streaming.zones.load_all().ok());
    EXPECT_EQ(streaming.sea.num_rows(), 3 * kCount);
}

TEST_F(ZoneFilesSave, parts_of_files_that_nobody_reads_count_for_all_zones_together) {
    constexpr Zone kZones = 6;
    constexpr std::size_t kHidden = std::size_t(1) << 20;
    Pond saved(folder("saved")), streaming(folder("streaming")), whole;
    saved.fill_and_unload(kZones, 1);
    Snapshot with_hidden = state_of(saved.world);
    for (Zone zone = 1; zone <= kZones; ++zone) {
        Snapshot rows = file_in(with_hidden, zone);
        SnapshotWriter(rows).array("hidden", std::span<const std::byte>(std::vector<std::byte>(kHidden)));
        with_hidden = with_file(with_hidden, zone, rows);
    }
    const Array<std::byte> bytes = std::move(*write_state(with_hidden, saved.world.executor()));
    ASSERT_LT(bytes.size(), kHidden / 10);
    for (Pond* pond : {&streaming, &whole}) {
        const Status status = load(pond->world, bytes, {.max_bytes = 4 * kHidden});
        EXPECT_NE(status.message().find("part \"zones/4/file\": what is made of it takes"), std::string_view::npos)
            << status.message();
        EXPECT_EQ(pond->entities.num_alive(), 0u);
        EXPECT_EQ(num_files(folder("streaming")), 0u);
    }
    EXPECT_TRUE(load(streaming.world, bytes, {.max_bytes = 7 * kHidden}).ok());
}

}  // namespace zone_files_save_test
