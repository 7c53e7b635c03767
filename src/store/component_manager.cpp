#include "shoal/store/component_manager.h"

#include "shoal/base/random.h"
#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::size_t kRunLength = 512;  // entities looked at in one go: their entries stay in the nearest cache
constexpr std::uint32_t kLivingInARow = 4;
constexpr std::size_t kDeadShare = 2;  // from one row in so many on, one pass over all rows removes the dead

std::uint32_t highest_index(std::span<const Entity> entities) {
    std::uint32_t highest = 0;
    for (const Entity entity : entities) highest = std::max(highest, entity.index());
    return highest;
}

/// The entities of a call, copied if they lie in the table that the call changes.
class StableSpan {
public:
    StableSpan(std::span<const Entity> entities, const Table& table) : span_(entities) {
        const std::span<const Entity> own = table.entities();
        if (entities.empty() || entities.data() + entities.size() <= own.data() ||
            entities.data() >= own.data() + own.size())
            return;
        copy_.assign(entities.begin(), entities.end());
        span_ = copy_;
    }
    std::span<const Entity> get() const { return span_; }

private:
    Array<Entity> copy_{Owner("component manager")};
    std::span<const Entity> span_;
};

}  // namespace

ComponentManager::ComponentManager(const Schema& schema, EntityManager& entities, PagePool& pool,
                                   const ManagerOptions& options)
    : schema_(schema),
      entities_(entities),
      options_(options),
      index_(options.index, &pool),
      table_(schema_, pool, {.capacity_rows = options.capacity_rows, .chain = schema.many(), .tree = false}) {
    SHOAL_ASSERT(!schema.many() || options.index != RowIndexKind::kIdentity,
                 "with an identity index an entity has one row; use a paged or hash index for `many`");
    table_.attach_index(&index_);
    plain_index_ = options.index == RowIndexKind::kPaged && !schema.many();
    if (options.death == DeathPolicy::kAtSettle) cursor_ = entities.open_death_cursor();
    if (options.death == DeathPolicy::kByCallback)
        callback_ = entities.add_destruction_callback(
            [](void* self, std::span<const Entity> dead) { static_cast<ComponentManager*>(self)->remove(dead); }, this);
}

ComponentManager::~ComponentManager() {
    if (cursor_.number != 0) entities_.close_death_cursor(cursor_);
    if (callback_.number != 0) entities_.remove_destruction_callback(callback_);
}

// --- adding ------------------------------------------------------------------------------------------------------

/// Consecutive new rows that are filled in one call.
struct ComponentManager::Run {
    ComponentManager& manager;
    FillRows fill;
    void* context;
    RowRange rows{0, 0};
    std::size_t first_source = 0;

