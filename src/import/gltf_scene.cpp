#include "import/gltf_scene.h"

#include "shoal/base/text.h"
#include "shoal/document/json.h"
#include "shoal/import/gltf.h"
#include "shoal/transform/detail/pose_kernels.h"
#include "shoal/transform/detail/pose_math.h"
#include "shoal/transform/transform_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace shoal {
namespace {

constexpr float kFlatScale = 1e-5f;  // replaces a scale of 0; relative to the largest scale
constexpr float kMostShear = 1e-4f;  // tolerates rounding by exporters; relative to the largest element of the matrix

class SceneReader {
public:
    SceneReader(GltfScene& out, Diagnostics& diagnostics)
        : out_(out), root_(out.document.root()), diagnostics_(diagnostics) {}

    bool read(std::string_view scene) {
        const std::size_t num_errors = diagnostics_.num_errors();
        if (!root_.is_mapping()) return error(root_, "a glTF file is an object", "export it as glTF 2.0 again"), false;
        if (!read_asset()) return false;
        out_.meshes = list_of(root_, "meshes");
        out_.cameras = list_of(root_, "cameras");
        out_.accessors = list_of(root_, "accessors");
        if (const Node extensions = mapping_of(root_, "extensions"))
            if (const Node lights = mapping_of(extensions, kGltfLights)) out_.lights = list_of(lights, "lights");
        read_nodes();
        read_skins();
        replace_scales_of_0();
        if (diagnostics_.num_errors() != num_errors || !find_parents() || !read_scene(scene)) return false;
        return place_nodes() && diagnostics_.num_errors() == num_errors;
    }

private:
    void error(Node at, std::string message, std::string hint) {
        diagnostics_.error(at.position(), std::move(message), std::move(hint));
    }

    bool read_asset() {
        const Node asset = root_.find("asset");
        const std::string_view version = gltf_text(asset, "version"), least = gltf_text(asset, "minVersion");
        const Node place = asset ? asset : root_;
        if (version.empty())
            return error(place, "the file does not say its version in `asset`", "export it as glTF 2.0"), false;
        if (!version.starts_with("2."))
            return error(place, concat("this is glTF ", quoted(version)), "export it as glTF 2.0"), false;
        if (!least.empty() && least != "2.0")
            return error(place, concat("the file needs a reader of glTF ", quoted(least)), "export it as glTF 2.0"),
                   false;
        return true;
    }

    // --- values ----------------------------------------------------------------------------------------------------

    Node mapping_of(Node parent, std::string_view key) {
        const Node value = parent.find(key);
        if (!value || value.is_mapping()) return value;
        error(value, concat("`", key, "` is ", kind_name(value.kind())), "it must be an object");
        return {};
    }

    /// Returns the elements of a list of mappings.
    std::vector<Node> list_of(Node parent, std::string_view key) {
        std::vector<Node> elements;
        const Node list = parent.find(key);
        if (!list) return elements;
        if (!list.is_list())
            return error(list, concat("`", key, "` is ", kind_name(list.kind())), "it must be an array"), elements;
        for (const Node element : list) {
            if (!element.is_mapping())
                error(element, concat("an element of `", key, "` is ", kind_name(element.kind())),
                      "it must be an object");
            elements.push_back(element);
        }
        return elements;
    }

    /// Reads an index below `count`. Returns kNoGltf if there is no index. If the index is invalid, reports this and
    /// returns kNoGltf.
    std::uint32_t read_index(Node value, std::size_t count, std::string_view thing) {
        if (!value) return kNoGltf;
        const std::int64_t* const index = value.is_integer() ? value.as_int64() : nullptr;
        if (index != nullptr && *index >= 0 && static_cast<std::uint64_t>(*index) < count)
            return static_cast<std::uint32_t>(*index);
        if (value.is_integer())
            error(value, concat("there is no ", thing, " with this index"),
                  concat("the file has ", count, ", counted from 0"));
        else
            error(value, concat("the index of a ", thing, " is ", kind_name(value.kind())), "it must be an integer");
        return kNoGltf;
    }

