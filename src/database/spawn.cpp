// Spawning: the batches of one blob are kept until the last has arrived, because only then are the component types of
// every entity known. Entities in the same zone that have the same component types, and whose components are
// consecutive in every batch, are then placed as a run, with one copy per column.
//
//     blob entity       0 1 2 3 | 4 5 | 6          runs of equal zone and archetype
//     position          0 1 2 3 | 4 5 | .          the index of each in the batch of its component type
//     velocity          0 1 2 3 | . . | 4

#include "database/batch_rows.h"
#include "database/rows.h"
#include "database/spawn_zones.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/table/detail/copy_elements.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {

class Database::Spawn {
public:
    explicit Spawn(Database& database) : database_(database) {}

    void add(const SpawnBatch& batch) {
        SHOAL_ASSERT(batches_.empty() || (batches_[0].entities.data() == batch.entities.data() &&
                                          batches_[0].num_blob_entities == batch.num_blob_entities),
                     "the batches between begin_spawn() and finish_spawn() are of one blob");
        const ComponentType component = database_.find_component(batch.component);
        SHOAL_ASSERT(component, "the batch is of another component type");
        require_batch(batch, database_.schema(component));
        SHOAL_ASSERT(batch.zones.empty() || batch.zones.size() == batch.num_blob_entities,
                     "there is one zone per blob entity, or none");
        if (database_.spawn_place_ != nullptr && component == database_.spawn_place_->component)
            place_batch_ = static_cast<std::uint32_t>(batches_.size());
        batches_.push_back(batch);
        components_.push_back(component);
    }

    Status finish() {
        if (batches_.empty()) return {};
        find_places();
        if (Status status = remove_stale(); !status) return status;
        if (has_rows_) return add_to_rows();
        const std::uint32_t num_copies = batches_[0].num_copies;
        const std::uint32_t step = moves_places() ? 1 : num_copies;  // copies that are in the same zones
        for (std::uint32_t copy = 0; copy < num_copies; copy += step) {
            find_zones(copy);
            if (Status status = find_runs(copy, step); !status) return status;
        }
        const Status status = reserve([&](auto&& visit) {
            for (const EntitySpan& run : runs_) visit(*run.table, (run.end - run.begin) * run.num_copies);
        });
        if (!status) return status;
        for (std::size_t begin = 0, end; begin < runs_.size(); begin = end) {
            for (end = begin + 1; end < runs_.size() && runs_[end].first_copy == runs_[begin].first_copy;) ++end;
            place_all({runs_.data() + begin, end - begin});
        }
        add_further();
        disable();
        return {};
    }

private:
    static constexpr std::uint32_t kNowhere = SpawnZones::kNowhere;
    static constexpr std::size_t kLongRun = 16;  // from this length on, copying a run is cheaper than gathering it
    static constexpr std::size_t kBlockEntities = 2048;

    /// The blob entities in [begin, end) of some copies.
    struct EntitySpan {
        std::uint32_t begin, end;
        std::uint32_t first_copy, num_copies;
        DatabaseTable* table;
    };
    /// Blob entities with the same component types.
    struct Kind {
        std::uint32_t example;
        const Archetype* type;  // nullptr: the entities have no components
    };
    /// A value that is not the first of its blob entity.
    struct Further {
        std::uint32_t batch, place;
    };

    std::size_t num_tables() const { return database_.all_tables().size(); }
    std::uint32_t num_blob_entities() const { return batches_[0].num_blob_entities; }

    /// Records where the component of each blob entity is in each batch.
    void find_places() {
        places_.find(batches_, has_places(), [this](std::uint32_t batch, std::uint32_t place) {
            SHOAL_ASSERT(database_.further_values(components_[batch]) != nullptr,
                         "an entity has one component of a type in a database, unless its schema says `many`");
            further_.push_back({batch, place});
        });
    }

    bool has_places() const { return place_batch_ != kNowhere; }
    /// Whether the copies are in different places.
    bool moves_places() const { return has_places() && !batches_[0].root_poses.empty(); }

    /// Finds the zone of every blob entity in a copy.
    void find_zones(std::uint32_t copy) {
        const SpawnPositionField* const field = database_.spawn_place_;
        const Schema* const schema = has_places() ? &database_.schema(field->component) : nullptr;
        zones_.find(batches_[0], field, schema, has_places() ? &batches_[place_batch_] : nullptr,
                    has_places() ? places_.by_entity(place_batch_) : nullptr, copy, database_.options_.first_zone);
    }
    Zone zone_of(std::uint32_t entity) const {
        return zones_.get().empty() ? database_.options_.first_zone : zones_.get()[entity];
    }

