#include "command/command_settler.h"

#include "command/command_log.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/store/field_path.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace shoal {
namespace {

constexpr std::size_t kLookedAt = 512;  // number of entities that are visited at a time, so that they stay in the cache
constexpr std::size_t kManyRows = 128;  // from this number of rows on, a separate call is worth its cost

/// Returns whether any bit in [begin, end) is set.
bool any_bit(const std::uint64_t* words, std::size_t begin, std::size_t end) {
    while (begin < end) {
        const std::size_t room = 64 - begin % 64, count = std::min(room, end - begin);
        if (words[begin / 64] >> (begin % 64) << (64 - count) != 0) return true;
        begin += count;
    }
    return false;
}

}  // namespace

CommandSettler::CommandSettler(CommandLog& log)
    : log_(log), directory_(log.directory()), entities_(log.directory().entities()) {}

SettleCounts CommandSettler::settle(std::span<detail::CommandRecorder* const> chunks, EntityBits epoch,
                                    EntityBits num_pending, std::span<Entity> awaited) {
    chunks_ = chunks;
    epoch_ = epoch & kPendingEpochMask;
    num_pending_ = num_pending;
    num_cancelled_ = 0;
    counts_ = {};
    scratch_.links.clear();
    kinds_ = 0;
    for (detail::CommandRecorder* chunk : chunks)
        for (const CommandBatch& run : chunk->runs()) num_rows_ += run.num_rows, kinds_ |= bit(run.list->kind);
    number_pending();
    destroy();
    create();
    spawn();
    copy();
    resolve_awaited(awaited);
    move();
    change();
    set();
    call();
    return counts_;
}

void CommandSettler::trim() {
    num_kept_rows_ = decaying_peak(std::exchange(num_rows_, 0), num_kept_rows_);
    std::size_t capacity = std::max({scratch_.entities.capacity(), scratch_.made.capacity(), scratch_.moves.capacity(),
                                     scratch_.singles.capacity()});
    for (const Batch& batch : scratch_.batches) capacity = std::max(capacity, batch.entities.capacity());
    if (capacity / 8 > num_kept_rows_ + 4096) scratch_ = Scratch();
}

template <class Visit>
void CommandSettler::for_each_run(Kind first, Kind last, Visit&& visit) {
    for (std::uint32_t chunk = 0; chunk < chunks_.size(); ++chunk)
        for (const CommandBatch& run : chunks_[chunk]->runs())
            if (run.list->kind >= first && run.list->kind <= last) visit(chunk, run);
}

// --- pending entities --------------------------------------------------------------------------------------------

/// Calls visit(first, how many) for pending entities with consecutive numbers, in the order in which they get ids.
template <class Visit>
void CommandSettler::for_each_pending(Visit&& visit) {
    for (const detail::CommandRecorder* chunk : chunks_)
        for (const EntityBits block : chunk->pending_blocks()) {
            const bool is_last = block == chunk->pending_blocks().back();
            const EntityBits end = is_last ? chunk->next_pending() : block + detail::CommandRecorder::kPendingBlock;
            visit(block & kPendingNumberMask, static_cast<std::size_t>(end - block));
        }
}

void CommandSettler::number_pending() {
    scratch_.owners.assign(static_cast<std::size_t>(num_pending_ / detail::CommandRecorder::kPendingBlock), kNoChunk);
    scratch_.made.resize(static_cast<std::size_t>(num_pending_));
    scratch_.once.clear(static_cast<std::size_t>(num_pending_));  // each bit that is set marks a cancelled entity
    for (std::uint32_t chunk = 0; chunk < chunks_.size(); ++chunk)
        for (const EntityBits block : chunks_[chunk]->pending_blocks())
            scratch_.owners[(block & kPendingNumberMask) / detail::CommandRecorder::kPendingBlock] = chunk;
}

/// Returns the number of a pending entity if the entity belongs to this chunk; otherwise num_pending_.
EntityBits CommandSettler::number_of(std::uint32_t chunk, Entity pending) const {
    const EntityBits number = pending.id & kPendingNumberMask;
    const bool is_of_now = pending.id >> kPendingNumberBits == (kPendingBit >> kPendingNumberBits | epoch_);
    if (!is_of_now || number >= num_pending_ ||
        scratch_.owners[number / detail::CommandRecorder::kPendingBlock] != chunk)
        return num_pending_;
    // The chunk may not have used all ids of its last block.
    return pending.id < chunks_[chunk]->next_pending() ? number : num_pending_;
}

/// Returns the entity that was created, or null.
Entity CommandSettler::resolve(std::uint32_t chunk, Entity entity) const {
    if (SHOAL_LIKELY(!is_pending(entity))) return entity;
    const EntityBits number = number_of(chunk, entity);
    return number == num_pending_ ? kNullEntity : scratch_.made[number];
}

