// Fuzzes the import of glTF. Any bytes produce a source that can be read and composed, or a diagnostic.
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/import/gltf.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose_text.h"
#include "shoal/rewrite/detail/source_tree.h"
#include "shoal/source/compiler.h"
#include "shoal/source/schema_file.h"
#include "shoal/transform/transform_text.h"

#include <cstdlib>
#include <string_view>

using namespace shoal;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

struct Types {
    Types() {
        Diagnostics diagnostics;
        require(add_transform(registry) && add_model_pose(registry) && add_properties(registry));
        require(registry.add<Tag>() && registry.add<AttachedToNode>());
        require(read_schema_text(diagnostics.add_file("gltf", std::string(gltf_schema_text())), registry, rules,
                                 diagnostics));
    }
    ComponentRegistry registry;
    SourceRules rules;
};

/// Components from `extras` are imported unchanged, so they may be invalid. A source without them must compile.
bool has_extras(std::string_view json) { return json.find("extras") != std::string_view::npos; }

void check(const ImportedGltf& imported, const Types& types, std::string_view json) {
    MemoryFiles files;
    files.add("root/a.sjson", imported.text);
    CompileOptions options;
    options.rules = types.rules;
    options.compose.files = &files;
    options.compose.roots = {"root"};
    Diagnostics diagnostics;
    const std::optional<SourceTree> tree =
        read_source_tree(diagnostics.add_file("a.sjson", imported.text), diagnostics);
    require(tree.has_value());
    const Result<CompiledSource> compiled = compile_source("root/a.sjson", types.registry, options, diagnostics);
    require(has_extras(json) || (compiled.ok() && compiled->num_entities == imported.num_entities));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Types types;
    const Result<std::string_view> json = gltf_json({reinterpret_cast<const char*>(data), size});
    if (!json) return 0;
    Diagnostics diagnostics;
    GltfOptions options;
    options.resource = "a.gltf";
    options.z_up = size % 2 == 0;
    const std::optional<ImportedGltf> imported =
        import_gltf(diagnostics.add_file("a.gltf", std::string(*json)), types.registry, options, diagnostics);
    require(imported.has_value() == (diagnostics.num_errors() == 0));
    if (imported) check(*imported, types, *json);
    static_cast<void>(diagnostics.format());
    return 0;
}
