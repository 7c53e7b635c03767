// Changes the byte order of a blob. Every record is read in this machine's byte order: if the blob has the other byte
// order, a record is swapped before it is read, and otherwise afterwards.

#include "resource/blob_check.h"
#include "shoal/base/detail/bytes.h"
#include "shoal/resource/blob_writer.h"

#include <cstring>
#include <vector>

namespace shoal {
namespace {

// The layout of each record. A digit stands for a number with that many bytes, and '.' for a byte that is not swapped.
template <class Record>
constexpr std::string_view kLanes{};
template <>
constexpr std::string_view kLanes<BlobHeader> = "........44888444444448";
template <>
constexpr std::string_view kLanes<BlobSection> = "444488";
template <>
constexpr std::string_view kLanes<BlobStringTable> = "44";
template <>
constexpr std::string_view kLanes<BlobSchemaTable> = "4444";
template <>
constexpr std::string_view kLanes<BlobSchema> = "4444448";
template <>
constexpr std::string_view kLanes<BlobField> = "4....44444488";
template <>
constexpr std::string_view kLanes<BlobEnumerator> = "448";
template <>
constexpr std::string_view kLanes<BlobComponentType> = "8444488";
template <>
constexpr std::string_view kLanes<BlobArrayEntry> = "844";
template <>
constexpr std::string_view kLanes<BlobText> = "844";
template <>
constexpr std::string_view kLanes<BlobOrigin> = "448";
template <>
constexpr std::string_view kLanes<BlobOriginType> = "844";
template <>
constexpr std::string_view kLanes<BlobArrayBase> = "8844";

constexpr std::size_t lane_bytes(char lane) { return lane == '.' ? 1 : static_cast<std::size_t>(lane - '0'); }
constexpr std::size_t record_bytes(std::string_view lanes) {
    std::size_t bytes = 0;
    for (const char lane : lanes) bytes += lane_bytes(lane);
    return bytes;
}

void reverse(std::byte* value, std::size_t num_bytes) {
    const auto swap_as = [&]<class T>(T number, auto swap) {
        std::memcpy(&number, value, sizeof number);
        number = swap(number);
        std::memcpy(value, &number, sizeof number);
    };
    if (num_bytes == 2) swap_as(std::uint16_t(), [](std::uint16_t v) { return __builtin_bswap16(v); });
    if (num_bytes == 4) swap_as(std::uint32_t(), [](std::uint32_t v) { return __builtin_bswap32(v); });
    if (num_bytes == 8) swap_as(std::uint64_t(), [](std::uint64_t v) { return __builtin_bswap64(v); });
}

/// Returns the size of the numbers in a value, or 0 for a blob array, whose numbers have different sizes.
std::uint32_t number_bytes(const BlobField& field) {
    const auto type = static_cast<FieldType>(field.type);
    if (type == FieldType::kBlobArray) return 0;
    return type == FieldType::kEnum || type == FieldType::kEntity ? field.value_bytes : field_type_alignment(type);
}

class Swapper {
public:
    explicit Swapper(std::span<const std::byte> bytes) : out_(bytes.begin(), bytes.end()), bytes_left_(bytes.size()) {}

    std::vector<std::byte> take() { return std::move(out_); }

    Status run() {
        if (Status status = directory(); !status) return status;
        if (Status status = sections(); !status) return status;
        sign();
        return {};
    }

private:
    struct SwappedSchema {
        BlobSchema record;
        std::span<const BlobField> fields;
    };

    Status claim(std::uint64_t offset, std::uint64_t num_bytes) {
        if (offset > out_.size() || num_bytes > out_.size() - offset || num_bytes > bytes_left_)
            return blob_error(offset, num_bytes, " bytes overlap others or reach past the end");
        bytes_left_ -= num_bytes;
        return {};
    }

    Status numbers(std::uint64_t offset, std::uint64_t num_bytes, std::uint32_t width) {
        if (Status status = claim(offset, num_bytes); !status) return status;
        if (width == 1) return {};
        for (std::uint64_t i = 0; i + width <= num_bytes; i += width) reverse(out_.data() + offset + i, width);
        return {};
    }

