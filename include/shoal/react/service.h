#pragma once
// Services are objects that a world calls at fixed points in a frame, outside of passes. Frame history, zone streaming
// and relations are services, and programs can add their own:
//
//     struct Census final : WorldService {
//         explicit Census(World& of) : WorldService("census"), world(of) { world.services().add(*this); }
//         ~Census() override { world.services().remove(*this); }
//         void after_settle(const SettleContext&) override { num_alive.push_back(world.entities().num_alive()); }
//         World& world;
//         std::vector<std::uint64_t> num_alive;
//     };
//
// A service overrides the hooks that it needs. At each hook, a world calls its services by stage and, within a stage,
// in the order in which they were added. describe(world) lists them in the same order.
//
//     step()     |- passes -|------------------------------ settle -------------------------------|
//                             before    commands   after      stores   note      after              after
//                             commands             commands   settle   deaths    settle             frame
//
//     spawn()     spawned                      save(world, ...)    save_part
//     detach()    before_detach, forget        load(world, ...)    note_deaths, load_part, after_load
//     ~World()    world_ends
//
// In the hooks of a settle, a service has the same rights as an observer. It may spawn and destroy entities and add and
// remove components, but must not settle, step, save or load the world, or detach a store. Services may be added and
// removed in a hook. A new service is called last in that hook; in later hooks, it is called in the order of stages.
// Cost: a virtual call for each service at each hook. Settle and frame hooks cost nothing for a service whose class is
// final and does not override them.
// Thread: the structural thread of the world.

#include "shoal/base/detail/array.h"
#include "shoal/base/status.h"
#include "shoal/entity/entity.h"
#include "shoal/store/detail/zone.h"

#include <span>
#include <string>
#include <type_traits>

namespace shoal {

class Blob;
class ComponentDirectory;
class Spawned;
class SnapshotReader;
class SnapshotWriter;
class Store;
struct Field;
struct SettleContext;
struct SpawnOptions;
struct StringId;

/// The position of a service in the calling order of its world.
enum class ServiceStage : std::uint8_t {
    kCluster,  ///< stages before kProgram are called before the program's services
    kZones,
    kRelations,
    kPositionLinks,
    kObservers,
    kReloads,
    kProgram,  ///< services that programs add
    kTexts,    ///< later stages are called after the program's services, because they use the results
    kFrames,
    kPersistence,
    kInspector,  ///< shows the results of all other services
};

/// Collects the strings in World::strings() that a service refers to.
class TextMarks {
public:
    virtual void mark(StringId text) = 0;
    /// Marks the strings in a field's value, which is a string id or an array in a blob. Shape: Field::num_values()
    /// values.
    virtual void mark_values(const Field& field, const std::byte* values) = 0;
    /// Marks each string whose id occurs as eight aligned bytes. Use this for data whose layout is unknown.
    virtual void mark_words(std::span<const std::byte> bytes) = 0;

protected:
    ~TextMarks() = default;
};

class WorldService {
public:
    /// Lifetime: `name` outlives the service.
    explicit WorldService(std::string_view name) : name_(name) {}
    virtual ~WorldService() = default;
    WorldService(const WorldService&) = delete;
    WorldService& operator=(const WorldService&) = delete;

    std::string_view name() const { return name_; }
    ServiceStage stage() const { return stage_; }
    /// Returns a line that describe() shows after the name, or an empty string.
    virtual std::string describe() const { return {}; }
    /// Returns a table that describe(), reports and the inspector show below that line, or an empty string. Shape: a
    /// line with the column names and then a line for each row, with tabs between columns:
    /// "rank\tzones\n0\t12\n1\t11\n".
    virtual std::string table() const { return {}; }

    /// World::settle() has begun.
    virtual void before_commands(const SettleContext& /*context*/) {}
    /// The commands have been carried out. The stores settle next, and remove the rows of dead entities.
    virtual void after_commands(const SettleContext& /*context*/) {}
    /// Entities may have died since the last call. Their ids may be reused after this call.
    virtual void note_deaths() {}
    /// The stores have settled. Rows are packed, and do not move until the next structural call.
    virtual void after_settle(const SettleContext& /*context*/) {}
    /// World::step() has run the passes and settled. The world is at rest, so a service may save it.
    virtual void after_frame() {}

