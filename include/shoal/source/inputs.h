#pragma once
// Lists the inputs that a blob was made from, and finds out which of them have changed.
//
//     SourceInputs inputs;
//     options.inputs = &inputs;
//     Result<CompiledSource> reef = compile_source("reef/garden.sjson", registry, options, diagnostics);
//     // later, perhaps in another process, which has read the inputs from the blob:
//     DiskFiles disk;
//     InputFiles files(disk);
//     for (const InputChange& change : find_changes(inputs, registry, options.rules, options.program, files))
//         std::printf("%s\n", change.message.c_str());  // reef/coral.sjson changed
//
//     input                              has changed when
//     a file that was read               its content has another hash, or cannot be read
//     a file that was searched for       it was added or removed
//     the schema of a component type     anything in it that affects text or blob differs, or it was added or removed
//     the rules of schema files          one of them differs
//     the compiler                       it has another version
//
// Files are compared by content. A file is read again only if its stamp (size, times, inode) differs from the known
// one, or if the file was so new when it was read that a later change may have left the stamp unchanged. The hash is
// taken from the bytes that were compiled, so a file that changed during the compilation counts as changed. The
// compiler fills in SourceInputs. This header depends on files and rules, but not on the compiler. Thread: one thread
// at a time per object.

#include "shoal/base/file.h"
#include "shoal/base/status.h"
#include "shoal/source/detail/composer.h"
#include "shoal/source/detail/source_rules.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace shoal {

class Blob;
class BlobWriter;
class ComponentRegistry;

/// A component type that a source names.
struct TypeInput {
    std::string name;
    std::uint64_t hash = 0;  ///< the hash of its schema; 0 if the type is unknown
};

struct SourceInputs {
    std::string compiler;     ///< compiler_version()
    std::uint64_t rules = 0;  ///< hash of SourceRules
    std::vector<SourceDependency> files;
    std::vector<TypeInput> types;  ///< in the order in which they first occur
};

/// Returns the version of the compiler and of the program whose functions it calls (CompileOptions::program).
SHOAL_API std::string compiler_version(std::string_view program);
/// Returns the hash of `rules`, which ignores their positions in schema files.
SHOAL_API std::uint64_t rules_hash(const SourceRules& rules);
/// Returns the hash of everything about a component type that affects how sources are read or what the blob contains; 0
/// if it has no schema.
SHOAL_API std::uint64_t type_hash(const ComponentRegistry& registry, std::string_view name);

/// Returns the inputs that a blob was made from. `roots` are the folders that the blob was compiled with. Errors: the
/// blob does not name its inputs, or was compiled with a different number of roots.
SHOAL_API Result<SourceInputs> inputs_of_blob(const Blob& blob, const std::vector<std::string>& roots);
/// Sets the path of each file from its name and `roots`. If `source` is not empty, it is the path of the first file
/// that was read. Errors: a name refers to a root that `roots` does not have.
SHOAL_API Status resolve_names(SourceInputs& inputs, const std::vector<std::string>& roots,
                               const std::string& source = {});

/// The current content of files. A file is checked only once until look_again() is called, even if many outputs depend
/// on it.
class InputFiles {
public:
    /// Lifetime: `files` outlives this object.
    explicit InputFiles(SourceFiles& files) : files_(files) {}

    /// Sets the content hash of a file that has this stamp. Requires: the stamp is_older_than() a time at which the
    /// file had this content, such as the start of the compilation that read it.
    SHOAL_API void know(const std::string& path, const FileStamp& stamp, std::uint64_t hash);
    /// Returns content_hash() of a file; 0 if it cannot be read.
    SHOAL_API std::uint64_t hash(const std::string& path);
    SHOAL_API bool exists(const std::string& path);
    /// Returns a stamp to pass to know() with `hash` later, so that the file is not read again. Requires: the file had
    /// this content at `wall_ns`. Returns no stamp if the file may have changed since then.
    SHOAL_API FileStamp stamp_for(const std::string& path, std::uint64_t hash, std::int64_t wall_ns);
    /// Makes later calls check each file again. Known hashes stay valid for files whose stamps have not changed.
    SHOAL_API void look_again();

    /// The number of files that were read.
    std::uint64_t num_reads() const { return num_reads_; }
    SourceFiles& files() { return files_; }

private:
    struct Known {
        FileStamp stamp;
        std::uint64_t hash = 0;
        std::uint64_t round = 0;  // the round in which `hash` was checked
        bool exists = false;
        std::uint64_t exists_round = 0;
    };

    SourceFiles& files_;
    std::unordered_map<std::string, Known> known_;  // by path
    std::uint64_t round_ = 1;
    std::uint64_t num_reads_ = 0;
};

enum class InputChangeKind : std::uint8_t { kContent, kGone, kNewFile, kType, kRules, kCompiler };
/// Returns "content", "gone", "new_file", "type", "rules" or "compiler".
SHOAL_API std::string_view change_name(InputChangeKind kind);

struct InputChange {
    InputChangeKind kind;
    std::string name;     ///< name of the file or component type; empty for rules and compiler
    std::string message;  ///< such as `reef/coral.sjson changed`
};

/// Returns the changes; empty if this program would compile the same blob with these rules.
SHOAL_API std::vector<InputChange> find_changes(const SourceInputs& inputs, const ComponentRegistry& registry,
                                                const SourceRules& rules, std::string_view program, InputFiles& files);

}  // namespace shoal
