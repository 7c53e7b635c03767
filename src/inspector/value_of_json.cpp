#include "inspector/value_of_json.h"

#include "shoal/base/text.h"
#include "shoal/document/detail/scalar_text.h"
#include "shoal/table/detail/number_value.h"

#include <cmath>
#include <cstring>

namespace shoal::inspect {
namespace {

Status unfit(const FieldPath& path) {
    return Status::error(concat('"', path.name(), "\" is ", path.type().to_text(), ", and the value is not one"));
}

bool is_number(FieldType type) { return type >= FieldType::kInt8 && type <= FieldType::kDouble; }

/// Writes one number. Returns false if the number does not fit, such as 300 in a uint8 or 1.5 in an integer.
bool write_exactly(FieldType type, Node given, std::byte* value) {
    if (!given.is_number()) return false;
    if (type == FieldType::kInt64 && given.as_int64() != nullptr) {
        std::memcpy(value, given.as_int64(), sizeof(std::int64_t));
        return true;
    }
    if (type == FieldType::kUint64 && given.as_uint64() != nullptr) {
        std::memcpy(value, given.as_uint64(), sizeof(std::uint64_t));
        return true;
    }
    const double number = given.as_double();
    const bool is_real = type == FieldType::kFloat || type == FieldType::kDouble;
    return (is_real || number == std::trunc(number)) && write_number(type, number, value);
}

/// Writes a number, or the numbers in a list. The list may contain lists, such as the rows of a matrix.
bool write_numbers(Node given, FieldType type, std::uint32_t bytes, std::byte*& at, const std::byte* end) {
    if (given.is_list()) {
        for (const Node one : given)
            if (!write_numbers(one, type, bytes, at, end)) return false;
        return true;
    }
    if (at + bytes > end) return false;
    const bool is_fine = type == FieldType::kBool ? given.is_bool() && write_number(type, given.as_bool() ? 1 : 0, at)
                                                  : write_exactly(type, given, at);
    at += bytes;
    return is_fine;
}

/// Errors: a number is outside the field's range. Shape: `values` has values of `type`, each `bytes` long.
Status check_range(const FieldPath& path, FieldType type, std::uint32_t bytes, std::span<const std::byte> values) {
    const Field& field = *path.part().field;
    if (!field.has_range) return {};
    for (std::size_t at = 0; at < values.size(); at += bytes) {
        const double number = read_number(type, values.data() + at);
        if (number >= field.minimum && number <= field.maximum) continue;
        std::string text = concat('"', path.name(), "\" is from ");
        append_number_text(text, field.minimum);
        text += " to ";
        append_number_text(text, field.maximum);
        text += "; ";
        append_number_text(text, number);
        return Status::error(text + " is outside");
    }
    return {};
}

}  // namespace

Result<AnyValue> value_of_json(Node given, const FieldPath& path) {
    const ValueType& type = path.type();
    if (type.type == FieldType::kOpaque || type.type == FieldType::kBlobArray)
        return Status::error(concat('"', path.name(), "\" cannot be edited: it is ", type.to_text()));
    if (given.is_string()) return AnyValue(given.as_string());  // the world converts it, and stores strings with ids
    if (given.is_null() && type.type == FieldType::kEntity) return AnyValue(Entity());
    const FieldType lane = type.type == FieldType::kMatrix3x4 ? FieldType::kFloat : lane_type(type.type);
    if (lane != FieldType::kBool && !is_number(lane)) return unfit(path);
    const std::uint32_t bytes = field_type_bytes(lane);
    AnyValue value(type);
    std::byte* at = value.bytes().data();
    const std::byte* const end = at + value.bytes().size();
    if (given.is_list() != (end - at > static_cast<std::ptrdiff_t>(bytes)) ||
        !write_numbers(given, lane, bytes, at, end) || at != end)
        return unfit(path);
    if (Status status = check_range(path, lane, bytes, value.bytes()); !status) return status;
    return value;
}

}  // namespace shoal::inspect
