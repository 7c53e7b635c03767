#include "shoal/resource/zone_blob.h"

#include "shoal/base/text.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/table/copy_elements.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

class ZoneSaver {
public:
    ZoneSaver(const Database& database, const ZoneBlobOptions& options) : database_(database), options_(options) {}

    Result<ZoneBlob> save(const ZoneSet& zones) {
        parts_by_table_.resize(database_.all_tables().size(), kNoPart);
        zones.for_each([&](Zone zone) { list(zone); });
        writer_.set_name(options_.name);
        for (std::uint32_t number = 0; number < database_.schemas().size(); ++number)
            if (Status status = add_components({number}); !status) return status;
        if (Status status = add_instructions(); !status) return status;
        Result<std::vector<std::byte>> bytes = writer_.write();
        if (!bytes) return bytes.status();
        result_.bytes = std::move(*bytes);
        result_.num_entities = writer_.num_entities();
        return std::move(result_);
    }

private:
    static constexpr std::uint32_t kNoPart = 0xFFFFFFFF;

    /// The living rows of a table: blob entities first_entity, first_entity + 1 ...
    struct Part {
        const DatabaseTable* table;
        std::uint32_t first_entity;
        std::vector<std::uint32_t> rows;  // ascending
    };

    void list(Zone zone) {
        std::vector<const DatabaseTable*> tables;
        database_.for_each_table_of_zone(zone, [&](const DatabaseTable& table) { tables.push_back(&table); });
        std::sort(tables.begin(), tables.end(), [](const DatabaseTable* a, const DatabaseTable* b) {
            return a->type().number() < b->type().number();
        });
        for (const DatabaseTable* table : tables) {
            Part part{table, writer_.num_entities(), {}};
            for (std::uint32_t row = 0; row < table->num_rows(); ++row)
                if (database_.entity_manager().alive(table->entities()[row])) part.rows.push_back(row);
            for (std::size_t i = 0; i < part.rows.size(); ++i) writer_.add_entity({});
            parts_by_table_[table->number()] = static_cast<std::uint32_t>(parts_.size());
            parts_.push_back(std::move(part));
        }
    }

    Status add_components(ComponentType component) {
        const Schema& schema = database_.schema(component);
        const auto has_rows = [&](const Part& part) { return part.table->type().has(component) && !part.rows.empty(); };
        if (std::none_of(parts_.begin(), parts_.end(), has_rows)) return {};
        Result<std::uint32_t> type = writer_.add_component_type(schema);
        if (!type) return type.status();
        for (const Part& part : parts_)
            if (has_rows(part))
                if (Status status = add_part(*type, component, part); !status) return status;
        return {};
    }

    Status add_part(std::uint32_t type, ComponentType component, const Part& part) {
        const Schema& schema = database_.schema(component);
        std::vector<std::vector<std::byte>> columns(schema.columns().size());
        std::vector<const std::byte*> pointers;
        for (std::uint32_t c = 0; c < columns.size(); ++c) {
            const std::size_t bytes = schema.columns()[c].element_bytes;
            columns[c].resize(part.rows.size() * bytes);
            copy_elements(columns[c].data(), RowRange{0, static_cast<std::uint32_t>(part.rows.size())},
                          {part.table->table().column(part.table->first_column(component) + c), bytes},
                          std::span<const std::uint32_t>(part.rows), bytes);
            pointers.push_back(columns[c].data());
        }
        for (const Field& field : schema.fields()) {
            std::byte* const first = columns[field.first_column].data() + schema.offset_in_column(field);
            const std::size_t stride = schema.columns()[field.first_column].element_bytes;
            for (std::size_t i = 0; i < part.rows.size(); ++i)
                for (std::uint32_t value = 0; value < field.num_values(); ++value)
                    if (Status status = translate(schema, field, first + i * stride + value * field.value_bytes);
                        !status)
                        return status;
        }
        std::vector<std::uint32_t> owners(part.rows.size());
        for (std::uint32_t i = 0; i < owners.size(); ++i) owners[i] = part.first_entity + i;
        writer_.add_components(type, owners, pointers);
        result_.num_components += owners.size();
        return {};
    }

