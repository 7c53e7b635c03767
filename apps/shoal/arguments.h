#pragma once
// The command line: a verb says which flags it has, and gets what was given for them.
//
//     shoal compile reef.sjson --root=levels -o reef.blob
//           verb    operand    flag          flag with a letter
//
// Flags stand before or after operands; `--flag value` and `--flag=value` are the same; `--` ends the flags.

#include "shoal/base/status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal_tool {

class Console;
class Arguments;

struct Flag {
    std::string_view name;   ///< without dashes
    std::string_view value;  ///< what the usage calls its value; empty: it has none
    std::string_view help;
    char letter = 0;       ///< a short form, such as `o`
    bool repeats = false;  ///< may be given several times
    bool required = false;
};

/// A verb of the tool: what it says about itself, and what it does. Returns the exit code.
struct Verb {
    std::string_view name;
    std::string_view summary;   ///< one line
    std::string_view operands;  ///< as the usage shows them: "SOURCE..."
    std::size_t min_operands;
    std::size_t max_operands;
    std::span<const Flag> flags;
    std::string_view manual;    ///< paragraphs
    std::string_view examples;  ///< lines
    int (*run)(const Arguments& arguments, Console& console);
};

/// All verbs, in the order in which help lists them.
std::span<const Verb* const> verbs();

/// Returns the one line that says how a verb is written.
std::string usage_line(const Verb& verb);

/// A command line that fits its verb.
class Arguments {
public:
    /// Errors: an unknown flag, a flag without its value or given twice, too few or too many operands; the message
    /// says what was meant, if that is clear.
    static shoal::Result<Arguments> parse(const Verb& verb, std::span<const std::string_view> words);

    const Verb& verb() const { return *verb_; }
    const std::vector<std::string>& operands() const { return operands_; }
    bool has(std::string_view flag) const;
    /// Returns the value of a flag, or `fallback`.
    std::string value(std::string_view flag, std::string_view fallback = {}) const;
    std::vector<std::string> values(std::string_view flag) const;

    /// Reads the number given for a flag; without the flag `number` stays as it is.
    /// Errors: no number, or one outside [least, greatest].
    shoal::Status read_number(std::string_view flag, std::uint64_t least, std::uint64_t greatest,
                              std::uint64_t& number) const;
    shoal::Status read_number(std::string_view flag, double least, double greatest, double& number) const;

private:
    shoal::Status take_flag(std::string_view word, std::span<const std::string_view> rest, std::size_t* num_taken);
    shoal::Status check() const;
    shoal::Status unknown_flag(std::string_view word) const;

    const Verb* verb_ = nullptr;
    std::vector<std::string> operands_;
    std::vector<std::pair<std::string_view, std::string>> given_;  // flag name, value
};

}  // namespace shoal_tool
