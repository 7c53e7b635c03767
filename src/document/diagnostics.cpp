#include "shoal/document/diagnostics.h"

#include "shoal/base/assert.h"
#include "shoal/base/detail/utf8.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/document/detail/scalar_text.h"

#include <algorithm>
#include <utility>

namespace shoal {
namespace {

// --- the line of a diagnostic, with a marker under it ----------------------------------------------------------------

constexpr std::size_t kWindow = 100;       // at most this many code points of a line are shown
constexpr std::size_t kBinaryWindow = 25;  // the same for binary data, where most bytes take four columns
constexpr std::size_t kGutterDigits = 5;
constexpr std::string_view kCut = "...";

/// Returns the start of the code point before `at`. Requires: at > 0.
std::size_t step_back(std::string_view text, std::size_t at) {
    std::size_t start = at - 1;
    while (start > 0 && at - start < 4 && !starts_code_point(text[start])) --start;
    return decode_utf8(text.substr(start, at - start)).num_bytes == at - start ? start : at - 1;
}

struct Window {
    std::size_t begin, end;
    bool cut_before, cut_after;
};

Window find_window(std::string_view text, std::size_t at) {
    const bool is_binary = text.substr(at, kWindow).find('\0') != std::string_view::npos;
    const std::size_t width = is_binary ? kBinaryWindow : kWindow;
    const std::size_t most_before = width * 2 / 5;
    std::size_t begin = at, before = 0;
    std::size_t starts[kWindow + 1] = {at};  // offsets of code points before `at`, the nearest first
    while (before < width && begin > 0 && text[begin - 1] != '\n') starts[++before] = begin = step_back(text, begin);

    std::size_t end = at, after = 0;
    std::size_t ends[kWindow + 1] = {at};
    while (after < width && end < text.size() && text[end] != '\n')
        ends[++after] = end += decode_utf8(text.substr(end)).num_bytes;

    if (before + after > width) {
        before = std::min(before, std::max(most_before, width - std::min(after, width)));
        after = std::min(after, width - before);
        begin = starts[before];
        end = ends[after];
    }
    const bool cut_before = begin > 0 && text[begin - 1] != '\n';
    const bool cut_after = end < text.size() && text[end] != '\n';
    if (!cut_after && end > begin && end > at && text[end - 1] == '\r') --end;
    return {begin, end, cut_before, cut_after};
}

/// Returns the length of the word, quoted string or sign that starts at `at`.
std::size_t token_bytes(std::string_view text, std::size_t at) {
    constexpr std::string_view kSigns = "[]{}=:";
    constexpr std::string_view kBlanks = " \t\r\n,";
    if (at >= text.size()) return 1;
    std::size_t end = at;
    if (text[at] == '"') {
        for (++end; end < text.size() && text[end] != '"' && text[end] != '\n' && end - at < 4 * kWindow; ++end)
            if (text[end] == '\\') ++end;
        return end + 1 - at;
    }
    while (end < text.size() && end - at < 4 * kWindow && kSigns.find(text[end]) == std::string_view::npos &&
           kBlanks.find(text[end]) == std::string_view::npos)
        ++end;
    return std::max<std::size_t>(end - at, 1);
}

void append_gutter(std::string& out, std::string_view number) {
    out.append(number.size() < kGutterDigits ? kGutterDigits - number.size() : 0, ' ');
    out.append(number).append(" | ");
}

/// Appends the line around `offset`, with `^~~~` under `num_bytes` bytes, or under the word at `offset` if `num_bytes`
/// is 0. Only a window of a long line is shown. Cost: O(window), regardless of the length of the line.
void append_excerpt(std::string& out, std::string_view text, std::uint32_t offset, std::uint32_t num_bytes,
                    std::uint32_t line) {
    const std::size_t at = std::min<std::size_t>(offset, text.size());
    const Window window = find_window(text, at);
    const std::size_t marked_end = at + (num_bytes == 0 ? token_bytes(text, at) : num_bytes);

    append_gutter(out, concat(line));
    std::string marker;
    if (window.cut_before) {
        out.append(kCut);
        marker.append(kCut.size(), ' ');
    }
    std::size_t i = window.begin;
    if (i == 0 && text.starts_with(kByteOrderMark)) i = std::min(kByteOrderMark.size(), window.end);
    while (i < window.end) {
        const CodePoint code_point = decode_utf8(text.substr(i, window.end - i));
        const bool is_tab = code_point.value == '\t';
        if (is_tab) out.push_back('\t');
        const int columns = is_tab ? 1 : append_visible(out, code_point, text[i]);
        const bool is_marked = i >= at && i < marked_end;
        const char filler = is_marked ? '~' : is_tab ? '\t' : ' ';
        marker.append(static_cast<std::size_t>(columns), filler);
        if (i == at && columns > 0) marker[marker.size() - static_cast<std::size_t>(columns)] = '^';
        i += code_point.num_bytes;
    }
    if (at >= window.end) marker.push_back('^');
    if (window.cut_after) out.append(kCut);
    out.push_back('\n');

    append_gutter(out, "");
    marker.resize(marker.find_last_not_of(" \t") + 1);
    out.append(marker).push_back('\n');
}

// --- diagnostics -----------------------------------------------------------------------------------------------------

constexpr std::size_t kBlockBytes = 1024;
constexpr std::size_t kMostKinds = 256;  // additional kinds are not limited by `max_of_kind`

/// Advances a location past `bytes`.
void advance(SourceLocation& location, std::string_view bytes) {
    const std::size_t line_end = bytes.rfind('\n');
    if (line_end != std::string_view::npos) {
        location.line += static_cast<std::uint32_t>(std::count(bytes.begin(), bytes.end(), '\n'));
        location.column = 1;
        bytes.remove_prefix(line_end + 1);
    }
    location.column += static_cast<std::uint32_t>(num_code_points(bytes));
}

/// Hashes a message without its numbers and quoted words.
std::uint64_t kind_hash(Severity severity, std::string_view message) {
    std::string kind(1, severity == Severity::kError ? 'e' : 'w');
    bool is_quoted = false;
    for (const char c : message) {
        if (c == '"') is_quoted = !is_quoted;
        if (!is_quoted && (c < '0' || c > '9')) kind.push_back(c);
    }
    return hash_text(kind);
}

}  // namespace

/// A text and the location of every kBlockBytes-th byte. With these, a lookup reads less than one block, even in a very
/// long line.
struct Diagnostics::File {
    std::string name;
    std::string kept;
    std::string_view text;
    Array<SourceLocation> blocks{Owner("diagnostics")};

