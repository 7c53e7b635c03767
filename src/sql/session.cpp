#include "sql/session.h"

#include "shoal/base/text.h"
#include "shoal/components/tag.h"
#include "sql/messages.h"

#include <algorithm>

namespace shoal::sql {
namespace {

/// The maximum number of SELECTs in a view; SQLite allows 500.
constexpr std::size_t kMostReferences = 400;

/// One SELECT for each field that refers to an entity.
std::string references_view(const std::vector<CatalogTable>& tables) {
    std::string text;
    std::size_t count = 0;
    for (const CatalogTable& table : tables)
        for (const CatalogColumn& column : table.columns) {
            if (column.type != "ENTITY" || column.shows == Shows::kEntity || ++count > kMostReferences) continue;
            const std::string field = table.list ? table.list->field->name : column.path;
            text += concat(text.empty() ? "" : " UNION ALL ", "SELECT entity, ", sql_text(table.kept->name()),
                           " AS component, ", sql_text(field), " AS field, ", sql_name(column.name), " AS target FROM ",
                           sql_name(table.name), " WHERE ", sql_name(column.name), " IS NOT NULL");
        }
    return text.empty() ? "SELECT NULL AS entity, NULL AS component, NULL AS field, NULL AS target WHERE 0" : text;
}

std::string tags_view(const std::vector<CatalogTable>& tables) {
    for (const CatalogTable& table : tables)
        if (table.kept->id() == schema_of<Tag>().id())
            return concat("SELECT tag, count(DISTINCT entity) AS entities FROM ", sql_name(table.name),
                          " GROUP BY tag");
    return "SELECT NULL AS tag, NULL AS entities WHERE 0";
}

/// The memory of a row in an answer.
std::size_t bytes_of(sqlite3_stmt* statement, int num_columns) {
    std::size_t num_bytes = 0;
    for (int i = 0; i < num_columns; ++i) {
        const int type = sqlite3_column_type(statement, i);  // sqlite3_column_bytes() would convert numbers to text
        const bool has_bytes = type == SQLITE_TEXT || type == SQLITE_BLOB;
        num_bytes += sizeof(Value) + (has_bytes ? static_cast<std::size_t>(sqlite3_column_bytes(statement, i)) : 0);
    }
    return num_bytes;
}

}  // namespace

void Session::close() {
    if (database_ != nullptr) sqlite3_close(database_);
    database_ = nullptr;
}

const CatalogTable* Session::find_table(std::string_view name) const {
    for (const CatalogTable& table : tables_)
        if (is_same_name(table.name, name)) return &table;
    return nullptr;
}

Status Session::open() {
    std::vector<std::uint64_t> signature = catalog_signature(world_);
    if (database_ != nullptr && signature == signature_) return {};
    close();
    tables_ = list_component_tables(world_);
    signature_ = std::move(signature);
    // A connection is used by only one thread. Without this flag, SQLite would lock a mutex for each value.
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_PRIVATECACHE |
                           SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(":memory:", &database_, kFlags, nullptr) != SQLITE_OK ||
        add_component_module(*this) != SQLITE_OK || add_world_module(*this) != SQLITE_OK ||
        add_functions(database_) != SQLITE_OK) {
        close();
        return Status::error("SQLite cannot be opened: memory is short");
    }
    if (Status made = make_tables(); !made) return close(), made;
    Guard::limit(database_);
    return {};
}

