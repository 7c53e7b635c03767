#pragma once
// Converts results of the functions in os.h to a Status.

#include "shoal/base/status.h"
#include "shoal/base/text.h"

#include <string>
#include <string_view>

namespace shoal::os {

/// Returns success if `failure` is empty, and otherwise the error `cannot WHAT "PATH": FAILURE`.
inline Status to_status(std::string_view what, const std::string& path, const std::string& failure) {
    return failure.empty() ? Status() : Status::error(concat("cannot ", what, " \"", path, "\": ", failure));
}

}  // namespace shoal::os
