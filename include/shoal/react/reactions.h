#pragma once
// Reactions: functions that are called when entities have gained, lost or changed a component.
//
//     world.reactions().on_add<Mesh>([&](std::span<const Entity> entities) { scene.insert(entities); });
//     world.reactions().on_remove<Mesh>([&](std::span<const Entity> entities, std::span<const Mesh> before) {
//         for (std::size_t i = 0; i < entities.size(); ++i) scene.erase(entities[i], before[i].handle);
//     });
//     world.reactions().on_change<&Door::is_open>([&](std::span<const Entity> doors) { sounds.creak(doors); });
//
// They are called when the world settles, after the commands and after the rows of the dead were removed, in the order
// in which they were added, and once for all entities. They tell how the world differs from when it settled last:
//
//     settle 7 --- add, set, remove, destroy: from passes, by command, at once --- settle 8: commands, deaths, reactions
//         `------------------------ what differs is told at the end of settle 8 ------------------------'
//
// - What was there when a reaction was added is not told of, nor what went before.
// - A component that comes and goes in between is not told of. One that goes and comes back was not removed.
// - It does not matter which store keeps the component, nor how it was changed. A disabled component counts
//   as not there. With `many`, an entity is named once for each component that it gains or loses.
// - The values before are those of the last settle.
// - Entities are in the order of their rows, so the order does not depend on the number of workers.
// - A reaction may spawn, destroy, add and remove, at once or by command, and may add and remove reactions. What it
//   changes is told at the end of the next settle: reactions that cause each other, also in a circle, go one round per
//   settle. It must not settle, step, save or load the world, which ends the program; docs/guarantees.md has the table of
//   what callbacks may do.
// - When a store leaves the world, the reactions to its component types go with it, untold.
//
// What nobody listens to costs nothing: see store/component_mirror.h. For code that asks instead of being called,
// journal.h keeps the same facts.
// Thread: the structural thread of the world.

#include "shoal/react/journal.h"
#include "shoal/react/service.h"
#include "shoal/store/store.h"
#include "shoal/table/column.h"

#include <cstddef>
#include <type_traits>

namespace shoal {

class ComponentMirror;
class ComponentDirectory;

enum class ReactionKind : std::uint8_t { kAdd, kRemove, kChange };

/// Names a reaction of a world.
struct ReactionId {
    std::uint32_t number = 0;  ///< 0: none
};

/// What a reaction is told.
struct ReactionBatch {
    std::span<const Entity> entities;
    /// For removals and changes: what the components were. Shape: a struct image for each entity; for changes, only the
    /// field is what it was.
    const std::byte* values_before = nullptr;
    const Schema& component;
};

/// A function that is called with what has happened.
class Reaction {
public:
    virtual ~Reaction() = default;
    virtual void run(const ReactionBatch& batch) = 0;
};

/// What a reaction listens to.
struct ReactionTo {
    static constexpr std::uint32_t kAnyField = 0xFFFFFFFF;

    ReactionKind kind = ReactionKind::kAdd;
    std::uint32_t field = kAnyField;  ///< for changes: its place in the schema
    bool wants_values = false;        ///< for removals: what the components were
};

namespace detail {

template <class T, class Function>
class AddReaction final : public Reaction {
public:
    explicit AddReaction(Function function) : function_(std::move(function)) {}
    void run(const ReactionBatch& batch) override { function_(batch.entities); }

private:
    Function function_;
};

/// A value in an array, because an array of bool has no addresses.
template <class Value>
struct HeldValue {
    Value value{};
};

/// Takes the values before from struct images, where they begin at `offset`: whole components, or one field of each.
template <class Value, class Function>
class ValueReaction final : public Reaction {
public:
    ValueReaction(Function function, std::size_t offset) : function_(std::move(function)), offset_(offset) {}
    void run(const ReactionBatch& batch) override {
        if constexpr (std::is_invocable_v<Function&, std::span<const Entity>>) {
            function_(batch.entities);
        } else {
            static_assert(sizeof(HeldValue<Value>) == sizeof(Value) && alignof(Value) <= alignof(std::max_align_t));
            Array<HeldValue<Value>> before(batch.entities.size(), HeldValue<Value>(), "reactions");
            const std::byte* image = batch.values_before + offset_;
            for (HeldValue<Value>& held : before) {
                copy_bytes(static_cast<void*>(&held.value), image, sizeof(Value));
                image += batch.component.struct_bytes();
            }
            function_(batch.entities, std::span<const Value>(&before.data()->value, before.size()));
        }
    }

private:
    Function function_;
    std::size_t offset_;
};

template <class Value, class Function>
inline constexpr bool kReacts = std::is_invocable_v<Function&, std::span<const Entity>> ||
                                std::is_invocable_v<Function&, std::span<const Entity>, std::span<const Value>>;

template <class R, class... Arguments>
Reaction& make_reaction(Arguments&&... arguments) {
    static_assert(alignof(R) <= alignof(std::max_align_t));
    return *::new (allocate_memory(sizeof(R), "reactions")) R(std::forward<Arguments>(arguments)...);
}
template <class R>
void destroy_reaction(Reaction& done) {
    static_cast<R&>(done).~R();
    release_memory(&done, sizeof(R), "reactions");
}

}  // namespace detail

/// The reactions and the journal of a world: World::reactions().
class Reactions final : public WorldService {
public:
    explicit Reactions(ComponentDirectory& directory)
        : WorldService("reactions", ServiceStage::kReactions), directory_(directory) {}
    SHOAL_API ~Reactions() override;

