#include "shoal/store/detail/owned_rows.h"

#include "shoal/base/detail/running_pass.h"
#include "shoal/base/random.h"
#include "shoal/base/text.h"
#include "shoal/store/detail/owners_by_value.h"
#include "shoal/store/detail/stable_span.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

constexpr std::uint32_t kLivingInARow = 4;
constexpr std::uint32_t kMostDraws = 16;      // after drawing this many holes, draw_row() counts the owned rows
constexpr std::uint32_t kCountedRows = 4096;  // owned rows are counted in blocks of this many rows

std::uint32_t highest_index(std::span<const Entity> entities) {
    std::uint32_t highest = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) highest = std::max(highest, entities[i].index());
    return highest;
}

}  // namespace

/// The rows that were shown last.
struct OwnedRows::Shown {
    Array<Entity> owners{Owner("owned rows")};
    Array<std::uint32_t> next{Owner("owned rows")}, previous{Owner("owned rows")};  // for `many` types
};

OwnedRows::OwnedRows(const Schema& component, EntityManager& entities, PagePool& pool, const OwnedRowsOptions& options)
    : schema_(component),
      entities_(entities),
      options_(options),
      index_(options.index, &pool),
      table_(options.row_schema != nullptr ? *options.row_schema : schema_, pool,
             {.capacity_rows = options.capacity_rows, .chain = component.many(), .tree = options.tree}),
      plain_index_(options.index == RowIndexKind::kPaged && !component.many()),
      pool_(pool) {
    SHOAL_ASSERT(!component.many() || options.index != RowIndexKind::kIdentity,
                 "with an identity index an entity has one row; use a paged or hash index for `many`");
    SHOAL_ASSERT(options.remove_dead == nullptr || options.death != DeathPolicy::kRandomProbe,
                 "random probes remove rows one by one; a store that removes more chooses another policy");
    table_.attach_index(&index_);
    if (!options.follows_deaths) return;
    if (options.death != DeathPolicy::kByCallback) {
        cursor_ = entities.open_death_cursor(schema_.name());
        return;
    }
    callback_ =
        options.remove_dead != nullptr
            ? entities.add_destruction_callback(options.remove_dead, options.store)
            : entities.add_destruction_callback(
                  [](void* self, std::span<const Entity> dead) { static_cast<OwnedRows*>(self)->remove(dead); }, this);
}

OwnedRows::~OwnedRows() {
    delete owners_by_value_;
    delete shown_;
    stop_following_deaths();
    if (table_.schema().has_opaque()) table_.clear();  // while all members exist, because destructors may remove rows
}

void OwnedRows::stop_following_deaths() {
    if (cursor_.number != 0) entities_.close_death_cursor(std::exchange(cursor_, DeathCursor()));
    if (callback_.number != 0) entities_.remove_destruction_callback(std::exchange(callback_, DestructionCallback()));
}

