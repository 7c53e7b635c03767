// Implements World: its stores, its frames and settling.

#include "shoal/world/world.h"

#include "shoal/base/clock.h"
#include "shoal/base/detail/floating_point.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/components/activity.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose.h"
#include "shoal/react/observers.h"
#include "shoal/react/position_links.h"
#include "shoal/react/relations.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/transform/transform.h"
#include "shoal/world/detail/text_uses.h"
#include "shoal/world/trace.h"
#include "world/world_host.h"

namespace shoal {

/// The services that every world has.
struct World::OwnServices {
    explicit OwnServices(World& world)
        : relations(world.directory()), position_links(world.directory()), observers(world.directory()), texts(world) {
        world.services().add(relations);
        world.services().add(position_links);
        world.services().add(observers);
        world.services().add(texts);
    }

    Relations relations;
    PositionLinks position_links;
    Observers observers;
    TextCollection texts;
};

World::World(EntityManager& entities, const WorldOptions& options)
    : entities_(entities),
      options_(options),
      pool_(options.pages),
      random_(options.seed),
      host_(make_owned<Host>("world", *this)),
      directory_(entities, host_),
      services_(directory_) {
    WaitingCommands::of_directory(directory_).set_host(host_);
    if (options_.executor == nullptr) options_.executor = &serial_;
    entities_.add_world();
    own_services_ = make_owned<OwnServices>("world", *this);
    deaths_at_settle_ = entities_.deaths_end();
    schedule_.set_seed(options.seed);
    if (options_.library != nullptr) options_.library->add_pin_counter(Host::count_pins, host_);
}

World::~World() {
    services_.end_all();
    if (options_.library != nullptr) options_.library->remove_pin_counter(host_);
    schedule_.clear();  // passes may own objects that refer to managers
    directory_.end_stores();
    destroy_owned("world", own_services_);
    entities_.remove_world();
    destroy_owned("world", host_);
}

Observers& World::observers() { return own_services_->observers; }
const Observers& World::observers() const { return own_services_->observers; }
Relations& World::relations() { return own_services_->relations; }
const Relations& World::relations() const { return own_services_->relations; }
PositionLinks& World::position_links() { return own_services_->position_links; }

// --- stores ------------------------------------------------------------------------------------------------------

/// Returns the Manager<T> of a component type, or nullptr if the world has not created one.
void* World::find_face(const Schema& schema) const {
    const auto* const manager = directory_.find_as<ComponentManager>(schema.id());
    if (manager == nullptr || !directory_.owns(*manager)) return nullptr;
    SHOAL_ASSERT(
        manager->face() != nullptr && manager->schema().layout_hash() == schema.layout_hash(),
        "the manager of this component type was made from a schema or another struct; call manager<T>() first");
    return manager->face();
}

Result<ComponentManager*> World::manager(const Schema& schema, const ManagerOptions& options) {
    if (const Store* const store = directory_.find(schema.id())) {
        const Schema& taken = *directory_.find_schema(schema.id());
        const bool is_same = taken.layout_hash() == schema.layout_hash();
        auto* const manager = directory_.find_as<ComponentManager>(schema.id());
        if (is_same && manager != nullptr && directory_.owns(*store)) return manager;
        if (is_same)
            return Status::error(concat("the store for \"", schema.name(),
                                        "\" is attached to the world, which owns no manager for it; use that store"));
        return Status::error(concat("the world has another store for \"", schema.name(), "\": ", taken.to_text(),
                                    ", not ", schema.to_text()));
    }
    auto* const made = make_owned<ComponentManager>("world", schema, entities_, pool_, options);
    directory_.own(*made, made, [](void* object) { destroy_owned("world", static_cast<ComponentManager*>(object)); });
    return made;
}

Status World::attach(Store& store) { return directory_.add(store); }

void World::detach(Store& store) {
    SHOAL_ASSERT(!directory_.is_held(),
                 "a pass detached a store of the world that runs it; detach it after World::step()");
    SHOAL_ASSERT(!services_.is_settling(),
                 "a destruction callback or an observer detached a store while its world settles; detach it after "
                 "World::settle()");
    SHOAL_ASSERT(!services_.is_spawning(),
                 "a spawn function detached a store; detach it when World::spawn() has returned");
    SHOAL_ASSERT(directory_.has(store), "the store is not attached to this world");
    services_.for_each([&](WorldService& service) { service.before_detach(store); });
    directory_.remove(store);
}

Database& World::database(const DatabaseOptions& options) {
    return host_->database() != nullptr ? *host_->database() : make_store<Database>(options);
}

TransformManager& World::transforms() {
    TransformManager* const known = find_transforms(directory_);
    return known != nullptr ? *known : make_store<TransformManager>(TransformOptions());
}

TransformManager& World::transforms(const TransformOptions& options) {
    TransformManager* const known = find_transforms(directory_);
    if (known == nullptr) return make_store<TransformManager>(options);
    SHOAL_ASSERT(options.mode == known->mode(),
                 "the transforms were made with another mode; make them before the first query or blob that names "
                 "Transform, or call set_mode()");
    return *known;
}

OwnershipManager& World::ownership() {
    auto* const known = directory_.find_as<OwnershipManager>(schema_of<Owned>().id());
    return known != nullptr ? *known : make_store<OwnershipManager>();
}

ActivityManager& World::activity() {
    auto* const known = directory_.find_as<ActivityManager>(schema_of<Inactive>().id());
    return known != nullptr ? *known : make_store<ActivityManager>();
}

PropertyManager& World::properties() {
    PropertyManager* const known = find_properties(directory_);
    return known != nullptr
               ? *known
               : make_store<PropertyManager>(PropertyOptions{.library = options_.library, .texts = &strings_});
}

ModelPoseManager& World::model_poses() {
    if (auto* const known = directory_.find_as<ModelPoseManager>(schema_of<ModelPose>().id())) return *known;
    SHOAL_ASSERT(options_.library != nullptr,
                 "the nodes of models lie in the blobs of a library; give the world one, WorldOptions::library");
    return make_store<ModelPoseManager>(ModelPoseOptions{.transforms = &transforms(), .library = options_.library});
}

// --- time --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint32_t kManyFrames = 100;  // frames without a settle

}  // namespace

