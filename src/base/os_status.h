#pragma once
// What an operation of the operating system comes to, as a status.

#include "shoal/base/status.h"
#include "shoal/base/text.h"

#include <string>
#include <string_view>

namespace shoal::os {

/// Returns success if `failure`, which os.h states, is empty; otherwise an error: cannot `what` "path": failure.
inline Status to_status(std::string_view what, const std::string& path, const std::string& failure) {
    return failure.empty() ? Status() : Status::error(concat("cannot ", what, " \"", path, "\": ", failure));
}

}  // namespace shoal::os
