#include "shoal/table/field_of_component.h"

#include <algorithm>

namespace shoal {
namespace {

/// Whether the fields of a table are called "component.field".
bool names_components(const Schema& table) {
    const std::string prefix = table.name() + '.';
    return table.name().find('+') != std::string::npos ||
           std::ranges::all_of(table.fields(), [&](const Field& field) { return field.name.starts_with(prefix); });
}

}  // namespace

FieldOfComponent::FieldOfComponent(const Schema& table, std::uint32_t field)
    : component(table.name()), name(table.fields()[field].name), index(field) {
    if (!names_components(table)) return;
    component = name.substr(0, name.find('.'));
    name.remove_prefix(component.size() + 1);
    const std::string_view prefix(component.data(), component.size() + 1);
    while (field > 0 && std::string_view(table.fields()[field - 1].name).starts_with(prefix)) --field;
    index -= field;
}

}  // namespace shoal
