// Random questions about a world that changes at random, against maps.

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "sql_world.h"
#include "support/testing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace shoal {
namespace {

struct KnownFish {
    Zone zone = 0;
    std::int16_t age = 0;
    Entity friend_of{};
};
struct Known {
    std::optional<std::int32_t> mass;
    std::optional<KnownFish> fish;
    std::optional<bool> asleep;  ///< enabled
    std::vector<std::int32_t> wounds;
};
using Rows = std::multiset<std::string>;

class SqlOracle {
public:
    explicit SqlOracle(std::uint64_t seed) : random_(seed) {}

    void change() {
        switch (random_.below(8)) {
            case 0:
                return create();
            case 1:
                return destroy();
            case 2:
                return add_wound();
            case 3:
                return move();
            case 4:
                return sleep();
            case 5:
                return sea_.world.settle();
            case 6:
                return update();
            default:
                return create();
        }
    }
    void ask() {
        switch (random_.below(7)) {
            case 0:
                return ask_masses();
            case 1:
                return ask_join();
            case 2:
                return ask_zones();
            case 3:
                return ask_wounds();
            case 4:
                return ask_friends();
            case 5:
                return ask_one();
            default:
                return ask_asleep();
        }
    }

private:
    int below(int end) { return static_cast<int>(random_.below(static_cast<std::uint32_t>(end))); }
    Entity any() {
        if (known_.empty()) return kNullEntity;
        return std::next(known_.begin(), below(static_cast<int>(known_.size())))->first;
    }

    void create() {
        const Entity entity = sea_.make();
        Known& known = known_[entity];
        if (below(2) == 0) {
            known.mass = below(100);
            EXPECT_TRUE(sea_.world.manager<Body>().add(entity, {.mass = static_cast<float>(*known.mass)}));
        }
        if (below(2) == 0) {
            known.fish = {static_cast<Zone>(below(6)), static_cast<std::int16_t>(below(20)), any()};
            sea_.make_fish(entity, {.age = known.fish->age, .friend_of = known.fish->friend_of}, known.fish->zone);
        }
    }
    void destroy() {
        if (known_.empty()) return;
        const Entity entity = any();
        sea_.entities.destroy(entity);
        known_.erase(entity);
    }
    void add_wound() {
        if (known_.empty()) return;
        const Entity entity = any();
        known_[entity].wounds.push_back(below(10));
        EXPECT_TRUE(sea_.world.manager<Wound>().add(entity, {.depth = known_[entity].wounds.back()}));
    }
    void move() {
        const Entity entity = any();
        if (!entity || !known_[entity].fish) return;
        known_[entity].fish->zone = static_cast<Zone>(below(6));
        EXPECT_TRUE(sea_.world.database().move(entity, known_[entity].fish->zone));
    }
    void sleep() {
        const Entity entity = any();
        if (!entity || !known_[entity].fish) return;
        known_[entity].asleep = below(2) == 0;
        Database& database = sea_.world.database();
        EXPECT_TRUE(*known_[entity].asleep ? database.add(entity, Asleep{1}).ok()
                                           : database.add(entity, Disabled{Asleep{1}}).ok());
    }
    /// Sets masses, or fails in the middle and sets none.
    void update() {
        const int least = below(100), added = below(4) == 0 ? 950 : 1;
        bool fits = true;
        std::uint64_t count = 0;
        for (const auto& [entity, known] : known_)
            if (known.mass && *known.mass >= least) fits &= *known.mass + added <= 1000, ++count;
        const std::string done =
            sea_.updated(concat("UPDATE body SET mass = mass + ", added, " WHERE mass >= ", least));
        EXPECT_EQ(done.find("is from 0 to 1000") == std::string::npos, fits) << done;
        if (!fits) return;
        EXPECT_EQ(done, std::to_string(count));
        for (auto& [entity, known] : known_)
            if (known.mass && *known.mass >= least) *known.mass += added;
    }

