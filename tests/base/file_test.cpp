#include "shoal/base/file.h"
#include "shoal/base/detail/folder.h"
#include "shoal/base/file_watch.h"

#include "shoal/base/clock.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// The file that was flushed last; every test flushes through the function below instead of that of the C library.
static struct stat last_flushed;
static bool has_bad_folders = false;  ///< which cannot be flushed
extern "C" int fsync(int file) {
    ::fstat(file, &last_flushed);
    if (has_bad_folders && S_ISDIR(last_flushed.st_mode)) return errno = EIO, -1;
    return static_cast<int>(::syscall(SYS_fsync, file));
}

namespace shoal {
namespace {

namespace fs = std::filesystem;

/// A folder that is empty at the start of each test and gone at its end.
class File : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "/shoal_file_XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return folder_ + "/" + name; }
    std::size_t num_files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }
    std::string content(const std::string& name) const {
        Result<std::string> text = read_file(path(name));
        return text ? *text : "(" + std::string(text.message()) + ")";
    }

    std::string folder_;
};

TEST_F(File, the_name_of_a_folder_that_is_made_is_on_the_disk) {
    struct stat parent;
    ASSERT_EQ(::stat(folder_.c_str(), &parent), 0);
    for (const char* name : {"a", "b/"}) {
        last_flushed = {};
        ASSERT_TRUE(make_folder(path(name)).ok());
        EXPECT_EQ(last_flushed.st_ino, parent.st_ino);
        EXPECT_EQ(last_flushed.st_dev, parent.st_dev);
        EXPECT_TRUE(make_folder(path(name)).ok()) << "it is there";
    }
}

TEST_F(File, what_is_made_in_a_folder_that_cannot_be_flushed_is_there_and_no_failure) {
    has_bad_folders = true;
    const Status made = make_folder(path("world")), written = write_file(path("reef.save"), "reef"),
                 flushed = flush_folder(path("world"));
    has_bad_folders = false;
    EXPECT_TRUE(made.ok()) << made.message();
    EXPECT_TRUE(written.ok()) << written.message();
    EXPECT_TRUE(is_directory(path("world")));
    EXPECT_EQ(*read_file(path("reef.save")), "reef");
    EXPECT_EQ(flushed.message(), "cannot flush the folder \"" + path("world") + "\": cannot flush: Input/output error");
}

TEST_F(File, what_is_written_is_read) {
    const shoal_test::LeakCheck leaks;
    const std::string bytes("a\0b\r\n\xFF", 6);
    ASSERT_TRUE(write_file(path("f"), bytes));
    EXPECT_EQ(content("f"), bytes);
    ASSERT_TRUE(write_file(path("f"), std::string_view()));
    EXPECT_EQ(content("f"), "");
    const std::byte raw[] = {std::byte(1), std::byte(0)};
    ASSERT_TRUE(write_file(path("f"), std::span<const std::byte>(raw)));
    EXPECT_EQ(content("f"), std::string("\1\0", 2));
    EXPECT_EQ(num_files(), 1u);
}

TEST_F(File, a_file_whose_size_is_reported_as_zero_is_read_to_its_end) {
    ASSERT_EQ(fs::file_size("/proc/self/maps"), 0u);
    const Result<std::string> maps = read_file("/proc/self/maps");
    ASSERT_TRUE(maps.ok()) << maps.message();
    EXPECT_NE(maps->find("[stack]"), std::string::npos) << *maps;
    EXPECT_EQ(maps->back(), '\n');
    std::size_t num_bytes = 0;
    const Result<PageRange> pages = read_file_pages("/proc/self/stat", &num_bytes);
    ASSERT_TRUE(pages.ok()) << pages.message();
    EXPECT_GT(num_bytes, 10u);
    release_pages(*pages);
    EXPECT_NE(read_file("/proc/self/maps", 100).message().find("it is too large"), std::string::npos);
}

