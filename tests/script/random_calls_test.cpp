// Scripts call every function with arguments at random. Nothing but errors may come of it.

#include "script_world.h"

#include "shoal/base/log.h"
#include "support/testing.h"

namespace shoal {
namespace {

constexpr std::string_view kRandomCalls = R"lua(
local steps = ...
local values = {}
local function keep(...)
    for i = 1, select("#", ...) do values[shoal.random(200)] = (select(i, ...)) end
end
local texts = {"wheel", "wheel.angle", "&wheel", "wheel, !lamp", "lamp", "lamp.place", "lamp.name", "x", "", "angle", "^wheel",
               "$sun", "sun", "#young", "child_of", "child_of.parent", "transform", "transform.position", "%a*", "(x", "wheel.angle < 3",
               "hits", "keep", "glow", "&glow", "glow.kelvin", "glow.who", "glow.kelvin > 3, wheel", "properties", "properties.x", "debug_name", "tag", "model_pose", "\0\1", ("x"):rep(300), "turn", "owned.owner"}
local function number()
    local kind = shoal.random(6)
    if kind == 1 then return shoal.random(20) end
    if kind == 2 then return -shoal.random(20) end
    if kind == 3 then return shoal.random() * 1e300 end
    if kind == 4 then return 0/0 end
    if kind == 5 then return shoal.random(2^31) end
    return shoal.random() * 10
end
local function text() return texts[shoal.random(#texts)] end
local function anything(depth)
    local kind = shoal.random(12)
    if kind == 1 then return nil end
    if kind == 2 then return shoal.random() < 0.5 end
    if kind <= 4 then return number() end
    if kind <= 6 then return text() end
    if kind == 7 and depth < 3 then
        local made = {}
        for i = 1, shoal.random(4) do made[i] = anything(depth + 1) end
        for _, name in ipairs{"name", "fields", "query", "columns", "angle", "speed", "place", "who", "component", "wheel", "lamp", "glow", "kelvin", "compile", "keys"} do
            if shoal.random() < 0.2 then made[name] = anything(depth + 1) end
        end
        return made
    end
    if kind == 8 then return function(...) keep(...) end end
    return values[shoal.random(200)]
end
local names = {}
for name, value in pairs(shoal) do names[#names + 1] = name end
table.sort(names)
glow = {}
local depth = 0
local function call()
    local kind = shoal.random(10)
    local target = values[shoal.random(200)]
    if kind <= 2 and target ~= nil then
        if shoal.random() < 0.5 then keep(target[shoal.random() < 0.5 and anything(0) or number()])
        else target[number()] = anything(0) end
        return
    end
    if kind == 3 and target ~= nil then
        local member = ({"fill", "add", "mul", "sum", "min", "max", "copy", "each", "count", "entities", "write", "read", "read_last"})
        keep(target[member[shoal.random(#member)]](target, anything(0), anything(0)))
        return
    end
    if kind == 4 then keep(string[({"find", "match", "gsub", "rep", "gmatch"})[shoal.random(5)]](text(), anything(0), anything(0), anything(0))) return end
    if kind == 5 then keep(shoal.find(text())) return end
    local name = names[shoal.random(#names)]
    if name ~= "pass" or shoal.random() < 0.01 then keep(shoal[name](anything(0), anything(0), anything(0), anything(0))) end
end
function one() -- also of functions of the store, which call it, too
    if depth > 3 then return end
    depth = depth + 1
    pcall(call)
    depth = depth - 1
end
for i = 1, 5 do values[i] = shoal.create{wheel = {speed = i}, lamp = {}} end
values[6] = shoal.query("&wheel, &lamp", {"wheel.angle", "lamp.place", "lamp.name", "lamp.who", "lamp.flag"})
shoal.store{
    component = {name = "glow", fields = {{"kelvin", "float", default = 2700}, {"who", "entity"}}},
    add = function(entity, given) one() glow[entity] = given end,
    remove = function(entity) glow[entity] = nil one() end,
    get = function(entity) one() return glow[entity] end,
    set = function(entity, given) one() glow[entity] = given end,
    settle = function() one() end,
}
for i = 1, 5 do pcall(shoal.add, values[i], "glow", {kelvin = i}) end
values[10] = shoal.query("&glow", {"glow.kelvin", "glow.who"})
values[7] = shoal.events{name = "hits", fields = {{"who", "entity"}, {"force", "double"}}}
calls = 0
function calls_for(count)
    for i = 1, count do
        one()
        calls = calls + 1
    end
end
shoal.pass{name = "inside", query = "&wheel", columns = {"wheel.angle"}, run = function(frame, batch, angle)
    values[8], values[9] = batch, angle
    calls_for(20)
end}
)lua";

TEST(RandomCalls, of_all_functions_end_with_errors_at_most) {
    SCOPED_TRACE(shoal_test::seed_text());
    set_log_hook([](void*, LogLevel, std::string_view) {}, nullptr);
    // Of 250 calls: a quarter of a million where memory is watched, and a million where everything is tried.
    const int num_rounds = shoal_test::tries_everything() ? 4000 : shoal_test::kSanitized ? 1000 : 400;
    EntityManager entities;
    World world(entities, {.seed = shoal_test::seed()});
    world.manager<Wheel>();
    Scripts scripts(world, {.memory_bytes = 16u << 20, .steps = 300'000});
    ASSERT_TRUE(
        scripts
            .run("shoal.component{name = 'lamp', fields = {{'place', 'vec3'}, {'name', 'string_id'}, {'who', 'entity'},"
                 "{'flag', 'bool'}, {'text', 'fixed_string', bytes = 8}}}",
                 "types")
            .ok());
    const Status begun = scripts.run(kRandomCalls, "calls");
    ASSERT_TRUE(begun.ok()) << begun.message();
    for (int i = 0; i < num_rounds; ++i) {
        static_cast<void>(scripts.run("calls_for(250)", "calls"));  // it may use up its budget, or its memory
        if (i % 16 == 0) world.step(0.1f);
        if (i % 64 == 63) {  // what it has made does not pile up
            ASSERT_TRUE(scripts.run("assert(calls > 12000, calls)", "calls").ok());
            ASSERT_TRUE(scripts.unload("calls").ok());
            Array<Entity> all{Owner("test")};
            for (const Entity wheel : world.manager<Wheel>().entities()) all.push_back(wheel);
            entities.destroy(all);
            world.settle();
            ASSERT_TRUE(scripts.run(kRandomCalls, "calls").ok());
        }
    }
    set_log_hook(nullptr, nullptr);
}

}  // namespace
}  // namespace shoal
