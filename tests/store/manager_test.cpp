// Managers, one promise at a time: handles, chains, spans, columns, opaque components.

#include "support/manager_testing.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shoal_test {
namespace {

template <class T>
struct ManagerTest : ::testing::Test {
    EntityManager entities{{.minimum_free_ids = 1}};
    PagePool pool;
};
template <class T>
struct OneTest : ManagerTest<T> {};
template <class T>
struct ManyTest : ManagerTest<T> {};
TYPED_TEST_SUITE(ManagerTest, AllComponents);
TYPED_TEST_SUITE(OneTest, OneComponents);
TYPED_TEST_SUITE(ManyTest, ManyComponents);

// req: A4 A7 B11
TYPED_TEST(ManagerTest, a_handle_is_had_once_and_used_often) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        const std::vector<Entity> made = create(this->entities, 3);
        ASSERT_TRUE(manager.add(made[1]).ok());
        const Instance instance = manager.instance(made[1]);
        ASSERT_TRUE(instance);
        EXPECT_EQ(manager.entity(instance), made[1]);
        EXPECT_TRUE(same_value(manager.value(instance), TypeParam{})) << "an added component starts with its defaults";
        manager.template set<&TypeParam::number>(instance, 99);
        manager.template set<&TypeParam::place>(instance, {4, 5, 6});
        EXPECT_EQ(manager.template get<&TypeParam::number>(instance), 99u);
        EXPECT_EQ(Vec3(manager.template get<&TypeParam::place>(instance)), (Vec3{4, 5, 6}));
        EXPECT_EQ(manager.num_components(), 1u);
    }
}

// req: B12
TYPED_TEST(ManagerTest, an_id_without_a_row_gives_the_nil_instance) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        const Entity foreign{static_cast<EntityBits>(~EntityBits(0))};
        EXPECT_TRUE(manager.instance(kNullEntity).is_nil());
        EXPECT_TRUE(manager.instance(foreign).is_nil());
        const std::vector<Entity> made = create(this->entities, 2);
        ASSERT_TRUE(manager.add(made[0]).ok());
        for (const Entity entity :
             {kNullEntity, made[1], foreign, make_entity(made[0].index(), 77), make_entity(0, 1)}) {
            EXPECT_EQ(manager.instance(entity), kNilInstance);
            EXPECT_FALSE(manager.has(entity));
            EXPECT_FALSE(manager.remove(entity));
            EXPECT_FALSE(*manager.add(make_entity(entity.index(), 77))) << "what does not live gets no component";
        }
        EXPECT_EQ(manager.num_components(), 1u);
        EXPECT_EQ(manager.instance(made[0]).row == kNilRow, false);
    }
}

TYPED_TEST(ManagerTest, using_the_nil_instance_ends_the_program) {
    ::testing::FLAGS_gtest_death_test_style = "fast";
    Manager<TypeParam> manager(this->entities, this->pool);
    ASSERT_TRUE(manager.add(*this->entities.create()).ok());
    EXPECT_DEATH(static_cast<void>(manager.template get<&TypeParam::number>(kNilInstance)),
                 "the instance of \"" + std::string(manager.core().schema().name()) +
                     "\" is nil: its entity is dead, or has none");
    EXPECT_DEATH(manager.template set<&TypeParam::number>(Instance{1}, 1),
                 "the instance is row 1 of \".*, which has 1: it was removed");
    EXPECT_DEATH(manager.remove(kNilInstance), "is nil");
    EXPECT_DEATH(static_cast<void>(manager.entity(kNilInstance)), "is nil");
}

// req: B17
TYPED_TEST(OneTest, removing_a_row_keeps_every_other_found) {
    for (const RowIndexKind kind : kinds_of<TypeParam>())
        for (std::size_t victim = 0; victim < 5; ++victim) {
            SCOPED_TRACE(std::string(kind_name(kind)) + ", victim " + std::to_string(victim));
            Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
            const std::vector<Entity> made = create(this->entities, 5);
            for (std::size_t i = 0; i < 5; ++i) ASSERT_TRUE(manager.add(made[i], make_value<TypeParam>(i, 0)).ok());
            EXPECT_TRUE(manager.remove(made[victim]));
            EXPECT_FALSE(manager.remove(made[victim]));
            for (std::size_t i = 0; i < 5; ++i) {
                const std::vector<std::uint64_t> left = numbers_of(manager, made[i]);
                EXPECT_EQ(left, i == victim ? std::vector<std::uint64_t>() : std::vector<std::uint64_t>{i});
            }
            EXPECT_TRUE(manager.core().validate().ok());
            EXPECT_EQ(manager.num_components(), 4u);
        }
}

