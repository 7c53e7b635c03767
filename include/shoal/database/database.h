#pragma once
// A database is a store for many component types: entities with the same component types in the same zone share a
// table.
//
//     entity --directory--> table, row          table (zone 3, {position, velocity})    e1 e4 e9  | columns
//                                               table (zone 3, {position})              e2        | columns
//                                               table (zone 7, {position, velocity})    e3 e5     | columns
//
//     Database sea(entities, world.pool());
//     Status made = sea.create<Position, Velocity>(fish, near, Position{}, Velocity{{1, 0, 0}});  // all at once
//     if (!made) return made;  // no memory, say; the calls below can fail too
//     if (auto added = sea.add(fish, Hungry{}); !added) return added.status();  // to the table of all three components
//     if (auto removed = sea.remove<Velocity>(fish[7]); !removed) return removed.status();
//     if (auto moved = sea.move(fish, far); !moved) return moved.status();  // to another zone
//     const auto position = sea.field<&Position::value>();  // one field of many entities: knows the columns
//     float height = 0;
//     for (const Entity one : fish)
//         if (const Vec3* found = position.find(one)) height += found->z;
//     if (DatabaseRow row = sea.find(fish[3]))        // many fields of one entity:
//         sea.set<&Position::value>(row, {1, 2, 3});  // one look-up for all
//
// Archetypes are made when they are needed, and C++ types are registered when they are first used. Calls that take a
// ComponentType are for component types that are known only at run time. An entity that loses its last component keeps
// its row and its zone; drop() and destroy() remove the row. A component type declared `enableable` keeps its columns
// in every row of its archetypes: removing or adding it flips a bit, and the value stays unless a new one is given. If
// a component type is declared `many`, an entity has a list of its values: add() puts a value before the others,
// remove() removes all values, and remove_value() removes one. The first value is in the row, so a list of one costs no
// more than a component. The other values are rows of a table that the whole database shares. They are linked by row
// numbers, and stay where they are when the entity moves:
//
//     entity --directory--> table, row      label "ship"  | position ...      value 0
//        `----- index ----> row 5 --> row 2       "old" --> "large"           values 1 and 2
//
// All calls take effect immediately; rows of entities that were destroyed elsewhere are removed at
// settle(). Passes request changes through Commands; see commands.h. The arguments of a call may be spans of any
// table's columns. The destructor of a component may destroy other entities. During a call that removes components from
// many entities or moves their rows, it may destroy entities only one at a time, and may change nothing else. Setting a
// component must not change the database. Calls that would leave rows inconsistent fail an assertion. Thread:
// structural calls from one thread at a time, and not while a loop or a world's schedule runs (see DatabaseLock;
// asserted). Between structural calls, any thread may make const calls.

#include "shoal/database/detail/archetype_graph.h"
#include "shoal/database/detail/component_slots.h"
#include "shoal/database/detail/directory.h"
#include "shoal/database/detail/table_set.h"
#include "shoal/database/detail/values.h"
#include "shoal/store/detail/component_manager.h"
#include "shoal/table/detail/new_rows.h"

#include <type_traits>

namespace shoal {

template <auto kMember>
class DatabaseField;
class Commands;
class GridZones;
struct SpawnPositionField;

class Database final : public Store, detail::UndeclaredCalls {
public:
    /// Requires: `entities` and `pool` outlive the database.
    SHOAL_API Database(EntityManager& entities, PagePool& pool, const DatabaseOptions& options = {});
    SHOAL_API ~Database() override;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    EntityManager& entity_manager() { return entities_; }
    const EntityManager& entity_manager() const { return entities_; }

    // --- component types and archetypes ------------------------------------------------------------------------

    /// Registers a component type, or returns the one that is already registered.
    /// Errors: another type has this name (the message shows both), the schema declares both `many` and `enableable`,
    /// or another store of the same world keeps the type.
    SHOAL_API Result<ComponentType> add_component(const Schema& schema);
    /// Registers a C++ type if necessary, and returns its component type. Requires: none of the errors above occurs.
    template <class T>
    ComponentType component();
    /// Returns the component type, which converts to false if there is none.
    ComponentType find_component(ComponentId component) const { return graph_.find_component(component); }
    /// Returns the component type of a C++ type, which converts to false if there is none. Requires: no other component
    /// type has its name.
    template <class T>
    ComponentType find_component() const;
    const Schema& schema(ComponentType component) const { return graph_.schema(component); }
    /// Ends the program unless this is a component type of the database; the message names `asked_for` if that is not
    /// null.
    void require_component(ComponentType component, Entity asked_for = {}) const {
        graph_.require(component, asked_for);
    }

