#include "command/command_settler.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace shoal {
namespace {

constexpr std::uint32_t kNoChunk = 0xFFFFFFFF;

}  // namespace

SettleCounts CommandSettler::settle(std::span<detail::CommandRecorder* const> chunks, EntityBits epoch,
                                    EntityBits num_pending) {
    chunks_ = chunks;
    epoch_ = epoch & kPendingEpochMask;
    num_pending_ = num_pending;
    num_cancelled_ = 0;
    counts_ = {};
    scratch_.links.clear();
    for (detail::CommandRecorder* chunk : chunks)
        for (const Run& run : chunk->runs()) num_rows_ += run.num_rows();
    number_pending();
    destroy();
    create();
    spawn();
    copy();
    move();
    change();
    call();
    return counts_;
}

void CommandSettler::trim() {
    num_kept_rows_ = decaying_peak(std::exchange(num_rows_, 0), num_kept_rows_);
    const std::size_t capacity = std::max({scratch_.entities.capacity(), scratch_.made.capacity(),
                                           scratch_.moves.capacity(), scratch_.contended.capacity()});
    if (capacity / 8 > num_kept_rows_ + 4096) scratch_ = Scratch();
}

template <class Visit>
void CommandSettler::for_each_run(Kind first, Kind last, Visit&& visit) {
    for (std::uint32_t chunk = 0; chunk < chunks_.size(); ++chunk)
        for (const Run& run : chunks_[chunk]->runs())
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
    scratch_.once.clear(static_cast<std::size_t>(num_pending_));  // cancelled
    for (std::uint32_t chunk = 0; chunk < chunks_.size(); ++chunk)
        for (const EntityBits block : chunks_[chunk]->pending_blocks())
            scratch_.owners[(block & kPendingNumberMask) / detail::CommandRecorder::kPendingBlock] = chunk;
}

/// Returns the number of a pending entity of this chunk, or num_pending_.
EntityBits CommandSettler::number_of(std::uint32_t chunk, Entity pending) const {
    const EntityBits number = pending.id & kPendingNumberMask;
    const bool is_of_now = pending.id >> kPendingNumberBits == (kPendingBit >> kPendingNumberBits | epoch_);
    if (!is_of_now || number >= num_pending_ ||
        scratch_.owners[number / detail::CommandRecorder::kPendingBlock] != chunk)
        return num_pending_;
    // Of its last block, the chunk may not have given all ids out.
    return pending.id < chunks_[chunk]->next_pending() ? number : num_pending_;
}

/// Returns the entity that was created, or null.
Entity CommandSettler::resolve(std::uint32_t chunk, Entity entity) const {
    if (SHOAL_LIKELY(!is_pending(entity))) return entity;
    const EntityBits number = number_of(chunk, entity);
    return number == num_pending_ ? kNullEntity : scratch_.made[number];
}

/// Replaces a pending entity, and a dead one by null. Returns whether it lives.
SHOAL_INLINE bool CommandSettler::resolve_row(std::uint32_t chunk, Row& row) {
    row.entity = resolve(chunk, row.entity);
    if (SHOAL_LIKELY(entities_.alive(row.entity))) return true;
    row.entity = kNullEntity;
    ++counts_.num_dropped;
    return false;
}

/// Replaces pending entities in the entity fields of the values.
void CommandSettler::resolve_values(std::uint32_t chunk, const Run& run) {
    for (const Part& part : run.list->parts) {
        if (part.offset == 0) continue;
        const Schema& schema = schema_of_part(part);
        if (!schema.has(FieldType::kEntity)) continue;
        for (const Field& field : schema.fields())
            for (std::uint32_t i = 0; field.type == FieldType::kEntity && i < field.num_values(); ++i)
                for_each_row(run, [&](Row& row) {
                    Entity& value = *reinterpret_cast<Entity*>(reinterpret_cast<std::byte*>(&row) + part.offset +
                                                               field.struct_offset + i * sizeof(Entity));
                    value = resolve(chunk, value);
                });
    }
}

