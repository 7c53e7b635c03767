// Compares shoal with other ways to store game objects, doing the same work. The other way is the reference: a ratio of
// 0.1 means that shoal takes a tenth of its time.
//
//     work: moving objects are moved, living ones age; every object has 64 more bytes that nothing reads
//     a third of the objects has only a place, a third moves, a third moves and lives
//
// Heap objects are allocated in a different order than they are listed, as in a program that has run for a while.

#include "reference.h"
#include "shoal/database/database.h"
#include "shoal/query/query.h"
#include "workloads.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace shoal_bench {

using namespace shoal;

struct ThingPosition {
    Vec3 value;
};
SHOAL_COMPONENT(ThingPosition, value)
struct ThingMotion {
    Vec3 velocity;
};
SHOAL_COMPONENT(ThingMotion, velocity)
struct ThingLife {
    float age = 0;
};
SHOAL_COMPONENT(ThingLife, age)
struct ThingLook {
    std::uint64_t mesh = 0, material = 0, skeleton = 0, animation = 0, sound = 0, light = 0, decal = 0, script = 0;
};
SHOAL_COMPONENT((ThingLook, whole), mesh, material, skeleton, animation, sound, light, decal, script)

namespace {

bool moves(std::size_t i) { return i % 3 != 0; }
bool lives(std::size_t i) { return i % 3 == 2; }

/// The objects in a database: three tables, two passes.
class ColumnsOfThings {
public:
    explicit ColumnsOfThings(std::size_t n) {
        std::vector<Entity> ids(n);
        need_ok(database_.create<ThingPosition, ThingLook>(ids, 0));
        for (std::size_t i = 0; i < n; ++i) {
            if (moves(i)) need(database_.add(ids[i], ThingMotion{velocity_of(i)}));
            if (lives(i)) need(database_.add(ids[i], ThingLife{}));
        }
    }

    void step() {
        moving_.for_each([](auto&& p, Vec3 v) { p += v * kDt; });
        living_.for_each([](float& age) { age += kDt; });
    }

