#include "resource/blob_check.h"

#include <algorithm>
#include <bit>

namespace shoal {
namespace {

constexpr std::uint32_t kSchemaFlags = kBlobSchemaWhole | kBlobSchemaToggled | kBlobSchemaMany;
constexpr std::uint8_t kFieldFlags = kBlobFieldSplit | kBlobFieldHasRange;
constexpr std::uint32_t kMaxStructBytes = 1u << 20;

}  // namespace

/// What is left of the section of the schemas.
struct BlobCheck::SchemaParts {
    const std::byte* next;
    const std::byte* end;
    const BlobField* field = nullptr;
    const BlobField* fields_end = nullptr;
    const BlobEnumerator* enumerator = nullptr;
    const BlobEnumerator* enumerators_end = nullptr;

    /// Returns `count` of T and steps over them; nullptr when so many are not left.
    template <class T>
    const T* take(std::uint64_t count) {
        if (count > static_cast<std::uint64_t>(end - next) / sizeof(T)) return nullptr;
        const auto* result = reinterpret_cast<const T*>(next);
        next += count * sizeof(T);
        return result;
    }
};

/// Names are copied out of the blob, so their length is limited: many fields may share one text.
Status BlobCheck::check_name_string(const std::uint32_t& index) const {
    if (Status status = check_string(index, "a name in a schema"); !status) return status;
    if (blob.string(index).size() <= kMaxBlobNameBytes) return {};
    return fail_at(&index, "a name in a schema has more than ", kMaxBlobNameBytes, " bytes");
}

Status BlobCheck::read_field(const BlobField& field, const BlobEnumerator*& enumerator, FieldDefinition& out) const {
    if (Status status = check_name_string(field.name); !status) return status;
    if (Status status = check_name_string(field.unit); !status) return status;
    if (field.num_enumerators > kMaxBlobEnumerators)
        return fail_at(&field.num_enumerators, "an enum of more than ", kMaxBlobEnumerators, " names");
    if (field.struct_offset > kMaxStructBytes) return fail_at(&field.struct_offset, "a field lies outside its struct");
    if ((field.flags & ~kFieldFlags) != 0 || field.type >= static_cast<std::uint8_t>(FieldType::kOpaque))
        return fail_at(&field.type, "field type ", field.type, " with flags ", field.flags, " is not known");
    out.name = blob.string(field.name);
    out.type = static_cast<FieldType>(field.type);
    out.element_type = static_cast<FieldType>(field.element_type);
    out.array_length = field.array_length;
    out.value_bytes = field.value_bytes;
    out.struct_offset = field.struct_offset;
    out.split = (field.flags & kBlobFieldSplit) != 0;
    out.has_range = (field.flags & kBlobFieldHasRange) != 0;
    out.minimum = field.minimum;
    out.maximum = field.maximum;
    out.unit = blob.string(field.unit);
    for (std::uint32_t i = 0; i < field.num_enumerators; ++i, ++enumerator) {
        if (Status status = check_name_string(enumerator->name); !status) return status;
        out.enumerators.push_back({std::string(blob.string(enumerator->name)), enumerator->value});
    }
    return {};
}

/// Defaults are those of a program: they refer to no entity and no array. Zero is "none given" for every type.
Status BlobCheck::check_default(const Schema& schema, const std::byte* image) const {
    for (const Field& field : schema.fields()) {
        const std::byte* value = image + field.struct_offset;
        if (std::all_of(value, value + field.size, [](std::byte b) { return b == std::byte(0); })) continue;
        if (field.type == FieldType::kEntity || field.type == FieldType::kBlobArray)
            return fail_at(value, "the default of field \"", field.name, "\" refers to something");
        if (Status status = check_values(field, value, field.size, 1); !status) return status;
    }
    return {};
}

Status BlobCheck::read_fields(const BlobSchema& record, SchemaParts& parts, ComponentDefinition& out) const {
    if (record.num_fields > kMaxFields ||
        record.num_fields > static_cast<std::uint64_t>(parts.fields_end - parts.field))
        return fail_at(&record.num_fields, "a schema has more fields than there are");
    for (std::uint32_t i = 0; i < record.num_fields; ++i, ++parts.field) {
        if (parts.field->num_enumerators > static_cast<std::uint64_t>(parts.enumerators_end - parts.enumerator))
            return fail_at(&parts.field->num_enumerators, "an enum has more names than there are");
        if (Status status = read_field(*parts.field, parts.enumerator, out.fields.emplace_back()); !status)
            return status;
    }
    return {};
}

/// Made twice: only a schema without defaults tells where in the image they are.
Status BlobCheck::check_schema(const BlobSchema& record, SchemaParts& parts) {
    if (Status status = check_name_string(record.name); !status) return status;
    if (!std::has_single_bit(record.struct_alignment) || record.struct_alignment > kBlobAlignment ||
        record.struct_bytes > kMaxStructBytes || (record.flags & ~kSchemaFlags) != 0)
        return fail_at(&record, "a schema has an impossible size, alignment or flag");
    const auto* image = parts.take<std::byte>(round_up(record.struct_bytes, 8));
    if (image == nullptr) return fail_at(&record.struct_bytes, "the defaults of a schema do not fit the section");

    ComponentDefinition definition;
    definition.name = blob.string(record.name);
    definition.version = record.version;
    definition.whole = (record.flags & kBlobSchemaWhole) != 0;
    definition.toggled = (record.flags & kBlobSchemaToggled) != 0;
    definition.many = (record.flags & kBlobSchemaMany) != 0;
    definition.struct_bytes = record.struct_bytes;
    definition.struct_alignment = record.struct_alignment;
    if (Status status = read_fields(record, parts, definition); !status) return status;
    Result<Schema> schema = Schema::make(definition);
    if (!schema) return fail_at(&record, schema.message());
    if (schema->struct_bytes() != record.struct_bytes || schema->layout_hash() != record.layout_hash)
        return fail_at(&record.layout_hash, "the layout hash of ", schema->to_text(), " is not that of its fields");
    for (std::size_t i = 0; i < definition.fields.size(); ++i) {
        const std::byte* value = image + schema->fields()[i].struct_offset;
        definition.fields[i].default_value.assign(value, value + schema->fields()[i].size);
    }
    schema = Schema::make(std::move(definition));
    if (!schema) return fail_at(image, schema.message());
    if (Status status = check_default(*schema, image); !status) return status;
    blob.schemas_.push_back(std::move(*schema));
    return {};
}

Status BlobCheck::check_schemas() {
    const BlobSection& entry = *section(BlobSectionKind::kSchemas);
    SchemaParts parts{data + entry.offset, data + entry.offset + entry.num_bytes};
    const auto* table = parts.take<BlobSchemaTable>(1);
    const auto* records = table == nullptr ? nullptr : parts.take<BlobSchema>(table->num_schemas);
    parts.field = records == nullptr ? nullptr : parts.take<BlobField>(table->num_fields);
    parts.enumerator = parts.field == nullptr ? nullptr : parts.take<BlobEnumerator>(table->num_enumerators);
    if (parts.enumerator == nullptr) return fail(entry.offset, "the tables of the schemas do not fit their section");
    parts.fields_end = parts.field + table->num_fields;
    parts.enumerators_end = parts.enumerator + table->num_enumerators;
    for (std::uint32_t i = 0; i < table->num_schemas; ++i)
        if (Status status = check_schema(records[i], parts); !status) return status;
    if (parts.field != parts.fields_end || parts.enumerator != parts.enumerators_end || parts.next != parts.end)
        return fail(entry.offset, "the section of the schemas holds more than the schemas");
    return {};
}

}  // namespace shoal
