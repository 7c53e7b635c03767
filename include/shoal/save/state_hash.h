#pragma once
// Hashes of the parts of a world's state: one for each field of each component type in each zone. Runs that should be
// equal are compared by state_hash(), the sum of all parts; the parts show where two runs differ.
//
//     component      field        zone      hash
//     body           (rows)       3         0x5b71...     which entities have it, in which order
//     body           position     3         0x2ce0...     the values, by row
//     body           position     7         0x91f3...
//     (world)        ids          -         0x0d4a...     which entities live
//     (world)        random       -         0x77e1...     World::random()
//
// Sums of hashes are hashes: a field's hash is the sum over its zones, and a zone's hash is the sum over all fields in
// it.
//
// The hash covers what passes can see, now or later: values, bit by bit; which entities have them; the order of rows,
// in which loops visit them; links between rows; which entities live; and the next random numbers. It does not cover
// bytes between fields, opaque fields, table numbers and capacities, empty tables and stores, stamps, and which
// transforms are known to have moved. So a world that was saved and loaded, or taken back to a kept frame, has the same
// hash as before. Events, the next ids, and when passes are due are not covered either, only their effects. Rows of
// unloaded zones are not covered.
// Thread: the structural thread of the world, while no passes run.

#include "shoal/base/detail/array.h"
#include "shoal/store/detail/zone.h"

#include <string_view>

namespace shoal {

class World;

/// Used as the name of a field, for the hash of which entities have a component, in their order.
inline constexpr std::string_view kRowsField = "(rows)";
/// The same, for the hash of the data that a store keeps outside of its rows: see Store::hash_beside_tables().
inline constexpr std::string_view kBesideRowsField = "(beside rows)";
/// Used as the name of a component, for the hashes of ids and random numbers.
inline constexpr std::string_view kWorldComponent = "(world)";

struct StateHash {
    std::string_view component, field;  ///< Lifetime: as long as the world's stores
    Zone zone = kNoZone;                ///< kNoZone: not in a zone
    std::uint64_t hash = 0;
};

class StateHashes {
public:
    /// Makes hashes from parts. Parts with the same names and the same zone are added up.
    SHOAL_API explicit StateHashes(Array<StateHash> parts);

    /// Sorted by component, field and zone, each combination once. Parts without rows are left out.
    const Array<StateHash>& parts() const& { return parts_; }
    Array<StateHash> parts() && { return static_cast<Array<StateHash>&&>(parts_); }
    /// The sum of all parts, which state_hash() returns.
    SHOAL_API std::uint64_t whole() const;
    /// The sums over some of the parts; 0 if there are none.
    SHOAL_API std::uint64_t of_component(std::string_view component) const;
    SHOAL_API std::uint64_t of_field(std::string_view component, std::string_view field) const;
    SHOAL_API std::uint64_t of_zone(Zone zone) const;

private:
    Array<StateHash> parts_;
};

/// Returns the hashes of all parts. Cost: reads every row.
SHOAL_API StateHashes hash_state(const World& world);
/// Returns a hash of the state: the owner and the fields (except opaque ones) of every row of all stores, in order, the
/// living entities, and the next random numbers. The hash is the same for any number of workers, and for a world that
/// was saved and loaded. It is the sum of the hashes of the parts. Cost: as above.
SHOAL_API std::uint64_t state_hash(const World& world);

}  // namespace shoal
