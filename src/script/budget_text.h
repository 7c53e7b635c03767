#pragma once
// Adds step-counting calls to a script's code, because LuaJIT's compiled loops do not call hooks:
//
//     while more() do work() end            while more() do shoal_tick_();work() end
//     repeat work() until done()            repeat shoal_tick_();work() until done()
//     function f(a) return f(a) end         function f(a) shoal_tick_();return f(a) end
//     goto again                            shoal_tick_();goto again
//
// Code that runs forever calls shoal_tick_() repeatedly. The text is read token by token, and line numbers do not
// change.

#include "shoal/document/detail/scalar_text.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace shoal::lua {

/// Splits code into tokens as Lua does, and copies them.
class BudgetWriter {
public:
    BudgetWriter(std::string_view text, std::string& out) : text_(text), out_(out) {}

    bool write(std::string& why) {
        out_ += "local shoal_tick_=...;";
        while (at_ < text_.size()) {
            if (const std::size_t long_end = find_long_end(at_); long_end != 0)
                copy_to(long_end);
            else if (is_name_part(text_[at_]) || (text_[at_] == '.' && is_digit(peek(1))))
                copy_word();
            else
                copy_mark();
            if (has_reserved_) {
                why = "the name shoal_tick_ is reserved; use another one";
                return false;
            }
        }
        return true;
    }

private:
    static constexpr std::string_view kTick = "shoal_tick_";

    static bool is_name_part(char c) {
        return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               static_cast<unsigned char>(c) >= 0x80;
    }
    char peek(std::size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0; }
    void copy_to(std::size_t end) {
        out_ += text_.substr(at_, end - at_);
        at_ = end;
    }
    void add_tick() { out_ += " shoal_tick_();"; }

    /// Returns the end of a long string or comment that begins at `at`, or 0.
    std::size_t find_long_end(std::size_t at) const {
        if (text_.substr(at, 2) == "--") at += 2;
        if (at >= text_.size() || text_[at] != '[') return 0;
        std::size_t level = 1;
        while (at + level < text_.size() && text_[at + level] == '=') ++level;
        if (at + level >= text_.size() || text_[at + level] != '[') return 0;
        const std::string close = "]" + std::string(level - 1, '=') + "]";
        const std::size_t end = text_.find(close, at + level + 1);
        return end == std::string_view::npos ? text_.size() : end + close.size();
    }

    /// Copies a string, a comment or any other character.
    void copy_mark() {
        const char c = text_[at_];
        if (c == '-' && peek(1) == '-') return copy_to(std::min(text_.find_first_of("\r\n", at_), text_.size()));
        if (c == '"' || c == '\'') return copy_string(c);
        if (c == ')' && is_in_parameters_) {
            copy_to(at_ + 1);
            is_in_parameters_ = false;
            return add_tick();
        }
        copy_to(at_ + 1);
    }

    /// Copies a string. An unclosed string ends with its line; LuaJIT will reject it.
    void copy_string(char quote) {
        std::size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != quote) {
            if (text_[end] == '\n' || text_[end] == '\r') break;
            if (text_[end] == '\\')
                end = end_of_escape(end);
            else
                ++end;
        }
        copy_to(std::min(end + 1, text_.size()));
    }
    /// An escaped line end is one or two characters, and \z skips all white space.
    std::size_t end_of_escape(std::size_t at) const {
        const char c = at + 1 < text_.size() ? text_[at + 1] : 0;
        at += 2;
        const auto is_space = [](char s) { return s == ' ' || (s >= '\t' && s <= '\r'); };
        if (c == 'z')
            while (at < text_.size() && is_space(text_[at])) ++at;
        else if ((c == '\n' || c == '\r') && at < text_.size() && (text_[at] == '\n' || text_[at] == '\r') &&
                 text_[at] != c)
            ++at;
        return std::min(at, text_.size());
    }

    /// Copies a name, a keyword or a number, delimited as in LuaJIT.
    void copy_word() {
        const bool is_number = !is_name_part(text_[at_]) || is_digit(text_[at_]);
        const std::size_t end = is_number ? end_of_number() : end_of_name();
        const std::string_view word = text_.substr(at_, end - at_);
        if (!is_number && word == kTick) has_reserved_ = true;
        const bool is_jump = !is_number && word == "goto";
        if (is_jump && !is_after_dot()) add_tick();
        copy_to(end);
        if (is_number || is_jump) return;
        if (word == "do" || word == "repeat") add_tick();
        if (word == "function") is_in_parameters_ = true;
    }
    /// Whether the name is a field, such as `goto` in table.goto.
    bool is_after_dot() const { return !out_.empty() && (out_.back() == '.' || out_.back() == ':'); }
    std::size_t end_of_name() const {
        std::size_t end = at_;
        while (end < text_.size() && is_name_part(text_[end])) ++end;
        return end;
    }
    std::size_t end_of_number() const {
        const bool is_hexadecimal = text_[at_] == '0' && (peek(1) | 0x20) == 'x';
        const char exponent = is_hexadecimal ? 'p' : 'e';
        std::size_t end = at_ + 1;
        for (; end < text_.size(); ++end) {
            const char c = text_[end];
            const bool is_sign = (c == '+' || c == '-') && (text_[end - 1] | 0x20) == exponent;
            if (!is_name_part(c) && c != '.' && !is_sign) break;
        }
        return end;
    }

    std::string_view text_;
    std::string& out_;
    std::size_t at_ = 0;
    bool is_in_parameters_ = false;
    bool has_reserved_ = false;
};

/// Returns false and sets `why` if the text uses a reserved name.
inline bool add_budget_checks(std::string_view text, std::string& counted, std::string& why) {
    counted.clear();
    counted.reserve(text.size() + text.size() / 4 + 64);
    return BudgetWriter(text, counted).write(why);
}

}  // namespace shoal::lua
