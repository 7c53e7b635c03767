#include "shoal/base/detail/shared_library.h"

#include "base/os.h"

namespace shoal {

Result<SharedLibrary> SharedLibrary::open(const std::string& path) {
    SharedLibrary opened;
    if (const std::string reason = os::open_library(path, opened.library_); !reason.empty())
        return Status::error(reason);
    return opened;
}

SharedLibrary::~SharedLibrary() {
    if (library_ != nullptr) os::close_library(library_);
}

void* SharedLibrary::find(const char* name) const {
    return library_ == nullptr ? nullptr : os::find_in_library(library_, name);
}

}  // namespace shoal
