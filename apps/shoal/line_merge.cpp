#include "line_merge.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

namespace shoal_tool {

namespace {

constexpr int kMostChanges = 2000;  // maximum number of added and removed lines; memory use is quadratic in it

using Lines = std::vector<std::string_view>;  // including line ends

Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

/// A range of lines in the base, and the lines that replace them.
struct Change {
    int begin = 0, end = 0;
    int new_begin = 0, new_end = 0;
};

/// Computes the shortest edit script between two lists of lines. Source: Myers, "An O(ND) difference algorithm and its
/// variations".
class LineDifference {
public:
    LineDifference(const Lines& from, const Lines& to)
        : from_(from), to_(to), num_from_(static_cast<int>(from.size())), num_to_(static_cast<int>(to.size())) {}

    /// Returns the changes in order, or nothing if there are too many.
    std::optional<std::vector<Change>> changes() {
        const int most = std::min(num_from_ + num_to_, kMostChanges);
        std::vector<int> reached(static_cast<std::size_t>(2 * most + 3), 0);  // by diagonal: lines of `from` consumed
        for (int step = 0; step <= most; ++step) {
            const auto middle = reached.begin() + most + 1;
            before_.emplace_back(middle - step - 1, middle + step + 2);
            for (int diagonal = -step; diagonal <= step; diagonal += 2) {
                const int at = follow(next(step, diagonal), diagonal);
                middle[diagonal] = at;
                if (diagonal == num_from_ - num_to_ && at >= num_from_) return walk_back(step);
            }
        }
        return std::nullopt;
    }

private:
    int reached_before(int step, int diagonal) const {
        return before_[static_cast<std::size_t>(step)][static_cast<std::size_t>(diagonal + step + 1)];
    }
    /// Returns whether the step to a diagonal adds a line of `to` rather than removing a line of `from`.
    bool takes_in(int step, int diagonal) const {
        return diagonal == -step ||
               (diagonal != step && reached_before(step, diagonal - 1) < reached_before(step, diagonal + 1));
    }
    int next(int step, int diagonal) const {
        if (step == 0) return 0;
        return takes_in(step, diagonal) ? reached_before(step, diagonal + 1) : reached_before(step, diagonal - 1) + 1;
    }
    int follow(int at, int diagonal) const {
        while (at < num_from_ && at - diagonal < num_to_ &&
               from_[static_cast<std::size_t>(at)] == to_[static_cast<std::size_t>(at - diagonal)])
            ++at;
        return at;
    }
    std::vector<Change> walk_back(int step) const {
        std::vector<Change> changes;  // in reverse order
        for (int diagonal = num_from_ - num_to_; step > 0; --step) {
            const bool is_in = takes_in(step, diagonal);
            diagonal += is_in ? 1 : -1;
            const int at = reached_before(step, diagonal), other = at - diagonal;
            const Change one{at, at + (is_in ? 0 : 1), other, other + (is_in ? 1 : 0)};
            if (!changes.empty() && changes.back().begin == one.end && changes.back().new_begin == one.new_end)
                changes.back().begin = one.begin, changes.back().new_begin = one.new_begin;
            else
                changes.push_back(one);
        }
        std::reverse(changes.begin(), changes.end());
        return changes;
    }

    const Lines& from_;
    const Lines& to_;
    int num_from_, num_to_;
    std::vector<std::vector<int>> before_;  // for each step, `reached` before the step, starting at diagonal -step - 1
};

void append(std::string& text, const Lines& lines, int begin, int end) {
    for (int i = begin; i < end; ++i) text += lines[static_cast<std::size_t>(i)];
}

std::span<const std::string_view> span_of(const Lines& lines, const Change& change) {
    return std::span(lines).subspan(static_cast<std::size_t>(change.new_begin),
                                    static_cast<std::size_t>(change.new_end - change.new_begin));
}

/// Returns whether two changes replace the same lines or insert lines at the same position.
bool overlap(const Change& a, const Change& b) {
    return (a.begin < b.end && b.begin < a.end) || (a.begin == b.begin && a.end == b.end);
}

}  // namespace

std::optional<std::string> merge_lines(std::string_view base, std::string_view a, std::string_view b) {
    const Lines lines = lines_of(base);
    const Lines sides[2] = {lines_of(a), lines_of(b)};
    std::optional<std::vector<Change>> changes[2];
    for (int i = 0; i < 2; ++i)
        if (!(changes[i] = LineDifference(lines, sides[i]).changes())) return std::nullopt;
    std::string text;
    int done = 0;
    for (std::size_t next[2] = {};;) {
        const bool has[2] = {next[0] < changes[0]->size(), next[1] < changes[1]->size()};
        if (!has[0] && !has[1]) break;
        const auto change = [&](int side) { return (*changes[side])[next[side]]; };
        int side = has[0] ? 0 : 1;
        if (has[0] && has[1]) {
            const Change x = change(0), y = change(1);
            const bool are_same =
                x.begin == y.begin && x.end == y.end && std::ranges::equal(span_of(sides[0], x), span_of(sides[1], y));
            if (!are_same && overlap(x, y)) return std::nullopt;
            if (are_same) ++next[1];
            side = are_same || std::tie(x.begin, x.end) < std::tie(y.begin, y.end) ? 0 : 1;
        }
        const Change taken = change(side);
        ++next[side];
        append(text, lines, done, taken.begin);
        append(text, sides[side], taken.new_begin, taken.new_end);
        done = taken.end;
    }
    append(text, lines, done, static_cast<int>(lines.size()));
    return text;
}

}  // namespace shoal_tool
