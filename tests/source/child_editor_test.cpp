// Changes of many children, named in all ways: what comes out, and that the work grows with the text only.

#include "source/child_editor.h"

#include "support/source_fixture.h"

#include <vector>

namespace shoal_test {
namespace {

using ManyChildren = SourceTest;

/// Returns `count` entries of children or changes: key(i) = { body(i) }.
template <class Key, class Body>
std::string entries(int count, Key&& key, Body&& body) {
    std::string text = "{ ";
    for (int i = 0; i < count; ++i) append_text(text, concat(key(i), " = { ", body(i), " } "));
    return text + "}";
}

std::string guid_text(int number, bool is_upper = false) {
    std::string digits = concat(number);
    digits.insert(0, 8 - digits.size(), '0');
    return concat(digits, is_upper ? "-ABCD-4C1B-8A77-0123456789EF" : "-abcd-4c1b-8a77-0123456789ef");
}

std::string nothing(int) { return {}; }

/// A tree of merged entities, two levels of `width` children each, without texts.
class Tree {
public:
    explicit Tree(std::uint32_t width) : children_(width), grandchildren_(width) {
        for (std::uint32_t i = 0; i < width; ++i) {
            keys_.push_back(concat("child", i));
            keys_.push_back(concat("grandchild", i));
        }
        for (std::uint32_t i = 0; i < width; ++i) {
            fill(grandchildren_[i], keys_[2 * i + 1]);
            fill(children_[i], keys_[2 * i]);
            below_.push_back(&grandchildren_[i]);
        }
        for (std::uint32_t i = 0; i < width; ++i) {
            children_[i].children = std::span(&below_[i], 1);
            top_.push_back(&children_[i]);
        }
    }

    /// Replaces all entities with these names by others; returns how many steps that took.
    std::uint64_t replace_all(std::string_view name) {
        Arena arena;
        std::uint64_t steps = 0;
        ChildEditor editor(top_, arena, steps, ~std::uint64_t(0), [](MergedEntity&) {});
        for (std::uint32_t i = 0; i < top_.size(); ++i) {
            const std::uint32_t found = editor.find(concat(name, i));
            EXPECT_NE(found, ChildEditor::kNone);
            MergedEntity* const changed = arena.make<MergedEntity>(*editor.entity(found));
            changed->name = "changed";
            editor.replace(found, changed);
        }
        const std::vector<const MergedEntity*> result = editor.finish();
        EXPECT_EQ(result.size(), top_.size());
        for (const MergedEntity* child : result)
            EXPECT_EQ((name == "child" ? child : child->children[0])->name, "changed");
        return steps;
    }

private:
    static void fill(MergedEntity& entity, std::string_view key) {
        entity.key = key;
        entity.key_hash = hash_text(key);
    }

