#include "world/world_host.h"

#include "shoal/base/text.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/detail/entity_texts.h"
#include "shoal/components/tag.h"
#include "shoal/resource/detail/array_finder.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/table/detail/table.h"
#include "shoal/transform/detail/pose_math.h"
#include "shoal/transform/transform.h"
#include "shoal/world/copy.h"
#include "world/built_ins.h"

#include <algorithm>
#include <cstring>

namespace shoal {

// --- stores ------------------------------------------------------------------------------------------------------

Result<Store*> World::Host::make_store_of(const Schema& component) {
    const BuiltIn* const built_in = shoal::find_built_in(component);
    if (built_in != nullptr && built_in->make != nullptr) return built_in->make(world_);
    if (!component.singleton()) return static_cast<Store*>(nullptr);
    const Result<ComponentManager*> made = world_.manager(component);
    if (!made) return made.status();
    if (Status status = world_.directory_.singletons().make_row(**made); !status) return status;
    return *made;
}

const Schema* World::Host::find_built_in(ComponentId name) const {
    const BuiltIn* const built_in = shoal::find_built_in(name);
    return built_in == nullptr || built_in->make == nullptr ? nullptr : built_in->schema;
}

/// Returns the world's database, or a manager if the database cannot keep the component type.
Result<Store*> World::Host::choose_store_for(const Schema& component) {
    if (!component.many() || !component.enableable()) return &world_.database();
    const Result<ComponentManager*> manager = world_.manager(component);
    return manager ? Result<Store*>(*manager) : Result<Store*>(manager.status());
}

/// Errors: the component type is a singleton and the store is a database; the type would have no effect in this store.
Status World::Host::check_store(const Store& store, const Schema& component) const {
    if (component.singleton() && store.places_whole_entities())
        return Status::error(concat("\"", component.name(),
                                    "\" is a singleton, so it cannot be kept in the database; ask for it with "
                                    "World::singleton(), or let queries name it"));
    const BuiltIn* const built_in = shoal::find_built_in(component);
    if (!store.only_keeps() || built_in == nullptr || built_in->whose.empty()) return {};
    if (built_in->may_have_manager && !store.places_whole_entities()) return {};
    return Status::error(concat("\"", component.name(), "\" is what ", built_in->whose,
                                " of a world say, so it cannot be kept in ", store.kind(),
                                "; call World::", built_in->maker, "() before it is used"));
}

/// Brings the stamp of a newly added store up to date with the other stores.
void World::Host::note_store(Store& store) {
    if (database_ == nullptr) database_ = dynamic_cast<Database*>(&store);
    if (world_.stamp() > 1) store.settle({&world_.random_, world_.stamp(), world_.options_.executor, nullptr});
}

void World::Host::forget_store(Store& store) {
    SHOAL_ASSERT(!world_.services_.is_settling(),
                 "a callback or an observer destroyed a store while its world settles; do it later");
    world_.services_.for_each([&](WorldService& service) { service.forget(store); });
    world_.schedule_.forget(store);
    if (&store != database_) return;
    database_ = nullptr;
    for (Database* const other : list_databases(world_.directory_))
        if (other != &store && database_ == nullptr) database_ = other;
}

// --- commands ----------------------------------------------------------------------------------------------------

Result<std::uint32_t> World::Host::spawn(const Blob& blob, std::span<const Entity> firsts,
                                         std::span<const RootPose> poses, Zone zone,
                                         std::span<const SpawnOverride> overrides) {
    SpawnOptions options;
    options.copies = static_cast<std::uint32_t>(firsts.size());
    options.root_poses = poses;
    options.overrides.assign(overrides.begin(), overrides.end());
    options.first_entities = firsts;
    options.zone = zone;
    options.keep_names = false;
    Status status;
    if (blob.num_entities() == 0) status = Status::error(concat("\"", blob.name(), "\" has no entities"));
    if (status) status = world_.spawn(blob, options).status();
    if (status) return static_cast<std::uint32_t>(firsts.size() * blob.num_entities());
    world_.entities().destroy(firsts);
    return status;
}

Result<std::uint32_t> World::Host::copy(Entity original, std::span<const Entity> firsts,
                                        std::span<const RootPose> poses) {
    SpawnOptions options;
    options.copies = static_cast<std::uint32_t>(firsts.size());
    options.root_poses = poses;
    options.first_entities = firsts;
    options.keep_names = false;
    const Result<Spawned> copied = shoal::copy(world_, original, options);
    if (copied) return static_cast<std::uint32_t>(copied->entities().size());
    world_.entities().destroy(firsts);
    return copied.status();
}

Status World::Host::change_text(TextChange change, Entity entity, std::string_view text) {
    const Schema& component = change == TextChange::kName ? schema_of<DebugName>() : schema_of<Tag>();
    const Result<Store*> keeper = world_.directory_.require(component);
    return keeper ? change_text_in(**keeper, component, world_.strings(), change, entity, text) : keeper.status();
}

// --- what saved commands refer to --------------------------------------------------------------------------------

Status World::Host::check_poses(std::span<const RootPose> poses) const {
    const bool are_sound = std::all_of(poses.begin(), poses.end(), [](const RootPose& pose) {
        return is_sound_position(pose.position) && is_sound_scale(pose.scale) && is_sound_rotation(pose.rotation);
    });
    return are_sound ? Status()
                     : Status::error("a pose is flat, infinite or not a number, or its rotation is not of length 1");
}

Status World::Host::check_images(const Schema& schema, std::span<const std::byte> images) const {
    static_assert(sizeof(Transform) == sizeof(RootPose) && offsetof(Transform, scale) == offsetof(RootPose, scale));
    if (schema.has(FieldType::kBlobArray)) return check_arrays(world_.library(), schema, images);
    if (schema.layout_hash() != schema_of<Transform>().layout_hash() || schema.id() != schema_of<Transform>().id())
        return {};
    return check_poses({reinterpret_cast<const RootPose*>(images.data()), images.size() / sizeof(RootPose)});
}

std::string_view World::Host::name_of_blob(const Blob& blob) const {
    const ResourceLibrary* const library = world_.library();
    return library != nullptr && library->find(blob.id()) == &blob ? blob.name() : std::string_view();
}

const Blob* World::Host::find_blob(ResourceId resource) const {
    const ResourceLibrary* const library = world_.library();
    return library == nullptr ? nullptr : library->find(resource);
}

// --- what refers to resources ------------------------------------------------------------------------------------

namespace {

/// Returns how many values in a table refer to arrays in the blob of `resource`.
std::uint64_t count_pins_in(const Table& table, ResourceId resource) {
    std::uint64_t num_pins = 0;
    if (table.num_rows() == 0) return 0;
    for (const Field& field : table.schema().fields()) {
        if (field.type != FieldType::kBlobArray) continue;
        const ColumnDefinition& column = table.schema().columns()[field.first_column];
        const std::byte* first = table.column(field.first_column) + table.schema().offset_in_column(field);
        for (std::uint32_t row = 0; row < table.num_rows(); ++row)
            for (std::uint32_t value = 0; value < field.num_values(); ++value) {
                BlobArrayBase array;
                std::memcpy(static_cast<void*>(&array),
                            first + std::size_t(row) * column.element_bytes + value * sizeof array, sizeof array);
                num_pins += table.entities()[row] && array.count > 0 && array.resource == resource;
            }
    }
    return num_pins;
}

}  // namespace

std::uint64_t World::Host::count_pins(void* self, ResourceId resource) {
    World& world = static_cast<Host*>(self)->world_;
    std::uint64_t num_pins = WaitingCommands::of_directory(world.directory_).count_pins(resource);
    for (const Store* store : world.directory_.stores())
        for (const Table* table : store->tables())
            if (table->schema().has(FieldType::kBlobArray)) num_pins += count_pins_in(*table, resource);
    return num_pins;
}

}  // namespace shoal