/// Replaces a run's pending entities, and sets its dead entities to null. Calls note(span, are_run) for all entities,
/// piece by piece. If `are_run` is true, the ids of the piece are consecutive, and all of its entities are alive.
template <class Note>
void CommandSettler::resolve_entities(std::uint32_t chunk, const CommandBatch& run, Note&& note) {
    for (std::span<Entity> rest = run.entities(); !rest.empty();) {
        const std::span<Entity> some = rest.first(std::min(rest.size(), kLookedAt));
        rest = rest.subspan(some.size());
        const bool are_run = entities_.is_living_run(some);
        for (std::size_t i = are_run ? some.size() : 0; i < some.size(); ++i) {
            some[i] = resolve(chunk, some[i]);
            if (SHOAL_LIKELY(entities_.alive(some[i]))) continue;
            some[i] = kNullEntity;
            ++counts_.num_dropped;
        }
        note(some, are_run);
    }
}

/// Replaces pending entities in the entity fields of the values.
void CommandSettler::resolve_values(std::uint32_t chunk, const CommandBatch& run) {
    for (const Part& part : run.list->parts) {
        if (part.offset == 0) continue;
        for_each_entity(part.value_schema(), run.value(part, 0), run.num_rows,
                        [&](Entity& value) { value = resolve(chunk, value); });
    }
}

// --- destroying --------------------------------------------------------------------------------------------------

void CommandSettler::destroy() {
    Array<Entity>& doomed = scratch_.entities;
    doomed.clear();
    for_each_run(Kind::kDestroy, Kind::kDestroy, [&](std::uint32_t chunk, const CommandBatch& run) {
        const std::span<const Entity> named = run.entities();
        bool any_pending = false;
        for (const Entity entity : named) any_pending |= is_pending(entity);
        if (!any_pending) return static_cast<void>(doomed.insert(doomed.end(), named.begin(), named.end()));
        for (const Entity entity : named)
            if (!is_pending(entity) || !cancel(chunk, entity)) doomed.push_back(entity);
    });
    if (doomed.empty()) return;
    counts_.num_destroyed = destroy_all(doomed);
    counts_.num_dropped += doomed.size() - counts_.num_destroyed;
}

/// Destroys entities, and returns how many were alive. Callbacks may add stores during the call.
std::uint32_t CommandSettler::destroy_all(std::span<const Entity> doomed) {
    const std::uint64_t deaths_before = entities_.deaths_end();
    const std::uint32_t num_destroyed = entities_.destroy(doomed);
    for (std::size_t i = 0; i < directory_.stores().size(); ++i)
        directory_.stores()[i]->drop_destroyed(doomed, deaths_before, num_destroyed);
    return num_destroyed;
}

/// Cancels the creation of a pending entity. Returns false if the entity does not belong to this chunk, or is already
/// cancelled.
bool CommandSettler::cancel(std::uint32_t chunk, Entity pending) {
    const EntityBits number = number_of(chunk, pending);
    if (number == num_pending_ || scratch_.once.test_and_set(static_cast<std::size_t>(number))) return false;
    ++num_cancelled_;
    return true;
}

void CommandSettler::resolve_awaited(std::span<Entity> awaited) const {
    for (Entity& entity : awaited) {
        const EntityBits block = (entity.id & kPendingNumberMask) / detail::CommandRecorder::kPendingBlock;
        const std::uint32_t chunk = block < scratch_.owners.size() ? scratch_.owners[block] : kNoChunk;
        entity = chunk == kNoChunk ? kNullEntity : resolve(chunk, entity);
    }
}

// --- creating ----------------------------------------------------------------------------------------------------

void CommandSettler::create() {
    std::size_t count = 0;
    bool is_dense = num_cancelled_ == 0;  // the entities are in the order of their numbers
    for_each_pending([&](EntityBits first, std::size_t num_ids) {
        is_dense &= first == count;
        count += num_ids;
    });
    count -= num_cancelled_;
    if (!is_dense) scratch_.entities.resize(count);
    const std::span<Entity> ids = std::span(is_dense ? scratch_.made : scratch_.entities).first(count);
    if (const Status status = entities_.create(ids); !status) {
        note_failure("create", count, status.message());
        std::fill(ids.begin(), ids.end(), kNullEntity);
    }
    const Entity* next = ids.data();
    if (!is_dense)
        for_each_pending([&](EntityBits first, std::size_t num_ids) {
            for (auto number = static_cast<std::size_t>(first); number < first + num_ids; ++number)
                scratch_.made[number] = scratch_.once[number] ? kNullEntity : *next++;
        });
    for_each_run(Kind::kCreate, Kind::kCreate, [&](std::uint32_t chunk, const CommandBatch& run) {
        resolve_values(chunk, run);
        create_rows(chunk, run);
    });
    finish_batches();
}

