// shoal sql: queries a level or a save in SQL.

#include "level.h"
#include "loaded_save.h"
#include "shoal/base/text.h"
#include "shoal/save/save.h"
#include "sql_output.h"
#include "sql_shell.h"
#include "verbs.h"

#include <memory>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kSqlFlags[] = {
    {.name = "format",
     .value = "table|csv|json",
     .help = "how rows are printed (default: table); JSON is a list of objects for each statement",
     .takes = Takes::kOneOf},
    {.name = "save",
     .value = "FILE.save",
     .help = "allow UPDATE, and save the world afterwards; - is standard output",
     .takes = Takes::kOutput},
    {.name = "seconds",
     .value = "S",
     .help = "how long all statements of one question may take (default: 60)",
     .takes = Takes::kText},
    {.name = "max-rows",
     .value = "N",
     .help = "how many rows an answer may have (default: 10,000,000)",
     .takes = Takes::kText},
    kRootFlag,
    kFollowLinksFlag,
    kSchemaFlag,
    kSourceSchemaFlag,
    kStdinNameFlag,
    kResourceFlag,
    kMaxMemoryFlag,
};

// One paragraph per line.
constexpr std::string_view kSqlManual =
    "Spawns a level, from a blob or a source, or loads a save or a folder that Persistence keeps, and answers "
    "questions about it in SQL. Each component type is a table, with a column `entity` and its fields: position_x, "
    "position_y and position_z of a vector, the words of an enum. `entities`, `links`, `tags`, `zones`, `passes` and "
    "`memory` are about the whole world. docs/guide/sql.md tells more.\n"
    "\n"
    "An entity is shown as 12:3, and is a number in SQL: write entity('12:3') for it. Tables are joined quickly by "
    "it, `JOIN body USING (entity)`; EXPLAIN QUERY PLAN shows how.\n"
    "\n"
    "SQL may have several statements, with ; between them. If it is -, it is read from standard input. Without SQL, "
    "a shell reads statements that end with ; and commands: .tables, .schema [TABLE], .help, .quit. On a terminal "
    "it completes names, and keeps what was asked.\n"
    "\n"
    "Only SELECT is allowed. With --save, so is UPDATE component SET field = value: all statements of a question "
    "change what they say, or nothing. The file that was read is not changed.\n";

constexpr std::string_view kSqlExamples =
    "shoal sql reef.blob 'SELECT count(*) FROM entities'\n"
    "shoal sql reef.blob 'SELECT name, mass FROM entities JOIN point_mass USING (entity) ORDER BY mass DESC LIMIT 10'\n"
    "shoal sql quick.save 'SELECT * FROM memory' --format csv\n"
    "shoal sql quick.save 'UPDATE health SET value = 100 WHERE value < 10' --save healed.save\n"
    "shoal sql reef.blob\n";

#if defined(SHOAL_TOOL_HAS_SQL)

/// The world to query, which was loaded from a level or a save.
struct AskedWorld {
    explicit AskedWorld(const Arguments& arguments) : save(arguments) {}
    World& world() { return level ? *spawned : save.world; }

    LoadedSave save;
    std::optional<LoadedLevel> level;
    ResourceLibrary library;
    EntityManager entities;
    std::optional<World> spawned;
};

/// Errors: the level cannot be spawned.
Status spawn(const Arguments& arguments, Files& files, SourceSession& session, AskedWorld& asked) {
    if (Status status = add_view(asked.library, asked.level->blob); !status) return status;
    World& world = asked.spawned.emplace(asked.entities, WorldOptions{.library = &asked.library});
    if (SourceRules rules; asked.level->is_blob)
        read_schemas(arguments, files, world.registry(), rules, session.diagnostics);
    if (session.diagnostics.num_errors() != 0) return Status::error("the schema files have errors");
    if (Status status = world.adopt_schemas(asked.level->blob); !status) return status;
    const Result<Spawned> spawned = world.spawn(asked.level->blob);
    if (!spawned) return spawned.status();
    place_masses(world, spawned->entities());
    world.settle();
    return {};
}

