#include "desync.h"

#include <shoal/base/saved_state.h>
#include <shoal/base/text.h>
#include <shoal/entity/entity_text.h>
#include <shoal/inspect/text_table.h>
#include <shoal/table/any_value.h>

#include <cstring>
#include <optional>
#include <vector>

namespace duel {

using namespace shoal;

namespace {

std::vector<std::byte> bytes_of(const SavedState& state, const StatePart& part) {
    std::vector<std::byte> bytes(part.num_bytes());
    state.copy(part, 0, part.num_elements, bytes.data());
    return bytes;
}

/// Returns the first element in which a part differs from that of another state, and adds the others to `count`. Elements
/// that only one has differ.
std::optional<std::uint64_t> first_difference(const SavedState& mine, const StatePart& part, const SavedState& theirs,
                                              std::uint64_t& count) {
    const std::size_t number = theirs.find(part.path);
    const StatePart other = number == theirs.num_parts() ? StatePart() : theirs.part(number);
    const std::vector<std::byte> a = bytes_of(mine, part), b = bytes_of(theirs, other);
    if (a == b && part.element_bytes == other.element_bytes) return {};
    if (part.element_bytes != other.element_bytes) return ++count, 0;
    std::optional<std::uint64_t> first;
    const std::uint64_t most = std::max(part.num_elements, other.num_elements);
    const std::uint64_t least = std::min(part.num_elements, other.num_elements);
    for (std::uint64_t i = 0; i < most; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * part.element_bytes;
        if (i < least && std::memcmp(a.data() + at, b.data() + at, part.element_bytes) == 0) continue;
        ++count;
        if (!first) first = i;
    }
    return first;
}

struct FieldPart {
    std::string_view component, field, owners;  // owners: the path of the part that has the entities of the rows
};

/// Takes a path such as "stores/ship/rows/field/reload" apart. Lanes of a split field are called by their field.
std::optional<FieldPart> field_of(std::string_view path) {
    constexpr std::string_view kStores = "stores/", kField = "/field/";
    const std::size_t field = path.rfind(kField);
    if (!path.starts_with(kStores) || field == std::string_view::npos) return {};
    FieldPart out;
    out.component = path.substr(kStores.size(), path.find('/', kStores.size()) - kStores.size());
    out.field = path.substr(field + kField.size());
    out.field = out.field.substr(0, out.field.find('.'));
    out.owners = path.substr(0, field);
    return out;
}

std::optional<Entity> owner_of(const SavedState& state, std::string_view rows, std::uint64_t row) {
    const std::size_t number = state.find(concat(rows, "/owner"));
    if (number == state.num_parts()) return {};
    const StatePart owners = state.part(number);
    Entity owner;
    if (owners.element_bytes != sizeof owner || row >= owners.num_elements) return {};
    state.copy(owners, row, 1, &owner);
    return owner;
}

std::string value_of(const World& world, Entity entity, std::string_view name) {
    const Result<AnyValue> value = world.field(entity, name);
    return value ? value->to_text() : std::string("not there");
}

/// Names the element of a part, if it is a field of an entity.
bool name_value(const World& mine, const World& theirs, const SavedState& state, std::string_view path,
                std::uint64_t element, Difference& out) {
    const std::optional<FieldPart> field = field_of(path);
    if (!field) return false;
    const std::optional<Entity> owner = owner_of(state, field->owners, element);
    if (!owner) return false;
    out.component = field->component, out.field = field->field, out.entity = *owner;
    const std::string name = concat(out.component, ".", out.field);
    out.mine = value_of(mine, *owner, name), out.theirs = value_of(theirs, *owner, name);
    return true;
}

}  // namespace

std::string Difference::text(std::string_view here, std::string_view there) const {
    if (part.empty()) return {};
    std::string text = field.empty() ? concat("the part ", part, " of the saved states differs")
                                     : concat(component, ".", field, " of entity ", entity_text(entity), " is ", mine,
                                              " ", here, " and ", theirs, " ", there);
    if (num_others != 0)
        text += concat("; ", count_text(num_others), num_others == 1 ? " other value differs" : " other values differ",
                       " too");
    return text;
}

Result<Difference> find_difference(const World& mine, const World& theirs) {
    SavedState a, b;
    if (Status status = mine.save(a); !status) return status;
    if (Status status = theirs.save(b); !status) return status;
    Difference out;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < a.num_parts(); ++i) {
        const StatePart part = a.part(i);
        const std::optional<std::uint64_t> first = first_difference(a, part, b, count);
        if (!first || !out.field.empty()) continue;
        if (name_value(mine, theirs, a, part.path, *first, out) || out.part.empty()) out.part = part.path;
    }
    for (std::size_t i = 0; i < b.num_parts(); ++i) {
        if (a.find(b.part(i).path) != a.num_parts()) continue;
        if (out.part.empty()) out.part = b.part(i).path;
        ++count;
    }
    out.num_others = count == 0 ? 0 : count - 1;
    return out;
}

}  // namespace duel
