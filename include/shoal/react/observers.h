#pragma once
// Observers are functions that are called when entities have gained or lost a component, or when its value has changed.
//
//     world.observers().on_add<Mesh>([&](std::span<const Entity> entities, std::span<const Mesh> added) {
//         for (std::size_t i = 0; i < entities.size(); ++i) scene.insert(entities[i], added[i].handle);
//     });
//     world.observers().on_remove<Mesh>([&](std::span<const Entity> entities, std::span<const Mesh> before) {
//         for (std::size_t i = 0; i < entities.size(); ++i) scene.erase(entities[i], before[i].handle);
//     });
//     world.observers().on_change<&Door::is_open>([&](std::span<const Entity> doors) { sounds.creak(doors); });
//
// At the end of each settle, after commands have been carried out and the rows of dead entities have been removed,
// observers are called in the order in which they were added. Each observer is called at most once, with all its
// entities. It gets the differences since the previous settle:
//
//     settle 7 --- add, set, remove, destroy: in passes, by command, at once --- settle 8: commands, deaths, observers
//         `------------------- differences are reported at the end of settle 8 ---------------------'
//
// - An observer does not get changes from before it was added.
// - A component that is added and then removed between two settles is not reported. Nor is a component that is removed
//   and then added again.
// - Observers work for all stores and all kinds of changes. A disabled component counts as absent. For a `many` type,
//   an entity is listed once for each component that it gains or loses.
// - Values are optional. For added components, an observer gets the values from just before the first observer is
//   called. For removed and changed components, it gets the values from the end of the previous settle.
// - Entities are in row order, which does not depend on the number of workers.
// - An observer may spawn and destroy entities and add and remove components, directly or by command. It may also add
//   and remove observers. Its changes are reported at the end of the next settle, so observers that trigger each other
//   in a cycle take one step per settle. If an observer settles, steps, saves or loads the world, the program ends;
//   docs/guarantees.md lists what callbacks may do.
// - When a store is removed from the world, the observers of its component types are removed without being called.
//
// Changes that have no observers cost nothing; see store/component_mirror.h. Code that polls can get the same changes
// from the journal; see journal.h.
// Thread: the structural thread of the world.

#include "shoal/react/detail/journal.h"
#include "shoal/react/service.h"
#include "shoal/store/store.h"
#include "shoal/table/detail/column.h"

#include <cstddef>
#include <type_traits>

namespace shoal {

class ComponentMirror;
class ComponentDirectory;

enum class ObserverKind : std::uint8_t { kAdd, kRemove, kChange };

/// Identifies an observer within its world.
struct ObserverId {
    std::uint32_t number = 0;  ///< 0: none
};

/// The changes passed to an observer.
struct ObservedBatch {
    std::span<const Entity> entities;
    /// The current components. Set only for additions, if the observer wants values. Shape: a struct image for each
    /// entity, with the alignment of allocate_memory().
    const std::byte* values_now = nullptr;
    /// The previous components. Set only for removals and changes. If only one field is observed, only that field is
    /// valid. Shape: the same as `values_now`.
    const std::byte* values_before = nullptr;
    const Schema& component;
};

/// A function that is called when components have changed.
class Observer {
public:
    virtual ~Observer() = default;
    virtual void run(const ObservedBatch& batch) = 0;
};

/// What an observer listens to.
struct ObservedChange {
    static constexpr std::uint32_t kAnyField = 0xFFFFFFFF;

    ObserverKind kind = ObserverKind::kAdd;
    std::uint32_t field = kAnyField;  ///< for changes: the field's index in the schema
    bool wants_values = false;        ///< current values for additions, previous ones for removals
};

namespace detail {

/// Wraps an array element, because an Array<bool> has no addressable elements.
template <class Value>
struct HeldValue {
    Value value{};
};

/// Calls a function with values that are read at `offset` in struct images. The values are whole components or one
/// field of each component.
template <class Value, class Function>
class ValueObserver final : public Observer {
public:
    ValueObserver(Function function, std::size_t offset) : function_(std::move(function)), offset_(offset) {}
    void run(const ObservedBatch& batch) override {
        if constexpr (std::is_invocable_v<Function&, std::span<const Entity>>) {
            function_(batch.entities);
        } else {
            static_assert(sizeof(HeldValue<Value>) == sizeof(Value) && alignof(Value) <= alignof(std::max_align_t));
            const std::byte* image = batch.values_now != nullptr ? batch.values_now : batch.values_before;
            if (std::is_trivially_copyable_v<Value> && sizeof(Value) == batch.component.struct_bytes()) {
                // The images are already an array of Value.
                const auto* const first = reinterpret_cast<const Value*>(image);
                return static_cast<void>(
                    function_(batch.entities, std::span<const Value>(first, batch.entities.size())));
            }
            Array<HeldValue<Value>> values(batch.entities.size(), HeldValue<Value>(), "observers");
            image += offset_;
            for (HeldValue<Value>& held : values) {
                copy_bytes(static_cast<void*>(&held.value), image, sizeof(Value));
                image += batch.component.struct_bytes();
            }
            function_(batch.entities, std::span<const Value>(&values.data()->value, values.size()));
        }
    }

private:
    Function function_;
    std::size_t offset_;
};

template <class Value, class Function>
inline constexpr bool kObserves = std::is_invocable_v<Function&, std::span<const Entity>> ||
                                  std::is_invocable_v<Function&, std::span<const Entity>, std::span<const Value>>;

template <class R, class... Arguments>
Observer& make_observer(Arguments&&... arguments) {
    static_assert(alignof(R) <= alignof(std::max_align_t));
    return *::new (allocate_memory(sizeof(R), "observers")) R(std::forward<Arguments>(arguments)...);
}
template <class R>
void destroy_observer(Observer& done) {
    static_cast<R&>(done).~R();
    release_memory(&done, sizeof(R), "observers");
}

}  // namespace detail

/// The observers and the journal of a world; see World::observers().
class Observers final : public WorldService {
public:
    explicit Observers(ComponentDirectory& directory)
        : WorldService("observers", ServiceStage::kObservers), directory_(directory) {}
    SHOAL_API ~Observers() override;

