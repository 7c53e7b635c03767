// Checks a blob, so that later reads can trust it. Each step relies only on data that earlier steps have checked. The
// check takes time linear in the size of the blob.

#include "resource/blob_check.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/resource/detail/blob_values.h"
#include "shoal/resource/detail/old_words.h"
#include "shoal/table/detail/value_check.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace shoal {
namespace {

constexpr std::string_view kSectionNames[kNumBlobSectionKinds] = {
    "unknown", "strings", "schemas", "parents", "component types", "component data", "arrays",        "array data",
    "guids",   "names",   "sources", "texts",   "kept texts",      "dependencies",   "offset tables", "origin"};

constexpr std::uint32_t kSectionVersion = 1;
constexpr std::uint32_t kMaxColumnAlignment = 1u << 20;

bool is_known(std::uint32_t kind) { return kind > 0 && kind < kNumBlobSectionKinds; }

constexpr std::uint32_t kSchemaFlags =
    kBlobSchemaWhole | kBlobSchemaEnableable | kBlobSchemaMany | kBlobSchemaSingleton;
constexpr std::uint8_t kFieldFlags = kBlobFieldSplit | kBlobFieldHasRange;
constexpr std::uint32_t kMaxStructBytes = 1u << 20;

bool is_zero(const std::byte* value, std::size_t num_bytes) {
    return std::all_of(value, value + num_bytes, [](std::byte byte) { return byte == std::byte(0); });
}

/// Whether a struct image may contain defaults. A default is a value other than zero or, for an enum, other than its
/// first value.
bool has_defaults(const Schema& schema, const std::byte* image) {
    return std::any_of(schema.fields().begin(), schema.fields().end(), [&](const Field& field) {
        return field.has_range || field.type == FieldType::kEnum || !is_zero(image + field.struct_offset, field.size);
    });
}

}  // namespace

std::string_view section_name(std::uint32_t kind) { return kSectionNames[is_known(kind) ? kind : 0]; }

class BlobCheck {
public:
    explicit BlobCheck(std::span<const std::byte> all_bytes) : data_(all_bytes.data()), num_bytes_(all_bytes.size()) {
        blob_.bytes_ = all_bytes;
    }

    Result<Blob> run() {
        if (Status status = check_identity(); !status) return status;
        if (Status status = check_header(); !status) return status;
        if (Status status = check_directory(); !status) return status;
        struct Step {
            BlobSectionKind kind;
            Status (BlobCheck::*check)(const BlobSection& entry);
        };
        using enum BlobSectionKind;
        constexpr Step kSteps[] = {{kStrings, &BlobCheck::check_strings},
                                   {kParents, &BlobCheck::check_parents},
                                   {kSchemas, &BlobCheck::check_schemas},
                                   {kArrays, &BlobCheck::check_arrays},
                                   {kComponentTypes, &BlobCheck::check_component_types},
                                   {kGuids, &BlobCheck::check_guids},
                                   {kNames, &BlobCheck::check_names},
                                   {kSources, &BlobCheck::check_sources},
                                   {kTexts, &BlobCheck::check_texts},
                                   {kKeptTexts, &BlobCheck::check_kept_texts},
                                   {kDependencies, &BlobCheck::check_dependencies},
                                   {kOffsetTables, &BlobCheck::check_offset_tables},
                                   {kOrigin, &BlobCheck::check_origin}};
        for (const auto& [kind, check] : kSteps)
            if (const BlobSection* const entry = section(kind); entry != nullptr)
                if (Status status = (this->*check)(*entry); !status) return status;
        return std::move(blob_);
    }

private:
    template <class... Parts>
    Status fail_at(const void* place, const Parts&... parts) const {
        return blob_error(static_cast<std::uint64_t>(static_cast<const std::byte*>(place) - data_), parts...);
    }
    template <class T>
    const T* at(std::uint64_t offset) const {
        return reinterpret_cast<const T*>(data_ + offset);
    }
    const BlobSection* section(BlobSectionKind kind) const { return sections_[static_cast<std::uint32_t>(kind)]; }
    std::uint32_t num_entities() const { return blob_.header().num_entities; }
    /// Reads a section that is a list of records.
    template <class T>
    Status read_records(const BlobSection& entry, std::span<const T>& records) const {
        const std::uint64_t count = entry.num_bytes / sizeof(T);
        records = {at<T>(entry.offset), static_cast<std::size_t>(count)};
        return check_section_bytes(entry, count * sizeof(T));
    }

    struct SchemaParts;

