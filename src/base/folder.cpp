#include "shoal/base/detail/folder.h"

#include "base/os.h"
#include "base/os_status.h"

#include <algorithm>

namespace shoal {

Status make_folder(const std::string& path) { return os::to_status("make the folder", path, os::make_folder(path)); }

Result<std::vector<std::string>> list_folder(const std::string& path) {
    std::vector<std::string> names;
    const auto visit = [](void* context, const char* name) {
        static_cast<std::vector<std::string>*>(context)->emplace_back(name);
    };
    if (Status status = os::to_status("list the folder", path, os::list_folder(path, &names, visit)); !status)
        return status;
    std::sort(names.begin(), names.end());
    return names;
}

Status flush_folder(const std::string& path) { return os::to_status("flush the folder", path, os::flush_folder(path)); }

Status remove_file(const std::string& path) { return os::to_status("remove", path, os::remove_file(path)); }

FileLock::~FileLock() {
    if (file_ >= 0) os::close_file(file_);
}

Result<FileLock> FileLock::take(const std::string& path) {
    FileLock lock;
    if (Status status = os::to_status("lock", path, os::lock_file(path, lock.file_)); !status) return status;
    return lock;
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
}

}  // namespace shoal
