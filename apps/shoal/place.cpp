#include "place.h"

#include <algorithm>
#include <cmath>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::uint32_t kNumVectors = 3;
constexpr std::string_view kVectors[kNumVectors] = {"position", "velocity", "acceleration"};

/// How something moves, as seen from somewhere.
struct Motion {
    Vec3 vector[kNumVectors];  // as kVectors

    Motion& operator+=(const Motion& other) {
        for (std::uint32_t i = 0; i < kNumVectors; ++i) vector[i] += other.vector[i];
        return *this;
    }
};

/// How the entities of one copy move, as seen from the level.
class BlobMotions {
public:
    explicit BlobMotions(const Blob& blob) : blob_(blob), motions_(blob.num_entities()) {
        read_own_motions();
        for (std::uint32_t entity = 0; entity < blob.num_entities(); ++entity)  // parents come first
            if (const std::uint32_t parent = blob.parents()[entity]; parent != kNoBlobEntity)
                motions_[entity] += motions_[parent];
    }

    /// What the entity's own components are relative to.
    Motion base(std::uint32_t entity) const {
        const std::uint32_t parent = blob_.parents()[entity];
        return parent == kNoBlobEntity ? Motion{} : motions_[parent];
    }

    Bounds bounds() const {
        Bounds bounds;
        for (const BlobComponents& components : blob_.component_types())
            if (const auto rows = find_vec3(*components.schema, components.columns, components.count(), kVectors[0]))
                for (std::uint32_t row = 0; row < rows->num_rows; ++row)
                    bounds.add(base(components.entity_index[row]).vector[0] + (*rows)[row]);
        return bounds;
    }

private:
    /// Takes the first component of each entity that has a position.
    void read_own_motions() {
        std::vector<bool> is_known(motions_.size());
        for (const BlobComponents& components : blob_.component_types()) {
            if (!find_vec3(*components.schema, components.columns, components.count(), kVectors[0])) continue;
            const std::vector<bool> was_known = is_known;
            for (std::uint32_t i = 0; i < kNumVectors; ++i)
                if (const auto rows =
                        find_vec3(*components.schema, components.columns, components.count(), kVectors[i]))
                    read_vectors(components, *rows, i, was_known, is_known);
        }
    }
    void read_vectors(const BlobComponents& components, const Vec3Rows& rows, std::uint32_t vector,
                      const std::vector<bool>& was_known, std::vector<bool>& is_known) {
        for (std::uint32_t row = rows.num_rows; row-- > 0;) {
            const std::uint32_t entity = components.entity_index[row];
            if (was_known[entity]) continue;
            motions_[entity].vector[vector] = rows[row];
            is_known[entity] = true;
        }
    }

    const Blob& blob_;
    std::vector<Motion> motions_;  // by blob entity
};

/// Where an entity stands in Spawned::entities(), by its index.
std::vector<std::uint32_t> places_by_index(std::span<const Entity> entities) {
    std::uint32_t most = 0;
    for (const Entity entity : entities) most = std::max(most, entity.index());
    std::vector<std::uint32_t> places(std::size_t(most) + 1, kNoBlobEntity);
    for (std::uint32_t i = 0; i < entities.size(); ++i) places[entities[i].index()] = i;
    return places;
}

}  // namespace

CopyGrid CopyGrid::make(std::uint32_t num_copies, const Bounds& bounds) {
    const Vec3 size = bounds.size();
    const auto num_columns = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(num_copies))));
    return {std::max(1u, num_columns), std::max(size.x, size.y) * 1.05f + 1};
}

Status place(World& world, const Blob& blob, const Spawned& spawned) {
    if (spawned.entities().empty()) return {};
    const BlobMotions motions(blob);
    const CopyGrid grid = CopyGrid::make(spawned.num_copies(), motions.bounds());
    const std::vector<std::uint32_t> places = places_by_index(spawned.entities());
    for (const BlobComponents& components : blob.component_types()) {
        if (!find_vec3(*components.schema, components.columns, components.count(), kVectors[0])) continue;
        const Result<ComponentManager*> manager = world.manager(*components.schema);
        if (!manager) return manager.status();
        Table& table = (*manager)->table();
        for (std::uint32_t i = 0; i < kNumVectors; ++i) {
            const std::optional<WritableVec3Rows> rows = write_vec3(table, kVectors[i]);
            if (!rows) continue;
            for (std::uint32_t row = 0; row < rows->num_rows; ++row) {
                const std::uint32_t place = places[table.entities()[row].index()];
                const Vec3 base = motions.base(place % spawned.num_blob_entities()).vector[i];
                const Vec3 shift = i == 0 ? grid.shift(place / spawned.num_blob_entities()) : Vec3{};
                rows->set(row, (*rows)[row] + base + shift);
            }
        }
    }
    return {};
}

}  // namespace shoal_tool
