// Queries that are made from text: what they visit, against a model that asks the stores row by row; what they say about
// mistakes.

#include "shoal/query/text_query.h"

#include "shoal/base/random.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/job/executor.h"
#include "shoal/query/detail/held_rows.h"
#include "shoal/query/query.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/manager.h"
#include "support/testing.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace {

using namespace shoal;

enum class Mood : std::uint8_t { kCalm, kAngry };
SHOAL_ENUM(Mood, (kCalm, "calm"), (kAngry, "angry"))

struct Body {
    Vec3 position{};
    float mass = 1;
};
SHOAL_COMPONENT(Body, (position, split), mass)
struct Health {
    float value = 10;
};
SHOAL_COMPONENT(Health, value)
struct Crew {
    std::uint8_t size = 0;
    std::int64_t gold = 0;
    std::array<std::uint16_t, 2> oars{};
};
SHOAL_COMPONENT((Crew, whole), size, gold, oars)
struct Asleep {
    Mood dream = Mood::kCalm;
    bool deep = false;
};
SHOAL_COMPONENT((Asleep, enableable), dream, deep)
struct Frozen {};
SHOAL_COMPONENT(Frozen)
struct Hoard {
    std::uint64_t pearls = 0;
};
SHOAL_COMPONENT(Hoard, pearls)
struct Note {
    StringId text{};
};
SHOAL_COMPONENT((Note, many), text)
struct Wound {
    float depth = 1;
    std::uint32_t day = 0;
};
SHOAL_COMPONENT((Wound, many), depth, day)

/// Makes a query over stores, which are in a directory of their own meanwhile.
template <class... Text>
Result<TextQuery> make_query(EntityManager& entities, std::span<Store* const> stores, Text&&... text) {
    ComponentDirectory directory(entities);
    for (Store* const store : stores) EXPECT_TRUE(directory.add(*store));
    return TextQuery::make(directory, std::forward<Text>(text)...);
}

/// Entities with random components, of which a database keeps some types and managers the others.
class Sea {
public:
    /// Bits of `in_database`, in the order of the types.
    enum : unsigned { kBody = 1, kHealth = 2, kCrew = 4, kAsleep = 8, kFrozen = 16 };

    explicit Sea(unsigned in_database)
        : in_database_(in_database),
          bodies(entities, pool),
          healths(entities, pool, {.index = RowIndexKind::kHash}),
          crews(entities, pool, {.index = RowIndexKind::kIdentity}),
          sleepers(entities, pool),
          frozen(entities, pool),
          notes(entities, pool) {
        stores = {&database, &notes.core()};
        entities.inactive().add_speaker(this);
        keep<Body>(kBody, bodies), keep<Health>(kHealth, healths), keep<Crew>(kCrew, crews);
        keep<Asleep>(kAsleep, sleepers), keep<Frozen>(kFrozen, frozen);
    }
    void fill(Random& random, std::size_t count) {
        std::vector<Entity> made(count);
        ASSERT_TRUE(entities.create(made).ok());
        all.insert(all.end(), made.begin(), made.end());
        for (std::size_t round = 0; round < 5 * count; ++round)
            change(all[random.below(std::uint32_t(all.size()))], random);
    }

    /// Makes some entities inactive, so that loops leave them out, and the others active.
    void make_some_inactive(Random& random, std::uint32_t one_in) {
        for (const Entity entity : all)
            entities.inactive().set_by_itself(this, {&entity, 1}, one_in != 0 && random.below(one_in) == 0);
    }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};

private:
    unsigned in_database_;

public:
    Manager<Body> bodies;
    Manager<Health> healths;
    Manager<Crew> crews;
    Manager<Asleep> sleepers;
    Manager<Frozen> frozen;
    Manager<Note> notes;
    std::vector<Store*> stores;
    std::vector<Entity> all;

private:
    template <class T>
    void keep(unsigned bit, Manager<T>& manager) {
        if ((in_database_ & bit) != 0)
            database.component<T>();
        else
            stores.push_back(&manager.core());
    }
    template <class T>
    void give(unsigned bit, Manager<T>& manager, Entity entity, const T& value) {
        ASSERT_TRUE((in_database_ & bit) != 0 ? database.add(entity, value).ok() : manager.add(entity, value).ok());
    }
    template <class T>
    void take(unsigned bit, Manager<T>& manager, Entity entity) {
        if ((in_database_ & bit) != 0)
            ASSERT_TRUE(database.remove<T>(entity).ok());
        else
            manager.remove(entity);
    }
    void change(Entity entity, Random& random) {
        const auto number = [&] { return static_cast<float>(random.below(8)); };
        const unsigned what = random.below(14);
        if (what < 4) return give(kBody, bodies, entity, Body{{number(), number(), number()}, number()});
        if (what < 7)
            return give(kHealth, healths, entity,
                        Health{random.below(9) == 0 ? std::numeric_limits<float>::quiet_NaN() : number()});
        if (what < 9)
            return give(kCrew, crews, entity,
                        Crew{std::uint8_t(random.below(8)),
                             std::int64_t(random.below(8)) - 4,
                             {1, std::uint16_t(random.below(3))}});
        if (what < 11)
            return give(kAsleep, sleepers, entity,
                        Asleep{random.below(2) ? Mood::kCalm : Mood::kAngry, random.below(2) == 0});
        if (what == 11) return give(kFrozen, frozen, entity, Frozen{});
        if (what == 12) return take(kAsleep, sleepers, entity);
        take(kCrew, crews, entity);
    }
};

