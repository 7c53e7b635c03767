#include "shoal/database/detail/component_slots.h"

#include <algorithm>
#include <mutex>
#include <new>

namespace shoal::detail {
namespace {

constexpr const char* kOwner = "database";
std::mutex set_mutex;  // shared by all databases: a slot is set once for each C++ type and database

}  // namespace

ComponentSlots::~ComponentSlots() {
    while (newest_ != nullptr) {
        Block* const block = newest_;
        newest_ = block->smaller;
        release_memory(block, sizeof(Block) + block->num_slots * sizeof(std::uint32_t), kOwner);
    }
}

void ComponentSlots::set(std::uint32_t slot, std::uint32_t number) {
    const std::lock_guard lock(set_mutex);
    if (slot >= block_->num_slots) grow(std::max(slot + 1, 2 * block_->num_slots));
    __atomic_store_n(newest_->numbers() + slot, number, __ATOMIC_RELEASE);
}

void ComponentSlots::grow(std::uint32_t num_slots) {
    void* const memory = allocate_memory(sizeof(Block) + num_slots * sizeof(std::uint32_t), kOwner);
    auto* const block = ::new (memory) Block{newest_, num_slots};
    const std::uint32_t* const known = block_->numbers();
    std::fill(std::copy_n(known, block_->num_slots, block->numbers()), block->numbers() + num_slots, kNone);
    newest_ = block;
    __atomic_store_n(&block_, static_cast<const Block*>(block), __ATOMIC_RELEASE);
}

}  // namespace shoal::detail
