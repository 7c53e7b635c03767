#include "base/os.h"

#include "shoal/base/clock.h"
#include "shoal/base/file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <cxxabi.h>
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shoal::os {
namespace {

constexpr const char* kCannotCreate = "cannot create a temporary file beside it";

/// Closes a file descriptor when it goes out of scope.
struct Descriptor {
    explicit Descriptor(int number) : fd(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    int close() {
        const int result = ::close(fd);
        fd = -1;
        return result;
    }
    int fd;
};

std::int64_t nanoseconds(const timespec& time) { return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec; }

std::int64_t read_clock(clockid_t clock) {
    timespec now;
    ::clock_gettime(clock, &now);
    return nanoseconds(now);
}

std::string reason(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

bool write_all(int fd, const char* data, std::size_t num_bytes) {
    while (num_bytes > 0) {
        const ssize_t written = ::write(fd, data, num_bytes);
        if (written < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        data += written;
        num_bytes -= static_cast<std::size_t>(written);
    }
    return true;
}

/// Follows a chain of links to its end. Returns `path` if it is not a link. Folders in the result may still be links.
std::string target_of(std::string path) {
    constexpr int kMostLinks = 40;  // the kernel's limit
    for (int i = 0; i < kMostLinks; ++i) {
        char target[4096];
        const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
        if (length < 0) break;
        const std::string_view named(target, static_cast<std::size_t>(length));
        path = named.starts_with('/') ? std::string(named) : folder_of(path) + "/" + std::string(named);
    }
    return path;
}

const char* kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "it is a directory";
    if (S_ISFIFO(mode)) return "it is a pipe";
    if (S_ISSOCK(mode)) return "it is a socket";
    return S_ISREG(mode) ? "" : "it is a device";
}

/// The file that a write replaces.
struct Target {
    std::string path;  ///< with links resolved
    struct stat info;
    bool exists;
};

/// Refuses files that are marked read-only, even for root, who could write them.
std::string find_target(const std::string& path, Target& target) {
    target.exists = ::stat(path.c_str(), &target.info) == 0;
    if (!target.exists && errno != ENOENT) return reason(kCannotCreate);
    target.path = target_of(path);
    if (target.exists) {
        if (const char* kind = kind_of(target.info.st_mode); *kind != 0) return kind;
        const bool may_write = ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
        if (!may_write && errno == EROFS) return reason(kCannotCreate);
        if (!may_write || (target.info.st_mode & S_IWUSR) == 0) return "it is read-only";
    }
    const std::string folder = folder_of(target.path);
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return reason(kCannotCreate);
    return {};
}

/// Flushes a new name in a folder to disk. A failure (for example, no permission to read the folder) is not an error,
/// because the file already exists. Callers that need to know the result use flush_folder().
void flush_names(const std::string& folder) { static_cast<void>(flush_folder(folder)); }

mode_t mode_of_new_files() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return 0666 & ~mask;
}

/// A temporary file on disk. The lock guards the list of temporary files, and the files themselves.
struct Temporary {
    explicit Temporary(std::string name) : path(std::move(name)) {}
    std::string path;
    Temporary* next = nullptr;
};
constinit std::mutex temporaries_lock;
constinit Temporary* temporaries = nullptr;

/// Returns a name pattern for a temporary file beside `path`. Long names are truncated to fit.
std::string name_beside(const std::string& path) {
    constexpr std::string_view kEnding = ".XXXXXX";
    const std::size_t name = path.rfind('/') + 1;
    return path.substr(0, name) + path.substr(name, NAME_MAX - kEnding.size()) + std::string(kEnding);
}

/// Creates the file and adds it to the list. Returns the file's descriptor.
int create(Temporary& temporary) {
    const std::lock_guard lock(temporaries_lock);
    const int fd = ::mkostemp(temporary.path.data(), O_CLOEXEC);
    if (fd < 0) return fd;
    temporary.next = temporaries;
    temporaries = &temporary;
    return fd;
}

/// Renames the file to `target`, or deletes it. In both cases, removes it from the list. Returns whether it was
/// renamed.
bool end(const Temporary& temporary, const char* target) {
    const std::lock_guard lock(temporaries_lock);
    Temporary** link = &temporaries;
    while (*link != &temporary) link = &(*link)->next;
    *link = temporary.next;
    if (target != nullptr && ::rename(temporary.path.c_str(), target) == 0) return true;
    const int error = errno;
    ::unlink(temporary.path.c_str());
    errno = error;
    return false;
}

std::string fill(int fd, const Target& target, const void* data, std::size_t num_bytes) {
    Descriptor file(fd);
    if (!write_all(fd, static_cast<const char*>(data), num_bytes)) return reason("cannot write");
    // Only root may change the owner. If the owner cannot be set, drop the set-user-id bits, so that the file does not
    // run as a different user.
    const bool has_owner = !target.exists || ::fchown(fd, target.info.st_uid, target.info.st_gid) == 0;
    const mode_t kept = has_owner ? 07777 : 0777;
    if (::fchmod(fd, target.exists ? target.info.st_mode & kept : mode_of_new_files()) != 0)
        return reason("cannot set permissions");
    if (::fsync(fd) != 0) return reason("cannot flush");
    if (file.close() != 0) return reason("cannot close");
    return {};
}

}  // namespace

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

void* reserve(std::size_t num_bytes) {
    void* data = ::mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return data == MAP_FAILED ? nullptr : data;
}

namespace {

constexpr rlim_t kAll = ~rlim_t(0);

/// How many bytes of address space and of writable memory the process limits still allow. kAll means no limit.
struct LeftBytes {
    rlim_t all = kAll, data = kAll;
};

LeftBytes left_bytes() {
    rlimit all{}, data{};
    const bool limits_all = ::getrlimit(RLIMIT_AS, &all) == 0 && all.rlim_cur != RLIM_INFINITY;
    const bool limits_data = ::getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY;
    LeftBytes left;
    if (!limits_all && !limits_data) return left;
    unsigned long pages = 0, data_pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%lu %*u %*u %*u %*u %lu", &pages, &data_pages) != 2) pages = data_pages = 0;
        std::fclose(file);
    }
    const auto page_bytes = static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
    const auto left_of = [&](rlim_t limit, rlim_t used) { return limit - std::min(limit, used * page_bytes); };
    if (limits_all) left.all = left_of(all.rlim_cur, pages);
    if (limits_data) left.data = left_of(data.rlim_cur, data_pages);
    return left;
}

}  // namespace

std::size_t left_address_space() {
    const LeftBytes left = left_bytes();
    return std::min(left.all, left.data);
}

std::string limit_of_reserve(std::size_t num_bytes) {
    const LeftBytes left = left_bytes();
    if (num_bytes > left.all) return "the limit on address space (ulimit -v)";
    if (num_bytes > left.data) return "the limit on data (ulimit -d)";
    return "the limit of the system (vm.max_map_count, vm.overcommit_memory)";
}

void release(void* data, std::size_t num_bytes) { ::munmap(data, num_bytes); }
void discard(void* data, std::size_t num_bytes) { ::madvise(data, num_bytes, MADV_DONTNEED); }
void prefer_large_pages(void* data, std::size_t num_bytes) { ::madvise(data, num_bytes, MADV_HUGEPAGE); }
void prefer_small_pages(void* data, std::size_t num_bytes) { ::madvise(data, num_bytes, MADV_NOHUGEPAGE); }

namespace {

/// Reads `num_bytes`, or fewer at the end of the file. Returns an empty string, or the reason for a failure.
std::string read_some(int fd, char* data, std::size_t num_bytes, std::size_t& num_read) {
    for (num_read = 0; num_read < num_bytes;) {
        const ssize_t count = ::read(fd, data + num_read, num_bytes - num_read);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return reason("cannot read");
        if (count == 0) break;
        num_read += static_cast<std::size_t>(count);
    }
    return {};
}

/// Reads a file of unknown size. Files in /proc report size 0.
std::string read_to_end(int fd, std::size_t max_bytes, std::string& bytes) {
    constexpr std::size_t kBlockBytes = std::size_t(64) << 10;
    for (std::size_t num_read = kBlockBytes; num_read == kBlockBytes;) {
        const std::size_t begin = bytes.size();
        bytes.resize(begin + kBlockBytes);
        if (std::string failure = read_some(fd, bytes.data() + begin, kBlockBytes, num_read); !failure.empty())
            return failure;
        bytes.resize(begin + num_read);
        if (bytes.size() > max_bytes) return "it is too large";
    }
    return {};
}

}  // namespace

std::string read_file(const std::string& path, std::size_t max_bytes, void* context, BufferFunction place,
                      std::size_t& num_read) {
    num_read = 0;
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info;
    if (file.fd < 0 && errno == ENOENT && ::lstat(path.c_str(), &info) == 0) return "it is a dangling link";
    if (file.fd < 0) return reason("cannot open");
    if (::fstat(file.fd, &info) != 0) return reason("cannot read");
    if (S_ISDIR(info.st_mode)) return "it is a directory";
    if (!S_ISREG(info.st_mode)) return "it is not a regular file";
    std::string bytes;
    if (info.st_size == 0)
        if (std::string failure = read_to_end(file.fd, max_bytes, bytes); !failure.empty()) return failure;
    const std::size_t num_bytes = info.st_size == 0 ? bytes.size() : static_cast<std::size_t>(info.st_size);
    if (num_bytes > max_bytes) return "it is too large";
    char* data = place(context, num_bytes);
    if (data == nullptr) return "there is no memory for it";
    if (info.st_size != 0) return read_some(file.fd, data, num_bytes, num_read);  // the file may have shrunk
    bytes.copy(data, num_bytes);
    num_read = num_bytes;
    return {};
}

namespace {

std::string open_to_append(const std::string& path, int& file) {
    file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    return file < 0 ? reason("cannot open") : std::string();
}

}  // namespace

std::string why_not_replace(const std::string& path) {
    Target target;
    return find_target(path, target);
}

std::string replace_file(const std::string& path, const void* data, std::size_t num_bytes, int* to_append) {
    Target target;
    if (std::string failure = find_target(path, target); !failure.empty()) return failure;
    Temporary temporary(name_beside(target.path));
    const int fd = create(temporary);
    if (fd < 0) return reason(kCannotCreate);
    std::string failure = fill(fd, target, data, num_bytes);
    if (failure.empty() && to_append != nullptr) failure = open_to_append(temporary.path, *to_append);
    const bool is_renamed = end(temporary, failure.empty() ? target.path.c_str() : nullptr);
    if (!failure.empty()) return failure;
    if (!is_renamed) {
        failure = reason("cannot rename");
        if (to_append != nullptr) close_file(*to_append);
        return failure;
    }
    flush_names(folder_of(target.path));
    return {};
}

std::string create_file(const std::string& path, int& file) {
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    return file < 0 ? reason("cannot create") : std::string();
}

std::string append_to_file(int file, const void* data, std::size_t num_bytes) {
    return write_all(file, static_cast<const char*>(data), num_bytes) ? std::string() : reason("cannot write");
}

std::string flush_file(int file) { return ::fdatasync(file) == 0 ? std::string() : reason("cannot flush"); }

void cut_file(int file, std::uint64_t num_bytes) {
    // A failure is harmless, because readers of the file find where the complete data ends.
    if (::ftruncate(file, static_cast<off_t>(num_bytes)) != 0) return;
}

void close_file(int file) { ::close(file); }

std::string lock_file(const std::string& path, int& file) {
    file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return reason("cannot open");
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return {};
    const bool is_taken = errno == EWOULDBLOCK;
    std::string failure = reason("cannot lock");
    ::close(std::exchange(file, -1));
    return is_taken ? "another world or program has locked it" : failure;
}

std::string make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) == 0) {
        flush_names(path + "/..");
        return {};
    }
    const int error = errno;
    if (error == EEXIST && is_directory(path)) return {};
    errno = error;
    return reason("cannot create");
}

