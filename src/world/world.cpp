// A world: its stores, spawning and settling.

#include "shoal/world/world.h"
#include "shoal/world/service.h"

#include "shoal/base/clock.h"
#include "shoal/base/floating_point.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/components/activity.h"
#include "shoal/components/data.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/tag.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose.h"
#include "shoal/table/access_guard.h"
#include "shoal/table/table.h"
#include "shoal/transform/transform.h"
#include "shoal/world/copy.h"
#include "shoal/world/trace.h"
#include "world/built_ins.h"
#include "world/current_blob.h"
#include "world/data_path.h"
#include "world/entity_texts.h"
#include "world/own_services.h"
#include "world/type_name.h"
#include "world/world_host.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {

namespace {

/// Returns how many values of a table refer to arrays in the blob of `resource`.
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

World::World(EntityManager& entities, const WorldOptions& options)
    : entities_(entities),
      executor_(options.executor != nullptr ? options.executor : &serial_),
      library_(options.library),
      default_home_(options.default_home),
      pool_(options.pages),
      random_(options.seed),
      host_(make_owned<WorldHost>("world", *this)),
      directory_(entities, host_),
      commands_(&WaitingCommands::of_directory(directory_)) {
    commands_->set_host(host_);
    entities_.add_world();
    own_services_ = new OwnServices(*this);
    deaths_at_settle_ = entities_.deaths_end();
    schedule_.set_seed(options.seed);
    if (library_ != nullptr)
        library_->add_pin_counter(
            [](void* self, ResourceId resource) { return static_cast<World*>(self)->count_pins(resource); }, this);
}

World::~World() {
    services_.end_all();
    if (library_ != nullptr) library_->remove_pin_counter(this);
    schedule_.clear();          // passes may own things that refer to the managers
    directory_.end_commands();  // whose values may refer to what the stores have
    directory_.clear();
    for (std::size_t i = owned_.size(); i-- > 0;) owned_[i].destroy(owned_[i].object);
    for (const OwnedEvents& events : events_) events.destroy(events.object);
    if (singles_) entities_.destroy(std::span(&singles_, 1));
    delete own_services_;
    entities_.remove_world();
    destroy_owned("world", host_);
}

// --- stores ------------------------------------------------------------------------------------------------------

void* World::find_owned(const Schema& schema) const {
    for (const Owned& owned : owned_) {
        if (owned.manager == nullptr || owned.manager->schema().id() != schema.id()) continue;
        SHOAL_ASSERT(
            owned.typed && owned.manager->schema().layout_hash() == schema.layout_hash(),
            "the manager of this component type was made from a schema or another struct; call manager<T>() first");
        return owned.object;
    }
    return nullptr;
}

void World::own(const Owned& owned) {
    owned_.push_back(owned);
    const Status status = attach(*owned.store);
    SHOAL_ASSERT(status.ok(), status.ok() ? "" : status.message().data());
}

Result<ComponentManager*> World::manager(const Schema& schema, const ManagerOptions& options) {
    if (Store* store = find_store(schema.id())) {
        for (const Owned& owned : owned_)
            if (owned.manager == store && owned.manager->schema().layout_hash() == schema.layout_hash())
                return owned.manager;
        const Schema& taken = *directory_.find_schema(schema.id());
        if (taken.layout_hash() == schema.layout_hash())
            return Status::error(concat("the store for \"", schema.name(),
                                        "\" is attached to the world, which owns no manager for it; use that store"));
        return Status::error(concat("the world has another store for \"", schema.name(), "\": ", taken.to_text(),
                                    ", not ", schema.to_text()));
    }
    auto& made =
        *::new (allocate_memory(sizeof(ComponentManager), "world")) ComponentManager(schema, entities_, pool_, options);
    own({&made, &made, &made, destroy<ComponentManager>, false});
    return &made;
}

Status World::attach(Store& store) {
    if (passes_run_) refuse_store(store);
    if (Status status = directory_.add(store); !status) return status;
    note(store);
    if (stamp_ > 1)
        store.settle({&random_, stamp_, executor_, nullptr});  // so that its writes carry the stamp of the world
    return {};
}

/// Ends the program because a pass has made a store, often by the first use of what is kept there.
void World::refuse_store(const Store& store) {
    std::string names, values;
    for (const Schema* schema : store.schemas()) {
        names += concat(names.empty() ? " for \"" : "\", \"", schema->name());
        if (values.empty()) values = concat("commands.add(entity, ", type_name_of(schema->name()), "{...})");
    }
    if (!names.empty()) names += '"';
    const std::string message =
        concat("a pass made or attached a store of the world that runs it: ", store.kind(), names,
               "; make the store before World::step()",
               values.empty() ? std::string() : concat(", or let the function take a Commands& and say ", values));
    fail_assertion({"no passes run", message.c_str(), __FILE__, __LINE__});
}

/// Keeps in mind a store of a kind of which a world has one, whoever made it.
void World::note(Store& store) {
    if (auto* transforms = dynamic_cast<TransformManager*>(&store)) transforms_ = transforms;
    if (auto* activity = dynamic_cast<ActivityManager*>(&store)) activity_ = activity;
    if (auto* ownership = dynamic_cast<OwnershipManager*>(&store)) ownership_ = ownership;
    if (auto* models = dynamic_cast<ModelPoseManager*>(&store)) model_poses_ = models;
    if (auto* data = dynamic_cast<DataManager*>(&store)) data_ = data;
    if (auto* database = dynamic_cast<Database*>(&store); database_ == nullptr) database_ = database;
}

void World::forget(Store& store) {
    services_.for_each([&](WorldService& service) { service.forget(store); });
    schedule_.forget(store);
    if (transforms_ == &store) transforms_ = nullptr;
    if (activity_ == &store) activity_ = nullptr;
    if (ownership_ == &store) ownership_ = nullptr;
    if (model_poses_ == &store) model_poses_ = nullptr;
    if (data_ == &store) data_ = nullptr;
    if (database_ == &store) database_ = nullptr;
}

/// Puts a manager in the place of another one of the component type.
void World::replace_store(ComponentManager& before, ComponentManager& after) { directory_.replace(before, after); }

Status World::set_home(const Schema& component, Store& store) { return directory_.claim(store, component); }

void World::detach(Store& store) {
    SHOAL_ASSERT(!passes_run_, "a pass detached a store of the world that runs it; detach it after World::step()");
    SHOAL_ASSERT(!is_settling_,
                 "a destruction callback or a reaction detached a store while its world settles; detach it after "
                 "World::settle()");
    SHOAL_ASSERT(num_open_spawns_ == 0,
                 "a spawn function detached a store; detach it when World::spawn() has returned");
    SHOAL_ASSERT(directory_.has(store), "the store is not attached to this world");
    services_.for_each([&](WorldService& service) { service.before_detach(store); });
    forget(store);
    directory_.remove(store);
}

/// Destroys the stores that the world has made since it had `num_owned`, which nobody knows yet.
void World::destroy_stores_after(std::size_t num_owned) {
    while (owned_.size() > num_owned) {
        const Owned last = owned_.back();
        if (directory_.has(*last.store)) detach(*last.store);
        last.destroy(last.object);
        owned_.pop_back();
    }
}

Database& World::database(const DatabaseOptions& options) {
    if (database_ == nullptr) database_ = &make_store<Database>(options);
    return *database_;
}

TransformManager& World::transforms() { return transforms_ != nullptr ? *transforms_ : transforms({}); }

Store& World::require_transforms() {
    require_built_in(schema_of<Transform>());
    return *find_store(schema_of<Transform>().id());
}

TransformManager& World::transforms(const TransformOptions& options) {
    if (transforms_ == nullptr) return make_store<TransformManager>(options);
    SHOAL_ASSERT(options.mode == transforms_->mode(),
                 "the transforms were made with another mode; make them before the first query or blob that names "
                 "Transform, or call set_mode()");
    return *transforms_;
}

Store& World::require_tags() {
    require_built_in(schema_of<Tag>());
    Store* const store = find_store(schema_of<Tag>().id());
    const bool lists = detail::find_tag_lists(*store) != nullptr;
    SHOAL_ASSERT(lists,
                 "a query asks who has a tag, but this world keeps its tags in a store that does not list that; call "
                 "World::manager<Tag>() before tags are used");
    return *store;
}

OwnershipManager& World::ownership() {
    if (ownership_ == nullptr) make_store<OwnershipManager>();
    return *ownership_;
}

DataManager& World::data() {
    if (data_ == nullptr) make_store<DataManager>(DataOptions{.library = library_, .texts = &strings_});
    return *data_;
}

ModelPoseManager& World::model_poses() {
    SHOAL_ASSERT(model_poses_ != nullptr || library_ != nullptr,
                 "the nodes of models lie in the blobs of a library; give the world one, WorldOptions::library");
    if (model_poses_ == nullptr)
        make_store<ModelPoseManager>(ModelPoseOptions{.transforms = &transforms(), .library = library_});
    return *model_poses_;
}

Result<Store*> World::home_of(const Schema& component) { return directory_.require(component); }

void World::require_built_in(const Schema& component) {
    const Status status = home_of(component).status();
    SHOAL_ASSERT(status.ok(), status.ok() ? "" : status.message().data());
}

/// Makes the store of a component type that no store keeps; nullptr: it is not built in, or has none of its own.
Result<Store*> World::make_built_in(const Schema& component) {
    const BuiltIn* const built_in = find_built_in(component);
    if (built_in != nullptr && built_in->make != nullptr) return built_in->make(*this);
    if (!component.single()) return static_cast<Store*>(nullptr);
    const Result<ComponentManager*> made = manager(component);
    if (!made) return made.status();
    if (Status status = make_single(**made); !status) return status;
    return *made;
}

// --- singles -----------------------------------------------------------------------------------------------------

/// Gives the manager of a single its row, if it has none. Errors: its schema allows several; ids or memory run out.
Status World::make_single(ComponentManager& manager) {
    const Schema& schema = manager.schema();
    const std::span<const Entity> owners = manager.table().entities();
    const auto num_alive = std::count_if(owners.begin(), owners.end(), [&](Entity e) { return entities_.alive(e); });
    if (!schema.single() || num_alive > 1)
        return Status::error(concat(
            "\"", schema.name(), "\" is a single, but the world made its manager from a schema ",
            "without `single`, and it has ", num_alive, " of them; compile the blob again that this schema came from"));
    for (std::uint32_t row = manager.num_rows(); row-- > 0;)
        if (!entities_.alive(manager.table().entities()[row])) manager.remove(Instance{row});
    if (num_alive == 1) return {};
    if (!entities_.alive(singles_))
        if (Status status = entities_.create(std::span(&singles_, 1)); !status) return status;
    return manager.add_images(std::span(&singles_, 1), manager.schema().default_image().data(), 0).status();
}

ComponentManager& World::require_single(const Schema& component) {
    SHOAL_ASSERT(component.single(), "the component type is not declared single");
    const Result<Store*> home = home_of(component);
    SHOAL_ASSERT(home.ok(), home.ok() ? "" : home.message().data());
    ComponentManager* const manager = dynamic_cast<ComponentManager*>(*home);
    SHOAL_ASSERT(
        manager != nullptr && manager->schema().layout_hash() == component.layout_hash() && manager->schema().single(),
        "the world keeps this single in another store, with other fields, or by the schema of a blob without "
        "`single`");
    if (!passes_run_) {
        const Status status = make_single(*manager);
        SHOAL_ASSERT(status.ok(), status.ok() ? "" : status.message().data());
    }
    return *manager;
}

const ComponentManager& World::require_single(const Schema& component) const {
    const auto* const manager = dynamic_cast<const ComponentManager*>(find_store(component.id()));
    SHOAL_ASSERT(manager != nullptr && manager->schema().layout_hash() == component.layout_hash() &&
                     manager->schema().single() && manager->num_rows() == 1,
                 "the world has no such single yet; World::single() of a world that is not const makes it");
    if constexpr (SHOAL_CHECKED != 0) ask_read_guard(manager->table(), 0);
    return *manager;
}

std::byte* World::write_single(const Schema& component) {
    SHOAL_ASSERT(!passes_run_,
                 "a pass called World::single(), which may write; name it in the query: Single<Read<&T::field>>");
    return require_single(component).table().write_element(0, 0);
}

// --- active or not -----------------------------------------------------------------------------------------------

ActivityManager& World::activity() {
    if (activity_ == nullptr) make_store<ActivityManager>();
    return *activity_;
}

Status World::set_active(std::span<const Entity> entities, bool is_active) {
    return activity().set_active(entities, is_active);
}

// --- events ------------------------------------------------------------------------------------------------------

void* World::find_events(const void* type) const {
    for (const OwnedEvents& events : events_)
        if (events.type == type) return events.object;
    return nullptr;
}

void World::own_events(const OwnedEvents& owned) {
    SHOAL_ASSERT(!passes_run_,
                 "a pass made an event channel of the world that runs it; call World::events() before World::step()");
    events_.push_back(owned);
}

namespace {

/// A channel with a name.
struct NamedEvents {
    std::string name;
    std::uint32_t event_bytes;
    detail::EventLog log;
    std::uint32_t num_users = 1;
};

void destroy_named(void* object) {
    static_cast<NamedEvents*>(object)->~NamedEvents();
    release_memory(object, sizeof(NamedEvents), "world");
}

}  // namespace

Result<detail::EventLog*> World::events(std::string_view name, std::uint32_t event_bytes) {
    SHOAL_ASSERT(!passes_run_, "a pass asked the world that runs it for an event channel by name; ask between steps");
    if (event_bytes == 0) return Status::error(concat("the events of channel \"", name, "\" have no bytes"));
    for (const OwnedEvents& events : events_) {
        if (events.destroy != destroy_named) continue;
        auto& named = *static_cast<NamedEvents*>(events.object);
        if (named.name != name) continue;
        if (named.event_bytes == event_bytes) return ++named.num_users, &named.log;
        return Status::error(concat("the events of channel \"", name, "\" have ", named.event_bytes, " bytes, not ",
                                    event_bytes, "; give one of the two another name"));
    }
    void* const memory = allocate_memory(sizeof(NamedEvents), "world");
    auto& made = *::new (memory) NamedEvents{std::string(name), event_bytes, detail::EventLog(event_bytes)};
    own_events({&made, &made, &made.log, destroy_named, made.name});
    return &made.log;
}

void World::end_events(const detail::EventLog& events) {
    SHOAL_ASSERT(!passes_run_, "a pass ended an event channel of the world that runs it; end it between steps");
    for (std::size_t i = 0; i < events_.size(); ++i) {
        if (events_[i].log != &events || events_[i].destroy != destroy_named) continue;
        if (--static_cast<NamedEvents*>(events_[i].object)->num_users != 0) return;
        destroy_named(events_[i].object);
        events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
    }
}

// --- services ----------------------------------------------------------------------------------------------------

Reactions& World::reactions() { return own_services_->reactions; }
const Reactions& World::reactions() const { return own_services_->reactions; }
Relations& World::relations() { return own_services_->relations; }
const Relations& World::relations() const { return own_services_->relations; }
FollowedPlaces& World::places() { return own_services_->places; }

// --- fields by name ----------------------------------------------------------------------------------------------

namespace {

std::string_view component_of_path(std::string_view name) { return name.substr(0, name.find_first_of(".[")); }

/// The error of what needs a field, for a value that each entity may have in another type.
Status refuse_data(std::string_view name) {
    return Status::error(concat('"', name,
                                "\" is a named value and no field; read it with DataManager::get(), or with ",
                                "World::field() without a type"));
}

}  // namespace

Result<FieldPath> World::find_field(std::string_view name) {
    const BuiltIn* const built_in = find_built_in(ComponentId(component_of_path(name)));
    if (built_in != nullptr && built_in->make != nullptr && !passes_run_)
        if (const Result<Store*> home = home_of(*built_in->schema); !home) return home.status();
    if (data_ != nullptr && !path_in_data(name).empty()) return refuse_data(name);
    return FieldPath::find_in(directory_, name);
}

/// Finds a field for an entity. Errors: as find_in(); the component type is built in, and no store keeps it, so that the
/// entity has none.
Result<FieldPath> World::find_path(Entity entity, std::string_view name) const {
    if (data_ != nullptr && !path_in_data(name).empty()) return refuse_data(name);
    Result<FieldPath> path = FieldPath::find_in(directory_, name);
    if (path) return path;
    const BuiltIn* const built_in = find_built_in(ComponentId(component_of_path(name)));
    if (built_in == nullptr || directory_.find_shown(*built_in->schema) != nullptr) return path;
    return FieldPath::absence_of(entities_, entity, component_of_path(name));
}

Result<AnyValue> World::field(Entity entity, std::string_view name) const {
    if (const std::string_view path = path_in_data(name); data_ != nullptr && !path.empty())
        return data_->read(entity, path);
    const Result<FieldPath> path = find_path(entity, name);
    if (!path) return path.status();
    return path->read(entity);
}

Status World::set_field(Entity entity, std::string_view name, const AnyValue& value) {
    const bool has_data = data_ != nullptr || (!passes_run_ && find_store(schema_of<Data>().id()) == nullptr);
    if (const std::string_view path = path_in_data(name); has_data && !path.empty())
        return data().write(entity, path, value);
    Result<FieldPath> path = find_field(name);
    if (!path) path = find_path(entity, name);
    if (!path) return path.status();
    if (path->type().type == FieldType::kStringId && value.is_text()) {
        const Status kept =
            passes_run_ ? strings_.note(value.text()) : strings_.intern_until_unused(value.text()).status();
        if (!kept) return kept;
    }
    return path->write(entity, value);
}

namespace {

/// Returns the entity that has the single which a path such as "wind.force" begins with.
Result<Entity> find_single(const World& world, std::string_view name) {
    const std::string_view component = name.substr(0, name.find('.'));
    const Store* const store = world.find_store(ComponentId(component));
    const ComponentRow columns =
        store == nullptr ? ComponentRow() : store->find_row(ComponentId(component), kNullEntity, 0);
    if (columns.schema == nullptr || !columns.schema->single())
        return Status::error(concat("\"", component, "\" is no single of this world; give the entity that has it"));
    const Table& table = *store->tables()[0];
    if (table.num_rows() == 1) return table.entities()[0];
    return Status::error(concat("the single \"", component, "\" is not there; its entity was destroyed"));
}

}  // namespace

Result<AnyValue> World::field(std::string_view name) const {
    const Result<Entity> entity = find_single(*this, name);
    return entity ? field(*entity, name) : Result<AnyValue>(entity.status());
}

Status World::set_field(std::string_view name, const AnyValue& value) {
    const Result<Entity> entity = find_single(*this, name);
    return entity ? set_field(*entity, name, value) : entity.status();
}

// --- resources ---------------------------------------------------------------------------------------------------

/// Whether a store is to take a component type of a blob, not a function or the spawner.
bool World::goes_to_store(const BlobComponents& components) const {
    const RegisteredComponent* const registered = registry_.find(components.id);
    return (registered == nullptr || !registered->has_spawn_function()) && !is_spawn_instruction(*components.schema);
}

namespace {

/// Errors: a component type of the blob has other fields than the one of its name that the world has.
Status check_layout(const Blob& blob, const Schema& compiled, const Schema& taken) {
    if (compiled.layout_hash() == taken.layout_hash()) return {};
    return Status::error(concat("the blob \"", blob.name(), "\" was compiled for ", compiled.to_text(),
                                ", but the world has ", taken.to_text(),
                                "; compile the source again, or say what has changed: see resource/migration.h"));
}

}  // namespace

/// Makes the store of a component type of a blob if it is built in, and the row of a single.
/// Errors: it cannot be made, or keeps what a world has once as what it may have often.
Status World::prepare_store(const Schema& component) {
    Store* const store = find_store(component.id());
    if (store == nullptr) return make_built_in(component).status();
    const Schema& taken = *directory_.find_schema(component.id());
    if (component.single() && !taken.single())
        return Status::error(
            concat("\"", component.name(), "\" is a single in it, but the world may have several; declare both alike"));
    auto* const manager = taken.single() ? dynamic_cast<ComponentManager*>(store) : nullptr;
    return manager == nullptr ? Status() : make_single(*manager);
}

/// Prepares the stores of the component types that the blob has. Errors: as above, or a layout differs.
Status World::prepare_stores(const Blob& blob, std::string_view purpose) {
    for (const BlobComponents& components : blob.component_types()) {
        if (!goes_to_store(components)) continue;
        const Store* const store = find_store(components.id);
        const BuiltIn* const built_in = find_built_in(components.id);
        const Schema* const taken = store != nullptr      ? directory_.find_schema(components.id)
                                    : built_in != nullptr ? built_in->schema
                                                          : nullptr;
        if (taken != nullptr)
            if (Status status = check_layout(blob, *components.schema, *taken); !status) return status;
        if (Status status = prepare_store(*components.schema); !status)
            return Status::error(concat("cannot ", purpose, " \"", blob.name(), "\": ", status.message()));
    }
    return {};
}

Status World::adopt_schemas(const Blob& given) {
    const CurrentBlob current(given, registry_);
    if (!current.status()) return current.status();
    const Blob& blob = current.get();
    if (Status status = prepare_stores(blob, "adopt the schemas of"); !status) return status;
    for (const BlobComponents& components : blob.component_types()) {
        if (!goes_to_store(components)) continue;
        if (find_store(components.id) != nullptr) continue;
        if (Status status = take_schema(*components.schema); !status) return status;
    }
    return {};
}

/// Gives a component type that no store keeps its home.
Status World::take_schema(const Schema& schema) {
    const bool fits_database = !schema.many() || !schema.toggled();
    if (default_home_ == DefaultHome::kDatabase && fits_database) return database().take_component(schema);
    return manager(schema).status();
}

Result<Spawned> World::spawn(const Blob& blob, const SpawnOptions& options) {
    Result<Spawned> spawned = spawn_unlogged(blob, options);
    if (spawned) services_.for_each([&](WorldService& service) { service.spawned(blob, *spawned, options); });
    return spawned;
}

namespace {

/// Lets overrides name values of the data of entities, as World::set_field() does, unless another store keeps Data.
void take_data(World& world, SpawnTargets& targets) {
    if (!can_keep_data(world)) return;
    targets.context = &world;
    targets.set_data = [](void* self, Entity entity, std::string_view path, const AnyValue& value) {
        return static_cast<World*>(self)->data().write(entity, path, value);
    };
}

}  // namespace

Result<Spawned> World::spawn_unlogged(const Blob& given, const SpawnOptions& options) {
    SHOAL_ASSERT(!passes_run_,
                 "a pass called World::spawn() or copy() of the world that runs it; let the function take a "
                 "Commands&, and call its spawn() or copy(), which do so when the world settles");
    const CurrentBlob current(given, registry_);
    if (!current.status()) return current.status();
    const Blob& blob = current.get();
    if (Status status = prepare_stores(blob, "spawn"); !status) return status;
    SpawnTargets targets{directory_, &registry_};
    targets.strings = &strings_;
    if (SHOAL_UNLIKELY(!options.overrides.empty())) take_data(*this, targets);
    ++num_open_spawns_;
    Result<Spawned> spawned = shoal::spawn(targets, blob, options);
    --num_open_spawns_;
    if (spawned)
        for (const BlobText& text : blob.texts())
            if (Result<StringId> kept = strings_.intern_until_unused(blob.string(text.text)); !kept)
                log(LogLevel::kWarning, kept.message());
    return spawned;
}

std::uint64_t World::count_pins(ResourceId resource) const {
    std::uint64_t num_pins = 0;
    num_pins += commands_->count_pins(resource);
    for (const Store* store : directory_.stores()) {
        for (const Table* table : store->tables())
            if (table->schema().has(FieldType::kBlobArray)) num_pins += count_pins_in(*table, resource);
    }
    return num_pins;
}

// --- time --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t kManyFrames = 100;  // without a settle

}  // namespace

