#pragma once
// --max-memory, the memory limit for worlds read from saves, folders and recordings. All verbs that read these have the
// flag.

#include "arguments.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"

namespace shoal_tool {

inline constexpr Flag kMaxMemoryFlag{.name = "max-memory",
                                     .value = "SIZE",
                                     .help =
                                         "of saves and recordings: what the world in one may take in memory, such as "
                                         "800M or 16G (default: 1G, or 64 times "
                                         "the bytes of the file, whichever is more)",
                                     .takes = Takes::kSize};

/// Returns load options with the limit that --max-memory sets.
shoal::LoadOptions load_options(const Arguments& arguments);
/// Returns a message from the library, with advice for programmers reworded as advice for users.
std::string for_user(std::string_view message);

}  // namespace shoal_tool
