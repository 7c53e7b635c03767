#pragma once
// Hashes of the parts of a world's state: one for each field of each component type in each zone. To check that two
// runs are equal, compare state_hash(), which is the sum of all parts. If the sums differ, the parts show where the
// runs differ.
//
//     component      field        zone      hash
//     body           (rows)       3         0x5b71...     which entities have it, in which order
//     body           position     3         0x2ce0...     the values, by row
//     body           position     7         0x91f3...
//     (world)        ids          -         0x0d4a...     which entities live
//     (world)        random       -         0x77e1...     World::random()
//
// Hashes are added: the hash of a field is the sum over its zones, and the hash of a zone is the sum over its fields.
//
// The hash covers the state that passes can observe, now or later: the bits of values, their owners, the order of rows,
// links between rows, the living entities, and the next random numbers. It does not cover padding, opaque fields, table
// numbers and capacities, empty tables and stores, stamps, or the marks on moved transforms. So a world has the same
// hash after it has been saved and loaded, or restored to a kept frame. Events, the next ids and the schedule of passes
// are not covered, but their effects are. Rows of unloaded zones are not covered.
// Thread: the structural thread of the world, while no passes are running.

#include "shoal/base/detail/array.h"
#include "shoal/store/detail/zone.h"

#include <string_view>

namespace shoal {

class World;

/// The field name for the hash of the entities that have a component, in row order.
inline constexpr std::string_view kRowsField = "(rows)";
/// The field name for the hash of data that a store keeps outside its rows; see Store::hash_beside_tables().
inline constexpr std::string_view kBesideRowsField = "(beside rows)";
/// The component name for the hashes of ids and random numbers.
inline constexpr std::string_view kWorldComponent = "(world)";

struct StateHash {
    std::string_view component, field;  ///< Lifetime: as long as the world's stores
    Zone zone = kNoZone;                ///< kNoZone: not in a zone
    std::uint64_t hash = 0;
};

class StateHashes {
public:
    /// Adds up the hashes of parts with the same names and zone.
    SHOAL_API explicit StateHashes(Array<StateHash> parts);

    /// The parts, sorted by component, field and zone. Each combination occurs once. Parts without rows are left out.
    const Array<StateHash>& parts() const& { return parts_; }
    Array<StateHash> parts() && { return static_cast<Array<StateHash>&&>(parts_); }
    /// The sum of all parts, as returned by state_hash().
    SHOAL_API std::uint64_t whole() const;
    /// The sum over some of the parts, or 0 if there are none.
    SHOAL_API std::uint64_t of_component(std::string_view component) const;
    SHOAL_API std::uint64_t of_field(std::string_view component, std::string_view field) const;
    SHOAL_API std::uint64_t of_zone(Zone zone) const;

private:
    Array<StateHash> parts_;
};

/// Returns the hashes of all parts. Cost: reads every row.
SHOAL_API StateHashes hash_state(const World& world);
/// Returns the sum of the hashes of all parts. It is the same for any number of workers, and for a world that has been
/// saved and loaded. Cost: reads every row.
SHOAL_API std::uint64_t state_hash(const World& world);

}  // namespace shoal
