// Queries that are kept, and so remember what related entities the rows named and where these were, against a model,
// while anything changes between their loops, and while some loops visit only a part of the rows.

#include "shoal/save/frames.h"
#include "shoal/world/world.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

// Named, because g++ gives queries over members of types in an unnamed namespace a name that other sources may give theirs.
namespace recent_links_test {
namespace {

using namespace shoal;
using namespace shoal_test;

struct Shell {
    int size = 1;
    Entity target;
};
SHOAL_COMPONENT(Shell, size, (target, relation))
struct Wing {
    Entity leader;
    float reach = 0;
};
SHOAL_COMPONENT((Wing, whole), (leader, relation), reach)
struct Port {
    int depth = 0;
};
SHOAL_COMPONENT(Port, depth)
struct Crane {
    int tons = 0;
};
SHOAL_COMPONENT((Crane, enableable), tons)

constexpr Zone kNumZones = 3;

/// What is true of an entity.
struct Known {
    Zone zone = 0;
    bool has_shell = false, has_wing = false, has_port = false, has_crane = false, is_crane_enabled = false;
    Entity target, leader;
    int depth = 0, tons = 0;
};
using Model = std::map<Entity, Known>;

using Aimed =
    decltype(std::declval<World&>()
                 .query<Read<&Shell::size>, Related<&Shell::target, Read<&Port::depth>>,
                        Related<&Wing::leader, Read<&Port::depth>>, Related<&Wing::leader, Read<&Crane::tons>>>());

/// Shells and wings name ports. Each component type is in the database or in a manager.
class RecentLinks : public ::testing::TestWithParam<unsigned> {
protected:
    RecentLinks() {
        if (GetParam() & 1) world.manager<Port>();
        if (GetParam() & 2) world.manager<Shell>();
        if (GetParam() & 4) world.manager<Wing>();
        Database& database = world.database();
        database.component<Crane>();
        if (!(GetParam() & 1)) database.component<Port>();
        if (!(GetParam() & 2)) database.component<Shell>();
        if (!(GetParam() & 4)) database.component<Wing>();
        make(60, true);
        make(900, false);
        all.emplace(world
                        .query<Read<&Shell::size>, Related<&Shell::target, Read<&Port::depth>>,
                               Related<&Wing::leader, Read<&Port::depth>>, Related<&Wing::leader, Read<&Crane::tons>>>()
                        .grain(64));
        in_zone.emplace(all->in(zones));
    }

    Entity any_of(const std::vector<Entity>& from) { return from[random.below(from.size())]; }
    /// A port in most cases, else any entity or none.
    Entity any_named() {
        const auto kind = random.below(400);
        return kind == 0 ? Entity() : kind == 1 ? any_of(shells) : any_of(ports);
    }
    void make(std::size_t count, bool are_ports) {
        std::vector<Entity> made(count);
        ASSERT_TRUE(entities.create(made));
        for (const Entity entity : made) {
            Known& known = model[entity];
            known.zone = are_ports ? 0 : static_cast<Zone>(random.below(kNumZones));
            ASSERT_TRUE(world.database().insert(
                std::span(&entity, 1), world.database().archetype(std::span<const ComponentType>()), known.zone));
            (are_ports ? ports : shells).push_back(entity);
            are_ports ? give_port(entity) : give_shell(entity);
            if (!are_ports && random.below(30) != 0) give_wing(entity);
        }
        world.settle();
    }
    void give_shell(Entity entity) {
        Known& known = model[entity];
        known.has_shell = true, known.target = any_named();
        world.commands().add(entity, Shell{1, known.target});
    }
    void give_wing(Entity entity) {
        Known& known = model[entity];
        known.has_wing = true, known.leader = any_named();
        world.commands().add(entity, Wing{known.leader, 1});
    }
    void give_port(Entity entity) {
        Known& known = model[entity];
        known.has_port = true, known.depth = static_cast<int>(random.below(1000));
        world.commands().add(entity, Port{known.depth});
    }
    void replace(std::vector<Entity>& list) {
        Entity& entity = list[random.below(list.size())];
        world.commands().destroy(entity);
        model.erase(entity);
        world.settle();
        make(1, &list == &ports);
        entity = list.back(), list.pop_back();
    }
    void change_port() {
        const Entity port = any_of(ports);
        Known& known = model[port];
        switch (random.below(6)) {
            case 0:
                return replace(ports);
            case 1:
                world.commands().remove<Port>(port);
                known.has_port = false;
                return;
            case 2:
                return give_port(port);
            case 3:
                known.tons = static_cast<int>(random.below(1000));
                known.has_crane = true, known.is_crane_enabled = random.below(2) != 0;
                if (known.is_crane_enabled) return static_cast<void>(world.commands().add(port, Crane{known.tons}));
                return static_cast<void>(world.commands().add(port, Disabled{Crane{known.tons}}));
            case 4:
                world.commands().remove<Crane>(port);
                known.is_crane_enabled = false;
                return;
            default:
                known.zone = static_cast<Zone>(random.below(20) == 0 ? random.below(kNumZones) : 0);
                return static_cast<void>(world.commands().move(port, known.zone));
        }
    }
    void change_shell() {
        const Entity shell = any_of(shells);
        Known& known = model[shell];
        switch (random.below(10)) {
            case 0:
                return replace(shells);
            case 1:
                world.commands().remove<Wing>(shell);
                known.has_wing = false;
                return;
            case 2:
                return give_wing(shell);
            case 3:
                world.commands().remove<Shell>(shell);
                known.has_shell = false;
                return;
            case 4:
                return give_shell(shell);
            case 5:
                known.zone = static_cast<Zone>(random.below(kNumZones));
                return static_cast<void>(world.commands().move(shell, known.zone));
            case 6:
                if (!known.has_shell) return;
                world.settle();
                known.target = any_named();
                EXPECT_TRUE((world.set<&Shell::target>(shell, known.target)));
                return;
            case 7:
                if (!known.has_wing) return;
                world.settle();
                known.leader = any_named();
                EXPECT_TRUE((world.set<&Wing::leader>(shell, known.leader)));
                return;
            case 8:
                return remove_last_wing();
            default:
                return remove_several_and_add();
        }
    }
    /// Removes the last row of a manager, so that no other row moves.
    void remove_last_wing() {
        if (!(GetParam() & 4)) return;
        world.settle();
        const Entity last = world.manager<Wing>().entities().back();
        world.commands().remove<Wing>(last);
        model[last].has_wing = false;
    }
    /// Removes components of several shells, and adds them in another order, so that rows are gone and come back.
    void remove_several_and_add() {
        const std::size_t first = random.below(shells.size() - 20);
        const bool of_wings = random.below(2) != 0;
        for (std::size_t i = first; i < first + 20; ++i) {
            of_wings ? world.commands().remove<Wing>(shells[i]) : world.commands().remove<Shell>(shells[i]);
            (of_wings ? model[shells[i]].has_wing : model[shells[i]].has_shell) = false;
        }
        world.settle();
        if (random.below(2) != 0) compare_some();
        for (std::size_t i = first; i < first + 20; ++i) of_wings ? give_wing(shells[i]) : give_shell(shells[i]);
    }
    void change_some() {
        const auto count = random.below(4) == 0 ? random.below(60) : random.below(4);
        for (std::uint32_t i = 0; i < count && !HasFailure(); ++i)
            random.below(3) == 0 ? change_port() : change_shell();
        if (random.below(3) == 0) zones.set(ZoneSet{static_cast<Zone>(random.below(kNumZones))});
    }

