#include "cluster/cluster_body.h"

#include "shoal/base/detail/lines.h"
#include "shoal/base/log.h"
#include "shoal/world/entity_blob.h"

#include <algorithm>
#include <utility>

namespace shoal {

using cluster::ColumnPiece;
using cluster::RankMessage;
using cluster::TableRows;

ClusterBody::ClusterBody(World& of, MPI_Comm comm, const ClusterOptions& given)
    : world(of),
      database(of.database()),
      options(given),
      ranks(comm),
      division(given.zones, given.reach),
      names(division.num_zones()),
      rank_of_zone(division.num_zones(), ranks.rank()),
      types_(database),
      own_rows_(database, types_),
      copied_rows_(database, types_),
      halo_(ranks, world, database),
      commands_(world, names, ranks.rank()),
      deaths_(of.entities(), "cluster") {
    note_zones();
    status = check_ranks();
}

ZoneSet ClusterBody::all_zones() const {
    ZoneSet all;
    all.insert_range(division.first(), division.first() + division.num_zones());
    return all;
}

// --- whether the ranks are compatible ----------------------------------------------------------------------------

namespace {

/// Errors: the facts differ; the message names the first difference.
Status compare(std::string_view first, std::string_view other, std::size_t rank) {
    while (!first.empty() || !other.empty()) {
        const std::string_view a = first.empty() ? "nothing more" : take_line(first);
        const std::string_view b = other.empty() ? "nothing more" : take_line(other);
        if (a != b)
            return Status::error(concat("rank ", rank, " has ", b, ", and rank 0 has ", a,
                                        "; start the same program with the same options on all ranks"));
    }
    return {};
}

}  // namespace

namespace cluster {

std::string facts_of(const World& world, const ClusterOptions& options) {
    const GridZonesOptions& grid = options.zones.options();
    std::string facts = concat("shoal ", SHOAL_VERSION_MAJOR, '.', SHOAL_VERSION_MINOR, '\n');
    facts += concat("ids of ", 8 * sizeof(Entity), " bits with indices of ", kIndexBits, '\n');
    facts += concat("zones from ", grid.first_zone, ", ", grid.num_x, " x ", grid.num_y, " tiles of ", grid.tile_size,
                    " from (", grid.origin.x, ' ', grid.origin.y, ' ', grid.origin.z, "), with the axis ",
                    static_cast<int>(grid.up), " up\n");
    std::vector<std::string> schemas;
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas())
            schemas.push_back(
                concat("the component type \"", schema->name(), "\" with the layout ", schema->layout_hash(), '\n'));
    std::ranges::sort(schemas);
    for (const std::string& schema : schemas) facts += schema;
    return facts;
}

std::string find_other_fact(std::string_view of_checkpoint, std::string_view own) {
    std::map<std::string_view, std::string_view> types;  // lines, by the name of the component type
    const auto is_type = [](std::string_view line) { return line.starts_with("the component type "); };
    const auto name_of = [](std::string_view line) { return line.substr(0, line.find(" with the layout ")); };
    for (std::string_view rest = own; !rest.empty();)
        if (const std::string_view line = take_line(rest); is_type(line)) types[name_of(line)] = line;
    std::string_view mine = own;
    while (!of_checkpoint.empty()) {
        const std::string_view theirs = take_line(of_checkpoint);
        std::string_view ours = is_type(theirs) ? theirs : take_line(mine);
        if (const auto same = types.find(name_of(theirs)); is_type(theirs) && same != types.end()) ours = same->second;
        if (theirs != ours) return concat("it is of a program with ", theirs, ", and this one has ", ours);
    }
    return {};
}

}  // namespace cluster

Status ClusterBody::agree(Status mine) {
    if (ranks.all(mine.ok())) return {};
    return mine ? Status::error("another rank has an error; its message says which") : mine;
}

