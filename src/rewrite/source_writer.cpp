#include "rewrite/container.h"
#include "rewrite/spelling.h"
#include "shoal/base/text.h"
#include "shoal/document/scalar_text.h"
#include "shoal/rewrite/source_text.h"
#include "shoal/source/source_tokens.h"

#include <algorithm>
#include <vector>

namespace shoal {
namespace {

constexpr std::uint32_t kMostNumbersOnLine = 16;  // a 4x4 matrix
constexpr std::size_t kMostDepth = 1000;
constexpr std::size_t kMostKeyBytes = 1000;  // of YAML on one line with its value

/// How the children of a list or mapping stand in the text that they are from.
enum class Shape : std::uint8_t { kUnknown, kOneLine, kLines };

class SourceWriter {
public:
    SourceWriter(SourceFormat format, const Diagnostics& diagnostics, const SourceComments& comments,
                 const SourceLayout& layout)
        : format_(format), comments_(comments), layout_(layout), speller_(format, diagnostics, layout.bare_texts) {}

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

    /// Depth counts levels, and in YAML spaces: elements of lists take two, whatever a level takes.
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

    /// Returns whether a comment is not written yet: a value that an alias of YAML repeats has its comments once.
    bool is_new(const Comment& comment) {
        return comment.position.file == 0 ||
               written_.insert(pair_key(comment.position.file, comment.position.offset), true).is_new;
    }

    /// Returns whether one of the comments is not written yet. JSON has none.
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

    /// Writes comments behind what stands on the line.
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

    /// Takes the signs of the text that the root is from, if they stay: those that its first key has, and its first
    /// children.
    void choose_signs(Node root) {
        if (is_json() || is_yaml()) sign_ = ": ";
        commas_ = is_json() || is_yaml();
        if (!layout_.keeps_signs || format_ != SourceFormat::kSjson ||
            speller_.format_of(root.position()) != SourceFormat::kSjson)
            return;
        signs_file_ = root.position().file;
        if (const Node child = first_with_sign(root)) sign_ = sign_in_text(child);
        for (Node node = root; is_container(node) && node.size() > 0; node = *node.begin())
            if (const int commas = commas_in_text(node); commas >= 0) return static_cast<void>(commas_ = commas != 0);
    }

    /// Returns the first key of the text that has a sign, on the way to the first value.
    Node first_with_sign(Node root) const {
        for (Node node = root; is_container(node) && node.size() > 0; node = *node.begin())
            for (const Node child : node)
                if (!sign_in_text(child).empty()) return child;
        return {};
    }

    bool keeps_signs_of(SourcePosition position) const { return signs_file_ != 0 && position.file == signs_file_; }

    /// Returns what is between a key and its value in the text, if it is a sign with blanks around it; otherwise
    /// nothing.
    std::string_view sign_in_text(Node child) const {
        const SourcePosition key = child.key_position(), value = child.position();
        if (!child.has_key() || !keeps_signs_of(key) || value.file != key.file || value.offset <= key.offset) return {};
        const std::string_view text = speller_.text_from(key).substr(0, value.offset - key.offset);
        const std::size_t sign = text.find_last_not_of(" \t");
        if (sign == std::string_view::npos || sign == 0 || (text[sign] != ':' && text[sign] != '=')) return {};
        return text.substr(text.find_last_not_of(" \t", sign - 1) + 1);
    }

    std::string_view sign_of(Node child) const {
        const std::string_view sign = sign_in_text(child);
        return sign.empty() ? sign_ : sign;
    }

    /// Returns whether there are commas between the children of a list or mapping in the text; -1: it does not show.
    int commas_in_text(Node node) const {
        Node before;
        for (const Node child : node) {
            const SourcePosition first = before ? before.position() : SourcePosition();
            const SourcePosition second = child.has_key() ? child.key_position() : child.position();
            const bool has_text = keeps_signs_of(first) && second.file == first.file && second.offset > first.offset;
            before = child;
            if (!has_text) continue;
            const std::string_view text = speller_.text_from(first).substr(0, second.offset - first.offset);
            const std::size_t last = text.find_last_not_of(" \t\r\n");
            if (last == std::string_view::npos) continue;
            if (text[last] == ',') return 1;
            const std::string_view line = text.substr(0, last + 1).substr(text.rfind('\n', last) + 1);
            if (line.find("//") == std::string_view::npos && !line.ends_with("*/")) return 0;
        }
        return -1;
    }

    bool has_commas(Node node) const {
        const int commas = signs_file_ == 0 ? -1 : commas_in_text(node);
        return commas < 0 ? commas_ : commas != 0;
    }

    // --- what stands on one line -------------------------------------------------------------------------------------