OwnersByValue& OwnedRows::owners_by_value() {
    OwnersByValue* known = __atomic_load_n(&owners_by_value_, __ATOMIC_ACQUIRE);
    if (known != nullptr) return *known;
    auto* const made = new OwnersByValue(*this, pool_);
    // If two passes make the first request at the same time, only one of the two objects is kept.
    if (__atomic_compare_exchange_n(&owners_by_value_, &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return *made;
    delete made;
    return *known;
}

void OwnedRows::refuse_change(const char* call) const {
    refuse_structural_call(call, options_.kind, schema_.name(),
                           __atomic_load_n(&num_locks_, __ATOMIC_RELAXED) >= kPassesRun);
}

void OwnedRows::refuse_row(Instance instance) const {
    const std::uint32_t row = instance.row;
    std::string message;
    if (row == kNilRow)
        message =
            concat("the instance of \"", schema_.name(), "\" is nil: its entity is dead, or has none; ask has() first");
#if SHOAL_CHECKED
    else if (instance.known.is_of_other(table_.row_versions()))
        message = concat("an instance of another store was passed to ", options_.kind, " of \"", schema_.name(),
                         "\"; ask this one for an instance of the entity");
#endif
    else if (row >= table_.num_rows())
        message = concat("the instance is row ", row, " of \"", schema_.name(), "\", which has ", table_.num_rows(),
                         ": it was removed or has moved; look instances up again after rows came or went");
    else
        message = concat("the instance of row ", row, " of \"", schema_.name(),
                         "\" is older than the last removal or move of rows, so the row may be of another entity; look "
                         "instances up again after rows came or went");
    fail_assertion("the instance is a row", message);
}

// --- adding ------------------------------------------------------------------------------------------------------

/// Consecutive new rows that are filled in one call.
struct OwnedRows::FilledRows {
    OwnedRows& owned;
    FillRows fill;
    void* context;
    RowRange rows{0, 0};
    std::size_t first_source = 0;

    void flush() {
        if (rows.begin < rows.end) fill(context, owned.table_, rows, first_source);
        rows = {0, 0};
    }
    void extend(std::uint32_t row, std::size_t source) {
        if (rows.end == row && first_source + (rows.end - rows.begin) == source && rows.begin < rows.end) {
            ++rows.end;
            return;
        }
        flush();
        rows = {row, row + 1};
        first_source = source;
    }
};

Status OwnedRows::reserve(std::size_t count, std::uint32_t highest) {
    require_unlocked("add()");
    if (count == 0) return {};
    const std::uint32_t num_rows = table_.num_rows();
    const bool removes_all_dead = options_.death == DeathPolicy::kAtSettle && cursor_.number != 0 && shown_ == nullptr;
    if (num_rows == 0 && removes_all_dead && !entities_.deaths(cursor_).fell_behind)
        deaths_seen_ = entities_.deaths_end();
    const std::size_t num_more = options_.index != RowIndexKind::kIdentity ? count
                                 : highest < num_rows                      ? 0
                                                                           : std::size_t(highest) + 1 - num_rows;
    if (num_more > options_.capacity_rows - num_rows && schema_.singleton())
        return Status::error(concat("\"", schema_.name(),
                                    "\" is a singleton: its one row belongs to another entity; set that "
                                    "one, which World::singleton() returns"));
    if (num_more > options_.capacity_rows - num_rows)
        return Status::error(concat("the store of \"", schema_.name(), "\" holds ", num_rows, " rows and at most ",
                                    options_.capacity_rows, "; ", num_more, " more do not fit"));
    if (Status status = index_.reserve(static_cast<std::uint32_t>(count), highest); !status) return status;
    return table_.reserve(static_cast<std::uint32_t>(num_more));
}

Status OwnedRows::reserve(std::size_t count) {
    const std::uint64_t highest = std::min(entities_.num_indices_used() + count, entities_.max_entities());
    return reserve(count, static_cast<std::uint32_t>(highest));
}

Result<bool> OwnedRows::prepare_values(std::span<const Entity> entities, bool removes) {
    if (!removes)
        if (Status status = reserve_for(entities); !status) return status;
    return true;
}

Status OwnedRows::reserve_for(std::span<const Entity> entities) {
    // The index of a living entity is at most num_used; other ids in the span need no room.
    const auto num_used = static_cast<std::uint32_t>(entities_.num_indices_used());
    Status status = reserve(entities.size(), std::min(highest_index(entities), num_used));
    if (SHOAL_LIKELY(status.ok())) return status;
    // There may be room if dead entities, and entities that already have a row, are not counted.
    std::size_t num_newcomers = 0;
    std::uint32_t highest = 0;
    for (const Entity entity : entities) {
        if (!entities_.alive(entity) || (!schema_.many() && has(entity))) continue;
        ++num_newcomers;
        highest = std::max(highest, entity.index());
    }
    return num_newcomers < entities.size() ? reserve(num_newcomers, highest) : status;
}

std::uint32_t OwnedRows::append(Entity entity) {
    ++num_structural_changes_;
    if (options_.index == RowIndexKind::kIdentity) {
        table_.occupy(entity);
        return entity.index();
    }
    const std::uint32_t row = table_.append({&entity, 1});
    if (schema_.many())
        table_.push_chain(row);
    else
        index_.set(entity, row);
    return row;
}

/// Adds index entries for the leading entities that are alive and have none. These entities get the rows after the last
/// row. Returns how many entries were added. Requires: plain_index_ is set, and room is reserved.
std::uint32_t OwnedRows::place_leading(std::span<const Entity> entities) {
    return index_.set_leading(entities, entities_, table_.num_rows(), [](std::span<const Entity>, bool) {});
}

bool OwnedRows::append_all(std::span<const Entity> entities) {
    SHOAL_ASSERT(plain_index_, "rows are appended as a whole to a paged index without `many` only");
    const std::uint32_t num_placed = place_leading(entities);
    if (num_placed != entities.size()) {
        for (const Entity entity : entities.first(num_placed)) index_.entry(entity.index()) = 0;
        return false;
    }
    table_.append(entities);
    num_structural_changes_ += num_placed;
    return true;
}

Result<AddCounts> OwnedRows::add(std::span<const Entity> added, FillRows fill, void* context) {
    const StableSpan stable(added, table_.entities());
    const std::span<const Entity> entities = stable.get();
    if (Status status = reserve_for(entities); !status) return status;
    AddCounts counts;
    FilledRows run{*this, fill, context};
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (const std::uint32_t count = plain_index_ ? place_leading(entities.subspan(i)) : 0; count != 0) {
            run.flush();
            table_.append(entities.subspan(i, count));
            fill(context, table_, {table_.num_rows() - count, table_.num_rows()}, i);
            num_structural_changes_ += count;
            counts.num_added += count;
            i += count - 1;
            continue;
        }
        const Entity entity = entities[i];
        if (SHOAL_UNLIKELY(!entities_.alive(entity))) {
            ++counts.num_skipped;
            continue;
        }
        const std::uint32_t there = index_.find_any_generation(entity);
        if (SHOAL_UNLIKELY(there != kNilRow && table_.entities()[there] != entity)) {
            run.flush();
            remove_stale(entity);
        } else if (there != kNilRow && !schema_.many()) {
            run.flush();
            fill(context, table_, {there, there + 1}, i);
            ++counts.num_set;
            continue;
        }
        run.extend(append(entity), i);
        ++counts.num_added;
    }
    run.flush();
    return counts;
}

Result<std::uint32_t> OwnedRows::add_values(const Schema& component, std::span<const Entity> entities,
                                            const AddedValues& values) {
    if (component.layout_hash() != schema_.layout_hash())
        return Status::error(concat("the rows are of ", schema_.to_text(), ", not of ", component.to_text()));
    const Result<AddCounts> added = add(
        entities,
        [](void* context, Table& table, RowRange rows, std::size_t first) {
            const AddedValues& from = *static_cast<const AddedValues*>(context);
            if (from.write != nullptr)
                for (std::uint32_t i = 0; i < rows.size(); ++i)
                    from.write(from.context, table, 0, rows.begin + i, first + i);
            else if (from.images == nullptr)
                table.fill(rows, table.schema().default_image().data());
            else
                table.scatter(rows, from.images + first * from.stride, from.stride);
            table.stamp_rows(rows);
        },
        const_cast<AddedValues*>(&values));  // NOLINT: it is only read
    if (!added) return added.status();
    return added->num_added + added->num_set;
}

// --- spawning ----------------------------------------------------------------------------------------------------

Status OwnedRows::spawn(const SpawnBatch& batch) {
    if (Status status = reserve_batch(batch); !status) return status;
    if (options_.index == RowIndexKind::kIdentity)
        spawn_in_place(batch);
    else
        append_batch(batch);
    return {};
}

Status OwnedRows::reserve_batch(const SpawnBatch& batch) {
    require_unlocked("spawn()");
    require_batch(batch, schema_);
    if (batch.entity_index.empty() || batch.num_copies == 0) return {};
    const IndexRange range = index_range(batch.entities);
    SHOAL_ASSERT(range.lowest != 0, "an entity of the batch is null");
    if (!plain_index_ || !index_.is_free(range, batch.entities.size()))
        if (Status status = require_free(batch); !status) return status;
    return reserve(batch.entity_index.size() * batch.num_copies, range.highest);
}

/// Removes rows that older entities with the same indices as the new entities have left behind. Errors: a new entity
/// already has a row.
Status OwnedRows::require_free(const SpawnBatch& batch) {
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
        for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
            const Entity owner = batch.owner(copy, i);
            if (SHOAL_LIKELY(index_.find_any_generation(owner) == kNilRow)) continue;
            if (remove_stale(owner) && !schema_.many())
                return Status::error(concat("an entity of the batch has a \"", schema_.name(), "\" already"));
        }
    return {};
}

