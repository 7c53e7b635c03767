// A BlobWriter collects entities and components in a BlobContent; a BlobLayout writes them as bytes.

#include "shoal/resource/blob_writer.h"

#include "resource/blob_check.h"
#include "shoal/base/detail/bytes.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/detail/large_pages.h"
#include "shoal/base/text.h"
#include "shoal/table/detail/copy_elements.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <numeric>

namespace shoal {
namespace {

/// Keeps each string once. Strings are numbered in the order of their first use. String 0 is empty.
class StringPool {
public:
    StringPool() { texts_.emplace_back(); }
    std::uint32_t intern(std::string_view text);
    std::string_view text(std::uint32_t index) const { return texts_[index]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(texts_.size()); }
    std::size_t num_bytes() const { return num_bytes_; }

private:
    std::deque<std::string> texts_;  // a deque, because a deque does not move its elements
    HashMap<std::string_view, std::uint32_t> index_of_{Owner("blob writer")};
    std::size_t num_bytes_ = 0;  // size of the table in a blob
};

std::uint32_t StringPool::intern(std::string_view text) {
    if (text.empty()) return 0;
    if (const std::uint32_t* const known = index_of_.find(text)) return *known;
    const std::uint32_t index = size();
    num_bytes_ += text.size() + 1 + sizeof(std::uint64_t);
    return index_of_.add(texts_.emplace_back(text), index);
}

}  // namespace

// --- content ---------------------------------------------------------------------------------------------------------

struct BlobContent {
    struct ComponentType {
        Schema schema;
        std::int32_t spawn_order;
        /// Strings of the schema: its name, and then for each field the name, the unit and the enumerators.
        std::vector<std::uint32_t> strings;
        std::vector<std::uint32_t> owners;            ///< by component
        std::vector<std::uint32_t> order;             ///< order in the blob; empty if it was not changed
        std::vector<std::vector<std::byte>> columns;  ///< by column of the schema: an element per component
        /// Struct images of the components that were added last, which are not in the columns yet. They are few enough
        /// to stay in the cache.
        std::vector<std::byte> images;

        void add_image(std::span<const std::byte> image);
        void spread_images();
        void append_to_column(std::size_t column_index, const std::byte* first, std::size_t stride, std::size_t count);
    };

    StringPool strings;
    std::uint32_t name = 0;
    // One element per entity.
    std::vector<std::uint32_t> parents;
    std::vector<std::uint64_t> guids;
    std::vector<std::uint32_t> names;
    std::vector<BlobSource> sources;
    bool has_guids = false, has_names = false, has_sources = false;

