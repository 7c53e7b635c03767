// Hostile and damaged blobs: an error that says what and where, or a clean load; never anything else.

#include "resource/random_blob.h"
#include "shoal/resource/detail/dump.h"
#include "shoal/resource/spawner.h"
#include "support/message_counts.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <vector>

namespace resource_test {
namespace {

/// Memory that ends where its bytes end, so that the address sanitizer sees any read past them.
class ExactCopy {
public:
    explicit ExactCopy(std::span<const std::byte> bytes)
        : data_(static_cast<std::byte*>(::operator new(bytes.size(), kAlignment))), size_(bytes.size()) {
        std::copy(bytes.begin(), bytes.end(), data_);
    }
    ExactCopy(const ExactCopy&) = delete;
    ExactCopy& operator=(const ExactCopy&) = delete;
    ~ExactCopy() { ::operator delete(data_, kAlignment); }
    std::span<const std::byte> bytes() const { return {data_, size_}; }

private:
    static constexpr std::align_val_t kAlignment{kBlobAlignment};
    std::byte* data_;
    std::size_t size_;
};

/// Checks in place, and if nothing is found wrong, reads everything there is.
std::string load_and_read(std::span<const std::byte> bytes) {
    const ExactCopy copy(bytes);
    const Result<Blob> blob = Blob::view(copy.bytes());
    if (!blob) {
        EXPECT_FALSE(blob.message().empty());
        return std::string(blob.message());
    }
    EXPECT_FALSE(dump_json(*blob).empty());
    EntityManager entities;
    EXPECT_TRUE(spawn({ComponentDirectory(entities)}, *blob, {.copies = 2}));
    return {};
}

TEST(Damage, a_blob_cut_anywhere_is_an_error) {
    const std::vector<std::byte> bytes = sample_bytes_with_origin({.offset_tables = true});
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
        ASSERT_NE(load_and_read(cut), "") << length;
        if (length < sizeof(BlobHeader)) continue;
        std::vector<std::byte> consistent = cut;  // a header that agrees with the cut
        put<std::uint64_t>(consistent, offsetof(BlobHeader, total_bytes), length);
        sign(consistent);
        load_and_read(consistent);
        ASSERT_FALSE(swap_endianness(cut));
        static_cast<void>(swap_endianness(consistent).ok());
    }
}

TEST(Damage, every_flipped_bit_is_found_by_the_checksum) {
    const std::vector<std::byte> bytes = sample_bytes_with_origin();
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        std::vector<std::byte> damaged = bytes;
        damaged[bit / 8] ^= std::byte(1 << bit % 8);
        ASSERT_FALSE(Blob::load(damaged)) << "bit " << bit;
    }
}

/// A check that is missing, or that allows one more or less, changes how many damages each message is about.
TEST(Damage, as_many_flipped_bits_have_each_message_as_always_had) {
    if (sizeof(Entity) != 4 || shoal_test::kSanitized) GTEST_SKIP() << "other builds have other ids, or show nothing";
    const std::vector<std::byte> bytes = sample_bytes_with_origin({.offset_tables = true});
    std::map<std::string, int> num_of;
    for (std::size_t bit = 24 * 8; bit < bytes.size() * 8; bit += 3) {
        std::vector<std::byte> damaged = bytes;
        damaged[bit / 8] ^= std::byte(1 << bit % 8);
        sign(damaged);
        ++num_of["read: " + shoal_test::kind_of_message(Blob::load(damaged).message())];
        ++num_of["swapped: " + shoal_test::kind_of_message(swap_endianness(damaged).message())];
    }
    shoal_test::expect_message_counts(num_of, SHOAL_SOURCE_DIR "/tests/resource/golden/damage.txt");
}

TEST(Damage, flipped_bits_with_a_right_checksum_never_crash) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    const std::vector<std::byte> little = sample_bytes_with_origin({.offset_tables = true});
    const std::vector<std::byte> big = sample_bytes_with_origin({.big_endian = true, .offset_tables = true});
    std::int64_t num_refused = 0;
    const std::int64_t rounds = shoal_test::scaled_operations(150'000);
    for (std::int64_t i = 0; i < rounds; ++i) {
        std::vector<std::byte> damaged = i % 4 == 3 ? big : little;
        for (std::uint32_t flips = 1 + random.below(3); flips > 0; --flips)
            damaged[24 + random.below(static_cast<std::uint32_t>(damaged.size() - 24))] ^=
                std::byte(1 << random.below(8));
        if (i % 4 == 3) {
            const std::uint64_t checksum = __builtin_bswap64(hash_bytes(damaged.data() + 24, damaged.size() - 24));
            put(damaged, 16, checksum);
            const Result<std::vector<std::byte>> swapped = swap_endianness(damaged);
            num_refused += !swapped || !load_and_read(*swapped).empty();
        } else {
            sign(damaged);
            num_refused += !load_and_read(damaged).empty();
            static_cast<void>(swap_endianness(damaged).ok());
        }
    }
    EXPECT_GT(num_refused, rounds / 4) << "most of a blob is checked";
}

