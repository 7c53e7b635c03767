// string.find, match, gmatch and gsub with Lua's patterns. Lua's own functions try all ways to match before they give
// up, which takes years for ("a*"):rep(30) .. "b". The functions here count every step against the budget.

#include "script/state.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace shoal::lua {
namespace {

constexpr std::size_t kMostCaptures = 32;
constexpr int kDeepest = 180;
constexpr std::ptrdiff_t kOpen = -1;      // a capture that is still open
constexpr std::ptrdiff_t kPosition = -2;  // () captures a position

struct Capture {
    const char* first = nullptr;
    std::ptrdiff_t length = 0;
};

/// An attempt to match a pattern at a position in a string.
class Matcher {
public:
    Matcher(std::string_view text, std::string_view pattern, double& steps_left)
        : begin_(text.data()),
          end_(text.data() + text.size()),
          pattern_end_(pattern.data() + pattern.size()),
          steps_left_(steps_left) {}

    /// Returns the end of the match, or nullptr. If the pattern is invalid or the budget is exhausted, error() is set.
    const char* match_at(const char* at, const char* pattern) {
        num_captures_ = 0;
        return match(at, pattern);
    }
    const char* error() const { return error_; }
    std::size_t num_captures() const { return num_captures_; }
    const Capture& capture(std::size_t i) const { return captures_[i]; }
    const char* begin() const { return begin_; }
    const char* end() const { return end_; }

private:
    const char* fail(const char* why) {
        if (error_ == nullptr) error_ = why;
        return nullptr;
    }
    bool step() {
        if (--steps_left_ >= 0 && error_ == nullptr) return true;
        fail("the script has used all steps of its budget; the pattern is too costly for the text");
        return false;
    }

    static bool is_of_class(int c, int name) {
        constexpr std::string_view kNames = "acdglpsuwx";
        constexpr int (*kClasses[])(int) = {std::isalpha, std::iscntrl, std::isdigit, std::isgraph, std::islower,
                                            std::ispunct, std::isspace, std::isupper, std::isalnum, std::isxdigit};
        const std::size_t i = kNames.find(static_cast<char>(std::tolower(name)));
        if (i == std::string_view::npos) return name == c;
        return (kClasses[i](c) != 0) != (std::isupper(name) != 0);
    }

    /// Returns the end of the single character class at `p`.
    const char* class_end(const char* p) {
        if (*p++ == '%') {
            if (p == pattern_end_) return fail("the pattern ends with '%'");
            return p + 1;
        }
        if (p[-1] != '[') return p;
        if (p != pattern_end_ && *p == '^') ++p;
        do {
            if (p == pattern_end_) return fail("the pattern has a '[' without a ']'");
            if (*p++ == '%') {
                if (p == pattern_end_) return fail("the pattern has a '[' without a ']'");
                ++p;
            }
        } while (p == pattern_end_ || *p != ']');
        return p + 1;
    }

    /// `p` is at '[', `last` at its ']'.
    static bool is_in_set(int c, const char* p, const char* last) {
        const bool is_complement = p[1] == '^';
        if (is_complement) ++p;
        while (++p < last) {
            if (*p == '%') {
                if (is_of_class(c, static_cast<unsigned char>(*++p))) return !is_complement;
            } else if (p[1] == '-' && p + 2 < last) {
                p += 2;
                if (static_cast<unsigned char>(p[-2]) <= c && c <= static_cast<unsigned char>(*p))
                    return !is_complement;
            } else if (static_cast<unsigned char>(*p) == c) {
                return !is_complement;
            }
        }
        return is_complement;
    }

    bool is_single(const char* at, const char* p, const char* class_end) const {
        if (at >= end_) return false;
        const int c = static_cast<unsigned char>(*at);
        if (*p == '.') return true;
        if (*p == '%') return is_of_class(c, static_cast<unsigned char>(p[1]));
        if (*p == '[') {
            steps_left_ -= static_cast<double>(class_end - p) / 16;
            return is_in_set(c, p, class_end - 1);
        }
        return static_cast<unsigned char>(*p) == c;
    }