Status ClusterBody::check_ranks() {
    Status threads;
    if (world.executor().num_workers() > 1 && ranks.size() > 1 && !ranks.takes_threads())
        threads = Status::error(
            "the world has several workers, and MPI was initialised for one thread; call "
            "MPI_Init_thread() with MPI_THREAD_SERIALIZED");
    if (Status all = agree(std::move(threads)); !all) return all;
    std::string facts = cluster::facts_of(world, options);
    facts += concat("a reach of ", options.reach, " tiles\n");
    facts += concat("an imbalance of ", options.imbalance, '\n');
    facts += concat("the random state ", world.random().state(), '\n');
    for (std::size_t pass = 0; pass < world.schedule().num_passes(); ++pass)
        facts += concat("the pass \"", world.schedule().statistics(pass).name, "\"\n");
    MessageWriter mine;
    mine.text(facts);
    const std::vector<cluster::Bytes> all = ranks.gather(mine.bytes());
    const std::string first = MessageReader(all[0]).text();
    for (std::size_t rank = 1; rank < all.size(); ++rank)
        if (Status same = compare(first, MessageReader(all[rank]).text(), rank); !same) return same;
    num_common_types_ = database.schemas().size();
    return {};
}

/// Errors: the database has changed structurally since the last settle.
Status ClusterBody::check_settled() {
    if (database.num_structural_changes() == changes_at_settle_) return {};
    return Status::error(
        "rows were added, removed or moved since the world settled; call World::settle() after structural calls "
        "outside of passes");
}

/// Errors: the same as check_settled(); entities have died since the last settle. Their rows remain until the next
/// settle, and must not be sent.
Status ClusterBody::check_at_rest() {
    if (deaths_.is_at_end()) return check_settled();
    return Status::error(
        "entities were destroyed since the world settled; call World::settle() after structural calls outside of "
        "passes");
}

// --- the division of zones among ranks ---------------------------------------------------------------------------

/// Updates the sets of zones that this rank owns, that it copies, and that other ranks copy from it.
void ClusterBody::note_zones() {
    ZoneSet own, near, halo, foreign;
    std::map<std::uint32_t, ZoneSet> needed;
    all_zones().for_each([&](Zone zone) {
        if (owner(zone) == ranks.rank())
            own.insert(zone);
        else
            foreign.insert(zone);
        division.for_each_near(zone, [&](Zone other) {
            if (owner(zone) == ranks.rank()) near.insert(other);
            if (owner(other) == owner(zone)) return;
            if (owner(other) == ranks.rank()) needed[owner(zone)].insert(other);
            if (owner(zone) == ranks.rank()) halo.insert(other), needed.try_emplace(owner(other));
        });
    });
    peers_.clear(), copied_zones_.clear();
    for (auto& [rank, some] : needed) {
        copied_zones_.insert(some);
        peers_.push_back({rank, std::move(some), 0});
    }
    own_zones.set(std::move(own)), halo_zones.set(std::move(halo)), near_zones.set(std::move(near));
    foreign_zones = std::move(foreign);
}

std::vector<std::uint64_t> ClusterBody::count_rows() {
    std::vector<std::uint64_t> counts(division.num_zones());
    for (const DatabaseTable* table : database.all_tables())
        if (table != nullptr && division.has(table->zone()) && owner(table->zone()) == ranks.rank())
            counts[table->zone() - division.first()] += table->num_rows();
    return counts;
}

/// Removes the components of entities in zones of other ranks. Only the names of these entities remain.
void ClusterBody::drop_foreign() {
    std::vector<Entity> entities, unnamed;  // `unnamed`: descendants, which other ranks do not know yet
    for (const auto& [key, rows] : own_rows_.all())
        if (owner(key.zone_number()) != ranks.rank())
            for (const Entity entity : rows.owners)
                for (const Entity one : below(entity)) (names.name(one) == 0 ? unnamed : entities).push_back(one);
    leave(entities);
    cluster::strip(world, unnamed);
    world.entities().destroy(unnamed);
    own_rows_.keep(zones.own.now());
}

/// Fills the copies of all zones within reach, and updates the columns to send.
void ClusterBody::renew_halo() {
    for (cluster::Peer& peer : peers_) peer.since = 0;
    send_structure({}, true);
    forget_unreferenced();
    columns_.clear();
    renew_columns();
    own_rows_.note_tables(), copied_rows_.note_tables();
    world.schedule().zones_changed();
    pass_ns_at_balance_ = statistics().pass_ns;
    changes_at_settle_ = database.num_structural_changes();
}

void ClusterBody::renew_columns() {
    Result<std::vector<cluster::HaloColumn>> found = cluster::find_halo_columns(world.schedule(), database, zones);
    if (!found) fail("passes", found.status());
    if (*found == columns_) return;
    columns_ = std::move(*found);
    for (cluster::Peer& peer : peers_) peer.since = 0;
    const std::vector<Access> accesses = cluster::halo_accesses(database, columns_, zones);
    if (const Status declared = world.schedule().declare("halo", accesses); !declared) fail("passes", declared);
}

