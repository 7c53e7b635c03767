// Random operations on a database and on a map of maps, side by side.

#include "support/database_oracle.h"
#include "shoal/database/detail/match.h"
#include "shoal/database/detail/zone_statistics.h"
#include "shoal/store/detail/component_mirror.h"
#include "support/mark_watch.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace shoal_test {
namespace {

/// What an entity has: a number for each component that its row has a place for, and whether it is there now. Of a
/// `many` type it has several numbers, the last one that came first.
struct Has {
    Entity entity;
    Zone zone = 0;
    std::map<std::size_t, std::vector<std::uint32_t>> numbers;
    std::array<bool, kNumComponents> disabled{};

    bool has(std::size_t c) const { return numbers.contains(c) && !disabled[c]; }
};

/// Values of a call: for some component types none, one for all, or one per entity.
struct Given {
    std::size_t component;
    enum Kind { kNone, kOne, kEach } kind;
    std::vector<std::uint32_t> numbers;
    bool is_disabled = false;
    std::uint32_t number(std::size_t i) const { return numbers[kind == kOne ? 0 : i]; }
};

class Comparison {
public:
    explicit Comparison(std::uint64_t seed)
        : entities_({.minimum_free_ids = 3, .max_entities = 60'000, .max_death_list = 3000}),
          database_(entities_, pool_, {.first_zone = 2}),
          random_(seed) {
        register_all(std::make_index_sequence<kNumComponents>());
    }

    std::size_t step() {
        const bool is_watched = num_steps_ % 128 == 0;
        if (is_watched) settle(), marks_.begin(database_);
        const std::uint64_t num_changes = database_.num_structural_changes();
        const std::size_t num_operations = change();
        if (is_watched) {
            EXPECT_TRUE(marks_.all_is_marked(database_));
            EXPECT_TRUE(database_.num_structural_changes() != num_changes || !marks_.rows_have_changed(database_));
        }
        return num_operations;
    }
    std::size_t change() {
        const bool growing = (++num_steps_ / 300) % 2 == 0;
        switch (random_.below(growing ? 18 : 21)) {
            case 0:
                return create_some();
            case 1:
                return random_.below(4) == 0 ? create_in_place() : create_some();
            case 2:
                return insert_some();
            case 3:
            case 4:
                return add_some();
            case 5:
                return add_one();
            case 6:
            case 7:
                return remove_some();
            case 8:
                return random_.below(2) == 0 ? remove_one() : enable_some();
            case 9:
                return move_some();
            case 10:
                return set_one();
            case 11:
                return drop_some(growing ? 5 : 60);
            case 12:
                return destroy_some(growing ? 5 : 60);
            case 13:
                return destroy_elsewhere(growing ? 5 : 60);
            case 14:
                return settle();
            case 15:
                return look_up();
            case 16:
                return change_values();
            case 17:
                return random_.below(2) == 0 ? change_one_by_one() : insert_one_by_one();
            case 18:
                return random_.below(8) == 0 ? clear_zone() : 1;
            default:
                return destroy_some(200);
        }
    }

    void compare_all() {
        const Status status = database_.validate();
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(database_.num_rows(), model_.size());
        for (const auto& [index, has] : model_) compare(has.entity);
        compare_zones();
        compare_statistics();
        compare_match();
        compare_mirror();
        for (const ComponentType component : components_) compare_columns(component);
    }

private:
    // --- what reports and look-ups say -----------------------------------------------------------------------------

    void compare_zones() {
        std::map<Zone, std::uint64_t> num_rows;
        for (const auto& [index, has] : model_) ++num_rows[has.zone];
        for (Zone zone = 0; zone < 4 * 37; ++zone) {
            const auto found = num_rows.find(zone);
            ASSERT_EQ(database_.num_rows(zone), found == num_rows.end() ? 0 : found->second) << "zone " << zone;
        }
    }
    void compare_statistics() {
        std::map<std::pair<Zone, std::size_t>, std::array<std::uint64_t, 2>> expected;  // values; of the dead
        std::array<std::array<std::uint64_t, 2>, kNumComponents> all{};
        for (const auto& [index, has] : model_)
            for (const auto& [c, numbers] : has.numbers)
                for (std::array<std::uint64_t, 2>* counts : {&expected[{has.zone, c}], &all[c]}) {
                    (*counts)[0] += numbers.size();
                    (*counts)[1] += entities_.alive(has.entity) ? 0 : numbers.size();
                }
        std::array<StoreStatistics, kNumComponents> held, reported;
        for (const std::size_t count : {kNumComponents, std::size_t(2)}) {  // also without room for all
            for (StoreStatistics& one : held) one.num_rows = one.num_dead_rows = 99;
            ASSERT_EQ(database_.statistics(std::span(held).first(count)), kNumComponents);
            for (std::size_t c = 0; c < kNumComponents; ++c) {
                const std::array<std::uint64_t, 2> untouched = {99, 99};
                const std::array<std::uint64_t, 2>& wanted = c < count ? all[c] : untouched;
                ASSERT_EQ(held[c].num_rows, wanted[0]) << "component " << c;
                ASSERT_EQ(held[c].num_dead_rows, wanted[1]) << "component " << c;
                if (count == kNumComponents) continue;
                ASSERT_EQ(held[c].index.used_bytes, c < count ? reported[c].index.used_bytes : 0) << "component " << c;
            }
            reported = held;
            held = {};
        }
        for (const ZoneStatistics& one : zone_statistics(database_)) {
            const std::array<std::uint64_t, 2> wanted = expected[{one.zone, one.component.number}];
            ASSERT_EQ(one.held.num_rows, wanted[0]) << one.zone << ' ' << one.held.component;
            ASSERT_EQ(one.held.num_dead_rows, wanted[1]) << one.zone << ' ' << one.held.component;
        }
    }
    /// A match that is kept while tables come and go: those with a mass, without a velocity, and who is not hungry.
    void compare_match() {
        if (match_ == nullptr)
            match_ = std::make_unique<DatabaseMatch>(database_, std::span(&components_[2], 1),
                                                     std::array{components_[1], components_[5]});
        match_->refresh();
        const ZoneSet zones[] = {{}, {0, 37, 2, 74, 111}, {37}};
        for (const ZoneSet& zone_set : zones) {
            std::size_t num_rows = 0, num_chosen = 0;
            const auto count = [&](const DatabaseTable& table) {
                ASSERT_NE(table.num_rows(), 0u);
                num_rows += table.num_rows();
                for (std::uint32_t row = 0; row < table.num_rows(); ++row)
                    num_chosen += match_->rows_of_word(table, row / 64) >> (row % 64) & 1;
            };
            zone_set.size() == 0 ? match_->for_each_table(count) : match_->for_each_table(zone_set, count);
            std::size_t wanted = 0, wanted_rows = 0;
            for (const auto& [index, has] : model_) {
                if (zone_set.size() != 0 && !zone_set.contains(has.zone)) continue;
                const bool matches = has.numbers.contains(2) && !has.numbers.contains(1);
                wanted_rows += matches;
                wanted += matches && !has.has(5);
            }
            ASSERT_EQ(num_rows, wanted_rows);
            ASSERT_EQ(num_chosen, wanted);
        }
    }
    /// What a mirror of an enableable component says has come, gone or changed since the last time.
    void compare_mirror() {
        if (mirror_ == nullptr) {
            mirror_ =
                std::make_unique<ComponentMirror>(database_, schema_of<Asleep>(), ComponentMirror::Start::kNoRows);
            mirror_->watch_field(0);
        }
        mirror_->compare();
        std::map<Entity, std::uint32_t> now, came, gone, changed;
        for (const auto& [index, has] : model_)
            if (has.has(4)) now[has.entity] = has.numbers.at(4)[0];
        for (const auto& [entity, number] : now)
            if (!asleep_.contains(entity)) came[entity] = number;
        for (const auto& [entity, number] : asleep_)
            if (const auto found = now.find(entity); found == now.end())
                gone[entity] = number;
            else if (found->second != number)
                changed[entity] = number;
        const auto expect = [](std::span<const Entity> listed, const std::byte* images, const auto& wanted) {
            ASSERT_EQ(listed.size(), wanted.size());
            for (std::size_t i = 0; i < listed.size(); ++i) {
                const auto found = wanted.find(listed[i]);
                ASSERT_NE(found, wanted.end());
                if (images == nullptr) continue;
                ASSERT_EQ(reinterpret_cast<const std::uint32_t*>(images)[i], found->second);
            }
        };
        expect(mirror_->added(), nullptr, came);
        expect(mirror_->removed(), mirror_->removed_values(), gone);
        expect(mirror_->changed(), mirror_->changed_values(), changed);
        asleep_ = now;
    }
    void compare_columns(ComponentType component) {
        const Array<const PhysicalColumn*>& columns = database_.columns_of(component);
        ASSERT_EQ(columns.size(), database_.all_tables().size());
        for (std::size_t number = 0; number < columns.size(); ++number) {
            const DatabaseTable* const table = database_.all_tables()[number];
            const bool has = table != nullptr && table->type().has_column_of(component);
            ASSERT_EQ(columns[number], has ? &table->table().physical_column(table->first_column(component)) : nullptr);
        }
    }

    template <std::size_t... kIndices>
    void register_all(std::index_sequence<kIndices...>) {
        components_ = {database_.component<Nth<kIndices>>()...};
    }

    // --- choosing ------------------------------------------------------------------------------------------------

    Entity any_entity() {
        const std::uint32_t choice = random_.below(50);
        if (choice == 0) return kNullEntity;
        if (choice == 1) return Entity{static_cast<EntityBits>(random_.next())};
        if (choice < 5 && !last_.empty()) return last_[random_.below(std::uint32_t(last_.size()))];
        return known_.empty() ? kNullEntity : known_[random_.below(std::uint32_t(known_.size()))];
    }
    std::vector<Entity> any_span(std::uint32_t below) {
        std::vector<Entity> span(random_.below(below));
        for (Entity& entity : span) entity = any_entity();
        if (random_.below(4) == 0 && !database_.tables().empty()) span = of_one_table();
        return last_ = span;
    }
    /// The entities of a table with many rows: all in order, or some in disorder, now and then with others between.
    std::vector<Entity> of_one_table() {
        const Table* chosen = nullptr;
        for (int i = 0; i < 20; ++i) {
            const Table* table = database_.tables()[random_.below(std::uint32_t(database_.tables().size()))];
            if (chosen == nullptr || table->num_rows() > chosen->num_rows()) chosen = table;
        }
        std::vector<Entity> span(chosen->entities().begin(), chosen->entities().end());
        const std::uint32_t order = random_.below(3);
        for (std::size_t i = span.size(); i > 1 && order != 0; --i)
            std::swap(span[i - 1], span[random_.below(std::uint32_t(i))]);
        if (order == 2) span.resize(random_.below(std::uint32_t(span.size()) + 1));
        for (std::uint32_t i = random_.below(8); i > 0 && i < 4; --i)
            span.insert(span.begin() + random_.below(std::uint32_t(span.size()) + 1), any_entity());
        return span;
    }
    Zone any_zone() { return random_.below(4) * 37; }
    std::vector<std::size_t> any_components(std::uint32_t one_in) {
        switch (random_.below(8)) {  // often the same, so that tables fill
            case 0:
            case 1:
                return {0, 1};
            case 2:
                return {2};
            case 3:
                return {3, 2, 1};
            case 4:
                return {8};
            case 5:
                return {9, 1};
        }
        std::vector<std::size_t> result;
        for (std::size_t c = 0; c < kNumComponents; ++c)
            if (random_.below(one_in) == 0) result.push_back(c);
        return result;
    }
    std::vector<ComponentType> types_of(const std::vector<std::size_t>& chosen) const {
        std::vector<ComponentType> result;
        for (const std::size_t c : chosen) result.push_back(components_[c]);
        return result;
    }

    /// Values of some of the component types; `storage` keeps what the result refers to.
    using Storage = std::tuple<std::vector<Position>, std::vector<Velocity>, std::vector<Mass>, std::vector<Marked>,
                               std::vector<Asleep>, std::vector<Hungry>, std::vector<Body>, std::vector<Title>,
                               std::vector<Tally>, std::vector<Page>>;
    std::vector<ComponentValues> any_values(const std::vector<std::size_t>& chosen, std::size_t count,
                                            std::vector<Given>& given, Storage& storage) {
        std::vector<ComponentValues> result;
        for (const std::size_t c : chosen) {
            Given one{c, Given::Kind(random_.below(3)), {}, kEnableable[c] && random_.below(3) == 0};
            for (std::size_t i = 0; i < (one.kind == Given::kEach ? count : 1); ++i)
                one.numbers.push_back(kEmpty[c] ? 0 : random_.below(kMaxNumber));
            result.push_back(make_values(one, storage, std::make_index_sequence<kNumComponents>()));
            given.push_back(std::move(one));
        }
        return result;
    }
    template <std::size_t... kIndices>
    ComponentValues make_values(const Given& given, Storage& storage, std::index_sequence<kIndices...>) {
        ComponentValues result;
        ((given.component == kIndices ? void(result = make_values<Nth<kIndices>>(given, storage)) : void()), ...);
        result.component = components_[given.component];
        result.is_disabled = given.is_disabled;
        return result;
    }
    template <class T>
    ComponentValues make_values(const Given& given, Storage& storage) {
        ComponentValues result;
        if (given.kind == Given::kNone) return result;
        auto& values = std::get<std::vector<T>>(storage);
        for (const std::uint32_t number : given.numbers) values.push_back(make_of(std::type_identity<T>(), number));
        if constexpr (detail::kHasOpaque<T>) {
            result.context = values.data();
            result.write = given.kind == Given::kOne ? &write_opaque<T, false> : &write_opaque<T, true>;
        } else {
            result.images = reinterpret_cast<const std::byte*>(values.data());
            result.stride = given.kind == Given::kOne ? 0 : sizeof(T);
        }
        return result;
    }
    template <class T, bool kEach>
    static void write_opaque(const void* context, Table& table, std::uint32_t first_column, std::uint32_t row,
                             std::size_t entity) {
        detail::write_component(table, first_column, row, static_cast<const T*>(context)[kEach ? entity : 0]);
    }

    // --- the model -----------------------------------------------------------------------------------------------

    Has* find(Entity entity) {
        const auto found = model_.find(entity.index());
        return found != model_.end() && found->second.entity == entity ? &found->second : nullptr;
    }
    void erase(Entity entity) {
        if (find(entity) != nullptr) model_.erase(entity.index());
    }
    static void give(Has& has, std::span<const Given> given, std::size_t i) {
        for (const Given& one : given) {
            const bool is_new = !has.numbers.contains(one.component);
            std::vector<std::uint32_t>& numbers = has.numbers[one.component];
            if (!kSeveral[one.component] && (is_new || one.kind != Given::kNone)) numbers.clear();
            if (kSeveral[one.component] || is_new || one.kind != Given::kNone)
                numbers.insert(numbers.begin(), one.kind == Given::kNone ? kDefault[one.component] : one.number(i));
            has.disabled[one.component] = one.is_disabled;
        }
    }
    void put(Entity entity, Zone zone, const std::vector<std::size_t>& components, std::span<const Given> given,
             std::size_t i) {
        Has has{entity, zone, {}, {}};
        give(has, given, i);
        for (const std::size_t c : components)
            if (!has.numbers.contains(c)) has.numbers[c] = {kDefault[c]};
        model_[entity.index()] = has;
    }

    // --- operations ----------------------------------------------------------------------------------------------

    std::size_t create_some() {
        std::vector<Entity> out(random_.below(40));
        const std::vector<std::size_t> chosen = any_components(3);
        std::vector<std::size_t> valued;
        for (const std::size_t c : chosen)
            if (random_.below(2) == 0) valued.push_back(c);
        std::vector<Given> given;
        Storage storage;
        const std::vector<ComponentValues> values = any_values(valued, out.size(), given, storage);
        const Zone zone = any_zone();
        const Status status = database_.create(out, database_.archetype(types_of(chosen)), zone, values);
        EXPECT_TRUE(status.ok()) << status.message();
        for (std::size_t i = 0; i < out.size(); ++i) {
            put(out[i], zone, chosen, given, i);
            know(out[i]);
        }
        return out.size();
    }
    /// Rows that are filled where they are, of which some components are disabled.
    std::size_t create_in_place() {
        std::vector<Entity> out(random_.below(40));
        const std::uint32_t first = random_.below(kMaxNumber / 2);
        const bool is_asleep = random_.below(2) == 0;
        const auto fill = [&](const NewRows& rows) {
            const Column mass = rows.column<&Mass::value>();
            const Column since = rows.column<&Asleep::since>();
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const auto number = first + std::uint32_t(rows.first() + i);
                mass[i] = float(number), since[i] = number;
            }
        };
        const Status status = is_asleep
                                  ? database_.create_in_place<Mass, Asleep, Disabled<Hungry>, Velocity>(out, 37, fill)
                                  : database_.create_in_place<Mass, Disabled<Asleep>, Hungry, Position>(out, 37, fill);
        EXPECT_TRUE(status.ok()) << status.message();
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::uint32_t number = first + std::uint32_t(i);
            put(out[i], 37, {is_asleep ? std::size_t(1) : std::size_t(0)},
                std::vector<Given>{{2, Given::kOne, {number}},
                                   {4, Given::kOne, {number}, !is_asleep},
                                   {5, Given::kOne, {0}, is_asleep}},
                0);
            know(out[i]);
            compare(out[i]);
        }
        return out.size();
    }
    void know(Entity entity) {
        if (known_.size() < 3000)
            known_.push_back(entity);
        else
            known_[random_.below(3000)] = entity;
    }

