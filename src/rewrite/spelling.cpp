#include "rewrite/spelling.h"

#include "shoal/base/text.h"
#include "shoal/document/scalar_text.h"
#include "shoal/document/sjson.h"
#include "shoal/source/source_tokens.h"
#include "shoal/source/yaml.h"
#include "shoal/source/yaml_scalar.h"

#include <algorithm>
#include <bit>

namespace shoal {
namespace {

/// Returns whether a number that YAML reads is one of JSON too: one without +, 0x, 0o, and with digits around its
/// point.
bool is_json_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    if (text.empty() || !is_digit(text[0]) || (text.size() > 1 && text[0] == '0' && is_one_of(text[1], "xo")))
        return false;
    const std::size_t point = text.find('.');
    return point == std::string_view::npos || (point + 1 < text.size() && is_digit(text[point + 1]));
}

bool is_equal(Node node, const YamlScalar& scalar) {
    switch (scalar.meaning) {
        case YamlMeaning::kInteger:
            return node.is_integer() && node.as_int64() != nullptr && *node.as_int64() == scalar.integer;
        case YamlMeaning::kLargeInteger:
            return node.is_integer() && node.as_int64() == nullptr && *node.as_uint64() == scalar.large_integer;
        case YamlMeaning::kNumber:
            return node.kind() == NodeKind::kNumber &&
                   std::bit_cast<std::uint64_t>(node.as_double()) == std::bit_cast<std::uint64_t>(scalar.number);
        case YamlMeaning::kTrue:
        case YamlMeaning::kFalse:
            return node.is_bool() && node.as_bool() == (scalar.meaning == YamlMeaning::kTrue);
        case YamlMeaning::kNull:
            return node.is_null();
        default:
            return false;
    }
}

/// Returns what stands between quotes, with the quotes; nothing if it does not end on the line.
std::string_view quoted_at_start(std::string_view text) {
    const char quote = text[0];
    for (std::size_t at = 1; at < text.size() && text[at] != '\n'; ++at) {
        if (text[at] == '\\' && quote == '"') {
            ++at;
            continue;
        }
        if (text[at] != quote) continue;
        if (quote == '"' || at + 1 == text.size() || text[at + 1] != quote) return text.substr(0, at + 1);
        ++at;
    }
    return {};
}

/// Returns whether a string in quotes means `text`.
bool means(std::string_view written, std::string_view text, SourceFormat format) {
    const std::string_view inside = written.substr(1, written.size() - 2);
    if (inside.find(written[0] == '"' ? '\\' : '\'') == std::string_view::npos) return inside == text;
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.refer_file("", written);
    const Result<Document> read =
        format == SourceFormat::kYaml ? read_yaml(file, diagnostics) : read_sjson(file, diagnostics);
    return read && read->root().is_string() && read->root().as_string() == text;
}

std::string_view word_at_start(std::string_view text) {
    const auto is_word = [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_one_of(c, "+-._~");
    };
    return text.substr(0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_word) - text.begin()));
}

/// Returns the offset after an anchor or a tag. Names of anchors have letters, digits, _ and - only.
std::size_t end_of_property(std::string_view text) {
    constexpr std::string_view kName = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-";
    const std::size_t end = text[0] == '&' ? text.find_first_not_of(kName, 1) : text.find_first_of(" \t\r\n,[]{}");
    return std::min(end, text.size());
}

/// Removes one anchor or tag and the blanks after it; false: there is none.
bool remove_property(std::string_view& text, char sign) {
    if (text.empty() || text[0] != sign) return false;
    const std::size_t end = end_of_property(text);
    const std::size_t next = std::min(text.find_first_not_of(" \t", end), text.size());
    text.remove_prefix(next);
    return true;
}

/// Returns the text after anchors, tags, and the lines and comments between these and what they belong to.
std::string_view skip_properties(std::string_view text) {
    while (remove_property(text, '&') || remove_property(text, '!'))
        while (!text.empty() && is_one_of(text[0], " \t\r\n#"))
            text.remove_prefix(std::min(text[0] == '#' ? text.find('\n') : 1, text.size()));
    return text;
}

