#pragma once
// The component of the manager workloads, and a hand-written store for it: three columns, their owners, and a record
// {generation, row} per entity index.

#include "reference.h"
#include "shoal/store/manager.h"

#include <bit>
#include <cstring>
#include <vector>

namespace shoal_bench {

struct Body {
    shoal::Vec3 position, velocity;
    float mass = 0;
};
SHOAL_COMPONENT(Body, position, velocity, mass)

/// Computes the component of entity number `i`.
SHOAL_INLINE Body body_of(std::size_t i) {
    return {{float(i % 1024), float((i >> 3) % 1024), float((i >> 5) % 1024)},
            {float(i % 7), float(i % 5), float(i % 3)},
            float(i % 13)};
}

/// The values to add, as columns and as structs.
struct BodyValues {
    explicit BodyValues(std::size_t n) : position(n), velocity(n), mass(n), bodies(n) {
        for (std::size_t i = 0; i < n; ++i) {
            bodies[i] = body_of(i);
            position[i] = bodies[i].position;
            velocity[i] = bodies[i].velocity;
            mass[i] = bodies[i].mass;
        }
    }
    std::vector<shoal::Vec3> position, velocity;
    std::vector<float> mass;
    std::vector<Body> bodies;
};

inline std::uint64_t bits_of(shoal::Entity owner, const shoal::Vec3& p, const shoal::Vec3& v, float m) {
    const auto bits = [](float value) { return std::uint64_t(std::bit_cast<std::uint32_t>(value)); };
    return mix(owner.id + (bits(p.x) << 32)) + mix(bits(p.y) + (bits(p.z) << 32)) * 3 +
           mix(bits(v.x) + (bits(v.y) << 32)) * 5 + mix(bits(v.z) + (bits(m) << 32)) * 7;
}

class PlainBodies {
public:
    explicit PlainBodies(std::size_t num_indices, std::size_t num_rows)
        : record_(num_indices, 4),
          position_(num_rows, 0),
          velocity_(num_rows, 1),
          mass_(num_rows, 2),
          owner_(num_rows, 3),
          capacity_(num_rows) {}

    std::size_t num_rows() const { return num_rows_; }
    const Record& record(shoal::Entity entity) const { return record_[entity.index()]; }
    const shoal::Vec3& position(std::uint32_t row) const { return position_[row]; }
    void clear() { num_rows_ = 0; }

    void add(shoal::Entity entity, const shoal::Vec3& position, const shoal::Vec3& velocity, float mass) {
        if (num_rows_ == capacity_) fail("the plain table is full");
        const auto row = static_cast<std::uint32_t>(num_rows_++);
        record_[entity.index()] = {entity.generation(), row};
        owner_[row] = entity;
        position_[row] = position;
        velocity_[row] = velocity;
        mass_[row] = mass;
    }

    void add_all(std::span<const shoal::Entity> entities, const shoal::Vec3* position, const shoal::Vec3* velocity,
                 const float* mass) {
        if (entities.size() > capacity_ - num_rows_) fail("the plain table is full");
        const std::size_t count = entities.size(), first = num_rows_;
        Record* __restrict record = record_.data();
        for (std::size_t i = 0; i < count; ++i)
            record[entities[i].index()] = {entities[i].generation(), static_cast<std::uint32_t>(first + i)};
        std::memcpy(static_cast<void*>(owner_.data() + first), entities.data(), count * sizeof(shoal::Entity));
        std::memcpy(static_cast<void*>(position_.data() + first), position, count * sizeof(shoal::Vec3));
        std::memcpy(static_cast<void*>(velocity_.data() + first), velocity, count * sizeof(shoal::Vec3));
        std::memcpy(mass_.data() + first, mass, count * sizeof(float));
        num_rows_ += count;
    }

    /// The same, from structs, which one loop splits into columns.
    void add_structs(std::span<const shoal::Entity> entities, const Body* __restrict bodies) {
        if (entities.size() > capacity_ - num_rows_) fail("the plain table is full");
        for (std::size_t i = 0; i < entities.size(); ++i) {
            const std::size_t row = num_rows_ + i;
            record_[entities[i].index()] = {entities[i].generation(), static_cast<std::uint32_t>(row)};
            owner_[row] = entities[i];
            position_[row] = bodies[i].position;
            velocity_[row] = bodies[i].velocity;
            mass_[row] = bodies[i].mass;
        }
        num_rows_ += entities.size();
    }

    /// Replaces the removed row with the last row.
    bool remove(shoal::Entity entity) {
        Record& record = record_[entity.index()];
        if (record.generation != entity.generation()) return false;
        const std::size_t row = record.row, last = --num_rows_;
        record.generation = 0;
        if (row == last) return true;
        owner_[row] = owner_[last];
        position_[row] = position_[last];
        velocity_[row] = velocity_[last];
        mass_[row] = mass_[last];
        record_[owner_[row].index()].row = static_cast<std::uint32_t>(row);
        return true;
    }

    std::uint64_t sum() const {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < num_rows_; ++i) result += bits_of(owner_[i], position_[i], velocity_[i], mass_[i]);
        return result;
    }

private:
    PlainColumn<Record> record_;  // by entity index
    PlainColumn<shoal::Vec3> position_, velocity_;
    PlainColumn<float> mass_;
    PlainColumn<shoal::Entity> owner_;
    std::size_t num_rows_ = 0, capacity_;
};

inline std::uint64_t sum_bodies(const shoal::Manager<Body>& manager) {
    std::uint64_t result = 0;
    const auto position = manager.column<&Body::position>();
    const auto velocity = manager.column<&Body::velocity>();
    const auto mass = manager.column<&Body::mass>();
    for (std::size_t i = 0; i < manager.num_rows(); ++i)
        if (manager.entities()[i]) result += bits_of(manager.entities()[i], position[i], velocity[i], mass[i]);
    return result;
}

}  // namespace shoal_bench
