#include "source/field_reader.h"

#include "shoal/base/text.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/table/detail/enum_bytes.h"
#include "shoal/table/detail/saved_rows.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace shoal {
namespace {

constexpr std::uint64_t kMaxBlobArrayElements = std::uint64_t(1) << 28;
constexpr double kLargestExact = 9007199254740992.0;  // above this, a double may differ from the written number

struct IntegerRange {
    std::int64_t least;
    std::uint64_t greatest;
};

/// The range of an integer type.
IntegerRange integer_range(FieldType type) {
    const bool is_signed = type <= FieldType::kInt64;
    const std::uint64_t greatest = ~std::uint64_t(0) >> (64 - field_type_bytes(type) * 8 + (is_signed ? 1 : 0));
    return {is_signed ? -static_cast<std::int64_t>(greatest) - 1 : 0, greatest};
}

/// Reads an integer, or a number with an integer value such as 2.0, into a sign and bits. Returns false for other
/// values.
bool to_integer(Node node, bool& negative, std::uint64_t& bits) {
    if (const auto value = node.as_int64()) {
        negative = *value < 0;
        bits = static_cast<std::uint64_t>(*value);
        return true;
    }
    negative = false;
    if (const auto value = node.as_uint64()) return bits = *value, true;
    if (!node.is_number()) return false;
    const double number = node.as_double();
    if (number != std::floor(number) || !(std::fabs(number) <= kLargestExact)) return false;
    negative = number < 0;
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    return true;
}

template <class T>
void put(std::byte* value, T number) {
    std::memcpy(value, &number, sizeof number);
}

std::string type_with_article(FieldType type) {
    const std::string_view name = field_type_name(type);
    return concat(name[0] == 'i' || name[0] == 'e' ? "an " : "a ", name);
}

std::string shape_text(const Field& field) {
    const std::uint32_t lanes = field_type_lanes(field.type);
    return concat("a list of ", lanes, " numbers");
}

}  // namespace

bool FieldReader::fail(const Field& field, Node node, std::string_view problem, std::string hint) {
    diagnostics.error(node.position(),
                      concat("component ", quoted(component), ", field ", quoted(field.name), ": ", problem),
                      std::move(hint));
    return false;
}

bool FieldReader::wants(const Field& field, Node node, std::string_view wanted) {
    return fail(field, node,
                concat("this is ", kind_name(node.kind()), ", but the field is ", type_with_article(field.type)),
                concat("write ", wanted));
}

bool FieldReader::read(const Field& field, Node node, std::byte* value) {
    return field.array_length == 0 ? read_one(field, node, value) : read_array(field, node, value);
}

bool FieldReader::read_array(const Field& field, Node node, std::byte* value) {
    if (!node.is_list()) return wants(field, node, concat("a list of ", field.array_length, " values"));
    if (node.size() != field.array_length)
        return fail(field, node,
                    concat("this list has ", node.size(), " values, but the field has ", field.array_length),
                    concat("write ", field.array_length, " values"));
    bool good = true;
    for (const Node element : node) {
        good &= read_one(field, element, value);
        value += field.value_bytes;
    }
    return good;
}

bool FieldReader::read_one(const Field& field, Node node, std::byte* value) {
    switch (field.type) {
        case FieldType::kFloat:
            return read_float(field, node, value);
        case FieldType::kVec2:
        case FieldType::kVec3:
        case FieldType::kVec4:
        case FieldType::kQuaternion:
            return read_lanes(field, node, value);
        case FieldType::kDouble:
            return read_double(field, node, value);
        case FieldType::kMatrix3x4:
            return read_matrix(field, node, value);
        case FieldType::kEnum:
            return read_enum(field, node, value);
        case FieldType::kStringId:
        case FieldType::kResourceId:
            return read_text_id(field, node, value);
        case FieldType::kFixedString:
            return read_fixed_string(field, node, value);
        case FieldType::kBlobArray:
            return read_blob_array(field, node, value);
        case FieldType::kBool:
            if (!node.is_bool()) return wants(field, node, "true or false");
            return put(value, static_cast<std::uint8_t>(node.as_bool())), true;
        case FieldType::kEntity:
            if (!node.is_string() && !node.is_null())
                return wants(field, node, "the name or GUID path of an entity, or null");
            return true;
        case FieldType::kOpaque:
            return fail(field, node, "a C++ type of its own cannot be written as text");
        default:
            return read_integer(field, node, value);
    }
}

bool FieldReader::check_range(const Field& field, Node node, double number) {
    if (SHOAL_LIKELY(!field.has_range || (number >= field.minimum && number <= field.maximum))) return true;
    return fail(field, node, concat(number, " is out of range"),
                concat("write a number from ", field.minimum, " to ", field.maximum));
}

bool FieldReader::read_integer(const Field& field, Node node, std::byte* value) {
    bool negative = false;
    std::uint64_t bits = 0;
    const bool is_exact = to_integer(node, negative, bits);
    if (!is_exact && !(node.is_number() && std::fabs(node.as_double()) > kLargestExact))
        return wants(field, node, "a whole number");
    const IntegerRange range = integer_range(field.type);
    const bool fits = is_exact && (negative ? static_cast<std::int64_t>(bits) >= range.least : bits <= range.greatest);
    if (!fits)
        return fail(field, node, concat("the number does not fit ", type_with_article(field.type)),
                    concat("write a number from ", range.least, " to ", range.greatest,
                           is_exact ? "" : ", without point or exponent"));
    const double number = negative ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
    if (!check_range(field, node, number)) return false;
    write_enum_number(value, field.value_bytes, static_cast<std::int64_t>(bits));
    return true;
}