// --- texts of YAML ---------------------------------------------------------------------------------------------------

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

/// Returns whether a text can stand without quotes: nothing in it has a meaning in YAML.
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

/// Appends a text as the lines of a block; false: it cannot be one.
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

// --- places --------------------------------------------------------------------------------------------------------

std::string_view Speller::text_from(SourcePosition position) const {
    if (position.file == 0 || position.file > diagnostics_.num_files()) return {};
    const std::string_view text = diagnostics_.text(position.file);
    return position.offset >= text.size() ? std::string_view() : text.substr(position.offset);
}

SourceFormat Speller::format_of(SourcePosition position) const {
    return position.file == 0 || position.file > diagnostics_.num_files()
               ? format_
               : source_format(diagnostics_.name(position.file));
}

std::string_view Speller::text_of_value(SourcePosition position) const {
    std::string_view text = text_from(position);
    if (format_of(position) != SourceFormat::kYaml) return text;
    // What stands on a later line may be the next key, unless it is a bracket.
    if (const std::string_view value = skip_properties(text); !value.empty() && is_one_of(value[0], "[{")) return value;
    while (remove_property(text, '&') || remove_property(text, '!')) {
    }
    return text;
}

std::string_view Speller::anchor_of(SourcePosition position) const {
    std::string_view text = text_from(position);
    if (format_ != SourceFormat::kYaml || format_of(position) != SourceFormat::kYaml) return {};
    remove_property(text, '!');
    return text.starts_with('&') ? text.substr(1, end_of_property(text) - 1) : std::string_view();
}

std::string_view Speller::tag_of(SourcePosition position) const {
    std::string_view text = text_from(position);
    if (format_ != SourceFormat::kYaml || format_of(position) != SourceFormat::kYaml) return {};
    remove_property(text, '&');
    return text.starts_with('!') ? text.substr(0, end_of_property(text)) : std::string_view();
}

// --- scalars -------------------------------------------------------------------------------------------------------

void Speller::append_scalar(std::string& out, Node node, const YamlContext& place) const {
    if (node.is_string()) return append_text(out, node, place);
    const std::string_view word = word_at_start(text_of_value(node.position()));
    const bool is_same = !word.empty() && is_equal(node, read_yaml_scalar(word));
    if (is_same && (format_ == SourceFormat::kYaml || (node.is_number() && is_json_number(word))))
        out += word;
    else if (node.is_number())
        append_number(out, node);
    else
        out += node.is_null() ? "null" : node.as_bool() ? "true" : "false";
}

void Speller::append_number(std::string& out, Node node) const {
    if (node.kind() == NodeKind::kNumber)
        append_number_text(out, node.as_double());
    else if (node.as_int64() != nullptr)
        shoal::append_number(out, *node.as_int64());
    else
        shoal::append_number(out, *node.as_uint64());
}

/// Appends a string or key as it is in its text, if that can stand here and means the same.
bool Speller::append_as_written(std::string& out, std::string_view text, SourcePosition position, bool is_flow,
                                bool is_key) const {
    const std::string_view source = text_of_value(position);
    const SourceFormat from = format_of(position);
    const bool to_yaml = format_ == SourceFormat::kYaml;
    if (source.empty() || to_yaml != (from == SourceFormat::kYaml)) return false;
    if (source[0] == '"' || (to_yaml && source[0] == '\'')) {
        const std::string_view written = quoted_at_start(source);
        if (written.size() < 2 || source.starts_with("\"\"\"") || written.find('\t') != std::string_view::npos)
            return false;
        if ((is_key && from == SourceFormat::kJson && format_ != from) || !means(written, text, from)) return false;
        out += written;
        return true;
    }
    const bool is_plain = to_yaml && is_yaml_plain(text, is_flow) && source.starts_with(text) &&
                          (is_key || read_yaml_scalar(text).meaning == YamlMeaning::kString);
    // At the beginning of a file it would be read as a byte order mark.
    const bool begins_with_mark = text.starts_with(kByteOrderMark);
    const bool is_bare = format_ == SourceFormat::kSjson && (is_key || bare_texts_) && !begins_with_mark &&
                         source.substr(0, is_key ? end_of_key(source, 0) : end_of_scalar(source, 0)) == text;
    if (!is_plain && !is_bare) return false;
    out += text;
    return !text.empty();
}