    /// Removes rows that older entities have left behind at the indices of new entities. Errors: an entity already has
    /// a component.
    Status remove_stale() {
        const std::span<const Entity> all = batches_[0].entities;
        if (database_.directory_.rows().is_free(index_range(all), all.size())) return {};
        for (std::size_t i = 0; i < batches_[0].entities.size(); ++i) {
            const Entity entity = batches_[0].entities[i];
            const std::uint32_t row = database_.directory_.rows().find_any_generation(entity);
            if (SHOAL_LIKELY(row == kNilRow)) continue;
            DatabaseTable& table = database_.tables_[database_.directory_.table_of(entity.index())];
            if (!database_.has_row(entity)) {
                database_.remove_row(table, row);
                continue;
            }
            has_rows_ = true;
            for (std::size_t b = 0; b < batches_.size(); ++b)
                if (table.type().has(components_[b]) && database_.further_values(components_[b]) == nullptr &&
                    places_.has(b, static_cast<std::uint32_t>(i % num_blob_entities())))
                    return Status::error(concat("an entity of the batch has a \"",
                                                database_.schema(components_[b]).name(), "\" already"));
        }
        return {};
    }

    /// Adds the batches to entities, some of which already have rows here. On error, nothing has changed.
    Status add_to_rows() {
        if (Status status = find_targets(); !status) return status;
        const Status status = reserve([&](auto&& visit) {
            for (DatabaseTable* table : targets_)
                if (table != nullptr) visit(*table, 1);
        });
        if (!status) return status;
        for (std::size_t i = 0; i < targets_.size(); ++i)
            if (targets_[i] != nullptr) give_components(i);
        add_further();
        disable();
        return {};
    }

    /// Finds the target table of each entity: if the entity has a row, by its archetype and the components that it
    /// gains; otherwise by its zone.
    Status find_targets() {
        targets_.resize(batches_[0].entities.size(), nullptr);
        for (std::uint32_t copy = 0; copy < batches_[0].num_copies; ++copy) {
            if (copy == 0 || moves_places()) find_zones(copy);
            for (std::uint32_t i = 0; i < num_blob_entities(); ++i) {
                if (kind_of(i).type == nullptr) continue;
                const std::size_t place = std::size_t(copy) * num_blob_entities() + i;
                const DatabaseRow at = database_.find(batches_[0].entities[place]);
                Result<DatabaseTable*> target = at ? database_.table_for(united(at.table->type(), i), at.table->zone())
                                                   : database_.table_for(*kind_of(i).type, zone_of(i));
                if (!target) return target.status();
                targets_[place] = *target;
            }
        }
        return {};
    }

    /// Returns the archetype with a blob entity's component types added.
    const Archetype& united(const Archetype& type, std::uint32_t entity) {
        const Archetype* result = &type;
        for (std::size_t b = 0; b < batches_.size(); ++b)
            if (places_.has(b, entity)) result = &database_.with(*result, components_[b]);
        return *result;
    }

    /// Moves an entity to its target table and writes the components that it gains. Requires: room is reserved.
    void give_components(std::size_t place) {
        DatabaseTable& target = *targets_[place];
        DatabaseRow at = database_.find(batches_[0].entities[place]);
        const Archetype* const before = at ? &at.table->type() : nullptr;
        if (at) {
            if (at.table == &target)
                target.table_.stamp_row(at.row);
            else
                at = database_.transfer_row(at, target, database_.plan_to(*at.table, target));
        } else {
            at = {&target, target.num_rows()};
            const std::uint32_t num_placed = database_.place_leading(target, batches_[0].entities.subspan(place, 1));
            SHOAL_ASSERT(num_placed == 1, "the entities of a batch are alive and different");
            database_.tables_.note_rows(target);
        }
        const auto entity = static_cast<std::uint32_t>(place % num_blob_entities());
        const auto copy = static_cast<std::uint32_t>(place / num_blob_entities());
        for (std::size_t b = 0; b < batches_.size(); ++b) {
            if (!places_.has(b, entity)) continue;
            if (before != nullptr && before->has(components_[b])) database_.push_first(target, at.row, components_[b]);
            fill(target, {at.row, at.row + 1}, b, places_.of(b, entity), copy);
        }
    }