/// A term, as text and as the model understands it.
struct ModelTerm {
    char sign = 0;
    std::string component, part, sign_text;
    double value = 0;
    std::vector<std::string> others{};  // one of them, or the component

    std::string text() const {
        std::string text = concat(sign == 0 ? "" : std::string(1, sign), component);
        for (const std::string& other : others) text += '|' + other;
        if (sign_text.empty()) return text;
        std::string value_text = concat(value);
        if (part == "dream") value_text = value == 0 ? "calm" : "\"angry\"";
        if (part == "deep") value_text = value == 0 ? "false" : "true";
        return concat(component, part.empty() ? "" : ".", part, ' ', sign_text, ' ', value_text);
    }
};

class Model {
public:
    explicit Model(const Sea& sea) : sea_(sea) {}

    ComponentRow find(Entity entity, std::string_view component) const {
        for (const Store* store : sea_.stores) {
            const ComponentRow at = store->find_row(ComponentId(component), entity, 0);
            if (at && at.is_enabled) return at;
        }
        return {};
    }
    bool matches(Entity entity, const ModelTerm& term) const {
        const ComponentRow at = find(entity, term.component);
        if (term.sign == '?') return true;
        if (term.sign == '!') return !at;
        const auto has = [&](const std::string& other) { return bool(find(entity, other)); };
        if (!term.others.empty()) return at || std::any_of(term.others.begin(), term.others.end(), has);
        if (!at || term.sign_text.empty()) return bool(at);
        const Result<FieldPart> part = find_field_part(*at.schema, term.part.empty() ? "value" : term.part);
        EXPECT_TRUE(part.ok());
        AnyValue value(part->type);
        read_part(*at.table, at.first_column, at.row, *part, value.bytes().data());
        return holds(number(value), term.sign_text, term.value);
    }

private:
    static double number(const AnyValue& value) {
        if (value.type().type == FieldType::kEnum || value.type().type == FieldType::kBool)
            return double(std::to_integer<int>(value.bytes()[0]));
        const Result<AnyValue> result = value.convert(value_type_of<double>(), "x");
        EXPECT_TRUE(result.ok());
        return *result->as<double>();
    }
    static bool holds(double a, std::string_view sign, double b) {
        if (sign == "<") return a < b;
        if (sign == "<=") return a <= b;
        if (sign == ">") return a > b;
        if (sign == ">=") return a >= b;
        return sign == "==" ? a == b : a != b;
    }
    const Sea& sea_;
};

ModelTerm random_term(Random& random) {
    const char* const components[] = {"body", "health", "crew", "asleep", "frozen"};
    const char* const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    ModelTerm term;
    term.component = components[random.below(5)];
    const std::uint32_t kind = random.below(8);
    if (kind == 0) term.sign = '!';
    if (kind == 1) term.sign = '?';
    if (kind == 2)
        for (std::uint32_t i = random.below(3); i > 0; --i) term.others.push_back(components[random.below(5)]);
    if (kind < 5 || term.component == "frozen") return term;
    const char* const parts[] = {"mass", "position.x", "position.z"};
    const char* const crew_parts[] = {"size", "gold", "oars[1]"};
    if (term.component == "body") term.part = parts[random.below(3)];
    if (term.component == "crew") term.part = crew_parts[random.below(3)];
    if (term.component == "asleep") term.part = random.below(2) == 0 ? "dream" : "deep";
    const bool has_order = term.component != "asleep";
    term.sign_text = signs[has_order ? random.below(6) : 4 + random.below(2)];
    term.value = has_order ? random.below(8) : random.below(2);
    const bool is_float = term.component == "health" || term.component == "body";
    if (is_float && random.below(12) == 0) term.value = std::numeric_limits<double>::quiet_NaN();
    return term;
}

constexpr std::string_view kComma = " , ";

/// Returns why no query can be made of the terms: one component is required, and none may be ruled out too.
std::string problem_of(const std::vector<ModelTerm>& terms) {
    std::set<std::string> named;
    bool requires_one = false;
    for (const ModelTerm& term : terms) {
        if (term.sign != '!' && term.others.empty()) named.insert(term.component);
        requires_one |= term.sign == 0 && term.others.empty();
    }
    std::size_t column = 1;
    for (const ModelTerm& term : terms) {
        if (term.sign == '!' && named.contains(term.component))
            return concat("1:", column + 1, ": \"", term.component, "\" is both asked for and ruled out");
        column += term.text().size() + kComma.size();
    }
    return requires_one ? "" : "1:1: no term says whose rows to visit; name a component type without a sign";
}

