// shoal dump: prints a blob or a save as text.

#include "shoal/resource/detail/dump.h"
#include "shoal/resource/migration.h"

#include "saves.h"
#include "sources.h"
#include "verbs.h"

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kDumpFlags[] = {
    {.name = "json", .help = "print JSON instead of SJSON"},
    {.name = "schema",
     .value = "FILE",
     .help = "show components of older versions as this schema file declares them, by its `migrations`; several add up",
     .takes = Takes::kInput,
     .repeats = true},
    kResourceFlag,
    kMaxMemoryFlag,
};

// One paragraph per line.
constexpr std::string_view kDumpManual =
    "Prints everything that a blob holds, through the schemas that it carries: entities with names, parents, "
    "sources and components, what was kept as text, dependencies. Nothing but the blob is needed. A blob for "
    "machines of the other byte order is shown all the same. A damaged one is refused, and the message says "
    "where the damage is. A file that is - is read from standard input. With --schema, components that were compiled "
    "with older versions are shown as they are migrated.\n"
    "\n"
    "A save of a world is shown as it is loaded: its frame, how many commands of each kind wait, its stores with their "
    "component types, and its entities with all that they have. References are ids, such as 12:3. Of a folder "
    "that Persistence keeps, the last whole frame is shown.\n"
    "\n"
    "Values of a save may refer to blobs that the program has in its library. With --resource, these are given, and "
    "what "
    "lies in them is shown; without, the resource is named, and the poses of models and the commands that wait are "
    "left out if blobs are needed for them, with a warning.\n"
    "\n"
    "The text is written piece by piece, so a file of this machine's byte order takes no more memory than its own "
    "size. The JSON has `ok`, "
    "`entities`, `roots`, `components` (name to count), `bytes`, `schemas` and `entity_data`; that of a save has "
    "`frame`, "
    "`stamp`, `random`, `commands` (kind to count, if some wait), `entities`, `stores` and `entity_data`.\n";

constexpr std::string_view kDumpExamples =
    "shoal dump reef.blob\n"
    "shoal dump reef.blob --json | jq .components\n"
    "shoal dump server/world --resource reef.blob\n"
    "shoal dump quick.save --json | jq '.entity_data[].components.transform.position'\n";

/// Migrates components to the versions in the schema files. Errors: added to the session's diagnostics.
bool migrate(const Arguments& arguments, Files& files, Blob& blob, SourceSession& session) {
    read_schemas(arguments, files, session);
    if (session.diagnostics.num_errors() != 0) return false;
    if (Status status = shoal::migrate(blob, session.registry); !status)
        session.diagnostics.error({}, std::string(status.message()), "correct the `migrations` of the schema file");
    return session.diagnostics.num_errors() == 0;
}

int run_dump(const Arguments& arguments, Files& files, Console& console) {
    if (holds_world(files, arguments.operands()[0])) return dump_save(arguments, files, console);
    Result<Blob> blob = read_blob(files, arguments.operands()[0]);
    if (!blob) return fail(console, blob.message(), "give the path of a blob that `shoal compile` made, or of a save");
    SourceSession session;
    if (!migrate(arguments, files, *blob, session)) return fail(console, session.diagnostics);
    const TextFunction print = [](void* to, std::string_view piece) { static_cast<Console*>(to)->print_out(piece); };
    DocumentBuilder builder(console.json() ? TextFormat::kJson : TextFormat::kSjson, print, &console);
    builder.begin_mapping();
    if (console.json()) builder.boolean("ok", true);
    dump_members(*blob, builder, console.progress_beside_output());
    builder.end();
    builder.finish();
    return 0;
}

}  // namespace

const Verb kDumpVerb{.name = "dump",
                     .summary = "print a blob or a save as text",
                     .operands = "BLOB_OR_SAVE",
                     .takes = Takes::kInput,
                     .min_operands = 1,
                     .max_operands = 1,
                     .flags = kDumpFlags,
                     .manual = kDumpManual,
                     .examples = kDumpExamples,
                     .run = run_dump};

}  // namespace shoal_tool
