#pragma once
// Compiles a source into a blob.
//
//     ComponentRegistry registry;  // built-in component types, the program's own, those of schema files
//     CompileOptions options;
//     Diagnostics diagnostics;
//     if (!read_schema_file("reef.schema.sjson", registry, options.rules, diagnostics)) return report(diagnostics);
//     Result<CompiledSource> reef = compile_source("reef/garden.sjson", registry, options, diagnostics);
//     std::fputs(diagnostics.format().c_str(), stderr);  // errors and warnings, each with its place
//     if (reef) return write_file("garden.blob", reef->blob);
//
//     compose  ->  entities, parents first  ->  per component type, in spawn order: an image per component  ->  blob
//
// The same source gives the same bytes in every folder, because the blob names files relative to the roots.
// Thread: one thread at a time per Diagnostics; the registry is only read.

#include "shoal/resource/blob_writer.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/source/detail/composer.h"
#include "shoal/source/detail/source_rules.h"
#include "shoal/source/inputs.h"

#include <string>
#include <vector>

namespace shoal {

struct CompileOptions {
    /// Roots, limits and files. compose_options() adds `rules`.
    ComposeOptions compose;
    SourceRules rules;
    BlobWriteOptions blob;
    /// Treats warnings as errors.
    bool strict = false;
    /// The name of the resource. If empty, it is the path of the source in its root, without the extension.
    std::string name;
    /// The version of the program that provides compile functions. If it changes, sources are compiled again.
    std::string program;
    /// Receives the inputs of the result, even if there are errors. inputs.h finds out which of them have changed.
    SourceInputs* inputs = nullptr;
};

/// Returns the options for composing a source, including `rules`.
SHOAL_API ComposeOptions compose_options(const CompileOptions& options);
/// Like compose_options() above, but also adds, from `registry`, the old names of component types.
SHOAL_API ComposeOptions compose_options(const CompileOptions& options, const ComponentRegistry& registry);

struct ComponentCount {
    std::string name;
    std::uint64_t count = 0;
};

/// A blob with its counts of entities and components.
struct CompiledSource {
    std::vector<std::byte> blob;  ///< empty after check_source
    std::uint64_t num_entities = 0;
    std::uint64_t num_roots = 0;
    std::uint64_t num_components = 0;       ///< excluding components that are kept as text
    std::uint64_t num_kept_components = 0;  ///< components of unknown types
    std::uint64_t num_kept_fields = 0;
    std::uint64_t num_warnings = 0;
    std::vector<ComponentCount> components;  ///< in the order of the blob
    std::vector<SourceDependency> dependencies;
    std::int64_t compose_ns = 0, compile_ns = 0, write_ns = 0;
};

/// Compiles the source at `path`.
/// Errors: each is reported to `diagnostics` with its position, and the status has a summary.
SHOAL_API Result<CompiledSource> compile_source(const std::string& path, const ComponentRegistry& registry,
                                                const CompileOptions& options, Diagnostics& diagnostics);
/// Like compile_source(), but for a file whose text `diagnostics` already has.
SHOAL_API Result<CompiledSource> compile_file(std::uint32_t file, const ComponentRegistry& registry,
                                              const CompileOptions& options, Diagnostics& diagnostics);
/// Like compile_source(), but does not make the blob.
SHOAL_API Result<CompiledSource> check_source(const std::string& path, const ComponentRegistry& registry,
                                              const CompileOptions& options, Diagnostics& diagnostics);
/// Checks a tree as compile_file() checks a file, and reports errors at the source positions of the nodes.
/// This is for sources that a program builds, which cannot use prefabs.
SHOAL_API void check_tree(Node root, const ComponentRegistry& registry, const CompileOptions& options,
                          Diagnostics& diagnostics);

}  // namespace shoal
