#include "determinism/scenario.h"

#include "shoal/base/detail/floating_point.h"
#include "shoal/base/text.h"
#include "shoal/command/commands.h"
#include "shoal/components/activity.h"
#include "shoal/components/ownership.h"
#include "shoal/components/point_mass.h"
#include "shoal/database/grid_zones.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/query/query.h"
#include "shoal/react/observers.h"
#include "shoal/react/position_links.h"
#include "shoal/save/save.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/transform/detail/pose_kernels.h"
#include "shoal/transform/detail/pose_math.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace shoal_test {
namespace {

using namespace shoal;

constexpr std::uint32_t kBodies = 3001;  // no multiple of any number of lanes, so that the ends of loops run too
constexpr std::uint32_t kPlaced = 1203;  // of them, with a transform
constexpr std::uint32_t kChain = 70;     // transforms, each the child of the one before it
constexpr std::uint32_t kMasses = 1031;
constexpr std::uint32_t kModels = 37;
constexpr std::uint32_t kNodes = 23;  // of a model
constexpr int kFrames = 60, kFramesBetweenLines = 20;
constexpr float kStep = 1.0f / 60;

// In managers.
struct Body {
    float mass = 1;
    Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Body, mass, (position, split), velocity)
struct Spin {
    Quaternion rotation{};
    Vec3 rate{};
    double turns = 0;
};
SHOAL_COMPONENT((Spin, whole), rotation, rate, turns)
struct Dent {
    std::uint32_t frame = 0;
    float depth = 0;
};
SHOAL_COMPONENT((Dent, many), frame, depth)
struct Hunts {
    Entity prey;
};
SHOAL_COMPONENT(Hunts, (prey, relation))

// In the database.
struct Buoy {
    Vec3 position{};
};
SHOAL_COMPONENT(Buoy, position)
struct Heat {
    float celsius = 20;
    Vec2 flow{};
    std::int16_t level = 0;
};
SHOAL_COMPONENT(Heat, celsius, flow, level)
struct Charge {
    double volts = 1;
    std::array<float, 3> cells{};
};
SHOAL_COMPONENT((Charge, enableable), volts, cells)

struct Weather {
    Vec3 wind = {3, 1, 0};
    std::uint64_t num_gusts = 0;
    float sum = 0;
};
SHOAL_COMPONENT((Weather, singleton), wind, num_gusts, sum)

struct Gust {
    std::uint64_t who = 0;
    float force = 0;
};

/// A number that is the same for ids of any width.
std::uint64_t key_of(Entity entity) { return std::uint64_t(entity.generation()) << 32 | entity.index(); }

Vec3 any_vector(Random& random, float size) {
    // [floating_point/order]
    // In a list within braces the calls are made from left to right; the order of arguments is the compiler's choice.
    const float part[] = {random.unit() - 0.5f, random.unit() - 0.5f, random.unit() - 0.5f};
    // [floating_point/order]
    return Vec3{part[0], part[1], part[2]} * (2 * size);
}

Quaternion unit(Quaternion q) {
    const float length = std::sqrt(squared_length(q));
    return {q.x / length, q.y / length, q.z / length, q.w / length};
}

Quaternion any_rotation(Random& random) {
    const Vec3 axis = any_vector(random, 1);
    return unit({axis.x, axis.y, axis.z, 0.25f + random.unit()});
}

Transform any_pose(Random& random) {
    Transform pose{any_vector(random, 9), any_rotation(random), {}};
    pose.scale = any_vector(random, 0.4f) + Vec3{1, 1, 1};
    return pose;
}

// --- passes ----------------------------------------------------------------------------------------------------------

Vec3 pulled(const PassContext& frame, Vec3 v, Vec3 p, float mass, Vec3 wind) {
    const Vec3 pull = normalized(p) * (-9.81f / (1 + dot(p, p) * 0.01f));
    return v + (pull + cross(wind, v) * 0.05f + (wind - v) * (0.3f / mass)) * frame.dt;
}

/// Turns by a rate that itself turns and fades.
void turn(const PassContext& frame, Spin& spin) {
    const Quaternion q = spin.rotation;
    const Vec3 w = spin.rate * (0.5f * frame.dt);
    spin.rotation = unit({q.x + w.x * q.w + w.y * q.z - w.z * q.y, q.y + w.y * q.w + w.z * q.x - w.x * q.z,
                          q.z + w.z * q.w + w.x * q.y - w.y * q.x, q.w - w.x * q.x - w.y * q.y - w.z * q.z});
    spin.rate = spin.rate * 0.999f + cross(spin.rate, {0.01f, -0.02f, 0.03f});
    spin.turns += double(length(spin.rate)) * double(frame.dt) / 6.283185307179586;
}

void cool(const PassContext& frame, float& celsius, Vec2& flow, std::int16_t& level, const Charge* charge) {
    const float heating = charge != nullptr ? static_cast<float>(charge->volts) * charge->cells[1] : 0.5f;
    celsius += (heating - (celsius - 4) * 0.7f) * frame.dt;
    flow = flow * 0.98f + Vec2{celsius, -celsius} * (0.001f / (1 + length(flow)));
    level = static_cast<std::int16_t>(celsius * 100);
}

void discharge(const PassContext& frame, double& volts, std::array<float, 3>& cells) {
    volts -= volts * 0.37 * double(frame.dt);
    const auto [sine, cosine] = sine_and_cosine(volts * 40);
    cells[0] += static_cast<float>(sine), cells[1] = static_cast<float>(cosine),
                                          cells[2] = cells[0] * cells[1] + cells[2] / 3;
}

void roll(Commands& commands, Random random, Entity who, Vec3 at) {
    switch (random.below(80)) {
        case 0:
            return commands.add(commands.create(Buoy{at * 0.5f}, Heat{at.x, {at.y, at.z}, 0}),
                                Spin{any_rotation(random), at, 0});
        case 1:
            return commands.add(who, Charge{1 + double(random.unit()), {at.x, at.y, at.z}});
        case 2:
            return commands.remove<Charge>(who);
        case 3:
            return commands.add(who, Heat{at.z, {}, 0});
        case 4:
            return commands.add(who, Disabled{Charge{double(at.x), {}}});
        case 5:
            return commands.tag(who, "wet");
        case 6:
            return commands.destroy(who);
        default:
            return;
    }
}

// --- the world -------------------------------------------------------------------------------------------------------

struct Scenario {
    Scenario(Executor& on, TransformMode transform_mode)
        : world(entities, {.executor = &on, .library = &library, .seed = 7}),
          models(world.model_poses()),
          executor(on),
          mode(transform_mode) {
        world.database().component<Buoy>();
        world.database().component<Heat>();
        world.database().component<Charge>();
        world.manager<Body>(), world.manager<Spin>(), world.manager<Dent>(), world.manager<PointMass>();
        world.manager<Hunts>({.index = RowIndexKind::kHash});
        world.manager<AttachedToNode>();
        world.transforms().set_mode(mode), world.ownership(), world.activity();
        world.singleton<Weather>();
        world.position_links().follow<&Buoy::position>(Follower::kField);
        world.position_links().keep_in_tiles<&Buoy::position>(
            GridZones({.origin = {-40, -40, 0}, .tile_size = 7.3f, .num_x = 11, .num_y = 11}));
        world.observers().on_change<&Heat::level>([this](std::span<const Entity> all) { tell(all, 1); });
        world.observers().on_add<Spin>([this](std::span<const Entity> all) { tell(all, 2); });
        fill();
        add_passes();
    }

