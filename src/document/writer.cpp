#include "document/text_stream.h"
#include "shoal/base/text.h"
#include "shoal/document/detail/scalar_text.h"
#include "shoal/document/json.h"
#include "shoal/document/sjson.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escaped(std::string& out, char c) {
    constexpr std::string_view kLetters = "\b\f\n\r\t\"\\";
    constexpr std::string_view kEscapes = "bfnrt\"\\";
    out.push_back('\\');
    const std::size_t i = kLetters.find(c);
    if (i != std::string_view::npos)
        out.push_back(kEscapes[i]);
    else
        out.append("u00").append({"0123456789ABCDEF"[(c >> 4) & 15], "0123456789ABCDEF"[c & 15]});
}

/// The characters that SJSON keys without quotes may contain.
struct PlainCharacters {
    constexpr PlainCharacters() {
        for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-#$."))
            has[static_cast<unsigned char>(c)] = true;
    }
    bool has[256]{};
};
constexpr PlainCharacters kPlainCharacters;

std::string write(const TextStyle& style, Node node) {
    TextStream stream(style);
    stream.node(node);
    return stream.finish();
}

}  // namespace

// --- scalars -------------------------------------------------------------------------------------------------------

void append_number_text(std::string& out, double number) {
    constexpr double kMost = 99'999;  // the shortest form of 100000.0 is 1e+05
    if (number >= -kMost && number <= kMost) {
        const auto whole = static_cast<std::int64_t>(number);
        if (static_cast<double>(whole) == number && (whole != 0 || !std::signbit(number))) {
            append_number(out, whole);
            out.append(".0");
            return;
        }
    }
    const std::size_t begin = out.size();
    append_number(out, number);
    if (out.find_first_of(".e", begin) == std::string::npos) out.append(".0");
}

void append_escaped_text(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const auto escaped = std::find_if(text.begin(), text.end(), needs_escape);
        const auto num_plain = static_cast<std::size_t>(escaped - text.begin());
        out.append(text.substr(0, num_plain));
        if (escaped == text.end()) return;
        append_escaped(out, *escaped);
        text.remove_prefix(num_plain + 1);
    }
}

void append_quoted_text(std::string& out, std::string_view text) {
    out.push_back('"');
    append_escaped_text(out, text);
    out.push_back('"');
}

std::size_t num_code_points(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

bool is_plain_key(std::string_view key) {
    const auto is_plain = [](char c) { return kPlainCharacters.has[static_cast<unsigned char>(c)]; };
    return !key.empty() && std::all_of(key.begin(), key.end(), is_plain);
}

bool is_verbatim_text(std::string_view text) {
    const auto is_odd = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; };
    return text.find('\n') != std::string_view::npos && text.find("\"\"\"") == std::string_view::npos &&
           std::none_of(text.begin(), text.end(), is_odd);
}

// --- styles --------------------------------------------------------------------------------------------------------

const TextStyle kJsonStyle{.indent = ' ',
                           .indent_width = 2,
                           .key_end = ": ",
                           .separator = ",",
                           .inline_separator = ", ",
                           .root_has_braces = true,
                           .is_one_line = false,
                           .is_json = true,
                           .keeps_lines = false};
const TextStyle kSjsonStyle{.indent = '\t',
                            .indent_width = 1,
                            .key_end = " = ",
                            .separator = "",
                            .inline_separator = " ",
                            .root_has_braces = false,
                            .is_one_line = false,
                            .is_json = false,
                            .keeps_lines = true};
const TextStyle kLineStyle{.indent = ' ',
                           .indent_width = 0,
                           .key_end = " = ",
                           .separator = ",",
                           .inline_separator = " ",
                           .root_has_braces = false,
                           .is_one_line = true,
                           .is_json = false,
                           .keeps_lines = false};

std::string write_sjson(Node node) { return write(kSjsonStyle, node); }
std::string write_sjson_line(Node node) { return write(kLineStyle, node); }
std::string write_json(Node node) { return write(kJsonStyle, node); }

}  // namespace shoal