// --- destroying --------------------------------------------------------------------------------------------------

void CommandSettler::destroy() {
    Array<Entity>& doomed = scratch_.entities;
    doomed.clear();
    for_each_run(Kind::kDestroy, Kind::kDestroy, [&](std::uint32_t chunk, const Run& run) {
        const std::span<const Entity> named(reinterpret_cast<const Entity*>(run.begin), run.num_rows());
        bool any_pending = false;
        for (const Entity entity : named) any_pending |= is_pending(entity);
        if (!any_pending) return static_cast<void>(doomed.insert(doomed.end(), named.begin(), named.end()));
        for (const Entity entity : named)
            if (!is_pending(entity) || !cancel(chunk, entity)) doomed.push_back(entity);
    });
    if (doomed.empty()) return;
    counts_.num_destroyed = database_.destroy(doomed);
    counts_.num_dropped += doomed.size() - counts_.num_destroyed;
}

/// Cancels the creation of a pending entity. Returns false when it is not of this chunk, or already cancelled.
bool CommandSettler::cancel(std::uint32_t chunk, Entity pending) {
    const EntityBits number = number_of(chunk, pending);
    if (number == num_pending_ || scratch_.once.test_and_set(static_cast<std::size_t>(number))) return false;
    ++num_cancelled_;
    return true;
}

// --- creating ----------------------------------------------------------------------------------------------------

void CommandSettler::create() {
    std::size_t count = 0;
    bool is_dense = num_cancelled_ == 0;  // the order of the entities is that of their numbers
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
    for_each_run(Kind::kCreate, Kind::kCreate, [&](std::uint32_t chunk, const Run& run) {
        resolve_values(chunk, run);
        create_rows(chunk, run);
    });
}

void CommandSettler::create_rows(std::uint32_t chunk, const Run& run) {
    const auto number_at = [&](std::size_t i) {
        return static_cast<std::size_t>(run.row(i).entity.id & kPendingNumberMask);
    };
    const Zone zone = run.row(0).number;
    const std::size_t count = run.num_rows(), first = number_at(0);
    bool is_one_zone = true, is_dense = true;
    for (std::size_t i = 0; i < count; ++i) {
        is_one_zone &= run.row(i).number == zone;
        is_dense &= number_at(i) == first + i;
    }
    if (is_one_zone && is_dense)
        return create_in_zone(chunk, run, {}, std::span(scratch_.made).subspan(first, count), zone);
    Array<Entity>& made = scratch_.entities;
    if (is_one_zone) {
        made.resize(count);
        for (std::size_t i = 0; i < count; ++i) made[i] = scratch_.made[number_at(i)];
        return create_in_zone(chunk, run, {}, made, zone);
    }
    Array<std::uint32_t>& order = scratch_.order;
    order.resize(count);
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto zone_of = [&](std::uint32_t i) { return run.row(i).number; };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return zone_of(a) != zone_of(b) ? zone_of(a) < zone_of(b) : a < b;
    });
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        made.clear();
        for (; end < order.size() && zone_of(order[end]) == zone_of(order[begin]); ++end)
            made.push_back(scratch_.made[number_at(order[end])]);
        create_in_zone(chunk, run, std::span(order).subspan(begin, end - begin), made, zone_of(order[begin]));
        begin = end;
    }
}

/// Gives rows to `made`: the entities of those rows of the run that `order` lists, or of all. If a store refuses that, the
/// entities are made one by one, and those that are refused alone are destroyed.
void CommandSettler::create_in_zone(std::uint32_t chunk, const Run& run, std::span<const std::uint32_t> order,
                                    std::span<const Entity> made, Zone zone) {
    Status failure = create_together(chunk, run, order, made, zone);
    if (failure) return;
    if (has_begun_ || made.size() == 1) return note_failure("create", database_.destroy(made), failure.message());
    do_one_by_one("create", made.size(), std::move(failure), [&](std::size_t i) {
        const std::uint32_t row = order.empty() ? static_cast<std::uint32_t>(i) : order[i];
        Status status = create_together(chunk, run, {&row, 1}, made.subspan(i, 1), zone);
        if (!status) database_.destroy(made.subspan(i, 1));
        has_begun_ = false;  // what is destroyed is not there in part
        return status;
    });
}

