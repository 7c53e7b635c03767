// Fuzzes the composer and the compiler. A level and two prefabs, separated by zero bytes, produce a blob that can be
// loaded, or diagnostics.
#include "shoal/components/debug_name.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/resource/blob.h"
#include "shoal/source/compiler.h"
#include "shoal/source/schema_file.h"

#include <cstdlib>
#include <string_view>

using namespace shoal;

namespace {

constexpr const char* kSchemas = R"(
    components = {
        light = { many = true fields = {
            kind = { type = enum values = [omni spot] } colour = { type = vec3 range = [0 1] } target = entity
            label = { type = fixed_string capacity = 8 } steps = { type = int16 array = 3 }
            path = { type = blob_array of = vec3 } mesh = resource_id on = bool } }
        pose = { whole = true fields = { place = vec3 turn = quaternion matrix = matrix small = uint8 } }
    }
)";

std::string_view next_part(std::string_view& rest) {
    const std::size_t end = rest.find('\0');
    const std::string_view part = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    MemoryFiles files;
    files.add("root/level.sjson", std::string(next_part(rest)));
    files.add("root/a.sjson", std::string(next_part(rest)));
    files.add("root/b.sjson", std::string(next_part(rest)));

    Diagnostics diagnostics;
    ComponentRegistry registry;
    CompileOptions options;
    if (!registry.add<PointMass>() || !registry.add<DebugName>() || !registry.add<Tag>()) std::abort();
    if (!add_properties(registry)) std::abort();
    if (!read_schema_text(diagnostics.add_file("schemas", kSchemas), registry, options.rules, diagnostics))
        std::abort();
    options.rules.keep_unknown_components = size % 2 == 0;
    options.rules.keep_unknown_fields = size % 3 == 0;
    options.rules.level_entities = static_cast<LevelEntities>(size % 4);
    if (size % 7 == 0)
        options.rules.renamed_keys = {
            {"pos", "point_mass.position"}, {"inherit", "prefab"}, {"m", "mass"}, {"n", "name"}};
    options.blob.offset_tables = size % 5 == 0;
    options.compose.files = &files;
    options.compose.roots = {"root"};
    options.compose.max_entities = 4096;
    options.compose.max_components = 16384;

    const Result<CompiledSource> compiled = compile_source("root/level.sjson", registry, options, diagnostics);
    if (compiled) {
        if (!Blob::view(compiled->blob)) std::abort();
    } else if (diagnostics.num_errors() == 0) {
        std::abort();
    }
    static_cast<void>(diagnostics.format());
    return 0;
}
