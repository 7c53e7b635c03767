// Where the values of entities come from: the texts that declare their components, and those that change them.

#include "shoal/source/detail/origins.h"

#include "shoal/base/string_id.h"
#include "support/source_fixture.h"

namespace {

using Origins = shoal_test::SourceTest;
using namespace shoal;

std::string text_of(const std::vector<LayerOrigin>& origins) {
    std::string text;
    for (const LayerOrigin& origin : origins) {
        text += concat(origin.file, ':', origin.line, origin.declares ? " " : " changes ", origin.component);
        for (const std::string& field : origin.fields) text += ' ' + field;
        text += '\n';
    }
    return text;
}

TEST_F(Origins, each_text_that_says_something_of_an_entity_is_named_from_the_prefab_to_the_level) {
    file("reef.sjson",
         "entities = {\n"
         "  a = { prefab = \"patch\"\n"
         "        modified_components = {\n"
         "          body = { mass = 3 } }\n"
         "        components = { tag = \"big\" }\n"
         "        modified_children = { left = { modified_components = { body = { place = 2 } } } } }\n"
         "  b = { prefab = \"patch\" } }\n");
    file("patch.sjson",
         "prefab = \"coral\"\n"
         "modified_components = { body = { mass = 2\n"
         " size = 4 } }\n"
         "children = { left = { prefab = \"coral\" } }\n");
    file("coral.sjson", "components = {\n  body = { mass = 1  place = 1 } }\n");
    const std::optional<Composition> composition = composed("reef.sjson");
    ASSERT_TRUE(composition) << diagnostics.format();
    const auto origins = [&](const std::string& path) {
        return text_of(layer_origins(*composition, diagnostics, hash_bytes(path.data(), path.size())));
    };
    EXPECT_EQ(origins("a"),
              "coral.sjson:2 body mass place\n"
              "patch.sjson:2 changes body mass size\n"
              "reef.sjson:4 changes body mass\n"
              "reef.sjson:5 tag\n");
    EXPECT_EQ(origins("a/left"), "coral.sjson:2 body mass place\nreef.sjson:6 changes body place\n");
    EXPECT_EQ(origins("b"), "coral.sjson:2 body mass place\npatch.sjson:2 changes body mass size\n");
    EXPECT_EQ(origins("c"), "");
    file("wrapped.sjson",
         "entities = { w = { components = [\n"
         "  { _guid = \"c1\" _type = \"body\" data = { type = \"round\" } }\n"
         "  { _guid = \"c2\" _type = \"tag\" text = \"big\" } ] } }\n");
    const std::optional<Composition> wrapped = composed("wrapped.sjson");
    ASSERT_TRUE(wrapped) << diagnostics.format();
    EXPECT_EQ(text_of(layer_origins(*wrapped, diagnostics, hash_bytes("w", 1))),
              "wrapped.sjson:2 body type\nwrapped.sjson:3 tag text\n");

    options.compose.components_in_files = {"body"};
    file("heavy.sjson", "\nmass = 9\nplace = 8\n");
    file("light.sjson", "\n\nmass = 1\n");
    file("apart.sjson",
         "entities = {\n"
         "  f = { components = { body = \"heavy\" } }\n"
         "  g = { prefab = \"coral\"\n"
         "        modified_components = { body = \"light\" } } }\n");
    const std::optional<Composition> apart = composed("apart.sjson");
    ASSERT_TRUE(apart) << diagnostics.format();
    EXPECT_EQ(text_of(layer_origins(*apart, diagnostics, hash_bytes("f", 1))), "heavy.sjson:2 body mass place\n");
    EXPECT_EQ(text_of(layer_origins(*apart, diagnostics, hash_bytes("g", 1))),
              "coral.sjson:2 body mass place\nlight.sjson:3 changes body mass\n");

    std::string printed;
    const std::uint64_t guid = hash_bytes("b", 1);
    const auto print = [&](const std::string& path, std::uint32_t line, const std::string& component, auto& fields) {
        printed += concat(path, ':', line, ' ', component, ' ', fields.size(), '\n');
    };
    // [source/origins]
    for (const LayerOrigin& origin : layer_origins(*composition, diagnostics, guid))
        print(origin.file, origin.line, origin.component, origin.fields);
    // [source/origins]
    EXPECT_EQ(printed, "coral.sjson:2 body 2\npatch.sjson:2 body 2\n");
}

}  // namespace
