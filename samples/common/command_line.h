#pragma once
// The command line of a sample. It is a table of options; each has a target, a range and a help text.
//
//     CommandLine line({{"--fish", "N", "how many fish there are (100000)", Count{&out.num_fish, 0, 2'000'000}},
//                       {"--json", "", "print one JSON object", &out.json}});
//     if (Status status = line.read(num_words, words); !status) return status;
//
// `--fish 3` and `--fish=3` mean the same.
// Thread: as for built-in types.

#include <shoal/base/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace samples {

struct Count {
    std::uint64_t* value;
    std::uint64_t least, most;
};

/// A fraction, such as 0.25.
struct Share {
    double* value;
    double most;
};

/// A port, which may be omitted. The value is then 0, which means any free port.
struct Port {
    std::optional<std::uint16_t>* value;
};

/// A file to which an SVG image is written. Its name ends with .svg.
struct SvgFile {
    std::string* path;
};

struct Option {
    std::string_view name, value, help;
    std::variant<Count, Share, Port, SvgFile, std::string*, bool*> target;
};

class CommandLine {
public:
    explicit CommandLine(std::vector<Option> options) : options_(std::move(options)) {}

    /// Sets the targets of the options on a command line. The first word is the name of the program.
    /// Errors: an option is unknown or has an invalid value. The message says what is expected.
    shoal::Status read(int num_words, char** words);
    /// Returns whether an option was given.
    bool has(std::string_view name) const;
    /// Returns one line per option.
    std::string help() const;

private:
    const Option* find(std::string_view name) const;
    shoal::Status unknown(std::string_view name) const;

    std::vector<Option> options_;
    std::vector<std::string_view> met_;
};

}  // namespace samples
