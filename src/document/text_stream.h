#pragma once
// Writes SJSON and JSON front to back. node() writes an existing tree; a printing DocumentBuilder forwards its calls to
// the other functions. The stream keeps the open containers, and up to 16 numbers of a list, because short lists of
// numbers are written on one line.
// Thread: one thread at a time.

#include "shoal/base/text.h"
#include "shoal/document/detail/document.h"
#include "shoal/document/detail/scalar_text.h"
#include "shoal/document/document_builder.h"

#include <string>
#include <type_traits>

namespace shoal {

/// The properties in which the text formats differ.
struct TextStyle {
    char indent;
    std::uint8_t indent_width;  ///< characters per level
    std::string_view key_end;
    std::string_view separator;
    std::string_view inline_separator;
    bool root_has_braces;
    bool is_one_line;
    bool is_json;
    bool keeps_lines;  ///< whether a string of several lines is written verbatim
};
extern const TextStyle kJsonStyle;
extern const TextStyle kSjsonStyle;
extern const TextStyle kLineStyle;  ///< SJSON without line breaks

class TextStream {
public:
    /// If `print` is nullptr, finish() returns the text.
    explicit TextStream(const TextStyle& style, TextFunction print = nullptr, void* context = nullptr)
        : style_(style), print_(print), context_(context) {}

    void begin(bool is_mapping) {
        begin_value();
        const bool is_bare = is_mapping && open_.empty() && !style_.root_has_braces;
        if (is_mapping && !is_bare) out_.push_back('{');
        numbers_.clear();
        open_.push_back({0, is_mapping, is_bare, !is_mapping});
    }

    void end() {
        const Open open = open_.back();
        if (open.is_folded)
            write_folded();
        else if (!open.is_bare) {
            if (open.num_children > 0) begin_line(open_.size() - 1);
            out_.push_back(open.is_mapping ? '}' : ']');
        }
        open_.pop_back();
    }

    void key(std::string_view key) {
        begin_child();
        if (style_.is_json || !is_plain_key(key))
            write_quoted(key);
        else
            out_.append(key);
        out_.append(style_.key_end);
        has_key_ = true;
    }

    void null() {
        begin_value();
        out_.append("null");
    }

    void boolean(bool value) {
        begin_value();
        out_.append(value ? "true" : "false");
    }

    void integer(std::int64_t value) { add_number(value); }

    void unsigned_integer(std::uint64_t value) { add_number(value); }

    void number(double value) { add_number(value); }

    void string(std::string_view text) {
        begin_value();
        if (style_.keeps_lines && is_verbatim_text(text))
            write_verbatim(text);
        else
            write_quoted(text);
    }

    /// Writes the subtree of a node, without its key. Does not recurse, because deep nesting could overflow the stack.
    void node(Node root) {
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

    std::size_t depth() const { return open_.size(); }
    bool in_mapping() const { return !open_.empty() && open_.back().is_mapping; }
    bool has_root() const { return has_root_; }

    /// Ends the text and returns it. Returns an empty string if the text was printed. Requires: the root is closed.
    std::string finish() {
        SHOAL_ASSERT(has_root_ && open_.empty(), "a document needs one root, which must be closed");
        if ((!is_empty_ || !out_.empty()) && !style_.is_one_line) out_.push_back('\n');
        pass_on(1);
        return std::move(out_);
    }

private:
    struct Open {
        std::uint32_t num_children;
        bool is_mapping;
        bool is_bare;    ///< a root without braces
        bool is_folded;  ///< a list whose numbers may still fit on one line
    };
    static constexpr std::size_t kPieceBytes = std::size_t(64) << 10;
    static constexpr std::uint32_t kMostOnOneLine = 16;  // at most this many numbers; enough for a 4x4 matrix

    /// Writes the separator before a value, unless the value follows a key or is the root.
    void begin_value() {
        pass_on(kPieceBytes);
        has_root_ = true;
        if (!has_key_ && !open_.empty()) {
            if (open_.back().is_folded) unfold();
            begin_child();
        }
        has_key_ = false;
    }

    void begin_child() {
        Open& open = open_.back();
        const bool is_first = open.num_children++ == 0;
        if (!is_first) out_.append(style_.separator);
        if (!is_first || !open.is_bare) begin_line(open_.size());
    }

    void begin_line(std::size_t depth) {
        if (style_.is_one_line) {
            if (open_.back().is_mapping || (depth == open_.size() && open_.back().num_children > 1))
                out_.push_back(' ');
            return;
        }
        if (open_.front().is_bare) --depth;
        out_.push_back('\n');
        out_.append(depth * style_.indent_width, style_.indent);
    }

    /// Appends a number in a form that reads back with the same kind and value.
    template <class T>
    static void append_value(std::string& out, T number) {
        if constexpr (std::is_integral_v<T>)
            append_number(out, number);
        else
            append_number_text(out, number);
    }

    template <class T>
    void add_number(T value) {
        if (!open_.empty() && open_.back().is_folded) {
            Open& open = open_.back();
            if (open.num_children < kMostOnOneLine) {
                append_value(numbers_, value);
                ends_[open.num_children++] = static_cast<std::uint32_t>(numbers_.size());
                return;
            }
        }
        begin_value();
        append_value(out_, value);
    }

    /// Writes each number of the folded list on its own line, because the list has other values or too many numbers.
    void unfold() {
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

    void write_folded() {
        out_.push_back('[');
        for (std::uint32_t i = 0, begin = 0; i < open_.back().num_children; begin = ends_[i++]) {
            if (i > 0) out_.append(style_.inline_separator);
            out_.append(numbers_, begin, ends_[i] - begin);
        }
        out_.push_back(']');
    }

    void write_verbatim(std::string_view text) {
        out_.append("\"\"\"");
        for (std::size_t i = 0; i < text.size(); i += kPieceBytes) {
            out_.append(text.substr(i, kPieceBytes));
            pass_on(kPieceBytes);
        }
        out_.append("\"\"\"");
    }

    void write_quoted(std::string_view text) {
        out_.push_back('"');
        for (std::size_t i = 0; i < text.size(); i += kPieceBytes) {
            append_escaped_text(out_, text.substr(i, kPieceBytes));
            pass_on(kPieceBytes);
        }
        out_.push_back('"');
    }

    void write_scalar(Node node) {
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

    /// Prints the buffered text if it has at least `least_bytes`.
    void pass_on(std::size_t least_bytes) {
        if (print_ == nullptr || out_.size() < least_bytes) return;
        is_empty_ = false;
        print_(context_, out_);
        out_.clear();
    }

    const TextStyle& style_;
    TextFunction print_;
    void* context_;
    std::string out_;
    bool has_root_ = false;
    bool has_key_ = false;
    bool is_empty_ = true;
    Array<Open> open_{Owner("document writer")};
    std::string numbers_;                   // text of the numbers in the folded list, which is the innermost container
    std::uint32_t ends_[kMostOnOneLine]{};  // offsets into numbers_
};

}  // namespace shoal
