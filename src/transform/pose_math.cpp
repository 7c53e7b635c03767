// Finds the pose nearest to a matrix.

#include "shoal/transform/detail/pose_math.h"

#include "shoal/base/text.h"
#include "shoal/transform/detail/pose_kernels.h"

#include <cmath>
#include <cstddef>

namespace shoal {
namespace {

static_assert(offsetof(Transform, position) == 0 && offsetof(Transform, rotation) == sizeof(Vec3) &&
              offsetof(Transform, scale) == sizeof(Vec3) + sizeof(Quaternion));

constexpr double kExactTolerance =
    1e-5;                      // relative to the largest axis; allows for rounding errors in a few float products
constexpr int kMaxSteps = 64;  // few steps are needed if there is little shear

/// A 3x3 matrix.
struct Axes {
    double column[3][3];
};
struct Affine {
    Axes axes;
    double position[3];
};

Affine widen(const Matrix3x4& matrix) {
    Affine result;
    for (int row = 0; row < 3; ++row) {
        const Vec4& from = matrix.row[row];
        result.axes.column[0][row] = from.x;
        result.axes.column[1][row] = from.y;
        result.axes.column[2][row] = from.z;
        result.position[row] = from.w;
    }
    return result;
}

void cross(const double* a, const double* b, double* out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Writes the transposed inverse times the determinant, and returns the determinant.
double cofactors(const Axes& axes, Axes& out) {
    for (int i = 0; i < 3; ++i) cross(axes.column[(i + 1) % 3], axes.column[(i + 2) % 3], out.column[i]);
    return dot(axes.column[0], out.column[0]);
}

/// Returns the rotation nearest to `axes`, or the identity if there is no inverse. Repeatedly averages the axes with
/// the transposed inverse (Higham's iteration). Requires: `axes` are not mirrored.
Axes nearest_rotation(Axes axes) {
    for (int step = 0; step < kMaxSteps; ++step) {
        Axes inverse;
        const double determinant = cofactors(axes, inverse);
        if (!(determinant > 0) || !std::isfinite(determinant)) return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
        double change = 0;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                const double next = 0.5 * (axes.column[i][j] + inverse.column[i][j] / determinant);
                change = std::fmax(change, std::fabs(next - axes.column[i][j]));
                axes.column[i][j] = next;
            }
        if (change < 1e-15) break;
    }
    return axes;
}

Quaternion to_quaternion(const Axes& axes) {
    const auto m = [&](int row, int column) { return axes.column[column][row]; };
    // Of the four equivalent formulas, uses the one with the largest divisor, which is the most precise.
    double q[4];
    const double trace = m(0, 0) + m(1, 1) + m(2, 2);
    if (trace > 0) {
        q[3] = 1 + trace;
        for (int i = 0; i < 3; ++i) q[i] = m((i + 2) % 3, (i + 1) % 3) - m((i + 1) % 3, (i + 2) % 3);
    } else {
        int i = m(1, 1) > m(0, 0) ? 1 : 0;
        if (m(2, 2) > m(i, i)) i = 2;
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1 + m(i, i) - m(j, j) - m(k, k);
        q[j] = m(j, i) + m(i, j);
        q[k] = m(k, i) + m(i, k);
        q[3] = m(k, j) - m(j, k);
    }
    const double scale = 1 / std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    return {static_cast<float>(q[0] * scale), static_cast<float>(q[1] * scale), static_cast<float>(q[2] * scale),
            static_cast<float>(q[3] * scale)};
}

/// Splits axes into a rotation and a scale for each of its columns. Returns the largest error, relative to the largest
/// axis.
double split_axes(const Axes& axes, Axes& rotation, double* scale) {
    Axes unused;
    const double sign = cofactors(axes, unused) < 0 ? -1 : 1;
    double largest = 0;
    for (int i = 0; i < 3; ++i) {
        scale[i] = (i == 0 ? sign : 1) * std::sqrt(dot(axes.column[i], axes.column[i]));
        largest = std::fmax(largest, std::fabs(scale[i]));
    }
    // For a fixed scale, the best rotation is the one nearest to axes x scale. For a fixed rotation, the best scale is
    // the length of each axis along its column. Without shear, the first round finds both.
    double error = 0;
    for (int step = 0; step < kMaxSteps; ++step) {
        Axes turned;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                turned.column[i][j] = axes.column[i][j] * (step == 0 ? 1 / scale[i] : scale[i] / (largest * largest));
        rotation = nearest_rotation(turned);
        error = 0;
        double change = 0;
        for (int i = 0; i < 3; ++i) {
            const double along = dot(axes.column[i], rotation.column[i]);
            change = std::fmax(change, std::fabs(along - scale[i]));
            scale[i] = along;
            for (int j = 0; j < 3; ++j)
                error = std::fmax(error, std::fabs(axes.column[i][j] - along * rotation.column[i][j]));
        }
        if (step != 0 && change < 1e-12 * largest) break;
        if (error <= 1e-7 * largest) break;
    }
    return error / largest;
}

NearestPose nearest(const Affine& affine) {
    Axes rotation;
    double scale[3];
    const double error = split_axes(affine.axes, rotation, scale);
    const auto vec = [](const double* v) {
        return Vec3{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
    };
    return {{vec(affine.position), to_quaternion(rotation), vec(scale)}, error <= kExactTolerance};
}

/// Returns inverse(parent) x world.
Affine relative_affine(const Matrix3x4& parent, const Matrix3x4& world) {
    const Affine from = widen(parent), to = widen(world);
    Axes inverse;  // its columns are the rows of the inverse times the determinant
    const double determinant = cofactors(from.axes, inverse);
    SHOAL_CHECK(determinant != 0, "the parent's world pose is flat: it cannot be inverted");
    Affine relative;
    double offset[3];
    for (int i = 0; i < 3; ++i) offset[i] = to.position[i] - from.position[i];
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column)
            relative.axes.column[column][row] = dot(inverse.column[row], to.axes.column[column]) / determinant;
        relative.position[row] = dot(inverse.column[row], offset) / determinant;
    }
    return relative;
}

}  // namespace

