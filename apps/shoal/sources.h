#pragma once
// Helpers for verbs that read sources: flags, schemas and error reports.

#include "arguments.h"
#include "console.h"
#include "files.h"
#include "plugins.h"
#include "scripts.h"
#include "shoal/resource/blob.h"
#include "shoal/source/compiler.h"

#include <memory>
#include <vector>

namespace shoal_tool {

inline constexpr Flag kRootFlag{
    .name = "root",
    .value = "DIR",
    .help = "a folder that prefab names are relative to; several are searched in order (default: that of SOURCE)",
    .takes = Takes::kFolder,
    .repeats = true};
inline constexpr Flag kFollowLinksFlag{
    .name = "follow-links",
    .help = "follow links that lead out of the roots, which are refused otherwise: use it on folders that you trust"};
inline constexpr Flag kSchemaFlag{
    .name = "schema",
    .value = "FILE",
    .help = "component types declared as text, and what to keep or ignore; several add up",
    .takes = Takes::kInput,
    .repeats = true};
inline constexpr Flag kSourceSchemaFlag{
    .name = "source-schema",
    .value = "FILE",
    .help = "older versions of component types, which sources are written for that do not say theirs; several add up",
    .takes = Takes::kInput,
    .repeats = true};
inline constexpr Flag kStdinNameFlag{
    .name = "stdin-name",
    .value = "PATH",
    .help =
        "the file that a source from standard input stands for: messages name it, and prefabs are searched beside it",
    .takes = Takes::kText};
inline constexpr Flag kStrictFlag{.name = "strict", .help = "treat warnings as errors"};
inline constexpr Flag kJsonFlag{
    .name = "json", .help = "print one JSON object to standard output; what people read goes to standard error"};

/// A component type that the tool knows without a schema file.
struct BuiltInComponent {
    std::string_view name;
    std::string_view summary;
    shoal::Status (*add)(shoal::ComponentRegistry& registry);
};
/// All built-in component types.
std::span<const BuiltInComponent> built_in_components();
/// Registers all built-in component types.
shoal::Status add_built_ins(shoal::ComponentRegistry& registry);

/// Creates a manager for each component type that has no store, because plugins and scripts may need it.
shoal::Status make_managers(shoal::World& world, const shoal::ComponentRegistry& known);

/// Everything needed to compile one source, including its diagnostics.
struct SourceSession {
    std::unique_ptr<LoadedPlugins> plugins;  ///< must outlive the registry, which refers to their component types
    std::unique_ptr<SourceScripts> scripts;  ///< must also outlive the registry
    bool depends_on_scripts = false;         ///< whether scripts declare component types
    shoal::Status scripts_failure;           ///< for `shoal run`: why a script does not load without the level
    shoal::Diagnostics diagnostics;
    shoal::ComponentRegistry registry;
    shoal::CompileOptions options;
    std::string path;                      ///< the source to compile
    std::optional<StandInFiles> stand_in;  ///< set if the source is read from standard input
};

/// Registers the built-in component types, reads the schema files and the common flags, and rejects a source that is a
/// blob. On error, adds the error to the session and returns false.
bool prepare(const Arguments& arguments, Files& files, Console& console, const std::string& source,
             SourceSession& session);
/// Returns the schema files that were given. Files with older versions come last.
std::vector<std::string> schema_paths(const Arguments& arguments);
/// Reads the schema files that were given for older versions. They must be read last. Errors: added to the session's
/// diagnostics.
void read_source_schemas(const Arguments& arguments, Files& files, SourceSession& session);
/// Reads the given schema files. Errors: added to the diagnostics.
void read_schemas(const Arguments& arguments, Files& files, shoal::ComponentRegistry& registry,
                  shoal::SourceRules& rules, shoal::Diagnostics& diagnostics);
/// Reads the given schema files into a session.
void read_schemas(const Arguments& arguments, Files& files, SourceSession& session);
/// Adds all sources that were read to the list of inputs. Errors: a source is also an output. The error is added to the
/// session.
bool add_inputs(Files& files, const shoal::CompiledSource& compiled, SourceSession& session);

/// Reads and checks a blob. If necessary, converts its byte order in memory.
shoal::Result<shoal::Blob> read_blob(Files& files, const std::string& path);
/// Reads the first bytes of a regular file into `start`. Returns how many bytes were read, or 0 if the file cannot be
/// read.
std::size_t read_start(const std::string& path, std::span<std::byte> start);
/// Returns whether a file can be read and starts like a blob.
bool is_blob_file(Files& files, const std::string& path);

/// If the file is a blob, not a source, reports an error. Returns whether it is a blob.
bool refuse_blob(Files& files, const std::string& path, const std::string& name, shoal::Diagnostics& diagnostics);

/// Prints the diagnostics, and with --json also as JSON. Returns 1, the exit code.
int fail(Console& console, const shoal::Diagnostics& diagnostics);
/// Prints a failure that has no position in a file. Returns 1.
int fail(Console& console, std::string_view message, std::string_view hint = {});
/// Prints the diagnostics of a compilation. If they contain no error, adds `summary` as an error first. Returns 1.
int fail(Console& console, SourceSession& session, std::string_view summary);
/// Prints an error about the command line, and the verb's usage. Returns 2.
int fail_usage(Console& console, const Verb& verb, std::string_view message);

/// Returns a string such as `1 entity` or `2,000 entities`.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);
/// Returns a string such as `1 error, 2 warnings` or `no warnings`.
std::string summary_of(const shoal::Diagnostics& diagnostics);

}  // namespace shoal_tool
