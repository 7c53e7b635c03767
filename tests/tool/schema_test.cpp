#include "tool/tool_process.h"

namespace {

using shoal_test::ToolResult;
class ToolSchema : public shoal_test::ToolTest {};

constexpr std::string_view kCrab =
    "components = { crab = { version = 2  spawn_order = 3  fields = {\n"
    "    claws = { type = uint8 default = 2 range = [0 4] }  home = { type = string_id default = reef } } } }\n";

TEST_F(ToolSchema, prints_what_a_blob_and_schema_files_declare) {
    const std::string crab = write("crab.schema.sjson", kCrab),
                      pond = write("pond.sjson", "components = { crab = { claws = 3 } }");
    ASSERT_EQ(run({"compile", pond, "--schema", crab, "-o", path("pond.blob")}).exit_code, 0);
    const ToolResult of_file = run({"schema", "--schema", crab});
    EXPECT_EQ(of_file.exit_code, 0) << of_file.err;
    EXPECT_TRUE(of_file.prints("spawn_order = 3") && of_file.prints("range = [0.0 4.0]")) << of_file.out;
    EXPECT_TRUE(of_file.prints("default = \"reef\"")) << of_file.out;
    EXPECT_EQ(run({"schema", path("pond.blob"), "--schema", crab}).out, of_file.out) << "each type once";
    const std::string again = write("again.schema.sjson", of_file.out);
    EXPECT_EQ(run({"compile", pond, "--schema", again, "-o", path("again.blob")}).exit_code, 0);
    EXPECT_EQ(read(path("again.blob")).size(), read(path("pond.blob")).size());
}

TEST_F(ToolSchema, writes_a_file_but_none_that_it_reads) {
    const std::string crab = write("crab.schema.sjson", kCrab);
    EXPECT_EQ(run({"schema", "--schema", crab, "-o", path("out.sjson")}).exit_code, 0);
    EXPECT_EQ(read(path("out.sjson")), run({"schema", "--schema", crab}).out);
    const ToolResult over = run({"schema", "--schema", crab, "-o", crab});
    EXPECT_EQ(over.exit_code, 1);
    EXPECT_TRUE(over.says("is one of the files that were read")) << over.err;
    EXPECT_EQ(read(crab), kCrab);
}

TEST_F(ToolSchema, needs_the_texts_of_string_ids_in_defaults) {
    const std::string crab = write("crab.schema.sjson", kCrab), reef = write("reef.sjson", shoal_test::kReef),
                      pond = write("pond.sjson", "components = { crab = { claws = 3 home = \"sea\" } }");
    ASSERT_EQ(run({"compile", pond, "--schema", crab, "-o", path("pond.blob")}).exit_code, 0);
    const ToolResult crab_alone = run({"schema", path("pond.blob")});
    EXPECT_EQ(crab_alone.exit_code, 1);
    EXPECT_TRUE(crab_alone.says("field \"home\" has a default whose text is not known")) << crab_alone.err;
    ASSERT_EQ(run({"compile", reef, "-o", path("reef.blob")}).exit_code, 0);
    EXPECT_TRUE(run({"schema", path("reef.blob")}).prints("point_mass = {"));
}

TEST_F(ToolSchema, two_different_declarations_are_an_error) {
    const std::string crab = write("crab.schema.sjson", kCrab),
                      other = write("other.schema.sjson", "components = { crab = { fields = { claws = uint8 } } }");
    const ToolResult result = run({"schema", "--schema", crab, "--schema", other});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.says("already declared, but differently")) << result.err;
    EXPECT_EQ(run({"schema"}).exit_code, 2);
}

}  // namespace
