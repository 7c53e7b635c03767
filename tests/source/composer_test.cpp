#include "support/source_fixture.h"

#include <map>

namespace shoal_test {
namespace {

using Composer = SourceTest;

// --- finding files -------------------------------------------------------------------------------------------------

TEST_F(Composer, a_prefab_is_found_in_the_folder_of_the_source) {  // req: G1
    file("reef/garden.sjson", R"(entities = { a = { prefab = "plants/coral" } })");
    file("reef/plants/coral.sjson", R"(components = { glow = { power = 1 } })");
    EXPECT_EQ(outline("reef/garden.sjson"), "a glow{power=1}\n");
}

TEST_F(Composer, roots_are_searched_in_order_and_extensions_within_each) {  // req: G12
    options.compose.roots = {"mine//", "theirs"};
    file("levels/x.sjson",
         R"(entities = { a = { prefab = "coral" } b = { prefab = "weed" } c = { prefab = "weed.unit" } })");
    file("theirs/coral.sjson", "components = { old = {} }");
    file("mine/coral.unit", "components = { new = {} }");
    file("theirs/weed.unit", "components = { weed = {} }");
    EXPECT_EQ(outline("levels/x.sjson"), "a new{}\nb weed{}\nc weed{}\n");
}

TEST_F(Composer, dependencies_are_tracked_apart_files_read_files_found_files_absent) {  // req: G12 D31
    options.compose.roots = {"mine", "theirs"};
    file("mine/x.sjson", R"(entities = { a = { prefab = "coral" } })");
    file("theirs/coral.json", "{}");
    const std::optional<Composition> composition = composed("mine/x.sjson");
    ASSERT_TRUE(composition) << diagnostics.format();
    std::string text;
    for (const SourceDependency& dependency : composition->dependencies())
        append_text(text, concat(static_cast<int>(dependency.kind), ' ', dependency.path, ' ', dependency.name, '\n'));
    EXPECT_EQ(text,
              "1 mine/x.sjson $0/x.sjson\n"
              "4 mine/coral.sjson $0/coral.sjson\n"
              "4 mine/coral.json $0/coral.json\n"
              "4 mine/coral.unit $0/coral.unit\n"
              "4 mine/coral.level $0/coral.level\n"
              "4 mine/coral.yaml $0/coral.yaml\n"
              "4 mine/coral.yml $0/coral.yml\n"
              "4 theirs/coral.sjson $1/coral.sjson\n"
              "3 theirs/coral.json $1/coral.json\n"
              "1 theirs/coral.json $1/coral.json\n");
}

TEST_F(Composer, a_missing_prefab_says_where_it_was_looked_for) {
    options.compose.roots = {"a", "b"};
    file("a/x.sjson", "prefab = \"coral\"\n");
    EXPECT_EQ(errors("a/x.sjson"),
              "a/x.sjson:1:10: error: there is no prefab \"coral\"; looked for a/coral.sjson, b/coral.sjson (and .json "
              ".unit .level .yaml .yml); correct the name "
              "or give another root\n"
              "    1 | prefab = \"coral\"\n"
              "      |          ^~~~~~~\n");
}

TEST_F(Composer, a_prefab_name_cannot_leave_the_roots) {
    for (const auto& [name, why] : std::map<std::string, std::string>{{"../coral", "leaves the roots"},
                                                                      {"a/..", "leaves the roots"},
                                                                      {"/etc/passwd", "is absolute"},
                                                                      {"a/../b", "leaves the roots"},
                                                                      {"a//b", "has an empty part"},
                                                                      {"a/", "has an empty part"},
                                                                      {"", "is empty"},
                                                                      {"./a", "has the part \".\""},
                                                                      {"$1/a", "begins with \"$\""},
                                                                      {"a\\\\b", "holds a backslash"}}) {
        SCOPED_TRACE(name);
        file("x.sjson", concat("prefab = \"", name, "\""));
        EXPECT_NE(errors("x.sjson").find("cannot be used: it " + why), std::string::npos) << diagnostics.format();
    }
    const std::string longest(1024, 'a');
    file("x.sjson", concat("prefab = \"a", longest, "\""));
    EXPECT_NE(errors("x.sjson").find("cannot be used: it is too long"), std::string::npos);
    for (const std::string_view name : {"$/a", "$1", "$a/b", "..a", "a..", ".a", "1/a", longest.c_str()}) {
        SCOPED_TRACE(name);
        file(concat(name, ".sjson"), "components = { glow = {} }");
        file("x.sjson", concat("prefab = \"", name, "\""));
        EXPECT_EQ(outline("x.sjson"), ". glow{}\n") << diagnostics.format();
    }
}

TEST_F(Composer, a_missing_source_and_an_unreadable_prefab_are_errors) {
    EXPECT_NE(errors("nowhere.sjson").find("cannot read nowhere.sjson"), std::string::npos);
    options.compose.files = nullptr;  // the disk
    options.compose.roots = {"/"};
    const std::uint32_t number = diagnostics.add_file("x.sjson", "prefab = \"tmp.d\"");
    EXPECT_FALSE(compile_file(number, registry, options, diagnostics).ok());
}

TEST_F(Composer, a_text_without_roots_says_that_it_cannot_use_prefabs) {
    const std::uint32_t number = diagnostics.add_file("text", "prefab = \"coral\"");
    EXPECT_FALSE(compile_file(number, registry, options, diagnostics).ok());
    EXPECT_NE(diagnostics.format().find("a text without roots cannot use prefabs; give a root"), std::string::npos)
        << diagnostics.format();
}

TEST_F(Composer, a_prefab_is_read_once_however_often_it_is_used) {  // req: G2
    std::string level = "entities = [";
    for (int i = 0; i < 300; ++i) append_text(level, "{ prefab = \"coral\" } { prefab = \"coral.sjson\" }");
    file("x.sjson", level + "]");
    file("coral.sjson", "prefab = \"base\"");
    file("base.sjson", "components = { glow = {} }");
    const std::optional<Composition> composition = composed("x.sjson");
    ASSERT_TRUE(composition && composition->entities().size() == 600);
    EXPECT_EQ(files.num_reads(), 3u);
    std::size_t num_read = 0;
    for (const SourceDependency& each : composition->dependencies()) num_read += each.kind == DependencyKind::kSource;
    EXPECT_EQ(num_read, 3u);
    EXPECT_EQ(composition->entities()[0].entity->components.data(),
              composition->entities()[599].entity->components.data())
        << "the merged prefab is shared";
}

TEST_F(Composer, a_level_cannot_be_a_prefab) {
    file("x.sjson", R"(prefab = "y")");
    file("y.sjson", "entities = {}");
    const std::string text = errors("x.sjson");
    EXPECT_NE(text.find("\"y.sjson\" is used as a prefab but is a level; a prefab is one entity"), std::string::npos);
    EXPECT_NE(text.find("x.sjson:1:10: note: it is used here"), std::string::npos) << text;
}

// --- root forms ----------------------------------------------------------------------------------------------------

TEST_F(Composer, a_source_is_one_entity_or_a_level_with_a_list_or_mapping) {  // req: D15 D16
    file("one.sjson", R"(_guid = "a1"  name = "Bob"  components = { glow = {} })");
    EXPECT_EQ(outline("one.sjson"), "a1 \"Bob\" glow{}\n");
    file("plain.sjson", "components = { glow = {} }");
    EXPECT_EQ(outline("plain.sjson"), ". glow{}\n");
    file("list.sjson", R"(units = [ { id = "c" guid = "d" _guid = "a" } { id = "b" editor = { name = "N" } } { } ])");
    options.rules.ignored_keys = {"editor"};
    EXPECT_EQ(outline("list.sjson"), "a\nb \"N\"\n[2]\n");
    file("mapping.sjson", "entities = { a = {} \"#b\" = {} }");
    EXPECT_EQ(outline("mapping.sjson"), "a\nb\n");
    for (const std::string_view key : {"_type", "type"}) {
        file("empty.sjson", concat(key, " = \"level\""));
        EXPECT_EQ(outline("empty.sjson"), "");
    }
    EXPECT_EQ(diagnostics.num_errors(), 0u) << diagnostics.format();
}

TEST_F(Composer, parents_come_before_children_in_the_order_of_the_text) {  // req: D21 D24
    file("x.sjson", R"(entities = { b = { children = { d = { children = { e = {} } } c = {} } } a = {} })");
    EXPECT_EQ(outline("x.sjson"), "b\nb/d\nb/d/e\nb/c\na\n");
    const std::optional<Composition> composition = composed("x.sjson");
    ASSERT_TRUE(composition);
    EXPECT_EQ(composition->entities()[0].end, 4u);
    EXPECT_EQ(composition->entities()[1].end, 3u);
    EXPECT_EQ(composition->entities()[2].parent, 1u);
}

// --- the seven operations, in both spellings -----------------------------------------------------------------------

const char* const kTree = R"(
    _guid = "root"
    components = [
        { _guid = "c1" _type = "transform" data = { position = [1 2 3] scale = [1 1 1] extra = { a = 1 b = [1 2] } } }
        { _guid = "c2" type = "glow" data = { power = 1 } }
    ]
    children = [
        { _guid = "k1" components = [ { _guid = "c3" _type = "glow" data = { power = 3 } } ]
          children = [ { _guid = "k3" components = [ { _guid = "c4" _type = "glow" data = { power = 4 } } ] } ] }
        { _guid = "k2" }
    ])";

TEST_F(Composer, a_prefab_gives_its_components_and_children) {  // req: G1
    file("tree.unit", kTree);
    file("x.sjson", R"(entities = { a = { prefab = "tree" } })");
    EXPECT_EQ(outline("x.sjson"),
              "a c1:transform{position=[1 2 3] scale=[1 1 1] extra={a=1 b=[1 2]}} c2:glow{power=1}\n"
              "a/k1 c3:glow{power=3}\n"
              "a/k1/k3 c4:glow{power=4}\n"
              "a/k2\n");
}

TEST_F(Composer, all_seven_operations_in_the_spelling_of_arrays) {  // req: G1
    file("tree.unit", kTree);
    file("x.level", R"(units = [ {
        _guid = "a" _type = "unit" prefab = "tree"
        components = [ { _guid = "c9" _type = "sound" data = { volume = 2 } } ]
        modified_components = { #c1 = { data = { position = [7 8 9] extra = { b = [3] c = 5 } } type = "transform" } }
        deleted_components = { #c2 = false }
        children = [ { _guid = "k9" } ]
        deleted_children = [ { id = "k2" } ]
        modified_children = [ { id = "k1" modified_components = { #c3 = { data = { power = 33 } } }
            deleted_children = { #k3 = null } } ]
    } ])");
    EXPECT_EQ(outline("x.level"),
              "a c1:transform{position=[7 8 9] scale=[1 1 1] extra={a=1 b=[3] c=5}} c9:sound{volume=2}\n"
              "a/k1 c3:glow{power=33}\n"
              "a/k9\n");
    EXPECT_EQ(diagnostics.format(), "");
}

TEST_F(Composer, all_seven_operations_in_the_spelling_of_objects) {  // req: G1
    file("tree.sjson", R"(
        components = { transform = { position = [1 2 3] scale = [1 1 1] } c2 = { type = "glow" power = 1 } }
        children = { k1 = { components = { glow = { power = 3 } } children = { k3 = {} } } k2 = {} })");
    file("x.sjson", R"(entities = { a = {
        prefab = "tree"
        components = { sound = { volume = 2 } c10 = { type = "sound" data = { type = "loud" } } }
        modified_components = { transform = { position = [7 8 9] } }
        deleted_components = [ "c2" ]
        children = { k9 = { name = "new" } }
        deleted_children = [ "#k2" ]
        modified_children = { k1 = { modified_components = { glow = { power = 33 } } components = { sound = {} }
            modified_children = { k3 = { name = "deep" } } } }
    } })");
    EXPECT_EQ(outline("x.sjson"),
              "a transform{position=[7 8 9] scale=[1 1 1]} sound{volume=2} c10:sound{type=loud}\n"
              "a/k1 glow{power=33} sound{}\n"
              "a/k1/k3 \"deep\"\n"
              "a/k9 \"new\"\n");
    EXPECT_EQ(diagnostics.format(), "");
}

TEST_F(Composer, edits_reach_the_entity_and_its_whole_prefab_chain) {  // req: G1
    file("base.sjson", "components = { glow = { power = 1 hue = 1 } } children = { k = {} }");
    file("middle.sjson",
         R"(prefab = "base" modified_components = { glow = { power = 2 } } components = { tag = { text = "m" } })");
    file("x.sjson", R"(entities = { a = { prefab = "middle" components = { own = { n = 1 } }
        modified_components = { glow = { hue = 3 } tag = { text = "x" } own = { n = 2 } } } b = { prefab = "middle"
            } c = { prefab = "base" } })");
    EXPECT_EQ(outline("x.sjson"),
              "a glow{power=2 hue=3} tag{text=x} own{n=2}\na/k\n"
              "b glow{power=2 hue=1} tag{text=m}\nb/k\n"
              "c glow{power=1 hue=1}\nc/k\n");
    file("one.sjson", "components = { magic = { a = 1 }  c = { type = \"spell\" a = 1 } }");
    file("two.sjson", "prefab = \"one\" modified_components = { magic = 5  c = { data = { type = \"loud\" } } }");
    file("y.sjson", "prefab = \"two\" modified_components = { magic = { b = 2 } }");
    EXPECT_EQ(outline("two.sjson"), ". magic5 c:spell{a=1 type=loud}\n") << "a value replaces all fields";
    EXPECT_EQ(outline("y.sjson"), ". magic{b=2} c:spell{a=1 type=loud}\n");
}

TEST_F(Composer, a_descendant_is_named_by_path_or_found_deeper) {  // req: G1
    file("tree.unit", kTree);
    file("x.sjson", R"(entities = {
        a = { prefab = "tree" modified_children = { "k1/k3" = { name = "by path" } } }
        b = { prefab = "tree" modified_children = { k3 = { name = "deeper" } } }
        c = { prefab = "tree" deleted_children = ["k3"] deleted_components = ["glow"] }
    })");
    const std::string text = outline("x.sjson");
    EXPECT_NE(text.find("a/k1/k3 \"by path\" c4:glow"), std::string::npos) << text;
    EXPECT_NE(text.find("b/k1/k3 \"deeper\" c4:glow"), std::string::npos) << text;
    EXPECT_EQ(text.find("c/k1/k3"), std::string::npos) << text;
    EXPECT_EQ(diagnostics.format(), "");
}

