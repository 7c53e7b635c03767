// Queries over a database that changes at random, against maps.

#include "shoal/base/random.h"
#include "shoal/database/database.h"
#include "shoal/query/query.h"
#include "support/mark_watch.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace shoal;

struct Count {
    std::uint32_t value = 0;
};
SHOAL_COMPONENT(Count, value)
struct Step {
    std::uint32_t value = 1;
    Vec3 way{};
};
SHOAL_COMPONENT(Step, value, (way, split))
struct Still {
    std::uint32_t since = 3;
};
SHOAL_COMPONENT((Still, enableable), since)
struct Shy {};
SHOAL_COMPONENT((Shy, enableable))
struct Rare {};
SHOAL_COMPONENT(Rare)
struct Hit {
    std::uint32_t value = 0;
};
SHOAL_COMPONENT((Hit, many), value)

struct Known {
    Zone zone = 0;
    std::optional<std::uint32_t> count, step, still;
    bool is_rare = false, is_shy = false, is_inactive = false;
    std::vector<std::uint32_t> hits{};  // the last one that came first
};

class QueryOracle {
public:
    explicit QueryOracle(std::uint64_t seed, std::uint32_t most_created) : random_(seed), most_created_(most_created) {
        entities_.inactive().add_speaker(this);
    }

    void change() {
        switch (random_.below(11)) {
            case 0:
            case 1:
                return create();
            case 2:
                return each([&](Entity entity, Known& known) { set(entity, known.count, Count{number_}); });
            case 3:
                return each([&](Entity entity, Known& known) { set(entity, known.step, Step{number_}); });
            case 4:
                return each([&](Entity entity, Known& known) { flip(entity, known); });
            case 5:
                return each([&](Entity entity, Known& known) { flip_rare(entity, known); });
            case 6:
                return each([&](Entity entity, Known& known) { move(entity, known); });
            case 7:
                return each([&](Entity entity, Known& known) { flip_shy(entity, known); });
            case 8:
                return each([&](Entity entity, Known& known) { hit(entity, known); });
            case 9:
                return each([&](Entity entity, Known& known) { flip_active(entity, known); });
            default:
                return destroy();
        }
    }

    /// Runs queries that write, on both sides.
    void loop(Executor* executor) {
        settle();
        expect_changed();
        settle();
        marks_.begin(database_);
        const auto run = [&](const auto& query, auto function) {
            if (executor != nullptr)
                query.for_each(*executor, function);
            else
                query.for_each(function);
        };
        run(moving_, [](std::uint32_t& count, std::uint32_t step) { count = count * 3 + step; });
        for (auto& [entity, known] : known_)
            if (known.count && known.step && !known.is_inactive) known.count = *known.count * 3 + *known.step;
        run(awake_, blend([](std::uint32_t& count) { count += 7; }));
        for (auto& [entity, known] : known_)
            if (known.count && !known.still && !known.is_inactive) known.count = *known.count + 7;
        run(bold_, [](std::uint32_t& count) { count += 11; });
        for (auto& [entity, known] : known_)
            if (known.count && !known.still && !known.is_shy && !known.is_inactive) known.count = *known.count + 11;
        run(counted_hits_, [](std::uint32_t hit, std::uint32_t& count) { count += hit; });
        for (auto& [entity, known] : known_)
            for (const std::uint32_t hit : known.hits)
                if (known.count && !known.is_inactive) known.count = *known.count + hit;
        run(hits_.in(kSomeZones), [](std::uint32_t& hit) { hit += 5; });
        for (auto& [entity, known] : known_)
            for (std::uint32_t& hit : known.hits)
                if (kSomeZones.contains(known.zone) && !known.is_inactive) hit += 5;
        run(asleep_, [](std::uint32_t& count, std::uint32_t& since, const std::uint32_t* step) {
            count ^= since;
            since += step == nullptr ? 1 : *step;
        });
        for (auto& [entity, known] : known_) {
            if (!known.count || !known.still || known.is_rare || known.is_inactive) continue;
            known.count = *known.count ^ *known.still;
            known.still = *known.still + known.step.value_or(1);
        }
        EXPECT_TRUE(marks_.all_is_marked(database_));
    }

