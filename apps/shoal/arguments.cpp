#include "arguments.h"

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"

#include <charconv>
#include <cmath>

namespace shoal_tool {

using shoal::concat;
using shoal::quoted;
using shoal::Result;
using shoal::Status;

namespace {

bool is_flag(std::string_view word) { return word.size() > 1 && word[0] == '-'; }

/// Returns whether all of `text` is one number.
template <class T>
bool read_all(std::string_view text, T& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string usage_line(const Verb& verb) {
    std::string line = concat("shoal ", verb.name, verb.operands.empty() ? "" : " ", verb.operands);
    for (const Flag& flag : verb.flags) {
        const std::string written = flag.letter != 0 ? concat('-', flag.letter) : concat("--", flag.name);
        const std::string with_value = flag.value.empty() ? written : concat(written, ' ', flag.value);
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
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    for (const Flag& flag : verb_->flags) {
        const bool is_long = name.size() > 2 && name.substr(0, 2) == "--" && name.substr(2) == flag.name;
        const bool is_letter = flag.letter != 0 && name.size() == 2 && name[1] == flag.letter;
        if (!is_long && !is_letter) continue;
        if (!flag.repeats && has(flag.name)) return Status::error(concat(name, " was given twice; give it once"));
        if (flag.value.empty()) {
            if (equals != std::string_view::npos) return Status::error(concat(name, " takes no value; write it alone"));
            given_.emplace_back(flag.name, "");
            return {};
        }
        if (equals != std::string_view::npos) {
            given_.emplace_back(flag.name, word.substr(equals + 1));
        } else {
            if (rest.empty() || rest[0].substr(0, 2) == "--")
                return Status::error(concat(name, " needs a value: ", name, ' ', flag.value));
            given_.emplace_back(flag.name, rest[0]);
            *num_taken = 1;
        }
        if (given_.back().second.empty()) return Status::error(concat(name, " needs a value: ", name, ' ', flag.value));
        return {};
    }
    return unknown_flag(name);
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
        if (flag.required && !has(flag.name)) {
            const std::string written = flag.letter != 0 ? concat('-', flag.letter) : concat("--", flag.name);
            return Status::error(concat(verb_->name, " needs ", written, ' ', flag.value, ": ", flag.help));
        }
    if (operands_.size() < verb_->min_operands) return Status::error(concat(verb_->name, " needs ", verb_->operands));
    if (operands_.size() > verb_->max_operands)
        return Status::error(concat(verb_->name, " takes ", verb_->max_operands == 0 ? "no operands" : verb_->operands,
                                    ", but there is also ", quoted(operands_[verb_->max_operands])));
    return {};
}

bool Arguments::has(std::string_view flag) const {
    for (const auto& [name, value] : given_)
        if (name == flag) return true;
    return false;
}

std::string Arguments::value(std::string_view flag, std::string_view fallback) const {
    for (const auto& [name, value] : given_)
        if (name == flag) return value;
    return std::string(fallback);
}

std::vector<std::string> Arguments::values(std::string_view flag) const {
    std::vector<std::string> result;
    for (const auto& [name, value] : given_)
        if (name == flag) result.push_back(value);
    return result;
}

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
    if (read_all(value(flag), read) && std::isfinite(read) && read >= least && read <= greatest)
        return number = read, Status();
    return Status::error(
        concat("--", flag, " takes a number from ", least, " to ", greatest, ", not ", quoted(value(flag))));
}

}  // namespace shoal_tool