    void tell(std::span<const Entity> all, std::uint64_t what) {
        for (const Entity entity : all) told = Random(told ^ key_of(entity) ^ what << 60).next();
    }

    std::vector<Entity> create(std::uint32_t count) {
        std::vector<Entity> made(count);
        require(entities.create(made));
        return made;
    }
    void require(const Status& status) {
        if (!status) problems.append(status.message()).push_back('\n');
    }
    template <class T>
    void require(const Result<T>& result) {
        require(result.status());
    }

    void fill() {
        Random& random = world.random();
        bodies = create(kBodies);
        for (std::uint32_t i = 0; i < kBodies; ++i) {
            const float mass = 0.5f + random.unit();
            const Vec3 at = any_vector(random, 30), v = any_vector(random, 5);
            require(world.manager<Body>().add(bodies[i], {mass, at, v}));
            if (i % 2 == 0) require(world.manager<Spin>().add(bodies[i], {any_rotation(random), v, 0}));
            if (i % 3 == 0) require(world.database().add(bodies[i], Buoy{at}, Heat{mass * 30, {}, 0}));
            if (i % 5 == 0) require(world.database().add(bodies[i], Charge{double(mass), {mass, v.x, v.y}}));
        }
        place(random);
        const std::vector<Entity> masses = create(kMasses);
        for (const Entity mass : masses) {
            const Vec3 at = any_vector(random, 100), v = any_vector(random, 1);
            require(world.manager<PointMass>().add(mass, {1, at, v, {v.z, v.x, -9.81f}}));
        }
        require(world.transforms().add(std::span(masses).first(kMasses / 3)));
        add_models(random);
    }

