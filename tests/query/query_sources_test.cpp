// One query, whatever its rows come from: the same terms visit the same entities in managers, in a database and in a
// join of both, and everything that a loop can do is done over all of them.

#include "shoal/base/random.h"
#include "shoal/command/commands.h"
#include "shoal/query/query.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/waiting_commands.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace {

using namespace shoal;

struct Red {
    std::uint32_t value = 0;
};
SHOAL_COMPONENT(Red, value)
struct Green {
    float weight = 1;
    std::uint32_t value = 0;
};
SHOAL_COMPONENT((Green, whole), weight, value)
struct Blue {
    std::uint32_t value = 0;
};
SHOAL_COMPONENT(Blue, value)
struct Here {};
SHOAL_COMPONENT(Here)

// --- against a model ---------------------------------------------------------------------------------------------

enum Source { kManagers, kDatabase, kJoin, kNumSources };
template <class T>
inline constexpr std::size_t kColour = std::is_same_v<T, Red>     ? 0
                                       : std::is_same_v<T, Green> ? 1
                                                                  : 2;

struct Known {
    Zone zone = 0;
    bool has[3] = {};
    std::uint32_t values[kNumSources][3] = {};
    bool is_new[kNumSources][3] = {};  // written since the last settle
};

/// The same entities three times: all components in managers, all in a database, and red in a database with green and
/// blue in managers.
class SourceOracle {
public:
    SourceOracle(std::uint64_t seed, std::uint32_t num_entities) : random_(seed) {
        for (Store* store : {static_cast<Store*>(&reds_.core()), static_cast<Store*>(&greens_.core()),
                             static_cast<Store*>(&blues_.core())})
            EXPECT_TRUE(directory_.add(*store).ok());
        create(num_entities);
    }

    void change() {
        switch (random_.below(8)) {
            case 0:
                return create(random_.below(30) + 1);
            case 1:
                return destroy();
            case 2:
                return settle();
            case 3:
                return flip_some<Red>(reds_, some_);
            case 4:
                return flip_some<Green>(greens_, far_greens_);
            default:
                return flip_some<Blue>(blues_, far_blues_);
        }
    }
    void run_some_query() {
        switch (random_.below(7)) {
            case 0:
                return run_all<Write<&Red::value>, Read<&Green::value>>();
            case 1:
                return run_all<Read<&Red::value>, With<Green>, Without<Blue>>();
            case 2:
                return run_all<Write<&Red::value>, Maybe<&Green::value>, With<Blue>>();
            case 3:
                return run_all<Read<&Red::value>, Write<&Green::value>, Write<&Blue::value>>();
            case 4:
                return run_all<With<Red>, Without<Green>, Write<&Red::value>>();
            case 5:
                return run_all<Write<&Blue::value>, Maybe<&Green::value>, With<Red>>();
            default:
                return run_all<Read<&Red::value>>();
        }
    }

private:
    template <class... Terms>
    void run_all() {
        run<Terms...>(kManagers, query<Terms...>(reds_, greens_, blues_), nullptr);
        const ZoneSet zones = {0, 2};
        const bool in_zones = random_.below(3) == 0;
        const auto of_database = query<Terms...>(all_);
        const auto joined = query<Terms...>(some_, far_greens_, far_blues_);
        run<Terms...>(kDatabase, in_zones ? of_database.in(zones) : of_database, in_zones ? &zones : nullptr);
        run<Terms...>(kJoin, in_zones ? joined.in(zones) : joined, in_zones ? &zones : nullptr);
    }
    template <class... Terms, class Query>
    void run(Source source, Query query, const ZoneSet* zones) {
        const std::uint32_t way = random_.below(6);
        if (random_.below(3) == 0) query = query.grain(1 + random_.below(300));
        bool since = random_.below(3) == 0;
        if constexpr ((kReads<Terms> || ...)) {
            if (since) query = query.changed_since(stamp_);
        } else {
            since = false;
        }
        SCOPED_TRACE(testing::Message() << "source " << source << ", way " << way << ", since " << since);
        visited_.clear();
        std::set<Entity> expected, needed;
        for (const auto& [entity, known] : known_) {
            if (!(fits<Terms>(known) && ...) || (zones != nullptr && !zones->contains(known.zone))) continue;
            expected.insert(entity);
            if (!since || (reads_news<Terms>(known, source) || ...)) needed.insert(entity);
        }
        visit_by<Terms...>(source, query, way);
        ASSERT_TRUE(std::includes(expected.begin(), expected.end(), visited_.begin(), visited_.end()));
        ASSERT_TRUE(std::includes(visited_.begin(), visited_.end(), needed.begin(), needed.end()));
    }
    template <class... Terms, class Query>
    void visit_by(Source source, const Query& query, std::uint32_t way) {
        auto visit = [&](Entity entity, auto&&... fields) { note<Terms...>(source, entity, fields...); };
        const auto visit_batch = [&](const auto& batch) { note_batch<Terms...>(source, batch); };
        switch (way) {
            case 0:
                return query.for_each(visit);
            case 1:
                return query.for_each(threads_, visit);
            case 2:
                return query.start(threads_, visit).wait();
            case 3:
                return query.for_each_batch(visit_batch);
            case 4:
                return query.for_each_batch(threads_, visit_batch);
            default:
                return query.for_each(threads_,
                                      [&](Commands&, Entity entity, auto&&... fields) { visit(entity, fields...); });
        }
    }

