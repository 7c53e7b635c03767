#pragma once
// An entity is a number: an index and a generation. It owns nothing and points to nothing. Its components are in the
// stores, which find them by this number.
//
//     32 bits:   31 30 | 29 ........ 22 | 21 ................... 0
//                spare |   generation   |          index
//
// The spare bits are zero, so that an id fits into a tagged 32-bit Lua light userdata. With SHOAL_INDEX_BITS, ids have
// fewer index bits and more generation bits, such as 16 and 14. With SHOAL_WIDE_IDS, ids have 64 bits: 32 index bits
// and 32 generation bits. The null entity is 0; no other entity has index 0 or generation 0.
// An id is valid only in one process and one EntityManager. In a file, an entity is named by its GUID or by its index
// in the file. Thread: different objects may be used on different threads.

#include "shoal/base/detail/config.h"

#include <cstdint>
#include <type_traits>

namespace shoal {

#if SHOAL_WIDE_IDS
using EntityBits = std::uint64_t;
using Generation = std::uint32_t;
inline constexpr int kSpareBits = 0;
inline constexpr int kIndexBits = 32;
inline constexpr int kGenerationBits = 32;
#else
using EntityBits = std::uint32_t;
inline constexpr int kSpareBits = 2;
inline constexpr int kIndexBits = SHOAL_INDEX_BITS;
inline constexpr int kGenerationBits = 32 - kSpareBits - kIndexBits;
using Generation = std::conditional_t<kGenerationBits <= 8, std::uint8_t, std::uint16_t>;
#endif

inline constexpr EntityBits kIndexMask = (EntityBits(1) << kIndexBits) - 1;
inline constexpr EntityBits kGenerationMask = (EntityBits(1) << kGenerationBits) - 1;
/// The number of indices that entities can have; index 0 is the null entity.
inline constexpr std::uint64_t kMaxEntities = (std::uint64_t(1) << kIndexBits) - 1;

struct Entity {
    EntityBits id = 0;

    constexpr std::uint32_t index() const { return static_cast<std::uint32_t>(id & kIndexMask); }
    constexpr Generation generation() const { return static_cast<Generation>(id >> kIndexBits & kGenerationMask); }

    /// False only for the null entity. EntityManager::alive() returns whether an entity is alive.
    explicit constexpr operator bool() const { return id != 0; }
    friend constexpr bool operator==(Entity a, Entity b) { return a.id == b.id; }
    friend constexpr bool operator<(Entity a, Entity b) { return a.id < b.id; }
};

inline constexpr Entity kNullEntity{};

constexpr Entity make_entity(std::uint32_t index, Generation generation) {
    return {static_cast<EntityBits>(generation) << kIndexBits | index};
}

/// Whether an entity manager can create this id: its index and generation are not 0, and its spare bits are 0.
constexpr bool is_possible(Entity entity) {
    return entity.index() != 0 && entity.generation() != 0 &&
           entity == make_entity(entity.index(), entity.generation());
}

static_assert(sizeof(Entity) == sizeof(EntityBits));

}  // namespace shoal
