#pragma once
// Options of all readers. Each reader uses those of its format, and ignores the others.
//
//     { coral  =  [4  2]  }          tokens: open, key, open, scalar, scalar, close, close
//
// Thread: a value.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <vector>

namespace shoal {

enum class TokenKind : std::uint8_t { kKey, kScalar, kOpen, kClose };

/// A key, a value or a bracket of a text. Comments can only be between tokens.
struct TextToken {
    TokenKind kind;
    bool is_alias;        ///< a value of YAML that refers to an earlier one
    bool is_unmarked;     ///< a list or mapping without brackets: `begin` and `end` are equal
    std::uint32_t begin;  ///< offsets in the text
    std::uint32_t end;
};

struct ReadOptions {
    /// How deep lists and mappings may be nested. Readers do not recurse, so a large value only costs memory.
    std::uint32_t max_depth = 128;
    /// SJSON only: a word that is not a literal is a string, as in `type = vec3`. Schema files are read like this. In
    /// sources, a forgotten quote is an error.
    bool bare_texts = false;
    /// If this is not nullptr, the tokens replace the content of the vector, in text order. After errors, it may have
    /// some of them.
    std::vector<TextToken>* tokens = nullptr;
};

}  // namespace shoal
