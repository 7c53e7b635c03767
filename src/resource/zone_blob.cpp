#include "shoal/resource/zone_blob.h"

#include "shoal/base/text.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/resource/blob_values.h"
#include "shoal/table/copy_elements.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace shoal {
namespace {

class ZoneSaver {
public:
    ZoneSaver(const Database& database, const ZoneBlobOptions& options)
        : database_(database),
          options_(options),
          values_(writer_,
                  {options.texts, options.library,
                   [](void* self, Entity entity) { return static_cast<ZoneSaver*>(self)->number_of(entity); }, this}) {}
    ZoneSaver(const ZoneSaver&) = delete;
    ZoneSaver& operator=(const ZoneSaver&) = delete;

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
        result_.num_lost_references = values_.num_lost_references();
        return std::move(result_);
    }

private:
    static constexpr std::uint32_t kNoPart = 0xFFFFFFFF, kNoType = 0xFFFFFFFF;

    /// The living rows of a table: blob entities first_entity, first_entity + 1 ...
    struct Part {
        const DatabaseTable* table;
        std::uint32_t first_entity;
        std::vector<std::uint32_t> rows;  // ascending

        bool is_dense() const { return rows.size() == table->num_rows(); }
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
        copies_.resize(std::max(copies_.size(), schema.columns().size()));
        columns_.resize(schema.columns().size());
        list_owners(part);
        if (schema.many())
            copy_values(component, part);
        else
            show_columns(component, part);
        for (const Field& field : schema.fields()) {
            if (!values_.needs_translation(field)) continue;
            if (columns_[field.first_column] != copies_[field.first_column].data())
                copy_column(schema, field.first_column, part);
            std::byte* const first = copies_[field.first_column].data() + schema.offset_in_column(field);
            const std::size_t stride = schema.columns()[field.first_column].element_bytes;
            if (Status status = values_.translate(schema, field, first, stride, owners_.size()); !status) return status;
        }
        writer_.add_components(type, owners_, columns_);
        result_.num_components += owners_.size();
        return {};
    }

    /// Lets the columns be those of the part's table, or copies if some of its rows are not saved.
    void show_columns(ComponentType component, const Part& part) {
        const Schema& schema = database_.schema(component);
        for (std::uint32_t c = 0; c < columns_.size(); ++c)
            columns_[c] = part.table->table().column(part.table->first_column(component) + c);
        if (!part.is_dense())
            for (std::uint32_t c = 0; c < columns_.size(); ++c) copy_column(schema, c, part);
    }

    /// Copies all values of a `many` type, and lists the owner of each.
    void copy_values(ComponentType component, const Part& part) {
        const Schema& schema = database_.schema(component);
        for (std::vector<std::byte>& copy : copies_) copy.clear();
        owners_.clear();
        for (std::uint32_t i = 0; i < part.rows.size(); ++i) {
            const Entity entity = part.table->entities()[part.rows[i]];
            ComponentRow at = database_.find_row(schema.id(), entity, 0);
            for (std::uint32_t index = 1; at; at = database_.find_next(at, entity, index++)) {
                owners_.push_back(part.first_entity + i);
                for (std::uint32_t c = 0; c < columns_.size(); ++c) {
                    const std::size_t bytes = schema.columns()[c].element_bytes;
                    const std::byte* const element = at.table->column(at.first_column + c) + at.row * bytes;
                    copies_[c].insert(copies_[c].end(), element, element + bytes);
                }
            }
        }
        for (std::uint32_t c = 0; c < columns_.size(); ++c) columns_[c] = copies_[c].data();
    }

    /// Copies the living rows of a column.
    void copy_column(const Schema& schema, std::uint32_t column_index, const Part& part) {
        const std::size_t bytes = schema.columns()[column_index].element_bytes;
        std::vector<std::byte>& copy = copies_[column_index];
        copy.resize(part.rows.size() * bytes);
        copy_elements(copy.data(), RowRange{0, static_cast<std::uint32_t>(part.rows.size())},
                      {columns_[column_index], bytes}, std::span<const std::uint32_t>(part.rows), bytes);
        columns_[column_index] = copy.data();
    }

    void list_owners(const Part& part) {
        owners_.resize(part.rows.size());
        std::iota(owners_.begin(), owners_.end(), part.first_entity);
    }

    /// Returns the number of an entity in the blob, or kNoBlobEntity.
    std::uint32_t number_of(Entity entity) const {
        const DatabaseRow at = database_.entity_manager().alive(entity) ? database_.find(entity) : DatabaseRow();
        const std::uint32_t number = at ? parts_by_table_[at.table->number()] : kNoPart;
        if (number == kNoPart) return kNoBlobEntity;
        const Part& part = parts_[number];
        const auto found = std::lower_bound(part.rows.begin(), part.rows.end(), at.row);
        return part.first_entity + static_cast<std::uint32_t>(found - part.rows.begin());
    }

    /// Adds the components that say in which zone an entity lies and which components are off.
    Status add_instructions() {
        std::uint32_t zone_type = kNoType, off_type = kNoType;
        for (const Part& part : parts_) {
            if (!options_.keeps_zones) break;
            list_owners(part);
            if (Status status = add_instruction(zone_type, owners_, SpawnZone{part.table->zone()}); !status)
                return status;
        }
        for (const Part& part : parts_)
            for (const ComponentType component : part.table->type().toggled()) {
                owners_.clear();
                for (std::uint32_t i = 0; i < part.rows.size(); ++i)
                    if (!part.table->has(component, part.rows[i])) owners_.push_back(part.first_entity + i);
                const SpawnSwitchedOff off{database_.schema(component).id()};
                if (Status status = add_instruction(off_type, owners_, off); !status) return status;
            }
        return {};
    }

    /// Gives these entities the same component. Requires: its type has one field.
    template <class T>
    Status add_instruction(std::uint32_t& type, std::span<const std::uint32_t> owners, const T& value) {
        if (owners.empty()) return {};
        if (type == kNoType) {
            const Result<std::uint32_t> added = writer_.add_component_type(schema_of<T>());
            if (!added) return added.status();
            type = *added;
        }
        const std::vector<T> values(owners.size(), value);
        const std::byte* const column = reinterpret_cast<const std::byte*>(values.data());
        writer_.add_components(type, owners, {&column, 1});
        return {};
    }

    const Database& database_;
    const ZoneBlobOptions& options_;
    BlobWriter writer_;
    BlobValues values_;
    std::vector<Part> parts_;
    std::vector<std::uint32_t> parts_by_table_;  // by table number
    // Of the part that is being saved, by column: where the elements lie, and those that had to be copied.
    std::vector<const std::byte*> columns_;
    std::vector<std::vector<std::byte>> copies_;
    std::vector<std::uint32_t> owners_;
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
