// Spawning straight into a manager: what the spawner does with a blob, without a blob.

#include "support/manager_testing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace shoal_test {
namespace {

/// A blob's components of one type: struct images turned into columns as a table lays them out.
template <class T>
class Batch {
public:
    Batch(std::vector<std::uint32_t> owners, const std::vector<T>& values) : owners_(std::move(owners)) {
        const Schema& schema = schema_of<T>();
        for (const ColumnDefinition& column : schema.columns()) {
            std::vector<std::byte>& bytes = columns_.emplace_back(values.size() * column.element_bytes);
            for (std::size_t i = 0; i < values.size(); ++i)
                std::memcpy(bytes.data() + i * column.element_bytes,
                            reinterpret_cast<const std::byte*>(&values[i]) + column.struct_offset,
                            column.element_bytes);
        }
        for (const std::vector<std::byte>& bytes : columns_) pointers_.push_back(bytes.data());
    }
    SpawnBatch view(std::span<const Entity> entities, std::uint32_t num_blob_entities) const {
        const auto num_copies = static_cast<std::uint32_t>(entities.size() / num_blob_entities);
        return {schema_of<T>().id(), entities, num_blob_entities, num_copies, owners_, pointers_, {}};
    }

private:
    std::vector<std::uint32_t> owners_;
    std::vector<std::vector<std::byte>> columns_;
    std::vector<const std::byte*> pointers_;
};

inline constexpr EntityBits kNobody = ~EntityBits(0);

/// A component that refers to blob entity `target`, or to nobody.
template <class T>
T referring(std::uint64_t number, EntityBits target) {
    T value = make_value<T>(number, 5);
    value.target = Entity{target};
    return value;
}

template <class T>
struct ManagerSpawn : ::testing::Test {
    EntityManager entities{{.minimum_free_ids = 1}};
    PagePool pool;
};
TYPED_TEST_SUITE(ManagerSpawn, AllComponents);

// req: D20 D25
TYPED_TEST(ManagerSpawn, every_copy_has_its_values_and_refers_to_itself) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        // Blob entities 0 to 4; 3, 1 and 4 have the component.
        const Batch<TypeParam> batch(
            {3, 1, 4}, {referring<TypeParam>(30, 0), referring<TypeParam>(10, kNobody), referring<TypeParam>(40, 4)});
        const std::vector<Entity> made = create(this->entities, 5 * 700);
        const Status status = manager.core().spawn(batch.view(made, 5));
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(manager.num_components(), 3u * 700);
        ASSERT_TRUE(manager.core().validate().ok());
        for (std::size_t copy = 0; copy < 700; ++copy) {
            const Entity* own = made.data() + copy * 5;
            EXPECT_FALSE(manager.has(own[0]) || manager.has(own[2]));
            const auto expect = [&](std::size_t i, std::uint64_t number, Entity target) {
                TypeParam expected = make_value<TypeParam>(number, 5);
                expected.target = target;
                ASSERT_TRUE(same_value(manager.value(manager.instance(own[i])), expected));
            };
            expect(3, 30, own[0]);
            expect(1, 10, kNullEntity);
            expect(4, 40, own[4]);
        }
        this->entities.destroy(made);
    }
}

TYPED_TEST(ManagerSpawn, rows_of_the_dead_on_the_same_indices_make_way) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities({.minimum_free_ids = 1});
        Manager<TypeParam> manager(entities, this->pool, {.index = kind, .death = DeathPolicy::kRandomProbe});
        const std::vector<Entity> before = create(entities, 300);
        ASSERT_TRUE(manager.add(before).ok());
        ASSERT_TRUE(manager.add(before).ok());
        entities.destroy(before);
        const std::vector<Entity> made = create(entities, 200);
        std::vector<std::uint32_t> owners;
        std::vector<TypeParam> values;
        for (std::uint32_t i = 0; i < 200; i += 2) owners.push_back(i), values.push_back(referring<TypeParam>(i, i));
        ASSERT_TRUE(manager.core().spawn(Batch<TypeParam>(owners, values).view(made, 200)).ok());
        ASSERT_TRUE(manager.core().validate().ok());
        for (std::size_t i = 0; i < made.size(); ++i)
            EXPECT_EQ(numbers_of(manager, made[i]),
                      i % 2 == 0 ? std::vector<std::uint64_t>{i} : std::vector<std::uint64_t>());
        Settler settler;
        while (manager.num_components() > 100) settler.settle(manager.core());
        for (std::size_t i = 0; i < made.size(); i += 2)
            ASSERT_EQ(manager.template get<&TypeParam::target>(manager.instance(made[i])), made[i]);
    }
}

TYPED_TEST(ManagerSpawn, what_does_not_fit_changes_nothing) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities;
        Manager<TypeParam> manager(entities, this->pool, {.index = kind, .capacity_rows = 100});
        const std::vector<Entity> made = create(entities, 99);
        ASSERT_TRUE(manager.add(std::span(made).first(10), make_value<TypeParam>(1, 0)).ok());
        const std::vector<Entity> more = create(entities, 200);
        const Batch<TypeParam> batch({0, 1}, {referring<TypeParam>(3, 0), referring<TypeParam>(4, 1)});
        const Status status = manager.core().spawn(batch.view(more, 2));
        ASSERT_FALSE(status.ok());
        EXPECT_NE(status.message().find("at most 100"), std::string_view::npos) << status.message();
        EXPECT_EQ(manager.num_components(), 10u);
        EXPECT_FALSE(manager.has(more[0]));
        ASSERT_TRUE(manager.core().validate().ok());
        ASSERT_TRUE(manager.core().spawn(batch.view(std::span(made).subspan(10, 80), 2)).ok()) << "a smaller one fits";
        EXPECT_EQ(manager.num_components(), 90u);
        ASSERT_TRUE(manager.core().validate().ok());
    }
}

