#pragma once
// One composition in progress. composer.cpp finds and reads files, entity_merge.cpp merges entities.

#include "shoal/base/hash_map.h"
#include "shoal/source/composer.h"
#include "source/arena.h"
#include "source/key_predictor.h"

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace shoal {

struct Composition::Memory {
    Arena arena;
    std::deque<Document> documents;
};

/// The keys that levels and entities have, as far as they mean something.
enum class EntityKey : std::uint8_t {
    kGuid,
    kType,
    kChildren,
    kEditor,
    kModifiedComponents,
    kPrefab,
    kComponents,
    kDeletedComponents,
    kModifiedChildren,
    kDeletedChildren,
    kName,
    kPlainType,
    kPlainGuid,
    kId,
    kUnits,
    kEntities,
};
inline constexpr std::string_view kEntityKeys[] = {"_guid",
                                                   "_type",
                                                   "children",
                                                   "editor",
                                                   "modified_components",
                                                   "prefab",
                                                   "components",
                                                   "deleted_components",
                                                   "modified_children",
                                                   "deleted_children",
                                                   "name",
                                                   "type",
                                                   "guid",
                                                   "id",
                                                   "units",
                                                   "entities"};

/// The values of an entity's keys. None: not there.
struct EntityText {
    Node keys[std::size(kEntityKeys)];
    Node operator[](EntityKey key) const { return keys[static_cast<std::size_t>(key)]; }
};

/// A child or component in a list or mapping: what it is called and where that stands.
struct Entry {
    std::string_view key;
    SourcePosition position;
    Node value;
    bool has_key = true;  ///< false: a list gives it none, and `key` is empty
};

class Composer {
public:
    Composer(const ComposeOptions& options, Diagnostics& diagnostics);

    std::optional<Composition> compose_path(const std::string& path);
    std::optional<Composition> compose_text(std::uint32_t file);

private:
    struct Prefab {
        enum class State : std::uint8_t { kComposing, kReady, kFailed };
        State state = State::kComposing;
        const MergedEntity* merged = nullptr;
    };
    /// A prefab being composed: what it was called, and where.
    struct Use {
        std::string name;
        SourcePosition position;
        const Prefab* prefab;
    };
    /// Where the name of a prefab leads; kept, so that each name is searched for once.
    struct NamedPrefab {
        Prefab* prefab = nullptr;  ///< nullptr: not found
        std::string problem;
        std::string hint;
    };
    /// The result of merging a prefab into an entity that is being written.
    struct Draft {
        std::vector<const MergedEntity*> children;
        bool base_failed = false;  ///< its prefab has errors: overrides without a target say nothing
        std::string_view base_name;
    };

    // --- composer.cpp: files and prefabs
    std::optional<Composition> finish(const Document* document);
    const Document* read(std::uint32_t file, const std::string& path);
    std::string source_name_of(const std::string& path) const;
    std::string path_in_root(std::size_t root, std::string_view name) const;
    std::string name_in_root(std::size_t root, std::string_view name) const;
    NamedPrefab& find_prefab(std::string_view name);
    void search_roots(std::string_view name, NamedPrefab& found);
    Prefab* load_prefab(const std::string& path, std::string name);
    const MergedEntity* use_prefab(Node reference, bool& failed);
    void report_cycle(const Prefab& prefab, Node reference);
    bool is_level(Node root) const;
    void compose_level(Node root);
    void flatten(std::span<const MergedEntity* const> roots);
    void add_guids();

    // --- entity_merge.cpp: the seven operations
    const MergedEntity* merge(Node node, const Entry& entry, const MergedEntity* modified);
    const MergedEntity* merge_within_depth(Node node, const Entry& entry, const MergedEntity* modified);
    void read_keys(Node node, bool of_level, EntityText& text, std::vector<Node>& others);
    void read_name(const EntityText& text, MergedEntity& entity);
    std::string_view guid_of(Node node, SourcePosition& position);
    template <class Visit>
    void each_entry(Node list, EntityKey key, Visit&& visit);
    bool entry_of_list(Node item, EntityKey key, Entry& entry);

    void merge_components(const EntityText& text, MergedEntity& entity, const Draft& draft);
    void add_component(const Entry& entry);
    void modify_component(const Entry& entry, const Draft& draft);
    void delete_component(const Entry& entry, const Draft& draft);
    int find_component(std::string_view key) const;
    bool read_component(Node value, bool declares, ComponentLayer& layer, Node& type);
    std::uint32_t type_index(std::string_view name);

    void merge_children(const EntityText& text, MergedEntity& entity, Draft& draft);
    void add_children(Node list, EntityKey key, std::vector<const MergedEntity*>& children);
    void modify_child(const Entry& entry, Draft& draft);
    void delete_child(const Entry& entry, Draft& draft);
    bool find_child(const Draft& draft, std::string_view key, std::vector<std::uint32_t>& path);
    bool find_path(std::span<const MergedEntity* const> children, std::string_view key,
                   std::vector<std::uint32_t>& path);
    bool find_deeper(std::span<const MergedEntity* const> children, std::string_view key,
                     std::vector<std::uint32_t>& path);
    const MergedEntity* edit(const MergedEntity& entity, std::span<const std::uint32_t> path,
                             const MergedEntity* child);
    void stale(const Entry& entry, EntityKey key, const Draft& draft, std::string_view what);
    void count(MergedEntity& entity);
    void wrong_kind(Node node, std::string_view key, std::string_view wanted);

    const ComposeOptions& options_;
    Diagnostics& diagnostics_;
    DiskFiles disk_;
    SourceFiles& files_;
    std::vector<std::string> roots_;
    Composition result_;
    Arena& arena_;

    std::deque<Prefab> prefabs_;
    std::unordered_map<std::string, Prefab*> prefab_by_path_;  // canonical path
    std::unordered_map<std::string, NamedPrefab> prefab_by_name_;
    std::vector<Use> uses_;  // from the source to the prefab being composed
    std::string_view last_prefab_name_;
    const MergedEntity* last_prefab_ = nullptr;

    KeyPredictor entity_keys_;
    KeyPredictor wrapper_keys_;
    HashMap<std::string_view, std::uint32_t> type_by_name_{Owner("composer")};
    std::uint32_t last_type_ = 0;
    std::vector<MergedComponent> components_;  // of the entity being merged
    std::uint32_t depth_ = 0;
    std::uint32_t prefab_depth_ = 0;  // > 0: layers may be shared
    std::uint64_t search_steps_ = 0;
    bool too_large_ = false;  // reported
};

}  // namespace shoal