TEST_F(Composer, marks_of_a_conflict_are_told_as_such_in_every_format) {
    const std::string sjson = "glow = {\n<<<<<<< HEAD\n  power = 1\n=======\n  power = 2\n>>>>>>> other\n}\n";
    const std::string yaml = "glow:\n<<<<<<< HEAD\n  power: 1\n\n=======\n  power: 2\n>>>>>>> other\n";
    for (const auto& [name, text, end] :
         {std::tuple{"x.sjson", sjson, ":6:1"}, {"x.json", sjson, ":6:1"}, {"x.yaml", yaml, ":7:1"}}) {
        SCOPED_TRACE(name);
        const std::size_t before = diagnostics.num_errors();
        file(name, text);
        EXPECT_FALSE(composed(name));
        EXPECT_EQ(diagnostics.num_errors(), before + 1) << "and nothing else";
        const std::string said = diagnostics.format();
        EXPECT_NE(said.find(concat(name, ":2:1: error: a merge has left 1 conflict in this text")), std::string::npos)
            << said;
        EXPECT_NE(said.find(concat(name, end, ": note: it ends here")), std::string::npos) << said;
    }
    file("z.sjson", "glow = {\r\n<<<<<<<\r\n=======\r\n>>>>>>>\r\n}\r\n");
    EXPECT_FALSE(composed("z.sjson"));
    EXPECT_NE(diagnostics.format().find("z.sjson:2:1: error: a merge has left 1 conflict"), std::string::npos)
        << diagnostics.format();
    file("y.sjson", "tag = { text = \"\"\"\n<<<<<<< a\n>>>>>>> b\n\"\"\" }\n");
    EXPECT_EQ(outline("y.sjson"), ". tag{text=\n<<<<<<< a\n>>>>>>> b\n}\n") << "a text may say so";
}

