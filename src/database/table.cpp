#include "shoal/database/detail/table.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <cstring>

namespace shoal {

PresenceBits::~PresenceBits() { release(); }

void PresenceBits::release() {
    if (words_ != nullptr) pool_->free_block(reinterpret_cast<std::byte*>(words_), num_bytes());
    words_ = nullptr;
    num_words_ = 0;
}

Status PresenceBits::reserve(std::uint32_t num_rows) {
    const std::size_t needed = (std::size_t(num_rows) + 63) / 64;
    if (needed <= num_words_) return {};
    const std::size_t most = PagePool::kMaxBlockBytes / sizeof(std::uint64_t);
    if (needed > most)
        return Status::error(concat("the bits of an enableable component type reach ", most * 64, " rows"));
    const std::size_t least = PagePool::kGranuleBytes / sizeof(std::uint64_t);
    const std::size_t num_words = std::min(most, std::max(round_up(needed, least), 2 * num_words_));
    Result<std::byte*> block = pool_->allocate_block(num_words * sizeof(std::uint64_t));
    if (!block) return block.status();
    auto* const words = reinterpret_cast<std::uint64_t*>(*block);
    std::fill(std::copy_n(words_, num_words_, words), words + num_words, 0);
    release();
    words_ = words;
    num_words_ = num_words;
    return {};
}

DatabaseTable::DatabaseTable(std::uint32_t number, const Archetype& type, Zone zone, PagePool& pool,
                             std::uint32_t capacity_rows, RowIndex& index)
    : number_(number),
      zone_(zone),
      type_number_(type.number()),
      has_many_(!type.many().empty()),
      table_(type.schema(), pool, {.capacity_rows = capacity_rows}),
      type_(&type) {
    table_.attach_index(&index);
    presence_.reserve(type.enableable().size());
    for (std::size_t i = 0; i < type.enableable().size(); ++i) presence_.emplace_back(pool);
}

void DatabaseTable::Step::look_up_reach() {
    num_reached = 0xFFFFFFFF;
    for (const StepBit& bit : bits) num_reached = std::min(num_reached, bit.to->num_reached());
}

void DatabaseTable::Step::move_bits(const DatabaseTable& from, std::uint32_t row) const {
    const std::uint32_t last = from.num_rows() - 1, to_row = target->num_rows();
    for (const StepBit& bit : bits) {
        bit.to->set(to_row,
                    bit.change == StepBit::Change::kKeep ? bit.from->get(row) : bit.change == StepBit::Change::kEnable);
        if (bit.from != nullptr) bit.from->set(row, bit.from->get(last));
    }
}

Status DatabaseTable::validate() const {
    if (Status status = table_.validate(); !status) return status;
    const auto broken = [this](std::string_view what) {
        return Status::error(concat("database, zone ", zone(), ", archetype \"", type().schema().name(), "\": ", what));
    };
    if (num_wanted_ != 0) return broken("a call has left its count of wanted rows");
    for (const PresenceBits& bits : presence_)
        if (bits.num_bytes() * 8 < num_rows()) return broken("its enableable components lack bits");
    return {};
}

MemoryUse DatabaseTable::memory_use() const {
    MemoryUse use = table_.memory_use();
    for (const PresenceBits& bits : presence_) use += {(num_rows() + 7) / 8, bits.num_bytes(), bits.num_bytes()};
    return use;
}

}  // namespace shoal
