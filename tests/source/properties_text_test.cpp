// Properties from text to values: paths, types, layers of prefabs, mistakes.

#include "shoal/components/properties.h"

#include "shoal/resource/detail/dump.h"
#include "shoal/world/world.h"
#include "support/source_fixture.h"

#include <cstring>
#include <vector>

namespace shoal_test {
namespace {

class PropertiesText : public SourceTest {
protected:
    PropertiesText() { EXPECT_TRUE(add_properties(registry).ok()); }

    /// Compiles x.sjson and spawns it; `spawned` has its entities.
    void spawn_source(const std::string& text) {
        file("x.sjson", text);
        const Result<CompiledSource> source = compiled("x.sjson");
        ASSERT_TRUE(source.ok()) << source.message() << diagnostics.format();
        const Result<const Blob*> loaded = library.load(source->blob);
        ASSERT_TRUE(loaded.ok()) << loaded.message();
        blob = *loaded;
        Result<Spawned> result = world.spawn(*blob);
        ASSERT_TRUE(result.ok()) << result.message();
        spawned = std::move(*result);
    }
    std::string errors_of(const std::string& properties) {
        file("y.sjson", "components = { properties = { " + properties + " } }");
        Diagnostics found;
        static_cast<void>(compile_source("y.sjson", registry, options, found).ok());
        return found.format();
    }
    /// Returns all values of an entity, in the order of their paths, as text.
    std::string values(std::uint32_t entity) {
        std::map<std::string, std::string> sorted;
        world.properties().for_each(spawned.entity(entity), [&](StringId path, const PropertyView&) {
            const Result<AnyValue> value = world.properties().read(spawned.entity(entity), path);
            sorted[std::string(world.strings().text(path))] =
                value ? value->to_text(&world.strings()) : std::string("empty");
        });
        std::string result;
        for (const auto& [path, value] : sorted) append_text(result, concat(path, '=', value, ' '));
        return result;
    }
    Properties row(std::uint32_t entity) const {
        Properties properties;
        std::memcpy(static_cast<void*>(&properties),
                    blob->find_components(ComponentId("properties"))->columns[0] + entity * sizeof properties,
                    sizeof properties);
        return properties;
    }

    ResourceLibrary library;
    EntityManager entities;
    World world{entities, {.library = &library}};
    const Blob* blob = nullptr;
    Spawned spawned;
};

// req: G8
TEST_F(PropertiesText, nested_mappings_are_paths_and_every_type_is_read) {
    spawn_source(R"(components = { properties = {
        armor = { front = 20  side = { left = 8.5  right = 9 } }
        "armor.rear" = 4
        paint = "grey"  is_hidden = true  is_fast = false  range = 5000000000
        decks = [1 2 3 4 5]  place = [0 0.5 1]  mixed = [1 2.5]  doors = [true false]  crew = ["ann" "bob"]
        path = [[0 0] [1 2] [3 4]]  line = [[1 2 3]]  none = []  one = [7]  empty = { }
    } } )");
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(values(0),
              "armor.front=20 armor.rear=4 armor.side.left=8.5 armor.side.right=9 crew=[\"ann\", \"bob\"] "
              "decks=[1 2 3 4 5] doors=[true, false] is_fast=false is_hidden=true line=[1.0 2.0 3.0] mixed=[1.0 2.5] "
              "none=empty one=7 paint=\"grey\" path=[[0.0 0.0], [1.0 2.0], [3.0 4.0]] place=[0.0 0.5 1.0] "
              "range=5000000000 ");
    const Entity tank = spawned.entity(0);
    EXPECT_EQ(world.properties().get<float>(tank, "armor.front").value(), 20);
    EXPECT_EQ(world.properties().get<Vec3>(tank, "place").value(), (Vec3{0, 0.5f, 1}));
    float place[3];
    EXPECT_EQ(world.properties().find(tank, "place").read(std::span(place)), 3u) << "read as either";
    Vec2 path[3];
    EXPECT_EQ(world.properties().find(tank, "path").read(std::span(path)), 3u);
    EXPECT_EQ(path[2], (Vec2{3, 4}));
    EXPECT_EQ(world.properties().text(tank, "paint"), "grey");
    EXPECT_EQ(diagnostics.num_warnings(), 0u) << diagnostics.format();
}

