#pragma once
// Applies commands. See commands.h for the rules.
// Thread: the structural thread of the directory.

#include "command/log_blocks.h"
#include "command/spawn_lists.h"
#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/command/commands.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/table/detail/entity_fields.h"

#include <tuple>

namespace shoal {

class CommandLog;

// The id of a pending entity: bit 30 is set, unlike in the id of a living entity (with wide ids, the generation is 0).
// The lower bits are the number of the settle that the entity waits for, followed by the number of the entity.
inline constexpr EntityBits kPendingBit = EntityBits(1) << 30;
inline constexpr int kPendingNumberBits = 24;
inline constexpr EntityBits kPendingNumberMask = (EntityBits(1) << kPendingNumberBits) - 1;
inline constexpr EntityBits kPendingEpochMask = (EntityBits(1) << (30 - kPendingNumberBits)) - 1;

/// In place of a chunk number: no chunk owns the block of pending entities.
inline constexpr std::uint32_t kNoChunk = 0xFFFFFFFF;

class CommandSettler {
public:
    explicit CommandSettler(CommandLog& log);

    /// Applies the commands of these chunks, in their order. `epoch` identifies their pending entities. The pending
    /// entities in `awaited` are replaced by the created ones, or by null.
    SettleCounts settle(std::span<detail::CommandRecorder* const> chunks, EntityBits epoch, EntityBits num_pending,
                        std::span<Entity> awaited);
    /// Releases memory that recent settles did not need.
    void trim();

private:
    using Kind = detail::CommandKind;
    using List = detail::CommandList;
    using Part = detail::CommandPart;
    using CommandBatch = detail::CommandBatch;

    /// A command that is carried out alone: a call, a set, or a command whose entity is also the target of other
    /// commands.
    struct Single {
        Entity entity;
        std::uint32_t chunk, number;
        const CommandBatch* run;
        std::uint32_t row;
    };

    struct Move {
        Entity entity;
        Zone zone;
    };

    /// Copies of the same blob, or of the same entity, that are made in one call.
    struct SpawnKey {
        const Blob* blob;
        Entity original;
        Zone zone;
        bool has_poses;
        const SpawnOverrides* overrides;  // the overrides of one copy; nullptr: none

        friend bool operator==(const SpawnKey&, const SpawnKey&) = default;
    };
    struct SpawnGroup {
        SpawnKey key;
        Array<Entity> firsts{Owner("commands")};
        Array<RootPose> poses{Owner("commands")};
    };

    /// Commands of one list: a few from each of several chunks. They are carried out in one call.
    struct Batch {
        const List* list = nullptr;
        Zone zone = kNoZone;  // used for creations
        bool takes_bytes = false;
        Array<Entity> entities{Owner("commands")};
        Array<std::byte> images{Owner("commands")};  // row by row, each value at its offset
    };

    /// An add or a remove for an entity whose field is set. Sorted by entity and component, and then by time.
    struct LaterChange {
        Entity entity;
        ComponentId component;
        std::uint32_t chunk, number;

        auto key() const { return std::tuple(entity.id, component.hash, chunk, number); }
    };

    /// A change of a component that its store keeps as a link to another row, such as ChildOf. The change is made after
    /// all other components have been added.
    struct LinkChange {
        Store* store;
        const Schema* schema;
        Entity entity;
        const std::byte* value;  // nullptr: the link is removed
        std::uint32_t chunk, number;
    };

    /// The changes of one store, which are adjacent.
    struct StoreChanges {
        Store* store;
        std::size_t begin, end;  // a range of scratch_.changes
        ChangePromise promise = ChangePromise::kNone;
    };

    static std::uint32_t bit(Kind kind) { return 1u << static_cast<std::uint32_t>(kind); }
    bool has(Kind kind) const { return (kinds_ & bit(kind)) != 0; }
    void number_pending();
    template <class Visit>
    void for_each_pending(Visit&& visit);
    EntityBits number_of(std::uint32_t chunk, Entity pending) const;
    Entity resolve(std::uint32_t chunk, Entity entity) const;
    template <class Note>
    void resolve_entities(std::uint32_t chunk, const CommandBatch& run, Note&& note);
    void resolve_values(std::uint32_t chunk, const CommandBatch& run);

