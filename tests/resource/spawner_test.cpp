#include "shoal/resource/spawner.h"

#include "resource/fake_store.h"
#include "resource/random_blob.h"
#include "support/stores.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

namespace resource_test {
namespace {

struct Spawn : ::testing::Test {
    Spawn() : blob(*Blob::load(sample_bytes())) {}

    Result<Spawned> run(const SpawnOptions& options = {}) {
        return spawn({shoal_test::Stores(entities, targets), &registry}, blob, options);
    }

    EntityManager entities;
    ComponentRegistry registry;
    FakeStore stones{schema_of<Stone>()}, bodies{schema_of<Body>()}, notes{schema_of<Note>()},
        markers{schema_of<Marker>()};
    std::vector<Store*> targets = {&stones, &bodies, &notes, &markers};
    Blob blob;
};

// req: D18-D25
TEST_F(Spawn, one_batch_per_component_type_brings_every_component) {
    const Result<Spawned> spawned = run();
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(entities.num_alive(), 5u);
    EXPECT_EQ(spawned->num_components(), 8u);
    EXPECT_TRUE(spawned->unknown().empty());
    const auto expect_owners = [&](const FakeStore& store, const std::vector<std::uint32_t>& blob_entities) {
        EXPECT_EQ(store.num_batches, 1);
        EXPECT_TRUE(std::ranges::equal(store.parents, kTreeParents));
        ASSERT_EQ(store.rows.size(), blob_entities.size());
        for (std::size_t i = 0; i < blob_entities.size(); ++i)
            EXPECT_EQ(store.rows[i].owner, spawned->entity(blob_entities[i]));
    };
    expect_owners(stones, {2, 0});
    expect_owners(bodies, {3});
    expect_owners(notes, {4, 1, 4});
    expect_owners(markers, {4, 0});
    if (HasFailure()) return;
    EXPECT_EQ(stones.row_as<Stone>(0).position, (Vec3{0.1f, -2, 3}));
    EXPECT_EQ(stones.row_as<Stone>(0).target, spawned->entity(4)) << "references are entities of this spawn";
    EXPECT_EQ(stones.row_as<Stone>(1).target, kNullEntity);
    EXPECT_EQ(stones.row_as<Stone>(1).shape, Shape::kSphere);
    EXPECT_EQ(bodies.row_as<Body>(0).owner, spawned->entity(1));
    EXPECT_EQ(bodies.row_as<Body>(0).energy, 0.5);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(notes.row_as<Note>(i).number, 11 + int(i));
}

// req: D15-D17
TEST_F(Spawn, copies_are_separate_and_come_in_one_batch) {
    const Result<Spawned> spawned = run({.copies = 200});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(entities.num_alive(), 1000u);
    EXPECT_EQ(spawned->entities().size(), 1000u);
    EXPECT_EQ(spawned->num_components(), 1600u);
    EXPECT_EQ(stones.num_batches, 1);
    ASSERT_EQ(bodies.rows.size(), 200u);
    std::set<EntityBits> owners;
    for (std::uint32_t copy = 0; copy < 200; ++copy) {
        EXPECT_EQ(bodies.rows[copy].owner, spawned->entity(3, copy));
        EXPECT_EQ(bodies.row_as<Body>(copy).owner, spawned->entity(1, copy));
        owners.insert(bodies.rows[copy].owner.id);
    }
    EXPECT_EQ(owners.size(), 200u);
}

TEST_F(Spawn, root_poses_go_to_every_store_or_are_refused) {
    const RootPose poses[3] = {};
    ASSERT_TRUE(run({.copies = 3, .root_poses = poses}));
    EXPECT_EQ(stones.num_root_poses, 3u);
    const Result<Spawned> wrong = run({.copies = 4, .root_poses = poses});
    EXPECT_EQ(wrong.message(), "3 root poses for 4 copies of \"levels/reef\"; give one pose per copy, or none");
    EXPECT_EQ(entities.num_alive(), 15u);
    EXPECT_EQ(stones.num_batches, 1);
}

TEST_F(Spawn, no_copies_are_no_entities) {
    const Result<Spawned> spawned = run({.copies = 0});
    ASSERT_TRUE(spawned);
    EXPECT_EQ(entities.num_alive(), 0u);
    EXPECT_EQ(stones.num_batches, 0);
}

// req: D4-D5
TEST_F(Spawn, entities_are_found_after_the_blob_is_gone) {
    const Result<Spawned> spawned = run({.copies = 3});
    ASSERT_TRUE(spawned);
    blob = *Blob::load(*BlobWriter().write());
    EXPECT_EQ(spawned->find("a", 1), spawned->entity(0, 1));
    EXPECT_EQ(spawned->find("b"), spawned->entity(1, 0));
    EXPECT_EQ(spawned->find("c", 2), spawned->entity(2, 2)) << "the first of several";
    EXPECT_EQ(spawned->find("guid4", 2), spawned->entity(4, 2)) << "by GUID path";
    EXPECT_EQ(spawned->find_guid(hash_text("guid0")), spawned->entity(0));
    EXPECT_EQ(spawned->find("d"), kNullEntity);
    EXPECT_EQ(spawned->find(""), kNullEntity);
    EXPECT_EQ(spawned->find_guid(0), kNullEntity) << "an entity without a GUID";
    ASSERT_EQ(spawned->roots().size(), 1u);
    EXPECT_EQ(spawned->roots()[0], 0u);
}

TEST_F(Spawn, names_are_left_out_when_nobody_asks_for_them) {
    const Result<Spawned> spawned = run({.keep_names = false});
    ASSERT_TRUE(spawned);
    EXPECT_EQ(spawned->find("a"), kNullEntity);
}

TEST_F(Spawn, destroying_takes_all_away) {
    const shoal_test::LeakCheck leaks;
    Result<Spawned> spawned = run({.copies = 4});
    ASSERT_TRUE(spawned);
    entities.destroy(spawned->entity(1, 2));
    EXPECT_EQ(spawned->destroy(entities), 19u) << "one was dead already";
    EXPECT_EQ(entities.num_alive(), 0u);
    EXPECT_EQ(spawned->entities().size(), 0u);
}

// req: D10-D14
TEST_F(Spawn, unknown_component_types_are_skipped_and_counted) {
    targets = {&notes};
    const Result<Spawned> spawned = run({.copies = 2});
    ASSERT_TRUE(spawned) << spawned.message();
    ASSERT_EQ(spawned->unknown().size(), 3u);
    EXPECT_EQ(spawned->unknown()[0].name, "stone");
    EXPECT_EQ(spawned->unknown()[0].count, 2u);
    EXPECT_EQ(spawned->unknown()[2].name, "body");
    EXPECT_EQ(notes.rows.size(), 6u);
    EXPECT_EQ(spawned->num_components(), 6u);
}

// req: D10-D14
TEST_F(Spawn, unknown_component_types_are_fatal_with_the_flag) {
    targets = {&notes, &bodies};
    const Result<Spawned> spawned = run({.fail_on_unknown = true});
    ASSERT_FALSE(spawned);
    EXPECT_NE(spawned.message().find("stone (2), marker (2)"), std::string_view::npos) << spawned.message();
    EXPECT_EQ(entities.num_alive(), 0u);
    EXPECT_EQ(notes.num_batches, 0);
}

// req: D31
TEST_F(Spawn, a_step_that_fails_undoes_the_ones_before) {
    ASSERT_TRUE(run());
    const std::uint64_t num_alive = entities.num_alive();
    bodies.is_full = true;  // the last in spawn order
    const Result<Spawned> spawned = run({.copies = 3});
    ASSERT_FALSE(spawned);
    EXPECT_NE(spawned.message().find("the store is full"), std::string_view::npos);
    EXPECT_NE(spawned.message().find("\"body\""), std::string_view::npos) << spawned.message();
    EXPECT_EQ(entities.num_alive(), num_alive);
    EXPECT_EQ(stones.rows.size(), 2u) << "those of the first spawn stay";
    EXPECT_EQ(notes.rows.size(), 3u);
    EXPECT_EQ(markers.rows.size(), 2u);
    for (const FakeStore::Row& row : stones.rows) EXPECT_TRUE(entities.alive(row.owner));
}

TEST_F(Spawn, an_end_that_fails_undoes_all_that_was_sent) {
    for (FakeStore* full : {&stones, &notes, &markers, &bodies}) {
        full->is_full_at_end = true;
        const Result<Spawned> spawned = run({.copies = 3});
        ASSERT_FALSE(spawned);
        EXPECT_EQ(spawned.message(), "cannot spawn \"levels/reef\": the store is full in the end");
        EXPECT_EQ(entities.num_alive(), 0u);
        for (const FakeStore* store : {&stones, &notes, &markers, &bodies}) EXPECT_TRUE(store->rows.empty());
        full->is_full_at_end = false;
    }
    EXPECT_TRUE(run());
}

TEST_F(Spawn, too_few_ids_change_nothing) {
    EntityManager few({.max_entities = 7});
    const Result<Spawned> one = spawn({shoal_test::Stores(few, targets)}, blob, {});
    ASSERT_TRUE(one) << one.message();
    for (const std::uint32_t copies : {1u, 2u, 0xFFFFFFFFu}) {
        ASSERT_FALSE(spawn({shoal_test::Stores(few, targets)}, blob, {.copies = copies}));
        EXPECT_EQ(few.num_alive(), 5u);
        EXPECT_EQ(stones.rows.size(), 2u);
    }
}

TEST_F(Spawn, another_layout_is_refused_and_both_are_named) {
    ComponentDefinition definition;
    definition.name = "note";
    definition.many = true;
    definition.fields.push_back({.name = "number", .type = FieldType::kFloat});
    const Schema other = *Schema::make(definition);
    FakeStore store(other);
    targets = {&stones, &store};
    const Result<Spawned> spawned = run();
    ASSERT_FALSE(spawned);
    EXPECT_NE(spawned.message().find("note v1 {number int32}"), std::string_view::npos) << spawned.message();
    EXPECT_NE(spawned.message().find("note v1 {number float}"), std::string_view::npos) << spawned.message();
    EXPECT_EQ(entities.num_alive(), 0u);
    EXPECT_EQ(stones.num_batches, 0) << "found before anything was done";
}

struct Heard {
    std::uint32_t num_batches = 0;
    std::uint64_t num_components = 0;
    bool fails = false;
};

Status hear(void* context, const SpawnBatch& batch) {
    auto& heard = *static_cast<Heard*>(context);
    ++heard.num_batches;
    heard.num_components += batch.entity_index.size() * batch.num_copies;
    return heard.fails ? Status::error("it cannot be heard") : Status();
}

// req: D26-D30
TEST_F(Spawn, a_registered_function_takes_a_type_in_place_of_a_store) {
    Heard heard;
    ASSERT_TRUE(registry.set_spawn_function("note", hear, &heard));
    ASSERT_TRUE(run({.copies = 2}));
    EXPECT_EQ(heard.num_batches, 1u);
    EXPECT_EQ(heard.num_components, 6u);
    EXPECT_EQ(notes.num_batches, 0);
    heard.fails = true;
    EXPECT_FALSE(run());
    EXPECT_EQ(stones.rows.size(), 4u);
    EXPECT_EQ(entities.num_alive(), 10u);
}

/// The bytes that a spawn function was given, by owner.
struct BytesByOwner {
    std::map<EntityBits, std::vector<std::byte>> of;
    bool fails = false;