    std::size_t insert_some() {
        std::vector<Entity> span = any_span(20);
        for (const Entity entity : create(entities_, random_.below(20))) span.push_back(entity), know(entity);
        const std::vector<std::size_t> chosen = any_components(3);
        std::vector<Given> given;
        Storage storage;
        const std::vector<ComponentValues> values = any_values(chosen, span.size(), given, storage);
        const Zone zone = any_zone();
        std::uint32_t num_added = 0;
        for (std::size_t i = 0; i < span.size(); ++i) {
            if (!entities_.alive(span[i]) || find(span[i]) != nullptr) continue;
            put(span[i], zone, chosen, given, i);
            ++num_added;
        }
        const auto counts = database_.insert(span, database_.archetype(types_of(chosen)), zone, values);
        EXPECT_EQ(counts->num_added, num_added);
        EXPECT_EQ(counts->num_skipped, span.size() - num_added);
        return span.size();
    }

    std::size_t add_some() {
        std::vector<std::size_t> chosen = any_components(5);
        if (chosen.empty()) chosen.push_back(random_.below(kNumComponents));
        return add_some(chosen);
    }
    std::size_t add_some(const std::vector<std::size_t>& chosen) {
        std::vector<Entity> span = any_span(60);
        if (random_.below(3) == 0)
            for (const Entity entity : create(entities_, random_.below(10))) span.push_back(entity), know(entity);
        std::vector<Given> given;
        Storage storage;
        const std::vector<ComponentValues> values = any_values(chosen, span.size(), given, storage);
        const Result<AddCounts> counts = database_.add(span, values);
        EXPECT_TRUE(counts.ok()) << counts.message();
        const AddCounts expected = add_to_model(span, given);
        EXPECT_EQ(counts->num_added, expected.num_added);
        EXPECT_EQ(counts->num_set, expected.num_set);
        EXPECT_EQ(counts->num_skipped, expected.num_skipped);
        return span.size();
    }
    AddCounts add_to_model(std::span<const Entity> span, std::span<const Given> given) {
        AddCounts counts;
        for (std::size_t i = 0; i < span.size(); ++i) {
            if (!entities_.alive(span[i])) {
                ++counts.num_skipped;
                continue;
            }
            Has* has = find(span[i]);
            bool gains = has == nullptr;
            for (const Given& one : given)
                gains |= has != nullptr && (kSeveral[one.component] || !has->numbers.contains(one.component) ||
                                            (!has->has(one.component) && !one.is_disabled));
            ++(gains ? counts.num_added : counts.num_set);
            if (has == nullptr)
                put(span[i], 2, {}, given, i);
            else
                give(*has, given, i);
        }
        return counts;
    }

