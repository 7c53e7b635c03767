#pragma once
// Reports the costs and the result of a match, as text for people or JSON for programs.

#include "match.h"

namespace duel {

/// Returns a table with one column per peer. If `picture` is not empty, it is a line about the picture and is printed
/// last.
std::string text_of(const Match& match, std::string_view picture);
std::string json_of(const Match& match);

}  // namespace duel