    void compare() {
        std::map<Entity, std::uint32_t> counts, expected;
        const auto note = [&](Entity entity, std::uint32_t count) {
            EXPECT_TRUE(counts.emplace(entity, count).second);
        };
        query<Read<&Count::value>>(database_).for_each(note);
        for (const auto& [entity, known] : known_)
            if (known.count && !known.is_inactive) expected.emplace(entity, *known.count);
        ASSERT_EQ(counts, expected);
        live_.set({random_.below(6), random_.below(6)});
        for (const bool is_live : {false, true}) {
            counts.clear(), expected.clear();
            is_live ? some_now_.for_each(note) : some_now_.in(kSomeZones).for_each(note);
            const ZoneSet& zones = is_live ? live_.now() : kSomeZones;
            for (const auto& [entity, known] : known_)
                if (known.count && known.is_rare && known.still && zones.contains(known.zone) && !known.is_inactive)
                    expected.emplace(entity, *known.count);
            ASSERT_EQ(counts, expected);
        }
        compare_hits();
        ASSERT_TRUE(database_.validate().ok());
    }
    void compare_hits() {
        std::multimap<Entity, std::uint32_t> all, expected;
        std::uint64_t num_hits = 0;
        hits_.for_each([&](Entity entity, std::uint32_t value) { all.emplace(entity, value); });
        for (const auto& [entity, known] : known_) {
            num_hits += known.hits.size();
            for (std::size_t i = 0; i < known.hits.size(); ++i) {
                ASSERT_EQ(database_.get_value<&Hit::value>(entity, std::uint32_t(i)), known.hits[i]);
                if (!known.is_inactive) expected.emplace(entity, known.hits[i]);
            }
        }
        using Hits = std::vector<std::pair<Entity, std::uint32_t>>;
        const auto expect_same = [&] {
            Hits visited(all.begin(), all.end()), wanted(expected.begin(), expected.end());
            std::sort(visited.begin(), visited.end()), std::sort(wanted.begin(), wanted.end());
            ASSERT_EQ(visited, wanted);
        };
        expect_same();
        ASSERT_GE(hits_.num_rows(), num_hits) << "it counts each value";
        all.clear();
        hits_.with_inactive().for_each([&](Entity entity, std::uint32_t value) { all.emplace(entity, value); });
        for (const auto& [entity, known] : known_)
            for (std::size_t i = 0; known.is_inactive && i < known.hits.size(); ++i)
                expected.emplace(entity, known.hits[i]);
        expect_same();
        for (const bool is_live : {true, false}) {  // a copy in live zones is limited to others
            const auto hits = is_live ? hits_now_ : hits_now_.in(kSomeZones);
            const ZoneSet& zones = is_live ? live_.now() : kSomeZones;
            all.clear(), expected.clear();
            hits.for_each([&](Entity entity, std::uint32_t value) { all.emplace(entity, value); });
            for (const auto& [entity, known] : known_)
                for (const std::uint32_t value : known.hits)
                    if (zones.contains(known.zone) && !known.is_inactive) expected.emplace(entity, value);
            expect_same();
        }
    }
    /// Writes one column of a few rows, and a value after the first, and looks for what was written since the settle.
    void expect_changed() {
        std::set<std::pair<const DatabaseTable*, std::uint32_t>> blocks;
        std::set<Entity> written, hit, found;
        bool any_hit = false;
        each([&](Entity entity, Known& known) {
            if (known.hits.size() > 1) {
                known.hits.back() = number_;
                database_.set_value<&Hit::value>(entity, std::uint32_t(known.hits.size() - 1), number_);
                any_hit = true;
                if (!known.is_inactive) hit.insert(entity);
            }
            if (!known.step || random_.below(4) != 0) return;
            const DatabaseRow at = database_.find(entity);
            const std::uint32_t lane = at.table->first_column(database_.component<Step>()) + 1 + random_.below(3);
            at.table->table().write_element(lane, at.row);
            blocks.emplace(at.table, at.row / kRowsPerStampBlock);
            if (!known.is_inactive) written.insert(entity);
        });
        ways_.changed_since(stamp_).for_each([&](Entity entity, auto&&) {
            found.insert(entity);
            const DatabaseRow at = database_.find(entity);
            ASSERT_TRUE(blocks.contains({at.table, at.row / kRowsPerStampBlock}));
        });
        for (const Entity entity : written) ASSERT_TRUE(found.contains(entity));
        found.clear();
        told_hits_.changed_since(stamp_).for_each([&](Entity entity, std::uint32_t) { found.insert(entity); });
        for (const Entity entity : hit) ASSERT_TRUE(found.contains(entity));
        ASSERT_TRUE(any_hit || found.empty());
    }
    void settle() { database_.settle({nullptr, ++stamp_}); }

