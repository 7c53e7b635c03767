#include "shoal/base/detail/utf8.h"

#include <cstring>

namespace shoal {
namespace {

struct CodePointRange {
    char32_t first, last;
};

template <std::size_t N>
bool is_in(const CodePointRange (&ranges)[N], char32_t c) {
    for (const CodePointRange& range : ranges)
        if (c >= range.first && c <= range.last) return true;
    return false;
}

// C1 controls, direction marks, zero-width characters, line separators and the byte order mark.
constexpr CodePointRange kHidden[] = {{0x7F, 0x9F},     {0xAD, 0xAD},      {0x61C, 0x61C},   {0x180E, 0x180E},
                                      {0x200B, 0x200F}, {0x2028, 0x202E},  {0x2060, 0x206F}, {0xFEFF, 0xFEFF},
                                      {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};
constexpr CodePointRange kCombining[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x1AB0, 0x1AFF},
                                         {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
constexpr CodePointRange kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},  {0x3400, 0x4DBF},
                                    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                                    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                                    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

int append_escape(std::string& out, char letter, char32_t value, int num_digits) {
    out.push_back('\\');
    out.push_back(letter);
    for (int i = num_digits - 1; i >= 0; --i) out.push_back("0123456789ABCDEF"[(value >> (4 * i)) & 15]);
    return num_digits + 2;
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
    constexpr CodePoint kInvalid{kInvalidCodePoint, 1};
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1};
    if (first < 0xC2 || first > 0xF4) return kInvalid;
    const std::uint32_t num_bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (text.size() < num_bytes) return kInvalid;
    char32_t value = first & (0x7F >> num_bytes);
    for (std::uint32_t i = 1; i < num_bytes; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return kInvalid;
        value = value << 6 | (byte(i) & 0x3F);
    }
    const bool overlong = (num_bytes == 3 && value < 0x800) || (num_bytes == 4 && value < 0x10000);
    if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return kInvalid;
    return {value, num_bytes};
}

std::size_t encode_utf8(char32_t c, char* out) {
    if (c < 0x80) {
        out[0] = static_cast<char>(c);
        return 1;
    }
    const std::size_t num_bytes = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    constexpr unsigned char kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (std::size_t i = num_bytes - 1; i > 0; --i, c >>= 6) out[i] = static_cast<char>(0x80 | (c & 0x3F));
    out[0] = static_cast<char>(kLead[num_bytes] | c);
    return num_bytes;
}

std::size_t find_invalid_byte(std::string_view text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
    std::size_t i = 0;
    while (i < text.size()) {
        for (; i + 16 <= text.size(); i += 16) {
            std::uint64_t word[2];
            std::memcpy(word, text.data() + i, 16);
            // A byte is 1 to 127 if and only if the high bit is clear in both the byte and the byte minus one.
            if (((word[0] | (word[0] - kOnes) | word[1] | (word[1] - kOnes)) & kHighs) != 0) break;
        }
        if (i == text.size()) break;
        if (text[i] == '\0') return i;
        const CodePoint code_point = decode_utf8(text.substr(i));
        if (code_point.value == kInvalidCodePoint) return i;
        i += code_point.num_bytes;
    }
    return std::string_view::npos;
}

int append_visible(std::string& out, CodePoint code_point, char byte) {
    const char32_t c = code_point.value;
    if (c == kInvalidCodePoint) return append_escape(out, 'x', static_cast<unsigned char>(byte), 2);
    if (c < 0x20 || c == 0x7F) return append_escape(out, 'x', c, 2);
    if (c >= 0x7F && is_in(kHidden, c)) return append_escape(out, 'u', c, c > 0xFFFF ? 6 : 4);
    char bytes[4];
    out.append(bytes, encode_utf8(c, bytes));
    if (c < 0x300) return 1;
    return is_in(kCombining, c) ? 0 : is_in(kWide, c) ? 2 : 1;
}

void append_visible(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const CodePoint code_point = decode_utf8(text);
        append_visible(out, code_point, text[0]);
        text.remove_prefix(code_point.num_bytes);
    }
}

}  // namespace shoal