    /// Checks that the bytes are a complete blob of this format, for this machine.
    Status check_identity() const {
        if (num_bytes_ < sizeof kBlobMagic || std::memcmp(data_, kBlobMagic, sizeof kBlobMagic) != 0)
            return blob_error(0, "it is not a blob: it does not start with SHOALBLB");
        if (num_bytes_ < sizeof(BlobHeader))
            return Status::error(concat("it is truncated: it has ", num_bytes_, " bytes, fewer than the ",
                                        sizeof(BlobHeader), " of a blob's header"));
        const BlobHeader& header = blob_.header();
        if (header.endianness == kBlobSwappedEndianness)
            return blob_error(8, "it is for machines of the other byte order; compile it with --endian ",
                              std::endian::native == std::endian::little ? "little" : "big");
        if (header.endianness != kBlobEndianness) return blob_error(8, "the mark of the byte order is damaged");
        if (header.format_version != kBlobVersion)
            return blob_error(12, "it has format version ", header.format_version, ", this program reads version ",
                              kBlobVersion, "; compile it again");
        if (header.total_bytes != num_bytes_)
            return blob_error(24, "it should have ", header.total_bytes, " bytes, but has ", num_bytes_,
                              "; it was truncated, or something was appended");
        const std::size_t start = offsetof(BlobHeader, total_bytes);
        if (header.checksum != hash_bytes(data_ + start, num_bytes_ - start))
            return blob_error(16, "the checksum does not match the bytes; the blob was damaged after it was written");
        return {};
    }

    Status check_header() const {
        const BlobHeader& header = blob_.header();
        if (header.entity_bytes != sizeof(Entity))
            return fail_at(&header.entity_bytes, "it was compiled for ids of ", 8 * header.entity_bytes,
                           " bits, this program has ids of ", 8 * sizeof(Entity), "; compile it again with this build");
        if (header.header_bytes < sizeof(BlobHeader) || header.header_bytes % 8 != 0 ||
            header.header_bytes > num_bytes_)
            return fail_at(&header.header_bytes, "a header of ", header.header_bytes, " bytes is not possible");
        if (!std::has_single_bit(header.column_alignment) || header.column_alignment < kBlobAlignment ||
            header.column_alignment > kMaxColumnAlignment)
            return fail_at(&header.column_alignment, "a column alignment of ", header.column_alignment,
                           " is not possible");
        if (header.num_sections > (num_bytes_ - header.header_bytes) / sizeof(BlobSection))
            return fail_at(&header.num_sections, "a directory of ", header.num_sections,
                           " sections does not fit the blob");
        return {};
    }

    Status check_directory() {
        const BlobHeader& header = blob_.header();
        std::uint64_t end = header.header_bytes + header.num_sections * sizeof(BlobSection);
        for (std::uint32_t i = 0; i < header.num_sections; ++i) {
            const BlobSection& entry = at<BlobSection>(header.header_bytes)[i];
            if (Status status = add_section(entry, end); !status) return status;
            end = entry.offset + entry.num_bytes;
        }
        for (const BlobSectionKind kind :
             {BlobSectionKind::kStrings, BlobSectionKind::kSchemas, BlobSectionKind::kParents,
              BlobSectionKind::kComponentTypes, BlobSectionKind::kComponentData})
            if (section(kind) == nullptr)
                return blob_error(header.header_bytes, "the directory lacks the section \"",
                                  section_name(static_cast<std::uint32_t>(kind)), '"');
        const BlobSection* const arrays = section(BlobSectionKind::kArrays);
        const BlobSection* const array_data = section(BlobSectionKind::kArrayData);
        if ((arrays == nullptr) != (array_data == nullptr))
            return fail_at(arrays == nullptr ? array_data : arrays,
                           "\"arrays\" and \"array data\" go together, but one is missing");
        return {};
    }

    Status add_section(const BlobSection& entry, std::uint64_t end_of_last) {
        const std::string_view name = section_name(entry.kind);
        if (entry.offset % kBlobAlignment != 0)
            return fail_at(&entry.offset, "the section \"", name, "\" does not start on a multiple of ",
                           kBlobAlignment);
        if (entry.offset < end_of_last)
            return fail_at(&entry.offset, "the section \"", name, "\" overlaps what lies before it");
        if (entry.offset > num_bytes_ || entry.num_bytes > num_bytes_ - entry.offset)
            return fail_at(&entry.num_bytes, "the section \"", name, "\" reaches past the end of the blob");
        if (!is_known(entry.kind) || entry.version != kSectionVersion) {
            if ((entry.flags & kBlobSectionRequired) == 0) return {};
            return fail_at(&entry, "it needs a reader that knows section kind ", entry.kind, " version ", entry.version,
                           "; use a newer program, or compile it again with this one");
        }
        if (sections_[entry.kind] != nullptr) return fail_at(&entry, "a second section \"", name, '"');
        sections_[entry.kind] = &entry;
        return {};
    }

