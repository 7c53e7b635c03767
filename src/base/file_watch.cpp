#include "shoal/base/file_watch.h"

#include "base/os.h"
#include "shoal/base/clock.h"

#include <algorithm>
#include <utility>

namespace shoal {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kPollMs = 100;      // time between checks if the system does not report changes
constexpr std::int64_t kCheckMs = 1000;    // time between checks if the system reports changes
constexpr std::int64_t kClockStepMs = 20;  // longer than a time step of most file systems

}  // namespace

FileWatch::FileWatch(const FileWatchOptions& options)
    : options_(options), watch_(options.polls ? -1 : os::open_watch()) {}

FileWatch::~FileWatch() { os::close_watch(watch_); }

FileWatch::File FileWatch::look(std::string path) {
    File file{std::move(path), {}};
    file.stamp = file_stamp(file.path);
    file.was_there = file.exists = file.stamp || path_exists(file.path);
    return file;
}

void FileWatch::set(std::vector<std::string> paths, std::int64_t wall_ns) {
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    const std::vector<File> before = std::exchange(files_, {});
    for (std::string& path : paths) {
        const auto known = std::lower_bound(before.begin(), before.end(), path,
                                            [](const File& file, const std::string& p) { return file.path < p; });
        const bool is_known = known != before.end() && known->path == path;
        files_.push_back(is_known ? *known : look(std::move(path)));
        if (is_known || files_.back().stamp.changed_ns <= wall_ns - kClockStepMs * kMs) continue;
        is_restless_ = true, last_change_ns_ = monotonic_ns();
    }
    watch_folders();
}

void FileWatch::watch_folders() {
    all_folders_ = watch_ >= 0;
    lacks_folders_ = false;
    std::string last;
    for (const File& file : files_) {
        std::string folder = os::folder_of(file.path);
        if (folder == last) continue;
        // If the folder does not exist yet, watch its closest existing ancestor.
        for (last = folder; !is_directory(folder) && folder != os::folder_of(folder); lacks_folders_ = true)
            folder = os::folder_of(folder);
        all_folders_ &= os::watch_folder(watch_, folder);
    }
}

/// Returns whether to check the files now.
bool FileWatch::has_something_happened(std::int64_t now_ns) {
    const bool was_told = os::take_watched(watch_);
    if (was_told && lacks_folders_) watch_folders();  // a missing folder may exist now
    const std::int64_t pause_ms = all_folders_ ? kCheckMs : kPollMs;
    if (!was_told && !is_restless_ && now_ns - last_look_ns_ < pause_ms * kMs) return false;
    last_look_ns_ = now_ns;
    return true;
}

bool FileWatch::has_changed() {
    const std::int64_t now_ns = monotonic_ns();
    if (!has_something_happened(now_ns)) return false;
    bool is_one_gone = false;
    for (File& file : files_) {
        const File now = look(file.path);
        is_one_gone |= file.was_there && !now.exists;
        if (now.stamp == file.stamp && now.exists == file.exists) continue;
        file.stamp = now.stamp, file.exists = now.exists;
        is_restless_ = true, last_change_ns_ = now_ns;
    }
    const std::int64_t rest_ms = is_one_gone ? kGoneMs : kRestMs;
    if (!is_restless_ || now_ns - last_change_ns_ < rest_ms * kMs) return false;
    is_restless_ = false;
    for (File& file : files_) file.was_there = file.exists;
    return true;
}

}  // namespace shoal
