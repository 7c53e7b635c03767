#include "cluster/halo.h"

#include "shoal/base/text.h"
#include "shoal/world/detail/schedule_graph.h"

#include <algorithm>
#include <map>

namespace shoal::cluster {
namespace {

/// Whether an access may touch rows of other ranks. For a fixed set of zones, the result is true if it contains any
/// divided zone, so all ranks return the same. For a live set, it is true if the set contains a halo of this rank.
bool may_touch_halo(const Access& access, const Database& database, const ClusterZones& zones) {
    if (access.store != &database) return false;
    if (!access.in_zones) return true;
    if (access.live == &zones.own) return false;
    if (access.live == &zones.near || access.live == &zones.halo) return true;
    bool any = false;
    access.zones_now().for_each(
        [&](Zone zone) { any |= access.live == nullptr ? zones.is_divided(zone) : zones.halo.now().contains(zone); });
    return any;
}

/// Whether the bytes of a field are valid only on the rank that wrote them.
bool is_of_one_rank(const Field& field) {
    return field.type == FieldType::kEntity || field.type == FieldType::kBlobArray || field.type == FieldType::kOpaque;
}

/// Returns the field that prevents a column from being copied, or nullptr.
const Field* field_of_one_rank(const Schema& schema, std::uint32_t column) {
    const std::uint32_t number = schema.columns()[column].field_index;
    for (std::uint32_t f = 0; f < schema.fields().size(); ++f)
        if ((number == ColumnDefinition::kWholeComponent || number == f) && is_of_one_rank(schema.fields()[f]))
            return &schema.fields()[f];
    return nullptr;
}

std::string text_of(const Access& access, const Database& database) {
    const ComponentType type = database.find_component(access.component);
    if (!type) return "the database";
    const Schema& schema = database.schema(type);
    if (access.field >= schema.fields().size()) return concat('"', schema.name(), '"');
    return concat('"', schema.name(), '.', schema.fields()[access.field].name, '"');
}

/// Calls visit(schema, column) for the columns that an access names.
template <class Visit>
void for_each_column(const Access& access, const Database& database, Visit&& visit) {
    for (const Schema* schema : database.schemas()) {
        if (access.component != ComponentId() && schema->id() != access.component) continue;
        const bool is_field = access.field < schema->fields().size();
        const std::uint32_t first = is_field ? schema->fields()[access.field].first_column : 0;
        const std::uint32_t count = is_field ? schema->fields()[access.field].num_columns : schema->num_columns();
        for (std::uint32_t c = 0; c < count; ++c) visit(*schema, first + c);
    }
}

/// Adds the columns that an access reads from copies. Columns that are valid only on one rank are null in copies.
/// Errors: the access explicitly names the component of such a column.
Status add_columns(std::string_view pass, const Access& access, const Database& database,
                   std::vector<HaloColumn>& columns) {
    Status status;
    for_each_column(access, database, [&](const Schema& schema, std::uint32_t column) {
        const Field* const bad = field_of_one_rank(schema, column);
        if (bad == nullptr)
            columns.push_back({schema.id().hash, column});
        else if (access.component != ComponentId() && status)
            status = Status::error(
                concat("the pass \"", pass, "\" reads \"", schema.name(), '.', bad->name,
                       "\" in zones that other ranks may own, and what it has there (", field_type_name(bad->type),
                       ") means something on its own rank only; read it in(cluster.own()), or keep what others read in "
                       "fields of other types"));
    });
    return status;
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
            if (Status added = add_columns(name, access, database, columns); !added) return added;
        }
    }
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());
    return columns;
}

Status check_halo_order(Schedule& schedule, const Database& database, const ClusterZones& zones) {
    const Result<ScheduleGraph> graph = schedule.graph();
    if (!graph) return graph.status();
    std::map<HaloColumn, std::string_view> written;  // the first pass that writes the column
    for (const PassNode& pass : graph->passes) {
        if (pass.name == "halo") continue;
        const std::span<const Access> accesses = schedule.accesses(pass.number);
        for (const Access& access : accesses)
            if (access.writes && access.store == &database)
                for_each_column(access, database, [&](const Schema& schema, std::uint32_t column) {
                    written.try_emplace({schema.id().hash, column}, pass.name);
                });
        for (const Access& access : accesses) {
            if (access.writes || !may_touch_halo(access, database, zones)) continue;
            std::string_view writer;
            for_each_column(access, database, [&](const Schema& schema, std::uint32_t column) {
                if (const auto before = written.find({schema.id().hash, column}); before != written.end())
                    writer = before->second;
            });
            if (writer.empty()) continue;
            const std::string reads =
                concat("the pass \"", pass.name, "\" reads ", text_of(access, database), " in halos ");
            return Status::error(
                writer == pass.name
                    ? concat(reads,
                             "while it writes it: copies have what was there when the frame began, and rows of own "
                             "zones what it has written meanwhile; write another field, and copy it in a later pass")
                    : concat(reads, "after \"", writer,
                             "\" has written it: copies have what was there when the frame began; add the pass before "
                             "the other, or let it read in(cluster.own())"));
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

/// Returns the memory for the columns that a message announces. Ends all ranks if a column is not in a zone that this
/// rank copies from the sender.
std::vector<ColumnPiece> HaloExchange::pieces_of(const RankMessage& message, ZoneRows& copies,
                                                 const ClusterZones& zones) {
    std::vector<ColumnPiece> pieces;
    for (MessageReader from(message.bytes); from.has_more();) {
        const auto entry = from.value<HaloEntry>();
        const auto rows = copies.all().find({entry.zone, entry.type});
        const ComponentType type = database_.find_component(ComponentId(entry.component));
        const bool is_known =
            from.is_sound() && rows != copies.all().end() && rows->second.table != nullptr && type &&
            zones.halo.now().contains(entry.zone) && zones.ranks[entry.zone - zones.first] == message.rank &&
            rows->second.table->type().has_column_of(type) && entry.column < database_.schema(type).num_columns() &&
            field_of_one_rank(database_.schema(type), entry.column) == nullptr;
        const std::uint32_t num_rows = is_known ? rows->second.table->num_rows() : 0;
        if (!is_known || entry.num_rows > num_rows || entry.first_row > num_rows - entry.num_rows)
            ranks_.abort(concat("halos: rank ", message.rank, " sends a column of zone ", entry.zone,
                                " of which no copy is here"));
        Table& table = const_cast<DatabaseTable*>(rows->second.table)->table();
        const std::uint32_t column = rows->second.table->first_column(type) + entry.column;
        const std::size_t bytes = table.schema().column(column).element_bytes;
        pieces.push_back({table.unmarked_column(column) + entry.first_row * bytes, entry.num_rows * bytes});
        filled_.push_back({&table, column, {entry.first_row, entry.first_row + entry.num_rows}});
    }
    return pieces;
}

void HaloExchange::run(std::vector<Peer>& peers, ZoneRows& own, ZoneRows& copies, std::span<const HaloColumn> columns,
                       const ClusterZones& zones) {
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
    ranks_.exchange_columns_with(numbers, std::move(messages), sent,
                                 [&](const RankMessage& message) { return pieces_of(message, copies, zones); });
    for (const Filled& filled : filled_) filled.table->mark_written(filled.column, filled.rows);
}

}  // namespace shoal::cluster