    std::vector<std::string> keys_;
    std::vector<MergedEntity> children_, grandchildren_;
    std::vector<const MergedEntity*> top_, below_;
};

TEST(ChildEditor, the_steps_grow_like_the_number_of_changes) {
    for (const std::string_view name : {"child", "grandchild"}) {
        SCOPED_TRACE(name);
        const std::uint64_t steps = Tree(1'000).replace_all(name);
        EXPECT_GE(steps, 1'000u);
        EXPECT_LE(Tree(10'000).replace_all(name), 10 * steps);
        EXPECT_LE(Tree(100'000).replace_all(name), 100 * steps);
    }
}

TEST(ChildEditor, finds_each_entity_of_levels_of_any_width) {
    for (std::uint32_t width = 1; width <= 20; ++width)
        for (const std::string_view name : {"child", "grandchild"}) Tree(width).replace_all(name);
}

TEST_F(ManyChildren, a_name_that_was_deleted_is_found_again_where_a_change_adds_it) {
    file("tree.sjson",
         "components = { glow = {} } children = { a = { children = { x = {} q = {} } } b = { children = { x = {} } } k "
         "= { "
         "children = { z = {} } } }");
    const auto composes_to = [&](const char* deleted) {
        file("x.sjson", concat("prefab = \"tree\" deleted_children = [ ", deleted, " ] modified_children = { k = { ",
                               "children = { x = {} } } x = { name = \"new\" } }"));
        return outline("x.sjson");
    };
    EXPECT_EQ(composes_to("\"q\" \"b/x\" \"x\""), ". glow{}\n./a\n./b\n./k\n./k/z\n./k/x \"new\"\n");
    EXPECT_EQ(diagnostics.num_warnings(), 0u) << diagnostics.format();
    EXPECT_EQ(composes_to("\"b/x\" \"x\" \"x\""), ". glow{}\n./a\n./a/q\n./b\n./k\n./k/z\n./k/x \"new\"\n");
    EXPECT_EQ(diagnostics.num_warnings(), 1u) << "of what was deleted twice\n" << diagnostics.format();
}

TEST_F(ManyChildren, forty_thousand_changed_children_compile) {
    for (const int count : {2'500, 40'000}) {
        const auto key = [](int i) { return concat('k', i); };
        file("tree.sjson",
             concat("children = ", entries(count, key, [](int) { return "components = { glow = {} }"; })));
        file("x.sjson", concat("prefab = \"tree\" modified_children = ",
                               entries(count, key, [](int i) { return concat("name = \"n", i, '"'); })));
        const std::optional<Composition> composition = composed("x.sjson");
        ASSERT_TRUE(composition);
        EXPECT_EQ(diagnostics.format(), "");
        ASSERT_EQ(composition->entities().size(), static_cast<std::size_t>(count) + 1);
        for (int i = 0; i < count; ++i)
            ASSERT_EQ(composition->entities()[static_cast<std::size_t>(i) + 1].entity->name, concat('n', i));
    }
}

TEST_F(ManyChildren, forty_thousand_deleted_children_are_gone) {
    const auto key = [](int i) { return concat('k', i); };
    file("tree.sjson", concat("children = ", entries(40'000, key, nothing)));
    file("x.sjson",
         concat("prefab = \"tree\" components = { glow = {} } deleted_children = ", entries(39'999, key, nothing)));
    EXPECT_EQ(outline("x.sjson"), ". glow{}\n./k39999\n");
    EXPECT_EQ(diagnostics.format(), "");
}

TEST_F(ManyChildren, whole_levels_of_instances_with_many_changes_compile) {
    const auto key = [](int i) { return concat('k', i); };
    file("wide.sjson", concat("components = { glow = {} } children = ", entries(1'000, key, nothing)));
    file("level.sjson", concat("entities = ", entries(
                                                  599, [](int i) { return concat('e', i); },
                                                  [&](int) {
                                                      return "prefab = \"wide\" modified_children = " +
                                                             entries(1'000, key, [](int) { return "name = \"n\""; });
                                                  })));
    const std::optional<Composition> composition = composed("level.sjson");
    ASSERT_TRUE(composition);
    EXPECT_EQ(diagnostics.format(), "");
    ASSERT_EQ(composition->entities().size(), 599u * 1'001u);
    EXPECT_EQ(composition->entities().back().entity->name, "n");
}

TEST_F(ManyChildren, grandchildren_that_are_named_by_guid_are_found_in_every_instance) {
    const auto child = [](int i) { return guid_text(i); };
    const auto grandchildren = [&](int i) {
        return "components = { glow = {} } children = " +
               entries(30, [&](int j) { return guid_text(1'000 + i * 30 + j); }, nothing);
    };
    file("tree.sjson", concat("components = { glow = {} } children = ", entries(30, child, grandchildren)));
    const auto changes = [&](int) {
        return "prefab = \"tree\" modified_children = " +
               entries(
                   900, [&](int j) { return guid_text(1'000 + j); }, [](int j) { return concat("name = \"", j, '"'); });
    };
    file("level.sjson", concat("entities = ", entries(400, [](int i) { return concat('e', i); }, changes)));
    const std::optional<Composition> composition = composed("level.sjson");
    ASSERT_TRUE(composition);
    EXPECT_EQ(diagnostics.format(), "");
    ASSERT_EQ(composition->entities().size(), 400u * 931u);
    std::size_t num_named = 0;
    for (const ComposedEntity& entity : composition->entities()) num_named += !entity.entity->name.empty();
    EXPECT_EQ(num_named, 400u * 900u);
}

TEST_F(ManyChildren, a_search_that_takes_too_long_names_its_place_and_what_helps) {
    options.compose.max_entities = 1 << 17;
    file("p0.sjson", "components = { glow = {} }");
    for (int i = 1; i <= 16; ++i)  // 131,071 entities
        file(concat("p", i, ".sjson"),
             concat("children = { a = { prefab = \"p", i - 1, "\" } b = { prefab = \"p", i - 1, "\" } }"));
    std::string level = "entities = {\n";
    for (int i = 0; i < 40; ++i)
        append_text(level, concat("e", i, " = { prefab = \"p16\" modified_children = { nowhere = {} } }\n"));
    file("level.sjson", level + "}");
    const std::string text = errors("level.sjson");
    EXPECT_NE(text.find("level.sjson:17:46: error: looking for \"nowhere\" of `modified_children` takes too long: "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("name the target by its path, such as \"trunk/branch\", so that only its level is searched"),
              std::string::npos)
        << text;
    EXPECT_EQ(diagnostics.num_errors(), 1u) << text;
}

// --- which one is meant ----------------------------------------------------------------------------------------------

TEST_F(ManyChildren, later_changes_see_earlier_ones) {
    file("tree.sjson",
         R"(children = { a = { children = { x = { name = "ax" } } } b = { children = { x = {} y = {} } } })");
    file("change.sjson", R"(prefab = "tree"
        modified_children = [
            { id = "x" name = "first" }
            { id = "a" deleted_children = ["x"] children = { z = {} } }
            { id = "x" name = "second" }
            { id = "z" name = "third" }
            { id = "b/x" children = { deep = {} } }
            { id = "deep" name = "fourth" }
            { id = "b" name = "fifth" }
        ])");
    EXPECT_EQ(outline("change.sjson"),
              ".\n./a\n./a/z \"third\"\n./b \"fifth\"\n./b/x \"second\"\n./b/x/deep \"fourth\"\n./b/y\n");
}

TEST_F(ManyChildren, nothing_below_what_was_deleted_is_found) {
    file("tree.sjson", R"(components = { glow = {} } children = { k = { children = { q = {} } }
        a = { children = { b = { children = { c = { children = { d = {} } } } } } } })");
    for (const char* gone : {"b", "c", "d", "b/c", "c/d", "a/b/c/d"}) {
        const std::size_t num_before = diagnostics.num_warnings();
        file("x.sjson",
             concat(R"(prefab = "tree" deleted_children = ["q" "a"] modified_children = { ")", gone, R"(" = {} })"));
        EXPECT_EQ(outline("x.sjson"), ". glow{}\n./k\n");
        EXPECT_EQ(diagnostics.num_warnings(), num_before + 1) << gone << "\n" << diagnostics.format();
    }
}

TEST_F(ManyChildren, of_several_with_one_key_the_first_that_is_left_is_taken) {
    const auto twins = [](int) { return "children = { twin = {} }"; };
    file("tree.sjson", concat("children = ", entries(20, [](int i) { return concat('k', i); }, twins)));
    file("x.sjson", R"(prefab = "tree" deleted_children = ["twin" "#twin" "k5" "twin"]
        modified_children = { twin = { name = "left" } })");
    const std::string text = outline("x.sjson");
    for (const int i : {0, 1, 2}) EXPECT_EQ(text.find(concat("./k", i, "/twin")), std::string::npos) << text;
    EXPECT_EQ(text.find("./k5"), std::string::npos) << text;
    EXPECT_NE(text.find("./k3/twin \"left\"\n"), std::string::npos) << text;
    EXPECT_NE(text.find("./k4/twin\n"), std::string::npos) << text;
}

TEST_F(ManyChildren, a_key_with_slashes_is_found_as_it_is_and_in_a_path) {
    file("tree.sjson", R"(children = { k = { children = { "a/b" = { children = { c = {} } } } } })");
    file("x.sjson", R"(prefab = "tree" modified_children = {
        "k/a/b" = { name = "by path" } "a/b/c" = { name = "deeper" } "a/b" = { children = { d = {} } } })");
    EXPECT_EQ(outline("x.sjson"), ".\n./k\n./k/a/b \"by path\"\n./k/a/b/c \"deeper\"\n./k/a/b/d\n");
}

// --- GUIDs -----------------------------------------------------------------------------------------------------------

TEST_F(ManyChildren, guids_are_the_same_in_upper_and_lower_case) {
    const std::string child = guid_text(1), upper_child = guid_text(1, true);
    const std::string part = guid_text(2), upper_part = guid_text(2, true);
    file("tree.sjson", concat("components = [ { _guid = \"", upper_part, "\" _type = \"glow\" data = { power = 1 } } ]",
                              "children = [ { _guid = \"", child, "\" } ]"));
    file("x.sjson", concat("prefab = \"tree\" modified_components = { #", part, " = { data = { power = 2 } } }",
                           "modified_children = [ { id = \"", upper_child, "\" name = \"found\" } ]"));
    EXPECT_EQ(outline("x.sjson"), concat(". ", part, ":glow{power=2}\n./", child, " \"found\"\n"));
    EXPECT_EQ(diagnostics.format(), "");
    file("y.sjson", concat("entities = [ { _guid = \"", child, "\" } { _guid = \"", upper_child, "\" } ]"));
    EXPECT_NE(errors("y.sjson").find("there is already an entity"), std::string::npos) << "a GUID twice";
    file("z.sjson", "entities = { Reef = {} reef = {} }");
    EXPECT_EQ(outline("z.sjson"), "Reef\nreef\n") << "names are told apart";
}

TEST_F(ManyChildren, a_reference_finds_a_guid_in_either_case) {
    schema("components = { link = { fields = { to = entity } } }");
    const std::string child = guid_text(1), upper_child = guid_text(1, true);
    file("x.sjson", concat("components = { link = { to = \"", upper_child, "\" } } children = [ { _guid = \"", child,
                           "\" components = { link = { to = \"../", upper_child, "\" } } } ]"));
    EXPECT_TRUE(compiled("x.sjson").ok()) << diagnostics.format();
    for (std::size_t i = 0; i < child.size(); ++i) {
        if (child[i] == upper_child[i]) continue;
        std::string one_letter = child;
        one_letter[i] = upper_child[i];
        file("y.sjson",
             concat("entities = { ", child, " = {} a = { components = { link = { to = \"", one_letter, "\" } } } }"));
        EXPECT_TRUE(compiled("y.sjson").ok()) << one_letter << "\n" << diagnostics.format();
    }
}

}  // namespace
}  // namespace shoal_test
