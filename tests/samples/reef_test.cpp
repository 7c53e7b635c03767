#include "around.h"
#include "inspect/xml_check.h"
#include "picture.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <shoal/document/diagnostics.h>
#include <shoal/save/state_hash.h>

#include <memory>
#include <set>
#include <vector>

namespace {

using namespace reef;
using shoal_test::ThreadPoolExecutor;

/// A small sea, and the threads that it runs on.
struct Life {
    explicit Life(std::uint32_t num_workers, std::uint64_t num_fish = 2000, std::uint64_t seed = 1)
        : executor(num_workers), sea(executor, {SHOAL_SOURCE_DIR "/samples/reef", num_fish, seed}) {
        const shoal::Status status = sea.spawn(diagnostics);
        EXPECT_TRUE(status.ok()) << status.message() << diagnostics.format();
        const shoal::Status added = add_passes(sea);
        EXPECT_TRUE(added.ok()) << added.message();
    }
    void run(std::int64_t num_frames) {
        for (std::int64_t frame = 0; frame < num_frames; ++frame) sea.step();
    }

    ThreadPoolExecutor executor;
    shoal::Diagnostics diagnostics;
    Sea sea;
};

TEST(Reef, the_sources_compile_without_a_word) {
    const Life life(1, 4000);
    EXPECT_TRUE(life.diagnostics.entries().empty()) << life.diagnostics.format();
    EXPECT_GT(life.sea.schools.num_rows(), 10u);
    EXPECT_GT(life.sea.database_rows(life.sea.reefs), 50u);
    EXPECT_EQ(life.sea.database_rows(life.sea.sharks), life.sea.num_sharks_wanted());
}

TEST(Reef, ends_in_the_same_state_for_every_number_of_workers) {
    const std::int64_t num_frames = shoal_test::scaled_operations(300);
    Life alone(1, 5000);
    alone.run(num_frames);
    const shoal::SettleCounts& settled = alone.sea.world.settle_statistics().total;
    EXPECT_GT(settled.num_created, 0u);
    EXPECT_GT(settled.num_moved, 0u);
    for (const std::uint32_t num_workers : {2u, 3u, 8u}) {
        Life together(num_workers, 5000);
        together.run(num_frames);
        EXPECT_EQ(state_hash(together.sea.world), state_hash(alone.sea.world)) << num_workers << " workers";
    }
}

TEST(Reef, another_seed_is_another_sea) {
    EXPECT_NE(state_hash(Life(1, 400, 1).sea.world), state_hash(Life(1, 400, 2).sea.world));
    EXPECT_EQ(state_hash(Life(1, 400, 3).sea.world), state_hash(Life(1, 400, 3).sea.world));
}

TEST(Reef, there_are_always_as_many_fish_as_asked_for_and_each_is_in_the_zone_of_its_tile) {
    for (const std::uint64_t num_fish : {0, 7, 3000}) {
        Life life(2, num_fish);
        life.run(1);  // groups of forty leave a remainder, which is born in the first frame
        for (int round = 0; round < 3; ++round) {
            life.run(shoal_test::scaled_operations(60));
            EXPECT_NEAR(double(life.sea.database_rows(life.sea.fish)), double(num_fish), 10);
            EXPECT_TRUE(life.sea.database.validate().ok()) << life.sea.database.validate().message();
            for (const shoal::DatabaseTable* table : life.sea.database.all_tables()) {
                if (table == nullptr || table->num_rows() == 0 || &table->type() != &life.sea.fish) continue;
                const auto position = table->column<&Place::position>(life.sea.database.find_component<Place>());
                for (std::uint32_t row = 0; row < table->num_rows(); ++row)
                    ASSERT_EQ(life.sea.tiles.zone_of(position[row]), table->zone());
            }
        }
    }
}

TEST(Reef, cells_hold_every_fish_once_and_find_all_that_are_near) {
    Life life(2, 1500);
    life.run(20);
    Cells& cells = life.sea.cells;
    cells.sort(life.sea.database, life.sea.fish, life.executor);
    ASSERT_EQ(cells.num_fish(), life.sea.database_rows(life.sea.fish));
    shoal::Random random(shoal_test::seed());
    for (int sample = 0; sample < 50; ++sample) {
        const std::uint32_t centre = random.below(cells.num_fish());
        const Vec2 place = {cells.x[centre], cells.y[centre]};
        const float radius = random.unit() * kFarthest;
        const auto is_near = [&](std::uint32_t i) { return length_of(Vec2{cells.x[i], cells.y[i]} - place) <= radius; };
        std::set<std::uint32_t> expected, found;
        for (std::uint32_t i = 0; i < cells.num_fish(); ++i)
            if (is_near(i)) expected.insert(i);
        cells.for_each_near(place, radius, [&](std::uint32_t i, Zone tile) {
            EXPECT_EQ(tile, cells.tile_of(i));
            const bool is_new = !is_near(i) || found.insert(i).second;
            EXPECT_TRUE(is_new) << "a fish was visited twice";
        });
        EXPECT_EQ(found, expected);
    }
}

TEST(Reef, remoras_go_where_their_shark_goes) {
    Life life(2, 400);
    shoal::TransformManager& transforms = life.sea.transforms;
    const std::span<const shoal::Entity> remoras =
        life.sea.world.directory().find(shoal::ComponentId("remora"))->tables()[0]->entities();
    ASSERT_EQ(remoras.size(), 3 * life.sea.num_sharks_wanted());
    const auto offset_of = [&](shoal::Entity remora) {
        const shoal::Instance instance = transforms.instance(remora);
        return transforms.world_position(instance) - transforms.world_position(transforms.parent(instance));
    };
    std::vector<Vec3> before;
    for (const shoal::Entity remora : remoras) before.push_back(transforms.world_position(transforms.instance(remora)));
    life.run(60);
    for (std::size_t i = 0; i < remoras.size(); ++i) {
        const Vec3 local = transforms.local(transforms.instance(remoras[i])).position, offset = offset_of(remoras[i]);
        EXPECT_NEAR(dot(offset, offset), dot(local, local), 1e-3f);
        const Vec3 way = transforms.world_position(transforms.instance(remoras[i])) - before[i];
        EXPECT_GT(dot(way, way), 0) << "a shark stood still";
    }
}

TEST(Reef, some_fish_are_hungry_and_some_are_fed) {
    Life life(1, 3000);
    life.run(600);  // ten seconds, in every build: some have to be eaten
    const std::uint64_t num_fish = life.sea.cells.num_fish();
    const auto num_hungry = static_cast<std::uint64_t>(
        std::count(life.sea.cells.is_hungry.begin(), life.sea.cells.is_hungry.end(), std::uint8_t(1)));
    EXPECT_GT(num_hungry, num_fish / 100);
    EXPECT_LT(num_hungry, num_fish);
    EXPECT_GT(life.sea.world.settle_statistics().total.num_destroyed, 0u) << "nobody was eaten";
}

TEST(Reef, the_picture_is_an_svg_with_a_stroke_for_each_fish_or_for_every_nth) {
    Life life(1, 1000);
    life.run(5);
    const Picture all = draw(life.sea), some = draw(life.sea, 100);
    EXPECT_EQ(shoal_test::XmlCheck::problem(all.svg), "");
    EXPECT_EQ(shoal_test::XmlCheck::problem(some.svg), "");
    EXPECT_EQ(all.num_strokes, 1000u);
    EXPECT_LE(some.num_strokes, 100u);
    EXPECT_LT(some.svg.size(), all.svg.size());
    EXPECT_EQ(all.svg.find("nan"), std::string::npos);
}

}  // namespace
