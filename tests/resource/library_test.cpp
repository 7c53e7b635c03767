#include "shoal/resource/library.h"

#include "resource/samples.h"
#include "shoal/base/file.h"
#include "shoal/resource/detail/array_finder.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace resource_test {
namespace {

std::vector<std::byte> named(std::string_view name, std::uint32_t value, BlobArray<std::uint32_t>* array = nullptr) {
    BlobWriter blob;
    blob.set_name(name);
    blob.add_entity({});
    Body body;
    body.owner.id = kNoReference;
    const std::uint32_t values[] = {value, value + 1};
    static_cast<BlobArrayBase&>(body.table) = blob.add_array(FieldType::kUint32, std::as_bytes(std::span(values)));
    blob.add_component(add_type<Body>(blob), 0, image_of(body));
    std::vector<std::byte> bytes = *blob.write();
    if (array != nullptr) {
        const Result<Blob> loaded = Blob::load(bytes);
        std::memcpy(static_cast<void*>(&body), loaded->component_types()[0].columns[0], sizeof body);
        *array = body.table;
    }
    return bytes;
}

TEST(Library, keeps_blobs_by_name) {
    const shoal_test::LeakCheck leaks;
    ResourceLibrary library;
    for (std::uint32_t i = 0; i < 50; ++i) ASSERT_TRUE(library.load(named(concat("r", i), i)));
    EXPECT_EQ(library.num_blobs(), 50u);
    for (std::uint32_t i = 0; i < 50; ++i) {
        ASSERT_NE(library.find(concat("r", i)), nullptr);
        EXPECT_EQ(library.find(concat("r", i))->name(), concat("r", i));
        EXPECT_EQ(library.find(ResourceId(concat("r", i))), library.find(concat("r", i)));
    }
    EXPECT_EQ(library.find("r50"), nullptr);
}

TEST(Library, a_blob_stays_where_it_is_while_others_come_and_go) {
    ResourceLibrary library;
    const Result<const Blob*> kept = library.load(named("kept", 1));
    ASSERT_TRUE(kept);
    for (std::uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(library.load(named(concat("r", i), i)));
    for (std::uint32_t i = 0; i < 20; ++i) ASSERT_TRUE(library.unload(concat("r", i)));
    EXPECT_EQ(library.find("kept"), *kept);
    EXPECT_EQ((*kept)->name(), "kept");
}

TEST(Library, only_what_is_loaded_is_replaced) {
    ResourceLibrary library;
    for (const std::string_view name : {"b", "d", "f"}) ASSERT_TRUE(library.load(named(name, 1)));
    for (const std::string_view name : {"a", "c", "e", "g", "h", "i", "j", "k"}) {
        const Result<Blob> replaced = library.replace(*Blob::load(named(name, 2)));
        EXPECT_EQ(replaced.message(),
                  concat("the resource \"", name, "\" cannot be replaced: it is not loaded; add it"));
    }
    EXPECT_EQ(library.num_blobs(), 3u);
    for (const std::string_view name : {"b", "d", "f"}) {
        ASSERT_NE(library.find(name), nullptr);
        EXPECT_EQ(library.find(name)->name(), name);
        const Blob* const place = library.find(name);
        const Result<Blob> older = library.replace(*Blob::load(named(name, 2)));
        ASSERT_TRUE(older) << older.message();
        EXPECT_EQ(older->name(), name);
        EXPECT_EQ(library.find(name), place) << "it stays where it was";
        EXPECT_NE(place->header().checksum, older->header().checksum);
    }
}

TEST(Library, a_name_is_needed_and_loaded_once) {
    ResourceLibrary library;
    EXPECT_FALSE(library.load(*BlobWriter().write()));
    ASSERT_TRUE(library.load(named("twice", 1)));
    const Result<const Blob*> second = library.load(named("twice", 2));
    ASSERT_FALSE(second);
    EXPECT_NE(second.message().find("\"twice\""), std::string_view::npos);
    EXPECT_FALSE(library.load(std::vector<std::byte>(100)));
    EXPECT_EQ(library.num_blobs(), 1u);
}

// req: D4-D5 D8-D9
TEST(Library, shows_the_arrays_that_stay_in_a_blob) {
    BlobArray<std::uint32_t> array;
    ResourceLibrary library;
    EXPECT_TRUE(library.view(array).empty());
    const std::vector<std::byte> bytes = named("arrays", 40, &array);
    EXPECT_TRUE(library.view(array).empty()) << "not loaded yet";
    ASSERT_TRUE(library.load(bytes));
    const std::span<const std::uint32_t> values = library.view(array);
    ASSERT_EQ(values.size(), 2u);
    EXPECT_EQ(values[0], 40u);
    EXPECT_EQ(values[1], 41u);
    const Blob& blob = *library.find("arrays");
    EXPECT_GE(reinterpret_cast<const std::byte*>(values.data()), blob.bytes().data()) << "no copy";
    EXPECT_LT(reinterpret_cast<const std::byte*>(values.data()), blob.bytes().data() + blob.bytes().size());
}

TEST(Library, an_array_that_its_blob_does_not_have_has_no_values) {
    ResourceLibrary library;
    BlobArray<std::uint32_t> array;
    ASSERT_TRUE(library.load(named("short", 1, &array)));
    const std::size_t num_bytes = library.find("short")->bytes().size();
    const auto count_at = [&](std::uint64_t offset, std::uint32_t count) {
        BlobArray<std::uint32_t> other = array;
        other.offset = offset, other.count = count;
        return library.view(other).size();
    };
    EXPECT_EQ(count_at(array.offset, 2), 2u);
    EXPECT_EQ(count_at(num_bytes - 8, 2), 2u) << "within the blob";
    EXPECT_EQ(count_at(num_bytes - 4, 2), 0u);
    EXPECT_EQ(count_at(num_bytes + 4, 2), 0u);
    EXPECT_EQ(count_at(~std::uint64_t(3), 2), 0u);
    EXPECT_EQ(count_at(array.offset, 0xFFFFFFFF), 0u);
    EXPECT_EQ(count_at(array.offset + 1, 1), 0u) << "where no number can lie";
}

TEST(ArrayFinder, finds_the_arrays_of_loaded_resources_and_parts_of_them) {
    ResourceLibrary library;
    BlobArray<std::uint32_t> array, gone;
    ASSERT_TRUE(library.load(named("kept", 1, &array)));
    ASSERT_TRUE(library.load(named("gone", 1, &gone)));
    ASSERT_TRUE(library.unload("gone"));
    ASSERT_EQ(array.offset, gone.offset);
    ArrayFinder arrays(library);
    const Schema& schema = schema_of<Body>();
    const Field& table = schema.fields()[static_cast<std::size_t>(schema.find_field("table"))];
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(arrays.has(array, FieldType::kUint32));
        EXPECT_FALSE(arrays.has(array, FieldType::kFloat)) << "it has other elements";
        EXPECT_NE(arrays.problem(schema, table).find("the resource \"kept\" does not have"), std::string::npos);
        EXPECT_FALSE(arrays.has(gone, FieldType::kUint32)) << "though another resource has an array there";
        EXPECT_NE(arrays.problem(schema, table).find("a resource that is not loaded"), std::string::npos);
        EXPECT_TRUE(arrays.has(BlobArrayBase(), FieldType::kUint32));
    }
    const auto has_at = [&](std::uint64_t offset, std::uint32_t count) {
        BlobArray<std::uint32_t> part = array;
        part.offset += offset, part.count = count;
        return arrays.has(part, FieldType::kUint32);
    };
    EXPECT_TRUE(has_at(0, 1));
    EXPECT_TRUE(has_at(4, 1));
    EXPECT_FALSE(has_at(2, 1)) << "that begins within an element";
    EXPECT_FALSE(has_at(4, 2));
    EXPECT_FALSE(has_at(8, 1));
    EXPECT_FALSE(has_at(0, 3));
}

// req: D4-D5
TEST(Library, a_pinned_blob_is_not_unloaded_and_the_count_is_told) {
    struct Pins {
        ResourceId resource;
        std::uint64_t count;
    } pins{ResourceId(std::string_view("pinned")), 3};
    const CountPins count = [](void* context, ResourceId resource) {
        const Pins& p = *static_cast<Pins*>(context);
        return resource == p.resource ? p.count : 0;
    };
    ResourceLibrary library;
    Pins none{ResourceId(std::string_view("free")), 0};
    library.add_pin_counter(count, &pins);
    library.add_pin_counter(count, &none);
    ASSERT_TRUE(library.load(named("pinned", 1)));
    ASSERT_TRUE(library.load(named("free", 1)));
    const Status refused = library.unload("pinned");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.message().find("3 values"), std::string_view::npos) << refused.message();
    EXPECT_NE(library.find("pinned"), nullptr);
    EXPECT_TRUE(library.unload("free"));
    pins.count = 1;
    EXPECT_NE(library.unload("pinned").message().find("1 values"), std::string_view::npos) << "one is enough";
    EXPECT_NE(library.find("pinned"), nullptr);
    pins.count = 0;
    EXPECT_TRUE(library.unload("pinned"));
    EXPECT_EQ(library.find("pinned"), nullptr);
    EXPECT_FALSE(library.unload("pinned"));
}

TEST(Library, the_pins_of_several_owners_add_up_until_they_are_removed) {
    std::uint64_t first = 2, second = 5;
    const CountPins count = [](void* context, ResourceId) { return *static_cast<std::uint64_t*>(context); };
    ResourceLibrary library;
    library.add_pin_counter(count, &first);
    library.add_pin_counter(count, &second);
    ASSERT_TRUE(library.load(named("shared", 1)));
    EXPECT_NE(library.unload("shared").message().find("7 values"), std::string_view::npos);
    library.remove_pin_counter(&first);
    EXPECT_NE(library.unload("shared").message().find("5 values"), std::string_view::npos);
    library.remove_pin_counter(&second);
    EXPECT_TRUE(library.unload("shared"));
}

TEST(Library, loads_files) {
    const std::string path = ::testing::TempDir() + "resource_library_test.blob";
    ASSERT_TRUE(write_file(path, named("filed", 9)));
    ResourceLibrary library;
    const Result<const Blob*> blob = library.load_file(path);
    ASSERT_TRUE(blob) << blob.message();
    EXPECT_EQ((*blob)->name(), "filed");
    std::remove(path.c_str());
    EXPECT_FALSE(library.load_file(path));
}

}  // namespace
}  // namespace resource_test
