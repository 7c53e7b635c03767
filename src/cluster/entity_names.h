#pragma once
// The names of entities: 64 bits that are the same on all ranks, unlike ids.
//
//     bits     63   62 ... 41        40 ... 0
//              0    zone of birth    count of births there, from 1
//              1    rank             count: a name for the time until the owner of a zone gives the lasting one
//
// The rank that owns a zone gives names to the entities born in it, in an order that depends only on their components,
// so it needs no data from other ranks. Names are never reused. An entity has no name yet if it is in no zone or was
// born in this frame. It gets a temporary name when it or a reference to it is sent. A temporary name depends on the
// ranks, so no result may depend on it. Thread: changed between passes; read by any thread.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity.h"
#include "shoal/store/detail/zone.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace shoal::cluster {

using Name = std::uint64_t;

inline constexpr int kNameCountBits = 41;
inline constexpr Name kTemporaryBit = Name(1) << 63;
/// In messages, stands for any dead entity: no entity has this name, because temporary names are counted from 1.
inline constexpr Name kDeadName = kTemporaryBit;
inline bool is_lasting(Name name) { return name != 0 && (name & kTemporaryBit) == 0; }
/// "12:7": the seventh entity that was born in zone 12.
inline std::string name_text(Name name) {
    return concat((name & ~kTemporaryBit) >> kNameCountBits, ':', name & ((Name(1) << kNameCountBits) - 1));
}

/// Finds entities by name. Names are consecutive, so entities are stored in pages of consecutive names. This takes a
/// sixth of the memory of a map from name to entity, and look-ups in the order of names need no search.
class EntitiesByName {
public:
    /// Returns the entity with a name, or null.
    Entity find(Name name) const {
        const Page* const page = find_page(name / kNamesPerPage);
        return page == nullptr ? kNullEntity : page->entities[name % kNamesPerPage];
    }
    void set(Name name, Entity entity) {
        Page* page = find_page(name / kNamesPerPage);
        if (page == nullptr) page = &add_page(name / kNamesPerPage);
        page->count += page->entities[name % kNamesPerPage] ? 0 : 1;
        page->entities[name % kNamesPerPage] = entity;
    }
    void erase(Name name) { erase({&name, 1}); }

    // For many names, of which those that are 0 are skipped. Cost: a search for each page of consecutive names.
    /// Requires: all of `entities` are null.
    void find(std::span<const Name> names, std::span<Entity> entities) const {
        for_each_run(names, [&](std::size_t begin, std::size_t count) {
            if (const Page* const page = find_page(names[begin] / kNamesPerPage))
                std::copy_n(page->entities + names[begin] % kNamesPerPage, count, entities.data() + begin);
        });
    }
    /// Returns whether no name was that of another entity.
    bool set(std::span<const Name> names, std::span<const Entity> entities) {
        bool are_new = true;
        for_each_run(names, [&](std::size_t begin, std::size_t count) {
            Page* page = find_page(names[begin] / kNamesPerPage);
            if (page == nullptr) page = &add_page(names[begin] / kNamesPerPage);
            for (std::size_t i = begin; i < begin + count; ++i) {
                Entity& entity = page->entities[names[i] % kNamesPerPage];
                are_new &= !entity || entity == entities[i];
                page->count += entity ? 0 : 1;
                entity = entities[i];
            }
        });
        return are_new;
    }
    void erase(std::span<const Name> names) {
        for_each_run(names, [&](std::size_t begin, std::size_t count) {
            Page* const page = find_page(names[begin] / kNamesPerPage);
            if (page == nullptr) return;
            for (std::size_t i = begin; i < begin + count; ++i) {
                Entity& entity = page->entities[names[i] % kNamesPerPage];
                page->count -= entity ? 1 : 0;
                entity = {};
            }
            if (page->count != 0) return;
            free_.push_back(last_page_);
            numbers_.erase(last_);
            last_ = kNone;
        });
    }

private:
    static constexpr std::uint32_t kNamesPerPage =
        15;  // with `count` and 32-bit ids, a page is the size of one cache line
    static constexpr Name kNone = ~Name(0);