/// Errors: a store refuses; the entities live, and have what others have given them.
Status CommandSettler::create_together(std::uint32_t chunk, const Run& run, std::span<const std::uint32_t> order,
                                       std::span<const Entity> made, Zone zone) {
    const std::size_t num_links = scratch_.links.size();
    give_values(chunk, run, order, made);
    for (const ComponentValues& given : scratch_.given) scratch_.components.push_back(given.component);
    const bool has_row = run.list->parts.empty() || !scratch_.components.empty();
    std::uint32_t num_made = 0, num_changed = 0;
    for (std::size_t i = 0; !has_row && i < made.size(); ++i) num_made += entities_.alive(made[i]);
    has_begun_ = false;
    Status failure = prepare_elsewhere(made, has_row);
    if (failure) failure = apply_elsewhere(made, false, num_changed);
    if (failure && has_row) {
        const Result<AddCounts> added =
            database_.insert(made, database_.archetype(scratch_.components), zone, scratch_.given);
        failure = added.status();
        num_made = added ? added->num_added : 0;
        has_begun_ |= added.ok();
    }
    if (failure) failure = apply_elsewhere(made, true, num_changed);
    if (failure)
        counts_.num_created += num_made;
    else
        scratch_.links.resize(num_links);
    return failure;
}

/// Carries commands out one by one that a store has refused together, so that those which it can take are not lost:
/// alone(i) returns what becomes of one.
template <class Alone>
void CommandSettler::do_one_by_one(const char* what, std::size_t count, Status failure, Alone&& alone) {
    std::size_t num_failed = 0;
    bool any_in_part = false;
    for (std::size_t i = 0; i < count; ++i) {
        Status status = alone(i);
        if (status) continue;
        ++num_failed;
        any_in_part |= has_begun_;
        failure = std::move(status);
    }
    if (num_failed != 0) note_failure(what, num_failed, failure.message(), any_in_part);
}

// --- spawning and copying ----------------------------------------------------------------------------------------

/// Lists the commands of a kind by what is copied, and where to.
void CommandSettler::group_spawns(Kind kind) {
    Array<SpawnGroup>& groups = scratch_.groups;
    groups.clear();
    HashMap<std::uint64_t, std::uint32_t> group_of{Owner("commands")};
    for_each_run(kind, kind, [&](std::uint32_t chunk, const Run& run) {
        for_each_row(run, [&](const Row& row) {
            const auto& asked = reinterpret_cast<const detail::SpawnRow&>(row);
            const Entity first = resolve(chunk, row.entity), original = resolve(chunk, asked.original);
            if (!first) return;  // another command has destroyed it
            const auto fits = [&](std::uint32_t number) {
                const SpawnGroup& group = groups[number];
                return group.blob == asked.blob && group.original == original && group.zone == row.number &&
                       group.has_poses == asked.has_pose;
            };
            const std::uint64_t key =
                hash_key(reinterpret_cast<std::uintptr_t>(asked.blob) ^ std::uint64_t(original.id) << 8) + row.number;
            const std::uint32_t* known = group_of.find_if(key, fits);
            if (known == nullptr) {
                known = &group_of.add(key, static_cast<std::uint32_t>(groups.size()));
                groups.push_back({asked.blob, original, row.number, asked.has_pose});
            }
            groups[*known].firsts.push_back(first);
            if (asked.has_pose) groups[*known].poses.push_back(asked.pose);
        });
    });
    SHOAL_ASSERT(groups.empty() || database_.homes().spawn != nullptr,
                 "commands spawn and copy in worlds; make the database with World::database()");
}

void CommandSettler::note_spawned(const char* what, const SpawnGroup& group, const Result<std::uint32_t>& spawned) {
    if (spawned)
        counts_.num_created += *spawned;
    else
        note_failure(what, group.firsts.size(), spawned.message());
}