TEST(Damage, numbers_at_their_extremes_never_crash) {
    const std::vector<std::byte> bytes = sample_bytes_with_origin({.offset_tables = true});
    for (std::size_t offset = 24; offset + 4 <= bytes.size(); offset += 4) {
        for (const std::uint32_t value : {0u, 1u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFC0u, 0xFFFFFFFEu, 0xFFFFFFFFu}) {
            std::vector<std::byte> damaged = bytes;
            put(damaged, offset, value);
            sign(damaged);
            load_and_read(damaged);
            static_cast<void>(swap_endianness(damaged).ok());
        }
    }
}

TEST(Damage, offsets_and_sizes_of_64_bits_at_their_extremes_never_crash) {
    const std::vector<std::byte> bytes = sample_bytes_with_origin({.offset_tables = true});
    const std::uint64_t size = bytes.size(), high = std::uint64_t(1) << 63;
    for (std::size_t offset = 24; offset + 8 <= bytes.size(); offset += 8) {
        for (const std::uint64_t value : {size - 64, size, size + 64, std::uint64_t(1) << 32, high - 64, high, 0 - size,
                                          0 - std::uint64_t(64), ~std::uint64_t(0)}) {
            std::vector<std::byte> damaged = bytes;
            put(damaged, offset, value);
            sign(damaged);
            load_and_read(damaged);
            static_cast<void>(swap_endianness(damaged).ok());
        }
    }
}

TEST(Damage, random_blobs_with_random_bytes_never_crash) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed() + 7);
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(20000); ++i) {
        BlobWriter writer;
        Model model;
        RandomBlob(random.next()).build(writer, model);
        std::vector<std::byte> bytes = *writer.write({.offset_tables = true});
        for (std::uint32_t n = 1 + random.below(4); n > 0; --n)
            bytes[24 + random.below(static_cast<std::uint32_t>(bytes.size() - 24))] =
                static_cast<std::byte>(random.next());
        sign(bytes);
        load_and_read(bytes);
    }
}

struct Case {
    const char* name;
    std::function<void(std::vector<std::byte>&)> damage;
    const char* expected;
    bool resign = true;
};

std::size_t type_entry(std::span<const std::byte> bytes, std::uint32_t index) {
    return section_of(bytes, BlobSectionKind::kComponentTypes) + index * sizeof(BlobComponentType);
}

/// Where a column of a component type (in blob order) starts.
std::size_t column_of(std::span<const std::byte> bytes, const char* type, const char* field) {
    const Result<Blob> blob = Blob::load(bytes);
    const BlobComponents& components = *blob->find_components(ComponentId(std::string_view(type)));
    const Field& f = components.schema->fields()[static_cast<std::size_t>(components.schema->find_field(field))];
    return static_cast<std::size_t>(components.columns[f.first_column] - blob->bytes().data());
}

