#pragma once
// The fields that UPDATE sets. They are collected while a statement reads rows. Then either all or none of them are
// set.

#include "sql/catalog.h"

#include <sqlite3.h>

#include <map>
#include <utility>
#include <vector>

namespace shoal::sql {

class Changes {
public:
    explicit Changes(World& world) : world_(world) {}

    /// Records the values that UPDATE changes in a row. Shape: `values` has one value per column of the table. Errors:
    /// a value does not fit its field; the message says why.
    Status note(const CatalogTable& table, sqlite3_value** values);
    /// The memory of a recorded value, in bytes.
    static constexpr std::size_t kBytesOfValue = 2 * (sizeof(const FieldPath*) + sizeof(Entity) + sizeof(AnyValue));
    /// Sets the recorded values. Errors: a store refuses a value; the message names it. On error, some values may
    /// already be set, so call undo().
    Status apply();
    /// Restores the values that apply() has replaced since the last begin().
    void undo();
    void begin();
    /// The number of components that were set since the last begin().
    std::uint64_t num_updated() const { return num_updated_; }

private:
    struct Change {
        const FieldPath* path;  // in paths_
        Entity entity;
        AnyValue value;
    };
    using PathKey = std::pair<const CatalogColumn*, std::uint32_t>;  // with the component's index in its entity
    Result<const FieldPath*> find_path(const CatalogTable& table, const CatalogColumn& column, std::uint32_t position);
    Status note_value(const FieldPath& path, Entity entity, sqlite3_value* value);

    World& world_;
    std::map<PathKey, FieldPath> paths_;
    std::vector<Change> noted_, done_;  // done_ has the previous values
    std::uint64_t num_noted_ = 0, num_updated_ = 0;
};

}  // namespace shoal::sql
