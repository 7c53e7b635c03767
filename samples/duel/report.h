#pragma once
// Reports the costs and the result of a match, for people or programs.

#include "match.h"

namespace duel {

/// Returns a table with one column per peer. `picture` is a line about the picture, or empty.
std::string text_of(const Match& match, std::string_view picture);
std::string json_of(const Match& match);

}  // namespace duel