    /// A chain, a wide family, and a forest.
    void place(Random& random) {
        std::vector<Transform> poses;
        std::vector<std::uint32_t> parents;
        for (std::uint32_t i = 0; i < kPlaced; ++i) {
            poses.push_back(any_pose(random));
            if (i < kChain) poses[i].scale = {1, 1, 1};  // it would grow beyond all bounds
            const bool is_root = i == 0 || i == kChain || (i > kChain && i % 9 == 0);
            parents.push_back(is_root ? kNilRow : i < kChain ? i - 1 : i < 400 ? kChain : random.below(i));
        }
        require(world.transforms().add(std::span(bodies).first(kPlaced), poses, parents));
    }

    void add_models(Random& random) {
        std::vector<StringId> names;
        std::vector<std::uint32_t> parents;
        std::vector<Vec3> positions, scales;
        std::vector<Quaternion> rotations;
        for (std::uint32_t node = 0; node < kNodes; ++node) {
            const Transform pose = any_pose(random);
            names.emplace_back(std::string_view(concat("node ", node)));
            parents.push_back(node == 0 ? kNilRow : node - 1 - random.below(std::min(node, 3u)));
            positions.push_back(pose.position), rotations.push_back(pose.rotation), scales.push_back(pose.scale);
        }
        const Result<NodeTreeId> made = models.add_node_tree({names, parents, positions, rotations, scales});
        require(made);
        if (made) tree = *made;
        require(models.add(std::span(bodies).first(kModels), tree));
        for (std::uint32_t i = 0; i < kModels; i += 2) {
            const Entity sword = create(1)[0];
            require(world.transforms().add({&sword, 1}, any_pose(random)));
            require(
                world.transforms().link(world.transforms().instance(sword), world.transforms().instance(bodies[i])));
            require(world.manager<AttachedToNode>().add(sword, {names[i % kNodes], any_vector(random, 1)}));
        }
    }