    /// Returns the archetype of a set of component types, in any order. Requires: no pass or loop is running, unless
    /// the archetype already exists. Lifetime: the database.
    SHOAL_API const Archetype& archetype(std::span<const ComponentType> components);
    template <class... Ts>
    const Archetype& archetype();
    /// Returns the archetype with one more component type, or one fewer. Requires: as for archetype(). Cost: a look-up,
    /// except the first time.
    SHOAL_API const Archetype& with(const Archetype& type, ComponentType component);
    SHOAL_API const Archetype& without(const Archetype& type, ComponentType component);
    std::span<const Archetype* const> archetypes() const { return graph_.archetypes(); }  ///< indexed by number
    std::size_t num_archetypes() const { return graph_.num_archetypes(); }

    // --- entities ------------------------------------------------------------------------------------------------

    /// Fills `out` with new entities of an archetype. Components that `values` does not name get their defaults;
    /// columns in `values` have one element per entity. Errors: no ids, no memory or a full table. On error, no entity
    /// is created.
    SHOAL_API Status create(std::span<Entity> out, const Archetype& type, Zone zone,
                            std::span<const ComponentValues> values = {});
    /// Fills `out` with new entities that have these components. Each component gets its default value, one value for
    /// all entities, or one value per entity from a span. Without a `zone` argument, here and below, the entities are
    /// put into the first zone (see DatabaseOptions).
    template <DescribedComponent... Ts>
    Status create(std::span<Entity> out)
        requires(sizeof...(Ts) > 0)
    {
        return create<Ts...>(out, options_.first_zone);
    }
    template <GivenComponent... Ts>
    Status create(std::span<Entity> out, const Ts&... values)
        requires(sizeof...(Ts) > 0)
    {
        if constexpr (detail::kSomeDisabled<Ts...>)
            return create(out, options_.first_zone, values...);
        else
            return create<Ts...>(out, options_.first_zone, values...);
    }
    template <GivenComponent... Ts>
    Status create(std::span<Entity> out, std::span<const detail::ComponentOfGiven<Ts>>... values)
        requires(sizeof...(Ts) > 0)
    {
        return create<Ts...>(out, options_.first_zone, values...);
    }
    template <DescribedComponent... Ts>
    Status create(std::span<Entity> out, Zone zone)
        requires(sizeof...(Ts) > 0);
    template <DescribedComponent... Ts>
    Status create(std::span<Entity> out, Zone zone, const std::type_identity_t<Ts>&... values)
        requires(sizeof...(Ts) > 0);
    template <GivenComponent... Ts>
    Status create(std::span<Entity> out, Zone zone, std::span<const detail::ComponentOfGiven<Ts>>... values)
        requires(sizeof...(Ts) > 0);

    /// Fills `out` with new entities, some of whose components are disabled: create(many, 0, Position{},
    /// Disabled{Asleep{}}); with spans, create<Position, Disabled<Asleep>>(many, 0, positions, naps).
    template <GivenComponent... Ts>
    Status create(std::span<Entity> out, Zone zone, const Ts&... values)
        requires detail::kSomeDisabled<Ts...>;

    /// Fills `out` with new entities that have these components, some of which may be Disabled<T>, and calls fill(rows)
    /// to write their values into the columns: see NewRows. Values that `fill` does not write have their defaults.
    /// Errors: as for create(). On error, `fill` is not called. Requires: `fill` makes no structural calls to this
    /// database.
    template <GivenComponent... Ts, class Fill>
    Status create_in_place(std::span<Entity> out, Zone zone, Fill&& fill)
        requires(sizeof...(Ts) > 0 && std::is_invocable_v<Fill&, const NewRows&>);
    template <GivenComponent... Ts, class Fill>
    Status create_in_place(std::span<Entity> out, Fill&& fill)
        requires(sizeof...(Ts) > 0 && std::is_invocable_v<Fill&, const NewRows&>)
    {
        return create_in_place<Ts...>(out, options_.first_zone, std::forward<Fill>(fill));
    }

    /// Makes one entity with these components, which may be disabled, and returns it. Errors: as for the first
    /// create().
    template <GivenComponent... Ts>
    Result<Entity> create(const Ts&... values)
        requires(sizeof...(Ts) > 0)
    {
        return create(options_.first_zone, values...);
    }
    template <GivenComponent... Ts>
    Result<Entity> create(Zone zone, const Ts&... values)
        requires(sizeof...(Ts) > 0);