bool FieldReader::read_float(const Field& field, Node node, std::byte* value) {
    if (!node.is_number()) return wants(field, node, "a number");
    const double number = node.as_double();
    constexpr double kLargest = std::numeric_limits<float>::max();
    if (!(std::fabs(number) <= kLargest))
        return fail(field, node, concat(number, " does not fit a float"),
                    concat("write a number from ", -kLargest, " to ", kLargest));
    if (!check_range(field, node, number)) return false;
    return put(value, static_cast<float>(number)), true;
}

bool FieldReader::read_double(const Field& field, Node node, std::byte* value) {
    if (!node.is_number()) return wants(field, node, "a number");
    if (!check_range(field, node, node.as_double())) return false;
    return put(value, node.as_double()), true;
}

bool FieldReader::read_named_lanes(const Field& field, Node node, std::byte* value) {
    bool good = true;
    for (const Node child : node) {
        std::uint32_t lane = 0;
        while (lane < field_type_lanes(field.type) && child.key() != lane_name(lane)) ++lane;
        if (lane == field_type_lanes(field.type)) {
            diagnostics.error(child.key_position(),
                              concat("component ", quoted(component), ", field ", quoted(field.name), ": a ",
                                     field_type_name(field.type), " has no ", quoted(child.key())),
                              concat("write ", shape_text(field)));
            good = false;
        } else {
            good &= read_float(field, child, value + lane * sizeof(float));
        }
    }
    return good;
}

bool FieldReader::read_lanes(const Field& field, Node node, std::byte* value) {
    if (node.is_mapping()) return read_named_lanes(field, node, value);
    if (!node.is_list()) return wants(field, node, shape_text(field));
    if (node.size() != field_type_lanes(field.type))
        return fail(field, node,
                    concat("this list has ", node.size(), " values, but a ", field_type_name(field.type), " has ",
                           field_type_lanes(field.type)),
                    concat("write ", shape_text(field)));
    bool good = true;
    for (const Node element : node) {
        good &= read_float(field, element, value);
        value += sizeof(float);
    }
    return good;
}

bool FieldReader::read_matrix(const Field& field, Node node, std::byte* value) {
    constexpr std::string_view kShape = "a list of 12 numbers, or of 3 rows of 4";
    if (!node.is_list()) return wants(field, node, kShape);
    const bool has_rows = node.size() == 3;
    if (!has_rows && node.size() != 12)
        return fail(field, node, concat("this list has ", node.size(), " values"), concat("write ", kShape));
    bool good = true;
    for (const Node element : node) {
        if (!has_rows) {
            good &= read_float(field, element, value);
            value += sizeof(float);
            continue;
        }
        if (!element.is_list() || element.size() != 4)
            return fail(field, element, "this is not a row of 4 numbers", concat("write ", kShape));
        for (const Node number : element) {
            good &= read_float(field, number, value);
            value += sizeof(float);
        }
    }
    return good;
}

bool FieldReader::read_enum(const Field& field, Node node, std::byte* value) {
    std::string choices;
    for (const EnumeratorDefinition& e : field.enumerators) {
        if (node.is_string() && e.name == node.as_string()) {
            write_enum_number(value, field.value_bytes, e.value);
            return true;
        }
        append_text(choices, concat(choices.empty() ? "" : ", ", e.name));
    }
    if (!node.is_string()) return wants(field, node, concat("one of ", choices));
    return fail(field, node, concat(quoted(node.as_string()), " is not one of its values"),
                concat("choose one of ", choices));
}

bool FieldReader::read_text_id(const Field& field, Node node, std::byte* value) {
    if (!node.is_string())
        return wants(field, node,
                     field.type == FieldType::kResourceId ? "the name of a resource, or null" : "a string, or null");
    const std::string_view text = node.as_string();
    if (blob == nullptr) return put(value, StringId(text).hash), true;
    const Result<StringId> id = blob->add_text(text);
    if (!id) return fail(field, node, id.message());
    if (field.type == FieldType::kResourceId && !text.empty()) blob->add_dependency(DependencyKind::kResource, text);
    return put(value, id->hash), true;
}

bool FieldReader::read_fixed_string(const Field& field, Node node, std::byte* value) {
    if (!node.is_string()) return wants(field, node, "a string");
    const std::string_view text = node.as_string();
    if (text.size() >= field.value_bytes)
        return fail(field, node,
                    concat("the string has ", text.size(), " bytes, but the field holds ", field.value_bytes - 1),
                    "shorten it");
    if (text.find('\0') != std::string_view::npos) return fail(field, node, "the text holds a zero byte", "remove it");
    std::memset(value, 0, field.value_bytes);
    std::memcpy(value, text.data(), text.size());
    return true;
}

bool FieldReader::read_blob_array(const Field& field, Node node, std::byte* value) {
    if (blob == nullptr) return fail(field, node, "a blob array has no default", "remove it");
    if (!node.is_list()) return wants(field, node, "a list");
    if (node.size() > kMaxBlobArrayElements) return fail(field, node, "the list is too long", "split it");
    Field element;
    element.name = field.name;
    element.type = field.element_type;
    element.value_bytes = element.size = field_type_bytes(field.element_type);
    std::vector<std::byte> values(std::size_t(node.size()) * element.value_bytes);
    std::byte* at = values.data();
    bool good = true;
    for (const Node child : node) {
        good &= read_one(element, child, at);
        at += element.value_bytes;
    }
    if (good) put(value, blob->add_array(field.element_type, values));
    return good;
}

}  // namespace shoal
