#include "shoal/document/detail/scalar_text.h"
#include "shoal/rewrite/source_text.h"
#include "shoal/source/detail/source_files.h"

#include <algorithm>
#include <span>
#include <vector>

namespace shoal {
namespace {

/// In YAML, a key and its value may begin at one position, as may the list or mapping around them.
std::uint64_t place_of_key_at(SourcePosition at) { return pair_key(at.file | 1u << 31, at.offset); }
std::uint64_t place_of_value(SourcePosition at) { return pair_key(at.file, at.offset); }
std::uint64_t place_around(Node node) {
    return node.has_key() ? place_of_key_at(node.key_position()) : place_of_value(node.position());
}
constexpr std::string_view kMoreLineEnds[] = {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};  // of YAML

bool is_nowhere(std::uint64_t place) { return (place >> 32 & ~(std::uint64_t(1) << 31)) == 0; }

}  // namespace

NodeComments& SourceComments::change(std::uint64_t place) {
    SHOAL_ASSERT(!is_nowhere(place), "comments belong to a place in a text; build the node with a SourcePosition");
    const auto [index, is_new] = indices_.insert(place, static_cast<std::uint32_t>(entries_.size()));
    if (is_new) entries_.emplace_back();
    return entries_[*index];
}

const NodeComments* SourceComments::find(std::uint64_t place) const {
    const std::uint32_t* const index = is_nowhere(place) ? nullptr : indices_.find(place);
    return index == nullptr ? nullptr : &entries_[*index];
}

const NodeComments* SourceComments::around(Node node) const { return find(place_around(node)); }
const NodeComments* SourceComments::inside(Node node) const { return find(place_of_value(node.position())); }
NodeComments& SourceComments::change_around(Node node) { return change(place_around(node)); }
NodeComments& SourceComments::change_inside(Node node) { return change(place_of_value(node.position())); }

std::vector<const Comment*> SourceComments::all() const {
    std::vector<const Comment*> result;
    for (const NodeComments& entry : entries_)
        for (const auto* list : {&entry.before, &entry.after, &entry.at_start, &entry.at_end})
            for (const Comment& comment : *list) result.push_back(&comment);
    return result;
}

SourceComments SourceComments::of(Node root) const {
    SourceComments result;
    std::vector<Node> open{root};
    while (!open.empty()) {
        const Node node = open.back();
        open.pop_back();
        if (const NodeComments* const found = around(node)) {
            NodeComments& taken = result.change(place_around(node));
            taken.before = found->before;
            taken.after = found->after;
            taken.after_blank_line = found->after_blank_line;
        }
        if (const NodeComments* const found = inside(node)) {
            NodeComments& taken = result.change(place_of_value(node.position()));
            taken.at_start = found->at_start;
            taken.at_end = found->at_end;
        }
        if (node.is_list() || node.is_mapping()) open.insert(open.end(), node.begin(), node.end());
    }
    return result;
}

/// Finds comments between tokens, and decides which node they belong to.
class CommentReader {
public:
    CommentReader(std::uint32_t file, std::string_view text, SourceFormat format, SourceComments& comments)
        : file_(file),
          text_(text),
          is_yaml_(format == SourceFormat::kYaml),
          comments_(comments),
          begin_(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0),
          cursor_(begin_) {}

    void read(std::span<const TextToken> tokens, Node root) {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            read_gap(tokens[i].begin);
            read_token(tokens, i);
            after_key_ = tokens[i].kind == TokenKind::kKey;
        }
        read_gap(text_.size());
        auto& rest = tokens.empty() ? comments_.change_inside(root).at_end : comments_.change_around(root).after;
        move(pending_, rest);
    }

private:
    /// The token before a comment on the same line.
    enum class After : std::uint8_t { kNothing, kComment, kKey, kOpening, kValue };
    struct Open {
        std::uint64_t place;
        std::uint64_t entry;  // the entry that contains it
        bool is_unmarked;
        std::size_t column;  // set if it is unmarked
    };

    static void move(std::vector<Comment>& from, std::vector<Comment>& to) {
        to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
        from.clear();
    }
    /// Whether an anchor or a tag begins here.
    bool begins_with_mark(std::size_t at) const {
        return is_yaml_ && at < text_.size() && (text_[at] == '&' || text_[at] == '!');
    }
    /// Returns whether a line ends with the character at a position. YAML has more line ends than the other formats;
    /// for \r\n, the second character counts.
    bool ends_line(std::size_t at) const {
        if (text_[at] == '\n' || !is_yaml_) return text_[at] == '\n';
        if (text_[at] == '\r') return !text_.substr(at).starts_with("\r\n");
        return std::any_of(std::begin(kMoreLineEnds), std::end(kMoreLineEnds),
                           [&](std::string_view end) { return text_.substr(at).starts_with(end); });
    }
    bool begins_line(std::size_t at) const {
        if (at == begin_ || text_[at - 1] == '\n' || !is_yaml_) return at == begin_ || text_[at - 1] == '\n';
        return text_[at - 1] == '\r' ||
               std::any_of(std::begin(kMoreLineEnds), std::end(kMoreLineEnds),
                           [&](std::string_view end) { return text_.substr(begin_, at - begin_).ends_with(end); });
    }
    std::size_t end_of_line(std::size_t at) const {
        while (at < text_.size() && !ends_line(at)) ++at;
        return at;
    }
    /// Cost: O(result). Only called for the start of a line, after blanks and dashes.
    std::size_t column_of(std::size_t offset) const {
        std::size_t at = offset;
        while (!begins_line(at)) --at;
        return offset - at;
    }