    /// World::spawn() or a command has spawned a blob. This is not called for copies of entities.
    virtual void spawned(const Blob& /*blob*/, const Spawned& /*spawned*/, const SpawnOptions& /*options*/) {}
    /// The program is about to detach a store, which still has all its rows and is still part of the world. This is not
    /// called for stores that a failed load has added and removes again.
    virtual void before_detach(Store& /*store*/) {}
    /// A store is being detached, destroyed or replaced. Nothing may refer to it afterwards. Use only its address,
    /// because its destructor may already be running.
    virtual void forget(const Store& /*store*/) {}
    /// The fields of component types have changed, so data that depends on the schemas is out of date.
    virtual void fields_changed() {}
    /// The world is being destroyed. The service must not use it after this call.
    virtual void world_ends() {}

    /// The zones whose rows the service has unloaded to files. unloaded_zone_of() returns the one that has an entity's
    /// row, or kNoZone.
    virtual ZoneSet unloaded_zones() const { return {}; }
    virtual Zone unloaded_zone_of(Entity /*entity*/) const { return kNoZone; }

    /// Marks the strings that only this service refers to. Strings that are not marked by any service may be removed.
    virtual void mark_texts(TextMarks& /*marks*/) const {}

    /// The version of the data that save_part() writes, or 0 if the service saves nothing. If it is not 0, a saved
    /// state has a part `services/NAME` with the version and the data.
    virtual std::uint32_t state_version() const { return 0; }
    virtual void save_part(SnapshotWriter& /*to*/) const {}
    /// Replaces the service's data with the data that save_part() wrote. `version` is the version of the saved data, at
    /// most state_version(), or 0 if the state has no data from the service. Errors: the data is not valid for this
    /// world. On error, the world restores its previous state.
    virtual Status load_part(SnapshotReader& /*from*/, std::uint32_t /*version*/) { return {}; }
    /// A state has been loaded with load(world, ...). This is not called after a rewind to a kept frame.
    virtual void after_load() {}

protected:
    /// For shoal's own services. A world has at most one of them per stage.
    WorldService(std::string_view name, ServiceStage stage) : name_(name), stage_(stage) {}

private:
    friend class WorldServices;
    std::string_view name_;
    ServiceStage stage_ = ServiceStage::kProgram;
    std::uint32_t hooks_ = 0;  // a bit for each FrameHook that the class may override
};

/// The hooks that are called in every frame. For each service, a world calls only the hooks that the service's class
/// may override.
enum class FrameHook : std::uint8_t { kBeforeCommands, kAfterCommands, kNoteDeaths, kAfterSettle, kAfterFrame };

/// The services of a world, in calling order.
class WorldServices {
public:
    /// Lifetime: `directory` must outlive this object.
    explicit WorldServices(const ComponentDirectory& directory) : directory_(directory) {}

    /// Adds a service, after the other services of its stage. Lifetime: remove the service before it is destroyed,
    /// unless the world ends first. Requires: the service has not been added yet, and no passes are running. If the
    /// service saves data, no other service that saves data has the same name.
    template <class Service>
    void add(Service& service) {
        add(service, hooks_of<Service>());
    }
    /// Removes a service. Does nothing if the service was not added. Requires: no passes are running.
    SHOAL_API void remove(const WorldService& service);
    /// Returns the first service of a stage, or nullptr if there is none.
    SHOAL_API WorldService* find(ServiceStage stage) const;