    template <class Record>
    Status record(std::uint64_t offset, Record& native) {
        static_assert(record_bytes(kLanes<Record>) == sizeof(Record));
        if (Status status = claim(offset, sizeof(Record)); !status) return status;
        std::byte* const begin = out_.data() + offset;
        if (!is_foreign_) std::memcpy(&native, begin, sizeof native);
        std::byte* lane_begin = begin;
        for (const char lane : kLanes<Record>) {
            reverse(lane_begin, lane_bytes(lane));
            lane_begin += lane_bytes(lane);
        }
        if (is_foreign_) std::memcpy(&native, begin, sizeof native);
        return {};
    }

    template <class Record>
    Status records(std::uint64_t offset, std::uint64_t count, Array<Record>& native) {
        if (count > bytes_left_ / sizeof(Record)) return blob_error(offset, count, " records do not fit it");
        native.resize(static_cast<std::size_t>(count));
        for (std::uint64_t i = 0; i < count; ++i)
            if (Status status = record(offset + i * sizeof(Record), native[static_cast<std::size_t>(i)]); !status)
                return status;
        return {};
    }

    Status field_values(const BlobField& field, std::uint64_t offset, std::uint64_t num_bytes) {
        if (const std::uint32_t width = number_bytes(field); width != 0) return numbers(offset, num_bytes, width);
        BlobArrayBase array;
        for (std::uint64_t i = 0; i + sizeof array <= num_bytes; i += sizeof array)
            if (Status status = record(offset + i, array); !status) return status;
        return {};
    }

    Status check_source() const {
        if (header_.format_version != kBlobVersion)
            return blob_error(12, "format version ", header_.format_version, " is not known here");
        const std::size_t start = offsetof(BlobHeader, total_bytes);
        if (header_.checksum == hash_bytes(out_.data() + start, out_.size() - start)) return {};
        return Status::error(
            "at byte 16 of the blob: the checksum does not match the bytes; the blob was damaged after it was written");
    }

    Status directory() {
        if (out_.size() < sizeof(BlobHeader) || std::memcmp(out_.data(), kBlobMagic, sizeof kBlobMagic) != 0)
            return Status::error("at byte 0 of the blob: it is not a blob: it does not start with SHOALBLB");
        const auto mark = read_as<std::uint32_t>(out_.data() + offsetof(BlobHeader, endianness));
        if (mark != kBlobEndianness && mark != kBlobSwappedEndianness)
            return Status::error("at byte 8 of the blob: the mark of the byte order is damaged");
        is_foreign_ = mark == kBlobSwappedEndianness;

        const std::vector<std::byte> source_header(out_.begin(), out_.begin() + sizeof(BlobHeader));
        if (Status status = record(0, header_); !status) return status;
        std::vector<std::byte> swapped_header(out_.begin(), out_.begin() + sizeof(BlobHeader));
        std::memcpy(out_.data(), source_header.data(), sizeof(BlobHeader));  // restores the source's checksum
        Status status = check_source();
        std::memcpy(out_.data(), swapped_header.data(), sizeof(BlobHeader));
        if (!status) return status;
        return records(header_.header_bytes, header_.num_sections, entries_);
    }

    Status sections() {
        const auto of_kind = [&](BlobSectionKind kind) -> const BlobSection* {
            for (const BlobSection& entry : entries_)
                if (entry.kind == static_cast<std::uint32_t>(kind)) return &entry;
            return nullptr;
        };
        // Sections that describe other sections are processed first.
        if (const BlobSection* entry = of_kind(BlobSectionKind::kSchemas))
            if (Status status = schemas(*entry); !status) return status;
        if (const BlobSection* entry = of_kind(BlobSectionKind::kComponentTypes))
            if (Status status = components(*entry); !status) return status;
        if (const BlobSection* entry = of_kind(BlobSectionKind::kArrays))
            if (Status status = arrays(*entry); !status) return status;
        for (const BlobSection& entry : entries_)
            if (Status status = note(entry); !status) return status;
        return {};
    }