    static Status spawn(void* context, const SpawnBatch& batch, std::span<const std::span<const std::byte>> bytes) {
        auto& self = *static_cast<BytesByOwner*>(context);
        if (self.fails) return Status::error("they cannot be sung");
        EXPECT_EQ(bytes.size(), batch.entity_index.size());
        for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
            for (std::size_t i = 0; i < bytes.size(); ++i)
                self.of[batch.owner(copy, i).id] = {bytes[i].begin(), bytes[i].end()};
        return {};
    }
};

/// A blob with an entity per text, each with a song of these bytes.
std::vector<std::byte> songs(const std::vector<std::vector<std::byte>>& texts, const Schema& schema) {
    BlobWriter writer;
    writer.set_name("songs");
    const std::uint32_t song = writer.add_component_type(schema).value();
    for (const std::vector<std::byte>& text : texts) {
        const BlobArrayBase array = writer.add_array(FieldType::kUint8, text);
        writer.add_component(song, writer.add_entity({}), std::as_bytes(std::span(&array, 1)));
    }
    return writer.write().value();
}

// req: D26-D30
TEST_F(Spawn, a_function_of_bytes_gets_those_of_each_component_and_copy_in_either_byte_order) {
    SCOPED_TRACE(shoal_test::seed_text());
    BytesByOwner sung;
    ASSERT_TRUE(registry.set_bytes_spawn_function("song", BytesByOwner::spawn, &sung));
    Random random(shoal_test::seed());
    std::vector<std::vector<std::byte>> texts(200);
    for (std::vector<std::byte>& text : texts) {
        text.resize(random.below(40) * random.below(4));
        for (std::byte& byte : text) byte = std::byte(random.below(256));
    }
    const std::vector<std::byte> bytes = songs(texts, *registry.find("song")->schema);
    blob = *Blob::load(*swap_endianness(*swap_endianness(bytes)));
    const Result<Spawned> spawned = run({.copies = 3});
    ASSERT_TRUE(spawned) << spawned.message();
    ASSERT_EQ(sung.of.size(), 600u);
    for (std::uint32_t copy = 0; copy < 3; ++copy)
        for (std::uint32_t i = 0; i < texts.size(); ++i)
            EXPECT_TRUE(sung.of[spawned->entity(i, copy).id] == texts[i]) << "song " << i;
    const std::vector<std::byte> swapped = *swap_endianness(bytes);
    for (const std::vector<std::byte>& text : texts) {
        if (text.empty()) continue;
        EXPECT_NE(std::search(swapped.begin(), swapped.end(), text.begin(), text.end()), swapped.end())
            << "these bytes are not swapped";
    }

    sung.fails = true;
    EXPECT_EQ(run().message(), "cannot spawn the components \"song\" of \"songs\": they cannot be sung");
    EXPECT_EQ(entities.num_alive(), 600u);
}

TEST_F(Spawn, bytes_that_no_function_takes_are_unknown_and_fields_in_their_place_are_refused) {
    ComponentRegistry compiler;
    ASSERT_TRUE(compiler.set_bytes_compile_function(
        "song", [](void*, const CompileInput&, CompileOutput&) { return true; }, nullptr));
    blob = *Blob::load(songs({{std::byte(7)}}, *compiler.find("song")->schema));
    const Result<Spawned> spawned = run();
    ASSERT_TRUE(spawned);
    ASSERT_EQ(spawned->unknown().size(), 1u);
    EXPECT_EQ(spawned->unknown()[0].name, "song");
    EXPECT_NE(run({.fail_on_unknown = true}).message().find("components that no store takes: song (1)"),
              std::string_view::npos);

    BytesByOwner sung;
    ASSERT_TRUE(registry.set_bytes_spawn_function("note", BytesByOwner::spawn, &sung));
    blob = *Blob::load(sample_bytes());
    EXPECT_NE(run().message().find("compile it again"), std::string_view::npos);
    EXPECT_TRUE(sung.of.empty());
}

TEST_F(Spawn, a_blob_of_roots_has_no_parents) {
    BlobWriter writer;
    const std::uint32_t note = add_type<Note>(writer);
    for (int i = 0; i < 2; ++i) writer.add_component(note, writer.add_entity({}), image_of(Note{i}));
    blob = *Blob::load(*writer.write());
    const Result<Spawned> spawned = run();
    ASSERT_TRUE(spawned);
    EXPECT_TRUE(notes.parents.empty());
    EXPECT_EQ(spawned->roots().size(), 2u);
}

// --- parts -----------------------------------------------------------------------------------------------------------

TEST_F(Spawn, a_part_has_the_components_of_its_entities_and_refers_to_no_others) {
    const auto part_of = [&](std::span<const std::uint32_t> which, const SpawnOptions& options) {
        return spawn_part({shoal_test::Stores(entities, targets), &registry}, blob, which, options);
    };
    const std::uint32_t which[] = {0, 2, 4};
    const Result<Spawned> part = part_of(which, {.copies = 2});
    ASSERT_TRUE(part) << part.message();
    EXPECT_EQ(part->num_blob_entities(), 3u);
    EXPECT_EQ(entities.num_alive(), 6u);
    EXPECT_TRUE(std::ranges::equal(part->roots(), std::vector<std::uint32_t>{0, 1})) << "the parent of 2 is missing";
    EXPECT_TRUE(std::ranges::equal(stones.parents, std::vector<std::uint32_t>{kNoBlobEntity, kNoBlobEntity, 1}));
    EXPECT_EQ(part->num_components(), 12u);
    EXPECT_EQ(part->find("a"), kNullEntity) << "a part keeps no names";
    EXPECT_EQ(bodies.num_batches, 0) << "none of them has one";
    ASSERT_EQ(stones.rows.size(), 4u);
    ASSERT_EQ(notes.rows.size(), 4u);
    ASSERT_EQ(markers.rows.size(), 4u);
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
        const std::size_t row = 2 * copy;
        EXPECT_EQ(stones.rows[row].owner, part->entity(1, copy));
        EXPECT_EQ(stones.row_as<Stone>(row).position, (Vec3{0.1f, -2, 3}));
        EXPECT_EQ(stones.row_as<Stone>(row).target, part->entity(2, copy)) << "the last entity of the blob";
        EXPECT_EQ(stones.rows[row + 1].owner, part->entity(0, copy));
        EXPECT_EQ(stones.row_as<Stone>(row + 1).target, kNullEntity);
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_EQ(notes.rows[row + i].owner, part->entity(2, copy));
            EXPECT_EQ(notes.row_as<Note>(row + i).number, i == 0 ? 11 : 13);
            EXPECT_EQ(markers.rows[row + i].owner, part->entity(i == 0 ? 2 : 0, copy));
        }
    }
    const Result<Spawned> alone = part_of(std::span(which).subspan(1, 1), {});
    ASSERT_TRUE(alone) << alone.message();
    ASSERT_EQ(stones.rows.size(), 5u);
    EXPECT_EQ(stones.rows[4].owner, alone->entity(0));
    EXPECT_EQ(stones.row_as<Stone>(4).target, kNullEntity) << "its target is not in this part";
    EXPECT_EQ(alone->num_components(), 1u);
}

