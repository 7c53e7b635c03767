// shoal compile: from a source to a blob.

#include "shoal/base/clock.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/inspect/text_table.h"
#include "sources.h"
#include "verbs.h"

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kFlags[] = {
    {"output", "BLOB", "the file to write; it is replaced only when everything went well", 'o', false, true},
    kRootFlag,
    kSchemaFlag,
    {"endian", "little|big", "byte order of the machine that the blob is for (default: little)"},
    {"offset-tables", "", "keep, per entity, where its components lie"},
    {"strict", "", "treat warnings as errors"},
    kJsonFlag,
};

// A line is a paragraph.
constexpr std::string_view kManual =
    "Reads SOURCE (SJSON or JSON: one entity, or a level of many) with all prefabs that it uses, merges them, "
    "and writes one binary resource that is used in place. `shoal help` lists the component types that are built in; "
    "others are declared in schema files. The same source gives the same bytes, every time and "
    "everywhere.\n"
    "\n"
    "Errors name file, line and column, and say what to do; many are shown at once. BLOB is then left as it "
    "was.\n";

constexpr std::string_view kExamples =
    "shoal compile reef.sjson -o reef.blob\n"
    "shoal compile levels/reef.sjson --root . --root ../library --schema game.schema.sjson -o reef.blob\n"
    "shoal compile reef.sjson -o reef.blob --strict --json\n";

struct Task {
    std::string source, output, endian;
    bool offset_tables = false;
};

Status check_output_of(const Task& task, const Arguments& arguments, const CompiledSource& compiled) {
    std::vector<std::string> read = arguments.values("schema");
    read.push_back(task.source);
    for (const SourceDependency& dependency : compiled.dependencies)
        if (dependency.kind == DependencyKind::kSource) read.push_back(dependency.path);
    return check_output(task.output, read);
}

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
        task.source, " -> ", task.output, "\n", counted(compiled.num_entities, "entity", "entities"), ", ",
        counted(compiled.num_roots, "root", "roots"), ", ", counted(compiled.num_components, "component", "components"),
        " of ", counted(compiled.components.size(), "type", "types"), "\n",
        table.empty() ? "" : "\n" + table.text() + "\n", kept, bytes_text(compiled.blob.size()), ", ", task.endian,
        "-endian", task.offset_tables ? ", with offset tables" : "", "; ", decimal_text(ms(total_ns), 1), " ms (merge ",
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

int run(const Arguments& arguments, Console& console) {
    const std::int64_t begin_ns = monotonic_ns();
    const Task task{arguments.operands()[0], arguments.value("output"), arguments.value("endian", "little"),
                    arguments.has("offset-tables")};
    if (task.endian != "little" && task.endian != "big")
        return fail_usage(console, arguments.verb(),
                          concat("--endian takes little or big, not ", shoal::quoted(task.endian)));
    SourceSession session;
    if (!prepare(arguments, task.source, session)) return fail(console, session.diagnostics);
    session.options.strict = arguments.has("strict");
    session.options.blob = {task.endian == "big", task.offset_tables};
    Result<CompiledSource> compiled =
        compile_source(task.source, session.registry, session.options, session.diagnostics);
    if (!compiled) {
        if (session.diagnostics.num_errors() == 0) session.diagnostics.error({}, std::string(compiled.message()));
        return fail(console, session.diagnostics);
    }
    if (Status status = check_output_of(task, arguments, *compiled); !status)
        session.diagnostics.error({}, std::string(status.message()), "give -o another name");
    else if (status = write_file(task.output, std::span<const std::byte>(compiled->blob)); !status)
        session.diagnostics.error({}, std::string(status.message()),
                                  "give -o a file in a folder that can be written and has room");
    if (session.diagnostics.num_errors() != 0) return fail(console, session.diagnostics);
    const std::int64_t total_ns = monotonic_ns() - begin_ns;
    console.print_diagnostics(session.diagnostics);
    print_facts(console, task, *compiled, session.diagnostics, total_ns);
    if (console.json()) print_json(console, task, *compiled, session.diagnostics, total_ns);
    return 0;
}

}  // namespace

const Verb kCompileVerb{"compile", "make a binary resource from a source", "SOURCE", 1, 1, kFlags, kManual, kExamples,
                        run};

}  // namespace shoal_tool
