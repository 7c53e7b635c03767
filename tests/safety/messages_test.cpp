// What people read when a text, prefab or schema is wrong, word for word: golden/NAME.txt has the command and all that
// it printed, inputs/ has what it read. SHOAL_WRITE_GOLDEN=1 writes the golden files anew; read them before keeping
// them.

#include "shoal/base/text.h"
#include "support/testing.h"
#include "tool/tool_process.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = SHOAL_SOURCE_DIR "/tests/safety/";

struct MessageCase {
    const char* name;       ///< of its golden file
    const char* arguments;  ///< of the tool
};

constexpr MessageCase kCases[] = {
    // Texts that no reader understands.
    {"text_unclosed_string", "check text/unclosed_string.sjson"},
    {"text_unclosed_text", "check text/unclosed_text.sjson"},
    {"text_unclosed_comment", "check text/unclosed_comment.sjson"},
    {"text_unclosed_mapping", "check text/unclosed_mapping.sjson"},
    {"text_unclosed_list", "check text/unclosed_list.sjson"},
    {"text_unclosed_json", "check text/unclosed_string.json text/unclosed_object.json"},
    {"text_invalid_utf8",
     "check text/invalid_utf8_forms.sjson text/invalid_utf8_key.sjson text/invalid_utf8_comment.sjson"},
    {"text_latin1", "check text/latin1.sjson"},
    {"text_utf16", "check text/utf16.sjson"},
    {"text_nul", "check text/nul_in_string.sjson text/nul_between.sjson text/nul_at_end.json"},
    {"text_empty", "check text/empty.sjson"},
    {"text_program", "check text/program.sjson"},
    {"text_key_twice", "check text/key_twice.sjson"},
    {"text_deep_lists", "check made/deep_lists.sjson made/deep_lists.json"},
    {"text_deep_mappings", "check made/deep_mappings.sjson"},
    {"text_deep_children", "check made/deep_children.sjson"},
    // YAML.
    {"yaml_syntax",
     "check yaml/tabs.yaml yaml/indentation.yaml yaml/unclosed_list.yaml yaml/unclosed_string.yaml yaml/colon.yaml "
     "yaml/documents.yaml"},
    {"yaml_twice", "check yaml/twice.yaml"},
    {"yaml_values", "check yaml/values.yaml"},
    {"yaml_bomb", "check yaml/bomb.yaml"},
    {"yaml_short_form", "check yaml/ship.yaml yaml/ship_fields.yaml --schema yaml/ship.schema.yaml"},
    {"diff_twice", "diff merge/twice.sjson merge/base.sjson"},
    {"merge_conflicts", "merge merge/base.sjson merge/mine.sjson merge/theirs.sjson"},
    {"merge_comments", "merge merge/comments_base.sjson merge/comments_mine.sjson merge/comments_theirs.sjson"},
    {"merge_comments_strict",
     "merge merge/comments_base.sjson merge/comments_mine.sjson merge/comments_theirs.sjson --strict"},
    {"merge_comments_json", "merge merge/comments_base.sjson merge/comments_mine.json merge/comments_theirs.sjson"},
    {"gltf_nodes", "import gltf/nodes.gltf"},
    {"gltf_two_parents", "import gltf/two_parents.gltf"},
    {"gltf_scenes", "import gltf/scenes.gltf"},
    {"gltf_scene", "import gltf/scenes.gltf --scene dawn"},
    {"gltf_old", "import gltf/old.gltf"},
    {"gltf_cut", "import gltf/cut.glb"},
    {"yaml_schema", "check yaml/ship.yaml --schema yaml/wrong.schema.yaml"},
    // Sources that are written anew.
    {"convert_comments", "convert yaml/commented.yaml --to json --strict"},
    {"format_schema", "format --check schema/foreign.schema.sjson"},
    {"convert_wrong", "convert yaml/values.yaml --to sjson"},
    {"convert_blob", "convert made/level.blob --to yaml"},
    {"format_wrong", "format --check text/key_twice.sjson yaml/commented.yaml schema/nothing.sjson"},
    // Sources and prefabs that are not there or cannot be read.
    {"source_missing", "check text/nothing.sjson text/empty.sjson/inside.sjson"},
    {"source_directory", "check text"},
    {"source_unreadable", "check made/pipe.sjson made/dangling.sjson made/link_to_itself.sjson /dev/zero"},
    {"source_blob", "check made/level.blob"},
    {"prefab_missing", "check prefab/uses_missing.sjson"},
    {"prefab_missing_in_roots", "check prefab/uses_missing.sjson --root prefab --root cycle"},
    {"prefab_misspelt", "check prefab/uses_misspelt.sjson"},
    {"prefab_directory", "check prefab/uses_directory.sjson --root made"},
    {"prefab_dangling", "check prefab/uses_dangling.sjson --root made"},
    {"prefab_pipe", "check prefab/uses_pipe.sjson --root made"},
    {"prefab_link_to_itself", "check prefab/uses_link_to_itself.sjson --root made"},
    {"prefab_long_name", "check prefab/uses_long_name.sjson"},
    {"prefab_name_too_long", "check made/long_name.sjson"},
    {"prefab_bad_names", "check prefab/uses_bad_names.sjson"},
    {"prefab_wrong", "check prefab/uses_wrong.sjson"},
    {"root_missing", "check prefab/coral.sjson --root nowhere --root prefab/coral.sjson"},
    {"cycle_self", "check cycle/self.sjson"},
    {"cycle_three", "check cycle/level.sjson"},
    {"cycle_links", "check made/cycle/first.sjson"},
    {"prefab_doubling", "check made/double_0.sjson"},
    {"prefab_deep", "check made/deep_0.sjson"},
    // What entities and levels may say, and changes of what is not there.
    {"entity_type", "check entity/type.sjson"},
    {"entity_no_components", "check entity/no_components.sjson"},
    {"entity_units_and_entities", "check entity/units_and_entities.sjson"},
    {"entity_misspelt_changes", "check entity/misspelt_changes.sjson"},
    {"entity_many_of_a_kind", "check entity/many_of_a_kind.sjson"},
    {"schema_structural", "check schema/uses_crab.sjson --schema schema/structural.schema.sjson"},
    // Where nothing can be written, and blobs that are none.
    {"output_in_no_folder", "compile prefab/coral.sjson -o nowhere/coral.blob"},
    {"output_directory", "compile prefab/coral.sjson -o made/directory.sjson"},
    {"output_below_a_file", "compile prefab/coral.sjson -o text/empty.sjson/coral.blob"},
    {"output_over_source", "compile prefab/coral.sjson -o prefab/coral.sjson"},
    {"output_over_prefab", "run prefab/uses_wrong.sjson --save ./prefab/uses_wrong.sjson"},
    {"output_pipe", "compile prefab/coral.sjson -o made/pipe.sjson"},
    {"output_read_only", "run prefab/coral.sjson --frames 1 --trace made/read_only.json"},
    {"outputs_are_one_file", "run prefab/coral.sjson --picture one.svg --trace ./one.svg"},
    {"input_twice", "check - --schema -"},
    {"input_empty", "dump -"},
    {"picture_in_no_folder", "run prefab/coral.sjson --frames 1 --picture nowhere/coral.svg"},
    {"query_wrong", "run prefab/coral.sjson --frames 1 --query transfrom.position.x==10"},
    // Folders of sources, and blobs that are out of date.
    {"folder_in_no_root", "compile prefab -o blobs --root text"},
    {"folder_into_a_file", "compile prefab -o text/empty.sjson"},
    {"folder_to_standard_output", "compile prefab -o -"},
    {"folder_flag_for_a_file", "compile prefab/coral.sjson -o coral.blob --force"},
    {"deps_without_a_name", "compile prefab/coral.sjson -o - --deps coral.d"},
    {"up_to_date_text", "check --up-to-date prefab/coral.sjson"},
    {"compile_blob", "compile made/level.blob -o made/other.blob"},
    {"dump_missing", "dump made/nothing.blob"},
    {"dump_directory", "dump text"},
    {"dump_unreadable", "dump made/pipe.sjson"},
    {"dump_text", "dump prefab/coral.sjson"},
    {"dump_cut", "dump made/level.blob"},
    {"run_cut", "run made/level.blob"},
    // Recordings.
    {"replay_missing", "replay made/nothing.rec"},
    {"replay_text", "replay prefab/coral.sjson --verify"},
    {"replay_cut", "replay made/cut.rec --verify"},
    {"replay_damaged", "replay made/damaged.rec --verify"},
    {"record_to_standard_output", "run prefab/coral.sjson --record -"},
    {"record_while_watching", "run prefab/coral.sjson --record made/coral.rec --watch"},
    // The inspector.
    {"inspect_missing", "inspect made/nothing.save"},
    {"inspect_without_token", "inspect prefab/coral.sjson --inspect-address 0.0.0.0"},
    {"inspect_no_token", "inspect prefab/coral.sjson --inspect-token 'a b c d e'"},
    {"inspect_no_address", "inspect prefab/coral.sjson --inspect-address nowhere --inspect-token abc"},
    {"inspect_flags_alone", "run prefab/coral.sjson --inspect-token abc"},
    // Schemas.
    {"schema_missing", "check schema/uses_crab.sjson --schema schema/nothing.sjson"},
    {"schema_directory", "check schema/uses_crab.sjson --schema schema"},
    {"schema_unreadable", "check schema/uses_crab.sjson --schema made/pipe.sjson --schema made/dangling.sjson"},
    {"schema_broken", "check schema/uses_crab.sjson --schema schema/broken.schema.sjson"},
    {"schema_type_differs",
     "check schema/uses_crab.sjson --schema schema/crab.schema.sjson --schema schema/crab_type.schema.sjson"},
    {"schema_default_differs",
     "check schema/uses_crab.sjson --schema schema/crab.schema.sjson --schema schema/crab_default.schema.sjson"},
    {"schema_fewer_fields",
     "check schema/uses_crab.sjson --schema schema/crab.schema.sjson --schema schema/crab_fewer.schema.sjson"},
    {"schema_migrations", "check schema/uses_crab.sjson --schema schema/migrations.schema.sjson"},
    {"schema_migrations_twice",
     "check schema/uses_crab.sjson --schema schema/crab_2.schema.sjson --schema schema/crab_2_other.schema.sjson"},
    {"source_versions",
     "check schema/uses_crab.sjson schema/versions.sjson schema/older_change.sjson --schema schema/crab_2.schema.sjson "
     "--source-schema schema/crab.schema.sjson"},
    {"source_versions_unknown", "check schema/versions.sjson --schema schema/crab_2.schema.sjson"},
    {"source_schema_wrong",
     "check schema/uses_crab.sjson --schema schema/crab.schema.sjson --source-schema schema/crab_2.schema.sjson "
     "--source-schema schema/crab_type.schema.sjson --source-schema schema/nothing.sjson"},
    {"schema_version_differs",
     "check schema/uses_crab.sjson --schema schema/crab.schema.sjson --schema schema/crab_version.schema.sjson"},
    {"schema_many_differs",
     "check schema/uses_crab.sjson --schema schema/crab.schema.sjson --schema schema/crab_many.schema.sjson"},
    {"schema_built_in", "check schema/uses_crab.sjson --schema schema/built_in.schema.sjson"},
    {"schema_twice", "check schema/uses_crab.sjson --schema schema/twice.schema.sjson"},
    {"schema_with_itself", "check schema/uses_crab.sjson --schema schema/with_itself.schema.sjson"},
    {"schema_misspelt", "check schema/uses_crab.sjson --schema schema/misspelt.schema.sjson"},
    {"schema_misspelt_fields", "check schema/uses_crab.sjson --schema schema/misspelt_fields.schema.sjson"},
    {"schema_none", "check schema/uses_crab.sjson"},
    {"old_words", "check old_words/pond.sjson --schema old_words/pond.schema.sjson"},
    // Values.
    {"value_wrong", "check value/wrong.sjson"},
    {"value_numbers", "check value/numbers.sjson"},
    {"value_range", "check value/range.sjson --schema value/limits.schema.sjson"},
    {"value_twice", "check value/twice.sjson"},
    {"value_transform", "check value/transform.sjson"},
    {"value_properties", "check value/properties.sjson"},
    {"value_old_words", "check value/old_words.sjson"},
};

