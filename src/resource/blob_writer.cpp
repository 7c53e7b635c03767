#include "shoal/resource/blob_writer.h"

#include "resource/blob_check.h"
#include "resource/blob_content.h"

#include <bit>
#include <cstring>

namespace shoal {

std::uint32_t StringPool::intern(std::string_view text) {
    if (const std::uint32_t* const known = index_of_.find(text)) return *known;
    const std::uint32_t index = size();
    return index_of_.add(texts_.emplace_back(text), index);
}

std::vector<std::byte> blob_default_image(const Schema& schema) {
    std::vector<std::byte> image(schema.default_image().begin(), schema.default_image().end());
    for (const Field& field : schema.fields())
        if (field.type == FieldType::kEntity) std::memset(image.data() + field.struct_offset, 0xFF, field.size);
    return image;
}

BlobWriter::BlobWriter() : content_(new BlobContent) {}
BlobWriter::~BlobWriter() { delete content_; }

void BlobWriter::set_name(std::string_view name) { content_->name = content_->strings.intern(name); }

std::uint32_t BlobWriter::num_entities() const { return static_cast<std::uint32_t>(content_->parents.size()); }

std::uint32_t BlobWriter::add_entity(const BlobEntity& entity) {
    const std::uint32_t index = num_entities();
    SHOAL_ASSERT(entity.parent == kNoBlobEntity || entity.parent < index, "a parent is added before its children");
    content_->parents.push_back(entity.parent);
    content_->guids.push_back(entity.guid);
    content_->names.push_back(content_->strings.intern(entity.name));
    content_->sources.push_back({content_->strings.intern(entity.source_file), entity.source_line});
    content_->has_guids |= entity.guid != 0;
    content_->has_names |= !entity.name.empty();
    content_->has_sources |= !entity.source_file.empty();
    return index;
}

Result<std::uint32_t> BlobWriter::add_component_type(const Schema& schema, std::int32_t spawn_order) {
    for (const Field& field : schema.fields())
        if (field.type == FieldType::kOpaque)
            return Status::error(concat("the field \"", schema.name(), '.', field.name,
                                        "\" is an opaque C++ object, which a blob cannot hold"));
    for (const BlobContent::ComponentType& type : content_->types)
        if (type.schema.name() == schema.name())
            return Status::error(concat("the blob has the component type \"", schema.name(), "\" already"));
    BlobContent::ComponentType& type =
        content_->types.emplace_back(BlobContent::ComponentType{schema, spawn_order, {}, {}, {}});
    StringPool& strings = content_->strings;
    type.strings.push_back(strings.intern(schema.name()));
    for (const Field& field : schema.fields()) {
        type.strings.push_back(strings.intern(field.name));
        type.strings.push_back(strings.intern(field.unit));
        for (const EnumeratorDefinition& e : field.enumerators) type.strings.push_back(strings.intern(e.name));
    }
    return static_cast<std::uint32_t>(content_->types.size() - 1);
}

void BlobWriter::add_component(std::uint32_t type_index, std::uint32_t entity_index, std::span<const std::byte> image) {
    SHOAL_ASSERT(type_index < content_->types.size(), "add the component type before its components");
    SHOAL_ASSERT(entity_index < num_entities(), "add the entity before its components");
    BlobContent::ComponentType& type = content_->types[type_index];
    SHOAL_ASSERT(image.size() == type.schema.struct_bytes(), "the image is of another struct");
    type.owners.push_back(entity_index);
    type.images.insert(type.images.end(), image.begin(), image.end());
}

void BlobWriter::add_components(std::uint32_t type_index, std::span<const std::uint32_t> entity_index,
                                std::span<const std::byte* const> columns) {
    SHOAL_ASSERT(type_index < content_->types.size(), "add the component type before its components");
    BlobContent::ComponentType& type = content_->types[type_index];
    SHOAL_ASSERT(columns.size() == type.schema.columns().size(), "one pointer per column of the schema is needed");
    for (const std::uint32_t entity : entity_index)
        SHOAL_ASSERT(entity < num_entities(), "add the entity before its components");
    type.owners.insert(type.owners.end(), entity_index.begin(), entity_index.end());
    const std::size_t struct_bytes = type.schema.struct_bytes(), first = type.images.size();
    type.images.resize(first + entity_index.size() * struct_bytes);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const ColumnDefinition& column = type.schema.columns()[c];
        std::byte* image = type.images.data() + first + column.struct_offset;
        for (std::size_t i = 0; i < entity_index.size(); ++i, image += struct_bytes)
            std::memcpy(image, columns[c] + i * column.element_bytes, column.element_bytes);
    }
}

