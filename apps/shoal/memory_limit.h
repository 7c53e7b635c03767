#pragma once
// What worlds may take in memory that the tool reads from saves, folders and recordings: --max-memory, which all verbs that
// read them have.

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

/// Returns what --max-memory says.
shoal::LoadOptions load_options(const Arguments& arguments);
/// Returns a message of the library, in which what a program can do has become what a user can.
std::string for_user(std::string_view message);

}  // namespace shoal_tool
