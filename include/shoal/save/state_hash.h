#pragma once
// Hashes of the parts of a world's state: one for each field of each component type in each zone. Two runs that ought to be
// equal are compared by state_hash(), the sum of all of them; the parts say where they differ.
//
//     component      field        zone      hash
//     body           (rows)       3         0x5b71...     which entities have it, in which order
//     body           position     3         0x2ce0...     the values, by row
//     body           position     7         0x91f3...
//     (world)        ids          -         0x0d4a...     which entities live
//     (world)        random       -         0x77e1...     World::random()
//
// Sums of hashes are hashes: that of a field is the sum over its zones, that of a zone the sum over all fields in it.
//
// What counts is what passes can see, now or later: values, bit by bit, which entities have them, and the order of rows, in
// which loops visit them; links between rows; who lives; and the random numbers that come next. What does not count: bytes
// between fields, opaque fields, numbers of tables and their capacity, empty tables and stores, stamps, and what transforms
// know of which of them have moved. So a world that was saved and loaded, or taken back to a kept frame, has the hash that
// it had. Events, which ids come next, and when passes are due do not count either; what comes of them does.
// Rows of zones that are unloaded are not there.
// Thread: the structural thread of the world, while no passes run.

#include "shoal/base/array.h"
#include "shoal/store/zone.h"

#include <string_view>

namespace shoal {

class World;

/// What stands for a field in the hash of which entities have a component, in which order.
inline constexpr std::string_view kRowsField = "(rows)";
/// The same for what a store keeps beside its rows: see Store::hash_beside_tables().
inline constexpr std::string_view kBesideRowsField = "(beside rows)";
/// What stands for a component in the hashes of ids and random numbers.
inline constexpr std::string_view kWorldComponent = "(world)";

struct StateHash {
    std::string_view component, field;  ///< Lifetime: that of the world's stores
    Zone zone = kNoZone;                ///< kNoZone: it is in none
    std::uint64_t hash = 0;
};

class StateHashes {
public:
    /// Takes parts, which may come several times.
    SHOAL_API explicit StateHashes(Array<StateHash> parts);

    /// Ascending by component, field and zone; no two have the same of all three. Parts without rows are not there.
    const Array<StateHash>& parts() const& { return parts_; }
    Array<StateHash> parts() && { return static_cast<Array<StateHash>&&>(parts_); }
    /// What state_hash() returns.
    SHOAL_API std::uint64_t whole() const;
    /// The sums over parts; 0 if there are none.
    SHOAL_API std::uint64_t of_component(std::string_view component) const;
    SHOAL_API std::uint64_t of_field(std::string_view component, std::string_view field) const;
    SHOAL_API std::uint64_t of_zone(Zone zone) const;

private:
    Array<StateHash> parts_;
};

/// Returns the hashes of all parts. Cost: reads every row.
SHOAL_API StateHashes hash_state(const World& world);
/// Returns a hash of the state: the owner and the fields of every row of all stores, in order, without opaque fields, who
/// lives, and which random numbers come next. It is the same for any number of workers, and for a world that was saved
/// and loaded. It is the sum of the hashes of the parts. Cost: as above.
SHOAL_API std::uint64_t state_hash(const World& world);

}  // namespace shoal
