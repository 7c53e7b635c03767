// Named values of entities: what is set for them, and tables of a blob that they share.

#include "shoal/components/properties.h"

#include "shoal/resource/blob_writer.h"
#include "shoal/resource/spawner.h"
#include "support/stores.h"
#include "support/testing.h"
#include "support/unreadable_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace shoal {
namespace {

using Words = std::vector<std::uint32_t>;

struct PropertiesOfEntities : ::testing::Test {
    EntityManager entities{{.minimum_free_ids = 1}};
    PagePool pool;
    StringTable texts;
    ResourceLibrary library;
    PropertyManager properties{entities, pool, {&library, &texts}};
    Entity tank = entities.create().value(), truck = entities.create().value();

    /// Returns the rows of Properties and of PropertyValue.
    std::vector<std::uint64_t> num_rows() const {
        StoreStatistics statistics[2];
        EXPECT_EQ(properties.statistics(statistics), 2u);
        EXPECT_EQ(statistics[0].component, "properties");
        EXPECT_EQ(statistics[1].component, "property_value");
        EXPECT_GE(statistics[1].rows.used_bytes, statistics[1].num_rows * sizeof(PropertyValue));
        return {statistics[0].num_rows, statistics[1].num_rows};
    }
    std::map<std::string, std::string> all(Entity entity) const {
        std::map<std::string, std::string> result;
        properties.for_each(entity, [&](StringId path, const PropertyView& value) {
            const std::string_view text = texts.text(path);
            const auto [at, is_new] =
                result.emplace(text.empty() ? std::to_string(path.hash) : std::string(text), value.shape().to_text());
            EXPECT_TRUE(is_new) << at->first << " twice";
        });
        return result;
    }
};

/// Returns the words of a value.
Words words_of(const PropertyInput& value) { return {value.words, value.words + value.shape.num_words()}; }

/// A table of values that are no arrays.
struct TableValue {
    std::string path;
    PropertyInput value;
};
Array<std::uint32_t> table_of(std::vector<TableValue> values) {
    std::sort(values.begin(), values.end(),
              [](const TableValue& a, const TableValue& b) { return StringId(a.path) < StringId(b.path); });
    std::vector<PropertyEntry> entries;
    for (const TableValue& v : values)
        entries.push_back({StringId(v.path), v.value.shape, {v.value.words, v.value.shape.num_words()}});
    return make_property_table(entries);
}

// req: G7 G8
TEST_F(PropertiesOfEntities, an_entity_has_any_number_of_named_values_of_all_types) {
    ASSERT_TRUE(properties.set(tank, "is_hidden", true));
    ASSERT_TRUE(properties.set(tank, "crew", -3));
    ASSERT_TRUE(properties.set(tank, "range", std::int64_t(1) << 40));
    ASSERT_TRUE(properties.set(tank, "armor.front", 20.5f));
    ASSERT_TRUE(properties.set(tank, "paint", "grey"));
    ASSERT_TRUE(properties.set(tank, "turret", Vec3{1, 2, 3}));
    EXPECT_EQ(properties.get<bool>(tank, "is_hidden").value(), true);
    EXPECT_EQ(properties.get<std::int32_t>(tank, "crew").value(), -3);
    EXPECT_EQ(properties.get<std::int64_t>(tank, "range").value(), std::int64_t(1) << 40);
    EXPECT_EQ(properties.get<float>(tank, "armor.front").value(), 20.5f);
    EXPECT_EQ(properties.get<float>(tank, "crew").value(), -3.0f)
        << "an integer is read as a float where one is asked for";
    EXPECT_EQ(properties.text(tank, "paint"), "grey");
    EXPECT_EQ(properties.get<Vec3>(tank, StringId("turret")).value(), (Vec3{1, 2, 3}));
    EXPECT_EQ(properties.get_or(tank, "armor.front", 1.0f), 20.5f);
    EXPECT_EQ(properties.get_or(tank, "armor.rear", 1.0f), 1.0f);
    EXPECT_EQ(properties.get_or(truck, "armor.front", 1.0f), 1.0f);
    EXPECT_EQ(properties.get_or(tank, "paint", 1.0f), 1.0f) << "a string is no float";
    EXPECT_EQ(num_rows(), (std::vector<std::uint64_t>{0, 6})) << "only what is set costs memory";
    ASSERT_TRUE(properties.set(tank, "crew", "none"));
    EXPECT_EQ(properties.text(tank, "crew"), "none") << "setting replaces, the type too";
    EXPECT_EQ(num_rows()[1], 6u);
    EXPECT_TRUE(properties.validate());
}

// req: G8
TEST_F(PropertiesOfEntities, arrays_of_every_type_are_read_as_they_were_set) {
    const std::vector<float> decks = {1, 2.5f, 3, 4, 5, 6, 7, 8, 9};
    const Vec2 corners[] = {{1, 2}, {3, 4}, {5, 6}};
    const StringId names[] = {StringId("a"), StringId("b"), StringId("c")};
    const bool doors[] = {true, false, true};
    const std::int64_t big[] = {-1, std::int64_t(7) << 33};
    ASSERT_TRUE(properties.set_array(tank, "decks", decks));
    ASSERT_TRUE(properties.set_array(tank, "corners", corners));
    ASSERT_TRUE(properties.set_array(tank, "names", names));
    ASSERT_TRUE(properties.set_array(tank, "doors", doors));
    ASSERT_TRUE(properties.set_array(tank, "big", big));
    ASSERT_TRUE(properties.set_array(tank, "none", std::span<const float>()));
    const auto expect = [&]<class T>(const char* path, std::span<const T> wanted) {
        T read[16] = {};
        ASSERT_EQ(properties.find(tank, path).read(std::span(read)), wanted.size()) << path;
        for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(read[i], wanted[i]) << path << i;
    };
    expect("decks", std::span<const float>(decks));
    expect("corners", std::span<const Vec2>(corners));
    expect("names", std::span<const StringId>(names));
    expect("doors", std::span<const bool>(doors));
    expect("big", std::span<const std::int64_t>(big));
    expect("none", std::span<const float>());
    EXPECT_TRUE(properties.has(tank, "none"));
    EXPECT_EQ(num_rows()[1], 3u + 2 + 2 + 1 + 1 + 1) << "a row for every 16 bytes";

    const float three[] = {1, 2, 3};
    ASSERT_TRUE(properties.set_array(tank, "decks", three));
    EXPECT_EQ(properties.get<Vec3>(tank, "decks").value(), (Vec3{1, 2, 3})) << "three numbers are a vector too";
    EXPECT_EQ(num_rows()[1], 8u) << "parts of the longer array are gone";
    ASSERT_TRUE(properties.set(tank, "decks", Vec4{1, 2, 3, 4}));
    float four[4];
    EXPECT_EQ(properties.find(tank, "decks").read(std::span(four)), 4u) << "and a vector is an array";
    EXPECT_FALSE(properties.get<Vec3>(tank, "decks"));
    EXPECT_TRUE(properties.reset(tank, "corners"));
    EXPECT_FALSE(properties.has(tank, "corners"));
    EXPECT_EQ(num_rows()[1], 6u);
}

TEST_F(PropertiesOfEntities, messages_say_what_there_is_instead) {
    ASSERT_TRUE(properties.set(tank, "armor.front", 20));
    ASSERT_TRUE(properties.set(tank, "paint", "grey"));
    ASSERT_TRUE(properties.set(tank, "range", std::int64_t(1) << 40));
    EXPECT_EQ(properties.get<float>(tank, "armor.frnt").message(),
              "entity 1:1 has no value \"armor.frnt\"; did you mean \"armor.front\"?");
    EXPECT_EQ(properties.get<float>(truck, "armor").message(), "entity 2:1 has no value \"armor\"");
    EXPECT_EQ(properties.get<float>(tank, "paint").message(), "\"paint\" of entity 1:1 is a string, not a float");
    EXPECT_EQ(properties.get<Vec2>(tank, "range").message(), "\"range\" of entity 1:1 is an integer, not a vec2");
    EXPECT_EQ(properties.get<std::int32_t>(tank, "range").message(),
              "\"range\" of entity 1:1 is an integer that does not fit an int32");
    ASSERT_TRUE(properties.set_array(tank, "gears", std::span<const int>({1, 2})));
    EXPECT_EQ(properties.get<std::int32_t>(tank, "gears").message(),
              "\"gears\" of entity 1:1 is an array of 2 integers, not an int32");
    EXPECT_TRUE(properties.set_array(tank, "longest", std::vector<float>(1024, 1.0f)));
    float longest[1024];
    EXPECT_EQ(properties.find(tank, "longest").read(std::span(longest)), 1024u);
    EXPECT_EQ(longest[1023], 1.0f);
    EXPECT_TRUE(properties.reset(tank, "longest"));
    const std::vector<double> many(1025, 1.0);
    EXPECT_EQ(
        properties.set_array(tank, "long", many).message(),
        "the value of \"long\" takes 1025 words of 32 bits, and an own value at most 1024; write it in a source, or "
        "keep it in a component");
    EXPECT_EQ(properties.set(tank, "", 1).message(), "a value needs a path, such as \"armor.front\"");
    entities.destroy(truck);
    const Entity both[] = {tank, truck};
    EXPECT_EQ(properties.set(both, "crew", 1).message(), "cannot set \"crew\" of entity 2:1, which is not alive");
    EXPECT_FALSE(properties.has(tank, "crew")) << "nothing has changed";
    EXPECT_EQ(properties.get<float>(truck, "armor").message(), "entity 2:1 is dead");
}

// req: D6
TEST_F(PropertiesOfEntities, an_own_value_hides_that_of_the_template_until_it_is_taken_away) {
    BlobWriter writer;
    writer.set_name("tanks");
    const std::uint32_t type = writer.add_component_type(schema_of<Properties>()).value();
    const Array<std::uint32_t> values = table_of({{"armor", 20}, {"paint", "grey"}, {"turret", Vec3{1, 2, 3}}});
    const Array<std::uint32_t> overrides = table_of({{"armor", 30.5f}});
    for (int i = 0; i < 2; ++i) {
        Properties row;
        static_cast<BlobArrayBase&>(row.values) =
            writer.add_array(FieldType::kUint32, std::as_bytes(std::span(values)));
        if (i == 1)
            static_cast<BlobArrayBase&>(row.overrides) =
                writer.add_array(FieldType::kUint32, std::as_bytes(std::span(overrides)));
        writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(&row, 1)));
    }
    ASSERT_TRUE(writer.add_text("armor"));
    const Result<Blob> unknown = Blob::load(*writer.write());
    Store* stores[] = {&properties};
    EXPECT_EQ(spawn({shoal_test::Stores(entities, stores)}, *unknown).message(),
              "cannot spawn the components \"properties\" of \"tanks\": the values of \"properties\" lie in a resource "
              "that is not "
              "loaded; "
              "give the world a library, WorldOptions::library, and load the resource through it before it is spawned");
    const Result<const Blob*> blob = library.load(*writer.write());
    ASSERT_TRUE(blob);
    const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, **blob);
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    const Entity plain = spawned->entity(0), changed = spawned->entity(1);

    EXPECT_EQ(properties.get<float>(plain, "armor").value(), 20);
    EXPECT_EQ(properties.get<float>(changed, "armor").value(), 30.5f);
    EXPECT_EQ(properties.get<Vec3>(changed, "turret").value(), (Vec3{1, 2, 3}));
    ASSERT_TRUE(properties.set(changed, "armor", "thick"));
    EXPECT_EQ(all(changed).size(), 3u) << "each path once";
    EXPECT_EQ(properties.find(changed, "armor").type(), PropertyType::kString);
    EXPECT_TRUE(properties.find(changed, "armor").is_own());
    EXPECT_FALSE(properties.find(changed, "turret").is_own());
    EXPECT_EQ(properties.get<float>(plain, "armor").value(), 20) << "the others keep theirs";
    EXPECT_TRUE(properties.reset(changed, "armor"));
    EXPECT_EQ(properties.get<float>(changed, "armor").value(), 30.5f) << "the template's again";
    EXPECT_FALSE(properties.reset(changed, "armor"));
    EXPECT_FALSE(properties.reset(changed, "turret"));
    EXPECT_EQ(num_rows(), (std::vector<std::uint64_t>{2, 0}));
    EXPECT_EQ(all(changed).size(), 3u);

    ASSERT_TRUE(properties.set(plain, "crew", 4));
    properties.drop(spawned->entities());
    EXPECT_EQ(num_rows(), (std::vector<std::uint64_t>{0, 0})) << "own values go too";
    EXPECT_FALSE(properties.has(plain, "armor"));
    EXPECT_TRUE(all(plain).empty());
}

