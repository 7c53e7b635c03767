// Random commands, asked for by passes that several workers run, against a naive model: lists of what was asked for,
// and for each entity a map from component type to values. Ids are foretold by a second entity manager.

#include "shoal/command/commands.h"
#include "shoal/query/query.h"
#include "support/database_oracle.h"
#include "support/mark_watch.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using namespace shoal_test;

constexpr std::uint32_t kNumZones = 3, kNumWorkers = 3;

enum class Kind { kDestroy, kCreate, kMove, kAdd, kRemove, kSet };

struct Asked {
    // When: the pass, where its row was, and what came before in the row.
    std::uint32_t pass, table, row, number;  // `table`: its place in the loop
    std::uint64_t chunk;
    Kind kind;
    Entity subject;
    Zone zone = 0;
    std::uint32_t components = 0;  // a bit each
    std::uint32_t value = 0;
    Entity target{};  // in Body
    bool sets_target = false;
};

struct Value {
    std::uint32_t number = 0;
    Entity target;
};
struct Model {
    bool has_row = false;
    Zone zone = 0;
    std::map<std::size_t, std::vector<Value>> components;  // the last that was added first
};

template <class Visit>
void for_each_component(std::uint32_t components, Visit&& visit) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((components >> I & 1 ? void(visit.template operator()<I>()) : void()), ...);
    }(std::make_index_sequence<kNumComponents>());
}

template <std::size_t I>
Nth<I> value_of(std::uint32_t number, Entity target) {
    Nth<I> result = make_of(std::type_identity<Nth<I>>(), number);
    if constexpr (std::is_same_v<Nth<I>, Body>) result.target = target;
    return result;
}

/// Component types of which commands set a field, by their places: position, velocity, mass, asleep, and body twice.
constexpr std::array<std::uint32_t, 6> kSet = {0, 1, 2, 4, 6, 6};

/// Every pair of component types that a command names: types are for the compiler to know.
template <class Call>
void with_pair(std::uint32_t a, std::uint32_t b, Call&& call) {
    for_each_component(1u << a, [&]<std::size_t kA>() {
        for_each_component(1u << b, [&]<std::size_t kB>() { call.template operator()<kA, kB>(); });
    });
}

