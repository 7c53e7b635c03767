#pragma once
// Plugins that the tool loads without a level: for the component types that sources name, and for verbs.

#include "arguments.h"
#include "console.h"
#include "shoal/plugin/plugins.h"
#include "shoal/world/world.h"

#include <optional>

namespace shoal_tool {

inline constexpr Flag kPluginFlag{
    .name = "plugin",
    .value = "FILE.so",
    .help = "load a plugin, whose component types sources may name; several are loaded in their order",
    .takes = Takes::kInput,
    .repeats = true};

/// A world without entities, and the plugins in it.
class LoadedPlugins {
public:
    /// Makes a store for each component type of `known` first, because plugins may ask for them. Errors: a plugin does
    /// not load.
    shoal::Status load(std::span<const std::string> paths, const shoal::ComponentRegistry& known);
    shoal::Plugins& plugins() { return plugins_; }

    /// Returns the index of a verb of a plugin.
    std::optional<std::size_t> find_verb(std::string_view name) const;
    /// Returns lines about these verbs for the help; empty if there are none.
    std::string list_of_verbs() const;
    /// Returns the manual of such a verb.
    std::string manual_of_verb(std::size_t verb) const;
    /// Runs such a verb. Returns the exit code.
    int run_verb(std::size_t verb, std::span<const std::string_view> words, Console& console);

private:
    shoal::EntityManager entities_;
    shoal::World world_{entities_};
    shoal::Plugins plugins_{world_};
};

/// Errors: standard input was named as a plugin.
shoal::Status check_plugin_paths(std::span<const std::string> paths);

}  // namespace shoal_tool
