#pragma once
// The table of a service, as texts.

#include "shoal/react/service.h"

#include <string>
#include <vector>

namespace shoal {

/// Returns the rows of WorldService::table(); the first row contains the names of the columns. Empty: the service has
/// no table. Shape: as many texts in each row as there are columns.
SHOAL_API std::vector<std::vector<std::string>> service_rows(const WorldService& service);

}  // namespace shoal
