#pragma once
// The table of a service, in texts.

#include "shoal/react/service.h"

#include <string>
#include <vector>

namespace shoal {

/// Returns the rows of WorldService::table(), of which the first has the names of columns; empty: it has none.
/// Shape: as many texts in each row as there are columns.
SHOAL_API std::vector<std::vector<std::string>> service_rows(const WorldService& service);

}  // namespace shoal
