#include "resource/blob_check.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

template <class T>
T read(const std::byte* place) {
    T value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

/// Returns the index of the first value that is not valid, or `count`. Values are `stride` bytes apart.
template <class Valid>
std::uint64_t find_invalid(const std::byte* first, std::uint64_t stride, std::uint64_t count, Valid valid) {
    constexpr std::uint64_t kBlock = 256;  // tested without a branch per value
    for (std::uint64_t begin = 0; begin < count; begin += kBlock) {
        const std::uint64_t end = std::min(count, begin + kBlock);
        bool all_valid = true;
        for (std::uint64_t i = begin; i < end; ++i) all_valid &= valid(first + i * stride);
        if (all_valid) continue;
        for (std::uint64_t i = begin;; ++i)
            if (!valid(first + i * stride)) return i;
    }
    return count;
}

bool is_fixed_string(const std::byte* value, std::uint32_t capacity) {
    const auto* text = reinterpret_cast<const char*>(value);
    const std::size_t length = ::strnlen(text, capacity);
    if (length == capacity || !is_utf8({text, length})) return false;
    return std::all_of(text + length, text + capacity, [](char c) { return c == 0; });
}

/// The values of an enum, ready for many questions.
struct EnumValues {
    explicit EnumValues(const Field& field) : num_bytes(field.value_bytes) {
        for (const EnumeratorDefinition& e : field.enumerators)
            values.push_back(static_cast<std::uint64_t>(e.value) & mask());
        std::sort(values.begin(), values.end());
    }
    std::uint64_t mask() const {
        return num_bytes == 8 ? ~std::uint64_t(0) : (std::uint64_t(1) << (8 * num_bytes)) - 1;
    }
    bool contains(const std::byte* place) const {
        const std::uint64_t value = num_bytes == 1   ? read<std::uint8_t>(place)
                                    : num_bytes == 2 ? read<std::uint16_t>(place)
                                    : num_bytes == 4 ? read<std::uint32_t>(place)
                                                     : read<std::uint64_t>(place);
        return std::binary_search(values.begin(), values.end(), value);
    }
    std::uint32_t num_bytes;
    Array<std::uint64_t> values{Owner("blob check")};
};

}  // namespace

Status BlobCheck::check_arrays() {
    const BlobSection* table = section(BlobSectionKind::kArrays);
    const BlobSection* values = section(BlobSectionKind::kArrayData);
    if (table == nullptr && values == nullptr) return {};
    if (table == nullptr || values == nullptr)
        return fail_at(table == nullptr ? values : table,
                       "\"arrays\" and \"array data\" go together, but one is missing");
    const std::uint64_t count = table->num_bytes / sizeof(BlobArrayEntry);
    if (Status status = check_section_bytes(*table, count * sizeof(BlobArrayEntry)); !status) return status;
    std::uint64_t end = values->offset;
    for (std::uint64_t i = 0; i < count; ++i) {
        const BlobArrayEntry& entry = at<BlobArrayEntry>(table->offset)[i];
        const auto type = static_cast<FieldType>(entry.element_type);
        if (entry.element_type > 0xFF || !is_array_element(type) || entry.count == 0)
            return fail_at(&entry.count, "array ", i, " has no elements or an unknown type");
        if (entry.offset % kBlobArrayAlignment != 0 || entry.offset < end)
            return fail_at(&entry.offset, "array ", i, " overlaps what lies before it");
        const std::uint64_t bytes = std::uint64_t(entry.count) * field_type_bytes(type);
        const std::uint64_t section_end = values->offset + values->num_bytes;
        if (entry.offset > section_end || bytes > section_end - entry.offset)
            return fail_at(&entry.count, "array ", i, " reaches past the end of its section");
        end = entry.offset + bytes;
        if (type != FieldType::kBool) continue;
        const auto valid = [](const std::byte* value) { return *value <= std::byte(1); };
        if (const std::uint64_t bad = find_invalid(data + entry.offset, 1, entry.count, valid); bad < entry.count)
            return fail(entry.offset + bad, "a bool that is neither 0 nor 1");
    }
    blob.arrays_ = {at<BlobArrayEntry>(table->offset), static_cast<std::size_t>(count)};
    return {};
}

