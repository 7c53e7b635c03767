#pragma once
// The plan of a query: which rows it visits, and where the columns of its terms are. It is type-erased. Typed queries
// and text queries each have a plan. The plan passes the rows that it finds to a function that is compiled for the
// query.
//
//     terms       Write<&Boat::position>, Read<&Sail::area>, Without<Crew>
//     stores      the database            sails              crews            each must have a row, or none
//     driver      the store with the fewest rows; in the database, rows of matching tables count
//     the rest    looked up by entity, a block of 256 rows at a time
//
//     all terms in one store      the function is called for whole tables, or long runs of them
//     else                        for blocks: a bit for each row that is visited, and by field a list of rows
//
// If a block's rows are consecutive in every store, the block is passed as a run. The order of the rows, and where they
// are divided between threads, depend only on the rows.
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

/// A query looks for this kind of change since its last loop.
enum class Noted : std::uint8_t { kNothing, kAdded, kRemoved, kChanged };

/// What a query needs from one component type.
struct PlanTerm {
    static constexpr std::uint16_t kNoAny = 0xFFFF, kNoLink = 0xFFFF;

    const Schema* component = nullptr;  ///< Lifetime: the store, or static. nullptr: the parent link
    bool is_field = false;              ///< the function gets columns of the component
    bool writes = false;
    bool is_optional = false;       ///< an entity may lack the component
    bool excludes = false;          ///< an entity must lack the component
    Noted noted = Noted::kNothing;  ///< only entities that have gained, lost or changed the component are visited
    bool is_link = false;           ///< the column holds the entity whose fields the linked terms read
    bool is_each_value = false;     ///< an entity is visited once for each of its values
    bool is_whole = false;          ///< the columns also hold fields that the query does not name
    std::uint16_t any_of = kNoAny;  ///< an entity must match at least one of the terms with this number
    std::uint16_t link = kNoLink;   ///< the link term that leads to the related entity; kNoLink: not related
    std::uint32_t offset = 0;       ///< where the field begins in its column. Units: bytes
    std::uint16_t first_column = 0, num_columns = 0;    ///< the columns that the function gets
    std::uint32_t field = kAllFields;                   ///< the field, as in Access::field
    std::uint64_t written_columns = ~std::uint64_t(0);  ///< bit i is set if shown column i is written (i < 64)

    bool is_related() const { return link != kNoLink; }
    /// Whether loops mark the shown column `column` as written.
    bool writes_column(std::uint32_t column) const { return column >= 64 || (written_columns >> column & 1) != 0; }
};

/// The key by which rows are sorted: `of` converts a field's value to a number that increases with the value.
struct SortKey {
    std::uint64_t (*of)(const std::byte* value) = nullptr;
    std::uint32_t column = 0, offset = 0;  ///< the column's index in the component; the key's byte offset in an element
    std::size_t stride = 0;                ///< bytes from one row to the next
};

/// A store that was passed to a query.
struct PlanStore {
    Store* store = nullptr;
    OwnedRows* rows = nullptr;  ///< nullptr: the store is a database
};

/// The location of a field's columns, for some rows.
struct FieldColumns {
    Table* table = nullptr;                  ///< nullptr: none of the rows has the component
    std::uint32_t first_column = 0;          ///< the first column of the component in `table`
    std::uint32_t first_row = 0;             ///< row i of the run is row first_row + i of the table, modulo 2^32
    const std::uint32_t* rows = nullptr;     ///< by row of the block: the row in the table, or kNilRow. nullptr: a run.
                                             ///< Fields of related entities always use `rows`, even in a run
    const RowIndex* index = nullptr;         ///< a paged index that has the row of each owner; nullptr: use `rows`
    const std::byte* values = nullptr;       ///< the former values of removed components; replaces `table`
    const std::uint64_t* enabled = nullptr;  ///< a bit for each row of the table; nullptr: all rows are enabled
};

/// Selects the table rows in which every required component type is enabled, and no excluded type is enabled.
struct RowBits {
    const std::uint64_t* const* required = nullptr;
    const std::uint64_t* const* excluded = nullptr;
    std::size_t num_required = 0, num_excluded = 0;

    /// The bits of rows 64 * index to 64 * index + 63. Bits past the last row are arbitrary.
    SHOAL_INLINE std::uint64_t word(std::uint32_t index) const {
        if (SHOAL_LIKELY(num_required == 1 && num_excluded == 0)) return required[0][index];
        std::uint64_t bits = ~std::uint64_t(0);
        for (std::size_t i = 0; i < num_required; ++i) bits &= required[i][index];
        for (std::size_t i = 0; i < num_excluded; ++i) bits &= ~excluded[i][index];
        return bits;
    }
};