    /// Makes room for `count` more entities with these components in a zone. Calls that create entities there or move
    /// them there then need no more memory for rows. Errors: out of memory or a full table. On error, nothing has
    /// changed.
    SHOAL_API Status reserve(const Archetype& type, Zone zone, std::size_t count);
    template <DescribedComponent... Ts>
    Status reserve(std::size_t count, Zone zone)
        requires(sizeof...(Ts) > 0)
    {
        const ComponentType components[] = {component<Ts>()...};
        return reserve(archetype(components), zone, count);
    }
    template <DescribedComponent... Ts>
    Status reserve(std::size_t count)
        requires(sizeof...(Ts) > 0)
    {
        return reserve<Ts...>(count, options_.first_zone);
    }

    /// Gives a row to each living entity that has no row here. Other entities are skipped. Errors: out of memory or a
    /// full table. On error, nothing has changed.
    SHOAL_API Result<AddCounts> insert(std::span<const Entity> entities, const Archetype& type, Zone zone,
                                       std::span<const ComponentValues> values = {});
    template <GivenComponent... Ts>
    Result<AddCounts> insert(std::span<const Entity> entities, Zone zone,
                             std::span<const detail::ComponentOfGiven<Ts>>... values)
        requires(sizeof...(Ts) > 0);
    template <GivenComponent... Ts>
    Result<AddCounts> insert(std::span<const Entity> entities, std::span<const detail::ComponentOfGiven<Ts>>... values)
        requires(sizeof...(Ts) > 0)
    {
        return insert<Ts...>(entities, options_.first_zone, values...);
    }
    /// Returns whether the entity got a row. The components may be disabled: insert(fish, Position{},
    /// Disabled{Asleep{}}).
    template <GivenComponent... Ts>
    Result<bool> insert(Entity entity, Zone zone, const Ts&... values)
        requires(sizeof...(Ts) > 0);
    template <GivenComponent... Ts>
    SHOAL_INLINE Result<bool> insert(Entity entity, const Ts&... values)
        requires(sizeof...(Ts) > 0)
    {
        return insert(entity, options_.first_zone, values...);
    }

    /// Adds components to living entities, or sets the values of components that they already have (a component for
    /// which no value is given keeps its value). Entities without a row get one in the first zone. num_added counts the
    /// entities that gained a component. For a `many` type, each entity gains a value at the front of its list.
    /// Disabled{Asleep{}} adds a disabled component. Errors: out of memory or a full table. On error, nothing has
    /// changed.
    SHOAL_API Result<AddCounts> add(std::span<const Entity> entities, std::span<const ComponentValues> values);
    template <GivenComponent... Ts>
    Result<AddCounts> add(std::span<const Entity> entities, const Ts&... values)
        requires(sizeof...(Ts) > 0);
    template <DescribedComponent T>
    Result<AddCounts> add(std::span<const Entity> entities, std::span<const std::type_identity_t<T>> values);
    template <GivenComponent... Ts>
    Result<AddCounts> add(Entity entity, const Ts&... values)
        requires(sizeof...(Ts) > 0);

    /// Removes components, including all values of `many` types, and returns how many entities lost a component. Until
    /// the database settles, dead entities keep their rows: like living entities, they can lose components and move to
    /// other zones, but they cannot gain components. Errors: as for add().
    SHOAL_API Result<std::uint32_t> remove(std::span<const Entity> entities, std::span<const ComponentType> components);
    template <DescribedComponent... Ts>
    Result<std::uint32_t> remove(std::span<const Entity> entities);
    template <DescribedComponent... Ts>
    Result<bool> remove(Entity entity);
    using UndeclaredCalls::create, UndeclaredCalls::insert, UndeclaredCalls::add, UndeclaredCalls::remove;

    /// Removes value number `index`, counted from 0, and returns whether there was one. Later values move up. Removing
    /// the only value is the same as remove(). Errors: as for add().
    SHOAL_API Result<bool> remove_value(Entity entity, ComponentType component, std::uint32_t index);
    template <DescribedComponent T>
    Result<bool> remove_value(Entity entity, std::uint32_t index);

    /// Moves entities to a zone and returns how many were in a different zone. Errors: as for add().
    SHOAL_API Result<std::uint32_t> move(std::span<const Entity> entities, Zone zone);
    SHOAL_API Result<bool> move(Entity entity, Zone zone);

