#pragma once
// Converts one component of an older version, in the same way as migrate() converts the components of a blob. The
// source compiler uses this, because a source may set only some of the fields. See migration.h for the steps.
// Thread: any.

#include "shoal/resource/migration.h"

#include <vector>

namespace shoal {

/// A component as a struct image, and which of its fields the source sets.
struct ComponentImage {
    std::vector<std::byte> bytes;            ///< in the form of blob_default_image()
    std::vector<FieldColumns::Given> given;  ///< for each field of the schema
};

/// Converts a component from one version to a later one. A new field counts as given if all fields that it is computed
/// from are given, and as partly given if some of them are. Errors: the same as for migrate().
SHOAL_API Result<ComponentImage> convert_image(const Schema& from, const ComponentImage& image, const Schema& to,
                                               const Migrations* migrations);

}  // namespace shoal