RowRange OwnedRows::append_batch(const SpawnBatch& batch) {
    SHOAL_ASSERT(options_.index != RowIndexKind::kIdentity, "with an identity index rows are not side by side");
    const auto count = static_cast<std::uint32_t>(batch.entity_index.size());
    const std::uint32_t first = table_.num_rows();
    if (count == 0 || batch.num_copies == 0) return {first, first};
    ++num_structural_changes_;
    const std::span<Entity> owners = table_.append_unowned(count * batch.num_copies);
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy) {
        const RowRange rows{first + copy * count, first + (copy + 1) * count};
        place_owners(batch, copy, rows, owners.data() + std::size_t(copy) * count);
        table_.copy_columns(rows, batch.columns);
        translate_entities(batch, copy, schema_, table_, 0, rows);
    }
    // Rows are pushed onto their chains from last to first, so that each chain is in source order.
    for (std::uint32_t row = table_.num_rows(); schema_.many() && row-- > first;) table_.push_chain(row);
    return {first, table_.num_rows()};
}

/// Writes the owners of one copy to `owners`, and their rows to the index.
void OwnedRows::place_owners(const SpawnBatch& batch, std::uint32_t copy, RowRange rows, Entity* owners) {
    if (!plain_index_) {
        for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
            const Entity owner = batch.owner(copy, row - rows.begin);
            *owners++ = owner;
            if (!schema_.many()) index_.set(owner, row);
        }
        return;
    }
    EntityBits* const __restrict entries = index_.entries().data();
    const Entity* const entities = batch.entities.data() + std::size_t(copy) * batch.num_blob_entities;
    const std::uint32_t* const from = batch.entity_index.data();
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        const Entity owner = entities[from[i]];
        owners[i] = owner;
        entries[owner.index()] = RowIndex::entry_of(owner, rows.begin + i);
    }
}