TEST_F(PropertiesOfEntities, a_template_that_only_overrides_needs_its_resource_too) {
    BlobWriter writer;
    writer.set_name("tanks");
    const std::uint32_t type = writer.add_component_type(schema_of<Properties>()).value();
    const Array<std::uint32_t> overrides = table_of({{"armor", 30.5f}});
    Properties row;
    static_cast<BlobArrayBase&>(row.overrides) =
        writer.add_array(FieldType::kUint32, std::as_bytes(std::span(overrides)));
    writer.add_component(type, writer.add_entity({}), std::as_bytes(std::span(&row, 1)));
    const Result<Blob> unknown = Blob::load(*writer.write());
    Store* stores[] = {&properties};
    EXPECT_FALSE(spawn({shoal_test::Stores(entities, stores)}, *unknown)) << "nobody has loaded it";
    const Result<const Blob*> known = library.load(*writer.write());
    ASSERT_TRUE(known);
    const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, **known);
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    EXPECT_EQ(properties.get<float>(spawned->entity(0), "armor").value(), 30.5f);
}

TEST_F(PropertiesOfEntities, the_texts_of_a_long_value_are_listed_once) {
    const StringId names[] = {StringId("a"), StringId("b"), StringId("c"), StringId("d"), StringId("e")};
    ASSERT_TRUE(properties.set_array(tank, "names", names));
    ASSERT_TRUE(properties.set(tank, "crew", 4));
    Array<StringId> ids{Owner("test")};
    properties.list_texts(tank, ids);
    std::vector<StringId> listed(ids.begin(), ids.end()), wanted(std::begin(names), std::end(names));
    wanted.insert(wanted.end(), {StringId("names"), StringId("crew")});
    std::sort(listed.begin(), listed.end());
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(listed, wanted);
}

