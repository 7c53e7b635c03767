// shoal sql: questions about levels and saves.

#include "shoal/components/point_mass.h"
#include "shoal/save/save.h"
#include "shoal/world/world.h"
#include "tool/tool_process.h"

namespace {

using namespace shoal;
using shoal_test::kReef;
using shoal_test::ToolResult;
namespace fs = std::filesystem;

class ToolSql : public shoal_test::ToolTest {
protected:
    void SetUp() override {
        ToolTest::SetUp();
        if (run({"sql", reef_blob(), "SELECT 1"}).says("built without SQLite")) GTEST_SKIP() << "there is no SQL";
    }
};

TEST_F(ToolSql, a_blob_a_source_and_a_save_are_asked_alike) {
    const std::string question =
        "SELECT name, mass FROM entities JOIN point_mass USING (entity) ORDER BY mass DESC, name";
    const ToolResult blob = run({"sql", path("reef.blob"), question});
    EXPECT_EQ(blob.exit_code, 0) << blob.err;
    EXPECT_TRUE(blob.prints("mass")) << blob.out;
    EXPECT_EQ(run({"sql", path("reef.sjson"), question}).out, blob.out);
    ASSERT_EQ(run({"run", path("reef.blob"), "--frames", "0", "--save", path("reef.save")}).exit_code, 0);
    EXPECT_EQ(run({"sql", path("reef.save"), question}).out, blob.out);
    EXPECT_EQ(run({"sql", path("reef.save"), "SELECT position_z FROM transform ORDER BY 1"}).out,
              "position_z\n0\n0\n10\n");
}

TEST_F(ToolSql, answers_are_tables_csv_or_json) {
    const std::string question =
        "SELECT entity, mass, 'a,\"b' AS t, NULL AS n, '' AS e FROM point_mass WHERE mass = 2; SELECT 1 AS one, 2 AS "
        "one";
    EXPECT_EQ(run({"sql", path("reef.blob"), question}).out,
              "entity  mass     t  n  e\n1:1        2  a,\"b      \none  one\n1      2\n");
    EXPECT_EQ(run({"sql", path("reef.blob"), question, "--format", "csv"}).out,
              "entity,mass,t,n,e\n1:1,2,\"a,\"\"b\",,\"\"\none,one\n1,2\n");
    const ToolResult json = run({"sql", path("reef.blob"), question.substr(0, question.find(';')), "--format=json"});
    EXPECT_EQ(nlohmann::json::parse(json.out),
              nlohmann::json::parse(R"([{"entity": "1:1", "mass": 2.0, "t": "a,\"b", "n": null, "e": ""}])"));
}

TEST_F(ToolSql, errors_exit_with_1_and_wrong_usage_with_2) {
    const ToolResult typo = run({"sql", path("reef.blob"), "SELECT * FROM\n  point_mas"});
    EXPECT_EQ(typo.exit_code, 1);
    EXPECT_TRUE(typo.says("error: 2:3: there is no table \"point_mas\"; did you mean \"point_mass\"?")) << typo.err;
    EXPECT_EQ(run({"sql", path("none.blob"), "SELECT 1"}).exit_code, 1);
    EXPECT_EQ(run({"sql", path("reef.blob"), "SELECT 1", "--seconds", "0.01"}).exit_code, 0);
    EXPECT_TRUE(
        run({"sql", path("reef.blob"), "SELECT * FROM point_mass", "--max-rows", "2"}).says("more than 2 rows"));
    EXPECT_EQ(run({"sql"}).exit_code, 2);
    EXPECT_EQ(run({"sql", path("reef.blob"), "SELECT 1", "--format", "xml"}).exit_code, 2);
    EXPECT_EQ(run({"sql", path("reef.blob"), "SELECT 1", "--seconds", "soon"}).exit_code, 2);
    EXPECT_EQ(run({"sql", "-", "-"}).exit_code, 2);
    EXPECT_EQ(run({"sql", "-"}).exit_code, 2);
    EXPECT_EQ(run({"sql", path("reef.blob"), "DELETE FROM point_mass"}).exit_code, 1);
}

TEST_F(ToolSql, save_allows_updates_and_leaves_the_file_that_was_read) {
    const std::string text = "UPDATE point_mass SET mass = 7 WHERE mass = 1";
    const ToolResult refused = run({"sql", path("reef.blob"), text});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(refused.says("give --save the name of a save")) << refused.err;
    const std::string before = read(path("reef.blob"));
    ASSERT_EQ(run({"sql", path("reef.blob"), text, "--save", path("new.save")}).exit_code, 0);
    EXPECT_EQ(read(path("reef.blob")), before);
    EntityManager entities;
    World world(entities);
    ASSERT_TRUE(load(world, path("new.save")));
    EXPECT_EQ(run({"sql", path("new.save"), "SELECT count(*) AS n FROM point_mass WHERE mass = 7"}).out, "n\n2\n");
    const ToolResult failed = run({"sql", path("new.save"), text + "; SELECT nobody", "--save", path("other.save")});
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_FALSE(fs::exists(path("other.save")));
}

TEST_F(ToolSql, the_shell_takes_statements_and_commands_from_a_pipe) {
    write("lines", ".tables\nSELECT count(*) AS n\n  FROM point_mass;\n.schema point_mas\n.nothing\nSELECT 5 AS five");
    const ToolResult shell = run({"sql", path("reef.blob")}, {}, path("lines"));
    EXPECT_EQ(shell.exit_code, 1);
    EXPECT_TRUE(shell.out.starts_with("transform\n")) << shell.out;
    EXPECT_TRUE(shell.out.ends_with("n\n3\nfive\n5\n")) << shell.out;
    EXPECT_TRUE(shell.says("there is no table \"point_mas\"; did you mean \"point_mass\"?")) << shell.err;
    EXPECT_TRUE(shell.says("there is no command \".nothing\"")) << shell.err;
    write("good", ".schema debug_name\n.quit\nSELECT nobody;\n");
    const ToolResult quit = run({"sql", path("reef.blob")}, {}, path("good"));
    EXPECT_EQ(quit.exit_code, 0) << quit.err;
    EXPECT_EQ(quit.out, "CREATE TABLE \"debug_name\" (\"entity\" ENTITY, \"name\" TEXT, \"zone\" INTEGER HIDDEN);\n");
    EXPECT_EQ(run({"sql", path("reef.blob"), "-"}, {}, write("text", "SELECT 1 AS a;\nSELECT 2 AS b")).out,
              "a\n1\nb\n2\n");
}

TEST_F(ToolSql, the_shell_on_a_terminal_goes_on_after_errors_and_keeps_what_was_asked) {
    ::setenv("XDG_STATE_HOME", path("state").c_str(), 1);
    const std::string text = run_on_terminal({"sql", path("reef.blob")}, {},
                                             "SELECT nobody;\nSELECT max(mass) + 40 FROM point_ma\t;\n.quit\n");
    ::unsetenv("XDG_STATE_HOME");
    EXPECT_NE(text.find("there is no column"), std::string::npos) << text;
    EXPECT_NE(text.find("42"), std::string::npos) << text;
    if (!fs::exists(path("state/shoal/sql_history"))) GTEST_SKIP() << "the tool was built without readline";
    EXPECT_NE(read(path("state/shoal/sql_history")).find("FROM point_mass"), std::string::npos);
}

}  // namespace
