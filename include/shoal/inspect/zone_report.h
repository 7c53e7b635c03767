#pragma once
// Reports the costs of a database's zones, as text and as JSON.
//
//     std::vector<ZoneReport> zones = report_zones(sea);
//     std::fputs(zones_text(zones, 10).c_str(), stdout);  // the ten largest, and the rest in a line each
//     std::fputs(zones_json(zones).c_str(), file);
//
//     zone        component  rows  dead     used  committed  reserved    index
//     17          position    512     0  6.0 KiB    8.0 KiB   8.0 KiB  2.0 KiB
//     17          velocity    512     0  6.0 KiB    8.0 KiB   8.0 KiB  2.0 KiB
//     255 others  position  9,120     3  ...
//
// A report is a copy, and does not refer to the database.
// Thread: report_zones() and zone_bounds() make const calls to the database and the world; other functions may run on
// any thread.

#include "shoal/database/detail/zone_statistics.h"
#include "shoal/inspect/positions.h"

#include <string>
#include <vector>

namespace shoal {

class DocumentBuilder;
class World;

/// The memory of one component type in one zone.
struct ZoneComponentReport {
    std::string name;
    std::uint64_t num_rows = 0;
    std::uint64_t num_dead_rows = 0;  ///< not yet removed rows of dead entities
    MemoryUse rows{};
    MemoryUse index{};
};

struct ZoneReport {
    Zone zone = 0;
    std::uint64_t num_entities = 0;  ///< including entities without components
    std::vector<ZoneComponentReport> components;

    /// The memory for the rows and indexes of all component types.
    SHOAL_API MemoryUse memory() const;
};

/// Returns a report for each zone that has a table, in ascending order of zones.
SHOAL_API std::vector<ZoneReport> report_zones(const Database& database);

/// The box around the entities of a zone.
struct ZoneBounds {
    Zone zone = 0;
    Bounds bounds{};
};

/// Returns the box of each zone in a world's database. A box contains the positions of the zone's entities, from the
/// vec3 fields `position` of their tables or from their transforms. It is empty if the entities have neither.
SHOAL_API std::vector<ZoneBounds> zone_bounds(const World& world);
/// Finds the box of a zone in `all`; nullptr if the box is missing or empty.
SHOAL_API const Bounds* find_bounds(std::span<const ZoneBounds> all, Zone zone);

/// Returns a table of the zones that commit the most memory, largest first. The sums of all other zones are at the end.
SHOAL_API std::string zones_text(std::span<const ZoneReport> zones, std::size_t most_zones = 16);

/// Adds a list `zones` to an open mapping.
SHOAL_API void write_zones(std::span<const ZoneReport> zones, DocumentBuilder& builder);
/// Returns a JSON object with the members of write_zones().
SHOAL_API std::string zones_json(std::span<const ZoneReport> zones);

}  // namespace shoal
