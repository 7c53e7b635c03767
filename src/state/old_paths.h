#pragma once
// Parts of snapshots that older programs called otherwise.

#include <string_view>

namespace shoal {

/// What paths begin with. The first that fits counts.
struct OldWord {
    std::string_view now, then;
};
inline constexpr OldWord kOldWords[] = {
    {"observers/observer/", "reactions/reaction/"},
    {"observers/", "reactions/"},
    {"position_links/", "places/"},
    {"world/singletons", "world/singles"},
    {"entities/free_ids", "entities/waiting"},
};

}  // namespace shoal
