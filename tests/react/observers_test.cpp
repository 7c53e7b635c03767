// Observers and the journal tell how a world differs from when it settled last, whatever store keeps a component.

#include "shoal/react/observers.h"
#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/save/save.h"
#include "shoal/state/snapshot.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/changed_state.h"
#include "support/keep_in.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace shoal;

struct Lamp {
    int oil = 0;
    Vec3 at{};
};
SHOAL_COMPONENT(Lamp, oil, (at, split))
struct Wick {
    std::int8_t length = 0;
    bool burns = false;
    double heat = 0;
};
SHOAL_COMPONENT((Wick, whole), length, burns, heat)
struct Lit {
    int since = 0;
};
SHOAL_COMPONENT((Lit, enableable), since)
struct Sealed {
    float weight = 0;
    std::string letter;
};
SHOAL_COMPONENT(Sealed, weight, letter)
struct Filler {};
SHOAL_COMPONENT(Filler)

using Entities = std::vector<Entity>;

Entities sorted(std::span<const Entity> entities) {
    Entities result(entities.begin(), entities.end());
    std::sort(result.begin(), result.end(), [](Entity a, Entity b) { return a.id < b.id; });
    return result;
}

/// A lamp whose place follows from its entity.
Lamp lamp_of(Entity entity, int oil) { return {oil, {float(entity.index()), 2, 3}}; }

/// What an entity has; -1: it lacks the component.
struct Has {
    int oil = -1, length = -1, lit = -1;
};
using State = std::map<Entity, Has>;

/// A world that keeps component type `i` in its database if bit `i` is set, and otherwise in a manager.
class Lighthouse {
public:
    explicit Lighthouse(unsigned in_database) : in_database_(in_database), world(entities) {
        keep<Lamp>(0, RowIndexKind::kPaged);
        keep<Wick>(1, RowIndexKind::kIdentity);
        keep<Lit>(2, RowIndexKind::kHash);
        world.database().component<Filler>();
    }

    template <class T>
    bool is_in_database() const {
        const unsigned type = std::is_same_v<T, Lamp> ? 0 : std::is_same_v<T, Wick> ? 1 : 2;
        return (in_database_ >> type & 1) != 0;
    }
    template <class T>
    void add(Entity entity, const T& value) {
        if (is_in_database<T>())
            ASSERT_TRUE(world.database().add(entity, value));
        else
            ASSERT_TRUE(world.manager<T>().add(std::span(&entity, 1), value));
    }
    template <class T>
    void remove(Entity entity) {
        if (is_in_database<T>())
            ASSERT_TRUE(world.database().remove<T>(entity));
        else
            world.manager<T>().remove(std::span(&entity, 1));
    }
    template <auto kMember>
    int value(Entity entity) {
        const Schema& schema = schema_of<ComponentOf<kMember>>();
        const auto found = world.get<ValueOf<kMember>>(
            entity, schema.name() + '.' + schema.fields()[FieldLayout<kMember>::kIndex].name);
        return found ? int(*found) : -1;
    }
    State state() {
        State result;
        for (const Entity entity : known)
            result[entity] = {value<&Lamp::oil>(entity), value<&Wick::length>(entity), value<&Lit::since>(entity)};
        return result;
    }

private:
    template <class T>
    void keep(unsigned type, RowIndexKind index) {
        shoal_test::keep_in<T>(world, (in_database_ >> type & 1) != 0, index);
    }

    unsigned in_database_;

public:
    EntityManager entities{{.minimum_free_ids = 1}};  // so that indices are used again
    World world;
    Entities known;
};

class ObserversOfAnyStore : public ::testing::TestWithParam<unsigned> {
protected:
    Random random{shoal_test::seed()};
    Lighthouse house{GetParam()};

