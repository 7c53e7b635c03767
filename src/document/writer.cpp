#include "document/text_stream.h"
#include "shoal/base/text.h"
#include "shoal/document/json.h"
#include "shoal/document/scalar_text.h"
#include "shoal/document/sjson.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

constexpr std::size_t kPieceBytes = std::size_t(64) << 10;

/// Appends an integer; it reads back as the same kind and value, as numbers do.
template <class T>
void append_number_text(std::string& out, T number) {
    append_number(out, number);
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escaped(std::string& out, char c) {
    constexpr std::string_view kLetters = "\b\f\n\r\t\"\\";
    constexpr std::string_view kEscapes = "bfnrt\"\\";
    out.push_back('\\');
    const std::size_t i = kLetters.find(c);
    if (i != std::string_view::npos)
        out.push_back(kEscapes[i]);
    else
        out.append("u00").append({"0123456789ABCDEF"[(c >> 4) & 15], "0123456789ABCDEF"[c & 15]});
}

/// The characters of keys that SJSON needs no quotes for.
struct PlainCharacters {
    constexpr PlainCharacters() {
        for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-#$."))
            has[static_cast<unsigned char>(c)] = true;
    }
    bool has[256]{};
};
constexpr PlainCharacters kPlainCharacters;

std::string write(const TextStyle& style, Node node) {
    TextStream stream(style);
    stream.node(node);
    return stream.finish();
}

}  // namespace

// --- scalars -------------------------------------------------------------------------------------------------------

void append_number_text(std::string& out, double number) {
    constexpr double kMost = 99'999;  // the shortest text of 100000.0 is 1e+05
    if (number >= -kMost && number <= kMost) {
        const auto whole = static_cast<std::int64_t>(number);
        if (static_cast<double>(whole) == number && (whole != 0 || !std::signbit(number))) {
            append_number(out, whole);
            out.append(".0");
            return;
        }
    }
    const std::size_t begin = out.size();
    append_number(out, number);
    if (out.find_first_of(".e", begin) == std::string::npos) out.append(".0");
}

void append_escaped_text(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const auto escaped = std::find_if(text.begin(), text.end(), needs_escape);
        const auto num_plain = static_cast<std::size_t>(escaped - text.begin());
        out.append(text.substr(0, num_plain));
        if (escaped == text.end()) return;
        append_escaped(out, *escaped);
        text.remove_prefix(num_plain + 1);
    }
}

void append_quoted_text(std::string& out, std::string_view text) {
    out.push_back('"');
    append_escaped_text(out, text);
    out.push_back('"');
}

std::size_t num_code_points(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

bool is_plain_key(std::string_view key) {
    const auto is_plain = [](char c) { return kPlainCharacters.has[static_cast<unsigned char>(c)]; };
    return !key.empty() && std::all_of(key.begin(), key.end(), is_plain);
}

bool is_verbatim_text(std::string_view text) {
    const auto is_odd = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; };
    return text.find('\n') != std::string_view::npos && text.find("\"\"\"") == std::string_view::npos &&
           std::none_of(text.begin(), text.end(), is_odd);
}

// --- styles --------------------------------------------------------------------------------------------------------

const TextStyle kJsonStyle{.indent = ' ',
                           .indent_width = 2,
                           .key_end = ": ",
                           .separator = ",",
                           .inline_separator = ", ",
                           .root_has_braces = true,
                           .is_one_line = false,
                           .is_json = true,
                           .keeps_lines = false};
const TextStyle kSjsonStyle{.indent = '\t',
                            .indent_width = 1,
                            .key_end = " = ",
                            .separator = "",
                            .inline_separator = " ",
                            .root_has_braces = false,
                            .is_one_line = false,
                            .is_json = false,
                            .keeps_lines = true};
const TextStyle kLineStyle{.indent = ' ',
                           .indent_width = 0,
                           .key_end = " = ",
                           .separator = ",",
                           .inline_separator = " ",
                           .root_has_braces = false,
                           .is_one_line = true,
                           .is_json = false,
                           .keeps_lines = false};

// --- containers ----------------------------------------------------------------------------------------------------

void TextStream::begin(bool is_mapping) {
    begin_value();
    const bool is_bare = is_mapping && open_.empty() && !style_.root_has_braces;
    if (is_mapping && !is_bare) out_.push_back('{');
    numbers_.clear();
    open_.push_back({0, is_mapping, is_bare, !is_mapping});
}

void TextStream::end() {
    const Open open = open_.back();
    if (open.is_folded)
        write_folded();
    else if (!open.is_bare) {
        if (open.num_children > 0) begin_line(open_.size() - 1);
        out_.push_back(open.is_mapping ? '}' : ']');
    }
    open_.pop_back();
}

void TextStream::key(std::string_view key) {
    begin_child();
    if (style_.is_json || !is_plain_key(key))
        write_quoted(key);
    else
        out_.append(key);
    out_.append(style_.key_end);
    has_key_ = true;
}

/// What stands before each value: nothing after a key, and at the root.
void TextStream::begin_value() {
    pass_on(kPieceBytes);
    has_root_ = true;
    if (!has_key_ && !open_.empty()) {
        if (open_.back().is_folded) unfold();
        begin_child();
    }
    has_key_ = false;
}

