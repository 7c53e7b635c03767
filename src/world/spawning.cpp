// Creates the stores that a blob needs in a world, and spawns the blob.

#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/components/properties.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/resource/detail/current_blob.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/world/detail/blob_stores.h"
#include "shoal/world/world.h"
#include "world/built_ins.h"

namespace shoal {

bool goes_to_store(const ComponentRegistry& registry, const BlobComponents& components) {
    const RegisteredComponent* const registered = registry.find(components.id);
    return (registered == nullptr || !registered->has_spawn_function()) && !is_spawn_instruction(*components.schema);
}

namespace {

/// Errors: the component type has different fields in the blob and in the world.
Status check_layout(const Blob& blob, const Schema& compiled, const Schema& taken) {
    if (compiled.layout_hash() == taken.layout_hash()) return {};
    return Status::error(concat("the blob \"", blob.name(), "\" was compiled for ", compiled.to_text(),
                                ", but the world has ", taken.to_text(),
                                "; compile the source again, or say what has changed: see resource/migration.h"));
}

/// Creates the store for a blob's component type if the type is built in. For a singleton, also creates its row.
/// Errors: the store cannot be created, or keeps a singleton type as an ordinary component type.
Status prepare_store(ComponentDirectory& directory, const Schema& component) {
    Store* const store = directory.find(component.id());
    if (store == nullptr) return directory.require(component).status();
    const Schema& taken = *directory.find_schema(component.id());
    if (component.singleton() && !taken.singleton())
        return Status::error(concat("\"", component.name(),
                                    "\" is a singleton in it, but the world may have several; declare both alike"));
    auto* const manager = taken.singleton() ? directory.find_as<ComponentManager>(component.id()) : nullptr;
    return manager == nullptr ? Status() : directory.singletons().make_row(*manager);
}

}  // namespace

Status prepare_stores(World& world, const Blob& blob, std::string_view purpose) {
    ComponentDirectory& directory = world.directory();
    for (const BlobComponents& components : blob.component_types()) {
        if (!goes_to_store(world.registry(), components)) continue;
        const BuiltIn* const built_in = find_built_in(components.id);
        const Schema* const taken = directory.find(components.id) != nullptr ? directory.find_schema(components.id)
                                    : built_in != nullptr                    ? built_in->schema
                                                                             : nullptr;
        if (taken != nullptr)
            if (Status status = check_layout(blob, *components.schema, *taken); !status) return status;
        if (Status status = prepare_store(directory, *components.schema); !status)
            return Status::error(concat("cannot ", purpose, " \"", blob.name(), "\": ", status.message()));
    }
    return {};
}

Status World::adopt_schemas(const Blob& given) {
    const CurrentBlob current(given, registry_);
    if (!current.status()) return current.status();
    const Blob& blob = current.get();
    if (Status status = prepare_stores(*this, blob, "adopt the schemas of"); !status) return status;
    for (const BlobComponents& components : blob.component_types()) {
        if (!goes_to_store(registry_, components) || directory_.find(components.id) != nullptr) continue;
        if (Status status = adopt_schemas(*components.schema); !status) return status;
    }
    return {};
}

Status World::adopt_schemas(const Schema& schema) {
    const bool fits_database = !schema.many() || !schema.enableable();
    if (options_.default_store == DefaultStore::kDatabase && fits_database) return database().take_component(schema);
    return manager(schema).status();
}

Result<Spawned> World::spawn(const Blob& given, const SpawnOptions& options) {
    SHOAL_ASSERT(!directory_.is_held(),
                 "a pass called World::spawn() or copy() of the world that runs it; let the function take a "
                 "Commands&, and call its spawn() or copy(), which do so when the world settles");
    const CurrentBlob current(given, registry_);
    if (!current.status()) return current.status();
    const Blob& blob = current.get();
    if (Status status = prepare_stores(*this, blob, "spawn"); !status) return status;
    SpawnTargets targets{directory_, &registry_};
    targets.strings = &strings_;
    if (SHOAL_UNLIKELY(!options.overrides.empty()) && can_keep_properties(directory_)) {
        targets.context = this;  // lets overrides set properties by name, as set() does
        targets.set_property = [](void* self, Entity entity, std::string_view path, const AnyValue& value) {
            return static_cast<World*>(self)->properties().write(entity, path, value);
        };
    }
    services_.note_spawn(true);
    Result<Spawned> spawned = shoal::spawn(targets, blob, options);
    services_.note_spawn(false);
    if (!spawned) return spawned;
    for (const BlobText& text : blob.texts())
        if (Result<StringId> kept = strings_.intern_until_unused(blob.string(text.text)); !kept)
            log(LogLevel::kWarning, kept.message());
    if (options.tells_services)
        services_.for_each([&](WorldService& service) { service.spawned(given, *spawned, options); });
    return spawned;
}

}  // namespace shoal
