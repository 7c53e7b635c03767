// What SQL shows of a world, and what it refuses.

#include "shoal/base/text.h"
#include "shoal/components/ownership.h"
#include "shoal/components/properties.h"
#include "shoal/inspect/report.h"
#include "shoal/transform/transform.h"
#include "sql_world.h"

namespace shoal {
namespace {

/// Two bodies, which are fish in different zones.
struct Sea : SqlWorld {
    Sea() {
        nemo = make_body({.mass = 2, .position = {1, 2, 3}});
        dory = make_body({.mass = 0.1f});
        make_fish(nemo,
                  {.mood = Mood::kAngry,
                   .hungry = true,
                   .age = -3,
                   .code = ~0ull,
                   .friend_of = dory,
                   .label = FixedString<16>("nemo"),
                   .weights = {7, 8, 9}},
                  3);
        make_fish(dory, {}, 5);
    }
    Entity nemo, dory;
};

TEST(Sql, each_type_of_field_is_shown_as_people_write_it) {
    Sea sea;
    EXPECT_EQ(sea.rows("SELECT * FROM body"), "1:1 2 1 2 3 0 0 0|2:1 0.1 0 0 0 0 0 0");
    EXPECT_EQ(sea.rows("SELECT * FROM fish"), "1:1 angry 1 -3 18446744073709551616 2:1 nemo|2:1 calm 0 0 0 NULL ");
    const Result<sql::Answer> answer =
        sea.connection.ask("SELECT entity, mass, friend_of, mood, mass + 1 FROM body JOIN fish USING (entity)");
    ASSERT_TRUE(answer) << answer.message();
    const char* const types[] = {"entity", "float", "entity", "text", ""};
    for (std::size_t i = 0; i < std::size(types); ++i) EXPECT_EQ(answer->columns()[i].type, types[i]);
    EXPECT_EQ(answer->at(0, 2).entity(), sea.dory);
    EXPECT_EQ(answer->at(0, 1).kind, sql::Kind::kReal);
    EXPECT_EQ(answer->at(0, 4).number(), 3);
}

TEST(Sql, a_program_asks_once) {
    Sea sea;
    World& world = sea.world;
    testing::internal::CaptureStdout();
    const auto print = [&]() -> Status {
        // [sql/sql]
        Result<sql::Answer> heavy = sql::ask(world, "SELECT entity, mass FROM body JOIN fish USING (entity)");
        if (!heavy) return heavy.status();  // 1:26: there is no table "bdy"; did you mean "body"?
        for (std::size_t row = 0; row < heavy->num_rows(); ++row)
            std::puts(heavy->at(row, 0).to_text().c_str());  // 12:3
        // [sql/sql]
        return {};
    };
    EXPECT_TRUE(print());
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "1:1\n2:1\n");
    EXPECT_EQ(sea.rows("SELECT entity, mass FROM bdy"), "1:26: there is no table \"bdy\"; did you mean \"body\"?");
}

TEST(Sql, a_vector_is_read_by_its_parts_and_as_a_text_that_star_leaves_out) {
    Sea sea;
    EXPECT_EQ(sea.rows("SELECT position_z, position, velocity FROM body LIMIT 1"), "3 [1.0 2.0 3.0] [0.0 0.0 0.0]");
}

TEST(Sql, an_array_is_a_table_of_its_own) {
    Sea sea;
    EXPECT_EQ(sea.rows("SELECT * FROM fish_weights WHERE value > 0"), "1:1 0 7|1:1 1 8|1:1 2 9");
    EXPECT_EQ(sea.rows("SELECT sum(value) FROM fish_weights WHERE entity = entity('1:1')"), "24");
    EXPECT_EQ(sea.rows("SELECT weights FROM fish LIMIT 1"), "[7 8 9]");
}

TEST(Sql, a_component_that_an_entity_has_several_times_is_as_many_rows) {
    Sea sea;
    for (const std::int32_t depth : {1, 2, 3}) EXPECT_TRUE(sea.world.manager<Wound>().add(sea.nemo, {.depth = depth}));
    const std::string all = sea.rows("SELECT position_in_list, depth FROM wound ORDER BY 1");
    EXPECT_EQ(sea.rows("SELECT position_in_list, depth FROM wound WHERE entity = entity('1:1') ORDER BY 1"), all);
    std::string expected;
    for (std::uint32_t i = 0; i < 3; ++i) {
        const auto path = FieldPath::find_in(sea.world.directory(), "wound[" + std::to_string(i) + "].depth");
        expected += (i == 0 ? "" : "|") + std::to_string(i) + " " + std::to_string(*path->read<std::int32_t>(sea.nemo));
    }
    EXPECT_EQ(all, expected);
    EXPECT_EQ(sea.rows("SELECT count(*) FROM wound WHERE depth = 1 OR position_in_list = 0 OR entity = 7"), "2");
    EXPECT_EQ(sea.rows("SELECT count(DISTINCT rowid) FROM wound"), "3") << "each row has a number of its own";
    EXPECT_EQ(sea.rows("SELECT count(*) FROM wound WHERE entity = entity('1:1') + 0.5"), "0") << "that is no entity";
}

TEST(Sql, a_table_begins_anew_for_each_row_that_it_is_joined_to) {
    Sea sea;
    for (const Entity entity : {sea.nemo, sea.dory})
        for (const std::int32_t depth : {1, 2, 3})
            EXPECT_TRUE(sea.world.manager<Wound>().add(entity, {.depth = depth + 10 * (entity == sea.dory)}));
    ASSERT_TRUE(sea.world.properties().set(sea.dory, "speed", 2.5f).ok());
    EXPECT_EQ(sea.rows("SELECT entity, position_in_list FROM fish CROSS JOIN wound USING (entity)"),
              "1:1 0|1:1 1|1:1 2|2:1 0|2:1 1|2:1 2");
    EXPECT_EQ(sea.rows("SELECT a.position_in_list, b.position_in_list FROM wound AS a CROSS JOIN wound AS b USING "
                       "(entity) WHERE a.depth = b.depth ORDER BY a.depth"),
              "2 2|1 1|0 0|2 2|1 1|0 0")
        << "the last one is added at the front";
    EXPECT_EQ(sea.rows("SELECT entity, position_in_list, value FROM fish CROSS JOIN fish_weights USING (entity)"),
              "1:1 0 7|1:1 1 8|1:1 2 9|2:1 0 0|2:1 1 0|2:1 2 0");
    const char* const inner[][2] = {{"body", "1:1|2:1"}, {"entities", "1:1|2:1"}, {"property_values", "2:1"}};
    for (const auto& [table, expected] : inner) {
        std::string all = expected;
        EXPECT_EQ(sea.rows(concat("SELECT other.entity FROM fish CROSS JOIN ", table, " AS other")),
                  all + "|" + expected)
            << table;
    }
    EXPECT_EQ(sea.rows("SELECT fish.entity, zones.zone FROM fish CROSS JOIN zones"), "1:1 3|1:1 5|2:1 3|2:1 5");
}

TEST(Sql, an_id_of_before_is_not_the_entity_that_has_its_index_now) {
    Sea sea;
    ASSERT_TRUE(sea.world.properties().set(sea.nemo, "speed", 2.5f).ok());
    sea.entities.destroy(sea.nemo);
    for (int settles = 0; settles < 2; ++settles) {
        const Entity next = sea.make_body({.mass = 4});
        ASSERT_EQ(next, make_entity(1, static_cast<Generation>(2 + settles)));
        for (const char* table : {"entities", "body", "fish", "property_values"})
            EXPECT_EQ(sea.rows(concat("SELECT entity FROM ", table, " WHERE entity = entity('1:1')")), "") << table;
        const std::string id = concat("1:", 2 + settles);
        EXPECT_EQ(sea.rows(concat("SELECT entity, mass FROM body WHERE entity = entity('", id, "')")), id + " 4");
        EXPECT_EQ(sea.rows(concat("SELECT entity FROM entities WHERE entity = entity('", id, "')")), id);
        EXPECT_EQ(sea.rows("SELECT entity FROM fish"), "2:1");
        sea.entities.destroy(next);
        sea.world.settle();
    }
}

TEST(Sql, the_dead_and_disabled_components_are_no_rows) {
    Sea sea;
    EXPECT_TRUE(sea.world.database().add(sea.nemo, Asleep{1.5}));
    EXPECT_TRUE(sea.world.database().add(sea.dory, Disabled{Asleep{2}}));
    EXPECT_EQ(sea.rows("SELECT * FROM asleep"), "1:1 1.5");
    EXPECT_EQ(sea.rows("SELECT * FROM asleep WHERE entity = entity('2:1')"), "");
    sea.entities.destroy(sea.nemo);
    EXPECT_EQ(sea.rows("SELECT entity FROM body"), "2:1");
    EXPECT_EQ(sea.rows("SELECT entity FROM body WHERE entity = entity('1:1')"), "");
    EXPECT_EQ(sea.rows("SELECT entity FROM fish"), "2:1");
    EXPECT_EQ(sea.rows("SELECT entity FROM entities"), "2:1");
}

TEST(Sql, a_singleton_is_one_row) {
    Sea sea;
    sea.world.singleton<Wind>().force = {3, 4};
    EXPECT_EQ(sea.rows("SELECT force_x, force_y FROM wind"), "3 4");
}

TEST(Sql, entities_says_what_each_one_is) {
    Sea sea;
    DebugNameManager names(sea.world.manager<DebugName>(), sea.world.strings());
    TagManager tags(sea.world.manager<Tag>(), sea.world.strings());
    EXPECT_TRUE(names.set_name(sea.nemo, "nemo"));
    EXPECT_TRUE(tags.add_tag(sea.nemo, "orange"));
    EXPECT_TRUE(tags.add_tag(sea.dory, "orange"));
    EXPECT_TRUE(tags.add_tag(sea.dory, "blue"));
    EXPECT_TRUE(sea.world.ownership().own(sea.nemo, sea.dory));
    const Entity both[] = {sea.nemo, sea.dory};
    TransformManager& transforms = sea.world.transforms();
    EXPECT_TRUE(transforms.add(both));
    EXPECT_TRUE(transforms.link(transforms.instance(sea.dory), transforms.instance(sea.nemo)));
    EXPECT_EQ(sea.rows("SELECT entity, name, tags, zone, owner, parent FROM entities"),
              "1:1 nemo orange 3 NULL NULL|2:1 NULL blue, orange 5 1:1 1:1");
    EXPECT_EQ(sea.rows("SELECT components FROM entities WHERE entity = entity('1:1')"),
              "body, fish, debug_name, tag, transform");
    EXPECT_EQ(sea.rows("SELECT * FROM tags ORDER BY tag"), "blue 1|orange 2");
    EXPECT_EQ(sea.rows("SELECT * FROM links WHERE component = 'fish'"), "1:1 fish friend_of 2:1");
    EXPECT_EQ(sea.rows("SELECT * FROM links WHERE component = 'owned'"), "2:1 owned owner 1:1");
}

TEST(Sql, properties_are_rows_with_the_values_that_entities_have) {
    Sea sea;
    PropertyManager& properties = sea.world.properties();
    EXPECT_EQ(sea.rows("SELECT count(*) FROM property_values"), "0");
    ASSERT_TRUE(properties.set(sea.nemo, "armor.front", 35).ok());
    ASSERT_TRUE(properties.set(sea.nemo, "speed", 2.5f).ok());
    ASSERT_TRUE(properties.set(sea.nemo, "paint", "red").ok());
    ASSERT_TRUE(properties.set(sea.dory, "armed", true).ok());
    ASSERT_TRUE(properties.set(sea.dory, "place", Vec2{1, 2}).ok());
    EXPECT_EQ(sea.rows("SELECT * FROM property_values"),
              "1:1 armor.front 35 1|1:1 paint red 1|1:1 speed 2.5 1|2:1 armed 1 1|2:1 place [1.0 2.0] 1");
    EXPECT_EQ(sea.rows("SELECT value + 1 FROM property_values WHERE path = 'armor.front'"), "36");
    EXPECT_EQ(sea.rows("SELECT zone FROM property_values JOIN entities USING (entity) WHERE value = 'red'"), "3");
    EXPECT_EQ(sea.rows("SELECT name, path FROM entities JOIN property_values USING (entity) WHERE value = 1"),
              "NULL armed");
    EXPECT_EQ(sea.rows("SELECT path FROM property_values WHERE entity = entity('2:1')"), "armed|place");
    EXPECT_EQ(sea.rows("SELECT path FROM property_values WHERE entity = entity('9:1')"), "");
    properties.reset(sea.nemo, "speed");
    EXPECT_EQ(sea.rows("SELECT path FROM property_values WHERE entity = entity('1:1')"), "armor.front|paint");
}

TEST(Sql, zones_passes_and_memory_are_those_of_the_reports) {
    Sea sea;
    sea.world.schedule().add("idle", [](const PassContext&) {});
    sea.world.step(1);
    EXPECT_EQ(sea.rows("SELECT zone, entities FROM zones"), "3 1|5 1");
    EXPECT_EQ(sea.rows("SELECT pass, runs FROM passes"), "idle 1");
    const WorldReport report = report_world(sea.world);
    std::string expected;
    for (const ComponentReport& component : report.components)
        expected += (expected.empty() ? "" : "|") + component.name + " " + std::to_string(component.num_rows) + " " +
                    std::to_string(component.rows.committed_bytes) + " " + std::to_string(component.wasted_bytes());
    EXPECT_EQ(sea.rows("SELECT component, rows, committed_bytes, wasted_bytes FROM memory"), expected);
    EXPECT_EQ(sea.rows("SELECT store FROM memory WHERE component = 'fish'"), "the database");
}

TEST(Sql, a_component_type_that_comes_later_is_seen_by_the_next_question) {
    Sea sea;
    EXPECT_EQ(sea.rows("SELECT * FROM tag"), "1:15: there is no table \"tag\"; did you mean \"tags\"?");
    EXPECT_EQ(sea.rows("SELECT count(*) FROM entities"), "2");
    sea.world.manager<Tag>();
    EXPECT_EQ(sea.rows("SELECT * FROM tag"), "");
    EXPECT_EQ(sea.rows("SELECT count(*) FROM entities"), "2") << "the tables about the world are called as before";
}

TEST(Sql, the_plan_shows_which_table_is_looked_up) {
    Sea sea;
    for (int i = 0; i < 50; ++i) sea.make_body({});
    // The smaller table drives, in whichever order they are named.
    const std::string plan = "SCAN fish VIRTUAL TABLE INDEX 0:all rows|";
    const std::string look_up = "SCAN body VIRTUAL TABLE INDEX 1:the rows of one entity (entity = ?)";
    for (const char* from : {"body JOIN fish USING (entity)", "fish JOIN body USING (entity)"}) {
        const Result<sql::Answer> answer =
            sea.connection.ask(std::string("EXPLAIN QUERY PLAN SELECT mass FROM ") + from);
        ASSERT_TRUE(answer) << answer.message();
        std::string found;
        for (std::size_t row = 0; row < answer->num_rows(); ++row)
            found += (row == 0 ? "" : "|") + std::string(answer->at(row, 3).text);
        EXPECT_EQ(found, plan + look_up) << from;
    }
    EXPECT_NE(sea.rows("EXPLAIN QUERY PLAN SELECT * FROM fish WHERE zone = 3").find("zone = ?"), std::string::npos);
    EXPECT_NE(sea.rows("EXPLAIN QUERY PLAN SELECT * FROM fish WHERE zone BETWEEN 3 AND 4").find("? < zone < ?"),
              std::string::npos);
}

TEST(Sql, rows_can_be_streamed_and_stopped) {
    Sea sea;
    struct Sink final : sql::RowSink {
        void begin(const std::vector<sql::Column>& columns) override { text += "[" + columns[0].name + "]"; }
        bool take(const sql::Row& row) override { return text += row[0].to_text(), ++count < 3; }
        std::string text;
        int count = 0;
    } sink;
    ASSERT_TRUE(sea.connection.ask("SELECT entity FROM body; SELECT 5 AS five UNION ALL SELECT 6", sink));
    EXPECT_EQ(sink.text, "[entity]1:12:1[five]5");
}

// --- what is refused ---------------------------------------------------------------------------------------------

TEST(SqlErrors, say_where_they_are_and_what_was_meant) {
    Sea sea;
    const char* const cases[][2] = {
        {"SELECT *\nFROM bdy", "2:6: there is no table \"bdy\"; did you mean \"body\"?"},
        {"SELECT mas FROM body", "1:8: there is no column \"mas\"; did you mean \"mass\"?"},
        {"SELECT body.mas FROM body", "1:8: there is no column \"body.mas\"; did you mean \"mass\"?"},
        {"SELECT * FORM body", "1:10: SQL does not expect \"FORM\" here; did you mean \"FROM\"?"},
        {"SELECT lenght('a')", "1:8: there is no function \"lenght\"; did you mean \"length\"?"},
        {"SELECT 1; SELECT", "1:11: the statement is not complete"},
        {"SELECT mass FROM body JOIN fish USING (entity) WHERE zone = 3",
         "1:54: \"zone\" is a column of several tables; write the table before it, as in body.zone"},
        {"SELECT 1 FROM entities WHERE owner = '1:1'",
         "1:1: an entity is compared with a text; an entity is a number in SQL, so write entity('12:3')"},
        {"SELECT 1 FROM body WHERE entity = '1:1'",
         "1:1: an entity is compared with a text; an entity is a number in SQL, so write entity('12:3')"},
        {"SELECT 1 FROM fish WHERE friend_of = '1:1'",
         "1:1: an entity is compared with a text; an entity is a number in SQL, so write entity('12:3')"},
        {"/* all */ SELECT 1 FROM body WHERE entity = '1:1'",
         "1:11: an entity is compared with a text; an entity is a number in SQL, so write entity('12:3')"},
        {"SELECT 1; -- and\n/**/ /* then */SELECT 1 FROM body WHERE entity = '1:1'",
         "2:16: an entity is compared with a text; an entity is a number in SQL, so write entity('12:3')"},
        {"SELECT entity('x')", "1:1: \"x\" is not an entity; write its index and generation, as in entity('12:3')"},
    };
    for (const auto& [text, expected] : cases) EXPECT_EQ(sea.rows(text), expected) << text;
    EXPECT_EQ(sea.rows(std::string_view("SELECT\0 1", 9)).substr(0, 4), "1:7:");
    EXPECT_EQ(sea.rows(std::string(2u << 20, ' ') + "SELECT 1"), "1:2097153: the text is too long, or a value is");
}

TEST(SqlErrors, what_reaches_beyond_the_world_is_refused) {
    Sea sea;
    const char* const cases[][2] = {
        {"INSERT INTO body (entity) VALUES (1)", "1:1: INSERT is not allowed"},
        {"DELETE FROM body", "1:1: DELETE is not allowed"},
        {"ATTACH ':memory:' AS other", "1:1: ATTACH and DETACH are not allowed"},
        {"DETACH main", "1:1: ATTACH and DETACH are not allowed"},
        {"PRAGMA journal_mode = wal", "1:1: this PRAGMA is not allowed"},
        {"PRAGMA temp_store_directory = '/tmp'", "1:1: this PRAGMA is not allowed"},
        {"SELECT * FROM pragma_database_list", "1:1: this PRAGMA is not allowed"},
        {"SELECT load_extension('x')", "1:8: the function \"load_extension\" is not allowed"},
        {"CREATE TABLE mine (a)", "1:1: only SELECT is allowed"},
        {"CREATE TEMP TABLE mine (a)", "1:1: only SELECT is allowed"},
        {"CREATE VIEW mine AS SELECT 1", "1:1: only SELECT is allowed"},
        {"CREATE VIRTUAL TABLE mine USING shoal_component(0)", "1:1: only SELECT is allowed"},
        {"DROP TABLE body", "1:1: only SELECT is allowed"},
        {"VACUUM INTO '/tmp/sql_test_file'", "1:1: ATTACH and DETACH are not allowed"},
        {"UPDATE sqlite_schema SET sql = ''", "1:1: \"sqlite_master\" is computed"},
        {"BEGIN", "1:1: transactions are not needed"},
        {"SAVEPOINT a", "1:1: transactions are not needed"},
        {"SELECT readfile('/etc/passwd')", "1:8: there is no function \"readfile\""},
        {"SELECT * FROM shoal_component", "1:15: "},
        {"UPDATE body SET mass = 1", "1:1: UPDATE is not allowed here"},
    };
    for (const bool updates : {false, true})
        for (const auto& [text, expected] : cases) {
            if (updates && std::string_view(text) == "UPDATE body SET mass = 1") continue;
            const std::string message = sea.rows(text, {.allow_updates = updates});
            EXPECT_EQ(message.substr(0, std::string_view(expected).size()), expected) << text;
        }
    EXPECT_EQ(sea.rows("SELECT mass FROM body"), "2|0.1");
    EXPECT_EQ(sea.rows("SELECT name FROM pragma_table_info('wound')"), "entity|position_in_list|depth|from");
}

// req: H2
TEST(SqlErrors, a_question_ends_at_its_limits_and_the_next_one_is_answered) {
    Sea sea;
    constexpr std::string_view kEndless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ";
    const std::string count = std::string(kEndless) + "SELECT count(*) FROM n";
    EXPECT_EQ(sea.rows(count, {.max_steps = 100'000}).substr(0, 39), "1:1: it takes more than 100000 steps; a");
    EXPECT_EQ(sea.rows(count, {.max_seconds = 0.01}).substr(0, 38), "1:1: it takes more than 0.01 seconds; ");
    EXPECT_EQ(sea.rows(std::string(kEndless) + "SELECT i FROM n", {.max_rows = 10}).substr(0, 39),
              "1:1: the answer has more than 10 rows; ");
    for (int again = 0; again < 3; ++again)
        EXPECT_EQ(sea.rows("SELECT mass FROM body", {.max_rows = 2}), "2|0.1") << "as many as there may be";
    EXPECT_EQ(sea.rows("SELECT mass FROM body", {.max_rows = 1}).substr(0, 37),
              "1:1: the answer has more than 1 row; ");
    EXPECT_EQ(sea.rows("SELECT mass FROM body; SELECT mass FROM body", {.max_rows = 3}).substr(0, 39),
              "1:24: the answer has more than 3 rows; ");
    EXPECT_EQ(sea.rows(std::string(kEndless) + "SELECT zeroblob(10000) FROM n", {.max_bytes = 1 << 20}).substr(0, 44),
              "1:1: the answer has more than 1048576 bytes;");
    EXPECT_EQ(sea.rows(std::string(kEndless) + "SELECT i FROM n ORDER BY i DESC", {.max_bytes = 1 << 20}).substr(0, 39),
              "1:1: it needs more than 1048576 bytes o");
    EXPECT_EQ(sea.rows("SELECT length(zeroblob(100000000))").substr(0, 9), "1:1: the ");
    EXPECT_EQ(sea.rows("SELECT count(*) FROM body"), "2");
}

TEST(SqlErrors, passes_are_not_asked) {
    Sea sea;
    std::string message;
    sea.world.schedule().add("ask", [&](const PassContext&) { message = sea.rows("SELECT 1"); });
    sea.world.step(1);
    EXPECT_EQ(message, "passes of the world run; ask between two steps");
    EXPECT_EQ(sea.rows("SELECT 1"), "1");
}

// --- UPDATE ------------------------------------------------------------------------------------------------------

TEST(SqlUpdate, sets_fields_and_marks_them_as_written) {
    Sea sea;
    sea.world.settle();
    const Table& table = sea.world.manager<Body>().core().rows().table();
    const std::uint64_t before = table.written_stamp(0, 0), position = table.written_stamp(1, 0);
    ASSERT_LT(before, sea.world.stamp());
    EXPECT_EQ(sea.updated("UPDATE body SET mass = mass * 2 WHERE mass > 1"), "1");
    EXPECT_EQ(sea.rows("SELECT mass FROM body"), "4|0.1");
    EXPECT_EQ(table.written_stamp(0, 0), sea.world.stamp());
    EXPECT_EQ(table.written_stamp(1, 0), position);
    EXPECT_EQ(sea.updated("UPDATE fish SET mood = 'calm', hungry = 0, age = 7, label = 'gill', friend_of = entity"),
              "2");
    EXPECT_EQ(sea.rows("SELECT mood, hungry, age, label, friend_of FROM fish"), "calm 0 7 gill 1:1|calm 0 7 gill 2:1");
    EXPECT_EQ(sea.updated("UPDATE fish SET friend_of = NULL"), "2");
    EXPECT_EQ(sea.updated("UPDATE body SET velocity_x = 1; UPDATE body SET velocity_y = 2 WHERE mass > 1; SELECT 1"),
              "3")
        << "those of all statements";
    EXPECT_EQ(sea.updated("UPDATE body SET velocity_x = 0 WHERE mass > 1"), "1") << "of one question";
    EXPECT_EQ(sea.updated("UPDATE body SET position_y = age FROM fish WHERE fish.entity = body.entity"), "2");
    EXPECT_EQ(sea.rows("SELECT position_x, position_y FROM body"), "1 7|0 7");
}

TEST(SqlUpdate, sets_one_of_several_components) {
    Sea sea;
    for (const std::int32_t depth : {1, 2}) EXPECT_TRUE(sea.world.manager<Wound>().add(sea.nemo, {.depth = depth}));
    EXPECT_EQ(sea.updated("UPDATE wound SET depth = 9 WHERE depth = 1"), "1");
    EXPECT_EQ(sea.rows("SELECT depth FROM wound ORDER BY depth"), "2|9");
}

TEST(SqlUpdate, ends_at_the_limit_of_bytes) {
    Sea sea;
    for (int i = 0; i < 4000; ++i) sea.make_body({.mass = 1});
    EXPECT_EQ(sea.rows("UPDATE body SET mass = 3", {.max_bytes = 800'000, .allow_updates = true}).substr(0, 43),
              "1:1: the answer has more than 800000 bytes;");
    EXPECT_EQ(sea.rows("UPDATE body SET mass = 3", {.max_bytes = 1000, .allow_updates = true}).substr(0, 30),
              "1:1: it needs more than 1000 b");
    EXPECT_EQ(sea.rows("UPDATE body SET mass = 3; SELECT mass FROM body", {.max_rows = 2, .allow_updates = true}),
              "1:27: the answer has more than 2 rows; narrow it down with WHERE or LIMIT, or allow more rows");
    EXPECT_EQ(sea.rows("SELECT count(*) FROM body WHERE mass = 3"), "0");
}

TEST(SqlUpdate, keeps_the_texts_of_string_ids) {
    Sea sea;
    DebugNameManager names(sea.world.manager<DebugName>(), sea.world.strings());
    EXPECT_TRUE(names.set_name(sea.nemo, "nemo"));
    EXPECT_EQ(sea.updated("UPDATE debug_name SET name = 'marlin'"), "1");
    EXPECT_EQ(names.name(sea.nemo), "marlin");
}

// req: H2
TEST(SqlUpdate, changes_nothing_if_a_value_does_not_fit) {
    Sea sea;
    const std::string before = sea.rows("SELECT * FROM body; SELECT * FROM fish");
    const char* const cases[][2] = {
        {"UPDATE body SET mass = mass * 600", "1:1: \"body.mass\" is from 0 to 1000, not 1200"},
        {"UPDATE fish SET age = 5; UPDATE body SET mass = -1", "1:26: \"body.mass\" is from 0 to 1000, not -1"},
        {"UPDATE fish SET mood = 'clam'", "1:1: \"fish.mood\" has no value \"clam\"; did you mean \"calm\"?"},
        {"UPDATE fish SET age = 100000 WHERE age = 0", "1:1: \"fish.age\" is an int16, which cannot hold 100000"},
        {"UPDATE fish SET hungry = 2", "1:1: \"fish.hungry\" is a bool"},
        {"UPDATE fish SET age = NULL", "1:1: \"fish.age\" is an int16, which cannot be NULL"},
        {"UPDATE fish SET label = 'a name that is too long'", "1:1: \"fish.label\" has room for 15 bytes of text"},
        {"UPDATE fish SET friend_of = '9:9'", "1:1: entity 9:9"},
        {"UPDATE fish SET friend_of = 12345", "1:1: the entity that \"fish.friend_of\" is to refer to is not alive"},
        {"UPDATE body SET entity = 3", "1:17: \"entity\" says which row it is"},
        {"UPDATE body SET zone = 3", "1:17: \"zone\" says which row it is"},
        {"UPDATE body SET position = '[1 2 3]'", "1:17: \"position\" is a text of several values"},
        {"UPDATE fish_weights SET value = 1", "1:8: \"fish_weights\" is read only"},
        {"UPDATE entities SET name = 'x'", "1:1: \"entities\" is computed"},
        {"UPDATE links SET field = 'x'", "1:1: \"links\" is computed"},
        {"UPDATE body SET mass = 5; SELECT * FROM bdy", "1:41: there is no table"},
    };
    for (const auto& [text, expected] : cases) {
        const std::string message = sea.updated(text);
        EXPECT_EQ(message.substr(0, std::string_view(expected).size()), expected) << text;
        EXPECT_EQ(sea.rows("SELECT * FROM body; SELECT * FROM fish"), before) << text;
    }
    EXPECT_EQ(sea.rows("SELECT mass FROM body"), "2|0.1");
}

TEST(SqlUpdate, a_store_that_refuses_a_value_undoes_the_others) {
    Sea sea;
    EXPECT_TRUE(sea.world.transforms().add(std::span(&sea.nemo, 1)));
    const std::string message = sea.updated("UPDATE body SET mass = 7; UPDATE world_pose SET matrix_0_x = 3");
    EXPECT_EQ(message.substr(0, 6), "1:27: ") << message;
    EXPECT_EQ(sea.rows("SELECT mass FROM body"), "2|0.1");
    const std::string before = sea.rows("SELECT * FROM body; SELECT * FROM fish");
    EXPECT_EQ(
        sea.updated(
               "UPDATE body SET mass = mass + 5, velocity_y = 3; UPDATE fish SET age = 8; UPDATE body SET mass = 9; "
               "UPDATE world_pose SET matrix_0_x = 3")
            .substr(0, 2),
        "1:");
    EXPECT_EQ(sea.rows("SELECT * FROM body; SELECT * FROM fish"), before) << "values that were set twice, too";
    EXPECT_TRUE(TagManager(sea.world.manager<Tag>(), sea.world.strings()).add_tag(sea.nemo, "orange"));
    EXPECT_EQ(sea.updated("UPDATE tag SET tag = 'x'"), "1:8: tags are added and removed, and not set; call TagManager");
}

}  // namespace
}  // namespace shoal
