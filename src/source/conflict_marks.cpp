#include "source/conflict_marks.h"

#include "shoal/base/text.h"
#include "source/text_token.h"

namespace shoal {
namespace {

/// Returns where the first line from `begin` on begins that is such a mark; npos: there is none.
std::size_t find_mark(std::string_view text, std::string_view mark, std::size_t begin) {
    for (std::size_t at = text.find(mark, begin); at != std::string_view::npos; at = text.find(mark, at + 1)) {
        const std::size_t end = at + mark.size();
        const bool is_line = at == 0 || text[at - 1] == '\n';
        if (is_line && (end == text.size() || text[end] == ' ' || text[end] == '\r' || text[end] == '\n')) return at;
    }
    return std::string_view::npos;
}

/// Returns whether a text can be read, whatever is marked in it: a string of several lines may have such lines.
bool can_be_read(std::string_view name, std::string_view text, const ReadOptions& options) {
    Diagnostics unused;
    const std::uint32_t file = unused.refer_file(std::string(name), text);
    return read_in_format(file, unused, options, nullptr).ok();
}

}  // namespace

bool refuse_conflict_marks(std::uint32_t file, const ReadOptions& options, Diagnostics& diagnostics) {
    const std::string_view text = diagnostics.text(file);
    const std::size_t begin = find_mark(text, "<<<<<<<", 0);
    const std::size_t end = begin == std::string_view::npos ? begin : find_mark(text, ">>>>>>>", begin);
    if (end == std::string_view::npos || can_be_read(diagnostics.name(file), text, options)) return false;
    std::size_t num_conflicts = 0;
    for (std::size_t at = begin; at != std::string_view::npos; at = find_mark(text, "<<<<<<<", at + 1)) ++num_conflicts;
    diagnostics
        .error({file, static_cast<std::uint32_t>(begin)},
               concat("a merge has left ", num_conflicts, num_conflicts == 1 ? " conflict" : " conflicts",
                      " in this text, marked by <<<<<<<, ======= and >>>>>>>"),
               "keep one of the two versions between the marks, or what both say, and remove the marks")
        .note({file, static_cast<std::uint32_t>(end)}, num_conflicts == 1 ? "it ends here" : "the first ends here");
    return true;
}

}  // namespace shoal
