#pragma once
// Finds tables whose columns can be sent unchanged when a zone changes hands.
//
//     rank 0   names | position | velocity | enabled      (of one table; nothing is copied before it is sent)
//                 |       |          |          |
//     rank 1   names | position | velocity | enabled      new rows, with ids of this rank
//
// The fields of such a table are numbers, enums or fixed texts, whose bytes are valid on all ranks, and its entities
// have no components in other stores. Other tables are sent as parcels (parcel.h).
// Thread: the structural thread of the world.

#include "cluster/ranks.h"
#include "cluster/zone_rows.h"
#include "shoal/base/detail/bit_set.h"
#include "shoal/world/world.h"

namespace shoal::cluster {

/// Finds the tables of a world that can be sent as columns. Cost: the constructor reads the owners of all rows in other
/// stores.
class PlainTables {
public:
    /// The first `num_types` component types of the database are the same on all ranks.
    PlainTables(World& world, const Database& database, std::size_t num_types);
    /// Requires: all owners of the table are alive. Cost: reads them if an entity has components in other stores.
    bool has(const DatabaseTable& table) const;

private:
    const Database& database_;
    std::size_t num_types_;
    BitSet has_more_{Owner("cluster")};  // by entity index: whether the entity has components outside of the database
};

/// Whether all fields of an archetype are numbers, enums or fixed texts.
bool has_plain_columns(const Database& database, const Archetype& type);

/// Lists the memory of all columns of a table, in an order that is the same on all ranks.
void list_columns(const Database& database, const TypeKeys& types, const DatabaseTable& table,
                  std::vector<ColumnPiece>& pieces);

/// Writes names, as runs of consecutive names if that is shorter.
void write_names(std::span<const Name> names, MessageWriter& to);
std::vector<Name> read_names(MessageReader& from);

}  // namespace shoal::cluster
