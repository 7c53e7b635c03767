#pragma once
// What the files of the database share.

#include "shoal/database/database.h"
#include "shoal/table/copy_elements.h"

namespace shoal {

/// What is copied when a row goes from a table of one archetype to a table of another.
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
        std::size_t size() const { return all_.size(); }
        /// Calls copy.operator()<kBytes>(address) for those of a usual size, and others(address, bytes) for the others.
        template <class Address, class Copy, class Others>
        SHOAL_INLINE void for_each(const Address* addresses, Copy&& copy, Others&& others) const;

    private:
        static constexpr std::size_t kSizes[] = {4, 8, 12, 16};
        Array<Column> all_{Owner("database")};
        std::uint32_t ends_[std::size(kSizes)] = {};  // of the columns of each size
    };

    Columns columns;
    Columns dropped;  // not in the target: `from` only
    Array<Column> opaque{Owner("database")};
    bool is_plain = true;  // neither archetype has opaque columns or toggled component types

    /// Copies one row over, and the row `last` of the table that it leaves into its place.
    template <bool kDrops>
    SHOAL_INLINE void move_row(const RowPath::Column* path, std::size_t row, std::size_t last,
                               std::size_t to_row) const;
    /// Copies the row `filling` of some columns into the place of the row `hole`.
    SHOAL_INLINE static void fill(const Columns& columns, const RowPath::Column* path, std::size_t hole,
                                  std::size_t filling);
};

template <class Address, class Copy, class Others>
SHOAL_INLINE void DatabaseCopyPlan::Columns::for_each(const Address* addresses, Copy&& copy, Others&& others) const {
    const Address* column = addresses;
    for (const Address* end = addresses + ends_[0]; column != end; ++column)
        copy.template operator()<kSizes[0]>(*column);
    for (const Address* end = addresses + ends_[1]; column != end; ++column)
        copy.template operator()<kSizes[1]>(*column);
    for (const Address* end = addresses + ends_[2]; column != end; ++column)
        copy.template operator()<kSizes[2]>(*column);
    for (const Address* end = addresses + ends_[3]; column != end; ++column)
        copy.template operator()<kSizes[3]>(*column);
    for (std::size_t i = ends_[3]; SHOAL_UNLIKELY(i != all_.size()); ++i) others(addresses[i], all_[i].bytes);
}

template <bool kDrops>
SHOAL_INLINE void DatabaseCopyPlan::move_row(const RowPath::Column* path, std::size_t row, std::size_t last,
                                             std::size_t to_row) const {
    columns.for_each(
        path,
        [&]<std::size_t kBytes>(const RowPath::Column& column)
            __attribute__((always_inline)) { detail::move_element<kBytes>(column, row, last, to_row); },
        [&](const RowPath::Column& column, std::size_t bytes) {
            std::memcpy(column.to + to_row * bytes, column.from + row * bytes, bytes);
            std::memmove(column.from + row * bytes, column.from + last * bytes, bytes);
        });
    if constexpr (kDrops) fill(dropped, path + columns.size(), row, last);
}

SHOAL_INLINE void DatabaseCopyPlan::fill(const Columns& columns, const RowPath::Column* path, std::size_t hole,
                                         std::size_t filling) {
    columns.for_each(
        path,
        [&]<std::size_t kBytes>(const RowPath::Column& column)
            __attribute__((always_inline)) { detail::fill_element<kBytes>(column, hole, filling); },
        [&](const RowPath::Column& column, std::size_t bytes) {
            std::memmove(column.from + hole * bytes, column.from + filling * bytes, bytes);
        });
}

/// Looks up where the columns of two tables (or twice the same) lie. Returns false, and nothing can be known, unless
/// rows are bytes and nothing more.
bool look_up_path(RowPath& path, Table& from, Table& to);

/// Takes a row away; the last one moves into its place.
SHOAL_INLINE void Database::remove_row(DatabaseTable& table, std::uint32_t row) {
    RowPath& path = table.own_path_;
    if (SHOAL_UNLIKELY(!path.is_known(table.table_, table.table_) && !look_up_path(path, table.table_, table.table_)))
        return remove_other_row(table, row);
    tables_.count_changes();
    DatabaseCopyPlan::fill(path.plan->columns, path.columns.data(), row, table.num_rows() - 1);
    const std::span<EntityBits> entries = directory_.rows().entries();
    const Entity owner = table.entities()[row];
    EntityBits& entry = entries[owner.index()];
    if (entry >> kIndexBits == owner.id >> kIndexBits) entry = 0;
    table.table_.close_row(row, entries);
    if (SHOAL_UNLIKELY(table.num_rows() == 0)) tables_.note_rows(table);
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
