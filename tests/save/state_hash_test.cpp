// Hashes of the state: what counts, what does not, and what is said of two worlds that differ.

#include "shoal/save/state_hash.h"
#include "shoal/save/frames.h"
#include "shoal/save/save.h"

#include "shoal/base/log.h"
#include "shoal/save/state_difference.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/table/detail/field_part.h"

#include "support/testing.h"
#include "support/whole_world.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace state_hash_test {

using namespace shoal;
using namespace shoal_test;

/// The parts of a world as text: "fin.drag 0x12..." or "spot.position zone 3 0x34...".
std::vector<std::string> parts_of(const World& world) {
    std::vector<std::string> lines;
    for (const StateHash& part : hash_state(world).parts())
        lines.push_back(std::string(part.component) + "." + std::string(part.field) +
                        (part.zone == kNoZone ? "" : " zone " + std::to_string(part.zone)) + " " +
                        std::to_string(part.hash));
    return lines;
}

/// The names of parts in which two worlds differ, without their zones.
std::set<std::string> different_parts(const World& a, const World& b) {
    const std::vector<std::string> all_a = parts_of(a), all_b = parts_of(b);
    std::vector<std::string> lines;
    std::set_symmetric_difference(all_a.begin(), all_a.end(), all_b.begin(), all_b.end(), std::back_inserter(lines));
    std::set<std::string> names;
    for (const std::string& line : lines) names.insert(line.substr(0, line.find(' ')));
    return names;
}

using Names = std::set<std::string>;

TEST(StateHash, the_whole_is_the_sum_of_its_parts) {
    Sea sea(nullptr, 3);
    sea.run(12);
    const StateHashes hashes = hash_state(sea.world);
    EXPECT_EQ(state_hash(sea.world), hashes.whole());
    std::uint64_t by_component = 0, by_zone = hashes.of_zone(kNoZone), of_spot = 0;
    std::set<std::string_view> components, fields_of_spot;
    std::set<Zone> zones;
    for (const StateHash& part : hashes.parts()) {
        if (components.insert(part.component).second) by_component += hashes.of_component(part.component);
        if (part.zone != kNoZone && zones.insert(part.zone).second) by_zone += hashes.of_zone(part.zone);
        if (part.component == "spot" && fields_of_spot.insert(part.field).second)
            of_spot += hashes.of_field("spot", part.field);
    }
    EXPECT_EQ(by_component, hashes.whole());
    EXPECT_EQ(by_zone, hashes.whole());
    EXPECT_EQ(of_spot, hashes.of_component("spot"));
    EXPECT_GT(zones.size(), 2u);
    for (const char* name : {"fin", "scar", "age", "hunts", "spot", "hungry", "egg", "plankton", "current", "transform",
                             "world_pose", "child_of", "owned", "inactive", "property_value", "tag", "(world)"})
        EXPECT_TRUE(components.contains(name)) << name;
    const auto key = [](const StateHash& part) { return std::tuple(part.component, part.field, part.zone); };
    EXPECT_EQ(std::ranges::adjacent_find(hashes.parts(), std::greater_equal(), key), hashes.parts().end());
    EXPECT_EQ(hashes.of_field("spot", "teapot"), 0u);
}

TEST(StateHash, every_part_is_the_same_for_any_number_of_workers) {
    std::vector<std::vector<std::string>> expected;
    for (const std::uint32_t num_workers : {1, 2, 3, 8}) {
        ThreadedExecutor workers(num_workers);
        Sea sea(&workers, 5);
        for (std::size_t frame = 0; frame < 15; ++frame) {
            sea.run(1);
            if (num_workers == 1) expected.push_back(parts_of(sea.world));
            ASSERT_EQ(parts_of(sea.world), expected[frame]) << num_workers << " workers, frame " << frame;
        }
    }
}

TEST(StateHash, every_part_is_the_same_after_saving_and_loading_and_after_rewinding) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        Sea sea(nullptr, seed), other(nullptr, 77);
        Frames frames(sea.world, 10);
        sea.run(20);
        other.run(9);
        const std::vector<std::string> parts = parts_of(sea.world);
        Array<std::byte> bytes{Owner("test")};
        ASSERT_TRUE(save(sea.world, bytes).ok());
        ASSERT_TRUE(load(other.world, bytes).ok());
        ASSERT_EQ(parts_of(other.world), parts);
        const std::uint64_t frame = sea.world.frame();
        sea.run(5);
        EXPECT_NE(parts_of(sea.world), parts);
        ASSERT_TRUE(frames.rewind(frame).ok());
        ASSERT_EQ(parts_of(sea.world), parts);
    }
}

