#include "source/schema_nodes.h"

#include "shoal/base/text.h"

namespace shoal {

bool SchemaNodes::is_mapping(Node node, std::string_view what) {
    if (node.is_mapping()) return true;
    diagnostics_.error(node.position(), concat(what, " is ", kind_name(node.kind())), "write a mapping: { ... }");
    return false;
}

void SchemaNodes::unknown_key(Node child, std::string_view owner, std::span<const std::string_view> known) {
    const int close = closest_text(child.key(), known.data(), known.size());
    std::string list;
    for (const std::string_view key : known) append_text(list, concat(list.empty() ? "" : ", ", key));
    diagnostics_.error(
        child.key_position(), concat(owner, " has no key ", quoted(child.key())),
        close >= 0 ? concat("did you mean `", known[static_cast<std::size_t>(close)], "`?") : concat("it has ", list));
}

bool SchemaNodes::text(Node node, std::string_view what, std::string_view& out) {
    if (node.is_string()) return out = node.as_string(), true;
    diagnostics_.error(node.position(), concat("this is ", kind_name(node.kind())), concat("write ", what));
    return false;
}

bool SchemaNodes::boolean(Node node, bool& out) {
    if (node.is_bool()) return out = node.as_bool(), true;
    diagnostics_.error(node.position(), concat("`", node.key(), "` is ", kind_name(node.kind())),
                       "write true or false");
    return false;
}

bool SchemaNodes::integer(Node node, std::int64_t least, std::int64_t greatest, std::int64_t& out) {
    const std::int64_t* value = node.as_int64();
    if (value && *value >= least && *value <= greatest) return out = *value, true;
    diagnostics_.error(node.position(), concat("`", node.key(), "` cannot be this"),
                       concat("write a whole number from ", least, " to ", greatest));
    return false;
}

/// Reads `vec3`, or the `type` of a mapping.
bool SchemaNodes::read_type(Node node, FieldDefinition& field) {
    std::string_view name;
    if (!text(node, "the name of a field type, such as vec3", name)) return false;
    field.type = field_type_from_name(name);
    if (field.type != FieldType(0)) return true;
    std::string_view known[kNumFieldTypes];
    std::size_t count = 0;
    for (int i = 1; i < static_cast<int>(FieldType::kOpaque); ++i)
        known[count++] = field_type_name(static_cast<FieldType>(i));
    const int close = closest_text(name, known, count);
    std::string list;
    for (std::size_t i = 0; i < count; ++i) append_text(list, concat(i == 0 ? "" : ", ", known[i]));
    diagnostics_.error(node.position(), concat("there is no field type ", quoted(name)),
                       close >= 0 ? concat("did you mean ", known[close], "?") : concat("choose one of ", list));
    return false;
}

}  // namespace shoal