    /// Puts the rows of a table into the order of `owners`; loops visit them in this order from then on.
    /// Shape: all entities of the table, each once. Cost: a comparison for each row, and a swap for each row that is
    /// out of place.
    void arrange(const DatabaseTable& table, std::span<const Entity> owners) {
        arrange(table, owners, RowRange{0, table.num_rows()});
    }
    /// The same, and looks only at some rows. Requires: the others are in place; `rows` are ascending.
    SHOAL_API void arrange(const DatabaseTable& table, std::span<const Entity> owners, RowList rows);

    /// Sets, for each row of a table, whether a component type is enabled. Shape: a bit for each row. Requires: the
    /// type is enableable, and the archetype has it.
    SHOAL_API void set_enabled(const DatabaseTable& table, ComponentType component,
                               std::span<const std::uint64_t> bits);

    /// Destroys entities, removes their rows, and returns how many died.
    SHOAL_API std::uint32_t destroy(std::span<const Entity> entities);
    SHOAL_API bool destroy(Entity entity);
    /// Destroys all entities in a zone and returns how many died. The zone's memory is freed after a few settles.
    SHOAL_API std::uint32_t clear_zone(Zone zone);

    /// The commands of the pass that the calling thread is running or, outside of passes, of the program; see
    /// commands.h. In a world or another directory, all stores share these commands.
    /// The function of a loop takes a `Commands&` as its first argument instead. Lifetime: until the next settle.
    SHOAL_API Commands& commands();

    // --- look-up -------------------------------------------------------------------------------------------------

    /// Returns the row of an entity. Any id is allowed; stale, null and foreign ids have no row.
    SHOAL_INLINE DatabaseRow find(Entity entity) const {
        const DatabaseDirectory::Location place = directory_.find(entity);
        if (SHOAL_UNLIKELY(!place)) return {};
        return {&tables_[place.table], place.row, detail::KnownRow(tables_[place.table].row_versions())};
    }
    const DatabaseDirectory& directory() const { return directory_; }
    bool has_row(Entity entity) const { return directory_.rows().find(entity) != kNilRow; }
    /// Whether an entity with a row is dead. Cost: one comparison, unless entities have died since the last settle.
    SHOAL_INLINE bool is_dead(Entity entity) const {
        return SHOAL_UNLIKELY(awaits_deaths()) && !entities_.alive_between_changes(entity);
    }
    bool has(Entity entity, ComponentType component) const;
    template <class T>
    bool has(Entity entity) const;
    /// Reads or writes a field of a row; for a `many` type, the field of the first value. Requires: the row is not nil
    /// and has the component (an enableable one may be disabled). Cost: a search for the column in the table. For many
    /// entities, use field(), which finds all columns once: a look-up then takes 2.8 ns instead of 7.2 ns (100,000
    /// entities in random order).
    template <auto kMember>
    decltype(auto) get(DatabaseRow row) const;
    template <auto kMember>
    void set(DatabaseRow row, const ValueOf<kMember>& value);
    SHOAL_API void require_current(DatabaseRow row, const Schema& component) const;  ///< for checked builds
    /// Returns the fastest way to look up a field of many entities; see field.h. Cost: looks at every table once.
    /// Lifetime: until the next structural call.
    template <auto kMember>
    DatabaseField<kMember> field() const;
    /// Writes each entity's field to `out`, or `missing` if the entity does not have it, and returns how many entities
    /// have it. Shape: `out` has one value per entity. Cost: look-ups are prefetched.
    template <auto kMember>
    std::size_t gather(std::span<const Entity> entities, std::span<ValueOf<kMember>> out,
                       const ValueOf<kMember>& missing = {}) const;

    // --- several values of a type --------------------------------------------------------------------------------

    /// Returns how many values of a component type an entity has. Only a `many` type can have more than one. Any id is
    /// allowed.
    SHOAL_API std::uint32_t num_values(Entity entity, ComponentType component) const;
    template <DescribedComponent T>
    std::uint32_t num_values(Entity entity) const;
    /// Returns a field of value number `index`: by reference, or by value when it is split. Requires: the value exists.
    /// Cost: one step per index; for_each_value() takes one step per value.
    template <auto kMember>
    decltype(auto) get_value(Entity entity, std::uint32_t index) const;
    template <auto kMember>
    void set_value(Entity entity, std::uint32_t index, const ValueOf<kMember>& value);
    /// Calls visit(field) for each value of an entity, in list order.
    template <auto kMember, class Visit>
    void for_each_value(Entity entity, Visit&& visit) const;
    /// Returns the rows of all values except each entity's first, for queries; nullptr if the component type is not
    /// `many`. Requires: no structural call is made through the result. Lifetime: the database.
    OwnedRows* further_values(ComponentType component) const {
        return component.number < further_.size() ? further_[component.number] : nullptr;
    }

