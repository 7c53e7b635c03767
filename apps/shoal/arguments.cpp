#include "arguments.h"

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace shoal_tool {

using shoal::concat;
using shoal::quoted;
using shoal::Result;
using shoal::Status;

namespace {

bool is_flag(std::string_view word) { return word.size() > 1 && word[0] == '-'; }

/// Reads a number. Returns whether `text` is one number and nothing else.
template <class T>
bool read_all(std::string_view text, T& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

/// A parsed word, such as `--output=x`, `-ox`, `-o=x`, `--output` or `-o`.
struct Word {
    const Flag* flag = nullptr;
    std::string_view name;
    std::optional<std::string_view> value;
};

const Flag* find_flag(const Verb& verb, std::string_view name) {
    for (const Flag& flag : verb.flags)
        if (flag.name == name) return &flag;
    return nullptr;
}

Word read_word(const Verb& verb, std::string_view word) {
    const std::size_t equals = word.find('=');
    Word result{nullptr, word.substr(0, equals), std::nullopt};
    if (equals != std::string_view::npos) result.value = word.substr(equals + 1);
    if (word.starts_with("--")) {
        result.flag = find_flag(verb, result.name.substr(2));
        return result;
    }
    // `-output` is treated as a mistyped `--output`, not as `-o utput`.
    if (result.name.size() > 2 && find_flag(verb, result.name.substr(1)) != nullptr) return result;
    for (const Flag& flag : verb.flags) {
        if (flag.letter == 0 || flag.letter != word[1]) continue;
        result = {&flag, word.substr(0, 2), std::nullopt};
        if (word.size() > 2) result.value = word.substr(word[2] == '=' ? 3 : 2);
    }
    return result;
}

/// Reads a number such as `0.5`, or a fraction such as `1/60`.
bool read_fraction(std::string_view text, double& number) {
    const std::size_t slash = text.find('/');
    double below = 1;
    if (!read_all(text.substr(0, slash), number)) return false;
    if (slash != std::string_view::npos && !read_all(text.substr(slash + 1), below)) return false;
    number /= below;
    return std::isfinite(number);
}

/// Reads a size, such as `4096`, `4K`, `800M`, `16G` or `2T`. Returns 0 for any other string.
std::uint64_t read_size(std::string_view text) {
    constexpr std::string_view kUnits = "KMGT";
    const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
    const int shift = unit == std::string_view::npos ? 0 : 10 * (static_cast<int>(unit) + 1);
    if (shift != 0) text.remove_suffix(1);
    std::uint64_t number = 0;
    return read_all(text, number) && number <= ~std::uint64_t(0) >> shift ? number << shift : 0;
}

Status check_size(std::string_view taker, std::string_view value) {
    return read_size(value) != 0
               ? Status()
               : Status::error(
                     concat(taker, " takes a number of bytes such as 4096, 800M or 16G, not ", quoted(value)));
}

Status check_choice(std::string_view taker, std::string_view choices, std::string_view value) {
    const std::vector<std::string_view> words = choices_of(choices);
    std::string list;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == value) return {};
        list += concat(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
    }
    return Status::error(concat(taker, " takes ", list, ", not ", quoted(value)));
}

}  // namespace

std::string written(const Flag& flag) { return flag.letter != 0 ? concat('-', flag.letter) : concat("--", flag.name); }

std::vector<std::string_view> choices_of(std::string_view value) {
    std::vector<std::string_view> choices;
    for (std::size_t end = 0; end != std::string_view::npos; value.remove_prefix(std::min(value.size(), end + 1))) {
        end = value.find('|');
        choices.push_back(value.substr(0, end));
    }
    return choices;
}

std::string usage_line(const Verb& verb) {
    std::string line = concat("shoal ", verb.name, verb.operands.empty() ? "" : " ", verb.operands);
    for (const Flag& flag : verb.flags) {
        const std::string with_value = flag.value.empty() ? written(flag) : concat(written(flag), ' ', flag.value);
        line += flag.required ? concat(' ', with_value) : concat(" [", with_value, ']', flag.repeats ? "..." : "");
    }
    return line;
}

Result<Arguments> Arguments::parse(const Verb& verb, std::span<const std::string_view> words) {
    Arguments result;
    result.verb_ = &verb;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--") {
            result.operands_.insert(result.operands_.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                    words.end());
            break;
        }
        if (!is_flag(words[i])) {
            result.operands_.emplace_back(words[i]);
            continue;
        }
        std::size_t num_taken = 0;
        if (Status status = result.take_flag(words[i], words.subspan(i + 1), &num_taken); !status) return status;
        i += num_taken;
    }
    if (Status status = result.check(); !status) return status;
    return result;
}