    /// Calls visit(service) for each service, in calling order. visit() may add and remove services.
    template <class Visit>
    void for_each(Visit&& visit) {
        visit_each(services_, visit);
    }
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const WorldService* const service : services_)
            if (service != nullptr) visit(*service);
    }
    /// Calls visit(service) for each service that may override a hook.
    template <class Visit>
    void for_each(FrameHook hook, Visit&& visit) {
        const Array<WorldService*>& asked = asked_[static_cast<std::size_t>(hook)].services;
        if (!asked.empty()) visit_each(asked, visit);
    }

    /// The zones that services have unloaded. unloaded_zone_of() returns the one that has an entity's row, or kNoZone.
    SHOAL_API ZoneSet unloaded_zones() const;
    SHOAL_API Zone unloaded_zone_of(Entity entity) const;
    /// Errors: the row of one of these entities is in an unloaded zone. `done` names the operation in the message, as
    /// in "copied".
    SHOAL_API Status check_loaded(std::span<const Entity> entities, std::string_view done) const;
    /// Errors: there are unloaded zones. `done` names the operation in the message, as in "reloaded".
    SHOAL_API Status check_all_loaded(std::string_view done) const;

    /// Whether no passes are running, the world is not settling, and no blob is being spawned.
    bool is_at_rest() const { return !are_held() && !is_settling_ && num_spawns_ == 0; }
    bool is_settling() const { return is_settling_; }
    bool is_spawning() const { return num_spawns_ != 0; }

    // The world calls these functions to report what it is doing. When it is destroyed, it notifies the services in
    // reverse order.
    void note_settling(bool is_settling) { is_settling_ = is_settling; }
    void note_spawn(bool begins) { num_spawns_ += begins ? 1u : ~0u; }
    SHOAL_API void end_all();

private:
    static constexpr std::size_t kNumHooks = 5;
    struct Asked {
        Array<WorldService*> services{Owner("world")};
    };
    static constexpr std::uint32_t bit(FrameHook hook) { return 1u << static_cast<std::uint32_t>(hook); }

    template <auto kOfService, auto kOfBase>
    static constexpr bool kIsInherited = std::is_same_v<decltype(kOfService), decltype(kOfBase)>;
    /// Returns the hooks that a class may override. For a final class, these are all hooks except those that it visibly
    /// inherits. For other classes, these are all hooks.
    template <class S>
    static constexpr std::uint32_t hooks_of() {
        using Base = WorldService;
        std::uint32_t hooks = ~0u;
        if constexpr (std::is_final_v<S>) {
            if (requires { requires kIsInherited<&S::before_commands, &Base::before_commands>; })
                hooks &= ~bit(FrameHook::kBeforeCommands);
            if (requires { requires kIsInherited<&S::after_commands, &Base::after_commands>; })
                hooks &= ~bit(FrameHook::kAfterCommands);
            if (requires { requires kIsInherited<&S::note_deaths, &Base::note_deaths>; })
                hooks &= ~bit(FrameHook::kNoteDeaths);
            if (requires { requires kIsInherited<&S::after_settle, &Base::after_settle>; })
                hooks &= ~bit(FrameHook::kAfterSettle);
            if (requires { requires kIsInherited<&S::after_frame, &Base::after_frame>; })
                hooks &= ~bit(FrameHook::kAfterFrame);
        }
        return hooks;
    }
    template <class Visit>
    void visit_each(const Array<WorldService*>& services, Visit&& visit) {
        ++num_loops_;
        for (std::size_t i = 0; i < services.size(); ++i)
            if (WorldService* const service = services[i]; service != nullptr) visit(*service);
        if (--num_loops_ == 0 && has_changed_) put_in_order();
    }
    SHOAL_API void add(WorldService& service, std::uint32_t hooks);
    SHOAL_API bool are_held() const;
    SHOAL_API void put_in_order();
    void list(WorldService& service);

    const ComponentDirectory& directory_;
    Array<WorldService*> services_{Owner("world")};  // nullptr for services that were removed during a loop
    Asked asked_[kNumHooks];                         // for each hook, the services that may override it
    std::uint32_t num_loops_ = 0, num_spawns_ = 0;
    bool has_changed_ = false, is_settling_ = false;
};

}  // namespace shoal
