#pragma once
// Tables whose columns can be sent unchanged when a zone changes hands.
//
//     rank 0   names | position | velocity | enabled      (of one table; nothing is copied before it is sent)
//                 |       |          |          |
//     rank 1   names | position | velocity | enabled      new rows, with ids of this rank
//
// That is possible if all fields are numbers, which mean the same on all ranks, and if the entities have no components
// in other stores. Other tables are sent as in parcel.h.
// Thread: the structural thread of the world.

#include "cluster/ranks.h"
#include "cluster/zone_rows.h"
#include "shoal/base/detail/bit_set.h"
#include "shoal/world/world.h"

namespace shoal::cluster {

/// Finds the tables of a world that can be sent as columns. Cost: reads the owners of all rows in other stores, once.
class PlainTables {
public:
    PlainTables(World& world, const Database& database);
    bool has(const DatabaseTable& table) const;

private:
    const Database& database_;
    BitSet has_more_{Owner("cluster")};  // by index: the entity has components outside of the tables of zones
};

/// Whether all columns of an archetype hold numbers only.
bool has_plain_columns(const Database& database, const Archetype& type);

/// Adds the memory of all columns of a table, in an order that is the same on all ranks, and marks them as written.
void list_columns(const Database& database, const TypeKeys& types, const DatabaseTable& table,
                  std::vector<ColumnPiece>& pieces);

/// Writes names, which often follow each other: they are written as runs if that is shorter.
void write_names(std::span<const Name> names, MessageWriter& to);
std::vector<Name> read_names(MessageReader& from);

}  // namespace shoal::cluster
