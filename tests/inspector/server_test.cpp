// What the inspector answers about a world with something of all, what it changes, and what it refuses.

#include "shoal/inspector/server.h"

#include "inspector/inspected_sea.h"
#include "inspector/session.h"
#include "inspector/value_of_json.h"
#include "shoal/document/json.h"
#include "shoal/entity/entity_text.h"
#include "shoal/inspect/report.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/frames.h"
#include "shoal/save/state_difference.h"
#include "shoal/save/state_hash.h"
#include "support/testing.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace {

using namespace shoal;
using inspector_test::Connection;
using inspector_test::Inspected;
using inspector_test::Reply;
using inspector_test::request_text;
using nlohmann::json;

std::string error_of(const Reply& reply) { return json::parse(reply.body)["error"]["message"]; }

TEST(Inspector, what_it_says_of_a_world_is_what_the_report_says) {  // req: F12
    Inspected inspected;
    const World& world = inspected.sea.world;
    const WorldReport report = report_world(world);
    const json shown = inspected.json("/api/world");
    EXPECT_EQ(shown["frame"], world.frame());
    EXPECT_EQ(shown["entities"], world.entities().num_alive());
    const json memory = inspected.json("/api/memory");
    ASSERT_EQ(memory["components"].size(), report.components.size());
    for (std::size_t i = 0; i < report.components.size(); ++i) {
        EXPECT_EQ(memory["components"][i]["name"], report.components[i].name);
        EXPECT_EQ(memory["components"][i]["rows"], report.components[i].num_rows);
        EXPECT_EQ(memory["components"][i]["committed"], report.components[i].rows.committed_bytes);
    }
    const json passes = inspected.json("/api/passes");
    ASSERT_EQ(passes["passes"].size(), report.passes.size());
    for (const json& pass : passes["passes"]) {
        const auto same = std::ranges::find(report.passes, pass["name"].get<std::string>(), &PassReport::name);
        ASSERT_NE(same, report.passes.end());
        EXPECT_EQ(pass["runs"], same->num_runs);
        EXPECT_EQ(pass["rows"], same->num_rows);
    }
    EXPECT_NE(inspected.get("/metrics").body.find("shoal_entities " + std::to_string(world.entities().num_alive())),
              std::string::npos);
}

TEST(Inspector, services_have_a_line_and_some_a_table) {
    struct Tide final : WorldService {
        Tide() : WorldService("tide") {}
        std::string table() const override { return "place\tmetres\npier\t1.5\n"; }
    } tide;
    Inspected inspected;
    inspected.sea.world.services().add(tide);
    const json world = inspected.json("/api/world");
    bool found = false;
    for (const json& service : world["services"]) {
        EXPECT_EQ(service.contains("columns"), service["name"] == "tide");
        if (service["name"] != "tide") continue;
        found = true;
        EXPECT_EQ(service["columns"], json::array({"place", "metres"}));
        EXPECT_EQ(service["rows"], json::array({json::array({"pier", "1.5"})}));
    }
    EXPECT_TRUE(found);
    inspected.sea.world.services().remove(tide);
}

TEST(Inspector, entities_are_found_by_query_name_and_id_page_by_page) {
    Inspected inspected;
    std::vector<std::string> living, found;
    for (const Entity entity : living_entities(inspected.sea.world)) living.push_back(entity_text(entity));
    for (std::string after;;) {
        const json page = inspected.json("/api/entities?limit=7&after=" + after);
        EXPECT_EQ(page["total"], living.size());
        for (const json& one : page["entities"]) found.push_back(one["entity"]);
        if (!page["more"].get<bool>()) break;
        after = found.back();
    }
    EXPECT_EQ(found, living);
    const json fins = inspected.json("/api/entities?query=fin,%20!spot&limit=1000");
    std::size_t count = 0;
    for (const Entity entity : living_entities(inspected.sea.world))
        if (inspected.sea.world.get(entity, "fin.drag") && !inspected.sea.world.get(entity, "spot.position") &&
            inspected.sea.entities.is_active(entity))
            ++count;
    EXPECT_EQ(fins["entities"].size(), count);
    EXPECT_EQ(inspected.json("/api/entities?name=" + living[3])["entities"][0]["entity"], living[3]);
    const Reply wrong = inspected.get("/api/entities?query=fin,%20finn");
    EXPECT_EQ(wrong.status, 400);
    EXPECT_EQ(json::parse(wrong.body)["error"]["column"], 6);
    EXPECT_EQ(inspected.get("/api/entities?query=%26fin").status, 400) << "a query that writes";
}

