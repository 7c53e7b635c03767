#include "rewrite/container.h"
#include "shoal/base/detail/utf8.h"
#include "shoal/base/text.h"
#include "shoal/document/detail/scalar_text.h"
#include "shoal/document/sjson.h"
#include "shoal/rewrite/source_text.h"
#include "shoal/source/detail/yaml.h"
#include "shoal/source/detail/yaml_scalar.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace shoal {
namespace {

// --- texts -----------------------------------------------------------------------------------------------------------

/// The context of a YAML scalar: inside brackets, or in block style, where a string may have several lines.
struct YamlContext {
    bool is_flow = true;
    std::size_t indent = 0;  ///< indentation of the lines in a multi-line string
    std::size_t step = 0;    ///< the indentation relative to the enclosing list or mapping
};

/// Returns whether a YAML number is also a JSON number, which has no +, 0x or 0o, and has digits on both sides of the
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

/// Returns whether a quoted string means `text`.
bool means(std::string_view written, std::string_view text, SourceFormat format) {
    const std::string_view inside = written.substr(1, written.size() - 2);
    if (inside.find(written[0] == '"' ? '\\' : '\'') == std::string_view::npos) return inside == text;
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.refer_file("", written);
    const Result<Document> read =
        format == SourceFormat::kYaml ? read_yaml(file, diagnostics) : read_sjson(file, diagnostics);
    return read && read->root().is_string() && read->root().as_string() == text;
}

constexpr std::size_t kMostPlain = 900;  // a key must be shorter than 1,024 characters

/// Whether a character needs no escape in any style, unlike control characters and Unicode line ends.
bool is_printable(std::uint32_t c) {
    return c >= 0x20 && (c < 0x7F || c > 0x9F) && c != 0x2028 && c != 0x2029 && c != 0xFEFF && c != 0xFFFE &&
           c != 0xFFFF;
}

bool all_printable(std::string_view text, std::string_view also) {
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = decode_utf8(text.substr(at));
        if (!is_printable(c.value) && !is_one_of(text[at], also)) return false;
        at += c.num_bytes;
    }
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
        const auto [c, num_bytes] = decode_utf8(text.substr(at));
        length = num_bytes;
        if (is_printable(c) && c != '"' && c != '\\')
            out += text.substr(at, length);
        else
            append_escape(out, c);
    }
    out += '"';
}

/// Whether other YAML readers may read a string as a bool, a null or a special key.
bool is_word_of_yaml_1_1(std::string_view text) {
    constexpr std::string_view kWords[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "=", "<<"};
    std::string lower(text.substr(0, 6));  // one character more than the longest word
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    return std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords);
}

/// Whether other YAML readers may read a string as a number, a date or a time.
bool is_like_number(std::string_view text) {
    return is_one_of(text[0], "0123456789+-.") &&
           text.find_first_not_of("0123456789+-._:eExXoObBTZ ") == std::string_view::npos;
}

/// Returns whether a string needs no quotes, because nothing in it is YAML syntax.
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

/// Appends a string as a block scalar. Returns false if that is not possible.
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

/// Appends a YAML string in the simplest form that fits on one line.
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

// --- where nodes come from -------------------------------------------------------------------------------------------

/// Finds the tokens that nodes were read from.
class Origins {
public:
    Origins(SourceFormat format, const Diagnostics& diagnostics, const SourceComments& comments)
        : format_(format), diagnostics_(diagnostics), comments_(comments) {}

    /// Returns the format of the text that a position is in, or the output format if it is not in a text.
    SourceFormat format_of(SourcePosition position) const {
        return position.file == 0 || position.file > diagnostics_.num_files()
                   ? format_
                   : source_format(diagnostics_.name(position.file));
    }
    bool is_yaml(SourcePosition position) const { return format_of(position) == SourceFormat::kYaml; }

    /// Returns the token of a key, scalar, list or mapping, or nullptr. In YAML, a list or mapping may begin at its
    /// first key or element.
    const TextToken* find(SourcePosition position, bool is_container) const {
        const std::span<const TextToken> tokens = comments_.tokens(position.file);
        const TextToken* found = nullptr;
        for (std::size_t i = first_from(tokens, position.offset);
             i < tokens.size() && tokens[i].begin == position.offset; ++i) {
            const TextToken& token = tokens[i];
            if (token.kind == TokenKind::kClose || token.kind == TokenKind::kComment) continue;
            const bool is_wanted = (token.kind == TokenKind::kOpen) == is_container;
            if (is_wanted || found == nullptr) found = &token;
            if (is_wanted) break;
        }
        return found;
    }

    /// Returns the text of a key or scalar, or the opening bracket of a list or mapping, without the anchor and the
    /// tag. Empty if there is none.
    std::string_view text_at(SourcePosition position, bool is_container = false) const {
        const TextToken* const token = find(position, is_container);
        const bool has_text = token != nullptr && token->value < token->end;
        return has_text ? text(position.file, token->value, token->end) : std::string_view();
    }
    std::string_view text_of(Node value) const { return text_at(value.position(), is_container(value)); }

