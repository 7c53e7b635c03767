#pragma once
// The reefs, blooms and sharks in and around a tile. There are few of them, and they are looked up once for all fish in
// the tile.

#include "sea.h"

#include <cmath>
#include <vector>

namespace reef {

struct Disc {
    Vec2 centre;
    float radius;
};

inline float length_of(Vec2 v) { return std::sqrt(v.x * v.x + v.y * v.y); }

/// A bloom with four times as many meals is twice as wide.
inline float bloom_radius(float meals) { return 0.8f * std::sqrt(meals); }

/// Identifies a fish by its tile and its index among the fish in the tile. Another machine may own the tile.
struct FishPlace {
    Zone tile = 0;
    std::uint32_t number = 0;
};

/// Returns the number of fish on all machines at the start of the frame.
inline std::uint32_t count_fish(const Sea& sea) {
    std::uint64_t count = 0;
    for (const std::uint64_t some : sea.fish_of_tile) count += some;
    return static_cast<std::uint32_t>(count);
}

/// Finds a fish by number. The fish on all machines are numbered. Requires: number < count_fish(sea).
inline FishPlace find_fish(const Sea& sea, std::uint64_t number) {
    Zone tile = 0;
    for (; number >= sea.fish_of_tile[tile]; ++tile) number -= sea.fish_of_tile[tile];
    return {tile, static_cast<std::uint32_t>(number)};
}

struct Around {
    std::vector<Disc> reefs, blooms;
    std::vector<Vec2> sharks;

    /// Finds everything in `tile` and the tiles next to it.
    void look(const Sea& sea, Zone tile) {
        reefs.clear(), blooms.clear(), sharks.clear();
        sea.touching[tile].for_each([&](Zone zone) {
            add_discs(sea, sea.reefs, zone, reefs);
            add_discs(sea, sea.blooms, zone, blooms);
            const shoal::DatabaseTable* table = sea.database.find_table(sea.sharks, zone);
            if (table == nullptr || table->num_rows() == 0) return;
            const auto position = table->column<&Place::position>(sea.database.find_component<Place>());
            for (std::uint32_t row = 0; row < table->num_rows(); ++row)
                sharks.push_back({position.x()[row], position.y()[row]});
        });
    }

private:
    static void add_discs(const Sea& sea, const shoal::Archetype& type, Zone zone, std::vector<Disc>& out) {
        const shoal::DatabaseTable* table = sea.database.find_table(type, zone);
        if (table == nullptr || table->num_rows() == 0) return;
        const auto position = table->column<&Place::position>(sea.database.find_component<Place>());
        for (std::uint32_t row = 0; row < table->num_rows(); ++row)
            out.push_back({{position.x()[row], position.y()[row]}, radius_of(sea, *table, row)});
    }
    static float radius_of(const Sea& sea, const shoal::DatabaseTable& table, std::uint32_t row) {
        if (&table.type() == &sea.reefs) return table.column<&Reef::radius>(sea.database.find_component<Reef>())[row];
        return bloom_radius(table.column<&Bloom::meals>(sea.database.find_component<Bloom>())[row]);
    }
};

/// Returns the acceleration away from reefs at `place`. Units: metres per second squared.
inline Vec2 push_of_reefs(const std::vector<Disc>& reefs, Vec2 place) {
    constexpr float kMargin = 3, kPush = 4;
    Vec2 push;
    for (const Disc& reef : reefs) {
        const Vec2 away = place - reef.centre;
        const float distance = length_of(away), inside = reef.radius + kMargin - distance;
        if (inside > 0 && distance > 0) push += away * (kPush * inside / (kMargin * distance));
    }
    return push;
}

/// Returns the acceleration away from the shore at `place`. Units: metres per second squared.
inline Vec2 push_of_shore(Vec2 place) {
    constexpr float kMargin = 14, kPush = 0.8f;
    const auto push = [](float at) {
        return at > kShore - kMargin   ? (kShore - kMargin - at) * kPush
               : at < kMargin - kShore ? (kMargin - kShore - at) * kPush
                                       : 0.0f;
    };
    return {push(place.x), push(place.y)};
}

}  // namespace reef
