// Reads SJSON and JSON.
// Thread: one thread at a time.

#include "document/node_writer.h"
#include "document/scan.h"
#include "shoal/base/detail/utf8.h"
#include "shoal/base/status.h"
#include "shoal/base/text.h"
#include "shoal/document/detail/number.h"
#include "shoal/document/detail/read_options.h"
#include "shoal/document/detail/scalar_text.h"
#include "shoal/document/detail/token_list.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace shoal {
namespace {

/// A bracket and the indentation of its line.
struct Bracket {
    std::uint32_t offset = 0;
    std::size_t indent = 0;
};

/// Finds the first list or mapping whose closing bracket begins a line that is indented less than the line with the
/// opening bracket. Returns both brackets, or default values if there is no such list or mapping.
std::pair<Bracket, Bracket> find_misplaced(std::span<const TextToken> tokens, std::string_view text) {
    Array<Bracket> open{Owner("document reader")};
    std::size_t at = 0, indent = 0;
    bool is_first = true;  // whether `token` is the first on its line
    for (const TextToken& token : tokens) {
        for (; at < token.begin; ++at) {
            const bool is_blank = text[at] == ' ' || text[at] == '\t';
            indent = text[at] == '\n' ? 0 : indent + (is_first && is_blank ? 1 : 0);
            is_first = text[at] == '\n' || (is_first && is_blank);
        }
        const Bracket bracket{token.begin, indent};
        if (token.kind == TokenKind::kOpen) open.push_back(bracket);
        if (token.kind != TokenKind::kClose) continue;
        if (is_first && indent < open.back().indent) return {open.back(), bracket};
        open.pop_back();
    }
    return {};
}

/// Reads four hexadecimal digits. Returns -1 if there are fewer.
int read_hex4(const char* p, const char* end) {
    unsigned value = 0;
    if (end - p < 4 || std::from_chars(p, p + 4, value, 16).ptr != p + 4) return -1;
    return static_cast<int>(value);
}

constexpr std::string_view kFiniteHint = "numbers are finite; NaN and infinity cannot be written";

bool is_not_finite(std::string_view word) {
    if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
    std::string lower(word.substr(0, 16));
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    return lower == "nan" || lower == "inf" || lower == "infinity" || lower.starts_with("nan(") ||
           lower.starts_with("1.#");
}

/// The syntax of gaps between tokens. JSON shares it, because JSON has no comments.
struct GapSyntax {
    static std::size_t line_end_bytes(std::string_view text, std::size_t at) { return text[at] == '\n' ? 1 : 0; }
    static std::size_t comment_end(std::string_view text, std::size_t at, bool /*begins_line*/) {
        const char* const end = find_comment_end(text.data() + at, text.data() + text.size());
        return end == nullptr ? at : static_cast<std::size_t>(end - text.data());
    }
};

/// The common base of the SJSON and JSON readers: reads strings, numbers and words, and reports errors.
///
/// Functions take the position to read from, and return the position to continue from, or nullptr to stop after an
/// error. An error in one value, such as a bad escape or number, is reported and skipped. After an unmatched bracket or
/// quote, `lost_` is set: the rest may be misread, so only errors that cannot result from the first error are reported.
class Reader {
protected:
    using Code = document_detail::Code;

    enum class Dialect : std::uint8_t { kJson, kSjson };

    Reader(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options, Dialect dialect)
        : file_(file),
          diagnostics_(diagnostics),
          options_(options),
          dialect_(dialect),
          begin_(diagnostics.text(file).empty() ? "" : diagnostics.text(file).data()),  // nullptr would mean stop
          end_(begin_ + diagnostics.text(file).size()),
          tokens_(options.tokens, diagnostics.text(file),
                  diagnostics.text(file).starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0) {
        SHOAL_ASSERT(file <= document_detail::kMaxFiles, "too many files in one Diagnostics");
    }