    /// Returns the anchor or tag of a YAML value, including its sign (& or !), or an empty string if there is none.
    std::string_view property_of(Node value, char sign) const {
        const SourcePosition position = value.position();
        const TextToken* const token = find(position, is_container(value));
        if (token == nullptr || format_ != SourceFormat::kYaml || !is_yaml(position)) return {};
        std::string_view rest = text(position.file, token->begin, token->value);
        while (!rest.empty() && is_one_of(rest[0], "&!")) {
            const std::string_view property = rest.substr(0, rest.find_first_of(" \t\r\n"));
            if (property[0] == sign) return property;
            rest.remove_prefix(std::min(rest.find_first_not_of(" \t", property.size()), rest.size()));
        }
        return {};
    }

    /// Returns the text between a token and the previous one, which may have blanks, line ends, commas and signs.
    std::string_view gap_before(std::uint32_t file, const TextToken& token) const {
        const bool is_first = &token == comments_.tokens(file).data();
        return text(file, is_first ? 0 : (&token - 1)->end, token.begin);
    }

    /// Returns the blanks before the first token of a line; empty for other tokens.
    std::string_view indentation_of(SourcePosition position, bool is_container) const {
        const TextToken* const token = find(position, is_container);
        if (token == nullptr || token->column == 0 || token->column == token->begin) return {};
        const std::string_view blanks = text(position.file, token->begin - token->column - 1, token->begin);
        const bool is_first = blanks[0] == '\n' && blanks.find_first_not_of(" \t", 1) == std::string_view::npos;
        return is_first ? blanks.substr(1) : std::string_view();
    }

    /// Returns whether there is a line end between two positions in the same text.
    bool has_line_end(SourcePosition first, SourcePosition second) const {
        return text(first.file, first.offset, second.offset).find('\n') != std::string_view::npos;
    }

    /// Returns the text of a file, or an empty string if there is no such file.
    std::string_view whole_text(std::uint32_t file) const {
        return file == 0 || file > diagnostics_.num_files() ? std::string_view() : diagnostics_.text(file);
    }

    bool is_comment_of_line(std::uint32_t file, const TextToken& token) const {
        return token.kind == TokenKind::kComment && !text(file, token.begin, token.end).starts_with("/*");
    }

private:
    /// Returns the index of the first token at or after an offset. Most searches end near the previous one.
    std::size_t first_from(std::span<const TextToken> tokens, std::uint32_t offset) const {
        constexpr std::size_t kNear = 8;
        const auto begins_before = [&](std::size_t i) { return i < tokens.size() && tokens[i].begin < offset; };
        for (std::size_t i = near_; i < near_ + kNear && (i == 0 || begins_before(i - 1)); ++i)
            if (!begins_before(i)) return near_ = i;
        const auto at = std::ranges::lower_bound(tokens, offset, {}, &TextToken::begin);
        return near_ = static_cast<std::size_t>(at - tokens.begin());
    }

    std::string_view text(std::uint32_t file, std::uint32_t begin, std::uint32_t end) const {
        return diagnostics_.text(file).substr(begin, end - begin);
    }

    SourceFormat format_;
    const Diagnostics& diagnostics_;
    const SourceComments& comments_;
    mutable std::size_t near_ = 0;  // index of the token that was found last
};

// --- scalars and keys ------------------------------------------------------------------------------------------------

/// Writes scalars and keys as in their original text if possible, and otherwise in the simplest form.
class Speller {
public:
    Speller(SourceFormat format, const Origins& origins, bool bare_texts)
        : format_(format), origins_(origins), bare_texts_(bare_texts) {}

    void append_key(std::string& out, Node child) const {
        const std::string_view key = child.key();
        if (append_as_written(out, key, child.key_position(), true, true)) return;
        if (format_ == SourceFormat::kYaml)
            append_yaml_text(out, key, true, true);
        else if (format_ == SourceFormat::kSjson && is_plain_key(key))
            out += key;
        else
            append_quoted_text(out, key);
    }

    void append_scalar(std::string& out, Node node, const YamlContext& place = {}) const {
        if (node.is_string()) return append_text(out, node, place);
        const std::string_view word = origins_.text_of(node);
        const bool is_same = !word.empty() && is_equal(node, read_yaml_scalar(word));
        if (is_same && (format_ == SourceFormat::kYaml || (node.is_number() && is_json_number(word))))
            out += word;
        else if (node.is_number())
            append_number(out, node);
        else
            out += node.is_null() ? "null" : node.as_bool() ? "true" : "false";
    }

private:
    void append_number(std::string& out, Node node) const {
        if (node.kind() == NodeKind::kNumber)
            append_number_text(out, node.as_double());
        else if (node.as_int64() != nullptr)
            shoal::append_number(out, *node.as_int64());
        else
            shoal::append_number(out, *node.as_uint64());
    }

