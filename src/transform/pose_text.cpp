#include "shoal/transform/pose_text.h"

#include "shoal/base/text.h"

#include <cmath>
#include <string>

namespace shoal {
namespace {

constexpr double kRounding = 1e-3, kSlip = 1e-2;  // of a quaternion's length

}  // namespace

Field text_field(std::string_view name, FieldType type) {
    Field field;
    field.name = name;
    field.type = type;
    field.value_bytes = field.size = field_type_bytes(type);
    return field;
}

bool accept_rotation(Diagnostics& diagnostics, SourcePosition place, std::string_view where, Quaternion& rotation) {
    const double x = double(rotation.x), y = double(rotation.y), z = double(rotation.z), w = double(rotation.w);
    const double length = std::sqrt(x * x + y * y + z * z + w * w);
    std::string problem = concat(where, "a quaternion of length ", static_cast<float>(length));
    if (length == 0) {
        diagnostics.error(place, std::move(problem), "write [0 0 0 1] for no rotation");
        return false;
    }
    rotation = {static_cast<float>(x / length), static_cast<float>(y / length), static_cast<float>(z / length),
                static_cast<float>(w / length)};
    const double error = std::fabs(length - 1);
    if (error <= kRounding) return true;
    std::string hint =
        concat("write [", rotation.x, ' ', rotation.y, ' ', rotation.z, ' ', rotation.w, "], which is of length 1");
    if (error <= kSlip)
        diagnostics.warning(place, std::move(problem), std::move(hint));
    else
        diagnostics.error(place, std::move(problem), std::move(hint));
    return error <= kSlip;
}

bool can_be_undone(Vec3 scale) { return std::isnormal(scale.x) && std::isnormal(scale.y) && std::isnormal(scale.z); }

}  // namespace shoal
