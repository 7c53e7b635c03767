#pragma once
// The registered component types by name: schema, compile function, spawn order and spawn function.
//
//     ComponentRegistry registry;
//     if (Status s = registry.add<PointMass>(); !s) return report(s);  // text and blob know it
//     if (Status s = registry.set_compile_function("light", compile_light, nullptr, 20); !s) return report(s);
//
// A component type may consist of functions only, without a schema: one function compiles components to bytes, and
// another spawns the bytes.
//
//     Status spawn_song(void* context, const SpawnBatch& batch, std::span<const std::span<const std::byte>> bytes) {
//         auto& singers = *static_cast<Singers*>(context);
//         for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
//             for (std::size_t i = 0; i < bytes.size(); ++i) singers.teach(batch.owner(copy, i), bytes[i]);
//         return {};
//     }
//
//     if (Status s = tool.set_bytes_compile_function("song", compile_song, nullptr); !s) return report(s);
//     if (Status s = world.registry().set_bytes_spawn_function("song", spawn_song, &singers); !s) return report(s);
//
// The compiler processes the component types in spawn order, then by name, and writes them to the blob in that order;
// the spawner uses the order of the blob.
// Thread: one thread adds the component types; then any thread may read.

#include "shoal/base/detail/hash_map.h"
#include "shoal/resource/detail/compile.h"
#include "shoal/store/store.h"
#include "shoal/table/describe.h"

namespace shoal {

/// Spawns all components of one type in a blob, instead of a store.
/// Errors: the function must then keep nothing of the batch. If a later component type fails, the entities of the batch
/// are destroyed, and their data must be removed as for any destroyed entity.
using SpawnFunction = Status (*)(void* context, const SpawnBatch& batch);

/// The same for components that are bytes. Shape: `bytes` has batch.entity_index.size() elements, which are 16-byte
/// aligned and are shared by all copies. Errors: the same. Lifetime of the bytes: as long as the blob.
using BytesSpawnFunction = Status (*)(void* context, const SpawnBatch& batch,
                                      std::span<const std::span<const std::byte>> bytes);

/// Whether the components of a schema are raw bytes: it has one field `bytes`, a read-only array of uint8. The registry
/// makes these schemas, so that raw bytes are stored, checked and shown like any other component.
SHOAL_API bool is_bytes_component(const Schema& schema);

/// How the compiler lays out the components of one type in a blob.
enum class BlobOrder : std::uint8_t {
    kEntities,    ///< in the order of entities in the blob, the same for all component types
    kDepthFirst,  ///< each tree as one range, parents before children, for stores that need it
};

class Migrations;

/// A component type by name. An open struct that the registry fills in.
struct RegisteredComponent {
    std::string name;
    ComponentId id;
    const Schema* schema = nullptr;  ///< nullptr: only functions are registered so far
    std::int32_t spawn_order = 0;
    CompileFunction compile = nullptr;  ///< nullptr: the compiler's default, which follows the schema
    void* compile_context = nullptr;
    CompileScope compile_scope = CompileScope::kComponent;
    BlobOrder blob_order = BlobOrder::kEntities;
    std::span<const std::string_view> more_keys{};  ///< keys that the compile function reads besides the fields
    SpawnFunction spawn = nullptr;                  ///< nullptr: a store spawns the components
    void* spawn_context = nullptr;
    BytesSpawnFunction spawn_bytes = nullptr;  ///< in place of `spawn`
    Migrations* migrations = nullptr;          ///< nullptr: none

    bool has_spawn_function() const { return spawn != nullptr || spawn_bytes != nullptr; }
};

class ComponentRegistry {
public:
    ComponentRegistry() = default;
    SHOAL_API ~ComponentRegistry();
    ComponentRegistry(const ComponentRegistry&) = delete;
    ComponentRegistry& operator=(const ComponentRegistry&) = delete;

    /// Adds a component type; adding an equal schema again does nothing. The schema is copied.
    /// Errors: another schema has this name, or another name has the same identifier; the message shows both.
    SHOAL_API Status add(const Schema& schema);
    template <DescribedComponent T>
    Status add() {
        return add(schema_of<T>());
    }

    /// Compiles components named `name` with `function`, after types with a lower spawn order. The schema may be added
    /// later, but must exist when a source is compiled. If `function` is nullptr, the default function is used, in this
    /// order. `more_keys`: the keys that `function` reads besides the fields, for hints and JSON schemas.
    /// Errors: another function was set, or another name has the same identifier. Lifetime: the keys outlive the
    /// registry.
    SHOAL_API Status set_compile_function(std::string_view name, CompileFunction function, void* context,
                                          std::int32_t spawn_order = 0, CompileScope scope = CompileScope::kComponent,
                                          std::span<const std::string_view> more_keys = {});

    /// Sets the order of components named `name` in a blob. Errors: another name has the same identifier.
    SHOAL_API Status set_blob_order(std::string_view name, BlobOrder order);

    /// Spawns components named `name` with `function` instead of a store.
    /// Errors: another function was set, or another name has the same identifier.
    SHOAL_API Status set_spawn_function(std::string_view name, SpawnFunction function, void* context);

    /// Compiles components named `name` to raw bytes, which `function` sets with CompileOutput::set_bytes(), and makes
    /// a schema for them. An entity has at most one such component. Errors: the name has another schema or compile
    /// function, or is not a valid name. Nothing has changed.
    SHOAL_API Status set_bytes_compile_function(std::string_view name, CompileFunction function, void* context,
                                                std::int32_t spawn_order = 0);
    /// Spawns components named `name`, which were compiled to raw bytes, with `function`. Errors: the name has another
    /// schema or spawn function, or is not a valid name.
    SHOAL_API Status set_bytes_spawn_function(std::string_view name, BytesSpawnFunction function, void* context);

    /// Adds a component type, and returns its migrations from older versions: see migration.h.
    /// Requires: no other schema has the name. Lifetime: as long as the registry.
    SHOAL_API Migrations& migrations(const Schema& schema);
    template <DescribedComponent T>
    Migrations& migrations() {
        return migrations(schema_of<T>());
    }

    /// Removes the compile and spawn functions and the spawn order, for code that is being unloaded: the default
    /// function then compiles the components, and a store spawns them. Unknown names are ignored.
    SHOAL_API void remove_functions(std::string_view name);
    /// Removes a component type with its schema, functions and migrations. Unknown names are ignored. The schema and
    /// the results of find() become invalid.
    SHOAL_API void remove(std::string_view name);

    /// Returns the component type, or nullptr if there is none. Lifetime: as long as the registry, or until remove().
    SHOAL_API const RegisteredComponent* find(std::string_view name) const;
    SHOAL_API const RegisteredComponent* find(ComponentId id) const;
    /// The same, but falls back to a type that used to have this name: see Migrations::renamed_from().
    SHOAL_API const RegisteredComponent* find_current(ComponentId id) const;

    /// All component types, in the order in which their names were first used. Lifetime: until a new name is used.
    std::span<const RegisteredComponent* const> components() const { return components_; }

private:
    Result<RegisteredComponent*> claim(std::string_view name);
    Result<Schema> make_bytes_schema(std::string_view name) const;
    Status set_spawn_functions(std::string_view name, SpawnFunction spawn, BytesSpawnFunction spawn_bytes,
                               void* context);

    Array<const RegisteredComponent*> components_{Owner("component registry")};
    HashMap<ComponentId, RegisteredComponent*> by_id_{Owner("component registry")};
};

}  // namespace shoal
