#pragma once
// A hand-written store for entities of two kinds: {position, velocity} and {position, velocity, mass}. Each kind has
// plain columns, and an 8-byte record per entity index contains its kind and row.

#include "plain_bodies.h"
#include "reference.h"
#include "shoal/base/math.h"

#include <cstring>
#include <vector>

namespace shoal_bench {

class PlainSea {
public:
    enum Kind : std::uint16_t { kNowhere, kLight, kHeavy };
    struct RowLocation {
        std::uint32_t row = 0;
        std::uint16_t table = 0;
        std::uint16_t generation = 0;
    };
    struct Columns {
        explicit Columns(std::size_t num_rows, std::size_t place)
            : position(num_rows, place),
              velocity(num_rows, place + 1),
              mass(num_rows, place + 2),
              owner(num_rows, place + 3) {}
        PlainColumn<shoal::Vec3> position, velocity;
        PlainColumn<float> mass;
        PlainColumn<shoal::Entity> owner;
        std::size_t num_rows = 0;
    };

    /// Reserves memory for `num_rows` entities of each kind, with indices below `num_indices`.
    PlainSea(std::size_t num_indices, std::size_t num_rows)
        : places_(plain_pages<RowLocation>(num_indices)),
          tables_{Columns(1, 0), Columns(num_rows, 0), Columns(num_rows, 4)},
          capacity_(num_rows) {}

    /// Adds a bit per row, which change() moves too.
    void keep_bits() {
        for (std::vector<std::uint64_t>& bits : bits_) bits.assign(capacity_ / 64 + 1, ~std::uint64_t(0));
    }
    Columns& table(Kind kind) { return tables_[kind]; }
    const RowLocation& place(shoal::Entity entity) const { return places_[entity.index()]; }
    bool is_current(const RowLocation& place, shoal::Entity entity) const {
        return place.generation == entity.generation() && place.table != kNowhere;
    }
    const shoal::Vec3& position(const RowLocation& place) const { return tables_[place.table].position[place.row]; }

    /// Returns a checksum of all rows that does not depend on their order.
    std::uint64_t sum() {
        std::uint64_t result = 0;
        for (const Kind kind : {kLight, kHeavy}) {
            Columns& table = tables_[kind];
            for (std::size_t row = 0; row < table.num_rows; ++row)
                result += bits_of(table.owner[row], table.position[row], table.velocity[row],
                                  kind == kHeavy ? table.mass[row] : 0);
        }
        return result;
    }

    void clear() {
        for (Columns& table : tables_) {
            for (std::size_t row = 0; row < table.num_rows; ++row) places_[table.owner[row].index()] = {};
            table.num_rows = 0;
        }
    }

    void add(shoal::Entity entity, const shoal::Vec3& position, const shoal::Vec3& velocity, float mass) {
        Columns& table = tables_[kHeavy];
        if (table.num_rows == capacity_) fail("the plain table is full");
        const std::size_t row = table.num_rows++;
        places_[entity.index()] = {std::uint32_t(row), kHeavy, entity.generation()};
        table.owner[row] = entity;
        table.position[row] = position;
        table.velocity[row] = velocity;
        table.mass[row] = mass;
    }

    void add_all(Kind kind, std::span<const shoal::Entity> entities, const shoal::Vec3* position,
                 const shoal::Vec3* velocity, const float* mass) {
        Columns& table = tables_[kind];
        const std::size_t count = entities.size(), first = table.num_rows;
        if (count > capacity_ - first) fail("the plain table is full");
        RowLocation* __restrict places = places_.data();
        for (std::size_t i = 0; i < count; ++i)
            places[entities[i].index()] = {std::uint32_t(first + i), kind, entities[i].generation()};
        std::memcpy(static_cast<void*>(table.owner.data() + first), entities.data(), count * sizeof(shoal::Entity));
        std::memcpy(static_cast<void*>(table.position.data() + first), position, count * sizeof(shoal::Vec3));
        if (velocity != nullptr)
            std::memcpy(static_cast<void*>(table.velocity.data() + first), velocity, count * sizeof(shoal::Vec3));
        if (mass != nullptr) std::memcpy(table.mass.data() + first, mass, count * sizeof(float));
        table.num_rows += count;
    }

    /// Moves a row with minimal work: copies two columns, replaces the old row with the last row, and writes two
    /// records.
    void change(shoal::Entity entity, Kind to_kind, float mass) {
        RowLocation& place = places_[entity.index()];
        if (!is_current(place, entity) || place.table == to_kind) return;
        Columns& from = tables_[place.table];
        Columns& to = tables_[to_kind];
        const std::size_t row = to.num_rows++;
        to.owner[row] = entity;
        to.position[row] = from.position[place.row];
        to.velocity[row] = from.velocity[place.row];
        if (to_kind == kHeavy) to.mass[row] = mass;
        if (!bits_[to_kind].empty()) move_bit(place, to_kind, row);
        fill_hole(from, place.row, place.table == kHeavy);
        place = {std::uint32_t(row), to_kind, entity.generation()};
    }

