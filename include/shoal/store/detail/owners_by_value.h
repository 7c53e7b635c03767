#pragma once
// The owners of rows, grouped by the value of their string id: for example, the entities with each tag.
//
//     rows          e3 "swims"     e7 "glows"     e3 "glows"
//     lists         "swims": e3    "glows": e3 e7              one after the other
//     rows_of()     "glows": row 0 e3, row 1 e7                a table with an index, which queries join with others
//
// The lists are rebuilt in one pass over all rows, on the first request after rows were added or removed. An entity is
// in the list of a value only once; its position depends only on the rows. The first rows_of() call for a value creates
// its rows, which are then updated together with the lists.
// Lifetime: the source rows. Thread: living() counts as a structural call to the rows; any thread may make the other
// calls between structural calls. Cost: O(rows) after rows were added or removed, and O(result) for each value given to
// rows_of().

#include "shoal/base/detail/hash_map.h"
#include "shoal/store/detail/owned_rows.h"

namespace shoal {

class OwnersByValue {
public:
    /// Requires: the component has one field, a string id, which is written when a row is added and does not change
    /// later.
    SHOAL_API OwnersByValue(OwnedRows& rows, PagePool& pool);
    SHOAL_API ~OwnersByValue();
    OwnersByValue(const OwnersByValue&) = delete;
    OwnersByValue& operator=(const OwnersByValue&) = delete;

    /// The rows whose owners are listed.
    OwnedRows& source() { return source_; }
    /// Returns the living owners of rows with this value, without duplicates.
    /// Lifetime: until the next structural call, or until an entity dies.
    SHOAL_API std::span<const Entity> living(StringId value);
    /// Returns rows without fields for the owners of this value, as of the last refresh(). A dead entity keeps its row
    /// here until its rows are removed from the source. Lifetime: this object. Requires: the caller makes no structural
    /// calls.
    SHOAL_API OwnedRows& rows_of(StringId value);
    /// Updates all lists and rows from the source. Cost: nothing if no row of the source was added or removed.
    SHOAL_API void refresh();

private:
    /// The owners of one value: owners_[begin, begin + count).
    struct List {
        StringId value;
        std::uint32_t begin = 0;
        std::uint32_t count = 0;
        std::uint64_t num_deaths = 0;  // the value of num_deaths_ when dead entities were last removed
    };
    class Guard;

    void build();
    void count_values();
    template <class Visit>
    void for_each_value(std::uint32_t row, Visit&& visit) const;
    List& list_of(StringId value);
    std::span<Entity> owners(const List& list) { return {owners_.data() + list.begin, list.count}; }
    void fill(StringId value, OwnedRows& rows);

    OwnedRows& source_;
    PagePool& pool_;
    Schema member_;  // the schema of the rows that rows_of() returns
    DestructionCallback callback_;
    bool is_guarded_ = false;
    std::uint64_t num_deaths_ = 0;  // batches of entities destroyed since the first call to living()
    std::uint64_t built_at_;        // the source's num_structural_changes() when the lists were made
    Array<List> lists_{Owner("owners by value")};
    HashMap<StringId, std::uint32_t> list_by_value_{Owner("owners by value")};  // index in lists_
    Array<Entity> owners_{Owner("owners by value")};                            // all lists, one after the other
    HashMap<StringId, OwnedRows*> rows_by_value_{Owner("owners by value")};
};

}  // namespace shoal
