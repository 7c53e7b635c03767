// The steps of a settle: see cluster_body.h.

#include "cluster/cluster_body.h"
#include "shoal/base/log.h"
#include "shoal/transform/transform.h"
#include "shoal/world/entity_blob.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace shoal {

using cluster::ColumnPiece;
using cluster::RankMessage;
using cluster::TableChange;
using cluster::TableRows;

// --- commands ----------------------------------------------------------------------------------------------------

void ClusterBody::before_commands() {
    if (!is_started || peers_.empty()) return;
    auto messages = commands_.take([this](Entity entity) {
        const DatabaseRow at = database.find(entity);
        if (!at || !zones.halo.now().contains(at.table->zone()))
            fail("commands", Status::error(concat("the copy of ", cluster::name_text(names.name(entity)),
                                                  " is not where its owner has it; structural calls outside of passes "
                                                  "are made for own zones only")));
        return owner(at.table->zone());
    });
    std::vector<std::uint32_t> numbers;
    std::vector<RankMessage> sent;
    for (const cluster::Peer& peer : peers_) {
        numbers.push_back(peer.rank);
        sent.push_back({peer.rank, messages[peer.rank].take()});
        command_bytes_ += sent.back().bytes.size();
    }
    for (const RankMessage& message : ranks.exchange_with(numbers, std::move(sent)))
        if (const Status given = commands_.give(message.bytes); !given) fail("commands", given);
}

// --- deaths ------------------------------------------------------------------------------------------------------

/// Returns the names of this rank's entities that died since the last settle and that other ranks may know.
std::vector<ClusterBody::Name> ClusterBody::take_deaths() {
    if (ranks.size() > 1)  // now, because its death is not to be one that check_at_rest() finds
        if (const auto one = cluster::dead_entity(world, names); !one) fail("references to the dead", one.status());
    std::vector<Name> dead;
    const auto forget = [&](Entity entity) {
        if (names.is_known_elsewhere(entity) && !names.is_elsewhere(entity)) dead.push_back(names.name(entity));
        names.erase(entity);
    };
    if (deaths_.fell_behind()) {
        std::vector<Entity> gone;
        names.for_each([&](Entity entity, Name) {
            if (!world.entities().alive(entity)) gone.push_back(entity);
        });
        for (const Entity entity : gone) forget(entity);
    } else if (!deaths_.is_at_end()) {
        for (const Entity entity : deaths_.dead([&](Entity one) { return names.name(one) != 0; })) forget(entity);
    }
    deaths_.pass_all();
    std::ranges::sort(dead);
    return dead;
}

/// Destroys the copies of entities that died on the ranks that own them.
void ClusterBody::destroy_named(std::span<const Name> dead) {
    std::vector<Entity> entities;
    for (const Name name : dead)
        if (const Entity entity = names.find(name)) entities.push_back(entity);
    cluster::strip(world, entities);
    names.erase(entities);
    world.entities().destroy(entities);
    deaths_.pass_all();
}

// --- crossing ----------------------------------------------------------------------------------------------------

/// Returns an entity and its descendants that are in no zone.
std::vector<Entity> ClusterBody::below(Entity entity) { return entities_with_below(world, {&entity, 1}); }

/// Unlinks the transforms of entities that entered zones since the last settle from parents outside of the zone, so
/// that links are the same for any number of ranks. Their world poses do not change.
void ClusterBody::unlink_across_zones() {
    TransformManager* const transforms = find_transforms(world.directory());
    if (transforms == nullptr) return;
    const auto zone_of = [&](Entity entity) {
        const DatabaseRow at = database.find(entity);
        return at ? at.table->zone() : kNoZone;
    };
    std::vector<Entity> apart;
    const auto visit = [&](TableRows& rows) {
        for (const Entity entity : rows.found) {
            const Instance instance = names.is_copy(entity) ? Instance() : transforms->instance(entity);
            if (!instance) continue;
            const Instance parent = transforms->parent(instance);
            if (parent && zone_of(transforms->entity(parent)) != zone_of(entity)) apart.push_back(entity);
            for (const Entity child : entities_below(world, entity))
                if (const Instance below = transforms->instance(child);
                    child != entity && below && database.has_row(child)) {
                    const Instance above = transforms->parent(below);
                    if (above && zone_of(transforms->entity(above)) != zone_of(child)) apart.push_back(child);
                }
        }
    };
    own_rows_.for_each_changed(zones.own.now(), visit);
    copied_rows_.for_each_changed(foreign_zones, visit);
    for (const Entity entity : apart) transforms->unlink(transforms->instance(entity), KeepPose::kWorld);
}