    Status check_section_bytes(const BlobSection& entry, std::uint64_t expected) const {
        if (entry.num_bytes == expected) return {};
        return fail_at(&entry.num_bytes, "the section \"", section_name(entry.kind), "\" should have ", expected,
                       " bytes, but has ", entry.num_bytes);
    }

    Status check_string(const std::uint32_t& index, std::string_view what) const {
        if (index < at<BlobStringTable>(blob_.strings_->offset)->num_strings) return {};
        return fail_at(&index, what, " is string ", index, ", which does not exist");
    }

    Status check_strings(const BlobSection& entry) {
        const std::uint64_t room =
            entry.num_bytes < sizeof(BlobStringTable) ? 0 : entry.num_bytes - sizeof(BlobStringTable);
        const std::uint64_t num_strings = room < 8 ? 0 : at<BlobStringTable>(entry.offset)->num_strings;
        if (num_strings == 0 || num_strings + 1 > room / 8)
            return blob_error(entry.offset, "the table of strings does not fit its section");
        const auto* offsets = at<std::uint64_t>(entry.offset + sizeof(BlobStringTable));
        if (offsets[0] != sizeof(BlobStringTable) + 8 * (num_strings + 1))
            return fail_at(offsets, "the first string does not follow the table");
        for (std::uint64_t i = 0; i < num_strings; ++i) {
            const std::uint64_t begin = offsets[i], end = offsets[i + 1];
            if (end <= begin || end > entry.num_bytes || data_[entry.offset + end - 1] != std::byte(0))
                return fail_at(offsets + i, "string ", i, " has no end");
            if (!is_utf8({at<char>(entry.offset + begin), static_cast<std::size_t>(end - begin - 1)}))
                return blob_error(entry.offset + begin, "string ", i, " is not UTF-8");
        }
        if (offsets[num_strings] != entry.num_bytes)
            return fail_at(offsets + num_strings, "the strings do not fill their section");
        if (offsets[1] != offsets[0] + 1) return fail_at(offsets, "string 0 is not empty");
        blob_.strings_ = &entry;
        return check_name();
    }

    Status check_name() const {
        const BlobHeader& header = blob_.header();
        if (Status status = check_string(header.name, "the name of the resource"); !status) return status;
        if (ResourceId(blob_.name()).hash != header.resource_id)
            return fail_at(&header.resource_id, "the resource id is not the hash of the name \"", blob_.name(), '"');
        return {};
    }

    Status check_parents(const BlobSection& entry) {
        if (Status status = check_section_bytes(entry, std::uint64_t(4) * num_entities()); !status) return status;
        const auto* parents = at<std::uint32_t>(entry.offset);
        const auto is_wrong = [parents](std::uint32_t i) { return parents[i] >= i && parents[i] != kNoBlobEntity; };
        const std::uint32_t count = num_entities();
        std::uint32_t num_roots = 0, num_wrong = 0;  // branch-free, because errors are rare
        for (std::uint32_t i = 0; i < count; ++i) {
            num_roots += parents[i] == kNoBlobEntity;
            num_wrong += is_wrong(i);
        }
        for (std::uint32_t i = 0; num_wrong != 0 && i < count; ++i)
            if (is_wrong(i))
                return fail_at(parents + i, "entity ", i, " has the parent ", parents[i],
                               parents[i] < count ? ", which does not come before it" : ", which does not exist");
        if (num_roots != blob_.header().num_roots)
            return fail_at(&blob_.header().num_roots, "the header counts ", blob_.header().num_roots, " roots, but ",
                           num_roots, " entities have no parent");
        blob_.parents_ = {parents, num_entities()};
        return {};
    }

    // --- schemas -----------------------------------------------------------------------------------------------------

    /// The part of the schema section that has not been read yet.
    struct SchemaParts {
        const std::byte* next;
        const std::byte* end;
        const BlobField* field = nullptr;
        const BlobField* fields_end = nullptr;
        const BlobEnumerator* enumerator = nullptr;
        const BlobEnumerator* enumerators_end = nullptr;

        /// Returns the next `count` records and moves past them. Returns nullptr if fewer are left.
        template <class T>
        const T* take(std::uint64_t count) {
            if (count > static_cast<std::uint64_t>(end - next) / sizeof(T)) return nullptr;
            const auto* result = reinterpret_cast<const T*>(next);
            next += count * sizeof(T);
            return result;
        }
    };

