#pragma once
// How the memory of a database is divided among its component types.

#include "shoal/database/database.h"

namespace shoal {

/// Returns whole * part / all, rounded down.
inline MemoryUse memory_share(const MemoryUse& whole, std::uint64_t part, std::uint64_t all) {
    const auto share = [&](std::size_t bytes) {
        return static_cast<std::size_t>(bytes / all * part + bytes % all * part / all);
    };
    return {share(whole.used_bytes), share(whole.committed_bytes), share(whole.reserved_bytes)};
}

/// Calls visit(component, rows, num_dead, use) for each component type of a table. `use` is the type's share of the
/// table's memory, in proportion to its bytes per row. Owners and bits are added to the share of the first type.
template <class Visit>
void for_each_share(const Database& database, const DatabaseTable& table, Visit&& visit) {
    if (table.type().components().empty()) return;
    std::uint64_t num_dead = 0;
    for (const Entity owner : table.entities()) num_dead += !database.entity_manager().alive(owner);
    const MemoryUse use = table.memory_use();
    const std::size_t row_bytes = table.type().schema().row_bytes() + sizeof(Entity);
    std::size_t part = sizeof(Entity);
    for (const ComponentType component : table.type().components()) {
        part += database.schema(component).row_bytes();
        visit(component, table.num_rows(), num_dead, memory_share(use, part, row_bytes));
        part = 0;
    }
}

}  // namespace shoal
