#pragma once
// Reads and checks the nodes and skins of a glTF file, and the objects that they refer to.
// Thread: one thread at a time per Diagnostics.

#include "shoal/document/detail/document.h"
#include "shoal/transform/transform.h"

#include <optional>
#include <string_view>
#include <vector>

namespace shoal {

inline constexpr std::uint32_t kNoGltf = 0xFFFFFFFF;

struct GltfNode {
    Node text;
    std::string_view name;
    Transform local;
    bool is_hidden = false;  // because of KHR_node_visibility or a scale of 0
    std::uint32_t parent = kNoGltf;
    std::vector<std::uint32_t> children;
    std::uint32_t mesh = kNoGltf, camera = kNoGltf, skin = kNoGltf, light = kNoGltf;
};

struct GltfScene {
    explicit GltfScene(Document json) : document(std::move(json)) {}

    Document document;
    std::vector<GltfNode> nodes;
    std::vector<Matrix3x4> worlds;                  // world poses, indexed by node
    std::vector<std::vector<std::uint32_t>> skins;  // joints of each skin
    std::vector<Node> meshes, cameras, lights, accessors;
    Node scene;  // none if the file has no scenes; all nodes are then used
    std::vector<std::uint32_t> roots;
};

inline constexpr std::string_view kGltfLights = "KHR_lights_punctual", kGltfVisibility = "KHR_node_visibility",
                                  kGltfInstancing = "EXT_mesh_gpu_instancing";

/// Returns whether the value of `key` is a number that fits in a float. If not, reports an error.
bool is_gltf_float(Node value, std::string_view key, Diagnostics& diagnostics);
/// Returns whether `list` has `count` numbers that fit in floats. If not, reports an error. Requires: `list` has a key.
bool is_gltf_floats(Node list, std::uint32_t count, Diagnostics& diagnostics);

/// Reads a file that `diagnostics` holds. `scene` is the name or index of the scene; if it is empty, the file's default
/// scene is read. Errors: reported to `diagnostics`. On error, returns nothing.
std::optional<GltfScene> read_gltf_scene(std::uint32_t file, std::string_view scene, Diagnostics& diagnostics);

/// Returns a member's string, or an empty string.
inline std::string_view gltf_text(Node node, std::string_view key) {
    const Node value = node ? node.find(key) : Node();
    return value && value.is_string() ? value.as_string() : std::string_view();
}

}  // namespace shoal