std::vector<Case> cases() {
    using Bytes = std::vector<std::byte>;
    using Kind = BlobSectionKind;
    return {
        {"magic", [](Bytes& b) { b[0] = std::byte('X'); }, "at byte 0 of the blob: it is not a blob"},
        {"byte order", [](Bytes& b) { b[8] = std::byte(9); }, "at byte 8 of the blob: the mark of the byte order"},
        {"version", [](Bytes& b) { put(b, 12, 2u); }, "format version 2, this program reads version 1"},
        {"checksum", [](Bytes& b) { b.back() ^= std::byte(1); }, "at byte 16 of the blob: the checksum", false},
        {"joined", [](Bytes& b) { b.resize(b.size() + 64); }, "it was truncated, or something was appended", false},
        {"id width", [](Bytes& b) { put(b, offsetof(BlobHeader, entity_bytes), 12u - std::uint32_t(sizeof(Entity))); },
         "compile it again with this build"},
        {"num_sections", [](Bytes& b) { put(b, offsetof(BlobHeader, num_sections), 0xFFFFFFFFu); },
         "does not fit the blob"},
        {"column_alignment", [](Bytes& b) { put(b, offsetof(BlobHeader, column_alignment), 100u); },
         "column alignment of 100"},
        {"num_entities", [](Bytes& b) { put(b, offsetof(BlobHeader, num_entities), 0xFFFFFFFFu); },
         "\"parents\" should have 17179869180 bytes"},
        {"num_roots", [](Bytes& b) { put(b, offsetof(BlobHeader, num_roots), 2u); }, "counts 2 roots, but 1"},
        {"num_types", [](Bytes& b) { put(b, offsetof(BlobHeader, num_component_types), 0xFFFFFFFFu); },
         "do not fit their section"},
        {"resource id", [](Bytes& b) { put(b, offsetof(BlobHeader, resource_id), std::uint64_t(5)); },
         "not the hash of the name"},
        {"section past the end",
         [](Bytes& b) { put(b, entry_of(b, Kind::kTexts) + offsetof(BlobSection, num_bytes), ~std::uint64_t(0)); },
         "\"texts\" reaches past the end"},
        {"section overlap",
         [](Bytes& b) {
             put(b, entry_of(b, Kind::kNames) + offsetof(BlobSection, offset),
                 std::uint64_t(section_of(b, Kind::kGuids)));
         },
         "\"names\" overlaps"},
        {"section misplaced",
         [](Bytes& b) { b[entry_of(b, Kind::kNames) + offsetof(BlobSection, offset)] ^= std::byte(1); },
         "\"names\" does not start on a multiple of 64"},
        {"section twice", [](Bytes& b) { put(b, entry_of(b, Kind::kNames), static_cast<std::uint32_t>(Kind::kGuids)); },
         "a second section \"guids\""},
        {"section missing",
         [](Bytes& b) {
             put(b, entry_of(b, Kind::kParents) + offsetof(BlobSection, flags), 0u);
             put(b, entry_of(b, Kind::kParents), 77u);
         },
         "lacks the section \"parents\""},
        {"arrays alone",
         [](Bytes& b) {
             put(b, entry_of(b, Kind::kArrays) + offsetof(BlobSection, flags), 0u);
             put(b, entry_of(b, Kind::kArrays), 77u);
         },
         "go together"},
        {"parent after child", [](Bytes& b) { put(b, section_of(b, Kind::kParents) + 4, 3u); },
         "entity 1 has the parent 3, which does not come before"},
        {"parent of itself", [](Bytes& b) { put(b, section_of(b, Kind::kParents) + 8, 2u); },
         "entity 2 has the parent 2"},
        {"parents in a cycle",
         [](Bytes& b) {
             put(b, section_of(b, Kind::kParents) + 4, 2u);
             put(b, section_of(b, Kind::kParents) + 8, 1u);
         },
         "entity 1 has the parent 2, which does not come before"},
        {"parent out of range", [](Bytes& b) { put(b, section_of(b, Kind::kParents) + 8, 5u); },
         "which does not exist"},
        {"string not UTF-8",
         [](Bytes& b) {
             const std::size_t strings = section_of(b, Kind::kStrings);
             b[strings + get<std::uint64_t>(b, strings + 16)] = std::byte(0xFF);
         },
         "string 1 is not UTF-8"},
        {"string without end",
         [](Bytes& b) {
             const std::size_t strings = section_of(b, Kind::kStrings);
             b[strings + get<std::uint64_t>(b, strings + 24) - 1] = std::byte('x');
         },
         "string 1 has no end"},
        {"layout hash",
         [](Bytes& b) {
             b[section_of(b, Kind::kSchemas) + sizeof(BlobSchemaTable) + offsetof(BlobSchema, layout_hash)] ^=
                 std::byte(1);
         },
         "the layout hash of stone v1 {mass float"},
        {"schema count", [](Bytes& b) { put(b, section_of(b, Kind::kSchemas), 0xFFFFFFFFu); },
         "tables of the schemas do not fit"},
        {"identifier", [](Bytes& b) { b[type_entry(b, 0)] ^= std::byte(1); },
         "the identifier is not the hash of the name \"stone\""},
        {"columns",
         [](Bytes& b) {
             put(b, type_entry(b, 2), get<std::uint64_t>(b, type_entry(b, 1)));
             put(b, type_entry(b, 2) + 8, get<std::uint32_t>(b, type_entry(b, 1) + 8));
         },
         "\"marker\" has 1 columns, its schema 0"},
        {"data too short",
         [](Bytes& b) {
             const std::size_t bytes = type_entry(b, 0) + offsetof(BlobComponentType, data_bytes);
             const auto end = column_of(b, "stone", "cell") + 2 * 6;
             put(b, bytes,
                 end - 1 - get<std::uint64_t>(b, type_entry(b, 0) + offsetof(BlobComponentType, data_offset)));
         },
         "of \"stone\" reaches past its data"},
        {"columns overlap",
         [](Bytes& b) {
             const std::size_t columns = type_entry(b, 4);  // after the last type
             put(b, columns + 8, get<std::uint64_t>(b, columns));
         },
         "column 1 of \"stone\" overlaps what lies before it"},
        {"spawn order", [](Bytes& b) { put(b, type_entry(b, 0) + offsetof(BlobComponentType, spawn_order), 99); },
         "not in spawn order"},
        {"data overlap",
         [](Bytes& b) {
             put(b, type_entry(b, 1) + offsetof(BlobComponentType, data_offset),
                 get<std::uint64_t>(b, type_entry(b, 0) + offsetof(BlobComponentType, data_offset)));
         },
         "the data of \"marker\" overlap"},
        {"count", [](Bytes& b) { put(b, type_entry(b, 0) + offsetof(BlobComponentType, count), 0xFFFFFFFFu); },
         "4294967295 components \"stone\" do not fit"},
        {"owner", [](Bytes& b) { put(b, section_of(b, Kind::kComponentData), 5u); },
         "belongs to entity 5, which does not exist"},
        {"owner twice", [](Bytes& b) { put(b, section_of(b, Kind::kComponentData), 0u); },
         "entity 0 has two components \"stone\""},
        {"bool", [](Bytes& b) { b[column_of(b, "stone", "awake") + 1] = std::byte(2); },
         "field \"awake\" holds a bool"},
        {"enum", [](Bytes& b) { b[column_of(b, "stone", "shape") + 1] = std::byte(3); },
         "field \"shape\" holds a number that its enum"},
        {"reference", [](Bytes& b) { put(b, column_of(b, "stone", "target"), EntityBits(5)); },
         "field \"target\" holds a reference to an entity"},
        {"text without end", [](Bytes& b) { std::memset(b.data() + column_of(b, "stone", "label"), 'x', 16); },
         "field \"label\" holds a string"},
        {"text not UTF-8", [](Bytes& b) { b[column_of(b, "stone", "label")] = std::byte(0xC3); },
         "field \"label\" holds a string"},
        {"array offset", [](Bytes& b) { b[column_of(b, "stone", "path") + 8] ^= std::byte(16); },
         "field \"path\" holds a reference to an array"},
        {"array count", [](Bytes& b) { put(b, column_of(b, "stone", "path") + 16, 0xFFFFFFFFu); },
         "field \"path\" holds a reference to an array"},
        {"array of another blob", [](Bytes& b) { b[column_of(b, "stone", "path")] ^= std::byte(1); },
         "field \"path\" holds a reference to an array"},
        {"array entry", [](Bytes& b) { put(b, section_of(b, Kind::kArrays) + 8, 0xFFFFFFFFu); },
         "array 0 reaches past the end"},
        {"array type", [](Bytes& b) { put(b, section_of(b, Kind::kArrays) + 12, 22u); }, "unknown type"},
        {"guid twice",
         [](Bytes& b) {
             const std::size_t guids = section_of(b, Kind::kGuids);
             const auto order = get<std::uint32_t>(b, guids + 5 * 8 + 2 * 4),
                        before = get<std::uint32_t>(b, guids + 5 * 8 + 4);
             put(b, guids + order * 8, get<std::uint64_t>(b, guids + before * 8));
         },
         "have the same GUID"},
        {"guid order", [](Bytes& b) { put(b, section_of(b, Kind::kGuids) + 5 * 8, 9u); }, "names entity 9"},
        {"name order", [](Bytes& b) { put(b, section_of(b, Kind::kNames) + 5 * 4, 0u); }, "not in order"},
        {"source", [](Bytes& b) { put(b, section_of(b, Kind::kSources), 0xFFFFu); }, "a source file is string 65535"},
        {"text hash", [](Bytes& b) { b[section_of(b, Kind::kTexts)] ^= std::byte(1); }, "another hash"},
        {"kept text", [](Bytes& b) { put(b, section_of(b, Kind::kKeptTexts), 5u); }, "kept for entity 5"},
        {"dependency", [](Bytes& b) { put(b, section_of(b, Kind::kDependencies), 0u); }, "dependency of kind 0"},
        {"origin too short", [](Bytes& b) { put(b, section_of(b, Kind::kOrigin) + 4, 9u); }, "\"origin\" should have"},
        {"origin compiler", [](Bytes& b) { put(b, section_of(b, Kind::kOrigin), 0xFFFFu); },
         "the version of the compiler is string 65535"},
        {"origin type", [](Bytes& b) { put(b, section_of(b, Kind::kOrigin) + 16 + 2 * 8 + 8, 0xFFFFu); },
         "a component type of the source is string 65535"},
        {"offset table", [](Bytes& b) { put(b, section_of(b, Kind::kOffsetTables) + 24, 3u); },
         "offset table of entity 0"},
        {"offset tables too short", [](Bytes& b) { put(b, section_of(b, Kind::kOffsetTables) + 20, 3u); },
         "do not hold all rows"},
    };
}