    template <class Term>
    static constexpr bool kReads = Term::kIsField && !Term::kIsOptional && !Term::kWrites;
    template <class Term>
    static bool fits(const Known& known) {
        return Term::kIsOptional || known.has[kColour<typename Term::Component>] != Term::kExcludes;
    }
    template <class Term>
    static bool reads_news(const Known& known, Source source) {
        return kReads<Term> && known.is_new[source][kColour<typename Term::Component>];
    }

    /// What a function sees of an entity and does to it.
    template <class... Terms, class... Fields>
    void note(Source source, Entity entity, Fields&... fields) {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(visited_.insert(entity).second);
        note_fields(source, known_.at(entity), FieldsOf<Terms...>(), fields...);
    }
    template <class... Terms>
    using FieldsOf = detail::FieldTerms<Terms...>;
    template <class... Terms, class... Fields>
    void note_fields(Source source, Known& known, detail::TermList<Terms...>, Fields&... fields) {
        (note_field<Terms>(source, known, fields), ...);
    }
    template <class Term, class Field>
    void note_field(Source source, Known& known, Field& field) {
        constexpr std::size_t kIts = kColour<typename Term::Component>;
        std::uint32_t& value = known.values[source][kIts];
        if constexpr (Term::kIsOptional) {
            const std::uint32_t* const found = field;
            EXPECT_EQ(found != nullptr, known.has[kIts]);
            EXPECT_TRUE(found == nullptr || *found == value);
        } else {
            EXPECT_EQ(field, value);
        }
        if constexpr (Term::kWrites) {
            field = value = value * 3 + 1;
            known.is_new[source][kIts] = true;
        }
    }
    template <class... Terms, class Batch>
    void note_batch(Source source, const Batch& batch) {
        for (std::uint32_t row = 0; row < batch.num_rows(); ++row) {
            const std::lock_guard lock(mutex_);
            const Entity entity = batch.entities()[row];
            EXPECT_TRUE(visited_.insert(entity).second);
            (note_element<Terms>(source, known_.at(entity), batch, row), ...);
        }
    }
    template <class Term, class Batch>
    void note_element(Source source, Known& known, const Batch& batch, std::uint32_t row) {
        if constexpr (Term::kIsField && !Term::kIsOptional)
            note_field<Term>(source, known, batch.template column<Term::kMember>()[row]);
    }

    // --- changes, three times ------------------------------------------------------------------------------------

