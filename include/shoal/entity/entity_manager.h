#pragma once
// Creates and destroys entities, and knows which ones are alive. It knows nothing about components, and notifies stores
// of deaths.
//
//     generations   [ 0 | 1 | 0 | 7 | 1 | 0 0 0 ... ]   by index; 0: no living entity
//                     ^null               ^next fresh index
//     free list     [ 2:4, 5:2, ... ]                   freed indices with their next generation, oldest first
//
// An entity is alive while generations[index] is the generation in its id. Checking this takes one look-up in an array
// with one byte per index (2 bytes if generations have more than 8 bits, 4 with wide ids). Generations count from 1 to
// the largest generation, which is 255 with 8 bits, and then start at 1 again. An index is reused only while at least
// `minimum_free_ids` indices are free, so the same id returns only after at least 255 x 1,029 pairs of create() and
// destroy() calls.
//
// Thread: any thread may call alive() at any time. All other calls are made by one structural thread at a time (checked
// builds assert this); other threads may make const calls between its calls. Callbacks run on the structural thread.
// While the passes of a world run, only const calls are allowed; other calls end the program. Passes use Commands
// instead.
// Source: Frykholm, "Building a data-oriented entity system", part 1.

#include "shoal/entity/detail/death_list.h"
#include "shoal/entity/detail/free_list.h"
#include "shoal/entity/detail/inactive_entities.h"

namespace shoal {

struct EntityManagerOptions {
    /// The number of indices that must be free before the oldest one is reused; at least 1. With the default, an id is
    /// repeated only after at least 255 x 1,029 pairs of create() and destroy() calls, which is more than 256 x 1,024.
    std::uint32_t minimum_free_ids = 1029;
    /// The number of indices that may be used, 1 to kMaxEntities. When create() fails, up to `minimum_free_ids` - 1 of
    /// them are still free.
    std::uint64_t max_entities = kMaxEntities;
    /// The number of deaths that are kept for the slowest cursor before it falls behind; at least 1.
    std::size_t max_death_list = std::size_t(1) << 20;
};

/// Called with each batch of destroyed entities, in the order of their destruction. The entities are already dead.
/// Lifetime: `destroyed` is valid until the function returns.
using DestructionFunction = void (*)(void* context, std::span<const Entity> destroyed);

/// A registered destruction callback; 0 means none.
struct DestructionCallback {
    std::uint64_t number = 0;
};

class EntityManager {
public:
    /// Reserves address space: 28 MiB by default, 48 GiB with wide ids, or less if less is available; see
    /// max_entities(). If there is no address space, ends the program with a message.
    SHOAL_API explicit EntityManager(const EntityManagerOptions& options = {});
    SHOAL_API ~EntityManager();
    EntityManager(const EntityManager&) = delete;
    EntityManager& operator=(const EntityManager&) = delete;

    /// Fills `out` with new entities. Uses the indices that have been free long enough, oldest first, and then fresh
    /// indices. Errors: too few indices are left. On error, nothing is created, and `out` is unchanged.
    SHOAL_API Status create(std::span<Entity> out);
    /// Cost: a few instructions while fewer than `minimum_free_ids` indices are free.
    SHOAL_INLINE Result<Entity> create() {
        const Entity entity = create_or_null();
        if (SHOAL_UNLIKELY(!entity)) return exhausted(1);
        return entity;
    }

    /// Destroys `entities`, calls each callback once, and returns how many entities died. An id that is dead, null,
    /// foreign or repeated in the span is skipped and counted in num_ignored_destroys(). The span may be a store's own
    /// entities(), which callbacks may reorder.
    SHOAL_API std::uint32_t destroy(std::span<const Entity> entities);
    /// Destroys one entity. Returns whether it was alive.
    SHOAL_API bool destroy(Entity entity);
    /// For callbacks that destroy further entities, such as the children of a dead parent. Destroys `entities` later,
    /// as a separate batch: after all callbacks have run for the current batch, and before the outermost destroy()
    /// returns. Calls do not nest, however long the chain of deaths is. Outside of callbacks, this is the same as
    /// destroy().
    SHOAL_API void destroy_next(std::span<const Entity> entities);