class CommandOracle : public testing::Test, protected DatabaseFixture {
protected:
    CommandOracle() : asked(kNumWorkers), stash(kNumWorkers), executor(kNumWorkers) {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (types.push_back(database.component<Nth<I>>()), ...);
        }(std::make_index_sequence<kNumComponents>());
    }

    // --- asking ----------------------------------------------------------------------------------------------------

    /// What a row asks for in a pass: anything, or nothing.
    void ask(Commands& commands, Entity self, std::uint32_t pass) {
        const DatabaseRow at = database.find(self);
        Random random(seed() ^ (std::uint64_t(self.id) << 32 | list << 8 | pass));
        const std::uint32_t worker = executor.current_worker();
        const std::uint64_t chunk = std::uint64_t(pass) << 32 | WorkScope::place().steps[0].chunk;
        Stash& kept = stash[worker];
        if (kept.chunk != chunk) kept = {chunk, {}, kept.pending};
        const std::uint32_t one_in = asks_little ? 100 : 3;
        for (std::uint32_t number = 0; number < 3 && random.below(number == 0 ? one_in : 3) == 0; ++number) {
            Asked command{
                pass, place_of_table.at(at.table->number()), at.row, number, chunk, Kind(random.below(11) % 6), self};
            if (random.below(4) == 0) command.subject = others[random.below(std::uint32_t(others.size()))];
            if (random.below(6) == 0 && kept.pending) command.subject = kept.pending;
            if (random.below(50) == 0 && kept.foreign) command.subject = kept.foreign;
            command.zone = random.below(kNumZones);
            command.value = random.below(kMaxNumber);
            command.target = random.below(2) == 0 ? self : random.below(8) == 0 ? kept.foreign : kept.pending;
            give(commands, command, random.below(kNumComponents), random.below(kNumComponents));
            if (command.kind == Kind::kCreate) kept.pending = command.subject;
            asked[worker].push_back(command);
        }
    }
    void give(Commands& commands, Asked& command, std::uint32_t a, std::uint32_t b) const {
        if (command.kind == Kind::kDestroy) return commands.destroy(command.subject);
        if (command.kind == Kind::kMove) return commands.move(command.subject, command.zone);
        if (command.kind == Kind::kSet) return give_set(commands, command, a % kSet.size());
        if (a == b) b = (a + 1) % kNumComponents;
        command.components = 1u << a | 1u << b;
        with_pair(a, b, [&]<std::size_t kA, std::size_t kB>() {
            const auto first = value_of<kA>(command.value, command.target);
            const auto second = value_of<kB>(command.value, command.target);
            if (command.kind == Kind::kCreate) command.subject = commands.create(command.zone, first, second);
            if (command.kind == Kind::kAdd) commands.add(command.subject, first, second);
            if (command.kind == Kind::kRemove) commands.remove<Nth<kA>, Nth<kB>>(command.subject);
        });
    }
    void give_set(Commands& commands, Asked& command, std::uint32_t which) const {
        const auto number = float(command.value);
        command.components = 1u << kSet[which];
        command.sets_target = which == 5;
        if (which == 0) commands.set<&Position::value>(command.subject, {number, 1, 2});
        if (which == 1) commands.set<&Velocity::value>(command.subject, {3, number, 4});
        if (which == 2) commands.set<&Mass::value>(command.subject, number);
        if (which == 3) commands.set<&Asleep::since>(command.subject, command.value);
        if (which == 4) commands.set<&Body::energy>(command.subject, number);
        if (which == 5) commands.set<&Body::target>(command.subject, command.target);
    }
    void run_passes() {
        others.assign(1, kNullEntity);
        for (const auto& [id, model] : models) others.push_back({id});
        for (std::size_t i = 0; i < 50 && !dead.empty(); ++i) others.push_back(dead[dead.size() - 1 - i % dead.size()]);
        std::sort(others.begin(), others.end());
        std::uint32_t pass = 0;
        const auto run = [&](const auto& rows) {
            ++pass;
            place_of_table.clear();
            rows.for_each_batch([&](const auto& batch) {
                place_of_table.emplace(batch.table().number(), std::uint32_t(place_of_table.size()));
            });
            const WorkScope scope(pass);
            rows.for_each(executor,
                          [&](Commands& commands, Entity self, const auto&...) { ask(commands, self, pass); });
        };
        run(query<With<Position>>(database));
        run(query<Without<Hungry>>(database));
        run(query<Read<&Mass::value>>(database).in({0, 1}));
        run(query<Maybe<&Title::number>>(database));
    }

    // --- the rules -------------------------------------------------------------------------------------------------

    void settle_model() {
        std::vector<Asked> list;
        for (std::vector<Asked>& some : asked) {
            list.insert(list.end(), some.begin(), some.end());
            some.clear();
        }
        num_asked += std::int64_t(list.size());
        std::sort(list.begin(), list.end(), [](const Asked& a, const Asked& b) {
            return std::tie(a.pass, a.table, a.row, a.number) < std::tie(b.pass, b.table, b.row, b.number);
        });
        expected = {};
        made.clear();
        destroy(list);
        create(list);
        move(list);
        change(list);
        set(list);
    }
    void destroy(const std::vector<Asked>& list) {
        for (const Asked& command : list)
            if (command.kind == Kind::kCreate) made[command.subject.id] = {command.chunk, kNullEntity, false};
        std::vector<Entity> doomed;
        for (const Asked& command : list) {
            if (command.kind != Kind::kDestroy) continue;
            if (is_pending(command.subject)) {
                const auto found = made.find(command.subject.id);
                const bool counts = found != made.end() && found->second.chunk == command.chunk && !found->second.gone;
                if (counts) found->second.gone = true;
                expected.num_dropped += !counts;
            } else if (models.erase(command.subject.id) != 0) {
                doomed.push_back(command.subject);
            } else {
                ++expected.num_dropped;
            }
        }
        expected.num_destroyed = doomed.size();
        dead.insert(dead.end(), doomed.begin(), doomed.end());
        twin.destroy(doomed);
    }
    void create(const std::vector<Asked>& list) {
        for (const Asked& command : list) {
            if (command.kind != Kind::kCreate || made[command.subject.id].gone) continue;
            made[command.subject.id].entity = *twin.create();
            ++expected.num_created;
        }
        for (const Asked& command : list) {
            const Entity entity = command.kind == Kind::kCreate ? made[command.subject.id].entity : kNullEntity;
            if (!entity) continue;
            Model& model = models[entity.id] = {true, command.zone, {}};
            for (std::size_t c = 0; c < kNumComponents; ++c)
                if (command.components >> c & 1) model.components[c] = {value(command)};
        }
    }
    void move(const std::vector<Asked>& list) {
        std::map<EntityBits, Zone> last;
        for (const Asked& command : list)
            if (command.kind == Kind::kMove && living(command))
                last[resolve(command, command.subject).id] = command.zone;
        for (const auto& [id, zone] : last) {
            Model& model = models[id];
            expected.num_moved += model.has_row && model.zone != zone;
            if (model.has_row) model.zone = zone;
        }
    }
    void change(const std::vector<Asked>& list) {
        // Of each component type, the last command counts; of a `many` type, all that add values after the last that
        // removes them.
        std::map<EntityBits, std::map<std::size_t, std::vector<const Asked*>>> last;
        for (const Asked& command : list) {
            if ((command.kind != Kind::kAdd && command.kind != Kind::kRemove) || !living(command)) continue;
            for (std::size_t c = 0; c < kNumComponents; ++c)
                if (command.components >> c & 1) {
                    std::vector<const Asked*>& commands = last[resolve(command, command.subject).id][c];
                    if (!kSeveral[c] || command.kind == Kind::kRemove) commands.clear();
                    commands.push_back(&command);
                }
        }
        for (const auto& [id, commands] : last) {
            Model& model = models[id];
            bool changes = false;
            for (const auto& [c, several] : commands)
                for (const Asked* command : several) changes |= change(model, c, *command);
            expected.num_moved += changes;
        }
    }
    /// Does what one command says about one component type, and returns whether that changes what the entity has.
    bool change(Model& model, std::size_t c, const Asked& command) {
        if (command.kind == Kind::kRemove) return model.components.erase(c) != 0;
        std::vector<Value>& values = model.components[c];
        const bool changes = values.empty() || kSeveral[c];
        if (!kSeveral[c]) values.clear();
        values.insert(values.begin(), value(command));
        model.has_row = true;
        return changes;
    }
    /// Sets fields that no later command gives or takes with the component.
    void set(const std::vector<Asked>& list) {
        std::map<std::pair<EntityBits, std::size_t>, std::size_t> changed;  // when, at last
        for (std::size_t i = 0; i < list.size(); ++i)
            for (std::size_t c = 0; c < kNumComponents; ++c)
                if ((list[i].kind == Kind::kAdd || list[i].kind == Kind::kRemove) && (list[i].components >> c & 1) != 0)
                    changed[{resolve(list[i], list[i].subject).id, c}] = i;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Asked& command = list[i];
            if (command.kind != Kind::kSet || !living(command)) continue;
            const EntityBits id = resolve(command, command.subject).id;
            const auto component = std::size_t(std::countr_zero(command.components));
            const auto later = changed.find({id, component});
            if (later != changed.end() && later->second > i) continue;
            const auto found = models[id].components.find(component);
            expected.num_dropped += found == models[id].components.end();
            if (found != models[id].components.end()) set(found->second[0], command);
        }
    }
    void set(Value& value, const Asked& command) {
        if (command.sets_target)
            value.target = resolve(command, command.target);
        else
            value.number = command.value;
    }
    Value value(const Asked& command) { return {command.value, resolve(command, command.target)}; }
    Entity resolve(const Asked& command, Entity entity) {
        if (!is_pending(entity)) return entity;
        const auto found = made.find(entity.id);
        return found == made.end() || found->second.chunk != command.chunk ? kNullEntity : found->second.entity;
    }
    bool living(const Asked& command) {
        const bool lives = models.contains(resolve(command, command.subject).id);
        expected.num_dropped += !lives;
        return lives;
    }

    // --- comparing -------------------------------------------------------------------------------------------------

    void compare(const SettleCounts& counts) {
        EXPECT_EQ(counts.num_created, expected.num_created);
        EXPECT_EQ(counts.num_destroyed, expected.num_destroyed);
        EXPECT_EQ(counts.num_moved, expected.num_moved);
        EXPECT_EQ(counts.num_dropped, expected.num_dropped);
        EXPECT_EQ(entities.num_alive(), models.size());
    }
    // --- marks -----------------------------------------------------------------------------------------------------

    /// Which enableable component types a row has, a bit each.
    std::uint32_t enabled_bits(DatabaseRow at) const {
        std::uint32_t on = 0;
        for (std::size_t c = 0; c < kNumComponents; ++c)
            on |= std::uint32_t(kEnableable[c] && at.table->has(types[c], at.row)) << c;
        return on;
    }
    void begin_marks() {
        marks.begin(database);
        bits_before.clear();
        for (const auto& [id, model] : models)
            if (const DatabaseRow at = database.find({id})) bits_before[id] = enabled_bits(at);
    }
    /// What was written, enabled or disabled, or has come since begin_marks() is what changed_since() finds.
    void compare_marks(std::uint64_t since) {
        EXPECT_TRUE(marks.all_is_marked(database));
        for (const auto& [id, on] : bits_before) {
            const DatabaseRow at = database.find({id});
            if (!at || enabled_bits(at) == on) continue;
            ASSERT_GE(at.table->table().placed_stamp(at.row / kRowsPerStampBlock), since)
                << at.table->type().schema().name();
        }
    }
    /// What a settle has carried out is not carried out again, and leaves no mark.
    void settle_again() {
        marks.begin(database);
        SettleCounts counts;
        database.settle({.stamp = ++stamp, .counts = &counts});
        EXPECT_EQ(counts.num_created + counts.num_destroyed + counts.num_moved + counts.num_dropped, 0u);
        EXPECT_EQ(counts.num_removed, 0u);
        EXPECT_TRUE(marks.nothing_is_marked(database));
    }
    void compare_rows() {
        std::uint64_t num_rows = 0;
        for (const auto& [id, model] : models) {
            ASSERT_TRUE(entities.alive({id}));
            const DatabaseRow at = database.find({id});
            ASSERT_EQ(bool(at), model.has_row) << id;
            num_rows += model.has_row;
            if (model.has_row) compare_row(at, model);
        }
        EXPECT_EQ(database.num_rows(), num_rows);
    }
    void compare_row(DatabaseRow at, const Model& model) {
        ASSERT_EQ(at.table->zone(), model.zone);
        for_each_component((1u << kNumComponents) - 1, [&]<std::size_t I>() {
            const auto found = model.components.find(I);
            ASSERT_EQ(at.table->has(types[I], at.row), found != model.components.end());
            if (found == model.components.end() || kEmpty[I]) return;
            if constexpr (kSeveral[I]) {
                std::vector<std::uint32_t> expected_numbers;
                for (const Value& value : found->second) expected_numbers.push_back(value.number);
                ASSERT_EQ(numbers_of<Nth<I>>(database, at.table->entities()[at.row]), expected_numbers);
            } else {
                ASSERT_EQ(number_at<Nth<I>>(database, at), found->second[0].number);
            }
            if constexpr (std::is_same_v<Nth<I>, Body>) {
                ASSERT_EQ(database.get<&Body::target>(at), found->second[0].target);
            }
        });
    }

    struct Stash {
        std::uint64_t chunk = 0;
        Entity pending, foreign;
    };
    struct Made {
        std::uint64_t chunk;
        Entity entity;
        bool gone;
    };

    EntityManager twin{{.minimum_free_ids = 1}};
    std::vector<ComponentType> types;
    std::unordered_map<EntityBits, Model> models;
    std::vector<Entity> others, dead;       // `others`: subjects that rows may pick beside themselves
    std::vector<std::vector<Asked>> asked;  // by worker
    std::vector<Stash> stash;               // by worker
    std::map<EntityBits, Made> made;        // by pending id
    SettleCounts expected;
    std::map<std::uint32_t, std::uint32_t> place_of_table;  // in the loop of the pass
    MarkWatch marks;
    std::unordered_map<EntityBits, std::uint32_t> bits_before;
    bool asks_little =
        false;               // then most blocks of rows stay as they are, and no mark hides that another one is missing
    std::uint64_t list = 0;  // which commands rows ask for
    std::uint64_t stamp = 1;
    std::int64_t num_asked = 0;
    ThreadPoolExecutor executor;
};

