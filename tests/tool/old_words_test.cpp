// Files from before words of shoal had other names are read: tests/support/old_words/ has them as an older tool wrote them.

#include "shoal/entity/entity.h"
#include "tool_process.h"

namespace shoal_test {
namespace {

const std::string kFolder = SHOAL_SOURCE_DIR "/tests/support/old_words/";
const std::string kSchema = kFolder + "pond.schema.sjson";

struct ToolOldWords : ToolTest {
    std::string state_hash(const std::vector<std::string>& words) {
        const ToolResult result = run(words);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return result.json()["state_hash"].get<std::string>();
    }
    /// What a dump says of a blob, without what it was compiled from.
    std::string dump_of(const std::string& blob) {
        const ToolResult result = run({"dump", blob});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return result.out.substr(0, result.out.find("\ndependencies = "));
    }
};

void expect_new_words(const std::string& dump) {
    for (const char* words : {"enableable = true", "singleton = true", "disabled = 2", "component = \"asleep\""})
        EXPECT_NE(dump.find(words), std::string::npos) << words << " is not in\n" << dump;
    for (const char* words : {"toggled", "single = true", "switched_off = 2"})
        EXPECT_EQ(dump.find(words), std::string::npos) << words << " is in\n" << dump;
}

TEST_F(ToolOldWords, in_a_source_and_its_schema_are_read_with_a_warning_that_says_the_new_ones) {
    const std::string blob = path("old.blob");
    const ToolResult old = run({"compile", kFolder + "pond.sjson", "--schema", kSchema, "-o", blob});
    EXPECT_EQ(old.exit_code, 0) << old.err;
    EXPECT_TRUE(old.says("pond.schema.sjson:3:16: warning: `toggled` is called `enableable` now")) << old.err;
    EXPECT_TRUE(old.says("pond.schema.sjson:5:14: warning: `single` is called `singleton` now")) << old.err;
    EXPECT_TRUE(old.says("pond.sjson:4:77: warning: the component type \"switched_off\" is called \"disabled\" now"));
    EXPECT_TRUE(old.says("pond.sjson:7:25: warning: the component type \"switched_off\" is called \"disabled\" now"));
    expect_new_words(dump_of(blob));
}

TEST_F(ToolOldWords, in_a_blob_are_shown_as_the_new_ones) { expect_new_words(dump_of(kFolder + "pond.blob")); }

TEST_F(ToolOldWords, in_a_save_stand_for_the_state_that_was_saved) {
    if (sizeof(shoal::Entity) != 4) GTEST_SKIP() << "the save has 32-bit ids";
    const std::string blob = kFolder + "pond.blob", save = kFolder + "pond.save";
    const std::string after_3 = state_hash({"run", blob, "--schema", kSchema, "--frames", "3", "--json"});
    EXPECT_EQ(after_3, "0xa5d55974e578b236") << "what the older tool printed";
    const std::string after_5 = state_hash({"run", blob, "--schema", kSchema, "--frames", "5", "--json"});
    EXPECT_EQ(state_hash({"run", blob, "--schema", kSchema, "--load", save, "--frames", "2", "--json"}), after_5);

    const std::string saved_now = path("pond.save");
    run({"run", blob, "--schema", kSchema, "--frames", "3", "--save", saved_now});
    EXPECT_EQ(run({"diff", save, saved_now}).out, "");
    EXPECT_EQ(run({"diff", saved_now, save}).out, "");
}

}  // namespace
}  // namespace shoal_test