// req: H1
TEST(Inspector, a_field_is_set_as_the_world_sets_it_and_taken_back) {
    Inspected inspected;
    World& world = inspected.sea.world;
    const std::string who = inspected.json("/api/entities?query=fin")["entities"][0]["entity"];
    Entity entity;
    ASSERT_TRUE(read_entity(who, entity));
    const float before = *world.get<float>(entity, "fin.drag");
    const std::uint64_t hash = state_hash(world);
    const json set = inspected.send("/api/set", {{"entity", who}, {"field", "fin.drag"}, {"value", 2.5}});
    EXPECT_EQ(set["value"], 2.5);
    EXPECT_EQ(*world.get<float>(entity, "fin.drag"), 2.5f);
    inspected.send("/api/set", {{"entity", who}, {"field", "fin.velocity"}, {"value", {1, 2, 3}}});
    EXPECT_EQ(world.get<Vec3>(entity, "fin.velocity")->y, 2);
    EXPECT_EQ(inspected.send("/api/undo", json::object())["field"], "fin.velocity");
    EXPECT_EQ(inspected.send("/api/undo", json::object())["field"], "fin.drag");
    EXPECT_EQ(*world.get<float>(entity, "fin.drag"), before);
    EXPECT_EQ(state_hash(world), hash);
    EXPECT_EQ(inspected.post("/api/undo", "{}").status, 400);
    inspected.send("/api/redo", json::object());
    EXPECT_EQ(*world.get<float>(entity, "fin.drag"), 2.5f);
}

struct Gauge {
    float level = 0;
    Vec3 flow{};
    std::uint64_t code = 0;
    std::int64_t debt = 0;
    std::int32_t count = 0;
    Entity of{};
};
SHOAL_COMPONENT(Gauge, (level, range(0, 10)), (flow, range(-1, 1)), code, debt, count, of)

TEST(Inspector, values_of_json_are_taken_up_to_their_ends_and_refused_beyond_them) {
    EntityManager entities;
    World world(entities);
    world.manager<Gauge>();
    const auto value_of = [&](const char* field, const char* text) {
        Diagnostics diagnostics;
        const Result<Document> given = read_json(diagnostics.add_file("value", text), diagnostics);
        const Result<AnyValue> value = inspect::value_of_json(given->root(), *world.find_field(field));
        return value ? value->to_text() : std::string(value.message());
    };
    const char* const cases[][3] = {
        {"gauge.level", "10", "10.0"},
        {"gauge.level", "0", "0.0"},
        {"gauge.level", "10.5", "\"gauge.level\" is from 0.0 to 10.0; 10.5 is outside"},
        {"gauge.flow", "[-1, 0, 1]", "[-1.0 0.0 1.0]"},
        {"gauge.flow", "[2, 0, 0]", "\"gauge.flow\" is from -1.0 to 1.0; 2.0 is outside"},
        {"gauge.flow", "[0, 0, 2]", "\"gauge.flow\" is from -1.0 to 1.0; 2.0 is outside"},
        {"gauge.flow", "[0, 0]", "\"gauge.flow\" is a vec3, and the value is not one"},
        {"gauge.flow", "[0, 0, 0, 0]", "\"gauge.flow\" is a vec3, and the value is not one"},
        {"gauge.flow", "[]", "\"gauge.flow\" is a vec3, and the value is not one"},
        {"gauge.flow.y", "-2", "\"gauge.flow.y\" is from -1.0 to 1.0; -2.0 is outside"},
        {"gauge.code", "18446744073709551615", "18446744073709551615"},
        {"gauge.code", "9007199254740993", "9007199254740993"},
        {"gauge.debt", "-9223372036854775808", "-9223372036854775808"},
        {"gauge.debt", "9007199254740993", "9007199254740993"},
        {"gauge.count", "-2147483648", "-2147483648"},
        {"gauge.count", "2.0", "2"},
        {"gauge.count", "2.5", "\"gauge.count\" is an int32, and the value is not one"},
        {"gauge.count", "2147483648", "\"gauge.count\" is an int32, and the value is not one"},
        {"gauge.of", "null", "null"},
        {"gauge.of", "5", "\"gauge.of\" is an entity, and the value is not one"},
        {"gauge.level", "null", "\"gauge.level\" is a float, and the value is not one"},
    };
    for (const auto& [field, text, expected] : cases) EXPECT_EQ(value_of(field, text), expected) << field << text;
}

