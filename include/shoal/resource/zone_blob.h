#pragma once
// Saves whole zones of a database as a blob: a zone that is far away is saved and cleared, and spawned again later.
//
//     Result<ZoneBlob> far = save_zone(sea, 12, {.name = "sea/12"});
//     if (!far) return report(far.status());
//     sea.clear_zone(12);
//     // later:
//     Result<Blob> blob = Blob::load(far->bytes);  // checked like every blob
//     Result<Spawned> back = world.spawn(*blob);   // by the ordinary spawner, into zone 12
//
// Every living entity of the zones becomes a blob entity, zone by zone, table by table, in the order of the rows. It
// keeps all that it has in the database, including the values of toggled components that are off; the components
// `zone` and `switched_off` (see database/spawn_zone.h) say where it lies and what is off. What it has in other stores
// is not saved; save_zones() of world/entity_blob.h saves that too. An entity without components is saved, but gets no row when it is spawned.
// References to entities of these zones are kept. Others become null and are counted, since ids mean nothing in a file.
// Thread: reads the database.

#include "shoal/base/string_table.h"
#include "shoal/database/database.h"
#include "shoal/resource/library.h"

#include <vector>

namespace shoal {

struct ZoneBlobOptions {
    std::string_view name{};                   ///< of the resource; needed when rows refer to read-only arrays
    const StringTable* texts = nullptr;        ///< has the texts of string ids, which are saved too
    const ResourceLibrary* library = nullptr;  ///< has the read-only arrays, which are copied
    bool keeps_zones = true;                   ///< false: the database that the blob is spawned into decides
};

struct ZoneBlob {
    std::vector<std::byte> bytes;
    std::uint32_t num_entities = 0;
    std::uint64_t num_components = 0;       ///< including those that are off
    std::uint64_t num_lost_references = 0;  ///< to entities that are dead or elsewhere: null in the blob
};

/// Saves the living entities of some zones. The database stays as it is.
/// Errors: a component type has an opaque field, or rows refer to a read-only array that the library does not have
/// (the message names them), or what BlobWriter::write says. Cost: reads the owners twice, the columns once.
SHOAL_API Result<ZoneBlob> save_zones(const Database& database, const ZoneSet& zones,
                                      const ZoneBlobOptions& options = {});
SHOAL_API Result<ZoneBlob> save_zone(const Database& database, Zone zone, const ZoneBlobOptions& options = {});

}  // namespace shoal