    /// Names are copied out of the blob, and many fields may share one string, so the length is limited.
    Status check_name_string(const std::uint32_t& index) const {
        if (Status status = check_string(index, "a name in a schema"); !status) return status;
        if (blob_.string(index).size() <= kMaxBlobNameBytes) return {};
        return fail_at(&index, "a name in a schema has more than ", kMaxBlobNameBytes, " bytes");
    }

    Status read_field(const BlobField& field, const BlobEnumerator*& enumerator, FieldDefinition& out) const {
        if (Status status = check_name_string(field.name); !status) return status;
        if (Status status = check_name_string(field.unit); !status) return status;
        if (field.num_enumerators > kMaxBlobEnumerators)
            return fail_at(&field.num_enumerators, "an enum of more than ", kMaxBlobEnumerators, " names");
        if (field.struct_offset > kMaxStructBytes)
            return fail_at(&field.struct_offset, "a field lies outside its struct");
        if ((field.flags & ~kFieldFlags) != 0 || field.type >= static_cast<std::uint8_t>(FieldType::kOpaque))
            return fail_at(&field.type, "field type ", field.type, " with flags ", field.flags, " is not known");
        if (field.relation > static_cast<std::uint8_t>(Relation::kDiesToo))
            return fail_at(&field.relation, "relation ", field.relation, " is not known");
        out.name = blob_.string(field.name);
        out.type = static_cast<FieldType>(field.type);
        out.element_type = static_cast<FieldType>(field.element_type);
        out.array_length = field.array_length;
        out.value_bytes = field.value_bytes;
        out.struct_offset = field.struct_offset;
        out.split = (field.flags & kBlobFieldSplit) != 0;
        out.relation = static_cast<Relation>(field.relation);
        out.has_range = (field.flags & kBlobFieldHasRange) != 0;
        out.minimum = field.minimum;
        out.maximum = field.maximum;
        out.unit = blob_.string(field.unit);
        for (std::uint32_t i = 0; i < field.num_enumerators; ++i, ++enumerator) {
            if (Status status = check_name_string(enumerator->name); !status) return status;
            out.enumerators.push_back({std::string(blob_.string(enumerator->name)), enumerator->value});
        }
        return {};
    }

    /// Defaults must not refer to entities or arrays. For every type, zero means that no default was given.
    Status check_default(const Schema& schema, const std::byte* image) const {
        for (const Field& field : schema.fields()) {
            const std::byte* value = image + field.struct_offset;
            if (is_zero(value, field.size)) continue;
            if (field.type == FieldType::kEntity || field.type == FieldType::kBlobArray)
                return fail_at(value, "the default of field \"", field.name, "\" refers to something");
            if (Status status = check_values(field, value, field.size, 1); !status) return status;
        }
        return {};
    }