    std::vector<std::uint32_t> read_indices(Node parent, std::string_view key, std::string_view thing) {
        std::vector<std::uint32_t> indices;
        const Node list = parent.find(key);
        if (!list) return indices;
        if (!list.is_list())
            return error(list, concat("`", key, "` is ", kind_name(list.kind())), "it must be an array"), indices;
        for (const Node value : list)
            if (const std::uint32_t index = read_index(value, out_.nodes.size(), thing); index != kNoGltf)
                indices.push_back(index);
        return indices;
    }

    /// Reads a list of numbers, if there is one. If there is an error, reports it and returns false.
    bool read_numbers(Node value, std::uint32_t count, float* out) {
        if (!value) return true;
        if (!is_gltf_floats(value, count, diagnostics_)) return false;
        for (const Node number : value) *out++ = static_cast<float>(number.as_double());
        return true;
    }

    // --- nodes -----------------------------------------------------------------------------------------------------

    void read_nodes() {
        const std::vector<Node> nodes = list_of(root_, "nodes");
        const Node skins = root_.find("skins");
        out_.nodes.resize(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (nodes[i].is_mapping()) read_node(nodes[i], skins ? skins.size() : 0, out_.nodes[i]);
    }

    void read_node(Node text, std::size_t num_skins, GltfNode& node) {
        node.text = text;
        node.name = gltf_text(text, "name");
        node.children = read_indices(text, "children", "node");
        node.mesh = read_index(text.find("mesh"), out_.meshes.size(), "mesh");
        node.camera = read_index(text.find("camera"), out_.cameras.size(), "camera");
        node.skin = read_index(text.find("skin"), num_skins, "skin");
        if (const Node extensions = mapping_of(text, "extensions")) read_extensions(extensions, node);
        if (const Node matrix = text.find("matrix"))
            read_matrix(matrix, node);
        else
            read_pose(node);
    }

    void read_extensions(Node extensions, GltfNode& node) {
        if (const Node light = mapping_of(extensions, kGltfLights))
            node.light = read_index(light.find("light"), out_.lights.size(), "light");
        const Node visibility = mapping_of(extensions, kGltfVisibility);
        const Node visible = visibility ? visibility.find("visible") : Node();
        if (!visible) return;
        if (!visible.is_bool())
            error(visible, concat("`visible` is ", kind_name(visible.kind())), "it must be true or false");
        node.is_hidden = visible.is_bool() && !visible.as_bool();
    }

    void read_pose(GltfNode& node) {
        const Node rotation = node.text.find("rotation");
        Transform& local = node.local;
        if (!read_numbers(node.text.find("translation"), 3, &local.position.x) ||
            !read_numbers(rotation, 4, &local.rotation.x) || !read_numbers(node.text.find("scale"), 3, &local.scale.x))
            return;
        if (rotation) accept_rotation(diagnostics_, rotation.position(), "node: a rotation is ", local.rotation);
    }

    /// A scale of 0 cannot be inverted. If the scale is 0 on all axes, the node is hidden, as glTF defines. If it is 0
    /// on one or two axes, the node is made nearly flat.
    void replace_scales_of_0() {
        std::vector<bool> is_joint(out_.nodes.size());
        for (const std::vector<std::uint32_t>& skin : out_.skins)
            for (const std::uint32_t joint : skin) is_joint[joint] = true;
        for (std::size_t i = 0; i < out_.nodes.size(); ++i)
            if (!can_be_undone(out_.nodes[i].local.scale)) replace_scale_of_0(out_.nodes[i], is_joint[i]);
    }

    void replace_scale_of_0(GltfNode& node, bool is_joint) {
        Vec3& scale = node.local.scale;
        const Node scale_text = node.text.find("scale");
        const Node place = scale_text ? scale_text : node.text.find("matrix");
        const float greatest = std::max({std::fabs(scale.x), std::fabs(scale.y), std::fabs(scale.z)});
        const bool is_nothing = !std::isnormal(greatest);
        if (is_nothing && !is_joint) {
            scale = {1, 1, 1};
            node.is_hidden = true;
            diagnostics_.warning(place.position(), "a scale of 0 hides the node",
                                 "the entity is `inactive`, and has no scale");
            return;
        }
        const float flat = is_nothing ? kFlatScale : greatest * kFlatScale;
        for (float* const axis : {&scale.x, &scale.y, &scale.z})
            if (!std::isnormal(*axis)) *axis = flat;
        if (!can_be_undone(scale))
            return error(place, "a scale is too small to be undone", "scale the node by a larger number, or remove it");
        diagnostics_.warning(place.position(), "a scale of 0 cannot be undone",
                             concat(flat, " is written in its place"));
    }

    /// Decomposes a matrix in column-major order.
    void read_matrix(Node text, GltfNode& node) {
        for (const std::string_view other : {"translation", "rotation", "scale"})
            if (const Node value = node.text.find(other))
                return error(value, concat("a node has both `matrix` and `", other, "`"), "export the file again");
        float columns[16];
        if (!read_numbers(text, 16, columns)) return;
        Matrix3x4 matrix;
        float greatest = 0;
        for (int row = 0; row < 3; ++row)
            matrix.row[row] = {columns[row], columns[4 + row], columns[8 + row], columns[12 + row]};
        for (int i = 0; i < 12; ++i) greatest = std::max(greatest, std::fabs(columns[i]));
        if (columns[3] != 0 || columns[7] != 0 || columns[11] != 0 || columns[15] != 1)
            return error(text, "the last row of a matrix is not 0 0 0 1",
                         "a node is moved, turned and scaled, and nothing else");
        node.local.position = {columns[12], columns[13], columns[14]};
        if (std::all_of(columns, columns + 12, [](float number) { return number == 0; }))
            return static_cast<void>(node.local.scale = {0, 0, 0});
        if (!is_regular(matrix))
            return error(text, "a matrix cannot be undone", "scale the node by a small number, or remove it");
        node.local = nearest_pose(matrix).pose;
        if (!can_be_undone(node.local.scale) || differs(local_matrix_of(node.local), matrix, greatest * kMostShear))
            error(text, "a matrix has shear, which no transform can say",
                  "apply the scale in the program that made the file, and export it again");
    }

    static Matrix3x4 local_matrix_of(const Transform& pose) {
        return local_matrix(pose.position, pose.rotation, pose.scale);
    }
    static bool differs(const Matrix3x4& a, const Matrix3x4& b, float most) {
        for (int row = 0; row < 3; ++row) {
            const Vec4 d = a.row[row] + b.row[row] * -1.0f;
            if (!(std::fabs(d.x) <= most && std::fabs(d.y) <= most && std::fabs(d.z) <= most)) return true;
        }
        return false;
    }

    // --- the hierarchy ---------------------------------------------------------------------------------------------

    bool find_parents() {
        for (std::uint32_t i = 0; i < out_.nodes.size(); ++i)
            for (const std::uint32_t child : out_.nodes[i].children) {
                std::uint32_t& parent = out_.nodes[child].parent;
                if (parent != kNoGltf) {
                    diagnostics_
                        .error(out_.nodes[child].text.position(), concat("node ", child, " is the child of two nodes"),
                               "export the file again")
                        .note(out_.nodes[parent].text.position(), "one of them")
                        .note(out_.nodes[i].text.position(), "the other");
                    return false;
                }
                parent = i;
            }
        return check_depth();
    }

    /// Checks that no node is its own ancestor. Visits each node once.
    bool check_depth() {
        std::vector<std::uint32_t> depth(out_.nodes.size(), 0), way;
        for (std::uint32_t i = 0; i < out_.nodes.size(); ++i) {
            way.clear();
            std::uint32_t node = i;
            for (; node != kNoGltf && depth[node] == 0; node = out_.nodes[node].parent) {
                depth[node] = kNoGltf;  // being visited
                way.push_back(node);
            }
            if (node != kNoGltf && depth[node] == kNoGltf)
                return error(out_.nodes[node].text, concat("node ", node, " is its own ancestor"),
                             "export the file again"),
                       false;
            std::uint32_t above = node == kNoGltf ? 0 : depth[node];
            for (; !way.empty(); way.pop_back()) depth[way.back()] = ++above;
            if (above > kMaxGltfDepth)
                return error(out_.nodes[i].text, concat("nodes are nested more than ", kMaxGltfDepth, " levels deep"),
                             "make the hierarchy flatter"),
                       false;
        }
        return true;
    }

    bool read_scene(std::string_view wanted) {
        const std::vector<Node> scenes = list_of(root_, "scenes");
        if (scenes.empty() && !wanted.empty())
            return error(root_, "the file has no scenes", "leave out which one to import"), false;
        if (scenes.empty()) {
            for (std::uint32_t i = 0; i < out_.nodes.size(); ++i)
                if (out_.nodes[i].parent == kNoGltf) out_.roots.push_back(i);
            return true;
        }
        const std::uint32_t index = choose_scene(scenes, wanted);
        if (index == kNoGltf || !scenes[index].is_mapping()) return false;
        out_.scene = scenes[index];
        out_.roots = read_indices(out_.scene, "nodes", "node");
        return check_roots();
    }

    bool check_roots() {
        std::vector<bool> is_root(out_.nodes.size());
        for (const std::uint32_t root : out_.roots) {
            if (out_.nodes[root].parent != kNoGltf)
                return error(out_.scene, concat("node ", root, " is in the scene and also the child of a node"),
                             "export the file again"),
                       false;
            if (is_root[root])
                return error(out_.scene, concat("node ", root, " is in the scene twice"), "export the file again"),
                       false;
            is_root[root] = true;
        }
        return true;
    }

    std::uint32_t choose_scene(const std::vector<Node>& scenes, std::string_view wanted) {
        if (wanted.empty()) {
            if (const Node scene = root_.find("scene")) return read_index(scene, scenes.size(), "scene");
            if (scenes.size() == 1) return 0;
            error(scenes[1], concat("the file has ", scenes.size(), " scenes, and does not say which one counts"),
                  concat("choose one with --scene: ", names_of(scenes)));
            return kNoGltf;
        }
        for (std::uint32_t i = 0; i < scenes.size(); ++i)
            if (gltf_text(scenes[i], "name") == wanted) return i;
        std::uint32_t index = 0;
        const auto [end, failed] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
        if (failed == std::errc() && end == wanted.data() + wanted.size() && index < scenes.size()) return index;
        error(scenes[0], concat("there is no scene ", quoted(wanted)), concat("the file has ", names_of(scenes)));
        return kNoGltf;
    }

    static std::string names_of(const std::vector<Node>& scenes) {
        constexpr std::size_t kMostNames = 8;
        std::string names;
        for (std::size_t i = 0; i < std::min(scenes.size(), kMostNames); ++i) {
            const std::string_view name = gltf_text(scenes[i], "name");
            append_text(names, concat(i == 0 ? "" : ", ", i, name.empty() ? "" : concat(" or ", quoted(name))));
        }
        return names + (scenes.size() > kMostNames ? ", ..." : "");
    }

    void read_skins() {
        for (const Node skin : list_of(root_, "skins")) {
            std::vector<std::uint32_t>& joints = out_.skins.emplace_back();
            if (!skin.is_mapping()) continue;
            joints = read_indices(skin, "joints", "node");
            std::vector<std::uint32_t> sorted = joints;
            std::sort(sorted.begin(), sorted.end());
            if (joints.empty())
                error(skin, "a skin has no joints", "export the file again");
            else if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
                error(skin, "a skin has a joint twice", "export the file again");
        }
    }

    bool place_nodes() {
        out_.worlds.resize(out_.nodes.size());
        std::vector<std::uint32_t> left;
        for (std::uint32_t i = 0; i < out_.nodes.size(); ++i)
            if (out_.nodes[i].parent == kNoGltf) left.push_back(i);
        while (!left.empty()) {
            const std::uint32_t i = left.back();
            left.pop_back();
            const GltfNode& node = out_.nodes[i];
            const Matrix3x4 local = local_matrix_of(node.local);
            out_.worlds[i] = node.parent == kNoGltf ? local : product(out_.worlds[node.parent], local);
            if (!is_finite(out_.worlds[i]))
                return error(node.text, concat("the place of node ", i, " is too far away"), "make the scene smaller"),
                       false;
            left.insert(left.end(), node.children.begin(), node.children.end());
        }
        return true;
    }

    GltfScene& out_;
    Node root_;
    Diagnostics& diagnostics_;
};

std::uint32_t read_word(std::string_view bytes, std::size_t offset) {
    std::uint32_t word = 0;
    for (std::size_t i = 4; i-- > 0;) word = word << 8 | static_cast<unsigned char>(bytes[offset + i]);
    return word;
}

}  // namespace

bool is_gltf_float(Node value, std::string_view key, Diagnostics& diagnostics) {
    if (value.is_number() && std::isfinite(static_cast<float>(value.as_double()))) return true;
    if (value.is_number())
        diagnostics.error(value.position(), concat("a number of `", key, "` is too large for a float"),
                          "write one up to 3.4e38");
    else
        diagnostics.error(value.position(),
                          concat("`", key, "` has ", kind_name(value.kind()), " where a number belongs"),
                          "export the file again");
    return false;
}

bool is_gltf_floats(Node list, std::uint32_t count, Diagnostics& diagnostics) {
    if (!list.is_list() || list.size() != count) {
        diagnostics.error(list.position(), concat("`", list.key(), "` is not a list of ", count, " numbers"),
                          "export the file again");
        return false;
    }
    return std::all_of(list.begin(), list.end(),
                       [&](Node number) { return is_gltf_float(number, list.key(), diagnostics); });
}

std::optional<GltfScene> read_gltf_scene(std::uint32_t file, std::string_view scene, Diagnostics& diagnostics) {
    Result<Document> document = read_json(file, diagnostics);
    if (!document) return std::nullopt;
    GltfScene result(std::move(*document));
    if (!SceneReader(result, diagnostics).read(scene)) return std::nullopt;
    return result;
}

Result<std::string_view> gltf_json(std::string_view bytes) {
    constexpr std::size_t kHeaderBytes = 12, kChunkHeaderBytes = 8;
    constexpr std::uint32_t kJsonChunk = 0x4E4F534A;
    if (!bytes.starts_with("glTF")) return bytes;
    const auto damaged = [](const auto&... parts) {
        return Status::error(concat("the .glb is damaged: ", parts..., "; export it again"));
    };
    if (bytes.size() < kHeaderBytes + kChunkHeaderBytes) return damaged("it ends within its header");
    const std::uint32_t version = read_word(bytes, 4), num_bytes = read_word(bytes, 8);
    if (version != 2) return Status::error(concat("the .glb has version ", version, "; export it as glTF 2.0"));
    if (num_bytes > bytes.size()) return damaged("it says ", num_bytes, " bytes, and has ", bytes.size());
    if (read_word(bytes, kHeaderBytes + 4) != kJsonChunk) return damaged("its first chunk, at byte 12, is not JSON");
    std::string_view json = bytes.substr(kHeaderBytes + kChunkHeaderBytes);
    const std::uint32_t json_bytes = read_word(bytes, kHeaderBytes);
    if (json_bytes > json.size())
        return damaged("a chunk of ", json_bytes, " bytes, at byte ", kHeaderBytes, ", goes beyond the end");
    json = json.substr(0, json_bytes);
    return json.substr(0, json.find_last_not_of('\0') + 1);  // some exporters pad the JSON with zeros
}

}  // namespace shoal
