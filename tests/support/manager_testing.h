#pragma once
// What the tests of managers share: one component in three layouts, for one or many instances per entity.

#include "shoal/base/random.h"
#include "shoal/store/manager.h"
#include "support/testing.h"

#include <array>
#include <vector>

namespace shoal_test {

using namespace shoal;

#define SHOAL_TEST_FIELDS                 \
    std::uint64_t number = 7;             \
    Vec3 place{1, 2, 3};                  \
    Entity target;                        \
    std::array<std::uint16_t, 3> small{}; \
    bool flag = true;

// req: A6 — the same fields apart, split and whole; nothing below knows which.
struct ApartOne {
    SHOAL_TEST_FIELDS
};
struct SplitOne {
    SHOAL_TEST_FIELDS
};
struct WholeOne {
    SHOAL_TEST_FIELDS
};
struct ApartMany {
    SHOAL_TEST_FIELDS
};
struct SplitMany {
    SHOAL_TEST_FIELDS
};
struct WholeMany {
    SHOAL_TEST_FIELDS
};
SHOAL_COMPONENT(ApartOne, number, place, target, small, flag)
SHOAL_COMPONENT(SplitOne, number, (place, split), target, small, flag)
SHOAL_COMPONENT((WholeOne, whole), number, place, target, small, flag)
SHOAL_COMPONENT((ApartMany, many), number, place, target, small, flag)
SHOAL_COMPONENT((SplitMany, many), number, (place, split), target, small, flag)
SHOAL_COMPONENT((WholeMany, many, whole), number, place, target, small, flag)

/// A component whose fields all follow from two numbers.
template <class T>
T make_value(std::uint64_t number, std::uint32_t mark) {
    const auto m = static_cast<float>(mark);
    T value;
    value.number = number;
    value.place = {m, m + 1, -m};
    value.target = Entity{static_cast<EntityBits>(number >> 7)};
    value.small = {static_cast<std::uint16_t>(number), static_cast<std::uint16_t>(number >> 16), 9};
    value.flag = (number & 1) != 0;
    return value;
}

template <class T>
bool same_value(const T& a, const T& b) {
    return a.number == b.number && a.place == b.place && a.target == b.target && a.small == b.small && a.flag == b.flag;
}

inline const char* kind_name(RowIndexKind kind) {
    return kind == RowIndexKind::kPaged ? "paged" : kind == RowIndexKind::kHash ? "hash" : "identity";
}
inline const char* policy_name(DeathPolicy policy) {
    return policy == DeathPolicy::kAtSettle     ? "at settle"
           : policy == DeathPolicy::kByCallback ? "by callback"
                                                : "random probe";
}

/// The index kinds that a manager of T can have.
template <class T>
std::vector<RowIndexKind> kinds_of() {
    if (DescriptionOf<T>::kMany) return {RowIndexKind::kPaged, RowIndexKind::kHash};
    return {RowIndexKind::kPaged, RowIndexKind::kHash, RowIndexKind::kIdentity};
}
inline constexpr DeathPolicy kPolicies[] = {DeathPolicy::kAtSettle, DeathPolicy::kByCallback,
                                            DeathPolicy::kRandomProbe};

inline std::vector<Entity> create(EntityManager& entities, std::size_t count) {
    std::vector<Entity> out(count);
    EXPECT_TRUE(entities.create(out).ok());
    return out;
}

/// Lets a manager settle as a world does: with a generator, and a stamp that grows.
class Settler {
public:
    explicit Settler(std::uint64_t seed = 1) : random_(seed) {}
    void settle(Store& store) { store.settle({&random_, ++stamp_}); }
    std::uint64_t stamp() const { return stamp_; }

private:
    Random random_;
    std::uint64_t stamp_ = 1;
};

/// The values of an entity's instances, the first one first.
template <class T>
std::vector<std::uint64_t> numbers_of(const Manager<T>& manager, Entity entity) {
    std::vector<std::uint64_t> numbers;
    for (Instance i = manager.instance(entity); i; i = manager.next(i))
        numbers.push_back(manager.template get<&T::number>(i));
    return numbers;
}

using AllComponents = ::testing::Types<ApartOne, SplitOne, WholeOne, ApartMany, SplitMany, WholeMany>;
using OneComponents = ::testing::Types<ApartOne, SplitOne, WholeOne>;
using ManyComponents = ::testing::Types<ApartMany, SplitMany, WholeMany>;

}  // namespace shoal_test
