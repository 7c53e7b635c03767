// What people change in text takes effect with the program that is there.

#include "tool/tool_process.h"

namespace {

class ToolNoRebuild : public shoal_test::ToolTest {};

nlohmann::json run_crabs(const shoal_test::ToolResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.json();
}

// req: F1
TEST_F(ToolNoRebuild, entities_and_component_types_are_made_and_changed_in_text) {
    const auto run_text = [&](const char* schema, const char* level) {
        write("crab.schema.sjson", schema);
        write("crab.sjson", level);
        return run_crabs(
            run({"run", path("crab.sjson"), "--schema", path("crab.schema.sjson"), "--frames", "1", "--json"}));
    };
    const char* const kCrab = "components = { crab = { fields = { position = vec3 claws = uint8 } } }";
    const nlohmann::json one = run_text(kCrab, "components = { crab = { position = [1 2 3] } }");
    EXPECT_EQ(one["entities"], 1);
    EXPECT_EQ(one["bounds"]["high"], (nlohmann::json{1.0, 2.0, 3.0}));

    const nlohmann::json moved = run_text(kCrab, "components = { crab = { position = [4 2 3] } }");
    EXPECT_EQ(moved["bounds"]["high"], (nlohmann::json{4.0, 2.0, 3.0}));
    EXPECT_NE(moved["state_hash"], one["state_hash"]);

    const nlohmann::json more = run_text(
        "components = { crab = { fields = { position = vec3 claws = uint8 } } shell = { fields = { age = float } } }",
        "entities = [ { components = { crab = {} } } { components = { crab = {} shell = { age = 3 } } } ]");
    EXPECT_EQ(more["entities"], 2);
    EXPECT_EQ(more["components"]["crab"]["rows"], 2);
    EXPECT_EQ(more["components"]["shell"]["rows"], 1) << "a component type that no program was built with";
}

}  // namespace
