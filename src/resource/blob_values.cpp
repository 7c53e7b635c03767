#include "shoal/resource/detail/blob_values.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/text.h"

#include <algorithm>
#include <cstring>

namespace shoal {

Status BlobValues::translate(const Schema& schema, const Field& field, std::byte* first, std::size_t stride,
                             std::size_t num_rows) {
    for (std::size_t i = 0; i < num_rows; ++i)
        for (std::uint32_t value = 0; value < field.num_values(); ++value)
            if (Status status = translate_value(schema, field, first + i * stride + value * field.value_bytes); !status)
                return status;
    return {};
}

Status BlobValues::translate_value(const Schema& schema, const Field& field, std::byte* value) {
    if (field.type == FieldType::kBlobArray) return copy_array(schema, field, value);
    if (field.type == FieldType::kEntity) {
        const auto entity = read_as<Entity>(value);
        const std::uint32_t number = entity ? sources_.blob_entity_of(sources_.context, entity) : kNoBlobEntity;
        num_lost_references_ += entity && number == kNoBlobEntity;
        const EntityBits stored = number == kNoBlobEntity ? ~EntityBits(0) : EntityBits(number);
        std::memcpy(value, &stored, sizeof stored);
        return {};
    }
    const auto id = read_as<StringId>(value);
    const std::string_view text = sources_.texts->text(id);
    return text.empty() ? Status() : writer_.add_text(text).status();
}

Status BlobValues::copy_array(const Schema& schema, const Field& field, std::byte* value) {
    auto array = read_as<BlobArrayBase>(value);
    if (array.count == 0) return {};
    std::span<const std::byte> bytes;
    if (sources_.library != nullptr) bytes = sources_.library->view_bytes(array, field.element_type);
    if (bytes.empty())
        return Status::error(concat("the read-only arrays of \"", schema.name(), '.', field.name,
                                    "\" cannot be saved: no library is given that has their resource"));
    array = writer_.add_array(field.element_type, bytes);
    std::memcpy(value, static_cast<const void*>(&array), sizeof array);
    return {};
}

std::span<const std::byte> section_bytes(const Blob& blob, BlobSectionKind kind) {
    const auto* const sections = reinterpret_cast<const BlobSection*>(blob.bytes().data() + blob.header().header_bytes);
    for (const BlobSection& section : std::span(sections, blob.header().num_sections))
        if (section.kind == static_cast<std::uint32_t>(kind))
            return blob.bytes().subspan(static_cast<std::size_t>(section.offset),
                                        static_cast<std::size_t>(section.num_bytes));
    return {};
}

std::span<const BlobArrayEntry> arrays_of(const Blob& blob) {
    const std::span<const std::byte> bytes = section_bytes(blob, BlobSectionKind::kArrays);
    return {reinterpret_cast<const BlobArrayEntry*>(bytes.data()), bytes.size() / sizeof(BlobArrayEntry)};
}

const BlobArrayEntry* find_array(std::span<const BlobArrayEntry> arrays, const BlobArrayBase& array,
                                 FieldType element_type) {
    const auto behind =
        std::upper_bound(arrays.begin(), arrays.end(), array.offset,
                         [](std::uint64_t offset, const BlobArrayEntry& entry) { return offset < entry.offset; });
    if (behind == arrays.begin()) return nullptr;
    const BlobArrayEntry& entry = behind[-1];
    if (entry.element_type != static_cast<std::uint32_t>(element_type)) return nullptr;
    const std::uint64_t begin = array.offset - entry.offset, element_bytes = field_type_bytes(element_type);
    const bool is_inside = begin % element_bytes == 0 && begin / element_bytes <= entry.count &&
                           array.count <= entry.count - begin / element_bytes;
    return is_inside ? &entry : nullptr;
}

bool BlobValues::needs_translation(const Field& field) const {
    return field.type == FieldType::kEntity || field.type == FieldType::kBlobArray ||
           (field.type == FieldType::kStringId && sources_.texts != nullptr);
}

}  // namespace shoal