// req: D6
TEST_F(PropertiesText, an_instance_overrides_values_of_its_prefab_and_of_the_prefab_of_that) {
    file("vehicle.sjson",
         R"(components = { properties = { speed = 5  armor = { front = 1  rear = 2 }  paint = "grey" } })");
    file("tank.sjson", R"(prefab = "vehicle"
        modified_components = { properties = { armor = { front = 20 }  crew = 4 } })");
    spawn_source(R"(entities = {
        a = { prefab = "tank" }
        b = { prefab = "tank"  modified_components = { properties = { paint = "red"  armor = { rear = 9 } } } }
        c = { prefab = "vehicle" }
        d = { prefab = "tank"  modified_components = { properties = { armor = 3  speed = { road = 6  field = 4 } } } }
        e = { prefab = "tank"  modified_components = { properties = { armor = null  paint = null } } }
        f = { prefab = "tank"  modified_components = { properties = { data = { type = "heavy"  id = 7 } } } }
    } )");
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(values(0), "armor.front=20 armor.rear=2 crew=4 paint=\"grey\" speed=5 ");
    EXPECT_EQ(values(1), "armor.front=20 armor.rear=9 crew=4 paint=\"red\" speed=5 ");
    EXPECT_EQ(values(2), "armor.front=1 armor.rear=2 paint=\"grey\" speed=5 ");
    EXPECT_EQ(values(3), "armor=3 crew=4 paint=\"grey\" speed.field=4 speed.road=6 ")
        << "a value takes the place of a mapping, and the other way round";
    EXPECT_EQ(values(4), "crew=4 speed=5 ") << "null takes away";
    EXPECT_EQ(values(5), "armor.front=20 armor.rear=2 crew=4 id=7 paint=\"grey\" speed=5 type=\"heavy\" ");
    EXPECT_EQ(diagnostics.num_warnings(), 0u) << diagnostics.format();
    EXPECT_EQ(row(0).values.offset, row(2).values.offset) << "the text of a prefab is one table for all of its users";
    EXPECT_EQ(row(1).values.offset, row(4).values.offset) << "and so is what two prefabs say together";
}

// req: D6
TEST_F(PropertiesText, what_instances_override_is_all_that_they_have_of_their_own) {
    std::string keys;
    for (int i = 0; i < 40; ++i) append_text(keys, concat("key_", i, " = { low = ", i, "  high = ", i + 0.5, " } "));
    file("tank.sjson", "components = { properties = { " + keys + " } }");
    std::string text = "entities = {";
    for (int i = 0; i < 1000; ++i)
        append_text(text,
                    concat(" t", i, " = { prefab = \"tank\"  modified_components = { properties = { key_7 = { low = ",
                           i + 1000, " } } } }"));
    spawn_source(text + " }");
    ASSERT_FALSE(HasFailure());
    std::size_t num_bytes = 0;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(row(i).values, row(0).values);
        EXPECT_EQ(row(i).overrides.count, 8u) << "two words of head, four of the entry, two of the value";
        num_bytes += row(i).overrides.count * 4;
        EXPECT_EQ(world.properties().get<std::int32_t>(spawned.entity(i), "key_7.low").value(), int(i) + 1000);
        EXPECT_EQ(world.properties().get<float>(spawned.entity(i), "key_7.high").value(), 7.5f);
    }
    EXPECT_LT(row(0).values.count, 500u);
    EXPECT_EQ(num_bytes, 32000u);
    EXPECT_EQ(diagnostics.num_warnings(), 0u) << diagnostics.format();
}

TEST_F(PropertiesText, a_path_that_looks_like_one_of_the_prefab_is_a_warning) {
    file("tank.sjson",
         R"(components = { properties = { armor = { front = 1  rear = 2 }  gun_1 = 5  x = 1  paint = "grey" } })");
    spawn_source(R"(entities = {
        a = { prefab = "tank"
              modified_components = { properties = { armor = { frnt = 1 }  gun_2 = 6  y = 2  pianted = 3 } } }
        b = { prefab = "tank"  modified_components = { properties = { paitn = "red"  turret = null } } }
        c = { prefab = "tank"  modified_components = { properties = { armor = { front = 1  fromt = 2 } } } }
    } )");
    ASSERT_FALSE(HasFailure());
    const std::string found = diagnostics.format();
    EXPECT_EQ(diagnostics.num_warnings(), 3u) << found;
    for (const char* const warning :
         {"x.sjson:3:64: warning: component \"properties\": the prefab has no \"armor.frnt\"; did you mean "
          "\"armor.front\"?\n",
          "x.sjson:4:71: warning: component \"properties\": the prefab has no \"paitn\"; did you mean \"paint\"?\n",
          "x.sjson:4:86: warning: component \"properties\": \"turret\" is null, and nothing below has it; remove it\n"})
        EXPECT_NE(found.find(warning), std::string::npos) << warning << found;
}

TEST_F(PropertiesText, a_dump_shows_values_and_overrides_by_path) {
    file("tank.sjson",
         R"(components = { properties = { armor = { front = 1 }  paint = "grey"  path = [[0 1] [2 3]] } })");
    spawn_source(R"(entities = { a = { prefab = "tank"
        modified_components = { properties = { armor = { front = 2 }  paint = null } } } })");
    ASSERT_FALSE(HasFailure());
    const std::string dump = dump_json(*blob);
    for (const char* const part :
         {R"("armor.front": 1)", R"("paint": "grey")", R"("armor.front": 2)", R"("paint": null)"})
        EXPECT_NE(dump.find(part), std::string::npos) << part << dump;
}

