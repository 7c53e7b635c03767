// Scripts in a world. These tests are compiled twice, with LuaJIT and with Lua 5.4.

#include "script_world.h"

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/string_table.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/reload/reloader.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/source/compiler.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/table.h"
#include "shoal/transform/transform.h"
#include "shoal/world/detail/named_components.h"
#include "support/logged.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <vector>

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

struct Mind {
    StringId state;
};
SHOAL_COMPONENT((Mind, name("mind")), state)

TEST(Scripts, a_pass_reads_the_texts_that_it_writes_and_the_world_keeps_them_while_rows_have_them) {
    ScriptWorld test;
    auto& minds = test.world.manager<Mind>();
    ASSERT_TRUE(minds.add(test.entities.create().value(), {}).ok());
    ASSERT_TRUE(test.run(R"lua(
        num_frames = 0
        shoal.pass{name = "think", query = "&mind", columns = {"mind.state"}, run = function(frame, batch, state)
            num_frames = num_frames + 1
            local before, now = 'busy ' .. num_frames - 1, 'busy ' .. num_frames
            assert(state[0] == (num_frames == 1 and '' or before), state[0])
            state[0] = now
            assert(state[0] == now, state[0])
        end}
    )lua"));
    std::size_t most = 0;
    for (int frame = 1; frame <= 2500; ++frame) {
        test.world.step(0.1f);
        most = std::max(most, test.world.strings().size());
    }
    EXPECT_EQ(test.scripts.num_failures(), 0u) << test.scripts.last_failure().message();
    EXPECT_EQ(test.world.strings().text(minds.get<&Mind::state>(Instance{0})), "busy 2500");
    EXPECT_LT(most, 1100u);
}

TEST(Scripts, a_text_that_a_script_writes_is_kept_though_it_was_found_unused_before) {
    ScriptWorld test;
    auto& minds = test.world.manager<Mind>();
    ASSERT_TRUE(minds.add(test.entities.create().value(), {}).ok());
    ASSERT_TRUE(test.world.strings().intern_until_unused("again"));
    Snapshot state;
    ASSERT_TRUE(save(test.world, state));
    test.world.strings().collect(BitSet(Owner("test")));  // the text waits for the end of the state
    ASSERT_TRUE(test.run(R"lua(
        shoal.pass{name = "think", query = "&mind", columns = {"mind.state"}, run = function(frame, batch, state)
            state[0] = 'again'
        end}
    )lua"));
    test.world.step(0.1f);
    state.clear();
    test.world.settle();
    EXPECT_EQ(test.world.strings().text(minds.get<&Mind::state>(Instance{0})), "again");
}

TEST(Scripts, texts_that_a_script_writes_in_a_loop_outside_of_passes_are_saved) {
    ScriptWorld test, other;
    auto& minds = test.world.manager<Mind>();
    other.world.manager<Mind>();
    ASSERT_TRUE(minds.add(test.entities.create().value(), {}).ok());
    ASSERT_TRUE(test.run("shoal.query('&mind', 'mind.state'):each(function(batch, state) state[0] = 'new' end)"));
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(test.world, bytes));
    ASSERT_TRUE(load(other.world, bytes));
    EXPECT_EQ(other.world.strings().text(minds.get<&Mind::state>(Instance{0})), "new");
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

TEST(Scripts, a_key_that_means_nothing_is_an_error_that_names_the_one_that_is_close) {
    ScriptWorld test;
    test.make_wheels(1);
    const char* const cases[][2] = {
        {"shoal.pass{name = 'p', run = print, evry_frames = 2}",
         "pass \"p\": there is no key \"evry_frames\"; did you mean \"every_frames\"?"},
        {"shoal.pass{name = 'p', query = 'wheel', colums = 'wheel.angle', run = print}", "did you mean \"columns\"?"},
        {"shoal.pass{name = 'p', run = print, 5}", "a key is a number, not a text; there are name, run, query"},
        {"shoal.component{name = 'c', feilds = {{'x', 'float'}}}",
         "component \"c\": there is no key \"feilds\"; did you mean \"fields\"?"},
        {"shoal.component{name = 'c', toggled = true}",                         // the old word
         "component \"c\": the key \"toggled\" is called \"enableable\" now"},  // the old word
        {"shoal.component{name = 'c', single = true}",                          // the old word
         "component \"c\": the key \"single\" is called \"singleton\" now"},    // the old word
        {"shoal.component{name = 'c', fields = {{'x', 'float', defualt = 1}}}",
         "field \"x\": there is no key \"defualt\"; did you mean \"default\"?"},
        {"shoal.events{name = 'e', fields = {{'x', 'float'}}, many = true}", "there is no key \"many\""},
        {"shoal.store{component = {name = 's'}, ad = print}", "there is no key \"ad\"; did you mean \"add\"?"},
        {"shoal.query('wheel', {column = 'wheel.angle'})", "there is no key \"column\"; it is a list"},
    };
    for (const auto& one : cases) {
        const std::string error = test.error_of(one[0]);
        EXPECT_NE(error.find(one[1]), std::string::npos) << one[0] << "\n" << error;
    }
    EXPECT_FALSE(test.world.directory().find_kept(ComponentId("c")));
}

TEST(Scripts, a_store_keeps_one_component_for_an_entity_and_refuses_types_of_which_there_are_more_or_one_in_all) {
    ScriptWorld test;
    const std::string fields = "fields = {{'x', 'float'}}";
    for (const std::string mark : {"many", "enableable", "singleton"}) {
        const std::string error = test.error_of("shoal.store{component = {name = 's', " + mark + " = true, " + fields +
                                                "}, add = print, remove = print, get = print}");
        EXPECT_NE(error.find("take many, enableable and singleton away"), std::string::npos) << mark << "\n" << error;
        EXPECT_FALSE(test.world.directory().find_kept(ComponentId("s"))) << mark;
    }
    EXPECT_TRUE(
        test.run("shoal.store{component = {name = 's', " + fields + "}, add = print, remove = print, get = print}"));
}

TEST(Scripts, whole_numbers_of_64_bits_are_exact) {
    ScriptWorld test;
    if (Scripts::version() != "LuaJIT 2.1") GTEST_SKIP() << "Lua 5.4 has whole numbers of 64 bits, which are signed";
    ASSERT_TRUE(
        test.run("shoal.component{name = 'big', fields = {{'id', 'uint64'}, {'time', 'int64', default = -5}}}\n"
                 "e = shoal.create{big = {id = 18446744073709551615ULL, time = -9223372036854775807LL - 1}}"));
    const Entity entity =
        test.world.manager(*test.world.directory().find_kept(ComponentId("big")).schema).value()->table().entities()[0];
    EXPECT_EQ(test.world.get<std::uint64_t>(entity, "big.id").value(), ~std::uint64_t(0));
    EXPECT_EQ(test.world.get<std::int64_t>(entity, "big.time").value(), std::numeric_limits<std::int64_t>::min());
    EXPECT_TRUE(
        test.run("assert(shoal.get(e, 'big.id') == 18446744073709551615ULL and shoal.get(e, 'big').id > 2^63)\n"
                 "assert(shoal.get(e, 'big.time') == -9223372036854775807LL - 1)\n"
                 "for _, exact in ipairs{9007199254740993ULL, 9223372036854775808ULL, 1, 9007199254740992} do\n"
                 "shoal.set(e, 'big.id', exact) assert(shoal.get(e, 'big.id') == exact) end\n"
                 "shoal.set(e, 'big.time', 5) assert(type(shoal.get(e, 'big.time')) == 'number')\n"
                 "shoal.query('&big', {'big.id'}):each(function(batch, id) id[0] = 9223372036854775808ULL assert(id[0] "
                 "== 2^63)\n"
                 "id[0] = 9007199254740993ULL assert(id[0] == 9007199254740993ULL) end)"));
    EXPECT_NE(test.error_of("shoal.set(e, 'big.time', 18446744073709551615ULL)").find("18446744073709551615"),
              std::string::npos);
    EXPECT_NE(test.error_of("shoal.set(e, 'big.id', -1LL)").find("-1"), std::string::npos);
    EXPECT_NE(test.error_of("shoal.set(1ULL, 'big.id', 1)").find("an entity, not a 64-bit number"), std::string::npos);
}

TEST(Scripts, unsigned_numbers_of_64_bits_keep_their_bits_in_lua_54) {
    ScriptWorld test;
    if (Scripts::version() == "LuaJIT 2.1") GTEST_SKIP() << "LuaJIT has unsigned numbers of 64 bits";
    ASSERT_TRUE(
        test.run("shoal.component{name = 'big', fields = {{'id', 'uint64'}, {'time', 'int64'}}}\n"
                 "e = shoal.create{big = {id = 0xFFFFFFFFFFFFFFFF}}"));
    const Entity entity =
        test.world.manager(*test.world.directory().find_kept(ComponentId("big")).schema).value()->table().entities()[0];
    EXPECT_EQ(test.world.get<std::uint64_t>(entity, "big.id").value(), ~std::uint64_t(0));
    EXPECT_TRUE(
        test.run("assert(math.ult(1, shoal.get(e, 'big.id')))\n"
                 "for _, exact in ipairs{1 << 63, -1, math.mininteger + 1, math.maxinteger, 9007199254740993, 0} do\n"
                 "shoal.set(e, 'big.id', exact) assert(shoal.get(e, 'big.id') == exact)\n"
                 "assert(shoal.get(shoal.create{big = shoal.get(e, 'big')}, 'big.id') == exact)\n"
                 "shoal.query('&big', {'big.id'}):each(function(batch, id) id[0] = exact assert(id[0] == exact) end)\n"
                 "end shoal.set(e, 'big.time', -5) assert(shoal.get(e, 'big.time') == -5)\n"
                 "shoal.set(e, 'big.id', 1 << 63)"));
    EXPECT_EQ(test.world.get<std::uint64_t>(entity, "big.id").value(), std::uint64_t(1) << 63);
    EXPECT_NE(test.error_of("shoal.set(e, 'big.id', -1.0)").find("-1"), std::string::npos);
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
        {"shoal.component{name = 'x', fields = {{'a'}}}", "a field is {\"name\", \"type\"}"},
        {"shoal.component{name = 'x', fields = {'a'}}", "a field is {\"name\", \"type\"}"},
        {"shoal.component{name = 'x', fields = {{'a', 'float', length = 65537}}}", "are from 0 to 65536"},
        {"shoal.component{name = 'x', fields = {{'a', 'fixed_string', bytes = 65537}}}", "are from 0 to 65536"},
        {"shoal.component{name = 'x', fields = {{'a', 'float', length = -1}}}", "are from 0 to 65536"},
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
        test.run("fails = true shoal.pass{name = 'bad', query = 'wheel', before = 'turn', "
                 "run = function() if fails then local x = nil + 1 end end}"));
    std::vector<std::string> lines;
    set_log_hook([](void* to, LogLevel,
                    std::string_view text) { static_cast<std::vector<std::string>*>(to)->emplace_back(text); },
                 &lines);
    for (int i = 0; i < 3; ++i) test.world.step(1);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(test.scripts.num_failures(), 3u);
    for (const char* change : {"fails = false", "fails = true"}) {
        ASSERT_TRUE(test.run(change));
        test.world.step(1);
    }
    set_log_hook(nullptr, nullptr);
    ASSERT_EQ(lines.size(), 2u) << "it has run well since";
    EXPECT_EQ(lines[1], lines[0]);
    EXPECT_NE(lines[0].find("pass \"bad\" of script \"test\": test:1: attempt to perform arithmetic on a nil value"),
              std::string::npos);
    EXPECT_NE(lines[0].find("stack traceback:"), std::string::npos);
    EXPECT_EQ(test.scripts.num_failures(), 4u);
    EXPECT_EQ(test.angle(wheels[2]), 10);
}

TEST(Scripts, a_pass_that_would_close_a_circle_is_refused_and_the_others_run) {
    ScriptWorld test;
    ASSERT_TRUE(
        test.run("n = 0 shoal.pass{name = 'a', run = function() n = n + 1 end} "
                 "shoal.pass{name = 'b', after = 'a', run = print}"));
    EXPECT_NE(test.error_of("shoal.pass{name = 'c', after = 'b', before = 'a', run = print}"), "");
    EXPECT_EQ(test.world.schedule().num_passes(), 2u);
    test.world.step(1);
    EXPECT_TRUE(test.run("assert(n == 1, n)"));
}

TEST(Scripts, a_pass_that_is_gone_for_good_orders_no_others) {
    ScriptWorld test;
    test.world.schedule().add("own", [](PassContext&) {}).after("a").after("b");
    ASSERT_TRUE(
        test.run("shoal.pass{name = 'a', run = print} shoal.pass{name = 'b', after = 'a', run = print} "
                 "shoal.remove_pass('a')"));
    EXPECT_TRUE(test.world.schedule().prepare().ok()) << test.world.schedule().prepare().message();
    ASSERT_TRUE(test.scripts.unload("test").ok());
    EXPECT_TRUE(test.world.schedule().prepare().ok()) << test.world.schedule().prepare().message();
}

TEST(Scripts, a_pass_has_not_the_name_of_a_group) {
    ScriptWorld test;
    test.world.schedule().open_group("late");
    EXPECT_NE(test.error_of("shoal.pass{name = 'late', run = print}").find("a group of passes, \"late\" already"),
              std::string::npos);
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

TEST(Scripts, what_a_pass_is_refused_leaves_nothing_and_says_what_to_do) {
    ScriptWorld test;
    test.make_wheels(2);
    ASSERT_TRUE(test.run(R"lua(
        shoal.component{name = 'lamp', fields = {{'light', 'float', default = 2}}}
        e = shoal.find('wheel')[1] shoal.add(e, 'lamp')
        lamps, wheels = shoal.query('lamp'), shoal.query('&wheel')
        told = {}
        shoal.pass{name = 'try', query = 'wheel', run = function(frame, batch)
            told = {}
            local function try(what, run)
                local is_done, why = pcall(run)
                assert(not is_done, what)
                told[what] = why
            end
            try('create', function() shoal.create{wheel = {speed = 50}, lamp = {lihgt = 1}} end)
            try('has', function() shoal.has(e, 'lamp') end)
            try('each', function() lamps:each(print) end)
            try('count', function() lamps:count() end)
            try('write', function() wheels:each(print) end)
            try('remove', function() shoal.remove_pass('try') end)
            try('pass', function() shoal.pass{name = 'other', run = print} end)
            try('query', function() shoal.query('wheel, lamp') end)
            try('component', function() shoal.component{name = 'other'} end)
            assert(shoal.has(e, 'wheel'))
        end})lua"));
    test.world.step(1);
    EXPECT_EQ(test.scripts.num_failures(), 0u) << test.scripts.last_failure().message();
    for (const auto& [what, message] : {std::pair{"create", "did you mean \"light\"?"},
                                        {"has", "does not declare that it reads \"lamp\""},
                                        {"each", "does not declare that it reads \"lamp\""},
                                        {"count", "does not declare that it reads \"lamp\""},
                                        {"write", "does not declare that it writes \"wheel\""},
                                        {"remove", "passes are removed outside of passes and loops"},
                                        {"pass", "passes are added outside of passes and loops"},
                                        {"query", "make a query outside of passes and loops"},
                                        {"component", "declared outside of passes and loops"}})
        EXPECT_NE(test.error_of(std::string("error(told.") + what + ")").find(message), std::string::npos)
            << what << ": " << test.error_of(std::string("error(told.") + what + ")");
    EXPECT_EQ(test.entities.num_alive(), 2u);
    EXPECT_EQ(test.world.manager<Wheel>().num_rows(), 2u);
    EXPECT_TRUE(test.run("assert(lamps:count() == 1 and wheels:count() == 2)"));
    EXPECT_EQ(test.world.schedule().num_passes(), 1u);
    EXPECT_NE(test.error_of("shoal.pass{name = 'p', columns = 'wheel.angle', run = print}")
                  .find("\"columns\" needs a \"query\" that names their components"),
              std::string::npos);
    ASSERT_TRUE(test.run("shoal.pass{name = 'rare', every_frames = 1e9, every_seconds = 1e9, run = print}"));
    EXPECT_NE(test.error_of("shoal.pass{name = 'p', every_frames = 1e9 + 1, run = print}").find("from 0 to 1e9"),
              std::string::npos);
    EXPECT_NE(
        test.error_of("shoal.pass(setmetatable({name = 'p'}, {__index = {run = print}}))").find("\"run\" is missing"),
        std::string::npos)
        << "it is read without metamethods";
}

struct Switch {
    float level = 1;
};
SHOAL_COMPONENT((Switch, name("switch"), enableable), level)

TEST(Scripts, a_disabled_component_is_none_and_names_are_no_tags) {
    ScriptWorld test;
    Database& database = test.world.database();
    ASSERT_TRUE(test.world.directory().claim<Switch>(database));
    const Entity made = test.entities.create().value();
    ASSERT_TRUE(database.add(made, Switch{}).ok());
    ASSERT_TRUE(
        test.run("e = shoal.find('switch')[1] assert(shoal.has(e, 'switch') and shoal.get(e, 'switch').level == 1)"));
    ASSERT_TRUE(database.remove<Switch>(made).ok());
    EXPECT_TRUE(test.run("assert(not shoal.has(e, 'switch') and #shoal.find('switch') == 0)"));
    EXPECT_NE(test.error_of("shoal.get(e, 'switch')"), "");
    ASSERT_TRUE(test.run("shoal.name(e, 'main') shoal.tag(e, 'red') shoal.tag(e, 'blue')"));
    test.world.settle();
    ASSERT_TRUE(
        test.run("assert(#shoal.find('#red') == 1 and #shoal.find('#blue') == 1) shoal.untag(e, 'red') "
                 "assert(shoal.get(e, 'debug_name.name') == 'main' and #shoal.find('#main') == 0)"));
    test.world.settle();
    EXPECT_TRUE(test.run("assert(#shoal.find('#red') == 0 and #shoal.find('#blue') == 1)"));
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
    EXPECT_EQ(test.scripts.num_failures(), 1u);
    ASSERT_TRUE(
        test.run("shoal.remove_pass('peek') shoal.pass{name = 'poke', query = 'wheel', reads = 'lamp',"
                 "run = function() shoal.set(e, 'lamp.light', 5) end}"));
    test.world.step(1);
    EXPECT_NE(test.scripts.last_failure().message().find(
                  "pass \"poke\" does not declare that it writes \"lamp\"; add writes = {\"lamp\"} to it"),
              std::string_view::npos)
        << test.scripts.last_failure().message();
    EXPECT_TRUE(test.run("assert(shoal.get(e, 'lamp.light') == 2)")) << "outside of passes all may be read";
    ASSERT_TRUE(
        test.run("shoal.remove_pass('poke') shoal.pass{name = 'poke', query = 'wheel', writes = 'lamp',"
                 "run = function() shoal.set(e, 'lamp.light', shoal.get(e, 'lamp.light') + 5) end}"));
    test.world.step(1);
    EXPECT_EQ(test.scripts.num_failures(), 2u) << test.scripts.last_failure().message();
    EXPECT_TRUE(test.run("assert(shoal.get(e, 'lamp.light') == 7)"));
}

TEST(Scripts, a_pass_sees_its_frame_and_draws_from_numbers_of_its_own) {
    std::string drawn[2];
    for (const bool has_pass : {false, true}) {
        ScriptWorld test;
        if (has_pass) {
            ASSERT_TRUE(
                test.run("seen = {} shoal.pass{name = 'look', every_frames = 2, run = function(frame) "
                         "seen[#seen + 1] = frame.number seen.dt = frame.dt shoal.random() shoal.random(6) end}"));
        }
        for (int i = 0; i < 5; ++i) {
            ASSERT_TRUE(test.run("list = (list or '') .. ' ' .. shoal.random(1000)"));
            test.world.step(0.25f);
        }
        drawn[has_pass ? 1 : 0] = test.error_of("error(list)");
        if (!has_pass) continue;
        EXPECT_TRUE(test.run("assert(#seen == 3 and seen[2] == seen[1] + 2 and seen[3] == seen[1] + 4, #seen)"));
        EXPECT_TRUE(test.run("assert(seen.dt == 0.5, seen.dt)")) << "since it ran last";
    }
    EXPECT_EQ(drawn[0], drawn[1]) << "what a pass draws changes nothing for others";
}

TEST(Scripts, a_component_type_has_the_marks_that_its_declaration_gives) {
    ScriptWorld test;
    ASSERT_TRUE(test.run(R"lua(
        shoal.component{name = 'a', version = 3, whole = true, fields = {
            {'speed', 'float', unit = 'm/s', default = 2}, {'loads', 'int16', length = 3, default = {-1, 0, 32767}},
            {'label', 'fixed_string', bytes = 8, default = 'seven_7'}, {'lit', 'bool', default = true}}}
        shoal.component{name = 'b', many = true, fields = {{'place', 'vec3', split = true, default = {1, 2, 3}}}}
        shoal.component{name = 'c', enableable = true}
        shoal.component{name = 'd', singleton = true, fields = {{'turn', 'quaternion'}}}
        e = shoal.create{a = {}, b = {}}
        local a = shoal.get(e, 'a')
        assert(a.speed == 2 and a.loads[1] == -1 and a.loads[3] == 32767 and #a.loads == 3 and a.lit == true)
        assert(a.label == 'seven_7' and shoal.get(e, 'b').place.y == 2)
    )lua"));
    const auto schema_of = [&](const char* name) -> const Schema& {
        return *test.world.directory().find_kept(ComponentId(name)).schema;
    };
    EXPECT_EQ(schema_of("a").to_text(), "a v3 whole {speed float, loads int16[3], label fixed_string(8), lit bool}");
    EXPECT_EQ(schema_of("a").fields()[0].unit, "m/s");
    EXPECT_TRUE(schema_of("b").many() && schema_of("b").fields()[0].split && !schema_of("b").whole());
    EXPECT_TRUE(schema_of("c").enableable() && !schema_of("c").many() && !schema_of("c").singleton());
    EXPECT_TRUE(schema_of("d").singleton() && !schema_of("d").enableable());
    const std::uint32_t num_alive = test.entities.num_alive();
    for (const auto& [text, message] : {
             std::pair{"shoal.set(e, 'a.label', 'eight_88')", "\"a.label\""},
             {"shoal.set(e, 'a.loads', {1, 2})", "the table has 2 values"},
             {"shoal.set(e, 'a.loads', {1, 2, 32768})", "32768"},
             {"shoal.set(e, 'a.loads[3]', 1)", ""},
             {"shoal.set(e, 'b.place', 1, 2)", "give 3 numbers, or a table"},
             {"shoal.set(e, 'b.place', {1, 2})", "number 3 is neither z nor [3] of the table"},
             {"shoal.set(e, 'b.place', {x = 1, z = 2})", "number 2 is neither y nor [2] of the table"},
             {"shoal.create{a = {speed = 1}, nobody = {}}", "no store keeps a component \"nobody\""},
             {"shoal.create{a = {sped = 1}}", "did you mean \"speed\"?"},
             {"shoal.create{a = 5}", "components are given as"},
         }) {
        const std::string error = test.error_of(text);
        EXPECT_NE(error, "") << text;
        EXPECT_NE(error.find(message), std::string::npos) << text << "\n" << error;
    }
    EXPECT_EQ(test.entities.num_alive(), num_alive) << "what is refused makes nothing";
    EXPECT_TRUE(
        test.run("local a, b = shoal.get(e, 'a'), shoal.get(e, 'b').place "
                 "assert(a.label == 'seven_7' and a.loads[1] == -1 and a.loads[3] == 32767) "
                 "assert(b.x == 1 and b.y == 2 and b.z == 3)"));
    ASSERT_TRUE(
        test.run("shoal.set(e, 'b.place', {z = 9, 7, 8}) shoal.set(e, 'a.loads', {5, 6, -32768}) "
                 "shoal.set(e, 'a.label', 'x')"));
    EXPECT_TRUE(
        test.run("local a, x, y, z = shoal.get(e, 'a'), shoal.get(e, 'b.place') "
                 "assert(x == 7 and y == 8 and z == 9 and a.loads[3] == -32768 and a.label == 'x')"));
}

TEST(Scripts, events_reach_later_passes_and_observers_tell_what_was) {
    ScriptWorld test;
    test.make_wheels(3);
    ASSERT_TRUE(test.run(R"lua(
added, removed, changed, heard, refused, unwritten = 0, 0, 0, 0, 0, 0
shoal.on_add("wheel", function(list) added = added + #list end)
shoal.on_remove("wheel", function(list, before)
    removed = removed + before(1).speed
    for _, i in ipairs{0, -1, #list + 1, 0.5, 2^32 + 1, "1"} do
        local is_done, message = pcall(before, i)
        if not is_done and message:find("the number of an entity in the list, from 1 to 1", 1, true) then
            refused = refused + 1
        end
    end
end)
shoal.on_change("wheel.angle", function(list, before) changed = changed + #list kept = before end)
hits = shoal.events{name = "hits", fields = {{"who", "entity"}, {"force", "float"}}}
shoal.pass{name = "tell", query = "wheel", writes_to = "hits", run = function(frame, batch)
    for _, wrong in ipairs{{force = "strong"}, {who = batch.entities[0], weight = 1}, {force = 9, who = 5}, "hard"} do
        if not pcall(function() hits:write(wrong) end) then unwritten = unwritten + 1 end
    end
    for i = 0, batch.count - 1 do hits:write{who = batch.entities[i], force = i} end
end}
shoal.pass{name = "hear", reads_from = {"hits"}, run = function()
    for _, hit in ipairs(hits:read()) do assert(shoal.alive(hit.who)) heard = heard + hit.force end
end}
shoal.pass{name = "deaf", query = "wheel", run = function() hits:read() end}
shoal.pass{name = "loud", reads_from = "hits", after = "deaf", run = function() hits:write{force = 100} end}
)lua"));
    test.world.step(1);
    EXPECT_EQ(test.scripts.num_failures(), 2u);
    EXPECT_NE(test.scripts.last_failure().message().find("does not declare the channel; add writes_to = {\"hits\"}"),
              std::string_view::npos);
    ASSERT_TRUE(
        test.run("shoal.remove_pass('loud') assert(#hits:read_last() == 3, 'it has written nothing') "
                 "assert(unwritten == 4, 'what is no event is refused')"));
    test.world.step(1);
    ASSERT_TRUE(test.run("assert(#hits:read_last() == 3 and heard == 6) heard = 3"));
    EXPECT_NE(test.scripts.last_failure().message().find("does not declare the channel; add reads_from = {\"hits\"}"),
              std::string_view::npos);
    ASSERT_TRUE(
        test.run("assert(heard == 3) w = shoal.find('wheel') shoal.set(w[1], 'wheel.angle', 1) shoal.destroy(w[3]) "
                 "shoal.create{wheel = {}}"));
    test.world.settle();
    EXPECT_TRUE(test.run("assert(added == 1 and removed == 2 and changed == 1)"));
    EXPECT_TRUE(test.run("assert(refused == 6, refused)")) << "what is no number of one of the list";
    EXPECT_NE(test.error_of("kept(1)").find("the observer has ended"), std::string::npos);
}

enum class Tone : std::uint8_t { kLow = 1, kMiddle = 127, kHigh = 128, kTop = 255 };
SHOAL_ENUM(Tone, (kLow, "low"), (kMiddle, "middle"), (kHigh, "high"), (kTop, "top"))
enum class Depth : std::int16_t { kDeep = -300, kFlat = 0, kHigh = 32767 };
SHOAL_ENUM(Depth, (kDeep, "deep"), (kFlat, "flat"), (kHigh, "high"))
enum class Code : std::uint32_t { kNone = 0, kLarge = 0x80000000, kAll = 0xFFFFFFFF };
SHOAL_ENUM(Code, (kNone, "none"), (kLarge, "large"), (kAll, "all"))
enum class Far : std::int64_t { kNear = 0, kBehind = -5'000'000'000, kAhead = 5'000'000'000 };
SHOAL_ENUM(Far, (kNear, "near"), (kBehind, "behind"), (kAhead, "ahead"))

struct Signal {
    Tone tone{};
    Depth depth{};
    Code code{};
    Far far{};
    std::array<Tone, 2> tones{};
};
SHOAL_COMPONENT((Signal, name("signal")), tone, depth, code, far, tones)

TEST(Scripts, an_observer_tells_what_each_of_several_was_in_its_own_call_only) {
    ScriptWorld test;
    test.make_wheels(3);
    ASSERT_TRUE(test.run(R"lua(
        was, calls, late = {}, 0, 0
        shoal.on_remove("wheel", function(list, before)
            calls = calls + 1
            for i = 1, #list do was[#was + 1] = before(i).speed end
            if earlier and not pcall(earlier, 1) then late = late + 1 end
            earlier = before
        end)
        local all = shoal.find("wheel")
        for i, wheel in ipairs(all) do shoal.set(wheel, "wheel.speed", 10 * i) end
    )lua"));
    test.world.settle();
    ASSERT_TRUE(test.run("local all = shoal.find('wheel') shoal.destroy(all[1]) shoal.destroy(all[2])"));
    test.world.settle();
    ASSERT_TRUE(test.run(
        "table.sort(was) assert(#was == 2 and was[1] == 10 and was[2] == 20) shoal.destroy(shoal.find('wheel')[1])"));
    test.world.settle();
    EXPECT_TRUE(test.run("assert(#was == 3 and was[3] == 30 and late == calls - 1 and late > 0, late)"))
        << "what an earlier call was given tells nothing";
}

TEST(Scripts, what_says_nothing_or_is_out_of_its_range_is_refused) {
    ScriptWorld test;
    EXPECT_NE(test.error_of("shoal.events{name = 'none', fields = {}}").find("have no fields; give them one"),
              std::string::npos);
    for (const char* times : {"every_seconds = -1", "every_frames = -1", "every_seconds = 1e10", "every_seconds = 0/0"})
        EXPECT_NE(test.error_of(concat("shoal.pass{name = 'p', ", times, ", run = function() end}"))
                      .find("\"every_frames\" and \"every_seconds\" are from 0 to 1e9"),
                  std::string::npos)
            << times;
    EXPECT_EQ(test.world.schedule().num_passes(), 0u);
    EXPECT_TRUE(
        test.run("if math.mininteger then for i = 1, 10 do shoal.random(math.mininteger, math.maxinteger) end end"));
}

TEST(Scripts, a_component_that_an_entity_may_lack_is_nil_in_a_column_of_any_type) {
    ScriptWorld test;
    test.make_wheels(4);
    EXPECT_TRUE(test.run(R"lua(
        shoal.component{name = 'lamp', fields = {{'light', 'float'}, {'name', 'string_id'}, {'on', 'entity'}}}
        local all = shoal.find('wheel')
        shoal.add(all[2], 'lamp', {light = 2, name = 'red', on = all[1]})
        shoal.add(all[4], 'lamp', {light = 4, name = 'blue', on = all[2]})
        local seen, num_nil = {}, 0
        shoal.query('wheel, ?lamp', {'lamp.light', 'lamp.name', 'lamp.on'}):each(function(batch, light, name, on)
            for i = 0, batch.count - 1 do
                if light[i] == nil then
                    assert(name[i] == nil and on[i] == nil)
                    num_nil = num_nil + 1
                else
                    seen[name[i]] = light[i]
                    assert(on[i] == all[light[i] == 2 and 1 or 2])
                end
            end
        end)
        assert(num_nil == 2 and seen.red == 2 and seen.blue == 4)
    )lua"));
}

TEST(Scripts, enumerators_of_any_size_and_sign_are_their_names_and_other_values_are_numbers) {
    ScriptWorld test;
    Manager<Signal>& signals = test.world.manager<Signal>();
    const Entity made = test.entities.create().value();
    ASSERT_TRUE(signals.add(made, Signal{.tone = Tone(9)}).ok());
    ASSERT_TRUE(test.run(R"lua(
        e = shoal.find('signal')[1]
        assert(shoal.get(e, 'signal.tone') == 9 and shoal.get(e, 'signal').depth == 'flat')
        local names = {tone = {'low', 'middle', 'high', 'top'}, depth = {'deep', 'flat', 'high'},
                       code = {'none', 'large', 'all'}, far = {'near', 'behind', 'ahead'}}
        for field, list in pairs(names) do
            for _, name in ipairs(list) do
                shoal.set(e, 'signal.' .. field, name)
                assert(shoal.get(e, 'signal.' .. field) == name, name)
                assert(shoal.get(e, 'signal')[field] == name, name)
                shoal.query('&signal', {'signal.' .. field}):each(function(batch, column)
                    assert(column[0] == name, name)
                    column[0] = list[1]
                    assert(column[0] == list[1])
                end)
            end
            shoal.set(e, 'signal.' .. field, list[#list])
        end
        shoal.set(e, 'signal.tones', {'top', 'high'})
        local tones = shoal.get(e, 'signal.tones')
        assert(tones[1] == 'top' and tones[2] == 'high')
    )lua"));
    const Instance at = signals.instance(made);
    EXPECT_EQ(signals.get<&Signal::tone>(at), Tone::kTop);
    EXPECT_EQ(signals.get<&Signal::depth>(at), Depth::kHigh);
    EXPECT_EQ(signals.get<&Signal::code>(at), Code::kAll);
    EXPECT_EQ(signals.get<&Signal::far>(at), Far::kAhead);
    EXPECT_EQ(signals.get<&Signal::tones>(at)[1], Tone::kHigh);
    signals.set<&Signal::tone>(at, Tone(200));
    EXPECT_TRUE(test.run("assert(shoal.get(e, 'signal.tone') == 200)"));
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

TEST(Scripts, the_position_of_a_world_pose_is_read_as_a_vector_of_its_own) {
    ScriptWorld test;
    ASSERT_TRUE(
        test.run("p = shoal.create{transform = {position = {1, 2, 3}}}\n"
                 "c = shoal.create{transform = {position = {0, 0, 5}}} shoal.add(c, 'child_of', {parent = p})"));
    test.world.settle();
    ASSERT_TRUE(
        test.run("local x, y, z = shoal.get(c, 'world_pose.position') assert(x == 1 and y == 2 and z == 8)\n"
                 "assert(shoal.get(c, 'world_pose.position.z') == 8)\n"
                 "local found = shoal.find('world_pose, world_pose.position.z > 7')\n"
                 "assert(#found == 1 and found[1] == c)\n"
                 "local heights = {}\n"
                 "shoal.query('world_pose', {'world_pose.position'}):each(function(batch, position)\n"
                 "  for i = 0, batch.count - 1 do heights[batch.entities[i]] = position.z[i] end\n"
                 "end)\n"
                 "assert(heights[p] == 3 and heights[c] == 8)"));
    EXPECT_NE(test.error_of("shoal.set(c, 'world_pose.position', 1, 2, 3)").find("the transforms compute"),
              std::string::npos);
    EXPECT_NE(test.error_of("shoal.query('world_pose', {'world_pose.matrix'})")
                  .find("name its rows, world_pose.matrix[0], or its position, world_pose.matrix.position"),
              std::string::npos);
}

TEST(Scripts, whole_columns_are_computed_as_loops_compute_them) {
    ScriptWorld test;
    const std::vector<Entity> wheels = test.make_wheels(1000);
    ASSERT_TRUE(
        test.run("shoal.query('&wheel', {'wheel.angle', 'wheel.speed'}):each(function(batch, a, s) "
                 "a:fill(1) a:add(s, 0.5) a:mul(2) a:add(a) a:add(3) assert(#a == batch.count) "
                 "assert(s:min() == 0 and s:max() == batch.count - 1 and "
                 "s:sum() == batch.count * (batch.count - 1) / 2) end)"));
    for (std::size_t i = 0; i < wheels.size(); ++i) EXPECT_EQ(test.angle(wheels[i]), 4 + 2 * static_cast<float>(i) + 3);
    // The same where the values are not one behind the other, and of any number.
    for (const char* count : {"1", "15", "16", "17", "33"})
        EXPECT_TRUE(test.run(std::string("local count = ") + count + R"lua(
            shoal.component{name = 'pair' .. count, whole = true, fields = {{'a', 'float'}, {'b', 'float'}, {'c', 'double'}}}
            shoal.component{name = 'lone' .. count, fields = {{'a', 'float'}, {'c', 'double'}}}
            for i = 1, count do
                shoal.create{['pair' .. count] = {a = i, b = 10 * i, c = i}, ['lone' .. count] = {a = 100 * i, c = -i}}
            end
            local p, l = 'pair' .. count .. '.', 'lone' .. count .. '.'
            shoal.query('&pair' .. count .. ', &lone' .. count, {p .. 'a', p .. 'b', p .. 'c', l .. 'a', l .. 'c'}):each(
                function(batch, a, b, c, la, lc)
                    assert(batch.count == count)
                    local function check(column, wanted, what)
                        for i = 0, count - 1 do assert(column[i] == wanted(i + 1), what .. i .. ' ' .. column[i]) end
                    end
                    a:add(b) check(a, function(i) return 11 * i end, 'whole and whole ')
                    a:add(la, 2) check(a, function(i) return 211 * i end, 'whole and lone ')
                    la:add(b, -1) check(la, function(i) return 90 * i end, 'lone and whole ')
                    check(b, function(i) return 10 * i end, 'operand ')
                    la:copy(a) check(la, function(i) return 211 * i end, 'copy ')
                    b:mul(b) check(b, function(i) return 100 * i * i end, 'itself ')
                    c:mul(lc) check(c, function(i) return -i * i end, 'double ')
                    lc:fill(0.1) check(lc, function() return 0.1 end, 'fill ')
                    assert(c:min() == -count * count and c:max() == -1)
                    for _, row in ipairs{-1, count, 2 ^ 32} do
                        assert(not pcall(function() return a[row] end) and not pcall(function() a[row] = 1 end))
                    end
                    check(a, function(i) return 211 * i end, 'what is refused ')
                    assert(not pcall(a.add, a, c) and not pcall(a.add, a, b, 'x'))
                end)
        )lua"))
            << count;
    ASSERT_TRUE(test.run(R"lua(
        shoal.component{name = 'depth', fields = {{'low', 'float'}, {'high', 'double'}}}
        for i = 1, 9 do shoal.create{depth = {}} end
        shoal.query('&depth', {'depth.low', 'depth.high'}):each(function(batch, low, high)
            for number, column in ipairs{low, high} do
                for _, first in ipairs{-20, -4, 0, 3} do  -- all below 0, on both sides, none below
                    for i = 0, 8 do column[(i * 5) % 9] = first + i end
                    assert(column:min() == first, column:min())
                    assert(column:max() == first + 8, column:max())
                    assert(column:sum() == 9 * first + 36, column:sum())
                end
            end
        end))lua"));
}

TEST(Scripts, eight_loops_run_within_one_another_over_64_columns_of_one_batch_each) {
    ScriptWorld test;
    test.make_wheels(3);
    ASSERT_TRUE(test.run(R"lua(
        q, n = shoal.query('wheel', {'wheel.angle'}), 0
        function nest(depth) q:each(function() n = n + 1 if depth > 1 then nest(depth - 1) end end) end
        nest(8)
        assert(n == 8, n)
    )lua"));
    EXPECT_NE(test.error_of("nest(9)").find("at most 8 loops over queries run one within the other"),
              std::string::npos);
    ASSERT_TRUE(test.run(R"lua(
        n = 0 nest(8) assert(n == 8, 'none is left open')
        names = {}
        for i = 1, 64 do names[i] = 'wheel.speed' end
        shoal.query('wheel', names):each(function(batch, ...)
            assert(select('#', ...) == 64 and select(64, ...)[2] == 2)
        end)
        names[65] = 'wheel.speed'
    )lua"));
    EXPECT_NE(test.error_of("shoal.query('wheel', names)").find("at most 64 columns"), std::string::npos);
    ASSERT_TRUE(test.run(R"lua(
        shoal.component{name = 'lamp', fields = {{'light', 'float', default = 7}}}
        shoal.create{lamp = {}} shoal.create{lamp = {}}
        local lamps = shoal.query('lamp', {'lamp.light'})
        shoal.query('&wheel', {'wheel.angle'}):each(function(batch, angle)
            lamps:each(function(batch_of_lamps, light)
                local is_done, why = pcall(angle.add, angle, light)
                assert(not is_done and why:find('differ in type or in the number of rows'), why)
            end)
            angle:add(1)
        end)
        q:each(function(batch, angle) assert(angle[0] == 1 and angle[2] == 1) end)
    )lua"));
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

TEST(Scripts, random_numbers_fill_their_range_and_do_not_leave_it) {
    ScriptWorld test;
    ASSERT_TRUE(test.run(R"lua(
        local least, most, seen = 1, 0, {}
        for i = 1, 2000 do
            local number = shoal.random()
            least, most = math.min(least, number), math.max(most, number)
            seen[shoal.random(3)], seen[shoal.random(-2, 0)] = true, true
        end
        assert(least >= 0 and least < 0.01 and most > 0.99 and most < 1)
        for number = -2, 3 do assert(seen[number], number) end
        assert(not seen[-3] and not seen[4] and shoal.random(5, 5) == 5 and shoal.random(1) == 1)
        if math.mininteger then  -- all whole numbers
            assert(shoal.random(math.mininteger, math.maxinteger) ~= shoal.random(math.mininteger, math.maxinteger))
        end
    )lua"));
    EXPECT_NE(test.error_of("shoal.random(2, 1)").find("there is no whole number from 2 to 1"), std::string::npos);
    EXPECT_NE(test.error_of("shoal.random(0)").find("there is no whole number from 1 to 0"), std::string::npos);
    EXPECT_NE(test.error_of("shoal.random(1, 'x')").find("argument 2 is a whole number"), std::string::npos);
    EXPECT_NE(test.error_of("shoal.random(1.5)").find("argument 1 is a whole number"), std::string::npos);
}

TEST(Scripts, passes_are_enabled_unless_they_are_told_not_to_be) {
    ScriptWorld test;
    ASSERT_TRUE(test.run("n = 0 shoal.pass{name = 'count', run = function() n = n + 1 end}"));
    const auto counted = [&](const std::string& text) {
        EXPECT_TRUE(test.run(text + " n = 0"));
        test.world.step(1);
        return test.run("assert(n == 1)");
    };
    EXPECT_TRUE(counted(""));
    EXPECT_FALSE(counted("shoal.enable('count', false)"));
    EXPECT_TRUE(counted("shoal.enable('count')"));
    EXPECT_FALSE(counted("shoal.enable('count', nil)"));
    EXPECT_TRUE(counted("shoal.enable('count', true)"));
}

TEST(Scripts, what_is_logged_is_what_the_values_are) {
    ScriptWorld test;
    const shoal_test::Logged logged;
    ASSERT_TRUE(test.run("shoal.log('a', 1.5, true, false, nil, {}, print)"));
    ASSERT_TRUE(test.run("shoal.log()"));
    if (Scripts::version() == "LuaJIT 2.1") {
        ASSERT_TRUE(test.run("shoal.log(18446744073709551615ULL, -5LL)"));
    }
    ASSERT_GE(logged.lines.size(), 2u);
    EXPECT_EQ(logged.lines[0], "test: a 1.5 true false nil a table a function");
    EXPECT_EQ(logged.lines[1], "test:");
    if (logged.lines.size() > 2) {
        EXPECT_EQ(logged.lines[2], "test: 18446744073709551615 -5");
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

/// Returns a compiled resource of one wheel as the text of a Lua string.
std::string wheel_literal(float speed) {
    ComponentRegistry registry;
    EXPECT_TRUE(registry.add<Wheel>());
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file(
        "wheel.sjson", concat("entities = { a = { components = { wheel = { speed = ", speed, " } } } }"));
    const Result<CompiledSource> compiled = compile_file(file, registry, {}, diagnostics);
    EXPECT_TRUE(compiled) << diagnostics.format();
    std::string literal = "'";
    for (const std::byte byte : compiled->blob) {
        std::string digits = concat(static_cast<int>(byte));
        literal += concat('\\', std::string(3 - digits.size(), '0'), digits);
    }
    return literal + "'";
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
    EXPECT_EQ(test.world.directory().find(ComponentId("lamp")), nullptr);
    const std::vector<Entity> wheels = test.make_wheels(2);
    test.world.transforms();
    test.world.commands().add(wheels[0], Transform{}), test.world.commands().add(wheels[1], Transform{});
    test.world.commands().add(wheels[1], ChildOf{wheels[0]});
    test.world.settle();
    write("for _, e in ipairs(shoal.find('wheel, !child_of')) do shoal.copy(e) end error('no')");
    EXPECT_FALSE(test.scripts.load(path).ok());
    EXPECT_EQ(test.entities.num_alive(), 2u) << "copies go with all that is below them";
    write(concat("shoal.spawn(", wheel_literal(4), ") error('no')"));
    EXPECT_FALSE(test.scripts.load(path).ok());
    EXPECT_EQ(test.entities.num_alive(), 2u) << "and so does what was spawned";
    ASSERT_TRUE(test.run(concat("local made = shoal.spawn(", wheel_literal(4), ") assert(#made == 1) ",
                                "assert(shoal.get(made[1], 'wheel.speed') == 4) shoal.destroy(made[1])")));
    write("x = = 1");
    EXPECT_NE(test.scripts.load(path).message().find("wheels.lua:1:"), std::string_view::npos);
    EXPECT_FALSE(test.scripts.load(path + "x").ok());
}

TEST_F(ScriptFiles, a_reload_exchanges_passes_and_keeps_what_a_faulty_version_would_lose) {
    const std::vector<Entity> wheels = test.make_wheels(2);
    const auto version = [](std::string_view number) {
        return "keep.loads = (keep.loads or 0) + 1 "
               "shoal.on_add('wheel', function() keep.told = (keep.told or 0) + 1 end) "
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
        ASSERT_TRUE(test.scripts.run("keep.told = 0", "wheels").ok());
        test.make_wheels(1);
        test.world.step(1);
        EXPECT_TRUE(test.scripts.run("assert(keep.told == 1)", "wheels").ok()) << "its observer works on, too";
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
function all() return rows end
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
    Store* const store = test.world.directory().find(ComponentId("glow"));
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->statistics({&statistics, 1}), 1u);
    EXPECT_EQ(statistics.num_rows, 2u);
    ASSERT_TRUE(test.run("shoal.destroy(e)"));
    test.world.settle();
    EXPECT_EQ(test.world.settle_statistics().last.num_removed, 1u);
    ASSERT_TRUE(test.scripts.run("assert(count() == 1 and settles == 1)", "wheels").ok());
    ASSERT_TRUE(test.run("shoal.destroy(shoal.create{glow = {}}) for i = 1, 100 do shoal.destroy(shoal.create{}) end"));
    test.world.settle();
    EXPECT_EQ(test.world.settle_statistics().last.num_removed, 1u) << "of more deaths than are listed";
    ASSERT_TRUE(test.scripts.run("assert(count() == 1)", "wheels").ok());
    {  // an entity that has the index of a dead one, before the world settles
        std::vector<Entity> many(5000), more(5000);
        ASSERT_TRUE(test.entities.create(many));
        const Schema& schema = *store->schemas()[0];
        ASSERT_TRUE(store->add_values(schema, {&many[0], 1}, {}));
        test.entities.destroy(many);
        ASSERT_TRUE(test.entities.create(more));
        const auto same = std::ranges::find(more, many[0].index(), &Entity::index);
        ASSERT_NE(same, more.end());
        ASSERT_TRUE(store->add_values(schema, {&*same, 1}, {}));
        ASSERT_TRUE(test.scripts.run("assert(count() == 2, count())", "wheels").ok()) << "the dead one is gone";
        test.entities.destroy(more);
        test.world.settle();
        ASSERT_TRUE(test.scripts.run("assert(count() == 1, count())", "wheels").ok());
    }
    const Status reloaded = test.scripts.reload("wheels");  // the rows go to the new version
    ASSERT_TRUE(reloaded.ok()) << reloaded.message();
    ASSERT_TRUE(test.scripts.run("assert(count() == 1)", "wheels").ok());
    ASSERT_TRUE(test.run("shoal.remove(other, 'glow') assert(not shoal.has(other, 'glow'))"));
    write("error('no')");
    EXPECT_FALSE(test.scripts.reload("wheels").ok());
    EXPECT_TRUE(test.run("shoal.add(other, 'glow') assert(shoal.has(other, 'glow'))"));
    std::string hotter(kStore);
    hotter.replace(hotter.find(">= 0"), 4, ">= 3000");
    write(hotter);
    const Status refused = test.scripts.reload("wheels");
    EXPECT_NE(refused.message().find("a glow is not colder than 0 K"), std::string_view::npos) << refused.message();
    EXPECT_TRUE(refused.message().ends_with("\nthe one before works on")) << refused.message();
    ASSERT_TRUE(test.scripts.run("assert(count() == 1)", "wheels").ok());
    EXPECT_TRUE(test.run("assert(shoal.get(other, 'glow').kelvin == 2700)"));
    ASSERT_TRUE(test.scripts.unload("wheels").ok());
    EXPECT_EQ(test.world.directory().find(ComponentId("glow")), nullptr);
}

TEST_F(ScriptFiles, a_store_in_lua_is_saved_and_loaded_with_its_world) {
    write(kStore);
    ASSERT_TRUE(test.scripts.load(path).ok());
    ASSERT_TRUE(test.run("e = shoal.create{glow = {kelvin = 5400}} other = shoal.create{glow = {source = e}}"));
    test.world.settle();
    Snapshot state;
    const Status saved = save(test.world, state);
    ASSERT_TRUE(saved.ok()) << saved.message();
    const std::uint64_t hash = state_hash(test.world);
    ASSERT_TRUE(test.run("shoal.destroy(other) shoal.remove(e, 'glow') shoal.create{glow = {kelvin = 1}}"));
    test.world.settle();
    ASSERT_NE(state_hash(test.world), hash);
    const Status loaded = load(test.world, state);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ(state_hash(test.world), hash);
    EXPECT_TRUE(test.run("assert(shoal.get(e, 'glow').kelvin == 5400 and shoal.get(other, 'glow').source == e)"));
    ASSERT_TRUE(test.scripts.run("assert(count() == 2)", "wheels").ok());
}

TEST_F(ScriptFiles, a_store_in_lua_that_refuses_one_of_many_keeps_what_it_had) {
    write(kStore);
    ASSERT_TRUE(test.scripts.load(path).ok());
    std::vector<Entity> both(2);
    ASSERT_TRUE(test.entities.create(both));
    Store* const store = test.world.directory().find(ComponentId("glow"));
    ASSERT_NE(store, nullptr);
    const Schema& schema = *store->schemas()[0];
    std::vector<Entity> all(3);
    ASSERT_TRUE(test.entities.create(all));
    struct Glow {
        float kelvin = 2700;
        Entity source{};
    };
    ASSERT_EQ(schema.struct_bytes(), sizeof(Glow));
    const auto add = [&](std::span<const Entity> to, std::initializer_list<float> kelvins) {
        std::vector<Glow> glows;
        for (const float kelvin : kelvins) glows.push_back({kelvin, both[1]});
        return store->add_values(schema, to,
                                 {.images = reinterpret_cast<const std::byte*>(glows.data()), .stride = sizeof(Glow)});
    };
    ASSERT_TRUE(add(std::span(all).first(2), {100, 200}));
    const auto values = [&] {
        std::string text;
        for (const Entity entity : all) {
            const Result<float> kelvin = test.world.get<float>(entity, "glow.kelvin");
            text += (kelvin ? std::to_string(static_cast<int>(*kelvin)) : "none") + ' ';
        }
        return text;
    };
    const auto kept_sum = [&](int sum) {
        const std::string text = "assert(count() == 2 and sum() == " + std::to_string(sum) + ", sum())";
        return test.scripts.run(
            "function sum() local n = 0 for _, v in pairs(all()) do n = n + v.kelvin end return n end " + text,
            "wheels");
    };
    EXPECT_FALSE(add(all, {1, 2, -3})) << "the last one";
    EXPECT_EQ(values(), "100 200 none ");
    EXPECT_TRUE(kept_sum(300).ok()) << kept_sum(300).message();
    EXPECT_FALSE(add(all, {1, -2, 3}));
    EXPECT_FALSE(add(std::vector<Entity>{all[2], all[0], all[1]}, {1, 2, -3}));
    EXPECT_EQ(values(), "100 200 none ");
    EXPECT_TRUE(kept_sum(300).ok()) << "what had none has none again, and what had one has that: "
                                    << kept_sum(300).message();
    const Result<std::uint32_t> added = add(std::vector<Entity>{all[2], all[0]}, {7, 8});
    ASSERT_TRUE(added) << added.message();
    EXPECT_EQ(*added, 2u);
    EXPECT_EQ(values(), "8 200 7 ");
    EXPECT_EQ(*store->remove_values(schema, std::vector<Entity>{all[1], both[0]}), 1u) << "one of them has none";
    EXPECT_TRUE(kept_sum(15).ok()) << kept_sum(15).message();
}

TEST(Scripts, component_types_get_no_other_fields_while_an_observer_runs) {
    ScriptWorld test;
    test.make_wheels(1);
    ASSERT_TRUE(
        test.run("shoal.component{name = 'rim', fields = {{'width', 'float'}}} shoal.on_remove('wheel', function() "
                 "shoal.component{name = 'rim', fields = {{'depth', 'float'}}} end) "
                 "for _, e in ipairs(shoal.find('wheel')) do shoal.remove(e, 'wheel') end"));
    test.world.settle();
    EXPECT_EQ(test.scripts.num_failures(), 1u);
    EXPECT_NE(test.scripts.last_failure().message().find("while an observer runs"), std::string::npos)
        << test.scripts.last_failure().message();
}

constexpr std::string_view kHeat = R"lua(
rows, refused = {}, 0
shoal.store{
    component = {name = "heat", fields = {{"kelvin", "float", default = 300}, {"source", "entity"}}},
    add = function(entity, values) rows[entity] = values end,
    remove = function(entity) rows[entity] = nil end,
    get = function(entity) return rows[entity] end,
    set = function(entity, values)
        if values.kelvin < 0 then refused = refused + 1 error("nothing is colder than 0 K") end
        rows[entity] = {kelvin = math.min(values.kelvin, 1000), source = values.source}
    end,
}
function sum() local n = 0 for _, values in pairs(rows) do n = n + values.kelvin end return n end
)lua";

struct Heat {
    float kelvin = 300;
    Entity source{};
};
SHOAL_COMPONENT((Heat, name("heat")), kelvin, source)

TEST_F(ScriptFiles, queries_and_properties_find_what_a_store_in_lua_keeps) {  // req: G6
    const std::vector<Entity> wheels = test.make_wheels(4);
    write(kHeat);
    ASSERT_TRUE(test.scripts.load(path).ok());
    ASSERT_TRUE(test.run(
        "for i, e in ipairs(shoal.find('wheel')) do if i > 1 then shoal.add(e, 'heat', {kelvin = 100 * i}) end end "
        "assert(#shoal.find('wheel, heat.kelvin > 250') == 2 and #shoal.find('wheel, !heat') == 1) "
        "q = shoal.query('&heat, wheel', {'heat.kelvin', 'wheel.speed'}) assert(q:count() == 3) "
        "q:each(function(batch, kelvin, speed) for i = 0, batch.count - 1 do kelvin[i] = kelvin[i] + speed[i] end "
        "end)"));
    ASSERT_TRUE(test.scripts.run("assert(sum() == 201 + 302 + 403, sum())", "wheels").ok());
    // in C++
    float sum = 0;
    const auto of_heat = test.world.query<Read<&Heat::kelvin>>();
    of_heat.for_each([&](float kelvin) { sum += kelvin; });
    EXPECT_EQ(sum, 201 + 302 + 403);
    test.world.query<Write<&Heat::kelvin>>().for_each([](float& kelvin) { kelvin *= 10; });
    EXPECT_TRUE(
        test.scripts.run("assert(sum() == 3000, sum())", "wheels").ok());  // set() lets none be hotter than 1000
    EXPECT_EQ(test.world.get<float>(wheels[1], "heat.kelvin").value(), 1000);
    ASSERT_TRUE(test.world.set(wheels[1], "heat.kelvin", 5.0f).ok());
    EXPECT_TRUE(test.scripts.run("assert(sum() == 2005, sum())", "wheels").ok());
    const Status refused = test.world.set(wheels[1], "heat.kelvin", -5.0f);
    EXPECT_NE(refused.message().find("nothing is colder than 0 K"), std::string_view::npos) << refused.message();
    EXPECT_EQ(test.world.get<float>(wheels[1], "heat.kelvin").value(), 5);
    EXPECT_TRUE(test.scripts
                    .run("local e = shoal.find('heat.kelvin < 100')[1] rows[e].kelvin = 7 shoal.changed(e, 'heat') "
                         "assert(shoal.get(e, 'heat.kelvin') == 7)",
                         "wheels")
                    .ok());
}

TEST_F(ScriptFiles, what_passes_write_reaches_a_store_in_lua_when_the_world_settles) {  // req: G6
    const std::vector<Entity> wheels = test.make_wheels(100);
    write(kHeat);
    ASSERT_TRUE(test.scripts.load(path).ok());
    ASSERT_TRUE(
        test.run("for i, e in ipairs(shoal.find('wheel')) do shoal.add(e, 'heat', {kelvin = 2}) end observed = 0 "
                 "shoal.on_change('heat.kelvin', function(list) observed = observed + #list end) "
                 "shoal.pass{name = 'warm', query = '&heat', columns = 'heat.kelvin', run = function(f, b, k) "
                 "for i = 0, b.count - 1 do k[i] = k[i] + 1 end end}"));
    test.world.schedule().add("heat", test.world.query<Write<&Heat::kelvin>>(),
                              [](const PassContext&, float& kelvin) { kelvin -= 3; });
    test.world.step(1);
    EXPECT_EQ(test.scripts.num_failures(), 0u);
    EXPECT_TRUE(test.scripts.run("assert(sum() == 0)", "wheels").ok());
    EXPECT_TRUE(test.run("assert(observed == 100, observed)"));
    test.world.step(1);  // colder than nothing
    EXPECT_EQ(test.scripts.num_failures(), 100u);
    EXPECT_TRUE(test.scripts.run("assert(sum() == 0 and refused == 100)", "wheels").ok());
    EXPECT_EQ(test.world.get<float>(wheels[50], "heat.kelvin").value(), 0);
    test.world.schedule().clear();
}

TEST_F(ScriptFiles, a_store_in_lua_is_told_once_of_what_passes_have_written_and_saved_when_it_knows) {
    const std::vector<Entity> wheels = test.make_wheels(3);
    write(std::string(kHeat) + "shoal.on_change('heat', function(list) keep.told = (keep.told or 0) + #list end)");
    ASSERT_TRUE(test.scripts.load(path).ok());
    ASSERT_TRUE(
        test.run("for i, e in ipairs(shoal.find('wheel')) do shoal.add(e, 'heat', {kelvin = 10 * i}) end "
                 "for name, after in pairs{first = 'turn', second = 'first'} do shoal.pass{name = name, after = after, "
                 "query = '&heat', columns = 'heat.kelvin', run = function(f, b, k) k:add(1) end} end "
                 "shoal.pass{name = 'turn', run = function() end}"));
    test.world.settle();
    Snapshot before;
    ASSERT_TRUE(save(test.world, before));
    ASSERT_TRUE(test.scripts
                    .run("local set = rows sets = 0 local mark = setmetatable({}, {__newindex = function(_, e, v) "
                         "sets = sets + 1 set[e] = v end, __index = set}) sum_of = sum rows = mark",
                         "wheels")
                    .ok());
    test.world.step(1);
    EXPECT_EQ(test.scripts.num_failures(), 0u) << test.scripts.last_failure().message();
    EXPECT_TRUE(test.scripts.run("assert(sets == 3, sets)", "wheels").ok()) << "one was written twice, and told once";
    for (std::size_t i = 0; i < wheels.size(); ++i)
        EXPECT_EQ(test.world.get<float>(wheels[i], "heat.kelvin").value(), 10 * (static_cast<float>(i) + 1) + 2);
    ASSERT_TRUE(load(test.world, before));
    for (std::size_t i = 0; i < wheels.size(); ++i)
        EXPECT_EQ(test.world.get<float>(wheels[i], "heat.kelvin").value(), 10 * (static_cast<float>(i) + 1));
}

TEST_F(ScriptFiles, queries_over_a_store_without_set_only_read_it) {
    write(kStore);
    ASSERT_TRUE(test.scripts.load(path).ok());
    EXPECT_NE(test.error_of("shoal.query('&glow', {'glow.kelvin'})").find("a function set(entity, values)"),
              std::string::npos);
    EXPECT_NE(
        test.error_of("e = shoal.create{glow = {}} shoal.set(e, 'glow.kelvin', 5)").find("does not let fields be"),
        std::string::npos);
    EXPECT_TRUE(test.run("shoal.query('glow', {'glow.kelvin'}):each(function(b, k) assert(k[0] == 2700) end)"));
}

TEST_F(ScriptFiles, what_needs_a_store_of_another_script_rests_while_that_is_gone) {
    const shoal_test::Logged log;
    const auto num_warnings = [&] {
        return std::ranges::count_if(log.lines, [](const std::string& line) {
            return line.starts_with("pass \"feel\" of script \"test\" rests until what it needs is there again: ");
        });
    };
    test.make_wheels(2);
    write(kHeat);
    ASSERT_TRUE(test.scripts.load(path).ok());
    ASSERT_TRUE(test.run(
        "runs, q = 0, shoal.query('heat', {'heat.kelvin'}) added = 0 "
        "on_heat = shoal.on_add('heat', function(list) added = added + #list end) "
        "shoal.pass{name = 'feel', query = 'heat', columns = 'heat.kelvin', run = function() runs = runs + 1 end} "
        "for i, e in ipairs(shoal.find('wheel')) do shoal.add(e, 'heat') end"));
    test.world.step(1);
    ASSERT_TRUE(test.run("assert(runs == 1 and added == 2)"));
    ASSERT_TRUE(test.scripts.unload("wheels").ok());
    test.world.step(1);
    EXPECT_NE(test.error_of("q:count()").find("no store keeps a component \"heat\""), std::string::npos);
    EXPECT_EQ(num_warnings(), 1);
    EXPECT_TRUE(
        test.run("shoal.component{name = 'lamp', fields = {{'light', 'float'}}} "
                 "shoal.component{name = 'lamp', fields = {{'colour', 'float'}}}"))
        << "a query that rests is no query of lamps";
    ASSERT_TRUE(test.scripts.load(path).ok());
    ASSERT_TRUE(test.run("assert(runs == 1 and q:count() == 0) shoal.add(shoal.find('wheel')[1], 'heat')"));
    test.world.step(1);
    EXPECT_TRUE(test.run("assert(runs == 2 and added == 3 and q:count() == 1)"));
    ASSERT_TRUE(test.scripts.reload("wheels").ok());
    test.world.step(1);
    EXPECT_TRUE(test.run("assert(runs == 3 and q:count() == 1)"));
    EXPECT_EQ(test.scripts.num_failures(), 0u);
    EXPECT_EQ(num_warnings(), 1) << "a reload brings the store back";
    write("error('no')");
    EXPECT_FALSE(test.scripts.reload("wheels").ok());
    EXPECT_EQ(num_warnings(), 1) << "so does one that fails";
    write("");
    ASSERT_TRUE(test.scripts.reload("wheels").ok());
    EXPECT_EQ(num_warnings(), 2) << "the newer version has none";
    write(kHeat);
    ASSERT_TRUE(test.scripts.reload("wheels").ok());
    EXPECT_EQ(num_warnings(), 2);
    ASSERT_TRUE(test.scripts.unload("wheels").ok());
    EXPECT_EQ(num_warnings(), 3);
    EXPECT_TRUE(test.run("shoal.off(on_heat)")) << "its number is what it was";
    EXPECT_EQ(test.error_of("shoal.off(on_heat)").find("test:1: script \"test\" has no observer 1"), 0u);
}

TEST_F(ScriptFiles, an_observer_is_told_once_when_a_reload_has_failed) {
    write(std::string(kHeat) + "keep.n = 0 shoal.on_add('wheel', function(list) keep.n = keep.n + #list end)");
    ASSERT_TRUE(test.scripts.load(path).ok());
    write(std::string(kHeat) + "error('no')");
    ASSERT_FALSE(test.scripts.reload("wheels").ok());
    test.make_wheels(3);
    test.world.step(1);
    EXPECT_TRUE(test.scripts.run("assert(keep.n == 3, keep.n)", "wheels").ok());
}

TEST(Scripts, what_names_a_store_that_the_program_detaches_rests_until_it_is_back_and_says_so) {
    const shoal_test::Logged log;
    ScriptWorld test;
    test.make_wheels(2);
    Store& wheels = test.world.manager<Wheel>().core();
    ASSERT_TRUE(test.run(
        "added = 0 runs, q = 0, shoal.query('wheel', {'wheel.angle'}) "
        "shoal.on_add('wheel', function(list) added = added + #list end) "
        "shoal.pass{name = 'roll', query = '&wheel', columns = 'wheel.angle', run = function() runs = runs + 1 end}"));
    test.world.step(1);
    test.world.detach(wheels);  // and attaches it again before the world settles
    ASSERT_TRUE(test.world.attach(wheels).ok());
    test.world.step(1);
    test.make_wheels(1);
    test.world.step(1);
    EXPECT_TRUE(test.run("assert(runs == 2 and q:count() == 3 and added == 1, added) runs = 1"));
    EXPECT_TRUE(log.lines.empty());
    test.world.detach(wheels);
    EXPECT_NE(test.error_of("q:count()").find("query \"wheel\": a store that it names has left the world"),
              std::string::npos);
    test.world.step(1);
    test.world.step(1);
    EXPECT_TRUE(test.run("assert(runs == 1, runs)"));
    EXPECT_EQ(
        std::ranges::count_if(log.lines,
                              [](const std::string& line) {
                                  return line.starts_with("pass \"roll\" of script \"test\" rests until what it needs");
                              }),
        1);
    ASSERT_TRUE(test.world.attach(wheels).ok());
    test.world.step(1);  // its passes run before the settle that brings the pass back
    test.make_wheels(1);
    test.world.step(1);
    EXPECT_TRUE(test.run("assert(runs == 2 and q:count() == 4 and added == 2, runs)"));
    EXPECT_EQ(test.scripts.num_failures(), 0u) << test.scripts.last_failure().message();
}

TEST(Scripts, queries_look_at_the_table_of_a_component_type_that_got_other_fields) {
    ScriptWorld test;
    const auto schema_of_lamp = [](FieldType type) {
        ComponentDefinition lamp{.name = "lamp"};
        if (type == FieldType::kDouble) lamp.fields.push_back({.name = "colour", .type = FieldType::kVec3});
        lamp.fields.push_back({.name = "light", .type = type});
        return std::move(*Schema::make(std::move(lamp)));
    };
    ASSERT_TRUE(test.world.manager(schema_of_lamp(FieldType::kFloat)).ok());
    ASSERT_TRUE(test.run(
        "e = shoal.create{lamp = {light = 8}} q = shoal.query('&lamp', {'lamp.light'}) changes = 0 "
        "shoal.on_change('lamp.light', function(list) changes = changes + #list end) "
        "shoal.pass{name = 'dim', query = '&lamp', columns = 'lamp.light', run = function(f, b, l) l:mul(0.5) end}"));
    test.world.step(1);
    const Result<SchemaChange*> change = begin_schema_change(test.world, schema_of_lamp(FieldType::kDouble));
    ASSERT_TRUE(change.ok()) << change.message();
    end_schema_change(*change, true);
    test.world.step(1);
    EXPECT_EQ(test.scripts.num_failures(), 0u) << test.scripts.last_failure().message();
    EXPECT_TRUE(
        test.run("assert(shoal.get(e, 'lamp.light') == 2 and changes == 2, changes) "
                 "q:each(function(b, l) assert(l[0] == 2) l[0] = 1e300 end) "
                 "assert(shoal.get(e, 'lamp.light') == 1e300)"));
}

// --- compile functions -------------------------------------------------------------------------------------------

constexpr std::string_view kLight = R"lua(
local function color_of(kelvin) return {1, kelvin / 10000, kelvin / 20000} end
shoal.component{
    name = "light",
    fields = {{"color", "vec3"}, {"power", "float", default = 3}, {"kind", "string_id"}, {"target", "entity"}},
    keys = {"kelvin", "lamp"},
    compile = function(source, refuse)
        if source.kelvin and source.kelvin < 1000 then refuse("a light is not that cold", "kelvin") end
        local lamp = source.lamp or {}
        return {color = color_of(source.kelvin or 5000), kind = lamp.kind, target = lamp.target}
    end,
}
)lua";

/// Compiles a text with the component types of scripts, and returns what is wrong, or spawns it.
std::string compile_and_spawn(ScriptWorld& test, const std::string& text) {
    ComponentRegistry registry;
    if (const Status status = test.scripts.register_components(registry); !status) return std::string(status.message());
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("level.sjson", text);
    const Result<CompiledSource> compiled = compile_file(file, registry, {}, diagnostics);
    if (!compiled) return diagnostics.num_errors() == 0 ? std::string(compiled.message()) : diagnostics.format();
    const Result<Spawned> spawned = spawn_bytes(test.world, compiled->blob);
    return spawned ? "" : std::string(spawned.message());
}

// req: D6
TEST(Scripts, spawn_a_source_with_values_in_place_of_its_own) {
    ComponentRegistry registry;
    ASSERT_TRUE(registry.add<Wheel>() && registry.add<Transform>());
    ScriptOptions options;
    options.compile_context = &registry;
    options.compile = [](void* context, std::string_view text, Array<std::byte>& bytes) -> Status {
        Diagnostics diagnostics;
        const std::uint32_t file = diagnostics.add_file("level.sjson", std::string(text));
        const Result<CompiledSource> compiled =
            compile_file(file, *static_cast<ComponentRegistry*>(context), {}, diagnostics);
        if (compiled) bytes.assign(compiled->blob.begin(), compiled->blob.end());
        return compiled.status();
    };
    ScriptWorld test(options);
    const std::string text =
        "local source = 'entities = { a = { wheel = { speed = 1 } transform = {} } b = { wheel = { speed = 2 } } }' ";
    ASSERT_TRUE(test.run(text + R"lua(
        local made = shoal.spawn(source, {a = {["wheel.speed"] = 9, ["transform.position"] = {1, 2, 3},
                                               ["transform.position.x"] = 6, ["transform.position.y"] = 7,
                                               ["transform.position.z"] = 8,
                                               ["transform.rotation"] = {x = 0, y = 0.6, z = 0, w = 0.8}},
                                          b = {["wheel.angle"] = 0.5}})
        local a, b = made[1], made[2]
        if shoal.get(a, "wheel.speed") ~= 9 then a, b = b, a end
        assert(shoal.get(a, "wheel.speed") == 9 and shoal.get(a, "wheel.angle") == 0)
        assert(shoal.get(b, "wheel.speed") == 2 and shoal.get(b, "wheel.angle") == 0.5)
        local x, y, z = shoal.get(a, "transform.position")
        assert(x == 6 and y == 7 and z == 8, 'a part is set behind the whole')
        x, y, z, w = shoal.get(a, "transform.rotation")
        assert(x == 0 and math.abs(y - 0.6) < 1e-6 and z == 0 and math.abs(w - 0.8) < 1e-6)
        assert(#shoal.spawn(source, nil) == 2 and #shoal.spawn(source, {}) == 2))lua"));
    const std::uint32_t num_alive = test.entities.num_alive();
    constexpr std::pair<const char*, std::string_view> kWrong[] = {
        {"{c = {['wheel.speed'] = 9}}", "there is no entity \"c\"; "},
        {"{a = {['wheel.sped'] = 9}}", "did you mean \"speed\"?"},
        {"{a = {['whel.speed'] = 9}}", "did you mean \"wheel\"?"},
        {"{b = {['transform.scale'] = {1, 1, 1}}}", "it has no \"transform\"; it has wheel"},
        {"{a = {['wheel.speed'] = 'fast'}}", "\"wheel.speed\""},
        {"{a = {['transform.position'] = {1, 2}}}", "\"transform.position\""},
        {"{a = 9}", "values of \"a\" are overridden as"},
        {"{a = {9}}", "by the paths of their fields"},
        {"{{['wheel.speed'] = 9}}", "overrides are given by entity"},
        {"9", "argument 2 is a table of what is overridden"}};
    for (const auto& [overrides, message] : kWrong) {
        const std::string error = test.error_of(text + "shoal.spawn(source, " + overrides + ")");
        EXPECT_NE(error.find(message), std::string::npos) << overrides << ": " << error;
        EXPECT_EQ(test.entities.num_alive(), num_alive) << overrides;
    }
}

TEST_F(ScriptFiles, give_component_types_compile_functions) {
    write(kLight);
    ASSERT_TRUE(test.scripts.load(path).ok());
    EXPECT_EQ("", compile_and_spawn(
                      test,
                      "entities = {\n"
                      "  a = { light = { kelvin = 2000  power = 7  lamp = { kind = \"tube\" target = \"b\" } } }\n"
                      "  b = { light = { color = [9 9 9] } }\n"
                      "}"));
    EXPECT_TRUE(
        test.run("a, b = (unpack or table.unpack)(shoal.find('light')) "
                 "if shoal.get(a, 'light.power') == 3 then a, b = b, a end "
                 "local x, y, z = shoal.get(a, 'light.color') assert(x == 1 and y - 0.2 < 1e-6 and z - 0.1 < 1e-6) "
                 "assert(shoal.get(a, 'light.kind') == 'tube' and shoal.get(a, 'light.target') == b) "
                 "assert(shoal.get(b, 'light.power') == 3 and shoal.get(b, 'light.target') == nil)"));
    const std::string cold = compile_and_spawn(test, "entities = { a = { light = {\n  kelvin = 20 } } }");
    EXPECT_NE(cold.find("level.sjson:2:12: error: "), std::string::npos) << cold;
    EXPECT_NE(cold.find("wheels.lua:8: a light is not that cold"), std::string::npos) << cold;
    EXPECT_NE(cold.find("stack traceback:"), std::string::npos) << cold;
    const std::string wrong = compile_and_spawn(test, "entities = { a = { light = { kelvin = \"warm\" } } }");
    EXPECT_NE(wrong.find("level.sjson:1:28: error: "), std::string::npos) << wrong;
    EXPECT_NE(wrong.find("attempt to compare"), std::string::npos) << wrong;
    const std::string other = compile_and_spawn(test, "entities = { a = { light = { kelvins = 2000 } } }");
    EXPECT_NE(other.find("did you mean \"kelvin\"?"), std::string::npos) << other;
    EXPECT_NE(
        compile_and_spawn(test, "entities = { a = { light = { lamp = { target = \"c\" } } } }").find("no entity \"c\""),
        std::string::npos);
}

TEST(Scripts, compile_functions_use_what_they_are_given) {
    const char* const cases[][2] = {
        {"function() shoal.create() end", "a compile function uses what it is given"},
        {"function() return shoal.find('wheel') end", "a compile function uses what it is given"},
        {"function() return 5 end", "returned a number; it returns a table of fields, or nothing"},
        {"function() return {5} end", "returns fields by their names"},
        {"function() return {hue = 5} end", "has no field \"hue\""},
        {"function() return {power = 'x'} end", "\"power\" is a float"},
        {"function() return {other = 5} end", "return a text that refers to it"},
        {"function() while true do end end", "used all steps of its budget"},
        {"function(source, refuse) keep.refuse = refuse end", ""},
        {"function(source, refuse) refuse('no', 'power', 'x', 5) end", "level.sjson:1:37: error: lights:1: no"},
        {"function(source, refuse) pcall(refuse, 'is xyz', 'power') error('later') end", "level.sjson:1:27: error: "},
    };
    for (const auto& [function, message] : cases) {
        ScriptWorld test({.steps = 200'000});
        ASSERT_TRUE(
            test.scripts
                .run("shoal.component{name = 'lamp', fields = {{'power', 'float'}, {'other', 'entity'}}, compile = " +
                         std::string(function) + "}",
                     "lights")
                .ok())
            << function;
        const std::string error = compile_and_spawn(test, "entities = { a = { lamp = { power = 2 } } }");
        EXPECT_EQ(error.empty(), std::string_view(message).empty()) << function << error;
        EXPECT_NE(error.find(message), std::string::npos) << function << error;
        if (!error.empty()) continue;
        EXPECT_NE(test.scripts.run("keep.refuse('later')", "lights").message().find("has ended"),
                  std::string_view::npos);
        EXPECT_TRUE(test.scripts.run("assert(shoal.get(shoal.find('lamp')[1], 'lamp.power') == 2)", "lights").ok());
    }
    ScriptWorld test;
    ASSERT_TRUE(test.run(
        "shoal.component{name = 'sum', fields = {{'power', 'float'}, {'many', 'uint64'}}, keys = {'power', 'x'}, "
        "compile = function(source) assert(source.power == 5 and source.x == 7) "
        "assert(not math.type or source.many == -2, source.many) end}"));
    EXPECT_EQ(compile_and_spawn(test, "entities = { a = { sum = { power = 5  x = 7  many = 18446744073709551614 } } }"),
              "");
    const Entity made = test.world.directory().find(ComponentId("sum"))->tables()[0]->entities()[0];
    EXPECT_EQ(*test.world.get<float>(made, "sum.power"), 5) << "it has not been returned";
    EXPECT_EQ(*test.world.get<std::uint64_t>(made, "sum.many"), ~std::uint64_t(1));
    EXPECT_NE(test.error_of("shoal.component{name = 'lamp', compile = 5}").find("\"compile\" is a function"),
              std::string::npos);
    EXPECT_NE(test.error_of("shoal.component{name = 'lamp', keys = 'x'}").find("\"keys\" needs a function"),
              std::string::npos);
}

TEST_F(ScriptFiles, have_the_name_of_their_file_and_keep_their_place_when_they_are_reloaded) {
    const std::string other = testing::TempDir() + "two.parts.lua";
    write("#!/usr/bin/env shoal\nkeep.loads = (keep.loads or 0) + 1\nx = 1");
    std::ofstream(other, std::ios::binary) << "\xEF\xBB\xBF#!/usr/bin/env shoal\nx = 2";
    test.world.schedule().add("own", [](PassContext&) {}).after("nobody");
    ASSERT_FALSE(test.world.schedule().prepare());
    ASSERT_TRUE(test.scripts.load(path).ok()) << "an order that was wrong before is not its fault";
    ASSERT_TRUE(test.scripts.load(other).ok());
    ASSERT_EQ(test.scripts.num_scripts(), 2u);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(test.scripts.script(0).name, "wheels");
        EXPECT_EQ(test.scripts.script(1).name, "two.parts");
        EXPECT_EQ(test.scripts.script(1).path, other);
        ASSERT_TRUE(test.scripts.reload("wheels").ok());
    }
    EXPECT_TRUE(test.scripts.run("assert(keep.loads == 4 and x == 1)", "wheels").ok());
    EXPECT_NE(test.scripts.load(other).message().find("a script \"two.parts\" is loaded already, from " + other),
              std::string_view::npos);
    write("x = 1\n\nerror('third line')");
    EXPECT_NE(test.scripts.reload("wheels").message().find("wheels.lua:3: third line"), std::string_view::npos);
    test.world.schedule().clear();
}

TEST_F(ScriptFiles, a_store_in_lua_that_gives_nothing_back_has_no_row_and_defaults_for_what_it_leaves_out) {
    write(R"lua(
        rows, removed = {}, 0
        shoal.store{
            component = {name = "odd", fields = {{"kelvin", "float", default = 2700}, {"size", "float", default = 3}}},
            add = function(entity, values) rows[entity] = values.kelvin end,
            remove = function(entity) rows[entity] = nil removed = removed + 1 end,
            get = function(entity)
                if rows[entity] < 0 then return nil end
                if rows[entity] == 0 then return {} end
                return {kelvin = rows[entity]}
            end,
        }
        function count() local n = 0 for _ in pairs(rows) do n = n + 1 end return n end)lua");
    ASSERT_TRUE(test.scripts.load(path).ok());
    EXPECT_TRUE(test.run("e = shoal.create{odd = {kelvin = 5, size = 9}} assert(shoal.get(e, 'odd').size == 3)"));
    EXPECT_TRUE(test.run("f = shoal.create{odd = {kelvin = 0}} assert(shoal.get(f, 'odd').kelvin == 2700)"));
    EXPECT_NE(test.error_of("shoal.create{odd = {kelvin = -1}}").find("returned nil, not a table of fields"),
              std::string::npos);
    EXPECT_TRUE(test.scripts.run("assert(count() == 2 and removed == 1, removed)", "wheels").ok())
        << "it is taken back from the script, too";
    Store& store = *test.world.directory().find(ComponentId("odd"));
    test.world.settle();
    ASSERT_TRUE(test.scripts.run("e = shoal.find('odd')[1] rows[e] = 50 shoal.changed(e, 'odd')", "wheels").ok());
    EXPECT_EQ(store.tables()[0]->placed_stamp(0), test.world.stamp()) << "what has changed is marked";
    ComponentDefinition wide{.name = "odd"};
    wide.fields.push_back({.name = "kelvin", .type = FieldType::kDouble});
    const Entity other = test.entities.create().value();
    EXPECT_NE(store.add_values(*Schema::make(std::move(wide)), {&other, 1}, {}).message().find("with other fields"),
              std::string_view::npos);
    // A state is loaded twice: each time the script gives up what it has, once, and gets what was saved.
    test.world.settle();
    Snapshot state;
    ASSERT_TRUE(save(test.world, state));
    for (int i = 1; i <= 2; ++i) {
        ASSERT_TRUE(load(test.world, state));
        const Status counted = test.scripts.run(
            "assert(count() == 2 and removed == 1 + 2 * " + std::to_string(i) + ", removed)", "wheels");
        EXPECT_TRUE(counted.ok()) << counted.message();
    }
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