void CommandSettler::create_rows(std::uint32_t chunk, const CommandBatch& run) {
    const std::span<const Entity> pending = run.entities();
    const std::span<const Zone> zones = run.numbers();
    const auto number_at = [&](std::size_t i) { return static_cast<std::size_t>(pending[i].id & kPendingNumberMask); };
    const std::size_t count = run.num_rows, first = number_at(0);
    bool is_one_zone = true, is_dense = true;
    bool is_whole = bool(scratch_.made[first]);  // no creation is cancelled; if there are no ids, no entity was created
    for (std::size_t i = 0; i < count; ++i) is_one_zone &= zones[i] == zones[0];
    for (std::size_t i = 0; i < count; ++i) is_dense &= number_at(i) == first + i;
    for (std::size_t i = 0; num_cancelled_ != 0 && i < count; ++i) is_whole &= bool(scratch_.made[number_at(i)]);
    if (is_one_zone && is_dense && is_whole)
        return carry_out(chunk, run, {}, std::span(scratch_.made).subspan(first, count), zones[0]);
    Array<Entity>& made = scratch_.entities;
    if (is_one_zone && is_whole) {
        made.resize(count);
        for (std::size_t i = 0; i < count; ++i) made[i] = scratch_.made[number_at(i)];
        return carry_out(chunk, run, {}, made, zones[0]);
    }
    Array<std::uint32_t>& order = scratch_.order;
    order.clear();
    for (std::uint32_t i = 0; i < count; ++i)
        if (scratch_.made[number_at(i)]) order.push_back(i);
    const auto zone_of = [&](std::uint32_t i) { return zones[i]; };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return zone_of(a) != zone_of(b) ? zone_of(a) < zone_of(b) : a < b;
    });
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        made.clear();
        for (; end < order.size() && zone_of(order[end]) == zone_of(order[begin]); ++end)
            made.push_back(scratch_.made[number_at(order[end])]);
        carry_out(chunk, run, std::span(order).subspan(begin, end - begin), made, zone_of(order[begin]));
        begin = end;
    }
}

/// Gives components to entities that were just made. Errors: a store refuses a component. On error, the entities stay
/// alive, with the components that other stores keep.
Status CommandSettler::create_together(const List& list, std::span<const Entity> made, Zone zone) {
    has_begun_ = false;
    if (!refused_) return refused_;
    group_changes();
    if (list.parts.empty()) {
        const auto first = std::ranges::find_if(directory_.stores(), &Store::places_whole_entities);
        if (first != directory_.stores().end()) scratch_.by_store.push_back({*first, 0, 0});
    }
    if (Status status = prepare_changes(made); !status) return status;
    std::uint32_t num_placed = 0;
    bool is_placed = false;
    Status status = make_changes([&](Store& store, std::span<const ComponentChange> changes, ChangeCounts& counts) {
        Status done = store.insert_new(made, zone, changes, counts);
        if (store.places_whole_entities()) is_placed = true, num_placed = std::max(num_placed, counts.num_changed);
        return done;
    });
    if (!status) return status;
    for (std::size_t i = 0; !is_placed && i < made.size(); ++i) num_placed += entities_.alive(made[i]);
    counts_.num_created += num_placed;
    return {};
}

// --- spawning and copying ----------------------------------------------------------------------------------------

/// Groups the commands of a kind by the source and the destination of the copies.
void CommandSettler::group_spawns(Kind kind) {
    Array<SpawnGroup>& groups = scratch_.groups;
    groups.clear();
    if (!has(kind)) return;
    HashMap<std::uint64_t, std::uint32_t> group_of{Owner("commands")};
    for_each_run(kind, kind, [&](std::uint32_t chunk, const CommandBatch& run) {
        const auto* const values = reinterpret_cast<const detail::SpawnValue*>(run.column(detail::SpawnValue::kOffset));
        const auto* const poses = reinterpret_cast<const RootPose*>(run.column(detail::kPoseOffset));
        const bool are_posed = has_poses(*run.list), override = has_overrides(*run.list);
        std::uint32_t last = 0;  // usually also the group of the next command
        for (std::uint32_t i = 0; i < run.num_rows; ++i) {
            const Zone zone = run.numbers()[i];
            const Entity first = resolve(chunk, run.entities()[i]), original = resolve(chunk, values[i].original);
            if (!first) continue;  // another command has destroyed the entity
            if (override) resolve_overrides(chunk, overrides_at(run, i));
            const SpawnKey asked{values[i].blob, original, zone, are_posed, override ? &overrides_at(run, i) : nullptr};
            if (last >= groups.size() || groups[last].key != asked) last = find_group(group_of, asked);
            groups[last].firsts.push_back(first);
            if (are_posed) groups[last].poses.push_back(poses[i]);
        }
    });
    SHOAL_ASSERT(groups.empty() || log_.host() != nullptr,
                 "commands spawn and copy in worlds; attach the stores to a world");
}

/// Replaces the pending entities in overrides with the created entities.
void CommandSettler::resolve_overrides(std::uint32_t chunk, SpawnOverrides& overrides) {
    for (SpawnOverride& one : overrides) for_each_entity(one, [&](Entity& entity) { entity = resolve(chunk, entity); });
}

/// Returns the number of the group for these copies; adds the group if it is new.
std::uint32_t CommandSettler::find_group(HashMap<std::uint64_t, std::uint32_t>& group_of, const SpawnKey& asked) {
    Array<SpawnGroup>& groups = scratch_.groups;
    const std::uint64_t key =
        hash_key(reinterpret_cast<std::uintptr_t>(asked.blob) ^ std::uint64_t(asked.original.id) << 8) + asked.zone +
        reinterpret_cast<std::uintptr_t>(asked.overrides);
    const auto fits = [&](std::uint32_t number) { return groups[number].key == asked; };
    if (const std::uint32_t* const known = group_of.find_if(key, fits)) return *known;
    groups.push_back({asked});
    return group_of.add(key, static_cast<std::uint32_t>(groups.size() - 1));
}

