#pragma once
// An archetype is a set of component types. Entities of one archetype in one zone share a table. The table has the
// columns of the component types, in the order of the types' numbers:
//
//     archetype {position 0, mass 2}     schema columns    position.value | mass.value
//                                          first_column(0) = 0, first_column(2) = 1, first_column(1) = none
//
// A database numbers component types in the order of their registration, and archetypes in the order in which they are
// made. The numbers mean nothing to another database.
// Thread: any; an archetype never changes.

#include "shoal/base/detail/bit_set.h"
#include "shoal/table/detail/schema.h"

namespace shoal {

/// A component type of one database.
struct ComponentType {
    std::uint32_t number = 0xFFFFFFFF;  ///< index into Database::schemas()

    explicit operator bool() const { return number != 0xFFFFFFFF; }
    friend bool operator==(ComponentType, ComponentType) = default;
};

inline constexpr std::uint32_t kNoColumn = 0xFFFF;

class Archetype {
public:
    /// `components` are in ascending order; `schemas` are their schemas. Requires: fewer than kNoColumn columns in
    /// total.
    SHOAL_API Archetype(std::uint32_t number, std::span<const ComponentType> components,
                        std::span<const Schema* const> schemas);
    Archetype(const Archetype&) = delete;
    Archetype& operator=(const Archetype&) = delete;

    std::uint32_t number() const { return number_; }
    /// The component types of the archetype: one bit per number.
    const BitSet& signature() const { return signature_; }
    /// In ascending order.
    std::span<const ComponentType> components() const { return {components_.data(), components_.size()}; }
    /// The enableable component types, in ascending order. For each type, a bit per row shows whether it is enabled.
    std::span<const ComponentType> enableable() const { return {enableable_.data(), enableable_.size()}; }
    /// The `many` component types, in ascending order. The first value of an entity is in its row.
    SHOAL_API std::span<const ComponentType> many() const;
    bool has(ComponentType component) const { return signature_.test(component.number); }
    /// Returns the first column of a component type, or kNoColumn; its other columns follow. A component type without
    /// fields has no column.
    std::uint32_t first_column(ComponentType component) const {
        return component.number < first_column_.size() ? first_column_[component.number] : kNoColumn;
    }
    /// Whether first_column() is not kNoColumn. Faster than has().
    bool has_column_of(ComponentType component) const { return first_column(component) != kNoColumn; }
    /// Returns the index of `component` in enableable(), or -1.
    int enableable_index(ComponentType component) const {
        for (std::size_t i = 0; i < enableable_.size(); ++i)
            if (enableable_[i] == component) return static_cast<int>(i);
        return -1;
    }

    /// All columns of a row. See Schema::combine.
    const Schema& schema() const { return schema_; }

private:
    std::uint32_t number_;
    BitSet signature_{Owner("archetype")};
    Array<ComponentType> components_{Owner("archetype")};
    Array<ComponentType> enableable_{Owner("archetype")};
    Array<ComponentType> many_{Owner("archetype")};
    Array<std::uint16_t> first_column_{Owner("archetype")};  // indexed by component type number
    Schema schema_;
};

}  // namespace shoal
