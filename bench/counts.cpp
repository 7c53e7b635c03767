// A fixed set of hot calls. `./dev bench --counts` counts their instructions with callgrind. Instruction counts ignore
// caches, but do not depend on the load of the machine, so they reveal calls that do more work than before.
//
//     ids_create_one 1000      a line of output: a call, and its number of operations
//
// Callgrind dumps one count per call. Each call first runs once uncounted, so that its pages and archetypes exist.

#include "marks.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#if SHOAL_HAS_VALGRIND
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name)
#endif

namespace shoal_counts {

using namespace shoal;
using shoal_bench::kNumMarks;
using shoal_bench::Mark;

struct Position {
    Vec3 position;
};
SHOAL_COMPONENT(Position, position)
struct Motion {
    Vec3 velocity;
};
SHOAL_COMPONENT(Motion, velocity)
struct Heat {
    float value = 0;
};
SHOAL_COMPONENT(Heat, value)
struct Awake {};
SHOAL_COMPONENT((Awake, enableable))

constexpr std::size_t kNumCalls = 1000;  ///< calls per count, or rows per loop
constexpr std::size_t kNumMany = 10'000;
constexpr float kDt = 1.0f / 64;

void need(bool ok) {
    if (ok) return;
    std::fputs("shoal_counts: a call failed\n", stderr);
    std::exit(1);
}

/// Keeps the compiler from removing unused results.
template <class T>
void keep(const T& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

struct Ids {
    EntityManager entities;
    std::vector<Entity> some = std::vector<Entity>(kNumCalls), many = std::vector<Entity>(kNumMany);

    void ids_create_one() {
        for (Entity& entity : some) need(entities.create({&entity, 1}).ok());
    }
    void ids_alive() {
        std::size_t num_alive = 0;
        for (const Entity entity : some) num_alive += entities.alive(entity);
        keep(num_alive);
    }
    void ids_destroy_one() {
        for (const Entity& entity : some) need(entities.destroy({&entity, 1}) == 1);
    }
    void ids_create_span() { need(entities.create(many).ok()); }
    void ids_destroy_span() { need(entities.destroy(many) == many.size()); }
};

struct Managers {
    EntityManager entities;
    PagePool pool;
    Manager<Position> places{entities, pool};
    Manager<Motion> motions{entities, pool};
    std::vector<Entity> ids = std::vector<Entity>(kNumMany);
    std::span<const Entity> some = std::span(ids).first(kNumCalls);
    decltype(query<Write<&Position::position>>(places)) all = query<Write<&Position::position>>(places);
    decltype(query<Write<&Position::position>, Maybe<&Motion::velocity>>(places, motions)) gathered =
        query<Write<&Position::position>, Maybe<&Motion::velocity>>(places, motions);

    Managers() { need(entities.create(ids).ok()); }

    void manager_add_one() {
        for (const Entity entity : some) need(places.add(entity, {{1, 2, 3}}).ok());
    }
    void manager_get_one() {
        float sum = 0;
        for (const Entity entity : some) sum += places.get<&Position::position>(places.instance(entity)).x;
        keep(sum);
    }
    void manager_set_one() {
        for (const Entity entity : some) places.set<&Position::position>(places.instance(entity), {1, 2, 3});
    }
    void manager_remove_one() {
        for (const Entity entity : some) need(places.remove(entity));
    }
    void manager_query() {
        all.for_each([](auto&& p) { p += Vec3{1, 1, 1} * kDt; });
    }
    void manager_query_make() {
        std::uint64_t num_rows = 0;
        for (std::size_t i = 0; i < kNumCalls; ++i)
            num_rows += query<Write<&Position::position>, Read<&Motion::velocity>>(places, motions).num_rows();
        keep(num_rows);
    }
    void manager_query_gather() {
        gathered.for_each([](auto&& p, const Vec3* v) {
            if (v != nullptr) p += *v * kDt;
        });
    }
    void manager_add_span() { need(places.add(ids, Position{{1, 2, 3}}).ok()); }
    void manager_remove_span() { places.remove(ids); }
};

/// A manager with the row index `kKind`. Rows are removed in a different order than they were added.
template <RowIndexKind kKind>
struct Indexed {
    EntityManager entities;
    PagePool pool;
    Manager<Position> places{entities, pool, {.index = kKind}};
    std::vector<Entity> ids = std::vector<Entity>(kNumMany), shuffled;

    Indexed() : shuffled(kNumMany) {
        need(entities.create(ids).ok());
        for (std::size_t i = 0; i < kNumMany; ++i) shuffled[i] = ids[i * 7 % kNumMany];
    }

    void add_one() {
        for (const Entity entity : ids) need(places.add(entity, {{1, 2, 3}}).ok());
    }
    void get_one() {
        float sum = 0;
        for (const Entity entity : shuffled) sum += places.get<&Position::position>(places.instance(entity)).x;
        keep(sum);
    }
    void remove_one() {
        for (const Entity entity : shuffled) need(places.remove(entity));
    }
    void add_span() { need(places.add(ids, Position{{1, 2, 3}}).ok()); }
    void remove_span() { places.remove(shuffled); }
};

template <int kNumber>
void create_marked(Database& database) {
    std::vector<Entity> ids(kNumCalls / kNumMarks);
    need(database.create<Heat, Mark<kNumber>>(ids, 0, {float(kNumber)}, {}).ok());
}

struct Databases {
    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    Database marked{entities, pool};
    std::vector<Entity> ids = std::vector<Entity>(kNumCalls), many = std::vector<Entity>(kNumMany), shuffled = many;
    decltype(query<Write<&Position::position>, Read<&Motion::velocity>>(database)) moving =
        query<Write<&Position::position>, Read<&Motion::velocity>>(database);
    decltype(query<Write<&Position::position>, Read<&Motion::velocity>, With<Awake>>(database)) awake =
        query<Write<&Position::position>, Read<&Motion::velocity>, With<Awake>>(database);
    decltype(query<Write<&Heat::value>>(marked)) hot = query<Write<&Heat::value>>(marked);

    Databases() {
        [&]<int... kNumbers>(std::integer_sequence<int, kNumbers...>) {
            (create_marked<kNumbers>(marked), ...);
        }(std::make_integer_sequence<int, kNumMarks>());
    }

    void database_create_one() {
        for (Entity& entity : ids) need(database.create<Position, Motion>({&entity, 1}, 0, Position{}, Motion{}).ok());
    }
    void database_add_one() {
        for (const Entity entity : ids) need(database.add(entity, Heat{1}).ok());
    }
    void database_get_one() {
        float sum = 0;
        for (const Entity entity : ids) sum += database.get<&Position::position>(database.find(entity)).x;
        keep(sum);
    }
    void database_set_one() {
        for (const Entity entity : ids) database.set<&Position::position>(database.find(entity), {1, 2, 3});
    }
    void database_remove_one() {
        for (const Entity entity : ids) need(database.remove<Heat>(entity).ok());
    }
    void database_move_one() {
        for (const Entity entity : ids) need(database.move(entity, 1).ok());
    }
    void database_move_back() { need(database.move(ids, 0).ok()); }
    void database_enable() {
        for (const Entity entity : ids) need(database.add(entity, Awake{}).ok());
    }
    void database_disable() {
        for (const Entity entity : ids) need(database.remove<Awake>(entity).ok());
    }
    void database_query() {
        moving.for_each([](auto&& p, Vec3 v) { p += v * kDt; });
    }
    void database_query_enableable() {
        awake.for_each([](auto&& p, Vec3 v) { p += v * kDt; });
    }
    void database_query_26_tables() {
        hot.for_each([](float& value) { value += 1; });
    }
    void database_destroy_one() {
        for (const Entity& entity : ids) database.destroy({&entity, 1});
    }
    void database_create_span() { need(database.create<Position, Motion>(many, 0, Position{}, Motion{}).ok()); }
    void database_add_span() { need(database.add(std::span<const Entity>(many), Heat{1}).ok()); }
    void database_remove_span() { need(database.remove<Heat>(many).ok()); }
    void database_destroy_span() { database.destroy(many); }
    void database_create_shuffled() {
        database_create_span();
        for (std::size_t i = 0; i < kNumMany; ++i) shuffled[i] = many[i * 7 % kNumMany];
    }
    void database_destroy_shuffled() { database.destroy(shuffled); }
    void database_create_again() { database_create_span(); }
    void database_clear_zone() { database.clear_zone(0); }
};

struct Asked {
    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    std::vector<Entity> ids = std::vector<Entity>(kNumCalls);
    decltype(query<Read<&Position::position>>(database)) all = query<Read<&Position::position>>(database);

    Asked() { need(database.create<Position, Motion>(ids, 0, Position{}, Motion{}).ok()); }

    // Recording commands, and the settle that executes them.
    void commands_add() {
        all.for_each([](Commands& commands, Entity entity, const Vec3&) { commands.add(entity, Heat{1}); });
        database.settle({});
    }
    void commands_remove() {
        all.for_each([](Commands& commands, Entity entity, const Vec3&) { commands.remove<Heat>(entity); });
        database.settle({});
    }
    void commands_destroy_and_create() {
        all.for_each([](Commands& commands, Entity entity, const Vec3&) {
            commands.destroy(entity);
            commands.create(0, Position{}, Motion{});
        });
        database.settle({});
    }
};

struct Poses {
    EntityManager entities;
    PagePool pool;
    TransformManager transforms;
    std::vector<Entity> ids = std::vector<Entity>(kNumMany);

    explicit Poses(TransformMode mode) : transforms(entities, pool, {.mode = mode}) {
        need(entities.create(ids).ok());
        std::vector<std::uint32_t> parents(ids.size());
        for (std::uint32_t i = 0; i < ids.size(); ++i) parents[i] = i % 5 == 0 ? kNilRow : i - 1;
        need(transforms.add(ids, std::vector<Transform>(ids.size()), parents).ok());
        if (mode == TransformMode::kDeferred) transforms.compute_moved();
    }

    void move_some() {
        for (std::size_t i = 0; i < kNumCalls; ++i)
            transforms.set_local(transforms.instance(ids[5 * i]), {.position = {1, 2, 3}});
    }
    void transform_set_local() { move_some(); }
    void transform_set_local_deferred() { move_some(); }
    void transform_compute_moved() { transforms.compute_moved(); }
};

std::vector<std::byte> make_level() {
    BlobWriter writer;
    writer.set_name("counts/level");
    const std::uint32_t place = *writer.add_component_type(schema_of<Position>(), 0);
    const std::uint32_t heat = *writer.add_component_type(schema_of<Heat>(), 1);
    for (std::uint32_t i = 0; i < kNumCalls; ++i) {
        writer.add_entity({});
        const Position value = {{float(i), 0, 0}};
        const Heat warm = {1};
        writer.add_component(place, i, std::as_bytes(std::span(&value, 1)));
        if (i % 2 == 0) writer.add_component(heat, i, std::as_bytes(std::span(&warm, 1)));
    }
    return *writer.write();
}

struct Spawning {
    EntityManager entities;
    World world{entities};
    std::vector<std::byte> bytes = make_level();
    Result<Blob> level = Blob::load(bytes);

    Spawning() {
        need(level.ok());
        world.manager<Position>();
        world.manager<Heat>();
    }

    void blob_load() { need(Blob::load(bytes).ok()); }
    void world_spawn() { need(world.spawn(*level).ok()); }
    void world_settle() { world.settle(); }
};

template <class Group>
struct Call {
    const char* name;
    void (Group::*function)();
    std::size_t num_operations;
};
#define SHOAL_CALL(group, function, num_operations) \
    Call<group> { #function, &group::function, num_operations }

/// Runs all calls in order, first uncounted and then counted.
template <class Group>
void run(Group& group, std::initializer_list<Call<Group>> calls) {
    for (const Call<Group>& call : calls) (group.*call.function)();
    for (const Call<Group>& call : calls) {
        CALLGRIND_ZERO_STATS;
        (group.*call.function)();
        CALLGRIND_DUMP_STATS_AT(call.name);
        std::printf("%s %zu\n", call.name, call.num_operations);
    }
}

template <RowIndexKind kKind>
void count_indexed(std::initializer_list<const char*> names) {
    using Group = Indexed<kKind>;
    Group indexed;
    const char* const* const name = names.begin();
    run(indexed, {Call<Group>{name[0], &Group::add_one, kNumMany}, Call<Group>{name[1], &Group::get_one, kNumMany},
                  Call<Group>{name[2], &Group::remove_one, kNumMany}, Call<Group>{name[3], &Group::add_span, kNumMany},
                  Call<Group>{name[4], &Group::remove_span, kNumMany}});
}

void count_stores() {
    Ids ids;
    run(ids, {SHOAL_CALL(Ids, ids_create_one, kNumCalls), SHOAL_CALL(Ids, ids_alive, kNumCalls),
              SHOAL_CALL(Ids, ids_destroy_one, kNumCalls), SHOAL_CALL(Ids, ids_create_span, kNumMany),
              SHOAL_CALL(Ids, ids_destroy_span, kNumMany)});
    Managers managers;
    need(managers.motions.add(managers.some, Motion{{1, 2, 3}}).ok());
    run(managers,
        {SHOAL_CALL(Managers, manager_add_one, kNumCalls), SHOAL_CALL(Managers, manager_get_one, kNumCalls),
         SHOAL_CALL(Managers, manager_set_one, kNumCalls), SHOAL_CALL(Managers, manager_query, kNumCalls),
         SHOAL_CALL(Managers, manager_query_make, kNumCalls), SHOAL_CALL(Managers, manager_query_gather, kNumCalls),
         SHOAL_CALL(Managers, manager_remove_one, kNumCalls), SHOAL_CALL(Managers, manager_add_span, kNumMany),
         SHOAL_CALL(Managers, manager_remove_span, kNumMany)});
    count_indexed<RowIndexKind::kHash>(
        {"hash_add_one", "hash_get_one", "hash_remove_one", "hash_add_span", "hash_remove_span"});
    count_indexed<RowIndexKind::kIdentity>(
        {"identity_add_one", "identity_get_one", "identity_remove_one", "identity_add_span", "identity_remove_span"});
}

void count_databases() {
    Databases databases;
    run(databases, {SHOAL_CALL(Databases, database_create_one, kNumCalls),
                    SHOAL_CALL(Databases, database_add_one, kNumCalls),
                    SHOAL_CALL(Databases, database_get_one, kNumCalls),
                    SHOAL_CALL(Databases, database_set_one, kNumCalls),
                    SHOAL_CALL(Databases, database_remove_one, kNumCalls),
                    SHOAL_CALL(Databases, database_move_one, kNumCalls),
                    SHOAL_CALL(Databases, database_move_back, kNumCalls),
                    SHOAL_CALL(Databases, database_enable, kNumCalls),
                    SHOAL_CALL(Databases, database_query, kNumCalls),
                    SHOAL_CALL(Databases, database_query_enableable, kNumCalls),
                    SHOAL_CALL(Databases, database_disable, kNumCalls),
                    SHOAL_CALL(Databases, database_query_26_tables, kNumCalls / kNumMarks * kNumMarks),
                    SHOAL_CALL(Databases, database_destroy_one, kNumCalls),
                    SHOAL_CALL(Databases, database_create_span, kNumMany),
                    SHOAL_CALL(Databases, database_add_span, kNumMany),
                    SHOAL_CALL(Databases, database_remove_span, kNumMany),
                    SHOAL_CALL(Databases, database_destroy_span, kNumMany),
                    SHOAL_CALL(Databases, database_create_shuffled, kNumMany),
                    SHOAL_CALL(Databases, database_destroy_shuffled, kNumMany),
                    SHOAL_CALL(Databases, database_create_again, kNumMany),
                    SHOAL_CALL(Databases, database_clear_zone, kNumMany)});
}

void count_frames() {
    Asked asked;
    run(asked, {SHOAL_CALL(Asked, commands_add, kNumCalls), SHOAL_CALL(Asked, commands_remove, kNumCalls),
                SHOAL_CALL(Asked, commands_destroy_and_create, kNumCalls)});
    Poses immediate(TransformMode::kImmediate), deferred(TransformMode::kDeferred);
    run(immediate, {SHOAL_CALL(Poses, transform_set_local, kNumCalls)});
    run(deferred, {SHOAL_CALL(Poses, transform_set_local_deferred, kNumCalls),
                   SHOAL_CALL(Poses, transform_compute_moved, kNumCalls)});
    Spawning spawning;
    run(spawning, {SHOAL_CALL(Spawning, blob_load, kNumCalls), SHOAL_CALL(Spawning, world_spawn, kNumCalls),
                   SHOAL_CALL(Spawning, world_settle, 1)});
}

}  // namespace shoal_counts

int main() {
    shoal_counts::count_stores();
    shoal_counts::count_databases();
    shoal_counts::count_frames();
    return 0;
}
