// Sources with words of older programs compile as if they had those of today, with a warning at each.

#include "shoal/components/properties.h"

#include "shoal/resource/detail/dump.h"
#include "support/source_fixture.h"

#include <string>

namespace shoal_test {
namespace {

class OldWords : public SourceTest {
protected:
    OldWords() { EXPECT_TRUE(add_properties(registry).ok()); }

    /// Returns what a blob has, without what it was compiled from.
    static std::string dump_of(std::span<const std::byte> blob) {
        const std::string text = dump_text(*Blob::load(blob));
        return text.substr(0, text.find("\ndependencies = "));
    }
};

TEST_F(OldWords, data_are_properties_and_the_warning_says_so_with_its_place) {
    const std::string tank = "components = { data = { armor = { front = 20  rear = 8 } } }\n";
    const std::string convoy =
        "entities = {\n"
        "    a = { prefab = \"tank\"  modified_components = { data = { armor = { front = 30 } } } }\n"
        "    b = { components = [ { _type = \"data\"  data = { crew = 4 } } ] }\n"
        "    c = { prefab = \"tank\"  deleted_components = [ \"data\" ] }\n"
        "}\n";
    file("tank.sjson", tank);
    file("x.sjson", convoy);
    const Result<CompiledSource> old = compiled("x.sjson");
    ASSERT_TRUE(old.ok()) << diagnostics.format();
    const std::string says =
        ": warning: the component type \"data\" is called \"properties\" now; write `properties`\n";
    std::string found = diagnostics.format();
    for (const char* place : {"tank.sjson:1:16", "x.sjson:2:52", "x.sjson:3:36", "x.sjson:4:51"})
        EXPECT_NE(found.find(concat(place, says)), std::string::npos) << place << "\n" << found;
    EXPECT_EQ(diagnostics.num_warnings(), 4u) << found;

    const auto with_words_of_today = [](std::string text) {
        for (std::size_t at = text.find("data"); at != std::string::npos; at = text.find("data", at + 1))
            if (text.compare(at, 11, "data = { cr") != 0) text.replace(at, 4, "properties");
        return text;
    };
    file("tank.sjson", with_words_of_today(tank));
    file("x.sjson", with_words_of_today(convoy));
    const Result<CompiledSource> now = compiled("x.sjson");
    ASSERT_TRUE(now.ok()) << diagnostics.format();
    EXPECT_EQ(diagnostics.num_warnings(), 4u) << "no more of them";
    EXPECT_EQ(dump_of(old->blob), dump_of(now->blob));
    schema("components = { lamp = { fields = { crew = float } } }");
    file("keyed.sjson", "components = { data = { _type = \"lamp\"  data = { crew = 4 } } }");
    file("z.sjson", "prefab = \"keyed\"  modified_components = { data = { data = { crew = 5 } } }");
    ASSERT_TRUE(compiled("z.sjson").ok()) << diagnostics.format();
    EXPECT_EQ(diagnostics.num_warnings(), 4u) << "a component of another type may have that key";
    schema("components = { data = { fields = { crew = float } } }");
    file("y.sjson", "components = { data = { crew = 4 } }");
    const Result<CompiledSource> own = compiled("y.sjson");
    ASSERT_TRUE(own.ok()) << diagnostics.format();
    EXPECT_EQ(diagnostics.num_warnings(), 4u) << "a type of the program of that name is meant";
    EXPECT_NE(Blob::load(own->blob)->find_components(ComponentId("data")), nullptr);
}

}  // namespace
}  // namespace shoal_test
