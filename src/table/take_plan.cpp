#include "shoal/table/detail/take_plan.h"

namespace shoal {

void TakePlan::keep(std::uint32_t from, std::uint32_t to, std::span<const ColumnDefinition> columns) {
    for (std::uint32_t c = 0; c < columns.size(); ++c) {
        const Column column{static_cast<std::uint16_t>(from + c), static_cast<std::uint16_t>(to + c),
                            columns[c].element_bytes};
        if (columns[c].opaque == nullptr)
            kept_.add(column);
        else
            kept_opaque_.push_back(column);
    }
}

void TakePlan::drop(std::uint32_t from, std::span<const ColumnDefinition> columns) {
    for (std::uint32_t c = 0; c < columns.size(); ++c)
        if (columns[c].opaque == nullptr)
            dropped_.add({static_cast<std::uint16_t>(from + c), 0, columns[c].element_bytes});
}

}  // namespace shoal
