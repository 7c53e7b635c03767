// Positions of work: the order in which one thread does it, and what is closed when other work begins.

#include "shoal/job/detail/work_scope.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal {
namespace {

/// Work of one thread, in the order in which it is done. Work between two loops or scopes is one piece.
struct WorkLog {
    struct Entry {
        WorkPosition position;
        std::uint32_t piece;
    };
    std::vector<Entry> entries;
    std::uint32_t piece = 0;
    Random random{shoal_test::seed()};

    void note(const WorkPosition& position) { entries.push_back({position, piece}); }
    void work(std::uint32_t depth) {
        note(WorkScope::place());
        for (std::uint32_t n = depth == 0 ? 0 : random.below(3); n-- > 0;) {
            loop(depth);
            note(WorkScope::place());
        }
    }
    void loop(std::uint32_t depth) {
        ++piece;
        const WorkPosition position = WorkScope::begin_loop();
        for (std::uint32_t chunk = 0; chunk < 1 + random.below(3); ++chunk) {
            const WorkScope scope(position, chunk);
            ++piece;
            EXPECT_TRUE(WorkScope::current()->is_in_loop());
            work(depth - 1);
        }
        ++piece;
    }
};

TEST(WorkPositions, are_ordered_as_one_thread_does_the_work) {
    SCOPED_TRACE(shoal_test::seed_text());
    for (int round = 0; round < 10; ++round) {
        WorkLog log;
        log.random = Random(shoal_test::seed() + static_cast<std::uint64_t>(round));
        log.work(WorkPosition::kMostSteps + 1);  // outside of passes
        for (std::uint32_t pass = 1; pass < 4; ++pass) {
            const WorkScope scope(pass);
            ++log.piece;
            EXPECT_EQ(WorkScope::current()->pass(), pass);
            log.work(WorkPosition::kMostSteps + 1);
        }
        EXPECT_EQ(WorkScope::current(), nullptr);
        for (std::size_t i = 0; i < log.entries.size(); ++i)
            for (std::size_t j = i; j < log.entries.size(); ++j) {
                const auto& [a, piece_of_a] = log.entries[i];
                const auto& [b, piece_of_b] = log.entries[j];
                if (!a.is_exact() || !b.is_exact()) continue;
                ASSERT_FALSE(comes_before(b, a)) << i << ' ' << j;
                ASSERT_EQ(comes_before(a, b), piece_of_a != piece_of_b) << i << ' ' << j;
            }
    }
}

TEST(WorkPositions, of_loops_that_are_numbered_together_follow_one_another) {
    const WorkPosition before = WorkScope::place();
    const std::uint64_t first = WorkScope::number_outer_loops(3);
    EXPECT_EQ(first, before.steps[0].loop + 1);
    EXPECT_EQ(WorkScope::begin_loop().steps[0].loop, first + 3);
}

/// Writes down when it is closed.
struct Opened final : OpenInScope {
    Opened(std::string& to, char named) : log(to), name(named) {}
    void close(bool is_over) override { (log += name) += is_over ? ". " : ", "; }
    std::string& log;
    char name;
};

TEST(WorkScopes, close_what_is_open_when_they_end_and_when_other_work_begins) {
    std::string log;
    Opened opened[] = {{log, 'a'}, {log, 'b'}, {log, 'c'}, {log, 'd'}, {log, 'e'}};
    {
        WorkScope outer(1);
        outer.keep_open(opened[0]), outer.keep_open(opened[1]);
        EXPECT_EQ(outer.first_open(), &opened[1]);
        const WorkPosition loop = WorkScope::begin_loop();
        EXPECT_EQ(log, "b, a, ") << "what follows the loop is elsewhere";
        outer.keep_open(opened[0]);
        {
            WorkScope chunk(loop, 0);
            EXPECT_EQ(log, "b, a, a, ");
            chunk.keep_open(opened[2]);
            WorkScope inner(2);  // a schedule within a chunk
            EXPECT_EQ(log, "b, a, a, c, ");
            inner.keep_open(opened[3]);
        }
        EXPECT_EQ(log, "b, a, a, c, d. ");
        outer.keep_open(opened[4]);
    }
    EXPECT_EQ(log, "b, a, a, c, d. e. ");
    EXPECT_EQ(WorkScope::current(), nullptr);
}

}  // namespace
}  // namespace shoal
