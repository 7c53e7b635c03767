// Which store keeps which component type, without a world.

#include "shoal/store/detail/component_directory.h"

#include "support/manager_testing.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace shoal_test {
namespace {

/// Makes a manager of ApartOne when one is asked for, and chooses that of WholeOne for all else.
struct Maker : DirectoryOwner {
    Maker(Manager<ApartOne>& makes, Manager<WholeOne>& chooses) : made(makes), chosen(chooses) {}

    Result<Store*> make_store_of(const Schema& component) override {
        ++num_asked;
        if (component.id() != schema_of<ApartOne>().id()) return static_cast<Store*>(nullptr);
        if (Status status = directory->add(made.core()); !status) return status;
        return &made.core();
    }
    Result<Store*> choose_store_for(const Schema&) override { return &chosen.core(); }
    Status check_store(const Store&, const Schema& component) const override {
        return component.id() == refused ? Status::error("this is refused") : Status();
    }
    const Schema* find_built_in(ComponentId name) const override {
        return name == schema_of<ApartOne>().id() ? &schema_of<ApartOne>() : nullptr;
    }
    void note_store(Store& store) override { added.push_back(&store); }
    void forget_store(Store& store) override { forgotten.push_back(&store); }

    ComponentDirectory* directory = nullptr;
    Manager<ApartOne>& made;
    Manager<WholeOne>& chosen;
    ComponentId refused;
    int num_asked = 0;
    std::vector<const Store*> added, forgotten;
};

struct ComponentDirectories : ::testing::Test {
    EntityManager entities;
    PagePool pool;
    Manager<ApartOne> one{entities, pool};
    Manager<WholeOne> whole{entities, pool};
};

TEST_F(ComponentDirectories, find_the_one_store_that_keeps_a_component_type) {
    ComponentDirectory directory(entities);
    EXPECT_EQ(directory.find(schema_of<ApartOne>().id()), nullptr);
    EXPECT_EQ(directory.find_schema(schema_of<ApartOne>().id()), nullptr);
    ASSERT_TRUE(directory.add(one.core()).ok());
    ASSERT_TRUE(directory.add(whole.core()).ok());
    EXPECT_EQ(directory.find(schema_of<ApartOne>().id()), &one.core());
    EXPECT_EQ(directory.find_shown(schema_of<WholeOne>()), &whole.core());
    EXPECT_EQ(directory.find_schema(schema_of<ApartOne>().id()), &one.core().schema());
    const KeptComponent kept = directory.find_kept(schema_of<WholeOne>().id());
    EXPECT_EQ(kept.store, &whole.core());
    EXPECT_EQ(kept.schema, &whole.core().schema());
    EXPECT_FALSE(directory.find_kept(schema_of<SplitMany>().id()));
    ASSERT_EQ(directory.stores().size(), 2u);
    EXPECT_EQ(directory.stores()[1], &whole.core());
    Manager<ApartOne> other(entities, pool);
    EXPECT_NE(directory.add(other.core()).message().find("\"apart_one\" is kept in a manager of this world"),
              std::string_view::npos);
    EXPECT_FALSE(directory.has(other.core()));
    EXPECT_EQ(directory.stores().size(), 2u);
}

TEST_F(ComponentDirectories, have_a_store_once_and_no_store_of_another_one) {
    ComponentDirectory directory(entities), other(entities);
    ASSERT_TRUE(directory.add(one.core()).ok());
    EXPECT_EQ(directory.add(one.core()).message(), "the store is attached to this world already");
    EXPECT_EQ(other.add(one.core()).message(), "the store is attached to another world; detach it there first");
    directory.remove(one.core());
    EXPECT_EQ(directory.find(schema_of<ApartOne>().id()), nullptr);
    EXPECT_EQ(one.core().component_directory(), nullptr);
    EXPECT_TRUE(other.add(one.core()).ok());
    EXPECT_EQ(one.core().component_directory(), &other);
    EXPECT_DEATH(directory.remove(one.core()), "not attached to this world");
}

TEST_F(ComponentDirectories, are_left_by_stores_that_end_and_leave_their_stores_when_they_end) {
    Maker maker(one, whole);
    {
        ComponentDirectory directory(entities, &maker);
        ASSERT_TRUE(directory.add(whole.core()).ok());
        const Store* passed = nullptr;
        {
            Manager<SplitMany> passing(entities, pool);
            passed = &passing.core();
            ASSERT_TRUE(directory.add(passing.core()).ok());
        }
        EXPECT_EQ(directory.stores().size(), 1u);
        EXPECT_EQ(directory.find(schema_of<SplitMany>().id()), nullptr);
        EXPECT_EQ(maker.forgotten, std::vector<const Store*>{passed});
    }
    EXPECT_EQ(whole.core().component_directory(), nullptr);
    EXPECT_EQ(maker.forgotten.size(), 1u);
}

TEST_F(ComponentDirectories, ask_their_owner_for_stores_of_component_types_that_nobody_keeps) {
    Maker maker(one, whole);
    ComponentDirectory directory(entities, &maker);
    maker.directory = &directory;
    EXPECT_EQ(*directory.require(schema_of<SplitMany>()), nullptr) << "it has no store of its own";
    EXPECT_EQ(*directory.require(schema_of<ApartOne>()), &one.core());
    EXPECT_EQ(maker.num_asked, 2);
    EXPECT_EQ(*directory.require(schema_of<ApartOne>()), &one.core());
    EXPECT_EQ(maker.num_asked, 2) << "it is kept";
    ASSERT_TRUE(directory.add(whole.core()).ok());
    EXPECT_NE(directory.require_for_command(schema_of<SplitMany>()).message().find("cannot be kept in a manager"),
              std::string_view::npos)
        << "the chosen store takes no other types";
    maker.refused = schema_of<SplitMany>().id();
    Manager<SplitMany> many(entities, pool);
    EXPECT_EQ(directory.add(many.core()).message(), "this is refused");
}

TEST_F(ComponentDirectories, let_a_store_take_the_place_of_another_one) {
    ComponentDirectory directory(entities);
    ASSERT_TRUE(directory.add(one.core()).ok());
    ASSERT_TRUE(directory.add(whole.core()).ok());
    Manager<ApartOne> after(entities, pool);
    directory.replace(one.core(), after.core());
    EXPECT_EQ(directory.find(schema_of<ApartOne>().id()), &after.core());
    EXPECT_EQ(directory.stores()[0], &after.core());
    EXPECT_EQ(one.core().component_directory(), nullptr);
    EXPECT_EQ(after.core().component_directory(), &directory);
}

TEST_F(ComponentDirectories, without_an_owner_give_what_commands_name_to_the_first_store_that_takes_it) {
    ComponentDirectory directory(entities);
    EXPECT_EQ(directory.require_for_command(schema_of<ApartOne>()).message(), "no store keeps \"apart_one\"");
    ASSERT_TRUE(directory.add(one.core()).ok());
    EXPECT_EQ(*directory.require_for_command(schema_of<ApartOne>()), &one.core());
    EXPECT_FALSE(directory.require_for_command(schema_of<SplitMany>()).ok());
}

}  // namespace
}  // namespace shoal_test