    void create(std::uint32_t count) {
        std::vector<Entity> made(count);
        const Zone zone = random_.below(4);
        const bool has_red = random_.below(4) != 0;
        ASSERT_TRUE(entities_.create(made).ok());
        ASSERT_TRUE(all_.insert<Here>(made, zone, std::vector<Here>(count)).ok());
        ASSERT_TRUE(some_.insert<Here>(made, zone, std::vector<Here>(count)).ok());
        for (const Entity entity : made) known_[entity].zone = zone;
        if (has_red) flip<Red>(reds_, some_, made);
        flip<Green>(greens_, far_greens_, std::span(made).first(count / 2));
        flip<Blue>(blues_, far_blues_, std::span(made).last(count * 2 / 3));
    }
    template <class T, class Far>
    void flip_some(Manager<T>& near, Far& far) {
        flip<T>(near, far, some_entities());
    }
    /// Gives all of these a component, or takes it from them if the first has it. `far` is its store in the join.
    template <class T, class Far>
    void flip(Manager<T>& near, Far& far, std::span<const Entity> which) {
        if (which.empty()) return;
        const bool adds = !known_.at(which[0]).has[kColour<T>];
        T value;
        value.value = ++number_;
        if (adds)
            ASSERT_TRUE(near.add(which, value).ok() && all_.add(which, value).ok() && far.add(which, value).ok());
        else
            near.remove(which), static_cast<void>(all_.remove<T>(which)), remove_from<T>(far, which);
        for (const Entity entity : which) {
            Known& known = known_.at(entity);
            known.has[kColour<T>] = adds;
            for (int source = 0; source < kNumSources; ++source)
                known.values[source][kColour<T>] = number_, known.is_new[source][kColour<T>] = adds;
        }
    }
    template <class T>
    static void remove_from(Database& database, std::span<const Entity> which) {
        ASSERT_TRUE(database.remove<T>(which).ok());
    }
    template <class T>
    static void remove_from(Manager<T>& manager, std::span<const Entity> which) {
        manager.remove(which);
    }
    std::vector<Entity> some_entities() {
        std::vector<Entity> result;
        if (known_.empty()) return result;
        auto at = known_.begin();
        std::advance(at, random_.below(static_cast<std::uint32_t>(known_.size())));
        for (std::uint32_t i = random_.below(40); i > 0 && at != known_.end(); --i, ++at) result.push_back(at->first);
        return result;
    }
    void destroy() {
        const std::vector<Entity> gone = some_entities();
        for (const Entity entity : gone) known_.erase(entity);
        entities_.destroy(gone);
        settle();
    }
    void settle() {
        ++stamp_;
        for (Store* store :
             {static_cast<Store*>(&reds_.core()), static_cast<Store*>(&greens_.core()),
              static_cast<Store*>(&blues_.core()), static_cast<Store*>(&far_greens_.core()),
              static_cast<Store*>(&far_blues_.core()), static_cast<Store*>(&all_), static_cast<Store*>(&some_)})
            store->settle({nullptr, stamp_});
        for (auto& [entity, known] : known_)
            for (auto& is_new : known.is_new) std::fill(std::begin(is_new), std::end(is_new), false);
    }

    Random random_;
    EntityManager entities_;
    PagePool pool_;
    ComponentDirectory directory_{entities_};  // of the first three managers
    Manager<Red> reds_{entities_, pool_};
    Manager<Green> greens_{entities_, pool_}, far_greens_{entities_, pool_};
    Manager<Blue> blues_{entities_, pool_}, far_blues_{entities_, pool_};
    Database all_{entities_, pool_}, some_{entities_, pool_};
    shoal_test::ThreadPoolExecutor threads_{3};
    std::map<Entity, Known> known_;
    std::mutex mutex_;
    std::set<Entity> visited_;
    std::uint32_t number_ = 0;
    std::uint64_t stamp_ = 1;
};

