#pragma once
// One component of an older version, converted as a blob's components are: for the compiler of sources, whose texts may say
// something of a few fields only. migration.h has the steps.
// Thread: any.

#include "shoal/resource/migration.h"

#include <vector>

namespace shoal {

/// A component as a struct image, and which of its fields a text says.
struct ComponentImage {
    std::vector<std::byte> bytes;            ///< as blob_default_image() has them
    std::vector<FieldColumns::Given> given;  ///< by field of the schema
};

/// Converts a component from one version to a later one. A new field is given if all the fields are that it is made of, and
/// partly if some of them are. Errors: as of migrate().
SHOAL_API Result<ComponentImage> convert_image(const Schema& from, const ComponentImage& image, const Schema& to,
                                               const Migrations* migrations);

}  // namespace shoal