Status Arguments::take_flag(std::string_view word, std::span<const std::string_view> rest, std::size_t* num_taken) {
    const auto [flag, name, value] = read_word(*verb_, word);
    if (flag == nullptr) return unknown_flag(name);
    if (!flag->repeats && has(flag->name)) return Status::error(concat(name, " was given twice; give it once"));
    if (flag->takes == Takes::kNothing) {
        if (value) return Status::error(concat(name, " takes no value; write it alone"));
        given_.emplace_back(flag, "");
        return {};
    }
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool is_port = flag->takes == Takes::kPort;
    if (is_port && !value && (rest.empty() || !std::ranges::all_of(rest[0], is_digit))) {
        given_.emplace_back(flag, "0");
        return {};
    }
    const bool is_next = !value && !rest.empty() && !rest[0].starts_with("--");
    const std::string_view taken = value ? *value : is_next ? rest[0] : std::string_view();
    if (taken.empty()) return Status::error(concat(name, " needs a value: ", name, ' ', flag->value));
    *num_taken = is_next ? 1 : 0;
    given_.emplace_back(flag, taken);
    if (flag->takes == Takes::kSize) return check_size(name, taken);
    return flag->takes == Takes::kOneOf ? check_choice(name, flag->value, taken) : Status();
}

Status Arguments::unknown_flag(std::string_view word) const {
    std::vector<std::string> written;
    for (const Flag& flag : verb_->flags) written.push_back(concat("--", flag.name));
    written.emplace_back("--help");
    const std::vector<std::string_view> names(written.begin(), written.end());
    const int close = shoal::closest_text(word, names.data(), names.size());
    return Status::error(
        concat(verb_->name, " has no flag ", quoted(word),
               close >= 0 ? concat("; did you mean ", names[static_cast<std::size_t>(close)], '?') : ""));
}

Status Arguments::check() const {
    for (const Flag& flag : verb_->flags)
        if (flag.required && !has(flag.name))
            return Status::error(concat(verb_->name, " needs ", written(flag), ' ', flag.value, ": ", flag.help));
    if (operands_.size() < verb_->min_operands) return Status::error(concat(verb_->name, " needs ", verb_->operands));
    if (operands_.size() > verb_->max_operands)
        return Status::error(concat(verb_->name, " takes ", verb_->max_operands == 0 ? "no operands" : verb_->operands,
                                    ", but there is also ", quoted(operands_[verb_->max_operands])));
    if (verb_->takes != Takes::kOneOf) return {};
    for (const std::string& operand : operands_)
        if (Status status = check_choice(verb_->name, verb_->operands, operand); !status) return status;
    return {};
}

bool Arguments::has(std::string_view flag) const {
    for (const auto& [known, value] : given_)
        if (known->name == flag) return true;
    return false;
}

std::string Arguments::value(std::string_view flag, std::string_view fallback) const {
    for (const auto& [known, value] : given_)
        if (known->name == flag) return value;
    return std::string(fallback);
}

std::vector<std::string> Arguments::values(std::string_view flag) const {
    std::vector<std::string> result;
    for (const auto& [known, value] : given_)
        if (known->name == flag) result.push_back(value);
    return result;
}

std::uint64_t Arguments::size(std::string_view flag) const { return read_size(value(flag)); }

Status Arguments::read_number(std::string_view flag, std::uint64_t least, std::uint64_t greatest,
                              std::uint64_t& number) const {
    if (!has(flag)) return {};
    std::uint64_t read = 0;
    if (read_all(value(flag), read) && read >= least && read <= greatest) return number = read, Status();
    return Status::error(
        concat("--", flag, " takes a whole number from ", least, " to ", greatest, ", not ", quoted(value(flag))));
}

Status Arguments::read_number(std::string_view flag, double least, double greatest, double& number) const {
    if (!has(flag)) return {};
    double read = 0;
    if (read_fraction(value(flag), read) && read >= least && read <= greatest) return number = read, Status();
    return Status::error(concat("--", flag, " takes a number from ", least, " to ", greatest,
                                ", which may be a fraction such as 1/60, not ", quoted(value(flag))));
}

}  // namespace shoal_tool