/// Spawns with an identity index, where the row of a component is the index of its entity.
void OwnedRows::spawn_in_place(const SpawnBatch& batch) {
    const std::span<const ColumnDefinition> columns = schema_.columns();
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
        for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
            const std::uint32_t row = append(batch.owner(copy, i));
            for (std::uint32_t c = 0; c < columns.size(); ++c) {
                const std::size_t bytes = columns[c].element_bytes;
                std::memcpy(table_.write_element(c, row), batch.columns[c] + i * bytes, bytes);
            }
            translate_entities(batch, copy, schema_, table_, 0, {row, row + 1});
        }
}

// --- rows in a store's own memory --------------------------------------------------------------------------------

/// Removes the shown rows from the index.
void OwnedRows::forget_shown() {
    for (std::uint32_t row = 0; row < shown_->owners.size(); ++row) index_.erase(shown_->owners[row], row);
    shown_->owners.clear();
}

/// Updates the index for rows with a new owner. Errors: see show().
Status OwnedRows::find_shown(std::span<const Entity> owners, std::span<const std::uint32_t> next) {
    Array<Entity>& before = shown_->owners;
    const std::size_t num_common = schema_.many() ? 0 : std::min(before.size(), owners.size());
    const auto is_same = [&](std::size_t row) { return row < num_common && before[row] == owners[row]; };
    for (std::uint32_t row = 0; row < before.size(); ++row)
        if (!is_same(row)) index_.erase(before[row], row);
    for (std::uint32_t row = 0; row < next.size(); ++row)  // a row that another row points to is not the first
        if (next[row] != kNilRow) {
            if (next[row] >= owners.size() || shown_->previous[next[row]] != kNilRow ||
                owners[next[row]] != owners[row])
                return Status::error(
                    concat("row ", row, " names row ", next[row], " as the next of its entity, which is none"));
            shown_->previous[next[row]] = row;
        }
    for (std::uint32_t row = 0; row < owners.size(); ++row) {
        if (is_same(row) || (!next.empty() && shown_->previous[row] != kNilRow)) continue;
        if (!owners[row]) return Status::error(concat("row ", row, " has no owner"));
        if (index_.find(owners[row]) != kNilRow)
            return Status::error(concat("rows ", index_.find(owners[row]), " and ", row, " have one owner"));
        index_.set(owners[row], row);
    }
    for (std::uint32_t row = 0; row < owners.size(); ++row)
        if (row >= before.size() || before[row] != owners[row]) table_.stamp_row(row);
    before.assign(owners.begin(), owners.end());
    return {};
}

