#pragma once
// A level that the tool runs, from a source or a blob, and how it is reloaded when it changes.

#include "shoal/base/file_watch.h"
#include "shoal/reload/reloader.h"
#include "shoal/world/world.h"
#include "sources.h"

#include <memory>
#include <vector>

namespace shoal_tool {

/// The files from which a level is made, including files that were only searched for.
struct LevelFiles {
    std::vector<std::string> paths;
    std::int64_t begin_wall_ns = 0;  ///< time before the first file was read
};
struct LoadedLevel {
    shoal::Blob blob;
    LevelFiles files;
    std::int64_t load_ns = 0;
    bool is_blob = false;  ///< read from a blob, whose component types may be older than the schema files
};

/// Reads the blob, or compiles the source, at `path`. Errors: in the session's diagnostics; `tried` has the files.
std::optional<LoadedLevel> load_level(const Arguments& arguments, Files& files, Console& console,
                                      const std::string& path, SourceSession& session, LevelFiles& tried);
/// Shows the errors of a level, and reloads it whenever its files change, until that succeeds or the user
/// interrupts; then returns nothing.
std::optional<LoadedLevel> wait_for_level(const Arguments& arguments, Files& files, Console& console,
                                          const std::string& path, std::optional<SourceSession>& session,
                                          LevelFiles tried);
/// Adds the blob to a library without copying it. A blob without a name cannot be referred to, so it is skipped.
shoal::Status add_view(shoal::ResourceLibrary& library, const shoal::Blob& blob);
/// Makes the stores that the tool's passes use, for component types of the blob.
void make_stores(shoal::World& world, const shoal::Blob& blob);
/// Moves point masses to the transforms of their entities.
void place_masses(shoal::World& world, std::span<const shoal::Entity> entities);

/// Loads a level again when one of its files has changed, and reloads its entities.
class LevelWatch {
public:
    /// All arguments outlive the object. `world` has spawned `level`, which is in the library if it has a name.
    LevelWatch(const Arguments& arguments, Files& files, Console& console, shoal::World& world,
               shoal::Reloader& reloader, shoal::ResourceLibrary& library, LoadedLevel& level);

    /// Reloads if a file has changed and is no longer being written, and prints a line about the reload. If the source
    /// has errors, prints them once; the world stays unchanged.
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
    std::string told_;  // the last errors printed
    std::uint64_t num_reloads_ = 0;
};

}  // namespace shoal_tool
