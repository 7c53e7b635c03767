#include "sql/guard.h"

#include "shoal/base/clock.h"
#include "shoal/base/text.h"
#include "shoal/components/tag.h"
#include "sql/session.h"

#include <sqlite3.h>
#include <algorithm>

namespace shoal::sql {
namespace {

constexpr int kStepsPerCheck = 100;

/// Pragmas that only describe the tables.
constexpr std::string_view kHarmlessPragmas[] = {"table_info", "table_xinfo", "table_list", "function_list"};
/// Functions that have effects beyond the query.
constexpr std::string_view kRefusedFunctions[] = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"};

template <std::size_t kCount>
bool is_one_of(std::string_view name, const std::string_view (&names)[kCount]) {
    return std::any_of(std::begin(names), std::end(names), [&](std::string_view n) { return is_same_name(n, name); });
}

std::string_view view_of(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }

/// Returns advice on what to do instead of a statement that is not allowed.
std::string refusal_of(int action) {
    switch (action) {
        case SQLITE_INSERT:
            return "INSERT is not allowed: SQL reads components and sets their fields; add components with "
                   "World::commands(), a store or a source";
        case SQLITE_DELETE:
            return "DELETE is not allowed: SQL reads components and sets their fields; destroy entities or remove "
                   "components with World::commands() or a store";
        case SQLITE_ATTACH:
        case SQLITE_DETACH:
            return "ATTACH and DETACH are not allowed: a question is about one world, and reads no files; load a save "
                   "into a world of its own";
        case SQLITE_PRAGMA:
            return "this PRAGMA is not allowed; only table_info, table_xinfo, table_list and function_list are";
        case SQLITE_TRANSACTION:
        case SQLITE_SAVEPOINT:
            return "transactions are not needed: the statements of one question change all or nothing";
        default:
            return "only SELECT is allowed, and UPDATE where the program allows it; for a table of your own, write "
                   "WITH "
                   "name AS (SELECT ...)";
    }
}

}  // namespace

void Guard::limit(sqlite3* database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    // The length of strings is limited, because a single function call cannot be interrupted, and instr() takes time
    // proportional to the product of two lengths.
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 1 << 17);
    sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 200);
    sqlite3_limit(database, SQLITE_LIMIT_VDBE_OP, 1 << 20);
    sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
}

void Guard::begin(sqlite3* database, const Options& options) {
    options_ = options;
    reason_.clear();
    culprit_.clear();
    const double seconds = std::clamp(options.max_seconds, 0.0, 1e9);
    deadline_ns_ = monotonic_ns() + static_cast<std::int64_t>(seconds * 1e9);
    memory_before_ = sqlite3_memory_used();
    num_steps_ = num_rows_ = num_bytes_ = 0;
    sqlite3_set_authorizer(database, authorize, this);
    sqlite3_progress_handler(database, kStepsPerCheck, check_progress, this);
}

void Guard::end(sqlite3* database) {
    sqlite3_set_authorizer(database, nullptr, nullptr);
    sqlite3_progress_handler(database, 0, nullptr, nullptr);
}

Status Guard::count_row(std::size_t num_bytes) {
    if (++num_rows_ > options_.max_rows)
        return Status::error(concat("the answer has more than ", options_.max_rows,
                                    options_.max_rows == 1 ? " row" : " rows",
                                    "; narrow it down with WHERE or LIMIT, or allow more rows"));
    return count_bytes(num_bytes);
}

Status Guard::count_bytes(std::size_t num_bytes) {
    num_bytes_ += num_bytes;
    if (num_bytes_ <= options_.max_bytes) return {};
    return Status::error(concat("the answer has more than ", options_.max_bytes,
                                " bytes; narrow it down with WHERE or LIMIT, or allow more bytes"));
}

bool Guard::is_within_limits() {
    if (options_.max_steps != 0 && num_steps_ > options_.max_steps)
        reason_ = concat("it takes more than ", options_.max_steps, " steps");
    else if (monotonic_ns() > deadline_ns_)
        reason_ =
            concat("it takes more than ", options_.max_seconds, options_.max_seconds == 1 ? " second" : " seconds");
    else if (sqlite3_memory_used() - memory_before_ > static_cast<std::int64_t>(options_.max_bytes))
        reason_ = concat("it needs more than ", options_.max_bytes, " bytes of memory");
    else
        return true;
    culprit_.clear();
    reason_ += "; ask about fewer rows, join tables by entity, or allow more";
    return false;
}

int Guard::check_progress(void* guard) {
    auto& self = *static_cast<Guard*>(guard);
    self.num_steps_ += kStepsPerCheck;
    return self.is_within_limits() ? 0 : 1;
}

int Guard::authorize(void* guard, int action, const char* first, const char* second, const char*, const char*) {
    return static_cast<Guard*>(guard)->allows(action, view_of(first), view_of(second)) ? SQLITE_OK : SQLITE_DENY;
}

bool Guard::allows(int action, std::string_view first, std::string_view second) {
    if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE) return true;
    // SQLite does this when it reconnects a table. This alone changes nothing, because CREATE needs further
    // permissions.
    const bool is_schema = first.starts_with("sqlite_");
    if (is_schema && (action == SQLITE_UPDATE || action == SQLITE_INSERT)) return true;
    if (action == SQLITE_FUNCTION && !is_one_of(second, kRefusedFunctions)) return true;
    if (action == SQLITE_PRAGMA && is_one_of(first, kHarmlessPragmas)) return true;
    if (action == SQLITE_UPDATE) return allows_setting(first, second);
    culprit_.clear();
    reason_ = refusal_of(is_schema ? SQLITE_DROP_TABLE : action);
    if (action == SQLITE_FUNCTION) {
        culprit_ = second;
        reason_ =
            concat("the function ", quoted(second), " is not allowed: a question reads the world and nothing else");
    }
    return false;
}

bool Guard::allows_setting(std::string_view table_name, std::string_view column_name) {
    culprit_.clear();
    const auto refuse = [&](std::string why) {
        reason_ = std::move(why);
        return false;
    };
    if (!options_.allow_updates)
        return refuse("UPDATE is not allowed here: this question only reads; allow updates to set fields");
    const CatalogTable* const table = session_.find_table(table_name);
    culprit_ = table_name;
    if (table == nullptr) return true;  // a table about the world, which SQLite itself refuses to change
    if (table->kept->id() == schema_of<Tag>().id())
        return refuse("tags are added and removed, and not set; call TagManager");
    if (table->list)
        return refuse(concat(quoted(table_name), " is read only; set the values of an array with World::set()"));
    culprit_ = column_name;
    for (const CatalogColumn& column : table->columns) {
        if (!is_same_name(column.name, column_name) || column.shows == Shows::kField) continue;
        if (column.shows != Shows::kWhole)
            return refuse(concat(quoted(column_name), " says which row it is, and cannot be set; set fields"));
        return refuse(concat(quoted(column_name), " is a text of several values; set its parts, such as ",
                             quoted(concat(column_name, "_x"))));
    }
    return true;
}

}  // namespace shoal::sql
