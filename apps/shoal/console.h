#pragma once
// Decides what goes where: facts to standard output, diagnostics and progress to standard error. With --json, standard
// output has one JSON object; with an output named `-`, it has that. Everything for people then goes to standard error.

#include "shoal/document/diagnostics.h"
#include "shoal/document/document_builder.h"

#include <string>
#include <string_view>

namespace shoal_tool {

class Console {
public:
    explicit Console(bool json);

    bool json() const { return json_; }
    /// Whether facts for people may be coloured: they go to a terminal.
    bool colors_facts() const { return colored_facts_ && !json_ && !prints_output_; }
    /// An output is going to be printed: facts go to standard error.
    void keep_standard_output() { prints_output_ = true; }

    /// Prints facts for people.
    void print(std::string_view text);
    /// Prints errors and warnings, coloured on a terminal.
    void print_diagnostics(const shoal::Diagnostics& diagnostics);
    /// Prints the one JSON object. Returns false when standard output cannot take it.
    void print_json(const shoal::Document& document);
    /// Prints text to standard output, whatever the mode.
    void print_out(std::string_view text);
    void print_error(std::string_view text);

    /// Shows progress, on a terminal only. The next message, and the end, clear it.
    void show_progress(std::string_view units, std::uint64_t done, std::uint64_t total);
    /// Returns what shows the progress of long calls.
    shoal::ProgressListener progress();
    /// The same for a call that prints to standard output: nothing is shown when that is a terminal too.
    shoal::ProgressListener progress_beside_output();

    /// Returns whether everything was written.
    bool flush();

private:
    bool json_;
    bool colored_errors_, colored_facts_;
    bool shows_progress_;
    bool prints_output_ = false;
    bool has_progress_ = false;  // on the terminal's last line
    bool failed_ = false;
    std::int64_t next_progress_ns_ = 0;
};

/// Adds `errors`, `warnings` and `diagnostics`, a list of {severity, file, line, column, message, hint, notes}; a note
/// is {file, line, column, message}. A place that is nowhere has an empty file and zeros.
void write_diagnostics(const shoal::Diagnostics& diagnostics, shoal::DocumentBuilder& builder);
/// Adds the elements of that list alone.
void write_entries(const shoal::Diagnostics& diagnostics, shoal::DocumentBuilder& builder);

/// Returns `text`, or when it is not UTF-8 (as a file name may be) with `?` for each byte beyond ASCII.
std::string utf8_text(std::string_view text);

}  // namespace shoal_tool
