// Fuzzes the YAML parser. Any bytes produce a document or a diagnostic. A document is written as SJSON and read back as
// the same tree, compiled as a source, and written with its comments in every format.
#include "shoal/document/sjson.h"
#include "shoal/resource/blob.h"
#include "shoal/rewrite/source_text.h"
#include "shoal/source/compiler.h"
#include "shoal/source/detail/yaml.h"
#include "shoal/source/schema_file.h"

#include <cstdlib>
#include <string_view>
#include <utility>

using namespace shoal;

namespace {

constexpr const char* kSchemas = R"(
    components = {
        visual = { in_file = true fields = { type = string_id } }
        engine = { fields = { maxSpeed = float  acceleration = float } }
        volume = { fields = { aabbox = { fields = { min = vec2 max = vec2 } } } }
        weapon = { fields = { slots = { type = blob_array of = uint8 }
                              resources = { type = blob_array of = resource_id keys = slots shorthand = true } } }
        collidable = null
        health = { fields = { points = uint16 } }
        target = { fields = { inner = { fields = { entity = entity } } } }
    }
)";

void require(bool condition) {
    if (!condition) std::abort();
}

void read_and_write_back(std::string_view text) {
    Diagnostics diagnostics;
    const Result<Document> document = read_yaml(diagnostics.refer_file("input", text), diagnostics);
    require(document.ok() == (diagnostics.num_errors() == 0));
    static_cast<void>(diagnostics.format());
    if (!document || document->num_nodes() > 100'000) return;
    const std::string written = write_sjson(document->root());
    Diagnostics again;
    const Result<Document> reread = read_sjson(again.refer_file("written", written), again);
    require(reread.ok() && equal(document->root(), reread->root()));
}

void rewrite(const char* name, std::string_view text) {
    Diagnostics diagnostics;
    SourceComments comments;
    const Result<Document> document = read_source_text(diagnostics.refer_file(name, text), diagnostics, comments);
    if (!document || document->num_nodes() > 10'000) return;
    for (const auto& [format, file] :
         {std::pair(SourceFormat::kSjson, "new.sjson"), std::pair(SourceFormat::kJson, "new.json"),
          std::pair(SourceFormat::kYaml, "new.yaml")}) {
        const std::string written = write_source_text(document->root(), format, diagnostics, comments);
        Diagnostics again;
        SourceComments same;
        const Result<Document> reread = read_source_text(again.refer_file(file, written), again, same);
        require(reread.ok() && equal(document->root(), reread->root()));
        require(write_source_text(reread->root(), format, again, same) == written);
    }
}

void compile(std::string_view text, bool keeps_unknown) {
    MemoryFiles files;
    files.add("root/level.yaml", std::string(text));
    files.add("root/lines.yaml", "type: lines\n");
    Diagnostics diagnostics;
    ComponentRegistry registry;
    CompileOptions options;
    require(read_schema_text(diagnostics.add_file("schemas", kSchemas), registry, options.rules, diagnostics));
    options.rules.keep_unknown_components = options.rules.keep_unknown_fields = keeps_unknown;
    options.compose.files = &files;
    options.compose.roots = {"root"};
    options.compose.max_entities = 4096;
    options.compose.max_components = 16384;
    const Result<CompiledSource> compiled = compile_source("root/level.yaml", registry, options, diagnostics);
    if (compiled)
        require(Blob::view(compiled->blob).ok());
    else
        require(diagnostics.num_errors() != 0);
    static_cast<void>(diagnostics.format());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read_and_write_back(text);
    rewrite("input.yaml", text);
    rewrite("input.sjson", text);
    compile(text, size % 2 == 0);
    return 0;
}
