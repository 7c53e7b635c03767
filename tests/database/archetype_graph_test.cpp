// Archetypes and the ways between them.

#include "shoal/database/detail/archetype_graph.h"

#include "shoal/base/random.h"
#include "shoal/table/detail/take_plan.h"
#include "support/database_fixture.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <vector>

namespace shoal_test {
namespace {

struct Graph : ::testing::Test {
    Graph() {
        for (int i = 0; i < 70; ++i) {
            ComponentDefinition definition{.name = "part_" + std::to_string(i)};
            definition.fields.push_back({.name = "value", .type = FieldType::kFloat});
            parts.push_back(*graph.add_component(*Schema::make(definition)));
        }
    }

    LeakCheck leaks;
    ArchetypeGraph graph;
    std::vector<ComponentType> parts;
};

TEST_F(Graph, component_types_are_numbered_as_they_come_and_found_by_name) {
    EXPECT_EQ(graph.schemas().size(), 70u);
    for (std::uint32_t i = 0; i < 70; ++i) {
        EXPECT_EQ(parts[i].number, i);
        EXPECT_EQ(graph.find_component(graph.schema(parts[i]).id()), parts[i]);
        EXPECT_EQ(*graph.add_component(graph.schema(parts[i])), parts[i]) << "it is there already";
    }
    EXPECT_FALSE(graph.find_component(schema_of<Mass>().id()));
    EXPECT_DEATH(graph.require(ComponentType{70}), "not registered in this database");
}

TEST_F(Graph, columns_of_an_archetype_stand_in_the_order_of_its_component_types) {
    const ComponentType body = *graph.add_component(schema_of<Body>());
    const ComponentType marked = *graph.add_component(schema_of<Marked>());
    const ComponentType asleep = *graph.add_component(schema_of<Asleep>());
    const Archetype& type = graph.archetype(std::array{asleep, parts[3], marked, body, parts[68]});
    EXPECT_EQ(type.schema().columns().size(), 4u);
    EXPECT_EQ(type.first_column(parts[3]), 0u);
    EXPECT_EQ(type.first_column(parts[68]), 1u);
    EXPECT_EQ(type.first_column(body), 2u);
    EXPECT_EQ(type.first_column(asleep), 3u);
    EXPECT_TRUE(type.has(marked));
    EXPECT_EQ(type.first_column(parts[4]), kNoColumn);
    ASSERT_EQ(type.enableable().size(), 1u);
    EXPECT_EQ(type.enableable_index(asleep), 0);
    EXPECT_EQ(type.enableable_index(body), -1);
}

// req: E14
TEST_F(Graph, every_way_to_a_set_of_component_types_leads_to_one_archetype) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    std::map<std::set<std::uint32_t>, const Archetype*> known;
    const Archetype* at = &graph.archetype({});
    std::set<std::uint32_t> has;
    for (int step = 0; step < 5000; ++step) {
        const ComponentType part = parts[random.below(4) + (random.below(2) == 0 ? 0 : 65)];
        if (random.below(2) == 0) {
            at = &graph.with(*at, part);
            has.insert(part.number);
        } else {
            at = &graph.without(*at, part);
            has.erase(part.number);
        }
        const auto [found, is_new] = known.insert({has, at});
        ASSERT_EQ(found->second, at);
        ASSERT_EQ(graph.archetypes()[at->number()], at);
        std::vector<ComponentType> components;
        for (const std::uint32_t number : has) components.insert(components.begin(), ComponentType{number});
        ASSERT_EQ(&graph.archetype(components), at);
    }
    EXPECT_EQ(graph.archetypes().size(), known.size());
}

TEST_F(Graph, an_archetype_of_another_graph_ends_the_program) {
    ArchetypeGraph other;
    const Archetype& foreign = other.archetype({});
    EXPECT_FALSE(graph.owns(foreign));
    EXPECT_DEATH(static_cast<void>(graph.with(foreign, parts[0])), "the archetype is of another database");
}

TEST_F(Graph, a_plan_keeps_what_both_archetypes_have_and_is_made_once) {
    const Archetype& from = graph.archetype(std::array{parts[1], parts[2], parts[3]});
    const Archetype& to = graph.archetype(std::array{parts[0], parts[1], parts[3]});
    const TakePlan& plan = graph.plan(from, to);
    EXPECT_EQ(plan.kept().size(), 2u);
    EXPECT_EQ(plan.dropped().size(), 1u);
    EXPECT_EQ(&graph.plan(from, to), &plan);
    EXPECT_NE(&graph.plan(to, from), &plan);
}

}  // namespace
}  // namespace shoal_test