    /// Returns whether `entity` is alive. Any bit pattern is valid. Thread: any thread at any time. Cost: one look-up.
    SHOAL_INLINE bool alive(Entity entity) const {
        return is_of(entity,
                     [](const Generation* place) SHOAL_INLINED { return __atomic_load_n(place, __ATOMIC_RELAXED); });
    }
    /// Like alive(), but for loops without structural calls, so that the compiler may keep the manager's fields in
    /// registers.
    SHOAL_INLINE bool alive_between_changes(Entity entity) const {
        return is_of(entity, [](const Generation* place) SHOAL_INLINED { return *place; });
    }

    /// Returns whether all of `entities` are alive and have consecutive ids, as entities from one create() call usually
    /// do. True for an empty span. Thread: the structural thread. Cost: a fraction of an alive() call for each entity.
    SHOAL_API bool is_living_run(std::span<const Entity> entities) const;

    /// Registers a function that is called with `context` for each batch of deaths from now on, after the callbacks
    /// that were registered before it. The function may create and destroy entities, call destroy_next(), and register
    /// or remove callbacks, including itself. If it destroys entities, all callbacks see the inner batch before the
    /// outer batch continues, up to a thousand batches deep. A callback registered during a batch is called from the
    /// next batch on. See docs/guarantees.md.
    SHOAL_API DestructionCallback add_destruction_callback(DestructionFunction function, void* context);
    /// Requires: the callback is registered.
    SHOAL_API void remove_destruction_callback(DestructionCallback callback);
    /// Whether destroying entities runs callbacks, which may change any store.
    bool has_destruction_callbacks() const { return !callbacks_.empty(); }

    /// The list of deaths, for stores that process deaths later; see death_list.h.
    SHOAL_API DeathCursor open_death_cursor(std::string_view reader = "a store");
    SHOAL_API void close_death_cursor(DeathCursor cursor);
    DeathRange deaths(DeathCursor cursor) const { return deaths_.read(cursor); }
    std::uint64_t deaths_end() const { return deaths_.end(); }
    SHOAL_API void advance(DeathCursor cursor, std::uint64_t position);

    /// Returns the minimum number of deaths between the death of an entity and the reuse of its id.
    std::uint64_t deaths_before_reuse() const { return minimum_free_ids_ * std::uint64_t(kGenerationMask); }
    /// Returns a cursor's position in the list of deaths, for saves.
    std::uint64_t death_position(DeathCursor cursor) const { return deaths_.position(cursor); }
    /// Restores a cursor to a saved position, which death_position() returned. Errors: the position is past the last
    /// death.
    SHOAL_API Status set_death_position(DeathCursor cursor, std::uint64_t position);

    /// Saves which entities are alive, the order in which ids will be reused, and the deaths that at least one cursor
    /// has not passed.
    SHOAL_API void save(SnapshotWriter& to) const;
    /// Replaces the state with what save() wrote. No callbacks are called. All entities count as active, and all
    /// cursors are at the end, until the stores restore their own state. Errors: there are too many entities for this
    /// manager, or the data is inconsistent. On error, nothing has changed. Requires: no destruction is in progress.
    SHOAL_API Status load(SnapshotReader& from);
    /// Checks that the ids in a snapshot have the same width and layout as this program's ids.
    SHOAL_API static Status check_ids(SnapshotReader& from);

    /// A world calls these functions when it begins to use these entities, and when it stops. Only a world that is the
    /// sole user of the entities may load them.
    SHOAL_API void add_world();
    SHOAL_API void remove_world();
    std::uint32_t num_worlds() const { return num_worlds_; }
    /// A world calls this when its passes begin and when they end. In between, any call that changes something ends the
    /// program. Thread: any.
    SHOAL_API void hold(bool hold);
    bool is_held() const { return hold_.is_held(); }
    /// In checked builds, worlds call this after each settle. Logs one warning if deaths stay unread for 1,000 calls.
    SHOAL_API void note_settle();

    /// The living entities that queries skip.
    const InactiveEntities& inactive() const { return inactive_; }
    /// Whether an entity is alive and not skipped by queries: see components/activity.h.
    bool is_active(Entity entity) const { return alive(entity) && !inactive_.has(entity); }
    InactiveEntities& inactive() { return inactive_; }

