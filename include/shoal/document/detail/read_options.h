#pragma once
// Options of all readers. Each reader uses the options for its format, and ignores the others.
//
//     { coral  =  [4  2]  /* two */ }      tokens: open, key, open, scalar, scalar, close, comment, close
//
// Thread: a value.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <vector>

namespace shoal {

enum class TokenKind : std::uint8_t { kKey, kScalar, kOpen, kClose, kComment };

/// A key, a value, a bracket or a comment of a text. Between tokens are only blanks, line ends, commas and signs.
struct TextToken {
    TokenKind kind;
    bool is_alias = false;           ///< a value of YAML that refers to an earlier one
    bool is_unmarked = false;        ///< of a list or mapping without brackets: `begin` and `end` are equal
    std::uint8_t num_line_ends = 0;  ///< between it and the last token before it that has text; at most 2
    std::uint32_t begin = 0;         ///< offsets in the text
    std::uint32_t end = 0;
    std::uint32_t value = 0;   ///< offset of what follows the anchor and the tag of YAML; otherwise `begin`
    std::uint32_t column = 0;  ///< bytes from the start of its line to `begin`
};

struct ReadOptions {
    /// How deep lists and mappings may be nested. Readers do not recurse, so a large limit only costs memory.
    std::uint32_t max_depth = 128;
    /// SJSON only: a word that is not a literal is a string, as in `type = vec3`. Schema files are read in this way. In
    /// sources, by contrast, a forgotten quote is an error.
    bool bare_texts = false;
    /// If this is not nullptr, the tokens replace the content of the vector, in text order. After errors, the vector
    /// may have only some of the tokens.
    std::vector<TextToken>* tokens = nullptr;
};

}  // namespace shoal