    /// Appends a string or key as in its source text, if this spelling is allowed here and has the same meaning.
    bool append_as_written(std::string& out, std::string_view text, SourcePosition position, bool is_flow,
                           bool is_key) const {
        const std::string_view source = origins_.text_at(position);
        const SourceFormat from = origins_.format_of(position);
        const bool to_yaml = format_ == SourceFormat::kYaml;
        if (source.empty() || to_yaml != (from == SourceFormat::kYaml)) return false;
        if (source[0] == '"' || (to_yaml && source[0] == '\'')) {
            const bool is_on_line = source.find_first_of("\t\n") == std::string_view::npos;
            if (!is_on_line || source.starts_with("\"\"\"")) return false;
            if ((is_key && from == SourceFormat::kJson && format_ != from) || !means(source, text, from)) return false;
            out += source;
            return true;
        }
        const bool is_plain = to_yaml && is_yaml_plain(text, is_flow) && source == text &&
                              (is_key || read_yaml_scalar(text).meaning == YamlMeaning::kString);
        // At the start of a file, the character would be read as a byte order mark.
        const bool begins_with_mark = text.starts_with(kByteOrderMark);
        const bool is_bare =
            format_ == SourceFormat::kSjson && (is_key || bare_texts_) && !begins_with_mark && source == text;
        if (!is_plain && !is_bare) return false;
        out += text;
        return !text.empty();
    }

    void append_text(std::string& out, Node node, const YamlContext& place) const {
        const std::string_view text = node.as_string();
        if (append_as_written(out, text, node.position(), place.is_flow, false)) return;
        if (format_ == SourceFormat::kYaml) {
            const std::size_t begin = out.size();
            if (append_folded(out, node, place) || append_yaml_block(out, text, place)) return;
            out.resize(begin);
            return append_yaml_text(out, text, place.is_flow, false);
        }
        const std::string_view source = origins_.text_of(node);
        const bool has_quotes = !source.empty() && is_one_of(source[0], "\"'") && !source.starts_with("\"\"\"");
        const std::string verbatim = concat("\"\"\"", text, "\"\"\"");
        const bool was_verbatim = origins_.format_of(node.position()) == SourceFormat::kSjson &&
                                  source.starts_with("\"\"\"") && with_line_feeds(source) == verbatim &&
                                  text.find("\r\n") == std::string_view::npos;
        if (format_ == SourceFormat::kSjson && (was_verbatim || (is_verbatim_text(text) && !has_quotes)))
            out += verbatim;
        else
            append_quoted_text(out, text);
    }

    /// Appends a folded YAML string with the same lines and the current indentation.
    bool append_folded(std::string& out, Node node, const YamlContext& place) const {
        const std::string_view source = origins_.text_of(node);
        if (place.is_flow || !source.starts_with('>') || !origins_.is_yaml(node.position())) return false;
        std::size_t begin = std::min(source.find('\n'), source.size() - 1) + 1;
        const std::string_view header = source.substr(0, source.find_first_of(" \t\r\n"));
        const std::size_t first = source.find_first_not_of(" \r\n", begin);
        if (first == std::string_view::npos || header.find_first_of("+123456789") != std::string_view::npos)
            return false;
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
        Diagnostics diagnostics;  // the lines may have a different meaning here
        const std::string check = concat("text: ", folded, "\n");
        const Result<Document> read = read_yaml(diagnostics.refer_file("", check), diagnostics);
        const Node again = read ? read->root().find("text") : Node();
        if (!again || !again.is_string() || again.as_string() != node.as_string()) return false;
        out += folded;
        return true;
    }

    SourceFormat format_;
    const Origins& origins_;
    bool bare_texts_;
};

// --- lists and mappings ----------------------------------------------------------------------------------------------

constexpr std::uint32_t kMostNumbersOnLine = 16;  // a 4x4 matrix
constexpr std::size_t kMostDepth = 1000;
constexpr std::size_t kMostKeyBytes = 1000;  // in YAML, for a key on the same line as its value

/// How the original text lays out the children of a list or mapping.
enum class Shape : std::uint8_t { kUnknown, kOneLine, kLines };

class SourceWriter {
public:
    SourceWriter(SourceFormat format, const Diagnostics& diagnostics, const SourceComments& comments,
                 const SourceLayout& layout)
        : format_(format),
          comments_(comments),
          layout_(layout),
          origins_(format, diagnostics, comments),
          speller_(format, origins_, layout.bare_texts) {}

    std::string write(Node root) {
        choose_signs(root);
        choose_indent(root);
        const bool has_braces = keeps_braces(root);
        const NodeComments* const around = comments_.around(root);
        if (around != nullptr) lines(around->before, 0);
        if (is_yaml()) {
            yaml_root(root);
        } else if (root.is_mapping() && !keeps_braces(root)) {
            root_mapping(root);
        } else {
            new_line(0, around != nullptr && around->after_blank_line);
            value(root, 0);
        }
        const bool has_members = root.is_mapping() ? !has_braces : is_yaml() && root.is_list();
        const bool is_on_line = !has_members || (is_yaml() && out_.find('\n') == std::string::npos);
        if (around != nullptr && is_on_line) behind(around->after, 0);
        if (around != nullptr) lines(around->after, 0);
        if (!out_.empty()) out_ += '\n';
        take_line_ends(root);
        return std::move(out_);
    }

private:
    bool is_yaml() const { return format_ == SourceFormat::kYaml; }
    bool is_json() const { return format_ == SourceFormat::kJson; }

    // --- lines -------------------------------------------------------------------------------------------------------

    /// `depth` counts levels, except in YAML. There, it counts spaces, because list elements are always indented by
    /// two.
    void new_line(std::size_t depth, bool after_blank_line) {
        SHOAL_ASSERT(depth <= kMostDepth * 8,
                     "lists and mappings are nested deeper than 1,000 levels; flatten the tree");
        if (!out_.empty()) out_ += after_blank_line && !is_block_start_ ? "\n\n" : "\n";
        is_block_start_ = false;
        if (is_yaml())
            out_.append(depth, ' ');
        else
            for (std::size_t i = 0; i < depth; ++i) out_ += unit_;
    }

