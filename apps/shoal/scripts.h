#pragma once
// Scripts of `shoal run --script`. Built without LuaJIT, the tool says so instead.

#include "shoal/base/status.h"
#include "shoal/world/world.h"

#include <functional>
#include <string>
#include <vector>

namespace shoal_tool {

/// The scripts that run in the world of a level, until it ends.
class LevelScripts {
public:
    explicit LevelScripts(shoal::World& world);
    LevelScripts(const LevelScripts&) = delete;
    LevelScripts& operator=(const LevelScripts&) = delete;
    ~LevelScripts();

    shoal::Status load(const std::vector<std::string>& paths);
    /// Loads those again whose files have changed, or all of them, because the level has, and tells what came of it.
    void look(bool all, const std::function<void(const std::string& line)>& tell);

private:
    struct Loaded;
    Loaded* loaded_;
};

/// Returns annotations of component types for editors of scripts. Errors: the tool was built without LuaJIT.
shoal::Result<std::string> annotations_of(std::span<const shoal::Schema* const> schemas);

}  // namespace shoal_tool