    Status schemas(const BlobSection& entry) {
        BlobSchemaTable table{};
        if (Status status = record(entry.offset, table); !status) return status;
        Array<BlobSchema> schemas("blob swap");
        Array<BlobEnumerator> enumerators("blob swap");
        std::uint64_t offset = entry.offset + sizeof table;
        if (Status status = records(offset, table.num_schemas, schemas); !status) return status;
        offset += sizeof(BlobSchema) * std::uint64_t(table.num_schemas);
        if (Status status = records(offset, table.num_fields, fields_); !status) return status;
        offset += sizeof(BlobField) * std::uint64_t(table.num_fields);
        if (Status status = records(offset, table.num_enumerators, enumerators); !status) return status;
        offset += sizeof(BlobEnumerator) * std::uint64_t(table.num_enumerators);
        std::span<const BlobField> fields(fields_);
        for (const BlobSchema& schema : schemas) {
            if (schema.num_fields > fields.size())
                return Status::error("the blob has fewer fields than its schemas say");
            schemas_.push_back({schema, fields.first(schema.num_fields)});
            fields = fields.subspan(schema.num_fields);
            if (Status status = default_image(schemas_.back(), offset); !status) return status;
            offset += round_up(schema.struct_bytes, 8);
        }
        return {};
    }

    Status default_image(const SwappedSchema& schema, std::uint64_t offset) {
        for (const BlobField& field : schema.fields) {
            if (field.type == 0 || field.type >= static_cast<std::uint32_t>(FieldType::kOpaque))
                return Status::error(concat("the blob has a field of unknown type ", field.type));
            const std::uint64_t bytes =
                std::uint64_t(field.value_bytes) * (field.array_length == 0 ? 1 : field.array_length);
            if (bytes == 0 || field.struct_offset + bytes > schema.record.struct_bytes)
                return Status::error("the blob has a field that lies outside its struct");
            if (Status status = field_values(field, offset + field.struct_offset, bytes); !status) return status;
        }
        return {};
    }

    Status components(const BlobSection& entry) {
        Array<BlobComponentType> types("blob swap");
        if (Status status = records(entry.offset, header_.num_component_types, types); !status) return status;
        std::uint64_t offset = entry.offset + sizeof(BlobComponentType) * std::uint64_t(types.size());
        Array<std::uint64_t> columns("blob swap");
        for (const BlobComponentType& type : types) {
            if (type.schema >= schemas_.size()) return Status::error("the blob lacks the schema of a component type");
            if (Status status = claim(offset, std::uint64_t(8) * type.num_columns); !status) return status;
            columns.resize(type.num_columns);
            for (std::uint64_t& column : columns) {
                std::byte* place = out_.data() + offset;
                if (!is_foreign_) std::memcpy(&column, place, 8);
                reverse(place, 8);
                if (is_foreign_) std::memcpy(&column, place, 8);
                offset += 8;
            }
            if (Status status = component_type(type, columns.data()); !status) return status;
        }
        return {};
    }

    Status component_type(const BlobComponentType& type, const std::uint64_t* column_offset) {
        if (Status status = numbers(type.data_offset, std::uint64_t(4) * type.count, 4); !status) return status;
        const SwappedSchema& schema = schemas_[type.schema];
        if ((schema.record.flags & kBlobSchemaWhole) != 0 && !schema.fields.empty())
            return type.num_columns == 1 ? whole_column(schema, *column_offset, type.count)
                                         : Status::error("the blob has a whole component with several columns");
        std::uint32_t next_column = 0;
        for (const BlobField& field : schema.fields) {
            const bool is_split = (field.flags & kBlobFieldSplit) != 0;
            const std::uint32_t num_columns = is_split ? field_type_lanes(static_cast<FieldType>(field.type)) : 1;
            // default_image has checked that this is at most the size of a struct, so the product fits in 64 bits.
            const std::uint64_t bytes =
                std::uint64_t(field.value_bytes) * (field.array_length == 0 ? 1 : field.array_length);
            if (num_columns > type.num_columns - next_column)
                return Status::error("the blob has a component type with fewer columns than its schema");
            for (std::uint32_t i = 0; i < num_columns; ++i) {
                const std::uint64_t offset = column_offset[next_column++];
                if (Status status = field_values(field, offset, bytes / num_columns * type.count); !status)
                    return status;
            }
        }
        return {};
    }

    Status whole_column(const SwappedSchema& schema, std::uint64_t offset, std::uint32_t count) {
        const std::uint64_t stride = schema.record.struct_bytes;
        for (std::uint32_t i = 0; i < count; ++i)
            if (Status status = default_image(schema, offset + i * stride); !status) return status;
        return {};
    }

