#pragma once
// Finds and reads source texts, and records what a composition depends on.
//
//     a name in a text            candidates, in this order                       what is recorded
//     "reef/coral"                root 1: reef/coral.sjson .json .unit ...        must not exist (tried, absent)
//                                 root 2: reef/coral.sjson                        was read (found)
//
// A name whose last part has a dot is first tried unchanged. Names are relative to the roots, with parts separated by
// `/`. A name that is absolute or has an empty part, `.` or `..` is an error, and so is a link that leads out of the
// roots, so no text can reach a file outside of the roots.
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

/// Reads texts by path.
class SourceFiles {
public:
    virtual ~SourceFiles() = default;

    /// Returns whether something exists at a path. A file that cannot be read counts, so that it is reported rather
    /// than skipped.
    virtual bool exists(const std::string& path) const = 0;
    /// Errors: missing, unreadable, a folder; the message names the path and the reason.
    virtual Result<std::string> read(const std::string& path) = 0;
    /// Returns a file's canonical path, which is the same for all paths to the file. It begins with the canonical path
    /// of the folder and `/`.
    virtual std::string canonical(const std::string& path) const = 0;
    /// Returns the names of files in a folder, to suggest a prefab for a mistyped name. May return nothing.
    virtual std::vector<std::string> list(const std::string& /*folder*/) const { return {}; }

    /// Returns the stamp of a file, without reading the file. Without a stamp, only the content shows whether a file
    /// has changed.
    virtual FileStamp stamp(const std::string& /*path*/) const { return {}; }
    /// Returns the current time of the clock of the stamps.
    virtual std::int64_t now_ns() const { return 0; }
};

/// Files of the operating system.
class DiskFiles final : public SourceFiles {
public:
    SHOAL_API bool exists(const std::string& path) const override;
    SHOAL_API Result<std::string> read(const std::string& path) override;
    SHOAL_API std::string canonical(const std::string& path) const override;
    SHOAL_API std::vector<std::string> list(const std::string& folder) const override;
    SHOAL_API FileStamp stamp(const std::string& path) const override;
    SHOAL_API std::int64_t now_ns() const override;
};

/// Texts in memory, for tools that generate sources, and for tests.
class MemoryFiles final : public SourceFiles {
public:
    /// Adds a text, or replaces it.
    SHOAL_API void add(std::string path, std::string text);
    SHOAL_API void remove(const std::string& path);

    SHOAL_API bool exists(const std::string& path) const override;
    SHOAL_API Result<std::string> read(const std::string& path) override;
    std::string canonical(const std::string& path) const override { return path; }
    SHOAL_API std::vector<std::string> list(const std::string& folder) const override;

    /// The number of reads of texts.
    std::size_t num_reads() const { return num_reads_; }

private:
    const std::string* find(const std::string& path) const;

    std::vector<std::pair<std::string, std::string>> texts_;  // by path
    std::size_t num_reads_ = 0;
};

/// Extensions that are tried for a name without an extension, in order.
inline constexpr std::string_view kSourceExtensions[] = {".sjson", ".json", ".unit", ".level", ".yaml", ".yml"};

enum class SourceFormat : std::uint8_t { kSjson, kJson, kYaml };

/// Returns the format of a file name: JSON (.json), YAML (.yaml, .yml), otherwise SJSON.
SHOAL_API SourceFormat source_format(std::string_view file_name);

/// Reads a file of `diagnostics` in the format that its name indicates.
/// Errors: one or more in `diagnostics`, and no document.
SHOAL_API Result<Document> read_document(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options = {});

/// Returns the path of a resource in a root: `root/name`, or only `name` in the current folder.
SHOAL_API std::string path_in_root(std::string_view root, std::string_view name);

/// Returns what is wrong with a resource name: empty, too long, absolute, outside of the roots; "" if it is valid.
SHOAL_API std::string_view resource_name_problem(std::string_view name);

}  // namespace shoal