TEST(Damage, each_kind_has_a_message_that_says_what_and_where) {
    const std::vector<std::byte> bytes = sample_bytes_with_origin({.offset_tables = true});
    for (const Case& c : cases()) {
        std::vector<std::byte> damaged = bytes;
        c.damage(damaged);
        if (c.resign) sign(damaged);
        const std::string message = load_and_read(damaged);
        EXPECT_NE(message.find(c.expected), std::string::npos) << c.name << ": \"" << message << '"';
    }
}

TEST(Damage, a_component_type_that_occurs_twice_is_named) {
    BlobWriter writer;
    for (const char* name : {"flag_a", "flag_b"}) {
        ComponentDefinition definition;
        definition.name = name;
        ASSERT_TRUE(writer.add_component_type(*Schema::make(definition)));
    }
    std::vector<std::byte> bytes = *writer.write();
    put(bytes, type_entry(bytes, 1), get<std::uint64_t>(bytes, type_entry(bytes, 0)));
    put(bytes, type_entry(bytes, 1) + offsetof(BlobComponentType, schema), 0u);
    sign(bytes);
    EXPECT_NE(load_and_read(bytes).find("\"flag_a\" occurs twice"), std::string::npos) << load_and_read(bytes);
}

// A blob of few bytes cannot ask for much time or memory: here 10,000 entities share a name of 4 MB.
TEST(Damage, a_long_text_shared_by_many_costs_once) {
    BlobWriter writer;
    const std::string name(4'000'000, 'x');
    for (int i = 0; i < 1000; ++i) writer.add_entity({.name = name});
    const Result<Blob> blob = Blob::load(*writer.write());
    ASSERT_TRUE(blob) << blob.message();
    EXPECT_LT(blob->bytes().size(), 5'000'000u);
    EXPECT_EQ(blob->find_name(name), 0u);
}

