#pragma once
// Registers component types by name, each with its schema, compile function, spawn order and spawn function.
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
// The compiler sorts the component types by spawn order and then by name. It processes them and writes them to the blob
// in that order. The spawner uses the order in the blob.
// Thread: one thread adds the component types; then any thread may read.

#include "shoal/base/detail/hash_map.h"
#include "shoal/resource/detail/compile.h"
#include "shoal/store/store.h"
#include "shoal/table/describe.h"

namespace shoal {

/// Spawns all of a blob's components of one type, in place of a store. Errors: on error, the function must not keep any
/// data from the batch. If a later component type fails, the entities in the batch are destroyed, and their data must
/// be removed as for any destroyed entity.
using SpawnFunction = Status (*)(void* context, const SpawnBatch& batch);

/// Like SpawnFunction, but for components that are raw bytes. Shape: `bytes` has batch.entity_index.size() elements,
/// which are 16-byte aligned and are shared by all copies. Errors: the same as for SpawnFunction. Lifetime: the bytes
/// live as long as the blob.
using BytesSpawnFunction = Status (*)(void* context, const SpawnBatch& batch,
                                      std::span<const std::span<const std::byte>> bytes);

/// Whether the components of a schema are raw bytes. Such a schema has one field `bytes`, which is a read-only array of
/// uint8. The registry makes these schemas, so that raw bytes are stored, checked and shown like any other component.
SHOAL_API bool is_bytes_component(const Schema& schema);

/// How the compiler lays out the components of one type in a blob.
enum class BlobOrder : std::uint8_t {
    kEntities,    ///< in entity order, which is the same for all component types
    kDepthFirst,  ///< each tree as one range, parents before children, for stores that need this
};

class Migrations;

/// A registered component type. The registry fills in this struct.
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

    /// Adds a component type, and copies its schema. Does nothing if an equal schema has already been added. Errors: a
    /// different schema has this name, or a different name has the same identifier. The message shows both.
    SHOAL_API Status add(const Schema& schema);
    template <DescribedComponent T>
    Status add() {
        return add(schema_of<T>());
    }

    /// Sets the function that compiles components named `name`. They are compiled after types with a lower spawn order.
    /// The schema may be added later, but must exist when a source is compiled. If `function` is nullptr, the default
    /// function is used, with this spawn order. `more_keys` are the keys that `function` reads besides the fields. They
    /// appear in hints and JSON schemas. Errors: a different function was set, or a different name has the same
    /// identifier. Lifetime: the keys must outlive the registry.
    SHOAL_API Status set_compile_function(std::string_view name, CompileFunction function, void* context,
                                          std::int32_t spawn_order = 0, CompileScope scope = CompileScope::kComponent,
                                          std::span<const std::string_view> more_keys = {});

    /// Sets the order in which blobs store components named `name`. Errors: a different name has the same identifier.
    SHOAL_API Status set_blob_order(std::string_view name, BlobOrder order);

    /// Sets the function that, in place of a store, spawns components named `name`. Errors: a different function was
    /// set, or a different name has the same identifier.
    SHOAL_API Status set_spawn_function(std::string_view name, SpawnFunction function, void* context);

    /// Sets the function that compiles components named `name` to raw bytes, and makes a schema for them. The function
    /// sets the bytes with CompileOutput::set_bytes(). An entity has at most one such component. Errors: the name has a
    /// different schema or compile function, or is not a valid name. On error, nothing has changed.
    SHOAL_API Status set_bytes_compile_function(std::string_view name, CompileFunction function, void* context,
                                                std::int32_t spawn_order = 0);
    /// Sets the function that spawns components named `name`, which were compiled to raw bytes. Errors: the name has a
    /// different schema or spawn function, or is not a valid name.
    SHOAL_API Status set_bytes_spawn_function(std::string_view name, BytesSpawnFunction function, void* context);

    /// Adds a component type, and returns its migrations from older versions; see migration.h.
    /// Requires: no other schema has the name. Lifetime: as long as the registry.
    SHOAL_API Migrations& migrations(const Schema& schema);
    template <DescribedComponent T>
    Migrations& migrations() {
        return migrations(schema_of<T>());
    }

    /// Removes the functions and the spawn order of a component type. Call this for code that is being unloaded.
    /// Afterwards, the default function compiles the components, and a store spawns them. Unknown names are ignored.
    SHOAL_API void remove_functions(std::string_view name);
    /// Removes a component type with its schema, functions and migrations. Unknown names are ignored. The schema and
    /// the results of find() become invalid.
    SHOAL_API void remove(std::string_view name);

    /// Returns the component type, or nullptr if there is none. Lifetime: as long as the registry, or until remove().
    SHOAL_API const RegisteredComponent* find(std::string_view name) const;
    SHOAL_API const RegisteredComponent* find(ComponentId id) const;
    /// Like find(), but falls back to a type that used to have this name; see Migrations::renamed_from().
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