void CommandSettler::note_spawned(const char* what, const SpawnGroup& group, const Result<std::uint32_t>& spawned) {
    if (spawned)
        counts_.num_created += *spawned;
    else
        note_failure(what, group.firsts.size(), spawned.message());
}

void CommandSettler::spawn() {
    group_spawns(Kind::kSpawn);
    for (const SpawnGroup& group : scratch_.groups) {
        const SpawnOverrides none;
        const SpawnOverrides& overrides = group.key.overrides == nullptr ? none : *group.key.overrides;
        note_spawned("spawn", group,
                     log_.host()->spawn(*group.key.blob, group.firsts, group.poses, group.key.zone, overrides));
    }
}

void CommandSettler::copy() {
    group_spawns(Kind::kCopy);
    for (const SpawnGroup& group : scratch_.groups) {
        if (entities_.alive(group.key.original)) {
            note_spawned("copy", group, log_.host()->copy(group.key.original, group.firsts, group.poses));
            continue;
        }
        entities_.destroy(group.firsts);
        counts_.num_dropped += group.firsts.size();
    }
}

// --- moving ------------------------------------------------------------------------------------------------------

void CommandSettler::move() {
    Array<Move>& moves = scratch_.moves;
    moves.clear();
    for_each_run(Kind::kMove, Kind::kMove, [&](std::uint32_t chunk, const CommandBatch& run) {
        resolve_entities(chunk, run, [](std::span<const Entity>, bool) {});
        for (std::uint32_t i = 0; i < run.num_rows; ++i) moves.push_back({run.entities()[i], run.numbers()[i]});
    });
    if (moves.empty()) return;
    clear_named();
    Array<std::uint32_t>& order = scratch_.order;
    order.clear();
    for (auto i = static_cast<std::uint32_t>(moves.size()); i-- > 0;)  // the last one counts
        if (moves[i].entity && !scratch_.once.test_and_set(moves[i].entity.index())) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return moves[a].zone != moves[b].zone ? moves[a].zone < moves[b].zone : a < b;
    });
    for (std::size_t begin = 0; begin < order.size();) {
        const Zone zone = moves[order[begin]].zone;
        scratch_.entities.clear();
        for (; begin < order.size() && moves[order[begin]].zone == zone; ++begin)
            scratch_.entities.push_back(moves[order[begin]].entity);
        std::uint32_t num_moved = 0;
        Status failure;
        for (std::size_t i = 0; i < directory_.stores().size(); ++i) {
            const Result<std::uint32_t> moved = directory_.stores()[i]->move_to_zone(scratch_.entities, zone);
            if (moved)
                num_moved = std::max(num_moved, *moved);
            else
                failure = moved.status();
        }
        counts_.num_moved += num_moved;
        if (!failure) note_failure("move", scratch_.entities.size(), failure.message(), num_moved != 0);
    }
}

// --- adding and removing components ------------------------------------------------------------------------------

void CommandSettler::change() {
    if (!has(Kind::kAdd) && !has(Kind::kRemove)) return change_links();
    clear_named();
    scratch_.twice.clear(entities_.num_indices_used() + 1);
    any_twice_ = false;
    const std::uint64_t num_dropped = counts_.num_dropped;
    for_each_run(Kind::kAdd, Kind::kRemove, [&](std::uint32_t chunk, const CommandBatch& run) {
        if (run.list->kind == Kind::kAdd) resolve_values(chunk, run);
        resolve_entities(chunk, run, [&](std::span<const Entity> some, bool are_run) { note_named(some, are_run); });
    });
    any_dead_ = counts_.num_dropped != num_dropped;
    scratch_.singles.clear();
    for_each_run(Kind::kAdd, Kind::kRemove,
                 [&](std::uint32_t chunk, const CommandBatch& run) { change_rows(chunk, run); });
    finish_batches();
    change_contended();
    change_links();
}

/// Records that each of these entities is the target of a command; some of the entities may be null. If `are_run` is
/// true, their ids are consecutive.
void CommandSettler::note_named(std::span<const Entity> entities, bool are_run) {
    std::uint64_t* const once = scratch_.once.data();
    const std::size_t first = entities.front().index();
    if (are_run && !any_bit(once, first, first + entities.size()))
        return set_bits(once, first, first + entities.size(), true);
    for (const Entity entity : entities) {
        if (!entity || SHOAL_LIKELY(!test_and_set_bit(once, entity.index()))) continue;
        scratch_.twice.set(entity.index());
        any_twice_ = true;
    }
}

