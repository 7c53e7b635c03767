#include "shoal/react/position_links.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/entity/entity_text.h"
#include "shoal/job/row_ranges.h"
#include "shoal/resource/spawner.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/transform/detail/pose_math.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr std::uint32_t kBlocksPerChunk = 2;  // of 1,024 rows each
constexpr std::uint32_t kPositionColumn = FieldLayout<&Transform::position>::kFirstColumn;

bool are_same(const Vec3& a, const Vec3& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

Vec3 read_place(const ComponentRow& at, const FieldPart& part) {
    Vec3 place;
    read_part(*at.table, at.first_column, at.row, part, reinterpret_cast<std::byte*>(&place));
    return place;
}

/// Calls find(block, list) for each block, on all workers. Each chunk of blocks has its own list.
template <class T, class Block, class Find>
void list_all(Executor& executor, std::span<const Block> blocks, Array<Array<T>>& lists, Find&& find) {
    const RowCuts cuts = cut_rows(static_cast<std::uint32_t>(blocks.size()), 1, kBlocksPerChunk);
    while (lists.size() < cuts.num_chunks) lists.push_back(Array<T>(Owner("position links")));
    for (Array<T>& list : lists) list.clear();
    for_rows(executor, cuts, [&](RowRange range, std::uint32_t) {
        Array<T>& found = lists[range.begin / cuts.rows_per_chunk];
        for (const Block& block : blocks.subspan(range.begin, range.size())) find(block, found);
    });
}

/// Whether one of the columns was written in a row's block.
bool is_written(const Table& table, std::uint32_t first_column, std::uint32_t num_columns, std::uint64_t since,
                std::uint32_t row) {
    for (std::uint32_t c = first_column; c < first_column + num_columns; ++c)
        if (table.written_stamp(c, row / kRowsPerStampBlock) >= since) return true;
    return false;
}

[[noreturn]] void refuse_place(Entity entity, const std::string& field) {
    const std::string message = concat("the transform of entity ", entity_text(entity), " follows ", field,
                                       ", which is infinite or not a number");
    fail_assertion("is_sound_position(place)", message);
}

std::string field_name(const Schema& component, const Field& field) {
    return concat('"', component.name(), '.', field.name, '"');
}

}  // namespace

// --- declarations ------------------------------------------------------------------------------------------------

Result<PositionLinks::PositionField> PositionLinks::find_place(Store& store, const Schema& component,
                                                               std::uint32_t field) {
    if (field >= component.fields().size())
        return Status::error(concat("\"", component.name(), "\" has ", component.fields().size(),
                                    " fields, and none with number ", field));
    const Field& place = component.fields()[field];
    const std::string name = field_name(component, place);
    if (place.type != FieldType::kVec3 || place.array_length != 0)
        return Status::error(concat(name, " is no single vec3, and cannot be a place"));
    if (component.many())
        return Status::error(
            concat("an entity may have several \"", component.name(), "\", so ", name, " does not say where it is"));
    const OwnedColumns columns = store.find_columns(component);
    if (columns && (!columns.has_fields || columns.is_read_only || columns.is_source))
        return Status::error(concat(name, " is kept by ", store.kind(),
                                    ", which gives it a meaning of its own; declare a field of another component"));
    return PositionField{&store, &component, field_part(component, place)};
}

void PositionLinks::require_declared(const Status& status) {
    SHOAL_ASSERT(status.ok(), status.ok() ? "" : status.message().data());
}

/// Returns the store that has the component type of a declaration.
Result<Store*> PositionLinks::require_keeper(ComponentId component) const {
    SHOAL_ASSERT(!directory_.is_held(), "a pass declared who follows a place; declare it before World::step()");
    if (Store* const store = directory_.find(component)) return store;
    return Status::error(
        "no store of the world keeps the component type of a place; make its manager, or name it to the database, "
        "before anything follows it");
}

Status PositionLinks::follow(ComponentId type, std::uint32_t field, Follower follower) {
    const Result<Store*> keeper = require_keeper(type);
    if (!keeper) return keeper.status();
    if (directory_.find_as<TransformManager>(schema_of<Transform>().id()) == nullptr)
        return Status::error("a world without transforms has no places to follow; call World::transforms() before");
    Store& store = **keeper;
    const Schema& component = *directory_.find_schema(type);
    const Result<PositionField> place = find_place(store, component, field);
    if (!place) return place.status();
    const std::string name = field_name(component, *place->part.field);
    for (const Followed& other : followed_) {
        const bool is_same = other.field.part.field == place->part.field;
        if (is_same && other.follower == follower) return {};
        if (is_same)
            return Status::error(concat(name, " and the transforms would follow each other; declare one of the two"));
        if (follower == Follower::kTransform && other.follower == follower)
            return Status::error(concat("the transforms follow ",
                                        field_name(*other.field.component, *other.field.part.field),
                                        " already, and cannot follow ", name, " too"));
    }
    followed_.push_back({*place, follower});
    return {};
}

