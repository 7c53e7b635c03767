#pragma once
// Where keys and values of a text begin and end, in the order of the text: what is between them may be comments.
// Thread: values.

#include "shoal/document/document.h"
#include "shoal/document/read_options.h"

#include "shoal/base/status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace shoal {

/// A text that begins with it is in UTF-8; it is no part of the first token.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

enum class TokenKind : std::uint8_t { kKey, kScalar, kOpen, kClose };

struct TextToken {
    TokenKind kind;
    bool is_alias;        ///< a value of YAML that stands for an earlier one
    bool is_unmarked;     ///< a list or mapping of YAML without brackets: `begin` and `end` are one place
    std::uint32_t begin;  ///< offsets in the text
    std::uint32_t end;
};

/// Returns the tokens of a text of SJSON or JSON that was read as `root`.
std::vector<TextToken> find_tokens(std::string_view text, Node root);

/// The same as read_yaml(), and appends the tokens.
Result<Document> read_yaml(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options,
                           std::vector<TextToken>* tokens);

/// Returns the offset after a key, string, number or word of SJSON or JSON that begins at `begin`.
std::uint32_t end_of_key(std::string_view text, std::uint32_t begin);
std::uint32_t end_of_scalar(std::string_view text, std::uint32_t begin);

}  // namespace shoal