std::string list_folder(const std::string& path, void* context, void (*visit)(void* context, const char* name)) {
    DIR* const folder = ::opendir(path.c_str());
    if (folder == nullptr) return reason("cannot open");
    errno = 0;
    while (const dirent* entry = ::readdir(folder)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") visit(context, entry->d_name);
        errno = 0;
    }
    std::string failure = errno == 0 ? std::string() : reason("cannot read");
    ::closedir(folder);
    return failure;
}

std::string flush_folder(const std::string& path) {
    const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.fd < 0) return reason("cannot open");
    return ::fsync(folder.fd) == 0 ? std::string() : reason("cannot flush");
}

std::string remove_file(const std::string& path) {
    return ::unlink(path.c_str()) == 0 || errno == ENOENT ? std::string() : reason("cannot remove");
}

int open_watch() { return ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }

void close_watch(int watch) {
    if (watch >= 0) ::close(watch);
}

bool watch_folder(int watch, const std::string& folder) {
    constexpr std::uint32_t kChanges =
        IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB;
    return watch >= 0 && ::inotify_add_watch(watch, folder.c_str(), kChanges | IN_ONLYDIR) >= 0;
}

bool take_watched(int watch) {
    alignas(inotify_event) char events[4096];
    bool has_any = false;
    while (watch >= 0 && ::read(watch, events, sizeof events) > 0) has_any = true;
    return has_any;
}

