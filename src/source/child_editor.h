#pragma once
// Changes and removes descendants of an entity during composition.
//
//     ChildEditor editor(children, arena, steps, count);
//     if (const auto child = editor.find("trunk/branch")) editor.replace(child, changed(editor.entity(child)));
//     children = editor.finish();
//
// Merged entities are immutable and shared, so the editor works on its own nodes. It makes nodes for each level of
// descendants that a search enters:
//
//     nodes_   [ root | children of the root | children of node 3 | ... ]       a level is one block
//
// The keys of a large level are hashed. A key that is not a path from the root is looked up among all descendants. The
// first of these searches makes all nodes and an index by key. finish() makes each changed entity only once. Cost: a
// search by path is O(parts of the path). Other searches are O(1), except the first one, which is O(descendants).
// finish() is O(children of the changed entities).

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/source/detail/composer.h"
#include "source/arena.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal {

class ChildEditor {
public:
    static constexpr std::uint32_t kNone = 0;  ///< no descendant; the root also has this index

    /// `steps` counts nodes and comparisons. When it reaches `max_steps`, searches find nothing.
    /// `count` is called for each new entity, children first.
    ChildEditor(std::span<const MergedEntity* const> children, Arena& arena, std::uint64_t& steps,
                std::uint64_t max_steps, std::function<void(MergedEntity&)> count)
        : root_children_(children), arena_(arena), steps_(steps), max_steps_(max_steps), count_(std::move(count)) {
        nodes_.emplace_back();
    }

    /// Finds a child by its key, or a descendant by its path of keys from the root. If there is none, finds the first
    /// descendant, in search order, to which the path leads from another entity.
    std::uint32_t find(std::string_view key) {
        other_ = kNone;
        const std::uint32_t found = find_path(kRoot, key);
        return found != kNone ? found : find_deeper(key);
    }

    /// Returns another descendant that matches the last find(), or kNone. A child or a path from the root is never
    /// ambiguous.
    std::uint32_t other() const { return other_; }

    /// Returns the keys from the root to a descendant, separated by `/`.
    std::string path_of(std::uint32_t node) const {
        std::vector<std::string_view> keys;
        for (; node != kRoot; node = nodes_[node].parent) keys.push_back(nodes_[node].entity->key);
        std::string path;
        for (auto key = keys.rbegin(); key != keys.rend(); ++key)
            append_text(path, concat(path.empty() ? "" : "/", *key));
        return path;
    }

    /// Returns an entity with all changes to its descendants. Lifetime: as long as the arena.
    const MergedEntity* entity(std::uint32_t node) {
        if (!nodes_[node].has_changes) return nodes_[node].entity;
        nodes_[node].has_changes = false;
        const std::vector<const MergedEntity*> children = children_of(node);
        MergedEntity* const changed = arena_.make<MergedEntity>(*nodes_[node].entity);
        changed->children = arena_.copy(std::span<const MergedEntity* const>(children));
        count_(*changed);
        return nodes_[node].entity = changed;
    }

    void replace(std::uint32_t node, const MergedEntity* changed) {
        const bool has_same_children = changed->children.data() == nodes_[node].entity->children.data() &&
                                       changed->children.size() == nodes_[node].entity->children.size();
        nodes_[node].entity = changed;
        note_change(node);
        if (has_same_children || !nodes_[node].is_open) return;
        remove_below(node);
        if (has_index_) open_all(node);
    }

    void remove(std::uint32_t node) {
        nodes_[node].is_removed = true;
        remove_below(node);
        note_change(node);
    }

    /// Returns the children of the root with all changes.
    std::vector<const MergedEntity*> finish() {
        open(kRoot);
        return children_of(kRoot);
    }

    /// The children of the root without any changes.
    std::span<const MergedEntity* const> children() const { return root_children_; }
    bool is_exhausted() const { return steps_ >= max_steps_; }

private:
    static constexpr std::uint32_t kLargeLevel = 8;  // number of children; smaller levels are searched linearly
    static constexpr std::uint32_t kRoot = 0;
    static constexpr std::uint32_t kMostBehind =
        64;  // number of descendants that are checked to find out whether a search is ambiguous

    static std::uint64_t place_key(std::uint32_t parent, std::uint64_t key_hash) {
        return key_hash ^ hash_key(std::uint64_t(parent) + 1);
    }

