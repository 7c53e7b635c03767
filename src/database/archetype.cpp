#include "shoal/database/archetype.h"

#include "shoal/base/string_id.h"

namespace shoal {

void Signature::add(std::uint32_t number) {
    if (words_.size() <= number / 64) words_.resize(number / 64 + 1, 0);
    words_[number / 64] |= std::uint64_t(1) << (number % 64);
}

void Signature::remove(std::uint32_t number) {
    if (!has(number)) return;
    words_[number / 64] &= ~(std::uint64_t(1) << (number % 64));
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

std::uint64_t Signature::hash() const { return hash_bytes(words_.data(), words_.size() * sizeof(words_[0])); }

Archetype::Archetype(std::uint32_t number, std::span<const ComponentType> components,
                     std::span<const Schema* const> schemas)
    : number_(number), components_(components.begin(), components.end()), schema_(Schema::combine(schemas)) {
    std::size_t column = 0;
    for (std::size_t i = 0; i < components.size(); ++i) {
        const Schema& schema = *schemas[i];
        signature_.add(components[i].number);
        if (schema.toggled()) toggled_.push_back(components[i]);
        first_column_.resize(components[i].number + 1, static_cast<std::uint16_t>(kNoColumn));
        SHOAL_ASSERT(column + schema.columns().size() < kNoColumn, "an archetype has fewer than 65,535 columns");
        first_column_.back() = static_cast<std::uint16_t>(column);
        column += schema.columns().size();
    }
}

}  // namespace shoal
