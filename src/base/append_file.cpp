#include "shoal/base/detail/append_file.h"

#include "base/os.h"
#include "base/os_status.h"

namespace shoal {

AppendFile::AppendFile(AppendFile&& other) noexcept { *this = std::move(other); }

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    std::swap(num_bytes_, other.num_bytes_);
    return *this;
}

AppendFile::~AppendFile() {
    if (file_ >= 0) os::close_file(file_);
}

Result<AppendFile> AppendFile::create(const std::string& path) {
    AppendFile made;
    made.path_ = path;
    if (Status status = os::to_status("make", path, os::create_file(path, made.file_)); !status) return status;
    return made;
}

Result<AppendFile> AppendFile::replace(const std::string& path, std::span<const std::byte> bytes) {
    AppendFile made;
    int file = -1;
    const std::string failure = os::replace_file(path, bytes.data(), bytes.size(), &file);
    if (!failure.empty()) return os::to_status("write", path, failure);
    made.path_ = path;
    made.file_ = file;
    made.num_bytes_ = bytes.size();
    return made;
}

Status AppendFile::append(std::span<const std::byte> bytes) {
    SHOAL_ASSERT(is_open(), "bytes were appended to a file that is not open");
    const std::string failure = os::append_to_file(file_, bytes.data(), bytes.size());
    if (failure.empty())
        num_bytes_ += bytes.size();
    else
        os::cut_file(file_, num_bytes_);
    return os::to_status("append to", path_, failure);
}

Status AppendFile::flush() {
    SHOAL_ASSERT(is_open(), "a file was flushed that is not open");
    return os::to_status("flush", path_, os::flush_file(file_));
}

}  // namespace shoal
