// Patterns mean what they mean in Lua: random ones are matched by the functions that scripts get, and by those of Lua itself.

#include "script_world.h"

#include "shoal/base/log.h"
#include "support/testing.h"

#include <lua.hpp>

namespace shoal {
namespace {

// Returns what each case gives, a line for each. LuaJIT's own gsub and gmatch treat empty matches as Lua 5.1 does, scripts get
// those of Lua 5.4: there, cases with an empty match are left out.
constexpr std::string_view kCases = R"lua(
local seed, is_jit = SEED, IS_JIT
local function draw(n)
    seed = (seed * 48271) % 2147483647
    return seed % n + 1
end
local pieces = {"a", "b", "c", "%a", "%d", "%s", "%w", "%A", "%.", "%%", ".", "[ab]", "[^a]", "[a-b]", "[]]", "[a-]", "[-b]", "[%a-]", "[^]", "[", "]", "(", ")",
                "()", "^", "$", "*", "+", "-", "?", "%1", "%2", "%bab", "%b", "%f[%w]", "%f", "%", "1", " ",
                "(a)", "(.)", "(%w+)"} -- so that many back references have what they refer to
if not is_jit then pieces[#pieces + 1] = "\0" end -- where a pattern of LuaJIT ends
local subject_of = {"a", "b", "c", "1", " ", "]", "\0", "ab", "aab", "%"}
local function text_of(list, most)
    local parts = {}
    for i = 1, draw(most) - 1 do parts[i] = list[draw(#list)] end
    return table.concat(parts)
end
local function shown(is_good, ...)
    if not is_good then return "error" end
    local parts = {}
    for i = 1, select("#", ...) do parts[i] = tostring((select(i, ...))) end
    return table.concat(parts, ",")
end
local function all(text, pattern)
    local found = {}
    for a, b in string.gmatch(text, pattern) do found[#found + 1] = tostring(a) .. "/" .. tostring(b) end
    return table.concat(found, " ")
end
local function has_empty_match(text, pattern)
    if pattern:sub(1, 1) == "^" then return true end -- or may have
    for i = 1, #text + 1 do
        local first, last = string.find(text, pattern, i)
        if first and last < first then return true end
    end
    return false
end
local function may_be_empty(text, pattern)
    local is_good, is_empty = pcall(has_empty_match, text, pattern)
    return not is_good or is_empty
end
local replacements = {"x", "<%0>", "%1", "%%", "%2"}
if not is_jit then replacements[6], replacements[7] = "%", "%x" end -- LuaJIT takes them
replacements[#replacements + 1] = {a = "T", b = 7, ["1"] = false}
replacements[#replacements + 1] = function(x) return x == "a" and "F" or x == "b" and 3 end
local function one()
    local kind, text, pattern = draw(4), text_of(subject_of, 9), text_of(pieces, 7)
    local what, start = nil, draw(12) - 6
    if is_jit and start > #text then start = 1 end -- LuaJIT goes on at the end
    if kind == 1 then what = shown(pcall(string.find, text, pattern, start))
    elseif kind == 2 then what = shown(pcall(string.match, text, pattern, start))
    elseif is_jit and may_be_empty(text, pattern) then what = shown(pcall(string.find, text, pattern))
    elseif kind == 3 then what = shown(pcall(string.gsub, text, pattern, replacements[draw(#replacements)], draw(3) == 1 and draw(3) or nil))
    else what = shown(pcall(all, text, pattern)) end
    return string.format("%d %q %q ", kind, text, pattern) .. what
end
local lines = {}
for i = 1, COUNT do lines[i] = one() end
return table.concat(lines, "\n")
)lua";

std::string cases(std::uint64_t seed, int count) {
    const bool is_jit = Scripts::version() == "LuaJIT 2.1";
    return "local SEED, IS_JIT, COUNT = " + std::to_string(seed % 2147483645 + 1) + ", " + (is_jit ? "true" : "false") +
           ", " + std::to_string(count) + " " + std::string(kCases);
}

std::string by_lua(const std::string& text) {
    lua_State* const lua = luaL_newstate();
    luaL_openlibs(lua);
    const bool is_good = luaL_loadstring(lua, text.c_str()) == 0 && lua_pcall(lua, 0, 1, 0) == 0;
    std::size_t length = 0;
    const char* const first = lua_tolstring(lua, -1, &length);
    std::string lines(first, length);
    EXPECT_TRUE(is_good) << lines;
    lua_close(lua);
    return lines;
}

std::string by_scripts(ScriptWorld& test, const std::string& text) {
    std::string lines;
    set_log_hook([](void* to, LogLevel, std::string_view said) { *static_cast<std::string*>(to) = said; }, &lines);
    EXPECT_TRUE(test.run("shoal.log((function() " + text + " end)())"));
    set_log_hook(nullptr, nullptr);
    return lines.substr(std::min(lines.size(), std::string_view("test: ").size()));
}

TEST(Patterns, mean_what_they_mean_in_lua) {
    SCOPED_TRACE(shoal_test::seed_text());
    constexpr int kRounds = 10, kCount = shoal_test::kSanitized ? 2000 : 12000;
    ScriptWorld test({.steps = 1'000'000'000});
    for (int round = 0; round < kRounds; ++round) {
        const std::string text = cases(shoal_test::seed() + static_cast<std::uint64_t>(round) * 7919, kCount);
        const std::string expected = by_lua(text), given = by_scripts(test, text);
        if (expected == given) continue;
        const auto [wrong, right] = std::mismatch(given.begin(), given.end(), expected.begin(), expected.end());
        const auto line_at = [](const std::string& lines, std::size_t place) {
            const std::size_t begin = lines.rfind('\n', place == 0 ? 0 : place - 1) + 1;
            return lines.substr(begin, lines.find('\n', begin) - begin);
        };
        const auto place = static_cast<std::size_t>(wrong - given.begin());
        FAIL() << "scripts get " << line_at(given, place) << "\nLua gives   " << line_at(expected, place);
    }
}

}  // namespace
}  // namespace shoal