    static constexpr std::uint32_t kNumKinds = 16;
    void change_something(std::uint32_t kind) {
        const Entity entity = house.known[random.below(std::uint32_t(house.known.size()))];
        const int value = static_cast<int>(random.below(3));
        Commands& commands = house.world.commands();
        switch (kind) {
            case 0:
                house.known.push_back(*house.entities.create());
                return house.add(house.known.back(), lamp_of(house.known.back(), value));
            case 1:
                return commands.destroy(entity);
            case 2:
                return static_cast<void>(house.entities.destroy(entity));
            case 3:
                return commands.move(entity, random.below(3));
            case 4:
                return commands.add(entity, Filler{});
            case 5:
                return commands.remove<Filler>(entity);
            case 6:
            case 7:
                return house.add(entity, lamp_of(entity, value));
            case 8:
                return house.remove<Lamp>(entity);
            case 9:
            case 10:
                return commands.add(entity, Wick{std::int8_t(value), false, 0});
            case 11:
                return commands.remove<Wick>(entity);
            case 12:
                return house.add(entity, Lit{value});
            case 13:
                return house.remove<Lit>(entity);
            case 14:
                static_cast<void>(house.world.set(entity, "lamp.oil", AnyValue(value)));
                return;
            default:
                static_cast<void>(house.world.set(entity, "wick.length", AnyValue(std::int8_t(value))));
        }
    }
};

/// The entities whose value differs in the way that `is_told(before, now)` says.
template <class IsTold>
Entities differing(const State& before, const State& now, int Has::* member, IsTold&& is_told) {
    Entities result;
    for (const auto& [entity, has] : now) {
        const auto old = before.find(entity);
        if (is_told(old == before.end() ? -1 : old->second.*member, has.*member)) result.push_back(entity);
    }
    return sorted(result);
}
const auto kCame = [](int before, int now) { return before < 0 && now >= 0; };
const auto kWent = [](int before, int now) { return before >= 0 && now < 0; };
const auto kChanged = [](int before, int now) { return before >= 0 && now >= 0 && before != now; };

TEST_P(ObserversOfAnyStore, what_is_told_is_what_differs_from_the_settle_before) {
    SCOPED_TRACE(shoal_test::seed_text());
    std::map<std::string, Entities> told;
    std::map<std::string, int> num_calls;
    State before;
    const auto tell = [&](const std::string& what, std::span<const Entity> entities) {
        EXPECT_EQ(++num_calls[what], 1) << "once a settle";
        told[what].assign(entities.begin(), entities.end());
    };
    const auto check_values = [&](std::span<const Entity> entities, auto&& value_before, int Has::* member) {
        for (std::size_t i = 0; i < entities.size(); ++i) EXPECT_EQ(value_before(i), before[entities[i]].*member);
    };
    World& world = house.world;
    world.observers().on_add<Lamp>([&](std::span<const Entity> entities, std::span<const Lamp> lamps) {
        tell("lamp came", entities);
        ASSERT_EQ(lamps.size(), entities.size());
        for (std::size_t i = 0; i < entities.size(); ++i) {
            EXPECT_EQ(lamps[i].oil, house.value<&Lamp::oil>(entities[i]));
            EXPECT_EQ(lamps[i].at, lamp_of(entities[i], 0).at);
        }
    });
    world.observers().on_remove<Lamp>([&](std::span<const Entity> entities, std::span<const Lamp> old) {
        tell("lamp went", entities);
        check_values(entities, [&](std::size_t i) { return old[i].oil; }, &Has::oil);
    });
    world.observers().on_change<&Lamp::oil>([&](std::span<const Entity> entities, std::span<const int> old) {
        tell("oil changed", entities);
        check_values(entities, [&](std::size_t i) { return old[i]; }, &Has::oil);
    });
    world.observers().on_change<&Lamp::at>([&](std::span<const Entity> entities) { tell("at changed", entities); });
    world.observers().on_add<Wick>([&](std::span<const Entity> entities, std::span<const Wick> wicks) {
        tell("wick came", entities);
        for (std::size_t i = 0; i < entities.size(); ++i)
            EXPECT_EQ(wicks[i].length, house.value<&Wick::length>(entities[i]));
    });
    world.observers().on_remove<Wick>([&](std::span<const Entity> entities) { tell("wick went", entities); });
    world.observers().on_change<Wick>([&](std::span<const Entity> entities, std::span<const Wick> old) {
        tell("wick changed", entities);
        check_values(entities, [&](std::size_t i) { return int(old[i].length); }, &Has::length);
    });
    world.observers().on_add<Lit>([&](std::span<const Entity> entities, std::span<const Lit> lit) {
        tell("lit came", entities);
        for (std::size_t i = 0; i < entities.size(); ++i)
            EXPECT_EQ(lit[i].since, house.value<&Lit::since>(entities[i]));
    });
    world.observers().on_remove<Lit>([&](std::span<const Entity> entities) { tell("lit went", entities); });
    world.observers().keep_journal(1'000'000);
    house.known.resize(1500);
    ASSERT_TRUE(house.entities.create(house.known));
    for (const Entity entity : house.known) {
        house.add(entity, lamp_of(entity, 1));
        if (random.below(2) == 0) house.add(entity, Wick{1, false, 0});
    }
    const std::int64_t num_frames = shoal_test::scaled_operations(200);
    for (std::int64_t frame = 0; frame < num_frames; ++frame) {
        const std::uint64_t stamp = world.stamp();
        // Every few frames, changes of one kind alone have to be noticed.
        const bool is_mixed = frame % 6 < 3;
        const std::uint32_t kind = kNumKinds - 1 - std::uint32_t(frame / 6) % kNumKinds;
        for (std::uint32_t i = random.below(4) * random.below(60); i-- > 0;)
            change_something(is_mixed ? random.below(kNumKinds) : kind);
        told.clear();
        num_calls.clear();
        world.settle();
        const State now = house.state();
        ASSERT_EQ(sorted(told["lamp came"]), differing(before, now, &Has::oil, kCame));
        ASSERT_EQ(sorted(told["lamp went"]), differing(before, now, &Has::oil, kWent));
        ASSERT_EQ(sorted(told["oil changed"]), differing(before, now, &Has::oil, kChanged));
        ASSERT_EQ(told["at changed"], Entities()) << "no lamp has moved";
        ASSERT_EQ(sorted(told["wick came"]), differing(before, now, &Has::length, kCame));
        ASSERT_EQ(sorted(told["wick went"]), differing(before, now, &Has::length, kWent));
        ASSERT_EQ(sorted(told["wick changed"]), differing(before, now, &Has::length, kChanged));
        ASSERT_EQ(sorted(told["lit came"]), differing(before, now, &Has::lit, kCame));
        ASSERT_EQ(sorted(told["lit went"]), differing(before, now, &Has::lit, kWent));

        const Journal journal = world.observers().journal(stamp);
        ASSERT_TRUE(journal.is_complete);
        std::map<std::pair<ComponentId, JournalEntry::Kind>, Entities> listed;
        for (const JournalEntry& entry : journal.entries) {
            EXPECT_EQ(entry.stamp, stamp);
            const bool is_new = listed.emplace(std::pair(entry.component, entry.kind), sorted(entry.entities)).second;
            EXPECT_TRUE(is_new) << "one entry for each component type and kind";
        }
        using Kind = JournalEntry::Kind;
        ASSERT_EQ((listed[{schema_of<Lamp>().id(), Kind::kAdded}]), sorted(told["lamp came"]));
        ASSERT_EQ((listed[{schema_of<Lamp>().id(), Kind::kRemoved}]), sorted(told["lamp went"]));
        ASSERT_EQ((listed[{schema_of<Lit>().id(), Kind::kAdded}]), sorted(told["lit came"]));
        ASSERT_EQ((listed[{schema_of<Lit>().id(), Kind::kRemoved}]), sorted(told["lit went"]));
        before = now;
    }
}

