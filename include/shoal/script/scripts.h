#pragma once
// Runs Lua scripts in a world. Scripts can use passes, queries, commands, events, observers and component types.
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
// An entity is a light userdata. The lower 30 bits are its id. The upper two bits are a tag, which is 2 for an entity
// and 3 for one that a command will create. The null entity is nil. An entity thus uses no memory, and all other light
// userdata are refused.
//
//     bits    31 30 | 29 ........ 22 | 21 ................... 0
//              tag  |   generation   |          index
//
// Safety. Scripts cannot use files, other libraries or bytecode. Every access to a column is checked, and columns are
// only valid during the call that receives them. All scripts of a Scripts object share a memory budget. Each call from
// the program into a script, such as loading it or running one of its passes, has a budget of steps. A call that
// exceeds its budget fails with an error, and the world continues.
//
//     load      compile | run the text                              on an error: what it has made is removed
//     reload    compile | suspend the old | run the new             on an error: the old one continues
//     pass      errors are logged with a traceback; the pass runs again in the next frame
//
// When Reloader::reload() changes the fields of a component type, scripts' queries, passes and observers use the new
// table. If they need a store that was removed, they are paused until it exists again, and this is logged.
// Lua passes declare their accesses, which include the Lua state, so they run one at a time, in parallel with C++
// passes. The target is shoal::script, which is built with LuaJIT and requires 32-bit ids. Lifetime: the world outlives
// the scripts. Thread: the structural thread of the world, between its steps.

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
    std::size_t memory_bytes = std::size_t(64) << 20;  ///< limit for all scripts and Lua's own state together
    bool is_quiet = false;             ///< hides scripts' log output, if they are only loaded to compile sources
    std::uint64_t steps = 50'000'000;  ///< per call; iterations and calls in LuaJIT, and instructions in Lua 5.4
    /// Compiles a source that a script spawns as text, and appends the blob to `bytes`. If nullptr, scripts can only
    /// spawn blobs.
    Status (*compile)(void* context, std::string_view source, Array<std::byte>& bytes) = nullptr;
    void* compile_context = nullptr;
};

/// A loaded script. Lifetime: the views are valid until the script is reloaded or unloaded.
struct ScriptInfo {
    std::string_view name;
    std::string_view path;  ///< empty if run() created the script
};

class Scripts {
public:
    SHOAL_API explicit Scripts(World& world, const ScriptOptions& options = {});
    Scripts(const Scripts&) = delete;
    Scripts& operator=(const Scripts&) = delete;
    /// Unloads all scripts, in the reverse order of loading.
    SHOAL_API ~Scripts();

    /// Loads a script from a file. Its name is the file name without the folder and the extension. Errors: the file
    /// cannot be read, the name is taken, the file is not valid Lua, or running it raised an error (the message then
    /// has a traceback). On error, everything that the script has made is removed.
    SHOAL_API Status load(const std::string& path);
    /// Runs Lua code as a part of the script `name`, which is created if missing. Errors: the code is not valid Lua, or
    /// raised an error. On error, objects that the code has made in an existing script remain.
    SHOAL_API Status run(std::string_view text, std::string_view name);
    /// Replaces a script with the current version of its file, but keeps its table `keep`. Errors: those of load(), the
    /// script does not exist, or the script has no file. On error, the old version continues to run.
    SHOAL_API Status reload(std::string_view name);
    /// Removes a script with its passes, queries, observers, stores and channels. Errors: the script does not exist.
    SHOAL_API Status unload(std::string_view name);

    /// Registers the component types that scripts have declared, and their compile functions, so that sources can use
    /// them.
    /// Errors: the registry has a different type or a different function under one of the names.
    /// Lifetime: do not compile with the registry after one of the scripts has been reloaded or unloaded.
    /// Thread: sources may be compiled on several threads while nothing else uses the scripts. Compile functions are
    /// called one at a time, because a Lua state is single-threaded.
    SHOAL_API Status register_components(ComponentRegistry& registry) const;

    /// Scripts are numbered in the order in which they were loaded.
    SHOAL_API std::size_t num_scripts() const;
    /// Requires: index < num_scripts().
    SHOAL_API ScriptInfo script(std::size_t index) const;

    /// Returns the last error in a script function that the world called for a pass, an observer or a store.
    SHOAL_API const Status& last_failure() const;
    /// The number of these errors.
    SHOAL_API std::uint64_t num_failures() const;
    /// The number of bytes that Lua currently uses.
    SHOAL_API std::size_t memory_used() const;
    /// Returns "LuaJIT 2.1" or "Lua 5.4".
    SHOAL_API static std::string_view version();

private:
    struct Shared;
    Shared* shared_;
};

}  // namespace shoal