    /// Calls function(entities), or function(entities, std::span<const T> values), at the end of each settle if
    /// entities have gained a component of type T since the previous settle. Requires: a store has T, and no passes are
    /// running. To get values, T must be trivially copyable and not `many`. Cost: values are copied in row order, which
    /// is faster than a lookup of each value.
    template <class T, class Function>
    ObserverId on_add(Function function) {
        return observe_whole<T>(ObserverKind::kAdd, std::move(function));
    }
    /// Like on_add(), but for entities that have lost a T. The values are from the end of the previous settle.
    template <class T, class Function>
    ObserverId on_remove(Function function) {
        return observe_whole<T>(ObserverKind::kRemove, std::move(function));
    }
    /// Like on_add(), but for entities whose component has changed in any field, or in one field, as in
    /// on_change<&Door::is_open>(...). The values are the previous components, or the previous values of the field.
    template <class T, class Function>
    ObserverId on_change(Function function) {
        static_assert(detail::kObserves<T, Function>,
                      "the function takes a std::span<const Entity>, and optionally a std::span<const T>");
        return observe<T, detail::ValueObserver<T, Function>>({ObserverKind::kChange}, std::move(function),
                                                              std::size_t(0));
    }
    template <auto kMember, class Function>
    ObserverId on_change(Function function) {
        using Value = ValueOf<kMember>;
        static_assert(detail::kObserves<Value, Function>,
                      "the function takes a std::span<const Entity>, and optionally a span of values of the field");
        const std::uint32_t field = FieldLayout<kMember>::kIndex;
        return observe<ComponentOf<kMember>, detail::ValueObserver<Value, Function>>(
            {ObserverKind::kChange, field}, std::move(function),
            std::size_t(schema_of<ComponentOf<kMember>>().fields()[field].struct_offset));
    }
    /// Adds an observer of a component type, which need not have a C++ type. Calls destroy(observer) when the observer
    /// is removed.
    /// Errors: no store has the component type, or its values cannot be reported; the message gives the reason.
    SHOAL_API Result<ObserverId> observe(ComponentId component, const ObservedChange& to, Observer& observer,
                                         void (*destroy)(Observer&));
    /// Removes an observer. Does nothing if the observer was already removed. Requires: no passes are running.
    SHOAL_API void remove(ObserverId id);

    /// From now on, keeps a journal that lists at most `max_entities` entities; 0 ends the journal. See journal.h.
    /// Requires: no passes and no observers are running.
    SHOAL_API void keep_journal(std::size_t max_entities);
    bool keeps_journal() const { return journal_.is_kept(); }
    /// Returns the additions and removals of components in all stores since a stamp.
    Journal journal(std::uint64_t since) const { return journal_.since(since); }

    /// Whether an observer is running.
    bool is_telling() const { return is_telling_; }

    std::string describe() const override;
    /// Finds the changes in all stores since the previous settle, and calls the observers.
    void after_settle(const SettleContext& context) override;
    void forget(const Store& store) override;
    /// Removes all observers and the journal.
    void world_ends() override;
    void mark_texts(TextMarks& marks) const override;
    std::uint32_t state_version() const override { return 1; }
    /// save_part() writes the state after the last settle; load_part() restores it, so that the next settle reports
    /// what has changed since the saved one. Neither function calls observers. Requires: no observer is running.
    /// load_part() also requires that the stores have been loaded.
    void save_part(SnapshotWriter& to) const override;
    Status load_part(SnapshotReader& from, std::uint32_t version) override;

private:
    struct Entry {
        ObserverId id;
        ObservedChange to;
        ComponentMirror* mirror;
        Observer* observer;
        void (*destroy)(Observer&);
        bool is_removed = false;
    };
    template <class T, class R, class... Arguments>
    ObserverId observe(const ObservedChange& to, Arguments&&... arguments) {
        static_assert(kIsDescribed<T>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
        return require(schema_of<T>(), to, detail::make_observer<R>(std::forward<Arguments>(arguments)...),
                       detail::destroy_observer<R>);
    }
    template <class T, class Function>
    ObserverId observe_whole(ObserverKind kind, Function function) {
        static_assert(detail::kObserves<T, Function>,
                      "the function takes a std::span<const Entity>, and optionally a std::span<const T>");
        constexpr bool kWantsValues = !std::is_invocable_v<Function&, std::span<const Entity>>;
        static_assert(!kWantsValues || std::is_trivially_copyable_v<T>, "only values that are bytes are kept");
        return observe<T, detail::ValueObserver<T, Function>>({kind, ObservedChange::kAnyField, kWantsValues},
                                                              std::move(function), std::size_t(0));
    }
    SHOAL_API ObserverId require(const Schema& component, const ObservedChange& to, Observer& observer,
                                 void (*destroy)(Observer&));
    ObserverId add(Store& store, const Schema& component, const ObservedChange& to, Observer& observer,
                   void (*destroy)(Observer&));
    void mirror_all(bool have_no_rows);
    void tell(const Entry& entry);
    void drop_removed();
    void drop_mirrors(const Store* store);

    ComponentDirectory& directory_;
    Array<ComponentMirror*> mirrors_{Owner("observers")};  // one per component type, for the journal
    Array<Entry> entries_{Owner("observers")};
    std::uint32_t num_made_ = 0;
    bool is_telling_ = false;
    ChangeJournal journal_;
};

}  // namespace shoal
