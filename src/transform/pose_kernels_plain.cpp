#include "shoal/transform/pose_kernels.h"

namespace shoal {

void compute_poses_plain(const PoseColumns& columns, RowRange rows) {
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) compute_pose(columns, row);
}

}  // namespace shoal