std::string repeated(std::string_view text, std::size_t count) {
    std::string result;
    result.reserve(text.size() * count);
    for (; count > 0; --count) result += text;
    return result;
}

class SafetyMessages : public shoal_test::ToolTest {
protected:
    static void SetUpTestSuite() {
        folder_ = fs::temp_directory_path() / ("shoal_safety_" + std::to_string(getpid()));
        fs::remove_all(folder_);
        fs::copy(std::string(kFolder) + "inputs", folder_, fs::copy_options::recursive);
        fs::create_directories(folder_ / "made/cycle");
        make_deep_texts();
        make_cycles();
        make_what_git_cannot_keep();
    }
    static void TearDownTestSuite() { fs::remove_all(folder_); }

    /// Quickly: unlike shoal::write_file it does not wait for the disk.
    static void make(const std::string& name, std::string_view text) {
        std::ofstream(folder_ / name, std::ios::binary) << text;
    }

    /// Runs the tool in the folder of the inputs; returns the command, what it printed in both streams and how it
    /// ended.
    std::string print(std::string_view arguments) const {
        const std::string command = shoal::concat("cd ", shoal_test::shell_quoted(folder_.string()), " && ",
                                                  shoal_test::shell_quoted(SHOAL_TOOL), " ", arguments, " >",
                                                  shoal_test::shell_quoted(path("printed")), " 2>&1 </dev/null");
        const int status = std::system(command.c_str());
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return shoal::concat("$ shoal ", arguments, "\n", read(path("printed")), "exit ", code, "\n");
    }

