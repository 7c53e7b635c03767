#pragma once
// Runs Lua scripts in a world, with passes, queries, commands, events, observers and component types.
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
// An entity is a light userdata: the lower 30 bits are its id, and the upper two bits are a tag, 2 for an entity and 3
// for one that a command will create. The null entity is nil. An entity thus uses no memory, and all other light
// userdata are refused.
//
//     bits    31 30 | 29 ........ 22 | 21 ................... 0
//              tag  |   generation   |          index
//
// Safety. Scripts cannot use files, other libraries or bytecode. Every access to a column is checked, and columns are
// only valid during the call that receives them. All scripts of a Scripts object share a memory budget. Each call from
// the program into a script, such as a load or a run of a pass, has a budget of steps. A call that exceeds its budget
// fails with an error, and the world continues.
//
//     load      compile | run the text                              on an error: what it has made is removed
//     reload    compile | suspend the old | run the new             on an error: the old one continues
//     pass      errors are logged with a traceback; the pass runs again in the next frame
//
// Queries, passes and observers of scripts use the new table when Reloader::reload() changes the fields of a component
// type. Those that need a removed store are paused until the store exists again, and this is logged.
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
    std::size_t memory_bytes = std::size_t(64) << 20;  ///< limit for all scripts together, including Lua's own state
    bool is_quiet = false;             ///< hides log output of scripts, if they are only loaded to compile sources
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

    /// Loads a script from a file; its name is the file name without folder and extension. Errors: the file cannot be
    /// read; the name is taken; the text is not valid Lua, or raised an error (the message then has a traceback).
    /// Everything that the script has made is then removed.
    SHOAL_API Status load(const std::string& path);
    /// Runs a text in the script `name`, which is created if missing. Errors: as above; objects that the text has made
    /// in an existing script remain.
    SHOAL_API Status run(std::string_view text, std::string_view name);
    /// Replaces a script with the current version of its file; its table `keep` is kept. Errors: the same as load();
    /// there is no such script; the script has no file. The old version then continues to run.
    SHOAL_API Status reload(std::string_view name);
    /// Removes passes, queries, observers, stores and channels of a script. Errors: there is no such script.
    SHOAL_API Status unload(std::string_view name);

    /// Registers the component types that scripts have declared, with their compile functions, for compiling sources.
    /// Errors: the registry has another type or another function under one of the names.
    /// Lifetime: do not compile with the registry after one of the scripts has been reloaded or unloaded.
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
    /// The number of bytes that Lua currently uses.
    SHOAL_API std::size_t memory_used() const;
    /// Returns "LuaJIT 2.1" or "Lua 5.4".
    SHOAL_API static std::string_view version();

private:
    struct Shared;
    Shared* shared_;
};

}  // namespace shoal