    Status arrays(const BlobSection& entry) {
        Array<BlobArrayEntry> arrays("blob swap");
        if (Status status = records(entry.offset, entry.num_bytes / sizeof(BlobArrayEntry), arrays); !status)
            return status;
        for (const BlobArrayEntry& array : arrays) {
            BlobField element{};
            element.type = static_cast<std::uint8_t>(array.element_type);
            if (array.element_type > 0xFF || !is_array_element(static_cast<FieldType>(element.type)))
                return Status::error("the blob has an array with elements of an unknown type");
            const std::uint64_t bytes =
                std::uint64_t(array.count) * field_type_bytes(static_cast<FieldType>(element.type));
            if (Status status = field_values(element, array.offset, bytes); !status) return status;
        }
        return {};
    }

    /// Swaps a section that does not depend on other sections.
    Status note(const BlobSection& entry) {
        const std::uint64_t n = header_.num_entities;
        switch (static_cast<BlobSectionKind>(entry.kind)) {
            case BlobSectionKind::kSchemas:
            case BlobSectionKind::kComponentTypes:
            case BlobSectionKind::kComponentData:
            case BlobSectionKind::kArrays:
            case BlobSectionKind::kArrayData:
                return {};
            case BlobSectionKind::kParents:
            case BlobSectionKind::kNames:
            case BlobSectionKind::kSources:
            case BlobSectionKind::kKeptTexts:
            case BlobSectionKind::kDependencies:
            case BlobSectionKind::kOffsetTables:
                return numbers(entry.offset, entry.num_bytes, 4);
            case BlobSectionKind::kStrings: {
                BlobStringTable table{};
                if (Status status = record(entry.offset, table); !status) return status;
                return numbers(entry.offset + sizeof table, 8 * (std::uint64_t(table.num_strings) + 1), 8);
            }
            case BlobSectionKind::kGuids: {
                if (Status status = numbers(entry.offset, 8 * n, 8); !status) return status;
                return numbers(entry.offset + 8 * n, 4 * n, 4);
            }
            case BlobSectionKind::kOrigin: {
                BlobOrigin origin{};
                if (Status status = record(entry.offset, origin); !status) return status;
                const std::uint64_t num_rest = entry.num_bytes - sizeof origin,
                                    num_type_bytes = std::uint64_t(origin.num_types) * sizeof(BlobOriginType);
                if (num_type_bytes > num_rest)
                    return Status::error("the blob has an origin with too many component types");
                const std::uint64_t num_hash_bytes = num_rest - num_type_bytes, hashes = entry.offset + sizeof origin;
                if (Status status = numbers(hashes, num_hash_bytes, 8); !status) return status;
                Array<BlobOriginType> types("blob swap");
                return records(hashes + num_hash_bytes, origin.num_types, types);
            }
            case BlobSectionKind::kTexts: {
                Array<BlobText> texts("blob swap");
                return records(entry.offset, entry.num_bytes / sizeof(BlobText), texts);
            }
        }
        return Status::error(
            concat("section kind ", entry.kind, " is of a later version; its byte order is not known here"));
    }

    void sign() {
        const std::size_t start = offsetof(BlobHeader, total_bytes);
        const std::uint64_t checksum = hash_bytes(out_.data() + start, out_.size() - start);
        std::byte* place = out_.data() + offsetof(BlobHeader, checksum);
        std::memcpy(place, &checksum, sizeof checksum);
        if (!is_foreign_) reverse(place, sizeof checksum);
    }

    std::vector<std::byte> out_;
    std::uint64_t bytes_left_;  // each byte is swapped at most once, so a damaged blob cannot take longer
    bool is_foreign_ = false;
    BlobHeader header_{};
    Array<BlobSection> entries_{Owner("blob swap")};
    Array<BlobField> fields_{Owner("blob swap")};
    Array<SwappedSchema> schemas_{Owner("blob swap")};
};

}  // namespace

Result<std::vector<std::byte>> swap_endianness(std::span<const std::byte> bytes) {
    Swapper swapper(bytes);
    if (Status status = swapper.run(); !status) return status;
    return swapper.take();
}

}  // namespace shoal
