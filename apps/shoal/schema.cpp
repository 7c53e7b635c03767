// shoal schema: writes component types as a schema file.

#include "scripts.h"
#include "shoal/base/detail/string_table.h"
#include "shoal/base/text.h"
#include "shoal/document/sjson.h"
#include "shoal/rewrite/source_text.h"
#include "shoal/source/detail/json_schema.h"
#include "shoal/source/schema_file.h"
#include "sources.h"
#include "verbs.h"

#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kSchemaFlags[] = {
    kSchemaFlag,
    {.name = "output",
     .value = "FILE",
     .help = "the file to write instead of standard output; never one of the files that are read",
     .takes = Takes::kOutput,
     .letter = 'o'},
    {.name = "json-schema",
     .help = "print a JSON Schema of sources with these component types and the built-in ones, for editors"},
    {.name = "lua-types",
     .help = "print annotations of these component types and of the table `shoal`, for editors of scripts in Lua"},
};

// One paragraph per line.
constexpr std::string_view kSchemaManual =
    "Prints the component types of BLOB, and those that schema files declare, as one schema file with every default, "
    "range, unit and mark. What it prints declares the same types again. One of the files that are read may be -, "
    "standard "
    "input.\n"
    "\n"
    "With --json-schema it prints a JSON Schema instead, with which editors complete and check sources in YAML and "
    "JSON: "
    "docs/formats/source.md says how.\n"
    "\n"
    "With --lua-types it prints annotations (LuaCATS), with which the language server of Lua completes and checks "
    "scripts: "
    "docs/guide/scripts.md says how.\n"
    "\n"
    "A program writes a schema file of its own C++ types with `export_schemas(world, path)`; the sample reef does with "
    "--export-schema FILE.\n";

constexpr std::string_view kSchemaExamples =
    "shoal schema reef.blob\n"
    "shoal schema --schema game.schema.sjson --schema weather.schema.sjson -o all.schema.sjson\n"
    "shoal schema --json-schema --schema game.schema.sjson -o game.schema.json\n"
    "shoal schema --lua-types --schema game.schema.sjson -o shoal.meta.lua\n";

/// Looks up the strings for string ids that are default values. The strings come from the blob and the schema files.
struct Texts final : ValueNames {
    std::string_view text(StringId id) const override {
        const std::string_view text = table.text(id);
        return text.empty() && blob != nullptr ? blob->text(id) : text;
    }
    Status add(Node node) {
        if (node.is_string()) return table.intern(node.as_string()).status();
        if (!node.is_list() && !node.is_mapping()) return {};
        for (const Node child : node)
            if (Status status = add(child); !status) return status;
        return {};
    }

    const Blob* blob = nullptr;
    StringTable table;
};

/// The declarations in a blob and in schema files, without duplicates.
struct Declarations {
    void add(const Schema& schema, std::int32_t spawn_order, std::string_view migrations = {}) {
        for (SchemaDeclaration& known : list)
            if (known.schema->name() == schema.name()) {
                if (known.migrations.empty()) known.migrations = migrations;
                return;
            }
        list.push_back({&schema, spawn_order, migrations});
    }

    std::vector<SchemaDeclaration> list;
};

/// Interns all strings in a valid schema file, because a Schema contains only their hashes.
Status add_texts(Files& files, const std::string& path, Texts& texts) {
    Diagnostics diagnostics;
    Result<std::string> text = files.read(path);
    if (!text) return text.status();
    ReadOptions options;
    options.bare_texts = true;
    const std::uint32_t file = diagnostics.add_file(path, std::move(text).value());
    const Result<Document> document = read_document(file, diagnostics, options);
    return document ? texts.add(document->root()) : document.status();
}

/// Registers the blob's component types and reads the schema files. Two different declarations of the same type are an
/// error. Errors in a schema file are added to the session's diagnostics.
Status read(const Arguments& arguments, Files& files, Texts& texts, SourceSession& session, Declarations& out) {
    if (texts.blob != nullptr)
        for (const BlobComponents& components : texts.blob->component_types()) {
            if (Status status = session.registry.add(*components.schema); !status) return status;
            out.add(*session.registry.find(components.schema->name())->schema, components.spawn_order);
        }
    read_schemas(arguments, files, session);
    if (session.diagnostics.num_errors() != 0) return {};
    for (const std::string& schema : arguments.values("schema"))
        if (Status status = add_texts(files, schema, texts); !status) return status;
    for (const SourceRules::Declaration& declaration : session.options.rules.declarations) {
        const RegisteredComponent& component = *session.registry.find(declaration.component);
        out.add(*component.schema, component.spawn_order, declaration.migrations);
    }
    return {};
}

int write(const Arguments& arguments, Files& files, Console& console, const std::string& text) {
    if (!arguments.has("output")) return console.print_out(text), 0;
    const Status status = files.write("output", text);
    return status ? 0 : fail(console, status.message());
}

Result<std::string> write_lua_types(const Declarations& declarations) {
    std::vector<const Schema*> schemas;
    for (const SchemaDeclaration& one : declarations.list) schemas.push_back(one.schema);
    return annotations_of(schemas);
}

std::string json_schema_text(const SourceSession& session, const Texts& texts) {
    const Document schema = json_schema(session.registry, session.options.rules, texts);
    return write_source_text(schema.root(), SourceFormat::kJson, Diagnostics(), SourceComments());
}

int run_schema(const Arguments& arguments, Files& files, Console& console) {
    const bool is_json = arguments.has("json-schema");
    if (arguments.operands().empty() && !arguments.has("schema") && !is_json)
        return fail_usage(console, arguments.verb(), "schema needs BLOB or --schema FILE");
    std::optional<Blob> blob;
    if (!arguments.operands().empty()) {
        Result<Blob> loaded = read_blob(files, arguments.operands()[0]);
        if (!loaded) return fail(console, loaded.message(), "give the path of a blob that `shoal compile` made");
        blob = std::move(loaded).value();
    }
    Texts texts;
    if (blob) texts.blob = &*blob;
    SourceSession session;
    Declarations declarations;
    if (Status status = is_json ? add_built_ins(session.registry) : Status(); !status)
        return fail(console, status.message());
    if (Status status = read(arguments, files, texts, session, declarations); !status)
        return fail(console, status.message());
    if (session.diagnostics.num_errors() != 0) return fail(console, session.diagnostics);
    const Result<std::string> text = arguments.has("lua-types") ? write_lua_types(declarations)
                                     : is_json                  ? json_schema_text(session, texts)
                                                                : write_schema_text(declarations.list, texts);
    return text ? write(arguments, files, console, *text) : fail(console, text.message());
}

}  // namespace

const Verb kSchemaVerb{.name = "schema",
                       .summary = "print component types as a schema file",
                       .operands = "[BLOB]",
                       .takes = Takes::kInput,
                       .min_operands = 0,
                       .max_operands = 1,
                       .flags = kSchemaFlags,
                       .manual = kSchemaManual,
                       .examples = kSchemaExamples,
                       .run = run_schema};

}  // namespace shoal_tool