TEST_F(File, a_large_file_is_whole) {
    std::string text(5'000'000, 'x');
    Random random(shoal_test::seed());
    for (char& c : text) c = static_cast<char>(random.next());
    ASSERT_TRUE(write_file(path("large"), text));
    EXPECT_TRUE(content("large") == text);
}

TEST_F(File, a_name_may_be_as_long_as_the_system_allows) {
    for (const std::size_t length : {248u, 249u, 255u}) {
        const std::string name(length, 'n');
        const Status status = write_file(path(name), "long");
        EXPECT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(content(name), "long");
    }
}

TEST_F(File, a_name_without_a_folder_is_written_where_the_program_is) {
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    const Status status = write_file("plain", std::string_view("text"));
    fs::current_path(before);
    EXPECT_TRUE(status) << status.message();
    EXPECT_EQ(content("plain"), "text");
}

TEST_F(File, reading_a_missing_file_names_it_and_the_reason) {
    EXPECT_EQ(read_file(path("none")).message(),
              "cannot read \"" + path("none") + "\": cannot open: No such file or directory");
}

TEST_F(File, reading_a_folder_or_a_device_is_an_error) {
    EXPECT_EQ(read_file(folder_).message(), "cannot read \"" + folder_ + "\": it is a directory");
    EXPECT_EQ(read_file("/dev/null").message(), "cannot read \"/dev/null\": it is not a regular file");
}

TEST_F(File, reading_a_pipe_without_a_writer_does_not_wait) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(read_file(path("pipe")).message(), "cannot read \"" + path("pipe") + "\": it is not a regular file");
}

TEST_F(File, reading_more_than_allowed_is_an_error) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("12345")));
    EXPECT_TRUE(read_file(path("f"), 5));
    EXPECT_EQ(read_file(path("f"), 4).message(), "cannot read \"" + path("f") + "\": it is too large");
}

TEST_F(File, writing_onto_a_folder_is_an_error_and_leaves_nothing) {
    ASSERT_TRUE(fs::create_directory(path("folder")));
    EXPECT_EQ(write_file(path("folder"), std::string_view("x")).message(),
              "cannot write \"" + path("folder") + "\": it is a directory");
    EXPECT_EQ(num_files(), 1u);
}

TEST_F(File, writing_onto_a_pipe_a_socket_or_a_device_is_an_error_and_leaves_it) {
    const auto refuses = [&](const std::string& name, const std::string& kind) {
        const std::string message = "cannot write \"" + path(name) + "\": it is a " + kind;
        EXPECT_EQ(check_writable(path(name)).message(), message);
        EXPECT_EQ(write_file(path(name), std::string_view("x")).message(), message);
        EXPECT_FALSE(is_file(path(name)));
    };
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    refuses("pipe", "pipe");
    const int made = ::mknod(path("socket").c_str(), S_IFSOCK | 0600, 0);
    ASSERT_EQ(made, 0);
    refuses("socket", "socket");
    fs::create_symlink("pipe", path("link"));
    refuses("link", "pipe");
    EXPECT_EQ(check_writable("/dev/null").message(), "cannot write \"/dev/null\": it is a device");
    constexpr dev_t kNull = 0x103;
    if (::mknod(path("null").c_str(), S_IFCHR | 0600, kNull) == 0) refuses("null", "device");  // root may
}

TEST_F(File, writing_onto_a_link_replaces_what_it_names_and_keeps_the_link) {
    ASSERT_TRUE(fs::create_directory(path("deep")));
    ASSERT_TRUE(write_file(path("deep/f"), std::string_view("old")));
    fs::create_symlink("deep/f", path("inner"));
    fs::create_symlink(path("inner"), path("outer"));
    ASSERT_TRUE(write_file(path("outer"), std::string_view("new")));
    EXPECT_EQ(content("deep/f"), "new");
    EXPECT_TRUE(fs::is_symlink(path("outer")) && fs::is_symlink(path("inner")));

    fs::create_symlink("deep/none", path("dangling"));
    ASSERT_TRUE(write_file(path("dangling"), std::string_view("made")));
    EXPECT_EQ(content("deep/none"), "made");
    EXPECT_TRUE(fs::is_symlink(path("dangling")));

    fs::create_symlink("circle", path("circle"));
    EXPECT_NE(write_file(path("circle"), std::string_view("x")).message().find("Too many levels"),
              std::string_view::npos);
    EXPECT_TRUE(fs::is_symlink(path("circle")));
}