void CommandSettler::spawn() {
    group_spawns(Kind::kSpawn);
    const ComponentHomes& homes = database_.homes();
    for (const SpawnGroup& group : scratch_.groups)
        note_spawned("spawn", group, homes.spawn(homes.context, *group.blob, group.firsts, group.poses, group.zone));
}

void CommandSettler::copy() {
    group_spawns(Kind::kCopy);
    const ComponentHomes& homes = database_.homes();
    for (const SpawnGroup& group : scratch_.groups) {
        if (entities_.alive(group.original)) {
            note_spawned("copy", group, homes.copy(homes.context, group.original, group.firsts, group.poses));
            continue;
        }
        entities_.destroy(group.firsts);
        counts_.num_dropped += group.firsts.size();
    }
}

// --- moving ------------------------------------------------------------------------------------------------------

void CommandSettler::move() {
    Array<Row>& moves = scratch_.moves;
    moves.clear();
    for_each_run(Kind::kMove, Kind::kMove, [&](std::uint32_t chunk, const Run& run) {
        for_each_row(run, [&](Row& row) {
            resolve_row(chunk, row);
            moves.push_back(row);
        });
    });
    if (moves.empty()) return;
    clear_named();
    Array<std::uint32_t>& order = scratch_.order;
    order.clear();
    for (auto i = static_cast<std::uint32_t>(moves.size()); i-- > 0;)  // the last counts
        if (moves[i].entity && !scratch_.once.test_and_set(moves[i].entity.index())) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return moves[a].number != moves[b].number ? moves[a].number < moves[b].number : a < b;
    });
    for (std::size_t begin = 0; begin < order.size();) {
        const Zone zone = moves[order[begin]].number;
        scratch_.entities.clear();
        for (; begin < order.size() && moves[order[begin]].number == zone; ++begin)
            scratch_.entities.push_back(moves[order[begin]].entity);
        const Result<std::uint32_t> moved = database_.move(scratch_.entities, zone);
        if (moved)
            counts_.num_moved += *moved;
        else
            note_failure("move", scratch_.entities.size(), moved.message());
    }
}

// --- adding and removing components ------------------------------------------------------------------------------

void CommandSettler::change() {
    bool any = false;
    for_each_run(Kind::kAdd, Kind::kRemove, [&](std::uint32_t, const Run&) { any = true; });
    if (!any) return change_links();
    clear_named();
    scratch_.twice.clear(entities_.num_indices_used() + 1);
    any_twice_ = false;
    for_each_run(Kind::kAdd, Kind::kRemove, [&](std::uint32_t chunk, const Run& run) {
        if (run.list->kind == Kind::kAdd) resolve_values(chunk, run);
        std::uint64_t* const once = scratch_.once.words().data();
        for_each_row(run, [&](Row& row) {
            if (!resolve_row(chunk, row) || SHOAL_LIKELY(!test_and_set_bit(once, row.entity.index()))) return;
            scratch_.twice.set(row.entity.index());
            any_twice_ = true;
        });
    });
    scratch_.contended.clear();
    for_each_run(Kind::kAdd, Kind::kRemove, [&](std::uint32_t chunk, const Run& run) { change_rows(chunk, run); });
    change_contended();
    change_links();
}

/// Changes the entities of a run that no other command is about. The others wait for change_contended().
void CommandSettler::change_rows(std::uint32_t chunk, const Run& run) {
    Array<Entity>& changed = scratch_.entities;
    Array<std::uint32_t>& order = scratch_.order;
    changed.clear();
    order.clear();
    const std::uint32_t count = run.num_rows();
    bool are_all_meant = !any_twice_;
    changed.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        changed[i] = run.row(i).entity;
        are_all_meant &= bool(changed[i]);
    }
    if (are_all_meant) return change_all(chunk, run, {}, changed);
    changed.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        Row& row = run.row(i);
        if (row.entity && scratch_.twice[row.entity.index()]) {
            scratch_.contended.push_back({row.entity, chunk, run.list, reinterpret_cast<std::byte*>(&row)});
        } else if (row.entity) {
            changed.push_back(row.entity);
            order.push_back(i);
        }
    }
    if (changed.empty()) return;
    change_all(chunk, run, changed.size() == count ? std::span<const std::uint32_t>() : order, changed);
}

