#pragma once
// Imports glTF 2.0 files. The nodes of a scene become one entity with children in a source.
//
//     Diagnostics diagnostics;
//     Result<std::string_view> json = gltf_json(bytes);  // all of a .gltf, the JSON chunk of a .glb
//     const std::uint32_t file = diagnostics.add_file("ship.gltf", std::string(*json));
//     std::optional<ImportedGltf> ship = import_gltf(file, registry, options, diagnostics);
//
//     nodes              entities with the names of the nodes
//     TRS, matrix        transform
//     skin               model_pose on the drawn entity; joints are not entities; their children: attached_to_node
//     mesh, camera, light    gltf_mesh, gltf_camera, gltf_light: gltf_schema_text() declares them
//     visibility         inactive
//     extras             components, if they have such names, and properties
//
// Entity keys are made from node names, so importing the file again gives the same GUID paths. Meshes, materials,
// animations and buffers are not read. See docs/formats/gltf.md for the rules.
// Thread: calls are independent; one thread at a time per Diagnostics.

#include "shoal/base/status.h"
#include "shoal/document/diagnostics.h"
#include "shoal/resource/detail/registry.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal {

struct SourceRules;

/// The maximum nesting depth of nodes. The limit leaves room for sources that use the imported source as a prefab.
inline constexpr std::uint32_t kMaxGltfDepth = 240;

struct GltfOptions {
    std::string scene{};                 ///< name or index of the scene; empty: the file's default scene
    std::string resource{};              ///< the resource name to store with meshes
    bool z_up = false;                   ///< turns the whole scene from y up to z up
    const SourceRules* rules = nullptr;  ///< the rules with which the source will be compiled
};

struct ImportedGltf {
    std::string text;  ///< SJSON
    std::uint64_t num_entities = 0;
    std::uint64_t num_models = 0;      ///< entities with a model pose
    bool has_gltf_components = false;  ///< whether the source needs gltf_schema_text()
};

/// Returns the JSON chunk of a .glb, or all bytes of any other file. Chunks after the JSON are ignored. Errors: the
/// .glb is damaged; the message says where.
/// Lifetime: as long as `bytes`.
SHOAL_API Result<std::string_view> gltf_json(std::string_view bytes);

/// Imports a JSON file that `diagnostics` holds. `registry` has the component types that `extras` may name. The
/// returned source compiles with these types, the built-in types and gltf_schema_text(). Does not read files that
/// components name.
/// Errors: reported to `diagnostics`, with positions in the JSON. On error, returns nothing.
SHOAL_API std::optional<ImportedGltf> import_gltf(std::uint32_t file, const ComponentRegistry& registry,
                                                  const GltfOptions& options, Diagnostics& diagnostics);

/// Returns a schema file for the component types that only imported sources use.
SHOAL_API std::string_view gltf_schema_text();

}  // namespace shoal
