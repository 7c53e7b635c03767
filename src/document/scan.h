#pragma once
// The bytes that end tokens, and fast searches for them.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace shoal {

enum ByteClass : std::uint8_t {
    kJsonSpace = 1,     ///< space, tab, line ends
    kSjsonSpace = 2,    ///< white space and commas
    kKeyEnd = 4,        ///< ends a key without quotes
    kWordEnd = 8,       ///< ends a number or a literal
    kStringStop = 16,   ///< quote, backslash, control characters
    kNumberStart = 32,  ///< a digit or minus
};

constexpr std::array<std::uint8_t, 256> make_byte_classes() {
    std::array<std::uint8_t, 256> classes{};
    const auto mark = [&](std::string_view bytes, int bits) {
        for (const char c : bytes) classes[static_cast<unsigned char>(c)] |= static_cast<std::uint8_t>(bits);
    };
    for (unsigned c = 0; c < 0x20; ++c) classes[c] = kKeyEnd | kWordEnd | kStringStop;
    mark(" \t\r\n", kJsonSpace | kSjsonSpace | kKeyEnd | kWordEnd);
    mark(",", kSjsonSpace | kKeyEnd | kWordEnd);
    mark("=:", kKeyEnd | kWordEnd);
    mark("[]{}\"", kWordEnd);
    mark("\"\\", kStringStop);
    mark("-0123456789", kNumberStart);
    return classes;
}

inline constexpr std::array<std::uint8_t, 256> kByteClasses = make_byte_classes();

SHOAL_INLINE bool is_class(char c, int bits) { return (kByteClasses[static_cast<unsigned char>(c)] & bits) != 0; }

/// Returns the first byte that is in one of the classes, or `end`.
SHOAL_INLINE const char* find_class(const char* p, const char* end, int bits) {
    while (p < end && !is_class(*p, bits)) ++p;
    return p;
}

SHOAL_INLINE const char* skip_class(const char* p, const char* end, int bits) {
    while (p < end && is_class(*p, bits)) ++p;
    return p;
}

/// Skips white space. Indentation is skipped eight bytes at a time.
SHOAL_INLINE const char* skip_space_runs(const char* p, const char* end, int bits) {
    while (p < end && is_class(*p, bits)) {
        const bool is_indented = *p == '\n' && end - p > 8 && (p[1] == ' ' || p[1] == '\t');
        if (std::endian::native != std::endian::little || !is_indented) {
            ++p;
            continue;
        }
        std::uint64_t word, others = 0;
        const std::uint64_t indent = 0x0101010101010101 * static_cast<unsigned char>(p[1]);
        for (++p; others == 0 && end - p >= 8; p += others == 0 ? 8 : std::countr_zero(others) >> 3) {
            std::memcpy(&word, p, 8);
            others = word ^ indent;
        }
    }
    return p;
}

/// Returns the end of the SJSON comment that begins at `p`, excluding the line end. Returns `p` if there is no comment,
/// or nullptr if the comment is not closed.
inline const char* find_comment_end(const char* p, const char* end) {
    const char second = end - p > 1 && *p == '/' ? p[1] : '\0';
    if (second == '/') {
        const void* const line_end = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
        return line_end == nullptr ? end : static_cast<const char*>(line_end);
    }
    if (second != '*') return p;
    const std::string_view rest(p + 2, static_cast<std::size_t>(end - p - 2));
    const std::size_t close = rest.find("*/");
    return close == std::string_view::npos ? nullptr : rest.data() + close + 2;
}

/// Returns the first quote, backslash or control character, or `end`. Reads eight bytes at a time.
inline const char* find_string_stop(const char* p, const char* end) {
    constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
    for (std::uint64_t word; end - p >= 8; p += 8) {
        std::memcpy(&word, p, 8);
        const std::uint64_t quote = word ^ (kOnes * '"'), backslash = word ^ (kOnes * '\\');
        // Tests each byte for a quote, a backslash or a control character. Bytes outside ASCII never match. A false
        // positive only costs a run of the slow loop.
        const std::uint64_t found = ((quote - kOnes) | (backslash - kOnes) | (word - kOnes * 0x20)) & ~word & kHighs;
        if (found == 0) continue;
        if constexpr (std::endian::native == std::endian::little) return p + (std::countr_zero(found) >> 3);
        break;
    }
    return find_class(p, end, kStringStop);
}

}  // namespace shoal
