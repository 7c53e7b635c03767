// Scripts in a world. These tests are compiled twice, with LuaJIT and with Lua 5.4.

#include "script_world.h"

#include "shoal/base/log.h"

#include <cstring>
#include <fstream>

namespace shoal {
namespace {

constexpr std::string_view kTurn = R"lua(
shoal.pass{name = "turn", query = "&wheel", columns = {"wheel.angle", "wheel.speed"},
           run = function(frame, batch, angle, speed)
               for i = 0, batch.count - 1 do angle[i] = angle[i] + speed[i] * frame.dt end
           end}
)lua";

Status play(World& world, const std::string& path) {
    // [scripts]
    Scripts scripts(world);
    if (Status status = scripts.load(path); !status) return status;        // file, line, why, and a traceback
    world.step(0.5f);                                                      // passes of the script run, too
    if (Status status = scripts.reload("wheels"); !status) return status;  // the file was edited
    return scripts.run("shoal.log(#shoal.find('wheel'))", "console");
    // [scripts]
}

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

TEST(Scripts, entities_are_light_userdata_whose_spare_bits_are_a_tag) {  // req: A15
    ScriptWorld test;
    ASSERT_TRUE(test.run("e = shoal.create() assert(type(e) == 'userdata' and e ~= shoal.create())"));
    ASSERT_TRUE(test.run("shoal.add(e, 'wheel', {speed = 2.5}) assert(shoal.has(e, 'wheel'))"));
    ASSERT_TRUE(test.run("assert(shoal.get(e, 'wheel.speed') == 2.5 and shoal.get(e, 'wheel').angle == 0)"));
    ASSERT_TRUE(test.run("shoal.set(e, 'wheel.angle', 7) shoal.remove(e, 'wheel') assert(not shoal.has(e, 'wheel'))"));
    ASSERT_TRUE(test.run("assert(shoal.destroy(e) and not shoal.destroy(e) and not shoal.alive(e))"));
    EXPECT_NE(test.error_of("shoal.add(e, 'wheel')").find("is dead; ask shoal.alive() before"), std::string::npos);
    EXPECT_NE(test.error_of("shoal.get(e, 'wheel.angle')"), "");
}

TEST(Scripts, wrong_arguments_get_messages_that_say_what_to_do) {
    ScriptWorld test;
    test.make_wheels(1);
    ASSERT_TRUE(test.run("e = shoal.find('wheel')[1]"));
    const char* const cases[][2] = {
        {"shoal.get(5, 'wheel.angle')", "test:1: argument 1 is an entity, not a number"},
        {"shoal.get(e)", "argument 2 is the path of a field, a text, not missing"},
        {"shoal.get(e, 'wheel.angel')", "did you mean \"angle\"?"},
        {"shoal.add(e, 'weel')", "no store keeps a component \"weel\"; did you mean \"wheel\"?"},
        {"shoal.add(e, 'wheel', {angle = 'x'})", "\"angle\" is a float"},
        {"shoal.add(e, 'wheel', {1})", "gets its fields by name: {field = value}"},
        {"shoal.set(e, 'wheel.angle')", "argument 3 is the value of \"wheel.angle\"; it is missing"},
        {"shoal.query('&wheel, aslep')", "no store keeps a component \"aslep\""},
        {"shoal.query('&wheel', {'wheel'})", "column \"wheel\" names no field; write component.field"},
        {"shoal.query('&wheel', {'wheel.x'})", "has no field \"x\""},
        {"shoal.pass{name = 'a'}", "\"run\" is missing"},
        {"shoal.pass{name = 'a', query = '&wheel', run = 5}", "\"run\" is missing"},
        {"shoal.pass{name = 'a', after = 5, run = print}", "\"after\" is a list of texts, not a number"},
        {"shoal.component{name = 'x', fields = {{'a', 'flaot'}}}", "there is no type \"flaot\""},
        {"shoal.on_change('wheel.x', print)", "has no field \"x\""},
        {"shoal.spawn('components = {}')", "this program spawns compiled resources only"},
        {"shoal.spawn('\\0\\0\\0\\0')", ""},
    };
    for (const auto& [text, message] : cases) {
        const std::string error = test.error_of(text);
        EXPECT_NE(error, "") << text;
        EXPECT_NE(error.find(message), std::string::npos) << text << "\n" << error;
    }
}

TEST(Scripts, a_failing_pass_is_reported_once_and_the_world_goes_on) {
    ScriptWorld test;
    const std::vector<Entity> wheels = test.make_wheels(3);
    ASSERT_TRUE(test.run(kTurn));
    ASSERT_TRUE(
        test.run("shoal.pass{name = 'bad', query = 'wheel', before = 'turn', run = function() local x = nil + 1 end}"));
    std::vector<std::string> lines;
    set_log_hook([](void* to, LogLevel,
                    std::string_view text) { static_cast<std::vector<std::string>*>(to)->emplace_back(text); },
                 &lines);
    for (int i = 0; i < 3; ++i) test.world.step(1);
    set_log_hook(nullptr, nullptr);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("pass \"bad\" of script \"test\": test:1: attempt to perform arithmetic on a nil value"),
              std::string::npos);
    EXPECT_NE(lines[0].find("stack traceback:"), std::string::npos);
    EXPECT_EQ(test.scripts.num_failures(), 3u);
    EXPECT_EQ(test.angle(wheels[2]), 6);
}

