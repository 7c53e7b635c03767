// shoal compile: compiles a source to a blob.

#include "depfile.h"
#include "folder.h"
#include "shoal/base/clock.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/inspect/text_table.h"
#include "sources.h"
#include "verbs.h"

#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kCompileFlags[] = {
    {.name = "output",
     .value = "BLOB_OR_FOLDER",
     .help =
         "the file to write, or - for standard output; it is replaced only when everything went well; for a folder of "
         "sources, the folder of their blobs",
     .takes = Takes::kOutput,
     .letter = 'o',
     .required = true,
     .may_be_folder = true},
    kRootFlag,
    kFollowLinksFlag,
    kSchemaFlag,
    kSourceSchemaFlag,
    kPluginFlag,
    kScriptFlag,
    kStdinNameFlag,
    {.name = "endian",
     .value = "little|big",
     .help = "byte order of the machine that the blob is for (default: little)",
     .takes = Takes::kOneOf},
    {.name = "offset-tables", .help = "keep, per entity, where its components lie"},
    {.name = "deps",
     .value = "FILE",
     .help = "write which files BLOB was made from, as Ninja and make read it: a depfile",
     .takes = Takes::kOutput},
    {.name = "exclude",
     .value = "PATTERN",
     .help =
         "of a folder: files and folders in it that are no sources, such as 'parts' or '*.part.sjson'; * is any text",
     .takes = Takes::kText,
     .repeats = true},
    {.name = "force", .help = "of a folder: compile also what has not changed"},
    {.name = "jobs",
     .value = "N",
     .help = "of a folder: how many sources are compiled at a time (default: as many as the machine has cores)",
     .takes = Takes::kText},
    kStrictFlag,
    kJsonFlag,
};

// One paragraph per line.
constexpr std::string_view kCompileManual =
    "Reads SOURCE (SJSON, JSON or YAML: one entity, or a level of many) with all prefabs that it uses, merges them, "
    "and writes one binary resource that is used in place. `shoal help` lists the component types that are built in; "
    "others are declared in schema files. The same source gives the same bytes, every time and "
    "everywhere.\n"
    "\n"
    "Errors name file, line and column, and say what to do; many are shown at once. BLOB is then left as it "
    "was. A device, a read-only file, or a file that was read is never written over.\n"
    "\n"
    "A SOURCE that is - is read from standard input.\n"
    "\n"
    "Of a FOLDER, every source in it and in its folders is compiled to the same path in the folder of blobs: "
    "FOLDER/reef/coral.sjson becomes reef/coral.blob. Sources are the files that end as sources do, but for schema "
    "files "
    "(called *.schema.sjson, or given with --schema), hidden ones, and those that --exclude names. Prefab names are "
    "relative "
    "to FOLDER, unless --root says otherwise. Only what has changed is compiled: where the content of a file that was "
    "read, a file that was not there, a schema, an option or the version of shoal is another. A source with "
    "errors keeps its old blob and the others are compiled. A blob whose source is gone is removed if it is what was "
    "written. The folder of blobs has a file .shoal_build that remembers all this; without it, everything is "
    "compiled.\n"
    "\n"
    "--deps tells Ninja (`deps = gcc`, `depfile = FILE`) and make (`-include FILE`) that BLOB depends on the prefabs, "
    "the files of "
    "components and the schema files that were read.\n";

constexpr std::string_view kCompileExamples =
    "shoal compile reef.sjson -o reef.blob\n"
    "shoal compile levels/reef.sjson --root . --root ../library --schema game.schema.sjson -o reef.blob\n"
    "shoal compile reef.sjson -o reef.blob --strict --json\n"
    "shoal compile levels --root levels --root ../library -o build/levels\n"
    "generate-reef | shoal compile - -o - | shoal run -\n"
    "shoal compile reef.sjson -o build/reef.blob --deps build/reef.blob.d\n";

struct CompileTask {
    std::string source, output, endian;
    bool offset_tables = false;
};

double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

void print_facts(Console& console, const CompileTask& task, const CompiledSource& compiled,
                 const Diagnostics& diagnostics, std::int64_t total_ns) {
    TextTable table({"component", "count"});
    for (const ComponentCount& component : compiled.components)
        table.add_row({component.name, count_text(component.count)});
    const std::string kept =
        compiled.num_kept_components + compiled.num_kept_fields == 0
            ? std::string()
            : concat("kept as text: ", counted(compiled.num_kept_components, "component", "components"), ", ",
                     counted(compiled.num_kept_fields, "field", "fields"), "\n");
    console.print(concat(
        task.source, " -> ", name_of_output(task.output), "\n", counted(compiled.num_entities, "entity", "entities"),
        ", ", counted(compiled.num_roots, "root", "roots"), ", ",
        counted(compiled.num_components, "component", "components"), " of ",
        counted(compiled.components.size(), "type", "types"), "\n",
        table.empty() ? "" : concat("\n", table.text(), "\n"), kept, bytes_text(compiled.blob.size()), ", ",
        task.endian, "-endian", task.offset_tables ? ", with offset tables" : "", "; ", decimal_text(ms(total_ns), 1),
        " ms (merge ", decimal_text(ms(compiled.compose_ns), 1), ", compile ", decimal_text(ms(compiled.compile_ns), 1),
        ", blob ", decimal_text(ms(compiled.write_ns), 1), "); ", summary_of(diagnostics), "\n"));
}