/// Changes those entities of a run that are not targets of other commands. The others are changed by
/// change_contended().
void CommandSettler::change_rows(std::uint32_t chunk, const CommandBatch& run) {
    const std::span<const Entity> entities = run.entities();
    const bool has_dead = any_dead_ && std::ranges::find(entities, kNullEntity) != entities.end();
    if (!has_dead && !any_twice_) return carry_out(chunk, run, {}, entities, kNoZone);
    Array<Entity>& changed = scratch_.entities;
    Array<std::uint32_t>& order = scratch_.order;
    changed.clear();
    order.clear();
    for (std::uint32_t i = 0; i < run.num_rows; ++i) {
        const Entity entity = entities[i];
        if (entity && scratch_.twice[entity.index()]) {
            scratch_.singles.push_back({entity, chunk, run.numbers()[i], &run, i});
        } else if (entity) {
            changed.push_back(entity);
            order.push_back(i);
        }
    }
    if (changed.empty()) return;
    carry_out(chunk, run, changed.size() == run.num_rows ? std::span<const std::uint32_t>() : order, changed, kNoZone);
}

/// Adds and removes components of entities, as listed in scratch_.changes. Errors: a store refuses a change. If
/// `has_begun_` is set, another store has already been changed; otherwise nothing has changed.
Status CommandSettler::change_together(std::span<const Entity> entities) {
    has_begun_ = false;
    if (!refused_) return refused_;
    group_changes();
    if (Status status = prepare_changes(entities); !status) return status;
    std::uint32_t num_changed = 0;
    Status status = make_changes([&](Store& store, std::span<const ComponentChange> changes, ChangeCounts& counts) {
        Status done = store.change(entities, changes, counts);
        num_changed = std::max(num_changed, counts.num_changed);
        return done;
    });
    if (status) counts_.num_moved += num_changed;
    return status;
}

/// Groups the changes by store, and keeps their order within each store.
void CommandSettler::group_changes() {
    Array<StoreChanges>& groups = scratch_.by_store;
    const Array<Store*>& stores = scratch_.stores;
    groups.clear();
    for (Store* store : stores)
        if (groups.empty() || std::ranges::find(groups, store, &StoreChanges::store) == groups.end())
            groups.push_back({store, 0, stores.size()});
    if (groups.size() < 2) return;
    scratch_.sorted.clear();
    for (StoreChanges& group : groups) {
        group.begin = scratch_.sorted.size();
        for (std::size_t i = 0; i < stores.size(); ++i)
            if (stores[i] == group.store) scratch_.sorted.push_back(scratch_.changes[i]);
        group.end = scratch_.sorted.size();
    }
    scratch_.changes.swap(scratch_.sorted);
}

/// If there are several changes, asks the stores whether they would refuse a change. Errors: a store would refuse a
/// change. On error, nothing has changed.
Status CommandSettler::prepare_changes(std::span<const Entity> entities) {
    if (scratch_.by_store.size() < 2 && scratch_.changes.size() < 2) return {};
    for (StoreChanges& group : scratch_.by_store) {
        const Result<ChangePromise> promise = group.store->prepare_change(
            entities, std::span(scratch_.changes).subspan(group.begin, group.end - group.begin));
        if (!promise) return promise.status();
        group.promise = *promise;
    }
    return {};
}

/// Calls change(store, changes, counts) for each store, first for stores that may refuse, and counts the changes.
/// Errors: the first error of a store.
template <class Change>
Status CommandSettler::make_changes(Change&& change) {
    for (const ChangePromise promise : {ChangePromise::kNone, ChangePromise::kButMemory, ChangePromise::kKept})
        for (const StoreChanges& group : scratch_.by_store) {
            if (group.promise != promise) continue;
            ChangeCounts counts;
            Status status =
                change(*group.store,
                       std::span<const ComponentChange>(scratch_.changes).subspan(group.begin, group.end - group.begin),
                       counts);
            has_begun_ |= counts.has_begun;
            counts_.num_dropped += counts.num_left_out;
            if (!status) return status;
        }
    return {};
}

void CommandSettler::change_contended() {
    Array<Single>& commands = scratch_.singles;
    const auto when = [](const Single& command) {
        return std::tuple(command.entity.index(), command.chunk, command.number);
    };
    std::sort(commands.begin(), commands.end(), [&](const Single& a, const Single& b) { return when(a) < when(b); });
    for (std::size_t begin = 0; begin < commands.size();) {
        std::size_t end = begin + 1;
        while (end < commands.size() && commands[end].entity == commands[begin].entity) ++end;
        change_one(std::span(commands).subspan(begin, end - begin));
        begin = end;
    }
}

