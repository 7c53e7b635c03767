#include "document/key_table.h"

#include "shoal/base/string_id.h"

#include <cstring>

namespace shoal::document_detail {
namespace {

constexpr const char* kOwner = "document";

std::uint32_t short_hash(std::string_view key) { return static_cast<std::uint32_t>(hash_text(key)); }

}  // namespace

std::uint32_t KeyTable::find(const NodeData* mapping, std::string_view key) const {
    const std::uint32_t hash = short_hash(key);
    for (std::uint32_t i = hash & mask;; i = (i + 1) & mask) {
        const Slot& slot = slots()[i];
        if (slot.index == 0) return 0;
        if (slot.hash == hash && mapping[slot.index].string() == key) return slot.index;
    }
}

std::uint32_t KeyTable::insert(const NodeData* mapping, std::uint32_t index) {
    const std::string_view key = mapping[index].string();
    const std::uint32_t hash = short_hash(key);
    std::uint32_t i = hash & mask;
    for (; slots()[i].index != 0; i = (i + 1) & mask)
        if (slots()[i].hash == hash && mapping[slots()[i].index].string() == key) return slots()[i].index;
    slots()[i] = {hash, index};
    ++count;
    return 0;
}

KeyTable* make_key_table(std::uint32_t num_slots) {
    const KeyTable header{num_slots - 1, 0};
    auto* table = static_cast<KeyTable*>(allocate_memory(header.num_bytes(), kOwner));
    std::memset(static_cast<void*>(table), 0, header.num_bytes());
    *table = header;
    return table;
}

KeyTable* grow_key_table(KeyTable* table) {
    KeyTable* const larger = make_key_table((table->mask + 1) * 2);
    for (std::uint32_t i = 0; i <= table->mask; ++i) {
        const KeyTable::Slot slot = table->slots()[i];
        if (slot.index == 0) continue;
        std::uint32_t at = slot.hash & larger->mask;
        while (larger->slots()[at].index != 0) at = (at + 1) & larger->mask;
        larger->slots()[at] = slot;
    }
    larger->count = table->count;
    release_key_table(table);
    return larger;
}

void release_key_table(KeyTable* table) {
    if (table != nullptr) release_memory(table, table->num_bytes(), kOwner);
}

}  // namespace shoal::document_detail
