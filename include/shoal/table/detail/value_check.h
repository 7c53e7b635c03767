#pragma once
// Finds values from a file whose bytes are not a valid bool, enum or string.
// Thread: any.

#include "shoal/entity/entity.h"
#include "shoal/table/detail/schema.h"

#include <string>
#include <string_view>

namespace shoal {

/// Returns the index of the first value that is not valid, or `count`. Values are `stride` bytes apart.
template <class Valid>
std::uint64_t find_invalid(const std::byte* first, std::uint64_t stride, std::uint64_t count, Valid valid) {
    constexpr std::uint64_t kBlock = 256;  // tested without a branch per value
    for (std::uint64_t begin = 0; begin < count; begin += kBlock) {
        const std::uint64_t end = count - begin < kBlock ? count : begin + kBlock;
        bool all_valid = true;
        for (std::uint64_t i = begin; i < end; ++i) all_valid &= valid(first + i * stride);
        if (all_valid) continue;
        for (std::uint64_t i = begin;; ++i)
            if (!valid(first + i * stride)) return i;
    }
    return count;
}

/// Rows of one field. Shape: `count` rows, `stride` bytes apart, each with the field's num_values() values.
struct FieldRows {
    const std::byte* first = nullptr;
    std::uint64_t stride = 0;
    std::uint64_t count = 0;
};

/// Returns a pointer to the first value for which valid(place) is false, or nullptr.
template <class Valid>
const std::byte* find_invalid_value(const Field& field, const FieldRows& rows, Valid valid) {
    const bool packed = rows.stride == field.size;
    const std::uint64_t num_rows = packed ? 1 : rows.count;
    const std::uint64_t num_values = packed ? rows.count * field.num_values() : field.num_values();
    for (std::uint64_t row = 0; row < num_rows; ++row) {
        const std::byte* const values = rows.first + row * rows.stride;
        const std::uint64_t bad = find_invalid(values, field.value_bytes, num_values, valid);
        if (bad < num_values) return values + bad * field.value_bytes;
    }
    return nullptr;
}

struct BadValue {
    const std::byte* place = nullptr;  ///< nullptr: all values are valid
    const char* problem = "";          ///< such as "a bool that is neither 0 nor 1"
    explicit operator bool() const { return place != nullptr; }
};
/// Whether the field has invalid bit patterns, so that find_bad_value() can find bad values.
inline bool can_be_bad(const Field& field) {
    return field.type == FieldType::kBool || field.type == FieldType::kEnum || field.type == FieldType::kFixedString;
}
/// Checks the values of bools, enums and fixed strings. For other types, any bytes are valid; references are checked
/// elsewhere, where their targets are known. Cost: none for other types.
SHOAL_API BadValue find_bad_value(const Field& field, const FieldRows& rows);
/// Returns a message that says why a value is not written, and what to do.
SHOAL_API std::string bad_value_text(const Schema& schema, const Field& field, std::string_view problem, Entity owner);

}  // namespace shoal
