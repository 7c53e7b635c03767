#pragma once
// The check of a blob: every byte that will be trusted is looked at once, in an order in which each step stands only
// on what the steps before have checked. Linear in the size of the blob.

#include "shoal/base/text.h"
#include "shoal/resource/blob.h"

namespace shoal {

/// Returns the name of a section for messages: "parents"; "unknown" for kinds of later versions.
std::string_view section_name(std::uint32_t kind);

/// Whether a read-only array can have elements of this type.
constexpr bool is_array_element(FieldType type) {
    return type >= FieldType::kBool && type <= FieldType::kResourceId && type != FieldType::kEnum;
}

struct BlobCheck {
    explicit BlobCheck(std::span<const std::byte> all_bytes) : data(all_bytes.data()), num_bytes(all_bytes.size()) {
        blob.bytes_ = all_bytes;
    }

    /// Fills in `blob`. Requires: the bytes start on a multiple of 8.
    Status run();

    Blob blob;
    const std::byte* data;
    std::uint64_t num_bytes;
    const BlobSection* sections[kNumBlobSectionKinds] = {};  // by kind; nullptr: absent

private:
    template <class... Parts>
    static Status fail(std::uint64_t offset, const Parts&... parts) {
        return Status::error(concat("at byte ", offset, " of the blob: ", parts...));
    }
    template <class... Parts>
    Status fail_at(const void* place, const Parts&... parts) const {
        return fail(static_cast<std::uint64_t>(static_cast<const std::byte*>(place) - data), parts...);
    }
    template <class T>
    const T* at(std::uint64_t offset) const {
        return reinterpret_cast<const T*>(data + offset);
    }
    const BlobSection* section(BlobSectionKind kind) const { return sections[static_cast<std::uint32_t>(kind)]; }
    std::uint32_t num_entities() const { return blob.header().num_entities; }
    Status check_string(const std::uint32_t& index, std::string_view what) const;
    Status check_section_bytes(const BlobSection& section, std::uint64_t expected) const;

    Status check_identity() const;
    Status check_header() const;
    Status check_directory();
    Status add_section(const BlobSection& entry, std::uint64_t end_of_last);
    Status check_strings();
    Status check_name() const;
    Status check_parents();

    struct SchemaParts;
    Status check_schemas();
    Status check_schema(const BlobSchema& record, SchemaParts& parts);
    Status read_fields(const BlobSchema& record, SchemaParts& parts, ComponentDefinition& out) const;
    Status check_name_string(const std::uint32_t& index) const;
    Status read_field(const BlobField& field, const BlobEnumerator*& enumerator, FieldDefinition& out) const;
    Status check_default(const Schema& schema, const std::byte* image) const;

    Status check_arrays();
    Status check_component_types();
    Status check_component_type(const BlobComponentType& type, const std::uint64_t* column_offset, std::uint64_t& end);
    Status check_columns(const BlobComponentType& type, const Schema& schema, const std::uint64_t* column_offset,
                         std::uint64_t end);
    Status check_owners(const BlobComponentType& type, const Schema& schema);
    Status check_identifiers() const;
    Status check_component_values(const BlobComponents& components) const;
    Status check_values(const Field& field, const std::byte* first, std::uint64_t stride, std::uint32_t count) const;
    bool is_array(const BlobArrayBase& array, FieldType element_type) const;

    Status check_notes();
    Status check_guids();
    Status check_names();
    Status check_sources();
    Status check_texts();
    Status check_kept_texts();
    Status check_dependencies();
    Status check_offset_tables();

    Array<std::uint32_t> last_type_of_{Owner("blob check")};  // by entity: component type + 1
};

}  // namespace shoal
