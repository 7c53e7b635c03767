// shoal dump: a blob as text.

#include "shoal/resource/dump.h"

#include "sources.h"
#include "verbs.h"

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kFlags[] = {{"json", "", "print JSON instead of SJSON"}};

// A line is a paragraph.
constexpr std::string_view kManual =
    "Prints everything that BLOB holds, through the schemas that it carries: entities with names, parents, "
    "sources and components, what was kept as text, dependencies. Nothing but the blob is needed. A blob for "
    "machines of the other byte order is shown all the same. A damaged one is refused, and the message says "
    "where the damage is.\n"
    "\n"
    "The JSON has `entities`, `roots`, `components` (name to count), `bytes`, `schemas` and `entity_data`.\n";

constexpr std::string_view kExamples =
    "shoal dump reef.blob\n"
    "shoal dump reef.blob --json | jq .components\n";

int run(const Arguments& arguments, Console& console) {
    const Result<Blob> blob = read_blob(arguments.operands()[0]);
    if (!blob) return fail(console, blob.message(), "give the path of a blob that `shoal compile` made");
    console.print_out(console.json() ? dump_json(*blob) : dump_text(*blob));
    return 0;
}

}  // namespace

const Verb kDumpVerb{"dump", "print a blob as text", "BLOB", 1, 1, kFlags, kManual, kExamples, run};

}  // namespace shoal_tool
