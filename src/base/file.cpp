#include "shoal/base/file.h"

#include "base/os.h"
#include "base/os_status.h"

#include <algorithm>

namespace shoal {

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
    std::string text;
    std::size_t num_read = 0;
    const auto place = [](void* context, std::size_t num_bytes) {
        static_cast<std::string*>(context)->resize(num_bytes);
        return static_cast<std::string*>(context)->data();
    };
    const Status status = os::to_status("read", path, os::read_file(path, max_bytes, &text, place, num_read));
    if (!status) return status;
    text.resize(num_read);
    return text;
}

Result<PageRange> read_file_pages(const std::string& path, std::size_t* num_bytes, std::size_t max_bytes) {
    PageRange pages;
    const auto place = [](void* context, std::size_t size) {
        const bool is_large = size >= 2 * kLargePageBytes;  // a page fault takes as long as reading the page
        Result<PageRange> range =
            reserve_pages(round_up(size == 0 ? 1 : size, kPageBytes), is_large ? kLargePageBytes : kPageBytes);
        if (!range) return static_cast<char*>(nullptr);
        if (is_large) prefer_large_pages(range->data, size / kLargePageBytes * kLargePageBytes);
        *static_cast<PageRange*>(context) = *range;
        return reinterpret_cast<char*>(range->data);
    };
    const Status status = os::to_status("read", path, os::read_file(path, max_bytes, &pages, place, *num_bytes));
    if (status) return pages;
    if (pages.data != nullptr) release_pages(pages);
    return status;
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
    return os::to_status("write", path, os::replace_file(path, bytes.data(), bytes.size()));
}

Status write_file(const std::string& path, std::string_view text) {
    return write_file(path, std::as_bytes(std::span(text)));
}

Status check_writable(const std::string& path) { return os::to_status("write", path, os::why_not_replace(path)); }

bool FileStamp::is_older_than(std::int64_t wall_ns) const {
    return std::max(modified_ns, changed_ns) + 2'000'000'000 < wall_ns;
}

}  // namespace shoal