TEST(StateHash, a_changed_field_changes_its_part_and_no_other) {
    Sea sea(nullptr, 4), other(nullptr, 4);
    sea.run(15), other.run(15);
    ASSERT_EQ(different_parts(sea.world, other.world), Names());
    const auto change = [&](auto&& in) {
        in(other);
        Names names = different_parts(sea.world, other.world);
        in(sea);
        EXPECT_EQ(different_parts(sea.world, other.world), Names());
        return names;
    };
    const auto first = [](Sea& of, const char* component) {
        return of.world.directory().find(ComponentId(component))->tables()[0]->entities().back();
    };
    const auto set = [&](Sea& of, const char* component, const char* path, const AnyValue& value) {
        const Status status = of.world.set(first(of, component), path, value);
        EXPECT_TRUE(status.ok()) << status.message();
    };
    EXPECT_EQ(change([&](Sea& of) { set(of, "fin", "fin.drag", 12.5f); }), Names{"fin.drag"});
    EXPECT_EQ(change([&](Sea& of) { set(of, "fin", "fin.velocity.y", 3.0f); }), Names{"fin.velocity"}) << "a lane";
    EXPECT_EQ(change([&](Sea& of) { set(of, "age", "age.frames", 99u); }), Names{"age.frames"}) << "kept whole";
    EXPECT_EQ(change([&](Sea& of) { static_cast<void>(of.world.random().next()); }), Names{"(world).random"});
    EXPECT_EQ(change([&](Sea& of) { of.world.singleton<Current>().force.y += 1; }), Names{"current.force"});
    EXPECT_EQ(change([&](Sea& of) {
                  auto all = query<Write<&Plankton::glows>>(of.sea);
                  bool done = false;
                  all.for_each([&](auto&& glows) { done = done || ((glows = !glows), true); });
              }),
              Names{"plankton.glows"})
        << "one of a component that is kept whole in the database";
}

struct Place {
    float x = 0;
};
SHOAL_COMPONENT(Place, x)
struct Mark {
    std::uint8_t kind = 0;
    double weight = 0;
};
SHOAL_COMPONENT((Mark, whole), kind, weight)
struct Asleep {
    float since = 0;
};
SHOAL_COMPONENT((Asleep, enableable), since)

/// A world with a database of two zones.
struct Pond {
    Pond() : database(world.database()) { EXPECT_TRUE(entities.create(all).ok()); }
    void put(std::size_t i, Zone zone) {
        EXPECT_TRUE(database.insert(all[i], zone, Place{float(i)}, Mark{std::uint8_t(i), double(i)}).ok());
    }
    EntityManager entities;
    World world{entities};
    Database& database;
    std::vector<Entity> all = std::vector<Entity>(8);
};

TEST(StateHash, neither_numbers_of_tables_nor_empty_tables_nor_stores_count) {
    Pond a, b;
    for (const std::size_t i : {0, 1, 2, 3}) a.put(i, i < 2 ? 1 : 2);
    static_cast<void>(b.world.manager<Asleep>());
    static_cast<void>(b.database.component<Mark>()), static_cast<void>(b.database.component<Place>());
    b.put(2, 2), b.put(3, 2);
    EXPECT_TRUE(b.database.insert(b.all[7], 5, Place{}).ok());
    EXPECT_TRUE(*b.database.remove<Place>(b.all[7]));
    b.put(0, 1), b.put(1, 1);
    EXPECT_EQ(different_parts(a.world, b.world), Names());
    EXPECT_EQ(state_hash(a.world), state_hash(b.world));
}

