#include "shoal/base/text.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::uint32_t kMostOnOneLine = 16;  // numbers: a 4x4 matrix

bool is_short_number_list(Node node) {
    if (!node.is_list() || node.size() > kMostOnOneLine) return false;
    return std::all_of(node.begin(), node.end(), [](Node child) { return child.is_number(); });
}

/// Appends a number so that it reads back as the same kind and value.
void append_number_node(std::string& out, Node node) {
    if (node.kind() == NodeKind::kInteger) {
        if (const auto value = node.as_int64())
            append_number(out, *value);
        else
            append_number(out, *node.as_uint64());
        return;
    }
    const std::size_t begin = out.size();
    append_number(out, node.as_double());
    if (out.find_first_of(".e", begin) == std::string::npos) out.append(".0");
}

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

void append_quoted(std::string& out, std::string_view text) {
    out.push_back('"');
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\')
            append_escaped(out, c);
        else
            out.push_back(c);
    }
    out.push_back('"');
}

/// Where JSON and SJSON differ.
struct JsonStyle {
    static constexpr std::string_view kIndent = "  ";
    static constexpr std::string_view kKeyEnd = ": ";
    static constexpr std::string_view kSeparator = ",";
    static constexpr std::string_view kInlineSeparator = ", ";
    static constexpr bool kRootHasBraces = true;
    static constexpr bool kIsOneLine = false;

    static void append_key(std::string& out, std::string_view key) { append_quoted(out, key); }
    static void append_string(std::string& out, std::string_view text) { append_quoted(out, text); }
};

struct SjsonStyle {
    static constexpr std::string_view kIndent = "\t";
    static constexpr std::string_view kKeyEnd = " = ";
    static constexpr std::string_view kSeparator = "";
    static constexpr std::string_view kInlineSeparator = " ";
    static constexpr bool kRootHasBraces = false;
    static constexpr bool kIsOneLine = false;

    static void append_key(std::string& out, std::string_view key) {
        constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-#$.";
        const bool is_plain = !key.empty() && key.find_first_not_of(kPlain) == std::string_view::npos;
        if (is_plain)
            out.append(key);
        else
            append_quoted(out, key);
    }

    /// Writes a text of several lines verbatim if it reads back the same.
    static void append_string(std::string& out, std::string_view text) {
        const bool has_lines = text.find('\n') != std::string_view::npos;
        const auto is_odd = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; };
        const bool is_verbatim = has_lines && text.find("\"\"\"") == std::string_view::npos &&
                                 std::none_of(text.begin(), text.end(), is_odd);
        if (is_verbatim)
            out.append("\"\"\"").append(text).append("\"\"\"");
        else
            append_quoted(out, text);
    }
};

/// SJSON without line breaks.
struct LineStyle : SjsonStyle {
    static constexpr std::string_view kSeparator = ",";
    static constexpr bool kIsOneLine = true;

    static void append_string(std::string& out, std::string_view text) { append_quoted(out, text); }
};

template <class Style>
class TextWriter {
public:
    std::string write(Node root) {
        write_value(root);
        while (!open_.empty()) write_next();
        if (!out_.empty() && !Style::kIsOneLine) out_.push_back('\n');
        return std::move(out_);
    }

private:
    struct Open {
        Node node;
        Node::Iterator next, end;
    };

    bool is_bare(const Open& open) const {
        return !Style::kRootHasBraces && &open == open_.data() && open.node.is_mapping();
    }

    void write_next() {
        Open& open = open_.back();
        if (open.next == open.end) return close();
        const Node child = *open.next;
        const bool is_first = open.next++ == open.node.begin();
        if (!is_first) out_.append(Style::kSeparator);
        if (!is_first || !is_bare(open)) begin_line(open_.size());
        if (child.has_key()) {
            Style::append_key(out_, child.key());
            out_.append(Style::kKeyEnd);
        }
        write_value(child);
    }

    void close() {
        const Open& open = open_.back();
        if (!is_bare(open)) {
            begin_line(open_.size() - 1);
            out_.push_back(open.node.is_mapping() ? '}' : ']');
        }
        open_.pop_back();
    }

    void begin_line(std::size_t depth) {
        if (Style::kIsOneLine) {
            if (!open_.back().node.is_list() || out_.back() == ',') out_.push_back(' ');
            return;
        }
        if (!Style::kRootHasBraces && open_.front().node.is_mapping()) --depth;
        out_.push_back('\n');
        for (std::size_t i = 0; i < depth; ++i) out_.append(Style::kIndent);
    }

    void write_value(Node node) {
        switch (node.kind()) {
            case NodeKind::kNull:
                out_.append("null");
                return;
            case NodeKind::kBool:
                out_.append(node.as_bool() ? "true" : "false");
                return;
            case NodeKind::kInteger:
            case NodeKind::kNumber:
                append_number_node(out_, node);
                return;
            case NodeKind::kString:
                Style::append_string(out_, node.as_string());
                return;
            case NodeKind::kList:
            case NodeKind::kMapping:
                write_container(node);
        }
    }

    void write_container(Node node) {
        if (is_short_number_list(node)) return write_inline(node);
        const bool is_bare_root = !Style::kRootHasBraces && open_.empty() && node.is_mapping();
        if (node.size() == 0) {
            if (!is_bare_root) out_.append("{}");
            return;
        }
        if (!is_bare_root) out_.push_back(node.is_mapping() ? '{' : '[');
        open_.push_back({node, node.begin(), node.end()});
    }

    void write_inline(Node list) {
        out_.push_back('[');
        std::string_view separator;
        for (const Node child : list) {
            out_.append(separator);
            append_number_node(out_, child);
            separator = Style::kInlineSeparator;
        }
        out_.push_back(']');
    }

    std::string out_;
    Array<Open> open_{Owner("document writer")};
};

}  // namespace

std::string write_sjson(Node node) { return TextWriter<SjsonStyle>().write(node); }
std::string write_sjson_line(Node node) { return TextWriter<LineStyle>().write(node); }
std::string write_json(Node node) { return TextWriter<JsonStyle>().write(node); }

}  // namespace shoal
