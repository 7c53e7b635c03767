#pragma once
// A level for the world of whole_world.h, in versions.

#include "shoal/resource/blob.h"
#include "shoal/resource/blob_writer.h"

#include "support/whole_world.h"

#include <cstdint>
#include <span>

namespace shoal_test {

/// Returns a level whose entities are in managers, in the database and in the transforms. `version` tells versions of it apart, and is
/// how many entities more than `count` it has.
shoal::Blob make_level(std::uint32_t count, std::uint16_t version);

}  // namespace shoal_test
