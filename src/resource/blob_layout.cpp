// From what a BlobWriter was told to bytes.

#include "resource/blob_content.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace shoal {
namespace {

/// Copies `count` values of `bytes`, `from_stride` apart, to where they are `to_stride` apart.
void copy_strided(std::byte* to, std::size_t to_stride, const std::byte* from, std::size_t from_stride,
                  std::size_t bytes, std::size_t count) {
    const auto copy = [&](auto size) {
        for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, size);
    };
    switch (bytes) {
        case 4:
            return copy(std::integral_constant<std::size_t, 4>());
        case 8:
            return copy(std::integral_constant<std::size_t, 8>());
        case 12:
            return copy(std::integral_constant<std::size_t, 12>());
        case 16:
            return copy(std::integral_constant<std::size_t, 16>());
        default:
            return copy(bytes);
    }
}

class BlobLayout {
public:
    BlobLayout(const BlobContent& content, bool offset_tables);
    std::vector<std::byte> take();

private:
    using WriteSection = void (BlobLayout::*)();
    struct PlannedSection {
        BlobSectionKind kind;
        bool is_required;
        bool is_present;
        WriteSection write;
    };

    void write_strings();
    void write_schemas();
    void write_field(const Field& field, const std::uint32_t*& string);
    void write_parents() { append(std::span(content_.parents)); }
    void write_arrays();
    void write_array_data() { append(std::span(content_.array_data)); }
    void write_component_types();
    void write_component_data();
    void write_column(const BlobContent::ComponentType& type, std::uint32_t column);
    void write_guids();
    void write_names();
    void write_sources() { append(std::span(content_.sources)); }
    void write_texts();
    void write_kept_texts() { append(std::span(content_.kept_texts)); }
    void write_dependencies() { append(std::span(content_.dependencies)); }
    void write_offset_tables();
    void finish();

    template <class T>
    void append(std::span<const T> values) {
        const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
        out_.insert(out_.end(), bytes, bytes + values.size_bytes());
    }
    template <class T>
    void append(const T& value) {
        append(std::span<const T>(&value, 1));
    }
    template <class T>
    void append(std::span<T> values) {
        append(std::span<const T>(values));
    }
    template <class T>
    void put(std::size_t offset, const T& value) {
        std::memcpy(out_.data() + offset, &value, sizeof value);
    }
    void align(std::size_t alignment) { out_.resize(round_up(out_.size(), alignment)); }
    const BlobContent::ComponentType& type(std::size_t position) const { return content_.types[order_[position]]; }

    const BlobContent& content_;
    std::vector<std::uint32_t> order_;  // component types by spawn order, then name
    std::vector<std::byte> out_;
    std::size_t array_data_offset_ = 0;
    std::size_t types_offset_ = 0;
    std::uint32_t num_sections_ = 0;
};

BlobLayout::BlobLayout(const BlobContent& content, bool offset_tables)
    : content_(content), order_(content.types.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
        const BlobContent::ComponentType &x = content.types[a], &y = content.types[b];
        return x.spawn_order != y.spawn_order ? x.spawn_order < y.spawn_order : x.schema.name() < y.schema.name();
    });
    using Kind = BlobSectionKind;
    const bool has_arrays = !content.arrays.empty();
    const PlannedSection plan[] = {
        {Kind::kStrings, true, true, &BlobLayout::write_strings},
        {Kind::kSchemas, true, true, &BlobLayout::write_schemas},
        {Kind::kParents, true, true, &BlobLayout::write_parents},
        {Kind::kArrays, true, has_arrays, &BlobLayout::write_arrays},
        {Kind::kArrayData, true, has_arrays, &BlobLayout::write_array_data},
        {Kind::kComponentTypes, true, true, &BlobLayout::write_component_types},
        {Kind::kComponentData, true, true, &BlobLayout::write_component_data},
        {Kind::kGuids, false, content.has_guids, &BlobLayout::write_guids},
        {Kind::kNames, false, content.has_names, &BlobLayout::write_names},
        {Kind::kSources, false, content.has_sources, &BlobLayout::write_sources},
        {Kind::kTexts, false, !content.texts.empty(), &BlobLayout::write_texts},
        {Kind::kKeptTexts, false, !content.kept_texts.empty(), &BlobLayout::write_kept_texts},
        {Kind::kDependencies, false, !content.dependencies.empty(), &BlobLayout::write_dependencies},
        {Kind::kOffsetTables, false, offset_tables, &BlobLayout::write_offset_tables}};
    for (const PlannedSection& section : plan) num_sections_ += section.is_present;
    std::size_t entry_offset = sizeof(BlobHeader);
    out_ = std::vector<std::byte>(sizeof(BlobHeader) + num_sections_ * sizeof(BlobSection));
    for (const PlannedSection& section : plan) {
        if (!section.is_present) continue;
        align(kBlobAlignment);
        const std::size_t begin = out_.size();
        (this->*section.write)();
        put(entry_offset, BlobSection{static_cast<std::uint32_t>(section.kind), 1,
                                      section.is_required ? kBlobSectionRequired : 0, 0, begin, out_.size() - begin});
        entry_offset += sizeof(BlobSection);
    }
    align(kBlobAlignment);
    finish();
}

