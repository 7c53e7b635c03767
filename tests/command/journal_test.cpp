// The journal of a database: an index that is kept from it alone knows where everybody is.

#include "shoal/database/journal.h"
#include "shoal/command/commands.h"
#include "support/database_testing.h"

#include <map>

namespace {

using namespace shoal_test;

class JournalTest : public testing::Test, protected DatabaseFixture {
protected:
    using Place = std::pair<std::uint32_t, std::uint32_t>;  // table number, row

    std::map<Entity, Place> scan() {
        std::map<Entity, Place> result;
        for (const DatabaseTable* table : database.all_tables())
            for (std::uint32_t row = 0; table != nullptr && row < table->num_rows(); ++row)
                result[table->entities()[row]] = {table->number(), row};
        return result;
    }
    void read(const Journal& journal) {
        for (const JournalEntry& entry : journal.entries) {
            const DatabaseTable* const table = database.all_tables()[entry.table];
            if (entry.change.kind == StructuralChange::Kind::kRemoved) {
                if (!database.has_row(entry.change.entity)) index.erase(entry.change.entity);
                continue;
            }
            for (std::uint32_t row = entry.change.rows.begin; row < entry.change.rows.end; ++row)
                if (table != nullptr && row < table->num_rows()) index[table->entities()[row]] = {entry.table, row};
        }
    }
    void settle() { database.settle({.stamp = ++stamp}); }
    /// A change of anything, at once or through commands.
    void change(Random& random, std::vector<Entity>& known) {
        const Entity entity = known[random.below(std::uint32_t(known.size()))];
        Commands& commands = database.commands();
        switch (random.below(12)) {
            case 0:
            case 1: {
                const auto first = known.size();
                known.resize(first + 1 + random.below(random.below(20) == 0 ? 600 : 20));
                ASSERT_TRUE(database.create<Position>(std::span(known).subspan(first), random.below(4), Position{}));
                return;
            }
            case 2:
                return static_cast<void>(commands.create(random.below(4), Mass{}, Title{}));
            case 3:
                return static_cast<void>(entities.destroy(entity));
            case 4:
                return static_cast<void>(database.destroy(std::span(known).last(random.below(20) % known.size())));
            case 5:
                return commands.destroy(entity);
            case 6:
                return static_cast<void>(database.add(entity, Mass{}));
            case 7:
                return commands.add(entity, Asleep{}, Mass{});
            case 8:
                return static_cast<void>(database.remove<Position, Mass>(entity));
            case 9:
                return commands.move(entity, random.below(4));
            case 10:
                return static_cast<void>(
                    database.move(std::span(known).last(random.below(300) % known.size()), random.below(4)));
            default:
                if (random.below(100) == 0) database.clear_zone(random.below(4));
        }
    }

    std::map<Entity, Place> index;
    std::uint64_t stamp = 1;
};

TEST_F(JournalTest, an_index_that_is_kept_from_the_journal_alone_equals_a_scan) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    std::vector<Entity> known(1000);
    ASSERT_TRUE(database.create<Position>(known, 0, Position{}));
    settle();
    index = scan();
    std::uint64_t seen = stamp;
    database.keep_journal(20'000);
    std::size_t num_entries = 0, num_rebuilt = 0;
    for (std::int64_t i = 0; i < scaled_operations(40'000); ++i) {
        change(random, known);
        if (known.size() > 5000) known.erase(known.begin(), known.begin() + 2500);
        if (random.below(50) != 0) continue;
        settle();
        if (random.below(3) == 0) continue;  // readers come by when it suits them
        const Journal journal = database.journal(seen);
        if (journal.is_complete)
            read(journal);
        else
            index = scan(), ++num_rebuilt;
        num_entries += journal.entries.size();
        seen = stamp;
        ASSERT_EQ(index, scan());
    }
    EXPECT_GT(num_entries, std::size_t(scaled_operations(10'000)));
    EXPECT_EQ(database.validate().message(), "");
}

TEST_F(JournalTest, what_was_forgotten_is_not_passed_over) {
    EXPECT_FALSE(database.journal(0).is_complete) << "none is kept";
    std::vector<Entity> fish(10);
    ASSERT_TRUE(database.create<Position>(fish, 0, Position{}));
    settle();
    database.keep_journal(25);
    const std::uint64_t begin = stamp;
    EXPECT_FALSE(database.journal(begin - 1).is_complete);
    EXPECT_TRUE(database.journal(begin).is_complete);
    for (const Entity entity : fish) database.destroy(entity);  // two entries each but for the last row
    settle();
    EXPECT_TRUE(database.journal(begin).is_complete);
    EXPECT_GE(database.journal(begin).entries.size(), 10u);
    EXPECT_EQ(database.journal(stamp).entries.size(), 0u);
    ASSERT_TRUE(database.create<Position>(fish, 0, Position{}));
    settle();
    EXPECT_EQ(database.journal(stamp - 1).entries.size(), 1u) << "rows that come together are one entry";
    for (int i = 0; i < 20; ++i) {
        database.commands().move(fish[0], 1 + Zone(i) % 2);
        settle();
    }
    EXPECT_FALSE(database.journal(begin).is_complete);
    EXPECT_TRUE(database.journal(stamp - 3).is_complete);
    EXPECT_LE(database.journal(stamp - 3).entries.size(), 25u);
    database.destroy(fish[1]);
    database.keep_journal(10);
    EXPECT_FALSE(database.journal(stamp).is_complete) << "what was not collected yet is lost";
    settle();
    EXPECT_TRUE(database.journal(stamp).is_complete);
    database.keep_journal(0);
    EXPECT_FALSE(database.journal(stamp).is_complete);
}

TEST_F(JournalTest, one_settle_with_more_changes_than_are_kept_says_so) {
    database.keep_journal(5);
    const std::uint64_t begin = stamp;
    std::vector<Entity> fish(100);
    ASSERT_TRUE(database.create<Position>(fish, 0, Position{}));
    for (std::size_t i = 0; i < 50; ++i) database.destroy(fish[i]);
    settle();
    EXPECT_FALSE(database.journal(begin).is_complete);
    EXPECT_TRUE(database.journal(stamp).is_complete);
}

}  // namespace