    // --- tables, for queries -------------------------------------------------------------------------------------

    /// Shape: indexed by table number; nullptr where a number is free. See match.h for the tables with given
    /// components.
    /// Lifetime: until the next structural call.
    std::span<DatabaseTable* const> all_tables() const { return tables_.by_number(); }
    /// One bit per table number, set if the table has rows.
    std::span<const std::uint64_t> occupied() const { return tables_.occupied(); }
    /// Returns the table of an archetype in a zone, or nullptr.
    DatabaseTable* find_table(const Archetype& type, Zone zone) const { return tables_.find(type, zone); }
    /// Calls visit(table) for every table in a zone.
    template <class Visit>
    void for_each_table_of_zone(Zone zone, Visit&& visit) const {
        tables_.for_each_of_zone(zone, visit);
    }
    /// Increases when a table number is freed: anything derived from all_tables() is then out of date. While it stays
    /// the same, tables are only appended.
    std::uint64_t table_list_epoch() const { return tables_.epoch(); }
    /// Where the columns of a component type are in each table, for look-ups; kept up to date as tables are added.
    /// Shape: indexed by table number; nullptr: the table lacks the type. Lifetime: the database. Thread: any, between
    /// structural calls.
    const Array<const PhysicalColumn*>& columns_of(ComponentType component) const {
        return tables_.columns_of(component);
    }
    /// Increases with every row that is added, removed or moved, and with every bit that is flipped.
    std::uint64_t num_structural_changes() const { return tables_.num_changes(); }
    SHOAL_API std::uint64_t num_rows() const;
    SHOAL_API std::uint64_t num_rows(Zone zone) const;

    /// Checks that the tables, bits, directory, maps and further values are consistent.
    SHOAL_API Status validate() const;

    // --- zones whose rows are kept elsewhere ---------------------------------------------------------------------

    /// Writes the rows in a zone, with all values of the zone's entities, so that read_zone() can restore them in a
    /// database with the same entities. Refuses rows with opaque fields. Also refuses rows that refer to a resource's
    /// read-only arrays, because nothing would keep the resource loaded.
    SHOAL_API void write_zone(Zone zone, SnapshotWriter& to) const;
    /// Restores the rows that write_zone() wrote, except the rows of entities that have died since then. An entity that
    /// already has a row moves to the zone, and gains the components that it lacks and the saved values of `many`
    /// types. The entities in `gone`, in ascending order, count as dead even if their ids are in use again. Returns how
    /// many entities had no row. Errors: a component type has different fields; no memory or a full table. On error,
    /// nothing has changed.
    SHOAL_API Result<std::uint32_t> read_zone(Zone zone, SnapshotReader& from, std::span<const Entity> gone = {});
    /// Checks the output of write_zone() as read_zone() does, except for the owners of the rows. Adds no rows, but may
    /// add archetypes. Returns the owners, including dead ones, in ascending order. Errors: read_zone() would refuse
    /// the rows, whichever entities are alive.
    SHOAL_API Result<Array<Entity>> check_zone(Zone zone, SnapshotReader& from);
    /// Removes the rows in a zone and returns how many there were. The entities stay alive, without rows.
    SHOAL_API std::uint32_t drop_zone(Zone zone);
    /// Starts or stops recording which zones are visited by queries that are limited to zones.
    SHOAL_API void watch_zones(bool watches);
    /// Returns the zones recorded since the last call, and forgets them. Requires: no pass is running.
    SHOAL_API ZoneSet take_watched_zones();
    /// Returns the zones recorded since the last take_watched_zones(), and keeps them.
    SHOAL_API ZoneSet watched_zones() const;
    /// Records that a query visits some zones. Thread: any.
    void note_visit(const ZoneSet& zones) const {
        if (SHOAL_UNLIKELY(watched_zones_ != nullptr)) note_watched(zones);
    }

    // --- spawning ------------------------------------------------------------------------------------------------

