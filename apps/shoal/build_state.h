#pragma once
// For each blob in a folder, records the files that it was made from. `shoal compile FOLDER` writes the record to
// `.shoal_build`:
//
//     shoal build state 1 0x0123456789abcdef      version of this format, hash of the rest
//     { "sources": "../levels", ... }             JSON; files and component types have numbers, used by outputs
//
// The file is only an optimisation: if it is missing or damaged, everything is recompiled.

#include "shoal/source/inputs.h"

#include <vector>

namespace shoal_tool {

/// A blob that was written by a build.
struct BuiltOutput {
    std::string path;         ///< relative to the output folder: "reef/coral.blob"
    std::string source;       ///< relative to the source folder: "reef/coral.sjson"
    std::uint64_t hash = 0;   ///< content_hash() of the blob, or 0 if there is no blob yet
    bool has_failed = false;  ///< whether the last compilation failed, so that the blob is out of date
    std::uint64_t num_warnings = 0;
    shoal::SourceInputs inputs;
};

/// The stamp of a file, and the hash of its content at the time of the stamp.
struct StampedFile {
    std::string path;
    shoal::FileStamp stamp;
    std::uint64_t hash = 0;
};

struct BuildState {
    std::string sources;  ///< the source folder, relative to the output folder
    std::string options;  ///< the options that all outputs were compiled with
    std::vector<BuiltOutput> outputs;
    std::vector<StampedFile> files;
};

inline constexpr std::string_view kBuildStateName = ".shoal_build";

/// Returns a state in text form. Requires: all outputs, except failed ones, were made with the same compiler and rules.
std::string write_build_state(const BuildState& state);
/// Errors: the text is not a state, is damaged, or has a different version.
shoal::Result<BuildState> read_build_state(std::string_view text);

}  // namespace shoal_tool
