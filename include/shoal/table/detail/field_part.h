#pragma once
// Finds a field of a component, or part of a field, by name, and gives its location in a row:
//
//     position        vec3         columns of the field
//     position.x      float        one lane of a field: x, y, z, w
//     weights[2]      float        one value of an array
//     world[1].w      float        a matrix has three rows, and each is a vec4
//     world.position  vec3         the origin of a matrix: the w of each row. The name of the field may be omitted if
//                                  the component has no other field: "world_pose.position"
//
// A part has to be found only once. Reading or writing it then only copies bytes, whatever the layout of the component.
// Thread: for reading and writing, as for the table.

#include "shoal/table/detail/table.h"
#include "shoal/table/detail/value_text.h"

namespace shoal {

struct FieldPart {
    const Field* field = nullptr;  ///< Lifetime: the schema
    ValueType type{};
    std::uint32_t offset_in_field = 0;  ///< bytes
    std::uint32_t first_column = 0;     ///< among the columns of the component
    std::uint32_t num_columns = 1;      ///< if more than 1, each column holds a float
    std::uint32_t offset_in_column = 0;
    std::uint32_t lane_stride = 0;  ///< bytes from one float to the next if they are apart, as in a matrix's position
};

/// Returns the part that consists of a whole field of a schema.
SHOAL_API FieldPart field_part(const Schema& schema, const Field& field);
/// Finds a part by name in a schema. Errors: the field or part does not exist, or the field is opaque. The message
/// lists what exists.
SHOAL_API Result<FieldPart> find_field_part(const Schema& schema, std::string_view name);

/// Returns the names of all fields. Lifetime: the schema.
SHOAL_API Array<std::string_view> field_names(const Schema& schema);

/// read_part() copies a part of a field to `value`; write_part() copies `value` to the part. Shape: `value` has
/// part.type.num_bytes() bytes; `field` has part.field->size contiguous bytes.
SHOAL_API void read_part(const std::byte* field, const FieldPart& part, std::byte* value);
SHOAL_API void write_part(std::byte* field, const FieldPart& part, const std::byte* value);
/// Copies a part of a row to `value`. The component's columns begin at column `first_column` of the table.
/// Shape: part.type.num_bytes(). Requires: the row exists.
SHOAL_API void read_part(const Table& table, std::uint32_t first_column, std::uint32_t row, const FieldPart& part,
                         std::byte* value);
/// Copies `value` to a part of a row, and marks the columns as written.
SHOAL_API void write_part(Table& table, std::uint32_t first_column, std::uint32_t row, const FieldPart& part,
                          const std::byte* value);

}  // namespace shoal
