#include "shoal/database/detail/archetype.h"

namespace shoal {

Archetype::Archetype(std::uint32_t number, std::span<const ComponentType> components,
                     std::span<const Schema* const> schemas)
    : number_(number), components_(components.begin(), components.end()), schema_(Schema::combine(schemas)) {
    std::size_t column = 0;
    for (std::size_t i = 0; i < components.size(); ++i) {
        const Schema& schema = *schemas[i];
        signature_.set(components[i].number);
        if (schema.enableable()) enableable_.push_back(components[i]);
        if (schema.many()) many_.push_back(components[i]);
        first_column_.resize(components[i].number + 1, static_cast<std::uint16_t>(kNoColumn));
        SHOAL_ASSERT(column + schema.columns().size() < kNoColumn, "an archetype has fewer than 65,535 columns");
        first_column_.back() = static_cast<std::uint16_t>(column);
        column += schema.columns().size();
    }
}

std::span<const ComponentType> Archetype::many() const { return many_; }

}  // namespace shoal