TEST_F(File, a_read_only_file_is_kept_also_by_root) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("kept")));
    ::chmod(path("f").c_str(), 0444);
    EXPECT_EQ(check_writable(path("f")).message(), "cannot write \"" + path("f") + "\": it is read-only");
    EXPECT_EQ(write_file(path("f"), std::string_view("x")).message(),
              "cannot write \"" + path("f") + "\": it is read-only");
    EXPECT_EQ(content("f"), "kept");
    EXPECT_EQ(num_files(), 1u);
}

TEST_F(File, the_owner_of_a_replaced_file_stays_the_owner) {
    constexpr uid_t kNobody = 65534;
    ASSERT_TRUE(write_file(path("f"), std::string_view("old")));
    if (::chown(path("f").c_str(), kNobody, kNobody) != 0) GTEST_SKIP() << "only root gives files away";
    ASSERT_TRUE(write_file(path("f"), std::string_view("new")));
    struct stat info;
    ASSERT_EQ(::stat(path("f").c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, kNobody);
    EXPECT_EQ(info.st_gid, kNobody);
}

TEST_F(File, what_cannot_be_written_is_known_before) {
    EXPECT_TRUE(check_writable(path("new")));
    EXPECT_EQ(num_files(), 0u);
    for (const std::string& name : {path("none/f"), folder_, path(std::string(300, 'x'))}) {
        const Status known = check_writable(name), status = write_file(name, std::string_view("x"));
        EXPECT_FALSE(known) << name;
        EXPECT_EQ(known.message(), status.message());
    }
}

TEST_F(File, a_program_that_ends_removes_the_file_that_it_writes_and_finishes_none) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("old")));
    const pid_t child = ::fork();
    if (child == 0) {
        std::thread writer([&] {
            const std::string text(4'000'000, 'n');
            for (;;) static_cast<void>(write_file(path("f"), text));
        });
        while (num_files() < 2) std::this_thread::yield();
        remove_temporary_files();
        const std::string found = content("f");  // "old", or the text of a write that was done before
        bool is_held_up = num_files() == 1;
        for (int i = 0; i < 300; ++i, ::usleep(1000)) is_held_up &= num_files() == 1;
        ::_exit(is_held_up && content("f") == found ? 0 : 1);
    }
    int result = 0;
    ASSERT_EQ(::waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    EXPECT_EQ(num_files(), 1u);
}

TEST_F(File, writing_into_a_missing_folder_names_the_path_and_the_reason) {
    const Status status = write_file(path("none/f"), std::string_view("x"));
    EXPECT_EQ(status.message(), "cannot write \"" + path("none/f") +
                                    "\": cannot create a temporary file beside it: No such file or directory");
}

TEST_F(File, writing_into_a_folder_that_forbids_it_is_an_error) {
    constexpr uid_t kNobody = 65534;
    const bool is_root = ::geteuid() == 0;  // root may write anywhere, so the test becomes another user for a moment
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    ASSERT_TRUE(!is_root || ::seteuid(kNobody) == 0);
    const Status status = write_file(path("f"), std::string_view("x"));
    ASSERT_TRUE(!is_root || ::seteuid(0) == 0);
    fs::permissions(folder_, fs::perms::owner_all);
    EXPECT_NE(status.message().find("Permission denied"), std::string_view::npos) << status.message();
}

