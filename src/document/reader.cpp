#include "document/reader.h"

#include "document/number.h"
#include "document/utf8.h"
#include "shoal/base/text.h"
#include "shoal/document/scalar_text.h"

#include <cstring>
#include <limits>

namespace shoal {

Reader::Reader(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options, Dialect dialect)
    : file_(file),
      diagnostics_(diagnostics),
      options_(options),
      dialect_(dialect),
      begin_(diagnostics.text(file).empty() ? "" : diagnostics.text(file).data()),  // nullptr means stop
      end_(begin_ + diagnostics.text(file).size()) {
    SHOAL_ASSERT(file <= document_detail::kMaxFiles, "too many files in one Diagnostics");
}

Diagnostic& Reader::error(const char* p, std::string message, std::string hint) {
    failed_ = true;
    return diagnostics_.error(at(p), std::move(message), std::move(hint));
}

const char* Reader::stop(const char* p, std::string message, std::string hint) {
    error(p, std::move(message), std::move(hint));
    return nullptr;
}

const char* Reader::check_text() {
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

Result<Document> Reader::result() {
    if (failed_) return Status::error("the text has errors; the diagnostics say where");
    return writer_.finish();
}

const char* Reader::open(Code code, const char* p) {
    if (writer_.depth() >= options_.max_depth)
        return stop(p, concat("lists and mappings are nested deeper than ", options_.max_depth, " levels"),
                    "flatten the data");
    writer_.open(code, at(p));
    return p + 1;
}

void Reader::add_key(std::string_view key, const char* p) {
    const std::uint32_t same = writer_.add_key(key, at(p));
    if (same == NodeWriter::kNoNode || lost_) return;
    error(p, concat("the key ", quoted(key), " is defined twice"), "remove or rename one")
        .note(writer_[same].position(), "first defined here");
}

std::string Reader::container_text() const {
    return concat("the ", writer_.in_mapping() ? "mapping" : "list", " that begins in line ",
                  diagnostics_.locate(writer_.container().position()).line);
}

void Reader::note_container(Diagnostic& diagnostic, const char* p) const {
    if (writer_.depth() == 0) return;
    const SourcePosition begin = writer_.container().position();
    if (diagnostics_.locate(begin).line == diagnostics_.locate(at(p)).line) return;
    diagnostic.note(begin, concat("it is inside ", container_text(), "; is that closed?"));
}

void Reader::report_unclosed() {
    const bool is_mapping = writer_.in_mapping();
    const char* const p = begin_ + writer_.container().offset;
    note_suspect(error(p, concat("the ", is_mapping ? "mapping" : "list", " that opens here is never closed"),
                       concat("add \"", is_mapping ? '}' : ']', "\"")));
}

namespace {

/// Returns the place after a string or comment at `p`, or `p`.
const char* skip_string_or_comment(const char* p, const char* end) {
    const std::string_view rest(p, static_cast<std::size_t>(end - p));
    const auto after = [&](std::string_view close, std::size_t from) {
        const std::size_t found = rest.find(close, from);
        return found == std::string_view::npos ? end : p + found + close.size();
    };
    if (rest.starts_with("\"\"\"")) return after("\"\"\"", 3);
    if (rest.starts_with("/*")) return after("*/", 2);
    if (rest.starts_with("//")) return after("\n", 2) == end ? end : after("\n", 2) - 1;
    if (!rest.starts_with('"')) return p;
    for (++p; p < end && *p != '"' && *p != '\n'; ++p)
        if (*p == '\\' && p + 1 < end) ++p;
    return p < end ? p + 1 : end;
}

/// A bracket, and how far its line is indented.
struct Bracket {
    const char* at = nullptr;
    std::size_t indent = 0;
};

/// Finds the first list or mapping that a bracket on a line of its own closes which is indented less than the line where
/// the list or mapping opens. Returns both; nullptr when there is none.
std::pair<Bracket, Bracket> find_misplaced(const char* p, const char* end) {
    Array<Bracket> open{Owner("document reader")};
    std::size_t indent = 0;
    bool is_first = true;  // on its line
    while (p < end) {
        const char* const after = skip_string_or_comment(p, end);
        if (after != p) {
            is_first = false;
            p = after;
            continue;
        }
        const char c = *p;
        if (c == '{' || c == '[') open.push_back({p, indent});
        if ((c == '}' || c == ']') && !open.empty()) {
            if (is_first && indent < open.back().indent) return {open.back(), {p, indent}};
            open.pop_back();
        }
        const bool is_blank = c == ' ' || c == '\t';
        if (c == '\n')
            indent = 0;
        else if (is_first && is_blank)
            ++indent;
        is_first = c == '\n' || (is_first && is_blank);
        ++p;
    }
    return {};
}

}  // namespace

/// A missing bracket inside is only noticed at the end of the text. Lines that are indented show where it may be.
void Reader::note_suspect(Diagnostic& diagnostic) const {
    const auto [open, close] = find_misplaced(begin_, end_);
    if (open.at == nullptr || open.at == begin_ + writer_.container().offset) return;
    diagnostic.note(at(open.at), concat("is the ", *open.at == '{' ? "mapping" : "list", " that begins in line ",
                                        diagnostics_.locate(at(open.at)).line, " closed? The bracket in line ",
                                        diagnostics_.locate(at(close.at)).line, ", which closes it, is indented less"));
}

const char* Reader::find_closing_quote(const char* open) {
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
          is_json ? "add a quote, or write line ends as \\n" : "add a quote, or use \"\"\" for text of several lines");
    lost_ = true;
    return nullptr;
}

const char* Reader::read_escaped(const char* open, std::string_view& text) {
    const char* const end = find_closing_quote(open);
    if (end == nullptr) {  // continue on the next line
        const void* const line_end = std::memchr(open, '\n', static_cast<std::size_t>(end_ - open));
        return line_end == nullptr ? end_ : static_cast<const char*>(line_end);
    }
    // An escape is never shorter than what it stands for.
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

const char* Reader::read_escape(const char* p, const char* end, char*& out) {
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

namespace {

/// Reads four hexadecimal digits. Returns -1 if there are none.
int read_hex4(const char* p, const char* end) {
    if (end - p < 4) return -1;
    int value = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = p[i];
        const char letter = static_cast<char>(c | 0x20);
        if (c >= '0' && c <= '9')
            value = value << 4 | (c - '0');
        else if (letter >= 'a' && letter <= 'f')
            value = value << 4 | (letter - 'a' + 10);
        else
            return -1;
    }
    return value;
}

}  // namespace

const char* Reader::read_unicode_escape(const char* p, const char* end, char*& out) {
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

const char* Reader::read_number(const char* p) {
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

namespace {

constexpr std::string_view kFiniteHint = "numbers are finite; NaN and infinity cannot be written";

bool is_not_finite(std::string_view word) {
    if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
    std::string lower(word.substr(0, 16));
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    return lower == "nan" || lower == "inf" || lower == "infinity" || lower.starts_with("nan(") ||
           lower.starts_with("1.#");
}

}  // namespace

const char* Reader::refuse_number(const char* p) {
    const std::string_view word = word_at(p);
    const bool has_leading_zero = word.size() > 1 && word[0] == '0' && word[1] >= '0' && word[1] <= '9';
    const bool has_bare_point = word.ends_with('.') && word.find_first_not_of("-0123456789.") == std::string_view::npos;
    error(p, concat(quoted(word), " is not a number"),
          is_not_finite(word) ? kFiniteHint.data()
          : has_leading_zero  ? "leave out the leading zero"
          : has_bare_point    ? "a decimal point needs a digit after it"
                              : "put it in quotes if it is a string");
    writer_.add(Code::kNull, at(p));
    return word.data() + word.size();
}

bool Reader::add_literal(std::string_view word, const char* p) {
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

const char* Reader::refuse_word(std::string_view word, const char* p) {
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

std::string_view Reader::word_at(const char* p) const {
    const char* end = p;
    while (end < end_ && !is_class(*end, kWordEnd)) {
        if (*end == '/' && end + 1 < end_ && (end[1] == '/' || end[1] == '*')) break;
        ++end;
    }
    return {p, static_cast<std::size_t>(end - p)};
}

std::string Reader::sign_at(const char* p) const {
    if (p >= end_) return "the end of the text";
    const std::string_view rest(p, static_cast<std::size_t>(end_ - p));
    return quoted(rest.substr(0, decode_utf8(rest).num_bytes));
}

}  // namespace shoal