    void compare_with_golden(const std::string& name, const std::string& printed) const {
        const std::string golden = kFolder + ("golden/" + name + ".txt");
        if (std::getenv("SHOAL_WRITE_GOLDEN") != nullptr) {
            ASSERT_TRUE(shoal::write_file(golden, printed).ok());
            return;
        }
        const shoal::Result<std::string> expected = shoal::read_file(golden);
        ASSERT_TRUE(expected.ok()) << expected.message() << "; SHOAL_WRITE_GOLDEN=1 writes it";
        EXPECT_EQ(printed, *expected) << "SHOAL_WRITE_GOLDEN=1 writes it anew";
    }

private:
    static void make_deep_texts() {
        constexpr std::size_t kDepth = 100'000;
        make("made/deep_lists.sjson", "entities = " + repeated("[", kDepth) + repeated("]", kDepth));
        make("made/deep_lists.json", repeated("[", kDepth));
        make("made/deep_mappings.sjson", repeated("a = {\n", kDepth) + repeated("}\n", kDepth));
        make("made/deep_children.sjson",
             repeated("children = { a = {\n", 200) + "components = { point_mass = {} }\n" + repeated("} }\n", 200));
        for (int i = 0; i < 300; ++i)
            make(shoal::concat("made/deep_", i, ".sjson"), shoal::concat("prefab = \"deep_", i + 1, "\"\n"));
    }