    /// What a run of any number of workers must come to.
    std::uint64_t sum() const {
        std::uint64_t result = 0;
        for (const auto& [entity, known] : known_)
            result = result * 31 + known.count.value_or(1) * std::uint64_t(7) + known.still.value_or(5);
        return result;
    }

private:
    void create() {
        std::vector<Entity> made(random_.below(most_created_) + 1);
        const Zone zone = random_.below(6);
        ++number_;
        if (random_.below(2) == 0) {
            ASSERT_TRUE(database_.create<Count>(made, zone, Count{number_}).ok());
            for (const Entity entity : made) known_[entity] = {zone, number_, {}, {}};
        } else {
            ASSERT_TRUE((database_.create<Count, Step, Still>(made, zone, Count{number_}, Step{2}, Still{5}).ok()));
            for (const Entity entity : made) known_[entity] = {zone, number_, 2, 5};
        }
    }
    /// Calls change(entity, known) for some neighbours.
    template <class Change>
    void each(Change&& change) {
        if (known_.empty()) return;
        auto at = known_.begin();
        std::advance(at, random_.below(static_cast<std::uint32_t>(known_.size())));
        ++number_;
        for (std::uint32_t i = random_.below(20); i > 0 && at != known_.end(); --i, ++at) change(at->first, at->second);
    }
    template <class T>
    void set(Entity entity, std::optional<std::uint32_t>& known, const T& value) {
        if (known) {
            EXPECT_TRUE(database_.remove<T>(entity).ok());
            known.reset();
        } else {
            EXPECT_TRUE(database_.add(entity, value).ok());
            known = value.value;
        }
    }
    void flip(Entity entity, Known& known) {
        if (known.still) {
            EXPECT_TRUE(database_.remove<Still>(entity).ok());
            known.still.reset();
        } else {
            EXPECT_TRUE(database_.add(entity, Still{number_}).ok());
            known.still = number_;
        }
    }
    void flip_rare(Entity entity, Known& known) {
        EXPECT_TRUE(known.is_rare ? database_.remove<Rare>(entity).ok() : database_.add(entity, Rare{}).ok());
        known.is_rare = !known.is_rare;
    }
    void flip_shy(Entity entity, Known& known) {
        EXPECT_TRUE(known.is_shy ? database_.remove<Shy>(entity).ok() : database_.add(entity, Shy{}).ok());
        known.is_shy = !known.is_shy;
    }
    void hit(Entity entity, Known& known) {
        if (known.hits.size() > 4) {
            EXPECT_TRUE(database_.remove<Hit>(entity).ok());
            return known.hits.clear();
        }
        EXPECT_TRUE(database_.add(entity, Hit{number_}).ok());
        known.hits.insert(known.hits.begin(), number_);
    }
    void flip_active(Entity entity, Known& known) {
        known.is_inactive = !known.is_inactive;
        entities_.inactive().set_by_itself(this, {&entity, 1}, known.is_inactive);
    }
    void move(Entity entity, Known& known) {
        known.zone = random_.below(6);
        EXPECT_TRUE(database_.move(entity, known.zone).ok());
    }
    void destroy() {
        std::vector<Entity> gone;
        each([&](Entity entity, Known&) { gone.push_back(entity); });
        for (const Entity entity : gone) known_.erase(entity);
        database_.destroy(gone);
    }

    const ZoneSet kSomeZones = {1, 3, 4};
    Random random_;
    std::uint32_t most_created_;
    EntityManager entities_;
    PagePool pool_;
    Database database_{entities_, pool_};
    std::map<Entity, Known> known_;
    std::uint32_t number_ = 0;
    std::uint64_t stamp_ = 1;
    shoal_test::MarkWatch marks_;
    // Made before anything is there, and kept.
    Query<From<Database>, Write<&Count::value>, Read<&Step::value>> moving_{database_};
    Query<From<Database>, Write<&Count::value>, Without<Still>> awake_{database_};
    Query<From<Database>, Write<&Count::value>, Write<&Still::since>, Without<Rare>, Maybe<&Step::value>> asleep_{
        database_};
    Query<From<Database>, With<Rare>, Read<&Count::value>, With<Still>> some_{database_};
    Query<From<Database>, Write<&Count::value>, Without<Still>, Without<Shy>> bold_{database_};
    Query<From<Database>, Read<&Step::way>> ways_{database_};
    Query<From<Database>, Write<&Hit::value>> hits_{database_};
    Query<From<Database>, Read<&Hit::value>> told_hits_{database_};
    Query<From<Database>, Read<&Hit::value>, Write<&Count::value>> counted_hits_{database_};
    LiveZones live_{{}};
    Query<From<Database>, With<Rare>, Read<&Count::value>, With<Still>> some_now_ = some_.in(live_);
    Query<From<Database>, Write<&Hit::value>> hits_now_ = hits_.in(live_);
};

