#pragma once
// A hash map: open addressing in one array, which doubles when it is half full.
//
//     slots    [ key value | . | key value | key value | . | . | . | . ]      a power of two
//
//     HashMap<std::uint64_t, std::uint32_t> rows{Owner("names")};
//     rows.insert(7, 1);  // {&value, is_new}
//     if (const std::uint32_t* row = rows.find(7)) use(*row);
//
// A search starts at the slot that the hash selects, and ends at the key or at a free slot. Erasing moves later entries
// back into the hole, so there are no tombstones. A key may have several values: add() adds a value, and find_if()
// selects one of them. For example, a map from strings can use 64-bit hashes as keys, and compare the strings in
// find_if(). Thread: any thread may search while no thread changes the map.

#include "shoal/base/detail/array.h"
#include "shoal/base/string_id.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal {

/// Returns the hash of a key; the map uses the upper 32 bits. Another key type needs an overload in its own namespace.
constexpr std::uint64_t hash_key(std::uint64_t key) { return (key ^ key >> 29) * 0x9E3779B97F4A7C15ull; }
constexpr std::uint64_t hash_key(StringId key) { return hash_key(key.hash); }
inline std::uint64_t hash_key(std::string_view key) { return hash_text(key); }

/// Combines two numbers into one key.
constexpr std::uint64_t pair_key(std::uint32_t high, std::uint32_t low) { return std::uint64_t(high) << 32 | low; }

/// Returns the first slot at or after `home` that is free or matches. Like free_slot(), it serves hash tables that keep
/// their slots outside of a HashMap. Shape: mask + 1 slots, where mask + 1 is a power of two. Requires: a slot is free.
template <class Slot, class Matches>
SHOAL_INLINE std::size_t find_slot(const Slot* slots, std::size_t mask, std::size_t home, Matches&& matches) {
    std::size_t slot = home & mask;
    while (slots[slot].is_used() && !matches(slots[slot])) slot = (slot + 1) & mask;
    return slot;
}

/// Frees a slot and moves later entries back into the hole. For a used slot, home_of(slot) returns the slot where a
/// search for its key starts.
template <class Slot, class HomeOf>
void free_slot(Slot* slots, std::size_t mask, std::size_t hole, HomeOf&& home_of) {
    for (std::size_t slot = (hole + 1) & mask; slots[slot].is_used(); slot = (slot + 1) & mask) {
        const std::size_t home = home_of(slots[slot]) & mask;
        if (((slot - home) & mask) < ((slot - hole) & mask)) continue;  // its home is after the hole
        slots[hole] = std::move(slots[slot]);
        hole = slot;
    }
    slots[hole] = Slot();
}

template <class Key, class Value>
class HashMap {
public:
    struct Inserted {
        Value* value;
        bool is_new;
    };

    explicit HashMap(Owner owner) : slots_(owner) {}

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    /// Returns the value of `key`, or nullptr. Lifetime: until the next insert(), add() or erase().
    const Value* find(const Key& key) const {
        return find_if(key, [](const Value&) { return true; });
    }
    Value* find(const Key& key) { return const_cast<Value*>(static_cast<const HashMap*>(this)->find(key)); }

    /// Returns the value of `key`, or `otherwise`.
    Value find_or(const Key& key, const Value& otherwise) const {
        const Value* const value = find(key);
        return value == nullptr ? otherwise : *value;
    }

    /// Returns a value of `key` for which matches(value) holds, or nullptr. Lifetime: as for find().
    template <class Matches>
    const Value* find_if(const Key& key, Matches&& matches) const {
        if (slots_.empty()) return nullptr;
        const Slot& slot = slots_[search(key, matches)];
        return slot.used ? &slot.value : nullptr;
    }

    /// Adds a key with its value, unless the map already has the key. Returns the value in the map.
    Inserted insert(const Key& key, Value value) {
        if (Value* const known = find(key)) return {known, false};
        return {&add(key, std::move(value)), true};
    }

    /// Adds a key with its value, or replaces the value of an existing key.
    Value& set(const Key& key, Value value) {
        Value* const known = find(key);
        return known != nullptr ? *known = std::move(value) : add(key, std::move(value));
    }

    /// Adds a key with its value, even if the map already has the key.
    Value& add(Key key, Value value) {
        if ((size_ + 1) * 2 > slots_.size()) resize(slots_.empty() ? kFewestSlots : slots_.size() * 2);
        ++size_;
        return place({std::move(key), std::move(value), true});
    }

    /// Removes a key with its value, or one value of a key that has several. Returns whether the map had the key.
    bool erase(const Key& key) {
        if (find(key) == nullptr) return false;
        free_slot(slots_.data(), mask(), search(key, [](const Value&) { return true; }),
                  [](const Slot& slot) { return home_of(slot.key); });
        --size_;
        return true;
    }

    /// Makes room for `count` entries in total.
    void reserve(std::size_t count) {
        if (count == 0) return;
        std::size_t num_slots = slots_.empty() ? kFewestSlots : slots_.size();
        while (num_slots < count * 2) num_slots *= 2;
        if (num_slots > slots_.size()) resize(num_slots);
    }
    /// Removes all entries and keeps the memory.
    void clear() {
        for (Slot& slot : slots_) slot = Slot();
        size_ = 0;
    }

    /// Calls visit(key, value) for each entry, in no particular order. The visitor must not change the map.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Slot& slot : slots_)
            if (slot.used) visit(slot.key, slot.value);
    }

private:
    static constexpr std::size_t kFewestSlots = 16;

    struct Slot {
        Key key{};
        Value value{};
        bool used = false;

        bool is_used() const { return used; }
    };

    std::size_t mask() const { return slots_.size() - 1; }
    static std::size_t home_of(const Key& key) { return static_cast<std::size_t>(hash_key(key) >> 32); }

    /// Returns the slot that holds `key` and a matching value, or a free slot. Requires: there are slots.
    template <class Matches>
    std::size_t search(const Key& key, Matches&& matches) const {
        return find_slot(slots_.data(), mask(), home_of(key),
                         [&](const Slot& slot) { return slot.key == key && matches(slot.value); });
    }
    Value& place(Slot entry) {
        Slot& slot = slots_[find_slot(slots_.data(), mask(), home_of(entry.key), [](const Slot&) { return false; })];
        slot = std::move(entry);
        return slot.value;
    }
    void resize(std::size_t num_slots) {
        Array<Slot> old(slots_.owner());
        old.resize(num_slots);
        old.swap(slots_);
        for (Slot& slot : old)
            if (slot.used) place(std::move(slot));
    }

    Array<Slot> slots_;
    std::size_t size_ = 0;
};

}  // namespace shoal