    Status read_fields(const BlobSchema& record, SchemaParts& parts, ComponentDefinition& out) const {
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

    /// Builds a schema with defaults in two passes: the layout of the default image is known only after the first pass.
    Status check_schema(const BlobSchema& record, SchemaParts& parts) {
        if (Status status = check_name_string(record.name); !status) return status;
        if (!std::has_single_bit(record.struct_alignment) || record.struct_alignment > kBlobAlignment ||
            record.struct_bytes > kMaxStructBytes || (record.flags & ~kSchemaFlags) != 0)
            return fail_at(&record, "a schema has an impossible size, alignment or flag");
        const auto* image = parts.take<std::byte>(round_up(record.struct_bytes, 8));
        if (image == nullptr) return fail_at(&record.struct_bytes, "the defaults of a schema do not fit the section");

        ComponentDefinition definition;
        definition.name = blob_.string(record.name);
        definition.version = record.version;
        definition.whole = (record.flags & kBlobSchemaWhole) != 0;
        definition.enableable = (record.flags & kBlobSchemaEnableable) != 0;
        definition.many = (record.flags & kBlobSchemaMany) != 0;
        definition.singleton = (record.flags & kBlobSchemaSingleton) != 0;
        definition.struct_bytes = record.struct_bytes;
        definition.struct_alignment = record.struct_alignment;
        if (Status status = read_fields(record, parts, definition); !status) return status;
        Result<Schema> schema = Schema::make(definition);
        if (!schema) return fail_at(&record, schema.message());
        if (schema->struct_bytes() != record.struct_bytes || schema->layout_hash() != record.layout_hash)
            return fail_at(&record.layout_hash, "the layout hash of ", schema->to_text(), " is not that of its fields");
        if (has_defaults(*schema, image)) {
            for (std::size_t i = 0; i < definition.fields.size(); ++i) {
                const std::byte* value = image + schema->fields()[i].struct_offset;
                definition.fields[i].default_value.assign(value, value + schema->fields()[i].size);
            }
            schema = Schema::make(std::move(definition));
            if (!schema) return fail_at(image, schema.message());
        }
        if (Status status = check_default(*schema, image); !status) return status;
        blob_.schemas_.push_back(std::move(*schema));
        return {};
    }

    Status check_schemas(const BlobSection& entry) {
        SchemaParts parts{data_ + entry.offset, data_ + entry.offset + entry.num_bytes};
        const auto* table = parts.take<BlobSchemaTable>(1);
        const auto* records = table == nullptr ? nullptr : parts.take<BlobSchema>(table->num_schemas);
        parts.field = records == nullptr ? nullptr : parts.take<BlobField>(table->num_fields);
        parts.enumerator = parts.field == nullptr ? nullptr : parts.take<BlobEnumerator>(table->num_enumerators);
        if (parts.enumerator == nullptr)
            return blob_error(entry.offset, "the tables of the schemas do not fit their section");
        parts.fields_end = parts.field + table->num_fields;
        parts.enumerators_end = parts.enumerator + table->num_enumerators;
        for (std::uint32_t i = 0; i < table->num_schemas; ++i)
            if (Status status = check_schema(records[i], parts); !status) return status;
        if (parts.field != parts.fields_end || parts.enumerator != parts.enumerators_end || parts.next != parts.end)
            return blob_error(entry.offset, "the section of the schemas holds more than the schemas");
        return {};
    }

    // --- arrays and components --------------------------------------------------------------------------------------

    Status check_arrays(const BlobSection& table) {
        const BlobSection& values = *section(BlobSectionKind::kArrayData);
        const std::uint64_t section_end = values.offset + values.num_bytes;
        std::uint64_t end = values.offset;
        if (Status status = read_records(table, blob_.arrays_); !status) return status;
        for (std::size_t i = 0; i < blob_.arrays_.size(); ++i) {
            const BlobArrayEntry& entry = blob_.arrays_[i];
            const auto type = static_cast<FieldType>(entry.element_type);
            if (entry.element_type > 0xFF || !is_array_element(type) || entry.count == 0)
                return fail_at(&entry.count, "array ", i, " has no elements or an unknown type");
            if (entry.offset % kBlobArrayAlignment != 0 || entry.offset < end)
                return fail_at(&entry.offset, "array ", i, " overlaps what lies before it");
            const std::uint64_t bytes = std::uint64_t(entry.count) * field_type_bytes(type);
            if (entry.offset > section_end || bytes > section_end - entry.offset)
                return fail_at(&entry.count, "array ", i, " reaches past the end of its section");
            end = entry.offset + bytes;
            if (type != FieldType::kBool) continue;
            const auto valid = [](const std::byte* value) { return *value <= std::byte(1); };
            if (const std::uint64_t bad = find_invalid(data_ + entry.offset, 1, entry.count, valid); bad < entry.count)
                return blob_error(entry.offset + bad, "a bool that is neither 0 nor 1");
        }
        return {};
    }

    bool is_array(const BlobArrayBase& array, FieldType element_type) const {
        if (array.count == 0) return array == BlobArrayBase();
        if (array.resource != blob_.id() || array.reserved != 0) return false;
        const BlobArrayEntry* const entry = find_array(blob_.arrays_, array, element_type);
        return entry != nullptr && entry->offset == array.offset && entry->count == array.count;
    }

    Status check_component_types(const BlobSection& entry) {
        const std::uint64_t num_types = blob_.header().num_component_types;
        if (num_types > entry.num_bytes / sizeof(BlobComponentType))
            return fail_at(&blob_.header().num_component_types, num_types, " component types do not fit their section");
        const auto* types = at<BlobComponentType>(entry.offset);
        const auto* column_offset = at<std::uint64_t>(entry.offset + num_types * sizeof(BlobComponentType));
        std::uint64_t num_columns = 0;
        for (std::uint64_t i = 0; i < num_types; ++i) num_columns += types[i].num_columns;
        if (Status status = check_section_bytes(entry, num_types * sizeof(BlobComponentType) + num_columns * 8);
            !status)
            return status;

        blob_.columns_.reserve(static_cast<std::size_t>(num_columns));
        blob_.component_types_.reserve(static_cast<std::size_t>(num_types));
        last_type_of_.assign(num_entities(), 0);
        std::uint64_t end = section(BlobSectionKind::kComponentData)->offset;
        for (std::uint64_t i = 0; i < num_types; ++i) {
            if (i > 0 && types[i].spawn_order < types[i - 1].spawn_order)
                return fail_at(&types[i].spawn_order, "the component types are not in spawn order");
            if (Status status = check_component_type(types[i], column_offset, end); !status) return status;
            column_offset += types[i].num_columns;
        }
        rename_old_types();
        return check_identifiers();
    }

    /// If shoal has renamed a component type, gives it its current name.
    void rename_old_types() {
        if (num_entities() == 0) return;  // this is a save; its types are migrated with its stores
        for (BlobComponents& components : blob_.component_types_) {
            const Schema* const now = old_words::schema_of_today(*components.schema);
            if (now == nullptr || blob_.find_components(now->id()) != nullptr) continue;
            Schema& schema = blob_.schemas_[static_cast<std::size_t>(components.schema - blob_.schemas_.data())];
            schema = *now;
            components.id = schema.id();
        }
    }

    Status check_component_type(const BlobComponentType& type, const std::uint64_t* column_offset, std::uint64_t& end) {
        if (type.schema >= blob_.schemas_.size())
            return fail_at(&type.schema, "a component type has schema ", type.schema, ", which does not exist");
        const Schema& schema = blob_.schemas_[type.schema];
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

        const std::span<const std::byte* const> all_columns(blob_.columns_);
        blob_.component_types_.push_back({schema.id(),
                                          &schema,
                                          type.spawn_order,
                                          {at<std::uint32_t>(type.data_offset), type.count},
                                          all_columns.last(type.num_columns),
                                          static_cast<std::size_t>(type.data_bytes)});
        if (Status status = check_owners(type, schema); !status) return status;
        return check_component_values(blob_.component_types_.back());
    }

    Status check_columns(const BlobComponentType& type, const Schema& schema, const std::uint64_t* column_offset,
                         std::uint64_t end) {
        std::uint64_t begin = type.data_offset + std::uint64_t(4) * type.count;
        for (std::uint32_t i = 0; i < type.num_columns; ++i) {
            const std::uint64_t offset = column_offset[i];
            const std::uint64_t bytes = std::uint64_t(schema.columns()[i].element_bytes) * type.count;
            const std::uint64_t alignment =
                bytes >= kBlobLargeColumnBytes ? blob_.header().column_alignment : kBlobAlignment;
            if (offset % alignment != 0)
                return fail_at(column_offset + i, "column ", i, " of \"", schema.name(), "\" is not aligned to ",
                               alignment);
            if (offset < begin)
                return fail_at(column_offset + i, "column ", i, " of \"", schema.name(),
                               "\" overlaps what lies before it");
            if (offset > end || bytes > end - offset)
                return fail_at(column_offset + i, "column ", i, " of \"", schema.name(), "\" reaches past its data");
            blob_.columns_.push_back(data_ + offset);
            begin = offset + bytes;
        }
        return {};
    }

    Status check_owners(const BlobComponentType& type, const Schema& schema) {
        const auto* owners = at<std::uint32_t>(type.data_offset);
        const auto mark = static_cast<std::uint32_t>(blob_.component_types_.size());
        if (schema.singleton() && type.count > 1)
            return fail_at(&type.count, "there are ", type.count, " components \"", schema.name(),
                           "\", of which a world has one");
        const std::uint32_t count = type.count, end = num_entities();
        const bool many = schema.many();
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t owner = owners[i];
            if (owner >= end)
                return fail_at(owners + i, "a component \"", schema.name(), "\" belongs to entity ", owner,
                               ", which does not exist");
            if (last_type_of_[owner] == mark && !many)
                return fail_at(owners + i, "entity ", owner, " has two components \"", schema.name(),
                               "\", whose schema does not say many");
            last_type_of_[owner] = mark;
        }
        return {};
    }

