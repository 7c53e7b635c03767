#pragma once
// What the files of the database share.

#include "shoal/database/database.h"

namespace shoal {

/// The entities of a call that have a row here, by table. Their directory entries say kIndexMask instead of a row until
/// they are moved, removed or unselected: who is named twice is found by that.
struct DatabaseState::Selection {
    struct Group {
        DatabaseTable* table;
        DatabaseTable* target;
        std::uint32_t begin, end;  // of rows and sources
    };

    Array<std::uint32_t> rows{Owner("database")};     // by place, the first num_selected
    Array<std::uint32_t> sources{Owner("database")};  // by place: which entity of the call
    Array<std::uint32_t> tables{Owner("database")};   // by place: table number
    std::uint32_t num_selected = 0;
    Array<Group> groups{Owner("database")};
    Array<std::uint32_t> missing{Owner("database")};   // living entities of the call without a row
    Array<std::uint32_t> repeated{Owner("database")};  // entities of the call named before
    std::uint32_t num_skipped = 0;

    std::span<const std::uint32_t> rows_of(const Group& group) const {
        return {rows.data() + group.begin, group.end - group.begin};
    }
    std::span<const std::uint32_t> sources_of(const Group& group) const {
        return {sources.data() + group.begin, group.end - group.begin};
    }
};

/// The entities and values of a call. A caller may pass any column of any table: what lies in a table that the call
/// changes is copied before.
class CallArguments {
public:
    CallArguments(const Database& database, std::span<const Entity> entities, std::span<const ComponentValues> values)
        : database_(database), entities_(entities), values_(values) {}
    CallArguments(const CallArguments&) = delete;
    CallArguments& operator=(const CallArguments&) = delete;

    /// To be called before rows of `table` are added, removed or moved.
    void keep_apart_from(const DatabaseTable& table);
    /// The same for a call that does not look at its entities any more.
    void keep_values_apart_from(const DatabaseTable& table);

    std::span<const Entity> entities() const { return entities_; }
    std::span<const ComponentValues> values() const { return values_; }

private:
    void copy_values(ComponentValues& given, const DatabaseTable& table);
    const std::byte* copy_bytes(const std::byte* from, std::size_t num_bytes);

    const Database& database_;
    std::span<const Entity> entities_;
    std::span<const ComponentValues> values_;
    Array<Entity> copied_entities_{Owner("database")};
    Array<ComponentValues> copied_values_{Owner("database")};
    Array<Array<const std::byte*>> copied_columns_{Owner("database")};
    Array<Array<std::byte>> copied_bytes_{Owner("database")};
};

/// What the calls of a database have in common.
struct Database::Call {
    enum class Chosen : std::uint8_t { kAny, kLiving, kDead };

    Database& d;

    // Types and tables.
    const Archetype& make_type(const Signature& signature);
    const Archetype& neighbour(const Archetype& type, ComponentType component, bool with);
    const TakePlan& plan(const Archetype& from, const Archetype& to);
    const TakePlan& plan_to(const DatabaseTable& from, const DatabaseTable& to) {
        for (const DatabaseTable::Step* step : {&from.last_added_, &from.last_removed_})
            if (step->target == &to) return *step->path.plan();
        return plan(from.type(), to.type());
    }
    Result<DatabaseTable*> table_for(const Archetype& type, Zone zone);
    Result<DatabaseTable*> first_table(std::span<const ComponentValues> values);
    template <class FindType>
    Result<DatabaseTable*> step(DatabaseTable& from, DatabaseTable::Step& last, TypedKey key, FindType&& find_type);
    Result<DatabaseTable*> target_with(DatabaseTable& from, std::span<const ComponentValues> values, TypedKey key);
    Result<DatabaseTable*> target_without(DatabaseTable& from, std::span<const ComponentType> components, TypedKey key);
    void prepare(DatabaseTable& from, DatabaseTable::Step& step, TypedKey key, std::span<const ComponentValues> gained);
    void list_columns(DatabaseTable& table, std::span<const ComponentType> components, Array<std::byte*>& columns);
    void retire(DatabaseTable& table);
    void forget_tables();
    void list_tables();
    void collect_garbage();
    Status reserve_rows(DatabaseTable& table, std::size_t count);
    static Status validate_table(const Database& database, const DatabaseTable& table, std::uint32_t number);

