#pragma once
// The command line. A verb declares its flags and receives their values.
//
//     shoal compile reef.sjson --root=levels -o reef.blob
//           verb    operand    flag          flag with a letter
//
// Flags may precede or follow operands. `--flag value` and `--flag=value` mean the same, and so do `-f value` and
// `-fvalue`. `--` ends the flags. The file name `-` means standard input or standard output.
//
// Help, the man page, shell completion and file checks all use one table of verbs and flags.

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

/// The kind of value that a flag or an operand takes. Shell completion depends on it, and so do the checks of input and
/// output files. A size is a number of bytes, such as `4096`, `800M` or `16G`. The value of a port flag is optional.
enum class Takes : std::uint8_t { kNothing, kText, kSize, kPort, kInput, kOutput, kFolder, kOneOf, kVerb };

struct Flag {
    std::string_view name;     ///< without dashes
    std::string_view value{};  ///< name of the value in the usage; for kOneOf, the choices, such as `little|big`
    std::string_view help{};
    Takes takes = Takes::kNothing;
    char letter = 0;       ///< short form, such as `o`
    bool repeats = false;  ///< whether it may be given several times
    bool required = false;
    bool may_be_folder = false;      ///< an output that must be a folder if the operand is one; the verb checks this
    bool may_replace_input = false;  ///< the output may be an input file; the verb reads everything before it writes
};
/// Returns `-o` or `--output`.
std::string written(const Flag& flag);
/// Returns the choices in a value such as `little|big`.
std::vector<std::string_view> choices_of(std::string_view value);

/// A verb of the tool: its description and its function, which returns the exit code.
struct Verb {
    std::string_view name;
    std::string_view summary;   ///< one line
    std::string_view operands;  ///< as shown in the usage: "SOURCE..."
    Takes takes;                ///< the kind of all operands
    std::size_t min_operands;
    std::size_t max_operands;
    std::span<const Flag> flags;
    std::string_view manual;    ///< paragraphs
    std::string_view examples;  ///< lines
    int (*run)(const Arguments& arguments, Files& files, Console& console);
};

/// The flags that may be given without a verb.
std::span<const Flag> flags_of_tool();

/// All verbs, in the order in which the help lists them.
std::span<const Verb* const> verbs();

/// Returns the usage of a verb as one line.
std::string usage_line(const Verb& verb);

/// A command line that is valid for its verb.
class Arguments {
public:
    /// Errors: an unknown flag; a flag without its value; a repeated flag; too few or too many operands. The message
    /// suggests what was probably meant.
    static shoal::Result<Arguments> parse(const Verb& verb, std::span<const std::string_view> words);

    const Verb& verb() const { return *verb_; }
    const std::vector<std::string>& operands() const { return operands_; }
    /// The flags on the command line with their values, in order.
    std::span<const std::pair<const Flag*, std::string>> given() const { return given_; }
    bool has(std::string_view flag) const;
    /// Returns the value of a flag, or `fallback`.
    std::string value(std::string_view flag, std::string_view fallback = {}) const;
    std::vector<std::string> values(std::string_view flag) const;
    /// Returns the value of a size flag in bytes, or 0 if the flag is not given.
    std::uint64_t size(std::string_view flag) const;

    /// Reads the value of a flag as a number. If the flag is not given, `number` does not change. Floating-point
    /// numbers may be fractions, such as `1/60`. Errors: the value is not a number, or is outside [least, greatest].
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
