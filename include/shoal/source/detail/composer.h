#pragma once
// Composes a source and its prefabs into one list of entities, parents before children.
//
//     Diagnostics diagnostics;
//     std::optional<Composition> reef = compose("reef/garden.sjson", options, diagnostics);
//
//     garden.sjson            reef/coral.sjson          composed
//     a: prefab reef/coral    transform { p }           a: transform { p, p' }   layers: coral's text, then garden's
//        modified p'          child x                   a/x
//     b: prefab reef/coral                              b: transform { p }       one layer, shared with every coral
//                                                       b/x
//
// Nothing is copied. A component is a chain of layers, and each layer is a node of a source text, so every value keeps
// its position. A prefab is read and merged only once, even if it is used often. See docs/formats/source.md for the
// rules.
// Errors are reported to Diagnostics. Everything that is valid is composed anyway, so that the compiler can find more
// errors. Depth is limited, and entities are counted before they are expanded, so that hostile sources cannot exhaust
// memory.
// Lifetime: a Composition refers to the texts that the Diagnostics keeps.
// Thread: one thread at a time per Diagnostics; a Composition is immutable.

#include "shoal/document/detail/document.h"
#include "shoal/document/detail/read_options.h"
#include "shoal/resource/detail/blob_format.h"
#include "shoal/source/detail/source_files.h"
#include "shoal/source/detail/source_keys.h"
#include "shoal/source/detail/source_rules.h"
#include "shoal/store/store.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shoal {

/// A file that the result depends on. Either the file was read, or a search found it (so it must still exist), or a
/// search did not find it (so it must still be missing).
struct SourceDependency {
    DependencyKind kind;
    std::string path;        ///< as it was opened
    std::string name;        ///< path in its root, with the prefix `$n/` if there are several roots
    std::uint64_t hash = 0;  ///< content_hash() of the text, or 0 if it was not read
};

/// Returns the hash that is used to compare file contents; never 0.
SHOAL_API std::uint64_t content_hash(std::string_view content);

struct ComposeOptions {
    /// Folders that resource names are relative to, searched in order. If empty, the folder of the source is used.
    std::vector<std::string> roots;
    /// If true, links that lead out of the roots are followed; if false, a resource behind such a link is an error.
    bool follow_links = false;
    /// Keys to ignore in levels, entities and components, such as `editor`. Keys that is_structural_key() accepts are
    /// not ignored.
    std::vector<std::string> ignored_keys;
    std::vector<RenamedKey> renamed_keys;
    /// Old and new names of component types. The composition uses the new names.
    std::vector<RenamedKey> renamed_types{};
    /// Old and new names of built-in component types. Old names are accepted with a warning.
    std::vector<RenamedKey> old_words{};
    /// The key to use if a level has both `units` and `entities`. If kUndecided, having both is an error.
    LevelEntities level_entities = LevelEntities::kUndecided;
    /// Component types whose value may be a file name. The file then has the fields.
    std::vector<std::string> components_in_files;
    /// If true, all other unknown keys are kept as text; if false, they are errors.
    bool keep_unknown_keys = false;
    /// The maximum nesting of entities, counting children and prefabs.
    std::uint32_t max_depth = 256;
    std::uint64_t max_entities = std::uint64_t(1) << 22;
    std::uint64_t max_components = std::uint64_t(1) << 25;
    /// If nullptr, files are read from disk.
    SourceFiles* files = nullptr;
    /// Receives the number of a level's merged entities and the number of compiled components.
    ProgressListener progress{};
    /// Receives the dependencies. If the source has errors, these are the ones found before the errors.
    std::vector<SourceDependency>* dependencies = nullptr;
    /// Each nested child adds two levels of lists and mappings. The limit allows max_depth children and their content.
    ReadOptions read{640};
};

/// Returns the bit in ComponentLayer::consumed_keys for one of kComponentKeys.
constexpr std::uint8_t consumed_bit(SourceKey key) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(key));
}