/// Finds the entities that entered zones of other ranks, by receiver.
ClusterBody::LeavingTo ClusterBody::find_leaving() {
    LeavingTo leaving;
    copied_rows_.for_each_changed(foreign_zones, [&](TableRows& rows) {
        for (const Entity entity : rows.found)
            if (!names.is_copy(entity)) leaving[owner(rows.key.zone_number())].entities.push_back(entity);
    });
    for (auto& [rank, with] : leaving) {
        with.entities = entities_with_below(world, with.entities);
        for (const Entity entity : with.entities)
            if (needs_name(entity)) with.unnamed.push_back(entity);
    }
    return leaving;
}

/// Removes the components of entities that went to another rank. Only their names remain.
void ClusterBody::leave(std::span<const Entity> entities) {
    cluster::strip(world, entities);
    names.mark_gone(entities);
}

/// Sends entities to the owners of their zones, and receives entities. Returns the received entities that need names,
/// by sender.
ClusterBody::ArrivedFrom ClusterBody::cross(const LeavingTo& leaving) {
    std::vector<RankMessage> sent;
    for (const auto& [rank, with] : leaving) {
        MessageWriter to;
        if (const Status packed = cluster::pack(world, names, ranks.rank(), with.entities, to); !packed)
            fail("entities that cross to another rank", packed);
        num_crossed_ += with.entities.size();
        crossing_bytes_ += to.bytes().size();
        sent.push_back({rank, to.take()});
    }
    for (const auto& [rank, with] : leaving) leave(with.entities);
    ArrivedFrom arrived;
    for (const RankMessage& message : ranks.exchange(std::move(sent))) {
        MessageReader from(message.bytes);
        Result<std::vector<Entity>> entities = cluster::unpack(world, names, from);
        if (!entities) fail(concat("entities that come from rank ", message.rank), entities.status());
        for (const Entity entity : *entities)
            if (needs_name(entity)) arrived[message.rank].push_back(entity);
    }
    return arrived;
}

/// Sends the names of newborn entities to the ranks that sent these entities.
void ClusterBody::name_leaving(LeavingTo& leaving, const ArrivedFrom& arrived) {
    std::vector<RankMessage> sent;
    for (const auto& [rank, entities] : arrived) {
        MessageWriter to;
        for (const Entity entity : entities) to.value(names.name(entity)), names.mark_known_elsewhere(entity);
        crossing_bytes_ += to.bytes().size();
        sent.push_back({rank, to.take()});
    }
    for (const RankMessage& message : ranks.exchange(std::move(sent))) {
        MessageReader from(message.bytes);
        for (const Entity entity : leaving[message.rank].unnamed) {
            const Name name = from.value<Name>();
            if (!from.is_sound() || !cluster::is_lasting(name) || names.find(name))
                fail("names", Status::error(concat("rank ", message.rank, " gives none to what it was sent")));
            rename(entity, name);
            names.mark_away(entity, true), names.mark_known_elsewhere(entity);
        }
    }
}

/// Whether this settle replaces a temporary name that this rank has sent, or is about to send.
bool ClusterBody::will_rename(const LeavingTo& leaving) {
    bool found = false;
    for (const auto& [rank, with] : leaving) {
        for (const Entity entity : with.unnamed) found |= names.name(entity) != 0;
        found = found || cluster::refers_to_unnamed(world, names, with.entities);
    }
    own_rows_.for_each_changed(zones.own.now(), [&](TableRows& rows) {
        for (const Entity entity : rows.found) found |= names.name(entity) != 0 && needs_name(entity);
    });
    return found;
}

