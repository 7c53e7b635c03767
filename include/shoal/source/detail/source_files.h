#pragma once
// Finds and reads source texts, and records the files that a composition depends on.
//
//     a name in a text            candidates, in this order                       what is recorded
//     "reef/coral"                root 1: reef/coral.sjson .json .unit ...        must not exist (tried, absent)
//                                 root 2: reef/coral.sjson                        was read (found)
//
// A name whose last part has a dot is first tried unchanged. Names are relative to the roots, with parts separated by
// `/`. They must not be absolute or have special parts (`..`, `.`, empty), and links must not lead out of the roots, so
// a source cannot reach files outside the roots.
// Thread: one thread at a time per object.

#include "shoal/base/detail/memory.h"
#include "shoal/base/file.h"
#include "shoal/base/status.h"
#include "shoal/document/detail/document.h"
#include "shoal/document/detail/read_options.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal {

/// Reads source texts by path.
class SourceFiles {
public:
    virtual ~SourceFiles() = default;

    /// Returns whether something exists at a path. Returns true even for a file that cannot be read, so that an error
    /// is reported for it.
    virtual bool exists(const std::string& path) const = 0;
    /// Errors: the file is missing, unreadable or a folder; the message names the path and the reason.
    virtual Result<std::string> read(const std::string& path) = 0;
    /// Returns a file's canonical path, which is the same whichever path leads to the file. It begins with the folder's
    /// canonical path and `/`.
    virtual std::string canonical(const std::string& path) const = 0;
    /// Returns the names of the files in a folder, for suggestions after a mistyped name. May return nothing.
    virtual std::vector<std::string> list(const std::string& /*folder*/) const { return {}; }

    /// Returns the stamp of a file without reading it. If there is none, only the content shows whether the file has
    /// changed.
    virtual FileStamp stamp(const std::string& /*path*/) const { return {}; }
    /// Returns the current time of the clock that the stamps use.
    virtual std::int64_t now_ns() const { return 0; }
};

/// Reads files from disk.
class DiskFiles final : public SourceFiles {
public:
    SHOAL_API bool exists(const std::string& path) const override;
    SHOAL_API Result<std::string> read(const std::string& path) override;
    SHOAL_API std::string canonical(const std::string& path) const override;
    SHOAL_API std::vector<std::string> list(const std::string& folder) const override;
    SHOAL_API FileStamp stamp(const std::string& path) const override;
    SHOAL_API std::int64_t now_ns() const override;
};

/// Source texts in memory, for tests and for tools that generate sources.
class MemoryFiles final : public SourceFiles {
public:
    /// Adds or replaces the text at a path.
    SHOAL_API void add(std::string path, std::string text);
    SHOAL_API void remove(const std::string& path);

    SHOAL_API bool exists(const std::string& path) const override;
    SHOAL_API Result<std::string> read(const std::string& path) override;
    std::string canonical(const std::string& path) const override { return path; }
    SHOAL_API std::vector<std::string> list(const std::string& folder) const override;

    /// The number of calls to read().
    std::size_t num_reads() const { return num_reads_; }

private:
    const std::string* find(const std::string& path) const;

    std::vector<std::pair<std::string, std::string>> texts_;  // sorted by path
    std::size_t num_reads_ = 0;
};

/// Extensions that are tried, in this order, for a name without an extension.
inline constexpr std::string_view kSourceExtensions[] = {".sjson", ".json", ".unit", ".level", ".yaml", ".yml"};

enum class SourceFormat : std::uint8_t { kSjson, kJson, kYaml };

/// Returns the format for a file name: JSON for .json, YAML for .yaml and .yml, and otherwise SJSON.
SHOAL_API SourceFormat source_format(std::string_view file_name);

/// Reads a file that `diagnostics` holds, in the format that the file's name indicates.
/// Errors: reported to `diagnostics`. On error, returns no document.
SHOAL_API Result<Document> read_document(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options = {});

/// Returns the path of a resource in a root, which is `root/name`, or just `name` if the root is the current folder.
SHOAL_API std::string path_in_root(std::string_view root, std::string_view name);

/// Returns what is wrong with a resource name (it is empty, too long, absolute or outside the roots), or "" if it is
/// valid.
SHOAL_API std::string_view resource_name_problem(std::string_view name);

}  // namespace shoal