/// Changes the entities of those rows of the run that `order` lists, or of all. If a store refuses that, one by one.
void CommandSettler::change_all(std::uint32_t chunk, const Run& run, std::span<const std::uint32_t> order,
                                std::span<const Entity> entities) {
    Status failure = change_together(chunk, run, order, entities);
    if (failure) return;
    if (has_begun_ || entities.size() == 1)
        return note_failure("change", entities.size(), failure.message(), has_begun_);
    do_one_by_one("change", entities.size(), std::move(failure), [&](std::size_t i) {
        const std::uint32_t row = order.empty() ? static_cast<std::uint32_t>(i) : order[i];
        return change_together(chunk, run, {&row, 1}, entities.subspan(i, 1));
    });
}

Status CommandSettler::change_together(std::uint32_t chunk, const Run& run, std::span<const std::uint32_t> order,
                                       std::span<const Entity> entities) {
    const std::size_t num_links = scratch_.links.size();
    give_values(chunk, run, order, entities);
    Status changed = apply(entities, scratch_.given, scratch_.components);
    if (!changed) scratch_.links.resize(num_links);
    return changed;
}

/// Gives components to entities, and takes others away. Errors: a store refuses. Then nothing has changed, or `has_begun_`:
/// a store that does not say before what it refuses came after another one, or the database did.
Status CommandSettler::apply(std::span<const Entity> entities, std::span<const ComponentValues> given,
                             std::span<const ComponentType> removed) {
    has_begun_ = false;
    std::uint32_t num_changed = 0;
    if (Status status = prepare_elsewhere(entities, !given.empty() || !removed.empty()); !status) return status;
    if (Status status = apply_elsewhere(entities, false, num_changed); !status) return status;
    if (!given.empty()) {
        const Result<AddCounts> added = database_.add(entities, given);
        if (!added) return added.status();
        num_changed = std::max(num_changed, added->num_added);
        has_begun_ = true;
    }
    if (!removed.empty()) {
        const Result<std::uint32_t> lost = database_.remove(entities, removed);
        if (!lost) return lost.status();
        num_changed = std::max(num_changed, *lost);
        has_begun_ = true;
    }
    if (Status status = apply_elsewhere(entities, true, num_changed); !status) return status;
    counts_.num_moved += num_changed;
    return {};
}

/// Where several stores are changed, asks those other than the database whether they will refuse.
Status CommandSettler::prepare_elsewhere(std::span<const Entity> entities, bool changes_database) {
    Array<Elsewhere>& all = scratch_.elsewhere;
    if (all.size() + changes_database < 2) return {};
    Array<Entity> repeated{Owner("commands")};
    for (Elsewhere& change : all) {
        // One entity may be given several values of a `many` type, by commands of their own.
        const auto num_alike = std::count_if(all.begin(), all.end(), [&](const Elsewhere& other) {
            return other.store == change.store && other.schema == change.schema && !other.removes;
        });
        std::span<const Entity> asked = entities;
        if (num_alike > 1 && entities.size() == 1) {
            repeated.assign(static_cast<std::size_t>(num_alike), entities[0]);
            asked = repeated;
        }
        const Result<bool> promised = change.store->prepare_values(*change.schema, asked, change.removes);
        if (!promised) return promised.status();
        change.is_promised = *promised;
    }
    return {};
}

/// Does what is to be done in other stores than the database: in those that have promised to do it, or in the others.
/// Raises `num_changed` to the most entities that a store has changed.
Status CommandSettler::apply_elsewhere(std::span<const Entity> entities, bool promised, std::uint32_t& num_changed) {
    for (const Elsewhere& change : scratch_.elsewhere) {
        if (change.is_promised != promised) continue;
        const Result<std::uint32_t> changed = change.removes
                                                  ? change.store->remove_values(*change.schema, entities)
                                                  : change.store->add_values(*change.schema, entities, change.values);
        if (!changed) return changed.status();
        if (!change.removes) counts_.num_dropped += entities.size() - *changed;
        num_changed = std::max(num_changed, *changed);
        has_begun_ = true;
    }
    return {};
}