TEST(Scripts, in_passes_changes_are_commands) {
    ScriptWorld test;
    test.make_wheels(4);
    ASSERT_TRUE(test.run(R"lua(
shoal.pass{name = "breed", query = "wheel", columns = {"wheel.speed"}, run = function(frame, batch, speed)
    for i = 0, batch.count - 1 do
        if speed[i] == 0 then shoal.destroy(batch.entities[i]) end
        if speed[i] == 3 then
            local made = shoal.create{wheel = {speed = 30}}
            assert(not shoal.alive(made))
            shoal.tag(made, "young")
        end
    end
end})lua"));
    test.world.step(1);
    EXPECT_EQ(test.scripts.num_failures(), 0u) << test.scripts.last_failure().message();
    EXPECT_TRUE(test.run(
        "local made = shoal.find('wheel, #young') assert(#made == 1 and shoal.get(made[1], 'wheel.speed') == 30)"));
    EXPECT_EQ(test.world.manager<Wheel>().num_rows(), 4u);
}

TEST(Scripts, a_pass_touches_only_what_it_declares) {
    ScriptWorld test;
    test.make_wheels(1);
    ASSERT_TRUE(
        test.run("shoal.component{name = 'lamp', fields = {{'light', 'float', default = 2}}}"
                 "e = shoal.find('wheel')[1] shoal.add(e, 'lamp')"
                 "shoal.pass{name = 'peek', query = 'wheel', run = function() seen = shoal.get(e, 'lamp.light') end}"));
    test.world.step(1);
    EXPECT_NE(test.scripts.last_failure().message().find(
                  "pass \"peek\" does not declare that it reads \"lamp\"; add reads = {\"lamp\"} to it"),
              std::string_view::npos)
        << test.scripts.last_failure().message();
    ASSERT_TRUE(
        test.run("shoal.remove_pass('peek') shoal.pass{name = 'peek', query = 'wheel', reads = 'lamp',"
                 "run = function() seen = shoal.get(e, 'lamp.light') end}"));
    test.world.step(1);
    EXPECT_TRUE(test.run("assert(seen == 2)"));
}

TEST(Scripts, events_reach_later_passes_and_reactions_tell_what_was) {
    ScriptWorld test;
    test.make_wheels(3);
    ASSERT_TRUE(test.run(R"lua(
added, removed, changed, heard = 0, 0, 0, 0
shoal.on_add("wheel", function(list) added = added + #list end)
shoal.on_remove("wheel", function(list, before) removed = removed + before(1).speed end)
shoal.on_change("wheel.angle", function(list, before) changed = changed + #list kept = before end)
hits = shoal.events{name = "hits", fields = {{"who", "entity"}, {"force", "float"}}}
shoal.pass{name = "tell", query = "wheel", writes_to = "hits", run = function(frame, batch)
    for i = 0, batch.count - 1 do hits:write{who = batch.entities[i], force = i} end
end}
shoal.pass{name = "hear", reads_from = {"hits"}, run = function()
    for _, hit in ipairs(hits:read()) do assert(shoal.alive(hit.who)) heard = heard + hit.force end
end}
shoal.pass{name = "deaf", query = "wheel", run = function() hits:read() end}
)lua"));
    test.world.step(1);
    EXPECT_NE(test.scripts.last_failure().message().find("does not declare the channel; add reads_from = {\"hits\"}"),
              std::string_view::npos);
    ASSERT_TRUE(
        test.run("assert(heard == 3) w = shoal.find('wheel') shoal.set(w[1], 'wheel.angle', 1) shoal.destroy(w[3]) "
                 "shoal.create{wheel = {}}"));
    test.world.settle();
    EXPECT_TRUE(test.run("assert(added == 1 and removed == 2 and changed == 1)"));
    EXPECT_NE(test.error_of("kept(1)").find("the reaction has ended"), std::string::npos);
}

TEST(Scripts, vectors_are_columns_by_part_in_any_layout) {
    ScriptWorld test;
    for (const char* layout : {"", ", split = true"}) {
        const std::string text =
            std::string("shoal.component{name = 'body', fields = {{'place', 'vec3'") + layout +
            "}, {'load', 'float', length = 2}, {'kind', 'string_id'}, {'other', 'entity'}}} "
            "e = shoal.create{body = {place = {1, 2, 3}, load = {4, 5}, kind = 'box'}} "
            "shoal.query('&body', {'body.place', 'body.load', 'body.kind', 'body.other'}):each("
            "function(batch, place, load, kind, other) "
            "assert(place.x[0] == 1 and place.z[0] == 3 and load[2][0] == 5 and kind[0] == 'box') "
            "place.y[0] = 20 load[1][0] = 40 other[0] = e end) "
            "local x, y, z = shoal.get(e, 'body.place') assert(x == 1 and y == 20 and z == 3) "
            "assert(shoal.get(e, 'body.load')[1] == 40 and shoal.get(e, 'body.other') == e) "
            "shoal.set(e, 'body.place', 7, 8, 9) assert(shoal.get(e, 'body').place.z == 9) shoal.destroy(e)";
        EXPECT_TRUE(test.scripts.run(text, layout[0] == 0 ? "a" : "b").ok()) << test.scripts.run(text, "c").message();
        ASSERT_TRUE(test.scripts.unload(layout[0] == 0 ? "a" : "b").ok());
    }
}

TEST(Scripts, whole_columns_are_computed_as_loops_compute_them) {
    ScriptWorld test;
    const std::vector<Entity> wheels = test.make_wheels(1000);
    ASSERT_TRUE(
        test.run("shoal.query('&wheel', {'wheel.angle', 'wheel.speed'}):each(function(batch, a, s) "
                 "a:fill(1) a:add(s, 0.5) a:mul(2) a:add(a) a:add(3) assert(#a == batch.count) "
                 "assert(s:max() >= s:min() and s:sum() > 0) end)"));
    for (std::size_t i = 0; i < wheels.size(); ++i) EXPECT_EQ(test.angle(wheels[i]), 4 + 2 * static_cast<float>(i) + 3);
}

TEST(Scripts, random_numbers_of_a_pass_are_the_same_in_every_run) {
    std::string first;
    for (int i = 0; i < 2; ++i) {
        ScriptWorld test;
        ASSERT_TRUE(
            test.run("list = {} shoal.pass{name = 'draw', run = function() list[#list + 1] = shoal.random(1000) end}"));
        for (int k = 0; k < 5; ++k) test.world.step(1);
        ASSERT_TRUE(test.run("assert(#list == 5) error(table.concat(list, ' '))") == false);
        const std::string numbers = test.error_of("error(table.concat(list, ' '))");
        EXPECT_TRUE(i == 0 || numbers == first);
        first = numbers;
    }
}

// --- loading -----------------------------------------------------------------------------------------------------

class ScriptFiles : public testing::Test {
protected:
    void write(std::string_view text) { std::ofstream(path, std::ios::binary) << text; }
    const std::string path = testing::TempDir() + "wheels.lua";
    ScriptWorld test;
};

TEST_F(ScriptFiles, run_beside_the_program_that_loads_them) {
    const std::vector<Entity> wheels = test.make_wheels(3);
    write(kTurn);
    const Status status = play(test.world, path);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(test.angle(wheels[2]), 1);
    EXPECT_EQ(test.world.schedule().num_passes(), 0u);
}

TEST_F(ScriptFiles, a_load_that_fails_leaves_nothing) {
    write(
        "shoal.create{wheel = {}} shoal.component{name = 'lamp', fields = {{'a', 'float'}}} "
        "shoal.pass{name = 'p', query = 'lamp', run = print} shoal.on_add('wheel', print)\nerror('no')");
    const Status status = test.scripts.load(path);
    EXPECT_NE(status.message().find("wheels.lua:2: no"), std::string_view::npos) << status.message();
    EXPECT_NE(status.message().find("stack traceback:"), std::string_view::npos);
    EXPECT_EQ(test.scripts.num_scripts(), 0u);
    EXPECT_EQ(test.world.schedule().num_passes(), 0u);
    EXPECT_EQ(test.entities.num_alive(), 0u);
    EXPECT_EQ(test.world.find_store(ComponentId("lamp")), nullptr);
    write("x = = 1");
    EXPECT_NE(test.scripts.load(path).message().find("wheels.lua:1:"), std::string_view::npos);
    EXPECT_FALSE(test.scripts.load(path + "x").ok());
}

TEST_F(ScriptFiles, a_reload_exchanges_passes_and_keeps_what_a_faulty_version_would_lose) {
    const std::vector<Entity> wheels = test.make_wheels(2);
    const auto version = [](std::string_view number) {
        return "keep.loads = (keep.loads or 0) + 1 "
               "shoal.pass{name = 'turn', query = '&wheel', columns = 'wheel.angle', run = function(f, b, a) a:fill(" +
               std::string(number) + " + keep.loads / 10) end}";
    };
    write(version("1"));
    ASSERT_TRUE(test.scripts.load(path).ok());
    test.world.step(1);
    EXPECT_FLOAT_EQ(test.angle(wheels[0]), 1.1f);
    write(version("2"));
    ASSERT_TRUE(test.scripts.reload("wheels").ok());
    test.world.step(1);
    EXPECT_FLOAT_EQ(test.angle(wheels[0]), 2.2f);
    for (const char* faulty : {"x = = 1", "error('no')", "shoal.pass{name = 'turn', run = print} error('no')"}) {
        write(faulty);
        const Status status = test.scripts.reload("wheels");
        EXPECT_FALSE(status.ok());
        test.world.step(1);
        EXPECT_FLOAT_EQ(test.angle(wheels[0]), 2.2f) << faulty;
    }
    ASSERT_TRUE(test.scripts.unload("wheels").ok());
    EXPECT_EQ(test.world.schedule().num_passes(), 0u);
    EXPECT_FALSE(test.scripts.unload("wheels").ok());
    EXPECT_FALSE(test.scripts.reload("wheels").ok());
}

TEST_F(ScriptFiles, rows_keep_what_fits_when_a_reload_gives_a_component_type_other_fields) {
    write(
        "shoal.component{name = 'lamp', fields = {{'light', 'float'}}} "
        "shoal.pass{name = 'dim', query = '&lamp', columns = 'lamp.light', run = function(f, b, l) l:mul(0.5) end}");
    ASSERT_TRUE(test.scripts.load(path).ok());
    ASSERT_TRUE(test.run("e = shoal.create{lamp = {light = 8}}"));
    test.world.step(1);
    write(
        "shoal.component{name = 'lamp', version = 2, fields = {{'colour', 'vec3'}, {'light', 'float'}}} "
        "shoal.pass{name = 'dim', query = '&lamp', columns = 'lamp.light', run = function(f, b, l) l:mul(0.5) end}");
    const Status status = test.scripts.reload("wheels");
    ASSERT_TRUE(status.ok()) << status.message();
    test.world.step(1);
    EXPECT_TRUE(test.run("assert(shoal.get(e, 'lamp.light') == 2 and shoal.get(e, 'lamp.colour') == 0)"));
}

// --- stores ------------------------------------------------------------------------------------------------------

constexpr std::string_view kStore = R"lua(
local rows = {}
settles = 0
shoal.store{
    component = {name = "glow", fields = {{"kelvin", "float", default = 2700}, {"source", "entity"}}},
    add = function(entity, values) assert(values.kelvin >= 0, "a glow is not colder than 0 K") rows[entity] = values end,
    remove = function(entity) rows[entity] = nil end,
    get = function(entity) return rows[entity] end,
    settle = function() settles = settles + 1 end,
}
function count() local n = 0 for _ in pairs(rows) do n = n + 1 end return n end
)lua";

TEST_F(ScriptFiles, a_store_in_lua_takes_part_in_a_world) {  // req: G6
    write(kStore);
    ASSERT_TRUE(test.scripts.load(path).ok());
    ASSERT_TRUE(
        test.run("e = shoal.create{glow = {kelvin = 5400}} other = shoal.create{glow = {source = e}} "
                 "assert(shoal.has(e, 'glow') and shoal.get(other, 'glow').source == e and shoal.get(other, "
                 "'glow').kelvin == 2700)"));
    EXPECT_NE(test.error_of("shoal.create{glow = {kelvin = -1}}").find("colder than 0 K"), std::string::npos);
    StoreStatistics statistics;
    Store* const store = test.world.find_store(ComponentId("glow"));
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->statistics({&statistics, 1}), 1u);
    EXPECT_EQ(statistics.num_rows, 2u);
    ASSERT_TRUE(test.run("shoal.destroy(e)"));
    test.world.settle();
    EXPECT_EQ(test.world.settle_statistics().last.num_removed, 1u);
    ASSERT_TRUE(test.scripts.run("assert(count() == 1 and settles == 1)", "wheels").ok());
    const Status reloaded = test.scripts.reload("wheels");  // the rows go to the new version
    ASSERT_TRUE(reloaded.ok()) << reloaded.message();
    ASSERT_TRUE(test.scripts.run("assert(count() == 1)", "wheels").ok());
    ASSERT_TRUE(test.run("shoal.remove(other, 'glow') assert(not shoal.has(other, 'glow'))"));
    write("error('no')");
    EXPECT_FALSE(test.scripts.reload("wheels").ok());
    EXPECT_TRUE(test.run("shoal.add(other, 'glow') assert(shoal.has(other, 'glow'))"));
    ASSERT_TRUE(test.scripts.unload("wheels").ok());
    EXPECT_EQ(test.world.find_store(ComponentId("glow")), nullptr);
}

TEST_F(ScriptFiles, a_store_in_lua_that_refuses_one_of_many_keeps_what_it_had) {
    write(kStore);
    ASSERT_TRUE(test.scripts.load(path).ok());
    std::vector<Entity> both(2);
    ASSERT_TRUE(test.entities.create(both));
    Store* const store = test.world.find_store(ComponentId("glow"));
    ASSERT_NE(store, nullptr);
    const Schema& schema = *store->schemas()[0];
    ASSERT_TRUE(store->add_values(schema, std::span(both).first(1), {.images = schema.default_image().data()}));
    std::vector<std::byte> images(2 * schema.struct_bytes());
    for (std::size_t i = 0; i < 2; ++i)
        std::memcpy(images.data() + i * schema.struct_bytes(), schema.default_image().data(), schema.struct_bytes());
    const float cold = -1;
    for (const Field& field : schema.fields())
        if (field.name == "kelvin") std::memcpy(images.data() + schema.struct_bytes() + field.struct_offset, &cold, 4);
    EXPECT_FALSE(store->add_values(schema, both, {.images = images.data(), .stride = schema.struct_bytes()}));
    EXPECT_TRUE(test.scripts.run("assert(count() == 1)", "wheels").ok());
}

TEST(Scripts, component_types_get_no_other_fields_while_a_reaction_runs) {
    ScriptWorld test;
    test.make_wheels(1);
    ASSERT_TRUE(
        test.run("shoal.component{name = 'rim', fields = {{'width', 'float'}}} shoal.on_remove('wheel', function() "
                 "shoal.component{name = 'rim', fields = {{'depth', 'float'}}} end) "
                 "for _, e in ipairs(shoal.find('wheel')) do shoal.remove(e, 'wheel') end"));
    test.world.settle();
    EXPECT_EQ(test.scripts.num_failures(), 1u);
    EXPECT_NE(test.scripts.last_failure().message().find("while a reaction runs"), std::string::npos)
        << test.scripts.last_failure().message();
}

TEST_F(ScriptFiles, commands_reach_a_store_in_lua) {  // req: G6
    test.make_wheels(3);
    write(std::string(kStore) +
          "shoal.pass{name = 'light', query = 'wheel', run = function(f, batch) "
          "for i = 0, batch.count - 1 do shoal.add(batch.entities[i], 'glow', {kelvin = i}) end end}");
    ASSERT_TRUE(test.scripts.load(path).ok());
    test.world.step(1);
    EXPECT_EQ(test.scripts.num_failures(), 0u) << test.scripts.last_failure().message();
    EXPECT_TRUE(
        test.run("for _, e in ipairs(shoal.find('wheel')) do assert(shoal.get(e, 'glow').kelvin == shoal.get(e, "
                 "'wheel.speed')) end"));
}

}  // namespace
}  // namespace shoal