INSTANTIATE_TEST_SUITE_P(Observers, ObserversOfAnyStore, ::testing::Values(0u, 7u, 2u, 5u),
                         [](const auto& info) { return "database_keeps_" + std::to_string(info.param); });

// --- rules -------------------------------------------------------------------------------------------------------

class ObserverRules : public ::testing::Test {
protected:
    Entities make(std::size_t count) {
        Entities made(count);
        EXPECT_TRUE(entities.create(made));
        return made;
    }

    EntityManager entities;
    World world{entities};
    Manager<Lamp>& lamps = world.manager<Lamp>();
    int num_told = 0;
};

TEST_F(ObserverRules, what_was_there_before_is_not_told) {
    const Entities made = make(10);
    ASSERT_TRUE(lamps.add(made, Lamp{}));
    world.observers().on_add<Lamp>([&](std::span<const Entity> added) { num_told += int(added.size()); });
    world.settle();
    EXPECT_EQ(num_told, 0);
    ASSERT_TRUE(lamps.add(make(3), Lamp{}));
    EXPECT_EQ(num_told, 0) << "only when the world settles";
    world.settle();
    EXPECT_EQ(num_told, 3);
    world.settle();
    EXPECT_EQ(num_told, 3);
}

TEST_F(ObserverRules, values_of_additions_are_those_before_any_observer_was_called) {
    Entities told;
    std::vector<int> oil;
    world.observers().on_add<Lamp>([&](std::span<const Entity> added) {
        for (const Entity entity : added) lamps.set<&Lamp::oil>(lamps.instance(entity), -1);
        lamps.remove(added.front());
        ASSERT_TRUE(lamps.add(make(5000), Lamp{}));  // which may move the columns
    });
    world.observers().on_add<Lamp>([&](std::span<const Entity> added, std::span<const Lamp> values) {
        ASSERT_EQ(values.size(), added.size());
        for (std::size_t i = 0; i < added.size(); ++i) told.push_back(added[i]), oil.push_back(values[i].oil);
    });
    const Entities made = make(3);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(lamps.add(made[std::size_t(i)], Lamp{i, {}}));
    world.settle();
    EXPECT_EQ(told, made);
    EXPECT_EQ(oil, (std::vector<int>{0, 1, 2}));
}