    void find_blocks(std::uint32_t file) {
        blocks.reserve(text.size() / kBlockBytes + 1);
        SourceLocation location{file, 1, text.starts_with(kByteOrderMark) ? 0u : 1u};
        for (std::size_t i = 0; i <= text.size(); i += kBlockBytes) {
            blocks.push_back(location);
            advance(location, text.substr(i, kBlockBytes));
        }
    }
};

Diagnostics::Diagnostics(std::size_t max_entries, std::size_t max_of_kind)
    : max_entries_(max_entries), max_of_kind_(std::max<std::size_t>(max_of_kind, 1)) {}

Diagnostics::~Diagnostics() {
    for (File* file : files_) delete file;
}

std::uint32_t Diagnostics::add_file(std::string name, std::string text, std::string_view referred) {
    files_.push_back(new File{std::move(name), std::move(text), referred});
    return num_files();
}

std::uint32_t Diagnostics::add_file(std::string name, std::string text) {
    const std::uint32_t file = add_file(std::move(name), std::move(text), {});
    files_.back()->text = files_.back()->kept;
    return file;
}

std::uint32_t Diagnostics::refer_file(std::string name, std::string_view text) {
    return add_file(std::move(name), std::string(), text);
}

std::string_view Diagnostics::name(std::uint32_t file) const {
    SHOAL_ASSERT(file > 0 && file <= files_.size(), "the file number is not from add_file()");
    return files_[file - 1]->name;
}

std::string_view Diagnostics::text(std::uint32_t file) const {
    SHOAL_ASSERT(file > 0 && file <= files_.size(), "the file number is not from add_file()");
    return files_[file - 1]->text;
}

SourceLocation Diagnostics::locate(SourcePosition position) const {
    if (position.file == 0) return {};
    SHOAL_ASSERT(position.file <= files_.size(), "the file number of the position is not from add_file()");
    File& file = *files_[position.file - 1];
    if (file.blocks.empty()) file.find_blocks(position.file);
    const std::size_t offset = std::min<std::size_t>(position.offset, file.text.size());
    const std::size_t block = offset / kBlockBytes;
    SourceLocation location = file.blocks[block];
    advance(location, file.text.substr(block * kBlockBytes, offset - block * kBlockBytes));
    location.column = std::max(location.column, 1u);  // the column is 0 on the byte order mark itself
    return location;
}

/// Returns the kind of a message, or nullptr if there are too many kinds.
Diagnostics::Kind* Diagnostics::kind_of(Severity severity, std::string_view message) {
    const std::uint64_t hash = kind_hash(severity, message);
    for (Kind& kind : kinds_)
        if (kind.hash == hash) return &kind;
    if (kinds_.size() == kMostKinds) return nullptr;
    kinds_.push_back({hash});
    return &kinds_.back();
}

Diagnostic& Diagnostics::add(Severity severity, std::size_t& num_kept, SourcePosition position, std::string message,
                             std::string hint) {
    dropped_ = Diagnostic{severity, position, 0, std::move(message), std::move(hint)};
    if (num_kept == max_entries_) return dropped_;
    if (Kind* const kind = kind_of(severity, dropped_.message)) {
        if (kind->num_kept == max_of_kind_) return ++kind->num_more, dropped_;
        ++kind->num_kept;
        kind->last_entry = entries_.size();
    }
    ++num_kept;
    entries_.push_back(std::move(dropped_));
    return entries_.back();
}

Diagnostic& Diagnostics::error(SourcePosition position, std::string message, std::string hint) {
    ++num_errors_;
    return add(Severity::kError, num_kept_errors_, position, std::move(message), std::move(hint));
}

Diagnostic& Diagnostics::warning(SourcePosition position, std::string message, std::string hint) {
    ++num_warnings_;
    return add(Severity::kWarning, num_kept_warnings_, position, std::move(message), std::move(hint));
}

void Diagnostics::sort_by_place(std::size_t first) {
    SHOAL_ASSERT(first <= entries_.size(), "there are not so many entries");
    const auto is_before = [](const Diagnostic& a, const Diagnostic& b) {
        return std::pair(a.position.file, a.position.offset) < std::pair(b.position.file, b.position.offset);
    };
    Diagnostic* const begin = entries_.begin() + first;
    for (Diagnostic* next = begin; next != entries_.end(); ++next)  // entries are few and mostly in order
        std::rotate(std::upper_bound(begin, next, *next, is_before), next, next + 1);
    for (std::size_t i = first; i < entries_.size(); ++i)
        if (Kind* const kind = kind_of(entries_[i].severity, entries_[i].message)) kind->last_entry = i;
}

/// If `entry` is the last of its kind, appends the number of diagnostics of this kind that were not kept.
void Diagnostics::append_more_of_kind(std::string& out, std::size_t entry) const {
    for (const Kind& kind : kinds_)
        if (kind.num_more != 0 && kind.last_entry == entry)
            out.append(concat("and ", kind.num_more, " more of this kind\n"));
}

void Diagnostics::append_place(std::string& out, SourcePosition position, std::string_view kind,
                               std::string_view message) const {
    if (position.file != 0) {
        const SourceLocation location = locate(position);
        append_visible(out, name(position.file));
        out.append(concat(":", location.line, ":", location.column, ": "));
    }
    out.append(kind).append(": ");
    append_visible(out, message);
}

void Diagnostics::append_source_line(std::string& out, SourcePosition position, std::uint32_t num_bytes) const {
    out.push_back('\n');
    if (position.file == 0) return;
    append_excerpt(out, text(position.file), position.offset, num_bytes, locate(position).line);
}

std::string Diagnostics::format() const {
    std::string out;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Diagnostic& entry = entries_[i];
        append_place(out, entry.position, entry.severity == Severity::kError ? "error" : "warning", entry.message);
        if (!entry.hint.empty()) {
            out.append("; ");
            append_visible(out, entry.hint);
        }
        append_source_line(out, entry.position, entry.num_bytes);
        for (const DiagnosticNote& note : entry.notes) {
            append_place(out, note.position, "note", note.message);
            append_source_line(out, note.position, 0);
        }
        append_more_of_kind(out, i);
    }
    std::size_t more_errors = num_errors_ - num_kept_errors_, more_warnings = num_warnings_ - num_kept_warnings_;
    for (const Kind& kind : kinds_)
        (entries_[kind.last_entry].severity == Severity::kError ? more_errors : more_warnings) -= kind.num_more;
    const auto append_more = [&](std::size_t more, std::string_view word) {
        if (more != 0) out.append(concat("and ", more, " more ", word, more == 1 ? "\n" : "s\n"));
    };
    append_more(more_errors, "error");
    append_more(more_warnings, "warning");
    return out;
}

std::string quoted(std::string_view text) {
    constexpr std::size_t kMostBytes = 64;
    std::string out = "\"";
    const bool is_cut = text.size() > kMostBytes;
    std::size_t shown = text.size();
    if (is_cut) {
        shown = kMostBytes;
        while (shown > 0 && !starts_code_point(text[shown])) --shown;
    }
    append_visible(out, text.substr(0, shown));
    out.append(is_cut ? "...\"" : "\"");
    return out;
}

void ProgressListener::tell(std::string_view units, std::uint64_t done, std::uint64_t total) const {
    constexpr std::uint64_t kStep = 1024;
    if (advance != nullptr && (done % kStep == 0 || done == total)) advance(context, units, done, total);
}

Diagnostic& Diagnostic::note(SourcePosition at, std::string text) {
    notes.push_back({at, std::move(text)});
    return *this;
}

Diagnostic& Diagnostic::underline(std::uint32_t bytes) {
    num_bytes = bytes;
    return *this;
}

}  // namespace shoal
