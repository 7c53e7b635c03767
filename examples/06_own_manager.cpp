// Adds a component type with custom storage. The compile function converts the value in sources (a temperature) to the
// value that the manager stores (a colour).  // req: A1
#include <shoal/source/compiler.h>
#include <shoal/world/world.h>

#include <cstdio>

using namespace shoal;

struct Glow {
    Vec3 colour{};
};
SHOAL_COMPONENT((Glow, name("glow")), colour)

/// Stores the colours of glowing entities. There are few of them, so a hash index finds their rows. A glow is removed
/// when its entity dies.
class GlowManager final : public Store {
public:
    GlowManager(EntityManager& entities, PagePool& pool)
        : rows_(schema_of<Glow>(), entities, pool, {.index = RowIndexKind::kHash, .death = DeathPolicy::kByCallback}) {}

    std::uint32_t num_glowing() const { return rows_.num_rows(); }
    Vec3 colour(Entity entity) const {
        return reinterpret_cast<const Vec3*>(rows_.table().column(0))[rows_.find(entity)];
    }

    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    Status spawn(const SpawnBatch& batch) override { return rows_.spawn(batch); }
    void drop(std::span<const Entity> entities) override { rows_.remove(entities); }
    void hold_rows(bool hold) override { rows_.hold(hold); }
    void settle(const SettleContext& context) override { rows_.settle(context); }
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    std::size_t statistics(std::span<StoreStatistics> out) const override { return rows_.statistics(out); }

private:
    OwnedRows rows_;
};

bool compile_glow(void*, const CompileInput& in, CompileOutput& out) {
    const Node kelvin = in.node.find("kelvin");
    if (!kelvin || !kelvin.is_number())
        return in.diagnostics.error(in.node.position(), "a glow needs its `kelvin`"), false;
    const float warmth = static_cast<float>(kelvin.as_double()) / 5400;
    out.store(Glow{{1, warmth, warmth * warmth}});
    return true;
}

int main() {
    Diagnostics diagnostics;
    ComponentRegistry registry;
    if (!registry.add<Glow>() || !registry.set_compile_function("glow", compile_glow, nullptr)) return 1;
    const auto file = diagnostics.add_file("lamp.sjson", "components = { glow = { kelvin = 2700 } }");
    const Result<CompiledSource> lamp = compile_file(file, registry, {}, diagnostics);
    if (!lamp) return std::fputs(diagnostics.format().c_str(), stderr), 1;

    EntityManager entities;
    World world(entities);
    const GlowManager& glows = world.make_store<GlowManager>();
    Result<Spawned> lamps = world.spawn(*Blob::view(lamp->blob), {.copies = 30});
    if (!lamps) return 1;
    std::printf("%u lamps glow, %g green in each\n", glows.num_glowing(), glows.colour(lamps->entity(0, 29)).y);
    entities.destroy(lamps->entities().subspan(0, 10));
    std::printf("%u after ten went out\n", glows.num_glowing());
}