Status PositionLinks::keep_in_tiles(ComponentId type, std::uint32_t field, const GridZones& tiles) {
    const Result<Store*> keeper = require_keeper(type);
    if (!keeper) return keeper.status();
    Store& store = **keeper;
    const Schema& component = *directory_.find_schema(type);
    const Result<PositionField> place = find_place(store, component, field);
    if (!place) return place.status();
    const std::string name = field_name(component, *place->part.field);
    Database* const database = dynamic_cast<Database*>(&store);
    if (database == nullptr)
        return Status::error(
            concat(name, " is kept by ", store.kind(), ", which has no zones; keep it in the database"));
    // Spawns entities directly into their tiles. Fails if the database already uses a different field or grid.
    if (Status status =
            database->spawn_into_tiles(database->find_component(component.id()), place->part.field->name, tiles);
        !status)
        return status;
    for (const Tiled& other : tiled_)
        if (other.database == database) return {};
    tiled_.push_back({*place, database, tiles});
    return {};
}

void PositionLinks::forget(const Store& store) {
    const auto is_of = [&](const auto& declared) { return declared.field.store == &store; };
    followed_.erase(std::remove_if(followed_.begin(), followed_.end(), is_of), followed_.end());
    tiled_.erase(std::remove_if(tiled_.begin(), tiled_.end(), is_of), tiled_.end());
}

// --- what differs ------------------------------------------------------------------------------------------------

/// For a table, adds the blocks in which one of the columns was written.
void PositionLinks::add_blocks(const Block& table, std::uint32_t first_column, std::uint32_t num_columns,
                               std::uint64_t since, Array<Block>& blocks) {
    const Table& rows = *table.table.table;
    for (std::uint32_t row = 0; row < rows.num_rows(); row += kRowsPerStampBlock) {
        if (!is_written(rows, first_column, num_columns, since, row)) continue;
        blocks.push_back(table);
        blocks.back().rows = {row, std::min(row + kRowsPerStampBlock, rows.num_rows())};
    }
}

/// Finds the entities whose field and transform differ. If both were written, the entity is found only once, through
/// the stamps of the field.
void PositionLinks::find_differences(const Followed& followed, TransformManager& transforms, Executor& executor) {
    const auto& [store, component, part, since] = followed.field;
    const bool moves_transforms = followed.follower == Follower::kTransform;
    Array<ComponentTable> tables{Owner("position links")};
    blocks_.clear();
    store->list_tables(*component, tables);
    for (const ComponentTable& table : tables)
        add_blocks({table, {}}, table.first_column + part.first_column, part.num_columns, since, blocks_);
    const std::uint32_t of_transforms =
        moves_transforms ? kPositionColumn : transforms.find_columns(schema_of<WorldPose>()).first_column;
    add_blocks({{&transforms.table()}, {}, true}, of_transforms, 1, since, blocks_);

    const auto* const locals = reinterpret_cast<const Vec3*>(transforms.table().column(kPositionColumn));
    const auto compare = [&](Entity entity, Instance instance, const ComponentRow& at, Array<Difference>& found) {
        const Vec3 field = read_place(at, part);
        const Vec3 place = moves_transforms ? locals[instance.row] : transforms.world_position(instance);
        if (!are_same(field, place))
            found.push_back({at.table, at.row, at.first_column, entity, moves_transforms ? field : place});
    };
    list_all(
        executor, std::span<const Block>(blocks_), differences_, [&](const Block& block, Array<Difference>& found) {
            for (std::uint32_t row = block.rows.begin; row < block.rows.end; ++row) {
                const Entity entity = block.table.table->entities()[row];
                if (!entity) continue;
                if (block.of_transforms) {
                    const ComponentRow at = store->find_row(component->id(), entity, 0);
                    if (at && at.is_enabled &&
                        !is_written(*at.table, at.first_column + part.first_column, part.num_columns, since, at.row))
                        compare(entity, {row}, at, found);
                } else if (block.table.enabled_bits == nullptr || test_bit(block.table.enabled_bits, row)) {
                    const Instance instance = transforms.instance(entity);
                    if (instance)
                        compare(entity, instance, {component, block.table.table, row, block.table.first_column}, found);
                }
            }
        });
}

