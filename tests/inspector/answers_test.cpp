// What single answers say of a world, and what calls leave in a session, without a connection.

#include "inspector/answers.h"

#include "inspector/frame_values.h"
#include "inspector/session.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/state_difference.h"
#include "support/json.h"
#include "support/whole_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace shoal;
using inspect::Request;
using inspect::Response;
using nlohmann::json;

/// A world whose inspector nobody has opened.
struct Asked {
    explicit Asked(const inspect::ServerOptions& options = {}) : session(sea.world, options) { sea.run(5); }

    using Answer = Response (*)(inspect::Session&, const Request&);
    Response get(Answer answer, const std::string& query = {}) {
        return answer(session, {.path = {}, .query = query, .body = {}});
    }
    json show(Answer answer, const std::string& query = {}) { return json::parse(get(answer, query).body); }
    Response post(Answer answer, const json& body) {
        return answer(session, {.is_post = true, .path = {}, .query = {}, .body = body.dump()});
    }
    void end_frame() {
        sea.run(1);
        session.note_frame();
    }

    shoal_test::Sea sea;
    inspect::Session session;
};

TEST(InspectorAnswers, numbers_in_an_address_are_taken_up_to_their_most_and_others_are_as_if_missing) {
    const auto number = [](const std::string& query) {
        return inspect::number_parameter({.path = {}, .query = query, .body = {}}, "limit", 100, 1000);
    };
    EXPECT_EQ(number("limit=7"), 7u);
    EXPECT_EQ(number("limit=0"), 0u);
    EXPECT_EQ(number("after=1:1&limit=1000"), 1000u);
    EXPECT_EQ(number("limit=1001"), 1000u);
    EXPECT_EQ(number("limit=18446744073709551615"), 1000u);
    for (const char* other :
         {"", "limit=", "limit=-1", "limit=1.5", "limit=7x", "limit=18446744073709551616", "limits=7"})
        EXPECT_EQ(number(other), 100u) << other;
}

struct Instrument {
    float level = 2;
    Vec3 flow{};
    std::array<std::uint16_t, 3> marks{};
    std::shared_ptr<int> owner;
    BlobArray<float> curve{};
    shoal_test::Kind kind{};
};
SHOAL_COMPONENT((Instrument, name("instrument"), enableable), (level, range(-1, 5), unit("m")), flow, marks, owner,
                curve, kind)

TEST(InspectorAnswers, component_types_are_shown_as_their_schemas_are_and_what_is_computed_is_not_edited) {
    Asked asked;
    const World& world = asked.sea.world;
    asked.sea.world.manager<Instrument>();
    const json types = asked.show(inspect::show_components)["components"];
    std::map<std::string, std::pair<const Schema*, bool>> expected;  // whether it is only shown
    for (const Store* store : world.directory().stores()) {
        for (const Schema* schema : store->schemas()) expected[std::string(schema->name())] = {schema, false};
        for (const Schema* schema : store->shown_schemas()) expected[std::string(schema->name())] = {schema, true};
    }
    ASSERT_EQ(types.size(), expected.size());
    std::size_t num_shown_only = 0;
    for (const json& type : types) {
        const auto found = expected.find(type["name"].get<std::string>());
        ASSERT_NE(found, expected.end()) << type;
        const auto& [schema, is_shown_only] = found->second;
        num_shown_only += is_shown_only;
        EXPECT_EQ(type["store"], world.directory().find_kept(schema->id()).store->kind()) << type;
        EXPECT_EQ(type["singleton"], schema->singleton()) << type;
        EXPECT_EQ(type["many"], schema->many()) << type;
        EXPECT_EQ(type["enableable"], schema->enableable()) << type;
        ASSERT_EQ(type["fields"].size(), schema->fields().size()) << type;
        for (std::size_t i = 0; i < schema->fields().size(); ++i) {
            const Field& field = schema->fields()[i];
            const json& shown = type["fields"][i];
            EXPECT_EQ(shown["name"], field.name);
            const bool is_fixed = field.type == FieldType::kOpaque || field.type == FieldType::kBlobArray;
            EXPECT_EQ(shown["editable"], !is_shown_only && !is_fixed) << type["name"] << ' ' << shown;
            EXPECT_EQ(shown["min"].is_null(), !field.has_range);
            EXPECT_EQ(shown["words"].size(), field.enumerators.size());
        }
    }
    EXPECT_EQ(num_shown_only, 2u) << "world poses and links";
    const auto same = std::ranges::find_if(types, [](const json& type) { return type["name"] == "instrument"; });
    const json& fields = (*same)["fields"];
    EXPECT_EQ(fields[0], json::parse(R"({"name": "level", "type": "float", "unit": "m", "editable": true, "min": -1.0,
                                         "max": 5.0, "words": []})"));
    EXPECT_EQ(fields[2]["type"], "uint16[3]");
    EXPECT_EQ(fields[5]["words"], json({"kPlant", "kAnimal"}));
}