    /// Calls function(entities) at the end of each settle in which entities have gained a component of type T since the
    /// settle before. Requires: a store keeps T; no passes run.
    template <class T, class Function>
    ReactionId on_add(Function function) {
        static_assert(std::is_invocable_v<Function&, std::span<const Entity>>,
                      "the function takes a std::span<const Entity>");
        return react<T, detail::AddReaction<T, Function>>({ReactionKind::kAdd}, std::move(function));
    }
    /// The same for those that have lost one: function(entities), or function(entities, std::span<const T> before).
    /// Requires: as above; for values, T is bytes, and an entity has one.
    template <class T, class Function>
    ReactionId on_remove(Function function) {
        static_assert(detail::kReacts<T, Function>,
                      "the function takes a std::span<const Entity>, and optionally a std::span<const T>");
        constexpr bool kWantsValues = !std::is_invocable_v<Function&, std::span<const Entity>>;
        static_assert(!kWantsValues || std::is_trivially_copyable_v<T>, "only values that are bytes are kept");
        return react<T, detail::ValueReaction<T, Function>>(
            {ReactionKind::kRemove, ReactionTo::kAnyField, kWantsValues}, std::move(function), std::size_t(0));
    }
    /// The same for those whose component differs, in any field, or in one: on_change<&Door::is_open>(...).
    /// The values before are components, or values of the field. Requires: as above.
    template <class T, class Function>
    ReactionId on_change(Function function) {
        static_assert(detail::kReacts<T, Function>,
                      "the function takes a std::span<const Entity>, and optionally a std::span<const T>");
        return react<T, detail::ValueReaction<T, Function>>({ReactionKind::kChange}, std::move(function),
                                                            std::size_t(0));
    }
    template <auto kMember, class Function>
    ReactionId on_change(Function function) {
        using Value = ValueOf<kMember>;
        static_assert(detail::kReacts<Value, Function>,
                      "the function takes a std::span<const Entity>, and optionally a span of values of the field");
        const std::uint32_t field = FieldPlace<kMember>::kIndex;
        return react<ComponentOf<kMember>, detail::ValueReaction<Value, Function>>(
            {ReactionKind::kChange, field}, std::move(function),
            std::size_t(schema_of<ComponentOf<kMember>>().fields()[field].struct_offset));
    }
    /// The same for a component type without a C++ type; destroy(reaction) is called when it goes.
    /// Errors: no store keeps the component type, or its values cannot be had; the message says why.
    SHOAL_API Result<ReactionId> react(ComponentId component, const ReactionTo& to, Reaction& reaction,
                                       void (*destroy)(Reaction&));
    /// Ends a reaction; one that has ended is ignored. Requires: no passes run.
    SHOAL_API void remove(ReactionId id);

    /// Keeps a journal that names at most `max_entities` from now on; 0: none (see react/journal.h). Requires: no
    /// passes run; no reaction runs.
    SHOAL_API void keep_journal(std::size_t max_entities);
    /// Returns which components have come and gone since a stamp, for all stores.
    Journal journal(std::uint64_t since) const { return journal_.since(since); }

    /// Whether a reaction runs.
    bool is_telling() const { return is_telling_; }

    std::string describe() const override;
    /// Finds what has happened to components of the stores before the settle, and tells of it.
    void after_settle(const SettleContext& context) override;
    void forget(const Store& store) override;
    /// Ends all reactions and the journal.
    void world_ends() override;
    void mark_texts(TextMarks& marks) const override;
    std::uint32_t state_version() const override { return 1; }
    /// Writes what the last settle was like, or takes it over: the next one tells how it differs from that. Reactions
    /// are told of nothing. Requires: the stores were loaded; no reaction runs.
    void save_part(StateWriter& to) const override;
    Status load_part(StateReader& from, std::uint32_t version) override;

private:
    struct Entry {
        ReactionId id;
        ReactionTo to;
        ComponentMirror* mirror;
        Reaction* reaction;
        void (*destroy)(Reaction&);
        bool is_removed = false;
    };
    template <class T, class R, class... Arguments>
    ReactionId react(const ReactionTo& to, Arguments&&... arguments) {
        static_assert(kIsDescribed<T>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
        return require(schema_of<T>(), to, detail::make_reaction<R>(std::forward<Arguments>(arguments)...),
                       detail::destroy_reaction<R>);
    }
    SHOAL_API ReactionId require(const Schema& component, const ReactionTo& to, Reaction& reaction,
                                 void (*destroy)(Reaction&));
    ReactionId add(Store& store, const Schema& component, const ReactionTo& to, Reaction& reaction,
                   void (*destroy)(Reaction&));
    void mirror_all(bool have_no_rows);
    void tell(const Entry& entry);
    void drop_removed();
    void drop_mirrors(const Store* store);

    ComponentDirectory& directory_;
    Array<ComponentMirror*> mirrors_{Owner("reactions")};  // for the journal: of all component types
    Array<Entry> entries_{Owner("reactions")};
    std::uint32_t num_made_ = 0;
    bool is_telling_ = false;
    ChangeJournal journal_;
};

}  // namespace shoal
