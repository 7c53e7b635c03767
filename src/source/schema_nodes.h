#pragma once
// Reads the parts that schema files are made of, and says what is wrong with them.

#include "shoal/document/document.h"
#include "shoal/table/schema.h"

#include <span>
#include <string_view>

namespace shoal {

/// Every function that returns a bool returns false when it has reported an error.
class SchemaNodes {
public:
    explicit SchemaNodes(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    bool is_mapping(Node node, std::string_view what);
    /// Reports a key that `owner` does not have.
    void unknown_key(Node child, std::string_view owner, std::span<const std::string_view> known);
    bool text(Node node, std::string_view what, std::string_view& out);
    bool boolean(Node node, bool& out);
    bool integer(Node node, std::int64_t least, std::int64_t greatest, std::int64_t& out);
    /// Reads `vec3`, or the `type` of a mapping.
    bool read_type(Node node, FieldDefinition& field);

private:
    Diagnostics& diagnostics_;
};

}  // namespace shoal
