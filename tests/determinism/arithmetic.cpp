// Arithmetic on many numbers, as passes do it. It is compiled several times: for processors that multiply and add in one
// instruction, and with leave to use such instructions. A definition calls the namespace differently each time; otherwise
// the linker would take the inline functions of one copy for all.

#include "shoal/base/math.h"

#include <cstdint>
#include <cstring>

namespace shoal {
namespace {

constexpr std::uint32_t kNumbers = 1003;  // the last vector of a loop is not full

float any_number(std::uint32_t& seed) {
    seed = seed * 1664525u + 1013904223u;
    return static_cast<float>(seed >> 8) * 0x1p-23f - 1;
}

Quaternion product(Quaternion a, Quaternion b) {
    return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

}  // namespace

std::uint64_t arithmetic() {
    Vec3 position[kNumbers], velocity[kNumbers];
    Quaternion rotation[kNumbers];
    std::uint32_t seed = 1;
    for (std::uint32_t i = 0; i < kNumbers; ++i) {
        float part[10];
        for (float& number : part) number = any_number(seed);
        position[i] = {part[0], part[1], part[2]}, velocity[i] = {part[3], part[4], part[5]};
        rotation[i] = {part[6], part[7], part[8], part[9]};
    }
    for (int step = 0; step < 5; ++step)
        for (std::uint32_t i = 0; i < kNumbers; ++i) {
            velocity[i] += cross(position[i], velocity[i]) * 0.1f -
                           normalized(position[i]) * (0.2f / (1 + dot(position[i], position[i])));
            position[i] += velocity[i] * 0.016f;
            rotation[i] = product(rotation[i], rotation[(i + 1) % kNumbers]);
        }
    std::uint64_t hash = 0;
    for (std::uint32_t i = 0; i < kNumbers; ++i) {
        const float results[] = {position[i].x, position[i].y, position[i].z, rotation[i].x, rotation[i].w};
        for (const float result : results) {
            std::uint32_t bits;
            std::memcpy(&bits, &result, sizeof bits);
            hash = (hash ^ bits) * 0x9E3779B97F4A7C15ull;
        }
    }
    return hash;
}

}  // namespace shoal
