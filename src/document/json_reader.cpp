#include "document/reader.h"
#include "shoal/base/text.h"
#include "shoal/document/json.h"

namespace shoal {
namespace {

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
            writer_.close();
            just_opened_ = false;
            return p + 1;
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
        add_key(key, p);
        p = skip_space(after);
        if (!is_sign(p, ':')) return unexpected(p, "\":\"");
        return skip_space(p + 1);
    }

    const char* read_value(const char* p) {
        if (p == end_) return unexpected(p, "a value");
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

Result<Document> read_json(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options) {
    return JsonReader(file, diagnostics, options).read();
}

}  // namespace shoal
