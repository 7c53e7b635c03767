#include "shoal/table/detail/row_index.h"

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/text.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

constexpr std::size_t kSmallestHash = 64;
constexpr std::size_t kNumIndices = static_cast<std::size_t>(kMaxEntities) + 1;
constexpr std::size_t kMaxClearedBytes = std::size_t(64) << 20;  // more memory than this is freed rather than zeroed

constexpr std::size_t kLeastBlockBytes = std::size_t(256) << 10;  // a smaller block is not worth a page of 2 MiB
constexpr std::size_t kDenseShare = 8;  // a block is used if at least 1 in kDenseShare indices is reserved in one call

constexpr std::size_t kMaxSpread = 4;  // up to this many indices per entity, one loop over all indices is used
constexpr std::uint32_t kIndexStep = 1023;

/// Empties the first `num_used` entries of a flat index that has its own address space.
template <class T>
void clear_flat(PageArray<T>& entries, std::size_t num_used, bool release) {
    if (entries.capacity() == 0) return;
    if (release || num_used * sizeof(T) > kMaxClearedBytes)
        entries.discard(0, entries.capacity());
    else
        std::memset(static_cast<void*>(entries.data()), 0, num_used * sizeof(T));
}

std::size_t home_of(std::uint32_t entity_index) { return static_cast<std::size_t>(hash_key(entity_index) >> 32); }

}  // namespace

RowIndex::RowIndex(RowIndexKind kind, PagePool* pool) : kind_(kind), pool_(pool) {}

RowIndex::~RowIndex() { free_block(); }

std::size_t RowIndex::slot_of(std::uint32_t entity_index) const {
    return find_slot(slots_.data(), num_slots_ - 1, home_of(entity_index),
                     [=](const Slot& slot) { return slot.entity.index() == entity_index; });
}

IndexRange index_range(std::span<const Entity> entities) {
    IndexRange range;
    // These are two loops, because g++ does not vectorise them as one. They process few entities at a time, so that the
    // second loop finds them in the cache.
    while (!entities.empty()) {
        const std::span<const Entity> some = entities.first(std::min<std::size_t>(entities.size(), 1024));
        std::uint32_t lowest = 0xFFFFFFFF, highest = 0;
        for (std::size_t i = 0; i < some.size(); ++i) lowest = std::min(lowest, some[i].index());
        for (std::size_t i = 0; i < some.size(); ++i) highest = std::max(highest, some[i].index());
        range = {std::min(range.lowest, lowest), std::max(range.highest, highest)};
        entities = entities.subspan(some.size());
    }
    return range;
}

bool RowIndex::is_free(IndexRange range, std::size_t num_entities) const {
    return range.highest - range.lowest < kMaxSpread * num_entities && is_free(range.lowest, range.highest);
}

bool RowIndex::is_free(std::uint32_t lowest, std::uint32_t highest) const {
    const std::span<const EntityBits> entries = this->entries();
    // No entry above max_index_ has ever been set, and reading entries there could commit up to 32 GiB of memory with
    // 64-bit ids.
    const std::size_t num_used = std::min<std::size_t>(max_index_ + std::size_t(1), entries.size());
    const std::size_t begin = std::min<std::size_t>(lowest, num_used);
    const std::size_t end = std::min<std::size_t>(highest + std::size_t(1), num_used);
    EntityBits any = 0;
    for (const EntityBits entry : entries.subspan(begin, end - begin)) any |= entry;
    return any == 0;
}

/// Sets the rows of entities with consecutive ids if none of their indices has an entry; otherwise returns false.
/// The loops are vectorised, whereas setting entities one by one costs a look-up for each entity.
bool RowIndex::set_run(std::span<const Entity> entities, std::uint32_t first_row) {
    if (!is_free(entities.front().index(), entities.back().index())) return false;
    EntityBits* const entries = flat_ + entities.front().index();
    const EntityBits first = entry_of(entities.front(), first_row);
    for (std::size_t i = 0; i < entities.size(); ++i) entries[i] = first + static_cast<EntityBits>(i);
    return true;
}

