#include "shoal/table/row_index.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <cstring>

namespace shoal::inline SHOAL_ABI {
namespace {

constexpr std::size_t kSmallestHash = 64;
constexpr std::size_t kNumIndices = static_cast<std::size_t>(kMaxEntities) + 1;
constexpr std::size_t kMaxClearedBytes = std::size_t(64) << 20;  // more than that is given back rather than zeroed

constexpr std::uint32_t kIndexStep = 1023;

/// Empties the first `num_used` entries of a flat index.
template <class T>
void clear_flat(PageArray<T>& entries, std::size_t num_used, bool release) {
    if (entries.capacity() == 0) return;
    if (release || num_used * sizeof(T) > kMaxClearedBytes)
        entries.discard(0, entries.capacity());
    else
        std::memset(static_cast<void*>(entries.data()), 0, num_used * sizeof(T));
}

std::size_t hash_index(std::uint32_t entity_index) {
    return static_cast<std::size_t>((entity_index * 0x9E3779B97F4A7C15ull) >> 32);
}

}  // namespace

RowIndex::RowIndex(RowIndexKind kind) : kind_(kind) {}

RowIndex::~RowIndex() = default;

std::size_t RowIndex::slot_of(std::uint32_t entity_index) const {
    std::size_t slot = hash_index(entity_index) & (num_slots_ - 1);
    while (slots_[slot].entity && slots_[slot].entity.index() != entity_index) slot = (slot + 1) & (num_slots_ - 1);
    return slot;
}

std::uint32_t RowIndex::find_other(Entity entity) const {
    if (kind_ == RowIndexKind::kIdentity) {
        if (!entity || entity.index() >= generations_.capacity()) return kNilRow;
        const bool found =
            generations_[entity.index()] != 0 && make_entity(entity.index(), generations_[entity.index()]) == entity;
        return found ? entity.index() : kNilRow;
    }
    if (num_slots_ == 0) return kNilRow;
    const Slot& slot = slots_[slot_of(entity.index())];
    return slot.entity && slot.entity == entity ? slot.row : kNilRow;
}

std::uint32_t RowIndex::find_any_other(Entity entity) const {
    const std::uint32_t index = entity.index();
    if (kind_ == RowIndexKind::kIdentity)
        return index < generations_.capacity() && generations_[index] != 0 ? index : kNilRow;
    if (num_slots_ == 0) return kNilRow;
    const Slot& slot = slots_[slot_of(index)];
    return slot.entity ? slot.row : kNilRow;
}

Status RowIndex::reserve_more(std::uint32_t num_more, std::uint32_t max_index) {
    if (kind_ == RowIndexKind::kHash) {
        const std::size_t needed = (static_cast<std::size_t>(num_entries_) + num_more) * 4 / 3 + 1;
        if (needed <= num_slots_) return {};
        std::size_t num_slots = std::max(num_slots_ * 2, kSmallestHash);
        while (num_slots < needed) num_slots *= 2;
        return grow_hash(num_slots);
    }
    const std::size_t capacity = this->capacity();
    if (capacity == 0) {
        const std::size_t least = max_index + std::size_t(1);
        Status status = kind_ == RowIndexKind::kPaged ? paged_.reserve(kNumIndices, least)
                                                      : generations_.reserve(kNumIndices, least);
        if (!status) return status;
    } else if (max_index >= capacity) {
        return Status::error(concat("a row index has room for ", capacity, " entity indices, not for index ", max_index,
                                    "; raise the limit on address space (ulimit -v)"));
    }
    // In steps, so that reserving one by one is cheap.
    const auto last = static_cast<std::uint32_t>(this->capacity() - 1);
    max_index_ = std::max(max_index_, std::min(max_index | kIndexStep, last));
    return {};
}

Status RowIndex::grow_hash(std::size_t num_slots) {
    PageArray<Slot> old;
    if (Status status = old.reserve(num_slots, num_slots); !status) return status;
    std::swap(old, slots_);
    const std::size_t num_old = std::exchange(num_slots_, num_slots);
    for (std::size_t i = 0; i < num_old; ++i)
        if (old[i].entity) slots_[slot_of(old[i].entity.index())] = old[i];
    return {};
}

void RowIndex::set_other(Entity entity, std::uint32_t row) {
    if (kind_ == RowIndexKind::kIdentity) {
        SHOAL_ASSERT(row == entity.index(), "with an identity index, the row is the entity's index");
        SHOAL_ASSERT(entity.index() < generations_.capacity(), "the row index has reserved no room for the entity");
        generations_[entity.index()] = entity.generation();
        return;
    }
    SHOAL_ASSERT(num_slots_ > num_entries_ + 1, "the row index has reserved no room for the entity");
    Slot& slot = slots_[slot_of(entity.index())];
    num_entries_ += slot.entity ? 0 : 1;
    slot = {entity, row};
}

void RowIndex::erase(Entity entity) {
    if (find(entity) == kNilRow) return;
    switch (kind_) {
        case RowIndexKind::kPaged:
            paged_[entity.index()] = 0;
            break;
        case RowIndexKind::kIdentity:
            generations_[entity.index()] = 0;
            break;
        case RowIndexKind::kHash:
            erase_slot(slot_of(entity.index()));
            break;
    }
}

/// Empties a slot and moves back what was pushed past it, so that no search meets a gap.
void RowIndex::erase_slot(std::size_t hole) {
    const std::size_t mask = num_slots_ - 1;
    for (std::size_t slot = (hole + 1) & mask; slots_[slot].entity; slot = (slot + 1) & mask) {
        const std::size_t home = hash_index(slots_[slot].entity.index()) & mask;
        if (((slot - home) & mask) < ((slot - hole) & mask)) continue;  // its home lies behind the hole
        slots_[hole] = slots_[slot];
        hole = slot;
    }
    slots_[hole] = Slot{};
    --num_entries_;
}

void RowIndex::clear(bool release) {
    const std::size_t num_indices = std::min(static_cast<std::size_t>(max_index_) + 1, capacity());
    switch (kind_) {
        case RowIndexKind::kPaged:
            clear_flat(paged_, num_indices, release);
            break;
        case RowIndexKind::kIdentity:
            clear_flat(generations_, num_indices, release);
            break;
        case RowIndexKind::kHash:
            if (num_slots_ == 0) break;
            std::memset(static_cast<void*>(slots_.data()), 0, num_slots_ * sizeof(Slot));
            break;
    }
    num_entries_ = 0;
    if (!release) return;
    max_index_ = 0;
    slots_ = PageArray<Slot>();
    num_slots_ = 0;
}

MemoryUse RowIndex::memory_use() const {
    MemoryUse use;
    const std::size_t num_indices =
        max_index_ == 0 ? 0 : std::min(static_cast<std::size_t>(max_index_) + 1, capacity());
    switch (kind_) {
        case RowIndexKind::kPaged:
            use = {num_indices * sizeof(EntityBits), round_up(num_indices * sizeof(EntityBits), kPageBytes),
                   paged_.reserved_bytes()};
            break;
        case RowIndexKind::kIdentity:
            use = {num_indices * sizeof(Generation), round_up(num_indices * sizeof(Generation), kPageBytes),
                   generations_.reserved_bytes()};
            break;
        case RowIndexKind::kHash:
            use = {num_entries_ * sizeof(Slot), round_up(num_slots_ * sizeof(Slot), kPageBytes),
                   slots_.reserved_bytes()};
            break;
    }
    return use;
}

}  // namespace shoal::inline SHOAL_ABI
