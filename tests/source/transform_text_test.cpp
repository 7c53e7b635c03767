#include "shoal/transform/transform_text.h"
#include "support/source_fixture.h"

#include "shoal/base/text.h"
#include "shoal/resource/blob.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace shoal_test {
namespace {

using Rows = std::array<std::array<double, 3>, 3>;

Rows product(const Rows& a, const Rows& b) {
    Rows c{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
}

/// A right-handed turn about axis 0, 1 or 2.
Rows turn(std::size_t axis, double degrees) {
    const double angle = degrees * 3.14159265358979323846 / 180, c = std::cos(angle), s = std::sin(angle);
    const std::size_t a = (axis + 1) % 3, b = (axis + 2) % 3;
    Rows m{};
    m[axis][axis] = 1;
    m[a][a] = m[b][b] = c;
    m[a][b] = -s;
    m[b][a] = s;
    return m;
}

Rows matrix_of(const Quaternion& q) {
    const double x = double(q.x), y = double(q.y), z = double(q.z), w = double(q.w);
    return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
             {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
             {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

class TransformText : public SourceTest {
protected:
    TransformText() { EXPECT_TRUE(add_transform(registry).ok()); }

    /// Compiles x.sjson and returns its transforms in the order of the blob.
    std::vector<Transform> transforms(const std::string& text) {
        file("x.sjson", text);
        const Result<CompiledSource> source = compiled("x.sjson");
        EXPECT_TRUE(source.ok()) << source.message() << diagnostics.format();
        if (!source) return {};
        const Blob blob = *Blob::load(source->blob);
        const BlobComponents& found = *blob.find_components(schema_of<Transform>().id());
        std::vector<Transform> result(found.count());
        for (std::size_t i = 0; i < result.size(); ++i) {
            std::memcpy(&result[i].position, found.columns[0] + i * sizeof(Vec3), sizeof(Vec3));
            std::memcpy(&result[i].rotation, found.columns[1] + i * sizeof(Quaternion), sizeof(Quaternion));
            std::memcpy(&result[i].scale, found.columns[2] + i * sizeof(Vec3), sizeof(Vec3));
        }
        return result;
    }
    Transform transform(const std::string& fields) {
        const std::vector<Transform> all = transforms("components = { transform = " + fields + " }");
        return all.size() == 1 ? all[0] : Transform{};
    }
    std::string errors_of(const std::string& fields) {
        file("y.sjson", "components = { transform = " + fields + " }");
        Diagnostics found;
        EXPECT_FALSE(compile_source("y.sjson", registry, options, found).ok());
        return found.format();
    }
};

void expect_near(const Quaternion& a, const Quaternion& b) {
    EXPECT_NEAR(a.x, b.x, 1e-6f);
    EXPECT_NEAR(a.y, b.y, 1e-6f);
    EXPECT_NEAR(a.z, b.z, 1e-6f);
    EXPECT_NEAR(a.w, b.w, 1e-6f);
}

TEST_F(TransformText, every_way_to_write_a_pose_gives_that_pose) {
    EXPECT_EQ(transform("null"), Transform());
    EXPECT_EQ(transform("{ position = [1 -2.5 3e2] rotation = [0 0 1 0] scale = [1 2 -3] }"),
              (Transform{{1, -2.5f, 300}, {0, 0, 1, 0}, {1, 2, -3}}));
    EXPECT_EQ(transform("{ scale = 0.5 }").scale, (Vec3{0.5f, 0.5f, 0.5f}));
    EXPECT_EQ(transform("{ position = { y = 4 } }").position, (Vec3{0, 4, 0}));
    EXPECT_EQ(transform("{ position = null scale = null rotation = null }"), Transform());
    expect_near(transform("{ euler_degrees = [0 0 90] }").rotation, {0, 0, std::sqrt(0.5f), std::sqrt(0.5f)});
    EXPECT_EQ(transform("{ euler_degrees = null }"), Transform());
    EXPECT_EQ(diagnostics.num_warnings(), 0u) << diagnostics.format();
}

TEST_F(TransformText, euler_degrees_turn_about_x_then_y_then_z_of_the_parent) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (int i = 0; i < 2000; ++i) {
        Vec3 degrees{random.unit() * 800 - 400, random.unit() * 800 - 400, random.unit() * 800 - 400};
        if (i % 3 == 0) degrees = {90.0f * static_cast<float>(i % 5), 90, -90.0f * static_cast<float>(i % 7)};
        const Rows expected =
            product(turn(2, double(degrees.z)), product(turn(1, double(degrees.y)), turn(0, double(degrees.x))));
        const Rows got = matrix_of(rotation_from_euler_degrees(degrees));
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 3; ++c)
                ASSERT_NEAR(got[r][c], expected[r][c], 2e-6) << degrees.x << ' ' << degrees.y << ' ' << degrees.z;
    }
    const Transform x_first = transform("{ euler_degrees = [90 0 90] }");
    expect_near(x_first.rotation, {0.5f, 0.5f, 0.5f, 0.5f});
}

TEST_F(TransformText, a_layer_replaces_what_a_prefab_says_field_by_field) {
    file("lamp.sjson", "components = { transform = { position = [1 2 3] rotation = [0 0 1 0] scale = [1 2 3] } }");
    file("turned.sjson",
         "prefab = \"lamp\" modified_components = { transform = { euler_degrees = [0 180 0] scale = 2 } }");
    const std::vector<Transform> all = transforms(R"(entities = {
        a = { prefab = "lamp"   modified_components = { transform = { position = { z = 9 } } } }
        b = { prefab = "turned" }
        c = { prefab = "turned" modified_components = { transform = { rotation = [1 0 0 0] scale = { y = 5 } } } }
        d = { prefab = "turned" modified_components = { transform = { rotation = null scale = null } } }
    })");
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0], (Transform{{1, 2, 9}, {0, 0, 1, 0}, {1, 2, 3}}));
    EXPECT_EQ(all[1].scale, (Vec3{2, 2, 2}));
    expect_near(all[1].rotation, {0, 1, 0, 0});
    EXPECT_EQ(all[2], (Transform{{1, 2, 3}, {1, 0, 0, 0}, {2, 5, 2}}));
    EXPECT_EQ(all[3], (Transform{{1, 2, 3}, {}, {1, 1, 1}}));
}