/// Destroys the entities that are away (see EntityNames) and to which no row refers.
void ClusterBody::forget_unreferenced() {
    const BitSet referenced = cluster::find_referenced(world);
    std::vector<Entity> gone;
    names.for_each_away([&](Entity entity, Name) {
        if (!referenced.test(entity.index())) gone.push_back(entity);
    });
    names.erase(gone);
    world.entities().destroy(gone);
    deaths_.pass_all();
}

/// Tells each owner which of its entities other ranks refer to, so that it reports the deaths of these entities.
void ClusterBody::tell_what_is_known() {
    if (ranks.size() == 1) return;
    std::vector<Name> away;
    names.for_each_away([&](Entity, Name name) { away.push_back(name); });
    MessageWriter mine;
    mine.array(away);
    for (const cluster::Bytes& bytes : ranks.gather(mine.bytes()))
        for (const Name name : MessageReader(bytes).array<Name>())
            if (const Entity entity = names.find(name)) names.mark_known_elsewhere(entity);
}

/// Errors: the ranks have divided the zones differently; the message names the first such zone.
Status ClusterBody::check_division(const std::vector<std::uint32_t>& next) {
    const std::vector<std::uint64_t> numbers(next.begin(), next.end());
    const auto found = ranks.find_difference(numbers);
    if (!found) return {};
    return Status::error(concat("rank ", found->rank, " gives zone ", division.first() + found->index, " to rank ",
                                found->other, ", and rank 0 to rank ", found->first,
                                "; the division is to be the same on all"));
}

/// Applies a division. Collective. Errors: a pass does not fit the division, or ranks read different columns in halos.
/// On error, the old division remains.
Status ClusterBody::take_division(std::vector<std::uint32_t> next) {
    const std::vector<std::uint32_t> before = std::exchange(rank_of_zone, std::move(next));
    note_zones();
    const Result<std::vector<cluster::HaloColumn>> columns =
        cluster::find_halo_columns(world.schedule(), database, zones);
    Status fits = columns.status();
    if (fits) fits = cluster::check_halo_order(world.schedule(), database, zones);
    if (fits = agree(std::move(fits)); fits) {
        std::vector<std::uint64_t> numbers;
        for (const cluster::HaloColumn& each : *columns)
            numbers.push_back(each.component), numbers.push_back(each.column);
        if (const auto found = ranks.find_difference(numbers))
            fits = Status::error(
                concat("the passes of rank ", found->rank,
                       " read other columns in halos than those of rank 0; declare the same on all ranks"));
    }
    if (fits) return {};
    rank_of_zone = before;
    note_zones();
    world.schedule().zones_changed();
    return fits;
}

Status ClusterBody::start() {
    if (!status) return status;
    if (is_started)
        return Status::error("the cluster has started already; divide() and rebalance() let zones change hands");
    if (Status same = check_ranks(); !same) return same;
    const std::vector<std::uint64_t> weights = count_rows();
    unlink_across_zones();
    name_newborn(all_zones());
    arrange(all_zones());
    if (ranks.size() > 1) {
        std::vector<std::uint64_t> hashes;
        all_zones().for_each([&](Zone zone) { hashes.push_back(hash_zone(zone)); });
        if (const auto found = ranks.find_difference(hashes))
            return Status::error(concat("rank ", found->rank, " has other entities in zone ",
                                        division.first() + found->index,
                                        " than rank 0; all ranks make the same entities before Cluster::start()"));
    }
    Result<std::vector<std::uint32_t>> next = division.divide(weights, ranks.size(), options);
    if (Status divided = agree(next.status()); !divided) return divided;
    if (Status same = check_division(*next); !same) return same;
    if (Status taken = take_division(std::move(*next)); !taken) return taken;
    drop_foreign();
    is_started = true;
    deaths_.pass_all();
    renew_halo();
    tell_what_is_known();
    return {};
}

// --- zones that change hands -------------------------------------------------------------------------------------

