#pragma once
// The sources of the sea, compiled at their first use, and recompiled when they are edited.

#include "sea.h"

#include <shoal/base/file_watch.h>
#include <shoal/source/compiler.h>

#include <string>
#include <vector>

namespace reef {

class SeaSources {
public:
    /// Lifetime: `sea` outlives this object.
    explicit SeaSources(Sea& sea) : sea_(sea) {}

    /// Registers the C++ component types, and then the component types of the schema file.
    Status prepare(shoal::Diagnostics& diagnostics);
    /// Compiles `name` at its first use. Lifetime of the result: as long as this object; reload() replaces the content.
    shoal::Result<const shoal::Blob*> blob(const std::string& name, shoal::Diagnostics& diagnostics);

    /// From now on, has_changed() detects edited files.
    void watch();
    bool has_changed() { return watch_.has_changed(); }
    /// Compiles all used sources again, and reloads the entities that were spawned from changed sources. `line` names
    /// the changed sources; it is empty if there are none. Errors: a source has an error, and nothing is reloaded; or a
    /// source cannot be reloaded, and its entities, and the entities of later sources, stay unchanged.
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
    std::int64_t begin_wall_ns_ = 0;  // when the first file was about to be read
    shoal::FileWatch watch_;
};

}  // namespace reef
