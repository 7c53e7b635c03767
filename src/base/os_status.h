#pragma once
// Converts results of os.h to a Status.

#include "shoal/base/status.h"
#include "shoal/base/text.h"

#include <string>
#include <string_view>

namespace shoal::os {

/// Returns success if `failure`, a result of os.h, is empty, or else the error: cannot `what` "path": failure.
inline Status to_status(std::string_view what, const std::string& path, const std::string& failure) {
    return failure.empty() ? Status() : Status::error(concat("cannot ", what, " \"", path, "\": ", failure));
}

}  // namespace shoal::os
