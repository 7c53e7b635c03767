#pragma once
// The plan of a query: which rows it visits, and where the columns of its terms are. It knows no C++ types; queries
// with types and those that come from text have one each, and are told of the rows by a function that is compiled for
// them.
//
//     terms       Write<&Boat::position>, Read<&Sail::area>, Without<Crew>
//     stores      the database            sails              crews            each asked for rows, or for none
//     driver      the store with the fewest rows: of the database, those of the tables that match
//     the rest    looked up by entity, a block of 256 rows at a time
//
//     all terms in one store      the function is called for whole tables, or long runs of them
//     else                        for blocks: a bit for each row that is visited, and by field a list of rows
//
// A block whose rows follow each other in every store is shown as a run. Rows are visited in an order that depends on
// the rows alone, and so does how they are cut for several threads.
// Thread: as for the query.

#include "shoal/job/detail/failure.h"
#include "shoal/query/detail/access.h"
#include "shoal/query/detail/started_loop.h"

namespace shoal {

class Database;
class ComponentDirectory;

namespace detail {

struct PlanState;
struct HeldPlan;

/// What a query asks of the time since its loop ran last.
enum class Noted : std::uint8_t { kNothing, kAdded, kRemoved, kChanged };

/// What a query asks of one component type.
struct PlanTerm {
    static constexpr std::uint16_t kNoAny = 0xFFFF, kNoLink = 0xFFFF;

    const Schema* component = nullptr;  ///< Lifetime: that of its store, or of the program. nullptr: who the parent is
    bool is_field = false;              ///< its columns are shown
    bool writes = false;
    bool is_optional = false;       ///< an entity may lack it
    bool excludes = false;          ///< an entity lacks it
    Noted noted = Noted::kNothing;  ///< only entities that have gained, lost or changed it are visited
    bool is_link = false;           ///< its column says which entity the terms are about that name it
    bool is_each_value = false;     ///< each value that an entity has of the type is visited
    bool is_whole = false;          ///< its columns hold fields that the query does not name, too
    std::uint16_t any_of = kNoAny;  ///< terms with the same number: an entity has one of them
    std::uint16_t link = kNoLink;   ///< it is that of the entity which this term says; kNoLink: of the entity itself
    std::uint32_t offset = 0;       ///< where the field begins in its column. Units: bytes
    std::uint16_t first_column = 0, num_columns = 0;    ///< that are shown, of those of the component
    std::uint32_t field = kAllFields;                   ///< for accesses
    std::uint64_t written_columns = ~std::uint64_t(0);  ///< a bit for each of the first 64 that are shown

    bool is_related() const { return link != kNoLink; }
    /// Whether loops mark column `column` of those that are shown.
    bool writes_column(std::uint32_t column) const { return column >= 64 || (written_columns >> column & 1) != 0; }
};

/// What rows are sorted by: a value in the columns of a field, as a number that is greater where the value is.
struct SortKey {
    std::uint64_t (*of)(const std::byte* value) = nullptr;
    std::uint32_t column = 0, offset = 0;  ///< of the component; in the column
    std::size_t stride = 0;                ///< from row to row
};

/// A store that a query was given.
struct PlanStore {
    Store* store = nullptr;
    OwnedRows* rows = nullptr;  ///< nullptr: it is a database
};

/// Where the columns of a field are for some rows.
struct FieldColumns {
    Table* table = nullptr;                  ///< nullptr: none of the rows has the component
    std::uint32_t first_column = 0;          ///< of the component
    std::uint32_t first_row = 0;             ///< row i of the run is row first_row + i of the table, modulo 2^32
    const std::uint32_t* rows = nullptr;     ///< by row of the block; kNilRow: it lacks the component. nullptr: a run.
                                             ///< Of related entities always, also where the others are a run
    const RowIndex* index = nullptr;         ///< a paged one, which has the row of each owner; nullptr: as above
    const std::byte* values = nullptr;       ///< what removed components were, in place of a table
    const std::uint64_t* enabled = nullptr;  ///< a bit for each row of the table; nullptr: all rows have it
};

/// Which rows of a table are enabled in all of some component types, and in none of others.
struct RowBits {
    const std::uint64_t* const* required = nullptr;
    const std::uint64_t* const* excluded = nullptr;
    std::size_t num_required = 0, num_excluded = 0;

