#pragma once
// How the tokens of each format are found.
// Thread: one thread at a time per Diagnostics.

#include "shoal/source/source_tokens.h"

namespace shoal {

/// Returns the tokens of a text of SJSON or JSON that was read as `root`.
std::vector<TextToken> find_tokens(std::string_view text, Node root);

/// The same as read_yaml(), and appends the tokens.
Result<Document> read_yaml(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options,
                           std::vector<TextToken>* tokens);

}  // namespace shoal