    std::size_t add_one() {
        const Entity entity = any_entity();
        const std::uint32_t number = random_.below(kMaxNumber), other = random_.below(kMaxNumber);
        Result<AddCounts> counts = AddCounts();
        std::vector<Given> given;
        switch (random_.below(6)) {
            case 0:
                counts = database_.add(entity, make_of(std::type_identity<Velocity>(), number));
                given = {{1, Given::kOne, {number}}};
                break;
            case 1:
                counts = database_.add(entity, make_of(std::type_identity<Title>(), number), Marked());
                given = {{7, Given::kOne, {number}}, {3, Given::kOne, {0}}};
                break;
            case 2:
                counts = database_.add(entity, make_of(std::type_identity<Asleep>(), number));
                given = {{4, Given::kOne, {number}}};
                break;
            case 3:
                counts = database_.add(entity, make_of(std::type_identity<Tally>(), number));
                given = {{8, Given::kOne, {number}}};
                break;
            case 4:
                counts = database_.add(entity, make_of(std::type_identity<Page>(), number),
                                       make_of(std::type_identity<Mass>(), other));
                given = {{9, Given::kOne, {number}}, {2, Given::kOne, {other}}};
                break;
            default:
                counts = database_.add(entity, make_of(std::type_identity<Mass>(), number),
                                       make_of(std::type_identity<Body>(), other));
                given = {{2, Given::kOne, {number}}, {6, Given::kOne, {other}}};
        }
        const AddCounts expected = add_to_model({&entity, 1}, given);
        EXPECT_EQ(counts->num_added, expected.num_added);
        EXPECT_EQ(counts->num_set, expected.num_set);
        EXPECT_EQ(counts->num_skipped, expected.num_skipped);
        compare(entity);
        return 1;
    }