namespace {

char* resize_text(void* text, std::size_t num_bytes) {
    auto& bytes = *static_cast<std::string*>(text);
    bytes.resize(num_bytes);
    return bytes.data();
}

/// Calls visit(symbol, name) for each symbol that a library exports or needs. Stops if the file is malformed.
template <class Visit>
void for_each_symbol(const std::string& bytes, Visit&& visit) {
    const auto read = [&bytes](std::size_t offset, auto& value) {
        const bool fits = offset <= bytes.size() && bytes.size() - offset >= sizeof value;
        if (fits) std::memcpy(&value, bytes.data() + offset, sizeof value);
        return fits;
    };
    ElfW(Ehdr) header;
    if (!read(0, header)) return;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        ElfW(Shdr) symbols, names;
        ElfW(Sym) symbol;
        if (!read(header.e_shoff + i * sizeof symbols, symbols)) return;
        if (symbols.sh_type != SHT_DYNSYM) continue;
        if (!read(header.e_shoff + symbols.sh_link * sizeof names, names)) return;
        for (std::size_t at = 0; at + sizeof symbol <= symbols.sh_size; at += sizeof symbol) {
            if (!read(symbols.sh_offset + at, symbol)) return;
            const std::size_t name = names.sh_offset + symbol.st_name;
            const std::size_t end = name < bytes.size() ? bytes.find('\0', name) : std::string::npos;
            if (end != std::string::npos) visit(symbol, bytes.substr(name, end - name));
        }
    }
}

