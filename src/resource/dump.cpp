#include "shoal/resource/detail/dump.h"

#include "resource/blob_check.h"
#include "shoal/base/detail/bytes.h"
#include "shoal/document/document_builder.h"
#include "shoal/resource/detail/property_table.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/resource/migration.h"
#include "shoal/table/detail/value_text.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>
#include <vector>

namespace shoal {

void write_elements(DocumentBuilder& builder, std::span<const std::byte> values, FieldType element,
                    const ValueNames& names) {
    const ValueType type{element, FieldType(0), 0, field_type_bytes(element), {}};
    builder.begin_list();
    for (std::size_t i = 0; i < values.size(); i += type.value_bytes)
        write_value(builder, type, values.data() + i, names);
    builder.end();
}

namespace {

/// Texts and arrays come from the blob; references are entity indices.
class BlobNames final : public ValueNames {
public:
    explicit BlobNames(const Blob& blob) : blob_(blob) {}

    std::string_view text(StringId id) const override { return blob_.text(id); }
    void write_entity(DocumentBuilder& builder, Entity entity) const override {
        entity.id < blob_.num_entities() ? builder.unsigned_integer(entity.id) : builder.null();
    }
    void write_array(DocumentBuilder& builder, const BlobArrayBase& array, FieldType element) const override {
        write_elements(builder, blob_.array(array, element), element, *this);
    }

private:
    const Blob& blob_;
};

constexpr std::string_view kDependencyKinds[] = {"", "source", "resource", "must_exist", "must_not_exist"};

/// Visits the components of a blob, entity by entity.
class ComponentOrder {
public:
    explicit ComponentOrder(const Blob& blob);

    /// Returns the next component of an entity, or nullopt. Requires: calls are in entity order.
    std::optional<BlobRow> next_of(std::uint32_t entity);

private:
    /// The position in one component type.
    struct Cursor {
        std::uint32_t owner;
        std::uint32_t component_type;
        std::uint32_t position;

        /// Orders by entity, then by component type; the first cursor compares greatest, as std::priority_queue
        /// expects.
        bool operator<(const Cursor& other) const {
            return owner != other.owner ? owner > other.owner : component_type > other.component_type;
        }
    };

    std::uint32_t row_at(std::uint32_t type, std::uint32_t position) const {
        return orders_[type].empty() ? position : orders_[type][position];
    }
    void push(std::uint32_t type, std::uint32_t position);

    const Blob& blob_;
    std::vector<std::vector<std::uint32_t>> orders_;  // by component type; empty if the rows are already in order
    std::priority_queue<Cursor> cursors_;
};

ComponentOrder::ComponentOrder(const Blob& blob) : blob_(blob), orders_(blob.component_types().size()) {
    for (std::uint32_t type = 0; type < orders_.size(); ++type) {
        const std::span<const std::uint32_t> owners = blob.component_types()[type].entity_index;
        if (!std::is_sorted(owners.begin(), owners.end())) {  // the compiler sorts owners; other writers may not
            orders_[type].resize(owners.size());
            std::iota(orders_[type].begin(), orders_[type].end(), 0u);
            std::sort(orders_[type].begin(), orders_[type].end(), [&](std::uint32_t a, std::uint32_t b) {
                return owners[a] != owners[b] ? owners[a] < owners[b] : a < b;
            });
        }
        push(type, 0);
    }
}

void ComponentOrder::push(std::uint32_t type, std::uint32_t position) {
    const std::span<const std::uint32_t> owners = blob_.component_types()[type].entity_index;
    if (position < owners.size()) cursors_.push({owners[row_at(type, position)], type, position});
}

std::optional<BlobRow> ComponentOrder::next_of(std::uint32_t entity) {
    if (cursors_.empty() || cursors_.top().owner != entity) return std::nullopt;
    const Cursor cursor = cursors_.top();
    cursors_.pop();
    push(cursor.component_type, cursor.position + 1);
    return BlobRow{cursor.component_type, row_at(cursor.component_type, cursor.position)};
}

/// Adds the blob to the open mapping.
class BlobDump {
public:
    BlobDump(const Blob& blob, DocumentBuilder& builder) : blob_(blob), builder_(builder), order_(blob) {}

    void add(const ProgressListener& progress) {
        summary();
        schemas();
        entities(progress);
        kept_texts();
        dependencies();
        origin();
    }

private:
    void hash(std::uint64_t hash) { write_hash(builder_, hash); }