/// Whether a column of the rows beside a row was written at `since` or later.
bool is_marked_since(const ComponentRow& at, std::uint32_t column, std::uint64_t since) {
    const std::uint32_t block = at.row / kElementsPerSnapshotBlock, place = at.row % kElementsPerSnapshotBlock;
    return at.table->written_since(at.first_column + column, block, since).has(place / kElementsPerSnapshotMark);
}

class TextQueries : public ::testing::TestWithParam<unsigned> {
protected:
    /// Compares the values that a batch shows with those that the stores tell.
    void expect_values(const TextQuery& query, const TextBatch& batch, const Model& model, std::uint32_t i) {
        for (std::size_t c = 0; c < query.components().size(); ++c) {
            const Schema& schema = *query.components()[c].schema;
            const ComponentRow at = model.find(batch.entities()[i], schema.name());
            for (const Field& field : schema.fields()) {
                const FieldPart part = field_part(schema, field);
                AnyValue shown(part.type), expected(part.type);
                ASSERT_EQ(batch.read(c, part, i, shown.bytes().data()), bool(at));
                if (!at) continue;
                read_part(*at.table, at.first_column, at.row, part, expected.bytes().data());
                ASSERT_EQ(shown, expected);
            }
        }
    }
};

// req: F5
TEST_P(TextQueries, visit_what_a_model_finds_row_by_row) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    Sea sea(GetParam());
    const Model model(sea);
    std::size_t num_visited = 0;
    for (int round = 0; round < 200; ++round) {
        if (round % 50 == 0) sea.fill(random, 300);
        if (round % 25 == 0) sea.make_some_inactive(random, round % 75 == 0 ? 0 : 2 + 18 * (round % 2));
        std::vector<ModelTerm> terms(1 + random.below(4));
        for (ModelTerm& term : terms) term = random_term(random);
        std::string text;
        for (const ModelTerm& term : terms) text = concat(text, text.empty() ? "" : kComma, term.text());
        const Result<TextQuery> query = make_query(sea.entities, sea.stores, text);
        ASSERT_EQ(query.status().message(), problem_of(terms)) << text;
        if (!query) continue;
        std::multiset<Entity> expected, visited;
        std::vector<Entity> in_order, held_in_order;
        for (const Entity entity : sea.all)
            if (!sea.entities.inactive().has(entity) &&
                std::all_of(terms.begin(), terms.end(), [&](const auto& term) { return model.matches(entity, term); }))
                expected.insert(entity);
        query->for_each_batch([&](const TextBatch& batch) {
            EXPECT_GT(batch.num_rows(), 0u);
            visited.insert(batch.entities().begin(), batch.entities().end());
            in_order.insert(in_order.end(), batch.entities().begin(), batch.entities().end());
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i) expect_values(*query, batch, model, i);
        });
        ASSERT_EQ(visited, expected) << text;
        const HeldRows held(*query);
        for (std::size_t b = 0; b < held.num_batches(); ++b) {
            const TextBatch& batch = held.batch(b);
            held_in_order.insert(held_in_order.end(), batch.entities().begin(), batch.entities().end());
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i) expect_values(*query, batch, model, i);
        }
        ASSERT_EQ(held_in_order, in_order) << text;
        EXPECT_LE(visited.size(), query->num_rows());
        num_visited += visited.size();
    }
    EXPECT_GT(num_visited, 1000u);
}

TEST_P(TextQueries, write_what_the_text_says_and_mark_it) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    Sea sea(GetParam());
    sea.fill(random, 700);
    const Model model(sea);
    for (Store* store : sea.stores)
        for (const Table* table : store->tables()) const_cast<Table*>(table)->set_stamp(7);
    const Result<TextQuery> query = make_query(sea.entities, sea.stores, "health, &body, !asleep, health >= 3");
    ASSERT_TRUE(query.ok()) << query.status().message();
    std::map<Entity, float> expected;
    const Schema& schema = schema_of<Body>();
    const FieldPart mass = field_part(schema, schema.fields()[1]);
    const auto mass_of = [&](const ComponentRow& at) {
        float value = 0;
        read_part(*at.table, at.first_column, at.row, mass, reinterpret_cast<std::byte*>(&value));
        return value;
    };
    for (const Entity entity : sea.all)
        if (const ComponentRow at = model.find(entity, "body")) expected[entity] = mass_of(at);
    std::set<Entity> visited;
    query->for_each_batch([&](const TextBatch& batch) {
        const TextColumn healths = batch.column(0, 0), masses = batch.column(1, mass.first_column);
        EXPECT_FALSE(healths.is_written);
        for (std::uint32_t i = 0; i < batch.num_rows(); ++i) {
            ASSERT_GE(*healths.read<float>(i), 3);
            *masses.write<float>(i) += *healths.read<float>(i);
            visited.insert(batch.entities()[i]);
            expected[batch.entities()[i]] += *healths.read<float>(i);
        }
    });
    EXPECT_GT(visited.size(), 20u);
    std::set<std::pair<const Table*, std::uint32_t>> written;  // which rows share marks with a row that was visited
    for (const Entity entity : visited)
        if (const ComponentRow at = model.find(entity, "body")) written.emplace(at.table, at.row / kRowsPerChangeMark);
    for (const auto& [entity, value] : expected) {
        const ComponentRow at = model.find(entity, "body");
        ASSERT_EQ(mass_of(at), value);
        const bool is_written = written.contains({at.table, at.row / kRowsPerChangeMark});
        const bool is_driver = query->driver().find_row(ComponentId("body"), entity, 0).table == at.table;
        const bool is_marked = is_marked_since(at, mass.first_column, 7);
        ASSERT_TRUE(is_marked || !is_written);
        ASSERT_TRUE(is_driver || is_marked == is_written) << "of a store that is looked up";
    }
    for (const Entity entity : sea.all) {
        const ComponentRow at = model.find(entity, "health");
        EXPECT_TRUE(!at || at.table->written_stamp(at.first_column, at.row / kRowsPerStampBlock) < 7u);
    }
}

