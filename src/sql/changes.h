#pragma once
// Fields set by UPDATE. They are collected while a statement reads rows, and then either all or none are set.

#include "sql/catalog.h"

#include <sqlite3.h>

#include <map>
#include <utility>
#include <vector>

namespace shoal::sql {

class Changes {
public:
    explicit Changes(World& world) : world_(world) {}

    /// Records the values that UPDATE sets in a row, except values that have not changed. Shape: one value per column
    /// of the table. Errors: a value does not fit its field; the message says why.
    Status note(const CatalogTable& table, sqlite3_value** values);
    /// The memory of a recorded value, in bytes.
    static constexpr std::size_t kBytesOfValue = 2 * (sizeof(const FieldPath*) + sizeof(Entity) + sizeof(AnyValue));
    /// Sets the recorded values. Errors: a store refuses a value; the message says which. Some values may have been
    /// set, so call undo().
    Status apply();
    /// Restores the values that apply() has replaced since the last begin().
    void undo();
    void begin();
    /// How many components were set since the last begin().
    std::uint64_t num_updated() const { return num_updated_; }

private:
    struct Change {
        const FieldPath* path;  // in paths_
        Entity entity;
        AnyValue value;
    };
    using PathKey = std::pair<const CatalogColumn*, std::uint32_t>;  // with the index of the component of an entity
    Result<const FieldPath*> find_path(const CatalogTable& table, const CatalogColumn& column, std::uint32_t position);
    Status note_value(const FieldPath& path, Entity entity, sqlite3_value* value);

    World& world_;
    std::map<PathKey, FieldPath> paths_;
    std::vector<Change> noted_, done_;  // done_: with the previous values
    std::uint64_t num_noted_ = 0, num_updated_ = 0;
};

}  // namespace shoal::sql