    /// Makes room for those values of `many` types that will not be in their entities' rows. Errors: out of memory.
    Status reserve_further() {
        for (std::uint32_t b = 0; b < batches_.size(); ++b) {
            OwnedRows* const further = database_.further_values(components_[b]);
            if (further == nullptr) continue;
            // If an entity already has values, each new value replaces the value in the row, and the replaced value
            // needs room elsewhere.
            std::size_t count = has_rows_ ? batches_[b].entity_index.size() : 0;
            for (std::size_t i = 0; i < further_.size() && !has_rows_; ++i) count += further_[i].batch == b;
            std::uint32_t highest = 0;
            for (const Entity entity : batches_[b].entities) highest = std::max(highest, entity.index());
            if (Status status = further->reserve(count * batches_[b].num_copies, highest); !status) return status;
        }
        return {};
    }

    /// Adds the values that are not in their entities' rows, so that each chain is in the order of the source.
    void add_further() {
        for (std::size_t i = further_.size(); i-- > 0;) {
            const auto [b, place] = further_[i];
            const SpawnBatch& batch = batches_[b];
            OwnedRows& further = *database_.further_values(components_[b]);
            const std::span<const ColumnDefinition> columns = database_.schema(components_[b]).columns();
            for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy) {
                const std::uint32_t row = further.append(batch.owner(copy, place));
                for (std::uint32_t c = 0; c < columns.size(); ++c) {
                    const std::size_t bytes = columns[c].element_bytes;
                    std::memcpy(further.table().unmarked_column(c) + row * bytes, batch.columns[c] + place * bytes,
                                bytes);
                }
                translate_entities(batch, copy, database_.schema(components_[b]), further.table(), 0, {row, row + 1});
            }
        }
    }

    /// Disables the components that the batches mark as disabled.
    void disable() {
        for (std::size_t b = 0; b < batches_.size(); ++b)
            for (std::uint32_t copy = 0; copy < batches_[b].num_copies; ++copy)
                for (const std::uint32_t entity : batches_[b].disabled) {
                    SHOAL_ASSERT(entity < num_blob_entities(),
                                 "an entity whose component is disabled is not among the blob entities");
                    if (!places_.has(b, entity)) continue;
                    const std::size_t place = std::size_t(copy) * num_blob_entities() + entity;
                    database_.disable(database_.find(batches_[b].entities[place]), {&components_[b], 1});
                }
    }

    /// Returns the kind of a blob entity.
    const Kind& kind_of(std::uint32_t entity) {
        if (!kinds_.empty() && places_.are_alike(kinds_[last_kind_].example, entity)) return kinds_[last_kind_];
        const std::uint64_t key = places_.key(entity);
        const auto is_alike = [&](std::uint32_t kind) { return places_.are_alike(kinds_[kind].example, entity); };
        if (const std::uint32_t* known = kind_by_key_.find_if(key, is_alike)) return kinds_[last_kind_ = *known];
        BitSet signature{Owner("database")};
        for (std::size_t b = 0; b < batches_.size(); ++b)
            if (places_.has(b, entity)) signature.set(components_[b].number);
        last_kind_ = static_cast<std::uint32_t>(kinds_.size());
        kind_by_key_.add(key, last_kind_);
        kinds_.push_back({entity, signature.empty() ? nullptr : &database_.graph_.archetype(signature)});
        return kinds_.back();
    }

    /// Returns the end of the entities from `begin` on that are in the same zone, and consecutive in all batches.
    std::uint32_t end_of_run(std::uint32_t begin) const {
        const std::uint32_t end = places_.end_of_run(begin);
        if (zones_.get().empty()) return end;
        std::uint32_t same = begin + 1;
        while (same < end && zone_of(same) == zone_of(begin)) ++same;
        return same;
    }

    /// Returns the table of a kind in a zone.
    Result<DatabaseTable*> table_of(const Kind& kind, Zone zone) {
        const std::uint64_t key = std::uint64_t(&kind - kinds_.data()) << 32 | zone;
        if (DatabaseTable* const* const known = tables_.find(key)) return *known;
        Result<DatabaseTable*> table = database_.table_for(*kind.type, zone);
        if (table) tables_.insert(key, *table);
        return table;
    }

    /// Finds the runs, and their tables, for some copies that are in the same zones.
    Status find_runs(std::uint32_t first_copy, std::uint32_t num_copies) {
        DatabaseTable* table = nullptr;
        for (std::uint32_t begin = 0, end; begin < num_blob_entities(); begin = end) {
            end = end_of_run(begin);
            const Kind& kind = kind_of(begin);
            if (kind.type == nullptr) continue;
            if (table == nullptr || &table->type() != kind.type || table->zone() != zone_of(begin)) {
                Result<DatabaseTable*> found = table_of(kind, zone_of(begin));
                if (!found) return found.status();
                table = *found;
            }
            runs_.push_back({begin, end, first_copy, num_copies, table});
        }
        return {};
    }

    /// Makes room for all entities. See reserve_in_all().
    template <class ForEachGain>
    Status reserve(ForEachGain&& for_each_gain) {
        if (Status status = database_.reserve_entries(batches_[0].entities); !status) return status;
        if (Status status = reserve_further(); !status) return status;
        return database_.reserve_in_all(for_each_gain);
    }

    void place(const EntitySpan& run) {
        DatabaseTable& table = *run.table;
        const std::uint32_t count = run.end - run.begin;
        for (std::uint32_t copy = run.first_copy; copy < run.first_copy + run.num_copies; ++copy) {
            const std::span<const Entity> owners =
                batches_[0].entities.subspan(std::size_t(copy) * num_blob_entities() + run.begin, count);
            const RowRange rows{table.num_rows(), table.num_rows() + count};
            const std::uint32_t num_placed = database_.place_leading(table, owners);
            SHOAL_ASSERT(num_placed == count, "the entities of a batch are alive and different");
            for (std::size_t b = 0; b < batches_.size(); ++b)
                if (places_.has(b, run.begin)) fill(table, rows, b, places_.of(b, run.begin), copy);
        }
        database_.tables_.note_rows(table);
    }

    /// Places the runs of some copies. Many short runs are placed in blocks, so that the source data stays in the cache
    /// until all tables have received their part.
    void place_all(std::span<const EntitySpan> runs) {
        const std::size_t most = std::max(kBlockEntities, kLongRun * num_tables());
        for (std::size_t begin = 0, end; begin < runs.size(); begin = end) {
            std::size_t num_members = 0;
            for (end = begin; end < runs.size() && num_members < most; ++end)
                num_members += runs[end].end - runs[end].begin;
            const std::span<const EntitySpan> block = runs.subspan(begin, end - begin);
            if (num_members < kLongRun * block.size() && block.size() > num_tables())
                place_by_table(block, num_members);
            else
                for (const EntitySpan& run : block) place(run);
        }
    }

    /// Places many short runs: the runs for one table are placed together, and each column is gathered in one call.
    void place_by_table(std::span<const EntitySpan> runs, std::size_t num_members) {
        Array<std::uint32_t> end_of("database");  // where the members of each table end, by its number
        end_of.resize(num_tables() + 1, 0);
        for (const EntitySpan& run : runs) end_of[run.table->number() + 1] += run.end - run.begin;
        for (std::size_t t = 1; t < end_of.size(); ++t) end_of[t] += end_of[t - 1];
        members_.resize(num_members);
        for (const EntitySpan& run : runs)
            for (std::uint32_t entity = run.begin; entity < run.end; ++entity)
                members_[end_of[run.table->number()]++] = entity;
        for (std::uint32_t t = 0, begin = 0; t < num_tables(); begin = end_of[t++])
            for (std::uint32_t copy = 0; copy < runs[0].num_copies && begin != end_of[t]; ++copy)
                place_members(database_.tables_[t], {members_.data() + begin, end_of[t] - begin},
                              runs[0].first_copy + copy);
    }

    /// Gives rows to a copy's blob entities that have the same component types.
    void place_members(DatabaseTable& table, std::span<const std::uint32_t> members, std::uint32_t copy) {
        const Entity* const entities = batches_[0].entities.data() + std::size_t(copy) * num_blob_entities();
        owners_.resize(members.size());
        for (std::size_t i = 0; i < members.size(); ++i) owners_[i] = entities[members[i]];
        const RowRange rows{table.num_rows(), table.num_rows() + static_cast<std::uint32_t>(members.size())};
        const std::uint32_t num_placed = database_.place_leading(table, owners_);
        SHOAL_ASSERT(num_placed == members.size(), "the entities of a batch are alive and different");
        for (std::size_t b = 0; b < batches_.size(); ++b) {
            if (!places_.has(b, members[0])) continue;
            places_.get(b, members, sources_);
            const std::span<const ColumnDefinition> columns = database_.schema(components_[b]).columns();
            const std::uint32_t first = table.first_column(components_[b]);
            for (std::uint32_t c = 0; c < columns.size(); ++c)
                copy_elements(table.table_.unmarked_column(first + c), rows,
                              {batches_[b].columns[c], columns[c].element_bytes},
                              std::span<const std::uint32_t>(sources_), columns[c].element_bytes);
            fit_to_copy(table, rows, b, copy);
        }
        database_.tables_.note_rows(table);
    }

    void fill(DatabaseTable& table, RowRange rows, std::size_t batch, std::uint32_t first_place, std::uint32_t copy) {
        const Schema& schema = database_.schema(components_[batch]);
        const std::uint32_t first = table.first_column(components_[batch]);
        for (std::uint32_t c = 0; c < schema.num_columns(); ++c) {
            const std::size_t bytes = schema.column(c).element_bytes;
            std::memcpy(table.table_.unmarked_column(first + c) + std::size_t(rows.begin) * bytes,
                        batches_[batch].columns[c] + first_place * bytes, rows.size() * bytes);
        }
        fit_to_copy(table, rows, batch, copy);
    }

    /// Adapts copied values to a copy: translates entity fields and moves positions.
    void fit_to_copy(DatabaseTable& table, RowRange rows, std::size_t batch, std::uint32_t copy) {
        const Schema& schema = database_.schema(components_[batch]);
        const std::uint32_t first = table.first_column(components_[batch]);
        translate_entities(batches_[batch], copy, schema, table.table_, first, rows);
        if (batch != place_batch_ || !moves_places()) return;
        const auto columns = place_columns<std::byte>(
            *database_.spawn_place_, schema, [&](std::uint32_t c) { return table.table_.unmarked_column(first + c); });
        for (std::uint32_t row = rows.begin; row < rows.end; ++row)
            columns.set(row, move_place(batches_[0].root_poses[copy], columns.get(row)));
    }

    Database& database_;
    Array<SpawnBatch> batches_{Owner("database")};
    Array<ComponentType> components_{Owner("database")};  // indexed by batch
    BatchRows places_;
    Array<EntitySpan> runs_{Owner("database")};
    Array<Kind> kinds_{Owner("database")};
    HashMap<std::uint64_t, std::uint32_t> kind_by_key_{Owner("database")};
    std::uint32_t last_kind_ = 0;
    HashMap<std::uint64_t, DatabaseTable*> tables_{Owner("database")};  // keyed by kind << 32 | zone
    Array<Further> further_{Owner("database")};                         // sorted by batch, then by order in the source
    // For place_by_table(): blob entities by table; then, for one table and copy, their entities and places in a batch.
    Array<std::uint32_t> members_{Owner("database")};
    Array<Entity> owners_{Owner("database")};
    Array<std::uint32_t> sources_{Owner("database")};
    std::uint32_t place_batch_ = kNowhere;              // the batch with the position field
    SpawnZones zones_;                                  // the zones of the current copies
    Array<DatabaseTable*> targets_{Owner("database")};  // for add_to_rows(), by entity; nullptr: nothing is gained
    bool has_rows_ = false;
};