    Diagnostic& error(const char* p, std::string message, std::string hint = {}) {
        failed_ = true;
        return diagnostics_.error(at(p), std::move(message), std::move(hint));
    }

    const char* stop(const char* p, std::string message, std::string hint = {}) {
        error(p, std::move(message), std::move(hint));
        return nullptr;
    }

    /// Checks the text as a whole. Returns where to start, or nullptr.
    const char* check_text() {
        constexpr std::size_t kTypicalBytesPerNode = 12;
        const std::string_view text(begin_, static_cast<std::size_t>(end_ - begin_));
        if (text.size() >= std::numeric_limits<std::uint32_t>::max())
            return stop(begin_, "the text is larger than 4 GiB", "split it");
        const std::size_t invalid = find_invalid_byte(text);
        if (invalid != std::string_view::npos) {
            const bool is_nul = text[invalid] == '\0';
            return stop(begin_ + invalid, is_nul ? "there is a NUL byte in the text" : "this is not UTF-8",
                        is_nul ? "is this a text file?" : "save the file as UTF-8");
        }
        writer_.reserve(text.size() / kTypicalBytesPerNode + 4);
        return text.starts_with(kByteOrderMark) ? begin_ + kByteOrderMark.size() : begin_;
    }

    /// Returns the document if no error was reported.
    Result<Document> result() {
        if (failed_) return Status::error("the text has errors; the diagnostics say where");
        tokens_.finish();
        return writer_.finish();
    }

    const char* open(Code code, const char* p) {
        if (writer_.depth() >= options_.max_depth)
            return stop(p, concat("lists and mappings are nested deeper than ", options_.max_depth, " levels"),
                        "flatten the data");
        writer_.open(code, at(p));
        return p + 1;
    }

    SHOAL_INLINE const char* close(const char* p) {
        writer_.close();
        note(TokenKind::kClose, p, p + 1);
        return p + 1;
    }

    SHOAL_INLINE void note(TokenKind kind, const char* begin, const char* end, bool is_unmarked = false) {
        if (SHOAL_UNLIKELY(tokens_.is_wanted())) keep_token(kind, begin, end, is_unmarked);
    }
    /// Records the token of a value that begins at `p` and returns `after`, the position to continue from.
    SHOAL_INLINE const char* note_value(const char* p, const char* after) {
        if (SHOAL_UNLIKELY(tokens_.is_wanted()) && after != nullptr)
            keep_token(*p == '{' || *p == '[' ? TokenKind::kOpen : TokenKind::kScalar, p, after, false);
        return after;
    }
    SHOAL_NOINLINE void keep_token(TokenKind kind, const char* begin, const char* end, bool is_unmarked) {
        tokens_.add({.kind = kind,
                     .is_unmarked = is_unmarked,
                     .begin = at(begin).offset,
                     .end = at(end).offset,
                     .value = at(begin).offset});
    }

    /// Adds a key that ends at `end`, and reports a duplicate.
    void add_key(std::string_view key, const char* p, const char* end) {
        note(TokenKind::kKey, p, end);
        const std::uint32_t same = writer_.add_key(key, at(p));
        if (same == NodeWriter::kNoNode || lost_) return;
        error(p, concat("the key ", quoted(key), " is defined twice"), "remove or rename one")
            .note(writer_[same].position(), "first defined here");
    }

    /// Describes the innermost list or mapping, as in "the mapping that begins in line 12".
    std::string container_text() const {
        return concat("the ", writer_.in_mapping() ? "mapping" : "list", " that begins in line ",
                      diagnostics_.locate(writer_.container().position()).line);
    }

    /// If the innermost list or mapping begins on a different line, adds a note that shows where.
    void note_container(Diagnostic& diagnostic, const char* p) const {
        if (writer_.depth() == 0) return;
        const SourcePosition begin = writer_.container().position();
        if (diagnostics_.locate(begin).line == diagnostics_.locate(at(p)).line) return;
        diagnostic.note(begin, concat("it is inside ", container_text(), "; is that closed?"));
    }