    void expect(const std::string& question, const Rows& expected) {
        const Result<sql::Answer> answer = sea_.connection.ask(question);
        ASSERT_TRUE(answer) << question << ": " << answer.message();
        Rows found;
        for (std::size_t row = 0; row < answer->num_rows(); ++row) {
            std::string line;
            for (std::size_t i = 0; i < answer->num_columns(); ++i)
                line += concat(i == 0 ? "" : " ", answer->at(row, i).to_text());
            found.insert(line);
        }
        EXPECT_EQ(found, expected) << question;
    }
    template <class... Values>
    static void add(Rows& rows, Entity entity, const Values&... values) {
        std::string line = entity_text(entity);
        ((line += concat(' ', values)), ...);
        rows.insert(line);
    }

    void ask_masses() {
        const int least = below(100);
        Rows rows;
        for (const auto& [entity, known] : known_)
            if (known.mass && *known.mass > least) add(rows, entity, *known.mass);
        expect(concat("SELECT entity, mass FROM body WHERE mass > ", least), rows);
    }
    void ask_join() {
        Rows rows;
        for (const auto& [entity, known] : known_)
            if (known.mass && known.fish) add(rows, entity, *known.mass, known.fish->age);
        expect(below(2) == 0 ? "SELECT entity, mass, age FROM body JOIN fish USING (entity)"
                             : "SELECT entity, mass, age FROM fish NATURAL JOIN body",
               rows);
    }
    void ask_zones() {
        const char* const comparisons[] = {"=", "<", "<=", ">", ">="};
        const int which = below(5), zone = below(7) - 1, other = below(7);
        Rows rows;
        for (const auto& [entity, known] : known_) {
            if (!known.fish) continue;
            const int z = static_cast<int>(known.fish->zone);
            const bool holds[] = {z == zone, z<zone, z <= zone, z> zone, z >= zone};
            if (holds[which] && z != other) add(rows, entity, z);
        }
        // With a `+`, SQLite compares by itself.
        for (const char* plus : {"", "+"})
            expect(concat("SELECT entity, zone FROM fish WHERE ", plus, "zone ", comparisons[which], ' ', zone,
                          " AND zone <> ", other),
                   rows);
    }
    void ask_wounds() {
        const int depth = below(10);
        Rows rows;
        for (const auto& [entity, known] : known_) {
            const auto count =
                std::count_if(known.wounds.begin(), known.wounds.end(), [&](int d) { return d >= depth; });
            if (count != 0) add(rows, entity, count);
        }
        expect(concat("SELECT entity, count(*) FROM wound WHERE depth >= ", depth, " GROUP BY entity"), rows);
    }
    /// References to the dead find nobody.
    void ask_friends() {
        Rows rows;
        for (const auto& [entity, known] : known_) {
            if (!known.fish) continue;
            const auto found = known_.find(known.fish->friend_of);
            const bool has_mass = found != known_.end() && found->second.mass;
            add(rows, entity, has_mass ? std::to_string(*found->second.mass) : "");
        }
        expect("SELECT f.entity, b.mass FROM fish f LEFT JOIN body b ON b.entity = f.friend_of", rows);
    }
    void ask_one() {
        const Entity entity = any();
        Rows rows;
        if (entity) add(rows, entity, known_[entity].fish ? std::to_string(known_[entity].fish->zone) : "");
        expect(concat("SELECT entity, zone FROM entities WHERE entity = entity('", entity_text(entity), "')"), rows);
        Rows wounds;
        if (entity)
            for (const std::int32_t depth : known_[entity].wounds) add(wounds, entity, depth);
        expect(concat("SELECT entity, depth FROM wound WHERE entity = ", std::uint64_t(entity.id)), wounds);
    }
    void ask_asleep() {
        Rows rows;
        for (const auto& [entity, known] : known_)
            if (known.asleep.value_or(false)) add(rows, entity);
        expect("SELECT entity FROM fish WHERE entity IN (SELECT entity FROM asleep)", rows);
    }

    Random random_;
    SqlWorld sea_;
    std::map<Entity, Known> known_;
};

// req: H2
TEST(SqlOracle, random_questions_have_the_answers_of_a_naive_model) {
    SCOPED_TRACE(shoal_test::seed_text());
    SqlOracle oracle(shoal_test::seed());
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(6'000) && !::testing::Test::HasFailure(); ++i) {
        oracle.change();
        oracle.ask();
    }
}

}  // namespace
}  // namespace shoal
