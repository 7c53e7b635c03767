#pragma once
// Reading in each format, and where its tokens are found.
// Thread: one thread at a time per Diagnostics.

#include "shoal/source/detail/source_tokens.h"

namespace shoal {

/// Reads a file in the format that its name says, and appends the tokens, unless `tokens` is nullptr. Marks of a
/// conflict are text like any other.
Result<Document> read_in_format(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options,
                                std::vector<TextToken>* tokens);

/// The same for YAML.
Result<Document> read_yaml(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options,
                           std::vector<TextToken>* tokens);

}  // namespace shoal