TEST_F(ObserverRules, values_of_additions_need_no_memory_of_what_was) {
    world.observers().on_add<Lamp>(
        [&](std::span<const Entity> added, std::span<const Lamp>) { num_told += int(added.size()); });
    const Entities made = make(2000);
    ASSERT_TRUE(lamps.add(made, Lamp{}));
    world.settle();
    for (const Entity entity : made) lamps.set<&Lamp::oil>(lamps.instance(entity), 3);
    world.settle();
    EXPECT_EQ(num_told, 2000) << "others than those that came are not told of";
    EXPECT_DEATH(world.observers().on_add<Filler>([](std::span<const Entity>, std::span<const Filler>) {}),
                 "no store of the world keeps");
}

TEST_F(ObserverRules, what_comes_and_goes_in_between_is_not_told) {
    world.observers().on_add<Lamp>([&](std::span<const Entity>) { ++num_told; });
    world.observers().on_remove<Lamp>([&](std::span<const Entity>) { ++num_told; });
    const Entities made = make(2000);
    ASSERT_TRUE(lamps.add(made, Lamp{}));
    entities.destroy(made);
    world.settle();
    EXPECT_EQ(num_told, 0);
}

TEST_F(ObserverRules, an_observer_of_one_field_hears_of_no_other) {
    const Entities made = make(3);
    ASSERT_TRUE(lamps.add(made, Lamp{}));
    world.settle();
    Entities oiled, moved, any;
    world.observers().on_change<&Lamp::oil>([&](std::span<const Entity> all) { oiled.assign(all.begin(), all.end()); });
    world.observers().on_change<&Lamp::at>([&](std::span<const Entity> all) { moved.assign(all.begin(), all.end()); });
    world.observers().on_change<Lamp>([&](std::span<const Entity> all) { any.assign(all.begin(), all.end()); });
    lamps.set<&Lamp::oil>(lamps.instance(made[0]), 7);
    lamps.set<&Lamp::at>(lamps.instance(made[2]), {1, 2, 3});
    world.settle();
    EXPECT_EQ(oiled, Entities{made[0]});
    EXPECT_EQ(moved, Entities{made[2]});
    EXPECT_EQ(any, (Entities{made[0], made[2]}));
}

TEST_F(ObserverRules, what_an_observer_changes_is_told_at_the_next_settle) {
    auto& wicks = world.manager<Wick>();
    Entities lit;
    world.observers().on_add<Lamp>([&](std::span<const Entity> added) {
        ASSERT_TRUE(wicks.add(added, Wick{}));    // at once
        world.commands().destroy(added.front());  // by command
        entities.destroy(added.back());           // and before its own row goes
        ASSERT_TRUE(lamps.add(make(1), Lamp{}));
        num_told += int(added.size());
    });
    world.observers().on_add<Wick>([&](std::span<const Entity> added) { lit.assign(added.begin(), added.end()); });
    const Entities made = make(4);
    ASSERT_TRUE(lamps.add(made, Lamp{}));
    world.settle();
    EXPECT_EQ(num_told, 4);
    EXPECT_TRUE(lit.empty());
    world.settle();
    EXPECT_EQ(num_told, 5) << "the lamp of the observer";
    EXPECT_EQ(sorted(lit), (Entities{made[1], made[2]})) << "those that live by now";
}

