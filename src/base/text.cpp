#include "shoal/base/text.h"

#include "shoal/base/detail/lines.h"
#include "shoal/base/detail/utf8.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace shoal {
namespace {

template <class T>
void append_chars(std::string& text, T value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    text.append(buffer, end);
}

/// Returns the number of single-character edits that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

}  // namespace

void append_number(std::string& text, std::int64_t value) { append_chars(text, value); }
void append_number(std::string& text, std::uint64_t value) { append_chars(text, value); }
void append_number(std::string& text, double value) { append_chars(text, value); }
void append_number(std::string& text, float value) { append_chars(text, value); }

void append_hex(std::string& text, std::uint64_t value, int num_digits) {
    text.append("0x");
    for (int i = num_digits - 1; i >= 0; --i) text.push_back("0123456789abcdef"[(value >> (4 * i)) & 15]);
}

std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    return line;
}

int closest_text(std::string_view text, const std::string_view* candidates, std::size_t num_candidates) {
    constexpr std::size_t kLongestText = 64;
    if (text.size() > kLongestText) return -1;
    std::size_t best_distance = text.size() / 3 + 2;  // with more edits, it is probably a different word
    int best = -1;
    for (std::size_t i = 0; i < num_candidates; ++i) {
        if (candidates[i].size() > kLongestText) continue;
        const std::size_t distance = edit_distance(text, candidates[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = static_cast<int>(i);
        }
    }
    return best;
}

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        if (static_cast<unsigned char>(text[i]) < 0x80) {
            ++i;
            continue;
        }
        const CodePoint code_point = decode_utf8(text.substr(i));
        if (code_point.value == kInvalidCodePoint) return false;
        i += code_point.num_bytes;
    }
    return true;
}

}  // namespace shoal