TEST_F(File, a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("old")));
    const pid_t child = ::fork();
    if (child == 0) {
        // No file may grow past 64 KiB: the write stops in the middle, as on a full disk.
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{65536, 65536};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const Status status = write_file(path("f"), std::string(1'000'000, 'n'));
        const bool told = status.message().find("cannot write: File too large") != std::string_view::npos;
        ::_exit(told ? 0 : 1);
    }
    int result = 0;
    ASSERT_EQ(::waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    EXPECT_EQ(content("f"), "old");
    EXPECT_EQ(num_files(), 1u);
}

TEST_F(File, a_reader_that_has_the_old_file_open_keeps_it) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("old")));
    std::ifstream reader(path("f"));
    ASSERT_TRUE(write_file(path("f"), std::string_view("new")));
    std::string text;
    reader >> text;
    EXPECT_EQ(text, "old");
    EXPECT_EQ(content("f"), "new");
}

TEST_F(File, a_replaced_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("1")));
    const mode_t mask = ::umask(0);
    ::umask(mask);
    EXPECT_EQ(static_cast<mode_t>(fs::status(path("f")).permissions()), 0666 & ~mask);
    fs::permissions(path("f"), fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
    ASSERT_TRUE(write_file(path("f"), std::string_view("2")));
    EXPECT_EQ(static_cast<mode_t>(fs::status(path("f")).permissions()), mode_t(0604));
}

TEST_F(File, has_a_stamp_that_another_content_changes) {
    EXPECT_FALSE(file_stamp(path("f")));
    EXPECT_FALSE(file_stamp(folder_)) << "only regular files";
    const std::int64_t before = wall_clock_ns();
    ASSERT_TRUE(write_file(path("f"), std::string_view("one")));
    const FileStamp one = file_stamp(path("f"));
    ASSERT_TRUE(one);
    EXPECT_EQ(one, file_stamp(path("f")));
    EXPECT_FALSE(one.is_older_than(wall_clock_ns()) && wall_clock_ns() - before < 1'000'000'000);
    fs::last_write_time(path("f"), fs::last_write_time(path("f")) - std::chrono::hours(1));
    const FileStamp old = file_stamp(path("f"));
    EXPECT_NE(old, one);
    EXPECT_FALSE(old.is_older_than(before)) << "the time of the last change cannot be set";
    EXPECT_TRUE(old.is_older_than(wall_clock_ns() + 10'000'000'000));
    ASSERT_TRUE(write_file(path("f"), std::string_view("two")));
    EXPECT_NE(file_stamp(path("f")), old);
}

TEST_F(File, a_lock_is_held_until_it_ends_or_gives_way_to_another_and_refusals_keep_nothing_open) {
    const auto num_open = [] {
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    FileLock lock;
    EXPECT_FALSE(lock.is_held());
    const auto num_before = num_open();
    lock = FileLock::take(path("a")).value();
    EXPECT_TRUE(lock.is_held());
    for (int i = 0; i < 3; ++i) {
        const Result<FileLock> again = FileLock::take(path("a"));
        EXPECT_EQ(again.message(), "cannot lock \"" + path("a") + "\": another world or program has locked it");
    }
    EXPECT_EQ(num_open(), num_before + 1);
    lock = FileLock::take(path("b")).value();
    EXPECT_TRUE(FileLock::take(path("a")).ok()) << "the first one is free";
    EXPECT_FALSE(FileLock::take(path("b")).ok());
    lock = FileLock();
    EXPECT_FALSE(lock.is_held());
    EXPECT_TRUE(FileLock::take(path("b")).ok());
    EXPECT_EQ(num_open(), num_before);
}

TEST_F(File, tells_files_from_folders) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("")));
    EXPECT_TRUE(is_file(path("f")) && !is_directory(path("f")));
    EXPECT_TRUE(is_directory(folder_) && !is_file(folder_));
    EXPECT_FALSE(is_file(path("none")) || is_directory(path("none")));
}

// --- watching ----------------------------------------------------------------------------------------------------

/// With the system's messages, and without.
class Watch : public File, public ::testing::WithParamInterface<bool> {
protected:
    FileWatch watch{{.polls = GetParam()}};

    /// Waits until a change is told, and says whether one was. It takes no longer than a second when nothing goes wrong.
    bool is_told(int most_ms = 20'000) {
        for (int waited_ms = 0; waited_ms < most_ms; waited_ms += 5) {
            if (watch.has_changed()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    }
    bool stays_silent() { return !is_told(1'300); }  // longer than any pause between two looks
};
INSTANTIATE_TEST_SUITE_P(AllWays, Watch, ::testing::Bool());

TEST_P(Watch, tells_once_that_a_file_was_replaced_or_written_in_place) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("1")));
    watch.set({path("f")});
    ASSERT_TRUE(write_file(path("f"), std::string_view("2")));
    EXPECT_TRUE(is_told());
    std::ofstream(path("f")) << "as long";
    EXPECT_TRUE(is_told());
    ASSERT_TRUE(write_file(path("other"), std::string_view("3")));
    EXPECT_TRUE(stays_silent());
}

TEST_P(Watch, tells_that_a_file_has_come_even_if_its_folder_is_new) {
    watch.set({path("f"), path("a/b/c")});
    ASSERT_TRUE(write_file(path("f"), std::string_view("1")));
    EXPECT_TRUE(is_told());
    fs::create_directories(path("a/b"));
    ASSERT_TRUE(write_file(path("a/b/c"), std::string_view("1")));
    EXPECT_TRUE(is_told());
}

TEST_P(Watch, waits_for_a_file_that_an_editor_puts_away_and_writes_anew) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("1")));
    watch.set({path("f")});
    fs::rename(path("f"), path("f.bak"));
    EXPECT_FALSE(is_told(static_cast<int>(FileWatch::kGoneMs / 4))) << "it may come back";
    ASSERT_TRUE(write_file(path("f"), std::string_view("2")));
    EXPECT_TRUE(is_told());
    fs::remove(path("f"));
    EXPECT_TRUE(is_told()) << "it did not come back";
}

