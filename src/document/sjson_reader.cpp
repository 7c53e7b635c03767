#include "document/reader.h"
#include "shoal/base/text.h"
#include "shoal/document/sjson.h"

#include <cstring>

namespace shoal {
namespace {

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
        return open(Code::kMapping, p) == nullptr ? nullptr : p;
    }

    /// Returns whether the whole text is one scalar.
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
        if (at_open_root()) writer_.close();
        if (writer_.depth() > 0 && !lost_) report_unclosed();
    }

    const char* skip_comment(const char* p) {
        const char second = p + 1 < end_ ? p[1] : '\0';
        if (second == '/') {
            const void* const line_end = std::memchr(p, '\n', static_cast<std::size_t>(end_ - p));
            return line_end == nullptr ? end_ : static_cast<const char*>(line_end);
        }
        if (second != '*') return p;
        const std::string_view rest(p + 2, static_cast<std::size_t>(end_ - p - 2));
        const std::size_t close = rest.find("*/");
        if (close != std::string_view::npos) return rest.data() + close + 2;
        if (!lost_) error(p, "the comment that opens here is never closed", "add \"*/\"").underline(2);
        lost_ = true;
        return nullptr;
    }

    const char* read_element(const char* p) {
        if (*p == ']') return close(p);
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
            add_key(key, p);
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

    /// A key without "=". What follows on its line is taken as its value, anything else as the next key.
    const char* go_on_without_equals(const char* key_end, const char* p) {
        report_at_last_key("expected \"=\" after the key ", "write key = value");
        // A key such as `a{` contains a bracket that was meant to open a mapping.
        if (writer_.last().string().find_first_of("{}[]\"") != std::string_view::npos) lost_ = true;
        const bool same_line = std::memchr(key_end, '\n', static_cast<std::size_t>(p - key_end)) == nullptr;
        const bool has_value = p < end_ && *p != '}' && *p != ']' && (same_line || *p == '{' || *p == '[');
        const char* const next = has_value ? skip_space(p + word_at(p).size()) : p;
        if (next == nullptr) return nullptr;
        if (has_value && !is_sign(next, '=', ':')) return read_value(p);
        writer_.add(Code::kNull, at(p));
        return p;
    }

    const char* read_value(const char* p) {
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

    /// Reads """any text""". Of a run of more than three quotes, the last three close the text. A line end is \n,
    /// whichever the file has.
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

    /// Returns a text with \n in place of each \r\n.
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
        if (SHOAL_LIKELY(!at_open_root())) {
            writer_.close();
            return p + 1;
        }
        if (!lost_) error(p, "\"}\" closes nothing", "remove it, or add the \"{\" that it belongs to");
        lost_ = true;
        return p + 1;
    }

    /// A bracket of the wrong kind: either the bracket before it is missing, or this one is a typing mistake.
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

    /// A key in a list, which was probably not closed. Goes on after the list if a mapping contains it.
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

}  // namespace

Result<Document> read_sjson(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options) {
    return SjsonReader(file, diagnostics, options).read();
}

}  // namespace shoal
