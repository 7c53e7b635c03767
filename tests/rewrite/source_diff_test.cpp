#include "shoal/rewrite/source_diff.h"
#include "rewrite/source_model.h"
#include "shoal/document/sjson.h"

#include <iterator>
#include <vector>

namespace {

using namespace shoal_test;

class SourceDiff : public ::testing::Test {
protected:
    std::string diff(const std::string& before, const std::string& after, const std::string& before_name = "a.sjson",
                     const std::string& after_name = "b.sjson") {
        const std::optional<SourceTree> a = tree_of(before, diagnostics_, before_name);
        const std::optional<SourceTree> b = tree_of(after, diagnostics_, after_name);
        return a && b ? differences_text(diff_sources(*a, *b)) : diagnostics_.format();
    }
    Diagnostics diagnostics_;
};

TEST_F(SourceDiff, what_stands_elsewhere_or_is_written_otherwise_is_the_same) {
    const std::string mapping =
        "entities = { a = { prefab = \"p\" components = { glow = { power = 2 at = [1 2] } lamp = {} } } b = {} }";
    const std::string list =
        "units = [ { _guid = \"b\" }"
        " { components = [ { _type = \"lamp\" } { _type = \"glow\" data = { at = [1 2] power = 2 } } ]"
        "   _guid = \"#a\" prefab = \"p\" } ]";
    EXPECT_EQ(diff(mapping, list), "");
    const std::string yaml =
        "entities:\n  b: {}\n  a:\n    prefab: p\n    components: {lamp: , glow: {at: [1, 2], power: 2}}\n";
    EXPECT_EQ(diff(mapping, yaml, "a.sjson", "b.yaml"), "");
    EXPECT_EQ(diff("glow = { power = 2 } lamp = null", "components = { lamp = {} glow = { power = 2 } }"), "");
    EXPECT_EQ(diff("children = { \"43D2CE7F-9f3a-4c1b-8a77-0123456789ab\" = {} }",
                   "children = { \"43d2ce7f-9f3a-4c1b-8a77-0123456789ab\" = {} }"),
              "");
}

TEST_F(SourceDiff, shows_what_was_added_removed_and_changed_by_entity) {
    EXPECT_EQ(diff("entities = { a = { name = \"x\" glow = { power = 2 box = { least = 1 most = 2 } } } b = {} }",
                   "entities = { c = { glow = 3 } a = { name = \"y\" glow = { power = 2 box = { least = 1 most = 3 } } "
                   "lamp = {} } }"),
              "a \"y\"\n"
              "-   name = \"x\"\n"
              "+   name = \"y\"\n"
              "-   components.glow.box.most = 2\n"
              "+   components.glow.box.most = 3\n"
              "+   components.lamp = {}\n"
              "- b\n"
              "+ c\n"
              "+   components = {\n"
              "+   \tglow = 3\n"
              "+   }\n");
}

TEST_F(SourceDiff, values_become_mappings_and_parts_come_before_entities) {
    EXPECT_EQ(diff("glow = { at = 1 } lamp = { x = 1 }", "glow = { at = { x = 1 } } lamp = 2"),
              ".\n-   components.glow.at = 1\n+   components.glow.at = {\n+   \tx = 1\n+   }\n"
              "-   components.lamp = {\n-   \tx = 1\n-   }\n+   components.lamp = 2\n");
    EXPECT_EQ(
        diff("entities = { a = { children = { x = { glow = 1 } } components = { glow = 1 } } }",
             "entities = { a = { children = { x = { glow = 2 } } components = { glow = 2 } } }"),
        "a\n-   components.glow = 1\n+   components.glow = 2\na/x\n-   components.glow = 1\n+   components.glow = 2\n");
    EXPECT_EQ(diff("prefab = \"p\" children = { x = { glow = 1 } } modified_children = { x = { name = \"a\" } }",
                   "prefab = \"p\" children = { x = { glow = 2 } } modified_children = { x = { name = \"b\" } }"),
              "./x\n-   components.glow = 1\n+   components.glow = 2\n"
              "./x \"b\" (a modified child)\n-   name = \"a\"\n+   name = \"b\"\n");
    // A field may be called as the key for the type is, and fields may be given in `data` or not at all.
    EXPECT_EQ(
        diff("glow = { type = \"x\"  power = 1 }", "components = { glow = { data = { type = \"x\" power = 1 } } }"),
        "");
    EXPECT_EQ(diff("components = { glow = { data = null } }", "components = { glow = {} }"), "");
    EXPECT_NE(diff("components = { glow = { _type = \"a\" } }", "components = { glow = { _type = \"b\" } }"), "");
}

TEST_F(SourceDiff, a_list_is_one_value_and_its_order_matters) {
    EXPECT_EQ(diff("glow = { at = [1 2 3] }", "glow = { at = [1 3 2] }"),
              ".\n-   components.glow.at = [1 2 3]\n+   components.glow.at = [1 3 2]\n");
}

TEST_F(SourceDiff, an_entity_with_another_parent_has_moved_and_may_have_changed) {
    EXPECT_EQ(diff("entities = { a = { children = { x = { glow = 1 } } } b = {} }",
                   "entities = { a = {} b = { children = { x = { glow = 2 } } } }"),
              "> b/x was at a/x\nb/x\n-   components.glow = 1\n+   components.glow = 2\n");
    // One that moves into one that is new, or out of one that is gone, has not moved by itself.
    EXPECT_EQ(diff("entities = { a = { children = { x = {} } } b = {} }",
                   "entities = { b = {} c = { children = { x = {} } } }"),
              "- a\n-   children = {\n-   \tx = {}\n-   }\n+ c\n+   children = {\n+   \tx = {}\n+   }\n");
    EXPECT_EQ(
        diff("entities = { a = { children = { x = {} } } b = {} }", "entities = { b = { children = { x = {} } } }"),
        "- a\n-   children = {\n-   \tx = {}\n-   }\n+ b/x\n");
    EXPECT_EQ(diff("entities = { a = { children = { x = {} } } b = {} }",
                   "entities = { a = {} b = {} c = { children = { x = {} } } }"),
              "- a/x\n+ c\n+   children = {\n+   \tx = {}\n+   }\n");
    EXPECT_EQ(diff("entities = { a = { children = { x = { children = { y = {} } } } } b = {} }",
                   "entities = { a = {} b = { children = { x = { children = { y = { glow = 1 } } } } } }"),
              "> b/x was at a/x\nb/x/y\n+   components.glow = 1\n");
    // Two entities are called x: which of them has moved is not known.
    EXPECT_EQ(diff("entities = { x = {} a = { children = { x = {} } } b = {} }",
                   "entities = { x = {} a = {} b = { children = { x = {} } } }"),
              "- a/x\n+ b/x\n");
}

TEST_F(SourceDiff, a_change_of_a_child_does_not_move_to_another_prefab) {
    EXPECT_EQ(diff("entities = { a = { prefab = \"p\" modified_children = { x = { name = \"n\" } } } b = {} }",
                   "entities = { a = { prefab = \"p\" } b = { modified_children = { x = { name = \"n\" } } } }"),
              "- a/x \"n\" (a modified child)\n-   name = \"n\"\n+ b/x \"n\" (a modified child)\n+   name = \"n\"\n");
}

TEST_F(SourceDiff, an_entity_does_not_move_to_the_root_or_from_it) {
    EXPECT_EQ(diff("_guid = \"x\" children = { y = {} }", "_guid = \"y\" children = { x = {} }"),
              "y\n-   _guid = \"x\"\n+   _guid = \"y\"\n- x/y\n+ y/x\n");
}

TEST_F(SourceDiff, a_component_of_another_type_is_changed_as_a_whole) {
    EXPECT_EQ(
        diff("components = { a = { type = \"tag\" tag = \"x\" } }", "components = { a = { type = \"glow\" } }"),
        ".\n-   components.a = {\n-   \t_type = \"tag\"\n-   \ttag = \"x\"\n-   }\n+   components.a = {\n+   \t_type = "
        "\"glow\"\n+   }\n");
}

TEST_F(SourceDiff, two_with_one_key_are_an_error_that_shows_both) {
    const std::string messages = diff("children = [ { _guid = \"a\" }\n { _guid = \"a\" } ]", "");
    EXPECT_NE(messages.find("a.sjson:2:12: error: there is already \"a\" here"), std::string::npos) << messages;
    EXPECT_NE(messages.find("a.sjson:1:24: note: the other is here"), std::string::npos) << messages;
}

TEST_F(SourceDiff, composed_entities_differ_where_their_prefabs_do) {
    MemoryFiles files;
    files.add("root/p.sjson", "components = { glow = { power = 1 on = true } } children = { x = {} }");
    files.add("root/q.sjson", "components = { glow = { power = 2 on = true } } children = { x = {} }");
    files.add("root/a.sjson", "entities = { e = { prefab = \"p\" } }");
    files.add("root/b.sjson", "entities = { e = { prefab = \"q\" modified_components = { glow = { on = true } } } }");
    ComposeOptions options;
    options.files = &files;
    options.roots = {"root"};
    const std::optional<Composition> a = compose("root/a.sjson", options, diagnostics_);
    const std::optional<Composition> b = compose("root/b.sjson", options, diagnostics_);
    ASSERT_TRUE(a && b) << diagnostics_.format();
    const SourceTree before = compose_source_tree(*a), after = compose_source_tree(*b);
    EXPECT_EQ(differences_text(diff_sources(before, after)),
              "e\n-   components.glow.power = 1\n+   components.glow.power = 2\n");
    files.add("root/c.sjson", R"(_type = "level" entities = { e = { prefab = "p" name = "E" locked = { by = 1 }
        components = { c1 = { type = "tag" data = { type = "t" } } c2 = { type = "size" data = null } }
        children = { y = {} } } })");
    options.keep_unknown_keys = true;
    const std::optional<Composition> c = compose("root/c.sjson", options, diagnostics_);
    ASSERT_TRUE(c) << diagnostics_.format();
    const SourceTree composed = compose_source_tree(*c);
    EXPECT_EQ(write_sjson(canonical_document(composed.root()).root()), R"(entities = {
	e = {
		name = "E"
		locked = {
			by = 1
		}
		components = {
			glow = {
				power = 1
				on = true
			}
			c1 = {
				_type = "tag"
				data = {
					type = "t"
				}
			}
			c2 = {
				_type = "size"
			}
		}
		children = {
			x = {}
			y = {}
		}
	}
}
)");
    const std::optional<SourceTree> odd = tree_of(
        "entities = { e = { components = { c = { _type = \"t\" note = 1 data = { a = 1 } } v = 5 } "
        "modified_components = { w = 7 } deleted_components = [ \"d\" ] } }",
        diagnostics_);
    ASSERT_TRUE(odd) << diagnostics_.format();
    EXPECT_EQ(write_sjson_line(canonical_document(odd->root()).root()),
              "entities = { e = { components = { c = { _type = \"t\", note = 1, data = { a = 1 } }, v = 5 }, "
              "modified_components = { w = 7 }, deleted_components = { d = null } } }");
}