    static void make_cycles() {
        make("made/cycle/first.sjson", "prefab = \"second\"\n");
        fs::create_symlink("first.sjson", folder_ / "made/cycle/second.sjson");
        for (int i = 0; i < 30; ++i) {
            const std::string next = shoal::concat("{ prefab = \"double_", i + 1, "\" }");
            make(shoal::concat("made/double_", i, ".sjson"), "children = [ " + next + " " + next + " ]\n");
        }
        make("made/double_30.sjson", "components = { point_mass = {} }\n");
    }

    static void make_what_git_cannot_keep() {
        fs::create_directories(folder_ / "made/directory.sjson");
        fs::create_symlink("nowhere.sjson", folder_ / "made/dangling.sjson");
        fs::create_symlink("link_to_itself.sjson", folder_ / "made/link_to_itself.sjson");
        EXPECT_EQ(mkfifo((folder_ / "made/pipe.sjson").c_str(), 0666), 0);
        make("made/read_only.json", "{}");
        fs::permissions(folder_ / "made/read_only.json", fs::perms::owner_read);
        make("made/level.blob", "SHOALBLB and what follows");
        make_recordings();
        make("made/long_name.sjson", "prefab = \"" + repeated("x", 2000) + "\"\n");
    }

    static void make_recordings() {
        make("made/fall.sjson", "components = { point_mass = { mass = 2  velocity = [1 0 0] } }\n");
        const std::string command = shoal::concat(
            "cd ", shoal_test::shell_quoted(folder_.string()), " && ", shoal_test::shell_quoted(SHOAL_TOOL),
            " run made/fall.sjson --frames 3 --record made/level.rec >/dev/null 2>&1");
        EXPECT_EQ(std::system(command.c_str()), 0);
        const std::string bytes = read((folder_ / "made/level.rec").string());
        make("made/cut.rec", bytes.substr(0, bytes.size() - 7));
        std::string damaged = bytes;
        damaged[130] = char(damaged[130] ^ 1);
        make("made/damaged.rec", damaged);
    }

