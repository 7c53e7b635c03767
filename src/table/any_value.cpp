#include "shoal/table/detail/any_value.h"

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "shoal/document/sjson.h"
#include "shoal/entity/entity_text.h"
#include "shoal/table/detail/enum_bytes.h"
#include "shoal/table/detail/visit_value.h"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace shoal {
namespace {

bool is_number(const ValueType& type) {
    return type.array_length == 0 && type.type >= FieldType::kInt8 && type.type <= FieldType::kDouble;
}
bool is_floating(FieldType type) { return type == FieldType::kFloat || type == FieldType::kDouble; }

/// Converts a number to the type of `wanted`. Returns false if that type cannot hold the number.
template <class To, class From>
bool convert_number(From from, To& wanted) {
    if constexpr (std::is_floating_point_v<From> && std::is_floating_point_v<To>) {
        wanted = static_cast<To>(from);
        return std::isfinite(wanted) || !std::isfinite(from);
    } else if constexpr (std::is_floating_point_v<From>) {
        return false;
    } else if constexpr (std::is_floating_point_v<To>) {
        wanted = static_cast<To>(from);
        const auto back = static_cast<long double>(wanted);  // holds every 64-bit number
        return back == static_cast<long double>(from);
    } else {
        wanted = static_cast<To>(from);
        return std::in_range<To>(from);
    }
}

template <class T>
inline constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// Converts a number from type `from` to type `to`. Requires: `from` and `to` are number types.
bool convert_number(FieldType from, const std::byte* bytes, FieldType to, std::byte* out) {
    bool fits = false;
    visit_value(from, bytes, [&](const auto& number) {
        if constexpr (kIsNumber<std::remove_cvref_t<decltype(number)>>)
            visit_value(to, out, [&](auto target) {
                if constexpr (kIsNumber<decltype(target)>) {
                    fits = convert_number(number, target);
                    std::memcpy(out, &target, sizeof target);
                }
            });
    });
    return fits;
}

/// Returns a hint for a message about a value of the wrong type.
std::string type_hint(std::string_view name, const ValueType& wanted, const ValueType& given) {
    if (wanted.array_length != 0) return {};
    if (wanted.type == FieldType::kEnum) {
        std::string names;
        for (const EnumeratorDefinition& e : wanted.enumerators)
            append_text(names, concat(names.empty() ? "; give one of its names: " : ", ", e.name));
        return names;
    }
    if (is_number(given) && field_type_lanes(wanted.type) > 1)
        return concat("; name a part of it, such as ", quoted(concat(name, ".x")));
    return is_number(given) && is_number(wanted) ? "; give a whole number" : "";
}

/// Finds the enumerator with a given name. Errors: the enumerator does not exist.
Result<std::int64_t> find_enumerator(const ValueType& type, std::string_view text, std::string_view name) {
    Array<std::string_view> names{Owner("any value")};
    for (const EnumeratorDefinition& e : type.enumerators) {
        if (e.name == text) return e.value;
        names.push_back(e.name);
    }
    return Status::error(concat(quoted(name), " has no value ", quoted(text), "; ", hint_for(text, names)));
}

}  // namespace

AnyValue::AnyValue(const ValueType& type) : type_(type) {
    SHOAL_ASSERT(type.type != FieldType::kOpaque, "an opaque value cannot be copied as bytes");
    if (type.num_bytes() > kInlineBytes) large_.resize(type.num_bytes());
}

AnyValue::AnyValue(const ValueType& type, const std::byte* value) : AnyValue(type) {
    copy_bytes(bytes().data(), value, type.num_bytes());
}

AnyValue::AnyValue(std::string_view text)
    : AnyValue(ValueType{FieldType::kFixedString,
                         FieldType(0),
                         0,
                         static_cast<std::uint32_t>(text.substr(0, text.find('\0')).size() + 1),
                         {}}) {
    if (type_.value_bytes > 1) copy_bytes(bytes().data(), text.data(), type_.value_bytes - 1);
}

std::span<std::byte> AnyValue::bytes() {
    return {const_cast<std::byte*>(static_cast<const AnyValue*>(this)->data()), type_.num_bytes()};
}

std::string_view AnyValue::text() const {
    if (!is_text()) return {};
    const std::string_view all(reinterpret_cast<const char*>(data()), type_.value_bytes);
    return all.substr(0, all.find('\0'));
}

Result<AnyValue> AnyValue::convert(const ValueType& type, std::string_view name) const {
    if (type_ == type && type.type != FieldType::kOpaque) return AnyValue(type, data());
    if (is_text()) return convert_text(type, name);
    const bool drops_fraction = is_floating(type_.type) && !is_floating(type.type);
    if (!is_number(type_) || !is_number(type) || drops_fraction)
        return Status::error(
            concat(quoted(name), " is ", type.to_text(), ", not ", given_text(), type_hint(name, type, type_)));
    AnyValue result(type);
    if (convert_number(type_.type, data(), type.type, result.small_)) return result;
    return Status::error(concat(quoted(name), " is ", type.to_text(), ", which cannot hold ", to_text()));
}

Result<AnyValue> AnyValue::convert_text(const ValueType& type, std::string_view name) const {
    if (type.array_length == 0 && type.type == FieldType::kFixedString) {
        if (text().size() >= type.value_bytes)
            return Status::error(concat(quoted(name), " has room for ", type.value_bytes - 1, " bytes of text; ",
                                        quoted(text()), " has ", text().size()));
        AnyValue result(type);
        copy_bytes(result.bytes().data(), data(), text().size());
        return result;
    }
    if (type.array_length == 0 && type.type == FieldType::kEntity) {
        Entity entity;
        if (read_entity(text(), entity)) return AnyValue(type, reinterpret_cast<const std::byte*>(&entity));
        return Status::error(concat(quoted(name), " is an entity, which ", quoted(text()),
                                    " does not name; write its index and generation, such as \"12:3\", or \"null\""));
    }
    const std::uint64_t hash = StringId(text()).hash;
    if (type.array_length == 0 && type.type == FieldType::kEnum) {
        const Result<std::int64_t> found = find_enumerator(type, text(), name);
        if (!found) return found.status();
        std::byte value[sizeof *found];
        write_enum_number(value, type.value_bytes, *found);
        return AnyValue(type, value);
    }
    if (type.array_length != 0 || (type.type != FieldType::kStringId && type.type != FieldType::kResourceId)) {
        return Status::error(concat(quoted(name), " is ", type.to_text(), ", not text"));
    }
    return AnyValue(type, reinterpret_cast<const std::byte*>(&hash));
}

Status AnyValue::type_error(const ValueType& wanted) const {
    return Status::error(concat("the value is ", given_text(), ", not ", wanted.to_text()));
}

std::string AnyValue::given_text() const { return type_.type == FieldType(0) ? "nothing" : type_.to_text(); }

std::string AnyValue::to_text(const ValueNames& names) const {
    DocumentBuilder builder;
    write_value(builder, type_, data(), names);
    return write_sjson_line(builder.finish().root());
}

bool AnyValue::equals(const AnyValue& other) const {
    return type_ == other.type_ && std::memcmp(data(), other.data(), type_.num_bytes()) == 0;
}

}  // namespace shoal