TEST_F(TransformText, a_quaternion_is_brought_to_length_1_or_refused) {
    const Quaternion rounded = transform("{ rotation = [0 0 0.7071 0.7071] }").rotation;
    expect_near(rounded, {0, 0, std::sqrt(0.5f), std::sqrt(0.5f)});
    EXPECT_EQ(diagnostics.num_warnings(), 0u) << "rounded numbers are fine";
    expect_near(transform("{ rotation = [0 0 0 1.005] }").rotation, {0, 0, 0, 1});
    EXPECT_NE(diagnostics.format().find("warning: component \"transform\", field \"rotation\": a quaternion of length "
                                        "1.005; write [0 0 0 1], which is of length 1"),
              std::string::npos)
        << diagnostics.format();
    EXPECT_NE(errors_of("{ rotation = [0 3 0 4] }")
                  .find("y.sjson:1:41: error: component \"transform\", field \"rotation\": a quaternion of length 5; "
                        "write [0 0.6 0 0.8], which is of length 1"),
              std::string::npos);
    EXPECT_NE(errors_of("{ rotation = [0 0 0 0] }").find("a quaternion of length 0; write [0 0 0 1] for no rotation"),
              std::string::npos);
    EXPECT_NE(errors_of("{ rotation = { w = 0 } }").find("a quaternion of length 0"), std::string::npos);
}