/// Writes a zone: its tables with the names of their rows, followed by the entities with all their components.
/// `plain`: the tables whose columns are added to `columns` instead; may be nullptr. `gone`: what the zone has.
Status ClusterBody::pack_zone(Zone zone, const cluster::PlainTables* plain, MessageWriter& to,
                              std::vector<ColumnPiece>& columns, Gone& gone) {
    to.value(zone);
    to.value(names.births()[zone - division.first()]);
    std::vector<const TableRows*> tables;
    for (const auto& [key, rows] : own_rows_.all())
        if (key.zone == zone && !rows.owners.empty()) tables.push_back(&rows);
    to.value(static_cast<std::uint32_t>(tables.size()));
    std::vector<Entity> entities;
    for (const TableRows* rows : tables) {
        const bool is_plain = plain != nullptr && rows->table != nullptr && plain->has(*rows->table);
        to.value(rows->key.type);
        to.value(is_plain);
        if (is_plain) {
            to.array(types_.components(rows->key.type));
            cluster::write_names(rows->names, to);
            to.array(own_rows_.enabled_of(*rows->table));
            cluster::list_columns(database, types_, *rows->table, columns);
            gone.plain_tables.push_back(rows->key);
        } else {
            to.array(rows->names);
            entities.insert(entities.end(), rows->owners.begin(), rows->owners.end());
        }
    }
    if (entities.empty()) return {};
    entities = entities_with_below(world, entities);
    gone.entities.insert(gone.entities.end(), entities.begin(), entities.end());
    return cluster::pack(world, names, ranks.rank(), entities, to);
}

/// Inserts the rows of a table whose columns are sent separately. Adds to `columns` the memory that will receive them.
Status ClusterBody::unpack_columns(const cluster::TableKey& key, MessageReader& from,
                                   std::vector<ColumnPiece>& columns) {
    const auto components = from.array<std::uint64_t>();
    std::vector<Name> of_rows = cluster::read_names(from);
    const auto enabled = from.array<std::uint64_t>();
    if (!from.is_sound()) return Status::error("a table of a zone is cut off");
    if (of_rows.empty()) return Status::error("a table of a zone has no rows");
    if (!std::ranges::all_of(of_rows, cluster::is_lasting)) return Status::error("a row has no name that lasts");
    const Result<const Archetype*> type = types_.find(key.type, components);
    if (!type) return type.status();
    if (!cluster::has_plain_columns(database, **type))
        return Status::error("a table that is sent as columns has a field that has meaning on its own rank only");
    Result<std::vector<Entity>> owners = cluster::take_in(world, names, of_rows);
    if (!owners) return owners.status();
    const Result<AddCounts> inserted = database.insert(*owners, **type, key.zone_number());
    if (!inserted) return inserted.status();
    const DatabaseTable* const table = database.find_table(**type, key.zone_number());
    if (table == nullptr || table->num_rows() != owners->size())
        return Status::error(concat("zone ", key.zone_number(), " has rows here already"));
    own_rows_.set(key, std::move(*owners), std::move(of_rows));
    cluster::list_columns(database, types_, *table, columns);
    return own_rows_.enable(key, enabled);
}

/// Restores the order that the rows of a table had on the previous owner.
Status ClusterBody::unpack_order(const cluster::TableKey& key, const std::vector<Name>& order) {
    if (!std::ranges::all_of(order, cluster::is_lasting)) return Status::error("a row has no name that lasts");
    std::vector<Entity> owners;
    for (const Name name : order) owners.push_back(names.find(name));
    const auto rows = own_rows_.all().find(key);
    std::vector<Entity> sorted = owners, there;
    if (rows != own_rows_.all().end() && rows->second.table != nullptr)
        there.assign(rows->second.table->entities().begin(), rows->second.table->entities().end());
    std::sort(sorted.begin(), sorted.end()), std::sort(there.begin(), there.end());
    if (sorted != there) return Status::error(concat("zone ", key.zone_number(), " has other entities than it lists"));
    own_rows_.set(key, std::move(owners), order);
    return {};
}