    const char* match_balanced(const char* at, const char* p) {
        if (p + 1 >= pattern_end_) return fail("%b needs two characters");
        if (at >= end_ || *at != *p) return nullptr;
        std::size_t depth = 1;
        while (++at < end_) {
            if (!step()) return nullptr;
            if (*at == p[1]) {
                if (--depth == 0) return at + 1;
            } else if (*at == p[0]) {
                ++depth;
            }
        }
        return nullptr;
    }

    const char* expand_most(const char* at, const char* p, const char* rest) {
        std::ptrdiff_t count = 0;
        while (is_single(at + count, p, rest)) {
            if (!step()) return nullptr;
            ++count;
        }
        for (; count >= 0 && error_ == nullptr; --count)
            if (const char* found = match(at + count, rest + 1); found != nullptr) return found;
        return nullptr;
    }

    const char* expand_least(const char* at, const char* p, const char* rest) {
        for (; step(); ++at) {
            if (const char* found = match(at, rest + 1); found != nullptr) return found;
            if (!is_single(at, p, rest)) return nullptr;
        }
        return nullptr;
    }

    const char* start_capture(const char* at, const char* p, std::ptrdiff_t what) {
        if (num_captures_ == kMostCaptures) return fail("the pattern has more than 32 captures");
        captures_[num_captures_++] = {at, what};
        const char* const found = match(at, p);
        if (found == nullptr) --num_captures_;
        return found;
    }

    const char* end_capture(const char* at, const char* p) {
        std::size_t i = num_captures_;
        while (i > 0 && captures_[i - 1].length != kOpen) --i;
        if (i == 0) return fail("the pattern has a ')' without a '('");
        captures_[i - 1].length = at - captures_[i - 1].first;
        const char* const found = match(at, p);
        if (found == nullptr) captures_[i - 1].length = kOpen;
        return found;
    }

    const char* match_back_reference(const char* at, int digit) {
        const std::size_t i = static_cast<std::size_t>(digit - '1');
        if (digit == '0' || i >= num_captures_ || captures_[i].length == kOpen)
            return fail("the pattern refers to a capture that is not there");
        if (captures_[i].length == kPosition) return nullptr;  // as in Lua, a position does not match any string
        const std::ptrdiff_t length = captures_[i].length;
        if (end_ - at < length || std::memcmp(captures_[i].first, at, static_cast<std::size_t>(length)) != 0)
            return nullptr;
        steps_left_ -= static_cast<double>(length) / 16;
        return at + length;
    }

    bool is_frontier(const char* at, const char* p, const char* last) const {
        const int before = at == begin_ ? 0 : static_cast<unsigned char>(at[-1]);
        const int here = at == end_ ? 0 : static_cast<unsigned char>(*at);
        return !is_in_set(before, p, last) && is_in_set(here, p, last);
    }

    /// Matches an item that begins with '%' but is not a class: %b, %f or %1. Moves `p` past the item.
    const char* match_special(const char* at, const char*& p) {
        if (p[1] == 'b') {
            const char* const found = match_balanced(at, p + 2);
            p += 4;
            return found;
        }
        if (p[1] != 'f') {
            const char* const found = match_back_reference(at, p[1]);
            p += 2;
            return found;
        }
        p += 2;
        if (p == pattern_end_ || *p != '[') return fail("%f needs a set in brackets");
        const char* const set_end = class_end(p);
        if (set_end == nullptr) return nullptr;
        steps_left_ -= static_cast<double>(set_end - p) / 8;
        const bool is_there = is_frontier(at, p, set_end - 1);
        p = set_end;
        return is_there ? at : nullptr;
    }

    static bool is_special(const char* p, const char* end) {
        return *p == '%' && p + 1 < end && (p[1] == 'b' || p[1] == 'f' || (p[1] >= '0' && p[1] <= '9'));
    }

    const char* match(const char* at, const char* p) {
        if (++depth_ > kDeepest) {
            --depth_;
            return fail("the pattern is too complex");
        }
        const char* const found = match_here(at, p);
        --depth_;
        return found;
    }