TEST_F(CommandOracle, random_commands_of_several_workers_do_what_the_rules_say) {
    SCOPED_TRACE(seed_text());
    // Some have a row, some do not.
    std::vector<Entity> first(6000), twins(6000);
    ASSERT_TRUE(twin.create(twins));
    ASSERT_TRUE(entities.create(first));
    ASSERT_EQ(first, twins);
    ASSERT_TRUE(database.insert<Position>(std::span(first).first(5000), 2, std::vector<Position>(5000)));
    for (std::size_t i = 0; i < first.size(); ++i) {
        models[first[i].id] = {i < 5000, i < 5000 ? Zone(2) : Zone(0), {}};
        if (i < 5000) models[first[i].id].components[0].resize(1);
    }
    const std::int64_t count = scaled_operations(kSanitized ? 2'500'000 : 5'000'000);
    for (std::uint64_t frame = 0; num_asked < count && !HasFailure(); ++frame) {
        asks_little = frame % 8 == 0;
        if (frame % 8 != 7) ++list;  // otherwise, the rows that are still there ask for the same again
        const std::uint64_t since = stamp;
        if (asks_little) begin_marks();
        run_passes();
        settle_model();
        SettleCounts counts;
        database.settle({.stamp = ++stamp, .counts = &counts});
        compare(counts);
        if (asks_little) {
            compare_marks(since);
            settle_again();
        }
        if (frame % 4 == 0) compare_rows();
        if (frame % 16 == 0) {
            ASSERT_EQ(database.validate().message(), "");
        }
    }
    compare_rows();
}

}  // namespace