void CommandSettler::change_contended() {
    Array<Contended>& commands = scratch_.contended;
    const auto when = [](const Contended& command) {
        return std::tuple(command.entity.index(), command.chunk, reinterpret_cast<const Row*>(command.row)->number);
    };
    std::sort(commands.begin(), commands.end(),
              [&](const Contended& a, const Contended& b) { return when(a) < when(b); });
    for (std::size_t begin = 0; begin < commands.size();) {
        std::size_t end = begin + 1;
        while (end < commands.size() && commands[end].entity == commands[begin].entity) ++end;
        change_one(std::span(commands).subspan(begin, end - begin));
        begin = end;
    }
}

/// Changes one entity once, however many commands are about it: of each component type, the last one counts.
void CommandSettler::change_one(std::span<const Contended> commands) {
    Array<ComponentValues>& given = scratch_.given;
    given.clear();
    scratch_.components.clear();
    scratch_.elsewhere.clear();
    scratch_.named.clear();
    scratch_.values.clear();
    const std::size_t num_links = scratch_.links.size();
    std::size_t num_parts = 0;
    for (const Contended& command : commands) num_parts += command.list->parts.size();
    scratch_.values.reserve(num_parts);  // values are referred to while others are added
    for (std::size_t i = commands.size(); i-- > 0;)
        for (const Part& part : commands[i].list->parts) {
            const Schema& schema = schema_of_part(part);
            if (std::find(scratch_.named.begin(), scratch_.named.end(), schema.id()) != scratch_.named.end()) continue;
            const bool removes = commands[i].list->kind == Kind::kRemove;
            if (removes || !schema.many()) scratch_.named.push_back(schema.id());
            if (Store* const links = part.schema == nullptr ? nullptr : link_store_of(part)) {
                const std::byte* const link = removes ? nullptr : commands[i].row + part.offset;
                const std::uint32_t number = reinterpret_cast<const Row*>(commands[i].row)->number;
                scratch_.links.push_back({links, &schema, commands[i].entity, link, commands[i].chunk, number});
                continue;
            }
            const std::byte* const value = removes || part.offset == 0 ? nullptr : commands[i].row + part.offset;
            scratch_.values.push_back(value);
            const AddedValues values{part.write == nullptr ? value : nullptr, 0,
                                     value == nullptr ? nullptr : part.write, &scratch_.values.back()};
            note_change(part, removes, values, true);
        }
    std::reverse(scratch_.elsewhere.begin(), scratch_.elsewhere.end());  // with `many`, the order counts
    const Status changed = apply({&commands.front().entity, 1}, given, scratch_.components);
    if (changed) return;
    scratch_.links.resize(num_links);
    note_failure("change", 1, changed.message(), has_begun_);
}

/// Makes the links that commands ask for, in their order.
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

// --- calls -------------------------------------------------------------------------------------------------------

void CommandSettler::call() {
    Array<Contended>& calls = scratch_.contended;
    calls.clear();
    for_each_run(Kind::kCall, Kind::kCall, [&](std::uint32_t chunk, const Run& run) {
        for_each_row(run, [&](Row& row) {
            calls.push_back({resolve(chunk, row.entity), chunk, run.list, reinterpret_cast<std::byte*>(&row)});
        });
    });
    std::sort(calls.begin(), calls.end(), [](const Contended& a, const Contended& b) {
        const auto when = [](const Contended& call) {
            return std::tuple(call.chunk, reinterpret_cast<const Row*>(call.row)->number);
        };
        return when(a) < when(b);
    });
    for (const Contended& call : calls) {
        if (!entities_.alive(call.entity)) {
            ++counts_.num_dropped;
            continue;
        }
        // Every row of a call begins alike, whatever the function.
        const auto& head = *reinterpret_cast<const detail::CallHead*>(call.row);
        const Part& part = call.list->parts.front();
        part.call(call.row + part.offset, call.entity, resolve(call.chunk, head.other));
    }
}