/// A store of two component types, which takes what comes and counts.
struct TwoTypes final : Store {
    std::span<const Schema* const> schemas() const override { return both; }
    Status spawn(const SpawnBatch&) override { return ++num_batches, Status(); }
    void begin_spawn() override { ++num_begun; }
    Status finish_spawn() override { return ++num_finished, Status(); }
    void drop(std::span<const Entity>) override { ++num_drops; }
    void settle(const SettleContext&) override {}
    std::span<const Table* const> tables() const override { return {}; }
    std::size_t statistics(std::span<StoreStatistics>) const override { return 0; }

    const Schema* both[2] = {&schema_of<Stone>(), &schema_of<Body>()};
    int num_batches = 0, num_begun = 0, num_finished = 0, num_drops = 0;
};

TEST_F(Spawn, a_store_that_waits_for_another_batch_is_finished_when_a_store_between_fails) {
    TwoTypes first_and_last;  // stones come first in spawn order, bodies last
    targets = {&first_and_last, &notes, &markers};
    notes.is_full = true;
    ASSERT_FALSE(run());
    EXPECT_EQ(first_and_last.num_batches, 1);
    EXPECT_EQ(first_and_last.num_begun, 1);
    EXPECT_EQ(first_and_last.num_finished, 1);
    EXPECT_EQ(first_and_last.num_drops, 1);
    EXPECT_EQ(entities.num_alive(), 0u);
    notes.is_full = false;
    ASSERT_TRUE(run());
    EXPECT_EQ(first_and_last.num_batches, 3);
    EXPECT_EQ(first_and_last.num_begun, 2);
    EXPECT_EQ(first_and_last.num_finished, 2) << "once for both batches";
}

TEST(SpawnRandom, random_blobs_reach_their_stores) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random seeds(shoal_test::seed());
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(2000); ++i) {
        BlobWriter writer;
        Model model;
        RandomBlob(seeds.next()).build(writer, model);
        const Result<Blob> blob = Blob::load(*writer.write());
        ASSERT_TRUE(blob);
        std::deque<FakeStore> stores;
        std::vector<Store*> targets;
        for (const ModelType& type : model.types) targets.push_back(&stores.emplace_back(type.schema));
        EntityManager entities({.max_entities = 1000});
        const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, targets)}, *blob, {.copies = 2});
        ASSERT_TRUE(spawned) << spawned.message();
        for (std::size_t t = 0; t < stores.size(); ++t) {
            const std::vector<ModelComponent>& expected = model.types[t].components;
            ASSERT_EQ(stores[t].rows.size(), 2 * expected.size());
            for (std::size_t row = 0; row < stores[t].rows.size(); ++row)
                ASSERT_EQ(stores[t].rows[row].owner,
                          spawned->entity(expected[row % expected.size()].owner, row < expected.size() ? 0 : 1));
        }
    }
}

}  // namespace
}  // namespace resource_test
