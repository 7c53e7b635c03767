#include "shoal/world/detail/named_components.h"

#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {

Status unknown_component(const World& world, std::string_view name, std::string_view what_to_do) {
    Array<std::string_view> names{Owner("world")};
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas()) names.push_back(schema->name());
    const int close = closest_text(name, names.data(), names.size());
    return Status::error(concat("no store keeps a component \"", name, "\"; ",
                                close < 0 ? std::string(what_to_do)
                                          : concat("did you mean \"", names[static_cast<std::size_t>(close)], "\"?")));
}

bool is_same_declaration(const Schema& a, const Schema& b) {
    return a.layout_hash() == b.layout_hash() && a.version() == b.version() && a.whole() == b.whole() &&
           a.enableable() == b.enableable() && a.many() == b.many() && a.singleton() == b.singleton() &&
           std::ranges::equal(a.default_image(), b.default_image());
}

namespace {

Status check_arrays(const Blob& blob) {
    for (const BlobComponents& components : blob.component_types())
        if (components.schema->has(FieldType::kBlobArray))
            return Status::error(
                concat("the blob has \"", components.schema->name(),
                       "\", whose read-only arrays stay in it; the program spawns it from its library"));
    return {};
}

}  // namespace

Result<Spawned> spawn_bytes(World& world, std::span<const std::byte> bytes,
                            Status (*list)(void* context, Array<SpawnOverride>& overrides), void* context) {
    const Result<Blob> blob = Blob::load(bytes);
    if (!blob) return blob.status();
    if (Status status = check_arrays(*blob); !status) return status;
    if (Status status = world.adopt_schemas(*blob); !status) return status;
    SpawnOptions options{.fail_on_unknown = true, .keep_names = false};
    if (list != nullptr)
        if (Status status = list(context, options.overrides); !status) return status;
    return world.spawn(*blob, options);
}

}  // namespace shoal
