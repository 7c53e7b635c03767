#include "shoal/resource/blob.h"

#include "resource/blob_check.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

bool is_aligned(std::span<const std::byte> bytes) {
    return reinterpret_cast<std::uintptr_t>(bytes.data()) % kBlobAlignment == 0;
}

}  // namespace

Blob::Blob(Blob&& other) noexcept : Blob() { *this = std::move(other); }

Blob& Blob::operator=(Blob&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
    migrated_.swap(other.migrated_);
    schemas_.swap(other.schemas_);
    component_types_.swap(other.component_types_);
    columns_.swap(other.columns_);
    std::swap(strings_, other.strings_);
    std::swap(parents_, other.parents_);
    std::swap(arrays_, other.arrays_);
    std::swap(guids_, other.guids_);
    std::swap(entities_by_guid_, other.entities_by_guid_);
    std::swap(names_, other.names_);
    std::swap(entities_by_name_, other.entities_by_name_);
    std::swap(sources_, other.sources_);
    std::swap(texts_, other.texts_);
    std::swap(kept_texts_, other.kept_texts_);
    std::swap(dependencies_, other.dependencies_);
    std::swap(origin_, other.origin_);
    std::swap(dependency_hashes_, other.dependency_hashes_);
    std::swap(origin_types_, other.origin_types_);
    std::swap(first_row_, other.first_row_);
    std::swap(rows_, other.rows_);
    return *this;
}

Blob::~Blob() {
    if (memory_.data != nullptr) release_pages(memory_);
}

Result<Blob> Blob::view(std::span<const std::byte> bytes) {
    if (!is_aligned(bytes)) return load(bytes);
    return check_blob(bytes);
}

Result<Blob> Blob::load(std::span<const std::byte> bytes) {
    Result<PageRange> memory = reserve_pages(round_up(std::max<std::size_t>(bytes.size(), 1), kPageBytes));
    if (!memory) return memory.status();
    if (!bytes.empty()) std::memcpy(memory->data, bytes.data(), bytes.size());
    return own(*memory, bytes.size());
}

Result<Blob> Blob::own(PageRange memory, std::size_t num_bytes) {
    Result<Blob> blob = view({memory.data, num_bytes});
    if (!blob)
        release_pages(memory);
    else
        blob->memory_ = memory;
    return blob;
}

Result<Blob> Blob::read(const std::string& path) {
    std::size_t num_bytes = 0;
    Result<PageRange> memory = read_file_pages(path, &num_bytes);
    if (!memory) return memory.status();
    Result<Blob> blob = own(*memory, num_bytes);
    if (!blob) return Status::error(concat("cannot load \"", path, "\": ", blob.message()));
    return blob;
}

std::string_view Blob::string(std::uint32_t index) const {
    const std::byte* section = bytes_.data() + strings_->offset;
    SHOAL_ASSERT(index < reinterpret_cast<const BlobStringTable*>(section)->num_strings, "the blob has no such string");
    const auto* offsets = reinterpret_cast<const std::uint64_t*>(section + sizeof(BlobStringTable));
    return {reinterpret_cast<const char*>(section + offsets[index]),
            static_cast<std::size_t>(offsets[index + 1] - offsets[index] - 1)};
}

const BlobComponents* Blob::find_components(ComponentId id) const {
    for (const BlobComponents& components : component_types_)
        if (components.id == id) return &components;
    return nullptr;
}

std::string_view Blob::entity_name(std::uint32_t entity) const {
    SHOAL_ASSERT(entity < num_entities(), "the blob has no such entity");
    return names_.empty() ? std::string_view() : string(names_[entity]);
}

std::uint64_t Blob::guid(std::uint32_t entity) const {
    SHOAL_ASSERT(entity < num_entities(), "the blob has no such entity");
    return guids_.empty() ? 0 : guids_[entity];
}

std::string_view Blob::source_file(std::uint32_t entity) const {
    SHOAL_ASSERT(entity < num_entities(), "the blob has no such entity");
    return sources_.empty() ? std::string_view() : string(sources_[entity].file);
}

std::uint32_t Blob::source_line(std::uint32_t entity) const {
    SHOAL_ASSERT(entity < num_entities(), "the blob has no such entity");
    return sources_.empty() ? 0 : sources_[entity].line;
}

std::uint32_t Blob::find_name(std::string_view name) const {
    const auto first =
        std::lower_bound(entities_by_name_.begin(), entities_by_name_.end(), name,
                         [&](std::uint32_t entity, std::string_view n) { return entity_name(entity) < n; });
    const bool found = !name.empty() && first != entities_by_name_.end() && entity_name(*first) == name;
    return found ? *first : kNoBlobEntity;
}

std::uint32_t Blob::find_guid(std::uint64_t guid) const {
    const auto first = std::lower_bound(entities_by_guid_.begin(), entities_by_guid_.end(), guid,
                                        [&](std::uint32_t entity, std::uint64_t g) { return guids_[entity] < g; });
    const bool found = guid != 0 && first != entities_by_guid_.end() && guids_[*first] == guid;
    return found ? *first : kNoBlobEntity;
}

std::string_view Blob::text(StringId id) const {
    const auto entry = std::lower_bound(texts_.begin(), texts_.end(), id.hash,
                                        [](const BlobText& text, std::uint64_t hash) { return text.hash < hash; });
    return entry == texts_.end() || entry->hash != id.hash ? std::string_view() : string(entry->text);
}

KeptText Blob::kept_text(std::uint32_t index) const {
    SHOAL_ASSERT(index < kept_texts_.size(), "the blob keeps fewer texts");
    const BlobKeptText& kept = kept_texts_[index];
    return {kept.entity, string(kept.component), string(kept.text)};
}

std::span<const BlobRow> Blob::rows(std::uint32_t entity) const {
    SHOAL_ASSERT(has_offset_tables(), "the blob was compiled without offset tables");
    SHOAL_ASSERT(entity < num_entities(), "the blob has no such entity");
    return rows_.subspan(first_row_[entity], first_row_[entity + 1] - first_row_[entity]);
}

std::span<const std::byte> Blob::array(const BlobArrayBase& array, FieldType element_type) const {
    if (array.count == 0) return {};
    const std::uint64_t num_bytes = std::uint64_t(array.count) * field_type_bytes(element_type);
    SHOAL_ASSERT(array.resource == id() && array.offset <= bytes_.size() && num_bytes <= bytes_.size() - array.offset,
                 "the array lies in another blob");
    return bytes_.subspan(static_cast<std::size_t>(array.offset), static_cast<std::size_t>(num_bytes));
}

}  // namespace shoal