/// What batches show, by entity: the first bytes of the first column of each component; all set where there is none.
using Shown = std::multimap<Entity, std::vector<std::uint32_t>>;

void show(const TextBatch& batch, std::size_t num_components, Shown& shown) {
    for (std::uint32_t i = 0; i < batch.num_rows(); ++i) {
        std::vector<std::uint32_t> values;
        for (std::size_t c = 0; c < num_components; ++c) {
            const TextColumn column = batch.column(c, 0);
            ASSERT_EQ(column.num_rows, batch.num_rows());
            values.push_back(column.at(i) == nullptr ? ~0u : *column.read<std::uint32_t>(i));
        }
        shown.emplace(batch.entities()[i], values);
    }
}

TEST_P(TextQueries, held_rows_are_those_that_the_loop_visits) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    Sea sea(GetParam());
    sea.fill(random, 3000);
    for (const char* text : {"body", "&body, health", "health, ?body", "body, !asleep", "body, health >= 5",
                             "frozen, &health", "body.position.x < 5, ?health, !frozen"}) {
        SCOPED_TRACE(text);
        const Result<TextQuery> query = make_query(sea.entities, sea.stores, text);
        ASSERT_TRUE(query.ok()) << query.status().message();
        const bool has_tag = query->components()[0].schema->columns().empty();
        const std::size_t num_components = has_tag ? 0 : query->components().size();
        Shown visited, held;
        query->for_each_batch([&](const TextBatch& batch) { show(batch, num_components, visited); });
        const HeldRows rows(*query);
        for (std::size_t i = 0; i < rows.num_batches(); ++i) show(rows.batch(i), num_components, held);
        EXPECT_EQ(held, visited);
        EXPECT_LT(rows.num_batches(), 40u);
    }
}

TEST_P(TextQueries, held_rows_are_marked_when_they_are_finished_and_not_before) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    Sea sea(GetParam());
    sea.fill(random, 2000);
    for (const Store* store : sea.stores)
        for (const Table* table : store->tables()) const_cast<Table*>(table)->set_stamp(7);
    const Result<TextQuery> query = make_query(sea.entities, sea.stores, "&health, body");
    ASSERT_TRUE(query.ok());
    const Model model(sea);
    const auto num_marked = [&] {
        std::size_t count = 0;
        for (const Entity entity : sea.all)
            if (const ComponentRow at = model.find(entity, "health"))
                count += at.table->written_stamp(at.first_column, at.row / kRowsPerStampBlock) == 7u;
        return count;
    };
    HeldRows rows(*query);
    EXPECT_EQ(num_marked(), 0u);
    std::size_t num_rows = 0;
    for (std::size_t i = 0; i < rows.num_batches(); ++i) num_rows += rows.batch(i).num_rows();
    rows.finish();
    for (std::size_t i = 0; i < rows.num_batches(); ++i)
        for (const Entity entity : rows.batch(i).entities())
            ASSERT_TRUE(is_marked_since(model.find(entity, "health"), 0, 7));
    EXPECT_GT(num_rows, 20u);
    EXPECT_GE(num_marked(), num_rows);
    const auto drop_all = [&] {
        for (Store* store : sea.stores) store->drop(sea.all);
    };
    EXPECT_DEATH(drop_all(), "while a loop");
}

INSTANTIATE_TEST_SUITE_P(StoresOfTypes, TextQueries, ::testing::Values(0u, 31u, 9u, 22u, 5u));

TEST(TextQuery, a_table_of_which_all_rows_match_is_one_batch) {
    Sea sea(0);
    std::vector<Entity> made(1000);
    ASSERT_TRUE(sea.entities.create(made).ok());
    ASSERT_TRUE(sea.bodies.add(made).ok());
    const Result<TextQuery> query = make_query(sea.entities, sea.stores, "body");
    ASSERT_TRUE(query.ok());
    EXPECT_EQ(&query->driver(), &sea.bodies.core());
    std::size_t num_batches = 0;
    query->for_each_batch([&](const TextBatch& batch) {
        ++num_batches;
        EXPECT_EQ(batch.num_rows(), 1000u);
        EXPECT_EQ(batch.column(0, 3).rows, nullptr);
        EXPECT_EQ(batch.column(0, 3).values<float>().size(), 1000u);
        EXPECT_EQ(batch.column(0, 3).values<float>()[999], 1);
        EXPECT_TRUE(batch.column(0, 3).values<double>().empty());
    });
    EXPECT_EQ(num_batches, 1u);
}

