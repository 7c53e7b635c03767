#include "document/excerpt.h"

#include "document/utf8.h"
#include "shoal/base/text.h"
#include "shoal/document/scalar_text.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::size_t kWindow = 100;       // code points shown of a long line
constexpr std::size_t kBinaryWindow = 25;  // shown of binary data, where most take four columns
constexpr std::size_t kGutterDigits = 5;
constexpr std::string_view kCut = "...";

/// Returns the start of the code point before `at`. Requires: at > 0.
std::size_t step_back(std::string_view text, std::size_t at) {
    std::size_t start = at - 1;
    while (start > 0 && at - start < 4 && !starts_code_point(text[start])) --start;
    return decode_utf8(text.substr(start, at - start)).num_bytes == at - start ? start : at - 1;
}

struct Window {
    std::size_t begin, end;
    bool cut_before, cut_after;
};

Window find_window(std::string_view text, std::size_t at) {
    const bool is_binary = text.substr(at, kWindow).find('\0') != std::string_view::npos;
    const std::size_t width = is_binary ? kBinaryWindow : kWindow;
    const std::size_t most_before = width * 2 / 5;
    std::size_t begin = at, before = 0;
    std::size_t starts[kWindow + 1] = {at};  // of the code points before `at`, nearest first
    while (before < width && begin > 0 && text[begin - 1] != '\n') starts[++before] = begin = step_back(text, begin);

    std::size_t end = at, after = 0;
    std::size_t ends[kWindow + 1] = {at};
    while (after < width && end < text.size() && text[end] != '\n')
        ends[++after] = end += decode_utf8(text.substr(end)).num_bytes;

    if (before + after > width) {
        before = std::min(before, std::max(most_before, width - std::min(after, width)));
        after = std::min(after, width - before);
        begin = starts[before];
        end = ends[after];
    }
    const bool cut_before = begin > 0 && text[begin - 1] != '\n';
    const bool cut_after = end < text.size() && text[end] != '\n';
    if (!cut_after && end > begin && end > at && text[end - 1] == '\r') --end;
    return {begin, end, cut_before, cut_after};
}

/// Returns the bytes of the word, quoted string or sign that starts at `at`.
std::size_t token_bytes(std::string_view text, std::size_t at) {
    constexpr std::string_view kSigns = "[]{}=:";
    constexpr std::string_view kBlanks = " \t\r\n,";
    if (at >= text.size()) return 1;
    std::size_t end = at;
    if (text[at] == '"') {
        for (++end; end < text.size() && text[end] != '"' && text[end] != '\n' && end - at < 4 * kWindow; ++end)
            if (text[end] == '\\') ++end;
        return end + 1 - at;
    }
    while (end < text.size() && end - at < 4 * kWindow && kSigns.find(text[end]) == std::string_view::npos &&
           kBlanks.find(text[end]) == std::string_view::npos)
        ++end;
    return std::max<std::size_t>(end - at, 1);
}

void append_gutter(std::string& out, std::string_view number) {
    out.append(number.size() < kGutterDigits ? kGutterDigits - number.size() : 0, ' ');
    out.append(number).append(" | ");
}

}  // namespace

void append_excerpt(std::string& out, std::string_view text, std::uint32_t offset, std::uint32_t num_bytes,
                    std::uint32_t line) {
    const std::size_t at = std::min<std::size_t>(offset, text.size());
    const Window window = find_window(text, at);
    const std::size_t marked_end = at + (num_bytes == 0 ? token_bytes(text, at) : num_bytes);

    append_gutter(out, concat(line));
    std::string marker;
    if (window.cut_before) {
        out.append(kCut);
        marker.append(kCut.size(), ' ');
    }
    std::size_t i = window.begin;
    if (i == 0 && text.starts_with(kByteOrderMark)) i = std::min(kByteOrderMark.size(), window.end);
    while (i < window.end) {
        const CodePoint code_point = decode_utf8(text.substr(i, window.end - i));
        const bool is_tab = code_point.value == '\t';
        if (is_tab) out.push_back('\t');
        const int columns = is_tab ? 1 : append_visible(out, code_point, text[i]);
        const bool is_marked = i >= at && i < marked_end;
        const char filler = is_marked ? '~' : is_tab ? '\t' : ' ';
        marker.append(static_cast<std::size_t>(columns), filler);
        if (i == at && columns > 0) marker[marker.size() - static_cast<std::size_t>(columns)] = '^';
        i += code_point.num_bytes;
    }
    if (at >= window.end) marker.push_back('^');
    if (window.cut_after) out.append(kCut);
    out.push_back('\n');

    append_gutter(out, "");
    marker.resize(marker.find_last_not_of(" \t") + 1);
    out.append(marker).push_back('\n');
}

}  // namespace shoal
