#include "files.h"

#include "console.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace shoal_tool {

using shoal::concat;
using shoal::Result;
using shoal::Status;

namespace {

/// Gets the identity of an existing file, which is the same for all paths to the file.
bool find_file(const std::string& path, int stream, struct stat& info) {
    const int found = is_standard_stream(path) ? ::fstat(stream, &info) : ::stat(path.c_str(), &info);
    // Ignore standard streams that are not files, because several may be the same terminal or pipe.
    return found == 0 && (S_ISREG(info.st_mode) || !is_standard_stream(path));
}

bool is_same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Returns the path of a file that may not exist yet, with all links resolved, even dangling ones.
std::filesystem::path place_of(std::filesystem::path path) {
    constexpr int kMostLinks = 40;  // the kernel's limit
    std::error_code failed;
    for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, failed); ++i)
        path = path.parent_path() / std::filesystem::read_symlink(path, failed);
    const std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed);
    return failed ? path : place;
}

/// Returns advice about an output that cannot be written.
std::string advice(const Flag& flag, const std::string& path) {
    const std::string name = written(flag);
    struct stat info;
    const bool exists = ::stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
    if (exists && !S_ISREG(info.st_mode)) return concat("give ", name, " the name of a file, or - for standard output");
    if (exists && ((info.st_mode & S_IWUSR) == 0 || ::access(path.c_str(), W_OK) != 0))
        return concat("allow writing to it, or give ", name, " another name");
    return concat("give ", name, " a file in a folder that can be written and has room");
}

Status with_advice(const Status& status, const Flag& flag, const std::string& path) {
    return status ? Status() : Status::error(concat(status.message(), "; ", advice(flag, path)));
}

Result<std::string> read_to_end(const std::string& path) {
    std::FILE* const file = is_standard_stream(path) ? stdin : std::fopen(path.c_str(), "rb");
    std::string text;
    char piece[1 << 16];
    while (const std::size_t count = file == nullptr ? 0 : std::fread(piece, 1, sizeof piece, file))
        text.append(piece, count);
    const bool failed = file == nullptr || std::ferror(file) != 0;
    if (file != nullptr && file != stdin) std::fclose(file);
    if (!failed) return text;
    if (is_standard_stream(path))
        return Status::error("cannot read standard input; give - something to read, or name a file");
    return Status::error(concat("cannot read \"", path, "\"; give the path of a file"));
}

}  // namespace

bool is_stream(const std::string& path) {
    if (is_standard_stream(path)) return true;
    const bool is_open = path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
    struct stat info;
    return is_open && ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

std::string name_of_output(const std::string& path) { return is_standard_stream(path) ? "standard output" : path; }

Files::Files(const Arguments& arguments, Console& console) : arguments_(arguments), console_(console) {
    if (arguments.verb().takes == Takes::kInput) inputs_ = arguments.operands();
    const std::vector<std::string>& operands = arguments.operands();
    const bool is_folder = !operands.empty() && shoal::is_directory(operands[0]);
    for (const auto& [flag, value] : arguments.given()) {
        if (flag->takes == Takes::kInput) inputs_.push_back(value);
        if (flag->takes == Takes::kOutput && !(flag->may_be_folder && is_folder)) outputs_.push_back({flag, value});
    }
    for (const Output& output : outputs_)
        if (is_standard_stream(output.path)) console.keep_standard_output();
}

Status Files::check_usage() const {
    if (std::count_if(inputs_.begin(), inputs_.end(), is_standard_stream) > 1)
        return Status::error("standard input can be read once; give - once, and name the other files");
    const std::vector<std::string>& operands = arguments_.operands();
    if (arguments_.has("stdin-name") && std::none_of(operands.begin(), operands.end(), is_stream))
        return Status::error("--stdin-name is for a source from standard input; give - as the source");
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        if (is_standard_stream(outputs_[i].path) && console_.json())
            return Status::error(concat("--json and ", written(*outputs_[i].flag),
                                        " - both print to standard output; give ", written(*outputs_[i].flag),
                                        " the name of a file"));
        for (std::size_t k = 0; k < i; ++k)
            if (Status status = check_different(outputs_[k], outputs_[i]); !status) return status;
    }
    return {};
}