    /// The same call for one entity of a table after another, in their order or not, so that rows take the same step.
    std::size_t change_one_by_one() {
        if (database_.tables().empty()) return 1;
        std::vector<Entity> span = of_one_table();
        span.resize(std::min<std::size_t>(span.size(), 60));
        const std::uint32_t kind = random_.below(10);
        for (const Entity entity : span) {
            const std::uint32_t number = random_.below(kMaxNumber);
            const auto expect_added = [&](const Result<AddCounts>& counts, const std::vector<Given>& given) {
                const AddCounts expected = add_to_model({&entity, 1}, given);
                EXPECT_EQ(counts->num_added, expected.num_added);
                EXPECT_EQ(counts->num_set, expected.num_set);
            };
            const auto expect_removed = [&](bool removed, const std::vector<std::size_t>& chosen) {
                EXPECT_EQ(removed, remove_from_model(entity, chosen));
            };
            if (kind == 0)
                expect_added(database_.add(entity, make_of(std::type_identity<Mass>(), number)),
                             {{2, Given::kOne, {number}}});
            else if (kind == 1)
                expect_added(database_.add(entity, make_of(std::type_identity<Asleep>(), number)),
                             {{4, Given::kOne, {number}}});
            else if (kind == 2)
                expect_added(database_.add(entity, Hungry(), make_of(std::type_identity<Position>(), number)),
                             {{5, Given::kOne, {0}}, {0, Given::kOne, {number}}});
            else if (kind == 3)
                expect_added(database_.add(entity, Disabled{make_of(std::type_identity<Asleep>(), number)}),
                             {{4, Given::kOne, {number}, true}});
            else if (kind == 4)
                expect_removed(*database_.remove<Mass>(entity), {2});
            else if (kind == 5)
                expect_removed(*database_.remove<Hungry>(entity), {5});
            else if (kind == 6)
                expect_removed(*database_.remove<Tally>(entity), {8});
            else if (kind == 7)
                expect_added(database_.add(entity, Hungry(), make_of(std::type_identity<Asleep>(), number)),
                             {{5, Given::kOne, {0}}, {4, Given::kOne, {number}}});
            else
                expect_removed(*database_.remove<Asleep, Position>(entity), {4, 0});
        }
        for (const Entity entity : span) compare(entity);
        return span.size();
    }
    std::size_t insert_one_by_one() {
        const std::vector<Entity> fresh = create(entities_, random_.below(40));
        for (const Entity entity : fresh) {
            const std::uint32_t number = random_.below(kMaxNumber);
            const bool is_asleep = random_.below(2) == 0;
            const Zone zone = random_.below(3) == 0 ? any_zone() : 37;
            const Asleep asleep = make_of(std::type_identity<Asleep>(), number);
            const Mass mass = make_of(std::type_identity<Mass>(), number);
            EXPECT_TRUE(*(is_asleep ? database_.insert(entity, zone, mass, asleep, Disabled{Hungry()})
                                    : database_.insert(entity, zone, mass, Disabled{asleep}, Hungry())));
            put(entity, zone, {},
                std::vector<Given>{{2, Given::kOne, {number}},
                                   {4, Given::kOne, {number}, !is_asleep},
                                   {5, Given::kOne, {0}, is_asleep}},
                0);
            know(entity);
        }
        for (const Entity entity : fresh) compare(entity);
        return fresh.size();
    }
    /// Spans of which all component types are enableable.
    std::size_t enable_some() {
        std::vector<std::size_t> chosen;
        while (chosen.empty()) {
            if (random_.below(2) == 0) chosen.push_back(4);
            if (random_.below(2) == 0) chosen.push_back(5);
        }
        return random_.below(2) == 0 ? add_some(chosen) : remove_some(chosen);
    }