    std::size_t column() const {
        const std::size_t line = out_.rfind('\n') + 1;  // npos + 1 is 0
        return num_code_points(std::string_view(out_).substr(line));
    }

    void append_comment(const Comment& comment, std::size_t depth) {
        if (!is_yaml()) {
            out_ += comment.is_block ? concat("/*", comment.text, "*/") : concat("//", comment.text);
            return;
        }
        bool is_first = true;
        const bool has_blank = comment.text.starts_with(' ') || comment.text.starts_with('\t');
        for (const std::string& line : lines_of(comment)) {
            if (!is_first) new_line(depth, false);
            out_ += concat("#", line.empty() || (is_first && !has_blank) ? "" : " ", line);
            is_first = false;
        }
    }

    /// Returns whether a comment has not been written yet. If YAML aliases repeat a value, its comments are written
    /// only once.
    bool is_new(const Comment& comment) {
        return comment.position.file == 0 ||
               written_.insert(pair_key(comment.position.file, comment.position.offset), true).is_new;
    }

    /// Returns whether one of the comments has not been written yet; false in JSON, which has no comments.
    bool has_new(const std::vector<Comment>& list) const {
        return !is_json() && std::any_of(list.begin(), list.end(), [&](const Comment& comment) {
            return comment.position.file == 0 ||
                   written_.find(pair_key(comment.position.file, comment.position.offset)) == nullptr;
        });
    }

    /// Writes comments on lines of their own.
    void lines(const std::vector<Comment>& list, std::size_t depth) {
        if (is_json()) return;
        for (const Comment& comment : list) {
            if (!is_new(comment)) continue;
            new_line(depth, comment.after_blank_line);
            append_comment(comment, depth);
        }
    }

    /// Writes comments at the end of the current line.
    void behind(const std::vector<Comment>& list, std::size_t depth) {
        if (is_json()) return;
        bool ends_line = false;
        for (const Comment& comment : list) {
            if (!is_new(comment)) continue;
            ends_line |= comment.is_first;
            if (ends_line)
                new_line(depth, comment.after_blank_line);
            else
                out_.append(std::max<std::size_t>(comment.num_blanks, 1), ' ');
            append_comment(comment, depth);
            ends_line |= is_yaml() || !comment.is_block;
        }
    }

    // --- the signs of SJSON ------------------------------------------------------------------------------------------

    /// If punctuation is kept, copies it from the first key and the first children in the root's text.
    void choose_signs(Node root) {
        if (is_json() || is_yaml()) sign_ = ": ";
        commas_ = is_json() || is_yaml();
        if (!layout_.keeps_signs || format_ != SourceFormat::kSjson ||
            origins_.format_of(root.position()) != SourceFormat::kSjson)
            return;
        signs_file_ = root.position().file;
        if (const Node child = first_with_sign(root)) sign_ = sign_in_text(child);
        for (Node node = root; is_container(node) && node.size() > 0; node = *node.begin())
            if (const int commas = commas_in_text(node); commas >= 0) return static_cast<void>(commas_ = commas != 0);
    }

    /// Returns the first key that is followed by `:` or `=` in the text. Searches the root and then the first child of
    /// each level.
    Node first_with_sign(Node root) const {
        for (Node node = root; is_container(node) && node.size() > 0; node = *node.begin())
            for (const Node child : node)
                if (!sign_in_text(child).empty()) return child;
        return {};
    }

    bool keeps_signs_of(SourcePosition position) const { return signs_file_ != 0 && position.file == signs_file_; }

    /// Returns the text between a key and its value if it is a `:` or `=` with blanks around it, and otherwise an empty
    /// string.
    std::string_view sign_in_text(Node child) const {
        const SourcePosition key = child.key_position(), value = child.position();
        if (!child.has_key() || !keeps_signs_of(key) || value.file != key.file || value.offset <= key.offset) return {};
        const TextToken* const token = origins_.find(value, is_container(child));
        if (token == nullptr) return {};
        const std::string_view gap = origins_.gap_before(value.file, *token);
        const std::size_t sign = gap.find_last_not_of(" \t");
        if (sign == std::string_view::npos || (gap[sign] != ':' && gap[sign] != '=')) return {};
        return gap.substr(sign == 0 ? 0 : gap.find_last_not_of(" \t", sign - 1) + 1);
    }

    std::string_view sign_of(Node child) const {
        const std::string_view sign = sign_in_text(child);
        return sign.empty() ? sign_ : sign;
    }

    /// Returns 1 if the text has commas between the children of a list or mapping, 0 if not, and -1 if this is unknown.
    int commas_in_text(Node node) const {
        Node before;
        for (const Node child : node) {
            const SourcePosition first = before ? before.position() : SourcePosition();
            const SourcePosition second = child.has_key() ? child.key_position() : child.position();
            const bool has_text = keeps_signs_of(first) && second.file == first.file && second.offset > first.offset;
            before = child;
            const TextToken* const token =
                has_text ? origins_.find(second, !child.has_key() && is_container(child)) : nullptr;
            if (token == nullptr) continue;
            if (origins_.gap_before(second.file, *token).find(',') != std::string_view::npos) return 1;
            if ((token - 1)->kind != TokenKind::kComment) return 0;
        }
        return -1;
    }