/// Sends the lasting names that replace temporary names to all ranks.
void ClusterBody::tell_renamed() {
    MessageWriter mine;
    mine.array(renamed_);
    structure_bytes_ += mine.bytes().size();
    for (const cluster::Bytes& bytes : ranks.gather(mine.bytes())) {
        MessageReader from(bytes);
        for (const Renamed& one : from.array<Renamed>()) {
            const Entity entity = names.find(one.temporary), other = names.find(one.lasting);
            if (cluster::is_lasting(one.temporary) || !cluster::is_lasting(one.lasting) || (entity && other))
                fail("names", Status::error("a temporary name is replaced by one that does not last, or is taken"));
            if (entity) names.rename(entity, one.lasting);
        }
        if (!from.is_done()) fail("names", Status::error("a message is cut off"));
    }
}

// --- names and order ---------------------------------------------------------------------------------------------

/// Whether an entity is in a zone and has no lasting name yet.
bool ClusterBody::needs_name(Entity entity) const {
    if (names.lasting_name(entity) != 0) return false;
    const DatabaseRow at = database.find(entity);
    return at && division.has(at.table->zone());
}

void ClusterBody::rename(Entity entity, Name name) {
    if (const Name old = names.rename(entity, name)) renamed_.push_back({old, name});
}

/// Gives names to the unnamed entities in zones, in an order that depends only on their components.
void ClusterBody::name_newborn(const ZoneSet& in_zones) {
    struct Newborn {
        Zone zone;
        std::uint64_t type, hash;
        Entity entity;

        auto order() const { return std::tuple(zone, type, hash, entity.id); }  // with equal hashes, only ids differ
    };
    std::vector<Newborn> newborn;
    own_rows_.for_each_changed(in_zones, [&](TableRows& rows) {
        for (const Entity entity : rows.found)
            if (needs_name(entity))
                newborn.push_back({rows.key.zone_number(), rows.key.type, hash_with_below(entity), entity});
    });
    std::ranges::sort(newborn, {}, &Newborn::order);
    for (const Newborn& each : newborn) rename(each.entity, names.next(each.zone - division.first()));
}

/// Arranges the rows of these zones. Returns the changes of the tables that other ranks copy.
std::vector<TableChange> ClusterBody::arrange(const ZoneSet& in_zones) {
    std::vector<TableChange> changes;
    own_rows_.for_each_changed(in_zones, [&](TableRows& rows) {
        const bool is_copied = copied_zones_.contains(rows.key.zone_number());
        own_rows_.arrange(names, rows, is_copied ? changes.emplace_back() : untold_);
    });
    own_rows_.add_enabled(copied_zones_, changes);
    return changes;
}

// --- copies ------------------------------------------------------------------------------------------------------

void ClusterBody::write_changes(std::span<const TableChange> changes, const ZoneSet& needed, MessageWriter& to) {
    for (const TableChange& change : changes) {
        if (!needed.contains(change.key.zone_number())) continue;
        to.value(change.key);
        to.array(types_.components(change.key.type));
        to.array(change.gone);
        to.array(change.come);
        to.array(change.enabled);
        for (const Name name : change.come) names.mark_known_elsewhere(names.find(name));
    }
}

/// Sends the changes in this rank's zones (all of their rows if `all` is true) to the ranks that copy these zones. Then
/// updates the copies on this rank with the changes that other ranks have sent.
void ClusterBody::send_structure(const std::vector<TableChange>& changes, bool all) {
    std::vector<std::uint32_t> numbers;
    std::vector<RankMessage> sent;
    for (cluster::Peer& peer : peers_) {
        MessageWriter to;
        if (all) {
            write_changes(own_rows_.list_all(peer.needed), peer.needed, to);
            peer.since = 0;
        } else {
            write_changes(changes, peer.needed, to);
        }
        structure_bytes_ += to.bytes().size();
        numbers.push_back(peer.rank);
        sent.push_back({peer.rank, to.take()});
    }
    const std::vector<RankMessage> came = ranks.exchange_with(numbers, std::move(sent));
    if (const Status applied = apply_structure(came, all); !applied) fail("copies of zones", applied);
}