std::vector<std::byte> BlobLayout::take() { return std::move(out_); }

void BlobLayout::write_strings() {
    const std::uint32_t count = content_.strings.size();
    append(BlobStringTable{count, 0});
    std::uint64_t offset = sizeof(BlobStringTable) + 8 * (std::uint64_t(count) + 1);
    for (std::uint32_t i = 0; i < count; ++i) {
        append(offset);
        offset += content_.strings.text(i).size() + 1;
    }
    append(offset);
    for (std::uint32_t i = 0; i < count; ++i) {
        append(std::span<const char>(content_.strings.text(i)));
        append('\0');
    }
}

void BlobLayout::write_schemas() {
    BlobSchemaTable table{static_cast<std::uint32_t>(order_.size()), 0, 0, 0};
    for (const BlobContent::ComponentType& t : content_.types) {
        table.num_fields += static_cast<std::uint32_t>(t.schema.fields().size());
        for (const Field& field : t.schema.fields())
            table.num_enumerators += static_cast<std::uint32_t>(field.enumerators.size());
    }
    append(table);
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const Schema& schema = type(i).schema;
        const std::uint32_t flags = (schema.whole() ? kBlobSchemaWhole : 0) |
                                    (schema.toggled() ? kBlobSchemaToggled : 0) | (schema.many() ? kBlobSchemaMany : 0);
        append(BlobSchema{type(i).strings[0], schema.version(), flags,
                          static_cast<std::uint32_t>(schema.fields().size()), schema.struct_bytes(),
                          schema.struct_alignment(), schema.layout_hash()});
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::uint32_t* string = type(i).strings.data() + 1;
        for (const Field& field : type(i).schema.fields()) write_field(field, string);
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::uint32_t* string = type(i).strings.data() + 1;
        for (const Field& field : type(i).schema.fields()) {
            string += 2;
            for (const EnumeratorDefinition& e : field.enumerators) append(BlobEnumerator{*string++, 0, e.value});
        }
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
        append(type(i).schema.default_image());
        align(8);
    }
}

void BlobLayout::write_field(const Field& field, const std::uint32_t*& string) {
    const int flags = (field.split ? kBlobFieldSplit : 0) | (field.has_range ? kBlobFieldHasRange : 0);
    append(BlobField{.name = string[0],
                     .type = static_cast<std::uint8_t>(field.type),
                     .element_type = static_cast<std::uint8_t>(field.element_type),
                     .flags = static_cast<std::uint8_t>(flags),
                     .reserved = 0,
                     .array_length = field.array_length,
                     .value_bytes = field.value_bytes,
                     .struct_offset = field.struct_offset,
                     .unit = string[1],
                     .num_enumerators = static_cast<std::uint32_t>(field.enumerators.size()),
                     .reserved2 = 0,
                     .minimum = field.minimum,
                     .maximum = field.maximum});
    string += 2 + field.enumerators.size();
}

void BlobLayout::write_arrays() {
    const std::size_t table_end = out_.size() + content_.arrays.size() * sizeof(BlobArrayEntry);
    array_data_offset_ = round_up(table_end, kBlobAlignment);  // the next section
    for (BlobArrayEntry entry : content_.arrays) {
        entry.offset += array_data_offset_;
        append(entry);
    }
}

/// The table with its offsets left open; write_component_data fills them in.
void BlobLayout::write_component_types() {
    types_offset_ = out_.size();
    std::size_t num_columns = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const Schema& schema = type(i).schema;
        append(BlobComponentType{schema.id().hash, static_cast<std::uint32_t>(i),
                                 static_cast<std::uint32_t>(type(i).owners.size()), type(i).spawn_order,
                                 static_cast<std::uint32_t>(schema.columns().size()), 0, 0});
        num_columns += schema.columns().size();
    }
    out_.resize(out_.size() + num_columns * sizeof(std::uint64_t));
}

void BlobLayout::write_component_data() {
    std::size_t column_entry = types_offset_ + order_.size() * sizeof(BlobComponentType);
    for (std::size_t i = 0; i < order_.size(); ++i) {
        align(kBlobAlignment);
        const std::size_t begin = out_.size();
        append(std::span(type(i).owners));
        for (std::uint32_t c = 0; c < type(i).schema.columns().size(); ++c) {
            const std::size_t bytes = type(i).schema.columns()[c].element_bytes * type(i).owners.size();
            align(bytes >= kBlobLargeColumnBytes ? kBlobColumnAlignment : kBlobAlignment);
            put(column_entry, std::uint64_t(out_.size()));
            column_entry += sizeof(std::uint64_t);
            write_column(type(i), c);
        }
        const std::size_t entry = types_offset_ + i * sizeof(BlobComponentType);
        put(entry + offsetof(BlobComponentType, data_offset), std::uint64_t(begin));
        put(entry + offsetof(BlobComponentType, data_bytes), std::uint64_t(out_.size() - begin));
    }
}