    Status check_identifiers() const {
        Array<std::uint64_t> ids("blob check");
        for (const BlobComponents& components : blob_.component_types_) ids.push_back(components.id.hash);
        std::sort(ids.begin(), ids.end());
        const auto twice = std::adjacent_find(ids.begin(), ids.end());
        if (twice == ids.end()) return {};
        return blob_error(section(BlobSectionKind::kComponentTypes)->offset, "the component type \"",
                          blob_.find_components(ComponentId(*twice))->schema->name(), "\" occurs twice");
    }

    Status check_component_values(const BlobComponents& components) const {
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

    /// Checks the values of a field in `count` rows. Skips types for which any bit pattern is valid.
    Status check_values(const Field& field, const std::byte* first, std::uint64_t stride, std::uint32_t count) const {
        const FieldRows rows{first, stride, count};
        BadValue bad = find_bad_value(field, rows);
        if (field.type == FieldType::kEntity)
            bad = {find_invalid_value(field, rows,
                                      [n = num_entities()](const std::byte* v) {
                                          const auto index = read_as<EntityBits>(v);
                                          return (index < n) | (index == static_cast<EntityBits>(~EntityBits(0)));
                                      }),
                   "a reference to an entity that does not exist"};
        if (field.type == FieldType::kBlobArray)
            bad = {find_invalid_value(
                       field, rows,
                       [&](const std::byte* v) { return is_array(read_as<BlobArrayBase>(v), field.element_type); }),
                   "a reference to an array that does not exist"};
        if (bad) return fail_at(bad.place, "field \"", field.name, "\" holds ", bad.problem);
        return {};
    }

    // --- optional sections ------------------------------------------------------------------------------------------

    Status check_guids(const BlobSection& entry) {
        const std::uint64_t n = num_entities();
        if (Status status = check_section_bytes(entry, n * 12); !status) return status;
        const auto* guids = at<std::uint64_t>(entry.offset);
        const auto* order = at<std::uint32_t>(entry.offset + n * 8);
        for (std::uint64_t i = 0; i < n; ++i) {
            if (order[i] >= n)
                return fail_at(order + i, "the order of the guids names entity ", order[i], ", which does not exist");
            if (i == 0) continue;
            const std::uint64_t before = guids[order[i - 1]], guid = guids[order[i]];
            if (before == guid && guid != 0)
                return fail_at(guids + order[i], "entities ", order[i - 1], " and ", order[i], " have the same GUID");
            if (before > guid || (before == guid && order[i - 1] >= order[i]))
                return fail_at(order + i, "the guids are not in order");
        }
        blob_.guids_ = {guids, static_cast<std::size_t>(n)};
        blob_.entities_by_guid_ = {order, static_cast<std::size_t>(n)};
        return {};
    }

    /// Compares each name only with its two neighbours, so that a long name that many entities share is read only once.
    Status check_names(const BlobSection& entry) {
        const std::uint64_t n = num_entities();
        if (Status status = check_section_bytes(entry, n * 8); !status) return status;
        const auto* names = at<std::uint32_t>(entry.offset);
        const auto* order = names + n;
        for (std::uint64_t i = 0; i < n; ++i) {
            if (Status status = check_string(names[i], "the name of an entity"); !status) return status;
            if (order[i] >= n)
                return fail_at(order + i, "the order of the names names entity ", order[i], ", which does not exist");
        }
        for (std::uint64_t i = 1; i < n; ++i) {
            const std::uint32_t before = names[order[i - 1]], name = names[order[i]];
            const bool in_order = before == name ? order[i - 1] < order[i] : blob_.string(before) < blob_.string(name);
            if (!in_order) return fail_at(order + i, "the names are not in order, or a text is there twice");
        }
        blob_.names_ = {names, static_cast<std::size_t>(n)};
        blob_.entities_by_name_ = {order, static_cast<std::size_t>(n)};
        return {};
    }

    Status check_sources(const BlobSection& entry) {
        if (Status status = check_section_bytes(entry, sizeof(BlobSource) * std::uint64_t(num_entities())); !status)
            return status;
        blob_.sources_ = {at<BlobSource>(entry.offset), num_entities()};
        for (const BlobSource& source : blob_.sources_)
            if (Status status = check_string(source.file, "a source file"); !status) return status;
        return {};
    }

    Status check_texts(const BlobSection& entry) {
        if (Status status = read_records(entry, blob_.texts_); !status) return status;
        std::uint64_t last = 0;
        for (const BlobText& text : blob_.texts_) {
            if (Status status = check_string(text.text, "the text of a string id"); !status) return status;
            if (text.hash <= last) return fail_at(&text, "the texts are not ordered by their hashes");
            if (StringId(blob_.string(text.text)).hash != text.hash)
                return fail_at(&text, "a text has another hash than its id");
            last = text.hash;
        }
        return {};
    }

    Status check_kept_texts(const BlobSection& entry) {
        if (Status status = read_records(entry, blob_.kept_texts_); !status) return status;
        for (const BlobKeptText& kept : blob_.kept_texts_) {
            if (Status status = check_string(kept.component, "a kept component"); !status) return status;
            if (Status status = check_string(kept.text, "a kept text"); !status) return status;
            if (kept.entity >= num_entities() && kept.entity != kNoBlobEntity)
                return fail_at(&kept.entity, "a text is kept for entity ", kept.entity, ", which does not exist");
        }
        return {};
    }

    Status check_dependencies(const BlobSection& entry) {
        if (Status status = read_records(entry, blob_.dependencies_); !status) return status;
        for (const BlobDependency& dependency : blob_.dependencies_) {
            if (Status status = check_string(dependency.path, "the path of a dependency"); !status) return status;
            if (dependency.kind < DependencyKind::kSource || dependency.kind > DependencyKind::kMustNotExist)
                return fail_at(&dependency.kind, "a dependency of kind ", static_cast<std::uint32_t>(dependency.kind),
                               " is not known");
        }
        return {};
    }

    /// The rows are distinct, each is listed for its owner, and there are as many rows as components, so none is
    /// missing.
    Status check_offset_tables(const BlobSection& entry) {
        const std::uint64_t n = num_entities();
        std::uint64_t num_rows = 0;
        for (const BlobComponents& components : blob_.component_types_) num_rows += components.count();
        if (Status status = check_section_bytes(entry, 4 * (n + 1) + num_rows * sizeof(BlobRow)); !status)
            return status;
        const auto* first_row = at<std::uint32_t>(entry.offset);
        const auto* rows = at<BlobRow>(entry.offset + 4 * (n + 1));
        if (first_row[0] != 0 || first_row[n] != num_rows)
            return fail_at(first_row, "the offset tables do not hold all rows");
        for (std::uint64_t i = 0; i < n; ++i) {
            if (first_row[i + 1] < first_row[i] || first_row[i + 1] > num_rows)
                return fail_at(first_row + i + 1, "the offset tables are not in the order of the entities");
            for (std::uint32_t r = first_row[i]; r < first_row[i + 1]; ++r) {
                const BlobRow& row = rows[r];
                const bool exists = row.component_type < blob_.component_types_.size() &&
                                    row.row < blob_.component_types_[row.component_type].count();
                if (!exists || blob_.component_types_[row.component_type].entity_index[row.row] != i)
                    return fail_at(&row, "the offset table of entity ", i, " names a row that is not its own");
                const bool in_order = r == first_row[i] || rows[r - 1].component_type < row.component_type ||
                                      (rows[r - 1].component_type == row.component_type && rows[r - 1].row < row.row);
                if (!in_order) return fail_at(&row, "the offset table of entity ", i, " is not in order");
            }
        }
        blob_.first_row_ = {first_row, static_cast<std::size_t>(n + 1)};
        blob_.rows_ = {rows, static_cast<std::size_t>(num_rows)};
        return {};
    }

    Status check_origin(const BlobSection& entry) {
        if (entry.num_bytes < sizeof(BlobOrigin))
            return fail_at(&entry.num_bytes, "the section \"origin\" has ", entry.num_bytes, " bytes, fewer than ",
                           sizeof(BlobOrigin));
        const BlobOrigin& origin = *at<BlobOrigin>(entry.offset);
        const std::uint64_t num_hashes = blob_.dependencies_.size();
        const std::uint64_t types_offset = sizeof(BlobOrigin) + num_hashes * sizeof(std::uint64_t);
        if (Status status =
                check_section_bytes(entry, types_offset + std::uint64_t(origin.num_types) * sizeof(BlobOriginType));
            !status)
            return status;
        if (Status status = check_string(origin.compiler, "the version of the compiler"); !status) return status;
        blob_.dependency_hashes_ = {at<std::uint64_t>(entry.offset + sizeof(BlobOrigin)),
                                    static_cast<std::size_t>(num_hashes)};
        blob_.origin_types_ = {at<BlobOriginType>(entry.offset + types_offset), origin.num_types};
        for (const BlobOriginType& type : blob_.origin_types_)
            if (Status status = check_string(type.name, "the name of a component type of the source"); !status)
                return status;
        blob_.origin_ = &origin;
        return {};
    }

    Blob blob_;
    const std::byte* data_;
    std::uint64_t num_bytes_;
    const BlobSection* sections_[kNumBlobSectionKinds] = {};  // by kind; nullptr if absent
    Array<std::uint32_t> last_type_of_{Owner("blob check")};  // by entity: component type + 1
};

Result<Blob> check_blob(std::span<const std::byte> bytes) { return BlobCheck(bytes).run(); }

}  // namespace shoal
