// A custom service: it takes part in each frame, is saved with the world, and appears in descriptions.
#include <shoal/command/commands.h>
#include <shoal/inspect/describe_entity.h>
#include <shoal/save/frames.h>
#include <shoal/save/save.h>
#include <shoal/state/snapshot.h>
#include <shoal/world/world.h>

#include <cstdio>
#include <vector>

using namespace shoal;

namespace {

struct Fish {
    float age = 0;
};
SHOAL_COMPONENT(Fish, (age, unit("s")))

/// Keeps the number of fish in a pond constant: it replaces dead fish after the world has settled.
class Hatchery final : public WorldService {
public:
    Hatchery(World& world, std::size_t num_fish) : WorldService("hatchery"), world_(world), num_fish_(num_fish) {
        world.services().add(*this);
    }
    ~Hatchery() override { world_.services().remove(*this); }

    std::uint64_t num_hatched() const { return num_hatched_; }

    void after_settle(const SettleContext& /*context*/) override {
        const std::size_t num_now = fish_.num_rows();
        if (num_now >= num_fish_) return;
        std::vector<Entity> young(num_fish_ - num_now);
        if (!world_.entities().create(young) || !fish_.add(young)) return;
        num_hatched_ += young.size();
    }

    std::string describe() const override { return std::to_string(num_hatched_) + " fish have hatched"; }
    std::uint32_t state_version() const override { return 1; }
    void save_part(SnapshotWriter& to) const override { to.value("hatched", num_hatched_); }
    Status load_part(SnapshotReader& from, std::uint32_t version) override {
        num_hatched_ = 0;  // saves of older programs have no hatchery data
        return version == 0 ? Status() : from.value("hatched", num_hatched_);
    }

private:
    World& world_;
    Manager<Fish>& fish_ = world_.manager<Fish>();
    std::size_t num_fish_;
    std::uint64_t num_hatched_ = 0;
};

}  // namespace

int main() {
    EntityManager entities;
    World pond(entities);
    Hatchery hatchery(pond, 100);
    Frames frames(pond, 8);  // a built-in service
    pond.schedule().add("age", pond.query<Write<&Fish::age>>(),
                        [](const PassContext& frame, Commands& commands, Entity fish, auto&& age) {
                            age += frame.dt;
                            if (age > 2.5f + 0.25f * float(fish.index() % 8)) commands.destroy(fish);
                        });
    for (int frame = 0; frame < 20; ++frame) pond.step(0.5f);
    std::fputs(describe(pond).c_str(), stdout);

    Array<std::byte> saved(Owner("example"));
    if (!save(pond, saved)) return 1;
    for (int frame = 0; frame < 20; ++frame) pond.step(0.5f);
    std::printf("later %llu, ", static_cast<unsigned long long>(hatchery.num_hatched()));
    if (!load(pond, saved)) return 1;
    std::printf("and again %llu\n", static_cast<unsigned long long>(hatchery.num_hatched()));
}
