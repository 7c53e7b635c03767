#pragma once
// A level that the tool runs, from a source or a blob, and what to do when it changes while it runs.

#include "shoal/base/file_watch.h"
#include "shoal/reload/reloader.h"
#include "shoal/world/world.h"
#include "sources.h"

#include <memory>
#include <vector>

namespace shoal_tool {

/// The files that a level is made from, and those that were looked for.
struct LevelFiles {
    std::vector<std::string> paths;
    std::int64_t begin_wall_ns = 0;  ///< before the first one was read
};
struct LoadedLevel {
    shoal::Blob blob;
    LevelFiles files;
    std::int64_t load_ns = 0;
    bool is_blob = false;  ///< it was a blob, perhaps of older component types than the schema files declare
};

/// Reads the blob, or compiles the source, at `path`. Errors: in the session's diagnostics; `tried` has the files.
std::optional<LoadedLevel> load_level(const Arguments& arguments, Files& files, Console& console,
                                      const std::string& path, SourceSession& session, LevelFiles& tried);
/// Shows what is wrong with a level, and loads it again whenever its files change until it can be loaded, or somebody
/// interrupts: then there is none.
std::optional<LoadedLevel> wait_for_level(const Arguments& arguments, Files& files, Console& console,
                                          const std::string& path, std::optional<SourceSession>& session,
                                          LevelFiles tried);
/// Adds the blob to a library without copying it. A blob without a name is found by no value, so it stays out.
shoal::Status add_view(shoal::ResourceLibrary& library, const shoal::Blob& blob);
/// Makes the stores of the blob's component types, those that passes use as they need them.
void make_stores(shoal::World& world, const shoal::Blob& blob);
/// Puts point masses where the transforms of their entities are.
void place_masses(shoal::World& world, std::span<const shoal::Entity> entities);

/// Loads a level again when one of its files has changed, and reloads what was spawned from it.
class LevelWatch {
public:
    /// All outlive the object. `world` has spawned `level`, which the library has if it has a name.
    LevelWatch(const Arguments& arguments, Files& files, Console& console, shoal::World& world,
               shoal::Reloader& reloader, shoal::ResourceLibrary& library, LoadedLevel& level);

    /// Does so if a file has changed and has rested, and prints a line about it, or what is wrong with the source: once, and
    /// then the world stays as it is.
    void look();
    std::uint64_t num_reloads() const { return num_reloads_; }

private:
    void load_again();
    void reload(LoadedLevel newer);
    shoal::Status exchange(const LoadedLevel& newer, std::int64_t& reload_ns, std::string& text);
    void fail(const std::string& text);

    const Arguments& arguments_;
    Files& files_;
    Console& console_;
    shoal::World& world_;
    shoal::Reloader& reloader_;
    shoal::ResourceLibrary& library_;
    LoadedLevel& level_;
    shoal::FileWatch watch_;
    std::string told_;  // the errors that were printed last
    std::uint64_t num_reloads_ = 0;
};

}  // namespace shoal_tool
