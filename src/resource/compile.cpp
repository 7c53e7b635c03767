#include "shoal/resource/detail/compile.h"

#include "shoal/base/text.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/detail/registry.h"

#include <cstring>

namespace shoal {

void CompileOutput::store_bytes(std::span<const std::byte> component) {
    SHOAL_ASSERT(component.size() == image_.size(), "the image is of another struct; register the schema of this one");
    std::memcpy(image_.data(), component.data(), component.size());
    for (const Field& field : schema_.fields())
        if (field.type == FieldType::kEntity) std::memset(image_.data() + field.struct_offset, 0xFF, field.size);
}

void CompileOutput::store_entity(std::uint32_t offset, std::uint32_t entity_index) {
    SHOAL_ASSERT(offset <= image_.size() && sizeof(Entity) <= image_.size() - offset,
                 "the field lies outside the image");
    const EntityBits bits = entity_index == kNoBlobEntity ? static_cast<EntityBits>(~EntityBits(0)) : entity_index;
    std::memcpy(image_.data() + offset, &bits, sizeof bits);
}

std::span<const std::byte> CompileOutput::array(const BlobArrayBase& array, FieldType element_type) const {
    return blob_.array(array, element_type);
}

std::string_view CompileOutput::text(StringId id) const { return blob_.text(id); }

Result<StringId> CompileOutput::intern(std::string_view text) { return blob_.add_text(text); }

BlobArrayBase CompileOutput::add_array(FieldType element_type, std::span<const std::byte> values) {
    return blob_.add_array(element_type, values);
}

void CompileOutput::set_bytes(std::span<const std::byte> bytes) {
    SHOAL_ASSERT(is_bytes_component(schema_),
                 "the component type has fields; set their values, or register the function with "
                 "set_bytes_compile_function()");
    const BlobArrayBase array = blob_.add_array(FieldType::kUint8, bytes);
    std::memcpy(image_.data(), static_cast<const void*>(&array), sizeof array);
}

void CompileOutput::add_dependency(DependencyKind kind, std::string_view path) { blob_.add_dependency(kind, path); }

}  // namespace shoal
