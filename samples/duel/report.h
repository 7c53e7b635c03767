#pragma once
// The costs and the result of a match, for people and for programs.

#include "match.h"

namespace duel {

/// Returns a table with a column for each peer. `picture`: what was drawn, or nothing.
std::string text_of(const Match& match, std::string_view picture);
std::string json_of(const Match& match);

}  // namespace duel
