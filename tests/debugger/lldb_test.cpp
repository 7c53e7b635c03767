// The printers for lldb, as lldb shows them in a program that it runs.

#include "debugger/debugger_testing.h"

namespace {

using shoal_test::expect_shown, shoal_test::output_of;

/// The newest lldb that is installed, or nothing.
std::string lldb() {
    for (const char* name : {"lldb-19", "lldb"})
        if (output_of(std::string(name) + " --batch --no-lldbinit -o 'script print(6 * 7)'").find("42") !=
            std::string::npos)
            return name;
    return {};
}

/// What lldb prints for some commands, in the frame of show().
std::string shown_by_lldb(const std::string& commands) {
    return output_of(
        lldb() +
        " --batch --no-lldbinit -o 'command script import " SHOAL_DEBUGGER_TOOLS
        "/shoal_lldb.py' -o 'settings set target.disable-aslr false' -o 'breakpoint set -n shown::show' -o run" +
        commands + " " SHOAL_SHOWN_PROGRAM);
}

struct Lldb : ::testing::Test {
    void SetUp() override {
        if (lldb().empty()) GTEST_SKIP() << "there is no lldb with Python here";
        if (shown_by_lldb("").find("stop reason = breakpoint") == std::string::npos)
            GTEST_SKIP() << "lldb cannot run programs here";
    }
};

TEST_F(Lldb, shows_values_as_people_name_them) {
    const std::string output = shown_by_lldb(
        " -o 'frame variable boat dead place status bodies world' -o 'settings set target.max-children-count 0' -o "
        "'frame variable bodies'");
    expect_shown(output, "boat = 1:1 alive\n");
    expect_shown(output, "dead = 2:1 dead\n");
    expect_shown(output, " [1 2.5 3]\n");
    expect_shown(output,
                 "error: \"body\" has no field \"colour\"; it has mass, position, shape, cell, label, target\n");
    expect_shown(output,
                 "table body, 1 row = {0 = 1:1 alive: mass = 2, position = [1 2.5 3], shape = sphere, cell = [1, 2], "
                 "label = \"crab\", target = 2:1 dead}\n");
    expect_shown(output, "world of 1 store, frame 0");
    expect_shown(output, "table body, 1 row\n");
}

TEST_F(Lldb, describes_an_entity) {
    const std::string output = shown_by_lldb(" -o 'shoal-describe world boat' -o 'shoal-describe world'");
    expect_shown(output,
                 "entity 1:1 is alive\n  body: mass = 2.0, position = [1.0 2.5 3.0], shape = \"sphere\", cell = [1 2], "
                 "label = \"crab\", target = \"2:1\"\n");
    expect_shown(output, "write `shoal-describe WORLD ENTITY`");
}

TEST_F(Lldb, describes_an_entity_that_is_given_as_it_is_shown) {
    const std::string output = shown_by_lldb(" -o 'shoal-describe world 1:1' -o 'shoal-describe world 1'");
    const std::string told = "entity 1:1 is alive\n  body: mass = 2.0";
    expect_shown(output, told);
    EXPECT_NE(output.find(told, output.find(told) + 1), std::string::npos) << output;
    expect_shown(shown_by_lldb(" -o 'shoal-describe world 1:9'"), "entity 1:9 is dead");
}

}  // namespace
