#pragma once
// Queries a world in SQL. The tables show the columns of its stores in place, without copying anything.
//
//     Result<sql::Answer> heavy = sql::ask(world, "SELECT entity, mass FROM body JOIN fish USING (entity)");
//     if (!heavy) return heavy.status();  // 1:26: there is no table "bdy"; did you mean "body"?
//     for (std::size_t row = 0; row < heavy->num_rows(); ++row)
//         std::puts(heavy->at(row, 0).to_text().c_str());  // 12:3
//
//     table              rows
//     body               one per entity that has the component: entity, then its fields, position_x, position_y ... for
//                        a vector. Hidden columns, which `*` leaves out: zone, the zone of the entity in the database,
//                        and the whole `position` as a text
//     tag                for a component type with `many`: one per component, with its position_in_list, from 0
//     fish_weights       for a field that is an array: entity, position_in_list, value
//     entities           one per living entity: entity, name, tags, zone, components, owner, parent
//     links              one per reference from an entity to another: entity, component, field, target
//     property_values    one per named value of an entity: entity, path, value, own
//     tags, zones        how many entities have each tag, and how many rows each zone holds
//     passes, memory     the costs of passes and component types
//
// In SQL, an entity is a number, so that tables can be joined by entity quickly. It is shown as index:generation.
// entity('12:3') converts the text of an entity to its number, and entity_text(entity) converts the number to text.
// Enums are shown by name, string ids by text, and bools as 0 and 1. A null reference is NULL. Disabled components and
// the components of dead entities count as missing. `EXPLAIN QUERY PLAN SELECT ...` shows which tables are looked up by
// entity and which are scanned.
//
// Only SELECT is allowed and, if Options::allow_updates is set, `UPDATE component SET field = value`. No file is read
// or written. `Options` limits the time of a query and the size of its answer. docs/guide/sql.md has examples.
// Thread: the structural thread of the world, outside of passes.

#include "shoal/base/status.h"
#include "shoal/entity/entity.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3_stmt;

namespace shoal {
class World;
}

namespace shoal::sql {

class Session;

enum class Kind : std::uint8_t { kNull, kInteger, kReal, kText, kEntity };

/// One value of an answer.
struct Value {
    Kind kind = Kind::kNull;
    bool is_float = false;     ///< for kReal, whether the value is a float, whose text needs fewer digits
    std::int64_t integer = 0;  ///< for kInteger, and the number for kEntity
    double real = 0;           ///< for kReal
    std::string_view text{};   ///< for kText. Lifetime: as long as the answer, or the row

    /// Returns the entity of a kEntity, and null for other kinds.
    SHOAL_API Entity entity() const;
    /// Returns the number of a kInteger, kReal or kEntity, and 0 for other kinds.
    SHOAL_API double number() const;
    /// Returns the text for display, such as `12:3` or `0.1`. Text is unchanged, and NULL is empty.
    SHOAL_API std::string to_text() const;
};

/// A column of an answer.
struct Column {
    std::string name;
    /// The type that the table declares: "entity", "integer", "boolean", "float", "double" or "text". Empty if the
    /// column is computed.
    std::string type;
};

struct Options {
    std::uint64_t max_rows = 1'000'000;  ///< in total
    std::uint64_t max_bytes = std::uint64_t(1)
                              << 28;  ///< for the strings in an answer, and for the memory that SQLite uses
    double max_seconds = 10;
    std::uint64_t max_steps = 0;  ///< steps of SQLite's virtual machine, the same in every run; 0: unlimited
    bool allow_updates = false;   ///< UPDATE of fields is allowed
};

/// The row that is being read. Lifetime: valid during the call to which it is passed.
class Row {
public:
    SHOAL_API Row(sqlite3_stmt* statement, const std::vector<Column>& columns);
    std::size_t num_columns() const { return columns_.size(); }
    /// Requires: column < num_columns().
    SHOAL_API Value operator[](std::size_t column) const;

private:
    sqlite3_stmt* statement_;
    const std::vector<Column>& columns_;
    std::vector<bool> are_entities_, are_floats_;  // by column
};

/// Receives rows as they are found. A sink must not change the world.
class RowSink {
public:
    /// Called for each statement that returns rows, before its rows are passed to take().
    virtual void begin(const std::vector<Column>& columns) = 0;
    /// Returns false to skip the remaining rows of this statement.
    virtual bool take(const Row& row) = 0;

protected:
    ~RowSink() = default;
};

/// The rows of an answer.
class Answer {
public:
    const std::vector<Column>& columns() const { return columns_; }
    std::size_t num_columns() const { return columns_.size(); }
    std::size_t num_rows() const { return columns_.empty() ? 0 : cells_.size() / columns_.size(); }
    /// Requires: row < num_rows(), column < num_columns(). Lifetime: as long as the answer.
    SHOAL_API Value at(std::size_t row, std::size_t column) const;
    /// Returns the index of the column with this name, or num_columns().
    SHOAL_API std::size_t find_column(std::string_view name) const;
    /// The number of components that UPDATE has changed.
    std::uint64_t num_updated() const { return num_updated_; }

private:
    friend class AnswerSink;
    friend class Connection;
    struct Cell {
        Value value;
        std::size_t text_offset = 0;
    };
    std::vector<Column> columns_;
    std::vector<Cell> cells_;  // row by row
    std::string texts_;
    std::uint64_t num_updated_ = 0;
};

/// A table that can be queried.
struct TableDescription {
    std::string name;
    std::string declaration;           ///< as in CREATE TABLE
    std::vector<std::string> columns;  ///< including hidden ones
};

/// Keeps the tables of a world between queries. Each query updates them for component types that were added or removed.
class Connection {
public:
    /// Lifetime: `world` outlives the connection.
    SHOAL_API explicit Connection(World& world);
    SHOAL_API ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Returns the rows of the last statement that returns rows. `text` may contain several statements, separated by
    /// `;`. Errors: the text is not valid SQL, it names something that does not exist or is not allowed, a limit is
    /// reached, or passes are running. The message begins with the line and the column, as in "1:15: ". On error, the
    /// updates of all statements are undone.
    SHOAL_API Result<Answer> ask(std::string_view text, const Options& options = {});
    /// Like ask() above, but passes the rows of all statements to `sink`, and returns the number of components that
    /// were updated.
    SHOAL_API Result<std::uint64_t> ask(std::string_view text, RowSink& sink, const Options& options = {});

    /// Returns the tables. The tables of component types come first, in the order of the stores. Errors: SQLite is out
    /// of memory.
    SHOAL_API Result<std::vector<TableDescription>> tables();

private:
    Session* session_;
};

/// Whether `text` ends with a `;` that is outside of quotes and comments. If not, a shell should read another line.
SHOAL_API bool is_complete(const std::string& text);
/// The common keywords of SQL, in capitals, for completion in shells.
SHOAL_API const std::vector<std::string>& keywords();

/// Runs one query. See Connection::ask(). Cost: also creates the tables, which takes about 20 us per table.
SHOAL_API Result<Answer> ask(World& world, std::string_view text, const Options& options = {});

}  // namespace shoal::sql
