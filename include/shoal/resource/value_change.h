#pragma once
// Changes of fields that data can say, for steps that are read from a schema file: see migration.h.
//
//     MigrationStep& step = registry.migrations(hull).from(1);
//     convert_values(step, "armor", {.factor = 10});                  // centimetres became millimetres
//     convert_values(step, "speed", {.type = FieldType::kFloat});     // it was an integer
//     convert_values(step, "mode", {.values = {{"walk", "march"}}});  // a value of an enum has another name
//     split_values(step, "size", {"width", "length"});                // of a vec2
//     join_values(step, {"x", "y", "z"}, "position");                 // a vec3
//
// The type that a field had is that of the components which are migrated, so nobody declares it again.
// Thread: as MigrationStep.

#include "shoal/resource/migration.h"

#include <string>
#include <vector>

namespace shoal {

/// How the values of a field become others. They are numbers, bools, enums or vectors, or arrays of these.
struct ValueConversion {
    FieldType type = FieldType(0);  ///< of the new values: a number, a bool or a vector; 0: as it was
    /// A lane of a vector, or a number, becomes lane * factor + plus. A new integer is rounded to the nearest. A number becomes
    /// all lanes of a vector; lanes that a vector did not have are 0, and those that the new one does not have go.
    double factor = 1, plus = 0;
    std::vector<std::pair<std::string, std::string>> values{};  ///< old and new names of an enum; without all the above
};

/// Errors of the steps: the type of the field cannot become the new one, or a value does not fit.
SHOAL_API void convert_values(MigrationStep& step, std::string_view field, ValueConversion conversion);
/// A field was divided: the lanes of a vector are floats now, the values of an array are single.
/// Errors of the step: the field has another number of lanes or values.
SHOAL_API void split_values(MigrationStep& step, std::string_view field, std::vector<std::string> to);
/// Fields are computed from others, which are no more, by a function that is known at run time: convert(context, old values, new
/// values, number of rows), with the values of each field one after another. A name may be among both.
/// Lifetime: the context outlives the step.
SHOAL_API void compute_values(MigrationStep& step, std::span<const NamedType> from, std::span<const NamedType> to,
                              void (*convert)(void* context, const std::byte* const* olds, std::byte* const* news,
                                              std::size_t num_rows),
                              void* context);
/// Two to four floats became a vector. Errors of the step: they are not floats. Requires: two to four.
SHOAL_API void join_values(MigrationStep& step, std::vector<std::string> from, std::string_view to);

}  // namespace shoal