    /// Turns a value into what a blob holds.
    Status translate(const Schema& schema, const Field& field, std::byte* value) {
        if (field.type == FieldType::kEntity) {
            Entity entity;
            std::memcpy(&entity, value, sizeof entity);
            const EntityBits index = blob_entity_of(entity);
            std::memcpy(value, &index, sizeof index);
        } else if (field.type == FieldType::kStringId && options_.texts != nullptr) {
            StringId id;
            std::memcpy(&id, value, sizeof id);
            if (const std::string_view text = options_.texts->text(id); !text.empty())
                if (Result<StringId> kept = writer_.add_text(text); !kept) return kept.status();
        } else if (field.type == FieldType::kBlobArray) {
            return copy_array(schema, field, value);
        }
        return {};
    }

    EntityBits blob_entity_of(Entity entity) {
        constexpr EntityBits kNone = ~EntityBits(0);
        if (!entity) return kNone;
        const DatabaseRow at = database_.entity_manager().alive(entity) ? database_.find(entity) : DatabaseRow();
        const std::uint32_t number = at ? parts_by_table_[at.table->number()] : kNoPart;
        if (number == kNoPart) {
            ++result_.num_lost_references;
            return kNone;
        }
        const Part& part = parts_[number];
        const auto found = std::lower_bound(part.rows.begin(), part.rows.end(), at.row);
        return part.first_entity + static_cast<EntityBits>(found - part.rows.begin());
    }

    Status copy_array(const Schema& schema, const Field& field, std::byte* value) {
        BlobArrayBase array;
        std::memcpy(static_cast<void*>(&array), value, sizeof array);
        if (array.count == 0) return {};
        std::span<const std::byte> bytes;
        if (options_.library != nullptr) bytes = options_.library->view_bytes(array, field.element_type);
        if (bytes.empty())
            return Status::error(concat("the read-only arrays of \"", schema.name(), '.', field.name,
                                        "\" cannot be saved: no library is given that has their resource"));
        array = writer_.add_array(field.element_type, bytes);
        std::memcpy(value, static_cast<const void*>(&array), sizeof array);
        return {};
    }

    /// Adds the components that say in which zone an entity lies, and what is off.
    Status add_instructions() {
        if (writer_.num_entities() == 0) return {};
        if (options_.keeps_zones) {
            Result<std::uint32_t> type = writer_.add_component_type(schema_of<SpawnZone>());
            if (!type) return type.status();
            for (const Part& part : parts_)
                for (std::uint32_t i = 0; i < part.rows.size(); ++i)
                    add_instruction(*type, part.first_entity + i, SpawnZone{part.table->zone()});
        }
        constexpr std::uint32_t kNoType = 0xFFFFFFFF;
        std::uint32_t off = kNoType;
        for (const Part& part : parts_)
            for (const ComponentType component : part.table->type().toggled())
                for (std::uint32_t i = 0; i < part.rows.size(); ++i) {
                    if (part.table->has(component, part.rows[i])) continue;
                    if (off == kNoType) {
                        Result<std::uint32_t> type = writer_.add_component_type(schema_of<SpawnSwitchedOff>());
                        if (!type) return type.status();
                        off = *type;
                    }
                    add_instruction(off, part.first_entity + i, SpawnSwitchedOff{database_.schema(component).id()});
                }
        return {};
    }
    template <class T>
    void add_instruction(std::uint32_t type, std::uint32_t entity, const T& value) {
        writer_.add_component(type, entity, std::as_bytes(std::span<const T, 1>(&value, 1)));
    }

    const Database& database_;
    const ZoneBlobOptions& options_;
    BlobWriter writer_;
    std::vector<Part> parts_;
    std::vector<std::uint32_t> parts_by_table_;  // by table number
    ZoneBlob result_;
};

}  // namespace

Result<ZoneBlob> save_zones(const Database& database, const ZoneSet& zones, const ZoneBlobOptions& options) {
    return ZoneSaver(database, options).save(zones);
}

Result<ZoneBlob> save_zone(const Database& database, Zone zone, const ZoneBlobOptions& options) {
    return save_zones(database, {zone}, options);
}

}  // namespace shoal
