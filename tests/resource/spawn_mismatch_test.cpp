// Blobs and programs that disagree, and spawns of nothing.

#include "resource/samples.h"
#include "shoal/resource/spawner.h"
#include "shoal/store/manager.h"
#include "support/stores.h"
#include "support/testing.h"

#include <gtest/gtest.h>

namespace resource_test {
namespace {

/// The schema of Note in a program that allows one per entity. The columns are those of Note.
Schema singleton_note() {
    ComponentDefinition definition = make_definition<Note>();
    definition.many = false;
    return Schema::make(std::move(definition)).value();
}

TEST(SpawnMismatch, several_components_of_an_entity_do_not_go_where_one_is_kept) {
    const Schema schema = singleton_note();
    ASSERT_EQ(schema.layout_hash(), schema_of<Note>().layout_hash());
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob) << blob.message();
    for (const RowIndexKind index : {RowIndexKind::kPaged, RowIndexKind::kHash, RowIndexKind::kIdentity}) {
        EntityManager entities;
        PagePool pool;
        ComponentManager notes(schema, entities, pool, {.index = index});
        Store* stores[] = {&notes};
        const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, *blob);
        EXPECT_EQ(spawned.message(),
                  "\"levels/reef\" was compiled with several \"note\" per entity, this program has one; compile it "
                  "again");
        EXPECT_EQ(entities.num_indices_used(), 0u);
        EXPECT_EQ(notes.num_rows(), 0u);
    }
}

TEST(SpawnMismatch, one_component_of_an_entity_goes_where_several_are_kept) {
    BlobWriter writer;
    const std::uint32_t entity = writer.add_entity({});
    const std::uint32_t type = *writer.add_component_type(singleton_note());
    writer.add_component(type, entity, image_of(Note{5}));
    const Result<Blob> blob = Blob::load(*writer.write());
    ASSERT_TRUE(blob) << blob.message();
    EntityManager entities;
    PagePool pool;
    Manager<Note> notes(entities, pool);
    Store* stores[] = {&notes.core()};
    const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, *blob);
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(notes.get<&Note::number>(notes.instance(spawned->entity(0))), 5);
}

TEST(SpawnMismatch, nothing_is_found_in_a_spawn_of_no_copies) {
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob) << blob.message();
    EntityManager entities;
    PagePool pool;
    Manager<Note> notes(entities, pool);
    Store* stores[] = {&notes.core()};
    const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, *blob, {.copies = 0});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_TRUE(spawned->entities().empty());
    EXPECT_EQ(spawned->find("b"), kNullEntity);
    EXPECT_EQ(spawned->find_guid(hash_text("guid1")), kNullEntity);
    EXPECT_EQ(spawned->num_components(), 0u);
    EXPECT_EQ(notes.num_rows(), 0u);
}

}  // namespace
}  // namespace resource_test