    std::uint64_t num_alive() const { return next_index_ - 1 - free_list_.size(); }
    std::uint64_t num_free_ids() const { return free_list_.size(); }
    /// The number of indices that have ever been used. These are the indices 1 to num_indices_used().
    std::uint64_t num_indices_used() const { return next_index_ - 1; }
    /// The generation of the living entity at each index, or 0. Lifetime: until an entity is created or destroyed.
    SHOAL_API std::span<const Generation> generations() const;
    std::uint64_t num_ignored_destroys() const { return num_ignored_destroys_; }
    std::uint64_t max_entities() const { return end_index_ - 1; }
    SHOAL_API MemoryUse memory_use() const;

private:
    /// Asserts in checked builds that no other structural call is running.
    class StructuralCall {
    public:
        explicit StructuralCall([[maybe_unused]] bool& busy) {
            if constexpr (SHOAL_CHECKED != 0) begin(busy_ = &busy);
        }
        StructuralCall(const StructuralCall&) = delete;
        ~StructuralCall() {
            if constexpr (SHOAL_CHECKED != 0) __atomic_store_n(busy_, false, __ATOMIC_RELEASE);
        }

    private:
        SHOAL_API static void begin(bool* busy);
        bool* busy_ = nullptr;
    };

    struct Callback {
        DestructionFunction function;  // nullptr: removed while callbacks ran
        void* context;
        std::uint64_t number;
    };

    void require_free(const char* call) const { hold_.require_free(call, "the entity manager"); }
    static constexpr bool kMayLackIndices = kIndexBits > 22;

    SHOAL_INLINE Entity create_or_null() {
        if (SHOAL_UNLIKELY(next_index_ >= fresh_end_)) return take_one();
        const StructuralCall call(busy_);
        const auto index = static_cast<std::uint32_t>(next_index_++);
        __atomic_store_n(generations_.data() + index, Generation(1), __ATOMIC_RELAXED);
        return make_entity(index, 1);
    }
    SHOAL_API Entity take_one();
    SHOAL_API Status exhausted(std::size_t num_asked) const;
    Status check_loaded(SnapshotReader& from, std::span<const Generation> generations,
                        std::span<const Entity> free_ids) const;

    std::size_t num_recyclable() const;
    void recycle(std::span<Entity> out);
    void create_fresh(std::span<Entity> out);
    std::uint32_t destroy_batch(std::span<const Entity> entities);
    std::size_t retire(std::span<const Entity> entities);
    std::size_t retire_run(std::span<const Entity> entities, Entity* next_lives);
    SHOAL_NOINLINE void forget_inactive(std::size_t first_free);
    /// Chooses fresh indices until enough freed ones are available.
    void choose_source() { fresh_end_ = free_list_.size() < minimum_free_ids_ ? end_index_ : 0; }
    void announce(std::span<const Entity> entities, std::size_t num_destroyed);
    void destroy_asked_for();
    void tell_callbacks(std::span<const Entity> destroyed);
    /// Whether load() reads the generation of `entity` at its index.
    template <class Load>
    SHOAL_INLINE bool is_of(Entity entity, const Load& load) const {
        if constexpr (kMayLackIndices)
            if (SHOAL_UNLIKELY(entity.index() >= generations_.capacity())) return false;
        // Compares generation and spare bits as one number, because no stored generation equals a number with a spare
        // bit set. The branch is almost never taken, and is cheaper than arithmetic that excludes a stored 0.
        const EntityBits expected = entity.id >> kIndexBits;
        if (SHOAL_UNLIKELY(expected == 0)) return false;
        return load(generations_.data() + entity.index()) == expected;
    }

    // Set by the constructor. alive() reads nothing else.
    PageArray<Generation> generations_;  // by index
    std::uint64_t end_index_ = 0;
    std::uint32_t minimum_free_ids_ = 0;

    // These are on another cache line, because the structural thread writes to them while other threads call alive().
    alignas(kCacheLineBytes) std::uint64_t next_index_ = 1;
    std::uint64_t fresh_end_ = 0;  // end_index_; 0 while indices are recycled, and from hold() until the next change
    PassHold hold_;
    FreeList free_list_;
    std::uint64_t num_ignored_destroys_ = 0;
    DeathList deaths_;
    InactiveEntities inactive_{hold_};
    Array<Callback> callbacks_{Owner("entity manager")};  // in order of registration
    Array<Entity> next_deaths_{Owner("entity manager")};  // entities passed to destroy_next() by callbacks, in order
    std::uint64_t next_callback_ = 1;
    std::uint32_t callback_depth_ = 0;
    std::uint32_t num_worlds_ = 0;
    std::uint64_t num_settles_ = 0, settles_at_move_ = 0, first_unread_ = 0;
    bool has_warned_ = false, busy_ = false;
};

}  // namespace shoal
