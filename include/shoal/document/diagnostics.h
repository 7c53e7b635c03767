#pragma once
// Errors and warnings about source texts. Each has a position, a message and a hint.
//
//     Diagnostics diagnostics;
//     const std::uint32_t file = diagnostics.add_file("reef/garden.sjson", std::move(text));
//     Result<Document> garden = read_sjson(file, diagnostics);
//     if (!garden) print(diagnostics.format());
//
//     reef/garden.sjson:14:9: error: component "transform" has no field "postion"; did you mean "position"?
//        14 |         postion = [0 0 3]
//           |         ^~~~~~~
//
// A SourcePosition is a file and a byte offset, so that readers need not count lines. Diagnostics keeps the texts and
// converts a position to a line and a column on demand. Lines and columns start at 1. Every code point is one column,
// including a tab; a byte order mark does not count.
// Thread: a Diagnostics may be used by one thread at a time, even for const calls, which fill a cache.

#include "shoal/base/detail/array.h"
#include "shoal/base/detail/config.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

/// A position in a source text. The default, file 0, means no position.
struct SourcePosition {
    std::uint32_t file = 0;    ///< from Diagnostics::add_file
    std::uint32_t offset = 0;  ///< bytes from the start of the text
    friend constexpr bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

/// A position as a line and a column. All zero means no position.
struct SourceLocation {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    friend constexpr bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

enum class Severity : std::uint8_t { kWarning, kError };

/// A second position that explains a diagnostic, such as "first defined here".
struct DiagnosticNote {
    SourcePosition position;
    std::string message;
};

/// One error or warning. Its strings may contain any bytes; format() escapes the bytes that are unsafe to print on a
/// terminal.
struct Diagnostic {
    Severity severity = Severity::kError;
    SourcePosition position;
    std::uint32_t num_bytes = 0;  ///< length of the underline, or 0 to underline the token at `position`
    std::string message;
    std::string hint;  ///< suggests a fix; printed after the message
    Array<DiagnosticNote> notes{Owner("diagnostics")};

    SHOAL_API Diagnostic& note(SourcePosition at, std::string text);
    SHOAL_API Diagnostic& underline(std::uint32_t bytes);
};

/// Collects diagnostics, and keeps the texts that they refer to.
class Diagnostics {
public:
    /// Keeps at most `max_entries` errors, `max_entries` warnings, and `max_of_kind` entries of each kind, and only
    /// counts the others. Messages of one kind differ only in numbers and quoted words.
    SHOAL_API explicit Diagnostics(std::size_t max_entries = 100, std::size_t max_of_kind = 10);
    SHOAL_API ~Diagnostics();
    Diagnostics(const Diagnostics&) = delete;
    Diagnostics& operator=(const Diagnostics&) = delete;

    /// Adds a text and returns its file number. File numbers start at 1. Messages refer to the text by `name`.
    SHOAL_API std::uint32_t add_file(std::string name, std::string text);
    /// Like add_file(), but does not copy the text. Lifetime: the text must outlive this object.
    SHOAL_API std::uint32_t refer_file(std::string name, std::string_view text);

    /// Requires: 0 < file <= num_files(). Lifetime: as long as this object.
    SHOAL_API std::string_view name(std::uint32_t file) const;
    SHOAL_API std::string_view text(std::uint32_t file) const;
    std::uint32_t num_files() const { return static_cast<std::uint32_t>(files_.size()); }

    /// Returns the line and column of a position. Cost: less than a microsecond; the first call for a file reads the
    /// whole text.
    SHOAL_API SourceLocation locate(SourcePosition position) const;

    /// Adds an entry and returns it, so that notes can be added. Lifetime: until the next error() or warning().
    SHOAL_API Diagnostic& error(SourcePosition position, std::string message, std::string hint = {});
    SHOAL_API Diagnostic& warning(SourcePosition position, std::string message, std::string hint = {});

    /// The number of errors reported, including those that were not kept.
    std::size_t num_errors() const { return num_errors_; }
    std::size_t num_warnings() const { return num_warnings_; }

    /// Sorts the entries at index `first` and above, by file and offset. Entries without a position come first. Entries
    /// at the same position keep their order.
    SHOAL_API void sort_by_place(std::size_t first = 0);

    /// The entries that were kept. They are in the order in which they were added, unless they were sorted.
    const Array<Diagnostic>& entries() const { return entries_; }

    /// Returns all entries as readable text, each with its source line.
    SHOAL_API std::string format() const;

private:
    struct File;
    /// Diagnostics whose messages differ only in numbers and quoted words.
    struct Kind {
        std::uint64_t hash = 0;
        std::size_t num_kept = 0, num_more = 0;
        std::size_t last_entry = 0;
    };

    Diagnostic& add(Severity severity, std::size_t& num_kept, SourcePosition position, std::string message,
                    std::string hint);
    Kind* kind_of(Severity severity, std::string_view message);
    void append_more_of_kind(std::string& out, std::size_t entry) const;
    std::uint32_t add_file(std::string name, std::string text, std::string_view referred);
    void append_place(std::string& out, SourcePosition position, std::string_view kind, std::string_view message) const;
    void append_source_line(std::string& out, SourcePosition position, std::uint32_t num_bytes) const;

    std::size_t max_entries_, max_of_kind_;
    std::size_t num_errors_ = 0;
    std::size_t num_warnings_ = 0;
    std::size_t num_kept_errors_ = 0, num_kept_warnings_ = 0;
    Array<File*> files_{Owner("diagnostics")};  // by file number - 1
    Array<Diagnostic> entries_{Owner("diagnostics")};
    Array<Kind> kinds_{Owner("diagnostics")};
    Diagnostic dropped_;  // the last diagnostic that was not kept
};

/// Receives the progress of a long call about every 1,000 units of work (such as entities) and at the end.
struct ProgressListener {
    void (*advance)(void* context, std::string_view units, std::uint64_t done, std::uint64_t total) = nullptr;
    void* context = nullptr;

    SHOAL_API void tell(std::string_view units, std::uint64_t done, std::uint64_t total) const;
};

/// Returns `text` in quotes for a message. Long texts are shortened, and unprintable characters are escaped.
SHOAL_API std::string quoted(std::string_view text);

}  // namespace shoal