    /// Reports that the innermost list or mapping is not closed. Adds a note about a nested list or mapping that may
    /// lack its bracket.
    void report_unclosed() {
        const bool is_mapping = writer_.in_mapping();
        const char* const p = begin_ + writer_.container().offset;
        note_suspect(error(p, concat("the ", is_mapping ? "mapping" : "list", " that opens here is never closed"),
                           concat("add \"", is_mapping ? '}' : ']', "\"")));
    }

    /// Finds a nested list or mapping that may lack its bracket. A missing bracket is noticed only at the end of the
    /// text, so the indentation of the brackets is compared.
    void note_suspect(Diagnostic& diagnostic) const {
        const std::string_view text = diagnostics_.text(file_);
        std::vector<TextToken> tokens;
        ReadOptions options = options_;
        if (options.tokens == nullptr) {
            options.tokens = &tokens;
            Diagnostics unused;
            const auto read = dialect_ == Dialect::kJson ? read_json : read_sjson;
            static_cast<void>(read(unused.refer_file("", text), unused, options));
        }
        const auto [open, close] = find_misplaced(*options.tokens, text);
        if (close.offset == 0 || open.offset == writer_.container().offset) return;
        const SourcePosition begin{file_, open.offset};
        diagnostic.note(begin,
                        concat("is the ", text[open.offset] == '{' ? "mapping" : "list", " that begins in line ",
                               diagnostics_.locate(begin).line, " closed? The bracket in line ",
                               diagnostics_.locate({file_, close.offset}).line, ", which closes it, is indented less"));
    }

    const char* find_closing_quote(const char* open) {
        for (const char* p = open + 1;;) {
            p = find_string_stop(p, end_);
            if (p >= end_ || *p == '\n' || *p == '\r') break;
            if (*p == '"') return p;
            if (*p == '\\') {
                p += p + 1 < end_ && p[1] != '\n' && p[1] != '\r' ? 2 : 1;
                continue;
            }
            if (dialect_ == Dialect::kJson || *p != '\t')
                error(p, concat("there is a control character in this string: ", sign_at(p)), "write it as \\u00XX");
            ++p;
        }
        const bool is_json = dialect_ == Dialect::kJson;
        error(open, "the string that opens here is not closed on its line",
              is_json ? "add a quote, or write line ends as \\n"
                      : "add a quote, or use \"\"\" for text of several lines");
        lost_ = true;
        return nullptr;
    }

    const char* read_escaped(const char* open, std::string_view& text) {
        const char* const end = find_closing_quote(open);
        if (end == nullptr) {  // not closed, so reading continues on the next line
            const void* const line_end = std::memchr(open, '\n', static_cast<std::size_t>(end_ - open));
            return line_end == nullptr ? end_ : static_cast<const char*>(line_end);
        }
        // An escape is never shorter than the character that it encodes.
        char* const room = writer_.text_room(static_cast<std::size_t>(end - open - 1));
        char* out = room;
        for (const char* p = open + 1; p < end;) {
            if (*p == '\\')
                p = read_escape(p, end, out);
            else
                *out++ = *p++;
        }
        text = {room, static_cast<std::size_t>(out - room)};
        writer_.keep_text(text.size());
        return end + 1;
    }

    const char* read_escape(const char* p, const char* end, char*& out) {
        constexpr std::string_view kLetters = "\"\\/bfnrt";
        constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
        if (p[1] == 'u') return read_unicode_escape(p, end, out);
        const std::size_t i = kLetters.find(p[1]);
        if (i != std::string_view::npos) {
            *out++ = kMeanings[i];
            return p + 2;
        }
        const std::string_view rest(p + 1, static_cast<std::size_t>(end - p - 1));
        const std::string_view escape(p, 1 + decode_utf8(rest).num_bytes);
        error(p, concat(quoted(escape), " is not an escape sequence"), "write \\\\ for a backslash").underline(2);
        return p + 2;
    }