    bool has_commas(Node node) const {
        const int commas = signs_file_ == 0 ? -1 : commas_in_text(node);
        return commas < 0 ? commas_ : commas != 0;
    }

    // --- values on one line ------------------------------------------------------------------------------------------

    Shape shape_of(Node node) const {
        const SourcePosition position = node.position();
        const TextToken* token = origins_.find(position, true);
        if (token == nullptr) return Shape::kUnknown;
        if (!origins_.text_of(node).starts_with(node.is_mapping() ? '{' : '['))
            return origins_.is_yaml(position) ? Shape::kLines : Shape::kUnknown;
        do {
            ++token;
            const bool ends_line = origins_.gap_before(position.file, *token).find('\n') != std::string_view::npos;
            if (ends_line || origins_.is_comment_of_line(position.file, *token)) return Shape::kLines;
        } while (token->kind == TokenKind::kComment);
        return Shape::kOneLine;
    }

    /// Returns whether a value begins on the same line as the previous value.
    bool is_on_line_of(Node before, Node node) const {
        const SourcePosition first = before.position(), second = node.position();
        return first.file != 0 && first.file == second.file && second.offset >= first.offset &&
               !origins_.has_line_end(first, second);
    }

    /// Returns whether a list on several lines has more than one value on a line.
    bool has_rows(Node list) const {
        Node before;
        for (const Node child : list) {
            if (before && is_on_line_of(before, child)) return true;
            before = child;
        }
        return false;
    }

    /// Returns whether a key or element has comments above or after it that have not been written yet.
    bool has_comments(const NodeComments* around) const {
        return around != nullptr && (has_new(around->before) || has_new(around->after));
    }

    /// Returns whether a list that does not fit on one line gets several values per line, because its text has several
    /// or because all values are numbers.
    bool takes_rows(Node node) const {
        if (!node.is_list() || std::any_of(node.begin(), node.end(), is_container)) return false;
        const bool has_lines = shape_of(node) == Shape::kLines;
        if (!has_lines) return std::all_of(node.begin(), node.end(), [](Node child) { return child.is_number(); });
        const bool has_marks = origins_.text_of(node).starts_with('[');
        const bool was_yaml = origins_.is_yaml(node.position());
        return has_marks && ((is_yaml() && was_yaml) || has_rows(node));
    }

    bool may_stand_on_line(Node node) const {
        const NodeComments* const inside = comments_.inside(node);
        if (inside != nullptr && (has_new(inside->at_start) || has_new(inside->at_end))) return false;
        const Shape shape = shape_of(node);
        if (node.size() == 0 || shape == Shape::kOneLine) return true;
        const bool has_only_numbers =
            std::all_of(node.begin(), node.end(), [](Node child) { return child.is_number(); });
        if (shape == Shape::kLines) {
            const bool has_marks = origins_.text_of(node).starts_with('[');
            return node.is_list() && has_only_numbers && node.size() <= kMostNumbersOnLine &&
                   (has_marks || !is_yaml()) && !has_rows(node);
        }
        return std::none_of(node.begin(), node.end(), [](Node child) {
            return is_container(child) && child.size() > 0 && (child.is_mapping() || is_container(*child.begin()));
        });
    }

    /// Returns whether a string is written on several lines. This is true for strings with line ends, unless they were
    /// quoted in SJSON or YAML.
    bool takes_lines(Node node) const {
        if (!node.is_string() || node.as_string().find('\n') == std::string_view::npos) return false;
        const std::string_view text = origins_.text_of(node);
        const bool has_quotes = text.starts_with('"') && !text.starts_with("\"\"\"");
        return !has_quotes || origins_.format_of(node.position()) == SourceFormat::kJson;
    }

    /// Appends a value on one line. Returns false if the value is longer than `most` bytes, or needs several lines.
    bool append_flat(std::string& out, Node node, std::size_t most) {
        if (is_yaml() && yaml_anchor(out, node)) return out.size() <= most;
        if (!is_container(node)) {
            const std::size_t begin = out.size();
            if (is_yaml() && takes_lines(node)) return false;
            speller_.append_scalar(out, node);
            return out.size() <= most && out.find('\n', begin) == std::string::npos;
        }
        if (!may_stand_on_line(node)) return false;
        if (node.size() == 0) {
            out += node.is_list() ? "[]" : "{}";
            return out.size() <= most;
        }
        const bool is_spaced = format_ == SourceFormat::kSjson &&
                               (node.is_mapping() || std::any_of(node.begin(), node.end(), [](Node child) {
                                    return child.is_mapping() && child.size() > 0;
                                }));
        out += concat(node.is_list() ? '[' : '{', is_spaced ? " " : "");
        if (!append_flat_children(out, node, most)) return false;
        out += concat(is_spaced ? " " : "", node.is_list() ? ']' : '}');
        return out.size() <= most;
    }