TEST(StateHash, the_order_of_rows_and_the_zone_count_and_only_in_the_zones_concerned) {
    Pond a, b, c;
    for (const std::size_t i : {0, 1, 2, 3}) a.put(i, i < 2 ? 1 : 2);
    for (const std::size_t i : {1, 0, 2, 3}) b.put(i, i < 2 ? 1 : 2);
    EXPECT_EQ(different_parts(a.world, b.world),
              (Names{"place.(rows)", "place.x", "mark.(rows)", "mark.kind", "mark.weight"}));
    EXPECT_NE(hash_state(a.world).of_zone(1), hash_state(b.world).of_zone(1));
    EXPECT_EQ(hash_state(a.world).of_zone(2), hash_state(b.world).of_zone(2));
    for (const std::size_t i : {0, 1, 2, 3}) c.put(i, i < 2 ? 1 : 3);
    EXPECT_NE(state_hash(a.world), state_hash(c.world));
    EXPECT_EQ(hash_state(a.world).of_zone(1), hash_state(c.world).of_zone(1));
}

TEST(StateHash, which_of_more_than_64_components_are_disabled_counts) {
    std::set<std::uint64_t> hashes;
    for (const int disabled : {-1, 3, 63, 64, 69}) {
        EntityManager entities;
        World world(entities);
        std::vector<Entity> all(70);
        ASSERT_TRUE(entities.create(all));
        for (const Entity one : all) ASSERT_TRUE(world.database().insert(one, 1, Asleep{}).ok());
        if (disabled >= 0) ASSERT_TRUE(world.database().remove<Asleep>(all[static_cast<std::size_t>(disabled)]).ok());
        hashes.insert(state_hash(world));
    }
    EXPECT_EQ(hashes.size(), 5u);
}

/// A component in one column, with fields of all widths that hashes tell apart, and of others.
struct Widths {
    std::uint8_t w1 = 0;
    std::array<std::uint8_t, 2> w2{};
    std::array<std::uint8_t, 3> w3{};
    std::array<std::uint8_t, 4> w4{};
    std::array<std::uint8_t, 8> w8{};
    std::array<std::uint8_t, 12> w12{};
    std::array<std::uint8_t, 16> w16{};
    std::array<std::uint8_t, 48> w48{};
    std::array<std::uint8_t, 64> w64{};
    std::array<std::uint8_t, 65> w65{};
    std::array<std::uint8_t, 80> w80{};
};
SHOAL_COMPONENT((Widths, whole), w1, w2, w3, w4, w8, w12, w16, w48, w64, w65, w80)

/// A component whose fields have columns of their own, some of them three.
struct Lanes {
    Vec3 place{}, speed{};
    std::uint16_t number = 0;
};
SHOAL_COMPONENT(Lanes, (place, split), speed, number)

template <class T>
void expect_that_each_byte_counts(bool has_holes) {
    EntityManager entities;
    World world(entities);
    ComponentManager& manager =
        world.manager<T>({.index = has_holes ? RowIndexKind::kIdentity : RowIndexKind::kPaged}).core();
    const Schema& schema = manager.schema();
    std::vector<Entity> all(600);
    ASSERT_TRUE(entities.create(all).ok());
    for (const Entity entity : all) ASSERT_TRUE(world.manager<T>().add(entity, {}).ok());
    world.manager<T>().remove({&all[300], 1});
    ASSERT_EQ(manager.table().num_holes() != 0, has_holes);
    for (const std::size_t row : {0, 255, 256, 599})
        for (const Field& changed : schema.fields())
            for (const std::uint32_t byte : {0u, changed.size / 2, changed.size - 1}) {
                const StateHashes before = hash_state(world);
                const ComponentRow at = manager.find_row(schema.id(), all[row], 0);
                std::vector<std::byte> value(changed.size);
                manager.read_field(at, field_part(schema, changed), value.data());
                value[byte] ^= std::byte(2);
                ASSERT_TRUE(manager.write_field(at, field_part(schema, changed), value.data()).ok());
                const StateHashes after = hash_state(world);
                for (const Field& field : schema.fields())
                    EXPECT_EQ(before.of_field(schema.name(), field.name) != after.of_field(schema.name(), field.name),
                              &field == &changed)
                        << field.name << " when byte " << byte << " of " << changed.name << " in row " << row;
            }
}

TEST(StateHash, each_byte_of_each_field_of_a_row_counts_for_this_field_alone) {
    for (const bool has_holes : {false, true}) {
        expect_that_each_byte_counts<Widths>(has_holes);
        expect_that_each_byte_counts<Lanes>(has_holes);
    }
}

