// Functions that plugins' compile functions use to read parts of a source and to write the output.

#include "plugin/host.h"
#include "shoal/base/text.h"
#include "shoal/document/detail/document.h"
#include "shoal/resource/detail/blob_format.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace shoal {
namespace {

static_assert(SHOAL_NODE_NULL == int(NodeKind::kNull) + 1 && SHOAL_NODE_BOOL == int(NodeKind::kBool) + 1);
static_assert(SHOAL_NODE_INTEGER == int(NodeKind::kInteger) + 1 && SHOAL_NODE_NUMBER == int(NodeKind::kNumber) + 1);
static_assert(SHOAL_NODE_STRING == int(NodeKind::kString) + 1 && SHOAL_NODE_LIST == int(NodeKind::kList) + 1);
static_assert(SHOAL_NODE_MAPPING == int(NodeKind::kMapping) + 1);
static_assert(sizeof(shoal_node) == sizeof(Node) && std::is_trivially_copyable_v<Node>);

shoal_node given(Node node) {
    shoal_node out;
    std::memcpy(&out, static_cast<const void*>(&node), sizeof out);
    return out;
}
Node taken(shoal_node node) {
    Node out;
    std::memcpy(static_cast<void*>(&out), &node, sizeof out);
    return out;
}

// --- nodes -------------------------------------------------------------------------------------------------------

std::uint32_t node_kind(shoal_node at) {
    const Node node = taken(at);
    return node ? static_cast<std::uint32_t>(node.kind()) + 1 : std::uint32_t(SHOAL_NODE_NONE);
}

std::uint32_t node_count(shoal_node at) {
    const Node node = taken(at);
    return node ? node.size() : 0;
}

shoal_node node_child(shoal_node at, std::uint32_t i) {
    const Node node = taken(at);
    return given(node && i < node.size() ? node[i] : Node());
}

shoal_node node_find(shoal_node at, const char* key) {
    if (Status status = check_given("node_find", {{key, "the key"}}); !status) return complain(status), given(Node());
    const Node node = taken(at);
    return given(node && node.is_mapping() ? node.find(key) : Node());
}

std::uint32_t node_key(shoal_node at, char* text, std::uint32_t capacity) {
    const Node node = taken(at);
    return give_text(node ? node.key() : std::string_view(), text, capacity);
}

std::uint32_t node_text(shoal_node at, char* text, std::uint32_t capacity) {
    const Node node = taken(at);
    return give_text(node && node.is_string() ? node.as_string() : std::string_view(), text, capacity);
}

double node_number(shoal_node at) {
    const Node node = taken(at);
    if (node && node.is_bool()) return node.as_bool() ? 1 : 0;
    return node && node.is_number() ? node.as_double() : 0;
}

std::int64_t node_integer(shoal_node at) {
    const Node node = taken(at);
    if (node && node.is_bool()) return node.as_bool() ? 1 : 0;
    const std::int64_t* const number = node && node.is_integer() ? node.as_int64() : nullptr;
    return number == nullptr ? 0 : *number;
}

std::uint64_t node_unsigned(shoal_node at) {
    const Node node = taken(at);
    if (node && node.is_bool()) return node.as_bool() ? 1 : 0;
    const std::uint64_t* const number = node && node.is_integer() ? node.as_uint64() : nullptr;
    return number == nullptr ? 0 : *number;
}

// --- the output --------------------------------------------------------------------------------------------------

/// Errors: the image does not have a field of this type at the offset.
Result<const Field*> find_at(const shoal_compilation& to, std::uint32_t offset, FieldType type) {
    for (const Field& field : to.input.schema.fields()) {
        if (field.type != type || offset < field.struct_offset || offset >= field.struct_offset + field.size) continue;
        if ((offset - field.struct_offset) % field.value_bytes == 0) return &field;
    }
    return Status::error(concat("\"", to.input.schema.name(), "\" has no ", field_type_name(type), " at byte ", offset,
                                " of its image"));
}

int report(const shoal_compilation& to, Node at, std::string_view message) {
    to.input.diagnostics.error(at ? at.position() : to.input.node.position(), std::string(message));
    return 0;
}

int compile_field(shoal_compilation* to, shoal_node child) {
    if (Status status = check_given("compile_field", {{to, "the compilation"}}); !status) return complain(status);
    const Node node = taken(child);
    if (!node || !node.has_key())
        return report(*to, node, "the compile function of a plugin read a field without a key");
    return to->output.read_field(node) ? 1 : 0;
}

int compile_entity(shoal_compilation* to, std::uint32_t offset, const char* reference) {
    if (Status status = check_given("compile_entity", {{to, "the compilation"}, {reference, "the reference"}}); !status)
        return complain(status);
    const Result<const Field*> field = find_at(*to, offset, FieldType::kEntity);
    if (!field) return report(*to, {}, field.message());
    const std::uint32_t entity = to->output.find_entity(reference);
    if (entity == kNoBlobEntity) return report(*to, {}, concat("there is no entity ", quoted(reference)));
    to->output.store_entity(offset, entity);
    return 1;
}

int compile_array(shoal_compilation* to, std::uint32_t offset, const void* values, std::uint32_t count) {
    if (Status status = check_given("compile_array", {{to, "the compilation"}}); !status) return complain(status);
    const Result<const Field*> field = find_at(*to, offset, FieldType::kBlobArray);
    if (!field) return report(*to, {}, field.message());
    if (values == nullptr && count != 0) return report(*to, {}, "the values of a blob array are NULL");
    const std::size_t num_bytes = std::size_t(count) * field_type_bytes((*field)->element_type);
    const BlobArrayBase array =
        to->output.add_array((*field)->element_type, {static_cast<const std::byte*>(values), num_bytes});
    std::memcpy(to->output.image().data() + offset, static_cast<const void*>(&array), sizeof array);
    return 1;
}

int compile_error(shoal_compilation* to, shoal_node at, const char* message) {
    if (Status status = check_given("compile_error", {{to, "the compilation"}, {message, "the message"}}); !status)
        return complain(status);
    return report(*to, taken(at), message);
}

}  // namespace

bool compile_by_plugin(void* context, const CompileInput& input, CompileOutput& output) {
    const PluginType& type = *static_cast<const PluginType*>(context);
    shoal_compilation compilation{input, output};
    const std::span<std::byte> image = output.image();
    const shoal_compile given_here{sizeof given_here, static_cast<std::uint32_t>(image.size()), &compilation,
                                   given(input.node), image.data()};
    const std::size_t num_errors = input.diagnostics.num_errors();
    const std::scoped_lock lock(type.owner.plugins().compiling);
    const GuestCallScope scope(type.owner.plugins());
    if (type.definition.compile(type.definition.context, &given_here) != 0)
        return input.diagnostics.num_errors() == num_errors;
    if (input.diagnostics.num_errors() == num_errors)
        report(compilation, {},
               concat("plugin \"", type.owner.name, "\" does not compile \"", type.component.name,
                      "\", and does not say why"));
    return false;
}

void add_source_functions(shoal_host& table) {
    table.node_kind = node_kind, table.node_count = node_count;
    table.node_child = node_child, table.node_find = node_find;
    table.node_key = node_key, table.node_text = node_text;
    table.node_number = node_number, table.node_integer = node_integer;
    table.node_unsigned = node_unsigned;
    table.compile_field = compile_field, table.compile_entity = compile_entity;
    table.compile_array = compile_array, table.compile_error = compile_error;
}

}  // namespace shoal