    bool append_flat_children(std::string& out, Node node, std::size_t most) {
        bool is_first = true;
        const std::string_view gap = has_commas(node) ? ", " : node.is_mapping() ? "  " : " ";
        for (const Node child : node) {
            if (has_comments(comments_.around(child))) return false;
            if (!is_first) out += gap;
            is_first = false;
            if (child.has_key()) {
                const std::size_t begin = out.size();
                speller_.append_key(out, child);
                if (out.size() - begin > kMostKeyBytes && is_yaml()) return false;
                out += sign_of(child);
            }
            if (!append_flat(out, child, most)) return false;
        }
        return true;
    }

    /// Writes a value on the current line. Returns false if the value does not fit.
    bool write_flat(Node node) {
        const std::size_t used = column(), num_anchors = anchors_.size();
        std::string flat;
        const std::size_t room = layout_.width > used ? layout_.width - used : 0;
        // A code point has at most four bytes.
        const bool is_flat =
            append_flat(flat, node, is_container(node) && node.size() > 0 ? room * 4 : ~std::size_t(0));
        if (!is_flat || (is_container(node) && node.size() > 0 && num_code_points(flat) > room)) {
            anchors_.resize(num_anchors);
            return false;
        }
        out_ += flat;
        return true;
    }

    /// Writes several scalars per line, either as in the original text or as many as fit. A comment ends a line.
    void rows(Node list, std::size_t depth) {
        const NodeComments* const inside = comments_.inside(list);
        const std::size_t indent = is_yaml() ? depth + unit_.size() : depth + 1;
        const bool keeps_rows = shape_of(list) == Shape::kLines, puts_commas = has_commas(list);
        std::uint32_t num_left = list.size();
        bool ends_line = true;
        Node before;
        out_ += '[';
        is_block_start_ = true;
        if (inside != nullptr) behind(inside->at_start, indent);
        for (const Node child : list) {
            std::string text;
            append_flat(text, child, ~std::size_t(0));
            if (--num_left > 0 && puts_commas) text += ',';
            const NodeComments* const around = comments_.around(child);
            const bool is_beside = !ends_line && (around == nullptr || !has_new(around->before)) &&
                                   (!keeps_rows || is_on_line_of(before, child)) &&
                                   column() + 1 + num_code_points(text) <= layout_.width;
            const bool ends_in_comment = around != nullptr && has_new(around->after);
            if (around != nullptr) lines(around->before, indent);
            if (is_beside)
                out_ += ' ';
            else
                new_line(indent, around != nullptr && around->after_blank_line);
            out_ += text;
            if (around != nullptr) behind(around->after, indent);
            ends_line = ends_in_comment;
            before = child;
        }
        ends_line |= inside != nullptr && has_new(inside->at_end);
        if (inside != nullptr) lines(inside->at_end, indent);
        if (!is_yaml() || ends_line) new_line(is_yaml() ? indent : depth, false);
        out_ += ']';
    }

    // --- SJSON and JSON ----------------------------------------------------------------------------------------------

    void children(Node node, std::size_t depth) {
        std::uint32_t num_left = node.size();
        const bool puts_commas = has_commas(node);
        for (const Node next : node) child(next, depth, --num_left > 0 && puts_commas);
        if (const NodeComments* const inside = comments_.inside(node)) lines(inside->at_end, depth);
    }

    void child(Node node, std::size_t depth, bool puts_comma) {
        const NodeComments* const around = comments_.around(node);
        if (around != nullptr) lines(around->before, depth);
        new_line(depth, around != nullptr && around->after_blank_line);
        if (node.has_key()) {
            speller_.append_key(out_, node);
            out_ += sign_of(node);
        }
        value(node, depth);
        if (puts_comma) out_ += ',';
        if (around != nullptr) behind(around->after, depth);
    }

    void value(Node node, std::size_t depth) {
        if (write_flat(node)) return;
        if (!is_container(node)) return speller_.append_scalar(out_, node);
        if (takes_rows(node)) return rows(node, depth);
        const NodeComments* const inside = comments_.inside(node);
        out_ += node.is_list() ? '[' : '{';
        is_block_start_ = true;
        if (inside != nullptr) behind(inside->at_start, depth + 1);
        children(node, depth + 1);
        is_block_start_ = true;
        new_line(depth, false);
        out_ += node.is_list() ? ']' : '}';
    }

    // --- YAML --------------------------------------------------------------------------------------------------------

    std::string_view anchor_of(Node node) const {
        const std::string_view anchor = origins_.property_of(node, '&');
        return anchor.substr(anchor.empty() ? 0 : 1);
    }

    /// Returns the tag of a list, unless it is redundant.
    std::string_view tag_to_keep(Node node) const {
        const std::string_view tag = node.is_list() ? origins_.property_of(node, '!') : std::string_view();
        return tag == "!!pairs" || tag == "!!omap" ? tag : std::string_view();
    }

    /// Appends the anchor and the tag of a value. If the same value has already been written, appends its alias and
    /// returns true.
    bool yaml_anchor(std::string& out, Node node) {
        if (const std::string_view name = anchor_of(node); !name.empty()) {
            const auto last =
                std::find_if(anchors_.rbegin(), anchors_.rend(), [&](const auto& a) { return a.first == name; });
            if (last != anchors_.rend() && last->second.position() == node.position() && equal(last->second, node)) {
                out += concat('*', name);
                return true;
            }
            out += concat('&', name, ' ');
            anchors_.emplace_back(name, node);
        }
        if (const std::string_view tag = tag_to_keep(node); !tag.empty()) out += concat(tag, ' ');
        return false;
    }

