#pragma once
// The command line: a verb declares its flags, and receives their values.
//
//     shoal compile reef.sjson --root=levels -o reef.blob
//           verb    operand    flag          flag with a letter
//
// Flags may be before or after operands; `--flag value` and `--flag=value` are the same, and so are `-f value` and
// `-fvalue`; `--` ends the flags. In place of a file, `-` is standard input or standard output.
//
// The verbs and their flags are one table, which is used for the help, the man page, the completion of shells and the
// checks of files.

#include "shoal/base/status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal_tool {

class Arguments;
class Console;
class Files;

/// What a flag or an operand accepts. Shells complete such values, and Files checks the files that are read and
/// written. A size is a number of bytes, such as `4096`, `800M` or `16G`; a port may be left out.
enum class Takes : std::uint8_t { kNothing, kText, kSize, kPort, kInput, kOutput, kFolder, kOneOf, kVerb };

struct Flag {
    std::string_view name;     ///< without dashes
    std::string_view value{};  ///< the name of its value in the usage; for kOneOf: the choices, as `little|big`
    std::string_view help{};
    Takes takes = Takes::kNothing;
    char letter = 0;       ///< a short form, such as `o`
    bool repeats = false;  ///< may be given several times
    bool required = false;
    bool may_be_folder = false;      ///< an output that is a folder if the operand is a folder; the verb checks it
    bool may_replace_input = false;  ///< an output that may also be an input, because the verb reads all before it
                                     ///< writes
};
/// Returns `-o` or `--output`.
std::string written(const Flag& flag);
/// Returns the choices of a value such as `little|big`.
std::vector<std::string_view> choices_of(std::string_view value);

/// A verb of the tool: its description and its function, which returns the exit code.
struct Verb {
    std::string_view name;
    std::string_view summary;   ///< one line
    std::string_view operands;  ///< as in the usage: "SOURCE..."
    Takes takes;                ///< the kind of each operand
    std::size_t min_operands;
    std::size_t max_operands;
    std::span<const Flag> flags;
    std::string_view manual;    ///< paragraphs
    std::string_view examples;  ///< lines
    int (*run)(const Arguments& arguments, Files& files, Console& console);
};

/// The flags that the tool accepts without a verb.
std::span<const Flag> flags_of_tool();

/// All verbs, in the order in which help lists them.
std::span<const Verb* const> verbs();

/// Returns the usage of a verb in one line.
std::string usage_line(const Verb& verb);

/// A command line that fits its verb.
class Arguments {
public:
    /// Errors: an unknown flag, a flag that lacks its value or is given twice, too few or too many operands; the
    /// message suggests what was probably meant.
    static shoal::Result<Arguments> parse(const Verb& verb, std::span<const std::string_view> words);

    const Verb& verb() const { return *verb_; }
    const std::vector<std::string>& operands() const { return operands_; }
    /// The given flags and values, in order.
    std::span<const std::pair<const Flag*, std::string>> given() const { return given_; }
    bool has(std::string_view flag) const;
    /// Returns the value of a flag, or `fallback`.
    std::string value(std::string_view flag, std::string_view fallback = {}) const;
    std::vector<std::string> values(std::string_view flag) const;
    /// Returns the value of a flag for a size, in bytes; 0 if the flag is not given.
    std::uint64_t size(std::string_view flag) const;

    /// Reads the value of a flag as a number; without the flag, `number` stays unchanged. A floating-point number may
    /// be a fraction, as in `1/60`. Errors: the value is not a number, or is outside [least, greatest].
    shoal::Status read_number(std::string_view flag, std::uint64_t least, std::uint64_t greatest,
                              std::uint64_t& number) const;
    shoal::Status read_number(std::string_view flag, double least, double greatest, double& number) const;

private:
    shoal::Status take_flag(std::string_view word, std::span<const std::string_view> rest, std::size_t* num_taken);
    shoal::Status check() const;
    shoal::Status unknown_flag(std::string_view word) const;

    const Verb* verb_ = nullptr;
    std::vector<std::string> operands_;
    std::vector<std::pair<const Flag*, std::string>> given_;
};

}  // namespace shoal_tool