    std::vector<ComponentType> types;
    std::vector<BlobArrayEntry> arrays;  ///< offsets into array_data
    std::vector<std::byte> array_data;
    HashMap<std::uint64_t, std::uint32_t> array_of{Owner("blob writer")};  ///< hash to array
    std::vector<BlobText> texts;
    HashMap<StringId, std::uint32_t> text_of{Owner("blob writer")};  ///< id to string
    std::vector<BlobKeptText> kept_texts;
    std::vector<BlobDependency> dependencies;
    std::vector<std::uint64_t> dependency_hashes;                             ///< by dependency
    HashMap<std::uint64_t, std::size_t> dependency_of{Owner("blob writer")};  ///< by kind << 32 | path
    BlobOrigin origin{};
    bool has_origin = false;
    std::vector<BlobOriginType> origin_types;
};

constexpr std::size_t kMostImageBytes = std::size_t(16) << 10;

void BlobContent::ComponentType::add_image(std::span<const std::byte> image) {
    images.insert(images.end(), image.begin(), image.end());
    if (images.size() >= kMostImageBytes) spread_images();
}

/// Moves the images to the columns.
void BlobContent::ComponentType::spread_images() {
    if (images.empty()) return;
    const std::size_t stride = schema.struct_bytes(), count = images.size() / stride;
    for (std::size_t c = 0; c < columns.size(); ++c)
        append_to_column(c, images.data() + schema.columns()[c].struct_offset, stride, count);
    images.clear();
}

/// Adds elements that are `stride` bytes apart. A whole component is copied field by field, so that the gaps
/// between the fields are zero.
void BlobContent::ComponentType::append_to_column(std::size_t column_index, const std::byte* first, std::size_t stride,
                                                  std::size_t count) {
    const ColumnDefinition& column = schema.columns()[column_index];
    std::vector<std::byte>& to = columns[column_index];
    const std::size_t begin = to.size(), bytes = column.element_bytes;
    if (column.field_index != ColumnDefinition::kWholeComponent && stride == bytes)
        return static_cast<void>(to.insert(to.end(), first, first + count * bytes));
    to.resize(begin + count * bytes);
    if (column.field_index != ColumnDefinition::kWholeComponent)
        return copy_strided(to.data() + begin, bytes, {first, stride}, count, bytes);
    for (const Field& field : schema.fields())
        copy_strided(to.data() + begin + field.struct_offset, bytes, {first + field.struct_offset, stride}, count,
                     field.size);
}

// --- bytes -----------------------------------------------------------------------------------------------------------

namespace {

/// Returns the owners of components in blob order.
std::vector<std::uint32_t> owners_in_order(const BlobContent::ComponentType& t) {
    if (t.order.empty()) return t.owners;
    std::vector<std::uint32_t> result(t.order.size());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = t.owners[t.order[i]];
    return result;
}

class BlobLayout {
public:
    BlobLayout(const BlobContent& content, bool offset_tables) : content_(content), order_(content.types.size()) {
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
            {Kind::kOffsetTables, false, offset_tables, &BlobLayout::write_offset_tables},
            {Kind::kOrigin, false, content.has_origin, &BlobLayout::write_origin}};
        for (const PlannedSection& section : plan) num_sections_ += section.is_present;
        std::size_t entry_offset = sizeof(BlobHeader);
        out_.reserve(expected_bytes());
        prefer_large_pages_inside(out_.data(), out_.capacity());
        out_.resize(sizeof(BlobHeader) + num_sections_ * sizeof(BlobSection));
        for (const PlannedSection& section : plan) {
            if (!section.is_present) continue;
            align(kBlobAlignment);
            const std::size_t begin = out_.size();
            (this->*section.write)();
            put(entry_offset,
                BlobSection{static_cast<std::uint32_t>(section.kind), 1, section.is_required ? kBlobSectionRequired : 0,
                            0, begin, out_.size() - begin});
            entry_offset += sizeof(BlobSection);
        }
        align(kBlobAlignment);
        finish();
    }

    std::vector<std::byte> take() { return std::move(out_); }

    /// Estimates the size of the blob, without its small sections.
    std::size_t expected_bytes() const {
        std::size_t bytes = content_.array_data.size() + content_.strings.num_bytes();
        bytes += content_.parents.size() * sizeof(std::uint32_t);
        if (content_.has_guids) bytes += content_.guids.size() * (sizeof(std::uint64_t) + sizeof(std::uint32_t));
        if (content_.has_names) bytes += content_.names.size() * 2 * sizeof(std::uint32_t);
        if (content_.has_sources) bytes += content_.sources.size() * sizeof(BlobSource);
        for (const BlobContent::ComponentType& t : content_.types) {
            bytes += t.owners.size() * sizeof(std::uint32_t) + kBlobAlignment;
            for (const std::vector<std::byte>& column : t.columns) bytes += column.size() + kBlobColumnAlignment;
        }
        return bytes;
    }

private:
    using WriteSection = void (BlobLayout::*)();
    struct PlannedSection {
        BlobSectionKind kind;
        bool is_required;
        bool is_present;
        WriteSection write;
    };

    void write_parents() { append(std::span(content_.parents)); }
    void write_array_data() { append(std::span(content_.array_data)); }
    void write_sources() { append(std::span(content_.sources)); }
    void write_kept_texts() { append(std::span(content_.kept_texts)); }
    void write_dependencies() { append(std::span(content_.dependencies)); }

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