TYPED_TEST(OneTest, adding_what_is_there_sets_it) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        const std::vector<Entity> made = create(this->entities, 2);
        ASSERT_TRUE(manager.add(made[0], make_value<TypeParam>(1, 1)).ok());
        const Entity span[] = {made[0], made[1], kNullEntity, made[1]};
        const TypeParam values[] = {make_value<TypeParam>(10, 1), make_value<TypeParam>(11, 1),
                                    make_value<TypeParam>(12, 1), make_value<TypeParam>(13, 1)};
        const Result<AddCounts> counts = manager.add(std::span<const Entity>(span), std::span<const TypeParam>(values));
        ASSERT_TRUE(counts.ok());
        EXPECT_EQ(counts->num_added, 1u);
        EXPECT_EQ(counts->num_set, 2u);
        EXPECT_EQ(counts->num_skipped, 1u);
        EXPECT_EQ(numbers_of(manager, made[0]), std::vector<std::uint64_t>{10});
        EXPECT_EQ(numbers_of(manager, made[1]), std::vector<std::uint64_t>{13})
            << "the last of a repeated entity's values stays";
    }
}

// req: A8 B13
TYPED_TEST(ManyTest, an_entity_has_a_chain_of_instances_that_row_moves_keep) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        const std::vector<Entity> made = create(this->entities, 3);
        for (std::uint64_t i = 0; i < 12; ++i) ASSERT_TRUE(manager.add(made[i % 3], make_value<TypeParam>(i, 0)).ok());
        EXPECT_EQ(numbers_of(manager, made[0]), (std::vector<std::uint64_t>{9, 6, 3, 0})) << "the newest comes first";
        EXPECT_TRUE(manager.remove(made[1]));
        EXPECT_TRUE(manager.core().validate().ok());
        EXPECT_EQ(numbers_of(manager, made[0]), (std::vector<std::uint64_t>{9, 6, 3, 0}));
        EXPECT_EQ(numbers_of(manager, made[2]), (std::vector<std::uint64_t>{11, 8, 5, 2}));
        manager.remove(manager.next(manager.instance(made[2])));
        EXPECT_EQ(numbers_of(manager, made[2]), (std::vector<std::uint64_t>{11, 5, 2}));
        manager.remove(manager.instance(made[2]));
        EXPECT_EQ(numbers_of(manager, made[2]), (std::vector<std::uint64_t>{5, 2}));
        EXPECT_EQ(numbers_of(manager, made[0]), (std::vector<std::uint64_t>{9, 6, 3, 0}));
        EXPECT_TRUE(manager.core().validate().ok());
    }
}

// req: B10
TYPED_TEST(OneTest, an_identity_row_is_the_entity_index_and_the_rest_are_holes) {
    Manager<TypeParam> manager(this->entities, this->pool, {.index = RowIndexKind::kIdentity});
    const std::vector<Entity> made = create(this->entities, 100);
    for (const std::size_t i : {70u, 20u, 45u}) ASSERT_TRUE(manager.add(made[i], make_value<TypeParam>(i, 0)).ok());
    EXPECT_EQ(manager.num_components(), 3u);
    EXPECT_EQ(manager.num_rows(), made[70].index() + 1);
    EXPECT_EQ(manager.instance(made[45]).row, made[45].index());
    EXPECT_FALSE(manager.entity(Instance{made[46].index()})) << "a hole belongs to nobody";
    EXPECT_TRUE(same_value(manager.value(Instance{made[46].index()}), TypeParam{})) << "a hole holds harmless values";
    EXPECT_TRUE(manager.remove(made[70]));
    EXPECT_EQ(manager.num_rows(), made[45].index() + 1) << "holes at the end go";
    EXPECT_TRUE(manager.remove(made[20]));
    EXPECT_EQ(manager.num_components(), 1u);
    ASSERT_TRUE(manager.add(made[20], make_value<TypeParam>(5, 0)).ok());
    EXPECT_EQ(numbers_of(manager, made[20]), std::vector<std::uint64_t>{5});
    EXPECT_TRUE(manager.core().validate().ok());
}