TEST(StateHash, rows_that_were_left_by_their_entities_do_not_count) {
    struct Island {
        EntityManager entities;
        World world{entities};
        Manager<Place>& places = world.manager<Place>({.index = RowIndexKind::kIdentity});
        Manager<Mark>& marks = world.manager<Mark>({.index = RowIndexKind::kIdentity});
        std::vector<Entity> all = std::vector<Entity>(600);
    } a, b;
    for (Island* island : {&a, &b}) {
        ASSERT_TRUE(island->entities.create(island->all).ok());
        for (std::size_t i = 0; i < island->all.size(); i += 2) {
            ASSERT_TRUE(island->places.add(island->all[i], {float(i)}).ok());
            ASSERT_TRUE(island->marks.add(island->all[i], {1, double(i)}).ok());
        }
    }
    for (std::size_t i = 1; i < b.all.size() - 2; i += 2) {
        ASSERT_TRUE(b.places.add(b.all[i], {100}).ok() && b.marks.add(b.all[i], {7, 8}).ok());
        b.places.remove({&b.all[i], 1}), b.marks.remove({&b.all[i], 1});
    }
    ASSERT_GT(b.places.core().table().num_holes(), 0u);
    EXPECT_EQ(different_parts(a.world, b.world), Names());
    b.marks.set<&Mark::weight>(b.marks.instance(b.all[4]), -1);
    EXPECT_EQ(different_parts(a.world, b.world), Names{"mark.weight"});
}

TEST(StateHash, what_transforms_know_of_what_has_moved_does_not_count) {
    EntityManager entities;
    World world(entities);
    TransformManager& transforms = world.transforms({.mode = TransformMode::kDeferred});
    std::vector<Entity> all(100);
    ASSERT_TRUE(entities.create(all).ok());
    ASSERT_TRUE(transforms.add(all, Transform{.position = {1, 2, 3}}).ok());
    transforms.compute_moved();
    for (int i = 0; i < 8; ++i) transforms.compute_moved();
    const std::uint64_t hash = state_hash(world);
    transforms.set_position(transforms.instance(all[5]), {1, 2, 3});  // as it was, but on the list
    EXPECT_EQ(state_hash(world), hash);
    transforms.compute_moved();
    EXPECT_EQ(state_hash(world), hash);
    transforms.set_position(transforms.instance(all[5]), {1, 2, 4});
    EXPECT_NE(state_hash(world), hash);
}

TEST(StateHash, who_lives_counts_and_which_ids_were_used_up_does_not) {
    EntityManager mine, theirs;
    World a(mine), b(theirs);
    std::vector<Entity> gone(2000);
    ASSERT_TRUE(theirs.create(gone).ok());
    theirs.destroy(gone);
    EXPECT_EQ(different_parts(a, b), Names());
    EXPECT_EQ(state_hash(a), state_hash(b));
    static_cast<void>(mine.create());
    EXPECT_EQ(different_parts(a, b), Names{"(world).ids"});
    EXPECT_EQ(find_difference(a, b).text("here", "there"), "entity 1:1 lives here and not there");
    static_cast<void>(b.random().next());
    mine.destroy(make_entity(1, 1));
    EXPECT_EQ(find_difference(a, b).text("here", "there"), "the state of World::random() differs");
}

/// A store that keeps a number, and no rows.
class Tide final : public Store {
public:
    std::string_view kind() const override { return "the tide"; }
    std::span<const Schema* const> schemas() const override { return {}; }
    Status spawn(const SpawnBatch&) override { return {}; }
    void drop(std::span<const Entity>) override {}
    void settle(const SettleContext&) override {}
    std::span<const Table* const> tables() const override { return {}; }
    std::size_t statistics(std::span<StoreStatistics>) const override { return 0; }
    std::uint64_t hash_beside_tables(std::uint64_t hash) const override { return hash + height; }
    std::uint64_t height = 0;
};

TEST(StateHash, what_a_store_keeps_beside_its_rows_counts) {
    EntityManager mine, theirs;
    World a(mine), b(theirs);
    Tide low, high;
    ASSERT_TRUE(a.attach(low).ok() && b.attach(high).ok());
    EXPECT_EQ(different_parts(a, b), Names());
    high.height = 3;
    EXPECT_EQ(different_parts(a, b), Names{"the"}) << "up to the first space: the tide.(beside rows)";
    EXPECT_EQ(find_difference(a, b).text("here", "there"), "what the tide keeps beside its rows differs");
    a.detach(low), b.detach(high);
}

