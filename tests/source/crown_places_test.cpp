// Where the things of a real level are, against a reading of its files that shares nothing with shoal: a small SJSON
// reader into nlohmann::json, prefabs followed by hand, and matrices of doubles.

#include "shoal/base/file.h"
#include "shoal/source/compiler.h"
#include "shoal/source/schema_file.h"
#include "shoal/transform/transform_text.h"
#include "shoal/world/world.h"
#include "support/json.h"
#include "support/testing.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

using namespace shoal;
using nlohmann::json;

namespace {

const std::string kCrown = SHOAL_SOURCE_DIR "/../shared/corpora/crown";

// --- reading -------------------------------------------------------------------------------------------------------

class SjsonText {
public:
    explicit SjsonText(std::string text) : text_(std::move(text)) {}

    json entries(char end) {
        json result = json::object();
        while (peek() != end) {
            const std::string key = peek() == '"' ? string() : word();
            if (peek() != '=') throw std::runtime_error("no = after " + key);
            ++at_;
            result[key] = value();
        }
        if (end != '\0') ++at_;
        return result;
    }

private:
    char peek() {
        while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == ',')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    std::string word() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && std::string_view(" \t\n\r={}[],").find(text_[at_]) == std::string_view::npos)
            ++at_;
        return text_.substr(begin, at_ - begin);
    }
    std::string string() {
        const std::size_t begin = ++at_;
        while (text_.at(at_) != '"') ++at_;
        return text_.substr(begin, at_++ - begin);
    }
    json value() {
        const char first = peek();
        if (first == '"') return string();
        if (first == '{') return ++at_, entries('}');
        if (first != '[') return json::parse(word());
        json list = json::array();
        for (++at_; peek() != ']';) list.push_back(value());
        ++at_;
        return list;
    }

    std::string text_;
    std::size_t at_ = 0;
};

json read(const std::string& name) {
    for (const char* root : {"/01-physics/", "/"})
        for (const char* extension : {"", ".unit"})
            if (std::ifstream file(kCrown + root + name + extension); file) {
                std::stringstream text;
                text << file.rdbuf();
                if (!text.str().empty()) return SjsonText(text.str()).entries('\0');
            }
    throw std::runtime_error("no file " + name);
}

// --- placing -------------------------------------------------------------------------------------------------------

using Affine = std::array<std::array<double, 4>, 3>;

Affine product(const Affine& a, const Affine& b) {
    Affine c{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
            c[i][j] = j == 3 ? a[i][3] : 0;
            for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
        }
    return c;
}

Affine local_matrix(const json& data) {
    const auto number = [&](const char* field, std::size_t i, double otherwise) {
        return data.contains(field) ? data[field][i].get<double>() : otherwise;
    };
    const double x = number("rotation", 0, 0), y = number("rotation", 1, 0), z = number("rotation", 2, 0),
                 w = number("rotation", 3, 1);
    const double s = 2 / (x * x + y * y + z * z + w * w);
    Affine m = {{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y), 0},
                 {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x), 0},
                 {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y), 0}}};
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) m[i][j] *= number("scale", j, 1);
        m[i][3] = number("position", i, 0);
    }
    return m;
}

/// The fields of the entity's transform, from the deepest prefab up; null without one. `guid` is that of its component.
json transform_of(const json& unit, std::string& guid) {
    json data;
    if (unit.contains("prefab") && !unit["prefab"].is_null()) data = transform_of(read(unit["prefab"]), guid);
    for (const json& component : unit.value("components", json::array()))
        if (component.value("_type", component.value("type", "")) == "transform") {
            guid = component["_guid"];
            data = component["data"];
        }
    const json changes = unit.value("modified_components", json::object());
    if (!data.is_null() && changes.contains("#" + guid))
        for (const auto& [field, value] : changes["#" + guid]["data"].items()) data[field] = value;
    return data;
}

void place(const json& unit, const std::string& path, const Affine& parent, std::map<std::string, Affine>& places);

/// Children come from the prefab too; no file here changes or deletes any.
void place_children(const json& unit, const std::string& path, const Affine& parent,
                    std::map<std::string, Affine>& places) {
    ASSERT_FALSE(unit.contains("modified_children") && !unit["modified_children"].empty());
    ASSERT_FALSE(unit.contains("deleted_children") && !unit["deleted_children"].empty());
    if (unit.contains("prefab") && !unit["prefab"].is_null())
        place_children(read(unit["prefab"]), path, parent, places);
    for (const json& child : unit.value("children", json::array()))
        place(child, path + "/" + child["_guid"].get<std::string>(), parent, places);
}

void place(const json& unit, const std::string& path, const Affine& parent, std::map<std::string, Affine>& places) {
    std::string guid;
    const json data = transform_of(unit, guid);
    const Affine world = data.is_null() ? parent : product(parent, local_matrix(data));
    if (!data.is_null()) places[path] = world;
    place_children(unit, path, world, places);
}

// --- the test ------------------------------------------------------------------------------------------------------

TEST(CrownPlaces, everything_in_a_real_level_is_where_its_files_say) {  // req: G1
    if (!is_directory(kCrown)) GTEST_SKIP() << "skipped: there is no " << kCrown;
    ComponentRegistry registry;
    CompileOptions options;
    Diagnostics diagnostics;
    ASSERT_TRUE(add_transform(registry).ok());
    ASSERT_TRUE(read_schema_file(SHOAL_SOURCE_DIR "/tests/corpora/crown.sjson", registry, options.rules, diagnostics));
    options.compose.roots = {kCrown + "/01-physics", kCrown};
    const Result<CompiledSource> level =
        compile_source(kCrown + "/01-physics/levels/mover.level", registry, options, diagnostics);
    ASSERT_TRUE(level.ok()) << diagnostics.format();
    const Blob blob = *Blob::load(level->blob);
    EntityManager entities;
    World world(entities);
    ASSERT_TRUE(world.adopt_schemas(blob).ok());
    const Result<Spawned> spawned = world.spawn(blob);
    ASSERT_TRUE(spawned.ok()) << spawned.message();
    const TransformManager& transforms = world.transforms();
    EXPECT_EQ(transforms.num_rows(), 326u);

    const json source = read("levels/mover.level");
    std::map<std::string, Affine> places;
    constexpr Affine kIdentity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    for (const json& unit : source["units"]) place(unit, unit["_guid"], kIdentity, places);
    ASSERT_EQ(places.size(), 326u);
    std::size_t num_children = 0;
    for (const auto& [path, expected] : places) {
        const Instance instance = transforms.instance(spawned->find(path));
        ASSERT_TRUE(instance) << path;
        num_children += bool(transforms.parent(instance));
        const Matrix3x4& got = transforms.world(instance);
        for (std::size_t i = 0; i < 3; ++i) {
            const double row[4] = {double(got.row[i].x), double(got.row[i].y), double(got.row[i].z),
                                   double(got.row[i].w)};
            for (std::size_t j = 0; j < 4; ++j)
                EXPECT_NEAR(row[j], expected[i][j], 1e-6 * std::max(10.0, std::fabs(expected[i][j])))
                    << path << ' ' << i << ' ' << j;
        }
    }
    EXPECT_EQ(num_children, 2u);
}

}  // namespace
