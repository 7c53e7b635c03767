// A Lua script adds a component type and a pass to a world, and another script prints the result. An error in a pass is
// reported with its line, and the world continues to run.
#include <shoal/script/scripts.h>
#include <shoal/world/world.h>

#include <shoal/base/log.h>

#include <algorithm>
#include <cstdio>

using namespace shoal;

constexpr std::string_view kWheels = R"lua(
shoal.component{name = "wheel", fields = {{"angle", "float"}, {"speed", "float", default = 1}}}
for i = 1, 1000 do shoal.create{wheel = {speed = i}} end
shoal.pass{name = "turn", query = "&wheel", columns = {"wheel.angle", "wheel.speed"},
           run = function(frame, batch, angle, speed)
               for i = 0, batch.count - 1 do angle[i] = angle[i] + speed[i] * frame.dt end
           end}
shoal.pass{name = "stop", query = "&wheel", columns = "wheel.speed", after = "turn",
           run = function(frame, batch, speed) speed[batch.count] = 0 end}
)lua";

constexpr std::string_view kConsole = R"lua(
local fast = shoal.find("wheel, wheel.angle > 1990")
shoal.log(#fast .. " wheels have turned far, the last to", shoal.get(fast[#fast], "wheel.angle"))
)lua";

int main() {
    set_log_hook(
        [](void*, LogLevel, std::string_view text) {
            std::printf("%.*s\n", int(std::min(text.find('\n'), text.size())), text.data());  // omits the traceback
        },
        nullptr);
    EntityManager entities;
    World world(entities);
    Scripts scripts(world);
    if (Status status = scripts.run(kWheels, "wheels"); !status) return std::puts(status.message().data()), 1;
    for (int i = 0; i < 4; ++i) world.step(0.5f);
    if (Status status = scripts.run(kConsole, "console"); !status) return std::puts(status.message().data()), 1;
    std::printf("%u failures\n", static_cast<unsigned>(scripts.num_failures()));
}
