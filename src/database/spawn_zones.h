#pragma once
// Finds the zone of each spawned entity; see Database::spawn_into_tiles for the rule.

#include "shoal/database/database.h"
#include "shoal/database/grid_zones.h"

#include <cmath>
#include <cstring>

namespace shoal {

/// The field whose value determines the zone of a spawned entity.
struct SpawnPositionField {
    ComponentType component;
    std::uint32_t first_column = 0;  // the first of the component type's columns
    bool is_split = false;           // x, y and z are in separate columns
    std::uint32_t offset_in_column = 0;
    GridZones tiles;
    std::uint32_t field = 0;  // the index of the field in the component type

    bool is_same(const SpawnPositionField& other) const {
        return component == other.component && field == other.field && tiles.options() == other.tiles.options();
    }
};

/// The values of the position field in columns: three adjacent floats, or one float in each of three columns.
template <class Byte>
struct PositionColumns {
    Byte* lanes[3] = {};
    std::size_t stride = 0;  // bytes from one value to the next

    Vec3 get(std::size_t i) const {
        Vec3 place;
        std::memcpy(&place.x, lanes[0] + i * stride, sizeof(float));
        std::memcpy(&place.y, lanes[1] + i * stride, sizeof(float));
        std::memcpy(&place.z, lanes[2] + i * stride, sizeof(float));
        return place;
    }
    void set(std::size_t i, Vec3 place) const {
        std::memcpy(lanes[0] + i * stride, &place.x, sizeof(float));
        std::memcpy(lanes[1] + i * stride, &place.y, sizeof(float));
        std::memcpy(lanes[2] + i * stride, &place.z, sizeof(float));
    }
};

/// `column(c)` gives column c of the component type.
template <class Byte, class GetColumn>
PositionColumns<Byte> place_columns(const SpawnPositionField& field, const Schema& schema, GetColumn&& column) {
    PositionColumns<Byte> result;
    result.stride = schema.columns()[field.first_column].element_bytes;
    for (std::uint32_t lane = 0; lane < 3; ++lane)
        result.lanes[lane] = field.is_split
                                 ? column(field.first_column + lane)
                                 : column(field.first_column) + field.offset_in_column + lane * sizeof(float);
    return result;
}

/// Transforms a position in the blob into the position in a copy.
inline Vec3 move_place(const RootPose& pose, Vec3 place) {
    const Vec3 p = {place.x * pose.scale.x, place.y * pose.scale.y, place.z * pose.scale.z};
    const Vec3 axis = {pose.rotation.x, pose.rotation.y, pose.rotation.z};
    const Vec3 twice = cross(axis, p) * 2;
    return p + twice * pose.rotation.w + cross(axis, twice) + pose.position;
}

/// Finds the zones of all entities in a copy, one copy at a time.
class SpawnZones {
public:
    static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

    /// `place_of[i]` is the index of blob entity i's position in `places`, or kNowhere; both may be nullptr.
    void find(const SpawnBatch& any, const SpawnPositionField* field, const Schema* schema, const SpawnBatch* places,
              const std::uint32_t* place_of, std::uint32_t copy, Zone first_zone) {
        zones_.clear();
        if (any.zones.empty() && places == nullptr) return;
        zones_.resize(any.num_blob_entities, first_zone);
        PositionColumns<const std::byte> columns;
        if (places != nullptr)
            columns =
                place_columns<const std::byte>(*field, *schema, [&](std::uint32_t c) { return places->columns[c]; });
        for (std::uint32_t i = 0; i < any.num_blob_entities; ++i) {
            const std::uint32_t parent = any.parents.empty() ? kNoBlobEntity : any.parents[i];
            if (!any.zones.empty() && any.zones[i] != kNoZone) {
                require_zone(any.zones[i]);
                zones_[i] = any.zones[i];
            } else if (places != nullptr && place_of[i] != kNowhere) {
                const Vec3 place = columns.get(place_of[i]);
                zones_[i] =
                    field->tiles.zone_of(any.root_poses.empty() ? place : move_place(any.root_poses[copy], place));
            } else if (parent != kNoBlobEntity) {
                zones_[i] = zones_[parent];
            }
        }
    }
    /// The zone of each blob entity; empty: all entities are in the first zone.
    std::span<const Zone> get() const { return zones_; }

private:
    Array<Zone> zones_{Owner("database")};
};

}  // namespace shoal
