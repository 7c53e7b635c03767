#include "command/made_list.h"

#include <algorithm>
#include <utility>

namespace shoal::detail {
namespace {

PartKey key_of(const CommandPart& part) {
    if (!part.names_component()) return {};
    const Schema& schema = part.component();
    return {schema.id(), schema.layout_hash()};
}

bool lie_alike(const CommandPart& a, const CommandPart& b) {
    return a.offset == b.offset && a.field == b.field && a.is_disabled == b.is_disabled &&
           (a.offset == 0 || a.num_bytes == b.num_bytes);
}

}  // namespace

Schema make_field_schema(const Schema& component, std::uint32_t field) {
    FieldDefinition one = component.fields()[field];
    one.struct_offset = FieldDefinition::kPacked;
    one.split = one.shorthand = one.has_range = false;
    one.keys.clear();  // the keys belong to another field
    one.default_value.clear();
    ComponentDefinition definition{.name = component.name()};
    definition.fields.push_back(std::move(one));
    Result<Schema> made = Schema::make(std::move(definition));
    SHOAL_ASSERT(made.ok(), made.ok() ? "" : made.status().message().data());
    return std::move(*made);
}

MadeList::MadeList(CommandKind kind_of_all)
    : CommandList{kind_of_all, head_bytes(1), alignof(Entity), {}, ListOrigin::kMade} {}

MadeList::MadeList(MadeList&& other) noexcept
    : CommandList(other),
      own_parts(std::move(other.own_parts)),
      keys(std::move(other.keys)),
      own_schemas(std::move(other.own_schemas)) {
    parts = own_parts;
    other.own_schemas.clear();
}

MadeList::~MadeList() {
    for (Schema* schema : own_schemas) destroy_owned("commands", schema);
}

void MadeList::own_its_schemas() {
    for (CommandPart& part : own_parts)
        if (part.made != nullptr) {
            own_schemas.push_back(make_owned<Schema>("commands", *part.made));
            part.made = own_schemas.back();
        }
}

void MadeList::add(CommandPart part, const Schema* value) {
    if (value != nullptr) {
        part.offset = round_up(row_bytes, value->struct_alignment());
        part.num_bytes = value->struct_bytes();
        SHOAL_ASSERT(part.offset <= kMaxRowBytes, "the values of a command take more than 2 GiB; ask for several");
        row_bytes = part.offset + part.num_bytes;
        alignment = std::max(alignment, value->struct_alignment());
    }
    own_parts.push_back(part);
    keys.push_back(key_of(part));
    parts = own_parts;
}

bool MadeList::is_like(const CommandList& other) const {
    if (kind != other.kind || row_bytes != other.row_bytes || alignment != other.alignment ||
        !std::ranges::equal(parts, other.parts, lie_alike))
        return false;
    if (other.origin != ListOrigin::kCompiled) return std::ranges::equal(keys, made(other).keys);
    return std::ranges::equal(keys, other.parts,
                              [](const PartKey& key, const CommandPart& part) { return key == key_of(part); });
}

}  // namespace shoal::detail
