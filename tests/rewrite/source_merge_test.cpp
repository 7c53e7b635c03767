#include "shoal/rewrite/source_merge.h"

#include "rewrite/source_model.h"
#include "shoal/rewrite/source_diff.h"

#include <vector>

namespace shoal_test {
namespace {

class SourceMerge : public ::testing::Test {
protected:
    std::optional<SourceTree> tree(const std::string& text, const std::string& name) {
        std::optional<SourceTree> result = read_source_tree(diagnostics_.add_file(name, text), diagnostics_, comments_);
        EXPECT_TRUE(result) << diagnostics_.format();
        return result;
    }
    /// Returns the merged text, or the messages.
    std::string merge(const std::string& base, const std::string& a, const std::string& b,
                      const std::string& name = "a.sjson", const std::string& b_name = "b.sjson") {
        const std::optional<SourceTree> of_base = tree(base, "base.sjson"), of_a = tree(a, name),
                                        of_b = tree(b, b_name);
        const std::optional<Document> merged = merge_sources(*of_base, *of_a, *of_b, diagnostics_, comments_);
        return merged ? write_source_text(merged->root(), source_format(name), diagnostics_, comments_)
                      : diagnostics_.format();
    }
    Diagnostics diagnostics_;
    SourceComments comments_;
};

TEST_F(SourceMerge, takes_what_each_has_changed_and_keeps_comments_and_order) {
    EXPECT_EQ(merge("// The reef.\n"
                    "entities = {\n"
                    "\ta = { power = { x = 1 y = 2 } }  // first\n"
                    "\tb = { tag = \"old\" }\n"
                    "}\n",
                    "// The reef.\n"
                    "entities = {\n"
                    "\tb = { tag = \"old\" }\n"
                    "\t// about a\n"
                    "\ta = {\n"
                    "\t\tpower = { x = 5 y = 2 }  // changed\n"
                    "\t}\n"
                    "}\n",
                    "// The reef.\n"
                    "entities = {\n"
                    "\ta = { power = { x = 1 y = 3.50 } }\n"
                    "\tc = { tag = \"new\" }  // from b\n"
                    "}\n"),
              "// The reef.\n"
              "entities = {\n"
              "\t// about a\n"
              "\ta = {\n"
              "\t\tpower = { x = 5  y = 3.50 }  // changed\n"
              "\t}\n"
              "\tc = { tag = \"new\" }  // from b\n"
              "}\n");
}

TEST_F(SourceMerge, merges_other_forms_and_formats_into_that_of_the_first) {
    EXPECT_EQ(
        merge("entities = { a = { glow = { power = 1 } } }",
              "units = [\n\t{ _guid = \"a\" components = [ { _type = \"glow\" data = { power = 1 } } ] }\n]\n",
              "entities:\n  a:\n    glow: {power: 1, on: true}\n    lamp:\n  b:\n    lamp: 3\n", "a.sjson", "b.yaml"),
        "units = [\n\t{\n\t\t_guid = \"a\"\n\t\tcomponents = [\n"
        "\t\t\t{ _type = \"glow\"  data = { power = 1  on = true } }\n"
        "\t\t\t{\n\t\t\t\t_guid = \"lamp\"\n\t\t\t\t_type = \"lamp\"\n\t\t\t}\n\t\t]\n\t}\n"
        "\t{\n\t\t_guid = \"b\"\n\t\tlamp = 3\n\t}\n]\n");
}

TEST_F(SourceMerge, a_short_form_becomes_long_when_it_must) {
    EXPECT_EQ(merge("glow = 1", "glow = 2", "components = { glow = 1 } children = { x = {} }"),
              "components = { glow = 2 }\nchildren = { x = {} }\n");
}

TEST_F(SourceMerge, a_key_inside_that_differs_from_the_key_before_it_is_not_written_beside_another) {
    const std::string list = "entities = [ { guid = \"c\" glow = 1 } ]";
    const std::string both = merge(list, list, "entities = { c = { guid = \"y\" glow = 1 } }");
    EXPECT_NE(both.find("a.sjson:1:1: error: the two texts are written so differently"), std::string::npos) << both;
}

TEST_F(SourceMerge, a_type_that_one_side_has_changed_is_changed) {
    const auto lamp = [](std::string_view type, int power) {
        return concat("components = { lamp = { _type = \"", type, "\"  power = ", power, " } }\n");
    };
    EXPECT_EQ(merge(lamp("glow", 1), lamp("glow", 2), lamp("beam", 1)), lamp("beam", 2));
    EXPECT_EQ(merge(lamp("glow", 1), lamp("beam", 1), lamp("glow", 2)), lamp("beam", 2));
    EXPECT_EQ(merge(lamp("glow", 1), lamp("beam", 2), lamp("beam", 1)), lamp("beam", 2));
    const std::string both = merge(lamp("glow", 1), lamp("beam", 1), lamp("spot", 1));
    EXPECT_NE(both.find("conflict: . components.lamp was changed by both, and is of another type in each"),
              std::string::npos)
        << both;
}

TEST_F(SourceMerge, a_level_that_one_side_has_made_of_an_entity_is_taken_as_it_is) {
    const std::string level = "entities = { x = { glow = 2 } }\n";
    EXPECT_EQ(merge("glow = 1", level, "glow = 1"), level);
    EXPECT_EQ(merge("glow = 1", "glow = 1", level), level);
    const std::string both = merge("glow = 1", "glow = 2", level);
    EXPECT_NE(both.find("conflict: one text is a level, the other an entity"), std::string::npos) << both;
}

TEST_F(SourceMerge, conflicts_show_both_places_and_give_nothing) {
    const std::string both = merge("glow = { power = 1 }", "glow = { power = 2 }", "\nglow = { power = 3 }");
    EXPECT_NE(
        both.find(
            "a.sjson:1:10: error: conflict: . components.glow.power was changed by both: it is 2 here and 3 there"),
        std::string::npos)
        << both;
    EXPECT_NE(both.find("b.sjson:2:10: note: the other is here"), std::string::npos) << both;
    EXPECT_NE(both.find("base.sjson:1:10: note: before, it was this"), std::string::npos) << both;
    const std::string added = merge("glow = {}", "glow = { power = 2 }", "glow = { power = \"x\" }");
    EXPECT_NE(added.find("conflict: . components.glow.power was added by both: it is 2 here and \"x\" there"),
              std::string::npos)
        << added;
    const std::string removed = merge("children = { x = { glow = 1 } y = {} }", "children = { y = {} }",
                                      "children = { x = { glow = 2 } y = {} }");
    EXPECT_NE(removed.find("b.sjson:1:14: error: conflict: ./x was changed here, and removed in the other text"),
              std::string::npos)
        << removed;
    EXPECT_NE(removed.find("a.sjson:1:1: note: it is missing here"), std::string::npos) << removed;
}

TEST_F(SourceMerge, conflicts_of_values_show_short_ones_and_what_replaced_a_value) {
    const auto conflict = [&](const std::string& base, const std::string& a, const std::string& b) {
        const std::size_t num_errors = diagnostics_.num_errors();
        merge(base, a, b);
        EXPECT_EQ(diagnostics_.num_errors(), num_errors + 1) << diagnostics_.format();
        return diagnostics_.entries().empty() ? std::string() : diagnostics_.entries().back().message;
    };
    const std::string fits(38, 'x'), longer(39, 'x');  // with quotes: 40 and 41 bytes
    EXPECT_EQ(
        conflict("glow = 1", concat("glow = \"", fits, '"'), concat("glow = \"", longer, '"')),
        concat("conflict: . components.glow was changed by both: it is \"", fits, "\" here and something else there"));
    EXPECT_EQ(conflict("glow = 1", "glow = 2", "glow = { power = 1 }"),
              "conflict: . components.glow was changed by both: it is 2 here and something else there");
    EXPECT_EQ(conflict("glow = 1", "glow = { power = 1 }", "glow = { power = 1  on = true }"),
              "conflict: . components.glow was changed by both, and is of another type in each");
    EXPECT_EQ(conflict("glow = { at = 1 }", "glow = { at = { x = 1 } }", "glow = { at = { y = 1 } }"),
              "conflict: . components.glow.at was changed by both, and is of another type in each");
}

TEST_F(SourceMerge, what_marks_a_level_a_list_or_the_type_of_a_component_stays) {
    EXPECT_EQ(merge("entities = { a = {} b = {} }", "entities = { a = {} }", "entities = { b = {} }"),
              "entities = {}\n");
    EXPECT_EQ(merge("_type = \"level\" entities = { a = {} }", "_type = \"level\"",
                    "_type = \"level\" entities = { a = {} }"),
              "_type = \"level\"\n");
    EXPECT_EQ(merge("entities = {}", "entities = {}", "units = [ { _guid = \"u\" } ]"), "entities = { u = {} }\n");
    EXPECT_EQ(merge("components = {} children = {}", "components = {} children = {} name = \"n\"",
                    "components = {} children = {}"),
              "name = \"n\"\ncomponents = {}\nchildren = {}\n");
    const auto lamp = [](std::string_view inside) {
        return concat("components = { lamp = { _type = \"glow\"  note = 1  data = { ", inside, " } } }\n");
    };
    EXPECT_EQ(merge(lamp("power = 1"), lamp("power = 2"), lamp("power = 1  on = true")), lamp("power = 2  on = true"));
    EXPECT_EQ(merge("glow = { power = 1 }", "glow = { power = 1  type = \"x\" }", "glow = { power = 2 }"),
              "glow = { power = 2  type = \"x\" }\n");
}

TEST_F(SourceMerge, an_entity_that_both_have_moved_is_a_conflict) {
    const std::string base = "children = { p = { children = { x = {} } } q = {} r = {} }";
    const std::string to_q = "children = { p = {}  q = { children = { x = {} } }  r = {} }";
    const std::string to_r = "children = { p = {} q = {} r = { children = { x = {} } } }";
    const std::string messages = merge(base, to_q, to_r);
    EXPECT_NE(messages.find("conflict: the entity \"x\" is here in one text, and elsewhere in the other"),
              std::string::npos)
        << messages;
    const std::string changed = "children = { p = { children = { x = { glow = 1 } } } q = {} r = {} }";
    EXPECT_NE(merge(base, to_q, changed).find("./p/x was changed here, and moved in the other text"),
              std::string::npos);
    EXPECT_EQ(merge(base, to_q, base), to_q + "\n");
    EXPECT_EQ(merge(base, base, to_q), to_q + "\n");
}

TEST_F(SourceMerge, what_both_have_added_alike_is_there_once) {
    EXPECT_EQ(merge("", "glow = { power = 2 }", "components = { glow = { on = true power = 2 } }"),
              "glow = { on = true  power = 2 }\n");
}

/// A random choice of some keys, in a random order.
std::vector<std::string> some_of(const std::vector<std::string>& keys, Random& random) {
    std::vector<std::string> chosen;
    for (const std::string& key : keys)
        if (random.below(3) != 0)
            chosen.insert(chosen.begin() + random.below(static_cast<std::uint32_t>(chosen.size()) + 1), key);
    return chosen;
}

bool has(const std::vector<std::string>& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// The keys in the order of `a`, and behind each of them those that only `b` has behind it; without what one has removed.
std::vector<std::string> naive_order(const std::vector<std::string>& base, const std::vector<std::string>& a,
                                     const std::vector<std::string>& b) {
    std::vector<std::string> order;
    const auto add_behind = [&](const std::string& anchor) {
        std::string last;
        for (const std::string& key : b) {
            if (has(a, key))
                last = key;
            else if (last == anchor && !has(base, key))
                order.push_back(key);
        }
    };
    add_behind("");
    for (const std::string& key : a) {
        if (!has(base, key) || has(b, key)) order.push_back(key);
        add_behind(key);
    }
    return order;
}

TEST_F(SourceMerge, random_orders_are_those_of_the_first_with_what_only_the_second_has_behind_its_neighbours) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const std::vector<std::string> keys{"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
    const auto text_of = [](const std::vector<std::string>& entities, const std::vector<std::string>& members) {
        std::string text = "entities = {\n\tparent = {\n\t\tcomponents = {\n";
        for (const std::string& key : members) append_text(text, concat("\t\t\t", key, " = 1\n"));
        append_text(text, "\t\t}\n\t\tchildren = {\n");
        for (const std::string& key : entities) append_text(text, concat("\t\t\t", key, " = {}\n"));
        return text + "\t\t}\n\t}\n}\n";
    };
    for (std::int64_t round = scaled_operations(3000); round > 0 && !HasFailure(); --round) {
        std::vector<std::string> texts[2][3], merged[2];
        for (int of = 0; of < 2; ++of) {
            for (std::vector<std::string>& one : texts[of]) one = some_of(keys, random);
            if (random.below(3) == 0) texts[of][random.below(2)] = texts[of][2];
            merged[of] = naive_order(texts[of][0], texts[of][1], texts[of][2]);
        }
        if (merged[0].empty() || merged[1].empty()) continue;  // {} is written on one line
        const auto text = [&](int side) { return text_of(texts[0][side], texts[1][side]); };
        ASSERT_EQ(merge(text(0), text(1), text(2)), text_of(merged[0], merged[1])) << text(0) << "and\n"
                                                                                   << text(1) << "and\n"
                                                                                   << text(2);
    }
}

// --- comments ------------------------------------------------------------------------------------------------------

TEST_F(SourceMerge, a_comment_that_one_side_has_changed_is_changed) {
    const std::string base =
        "// The reef.\nglow = { power = 1 }  // bright\nlamp = 3\nlist = [\n\t\"a\"  // one\n\t\"b\"\n]\n// old\n";
    const std::string a =
        "// The reef.\nglow = { power = 2 }  // bright\nlamp = 3\nlist = [\n\t\"a\"  // one\n\t\"b\"\n]\n// old\n";
    const std::string b =
        "// The big reef.\nglow = { power = 1 }  // dark\n// new\nlamp = 3\nlist = [  // two\n\t\"a\"\n\t// above "
        "b\n\t\"b\"\n]\n";
    const std::string both =
        "// The big reef.\nglow = { power = 2 }  // dark\n// new\nlamp = 3\nlist = [  // two\n\t\"a\"\n\t// above "
        "b\n\t\"b\"\n]\n";
    EXPECT_EQ(merge(base, a, b), both);
    EXPECT_EQ(merge(base, b, a), both);
    EXPECT_EQ(diagnostics_.num_warnings(), 0u) << diagnostics_.format();
}

TEST_F(SourceMerge, comments_of_lists_of_entries_and_of_what_says_a_key_are_merged) {
    const std::string_view text =
        "entities = [$1\n\t{\n\t\t_guid = \"a\"$2\n\t\tcomponents = [$3\n\t\t\t{\n\t\t\t\t_type = \"glow\"$4\n"
        "\t\t\t\tdata = {$5\n\t\t\t\t\tpower = 1\n\t\t\t\t}\n\t\t\t}\n\t\t]\n\t}\n]\n";
    const auto with = [&](std::string_view places) {
        std::string result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '$')
                result += text[i];
            else if (places.find(text[++i]) != std::string_view::npos)
                result += std::string("  // ") + text[i];
        }
        return result;
    };
    EXPECT_EQ(merge(with("24"), with("124"), with("23456")), with("12345"));
    EXPECT_EQ(merge(with("12345"), with("135"), with("2345")), with("35"));
    EXPECT_EQ(diagnostics_.num_warnings(), 0u) << diagnostics_.format();
}

TEST_F(SourceMerge, comments_in_lists_of_lists_and_of_lists_that_only_one_side_has_are_kept) {
    const auto lists = [](std::string_view comment) {
        return concat("list = [\n\t[\n\t\t\"a\"", comment, "\n\t\t\"b\"\n\t]\n\t[]\n]\n");
    };
    EXPECT_EQ(merge(lists("  // old"), lists("  // old"), lists("  // new")), lists("  // new"));
    EXPECT_EQ(merge(lists(""), lists("  // mine"), lists("")), lists("  // mine"));
    const std::string lamp = "components = {\n\tlamp = 1\n}\n",
                      child = "// of all children\nchildren = {  // here\n\tx = {}\n}\n";
    EXPECT_EQ(merge(lamp, lamp, lamp + child), lamp + child);
    EXPECT_EQ(diagnostics_.num_warnings(), 0u) << diagnostics_.format();
}

TEST_F(SourceMerge, comments_stay_around_an_element_that_gets_a_key_and_the_other_way_round) {
    const std::string mapping = "entities = {\n\ta = {}\n}\n", list = "entities = [\n\t{ _guid = \"a\" }\n]\n";
    EXPECT_EQ(
        merge(mapping, mapping, "entities = [\n\t{ _guid = \"a\" }\n\t// above\n\t{ _guid = \"b\" }  // behind\n]\n"),
        "entities = {\n\ta = {}\n\t// above\n\tb = {}  // behind\n}\n");
    EXPECT_EQ(merge(mapping, list, "entities = {\n\ta = {}\n\t// above\n\tb = {}  // behind\n}\n"),
              "entities = [\n\t{ _guid = \"a\" }\n\t// above\n\t{ _guid = \"b\" }  // behind\n]\n");
    EXPECT_EQ(diagnostics_.num_warnings(), 0u) << diagnostics_.format();
}

TEST_F(SourceMerge, a_comment_that_both_have_changed_stays_that_of_the_first_and_the_other_is_told) {
    const std::string base = "glow = 1  // old\nlamp = [ 1 2 ]\n";
    EXPECT_EQ(merge(base, "glow = 1  // mine\nlamp = [ 1 2 ]\n", "glow = 2  // theirs\nlamp = [ 1 2 ]\n"),
              "glow = 2  // mine\nlamp = [1 2]\n");
    EXPECT_NE(diagnostics_.format().find("b.sjson:1:11: warning: this comment is left out, because the other text"),
              std::string::npos)
        << diagnostics_.format();
    EXPECT_EQ(diagnostics_.num_warnings(), 1u);
    merge(base, "glow = 1  // old\nlamp = [ 1 3 ]\n", "glow = 1  // old\nlamp = [\n\t1  // one\n\t2\n]\n");
    EXPECT_EQ(diagnostics_.num_warnings(), 2u) << "the list is another one";
    merge(base, "lamp = [ 1 2 ]\n", base);
    EXPECT_EQ(diagnostics_.num_warnings(), 2u) << "what is removed takes its comments along";
    // A line that is lost is told as often as it is lost, and a block by its mark.
    const std::size_t num_before = diagnostics_.num_warnings();
    merge("a = 1\nb = 1\nc = 1\nd = 1\n", "a = 1  // mine\nb = 1  // mine\nc = 1  // mine\nd = 1\n",
          "a = 1  //same\nb = 1  //same\nc = 1  /* block */\nd = 1  //same\n");
    EXPECT_EQ(diagnostics_.num_warnings(), num_before + 3);
    const std::string told = diagnostics_.format();
    EXPECT_NE(told.find("    1 | a = 1  //same\n      |        ^~~~~~\n"), told.npos) << told;
    EXPECT_NE(told.find("    2 | b = 1  //same\n      |        ^~~~~~\n"), told.npos) << told;
    EXPECT_NE(told.find("    3 | c = 1  /* block */\n      |        ^~\n"), told.npos) << told;
}

TEST_F(SourceMerge, json_does_not_remove_the_comments_of_others) {
    EXPECT_EQ(merge("glow = 1  // one", "glow = 2  // one", "{\"glow\": 1, \"lamp\": 3}", "a.sjson", "b.json"),
              "glow = 2  // one\nlamp = 3\n");
    std::optional<SourceTree> base = tree("{}", "base.json"), a = tree("{\"glow\": 1}", "a.json"),
                              b = tree("# all\n\nglow: 1 # one\n", "b.yaml");
    const std::optional<Document> merged = merge_sources(*base, *a, *b, diagnostics_, comments_);
    ASSERT_TRUE(merged);
    EXPECT_EQ(comments_.of(merged->root()).all().size(), 2u);
    const std::string old = "glow = 1  // old";
    base = tree(old, "old.sjson"), b = tree(old + "\n// new\n", "new.sjson");
    const std::optional<Document> both = merge_sources(*base, *a, *b, diagnostics_, comments_);
    ASSERT_TRUE(both);
    EXPECT_EQ(comments_.of(both->root()).all().size(), 2u);
    EXPECT_EQ(diagnostics_.num_warnings(), 0u) << "who writes JSON knows that it has none";
}

/// A text of entities with comments above and behind their keys.
struct Commented {
    static constexpr std::size_t kNumEntities = 8;
    int values[kNumEntities] = {};
    std::string above[kNumEntities], behind[kNumEntities];