    // --- comments ----------------------------------------------------------------------------------------------------

    void read_gap(std::size_t end) {
        for (; cursor_ < end; ++cursor_) {
            if (begins_comment(cursor_))
                cursor_ = read_comment(cursor_) - 1;
            else if (ends_line(cursor_))
                ++num_newlines_;
        }
    }

    bool begins_comment(std::size_t at) const {
        const char next = at + 1 < text_.size() ? text_[at + 1] : '\0';
        if (!is_yaml_) return text_[at] == '/' && (next == '/' || next == '*');
        return text_[at] == '#' && (begins_line(at) || static_cast<unsigned char>(text_[at - 1]) <= ' ');
    }

    /// Returns the end of the comment.
    std::size_t read_comment(std::size_t at) {
        Comment comment;
        comment.position = {file_, static_cast<std::uint32_t>(at)};
        comment.is_block = text_[at] == '/' && text_[at + 1] == '*';
        comment.is_first = num_newlines_ > 0;
        comment.after_blank_line = num_newlines_ > 1;
        std::size_t blank = at;
        while (blank > 0 && (text_[blank - 1] == ' ' || text_[blank - 1] == '\t')) --blank;
        comment.num_blanks = static_cast<std::uint16_t>(std::min<std::size_t>(at - blank, 1000));
        const std::size_t begin = at + (is_yaml_ ? 1 : 2);
        std::size_t end = comment.is_block ? std::min(text_.find("*/", begin), text_.size()) : end_of_line(at);
        const std::size_t after = comment.is_block ? end + 2 : end;
        while (!comment.is_block && end > begin &&
               (text_[end - 1] == ' ' || text_[end - 1] == '\t' || text_[end - 1] == '\r'))
            --end;
        comment.text = with_line_feeds(text_.substr(begin, end - begin));
        add(std::move(comment));
        num_newlines_ = 0;
        return after;
    }

    void add(Comment comment) {
        const bool is_on_line = !comment.is_first && after_ != After::kComment && after_ != After::kNothing;
        if (!is_on_line) {
            after_ = After::kComment;
            return pending_.push_back(std::move(comment));
        }
        auto& list = after_ == After::kKey       ? between_
                     : after_ == After::kOpening ? comments_.change(open_.back().place).at_start
                                                 : comments_.change(entry_).after;
        list.push_back(std::move(comment));
    }

    // --- tokens ------------------------------------------------------------------------------------------------------

    void read_token(std::span<const TextToken> tokens, std::size_t index) {
        const TextToken& token = tokens[index];
        bool is_unmarked = token.is_unmarked;
        switch (token.kind) {
            case TokenKind::kKey:
                begin_entry(place_of_key_at({file_, token.begin}));
                after_ = After::kKey;
                break;
            case TokenKind::kScalar:
                scalar(token);
                break;
            case TokenKind::kOpen:
                open(token, index + 1 < tokens.size() ? &tokens[index + 1] : nullptr);
                break;
            case TokenKind::kClose:
                is_unmarked = open_.back().is_unmarked;
                close();
                break;
        }
        if (is_unmarked) {
            if (token.kind == TokenKind::kOpen && begins_with_mark(token.begin)) num_newlines_ = 0;
            return;
        }
        cursor_ = token.end;
        // In YAML, a text of several lines includes the empty lines after it.
        num_newlines_ = 0;
        for (std::size_t at = token.end; at > token.begin && static_cast<unsigned char>(text_[at - 1]) <= ' '; --at)
            num_newlines_ += text_[at - 1] == '\n';
    }

    void begin_entry(std::uint64_t place) {
        entry_ = place;
        has_root_ = true;
        if (pending_.empty() && num_newlines_ < 2) return;
        NodeComments& entry = comments_.change(place);
        move(pending_, entry.before);
        entry.after_blank_line = num_newlines_ > 1;
    }

    void scalar(const TextToken& token) {
        if (after_key_) {
            if (!between_.empty()) move(between_, comments_.change(entry_).after);
            if (!pending_.empty()) move(pending_, comments_.change(entry_).before);
        } else if (!token.is_alias) {  // the tree does not have the position of an alias in a list
            begin_entry(place_of_value({file_, token.begin}));
        }
        after_ = After::kValue;
        if (token.is_alias && !after_key_) after_ = After::kComment;
        if (is_yaml_) read_block_header(token);
    }