/// A whole component is copied field by field, so that what lies between the fields is zero.
void BlobLayout::write_column(const BlobContent::ComponentType& t, std::uint32_t column_index) {
    const ColumnDefinition& column = t.schema.columns()[column_index];
    const std::size_t begin = out_.size(), count = t.owners.size(), struct_bytes = t.schema.struct_bytes();
    out_.resize(begin + column.element_bytes * count);
    const auto copy = [&](std::uint32_t from, std::uint32_t to, std::uint32_t bytes) {
        copy_strided(out_.data() + begin + to, column.element_bytes, t.images.data() + from, struct_bytes, bytes,
                     count);
    };
    const auto place_arrays = [&](const Field& field, std::size_t first) {
        if (field.type != FieldType::kBlobArray) return;
        for (std::size_t i = 0; i < count * field.num_values(); ++i) {
            const std::size_t offset =
                first + i / field.num_values() * column.element_bytes + i % field.num_values() * sizeof(BlobArrayBase);
            BlobArrayBase array;
            std::memcpy(&array, out_.data() + offset, sizeof array);
            if (array.count == 0) continue;
            array.resource = ResourceId(content_.strings.text(content_.name));
            array.offset += array_data_offset_;
            put(offset, array);
        }
    };
    if (column.field_index != ColumnDefinition::kWholeComponent) {
        copy(column.struct_offset, 0, column.element_bytes);
        return place_arrays(t.schema.fields()[column.field_index], begin);
    }
    for (const Field& field : t.schema.fields()) {
        copy(field.struct_offset, field.struct_offset, field.size);
        place_arrays(field, begin + field.struct_offset);
    }
}

void BlobLayout::write_guids() {
    std::vector<std::uint32_t> order(content_.guids.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return content_.guids[a] != content_.guids[b] ? content_.guids[a] < content_.guids[b] : a < b;
    });
    append(std::span(content_.guids));
    append(std::span(order));
}

void BlobLayout::write_names() {
    const std::vector<std::uint32_t>& names = content_.names;
    std::vector<std::uint32_t> order(names.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return names[a] != names[b] ? content_.strings.text(names[a]) < content_.strings.text(names[b]) : a < b;
    });
    append(std::span(names));
    append(std::span(order));
}

void BlobLayout::write_texts() {
    std::vector<BlobText> texts = content_.texts;
    std::sort(texts.begin(), texts.end(), [](const BlobText& a, const BlobText& b) { return a.hash < b.hash; });
    append(std::span(texts));
}

void BlobLayout::write_offset_tables() {
    std::vector<std::uint32_t> first_row(content_.parents.size() + 1);
    for (const BlobContent::ComponentType& t : content_.types)
        for (const std::uint32_t owner : t.owners) ++first_row[owner + 1];
    std::partial_sum(first_row.begin(), first_row.end(), first_row.begin());
    std::vector<BlobRow> rows(first_row.back());
    std::vector<std::uint32_t> next = first_row;
    for (std::uint32_t i = 0; i < order_.size(); ++i)
        for (std::uint32_t row = 0; row < type(i).owners.size(); ++row) rows[next[type(i).owners[row]]++] = {i, row};
    append(std::span(first_row));
    append(std::span(rows));
}

void BlobLayout::finish() {
    BlobHeader header{};
    std::memcpy(header.magic, kBlobMagic, sizeof kBlobMagic);
    header.endianness = kBlobEndianness;
    header.format_version = kBlobVersion;
    header.total_bytes = out_.size();
    header.resource_id = ResourceId(content_.strings.text(content_.name)).hash;
    header.header_bytes = sizeof(BlobHeader);
    header.column_alignment = kBlobColumnAlignment;
    header.entity_bytes = sizeof(Entity);
    header.num_entities = static_cast<std::uint32_t>(content_.parents.size());
    header.num_roots =
        static_cast<std::uint32_t>(std::count(content_.parents.begin(), content_.parents.end(), kNoBlobEntity));
    header.num_component_types = static_cast<std::uint32_t>(content_.types.size());
    header.num_sections = num_sections_;
    header.name = content_.name;
    put(0, header);
    const std::size_t start = offsetof(BlobHeader, total_bytes);
    header.checksum = hash_bytes(out_.data() + start, out_.size() - start);
    put(0, header);
}

}  // namespace

std::vector<std::byte> BlobContent::lay_out(bool offset_tables) const {
    return BlobLayout(*this, offset_tables).take();
}

}  // namespace shoal