// --- moving ------------------------------------------------------------------------------------------------------

void PositionLinks::spawned(const Blob&, const Spawned& spawned, const SpawnOptions&) {
    if (followed_.empty()) return;
    const TransformManager* const transforms = directory_.find_as<TransformManager>(schema_of<Transform>().id());
    for (const Followed& followed : followed_) {
        if (followed.follower != Follower::kTransform || transforms == nullptr) continue;
        const auto& [store, component, part, since] = followed.field;
        Vec3 given_none;
        std::memcpy(&given_none, component->default_image().data() + part.field->struct_offset, sizeof given_none);
        for (const Entity entity : spawned.entities()) {
            const Instance instance = transforms->instance(entity);
            const ComponentRow at = instance ? store->find_row(component->id(), entity, 0) : ComponentRow();
            if (!at || !are_same(read_place(at, part), given_none)) continue;
            const Vec3 place = transforms->local(instance).position;
            if (!are_same(place, given_none))
                write_field(followed.field, {at.table, at.row, at.first_column, entity, place});
        }
    }
}

void PositionLinks::after_commands(const SettleContext& context) {
    if (followed_.empty()) return;
    TransformManager* const transforms = directory_.find_as<TransformManager>(schema_of<Transform>().id());
    for (Followed& followed : followed_) {
        if (followed.follower != Follower::kTransform || transforms == nullptr) continue;
        find_differences(followed, *transforms, *context.executor);
        // The stores have not settled yet, so later writes still get the previous stamp.
        followed.field.since = context.stamp - 1;
        entities_.clear(), places_.clear();
        for (const Array<Difference>& found : differences_)
            for (const Difference& difference : found) {
                if (SHOAL_CHECKED != 0 && !is_sound_position(difference.place))
                    refuse_place(difference.entity, field_name(*followed.field.component, *followed.field.part.field));
                entities_.push_back(difference.entity);
                places_.push_back(difference.place);
            }
        if (!entities_.empty()) transforms->set_positions(entities_, places_, context.executor);
    }
}

void PositionLinks::write_field(const PositionField& field, const Difference& difference) {
    const ComponentRow at{field.component, difference.table, difference.row, difference.first_column};
    const auto* const place = reinterpret_cast<const std::byte*>(&difference.place);
    if (Status status = field.store->write_field(at, field.part, place); !status)
        log(LogLevel::kError,
            concat("entity ", entity_text(difference.entity), " does not follow its transform: ", status.message()));
}

void PositionLinks::after_settle(const SettleContext& context) {
    if (followed_.empty() && tiled_.empty()) return;
    write_fields(context);
    for (Tiled& tiled : tiled_) move_rows(tiled, context);
}

void PositionLinks::write_fields(const SettleContext& context) {
    TransformManager* const transforms = directory_.find_as<TransformManager>(schema_of<Transform>().id());
    for (Followed& followed : followed_) {
        if (followed.follower != Follower::kField || transforms == nullptr) continue;
        find_differences(followed, *transforms, *context.executor);
        followed.field.since = context.stamp;
        for (const Array<Difference>& found : differences_)
            for (const Difference& difference : found) write_field(followed.field, difference);
    }
}

void PositionLinks::move_rows(Tiled& tiled, const SettleContext& context) {
    const auto& [store, component, part, since] = tiled.field;
    const Zone first = tiled.tiles.options().first_zone, end = tiled.tiles.large_zone();
    const ComponentType type = tiled.database->find_component(component->id());
    blocks_.clear();
    for (DatabaseTable* const table : tiled.database->all_tables()) {
        if (table == nullptr || !table->type().has(type)) continue;
        const Zone zone = table->zone();
        const bool is_unplaced = zone == tiled.database->first_zone() && zone != end;
        if (!is_unplaced && (zone < first || zone >= end)) continue;
        const std::uint32_t column = table->first_column(type);
        add_blocks({{&table->table(), column, true, table->presence(type)}, {}, false, zone},
                   column + part.first_column, part.num_columns, since, blocks_);
    }
    list_all(*context.executor, std::span<const Block>(blocks_), leaving_by_chunk_,
             [&](const Block& block, Array<Leaving>& found) {
                 for (std::uint32_t row = block.rows.begin; row < block.rows.end; ++row) {
                     if (block.table.enabled_bits != nullptr && !test_bit(block.table.enabled_bits, row)) continue;
                     const Vec3 place = read_place({component, block.table.table, row, block.table.first_column}, part);
                     const Zone zone = tiled.tiles.zone_of(place);
                     // Rows whose position is NaN are not moved, because they would stay in the large zone forever.
                     if (zone != block.zone && zone != tiled.tiles.large_zone())
                         found.push_back({block.table.table->entities()[row], zone});
                 }
             });
    leaving_.clear();
    for (const Array<Leaving>& found : leaving_by_chunk_) leaving_.insert(leaving_.end(), found.begin(), found.end());
    std::sort(leaving_.begin(), leaving_.end(), [](const Leaving& a, const Leaving& b) {
        return a.zone != b.zone ? a.zone < b.zone : a.entity < b.entity;
    });
    // After an error, all rows are checked again, because rows that were not moved have old stamps.
    if (move_leaving(*tiled.database, context)) tiled.field.since = context.stamp;
}