TEST_F(Composer, a_key_that_several_descendants_have_is_a_warning_with_the_paths_of_two) {
    file("car.sjson",
         "children = {\n front = { children = { wheel = {} } }\n rear = { children = { wheel = { } } }\n roof = { "
         "components = { glow = {} } } }\n");
    file("x.sjson",
         "prefab = \"car\"\nmodified_children = { wheel = { name = \"flat\" } roof = {} \"rear/wheel\" = {} }\n");
    file("y.sjson", "prefab = \"car\" deleted_children = [\"wheel\"]\n");
    EXPECT_EQ(outline("x.sjson"), ".\n./front\n./front/wheel \"flat\"\n./rear\n./rear/wheel\n./roof glow{}\n");
    EXPECT_EQ(outline("y.sjson"), ".\n./front\n./rear\n./rear/wheel\n./roof glow{}\n");
    EXPECT_EQ(diagnostics.num_errors(), 0u);
    const std::string text = diagnostics.format();
    EXPECT_NE(
        text.find("x.sjson:2:23: warning: \"wheel\" of `modified_children` means several descendants, and the first is "
                  "changed; write its path, \"front/wheel\", or that of another, such as \"rear/wheel\""),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("car.sjson:3:24: note: another is here"), std::string::npos) << text;
    EXPECT_NE(
        text.find("y.sjson:1:36: warning: \"wheel\" of `deleted_children` means several descendants, and the first "
                  "is deleted"),
        std::string::npos)
        << text;
    EXPECT_EQ(diagnostics.num_warnings(), 2u) << text;
}

TEST_F(Composer, a_null_prefab_is_none_and_a_name_is_inherited) {  // req: G1
    file("coral.sjson", R"(name = "coral" components = { glow = null })");
    file("x.sjson",
         R"(entities = { a = { prefab = null } b = { prefab = "coral" } c = { prefab = "coral" name = "red" } })");
    EXPECT_EQ(outline("x.sjson"), "a\nb \"coral\" glownull\nc \"red\" glownull\n");
}

TEST_F(Composer, a_merged_node_keeps_its_place) {
    file("base.sjson", "components = {\n  glow = { power = 1\n hue = 2 } }");
    file("x.sjson", "prefab = \"base\"\nmodified_components = {\n glow = {\n  power = 3 } }");
    const std::optional<Composition> composition = composed("x.sjson");
    ASSERT_TRUE(composition);
    const Document merged = merge_layers(*composition->entities()[0].entity->components[0].top);
    const auto place = [&](std::string_view key) {
        const SourceLocation at = diagnostics.locate(merged.root().find(key).position());
        return concat(diagnostics.name(at.file), ':', at.line, ':', at.column);
    };
    EXPECT_EQ(place("power"), "x.sjson:4:11");
    EXPECT_EQ(place("hue"), "base.sjson:3:8");
}

// --- mistakes ------------------------------------------------------------------------------------------------------

