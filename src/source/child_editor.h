#pragma once
// Changes and removes descendants of an entity that is being composed.
//
//     ChildEditor editor(children, arena, steps, count);
//     if (const auto child = editor.find("trunk/branch")) editor.replace(child, changed(editor.entity(child)));
//     children = editor.finish();
//
// Merged entities do not change, and many share them. So the editor has nodes of its own, made for the levels of
// descendants that a search enters:
//
//     nodes_   [ root | children of the root | children of node 3 | ... ]       a level is one block
//
// A level with many children is hashed. A key that leads nowhere from the root is looked for among all descendants;
// the first such search makes all nodes and an index by key. finish() makes each changed entity once.
// Cost: a search by path is O(parts of the path), any other O(1) after the first, which is O(descendants); finish() is
// O(children of the changed entities).

#include "shoal/base/hash_map.h"
#include "shoal/source/composer.h"
#include "source/arena.h"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace shoal {

class ChildEditor {
public:
    static constexpr std::uint32_t kNone = 0;  ///< no descendant; the number of the root

    /// `steps` counts nodes that are made and compared. When it reaches `max_steps`, searches find nothing.
    /// `count` is called for each entity that is made, children before parents.
    ChildEditor(std::span<const MergedEntity* const> children, Arena& arena, std::uint64_t& steps,
                std::uint64_t max_steps, std::function<void(MergedEntity&)> count);

    /// Finds a child by its key, or a descendant by a path of keys; otherwise the first descendant from which the path
    /// leads on, in the order of the texts.
    std::uint32_t find(std::string_view key);
    /// Returns another descendant that find() could have meant, or kNone. A child and a path from the root are not ambiguous.
    std::uint32_t other() const { return other_; }
    /// Returns the keys from the root to a descendant, separated by `/`.
    std::string path_of(std::uint32_t node) const;
    /// Returns an entity with all changes of its descendants. Lifetime: that of the arena.
    const MergedEntity* entity(std::uint32_t node);
    void replace(std::uint32_t node, const MergedEntity* changed);
    void remove(std::uint32_t node);
    /// Returns the children of the root with all changes.
    std::vector<const MergedEntity*> finish();

    /// The children of the root before any change.
    std::span<const MergedEntity* const> children() const { return root_children_; }
    bool is_exhausted() const { return steps_ >= max_steps_; }

private:
    struct Node {
        const MergedEntity* entity = nullptr;
        std::uint32_t parent = 0;
        std::uint32_t first_child = 0;
        std::uint32_t num_children = 0;
        std::uint32_t next_same = 0;  // another descendant with the same key
        bool is_open = false;         // its children have nodes
        bool is_removed = false;
        bool has_changes = false;  // below it
    };
    /// The descendants with one key.
    struct Same {
        std::uint32_t first = 0, last = 0;
        bool is_sorted = true;  // in the order of the search
    };

    void open(std::uint32_t node);
    void open_all(std::uint32_t node);
    void add_to_index(std::uint32_t node, bool is_sorted);
    std::uint32_t child_of(std::uint32_t node, std::string_view key);
    std::uint32_t find_path(std::uint32_t node, std::string_view key);
    std::uint32_t find_deeper(std::string_view key);
    std::uint32_t find_in_index(std::string_view start, std::string_view rest, bool is_whole);
    template <class Visit>
    std::uint32_t for_each_start(std::string_view key, Visit&& visit);
    bool is_before(std::uint32_t a, std::uint32_t b) const;
    std::uint32_t depth_of(std::uint32_t node) const;
    void note_change(std::uint32_t node);
    void remove_below(std::uint32_t node);
    std::vector<const MergedEntity*> children_of(std::uint32_t node);

    std::vector<Node> nodes_;
    std::span<const MergedEntity* const> root_children_;
    HashMap<std::uint64_t, std::uint32_t> by_place_{Owner("source")};  // parent and key -> node, of large levels
    HashMap<std::uint64_t, Same> by_key_{Owner("source")};             // once all nodes are made
    bool has_index_ = false;
    std::uint32_t other_ = kNone;   // of the last search
    std::size_t most_slashes_ = 0;  // in the key of a descendant
    Arena& arena_;
    std::uint64_t& steps_;
    std::uint64_t max_steps_;
    std::function<void(MergedEntity&)> count_;
};

}  // namespace shoal
