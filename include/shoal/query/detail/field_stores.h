#pragma once
// The stores of a query, and which of them each field lies in.
// Thread: as for the query.

#include "shoal/query/access.h"
#include "shoal/query/detail/row_loop.h"
#include "shoal/query/detail/started_query.h"

#include <array>

namespace shoal {
// See database/database.h, which queries over managers do without.
SHOAL_API Database* find_database(const ComponentDirectory& directory);
}  // namespace shoal

namespace shoal::detail {

inline ComponentManager* core_of(Database&) { return nullptr; }
template <class T>
ComponentManager* core_of(Manager<T>& manager) {
    return &manager.core();
}
inline OwnedRows* rows_of(Database&) { return nullptr; }
template <class T>
OwnedRows* rows_of(Manager<T>& manager) {
    return &manager.core().rows();
}

template <class Stores, class Fields>
class FieldStores;

template <class... Stores, class... Fields>
class FieldStores<From<Stores...>, TermList<Fields...>> {
public:
    using List = StoreList<From<Stores...>>;
    using Loop = QueryLoop<Fields...>;
    static constexpr std::size_t kNumFields = sizeof...(Fields);
    static constexpr std::size_t kNumStores = sizeof...(Stores);
    /// By field; the 0 at the end keeps an array of no fields from being empty.
    static constexpr std::size_t kStores[sizeof...(Fields) + 1] = {List::template store_of<Fields>()..., 0};
    static constexpr bool kLooksUp[sizeof...(Fields) + 1] = {List::template kLooksUp<Fields>..., false};

    explicit FieldStores(Stores&... stores) : cores_{core_of(stores)...}, rows_{rows_of(stores)...} {}

    /// The manager that is store `store`; nullptr for the database.
    ComponentManager* core(std::size_t store) const { return cores_[store]; }
    /// The rows of the managers. Shape: List::kNumManagers.
    OwnedRows* const* owned_rows() const { return rows_ + (List::kHasDatabase ? 1 : 0); }
    std::array<Access, kNumFields> accesses([[maybe_unused]] const Store* database,
                                            [[maybe_unused]] const ZoneSet* zones) const {
        [[maybe_unused]] std::size_t field = 0;
        return {
            field_access<Fields::kMember>(store(kStores[field++], database), Fields::kWrites).of_query_in(zones)...};
    }

    /// The row of a looked-up field.
    template <std::size_t kField>
    SHOAL_INLINE std::uint32_t find_row(Entity owner) const {
        return cores_[kStores[kField]]->instance(owner).row;
    }
    /// Writes where the columns of a manager's field begin.
    template <class Field>
    SHOAL_INLINE void collect(std::size_t field, std::byte** lanes) const {
        Loop::template collect<Field>(cores_[kStores[field]]->table(), 0, lanes);
    }

private:
    const Store& store(std::size_t store, const Store* database) const {
        return cores_[store] == nullptr ? *database : *cores_[store];
    }

    ComponentManager* cores_[kNumStores];
    OwnedRows* rows_[kNumStores];
};

}  // namespace shoal::detail