    std::string text() const {
        std::string result;
        for (std::size_t i = 0; i < kNumEntities; ++i) {
            result += above[i].empty() ? "" : "// " + above[i] + "\n";
            result += "e" + std::to_string(i) + " = " + std::to_string(values[i]);
            result += behind[i].empty() ? "\n" : "  // " + behind[i] + "\n";
        }
        return result;
    }
};

TEST_F(SourceMerge, random_comments_are_those_of_a_naive_merge) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    int num_words = 0;
    const auto word = [&] { return random.below(3) == 0 ? std::string() : "w" + std::to_string(++num_words); };
    for (std::int64_t round = scaled_operations(300); round > 0 && !HasFailure(); --round) {
        Commented base, sides[2], merged;
        std::size_t num_lost = 0;
        for (std::size_t i = 0; i < Commented::kNumEntities; ++i) base.above[i] = word(), base.behind[i] = word();
        sides[0] = sides[1] = merged = base;
        for (std::size_t i = 0; i < Commented::kNumEntities; ++i) {
            merged.values[i] = sides[random.below(2)].values[i] = static_cast<int>(random.below(2));
            for (auto list : {&Commented::above, &Commented::behind}) {
                for (Commented& side : sides)
                    if (random.below(3) == 0) (side.*list)[i] = word();
                const std::string &old = (base.*list)[i], &a = (sides[0].*list)[i], &b = (sides[1].*list)[i];
                (merged.*list)[i] = a == old ? b : a;
                num_lost += a != old && b != old && a != b && !b.empty();
            }
        }
        const std::size_t num_before = diagnostics_.num_warnings();
        EXPECT_EQ(merge(base.text(), sides[0].text(), sides[1].text()), merged.text());
        EXPECT_EQ(diagnostics_.num_warnings() - num_before, num_lost);
    }
}