bool BlobCheck::is_array(const BlobArrayBase& array, FieldType element_type) const {
    if (array.count == 0) return array == BlobArrayBase();
    if (array.resource != blob.id() || array.reserved != 0) return false;
    const auto entry =
        std::lower_bound(blob.arrays_.begin(), blob.arrays_.end(), array.offset,
                         [](const BlobArrayEntry& e, std::uint64_t offset) { return e.offset < offset; });
    return entry != blob.arrays_.end() && entry->offset == array.offset && entry->count == array.count &&
           entry->element_type == static_cast<std::uint32_t>(element_type);
}

Status BlobCheck::check_component_types() {
    const BlobSection& entry = *section(BlobSectionKind::kComponentTypes);
    const std::uint64_t num_types = blob.header().num_component_types;
    if (num_types > entry.num_bytes / sizeof(BlobComponentType))
        return fail_at(&blob.header().num_component_types, num_types, " component types do not fit their section");
    const auto* types = at<BlobComponentType>(entry.offset);
    const auto* column_offset = at<std::uint64_t>(entry.offset + num_types * sizeof(BlobComponentType));
    std::uint64_t num_columns = 0;
    for (std::uint64_t i = 0; i < num_types; ++i) num_columns += types[i].num_columns;
    if (Status status = check_section_bytes(entry, num_types * sizeof(BlobComponentType) + num_columns * 8); !status)
        return status;

    blob.columns_.reserve(static_cast<std::size_t>(num_columns));
    blob.component_types_.reserve(static_cast<std::size_t>(num_types));
    last_type_of_.assign(num_entities(), 0);
    std::uint64_t end = section(BlobSectionKind::kComponentData)->offset;
    for (std::uint64_t i = 0; i < num_types; ++i) {
        if (i > 0 && types[i].spawn_order < types[i - 1].spawn_order)
            return fail_at(&types[i].spawn_order, "the component types are not in spawn order");
        if (Status status = check_component_type(types[i], column_offset, end); !status) return status;
        column_offset += types[i].num_columns;
    }
    return check_identifiers();
}

Status BlobCheck::check_component_type(const BlobComponentType& type, const std::uint64_t* column_offset,
                                       std::uint64_t& end) {
    if (type.schema >= blob.schemas_.size())
        return fail_at(&type.schema, "a component type has schema ", type.schema, ", which does not exist");
    const Schema& schema = blob.schemas_[type.schema];
    if (type.identifier != schema.id().hash)
        return fail_at(&type.identifier, "the identifier is not the hash of the name \"", schema.name(), '"');
    if (type.num_columns != schema.columns().size())
        return fail_at(&type.num_columns, "\"", schema.name(), "\" has ", type.num_columns, " columns, its schema ",
                       schema.columns().size());
    const BlobSection& all = *section(BlobSectionKind::kComponentData);
    if (type.data_offset % kBlobAlignment != 0 || type.data_offset < end)
        return fail_at(&type.data_offset, "the data of \"", schema.name(), "\" overlap what lies before them");
    const std::uint64_t section_end = all.offset + all.num_bytes;
    if (type.data_offset > section_end || type.data_bytes > section_end - type.data_offset)
        return fail_at(&type.data_bytes, "the data of \"", schema.name(), "\" reach past the end of their section");
    end = type.data_offset + type.data_bytes;
    if (std::uint64_t(4) * type.count > type.data_bytes)
        return fail_at(&type.count, type.count, " components \"", schema.name(), "\" do not fit their data");
    if (Status status = check_columns(type, schema, column_offset, end); !status) return status;

    const std::span<const std::byte* const> all_columns(blob.columns_);
    blob.component_types_.push_back({schema.id(),
                                     &schema,
                                     type.spawn_order,
                                     {at<std::uint32_t>(type.data_offset), type.count},
                                     all_columns.last(type.num_columns),
                                     static_cast<std::size_t>(type.data_bytes)});
    if (Status status = check_owners(type, schema); !status) return status;
    return check_component_values(blob.component_types_.back());
}