Status Database::spawn_into_tiles(ComponentType component, std::string_view field_name, const GridZones& tiles) {
    const Schema& schema = this->schema(component);
    const int index = schema.find_field(field_name);
    if (index < 0)
        return Status::error(concat("the component \"", schema.name(), "\" has no field \"", field_name, '"'));
    const Field& field = schema.fields()[static_cast<std::size_t>(index)];
    if (field.type != FieldType::kVec3 || field.array_length != 0)
        return Status::error(concat("the field \"", schema.name(), '.', field_name,
                                    "\" is no single vec3, and cannot say in which tile an entity lies"));
    const SpawnPositionField place{component,
                                   field.first_column,
                                   field.num_columns == 3,
                                   schema.offset_in_column(field),
                                   tiles,
                                   static_cast<std::uint32_t>(index)};
    if (spawn_place_ == nullptr) spawn_place_ = make_owned<SpawnPositionField>("database", place);
    if (spawn_place_->is_same(place)) return {};
    const Schema& other = this->schema(spawn_place_->component);
    return Status::error(
        concat("the database has tiles for \"", other.name(), '.', other.fields()[spawn_place_->field].name,
               "\" already, and cannot have other ones for \"", schema.name(), '.', field_name, "\" too"));
}

void Database::begin_spawn() {
    require_unlocked("spawn()");
    SHOAL_ASSERT(spawn_ == nullptr,
                 "a spawn function spawned into the database that spawns; ask for it with commands().spawn() instead");
    spawn_ = make_owned<Spawn>("database", *this);
}

bool Database::is_place_of_tiles(ComponentId component, std::size_t field) const {
    return spawn_place_ != nullptr && spawn_place_->component == find_component(component) &&
           spawn_place_->field == field;
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
    destroy_owned("database", std::exchange(spawn_, nullptr));
    return status;
}

}  // namespace shoal