/// Returns whether a difference tells of a line of the model.
bool covers(const SourceDifference& difference, const std::string& line) {
    const SourceItem& item = difference.after != nullptr ? *difference.after : *difference.before;
    const std::string path = entity_path(item), member = member_path(item);
    if (member.empty()) return line == path || line.starts_with(path + "/") || line.starts_with(path + " ");
    const std::string whole = path + " " + member;
    return line == whole || line.starts_with(whole + ".") || line.starts_with(whole + " ");
}

/// Whether a text has what an item is, whatever its value.
bool has_item(const std::set<std::string>& lines, const SourceItem& item) {
    const std::string member = member_path(item);
    const std::string path = entity_path(item) + (member.empty() ? "" : " " + member);
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line == path || line.starts_with(path + " = ") || line.starts_with(path + ".");
    });
}

/// Whether a difference is what it says: entities of models are not moved.
bool is_right_kind(const SourceDifference& difference, const std::set<std::string>& lines_a,
                   const std::set<std::string>& lines_b) {
    const auto& [kind, before, after] = difference;
    const bool was = before != nullptr && has_item(lines_a, *before),
               is = after != nullptr && has_item(lines_b, *after);
    switch (kind) {
        case SourceDifference::Kind::kAdded:
            return before == nullptr && is && !has_item(lines_a, *after);
        case SourceDifference::Kind::kRemoved:
            return after == nullptr && was && !has_item(lines_b, *before);
        case SourceDifference::Kind::kChanged:
            return was && is && entity_path(*before) == entity_path(*after) &&
                   member_path(*before) == member_path(*after);
        default:
            return false;
    }
}