    const char* read_unicode_escape(const char* p, const char* end, char*& out) {
        const int first = read_hex4(p + 2, end);
        if (first < 0) {
            error(p, "\\u needs four hexadecimal digits", "write it like \\u00E9").underline(2);
            return p + 2;
        }
        char32_t value = static_cast<char32_t>(first);
        const char* after = p + 6;
        if (value >= 0xD800 && value < 0xDC00 && end - after >= 2 && after[0] == '\\' && after[1] == 'u') {
            const int second = read_hex4(after + 2, end);
            if (second >= 0xDC00 && second < 0xE000) {
                value = 0x10000 + ((value - 0xD800) << 10) + (static_cast<char32_t>(second) - 0xDC00);
                after += 6;
            }
        }
        if (value >= 0xD800 && value < 0xE000) {
            error(p, "this is half of a surrogate pair", "write the character itself, or both halves").underline(6);
            return after;
        }
        out += encode_utf8(value, out);
        return after;
    }

    const char* read_number(const char* p) {
        const ParsedNumber parsed = parse_number(p, end_);
        const bool goes_on = parsed.end < end_ && !is_class(*parsed.end, kWordEnd) && !word_at(parsed.end).empty();
        if (SHOAL_UNLIKELY(parsed.form == NumberForm::kMalformed || goes_on)) return refuse_number(p);
        switch (parsed.form) {
            case NumberForm::kInteger:
                writer_.add(Code::kInteger, at(p)).integer = parsed.integer;
                break;
            case NumberForm::kLargeInteger:
                writer_.add(Code::kLargeInteger, at(p)).large_integer = parsed.large_integer;
                break;
            case NumberForm::kDouble:
                writer_.add(Code::kNumber, at(p)).number = parsed.number;
                break;
            default:
                writer_.add(Code::kNull, at(p));
                error(p, concat("the number ", quoted(word_at(p)), " is too large"), "the largest is about 1.8e308");
        }
        return parsed.end;
    }

    const char* refuse_number(const char* p) {
        const std::string_view word = word_at(p);
        const bool has_leading_zero = word.size() > 1 && word[0] == '0' && word[1] >= '0' && word[1] <= '9';
        const bool has_bare_point =
            word.ends_with('.') && word.find_first_not_of("-0123456789.") == std::string_view::npos;
        error(p, concat(quoted(word), " is not a number"),
              is_not_finite(word) ? kFiniteHint.data()
              : has_leading_zero  ? "leave out the leading zero"
              : has_bare_point    ? "a decimal point needs a digit after it"
                                  : "put it in quotes if it is a string");
        writer_.add(Code::kNull, at(p));
        return word.data() + word.size();
    }

    /// Adds true, false or null, if the word is one of them.
    bool add_literal(std::string_view word, const char* p) {
        if (word == "true")
            writer_.add(Code::kBool, at(p)).boolean = true;
        else if (word == "false")
            writer_.add(Code::kBool, at(p)).boolean = false;
        else if (word == "null")
            writer_.add(Code::kNull, at(p));
        else
            return false;
        return true;
    }

    /// Reports a word that is not a value, and adds null in its place.
    const char* refuse_word(std::string_view word, const char* p) {
        writer_.add(Code::kNull, at(p));
        if (word.empty()) {
            error(p, concat("expected a value, found ", sign_at(p)));
            return p + 1;
        }
        const std::string shown = quoted(word);
        error(p, concat(shown, " is not a value"),
              is_not_finite(word) ? std::string(kFiniteHint)
              : word[0] == '+' || word[0] == '.'
                  ? "a number starts with a digit or a minus sign"
                  : concat("expected a number, true, false, null, a list, a mapping, or a string such as ", shown));
        return p + word.size();
    }

