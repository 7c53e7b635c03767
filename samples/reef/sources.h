#pragma once
// The sources of the sea, compiled at their first use, and compiled again when they are edited.

#include "sea.h"

#include <shoal/base/file_watch.h>
#include <shoal/source/compiler.h>

#include <string>
#include <vector>

namespace reef {

class SeaSources {
public:
    /// `sea` outlives it.
    explicit SeaSources(Sea& sea) : sea_(sea) {}

    /// Registers the C++ component types, then those of the schema file.
    Status prepare(shoal::Diagnostics& diagnostics);
    /// Compiles `name` at its first use. Lifetime of the result: as long as this object; reload() replaces the content.
    shoal::Result<const shoal::Blob*> blob(const std::string& name, shoal::Diagnostics& diagnostics);

    /// From now on, has_changed() detects edited files.
    void watch();
    bool has_changed() { return watch_.has_changed(); }
    /// Compiles all used sources again, and reloads what was spawned from those that differ. `line` names the sources
    /// that differ; it is empty if there are none. Errors: a source has an error: then nothing is reloaded; or one
    /// cannot be reloaded: then its entities, and those of later ones, stay unchanged.
    shoal::Status reload(shoal::Diagnostics& diagnostics, std::string& line);

private:
    struct Inputs {
        shoal::ComponentRegistry registry;
        shoal::CompileOptions options;
    };
    std::string schema_path() const { return sea_.options.sources + "/reef.schema.sjson"; }
    Status read_inputs(Inputs& inputs, shoal::Diagnostics& diagnostics) const;
    shoal::Result<shoal::CompiledSource> compile(const std::string& name, const Inputs& inputs,
                                                 shoal::Diagnostics& diagnostics,
                                                 std::vector<std::string>& files) const;
    Status reload(shoal::Blob newer, std::string& line);

    Sea& sea_;
    Inputs inputs_;
    shoal::ResourceLibrary library_;
    std::vector<std::string> names_;  // of blobs in the library
    std::vector<std::string> files_;  // files that they were made from, or that were searched for
    std::int64_t begin_wall_ns_ = 0;  // before the first of them was read
    shoal::FileWatch watch_;
};

}  // namespace reef
