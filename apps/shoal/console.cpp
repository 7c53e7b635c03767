#include "console.h"

#include "shoal/base/clock.h"
#include "shoal/base/text.h"
#include "shoal/document/json.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace shoal_tool {
namespace {

constexpr std::int64_t kProgressStepNs = 50'000'000;
constexpr int kProgressWidth = 40;

bool is_terminal(int descriptor) {
    const char* terminal = std::getenv("TERM");
    return isatty(descriptor) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

bool wants_color(int descriptor) {
    const char* no_color = std::getenv("NO_COLOR");
    return (no_color == nullptr || *no_color == 0) && is_terminal(descriptor);
}

/// Colours the words at the start of diagnostics. Lines of source text, which start with a space, are unchanged.
std::string colored(std::string_view text) {
    constexpr std::string_view kWords[] = {"error: ", "warning: ", "note: "};
    constexpr std::string_view kCodes[] = {"\033[1;31m", "\033[1;33m", "\033[1;36m"};
    std::string out;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n') + 1 == 0 ? text.size() : text.find('\n') + 1);
        text.remove_prefix(line.size());
        std::size_t at = std::string_view::npos, word = 0;
        for (std::size_t i = 0; i < std::size(kWords) && line[0] != ' '; ++i)
            if (const std::size_t found = line.find(kWords[i]); found < at) at = found, word = i;
        if (at == std::string_view::npos)
            out += line;
        else
            out += shoal::concat(line.substr(0, at), kCodes[word], kWords[word].substr(0, kWords[word].size() - 1),
                                 "\033[0m ", line.substr(at + kWords[word].size()));
    }
    return out;
}

}  // namespace

Console::Console(bool json)
    : json_(json),
      colored_errors_(wants_color(STDERR_FILENO)),
      colored_facts_(wants_color(STDOUT_FILENO)),
      shows_progress_(is_terminal(STDERR_FILENO)) {}

void Console::print(std::string_view text) { json_ || prints_output_ ? print_error(text) : print_out(text); }

void Console::print_out(std::string_view text) {
    failed_ |= std::fwrite(text.data(), 1, text.size(), stdout) != text.size();
}

void Console::print_error(std::string_view text) {
    std::fflush(stdout);  // if both streams go to the same place, keeps the output in order
    if (std::exchange(has_progress_, false)) std::fputs("\r\033[K", stderr);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

void Console::print_diagnostics(const shoal::Diagnostics& diagnostics) {
    const std::string text = diagnostics.format();
    print_error(colored_errors_ ? colored(text) : text);
}

void Console::print_json(const shoal::Document& document) { print_out(shoal::write_json(document.root())); }

void Console::show_progress(std::string_view units, std::uint64_t done, std::uint64_t total) {
    if (!shows_progress_) return;
    if (done == total) return print_error("");
    const std::int64_t now_ns = shoal::monotonic_ns();
    if (now_ns < next_progress_ns_) return;
    next_progress_ns_ = now_ns + kProgressStepNs;
    const int filled = static_cast<int>(done * kProgressWidth / total);
    const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                            std::string(static_cast<std::size_t>(kProgressWidth - filled), '.');
    print_error(shoal::concat("\r[", bar, "] ", done, '/', total, ' ', units, "\033[K"));
    has_progress_ = true;
}

shoal::ProgressListener Console::progress() {
    const auto show = [](void* console, std::string_view units, std::uint64_t done, std::uint64_t total) {
        static_cast<Console*>(console)->show_progress(units, done, total);
    };
    return {show, this};
}

shoal::ProgressListener Console::progress_beside_output() {
    return is_terminal(STDOUT_FILENO) ? shoal::ProgressListener() : progress();
}

bool Console::flush() { return std::fflush(stdout) == 0 && !failed_; }

void write_diagnostics(const shoal::Diagnostics& diagnostics, shoal::DocumentBuilder& builder) {
    builder.unsigned_integer("errors", diagnostics.num_errors());
    builder.unsigned_integer("warnings", diagnostics.num_warnings());
    builder.begin_list("diagnostics");
    write_entries(diagnostics, builder);
    builder.end();
}

void write_entries(const shoal::Diagnostics& diagnostics, shoal::DocumentBuilder& builder) {
    const auto write_place = [&](shoal::SourcePosition position) {
        const shoal::SourceLocation place = diagnostics.locate(position);
        builder.string("file", place.file == 0 ? std::string() : utf8_text(diagnostics.name(place.file)));
        builder.unsigned_integer("line", place.line);
        builder.unsigned_integer("column", place.column);
    };
    for (const shoal::Diagnostic& entry : diagnostics.entries()) {
        builder.begin_mapping();
        builder.string("severity", entry.severity == shoal::Severity::kError ? "error" : "warning");
        write_place(entry.position);
        builder.string("message", utf8_text(entry.message));
        builder.string("hint", utf8_text(entry.hint));
        builder.begin_list("notes");
        for (const shoal::DiagnosticNote& note : entry.notes) {
            builder.begin_mapping();
            write_place(note.position);
            builder.string("message", utf8_text(note.message));
            builder.end();
        }
        builder.end();
        builder.end();
    }
}

std::string utf8_text(std::string_view text) {
    std::string result(text);
    if (!shoal::is_utf8(text))
        for (char& c : result)
            if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    return result;
}

}  // namespace shoal_tool