    void write_strings() {
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

    void write_schemas() {
        BlobSchemaTable table{static_cast<std::uint32_t>(order_.size()), 0, 0, 0};
        for (const BlobContent::ComponentType& t : content_.types) {
            table.num_fields += static_cast<std::uint32_t>(t.schema.fields().size());
            for (const Field& field : t.schema.fields())
                table.num_enumerators += static_cast<std::uint32_t>(field.enumerators.size());
        }
        append(table);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const Schema& schema = type(i).schema;
            const std::uint32_t flags =
                (schema.whole() ? kBlobSchemaWhole : 0) | (schema.enableable() ? kBlobSchemaEnableable : 0) |
                (schema.many() ? kBlobSchemaMany : 0) | (schema.singleton() ? kBlobSchemaSingleton : 0);
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

    void write_field(const Field& field, const std::uint32_t*& string) {
        const int flags = (field.split ? kBlobFieldSplit : 0) | (field.has_range ? kBlobFieldHasRange : 0);
        append(BlobField{.name = string[0],
                         .type = static_cast<std::uint8_t>(field.type),
                         .element_type = static_cast<std::uint8_t>(field.element_type),
                         .flags = static_cast<std::uint8_t>(flags),
                         .relation = static_cast<std::uint8_t>(field.relation),
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

    void write_origin() {
        BlobOrigin origin = content_.origin;
        origin.num_types = static_cast<std::uint32_t>(content_.origin_types.size());
        append(origin);
        append(std::span(content_.dependency_hashes));
        append(std::span(content_.origin_types));
    }

    void write_arrays() {
        const std::size_t table_end = out_.size() + content_.arrays.size() * sizeof(BlobArrayEntry);
        array_data_offset_ = round_up(table_end, kBlobAlignment);  // the next section
        for (BlobArrayEntry entry : content_.arrays) {
            entry.offset += array_data_offset_;
            append(entry);
        }
    }

    /// Writes the table without its offsets; write_component_data fills them in.
    void write_component_types() {
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

    void write_component_data() {
        std::size_t column_entry = types_offset_ + order_.size() * sizeof(BlobComponentType);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            align(kBlobAlignment);
            const std::size_t begin = out_.size();
            const std::vector<std::uint32_t> owners = owners_in_order(type(i));
            append(std::span(owners));
            for (std::size_t c = 0; c < type(i).columns.size(); ++c) {
                const std::size_t bytes = type(i).columns[c].size();
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

    void append_column(const BlobContent::ComponentType& t, std::size_t column_index) {
        const std::vector<std::byte>& column = t.columns[column_index];
        if (t.order.empty()) return append(std::span(column));
        const std::size_t begin = out_.size(), bytes = t.schema.columns()[column_index].element_bytes;
        out_.resize(begin + column.size());
        copy_elements(out_.data() + begin, RowRange{0, static_cast<std::uint32_t>(t.order.size())},
                      {column.data(), bytes}, std::span(t.order), bytes);
    }

    /// Writes a column. This also fills in the offsets of arrays, which are known only now.
    void write_column(const BlobContent::ComponentType& t, std::size_t column_index) {
        const ColumnDefinition& column = t.schema.columns()[column_index];
        const std::size_t begin = out_.size();
        append_column(t, column_index);
        for (const Field& field : t.schema.fields()) {
            if (field.type != FieldType::kBlobArray || field.first_column != column_index) continue;
            for (std::size_t i = 0; i < t.owners.size() * field.num_values(); ++i)
                place_array(begin + t.schema.offset_in_column(field) + i / field.num_values() * column.element_bytes +
                            i % field.num_values() * sizeof(BlobArrayBase));
        }
    }

    void place_array(std::size_t offset) {
        auto array = read_as<BlobArrayBase>(out_.data() + offset);
        if (array.count == 0) return;
        array.resource = ResourceId(content_.strings.text(content_.name));
        array.offset += array_data_offset_;
        put(offset, array);
    }

    void write_guids() {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted(content_.guids.size());
        for (std::uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = {content_.guids[i], i};
        std::sort(sorted.begin(), sorted.end());
        append(std::span(content_.guids));
        for (const auto& [guid, entity] : sorted) append(entity);
    }

    /// Sorts the distinct names, then the entities by the rank of their names. Many entities may share a name.
    void write_names() {
        const std::vector<std::uint32_t>& names = content_.names;
        std::vector<std::uint32_t> texts(content_.strings.size()), first(texts.size() + 1), rank(texts.size());
        std::iota(texts.begin(), texts.end(), 0);
        std::sort(texts.begin(), texts.end(), [&](std::uint32_t a, std::uint32_t b) {
            return content_.strings.text(a) < content_.strings.text(b);
        });
        for (std::uint32_t i = 0; i < texts.size(); ++i) rank[texts[i]] = i;
        for (const std::uint32_t name : names) ++first[rank[name] + 1];
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<std::uint32_t> order(names.size());
        for (std::uint32_t i = 0; i < names.size(); ++i) order[first[rank[names[i]]]++] = i;
        append(std::span(names));
        append(std::span(order));
    }

    void write_texts() {
        std::vector<BlobText> texts = content_.texts;
        std::sort(texts.begin(), texts.end(), [](const BlobText& a, const BlobText& b) { return a.hash < b.hash; });
        append(std::span(texts));
    }

    void write_offset_tables() {
        std::vector<std::uint32_t> first_row(content_.parents.size() + 1);
        for (const BlobContent::ComponentType& t : content_.types)
            for (const std::uint32_t owner : t.owners) ++first_row[owner + 1];
        std::partial_sum(first_row.begin(), first_row.end(), first_row.begin());
        std::vector<BlobRow> rows(first_row.back());
        std::vector<std::uint32_t> next = first_row;
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            const std::vector<std::uint32_t> owners = owners_in_order(type(i));
            for (std::uint32_t row = 0; row < owners.size(); ++row) rows[next[owners[row]]++] = {i, row};
        }
        append(std::span(first_row));
        append(std::span(rows));
    }

    void finish() {
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

    const BlobContent& content_;
    std::vector<std::uint32_t> order_;  // by spawn order, then by name
    std::vector<std::byte> out_;
    std::size_t array_data_offset_ = 0;
    std::size_t types_offset_ = 0;
    std::uint32_t num_sections_ = 0;
};

}  // namespace

// --- the writer ------------------------------------------------------------------------------------------------------

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
        content_->types.emplace_back(BlobContent::ComponentType{schema, spawn_order, {}, {}, {}, {}, {}});
    type.columns.resize(schema.columns().size());
    StringPool& strings = content_->strings;
    type.strings.push_back(strings.intern(schema.name()));
    for (const Field& field : schema.fields()) {
        type.strings.push_back(strings.intern(field.name));
        type.strings.push_back(strings.intern(field.unit));
        for (const EnumeratorDefinition& e : field.enumerators) type.strings.push_back(strings.intern(e.name));
    }
    return static_cast<std::uint32_t>(content_->types.size() - 1);
}

void BlobWriter::reserve_components(std::uint32_t type_index, std::size_t count) {
    SHOAL_ASSERT(type_index < content_->types.size(), "add the component type before its components");
    BlobContent::ComponentType& type = content_->types[type_index];
    type.owners.reserve(count);
    for (std::size_t c = 0; c < type.columns.size(); ++c) {
        std::vector<std::byte>& column = type.columns[c];
        column.reserve(count * type.schema.columns()[c].element_bytes);
        prefer_large_pages_inside(column.data(), column.capacity());
    }
}

void BlobWriter::add_component(std::uint32_t type_index, std::uint32_t entity_index, std::span<const std::byte> image) {
    SHOAL_ASSERT(type_index < content_->types.size(), "add the component type before its components");
    SHOAL_ASSERT(entity_index < num_entities(), "add the entity before its components");
    BlobContent::ComponentType& type = content_->types[type_index];
    SHOAL_ASSERT(image.size() == type.schema.struct_bytes(), "the image is of another struct");
    SHOAL_ASSERT(type.order.empty(), "the order of the components of a type is set when all are there");
    type.owners.push_back(entity_index);
    type.add_image(image);
}

void BlobWriter::add_components(std::uint32_t type_index, std::span<const std::uint32_t> entity_index,
                                std::span<const std::byte* const> columns) {
    SHOAL_ASSERT(type_index < content_->types.size(), "add the component type before its components");
    BlobContent::ComponentType& type = content_->types[type_index];
    SHOAL_ASSERT(columns.size() == type.schema.columns().size(), "one pointer per column of the schema is needed");
    SHOAL_ASSERT(type.order.empty(), "the order of the components of a type is set when all are there");
    for (const std::uint32_t entity : entity_index)
        SHOAL_ASSERT(entity < num_entities(), "add the entity before its components");
    type.owners.insert(type.owners.end(), entity_index.begin(), entity_index.end());
    type.spread_images();
    for (std::size_t c = 0; c < columns.size(); ++c)
        type.append_to_column(c, columns[c], type.schema.columns()[c].element_bytes, entity_index.size());
}

void BlobWriter::order_components(std::uint32_t type_index, std::vector<std::uint32_t> order) {
    SHOAL_ASSERT(type_index < content_->types.size(), "add the component type before its components");
    BlobContent::ComponentType& type = content_->types[type_index];
    SHOAL_ASSERT(order.empty() || order.size() == type.owners.size(), "an order of components has each of them once");
    std::vector<bool> is_listed(order.size());
    for (const std::uint32_t component : order) {
        SHOAL_ASSERT(component < order.size() && !is_listed[component], "an order of components has each of them once");
        is_listed[component] = true;
    }
    type.order = std::move(order);
}

BlobArrayBase BlobWriter::add_array(FieldType element_type, std::span<const std::byte> values) {
    SHOAL_ASSERT(is_array_element(element_type), "a blob array cannot have elements of this type");
    const std::size_t element_bytes = field_type_bytes(element_type);
    SHOAL_ASSERT(values.size() % element_bytes == 0, "the bytes are not a whole number of elements");
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

std::span<const std::byte> BlobWriter::array(const BlobArrayBase& array, FieldType element_type) const {
    const std::size_t num_bytes = std::size_t(array.count) * field_type_bytes(element_type);
    const std::vector<std::byte>& data = content_->array_data;
    SHOAL_ASSERT(array.offset <= data.size() && num_bytes <= data.size() - array.offset,
                 "the array was not added to this blob");
    return std::span(data).subspan(static_cast<std::size_t>(array.offset), num_bytes);
}

std::string_view BlobWriter::text(StringId id) const {
    const std::uint32_t* const known = content_->text_of.find(id);
    return known == nullptr ? std::string_view() : content_->strings.text(*known);
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

void BlobWriter::add_dependency(DependencyKind kind, std::string_view path, std::uint64_t hash) {
    const std::uint32_t index = content_->strings.intern(path);
    const std::uint64_t key = static_cast<std::uint64_t>(kind) << 32 | index;
    const auto [known, is_new] = content_->dependency_of.insert(key, content_->dependencies.size());
    if (is_new) {
        content_->dependencies.push_back({kind, index});
        content_->dependency_hashes.push_back(hash);
    } else if (content_->dependency_hashes[*known] != hash) {
        content_->dependency_hashes[*known] = 0;  // the file changed between two reads, so its hash is unknown
    }
}

void BlobWriter::set_origin(std::string_view compiler, std::uint64_t rules) {
    content_->origin = {content_->strings.intern(compiler), 0, rules};
    content_->has_origin = true;
}

void BlobWriter::add_origin_type(std::string_view name, std::uint64_t hash) {
    content_->origin_types.push_back({hash, content_->strings.intern(name), 0});
}

Result<std::vector<std::byte>> BlobWriter::write(const BlobWriteOptions& options) const {
    if (!content_->arrays.empty() && content_->name == 0)
        return Status::error("a blob with arrays needs a name, by which its fields refer to them");
    for (BlobContent::ComponentType& type : content_->types) type.spread_images();
    std::vector<std::byte> bytes = BlobLayout(*content_, options.offset_tables).take();
    if (const Result<Blob> blob = check_blob(bytes); !blob)
        return Status::error(
            concat("cannot write the blob \"", content_->strings.text(content_->name), "\": ", blob.message()));
    if (options.big_endian != (std::endian::native == std::endian::big)) return swap_endianness(bytes);
    return bytes;
}

}  // namespace shoal