TEST_F(PropertiesOfEntities, values_go_with_their_entity) {
    ASSERT_TRUE(properties.set(tank, "armor", 20));
    ASSERT_TRUE(properties.set(truck, "armor", 5));
    entities.destroy(tank);
    EXPECT_FALSE(properties.has(tank, "armor")) << "at once";
    const Entity next = entities.create().value();
    EXPECT_FALSE(properties.has(next, "armor"));
    ASSERT_TRUE(properties.set(next, "armor", 7)) << "on the index of the dead one";
    properties.settle({});
    EXPECT_EQ(num_rows()[1], 2u);
    EXPECT_EQ(properties.get<float>(next, "armor").value(), 7);
    EXPECT_EQ(properties.get<float>(truck, "armor").value(), 5);
    entities.destroy(truck);
    EXPECT_EQ(num_rows()[1], 2u);
    properties.settle({});
    EXPECT_EQ(num_rows()[1], 1u) << "the row goes at the next settle";
    EXPECT_FALSE(properties.has(kNullEntity, "armor"));
    EXPECT_TRUE(properties.validate());
}

TEST_F(PropertiesOfEntities, rows_that_make_no_sense_are_values_that_are_not_there) {
    const Schema& schema = schema_of<PropertyValue>();
    const auto add = [&](const PropertyValue& value) {
        return properties.add_values(schema, {&tank, 1}, {reinterpret_cast<const std::byte*>(&value)}).value();
    };
    EXPECT_EQ(add(PropertyValue()), 0u) << "no path";
    PropertyValue value("armor", 20);
    value.part = 1;
    EXPECT_EQ(add(value), 0u) << "a part of nothing";
    value.part = 0;
    EXPECT_EQ(add(value), 1u);
    value.part = 1;
    EXPECT_EQ(add(value), 0u) << "a second part of what has one";
    value.part = 0;
    value.shape = 0x000000F7;
    EXPECT_EQ(add(value), 0u) << "a shape that is none";
    value.shape = PropertyShape{PropertyType::kFloat, 1, PropertyShape::kMaxCount}.word();
    EXPECT_EQ(add(value), 0u) << "longer than own values are";
    EXPECT_EQ(properties.get<float>(tank, "armor").value(), 20);
    const std::vector<float> decks = {1, 2.5f, 3, 4, 5, 6, 7, 8, 9};
    ASSERT_TRUE(properties.set_array(tank, "decks", decks));
    PropertyValue part("decks", 20);
    part.part = 1;
    EXPECT_EQ(add(part), 0u) << "a part of another shape than the first";
    part.shape = PropertyShape{PropertyType::kFloat, 1, 9}.word();
    EXPECT_EQ(add(part), 1u);
    part.part = 3;
    EXPECT_EQ(add(part), 0u) << "one behind the last";
    EXPECT_TRUE(properties.reset(tank, "decks"));

    // From a blob, rows come as they are.
    std::vector<PropertyValue> rows(4, PropertyValue("hull", Vec4{1, 2, 3, 4}));
    rows[0].shape = PropertyShape{PropertyType::kFloat, 1, PropertyShape::kMaxCount}.word();
    rows[1] = PropertyValue("deck", 7);
    rows[1].shape = PropertyShape{PropertyType::kFloat, 1, 9}.word();  // the other parts are missing
    rows[2] = PropertyValue("deck", 8);
    rows[3].shape = 0x000000F7;
    rows[3].path = StringId("mast");
    BlobWriter writer;
    const std::uint32_t type = writer.add_component_type(schema).value();
    const std::uint32_t owner = writer.add_entity({});
    for (const PropertyValue& row : rows) writer.add_component(type, owner, std::as_bytes(std::span(&row, 1)));
    const Result<Blob> blob = Blob::load(*writer.write());
    Store* stores[] = {&properties};
    const Entity spawned = spawn({shoal_test::Stores(entities, stores)}, *blob).value().entity(0);
    EXPECT_FALSE(properties.has(spawned, "hull"));
    EXPECT_FALSE(properties.has(spawned, "mast"));
    float deck[9];
    EXPECT_EQ(properties.find(spawned, "deck").read(std::span(deck)), 9u);
    EXPECT_EQ(deck[8], 0.0f);
    EXPECT_EQ(all(spawned).size(), 1u);
    EXPECT_TRUE(properties.reset(spawned, "deck"));
    EXPECT_FALSE(properties.has(spawned, "deck")) << "both rows of the path are gone";
}