/// Rows that a loop has found. Lifetime: the call to the function that gets them.
struct FoundRows {
    const Entity* owners = nullptr;  ///< the owner of row r is owners[r]
    RowRange rows{};                 ///< not empty
    std::uint64_t* words = nullptr;  ///< for a block: a bit for each row from rows.begin on; nullptr: a run
    const RowBits* bits = nullptr;   ///< for a run: which of the rows are enabled; nullptr: all
    const std::uint16_t* columns =
        nullptr;  ///< indexed by field: its first column in `table`, which has all fields; nullptr: use `fields`
    const FieldColumns* fields = nullptr;        ///< indexed by field; used if some fields are elsewhere or missing
    Table* table = nullptr;                      ///< the table of a run's rows
    const DatabaseTable* of_database = nullptr;  ///< the same table, if it is in a database
    CommandRecorder* commands = nullptr;         ///< the commands of the chunk, if the function takes commands
};

/// The function that a loop calls.
struct LoopFunction {
    void (*call)(void* context, FoundRows& rows) = nullptr;
    void* context = nullptr;
    bool takes_commands = false;
    ComponentDirectory* directory = nullptr;   ///< the directory for its commands; nullptr: the plan's directory
    bool takes_runs = false;                   ///< it takes batches: rows that are consecutive in every store
    bool skips_disabled = true;                ///< it skips disabled rows (FoundRows::bits) and rows without an owner
    bool looks_at_each = false;                ///< it skips rows by clearing bits in the blocks' words
    bool marks = true;                         ///< visited rows are marked as written
    std::uint32_t grain = kUsualRowsPerChunk;  ///< the least number of rows in a chunk
};

class SHOAL_API QueryPlan {
public:
    /// A plan over the stores of a directory. Requires: for each term, the directory has or can make a store for the
    /// component type, and the store supports this use of the type; the terms use at most one database.
    QueryPlan(ComponentDirectory& directory, std::span<const PlanTerm> terms);
    /// A plan over the given stores: an optional database, then managers.
    QueryPlan(std::span<const PlanStore> stores, std::span<const PlanTerm> terms);
    QueryPlan(const QueryPlan& other);
    QueryPlan(QueryPlan&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
    QueryPlan& operator=(const QueryPlan& other);
    QueryPlan& operator=(QueryPlan&& other) noexcept;
    ~QueryPlan();

    // query.h describes these for users.
    void set_zones(const ZoneSet& zones);
    void set_live_zones(const LiveZones& zones);
    void set_since(std::uint64_t stamp);
    void see_inactive();
    /// Visits the rows in the order of a field's keys. Requires: all visited rows have the field; the plan does not
    /// visit each value of a `many` type.
    void sort_by(std::size_t field, const SortKey& key);
    /// Visits only entities that have a tag or, with `excludes`, lack it. Requires: the plan is over a directory.
    void add_tag(StringId tag, bool excludes);
    /// Sets which of a field's columns the loops write; see PlanTerm::written_columns.
    void write_columns(std::size_t field, std::uint64_t columns);
    /// Adds rows that must stay in place while a loop runs.
    void hold(OwnedRows& rows);

    Database& database() const;
    const Store& driver() const;
    std::uint64_t num_rows() const;
    /// A loop's accesses. Shape: indexed by field, then by link.
    Array<Access> accesses() const;
    /// The directory of the stores; nullptr: there is none.
    ComponentDirectory* directory() const;
    /// If a loop visits a single table, which is not in a database, and skips only inactive entities, returns this
    /// table.
    Table* only_table() const;

    /// Runs a loop, on several threads if there is an executor and there are enough rows.
    void run(Executor* executor, const LoopFunction& function) const;

private:
    friend struct PlanState;
    explicit QueryPlan(PlanState* state) : state_(state) {}
    void run_any(Executor* executor, const LoopFunction& function) const;

    PlanState* state_;
};

/// Marks as written the rows that a loop has passed without marking them, and notifies the stores that derive data from
/// these rows.
class SHOAL_API PlanMarks {
public:
    explicit PlanMarks(const QueryPlan& plan);
    /// Shape: `fields` has an element for each field. For a field that lists rows, the first `num_rows` rows of the
    /// list were passed; for other fields, `num_rows` rows from `first_row` on.
    void add(std::span<const FieldColumns> fields, std::uint32_t num_rows);
    void finish(Executor* executor);

private:
    const PlanState& plan_;
    Array<Array<std::uint32_t>> told_{Owner("query")};  // indexed by store: the rows of which the store is notified
};

/// A loop that was started on an executor's threads.
class SHOAL_API StartedPlan {
public:
    /// Lifetime: the plan and the data that the function uses outlive this object.
    StartedPlan(const QueryPlan& plan, Executor* executor, const LoopFunction& function);
    StartedPlan(const StartedPlan&) = delete;
    StartedPlan& operator=(const StartedPlan&) = delete;
    ~StartedPlan();
    /// Waits until all rows are done, and then marks the written rows. Does not throw.
    void finish();
    /// If the function threw, rethrows its exception. If it threw for several rows, rethrows the exception from the
    /// first of these rows.
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
