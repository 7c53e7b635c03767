#include "shoal/base/string_table.h"

#include "shoal/base/text.h"

#include <cstring>

namespace shoal {
namespace {

constexpr const char* kOwner = "string table";
constexpr std::size_t kChunkBytes = 16384;

}  // namespace

StringTable::~StringTable() {
    for (char* chunk : chunks_) {
        std::size_t num_bytes;
        std::memcpy(&num_bytes, chunk, sizeof num_bytes);
        release_memory(chunk, num_bytes, kOwner);
    }
}

Result<StringId> StringTable::intern(std::string_view text) {
    const StringId id(text);
    if (text.empty()) return id;
    if ((num_texts_ + 1) * 2 > slots_.size()) grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = id.hash & mask;
    while (slots_[i].hash != 0 && slots_[i].hash != id.hash) i = (i + 1) & mask;
    if (slots_[i].hash == id.hash) {
        const std::string_view kept(slots_[i].data, slots_[i].length);
        if (kept == text) return id;
        return Status::error(
            concat("the texts \"", kept, "\" and \"", text, "\" have the same hash; rename one of them"));
    }
    if (chunk_bytes_ - chunk_used_ < text.size()) {
        // A chunk begins with its own size, so that it can be given back.
        chunk_bytes_ =
            text.size() + sizeof(std::size_t) > kChunkBytes ? text.size() + sizeof(std::size_t) : kChunkBytes;
        chunks_.push_back(static_cast<char*>(allocate_memory(chunk_bytes_, kOwner)));
        std::memcpy(chunks_.back(), &chunk_bytes_, sizeof chunk_bytes_);
        chunk_used_ = sizeof(std::size_t);
    }
    char* data = chunks_.back() + chunk_used_;
    std::memcpy(data, text.data(), text.size());
    chunk_used_ += text.size();
    slots_[i] = {id.hash, data, static_cast<std::uint32_t>(text.size())};
    ++num_texts_;
    return id;
}

std::string_view StringTable::text(StringId id) const {
    if (slots_.empty() || id.hash == 0) return {};
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = id.hash & mask; slots_[i].hash != 0; i = (i + 1) & mask)
        if (slots_[i].hash == id.hash) return {slots_[i].data, slots_[i].length};
    return {};
}

void StringTable::grow() {
    Array<Slot> old(slots_.empty() ? 64 : slots_.size() * 2, Slot{}, OwnedAllocator<Slot>(kOwner));
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.hash == 0) continue;
        std::size_t i = slot.hash & mask;
        while (slots_[i].hash != 0) i = (i + 1) & mask;
        slots_[i] = slot;
    }
}

}  // namespace shoal
