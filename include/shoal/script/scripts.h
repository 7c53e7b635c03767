#pragma once
// Runs scripts in Lua in a world: passes, queries, commands, events, observers and component types, without a compiler.
//
//     Scripts scripts(world);
//     if (Status status = scripts.load(path); !status) return status;        // file, line, why, and a traceback
//     world.step(0.5f);                                                      // passes of the script run, too
//     if (Status status = scripts.reload("wheels"); !status) return status;  // the file was edited
//     return scripts.run("shoal.log(#shoal.find('wheel'))", "console");
//
// A script has its own environment, with a table `shoal` (see docs/guide/scripts.md):
//
//     shoal.component{name = "wheel", fields = {{"angle", "float"}, {"speed", "float"}}}
//     shoal.pass{name = "turn", query = "&wheel", columns = {"wheel.angle", "wheel.speed"},
//                run = function(frame, batch, angle, speed)
//                    for i = 0, batch.count - 1 do angle[i] = angle[i] + speed[i] * frame.dt end
//                end}
//
// An entity is a light userdata: the 30 bits of its id, and a tag in the upper two bits, 2 for an entity and 3 for one
// that a command will create. Null is nil. So an entity takes no memory, and any other light userdata is refused.
//
//     bits    31 30 | 29 ........ 22 | 21 ................... 0
//              tag  |   generation   |          index
//
// Safety. Scripts have no access to files, other libraries or bytecode. Every access to a column is checked, and
// columns are valid during the call that they were passed to. All scripts of one Scripts share a memory budget. Each
// call from the program into a script, such as a load or a run of a pass, has a budget of steps. A script that exceeds
// its budget ends with an error, and the world goes on.
//
//     load      compile | run the text                              on an error: what it has made is removed
//     reload    compile | suspend the old | run the new             on an error: the old one continues
//     pass      errors are logged with a traceback; the pass runs again in the next frame
//
// Queries, passes and observers of scripts use the new table when Reloader::reload() changes the fields of a component
// type. Parts that need a removed store are paused, with a line in the log, until there is one again.
// Lua passes declare what they access, and that they use the Lua state: they run one at a time, in parallel with C++
// passes. This is built with LuaJIT, as the target shoal::script, with 32-bit ids. Lifetime: the world outlives the
// scripts. Thread: the structural thread of the world, between its steps.

#include "shoal/base/detail/array.h"
#include "shoal/base/status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

class ComponentRegistry;
class World;

struct ScriptOptions {
    std::size_t memory_bytes = std::size_t(64) << 20;  ///< the limit for all scripts, including Lua's own state
    bool is_quiet = false;             ///< hides what scripts log, for scripts that are only loaded to compile sources
    std::uint64_t steps = 50'000'000;  ///< per call: iterations and calls under LuaJIT, instructions under Lua 5.4
    /// Compiles a source that a script spawns as text, and appends the blob to `bytes`; nullptr: scripts can only spawn
    /// blobs.
    Status (*compile)(void* context, std::string_view source, Array<std::byte>& bytes) = nullptr;
    void* compile_context = nullptr;
};

/// A loaded script. Lifetime of the views: until the script is reloaded or unloaded.
struct ScriptInfo {
    std::string_view name;
    std::string_view path;  ///< empty: the script was run from a text
};

class Scripts {
public:
    SHOAL_API explicit Scripts(World& world, const ScriptOptions& options = {});
    Scripts(const Scripts&) = delete;
    Scripts& operator=(const Scripts&) = delete;
    /// Unloads all scripts, in the reverse order of loading.
    SHOAL_API ~Scripts();

    /// Loads a script from a file, named like the file without folder and extension. Errors: the file cannot be read;
    /// its name is taken; it is not valid Lua, or raised an error (the message then has a traceback). What the script
    /// has made is removed.
    SHOAL_API Status load(const std::string& path);
    /// Runs a text in the script `name`, which is created if missing. Errors: as above; what a text has made in an
    /// existing script stays.
    SHOAL_API Status run(std::string_view text, std::string_view name);
    /// Replaces a script by the current version of its file; its table `keep` is kept. Errors: the same as load(), and
    /// the old version continues; there is no such script; the script has no file.
    SHOAL_API Status reload(std::string_view name);
    /// Removes passes, queries, observers, stores and channels of a script. Errors: there is no such script.
    SHOAL_API Status unload(std::string_view name);

    /// Registers the component types that scripts have declared, with their compile functions, for compiling sources.
    /// Errors: the registry has another type, or another function, of one of the names.
    /// Lifetime: do not compile with the registry after one of the scripts was reloaded or unloaded.
    /// Thread: sources may be compiled on several threads while nothing else uses the scripts; compile functions are
    /// called one at a time, because a Lua state is single-threaded.
    SHOAL_API Status register_components(ComponentRegistry& registry) const;

    /// Scripts are numbered in the order in which they were loaded.
    SHOAL_API std::size_t num_scripts() const;
    /// Requires: index < num_scripts().
    SHOAL_API ScriptInfo script(std::size_t index) const;

    /// Returns the last error in a script function that a world called: in a pass, an observer or a store.
    SHOAL_API const Status& last_failure() const;
    /// The number of such failures.
    SHOAL_API std::uint64_t num_failures() const;
    /// The bytes that Lua uses now.
    SHOAL_API std::size_t memory_used() const;
    /// "LuaJIT 2.1", "Lua 5.4".
    SHOAL_API static std::string_view version();

private:
    struct Shared;
    Shared* shared_;
};

}  // namespace shoal
