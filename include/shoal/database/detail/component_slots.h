#pragma once
// Finds a database's component type for a C++ type. The C++ type is identified by a small number, which is unique in
// this process (see TypedSlot). Threads may look up types while another thread adds one: a block of numbers never
// moves, and when it is too small, a larger block with the same numbers replaces it. Older blocks are kept until the
// database is destroyed.
//
//     slot          1   2   3   4 ...
//     number        0   .   2   .             component type number; kNone: not looked up yet
//
// Thread: all calls from any thread.

#include "shoal/base/detail/memory.h"

#include <cstdint>

namespace shoal::detail {

class ComponentSlots {
public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    ComponentSlots() = default;
    ComponentSlots(const ComponentSlots&) = delete;
    ComponentSlots& operator=(const ComponentSlots&) = delete;
    SHOAL_API ~ComponentSlots();

    /// Returns the number of a slot, or kNone.
    SHOAL_INLINE std::uint32_t find(std::uint32_t slot) const {
        const Block* const block = __atomic_load_n(&block_, __ATOMIC_ACQUIRE);
        return slot < block->num_slots ? __atomic_load_n(block->numbers() + slot, __ATOMIC_ACQUIRE) : kNone;
    }
    /// Requires: the slot has no number yet, or has this number.
    SHOAL_API void set(std::uint32_t slot, std::uint32_t number);

private:
    struct Block {
        Block* smaller;
        std::uint32_t num_slots;  // the slots' numbers follow

        std::uint32_t* numbers() { return reinterpret_cast<std::uint32_t*>(this + 1); }
        const std::uint32_t* numbers() const { return reinterpret_cast<const std::uint32_t*>(this + 1); }
    };
    static constexpr Block kEmpty{nullptr, 0};

    void grow(std::uint32_t num_slots);

    const Block* block_ = &kEmpty;  // the block that look-ups use
    Block* newest_ = nullptr;       // the same block, if this object owns it
};

}  // namespace shoal::detail
