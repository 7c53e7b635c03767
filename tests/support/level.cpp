#include "support/level.h"

namespace shoal_test {

shoal::Blob make_level(std::uint32_t count, std::uint16_t version) {
    shoal::BlobWriter writer;
    writer.set_name("levels/reef");
    const std::uint32_t fins = *writer.add_component_type(shoal::schema_of<Fin>()),
                        ages = *writer.add_component_type(shoal::schema_of<Age>()),
                        spots = *writer.add_component_type(shoal::schema_of<Spot>()),
                        eggs = *writer.add_component_type(shoal::schema_of<Egg>()),
                        transforms = *writer.add_component_type(shoal::schema_of<shoal::Transform>());
    const auto add = [&](std::uint32_t type, std::uint32_t entity, const auto& value) {
        writer.add_component(type, entity, std::as_bytes(std::span(&value, 1)));
    };
    for (std::uint32_t i = 0; i < count + version; ++i) {
        const std::uint32_t entity =
            writer.add_entity({.parent = i % 3 == 0 ? shoal::kNoBlobEntity : i - 1, .guid = i + 1});
        add(fins, entity, Fin{});
        add(ages, entity, Age{i});
        add(spots, entity, Spot{{float(i), 0, 0}});
        if (i % 4 == 0) add(eggs, entity, Egg{version}), add(eggs, entity, Egg{7});
        add(transforms, entity, shoal::Transform{});
    }
    return *shoal::Blob::load(*writer.write());
}

}  // namespace shoal_test
