#include "command_line.h"

#include <shoal/base/text.h>
#include <shoal/document/diagnostics.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace samples {

using namespace shoal;

namespace {

/// Returns whether `text` is one number and nothing else. If it is, sets `number`.
template <class T>
bool read_number(std::string_view text, T& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

Status read_count(const Option& option, const Count& count, std::string_view text) {
    std::uint64_t number = 0;
    if (!read_number(text, number) || number < count.least || number > count.most)
        return Status::error(concat(option.name, " takes a whole number from ", count.least, " to ", count.most,
                                    ", not ", quoted(text)));
    *count.value = number;
    return {};
}

Status read_share(const Option& option, const Share& share, std::string_view text) {
    double number = 0;
    if (!read_number(text, number) || !(number >= 0 && number <= share.most))
        return Status::error(concat(option.name, " takes a number from 0 to ", share.most, ", not ", quoted(text)));
    *share.value = number;
    return {};
}

Status read_port(const Option& option, const Port& port, std::string_view text) {
    std::uint16_t number = 0;
    if (!read_number(text, number))
        return Status::error(concat(option.name, " takes a port from 0 to 65535, or nothing, not ", quoted(text)));
    *port.value = number;
    return {};
}

Status read_svg_file(const Option& option, const SvgFile& file, std::string_view text) {
    if (!text.ends_with(".svg"))
        return Status::error(
            concat(option.name, " writes SVG, and the name of its file ends with .svg, not ", quoted(text)));
    *file.path = text;
    return {};
}

Status read_value(const Option& option, std::string_view text) {
    if (text.empty()) return Status::error(concat(option.name, " needs a value: ", option.name, " ", option.value));
    if (const Count* count = std::get_if<Count>(&option.target)) return read_count(option, *count, text);
    if (const Share* share = std::get_if<Share>(&option.target)) return read_share(option, *share, text);
    if (const Port* port = std::get_if<Port>(&option.target)) return read_port(option, *port, text);
    if (const SvgFile* file = std::get_if<SvgFile>(&option.target)) return read_svg_file(option, *file, text);
    *std::get<std::string*>(option.target) = text;
    return {};
}

}  // namespace

Status CommandLine::read(int num_words, char** words) {
    for (int i = 1; i < num_words; ++i) {
        const std::string_view word = words[i], name = word.substr(0, word.find('='));
        const Option* const option = find(name);
        if (option == nullptr) return unknown(name);
        met_.push_back(option->name);
        const bool has_value = name.size() != word.size();
        if (bool* const* flag = std::get_if<bool*>(&option->target)) {
            if (has_value) return Status::error(concat(name, " takes no value; write it alone"));
            **flag = true;
            continue;
        }
        const bool is_port = std::holds_alternative<Port>(option->target);
        if (is_port && !has_value && (i + 1 == num_words || std::string_view(words[i + 1]).starts_with("--"))) {
            if (Status status = read_value(*option, "0"); !status) return status;
            continue;
        }
        const std::string_view value = has_value           ? word.substr(name.size() + 1)
                                       : i + 1 < num_words ? std::string_view(words[++i])
                                                           : std::string_view();
        if (Status status = read_value(*option, value); !status) return status;
    }
    return {};
}

bool CommandLine::has(std::string_view name) const { return std::find(met_.begin(), met_.end(), name) != met_.end(); }

std::string CommandLine::help() const {
    std::string text;
    for (const Option& option : options_) {
        const std::string written = concat("  ", option.name, option.value.empty() ? "" : " ", option.value);
        text += concat(written, std::string(24 - std::min<std::size_t>(written.size(), 22), ' '), option.help, "\n");
    }
    return text;
}

const Option* CommandLine::find(std::string_view name) const {
    const auto at =
        std::find_if(options_.begin(), options_.end(), [&](const Option& option) { return option.name == name; });
    return at == options_.end() ? nullptr : &*at;
}

Status CommandLine::unknown(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const Option& option : options_) names.push_back(option.name);
    const int close = closest_text(name, names.data(), names.size());
    return Status::error(concat("there is no option ", quoted(name),
                                close < 0 ? std::string("; --help lists them")
                                          : concat("; did you mean ", names[static_cast<std::size_t>(close)], "?")));
}

}  // namespace samples
