#include "shoal/source/detail/yaml_scalar.h"

#include "shoal/base/text.h"
#include "shoal/document/detail/number.h"
#include "shoal/document/detail/scalar_text.h"

#include <charconv>
#include <span>

namespace shoal {
namespace {

bool is_word_of(std::string_view text, std::span<const std::string_view> words) {
    for (const std::string_view word : words)
        if (text == word) return true;
    return false;
}

YamlScalar plain(YamlMeaning meaning) { return {meaning, {}}; }

std::size_t skip_digits(std::string_view text, std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
}

/// Reads the digits after 0x or 0o.
YamlScalar read_based(std::string_view digits, int base) {
    YamlScalar result = plain(YamlMeaning::kInteger);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.large_integer, base);
    if (digits.empty() || end != digits.data() + digits.size()) return plain(YamlMeaning::kString);
    if (error != std::errc()) return plain(YamlMeaning::kTooLarge);
    if (result.large_integer >> 63 != 0) result.meaning = YamlMeaning::kLargeInteger;
    return result;
}

/// Reads a number in JSON syntax.
YamlScalar read_json_number(std::string_view text) {
    const ParsedNumber parsed = parse_number(text.data(), text.data() + text.size());
    YamlScalar result = plain(parsed.form == NumberForm::kInteger        ? YamlMeaning::kInteger
                              : parsed.form == NumberForm::kLargeInteger ? YamlMeaning::kLargeInteger
                              : parsed.form == NumberForm::kDouble       ? YamlMeaning::kNumber
                                                                         : YamlMeaning::kTooLarge);
    result.large_integer = parsed.large_integer;
    return result;
}

/// Reads a scalar that begins with a digit, a sign or a point. If it is not a number, it is a string.
YamlScalar read_number(std::string_view text) {
    const std::string_view sign = text[0] == '-' ? "-" : "";
    if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
    constexpr std::string_view kInfinities[] = {".inf", ".Inf", ".INF"};
    if (is_word_of(text, kInfinities)) return plain(YamlMeaning::kNotFinite);
    const std::size_t whole = skip_digits(text, 0);
    const bool has_point = whole < text.size() && text[whole] == '.';
    const std::size_t mantissa = has_point ? skip_digits(text, whole + 1) : whole;
    if (mantissa == (has_point ? 1u : 0u)) return plain(YamlMeaning::kString);
    std::size_t end = mantissa;
    if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
        const std::size_t digits = end + (end + 1 < text.size() && is_one_of(text[end + 1], "+-") ? 2 : 1);
        end = skip_digits(text, digits);
        if (end == digits) return plain(YamlMeaning::kString);
    }
    if (end != text.size()) return plain(YamlMeaning::kString);
    if (whole > 1 && text[0] == '0') return plain(YamlMeaning::kLeadingZero);
    // JSON requires digits on both sides of the point.
    return read_json_number(concat(sign, whole == 0 ? "0" : "", text.substr(0, mantissa),
                                   has_point && mantissa == whole + 1 ? "0" : "", text.substr(mantissa)));
}

}  // namespace

YamlScalar read_yaml_scalar(std::string_view text) {
    constexpr std::string_view kNulls[] = {"~", "null", "Null", "NULL"}, kTrue[] = {"true", "True", "TRUE"},
                               kFalse[] = {"false", "False", "FALSE"}, kNotNumbers[] = {".nan", ".NaN", ".NAN"};
    if (text.empty()) return plain(YamlMeaning::kNull);
    switch (text[0]) {
        case '~':
        case 'n':
        case 'N':
            return plain(is_word_of(text, kNulls) ? YamlMeaning::kNull : YamlMeaning::kString);
        case 't':
        case 'T':
            return plain(is_word_of(text, kTrue) ? YamlMeaning::kTrue : YamlMeaning::kString);
        case 'f':
        case 'F':
            return plain(is_word_of(text, kFalse) ? YamlMeaning::kFalse : YamlMeaning::kString);
        case '.':
            if (is_word_of(text, kNotNumbers)) return plain(YamlMeaning::kNotFinite);
            return read_number(text);
        case '0':
            if (text.starts_with("0x")) return read_based(text.substr(2), 16);
            if (text.starts_with("0o")) return read_based(text.substr(2), 8);
            return read_number(text);
        default:
            return is_digit(text[0]) || text[0] == '-' || text[0] == '+' ? read_number(text)
                                                                         : plain(YamlMeaning::kString);
    }
}

}  // namespace shoal
