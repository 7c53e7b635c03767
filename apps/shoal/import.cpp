// shoal import: converts a glTF file to a source.

#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/import/gltf.h"
#include "shoal/rewrite/source_text.h"
#include "sources.h"
#include "verbs.h"

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kImportFlags[] = {
    {.name = "output",
     .value = "FILE",
     .help = "the source to write (default: FILE.sjson beside FILE); it is replaced only if nobody has changed it",
     .takes = Takes::kOutput,
     .letter = 'o'},
    {.name = "schema-out",
     .value = "FILE",
     .help = "a schema file to write with the component types of imported meshes, cameras and lights",
     .takes = Takes::kOutput},
    {.name = "schema",
     .value = "FILE",
     .help = "component types that `extras` may name; several add up",
     .takes = Takes::kInput,
     .repeats = true},
    {.name = "scene", .value = "SCENE", .help = "the name or index of the scene to import", .takes = Takes::kText},
    {.name = "resource",
     .value = "NAME",
     .help = "what meshes are said to be in (default: the name of FILE without its folder)",
     .takes = Takes::kText},
    {.name = "z-up", .help = "turn the whole, so that up is z and not y"},
    {.name = "force", .help = "replace the source even if it was changed since the last import"},
    kJsonFlag,
};

// One paragraph per line.
constexpr std::string_view kImportManual =
    "Makes a source of the scene in FILE, glTF 2.0 (.gltf or .glb): nodes become entities with transforms, skins "
    "become model "
    "poses, meshes, cameras and lights become components, and `extras` become components or properties.\n"
    "\n"
    "The keys of entities come from the names of nodes, so importing again gives the same entities. Do not edit the "
    "source that "
    "is written: make another one that has it as `prefab`, and change there what you like with `modified_components` "
    "and "
    "`modified_children`. Then a new import brings what is new in FILE and keeps your changes. A source that somebody "
    "did edit "
    "is not replaced without --force.\n"
    "\n"
    "Sources with meshes, cameras or lights are compiled with the schema file that --schema-out writes.\n";

constexpr std::string_view kImportExamples =
    "shoal import models/ship.gltf\n"
    "shoal import models/ship.glb -o ship.sjson --schema-out gltf.schema.sjson\n"
    "shoal compile ship.sjson --schema gltf.schema.sjson -o ship.blob\n";

constexpr std::string_view kMark = "// Imported by shoal, checksum ";

/// Returns the text to write. Its first line marks the file as imported.
std::string with_mark(const std::string& text, std::string_view from) {
    std::string rest = concat("// Importing ", quoted(from),
                              " again replaces this file. Make changes in a source that has it as prefab.\n\n", text);
    std::string mark(kMark);
    append_hex(mark, hash_text(rest));
    return concat(mark, '\n', rest);
}

