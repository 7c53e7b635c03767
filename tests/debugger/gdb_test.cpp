// The printers for gdb, as gdb shows them in a program that it runs.

#include "debugger/debugger_testing.h"

namespace {

using shoal_test::expect_shown, shoal_test::output_of;

/// What gdb prints for some commands, in the frame of show().
std::string shown_by_gdb(const std::string& commands) {
    return output_of("gdb -batch -nx -ex 'set startup-with-shell off' -ex 'source " SHOAL_DEBUGGER_TOOLS
                     "/shoal_gdb.py' -ex 'break shown::show' -ex run" +
                     commands + " " SHOAL_SHOWN_PROGRAM);
}

struct Gdb : ::testing::Test {
    void SetUp() override {
        if (output_of("gdb -batch -ex 'python print(6 * 7)'").find("42") == std::string::npos)
            GTEST_SKIP() << "there is no gdb with Python here";
        if (shown_by_gdb("").find("Breakpoint 1, ") == std::string::npos)
            GTEST_SKIP() << "gdb cannot run programs here";
    }
};

TEST_F(Gdb, shows_values_as_people_name_them) {
    const std::string output = shown_by_gdb(
        " -ex 'print boat' -ex 'print dead' -ex 'print place' -ex 'print status' -ex 'print bodies' -ex 'print world'");
    expect_shown(output, "$1 = 1:1 alive\n");
    expect_shown(output, "$2 = 2:1 dead\n");
    expect_shown(output, "[1 2.5 3]\n");
    expect_shown(output,
                 "error: \"body\" has no field \"colour\"; it has mass, position, shape, cell, label, target\n");
    expect_shown(output,
                 "table body, 1 row = {0 = 1:1 alive: mass = 2, position = [1 2.5 3], shape = sphere, cell = [1, 2], "
                 "label = \"crab\", target = 2:1 dead}\n");
    expect_shown(output, "world of 1 store, frame 0");
}

/// Describing an entity calls a function of the program. gdb 13 cannot on processors with more registers than it knows.
struct GdbCalls : Gdb {
    void SetUp() override {
        Gdb::SetUp();
        if (IsSkipped()) return;
        if (shown_by_gdb(" -ex 'print (int) getpid()'").find("Couldn't write extended state") != std::string::npos)
            GTEST_SKIP() << "this gdb cannot call functions on this processor";
    }
};

TEST_F(GdbCalls, describes_an_entity) {
    const std::string output = shown_by_gdb(" -ex 'shoal-describe world boat' -ex 'shoal-describe world'");
    expect_shown(output,
                 "entity 1:1 is alive\n  body: mass = 2.0, position = [1.0 2.5 3.0], shape = \"sphere\", cell = [1 2], "
                 "label = \"crab\", target = \"2:1\"\n");
    expect_shown(output, "write `shoal-describe WORLD ENTITY`");
}

TEST_F(GdbCalls, describes_an_entity_that_is_given_as_it_is_shown) {
    const std::string output = shown_by_gdb(" -ex 'shoal-describe world 1:1' -ex 'shoal-describe world 1'");
    const std::string told = "entity 1:1 is alive\n  body: mass = 2.0";
    expect_shown(output, told);
    EXPECT_NE(output.find(told, output.find(told) + 1), std::string::npos) << output;
    expect_shown(shown_by_gdb(" -ex 'shoal-describe world 1:9'"), "entity 1:9 is dead");
}

}  // namespace
