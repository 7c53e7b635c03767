#pragma once
// What tables are called in a saved state: see shoal/database/saved_tables.h.

#include "shoal/base/text.h"

namespace shoal {

inline std::string table_name(std::uint32_t number) { return concat("table/", number); }

}  // namespace shoal
