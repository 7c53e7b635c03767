#pragma once
// What a blob is made from, and whether that is still what there is.
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
//     a file that was searched for       it is there now and was not, or the other way round
//     the schema of a component type     anything that text or blob show of it differs, or there is none now, or one now
//     the rules of schema files          one of them differs
//     the compiler                       it has another version
//
// Content decides. That of a file is read again only when its stamp (size, times, inode) is not the known one, or when the
// file was so young when it was looked at that a later change may have left the stamp as it was. The hash is that of the
// bytes that were compiled, so a file that changed in the meantime has changed.
// The compiler fills SourceInputs while it compiles. What is here knows the files and the rules, but not the compiler.
// Thread: one thread at a time per object.

#include "shoal/base/file.h"
#include "shoal/base/status.h"
#include "shoal/source/composer.h"
#include "shoal/source/source_rules.h"

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
    std::uint64_t hash = 0;  ///< of its schema; 0: no schema was known
};

struct SourceInputs {
    std::string compiler;     ///< as compiler_version() says it
    std::uint64_t rules = 0;  ///< hash of SourceRules
    std::vector<SourceDependency> files;
    std::vector<TypeInput> types;  ///< in the order in which they first occur
};

/// Returns the version of the compiler, and that of the program whose functions it calls: CompileOptions::program.
SHOAL_API std::string compiler_version(std::string_view program);
/// Returns the hash of what `rules` say, but for where schema files say it.
SHOAL_API std::uint64_t rules_hash(const SourceRules& rules);
/// Returns the hash of everything about a component type that text or blob show; 0 when there is no schema.
SHOAL_API std::uint64_t type_hash(const ComponentRegistry& registry, std::string_view name);

/// Returns what a blob says that it is made from. Files are those in `roots`, the ones that it was compiled with.
/// Errors: the blob does not say it; it was compiled with another number of roots.
SHOAL_API Result<SourceInputs> inputs_of_blob(const Blob& blob, const std::vector<std::string>& roots);
/// Sets the path of each file that has a name, as it is in `roots`; the first file that was read is `source`, unless that is
/// empty. Errors: there are names of more roots than these.
SHOAL_API Status resolve_names(SourceInputs& inputs, const std::vector<std::string>& roots,
                               const std::string& source = {});

/// What files hold now. Each is looked at once, however many outputs depend on it, until look_again().
class InputFiles {
public:
    /// Lifetime: `files` outlives this object.
    explicit InputFiles(SourceFiles& files) : files_(files) {}

    /// Says what a file held when it had this stamp. Requires: the stamp is_older_than() the time at which it was known that
    /// the file held this, such as the start of the compilation that read it.
    SHOAL_API void know(const std::string& path, const FileStamp& stamp, std::uint64_t hash);
    /// Returns content_hash() of what a file holds; 0 when it cannot be read.
    SHOAL_API std::uint64_t hash(const std::string& path);
    SHOAL_API bool exists(const std::string& path);
    /// Returns a stamp that spares reading the file the next time: know() may be called with it and `hash`. None when the
    /// file was changed, or may have been, after it held this at `wall_ns`.
    SHOAL_API FileStamp stamp_for(const std::string& path, std::uint64_t hash, std::int64_t wall_ns);
    /// From now on, what files hold is looked at again. What is known by stamps stays.
    SHOAL_API void look_again();

    /// How many files were read.
    std::uint64_t num_reads() const { return num_reads_; }
    SourceFiles& files() { return files_; }

private:
    struct Known {
        FileStamp stamp;
        std::uint64_t hash = 0;
        std::uint64_t round = 0;  // of the look at the file that gave `hash`
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
    std::string name;     ///< of the file or component type; empty for rules and compiler
    std::string message;  ///< for people: `reef/coral.sjson changed`
};

/// Returns what has changed; nothing when a compilation with these rules, by this program, would give the same blob.
SHOAL_API std::vector<InputChange> find_changes(const SourceInputs& inputs, const ComponentRegistry& registry,
                                                const SourceRules& rules, std::string_view program, InputFiles& files);

}  // namespace shoal
