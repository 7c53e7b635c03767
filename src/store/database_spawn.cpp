// Spawning: the batches of one blob are kept until the last has come, for only then is it known what every entity
// has. Then entities that have the same component types, and whose components lie side by side in every batch, are
// placed as a run: one copy per column.
//
//     blob entity       0 1 2 3 | 4 5 | 6          runs of equal entity type
//     position          0 1 2 3 | 4 5 | .          the place of each in the batch of its component type
//     velocity          0 1 2 3 | . . | 4

#include "shoal/base/text.h"
#include "shoal/store/database.h"
#include "store/database_internals.h"

#include <algorithm>
#include <cstring>

namespace shoal::inline SHOAL_ABI {

class DatabaseSpawn {
public:
    explicit DatabaseSpawn(Database& database) : database_(database) {}

    void add(const SpawnBatch& batch) {
        SHOAL_ASSERT(batch.entities.size() == std::size_t(batch.num_blob_entities) * batch.num_copies,
                     "a batch has as many entities as there are blob entities in all copies");
        SHOAL_ASSERT(batches_.empty() || (batches_[0].entities.data() == batch.entities.data() &&
                                          batches_[0].num_blob_entities == batch.num_blob_entities),
                     "the batches between begin_spawn() and finish_spawn() are of one blob");
        const ComponentType component = database_.find_component(batch.component);
        SHOAL_ASSERT(component && batch.columns.size() == database_.schema(component).columns().size(),
                     "the batch is of another component type");
        SHOAL_ASSERT(!database_.schema(component).has_opaque(),
                     "a component with opaque fields cannot be spawned from a blob");
        batches_.push_back(batch);
        components_.push_back(component);
    }

    Status finish() {
        if (batches_.empty()) return {};
        find_places();
        if (Status status = remove_stale(); !status) return status;
        if (has_rows_) return add_to_rows();
        find_runs();
        if (Status status = reserve(); !status) return status;
        for (const Run& run : runs_) place(run);
        return {};
    }

private:
    static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

    /// Blob entities begin to end - 1.
    struct Run {
        std::uint32_t begin, end;
        DatabaseTable* table;
    };

    std::uint32_t num_blob_entities() const { return batches_[0].num_blob_entities; }
    /// Where the component of a blob entity lies in a batch.
    std::uint32_t& place_of(std::size_t batch, std::uint32_t entity) {
        return places_[batch * num_blob_entities() + entity];
    }

    /// Notes where the component of each blob entity lies in each batch.
    void find_places() {
        places_.assign(batches_.size() * num_blob_entities(), kNowhere);
        for (std::size_t b = 0; b < batches_.size(); ++b)
            for (std::uint32_t i = 0; i < batches_[b].entity_index.size(); ++i) {
                SHOAL_ASSERT(batches_[b].entity_index[i] < num_blob_entities(),
                             "the owner of a component is not among the blob entities");
                std::uint32_t& place = place_of(b, batches_[b].entity_index[i]);
                SHOAL_ASSERT(place == kNowhere, "an entity has one component of a type in a database");
                place = i;
            }
    }

    /// Removes what older entities left on the indices of the new ones. Errors: an entity has a component already.
    Status remove_stale() {
        for (std::size_t i = 0; i < batches_[0].entities.size(); ++i) {
            const Entity entity = batches_[0].entities[i];
            const std::uint32_t row = database_.directory_.rows().find_any_generation(entity);
            if (SHOAL_LIKELY(row == kNilRow)) continue;
            DatabaseTable& table = *database_.tables_[database_.directory_.table_of(entity.index())];
            if (!database_.has_row(entity)) {
                Database::Call{database_}.remove_row(table, row);
                continue;
            }
            has_rows_ = true;
            for (std::size_t b = 0; b < batches_.size(); ++b)
                if (table.type().has(components_[b]) &&
                    place_of(b, static_cast<std::uint32_t>(i % num_blob_entities())) != kNowhere)
                    return Status::error(concat("an entity of the batch has a \"",
                                                database_.schema(components_[b]).name(), "\" already"));
        }
        return {};
    }

    /// Gives entities that have rows here already what the batches hold.
    Status add_to_rows() {
        Array<Entity> owners("database");
        for (std::size_t b = 0; b < batches_.size(); ++b) {
            const Schema& schema = database_.schema(components_[b]);
            const ComponentValues values{.component = components_[b], .columns = batches_[b].columns};
            for (std::uint32_t copy = 0; copy < batches_[b].num_copies; ++copy) {
                owners.clear();
                for (std::size_t i = 0; i < batches_[b].entity_index.size(); ++i)
                    owners.push_back(batches_[b].owner(copy, i));
                if (Result<AddCounts> counts = database_.add(owners, {&values, 1}); !counts) return counts.status();
                if (!schema.has(FieldType::kEntity)) continue;
                for (const Entity owner : owners) {
                    const DatabaseRow at = database_.find(owner);
                    translate_entities(at.table->table_, {at.row, at.row + 1}, schema,
                                       at.table->first_column(components_[b]), copy);
                }
            }
        }
        return {};
    }

    bool continues(std::uint32_t entity) {
        for (std::size_t b = 0; b < batches_.size(); ++b) {
            const std::uint32_t before = place_of(b, entity - 1), here = place_of(b, entity);
            if (before == kNowhere ? here != kNowhere : here != before + 1) return false;
        }
        return true;
    }

