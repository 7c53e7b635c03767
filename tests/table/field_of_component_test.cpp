// Fields of tables that hold one component, or several, and of components with structs.

#include "shoal/table/detail/field_of_component.h"
#include "support/testing.h"

#include <gtest/gtest.h>

namespace {

using namespace shoal;

Schema make_schema(const char* component, std::initializer_list<const char*> fields) {
    ComponentDefinition definition;
    definition.name = component;
    for (const char* const name : fields) definition.fields.push_back({.name = name});
    return Schema::make(std::move(definition)).value();
}

void expect_field(const Schema& table, std::uint32_t field, const char* component, const char* name,
                  std::uint32_t index) {
    const FieldOfComponent found(table, field);
    EXPECT_EQ(found.component, component);
    EXPECT_EQ(found.name, name);
    EXPECT_EQ(found.index, index);
}

TEST(FieldOfComponent, is_found_in_tables_of_one_and_of_several_components_with_structs) {
    const Schema raft = make_schema("raft", {"logs", "bounds.least", "bounds.most"});
    const Schema bounds = make_schema("bounds", {"count", "bounds.least"});        // a struct called like the component
    const Schema aabbox = make_schema("aabbox", {"aabbox.least", "aabbox.most"});  // which has nothing else
    const Schema marker = make_schema("marker", {});
    expect_field(raft, 0, "raft", "logs", 0);
    expect_field(raft, 2, "raft", "bounds.most", 2);
    expect_field(bounds, 1, "bounds", "bounds.least", 1);
    expect_field(aabbox, 1, "aabbox", "aabbox.most", 1);
    const Schema* const all[] = {&marker, &raft, &bounds};
    const Schema table = Schema::combine(all);
    expect_field(table, 0, "raft", "logs", 0);
    expect_field(table, 2, "raft", "bounds.most", 2);
    expect_field(table, 4, "bounds", "bounds.least", 1);
    const Schema* const one[] = {&raft};
    expect_field(Schema::combine(one), 1, "raft", "bounds.least", 1);
    const Schema* const alone[] = {&aabbox};
    expect_field(Schema::combine(alone), 1, "aabbox", "aabbox.most", 1);
}

}  // namespace