    /// The same, for all rows of a table in order, with bulk copies.
    void change_all(std::span<const shoal::Entity> entities, Kind from_kind, Kind to_kind, float mass) {
        Columns& from = tables_[from_kind];
        Columns& to = tables_[to_kind];
        const std::size_t first = to.num_rows, count = entities.size();
        for (std::size_t i = 0; i < count; ++i) {
            RowLocation& place = places_[entities[i].index()];
            if (!is_current(place, entities[i]) || place.row != i) fail("the entities are not those of the table");
            place.row = std::uint32_t(first + i);
            place.table = to_kind;
        }
        std::memcpy(static_cast<void*>(to.owner.data() + first), from.owner.data(), count * sizeof(shoal::Entity));
        std::memcpy(static_cast<void*>(to.position.data() + first), from.position.data(), count * sizeof(shoal::Vec3));
        std::memcpy(static_cast<void*>(to.velocity.data() + first), from.velocity.data(), count * sizeof(shoal::Vec3));
        if (to_kind == kHeavy) std::fill_n(to.mass.data() + first, count, mass);
        to.num_rows += count;
        from.num_rows = 0;
    }

    bool remove(shoal::Entity entity) {
        RowLocation& place = places_[entity.index()];
        if (!is_current(place, entity)) return false;
        const std::uint32_t row = place.row;
        Columns& table = tables_[place.table];
        const bool heavy = place.table == kHeavy;
        place = {};
        fill_hole(table, row, heavy);
        return true;
    }
    void prefetch_place(shoal::Entity entity) const { __builtin_prefetch(&places_[entity.index()]); }
    void prefetch_row(shoal::Entity entity) {
        const RowLocation& place = places_[entity.index()];
        Columns& table = tables_[place.table];
        __builtin_prefetch(&table.owner[place.row]);
        __builtin_prefetch(&table.position[place.row]);
        __builtin_prefetch(&table.velocity[place.row]);
        __builtin_prefetch(&table.mass[place.row]);
    }

private:
    SHOAL_INLINE void fill_hole(Columns& table, std::uint32_t row, bool heavy) {
        const std::size_t last = --table.num_rows;
        if (row == last) return;
        table.owner[row] = table.owner[last];
        table.position[row] = table.position[last];
        table.velocity[row] = table.velocity[last];
        if (heavy) table.mass[row] = table.mass[last];
        places_[table.owner[row].index()].row = row;
    }

    SHOAL_INLINE void move_bit(const RowLocation& place, Kind to_kind, std::size_t to_row) {
        std::uint64_t* const from = bits_[place.table].data();
        const std::size_t last = tables_[place.table].num_rows - 1;
        const auto set = [](std::uint64_t* bits, std::size_t row, std::uint64_t bit) {
            bits[row / 64] = (bits[row / 64] & ~(std::uint64_t(1) << row % 64)) | bit << row % 64;
        };
        set(bits_[to_kind].data(), to_row, from[place.row / 64] >> place.row % 64 & 1);
        set(from, place.row, from[last / 64] >> last % 64 & 1);
    }

    shoal::PageArray<RowLocation> places_;  // by entity index
    Columns tables_[3];                     // by Kind
    std::size_t capacity_;
    std::vector<std::uint64_t> bits_[3];  // by Kind; a bit per row after keep_bits()
};

/// Typical hand-written ids: a generation per index, and a ring buffer of free ids with their next generation.
class PlainIds {
public:
    explicit PlainIds(std::size_t num_ids) : generations_(num_ids + 1, 1), ring_(num_ids), num_(num_ids) {
        for (std::size_t i = 0; i < num_ids; ++i) ring_[i] = shoal::make_entity(std::uint32_t(i + 1), 1);
    }
    /// Recycles all ids of the free list.
    void create_all(std::span<shoal::Entity> out) {
        for (shoal::Entity& entity : out) {
            entity = ring_[oldest_];
            oldest_ = oldest_ + 1 < num_ ? oldest_ + 1 : 0;
            generations_[entity.index()] = entity.generation();
        }
    }
    SHOAL_INLINE bool destroy(shoal::Entity entity) {
        std::uint8_t& generation = generations_[entity.index()];
        if (generation != entity.generation()) return false;
        generation = 0;
        const auto next = std::uint8_t(entity.generation() == 255 ? 1 : entity.generation() + 1);
        ring_[newest_] = shoal::make_entity(entity.index(), next);
        newest_ = newest_ + 1 < num_ ? newest_ + 1 : 0;
        return true;
    }
    void prefetch(shoal::Entity entity) const { __builtin_prefetch(&generations_[entity.index()]); }

private:
    std::vector<std::uint8_t> generations_;
    std::vector<shoal::Entity> ring_;
    std::size_t num_, oldest_ = 0, newest_ = 0;
};

}  // namespace shoal_bench
