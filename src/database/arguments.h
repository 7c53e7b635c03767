#pragma once
// The entities and values that a call was given.
// Thread: the same as the database.

#include "shoal/database/database.h"
#include "shoal/store/detail/stable_span.h"

namespace shoal {

/// The entities and values of a call. A caller may pass any column of any table: data in a table that the call changes
/// is copied first.
class Database::Arguments {
public:
    Arguments(const Database& database, std::span<const Entity> entities, std::span<const ComponentValues> values)
        : database_(database), entities_(entities), values_(values) {}
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    /// Must be called before rows of `table` are added, removed or moved.
    void keep_apart_from(const Table& table);
    void keep_apart_from(const DatabaseTable& table) { keep_apart_from(table.table()); }
    /// Like keep_apart_from(), but for a call that no longer reads its entities.
    void keep_values_apart_from(const Table& table);
    void keep_values_apart_from(const DatabaseTable& table) { keep_values_apart_from(table.table()); }

    std::span<const Entity> entities() const { return entities_.get(); }
    std::span<const ComponentValues> values() const { return values_; }

private:
    void copy_values(ComponentValues& given, const Table& table);
    const std::byte* copy_bytes(const std::byte* from, std::size_t num_bytes);

    const Database& database_;
    StableSpan<Entity> entities_;
    std::span<const ComponentValues> values_;
    Array<ComponentValues> copied_values_{Owner("database")};
    Array<Array<const std::byte*>> copied_columns_{Owner("database")};
    Array<Array<std::byte>> copied_bytes_{Owner("database")};
};

}  // namespace shoal