    void destroy();
    bool cancel(std::uint32_t chunk, Entity pending);
    void create();
    void resolve_awaited(std::span<Entity> awaited) const;
    void create_rows(std::uint32_t chunk, const CommandBatch& run);
    Status create_together(const List& list, std::span<const Entity> made, Zone zone);
    std::uint32_t destroy_all(std::span<const Entity> doomed);
    void spawn();
    void copy();
    void move();
    void change();
    void note_named(std::span<const Entity> entities, bool are_run);
    void change_rows(std::uint32_t chunk, const CommandBatch& run);
    void change_contended();
    void change_one(std::span<const Single> commands);
    void change_links();
    void set();
    void note_later_changes(std::span<const Single> sets);
    bool is_overtaken(const Single& set) const;
    void set_one(const Single& set);
    void call();
    Status change_together(std::span<const Entity> entities);
    void group_changes();
    Status prepare_changes(std::span<const Entity> entities);
    template <class Change>
    Status make_changes(Change&& change);

    /// Calls visit(chunk, run) for the rows of some kinds, in order.
    template <class Visit>
    void for_each_run(Kind first, Kind last, Visit&& visit);
    static bool keeps_links(const Result<Store*>& store, const Schema& component);
    void group_spawns(Kind kind);
    void resolve_overrides(std::uint32_t chunk, SpawnOverrides& overrides);
    std::uint32_t find_group(HashMap<std::uint64_t, std::uint32_t>& group_of, const SpawnKey& asked);
    void note_spawned(const char* what, const SpawnGroup& group, const Result<std::uint32_t>& spawned);
    void note_change(const Part& part, const Result<Store*>& store, bool removes, const AddedValues& values);
    void give_values(std::uint32_t chunk, const CommandBatch& run, std::span<const std::uint32_t> order,
                     std::span<const Entity> entities);
    void clear_given();
    static void append_images(const CommandBatch& run, std::span<const std::uint32_t> order, Array<std::byte>& images);
    void give_images(const List& list, const std::byte* images);
    void carry_out(std::uint32_t chunk, const CommandBatch& run, std::span<const std::uint32_t> order,
                   std::span<const Entity> entities, Zone zone);
    template <class Give>
    void carry_out(const List& list, std::span<const Entity> entities, Zone zone, Give&& give);
    Batch& batch_of(const List& list, Zone zone);
    void finish(Batch& batch);
    void finish_batches();
    void clear_named();
    void note_failure(const char* what, std::size_t count, std::string_view message, bool is_in_part = false);

    CommandLog& log_;
    ComponentDirectory& directory_;
    EntityManager& entities_;

    // The state of the current settle.
    std::span<detail::CommandRecorder* const> chunks_;
    EntityBits epoch_ = 0, num_pending_ = 0;
    std::uint32_t kinds_ = 0;        // a bit for each kind of command that occurs
    std::size_t num_cancelled_ = 0;  // pending entities that are never created
    bool any_twice_ = false;         // several adds and removes have the same target
    bool any_dead_ = false;          // adds and removes have dead entities as targets
    bool has_begun_ = false;         // a store has already made its part of the current change
    Status refused_;                 // why a change is impossible, if known before stores are asked
    SettleCounts counts_;

    /// Working memory, kept from one settle to the next.
    struct Scratch {
        Array<std::uint32_t> owners{Owner("commands")};  // for each block of pending entities: the chunk
        Array<Entity> made{Owner("commands")};           // indexed by pending entity
        Array<Entity> entities{Owner("commands")};
        Array<const void*> values{Owner("commands")};  // values of types that are not plain bytes
        Array<std::byte> images{Owner("commands")};
        Array<std::uint32_t> order{Owner("commands")};
        Array<Move> moves{Owner("commands")};
        BitSet once{Owner("commands")};   // indexed by entity: a command names the entity
        BitSet twice{Owner("commands")};  // indexed by entity: several commands name it
        Array<Single> singles{Owner("commands")};
        Array<ComponentChange> changes{Owner("commands")};  // changes of the current entities
        Array<Store*> stores{Owner("commands")};            // for each change: its store
        Array<StoreChanges> by_store{Owner("commands")};
        Array<ComponentChange> sorted{Owner("commands")};
        Array<ComponentId> named{Owner("commands")};
        Array<SpawnGroup> groups{Owner("commands")};
        Array<LinkChange> links{Owner("commands")};
        Array<LaterChange> changed{Owner("commands")};
        Array<Batch> batches{Owner("commands")};  // the first num_batches_ are in use
        HashMap<std::uint64_t, std::uint32_t> batch_numbers{Owner("commands")};
    };
    Scratch scratch_;
    std::size_t num_batches_ = 0;
    std::uint64_t num_rows_ = 0, num_kept_rows_ = 0;  // rows of commands in this settle, and in recent ones
};

}  // namespace shoal