TEST(Inspector, what_does_not_fit_a_field_is_refused_and_changes_nothing) {
    Inspected inspected;
    const std::string who = inspected.json("/api/entities?query=plankton")["entities"][0]["entity"];
    const std::uint64_t hash = state_hash(inspected.sea.world);
    for (const char* body :
         {R"({"entity": "ID", "field": "plankton.cells", "value": 1.5})",
          R"({"entity": "ID", "field": "plankton.cells", "value": -1})",
          R"({"entity": "ID", "field": "plankton.kind", "value": "stone"})",
          R"({"entity": "ID", "field": "plankton.glows", "value": 1})",
          R"({"entity": "ID", "field": "plankton.cell", "value": 1})",
          R"({"entity": "ID", "field": "plankton.cells", "value": [1]})",
          R"({"entity": "999999:1", "field": "plankton.cells", "value": 1})",
          R"({"entity": "ID", "field": "plankton.cells"})", R"({"entity": 5, "field": "plankton.cells", "value": 1})",
          R"([])", R"({"entity": )", "\xff"}) {
        std::string text = body;
        if (const std::size_t at = text.find("ID"); at != std::string::npos) text.replace(at, 2, who);
        const Reply reply = inspected.post("/api/set", text);
        EXPECT_EQ(reply.status, 400) << text;
        EXPECT_FALSE(error_of(reply).empty());
    }
    EXPECT_EQ(state_hash(inspected.sea.world), hash);
}

// req: H1
TEST(Inspector, nothing_is_edited_where_that_is_not_allowed) {
    Inspected inspected({.allow_edits = false});
    const std::string who = inspected.json("/api/entities?query=fin")["entities"][0]["entity"];
    EXPECT_EQ(inspected.post("/api/set", json({{"entity", who}, {"field", "fin.drag"}, {"value", 2.5}}).dump()).status,
              403);
    for (const char* path : {"/api/undo", "/api/redo", "/api/enable", "/api/frames", "/api/rewind"})
        EXPECT_EQ(inspected.post(path, "{}").status, 403) << path;
    EXPECT_EQ(inspected.json("/api/world")["can_edit"], false);
}

// req: H1
TEST(Inspector, a_paused_world_goes_frame_by_frame_and_to_a_frame) {
    Inspected inspected;
    inspected.send("/api/control", {{"action", "pause"}});
    World& world = inspected.sea.world;
    const std::uint64_t begin = world.frame();
    // A program steps as it always does; the pause holds it until it is told to go on.
    std::atomic<bool> ends{false};
    inspected.is_done = false;
    const std::uint16_t port = inspected.port();
    const auto send = [port](const json& body) {
        Connection connection(port);
        connection.send(request_text("POST", "/api/control", port, body.dump()));
        return json::parse(connection.read_reply().body);
    };
    std::vector<std::uint64_t> frames;
    std::thread person([&] {
        const auto rest = [&] {
            json shown;
            do shown = send({{"action", "speed"}, {"speed", 1}});
            while (!shown["paused"].get<bool>());
            frames.push_back(shown["frame"]);
        };
        rest();
        send({{"action", "step"}});
        rest();
        send({{"action", "step"}, {"frames", 5}});
        rest();
        send({{"action", "run_to"}, {"frame", begin + 20}});
        rest();
        ends = true;
        send({{"action", "resume"}});
    });
    while (!ends) inspected.server.answer(), world.step(0.1f);
    person.join();
    EXPECT_EQ(frames, (std::vector<std::uint64_t>{begin, begin + 1, begin + 6, begin + 20}));
}

TEST(Inspector, a_world_that_has_run_to_a_frame_waits_there_once) {
    Inspected inspected;
    World& world = inspected.sea.world;
    inspected.send("/api/control", {{"action", "run_to"}, {"frame", world.frame() + 2}});
    for (const bool is_there : {false, true}) {
        inspected.sea.run(1);
        const json shown = inspected.json("/api/world");
        EXPECT_EQ(shown["paused"], is_there);
        EXPECT_EQ(shown["run_to"].is_null(), is_there);
    }
    inspected.send("/api/control", {{"action", "resume"}});
    inspected.sea.run(3);
    EXPECT_EQ(inspected.json("/api/world")["paused"], false);
}