TYPED_TEST(ManagerTest, spans_may_lie_in_the_manager_itself) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        constexpr bool kMany = DescriptionOf<TypeParam>::kMany;
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind, .death = DeathPolicy::kByCallback});
        const std::vector<Entity> made = create(this->entities, 3000);
        ASSERT_TRUE(manager.add(made, make_value<TypeParam>(1, 0)).ok());
        for (int round = 0; round < 3; ++round) {  // from small through promotion
            const Result<AddCounts> counts = manager.add(manager.entities(), make_value<TypeParam>(2, 0));
            ASSERT_TRUE(counts.ok());
            EXPECT_EQ(counts->num_added, kMany ? 3000u << round : 0u);
        }
        EXPECT_EQ(manager.num_components(), kMany ? 24000u : 3000u);
        ASSERT_TRUE(manager.core().validate().ok());
        EXPECT_GT(manager.remove(manager.entities().first(1500)), 0u);
        ASSERT_TRUE(manager.core().validate().ok());
        EXPECT_GT(this->entities.destroy(manager.entities()), 0u);
        EXPECT_EQ(manager.num_rows(), 0u);
        ASSERT_TRUE(manager.add(made).ok());
        EXPECT_EQ(manager.num_components(), this->entities.num_alive());
        EXPECT_EQ(manager.remove(manager.entities()), this->entities.num_alive());
        this->entities.destroy(made);
    }
}

TYPED_TEST(ManagerTest, empty_spans_and_empty_managers_are_fine) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        const Result<AddCounts> counts = manager.add(std::span<const Entity>());
        ASSERT_TRUE(counts.ok());
        EXPECT_EQ(counts->num_added + counts->num_set + counts->num_skipped, 0u);
        EXPECT_EQ(manager.remove(std::span<const Entity>()), 0u);
        manager.clear();
        Settler().settle(manager.core());
        EXPECT_EQ(manager.num_rows(), 0u);
        EXPECT_EQ(manager.template column<&TypeParam::number>().size(), 0u);
        EXPECT_EQ(manager.template write_column<&TypeParam::place>().size(), 0u);
        EXPECT_EQ(manager.core().table().memory_use().committed_bytes, 0u);
        EXPECT_TRUE(manager.core().validate().ok());
    }
}

TYPED_TEST(ManagerTest, growing_from_nothing_keeps_every_value) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        const LeakCheck leaks;
        EntityManager entities;
        PagePool pool;
        Manager<TypeParam> manager(entities, pool, {.index = kind});
        std::vector<Entity> made;
        for (std::uint32_t count = 1; made.size() < 20'000; count += 1 + count / 3) {
            const std::vector<Entity> more = create(entities, count);
            std::vector<TypeParam> values;
            for (std::size_t i = 0; i < count; ++i) values.push_back(make_value<TypeParam>(made.size() + i, 3));
            ASSERT_TRUE(manager.add(more, values).ok());
            made.insert(made.end(), more.begin(), more.end());
            for (std::size_t i = 0; i < made.size(); i += 1 + made.size() / 50)
                ASSERT_TRUE(same_value(manager.value(manager.instance(made[i])), make_value<TypeParam>(i, 3)));
        }
        EXPECT_GT(manager.core().table().num_promotions(), 0u);
        EXPECT_FALSE(manager.core().table().in_slab());
        EXPECT_TRUE(manager.core().validate().ok());
    }
}

