#include "shoal/base/file.h"

#include "base/os.h"
#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {
namespace {

Status written(const std::string& path, const std::string& failure) {
    return failure.empty() ? Status() : Status::error(concat("cannot write \"", path, "\": ", failure));
}

Status replace(const std::string& path, const void* data, std::size_t num_bytes) {
    return written(path, os::replace_file(path, data, num_bytes));
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
    std::string text;
    std::size_t num_read = 0;
    const auto place = [](void* context, std::size_t num_bytes) {
        static_cast<std::string*>(context)->resize(num_bytes);
        return static_cast<std::string*>(context)->data();
    };
    const std::string failure = os::read_file(path, max_bytes, &text, place, num_read);
    if (!failure.empty()) return Status::error(concat("cannot read \"", path, "\": ", failure));
    text.resize(num_read);
    return text;
}

Result<PageRange> read_file_pages(const std::string& path, std::size_t* num_bytes, std::size_t max_bytes) {
    PageRange pages;
    const auto place = [](void* context, std::size_t size) {
        const bool is_large = size >= 2 * kLargePageBytes;  // fewer page faults, each of which costs as much as reading
        Result<PageRange> range =
            reserve_pages(round_up(size == 0 ? 1 : size, kPageBytes), is_large ? kLargePageBytes : kPageBytes);
        if (!range) return static_cast<char*>(nullptr);
        if (is_large) prefer_large_pages(range->data, size / kLargePageBytes * kLargePageBytes);
        *static_cast<PageRange*>(context) = *range;
        return reinterpret_cast<char*>(range->data);
    };
    const std::string failure = os::read_file(path, max_bytes, &pages, place, *num_bytes);
    if (failure.empty()) return pages;
    if (pages.data != nullptr) release_pages(pages);
    return Status::error(concat("cannot read \"", path, "\": ", failure));
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
    return replace(path, bytes.data(), bytes.size());
}

Status write_file(const std::string& path, std::string_view text) { return replace(path, text.data(), text.size()); }

Status check_writable(const std::string& path) { return written(path, os::why_not_replace(path)); }

void remove_temporary_files() { os::remove_temporary_files(); }

bool is_file(const std::string& path) { return os::is_file(path); }
bool is_directory(const std::string& path) { return os::is_directory(path); }
bool path_exists(const std::string& path) { return os::path_exists(path); }
bool FileStamp::is_older_than(std::int64_t wall_ns) const {
    return std::max(modified_ns, changed_ns) + 2'000'000'000 < wall_ns;
}

FileStamp file_stamp(const std::string& path) { return os::file_stamp(path); }

}  // namespace shoal