void World::hold_rows(bool hold) {
    passes_run_ = services_.is_held_ = hold;
    strings_.take_noted();
    entities_.hold(hold);
    for (Store* store : directory_.stores()) store->hold_rows(hold);
    for (const OwnedEvents& events : events_) events.log->hold(hold);
}

void World::run_frame(float dt) {
    SHOAL_ASSERT(!passes_run_,
                 "a pass called World::step() of the world that runs it; step once per frame, outside of passes");
    SHOAL_ASSERT(!is_settling_,
                 "a destruction callback or a reaction called World::step() while the world settles; step it later");
    SHOAL_ASSERT(num_open_spawns_ == 0,
                 "a spawn function called World::step(); step the world when spawn() has returned");
    SHOAL_CHECK(
        rounds_to_nearest(),
        "the thread that steps a world does not round to the nearest, or makes numbers close to zero zero, so other "
        "machines would compute another state; does the program load a library that was linked with -ffast-math?");
    hold_rows(true);
    schedule_.run_passes(*executor_, dt, frame_++);
    hold_rows(false);
    for (const OwnedEvents& events : events_) events.log->end_frame();
    if constexpr (SHOAL_CHECKED != 0)
        if (++num_unsettled_frames_ == kManyFrames) warn_of_missing_settle();
}