TYPED_TEST(ManagerTest, a_gather_gives_what_a_loop_of_look_ups_gives) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        std::vector<Entity> made = create(this->entities, 60'000);
        ASSERT_TRUE(manager.add(std::span(made).first(50'000)).ok());
        auto numbers = manager.template write_column<&TypeParam::number>();
        auto places = manager.template write_column<&TypeParam::place>();
        Random random(seed());
        for (std::uint32_t row = 0; row < manager.num_rows(); ++row) {
            numbers[row] = random.next();
            places[row] = Vec3{random.unit(), random.unit(), random.unit()};
        }
        for (std::size_t i = 0; i < made.size(); ++i)
            std::swap(made[i], made[random.below(static_cast<std::uint32_t>(i + 1))]);
        for (std::size_t i = 0; i < made.size(); i += 10) made[i] = make_entity(made[i].index(), 9);  // stale
        made[5] = kNullEntity;
        for (const std::size_t count :
             {std::size_t(0), std::size_t(1), std::size_t(300), std::size_t(385), made.size()}) {
            const std::span<const Entity> asked = std::span(made).first(count);
            std::vector<std::uint64_t> out_numbers(count);
            std::vector<Vec3> out_places(count);
            std::size_t num_there = 0;
            EXPECT_EQ(manager.template gather<&TypeParam::number>(asked, out_numbers, 3),
                      manager.template gather<&TypeParam::place>(asked, out_places));
            for (std::size_t i = 0; i < count; ++i) {
                const Instance instance = manager.instance(asked[i]);
                num_there += bool(instance);
                ASSERT_EQ(out_numbers[i], instance ? manager.template get<&TypeParam::number>(instance) : 3u);
                ASSERT_EQ(out_places[i], instance ? Vec3(manager.template get<&TypeParam::place>(instance)) : Vec3{});
            }
            EXPECT_EQ(manager.template gather<&TypeParam::number>(asked, out_numbers), num_there);
            EXPECT_TRUE(count < 1000 || (num_there > count * 6 / 10 && num_there < count * 8 / 10));
        }
        this->entities.destroy(made);
    }
}

// req: B3
TYPED_TEST(ManagerTest, reading_leaves_no_mark_and_writing_marks_the_column) {
    Manager<TypeParam> manager(this->entities, this->pool);
    Settler settler;
    ASSERT_TRUE(manager.add(create(this->entities, 3000)).ok());
    settler.settle(manager.core());
    const std::uint64_t stamp = settler.stamp();
    const Table& table = manager.core().table();
    const auto written = [&](std::uint32_t column, std::uint32_t block) {
        return table.written_stamp(column, block) == stamp;
    };
    constexpr std::uint32_t kNumber = FieldLayout<&TypeParam::number>::kFirstColumn;
    constexpr std::uint32_t kPlace = FieldLayout<&TypeParam::place>::kFirstColumn;
    constexpr bool kWhole = DescriptionOf<TypeParam>::kWhole;
    static_cast<void>(manager.template column<&TypeParam::number>()[2999]);
    static_cast<void>(manager.value(Instance{2000}));
    for (std::uint32_t block = 0; block < 3; ++block) EXPECT_FALSE(written(kNumber, block) || written(kPlace, block));
    manager.template set<&TypeParam::place>(Instance{1500}, {0, 0, 1});
    EXPECT_FALSE(written(kPlace, 0));
    EXPECT_TRUE(written(kPlace, 1));
    EXPECT_EQ(written(kNumber, 1), kWhole) << "fields apart are marked apart";
    manager.template write_column<&TypeParam::number>({2048, 2049})[2048] = 5;
    EXPECT_FALSE(written(kNumber, 0));
    EXPECT_TRUE(written(kNumber, 2));
    static_cast<void>(manager.template write_column<&TypeParam::place>());
    for (std::uint32_t block = 0; block < 3; ++block)
        for (std::uint32_t lane = 0; lane < FieldLayout<&TypeParam::place>::kNumColumns; ++lane)
            EXPECT_TRUE(written(kPlace + lane, block));
}

TYPED_TEST(ManagerTest, structural_changes_are_counted_and_writes_are_not) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        const std::vector<Entity> made = create(this->entities, 10);
        std::uint64_t before = manager.core().num_structural_changes();
        const auto changed = [&] { return std::exchange(before, manager.core().num_structural_changes()) < before; };
        EXPECT_TRUE((static_cast<void>(manager.add(made[0]).ok()), changed()));
        EXPECT_TRUE((static_cast<void>(manager.add(made).ok()), changed()));
        EXPECT_FALSE((manager.template set<&TypeParam::number>(manager.instance(made[0]), 5), changed()));
        EXPECT_FALSE((manager.template write_column<&TypeParam::number>(), changed()));
        EXPECT_FALSE((manager.remove(kNullEntity), changed()));
        EXPECT_FALSE((Settler().settle(manager.core()), changed()));
        EXPECT_TRUE((manager.remove(manager.instance(made[9])), changed()));
        EXPECT_TRUE((manager.remove(made[8]), changed()));
        EXPECT_TRUE((this->entities.destroy(made[7]), Settler().settle(manager.core()), changed()));
        EXPECT_TRUE((manager.clear(), changed()));
    }
}

