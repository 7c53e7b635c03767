#pragma once
// Options for all readers. Each reader uses the options for its format, and ignores the others.
//
//     { coral  =  [4  2]  /* two */ }      tokens: open, key, open, scalar, scalar, close, comment, close
//
// Thread: these are plain values.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <vector>

namespace shoal {

enum class TokenKind : std::uint8_t { kKey, kScalar, kOpen, kClose, kComment };

/// A key, value, bracket or comment in a source text. The gaps between tokens contain only blanks, line ends, commas
/// and signs such as `=`.
struct TextToken {
    TokenKind kind;
    bool is_alias = false;           ///< a YAML value that refers to an earlier one
    bool is_unmarked = false;        ///< opens or closes without a bracket, so `begin` equals `end`
    std::uint8_t num_line_ends = 0;  ///< number of line ends since the previous nonempty token, at most 2
    std::uint32_t begin = 0;         ///< byte offsets into the text
    std::uint32_t end = 0;
    std::uint32_t value = 0;   ///< `begin`, or the offset after a YAML anchor and tag
    std::uint32_t column = 0;  ///< bytes from the start of the line to `begin`
};

struct ReadOptions {
    /// The maximum nesting depth of lists and mappings. Readers do not recurse, so a large limit only costs memory.
    std::uint32_t max_depth = 128;
    /// SJSON only: a word that is not a literal is a string, as in `type = vec3`. This is for schema files; in sources,
    /// a word without quotes is an error.
    bool bare_texts = false;
    /// If not nullptr, its content is replaced by the tokens, in source order. On error, tokens may be missing.
    std::vector<TextToken>* tokens = nullptr;
};

}  // namespace shoal
