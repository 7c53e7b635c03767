#pragma once
// Finds the halo columns to keep up to date, and sends their values. Blocks of rows written since the last exchange are
// sent from a column on one rank directly into the same column on another rank, without intermediate copies.
//
//     rank 0, zone 3    position   [ block 0 | block 1 ]    block 1 was written in this frame
//                                                 |         header: table, component, column, rows
//     rank 1, zone 3    position   [ block 0 | block 1 ]    the copy: the same rows, see zone_rows.h
//
// Thread: the thread of the pass "halo".

#include "cluster/ranks.h"
#include "cluster/zone_rows.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal::cluster {

/// A column of a component type.
struct HaloColumn {
    std::uint64_t component = 0;
    std::uint32_t column = 0;  ///< among the columns of the component

    friend auto operator<=>(const HaloColumn&, const HaloColumn&) = default;
};

/// The zones of a cluster.
struct ClusterZones {
    const LiveZones &own, &halo, &near;
    const std::vector<std::uint32_t>& ranks;  ///< indexed by zone, from `first` on
    Zone first;

    bool is_divided(Zone zone) const { return zone >= first && zone - first < ranks.size(); }
};

/// Returns the columns that passes read in halos. Errors: a pass declares writes to zones that other ranks may own, or
/// reads a field there that is valid only on its own rank; the message names the pass.
Result<std::vector<HaloColumn>> find_halo_columns(const Schedule& schedule, const Database& database,
                                                  const ClusterZones& zones);
/// Errors: a pass reads in halos a field that an earlier pass of the same frame writes in this rank's zones. Copies
/// have the values from the start of the frame, so the result would depend on the division. The message names both
/// passes.
Status check_halo_order(Schedule& schedule, const Database& database, const ClusterZones& zones);
/// Returns the accesses of the pass "halo": it writes these columns in copied zones, and reads them in this rank's
/// zones.
std::vector<Access> halo_accesses(const Database& database, std::span<const HaloColumn> columns,
                                  const ClusterZones& zones);

/// Describes a piece of a column that is sent.
struct HaloEntry {
    Zone zone;
    std::uint32_t first_row;
    std::uint64_t type, component;
    std::uint32_t column, num_rows;
};

/// Calls visit(column, memory, rows) for blocks of rows that were written since a stamp; adjacent blocks are merged.
template <class Visit>
void for_each_written(const DatabaseTable& rows, const Database& database, std::span<const HaloColumn> columns,
                      std::uint64_t since, Visit&& visit) {
    constexpr std::uint32_t kRowsPerBlock = 1024;  // of Table::written_stamp()
    Table& table = const_cast<DatabaseTable&>(rows).table();
    const std::uint32_t num_blocks = (table.num_rows() + kRowsPerBlock - 1) / kRowsPerBlock;
    for (const HaloColumn& each : columns) {
        const ComponentType type = database.find_component(ComponentId(each.component));
        if (!rows.type().has_column_of(type)) continue;
        const std::uint32_t column = rows.first_column(type) + each.column;
        const std::size_t bytes = table.schema().column(column).element_bytes;
        for (std::uint32_t block = 0; block < num_blocks; ++block) {
            const std::uint32_t first = block * kRowsPerBlock;
            while (block < num_blocks && table.written_stamp(column, block) >= since) ++block;
            const std::uint32_t end = std::min(block * kRowsPerBlock, table.num_rows());
            if (end <= first) continue;
            visit(each, ColumnPiece{table.unmarked_column(column) + first * bytes, (end - first) * bytes},
                  RowRange{first, end});
        }
    }
}

/// A rank that exchanges halos with this rank.
struct Peer {
    std::uint32_t rank = 0;
    ZoneSet needed;           ///< the zones of this rank that the peer copies
    std::uint64_t since = 0;  ///< the stamp of the last exchange; 0: never
};

class HaloExchange {
public:
    HaloExchange(Ranks& ranks, World& world, Database& database) : ranks_(ranks), world_(world), database_(database) {}

    /// Sends the written blocks of `own` to the peers, and stores the peers' blocks in `copies`. An invalid message
    /// ends all ranks.
    void run(std::vector<Peer>& peers, ZoneRows& own, ZoneRows& copies, std::span<const HaloColumn> columns,
             const ClusterZones& zones);
    std::uint64_t num_bytes() const { return num_bytes_; }

private:
    struct Filled {
        Table* table;
        std::uint32_t column;
        RowRange rows;
    };

    void list(const Peer& peer, const ZoneRows& own, std::span<const HaloColumn> columns, MessageWriter& to,
              std::vector<ColumnPiece>& pieces);
    std::vector<ColumnPiece> pieces_of(const RankMessage& message, ZoneRows& copies, const ClusterZones& zones);

    Ranks& ranks_;
    World& world_;
    Database& database_;
    std::vector<Filled> filled_;
    std::uint64_t num_bytes_ = 0;
};

}  // namespace shoal::cluster