// --- what they share ---------------------------------------------------------------------------------------------

/// Lists what a command does to a component type: among the components that are given, those that are removed, or the
/// changes of other stores. Of one of several commands about an entity, what it does to a `many` type is listed there
/// too, wherever that is kept: several may add values, one after the other.
void CommandSettler::note_change(const Part& part, bool removes, const AddedValues& values, bool is_one_of_several) {
    Store* const store = store_of(part);
    SHOAL_ASSERT(store != nullptr || part.schema == nullptr || part.find != nullptr,
                 "a component type that is `many` and `toggled` cannot be kept in a database; call World::manager<T>() "
                 "before commands name it");
    if (store != nullptr) return scratch_.elsewhere.push_back({store, &schema_of_part(part), removes, values});
    const ComponentType component = component_of(part);
    if (is_one_of_several && database_.schema(component).many())
        return scratch_.elsewhere.push_back({&database_, &database_.schema(component), removes, values});
    if (removes) return scratch_.components.push_back(component);
    ComponentValues given{.component = component};
    given.images = values.images, given.stride = values.stride;
    given.write = values.write, given.context = values.context;
    scratch_.given.push_back(given);
}

/// Lists the component types and the values of those rows of a run that `order` lists; of all when it is empty. They are
/// meant for `entities`. Links are kept for later.
void CommandSettler::give_values(std::uint32_t chunk, const Run& run, std::span<const std::uint32_t> order,
                                 std::span<const Entity> entities) {
    const std::size_t row_bytes = run.list->row_bytes;
    const std::byte* first = run.begin;
    if (!order.empty() && row_bytes > sizeof(Row)) {
        scratch_.images.resize(order.size() * row_bytes);
        for (std::size_t i = 0; i < order.size(); ++i)
            std::memcpy(scratch_.images.data() + i * row_bytes, run.begin + order[i] * row_bytes, row_bytes);
        first = scratch_.images.data();
    }
    scratch_.given.clear();
    scratch_.components.clear();
    scratch_.elsewhere.clear();
    scratch_.values.clear();
    const std::size_t count = order.empty() ? run.num_rows() : order.size();
    scratch_.values.reserve(count * run.list->parts.size());
    const bool removes = run.list->kind == Kind::kRemove;
    for (const Part& part : run.list->parts) {
        if (Store* const links = part.schema == nullptr ? nullptr : link_store_of(part)) {
            for (std::size_t i = 0; i < count; ++i) {
                const Row& row = run.row(order.empty() ? i : order[i]);
                const auto* const value = reinterpret_cast<const std::byte*>(&row) + part.offset;
                const std::uint32_t number = run.list->kind == Kind::kCreate ? 0 : row.number;
                if (entities[i])
                    scratch_.links.push_back(
                        {links, &part.schema(), entities[i], removes ? nullptr : value, chunk, number});
            }
            continue;
        }
        AddedValues values;
        if (part.offset != 0 && part.write == nullptr) {
            values.images = first + part.offset;
            values.stride = row_bytes;
        } else if (part.offset != 0) {
            values.write = part.write;
            values.context = scratch_.values.data() + scratch_.values.size();
            for (std::size_t i = 0; i < count; ++i)
                scratch_.values.push_back(run.begin + (order.empty() ? i : order[i]) * row_bytes + part.offset);
        }
        note_change(part, removes, values, false);
    }
}

/// Clears the bits of all entities.
void CommandSettler::clear_named() { scratch_.once.clear(entities_.num_indices_used() + 1); }

void CommandSettler::note_failure(const char* what, std::size_t count, std::string_view message, bool is_in_part) {
    counts_.num_dropped += count;
    log(LogLevel::kError, concat("commands to ", what, " ", count, " entities were ",
                                 is_in_part ? "carried out in part, not in all stores: " : "dropped: ", message));
}

}  // namespace shoal