    /// A comment may follow the sign that begins a text of several lines.
    void read_block_header(const TextToken& token) {
        const std::string_view text = text_.substr(token.begin, token.end - token.begin);
        const std::string_view line = text.substr(0, text.find('\n'));
        const std::size_t sign = line.find_first_of("|>\"'");
        if (line.size() == text.size() || sign == std::string_view::npos || line[sign] == '"' || line[sign] == '\'')
            return;
        const bool is_header = sign == 0 || ((text[0] == '&' || text[0] == '!') && line[sign - 1] == ' ');
        const std::size_t comment = line.find(" #", sign);
        if (!is_header || comment == std::string_view::npos) return;
        num_newlines_ = 0;
        read_comment(token.begin + comment + 1);
    }

    /// The lines at the top of a text belong to the whole; those after the last empty line belong to the first key.
    void begin_root(bool is_unmarked) {
        std::size_t num_own = pending_.size();
        if (is_unmarked && num_newlines_ < 2)
            for (std::size_t i = 1; i < pending_.size(); ++i)
                if (pending_[i].after_blank_line) num_own = i;
        std::vector<Comment> first(std::make_move_iterator(pending_.begin() + static_cast<std::ptrdiff_t>(num_own)),
                                   std::make_move_iterator(pending_.end()));
        pending_.resize(num_own);
        if (!pending_.empty()) move(pending_, comments_.change(entry_).before);
        pending_ = std::move(first);
    }

    void open(const TextToken& token, const TextToken* next) {
        const std::uint64_t place = place_of_value({file_, token.begin});
        if (after_key_) {
            if (!between_.empty()) move(between_, comments_.change(place).at_start);
            // A comment above a list or mapping without brackets belongs to its first child.
            if (!pending_.empty() && (!token.is_unmarked || begins_with_mark(token.begin)))
                move(pending_, comments_.change(place).at_start);
        } else if (!has_root_) {
            entry_ = place;
            has_root_ = true;
            begin_root(token.is_unmarked);
        } else {
            begin_entry(place);
        }
        std::size_t column = 0;
        if (token.is_unmarked && begins_with_mark(token.begin) && next != nullptr)
            column = column_of(next->begin) - (next->kind == TokenKind::kKey ? 0 : 2);
        else if (token.is_unmarked && token.begin < text_.size())
            column = column_of(token.begin);
        open_.push_back({place, entry_, token.is_unmarked, column});
        const bool is_dash = token.is_unmarked && token.begin < text_.size() && text_[token.begin] == '-';
        after_ = token.is_unmarked && open_.size() == 1 ? After::kNothing
                 : is_dash || !pending_.empty()         ? After::kComment
                                                        : After::kOpening;
    }

    /// In YAML, comments that are indented like a list or mapping without brackets belong to its end, others to the
    /// next node.
    void close() {
        const Open closed = open_.back();
        open_.pop_back();
        auto end = pending_.end();
        if (closed.is_unmarked && !open_.empty()) {
            const bool is_indented = !open_.back().is_unmarked || closed.column > open_.back().column;
            end = pending_.begin();
            while (is_indented && end != pending_.end() && column_of(end->position.offset) >= closed.column) ++end;
        }
        if (end != pending_.begin()) {
            std::vector<Comment> inside(std::make_move_iterator(pending_.begin()), std::make_move_iterator(end));
            pending_.erase(pending_.begin(), end);
            move(inside, comments_.change(closed.place).at_end);
        }
        entry_ = closed.entry;
        if (!closed.is_unmarked) after_ = After::kValue;
    }

    std::uint32_t file_;
    std::string_view text_;
    bool is_yaml_;
    SourceComments& comments_;
    const std::size_t begin_;  // after the byte order mark
    std::size_t cursor_;
    std::size_t num_newlines_ = 1;  // since the last token or comment
    After after_ = After::kNothing;
    bool after_key_ = false;  // the last token is a key
    bool has_root_ = false;
    std::uint64_t entry_ = 0;  // the last key, element or root
    std::vector<Open> open_;
    std::vector<Comment> pending_;  // above the next node
    std::vector<Comment> between_;  // on the line of a key, before its value
};

// --- texts ---------------------------------------------------------------------------------------------------------

std::string with_line_feeds(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find("\r\n"), text.size());
        result.append(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));  // the line feed comes next
    }
    return result;
}

Result<Document> read_source_text(std::uint32_t file, Diagnostics& diagnostics, SourceComments& comments,
                                  const ReadOptions& options) {
    const SourceFormat format = source_format(diagnostics.name(file));
    const std::string_view text = diagnostics.text(file);
    std::vector<TextToken> tokens;
    ReadOptions with_tokens = options;
    with_tokens.tokens = &tokens;
    Result<Document> document = read_document(file, diagnostics, with_tokens);
    if (document) CommentReader(file, text, format, comments).read(tokens, document->root());
    return document;
}

}  // namespace shoal