// req: H1
TEST(InspectorAnswers, edits_are_in_no_frame_until_the_next_one_ends_however_they_were_made) {
    Asked asked({.keep_frames = 4});
    asked.session.control.is_paused = true;
    asked.end_frame();
    const std::string who = entity_text(inspect::select(asked.session, "fin").entities[0]);
    const json set = {{"entity", who}, {"field", "fin.drag"}, {"value", 2.5}};
    const auto ask = [](const char* text) { return json{{"text", text}}; };
    const struct {
        Asked::Answer answer;
        json body;
        bool edits;
    } calls[] = {{inspect::set_field, set, true},
                 {inspect::undo, json::object(), true},
                 {inspect::redo, json::object(), true},
                 {inspect::ask_sql, ask("UPDATE fin SET drag = 3"), true},
                 {inspect::ask_sql, ask("UPDATE fin SET drag = 3 WHERE drag = -77"), false},
                 {inspect::ask_sql, ask("SELECT drag FROM fin"), false},
                 {inspect::ask_sql, ask("UPDATE fin SET drug = 3"), false},
                 {inspect::control, {{"action", "pause"}}, false}};
    for (const auto& [answer, body, edits] : calls) {
        asked.post(answer, body);
        EXPECT_EQ(asked.session.has_unkept_edits, edits) << body;
        EXPECT_EQ(asked.get(inspect::compare_frames).status, edits ? 400 : 200) << body;
        asked.end_frame();
        EXPECT_FALSE(asked.session.has_unkept_edits);
        EXPECT_EQ(asked.get(inspect::compare_frames).status, 200) << body;
    }
}

// req: H1
TEST(InspectorAnswers, what_was_taken_back_is_not_made_again_after_another_edit) {
    Asked asked;
    World& world = asked.sea.world;
    const Entity entity = inspect::select(asked.session, "fin").entities[0];
    const auto set = [&](double drag) {
        return asked.post(inspect::set_field,
                          {{"entity", entity_text(entity)}, {"field", "fin.drag"}, {"value", drag}});
    };
    const auto counts = [&] { return std::pair(asked.session.undo.size(), asked.session.redo.size()); };
    set(1), set(2), set(3);
    asked.post(inspect::undo, json::object()), asked.post(inspect::undo, json::object());
    EXPECT_EQ(counts(), std::pair(std::size_t(1), std::size_t(2)));
    EXPECT_EQ(set(-INFINITY).status, 400);
    EXPECT_EQ(counts(), std::pair(std::size_t(1), std::size_t(2))) << "what is refused changes nothing";
    EXPECT_EQ(set(7).status, 200);
    EXPECT_EQ(counts(), std::pair(std::size_t(2), std::size_t(0)));
    EXPECT_EQ(asked.post(inspect::redo, json::object()).status, 400);
    EXPECT_EQ(*world.get<float>(entity, "fin.drag"), 7);
    asked.post(inspect::undo, json::object());
    EXPECT_EQ(*world.get<float>(entity, "fin.drag"), 1);
    for (int i = 0; i < 1100; ++i) set(i);
    EXPECT_EQ(counts(), std::pair(std::size_t(1000), std::size_t(0))) << "the oldest are forgotten";
    EXPECT_EQ(*asked.session.undo.back().after.as<float>(), 1099);
    EXPECT_EQ(*asked.session.undo.front().after.as<float>(), 100);
}

TEST(InspectorAnswers, a_pause_and_a_resume_end_what_was_asked_for_before) {
    Asked asked;
    const inspect::Control& control = asked.session.control;
    const auto act = [&](const char* action) { return asked.post(inspect::control, {{"action", action}}); };
    act("pause"), act("step"), act("step");
    EXPECT_EQ(control.num_steps, 2u);
    act("resume");
    EXPECT_EQ(control.num_steps, 0u);
    EXPECT_FALSE(control.is_paused);
    act("step");
    EXPECT_EQ(control.num_steps, 1u) << "not those of before";
    const std::uint64_t frame = asked.sea.world.frame();
    asked.post(inspect::control, {{"action", "run_to"}, {"frame", frame + 5}});
    EXPECT_EQ(control.run_to, frame + 5);
    EXPECT_EQ(control.num_steps, 0u);
    EXPECT_FALSE(control.is_paused);
    EXPECT_EQ(asked.post(inspect::control, {{"action", "run_to"}, {"frame", frame}}).status, 400);
    EXPECT_EQ(control.run_to, frame + 5);
    act("pause");
    EXPECT_FALSE(control.run_to);
    act("resume");
    EXPECT_FALSE(control.run_to);
    EXPECT_EQ(asked.show(inspect::show_world)["run_to"], nullptr);
}