    void add_passes() {
        Events<Gust>& gusts = world.events<Gust>();
        Schedule& schedule = world.schedule();
        schedule.add("pull",
                     world.query<Write<&Body::velocity>, Read<&Body::position>, Read<&Body::mass>,
                                 Singleton<Read<&Weather::wind>>>(),
                     [](const PassContext& frame, Vec3& v, Vec3 p, float mass, Vec3 wind) {
                         v = pulled(frame, v, p, mass, wind);
                     });
        schedule.add("move", world.query<Write<&Body::position>, Read<&Body::velocity>>(),
                     [](const PassContext& frame, auto&& p, Vec3 v) { p += v * frame.dt; });
        schedule.add("turn", world.query<Write<all_fields<Spin>>>(), turn);
        schedule.add(
            "cool",
            world.query<Write<&Heat::celsius>, Write<&Heat::flow>, Write<&Heat::level>, Maybe<all_fields<Charge>>>(),
            cool);
        schedule.add("discharge", world.query<Write<&Charge::volts>, Write<&Charge::cells>>(), discharge);
        schedule.add("roll", world.query<Read<&Body::position>>(), {writes(gusts)},
                     [&gusts](const PassContext& frame, Commands& commands, Entity who, Vec3 at) {
                         Random random = frame.random_for(key_of(who));
                         if (random.below(40) == 0) gusts.write({key_of(who), random.unit() - 0.4f});
                         roll(commands, random, who, at);
                     });
        schedule.add("steer",
                     world.query<Write<&Transform::position>, Write<&Transform::rotation>, Read<&Spin::rotation>,
                                 Read<&Body::velocity>>(),
                     [](const PassContext& frame, Entity who, Vec3& at, Quaternion& rotation, Quaternion spin, Vec3 v) {
                         if (who.index() % 4 == frame.frame % 4) at += v * 0.01f, rotation = spin;
                     });
        schedule.add("drift",
                     world.query<Write<&Heat::flow>, Read<&WorldPose::matrix>, Parent<Read<&WorldPose::matrix>>>(),
                     [](Vec2& flow, const Matrix3x4& pose, const Matrix3x4* parent) {
                         flow.x += pose.row[0].w * 1e-4f;
                         if (parent != nullptr) flow.y += (parent->row[1].w - pose.row[1].w) * 1e-4f;
                     });
        schedule
            .add("blow", world.query<Singleton<Write<all_fields<Weather>>>>(), {reads(gusts)},
                 [&gusts](const PassContext& frame, Weather& weather) {
                     for (const Gust& gust : gusts.read()) {
                         weather.sum += gust.force / float(1 + gust.who % 97);
                         weather.num_gusts += 1;
                     }
                     weather.wind = weather.wind * 0.99f + Vec3{weather.sum, 1, -weather.sum} * frame.dt;
                 })
            .every_seconds(0.04f);
    }

    // --- what the program does between steps -------------------------------------------------------------------------

    void step() {
        change();
        simulate(world.manager<PointMass>(), kStep, executor);
        move_transforms(world.manager<PointMass>(), world.transforms(), &executor);
        animate();
        if (mode == TransformMode::kDeferred) world.transforms().compute_moved(&executor);
        world.step(kStep);
        if (world.frame() == kFrames / 2) save_and_load();
    }

    void save_and_load() {
        Snapshot state;
        require(save(world, state));
        require(load(world, state, false));
    }

    Entity any_body() { return bodies[world.random().below(kBodies)]; }
    /// One that has a transform, or the nil instance.
    Instance any_placed() { return world.transforms().instance(bodies[world.random().below(kPlaced)]); }

    void change() {
        Random& random = world.random();
        for (int i = 0; i < 4; ++i) {
            const Entity one = any_body(), other = any_body();
            if (!entities.alive(one) || !entities.alive(other) || one == other) continue;
            static_cast<void>(world.ownership().own(one, other));  // an error if it were a circle
            require(world.manager<Hunts>().add(one, {other}));
            require(world.manager<Dent>().add(one, {std::uint32_t(world.frame()), random.unit()}));
            require(world.activity().set_active(other, random.below(3) != 0));
        }
        for (int i = 0; i < 6; ++i) {
            const Instance one = any_placed(), other = any_placed();
            move_about(random, one, other);
        }
        entities.destroy(any_body());
    }