TEST_F(ObserverRules, observers_are_called_in_the_order_in_which_they_were_added_and_may_come_and_go) {
    std::string order;
    ObserverId second;
    world.observers().on_add<Lamp>([&](std::span<const Entity>) {
        order += 'a';
        world.observers().remove(second);
        world.observers().on_add<Lamp>([&](std::span<const Entity>) { order += 'd'; });
    });
    second = world.observers().on_add<Lamp>([&](std::span<const Entity>) { order += 'b'; });
    const ObserverId third = world.observers().on_add<Lamp>([&](std::span<const Entity>) {
        order += 'c';
        world.observers().remove(ObserverId{3});
    });
    EXPECT_EQ(third.number, 3u);
    ASSERT_TRUE(lamps.add(make(1), Lamp{}));
    world.settle();
    EXPECT_EQ(order, "ac");
    EXPECT_EQ(static_cast<const WorldService&>(world.observers()).describe(), "2 are there") << "a and d";
    ASSERT_TRUE(lamps.add(make(1), Lamp{}));
    world.settle();
    EXPECT_EQ(order, "acad");
    world.observers().remove({});
    world.observers().remove({99});
}

TEST_F(ObserverRules, tags_owners_and_computed_poses_can_be_listened_to) {
    TagManager tags(world.manager<Tag>(), world.strings());
    auto& owners = world.ownership();
    TransformManager& transforms = world.transforms();
    Entities tagged, owned, moved;
    const auto into = [](Entities& list) {
        return [&list](std::span<const Entity> told) { list.insert(list.end(), told.begin(), told.end()); };
    };
    world.observers().on_add<Tag>(into(tagged));
    world.observers().on_remove<Tag>(into(tagged));
    world.observers().on_add<Owned>(into(owned));
    world.observers().on_remove<Owned>(into(owned));
    world.observers().on_change<&WorldPose::matrix>(into(moved));
    const Entities made = make(3);
    ASSERT_TRUE(tags.add_tag(made[0], "red"));
    ASSERT_TRUE(tags.add_tag(made[0], "round"));
    ASSERT_TRUE(owners.own(made[0], made[1]));
    ASSERT_TRUE(transforms.add(made, Transform{}));
    ASSERT_TRUE(transforms.link(transforms.instance(made[2]), transforms.instance(made[1])));
    world.settle();
    EXPECT_EQ(tagged, (Entities{made[0], made[0]})) << "once for each component";
    EXPECT_EQ(owned, Entities{made[1]}) << "its owner is owned by nobody";
    EXPECT_EQ(moved, Entities());
    tagged.clear(), owned.clear();
    tags.remove_tag(made[0], "red");
    owners.release(made[1]);
    transforms.set_position(transforms.instance(made[1]), {1, 2, 3});
    world.settle();
    EXPECT_EQ(tagged, Entities{made[0]});
    EXPECT_EQ(owned, Entities{made[1]});
    EXPECT_EQ(sorted(moved), (Entities{made[1], made[2]})) << "a child moves with its parent";
}

TEST_F(ObserverRules, of_several_components_those_that_move_are_not_told) {
    auto& tags = world.manager<Tag>();
    const Entities made = make(2);
    for (const Entity entity : {made[0], made[0], made[1], made[1], made[1]})
        ASSERT_TRUE(tags.add(entity, Tag{StringId("spot")}));
    Entities told;
    world.observers().on_add<Tag>([&](std::span<const Entity> added) { told.assign(added.begin(), added.end()); });
    world.observers().on_remove<Tag>(
        [&](std::span<const Entity> removed) { told.assign(removed.begin(), removed.end()); });
    tags.remove(made[0]);  // rows of made[1] take the places
    world.settle();
    EXPECT_EQ(told, (Entities{made[0], made[0]}));
}

TEST_F(ObserverRules, of_several_components_in_the_database_those_that_move_are_not_told) {
    Database& database = world.database();
    database.component<Tag>();
    const Entities made = make(2);
    for (const Entity entity : {made[0], made[0], made[1], made[1], made[1]})
        ASSERT_TRUE(database.add(entity, Tag{StringId("spot")}));
    Entities added, removed;
    world.observers().on_add<Tag>([&](std::span<const Entity> told) { added.assign(told.begin(), told.end()); });
    world.observers().on_remove<Tag>([&](std::span<const Entity> told) { removed.assign(told.begin(), told.end()); });
    ASSERT_TRUE(database.remove<Tag>(made[0]));  // rows of made[1] take the places
    ASSERT_TRUE(database.move(made[1], 3));
    world.settle();
    EXPECT_EQ(removed, (Entities{made[0], made[0]}));
    EXPECT_TRUE(added.empty());
    ASSERT_TRUE(database.add(made[1], Tag{StringId("stripe")}));
    world.settle();
    EXPECT_EQ(added, Entities{made[1]});
}