TEST(RandomSourceDiff, tells_of_every_line_that_differs_and_of_no_other) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    ModelAuthor author(random);
    const std::int64_t rounds = scaled_operations(2000);
    for (std::int64_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE(round);
        const SourceModel before = author.invent();
        const SourceModel after = random.below(4) == 0 ? before : author.change(before);
        Diagnostics diagnostics;
        const std::optional<SourceTree> a = tree_of(author.write(before), diagnostics);
        const std::optional<SourceTree> b = tree_of(author.write(after), diagnostics);
        ASSERT_TRUE(a && b) << diagnostics.format();
        const std::set<std::string> lines_a = lines_of(before), lines_b = lines_of(after);
        ASSERT_EQ(canonical_lines(*a), text_of(lines_a));
        const std::vector<SourceDifference> differences = diff_sources(*a, *b);
        std::set<std::string> changed;
        std::set_symmetric_difference(lines_a.begin(), lines_a.end(), lines_b.begin(), lines_b.end(),
                                      std::inserter(changed, changed.end()));
        for (const std::string& line : changed)
            EXPECT_TRUE(std::any_of(differences.begin(), differences.end(),
                                    [&](const SourceDifference& d) { return covers(d, line); }))
                << line << "\n"
                << differences_text(differences);
        for (const SourceDifference& difference : differences) {
            EXPECT_TRUE(std::any_of(changed.begin(), changed.end(), [&](const std::string& line) {
                return covers(difference, line);
            })) << differences_text({difference});
            EXPECT_TRUE(is_right_kind(difference, lines_a, lines_b)) << differences_text({difference});
        }
        EXPECT_EQ(same_item(*a, a->root(), *b, b->root()), changed.empty());
    }
}

}  // namespace