TEST_F(Composer, a_stale_override_is_a_warning_that_names_it) {  // req: G1
    file("coral.sjson", "components = { glow = {} }");
    file("x.sjson",
         "prefab = \"coral\"\nmodified_components = { \"#c7\" = { } }\ndeleted_components = [ \"d7\" "
         "]\nmodified_children = { k7 = {} }\ndeleted_children = { k8 = false }\n");
    EXPECT_EQ(outline("x.sjson"), ". glow{}\n");
    EXPECT_EQ(diagnostics.num_errors(), 0u);
    EXPECT_EQ(diagnostics.num_warnings(), 4u);
    const std::string text = diagnostics.format();
    EXPECT_NE(text.find("x.sjson:2:25: warning: `modified_components` names \"c7\", but there is no such component in "
                        "the prefab \"coral\"; correct the key, or remove this"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("x.sjson:3:24: warning: `deleted_components` names \"d7\""), std::string::npos) << text;
    EXPECT_NE(text.find("x.sjson:4:23: warning: `modified_children` names \"k7\", but there is no such child"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("x.sjson:5:22: warning: `deleted_children` names \"k8\""), std::string::npos) << text;
}

TEST_F(Composer, a_type_that_several_components_have_names_none_of_them) {
    file("coral.sjson", "components = { a = { type = \"glow\" } b = { type = \"glow\" } }");
    file("x.sjson", "prefab = \"coral\"\nmodified_components = { glow = { power = 3 } }\n");
    EXPECT_EQ(outline("x.sjson"), ". a:glow{} b:glow{}\n");
    EXPECT_NE(diagnostics.format().find("x.sjson:2:25: warning: `modified_components` names \"glow\", but there are 2 "
                                        "components of this type; name one of them by its GUID"),
              std::string::npos)
        << diagnostics.format();
}

TEST_F(Composer, an_empty_source_is_one_entity_and_a_warning) {
    file("x.sjson", "// nothing yet\n");
    EXPECT_EQ(outline("x.sjson"), ".\n");
    EXPECT_EQ(diagnostics.num_warnings(), 1u);
    EXPECT_NE(diagnostics.format().find("the source is empty"), std::string::npos) << diagnostics.format();
}

TEST_F(Composer, strict_makes_a_stale_override_an_error) {
    schema("components = { glow = null }");
    file("x.sjson", "components = { glow = {} } deleted_components = [ \"d7\" ]");
    EXPECT_TRUE(compiled("x.sjson").ok());
    options.strict = true;
    EXPECT_EQ(compiled("x.sjson").message(), "x.sjson: 1 warning, which counts as an error here");
    file("y.sjson", "components = { glow = {} }");
    EXPECT_TRUE(compiled("y.sjson").ok()) << "warnings of other sources do not count";
}

TEST_F(Composer, a_cycle_is_an_error_with_the_whole_chain) {  // req: G2
    file("a.sjson", "prefab = \"b\"\n");
    file("b.sjson", "children = { k = { prefab = \"c\" } }\n");
    file("c.sjson", "prefab = \"a\"\n");
    const std::string text = errors("a.sjson");
    EXPECT_NE(text.find("c.sjson:1:10: error: prefabs form a cycle: a -> b -> c -> a; remove one of the references"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("a.sjson:1:10: note: \"b\" is used here"), std::string::npos) << text;
    EXPECT_NE(text.find("b.sjson:1:29: note: \"c\" is used here"), std::string::npos) << text;
    EXPECT_EQ(diagnostics.num_errors(), 1u) << text;
}

TEST_F(Composer, a_prefab_that_uses_itself_is_a_cycle) {  // req: G2
    file("x.sjson", R"(entities = { e = { prefab = "a" } f = { prefab = "a" } })");
    file("a.sjson", "prefab = \"a.sjson\"");
    EXPECT_NE(errors("x.sjson").find("prefabs form a cycle: a -> a.sjson"), std::string::npos) << diagnostics.format();
    EXPECT_EQ(diagnostics.num_errors(), 1u);
}

TEST_F(Composer, doubling_prefabs_are_refused_before_they_are_expanded) {
    file("p0.sjson", "components = { glow = {} }");
    for (int i = 1; i <= 40; ++i)
        file(concat("p", i, ".sjson"),
             concat("children = { a = { prefab = \"p", i - 1, "\" } b = { prefab = \"p", i - 1, "\" } }"));
    const std::string text = errors("p40.sjson");
    EXPECT_NE(text.find("error: this entity and its children have more than 4194304 entities; look for a prefab that "
                        "uses another one many times"),
              std::string::npos)
        << text;
    EXPECT_EQ(diagnostics.num_errors(), 1u) << text;
}

TEST_F(Composer, a_deep_chain_of_prefabs_is_refused) {
    file("p0.sjson", "");
    for (int i = 1; i <= 400; ++i) file(concat("p", i, ".sjson"), concat("prefab = \"p", i - 1, "\""));
    EXPECT_NE(
        errors("p400.sjson").find("children and prefabs are nested more than 256 levels deep; make the source flatter"),
        std::string::npos)
        << diagnostics.format();
}

TEST_F(Composer, components_and_entities_with_one_key_are_errors_that_name_both) {
    file("coral.sjson", "components = {\n glow = {} }");
    file("x.sjson",
         "units = [\n{ _guid = \"a\" prefab = \"coral\" components = { glow = {} } }\n{ _guid = \"a\" }\n]\n");
    const std::string text = errors("x.sjson");
    EXPECT_NE(
        text.find("x.sjson:2:47: error: there is already a component \"glow\"; change it under `modified_components`"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("coral.sjson:2:2: note: the other is here"), std::string::npos) << text;
    EXPECT_NE(text.find("x.sjson:3:11: error: there is already an entity \"a\" here"), std::string::npos) << text;
    EXPECT_NE(text.find("x.sjson:2:1: note: the other is here"), std::string::npos) << text;
}

TEST_F(Composer, a_key_that_an_entity_does_not_have_is_an_error_unless_ignored_or_kept) {
    schema("components = { glow = null }");
    file("x.sjson", "componets = {}\neditor = { name = \"n\" locked = true }\n");
    const std::string text = errors("x.sjson");
    EXPECT_NE(text.find("x.sjson:1:1: error: an entity has no key \"componets\"; did you mean `components`?"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("x.sjson:2:1: error: only the `name` in the `editor` of an entity means something; remove the "
                        "rest, or list `editor` under `ignored_keys` in a schema file, which keeps the name"),
              std::string::npos)
        << text;
    file("w.sjson", "components = { glow = {} }\neditor = { locked = true }\n");
    EXPECT_NE(errors("w.sjson").find("w.sjson:2:1: error: only the `name` in the `editor`"), std::string::npos);
    file("y.sjson", "editor = { name = \"Bob\" } components = { glow = {} }");
    EXPECT_EQ(outline("y.sjson"), ". \"Bob\" glow{}\n");
    const std::size_t num_errors = diagnostics.num_errors();
    options.rules.ignored_keys = {"editor", "children", "shade"};
    file("v.sjson", "entities = { a = { glow = {}  shade = { dark = 1 } } }");
    EXPECT_EQ(outline("v.sjson"), "a glow{}\n") << "the short form, too";
    file("z.sjson", "editor = { name = \"Bob\" locked = true } components = { glow = {} } children = { k = {} }");
    EXPECT_EQ(outline("z.sjson"), ". \"Bob\" glow{}\n./k\n") << "what means something is not ignored";
    EXPECT_EQ(diagnostics.num_errors(), num_errors) << diagnostics.format();
}

TEST_F(Composer, a_key_makes_an_entity_short_or_long_as_it_does_the_entities_before) {
    schema(
        "renamed_keys = { parts = components  glows = glow }  components = { glow = { fields = { power = float } } }");
    const std::string entities =
        "entities = {\n a = { glow = { power = 1 } }\n b = { glow = {}  componets = {} }\n c = { glow = { power = 2 } "
        "}\n"
        " d = { componets = {} }\n e = { glows = {}  name = \"n\" }\n f = { parts = { glow = {} } }\n"
        " g = { parts = { glow = {} }  glow = {} }\n}\n";
    file("x.sjson", entities);
    const std::string text = errors("x.sjson");
    for (const char* place :
         {"3:8: error: an entity has no key \"glow\"", "3:19: error: an entity has no key \"componets\"",
          "5:8: error: an entity has no key \"componets\"; did you mean `components`?",
          "6:8: error: an entity has no key \"glows\"", "8:31: error: an entity has no key \"glow\""})
        EXPECT_NE(text.find(concat("x.sjson:", place)), std::string::npos) << place << "\n" << text;
    EXPECT_EQ(diagnostics.num_errors(), 5u) << text;
}

TEST_F(Composer, two_hundred_children_inside_one_another_fit_in_one_text) {
    const auto nested = [](int depth) {
        std::string text = "components = { glow = {} } ";
        for (int i = 1; i < depth; ++i) append_text(text, "children = [ { components = { glow = {} } ");
        for (int i = 1; i < depth; ++i) append_text(text, "} ] ");
        return text;
    };
    file("x.sjson", nested(256));
    const std::optional<Composition> composition = composed("x.sjson");
    ASSERT_TRUE(composition) << diagnostics.format();
    EXPECT_EQ(composition->entities().size(), 256u);
    EXPECT_EQ(diagnostics.format(), "");
    file("y.sjson", nested(257));
    EXPECT_NE(errors("y.sjson").find("children and prefabs are nested more than 256 levels deep"), std::string::npos)
        << diagnostics.format();
}

TEST_F(Composer, prefabs_inside_one_another_count_as_children_do_also_when_they_are_known_already) {
    file("p0.sjson", "components = { glow = {} }");
    for (int i = 1; i <= 256; ++i)
        file(concat("p", i, ".sjson"), concat("children = { a = { prefab = \"p", i - 1, "\" } }"));
    const auto level = [&](int highest) {  // each prefab is known when the next one uses it
        std::string text = "entities = {";
        for (int i = 0; i <= highest; ++i) append_text(text, concat(" e", i, " = { prefab = \"p", i, "\" }"));
        return text + " }";
    };
    file("x.sjson", level(255));
    EXPECT_TRUE(composed("x.sjson")) << diagnostics.format();
    file("y.sjson", level(256));
    EXPECT_NE(errors("y.sjson").find("this level has children more than 256 deep"), std::string::npos)
        << diagnostics.format();
}

TEST_F(Composer, the_type_of_an_entity_is_never_dropped) {
    schema("components = { glow = null }");
    file("good.sjson", R"(_type = "level" units = [ { _type = "unit" type = "entity" components = { glow = {} } } ])");
    EXPECT_TRUE(compiled("good.sjson").ok()) << diagnostics.format();
    EXPECT_EQ(diagnostics.num_warnings(), 0u) << diagnostics.format();
    file("x.sjson", "type = \"models/wall\"\ncomponents = { glow = {} }\n");
    EXPECT_NE(errors("x.sjson").find("x.sjson:1:8: error: `type` of an entity is \"models/wall\"; write \"entity\", or "
                                     "leave it out; an entity is what its `prefab` and `components` make it"),
              std::string::npos)
        << diagnostics.format();
    file("y.sjson", "_type = \"levle\" units = []");
    EXPECT_NE(errors("y.sjson").find("`_type` of a level is \"levle\"; did you mean \"level\"?"), std::string::npos)
        << diagnostics.format();
    options.rules.keep_unknown_fields = true;
    const Result<CompiledSource> kept = compiled("x.sjson");
    ASSERT_TRUE(kept.ok()) << diagnostics.format();
    EXPECT_EQ(kept->num_kept_fields, 1u);
    EXPECT_NE(diagnostics.format().find("kept 1 value of \"type\" in entities as text"), std::string::npos)
        << diagnostics.format();
}

TEST_F(Composer, a_source_that_gives_no_component_is_a_warning) {
    file("bare.sjson", "name = \"Bob\"\n");
    EXPECT_EQ(outline("bare.sjson"), ". \"Bob\"\n");
    file("level.sjson", "entities = { a = {} }");
    EXPECT_EQ(outline("level.sjson"), "a\n");
    EXPECT_EQ(diagnostics.num_warnings(), 2u) << diagnostics.format();
    EXPECT_NE(diagnostics.format().find("bare.sjson:1:1: warning: the source gives no component; write `components`"),
              std::string::npos)
        << diagnostics.format();
    options.rules.keep_unknown_fields = true;
    file("other.sjson", "_type = \"level\" objects = [ {} ]");
    EXPECT_EQ(outline("other.sjson"), "") << "all that it has is kept as text";
    EXPECT_EQ(diagnostics.num_warnings(), 3u) << diagnostics.format();
    file("new.sjson", "_type = \"level\" units = []");
    EXPECT_EQ(outline("new.sjson"), "");
    EXPECT_EQ(diagnostics.num_warnings(), 3u) << "a new level may be empty";
}

TEST_F(Composer, a_schema_says_whether_units_or_entities_count) {
    file("x.sjson", R"(units = [ { _guid = "u" components = { glow = {} } } ]
        entities = [ { _guid = "e" components = { glow = {} } } ])");
    EXPECT_EQ(outline("x.sjson"), "u glow{}\n");
    EXPECT_NE(diagnostics.format().find("a level has `units` or `entities`, not both; put all into one of them, or say "
                                        "which one counts in a schema file: `level_entities = units`"),
              std::string::npos)
        << diagnostics.format();
    EXPECT_EQ(diagnostics.num_errors(), 1u);
    schema("level_entities = entities");
    EXPECT_EQ(outline("x.sjson"), "e glow{}\n");
    schema("level_entities = units");
    EXPECT_EQ(outline("x.sjson"), "u glow{}\n");
    file("one.sjson", R"(entities = [ { _guid = "e" components = { glow = {} } } ])");
    EXPECT_EQ(outline("one.sjson"), "e glow{}\n") << "where there is one, it counts";
    schema("level_entities = entities");
    file("other.sjson", R"(units = [ { _guid = "u" components = { glow = {} } } ])");
    EXPECT_EQ(outline("other.sjson"), "u glow{}\n");
    schema("level_entities = both");
    EXPECT_EQ(outline("x.sjson"), "u glow{}\ne glow{}\n");
    EXPECT_EQ(diagnostics.num_errors(), 1u) << diagnostics.format();
    EXPECT_NE(schema_errors("level_entities = all").find("write units, entities or both"), std::string::npos);
}

TEST_F(Composer, a_schema_renames_keys) {
    schema("renamed_keys = { inherit = prefab  pos = transform.position  pow = power  label = name }");
    file("coral.sjson", "components = { transform = { position = [1 1 1] scale = 2 } glow = { pow = 1 } }");
    file("x.sjson", R"(entities = {
        a = { inherit = "coral" pos = [4 5 6] label = "red" modified_components = { glow = { pow = 3 } } }
        b = { pos = [7 8 9] components = { transform2 = { type = "transform" pos = [0 0 0] } lamp = { pos = 1 } } }
        c = { pos = [7 8 9] } })");
    EXPECT_EQ(outline("x.sjson"),
              "a \"red\" transform{position=[4 5 6] scale=2} glow{power=3}\n"
              "b transform2:transform{position=[7 8 9]} lamp{pos=1}\n"
              "c transform{position=[7 8 9]}\n");
    file("short.sjson", "inherit = \"coral\"  modified_components = { glow = { inherit = 2 } }");
    EXPECT_EQ(outline("short.sjson"), ". transform{position=[1 1 1] scale=2} glow{power=1 inherit=2}\n");
    EXPECT_EQ(diagnostics.format(), "");
    file("y.sjson", "name = \"a\" label = \"b\" components = { glow = { power = 1  pow = 2 } }");
    const std::string text = errors("y.sjson");
    EXPECT_NE(text.find("\"label\" means `name`, which is there too"), std::string::npos) << text;
    EXPECT_NE(text.find("the field \"power\" is given twice: as \"power\" and as \"pow\""), std::string::npos) << text;
}

TEST_F(Composer, keys_that_mean_something_are_neither_ignored_nor_renamed) {
    for (const std::string_view key : {"children", "type", "_guid", "units", "data", "prefab"}) {
        SCOPED_TRACE(key);
        EXPECT_NE(schema_errors(concat("ignored_keys = [", key, "]"))
                      .find(concat("`ignored_keys` names \"", key, "\", which means something in every source")),
                  std::string::npos)
            << diagnostics.format();
        EXPECT_NE(
            schema_errors(concat("renamed_keys = { ", key, " = other }")).find(concat("`renamed_keys` names \"", key)),
            std::string::npos)
            << diagnostics.format();
    }
    EXPECT_NE(schema_errors("renamed_keys = [pos]").find("write a mapping: { pos = position }"), std::string::npos);
}

TEST_F(Composer, mistyped_targets_and_prefabs_get_suggestions) {
    options.compose.roots = {"mine", "theirs"};
    file("mine/reef/tree.sjson",
         "components = { transform = {} } children = { branch = { children = { leaf = {} } } }");
    file("mine/x.sjson", R"(prefab = "reef/tree" modified_components = { transfrom = {} } deleted_children = ["brnch"]
        modified_children = { "branch/laef" = {} })");
    EXPECT_EQ(outline("mine/x.sjson"), ". transform{}\n./branch\n./branch/leaf\n");
    const std::string text = diagnostics.format();
    EXPECT_NE(text.find("names \"transfrom\", but there is no such component in the prefab \"reef/tree\"; did you mean "
                        "\"transform\"? correct the key, or remove this"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("did you mean \"branch\"? correct the key"), std::string::npos) << text;
    file("theirs/reef/corals.unit", "");
    file("mine/y.sjson", "prefab = \"reef/coral\"");
    EXPECT_NE(
        errors("mine/y.sjson").find("there is no prefab \"reef/coral\"; did you mean \"reef/corals\"? looked for"),
        std::string::npos)
        << diagnostics.format();
}

TEST_F(Composer, a_wrong_type_is_called_by_its_key) {
    file("x.sjson", "components = { a = { _type = 3 } }");
    EXPECT_NE(errors("x.sjson").find("`_type` is an integer; write the name of a component type"), std::string::npos);
    file("y.sjson", "components = [ { _type = \"a\" type = \"b\" data = {} } ]");
    EXPECT_NE(errors("y.sjson").find("`_type` is \"a\", but `type` is \"b\"; remove one of them"), std::string::npos)
        << diagnostics.format();
    file("z.sjson", "units = [ { id = 3 } ]");
    EXPECT_NE(errors("z.sjson").find("`id` is an integer; write a string"), std::string::npos) << diagnostics.format();
    file("w.sjson", "prefab = \"./coral\"");
    EXPECT_NE(
        errors("w.sjson").find("the prefab name \"./coral\" cannot be used: it has the part \".\"; leave that out"),
        std::string::npos)
        << diagnostics.format();
}

TEST_F(Composer, a_mistyped_root_of_a_level_is_recognised) {
    file("x.sjson", "entites = [ {} ]\n");
    EXPECT_NE(errors("x.sjson").find("did you mean `entities`?"), std::string::npos) << diagnostics.format();
    file("x.sjson", "units = [ { unit = [] } ]\n");
    EXPECT_NE(errors("x.sjson").find("there is no component type \"unit\""), std::string::npos)
        << "an entity inside has no `units`\n"
        << diagnostics.format();
    file("x.sjson", "children = { a = { components = { glow = {} } entites = [] } }\n");
    const std::string inside = errors("x.sjson");
    EXPECT_NE(inside.find("an entity has no key \"entites\"; remove it"), std::string::npos) << inside;
}

TEST_F(Composer, what_is_not_what_it_should_be_is_an_error_each) {
    for (const auto& [source, message] : std::map<std::string, std::string>{
             {"prefab = 3", "`prefab` is an integer; write the name of a resource, or null"},
             {"name = []", "`name` is a list; write a string"},
             {"units = [ { _guid = 3 } ]", "`_guid` is an integer; write a string"},
             {"components = [ { _guid = 3 type = \"glow\" } ]", "`_guid` is an integer; write a string"},
             {"components = 3", "`components` is an integer; write a list, or a mapping by GUID or name"},
             {"components = [ 3 ]", "an element of `components` is an integer; write a mapping"},
             {"components = [ {} ]", "a component in a list has no type; give it a `type`"},
             {"components = { a = { type = 3 } }", "`type` is an integer; write the name of a component type"},
             {"components = { a = { data = 3 } }", "`data` is an integer; write a mapping of fields"},
             {"components = { \"\" = {} }", "an element of `components` has an empty key"},
             {"modified_components = [ {} ]",
              "an element of `modified_components` does not name its target; give it a `_guid`"},
             {"children = { a = 3 }", "an entity is a mapping, this is an integer"},
             {"units = [] entities = []", "a level has `units` or `entities`, not both"},
             {"units = [] components = {}", "a level has no key \"components\""},
             {"children = { a = {} } modified_children = { a = { prefab = \"b\" } }",
              "`modified_children` cannot give a child another prefab"},
             {"components = { a = { type = \"b\" } } modified_components = { a = { _type = \"c\" } }",
              "the component \"a\" is of type \"b\", not \"c\""},
             {"children = { a = { children = { b = {} } } \"a/b\" = {} }",
              "is that of another entity; give one of them another GUID"}}) {
        SCOPED_TRACE(source);
        file("x.sjson", source);
        EXPECT_NE(errors("x.sjson").find(message), std::string::npos) << diagnostics.format();
    }
}

// --- second uses, refusals and ends --------------------------------------------------------------------------------

TEST_F(Composer, what_is_wrong_in_a_prefab_is_told_once_and_what_overrides_it_is_not_blamed) {
    file("bad.sjson", "entities = {}");
    file("x.sjson", R"(entities = {
        a = { prefab = "bad" modified_components = { glow = { power = 1 } } } b = { prefab = "bad" deleted_children = [ "k" ] }
        c = { prefab = "bad.sjson" deleted_components = [ "glow" ] }
        d = { prefab = "nowhere" modified_components = { glow = { power = 1 } } deleted_children = [ "k" ] } })");
    EXPECT_TRUE(composed("x.sjson"));
    EXPECT_EQ(diagnostics.num_errors(), 2u) << diagnostics.format();
    EXPECT_EQ(diagnostics.num_warnings(), 0u) << diagnostics.format();
    file("y.sjson", R"(entities = { d = { prefab = "nowhere" } e = { prefab = "nowhere" } })");
    EXPECT_NE(errors("y.sjson").find("there is no prefab \"nowhere\""), std::string::npos);
}

TEST_F(Composer, an_entity_is_where_its_text_is_and_a_changed_child_where_it_was_made) {
    file("tree.sjson", "components = { glow = {} }\nchildren = {\n k1 = {}\n k2 = {} }\nlocked = 1\n");
    file("x.sjson",
         "entities = {\n a = {\n  prefab = \"tree\"\n  hidden = 2\n  modified_children = {\n   k2 = { name = \"n\" } "
         "}\n  children = {\n   k3 = { prefab = \"tree\" } } } }");
    options.rules.keep_unknown_fields = true;
    const std::optional<Composition> composition = composed("x.sjson");
    ASSERT_TRUE(composition) << diagnostics.format();
    std::string places;
    for (const ComposedEntity& each : composition->entities()) {
        const SourceLocation at = diagnostics.locate(each.entity->position);
        append_text(places, concat(each.entity->key, ' ', diagnostics.name(at.file)[0], at.line, ' '));
    }
    EXPECT_EQ(places, "a x2 k1 t3 k2 t4 k3 x8 k1 t3 k2 t4 ");
    std::string others;
    for (const Node key : composition->entities()[0].entity->other_keys) append_text(others, concat(key.key(), ' '));
    EXPECT_EQ(others, "locked hidden ") << "those of the prefab stay, and come first";
}

TEST_F(Composer, the_most_of_everything_is_taken_and_one_more_refused) {
    const auto composes = [&](const std::string& text) {
        const std::size_t num_errors = diagnostics.num_errors();
        file("x.sjson", text);
        return composed("x.sjson") && diagnostics.num_errors() == num_errors;
    };
    options.compose.max_entities = 3;
    options.compose.max_components = 4;
    const std::string child = "{ components = { glow = {} } }";
    EXPECT_TRUE(composes(concat("components = { glow = {} } children = [ ", child, child, " ]")));
    EXPECT_FALSE(composes(concat("components = { glow = {} } children = [ ", child, child, child, " ]")));
    EXPECT_TRUE(composes(concat("entities = [ ", child, child, child, " ]"))) << "a level is no entity";
    EXPECT_FALSE(composes(concat("entities = [ ", child, child, child, child, " ]")));
    EXPECT_TRUE(composes(concat("components = { a = {} b = {} } children = [ ", child, child, " ]")));
    EXPECT_FALSE(composes(concat("components = { a = {} b = {} c = {} } children = [ ", child, child, " ]")));
    options.compose.max_entities = options.compose.max_components = 1 << 20;
    std::string components, changes;
    for (int i = 0; i < 1024; ++i) append_text(components, concat(" c", i, " = {}"));
    for (int i = 0; i < 1023; ++i) append_text(changes, concat("{ _guid = \"glow\" n = ", i, " }"));
    EXPECT_TRUE(composes(concat("components = {", components, " }")));
    EXPECT_FALSE(composes(concat("components = {", components, " more = {} }")));
    EXPECT_TRUE(composes(concat("components = { glow = {} } modified_components = [", changes, " ]")));
    EXPECT_FALSE(
        composes(concat("components = { glow = {} } modified_components = [", changes, "{ _guid = \"glow\" } ]")));
    EXPECT_NE(diagnostics.format().find("the component \"glow\" is modified more than 1024 times"), std::string::npos);
    for (const auto& [version, is_taken] : {std::pair{"0", false},
                                            {"1", true},
                                            {"4294967295", true},
                                            {"4294967296", false},
                                            {"-1", false},
                                            {"1.5", false}})
        EXPECT_EQ(composes(concat("_versions = { glow = ", version, " } components = { glow = {} }")), is_taken)
            << version;
}

TEST_F(Composer, what_is_null_or_repeated_means_what_it_says) {
    schema("renamed_keys = { at = transform.position  size = transform.scale }");
    file("tree.sjson",
         "components = { transform = { position = [1 1 1] } glow = { power = 1 } } children = { k1 = {} }");
    file("x.sjson", R"(entities = [
        { _guid = null id = "a" prefab = "tree" name = "A" editor = { name = "B" } children = null
          modified_components = { glow = null } deleted_components = null }
        { id = "b" at = [4 5 6] size = 3 }
        { id = "c" components = [ { type = "glow" id = 5 } { type = "lamp" data = null } ] }
        { id = "d" prefab = "tree" at = [7 8 9] size = 2 }
        { } { id = "e" } { } ])");
    EXPECT_EQ(outline("x.sjson"),
              "a \"A\" transform{position=[1 1 1]} glow{power=1}\na/k1\n"
              "b transform{position=[4 5 6] scale=3}\nc glow{id=5} lampnull\n"
              "d transform{position=[7 8 9] scale=2} glow{power=1}\nd/k1\n[4]\ne\n[6]\n");
    file("z.sjson", "prefab = \"tree\" children = [ {} { id = \"k2\" } {} ]");
    EXPECT_EQ(outline("z.sjson"), ". transform{position=[1 1 1]} glow{power=1}\n./k1\n./[0]\n./k2\n./[2]\n")
        << "numbers count what the text lists, and not what it inherits";
    EXPECT_EQ(diagnostics.format(), "");
    file("y.sjson", "prefab = \"tree\"\nchildren = { k2 = {} k1 = {} }\n");
    EXPECT_TRUE(composed("y.sjson"));
    const std::string text = diagnostics.format();
    EXPECT_NE(text.find("y.sjson:2:22: error: there is already an entity \"k1\" here"), std::string::npos) << text;
    EXPECT_NE(text.find("tree.sjson:1:87: note: the other is here"), std::string::npos) << text;
    EXPECT_EQ(diagnostics.num_errors(), 1u) << diagnostics.format();
    file("w.sjson", "children = [ { id = a }\n{ id = a }\n{ id = b }\n{ id = c }\n{ id = b }\n{ id = c } ]");
    const std::string before = diagnostics.format();
    options.compose.read.bare_texts = true;
    EXPECT_TRUE(composed("w.sjson"));
    const std::string doubles = messages_since(before);
    for (const char* place : {"w.sjson:2:8: error: there is already an entity \"a\" here",
                              "w.sjson:5:8: error: there is already an entity \"b\" here",
                              "w.sjson:6:8: error: there is already an entity \"c\" here"})
        EXPECT_NE(doubles.find(place), std::string::npos) << place << "\n" << doubles;
    EXPECT_EQ(diagnostics.num_errors(), 4u) << "each once";
}

TEST_F(Composer, keys_of_levels_are_not_ignored_in_entities_and_versions_stand_at_the_top) {
    options.rules.ignored_keys = {"units"};
    file("x.sjson", "children = { a = { units = []  components = { glow = {} } } }");
    EXPECT_NE(errors("x.sjson").find("an entity has no key \"units\""), std::string::npos) << diagnostics.format();
    const std::string level =
        "entities = [ { prefab = \"p\" }\n { _versions = { glow = 1 }  components = { glow = {} } } ]";
    file("p.sjson", std::string(level.find("{ _versions"), ' ') + "components = { glow = {} }");
    file("y.sjson", level);
    EXPECT_NE(errors("y.sjson").find("`_versions` stands in an entity inside of a file"), std::string::npos)
        << "though the prefab begins at the same place of its file";
}

TEST_F(Composer, an_older_name_of_a_type_finds_its_components) {
    schema("components = { glow = { many = true  renamed_from = gleam  fields = { power = float } } }");
    file("two.sjson", "components = { a = { type = \"glow\" } b = { type = \"glow\" } }");
    file("x.sjson", "prefab = \"two\"\nmodified_components = { gleam = { power = 3 } }\n");
    ASSERT_TRUE(compiled("x.sjson").ok()) << diagnostics.format();
    EXPECT_NE(
        diagnostics.format().find("`modified_components` names \"gleam\", but there are 2 components of this type"),
        std::string::npos)
        << diagnostics.format();
    file("one.sjson", "components = { a = { type = \"gleam\" } }");
    file("y.sjson", "prefab = \"one\"\nmodified_components = { a = { _type = \"gleam\" data = { power = 3 } } }\n");
    EXPECT_TRUE(compiled("y.sjson").ok()) << diagnostics.format();
    file("z.sjson", "prefab = \"one\"\nmodified_components = { gleam = { power = 3 } }\n");
    EXPECT_TRUE(compiled("z.sjson").ok()) << diagnostics.format();
    EXPECT_EQ(diagnostics.num_warnings(), 1u) << diagnostics.format();
}

TEST_F(Composer, a_composition_that_was_moved_is_all_there) {
    file("lamp.sjson", "components = { glow = {} }");
    file("level.sjson", "sky = 1 _versions = { glow = 1 } entities = { a = { prefab = \"lamp\" } }");
    file("entity.sjson", "components = { other = {} }");
    options.rules.keep_unknown_fields = true;
    std::optional<Composition> level = composed("level.sjson"), assigned = composed("entity.sjson");
    ASSERT_TRUE(level && assigned) << diagnostics.format();
    const std::uint32_t num_layers = level->num_shared_layers();
    Composition moved = std::move(*level);
    const auto is_whole = [&](const Composition& composition) {
        return composition.is_level() && composition.num_shared_layers() == num_layers &&
               composition.entities().size() == 1 && composition.entities()[0].entity->key == "a" &&
               composition.types().size() == 1 && composition.types()[0] == "glow" &&
               composition.other_keys().size() == 1 && composition.versions().size() == 1 &&
               composition.dependencies().size() == 3 && composition.source_name(1) == "level.sjson";
    };
    EXPECT_TRUE(is_whole(moved));
    *assigned = std::move(moved);
    EXPECT_TRUE(is_whole(*assigned));
}

TEST_F(Composer, a_component_in_a_file_is_changed_by_another_file_and_a_missing_one_is_told_once) {
    schema("components = { visual = { in_file = true  fields = { size = float  tint = float } } }");
    file("big.sjson", "size = 9  tint = 1");
    file("tinted.sjson", "tint = 5");
    file("ship.sjson", "components = { visual = \"big\" }");
    file("x.sjson",
         "entities = { a = { prefab = \"ship\" modified_components = { visual = \"tinted\" } } b = { prefab = "
         "\"ship\" } }");
    options.compose.components_in_files = options.rules.components_in_files;
    EXPECT_EQ(outline("x.sjson"), "a visual{size=9 tint=5}\nb visual{size=9 tint=1}\n") << diagnostics.format();
    EXPECT_EQ(diagnostics.num_errors(), 0u);
    file("y.sjson",
         "entities = { a = { components = { visual = \"none\" } } b = { components = { visual = \"none\" } } }");
    EXPECT_NE(errors("y.sjson").find("there is no file \"none\""), std::string::npos);
    EXPECT_EQ(diagnostics.num_errors(), 1u) << diagnostics.format();
}

}  // namespace
}  // namespace shoal_test