/// A library that was opened from a copy. It may stay loaded after it is closed.
struct OpenedCopy {
    std::uintptr_t base;
    std::string path;  // the file that was copied
};
std::vector<OpenedCopy>& opened_copies() {
    static std::vector<OpenedCopy> copies;
    return copies;
}

std::uintptr_t base_of(void* library) {
    link_map* map = nullptr;
    return ::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_addr : 0;
}

void note_copy(void* library, const std::string& path) {
    const std::uintptr_t base = base_of(library);
    std::erase_if(opened_copies(), [&](const OpenedCopy& copy) { return copy.base == base; });  // it was unloaded
    opened_copies().push_back({base, path});
}

/// Returns whether an address is in an earlier copy of the same library file.
bool is_of_earlier_copy(void* address, void* library, const std::string& path) {
    Dl_info info{};
    if (address == nullptr || ::dladdr(address, &info) == 0) return false;
    const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    return base != base_of(library) && std::ranges::any_of(opened_copies(), [&](const OpenedCopy& copy) {
               return copy.base == base && copy.path == path;
           });
}

/// A library with a unique symbol (a static variable of an inline function) is never unloaded, and all libraries opened
/// later use its variable. A new version of a plugin would therefore use the variable of the old version. Returns an
/// error if a variable is in an earlier copy of the same file, and an empty string otherwise. Variables of the standard
/// library are skipped, because they are constant.
std::string find_stale_variable(void* library, const std::string& bytes, const std::string& path) {
    std::string failure;
    for_each_symbol(bytes, [&](const ElfW(Sym) & symbol, const std::string& name) {
        constexpr unsigned kUnique = 10;  // STB_GNU_UNIQUE
        if (!failure.empty() || symbol.st_info >> 4 != kUnique || symbol.st_shndx == SHN_UNDEF) return;
        if (!is_of_earlier_copy(::dlsym(library, name.c_str()), library, path)) return;
        int status = 0;
        char* const demangled = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
        const std::string plain = demangled == nullptr ? name : demangled;
        std::free(demangled);
        if (plain.starts_with("std::") || plain.starts_with("guard variable for std::")) return;
        failure = "its variable \"" + plain +
                  "\" is that of a version that was opened before, which the system keeps; compile it with "
                  "-fvisibility=hidden or -fno-gnu-unique, as the CMake target shoal::plugin does, and start the "
                  "program again";
    });
    return failure;
}

