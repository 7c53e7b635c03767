#include "shoal/document/detail/scalar_text.h"
#include "shoal/rewrite/source_text.h"
#include "shoal/source/detail/source_files.h"

#include <algorithm>
#include <span>
#include <vector>

namespace shoal {
namespace {

/// In YAML, a key, its value, and the list or mapping around them may all begin at the same position.
std::uint64_t place_of_key_at(SourcePosition at) { return pair_key(at.file | 1u << 31, at.offset); }
std::uint64_t place_of_value(SourcePosition at) { return pair_key(at.file, at.offset); }
std::uint64_t place_around(Node node) {
    return node.has_key() ? place_of_key_at(node.key_position()) : place_of_value(node.position());
}

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

std::span<const TextToken> SourceComments::tokens(std::uint32_t file) const {
    return file < tokens_.size() ? std::span<const TextToken>(tokens_[file]) : std::span<const TextToken>();
}

SourceComments SourceComments::of(Node root) const {
    SourceComments result;
    result.tokens_ = tokens_;
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

/// Decides which node each comment in a text belongs to.
class CommentReader {
public:
    CommentReader(std::uint32_t file, std::string_view text, std::vector<TextToken> tokens, SourceComments& comments)
        : file_(file), text_(text), comments_(comments) {
        if (comments.tokens_.size() <= file) comments.tokens_.resize(file + 1);
        comments.tokens_[file] = std::move(tokens);
        tokens_ = comments.tokens(file);
    }

    void read(Node root) {
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (tokens_[i].kind == TokenKind::kComment) {
                read_comment(tokens_[i]);
                continue;
            }
            num_line_ends_ = tokens_[i].num_line_ends;
            read_token(i);
            after_key_ = tokens_[i].kind == TokenKind::kKey;
        }
        auto& rest = has_root_ ? comments_.change_around(root).after : comments_.change_inside(root).at_end;
        move(pending_, rest);
    }

private:
    /// The kind of token that precedes a comment on its line.
    enum class After : std::uint8_t { kNothing, kComment, kKey, kOpening, kValue };
    struct Open {
        std::uint64_t place;
        std::uint64_t entry;  // the entry that contains the list or mapping
        bool is_unmarked;
        std::uint32_t column;
    };

    static void move(std::vector<Comment>& from, std::vector<Comment>& to) {
        to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
        from.clear();
    }
    /// Whether a list or mapping begins with an anchor or a tag.
    static bool has_properties(const TextToken& open) { return open.value > open.begin; }
    std::uint32_t column_of(const Comment& comment) const {
        return std::ranges::lower_bound(tokens_, comment.position.offset, {}, &TextToken::begin)->column;
    }

    // --- comments ----------------------------------------------------------------------------------------------------

    void read_comment(const TextToken& token) {
        const std::string_view text = text_.substr(token.begin, token.end - token.begin);
        Comment comment;
        comment.position = {file_, token.begin};
        comment.is_block = text.starts_with("/*");
        comment.is_first = token.num_line_ends > 0;
        comment.after_blank_line = token.num_line_ends > 1;
        const std::string_view before = text_.substr(0, token.begin);
        comment.num_blanks = static_cast<std::uint16_t>(
            std::min<std::size_t>(before.size() - (before.find_last_not_of(" \t") + 1), 1000));
        std::string_view inside = text.substr(text[0] == '#' ? 1 : 2);
        inside = comment.is_block ? inside.substr(0, inside.size() - 2)
                                  : inside.substr(0, inside.find_last_not_of(" \t\r") + 1);
        comment.text = with_line_feeds(inside);
        add(std::move(comment));
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

    void read_token(std::size_t index) {
        const TextToken& token = tokens_[index];
        switch (token.kind) {
            case TokenKind::kKey:
                begin_entry(place_of_key_at({file_, token.begin}));
                after_ = After::kKey;
                return;
            case TokenKind::kScalar:
                return scalar(token);
            case TokenKind::kOpen:
                return open(token, tokens_.subspan(index + 1));
            case TokenKind::kClose:
                return close();
            case TokenKind::kComment:
                return;
        }
    }

    void begin_entry(std::uint64_t place) {
        entry_ = place;
        has_root_ = true;
        if (pending_.empty() && num_line_ends_ < 2) return;
        NodeComments& entry = comments_.change(place);
        move(pending_, entry.before);
        entry.after_blank_line = num_line_ends_ > 1;
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
    }

    /// Comments at the top of a text belong to the whole text, except those after the last empty line, which belong to
    /// the first key.
    void begin_root(bool is_unmarked) {
        std::size_t num_own = pending_.size();
        if (is_unmarked && num_line_ends_ < 2)
            for (std::size_t i = 1; i < pending_.size(); ++i)
                if (pending_[i].after_blank_line) num_own = i;
        std::vector<Comment> first(std::make_move_iterator(pending_.begin() + static_cast<std::ptrdiff_t>(num_own)),
                                   std::make_move_iterator(pending_.end()));
        pending_.resize(num_own);
        if (!pending_.empty()) move(pending_, comments_.change(entry_).before);
        pending_ = std::move(first);
    }

    void open(const TextToken& token, std::span<const TextToken> rest) {
        const std::uint64_t place = place_of_value({file_, token.begin});
        if (after_key_) {
            if (!between_.empty()) move(between_, comments_.change(place).at_start);
            // A comment above a list or mapping without brackets belongs to its first child.
            if (!pending_.empty() && (!token.is_unmarked || has_properties(token)))
                move(pending_, comments_.change(place).at_start);
        } else if (!has_root_) {
            entry_ = place;
            has_root_ = true;
            begin_root(token.is_unmarked);
        } else {
            begin_entry(place);
        }
        std::uint32_t column = token.column;
        const auto next = std::ranges::find_if(rest, [](const TextToken& t) { return t.kind != TokenKind::kComment; });
        if (token.is_unmarked && has_properties(token) && next != rest.end())
            column = next->column - (next->kind == TokenKind::kKey ? 0 : 2);
        open_.push_back({place, entry_, token.is_unmarked, column});
        const bool is_dash = token.is_unmarked && token.begin < text_.size() && text_[token.begin] == '-';
        after_ = token.is_unmarked && open_.size() == 1 ? After::kNothing
                 : is_dash || !pending_.empty()         ? After::kComment
                                                        : After::kOpening;
    }

    /// In YAML, comments that are indented like a list or mapping without brackets belong to its end. Other comments
    /// belong to the next node.
    void close() {
        const Open closed = open_.back();
        open_.pop_back();
        auto end = pending_.end();
        if (closed.is_unmarked && !open_.empty()) {
            const bool is_indented = !open_.back().is_unmarked || closed.column > open_.back().column;
            end = pending_.begin();
            while (is_indented && end != pending_.end() && column_of(*end) >= closed.column) ++end;
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
    std::span<const TextToken> tokens_;
    SourceComments& comments_;
    std::uint32_t num_line_ends_ = 0;  // line ends before the current token
    After after_ = After::kNothing;
    bool after_key_ = false;  // the last token is a key
    bool has_root_ = false;
    std::uint64_t entry_ = 0;  // the last key, element or root
    std::vector<Open> open_;
    std::vector<Comment> pending_;  // comments above the next node
    std::vector<Comment> between_;  // comments on the line of a key, before its value
};

// --- texts ---------------------------------------------------------------------------------------------------------

std::string with_line_feeds(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find("\r\n"), text.size());
        result.append(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));  // the line feed follows
    }
    return result;
}

Result<Document> read_source_text(std::uint32_t file, Diagnostics& diagnostics, SourceComments& comments,
                                  const ReadOptions& options) {
    std::vector<TextToken> tokens;
    ReadOptions with_tokens = options;
    with_tokens.tokens = &tokens;
    Result<Document> document = read_document(file, diagnostics, with_tokens);
    if (document) CommentReader(file, diagnostics.text(file), std::move(tokens), comments).read(document->root());
    return document;
}

}  // namespace shoal