    bool remove_from_model(Entity entity, const std::vector<std::size_t>& chosen) {
        Has* has = find(entity);
        bool any = false;
        for (const std::size_t c : chosen) {
            if (has == nullptr || !has->has(c)) continue;
            any = true;
            if (kEnableable[c])
                has->disabled[c] = true;
            else
                has->numbers.erase(c);
        }
        return any;
    }
    std::size_t remove_some() { return remove_some(any_components(4)); }
    std::size_t remove_some(const std::vector<std::size_t>& chosen) {
        const std::vector<Entity> span = any_span(60);
        const Result<std::uint32_t> count = database_.remove(span, types_of(chosen));
        EXPECT_TRUE(count.ok()) << count.message();
        std::uint32_t expected = 0;
        for (const Entity entity : span) expected += remove_from_model(entity, chosen);
        EXPECT_EQ(*count, expected);
        return span.size();
    }
    std::size_t remove_one() {
        const Entity entity = any_entity();
        bool removed;
        std::vector<std::size_t> chosen;
        switch (random_.below(5)) {
            case 0:
                removed = *database_.remove<Tally>(entity);
                chosen = {8};
                break;
            case 1:
                removed = *database_.remove<Page, Velocity>(entity);
                chosen = {9, 1};
                break;
            case 2:
                removed = *database_.remove<Position>(entity);
                chosen = {0};
                break;
            case 3:
                removed = *database_.remove<Asleep>(entity);
                chosen = {4};
                break;
            default:
                removed = *database_.remove<Title, Hungry, Mass>(entity);
                chosen = {7, 5, 2};
        }
        EXPECT_EQ(removed, remove_from_model(entity, chosen));
        compare(entity);
        return 1;
    }