TEST(StateHash, is_had_of_all_of_a_zone_and_of_a_field_as_the_guide_shows) {
    Pond pond;
    for (const std::size_t i : {0, 1, 2, 3}) pond.put(i, i < 2 ? 1 : 3);
    World& world = pond.world;
    std::vector<std::string> names;
    // [world/state_hash]
    const StateHashes hashes = hash_state(world);
    const std::uint64_t all = hashes.whole(), harbour = hashes.of_zone(3), weights = hashes.of_field("mark", "weight");
    for (const StateHash& part : hashes.parts())  // mark, weight, zone 1; mark, weight, zone 3; ...
        names.emplace_back(part.component);
    // [world/state_hash]
    EXPECT_EQ(all, state_hash(world));
    EXPECT_EQ(names.size(), 2u + 2 * 5) << "two of the world, and in each zone (rows), kind, weight; (rows), x";
    ASSERT_TRUE(world.set(pond.all[0], "mark.weight", 0.5).ok());
    EXPECT_EQ(hash_state(world).of_zone(3), harbour);
    EXPECT_NE(hash_state(world).of_field("mark", "weight"), weights);
}

// --- what differs ------------------------------------------------------------------------------------------------

TEST(StateDifference, names_the_field_and_the_entity_with_both_values_and_counts_the_others) {
    Pond here, there;
    for (const std::size_t i : {0, 1, 2, 3}) here.put(i, i < 2 ? 1 : 2);
    for (const std::size_t i : {0, 1, 2, 3}) there.put(i, i < 2 ? 1 : 2);
    EXPECT_FALSE(find_difference(here.world, there.world));
    EXPECT_EQ(find_difference(here.world, there.world).text("here", "there"), "");
    const auto set = [](Pond& pond, std::size_t i, double weight) {
        ASSERT_TRUE(pond.world.set(pond.all[i], "mark.weight", weight).ok());
    };
    set(there, 2, 7.5);
    EXPECT_EQ(find_difference(here.world, there.world).text("here", "there"),
              "mark.weight of entity 3:1 is 2.0 here and 7.5 there");
    set(there, 3, 7.5), set(there, 0, -1);
    const StateDifference difference = find_difference(here.world, there.world);
    EXPECT_EQ(difference.text("here", "in the recording"),
              "mark.weight of entity 1:1 is 0.0 here and -1.0 in the recording; 2 other values differ too");
    EXPECT_EQ(difference.kind, DifferenceKind::kValue);
    EXPECT_EQ(difference.component, "mark");
    EXPECT_EQ(difference.field, "weight");
    EXPECT_EQ(difference.entity, here.all[0]);
    EXPECT_EQ(difference.here, "0.0");
    EXPECT_EQ(difference.there, "-1.0");
    EXPECT_EQ(difference.num_others, 2u);
    ASSERT_TRUE(there.world.set(there.all[1], "mark.kind", std::uint8_t(9)).ok());
    EXPECT_EQ(find_difference(here.world, there.world).text("here", "there"),
              "mark.kind of entity 2:1 is 1 here and 9 there; 3 other values differ too");
}