/// Creates the world. Returns false after printing errors.
bool make_world(const Arguments& arguments, Files& files, Console& console, AskedWorld& asked) {
    const std::string& path = arguments.operands()[0];
    SourceSession session;
    if (holds_world(files, path)) {
        const bool loaded = load_save(arguments, files, path, Snapshots::kNewestWhole, asked.save, session.diagnostics);
        return console.print_diagnostics(session.diagnostics), loaded;
    }
    LevelFiles tried;
    asked.level = load_level(arguments, files, console, path, session, tried);
    const Status status = asked.level ? spawn(arguments, files, session, asked) : Status();
    console.print_diagnostics(session.diagnostics);
    if (!status && session.diagnostics.num_errors() == 0) fail(console, status.message());
    return asked.level && status;
}

AnswerPrinter::Format format_of(const Arguments& arguments) {
    const std::string format = arguments.value("format", "table");
    return format == "csv"    ? AnswerPrinter::Format::kCsv
           : format == "json" ? AnswerPrinter::Format::kJson
                              : AnswerPrinter::Format::kTable;
}

Status read_limits(const Arguments& arguments, sql::Options& options) {
    constexpr std::uint64_t kMostRows = 1'000'000'000'000;
    constexpr double kMostSeconds = 1e7;
    options = {.max_rows = 10'000'000, .max_bytes = std::uint64_t(4) << 30, .max_seconds = 60};
    options.allow_updates = arguments.has("save");
    if (Status status = arguments.read_number("seconds", 0.001, kMostSeconds, options.max_seconds); !status)
        return status;
    return arguments.read_number("max-rows", std::uint64_t(1), kMostRows, options.max_rows);
}

/// Runs the statements on the command line, or starts the shell. Returns whether all statements succeeded.
bool answer(const Arguments& arguments, Files& files, Console& console, const sql::Options& options, World& world) {
    sql::Connection connection(world);
    AnswerPrinter printer(console, format_of(arguments));
    if (arguments.operands().size() < 2) return run_shell(connection, printer, options, console);
    const std::string& operand = arguments.operands()[1];
    const Result<std::string> text = is_standard_stream(operand) ? files.read(operand) : Result<std::string>(operand);
    if (!text) return fail(console, text.message()), false;
    const Result<std::uint64_t> updated = connection.ask(*text, printer, options);
    printer.finish();
    if (updated) return true;
    const bool lacks_save =
        !options.allow_updates && updated.message().find("UPDATE is not allowed") != std::string_view::npos;
    return fail(console, updated.message(), lacks_save ? "give --save the name of a save" : ""), false;
}

/// Errors: a part of the save was not loaded and would be lost; the file cannot be written.
Status save_asked(Files& files, AskedWorld& asked) {
    if (!asked.save.left_out.empty())
        return Status::error("what was left out would be lost in the new save; give the blobs with --resource");
    Array<std::byte> bytes{Owner("tool")};
    if (Status status = save(asked.world(), bytes); !status) return status;
    return files.write("save", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

int run_sql(const Arguments& arguments, Files& files, Console& console) {
    sql::Options options;
    if (Status status = read_limits(arguments, options); !status)
        return fail_usage(console, arguments.verb(), status.message());
    if (arguments.operands().size() < 2 && is_stream(arguments.operands()[0]))
        return fail_usage(console, arguments.verb(),
                          "the world comes from standard input, and so would the statements; write them after it");
    AskedWorld asked(arguments);
    if (!make_world(arguments, files, console, asked)) return 1;
    if (!answer(arguments, files, console, options, asked.world())) return 1;
    if (!arguments.has("save")) return 0;
    const Status saved = save_asked(files, asked);
    return saved ? 0 : fail(console, saved.message());
}

#else

int run_sql(const Arguments&, Files&, Console& console) {
    return fail(console, "this tool was built without SQLite", "install it and build the tool again");
}

#endif

}  // namespace

const Verb kSqlVerb{.name = "sql",
                    .summary = "ask a level or a save in SQL",
                    .operands = "SOURCE_OR_BLOB_OR_SAVE [SQL]",
                    .takes = Takes::kInput,
                    .min_operands = 1,
                    .max_operands = 2,
                    .flags = kSqlFlags,
                    .manual = kSqlManual,
                    .examples = kSqlExamples,
                    .run = run_sql};

}  // namespace shoal_tool