/// Warns in the log, once until the next settle, when a program runs passes and has forgotten to settle, and something waits.
void World::warn_of_missing_settle() {
    const std::uint64_t num_commands = commands_->num_waiting();
    const std::uint64_t num_deaths = entities_.deaths_end() - deaths_at_settle_;
    std::string what;
    if (num_commands != 0) {
        const std::string_view pass = schedule_.name_at(commands_->first_waiting_pass());
        what = concat(num_commands, " commands wait");
        if (!pass.empty()) what += concat(", the first of them of the pass \"", pass, '"');
    }
    if (num_deaths != 0)
        what += concat(what.empty() ? "" : ", and ", num_deaths, " dead entities have their rows still");
    if (what.empty()) return static_cast<void>(num_unsettled_frames_ = 0);  // look again
    log(LogLevel::kWarning, concat("the passes of a world have run ", kManyFrames, " times without World::settle(): ",
                                   what, "; call settle() after run_passes(), or call step()"));
}

void World::step_and_settle(float dt) {
    run_frame(dt);
    settle();
    services_.for_each([](WorldService& service) { service.after_frame(); });
}

void World::settle() {
    SHOAL_ASSERT(
        !passes_run_,
        "a pass called World::settle() of the world that runs it; World::step() settles when all passes have ended");
    SHOAL_ASSERT(!is_settling_,
                 "a destruction callback or a reaction called World::settle() while the world settles; its "
                 "commands are carried out without another call");
    SHOAL_ASSERT(num_open_spawns_ == 0,
                 "a spawn function called World::settle(); settle the world when spawn() has returned");
    const std::int64_t begin_ns = monotonic_ns();
    is_settling_ = true;
    settle_stores();
    is_settling_ = false;
    if constexpr (SHOAL_CHECKED != 0) {
        num_unsettled_frames_ = 0;
        deaths_at_settle_ = entities_.deaths_end();
        entities_.note_settle();
    }
    const std::int64_t end_ns = monotonic_ns();
    settles_.last_ns = end_ns - begin_ns;
    settles_.total_ns += settles_.last_ns;
    settles_.total += settles_.last;
    ++settles_.num_settles;
    if (Trace* trace = schedule_.trace()) trace->add(0, {begin_ns, end_ns, frame_, trace->number_of("settle")});
}