    struct Node {
        const MergedEntity* entity = nullptr;
        std::uint32_t parent = 0;
        std::uint32_t first_child = 0;
        std::uint32_t num_children = 0;
        std::uint32_t next_same = 0;  // the next descendant with the same key
        bool is_open = false;         // whether its children have nodes
        bool is_removed = false;
        bool has_changes = false;  // whether descendants have been changed
    };
    /// The descendants with the same key.
    struct Same {
        std::uint32_t first = 0, last = 0;
        bool is_sorted = true;  // whether they are in search order
    };

    // --- nodes -------------------------------------------------------------------------------------------------------

    /// Makes the nodes of an entity's children.
    void open(std::uint32_t node) {
        if (nodes_[node].is_open) return;
        const std::span<const MergedEntity* const> children =
            node == kRoot ? root_children_ : nodes_[node].entity->children;
        const auto first = static_cast<std::uint32_t>(nodes_.size());
        nodes_[node].is_open = true;
        nodes_[node].first_child = first;
        nodes_[node].num_children = static_cast<std::uint32_t>(children.size());
        steps_ += children.size();
        for (const MergedEntity* child : children) {
            const auto index = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back({child, node});
            if (children.size() > kLargeLevel) by_place_.add(place_key(node, child->key_hash), index);
            const auto slashes = static_cast<std::size_t>(std::count(child->key.begin(), child->key.end(), '/'));
            most_slashes_ = std::max(most_slashes_, slashes);
        }
    }

    /// Makes all nodes below `node`, and adds them to the index in search order, in which all children of an entity
    /// precede its grandchildren.
    void open_all(std::uint32_t node) {
        open(node);
        const std::uint32_t first = nodes_[node].first_child, end = first + nodes_[node].num_children;
        const bool is_sorted = !has_index_;
        if (node != kRoot)
            for (std::uint32_t child = first; child < end; ++child) add_to_index(child, is_sorted);
        for (std::uint32_t child = first; child < end && !is_exhausted(); ++child)
            if (!nodes_[child].is_removed) open_all(child);
    }

    void add_to_index(std::uint32_t node, bool is_sorted) {
        if (nodes_[node].is_removed) return;
        const auto [same, is_new] = by_key_.insert(nodes_[node].entity->key_hash, {node, node, true});
        if (is_new) return;
        if (same->first == 0)
            same->first = node;  // all other nodes have been removed
        else
            nodes_[same->last].next_same = node;
        same->last = node;
        same->is_sorted = same->is_sorted && is_sorted;
    }

    // --- searches ----------------------------------------------------------------------------------------------------

    std::uint32_t child_of(std::uint32_t node, std::string_view key) {
        ++steps_;
        const std::uint64_t hash = hash_text(key);
        const auto is_it = [&](std::uint32_t i) {
            const Node& child = nodes_[i];
            return child.parent == node && !child.is_removed && child.entity->key_hash == hash &&
                   child.entity->key == key;
        };
        const std::uint32_t first = nodes_[node].first_child, count = nodes_[node].num_children;
        if (count > kLargeLevel) {
            const std::uint32_t* const found = by_place_.find_if(place_key(node, hash), is_it);
            return found == nullptr ? kNone : *found;
        }
        for (std::uint32_t i = first; i < first + count; ++i)
            if (is_it(i)) return i;
        return kNone;
    }

    /// Calls visit(start, rest) for each possible first key of a path. Since keys may contain slashes, this may be the
    /// whole path, its first part, or several parts. Returns the first result that is not kNone.
    template <class Visit>
    std::uint32_t for_each_start(std::string_view key, Visit&& visit) {
        std::uint32_t found = visit(key, std::string_view());
        std::size_t slash = key.find('/');
        for (std::size_t i = 0; found == kNone && slash != std::string_view::npos && i <= most_slashes_; ++i) {
            found = visit(key.substr(0, slash), key.substr(slash + 1));
            slash = key.find('/', slash + 1);
        }
        return found;
    }

    std::uint32_t find_path(std::uint32_t node, std::string_view key) {
        if (is_exhausted()) return kNone;
        open(node);
        return for_each_start(key, [&](std::string_view start, std::string_view rest) {
            const std::uint32_t child = child_of(node, start);
            return child == kNone || start.size() == key.size() ? child : find_path(child, rest);
        });
    }

    std::uint32_t depth_of(std::uint32_t node) const {
        std::uint32_t depth = 0;
        for (; node != kRoot; node = nodes_[node].parent) ++depth;
        return depth;
    }