void TextStream::begin_child() {
    Open& open = open_.back();
    const bool is_first = open.num_children++ == 0;
    if (!is_first) out_.append(style_.separator);
    if (!is_first || !open.is_bare) begin_line(open_.size());
}

void TextStream::begin_line(std::size_t depth) {
    if (style_.is_one_line) {
        if (open_.back().is_mapping || (depth == open_.size() && open_.back().num_children > 1)) out_.push_back(' ');
        return;
    }
    if (open_.front().is_bare) --depth;
    out_.push_back('\n');
    out_.append(depth * style_.indent_width, style_.indent);
}

// --- numbers -------------------------------------------------------------------------------------------------------

template <class T>
void TextStream::add_number(T value) {
    if (!open_.empty() && open_.back().is_folded) {
        Open& open = open_.back();
        if (open.num_children < kMostOnOneLine) {
            append_number_text(numbers_, value);
            ends_[open.num_children++] = static_cast<std::uint32_t>(numbers_.size());
            return;
        }
    }
    begin_value();
    append_number_text(out_, value);
}

void TextStream::integer(std::int64_t value) { add_number(value); }
void TextStream::unsigned_integer(std::uint64_t value) { add_number(value); }
void TextStream::number(double value) { add_number(value); }

/// Writes the numbers of a list that has more than numbers, or too many of them, one on a line.
void TextStream::unfold() {
    Open& open = open_.back();
    const std::uint32_t count = open.num_children;
    open.is_folded = false;
    open.num_children = 0;
    out_.push_back('[');
    for (std::uint32_t i = 0, begin = 0; i < count; begin = ends_[i++]) {
        begin_child();
        out_.append(numbers_, begin, ends_[i] - begin);
    }
}

void TextStream::write_folded() {
    out_.push_back('[');
    for (std::uint32_t i = 0, begin = 0; i < open_.back().num_children; begin = ends_[i++]) {
        if (i > 0) out_.append(style_.inline_separator);
        out_.append(numbers_, begin, ends_[i] - begin);
    }
    out_.push_back(']');
}

// --- other values --------------------------------------------------------------------------------------------------

void TextStream::null() {
    begin_value();
    out_.append("null");
}

void TextStream::boolean(bool value) {
    begin_value();
    out_.append(value ? "true" : "false");
}

void TextStream::string(std::string_view text) {
    begin_value();
    if (style_.keeps_lines && is_verbatim_text(text))
        write_verbatim(text);
    else
        write_quoted(text);
}

void TextStream::write_verbatim(std::string_view text) {
    out_.append("\"\"\"");
    for (std::size_t i = 0; i < text.size(); i += kPieceBytes) {
        out_.append(text.substr(i, kPieceBytes));
        pass_on(kPieceBytes);
    }
    out_.append("\"\"\"");
}

void TextStream::write_quoted(std::string_view text) {
    out_.push_back('"');
    for (std::size_t i = 0; i < text.size(); i += kPieceBytes) {
        append_escaped_text(out_, text.substr(i, kPieceBytes));
        pass_on(kPieceBytes);
    }
    out_.push_back('"');
}

void TextStream::write_scalar(Node node) {
    switch (node.kind()) {
        case NodeKind::kNull:
            return null();
        case NodeKind::kBool:
            return boolean(node.as_bool());
        case NodeKind::kInteger:
            return node.as_int64() ? integer(*node.as_int64()) : unsigned_integer(*node.as_uint64());
        case NodeKind::kNumber:
            return number(node.as_double());
        case NodeKind::kString:
            return string(node.as_string());
        case NodeKind::kList:
        case NodeKind::kMapping:
            return;
    }
}

/// Keeps the way to the node in an array: a text may be nested deeper than the stack allows calls.
void TextStream::node(Node root) {
    struct Walk {
        Node::Iterator next, end;
    };
    Array<Walk> walks{Owner("document writer")};
    const auto enter = [&](Node node) {
        if (!node.is_list() && !node.is_mapping()) return write_scalar(node);
        begin(node.is_mapping());
        walks.push_back({node.begin(), node.end()});
    };
    enter(root);
    while (!walks.empty()) {
        Walk& walk = walks.back();
        if (walk.next == walk.end) {
            end();
            walks.pop_back();
            continue;
        }
        const Node child = *walk.next;
        walk.next++;
        if (child.has_key()) key(child.key());
        enter(child);
    }
}

/// Gives away what is there, if that is at least so much.
void TextStream::pass_on(std::size_t least_bytes) {
    if (print_ == nullptr || out_.size() < least_bytes) return;
    is_empty_ = false;
    print_(context_, out_);
    out_.clear();
}

std::string TextStream::finish() {
    SHOAL_ASSERT(has_root_ && open_.empty(), "a document needs one root, which must be closed");
    if ((!is_empty_ || !out_.empty()) && !style_.is_one_line) out_.push_back('\n');
    pass_on(1);
    return std::move(out_);
}

std::string write_sjson(Node node) { return write(kSjsonStyle, node); }
std::string write_sjson_line(Node node) { return write(kLineStyle, node); }
std::string write_json(Node node) { return write(kJsonStyle, node); }

}  // namespace shoal
