// docs/guide/sql.md: its questions have the answers that it shows.

#include "shoal/base/file.h"
#include "shoal/components/debug_name.h"
#include "shoal/inspect/text_table.h"
#include "shoal/sql/sql.h"
#include "shoal/world/world.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {
namespace {

// [guide/sql_components]
enum class Job : std::uint8_t { kSailor, kCook };
SHOAL_ENUM(Job, (kSailor, "sailor"), (kCook, "cook"))

struct Boat {
    float length = 6;
    Vec3 position{};
    std::array<std::uint8_t, 3> sails{};
};
SHOAL_COMPONENT((Boat, name("boat")), (length, range(1, 100)), position, sails)

struct Crew {
    Entity boat{};
    Job job{};
};
SHOAL_COMPONENT((Crew, name("crew")), boat, job)

struct Errand {
    std::int32_t hours = 0;
};
SHOAL_COMPONENT((Errand, name("errand"), many), hours)
// [guide/sql_components]

struct Harbour {
    Harbour() {
        EXPECT_TRUE(entities.create(all));
        const auto [gull, tern, anna, bert] = all;
        EXPECT_TRUE(world.manager<Boat>().add(gull, Boat{9.5f, {1, 2, 0}, {20, 8, 0}}));
        EXPECT_TRUE(world.manager<Boat>().add(tern, Boat{6, {4, 0, 0}, {}}));
        EXPECT_TRUE(world.manager<Crew>().add(anna, Crew{gull, Job::kSailor}));
        EXPECT_TRUE(world.manager<Crew>().add(bert, Crew{gull, Job::kCook}));
        for (const std::int32_t hours : {5, 2}) EXPECT_TRUE(world.manager<Errand>().add(anna, Errand{hours}));
        DebugNameManager names(world.manager<DebugName>(), world.strings());
        const char* const texts[] = {"gull", "tern", "anna", "bert"};
        for (std::size_t i = 0; i < std::size(texts); ++i) EXPECT_TRUE(names.set_name(all[i], texts[i]));
    }
    EntityManager entities;
    World world{entities};
    Entity all[4];
};

/// Rows as `shoal sql` prints them.
struct Printer final : sql::RowSink {
    void begin(const std::vector<sql::Column>& columns) override {
        finish();
        std::vector<std::string> header;
        for (const sql::Column& column : columns) header.push_back(column.name);
        tables.emplace_back(std::move(header));
    }
    bool take(const sql::Row& row) override {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < row.num_columns(); ++i) texts.push_back(row[i].to_text());
        tables.back().add_row(std::move(texts));
        return true;
    }
    void finish() {
        if (!tables.empty()) text += tables.back().text();
        tables.clear();
    }
    std::vector<TextTable> tables;  // none or one
    std::string text;
};

struct Block {
    std::string language, text;
};
std::vector<Block> read_blocks(const std::string& path) {
    const Result<std::string> page = read_file(path);
    EXPECT_TRUE(page) << page.message();
    std::vector<Block> blocks;
    std::string_view rest = page ? std::string_view(*page) : std::string_view();
    constexpr std::string_view kFence = "\n```";
    for (std::size_t at = rest.find(kFence); at != std::string_view::npos; at = rest.find(kFence)) {
        rest.remove_prefix(at + kFence.size());
        const std::size_t begin = rest.find('\n') + 1, end = rest.find(kFence, begin - 1);
        blocks.push_back({std::string(rest.substr(0, begin - 1)), std::string(rest.substr(begin, end + 1 - begin))});
        rest.remove_prefix(end + kFence.size());
    }
    return blocks;
}

TEST(SqlGuide, its_questions_have_the_answers_that_it_shows) {
    Harbour harbour;
    sql::Connection connection(harbour.world);
    const std::vector<Block> blocks = read_blocks(SHOAL_SOURCE_DIR "/docs/guide/sql.md");
    std::size_t num_questions = 0;
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
        if (blocks[i].language != "sql") continue;
        Printer printer;
        const Result<std::uint64_t> asked = connection.ask(blocks[i].text, printer, {.allow_updates = true});
        printer.finish();
        EXPECT_EQ(blocks[i + 1].language, "answer") << blocks[i].text;
        EXPECT_EQ(asked ? printer.text : "error: " + std::string(asked.message()) + "\n", blocks[i + 1].text)
            << blocks[i].text;
        ++num_questions;
    }
    EXPECT_GT(num_questions, 8u);
}

TEST(SqlGuide, a_program_asks) {
    Harbour harbour;
    World& world = harbour.world;
    double total = 0;
    const auto add = [&]() -> Status {
        // [guide/sql_ask]
        Result<sql::Answer> long_boats = sql::ask(world, "SELECT entity, length FROM boat WHERE length > 8");
        if (!long_boats) return long_boats.status();
        for (std::size_t row = 0; row < long_boats->num_rows(); ++row) {
            const Entity boat = long_boats->at(row, 0).entity();
            total += long_boats->at(row, 1).number() + (world.entities().alive(boat) ? 1 : 0);
        }
        // [guide/sql_ask]
        return {};
    };
    EXPECT_TRUE(add());
    EXPECT_EQ(total, 10.5);
}

}  // namespace
}  // namespace shoal
