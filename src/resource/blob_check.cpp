#include "resource/blob_check.h"

#include <bit>
#include <cstring>

namespace shoal {
namespace {

constexpr std::string_view kSectionNames[kNumBlobSectionKinds] = {
    "unknown", "strings", "schemas", "parents", "component types", "component data", "arrays",       "array data",
    "guids",   "names",   "sources", "texts",   "kept texts",      "dependencies",   "offset tables"};

constexpr std::uint32_t kSectionVersion = 1;
constexpr std::uint32_t kMaxColumnAlignment = 1u << 20;

bool is_known(std::uint32_t kind) { return kind > 0 && kind < kNumBlobSectionKinds; }

}  // namespace

std::string_view section_name(std::uint32_t kind) { return kSectionNames[is_known(kind) ? kind : 0]; }

Status BlobCheck::run() {
    using Step = Status (BlobCheck::*)();
    if (Status status = check_identity(); !status) return status;
    if (Status status = check_header(); !status) return status;
    constexpr Step kSteps[] = {&BlobCheck::check_directory, &BlobCheck::check_strings,
                               &BlobCheck::check_parents,   &BlobCheck::check_schemas,
                               &BlobCheck::check_arrays,    &BlobCheck::check_component_types,
                               &BlobCheck::check_notes};
    for (const Step step : kSteps)
        if (Status status = (this->*step)(); !status) return status;
    return {};
}

/// Whether these bytes are a whole blob of this format, for this machine.
Status BlobCheck::check_identity() const {
    if (num_bytes < sizeof kBlobMagic || std::memcmp(data, kBlobMagic, sizeof kBlobMagic) != 0)
        return fail(0, "it is not a blob: it does not start with SHOALBLB");
    if (num_bytes < sizeof(BlobHeader))
        return Status::error(concat("it was cut: it has ", num_bytes, " bytes, fewer than the ", sizeof(BlobHeader),
                                    " of a blob's header"));
    const BlobHeader& header = blob.header();
    if (header.endianness == kBlobSwappedEndianness)
        return fail(8, "it is for machines of the other byte order; compile it with --endian ",
                    std::endian::native == std::endian::little ? "little" : "big");
    if (header.endianness != kBlobEndianness) return fail(8, "the mark of the byte order is damaged");
    if (header.format_version != kBlobVersion)
        return fail(12, "it has format version ", header.format_version, ", this program reads version ", kBlobVersion,
                    "; compile it again");
    if (header.total_bytes != num_bytes)
        return fail(24, "it should have ", header.total_bytes, " bytes, but has ", num_bytes, "; it was cut or joined");
    const std::size_t start = offsetof(BlobHeader, total_bytes);
    if (header.checksum != hash_bytes(data + start, num_bytes - start))
        return fail(16, "the checksum does not fit the bytes; it was damaged after it was written");
    return {};
}

Status BlobCheck::check_header() const {
    const BlobHeader& header = blob.header();
    if (header.entity_bytes != sizeof(Entity))
        return fail_at(&header.entity_bytes, "it was compiled for ids of ", 8 * header.entity_bytes,
                       " bits, this program has ids of ", 8 * sizeof(Entity), "; compile it again with this build");
    if (header.header_bytes < sizeof(BlobHeader) || header.header_bytes % 8 != 0 || header.header_bytes > num_bytes)
        return fail_at(&header.header_bytes, "a header of ", header.header_bytes, " bytes is not possible");
    if (!std::has_single_bit(header.column_alignment) || header.column_alignment < kBlobAlignment ||
        header.column_alignment > kMaxColumnAlignment)
        return fail_at(&header.column_alignment, "a column alignment of ", header.column_alignment, " is not possible");
    if (header.num_sections > (num_bytes - header.header_bytes) / sizeof(BlobSection))
        return fail_at(&header.num_sections, "a directory of ", header.num_sections, " sections does not fit the blob");
    return {};
}

Status BlobCheck::check_directory() {
    const BlobHeader& header = blob.header();
    std::uint64_t end = header.header_bytes + header.num_sections * sizeof(BlobSection);
    for (std::uint32_t i = 0; i < header.num_sections; ++i) {
        const BlobSection& entry = at<BlobSection>(header.header_bytes)[i];
        if (Status status = add_section(entry, end); !status) return status;
        end = entry.offset + entry.num_bytes;
    }
    for (const BlobSectionKind kind : {BlobSectionKind::kStrings, BlobSectionKind::kSchemas, BlobSectionKind::kParents,
                                       BlobSectionKind::kComponentTypes, BlobSectionKind::kComponentData})
        if (section(kind) == nullptr)
            return fail(header.header_bytes, "the directory lacks the section \"",
                        section_name(static_cast<std::uint32_t>(kind)), '"');
    return {};
}

Status BlobCheck::add_section(const BlobSection& entry, std::uint64_t end_of_last) {
    const std::string_view name = section_name(entry.kind);
    if (entry.offset % kBlobAlignment != 0)
        return fail_at(&entry.offset, "the section \"", name, "\" does not start on a multiple of ", kBlobAlignment);
    if (entry.offset < end_of_last)
        return fail_at(&entry.offset, "the section \"", name, "\" overlaps what lies before it");
    if (entry.offset > num_bytes || entry.num_bytes > num_bytes - entry.offset)
        return fail_at(&entry.num_bytes, "the section \"", name, "\" reaches past the end of the blob");
    if (!is_known(entry.kind) || entry.version != kSectionVersion) {
        if ((entry.flags & kBlobSectionRequired) == 0) return {};
        return fail_at(&entry, "it needs a reader that knows section kind ", entry.kind, " version ", entry.version,
                       "; use a newer program, or compile it again with this one");
    }
    if (sections[entry.kind] != nullptr) return fail_at(&entry, "a second section \"", name, '"');
    sections[entry.kind] = &entry;
    return {};
}

Status BlobCheck::check_section_bytes(const BlobSection& entry, std::uint64_t expected) const {
    if (entry.num_bytes == expected) return {};
    return fail_at(&entry.num_bytes, "the section \"", section_name(entry.kind), "\" should have ", expected,
                   " bytes, but has ", entry.num_bytes);
}

Status BlobCheck::check_string(const std::uint32_t& index, std::string_view what) const {
    if (index < at<BlobStringTable>(blob.strings_->offset)->num_strings) return {};
    return fail_at(&index, what, " is string ", index, ", which does not exist");
}

Status BlobCheck::check_strings() {
    const BlobSection& entry = *section(BlobSectionKind::kStrings);
    const std::uint64_t room =
        entry.num_bytes < sizeof(BlobStringTable) ? 0 : entry.num_bytes - sizeof(BlobStringTable);
    const std::uint64_t num_strings = room < 8 ? 0 : at<BlobStringTable>(entry.offset)->num_strings;
    if (num_strings == 0 || num_strings + 1 > room / 8)
        return fail(entry.offset, "the table of strings does not fit its section");
    const auto* offsets = at<std::uint64_t>(entry.offset + sizeof(BlobStringTable));
    if (offsets[0] != sizeof(BlobStringTable) + 8 * (num_strings + 1))
        return fail_at(offsets, "the first string does not follow the table");
    for (std::uint64_t i = 0; i < num_strings; ++i) {
        const std::uint64_t begin = offsets[i], end = offsets[i + 1];
        if (end <= begin || end > entry.num_bytes || data[entry.offset + end - 1] != std::byte(0))
            return fail_at(offsets + i, "string ", i, " has no end");
        if (!is_utf8({at<char>(entry.offset + begin), static_cast<std::size_t>(end - begin - 1)}))
            return fail(entry.offset + begin, "string ", i, " is not UTF-8");
    }
    if (offsets[num_strings] != entry.num_bytes)
        return fail_at(offsets + num_strings, "the strings do not fill their section");
    if (offsets[1] != offsets[0] + 1) return fail_at(offsets, "string 0 is not empty");
    blob.strings_ = &entry;
    return check_name();
}

Status BlobCheck::check_name() const {
    const BlobHeader& header = blob.header();
    if (Status status = check_string(header.name, "the name of the resource"); !status) return status;
    if (ResourceId(blob.name()).hash != header.resource_id)
        return fail_at(&header.resource_id, "the resource id is not the hash of the name \"", blob.name(), '"');
    return {};
}

Status BlobCheck::check_parents() {
    const BlobSection& entry = *section(BlobSectionKind::kParents);
    if (Status status = check_section_bytes(entry, std::uint64_t(4) * num_entities()); !status) return status;
    const auto* parents = at<std::uint32_t>(entry.offset);
    std::uint32_t num_roots = 0;
    for (std::uint32_t i = 0; i < num_entities(); ++i) {
        if (parents[i] == kNoBlobEntity)
            ++num_roots;
        else if (parents[i] >= i)
            return fail_at(parents + i, "entity ", i, " has the parent ", parents[i],
                           parents[i] < num_entities() ? ", which does not come before it" : ", which does not exist");
    }
    if (num_roots != blob.header().num_roots)
        return fail_at(&blob.header().num_roots, "the header counts ", blob.header().num_roots, " roots, but ",
                       num_roots, " entities have no parent");
    blob.parents_ = {parents, num_entities()};
    return {};
}

}  // namespace shoal