TEST_F(PropertiesText, every_mistake_has_its_place) {
    const auto expect_error = [&](const std::string& text, std::string_view message) {
        const std::string found = errors_of(text);
        EXPECT_NE(found.find(message), std::string::npos) << message << '\n' << found;
    };
    expect_error("a = [1 true]",
                 "y.sjson:1:38: error: component \"properties\": \"a\" has elements of several kinds; write a "
                 "list of bools, of numbers, of strings, or of vectors");
    expect_error("a = [\"x\" 1]", "has elements of several kinds");
    expect_error("a = [1 [2 3]]", "has elements of several kinds");
    expect_error("a = [null]", "has elements of several kinds");
    expect_error("a = [[1 2] [1 2 3]]",
                 "\"a\" is a list of lists that are no vectors; write vectors of 2, 3 or 4 numbers");
    expect_error("a = [[1]]", "lists that are no vectors");
    expect_error("a = [[1 2 3 4 5]]", "lists that are no vectors");
    expect_error("a = [[1 2] 3]", "lists that are no vectors");
    expect_error("a = [[1 \"x\"]]", "lists that are no vectors");
    expect_error("a = 1e300", "a number is too large for a float");
    expect_error("a = { b = 1 }  \"a.b\" = 2", "two values are called \"a.b\"");
    expect_error("\"\" = 1", "a value is called \"\"; give each part a name");
    expect_error("a = { \"\" = 1 }", "a value is called \"a.\"");
    expect_error("\"a..b\" = 1", "a value is called \"a..b\"; give each part a name");
    expect_error("\"a[0]\" = 1", "a value is called \"a[0]\"; elements of lists have no paths; write the whole list");
    expect_error("a = 18446744073709551615", "an integer is above 9223372036854775807; write it with a point");
    file("n.sjson", "components = { properties = { a = null } }");
    EXPECT_TRUE(compiled("n.sjson").ok());
    EXPECT_NE(diagnostics.format().find("warning: component \"properties\": \"a\" is null, and nothing below has it"),
              std::string::npos);
    file("z.sjson", "components = { properties = 5 }");
    EXPECT_NE(errors("z.sjson").find("component \"properties\" is given as an integer"), std::string::npos);
}

/// Merges random layers as the rules say, path by path.
struct Layers {
    Random& random;
    std::map<std::string, int> values;

    /// Returns the text of a mapping, and makes the change that it says.
    std::string random_mapping(const std::string& prefix, int depth, bool may_be_null) {
        std::string text = "{ ";
        for (const char* const key : {"a", "b", "c"}) {
            if (random.below(2) == 0) continue;
            const std::string path = prefix + key;
            append_text(text, concat(key, " = "));
            if (depth < 2 && random.below(3) == 0) {
                if (const std::string inner = random_mapping(path + ".", depth + 1, may_be_null); inner != "{ }")
                    append_text(text, inner);
                else
                    append_text(text, "{ }");
            } else if (may_be_null && random.below(4) == 0) {
                append_text(text, "null");
                forget(path);
            } else {
                const int value = int(random.below(1000));
                append_text(text, concat(value));
                forget(path);
                values[path] = value;
            }
            append_text(text, " ");
        }
        return text + "}";
    }
    /// Forgets what lies at a path and below it, and values in whose place there is a mapping now.
    void forget(const std::string& path) {
        std::erase_if(values, [&](const auto& one) {
            return one.first == path || one.first.starts_with(path + ".") || path.starts_with(one.first + ".");
        });
    }
    std::string to_text() const {
        std::string text;
        for (const auto& [path, value] : values) append_text(text, concat(path, '=', value, ' '));
        return text;
    }
};

// req: D6
TEST_F(PropertiesText, random_layers_are_merged_as_a_map_of_paths_is) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    for (int round = 0; round < 60; ++round) {
        Layers layers{random, {}};
        std::vector<std::string> expected;
        const std::uint32_t depth = 1 + random.below(5);
        for (std::uint32_t i = 0; i < depth; ++i) {
            const std::string mapping = layers.random_mapping("", 0, i > 0);
            const std::string head = i == 0 ? std::string("components")
                                            : concat("prefab = \"p", round, '_', i - 1, "\"  modified_components");
            file(concat("p", round, '_', i, ".sjson"), concat(head, " = { properties = ", mapping, " }"));
            expected.push_back(layers.to_text());
        }
        std::string level = "entities = {";
        for (std::uint32_t i = 0; i < depth; ++i)
            append_text(level, concat(" e", i, " = { prefab = \"p", round, '_', i, "\" }"));
        options.name = concat("level", round);
        spawn_source(level + " }");
        ASSERT_FALSE(HasFailure());
        for (std::uint32_t i = 0; i < depth; ++i) ASSERT_EQ(values(i), expected[i]) << round << " layer " << i;
    }
}

}  // namespace
}  // namespace shoal_test
