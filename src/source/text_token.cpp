#include "source/text_token.h"

#include "shoal/document/detail/scalar_text.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"
#include "shoal/source/detail/source_files.h"

#include <cstring>

namespace shoal {
namespace {

bool begins_comment(std::string_view rest) { return rest.starts_with("//") || rest.starts_with("/*"); }

std::uint32_t end_of_string(std::string_view text, std::size_t begin) {
    std::size_t at = begin + 1;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return static_cast<std::uint32_t>(std::min(at + 1, text.size()));
}

/// If more than three quotes follow each other, the last three close the text.
std::uint32_t end_of_verbatim(std::string_view text, std::size_t begin) {
    std::size_t at = std::min(text.find("\"\"\"", begin + 3), text.size());
    while (at + 3 < text.size() && text[at + 3] == '"') ++at;
    return static_cast<std::uint32_t>(std::min(at + 3, text.size()));
}

/// Returns the position of the next bracket, after comments. Requires: only comments and blanks precede it.
std::uint32_t find_bracket(std::string_view text, std::size_t at) {
    while (at < text.size() && !is_one_of(text[at], "}]")) {
        const std::string_view rest = text.substr(at);
        if (!begins_comment(rest))
            ++at;
        else
            at = std::min(at + (rest[1] == '/' ? rest.find('\n') : rest.find("*/", 2) + 2), text.size());
    }
    return static_cast<std::uint32_t>(at);
}

/// Walks a tree in the order of its text.
class TokenFinder {
public:
    TokenFinder(std::string_view text, std::vector<TextToken>& tokens) : text_(text), tokens_(tokens) {}

    void find(Node root) {
        enter(root);
        while (!open_.empty()) {
            Open& top = open_.back();
            if (top.next == top.end) {
                close();
                continue;
            }
            const Node child = *top.next++;
            if (child.has_key()) {
                const std::uint32_t begin = child.key_position().offset;
                add(TokenKind::kKey, begin, end_of_key(text_, begin));
            }
            enter(child);
        }
    }

private:
    struct Open {
        Node::Iterator next, end;
        bool is_unmarked;
    };

    void add(TokenKind kind, std::uint32_t begin, std::uint32_t end, bool is_unmarked = false) {
        tokens_.push_back({kind, false, is_unmarked, begin, end});
        end_ = end;
    }

    void enter(Node node) {
        const std::uint32_t begin = node.position().offset;
        if (!node.is_list() && !node.is_mapping()) return add(TokenKind::kScalar, begin, end_of_scalar(text_, begin));
        const bool is_unmarked = begin >= text_.size() || !is_one_of(text_[begin], "{[");
        add(TokenKind::kOpen, begin, is_unmarked ? begin : begin + 1, is_unmarked);
        open_.push_back({node.begin(), node.end(), is_unmarked});
    }

    void close() {
        const bool is_unmarked = open_.back().is_unmarked;
        open_.pop_back();
        const std::uint32_t begin = is_unmarked ? static_cast<std::uint32_t>(text_.size()) : find_bracket(text_, end_);
        add(TokenKind::kClose, begin, is_unmarked ? begin : begin + 1);
    }

    std::string_view text_;
    std::vector<TextToken>& tokens_;
    std::vector<Open> open_;
    std::uint32_t end_ = 0;
};

}  // namespace

std::uint32_t end_of_key(std::string_view text, std::uint32_t begin) {
    if (text[begin] == '"') return end_of_string(text, begin);
    std::size_t at = begin;
    while (at < text.size() && static_cast<unsigned char>(text[at]) > ' ' && !is_one_of(text[at], ",=:")) ++at;
    return static_cast<std::uint32_t>(at);
}

std::uint32_t end_of_scalar(std::string_view text, std::uint32_t begin) {
    if (text.substr(begin).starts_with("\"\"\"")) return end_of_verbatim(text, begin);
    if (text[begin] == '"') return end_of_string(text, begin);
    std::size_t at = begin;
    while (at < text.size() && static_cast<unsigned char>(text[at]) > ' ' && !is_one_of(text[at], ",=:[]{}\"") &&
           !begins_comment(text.substr(at)))
        ++at;
    return static_cast<std::uint32_t>(at);
}

Result<Document> read_in_format(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options,
                                std::vector<TextToken>* tokens) {
    const SourceFormat format = source_format(diagnostics.name(file));
    if (format == SourceFormat::kYaml) return read_yaml(file, diagnostics, options, tokens);
    Result<Document> document =
        format == SourceFormat::kJson ? read_json(file, diagnostics, options) : read_sjson(file, diagnostics, options);
    if (document && tokens != nullptr) TokenFinder(diagnostics.text(file), *tokens).find(document->root());
    return document;
}

}  // namespace shoal
