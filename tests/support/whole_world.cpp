#include "support/whole_world.h"

#include "shoal/react/observers.h"
#include "shoal/save/save.h"

namespace shoal_test {

Sea::Sea(Executor* executor, std::uint64_t seed, bool reloadable)
    : world(entities, {.executor = executor, .seed = seed}), sea(world.database()) {
    if (reloadable) reloader.emplace(world);
    sea.component<Spot>(), sea.component<Hungry>(), sea.component<Egg>(), sea.component<Plankton>();
    world.manager<Fin>(), world.manager<Scar>();
    world.manager<Age>({.index = RowIndexKind::kHash, .death = DeathPolicy::kRandomProbe});
    world.manager<Hunts>({.death = DeathPolicy::kByCallback});
    world.transforms({.mode = TransformMode::kDeferred});
    world.ownership(), world.activity(), world.properties(), world.manager<Tag>(), world.manager<DebugName>();
    world.singleton<Current>();
    world.observers().keep_journal(1000);
    world.observers().on_add<Fin>([this](std::span<const Entity> all) { told += "+" + std::to_string(all.size()); });
    world.observers().on_remove<Spot>([this](std::span<const Entity> all, std::span<const Spot> before) {
        for (std::size_t i = 0; i < all.size(); ++i) told += "-" + std::to_string(before[i].position.x);
    });
    world.observers().on_change<&Fin::drag>([this](std::span<const Entity> all) {
        told += "~" + std::to_string(all.size());
        sea.commands().add(all[0], Spot{{float(all.size()), 3, 0}});  // waits for the next settle
    });
    callback = entities.add_destruction_callback(
        [](void* self, std::span<const Entity> dead) { static_cast<Sea*>(self)->mourn(dead); }, this);
    add_passes();
}

void Sea::mourn(std::span<const Entity> dead) {
    if (!mourns) return;
    for (const Entity entity : dead)
        if (entity.index() % 8 == 3) sea.commands().create(Spot{{float(entity.index()), 2, 0}}, Scar{7});
}

void Sea::add_passes() {
    auto& bites = world.events<Bite>();
    Schedule& schedule = world.schedule();
    schedule.add("swim", world.query<Write<&Fin::velocity>, Read<&Fin::drag>>(),
                 [](const PassContext& frame, Entity who, auto&& v, float drag) {
                     Random random = frame.random_for(who);
                     v.x += (random.unit() - 0.5f) * frame.dt - drag * v.x;
                 });
    schedule
        .add("tire", world.query<Write<&Fin::drag>>(),
             [](const PassContext& frame, Entity who, auto&& drag) {
                 if (frame.random_for(who).below(20) == 0) drag += 0.25f;
             })
        .every_frames(3);
    schedule
        .add("bite", world.query<Read<&Spot::position>>(), {writes(bites)},
             [&bites](const PassContext& frame, Commands& commands, Entity who, Vec3 at) {
                 Random random = frame.random_for(who);
                 const std::uint32_t dice = random.below(60);
                 if (dice == 0) bites.write({who, random.below(9)});
                 if (dice == 1) commands.add(who, Hungry{at.x});
                 if (dice == 2) commands.remove<Hungry>(who);
                 if (dice == 3) commands.move(who, Zone(random.below(5)));
                 if (dice == 4) commands.add(who, Egg{std::uint16_t(random.below(100))});
                 if (dice == 5) commands.add(who, Plankton{random.next(), Kind(random.below(2)), random.below(2) == 0});
                 if (dice == 6) commands.remove<Plankton>(who);
                 if (dice == 7) commands.add(commands.create(Spot{{at.x + 1, 0, 0}}), Fin{});
                 if (dice == 8) commands.tag(who, "shy");
             })
        .every_frames(2);
    schedule.add("count", world.query<Singleton<Write<&Current::turns>>>(), {reads(bites)},
                 [&bites](auto&& turns) { turns += bites.read().size() + 100 * bites.read_last().size(); });
    schedule.add("late", {writes_everything()}, [this](PassContext&) { late += 1; }).every_seconds(0.05f);
}

Entity Sea::any(Random& random) {
    const auto ids = entities.num_indices_used();
    if (ids == 0) return {};
    const std::uint32_t index = 1 + random.below(static_cast<std::uint32_t>(ids));
    for (std::uint32_t generation = 1; generation < 200; ++generation)
        if (const Entity entity = make_entity(index, Generation(generation)); entities.alive(entity)) return entity;
    return {};
}

void Sea::meddle() {
    Random& random = world.random();
    for (int i = 0; i < 12; ++i) {
        const Entity made = *entities.create();
        static_cast<void>(sea.insert(made, random.below(4), Spot{{random.unit() * 50, 0, 0}}, Hungry{1}));
        if (i % 2 == 0) static_cast<void>(world.manager<Fin>().add(made, {{1, 2, 3}, random.unit()}));
        if (i % 3 == 0) static_cast<void>(world.manager<Age>().add(made, {7}));
        if (i % 3 == 1) static_cast<void>(world.transforms().add({&made, 1}, {{random.unit(), 1, 2}}));
    }
    for (int i = 0; i < 40; ++i) change(random, any(random), any(random));
    ask(random.below(60));
}

void Sea::ask(std::uint32_t count) {
    Random& random = world.random();
    Entity asked;  // the last that was asked for
    for (std::uint32_t i = 0; i < count; ++i) ask(random, any(random), any(random), asked);
}

void Sea::ask(Random& random, Entity a, Entity b, Entity& asked) {
    if (!a || !b || a == world.directory().singletons().entity() || b == world.directory().singletons().entity())
        return;
    Commands& commands = world.commands();
    const Hungry hungry{random.unit()};
    switch (random.below(18)) {
        case 0:
            return commands.destroy(random.below(3) == 0 ? asked : a);
        case 1:
            return commands.move(a, random.below(5));
        case 2:
            return commands.add(a, Disabled{hungry}, Plankton{random.next(), Kind::kAnimal, true});
        case 3:
            return commands.add(a, hungry);
        case 4:
            return commands.remove<Plankton, Fin>(a);
        case 5:
            return commands.add(a, Egg{std::uint16_t(random.below(9))});
        case 6:
            return static_cast<void>(asked = commands.create(Zone(random.below(4)), Spot{{1, 2, 3}}, Disabled{hungry}));
        case 7:
            return static_cast<void>(asked = commands.create(Fin{{1, 2, 3}, 4}, Hunts{asked}));
        case 8:
            return commands.add(a, Hunts{asked}, Scar{random.below(5)});
        case 9:
            return commands.name(asked, "fish " + std::to_string(random.below(30)));
        case 10:
            return commands.tag(a, "hungry");
        case 11:
            return commands.untag(a, "hungry");
        case 12:
            if (entities.num_alive() < 1500) asked = commands.copy(a, {.position = {1, random.unit(), 2}});
            return;
        case 13:
            return commands.add(a, Transform{.position = {random.unit(), 1, 1}});
        case 14:
            return commands.add(asked, Owned{a});
        case 15:
            if (a != b && world.transforms().has(a) && world.transforms().has(b)) commands.add(a, ChildOf{b});
            return;
        case 16:
            return static_cast<void>(asked = commands.create(sea, sea.archetype<Spot, Plankton>(), random.below(3)));
        default:
            return commands.add(a, world.manager<Age>().core().schema(), nullptr);
    }
}

void Sea::change(Random& random, Entity a, Entity b) {
    if (!a || !b || a == world.directory().singletons().entity() || b == world.directory().singletons().entity())
        return;
    switch (random.below(14)) {
        case 0:
        case 1:
            entities.destroy(a);
            break;
        case 2:
            static_cast<void>(world.manager<Scar>().add(a, {random.below(100)}));
            break;
        case 3:
            static_cast<void>(world.ownership().own(a, b));
            break;
        case 4:
            if (world.transforms().has(a) && world.transforms().has(b))
                static_cast<void>(
                    world.transforms().link(world.transforms().instance(a), world.transforms().instance(b)));
            break;
        case 5:
            static_cast<void>(world.transforms().add({&a, 1}, {{random.unit(), 0, 0}}));
            break;
        case 6:
            if (world.transforms().has(a))
                world.transforms().set_position(world.transforms().instance(a), {1, random.unit(), 2});
            break;
        case 7:
            static_cast<void>(world.properties().set(a, PropertyPath("armor.front"), random.unit()));
            break;
        case 8:
            static_cast<void>(world.activity().set_active(a, random.below(2) == 0));
            break;
        case 9:
            static_cast<void>(world.manager<Hunts>().add(a, {b}));
            break;
        case 10:
            static_cast<void>(world.manager<Age>().add(a, {random.below(9)}));
            break;
        case 11:
            world.manager<Fin>().remove(std::span<const Entity>(&a, 1));
            break;
        case 12:
            world.events<Bite>().write({a, 1});
            break;
        default:
            static_cast<void>(sea.add(a, Spot{{random.unit(), 1, 1}}));
    }
}

void Sea::run(int frames) {
    for (int i = 0; i < frames; ++i) {
        meddle();
        const bool is_deferred = world.transforms().mode() == TransformMode::kDeferred;  // a save may say otherwise
        if (is_deferred && world.frame() % 2 == 0) world.transforms().compute_moved();
        world.step(1.0f / 60);
    }
}

Status Sea::validate() {
    for (const Status& status : {sea.validate(), world.transforms().validate(), world.ownership().validate(),
                                 world.activity().validate(), world.properties().validate(),
                                 world.manager<Scar>().core().validate(), world.manager<Age>().core().validate()})
        if (!status) return status;
    return {};
}

Snapshot damaged_copy(const Snapshot& from, Random& random, std::string chosen) {
    if (chosen.empty()) chosen = from.part(random.below(static_cast<std::uint32_t>(from.num_parts()))).path;
    return with_parts(from, [&](ChangedPart& part) {
        if (part.path != chosen || part.bytes.empty()) return true;
        const std::uint32_t kind = random.below(4);
        if (kind == 0) part.bytes.resize(part.bytes.size() - part.element_bytes);
        for (std::uint32_t n = 0; kind >= 2 && n < 1 + random.below(4); ++n) {
            std::byte& byte = part.bytes[random.below(static_cast<std::uint32_t>(part.bytes.size()))];
            byte = kind == 2 ? byte ^ std::byte(1 << random.below(8)) : std::byte(random.below(256));
        }
        return kind != 1;
    });
}

std::string text_of(const World& world, Entity entity, const std::map<Entity, int>* numbers) {
    std::string text;
    for (const Store* store : world.directory().stores())
        for (const Schema* component : store->schemas()) {
            ComponentRow at = store->find_row(component->id(), entity, 0);
            for (std::uint32_t next = 1; at; ++next) {
                text += component->name() + (at.is_enabled ? " {" : " disabled {");
                for (const Field& field : component->fields()) {
                    std::vector<std::byte> bytes(field.size);
                    read_part(*at.table, at.first_column, at.row, field_part(*component, field), bytes.data());
                    for (std::size_t i = 0; numbers != nullptr && field.type == FieldType::kEntity && i < bytes.size();
                         i += sizeof(Entity)) {
                        Entity value;
                        std::memcpy(static_cast<void*>(&value), bytes.data() + i, sizeof value);
                        const auto found = numbers->find(value);
                        value = found == numbers->end() ? Entity() : make_entity(std::uint32_t(found->second + 1), 1);
                        std::memcpy(bytes.data() + i, &value, sizeof value);
                    }
                    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()).push_back(' ');
                }
                text += "}\n";
                at = component->many() ? store->find_next(at, entity, next) : ComponentRow();
            }
        }
    return text;
}

std::string bytes_of(const Snapshot& state, const SnapshotPart& part) {
    std::string bytes(static_cast<std::size_t>(part.num_bytes()), '\0');
    state.copy(part, 0, part.num_elements, bytes.data());
    return bytes;
}

std::string difference(const Snapshot& a, const Snapshot& b) {
    return difference(a, b, [](const Snapshot&, const SnapshotPart&) { return false; });
}

std::string bytes_of(const World& world) {
    Snapshot state;
    if (const Status status = save(world, state); !status) return std::string(status.message());
    std::string bytes;
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        const SnapshotPart part = state.part(i);
        bytes += std::string(part.path) + ' ' + std::to_string(part.num_elements) + '\n' + bytes_of(state, part);
    }
    return bytes;
}

}  // namespace shoal_test
