#pragma once
// Adds calls that count steps to the text of a script, because compiled loops of LuaJIT call no hooks:
//
//     while more() do work() end            while more() do shoal_tick_();work() end
//     repeat work() until done()            repeat shoal_tick_();work() until done()
//     function f(a) return f(a) end         function f(a) shoal_tick_();return f(a) end
//     goto again                            shoal_tick_();goto again
//
// Whatever runs for ever runs one of these for ever. The text is read token by token, and lines stay where they are.

#include <string>
#include <string_view>

namespace shoal::lua {

/// Returns false, and says why, if the text has a name that is reserved.
bool add_budget_checks(std::string_view text, std::string& counted, std::string& why);

}  // namespace shoal::lua