    void flush() {
        if (rows.begin < rows.end) fill(context, manager.table_, rows, first_source);
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

/// Makes room for `count` more components, of entities with indices up to `highest`.
Status ComponentManager::reserve_rows(std::size_t count, std::uint32_t highest) {
    if (count == 0) return {};
    const std::uint32_t num_rows = table_.num_rows();
    const std::size_t num_more = options_.index != RowIndexKind::kIdentity ? count
                                 : highest < num_rows                      ? 0
                                                                           : std::size_t(highest) + 1 - num_rows;
    if (num_more > options_.capacity_rows - num_rows)
        return Status::error(concat("the manager of \"", schema_.name(), "\" holds ", num_rows, " rows and at most ",
                                    options_.capacity_rows, "; ", num_more, " more do not fit"));
    if (Status status = index_.reserve(static_cast<std::uint32_t>(count), highest); !status) return status;
    return table_.reserve(static_cast<std::uint32_t>(num_more));
}

/// Makes room for what add() of these entities needs.
Status ComponentManager::reserve(std::span<const Entity> entities) {
    // The living have indices that were given out; whatever else is in the span needs no room.
    const auto num_used = static_cast<std::uint32_t>(entities_.num_indices_used());
    Status status = reserve_rows(entities.size(), std::min(highest_index(entities), num_used));
    if (SHOAL_LIKELY(status.ok())) return status;
    // Without the dead, and those that will only be set, it may fit.
    std::size_t num_newcomers = 0;
    std::uint32_t highest = 0;
    for (const Entity entity : entities) {
        if (!entities_.alive(entity) || (!schema_.many() && has(entity))) continue;
        ++num_newcomers;
        highest = std::max(highest, entity.index());
    }
    return num_newcomers < entities.size() ? reserve_rows(num_newcomers, highest) : status;
}

/// Removes what an entity of an older generation left on the index of `entity`.
void ComponentManager::remove_stale(Entity entity) {
    for (std::uint32_t row = index_.find_any_generation(entity); row != kNilRow;
         row = index_.find_any_generation(entity)) {
        if (table_.entities()[row] == entity) return;
        remove_row(row);
    }
}

/// Gives a living entity without a row one, and returns it. Requires: reserved.
std::uint32_t ComponentManager::place(Entity entity) {
    ++num_structural_changes_;
    if (options_.index != RowIndexKind::kIdentity) {
        const std::uint32_t row = table_.append({&entity, 1});
        if (schema_.many())
            table_.push_chain(row);
        else
            index_.set(entity, row);
        return row;
    }
    table_.occupy(entity);
    return entity.index();
}

/// Gives those living entities at the front that have no row one, and returns how many they are. Requires:
/// plain_index_, reserved.
std::uint32_t ComponentManager::place_leading(std::span<const Entity> entities) {
    const std::span<EntityBits> entries = index_.entries();
    const std::uint32_t first = table_.num_rows();
    std::uint32_t row = first;
    for (std::size_t begin = 0; begin == row - first && begin < entities.size(); begin += kRunLength) {
        const std::span<const Entity> some = entities.subspan(begin, std::min(kRunLength, entities.size() - begin));
        if (place_run(some, row)) {
            row += static_cast<std::uint32_t>(some.size());
            continue;
        }
        for (const Entity entity : some) {
            if (SHOAL_UNLIKELY(!entities_.alive(entity) || entries[entity.index()] != 0)) break;
            entries[entity.index()] = RowIndex::entry_of(entity, row++);
        }
    }
    table_.append(entities.first(row - first));
    num_structural_changes_ += row - first;
    return row - first;
}

/// Writes the entries of entities whose ids follow on each other, if all live and none has a row: loops over whole
/// vectors, where one by one each entity costs two look-ups.
bool ComponentManager::place_run(std::span<const Entity> entities, std::uint32_t first_row) {
    if (!entities_.is_living_run(entities)) return false;
    EntityBits* const entries = index_.entries().data() + entities.front().index();
    EntityBits any = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) any |= entries[i];
    if (any != 0) return false;
    const EntityBits first = RowIndex::entry_of(entities.front(), first_row);
    for (std::size_t i = 0; i < entities.size(); ++i) entries[i] = first + static_cast<EntityBits>(i);
    return true;
}

Result<AddCounts> ComponentManager::add(std::span<const Entity> added, FillRows fill, void* context) {
    require_unlocked();
    const StableSpan stable(added, table_);
    const std::span<const Entity> entities = stable.get();
    if (Status status = reserve(entities); !status) return status;
    AddCounts counts;
    Run run{*this, fill, context};
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (const std::uint32_t count = plain_index_ ? place_leading(entities.subspan(i)) : 0; count != 0) {
            run.flush();
            fill(context, table_, {table_.num_rows() - count, table_.num_rows()}, i);
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
        run.extend(place(entity), i);
        ++counts.num_added;
    }
    run.flush();
    return counts;
}

Result<AddCounts> ComponentManager::add_images(std::span<const Entity> entities, const std::byte* images,
                                               std::size_t stride) {
    struct Images {
        const std::byte* first;
        std::size_t stride;
    } source{images, stride};
    return add(
        entities,
        [](void* context, Table& table, RowRange rows, std::size_t first_source) {
            const Images& images = *static_cast<const Images*>(context);
            if (images.stride == 0)
                table.fill(rows, images.first);
            else
                table.scatter(rows, images.first + first_source * images.stride, images.stride);
        },
        &source);
}

// --- removing ----------------------------------------------------------------------------------------------------

void ComponentManager::remove_row(std::uint32_t row) {
    ++num_structural_changes_;
    table_.remove(row);
}

std::uint32_t ComponentManager::remove(std::span<const Entity> entities) {
    require_unlocked();
    const StableSpan stable(entities, table_);
    const std::uint32_t num_removed = table_.remove_owned(stable.get());
    num_structural_changes_ += num_removed;
    return num_removed;
}

void ComponentManager::remove(Instance instance) {
    require_unlocked();
    SHOAL_ASSERT(instance.row < table_.num_rows(), "the instance is nil or was removed");
    remove_row(instance.row);
}

void ComponentManager::clear() {
    require_unlocked();
    ++num_structural_changes_;
    table_.clear();
}

CollectCounts ComponentManager::collect(Random& random, std::uint32_t max_removed) {
    require_unlocked();
    CollectCounts counts;
    std::uint32_t num_living = 0;
    while (table_.num_rows() > 0 && num_living < kLivingInARow && counts.num_removed < max_removed) {
        ++counts.num_probes;
        const std::uint32_t row = random.below(table_.num_rows());
        const Entity owner = table_.entities()[row];
        if (!owner || entities_.alive(owner)) {
            ++num_living;
            continue;
        }
        num_living = 0;
        remove_row(row);
        ++counts.num_removed;
    }
    return counts;
}

/// Removes the rows of those that died since the last settle.
void ComponentManager::remove_deaths(const DeathRange& dead) {
    const bool sweeps =
        dead.fell_behind || (table_.is_packed() && dead.entities.size() > table_.num_rows() / kDeadShare);
    // Between two settles far apart all generations of an index may pass, and an id on the list may live again.
    num_structural_changes_ += sweeps ? table_.remove_dead(entities_) : table_.remove_owned(dead.entities, &entities_);
}

void ComponentManager::settle(const SettleContext& context) {
    require_unlocked();
    const std::uint32_t num_before = num_components();
    if (options_.death == DeathPolicy::kAtSettle) {
        const DeathRange dead = entities_.deaths(cursor_);
        remove_deaths(dead);
        entities_.advance(cursor_, dead.end);
    } else if (options_.death == DeathPolicy::kRandomProbe) {
        SHOAL_ASSERT(context.random != nullptr, "random probes need the world's random generator");
        collect(*context.random, options_.max_collected);
    }
    if (context.counts != nullptr) context.counts->num_removed += num_before - num_components();
    table_.settle_memory();
    table_.set_stamp(std::max(table_.stamp(), context.stamp));
}

// --- reports -----------------------------------------------------------------------------------------------------

std::size_t ComponentManager::statistics(std::span<StoreStatistics> out) const {
    if (out.empty()) return 1;
    StoreStatistics& result = out[0];
    result = {};
    result.component = schema_.name();
    result.num_rows = num_components();
    for (const Entity owner : table_.entities()) result.num_dead_rows += owner && !entities_.alive(owner);
    result.rows = table_.memory_use();
    result.index = index_.memory_use();
    return 1;
}

Status ComponentManager::validate() const { return table_.validate(); }

}  // namespace shoal