Status OwnedRows::show(std::span<Entity> owners, std::span<std::byte* const> columns,
                       std::span<const std::uint32_t> next) {
    SHOAL_ASSERT(options_.remove_dead != nullptr && next.size() == (schema_.many() ? owners.size() : 0),
                 "rows that others keep are removed by them, and linked if an entity has several");
    require_unlocked("show()");
    if (shown_ == nullptr) shown_ = new Shown;
    deaths_seen_ = kUnknown;
    ++num_structural_changes_;
    shown_->next.assign(next.begin(), next.end());
    shown_->previous.assign(next.size(), kNilRow);
    std::uint32_t* const links[] = {shown_->next.data(), shown_->previous.data()};
    const std::span<std::uint32_t* const> all_links(links, schema_.many() ? 2 : 0);
    Status status;
    if (owners.size() > options_.capacity_rows)
        status = Status::error(concat(owners.size(), " rows are more than a store has"));
    if (status) status = index_.reserve(static_cast<std::uint32_t>(owners.size()), highest_index(owners));
    if (status) {
        table_.show(owners, columns, all_links);
        status = find_shown(owners, next);
    }
    if (status) return status;
    forget_shown();
    for (std::uint32_t row = 0; row < owners.size(); ++row) index_.erase(owners[row], row);
    table_.show({}, columns, all_links);
    return status;
}

// --- removing ----------------------------------------------------------------------------------------------------

void OwnedRows::remove_row(std::uint32_t row) {
    ++num_structural_changes_;
    table_.remove(row);
    // A state without this store may be loaded next, and deaths are then counted from an earlier number.
    if (table_.num_rows() == 0) deaths_seen_ = kUnknown;
}

bool OwnedRows::remove_stale(Entity entity) {
    for (;;) {
        const std::uint32_t row = index_.find_any_generation(entity);
        if (row == kNilRow) return false;
        const Entity there = table_.entities()[row];
        if (there == entity) return true;
        if (options_.remove_dead != nullptr)
            options_.remove_dead(options_.store, {&there, 1});
        else
            remove_row(row);
    }
}

/// Removes all rows of the entities, except entities that are alive in `spared`, and returns how many rows were
/// removed.
std::uint32_t OwnedRows::remove_owned(std::span<const Entity> entities, const EntityManager* spared) {
    const std::uint32_t num_removed = table_.remove_owned(entities, spared);
    num_structural_changes_ += num_removed;
    if (table_.num_rows() == 0) deaths_seen_ = kUnknown;
    return num_removed;
}

std::uint32_t OwnedRows::remove(std::span<const Entity> entities) {
    require_unlocked("remove()");
    const StableSpan stable(entities, table_.entities());
    return remove_owned(stable.get(), nullptr);
}

void OwnedRows::clear() {
    require_unlocked("clear()");
    ++num_structural_changes_;
    table_.clear();
    deaths_seen_ = kUnknown;
}

void OwnedRows::retire() {
    clear();
    table_.shrink();
    index_.clear(true);
    delete std::exchange(owners_by_value_, nullptr);
    delete std::exchange(shown_, nullptr);
    stop_following_deaths();
}

// --- dead entities -----------------------------------------------------------------------------------------------

void OwnedRows::remove_by_policy(const SettleContext& context) {
    const std::uint32_t num_before = num_owned();
    if (options_.death == DeathPolicy::kAtSettle) {
        remove_listed_deaths();
    } else if (options_.death == DeathPolicy::kRandomProbe) {
        SHOAL_ASSERT(context.random != nullptr, "random probes need the world's random generator");
        collect(*context.random, options_.max_collected);
        remove_before_reuse();
    }
    if (context.counts != nullptr) context.counts->num_removed += num_before - num_owned();
}

/// Removes the rows of entities that have died since the last settle. Between two settles, an index may run through all
/// of its generations, so that an id on the list is alive again. Therefore, only rows of dead entities are removed.
void OwnedRows::remove_listed_deaths() {
    const DeathRange dead = entities_.deaths(cursor_);
    const bool may_sweep = has_plain_rows() && options_.remove_dead == nullptr;
    const bool sweeps = dead.fell_behind || (may_sweep && dead.calls_for_sweep(table_.num_rows()));
    if (sweeps) {
        // Deaths during the sweep, for example in destructors of values, belong to the next settle.
        entities_.advance(cursor_, dead.end);
        remove_all_dead();
    } else {
        if (options_.remove_dead != nullptr)
            options_.remove_dead(options_.store, dead.entities);
        else
            remove_owned(dead.entities, &entities_);
        entities_.advance(cursor_, dead.end);
    }
    if (shown_ == nullptr) deaths_seen_ = dead.end;
}

/// Before ids are reused, removes the rows of dead entities that random probes have not found.
void OwnedRows::remove_before_reuse() {
    const std::uint64_t num_deaths = entities_.deaths_end();
    if (num_deaths != entities_.death_position(cursor_)) entities_.advance(cursor_, num_deaths);
    if (num_deaths - removed_all_at_ < entities_.deaths_before_reuse() / 2) return;
    remove_all_dead();
    removed_all_at_ = num_deaths;
}

