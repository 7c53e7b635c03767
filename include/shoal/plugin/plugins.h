#pragma once
// Loads plugins into a world. Plugins are shared libraries that use only the C interface in shoal_abi.h.
//
//     Plugins plugins(world);
//     if (Status status = plugins.load(path); !status) return status;        // which file, and why
//     world.step(0.5f);                                                      // passes of the plugin run, too
//     if (Status status = plugins.reload("wheels"); !status) return status;  // the file was built again
//     world.step(0.5f);
//     return plugins.unload("wheels");
//
// Rows are in the world's stores, so they outlive the plugin. A plugin declares its component types when it is loaded.
// If the fields of a type have changed, rows keep the values that match by name and type, as in Reloader::reload().
// Everything else that a plugin has made is removed with it, in this order: passes, observers, queries, verbs,
// functions for component types, and finally its stores (newest first) with their data. Then its unload() is called,
// and its event channels are closed.
//
//     load      copy the file | check its exports | its load()                     on an error: all is undone
//     reload    copy, check | save stores | unload() of the old | load() of the new    on an error: loads the old again
//     unload    all of the above | its unload() | channels | close the file
//
// If load() fails, the entities and component types that it has made are removed, and rows get their old fields back.
// Its changes to existing entities stay. After a reload, the passes of a plugin run after all other passes, unless
// runs_after and runs_before give another order. After a plugin is unloaded, other passes' after() and before() ignore
// the names of its passes. A plugin's store cannot be removed while a pass of the program, or another plugin, uses the
// store. If a query outside of passes names the store's component type, the program must destroy the query first. When
// the fields of a component type change, plugins' queries are recreated.
// Lifetime: the world outlives the plugins.
// Thread: the structural thread of the world, between its steps.

#include "shoal/base/detail/array.h"
#include "shoal/base/status.h"

#include <span>
#include <string>
#include <string_view>

namespace shoal {

class ComponentRegistry;
class World;

/// A loaded plugin. Lifetime: the views are valid until the plugin is reloaded or unloaded.
struct PluginInfo {
    std::string_view name, version, path;
};

/// A verb that a plugin adds to the tool. Lifetime: the views are valid until the plugin is reloaded or unloaded.
struct PluginVerbInfo {
    std::string_view name, summary, operands;
};

class Plugins {
public:
    SHOAL_API explicit Plugins(World& world);
    Plugins(const Plugins&) = delete;
    Plugins& operator=(const Plugins&) = delete;
    /// Unloads all plugins, in the reverse order of loading.
    SHOAL_API ~Plugins();

    /// Loads a plugin from a file. Errors: the file is not a plugin, the plugin was built for a different version or
    /// entity size, its name is taken, a plugin that it depends on is not loaded, or its load() failed. On error, the
    /// world is unchanged, and the message names the file and the reason.
    SHOAL_API Status load(const std::string& path);
    /// Errors: the plugin does not exist, another plugin depends on it, or a pass of the program or another plugin uses
    /// one of its stores. On error, nothing has changed. On success, the log lists the data that is lost with the
    /// plugin's stores.
    SHOAL_API Status unload(std::string_view name);
    /// Replaces a plugin with the current version of its file. Errors: those of load(). On error, the old version
    /// continues to run. If it cannot be loaded again, the plugin is removed, and the message says so.
    SHOAL_API Status reload(std::string_view name);

    /// Plugins are numbered in the order in which they were loaded.
    std::size_t num_plugins() const { return loaded_.size(); }
    /// Requires: index < num_plugins().
    SHOAL_API PluginInfo plugin(std::size_t index) const;

    /// Registers the component types that plugins have declared, and their compile functions and migrations, so that
    /// sources can use them. Errors: the registry has a different type or different functions under one of the names.
    /// Lifetime: do not compile with the registry after one of the plugins has been reloaded or unloaded.
    SHOAL_API Status register_components(ComponentRegistry& registry) const;

    /// Verbs are numbered in the order in which their plugins were loaded.
    SHOAL_API std::size_t num_verbs() const;
    /// Requires: index < num_verbs().
    SHOAL_API PluginVerbInfo verb(std::size_t index) const;
    /// Runs a verb with the words that follow it. Its output is passed to print(context, text).
    /// Errors: the verb failed; the message says why. Requires: index < num_verbs().
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
