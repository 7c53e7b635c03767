// shoal run --watch: the tool runs as a process while its files are edited.

#include "safety/child_process.h"
#include "tool/tool_process.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class ToolWatch : public shoal_test::ToolTest {
protected:
    /// Starts the tool, and waits until it watches.
    void start(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {SHOAL_TOOL, "run", path("level.sjson"), "--watch"});
        write("output", "");
        process_ = std::make_unique<shoal_test::ChildProcess>(arguments, path("output"));
        ASSERT_TRUE(waits_for("interrupt to end\n"));
    }
    /// Waits until the tool has said something that it had not said at the last call. As long as it runs, it has time: a
    /// test fails only when it hangs.
    bool waits_for(std::string_view text) {
        for (int i = 0; i < 6000 && process_->runs(); ++i) {
            const std::string said = output();
            if (const std::size_t found = said.find(text, seen_); found != std::string::npos) {
                seen_ = found + text.size();
                return true;
            }
            std::this_thread::sleep_for(5ms);
        }
        ADD_FAILURE() << "the tool did not say \"" << text << "\" after:\n"
                      << output().substr(0, seen_) << "\nbut:\n"
                      << output().substr(seen_);
        return false;
    }
    /// Interrupts the tool and returns all that it has said.
    std::string end() {
        process_->kill(SIGINT);
        EXPECT_EQ(process_->wait(), 0) << output();
        return output();
    }
    std::string output() const { return read(path("output")); }
    /// Writes a file in its place, as some editors do; write() renames another one.
    void write_in_place(std::string_view name, std::string_view text) const {
        std::FILE* const file = std::fopen(path(name).c_str(), "wb");
        ASSERT_NE(file, nullptr);
        std::fwrite(text.data(), 1, text.size() / 2, file);
        std::fflush(file);
        std::fwrite(text.data() + text.size() / 2, 1, text.size() - text.size() / 2, file);
        std::fclose(file);
    }
    static std::size_t count(std::string_view text, std::string_view word) {
        std::size_t number = 0;
        for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++number;
        return number;
    }

    static constexpr std::string_view kSchema =
        R"(components = { hull = { fields = { armor = { type = "float" default = 1 } } } })";
    static constexpr std::string_view kLevel =
        R"(entities = { anna = { prefab = "boat" }  bert = { components = { hull = {} } } })";

    void write_all() {
        write("game.schema.sjson", kSchema);
        write("boat.sjson", "components = { hull = { armor = 3 } }");
        write("level.sjson", kLevel);
    }

private:
    std::unique_ptr<shoal_test::ChildProcess> process_;
    std::size_t seen_ = 0;
};

TEST_F(ToolWatch, an_edited_source_or_prefab_reloads_the_running_world) {
    write_all();
    start({"--schema", path("game.schema.sjson"), "--query", "hull.armor == 7"});
    write("boat.sjson", "components = { hull = { armor = 4 } }");
    ASSERT_TRUE(waits_for("level.sjson: 1 entity changed, 1 field written; loaded in "));
    write_in_place("level.sjson",
                   R"(entities = { anna = { prefab = "boat" }  carl = { components = { hull = { armor = 7 } } } })");
    ASSERT_TRUE(waits_for("1 entity created, 1 entity destroyed; loaded in "));
    write("boat.sjson", "components = { hull = { armor = 7 } }");
    ASSERT_TRUE(waits_for("1 field written; loaded in "));
    const std::string said = end();
    EXPECT_EQ(count(said, "reloaded "), 3 * 2u) << "a line each, with what it cost:\n" << said;
    EXPECT_NE(said.find("state hash"), std::string::npos) << "the usual report:\n" << said;
    EXPECT_NE(said.find("matches     2\n"), std::string::npos) << said;
}

TEST_F(ToolWatch, a_source_with_an_error_is_shown_once_and_the_world_runs_on_until_it_is_mended) {
    write_all();
    start({"--schema", path("game.schema.sjson")});
    write("boat.sjson", "components = { hull = { armr = 4 } }");
    ASSERT_TRUE(waits_for("did you mean \"armor\"?"));
    ASSERT_TRUE(waits_for("the world runs on as it is\n"));
    write("boat.sjson", "components = { hull = { armr = 4 } }");  // saved again
    write("boat.sjson.bak", "");                                  // what editors leave
    std::this_thread::sleep_for(200ms);
    write("boat.sjson", "components = { hull = { armor = 5 } }");
    ASSERT_TRUE(waits_for("1 field written"));
    write("level.sjson", R"(entities = { anna = { prefab = "boat" }  bert = { prefab = "reef/ship" } })");
    ASSERT_TRUE(waits_for("there is no prefab \"reef/ship\""));
    write("reef/ship.sjson", "components = { hull = { armor = 9 } }");  // the folder is new, too
    ASSERT_TRUE(waits_for("reloaded "));
    write("reef/ship.sjson", "components = { hull = { armor = 10 } }");
    ASSERT_TRUE(waits_for("1 field written"));
    EXPECT_EQ(count(end(), "did you mean"), 1u);
}

