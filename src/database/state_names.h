#pragma once
// Names in the saved state of a database that several of its parts use.
// Thread: any thread.

#include "shoal/base/text.h"

#include <cstdint>
#include <string>

namespace shoal {

/// Returns the name of the part that has the rows of a table.
inline std::string table_name(std::uint32_t number) { return concat("table/", number); }

}  // namespace shoal