/// The batch of a table, and the places of batches in it.
struct TableParts {
    const Entity* owners = nullptr;
    const std::byte* masses = nullptr;
    std::size_t num_rows = 0;
    std::atomic<std::size_t> num_visited = 0;

    static void look(void* self, const TextBatch& all) {
        TableParts& parts = *static_cast<TableParts*>(self);
        parts.owners = all.entities().data(), parts.num_rows = all.num_rows();
        parts.masses = all.column(0, 3).first;
    }
    static void visit(void* self, const TextBatch& batch) {
        TableParts& parts = *static_cast<TableParts*>(self);
        const auto begin = static_cast<std::size_t>(batch.entities().data() - parts.owners);
        EXPECT_LE(begin + batch.num_rows(), parts.num_rows);
        EXPECT_EQ(batch.column(0, 3).first, parts.masses + begin * sizeof(float));
        parts.num_visited += batch.num_rows();
    }
};

TEST(TextQuery, whole_numbers_of_64_bits_are_compared_exactly) {
    EntityManager entities;
    PagePool pool;
    Manager<Hoard> hoards(entities, pool);
    Store* const stores[] = {&hoards.core()};
    const std::uint64_t pearls[] = {9007199254740993u, ~std::uint64_t(0), std::uint64_t(1) << 63, 1};
    for (const std::uint64_t count : pearls) ASSERT_TRUE(hoards.add(*entities.create(), {count}));
    const std::pair<const char*, std::uint64_t> expected[] = {
        {"hoard.pearls == 18446744073709551615", 1}, {"hoard.pearls == 18446744073709551614", 0},
        {"hoard.pearls >= 9223372036854775808", 2},  {"hoard.pearls < 9007199254740993", 1},
        {"hoard.pearls > 9007199254740992", 3},
    };
    for (const auto& [text, count] : expected) {
        const Result<TextQuery> query = make_query(entities, stores, text);
        ASSERT_TRUE(query.ok()) << query.status().message();
        std::uint64_t found = 0;
        query->for_each_batch([&](const TextBatch& batch) { found += batch.num_rows(); });
        EXPECT_EQ(found, count) << text;
    }
    EXPECT_FALSE(make_query(entities, stores, "hoard.pearls < 18446744073709551616").ok());
    EXPECT_FALSE(make_query(entities, stores, "hoard.pearls > -9223372036854775809").ok());
}

TEST(TextQuery, batches_are_parts_of_the_table_that_can_be_looked_at_before) {
    Sea sea(0);
    std::vector<Entity> made(9000);
    ASSERT_TRUE(sea.entities.create(made).ok());
    ASSERT_TRUE(sea.bodies.add(made).ok());
    const auto workers = std::make_unique<ThreadedExecutor>(2);
    sea.bodies.core().settle({.stamp = 7});
    TableParts all;
    const Result<TextQuery> query = make_query(sea.entities, sea.stores, "&body");
    query->look_at_table(TableParts::look, &all);
    ASSERT_EQ(all.num_rows, made.size());
    query->for_each_batch(*workers, TableParts::visit, &all);
    EXPECT_EQ(all.num_visited, made.size());
    const Table& table = sea.bodies.core().table();
    for (std::uint32_t block = 0; block * kRowsPerStampBlock < made.size(); ++block)
        EXPECT_EQ(table.written_stamp(3, block), 7u) << "parts that were cut for workers are marked as one";
    // In a store whose rows the loop looks up, too.
    ASSERT_TRUE(sea.crews.add(std::span(made).first(8500)).ok());
    sea.bodies.core().settle({.stamp = 8});
    Result<TextQuery> crews = make_query(sea.entities, sea.stores, "crew, &body");
    ASSERT_EQ(&crews->driver(), &sea.crews.core());
    crews->for_each_batch(*workers, [](const TextBatch&) {});
    for (std::uint32_t block = 0; block * kRowsPerStampBlock < made.size(); ++block)
        EXPECT_EQ(table.written_stamp(3, block), 8u) << block;
    for (const char* text : {"body, !health", "body.mass > 3", "health, body"}) {
        TableParts parts;
        make_query(sea.entities, sea.stores, text)->look_at_table(TableParts::look, &parts);
        EXPECT_EQ(parts.owners, nullptr) << text;
    }
}