/// Reads a zone written by pack_zone(). The memory for columns that are sent separately is added to `columns`; if that
/// is nullptr, such columns are an error.
Status ClusterBody::unpack_zone(MessageReader& from, std::vector<ColumnPiece>* columns) {
    const auto zone = from.value<Zone>();
    const auto births = from.value<std::uint64_t>();
    const auto num_tables = from.value<std::uint32_t>();
    if (!from.is_sound() || !division.has(zone))
        return Status::error("a zone is cut off, or is none of those that are divided");
    std::vector<std::pair<std::uint64_t, std::vector<Name>>> tables;
    for (std::uint32_t i = 0; i < num_tables && from.is_sound(); ++i) {
        const auto type = from.value<std::uint64_t>();
        if (from.value<std::uint8_t>() == 0) {
            tables.emplace_back(type, from.array<Name>());
        } else if (columns == nullptr) {
            return Status::error("a table is there without its rows");
        } else if (const Status made = unpack_columns({zone, type}, from, *columns); !made) {
            return made;
        }
    }
    if (!from.is_sound()) return Status::error("the tables of a zone are cut off");
    if (!tables.empty())
        if (const auto entities = cluster::unpack(world, names, from); !entities) return entities.status();
    names.births()[zone - division.first()] = births;
    own_rows_.note_tables();
    for (const auto& [type, order] : tables)
        if (const Status placed = unpack_order({zone, type}, order); !placed) return placed;
    return {};
}

/// Sends some of this rank's zones to their new owners. Errors: the same as pack(), on any rank. On error, no zone has
/// moved.
Status ClusterBody::move_zones(const std::vector<std::uint32_t>& next) {
    std::map<std::uint32_t, MessageWriter> sent;
    std::map<std::uint32_t, std::vector<ColumnPiece>> columns_to;
    ZoneSet leaving;
    zones.own.now().for_each([&](Zone zone) {
        if (next[zone - division.first()] != ranks.rank()) leaving.insert(zone);
    });
    Status packed;
    Gone gone;
    if (!leaving.empty()) {
        const cluster::PlainTables plain(world, database, num_common_types_);
        leaving.for_each([&](Zone zone) {
            const std::uint32_t to = next[zone - division.first()];
            if (packed) packed = pack_zone(zone, &plain, sent[to], columns_to[to], gone);
        });
    }
    if (packed = agree(std::move(packed)); !packed) return packed;
    std::vector<RankMessage> messages;
    std::vector<std::vector<ColumnPiece>> columns;
    for (auto& [rank, to] : sent) {
        crossing_bytes_ += to.bytes().size();
        messages.push_back({rank, to.take()});
        columns.push_back(std::move(columns_to[rank]));
        for (const ColumnPiece& piece : columns.back()) crossing_bytes_ += piece.num_bytes;
    }
    rank_of_zone = next;
    note_zones();
    std::vector<std::vector<Entity>> plain;  // the owners of the rows that are sent as columns, by table
    for (const cluster::TableKey& key : gone.plain_tables) plain.push_back(std::move(own_rows_.at(key).owners));
    own_rows_.keep(zones.own.now());
    std::vector<Entity> forgotten;
    const auto receive = [&](const RankMessage& message) {
        std::vector<ColumnPiece> pieces;
        for (MessageReader from(message.bytes); from.has_more();)
            if (const Status unpacked = unpack_zone(from, &pieces); !unpacked) fail("zones", unpacked);
        return pieces;
    };
    ranks.exchange_columns(std::move(messages), columns, receive, [&] { forgotten = forget_gone(plain); });
    for (const std::vector<Entity>& owners : plain) database.drop(owners);  // they have nothing in other stores
    world.entities().destroy(forgotten);
    leave(gone.entities);
    renew_halo();
    return {};
}

/// Removes the names of entities that have gone and to which no row refers, and returns these entities. The others are
/// away. The rows do not change, because their columns are being sent.
std::vector<Entity> ClusterBody::forget_gone(std::span<const std::vector<Entity>> tables) {
    std::vector<Entity> forgotten, away;
    if (tables.empty()) return forgotten;
    const BitSet referenced = cluster::find_referenced(world);
    for (const std::vector<Entity>& entities : tables)
        for (const Entity entity : entities) (referenced.test(entity.index()) ? away : forgotten).push_back(entity);
    names.erase(forgotten);
    names.mark_gone(away);
    return forgotten;
}

Status ClusterBody::divide(std::span<const std::uint64_t> weights) {
    if (!is_started)
        return Status::error("zones are divided when the cluster has started; call Cluster::start() before");
    Result<std::vector<std::uint32_t>> next =
        Status::error(concat(weights.size(), " weights were given for ", division.num_zones(), " zones"));
    if (const Status settled = check_at_rest(); !settled)
        next = settled;
    else if (weights.size() == division.num_zones())
        next = division.divide(weights, ranks.size(), options);
    if (Status divided = agree(next.status()); !divided) return divided;
    if (Status same = check_division(*next); !same) return same;
    return *next == rank_of_zone ? Status() : move_zones(*next);
}