    void summary() {
        builder_.string("name", blob_.name());
        builder_.key("resource");
        hash(blob_.id().hash);
        builder_.unsigned_integer("format_version", blob_.header().format_version);
        builder_.unsigned_integer("bytes", blob_.bytes().size());
        builder_.unsigned_integer("entities", blob_.num_entities());
        builder_.unsigned_integer("roots", blob_.num_roots());
        builder_.begin_mapping("components");
        for (const BlobComponents& components : blob_.component_types())
            builder_.unsigned_integer(components.schema->name(), components.count());
        builder_.end();
    }

    void schemas() {
        builder_.begin_list("schemas");
        for (const BlobComponents& components : blob_.component_types()) {
            builder_.begin_mapping();
            builder_.key("spawn_order");
            builder_.integer(components.spawn_order);
            schema(*components.schema);
            builder_.end();
        }
        builder_.end();
    }

    void schema(const Schema& schema) {
        builder_.string("name", schema.name());
        builder_.unsigned_integer("version", schema.version());
        builder_.key("layout");
        hash(schema.layout_hash());
        for (const auto& [key, value] : {std::pair("whole", schema.whole()),
                                         {"enableable", schema.enableable()},
                                         {"many", schema.many()},
                                         {"singleton", schema.singleton()}}) {
            if (!value) continue;
            builder_.boolean(key, true);
        }
        builder_.begin_list("fields");
        for (const Field& f : schema.fields()) field(f);
        builder_.end();
    }

    void field(const Field& field) {
        builder_.begin_mapping();
        builder_.string("name", field.name);
        builder_.string("type", field_type_name(field.type));
        if (field.type == FieldType::kBlobArray) builder_.string("element", field_type_name(field.element_type));
        if (field.type == FieldType::kFixedString) builder_.unsigned_integer("capacity", field.value_bytes);
        if (field.array_length != 0) builder_.unsigned_integer("length", field.array_length);
        if (field.split) {
            builder_.boolean("split", true);
        }
        if (field.relation != Relation::kNone) builder_.string("relation", relation_name(field.relation));
        if (!field.unit.empty()) builder_.string("unit", field.unit);
        if (field.has_range) {
            builder_.begin_list("range");
            write_number(builder_, field.minimum);
            write_number(builder_, field.maximum);
            builder_.end();
        }
        if (!field.enumerators.empty()) {
            builder_.begin_list("names");
            for (const EnumeratorDefinition& e : field.enumerators) builder_.string(e.name);
            builder_.end();
        }
        builder_.end();
    }

    void entities(const ProgressListener& progress) {
        builder_.begin_list("entity_data");
        for (std::uint32_t i = 0; i < blob_.num_entities(); ++i) {
            entity(i);
            progress.tell("entities", i + std::uint64_t(1), blob_.num_entities());
        }
        builder_.end();
    }

    void entity(std::uint32_t index) {
        builder_.begin_mapping();
        builder_.unsigned_integer("index", index);
        if (!blob_.entity_name(index).empty()) builder_.string("name", blob_.entity_name(index));
        if (blob_.guid(index) != 0) {
            builder_.key("guid");
            hash(blob_.guid(index));
        }
        if (blob_.parents()[index] != kNoBlobEntity) builder_.unsigned_integer("parent", blob_.parents()[index]);
        if (!blob_.source_file(index).empty())
            builder_.string("source", concat(blob_.source_file(index), ':', blob_.source_line(index)));
        components_of(index);
        builder_.end();
    }

    void components_of(std::uint32_t index) {
        builder_.begin_mapping("components");
        std::optional<BlobRow> row = order_.next_of(index);
        while (row) {
            const std::uint32_t type = row->component_type;
            const BlobComponents& components = blob_.component_types()[type];
            builder_.key(components.schema->name());
            if (components.schema->many()) builder_.begin_list();
            for (; row && row->component_type == type; row = order_.next_of(index)) component(components, row->row);
            if (components.schema->many()) builder_.end();
        }
        builder_.end();
    }

    /// Raw bytes are not readable, so this writes their size and a hash.
    void component_of_bytes(const BlobComponents& components, std::uint32_t row) {
        const auto array = read_as<BlobArrayBase>(components.columns[0] + row * sizeof(BlobArrayBase));
        const std::span<const std::byte> bytes = blob_.array(array, FieldType::kUint8);
        builder_.begin_mapping();
        builder_.unsigned_integer("bytes", bytes.size());
        builder_.key("hash");
        hash(hash_bytes(bytes.data(), bytes.size()));
        builder_.end();
    }