Status Files::check_different(const Output& first, const Output& second) const {
    struct stat a, b;
    const bool is_one_file = find_file(first.path, STDOUT_FILENO, a) && find_file(second.path, STDOUT_FILENO, b)
                                 ? is_same(a, b)
                                 : first.path == second.path || place_of(first.path) == place_of(second.path);
    if (!is_one_file) return {};
    std::string paths = concat('"', first.path, '"');
    if (first.path != second.path) paths += concat(" and \"", second.path, '"');
    return Status::error(concat(written(*first.flag), " and ", written(*second.flag), " name one file, ", paths,
                                "; give them different ones"));
}

Status Files::check_outputs() const {
    for (const Output& output : outputs_) {
        for (const std::string& input : inputs_)
            if (Status status = check_input(output, input); !status) return status;
        if (Status status = check(output); !status) return status;
    }
    return {};
}

Status Files::check(const Output& output) const {
    if (is_standard_stream(output.path)) return {};
    return with_advice(shoal::check_writable(output.path), *output.flag, output.path);
}

Status Files::check_input(const Output& output, const std::string& input) const {
    if (output.flag->may_replace_input) return {};
    struct stat read, replaced;
    if (!find_file(input, STDIN_FILENO, read) || !find_file(output.path, STDOUT_FILENO, replaced)) return {};
    if (!S_ISREG(read.st_mode) || !is_same(read, replaced)) return {};
    if (is_standard_stream(output.path))
        return Status::error("standard output is one of the files that were read; redirect it to another file");
    return Status::error(concat("the output \"", output.path, "\" is one of the files that were read; give ",
                                written(*output.flag), " another name"));
}

Status Files::add_input(const std::string& path) {
    inputs_.push_back(path);
    for (const Output& output : outputs_)
        if (Status status = check_input(output, path); !status) return status;
    return {};
}

Status Files::add_output(std::string_view flag, const std::string& path) {
    const auto is_asked = [&](const Output& output) { return output.flag->name == flag; };
    if (std::any_of(outputs_.begin(), outputs_.end(), is_asked)) return {};
    for (const Flag& known : arguments_.verb().flags)
        if (known.name == flag) outputs_.push_back({&known, path});
    for (const std::string& input : inputs_)
        if (Status status = check_input(outputs_.back(), input); !status) return status;
    for (std::size_t i = 0; i + 1 < outputs_.size(); ++i)
        if (Status status = check_different(outputs_[i], outputs_.back()); !status) return status;
    return check(outputs_.back());
}

Result<std::string> Files::read(const std::string& path) {
    if (!is_stream(path)) return shoal::read_file(path);
    const Result<std::string_view> text = stream(path);
    return text ? Result<std::string>(std::string(*text)) : Result<std::string>(text.status());
}

Result<std::string_view> Files::stream(const std::string& path) {
    const auto known = streams_.find(path);
    if (known != streams_.end()) return std::string_view(known->second);
    Result<std::string> text = read_to_end(path);
    if (!text) return text.status();
    return std::string_view(streams_[path] = std::move(*text));
}

Status Files::write(std::string_view flag, std::string_view text) {
    for (const Output& output : outputs_) {
        if (output.flag->name != flag) continue;
        if (is_standard_stream(output.path)) return console_.print_out(text), Status();
        return with_advice(shoal::write_file(output.path, text), *output.flag, output.path);
    }
    return {};
}

Status Files::replace(const std::string& path, std::string_view text) {
    const Status status = shoal::write_file(path, text);
    return status ? Status() : Status::error(concat(status.message(), "; allow writing to it, or give - in its place"));
}

}  // namespace shoal_tool
