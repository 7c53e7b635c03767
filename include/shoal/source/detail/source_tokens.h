#pragma once
// The positions of keys and values in a source, in the order of its text: comments can only be between them.
//
//     { coral  =  [4  2]  }          tokens: open, key, open, scalar, scalar, close, close
//
// Thread: one thread at a time per Diagnostics.

#include "shoal/base/status.h"
#include "shoal/document/detail/document.h"
#include "shoal/document/detail/read_options.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace shoal {

enum class TokenKind : std::uint8_t { kKey, kScalar, kOpen, kClose };

struct TextToken {
    TokenKind kind;
    bool is_alias;        ///< a value of YAML that refers to an earlier one
    bool is_unmarked;     ///< a list or mapping without brackets: `begin` and `end` are equal
    std::uint32_t begin;  ///< offsets in the text
    std::uint32_t end;
};

/// The same as read_document(), and stores the tokens in `tokens`.
/// Errors: one or more in `diagnostics`, and no document; `tokens` may have some.
SHOAL_API Result<Document> read_document(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options,
                                         std::vector<TextToken>& tokens);

/// Returns the offset after a key, string, number or word of SJSON or JSON that begins at `begin`.
SHOAL_API std::uint32_t end_of_key(std::string_view text, std::uint32_t begin);
SHOAL_API std::uint32_t end_of_scalar(std::string_view text, std::uint32_t begin);

}  // namespace shoal
