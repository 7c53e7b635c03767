#pragma once
// Field changes described as data, for migration steps read from a schema file; see migration.h.
//
//     MigrationStep& step = registry.migrations(hull).from(1);
//     convert_values(step, "armor", {.factor = 10});                  // centimetres became millimetres
//     convert_values(step, "speed", {.type = FieldType::kFloat});     // it was an integer
//     convert_values(step, "mode", {.values = {{"walk", "march"}}});  // a value of an enum has another name
//     split_values(step, "size", {"width", "length"});                // of a vec2
//     join_values(step, {"x", "y", "z"}, "position");                 // a vec3
//
// A step does not declare the old type of a field, because the components to be migrated provide it.
// Thread: the same as MigrationStep.

#include "shoal/resource/migration.h"

#include <string>
#include <vector>

namespace shoal {

/// How the values of a field are converted. Values are numbers, bools, enums or vectors, or arrays of them.
struct ValueConversion {
    FieldType type = FieldType(0);  ///< type of the new values: a number, a bool, a vector, or 0 for no change
    /// A number, or each lane of a vector, becomes value * factor + plus. Results are rounded to the nearest integer if
    /// the new type is an integer. A number that becomes a vector sets all lanes; lanes that the old vector lacks
    /// become 0, and surplus lanes are dropped.
    double factor = 1, plus = 0;
    /// Pairs of an old enumerator name and its new name. Requires: the other members are not set.
    std::vector<std::pair<std::string, std::string>> values{};
};

/// The values of a field have changed. Errors of the step: the type of the field cannot be converted to the new type,
/// or a value does not fit.
SHOAL_API void convert_values(MigrationStep& step, std::string_view field, ValueConversion conversion);
/// A field was split: the lanes of a vector become floats, and the elements of an array become fields. Errors of the
/// step: the field has a different number of lanes or elements.
SHOAL_API void split_values(MigrationStep& step, std::string_view field, std::vector<std::string> to);
/// Fields are computed from other fields, which are removed. `convert` gets the context, the packed old and new values
/// of each field, and the number of rows. A name may be in both `from` and `to`. Lifetime: the context must outlive the
/// step.
SHOAL_API void compute_values(MigrationStep& step, std::span<const NamedType> from, std::span<const NamedType> to,
                              void (*convert)(void* context, const std::byte* const* olds, std::byte* const* news,
                                              std::size_t num_rows),
                              void* context);
/// Two to four floats were joined into a vector. Errors of the step: one of the fields is not a float. Requires: `from`
/// has two to four names.
SHOAL_API void join_values(MigrationStep& step, std::vector<std::string> from, std::string_view to);

}  // namespace shoal
