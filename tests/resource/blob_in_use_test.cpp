// A blob as it is used: in memory that nobody may write to, and gone once its components are in their stores.

#include "resource/samples.h"
#include "shoal/base/detail/page_memory.h"
#include "shoal/resource/spawner.h"
#include "shoal/store/manager.h"
#include "support/stores.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstring>
#include <vector>

namespace resource_test {
namespace {

/// Bytes in pages of their own that can be read and not written.
class ReadOnlyPages {
public:
    explicit ReadOnlyPages(std::span<const std::byte> bytes)
        : range_(*reserve_pages(bytes.size())), num_bytes_(bytes.size()) {
        std::memcpy(range_.data, bytes.data(), bytes.size());
        EXPECT_EQ(::mprotect(range_.data, range_.num_bytes, PROT_READ), 0);
    }
    ~ReadOnlyPages() { release_pages(range_); }
    ReadOnlyPages(const ReadOnlyPages&) = delete;
    ReadOnlyPages& operator=(const ReadOnlyPages&) = delete;

    std::span<const std::byte> bytes() const { return {range_.data, num_bytes_}; }

private:
    PageRange range_;
    std::size_t num_bytes_;
};

struct BlobInUse : ::testing::Test {
    EntityManager entities;
    PagePool pool;
    Manager<Stone> stones{entities, pool};
    Manager<Note> notes{entities, pool};
    Store* stores[2] = {&stones.core(), &notes.core()};
};

// req: D1-D3 D4-D5
TEST_F(BlobInUse, is_never_written_to) {
    const ReadOnlyPages pages(sample_bytes({.offset_tables = true}));
    const Result<Blob> blob = Blob::view(pages.bytes());  // a write anywhere would end the program
    ASSERT_TRUE(blob) << blob.message();
    EXPECT_EQ(blob->bytes().data(), pages.bytes().data()) << "used in place";
    for (int i = 0; i < 3; ++i) {
        const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, *blob, {.copies = 100});
        ASSERT_TRUE(spawned) << spawned.message();
        EXPECT_EQ(spawned->find("c", 99), spawned->entity(2, 99));
    }
    EXPECT_EQ(stones.num_components(), 600u);
}

// req: D4-D5 D8-D9
TEST_F(BlobInUse, may_go_after_the_spawn) {
    Result<Spawned> spawned = Status::error("not spawned yet");
    {
        const ReadOnlyPages pages(sample_bytes());
        const Result<Blob> blob = Blob::view(pages.bytes());
        ASSERT_TRUE(blob) << blob.message();
        spawned = spawn({shoal_test::Stores(entities, stores)}, *blob, {.copies = 2});
        ASSERT_TRUE(spawned) << spawned.message();
    }  // the pages are unmapped: a pointer into them would fault from here on
    for (std::uint32_t copy = 0; copy < 2; ++copy) {
        const Stone stone = stones.value(stones.instance(spawned->entity(2, copy)));
        EXPECT_EQ(stone.label.view(), "großer Stein");
        EXPECT_EQ(stone.position, (Vec3{0.1f, -2, 3}));
        EXPECT_EQ(stone.target, spawned->entity(4, copy));
        EXPECT_EQ(stone.path.resource, ResourceId(std::string_view("levels/reef"))) << "heavy data are named, not held";
        EXPECT_EQ(stone.path.count, 2u);
        const Stone plain = stones.value(stones.instance(spawned->entity(0, copy)));
        EXPECT_EQ(plain.shape, Shape::kSphere) << "an instance starts from what the template says";
        stones.set<&Stone::shape>(stones.instance(spawned->entity(0, copy)), Shape::kBox);
    }
    EXPECT_EQ(spawned->find("b", 1), spawned->entity(1, 1)) << "names were copied";
    EXPECT_EQ(spawned->destroy(entities), 10u);
    for (Store* store : stores) store->settle({});
    EXPECT_EQ(stones.num_rows() + notes.num_rows(), 0u);
}

// Columns hold values of one size, side by side; what varies in size is elsewhere, reached by offset and count.
// req: D10-D14
TEST_F(BlobInUse, what_varies_in_size_lies_apart_from_what_does_not) {
    const std::vector<std::byte> bytes = sample_bytes();
    const Result<Blob> blob = Blob::load(bytes);
    ASSERT_TRUE(blob) << blob.message();
    const auto offset_of = [&](const void* place) {
        return static_cast<std::uint64_t>(static_cast<const std::byte*>(place) - blob->bytes().data());
    };
    const auto data = get<BlobSection>(bytes, entry_of(bytes, BlobSectionKind::kComponentData));
    const auto is_component_data = [&](const void* place) {
        return offset_of(place) >= data.offset && offset_of(place) < data.offset + data.num_bytes;
    };
    for (const BlobComponents& components : blob->component_types()) {
        EXPECT_TRUE(is_component_data(components.entity_index.data()));
        for (std::size_t c = 0; c < components.columns.size(); ++c) {
            const std::size_t last = (components.count() - 1) * components.schema->columns()[c].element_bytes;
            EXPECT_TRUE(is_component_data(components.columns[c]) && is_component_data(components.columns[c] + last));
        }
    }
    const BlobComponents& stones_of_blob = *blob->find_components(schema_of<Stone>().id());
    const auto path = static_cast<std::size_t>(stones_of_blob.schema->find_field("path"));
    BlobArrayBase array;
    std::memcpy(&array, stones_of_blob.columns[stones_of_blob.schema->fields()[path].first_column], sizeof array);
    ASSERT_EQ(array.count, 2u);
    EXPECT_FALSE(is_component_data(blob->array(array, FieldType::kVec3).data()));
    EXPECT_FALSE(is_component_data(blob->entity_name(0).data()));
}

}  // namespace
}  // namespace resource_test
