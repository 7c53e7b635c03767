#include "shoal/entity/detail/death_list.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/state/snapshot.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <sys/mman.h>

namespace shoal {
namespace {

/// Bytes of a list's entries that are backed by memory, as the system says.
std::size_t resident_bytes(const Entity* entries, std::size_t num_entries) {
    std::vector<unsigned char> present(num_entries * sizeof(Entity) / kPageBytes);
    EXPECT_EQ(::mincore(const_cast<Entity*>(entries), present.size() * kPageBytes, present.data()), 0);
    std::size_t count = 0;
    for (const unsigned char page : present) count += page & 1;
    return count * kPageBytes;
}

std::vector<Entity> numbered(std::uint32_t first, std::size_t count) {
    std::vector<Entity> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(make_entity(first + static_cast<std::uint32_t>(i), 1));
    return result;
}

std::vector<Entity> copy(std::span<const Entity> entities) { return {entities.begin(), entities.end()}; }

TEST(DeathList, keeps_nothing_without_cursors) {
    DeathList list;
    ASSERT_TRUE(list.reserve(100));
    list.append(numbered(1, 50));
    EXPECT_EQ(list.size(), 0u);
    EXPECT_EQ(list.memory_use().committed_bytes, 0u);
    EXPECT_FALSE(list.is_followed());
}

TEST(DeathList, each_cursor_sees_the_deaths_since_it_was_opened_in_order) {
    DeathList list;
    ASSERT_TRUE(list.reserve(100));
    const DeathCursor a = list.open();
    list.append(numbered(1, 3));
    const DeathCursor b = list.open();
    list.append(numbered(4, 2));
    EXPECT_EQ(copy(list.read(a).entities), numbered(1, 5));
    EXPECT_EQ(copy(list.read(b).entities), numbered(4, 2));
    list.advance(a, list.read(a).begin + 4);
    EXPECT_EQ(copy(list.read(a).entities), numbered(5, 1)) << "a part can be taken";
    list.advance(a, list.read(a).end);
    EXPECT_TRUE(list.read(a).entities.empty());
    EXPECT_EQ(list.size(), 2u) << "kept for b";
    list.close(b);
    EXPECT_EQ(list.size(), 0u);
    list.close(a);
    EXPECT_FALSE(list.is_followed());
}

TEST(DeathList, a_cursor_too_far_behind_is_told_to_sweep) {
    DeathList list;
    ASSERT_TRUE(list.reserve(10));
    const DeathCursor slow = list.open();
    list.append(numbered(1, 6));
    const DeathCursor quick = list.open();
    list.append(numbered(7, 4));
    EXPECT_FALSE(list.read(slow).fell_behind) << "ten are kept";
    list.append(numbered(11, 1));
    EXPECT_TRUE(list.read(slow).fell_behind);
    EXPECT_TRUE(list.read(slow).entities.empty());
    EXPECT_EQ(copy(list.read(quick).entities), numbered(7, 5)) << "others are not disturbed";
    EXPECT_EQ(list.size(), 5u) << "nothing is kept for one who has to sweep";
    list.advance(slow, list.read(slow).end);
    list.append(numbered(12, 1));
    EXPECT_EQ(copy(list.read(slow).entities), numbered(12, 1)) << "after the sweep it follows again";
    list.append(numbered(100, 11));
    EXPECT_TRUE(list.read(slow).fell_behind && list.read(quick).fell_behind) << "one batch beyond the limit";
    EXPECT_FALSE(list.is_followed());
    EXPECT_EQ(list.size(), 0u);
}

TEST(DeathList, pages_of_a_burst_are_given_back) {
    DeathList list;
    ASSERT_TRUE(list.reserve(1u << 20));
    const DeathCursor cursor = list.open();
    list.append(numbered(1, 1'000'000));
    EXPECT_GE(list.memory_use().committed_bytes, 1'000'000 * sizeof(Entity));
    const Entity* const entries = list.read(cursor).entities.data();
    list.advance(cursor, list.read(cursor).end);
    for (int i = 0; i < 2; ++i) {
        EXPECT_GE(list.memory_use().committed_bytes, 1'000'000 * sizeof(Entity)) << "the next batch may be as large";
        EXPECT_GE(resident_bytes(entries, 1'000'000), 900'000 * sizeof(Entity));
        list.append(numbered(7, 10));
        EXPECT_EQ(copy(list.read(cursor).entities), numbered(7, 10));
        list.advance(cursor, list.read(cursor).end);
    }
    EXPECT_LE(list.memory_use().committed_bytes, std::size_t(128) << 10);
    EXPECT_LE(resident_bytes(entries, 1'000'000), list.memory_use().committed_bytes) << "what it reports is true";
    list.append(numbered(1, 100'000));
    EXPECT_EQ(copy(list.read(cursor).entities), numbered(1, 100'000)) << "discarded pages can be used again";
}

TEST(DeathList, using_a_closed_cursor_is_a_bug) {
    DeathList list;
    ASSERT_TRUE(list.reserve(10));
    EXPECT_DEATH(list.read(DeathCursor{}), "not open");
    const DeathCursor cursor = list.open();
    EXPECT_DEATH(list.advance(cursor, 1), "may only advance to");
    list.close(cursor);
    EXPECT_DEATH(list.close(cursor), "not open");
}

/// What each cursor should see, in a list of its own.
struct NaiveReader {
    DeathCursor cursor;
    std::vector<Entity> pending;
    bool fell_behind = false;
    std::uint32_t number = 0;  // no two readers have the same
    std::string_view name() const {
        constexpr std::string_view kNames[] = {"hulls", "sails", "oars", "masts", "keels"};
        return kNames[number % std::size(kNames)];
    }
};

/// A list as it was saved, and where its readers were.
struct SavedDeaths {
    struct Reader {
        std::uint64_t position;
        NaiveReader naive;
    };
    Snapshot state;
    std::vector<Reader> readers;
};

TEST(DeathList, agrees_with_a_naive_list_per_reader) {
    SCOPED_TRACE(shoal_test::seed_text());
    const shoal_test::LeakCheck leaks;
    Random random(shoal_test::seed());
    for (int round = 0; round < 20; ++round) {
        const std::size_t max_entries = 1 + random.below(round % 2 == 0 ? 9 : 3000);
        DeathList list;
        ASSERT_TRUE(list.reserve(max_entries));
        std::vector<NaiveReader> readers;
        SavedDeaths saved;
        bool was_loaded = false;
        std::uint32_t next = 1, num_readers = 0;
        const std::int64_t num_steps = shoal_test::scaled_operations(20'000);
        for (std::int64_t step = 0; step < num_steps; ++step) {
            const std::uint32_t choice = random.below(100);
            if (choice < 2 && readers.size() < 6) {
                readers.push_back({{}, {}, false, num_readers++});
                readers.back().cursor = list.open(readers.back().name());
            } else if (choice < 3 && !readers.empty()) {
                const std::size_t i = random.below(static_cast<std::uint32_t>(readers.size()));
                list.close(readers[i].cursor);
                readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(i));
            } else if (choice == 3 && random.below(4) == 0) {
                saved = {};
                SnapshotWriter to(saved.state);
                list.save(to);
                for (const NaiveReader& reader : readers)
                    saved.readers.push_back({list.position(reader.cursor), reader});
            } else if (choice == 4 && random.below(4) == 0 && saved.state.num_parts() != 0) {
                SnapshotReader from(saved.state, random.below(2) == 0);
                const std::size_t committed_bytes = list.memory_use().committed_bytes;
                ASSERT_TRUE(list.load(from).ok());
                ASSERT_GE(list.memory_use().committed_bytes, committed_bytes) << "loading gives no page back";
                was_loaded = true;
                for (NaiveReader& reader : readers) {
                    reader.pending.clear(), reader.fell_behind = false;  // it is at the end
                    const auto then = std::find_if(saved.readers.begin(), saved.readers.end(),
                                                   [&](const auto& one) { return one.naive.number == reader.number; });
                    if (then == saved.readers.end() || random.below(8) == 0) continue;
                    list.set_position(reader.cursor, then->position);
                    reader = then->naive;
                }
            } else if (choice < 40) {
                const std::uint32_t limit = random.below(50) == 0 ? static_cast<std::uint32_t>(max_entries) + 2 : 60;
                const std::vector<Entity> dead = numbered(next, random.below(limit));
                next += static_cast<std::uint32_t>(dead.size());
                list.append(dead);
                for (NaiveReader& reader : readers) {
                    if (reader.fell_behind) continue;
                    reader.pending.insert(reader.pending.end(), dead.begin(), dead.end());
                    reader.fell_behind = reader.pending.size() > max_entries;
                }
            } else if (!readers.empty()) {
                NaiveReader& reader = readers[random.below(static_cast<std::uint32_t>(readers.size()))];
                const DeathRange range = list.read(reader.cursor);
                ASSERT_EQ(range.fell_behind, reader.fell_behind);
                if (reader.fell_behind) reader.pending.clear();
                ASSERT_EQ(copy(range.entities), reader.pending);
                const auto count = random.below(static_cast<std::uint32_t>(reader.pending.size()) + 1);
                const bool all = reader.fell_behind || random.below(2) == 0;
                list.advance(reader.cursor, all ? range.end : range.begin + count);
                was_loaded = false;
                reader.pending.erase(reader.pending.begin(),
                                     all ? reader.pending.end() : reader.pending.begin() + count);
                reader.fell_behind = false;
            }
            std::size_t longest = 0;
            for (const NaiveReader& reader : readers)
                longest = std::max(longest, reader.fell_behind ? 0 : reader.pending.size());
            ASSERT_GE(list.size(), longest);
            if (list.is_followed() && list.size() != 0) {
                std::uint64_t first = ~std::uint64_t(0);
                for (const NaiveReader& reader : readers) first = std::min(first, list.position(reader.cursor));
                ASSERT_TRUE(std::any_of(readers.begin(), readers.end(),
                                        [&](const NaiveReader& reader) {
                                            return list.position(reader.cursor) == first &&
                                                   reader.name() == list.slowest_reader();
                                        }))
                    << list.slowest_reader() << " is not the last";
            }
            if (!was_loaded) ASSERT_EQ(list.size(), longest) << "exactly what the slowest needs is kept";
        }
    }
}

TEST(EntityManager, the_death_list_survives_what_the_stores_ask) {
    EntityManager entities({.max_death_list = 4});
    std::vector<Entity> e(10);
    ASSERT_TRUE(entities.create(e));
    const DeathCursor cursor = entities.open_death_cursor();
    const Entity mixed[] = {e[2], e[0], e[2], kNullEntity};
    entities.destroy(mixed);
    EXPECT_EQ(copy(entities.deaths(cursor).entities), (std::vector<Entity>{e[2], e[0]}));
    entities.advance(cursor, entities.deaths(cursor).end);
    entities.destroy(e);
    EXPECT_TRUE(entities.deaths(cursor).fell_behind);
    entities.close_death_cursor(cursor);
}

}  // namespace
}  // namespace shoal
