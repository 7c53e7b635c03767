#pragma once
// What the files of the database share.

#include "shoal/store/database.h"
#include "shoal/table/copy_elements.h"

namespace shoal::inline SHOAL_ABI {

/// What is copied when a row goes from a table of one entity type to a table of another.
struct DatabaseCopyPlan {
    struct Column {
        std::uint16_t from, to;
        std::uint32_t bytes;
    };

    /// Columns of bytes, those of the usual sizes first: a loop for each of these needs no branch per column.
    class Columns {
    public:
        void add(const Column& column) { all_.push_back(column); }
        void sort();
        const Column* begin() const { return all_.data(); }
        const Column* end() const { return all_.data() + all_.size(); }
        /// Calls copy.operator()<kBytes>(column) for each of a usual size, and others(columns) if there are others.
        template <class Copy, class Others>
        SHOAL_INLINE void for_each(Copy&& copy, Others&& others) const;

    private:
        static constexpr std::size_t kSizes[] = {4, 8, 12, 16};
        Array<Column> all_ = Array<Column>("database");
        std::uint32_t ends_[std::size(kSizes)] = {};  // of the columns of each size
    };

    Columns columns;
    Columns dropped;  // not in the target: `from` only
    Array<Column> opaque = Array<Column>("database");
    bool is_plain = true;  // neither entity type has opaque columns or toggled component types

    /// Copies one row over, and the last row of `from` into its place.
    SHOAL_INLINE void move_row(Table& from, std::uint32_t row, Table& to, std::uint32_t to_row) const;
    /// Copies the last row into the place of another.
    SHOAL_INLINE static void fill_row(const Columns& columns, Table& table, std::uint32_t row);

private:
    static void move_others(std::span<const Column> columns, Table& from, std::uint32_t row, Table& to,
                            std::uint32_t to_row);
    static void fill_others(std::span<const Column> columns, Table& table, std::uint32_t row);
};

/// Copies an element, maybe onto itself. (g++ calls memmove for 12 bytes, and keeps a local array of them in memory.)
template <std::size_t kBytes>
SHOAL_INLINE void copy_onto(std::byte* to, const std::byte* from) {
    struct Words {
        std::uint32_t word[kBytes / 4];
    } element;
    std::memcpy(&element, from, kBytes);
    std::memcpy(to, &element, kBytes);
}

template <class Copy, class Others>
SHOAL_INLINE void DatabaseCopyPlan::Columns::for_each(Copy&& copy, Others&& others) const {
    const Column* const all = begin();
    const Column* column = all;
    for (const Column* end = all + ends_[0]; column != end; ++column) copy.template operator()<kSizes[0]>(*column);
    for (const Column* end = all + ends_[1]; column != end; ++column) copy.template operator()<kSizes[1]>(*column);
    for (const Column* end = all + ends_[2]; column != end; ++column) copy.template operator()<kSizes[2]>(*column);
    for (const Column* end = all + ends_[3]; column != end; ++column) copy.template operator()<kSizes[3]>(*column);
    if (SHOAL_UNLIKELY(column != end())) others(std::span(column, end()));
}

SHOAL_INLINE void DatabaseCopyPlan::move_row(Table& from, std::uint32_t row, Table& to, std::uint32_t to_row) const {
    const std::size_t last = from.num_rows() - 1;
    columns.for_each(
        [&]<std::size_t kBytes>(const Column& column) __attribute__((always_inline)) {
            std::byte* const data = from.unmarked_column(column.from);
            std::memcpy(to.unmarked_column(column.to) + to_row * kBytes, data + row * kBytes, kBytes);
            copy_onto<kBytes>(data + row * kBytes, data + last * kBytes);
        },
        [&](std::span<const Column> others) { move_others(others, from, row, to, to_row); });
    if (dropped.begin() != dropped.end()) fill_row(dropped, from, row);
}

SHOAL_INLINE void DatabaseCopyPlan::fill_row(const Columns& columns, Table& table, std::uint32_t row) {
    const std::size_t last = table.num_rows() - 1;
    columns.for_each(
        [&]<std::size_t kBytes>(const Column& column) __attribute__((always_inline)) {
            std::byte* const data = table.unmarked_column(column.from);
            copy_onto<kBytes>(data + row * kBytes, data + last * kBytes);
        },
        [&](std::span<const Column> others) { fill_others(others, table, row); });
}

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
    void remove_row(DatabaseTable& table, std::uint32_t row) {
        if (SHOAL_LIKELY(table.own_plan_->is_plain && table.table_.is_plain()))
            remove_plain_row(table, row);
        else
            remove_other_row(table, row);
    }
    SHOAL_INLINE void remove_plain_row(DatabaseTable& table, std::uint32_t row);
    void remove_other_row(DatabaseTable& table, std::uint32_t row);
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
    static void note_switch(DatabaseTable& table, ComponentType component, std::uint32_t key);
    bool switch_on(DatabaseRow at, std::span<const ComponentValues> values);
    bool switch_off(DatabaseRow at, std::span<const ComponentType> components);
};

/// Takes a row away that is bytes and nothing more; the last one moves into its place.
SHOAL_INLINE void Database::Call::remove_plain_row(DatabaseTable& table, std::uint32_t row) {
    ++d.num_structural_changes_;
    DatabaseCopyPlan::fill_row(table.own_plan_->columns, table.table_, row);
    const Entity owner = table.entities()[row];
    EntityBits& entry = d.directory_.rows().entries()[owner.index()];
    if (entry >> kIndexBits == owner.id >> kIndexBits) entry = 0;
    table.table_.close_row(row);
    if (SHOAL_UNLIKELY(table.num_rows() == 0)) note_rows(table);
}

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
