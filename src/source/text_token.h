#pragma once
// Reads files in each format, and finds their tokens.
// Thread: one thread at a time per Diagnostics.

#include "shoal/source/detail/source_tokens.h"

namespace shoal {

/// Reads a file in the format of its name, and appends the tokens, unless `tokens` is nullptr. Conflict marks are read
/// as text.
Result<Document> read_in_format(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options,
                                std::vector<TextToken>* tokens);

/// The same for YAML.
Result<Document> read_yaml(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options,
                           std::vector<TextToken>* tokens);

}  // namespace shoal