/// The part of a component that one text declares or changes.
struct ComponentLayer {
    const ComponentLayer* below = nullptr;  ///< the layer that this one modifies; nullptr: this one declares the
                                            ///< component
    Node value;                             ///< the whole text of the component
    Node fields;  ///< `value` or its `data`, which holds the fields; not a mapping if the component is a single value
    std::uint32_t shared_index = kNotShared;  ///< index among the prefab layers, which many entities may share
    std::uint16_t height = 1;                 ///< number of layers, including this one
    std::uint8_t consumed_keys = 0;           ///< a bit for each key of `value` that is not a field
    bool has_other_keys = false;              ///< whether there are keys besides `data`

    static constexpr std::uint32_t kNotShared = 0xFFFFFFFF;
    bool wrapped() const { return (consumed_keys & consumed_bit(SourceKey::kData)) != 0; }
};

struct MergedComponent {
    std::string_view key;     ///< GUID or name
    std::uint32_t type = 0;   ///< index into Composition::types()
    SourcePosition position;  ///< position of its declaration
    const ComponentLayer* top = nullptr;
};

/// An entity with its prefab merged in. Entities with the same prefab share the parts that they do not change.
struct MergedEntity {
    std::string_view key;  ///< GUID or name, without `#`
    std::uint64_t key_hash = 0;
    std::string_view name;  ///< empty: none
    SourcePosition position;
    std::span<const MergedComponent> components;
    std::span<const MergedEntity* const> children;
    std::span<const Node> other_keys;  ///< unknown keys, which the blob keeps
    std::uint64_t num_entities = 1;    ///< in the subtree
    std::uint64_t num_components = 0;  ///< in the subtree
    std::uint32_t height = 1;
};

/// A file's declaration of which version of a component type it is written for.
struct SourceVersion {
    std::string_view type;  ///< as written in the file
    std::uint32_t version = 0;
    SourcePosition position;
};

struct ComposedEntity {
    const MergedEntity* entity = nullptr;
    std::uint32_t parent = kNoBlobEntity;
    std::uint32_t end = 0;   ///< one past the last entity of the subtree
    std::uint64_t guid = 0;  ///< XXH3-64 of the keys from the root to this entity, separated by `/`
};

class Composition {
public:
    SHOAL_API Composition(Composition&& other) noexcept;
    SHOAL_API Composition& operator=(Composition&& other) noexcept;
    SHOAL_API ~Composition();

    bool is_level() const { return is_level_; }
    /// Parents come before children; otherwise the entities are in text order.
    std::span<const ComposedEntity> entities() const { return entities_; }
    /// The names of the component types, in the order in which they first occur.
    std::span<const std::string_view> types() const { return types_; }
    std::uint32_t num_shared_layers() const { return num_shared_layers_; }
    /// Unknown keys of the level, which the blob keeps.
    std::span<const Node> other_keys() const { return other_keys_; }
    std::span<const SourceDependency> dependencies() const { return dependencies_; }
    /// The `_versions` of all files, file by file.
    std::span<const SourceVersion> versions() const { return versions_; }
    /// Returns a file's name in dependencies(), or an empty string if this composition has not read the file.
    SHOAL_API std::string_view source_name(std::uint32_t file) const;

private:
    friend class Composer;
    struct Memory;
    Composition();

    Memory* memory_;
    bool is_level_ = false;
    std::uint32_t num_shared_layers_ = 0;
    std::vector<ComposedEntity> entities_;
    std::vector<std::string_view> types_;
    std::vector<Node> other_keys_;
    std::vector<SourceDependency> dependencies_;
    std::vector<SourceVersion> versions_;
    std::vector<std::pair<std::uint32_t, std::string>> source_names_;
};

/// Composes the source at `path`. Returns nothing if the source cannot be read. Errors: reported to `diagnostics`.
SHOAL_API std::optional<Composition> compose(const std::string& path, const ComposeOptions& options,
                                             Diagnostics& diagnostics);
/// Like compose(), but for a file whose text `diagnostics` already has. If there are no roots, it cannot use prefabs.
SHOAL_API std::optional<Composition> compose_file(std::uint32_t file, const ComposeOptions& options,
                                                  Diagnostics& diagnostics);

/// Returns the fields of a component with all its layers merged: mappings are merged key by key, and other values are
/// replaced. The root is null for a component that only has defaults. Lifetime: as long as the composition.
SHOAL_API Document merge_layers(const ComponentLayer& top);

}  // namespace shoal
