#include "shoal/table/detail/value_text.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/detail/string_table.h"
#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "shoal/entity/entity_text.h"
#include "shoal/table/detail/enum_bytes.h"
#include "shoal/table/detail/visit_value.h"

#include <charconv>
#include <cmath>

namespace shoal {
namespace {

/// Rows may contain any bytes, but text formats may not.
void write_text(DocumentBuilder& builder, std::string_view text) {
    builder.string(is_utf8(text) ? text : "(not UTF-8)");
}

/// Writes the values that visit_value() finds.
struct ValueWriter {
    DocumentBuilder& builder;
    const ValueNames& names;
    FieldType element_type;

    template <class T>
    void operator()(const T& value) const {
        if constexpr (std::is_same_v<T, bool>)
            builder.boolean(value);
        else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
            builder.integer(value);
        else if constexpr (std::is_integral_v<T>)
            builder.unsigned_integer(value);
        else
            write_number(builder, value);
    }
    void operator()(StringId id) const { write_id(id); }
    void operator()(ResourceId id) const { write_id(StringId(id.hash)); }
    void operator()(Entity entity) const { names.write_entity(builder, entity); }
    void operator()(const BlobArrayBase& array) const { names.write_array(builder, array, element_type); }
    void operator()(std::span<const std::byte> floats) const {
        builder.begin_list();
        for (std::size_t i = 0; i < floats.size(); i += sizeof(float))
            write_number(builder, read_as<float>(floats.data() + i));
        builder.end();
    }

    void write_id(StringId id) const {
        const std::string_view text = names.text(id);
        text.empty() && id ? write_hash(builder, id.hash) : write_text(builder, text);
    }
};

void write_enum(DocumentBuilder& builder, const ValueType& type, const std::byte* bytes) {
    for (const EnumeratorDefinition& e : type.enumerators)
        if (is_enum_value(bytes, type.value_bytes, e.value)) return builder.string(e.name);
    builder.integer(read_enum_number(bytes, type.value_bytes));
}

void write_one(DocumentBuilder& builder, const ValueType& type, const std::byte* bytes, const ValueNames& names) {
    if (type.type == FieldType::kFixedString) {
        const std::string_view all(reinterpret_cast<const char*>(bytes), type.value_bytes);
        return write_text(builder, all.substr(0, all.find('\0')));
    }
    if (type.type == FieldType::kEnum) return write_enum(builder, type, bytes);
    if (type.type == FieldType(0) || type.type == FieldType::kOpaque) return builder.null();
    visit_value(type.type, bytes, ValueWriter{builder, names, type.element_type});
}

}  // namespace

bool is_enum_value(const std::byte* bytes, std::uint32_t num_bytes, std::int64_t value) {
    const auto difference = static_cast<std::uint64_t>(value ^ read_enum_number(bytes, num_bytes));
    return difference << (64 - 8 * num_bytes) == 0;
}

bool ValueType::operator==(const ValueType& other) const {
    return type == other.type && element_type == other.element_type && array_length == other.array_length &&
           value_bytes == other.value_bytes;
}

std::string ValueType::to_text() const {
    const std::string_view name = field_type_name(type);
    const bool vowel = !name.empty() && std::string_view("aeio").find(name[0]) != std::string_view::npos;
    std::string text = concat(vowel ? "an " : "a ", name);
    if (type == FieldType::kBlobArray) append_text(text, concat(" of ", field_type_name(element_type)));
    if (array_length != 0) append_text(text, concat('[', array_length, ']'));
    return text;
}

std::string_view PlainNames::text(StringId id) const {
    return texts_ == nullptr ? std::string_view() : texts_->text(id);
}

void ValueNames::write_entity(DocumentBuilder& builder, Entity entity) const {
    if (!entity) return builder.null();
    builder.string(entity_text(entity));
}

void ValueNames::write_array(DocumentBuilder& builder, const BlobArrayBase& array, FieldType) const {
    builder.begin_mapping();
    builder.key("resource");
    const std::string_view resource = text(StringId(array.resource.hash));
    resource.empty() ? write_hash(builder, array.resource.hash) : builder.string(resource);
    builder.unsigned_integer("count", array.count);
    builder.end();
}

void write_value(DocumentBuilder& builder, const ValueType& type, const std::byte* bytes, const ValueNames& names) {
    if (type.array_length == 0) return write_one(builder, type, bytes, names);
    builder.begin_list();
    for (std::uint32_t i = 0; i < type.array_length; ++i)
        write_one(builder, type, bytes + std::size_t(i) * type.value_bytes, names);
    builder.end();
}

void write_hash(DocumentBuilder& builder, std::uint64_t hash) {
    std::string text = "#";
    append_hex(text, hash);
    builder.string(text);
}

void write_number(DocumentBuilder& builder, double number) {
    if (std::isfinite(number)) return builder.number(number);
    builder.string(std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
}

void write_number(DocumentBuilder& builder, float number) {
    double same_text = number;
    constexpr float kMostWhole = 1 << 24;  // up to this, the shortest text of a whole number has all of its digits
    const bool is_whole = std::fabs(number) <= kMostWhole && std::trunc(number) == number;
    if (std::isfinite(number) && !is_whole) {
        std::string text;
        append_number(text, number);
        std::from_chars(text.data(), text.data() + text.size(), same_text);
    }
    write_number(builder, same_text);
}

std::string hint_for(std::string_view name, std::span<const std::string_view> names) {
    if (const int close = closest_text(name, names.data(), names.size()); close >= 0)
        return concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?");
    std::string hint = names.empty() ? "it has none" : "it has ";
    for (std::size_t i = 0; i < names.size(); ++i) append_text(hint, concat(i == 0 ? "" : ", ", names[i]));
    return hint;
}

ValueType value_type_of(const FieldDefinition& field) {
    return {field.type,
            field.element_type,
            field.array_length,
            field.value_bytes,
            {field.enumerators.data(), field.enumerators.size()}};
}

}  // namespace shoal