    /// Writes the values in the tables of "properties", by path.
    void component_of_properties(const BlobComponents& components, std::uint32_t row) {
        const Properties properties = read_as<Properties>(components.columns[0] + row * sizeof(Properties));
        builder_.begin_mapping();
        for (const auto& [name, array] : {std::pair<const char*, BlobArrayBase>("values", properties.values),
                                          std::pair<const char*, BlobArrayBase>("overrides", properties.overrides)}) {
            const std::span<const std::byte> bytes = blob_.array(array, FieldType::kUint32);
            const std::span<const std::uint32_t> table(reinterpret_cast<const std::uint32_t*>(bytes.data()),
                                                       bytes.size() / sizeof(std::uint32_t));
            if (table.empty()) continue;
            builder_.begin_mapping(name);
            for (std::uint32_t i = 0; i < num_property_entries(table); ++i) {
                const PropertyEntry entry = property_entry(table, i);
                std::string path(blob_.text(entry.path));
                if (path.empty()) append_hex(path, entry.path.hash);
                builder_.key(path);
                write_property(builder_, entry.shape, entry.words, names_);
            }
            builder_.end();
        }
        builder_.end();
    }

    void component(const BlobComponents& components, std::uint32_t row) {
        if (is_bytes_component(*components.schema)) return component_of_bytes(components, row);
        if (components.id == schema_of<Properties>().id() &&
            components.schema->layout_hash() == schema_of<Properties>().layout_hash())
            return component_of_properties(components, row);
        builder_.begin_mapping();
        for (const Field& f : components.schema->fields()) {
            builder_.key(f.name);
            field_value(components, f, row);
        }
        builder_.end();
    }

    void field_value(const BlobComponents& components, const Field& field, std::uint32_t row) {
        const Schema& schema = *components.schema;
        const ValueType type = value_type_of(field);
        if (field.num_columns > 1) {
            float lanes[4];
            for (std::uint32_t lane = 0; lane < field.num_columns; ++lane)
                lanes[lane] = read_as<float>(components.columns[field.first_column + lane] + row * sizeof(float));
            return write_value(builder_, type, reinterpret_cast<const std::byte*>(lanes), names_);
        }
        const std::byte* bytes =
            schema.whole() ? components.columns[0] + std::size_t(row) * schema.struct_bytes() + field.struct_offset
                           : components.columns[field.first_column] + std::size_t(row) * field.size;
        write_value(builder_, type, bytes, names_);
    }

    void kept_texts() {
        if (blob_.num_kept_texts() == 0) return;
        builder_.begin_list("kept_texts");
        for (std::uint32_t i = 0; i < blob_.num_kept_texts(); ++i) {
            const KeptText kept = blob_.kept_text(i);
            builder_.begin_mapping();
            if (kept.entity_index != kNoBlobEntity) builder_.unsigned_integer("entity", kept.entity_index);
            builder_.string("component", kept.component);
            builder_.string("text", kept.text);
            builder_.end();
        }
        builder_.end();
    }

    void dependencies() {
        if (blob_.dependencies().empty()) return;
        builder_.begin_list("dependencies");
        for (std::size_t i = 0; i < blob_.dependencies().size(); ++i) {
            const BlobDependency& dependency = blob_.dependencies()[i];
            builder_.begin_mapping();
            builder_.string("kind", kDependencyKinds[static_cast<std::uint32_t>(dependency.kind)]);
            builder_.string("path", blob_.string(dependency.path));
            if (blob_.origin() != nullptr && dependency.kind == DependencyKind::kSource) {
                builder_.key("content");
                hash(blob_.dependency_hashes()[i]);
            }
            builder_.end();
        }
        builder_.end();
    }

    void origin() {
        if (blob_.origin() == nullptr) return;
        builder_.begin_mapping("origin");
        builder_.string("compiler", blob_.string(blob_.origin()->compiler));
        builder_.key("rules");
        hash(blob_.origin()->rules);
        builder_.begin_mapping("schemas");
        for (const BlobOriginType& type : blob_.origin_types()) {
            builder_.key(blob_.string(type.name));
            hash(type.hash);
        }
        builder_.end();
        builder_.end();
    }

    const Blob& blob_;
    const BlobNames names_{blob_};
    DocumentBuilder& builder_;
    ComponentOrder order_;
};

std::string print(const Blob& blob, TextFormat format) {
    std::string text;
    const TextFunction append = [](void* to, std::string_view piece) { static_cast<std::string*>(to)->append(piece); };
    DocumentBuilder builder(format, append, &text);
    builder.begin_mapping();
    BlobDump(blob, builder).add({});
    builder.end();
    builder.finish();
    return text;
}

}  // namespace

void dump_members(const Blob& blob, DocumentBuilder& builder, const ProgressListener& progress) {
    BlobDump(blob, builder).add(progress);
}

std::string dump_text(const Blob& blob) { return print(blob, TextFormat::kSjson); }
std::string dump_json(const Blob& blob) { return print(blob, TextFormat::kJson); }

}  // namespace shoal