/// Removes every row whose entity is dead.
void OwnedRows::remove_all_dead() {
    if (options_.remove_dead != nullptr) {
        Array<Entity> owners{Owner("owned rows")};
        owners.assign(table_.entities().begin(), table_.entities().end());
        return options_.remove_dead(options_.store, owners);
    }
    num_structural_changes_ += table_.remove_dead(entities_);
}

CollectCounts OwnedRows::collect(Random& random, std::uint32_t max_removed) {
    require_unlocked("collect()");
    CollectCounts counts;
    std::uint32_t num_living = 0;
    while (table_.num_rows() > 0 && num_living < kLivingInARow && counts.num_removed < max_removed) {
        ++counts.num_probes;
        const std::uint32_t row = draw_row(random);
        if (entities_.alive(table_.entities()[row])) {
            ++num_living;
            continue;
        }
        num_living = 0;
        const std::uint64_t changes = num_structural_changes_;
        remove_row(row);
        if (counted_at_ == changes && num_structural_changes_ == changes + 1) {
            --num_owned_in_[row / kCountedRows];
            counted_at_ = num_structural_changes_;
        }
        ++counts.num_removed;
    }
    return counts;
}

/// Draws a row at random from the rows that have an owner, each with the same probability. Requires: at least one row
/// has an owner.
std::uint32_t OwnedRows::draw_row(Random& random) {
    const std::span<const Entity> owners = table_.entities();
    for (std::uint32_t draw = 0; draw < kMostDraws; ++draw)
        if (const std::uint32_t row = random.below(table_.num_rows()); owners[row]) return row;
    if (counted_at_ != num_structural_changes_) count_owned();
    std::uint32_t num_before = random.below(num_owned());  // the number of rows with an owner before the drawn row
    std::uint32_t block = 0;
    while (block < num_owned_in_.size() && num_before >= num_owned_in_[block]) num_before -= num_owned_in_[block++];
    SHOAL_ASSERT(block < num_owned_in_.size(), "rows came or went past the store that owns them");
    std::uint32_t row = block * kCountedRows;
    while (!owners[row] || num_before-- != 0) ++row;
    return row;
}

/// Counts the rows that have an owner, by block. The counts are valid until rows are added or removed.
void OwnedRows::count_owned() {
    num_owned_in_.assign(table_.num_rows() / kCountedRows + 1, 0);
    for (std::uint32_t row = 0; row < table_.num_rows(); ++row)
        num_owned_in_[row / kCountedRows] += bool(table_.entities()[row]);
    counted_at_ = num_structural_changes_;
}

void OwnedRows::settle_table(const SettleContext& context) {
    table_.settle_memory();
    table_.set_stamp(std::max(table_.stamp(), context.stamp));
}

// --- reports -----------------------------------------------------------------------------------------------------

std::size_t OwnedRows::statistics(std::span<StoreStatistics> out) const {
    if (out.empty()) return 1;
    StoreStatistics& result = out[0];
    result = {};
    result.component = schema_.name();
    result.num_rows = num_owned();
    for (const Entity owner : table_.entities()) result.num_dead_rows += owner && !entities_.alive(owner);
    result.rows = table_.memory_use();
    result.index = index_.memory_use();
    return 1;
}

Status OwnedRows::validate() const {
    if (Status status = table_.validate(); !status) return status;
    std::uint64_t num_counted = 0;
    for (const std::uint32_t count : num_owned_in_) num_counted += count;
    if (counted_at_ == num_structural_changes_ && num_counted != num_owned())
        return Status::error(concat("store of \"", schema_.name(), "\": its holes are counted wrongly"));
    return {};
}

std::span<const Schema* const> OwnedRows::schemas() const { return {&schema_pointer_, 1}; }
std::span<const Table* const> OwnedRows::tables() const { return {&table_pointer_, 1}; }

void OwnedRows::require_no_loop(const char* call) const {
    if (SHOAL_UNLIKELY((__atomic_load_n(&num_locks_, __ATOMIC_RELAXED) & (kPassesRun - 1)) != 0)) refuse_change(call);
}

OwnedColumns OwnedRows::find_columns(const Schema& component) {
    if (component.id() != schema_.id()) return {};
    SHOAL_ASSERT(component.layout_hash() == schema_.layout_hash(),
                 "the store of this component type was made from another schema than that of the C++ type");
    return {.rows = this};
}

}  // namespace shoal