Status Session::execute(const std::string& text) {
    if (sqlite3_exec(database_, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return Status::error(concat("a table cannot be made: ", sqlite3_errmsg(database_), " in ", text));
}

Status Session::make_tables() {
    names_.clear();
    if (Status set = execute("PRAGMA temp_store = memory"); !set) return set;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        names_.push_back(tables_[i].name);
        const std::string text =
            concat("CREATE VIRTUAL TABLE ", sql_name(tables_[i].name), " USING shoal_component(", i, ')');
        if (Status made = execute(text); !made) return made;
    }
    return make_views();
}

/// If a component type has the same name as a view of the world, the view is renamed, for example to world_zones.
Status Session::make_views() {
    const auto free = [&](std::string_view name) {
        const bool is_taken = find_table(name) != nullptr;
        names_.push_back(free_name(concat(is_taken ? "world_" : "", name), names_));
        return sql_name(names_.back());
    };
    for (std::size_t i = 0; i < world_tables().size(); ++i) {
        const std::string name = free(world_tables()[i].name);
        if (Status made = execute(concat("CREATE VIRTUAL TABLE ", name, " USING shoal_world(", i, ')')); !made)
            return made;
    }
    if (Status made = execute(concat("CREATE VIEW ", free("links"), " AS ", references_view(tables_))); !made)
        return made;
    return execute(concat("CREATE VIEW ", free("tags"), " AS ", tags_view(tables_)));
}

std::vector<TableDescription> Session::describe() const {
    std::vector<TableDescription> tables;
    for (const CatalogTable& table : tables_) {
        tables.push_back({table.name, table.declaration(), {}});
        for (const CatalogColumn& column : table.columns) tables.back().columns.push_back(column.name);
    }
    for (std::size_t i = tables_.size(); i < names_.size(); ++i) {
        const std::size_t number = i - tables_.size();
        const std::string columns = number < world_tables().size() ? std::string(world_tables()[number].columns)
                                    : number == world_tables().size()
                                        ? "entity ENTITY, component TEXT, field TEXT, target ENTITY"
                                        : "tag TEXT, entities INTEGER";
        tables.push_back({names_[i], concat("CREATE TABLE ", sql_name(names_[i]), " (", columns, ')'), {}});
        for (std::size_t at = 0; at < columns.size(); at = std::min(columns.find(", ", at), columns.size() - 2) + 2)
            tables.back().columns.push_back(columns.substr(at, columns.find(' ', at) - at));
    }
    return tables;
}

// --- questions ---------------------------------------------------------------------------------------------------

Result<std::uint64_t> Session::run(std::string_view text, RowSink& sink, const Options& options) {
    if (world_.directory().is_held()) return Status::error("passes of the world run; ask between two steps");
    if (Status opened = open(); !opened) return opened;
    guard_.begin(database_, options);
    changes_.begin();
    Status status = run_statements(text, sink);
    guard_.end(database_);
    if (!status) {
        changes_.undo();
        return status;
    }
    return changes_.num_updated();
}

Status Session::run_statements(std::string_view text, RowSink& sink) {
    if (text.find('\0') != std::string_view::npos)
        return error_at(text, text.find('\0'), "the text has a zero byte; SQL is UTF-8 text");
    for (std::size_t offset = 0; offset < text.size();) {
        sqlite3_stmt* statement = nullptr;
        const char* rest = nullptr;
        const std::string_view left = text.substr(offset);
        const int prepared =
            left.size() > 1u << 20
                ? SQLITE_TOOBIG
                : sqlite3_prepare_v2(database_, left.data(), static_cast<int>(left.size()), &statement, &rest);
        if (prepared != SQLITE_OK) return error_of(*this, text, offset, prepared);
        const std::size_t next = static_cast<std::size_t>(rest - text.data());
        Status status = statement == nullptr ? Status() : step_through(statement, sink);
        const int finished = sqlite3_finalize(statement);
        if (!status) return error_at(text, skip_blanks(text, offset), status.message());
        if (finished != SQLITE_OK) return error_of(*this, text, offset, finished);
        offset = next;
    }
    return {};
}

Status Session::step_through(sqlite3_stmt* statement, RowSink& sink) {
    const std::vector<Column> columns = columns_of(statement);
    const Row row(statement, columns);
    if (!columns.empty()) sink.begin(columns);
    int stepped = SQLITE_OK;
    while ((stepped = sqlite3_step(statement)) == SQLITE_ROW) {
        if (Status counted = guard_.count_row(bytes_of(statement, static_cast<int>(columns.size()))); !counted)
            return counted;
        if (!sink.take(row)) break;
    }
    return stepped == SQLITE_DONE ? changes_.apply() : Status();
}

}  // namespace shoal::sql