TEST_F(ToolWatch, a_missing_prefab_is_found_when_its_folder_is_made_later_though_others_write_beside_it_without_rest) {
    write_all();
    write("lib/other", "");
    start({"--schema", path("game.schema.sjson"), "--root", path(""), "--root", path("lib")});
    write("level.sjson", R"(entities = { anna = { prefab = "far/off/ship" } })");
    ASSERT_TRUE(waits_for("there is no prefab \"far/off/ship\""));
    std::atomic<bool> ends = false;
    std::thread writer([&] {
        for (int i = 0; !ends; ++i) write_in_place("noise", std::to_string(i)), std::this_thread::sleep_for(2ms);
    });
    write("lib/far/off/ship.sjson", "components = { hull = { armor = 9 } }");
    EXPECT_TRUE(waits_for("reloaded "));
    ends = true;
    writer.join();
    end();
}

TEST_F(ToolWatch, that_begins_with_an_error_waits_until_it_is_mended) {
    write_all();
    write("boat.sjson", "components = { hull = { armr = 3 } }");
    start({"--schema", path("game.schema.sjson")});
    EXPECT_EQ(count(output(), "waiting until this is mended"), 1u) << output();
    write("boat.sjson", "components = { hull = { armor = } }");
    ASSERT_TRUE(waits_for("waiting until this is mended"));
    write("boat.sjson", "components = { hull = { armor = 3 } }");
    ASSERT_TRUE(waits_for("watching "));
    write("boat.sjson", "components = { hull = { armor = 4 } }");
    ASSERT_TRUE(waits_for("1 field written"));
    EXPECT_EQ(count(end(), "did you mean"), 1u);
}

TEST_F(ToolWatch, a_field_that_a_schema_file_gains_comes_with_its_default) {
    write_all();
    start({"--schema", path("game.schema.sjson"), "--query", "hull"});
    write("game.schema.sjson", R"(components = { hull = { fields = {
        armor = { type = "float" default = 1 }  crew = { type = "int32" default = 5 } } } })");
    ASSERT_TRUE(waits_for("1 component type has other fields; loaded in "));
    const std::string said = end();
    EXPECT_NE(said.find("hull.armor  hull.crew\n"), std::string::npos) << said;
    EXPECT_NE(said.find("3.0          5\n"), std::string::npos) << said;
}

TEST_F(ToolWatch, ends_after_the_frames_that_were_asked_for_and_refuses_standard_input) {
    write_all();
    const shoal_test::ToolResult few =
        run({"run", path("level.sjson"), "--watch", "--frames", "3", "--schema", path("game.schema.sjson"), "--json"});
    EXPECT_EQ(few.exit_code, 0) << few.err;
    EXPECT_EQ(few.json()["frames"], 3);
    EXPECT_EQ(few.json()["reloads"], 0);
    EXPECT_EQ(run({"run", "-", "--watch"}).exit_code, 2);
}

TEST_F(ToolWatch, an_edited_script_is_loaded_again_and_a_faulty_one_works_on) {
    if (run({"schema", "--lua-types"}).says("built without LuaJIT")) GTEST_SKIP() << "there are no scripts";
    const auto version = [](std::string_view speed) {
        return "keep.loads = (keep.loads or 0) + 1 shoal.log('load', keep.loads) "
               "shoal.pass{name = 'wear', query = '&hull', columns = 'hull.armor', run = function(f, b, armor) "
               "armor:fill(" +
               std::string(speed) + ") end}";
    };
    write_all();
    write("wear.lua", version("7"));
    start({"--schema", path("game.schema.sjson"), "--script", path("wear.lua"), "--query", "hull.armor == 8"});
    write("wear.lua", "\nlocal x = nil + 1");
    ASSERT_TRUE(waits_for("wear.lua:2: attempt to perform arithmetic on a nil value"));
    ASSERT_TRUE(waits_for("stack traceback:"));
    ASSERT_TRUE(waits_for("the one before works on"));
    write("wear.lua", version("8"));
    ASSERT_TRUE(waits_for("reloaded " + path("wear.lua")));
    // The level changes beneath the script: its query looks at the new table.
    write("game.schema.sjson",
          R"(components = { hull = { fields = { color = "vec3" armor = { type = "float" default = 1 } } } })");
    ASSERT_TRUE(waits_for("reloaded"));
    std::this_thread::sleep_for(100ms);  // frames go by
    const std::string said = end();
    EXPECT_NE(said.find("matches     2\n"), std::string::npos) << said;
    EXPECT_EQ(count(said, "load 1"), 1u) << said;
    EXPECT_EQ(count(said, "rests"), 0u) << said;
}

}  // namespace