/// Changes an entity just once, however many commands it has: for each component type, the last command wins.
void CommandSettler::change_one(std::span<const Single> commands) {
    clear_given();
    scratch_.named.clear();
    const std::size_t num_links = scratch_.links.size();
    std::size_t num_parts = 0;
    for (const Single& command : commands) num_parts += command.run->list->parts.size();
    scratch_.values.reserve(num_parts);  // must not grow: changes point to earlier values
    for (std::size_t i = commands.size(); i-- > 0;)
        for (const Part& part : commands[i].run->list->parts) {
            const Single& command = commands[i];
            const Schema& schema = part.component();
            if (std::find(scratch_.named.begin(), scratch_.named.end(), schema.id()) != scratch_.named.end()) continue;
            const bool removes = command.run->list->kind == Kind::kRemove;
            if (removes || !schema.many()) scratch_.named.push_back(schema.id());
            const std::byte* const value =
                removes || part.offset == 0 ? nullptr : command.run->value(part, command.row);
            const Result<Store*> store = directory_.require_for_command(schema);
            if (keeps_links(store, schema)) {
                scratch_.links.push_back({*store, &schema, command.entity, value, command.chunk, command.number});
                continue;
            }
            scratch_.values.push_back(value);
            const AddedValues values{part.write == nullptr ? value : nullptr, 0,
                                     value == nullptr ? nullptr : part.write, &scratch_.values.back()};
            note_change(part, store, removes, values);
        }
    std::ranges::reverse(scratch_.changes);  // for a `many` type, the order matters
    std::ranges::reverse(scratch_.stores);
    const Status changed = change_together({&commands.front().entity, 1});
    if (changed) return;
    scratch_.links.resize(num_links);
    note_failure("change", 1, changed.message(), has_begun_);
}

/// Makes the links that commands request, in the order of the commands.
void CommandSettler::change_links() {
    std::sort(scratch_.links.begin(), scratch_.links.end(), [](const LinkChange& a, const LinkChange& b) {
        return std::tuple(a.chunk, a.number, a.entity.id) < std::tuple(b.chunk, b.number, b.entity.id);
    });
    for (const LinkChange& link : scratch_.links) {
        const std::span<const Entity> entity(&link.entity, 1);
        const Result<std::uint32_t> changed = link.value == nullptr
                                                  ? link.store->remove_values(*link.schema, entity)
                                                  : link.store->add_values(*link.schema, entity, {link.value});
        if (!changed)
            note_failure("link", 1, changed.message());
        else if (*changed == 0 && link.value != nullptr)
            ++counts_.num_dropped;
        else
            counts_.num_moved += *changed;
    }
    scratch_.links.clear();
}

// --- setting fields ----------------------------------------------------------------------------------------------

void CommandSettler::set() {
    Array<Single>& sets = scratch_.singles;
    sets.clear();
    for_each_run(Kind::kSet, Kind::kSet, [&](std::uint32_t chunk, const CommandBatch& run) {
        resolve_values(chunk, run);
        resolve_entities(chunk, run, [](std::span<const Entity>, bool) {});
        for (std::uint32_t i = 0; i < run.num_rows; ++i)
            if (run.entities()[i]) sets.push_back({run.entities()[i], chunk, run.numbers()[i], &run, i});
    });
    if (sets.empty()) return;
    std::sort(sets.begin(), sets.end(), [](const Single& a, const Single& b) {
        return std::tuple(a.chunk, a.number) < std::tuple(b.chunk, b.number);
    });
    note_later_changes(sets);
    for (const Single& set : sets)
        if (!is_overtaken(set)) set_one(set);
}

/// Lists the adds and removes of entities whose fields are set, because an add or a remove may come after the set. For
/// a `many` type, adds are left out, because they do not change the other values.
void CommandSettler::note_later_changes(std::span<const Single> sets) {
    Array<LaterChange>& changed = scratch_.changed;
    changed.clear();
    clear_named();
    for (const Single& set : sets) scratch_.once.set(set.entity.index());
    for_each_run(Kind::kAdd, Kind::kRemove, [&](std::uint32_t chunk, const CommandBatch& run) {
        const bool adds = run.list->kind == Kind::kAdd;
        for (const Part& part : run.list->parts)
            for (std::uint32_t i = 0; !(adds && part.component().many()) && i < run.num_rows; ++i)
                if (const Entity entity = run.entities()[i]; entity && scratch_.once[entity.index()])
                    changed.push_back({entity, part.component().id(), chunk, run.numbers()[i]});
    });
    std::sort(changed.begin(), changed.end(),
              [](const LaterChange& a, const LaterChange& b) { return a.key() < b.key(); });
}

/// Whether an add or a remove of the component type comes after a set.
bool CommandSettler::is_overtaken(const Single& set) const {
    const Array<LaterChange>& changed = scratch_.changed;
    const LaterChange own{set.entity, set.run->list->parts.front().component().id(), set.chunk, set.number};
    const auto after = std::upper_bound(changed.begin(), changed.end(), own,
                                        [](const LaterChange& a, const LaterChange& b) { return a.key() < b.key(); });
    return after != changed.end() && after->entity == own.entity && after->component == own.component;
}

void CommandSettler::set_one(const Single& set) {
    const Part& part = set.run->list->parts.front();
    Store* const store = directory_.find(part.component().id());
    const ComponentRow at = store == nullptr ? ComponentRow() : store->find_row(part.component().id(), set.entity, 0);
    if (!at || !at.is_enabled) {
        ++counts_.num_dropped;
        return;
    }
    const Status status =
        FieldPath::write_at(*store, at, part.field, part.value_schema().fields()[0], set.run->value(part, set.row));
    if (!status) note_failure("set a field of", 1, status.message());
}

