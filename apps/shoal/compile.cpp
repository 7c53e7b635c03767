// shoal compile: from a source to a blob.

#include "shoal/base/clock.h"
#include "shoal/base/text.h"
#include "shoal/inspect/text_table.h"
#include "sources.h"
#include "verbs.h"

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kFlags[] = {
    {.name = "output",
     .value = "BLOB",
     .help = "the file to write, or - for standard output; it is replaced only when everything went well",
     .takes = Takes::kOutput,
     .letter = 'o',
     .required = true},
    kRootFlag,
    kSchemaFlag,
    kStdinNameFlag,
    {.name = "endian",
     .value = "little|big",
     .help = "byte order of the machine that the blob is for (default: little)",
     .takes = Takes::kOneOf},
    {.name = "offset-tables", .help = "keep, per entity, where its components lie"},
    kStrictFlag,
    kJsonFlag,
};

// A line is a paragraph.
constexpr std::string_view kManual =
    "Reads SOURCE (SJSON, JSON or YAML: one entity, or a level of many) with all prefabs that it uses, merges them, "
    "and writes one binary resource that is used in place. `shoal help` lists the component types that are built in; "
    "others are declared in schema files. The same source gives the same bytes, every time and "
    "everywhere.\n"
    "\n"
    "Errors name file, line and column, and say what to do; many are shown at once. BLOB is then left as it "
    "was. A device, a read-only file, or a file that was read is never written over.\n"
    "\n"
    "A SOURCE that is - is read from standard input.\n";

constexpr std::string_view kExamples =
    "shoal compile reef.sjson -o reef.blob\n"
    "shoal compile levels/reef.sjson --root . --root ../library --schema game.schema.sjson -o reef.blob\n"
    "shoal compile reef.sjson -o reef.blob --strict --json\n"
    "generate-reef | shoal compile - -o - | shoal run -\n";

struct Task {
    std::string source, output, endian;
    bool offset_tables = false;
};

double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

void print_facts(Console& console, const Task& task, const CompiledSource& compiled, const Diagnostics& diagnostics,
                 std::int64_t total_ns) {
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
        counted(compiled.components.size(), "type", "types"), "\n", table.empty() ? "" : "\n" + table.text() + "\n",
        kept, bytes_text(compiled.blob.size()), ", ", task.endian, "-endian",
        task.offset_tables ? ", with offset tables" : "", "; ", decimal_text(ms(total_ns), 1), " ms (merge ",
        decimal_text(ms(compiled.compose_ns), 1), ", compile ", decimal_text(ms(compiled.compile_ns), 1), ", blob ",
        decimal_text(ms(compiled.write_ns), 1), "); ", summary_of(diagnostics), "\n"));
}

void print_json(Console& console, const Task& task, const CompiledSource& compiled, const Diagnostics& diagnostics,
                std::int64_t total_ns) {
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

int run(const Arguments& arguments, Files& files, Console& console) {
    const std::int64_t begin_ns = monotonic_ns();
    Task task{arguments.operands()[0], arguments.value("output"), arguments.value("endian", "little"),
              arguments.has("offset-tables")};
    SourceSession session;
    if (!prepare(arguments, files, console, task.source, session)) return fail(console, session.diagnostics);
    task.source = session.path;
    session.options.blob = {task.endian == "big", task.offset_tables};
    Result<CompiledSource> compiled =
        compile_source(session.path, session.registry, session.options, session.diagnostics);
    if (!compiled) return fail(console, session, compiled.message());
    if (!add_inputs(files, *compiled, session)) return fail(console, session.diagnostics);
    const std::string_view bytes(reinterpret_cast<const char*>(compiled->blob.data()), compiled->blob.size());
    if (Status status = files.write("output", bytes); !status) return fail(console, session, status.message());
    const std::int64_t total_ns = monotonic_ns() - begin_ns;
    console.print_diagnostics(session.diagnostics);
    print_facts(console, task, *compiled, session.diagnostics, total_ns);
    if (console.json()) print_json(console, task, *compiled, session.diagnostics, total_ns);
    return 0;
}

}  // namespace

const Verb kCompileVerb{.name = "compile",
                        .summary = "make a binary resource from a source",
                        .operands = "SOURCE",
                        .takes = Takes::kInput,
                        .min_operands = 1,
                        .max_operands = 1,
                        .flags = kFlags,
                        .manual = kManual,
                        .examples = kExamples,
                        .run = run};

}  // namespace shoal_tool