// --- random merges -------------------------------------------------------------------------------------------------

using Lines = std::map<std::string, std::string>;  // path -> value

Lines map_of(const SourceModel& model) {
    Lines map;
    for (const std::string& line : lines_of(model)) {
        const std::size_t at = line.find(" = ");
        map[line.substr(0, at)] = at == std::string::npos ? "" : line.substr(at);
    }
    return map;
}

/// The part of a map that an entity or component holds, itself included.
Lines part_of(const Lines& map, const std::string& path) {
    Lines part;
    const bool is_entity = path.find(' ') == std::string::npos;
    for (const auto& [key, value] : map)
        if (key == path || key.starts_with(path + ".") ||
            (is_entity && (key.starts_with(path + "/") || key.starts_with(path + " "))))
            part.emplace(key, value);
    return part;
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Returns the paths of the entities with a name.
std::vector<std::string> paths_named(const std::string& name, const Lines& map) {
    std::vector<std::string> paths;
    for (const auto& [path, value] : map)
        if (path.find(' ') == std::string::npos && name_of(path) == name) paths.push_back(path);
    return paths;
}

/// Whether an entity whose name is one of a kind is elsewhere.
bool is_moved(const std::string& path, const Lines& base, const Lines& map) {
    if (path.find(' ') != std::string::npos || paths_named(name_of(path), base).size() != 1) return false;
    const std::vector<std::string> now = paths_named(name_of(path), map);
    return now.size() == 1 && now[0] != path;
}

/// Merges path by path. Returns nothing when there is a conflict.
std::optional<Lines> naive_merge(const Lines& base, const Lines& a, const Lines& b) {
    const auto value = [](const Lines& map, const std::string& key) {
        const auto at = map.find(key);
        return at == map.end() ? std::optional<std::string>() : at->second;
    };
    std::set<std::string> keys, removed;
    for (const Lines* map : {&base, &a, &b})
        for (const auto& [key, text] : *map) keys.insert(key);
    for (const auto& [key, text] : base)
        for (const auto& [gone, kept] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
            if (gone->count(key) != 0) continue;
            if (kept->count(key) != 0 && part_of(*kept, key) != part_of(base, key)) return std::nullopt;
            for (const auto& [below, ignored] : part_of(base, key)) removed.insert(below);
        }
    for (const auto& [moved, gone] : {std::pair{&a, &b}, std::pair{&b, &a}})
        for (const auto& [key, text] : base)
            if (is_moved(key, base, *moved) && gone->count(key) == 0 && paths_named(name_of(key), *gone).empty())
                return std::nullopt;
    Lines merged;
    for (const std::string& key : keys) {
        if (removed.count(key) != 0) continue;
        const auto before = value(base, key), in_a = value(a, key), in_b = value(b, key);
        if (in_a != in_b && in_a != before && in_b != before) return std::nullopt;
        if (const auto& result = in_a == before ? in_b : in_a) merged[key] = *result;
    }
    return merged;
}

std::string map_text(const Lines& map) {
    std::set<std::string> lines;
    for (const auto& [key, value] : map) lines.insert(key + value);
    return text_of(lines);
}

/// Merges texts of models, in forms of their own, and returns the lines of the result as it is read back.
std::string merged_lines(ModelAuthor& author, const SourceModel& base, const SourceModel& a, const SourceModel& b) {
    Diagnostics diagnostics;
    SourceComments comments;
    const auto read = [&](const SourceModel& model) {
        return read_source_tree(diagnostics.add_file("in.sjson", author.write(model)), diagnostics, comments);
    };
    const std::optional<SourceTree> trees[3] = {read(base), read(a), read(b)};
    const std::optional<Document> merged = merge_sources(*trees[0], *trees[1], *trees[2], diagnostics);
    EXPECT_EQ(bool(merged), diagnostics.num_errors() == 0);
    if (!merged) {
        EXPECT_NE(diagnostics.format().find("error: conflict: "), std::string::npos) << diagnostics.format();
        return "conflict";
    }
    const std::string text = write_source_text(merged->root(), SourceFormat::kSjson, diagnostics, comments);
    const std::optional<SourceTree> again = tree_of(text, diagnostics);
    EXPECT_TRUE(again) << text << diagnostics.format();
    return again ? canonical_lines(*again) : text;
}

TEST_F(SourceMerge, elements_without_a_key_are_one_value_and_change_on_one_side_only) {
    const std::string base = "entities = [ { name = \"a\" } { name = \"b\" } ]";
    const std::string front = "entities = [ { name = \"n\" } { name = \"a\" } { name = \"b\" } ]";
    const std::string changed = "entities = [ { name = \"a\" } { name = \"b\"  prefab = \"fish\" } ]";
    const std::string of_front = merge(front, front, front);
    EXPECT_EQ(merge(base, front, base), of_front);
    EXPECT_EQ(merge(base, base, front), of_front);
    EXPECT_EQ(merge(base, front, front), of_front);
    const std::size_t num_errors = diagnostics_.num_errors();
    EXPECT_NE(merge(base, front, changed).find("that have no key were changed by both; with a `_guid`"),
              std::string::npos);
    EXPECT_EQ(diagnostics_.num_errors(), num_errors + 1) << "once, however many there are";
    const auto mixed = [](std::string_view of_k, std::string_view last) {
        return concat("entities = [ { _guid = \"k\"  name = \"", of_k, "\" } { name = \"a\" } { name = \"", last,
                      "\" } ]\n");
    };
    EXPECT_EQ(merge(mixed("k", "b"), mixed("x", "b"), mixed("k", "b")), mixed("x", "b"));
    EXPECT_EQ(merge(mixed("k", "b"), mixed("x", "b"), mixed("k", "c")), mixed("x", "c"));
}

TEST_F(SourceMerge, an_entity_that_one_side_moves_and_the_other_removes_is_a_conflict) {
    const std::string base = "entities = { p = { prefab = \"x\" }  e = { prefab = \"y\" } }";
    const std::string moved = "entities = { p = { prefab = \"x\"  children = { e = { prefab = \"y\" } } } }";
    const std::string gone = "entities = { p = { prefab = \"x\" } }";
    EXPECT_NE(merge(base, moved, gone).find("the entity \"e\" was moved here, and removed"), std::string::npos);
    EXPECT_NE(merge(base, gone, moved).find("the entity \"e\" was moved here, and removed"), std::string::npos);
}

TEST(RandomSourceMerge, is_what_a_naive_merge_of_paths_gives) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    ModelAuthor author(random);
    int num_conflicts = 0;
    const std::int64_t rounds = scaled_operations(2000);
    for (std::int64_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE(round);
        const SourceModel base = author.invent(), a = author.change(base), b = author.change(base);
        const std::optional<Lines> naive = naive_merge(map_of(base), map_of(a), map_of(b));
        num_conflicts += naive ? 0 : 1;
        const std::string expected = naive ? map_text(*naive) : "conflict";
        ASSERT_EQ(merged_lines(author, base, a, b), expected);
        ASSERT_EQ(merged_lines(author, base, b, a), expected) << "in the other order";
        const std::string of_a = map_text(map_of(a));
        ASSERT_EQ(merged_lines(author, base, a, base), of_a);
        ASSERT_EQ(merged_lines(author, base, base, a), of_a);
        ASSERT_EQ(merged_lines(author, base, a, a), of_a);
    }
    EXPECT_GT(num_conflicts, rounds / 50);
    EXPECT_LT(num_conflicts, rounds / 2);
}

}  // namespace
}  // namespace shoal_test