    /// An entity with a row, or any.
    Entity any_with_row() {
        const auto found = model_.lower_bound(random_.below(60'000) >> random_.below(12));
        return found == model_.end() ? any_entity() : found->second.entity;
    }
    void add_value(Entity entity) {
        const std::uint32_t number = random_.below(kMaxNumber);
        const bool is_page = random_.below(2) == 0;
        const auto counts = is_page ? database_.add(entity, make_of(std::type_identity<Page>(), number))
                                    : database_.add(entity, make_of(std::type_identity<Tally>(), number));
        const Given given[] = {{is_page ? std::size_t(9) : std::size_t(8), Given::kOne, {number}}};
        EXPECT_EQ(counts->num_added, add_to_model({&entity, 1}, given).num_added);
    }
    std::size_t change_values() {
        const Entity entity = any_with_row();
        for (std::uint32_t i = random_.below(8); i > 0; --i) add_value(entity);
        for (int i = 0; i < 5; ++i) {
            const std::size_t c = random_.below(4) == 0 ? random_.below(kNumComponents) : 8 + random_.below(2);
            const std::uint32_t index = random_.below(5);
            Has* has = find(entity);
            const bool is_there = has != nullptr && has->has(c) && index < has->numbers[c].size();
            EXPECT_EQ(*database_.remove_value(entity, components_[c], index), is_there);
            if (is_there && has->numbers[c].size() == 1)
                remove_from_model(entity, {c});
            else if (is_there)
                has->numbers[c].erase(has->numbers[c].begin() + index);
            compare(entity);
        }
        return 5;
    }

    std::size_t move_some() {
        const std::vector<Entity> span = any_span(60);
        const Zone zone = any_zone();
        const Result<std::uint32_t> count = database_.move(span, zone);
        EXPECT_TRUE(count.ok()) << count.message();
        std::uint32_t expected = 0;
        for (const Entity entity : span) {
            Has* has = find(entity);
            if (has == nullptr) continue;
            expected += has->zone != zone;
            has->zone = zone;
        }
        EXPECT_EQ(*count, expected);
        return span.size();
    }

    std::size_t set_one() {
        const Entity entity = any_entity();
        const std::size_t c = random_.below(kNumComponents);
        Has* has = find(entity);
        EXPECT_EQ(database_.has(entity, components_[c]), has != nullptr && has->has(c));
        if (has == nullptr || !has->has(c) || kEmpty[c]) return 1;
        const std::uint32_t index = random_.below(std::uint32_t(has->numbers[c].size()));
        const std::uint32_t number = has->numbers[c][index] = random_.below(kMaxNumber);
        if (index == 0 && random_.below(2) == 0)
            set_component(c, database_.find(entity), number, std::make_index_sequence<kNumComponents>());
        else
            set_value(c, entity, index, number, std::make_index_sequence<kNumComponents>());
        compare(entity);
        return 1;
    }
    template <std::size_t... kIndices>
    void set_component(std::size_t c, DatabaseRow row, std::uint32_t number, std::index_sequence<kIndices...>) {
        ((c == kIndices ? set_number<Nth<kIndices>>(database_, row, number) : void()), ...);
    }

    template <std::size_t... kIndices>
    void set_value(std::size_t c, Entity entity, std::uint32_t index, std::uint32_t number,
                   std::index_sequence<kIndices...>) {
        ((c == kIndices ? set_number<Nth<kIndices>>(database_, entity, index, number) : void()), ...);
    }

    std::size_t drop_some(std::uint32_t below) {
        const std::vector<Entity> span = any_span(below);
        database_.drop(span);
        for (const Entity entity : span) erase(entity);
        return span.size();
    }
    std::size_t destroy_some(std::uint32_t below) {
        const std::vector<Entity> span = any_span(below);
        const std::uint64_t num_alive = entities_.num_alive();
        const std::uint32_t num_destroyed = database_.destroy(span);
        EXPECT_EQ(num_destroyed, num_alive - entities_.num_alive());
        for (const Entity entity : span) erase(entity);
        return span.size();
    }
    std::size_t destroy_elsewhere(std::uint32_t below) {
        const std::vector<Entity> span = any_span(below);
        entities_.destroy(span);
        return span.size();
    }
    std::size_t settle() {
        database_.settle({.random = &settle_random_, .stamp = ++stamp_, .counts = &settled_});  // a sum over all
        num_removed_ += std::erase_if(model_, [&](const auto& item) { return !entities_.alive(item.second.entity); });
        EXPECT_EQ(settled_.num_removed, num_removed_);
        return 1;
    }
    std::size_t clear_zone() {
        const Zone zone = any_zone();
        std::size_t count = 0;
        for (const auto& [index, has] : model_) count += has.zone == zone && entities_.alive(has.entity);
        EXPECT_EQ(database_.clear_zone(zone), count);
        return std::erase_if(model_, [&](const auto& item) { return item.second.zone == zone; });
    }

    std::size_t look_up() {
        for (int i = 0; i < 20; ++i) compare(any_entity());
        return 20;
    }

    void compare(Entity entity) {
        const Has* expected = find(entity);
        const DatabaseRow row = database_.find(entity);
        ASSERT_EQ(bool(row), expected != nullptr) << "entity " << entity.id;
        if (!row) return;
        EXPECT_EQ(row.table->entities()[row.row], entity);
        EXPECT_EQ(row.table->zone(), expected->zone);
        compare_components(row, *expected, std::make_index_sequence<kNumComponents>());
    }
    template <std::size_t... kIndices>
    void compare_components(DatabaseRow row, const Has& expected, std::index_sequence<kIndices...>) {
        (compare_component<kIndices>(row, expected), ...);
    }
    template <std::size_t kIndex>
    void compare_component(DatabaseRow row, const Has& expected) {
        const auto found = expected.numbers.find(kIndex);
        EXPECT_EQ(row.table->has(components_[kIndex], row.row), expected.has(kIndex)) << "component " << kIndex;
        ASSERT_EQ(row.table->type().has(components_[kIndex]), found != expected.numbers.end());
        if (found == expected.numbers.end()) return;
        if constexpr (kSeveral[kIndex])
            EXPECT_EQ(numbers_of<Nth<kIndex>>(database_, expected.entity), found->second) << "component " << kIndex;
        else
            EXPECT_EQ(number_at<Nth<kIndex>>(database_, row), found->second[0]) << "component " << kIndex;
    }

    EntityManager entities_;
    PagePool pool_;
    Database database_;
    Random random_;
    Random settle_random_{1};
    SettleCounts settled_;
    std::uint64_t stamp_ = 1, num_removed_ = 0;
    std::unique_ptr<DatabaseMatch> match_;
    std::unique_ptr<ComponentMirror> mirror_;
    std::map<Entity, std::uint32_t> asleep_;  // when the mirror was asked last
    std::array<ComponentType, kNumComponents> components_;
    std::map<std::uint32_t, Has> model_;  // by entity index
    std::vector<Entity> known_, last_;
    std::uint64_t num_steps_ = 0;
    MarkWatch marks_;
};

// req: E13
TEST(DatabaseOracle, random_operations_agree_with_a_map_of_maps) {
    SCOPED_TRACE(seed_text());
    const LeakCheck leaks;
    Comparison comparison(seed());
    std::int64_t num_left = scaled_operations(5'000'000);
    for (std::uint64_t step = 0; num_left > 0 && !::testing::Test::HasFailure(); ++step) {
        num_left -= static_cast<std::int64_t>(comparison.step());
        if (step % 500 == 0) comparison.compare_all();
    }
    comparison.compare_all();
}

}  // namespace
}  // namespace shoal_test