/// The new rows of a table's copy.
struct ClusterBody::ComingRows {
    cluster::TableKey key;
    const Archetype* type;
    std::vector<Entity> owners;  // the previous owners, except the removed ones
    std::vector<Name> names;     // the names of `owners`
    std::vector<Name> come;
    std::vector<std::uint64_t> enabled;
};

Status ClusterBody::read_changes(const RankMessage& message, std::vector<ComingRows>& coming) {
    for (MessageReader from(message.bytes); from.has_more();) {
        const auto key = from.value<cluster::TableKey>();
        const auto components = from.array<std::uint64_t>();
        const auto gone = from.array<std::uint32_t>();
        auto come = from.array<Name>();
        auto enabled = from.array<std::uint64_t>();
        if (!from.is_sound() || !std::ranges::all_of(come, cluster::is_lasting))
            return Status::error(concat("what rank ", message.rank, " sends is cut off, or names do not last"));
        if (key.zone != key.zone_number() || !zones.halo.now().contains(key.zone_number()) ||
            owner(key.zone_number()) != message.rank)
            return Status::error(
                concat("rank ", message.rank, " sends rows of zone ", key.zone, ", which it does not own"));
        const Result<const Archetype*> type = types_.find(key.type, components);
        if (!type) return type.status();
        ComingRows& rows = coming.emplace_back(ComingRows{key, *type, {}, {}, std::move(come), std::move(enabled)});
        if (const auto known = copied_rows_.all().find(key); known != copied_rows_.all().end())
            rows.owners = known->second.owners, rows.names = known->second.names;
        for (std::size_t i = 0; i < gone.size(); ++i)
            if (gone[i] >= rows.owners.size() || (i != 0 && gone[i] <= gone[i - 1]))
                return Status::error(concat("rank ", message.rank, " takes rows out of zone ", key.zone_number(),
                                            " that are not there"));
        std::vector<Entity> leaving;
        for (const std::uint32_t row : gone)  // entities that crossed to this rank are no longer copies
            if (names.is_copy(rows.owners[row])) leaving.push_back(rows.owners[row]);
        cluster::take_out_rows(rows.owners, gone), cluster::take_out_rows(rows.names, gone);
        leave(leaving);
        for (const Entity entity : leaving) names.mark_copy(entity, false);
    }
    return {};
}

/// Adds rows for the new entities of a table, puts all rows in order, and enables the same components as the owner.
Status ClusterBody::place(ComingRows& rows) {
    std::vector<Entity> come,
        made(static_cast<std::size_t>(std::ranges::count_if(rows.come, [&](Name name) { return !names.find(name); })));
    if (Status status = world.entities().create(made); !status) return status;
    for (const Name name : rows.come) {
        Entity entity = names.find(name);
        if (!entity) {
            if (made.empty()) return Status::error(concat("the entity ", cluster::name_text(name), " is there twice"));
            entity = made.back();
            made.pop_back();
            names.set(entity, name);
        } else if (!names.is_away(entity)) {
            return Status::error(concat("the entity ", cluster::name_text(name), " is in two zones"));
        }
        names.mark_away(entity, false), names.mark_copy(entity, true);
        come.push_back(entity);
    }
    const Result<AddCounts> inserted = database.insert(come, *rows.type, rows.key.zone_number());
    if (!inserted) return inserted.status();
    rows.owners.insert(rows.owners.end(), come.begin(), come.end());
    rows.names.insert(rows.names.end(), rows.come.begin(), rows.come.end());
    const DatabaseTable* const table = database.find_table(*rows.type, rows.key.zone_number());
    if (rows.owners.size() != (table == nullptr ? 0 : table->num_rows()))
        return Status::error(
            concat("zone ", rows.key.zone_number(),
                   " has other rows here than at its owner; structural calls outside of passes are made "
                   "for own zones only"));
    copied_rows_.set(rows.key, std::move(rows.owners), std::move(rows.names));
    return copied_rows_.enable(rows.key, rows.enabled);
}

