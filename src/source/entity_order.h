#pragma once
// The order of entities in a blob: all roots, then their children, and so on. Each generation is sorted by zone, then
// by component types, then by position in the source. A database can thus copy long runs of rows, even if the source
// mixes component types.
//
//     source (a: position; b: position, light)     blob
//     a1 { b2 a3 }  b4  a5 { a6 }                  a1 a5 | b4 | a3 a6 | b2
//
// Components of tree stores are in depth-first order, which depth_first() returns. Other components are in the order of
// the entities.

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/string_id.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/source/detail/composer.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace shoal {

/// The order of one type's components: the i-th component is component order[i] of the source. If empty, the order is
/// that of the source.
using ComponentPermutation = std::vector<std::uint32_t>;

class EntityOrder {
public:
    explicit EntityOrder(const Composition& composition) {
        find_groups(composition);
        const std::span<const ComposedEntity> entities = composition.entities();
        composed_ = order_by_key(entities.size(), num_groups_, [&](std::size_t i) { return group_[i]; });
        if (composed_.empty()) {
            composed_.resize(entities.size());
            std::iota(composed_.begin(), composed_.end(), 0u);
        }
        blob_index_.resize(entities.size());
        for (std::uint32_t i = 0; i < composed_.size(); ++i) blob_index_[composed_[i]] = i;
        root_.resize(entities.size());
        for (std::uint32_t i = 0; i < entities.size(); ++i) {
            const std::uint32_t parent = entities[i].parent;
            root_[i] = parent == kNoBlobEntity ? blob_index_[i] : root_[parent];
            num_roots_ += parent == kNoBlobEntity;
        }
    }

    /// The indices of the composed entities, in the order of the blob.
    std::span<const std::uint32_t> composed() const { return composed_; }
    /// The index of a composed entity in the blob. kNoBlobEntity stays kNoBlobEntity.
    std::uint32_t blob_index(std::uint32_t composed) const {
        return composed == kNoBlobEntity ? kNoBlobEntity : blob_index_[composed];
    }

    /// Shape: `owners` has ascending indices of composed entities. If an entity has several components of the type, its
    /// index is repeated.
    ComponentPermutation by_entity(std::span<const std::uint32_t> owners) const {
        return order_by_key(owners.size(), num_groups_, [&](std::size_t i) { return group_[owners[i]]; });
    }

    /// Like by_entity(), but orders trees by the position of their roots in the blob. Within a tree, keeps the order of
    /// the source.
    ComponentPermutation depth_first(std::span<const std::uint32_t> owners) const {
        return order_by_key(owners.size(), num_roots_, [&](std::size_t i) { return root_[owners[i]]; });
    }

private:
    /// The properties by which entities are grouped and groups are sorted.
    struct GroupKey {
        std::uint32_t generation = 0;  ///< number of ancestors
        std::uint32_t zone = 0;
        std::uint32_t kind = 0;  ///< index of the set of component types, in order of first occurrence
        friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
    };

    /// Returns the numbers from 0 to `count` - 1, stably sorted by their keys; empty if they are already sorted.
    template <class KeyOf>
    static std::vector<std::uint32_t> order_by_key(std::size_t count, std::size_t num_keys, KeyOf&& key_of) {
        bool is_ordered = true;
        for (std::size_t i = 1; i < count && is_ordered; ++i) is_ordered = key_of(i - 1) <= key_of(i);
        if (is_ordered) return {};
        std::vector<std::uint32_t> next(num_keys + 1), order(count);
        for (std::size_t i = 0; i < count; ++i) ++next[key_of(i) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (std::size_t i = 0; i < count; ++i) order[next[key_of(i)]++] = static_cast<std::uint32_t>(i);
        return order;
    }

    /// Finds the zone that the source names for an entity or its nearest ancestor. Only the order of entities depends
    /// on the zone, so errors in the text are not reported here; the compilation of the component reports them.
    class NamedZones {
    public:
        explicit NamedZones(const Composition& composition) {
            const std::span<const std::string_view> types = composition.types();
            const auto found = std::find(types.begin(), types.end(), schema_of<SpawnZone>().name());
            type_ = static_cast<std::uint32_t>(found - types.begin());
            if (found != types.end()) zones_.resize(composition.entities().size());
        }

        /// Requires: find() has been called for the parent.
        std::uint32_t find(std::uint32_t i, const ComposedEntity& composed) {
            if (zones_.empty()) return 0;
            zones_[i] = composed.parent == kNoBlobEntity ? 0 : zones_[composed.parent];
            for (const MergedComponent& component : composed.entity->components)
                if (component.type == type_) zones_[i] = named_by(component, zones_[i]);
            return zones_[i];
        }

    private:
        static std::uint32_t named_by(const MergedComponent& component, std::uint32_t otherwise) {
            for (const ComponentLayer* layer = component.top; layer != nullptr; layer = layer->below) {
                if (!layer->fields || layer->fields.is_null()) continue;
                const Node zone = layer->fields.is_mapping()
                                      ? layer->fields.find(schema_of<SpawnZone>().fields()[0].name)
                                      : layer->fields;
                if (const std::int64_t* const number = zone ? zone.as_int64() : nullptr)
                    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(*number, 0, kMaxZones));
            }
            return otherwise;
        }

        std::uint32_t type_ = 0;
        std::vector<std::uint32_t> zones_;  // zone of each composed entity; empty if the source does not name zones
    };

    /// Assigns numbers to sets of component types.
    class Kinds {
    public:
        std::uint32_t find(const MergedEntity& entity) {
            types_.clear();
            for (const MergedComponent& component : entity.components) types_.push_back(component.type);
            if (!kinds_.empty() && types_ == last_types_) return last_;
            last_types_ = types_;
            std::sort(types_.begin(), types_.end());
            types_.erase(std::unique(types_.begin(), types_.end()), types_.end());
            const std::uint64_t hash = hash_bytes(types_.data(), types_.size() * sizeof(types_[0]));
            const auto is_same = [&](std::uint32_t kind) { return kinds_[kind] == types_; };
            if (const std::uint32_t* const known = by_hash_.find_if(hash, is_same)) return last_ = *known;
            last_ = static_cast<std::uint32_t>(kinds_.size());
            by_hash_.add(hash, last_);
            kinds_.push_back(types_);
            return last_;
        }

    private:
        std::vector<std::uint32_t> types_, last_types_;
        std::uint32_t last_ = 0;
        std::vector<std::vector<std::uint32_t>> kinds_;  // each is sorted
        HashMap<std::uint64_t, std::uint32_t> by_hash_{Owner("compiler")};
    };

    void find_groups(const Composition& composition) {
        const std::span<const ComposedEntity> entities = composition.entities();
        std::vector<GroupKey> keys;  // keys of the groups, in the order of first occurrence
        HashMap<std::uint64_t, std::uint32_t> by_hash{Owner("compiler")};
        std::vector<std::uint32_t> generation(entities.size());
        NamedZones zones(composition);
        Kinds kinds;
        group_.resize(entities.size());
        for (std::uint32_t i = 0; i < entities.size(); ++i) {
            const std::uint32_t parent = entities[i].parent;
            generation[i] = parent == kNoBlobEntity ? 0 : generation[parent] + 1;
            const GroupKey key{generation[i], zones.find(i, entities[i]), kinds.find(*entities[i].entity)};
            if (i != 0 && keys[group_[i - 1]] == key) {
                group_[i] = group_[i - 1];
                continue;
            }
            const std::uint64_t hash = hash_bytes(&key, sizeof key);
            const auto is_same = [&](std::uint32_t group) { return keys[group] == key; };
            const std::uint32_t* const known = by_hash.find_if(hash, is_same);
            group_[i] = known != nullptr ? *known : static_cast<std::uint32_t>(keys.size());
            if (known != nullptr) continue;
            by_hash.add(hash, group_[i]);
            keys.push_back(key);
        }
        std::vector<std::uint32_t> order(keys.size()), rank(keys.size());
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
        for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
        for (std::uint32_t& group : group_) group = rank[group];
        num_groups_ = static_cast<std::uint32_t>(keys.size());
    }

    std::vector<std::uint32_t> group_;  // group of each composed entity
    std::uint32_t num_groups_ = 0;      // numbered in the order of the blob
    std::vector<std::uint32_t> composed_, blob_index_;
    std::vector<std::uint32_t> root_;  // blob index of each composed entity's root
    std::uint32_t num_roots_ = 0;
};

}  // namespace shoal
