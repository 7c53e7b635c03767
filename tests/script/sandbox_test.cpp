// What scripts cannot do: reach outside, work or grow without end, use what has ended.

#include "script_world.h"
#include "shoal/base/text.h"

#include <utility>

#include <vector>

namespace shoal {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

TEST(Sandbox, has_no_files_libraries_bytecode_or_debugger) {
    ScriptWorld test;
    EXPECT_TRUE(
        test.run("for _, name in ipairs{'io', 'os', 'package', 'debug', 'ffi', 'jit', 'load', 'loadstring', 'dofile',"
                 "'loadfile', 'require', 'module', 'newproxy', 'getfenv', 'setfenv', 'collectgarbage', 'warn'} do "
                 "assert(_G[name] == nil, name) end"));
    EXPECT_TRUE(test.run("assert(string.dump == nil and ('').dump == nil and getmetatable('') == nil)"));
    EXPECT_FALSE(test.scripts.run("\x1bLua bytes", "other").ok());
    EXPECT_FALSE(test.scripts.run("\x1bLJ\x02", "other").ok());
}

TEST(Sandbox, scripts_do_not_change_what_others_use) {
    ScriptWorld test;
    ASSERT_TRUE(test.run("string.upper = nil shoal.alive = nil math.pi = 3 x = 1"));
    EXPECT_TRUE(test.scripts.run(
        "assert(string.upper('a') == 'A' and ('a'):upper() == 'A' and shoal.alive and x == nil)", "b"));
    EXPECT_TRUE(test.run("assert(x == 1 and math.pi == 3)"));
}

// req: H13
TEST(Sandbox, whatever_runs_for_ever_ends_with_its_budget) {
    const char* const endless[] = {
        "while true do end",
        "repeat until false",
        "::again:: goto again",
        "for i = 1, math.huge do end",
        "for i = 1, 2, 0.000000000001 do end",
        "local function f() return f() end f()",
        "local function f() f() end while true do pcall(f) end",
        "while true do pcall(function() while true do end end) end",
        "local function f() pcall(f) return f() end f()",
        "t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) while true do pcall(rawequal, t[1]) end",
        "for k in function() return 1 end do end",
        "while true do coroutine.wrap(function() while true do coroutine.yield() end end)() end",
        "local c = coroutine.wrap(function() while true do pcall(coroutine.yield) end end) while true do c() end",
        "while true do xpcall(function() while true do end end, function(e) while true do end end) end",
        "table.sort({1, 2, 3}, function() while true do end end)",
        "string.gsub(('x'):rep(100), 'x', function() while true do end end)",
        "local t = {} t.f = function(self) return self.f(self) end t:f()",
    };
    for (const char* text : endless) {
        ScriptWorld test({.steps = 200'000});
        const std::string error = test.error_of(text);
        EXPECT_TRUE(contains(error, "used all steps of its budget") || contains(error, "stack overflow") ||
                    contains(error, "C stack"))
            << text << "\n"
            << error;
        EXPECT_TRUE(test.run("assert(1 + 1 == 2)")) << text;  // the next call has a budget of its own
        test.world.step(0.1f);
    }
}

// Each calls itself through functions that are not Lua, without an end.
constexpr const char* kNestings[] = {
    "coroutine.wrap(nest)()",
    "coroutine.resume(coroutine.create(nest))",
    "pcall(coroutine.wrap(nest)) error('deep')",
    "string.gsub('x', 'x', nest)",
    "for x in coroutine.wrap(nest) do end",
    "table.sort({1, 2}, nest)",
    "table.sort{setmetatable({}, {__lt = nest}), setmetatable({}, {__lt = nest})}",
    "string.format('%s', setmetatable({}, {__tostring = nest}))",
    "tostring(setmetatable({}, {__tostring = nest}))",
    "xpcall(nest, nest)",
    "xpcall(error, nest)",
    "pcall(nest) error('deep')",
    "return setmetatable({}, {__index = nest}).x",
    "coroutine.wrap(function() table.sort({1, 2}, function() string.gsub('x', 'x', nest) end) end)()",
    "coroutine.wrap(function() string.format('%s', setmetatable({}, {__tostring = nest})) end)()",
    "shoal.add(shoal.create(), 'glow')",
    "coroutine.wrap(function() shoal.set(shoal.create{glow = {}}, 'glow.kelvin', 1) end)()",
    "query:each(nest)",
};

// req: H13
TEST(Sandbox, whatever_calls_itself_through_functions_of_the_library_ends_with_an_error) {
    const std::uint64_t steps = Scripts::version() == "LuaJIT 2.1" ? 5'000'000 : 300'000;
    for (const char* text : kNestings) {
        ScriptWorld test({.is_quiet = true, .steps = steps});
        test.make_wheels(1);
        ASSERT_TRUE(
            test.run("shoal.store{component = {name = 'glow', fields = {{'kelvin', 'float'}}},\n"
                     "add = function() if nest then nest() end end, remove = function() end,\n"
                     "set = function() nest() end, get = function() return {} end} query = shoal.query('wheel')"));
        const std::string nest = std::string("function nest() ") + text + " end ";
        EXPECT_NE("", test.error_of(nest + "nest() error('it came to an end')")) << text;
        EXPECT_TRUE(test.run(nest + "shoal.pass{name = 'nest', run = function() nest() end}")) << text;
        test.world.step(0.1f);
        EXPECT_TRUE(
            test.run("nest = nil\n"  // all levels have ended: as many coroutines as before
                     "local function deep(n) return n == 0 or coroutine.wrap(deep)(n - 1) end assert(deep(60))"))
            << text;
    }
}

TEST(Sandbox, coroutines_may_be_as_deep_as_is_promised_and_the_message_says_so) {
    ScriptWorld test;
    if (Scripts::version() != "LuaJIT 2.1") GTEST_SKIP() << "Lua 5.4 has a limit and a message of its own";
    ASSERT_TRUE(test.run("function deep(n) return n == 0 or coroutine.wrap(deep)(n - 1) end assert(deep(190))"));
    EXPECT_TRUE(
        contains(test.error_of("for i = 1, 300 do pcall(deep, 300) end deep(300)"),
                 "too many coroutines and functions that other functions call, one within the other: at most 200"));
    EXPECT_TRUE(
        test.run("for i = 1, 300 do pcall(coroutine.wrap(error)) pcall(string.format, '%d', 'x') end\n"
                 "assert(deep(190))"));
}

TEST(Sandbox, coroutines_and_sorts_do_what_they_do_in_lua_and_an_error_names_its_line) {
    ScriptWorld test;
    EXPECT_TRUE(
        test.run("local c = coroutine.wrap(function(a, b) local x = coroutine.yield(a + b) return x, nil, 3 end)\n"
                 "assert(c(1, 2) == 3 and select('#', c(5)) == 3)\n"
                 "local ok, why = pcall(c) assert(not ok and why:find('dead coroutine'), why)\n"
                 "local t = coroutine.create(function() error({1}) end) ok, why = coroutine.resume(t)\n"
                 "assert(not ok and why[1] == 1 and coroutine.status(t) == 'dead')\n"
                 "ok, why = pcall(coroutine.wrap(function() error({2}) end)) assert(not ok and why[1] == 2)"));
    EXPECT_TRUE(
        test.run("for count = 0, 40 do local t, sum = {}, 0\n"
                 "for i = 1, count do t[i] = i * 7919 % 23 sum = sum + t[i] end table.sort(t)\n"
                 "for i = 2, count do assert(t[i - 1] <= t[i]) end\n"
                 "table.sort(t, function(a, b) return a > b end)\n"
                 "for i = 1, count do sum = sum - t[i] assert(i == 1 or t[i - 1] >= t[i]) end\n"
                 "assert(sum == 0 and #t == count) end\n"
                 "local words = {'b', 'c', 'a'} table.sort(words) assert(table.concat(words) == 'abc')\n"
                 "local t = {3, 2, 'x', 1} assert(not pcall(table.sort, t) and t[3] == 'x' and t[4] == 1)"));
    const std::pair<const char*, const char*> errors[] = {
        {"coroutine.resume(5)", "test:2: bad argument #1 to 'resume'"},
        {"coroutine.wrap(5)", "test:2: bad argument #1 to 'wrap'"},
        {"coroutine.wrap(function() local x = nil + 1 end)()", "test:2: "},
        {"table.sort({1, 'x'})", "test:2: attempt to compare"},
        {"table.sort({1, 2}, function(a, b)\n return a.x < b.x end)", "test:3: "},
        {"table.sort(5)", "test:2: bad argument #1 to 'sort'"},
        {"table.sort({}, 5)", "test:2: bad argument #2 to 'sort'"},
    };
    for (const auto& [text, error] : errors) EXPECT_TRUE(contains(test.error_of(concat('\n', text)), error)) << text;
}

TEST(Sandbox, nothing_of_the_library_works_for_ever) {
    const char* const costly[] = {
        "string.rep('', 1e15) error('done')",
        "string.rep('x', 1e15)",
        "table.move({}, 1, 1e15, 2)",
        "string.find(('a'):rep(40000), ('a*'):rep(30) .. 'b')",
        "string.gsub(('a'):rep(40000), '.-.-.-.-.-b', '')",
        "string.match(('a'):rep(40000), ('.-'):rep(20) .. 'b')",
        "for _ in string.gmatch(('a'):rep(40000), '(a*)(a*)(a*)(a*)b') do end",
        "table.concat(setmetatable({}, {__len = function() return 1e15 end, __index = type})) error('done')",
        "table.insert(setmetatable({}, {__len = function() return 1e15 end}), 1, 2) while true do end",
        "return {unpack = (unpack or table.unpack)({}, 1, 1e9)}",
        "table.insert({1, 2}, 1e10, 1)",
        "table.insert({1, 2}, '1e10', 1)",
        "table.insert({1, 2}, 0/0, 1)",
        "table.insert({1, 2}, -5, 1)",
    };
    for (const char* text : costly) {
        ScriptWorld test({.memory_bytes = 8u << 20, .steps = 200'000});
        EXPECT_FALSE(test.scripts.run(text, "test").ok()) << text;
    }
}

// req: H13
TEST(Sandbox, memory_has_a_limit_and_the_world_goes_on) {
    ScriptWorld test({.memory_bytes = 4u << 20});
    for (const char* text :
         {"t = {} for i = 1, 1e9 do t[i] = {} end", "s = 'x' while true do s = s .. s end",
          "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(100000) .. #t end) end"}) {
        const std::string error = test.error_of(text);
        EXPECT_TRUE(contains(error, "not enough memory") || contains(error, "budget")) << error;
        EXPECT_LT(test.scripts.memory_used(), 5u << 20);
        ASSERT_TRUE(test.run("t = nil s = nil"));
        test.world.step(0.1f);
    }
    EXPECT_TRUE(test.run("local t = {} for i = 1, 1000 do t[i] = {i} end"));
}

TEST(Sandbox, a_call_that_finds_the_stack_full_leaves_the_limit_of_memory_in_force) {
    const char* const calls[] = {
        "pcall(string.find, 'x', ('()'):rep(32))",
        "pcall(string.gsub, 'x', ('(x?)'):rep(32), math.max)",
        "pcall(string.gmatch('x', ('()'):rep(32)))",
        "pcall(query.each, query, print)",
        "pcall(shoal.add, wheel, 'glow', {kelvin = 1})",
        "pcall(shoal.get, wheel, 'wheel')",
        "pcall(shoal.find, 'wheel')",
    };
    for (const char* call : calls) {
        ScriptWorld test({.memory_bytes = 4u << 20, .is_quiet = true});
        if (Scripts::version() != "LuaJIT 2.1") GTEST_SKIP() << "a stack that is full is no error there";
        test.make_wheels(1);
        ASSERT_TRUE(
            test.run("query, wheel, rows = shoal.query('wheel'), shoal.find('wheel')[1], {}\n"
                     "shoal.store{component = {name = 'glow', fields = {{'kelvin', 'float'}}},\n"
                     "add = function(e, values) rows[e] = values end, remove = function(e) rows[e] = nil end,\n"
                     "get = function(e) return rows[e] end}"));
        for (const char* wrap : {"local f = down", "local f = function(n) return coroutine.wrap(down)(n) end"}) {
            const std::string error = test.error_of(
                std::string("local most local function dive() ") + call + " return 1 + dive() end\n" +
                "local function probe(n) most = n return 1 + probe(n + 1) end pcall(probe, 1)\n"
                "local function down(n) if n < 1 then return dive() end return 1 + down(n - 1) end " +
                wrap +
                " pcall(f, most * 0.99) local t = {} for i = 1, 200000 do t[i] = {} end error('it may hold all')");
            EXPECT_TRUE(contains(error, "not enough memory")) << call << error;
            EXPECT_LT(test.scripts.memory_used(), 5u << 20) << call;
        }
    }
}

TEST(Sandbox, what_a_script_does_to_the_table_of_its_passes_ends_nothing) {
    ScriptWorld test({.is_quiet = true});
    test.make_wheels(1);
    ASSERT_TRUE(
        test.run("count = 0 shoal.pass{name = 'turn', query = 'wheel', run = function(frame) count = count + 1\n"
                 "for key in pairs(frame) do frame[key] = nil end\n"
                 "setmetatable(frame, {__newindex = function() error('no') end}) end}"));
    test.world.step(0.1f);
    test.world.step(0.1f);
    EXPECT_TRUE(test.run("assert(count == 2)"));
}

TEST(Sandbox, what_functions_of_the_library_make_counts_as_memory_and_steps) {
    ScriptWorld test({.memory_bytes = std::size_t(8) << 20, .steps = 50'000'000});
    EXPECT_TRUE(contains(test.error_of("(('x'):rep(100000)):gsub('.+', ('%0'):rep(100000))"), "not enough memory"));
    EXPECT_TRUE(
        contains(test.error_of("t = {0, 0, 0, 0, 0, 0, 0, 0} for i = 1, 8 do t[i] = ('x'):rep(2000000 + i) end"),
                 "not enough memory"));
    EXPECT_TRUE(test.run("t = nil assert(#('x'):rep(2000000) == 2000000)"));
    EXPECT_TRUE(contains(
        test.error_of("t = {} for i = 1, 100000 do t[i] = i end while true do table.move(t, 1, 100000, 1) end"),
        "budget"));
    EXPECT_TRUE(test.run("assert((('a\\0b'):gsub('(.*)', '%1', 1)) == 'a\\0b')"));
}

TEST(Sandbox, functions_of_the_library_count_steps_by_what_they_work) {
    const char* const costly[] = {
        "table.remove(list, 1)",
        "table.insert(list, 1, 0)",
        "table.sort(list)",
        "table.concat(list)",
        "table.concat(texts)",
        "local n = ((unpack or table.unpack)(list, 1, 7000))",
        "long:upper()",
        "long:reverse()",
        "long:sub(2)",
        "string.format('%s', long)",
        "long:rep(2)",
        "tonumber(long)",
        "table.move(list, 1, #list, 1)",
        "string.find(long, 'xy')",
        "string.find('x', long)",
        "string.find(long, ('x'):rep(1000) .. 'y', 1, true)",
        "string.find('xxxxxxxx', set)",
        "string.find('xxxxxxxx', '%f' .. set)",
        "string.gsub('x', 'x', long)",
        "rows:count() rows:entities()",
        "rows:each(function(batch, angle) angle:fill(1) angle:sum() end)",
        "shoal.find('wheel')",
        "shoal.tag(entity, long)",
    };
    if (Scripts::version() != "LuaJIT 2.1") GTEST_SKIP() << "hooks count there";
    for (const char* text : costly) {
        ScriptWorld test({.steps = 2'000'000});
        std::vector<Entity> wheels(20000);
        ASSERT_TRUE(test.entities.create(wheels) && test.world.manager<Wheel>().add(wheels, Wheel{}));
        ASSERT_TRUE(
            test.run("list, texts, n, long = {}, {}, 0, ('x'):rep(200000) for i = 1, 20000 do list[i] = i end "
                     "for i = 1, 10 do texts[i] = long end set = '[' .. ('y'):rep(20000) .. ']' "
                     "rows, entity = shoal.query('&wheel', 'wheel.angle'), shoal.find('wheel')[1]"));
        const std::string error = test.error_of("while true do n = n + 1 kept = nil " + std::string(text) + " end");
        EXPECT_TRUE(contains(error, "used all steps of its budget")) << text << error;
        EXPECT_TRUE(test.run("assert(n < 2500, n)")) << text;
    }
}

TEST(Sandbox, what_a_script_makes_outside_of_lua_has_a_limit_and_a_query_is_made_once) {
    ScriptWorld test({.is_quiet = true});
    test.make_wheels(1);
    EXPECT_TRUE(
        test.run("local kept = shoal.query('wheel', 'wheel.angle')\n"
                 "for i = 1, 5000 do assert(shoal.query('wheel', {'wheel.angle'}):count() == 1) end\n"
                 "kept:each(function(batch, angle) assert(angle[0] == 0) end)\n"
                 "shoal.set(shoal.find('wheel')[1], 'wheel.speed', 5)\n"
                 "shoal.query('wheel', {'wheel.speed'}):each(function(batch, speed) assert(speed[0] == 5) end)\n"
                 "shoal.query('wheel'):each(function(batch, none) assert(none == nil) end)"))
        << "one with other columns is another one";
    const char* const made[][2] = {
        {"shoal.query('wheel, wheel.angle < ' .. i)", "queries"},
        {"shoal.events{name = 'channel' .. i, fields = {{'x', 'float'}}}", "channels"},
        {"shoal.on_add('wheel', print)", "observers"},
    };
    for (const auto& one : made) {
        const std::string error =
            test.error_of("for i = 1, 3000 do " + std::string(one[0]) + " end error('there is no limit')");
        EXPECT_TRUE(contains(error, std::string("a script makes at most 1000 ") + one[1] +
                                        "; make each once, and keep it in a variable"))
            << error;
    }
}

TEST(Sandbox, a_traceback_shows_functions_of_scripts_only) {
    ScriptWorld test({.steps = 1000});
    test.make_wheels(1);
    for (const char* text : {"local function work() while true do end end\nwork()",
                             "shoal.query('wheel'):each(function() while true do end end)",
                             "local function f() return 1 + f() end f()", "while true do table.sort({3, 2, 1}) end"}) {
        const std::string error = test.error_of(text);
        EXPECT_TRUE(contains(error, "stack traceback:")) << error;
        EXPECT_TRUE(contains(error, "test:1:")) << error;
        for (const char* own : {"shoal_tick_", "take", "[shoal]", "enter", "columns", "charge"})
            EXPECT_FALSE(contains(error, own)) << error;
    }
    EXPECT_TRUE(contains(test.error_of("\ntable.concat({{}})"), "test:2: ")) << test.error_of("\ntable.concat({{}})");
    EXPECT_TRUE(contains(test.error_of("\n\ntable.insert(5, 6)"), "test:3: "));
    EXPECT_TRUE(contains(test.error_of("\nstring.format('%d', 'x')"), "test:2: "));
}

TEST(Sandbox, there_are_no_finalizers) {
    ScriptWorld test;
    EXPECT_TRUE(contains(test.error_of("setmetatable({}, {__gc = function() end})"), "scripts have no finalizers"));
}

TEST(Sandbox, functions_that_stand_for_those_of_lua_do_what_lua_does) {
    ScriptWorld test;
    EXPECT_TRUE(test.run("assert(('ab'):rep(3, '-') == 'ab-ab-ab' and ('ab'):rep(1, '-') == 'ab')"));
    EXPECT_TRUE(
        test.run("t = {1, 2, 3, 4} table.move(t, 1, 3, 2) assert(table.concat(t, ' ') == '1 1 2 3')\n"
                 "t = {1, 2, 3, 4} table.move(t, 2, 4, 1) assert(table.concat(t, ' ') == '2 3 4 4')\n"
                 "other = {} table.move(t, 1, 2, 2, other) assert(other[2] == 2 and other[3] == 3 and #t == 4)"));
    EXPECT_TRUE(
        test.run("t = setmetatable({}, {__index = {x = 1}}) assert(t.x == 1 and getmetatable(t).__index.x == 1)\n"
                 "assert(getmetatable(setmetatable(t, nil)) == nil and t.x == nil)\n"
                 "t = setmetatable({}, {__metatable = 'locked'}) assert(getmetatable(t) == 'locked')"));
    EXPECT_TRUE(contains(test.error_of("setmetatable(t, {})"), "the metatable is protected by __metatable"));
    EXPECT_TRUE(
        test.run("ok, a, b = xpcall(function(x, y) return x + y, 5 end, error, 1, 2) assert(ok and a == 3 and b == 5)\n"
                 "ok, a = xpcall(error, function(e) return 'handled ' .. e end, 'it', 0)\n"
                 "assert(ok == false and a == 'handled it')"));
}

TEST(Sandbox, the_name_that_counts_steps_is_reserved_under_luajit) {
    ScriptWorld test;
    if (Scripts::version() != "LuaJIT 2.1") GTEST_SKIP() << "hooks count there";
    EXPECT_TRUE(contains(test.error_of("shoal_tick_ = nil"), "the name shoal_tick_ is reserved"));
    EXPECT_TRUE(contains(test.error_of("local function f(shoal_tick_) end"), "is reserved"));
}

TEST(Sandbox, counting_steps_changes_neither_lines_nor_meaning) {
    ScriptWorld test;
    EXPECT_TRUE(test.run(
        "#!/usr/bin/lua\nlocal s = [==[ do while ]] function ]==] --[[ do\nrepeat ]] local n = 0x1p4 + 1e+2 + .5\n"
        "for i = 1, 3 do (function(...) n = n + select('#', ...) end)(i, 2) end -- do\n"
        "local t = {['do'] = 1, [ [[function]] ] = 2, f = function() return 'a\\'do\\\"' end}\n"
        "for i = 1, 3 do if i == 2 then goto continue end n = n + 1 ::continue:: end\n"
        "repeat local z = n n = n + 1 until z > 0\n"
        "assert(n == 16 + 100 + .5 + 6 + 2 + 1, n) assert(t.f() == 'a\\'do\"' and s == ' do while ]] function ')"));
    EXPECT_TRUE(test.run("local s = [=[ a ]] do b ]=] assert(s == ' a ]] do b ', s)"));
    EXPECT_TRUE(contains(test.error_of("local a = 1\n\n  local b = nil + 1"), "test:3:"));
    EXPECT_TRUE(contains(test.error_of("for i = 1, 2 do\n  local x = =\nend"), "test:2:"));
}

TEST(Sandbox, a_column_ends_with_the_call_that_it_was_given_to) {
    ScriptWorld test;
    test.make_wheels(10);
    ASSERT_TRUE(test.run("q = shoal.query('&wheel', {'wheel.angle'}) q:each(function(b, a) batch, column = b, a end)"));
    for (const char* use : {"return column[0]", "column[0] = 1", "return batch.count", "return batch.entities[0]",
                            "return #column", "column:fill(1)", "return column:sum()"})
        EXPECT_TRUE(contains(test.error_of(use), "the batch has ended")) << use << test.error_of(use);
    EXPECT_TRUE(contains(test.error_of("q:each(function(b, a) return column[0] end)"), "the batch has ended"));
    test.world.settle();
    EXPECT_TRUE(contains(test.error_of("column[0] = 1"), "the batch has ended"));
}

TEST(Sandbox, rows_outside_of_a_batch_are_neither_read_nor_written) {
    ScriptWorld test;
    const std::vector<Entity> wheels = test.make_wheels(10);
    ASSERT_TRUE(test.run("q = shoal.query('&wheel', {'wheel.angle'})"));
    for (const char* row :
         {"10", "-1", "1e300", "-1e300", "0/0", "math.huge", "'x'", "nil", "{}", "2^32", "1.5 + 9", "-0.5"}) {
        const std::string place = std::string("a[") + row + "]";
        EXPECT_NE("", test.error_of("q:each(function(b, a) " + place + " = 1 end)")) << row;
        EXPECT_NE("", test.error_of("q:each(function(b, a) return " + place + ".x end)")) << row;
    }
    for (const Entity wheel : wheels) EXPECT_EQ(test.angle(wheel), 0);
    EXPECT_TRUE(contains(test.error_of("q:each(function(b, a) a[10] = 1 end)"),
                         "row 10 of \"wheel.angle\" is outside: rows are 0 to batch.count - 1, and the batch has 10"));
}

TEST(Sandbox, columns_that_a_query_only_reads_are_not_written) {
    ScriptWorld test;
    test.make_wheels(10);
    ASSERT_TRUE(test.run("q = shoal.query('wheel', {'wheel.angle'})"));
    const std::string error = test.error_of("q:each(function(b, a) a[0] = 1 end)");
    EXPECT_TRUE(contains(error, "the query only reads \"wheel.angle\"; write &wheel in its text")) << error;
    EXPECT_NE("", test.error_of("q:each(function(b, a) a:fill(1) end)"));
    EXPECT_NE("", test.error_of("q:each(function(b, a) a.slot = 5 end)"));
    EXPECT_NE("", test.error_of("q:each(function(b, a) return a.first + 1 end)"));
}

TEST(Sandbox, forged_tokens_reach_nothing) {
    ScriptWorld test;
    test.make_wheels(10);
    ASSERT_TRUE(test.run("q = shoal.query('&wheel', {'wheel.angle'}) q:each(function(b, a) fill = a.fill end)"));
    for (const char* use : {"fill(5, 1)", "fill({slot = 1, serial = 2}, 1)", "fill(q, 1)", "q.each({}, print)",
                            "q.each(nil)", "fill(nil)", "fill()"})
        EXPECT_NE("", test.error_of(use)) << use;
    if (Scripts::version() == "LuaJIT 2.1") {
        EXPECT_NE("", test.error_of("fill(0x200000001LL, 1)"));
        EXPECT_NE("", test.error_of("q:each(function(b, a) fill(0xFFFFFFFFFFFFFFFFULL, 1) end)"));
    }
}

}  // namespace
}  // namespace shoal
