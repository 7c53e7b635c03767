#pragma once
// The names of entities: 64 bits that are the same on all ranks, unlike ids.
//
//     bits     63   62 ... 41        40 ... 0
//              0    zone of birth    count of births there, from 1
//              1    rank             count: an entity in no zone, below one that was sent
//
// The owner of a zone names the entities born in it, in an order that depends only on their components, so that it need
// not ask other ranks. Names are never reused. An entity in no zone gets a name when it is sent: this one depends on
// the ranks, and no result may depend on it.
// Thread: changed between passes; read by any thread.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity.h"
#include "shoal/store/detail/zone.h"

#include <string>
#include <vector>

namespace shoal::cluster {

using Name = std::uint64_t;

inline constexpr int kNameCountBits = 41;
inline constexpr Name kBelowBit = Name(1) << 63;  ///< the entity is in no zone
/// "12:7": the seventh entity that was born in zone 12.
inline std::string name_text(Name name) {
    return concat((name & ~kBelowBit) >> kNameCountBits, ':', name & ((Name(1) << kNameCountBits) - 1));
}

class EntityNames {
public:
    explicit EntityNames(std::uint32_t num_zones) : births_(num_zones) {}

    /// Returns the name of an entity, or 0 if it has none. A name is not passed on to a later entity of the same index.
    Name name(Entity entity) const {
        const std::uint32_t index = entity.index();
        return index < names_.size() && names_[index].owner == entity ? names_[index].name : 0;
    }
    /// Returns the entity with a name, or null.
    Entity find(Name name) const { return {entities_.find_or(name, 0)}; }

    void set(Entity entity, Name name) {
        if (entity.index() >= names_.size()) names_.resize(entity.index() + std::size_t(entity.index() / 2) + 64);
        names_[entity.index()] = {entity, name};
        entities_.set(name, entity.id);
    }
    void erase(Entity entity) {
        const Name old = name(entity);
        if (old == 0) return;
        entities_.erase(old);
        names_[entity.index()] = {};
        copies_.reset(entity.index()), away_.reset(entity.index()), known_.reset(entity.index());
    }
    /// Returns a name for the next entity born in a zone.
    Name next(Zone zone) { return Name(zone) << kNameCountBits | ++births_[zone]; }
    /// Returns a name for an entity in no zone.
    Name next_below(std::uint32_t rank) { return kBelowBit | Name(rank) << kNameCountBits | ++num_below_; }
    std::uint64_t& num_below() { return num_below_; }
    std::vector<std::uint64_t>& births() { return births_; }
    const std::vector<std::uint64_t>& births() const { return births_; }

    /// Whether an entity with a name is a copy of one that another rank owns.
    bool is_copy(Entity entity) const { return copies_.test(entity.index()) && name(entity) != 0; }
    void mark_copy(Entity entity, bool is_copy) { copies_.set(entity.index(), is_copy); }
    /// Whether an entity is known by its name alone: another rank owns it, and this rank has no copy.
    bool is_away(Entity entity) const { return away_.test(entity.index()) && name(entity) != 0; }
    void mark_away(Entity entity, bool is_away) { away_.set(entity.index(), is_away); }
    bool is_elsewhere(Entity entity) const { return is_copy(entity) || is_away(entity); }
    /// Whether other ranks may know an entity. If so, they are told of its death.
    bool is_known_elsewhere(Entity entity) const { return known_.test(entity.index()); }
    void mark_known_elsewhere(Entity entity) { known_.set(entity.index()); }

    /// Calls visit(entity, name) for all entities with a name, by index.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t index = 0; index < names_.size(); ++index)
            if (const Named one = names_[index]; one.name != 0) visit(one.owner, one.name);
    }

private:
    struct Named {
        Entity owner{};
        Name name = 0;
    };

    std::vector<Named> names_;  // by index
    HashMap<Name, EntityBits> entities_{Owner("cluster")};
    std::vector<std::uint64_t> births_;  // by zone
    std::uint64_t num_below_ = 0;
    BitSet copies_{Owner("cluster")}, away_{Owner("cluster")}, known_{Owner("cluster")};  // by index
};

}  // namespace shoal::cluster
