#include "shoal/base/detail/append_file.h"

#include "shoal/base/file.h"
#include "support/testing.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

static bool has_descriptors = true;  ///< for files to append to
/// Every test opens through this function instead of that of the C library.
extern "C" int open(const char* path, int flags, ...) {
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        std::va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if ((flags & O_APPEND) != 0 && !has_descriptors) return errno = EMFILE, -1;
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

namespace {

namespace fs = std::filesystem;
using shoal::AppendFile;
using shoal::Result;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class AppendFileTest : public ::testing::Test {
protected:
    AppendFileTest() : folder_(fs::path(::testing::TempDir()) / "shoal_append_file") {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~AppendFileTest() override { fs::remove_all(folder_); }
    std::string path(std::string_view name) const { return (folder_ / name).string(); }
    std::size_t num_files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

private:
    fs::path folder_;
};

TEST_F(AppendFileTest, a_file_that_was_replaced_goes_on_where_its_new_bytes_end) {
    ASSERT_TRUE(shoal::write_file(path("real.log"), std::string_view("the older one")));
    fs::permissions(path("real.log"), fs::perms(0640));
    fs::create_symlink("real.log", path("log"));
    Result<AppendFile> file = AppendFile::replace(path("log"), bytes_of("new "));
    ASSERT_TRUE(file) << file.message();
    EXPECT_EQ(file->num_bytes(), 4u);
    ASSERT_TRUE(file->append(bytes_of("bytes")) && file->flush());
    EXPECT_EQ(shoal::read_file(path("real.log")).value(), "new bytes");
    EXPECT_EQ(fs::status(path("real.log")).permissions(), fs::perms(0640));
    EXPECT_TRUE(fs::is_symlink(path("log")));
    EXPECT_EQ(num_files(), 2u);
}

TEST_F(AppendFileTest, an_append_that_fails_half_way_is_undone_and_nothing_that_was_there_before) {
    const auto limit_size = [](rlim_t num_bytes) {
        rlimit limit{};
        ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = std::min(num_bytes, limit.rlim_max);
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    };
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    for (const bool replaces : {false, true})
        for (const bool moves : {false, true}) {
            const std::string name = path(replaces ? "replaced" : "created") + (moves ? " and moved" : "");
            Result<AppendFile> made =
                replaces ? AppendFile::replace(name, bytes_of("0123456789")) : AppendFile::create(name);
            ASSERT_TRUE(made) << made.message();
            if (!replaces) ASSERT_TRUE(made->append(bytes_of("0123456789")));
            AppendFile file;
            if (moves) file = std::move(*made);
            AppendFile& used = moves ? file : *made;
            limit_size(12);
            EXPECT_FALSE(used.append(bytes_of("abcd"))) << "two bytes fit";
            limit_size(RLIM_INFINITY);
            EXPECT_EQ(used.num_bytes(), 10u);
            EXPECT_TRUE(used.append(bytes_of("xy")));
            EXPECT_EQ(shoal::read_file(name).value(), "0123456789xy");
            EXPECT_EQ(used.num_bytes(), 12u);
            EXPECT_EQ(used.path(), name);
        }
    std::signal(SIGXFSZ, before);
}

TEST_F(AppendFileTest, a_file_that_cannot_be_replaced_and_opened_is_as_it_was) {
    ASSERT_TRUE(shoal::write_file(path("log"), std::string_view("the older one")));
    has_descriptors = false;
    const Result<AppendFile> file = AppendFile::replace(path("log"), bytes_of("new"));
    has_descriptors = true;
    EXPECT_EQ(file.message(), "cannot write \"" + path("log") + "\": cannot open: Too many open files");
    fs::create_directories(path("folder"));
    EXPECT_FALSE(AppendFile::replace(path("folder"), bytes_of("new")));
    EXPECT_EQ(shoal::read_file(path("log")).value(), "the older one");
    EXPECT_EQ(num_files(), 2u) << "no file is left behind";
}

}  // namespace
