#pragma once
// Whole zones of a database as a blob, and back: what lies far away is saved and cleared, and spawned when it is near.
//
//     Result<ZoneBlob> far = save_zone(sea, 12, {.name = "sea/12"});
//     if (!far) return report(far.status());
//     sea.clear_zone(12);
//     // later:
//     Result<Blob> blob = Blob::load(far->bytes);  // checked like every blob
//     Result<Spawned> back = world.spawn(*blob);   // by the ordinary spawner, into zone 12
//
// Every living entity of the zones becomes a blob entity, zone by zone, table by table, in the order of the rows. It
// keeps all that it has in the database, the values of toggled components that are off included; the components `zone`
// and `switched_off` (see store/spawn_zone.h) say where it lies and what is off. What it has in other stores is not
// saved. An entity that has no component is saved, and gets no row when it is spawned.
// References to entities of these zones are kept, others become null and are counted: ids mean nothing in a file.
// Thread: reads the database.

#include "shoal/base/string_table.h"
#include "shoal/database/database.h"
#include "shoal/resource/library.h"

#include <vector>

namespace shoal {

struct ZoneBlobOptions {
    std::string_view name{};                   ///< of the resource; needed when rows hold read-only arrays
    const StringTable* texts = nullptr;        ///< the texts of string ids go along, as far as it has them
    const ResourceLibrary* library = nullptr;  ///< has the read-only arrays, which are copied
    bool keeps_zones = true;                   ///< false: the database that it is spawned into decides where
};

struct ZoneBlob {
    std::vector<std::byte> bytes;
    std::uint32_t num_entities = 0;
    std::uint64_t num_components = 0;       ///< those that are off included
    std::uint64_t num_lost_references = 0;  ///< to entities that are dead or elsewhere: null in the blob
};

/// Saves the living entities of some zones. The database stays as it is.
/// Errors: a component type has an opaque field, or rows hold a read-only array that the library has not (both are
/// named), or what BlobWriter::write says. Cost: reads the zones' rows twice.
SHOAL_API Result<ZoneBlob> save_zones(const Database& database, const ZoneSet& zones,
                                      const ZoneBlobOptions& options = {});
SHOAL_API Result<ZoneBlob> save_zone(const Database& database, Zone zone, const ZoneBlobOptions& options = {});

}  // namespace shoal
