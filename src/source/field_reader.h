#pragma once
// Reads the bytes of a field from a node, and checks all requirements in the field's declaration.

#include "shoal/document/detail/document.h"
#include "shoal/table/detail/schema.h"

#include <string>
#include <string_view>

namespace shoal {

class BlobWriter;

/// The context in which a field is read.
struct FieldReader {
    Diagnostics& diagnostics;
    std::string_view component;  ///< for messages
    BlobWriter* blob = nullptr;  ///< stores strings and arrays; nullptr for schema defaults, which have neither

    /// Writes the value of `node` to `value`. Parts that the node does not set keep their current value: `{ z = 3 }`
    /// keeps x and y of a vector.
    /// Only the kind of a reference is checked, because references are set later, when all entities are known.
    /// Shape: `value` has field.size bytes. Errors: reported to `diagnostics`. On error,
    /// returns false, and `value` may be partly written.
    bool read(const Field& field, Node node, std::byte* value);

private:
    bool fail(const Field& field, Node node, std::string_view problem, std::string hint = {});
    bool wants(const Field& field, Node node, std::string_view wanted);
    bool read_one(const Field& field, Node node, std::byte* value);
    bool read_array(const Field& field, Node node, std::byte* value);
    bool read_integer(const Field& field, Node node, std::byte* value);
    bool read_float(const Field& field, Node node, std::byte* value);
    bool read_double(const Field& field, Node node, std::byte* value);
    bool read_lanes(const Field& field, Node node, std::byte* value);
    bool read_named_lanes(const Field& field, Node node, std::byte* value);
    bool read_matrix(const Field& field, Node node, std::byte* value);
    bool read_enum(const Field& field, Node node, std::byte* value);
    bool read_text_id(const Field& field, Node node, std::byte* value);
    bool read_fixed_string(const Field& field, Node node, std::byte* value);
    bool read_blob_array(const Field& field, Node node, std::byte* value);
    bool check_range(const Field& field, Node node, double number);
};

}  // namespace shoal
