// Finds, adds and removes names and tags through their rows, for commands.

#include "shoal/components/detail/entity_texts.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/text.h"
#include "shoal/table/detail/table.h"

namespace shoal {
namespace {

/// Returns the index of a tag among an entity's tags, and sets `at` to its row. If the entity does not have the tag,
/// `at` has no table.
std::uint32_t find_tag(const Store& store, const Schema& component, Entity entity, StringId tag, ComponentRow& at) {
    std::uint32_t index = 0;
    for (at = store.find_row(component.id(), entity, 0); at; at = store.find_next(at, entity, ++index)) {
        const auto found =
            read_as<StringId>(at.table->column(at.first_column) + std::size_t(at.row) * sizeof(StringId));
        if (found == tag) break;
    }
    return index;
}

Status remove_tag(Store& store, const Schema& component, Entity entity, StringId tag) {
    ComponentRow at;
    for (std::uint32_t index = find_tag(store, component, entity, tag, at); at;
         index = find_tag(store, component, entity, tag, at))
        if (Status status = store.remove_one_value(component, entity, at, index); !status) return status;
    return {};
}

}  // namespace

Status change_text_in(Store& store, const Schema& component, StringTable& texts, TextChange change, Entity entity,
                      std::string_view text) {
    if (text.empty() && change == TextChange::kName) return store.remove_values(component, {&entity, 1}).status();
    if (text.empty()) return Status::error("a tag needs a text");
    StringId id(text);
    if (change == TextChange::kUntag) return remove_tag(store, component, entity, id);
    if (const Result<StringId> kept = texts.intern_until_unused(text); !kept) return kept.status();
    ComponentRow at;
    if (change == TextChange::kTag) find_tag(store, component, entity, id, at);
    if (at) return {};
    AddedValues values;
    values.images = reinterpret_cast<const std::byte*>(&id);
    return store.add_values(component, {&entity, 1}, values).status();
}

}  // namespace shoal