Status BlobCheck::check_columns(const BlobComponentType& type, const Schema& schema, const std::uint64_t* column_offset,
                                std::uint64_t end) {
    std::uint64_t begin = type.data_offset + std::uint64_t(4) * type.count;
    for (std::uint32_t i = 0; i < type.num_columns; ++i) {
        const std::uint64_t offset = column_offset[i];
        const std::uint64_t bytes = std::uint64_t(schema.columns()[i].element_bytes) * type.count;
        const std::uint64_t alignment =
            bytes >= kBlobLargeColumnBytes ? blob.header().column_alignment : kBlobAlignment;
        if (offset % alignment != 0)
            return fail_at(column_offset + i, "column ", i, " of \"", schema.name(), "\" is not aligned to ",
                           alignment);
        if (offset < begin)
            return fail_at(column_offset + i, "column ", i, " of \"", schema.name(), "\" overlaps what lies before it");
        if (offset > end || bytes > end - offset)
            return fail_at(column_offset + i, "column ", i, " of \"", schema.name(), "\" reaches past its data");
        blob.columns_.push_back(data + offset);
        begin = offset + bytes;
    }
    return {};
}

Status BlobCheck::check_owners(const BlobComponentType& type, const Schema& schema) {
    const auto* owners = at<std::uint32_t>(type.data_offset);
    const auto mark = static_cast<std::uint32_t>(blob.component_types_.size());
    for (std::uint32_t i = 0; i < type.count; ++i) {
        if (owners[i] >= num_entities())
            return fail_at(owners + i, "a component \"", schema.name(), "\" belongs to entity ", owners[i],
                           ", which does not exist");
        if (last_type_of_[owners[i]] == mark && !schema.many())
            return fail_at(owners + i, "entity ", owners[i], " has two components \"", schema.name(),
                           "\", whose schema does not say many");
        last_type_of_[owners[i]] = mark;
    }
    return {};
}

Status BlobCheck::check_identifiers() const {
    Array<std::uint64_t> ids("blob check");
    for (const BlobComponents& components : blob.component_types_) ids.push_back(components.id.hash);
    std::sort(ids.begin(), ids.end());
    const auto twice = std::adjacent_find(ids.begin(), ids.end());
    if (twice == ids.end()) return {};
    return fail(section(BlobSectionKind::kComponentTypes)->offset, "the component type \"",
                blob.find_components(ComponentId(*twice))->schema->name(), "\" occurs twice");
}

Status BlobCheck::check_component_values(const BlobComponents& components) const {
    const Schema& schema = *components.schema;
    for (const Field& field : schema.fields()) {
        if (components.count() == 0) break;
        const std::byte* first =
            schema.whole() ? components.columns[0] + field.struct_offset : components.columns[field.first_column];
        const std::uint64_t stride = schema.whole() ? schema.struct_bytes() : field.size;
        if (Status status = check_values(field, first, stride, components.count()); !status) return status;
    }
    return {};
}

/// Checks the values of a field in `count` rows; types of which all bytes are valid cost nothing.
Status BlobCheck::check_values(const Field& field, const std::byte* first, std::uint64_t stride,
                               std::uint32_t count) const {
    const auto check = [&](std::string_view problem, auto valid) -> Status {
        const bool packed = stride == field.size;
        const std::uint64_t num_rows = packed ? 1 : count;
        const std::uint64_t num_values = packed ? std::uint64_t(count) * field.num_values() : field.num_values();
        for (std::uint64_t row = 0; row < num_rows; ++row) {
            const std::byte* values = first + row * stride;
            const std::uint64_t bad = find_invalid(values, field.value_bytes, num_values, valid);
            if (bad < num_values)
                return fail_at(values + bad * field.value_bytes, "field \"", field.name, "\" holds ", problem);
        }
        return {};
    };
    switch (field.type) {
        case FieldType::kBool:
            return check("a bool that is neither 0 nor 1", [](const std::byte* v) { return *v <= std::byte(1); });
        case FieldType::kEntity:
            return check("a reference to an entity that does not exist", [n = num_entities()](const std::byte* v) {
                const auto index = read<EntityBits>(v);
                return (index < n) | (index == static_cast<EntityBits>(~EntityBits(0)));
            });
        case FieldType::kEnum: {
            const EnumValues values(field);
            return check("a number that its enum does not name",
                         [&](const std::byte* v) { return values.contains(v); });
        }
        case FieldType::kFixedString:
            return check("a text that is not UTF-8 or has no end",
                         [&](const std::byte* v) { return is_fixed_string(v, field.value_bytes); });
        case FieldType::kBlobArray:
            return check("a reference to an array that does not exist",
                         [&](const std::byte* v) { return is_array(read<BlobArrayBase>(v), field.element_type); });
        default:
            return {};
    }
}

}  // namespace shoal
