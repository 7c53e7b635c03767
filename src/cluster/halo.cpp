#include "cluster/halo.h"

#include "shoal/base/text.h"
#include "shoal/world/detail/schedule_graph.h"

#include <algorithm>
#include <map>

namespace shoal::cluster {
namespace {

/// Whether rows of other ranks may be among those that an access is about.
bool may_touch_halo(const Access& access, const Database& database, const ClusterZones& zones) {
    if (access.store != &database) return false;
    if (!access.in_zones) return true;
    if (access.live == &zones.own) return false;
    if (access.live == &zones.near || access.live == &zones.halo) return true;
    bool any = false;
    access.zones_now().for_each([&](Zone zone) { any |= zones.halo.now().contains(zone); });
    return any;
}

std::string text_of(const Access& access, const Database& database) {
    const ComponentType type = database.find_component(access.component);
    if (!type) return "the database";
    const Schema& schema = database.schema(type);
    if (access.field >= schema.fields().size()) return concat('"', schema.name(), '"');
    return concat('"', schema.name(), '.', schema.fields()[access.field].name, '"');
}

void add_columns(const Access& access, const Database& database, std::vector<HaloColumn>& columns) {
    for (std::uint32_t number = 0; number < database.schemas().size(); ++number) {
        const Schema& schema = *database.schemas()[number];
        if (access.component != ComponentId() && schema.id() != access.component) continue;
        const bool is_field = access.field < schema.fields().size();
        const std::uint32_t first = is_field ? schema.fields()[access.field].first_column : 0;
        const std::uint32_t count = is_field ? schema.fields()[access.field].num_columns : schema.num_columns();
        for (std::uint32_t c = 0; c < count; ++c)
            if (schema.column(first + c).opaque == nullptr) columns.push_back({schema.id().hash, first + c});
    }
}

}  // namespace

Result<std::vector<HaloColumn>> find_halo_columns(const Schedule& schedule, const Database& database,
                                                  const ClusterZones& zones) {
    std::vector<HaloColumn> columns;
    for (std::size_t pass = 0; pass < schedule.num_passes(); ++pass) {
        const std::string_view name = schedule.statistics(pass).name;
        if (name == "halo") continue;
        for (const Access& access : schedule.accesses(pass)) {
            if (!may_touch_halo(access, database, zones)) continue;
            if (access.writes)
                return Status::error(
                    concat("the pass \"", name, "\" writes ", text_of(access, database),
                           " in zones that other ranks may own; add .in(cluster.own()) to its query, or "
                           "to its writes<...>(...)"));
            add_columns(access, database, columns);
        }
    }
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());
    return columns;
}

Status check_halo_order(Schedule& schedule, const Database& database, const ClusterZones& zones) {
    const Result<ScheduleGraph> graph = schedule.graph();
    if (!graph) return graph.status();
    std::map<HaloColumn, std::string_view> written;  // by which pass first
    std::vector<HaloColumn> columns;
    for (const PassNode& pass : graph->passes) {
        if (pass.name == "halo") continue;
        for (const Access& access : schedule.accesses(pass.number)) {
            if (access.writes || !may_touch_halo(access, database, zones)) continue;
            columns.clear();
            add_columns(access, database, columns);
            for (const HaloColumn& column : columns)
                if (const auto before = written.find(column); before != written.end())
                    return Status::error(
                        concat("the pass \"", pass.name, "\" reads ", text_of(access, database), " in halos after \"",
                               before->second,
                               "\" has written it: copies have what was there when the frame began; add the "
                               "pass before the other, or let it read in(cluster.own())"));
        }
        for (const Access& access : schedule.accesses(pass.number)) {
            if (!access.writes || access.store != &database) continue;
            columns.clear();
            add_columns(access, database, columns);
            for (const HaloColumn& column : columns) written.try_emplace(column, pass.name);
        }
    }
    return {};
}

