#pragma once
// Writes results to standard output, and diagnostics and progress to standard error. With --json, only one JSON object
// is written to standard output. If an output file is named `-`, only that file is written to standard output. In both
// cases, results for people go to standard error.

#include "shoal/document/diagnostics.h"
#include "shoal/document/document_builder.h"

#include <string>
#include <string_view>

namespace shoal_tool {

class Console {
public:
    explicit Console(bool json);

    bool json() const { return json_; }
    /// Whether results for people go to a terminal and are therefore coloured.
    bool colors_facts() const { return colored_facts_ && !json_ && !prints_output_; }
    /// Reserves standard output for an output file. From now on, results for people go to standard error.
    void keep_standard_output() { prints_output_ = true; }

    /// Prints results for people.
    void print(std::string_view text);
    /// Prints errors and warnings, coloured on a terminal.
    void print_diagnostics(const shoal::Diagnostics& diagnostics);
    /// Prints the JSON object of the run.
    void print_json(const shoal::Document& document);
    /// Prints text to standard output in any mode.
    void print_out(std::string_view text);
    void print_error(std::string_view text);

    /// If standard error is a terminal, shows progress. The progress is cleared by the next message or when the work
    /// ends.
    void show_progress(std::string_view units, std::uint64_t done, std::uint64_t total);
    /// Returns a listener that shows the progress of long calls.
    shoal::ProgressListener progress();
    /// Returns a listener for calls that print to standard output. The listener shows nothing if standard output is a
    /// terminal.
    shoal::ProgressListener progress_beside_output();

    /// Returns whether everything could be written.
    bool flush();

private:
    bool json_;
    bool colored_errors_, colored_facts_;
    bool shows_progress_;
    bool prints_output_ = false;
    bool has_progress_ = false;  // whether the terminal's last line shows progress
    bool failed_ = false;
    std::int64_t next_progress_ns_ = 0;
};

/// Adds `errors`, `warnings` and `diagnostics`. The diagnostics are a list of {severity, file, line, column, message,
/// hint, notes}, and a note is {file, line, column, message}. If there is no position, the file is empty and the
/// numbers are 0.
void write_diagnostics(const shoal::Diagnostics& diagnostics, shoal::DocumentBuilder& builder);
/// Adds only the elements of the list `diagnostics`.
void write_entries(const shoal::Diagnostics& diagnostics, shoal::DocumentBuilder& builder);

/// Returns `text`. If it is not valid UTF-8, which can happen with file names, replaces each non-ASCII byte with `?`.
std::string utf8_text(std::string_view text);

}  // namespace shoal_tool
