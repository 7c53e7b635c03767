#include "shoal/table/detail/field_of_component.h"

namespace shoal {

FieldOfComponent::FieldOfComponent(const Schema& table, std::uint32_t field)
    : component(table.name()), name(table.fields()[field].name), index(field) {
    if (!table.combined()) return;
    component = name.substr(0, name.find('.'));
    name.remove_prefix(component.size() + 1);
    const std::string_view prefix(component.data(), component.size() + 1);
    while (field > 0 && std::string_view(table.fields()[field - 1].name).starts_with(prefix)) --field;
    index -= field;
}

}  // namespace shoal
