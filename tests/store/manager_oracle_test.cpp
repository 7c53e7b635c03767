// Random operations on a manager and on a map, side by side, for every kind of index, policy for death and layout.

#include "support/manager_testing.h"
#include "support/mark_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace shoal_test {
namespace {

/// What a row holds, as far as the model is concerned; see make_value.
struct Value {
    std::uint64_t number;
    std::uint32_t mark;
};

/// A manager as one would write it without a second thought. Instances of an entity: the newest first.
class MapManager {
public:
    explicit MapManager(bool many) : many_(many) {}

    void add(Entity entity, Value value) {
        // A newer entity takes the place of whoever had its index.
        if (const auto found = id_at_.find(entity.index()); found != id_at_.end() && !(found->second == entity))
            remove(found->second);
        std::vector<Value>& values = values_[entity.id];
        if (!many_ && !values.empty()) values.pop_back(), --num_rows_;
        values.insert(values.begin(), value);
        ++num_rows_;
        id_at_[entity.index()] = entity;
    }
    std::size_t remove(Entity entity) {
        const auto found = values_.find(entity.id);
        if (found == values_.end()) return 0;
        const std::size_t count = found->second.size();
        num_rows_ -= count;
        values_.erase(found);
        id_at_.erase(entity.index());
        return count;
    }
    void remove_at(Entity entity, std::size_t place) {
        std::vector<Value>& values = values_.at(entity.id);
        if (values.size() == 1) return static_cast<void>(remove(entity));
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(place));
        --num_rows_;
    }
    void clear() { values_.clear(), id_at_.clear(), num_rows_ = 0; }

    const std::vector<Value>& values(Entity entity) const {
        static const std::vector<Value> kNone;
        const auto found = values_.find(entity.id);
        return found == values_.end() ? kNone : found->second;
    }
    Value& at(Entity entity, std::size_t place) { return values_.at(entity.id)[place]; }
    std::size_t num_rows() const { return num_rows_; }
    std::vector<Entity> entities() const {
        std::vector<Entity> result;
        for (const auto& [index, entity] : id_at_) result.push_back(entity);
        return result;
    }

private:
    bool many_;
    std::size_t num_rows_ = 0;
    std::unordered_map<EntityBits, std::vector<Value>> values_;
    std::unordered_map<std::uint32_t, Entity> id_at_;
};

template <class T>
class Comparison {
public:
    static constexpr bool kMany = DescriptionOf<T>::kMany;
    static constexpr std::uint32_t kMaxKnown = 2500;

    Comparison(RowIndexKind kind, DeathPolicy death, std::uint64_t seed)
        : entities_({.minimum_free_ids = 1 + static_cast<std::uint32_t>(seed % 3),
                     .max_entities = kMaxEntities,
                     .max_death_list = 2000}),
          manager_(entities_, pool_, {.index = kind, .death = death, .max_collected = 40}),
          model_(kMany),
          random_(seed),
          settler_(seed) {}

    /// Does one random operation on both. Returns how many entities it dealt with.
    std::size_t step() {
        const bool is_watched = num_steps_ % 32 == 0;
        if (is_watched) settle(), marks_.begin(manager_.core());
        const std::size_t num_entities = change();
        if (is_watched) {
            EXPECT_TRUE(marks_.all_is_marked(manager_.core()));
        }
        return num_entities;
    }
    std::size_t change() {
        const bool growing = (++num_steps_ / 800) % 2 == 0;
        switch (random_.below(growing ? 22 : 26)) {
            case 0:
            case 1:
            case 2:
                return create_some();
            case 3:
            case 4:
            case 5:
                return add_one();
            case 6:
            case 7:
                return add_span();
            case 8:
            case 9:
                return add_values();
            case 10:
                return add_images();
            case 11:
            case 12:
                return set_fields();
            case 13:
                return remove_one();
            case 14:
                return remove_instance();
            case 15:
                return remove_span();
            case 16:
                return gather();
            case 17:
                return settle();
            case 18:
            case 19:
                return destroy_some(growing ? 5 : 60);
            case 20:
                return rarely();
            case 21:
                return look_up();
            default:
                return destroy_some(60);
        }
    }

