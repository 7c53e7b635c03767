// Scripts in a world. These tests are compiled twice, with LuaJIT and with Lua 5.4.

#include "script_world.h"

#include "shoal/base/random.h"

#include <cmath>
#include <fstream>

namespace shoal {
namespace {

constexpr std::string_view kTurn = R"lua(
shoal.pass{name = "turn", query = "&wheel", columns = {"wheel.angle", "wheel.speed"},
           run = function(frame, batch, angle, speed)
               for i = 0, batch.count - 1 do angle[i] = angle[i] + speed[i] * frame.dt end
           end}
)lua";

TEST(Scripts, a_pass_writes_columns_as_a_pass_in_cpp_does) {
    ScriptWorld test;
    const std::vector<Entity> wheels = test.make_wheels(1000);
    ASSERT_TRUE(test.run(kTurn));
    for (int i = 0; i < 3; ++i) test.world.step(0.5f);
    EXPECT_EQ(test.scripts.num_failures(), 0u) << test.scripts.last_failure().message();
    for (std::size_t i = 0; i < wheels.size(); ++i) EXPECT_EQ(test.angle(wheels[i]), 1.5f * static_cast<float>(i)) << i;
}

TEST(Scripts, alive_is_right_for_living_dead_and_other_values) {  // req: A10 A11
    ScriptWorld test;
    const std::vector<Entity> wheels = test.make_wheels(2);
    ASSERT_TRUE(
        test.run("a, b = (unpack or table.unpack)(shoal.find('wheel')) assert(shoal.alive(a) and shoal.alive(b))"));
    test.entities.destroy(wheels[0]);
    test.world.settle();
    EXPECT_TRUE(test.run("assert(not shoal.alive(a) and shoal.alive(b))"));
    EXPECT_TRUE(
        test.run("assert(not shoal.alive(nil) and not shoal.alive(5) and not shoal.alive({}) and not shoal.alive())"));
    EXPECT_TRUE(test.run("assert(tostring(b):find('entity %d+:%d+') and b == shoal.find('wheel')[1] and a ~= b)"));
}

}  // namespace
}  // namespace shoal