// --- tables ------------------------------------------------------------------------------------------------------

TEST_F(PropertiesOfEntities, rows_stay_while_they_are_held) {
    ASSERT_TRUE(properties.set(tank, "armor", 20));
    properties.hold_rows(true);
    EXPECT_DEATH(static_cast<void>(properties.reset(tank, "armor")), "reset\\(\\)");
    EXPECT_DEATH(static_cast<void>(properties.set(truck, "armor", 20)), "");
    EXPECT_DEATH(static_cast<void>(properties.add_values(schema_of<Properties>(), {&tank, 1}, {})), "");
    properties.hold_rows(false);
    EXPECT_TRUE(properties.set(truck, "armor", 20));
    EXPECT_TRUE(properties.add_values(schema_of<Properties>(), {&tank, 1}, {}));
    EXPECT_TRUE(properties.reset(tank, "armor"));
}

TEST(PropertyTable, finds_what_was_written_and_nothing_else) {
    Random random(shoal_test::seed());
    for (int round = 0; round < 200; ++round) {
        std::map<std::uint64_t, std::pair<PropertyShape, Words>> model;
        for (std::uint32_t i = random.below(40); i > 0; --i) {
            const PropertyInput inputs[] = {random.below(2) == 0, int(random.below(1000)), 0.5f, "text", Vec3{1, 2, 3}};
            const PropertyInput& input = inputs[random.below(5)];
            model[random.below(2) == 0 ? random.below(100) + 1 : random.next()] = {input.shape, words_of(input)};
        }
        std::vector<PropertyEntry> entries;
        for (const auto& [path, value] : model) entries.push_back({StringId(path), value.first, value.second});
        const Array<std::uint32_t> table = make_property_table(entries);
        ASSERT_EQ(num_property_entries(table), model.size());
        for (const auto& [path, value] : model) {
            const PropertyEntry found = find_property_entry(table, StringId(path));
            ASSERT_EQ(found.path, StringId(path));
            EXPECT_EQ(found.shape, value.first);
            EXPECT_EQ(Words(found.words.begin(), found.words.end()), value.second);
        }
        for (std::uint64_t path = 1; path <= 100; ++path)
            EXPECT_EQ(bool(find_property_entry(table, StringId(path)).path), model.count(path) != 0);
    }
}