    std::string_view word_at(const char* p) const {
        const char* end = p;
        while (end < end_ && !is_class(*end, kWordEnd)) {
            if (*end == '/' && end + 1 < end_ && (end[1] == '/' || end[1] == '*')) break;
            ++end;
        }
        return {p, static_cast<std::size_t>(end - p)};
    }

    /// Returns the code point at `p` in quotes, for messages.
    std::string sign_at(const char* p) const {
        if (p >= end_) return "the end of the text";
        const std::string_view rest(p, static_cast<std::size_t>(end_ - p));
        return quoted(rest.substr(0, decode_utf8(rest).num_bytes));
    }

    SourcePosition at(const char* p) const { return {file_, static_cast<std::uint32_t>(p - begin_)}; }

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

    std::uint32_t file_;
    Diagnostics& diagnostics_;
    ReadOptions options_;
    Dialect dialect_;
    const char* begin_;
    const char* end_;
    TokenList<GapSyntax> tokens_;
    NodeWriter writer_;
    bool failed_ = false;
    bool lost_ = false;

private:
};

// --- SJSON -----------------------------------------------------------------------------------------------------------

class SjsonReader : public Reader {
public:
    SjsonReader(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options)
        : Reader(file, diagnostics, options, Dialect::kSjson) {}

    Result<Document> read() {
        read_text(check_text());
        return result();
    }

private:
    void read_text(const char* p) {
        if (p == nullptr) return;
        p = skip_space(p);
        if (p != nullptr) p = read_root(p);
        while (p != nullptr) {
            p = skip_space(p);
            if (p == nullptr) return;
            if (p == end_) return reach_end();
            if (writer_.depth() == 0) {
                if (!lost_)
                    error(p, concat("expected the end of the text, found ", sign_at(p)),
                          "a text is one value, or the members of a mapping");
                return;
            }
            p = writer_.in_mapping() ? read_member(p) : read_element(p);
        }
    }

    const char* read_root(const char* p) {
        if (p < end_ && (*p == '{' || *p == '[' || is_scalar_root(p))) return read_value(p);
        has_open_root_ = true;
        note(TokenKind::kOpen, p, p, true);
        return open(Code::kMapping, p) == nullptr ? nullptr : p;
    }

    /// Returns whether the text is a single scalar.
    bool is_scalar_root(const char* p) {
        if (is_verbatim(p)) return true;
        const char* after = p;
        if (*p == '"') {
            for (++after; after < end_ && *after != '"' && *after != '\n'; ++after)
                if (*after == '\\') ++after;
            if (after >= end_ || *after != '"') return false;
            ++after;
        } else {
            const std::string_view word = word_at(p);
            const bool is_number = is_class(*p, kNumberStart);
            if (!is_number && word != "true" && word != "false" && word != "null") return false;
            after += word.size();
        }
        return skip_space(after) == end_;
    }

    void reach_end() {
        if (at_open_root()) {
            writer_.close();
            note(TokenKind::kClose, end_, end_, true);
        }
        if (writer_.depth() > 0 && !lost_) report_unclosed();
    }

    const char* skip_comment(const char* p) {
        const char* const after = find_comment_end(p, end_);
        if (after != nullptr) return after;
        if (!lost_) error(p, "the comment that opens here is never closed", "add \"*/\"").underline(2);
        lost_ = true;
        return nullptr;
    }

    const char* read_element(const char* p) {
        if (*p == ']') return Reader::close(p);
        if (*p == '}') return close_wrongly(p);
        if (SHOAL_LIKELY(*p != '=' && *p != ':')) return read_value(p);
        if (!lost_)
            error(p, concat("found ", sign_at(p), " in a list"),
                  "close the list with \"]\" first, or put key and value in braces")
                .note(writer_.container().position(), "the list opens here");
        lost_ = true;
        return p + 1;
    }

