#include "rewrite/spelling.h"
#include "shoal/base/text.h"
#include "shoal/document/scalar_text.h"
#include "shoal/source/yaml_scalar.h"

#include <algorithm>
#include <vector>

namespace shoal {
namespace {

constexpr std::size_t kMostPlain = 900;  // a key must end within 1,024 characters of its line

/// A character that stands for itself in every style; the others are escaped: controls, and line ends of Unicode.
bool is_printable(std::uint32_t c) {
    return c >= 0x20 && (c < 0x7F || c > 0x9F) && c != 0x2028 && c != 0x2029 && c != 0xFEFF && c != 0xFFFE &&
           c != 0xFFFF;
}

/// Decodes a character. Requires: UTF-8.
std::uint32_t character_at(std::string_view text, std::size_t at, std::size_t& length) {
    const auto byte = static_cast<unsigned char>(text[at]);
    length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    std::uint32_t c = length == 1 ? byte : byte & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) c = c << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
    return c;
}

bool all_printable(std::string_view text, std::string_view also) {
    for (std::size_t at = 0, length; at < text.size(); at += length)
        if (!is_printable(character_at(text, at, length)) && !is_one_of(text[at], also)) return false;
    return true;
}

void append_escape(std::string& out, std::uint32_t c) {
    constexpr std::string_view kLetters = "\n\t\r\"\\", kEscapes = "ntr\"\\";
    const std::size_t i = c < 0x80 ? kLetters.find(static_cast<char>(c)) : std::string_view::npos;
    out += '\\';
    if (i != std::string_view::npos) {
        out += kEscapes[i];
        return;
    }
    out += c < 0x100 ? 'x' : 'u';
    for (int shift = c < 0x100 ? 4 : 12; shift >= 0; shift -= 4) out += "0123456789ABCDEF"[c >> shift & 15];
}

void append_double_quoted(std::string& out, std::string_view text) {
    out += '"';
    for (std::size_t at = 0, length; at < text.size(); at += length) {
        const std::uint32_t c = character_at(text, at, length);
        if (is_printable(c) && c != '"' && c != '\\')
            out += text.substr(at, length);
        else
            append_escape(out, c);
    }
    out += '"';
}

/// Words that other readers of YAML take for bools or something else.
bool is_word_of_yaml_1_1(std::string_view text) {
    constexpr std::string_view kWords[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "=", "<<"};
    std::string lower(text.substr(0, 6));
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    return std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords) && text.size() < 6;
}

/// Whether other readers may take it for a number, a date or a time.
bool is_like_number(std::string_view text) {
    return is_one_of(text[0], "0123456789+-.") &&
           text.find_first_not_of("0123456789+-._:eExXoObBTZ ") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> lines_of(const Comment& comment) {
    constexpr std::uint32_t kNextLine = 0x85, kLineSeparator = 0x2028, kParagraphSeparator = 0x2029;
    std::vector<std::string> lines(1);
    const std::string_view text = comment.text;
    for (std::size_t at = 0, length; at < text.size(); at += length) {
        const std::uint32_t c = character_at(text, at, length);
        if (text.substr(at).starts_with("\r\n")) continue;  // one line end
        if (c == '\n' || c == '\r' || c == kNextLine || c == kLineSeparator || c == kParagraphSeparator)
            lines.emplace_back();
        else if (is_printable(c) || c == '\t')
            lines.back() += text.substr(at, length);
        else
            append_escape(lines.back(), c);
    }
    for (std::string& line : lines) {
        line.erase(0, line.find_first_not_of(" \t"));
        line.erase(line.find_last_not_of(" \t") + 1);
    }
    return lines;
}

bool is_yaml_plain(std::string_view text, bool is_flow) {
    if (text.empty() || text.size() > kMostPlain || text.front() == ' ' || text.back() == ' ') return false;
    const bool has_blank = text.size() == 1 || text[1] == ' ' || is_one_of(text[1], ",[]{}");
    if (is_one_of(text[0], ",[]{}#&*!|>'\"%@`") ||
        (is_one_of(text[0], "-?:") && (has_blank || (is_flow && text[0] != '-'))))
        return false;
    if (text.starts_with("---") || text.starts_with("...") || !all_printable(text, {})) return false;
    if (text.find(" #") != std::string_view::npos || text.back() == ':') return false;
    for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1))
        if (is_one_of(text[colon + 1], is_flow ? " ,?[]{}" : " ")) return false;
    return !is_flow || text.find_first_of(",[]{}") == std::string_view::npos;
}

void append_yaml_text(std::string& out, std::string_view text, bool is_flow, bool is_key) {
    const bool is_number_key = is_key && text.find_first_not_of("0123456789") == std::string_view::npos;
    const bool is_plain =
        is_yaml_plain(text, is_flow) && !is_word_of_yaml_1_1(text) &&
        (is_number_key || (read_yaml_scalar(text).meaning == YamlMeaning::kString && !is_like_number(text)));
    if (is_plain)
        out += text;
    else
        append_double_quoted(out, text);
}

bool append_yaml_block(std::string& out, std::string_view text, const YamlContext& place) {
    const std::size_t first = text.find_first_not_of('\n');
    const bool ends_line = text.ends_with('\n');
    if (place.is_flow || first == std::string_view::npos || place.step > 9 || text.ends_with("\n\n") ||
        text.find('\n') == std::string_view::npos || !all_printable(text, "\n\t"))
        return false;
    const bool needs_indent = is_one_of(text[first], " \t");
    out += concat("|", needs_indent ? concat(place.step) : "", ends_line ? "" : "-");
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        if (!line.empty() && line.find_first_not_of(" \t") == std::string_view::npos) return false;
        out += '\n';
        if (!line.empty()) out.append(place.indent, ' ').append(line);
        begin = end + 1;
    }
    return true;
}

}  // namespace shoal