    void compare_all() {
        const Status status = manager_.core().validate();
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(manager_.num_components(), model_.num_rows());
        std::size_t num_rows = 0, num_owners = 0;
        for (const Entity owner : model_.entities()) {
            ASSERT_TRUE(compare(owner));
            num_rows += model_.values(owner).size();
        }
        ASSERT_EQ(num_rows, model_.num_rows());
        for (const Entity owner : manager_.entities()) num_owners += bool(owner);
        ASSERT_EQ(num_owners, num_rows);
    }

private:
    /// Living, dead and foreign ones, null, and the same ones again.
    Entity any_entity() {
        const std::uint32_t choice = random_.below(40);
        if (choice == 0) return kNullEntity;
        if (choice == 1) return Entity{static_cast<EntityBits>(random_.next())};
        if (choice == 2) return make_entity(1 + random_.below(3000), static_cast<Generation>(1 + random_.below(5)));
        if (choice < 8 && !last_.empty()) return last_[random_.below(static_cast<std::uint32_t>(last_.size()))];
        if (known_.empty()) return kNullEntity;
        return known_[random_.below(static_cast<std::uint32_t>(known_.size()))];
    }
    const std::vector<Entity>& any_span(std::uint32_t below) {
        std::vector<Entity> span(random_.below(below));
        for (Entity& entity : span) entity = any_entity();
        last_ = span;
        return last_;
    }
    Value any_value() { return {random_.next(), random_.below(1u << 20)}; }
    static T make(Value value) { return make_value<T>(value.number, value.mark); }

    ::testing::AssertionResult compare(Entity entity) {
        const std::vector<Value>& expected = model_.values(entity);
        std::size_t place = 0;
        for (Instance i = manager_.instance(entity); i; i = manager_.next(i), ++place) {
            if (place == expected.size() || !(manager_.entity(i) == entity))
                return ::testing::AssertionFailure() << "too many, entity " << entity.id;
            if (!same_value(manager_.value(i), make(expected[place])))
                return ::testing::AssertionFailure() << "other value, entity " << entity.id;
        }
        if (place != expected.size()) return ::testing::AssertionFailure() << "too few, entity " << entity.id;
        return ::testing::AssertionSuccess();
    }

    std::size_t create_some() {
        const std::size_t count = random_.below(50);
        const std::vector<Entity> made = create(entities_, count);
        for (const Entity entity : made) {
            if (known_.size() < kMaxKnown) {
                known_.push_back(entity);
                continue;
            }
            Entity& forgotten = known_[random_.below(kMaxKnown)];
            destroy({&forgotten, 1});
            forgotten = entity;
        }
        last_ = made;
        return count;
    }

    std::size_t add_one() {
        const Entity entity = any_entity();
        const Value value = any_value();
        const Result<Instance> instance = manager_.add(entity, make(value));
        EXPECT_TRUE(instance.ok());
        EXPECT_EQ(bool(*instance), entities_.alive(entity));
        if (*instance) model_.add(entity, value);
        EXPECT_EQ(*instance, *instance ? manager_.instance(entity) : kNilInstance);
        EXPECT_TRUE(compare(entity));
        return 1;
    }

    /// What add() of the span should say; `value_of(i)` goes to the model.
    template <class ValueOf>
    AddCounts add_to_model(std::span<const Entity> span, ValueOf value_of) {
        AddCounts counts;
        for (std::size_t i = 0; i < span.size(); ++i) {
            if (!entities_.alive(span[i])) {
                ++counts.num_skipped;
                continue;
            }
            const bool sets = !kMany && !model_.values(span[i]).empty();
            ++(sets ? counts.num_set : counts.num_added);
            model_.add(span[i], value_of(i));
        }
        return counts;
    }
    static void expect_counts(const Result<AddCounts>& counts, const AddCounts& expected) {
        ASSERT_TRUE(counts.ok()) << counts.message();
        EXPECT_EQ(counts->num_added, expected.num_added);
        EXPECT_EQ(counts->num_set, expected.num_set);
        EXPECT_EQ(counts->num_skipped, expected.num_skipped);
    }

