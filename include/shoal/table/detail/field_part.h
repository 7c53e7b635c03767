#pragma once
// A field of a component, or a part of one, that was found by its name, and its location in a row:
//
//     position        vec3         columns of the field
//     position.x      float        one lane of a field: x, y, z, w
//     weights[2]      float        one value of an array
//     world[1].w      float        a matrix has three rows, and each is a vec4
//     world.position  vec3         where a matrix puts its origin: the w of each row. Without the name of the field if
//                                  the component has no other: "world_pose.position"
//
// A part is found once; reading and writing it copies bytes, whatever the layout of the component.
// Thread: for reading and writing, as for the table.

#include "shoal/table/detail/table.h"
#include "shoal/table/detail/value_text.h"

namespace shoal {

struct FieldPart {
    const Field* field = nullptr;  ///< Lifetime: the schema
    ValueType type{};
    std::uint32_t offset_in_field = 0;  ///< bytes
    std::uint32_t first_column = 0;     ///< among the columns of the component
    std::uint32_t num_columns = 1;      ///< if there are several, each holds a float
    std::uint32_t offset_in_column = 0;
    std::uint32_t lane_stride = 0;  ///< bytes from one float to the next if they are apart, as in a matrix's position
};

/// Returns the part that is a whole field of a schema.
SHOAL_API FieldPart field_part(const Schema& schema, const Field& field);
/// Finds a part by its name in a schema. Errors: the field or part does not exist, or the field is opaque; the message
/// lists what exists.
SHOAL_API Result<FieldPart> find_field_part(const Schema& schema, std::string_view name);

/// Returns the names of all fields. Lifetime: the schema.
SHOAL_API Array<std::string_view> field_names(const Schema& schema);

/// Copy a part of a field to `value`, and back. Shape: `value` has part.type.num_bytes(), and `field` part.field->size
/// bytes side by side.
SHOAL_API void read_part(const std::byte* field, const FieldPart& part, std::byte* value);
SHOAL_API void write_part(std::byte* field, const FieldPart& part, const std::byte* value);
/// Copies a part of a row to `value`. The columns of the component begin at `first_column` of the table.
/// Shape: part.type.num_bytes(). Requires: the row exists.
SHOAL_API void read_part(const Table& table, std::uint32_t first_column, std::uint32_t row, const FieldPart& part,
                         std::byte* value);
/// Copies `value` to the part, and marks the columns as written.
SHOAL_API void write_part(Table& table, std::uint32_t first_column, std::uint32_t row, const FieldPart& part,
                          const std::byte* value);

}  // namespace shoal
