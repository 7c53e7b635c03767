#pragma once
// Writes all outputs of a run, and records all its inputs. To protect files, an output must not be an input, a device
// or a read-only file, and no two outputs may be the same file.
//
// `-` means standard input or standard output. The table of flags declares which flags name inputs and outputs, so a
// verb adds only files that it finds later, such as a source's prefabs.

#include "arguments.h"
#include "shoal/source/detail/source_files.h"

#include <map>
#include <string>
#include <vector>

namespace shoal_tool {

/// Messages use this name for an unnamed source from standard input.
inline constexpr std::string_view kStandardInputName = "stdin";

inline bool is_standard_stream(std::string_view path) { return path == "-"; }

/// Returns whether a path is an open stream: `-`, /dev/stdin, or a pipe that a shell has created for `<(command)`. A
/// stream can be read only once, and is not searched for by name.
bool is_stream(const std::string& path);

/// Returns the name that messages use for an output.
std::string name_of_output(const std::string& path);

class Files {
public:
    Files(const Arguments& arguments, Console& console);

    /// Errors (wrong usage): two outputs are the same file; standard input is read twice; two outputs go to standard
    /// output.
    shoal::Status check_usage() const;
    /// Checks the outputs before any work is done. Errors: as for write().
    shoal::Status check_outputs() const;

    /// Records an input file. Errors: the file is one of the outputs.
    shoal::Status add_input(const std::string& path);

    /// Adds `path` as the default output for `flag`, unless the flag was given. Errors: as for write().
    shoal::Status add_output(std::string_view flag, const std::string& path);

    /// Reads a file, or standard input.
    shoal::Result<std::string> read(const std::string& path);
    /// Returns the content of a stream. The first call reads the stream. Requires: is_stream(path). Lifetime: as long
    /// as this object.
    shoal::Result<std::string_view> stream(const std::string& path);

    /// If the flag was given, writes its output file. Errors: the file cannot be written. On error, the file is
    /// unchanged.
    shoal::Status write(std::string_view flag, std::string_view text);
    /// Overwrites a file that was an operand and has been read. Errors: the file cannot be written. On error, the file
    /// is unchanged.
    shoal::Status replace(const std::string& path, std::string_view text);

private:
    struct Output {
        const Flag* flag;
        std::string path;
    };

    shoal::Status check(const Output& output) const;
    shoal::Status check_input(const Output& output, const std::string& input) const;
    shoal::Status check_different(const Output& first, const Output& second) const;

    const Arguments& arguments_;
    Console& console_;
    std::vector<std::string> inputs_;
    std::vector<Output> outputs_;
    std::map<std::string, std::string> streams_;  // by path
};

/// Reads sources from disk, but uses `text` (from standard input) as the content of the file at `path`.
class StandInFiles final : public shoal::SourceFiles {
public:
    StandInFiles(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}

    bool exists(const std::string& path) const override { return path == path_ || disk_.exists(path); }
    shoal::Result<std::string> read(const std::string& path) override {
        if (path == path_) return text_;
        return disk_.read(path);
    }
    std::string canonical(const std::string& path) const override { return disk_.canonical(path); }
    std::vector<std::string> list(const std::string& folder) const override { return disk_.list(folder); }

private:
    std::string path_, text_;
    shoal::DiskFiles disk_;
};

}  // namespace shoal_tool