/// Returns whether a file has not changed since an import wrote it. Ignores line ends, because git may change them.
bool is_unchanged(const std::string& file) {
    const std::string text = with_line_feeds(file);
    const std::size_t end = text.find('\n');
    if (!text.starts_with(kMark) || end == std::string::npos) return false;
    std::string mark(kMark);
    append_hex(mark, hash_text(std::string_view(text).substr(end + 1)));
    return text.substr(0, end) == mark;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

struct ImportTask {
    std::string input, output;
    SourceSession session;
    std::optional<ImportedGltf> imported;
};

/// Reports an error if the output would replace a file that was edited by hand. Errors: added to the session.
bool check_output(const Arguments& arguments, ImportTask& task) {
    if (arguments.has("force") || is_standard_stream(task.output) || !path_exists(task.output)) return true;
    const Result<std::string> old = read_file(task.output);
    if (old && is_unchanged(*old)) return true;
    task.session.diagnostics.error(
        {}, concat("\"", task.output, "\" is not as an import has left it, and would be lost"),
        "move the changes to a source that has it as prefab, give -o another name, or replace it with --force");
    return false;
}

/// Reports an error if --schema-out would replace a different file. The schema file is the same for every import.
bool check_schema_output(const Arguments& arguments, ImportTask& task) {
    const std::string path = arguments.value("schema-out", "-");
    if (arguments.has("force") || is_standard_stream(path) || !path_exists(path)) return true;
    const Result<std::string> old = read_file(path);
    if (old && with_line_feeds(*old) == gltf_schema_text()) return true;
    task.session.diagnostics.error({}, concat("\"", path, "\" is not as --schema-out has left it, and would be lost"),
                                   "give --schema-out another name, or replace it with --force");
    return false;
}

bool read_types(const Arguments& arguments, Files& files, SourceSession& session) {
    for (const BuiltInComponent& built_in : built_in_components())
        if (Status status = built_in.add(session.registry); !status)
            session.diagnostics.error({}, std::string(status.message()));
    read_schemas(arguments, files, session);
    return session.diagnostics.num_errors() == 0;
}

/// Reads the file and creates the source. Errors: added to the session.
void import(const Arguments& arguments, Files& files, ImportTask& task) {
    Diagnostics& diagnostics = task.session.diagnostics;
    const bool is_input = is_standard_stream(task.input);
    const Result<std::string> bytes = files.read(task.input);
    const Result<std::string_view> json = bytes ? gltf_json(*bytes) : Result<std::string_view>(bytes.status());
    if (!json) {
        diagnostics.error({}, bytes ? concat("\"", task.input, "\": ", json.message()) : std::string(json.message()));
        return;
    }
    const std::string name = is_input ? std::string(kStandardInputName) : task.input;
    GltfOptions options;
    options.scene = arguments.value("scene");
    options.resource = arguments.value("resource", file_name(name));
    options.z_up = arguments.has("z-up");
    options.rules = &task.session.options.rules;
    task.imported =
        import_gltf(diagnostics.add_file(name, std::string(*json)), task.session.registry, options, diagnostics);
    if (task.imported) task.imported->text = with_mark(task.imported->text, file_name(name));
}

void print_facts(const Arguments& arguments, Console& console, const ImportTask& task) {
    const ImportedGltf& imported = *task.imported;
    console.print(concat(task.input, ": ", counted(imported.num_entities, "entity", "entities"), ", ",
                         counted(imported.num_models, "model", "models"), ", ", summary_of(task.session.diagnostics),
                         ", to ", name_of_output(task.output), "\n"));
    if (imported.has_gltf_components && !arguments.has("schema-out"))
        console.print(
            "it needs the component types that `--schema-out gltf.schema.sjson` writes; compile it with `--schema "
            "gltf.schema.sjson`\n");
}

void print_json(Console& console, const ImportTask& task) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("ok", true);
    builder.string("source", utf8_text(task.output));
    builder.unsigned_integer("entities", task.imported->num_entities);
    builder.unsigned_integer("models", task.imported->num_models);
    builder.boolean("needs_schema", task.imported->has_gltf_components);
    write_diagnostics(task.session.diagnostics, builder);
    builder.end();
    console.print_json(builder.finish());
}

int run_import(const Arguments& arguments, Files& files, Console& console) {
    ImportTask task;
    task.input = arguments.operands()[0];
    if (is_standard_stream(task.input) && !arguments.has("output"))
        return fail_usage(console, arguments.verb(), "what is read from standard input has no name; give -o FILE");
    task.output = arguments.value("output", concat(task.input, ".sjson"));
    if (Status status = files.add_output("output", task.output); !status) return fail(console, status.message());
    if (!check_output(arguments, task) || !check_schema_output(arguments, task) ||
        !read_types(arguments, files, task.session))
        return fail(console, task.session.diagnostics);
    import(arguments, files, task);
    if (!task.imported) return fail(console, task.session.diagnostics);
    if (Status status = files.write("output", task.imported->text); !status) return fail(console, status.message());
    if (Status status = files.write("schema-out", gltf_schema_text()); !status) return fail(console, status.message());
    console.print_diagnostics(task.session.diagnostics);
    print_facts(arguments, console, task);
    if (console.json()) print_json(console, task);
    return 0;
}

}  // namespace

const Verb kImportVerb{.name = "import",
                       .summary = "make a source from a glTF file",
                       .operands = "FILE",
                       .takes = Takes::kInput,
                       .min_operands = 1,
                       .max_operands = 1,
                       .flags = kImportFlags,
                       .manual = kImportManual,
                       .examples = kImportExamples,
                       .run = run_import};

}  // namespace shoal_tool
