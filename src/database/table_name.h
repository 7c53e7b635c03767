#pragma once
// The names and bits of tables in a snapshot: see shoal/database/detail/saved_tables.h.

#include "shoal/base/detail/array.h"
#include "shoal/base/text.h"

namespace shoal {

inline std::string table_name(std::uint32_t number) { return concat("table/", number); }

/// Returns a copy of the bits of some rows; bits past the last row are 0.
inline Array<std::uint64_t> bits_of_rows(const std::uint64_t* words, std::uint32_t num_rows) {
    Array<std::uint64_t> bits(words, words + (num_rows + 63) / 64, Owner("database"));
    if (num_rows % 64 != 0) bits.back() &= (std::uint64_t(1) << num_rows % 64) - 1;
    return bits;
}

}  // namespace shoal