BlobArrayBase BlobWriter::add_array(FieldType element_type, std::span<const std::byte> values) {
    SHOAL_ASSERT(is_array_element(element_type), "a blob array cannot have elements of this type");
    const std::size_t element_bytes = field_type_bytes(element_type);
    SHOAL_ASSERT(values.size() % element_bytes == 0, "the bytes are no whole number of elements");
    SHOAL_ASSERT(values.size() / element_bytes <= 0xFFFFFFFF, "an array has fewer than 2^32 elements");
    if (values.empty()) return {};
    std::vector<std::byte>& data = content_->array_data;
    const std::uint64_t hash = hash_bytes(values.data(), values.size(), static_cast<std::uint64_t>(element_type));
    const auto is_same = [&](std::uint32_t array) {
        const BlobArrayEntry& kept = content_->arrays[array];
        return kept.element_type == static_cast<std::uint32_t>(element_type) &&
               kept.count * element_bytes == values.size() &&
               std::memcmp(data.data() + kept.offset, values.data(), values.size()) == 0;
    };
    if (const std::uint32_t* const same = content_->array_of.find_if(hash, is_same)) {
        const BlobArrayEntry& kept = content_->arrays[*same];
        return {ResourceId(), kept.offset, kept.count, 0};
    }
    data.resize(round_up(data.size(), kBlobArrayAlignment));
    const BlobArrayEntry entry{data.size(), static_cast<std::uint32_t>(values.size() / element_bytes),
                               static_cast<std::uint32_t>(element_type)};
    data.insert(data.end(), values.begin(), values.end());
    content_->array_of.add(hash, static_cast<std::uint32_t>(content_->arrays.size()));
    content_->arrays.push_back(entry);
    return {ResourceId(), entry.offset, entry.count, 0};
}

Result<StringId> BlobWriter::add_text(std::string_view text) {
    if (text.empty()) return StringId();
    const StringId id(text);
    const std::uint32_t index = content_->strings.intern(text);
    const auto [entry, is_new] = content_->text_of.insert(id, index);
    if (is_new) content_->texts.push_back({id.hash, index, 0});
    if (*entry == index) return id;
    return Status::error(concat("the texts \"", content_->strings.text(*entry), "\" and \"", text,
                                "\" have the same hash; rename one of them"));
}

void BlobWriter::add_kept_text(std::uint32_t entity_index, std::string_view component, std::string_view text) {
    SHOAL_ASSERT(entity_index < num_entities() || entity_index == kNoBlobEntity, "add the entity before its texts");
    content_->kept_texts.push_back(
        {entity_index, content_->strings.intern(component), content_->strings.intern(text), 0});
}

void BlobWriter::add_dependency(DependencyKind kind, std::string_view path) {
    const std::uint32_t index = content_->strings.intern(path);
    const std::uint64_t key = static_cast<std::uint64_t>(kind) << 32 | index;
    if (content_->has_dependency.insert(key, true).is_new) content_->dependencies.push_back({kind, index});
}

Result<std::vector<std::byte>> BlobWriter::write(const BlobWriteOptions& options) const {
    if (!content_->arrays.empty() && content_->name == 0)
        return Status::error("a blob with arrays needs a name, by which its fields refer to them");
    std::vector<std::byte> bytes = content_->lay_out(options.offset_tables);
    BlobCheck check(bytes);
    if (Status status = check.run(); !status)
        return Status::error(
            concat("cannot write the blob \"", content_->strings.text(content_->name), "\": ", status.message()));
    if (options.big_endian != (std::endian::native == std::endian::big)) return swap_endianness(bytes);
    return bytes;
}

}  // namespace shoal
