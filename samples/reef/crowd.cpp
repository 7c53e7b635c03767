#include "crowd.h"

#include <cstring>
#include <vector>

namespace reef {

namespace {

constexpr float kSight = kCellSize, kElbowRoom = 1.2f;  // metres

// Processes four fish at a time, without branches.
using Lanes = float __attribute__((vector_size(16)));
using LaneMask = int __attribute__((vector_size(16)));
constexpr std::uint32_t kNumLanes = 4;

Lanes load(const float* place) {
    Lanes lanes;
    std::memcpy(&lanes, place, sizeof lanes);
    return lanes;
}
/// Returns `lanes` with 0 in the lanes where the mask is not set.
Lanes keep(LaneMask mask, Lanes lanes) { return reinterpret_cast<Lanes>(reinterpret_cast<LaneMask>(lanes) & mask); }
float sum(Lanes lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

}  // namespace

void Crowd::gather(const Cells& cells, std::uint32_t cell_x, std::uint32_t cell_y) {
    size_ = 0;
    const std::uint32_t first_x = cell_x == 0 ? 0 : cell_x - 1, last_x = std::min(cell_x + 1, kCellsPerSide - 1);
    const std::uint32_t last_y = std::min(cell_y + 1, kCellsPerSide - 1);
    for (std::uint32_t y = cell_y == 0 ? 0 : cell_y - 1; y <= last_y; ++y)
        for (std::uint32_t x = first_x, next; x <= last_x; x = next) {
            // Adjacent cells of one tile have consecutive numbers.
            next = std::min(last_x + 1, (x / kCellsPerTileSide + 1) * kCellsPerTileSide);
            const std::uint32_t first = cell_number(x, y);
            add(cells, cells.begin_of(first), cells.end_of(first + (next - x) - 1));
        }
    for (; size_ % kNumLanes != 0; ++size_) x_[size_] = y_[size_] = 1e9f, velocity_x_[size_] = velocity_y_[size_] = 0;
}

void Crowd::add(const Cells& cells, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t count = std::min(end - begin, kMostPerRun);
    const auto copy = [&](float* to, const std::vector<float>& from) {
        std::memcpy(to + size_, from.data() + begin, count * sizeof(float));
    };
    copy(x_, cells.x), copy(y_, cells.y), copy(species_, cells.species);
    copy(velocity_x_, cells.velocity_x), copy(velocity_y_, cells.velocity_y);
    size_ += count;
}

Seen Crowd::seen_from(Vec2 place, float species) const {
    Lanes num_kin{}, offset_x{}, offset_y{}, velocity_x{}, velocity_y{}, push_x{}, push_y{};
    const Lanes one = {1, 1, 1, 1};
    for (std::uint32_t i = 0; i < size_; i += kNumLanes) {
        const Lanes x = load(x_ + i) - place.x, y = load(y_ + i) - place.y, squared = x * x + y * y;
        const LaneMask others = squared > 0.0f, near = (squared < kSight * kSight) & others;
        const LaneMask kin = near & (load(species_ + i) == species);
        const LaneMask close = (squared < kElbowRoom * kElbowRoom) & others;
        num_kin += keep(kin, one);
        offset_x += keep(kin, x), offset_y += keep(kin, y);
        velocity_x += keep(kin, load(velocity_x_ + i)), velocity_y += keep(kin, load(velocity_y_ + i));
        const Lanes weight = keep(close, 1.0f / (squared + 0.05f));
        push_x -= x * weight, push_y -= y * weight;
    }
    return {
        sum(num_kin), {sum(offset_x), sum(offset_y)}, {sum(velocity_x), sum(velocity_y)}, {sum(push_x), sum(push_y)}};
}

}  // namespace reef