    const char* match_here(const char* at, const char* p) {
        while (p != pattern_end_) {
            if (!step()) return nullptr;
            if (*p == '(')
                return p + 1 < pattern_end_ && p[1] == ')' ? start_capture(at, p + 2, kPosition)
                                                           : start_capture(at, p + 1, kOpen);
            if (*p == ')') return end_capture(at, p + 1);
            if (*p == '$' && p + 1 == pattern_end_) return at == end_ ? at : nullptr;
            if (is_special(p, pattern_end_)) {
                at = match_special(at, p);
                if (at == nullptr) return nullptr;
                continue;
            }
            const char* const rest = class_end(p);
            if (rest == nullptr) return nullptr;
            steps_left_ -= static_cast<double>(rest - p) / 16;
            const char suffix = rest == pattern_end_ ? '\0' : *rest;
            if (suffix == '*') return expand_most(at, p, rest);
            if (suffix == '+') return is_single(at, p, rest) ? expand_most(at + 1, p, rest) : nullptr;
            if (suffix == '-') return expand_least(at, p, rest);
            const bool is_there = is_single(at, p, rest);
            if (suffix == '?') {
                if (is_there)
                    if (const char* found = match(at + 1, rest + 1); found != nullptr) return found;
                p = rest + 1;
                continue;
            }
            if (!is_there) return nullptr;
            ++at, p = rest;
        }
        return at;
    }