// req: H1
TEST(Inspector, frames_are_gone_back_and_forth_to_and_compared_field_by_field) {
    Inspected inspected({.keep_frames = 16});
    World& world = inspected.sea.world;
    std::map<std::uint64_t, std::uint64_t> hashes;
    for (int i = 0; i < 10; ++i) inspected.sea.run(1), hashes[world.frame()] = state_hash(world);
    const std::uint64_t last = world.frame();
    EXPECT_EQ(inspected.json("/api/frames")["last"], last);
    for (const std::uint64_t frame : {last - 7, last - 2, last - 9, last}) {
        inspected.send("/api/rewind", {{"frame", frame}});
        EXPECT_EQ(world.frame(), frame);
        EXPECT_EQ(state_hash(world), hashes[frame]);
    }
    inspected.send("/api/rewind", {{"frame", last - 3}});
    const json differences =
        inspected.json("/api/compare?from=" + std::to_string(last - 3) + "&to=" + std::to_string(last));
    EXPECT_EQ(state_hash(world), hashes[last - 3]) << "the world is where it was";
    EXPECT_GT(differences["total"].get<int>(), 0);
    for (const json& one : differences["differences"])
        if (one["kind"] == "value") {
            Entity entity;
            ASSERT_TRUE(read_entity(one["entity"].get<std::string>(), entity));
            EXPECT_NE(one["from"], one["to"]);
        }
    const json same = inspected.json("/api/compare?from=" + std::to_string(last) + "&to=" + std::to_string(last));
    EXPECT_EQ(same["total"], 0) << same.dump().substr(0, 1500);
    EXPECT_EQ(inspected.post("/api/rewind", R"({"frame": 999999})").status, 400);
}

TEST(Inspector, frames_are_not_compared_while_edits_are_in_none_of_them) {
    Inspected inspected({.keep_frames = 4});
    inspected.sea.run(2);
    inspected.send("/api/control", {{"action", "pause"}});
    const std::string now = std::to_string(inspected.sea.world.frame());
    const std::string who = inspected.json("/api/entities?query=fin")["entities"][0]["entity"];
    Entity entity;
    ASSERT_TRUE(read_entity(who, entity));
    inspected.send("/api/set", {{"entity", who}, {"field", "fin.drag"}, {"value", 2.5}});
    EXPECT_EQ(inspected.get("/api/compare?from=" + now + "&to=" + now).status, 400);
    EXPECT_EQ(*inspected.sea.world.get<float>(entity, "fin.drag"), 2.5f) << "the edit stays";
    inspected.sea.run(1);
    EXPECT_EQ(inspected.get("/api/compare?from=" + now + "&to=" + now).status, 200);
}

