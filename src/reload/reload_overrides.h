#pragma once
// During a reload, values that a spawn has overridden are kept, even if the source has changed them.
// Thread: the structural thread of the world.

#include "reload/blob_changes.h"
#include "reload/spawn_log.h"
#include "shoal/components/properties.h"
#include "shoal/table/detail/field_part.h"

#include <vector>

namespace shoal {

class World;

class ReloadOverrides {
public:
    /// Looks up the overrides of all copies that have the older version. Overrides without a target in the newer
    /// version are kept for later versions.
    void find(World& world, const SpawnedCopies& copies, const BlobChanges& changes, const Blob& after);
    /// Records the new indices of the values in a list. Shape: `place_after` has an element for each value in the older
    /// version. The element is kNoBlobEntity if the value was removed.
    void move_list(std::uint32_t type, std::uint32_t after_entity, std::span<const std::uint32_t> place_after);
    /// Returns the overrides with the entities and list indices of the newer version.
    std::vector<LoggedOverride> take();

    /// An override of a field in a component, which may be one of several components of the same type.
    struct Entry {
        std::uint32_t type, entity;  // indices in the newer version
        bool is_of_many_copies;
        std::uint32_t first_copy, num_copies;
        std::uint32_t order;                // position among all overrides
        std::uint32_t place, place_before;  // indices among values of a `many` type; kNoBlobEntity if removed
        std::size_t field;
        FieldPart part;
        AnyValue value;
    };
    std::span<const Entry> all() const { return entries_; }

    /// Calls visit(entry) for each override of an entity's field in a copy, in the order in which the overrides were
    /// given.
    template <class Visit>
    void for_each(std::uint32_t type, std::uint32_t entity, std::uint32_t copy, std::size_t field,
                  Visit&& visit) const {
        if (SHOAL_LIKELY(entries_.empty())) return;
        for (const Entry* const entry : list(type, entity, copy))
            if (entry->field == field) visit(*entry);
    }
    /// Calls visit(override, path) for each override of a named value whose entity is in the newer version.
    template <class Visit>
    void for_each_named(const ComponentDirectory& directory, Visit&& visit) const {
        for (const std::uint32_t one : named_) visit(logged_[one], property_path(directory, logged_[one].given.field));
    }

private:
    Array<const Entry*> list(std::uint32_t type, std::uint32_t entity, std::uint32_t copy) const;
    void add(World& world, const BlobChanges& changes, std::uint32_t order);

    std::vector<LoggedOverride> logged_;
    Array<std::uint32_t> named_{Owner("reload")};  // overrides of named values, as indices into logged_
    std::vector<Entry> entries_;                   // sorted by type and entity; overrides for several copies come first
};

}  // namespace shoal