    /// From now on, puts each spawned entity into the tile of its world position, which is in the Vec3 field `field` of
    /// the component type. SpawnOptions::root_poses are applied to that field first, as they are to the roots of
    /// transforms. A position that is not a number is in the zone for large entities. The zone is the first of these
    /// that exists: the zone that the source names for the entity or an ancestor (see spawn_zone.h), the tile of its
    /// field, its parent's zone, or the database's first zone. PositionLinks::keep_in_tiles() does the same, and also
    /// moves rows later. Errors: there is no such field, or it is not a single Vec3; another field or grid was set
    /// before. On error, nothing has changed.
    SHOAL_API Status spawn_into_tiles(ComponentType component, std::string_view field, const GridZones& tiles);
    template <auto kMember>
    void spawn_into_tiles(const GridZones& tiles);

    // --- Store ---------------------------------------------------------------------------------------------------

    std::string_view kind() const override { return "the database"; }
    std::span<const Schema* const> schemas() const override { return graph_.schemas(); }
    Status take_component(const Schema& component) override { return add_component(component).status(); }
    bool only_keeps() const override { return true; }
    bool can_disable() const override { return true; }
    /// Whether a field determines the zone of spawned entities: see spawn_into_tiles().
    bool spawns_into_tiles() const { return spawn_place_ != nullptr; }
    /// Whether this field, given by its index in the schema, determines the zone of spawned entities.
    SHOAL_API bool is_place_of_tiles(ComponentId component, std::size_t field) const override;
    bool takes_single_values() const override { return true; }
    SHOAL_API Status remove_one_value(const Schema& component, Entity entity, const ComponentRow& at,
                                      std::uint32_t index) override;
    /// The zone of entities for which no zone was given.
    Zone first_zone() const { return options_.first_zone; }
    bool places_whole_entities() const override { return true; }
    SHOAL_API void begin_spawn() override;
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    SHOAL_API Status finish_spawn() override;
    SHOAL_API void drop(std::span<const Entity> entities) override;
    void hold_rows(bool hold) override { hold ? directory_.hold() : directory_.release(); }
    bool is_held() const override { return directory_.is_held(); }
    /// If the database is outside of a directory, first carries out the waiting commands.
    SHOAL_API void settle(const SettleContext& context) override;
    std::span<const Table* const> tables() const override { return tables_.list(); }
    SHOAL_API Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                               const AddedValues& values) override;
    SHOAL_API Result<std::uint32_t> remove_values(const Schema& component, std::span<const Entity> entities) override;
    /// Each entity moves only once for all of its changes, unless they give it several values of a `many` type.
    SHOAL_API Status change(std::span<const Entity> entities, std::span<const ComponentChange> changes,
                            ChangeCounts& counts) override;
    SHOAL_API Result<ChangePromise> prepare_change(std::span<const Entity> entities,
                                                   std::span<const ComponentChange> changes) override;
    SHOAL_API Status insert_new(std::span<const Entity> entities, Zone zone, std::span<const ComponentChange> changes,
                                ChangeCounts& counts) override;
    Result<std::uint32_t> move_to_zone(std::span<const Entity> entities, Zone zone) override {
        return move(entities, zone);
    }
    SHOAL_API void drop_destroyed(std::span<const Entity> entities, std::uint64_t deaths_before,
                                  std::uint32_t num_destroyed) override;
    SHOAL_API void list_tables(const Schema& component, Array<ComponentTable>& tables) override;
    SHOAL_API ComponentRow find_row(ComponentId component, Entity entity, std::uint32_t index) const override;
    SHOAL_API std::size_t statistics(std::span<StoreStatistics> out) const override;
    /// Includes the numbers of tables and archetypes, which decide the order in which queries visit rows. A database
    /// outside of a directory also saves its waiting commands: see command/detail/saved_commands.h.
    SHOAL_API void save(SnapshotWriter& to) const override;
    /// Like Store::load(), but it is also an error if this database lacks one of the saved component types.
    SHOAL_API Status load(SnapshotReader& from) override;

private:
    friend class RowMove;
    class Spawn;
    class Arguments;   // the entities and values of a call
    class Selection;   // the rows that a call affects, by table
    class RowBits;     // the bits that a call sets in one row after another
    struct TypedList;  // a list of C++ types, as component types

    // Calls with C++ types.
    template <class... Ts>
    TypedList& typed_list();
    template <class... Ts>
    TypedList& find_list();
    template <class T, class Value>
    ComponentValues typed_values(const Value& value);
    template <class Given>
    ComponentValues values_of_given(const Given& given);
    template <class Given, class Value>
    ComponentValues values_given_as(const Value& value);
    template <class... Ts>
    Status create_defaults(std::span<Entity> out, Zone zone);
    SHOAL_API TypedList& remember_list(std::uint32_t slot, std::span<const ComponentType> components);
    SHOAL_API void note_table(TypedList& list, Zone zone, std::span<const ComponentType> components);
    SHOAL_API ComponentType remember_component(std::uint32_t slot, const Schema& schema);
    SHOAL_API ComponentType find_described(const Schema& schema) const;
    template <class T>
    ComponentType find_unknown() const;
    SHOAL_API void require_known(bool is_known) const;

