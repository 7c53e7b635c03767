#pragma once
// Copies the values of fields from a world, by entity, to compare them with later values or with another world.
//
//     here      entity  3:1  4:1  9:2        there     entity  3:1  9:2  4:1      the order of rows is ignored
//               value   0.5  1.0  7.0                  value   0.5  7.0  1.5      4:1 differs
//
// Thread: the same as for the world.

#include "shoal/save/state_difference.h"
#include "shoal/save/state_hash.h"
#include "shoal/table/detail/any_value.h"
#include "shoal/world/detail/state_rows.h"

#include <compare>
#include <string>
#include <vector>

namespace shoal {

struct FieldName {
    std::string component, field;  ///< as in StateHash
    friend auto operator<=>(const FieldName&, const FieldName&) = default;
};

/// Returns the fields whose hashes differ between the lists. Fields of components with the same owners on both sides
/// come first. Shape: both lists are sorted in the same way as StateHashes::parts().
std::vector<FieldName> differing_fields(std::span<const StateHash> here, std::span<const StateHash> there);

/// The values of one field, in row order.
class FieldValues {
public:
    /// `rows` are all rows of the component type.
    FieldValues(const World& world, const FieldName& name, std::span<const StateRows> rows);

    /// Returns the first difference, in this object's row order, and the number of other differences.
    StateDifference compare(const FieldValues& there) const;

private:
    void add_living(const World& world);
    void add_rows(const StateRows& rows);
    std::vector<std::uint32_t> by_entity() const;
    std::span<const std::byte> bytes_of(std::uint32_t i) const;
    std::string text_of(std::uint32_t i) const;
    void compare_order(const FieldValues& there, StateDifference& found) const;

    FieldName name_;
    const StringTable* strings_;
    ValueType type_;  // FieldType(0) if there are only owners
    std::vector<Entity> owners_;
    std::vector<std::byte> bytes_;  // the values, packed
    std::vector<bool> is_enabled_;
};

/// Copies the values of several fields. Shape: one per name. Cost: visits all tables once, and the rows for each field.
std::vector<FieldValues> values_of(const World& world, std::span<const FieldName> names);
/// Removes names that are not fields of the world's rows. A forged file may contain such names. The first name is
/// always kept, so that a difference is reported.
void remove_unknown(const World& world, std::vector<FieldName>& names);

/// Compares several fields with FieldValues::compare(). Describes the first difference, and counts the others.
/// Shape: `there` has the same fields as `here`.
StateDifference compare_values(std::span<const FieldValues> here, std::span<const FieldValues> there);

}  // namespace shoal