/// Writes the bytes of a library to a file beside `path` and opens it. Sets `cannot_create` if the file cannot be
/// created.
std::string open_copy(const std::string& path, const std::string& bytes, void*& library, bool& cannot_create) {
    Temporary copy(name_beside(path));
    Descriptor file(create(copy));
    if (cannot_create = file.fd < 0; cannot_create) return reason(kCannotCreate);
    std::string failure;
    if (!write_all(file.fd, bytes.data(), bytes.size())) failure = reason("cannot write a temporary copy");
    if (failure.empty() && file.close() != 0) failure = reason("cannot write a temporary copy");
    if (failure.empty()) library = ::dlopen(copy.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
        failure = find_stale_variable(library, bytes, path);
        if (failure.empty())
            note_copy(library, path);
        else
            ::dlclose(std::exchange(library, nullptr));
    } else if (failure.empty()) {
        const char* const said = ::dlerror();
        failure = said == nullptr ? "it is no shared library" : said;
        for (std::size_t at; (at = failure.find(copy.path)) != std::string::npos;)
            failure.replace(at, copy.path.size(), path.substr(path.rfind('/') + 1));
    }
    end(copy, nullptr);
    return failure;
}

}  // namespace

std::string open_library(const std::string& path, void*& library) {
    constexpr std::size_t kMostBytes = std::size_t(1) << 30;
    std::string bytes;
    std::size_t num_bytes = 0;
    if (std::string failure = read_file(path, kMostBytes, &bytes, resize_text, num_bytes); !failure.empty())
        return failure;
    bytes.resize(num_bytes);
    bool cannot_create = false;
    const std::string beside = path.find('/') == std::string::npos ? "./" + path : path;
    std::string failure = open_copy(beside, bytes, library, cannot_create);
    if (!cannot_create) return failure;
    const char* const folder = std::getenv("TMPDIR");
    return open_copy(
        std::string(folder == nullptr || *folder == 0 ? "/tmp" : folder) + beside.substr(beside.rfind('/')), bytes,
        library, cannot_create);
}

void close_library(void* library) { ::dlclose(library); }

void* find_in_library(void* library, const char* name) { return ::dlsym(library, name); }

}  // namespace shoal::os

namespace shoal {

void remove_temporary_files() {
    os::temporaries_lock.lock();  // never unlocked, so no file is created or renamed from now on
    for (const os::Temporary* temporary = os::temporaries; temporary != nullptr; temporary = temporary->next)
        ::unlink(temporary->path.c_str());
}

bool is_file(const std::string& path) {
    struct stat info;
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool is_directory(const std::string& path) {
    struct stat info;
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool path_exists(const std::string& path) {
    struct stat info;
    return ::lstat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

FileStamp file_stamp(const std::string& path) {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
    return {static_cast<std::uint64_t>(info.st_size), info.st_dev, info.st_ino, os::nanoseconds(info.st_mtim),
            os::nanoseconds(info.st_ctim)};
}

std::int64_t monotonic_ns() { return os::read_clock(CLOCK_MONOTONIC); }

std::int64_t wall_clock_ns() { return os::read_clock(CLOCK_REALTIME); }

}  // namespace shoal