    void yaml_key(Node child) {
        const std::size_t begin = out_.size();
        speller_.append_key(out_, child);
        if (out_.size() - begin <= kMostKeyBytes) {
            out_ += ':';
            return;
        }
        const std::size_t indent = begin - (out_.rfind('\n', begin) + 1);
        out_.insert(begin, "? ");
        out_ += concat('\n', std::string(indent, ' '), ':');
    }

    /// The first nodes in an element are on the line of its dash. Writes their comments above that line.
    void yaml_first_comments(Node node, std::size_t depth) {
        while (is_container(node) && node.size() > 0 && anchor_of(node).empty() && tag_to_keep(node).empty()) {
            if (const NodeComments* const inside = comments_.inside(node)) lines(inside->at_start, depth);
            node = *node.begin();
            if (const NodeComments* const around = comments_.around(node)) lines(around->before, depth);
            if (node.has_key()) return;
        }
    }

    void yaml_children(Node node, std::size_t depth, bool is_on_line) {
        for (const Node child : node) {
            yaml_child(child, depth, is_on_line);
            is_on_line = false;
        }
        if (const NodeComments* const inside = comments_.inside(node)) lines(inside->at_end, depth);
    }

    void yaml_child(Node node, std::size_t depth, bool is_on_line) {
        const NodeComments* const around = comments_.around(node);
        if (!is_on_line) {
            if (around != nullptr) lines(around->before, depth);
            if (!node.has_key()) yaml_first_comments(node, depth);
            new_line(depth, around != nullptr && around->after_blank_line);
        }
        if (node.has_key())
            yaml_key(node);
        else
            out_ += '-';
        const std::size_t begin = out_.size();
        const bool is_block = yaml_value(node, depth);
        if (around != nullptr && has_new(around->after)) {
            const std::size_t line_end = node.is_string() ? out_.find('\n', begin) : std::string::npos;
            if (is_block)
                lines(around->after, depth);
            else if (line_end == std::string::npos)
                behind(around->after, depth);
            else
                yaml_behind_header(around->after, begin, line_end, node, depth);
        }
        const NodeComments* const inside = is_container(node) && node.size() == 0 ? comments_.inside(node) : nullptr;
        if (inside == nullptr) return;
        lines(inside->at_start, depth);  // {} and [] have no lines inside
        lines(inside->at_end, depth);
    }

    /// Writes comments after the character that begins a multi-line string; only one comment line fits there.
    void yaml_behind_header(const std::vector<Comment>& list, std::size_t begin, std::size_t line_end, Node node,
                            std::size_t depth) {
        const bool has_room = list.size() == 1 && !list[0].is_first && lines_of(list[0]).size() == 1;
        const std::string lines = out_.substr(line_end);
        out_.resize(has_room ? line_end : begin);
        if (!has_room) {
            out_ += ' ';
            append_yaml_text(out_, node.as_string(), true, false);
        }
        behind(list, depth);
        if (has_room) out_ += lines;
    }

    /// Returns whether the source text of a YAML null is empty.
    bool is_unsaid(Node node) const {
        const SourcePosition position = node.position();
        const std::string_view text = origins_.text_of(node);
        return node.is_null() && position.file != 0 && origins_.is_yaml(position) && anchor_of(node).empty() &&
               (text.empty() || (text[0] != '~' && text[0] != 'n' && text[0] != 'N'));
    }

    /// Writes the value after `key:` or `-`. Returns true if the value takes several lines and has no brackets.
    bool yaml_value(Node node, std::size_t depth) {
        if (node.has_key() && is_unsaid(node)) return false;
        const std::size_t begin = out_.size();
        out_ += ' ';
        if (write_flat(node) || yaml_anchor(out_, node)) return false;
        const std::size_t step = unit_.size();
        if (!is_container(node))
            speller_.append_scalar(out_, node, {.is_flow = false, .indent = depth + step, .step = step});
        else if (node.size() == 0)
            out_ += node.is_list() ? "[]" : "{}";
        else if (takes_rows(node))
            rows(node, depth);
        else
            return yaml_block(node, depth, out_.size() > begin + 1), true;
        return false;
    }

    void yaml_block(Node node, std::size_t depth, bool has_properties) {
        const std::size_t inner = depth + (node.has_key() ? unit_.size() : 2);
        const bool is_beside = !node.has_key() && !has_properties;
        if (!is_beside) {
            const NodeComments *const inside = comments_.inside(node), *const around = comments_.around(node);
            out_.resize(out_.find_last_not_of(' ') + 1);
            is_block_start_ = true;
            // A comment after the closing bracket belongs to the whole value.
            if (inside != nullptr && has_new(inside->at_start))
                behind(inside->at_start, inner);
            else if (around != nullptr)
                behind(around->after, inner);
        }
        yaml_children(node, inner, is_beside);
    }

    // --- the text ----------------------------------------------------------------------------------------------------