std::vector<Access> halo_accesses(const Database& database, std::span<const HaloColumn> columns,
                                  const ClusterZones& zones) {
    std::vector<Access> accesses;
    for (const HaloColumn& each : columns) {
        Access access{.store = &database, .component = ComponentId(each.component)};
        const Schema& schema = database.schema(database.find_component(access.component));
        const std::uint32_t field = schema.columns()[each.column].field_index;
        if (field != ColumnDefinition::kWholeComponent) access.field = field;
        accesses.push_back(access.in(zones.own));
        access.writes = true;
        accesses.push_back(access.in(zones.halo));
    }
    return accesses;
}

void HaloExchange::list(const Peer& peer, const ZoneRows& own, std::span<const HaloColumn> columns, MessageWriter& to,
                        std::vector<ColumnPiece>& pieces) {
    for (const auto& [key, rows] : own.all()) {
        if (rows.table == nullptr || rows.owners.empty() || !peer.needed.contains(key.zone_number())) continue;
        for_each_written(*rows.table, database_, columns, peer.since,
                         [&](const HaloColumn& column, const ColumnPiece& piece, RowRange range) {
                             to.value(HaloEntry{key.zone_number(), range.begin, key.type, column.component,
                                                column.column, range.end - range.begin});
                             pieces.push_back(piece);
                             num_bytes_ += piece.num_bytes + sizeof(HaloEntry);
                         });
    }
}

std::vector<ColumnPiece> HaloExchange::pieces_of(const RankMessage& message, ZoneRows& copies) {
    std::vector<ColumnPiece> pieces;
    for (MessageReader from(message.bytes); from.has_more();) {
        const auto entry = from.value<HaloEntry>();
        const auto rows = copies.all().find({entry.zone, entry.type});
        const ComponentType type = database_.find_component(ComponentId(entry.component));
        const bool is_known = from.is_sound() && rows != copies.all().end() && rows->second.table != nullptr && type &&
                              rows->second.table->type().has_column_of(type) &&
                              entry.column < database_.schema(type).num_columns();
        const std::uint32_t num_rows = is_known ? rows->second.table->num_rows() : 0;
        if (!is_known || entry.num_rows > num_rows || entry.first_row > num_rows - entry.num_rows) {
            problem_ = concat("rank ", message.rank, " sends rows of zone ", entry.zone, " that no copy is here of");
            return pieces;
        }
        Table& table = const_cast<DatabaseTable*>(rows->second.table)->table();
        const std::uint32_t column = rows->second.table->first_column(type) + entry.column;
        const std::size_t bytes = table.schema().column(column).element_bytes;
        pieces.push_back({table.unmarked_column(column) + entry.first_row * bytes, entry.num_rows * bytes});
        filled_.push_back({&table, column, {entry.first_row, entry.first_row + entry.num_rows}});
    }
    return pieces;
}

Status HaloExchange::run(std::vector<Peer>& peers, ZoneRows& own, ZoneRows& copies,
                         std::span<const HaloColumn> columns) {
    if (peers.empty()) return {};
    own.note_tables(), copies.note_tables();
    filled_.clear();
    std::vector<std::uint32_t> numbers;
    std::vector<RankMessage> messages;
    std::vector<std::vector<ColumnPiece>> sent(peers.size());
    for (std::size_t i = 0; i < peers.size(); ++i) {
        MessageWriter header;
        list(peers[i], own, columns, header, sent[i]);
        messages.push_back({peers[i].rank, header.take()});
        numbers.push_back(peers[i].rank);
        peers[i].since = world_.stamp();
    }
    ranks_.exchange_columns(numbers, std::move(messages), sent,
                            [&](const RankMessage& message) { return pieces_of(message, copies); });
    for (const Filled& filled : filled_) filled.table->mark_written(filled.column, filled.rows);
    return problem_.empty() ? Status() : Status::error(problem_);
}

}  // namespace shoal::cluster