    SHOAL_API Result<AddCounts> add_one(Entity entity, std::span<const ComponentValues> values, TypedKey key);
    SHOAL_API Result<bool> remove_one(Entity entity, std::span<const ComponentType> components, TypedKey key);
    template <class... Ts>
    Result<bool> insert_through_span(Entity entity, Zone zone, TypedList& list, Ts... values);
    template <class... Ts>
    Result<AddCounts> add_through_span(Entity entity, Ts... values);
    template <class... Ts>
    Result<bool> remove_through_span(Entity entity);
    DatabaseRow find_enableable(Entity entity, TypedKey key) const;
    bool set_enabled(DatabaseRow at, bool on);
    template <class T>
    void write_plain(DatabaseTable& table, std::uint32_t row, const T& value);

    // Locks and dead entities.
    void require_unlocked(const char* call) const {
        if (SHOAL_UNLIKELY(directory_.is_held())) refuse_change(call, {});
    }
    /// Like require_unlocked(), for a call about component types; the message names the first of these types.
    template <class T, class...>
    void require_unlocked_for(const char* call) const {
        if (SHOAL_UNLIKELY(directory_.is_held())) refuse_change(call, find_component(schema_of<T>().id()));
    }
    [[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse_change(const char* call, ComponentType about) const;
    void require_options() const;
    /// Whether entities with rows here may be dead. Settling finds out which entities are dead.
    SHOAL_INLINE bool awaits_deaths() const { return entities_.deaths_end() != deaths_seen_; }
    bool is_alone() const { return component_directory() == alone_; }
    void pass_deaths(std::uint64_t end) { entities_.advance(cursor_, end), deaths_seen_ = end; }

    // Changes of several component types.
    Result<ComponentType> find_changed(const Schema& component) const;
    Status list_changes(std::span<const ComponentChange> changes, bool are_of_one, ChangeCounts& counts,
                        std::span<const Entity> entities);

    // Finding the tables that rows move to.
    const TakePlan& plan_to(const DatabaseTable& from, const DatabaseTable& to);
    Result<DatabaseTable*> table_for(const Archetype& type, Zone zone);
    Result<DatabaseTable*> first_table(std::span<const ComponentValues> values);
    template <class FindType>
    Result<DatabaseTable*> step(DatabaseTable& from, DatabaseTable::Step& last, TypedKey key, FindType&& find_type);
    Result<DatabaseTable*> target_with(DatabaseTable& from, std::span<const ComponentValues> values, TypedKey key);
    Result<DatabaseTable*> target_without(DatabaseTable& from, std::span<const ComponentType> components, TypedKey key);
    using StepChange = DatabaseTable::StepBit::Change;
    template <class Names>
    bool prepare(DatabaseTable& from, DatabaseTable::Step& step, TypedKey key, StepChange change, Names&& names);
    void list_columns(DatabaseTable& table, std::span<const ComponentType> components, Array<std::byte*>& columns);
    void forget_steps();
    Status reserve_rows(DatabaseTable& table, std::size_t count);
    Status reserve_entries(std::span<const Entity> entities);
    template <class ForEachGain>
    Status reserve_in_all(ForEachGain&& for_each_gain);
    Status reserve_targets(DatabaseTable* first);

    // Adding and removing rows.
    std::uint32_t place_leading(DatabaseTable& table, std::span<const Entity> entities);
    Result<AddCounts> insert_into(DatabaseTable& table, Arguments& arguments, bool sets);
    AddCounts insert_reserved(DatabaseTable& table, Arguments& arguments, bool sets, std::size_t begin,
                              std::size_t end);
    Result<AddCounts> add_values(Arguments& arguments, DatabaseTable& first);
    AddCounts add_selected(Arguments& arguments, DatabaseTable* first);
    bool have_columns(std::span<const ComponentValues> values) const;
    bool have_all(Arguments& arguments);
    bool enable_in_place(Arguments& arguments, AddCounts& counts);
    bool only_disables(std::span<const ComponentType> components) const;
    std::uint32_t disable_in_place(std::span<const Entity> entities, std::span<const ComponentType> components);
    void remove_row(DatabaseTable& table, std::uint32_t row);
    std::uint32_t drop_selected(std::span<const Entity> entities);
    std::uint32_t sweep(DatabaseTable& table);

    // Moving rows and writing their values.
    DatabaseRow find_run(std::span<const Entity> entities) const;
    void transfer(std::span<const Entity> entities, std::span<const ComponentValues> values);
    std::uint32_t transfer_rows(DatabaseTable& from, DatabaseTable& to, RowList rows);
    template <class FindTarget>
    Result<std::uint32_t> transfer_as_run(Arguments& arguments, FindTarget&& find_target);
    template <class FindTarget>
    Status prepare_selected(Arguments& arguments, FindTarget&& find_target, DatabaseTable* first = nullptr);
    DatabaseRow transfer_row(DatabaseRow at, DatabaseTable& target, const TakePlan& plan);
    void write_rows(DatabaseTable& table, RowRange rows, const Archetype* kept, std::span<const ComponentValues> values,
                    RowList sources);
    void write_component(DatabaseTable& table, RowRange rows, ComponentType component, const ComponentValues* given,
                         RowList sources);
    void write_given(DatabaseRow at, const ComponentValues& given, std::uint32_t source);
    bool enable_as_given(DatabaseRow at, std::span<const ComponentValues> values);
    void disable_as_given(DatabaseTable& table, RowRange rows, std::span<const ComponentValues> values);
    bool disable(DatabaseRow at, std::span<const ComponentType> components);

    // The values of `many` types after each entity's first.
    bool gives_many(std::span<const ComponentValues> values) const { return !further_.empty() && names_many(values); }
    bool names_many(std::span<const ComponentValues> values) const;
    Status reserve_further(Arguments& arguments);
    Result<AddCounts> add_further(Arguments& arguments, DatabaseTable& first);
    void push_first(DatabaseTable& table, std::uint32_t row, ComponentType component);
    void swap_value(DatabaseTable& table, std::uint32_t row, ComponentType component, std::uint32_t further_row);
    void drop_further(Entity entity, const Archetype& from, const Archetype* to);
    SHOAL_API ComponentRow find_value(ComponentType component, Entity entity, std::uint32_t index) const;
    ComponentRow find_further(ComponentRow found, ComponentType component, Entity entity, std::uint32_t index) const;
    Status validate_further(ComponentType component) const;

    Status load_archetypes(SnapshotReader& from, Array<const Archetype*>& types);
    Status load_rows(SnapshotReader& from);
    Status load_commands(SnapshotReader& from);
    Status note_loaded(SnapshotReader& from, DatabaseTable& table);
    void write_table(const DatabaseTable& table, SnapshotWriter& to) const;
    void write_further(Zone zone, ComponentType component, SnapshotWriter& to) const;
    struct ReturningRows;
    SHOAL_API void note_watched(const ZoneSet& zones) const;

    EntityManager& entities_;
    PagePool& pool_;
    DatabaseOptions options_;
    ArchetypeGraph graph_;
    DatabaseDirectory directory_;
    TableSet tables_;
    detail::ComponentSlots component_slots_;
    Array<TypedList*> lists_{Owner("database")};    // indexed by slot of the list; owned
    Array<OwnedRows*> further_{Owner("database")};  // indexed by component type; owned; nullptr: one value per entity
    DeathCursor cursor_;
    std::uint64_t deaths_seen_ = 0;  // the position of the cursor
    std::uint64_t stamp_ = 1;
    Selection* selection_ = nullptr;
    Spawn* spawn_ = nullptr;                           // the current spawn
    SpawnPositionField* spawn_place_ = nullptr;        // nullptr: no field decides the zone of spawned entities
    ComponentDirectory* alone_ = nullptr;              // the database's own directory, while it is in no other
    Array<ComponentValues> given_{Owner("database")};  // the values of the current change
    Array<ComponentType> removed_{Owner("database")};  // the component types that the current change removes
    struct WatchedZones;
    WatchedZones* watched_zones_ = nullptr;  // nullptr: zones are not watched
};

/// Returns all databases of a directory; find_database() returns the first, or nullptr.
SHOAL_API Array<Database*> list_databases(const ComponentDirectory& directory);
SHOAL_API Database* find_database(const ComponentDirectory& directory);

}  // namespace shoal

#include "shoal/database/detail/field.h"
#include "shoal/database/detail/lock.h"
#include "shoal/database/detail/match.h"
#include "shoal/database/detail/typed_calls.h"
