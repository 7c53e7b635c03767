#include "shoal/inspect/text_table.h"

#include "shoal/base/assert.h"
#include "shoal/document/detail/scalar_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal {
std::string count_text(std::uint64_t count) {
    std::string text = fmt::format("{}", count);
    for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
    return text;
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1023.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
    return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string decimal_text(double value, int num_decimals) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, num_decimals) : "-";
}

TextTable::TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void TextTable::add_row(std::vector<std::string> row) {
    SHOAL_ASSERT(row.size() == rows_[0].size(), "a row of a TextTable has one text per column of the header");
    rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
    std::vector<std::size_t> widths(rows_[0].size());
    for (const std::vector<std::string>& row : rows_)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], num_code_points(row[c]));
    std::string out;
    for (const std::vector<std::string>& row : rows_) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string gap(widths[c] - num_code_points(row[c]), ' ');
            if (c > 0) out += "  " + gap + row[c];
            if (c == 0) out += row[c] + (row.size() > 1 ? gap : "");
        }
        out += '\n';
    }
    return out;
}

}  // namespace shoal