TEST(HeldRows, runs_of_several_stores_are_one_batch) {
    Sea sea(0);
    std::vector<Entity> made(100'000);
    ASSERT_TRUE(sea.entities.create(made).ok());
    ASSERT_TRUE(sea.bodies.add(made).ok());
    ASSERT_TRUE(sea.healths.add(made).ok());
    const Result<TextQuery> query = make_query(sea.entities, sea.stores, "body, &health");
    ASSERT_TRUE(query.ok());
    const HeldRows rows(*query);
    ASSERT_EQ(rows.num_batches(), 1u);
    EXPECT_EQ(rows.batch(0).num_rows(), 100'000u);
    EXPECT_EQ(rows.batch(0).column(0, 0).rows, nullptr);
    EXPECT_EQ(rows.batch(0).column(1, 0).written_values<float>().size(), 100'000u);
}

TEST(TextQuery, an_entity_with_several_components_is_visited_once_beside_others) {
    Sea sea(0);
    std::vector<Entity> made(3);
    ASSERT_TRUE(sea.entities.create(made).ok());
    ASSERT_TRUE(sea.bodies.add(made).ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(sea.notes.add(made[1], {StringId("hello")}).ok());
    const auto count = [&](std::string_view text) {
        const Result<TextQuery> query = make_query(sea.entities, sea.stores, text);
        EXPECT_TRUE(query.ok()) << query.status().message();
        std::size_t num_rows = 0;
        query->for_each_batch([&](const TextBatch& batch) { num_rows += batch.num_rows(); });
        return num_rows;
    };
    EXPECT_EQ(count("note"), 3u);
    EXPECT_EQ(count("note, body"), 1u);
    EXPECT_EQ(count("body, note == \"hello\""), 1u);
    EXPECT_EQ(count("body, note.text != hello"), 0u);
    EXPECT_EQ(count("body, !note"), 2u);
}

TEST(TextQuery, several_components_in_the_database_are_visited_as_those_of_a_manager) {
    Sea sea(0);
    std::vector<Entity> made(3);
    ASSERT_TRUE(sea.entities.create(made).ok());
    ASSERT_TRUE(sea.bodies.add(made).ok());
    for (const char* text : {"hello", "hello", "aloha"})
        ASSERT_TRUE(sea.database.add(made[1], Note{StringId(text)}).ok());
    sea.stores.pop_back();
    sea.stores = {&sea.database, &sea.bodies.core()};
    const auto count = [&](std::string_view text) {
        const Result<TextQuery> query = make_query(sea.entities, sea.stores, text);
        EXPECT_TRUE(query.ok()) << query.status().message();
        std::size_t num_rows = 0;
        query->for_each_batch([&](const TextBatch& batch) {
            for (const Entity entity : batch.entities()) num_rows += entity == made[1] || text == "body, !note";
        });
        return num_rows;
    };
    EXPECT_EQ(count("note"), 3u);
    EXPECT_EQ(make_query(sea.entities, sea.stores, "note")->num_rows(), 3u);
    EXPECT_EQ(count("note == hello"), 2u);
    EXPECT_EQ(count("note == aloha"), 1u);
    EXPECT_EQ(count("note, body"), 1u);
    EXPECT_EQ(count("body, !note"), 2u);
}

TEST(TextQuery, each_of_several_components_is_marked_in_the_columns_that_are_to_be_written) {
    for (const int way : {0, 1, 2, 3}) {
        const bool in_database = (way & 1) != 0, holds_rows = (way & 2) != 0;
        Sea sea(0);
        Manager<Wound> wounds(sea.entities, sea.pool);
        Store& store = in_database ? static_cast<Store&>(sea.database) : wounds.core();
        const Schema& schema = schema_of<Wound>();
        if (in_database) sea.database.component<Wound>();
        const Entity one = *sea.entities.create();
        for (int i = 0; i < 3; ++i) ASSERT_TRUE(store.add_values(schema, {&one, 1}, {}).ok());
        sea.stores = {&store};
        Result<TextQuery> query = make_query(sea.entities, sea.stores, "&wound");
        ASSERT_TRUE(query.ok()) << query.status().message();
        std::uint64_t stamp = 7;
        const auto marked = [&] {
            for (const Table* table : store.tables()) const_cast<Table*>(table)->set_stamp(stamp);
            if (holds_rows)
                HeldRows(*query).finish();
            else
                query->for_each_batch([](const TextBatch&) {});
            std::string text;
            ComponentRow at = store.find_row(schema.id(), one, 0);
            for (std::uint32_t i = 1; at; at = store.find_next(at, one, i++))
                for (std::uint32_t c = 0; c < 2; ++c)
                    text += at.table->written_stamp(at.first_column + c, 0) == stamp ? '+' : '-';
            ++stamp;
            return text;
        };
        EXPECT_EQ(marked(), "++++++") << "all, unless it is said";
        query->write_columns(0, 0b10);
        EXPECT_EQ(query->components()[0].written_columns, 0b10u);
        EXPECT_EQ(marked(), "-+-+-+");
        query->write_columns(0, 0b01);
        EXPECT_EQ(marked(), "+-+-+-") << "what was said last holds";
    }
}

TEST(TextQuery, columns_from_the_65th_on_are_always_marked) {
    ComponentDefinition wide;
    wide.name = "wide";
    for (int i = 0; i < 24; ++i) {
        wide.fields.emplace_back();
        wide.fields.back().name = concat("field_", i);
        wide.fields.back().type = FieldType::kVec3;
        wide.fields.back().split = true;
    }
    const Schema schema = *Schema::make(std::move(wide));
    Sea sea(0);
    ASSERT_TRUE(sea.database.add_component(schema).ok());
    const Entity one = *sea.entities.create();
    ASSERT_TRUE(sea.database.add_values(schema, {&one, 1}, {}).ok());
    Result<TextQuery> query = make_query(sea.entities, sea.stores, "&wide");
    ASSERT_TRUE(query.ok()) << query.status().message();
    query->write_columns(0, 0b10);
    const ComponentRow at = sea.database.find_row(schema.id(), one, 0);
    const_cast<Table*>(at.table)->set_stamp(7);
    query->for_each_batch([](const TextBatch&) {});
    for (std::uint32_t c = 0; c < 72; ++c)
        EXPECT_EQ(at.table->written_stamp(at.first_column + c, 0) == 7, c == 1 || c >= 64) << "column " << c;
}

TEST(TextQuery, a_kept_query_is_driven_by_the_store_that_has_fewest_rows_now) {
    Sea sea(Sea::kHealth);
    const Result<TextQuery> query = make_query(sea.entities, sea.stores, "body, health");
    ASSERT_TRUE(query.ok());
    std::vector<Entity> made(10);
    ASSERT_TRUE(sea.entities.create(made).ok());
    ASSERT_TRUE(sea.database.add(made, Health{}).ok());
    ASSERT_TRUE(sea.bodies.add(made[0]).ok());
    EXPECT_EQ(&query->driver(), &sea.bodies.core());
    EXPECT_EQ(query->num_rows(), 1u);
    ASSERT_TRUE(sea.database.remove<Health>(std::span(made).subspan(2)).ok());
    ASSERT_TRUE(sea.bodies.add(std::span(made).subspan(1)).ok());
    EXPECT_EQ(&query->driver(), &sea.database);
    EXPECT_EQ(query->num_rows(), 2u);
}

TEST(TextQuery, a_batch_of_one_row_says_what_that_row_lacks) {
    for (const unsigned in_database : {0u, unsigned(Sea::kHealth)}) {
        Sea sea(in_database);
        const Entity one = sea.entities.create().value();
        ASSERT_TRUE(sea.bodies.add(one, Body{}).ok());
        for (const char* text : {"body, ?health", "body.mass >= 0, ?health"}) {
            const Result<TextQuery> query = make_query(sea.entities, sea.stores, text);
            ASSERT_TRUE(query.ok()) << query.message();
            std::uint32_t num_rows = 0;
            query->for_each_batch([&](const TextBatch& batch) {
                num_rows += batch.num_rows();
                EXPECT_EQ(batch.column(1, 0).read<float>(0), nullptr) << text;
            });
            EXPECT_EQ(num_rows, 1u) << text;
        }
    }
}

TEST(TextQuery, a_query_over_one_store_visits_each_of_several_values_whatever_else_it_names) {
    Sea sea(Sea::kBody);
    Manager<Wound> wounds(sea.entities, sea.pool);
    const std::vector<Entity> made = {*sea.entities.create(), *sea.entities.create()};
    ASSERT_TRUE(sea.database.add(made, Body{.mass = 3}).ok());
    for (const float depth : {1.0f, 2.0f, 4.0f, 8.0f}) {
        ASSERT_TRUE(wounds.add(made[1], {.depth = depth, .day = 5}).ok());
        ASSERT_TRUE(sea.database.add(made[1], Wound{.depth = depth, .day = 5}).ok());
    }
    SerialExecutor executor;
    for (Executor* const one : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&executor)}) {
        float of_manager = 0, of_database = 0;
        const auto run = [&](const auto& rows, auto function) {
            one == nullptr ? rows.for_each(function) : rows.for_each(*one, function);
        };
        run(query<Read<&Wound::depth>, Read<&Wound::day>>(wounds),
            [&](float depth, std::uint32_t day) { of_manager += depth * float(day); });
        run(query<Read<&Wound::depth>, Read<&Body::mass>>(sea.database),
            [&](float depth, float mass) { of_database += depth * mass; });
        EXPECT_EQ(of_manager, 15 * 5);
        EXPECT_EQ(of_database, 15 * 3);
    }
}

TEST(TextQuery, says_what_it_touches) {
    Sea sea(Sea::kHealth);
    const Result<TextQuery> query = make_query(sea.entities, sea.stores, "&body, health > 1, !crew");
    ASSERT_TRUE(query.ok());
    ASSERT_EQ(query->accesses().size(), 2u);
    EXPECT_TRUE(conflict(query->accesses()[0], reads<&Body::mass>(sea.bodies)));
    EXPECT_FALSE(conflict(query->accesses()[1], reads<&Health::value>(sea.database)));
    EXPECT_TRUE(conflict(query->accesses()[1], writes<&Health::value>(sea.database)));
}

// What people write wrong, and what they are told.
TEST(TextQuery, mistakes_are_shown_where_they_are) {
    Sea sea(Sea::kHealth);
    const std::map<std::string, std::string> expected = {
        {"body, !slep, helth < 10", "1:8: no store keeps a component \"slep\"; did you mean \"asleep\"?"},
        {"", "1:1: the text is empty; name component types, such as: body, !asleep"},
        {"body,", "1:6: the name of a component type is expected"},
        {"body health", "1:6: a comma is expected between terms"},
        {"body.mas < 1", "1:1: \"body\" has no field \"mas\"; did you mean \"mass\"?"},
        {"body < 1", "1:1: \"body\" is a component type with several fields; it has position, mass"},
        {"frozen < 1", "1:1: \"frozen\" is a component type with several fields; it has none to compare"},
        {"body.position < 1",
         "1:1: \"body.position\" is a vec3, which cannot be compared; compare a part of it, such as .x"},
        {"body.mass", "1:1: a field alone says nothing about rows; compare it, or name the component \"body\""},
        {"body.mass = 1", "1:11: = is no comparison; write =="},
        {"body.mass <", "1:12: a value is expected; give a number, true, false, a name or a text in quotes"},
        {"body.mass < heavy", "1:13: \"body.mass\" is a float, not text"},
        {"crew.size < 2.5", "1:13: \"crew.size\" is a uint8, not a double; give a whole number"},
        {"crew.size < 300", "1:13: \"crew.size\" is a uint8, which cannot hold 300"},
        {"crew.gold < 99999999999999999999", "1:13: the number is too large"},
        {"asleep.dream == clam", "1:17: \"asleep.dream\" has no value \"clam\"; did you mean \"calm\"?"},
        {"asleep.deep < true", "1:1: \"asleep.deep\" is a bool, which has no order; compare it with == or !="},
        {"!body < 2", "1:2: a term with ! names a component type only; compare its fields in a term of their own"},
        {"note == \"hello", "1:9: the text has no closing quote"},
        {"!body, ?crew", "1:1: no term says whose rows to visit; name a component type without a sign"},
        {"body,\n  !body", "2:4: \"body\" is both asked for and ruled out"},
        {"zzzzzzzzzz",
         "1:1: no store keeps a component \"zzzzzzzzzz\"; they keep health, note, body, crew, asleep, frozen"},
        {"body. < 1", "1:1: \"body.\" is not the name of a field; write component.field, such as body.position"},
        {"body[0] < 1", "1:1: \"body[0]\" is not the name of a field; write component.field, such as body.position"},
        {"crew.size < -1", "1:13: \"crew.size\" is a uint8, which cannot hold -1"},
        {"crew.size < 256", "1:13: \"crew.size\" is a uint8, which cannot hold 256"},
        {"body[1].mass < 1",
         "1:1: \"body[1].mass\" is not the name of a field; write component.field, such as body.position"},
    };
    for (const auto& [text, message] : expected) {
        const Result<TextQuery> query = make_query(sea.entities, sea.stores, text);
        ASSERT_FALSE(query.ok()) << text;
        EXPECT_EQ(query.status().message(), message) << text;
    }
    for (const char* text : {"crew.size < 255", "crew.size >= 0", "crew.size == 255"})
        EXPECT_TRUE(make_query(sea.entities, sea.stores, text).ok()) << text;
    std::string terms = "body";
    for (int i = 1; i < 100; ++i) terms += ",body";
    EXPECT_TRUE(make_query(sea.entities, sea.stores, terms).ok());
    EXPECT_EQ(make_query(sea.entities, sea.stores, terms + ",body").status().message(),
              "1:501: there are more than 100 terms");
    for (const char* text : {"&health, body, health", "health, body, &health"}) {
        const Result<TextQuery> query = make_query(sea.entities, sea.stores, text);
        ASSERT_TRUE(query.ok());
        EXPECT_EQ(query->components().size(), 2u);
        for (const TextComponent& component : query->components())
            EXPECT_EQ(component.is_written, component.schema->name() == "health") << text;
    }
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("query", "body, helth < 10");
    EXPECT_FALSE(make_query(sea.entities, sea.stores, file, diagnostics).ok());
    EXPECT_EQ(diagnostics.format(),
              "query:1:7: error: no store keeps a component \"helth\"; did you mean \"health\"?\n"
              "    1 | body, helth < 10\n"
              "      |       ^~~~~\n");
}

TEST(TextQueryDeath, rows_stay_where_they_are_while_it_runs) {
    Sea sea(0);
    std::vector<Entity> made(3);
    ASSERT_TRUE(sea.entities.create(made).ok());
    ASSERT_TRUE(sea.bodies.add(made).ok());
    const Result<TextQuery> query = make_query(sea.entities, sea.stores, "body");
    ASSERT_TRUE(query.ok());
    EXPECT_DEATH(query->for_each_batch([&](const TextBatch&) { sea.bodies.remove(made[0]); }), "while a loop");
    EXPECT_DEATH(query->for_each_batch([&](const TextBatch& batch) { *batch.column(0, 3).write<float>(0) = 1; }),
                 "write &name in its text");
}

}  // namespace
