#pragma once
// Detects changes to files, for programs that recompile sources while they are running.
//
//     FileWatch watch;
//     watch.set({path, path + ".local"});  // files that were read, and files that were looked for
//     while (runs(frame++))
//         if (watch.has_changed()) text = read_file(path);
//
// A file counts as changed when its stamp (size, times, inode) changes, or when it appears or disappears. Stamps are
// read when the system reports an event in a folder of a watched file. They are also read once a second, for network
// file systems, and more often if the system cannot report events.
// An editor may write a file piece by piece, or write a temporary file and rename it. Therefore a change is reported
// only after no file has changed for kRestMs, or for kGoneMs if a file has disappeared.
// Thread: one thread at a time per object.

#include "shoal/base/file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

struct FileWatchOptions {
    bool polls = false;  ///< reads the stamps ten times a second instead of using the system's events
};

class FileWatch {
public:
    static constexpr std::int64_t kRestMs = 30;
    static constexpr std::int64_t kGoneMs = 500;

    SHOAL_API explicit FileWatch(const FileWatchOptions& options = {});
    SHOAL_API ~FileWatch();
    FileWatch(const FileWatch&) = delete;
    FileWatch& operator=(const FileWatch&) = delete;

    /// Watches these files instead of the previous ones. A file that was watched before keeps its previous stamp. A new
    /// file counts as changed if it changed or appeared after `wall_ns`, the time at which the program began to read
    /// the files; see wall_clock_ns().
    SHOAL_API void set(std::vector<std::string> paths, std::int64_t wall_ns = INT64_MAX);
    /// Returns whether a file has changed since set() or since the last call that returned true. Never waits.
    /// Cost: one system call. After an event in a folder, a few more system calls per file.
    SHOAL_API bool has_changed();
    std::size_t num_files() const { return files_.size(); }

private:
    struct File {
        std::string path;
        FileStamp stamp;
        bool exists = false;
        bool was_there = false;  // whether the file existed when the last change was reported
    };
    static File look(std::string path);
    void watch_folders();
    bool has_something_happened(std::int64_t now_ns);

    FileWatchOptions options_;
    int watch_ = -1;
    bool all_folders_ = false;  // whether the system is watching the folders of all files
    bool lacks_folders_ = false;
    bool is_restless_ = false;  // whether there is an unreported change
    std::int64_t last_change_ns_ = 0, last_look_ns_ = 0;
    std::vector<File> files_;  // sorted by path
};

}  // namespace shoal