/// Lets transforms follow nodes of models.
void World::move_attached_transforms(const SettleContext& context) {
    if (transforms_ == nullptr) return;
    Store* const attached = model_poses_ == nullptr ? nullptr : find_store(schema_of<AttachedToNode>().id());
    if (attached != nullptr) move_attached(*attached, *model_poses_, *transforms_, context.executor);
}

/// Lets go of the ids of those that have died, which will be those of others.
void World::note_deaths() {
    if (!entities_.alive(singles_)) singles_ = kNullEntity;
    services_.for_each([](WorldService& service) { service.note_deaths(); });
}

/// Visits the stores by index, because destruction callbacks may add stores.
void World::settle_stores() {
    ++stamp_;
    settles_.last = {};
    strings_.take_noted();
    strings_.remove_unused();
    const SettleContext context{&random_, stamp_, executor_, &settles_.last};
    services_.for_each([&](WorldService& service) { service.before_commands(context); });
    commands_->apply(&settles_.last);
    services_.for_each([&](WorldService& service) { service.after_commands(context); });
    move_attached_transforms(context);
    commands_->apply(&settles_.last);  // what destruction callbacks have asked for meanwhile
    for (std::size_t i = 0; i < stores().size(); ++i) stores()[i]->settle(context);
    note_deaths();
    services_.for_each([&](WorldService& service) { service.after_settle(context); });
    pool_.trim();
}

}  // namespace shoal