    Shape shape_of(Node node) const {
        const std::string_view text = speller_.text_of_value(node.position());
        if (text.empty()) return Shape::kUnknown;
        if (text[0] != (node.is_mapping() ? '{' : '['))
            return speller_.format_of(node.position()) == SourceFormat::kYaml ? Shape::kLines : Shape::kUnknown;
        const bool was_yaml = speller_.format_of(node.position()) == SourceFormat::kYaml;
        std::size_t next = text.find_first_not_of(" \t\r,", 1);
        while (!was_yaml && next < text.size() && text.substr(next).starts_with("/*"))
            next = text.find_first_not_of(" \t\r,", std::min(text.find("*/", next + 2), text.size() - 2) + 2);
        const std::string_view rest = text.substr(std::min(next, text.size()));
        const bool is_end = rest.starts_with('\n') || rest.starts_with(was_yaml ? "#" : "//");
        return is_end ? Shape::kLines : Shape::kOneLine;
    }

    /// Returns whether a value begins on the line where the one before it begins.
    bool is_on_line_of(Node before, Node node) const {
        const SourcePosition first = before.position(), second = node.position();
        const std::string_view text = speller_.text_from(first);
        if (first.file != second.file || second.offset < first.offset || text.empty()) return false;
        return text.substr(0, second.offset - first.offset).find('\n') == std::string_view::npos;
    }

    /// Returns whether values stand beside one another on several lines.
    bool has_rows(Node list) const {
        Node before;
        for (const Node child : list) {
            if (before && is_on_line_of(before, child)) return true;
            before = child;
        }
        return false;
    }

    /// Returns whether lines of comments, or comments behind it, belong to a key or element. JSON has none.
    bool has_comments(const NodeComments* around) const {
        return around != nullptr && (has_new(around->before) || has_new(around->after));
    }

    /// Returns whether a list that does not fit on a line has several values on each of its lines: as it had them, or
    /// numbers.
    bool takes_rows(Node node) const {
        if (!node.is_list() || std::any_of(node.begin(), node.end(), is_container)) return false;
        const bool has_lines = shape_of(node) == Shape::kLines;
        if (!has_lines) return std::all_of(node.begin(), node.end(), [](Node child) { return child.is_number(); });
        const bool has_marks = speller_.text_of_value(node.position()).starts_with('[');
        const bool was_yaml = speller_.format_of(node.position()) == SourceFormat::kYaml;
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
            const bool has_marks =
                !speller_.text_of_value(node.position()).empty() && speller_.text_of_value(node.position())[0] == '[';
            return node.is_list() && has_only_numbers && node.size() <= kMostNumbersOnLine &&
                   (has_marks || !is_yaml()) && !has_rows(node);
        }
        return std::none_of(node.begin(), node.end(), [](Node child) {
            return is_container(child) && child.size() > 0 && (child.is_mapping() || is_container(*child.begin()));
        });
    }

    /// Returns whether a text is one of several lines: not if it is in quotes that were chosen although there are other
    /// ways.
    bool takes_lines(Node node) const {
        if (!node.is_string() || node.as_string().find('\n') == std::string_view::npos) return false;
        const std::string_view text = speller_.text_of_value(node.position());
        const bool has_quotes = text.starts_with('"') && !text.starts_with("\"\"\"");
        return !has_quotes || speller_.format_of(node.position()) == SourceFormat::kJson;
    }

    /// Appends a value on one line; false: it takes more bytes than `most`, or it needs several lines.
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

    /// Writes a value on the line where it stands; false: it does not fit.
    bool write_flat(Node node) {
        const std::size_t used = column(), num_anchors = anchors_.size();
        std::string flat;
        const std::size_t room = layout_.width > used ? layout_.width - used : 0;
        // A code point has four bytes at most.
        const bool is_flat =
            append_flat(flat, node, is_container(node) && node.size() > 0 ? room * 4 : ~std::size_t(0));
        if (!is_flat || (is_container(node) && node.size() > 0 && num_code_points(flat) > room)) {
            anchors_.resize(num_anchors);
            return false;
        }
        out_ += flat;
        return true;
    }

    /// Writes scalars beside one another: on the lines that they had, or as many as fit. A comment ends a line.
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

    /// Other tags say what is seen anyway.
    std::string_view tag_to_keep(Node node) const {
        const std::string_view tag = node.is_list() ? speller_.tag_of(node.position()) : std::string_view();
        return tag == "!!pairs" || tag == "!!omap" ? tag : std::string_view();
    }