/// Reads all that a table says.
void read_all(std::span<const std::uint32_t> table) {
    const std::uint32_t num_entries = num_property_entries(table);
    ASSERT_LE(std::size_t(num_entries) * 4, table.size());
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < num_entries + 2; ++i) {
        const PropertyEntry entry = property_entry(table, i);
        ASSERT_EQ(entry.words.size(), entry.shape.num_words());
        for (const std::uint32_t word : entry.words) sum += word;
        double numbers[4];
        Vec4 vectors[2];
        read_property<double>(entry.shape, entry.words, numbers);
        read_property<Vec4>(entry.shape, entry.words, vectors);
        sum += find_property_entry(table, entry.path).words.size();
    }
    for (std::uint64_t path : {std::uint64_t(0), std::uint64_t(1), ~std::uint64_t(0)})
        sum += find_property_entry(table, StringId(path)).words.size();
    EXPECT_GE(sum, 0u);
}

TEST(PropertyTable, hostile_words_are_never_trusted) {
    Random random(shoal_test::seed());
    // Words lie where the memory behind them cannot be read.
    std::vector<std::byte> memory(3 * kPageBytes);
    auto* const end = reinterpret_cast<std::byte*>(
        round_up(reinterpret_cast<std::uintptr_t>(memory.data() + kPageBytes), kPageBytes));
    shoal_test::UnreadablePages behind;
    behind.add(end, kPageBytes);
    const Array<std::uint32_t> good =
        table_of({{"a", 1}, {"b", "text"}, {"c", Vec3{1, 2, 3}}, {"d", 2.0f}, {"e", true}});
    for (int round = 0; round < 20000; ++round) {
        Words words(good.begin(), good.end());
        if (round % 2 == 0)
            for (std::uint32_t& word : words)
                word = random.below(3) == 0 ? std::uint32_t(random.next()) : random.below(64);
        for (std::uint32_t i = random.below(4); i > 0; --i)
            words[random.below(std::uint32_t(words.size()))] ^= 1u << random.below(32);
        words.resize(random.below(std::uint32_t(words.size()) + 1));
        std::byte* const begin = end - words.size() * sizeof(std::uint32_t);
        if (!words.empty()) std::memcpy(begin, words.data(), words.size() * sizeof(std::uint32_t));
        read_all({reinterpret_cast<const std::uint32_t*>(begin), words.size()});
        if (HasFatalFailure()) return;
    }
    EXPECT_EQ(num_property_entries(Words{0xFFFFFFFF, 0, 0, 0}), 0u);
    EXPECT_EQ(num_property_entries(Words{}), 0u);
}

TEST(PropertyTable, a_word_that_says_nothing_is_no_shape) {
    for (const std::uint32_t word : {0u, 0xF1u, 0x07u, 0x00000101u, 0x54u, 0x22u, 0xFFFFFFFFu})
        EXPECT_EQ(PropertyShape::from_word(word), PropertyShape()) << word;
    const PropertyShape vectors{PropertyType::kFloat, 3, 70000};
    EXPECT_EQ(PropertyShape::from_word(vectors.word()), vectors);
}

}  // namespace
}  // namespace shoal