// --- opaque components -------------------------------------------------------------------------------------------

struct Owner {
    std::string text = "none";
    std::unique_ptr<int> number;
    float weight = 1;
};
SHOAL_COMPONENT(Owner, text, number, weight)
struct Owners {
    std::string text;
    float weight = 1;
};
SHOAL_COMPONENT((Owners, many), text, weight)

std::string long_text(std::size_t i) {
    return "a text that is too long to lie in the string itself " + std::to_string(i);
}

TEST(OpaqueComponents, a_move_only_component_is_moved_and_destroyed_as_its_type_says) {
    for (const RowIndexKind kind : kinds_of<Owner>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities;
        PagePool pool;
        Manager<Owner> manager(entities, pool, {.index = kind});
        const std::vector<Entity> made = create(entities, 2000);
        for (std::size_t i = 0; i < made.size(); ++i)
            ASSERT_TRUE(*manager.add(made[i], {long_text(i), std::make_unique<int>(static_cast<int>(i)), 2}));
        for (std::size_t i = 0; i < made.size(); i += 3) EXPECT_TRUE(manager.remove(made[i]));
        ASSERT_TRUE(manager.core().validate().ok());
        for (std::size_t i = 0; i < made.size(); ++i) {
            const Instance instance = manager.instance(made[i]);
            ASSERT_EQ(bool(instance), i % 3 != 0);
            if (!instance) continue;
            EXPECT_EQ(manager.get<&Owner::text>(instance), long_text(i));
            EXPECT_EQ(*manager.get<&Owner::number>(instance), static_cast<int>(i));
        }
        ASSERT_TRUE(*manager.add(made[0])) << "a removed one comes back as new";
        EXPECT_EQ(manager.get<&Owner::text>(manager.instance(made[0])), "none");
        EXPECT_EQ(manager.get<&Owner::number>(manager.instance(made[0])), nullptr);
        manager.set<&Owner::number>(manager.instance(made[0]), std::make_unique<int>(5));
        ASSERT_TRUE(*manager.add(made[0], {"again", nullptr, 3})) << "a second one is set";
        EXPECT_EQ(manager.get<&Owner::text>(manager.instance(made[0])), "again");
        entities.destroy(made);
        Settler().settle(manager.core());
        EXPECT_EQ(manager.num_components(), 0u);
    }
}

TEST(OpaqueComponents, copies_go_to_a_whole_span_and_chains_survive) {
    EntityManager entities;
    PagePool pool;
    Manager<Owners> manager(entities, pool);
    const std::vector<Entity> made = create(entities, 1500);
    ASSERT_TRUE(manager.add(made, {long_text(1), 1}).ok());
    ASSERT_TRUE(manager.add(manager.entities(), {long_text(2), 2}).ok());
    EXPECT_EQ(manager.remove(std::span(made).first(700)), 1400u);
    ASSERT_TRUE(manager.core().validate().ok());
    for (const Entity entity : std::span(made).subspan(700)) {
        const Instance newest = manager.instance(entity);
        EXPECT_EQ(manager.value(newest).text, long_text(2));
        EXPECT_EQ(manager.value(manager.next(newest)).text, long_text(1));
    }
    manager.clear();
    EXPECT_EQ(manager.num_rows(), 0u);
    ASSERT_TRUE(manager.add(made, {long_text(3), 1}).ok());  // destroyed with the manager
}

}  // namespace
}  // namespace shoal_test