// --- calls -------------------------------------------------------------------------------------------------------

void CommandSettler::call() {
    Array<Single>& calls = scratch_.singles;
    calls.clear();
    for_each_run(Kind::kCall, Kind::kCall, [&](std::uint32_t chunk, const CommandBatch& run) {
        for (std::uint32_t i = 0; i < run.num_rows; ++i)
            calls.push_back({resolve(chunk, run.entities()[i]), chunk, run.numbers()[i], &run, i});
    });
    std::sort(calls.begin(), calls.end(), [](const Single& a, const Single& b) {
        return std::tuple(a.chunk, a.number) < std::tuple(b.chunk, b.number);
    });
    for (const Single& call : calls) {
        if (!entities_.alive(call.entity)) {
            ++counts_.num_dropped;
            continue;
        }
        const Part& part = call.run->list->parts.front();
        std::byte* const value = call.run->value(part, call.row);
        part.call(value, call.entity, resolve(call.chunk, reinterpret_cast<const detail::CallHead*>(value)->other));
    }
}

// --- what they share ---------------------------------------------------------------------------------------------

/// Returns whether the store of a component type, if there is one, keeps the components as links between its rows.
bool CommandSettler::keeps_links(const Result<Store*>& store, const Schema& component) {
    if (!store || (*store)->places_whole_entities()) return false;
    // If the fields of the component type have changed since the command was recorded, the store refuses the command.
    for (const Schema* schema : (*store)->schemas())
        if (schema->id() == component.id() && schema->layout_hash() != component.layout_hash()) return false;
    return (*store)->find_columns(component).is_link;
}

/// Lists what a command does to a component type, and in which store.
void CommandSettler::note_change(const Part& part, const Result<Store*>& store, bool removes,
                                 const AddedValues& values) {
    const Schema& component = part.component();
    if (!store) {
        refused_ = store.status();
        return;
    }
    if (part.is_disabled && !(*store)->can_disable()) {
        SHOAL_ASSERT(part.made != nullptr,
                     "a command gives a disabled component, but the store that keeps it has no bit per "
                     "row for that; keep the component type in the database, ComponentDirectory::claim<T>(database)");
        refused_ = Status::error(concat('"', component.name(), "\" cannot be disabled in ", (*store)->kind()));
        return;
    }
    scratch_.changes.push_back({&component, removes, part.is_disabled, values});
    scratch_.stores.push_back(*store);
}

/// Lists the component types and the values of those rows of a run that are in `order`, or of all rows if `order` is
/// empty. The values are for `entities`. Links are kept for later.
void CommandSettler::give_values(std::uint32_t chunk, const CommandBatch& run, std::span<const std::uint32_t> order,
                                 std::span<const Entity> entities) {
    clear_given();
    scratch_.images.clear();
    if (!order.empty()) append_images(run, order, scratch_.images);
    const std::size_t count = entities.size();
    scratch_.values.reserve(count * run.list->parts.size());  // must not grow: changes point to earlier values
    const bool removes = run.list->kind == Kind::kRemove;
    const auto row_at = [&](std::size_t i) { return order.empty() ? i : order[i]; };
    for (const Part& part : run.list->parts) {
        const Result<Store*> store = directory_.require_for_command(part.component());
        if (keeps_links(store, part.component())) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint32_t number = run.list->kind == Kind::kCreate ? 0 : run.numbers()[row_at(i)];
                if (entities[i])
                    scratch_.links.push_back({*store, &part.component(), entities[i],
                                              removes ? nullptr : run.value(part, row_at(i)), chunk, number});
            }
            continue;
        }
        AddedValues values;
        if (part.offset != 0 && part.write == nullptr) {
            values.images = order.empty() ? run.column(part.offset) : scratch_.images.data() + part.offset;
            values.stride = order.empty() ? part.num_bytes : run.list->row_bytes;
        } else if (part.offset != 0) {
            values.write = part.write;
            values.context = scratch_.values.data() + scratch_.values.size();
            for (std::size_t i = 0; i < count; ++i) scratch_.values.push_back(run.value(part, row_at(i)));
        }
        note_change(part, store, removes, values);
    }
}

/// Lists the component types in a list, and the values that append_images() has copied.
void CommandSettler::give_images(const List& list, const std::byte* images) {
    clear_given();
    for (const Part& part : list.parts) {
        AddedValues values;
        if (part.offset != 0) values.images = images + part.offset, values.stride = list.row_bytes;
        note_change(part, directory_.require_for_command(part.component()), list.kind == Kind::kRemove, values);
    }
}

void CommandSettler::clear_given() {
    scratch_.changes.clear();
    scratch_.stores.clear();
    scratch_.values.clear();
    refused_ = {};
}

/// Copies a run's values one row at a time, each value to its offset. Copies only the rows in `order`, or all rows if
/// `order` is empty.
void CommandSettler::append_images(const CommandBatch& run, std::span<const std::uint32_t> order,
                                   Array<std::byte>& images) {
    const std::size_t count = order.empty() ? run.num_rows : order.size(), row_bytes = run.list->row_bytes;
    const std::size_t begin = images.size();
    images.resize(begin + count * row_bytes);
    for (const Part& part : run.list->parts) {
        if (part.offset == 0 || part.write != nullptr) continue;
        std::byte* to = images.data() + begin + part.offset;
        for (std::size_t i = 0; i < count; ++i, to += row_bytes)
            std::memcpy(to, run.value(part, order.empty() ? i : order[i]), part.num_bytes);
    }
}

