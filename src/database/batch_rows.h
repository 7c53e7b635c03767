#pragma once
// Finds each blob entity's component in each batch of a spawn.
//
// Entities with the same component types are usually consecutive, and so are their components. In that case, each batch
// has a few stretches, which cost no time per entity; otherwise a number is stored for each entity and batch.

#include "shoal/base/detail/array.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/store/store.h"

#include <algorithm>
#include <span>

namespace shoal {

class BatchRows {
public:
    static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

    /// Looks at all batches of one blob. Unless stretches suffice, calls further(batch, place) for each component that
    /// is not its entity's first in the batch. If `by_entity` is true, a number is always stored for each entity.
    template <class Further>
    void find(std::span<const SpawnBatch> batches, bool by_entity, Further&& further) {
        num_entities_ = batches[0].num_blob_entities;
        num_batches_ = batches.size();
        if (!by_entity && find_stretches(batches)) return;
        stretches_.clear();
        places_.assign(num_batches_ * num_entities_, kNowhere);
        keys_.assign(num_entities_, 0);
        for (std::uint32_t b = 0; b < num_batches_; ++b)
            for (std::uint32_t i = 0; i < batches[b].entity_index.size(); ++i) {
                std::uint32_t& place = places_[b * num_entities_ + batches[b].entity_index[i]];
                if (place != kNowhere) {
                    further(b, i);
                    continue;
                }
                place = i;
                keys_[batches[b].entity_index[i]] ^= key_of_batch(b);
            }
    }

    /// Returns the place of an entity's component in a batch, or kNowhere. Cost: with stretches, O(log(stretches)).
    std::uint32_t of(std::size_t batch, std::uint32_t entity) const {
        if (stretches_.empty()) return places_[batch * num_entities_ + entity];
        const Stretch* const next = stretch_after(batch, entity);
        if (next == begin_of(batch) || entity >= next[-1].end) return kNowhere;
        return next[-1].place + (entity - next[-1].begin);
    }
    bool has(std::size_t batch, std::uint32_t entity) const { return of(batch, entity) != kNowhere; }

    /// Returns a number that is the same for entities with components in the same batches.
    std::uint64_t key(std::uint32_t entity) const {
        if (stretches_.empty()) return keys_[entity];
        std::uint64_t key = 0;
        for (std::size_t b = 0; b < num_batches_; ++b)
            if (has(b, entity)) key ^= key_of_batch(b);
        return key;
    }
    /// Whether entities with the same key always have components in the same batches.
    bool keys_tell_all() const { return num_batches_ <= 64; }
    bool are_alike(std::uint32_t a, std::uint32_t b) const {
        bool alike = key(a) == key(b);
        for (std::size_t batch = 0; batch < num_batches_ && alike && !keys_tell_all(); ++batch)
            alike = has(batch, a) == has(batch, b);
        return alike;
    }

    /// Sets `to` to the places of some entities.
    void get(std::size_t batch, std::span<const std::uint32_t> entities, Array<std::uint32_t>& to) const {
        to.resize(entities.size());
        for (std::size_t i = 0; i < entities.size(); ++i) to[i] = of(batch, entities[i]);
    }
    /// The places of all entities in a batch. Requires: find() was called with `by_entity`.
    const std::uint32_t* by_entity(std::size_t batch) const { return places_.data() + batch * num_entities_; }

    /// Returns the end of the run that begins with `entity`, and whose entities have consecutive components in all
    /// batches.
    std::uint32_t end_of_run(std::uint32_t entity) const {
        std::uint32_t end = num_entities_;
        if (stretches_.empty()) {
            for (end = entity + 1; end < num_entities_ && continues(end);) ++end;
            return end;
        }
        for (std::size_t b = 0; b < num_batches_; ++b) {
            const Stretch* const next = stretch_after(b, entity);
            if (next != begin_of(b) && entity < next[-1].end)
                end = std::min(end, next[-1].end);
            else if (next != begin_of(b + 1))
                end = std::min(end, next->begin);
        }
        return end;
    }

private:
    /// Entity begin + i has component place + i, for all entities in [begin, end).
    struct Stretch {
        std::uint32_t begin, end, place;
    };
    static constexpr std::size_t kEntitiesPerStretch = 16;  // with fewer entities, a number for each is cheaper

    const Stretch* begin_of(std::size_t batch) const { return stretches_.data() + first_of_[batch]; }
    const Stretch* stretch_after(std::size_t batch, std::uint32_t entity) const {
        return std::upper_bound(begin_of(batch), begin_of(batch + 1), entity,
                                [](std::uint32_t e, const Stretch& stretch) { return e < stretch.begin; });
    }

    /// Finds the stretches. Returns whether all batches consist of a few stretches, in the order of the entities.
    bool find_stretches(std::span<const SpawnBatch> batches) {
        const std::size_t most = num_entities_ / kEntitiesPerStretch;
        for (const SpawnBatch& batch : batches) {
            first_of_.push_back(static_cast<std::uint32_t>(stretches_.size()));
            const std::span<const std::uint32_t> owners = batch.entity_index;
            for (std::uint32_t begin = 0, end; begin < owners.size(); begin = end) {
                for (end = begin + 1; end < owners.size() && owners[end] == owners[end - 1] + 1;) ++end;
                if (stretches_.size() == most || (begin != 0 && owners[begin] <= owners[begin - 1])) return false;
                stretches_.push_back({owners[begin], owners[end - 1] + 1, begin});
            }
        }
        first_of_.push_back(static_cast<std::uint32_t>(stretches_.size()));
        return !stretches_.empty();
    }

    static std::uint64_t key_of_batch(std::size_t batch) {
        return batch < 64 ? std::uint64_t(1) << batch : hash_key(batch);
    }

    bool continues(std::uint32_t entity) const {
        if (keys_[entity] != keys_[entity - 1]) return false;
        for (std::size_t b = 0; b < num_batches_; ++b) {
            const std::uint32_t before = of(b, entity - 1), here = of(b, entity);
            if (before == kNowhere ? here != kNowhere : here != before + 1) return false;
        }
        return true;
    }

    std::size_t num_entities_ = 0, num_batches_ = 0;
    Array<std::uint32_t> places_{Owner("database")};    // [batch][blob entity]; empty: stretches_ is used
    Array<std::uint64_t> keys_{Owner("database")};      // indexed by blob entity; used with places_
    Array<Stretch> stretches_{Owner("database")};       // sorted by batch, then entity; empty: places_ is used
    Array<std::uint32_t> first_of_{Owner("database")};  // for each batch: its first stretch; then the end
};

}  // namespace shoal