    void move_about(Random& random, Instance one, Instance other) {
        TransformManager& transforms = world.transforms();
        if (!one || !other || one == other) return;
        const Transform pose = any_pose(random);
        switch (random.below(5)) {
            case 0:
                static_cast<void>(transforms.link(one, other, KeepPose::kWorld));  // an error if it were a circle
                break;
            case 1:
                transforms.unlink(one, KeepPose::kWorld);
                break;
            case 2:
                transforms.set_world_pose(one, local_matrix(pose.position, pose.rotation, pose.scale));
                break;
            case 3:
                transforms.set_local(one, compose(pose, transforms.local(one)));
                break;
            default:
                transforms.set_scale(one, pose.scale);
        }
    }

    /// Writes local poses of all models, and moves a node of one to a place in the world.
    void animate() {
        const NodeLocals locals = models.write_locals(tree);
        const float swing = static_cast<float>(sine_and_cosine(double(world.frame()) * 0.1).sine) * 0.05f;
        for (std::size_t i = 0; i < locals.rotations.size(); ++i) {
            const Quaternion q = locals.rotations[i];
            locals.rotations[i] = unit({q.x + swing, q.y - swing * q.x, q.z + swing * q.w, q.w});
            locals.positions[i] = locals.positions[i] * 0.999f + Vec3{swing, 0, swing * swing};
        }
        models.compute(&executor);
        const Instance first = models.instance(bodies[world.random().below(kModels)]);
        if (!first) return;
        const Transform pose = any_pose(world.random());
        models.set_node_world(first, 2, local_matrix(pose.position, pose.rotation, pose.scale));
        models.apply_constraints(&executor);
    }

    EntityManager entities{{.minimum_free_ids = 64}};
    ResourceLibrary library;
    World world;
    ModelPoseManager& models;
    Executor& executor;
    TransformMode mode;
    std::vector<Entity> bodies;
    NodeTreeId tree;
    std::uint64_t told = 0;  // to observers, mixed
    std::string problems;    // that must not be
};

// --- what came out ---------------------------------------------------------------------------------------------------

/// Entities that have a row in a table of a store, by index, without the null entity.
std::vector<Entity> entities_of(const Store& store) {
    std::vector<Entity> all;
    for (const Table* table : store.tables()) all.insert(all.end(), table->entities().begin(), table->entities().end());
    std::sort(all.begin(), all.end(), [](Entity a, Entity b) { return key_of(a) < key_of(b); });
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (!all.empty() && !all.front()) all.erase(all.begin());
    return all;
}

bool has_floats(FieldType type) {
    return type == FieldType::kFloat || (type >= FieldType::kVec2 && type <= FieldType::kMatrix3x4);
}

/// Reads the fields of components, and hashes each of them over all entities.
class FieldHashes {
public:
    void add(const Store& store, const Schema& component, const std::vector<Entity>& entities) {
        hashes_.assign(component.fields().size(), 0);
        owners_ = 0;
        for (const Entity entity : entities) {
            ComponentRow at = store.find_row(component.id(), entity, 0);
            for (std::uint32_t next = 1; at; ++next) {
                add_row(store, at, entity);
                at = component.many() ? store.find_next(at, entity, next) : ComponentRow();
            }
        }
    }
    std::uint64_t hash(std::size_t field) const { return hashes_[field]; }
    /// Of who has the component, and whether it is enabled.
    std::uint64_t owners() const { return owners_; }
    std::uint64_t num_not_finite() const { return num_not_finite_; }

private:
    void add_row(const Store& store, const ComponentRow& at, Entity entity) {
        const std::span<const Field> fields =
            at.schema->fields();  // there may be more in the row than in the component
        mix(owners_, std::uint64_t(at.is_enabled) << 63 | key_of(entity));
        for (std::size_t i = 0; i < std::min(fields.size(), hashes_.size()); ++i) {
            value_.resize(fields[i].size);
            store.read_field(at, field_part(*at.schema, fields[i]), value_.data());
            if (fields[i].type == FieldType::kEntity)
                add_entities(i);
            else
                hashes_[i] = hash_bytes(value_.data(), value_.size(), hashes_[i]);
            if (has_floats(fields[i].type)) count_floats();
        }
    }
    static void mix(std::uint64_t& hash, std::uint64_t number) { hash = hash_bytes(&number, sizeof number, hash); }
    void add_entities(std::size_t field) {
        for (std::size_t at = 0; at < value_.size(); at += sizeof(Entity)) {
            Entity entity;
            std::memcpy(&entity.id, value_.data() + at, sizeof entity.id);
            mix(hashes_[field], key_of(entity));
        }
    }
    void count_floats() {
        for (std::size_t at = 0; at + sizeof(float) <= value_.size(); at += sizeof(float)) {
            float number;
            std::memcpy(&number, value_.data() + at, sizeof number);
            num_not_finite_ += std::isfinite(number) ? 0 : 1;
        }
    }

