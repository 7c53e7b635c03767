#pragma once
// The sources of the sea. They are compiled when they are first used, and recompiled when they are edited.

#include "sea.h"

#include <shoal/base/file_watch.h>
#include <shoal/source/compiler.h>

#include <string>
#include <vector>

namespace reef {

class SeaSources {
public:
    /// Lifetime: `sea` must outlive this object.
    explicit SeaSources(Sea& sea) : sea_(sea) {}

    /// Registers the C++ component types, and then the component types in the schema file.
    Status prepare(shoal::Diagnostics& diagnostics);
    /// Returns the blob called `name`. The first call compiles it. Lifetime: as long as this object; reload() replaces
    /// the content.
    shoal::Result<const shoal::Blob*> blob(const std::string& name, shoal::Diagnostics& diagnostics);

    /// Starts to watch the files, so that has_changed() detects edits.
    void watch();
    bool has_changed() { return watch_.has_changed(); }
    /// Compiles all used sources again, and reloads the entities that were spawned from changed sources. `line` names
    /// the changed sources, or is empty. Errors: a source has an error; a source cannot be reloaded. If a source has an
    /// error, nothing is reloaded. If a source cannot be reloaded, its entities and the entities from later sources do
    /// not change.
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
    std::vector<std::string> names_;  // names of the blobs in the library
    std::vector<std::string> files_;  // files that were read or searched for
    std::int64_t begin_wall_ns_ = 0;  // time before the first file was read
    shoal::FileWatch watch_;
};

}  // namespace reef