Status ClusterBody::rebalance() {
    if (!is_started)
        return Status::error("zones change hands when the cluster has started; call Cluster::start() before");
    const std::vector<std::uint64_t> rows = count_rows();
    std::uint64_t num_rows = 0;
    for (const std::uint64_t some : rows) num_rows += some;
    const std::int64_t now_ns = statistics().pass_ns;
    const auto mine_ns =
        static_cast<std::uint64_t>(std::max<std::int64_t>(now_ns - std::exchange(pass_ns_at_balance_, now_ns), 0));
    std::vector<std::uint64_t> times(ranks.size()), weights(rows.size());
    times[ranks.rank()] = mine_ns;
    ranks.sum(times);
    std::uint64_t total_ns = 0;
    for (const std::uint64_t ns : times) total_ns += ns;
    const double mean = static_cast<double>(total_ns) / ranks.size();
    if (static_cast<double>(*std::ranges::max_element(times)) <= mean * (1 + options.imbalance)) return {};
    for (std::size_t zone = 0; zone < rows.size(); ++zone)
        if (rows[zone] != 0)
            weights[zone] = static_cast<std::uint64_t>(static_cast<double>(mine_ns) * static_cast<double>(rows[zone]) /
                                                       static_cast<double>(num_rows));
    ranks.sum(weights);
    return divide(weights);
}

// --- hashes and counts -------------------------------------------------------------------------------------------

/// Returns a hash of an entity and its descendants.
std::uint64_t ClusterBody::hash_with_below(Entity entity) {
    std::uint64_t sum = 0;
    for (const Entity one : below(entity)) sum += cluster::hash_of(world, names, one);
    return sum;
}

std::uint64_t ClusterBody::hash_zone(Zone zone) {
    std::uint64_t sum = names.births()[zone - division.first()];
    for (const auto& [key, rows] : own_rows_.all()) {
        if (key.zone != zone || rows.owners.empty()) continue;
        std::uint64_t hash = hash_bytes(&key, sizeof key);
        for (std::size_t row = 0; row < rows.owners.size(); ++row) {
            const std::uint64_t parts[] = {rows.names[row], hash_with_below(rows.owners[row])};
            hash = hash_bytes(parts, sizeof parts, hash);
        }
        sum += hash;
    }
    return sum;
}

std::span<const cluster::Name> ClusterBody::names_of(const DatabaseTable& table) const {
    const bool is_own = division.has(table.zone()) && owner(table.zone()) == ranks.rank();
    const TableRows* const rows = (is_own ? own_rows_ : copied_rows_).find(table);
    if (rows == nullptr) return {};
    constexpr std::size_t kMostFetched = 1024, kNamesPerLine = 8;  // a pass may read them in any order
    for (std::size_t row = 0; row < std::min(rows->names.size(), kMostFetched); row += kNamesPerLine)
        __builtin_prefetch(&rows->names[row]);
    return rows->names;
}

std::vector<std::uint64_t> ClusterBody::hash_zones() {
    std::vector<std::uint64_t> hashes(division.num_zones());
    zones.own.now().for_each([&](Zone zone) { hashes[zone - division.first()] = hash_zone(zone); });
    ranks.sum(hashes);
    return hashes;
}

ClusterStatistics ClusterBody::statistics() {
    ClusterStatistics now{
        .rank = ranks.rank(), .num_zones = zones.own.now().size(), .num_halo_zones = zones.halo.now().size()};
    for (const DatabaseTable* table : database.all_tables()) {
        if (table == nullptr) continue;
        if (zones.own.now().contains(table->zone())) now.num_rows += table->num_rows();
        if (zones.halo.now().contains(table->zone())) now.num_halo_rows += table->num_rows();
    }
    now.num_messages = ranks.traffic().num_messages;
    now.halo_bytes = halo_.num_bytes();
    now.structure_bytes = structure_bytes_, now.crossing_bytes = crossing_bytes_, now.command_bytes = command_bytes_;
    now.num_crossed = num_crossed_, now.num_commands = commands_.num_sent();
    now.wait_ns = ranks.traffic().wait_ns;
    for (std::size_t pass = 0; pass < world.schedule().num_passes(); ++pass)
        if (const PassStatistics cost = world.schedule().statistics(pass); cost.name != "halo")
            now.pass_ns += cost.total_ns;
    return now;
}

}  // namespace shoal
