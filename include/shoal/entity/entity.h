#pragma once
// An entity is a number: an index and a generation. It owns nothing and points to nothing; everything that an
// entity has lies in the stores, which find it by this number.
//
//     32 bits:   31 30 | 29 ........ 22 | 21 ................... 0
//                spare |   generation   |          index
//
// The spare bits are zero, so that the id fits a tagged 32-bit light userdata. SHOAL_WIDE_IDS builds 64-bit ids: 32
// bits of index, 32 of generation. Null is 0; index 0 is never given out; generations are never 0.
// Ids mean something in one process and one EntityManager only. A file names an entity by its GUID or its index.
// Thread: a value.

#include "shoal/base/config.h"

#include <cstdint>

namespace shoal {

#if SHOAL_WIDE_IDS
using EntityBits = std::uint64_t;
using Generation = std::uint32_t;
inline constexpr int kIndexBits = 32;
inline constexpr int kGenerationBits = 32;
#else
using EntityBits = std::uint32_t;
using Generation = std::uint8_t;
inline constexpr int kIndexBits = 22;
inline constexpr int kGenerationBits = 8;
#endif

inline constexpr EntityBits kIndexMask = (EntityBits(1) << kIndexBits) - 1;
inline constexpr EntityBits kGenerationMask = (EntityBits(1) << kGenerationBits) - 1;
/// Indices that can be given out; index 0 is null.
inline constexpr std::uint64_t kMaxEntities = (std::uint64_t(1) << kIndexBits) - 1;

struct Entity {
    EntityBits id = 0;

    constexpr std::uint32_t index() const { return static_cast<std::uint32_t>(id & kIndexMask); }
    constexpr Generation generation() const { return static_cast<Generation>(id >> kIndexBits & kGenerationMask); }

    /// False for the null entity. Whether the entity lives is for its EntityManager to say.
    explicit constexpr operator bool() const { return id != 0; }
    friend constexpr bool operator==(Entity a, Entity b) { return a.id == b.id; }
    friend constexpr bool operator<(Entity a, Entity b) { return a.id < b.id; }
};

inline constexpr Entity kNullEntity{};

constexpr Entity make_entity(std::uint32_t index, Generation generation) {
    return {static_cast<EntityBits>(generation) << kIndexBits | index};
}

static_assert(sizeof(Entity) == sizeof(EntityBits));

}  // namespace shoal
