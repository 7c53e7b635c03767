#pragma once
// What the verbs that read sources share: flags, schemas, and the report of a failure.

#include "arguments.h"
#include "console.h"
#include "shoal/resource/blob.h"
#include "shoal/source/compiler.h"

namespace shoal_tool {

inline constexpr Flag kRootFlag{
    "root", "DIR",
    "a folder that prefab names are relative to; several are searched in order (default: that of SOURCE)", 0, true};
inline constexpr Flag kSchemaFlag{
    "schema", "FILE", "component types declared as text, and what to keep or ignore; several add up", 0, true};
inline constexpr Flag kJsonFlag{"json", "",
                                "print one JSON object to standard output; what people read goes to standard error"};

/// A component type that the tool knows without a schema file.
struct BuiltInComponent {
    std::string_view name;
    std::string_view summary;
    shoal::Status (*add)(shoal::ComponentRegistry& registry);
};
/// All of them.
std::span<const BuiltInComponent> built_in_components();

/// Everything that one source is compiled with, and the diagnostics about it.
struct SourceSession {
    shoal::Diagnostics diagnostics;
    shoal::ComponentRegistry registry;
    shoal::CompileOptions options;
};

/// Registers the built-in component types, reads the schema files, and refuses a source that is a blob. False: reported
/// in the session.
bool prepare(const Arguments& arguments, const std::string& source, SourceSession& session);

/// Errors: `output` is one of the files that were read: a mistyped -o must not cost somebody their source.
shoal::Status check_output(const std::string& output, std::span<const std::string> read);

/// Reads and checks a blob. One for machines of the other byte order is swapped in memory.
shoal::Result<shoal::Blob> read_blob(const std::string& path);
/// Returns whether a file starts as a blob does; false also when it cannot be read.
bool is_blob_file(const std::string& path);
shoal::Result<shoal::Blob> load_any_byte_order(std::span<const std::byte> bytes);

/// Prints the diagnostics, as JSON too when that is asked for. Returns 1, the exit code.
int fail(Console& console, const shoal::Diagnostics& diagnostics);
/// The same for a failure that has no place in a text.
int fail(Console& console, std::string_view message, std::string_view hint = {});
/// The same for a command line that does not fit the verb: shows its usage and returns 2.
int fail_usage(Console& console, const Verb& verb, std::string_view message);

/// Returns `1 entity`, `2,000 entities`.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many);
/// Returns `1 error, 2 warnings`, or `no warnings`.
std::string summary_of(const shoal::Diagnostics& diagnostics);

}  // namespace shoal_tool
