#pragma once
// The order of entities in a blob, so that a database copies runs of rows however a source mixes component types:
// roots, then their children, then the children of these; in each generation by zone, then by the component types that
// an entity has, then as in the source.
//
//     source (a: position; b: position, light)     blob
//     a1 { b2 a3 }  b4  a5 { a6 }                  a1 a5 | b4 | a3 a6 | b2
//
// Stores of trees take components depth first. Theirs lie as depth_first() says; other components follow the entities.

#include "shoal/source/composer.h"

#include <vector>

namespace shoal {

/// An order of the components of one type: the i-th is number order[i] of those in the order of the source. Empty: as in the
/// source.
using ComponentPermutation = std::vector<std::uint32_t>;

class EntityOrder {
public:
    explicit EntityOrder(const Composition& composition);

    /// The composed entities, as they lie in the blob.
    std::span<const std::uint32_t> composed() const { return composed_; }
    /// Where a composed entity lies in the blob. kNoBlobEntity stays what it is.
    std::uint32_t blob_index(std::uint32_t composed) const {
        return composed == kNoBlobEntity ? kNoBlobEntity : blob_index_[composed];
    }

    /// Shape: owners: composed entities, ascending; one that has several components of the type occurs as often.
    ComponentPermutation by_entity(std::span<const std::uint32_t> owners) const;
    /// The same with each tree in the order of the source, and its root where the blob has it.
    ComponentPermutation depth_first(std::span<const std::uint32_t> owners) const;

private:
    void find_groups(const Composition& composition);

    std::vector<std::uint32_t> group_;  // by composed entity: its generation, zone and component types
    std::uint32_t num_groups_ = 0;      // in the order of the blob
    std::vector<std::uint32_t> composed_, blob_index_;
    std::vector<std::uint32_t> root_;  // by composed entity: that of its tree, in the blob
    std::uint32_t num_roots_ = 0;
};

}  // namespace shoal