    /// Returns the node whose indentation is that of one level, which is `child` if the root has brackets, and
    /// otherwise its first child. Returns none if that node does not start a line.
    Node first_indented(Node child, bool has_bracket) const {
        const bool is_block = is_container(child) && child.size() > 0 && shape_of(child) == Shape::kLines;
        if (!has_bracket && !is_block) return {};
        const std::string_view text = origins_.text_of(child);
        if (is_yaml() && (!child.is_mapping() || text.starts_with('{'))) return {};
        const Node indented = has_bracket ? child : *child.begin();
        return indented.has_key() || is_container(indented) ? indented : Node();
    }

    /// Sets the indentation from the first indented line of the root's text.
    void choose_indent(Node root) {
        const bool is_same = origins_.format_of(root.position()) == format_ && root.position().file != 0;
        unit_ = layout_.indent > 0 ? std::string(layout_.indent, ' ') : format_ == SourceFormat::kSjson ? "\t" : "  ";
        if (layout_.indent > 0 || !is_container(root) || !is_same || (is_yaml() && !root.is_mapping())) return;
        const bool has_bracket = !is_yaml() && !origins_.text_of(root).empty();
        if (has_bracket && !keeps_braces(root)) return;  // removing the braces removes a level
        for (const Node child : root) {
            const Node indented = first_indented(child, has_bracket);
            if (!indented || indented.position().file != root.position().file) continue;
            const SourcePosition begin = indented.has_key() ? indented.key_position() : indented.position();
            if (begin.offset <= root.position().offset) continue;
            const std::string_view blanks = origins_.indentation_of(begin, !indented.has_key());
            if (blanks.empty() || (blanks[0] == '\t' && is_yaml())) continue;
            if (blanks.find_first_not_of(blanks[0]) != std::string_view::npos) continue;
            unit_ = blanks[0] == '\t' ? "\t" : std::string(std::min<std::size_t>(blanks.size(), 8), ' ');
            return;
        }
    }

    /// Takes over the byte order mark of the root's text, if it has one, and the line end of its first line.
    void take_line_ends(Node root) {
        const std::string_view text = origins_.whole_text(root.position().file);
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0 && end < text.size() && text[end - 1] == '\r') {
            std::string lines;
            for (const char c : out_) {
                if (c == '\n') lines += '\r';
                lines += c;
            }
            out_ = std::move(lines);
        }
        if (text.starts_with(kByteOrderMark) && origins_.format_of(root.position()) == format_)
            out_.insert(0, kByteOrderMark);
    }

    /// Returns whether the root is written with brackets. This is always true in JSON. In SJSON, it is true for a list,
    /// and if braces are kept.
    bool keeps_braces(Node root) const {
        if (is_json() || !root.is_mapping()) return !is_yaml();
        return keeps_signs_of(root.position()) && origins_.text_of(root).starts_with('{');
    }

    /// In SJSON, the root mapping has no braces.
    void root_mapping(Node root) {
        if (const NodeComments* const inside = comments_.inside(root)) lines(inside->at_start, 0);
        children(root, 0);
    }

    void yaml_root(Node root) {
        const NodeComments* const inside = comments_.inside(root);
        const bool is_block = is_container(root) && root.size() > 0;
        const std::size_t begin = out_.size();
        if (inside != nullptr && !is_block) lines(inside->at_end, 0);
        if (!is_block || shape_of(root) == Shape::kOneLine) {
            new_line(0, false);
            if (write_flat(root)) return;
            if (!is_block && is_container(root)) out_ += root.is_list() ? "[]" : "{}";
            if (!is_container(root)) speller_.append_scalar(out_, root);
            if (!is_block) return;
            out_.resize(begin);
        }
        if (inside != nullptr) lines(inside->at_start, 0);
        std::string properties;
        yaml_anchor(properties, root);
        if (!properties.empty()) {
            new_line(0, false);
            out_ += properties.substr(0, properties.size() - 1);
        }
        yaml_children(root, 0, false);
    }

    SourceFormat format_;
    const SourceComments& comments_;
    SourceLayout layout_;
    Origins origins_;
    Speller speller_;
    std::string unit_;               // the blanks of one level of indentation
    std::string_view sign_ = " = ";  // between keys and values that do not keep their punctuation
    bool commas_ = false;            // whether commas separate children that do not keep their punctuation
    std::uint32_t signs_file_ = 0;   // the file whose punctuation is kept, or 0
    std::string out_;
    bool is_block_start_ = true;  // at the start of the text or of a block, where empty lines are dropped
    std::vector<std::pair<std::string, Node>> anchors_;
    HashMap<std::uint64_t, bool> written_{Owner("source writer")};  // written comments, by position
};

}  // namespace

std::vector<std::string> lines_of(const Comment& comment) {
    constexpr std::uint32_t kNextLine = 0x85, kLineSeparator = 0x2028, kParagraphSeparator = 0x2029;
    std::vector<std::string> lines(1);
    const std::string_view text = comment.text;
    for (std::size_t at = 0, length; at < text.size(); at += length) {
        const auto [c, num_bytes] = decode_utf8(text.substr(at));
        length = num_bytes;
        if (text.substr(at).starts_with("\r\n")) continue;  // \r\n is one line end
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

std::string write_source_text(Node node, SourceFormat format, const Diagnostics& diagnostics,
                              const SourceComments& comments, const SourceLayout& layout) {
    return SourceWriter(format, diagnostics, comments, layout).write(node);
}

}  // namespace shoal
