#pragma once
// Decides what goes where: facts to standard output, diagnostics and progress to standard error. With --json, standard
// output has one JSON object, and everything for people goes to standard error.

#include "shoal/document/diagnostics.h"
#include "shoal/document/document_builder.h"

#include <string>
#include <string_view>

namespace shoal_tool {

class Console {
public:
    explicit Console(bool json);

    bool json() const { return json_; }

    /// Prints facts for people.
    void print(std::string_view text);
    /// Prints errors and warnings, coloured on a terminal.
    void print_diagnostics(const shoal::Diagnostics& diagnostics);
    /// Prints the one JSON object. Returns false when standard output cannot take it.
    void print_json(const shoal::Document& document);
    /// Prints text to standard output, whatever the mode.
    void print_out(std::string_view text);
    void print_error(std::string_view text);

    /// Shows progress, on a terminal only; clears it when `done` == `total`.
    void show_progress(std::string_view what, std::uint64_t done, std::uint64_t total);

    /// Returns whether everything was written.
    bool flush();

private:
    bool json_;
    bool colored_errors_;
    bool shows_progress_;
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