// req: E9-E11 F5-F7
TEST(QuerySources, the_same_terms_visit_the_same_entities_whatever_the_rows_come_from) {
    SCOPED_TRACE(shoal_test::seed_text());
    SourceOracle few(shoal_test::seed(), 300), many(shoal_test::seed() + 1, 12'000);
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(1'500); ++i) {
        SourceOracle& oracle = i % 100 == 0 ? many : few;
        oracle.change();
        oracle.run_some_query();
        if (testing::Test::HasFailure()) return;
    }
}

// --- one by one --------------------------------------------------------------------------------------------------

class Sources : public ::testing::Test {
protected:
    /// Entities with a red of their number; green ones get their number too, in the order of `green`.
    void fill(std::uint32_t count, const std::vector<std::uint32_t>& green) {
        sea.resize(count);
        ASSERT_TRUE(entities.create(sea).ok());
        ASSERT_TRUE(reds.add(sea).ok());
        for (std::uint32_t i = 0; i < count; ++i) reds.set<&Red::value>(reds.instance(sea[i]), i);
        for (const std::uint32_t i : green) ASSERT_TRUE(greens.add(sea[i], {.value = i}).ok());
    }
    void settle(std::uint64_t stamp) {
        reds.core().settle({nullptr, stamp});
        greens.core().settle({nullptr, stamp});
        database.settle({nullptr, stamp});
    }
    std::uint32_t red(std::uint32_t i) { return reds.get<&Red::value>(reds.instance(sea[i])); }
    static std::vector<std::uint32_t> numbers(std::uint32_t begin, std::uint32_t end) {
        std::vector<std::uint32_t> result;
        for (; begin < end; ++begin) result.push_back(begin);
        return result;
    }
    std::uint64_t red_stamp(std::uint32_t row) { return reds.core().table().written_stamp(0, row / 1024); }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    Manager<Red> reds{entities, pool};
    Manager<Green> greens{entities, pool};
    std::vector<Entity> sea;
    SerialExecutor executor;
};

// req: F5
TEST_F(Sources, managers_are_joined_without_a_database_and_the_smaller_drives) {
    fill(500, numbers(100, 130));
    const auto both = query<Write<&Red::value>, Read<&Green::value>>(reds, greens);
    EXPECT_EQ(&both.driver(), &greens.core());
    EXPECT_EQ(both.num_rows(), 30u);
    std::set<Entity> visited;
    both.for_each([&](Entity entity, std::uint32_t& red_value, std::uint32_t green_value) {
        EXPECT_TRUE(visited.insert(entity).second);
        EXPECT_EQ(red_value, green_value);
        red_value += 1000;
    });
    EXPECT_EQ(visited, std::set<Entity>(sea.begin() + 100, sea.begin() + 130));
    EXPECT_EQ(red(99), 99u);
    EXPECT_EQ(red(129), 1129u);
}

TEST_F(Sources, with_and_without_choose_rows_of_a_manager_by_another_and_holes_are_no_rows) {
    Manager<Blue> holes(entities, pool, {.index = RowIndexKind::kIdentity});
    fill(100, numbers(20, 40));
    ASSERT_TRUE(holes.add(std::span(sea).first(60)).ok());
    holes.remove(std::span(sea).first(10));
    std::set<std::uint32_t> visited;
    const auto visit = [&](std::uint32_t value) { EXPECT_TRUE(visited.insert(value).second); };
    query<Read<&Red::value>, With<Green>>(reds, greens).for_each(visit);
    EXPECT_EQ(visited.size(), 20u);
    EXPECT_EQ(*visited.begin(), 20u);
    visited.clear();
    query<Read<&Red::value>, With<Green>, Without<Blue>>(reds, greens, holes).for_each(visit);
    EXPECT_EQ(visited.size(), 0u);
    std::size_t num_blue = 0;
    query<Read<&Blue::value>, Without<Green>>(holes, greens).for_each([&](std::uint32_t) { ++num_blue; });
    EXPECT_EQ(num_blue, 30u) << "60 less 10 holes, less 20 that are green";
}

TEST_F(Sources, a_batch_of_a_manager_is_its_columns) {
    fill(10'000, numbers(0, 3));
    std::uint64_t sum = 0;
    std::size_t num_batches = 0;
    const auto add = [&](auto&& batch) {
        const auto values = batch.template column<&Red::value>();
        ASSERT_EQ(values.size(), batch.num_rows());
        for (std::uint32_t row = 0; row < batch.num_rows(); ++row) {
            EXPECT_EQ(batch.entities()[row], sea[values[row]]);
            sum += values[row];
        }
        EXPECT_EQ(batch.rows_of_word(0), ~std::uint64_t(0));
        EXPECT_EQ(&batch.table(), &reds.core().table());
        ++num_batches;
    };
    query<Write<&Red::value>>(reds).for_each_batch(add);
    EXPECT_EQ(num_batches, 1u);
    EXPECT_EQ(sum, 49'995'000u);
    query<Write<&Red::value>>(reds).for_each_batch(executor, add);
    EXPECT_GT(num_batches, 2u);
    EXPECT_EQ(sum, 2u * 49'995'000u);
}

TEST_F(Sources, a_batch_of_a_join_is_rows_that_follow_each_other_in_every_store) {
    std::vector<std::uint32_t> green = numbers(300, 340);
    const std::vector<std::uint32_t> behind = numbers(100, 110);
    green.insert(green.end(), behind.begin(), behind.end());
    green.insert(green.end(), {7, 5, 6});
    fill(400, green);
    settle(9);
    std::vector<std::uint32_t> sizes;
    query<Write<&Red::value>, Read<&Green::value>>(reds, greens).for_each_batch([&](auto&& batch) {
        const auto red_values = batch.template column<&Red::value>();
        const auto green_values = batch.template column<&Green::value>();
        ASSERT_EQ(red_values.size(), batch.num_rows());
        ASSERT_EQ(green_values.size(), batch.num_rows());
        for (std::uint32_t row = 0; row < batch.num_rows(); ++row) {
            EXPECT_EQ(red_values[row], green_values[row]);
            EXPECT_EQ(batch.entities()[row], sea[red_values[row]]);
            red_values[row] += 1000;
        }
        sizes.push_back(batch.num_rows());
    });
    EXPECT_EQ(sizes, (std::vector<std::uint32_t>{40, 10, 1, 2}));
    EXPECT_EQ(red(305), 1305u);
    EXPECT_EQ(red(7), 1007u);
    EXPECT_EQ(red(8), 8u);
    EXPECT_EQ(red_stamp(305), 9u);
}

TEST_F(Sources, a_batch_of_a_join_with_a_database_has_its_zone_and_lacks_what_its_rows_lack) {
    fill(60, {});
    for (const Zone zone : {0, 1, 2}) {
        const std::span<const Entity> part = std::span<const Entity>(sea).subspan(zone * 20, 20);
        ASSERT_TRUE(database.insert<Here>(part, zone, std::vector<Here>(20)).ok());
    }
    ASSERT_TRUE(database.add(std::span(sea).subspan(30, 10), Blue{8}).ok());
    std::map<Zone, std::uint32_t> rows_of_zone;
    std::uint32_t num_blue = 0;
    query<Read<&Red::value>, Maybe<&Blue::value>, With<Here>>(database, reds)
        .in({1, 2})
        .for_each_batch([&](auto&& batch) {
            rows_of_zone[batch.zone()] += batch.num_rows();
            const auto blues = batch.template column<&Blue::value>();
            EXPECT_TRUE(blues.size() == 0 || blues.size() == batch.num_rows());
            for (std::size_t row = 0; row < blues.size(); ++row) EXPECT_EQ(blues[row], 8u);
            num_blue += static_cast<std::uint32_t>(blues.size());
            EXPECT_EQ(batch.template column<&Red::value>().size(), batch.num_rows());
        });
    EXPECT_EQ(rows_of_zone, (std::map<Zone, std::uint32_t>{{1, 20}, {2, 20}}));
    EXPECT_EQ(num_blue, 10u);
}

TEST_F(Sources, loops_over_managers_and_joins_are_started_and_waited_for) {
    fill(20'000, numbers(0, 15'000));
    settle(5);
    auto add = [](std::uint32_t& value) { value += 1; };
    auto add_green = [](std::uint32_t& value, std::uint32_t green) { value += green; };
    const auto all = query<Write<&Red::value>>(reds);
    const auto joined = query<Write<&Red::value>, Read<&Green::value>>(reds, greens);
    shoal_test::ThreadPoolExecutor threads(3);
    for (Executor* each : {static_cast<Executor*>(&executor), static_cast<Executor*>(&threads)}) {
        auto run = all.start(*each, add);
        run.wait();
        run.wait();
        auto another = joined.start(*each, add_green);
    }
    EXPECT_EQ(red_stamp(19'999), 5u);
    EXPECT_EQ(red(14'999), 3u * 14'999 + 2);
    EXPECT_EQ(red(15'000), 15'002u);
    settle(6);
    {
        auto run = all.start(executor, add);
        EXPECT_EQ(red_stamp(0), 5u) << "marked when it is waited for";
    }
    EXPECT_EQ(red_stamp(0), 6u);
}

TEST_F(Sources, changed_since_finds_the_blocks_of_a_manager) {
    fill(5000, {});
    settle(5);
    const auto since = [&](std::uint64_t stamp) {
        std::set<std::uint32_t> blocks;
        query<Read<&Red::value>>(reds).changed_since(stamp).for_each(
            [&](Entity entity, std::uint32_t) { blocks.insert(reds.instance(entity).row / 1024); });
        return blocks;
    };
    EXPECT_EQ(since(5), std::set<std::uint32_t>());
    EXPECT_EQ(since(0).size(), 5u) << "0 stands for all rows";
    reds.set<&Red::value>(reds.instance(sea[2000]), 1);
    reds.set<&Red::value>(reds.instance(sea[4999]), 1);
    EXPECT_EQ(since(5), (std::set<std::uint32_t>{1, 4}));
    std::size_t num_rows = 0;
    query<Read<&Red::value>>(reds).changed_since(5).for_each_batch(executor,
                                                                   [&](auto&& batch) { num_rows += batch.num_rows(); });
    EXPECT_EQ(num_rows, 1024u + 904u);
}

TEST_F(Sources, changed_since_of_a_join_visits_what_any_of_its_stores_says) {
    fill(5000, {});
    for (std::uint32_t i = 5000; i-- > 0;) ASSERT_TRUE(greens.add(sea[i], {.value = i}).ok());
    settle(5);
    const auto since = [&](std::uint64_t stamp) {
        std::set<Entity> result;
        query<Read<&Red::value>, Read<&Green::value>>(reds, greens)
            .changed_since(stamp)
            .for_each([&](Entity entity, std::uint32_t, std::uint32_t) { result.insert(entity); });
        return result;
    };
    EXPECT_EQ(since(5).size(), 0u);
    reds.set<&Red::value>(reds.instance(sea[0]), 1);        // rows 0 to 1023 of the reds
    greens.set<&Green::value>(greens.instance(sea[0]), 1);  // the last rows of the greens
    EXPECT_EQ(since(5), std::set<Entity>(sea.begin(), sea.begin() + 1024));
    greens.set<&Green::value>(greens.instance(sea[4999]), 1);  // the first 1024 rows of the greens
    std::set<Entity> expected(sea.begin(), sea.begin() + 1024);
    expected.insert(sea.end() - 1024, sea.end());
    EXPECT_EQ(since(5), expected);
}

/// More columns than a loop remembers the stamps of.
struct Nine {
    std::uint32_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0;
};
SHOAL_COMPONENT(Nine, a, b, c, d, e, f, g, h, i)

TEST_F(Sources, changed_since_of_a_join_looks_at_each_of_many_columns) {
    fill(100, {});
    Manager<Nine> nines(entities, pool);
    ASSERT_TRUE(nines.add(sea));
    std::uint64_t stamp = 5;
    const auto num_changed = [&](auto write) {
        settle(++stamp);
        nines.core().settle({nullptr, stamp});
        write();
        std::size_t count = 0;
        query<Read<&Nine::a>, Read<&Nine::i>, Read<&Red::value>>(nines, reds)
            .changed_since(stamp)
            .for_each([&](std::uint32_t, std::uint32_t, std::uint32_t) { ++count; });
        return count;
    };
    EXPECT_EQ(num_changed([] {}), 0u);
    EXPECT_EQ(num_changed([&] { nines.set<&Nine::a>(nines.instance(sea[3]), 1); }), 100u);
    EXPECT_EQ(num_changed([&] { nines.set<&Nine::i>(nines.instance(sea[3]), 1); }), 100u);
    EXPECT_EQ(num_changed([&] { nines.set<&Nine::b>(nines.instance(sea[3]), 1); }), 0u) << "it is not read";
    EXPECT_EQ(num_changed([&] { reds.set<&Red::value>(reds.instance(sea[3]), 1); }), 100u);
}

TEST_F(Sources, loops_over_joined_managers_ask_the_directory_that_these_are_in_for_changes) {
    fill(100, numbers(50, 60));
    ComponentDirectory directory(entities);
    ASSERT_TRUE(directory.add(reds.core()).ok());
    ASSERT_TRUE(directory.add(greens.core()).ok());
    const auto both = query<Read<&Red::value>, With<Green>>(reds, greens);
    both.for_each([](Commands& commands, Entity self, std::uint32_t value) {
        if (value < 55) commands.destroy(self);
    });
    both.for_each_batch(executor, [](Commands& commands, auto&& batch) { commands.destroy(batch.entities()); });
    SettleCounts counts;
    WaitingCommands::of_directory(directory).apply(&counts);
    EXPECT_EQ(counts.num_destroyed, 10u);
    EXPECT_EQ(entities.num_alive(), 90u);
}

TEST_F(Sources, commands_of_a_loop_over_managers_need_a_directory) {
    fill(10, {});
    EXPECT_DEATH(query<Read<&Red::value>>(reds).for_each([](Commands&, std::uint32_t) {}),
                 "add them to a ComponentDirectory");
}

// --- chunks ------------------------------------------------------------------------------------------------------

template <class Query>
std::vector<std::size_t> sizes_of_batches(const Query& query, unsigned num_workers) {
    shoal_test::ThreadPoolExecutor executor(num_workers);
    std::mutex mutex;
    std::vector<std::size_t> sizes;
    query.for_each_batch(executor, [&](const auto& batch) {
        const std::lock_guard lock(mutex);
        sizes.push_back(batch.entities().size());
    });
    std::sort(sizes.begin(), sizes.end());
    return sizes;
}

// req: E12
TEST(QueryGrain, cuts_small_loops_the_same_way_for_every_number_of_workers) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    Manager<Green> greens(entities, pool);
    std::vector<Entity> made(3000);
    ASSERT_TRUE(database.create<Red>(made, 0).ok());
    ASSERT_TRUE(greens.add(made).ok());
    for (const unsigned num_workers : {1u, 2u, 8u}) {
        const auto of_managers = query<Write<&Green::value>>(greens);
        EXPECT_EQ(sizes_of_batches(of_managers, num_workers).size(), 1u);
        const std::vector<std::size_t> thirds = {952, 1024, 1024};
        EXPECT_EQ(sizes_of_batches(of_managers.grain(1000), num_workers), thirds) << "cuts are at multiples of 64";
        EXPECT_EQ(sizes_of_batches(query<Write<&Red::value>>(database).grain(1024), num_workers), thirds);
        EXPECT_EQ(
            sizes_of_batches(query<Write<&Red::value>, Read<&Green::value>>(database, greens).grain(1024), num_workers),
            thirds);
        EXPECT_EQ(sizes_of_batches(of_managers.grain(1), num_workers).size(), 47u);
    }
}

}  // namespace
