// The marks of a pass: made once, by the thread that started it, when every chunk is done.

#include "shoal/base/random.h"
#include "shoal/database/database.h"
#include "shoal/query/query.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace {

using namespace shoal;

struct Crate {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(Crate, mass, position)

// Chunks are cut on cache lines (row_ranges_test.cpp); stamps, many to a line, are no job's to write.
// req: E12
TEST(QueryMarks, no_chunk_writes_a_stamp) {
    EntityManager entities;
    PagePool pool;
    Manager<Crate> crates(entities, pool);
    std::vector<Entity> owners(100'000);
    ASSERT_TRUE(entities.create(owners).ok());
    ASSERT_TRUE(crates.add(owners).ok());
    Table& table = crates.core().table();
    table.set_stamp(9);
    constexpr std::uint32_t kPosition = FieldLayout<&Crate::position>::kFirstColumn;
    std::atomic<std::uint32_t> num_calls{0}, num_early{0};
    const auto executor = std::make_unique<shoal::ThreadedExecutor>(4);
    query<Write<&Crate::position>>(crates).for_each(*executor, [&](auto&& position) {
        position.x = 1;
        if (num_calls.fetch_add(1, std::memory_order_relaxed) % 64 != 0) return;
        for (std::uint32_t block = 0; block < table.num_rows() / 1024; ++block)
            num_early += table.written_stamp(kPosition, block) == 9;
    });
    EXPECT_EQ(num_calls, 100'000u);
    EXPECT_EQ(num_early, 0u);
    for (std::uint32_t block = 0; block <= (table.num_rows() - 1) / 1024; ++block)
        EXPECT_EQ(table.written_stamp(kPosition, block), 9u);
    EXPECT_LT(table.written_stamp(FieldLayout<&Crate::mass>::kFirstColumn, 0), 9u) << "and only what the pass names";
}

/// Stands for a processor with memory of its own: keeps the address of a column and a copy of its values, and brings the
/// copy up to date with the ranges of rows that a query reports.
struct Mirror {
    const float* address = nullptr;
    std::uint64_t placement = 0;
    std::uint32_t num_places = 0;
    std::vector<float> copy{};
    std::uint32_t num_copied = 0;

    static const Table& table_of(const Table& table) { return table; }
    static const Table& table_of(const DatabaseTable& table) { return table.table(); }

    template <class Query>
    void follow(const Query& changed) {
        num_copied = 0;
        changed.for_each_batch([&](auto&& batch) {
            const std::span<const float> values = batch.template column<&Crate::mass>();
            const RowRange rows = batch.rows();
            if (const std::uint64_t now = table_of(batch.table()).placement(); placement != now) {
                placement = now;
                address = values.data() - rows.begin;
                ++num_places;
            }
            ASSERT_EQ(values.data(), address + rows.begin) << "the column has moved, but its placement has not changed";
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % kCacheLineBytes, 0u);
            if (copy.size() < rows.end) copy.resize(rows.end);
            std::copy(values.begin(), values.end(), copy.begin() + rows.begin);
            num_copied += rows.size();
        });
    }
};

/// Writes to a few rows in each of several frames, adds rows in some, and lets a mirror follow.
template <class Read, class Write, class Settle, class Add, class Set, class Value>
void mirror_follows(const Read& masses, const Write& positions, Settle settle, Add add, Set set, Value value) {
    Random random(shoal_test::seed());
    std::vector<Entity> owners = add(100'000u);
    Mirror mirror;
    settle(1);
    mirror.follow(masses.changed_since(0));
    EXPECT_EQ(mirror.num_copied, 100'000u);
    for (std::uint64_t frame = 2; frame < 14; ++frame) {
        settle(frame);
        positions.for_each([&](auto&& position) { position.x += 1; });  // of no interest
        for (int i = 0; i < 3; ++i)
            set(owners[random.below(static_cast<std::uint32_t>(owners.size()))], float(frame * 10 + std::uint64_t(i)));
        const bool grows = frame % 4 == 0;
        if (grows)
            for (const Entity entity : add(50'000u)) owners.push_back(entity);
        mirror.follow(masses.changed_since(frame));
        EXPECT_GT(mirror.num_copied, 0u);
        EXPECT_LE(mirror.num_copied, (grows ? 50'000u + 1024 : 0) + 3 * 1024) << "the blocks of three rows";
        ASSERT_EQ(mirror.copy.size(), owners.size());
        for (std::size_t row = 0; row < owners.size(); ++row) ASSERT_EQ(mirror.copy[row], value(owners[row])) << frame;
    }
    EXPECT_LE(mirror.num_places, 2u) << "a table that has a range of its own grows where it is";
}

// req: A9
TEST(QueryMarks, a_mirror_of_a_column_needs_its_address_and_the_ranges_written_since) {
    SCOPED_TRACE(shoal_test::seed_text());
    EntityManager entities;
    PagePool pool;
    Manager<Crate> crates(entities, pool);
    mirror_follows(
        query<Read<&Crate::mass>>(crates), query<Write<&Crate::position>>(crates),
        [&](std::uint64_t stamp) { crates.core().settle({.stamp = stamp}); },
        [&](std::uint32_t count) {
            std::vector<Entity> made(count);
            EXPECT_TRUE(entities.create(made));
            EXPECT_TRUE(crates.add(made));
            return made;
        },
        [&](Entity entity, float mass) { crates.set<&Crate::mass>(crates.instance(entity), mass); },
        [&](Entity entity) { return crates.get<&Crate::mass>(crates.instance(entity)); });
    Database database(entities, pool);
    mirror_follows(
        query<Read<&Crate::mass>>(database), query<Write<&Crate::position>>(database),
        [&](std::uint64_t stamp) { database.settle({.stamp = stamp}); },
        [&](std::uint32_t count) {
            std::vector<Entity> made(count);
            EXPECT_TRUE(database.create<Crate>(made, 0));
            return made;
        },
        [&](Entity entity, float mass) { database.set<&Crate::mass>(database.find(entity), mass); },
        [&](Entity entity) { return database.get<&Crate::mass>(database.find(entity)); });
}

TEST(QueryMarks, a_loop_over_what_has_changed_marks_no_block_between) {
    EntityManager entities;
    PagePool pool;
    Manager<Crate> crates(entities, pool);
    std::vector<Entity> made(5000);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(crates.add(made));
    const Table& table = crates.core().table();
    const auto loads = query<Read<&Crate::mass>, Write<&Crate::position>>(crates);
    SerialExecutor serial;
    const auto threads = std::make_unique<shoal::ThreadedExecutor>(3);
    std::uint64_t stamp = 9;
    for (Executor* executor :
         {static_cast<Executor*>(nullptr), static_cast<Executor*>(&serial), static_cast<Executor*>(threads.get())}) {
        crates.core().settle({.stamp = ++stamp});
        for (const std::uint32_t row : {100u, 2100u, 4999u}) crates.set<&Crate::mass>(Instance{row}, 3);
        std::atomic<std::uint32_t> num_calls{0};
        const auto load = [&](float, auto&& position) { position.x = 1, ++num_calls; };
        executor == nullptr ? loads.changed_since(stamp).for_each(load)
                            : loads.changed_since(stamp).for_each(*executor, load);
        EXPECT_EQ(num_calls, 2u * 1024 + 5000 % 1024);
        constexpr std::uint32_t kPosition = FieldLayout<&Crate::position>::kFirstColumn;
        for (std::uint32_t block = 0; block < 5; ++block)
            EXPECT_EQ(table.written_stamp(kPosition, block) == stamp, block % 2 == 0) << "block " << block;
    }
}

}  // namespace
