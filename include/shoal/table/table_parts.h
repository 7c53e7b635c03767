#pragma once
// What a table is made with, and the small records that it is made of.
// Thread: values.

#include "shoal/base/config.h"
#include "shoal/table/write_guard.h"

#include <cstddef>
#include <cstdint>

namespace shoal {

class EntityManager;
struct OpaqueOperations;

inline constexpr std::uint32_t kDefaultCapacityRows = 1u << 22;

struct TableOptions {
    std::uint32_t capacity_rows = kDefaultCapacityRows;  ///< most rows that it can ever hold
    bool chain = false;                                  ///< several rows per entity, linked from the row index
    bool tree = false;                                   ///< rows link to parents, children and siblings
};

enum class LinkColumn : std::uint8_t { kChainNext, kTreeParent, kTreeFirstChild, kTreeNext, kTreePrevious };

/// Where a column lies.
struct PhysicalColumn {
    std::byte* data = nullptr;
    std::uint32_t element_bytes = 0;
    std::size_t large_bytes = 0;  ///< of its frame, asked to lie in 2 MiB pages
    const OpaqueOperations* opaque = nullptr;
};

/// Columns with elements of one size: rows are copied group by group, without a test per column.
struct CopyGroup {
    std::uint32_t element_bytes;
    std::uint32_t begin;  ///< in the table's order of copying
    std::uint32_t end;
};

}  // namespace shoal