    std::vector<std::uint64_t> hashes_;  // by field
    std::uint64_t owners_ = 0;
    std::vector<std::byte> value_;
    std::uint64_t num_not_finite_ = 0;
};

std::string hex(std::uint64_t number) {
    std::string text(16, '0');
    for (std::size_t i = 16; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
    return text;
}

std::uint64_t order_of_rows(const Table& table) {
    std::uint64_t hash = table.num_rows();
    for (const Entity entity : table.entities()) {
        const std::uint64_t key = key_of(entity);
        hash = hash_bytes(&key, sizeof key, hash);
    }
    return hash;
}

std::uint64_t hash_of_models(const Scenario& scenario) {
    const ModelPoseManager& models = scenario.models;
    std::uint64_t hash = models.num_instances();
    for (const Entity body : std::span(scenario.bodies).first(kModels)) {
        if (!models.has(body)) continue;
        const std::span<const Matrix3x4> poses = models.models(models.instance(body));
        hash = hash_bytes(poses.data(), poses.size_bytes(), hash);
    }
    return hash;
}

std::string lines_of(const Scenario& scenario, std::string_view begin) {
    std::string text;
    FieldHashes hashes;
    for (const Store* store : scenario.world.directory().stores()) {
        const std::vector<Entity> entities = entities_of(*store);
        std::vector<const Schema*> components(store->schemas().begin(), store->schemas().end());
        components.insert(components.end(), store->shown_schemas().begin(), store->shown_schemas().end());
        for (const Schema* component : components) {
            hashes.add(*store, *component, entities);
            for (std::size_t i = 0; i < component->fields().size(); ++i)
                text +=
                    concat(begin, component->name(), '.', component->fields()[i].name, ' ', hex(hashes.hash(i)), '\n');
            text += concat(begin, component->name(), " entities ", hex(hashes.owners()), '\n');
        }
        std::uint64_t order = 0;
        for (const Table* table : store->tables()) order ^= Random(order ^ order_of_rows(*table)).next();
        text += concat(begin, components.front()->name(), " rows ", hex(order), '\n');
    }
    text += concat(begin, "node_pose.model ", hex(hash_of_models(scenario)), '\n');
    const SettleCounts counts = scenario.world.settle_statistics().total;
    text += concat(begin, "told ", hex(scenario.told), '\n');
    text += concat(begin, "numbers that are not finite ", hashes.num_not_finite(), '\n');
    text += concat(begin, "created ", counts.num_created, ", destroyed ", counts.num_destroyed, ", moved ",
                   counts.num_moved, ", dropped ", counts.num_dropped, ", removed ", counts.num_removed, '\n');
    return text;
}

}  // namespace

std::string run_scenario(Executor& executor, TransformMode mode) {
    Scenario scenario(executor, mode);
    std::string text;
    for (int frame = 1; frame <= kFrames; ++frame) {
        scenario.step();
        if (frame % kFramesBetweenLines == 0)
            text +=
                lines_of(scenario, concat(mode == TransformMode::kImmediate ? "immediate " : "deferred ", frame, ' '));
    }
    return text + scenario.problems;
}

}  // namespace shoal_test