    // Making and ending rows.
    std::uint32_t place_leading(DatabaseTable& table, std::span<const Entity> entities);
    Result<AddCounts> insert_into(DatabaseTable& table, CallArguments& arguments, bool sets);
    AddCounts insert_reserved(DatabaseTable& table, CallArguments& arguments, bool sets, std::size_t begin,
                              std::size_t end);
    AddCounts add_selected(CallArguments& arguments, DatabaseTable* first);
    void keep_apart_from_selected(CallArguments& arguments);
    void require_registered(ComponentType component) const {
        SHOAL_ASSERT(component.number < d.schemas_.size(), "the component type is not registered in this database");
    }
    SHOAL_INLINE void remove_row(DatabaseTable& table, std::uint32_t row);
    std::uint32_t drop_rows(std::span<const Entity> entities, Chosen chosen);
    std::uint32_t sweep(DatabaseTable& table);

    // Finding rows.
    void select(std::span<const Entity> entities, Chosen chosen);
    void group_selected();
    void unselect(std::span<const Entity> entities);
    DatabaseRow find_run(std::span<const Entity> entities);
    static bool moves_as_run(DatabaseRow run, const DatabaseTable& target) {
        return run.table != &target && run.table->is_plain() && target.is_plain();
    }

    // Moving and writing rows.
    Status reserve_targets(DatabaseTable* also = nullptr, std::uint32_t num_more = 0);
    void transfer(std::span<const Entity> entities, std::span<const ComponentValues> values);
    std::uint32_t transfer_rows(DatabaseTable& from, DatabaseTable& to, RowList rows);
    Status transfer_run(DatabaseRow run, DatabaseTable& to, std::span<const ComponentValues> values,
                        std::uint32_t count);
    DatabaseRow transfer_row(DatabaseRow at, DatabaseTable& target, const TakePlan& plan);
    void write_rows(DatabaseTable& table, RowRange rows, const Archetype* kept, std::span<const ComponentValues> values,
                    const std::uint32_t* sources, std::size_t first_source);
    static void note_switch(DatabaseTable& table, ComponentType component, TypedKey key);
    bool switch_on(DatabaseRow at, std::span<const ComponentValues> values);
    bool switch_off(DatabaseRow at, std::span<const ComponentType> components);
};

/// Takes a row away; the last one moves into its place.
SHOAL_INLINE void Database::Call::remove_row(DatabaseTable& table, std::uint32_t row) {
    ++d.num_structural_changes_;
    for (PresenceBits& bits : table.presence_) bits.set(row, bits.get(table.num_rows() - 1));
    table.table_.remove(row);
    if (SHOAL_UNLIKELY(table.num_rows() == 0)) d.note_rows(table);
}

namespace detail {

inline constexpr std::size_t kPrefetchFrom = 4096;  // entities in a call; below it all is in the cache
inline constexpr std::size_t kPrefetchAhead = 48;

inline constexpr std::size_t kFewRows = 8;  // are moved one by one

inline std::uint32_t highest_index(std::span<const Entity> entities) {
    std::uint32_t highest = 0;
    for (const Entity entity : entities) highest = entity.index() > highest ? entity.index() : highest;
    return highest;
}

/// Returns the values of a component type, or nullptr.
inline const ComponentValues* find_values(std::span<const ComponentValues> values, ComponentType component) {
    for (const ComponentValues& given : values)
        if (given.component == component) return &given;
    return nullptr;
}

}  // namespace detail
}  // namespace shoal