    struct alignas(64) Page {
        Entity entities[kNamesPerPage] = {};
        std::uint32_t count = 0;  ///< number of entities that are not null
    };

    /// Calls visit(begin, count) for runs of consecutive names in one page.
    template <class Visit>
    static void for_each_run(std::span<const Name> names, Visit&& visit) {
        for (std::size_t begin = 0, count = 1; begin < names.size(); begin += count, count = 1) {
            if (names[begin] == 0) continue;
            const std::size_t left = kNamesPerPage - names[begin] % kNamesPerPage;
            const std::size_t most = std::min(names.size() - begin, left);
            while (count < most && names[begin + count] == names[begin] + count) ++count;
            visit(begin, count);
        }
    }
    const Page* find_page(Name number) const {
        if (number == last_) return &pages_[last_page_];
        const std::uint32_t* const found = numbers_.find(number);
        return found == nullptr ? nullptr : &pages_[*found];
    }
    Page* find_page(Name number) {
        if (number == last_) return &pages_[last_page_];
        const std::uint32_t* const found = numbers_.find(number);
        if (found == nullptr) return nullptr;
        last_ = number, last_page_ = *found;
        return &pages_[last_page_];
    }
    Page& add_page(Name number) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(pages_.size()));
            pages_.emplace_back();
        }
        last_ = number, last_page_ = free_.back();
        free_.pop_back();
        numbers_.set(number, last_page_);
        return pages_[last_page_] = {};
    }

    std::vector<Page> pages_;
    std::vector<std::uint32_t> free_;  // pages
    HashMap<Name, std::uint32_t> numbers_{Owner("cluster")};
    Name last_ = kNone;  // the page that the last change found
    std::uint32_t last_page_ = 0;
};

class EntityNames {
public:
    explicit EntityNames(std::uint32_t num_zones) : births_(num_zones) {}

    /// Returns the name of an entity, or 0 if it has none. Later entities with the same index do not inherit the name.
    Name name(Entity entity) const {
        const std::uint32_t index = entity.index();
        return index < names_.size() && names_[index].owner == entity ? names_[index].name : 0;
    }
    /// Returns the lasting name of an entity, or 0.
    Name lasting_name(Entity entity) const {
        const Name name = this->name(entity);
        return is_lasting(name) ? name : 0;
    }
    /// Returns the entity with a name, or null.
    Entity find(Name name) const { return entities_.find(name); }
    /// Returns the entity with each name, or null.
    std::vector<Entity> find(std::span<const Name> names) const {
        std::vector<Entity> entities(names.size());
        entities_.find(names, entities);
        return entities;
    }

    void set(Entity entity, Name name) {
        reach(entity.index());
        names_[entity.index()] = {entity, name};
        entities_.set(name, entity);
    }
    /// Sets the names of many entities, except those that are 0. Returns whether no other entity had one of the names.
    bool set(std::span<const Entity> entities, std::span<const Name> names) {
        std::uint32_t highest = 0;
        for (const Entity entity : entities) highest = std::max(highest, entity.index());
        reach(highest);
        for (std::size_t i = 0; i < entities.size(); ++i)
            if (names[i] != 0) names_[entities[i].index()] = {entities[i], names[i]};
        return entities_.set(names, entities);
    }
    /// Sets the name of an entity and keeps its marks. Returns the old name, or 0.
    Name rename(Entity entity, Name name) {
        const Name old = this->name(entity);
        if (old != 0) entities_.erase(old);
        set(entity, name);
        return old;
    }
    /// Returns the name of an entity, which first gets a temporary name if it has none. `rank`: this rank.
    Name name_to_send(Entity entity, std::uint32_t rank) {
        if (name(entity) == 0) set(entity, next_temporary(rank));
        return name(entity);
    }
    Name next_temporary(std::uint32_t rank) { return kTemporaryBit | Name(rank) << kNameCountBits | ++num_temporary_; }
    void erase(Entity entity) { erase({&entity, 1}); }
    void erase(std::span<const Entity> entities) {
        std::vector<Name> names(entities.size());
        for (std::size_t i = 0; i < entities.size(); ++i) names[i] = name(entities[i]);
        entities_.erase(names);
        for_each_index_run(entities, [this](std::size_t begin, std::size_t end) {
            reset(copies_, begin, end), reset(away_, begin, end), reset(known_, begin, end);
            std::fill(names_.data() + begin, names_.data() + end, Named());
        });
    }
    /// Returns a name for the next entity born in a zone.
    Name next(Zone zone) { return Name(zone) << kNameCountBits | ++births_[zone]; }
    std::uint64_t& num_temporary() { return num_temporary_; }
    /// See dead_entity().
    Entity& dead() { return dead_; }
    std::vector<std::uint64_t>& births() { return births_; }
    const std::vector<std::uint64_t>& births() const { return births_; }