    void find_runs() {
        for (std::uint32_t begin = 0, end; begin < num_blob_entities(); begin = end) {
            for (end = begin + 1; end < num_blob_entities() && continues(end);) ++end;
            bool any = false;
            for (std::size_t b = 0; b < batches_.size(); ++b) any |= place_of(b, begin) != kNowhere;
            if (any) runs_.push_back({begin, end, nullptr});
        }
    }

    /// Finds the table of every run, and makes room in all of them.
    Status reserve() {
        const std::uint32_t highest = detail::highest_index(batches_[0].entities);
        if (Status status = database_.directory_.reserve(highest); !status) return status;
        for (Run& run : runs_) {
            Signature signature;
            for (std::size_t b = 0; b < batches_.size(); ++b)
                if (place_of(b, run.begin) != kNowhere) signature.add(components_[b].number);
            Result<DatabaseTable*> table = Database::Call{database_}.table_for(
                Database::Call{database_}.make_type(signature), database_.options_.first_zone);
            if (!table) return table.status();
            run.table = *table;
        }
        Status result;
        for (const Run& run : runs_) run.table->num_wanted_ += (run.end - run.begin) * batches_[0].num_copies;
        for (const Run& run : runs_) {
            const std::uint32_t count = std::exchange(run.table->num_wanted_, 0);
            if (result) result = Database::Call{database_}.reserve_rows(*run.table, count);
        }
        return result;
    }

    void place(const Run& run) {
        DatabaseTable& table = *run.table;
        const std::uint32_t count = run.end - run.begin;
        for (std::uint32_t copy = 0; copy < batches_[0].num_copies; ++copy) {
            const std::span<const Entity> owners =
                batches_[0].entities.subspan(std::size_t(copy) * num_blob_entities() + run.begin, count);
            const RowRange rows{table.num_rows(), table.num_rows() + count};
            const std::uint32_t num_placed = Database::Call{database_}.place_leading(table, owners);
            SHOAL_ASSERT(num_placed == count, "the entities of a batch are alive and different");
            for (std::size_t b = 0; b < batches_.size(); ++b)
                if (place_of(b, run.begin) != kNowhere) fill(table, rows, b, place_of(b, run.begin), copy);
        }
        Database::Call{database_}.note_rows(table);
    }

    void fill(DatabaseTable& table, RowRange rows, std::size_t batch, std::uint32_t first_place, std::uint32_t copy) {
        const Schema& schema = database_.schema(components_[batch]);
        const std::uint32_t first = table.first_column(components_[batch]);
        for (std::uint32_t c = 0; c < schema.columns().size(); ++c) {
            const std::size_t bytes = schema.columns()[c].element_bytes;
            std::memcpy(table.table_.unmarked_column(first + c) + rows.begin * bytes,
                        batches_[batch].columns[c] + first_place * bytes, rows.size() * bytes);
        }
        if (schema.has(FieldType::kEntity)) translate_entities(table.table_, rows, schema, first, copy);
    }

    /// Turns blob entities in Entity fields into the entities of a copy.
    void translate_entities(Table& table, RowRange rows, const Schema& schema, std::uint32_t first_column,
                            std::uint32_t copy) {
        const Entity* const entities = batches_[0].entities.data() + std::size_t(copy) * num_blob_entities();
        for (const Field& field : schema.fields()) {
            if (field.type != FieldType::kEntity) continue;
            const std::size_t bytes = schema.columns()[field.first_column].element_bytes;
            std::byte* const data =
                table.unmarked_column(first_column + field.first_column) + schema.offset_in_column(field);
            for (std::uint32_t row = rows.begin; row < rows.end; ++row)
                for (std::uint32_t value = 0; value < field.num_values(); ++value) {
                    std::byte* const place = data + row * bytes + value * sizeof(Entity);
                    Entity entity;
                    std::memcpy(&entity, place, sizeof entity);
                    // A checked blob holds nothing else than its entities and none.
                    entity = entity.id < num_blob_entities() ? entities[entity.id] : kNullEntity;
                    std::memcpy(place, &entity, sizeof entity);
                }
        }
    }

    Database& database_;
    Array<SpawnBatch> batches_ = Array<SpawnBatch>("database");
    Array<ComponentType> components_ = Array<ComponentType>("database");  // by batch
    Array<std::uint32_t> places_ = Array<std::uint32_t>("database");      // [batch][blob entity]
    Array<Run> runs_ = Array<Run>("database");
    bool has_rows_ = false;
};

void Database::begin_spawn() {
    require_unlocked();
    SHOAL_ASSERT(spawn_ == nullptr, "a spawn is under way already");
    spawn_ = ::new (allocate_memory(sizeof(DatabaseSpawn), "database")) DatabaseSpawn(*this);
}

Status Database::spawn(const SpawnBatch& batch) {
    if (spawn_ != nullptr) {
        spawn_->add(batch);
        return {};
    }
    begin_spawn();
    spawn_->add(batch);
    return finish_spawn();
}

Status Database::finish_spawn() {
    SHOAL_ASSERT(spawn_ != nullptr, "no spawn is under way");
    Status status = spawn_->finish();
    spawn_->~DatabaseSpawn();
    release_memory(std::exchange(spawn_, nullptr), sizeof(DatabaseSpawn), "database");
    return status;
}

}  // namespace shoal::inline SHOAL_ABI