TEST_F(ObserverRules, a_store_that_leaves_takes_its_observers_along) {
    ASSERT_TRUE(lamps.add(make(2), Lamp{}));
    {
        PagePool pool;
        Manager<Wick> wicks(entities, pool);
        ASSERT_TRUE(world.attach(wicks.core()));
        world.observers().on_add<Wick>([&](std::span<const Entity>) { ++num_told; });
        world.observers().keep_journal(100);
        ASSERT_TRUE(wicks.add(make(1), Wick{}));
        world.settle();
        world.detach(wicks.core());
        ASSERT_TRUE(wicks.add(make(1), Wick{}));
    }
    const std::uint64_t left = world.stamp();
    world.settle();
    EXPECT_EQ(num_told, 1);
    EXPECT_TRUE(world.observers().journal(left).entries.empty()) << "the lamps of the other store have not come";
    const Entities made = make(1);
    ASSERT_TRUE(world.manager<Wick>().add(made, Wick{}));
    const std::uint64_t since = world.stamp();
    world.settle();
    const Journal journal = world.observers().journal(since);
    ASSERT_EQ(journal.entries.size(), 1u) << "of the store that keeps them now";
    EXPECT_EQ(sorted(journal.entries[0].entities), made);
    EXPECT_EQ(num_told, 1);
}

TEST_F(ObserverRules, a_component_with_a_field_that_only_cpp_knows_is_observed_without_it) {
    struct Silent final : Observer {
        void run(const ObservedBatch&) override {}
    } silent;
    world.manager<Sealed>();
    const auto problem_of = [&](const ObservedChange& to) {
        const Result<ObserverId> made =
            world.observers().observe(schema_of<Sealed>().id(), to, silent, [](Observer&) {});
        return made ? std::string() : std::string(made.message());
    };
    const std::string whole = "\"sealed\" has opaque fields, whose values cannot be kept; observe without values";
    EXPECT_EQ(problem_of({ObserverKind::kChange, 0}), "");
    EXPECT_EQ(problem_of({ObserverKind::kChange, 1}), whole);
    for (const std::uint32_t field : {2u, 3u, ObservedChange::kAnyField})
        EXPECT_EQ(problem_of({ObserverKind::kChange, field}), whole) << field;
    EXPECT_EQ(problem_of({ObserverKind::kAdd}), "");
}

TEST_F(ObserverRules, each_of_many_fields_is_told_of_itself) {
    struct Counter final : Observer {
        void run(const ObservedBatch& batch) override { total += int(batch.entities.size()); }
        int total = 0;
    };
    ComponentDefinition wide{.name = "wide"};
    std::vector<std::string> names;
    for (int i = 0; i < 64; ++i) names.push_back("field_" + std::to_string(i));
    for (const std::string& name : names) wide.fields.push_back({.name = name, .type = FieldType::kUint32});
    ComponentManager& manager = *world.manager(*Schema::make(std::move(wide))).value();
    const std::vector<Entity> made = make(1);
    ASSERT_TRUE(manager.add_images(made, manager.schema().default_image().data(), 0).ok());
    Counter counters[64];
    for (std::uint32_t i = 0; i < 64; ++i)
        ASSERT_TRUE(world.observers()
                        .observe(manager.schema().id(), {ObserverKind::kChange, i}, counters[i], [](Observer&) {})
                        .ok());
    world.settle();
    for (const std::uint32_t changed : {1u, 31u, 32u, 33u, 62u, 63u}) {
        const std::uint32_t value = 7;
        manager.table().write_element(changed, 0)[0] = std::byte(value);
        world.settle();
        for (std::uint32_t i = 0; i < 64; ++i)
            EXPECT_EQ(std::exchange(counters[i].total, 0), i == changed ? 1 : 0) << i << ", " << changed << " changed";
    }
}

