#pragma once
// Loads plugins, shared libraries that know the C interface of shoal_abi.h and nothing else, into a world.
//
//     Plugins plugins(world);
//     if (Status status = plugins.load(path); !status) return status;        // which file, and why
//     world.step(0.5f);                                                      // passes of the plugin run, too
//     if (Status status = plugins.reload("wheels"); !status) return status;  // the file was built again
//     world.step(0.5f);
//     return plugins.unload("wheels");
//
// Rows lie in stores of the world, so they outlive the code. A plugin declares its component types when it loads: if they
// have other fields than before, rows keep what fits by name and type, as in Reloader::reload(). What a plugin has made
// otherwise goes with it, in this order: passes, observers, queries, verbs, what it gave for component types, its
// stores with their data, the last first; then its unload() is called, and channels of events are closed behind.
//
//     load      copy the file | check what it exports | its load()                      an error: all of that is taken back
//     reload    copy, check | save stores | unload() of the old | load() of the new     an error: the old one is loaded again
//     unload    all of the above | its unload() | channels | close the file
//
// When a load() fails, the entities and component types that it has made are gone, and rows have their old fields; what
// it has done to entities that were there stays. After a reload, the passes of a plugin come behind all others, but for
// what runs_after and runs_before say. Passes that name one of an unloaded plugin in after() or before() are not
// ordered by it any more.
// A store of a plugin stays while a pass of the program, or another plugin, uses it; other queries of the program that
// name its component type end before. When the world gets other fields for a component type, queries of plugins are
// made anew.
// Lifetime: the world outlives the plugins.
// Thread: the structural thread of the world, between its steps.

#include "shoal/base/array.h"
#include "shoal/base/status.h"

#include <span>
#include <string>
#include <string_view>

namespace shoal {

class ComponentRegistry;
class World;

/// A plugin that is loaded. Lifetime of the views: until it is reloaded or unloaded.
struct PluginInfo {
    std::string_view name, version, path;
};

/// A verb of the tool that a plugin gives. Lifetime of the views: as above.
struct PluginVerbInfo {
    std::string_view name, summary, operands;
};

class Plugins {
public:
    SHOAL_API explicit Plugins(World& world);
    Plugins(const Plugins&) = delete;
    Plugins& operator=(const Plugins&) = delete;
    /// Unloads all of them, the last first.
    SHOAL_API ~Plugins();

    /// Loads a plugin from a file. Errors: the file is no plugin, or one for another version or other entities; its name is
    /// taken; another plugin that it depends on is not loaded; its load() failed. The message names the file and says why;
    /// the world is as it was.
    SHOAL_API Status load(const std::string& path);
    /// Errors: there is no such plugin; another one depends on it; a pass of the program, or another plugin, uses one of its
    /// stores. Nothing has changed. Otherwise the log says which data go with its stores.
    SHOAL_API Status unload(std::string_view name);
    /// Exchanges a plugin for what its file has become. Errors: as of load(), and then the old one works on; if that fails to
    /// load again, it is gone, and the message says so.
    SHOAL_API Status reload(std::string_view name);

    /// In the order of loading.
    std::size_t num_plugins() const { return loaded_.size(); }
    /// Requires: index < num_plugins().
    SHOAL_API PluginInfo plugin(std::size_t index) const;

    /// Registers the component types that plugins have declared, with their compile functions and migrations, for
    /// whoever compiles sources. Errors: the registry has another type, or other functions, of one of the names.
    /// Lifetime: nothing is compiled with the registry after one of the plugins was reloaded or unloaded.
    SHOAL_API Status register_components(ComponentRegistry& registry) const;

    /// In the order of loading.
    SHOAL_API std::size_t num_verbs() const;
    /// Requires: index < num_verbs().
    SHOAL_API PluginVerbInfo verb(std::size_t index) const;
    /// Runs a verb with what stands behind it. print(context, text) is called with what it says.
    /// Errors: it failed; the message says why. Requires: as above.
    SHOAL_API Status run_verb(std::size_t index, std::span<const std::string> words,
                              void (*print)(void* context, std::string_view text), void* context);

private:
    struct Loaded;
    struct Shared;
    std::size_t find(std::string_view name) const;
    Result<Loaded*> open(const std::string& path) const;
    Status check_needs(const Loaded& opened) const;
    Status start(Loaded& opened, bool was_ordered);
    void stop(Loaded& loaded);
    static void destroy(Loaded* loaded);
    Status exchange(std::size_t index, Loaded* newer);

    Shared* shared_;
    Array<Loaded*> loaded_{Owner("plugins")};
};

}  // namespace shoal