    /// Rows 64 * index to 64 * index + 63. Bits past the last row are arbitrary.
    SHOAL_INLINE std::uint64_t word(std::uint32_t index) const {
        if (SHOAL_LIKELY(num_required == 1 && num_excluded == 0)) return required[0][index];
        std::uint64_t bits = ~std::uint64_t(0);
        for (std::size_t i = 0; i < num_required; ++i) bits &= required[i][index];
        for (std::size_t i = 0; i < num_excluded; ++i) bits &= ~excluded[i][index];
        return bits;
    }
};

/// Rows that a loop has found. Lifetime: the call that it is given to.
struct FoundRows {
    const Entity* owners = nullptr;  ///< of row 0
    RowRange rows{};                 ///< not empty
    std::uint64_t* words = nullptr;  ///< of a block: a bit for each row from rows.begin on; nullptr: a run
    const RowBits* bits = nullptr;   ///< of a run: which of the rows are enabled; nullptr: all
    const std::uint16_t* columns =
        nullptr;  ///< by field: its first column in `table`, which has all; nullptr: see `fields`
    const FieldColumns* fields = nullptr;        ///< by field, where some may lie elsewhere, or be missing
    Table* table = nullptr;                      ///< which has the rows of a run
    const DatabaseTable* of_database = nullptr;  ///< the same, if it is one of a database
    CommandRecorder* commands = nullptr;         ///< of the chunk, if the function takes commands
};

/// What a loop calls.
struct LoopFunction {
    void (*call)(void* context, FoundRows& rows) = nullptr;
    void* context = nullptr;
    bool takes_commands = false;
    ComponentDirectory* directory = nullptr;  ///< whose commands they are; nullptr: that of the plan
    bool takes_runs = false;                  ///< batches: rows that lie side by side in every store, and no blocks
    bool skips_disabled = true;               ///< it leaves out what FoundRows::bits say, and rows without an owner
    bool looks_at_each = false;  ///< it leaves out further rows: it gets blocks, and clears bits of their words
    bool marks = true;           ///< what was visited is marked as written
    std::uint32_t grain = kUsualRowsPerChunk;  ///< rows of a chunk, at least
};

class SHOAL_API QueryPlan {
public:
    /// Over the stores of a directory. Requires: each component type is kept there, or can be; it can be used in this
    /// way; at most one database is asked.
    QueryPlan(ComponentDirectory& directory, std::span<const PlanTerm> terms);
    /// Over stores that are named: the database, or none, and then managers.
    QueryPlan(std::span<const PlanStore> stores, std::span<const PlanTerm> terms);
    QueryPlan(const QueryPlan& other);
    QueryPlan(QueryPlan&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
    QueryPlan& operator=(const QueryPlan& other);
    QueryPlan& operator=(QueryPlan&& other) noexcept;
    ~QueryPlan();

    // See query.h for what these mean to users.
    void set_zones(const ZoneSet& zones);
    void set_live_zones(const LiveZones& zones);
    void set_since(std::uint64_t stamp);
    void see_inactive();
    /// Visits the rows in the order of the keys of a field. Requires: all rows that are visited have it; no type of
    /// which each value is visited.
    void sort_by(std::size_t field, const SortKey& key);
    /// Visits only those that have a tag, or lack it. Requires: a plan over a directory.
    void add_tag(StringId tag, bool excludes);
    /// Says which of the columns of a field loops write; see PlanTerm::written_columns.
    void write_columns(std::size_t field, std::uint64_t columns);
    /// Further rows that stay where they are while a loop runs.
    void hold(OwnedRows& rows);

    Database& database() const;
    const Store& driver() const;
    std::uint64_t num_rows() const;
    /// What a loop touches. Shape: by field, and then by link.
    Array<Access> accesses() const;
    /// The directory of the stores; nullptr: none.
    ComponentDirectory* directory() const;
    /// Whether a loop visits all rows of one table that is not a database's, but for inactive entities; that table.
    Table* only_table() const;

    /// Runs a loop, on several threads if there is an executor and there are rows for several.
    void run(Executor* executor, const LoopFunction& function) const;

private:
    friend struct PlanState;
    explicit QueryPlan(PlanState* state) : state_(state) {}
    void run_any(Executor* executor, const LoopFunction& function) const;

    PlanState* state_;
};

/// Marks rows as written that a loop has shown which did not mark them itself, and tells the stores that compute more
/// from what was written.
class SHOAL_API PlanMarks {
public:
    explicit PlanMarks(const QueryPlan& plan);
    /// Shape: fields: by field. Of those that list rows, the first `num_rows` of the list were shown; else as many from
    /// `first_row` on.
    void add(std::span<const FieldColumns> fields, std::uint32_t num_rows);
    void finish(Executor* executor);

private:
    const PlanState& plan_;
    Array<Array<std::uint32_t>> told_{Owner("query")};  // by store: the rows that it is told of
};

/// A loop that was started on an executor's threads.
class SHOAL_API StartedPlan {
public:
    /// Lifetime: the plan and what the function needs outlive it.
    StartedPlan(const QueryPlan& plan, Executor* executor, const LoopFunction& function);
    StartedPlan(const StartedPlan&) = delete;
    StartedPlan& operator=(const StartedPlan&) = delete;
    ~StartedPlan();
    /// Returns when all rows are done, and marks what was written. Throws nothing.
    void finish();
    /// Throws what the function threw in the first of its rows.
    void rethrow() { failure_.rethrow(); }

private:
    const PlanState& plan_of(const QueryPart& part) const;
    static void run_part(void* loop, CommandRecorder* commands, const QueryPart& part);
    static void mark_part(void* loop, const QueryPart& part);

    const PlanState& plan_;
    Executor* executor_;
    LoopFunction function_;
    bool is_done_ = false;
    Failure failure_;
    HeldPlan* held_;
    StartedLoop loop_;
};

}  // namespace detail
}  // namespace shoal