TEST(Inspector, a_frame_is_waited_for_and_a_pause_is_not_caught_up_with) {
    Inspected inspected;
    const auto elapsed_ms = [&](int num_frames) {
        const std::int64_t begin = monotonic_ns();
        for (int i = 0; i < num_frames; ++i) EXPECT_TRUE(inspected.server.wait_for_frame(0.004));
        return static_cast<double>(monotonic_ns() - begin) * 1e-6;
    };
    inspected.is_done = false;
    elapsed_ms(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // as a pause takes it
    EXPECT_GE(elapsed_ms(6), 5 * 4.0) << "frames that were missed are not made up for";
    EXPECT_FALSE(inspected.server.wait_for_frame(3600, 0.001));
    inspected.send("/api/control", {{"action", "speed"}, {"speed", 0.25}});
    inspected.is_done = false;
    EXPECT_GE(elapsed_ms(3), 2 * 16.0) << "at a fourth of the speed";
}

TEST(Inspector, spawns_of_one_blob_share_where_its_entities_come_from_and_the_dead_are_forgotten) {
    shoal_test::Sea sea;
    inspect::Session session(sea.world, {});
    BlobWriter writer;
    writer.add_entity({.guid = 5, .source_file = "level.sjson", .source_line = 2});
    const Blob blob = *Blob::load(*writer.write());
    for (int i = 0; i < 1000; ++i) {
        Spawned spawned = *sea.world.spawn(blob);
        session.note_spawn(blob, spawned);
        if (i % 100 != 0) spawned.destroy(sea.entities);
    }
    EXPECT_LE(session.spawns.size(), 64u);
    for (const inspect::SpawnRecord& spawn : session.spawns) EXPECT_EQ(spawn.source, session.spawns.front().source);
    BlobWriter other;
    other.add_entity({.guid = 6, .source_line = 9});
    const Blob second = *Blob::load(*other.write());
    const std::size_t num_before = session.spawns.size();
    session.note_spawn(second, *sea.world.spawn(second, {.copies = 0}));
    EXPECT_EQ(session.spawns.size(), num_before) << "of nothing";
    session.note_spawn(second, *sea.world.spawn(second));
    const inspect::SpawnSource& source = *session.spawns.back().source;
    EXPECT_EQ(source.guids, std::vector<std::uint64_t>{6}) << "another blob of as many entities";
    EXPECT_EQ(source.lines, std::vector<std::uint32_t>{0}) << "there is no line without a file";
}

// req: H1
TEST(Inspector, the_journal_has_what_came_and_went_with_the_passes_that_asked_for_it) {
    Inspected inspected;
    inspected.json("/api/journal");  // from now on
    World& world = inspected.sea.world;
    const std::uint64_t begin = world.frame();
    SettleCounts sum;
    for (int i = 0; i < 8; ++i) inspected.sea.run(1), sum += world.settle_statistics().last;
    const json journal = inspected.json("/api/journal?frames=8");
    EXPECT_TRUE(journal["complete"].get<bool>());
    std::uint64_t created = 0, asked = 0;
    for (const json& frame : journal["frames"]) {
        created += frame["created"].get<std::uint64_t>();
        for (const json& pass : frame["passes"]) asked += pass["count"].get<std::uint64_t>();
    }
    EXPECT_EQ(created, sum.num_created);
    EXPECT_GE(asked, sum.num_created);
    EXPECT_FALSE(journal["entries"].empty());
    for (const json& entry : journal["entries"]) EXPECT_GT(entry["frame"].get<std::uint64_t>(), begin);
}

TEST(Inspector, the_journal_counts_for_each_pass_and_forgets_frames_that_were_gone_back_to) {
    Inspected inspected({.keep_frames = 16});
    World& world = inspected.sea.world;
    world.events<std::uint64_t>();  // of which there are none
    for (const std::uint32_t count : {1u, 3u})
        world.schedule().add(count == 1 ? "one" : "three", world.query<Singleton<Read<&shoal_test::Current::turns>>>(),
                             [count](Commands& commands, std::uint64_t) {
                                 for (std::uint32_t i = 0; i < count; ++i) commands.create(shoal_test::Spot{});
                             });
    inspected.json("/api/journal");  // from now on
    inspected.sea.run(4);
    inspected.send("/api/rewind", {{"frame", world.frame() - 2}});
    inspected.sea.run(1);
    const json frames = inspected.json("/api/journal?frames=3")["frames"];
    ASSERT_EQ(frames.size(), 3u);
    std::uint64_t number = world.frame() - 3;
    for (const json& frame : frames) {
        EXPECT_EQ(frame["frame"], ++number);
        std::map<std::string, std::uint64_t> created;
        for (const json& pass : frame["passes"])
            if (pass["kind"] == "created") created[pass["pass"]] += pass["count"].get<std::uint64_t>();
        EXPECT_EQ(created["one"], 1u) << frame;
        EXPECT_EQ(created["three"], 3u) << frame;
        for (const json& channel : frame["events"]) EXPECT_NE(channel["count"], 0) << channel;
    }
}

TEST(Inspector, zones_share_the_time_of_passes_by_the_rows_that_these_find_there) {
    Inspected inspected;
    const json zones = inspected.json("/api/zones")["zones"];
    ASSERT_GT(zones.size(), 1u);
    double sum = 0;
    for (const json& zone : zones) {
        EXPECT_GE(zone["ms"].get<double>(), 0);
        if (zone["entities"] == 0) {
            EXPECT_EQ(zone["ms"], 0);
        }
        sum += zone["ms"].get<double>();
    }
    double most = 0;
    const json passes = inspected.json("/api/passes");
    for (const json& pass : passes["passes"]) most += pass["last_ms"].get<double>();
    EXPECT_GT(sum, 0);
    EXPECT_LE(sum, most * 1.001);
    for (const json& pass : passes["passes"])
        inspected.send("/api/enable", {{"pass", pass["name"]}, {"enabled", false}});
    const json still = inspected.json("/api/zones")["zones"];
    ASSERT_EQ(still.size(), zones.size());
    for (const json& zone : still)
        EXPECT_EQ(zone["ms"], 0) << "passes that are disabled take no time, whatever they took when they last ran";
}

TEST(Inspector, points_are_where_the_entities_are) {
    Inspected inspected;
    const Reply reply = inspected.get("/api/points?query=fin");
    ASSERT_EQ(reply.status, 200);
    std::uint32_t header_bytes = 0;
    std::memcpy(&header_bytes, reply.body.data(), sizeof header_bytes);
    const json header = json::parse(reply.body.substr(4, header_bytes));
    const std::size_t count = header["count"];
    ASSERT_EQ(reply.body.size(), 4 + header_bytes + count * 21);
    ASSERT_GT(count, 0u);
    const auto number = [&](std::size_t lane, std::size_t i) {
        std::uint32_t value = 0;
        std::memcpy(&value, reply.body.data() + 4 + header_bytes + (lane * count + i) * 4, sizeof value);
        return value;
    };
    const World& world = inspected.sea.world;
    for (std::size_t i = 0; i < count; ++i) {
        Entity entity;
        ASSERT_TRUE(read_entity(std::to_string(number(2, i)) + ':' + std::to_string(number(3, i)), entity));
        EXPECT_TRUE(world.entities().alive(entity));
        const bool is_selected = reply.body[4 + header_bytes + count * 20 + i] != 0;
        EXPECT_EQ(is_selected, bool(world.get(entity, "fin.drag")) && world.entities().is_active(entity));
    }
    EXPECT_EQ(inspected.get("/api/points?color=fin.velocity").status, 400);
    EXPECT_EQ(inspected.get("/api/points?color=fin.drag").status, 200);
    EXPECT_EQ(inspected.get("/api/points?color=zone").status, 200);
}

TEST(Inspector, an_entity_is_shown_with_what_all_stores_have_of_it) {  // req: A7
    Inspected inspected;
    const World& world = inspected.sea.world;
    std::size_t num_seen = 0;
    for (const Entity entity : living_entities(world)) {
        if (++num_seen > 20) break;
        const json shown = inspected.json("/api/entity?id=" + entity_text(entity));
        EXPECT_EQ(shown["entity"], entity_text(entity));
        EXPECT_TRUE(shown["alive"].get<bool>());
        EXPECT_TRUE(shown["source"].is_null()) << "it was made by the program";
        for (const Store* store : world.directory().stores())
            for (const Schema* schema : store->schemas()) {
                if (store == find_properties(world.directory())) continue;  // whose values stand beside the components
                EXPECT_EQ(shown["components"].contains(schema->name()), bool(store->find_row(schema->id(), entity, 0)))
                    << entity_text(entity) << ' ' << schema->name();
            }
    }
    EXPECT_FALSE(inspected.json("/api/entity?id=999999:1")["alive"].get<bool>());
    EXPECT_EQ(inspected.get("/api/entity?id=boat").status, 400);
}

TEST(Inspector, an_entity_that_was_spawned_is_shown_with_its_place_in_the_source_and_what_changed_it) {
    Inspected inspected;
    BlobWriter writer;
    writer.add_entity({.guid = 5, .source_file = "level.sjson", .source_line = 2});
    writer.add_entity({.guid = 6, .source_file = "level.sjson", .source_line = 3});
    const Blob blob = *Blob::load(*writer.write());
    const Spawned spawned = *inspected.sea.world.spawn(blob, {.copies = 2});
    for (const std::uint32_t copy : {0u, 1u}) {
        const json source = inspected.json("/api/entity?id=" + entity_text(spawned.entity(1, copy)))["source"];
        EXPECT_EQ(source["line"], blob.source_line(1));
        EXPECT_EQ(source["file"], blob.source_file(1));
        EXPECT_EQ(source["prefabs"], json::parse(R"([{"file": "nest.sjson", "line": 3}])"));
        EXPECT_EQ(source["changes"][0]["field"], "egg.weight");
    }
    EXPECT_EQ(inspected.asked_guids, (std::vector<std::uint64_t>{blob.guid(1), blob.guid(1)}));
}

TEST(Inspector, the_world_is_asked_in_sql_and_changed_where_that_is_allowed) {
    Inspected inspected;
    const json answer = inspected.send("/api/sql", {{"text", "SELECT entity, drag FROM fin ORDER BY entity LIMIT 3"}});
    ASSERT_EQ(answer["rows"].size(), 3u);
    EXPECT_EQ(answer["columns"], json({"entity", "drag"}));
    for (const json& row : answer["rows"]) {
        Entity entity;
        ASSERT_TRUE(read_entity(row[0].get<std::string>(), entity));
        EXPECT_FLOAT_EQ(row[1].get<float>(), *inspected.sea.world.get<float>(entity, "fin.drag"));
    }
    const std::string pairs = "SELECT a.entity FROM fin AS a, fin AS b LIMIT ";
    const auto has_more = [&](const std::string& text, std::size_t num_rows) {
        const json shown = inspected.send("/api/sql", {{"text", text}});
        EXPECT_EQ(shown["rows"].size(), num_rows) << text;
        return shown["more"].get<bool>();
    };
    EXPECT_FALSE(has_more(pairs + "1000", 1000));
    EXPECT_TRUE(has_more(pairs + "1001", 1000));
    EXPECT_FALSE(has_more(pairs + "1001; SELECT 1", 1)) << "what the last statement shows is all there is of it";
    EXPECT_EQ(inspected.send("/api/sql", {{"text", "SELECT 1; SELECT count(*) FROM entities"}})["rows"][0][0],
              inspected.sea.entities.num_alive());
    const json wrong = inspected.send("/api/sql", {{"text", "SELECT drag\nFROM finn"}});
    EXPECT_EQ(wrong["error"]["line"], 2);
    EXPECT_EQ(wrong["error"]["column"], 6);
    EXPECT_GT(inspected.send("/api/sql", {{"text", "UPDATE fin SET drag = 7"}})["updated"].get<int>(), 0);
    EXPECT_EQ(inspected.send("/api/sql", {{"text", "SELECT min(drag), max(drag) FROM fin"}})["rows"][0], json({7, 7}));
    for (const char* text :
         {"ATTACH '/tmp/x' AS x", "SELECT load_extension('x')", "PRAGMA writable_schema = 1", "DELETE FROM fin",
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"})
        EXPECT_EQ(inspected.post("/api/sql", json({{"text", text}}).dump()).status, 400) << text;
    Inspected guarded({.allow_edits = false});
    EXPECT_EQ(guarded.post("/api/sql", R"({"text": "UPDATE fin SET drag = 7"})").status, 400);
}

TEST(Inspector, a_program_serves_it_in_three_lines) {
    shoal_test::Sea sea;
    World& world = sea.world;
    const auto show = [](const std::string& url) { EXPECT_EQ(url.substr(0, 17), "http://127.0.0.1:"); };
    bool is_running = true;
    sea.world.schedule().add("end", [&](PassContext&) { is_running = false; });
    const auto run = [&]() -> Status {
        // [inspector/server]
        inspect::Server server(world, {.port = 0});
        if (!server.status()) return server.status();
        show(server.url());  // http://127.0.0.1:8080/
        while (is_running) world.step(1.0f / 60);
        // [inspector/server]
        return {};
    };
    EXPECT_TRUE(run().ok());
}

// --- what is refused --------------------------------------------------------------------------------------------------

TEST(Inspector, requests_of_other_pages_and_names_are_refused) {
    Inspected inspected;
    const std::string port = std::to_string(inspected.port());
    EXPECT_EQ(inspected.get("/api/world", "Host: evil.example:" + port + "\r\n").status, 403);
    EXPECT_EQ(inspected.get("/api/world", "Host: 127.0.0.1\r\n").status, 403);
    EXPECT_EQ(inspected.get("/api/world", "Host: localhost:" + port + "\r\n").status, 200);
    EXPECT_EQ(inspected.get("/api/world", "Origin: http://evil.example\r\n").status, 403);
    EXPECT_EQ(inspected.get("/api/world", "Origin: null\r\n").status, 403);
    EXPECT_EQ(inspected.get("/api/world", "Origin: http://127.0.0.1:" + port + "\r\n").status, 200);
    EXPECT_EQ(inspected.get("/api/world", "Sec-Fetch-Site: cross-site\r\n").status, 403);
    EXPECT_EQ(inspected.post("/api/control", R"({"action": "pause"})", "Content-Type: text/plain\r\n").status, 415);
    EXPECT_EQ(inspected.json("/api/world")["paused"], false);
}

TEST(Inspector, malformed_oversized_and_unknown_requests_are_refused) {
    Inspected inspected;
    EXPECT_EQ(inspected.post("/api/set", std::string(70'000, ' ')).status, 413);
    EXPECT_EQ(inspected.get("/api/nothing").status, 404);
    EXPECT_EQ(inspected.get("/../../etc/passwd").status, 404);
    EXPECT_EQ(inspected.get("/%2e%2e/%2e%2e/etc/passwd").status, 404);
    EXPECT_EQ(inspected.get("/api/set").status, 405);
    EXPECT_EQ(inspected.post("/api/world", "{}").status, 405);
    EXPECT_EQ(inspected.ask(request_text("DELETE", "/api/world", inspected.port())).status, 405);
    EXPECT_EQ(inspected.post("/api/control", R"({"action": "dance"})").status, 400);
    EXPECT_EQ(inspected.post("/api/control", R"({"action": "speed", "speed": 0})").status, 400);
    EXPECT_NE(inspected.ask("GARBAGE\r\n\r\n").status, 200);
    EXPECT_NE(inspected.ask("GET / HTTP/1.1\r\nHost: " + std::string(100'000, 'a') + "\r\n\r\n").status, 200);
    EXPECT_EQ(inspected.get("/api/world").status, 200) << "it goes on";
}

TEST(Inspector, a_token_is_asked_for_where_there_is_one_and_needed_for_other_addresses) {
    Inspected open({.address = "0.0.0.0"});
    EXPECT_FALSE(open.server.status());
    EXPECT_NE(open.server.status().message().find("token"), std::string_view::npos);
    EXPECT_FALSE(Inspected({.token = "short"}).server.status());
    EXPECT_FALSE(Inspected({.token = std::string(129, 'a')}).server.status());
    for (const char* address : {"[::1]", "127.0.0.1,0.0.0.0", "300.0.0.1", "1.2.3", "nowhere"})
        EXPECT_FALSE(Inspected({.address = address, .token = "secret77"}).server.status()) << address;
    Inspected inspected({.token = "secret77"});
    const auto ask = [&](const std::string& target, std::string headers) {
        const std::string& url = inspected.server.url();
        const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
        if (const std::size_t at = headers.find("PORT"); at != std::string::npos)
            headers.replace(at, 4, std::to_string(port));
        return inspected.ask(request_text("GET", target, port, {}, headers));
    };
    EXPECT_EQ(ask("/api/world", "").status, 401);
    EXPECT_EQ(ask("/api/world", "Authorization: Bearer secret78\r\n").status, 401);
    EXPECT_EQ(ask("/api/world", "Authorization: Bearer secret77\r\n").status, 200);
    EXPECT_EQ(ask("/api/world", "Cookie: shoal_token_PORT=secret77\r\n").status, 200);
    const Reply page = ask("/?token=secret77", "");
    EXPECT_EQ(page.status, 200);
    EXPECT_NE(page.headers.find("=secret77; Path=/; HttpOnly; SameSite=Strict"), std::string::npos);
}

TEST(Inspector, a_world_that_does_not_step_is_not_waited_for_longer_than_some_seconds) {
    Inspected inspected;
    Connection connection(inspected.port());
    connection.send(request_text("GET", "/api/world", inspected.port()));
    EXPECT_EQ(connection.read_reply().status, 503);
    EXPECT_EQ(inspected.get("/api/world").status, 200);
}

TEST(Inspector, hundreds_of_connections_that_say_nothing_do_not_hold_up_the_world) {
    Inspected inspected;
    std::vector<std::unique_ptr<Connection>> silent;
    for (int i = 0; i < 300; ++i) silent.push_back(std::make_unique<Connection>(inspected.port()));
    const std::uint64_t frame = inspected.sea.world.frame();
    inspected.sea.run(20);
    EXPECT_EQ(inspected.sea.world.frame(), frame + 20);
    silent.clear();
    EXPECT_EQ(inspected.get("/api/world").status, 200);
}

TEST(Inspector, a_stream_tells_again_and_again_what_is_watched) {
    Inspected inspected;
    const std::uint16_t port = inspected.port();
    std::vector<json> told;
    int num_told_later = 0;
    std::atomic<bool> is_done{false};
    std::thread client([&] {
        Connection connection(port);
        connection.send(request_text("GET", "/api/stream", port, {},
                                     "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
        if (connection.read_reply().status == 101) {
            json paths = {"/api/world", "/api/nothing"};
            while (paths.size() < 16) paths.push_back("/api/nothing");
            connection.send_frame(json{{"watch", paths}, {"rate", 10}}.dump());
            // A frame of a busy machine can take longer than a round of the stream, so some rounds are waited for.
            const auto is_later_told = [&] {
                return told.size() % 16 == 1 && told.back()["body"]["frame"] > told.front()["body"]["frame"];
            };
            while (told.size() < 18 || (!is_later_told() && told.size() < 16 * 100)) {
                const std::string text = connection.read_frame();
                if (text.empty()) break;
                told.push_back(json::parse(text));
            }
            paths.push_back("/api/nothing");
            connection.send_frame(json{{"watch", paths}, {"rate", 10}}.dump());
            while (num_told_later < 100 && !connection.read_frame().empty()) ++num_told_later;
        }
        is_done = true;
    });
    while (!is_done) inspected.sea.run(1), inspected.server.answer(0.001);
    client.join();
    ASSERT_GE(told.size(), 18u);
    EXPECT_LT(num_told_later, 100) << "17 paths are too many, which ends the stream";
    EXPECT_EQ(told[0]["path"], "/api/world");
    EXPECT_EQ(told[0]["status"], 200);
    EXPECT_EQ(told[1]["status"], 404);
    EXPECT_EQ(told[16]["path"], "/api/world") << "the paths are told in turn";
    EXPECT_GT(told.back()["body"]["frame"].get<std::uint64_t>(), told[0]["body"]["frame"].get<std::uint64_t>());
}

TEST(Inspector, server_and_world_may_end_in_either_order_while_somebody_asks) {
    for (const bool world_first : {false, true}) {
        auto sea = std::make_unique<shoal_test::Sea>();
        auto server = std::make_unique<inspect::Server>(sea->world);
        ASSERT_TRUE(server->status());
        const std::string url = server->url();
        const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
        std::thread client([port] {
            Connection connection(port);
            connection.send(request_text("GET", "/api/world", port));
            connection.read_reply();
        });
        sea->run(3);
        if (world_first) {
            sea.reset();
            server.reset();
        } else {
            server.reset();
            sea->run(3);
        }
        client.join();
    }
}

}  // namespace