    const char* read_member(const char* p) {
        if (*p == '}') return close(p);
        if (*p == ']') return close_wrongly(p);
        const char* const key_end = read_key(p);
        if (key_end == nullptr || key_end == p) return key_end == p ? p + 1 : nullptr;
        p = skip_space(key_end);
        if (p == nullptr) return nullptr;
        if (SHOAL_UNLIKELY(!is_sign(p, '=', ':'))) return go_on_without_equals(key_end, p);
        p = skip_space(p + 1);
        return p == nullptr ? nullptr : read_member_value(p);
    }

    /// Reads a key and adds it. Returns `p` if there is no key.
    const char* read_key(const char* p) {
        std::string_view key;
        const char* after = p;
        if (*p == '"' && !is_verbatim(p)) {
            after = read_quoted(p, key);
        } else if (*p != '{' && *p != '[' && *p != '"') {
            after = find_class(p, end_, kKeyEnd);
            key = {p, static_cast<std::size_t>(after - p)};
        }
        if (after != p) {
            add_key(key, p, after);
            return after;
        }
        if (!lost_) {
            Diagnostic& wrong =
                error(p, concat("expected a key, found ", sign_at(p)), "write key = value").underline(1);
            if (!at_open_root()) note_container(wrong, p);
        }
        lost_ = true;
        return p;
    }

    const char* read_member_value(const char* p) {
        while (SHOAL_UNLIKELY(is_sign(p, '=', ':'))) {
            if (!lost_) error(p, concat("expected a value, found ", sign_at(p)), "remove it");
            p = skip_space(p + 1);
            if (p == nullptr) return nullptr;
        }
        if (SHOAL_LIKELY(p < end_ && *p != '}' && *p != ']')) return read_value(p);
        report_missing_value();
        return p;
    }

    /// Reports a key without "=". If a value follows on the same line, reads it as the value of the key. Otherwise,
    /// adds null as the value.
    const char* go_on_without_equals(const char* key_end, const char* p) {
        report_at_last_key("expected \"=\" after the key ", "write key = value");
        // The bracket in a key such as `a{` was probably meant to open a mapping.
        if (writer_.last().string().find_first_of("{}[]\"") != std::string_view::npos) lost_ = true;
        const bool same_line = std::memchr(key_end, '\n', static_cast<std::size_t>(p - key_end)) == nullptr;
        const bool has_value = p < end_ && *p != '}' && *p != ']' && (same_line || *p == '{' || *p == '[');
        const char* const next = has_value ? skip_space(p + word_at(p).size()) : p;
        if (next == nullptr) return nullptr;
        if (has_value && !is_sign(next, '=', ':')) return read_value(p);
        writer_.add(Code::kNull, at(p));
        return p;
    }

    const char* read_value(const char* p) { return note_value(p, read_value_at(p)); }
    SHOAL_INLINED const char* read_value_at(const char* p) {
        if (is_class(*p, kNumberStart)) return read_number(p);
        switch (*p) {
            case '{':
                return open(Code::kMapping, p);
            case '[':
                return open(Code::kList, p);
            case '"':
                return is_verbatim(p) ? read_verbatim(p) : read_string(p);
            default:
                return read_word(p);
        }
    }

    const char* read_string(const char* p) {
        std::string_view text;
        const char* const after = read_quoted(p, text);
        add_string(text, p);
        return after;
    }

    /// Reads """any text""". In a run of more than three quotes, the last three close the string. All line ends become
    /// \n.
    const char* read_verbatim(const char* p) {
        const std::string_view rest(p + 3, static_cast<std::size_t>(end_ - p - 3));
        std::size_t length = rest.find("\"\"\"");
        if (length == std::string_view::npos) {
            if (!lost_) error(p, "the text that opens here is never closed", "add \"\"\"").underline(3);
            lost_ = true;
            return nullptr;
        }
        while (length + 3 < rest.size() && rest[length + 3] == '"') ++length;
        add_string(without_carriage_returns(rest.substr(0, length)), p);
        return rest.data() + length + 3;
    }

