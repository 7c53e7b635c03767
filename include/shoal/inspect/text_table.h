#pragma once
// Formats tables and numbers as text for people.
//
//     pass         runs      rows   ms mean
//     simulate      600    10,137     0.021
//
// Thread: any; calls are independent.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// Returns a number such as `1,234,567`.
SHOAL_API std::string count_text(std::uint64_t count);
/// Returns a short number with a unit, such as `512 B`, `1.5 KiB` or `20.0 MiB`.
SHOAL_API std::string bytes_text(std::uint64_t bytes);
/// Returns `value` with `num_decimals` digits after the point; `-` if it is not finite.
SHOAL_API std::string decimal_text(double value, int num_decimals);

/// Rows of strings under a header. The first column is left-aligned, and the others are right-aligned.
class TextTable {
public:
    SHOAL_API explicit TextTable(std::vector<std::string> header);

    /// Shape: a string for each column of the header.
    SHOAL_API void add_row(std::vector<std::string> row);
    bool empty() const { return rows_.size() == 1; }

    /// Returns the lines, each with a newline. Columns are as wide as their longest string, counted in code points.
    SHOAL_API std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;  // including the header
};

}  // namespace shoal