    /// Appends the anchor and the tag of a value; or its alias if the same value stands above already: true.
    bool yaml_anchor(std::string& out, Node node) {
        if (const std::string_view name = speller_.anchor_of(node.position()); !name.empty()) {
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

    /// Writes the comments above the first thing in an element, which stands on the line of its dash, above that line.
    void yaml_first_comments(Node node, std::size_t depth) {
        while (is_container(node) && node.size() > 0 && speller_.anchor_of(node.position()).empty() &&
               tag_to_keep(node).empty()) {
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
        lines(inside->at_start, depth);  // there is no line inside of {} and []
        lines(inside->at_end, depth);
    }

    /// Writes comments behind the sign that begins a text of several lines; only one line of comment has room there.
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

    /// Returns whether a null of YAML was nothing at all.
    bool is_unsaid(Node node) const {
        const SourcePosition position = node.position();
        const std::string_view text = speller_.text_of_value(position);
        return node.is_null() && position.file != 0 && speller_.format_of(position) == SourceFormat::kYaml &&
               speller_.anchor_of(position).empty() &&
               (text.empty() || (text[0] != '~' && text[0] != 'n' && text[0] != 'N'));
    }

    /// Writes what follows `key:` or `-`. Returns whether that are lines without brackets.
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
            // What stood behind the closing bracket is about all of it.
            if (inside != nullptr && has_new(inside->at_start))
                behind(inside->at_start, inner);
            else if (around != nullptr)
                behind(around->after, inner);
        }
        yaml_children(node, inner, is_beside);
    }

    // --- the text ----------------------------------------------------------------------------------------------------

    /// Returns the first thing of a level inside of the root, if it stays at the start of a line; or nothing.
    Node first_indented(Node child, bool has_bracket) const {
        const bool is_block = is_container(child) && child.size() > 0 && shape_of(child) == Shape::kLines;
        if (!has_bracket && !is_block) return {};
        const std::string_view text = speller_.text_of_value(child.position());
        if (is_yaml() && (!child.is_mapping() || text.starts_with('{'))) return {};
        const Node indented = has_bracket ? child : *child.begin();
        return indented.has_key() || is_container(indented) ? indented : Node();
    }

    /// Takes the indentation of the text that the root is from: that of its first line that is indented.
    void choose_indent(Node root) {
        const bool is_same = speller_.format_of(root.position()) == format_ && root.position().file != 0;
        const std::string_view text = is_same ? speller_.text_from(root.position()) : std::string_view();
        unit_ = layout_.indent > 0 ? std::string(layout_.indent, ' ') : format_ == SourceFormat::kSjson ? "\t" : "  ";
        if (layout_.indent > 0 || !is_container(root) || text.empty() || (is_yaml() && !root.is_mapping())) return;
        const bool has_bracket = !is_yaml() && (text[0] == '{' || text[0] == '[');
        if (has_bracket && !keeps_braces(root)) return;  // the braces go, and a level with them
        for (const Node child : root) {
            const Node indented = first_indented(child, has_bracket);
            if (!indented || indented.position().file != root.position().file) continue;
            const std::uint32_t offset =
                indented.has_key() ? indented.key_position().offset : indented.position().offset;
            if (offset <= root.position().offset) continue;
            const std::size_t at = offset - root.position().offset, before = text.find_last_not_of(" \t", at - 1);
            if (before == std::string_view::npos || text[before] != '\n') continue;
            const std::string_view blanks = text.substr(before + 1, at - before - 1);
            if (blanks.empty() || (blanks[0] == '\t' && is_yaml())) continue;
            if (blanks.find_first_not_of(blanks[0]) != std::string_view::npos) continue;
            unit_ = blanks[0] == '\t' ? "\t" : std::string(std::min<std::size_t>(blanks.size(), 8), ' ');
            return;
        }
    }

    /// Lines end as the first line of the text does that the root is from, which also has a byte order mark or not.
    void take_line_ends(Node root) {
        const std::string_view text = speller_.text_from({root.position().file, 0});
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0 && end < text.size() && text[end - 1] == '\r') {
            std::string lines;
            for (const char c : out_) {
                if (c == '\n') lines += '\r';
                lines += c;
            }
            out_ = std::move(lines);
        }
        if (text.starts_with(kByteOrderMark) && speller_.format_of(root.position()) == format_)
            out_.insert(0, kByteOrderMark);
    }

    /// Returns whether the root is written with its brackets: in JSON, a list, and in SJSON with braces that stay.
    bool keeps_braces(Node root) const {
        if (is_json() || !root.is_mapping()) return !is_yaml();
        return keeps_signs_of(root.position()) && speller_.text_from(root.position()).starts_with('{');
    }

    /// The members of the root have no braces in SJSON.
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
    Speller speller_;
    std::string unit_;               // of indentation
    std::string_view sign_ = " = ";  // between keys and values that do not keep theirs
    bool commas_ = false;            // between children that do not keep theirs
    std::uint32_t signs_file_ = 0;   // whose signs stay; 0: those of none
    std::string out_;
    bool is_block_start_ = true;  // an empty line would stand at the start of the text or of a block
    std::vector<std::pair<std::string, Node>> anchors_;
    HashMap<std::uint64_t, bool> written_{Owner("source writer")};  // comments, by place
};

}  // namespace

std::string write_source_text(Node node, SourceFormat format, const Diagnostics& diagnostics,
                              const SourceComments& comments, const SourceLayout& layout) {
    return SourceWriter(format, diagnostics, comments, layout).write(node);
}

}  // namespace shoal
