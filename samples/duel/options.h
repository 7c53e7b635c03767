#pragma once
// The command line of the program.

#include "match.h"

namespace duel {

struct Options {
    MatchOptions match;
    std::string picture;
    bool json = false, help = false;
};

/// Errors: an option is unknown or has an invalid value. The message says what is expected.
shoal::Result<Options> read_options(int num_words, char** words);

std::string help_text();

}  // namespace duel
