#pragma once
// What the files of the database share.

#include "shoal/store/database.h"

namespace shoal::inline SHOAL_ABI {

/// What is copied when a row goes from a table of one entity type to a table of another.
struct DatabaseCopyPlan {
    struct Column {
        std::uint16_t from, to;
        std::uint32_t bytes;
    };
    /// Columns of one size, with functions for it. A call by pointer costs less than a switch in which the compiler
    /// prepares the addresses for every size.
    struct Group {
        const Column* begin;
        const Column* end;
        void (*move)(const Group& group, Table& from, Table& to, std::uint32_t row, std::uint32_t last,
                     std::uint32_t to_row);  // row over, last into its place
        void (*fill)(const Group& group, Table& table, std::uint32_t row, std::uint32_t last);  // last into its place
    };

    Array<Column> columns = Array<Column>("database");  // those that are bytes, by size
    Array<Group> groups = Array<Group>("database");
    Array<Column> dropped = Array<Column>("database");  // of bytes, by size, and not in the target: `from` only
    Array<Group> dropped_groups = Array<Group>("database");
    Array<Column> opaque = Array<Column>("database");
    bool is_plain = true;  // neither entity type has opaque columns or toggled component types

    /// Sorts columns by size and groups them.
    void group_columns();
};

/// The entities of a call that have a row here, by table. Their directory entries say kIndexMask instead of a row until
/// they are moved, removed or unselected: who is named twice is found by that.
struct DatabaseState::Selection {
    struct Group {
        DatabaseTable* table;
        DatabaseTable* target;
        std::uint32_t begin, end;  // of rows and sources
    };

    Array<std::uint32_t> rows = Array<std::uint32_t>("database");     // by place, the first num_selected
    Array<std::uint32_t> sources = Array<std::uint32_t>("database");  // by place: which entity of the call
    Array<std::uint32_t> tables = Array<std::uint32_t>("database");   // by place: table number
    std::uint32_t num_selected = 0;
    Array<Group> groups = Array<Group>("database");
    Array<std::uint32_t> missing = Array<std::uint32_t>("database");   // living entities of the call without a row
    Array<std::uint32_t> repeated = Array<std::uint32_t>("database");  // entities of the call named before
    std::uint32_t num_skipped = 0;

    std::span<const std::uint32_t> rows_of(const Group& group) const {
        return {rows.data() + group.begin, group.end - group.begin};
    }
    std::span<const std::uint32_t> sources_of(const Group& group) const {
        return {sources.data() + group.begin, group.end - group.begin};
    }
};

/// What the calls of a database have in common.
struct Database::Call {
    enum class Chosen : std::uint8_t { kAny, kLiving, kDead };

    Database& d;

    // Types and tables.
    const EntityType& make_type(const Signature& signature);
    const EntityType& neighbour(const EntityType& type, ComponentType component, bool with);
    const DatabaseCopyPlan& plan(const EntityType& from, const EntityType& to);
    const DatabaseCopyPlan& plan_to(const DatabaseTable& from, const DatabaseTable& to) {
        for (const DatabaseTable::Step* step : {&from.last_added_, &from.last_removed_})
            if (step->target == &to) return *step->plan;
        return plan(from.type(), to.type());
    }
    Result<DatabaseTable*> table_for(const EntityType& type, Zone zone);
    Result<DatabaseTable*> first_table(std::span<const ComponentValues> values);
    template <class FindType>
    Result<DatabaseTable*> step(DatabaseTable& from, DatabaseTable::Step& last, std::uint32_t key,
                                FindType&& find_type);
    Result<DatabaseTable*> target_with(DatabaseTable& from, std::span<const ComponentValues> values, std::uint32_t key);
    Result<DatabaseTable*> target_without(DatabaseTable& from, std::span<const ComponentType> components,
                                          std::uint32_t key);
    void retire(DatabaseTable& table);
    void forget_tables();
    void list_tables();
    void collect_garbage();
    Status reserve_rows(DatabaseTable& table, std::size_t count);
    void note_rows(DatabaseTable& table);
    static Status validate_table(const Database& database, const DatabaseTable& table, std::uint32_t number);

    // Making and ending rows.
    std::uint32_t place_leading(DatabaseTable& table, std::span<const Entity> entities);
    Result<AddCounts> insert_into(DatabaseTable& table, std::span<const Entity> entities,
                                  std::span<const ComponentValues> values, bool sets, std::size_t first_source = 0);
    AddCounts add_selected(std::span<const Entity> entities, std::span<const ComponentValues> values,
                           DatabaseTable* first);
    void remove_row(DatabaseTable& table, std::uint32_t row);
    std::uint32_t drop_rows(std::span<const Entity> entities, Chosen chosen);
    std::uint32_t sweep(DatabaseTable& table);

    // Finding rows.
    void select(std::span<const Entity> entities, Chosen chosen);
    void group_selected();
    void unselect(std::span<const Entity> entities);
    DatabaseRow find_run(std::span<const Entity> entities);
    bool moves_as_run(DatabaseRow run, const DatabaseTable& target);
    bool awaits_deaths();

    // Moving and writing rows.
    Status reserve_targets(DatabaseTable* also = nullptr, std::uint32_t num_more = 0);
    void transfer(std::span<const Entity> entities, std::span<const ComponentValues> values);
    void transfer_rows(DatabaseTable& from, DatabaseTable& to, std::span<const std::uint32_t> rows,
                       std::span<const std::uint32_t> sources, std::span<const Entity> entities,
                       std::span<const ComponentValues> values);
    Status transfer_run(DatabaseRow run, DatabaseTable& to, std::span<const Entity> entities,
                        std::span<const ComponentValues> values);
    std::uint32_t transfer_row(DatabaseRow at, DatabaseTable& target, const DatabaseCopyPlan& plan);
    void write_rows(DatabaseTable& table, RowRange rows, const EntityType* kept,
                    std::span<const ComponentValues> values, const std::uint32_t* sources, std::size_t first_source);
    bool switch_on(DatabaseRow at, std::span<const ComponentValues> values);
    bool switch_off(DatabaseRow at, std::span<const ComponentType> components);
};

namespace detail {

inline constexpr std::size_t kPrefetchFrom = 4096;  // entities in a call; below it all is in the cache
inline constexpr std::size_t kPrefetchAhead = 48;

inline constexpr std::size_t kFewRows = 8;  // are moved one by one

/// The entities of a call, copied if they are a table's own, which the call changes.
class StableEntities {
public:
    StableEntities(const Database& database, std::span<const Entity> entities) : span_(entities) {
        const DatabaseRow first = entities.empty() ? DatabaseRow() : database.find(entities.front());
        if (!first || first.table->entities().data() + first.row != entities.data()) return;
        copy_.assign(entities.begin(), entities.end());
        span_ = copy_;
    }
    std::span<const Entity> get() const { return span_; }

private:
    Array<Entity> copy_ = Array<Entity>("database");
    std::span<const Entity> span_;
};

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
}  // namespace shoal::inline SHOAL_ABI