    std::uint64_t checksum() const {
        std::uint64_t result = 0;
        query<Read<&ThingPosition::value>>(database_).for_each([&](Vec3 p) { result += bits_of(p); });
        query<Read<&ThingLife::age>>(database_).for_each([&](float age) { result += 7 * bits_of(age); });
        return result;
    }

private:
    EntityManager entities_;
    PagePool pool_;
    mutable Database database_ = Database(entities_, pool_);
    Query<From<Database>, Write<&ThingPosition::value>, Read<&ThingMotion::velocity>> moving_{database_};
    Query<From<Database>, Write<&ThingLife::age>> living_{database_};
};

/// Creates n objects with make(i), in random order, and returns them in order of `i`.
template <class T, class Make>
std::vector<std::unique_ptr<T>> make_scattered(std::size_t n, const Make& make) {
    std::vector<std::unique_ptr<T>> objects(n);
    for (const std::uint32_t i : shuffled_numbers(n, 1)) objects[i] = make(i);
    return objects;
}

// --- a class hierarchy: the class of an object decides what it has ---------------------------------------------------

struct Thing {
    virtual ~Thing() = default;
    virtual void step(float) {}
    virtual std::uint64_t checksum() const { return bits_of(place); }
    ThingLook look;
    Vec3 place;
};
struct MovingThing : Thing {
    explicit MovingThing(Vec3 v) : velocity(v) {}
    void step(float dt) override { place += velocity * dt; }
    Vec3 velocity;
};
struct LivingThing : MovingThing {
    using MovingThing::MovingThing;
    void step(float dt) override {
        MovingThing::step(dt);
        age += dt;
    }
    std::uint64_t checksum() const override { return MovingThing::checksum() + 7 * bits_of(age); }
    float age = 0;
};

struct Hierarchy {
    explicit Hierarchy(std::size_t n) {
        things = make_scattered<Thing>(n, [](std::size_t i) -> std::unique_ptr<Thing> {
            if (lives(i)) return std::make_unique<LivingThing>(velocity_of(i));
            if (moves(i)) return std::make_unique<MovingThing>(velocity_of(i));
            return std::make_unique<Thing>();
        });
    }
    void step() {
        for (const auto& thing : things) thing->step(kDt);
    }
    std::uint64_t checksum() const {
        std::uint64_t result = 0;
        for (const auto& thing : things) result += thing->checksum();
        return result;
    }
    std::vector<std::unique_ptr<Thing>> things;
};

// --- one class with optional parts behind pointers -------------------------------------------------------------------

struct Compound {
    std::unique_ptr<ThingPosition> place;
    std::unique_ptr<ThingMotion> motion;
    std::unique_ptr<ThingLife> life;
    std::unique_ptr<ThingLook> look;
};

struct NullablePointers {
    explicit NullablePointers(std::size_t n) {
        things = make_scattered<Compound>(n, [](std::size_t i) {
            auto made = std::make_unique<Compound>();
            made->place = std::make_unique<ThingPosition>();
            made->look = std::make_unique<ThingLook>();
            if (moves(i)) made->motion = std::make_unique<ThingMotion>(ThingMotion{velocity_of(i)});
            if (lives(i)) made->life = std::make_unique<ThingLife>();
            return made;
        });
    }
    void step() {
        for (const auto& thing : things) {
            if (thing->motion) thing->place->value += thing->motion->velocity * kDt;
            if (thing->life) thing->life->age += kDt;
        }
    }
    std::uint64_t checksum() const {
        std::uint64_t result = 0;
        for (const auto& thing : things)
            result += bits_of(thing->place->value) + (thing->life ? 7 * bits_of(thing->life->age) : 0);
        return result;
    }
    std::vector<std::unique_ptr<Compound>> things;
};

// --- objects with a container of components, each of which is an object with a step() -------------------------------

struct Part;
using Parts = std::unordered_map<std::string, std::unique_ptr<Part>>;
struct Part {
    virtual ~Part() = default;
    virtual void step(Parts&, float) {}
};
struct PositionPart : Part {
    Vec3 value;
};
struct LookPart : Part {
    ThingLook value;
};
struct MotionPart : Part {
    explicit MotionPart(Vec3 v) : velocity(v) {}
    void step(Parts& parts, float dt) override {
        static_cast<PositionPart&>(*parts.find("place")->second).value += velocity * dt;
    }
    Vec3 velocity;
};
struct LifePart : Part {
    void step(Parts&, float dt) override { age += dt; }
    float age = 0;
};

std::unique_ptr<Parts> make_parts(std::size_t i) {
    auto made = std::make_unique<Parts>();
    made->emplace("place", std::make_unique<PositionPart>());
    made->emplace("look", std::make_unique<LookPart>());
    if (moves(i)) made->emplace("motion", std::make_unique<MotionPart>(velocity_of(i)));
    if (lives(i)) made->emplace("life", std::make_unique<LifePart>());
    return made;
}

std::uint64_t checksum_of(const std::vector<std::unique_ptr<Parts>>& things) {
    std::uint64_t result = 0;
    for (const auto& parts : things) {
        result += bits_of(static_cast<PositionPart&>(*parts->at("place")).value);
        if (const auto life = parts->find("life"); life != parts->end())
            result += 7 * bits_of(static_cast<LifePart&>(*life->second).age);
    }
    return result;
}

struct Containers {
    explicit Containers(std::size_t n) : things(make_scattered<Parts>(n, make_parts)) {}
    void step() {
        for (const auto& parts : things)
            for (auto& [name, part] : *parts) part->step(*parts, kDt);
    }
    std::uint64_t checksum() const { return checksum_of(things); }
    std::vector<std::unique_ptr<Parts>> things;
};

// --- systems that are queried, object by object ----------------------------------------------------------------------

struct System {
    virtual ~System() = default;
    virtual bool wants(const Parts& parts) const = 0;
    virtual void step(Parts& parts, float dt) const = 0;
};
struct MotionSystem : System {
    bool wants(const Parts& parts) const override { return parts.contains("place") && parts.contains("motion"); }
    void step(Parts& parts, float dt) const override {
        static_cast<PositionPart&>(*parts.at("place")).value +=
            static_cast<MotionPart&>(*parts.at("motion")).velocity * dt;
    }
};
struct LifeSystem : System {
    bool wants(const Parts& parts) const override { return parts.contains("life"); }
    void step(Parts& parts, float dt) const override { static_cast<LifePart&>(*parts.at("life")).age += dt; }
};

struct VirtualSystems {
    explicit VirtualSystems(std::size_t n) : things(make_scattered<Parts>(n, make_parts)) {
        systems.push_back(std::make_unique<MotionSystem>());
        systems.push_back(std::make_unique<LifeSystem>());
    }
    void step() {
        for (const auto& system : systems)
            for (const auto& parts : things)
                if (system->wants(*parts)) system->step(*parts, kDt);
    }
    std::uint64_t checksum() const { return checksum_of(things); }
    std::vector<std::unique_ptr<Parts>> things;
    std::vector<std::unique_ptr<System>> systems;
};

// --- arrays in entity order, one index running through each ----------------------------------------------------------

struct RunningIndices {
    explicit RunningIndices(std::size_t n) {
        for (std::uint32_t i = 0; i < n; ++i) {
            place_owner.push_back(i), place.push_back({});
            if (moves(i)) motion_owner.push_back(i), motion.push_back({velocity_of(i)});
            if (lives(i)) life.push_back({});
        }
    }
    void step() {
        std::size_t p = 0;
        for (std::size_t m = 0; m < motion_owner.size(); ++m) {
            while (place_owner[p] < motion_owner[m]) ++p;
            if (place_owner[p] == motion_owner[m]) place[p].value += motion[m].velocity * kDt;
        }
        for (ThingLife& each : life) each.age += kDt;
    }
    std::uint64_t checksum() const {
        std::uint64_t result = 0;
        for (const ThingPosition& each : place) result += bits_of(each.value);
        for (const ThingLife& each : life) result += 7 * bits_of(each.age);
        return result;
    }
    std::vector<std::uint32_t> place_owner, motion_owner;  // ascending
    std::vector<ThingPosition> place;
    std::vector<ThingMotion> motion;
    std::vector<ThingLife> life;
};

template <class Other>
void compare_with(Bench& bench, const std::string& name) {
    if (!bench.wants(name)) return;
    for (const std::size_t n : bench.sizes(kSizes)) {
        ColumnsOfThings columns(n);
        Other other(n);
        bench.compare({name, n}, {{}, [&] { columns.step(); }, [&] { return columns.checksum(); }},
                      {{}, [&] { other.step(); }, [&] { return other.checksum(); }});
    }
}

}  // namespace

void measure_baselines(Bench& bench) {
    compare_with<Hierarchy>(bench, "baseline/class_hierarchy");
    compare_with<NullablePointers>(bench, "baseline/nullable_pointers");
    compare_with<Containers>(bench, "baseline/component_containers");
    compare_with<VirtualSystems>(bench, "baseline/virtual_systems");
    compare_with<RunningIndices>(bench, "baseline/running_indices");
}

}  // namespace shoal_bench
