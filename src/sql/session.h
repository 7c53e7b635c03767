#pragma once
// The implementation of a connection, which is an in-memory SQLite database whose tables show a world.

#include "shoal/sql/sql.h"
#include "sql/catalog.h"
#include "sql/changes.h"
#include "sql/guard.h"

#include <sqlite3.h>

namespace shoal::sql {

class Session {
public:
    explicit Session(World& world) : world_(world), guard_(*this), changes_(world) {}
    ~Session() { close(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Recreates the tables if the component types of the world have changed.
    Status open();
    /// Runs all statements in a text. Errors: those of Connection::ask().
    Result<std::uint64_t> run(std::string_view text, RowSink& sink, const Options& options);
    std::vector<TableDescription> describe() const;

    World& world() const { return world_; }
    sqlite3* database() const { return database_; }
    Guard& guard() { return guard_; }
    Changes& changes() { return changes_; }
    const std::vector<CatalogTable>& tables() const { return tables_; }
    /// Returns the table with a name, or nullptr.
    const CatalogTable* find_table(std::string_view name) const;
    /// The names of all tables and views.
    const std::vector<std::string>& names() const { return names_; }

private:
    void close();
    Status make_tables();
    Status make_views();
    Status execute(const std::string& text);
    Status run_statements(std::string_view text, RowSink& sink);
    Status step_through(sqlite3_stmt* statement, RowSink& sink);

    World& world_;
    sqlite3* database_ = nullptr;
    Guard guard_;
    Changes changes_;
    std::vector<CatalogTable> tables_;
    std::vector<std::uint64_t> signature_;  // of the tables
    std::vector<std::string> names_;
};

/// Registers the tables of component types and of the world.
int add_component_module(Session& session);
int add_world_module(Session& session);
/// Registers entity() and entity_text().
int add_functions(sqlite3* database);
/// The name of a world table that is not a view, and its columns as in CREATE TABLE.
struct WorldTable {
    std::string_view name, columns;
};
std::span<const WorldTable> world_tables();

}  // namespace shoal::sql