/// Moves the rows in leaving_. Returns whether all of them were moved.
bool PositionLinks::move_leaving(Database& database, const SettleContext& context) {
    bool have_all = true;
    entities_.clear();
    for (std::size_t i = 0; i < leaving_.size(); ++i) {
        entities_.push_back(leaving_[i].entity);
        if (i + 1 < leaving_.size() && leaving_[i + 1].zone == leaving_[i].zone) continue;
        const Result<std::uint32_t> moved = database.move(entities_, leaving_[i].zone);
        if (!moved) log(LogLevel::kError, concat("rows stay in tiles that they have left: ", moved.message()));
        have_all = have_all && moved;
        if (moved && context.counts != nullptr) context.counts->num_moved += *moved;
        entities_.clear();
    }
    return have_all;
}

// --- saving ------------------------------------------------------------------------------------------------------

namespace {

/// A declaration, and a stamp; writes at or after the stamp have not been checked. A program that loads the state may
/// have different declarations.
struct SavedLink {
    std::uint64_t component, field;  // hashes of their names
    std::uint64_t kind;              // a Follower, or kInTiles
    std::uint64_t since;

    bool is_same(const SavedLink& other) const {
        return component == other.component && field == other.field && kind == other.kind;
    }
};
constexpr std::string_view kSaved = "declared";
constexpr std::uint64_t kInTiles = 2;

template <class PositionField>
SavedLink saved_place(const PositionField& place, std::uint64_t kind) {
    return {place.component->id().hash, hash_text(place.part.field->name), kind, place.since};
}

}  // namespace

std::string PositionLinks::describe() const {
    std::string text;
    const auto append = [&](const PositionField& place, std::string_view what) {
        text += concat(text.empty() ? "" : ", ", field_name(*place.component, *place.part.field), what);
    };
    for (const Followed& followed : followed_)
        append(followed.field,
               followed.follower == Follower::kField ? " follows the transform" : " is followed by the transform");
    for (const Tiled& tiled : tiled_) append(tiled.field, " decides about the tile");
    return text;
}

void PositionLinks::save_part(SnapshotWriter& to) const {
    Array<SavedLink> all{Owner("position links")};
    for (const Followed& followed : followed_)
        all.push_back(saved_place(followed.field, static_cast<std::uint64_t>(followed.follower)));
    for (const Tiled& tiled : tiled_) all.push_back(saved_place(tiled.field, kInTiles));
    to.array(kSaved, std::span<const SavedLink>(all));
}

Status PositionLinks::load_part(SnapshotReader& from, std::uint32_t) {
    Array<SavedLink> all{Owner("position links")};
    if (from.has(kSaved))
        if (Status status = from.array(kSaved, all); !status) return status;
    const auto is_to_come = [&](const SavedLink& one) { return one.since > directory_.stamp(); };
    if (!from.is_trusted() && std::ranges::any_of(all, is_to_come))
        return from.error(kSaved, "a place is to be looked at only from a stamp on that lies in the future");
    const auto take_over = [&](PositionField& place, std::uint64_t kind) {
        const SavedLink here = saved_place(place, kind);
        const auto saved = std::ranges::find_if(all, [&](const SavedLink& one) { return one.is_same(here); });
        place.since = saved == all.end() ? 0 : saved->since;
    };
    for (Followed& followed : followed_) take_over(followed.field, static_cast<std::uint64_t>(followed.follower));
    for (Tiled& tiled : tiled_) take_over(tiled.field, kInTiles);
    return {};
}

}  // namespace shoal