void Speller::append_text(std::string& out, Node node, const YamlContext& place) const {
    const std::string_view text = node.as_string();
    if (append_as_written(out, text, node.position(), place.is_flow, false)) return;
    if (format_ == SourceFormat::kYaml) {
        const std::size_t begin = out.size();
        if (append_folded(out, node, place) || append_yaml_block(out, text, place)) return;
        out.resize(begin);
        return append_yaml_text(out, text, place.is_flow, false);
    }
    const std::string_view source = text_of_value(node.position());
    const bool has_quotes = !source.empty() && is_one_of(source[0], "\"'") && !source.starts_with("\"\"\"");
    const bool was_verbatim =
        format_of(node.position()) == SourceFormat::kSjson && source.starts_with("\"\"\"") &&
        with_line_feeds(source.substr(0, end_of_scalar(source, 0))) == concat("\"\"\"", text, "\"\"\"") &&
        text.find("\r\n") == std::string_view::npos;
    if (format_ == SourceFormat::kSjson && (was_verbatim || (is_verbatim_text(text) && !has_quotes)))
        out += concat("\"\"\"", text, "\"\"\"");
    else
        append_quoted_text(out, text);
}

/// Appends a text that was folded in YAML: the same lines, indented as they have to be here.
bool Speller::append_folded(std::string& out, Node node, const YamlContext& place) const {
    const std::string_view source = text_of_value(node.position());
    if (place.is_flow || !source.starts_with('>') || format_of(node.position()) != SourceFormat::kYaml) return false;
    std::size_t begin = std::min(source.find('\n'), source.size() - 1) + 1;
    const std::string_view header = source.substr(0, source.find_first_of(" \t\r\n"));
    const std::size_t first = source.find_first_not_of(" \r\n", begin);
    if (first == std::string_view::npos || header.find_first_of("+123456789") != std::string_view::npos) return false;
    const std::size_t indent = first - (source.rfind('\n', first) + 1);
    std::string folded(header);
    while (begin < source.size()) {
        const std::size_t end = std::min(source.find('\n', begin), source.size());
        std::string_view line = source.substr(begin, end - begin);
        const std::size_t blanks = std::min(line.find_first_not_of(" \r"), line.size());
        if (blanks < line.size() && blanks < indent) break;
        if (line.ends_with('\r')) line.remove_suffix(1);
        folded += '\n';
        if (blanks < line.size()) folded.append(place.indent, ' ').append(line.substr(indent));
        begin = end + 1;
    }
    while (folded.ends_with('\n')) folded.pop_back();
    Diagnostics diagnostics;  // the lines may mean something else in another place
    const std::string check = concat("text: ", folded, "\n");
    const Result<Document> read = read_yaml(diagnostics.refer_file("", check), diagnostics);
    const Node again = read ? read->root().find("text") : Node();
    if (!again || !again.is_string() || again.as_string() != node.as_string()) return false;
    out += folded;
    return true;
}

void Speller::append_key(std::string& out, Node child) const {
    const std::string_view key = child.key();
    if (append_as_written(out, key, child.key_position(), true, true)) return;
    if (format_ == SourceFormat::kYaml)
        append_yaml_text(out, key, true, true);
    else if (format_ == SourceFormat::kSjson && is_plain_key(key))
        out += key;
    else
        append_quoted_text(out, key);
}

}  // namespace shoal
