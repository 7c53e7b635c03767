// Annotations for editors. The golden file is rewritten with SHOAL_WRITE_GOLDEN=1.

#include "script_world.h"

#include "shoal/script/detail/lua_types.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace shoal {

enum class Mood : std::uint8_t { calm, angry };
SHOAL_ENUM(Mood, calm, angry)

struct Beast {
    Vec3 place{};
    Mood mood = Mood::calm;
    Entity prey{};
    float weights[2] = {};
    double mass = 1;
};
SHOAL_COMPONENT((Beast, name("beast")), (place, unit("m")), mood, prey, weights, (mass, unit("kg")))

namespace {

TEST(LuaTypes, say_what_component_types_and_functions_there_are) {
    const Schema* const schemas[] = {&schema_of<Wheel>(), &schema_of<Beast>()};
    const std::string text = lua_types(schemas);
    const std::string path = std::string(SHOAL_SOURCE_DIR) + "/tests/script/golden/types.lua";
    if (std::getenv("SHOAL_WRITE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
    std::ostringstream golden;
    golden << std::ifstream(path, std::ios::binary).rdbuf();
    EXPECT_EQ(text, golden.str());
}

TEST(LuaTypes, name_every_function_that_scripts_have) {
    ScriptWorld test;
    ASSERT_TRUE(test.run("names = {} for name in pairs(shoal) do names[#names + 1] = name end table.sort(names)"));
    std::string names = test.error_of("error(table.concat(names, ' '), 0)");
    names = names.substr(0, names.find('\n'));
    const std::string text = lua_types({});
    std::istringstream list(names);
    int count = 0;
    for (std::string name; list >> name; ++count)
        EXPECT_NE(text.find("---@field " + name + " fun("), std::string::npos) << name;
    EXPECT_GT(count, 20);
}

TEST(LuaTypes, are_lua) {
    // [lua types]
    const Schema* const schemas[] = {&schema_of<Wheel>()};
    const std::string text = lua_types(schemas);  // a file beside the scripts, such as shoal.meta.lua
    // [lua types]
    ScriptWorld test;
    EXPECT_TRUE(test.run(text));
}

}  // namespace
}  // namespace shoal
