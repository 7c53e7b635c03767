// Saves in the tool: shown, compared, checked, and gone on with.

#include "shoal/save/save.h"
#include "shoal/base/string_id.h"
#include "shoal/command/commands.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/tag.h"
#include "shoal/database/database.h"
#include "shoal/pose/model_pose.h"
#include "shoal/resource/library.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/world.h"
#include "tool/tool_process.h"

#include <vector>

namespace {

using namespace shoal;
using shoal_test::kReef;
using shoal_test::ToolResult;

struct Crab {
    float shell = 2;
    Vec3 place{};
    Entity prey;
};
SHOAL_COMPONENT(Crab, shell, (place, split), prey)
struct Asleep {
    float since = 0;
};
SHOAL_COMPONENT((Asleep, enableable), since)

class ToolSave : public shoal_test::ToolTest {
protected:
    /// A small world: two crabs, one of which sleeps, and a tag.
    struct Shore {
        Shore() {
            first = *entities.create(), second = *entities.create();
            EXPECT_TRUE(world.database().add(first, Crab{3, {1, 2, 3}, second}).ok());
            EXPECT_TRUE(world.database().add(second, Crab{4, {}, {}}, Disabled{Asleep{0.5f}}).ok());
            EXPECT_TRUE(world.manager<Tag>().add(first, Tag{*world.strings().intern("shy")}).ok());
            world.step(0.1f);
        }
        void set_shell(Entity crab, float shell) {
            world.database().set<&Crab::shell>(world.database().find(crab), shell);
        }
        EntityManager entities;
        World world{entities};
        ZoneStreaming zones{world};
        Entity first, second;
    };
    std::string save(const Shore& shore, const char* name) const {
        const Status status = shoal::save(shore.world, path(name));
        EXPECT_TRUE(status.ok()) << status.message();
        return path(name);
    }
};

TEST_F(ToolSave, a_save_is_shown_with_its_frame_its_stores_and_what_its_entities_have) {
    const std::string shore = save(Shore(), "shore.save");
    const ToolResult text = run({"dump", shore});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_TRUE(text.prints("frame = 1\n")) << text.out;
    const nlohmann::json json = run({"dump", shore, "--json"}).json();
    EXPECT_EQ(json["ok"], true);
    EXPECT_EQ(json["frame"], 1);
    EXPECT_EQ(json["entities"], 2);
    ASSERT_EQ(json["entity_data"].size(), 2u);
    const nlohmann::json &first = json["entity_data"][0], &second = json["entity_data"][1];
    EXPECT_EQ(first["entity"], "1:1");
    EXPECT_EQ(first["components"]["crab"]["shell"], 3);
    EXPECT_EQ(first["components"]["crab"]["place"], (nlohmann::json{1, 2, 3}));
    EXPECT_EQ(first["components"]["crab"]["prey"], "2:1");
    EXPECT_EQ(first["components"]["tag"][0]["tag"], "shy");
    EXPECT_EQ(second["components"]["crab"]["prey"], nullptr);
    EXPECT_EQ(second["components"]["asleep"]["since"], 0.5);
    EXPECT_EQ(second["disabled"], nlohmann::json{"asleep"});
    EXPECT_EQ(json["stores"][0]["kind"], "the database");
    EXPECT_EQ(json["stores"][0]["rows"], 2);
}

TEST_F(ToolSave, two_saves_differ_in_the_fields_that_differ_and_in_nothing_else) {
    Shore shore;
    const std::string before = save(shore, "before.save");
    const ToolResult same = run({"diff", before, before});
    EXPECT_EQ(same.exit_code, 0) << same.err;
    EXPECT_EQ(same.out, "");
    shore.set_shell(shore.second, 4.5f);
    static_cast<void>(shore.world.database().remove<Crab>(shore.first));
    const Entity third = *shore.entities.create();
    ASSERT_TRUE(shore.world.database().add(third, Asleep{7}).ok());
    const std::string after = save(shore, "after.save");
    const ToolResult different = run({"diff", before, after});
    EXPECT_EQ(different.exit_code, 3) << different.err;
    EXPECT_EQ(different.out,
              "--- " + before + "\n+++ " + after +
                  "\n1:1\n-   components.crab.place = [1.0 2.0 3.0]\n-   components.crab.prey = \"2:1\"\n"
                  "-   components.crab.shell = 3.0\n2:1\n-   components.crab.shell = 4.0\n"
                  "+   components.crab.shell = 4.5\n+ 3:1: asleep = { since = 7.0 }\n");
    const nlohmann::json json = run({"diff", before, after, "--json"}).json();
    EXPECT_EQ(json["different"], true);
    ASSERT_EQ(json["differences"].size(), 5u);
    EXPECT_EQ(json["differences"][3]["entity"], "2:1");
    EXPECT_EQ(json["differences"][3]["member"], "components.crab.shell");
    EXPECT_EQ(json["differences"][3]["before"], "4.0");
    EXPECT_EQ(json["differences"][3]["after"], "4.5");
    EXPECT_EQ(json["differences"][4]["difference"], "added");
}

TEST_F(ToolSave, what_lies_beside_entities_is_compared_too) {
    Shore shore;
    const std::string before = save(shore, "before.save");
    shore.world.step(0.1f);
    const ToolResult frame = run({"diff", before, save(shore, "frame.save")});
    EXPECT_EQ(frame.exit_code, 3);
    EXPECT_TRUE(frame.prints("the world\n-   frame = 1\n+   frame = 2\n")) << frame.out;
    Shore moved;
    EXPECT_TRUE(*moved.world.database().move(moved.first, 7));
    const ToolResult zone = run({"diff", before, save(moved, "zone.save")});
    EXPECT_EQ(zone.exit_code, 3) << "so is another zone";
    EXPECT_TRUE(zone.prints("1:1\n+   zone = 7\n")) << zone.out;
    Shore other;
    other.world.events<Crab>().write(Crab{5, {}, {}});
    const ToolResult event = run({"diff", before, save(other, "event.save")});
    EXPECT_EQ(event.exit_code, 3) << "so is an event";
    EXPECT_TRUE(event.prints("+   part events/")) << event.out;
    Shore without;
    without.world.schedule().add("rest", [](PassContext&) {});
    EXPECT_EQ(run({"diff", before, save(without, "pass.save")}).exit_code, 3) << "and so is a pass";
}

TEST_F(ToolSave, rows_of_unloaded_zones_are_shown_checked_and_compared) {
    Shore shore;
    const Entity third = *shore.entities.create();
    ASSERT_TRUE(shore.world.database().insert(third, 3, Crab{5, {}, shore.first}, Asleep{2}).ok());
    ASSERT_TRUE(shore.zones.start(path("zones")).ok());
    ASSERT_TRUE(shore.zones.unload(3).ok());
    const std::string before = save(shore, "before.save");
    const nlohmann::json json = run({"dump", before, "--json"}).json();
    EXPECT_EQ(json["entities"], 3);
    EXPECT_EQ(json["stores"][0]["rows"], 3);
    EXPECT_EQ(json["entity_data"][2]["components"]["crab"]["shell"], 5);
    EXPECT_EQ(json["entity_data"][2]["components"]["crab"]["prey"], "1:1");
    const ToolResult checked = run({"check", before});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    ASSERT_TRUE(shore.zones.load(3).ok());
    shore.set_shell(third, 6);
    ASSERT_TRUE(shore.zones.unload(3).ok());
    const std::string after = save(shore, "after.save");
    const ToolResult different = run({"diff", before, after});
    EXPECT_EQ(different.exit_code, 3) << different.err;
    EXPECT_TRUE(different.out.find("3:1\n-   components.crab.shell = 5.0\n+   components.crab.shell = 6.0\n") !=
                std::string::npos)
        << different.out;
    EXPECT_EQ(different.out.find("/file"), std::string::npos) << different.out;
}

TEST_F(ToolSave, commands_that_wait_in_a_save_are_counted_by_kind) {
    Shore shore;
    const std::string before = save(shore, "before.save");
    for (int i = 0; i < 3; ++i) shore.world.commands().create(Crab{});
    shore.world.commands().destroy(shore.first);
    shore.world.commands().tag(shore.second, "lost");
    const std::string after = save(shore, "after.save");
    EXPECT_FALSE(run({"dump", before, "--json"}).json().contains("commands"));
    EXPECT_EQ(run({"dump", after, "--json"}).json()["commands"],
              (nlohmann::json{{"create", 3}, {"destroy", 1}, {"name_or_tag", 1}}));
    EXPECT_TRUE(run({"check", after}).prints("after.save: ok, 2 entities, 5 commands wait, "));
    const ToolResult different = run({"diff", before, after});
    EXPECT_EQ(different.exit_code, 3);
    EXPECT_TRUE(different.prints("+   commands.create = 3\n")) << different.out;
}

TEST_F(ToolSave, a_save_and_something_else_are_not_compared) {
    const std::string shore = save(Shore(), "shore.save"), source = write("reef.sjson", kReef);
    const ToolResult mixed = run({"diff", shore, source});
    EXPECT_EQ(mixed.exit_code, 1);
    EXPECT_TRUE(mixed.says("reef.sjson\" is not a save, and is compared with one")) << mixed.err;
    EXPECT_EQ(run({"compile", source, "-o", path("reef.blob")}).exit_code, 0);
    EXPECT_EQ(run({"diff", path("reef.blob"), shore}).exit_code, 1);
    EXPECT_EQ(run({"diff", shore, shore, "--composed"}).exit_code, 2);
}

TEST_F(ToolSave, a_save_is_checked_and_what_is_wrong_is_said) {
    const std::string shore = save(Shore(), "shore.save");
    const ToolResult good = run({"check", shore});
    EXPECT_EQ(good.exit_code, 0) << good.err;
    EXPECT_TRUE(good.prints("shore.save: ok, 2 entities")) << good.out;
    std::string bytes = read(shore);
    bytes[bytes.size() / 2] = char(bytes[bytes.size() / 2] ^ 4);
    const std::string bad = write("bad.save", bytes);
    for (const char* verb : {"check", "dump"}) {
        const ToolResult result = run({verb, bad});
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_TRUE(
            result.says("bad.save: the file is not a complete save: its checksum is wrong; take another copy of it"))
            << result.err;
    }
    EXPECT_EQ(run({"diff", shore, bad}).exit_code, 1);
    EXPECT_EQ(run({"check", shore, bad, "--json"}).json()["errors"], 1);
}

TEST_F(ToolSave, a_save_is_shown_as_the_migrations_of_a_schema_file_say) {
    const std::string shore = save(Shore(), "shore.save");
    const std::string schema =
        write("game.schema.sjson",
              "components = { crab = { version = 2  fields = { armor = { type = \"float\" }  place = { type = \"vec3\" "
              "}  prey = { type = \"entity\" } }  migrations = [{ from = 1  rename = { shell = \"armor\" } }] } }");
    const ToolResult shown = run({"dump", shore, "--schema", schema, "--json"});
    ASSERT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(shown.json()["entity_data"][0]["components"]["crab"]["armor"], 3) << shown.out;
    const std::string other = write(
        "other.schema.sjson", "components = { crab = { version = 2  fields = { legs = { type = \"int32\" } } } }");
    const ToolResult refused = run({"check", shore, "--schema", other});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(
        refused.says("it has crab v1 {shell float, place vec3 split, prey entity}, and this program has crab v2 "
                     "{legs int32}; no migration leads from one to the other"))
        << refused.err;
}

/// A level whose values lie in its blob: models, data and an array.
constexpr std::string_view kSchool = R"(
entities = {
    fish = { components = {
        transform = {}
        model_pose = { nodes = [{ name = "hip" } { name = "knee"  parent = "hip"  position = [0 -0.5 0] }] }
        properties = { mood = "calm"  speed = 3.5 }
        route = { stops = [[1 2 3] [4 5 6]] }
    } }
}
)";
constexpr std::string_view kRoutes =
    R"(components = { route = { fields = { stops = { type = "blob_array"  of = "vec3" } } } })";