    std::size_t add_span() {
        const std::vector<Entity>& span = any_span(40);
        const Value value = any_value();
        const Result<AddCounts> counts = manager_.add(span, make(value));
        expect_counts(counts, add_to_model(span, [&](std::size_t) { return value; }));
        return span.size();
    }
    std::vector<Value> some_values(std::size_t count) {
        std::vector<Value> values(count);
        for (Value& value : values) value = any_value();
        return values;
    }
    static std::vector<T> make_all(const std::vector<Value>& values) {
        std::vector<T> result;
        for (const Value& value : values) result.push_back(make(value));
        return result;
    }
    std::size_t add_values() {
        const std::vector<Entity>& span = any_span(40);
        const std::vector<Value> values = some_values(span.size());
        const std::vector<T> made = make_all(values);
        const Result<AddCounts> counts = manager_.add(span, made);
        expect_counts(counts, add_to_model(span, [&](std::size_t i) { return values[i]; }));
        return span.size();
    }
    std::size_t add_images() {
        const std::vector<Entity>& span = any_span(40);
        const std::vector<Value> values = some_values(span.size() + 1);
        const std::vector<T> made = make_all(values);
        const bool shared = random_.below(2) == 0;
        const Result<AddCounts> counts =
            manager_.core().add_images(span, reinterpret_cast<const std::byte*>(made.data()), shared ? 0 : sizeof(T));
        expect_counts(counts, add_to_model(span, [&](std::size_t i) { return values[shared ? 0 : i]; }));
        return span.size();
    }

    /// One of the entity's instances, with its place in the chain; nil when it has none.
    std::pair<Instance, std::size_t> any_instance(Entity entity) {
        const std::size_t count = model_.values(entity).size();
        const std::size_t place = count == 0 ? 0 : random_.below(static_cast<std::uint32_t>(count));
        Instance instance = manager_.instance(entity);
        for (std::size_t i = 0; i < place && instance; ++i) instance = manager_.next(instance);
        return {instance, place};
    }
    std::size_t set_fields() {
        const Entity entity = any_entity();
        const auto [instance, place] = any_instance(entity);
        EXPECT_EQ(bool(instance), !model_.values(entity).empty());
        if (!instance) return 1;
        const Value value = any_value();
        const T made = make(value);
        manager_.template set<&T::number>(instance, made.number);
        manager_.template set<&T::target>(instance, made.target);
        manager_.template set<&T::small>(instance, made.small);
        manager_.template set<&T::flag>(instance, made.flag);
        const bool moves = random_.below(2) == 0;
        if (moves) manager_.template set<&T::place>(instance, made.place);
        Value& held = model_.at(entity, place);
        held = {value.number, moves ? value.mark : held.mark};
        EXPECT_TRUE(compare(entity));
        return 1;
    }

    std::size_t remove_one() {
        const Entity entity = any_entity();
        EXPECT_EQ(manager_.remove(entity), model_.remove(entity) != 0);
        EXPECT_FALSE(manager_.has(entity));
        return 1;
    }
    std::size_t remove_instance() {
        const Entity entity = any_entity();
        const auto [instance, place] = any_instance(entity);
        if (!instance) return 1;
        manager_.remove(instance);
        model_.remove_at(entity, place);
        EXPECT_TRUE(compare(entity));
        return 1;
    }
    std::size_t remove_span() {
        const std::vector<Entity>& span = any_span(30);
        std::size_t num_removed = 0;
        for (const Entity entity : span) num_removed += model_.remove(entity);
        EXPECT_EQ(manager_.remove(span), num_removed);
        return span.size();
    }

    std::size_t destroy_some(std::uint32_t below) { return destroy(any_span(below)); }
    std::size_t destroy(std::span<const Entity> span) {
        std::vector<Entity> dying;
        for (const Entity entity : span)
            if (entities_.alive(entity)) dying.push_back(entity);
        const std::size_t count = span.size();
        entities_.destroy(span);
        for (const Entity entity : dying) {
            if (manager_.core().rows().options().death == DeathPolicy::kByCallback) model_.remove(entity);
            EXPECT_TRUE(compare(entity));  // under the other policies the rows stay for now
        }
        return count;
    }

    std::size_t settle() {
        settler_.settle(manager_.core());
        if (manager_.core().rows().options().death == DeathPolicy::kAtSettle) {
            for (const Entity entity : model_.entities())
                if (!entities_.alive(entity)) model_.remove(entity);
        } else if (manager_.core().rows().options().death == DeathPolicy::kRandomProbe) {
            follow_collection();
        }
        return 1;
    }
    /// Random probes may have taken any 40 rows of the dead, or all of them before an id comes back, and nothing else.
    void follow_collection() {
        const std::size_t before = model_.num_rows();
        bool have_all_gone = true;
        for (const Entity entity : model_.entities()) {
            if (entities_.alive(entity)) continue;
            const std::vector<Value> held = model_.values(entity);
            Instance left = manager_.instance(entity);
            std::size_t num_removed = 0;
            for (std::size_t i = 0; i < held.size(); ++i) {
                if (left && same_value(manager_.value(left), make(held[i])))
                    left = manager_.next(left);
                else
                    model_.remove_at(entity, i - num_removed++);
            }
            EXPECT_FALSE(left) << "what is left is not a part of what was there";
            have_all_gone &= model_.values(entity).empty();
        }
        EXPECT_TRUE(have_all_gone || before - model_.num_rows() <= 40) << before - model_.num_rows();
        EXPECT_EQ(manager_.num_components(), model_.num_rows());
    }