TEST(Writer, refuses_what_a_reader_would_refuse) {
    const auto message_of = [](auto&& fill) {
        BlobWriter blob;
        fill(blob);
        const Result<std::vector<std::byte>> bytes = blob.write();
        return std::string(bytes.message());
    };
    EXPECT_NE(message_of([](BlobWriter& b) {
                  const std::uint32_t marker = add_type<Marker>(b);
                  b.add_entity({});
                  b.add_component(marker, 0, image_of(Marker()));
                  b.add_component(marker, 0, image_of(Marker()));
              }).find("two components \"marker\""),
              std::string::npos);
    EXPECT_NE(message_of([](BlobWriter& b) {
                  b.add_entity({.guid = 5});
                  b.add_entity({.guid = 5});
              }).find("same GUID"),
              std::string::npos);
    EXPECT_NE(message_of([](BlobWriter& b) { b.add_entity({.name = "\xFF"}); }).find("not UTF-8"), std::string::npos);
    EXPECT_NE(message_of([](BlobWriter& b) {
                  const std::byte value{};
                  b.add_array(FieldType::kUint8, {&value, 1});
              }).find("needs a name"),
              std::string::npos);
}

TEST(Writer, a_component_type_is_added_once_and_has_no_opaque_fields) {
    BlobWriter blob;
    EXPECT_TRUE(blob.add_component_type(schema_of<Note>()));
    EXPECT_NE(blob.add_component_type(schema_of<Note>()).message().find("already"), std::string_view::npos);
    ComponentDefinition definition;
    definition.name = "opaque";
    FieldDefinition& field = definition.fields.emplace_back();
    field.name = "text";
    field.type = FieldType::kOpaque;
    field.opaque = &opaque_operations<std::string>();
    field.value_bytes = sizeof(std::string);
    field.value_alignment = alignof(std::string);
    const Result<Schema> schema = Schema::make(definition);
    ASSERT_TRUE(schema) << schema.message();
    EXPECT_NE(blob.add_component_type(*schema).message().find("opaque"), std::string_view::npos);
}

}  // namespace
}  // namespace resource_test
