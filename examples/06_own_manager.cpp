// A plugin gives entities a capability that the library does not know: a manager with a storage of its own, and a
// compile function that turns what people write (a temperature) into what the manager wants (a colour).  // req: A1
#include <shoal/source/compiler.h>
#include <shoal/world/world.h>

#include <cstdio>
#include <unordered_map>

using namespace shoal;

struct Glow {
    Vec3 colour{};
};
SHOAL_COMPONENT((Glow, name("glow")), colour)

/// Keeps colours in a hash map: rare enough for that, and nobody else's business.
class GlowManager final : public Store {
public:
    explicit GlowManager(EntityManager& entities)
        : entities_(entities), callback_(entities.add_destruction_callback(&forget, this)) {}
    ~GlowManager() override { entities_.remove_destruction_callback(callback_); }

    std::size_t num_glowing() const { return colour_of_.size(); }
    Vec3 colour(Entity entity) const { return colour_of_.at(entity.id); }

    std::span<const Schema* const> schemas() const override { return {&schema_, 1}; }
    Status spawn(const SpawnBatch& batch) override {
        const auto* colours = reinterpret_cast<const Vec3*>(batch.columns[0]);
        for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
            for (std::size_t i = 0; i < batch.entity_index.size(); ++i)
                colour_of_[batch.owner(copy, i).id] = colours[i];
        return {};
    }
    void drop(std::span<const Entity> dead) override {
        for (const Entity entity : dead) colour_of_.erase(entity.id);
    }
    void settle(const SettleContext&) override {}
    std::span<const Table* const> tables() const override { return {}; }
    std::size_t statistics(std::span<StoreStatistics> out) const override {
        if (!out.empty()) out[0] = {.component = schema_->name(), .num_rows = num_glowing()};
        return 1;
    }

private:
    static void forget(void* self, std::span<const Entity> dead) { static_cast<GlowManager*>(self)->drop(dead); }
    const Schema* schema_ = &schema_of<Glow>();
    EntityManager& entities_;
    DestructionCallback callback_;
    std::unordered_map<EntityBits, Vec3> colour_of_;
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
    GlowManager glows(entities);
    if (!world.attach(glows)) return 1;
    Result<Spawned> lamps = world.spawn(*Blob::view(lamp->blob), {.copies = 30});
    if (!lamps) return 1;
    std::printf("%zu lamps glow, %g green in each\n", glows.num_glowing(), glows.colour(lamps->entity(0, 29)).y);
    entities.destroy(lamps->entities().subspan(0, 10));
    std::printf("%zu after ten went out\n", glows.num_glowing());
    world.detach(glows);
}