void World::hold_rows(bool hold) {
    strings_.take_noted();
    directory_.hold(hold);
    events_.hold(hold);
}

void World::run_frame(float dt) {
    SHOAL_ASSERT(!directory_.is_held(),
                 "a pass called World::step() of the world that runs it; step once per frame, outside of passes");
    SHOAL_ASSERT(!services_.is_settling(),
                 "a destruction callback or an observer called World::step() while the world settles; step it later");
    SHOAL_ASSERT(!services_.is_spawning(),
                 "a spawn function called World::step(); step the world when spawn() has returned");
    SHOAL_CHECK(
        rounds_to_nearest(),
        "the thread that steps a world does not round to the nearest, or makes numbers close to zero zero, so other "
        "machines would compute another state; does the program load a library that was linked with -ffast-math?");
    hold_rows(true);
    const std::uint64_t frame = schedule_.frame();
    schedule_.set_frame(frame + 1);
    schedule_.run_passes(executor(), dt, frame);
    hold_rows(false);
    events_.end_frame();
    if constexpr (SHOAL_CHECKED != 0)
        if (++num_unsettled_frames_ == kManyFrames) warn_of_missing_settle();
}

/// Logs a warning if many frames have run without a settle while commands or dead entities are pending. Logs at most
/// one warning between two settles.
void World::warn_of_missing_settle() {
    WaitingCommands& commands = WaitingCommands::of_directory(directory_);
    const std::uint64_t num_commands = commands.num_waiting();
    const std::uint64_t num_deaths = entities_.deaths_end() - deaths_at_settle_;
    std::string what;
    if (num_commands != 0) {
        const std::string_view pass = schedule_.name_at(commands.first_waiting_pass());
        what = concat(num_commands, " commands wait");
        if (!pass.empty()) what += concat(", the first of them of the pass \"", pass, '"');
    }
    if (num_deaths != 0)
        what += concat(what.empty() ? "" : ", and ", num_deaths, " dead entities have their rows still");
    if (what.empty()) return static_cast<void>(num_unsettled_frames_ = 0);  // restarts the count
    log(LogLevel::kWarning, concat("the passes of a world have run ", kManyFrames, " times without World::settle(): ",
                                   what, "; call settle() after run_passes(), or call step()"));
}

void World::step_and_settle(float dt) {
    run_frame(dt);
    settle();
    services_.for_each(FrameHook::kAfterFrame, [](WorldService& service) { service.after_frame(); });
}

void World::settle() {
    SHOAL_ASSERT(
        !directory_.is_held(),
        "a pass called World::settle() of the world that runs it; World::step() settles when all passes have ended");
    SHOAL_ASSERT(!services_.is_settling(),
                 "a destruction callback or an observer called World::settle() while the world settles; its "
                 "commands are carried out without another call");
    SHOAL_ASSERT(!services_.is_spawning(),
                 "a spawn function called World::settle(); settle the world when spawn() has returned");
    const std::int64_t begin_ns = monotonic_ns();
    services_.note_settling(true);
    settle_stores();
    services_.note_settling(false);
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
    if (Trace* trace = schedule_.trace()) {
        const std::uint64_t ended = frame() == 0 ? 0 : frame() - 1;  // run_frame() has already counted the frame
        trace->add(0, {begin_ns, end_ns, ended, trace->number_of("settle")});
    }
}

/// Visits the stores by index, because destruction callbacks may add stores.
void World::settle_stores() {
    directory_.set_stamp(stamp() + 1);
    settles_.last = {};
    strings_.take_noted();
    strings_.remove_unused();
    const SettleContext context{&random_, stamp(), options_.executor, &settles_.last};
    services_.for_each(FrameHook::kBeforeCommands, [&](WorldService& service) { service.before_commands(context); });
    WaitingCommands& commands = WaitingCommands::of_directory(directory_);
    commands.apply(&settles_.last);
    services_.for_each(FrameHook::kAfterCommands, [&](WorldService& service) { service.after_commands(context); });
    move_attached(directory_, context.executor);
    commands.apply(&settles_.last);  // commands recorded by destruction callbacks
    for (std::size_t i = 0; i < directory_.stores().size(); ++i) directory_.stores()[i]->settle(context);
    directory_.singletons().note_deaths();
    services_.for_each(FrameHook::kNoteDeaths, [](WorldService& service) { service.note_deaths(); });
    services_.for_each(FrameHook::kAfterSettle, [&](WorldService& service) { service.after_settle(context); });
    pool_.trim();
}

}  // namespace shoal