TEST(InspectorAnswers, numbers_without_an_end_are_texts_in_json_and_names_are_escaped_in_metrics) {
    Asked asked;
    const json answer = json::parse(asked.post(inspect::ask_sql, {{"text", "SELECT 9e999, -9e999, 1.5, NULL"}}).body);
    EXPECT_EQ(answer["rows"], json::parse(R"([["inf", "-inf", 1.5, null]])"));
    asked.sea.world.schedule().add("a\\b \"c\"\nd", [](const PassContext&) {});
    asked.sea.run(1);
    EXPECT_NE(asked.get(inspect::show_metrics).body.find(R"(shoal_pass_runs_total{pass="a\\b \"c\"\nd"} 1)"),
              std::string::npos);
}

TEST(InspectorAnswers, the_time_of_passes_is_that_of_passes_that_run) {
    Asked asked;
    const auto passes_ms = [&] { return asked.show(inspect::show_world)["passes_ms"].get<double>(); };
    EXPECT_GT(passes_ms(), 0);
    for (std::size_t i = 0; i < asked.sea.world.schedule().num_passes(); ++i)
        ASSERT_TRUE(asked.sea.world.schedule().enable(asked.sea.world.schedule().statistics(i).name, false).ok());
    EXPECT_EQ(passes_ms(), 0);
}

TEST(InspectorAnswers, the_source_of_a_spawn_is_known_while_one_of_its_entities_lives) {
    Asked asked;
    BlobWriter writer;
    for (const std::uint64_t guid : {5u, 6u})
        writer.add_entity({.guid = guid, .source_file = "level.sjson", .source_line = 2});
    const Blob blob = *Blob::load(*writer.write());
    std::vector<Entity> kept;
    for (int i = 0; i < 100; ++i) {
        const Spawned spawned = *asked.sea.world.spawn(blob);
        asked.session.note_spawn(blob, spawned);
        asked.sea.entities.destroy(spawned.entity(i % 2 == 0 ? 0 : 1));
        kept.push_back(spawned.entity(i % 2 == 0 ? 1 : 0));
    }
    EXPECT_EQ(asked.session.spawns.size(), 100u);
    for (const Entity entity : kept)
        EXPECT_EQ(asked.show(inspect::show_entity, "id=" + entity_text(entity))["source"]["file"], "level.sjson");
}

TEST(InspectorAnswers, a_component_that_was_disabled_is_lost_and_one_that_was_enabled_is_gained) {
    Asked asked;
    World& world = asked.sea.world;
    Database& database = asked.sea.sea;
    const shoal_test::Hungry hungry{1};
    const Entity both[] = {*database.create(0, hungry), *database.create(0, hungry)};
    ASSERT_TRUE(database.remove<shoal_test::Hungry>(both[1]).ok());
    const inspect::FrameValues before(world);
    ASSERT_TRUE(database.remove<shoal_test::Hungry>(both[0]).ok());
    ASSERT_TRUE(database.add(both[1], hungry).ok());
    std::set<std::string> differences;
    before.compare(world, [&](const inspect::ValueDifference& one) {
        differences.insert(concat(entity_text(one.entity), ' ', one.schema->name(), ' ', one.kind));
    });
    EXPECT_EQ(differences, (std::set<std::string>{concat(entity_text(both[0]), " hungry lost"),
                                                  concat(entity_text(both[1]), " hungry gained")}));
}

TEST(InspectorAnswers, the_legend_of_a_number_goes_from_its_lowest_to_its_highest_value) {
    Asked asked;
    const std::vector<Entity> fins = inspect::select(asked.session, "fin").entities;
    ASSERT_GT(fins.size(), 3u);
    const float values[] = {-3, 8.5f, 2};
    float last = 0;
    for (std::size_t i = 0; i < fins.size(); ++i) {
        last = i == 1 ? NAN : values[i % 3];
        ASSERT_TRUE(asked.sea.world.set(fins[i], "fin.drag", last).ok());
    }
    const std::string bytes = asked.get(inspect::show_points, "color=fin.drag").body;
    std::uint32_t header_bytes = 0;
    std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
    const json header = json::parse(bytes.substr(4, header_bytes));
    std::set<float> shown;
    for (std::size_t i = 0; i < header["count"].get<std::size_t>(); ++i) {
        float color = 0;
        std::memcpy(&color, bytes.data() + 4 + header_bytes + (4 * header["count"].get<std::size_t>() + i) * 4, 4);
        if (std::isfinite(color)) shown.insert(color);
    }
    ASSERT_GT(shown.size(), 1u);
    EXPECT_EQ(header["legend"]["min"], *shown.begin());
    EXPECT_EQ(header["legend"]["max"], *shown.rbegin());
}

}  // namespace