TEST_F(TransformText, what_cannot_be_a_pose_is_an_error_at_its_place) {
    const struct {
        const char* fields;
        const char* message;
    } kCases[] = {
        {"{ rotation = [0 0 0 1] euler_degrees = [0 0 1] }",
         "y.sjson:1:51: error: component \"transform\" has both \"rotation\" and \"euler_degrees\"; remove one"},
        {"{ scale = [1 0 1] }",
         "y.sjson:1:38: error: component \"transform\", field \"scale\": a scale of 0 cannot be undone; write numbers "
         "other than 0"},
        {"{ scale = 0 }", "y.sjson:1:38: error: component \"transform\", field \"scale\": a scale of 0"},
        {"{ scale = [1 1e-45 1] }", "field \"scale\": a scale of 0"},
        {"{ scale = \"big\" }", "field \"scale\": this is a string, but the field is a vec3"},
        {"{ scale = 1e39 }", "field \"scale\": 1e+39 does not fit a float"},
        {"{ position = [1 2 1e300] }", "field \"position\": 1e+300 does not fit a float"},
        {"{ position = [1 2] }", "this list has 2 values, but a vec3 has 3"},
        {"{ rotation = [0 0 1] }", "this list has 3 values, but a quaternion has 4"},
        {"{ euler_degrees = 90 }", "field \"euler_degrees\": this is an integer, but the field is a vec3"},
        {"{ euler_degrees = [0 0 -1e39] }", "field \"euler_degrees\": -1e+39 does not fit a float"},
        {"{ euler_degree = [0 0 90] }", "has no field \"euler_degree\"; did you mean \"euler_degrees\"?"},
        {"{ colour = 3 }", "has no field \"colour\"; it has position, rotation, scale, euler_degrees"},
        {"[1 2 3]", "component \"transform\" is given as a list but has 3 fields"},
    };
    for (const auto& bad : kCases) {
        const std::string messages = errors_of(bad.fields);
        EXPECT_NE(messages.find(bad.message), std::string::npos) << messages << "\nwants: " << bad.message;
    }
}

TEST_F(TransformText, a_mistake_in_a_prefab_is_told_once_and_in_the_prefab) {
    file("lamp.sjson", "components = { transform = { scale = 0 } }");
    file("y.sjson", R"(entities = { a = { prefab = "lamp" } b = { prefab = "lamp" } c = { prefab = "lamp"
        modified_components = { transform = { position = [1 1 1] } } } })");
    EXPECT_NE(errors("y.sjson").find("lamp.sjson:1:38: error"), std::string::npos) << diagnostics.format();
    EXPECT_EQ(diagnostics.num_errors(), 1u) << diagnostics.format();
}

TEST_F(TransformText, unknown_fields_are_kept_where_the_rules_say_so) {
    schema("unknown_fields = keep");
    file("x.sjson", "components = { transform = { position = [1 2 3] pivot = [1 1] } }");
    const Result<CompiledSource> source = compiled("x.sjson");
    ASSERT_TRUE(source.ok()) << diagnostics.format();
    EXPECT_EQ(source->num_kept_fields, 1u);
    EXPECT_EQ(Blob::load(source->blob)->kept_text(0).text, "pivot = [1 1]\n");
}

TEST_F(TransformText, transforms_come_first_and_parents_before_children) {  // req: D25
    schema("components = { anchor = { fields = { depth = float } } }");
    file("x.sjson", R"(components = { anchor = {} transform = {} }
        children = { b = { children = { c = { components = { transform = {} } } } components = { transform = {} } } })");
    const Result<CompiledSource> source = compiled("x.sjson");
    ASSERT_TRUE(source.ok()) << diagnostics.format();
    const Blob blob = *Blob::load(source->blob);
    EXPECT_EQ(blob.component_types()[0].schema->name(), "transform");
    const std::span<const std::uint32_t> rows = blob.component_types()[0].entity_index;
    std::vector<bool> is_known(blob.num_entities());
    for (const std::uint32_t entity : rows) {
        EXPECT_TRUE(blob.parents()[entity] == kNoBlobEntity || is_known[blob.parents()[entity]]);
        is_known[entity] = true;
    }
    EXPECT_EQ(rows.size(), 3u);
}

}  // namespace
}  // namespace shoal_test