TEST_P(Watch, tells_what_has_changed_or_come_since_the_program_began_to_read) {
    ASSERT_TRUE(write_file(path("old"), std::string_view("1")));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::int64_t begin_ns = wall_clock_ns();
    watch.set({path("old"), path("none")}, begin_ns);
    EXPECT_TRUE(stays_silent());
    ASSERT_TRUE(write_file(path("young"), std::string_view("1")));
    watch.set({path("old"), path("young")}, begin_ns);
    EXPECT_TRUE(is_told());
    EXPECT_TRUE(stays_silent()) << "once";
    fs::rename(path("old"), path("moved"));
    watch.set({path("moved")}, begin_ns);
    EXPECT_TRUE(is_told()) << "its content is old, but it was not there";
}

TEST_P(Watch, is_not_kept_from_telling_by_who_writes_in_the_folder_without_rest) {
    watch.set({path("f"), path("a/b/c")});
    const auto is_told_amid_noise = [&] {
        for (int i = 0; i < 2'000; ++i) {
            std::ofstream(path("noise")) << i;
            if (watch.has_changed()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    };
    ASSERT_TRUE(write_file(path("f"), std::string_view("1")));
    EXPECT_TRUE(is_told_amid_noise());
    fs::create_directories(path("a/b"));
    ASSERT_TRUE(write_file(path("a/b/c"), std::string_view("1")));
    EXPECT_TRUE(is_told_amid_noise());
}

TEST_P(Watch, does_not_forget_what_happened_to_a_file_before_it_is_set_again) {
    ASSERT_TRUE(write_file(path("f"), std::string_view("1")));
    watch.set({path("f")});
    ASSERT_TRUE(write_file(path("f"), std::string_view("2")));
    watch.set({path("f"), path("g")});
    EXPECT_EQ(watch.num_files(), 2u);
    EXPECT_TRUE(is_told());
}

}  // namespace
}  // namespace shoal