void print_json(Console& console, const CompileTask& task, const CompiledSource& compiled,
                const Diagnostics& diagnostics, std::int64_t total_ns) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("ok", true);
    builder.string("source", utf8_text(task.source));
    builder.string("blob", utf8_text(task.output));
    builder.unsigned_integer("entities", compiled.num_entities);
    builder.unsigned_integer("roots", compiled.num_roots);
    builder.unsigned_integer("num_components", compiled.num_components);
    builder.begin_mapping("components");
    for (const ComponentCount& component : compiled.components)
        builder.unsigned_integer(component.name, component.count);
    builder.end();
    builder.unsigned_integer("kept_components", compiled.num_kept_components);
    builder.unsigned_integer("kept_fields", compiled.num_kept_fields);
    builder.unsigned_integer("bytes", compiled.blob.size());
    builder.string("endian", task.endian);
    builder.boolean("offset_tables", task.offset_tables);
    builder.number("merge_ms", ms(compiled.compose_ns));
    builder.number("compile_ms", ms(compiled.compile_ns));
    builder.number("blob_ms", ms(compiled.write_ns));
    builder.number("ms", ms(total_ns));
    write_diagnostics(diagnostics, builder);
    builder.end();
    console.print_json(builder.finish());
}

/// Returns the files that a blob was made from, except standard input. Sources come first, then schema files.
std::vector<std::string> files_read(const Arguments& arguments, const CompiledSource& compiled,
                                    const SourceSession& session) {
    std::vector<std::string> paths;
    for (const SourceDependency& dependency : compiled.dependencies)
        if (dependency.kind == DependencyKind::kSource && !(session.stand_in && dependency.path == session.path))
            paths.push_back(dependency.path);
    for (const std::string& schema : schema_paths(arguments))
        if (!is_stream(schema)) paths.push_back(schema);
    return paths;
}

/// Writes the blob before its depfile, so that the depfile never exists without the blob.
Status write_outputs(const Arguments& arguments, Files& files, const CompiledSource& compiled,
                     const SourceSession& session) {
    std::string deps;
    if (arguments.has("deps")) {
        Result<std::string> text = depfile_text(arguments.value("output"), files_read(arguments, compiled, session));
        if (!text) return text.status();
        deps = std::move(*text);
    }
    const std::string_view bytes(reinterpret_cast<const char*>(compiled.blob.data()), compiled.blob.size());
    if (Status status = files.write("output", bytes); !status) return status;
    return arguments.has("deps") ? files.write("deps", deps) : Status();
}

/// Returns an error if a flag for single files is used with a folder, or vice versa.
Status check_flags(const Arguments& arguments, bool is_folder) {
    for (const std::string_view flag : {"exclude", "force", "jobs"})
        if (!is_folder && arguments.has(flag))
            return Status::error(concat("--", flag, " is for a folder of sources, and ",
                                        quoted(arguments.operands()[0]),
                                        " is not a folder; leave it out, or give a folder"));
    if (is_folder && arguments.has("deps"))
        return Status::error("--deps is for one source; a folder of blobs remembers what they were made from");
    if (is_folder && is_standard_stream(arguments.value("output")))
        return Status::error("the blobs of a folder of sources are many files; give -o a folder");
    std::uint64_t num_jobs = 0;
    return arguments.read_number("jobs", std::uint64_t(1), 1024, num_jobs);
}

int run_compile(const Arguments& arguments, Files& files, Console& console) {
    const bool is_folder = is_directory(arguments.operands()[0]);
    if (Status status = check_flags(arguments, is_folder); !status)
        return fail_usage(console, arguments.verb(), status.message());
    if (is_folder) return compile_folder(arguments, files, console);
    if (arguments.has("deps") && is_standard_stream(arguments.value("output")))
        return fail_usage(console, arguments.verb(),
                          "--deps says what a file was made from; give -o the name of a file");
    const std::int64_t begin_ns = monotonic_ns();
    CompileTask task{arguments.operands()[0], arguments.value("output"), arguments.value("endian", "little"),
                     arguments.has("offset-tables")};
    SourceSession session;
    if (!prepare(arguments, files, console, task.source, session)) return fail(console, session.diagnostics);
    task.source = session.path;
    session.options.blob = {task.endian == "big", task.offset_tables};
    Result<CompiledSource> compiled =
        compile_source(session.path, session.registry, session.options, session.diagnostics);
    if (!compiled) return fail(console, session, compiled.message());
    if (!add_inputs(files, *compiled, session)) return fail(console, session.diagnostics);
    if (Status status = write_outputs(arguments, files, *compiled, session); !status)
        return fail(console, session, status.message());
    const std::int64_t total_ns = monotonic_ns() - begin_ns;
    console.print_diagnostics(session.diagnostics);
    print_facts(console, task, *compiled, session.diagnostics, total_ns);
    if (console.json()) print_json(console, task, *compiled, session.diagnostics, total_ns);
    return 0;
}

}  // namespace

const Verb kCompileVerb{.name = "compile",
                        .summary = "make a binary resource from a source",
                        .operands = "SOURCE_OR_FOLDER",
                        .takes = Takes::kInput,
                        .min_operands = 1,
                        .max_operands = 1,
                        .flags = kCompileFlags,
                        .manual = kCompileManual,
                        .examples = kCompileExamples,
                        .run = run_compile};

}  // namespace shoal_tool