    /// Returns the string with each \r\n replaced by \n.
    std::string_view without_carriage_returns(std::string_view text) {
        if (SHOAL_LIKELY(text.find("\r\n") == std::string_view::npos)) return text;
        char* const room = writer_.text_room(text.size());
        char* out = room;
        for (std::size_t i = 0; i < text.size(); ++i)
            if (!text.substr(i).starts_with("\r\n")) *out++ = text[i];
        const std::string_view kept(room, static_cast<std::size_t>(out - room));
        writer_.keep_text(kept.size());
        return kept;
    }

    const char* read_word(const char* p) {
        const std::string_view word = word_at(p);
        const char* const after = p + word.size();
        if (add_literal(word, p)) return after;
        const char* const next = skip_space(after);
        if (next == nullptr) return nullptr;
        if (!word.empty() && options_.bare_texts && !is_sign(next, '=', ':')) {
            add_string(word, p);
            return after;
        }
        if (word.empty() || !is_sign(next, '=', ':')) return refuse_word(word, p);
        // The word is a key, so something is missing before it.
        if (!writer_.in_mapping()) return end_list_before_key(p);
        report_missing_value();
        return p;
    }

    const char* close(const char* p) {
        if (SHOAL_LIKELY(!at_open_root())) return Reader::close(p);
        if (!lost_) error(p, "\"}\" closes nothing", "remove it, or add the \"{\" that it belongs to");
        lost_ = true;
        return p + 1;
    }

    /// Handles a bracket of the wrong kind: either an earlier bracket is missing, or this one is mistyped.
    const char* close_wrongly(const char* p) {
        const bool is_mapping = writer_.in_mapping();
        if (at_open_root()) {
            if (!lost_) error(p, "\"]\" closes nothing", "remove it, or add the \"[\" that it belongs to");
        } else {
            if (!lost_)
                error(p, concat("expected \"", is_mapping ? '}' : ']', "\", found ", sign_at(p)),
                      concat("close ", container_text(), " first"))
                    .note(writer_.container().position(),
                          concat("the ", is_mapping ? "mapping" : "list", " opens here"));
            writer_.close();
            const bool fits_outside = writer_.depth() > 0 && !at_open_root() && writer_.in_mapping() != is_mapping;
            if (fits_outside) writer_.close();
        }
        lost_ = true;
        return p + 1;
    }

    /// Handles a key in a list that was probably not closed. If the list is inside a mapping, continues in the mapping.
    const char* end_list_before_key(const char* p) {
        const std::string_view word = word_at(p);
        if (!lost_)
            error(p, concat("found the key ", quoted(word), " in a list"), "close the list with \"]\" first")
                .note(writer_.container().position(), "the list opens here");
        lost_ = true;
        writer_.close();
        return writer_.depth() == 0 ? nullptr : p;
    }

    void report_at_last_key(std::string_view what, std::string_view hint) {
        if (lost_) return;
        const auto& key = writer_.last();
        error(begin_ + key.offset, concat(what, quoted(key.string())), std::string(hint));
    }

    /// Reports that the last key has no value, and adds null as its value.
    void report_missing_value() {
        report_at_last_key("expected a value for the key ", "write null if it has none");
        writer_.add(Code::kNull, writer_.last().position());
    }

    const char* skip_space(const char* p) {
        for (;;) {
            p = skip_space_runs(p, end_, kSjsonSpace);
            if (SHOAL_LIKELY(p == end_ || *p != '/')) return p;
            const char* const after = skip_comment(p);
            if (after == p || after == nullptr) return after;
            p = after;
        }
    }

    bool is_sign(const char* p, char a, char b) const { return p < end_ && (*p == a || *p == b); }
    bool is_verbatim(const char* p) const { return end_ - p >= 3 && p[0] == '"' && p[1] == '"' && p[2] == '"'; }
    bool at_open_root() const { return has_open_root_ && writer_.depth() == 1; }