TYPED_TEST(ManagerSpawn, a_batch_without_components_or_copies_is_fine) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        const std::vector<Entity> made = create(this->entities, 4);
        EXPECT_TRUE(manager.core().spawn(Batch<TypeParam>({}, {}).view(made, 2)).ok());
        EXPECT_TRUE(manager.core().spawn(Batch<TypeParam>({1}, {referring<TypeParam>(1, 0)}).view({}, 2)).ok());
        EXPECT_EQ(manager.num_rows(), 0u);
        EXPECT_TRUE(manager.core().validate().ok());
    }
}

template <class T>
struct OneSpawn : ManagerSpawn<T> {};
TYPED_TEST_SUITE(OneSpawn, OneComponents);

TYPED_TEST(OneSpawn, an_entity_that_has_the_component_already_is_refused) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        const std::vector<Entity> made = create(this->entities, 4);
        ASSERT_TRUE(manager.add(made[3], make_value<TypeParam>(1, 0)).ok());
        const Batch<TypeParam> batch({0, 1}, {referring<TypeParam>(3, 0), referring<TypeParam>(4, 1)});
        EXPECT_FALSE(manager.core().spawn(batch.view(made, 2)).ok());
        EXPECT_EQ(manager.num_components(), 1u);
        EXPECT_EQ(numbers_of(manager, made[3]), std::vector<std::uint64_t>{1});
    }
}

template <class T>
struct ManySpawn : ManagerSpawn<T> {};
TYPED_TEST_SUITE(ManySpawn, ManyComponents);

// req: B13
TYPED_TEST(ManySpawn, chains_are_in_source_order) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        Manager<TypeParam> manager(this->entities, this->pool, {.index = kind});
        std::vector<TypeParam> values;
        for (std::uint64_t i = 0; i < 6; ++i) values.push_back(referring<TypeParam>(i, 1 - i % 2));
        const Batch<TypeParam> batch({0, 1, 1, 0, 1, 0}, values);
        const std::vector<Entity> made = create(this->entities, 2 * 50);
        ASSERT_TRUE(manager.add(made[1], make_value<TypeParam>(99, 0)).ok());
        ASSERT_TRUE(manager.core().spawn(batch.view(made, 2)).ok());
        ASSERT_TRUE(manager.core().validate().ok());
        EXPECT_EQ(numbers_of(manager, made[1]), (std::vector<std::uint64_t>{1, 2, 4, 99}));
        for (std::size_t copy = 1; copy < 50; ++copy) {
            EXPECT_EQ(numbers_of(manager, made[2 * copy]), (std::vector<std::uint64_t>{0, 3, 5}));
            EXPECT_EQ(numbers_of(manager, made[2 * copy + 1]), (std::vector<std::uint64_t>{1, 2, 4}));
            EXPECT_EQ(manager.template get<&TypeParam::target>(manager.instance(made[2 * copy])), made[2 * copy + 1]);
        }
    }
}

// --- references in arrays ----------------------------------------------------------------------------------------

struct Links {
    std::uint8_t kind = 0;
    std::array<Entity, 3> to{};
    Entity owner;
};
struct WholeLinks {
    std::uint8_t kind = 0;
    std::array<Entity, 3> to{};
    Entity owner;
};
SHOAL_COMPONENT(Links, kind, to, owner)
SHOAL_COMPONENT((WholeLinks, whole), kind, to, owner)

template <class T>
struct SpawnedReferences : ::testing::Test {};
using LinkComponents = ::testing::Types<Links, WholeLinks>;
TYPED_TEST_SUITE(SpawnedReferences, LinkComponents);

TYPED_TEST(SpawnedReferences, every_entity_of_an_array_is_translated) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        EntityManager entities;
        PagePool pool;
        Manager<TypeParam> manager(entities, pool, {.index = kind});
        TypeParam first, second;
        first.kind = 3;
        first.to = {Entity{1}, Entity{kNobody}, Entity{0}};
        first.owner = Entity{1};
        second.to = {Entity{kNobody}, Entity{2}, Entity{17}};  // 17: not in the blob, so nobody
        second.owner = Entity{kNobody};
        const std::vector<Entity> made = create(entities, 3 * 4);
        ASSERT_TRUE(manager.core().spawn(Batch<TypeParam>({2, 0}, {first, second}).view(made, 3)).ok());
        for (std::size_t copy = 0; copy < 4; ++copy) {
            const Entity* own = made.data() + copy * 3;
            const TypeParam a = manager.value(manager.instance(own[2])), b = manager.value(manager.instance(own[0]));
            EXPECT_EQ(a.kind, 3);
            EXPECT_EQ(a.to, (std::array<Entity, 3>{own[1], kNullEntity, own[0]}));
            EXPECT_EQ(a.owner, own[1]);
            EXPECT_EQ(b.to, (std::array<Entity, 3>{kNullEntity, own[2], kNullEntity}));
            EXPECT_EQ(b.owner, kNullEntity);
        }
    }
}

}  // namespace
}  // namespace shoal_test
