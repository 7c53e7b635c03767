#pragma once
// Plugins that the tool loads without a level, because they declare component types for sources, or add verbs.

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

/// Plugins that are loaded into a world without entities.
class LoadedPlugins {
public:
    /// First creates a store for each component type of `known`, because plugins may need them. Errors: a plugin does
    /// not load.
    shoal::Status load(std::span<const std::string> paths, const shoal::ComponentRegistry& known);
    shoal::Plugins& plugins() { return plugins_; }

    /// Returns the index of the plugin verb with this name.
    std::optional<std::size_t> find_verb(std::string_view name) const;
    /// Returns the lines of the help that list the plugins' verbs, or an empty string.
    std::string list_of_verbs() const;
    /// Returns the manual of a plugin's verb.
    std::string manual_of_verb(std::size_t verb) const;
    /// Runs a plugin's verb. Returns the exit code.
    int run_verb(std::size_t verb, std::span<const std::string_view> words, Console& console);

private:
    shoal::EntityManager entities_;
    shoal::World world_{entities_};
    shoal::Plugins plugins_{world_};
};

/// Errors: standard input was named as a plugin.
shoal::Status check_plugin_paths(std::span<const std::string> paths);

}  // namespace shoal_tool