bool RowIndex::covers(std::span<const Entity> entities) const {
    if (num_flat_ > kIndexMask) return true;
    std::uint32_t highest = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) highest = std::max(highest, entities[i].index());
    return highest < num_flat_;
}

std::uint32_t RowIndex::find_other(Entity entity) const {
    if (kind_ == RowIndexKind::kIdentity) {
        if (entity.index() >= generations_.capacity()) return kNilRow;
        const Generation generation = generations_[entity.index()];
        return generation != 0 && make_entity(entity.index(), generation) == entity ? entity.index() : kNilRow;
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
    if (max_index >= capacity())
        if (Status status = grow_flat(num_more, max_index + std::size_t(1)); !status) return status;
    // The maximum grows in steps, so that reserving indices one by one is cheap.
    const auto last = static_cast<std::uint32_t>(this->capacity() - 1);
    max_index_ = std::max(max_index_, std::min(max_index | kIndexStep, last));
    return {};
}

Status RowIndex::grow_flat(std::uint32_t num_more, std::size_t num_indices) {
    if (kind_ == RowIndexKind::kIdentity ? generations_.capacity() != 0 : paged_.capacity() != 0)
        return Status::error(concat("a row index has room for ", capacity(), " entity indices, not for index ",
                                    num_indices - 1,
                                    "; raise the limit on address space (ulimit -v), or on data (ulimit -d)"));
    if (kind_ == RowIndexKind::kIdentity) return generations_.reserve(kNumIndices, num_indices);
    const bool is_dense = num_flat_ == 0 && num_more >= num_indices / kDenseShare;
    if (is_dense && move_to_block(num_indices + num_indices / 64)) return {};
    if (Status status = paged_.reserve(kNumIndices, num_indices); !status) return status;
    if (num_flat_ != 0) std::memcpy(paged_.data(), flat_, num_flat_ * sizeof(EntityBits));
    free_block();
    flat_ = paged_.data();
    num_flat_ = paged_.capacity();
    return {};
}

/// Gives a block to an index that is still empty. Returns false if no block is available.
bool RowIndex::move_to_block(std::size_t num_indices) {
    const std::size_t bytes = round_up(num_indices * sizeof(EntityBits), PagePool::kGranuleBytes);
    if (pool_ == nullptr || bytes < kLeastBlockBytes || bytes > PagePool::kMaxSharedBytes) return false;
    bool is_zero = false;
    Result<std::byte*> block = pool_->allocate_shared(bytes, &is_zero);
    if (!block) return false;
    if (!is_zero) std::memset(*block, 0, bytes);
    flat_ = reinterpret_cast<EntityBits*>(*block);
    num_flat_ = std::min(bytes / sizeof(EntityBits), kNumIndices);
    block_bytes_ = bytes;
    return true;
}

void RowIndex::free_block() {
    if (block_bytes_ != 0) pool_->free_shared(reinterpret_cast<std::byte*>(flat_), block_bytes_);
    if (block_bytes_ != 0) flat_ = nullptr, num_flat_ = 0;
    block_bytes_ = 0;
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

void RowIndex::erase(Entity entity, std::uint32_t row) {
    if (row == kNilRow || find(entity) != row) return;
    switch (kind_) {
        case RowIndexKind::kPaged:
            flat_[entity.index()] = 0;
            break;
        case RowIndexKind::kIdentity:
            generations_[entity.index()] = 0;
            break;
        case RowIndexKind::kHash:
            free_slot(slots_.data(), num_slots_ - 1, slot_of(entity.index()),
                      [](const Slot& slot) { return home_of(slot.entity.index()); });
            --num_entries_;
            break;
    }
}

void RowIndex::clear(bool release) {
    const std::size_t num_indices = std::min(static_cast<std::size_t>(max_index_) + 1, capacity());
    switch (kind_) {
        case RowIndexKind::kPaged:
            if (block_bytes_ != 0 && release)
                free_block();
            else if (block_bytes_ != 0)
                std::memset(flat_, 0, num_indices * sizeof(EntityBits));
            else
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
            if (block_bytes_ != 0) use.committed_bytes = use.reserved_bytes = block_bytes_;
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

}  // namespace shoal