TEST_F(ObserverRules, a_component_type_without_a_cpp_type_can_be_listened_to) {
    struct Counter final : Observer {
        explicit Counter(int& all) : total(all) {}
        void run(const ObservedBatch& batch) override {
            total += int(batch.entities.size());
            EXPECT_EQ(batch.component.name(), "lamp");
        }
        int& total;
    };
    Counter counter(num_told);
    int num_ended = 0;
    static int* ended;
    ended = &num_ended;
    const auto end = [](Observer&) { ++*ended; };
    const Result<ObserverId> id = world.observers().observe(schema_of<Lamp>().id(), {ObserverKind::kAdd}, counter, end);
    ASSERT_TRUE(id);
    ASSERT_TRUE(lamps.add(make(5), Lamp{}));
    world.settle();
    EXPECT_EQ(num_told, 5);
    world.observers().remove(*id);
    EXPECT_EQ(num_ended, 1);
    EXPECT_EQ(world.observers().observe(StringId("nothing"), {}, counter, end).message(),
              "no store of the world keeps the component type; make its manager, or name it to the database, before "
              "anything observes it");
    EXPECT_EQ(world.observers().observe(schema_of<Lamp>().id(), {ObserverKind::kChange, 2}, counter, end).message(),
              "\"lamp\" has 2 fields, and none with number 2");
    world.manager<Tag>();
    EXPECT_EQ(world.observers().observe(schema_of<Tag>().id(), {ObserverKind::kChange}, counter, end).message(),
              "an entity may have several \"tag\", so their values cannot be compared; use on_add() and on_remove()");
    EXPECT_EQ(num_ended, 1) << "what was refused stays the caller's";
}

TEST_F(ObserverRules, the_order_is_that_of_rows_for_any_number_of_workers) {
    const auto told_with = [](std::uint32_t num_workers) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        EntityManager entities;
        World world(entities, {.executor = &executor});
        world.manager<Lamp>();
        world.database().component<Filler>();
        Entities made(20'000), told;
        EXPECT_TRUE(world.database().create<Filler>(made, 0, Filler{}));
        world.observers().on_add<Lamp>(
            [&](std::span<const Entity> added) { told.insert(told.end(), added.begin(), added.end()); });
        world.schedule().add("give", query<With<Filler>>(world.database()), [](Commands& commands, Entity entity) {
            if (entity.id % 3 == 0) commands.add(entity, Lamp{});
        });
        world.step(0.1f);
        return told;
    };
    const Entities alone = told_with(1);
    EXPECT_GT(alone.size(), 6000u);
    for (const std::uint32_t num_workers : {2u, 3u, 8u}) EXPECT_EQ(told_with(num_workers), alone);
}

TEST_F(ObserverRules, the_journal_is_bounded_and_says_when_it_is_not_complete) {
    EXPECT_FALSE(world.observers().journal(0).is_complete) << "none is kept";
    ASSERT_TRUE(lamps.add(make(7), Lamp{}));
    const std::uint64_t begin = world.stamp();
    world.observers().keep_journal(25);
    EXPECT_TRUE(world.observers().journal(begin).is_complete);
    EXPECT_FALSE(world.observers().journal(begin - 1).is_complete);
    auto& wicks = world.manager<Wick>();  // a store that comes later
    ASSERT_TRUE(wicks.add(make(10), Wick{}));
    world.settle();
    ASSERT_EQ(world.observers().journal(begin).entries.size(), 1u) << "what was there before is not in it";
    EXPECT_EQ(world.observers().journal(begin).entries[0].component, schema_of<Wick>().id());
    EXPECT_EQ(world.observers().journal(begin).entries[0].entities.size(), 10u);
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(lamps.add(make(10), Lamp{}));
        world.settle();
    }
    EXPECT_FALSE(world.observers().journal(begin).is_complete) << "30 entities are more than 25";
    EXPECT_TRUE(world.observers().journal(begin + 1).is_complete);
    EXPECT_EQ(world.observers().journal(begin + 1).entries.size(), 2u);
    EXPECT_EQ(world.observers().journal(begin + 2).entries.size(), 1u);
    EXPECT_EQ(world.observers().journal(world.stamp()).entries.size(), 0u);
    ASSERT_TRUE(lamps.add(make(30), Lamp{}));
    world.settle();
    EXPECT_FALSE(world.observers().journal(begin + 3).is_complete) << "one settle alone is more than fits";
    ASSERT_TRUE(lamps.add(make(20), Lamp{}));
    world.settle();
    ASSERT_TRUE(lamps.add(make(5), Lamp{}));
    world.observers().keep_journal(25);
    const std::uint64_t again = world.stamp();
    ASSERT_TRUE(wicks.add(make(10), Wick{}));
    world.settle();
    EXPECT_FALSE(world.observers().journal(again - 1).is_complete)
        << "one that is kept again has forgotten what it had";
    ASSERT_TRUE(world.observers().journal(again).is_complete);
    const auto added = [&](std::uint64_t stamp) {
        std::map<ComponentId, std::size_t> result;
        for (const JournalEntry& entry : world.observers().journal(stamp).entries)
            result[entry.component] += entry.entities.size();
        return result;
    };
    const ComponentId lamp = schema_of<Lamp>().id(), wick = schema_of<Wick>().id();
    EXPECT_EQ(added(again), (std::map<ComponentId, std::size_t>{{lamp, 5}, {wick, 10}}))
        << "a reader that has this stamp is told all that has changed since it settled last";
    world.observers().keep_journal(0);
    EXPECT_FALSE(world.observers().journal(world.stamp()).is_complete);
    ASSERT_TRUE(lamps.add(make(5), Lamp{}));
    world.observers().keep_journal(25);
    world.settle();
    EXPECT_EQ(world.observers().journal(world.stamp() - 1).entries.size(), 0u) << "none was kept when these came";
}