class ToolSchool : public ToolSave {
protected:
    void SetUp() override {
        ToolSave::SetUp();
        blob = path("school.blob"), save = path("school.save");
        EXPECT_EQ(run({"compile", write("school.sjson", kSchool), "--schema", write("routes.schema.sjson", kRoutes),
                       "-o", blob})
                      .exit_code,
                  0);
        EXPECT_EQ(run({"run", blob, "--frames", "2", "--save", save}).exit_code, 0);
    }
    std::string blob, save;
};

TEST_F(ToolSchool, values_in_blobs_are_shown_and_checked_if_the_blobs_are_given) {
    const ToolResult shown = run({"dump", save, "--resource", blob, "--json"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(shown.err, "");
    const nlohmann::json fish = shown.json()["entity_data"][0]["components"];
    EXPECT_EQ(fish["route"]["stops"], (nlohmann::json{{1, 2, 3}, {4, 5, 6}}));
    EXPECT_EQ(fish["properties"]["values"], (nlohmann::json{{"mood", "calm"}, {"speed", 3.5}}));
    EXPECT_FALSE(fish["properties"].contains("not_loaded"));
    EXPECT_TRUE(fish.contains("model_pose"));
    const ToolResult good = run({"check", save, "--resource", blob});
    EXPECT_EQ(good.exit_code, 0) << good.err;
    EXPECT_TRUE(good.prints("school.save: ok, 1 entity, no warnings\n")) << good.out;
    EXPECT_EQ(run({"diff", save, save, "--resource", blob}).exit_code, 0);
}

TEST_F(ToolSchool, without_the_blobs_their_resource_is_named_and_the_rest_is_shown) {
    const ToolResult shown = run({"dump", save, "--json"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    const nlohmann::json fish = shown.json()["entity_data"][0]["components"];
    const std::string resource = fish["route"]["stops"]["resource"];
    EXPECT_TRUE(resource.starts_with("#0x")) << resource;
    EXPECT_EQ(fish["route"]["stops"]["count"], 2);
    EXPECT_EQ(fish["properties"]["not_loaded"]["resource"], resource);
    EXPECT_FALSE(fish.contains("model_pose"));
    EXPECT_TRUE(fish.contains("transform"));
    const std::string warning = "warning: " + save +
                                ": the poses of models are left out and not checked, because they refer to blobs that "
                                "are not given: " +
                                resource + "; give these blobs with --resource\n";
    EXPECT_EQ(shown.err, warning);
    EXPECT_EQ(shown.json()["diagnostics"].size(), 1u);
    const ToolResult checked = run({"check", save});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_EQ(checked.err, warning);
    EXPECT_TRUE(checked.prints("school.save: ok, 1 entity, 1 warning\n")) << checked.out;
}

TEST_F(ToolSchool, what_is_left_out_without_blobs_is_compared_all_the_same) {
    EXPECT_EQ(run({"diff", save, save}).exit_code, 0);
    const std::string bent_save = path("bent.save");
    ResourceLibrary library;
    ASSERT_TRUE(library.load_file(blob).ok());
    EntityManager entities;
    World world(entities, {.library = &library});
    ASSERT_TRUE(shoal::load(world, save).ok());
    ModelPoseManager& models = world.model_poses();
    models.set_local(models.instance(make_entity(1, 1)), 1, {.position = {0, -0.7f, 0}});
    ASSERT_TRUE(shoal::save(world, bent_save).ok());
    const ToolResult different = run({"diff", save, bent_save});
    EXPECT_EQ(different.exit_code, 3) << different.err;
    EXPECT_TRUE(different.prints("part stores/model_pose/")) << different.out;
}

TEST_F(ToolSchool, commands_that_spawn_blobs_are_counted_and_need_the_blobs_to_be_checked) {
    ResourceLibrary library;
    const Result<const Blob*> school = library.load_file(blob);
    ASSERT_TRUE(school.ok());
    EntityManager entities;
    World world(entities, {.library = &library});
    world.database();
    world.commands().spawn(**school);
    const std::string waiting = path("waiting.save");
    ASSERT_TRUE(shoal::save(world, waiting).ok());
    const ToolResult without = run({"check", waiting});
    EXPECT_EQ(without.exit_code, 0) << without.err;
    EXPECT_TRUE(
        without.says(": the commands that wait are left out and not checked, because they refer to blobs that are "
                     "not given: \"school\"; give these blobs"))
        << without.err;
    EXPECT_TRUE(without.prints("ok, 0 entities, 1 command waits, 1 warning\n")) << without.out;
    EXPECT_EQ(run({"dump", waiting, "--json"}).json()["commands"], (nlohmann::json{{"spawn", 1}}));
    const ToolResult with = run({"check", waiting, "--resource", blob});
    EXPECT_TRUE(with.prints("ok, 0 entities, 1 command waits, no warnings\n")) << with.out << with.err;
}

TEST_F(ToolSchool, a_resource_that_is_none_or_another_is_refused) {
    const ToolResult none = run({"dump", save, "--resource", save});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_TRUE(none.says("it is not a blob: it does not start with SHOALBLB; give --resource a blob")) << none.err;
    const ToolResult twice = run({"dump", save, "--resource", blob, "--resource", blob});
    EXPECT_EQ(twice.exit_code, 1);
    EXPECT_TRUE(twice.says("the resource \"school\" is given already; give --resource each blob once")) << twice.err;
    const ToolResult other = run({"check", save, "--resource", reef_blob()});
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_TRUE(other.says("not loaded")) << other.err;
    EXPECT_TRUE(other.says("give --resource all blobs to which the world refers")) << other.err;
}

TEST_F(ToolSave, a_run_begins_with_an_older_save_as_the_migrations_of_a_schema_file_say) {
    const std::string level = write("level.sjson", "entities = { one = { components = { crab = {} } } }");
    const std::string before = write(
        "before.schema.sjson", "components = { crab = { fields = { shell = { type = \"float\"  default = 3 } } } }");
    const std::string after = write(
        "after.schema.sjson",
        "components = { crab = { version = 2  fields = { armor = { type = \"float\" } }  migrations = [{ from = 1 "
        " rename = { shell = \"armor\" } }] } }");
    const std::string old = path("old.save"), now = path("now.save");
    EXPECT_EQ(run({"run", level, "--schema", before, "--frames", "1", "--save", old}).exit_code, 0);
    const ToolResult went_on = run({"run", level, "--schema", after, "--frames", "1", "--load", old, "--save", now});
    EXPECT_EQ(went_on.exit_code, 0) << went_on.err;
    EXPECT_EQ(run({"dump", now, "--json"}).json()["entity_data"][0]["components"]["crab"]["armor"], 3);
}

TEST_F(ToolSave, a_run_that_was_saved_and_loaded_ends_as_one_that_went_on) {
    const std::string reef = write("reef.sjson", kReef), half = path("half.save");
    const std::string whole = run({"run", reef, "--frames", "60", "--json"}).json()["state_hash"];
    const ToolResult first = run({"run", reef, "--frames", "30", "--save", half, "--json"});
    ASSERT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.json()["save"], half);
    EXPECT_EQ(first.json()["save_bytes"], std::filesystem::file_size(half));
    EXPECT_NE(first.json()["state_hash"], whole);
    const ToolResult second = run({"run", reef, "--frames", "30", "--load", half, "--json"});
    ASSERT_EQ(second.exit_code, 0) << second.err;
    EXPECT_EQ(second.json()["state_hash"], whole);
    EXPECT_EQ(second.json()["entities"], 3);
    const std::string end = path("end.save"), whole_end = path("whole.save");
    EXPECT_EQ(run({"run", reef, "--frames", "30", "--load", half, "--save", end}).exit_code, 0);
    EXPECT_EQ(run({"run", reef, "--frames", "60", "--save", whole_end}).exit_code, 0);
    EXPECT_EQ(run({"diff", end, whole_end}).out, "");
}

/// A save whose header says that it takes 2 GiB in memory, of which it has nothing.
std::string save_of_2_gib() {
    constexpr std::uint64_t kPieces = 2048, kBytes = kPieces << 20;
    std::string table, header = "shoalsav";
    const auto append = [](std::string& to, const auto& value) {
        to.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    append(table, kBytes), append(table, std::uint32_t(1)), append(table, std::uint32_t(5));
    table.append("zeros\0\0\0", 8);
    const std::string body = table + std::string(kPieces * 4, '\0');
    append(header, std::uint32_t(1)), append(header, std::uint32_t(0x01020304));
    for (const std::uint64_t number : {64 + body.size(), kBytes, std::uint64_t(1), table.size(), kPieces})
        append(header, number);
    append(header, hash_bytes(body.data(), body.size()));
    return header + body;
}

TEST_F(ToolSave, a_save_that_takes_more_memory_than_it_may_names_the_flag_that_allows_it) {
    const std::string file = save(Shore(), "shore.save"), reef = write("reef.sjson", kReef);
    const std::string advice = " bytes in memory, and may take 1024; ";
    for (const std::vector<std::string>& words : {std::vector<std::string>{"dump", file},
                                                  {"check", file},
                                                  {"diff", file, file},
                                                  {"run", reef, "--load", file}}) {
        std::vector<std::string> limited = words;
        limited.insert(limited.end(), {"--max-memory", "1K"});
        const ToolResult refused = run(limited);
        EXPECT_EQ(refused.exit_code, 1) << words[0];
        EXPECT_TRUE(refused.says(advice) && refused.says("give --max-memory a larger SIZE\n")) << refused.err;
        limited.back() = "1M";
        EXPECT_FALSE(run(limited).says("in memory")) << words[0];
    }
    EXPECT_EQ(run({"dump", file, "--max-memory", "1M"}).out, run({"dump", file}).out);
    const std::string large = write("large.save", save_of_2_gib());
    const ToolResult refused = run({"check", large});
    EXPECT_TRUE(refused.says("the save takes 2147483648 bytes in memory, and may take 1073741824; ")) << refused.err;
    EXPECT_TRUE(run({"check", large, "--max-memory", "4G"}).says("a piece of it cannot be decompressed"));
    for (const char* size : {"0", "-1", "12x", "1.5G", "G", "99999999999T"}) {
        const ToolResult wrong = run({"dump", file, "--max-memory", size});
        EXPECT_EQ(wrong.exit_code, 2) << size;
        EXPECT_TRUE(wrong.says("--max-memory takes a number of bytes such as 4096, 800M or 16G, not ")) << wrong.err;
    }
}

TEST_F(ToolSave, a_run_does_not_begin_with_what_is_no_save) {
    const std::string reef = write("reef.sjson", kReef);
    const ToolResult bad = run({"run", reef, "--load", reef});
    EXPECT_EQ(bad.exit_code, 1);
    EXPECT_TRUE(bad.says("the file is not a save of a world")) << bad.err;
    EXPECT_EQ(run({"run", reef, "--load", path("missing.save")}).exit_code, 1);
    for (const char* flag : {"--repeat", "--seed"})
        EXPECT_EQ(run({"run", reef, "--load", reef, flag, "2"}).exit_code, 2);
    EXPECT_EQ(run({"run", reef, "--load", reef, "--watch"}).exit_code, 2);
}

}  // namespace
