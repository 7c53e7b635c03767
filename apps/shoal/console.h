#pragma once
// Distributes the output: facts to standard output, diagnostics and progress to standard error. With --json, standard
// output is one JSON object; with an output named `-`, standard output is that output. In both cases, text for people
// goes to standard error.

#include "shoal/document/diagnostics.h"
#include "shoal/document/document_builder.h"

#include <string>
#include <string_view>

namespace shoal_tool {

class Console {
public:
    explicit Console(bool json);

    bool json() const { return json_; }
    /// Whether facts for people may be coloured, because they go to a terminal.
    bool colors_facts() const { return colored_facts_ && !json_ && !prints_output_; }
    /// From now on, standard output is for an output, and facts go to standard error.
    void keep_standard_output() { prints_output_ = true; }

    /// Prints facts for people.
    void print(std::string_view text);
    /// Prints errors and warnings, coloured on a terminal.
    void print_diagnostics(const shoal::Diagnostics& diagnostics);
    /// Prints the JSON object of the run. Returns false if standard output cannot be written.
    void print_json(const shoal::Document& document);
    /// Prints text to standard output, whatever the mode.
    void print_out(std::string_view text);
    void print_error(std::string_view text);

    /// Shows progress, on a terminal only. The next message clears it, and so does the end of the work.
    void show_progress(std::string_view units, std::uint64_t done, std::uint64_t total);
    /// Returns a listener that shows the progress of long calls.
    shoal::ProgressListener progress();
    /// The same for a call that prints to standard output: shows nothing if standard output is also a terminal.
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
/// is {file, line, column, message}. Without a position, the file is empty and the numbers are 0.
void write_diagnostics(const shoal::Diagnostics& diagnostics, shoal::DocumentBuilder& builder);
/// Adds only the elements of the list `diagnostics`.
void write_entries(const shoal::Diagnostics& diagnostics, shoal::DocumentBuilder& builder);

/// Returns `text`; if it is not UTF-8 (as a file name may be), with `?` for each byte beyond ASCII.
std::string utf8_text(std::string_view text);

}  // namespace shoal_tool