TEST_F(ObserverRules, what_a_store_that_came_with_a_state_has_is_not_new_to_the_journal) {
    ASSERT_TRUE(world.manager<Wick>().add(make(3), Wick{}));
    world.settle();
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(world, bytes));
    EntityManager others;
    World other(others);
    other.observers().keep_journal(25);
    ASSERT_TRUE(load(other, bytes));
    const std::uint64_t loaded = other.stamp();
    other.settle();
    ASSERT_TRUE(other.observers().journal(loaded).is_complete);
    EXPECT_EQ(other.observers().journal(loaded).entries.size(), 0u);
}

TEST_F(ObserverRules, a_saved_journal_is_cut_to_the_limit_of_who_loads_it_and_a_false_one_leaves_none) {
    Snapshot without;
    ASSERT_TRUE(save(world, without));
    world.observers().keep_journal(100);
    const std::uint64_t begin = world.stamp();
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(lamps.add(make(10), Lamp{}));
        world.settle();
    }
    Snapshot saved;
    ASSERT_TRUE(save(world, saved));
    ASSERT_TRUE(world.observers().journal(begin).is_complete);
    world.observers().keep_journal(25);
    world.settle();
    ASSERT_TRUE(load(world, saved));
    EXPECT_FALSE(world.observers().journal(begin).is_complete) << "30 entities are more than 25";
    ASSERT_TRUE(world.observers().journal(begin + 1).is_complete);
    EXPECT_EQ(world.observers().journal(begin + 1).entries.size(), 2u);
    ASSERT_TRUE(lamps.add(make(10), Lamp{}));
    world.settle();
    EXPECT_FALSE(world.observers().journal(begin + 1).is_complete) << "what was loaded counts";
    EXPECT_EQ(world.observers().journal(begin + 2).entries.size(), 2u);

    ASSERT_TRUE(load(world, saved));
    const Snapshot later_first = shoal_test::with_part(saved, "observers/journal/entries", [](auto& bytes) {
        const std::size_t size = bytes.size() / 3;  // of an entry: the last one is the first now
        std::rotate(bytes.begin(), bytes.end() - std::ptrdiff_t(size), bytes.end());
    });
    EXPECT_EQ(load(world, later_first, false).message(),
              "the snapshot, part \"observers/journal/entries\": they do not fit each other");
    ASSERT_EQ(world.observers().journal(begin + 1).entries.size(), 2u) << "what was there before";

    ASSERT_TRUE(load(world, without));
    EXPECT_TRUE(world.observers().journal(begin).is_complete);
    EXPECT_TRUE(world.observers().journal(begin).entries.empty()) << "no journal was saved, so it begins anew";
}

using ObserverDeathTest = ObserverRules;

TEST_F(ObserverDeathTest, observers_of_what_no_store_keeps_and_from_passes_end_the_program) {
    EXPECT_DEATH(world.observers().on_add<Wick>([](std::span<const Entity>) {}),
                 "no store of the world keeps the component type of an observer, \"wick\"; call World::manager<Wick>");
    world.schedule().add("late", [&](PassContext&) { world.observers().on_add<Lamp>([](std::span<const Entity>) {}); });
    EXPECT_DEATH(world.step(0.1f), "a pass added an observer; add it before World::step");
}

}  // namespace
