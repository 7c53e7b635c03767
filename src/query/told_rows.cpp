#include "query/told_rows.h"

#include "shoal/store/detail/owned_rows.h"

namespace shoal::detail {

void ToldRows::tell(Store& told, std::uint64_t columns, Executor* executor) {
    if (is_shared_) visited_.for_each([&](std::size_t row) { rows_.push_back(static_cast<std::uint32_t>(row)); });
    if (!rows_.empty()) told.finish_writes(columns, rows_, executor);
    rows_.clear();
}

void ToldRows::begin(std::uint32_t num_rows) {
    rows_.clear();
    visited_.clear(num_rows);
    is_shared_ = false;
}

bool ToldRows::share(std::span<ToldRows> all, const TermStores& places, std::size_t driver, bool writes_others) {
    const JoinedStore& driving = places.stores[driver == TermStores::kNone ? 0 : driver];
    if (writes_others && driver != TermStores::kNone && driving.rows != nullptr && driving.rows->schema().many() &&
        !places.visits_each_once(driving))
        return false;
    for (ToldRows& told : all) {
        if (told.store == driver) continue;
        told.visited_.clear(places.stores[told.store].rows->num_rows());
        told.is_shared_ = true;
    }
    return true;
}

void ToldRows::add_shared(std::uint32_t row) {
    __atomic_fetch_or(visited_.data() + row / 64, std::uint64_t(1) << (row % 64), __ATOMIC_RELAXED);
}

}  // namespace shoal::detail