    using Found = std::map<Entity, std::array<int, 3>>;
    int depth_of(Entity port) {
        const auto found = model.find(port);
        return found == model.end() || !found->second.has_port ? -1 : found->second.depth;
    }
    int tons_of(Entity port) {
        const auto found = model.find(port);
        return found == model.end() || !found->second.is_crane_enabled ? -1 : found->second.tons;
    }
    Found expected(bool in_zones) {
        Found result;
        for (const auto& [entity, known] : model)
            if (known.has_shell && (!in_zones || zones.now().contains(known.zone)))
                result[entity] = {depth_of(known.target), known.has_wing ? depth_of(known.leader) : -1,
                                  known.has_wing ? tons_of(known.leader) : -1};
        return result;
    }
    void compare(const Aimed& query, bool in_zones) {
        Found found;
        std::mutex mutex;
        const auto collect = [&](Entity entity, int, const int* depth, const int* of_leader, const int* tons) {
            const std::lock_guard lock(mutex);
            found[entity] = {depth ? *depth : -1, of_leader ? *of_leader : -1, tons ? *tons : -1};
        };
        if (random.below(2) != 0)
            query.for_each(collect);
        else
            query.for_each(executor, collect);
        const Found right = expected(in_zones);
        if (found == right) return;
        ADD_FAILURE() << found.size() << " entities, expected " << right.size();
        for (const auto& [entity, values] : right) EXPECT_EQ(found[entity], values);
    }
    /// Runs some of the queries, none of them in some calls.
    void compare_some() {
        if (HasFailure()) return;
        const auto which = random.below(8);
        if (which & 1) compare(*all, false);
        if (which & 2) compare(*in_zone, true);
        if (which == 7) compare(*all, false);
    }

    ThreadPoolExecutor executor{3};
    EntityManager entities;
    World world{entities, {.executor = &executor}};
    Random random{seed() + GetParam()};
    std::vector<Entity> ports, shells;
    Model model;
    LiveZones zones{ZoneSet{0}};
    std::optional<Aimed> all, in_zone;
};

TEST_P(RecentLinks, are_those_of_now_whatever_has_changed_since_the_last_loop) {
    SCOPED_TRACE(seed_text());
    struct Kept {
        Model model;
        std::vector<Entity> ports, shells;
    };
    Frames frames(world, 8);
    std::map<std::uint64_t, Kept> kept;
    kept[world.frame()] = {model, ports, shells};
    for (std::int64_t step = scaled_operations(1200); step > 0 && !HasFailure(); --step) {
        change_some();
        random.below(3) == 0 ? world.settle() : world.step(0);
        if (random.below(3) == 0) world.settle();
        if (!kept.contains(world.frame())) kept[world.frame()] = {model, ports, shells};
        if (random.below(8) == 0) {
            const std::uint64_t frame = world.frame() - random.below(frames.statistics().num_frames);
            ASSERT_TRUE(frames.rewind(frame));
            kept.erase(kept.upper_bound(frame), kept.end());
            model = kept[frame].model, ports = kept[frame].ports, shells = kept[frame].shells;
            // As many steps as were undone, or more.
            for (std::uint32_t i = random.below(10); i > 0; --i) {
                world.step(0);
                kept[world.frame()] = {model, ports, shells};
            }
        }
        compare_some();
    }
}

INSTANTIATE_TEST_SUITE_P(Stores, RecentLinks, ::testing::Range(0u, 8u));

}  // namespace
}  // namespace recent_links_test