// req: F5-F7
TEST(QueryOracle, visits_what_maps_say_after_every_change) {
    SCOPED_TRACE(shoal_test::seed_text());
    QueryOracle oracle(shoal_test::seed(), 90);
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(3'000); ++i) {
        oracle.change();
        if (i % 7 == 0) oracle.loop(nullptr);
        if (i % 50 == 0) oracle.settle();
        if (i % 11 == 0) oracle.compare();
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(QueryOracle, the_state_is_the_same_for_every_number_of_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    std::optional<std::uint64_t> expected;
    for (const unsigned num_workers : {1u, 2u, 3u, 8u}) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        QueryOracle oracle(shoal_test::seed() + 1, 3000);
        for (std::int64_t i = 0; i < std::max<std::int64_t>(shoal_test::scaled_operations(400), 100); ++i) {
            oracle.change();
            if (i % 10 == 9) oracle.loop(&executor);
            if (i % 100 == 50) oracle.compare();
            if (::testing::Test::HasFatalFailure()) return;
        }
        oracle.compare();
        if (!expected) expected = oracle.sum();
        EXPECT_EQ(oracle.sum(), *expected) << num_workers;
    }
}

// Cuts are made along whole cache lines and depend on numbers of rows only; small tables share a chunk.
// req: E12
TEST(QueryCuts, a_few_rows_behind_the_last_whole_chunk_are_a_chunk) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> made(3 * 64 + 5);
    ASSERT_TRUE(database.create<Count>(made, 0).ok());
    const DatabaseRow first = database.find(made[0]);
    detail::QueryCuts cuts;
    cuts.add({&first.table->table(), first.table, {0, first.table->num_rows()}});
    cuts.cut(64);
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t chunk = 0; chunk < cuts.num_chunks(); ++chunk)
        for (const detail::QueryPart& part : cuts.chunk(chunk)) sizes.push_back(part.rows.size());
    EXPECT_EQ(sizes, (std::vector<std::uint32_t>{64, 64, 64, 5}));
}

TEST(QueryCuts, chunks_begin_at_cache_lines_and_cover_every_row_once) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    Random random(shoal_test::seed());
    std::size_t num_rows = 0;
    for (Zone zone = 0; zone < 400; ++zone) {
        std::vector<Entity> made(random.below(20) == 0 ? random.below(20'000) + 1 : random.below(30) + 1);
        ASSERT_TRUE(database.create<Count>(made, zone).ok());
        num_rows += made.size();
    }
    detail::QueryCuts cuts;
    for (DatabaseTable* table : database.all_tables()) cuts.add({&table->table(), table, {0, table->num_rows()}});
    cuts.cut();
    EXPECT_LE(cuts.num_chunks(), 300u);
    EXPECT_GE(cuts.num_chunks(), num_rows / 8192);
    std::map<const DatabaseTable*, std::uint32_t> reached;
    std::uint32_t most_tables = 0;
    for (std::uint32_t chunk = 0; chunk < cuts.num_chunks(); ++chunk) {
        EXPECT_FALSE(cuts.chunk(chunk).empty());
        most_tables = std::max(most_tables, static_cast<std::uint32_t>(cuts.chunk(chunk).size()));
        for (const detail::QueryPart& part : cuts.chunk(chunk)) {
            EXPECT_EQ(part.rows.begin % 64, 0u);
            EXPECT_EQ(part.rows.begin, reached[part.of_database]);
            EXPECT_GT(part.rows.size(), 0u);
            reached[part.of_database] = part.rows.end;
        }
    }
    for (const DatabaseTable* table : database.all_tables()) EXPECT_EQ(reached[table], table->num_rows());
    EXPECT_GT(most_tables, 10u);
}

}  // namespace
