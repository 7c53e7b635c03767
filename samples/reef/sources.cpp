// Compiles sources, and reloads the running sea when a source is edited.

#include "sources.h"

#include <shoal/base/clock.h>
#include <shoal/base/text.h>
#include <shoal/inspect/text_table.h>
#include <shoal/reload/reloader.h>
#include <shoal/source/schema_file.h>
#include <shoal/transform/transform_text.h>

#include <algorithm>

namespace reef {

using namespace shoal;

namespace {

Status register_components(ComponentRegistry& registry) {
    if (Status status = add_transform(registry); !status) return status;
    if (Status status = registry.add<Place>(); !status) return status;
    if (Status status = registry.add<Swim>(); !status) return status;
    if (Status status = registry.add<Fish>(); !status) return status;
    if (Status status = registry.add<Sated>(); !status) return status;
    if (Status status = registry.add<Hunter>(); !status) return status;
    if (Status status = registry.add<Bloom>(); !status) return status;
    if (Status status = registry.add<Reef>(); !status) return status;
    return registry.add<School>();
}

double milliseconds_since(std::int64_t begin_ns) { return static_cast<double>(monotonic_ns() - begin_ns) * 1e-6; }

}  // namespace

Status SeaSources::read_inputs(Inputs& inputs, Diagnostics& diagnostics) const {
    if (Status status = register_components(inputs.registry); !status) return status;
    inputs.options.compose.roots = {sea_.options.sources};
    if (read_schema_file(schema_path(), inputs.registry, inputs.options.rules, diagnostics)) return {};
    return Status::error("the schema file has errors");
}

Status SeaSources::prepare(Diagnostics& diagnostics) {
    begin_wall_ns_ = wall_clock_ns();
    files_ = {schema_path()};
    return read_inputs(inputs_, diagnostics);
}

/// Adds to `files` all files that were read or searched for, even if there are errors.
Result<CompiledSource> SeaSources::compile(const std::string& name, const Inputs& inputs, Diagnostics& diagnostics,
                                           std::vector<std::string>& files) const {
    std::vector<SourceDependency> dependencies;
    CompileOptions options = inputs.options;
    options.compose.dependencies = &dependencies;
    Result<CompiledSource> compiled =
        compile_source(concat(sea_.options.sources, "/", name, ".sjson"), inputs.registry, options, diagnostics);
    for (const SourceDependency& dependency : dependencies) files.push_back(dependency.path);
    return compiled;
}

Result<const Blob*> SeaSources::blob(const std::string& name, Diagnostics& diagnostics) {
    if (const Blob* compiled = library_.find(name)) return compiled;
    const std::int64_t begin_ns = monotonic_ns();
    const Result<CompiledSource> compiled = compile(name, inputs_, diagnostics, files_);
    if (!compiled) return compiled.status();
    Result<const Blob*> loaded = library_.load(compiled->blob);
    if (!loaded) return loaded.status();
    names_.push_back(name);
    if (Status status = sea_.world.adopt_schemas(**loaded); !status) return status;
    sea_.counts.compile_ms += milliseconds_since(begin_ns);
    return loaded;
}

void SeaSources::watch() { watch_.set(files_, begin_wall_ns_); }

Status SeaSources::reload(Diagnostics& diagnostics, std::string& line) {
    const std::int64_t begin_ns = monotonic_ns(), begin_wall_ns = wall_clock_ns();
    Inputs inputs;
    if (Status status = read_inputs(inputs, diagnostics); !status) return status;
    std::vector<CompiledSource> all;
    std::vector<std::string> files = {schema_path()};
    for (const std::string& name : names_) {
        Result<CompiledSource> compiled = compile(name, inputs, diagnostics, files);
        if (!compiled) {
            files.insert(files.end(), files_.begin(), files_.end());
            return watch_.set(std::move(files), begin_wall_ns), compiled.status();
        }
        all.push_back(std::move(*compiled));
    }
    watch_.set(files_ = std::move(files), begin_wall_ns);
    const std::string compiled = concat("; compiled in ", decimal_text(milliseconds_since(begin_ns), 2), " ms\n");
    Status status;
    for (std::size_t i = 0; i < all.size() && status; ++i) {
        if (std::ranges::equal(all[i].blob, library_.find(names_[i])->bytes())) continue;
        Result<Blob> newer = Blob::load(all[i].blob);
        status = newer ? reload(std::move(*newer), line) : newer.status();
    }
    if (!line.empty()) line = concat("reloaded ", line, compiled);
    return status;
}

Status SeaSources::reload(Blob newer, std::string& line) {
    const std::string name(newer.name());
    const std::int64_t begin_ns = monotonic_ns();
    Result<Blob> before = library_.replace(std::move(newer));
    if (!before) return before.status();
    const Result<ReloadReport> report = sea_.reloader->reload(*before, *library_.find(name));
    if (!report) {
        static_cast<void>(library_.replace(std::move(*before)));
        return report.status();
    }
    line += concat(line.empty() ? "" : ", ", name, " (", count_text(report->num_changed), " changed, ",
                   count_text(report->num_created), " new, ", count_text(report->num_destroyed), " gone, in ",
                   decimal_text(milliseconds_since(begin_ns), 2), " ms)");
    return {};
}

}  // namespace reef