    /// Returns whether `a` precedes `b` in search order. Compares the positions of their parents, and puts an entity
    /// before its children. Requires: both have the same key.
    bool is_before(std::uint32_t a, std::uint32_t b) const {
        a = nodes_[a].parent;
        b = nodes_[b].parent;
        const std::uint32_t depth_a = depth_of(a), depth_b = depth_of(b);
        for (std::uint32_t i = depth_b; i < depth_a; ++i) a = nodes_[a].parent;
        for (std::uint32_t i = depth_a; i < depth_b; ++i) b = nodes_[b].parent;
        if (a == b) return depth_a < depth_b;
        while (nodes_[a].parent != nodes_[b].parent) {
            a = nodes_[a].parent;
            b = nodes_[b].parent;
        }
        return a < b;  // siblings are in one block
    }

    /// Finds the first descendant with the key `start` from which the path `rest` leads to an entity. If `is_whole` is
    /// set, `rest` is empty.
    std::uint32_t find_in_index(std::string_view start, std::string_view rest, bool is_whole) {
        Same* const same = by_key_.find(hash_text(start));
        if (same == nullptr) return kNone;
        std::uint32_t best = kNone, best_start = kNone, num_behind = 0;
        for (std::uint32_t i = same->first, before = 0; i != 0 && !is_exhausted(); i = nodes_[i].next_same) {
            ++steps_;
            if (nodes_[i].is_removed) {  // so that later searches skip it
                (before == 0 ? same->first : nodes_[before].next_same) = nodes_[i].next_same;
                if (same->last == i) same->last = before;
                continue;
            }
            before = i;
            if (same->is_sorted && best != kNone && ++num_behind > kMostBehind) break;
            if (nodes_[i].entity->key != start) continue;
            const std::uint32_t found = is_whole ? i : find_path(i, rest);
            if (found == kNone) continue;
            const bool is_first = best == kNone || is_before(i, best_start);
            other_ = is_first ? best : found;
            if (is_first) best = found, best_start = i;
            if (same->is_sorted && other_ != kNone) break;
        }
        return best;
    }

    std::uint32_t find_deeper(std::string_view key) {
        if (!has_index_) {
            open_all(kRoot);
            has_index_ = true;
        }
        return for_each_start(key, [&](std::string_view start, std::string_view rest) {
            return find_in_index(start, rest, start.size() == key.size());
        });
    }

    // --- changes -----------------------------------------------------------------------------------------------------

    void note_change(std::uint32_t node) {
        while (node != kRoot) {
            node = nodes_[node].parent;
            if (nodes_[node].has_changes) return;
            nodes_[node].has_changes = true;
        }
    }

    /// Removes all nodes below `node` from searches.
    void remove_below(std::uint32_t node) {
        if (!nodes_[node].is_open) return;
        const std::uint32_t first = nodes_[node].first_child, end = first + nodes_[node].num_children;
        for (std::uint32_t child = first; child < end; ++child) {
            if (nodes_[child].is_removed) continue;
            nodes_[child].is_removed = true;
            remove_below(child);
        }
        nodes_[node].is_open = false;
        nodes_[node].has_changes = false;
    }

    // --- results -----------------------------------------------------------------------------------------------------

    std::vector<const MergedEntity*> children_of(std::uint32_t node) {
        std::vector<const MergedEntity*> children;
        children.reserve(nodes_[node].num_children);
        steps_ += nodes_[node].num_children;
        for (std::uint32_t i = 0; i < nodes_[node].num_children; ++i)
            if (const std::uint32_t child = nodes_[node].first_child + i; !nodes_[child].is_removed)
                children.push_back(entity(child));
        return children;
    }

    std::vector<Node> nodes_;
    std::span<const MergedEntity* const> root_children_;
    HashMap<std::uint64_t, std::uint32_t> by_place_{Owner("source")};  // parent and key -> node, in large levels
    HashMap<std::uint64_t, Same> by_key_{Owner("source")};             // empty until all nodes are made
    bool has_index_ = false;
    std::uint32_t other_ = kNone;   // the result of other() for the last search
    std::size_t most_slashes_ = 0;  // the largest number of slashes in a key
    Arena& arena_;
    std::uint64_t& steps_;
    std::uint64_t max_steps_;
    std::function<void(MergedEntity&)> count_;
};

}  // namespace shoal
