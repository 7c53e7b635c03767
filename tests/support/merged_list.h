#pragma once
// What a reload makes of the values of a `many` type that an entity has, as reload/reloader.h says it, one value after another.
//
//     merge_list(now, before, after, [](Note& value, const Note& was, const Note& is) { ... });
//
// `before` and `after` are the values in the two versions of the source, `now` those in the world.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shoal_test {

/// Takes over what the source has changed.
template <class T>
void merge(T& now, const T& before, const T& after) {
    if (before != after) now = after;
}

/// Which value of `to`, a newer version or the world, is which of `from`; -1: none. Equal ones first, then, if they can
/// become each other, the others by their order; in the world only if the program has taken and added as many.
template <class T>
std::vector<int> paired_values(const std::vector<T>& from, const std::vector<T>& to, bool in_world, bool can_change) {
    std::vector<int> found(from.size(), -1);
    std::vector<bool> is_taken(to.size(), false);
    const auto take = [&](std::size_t i, std::size_t j) { found[i] = int(j), is_taken[j] = true; };
    for (std::size_t n = 0; n < from.size(); ++n) {
        const std::size_t i = in_world ? from.size() - 1 - n : n;  // the program adds values in front
        std::vector<std::size_t> same;
        for (std::size_t j = 0; j < to.size(); ++j)
            if (!is_taken[j] && from[i] == to[j]) same.push_back(j);
        if (same.empty()) continue;
        const bool has_same_place = !in_world && std::ranges::count(same, i) != 0;
        take(i, has_same_place ? i : in_world ? same.back() : same.front());
    }
    const auto num_open = std::size_t(std::count(found.begin(), found.end(), -1));
    const auto num_left = std::size_t(std::count(is_taken.begin(), is_taken.end(), false));
    if (!can_change || (in_world && num_open != num_left)) return found;
    for (std::size_t i = 0, j = 0; i < from.size(); ++i) {
        if (found[i] >= 0) continue;
        while (j < to.size() && is_taken[j]) ++j;
        if (j < to.size()) take(i, j);
    }
    return found;
}

/// What becomes of a list of the world. Without `can_change`, values are the same or not, as tags are.
template <class T, class MergeValue>
void merge_list(std::vector<T>& now, const std::vector<T>& before, const std::vector<T>& after,
                MergeValue&& merge_value, bool can_change = true) {
    if (before == after) return;
    const std::vector<int> newer = paired_values(before, after, false, can_change);
    const std::vector<int> there = paired_values(before, now, true, can_change);
    std::vector<int> place(now.size(), -1);
    std::vector<bool> is_own(now.size(), true), is_gone(now.size(), false), is_new(after.size(), true);
    for (std::size_t b = 0; b < before.size(); ++b) {
        if (newer[b] >= 0) is_new[std::size_t(newer[b])] = false;
        if (there[b] < 0) continue;
        const auto w = std::size_t(there[b]);
        is_own[w] = false, is_gone[w] = newer[b] < 0, place[w] = newer[b];
        if (newer[b] >= 0) merge_value(now[w], before[b], after[std::size_t(newer[b])]);
    }
    for (std::size_t a = 0; a < after.size(); ++a)
        for (std::size_t w = 0; w < now.size() && is_new[a]; ++w)
            if (is_own[w] && now[w] == after[a]) is_own[w] = is_new[a] = false, place[w] = int(a);
    std::vector<T> result;
    const auto take_own_before = [&](std::size_t end) {
        std::size_t begin = end;
        while (begin > 0 && (is_own[begin - 1] || is_gone[begin - 1])) --begin;
        for (; begin < end; ++begin)
            if (is_own[begin]) result.push_back(now[begin]);
    };
    for (std::size_t a = 0; a < after.size(); ++a) {
        if (is_new[a]) result.push_back(after[a]);
        for (std::size_t w = 0; w < now.size(); ++w)
            if (place[w] == int(a)) take_own_before(w), result.push_back(now[w]);
    }
    take_own_before(now.size());
    now = result;
}

}  // namespace shoal_test
