#pragma once
// Converts one component of an older version, as the components of a blob are converted. For the source compiler,
// because a source may give only some of the fields. migration.h has the steps.
// Thread: any.

#include "shoal/resource/migration.h"

#include <vector>

namespace shoal {

/// A component as a struct image, and which of its fields a text gives.
struct ComponentImage {
    std::vector<std::byte> bytes;            ///< in the form of blob_default_image()
    std::vector<FieldColumns::Given> given;  ///< by field of the schema
};

/// Converts a component from one version to a later one. A new field counts as given if all fields that it is made from
/// are given, and as partly given if some of them are. Errors: the same as migrate().
SHOAL_API Result<ComponentImage> convert_image(const Schema& from, const ComponentImage& image, const Schema& to,
                                               const Migrations* migrations);

}  // namespace shoal
