#pragma once
// Collects the tokens of a source text. The reader adds keys, values and brackets; the list finds the comments between
// them.
// Thread: one thread at a time.

#include "shoal/document/detail/read_options.h"

#include <cstddef>
#include <string_view>

namespace shoal {

/// `Syntax` has two functions that take a text and an offset. line_end_bytes() returns the length of the line end at
/// the offset, or 0 if there is none. comment_end() returns the end of the comment at the offset, or the offset itself
/// if there is none. comment_end() is also told whether a line begins at the offset.
template <class Syntax>
class TokenList {
public:
    /// `tokens` is nullptr if no tokens are wanted. `begin` is 0, or the offset after a byte order mark.
    TokenList(std::vector<TextToken>* tokens, std::string_view text, std::size_t begin)
        : tokens_(tokens), text_(text), cursor_(begin), line_(begin) {
        if (tokens != nullptr) tokens->clear();
    }

    bool is_wanted() const { return tokens_ != nullptr; }

    /// Adds a token and the comments before it. Requires: is_wanted().
    void add(TextToken token) {
        read_gap(token.begin);
        push(token);
        if (token.is_unmarked) {
            if (token.kind == TokenKind::kOpen && token.value > token.begin) num_line_ends_ = 0;
            return;
        }
        skip_to(token.end);
        // In YAML, a multi-line string includes the empty lines after it.
        num_line_ends_ = 0;
        for (std::size_t at = token.end; at > token.begin && static_cast<unsigned char>(text_[at - 1]) <= ' '; --at)
            num_line_ends_ += text_[at - 1] == '\n';
    }

    /// Adds a comment inside the last token.
    void add_inside(std::size_t begin) {
        TextToken comment = comment_at(begin, Syntax::comment_end(text_, begin, false));
        comment.num_line_ends = 0;
        tokens_->push_back(comment);
    }

    /// Adds the comments after the last token.
    void finish() {
        if (is_wanted()) read_gap(text_.size());
    }

private:
    static TextToken comment_at(std::size_t begin, std::size_t end) {
        const auto offset = static_cast<std::uint32_t>(begin);
        return {.kind = TokenKind::kComment, .begin = offset, .end = static_cast<std::uint32_t>(end), .value = offset};
    }

    void push(TextToken token) {
        token.num_line_ends = static_cast<std::uint8_t>(num_line_ends_ < 2 ? num_line_ends_ : 2);
        token.column = token.begin < line_ ? 0 : token.begin - static_cast<std::uint32_t>(line_);
        tokens_->push_back(token);
    }

    void read_gap(std::size_t end) {
        while (cursor_ < end) {
            const std::size_t after = Syntax::comment_end(text_, cursor_, cursor_ == line_);
            if (after == cursor_) {
                skip_to(cursor_ + 1);
                continue;
            }
            push(comment_at(cursor_, after));
            skip_to(after);
            num_line_ends_ = 0;
        }
    }

    /// Moves the cursor, and counts line ends.
    void skip_to(std::size_t end) {
        while (cursor_ < end) {
            const std::size_t num_bytes = Syntax::line_end_bytes(text_, cursor_);
            cursor_ += num_bytes == 0 ? 1 : num_bytes;
            if (num_bytes == 0) continue;
            line_ = cursor_;
            ++num_line_ends_;
        }
    }

    std::vector<TextToken>* tokens_;
    std::string_view text_;
    std::size_t cursor_;
    std::size_t line_;               // start of the cursor's line
    std::size_t num_line_ends_ = 1;  // since the last comment or nonempty token
};

}  // namespace shoal
