#include "shoal/source/detail/origins.h"

#include "shoal/document/diagnostics.h"
#include "shoal/source/detail/source_keys.h"

#include <algorithm>

namespace shoal {
namespace {

LayerOrigin origin_of(const Composition& composition, const Diagnostics& diagnostics, std::string_view component,
                      const ComponentLayer& layer) {
    const SourceLocation at =
        diagnostics.locate(layer.value.has_key() ? layer.value.key_position() : layer.value.position());
    LayerOrigin origin{std::string(component), {}, at.line, layer.below == nullptr, {}};
    if (at.file != 0) origin.file = composition.source_name(at.file);
    if (layer.fields && layer.fields.is_mapping())
        for (const Node field : layer.fields)
            if (!is_wrapper_key(field.key()) || layer.wrapped()) origin.fields.emplace_back(field.key());
    return origin;
}

}  // namespace

std::vector<LayerOrigin> layer_origins(const Composition& composition, const Diagnostics& diagnostics,
                                       std::uint64_t guid) {
    std::vector<LayerOrigin> origins;
    const auto found = std::ranges::find(composition.entities(), guid, &ComposedEntity::guid);
    if (found == composition.entities().end()) return origins;
    for (const MergedComponent& component : found->entity->components) {
        const std::size_t first = origins.size();
        for (const ComponentLayer* layer = component.top; layer != nullptr; layer = layer->below)
            origins.push_back(origin_of(composition, diagnostics, composition.types()[component.type], *layer));
        std::reverse(origins.begin() + static_cast<std::ptrdiff_t>(first), origins.end());
    }
    return origins;
}

}  // namespace shoal