// --- batches -----------------------------------------------------------------------------------------------------

/// Carries out the commands of a run that are in `order`, or all of them if `order` is empty; `entities` are their
/// targets. If there are few commands, they are carried out together with others of the same list, at the latest in
/// finish_batches().
void CommandSettler::carry_out(std::uint32_t chunk, const CommandBatch& run, std::span<const std::uint32_t> order,
                               std::span<const Entity> entities, Zone zone) {
    Batch& batch = batch_of(*run.list, zone);
    if (batch.takes_bytes && entities.size() < kManyRows) {
        batch.entities.insert(batch.entities.end(), entities.begin(), entities.end());
        return append_images(run, order, batch.images);
    }
    finish(batch);
    carry_out(*run.list, entities, zone, [&](std::size_t first, std::size_t count) {
        if (count == entities.size()) return give_values(chunk, run, order, entities);
        const std::uint32_t row = order.empty() ? static_cast<std::uint32_t>(first) : order[first];
        give_values(chunk, run, {&row, 1}, entities.subspan(first, 1));
    });
}

/// Creates or changes entities. give(first, count) lists the values for all entities, or for one of them. If a store
/// refuses them together, they are created or changed one by one, so that only refused entities are lost. If an entity
/// is created and then still refused, it is destroyed.
template <class Give>
void CommandSettler::carry_out(const List& list, std::span<const Entity> entities, Zone zone, Give&& give) {
    const bool creates = list.kind == Kind::kCreate;
    const auto do_some = [&](std::size_t first, std::size_t count) {
        const std::size_t num_links = scratch_.links.size();
        give(first, count);
        const std::span<const Entity> some = entities.subspan(first, count);
        Status done = creates ? create_together(list, some, zone) : change_together(some);
        if (!done) scratch_.links.resize(num_links);
        return done;
    };
    Status failure = do_some(0, entities.size());
    if (failure) return;
    const char* const what = creates ? "create" : "change";
    std::size_t num_failed = creates ? 0 : entities.size();
    bool any_in_part = !creates && has_begun_;
    if (has_begun_ || entities.size() == 1) {
        if (creates) num_failed = destroy_all(entities);
        return note_failure(what, num_failed, failure.message(), any_in_part);
    }
    num_failed = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) {
        Status status = do_some(i, 1);
        if (status) continue;
        ++num_failed;
        any_in_part |= !creates && has_begun_;  // a created entity is destroyed, not left half-changed
        if (creates) destroy_all(entities.subspan(i, 1));
        failure = std::move(status);
    }
    if (num_failed != 0) note_failure(what, num_failed, failure.message(), any_in_part);
}

CommandSettler::Batch& CommandSettler::batch_of(const List& list, Zone zone) {
    const std::uint64_t key = hash_key(reinterpret_cast<std::uintptr_t>(&list)) + zone;
    const auto fits = [&](std::uint32_t number) {
        return scratch_.batches[number].list == &list && scratch_.batches[number].zone == zone;
    };
    if (const std::uint32_t* const known = scratch_.batch_numbers.find_if(key, fits)) return scratch_.batches[*known];
    scratch_.batch_numbers.add(key, static_cast<std::uint32_t>(num_batches_));
    if (num_batches_ == scratch_.batches.size()) scratch_.batches.emplace_back();
    Batch& batch = scratch_.batches[num_batches_++];
    batch.list = &list, batch.zone = zone;
    batch.takes_bytes = std::all_of(list.parts.begin(), list.parts.end(), [this](const Part& part) {
        return part.write == nullptr &&
               !keeps_links(directory_.require_for_command(part.component()), part.component());
    });
    return batch;
}

void CommandSettler::finish(Batch& batch) {
    if (batch.entities.empty()) return;
    carry_out(*batch.list, batch.entities, batch.zone, [&](std::size_t first, std::size_t) {
        give_images(*batch.list, batch.images.data() + first * batch.list->row_bytes);
    });
    batch.entities.clear();
    batch.images.clear();
}

void CommandSettler::finish_batches() {
    for (std::size_t i = 0; i < num_batches_; ++i) finish(scratch_.batches[i]);
    if (std::exchange(num_batches_, 0) != 0) scratch_.batch_numbers.clear();
}

/// Clears the bits of all entities.
void CommandSettler::clear_named() { scratch_.once.clear(entities_.num_indices_used() + 1); }

void CommandSettler::note_failure(const char* what, std::size_t count, std::string_view message, bool is_in_part) {
    counts_.num_dropped += count;
    log(LogLevel::kError, concat("commands to ", what, " ", count, " entities were ",
                                 is_in_part ? "carried out in part, not in all stores: " : "dropped: ", message));
}

}  // namespace shoal