Status ClusterBody::apply_structure(std::span<const RankMessage> messages, bool all) {
    if (all) {
        std::vector<Entity> before;
        names.for_each_copy([&](Entity entity, Name) { before.push_back(entity); });
        leave(before);
        for (const Entity entity : before) names.mark_copy(entity, false);
        copied_rows_.clear();
    }
    std::vector<ComingRows> coming;
    for (const RankMessage& message : messages)
        if (Status status = read_changes(message, coming); !status) return status;
    for (ComingRows& rows : coming)
        if (Status status = place(rows); !status) return status;
    return {};
}

// --- the whole settle --------------------------------------------------------------------------------------------

namespace {

/// The steps of a settle that all ranks take together when one of them needs to.
struct RareSteps {
    std::uint8_t cross = 0, name = 0, rename = 0;  // not 0: the step is taken
    std::uint8_t zeros[13]{};                      // so that what follows in the message is aligned

    void operator|=(const RareSteps& other) { cross |= other.cross, name |= other.name, rename |= other.rename; }
};

}  // namespace

void ClusterBody::after_settle() {
    if (!is_started) return;
    constexpr std::uint64_t kSettlesUntilForgotten = 256, kSettlesUntilTold = 64;
    const bool tells = num_settles_ % kSettlesUntilTold == 0;
    if (tells) known_ranks.assign(1, statistics());
    std::vector<Name> dead = commands_.name_created();
    const std::vector<Name> died = take_deaths();
    dead.insert(dead.end(), died.begin(), died.end());
    unlink_across_zones();
    LeavingTo leaving = find_leaving();
    RareSteps steps{.cross = !leaving.empty()};
    for (const auto& [rank, with] : leaving) steps.name |= !with.unnamed.empty();
    if (ranks.size() > 1) {
        steps.rename = will_rename(leaving);
        MessageWriter mine;
        mine.value(std::exchange(steps, {})), mine.array(dead);
        if (tells) mine.value(std::exchange(known_ranks, {}).front());
        structure_bytes_ += mine.bytes().size();
        dead.clear();
        const std::vector<cluster::Bytes> all = ranks.gather(mine.bytes());
        for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
            MessageReader from(all[rank]);
            steps |= from.value<RareSteps>();
            const auto others = from.array<Name>();
            if (tells) known_ranks.push_back(from.value<ClusterStatistics>());
            if (!from.is_done()) fail("deaths", Status::error("a message is cut off"));
            dead.insert(dead.end(), others.begin(), others.end());
        }
        destroy_named(dead);  // before newborn entities are sorted by a hash that includes references
    }
    const ArrivedFrom arrived = steps.cross ? cross(leaving) : ArrivedFrom();
    name_newborn(zones.own.now());
    if (steps.name) name_leaving(leaving, arrived);
    if (steps.rename) tell_renamed();
    renamed_.clear();
    const std::vector<TableChange> changes = arrange(zones.own.now());
    if (!peers_.empty()) send_structure(changes, false);
    if (++num_settles_ % kSettlesUntilForgotten == 0) forget_unreferenced();
    renew_columns();
    own_rows_.note_tables(), copied_rows_.note_tables();  // names_of() finds all tables while passes run
    changes_at_settle_ = database.num_structural_changes();
}

void ClusterBody::run_halo() {
    if (!is_started) return;
    if (const Status settled = check_settled(); !settled) fail("halos", settled);
    if (peers_.empty()) return;
    halo_.run(peers_, own_rows_, copied_rows_, columns_, zones);
}

}  // namespace shoal
