#pragma once
// Lists the snapshot parts that had different paths in older programs.

#include <string_view>

namespace shoal {

/// A path or the beginning of a path. The first entry that matches is used.
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
