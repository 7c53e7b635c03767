#pragma once
// What the readers of SJSON and JSON share: the text, errors, strings, numbers, words.
//
// Functions take the place to read from. They return the place to go on from, or nullptr to stop after an error. An
// error in one value, such as a bad escape or number, is reported and skipped. After a bracket or quote that does not
// match, `lost_` is set: the rest may be misread, so only errors that cannot follow from the first one are reported.
// Thread: one thread at a time.

#include "document/node_writer.h"
#include "document/scan.h"
#include "shoal/base/status.h"
#include "shoal/document/read_options.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

class Reader {
protected:
    using Code = document_detail::Code;

    enum class Dialect : std::uint8_t { kJson, kSjson };

    Reader(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options, Dialect dialect);

    /// Checks the text as a whole. Returns where to start, or nullptr.
    const char* check_text();
    /// Returns the document if nothing was reported.
    Result<Document> result();

    SourcePosition at(const char* p) const { return {file_, static_cast<std::uint32_t>(p - begin_)}; }
    Diagnostic& error(const char* p, std::string message, std::string hint = {});
    const char* stop(const char* p, std::string message, std::string hint = {});

    const char* open(Code code, const char* p);
    /// Adds a key, and reports a duplicate.
    void add_key(std::string_view key, const char* p);
    /// Reports that the innermost list or mapping is not closed, and which one inside it may lack its bracket.
    void report_unclosed();
    /// Returns "the mapping that begins in line 12" for the innermost list or mapping.
    std::string container_text() const;
    /// Adds where the innermost list or mapping begins, if that is on another line.
    void note_container(Diagnostic& diagnostic, const char* p) const;

    /// Reads "..." at `p`.
    const char* read_quoted(const char* p, std::string_view& text) {
        const char* const end = find_string_stop(p + 1, end_);
        if (SHOAL_UNLIKELY(end == end_ || *end != '"')) return read_escaped(p, text);
        text = {p + 1, static_cast<std::size_t>(end - p - 1)};
        return end + 1;
    }
    void add_string(std::string_view text, const char* p) {
        writer_.add(Code::kString, at(p), static_cast<std::uint32_t>(text.size())).text = text.data();
    }
    const char* read_number(const char* p);
    /// Adds true, false or null if the word is one of them.
    bool add_literal(std::string_view word, const char* p);
    /// Reports a word that is not a value, and adds null in its place.
    const char* refuse_word(std::string_view word, const char* p);
    std::string_view word_at(const char* p) const;
    /// Returns the code point at `p` in quotes, for messages.
    std::string sign_at(const char* p) const;

    std::uint32_t file_;
    Diagnostics& diagnostics_;
    ReadOptions options_;
    Dialect dialect_;
    const char* begin_;
    const char* end_;
    NodeWriter writer_;
    bool failed_ = false;
    bool lost_ = false;

private:
    void note_suspect(Diagnostic& diagnostic) const;
    const char* find_closing_quote(const char* open);
    const char* read_escaped(const char* open, std::string_view& text);
    const char* read_escape(const char* p, const char* end, char*& out);
    const char* read_unicode_escape(const char* p, const char* end, char*& out);
    const char* refuse_number(const char* p);
};

}  // namespace shoal
