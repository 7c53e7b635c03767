#pragma once
// The fields that UPDATE sets: collected while a statement looks at rows, then set all or none.

#include "sql/catalog.h"

#include <sqlite3.h>

#include <map>
#include <utility>
#include <vector>

namespace shoal::sql {

class Changes {
public:
    explicit Changes(World& world) : world_(world) {}

    /// Notes what UPDATE sets in a row. Values that SQLite has not changed are left out. Shape: one per column of the table.
    /// Errors: a value does not fit its field; the message says why.
    Status note(const CatalogTable& table, sqlite3_value** values);
    /// The bytes that a noted value takes.
    static constexpr std::size_t kBytesOfValue = 2 * (sizeof(const FieldPath*) + sizeof(Entity) + sizeof(AnyValue));
    /// Sets what was noted. Errors: a store does not take a value; the message says which. Some may be set: call undo().
    Status apply();
    /// Puts the values back that apply() has found since the last begin().
    void undo();
    void begin();
    /// How many components were set since then.
    std::uint64_t num_updated() const { return num_updated_; }

private:
    struct Change {
        const FieldPath* path;  // in paths_
        Entity entity;
        AnyValue value;
    };
    using PathKey = std::pair<const CatalogColumn*, std::uint32_t>;  // and which component of an entity
    Result<const FieldPath*> find_path(const CatalogTable& table, const CatalogColumn& column, std::uint32_t position);
    Status note_value(const FieldPath& path, Entity entity, sqlite3_value* value);

    World& world_;
    std::map<PathKey, FieldPath> paths_;
    std::vector<Change> noted_, done_;  // done: with the values of before
    std::uint64_t num_noted_ = 0, num_updated_ = 0;
};

}  // namespace shoal::sql