    bool has_open_root_ = false;  // the root is a mapping without braces
};

// --- JSON ------------------------------------------------------------------------------------------------------------

class JsonReader : public Reader {
public:
    JsonReader(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options)
        : Reader(file, diagnostics, options, Dialect::kJson) {}

    Result<Document> read() {
        read_text(check_text());
        return result();
    }

private:
    void read_text(const char* p) {
        if (p == nullptr) return;
        p = read_value(skip_space(p));
        while (p != nullptr && writer_.depth() > 0 && !lost_) p = read_next(skip_space(p));
        if (p == nullptr || lost_) return;
        p = skip_space(p);
        if (p != end_) unexpected(p, "the end of the text", "a text is one value");
    }

    const char* unexpected(const char* p, std::string_view expected, std::string_view hint = {}) {
        const bool is_comment = is_sign(p, '/') && (is_sign(p + 1, '/') || is_sign(p + 1, '*'));
        Diagnostic& wrong = error(p, concat("expected ", expected, ", found ", sign_at(p)),
                                  std::string(is_comment ? "JSON has no comments" : hint))
                                .underline(1);
        if (!is_comment) note_container(wrong, p);
        return nullptr;
    }

    /// Reads the end of a list or mapping, or its next child.
    const char* read_next(const char* p) {
        const char closing = writer_.in_mapping() ? '}' : ']';
        if (p == end_) {
            report_unclosed();
            return nullptr;
        }
        if (*p == closing) {
            just_opened_ = false;
            return close(p);
        }
        if (!just_opened_) p = expect_more(p, closing);
        just_opened_ = false;
        if (p != nullptr && writer_.in_mapping()) p = read_key(p);
        return p == nullptr ? nullptr : read_value(p);
    }

    /// Reads the comma before the next child.
    const char* expect_more(const char* p, char closing) {
        if (*p != ',') return unexpected(p, concat("\",\" or \"", closing, "\""));
        const char* const next = skip_space(p + 1);
        if (!is_sign(next, closing)) return next;
        return stop(p, concat("there is a comma before \"", closing, "\""), "remove it");
    }

    const char* read_key(const char* p) {
        if (!is_sign(p, '"')) return unexpected(p, "a key", "write keys in quotes");
        std::string_view key;
        const char* const after = read_quoted(p, key);
        if (lost_) return nullptr;
        add_key(key, p, after);
        p = skip_space(after);
        if (!is_sign(p, ':')) return unexpected(p, "\":\"");
        return skip_space(p + 1);
    }

    const char* read_value(const char* p) {
        if (SHOAL_UNLIKELY(p == end_)) return unexpected(p, "a value");
        return note_value(p, read_value_at(p));
    }
    const char* read_value_at(const char* p) {
        if (is_class(*p, kNumberStart)) return read_number(p);
        switch (*p) {
            case '{':
            case '[':
                just_opened_ = true;
                return open(*p == '{' ? Code::kMapping : Code::kList, p);
            case '"': {
                std::string_view text;
                const char* const after = read_quoted(p, text);
                add_string(text, p);
                return after;
            }
            default:
                return read_word(p);
        }
    }

    const char* read_word(const char* p) {
        const std::string_view word = word_at(p);
        if (word.empty()) return unexpected(p, "a value");
        return add_literal(word, p) ? p + word.size() : refuse_word(word, p);
    }

    const char* skip_space(const char* p) const { return skip_space_runs(p, end_, kJsonSpace); }
    bool is_sign(const char* p, char sign) const { return p < end_ && *p == sign; }

    bool just_opened_ = false;
};

}  // namespace

Result<Document> read_sjson(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options) {
    return SjsonReader(file, diagnostics, options).read();
}

Result<Document> read_json(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options) {
    return JsonReader(file, diagnostics, options).read();
}

}  // namespace shoal