    std::size_t look_up() {
        for (int i = 0; i < 20; ++i) {
            const Entity entity = any_entity();
            EXPECT_EQ(manager_.has(entity), !model_.values(entity).empty());
            EXPECT_TRUE(compare(entity));
        }
        return 20;
    }
    std::size_t gather() {
        const std::vector<Entity>& span = any_span(100);
        std::vector<Vec3> places(span.size());
        const Vec3 missing{-1, -1, -1};
        std::size_t num_there = 0;
        const std::size_t num_found = manager_.template gather<&T::place>(span, places, missing);
        for (std::size_t i = 0; i < span.size(); ++i) {
            const std::vector<Value>& values = model_.values(span[i]);
            num_there += !values.empty();
            EXPECT_EQ(places[i], values.empty() ? missing : make(values[0]).place);
        }
        EXPECT_EQ(num_found, num_there);
        return span.size();
    }

    /// Operations on everything, most of them with a span that lies in the manager itself.
    std::size_t rarely() {
        const std::size_t count = manager_.num_rows();
        switch (random_.below(200)) {
            case 0:
                manager_.clear();
                model_.clear();
                return count;
            case 1:
                EXPECT_EQ(manager_.remove(manager_.entities()), model_.num_rows());
                model_.clear();
                return count;
            case 2:
                return destroy(manager_.entities());
            case 3:
            case 4:
            case 5:
                return count < 2000 ? add_to_all() : 0;
            case 6:
            case 7:
            case 8:
            case 9:
                return set_column();
            default:
                return 1;
        }
    }
    std::size_t add_to_all() {
        const std::vector<Entity> owners(manager_.entities().begin(), manager_.entities().end());
        const Value value = any_value();
        const Result<AddCounts> counts = manager_.add(manager_.entities(), make(value));
        expect_counts(counts, add_to_model(owners, [&](std::size_t) { return value; }));
        return owners.size();
    }
    std::size_t set_column() {
        const auto numbers = manager_.template write_column<&T::number>();
        const auto places = manager_.template write_column<&T::place>();
        for (const Entity owner : model_.entities()) {
            std::size_t place = 0;
            for (Instance i = manager_.instance(owner); i; i = manager_.next(i), ++place) {
                const Value value{model_.at(owner, place).number, any_value().mark};
                model_.at(owner, place) = value;
                EXPECT_EQ(numbers[i.row], value.number);
                places[i.row] = make(value).place;
            }
        }
        return numbers.size();
    }

    EntityManager entities_;
    PagePool pool_;
    Manager<T> manager_;
    MapManager model_;
    Random random_;
    Settler settler_;
    std::vector<Entity> known_, last_;
    std::uint64_t num_steps_ = 0;
    MarkWatch marks_;
};

template <class T>
struct ManagerOracle : ::testing::Test {};
TYPED_TEST_SUITE(ManagerOracle, AllComponents);

// req: A6 B10 B13 B17 B18 B19 B20
TYPED_TEST(ManagerOracle, random_operations_agree_with_a_map) {
    SCOPED_TRACE(seed_text());
    const LeakCheck leaks;
    // Six components, eight or nine combinations each: 13 million entities in all.
    const std::int64_t num_operations = scaled_operations(300'000);
    std::uint64_t seed_of_this = seed();
    for (const RowIndexKind kind : kinds_of<TypeParam>())
        for (const DeathPolicy death : kPolicies) {
            SCOPED_TRACE(std::string(kind_name(kind)) + " index, death " + policy_name(death));
            Comparison<TypeParam> comparison(kind, death, ++seed_of_this);
            std::int64_t num_done = 0;
            for (std::uint64_t steps = 1; num_done < num_operations; ++steps) {
                num_done += static_cast<std::int64_t>(comparison.step());
                if (steps % 256 == 0) comparison.compare_all();
                if (this->HasFailure()) return;
            }
            comparison.compare_all();
        }
}

}  // namespace
}  // namespace shoal_test