    const char* const begin_;
    const char* const end_;
    const char* const pattern_end_;
    double& steps_left_;
    const char* error_ = nullptr;
    int depth_ = 0;
    std::size_t num_captures_ = 0;
    Capture captures_[kMostCaptures];
};

// --- results -----------------------------------------------------------------------------------------------------

/// Pushes capture `i`, or the whole match if there are no captures. Returns false if the capture is not closed.
bool push_capture(lua_State* lua, const Matcher& matcher, std::size_t i, const char* first, const char* last) {
    if (i >= matcher.num_captures()) return push_text(lua, {first, static_cast<std::size_t>(last - first)}), i == 0;
    const Capture& capture = matcher.capture(i);
    if (capture.length == kOpen) return false;
    if (capture.length == kPosition)
        push_integer(lua, capture.first - matcher.begin() + 1);
    else
        push_text(lua, {capture.first, static_cast<std::size_t>(capture.length)});
    return true;
}

/// Pushes all captures, or the whole match if there are none and `whole` is set. Returns the number of values that were
/// pushed, or kFailed.
int push_captures(lua_State* lua, State& state, const Matcher& matcher, const char* first, const char* last,
                  bool whole) {
    const std::size_t count = matcher.num_captures() == 0 && whole ? 1 : matcher.num_captures();
    static_assert(kMostCaptures + 20 < kBodySlots);
    for (std::size_t i = 0; i < count; ++i)
        if (!push_capture(lua, matcher, i, first, last)) return fail(state, "the pattern has a '(' without a ')'");
    return static_cast<int>(count);
}

/// Reads a string, or converts a number to a string, as Lua does.
bool read_text_or_number(lua_State* lua, State& state, int index, const char* what, std::string_view& text) {
    if (lua_type(lua, index) == LUA_TNUMBER) lua_tostring(lua, index);
    return read_text(lua, state, index, what, text);
}

/// Reads the 1-based start of a search. A negative start counts from the end.
bool read_start(lua_State* lua, State& state, int index, std::size_t size, std::size_t& start) {
    std::int64_t at = 1;
    if (lua_type(lua, index) > LUA_TNIL && (lua_type(lua, index) != LUA_TNUMBER || !read_integer(lua, index, at)))
        return fail(state, "argument ", index, " is a whole number, not ", type_of(lua, index)), false;
    if (at < 0) at = std::max<std::int64_t>(at + static_cast<std::int64_t>(size) + 1, 1);
    start = at == 0 ? 0 : static_cast<std::size_t>(at) - 1;
    return true;
}

bool has_no_specials(State& state, std::string_view pattern) {
    state.link.steps_left -= static_cast<double>(pattern.size()) / 16;
    return pattern.find_first_of("^$*+?.([%-") == std::string_view::npos;
}

/// Finds a string that is not a pattern; npos if it is not found.
std::size_t find_plain(State& state, std::string_view text, std::string_view part, std::size_t start) {
    const std::string_view rest = text.substr(std::min(start, text.size()));
    const void* const at = memmem(rest.data(), rest.size(), part.data(), part.size());  // in linear time, unlike find()
    const std::size_t read = at == nullptr ? rest.size() : static_cast<const char*>(at) - rest.data();
    state.link.steps_left -= static_cast<double>(read + part.size()) / 16;
    return at == nullptr ? std::string_view::npos : start + read;
}

template <bool kFinds>
int find_or_match(lua_State* lua, State& state) {
    std::string_view text, pattern;
    std::size_t start = 0;
    if (!read_text_or_number(lua, state, 1, "a text", text)) return kFailed;
    if (!read_text_or_number(lua, state, 2, "a pattern", pattern)) return kFailed;
    if (!read_start(lua, state, 3, text.size(), start)) return kFailed;
    if (start > text.size()) return lua_pushnil(lua), 1;
    if (kFinds && (lua_toboolean(lua, 4) != 0 || has_no_specials(state, pattern))) {
        const std::size_t found = find_plain(state, text, pattern, start);
        if (found == std::string_view::npos) return lua_pushnil(lua), 1;
        push_integer(lua, static_cast<std::int64_t>(found) + 1);
        push_integer(lua, static_cast<std::int64_t>(found + pattern.size()));
        return 2;
    }
    const bool is_anchored = pattern.starts_with('^');
    Matcher matcher(text, pattern, state.link.steps_left);
    for (const char* at = text.data() + start;; ++at) {
        const char* const end = matcher.match_at(at, pattern.data() + (is_anchored ? 1 : 0));
        if (matcher.error() != nullptr) return fail(state, matcher.error());
        if (end == nullptr && (is_anchored || at == matcher.end())) break;
        if (end == nullptr) continue;
        if (!kFinds) return push_captures(lua, state, matcher, at, end, true);
        push_integer(lua, at - matcher.begin() + 1);
        push_integer(lua, end - matcher.begin());
        const int captures = push_captures(lua, state, matcher, at, end, false);
        return captures == kFailed ? kFailed : captures + 2;
    }
    return lua_pushnil(lua), 1;
}

/// Returns the next match of string.gmatch. Its upvalues are the string, the pattern, the next position and the end of
/// the last match.
int next_match(lua_State* lua, State& state) {
    const std::string_view text = text_at(lua, lua_upvalueindex(1)), pattern = text_at(lua, lua_upvalueindex(2));
    const char* const first = text.data();
    auto at = static_cast<std::size_t>(lua_tonumber(lua, lua_upvalueindex(3)));
    const double last_end = lua_tonumber(lua, lua_upvalueindex(4));
    Matcher matcher(text, pattern, state.link.steps_left);
    for (; at <= text.size(); ++at) {
        const char* const end = matcher.match_at(first + at, pattern.data());
        if (matcher.error() != nullptr) return fail(state, matcher.error());
        if (end == nullptr || static_cast<double>(end - first) == last_end) continue;
        lua_pushnumber(lua, static_cast<double>(end - first));
        lua_pushvalue(lua, -1);
        lua_replace(lua, lua_upvalueindex(3));
        lua_replace(lua, lua_upvalueindex(4));
        return push_captures(lua, state, matcher, first + at, end, true);
    }
    lua_pushnumber(lua, static_cast<double>(text.size()) + 1);
    lua_replace(lua, lua_upvalueindex(3));
    return lua_pushnil(lua), 1;
}

int gmatch(lua_State* lua, State& state) {
    std::string_view text, pattern;
    if (!read_text_or_number(lua, state, 1, "a text", text)) return kFailed;
    if (!read_text_or_number(lua, state, 2, "a pattern", pattern)) return kFailed;
    lua_settop(lua, 2);
    lua_pushnumber(lua, 0);
    lua_pushnumber(lua, -1);
    lua_pushcclosure(lua, run_body<next_match>, 4);
    return 1;
}

// --- gsub --------------------------------------------------------------------------------------------------------

/// Appends a replacement string, in which %0 to %9 stand for captures.
bool add_text(lua_State* lua, State& state, const Matcher& matcher, const char* first, const char* last,
              std::string_view replacement, std::string& out) {
    state.link.steps_left -= static_cast<double>(replacement.size()) / 16;
    for (std::size_t i = 0; i < replacement.size(); ++i) {
        if (out.size() > state.options.memory_bytes)
            return fail(state, "not enough memory for what string.gsub makes"), false;
        if (replacement[i] != '%') {
            out += replacement[i];
            continue;
        }
        const char c = ++i < replacement.size() ? replacement[i] : '\0';
        if (c == '%') {
            out += '%';
        } else if (c == '0') {
            out.append(first, last);
            state.link.steps_left -= static_cast<double>(last - first) / 16;
        } else if (c >= '1' && c <= '9' && push_capture(lua, matcher, static_cast<std::size_t>(c - '1'), first, last)) {
            const std::string_view capture = text_at(lua, -1);
            out += capture;
            state.link.steps_left -= static_cast<double>(capture.size()) / 16;
            lua_pop(lua, 1);
        } else {
            return fail(state, "the replacement has a '%' that is followed by neither '%' nor the number of a capture"),
                   false;
        }
    }
    return true;
}

/// Pushes the replacement that a table or a function gives for a match. The function's steps count against the script's
/// budget.
bool push_replacement(lua_State* lua, State& state, const Matcher& matcher, const char* first, const char* last) {
    if (lua_type(lua, 3) == LUA_TTABLE) {
        if (!push_capture(lua, matcher, 0, first, last))
            return fail(state, "the pattern has a '(' without a ')'"), false;
        lua_rawget(lua, 3);
        return true;
    }
    lua_pushvalue(lua, 3);
    const int count = push_captures(lua, state, matcher, first, last, true);
    if (count == kFailed) return false;
    if (const Status status = state.call(lua, count, 1); !status) return fail(state, status.message()), false;
    return true;
}

bool add_replacement(lua_State* lua, State& state, const Matcher& matcher, const char* first, const char* last,
                     std::string& out) {
    const int type = lua_type(lua, 3);
    if (type == LUA_TSTRING || type == LUA_TNUMBER)
        return add_text(lua, state, matcher, first, last, text_at(lua, 3), out);
    if (!push_replacement(lua, state, matcher, first, last)) return false;
    const int given = lua_type(lua, -1);
    if (given == LUA_TSTRING || given == LUA_TNUMBER)
        out += text_at(lua, -1);
    else if (lua_toboolean(lua, -1) == 0)
        out.append(first, last);
    else
        return fail(state, "the replacement is ", type_of(lua, -1), ", not a text"), false;
    lua_pop(lua, 1);
    return true;
}

bool check_replacement(lua_State* lua, State& state) {
    const int type = lua_type(lua, 3);
    if (type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TTABLE || type == LUA_TFUNCTION) return true;
    return fail(state, "argument 3 is a text, a table or a function, not ", type_of(lua, 3)), false;
}

int gsub(lua_State* lua, State& state) {
    std::string_view text, pattern;
    if (!read_text_or_number(lua, state, 1, "a text", text)) return kFailed;
    if (!read_text_or_number(lua, state, 2, "a pattern", pattern)) return kFailed;
    if (!check_replacement(lua, state)) return kFailed;
    std::int64_t most = static_cast<std::int64_t>(text.size()) + 1;
    if (lua_type(lua, 4) > LUA_TNIL && (lua_type(lua, 4) != LUA_TNUMBER || !read_integer(lua, 4, most)))
        return fail(state, "argument 4 is a whole number, how often at most, not ", type_of(lua, 4));
    const bool is_anchored = pattern.starts_with('^');
    Matcher matcher(text, pattern, state.link.steps_left);
    std::string out;
    std::int64_t count = 0;
    const char* at = matcher.begin();
    const char* last_end = nullptr;
    while (count < most) {
        const char* const end = matcher.match_at(at, pattern.data() + (is_anchored ? 1 : 0));
        if (matcher.error() != nullptr) return fail(state, matcher.error());
        if (end != nullptr && end != last_end) {
            ++count;
            if (!add_replacement(lua, state, matcher, at, end, out)) return kFailed;
            if (out.size() > state.options.memory_bytes)
                return fail(state, "not enough memory for what string.gsub makes");
            at = last_end = end;
        } else if (at < matcher.end()) {
            out += *at++;
        } else {
            break;
        }
        if (is_anchored) break;
    }
    out.append(at, matcher.end());
    push_text(lua, out);
    push_integer(lua, count);
    return 2;
}

constexpr Function kPatternFunctions[] = {{"find", run_body<find_or_match<true>>},
                                          {"match", run_body<find_or_match<false>>},
                                          {"gmatch", run_body<gmatch>},
                                          {"gsub", run_body<gsub>}};

}  // namespace

std::span<const Function> pattern_functions() { return kPatternFunctions; }

}  // namespace shoal::lua
