// Reloads a level of 100,000 entities in which one field of one entity has changed. All entities have transforms, every
// second entity has a component of 32 bytes, and every tenth entity has a tag. The reference compares the columns of
// both blobs with memcmp, searches for the changed row, and writes its value to an array.

#include "reference.h"
#include "shoal/components/tag.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "workloads.h"

#include <cstring>

namespace shoal_bench {

using namespace shoal;

struct Engine {
    std::array<float, 7> curve{};
    float power = 1;
};
SHOAL_COMPONENT(Engine, curve, power)

namespace {

constexpr std::uint32_t kNumEntities = 100'000, kChanged = 77'776;

Blob make_level(float power) {
    BlobWriter writer;
    writer.set_name("bench/reloaded");
    const std::uint32_t transforms = need(writer.add_component_type(schema_of<Transform>()));
    const std::uint32_t engines = need(writer.add_component_type(schema_of<Engine>()));
    const std::uint32_t tags = need(writer.add_component_type(schema_of<Tag>()));
    for (std::uint32_t i = 0; i < kNumEntities; ++i) {
        writer.add_entity({.parent = i % 4 == 0 ? kNoBlobEntity : i - i % 4, .guid = mix(i) | 1});
        const Transform transform{{float(i), 1, 2}, {}, {1, 1, 1}};
        writer.add_component(transforms, i, std::as_bytes(std::span(&transform, 1)));
        const Engine engine{{float(i)}, i == kChanged ? power : 1};
        if (i % 2 == 0) writer.add_component(engines, i, std::as_bytes(std::span(&engine, 1)));
        const Tag tag{StringId("engine")};
        if (i % 10 == 0) writer.add_component(tags, i, std::as_bytes(std::span(&tag, 1)));
    }
    return need(Blob::load(need(writer.write())));
}

/// Compares the columns of both blobs, and writes the powers that differ to an array.
class PlainReload {
public:
    explicit PlainReload(const Blob& level) : powers_(kNumEntities, 0) {
        const BlobComponents& engines = *level.find_components(schema_of<Engine>().id());
        for (std::uint32_t row = 0; row < engines.count(); ++row)
            std::memcpy(&powers_[engines.entity_index[row]], engines.columns[1] + row * sizeof(float), sizeof(float));
    }

    SHOAL_BENCH_LOOP void reload(const Blob& before, const Blob& after) {
        for (std::size_t t = 0; t < after.component_types().size(); ++t) {
            const BlobComponents& old = before.component_types()[t];
            const BlobComponents& now = after.component_types()[t];
            for (std::size_t c = 0; c < now.columns.size(); ++c) {
                const std::size_t bytes = now.schema->columns()[c].element_bytes;
                if (std::memcmp(old.columns[c], now.columns[c], now.count() * bytes) == 0) continue;
                for (std::uint32_t row = 0; row < now.count(); ++row)
                    if (std::memcmp(old.columns[c] + row * bytes, now.columns[c] + row * bytes, bytes) != 0)
                        std::memcpy(&powers_[now.entity_index[row]], now.columns[c] + row * bytes, sizeof(float));
            }
        }
    }
    float power() const { return powers_[kChanged]; }

private:
    PlainColumn<float> powers_;
};

}  // namespace

void measure_reloading(Bench& bench) {
    if (!bench.wants("reload/one_of_100k")) return;
    const Blob versions[] = {make_level(2), make_level(3)};
    EntityManager entities;
    World world(entities);
    Reloader reloader(world);
    const auto& engines = world.manager<Engine>();
    const Entity changed = need(world.spawn(versions[0])).entity(kChanged);
    PlainReload plain(versions[0]);
    int version = 0, other_version = 0;
    bench.compare({"reload/one_of_100k", kNumEntities},
                  {{},
                   [&] {
                       const int before = version;
                       version ^= 1;
                       need_ok(reloader.reload(versions[before], versions[version]));
                   },
                   [&] {
                       const float power = engines.get<&Engine::power>(engines.instance(changed));
                       return std::uint64_t(power == float(2 + version));
                   }},
                  {{},
                   [&] {
                       const int before = other_version;
                       other_version ^= 1;
                       plain.reload(versions[before], versions[other_version]);
                   },
                   [&] { return std::uint64_t(plain.power() == float(2 + other_version)); }});
}

}  // namespace shoal_bench