    static inline fs::path folder_;
};

class SafetyMessage : public SafetyMessages, public ::testing::WithParamInterface<MessageCase> {};

TEST_P(SafetyMessage, is_the_golden_one) { compare_with_golden(GetParam().name, print(GetParam().arguments)); }

INSTANTIATE_TEST_SUITE_P(All, SafetyMessage, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

/// Lines of what a person reads: every error is said to do something about, and nothing harms a terminal.
TEST_F(SafetyMessages, each_says_what_to_do_and_is_plain_text) {
    for (const MessageCase& c : kCases) {
        const std::string printed = print(c.arguments);
        EXPECT_TRUE(shoal::is_utf8(printed)) << c.name;
        EXPECT_TRUE(std::none_of(printed.begin(), printed.end(), [](unsigned char sign) {
            return (sign < 0x20 && sign != '\n' && sign != '\t') || sign == 0x7F;
        })) << c.name;
        for (std::size_t at = printed.find("error: "); at != std::string::npos; at = printed.find("error: ", at + 1)) {
            const std::string line = printed.substr(at, printed.find('\n', at) - at);
            EXPECT_NE(line.find("; "), std::string::npos) << c.name << " does not say what to do: " << line;
        }
    }
}

TEST_F(SafetyMessages, every_golden_file_has_a_case) {
    for (const fs::directory_entry& entry : fs::directory_iterator(std::string(kFolder) + "golden")) {
        const std::string name = entry.path().stem();
        EXPECT_TRUE(name.starts_with("line_") ||
                    std::any_of(std::begin(kCases), std::end(kCases), [&](const auto& c) { return name == c.name; }))
            << name << ".txt is of no case: remove it";
    }
}

/// A hundred million bytes without a line break. The places in the messages depend on the size, which a sanitizer makes
/// smaller: the golden file is that of the release build.
class SafetyLongLine : public SafetyMessages {
protected:
    void check_line(const std::string& name, std::string_view begin, std::string_view middle, std::string_view end) {
        constexpr std::int64_t kBytes = 100'000'000;
        const std::int64_t bytes = shoal_test::scaled_operations(kBytes);
        std::string text(begin);
        while (static_cast<std::int64_t>(text.size()) < bytes) text += middle;
        text += end;
        make("made/line.sjson", text);
        const std::string printed = print("check made/line.sjson");
        EXPECT_LT(printed.size(), 50'000u) << "at most a hundred errors, each with a short excerpt";
        EXPECT_NE(printed.find("error: "), std::string::npos) << printed;
        EXPECT_NE(printed.find("exit 1\n"), std::string::npos) << printed;
        if (bytes == kBytes) compare_with_golden(name, printed);
    }
};

TEST_F(SafetyLongLine, of_values_with_a_mistake_at_its_end) {
    check_line("line_of_values", "components = { point_mass = { position = [", "0.25 ", "teapot ] } }");
}
TEST_F(SafetyLongLine, in_one_string_that_is_not_closed) {
    check_line("line_of_one_string", "components = { debug_name = \"", "anna and bert, ", "");
}
TEST_F(SafetyLongLine, in_one_key) { check_line("line_of_one_key", "components = { ", "coralcoral", " = {} }"); }
TEST_F(SafetyLongLine, in_one_number) {
    check_line("line_of_one_number", "components = { point_mass = { mass = 1", "0000000000", " } }");
}
TEST_F(SafetyLongLine, in_one_comment) { check_line("line_of_one_comment", "/* ", "nothing ", ""); }
TEST_F(SafetyLongLine, of_components_that_nobody_knows) {
    check_line("line_of_components", "entities = [", "{components={crab={}}}", "]");
}

}  // namespace
