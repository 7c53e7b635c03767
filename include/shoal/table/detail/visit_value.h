#pragma once
// Maps a field type to the C++ type of its values, for code that learns the type at run time.
// Thread: any.

#include "shoal/base/detail/bytes.h"
#include "shoal/table/detail/field.h"

namespace shoal {

/// Calls visit(value) with one value of a type whose size is fixed. Requires: the type is not an enum, a fixed string
/// or opaque.
template <class Visit>
void visit_value(FieldType type, const std::byte* bytes, Visit&& visit) {
    switch (type) {
        case FieldType::kBool:
            return visit(*bytes != std::byte(0));
        case FieldType::kInt8:
            return visit(read_as<std::int8_t>(bytes));
        case FieldType::kInt16:
            return visit(read_as<std::int16_t>(bytes));
        case FieldType::kInt32:
            return visit(read_as<std::int32_t>(bytes));
        case FieldType::kInt64:
            return visit(read_as<std::int64_t>(bytes));
        case FieldType::kUint8:
            return visit(read_as<std::uint8_t>(bytes));
        case FieldType::kUint16:
            return visit(read_as<std::uint16_t>(bytes));
        case FieldType::kUint32:
            return visit(read_as<std::uint32_t>(bytes));
        case FieldType::kUint64:
            return visit(read_as<std::uint64_t>(bytes));
        case FieldType::kFloat:
            return visit(read_as<float>(bytes));
        case FieldType::kDouble:
            return visit(read_as<double>(bytes));
        case FieldType::kStringId:
            return visit(read_as<StringId>(bytes));
        case FieldType::kResourceId:
            return visit(read_as<ResourceId>(bytes));
        case FieldType::kEntity:
            return visit(read_as<Entity>(bytes));
        case FieldType::kBlobArray:
            return visit(read_as<BlobArrayBase>(bytes));
        default:
            return visit(std::span(bytes, field_type_bytes(type)));  // floats
    }
}

/// Whether two numbers are equal in their lowest `num_bytes` bytes. Higher bytes are ignored, because the values of an
/// enum may be signed or unsigned.
SHOAL_API bool is_enum_value(const std::byte* bytes, std::uint32_t num_bytes, std::int64_t value);

}  // namespace shoal
