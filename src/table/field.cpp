#include "shoal/table/detail/field.h"

namespace shoal {
namespace {

constexpr std::string_view kNames[kNumFieldTypes] = {
    "",       "bool",   "int8",      "int16",       "int32",  "int64",        "uint8",      "uint16",
    "uint32", "uint64", "float",     "double",      "vec2",   "vec3",         "vec4",       "quaternion",
    "matrix", "enum",   "string_id", "resource_id", "entity", "fixed_string", "blob_array", "opaque"};

}  // namespace

std::string_view field_type_name(FieldType type) {
    const auto index = static_cast<std::size_t>(type);
    return index < kNumFieldTypes ? kNames[index] : std::string_view();
}

FieldType field_type_from_name(std::string_view name) {
    for (int i = 1; i < static_cast<int>(FieldType::kOpaque); ++i)
        if (kNames[i] == name) return static_cast<FieldType>(i);
    return FieldType(0);
}

}  // namespace shoal