TEST(StateDifference, names_the_entity_that_one_has_and_the_order_and_what_is_enabled) {
    Pond here, there;
    for (const std::size_t i : {0, 1, 2}) here.put(i, 1), there.put(i, 1);
    here.put(3, 1);
    EXPECT_EQ(find_difference(here.world, there.world).text("here", "there"), "entity 4:1 has mark here and not there")
        << "what follows for place and for values is not counted";
    EXPECT_EQ(find_difference(there.world, here.world).text("here", "there"), "entity 4:1 has mark there and not here");
    Pond turned;
    for (const std::size_t i : {0, 2, 1}) turned.put(i, 1);
    EXPECT_EQ(find_difference(there.world, turned.world).text("here", "there"),
              "the rows of mark are in another order: that of entity 2:1 here is where that of 3:1 is there");
    Pond first_here, first_there;
    for (const std::size_t i : {1, 2, 4}) first_here.put(i, 1);
    for (const std::size_t i : {0, 1, 2}) first_there.put(i, 1);
    EXPECT_EQ(find_difference(first_here.world, first_there.world).text("here", "there"),
              "entity 5:1 has mark here and not there; 1 other value differs too")
        << "what is here comes first, wherever it lies";
    Pond awake, sleepy;
    for (Pond* pond : {&awake, &sleepy})
        for (const std::size_t i : {0, 1}) ASSERT_TRUE(pond->database.add(pond->all[i], Asleep{3}).ok());
    ASSERT_TRUE(*sleepy.database.remove<Asleep>(sleepy.all[1]));
    EXPECT_EQ(find_difference(awake.world, sleepy.world).text("here", "there"),
              "asleep of entity 2:1 is enabled here and disabled there");
    for (Pond* pond : {&awake, &sleepy})
        for (const std::size_t i : {2, 3}) {
            pond->put(i, 2);
            ASSERT_TRUE(pond->database.add(pond->all[i], Asleep{pond == &awake ? 1.0f : 2.0f}).ok());
        }
    ASSERT_TRUE(sleepy.world.set(sleepy.all[0], "asleep.since", 4.0f).ok());
    EXPECT_EQ(find_difference(awake.world, sleepy.world).num_others, 4u) << "three values, and who is enabled again";
    ASSERT_TRUE(*awake.database.remove<Asleep>(awake.all[2]));
    EXPECT_EQ(find_difference(awake.world, sleepy.world).num_others, 5u) << "where both differ, that is one difference";
    ASSERT_TRUE(*awake.database.remove<Asleep>(awake.all[1]));
    EXPECT_EQ(find_difference(awake.world, sleepy.world).text("here", "there"),
              "asleep of entity 3:1 is disabled here and enabled there; 3 other values differ too");
}

struct Bead {
    float size = 1;
};
SHOAL_COMPONENT(Bead, size)

TEST(StateDifference, does_not_count_rows_that_their_entities_have_left) {
    EntityManager entities, others;
    World here(entities), there(others);
    std::vector<Entity> made(4);
    for (World* world : {&here, &there}) {
        ASSERT_TRUE(world->entities().create(made).ok());
        auto& beads = world->manager<Bead>({.index = RowIndexKind::kIdentity});
        ASSERT_TRUE(beads.add(std::span(made).subspan(world == &here ? 0 : 1), Bead{}).ok());
    }
    here.manager<Bead>().remove({made.data(), 1});
    ASSERT_TRUE(there.set(made[3], "bead.size", 2.0f).ok());
    EXPECT_EQ(find_difference(here, there).text("here", "there"), "bead.size of entity 4:1 is 1.0 here and 2.0 there");
    here.manager<Bead>().remove({&made[1], 1});
    ASSERT_TRUE(here.manager<Bead>().add(made[1], Bead{}).ok());
    here.manager<Bead>().remove({&made[2], 1}), there.manager<Bead>().remove({&made[2], 1});
    there.manager<Bead>().remove({&made[1], 1});
    EXPECT_EQ(find_difference(here, there).text("here", "there"), "entity 2:1 has bead here and not there");
}

TEST(StateDifference, is_logged_as_its_header_shows) {
    Pond mine, theirs;
    mine.put(0, 1), theirs.put(0, 1);
    // [world/state_difference]
    const StateDifference difference = find_difference(mine.world, theirs.world);
    if (difference) log(LogLevel::kError, difference.text("here", "there"));
    // ship.reload of entity 12:1 is 0.25 here and 60.25 there; 3 other values differ too
    // [world/state_difference]
    EXPECT_FALSE(difference);
}

TEST(StateDifference, values_of_the_same_entities_come_before_those_of_others) {
    Pond here, there;
    for (const std::size_t i : {0, 1}) here.put(i, 1), there.put(i, 1);
    ASSERT_TRUE(here.database.add(here.all[5], Asleep{}).ok());
    ASSERT_TRUE(there.world.set(there.all[1], "place.x", 9.0f).ok());
    EXPECT_EQ(find_difference(here.world, there.world).text("here", "there"),
              "place.x of entity 2:1 is 1.0 here and 9.0 there");
}

}  // namespace state_hash_test
