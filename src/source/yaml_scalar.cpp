#include "shoal/source/yaml_scalar.h"

#include "shoal/document/scalar_text.h"

#include <charconv>
#include <limits>
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

YamlScalar of_integer(std::uint64_t magnitude, bool negative) {
    constexpr std::uint64_t kMostPositive = std::numeric_limits<std::int64_t>::max();
    YamlScalar result = plain(YamlMeaning::kInteger);
    if (magnitude <= kMostPositive + (negative ? 1 : 0)) {
        result.integer = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
        return result;
    }
    result.meaning = YamlMeaning::kLargeInteger;
    result.large_integer = magnitude;
    return result;
}

/// Reads the digits after 0x or 0o.
YamlScalar read_based(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (digits.empty() || end != digits.data() + digits.size()) return plain(YamlMeaning::kString);
    return error == std::errc() ? of_integer(value, false) : plain(YamlMeaning::kTooLarge);
}

/// Returns whether a number that no double can hold is too large rather than too small. `text` has no sign.
bool is_too_large(std::string_view text) {
    const std::size_t e = text.find_first_of("eE");
    const std::size_t num_whole = text.substr(0, text.find_first_of(".eE")).size();
    std::int64_t exponent = 0;
    if (e != std::string_view::npos) {
        const bool negative = text[e + 1] == '-';
        const std::size_t digits = e + (text[e + 1] == '-' || text[e + 1] == '+' ? 2 : 1);
        if (std::from_chars(text.data() + digits, text.data() + text.size(), exponent).ec != std::errc())
            return !negative;
        exponent = std::min<std::int64_t>(exponent, 1'000'000'000'000);  // far beyond any length of a text
        exponent = negative ? -exponent : exponent;
    }
    // Leading zeros are refused elsewhere, so the first digit that counts is the first one, or stands behind the point.
    if (text[0] != '0' && text[0] != '.') return static_cast<std::int64_t>(num_whole) + exponent > 0;
    std::int64_t num_zeros = 0;
    for (std::size_t i = text.find('.'); i < text.size() && ++i < text.size() && text[i] == '0';) ++num_zeros;
    return exponent > num_zeros;
}

YamlScalar of_double(std::string_view text, bool negative) {
    YamlScalar result = plain(YamlMeaning::kNumber);
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc::result_out_of_range) {
        if (is_too_large(text)) return plain(YamlMeaning::kTooLarge);
        value = 0;
    }
    result.number = negative ? -value : value;
    return result;
}

/// Reads what begins with a digit, a sign or a point; anything else in it makes it a string.
YamlScalar read_number(std::string_view text) {
    const bool negative = text[0] == '-';
    if (negative || text[0] == '+') text.remove_prefix(1);
    constexpr std::string_view kInfinities[] = {".inf", ".Inf", ".INF"};
    if (is_word_of(text, kInfinities)) return plain(YamlMeaning::kNotFinite);
    const std::size_t whole = skip_digits(text, 0);
    std::size_t at = whole;
    bool is_integer = true;
    std::size_t num_digits = whole;
    if (at < text.size() && text[at] == '.') {
        is_integer = false;
        const std::size_t end = skip_digits(text, at + 1);
        num_digits += end - at - 1;
        at = end;
    }
    if (num_digits == 0) return plain(YamlMeaning::kString);
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        is_integer = false;
        const std::size_t digits =
            at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+') ? at + 2 : at + 1;
        at = skip_digits(text, digits);
        if (at == digits) return plain(YamlMeaning::kString);
    }
    if (at != text.size()) return plain(YamlMeaning::kString);
    if (whole > 1 && text[0] == '0') return plain(YamlMeaning::kLeadingZero);
    if (!is_integer) return of_double(text, negative);
    std::uint64_t magnitude = 0;
    const bool fits = std::from_chars(text.data(), text.data() + text.size(), magnitude).ec == std::errc();
    const bool is_too_negative = negative && magnitude > std::uint64_t(1) << 63;
    return fits && !is_too_negative ? of_integer(magnitude, negative) : of_double(text, negative);
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
