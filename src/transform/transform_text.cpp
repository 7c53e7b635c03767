// The text of a transform, and checks of the poses in it.

#include "shoal/transform/transform_text.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/detail/floating_point.h"
#include "shoal/base/text.h"

#include <cmath>
#include <cstring>
#include <string>

namespace shoal {
namespace {

constexpr std::string_view kMoreKeys[] = {"euler_degrees"};
constexpr std::int32_t kSpawnOrder = -100;
constexpr double kRounding = 1e-3, kSlip = 1e-2;  // largest errors in a quaternion's length

constexpr std::string_view kRotationIs = "component \"transform\", field \"rotation\": ";

std::string where(std::string_view field) { return concat("component \"transform\", field ", quoted(field), ": "); }

/// Reads one layer of a source over the values from the lower layers.
class TransformReader {
public:
    TransformReader(const CompileInput& in, CompileOutput& out) : in_(in), out_(out) {}

    bool read() {
        bool good = true;
        for (const Node entry : in_.node) good &= read_entry(entry);
        if (!good) return false;
        auto transform = read_as<Transform>(out_.image().data());
        if (euler_) transform.rotation = turned_;
        if (scale_ && scale_.is_number()) transform.scale = {uniform_scale_, uniform_scale_, uniform_scale_};
        if (!check_rotation(transform.rotation) || !check_scale(transform.scale)) return false;
        std::memcpy(out_.image().data(), &transform, sizeof transform);
        return true;
    }

private:
    bool read_entry(Node entry) {
        if (entry.key() == kMoreKeys[0]) return read_euler(euler_ = entry);
        if (entry.key() == "rotation") rotation_ = entry;
        if (entry.key() == "scale") scale_ = entry;
        if (entry.key() != "scale" || !entry.is_number()) return out_.read_field(entry);
        return out_.read_value(text_field("scale", FieldType::kFloat), entry,
                               reinterpret_cast<std::byte*>(&uniform_scale_));
    }

    bool read_euler(Node entry) {
        Vec3 degrees;
        if (!entry.is_null() &&
            !out_.read_value(text_field(kMoreKeys[0], FieldType::kVec3), entry, reinterpret_cast<std::byte*>(&degrees)))
            return false;
        turned_ = rotation_from_euler_degrees(degrees);
        return true;
    }

    /// Normalizes the rotation, or reports why this is not possible.
    bool check_rotation(Quaternion& rotation) {
        if (rotation_ && euler_) {
            in_.diagnostics
                .error(euler_.key_position(), "component \"transform\" has both \"rotation\" and \"euler_degrees\"",
                       "remove one of them")
                .note(rotation_.key_position(), "the rotation is here");
            return false;
        }
        return !rotation_ || accept_rotation(in_.diagnostics, rotation_.position(), kRotationIs, rotation);
    }

    bool check_scale(Vec3 scale) {
        if (can_be_undone(scale)) return true;
        in_.diagnostics.error(scale_ ? scale_.position() : in_.node.position(),
                              concat(where("scale"), "a scale of 0 cannot be undone"), "write numbers other than 0");
        return false;
    }

    const CompileInput& in_;
    CompileOutput& out_;
    Node rotation_, euler_, scale_;
    Quaternion turned_;
    float uniform_scale_ = 1;
};

bool compile_transform(void*, const CompileInput& in, CompileOutput& out) { return TransformReader(in, out).read(); }

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
    const auto problem = [&] { return concat(where, "a quaternion of length ", static_cast<float>(length)); };
    if (length == 0) {
        diagnostics.error(place, problem(), "write [0 0 0 1] for no rotation");
        return false;
    }
    rotation = {static_cast<float>(x / length), static_cast<float>(y / length), static_cast<float>(z / length),
                static_cast<float>(w / length)};
    const double error = std::fabs(length - 1);
    if (error <= kRounding) return true;
    std::string hint =
        concat("write [", rotation.x, ' ', rotation.y, ' ', rotation.z, ' ', rotation.w, "], which is of length 1");
    if (error <= kSlip)
        diagnostics.warning(place, problem(), std::move(hint));
    else
        diagnostics.error(place, problem(), std::move(hint));
    return error <= kSlip;
}

bool can_be_undone(Vec3 scale) { return std::isnormal(scale.x) && std::isnormal(scale.y) && std::isnormal(scale.z); }

Quaternion rotation_from_euler_degrees(Vec3 degrees) {
    const auto half_angle = [](float d) { return std::remainder(double(d), 720.0) * (3.14159265358979323846 / 360); };
    const double a = half_angle(degrees.x), b = half_angle(degrees.y), c = half_angle(degrees.z);
    const auto [sx, cx] = sine_and_cosine(a);
    const auto [sy, cy] = sine_and_cosine(b);
    const auto [sz, cz] = sine_and_cosine(c);
    return {static_cast<float>(cz * cy * sx - sz * sy * cx), static_cast<float>(cz * sy * cx + sz * cy * sx),
            static_cast<float>(sz * cy * cx - cz * sy * sx), static_cast<float>(cz * cy * cx + sz * sy * sx)};
}

Status add_transform(ComponentRegistry& registry) {
    if (Status status = registry.add<Transform>(); !status) return status;
    if (Status status = registry.set_blob_order(schema_of<Transform>().name(), BlobOrder::kDepthFirst); !status)
        return status;
    return registry.set_compile_function(schema_of<Transform>().name(), compile_transform, nullptr, kSpawnOrder,
                                         CompileScope::kLayer, kMoreKeys);
}

}  // namespace shoal
