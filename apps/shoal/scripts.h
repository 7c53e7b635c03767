#pragma once
// Scripts that are given with --script. They run in a level, or declare component types for sources. A tool that was
// built without LuaJIT reports an error instead.

#include "arguments.h"
#include "shoal/base/status.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/world/world.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace shoal_tool {

inline constexpr Flag kScriptFlag{
    .name = "script",
    .value = "FILE.lua",
    .help =
        "load a script in Lua, whose component types and compile functions sources may name; several are loaded in "
        "their order",
    .takes = Takes::kInput,
    .repeats = true};

/// The scripts that run in a level's world, until the world is destroyed.
class LevelScripts {
public:
    /// `is_quiet` hides the scripts' log messages.
    explicit LevelScripts(shoal::World& world, bool is_quiet = false);
    LevelScripts(const LevelScripts&) = delete;
    LevelScripts& operator=(const LevelScripts&) = delete;
    ~LevelScripts();

    shoal::Status load(std::span<const std::string> paths);
    shoal::World& world() const;
    /// Reloads scripts whose files have changed, and calls `tell` with the results.
    void look(const std::function<void(const std::string& line)>& tell);
    /// Registers the scripts' component types with their compile functions.
    shoal::Status register_components(shoal::ComponentRegistry& registry) const;
    /// Return how many calls to script functions have failed, and the last failure.
    std::uint64_t num_failures() const;
    std::string last_failure() const;

private:
    struct Loaded;
    Loaded* loaded_;
};

/// Scripts that declare component types for sources. They run in a world without entities.
class SourceScripts {
public:
    /// First creates a store for each component type of `known`. Errors: a script does not load.
    shoal::Status load(std::span<const std::string> paths, const shoal::ComponentRegistry& known);
    /// Sets `any` to whether the scripts declare any types. Errors: a name is already registered for a different type
    /// or function.
    shoal::Status register_components(shoal::ComponentRegistry& registry, bool& any) const;

private:
    shoal::EntityManager entities_;
    shoal::World world_{entities_};
    LevelScripts scripts_{world_, true};
};

/// Errors: standard input was named as a script.
shoal::Status check_script_paths(std::span<const std::string> paths);

/// Returns type annotations of component types, for Lua editors. Errors: the tool was built without LuaJIT.
shoal::Result<std::string> annotations_of(std::span<const shoal::Schema* const> schemas);

}  // namespace shoal_tool