    /// Whether an entity with a name is a copy of an entity that another rank owns.
    bool is_copy(Entity entity) const { return copies_.test(entity.index()) && name(entity) != 0; }
    void mark_copy(Entity entity, bool is_copy) { copies_.set(entity.index(), is_copy); }
    /// Whether another rank owns an entity, and this rank has only its name.
    bool is_away(Entity entity) const { return away_.test(entity.index()) && name(entity) != 0; }
    void mark_away(Entity entity, bool is_away) { away_.set(entity.index(), is_away); }
    bool is_elsewhere(Entity entity) const { return is_copy(entity) || is_away(entity); }
    /// Whether other ranks may know an entity and must be notified of its death.
    bool is_known_elsewhere(Entity entity) const { return known_.test(entity.index()); }
    void mark_known_elsewhere(Entity entity) { known_.set(entity.index()); }
    /// Marks entities that have come from another rank, which may still know them, except those without a name.
    void mark_come(std::span<const Entity> entities) {
        for_each_index_run(entities, [this](std::size_t begin, std::size_t end) {
            reset(copies_, begin, end), reset(away_, begin, end), known_.set_range(begin, end);
        });
    }
    /// Marks entities that have gone to another rank, except those without a name.
    void mark_gone(std::span<const Entity> entities) {
        for_each_index_run(entities, [this](std::size_t begin, std::size_t end) {
            away_.set_range(begin, end), known_.set_range(begin, end);
        });
    }

    /// Calls visit(entity, name) for all entities with a name, in the order of their indices.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t index = 0; index < names_.size(); ++index)
            if (const Named one = names_[index]; one.name != 0) visit(one.owner, one.name);
    }
    /// Call visit(entity, name) for the copies, and for the entities that are away.
    template <class Visit>
    void for_each_copy(Visit&& visit) const {
        for_each_marked(copies_, visit);
    }
    template <class Visit>
    void for_each_away(Visit&& visit) const {
        for_each_marked(away_, visit);
    }

private:
    struct Named {
        Entity owner{};
        Name name = 0;
    };

    void reach(std::uint32_t index) {
        if (index >= names_.size()) names_.resize(index + std::size_t(index / 2) + 64);
    }
    static void reset(BitSet& bits, std::size_t begin, std::size_t end) {
        set_bits(bits.words().data(), begin, std::min(end, bits.words().size() * 64), false);
    }
    /// Calls visit(begin, end) for the consecutive indices of entities with a name.
    template <class Visit>
    void for_each_index_run(std::span<const Entity> entities, Visit&& visit) const {
        for (std::size_t i = 0, count = 1; i < entities.size(); i += count, count = 1) {
            if (name(entities[i]) == 0) continue;
            while (i + count < entities.size() && entities[i + count].id == entities[i].id + count &&
                   name(entities[i + count]) != 0)
                ++count;
            visit(entities[i].index(), entities[i].index() + count);
        }
    }
    template <class Visit>
    void for_each_marked(const BitSet& marked, Visit&& visit) const {
        marked.for_each([&](std::size_t index) {
            if (index < names_.size() && names_[index].name != 0) visit(names_[index].owner, names_[index].name);
        });
    }

    std::vector<Named> names_;  // indexed by entity index
    EntitiesByName entities_;
    std::vector<std::uint64_t> births_;  // indexed by zone
    std::uint64_t num_temporary_ = 0;
    Entity dead_{};
    BitSet copies_{Owner("cluster")}, away_{Owner("cluster")}, known_{Owner("cluster")};  // indexed by entity index
};

}  // namespace shoal::cluster
