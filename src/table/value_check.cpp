#include "shoal/table/detail/value_check.h"

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/table/detail/enum_bytes.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

bool is_fixed_string(const std::byte* value, std::uint32_t capacity) {
    const auto* text = reinterpret_cast<const char*>(value);
    const std::size_t length = ::strnlen(text, capacity);
    return length < capacity && is_utf8({text, length});  // bytes after the first zero are ignored
}

/// Returns the numbers of an enum as stored in values, in ascending order and without duplicates.
Array<std::int64_t> numbers_of(const Field& field) {
    Array<std::int64_t> numbers{Owner("value check")};
    for (const EnumeratorDefinition& enumerator : field.enumerators) {
        std::byte bytes[sizeof(std::int64_t)];
        write_enum_number(bytes, field.value_bytes, enumerator.value);
        numbers.push_back(read_enum_number(bytes, field.value_bytes));
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

}  // namespace

BadValue find_bad_value(const Field& field, const FieldRows& rows) {
    if (field.type == FieldType::kBool)
        return {find_invalid_value(field, rows, [](const std::byte* v) { return *v <= std::byte(1); }),
                "a bool that is neither 0 nor 1"};
    if (field.type == FieldType::kEnum) {
        const Array<std::int64_t> numbers = numbers_of(field);
        // Most enums count from 0 without a gap, so that one comparison is enough.
        const auto first = static_cast<std::uint64_t>(numbers.empty() ? 0 : numbers.front());
        const auto is_in_range = [&](const std::byte* v) {
            return static_cast<std::uint64_t>(read_enum_number(v, field.value_bytes)) - first < numbers.size();
        };
        if (!numbers.empty() && static_cast<std::uint64_t>(numbers.back()) - first == numbers.size() - 1)
            return {find_invalid_value(field, rows, is_in_range), "a number that its enum does not name"};
        const auto is_named = [&](const std::byte* v) {
            return std::binary_search(numbers.begin(), numbers.end(), read_enum_number(v, field.value_bytes));
        };
        return {find_invalid_value(field, rows, is_named), "a number that its enum does not name"};
    }
    if (field.type == FieldType::kFixedString)
        return {
            find_invalid_value(field, rows, [&](const std::byte* v) { return is_fixed_string(v, field.value_bytes); }),
            "a string that is not UTF-8 or has no end"};
    return {};
}

std::string bad_value_text(const Schema& schema, const Field& field, std::string_view problem, Entity owner) {
    return concat(
        "the field \"", field.name, "\" of ", entity_text(owner), " in \"", schema.name(), "\" holds ", problem,
        ", which no program would load; set it to a value of its type before, or settle the world if the entity "
        "is dead");
}

}  // namespace shoal