NearestPose nearest_pose(const Matrix3x4& matrix) { return nearest(widen(matrix)); }

NearestPose nearest_relative_pose(const Matrix3x4& parent, const Matrix3x4& world) {
    return nearest(relative_affine(parent, world));
}

bool is_finite(const Matrix3x4& matrix) {
    bool finite = true;
    for (const Vec4& row : matrix.row) finite &= is_sound_position({row.x, row.y, row.z}) && row.w - row.w == 0;
    return finite;
}

bool is_regular(const Matrix3x4& matrix) {
    Axes unused;
    return is_finite(matrix) && cofactors(widen(matrix).axes, unused) != 0;
}

Matrix3x4 relative_matrix(const Matrix3x4& parent, const Matrix3x4& world) {
    const Affine relative = relative_affine(parent, world);
    Matrix3x4 result;
    for (int row = 0; row < 3; ++row) {
        const auto along = [&](int column) { return static_cast<float>(relative.axes.column[column][row]); };
        result.row[row] = {along(0), along(1), along(2), static_cast<float>(relative.position[row])};
    }
    return result;
}

Quaternion mended_rotation(Quaternion q) {
    SHOAL_CHECK(is_sound_rotation(q), "a rotation is not a quaternion of length 1; pass it through normalized()");
    return normalized(q);
}

Result<Transform> local_with(const Transform& local, const FieldPart& part, const std::byte* value,
                             std::string_view component) {
    Transform changed = local;
    copy_bytes(reinterpret_cast<std::byte*>(&changed) + part.field->struct_offset + part.offset_in_field, value,
               part.type.num_bytes());
    const auto refuse = [&](std::string_view problem) {
        return Status::error(concat('"', component, '.', part.field->name, "\" ", problem));
    };
    if (!is_sound_position(changed.position)) return refuse("would be infinite or not a number; write finite numbers");
    if (!is_sound_rotation(changed.rotation))
        return refuse("would be no rotation, because its length is not 1; write all of a normalised quaternion");
    if (!is_sound_scale(changed.scale))
        return refuse("would be zero, infinite or not a number; write numbers other than zero");
    return changed;
}

Transform compose(const Transform& root, const Transform& local) {
    const Matrix3x4 outer = local_matrix(root.position, root.rotation, root.scale);
    const Matrix3x4 both = product(outer, local_matrix(local.position, local.rotation, local.scale));
    if (root.scale.x != root.scale.y || root.scale.x != root.scale.z) return nearest_pose(both).pose;
    return {{both.row[0].w, both.row[1].w, both.row[2].w},
            sound_rotation(root.rotation * local.rotation),
            local.scale * root.scale.x};
}

}  // namespace shoal
