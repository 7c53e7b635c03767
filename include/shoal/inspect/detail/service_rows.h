#pragma once
// The table of a service, as strings.

#include "shoal/react/service.h"

#include <string>
#include <vector>

namespace shoal {

/// Returns the rows of WorldService::table(). The first row contains the names of the columns. Empty if the service has
/// no table. Shape: each row has a string per column.
SHOAL_API std::vector<std::vector<std::string>> service_rows(const WorldService& service);

}  // namespace shoal
