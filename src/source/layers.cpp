#include "source/layers.h"

#include <algorithm>
#include <vector>

namespace shoal {

bool is_consumed(const ComponentLayer& layer, std::string_view key) {
    if (layer.consumed_keys == 0 || layer.wrapped()) return false;
    for (std::size_t i = 0; i < kComponentKeys.size(); ++i)
        if ((layer.consumed_keys >> i & 1) != 0 && kComponentKeys[i].name == key) return true;
    return false;
}

void merge_values(DocumentBuilder& builder, std::span<const Node> values) {
    std::size_t first = values.size() - 1;
    while (first > 0 && values[first].is_mapping() && values[first - 1].is_mapping()) --first;
    values = values.subspan(first);
    if (values.size() == 1) return builder.value(values[0]);
    builder.begin_mapping(values.back().position());
    std::vector<Node> same;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (const Node child : values[i]) {
            const auto has_key = [&](Node value) { return bool(value.find(child.key())); };
            if (std::any_of(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), has_key)) continue;
            same.clear();
            for (std::size_t j = i; j < values.size(); ++j)
                if (const Node value = values[j].find(child.key())) same.push_back(value);
            builder.key(child);
            merge_values(builder, same);
        }
    builder.end();
}

namespace {

/// Merges layers whose fields are in mappings. Leaves out keys that are not fields.
void merge_fields(DocumentBuilder& builder, std::span<const ComponentLayer* const> layers) {
    const auto field = [](const ComponentLayer* layer, std::string_view key) {
        return is_consumed(*layer, key) ? Node() : layer->fields.find(key);
    };
    builder.begin_mapping(layers.back()->fields.position());
    std::vector<Node> same;
    for (std::size_t i = 0; i < layers.size(); ++i)
        for (const Node child : layers[i]->fields) {
            if (is_consumed(*layers[i], child.key())) continue;
            const auto has_key = [&](const ComponentLayer* layer) { return bool(field(layer, child.key())); };
            if (std::any_of(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(i), has_key)) continue;
            same.clear();
            for (std::size_t j = i; j < layers.size(); ++j)
                if (const Node value = field(layers[j], child.key())) same.push_back(value);
            builder.key(child);
            merge_values(builder, same);
        }
    builder.end();
}

}  // namespace

Document merge_layers(const ComponentLayer& top) {
    std::vector<const ComponentLayer*> layers;
    for (const ComponentLayer* layer = &top; layer != nullptr; layer = layer->below) {
        if (!layer->fields || layer->fields.is_null()) continue;
        layers.push_back(layer);
        if (!layer->fields.is_mapping()) break;  // a value that is not a mapping replaces all layers below it
    }
    std::reverse(layers.begin(), layers.end());
    if (layers.size() > 1 && !layers.front()->fields.is_mapping()) layers.erase(layers.begin());
    DocumentBuilder builder;
    if (layers.empty()) {
        builder.null(top.value ? top.value.position() : SourcePosition());
    } else if (layers.size() == 1 && (layers[0]->wrapped() || layers[0]->consumed_keys == 0)) {
        builder.value(layers[0]->fields);
    } else {
        merge_fields(builder, layers);
    }
    return builder.finish();
}

}  // namespace shoal
