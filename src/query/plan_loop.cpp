// The loops of plans: over whole tables if one store has the components of all terms, otherwise over the blocks of a
// join.

#include "query/join_block.h"
#include "query/plan_state.h"

namespace shoal::detail {
namespace {

/// Caches the stamps of recent blocks, because most rows are in the same block as the row before.
class RecentStamps {
public:
    std::uint64_t of(const Table& table, std::uint32_t column, std::uint32_t block) {
        One& one = recent_[column % std::size(recent_)];
        if (one.table != &table || one.column != column || one.block != block)
            one = {&table, column, block, table.written_stamp(column, block)};
        return one.stamp;
    }

private:
    struct One {
        const Table* table = nullptr;
        std::uint32_t column = 0, block = 0;
        std::uint64_t stamp = 0;
    } recent_[8];
};

/// The part of a loop that one thread runs.
class PlanLoop {
public:
    PlanLoop(const PlanState& plan, const LoopFunction& function, bool sorts = true)
        : plan_(plan),
          places_(plan.places),
          function_(function),
          sorts_(sorts && !plan.sorted.empty()),
          is_listed_(sorts_ || !plan.noted.empty()),
          // Batches have no columns for fields that the function looks up, and the loop does not notice writes to these
          // fields.
          is_alone_(!is_listed_ && plan.is_alone &&
                    !(plan.looks_up &&
                      (plan.since != 0 || function.takes_runs || !function.skips_disabled || plan.has_holes()))) {}

    /// Calls visit(part) for each part of the driver's rows.
    template <class Visit>
    void for_each_part(Visit&& visit) const {
        if (is_listed_) {
            const std::span<const Entity> owners = plan_.listed(sorts_);
            return visit(QueryPart{nullptr, nullptr, {0, static_cast<std::uint32_t>(owners.size())}, owners.data()});
        }
        const std::uint8_t driver = is_alone_ ? plan_.alone : plan_.driver();
        if (driver != places_.database) {
            Table& table = places_.stores[driver].rows->table();
            return add_part({&table, nullptr, {0, table.num_rows()}}, visit);
        }
        const auto visit_table = [&](DatabaseTable& table) {
            add_part({&table.table(), &table, {0, table.num_rows()}}, visit);
        };
        if (SHOAL_UNLIKELY(plan_.in_zones))
            plan_.match[0].for_each_table(plan_.zones_now(), visit_table);
        else
            plan_.match[0].for_each_table(visit_table);
    }
    /// Calls the function for the visited rows of a part, and marks the written rows in stores other than the driver.
    void run_part(const QueryPart& part, CommandRecorder* commands) const {
        if (part.rows.size() == 0) return;
        if (SHOAL_LIKELY(visits_table(part)))
            run_table(part, commands);
        else
            run_blocks(part, commands);
    }
    /// Marks the written rows in the driver.
    void mark_part(const QueryPart& part) const {
        if (!function_.marks || is_listed_) return;
        const std::uint8_t driver = is_alone_ ? plan_.alone : places_.driver_of(part);
        const std::uint16_t* const columns = plan_.columns_of(part.of_database);
        for (const WrittenColumn one : plan_.written)
            if (is_alone_ || plan_.store_of(one.field) == driver)
                mark_column(*part.table, std::uint32_t(columns[one.field]) + one.column, part.rows);
        for (ToldRows& told : plan_.told) {
            if (told.store != driver) continue;
            if (visits_table(part))
                for_each_run(places_.left_out(), part, [&](RowRange rows) { told.add_all(rows); });
            else
                told.add_visited(part.rows);
        }
    }
    /// begin() runs before the first part, and finish() after the last.
    void begin() const {
        if (!is_listed_) plan_.begin_links();
        if (plan_.told.empty()) return;
        const std::uint8_t driver = is_listed_ ? TermStores::kNone : plan_.driver();
        const bool notes_blocks = !is_listed_ && (!is_alone_ || function_.looks_at_each || !function_.skips_disabled);
        for (ToldRows& told : plan_.told)
            told.begin(notes_blocks && told.store == driver ? places_.stores[driver].rows->num_rows() : 0);
    }
    void finish(Executor* executor) const {
        if (!function_.marks) return;
        for (ToldRows& told : plan_.told)
            told.tell(*places_.stores[told.store].store, plan_.written_columns(told.store), executor);
    }
    /// Prepares a loop for several threads. Returns whether they may share the loop.
    bool share() const {
        const std::uint8_t driver = is_listed_ ? TermStores::kNone : plan_.driver();
        bool writes_others = false;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i)
            writes_others |= plan_.field(i).writes && plan_.store_of(i) != driver;
        if (plan_.since != 0 && writes_others && marks_what_it_watches()) return false;
        return ToldRows::share(plan_.told, places_, driver, writes_others);
    }
    /// Whether the loop is known, without a walk over the parts, to have only one chunk.
    bool is_small() const {
        return is_alone_ && !places_.has_database() && places_.stores[plan_.alone].rows->num_rows() <= function_.grain;
    }

private:
    /// A block with room for its results.
    struct Block : JoinBlock {
        Block(std::size_t num_stores, std::size_t num_fields, std::size_t num_links)
            : lists(num_stores + num_fields), of_fields(num_fields), fields(num_fields), linked(num_links) {
            found = lists.data();
            links = {linked.data(), num_links};
        }
        Room<std::uint32_t[kRows], 12> lists;      // indexed by store, then by field; for fields with their own lists
        Room<const std::uint32_t*, 16> of_fields;  // indexed by field: the rows in its store, or kNilRow
        Room<FieldColumns, 16> fields;             // the columns in the shown table
        Room<DatabaseTable*, kRows> tables_of_rows{kRows};
        Room<LinkedRows, 1> linked;
    };
    /// Rows that are consecutive in every store. They may be in several blocks.
    struct Run {
        RowRange rows;  // the rows in the table that a batch shows
        DatabaseTable* own = nullptr;
        Room<FieldColumns, 16> fields;

        explicit Run(std::size_t num_fields) : fields(num_fields) {}
    };

    template <class Visit>
    SHOAL_INLINE void add_part(const QueryPart& part, Visit&& visit) const {
        if (SHOAL_UNLIKELY(!plan_.links.empty())) plan_.reserve_links(part.of_database, part.table->num_rows());
        if (SHOAL_LIKELY(plan_.since == 0) || !is_alone_) return visit(part);
        Room<std::uint32_t, 32> columns(num_columns());
        std::size_t num_watched = 0;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            const std::uint32_t first = first_column(part.of_database, i);
            if (!is_watched(plan_.field(i)) || first == kNoColumn) continue;
            for (std::uint32_t c = 0; c < plan_.field(i).num_columns; ++c)
                columns[num_watched++] = first + plan_.field(i).first_column + c;
        }
        const std::span<const std::uint32_t> watched(columns.data(), num_watched);
        for (RowRange rows = next_changed(*part.table, watched, plan_.since, 0); rows.size() != 0;
             rows = next_changed(*part.table, watched, plan_.since, rows.end))
            visit({part.table, part.of_database, rows});
    }
    std::size_t num_columns() const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) count += plan_.field(i).num_columns;
        return count;
    }
    /// Whether changed_since() takes writes to a field into account.
    static bool is_watched(const PlanTerm& field) {
        return !field.writes && !field.is_related() && field.noted == Noted::kNothing;
    }
    /// Whether the loop marks a column that it also watches for changes, because it reads and writes fields of a
    /// component that is kept in one column.
    bool marks_what_it_watches() const {
        for (const PlanTerm& read : plan_.terms)
            for (const PlanTerm& written : plan_.terms)
                if (read.is_field && is_watched(read) && read.is_whole && written.writes &&
                    written.component->id() == read.component->id())
                    return true;
        return false;
    }

    // --- tables --------------------------------------------------------------------------------------------------

    /// Whether the function is called for whole runs of a part.
    bool visits_table(const QueryPart& part) const {
        return is_alone_ && !function_.looks_at_each && (function_.skips_disabled || has_all_rows(part));
    }
    bool has_all_rows(const QueryPart& part) const {
        if (part.of_database == nullptr) return part.table->num_holes() == 0;
        if (!plan_.match[0].all_rows(*part.of_database)) return false;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i)
            if (plan_.field(i).is_optional && part.of_database->presence(plan_.types[plan_.fields[i]]) != nullptr)
                return false;
        return true;
    }
    SHOAL_INLINE void run_table(const QueryPart& part, CommandRecorder* commands) const {
        FoundRows found{.owners = part.table->entities().data(),
                        .rows = part.rows,
                        .columns = plan_.columns_of(part.of_database),
                        .table = part.table,
                        .of_database = part.of_database,
                        .commands = commands};
        if (SHOAL_LIKELY(plan_.has_all_fields)) return run_enabled(part, found);
        Room<FieldColumns, 16> fields(plan_.fields.size());
        bind(fields.data(), part.of_database, {});
        found.fields = fields.data(), found.columns = nullptr;
        run_enabled(part, found);
    }
    /// Passes the rows whose required components are enabled and whose excluded components are not.
    SHOAL_INLINE void run_enabled(const QueryPart& part, FoundRows& found) const {
        if (SHOAL_LIKELY((plan_.required.empty() && plan_.excluded.empty()) || part.of_database == nullptr))
            return show_table(part, found);
        Room<const std::uint64_t*, 8> bits(plan_.required.size() + plan_.excluded.size());
        const RowBits chosen = bits_of(*part.of_database, bits.data());
        found.bits = &chosen;
        show_table(part, found);
    }
    SHOAL_INLINE void show_table(const QueryPart& part, FoundRows& found) const {
        const InactiveEntities* const left_out = places_.left_out();
        if (SHOAL_LIKELY(left_out == nullptr)) return function_.call(function_.context, found);
        for_each_run(left_out, part, [&](RowRange rows) {
            found.rows = rows;
            function_.call(function_.context, found);
        });
    }
    RowBits bits_of(const DatabaseTable& table, const std::uint64_t** bits) const {
        RowBits chosen{.required = bits, .excluded = bits + plan_.required.size()};
        for (const ComponentType type : plan_.required) bits[chosen.num_required++] = table.presence(type);
        bits += chosen.num_required;
        for (const ComponentType type : plan_.excluded)
            if (const std::uint64_t* const excluded = table.presence(type)) bits[chosen.num_excluded++] = excluded;
        return chosen;
    }

    std::uint32_t first_column(const DatabaseTable* table, std::size_t field) const {
        if (!plan_.is_of_database(field)) return places_.first_column[plan_.fields[field]];
        return table == nullptr ? kNoColumn : plan_.first_column(*table, field);
    }
    /// Sets where the fields are: database fields are in the rows' own table, and the fields of linked entities are in
    /// the `shown` tables of the links.
    void bind(FieldColumns* fields, DatabaseTable* own, std::span<const LinkedRows> links) const {
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            const PlanTerm& field = plan_.field(i);
            DatabaseTable* const in_database = field.is_related() ? links[plan_.link_of(i)].shown : own;
            const std::uint32_t first = first_column(in_database, i);
            fields[i] = {};
            if (field.noted == Noted::kRemoved) fields[i].values = plan_.noted[0].removed_values();
            if (first == kNoColumn || field.noted == Noted::kRemoved) continue;
            fields[i].first_column = first;
            fields[i].table = &table_of(in_database, i);
            if (is_alone_ && plan_.store_of(i) != plan_.alone)
                fields[i].index = &places_.stores[plan_.store_of(i)].rows->index();
            if (field.is_optional && plan_.is_of_database(i))
                fields[i].enabled = in_database->presence(plan_.types[plan_.fields[i]]);
        }
    }
    /// The table with a field's columns: `of_database`, or another store's table.
    Table& table_of(DatabaseTable* of_database, std::size_t field) const {
        return plan_.is_of_database(field) ? of_database->table() : places_.stores[plan_.store_of(field)].rows->table();
    }

    // --- blocks --------------------------------------------------------------------------------------------------

    void run_blocks(const QueryPart& part, CommandRecorder* commands) const {
        const std::size_t num_fields = plan_.fields.size();
        Block block(places_.stores.size(), num_fields, plan_.links.size());
        if (plan_.looks_up_database()) block.tables = block.tables_of_rows.data();
        for (LinkedRows& linked : block.links) linked.are_in_database = false, linked.shown = linked.only = nullptr;
        for (std::size_t i = 0; i < num_fields; ++i)
            if (plan_.field(i).is_related()) block.links[plan_.link_of(i)].are_in_database |= plan_.is_of_database(i);
        const JoinFinder finder(plan_);
        FoundRows found{.fields = block.fields.data(), .table = part.table, .commands = commands};
        block.shows = is_listed_ ? plan_.shown_store() : places_.driver_of(part);
        if (is_listed_ && block.shows != places_.database) found.table = &places_.stores[block.shows].rows->table();
        Run run(function_.takes_runs ? num_fields : 0);
        for (std::uint32_t begin = part.rows.begin; begin < part.rows.end; begin += Block::kRows) {
            finder.find(block, part, begin);
            if (plan_.since != 0 || function_.takes_runs) block.list_runs();
            for (std::size_t i = 0; i < num_fields; ++i)
                block.of_fields[i] = finder.rows_of_field(block, i, block.lists[places_.stores.size() + i]);
            if (plan_.since != 0) leave_out_unchanged(block);
            struct Mark {  // marks even if the function throws
                const PlanLoop& loop;
                Block& block;
                ~Mark() { loop.mark_block(block); }
            };
            const Mark mark{*this, block};
            show(block, found, run);
        }
        end_run(run, found);
    }
    void leave_out_unchanged(Block& block) const {
        RecentStamps stamps;
        block.for_each_visited([&](std::size_t bit) {
            const auto i = static_cast<std::uint32_t>(bit);
            bool is_changed = false;
            for (std::size_t field = 0; field < plan_.fields.size() && !is_changed; ++field)
                is_changed = is_watched(plan_.field(field)) && has_changed(block, field, i, stamps);
            if (!is_changed) block.leave_out(i);
        });
    }
    bool has_changed(Block& block, std::size_t field, std::uint32_t i, RecentStamps& stamps) const {
        const std::uint32_t row = block.of_fields[field][i];
        const std::uint32_t first = row == kNilRow ? kNoColumn : first_column(block.table_of(i), field);
        if (first == kNoColumn) return false;
        const std::uint32_t begin = first + plan_.field(field).first_column;
        const Table& table = table_of(block.table_of(i), field);
        for (std::uint32_t c = begin; c < begin + plan_.field(field).num_columns; ++c)
            if (stamps.of(table, c, row / kRowsPerStampBlock) >= plan_.since) return true;
        return false;
    }

    void show(Block& block, FoundRows& found, Run& run) const {
        std::uint64_t kept[Block::kWords] = {};
        const auto show_words = [&](DatabaseTable* own, const std::uint64_t* words) {
            if (function_.takes_runs) return add_to_run(run, block, own, words, found);
            bind(block.fields.data(), own, block.links);
            if (!function_.looks_at_each && are_side_by_side(block, words)) return show_run(block, found);
            block.list_runs();
            std::uint64_t shown[Block::kWords];
            copy_bytes(shown, words, sizeof shown);
            for (std::size_t i = 0; i < plan_.fields.size(); ++i) block.fields[i].rows = block.of_fields[i];
            found.owners = block.owners, found.rows = block.rows, found.words = shown;
            function_.call(function_.context, found);
            for (std::uint32_t word = 0; word < Block::kWords; ++word) kept[word] |= shown[word];
        };
        sorts_ ? block.for_each_stretch(show_words) : block.for_each_combination(show_words);
        if (function_.looks_at_each) copy_bytes(block.words, kept, sizeof kept);
    }
    /// Whether all rows of a block are visited and are consecutive in the store of every field, except for fields of
    /// related entities.
    bool are_side_by_side(Block& block, const std::uint64_t* words) const {
        if (!block.are_all(words)) return false;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            if (plan_.field(i).is_related() || block.are_run(plan_.store_of(i), block.of_fields[i])) continue;
            if (!block.follow_each_other(block.of_fields[i])) return false;
        }
        return true;
    }
    void show_run(Block& block, FoundRows& found) const {
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            block.fields[i].enabled = nullptr;
            if (plan_.field(i).is_related())
                block.fields[i].rows = block.of_fields[i];
            else
                block.fields[i].first_row = block.of_fields[i][0];
        }
        found.owners = block.owners + block.rows.begin, found.rows = {0, block.size()}, found.words = nullptr;
        function_.call(function_.context, found);
    }

    // --- runs ----------------------------------------------------------------------------------------------------

    void add_to_run(Run& run, Block& block, DatabaseTable* own, const std::uint64_t* words, FoundRows& found) const {
        for (std::uint32_t word = 0; word * 64 < block.size(); ++word)
            for_each_bit(words[word], word * 64, [&](std::size_t bit) {
                const auto i = static_cast<std::uint32_t>(bit);
                if (continues(run, block, own, i)) return static_cast<void>(++run.rows.end);
                end_run(run, found);
                begin_run(run, block, own, i);
            });
    }
    void begin_run(Run& run, Block& block, DatabaseTable* own, std::uint32_t i) const {
        const std::uint32_t row = row_in_batch(block, i);
        run.rows = {row, row + 1}, run.own = own;
        bind(run.fields.data(), own, block.links);
        for (std::size_t field = 0; field < plan_.fields.size(); ++field) {
            run.fields[field].first_row = block.of_fields[field][i] - row;
            if (block.of_fields[field][i] == kNilRow) run.fields[field].table = nullptr;
        }
    }
    bool continues(Run& run, Block& block, DatabaseTable* own, std::uint32_t i) const {
        if (run.rows.size() == 0 || run.own != own || row_in_batch(block, i) != run.rows.end) return false;
        for (std::size_t field = 0; field < plan_.fields.size(); ++field) {
            if (plan_.field(field).is_related()) continue;  // not a column of a batch
            const FieldColumns& columns = run.fields[field];
            const std::uint32_t expected = columns.table == nullptr ? kNilRow : columns.first_row + run.rows.end;
            if (block.of_fields[field][i] != expected) return false;
        }
        return true;
    }
    void end_run(Run& run, FoundRows& found) const {
        if (run.rows.size() == 0) return;
        FoundRows shown = found;
        shown.rows = run.rows, shown.fields = run.fields.data(), shown.of_database = run.own;
        if (run.own != nullptr) shown.table = &run.own->table();
        run.rows = {};
        function_.call(function_.context, shown);
    }
    /// The row of block row `i` in the table that a batch shows: the database's table if there is one, otherwise the
    /// driver's table.
    std::uint32_t row_in_batch(const Block& block, std::uint32_t i) const {
        const bool shows_database = plan_.looks_up_database() && block.found[places_.database][i] != kNilRow;
        return block.found[shows_database ? places_.database : block.shows][i];
    }

    // --- marks ---------------------------------------------------------------------------------------------------

    /// Marks the written rows in stores other than the driver, and records the rows of which these stores are notified.
    void mark_block(Block& block) const {
        if (!function_.marks) return;
        mark_others(block);
        if (!plan_.told.empty()) block.list_runs();
        for (ToldRows& told : plan_.told) told.add_block(block);
    }
    void mark_others(Block& block) const {
        bool writes_others = false;
        for (const WrittenColumn one : plan_.written) writes_others |= is_written_elsewhere(block, one.field);
        if (!writes_others) return;
        block.list_runs();
        block.for_each_table([&](DatabaseTable* table, const std::uint64_t* words) {
            for (const WrittenColumn one : plan_.written)
                if (is_written_elsewhere(block, one.field))
                    table_of(table, one.field)
                        .mark_shared(first_column(table, one.field) + one.column, block.of_fields[one.field],
                                     {words, Block::kWords});
        });
    }
    bool is_written_elsewhere(const Block& block, std::size_t field) const {
        return plan_.store_of(field) != block.driver;
    }

    const PlanState& plan_;
    const TermStores& places_;
    const LoopFunction& function_;
    const bool sorts_, is_listed_, is_alone_;
};

ComponentDirectory* directory_of(const PlanState& plan, const LoopFunction& function) {
    return function.directory != nullptr ? function.directory : plan.directory;
}

/// If a loop's function takes commands, opens the recorder for a loop on this thread.
CommandRecorder* open_commands_if_taken(const PlanState& plan, const LoopFunction& function) {
    return function.takes_commands ? &open_commands_of_loop(directory_of(plan, function)) : nullptr;
}

/// Whether a loop is of the most common kind: over whole tables of one store, without skipped rows or notified stores.
bool is_plain(const PlanState& plan, const LoopFunction& function) {
    return plan.is_plain && plan.since == 0 && function.marks && !function.looks_at_each && function.skips_disabled &&
           plan.places.left_out() == nullptr;
}

/// Calls the function for a table of a plain loop, and marks the columns that the function writes. This is a short form
/// of PlanLoop::run_part() and mark_part(). The object is copied, so that its members are in registers. Most loops
/// write one column: with `kWritesOne`, marking a small table is a single store instruction instead of a loop.
template <bool kWritesOne>
struct PlainVisit {
    const LoopFunction& function;
    FoundRows& found;
    const std::uint16_t* columns;  // the columns of archetype 0: see PlanState::columns_of()
    std::size_t num_written, num_noted;

    SHOAL_INLINE void operator()(DatabaseTable& table) const {
        found.of_database = &table;
        visit(table.table(), columns + table.type_number() * num_noted);
    }
    /// Requires: the table has rows.
    SHOAL_INLINE void visit(Table& table, const std::uint16_t* of_fields) const {
        // Marks the columns before the call, so that no work is left if the function throws.
        const std::size_t count = kWritesOne ? 1 : num_written;
        if (SHOAL_UNLIKELY(!table.mark_only_block(of_fields, count))) return visit_large(table, of_fields);
        show(table, of_fields);
    }

private:
    /// A separate function, so that a small table does not pay for the registers that a large one needs.
    __attribute__((noinline)) void visit_large(Table& table, const std::uint16_t* of_fields) const {
        for (std::size_t i = 1; i <= num_written; ++i) mark_column(table, *(of_fields - i), {0, table.num_rows()});
        show(table, of_fields);
    }
    SHOAL_INLINE void show(Table& table, const std::uint16_t* of_fields) const {
        found.owners = table.entities().data(), found.rows.end = table.num_rows();
        found.table = &table, found.columns = of_fields;
        function.call(function.context, found);
    }
};

__attribute__((noinline)) void run_plain(const PlanState& plan, const LoopFunction& function) {
    const bool has_database = plan.places.has_database();
    const DatabaseLock database(has_database ? &plan.database() : nullptr);
    const RowLock rows(plan.locked.data(), plan.locked.size());
    FoundRows found{.commands = open_commands_if_taken(plan, function)};
    const LoopScope scope;
    plan.refresh();
    const std::uint16_t* const columns = plan.noted_columns.empty() ? nullptr : plan.columns_of(std::uint32_t(0));
    const auto run = [&]<bool kWritesOne>(PlainVisit<kWritesOne> visit) {
        if (!has_database) {
            Table& table = plan.places.stores[plan.alone].rows->table();
            if (table.num_rows() != 0) visit.visit(table, plan.columns_of(nullptr));
        } else if (SHOAL_UNLIKELY(plan.in_zones)) {
            plan.match[0].for_each_table(plan.zones_now(), visit);
        } else {
            plan.match[0].for_each_table(visit);
        }
    };
    const std::size_t num_written = plan.written.size(), num_noted = plan.num_noted();
    if (num_written == 1)
        run(PlainVisit<true>{function, found, columns, num_written, num_noted});
    else
        run(PlainVisit<false>{function, found, columns, num_written, num_noted});
}

/// Calls visit(loop) for the loop of a plan and, if there is one, for the loop over further values.
template <class Visit>
void for_each_loop(const PlanState& plan, const LoopFunction& function, Visit&& visit) {
    visit(PlanLoop(plan, function));
    for (const PlanState& further : plan.further) visit(PlanLoop(further, function));
}

/// Runs a loop on this thread.
void run_here(const PlanState& plan, Executor* executor, const LoopFunction& function) {
    const HeldPlan held(plan);
    CommandRecorder* const commands = open_commands_if_taken(plan, function);
    const LoopScope scope;
    // The work at the end of a part and of a loop is done even if the function throws.
    struct Mark {
        const PlanLoop& loop;
        const QueryPart& part;
        SHOAL_INLINE ~Mark() { loop.mark_part(part); }
    };
    struct Finish {
        const PlanLoop& loop;
        Executor* executor;
        ~Finish() { loop.finish(executor); }
    };
    for_each_loop(plan, function, [&](const PlanLoop& loop) {
        loop.begin();
        const Finish finish{loop, executor};
        loop.for_each_part([&](const QueryPart& part) {
            const Mark mark{loop, part};
            loop.run_part(part, commands);
        });
    });
}

}  // namespace

void visit_unsorted(const PlanState& plan, const LoopFunction& function) {
    const PlanLoop loop(plan, function, false);
    loop.begin();
    loop.for_each_part([&](const QueryPart& part) { loop.run_part(part, nullptr); });
}

void QueryPlan::run(Executor* executor, const LoopFunction& function) const {
    if (executor == nullptr && SHOAL_LIKELY(is_plain(*state_, function))) return run_plain(*state_, function);
    run_any(executor, function);
}

__attribute__((noinline)) void QueryPlan::run_any(Executor* executor, const LoopFunction& function) const {
    const PlanState& plan = *state_;
    if (executor != nullptr && !PlanLoop(plan, function).is_small()) {
        StartedPlan started(*this, executor, function);
        started.finish();
        return started.rethrow();
    }
    is_plain(plan, function) ? run_plain(plan, function) : run_here(plan, executor, function);
}

StartedPlan::StartedPlan(const QueryPlan& plan, Executor* executor, const LoopFunction& function)
    : plan_(PlanState::of(plan)), executor_(executor), function_(function), held_(new HeldPlan(plan_)) {
    bool is_shared = true;
    for_each_loop(plan_, function_, [&](const PlanLoop& loop) {
        loop.begin();
        loop.for_each_part([&](const QueryPart& part) { loop_.add(part); });
    });
    if (loop_.cut(function.grain))
        for_each_loop(plan_, function_, [&](const PlanLoop& loop) { is_shared = loop.share() && is_shared; });
    loop_.start(is_shared ? executor : nullptr, function.takes_commands, directory_of(plan_, function), this, run_part,
                mark_part);
}

StartedPlan::~StartedPlan() {
    finish();
    delete held_;
}

void StartedPlan::finish() {
    if (is_done_) return;
    is_done_ = true;
    loop_.wait();
    for_each_loop(plan_, function_, [&](const PlanLoop& loop) { loop.finish(executor_); });
}

/// The plan of a part.
const PlanState& StartedPlan::plan_of(const QueryPart& part) const {
    for (const PlanState& further : plan_.further)
        if (part.of_database == nullptr && part.table == &further.places.stores[further.driver()].rows->table())
            return further;
    return plan_;
}

void StartedPlan::run_part(void* loop, CommandRecorder* commands, const QueryPart& part) {
    StartedPlan& self = *static_cast<StartedPlan*>(loop);
    const auto place = reinterpret_cast<std::uintptr_t>(&part);  // parts are in one array, in order
    self.failure_.guard(place, [&] { PlanLoop(self.plan_of(part), self.function_).run_part(part, commands); });
}

void StartedPlan::mark_part(void* loop, const QueryPart& part) {
    const StartedPlan& self = *static_cast<StartedPlan*>(loop);
    PlanLoop(self.plan_of(part), self.function_).mark_part(part);
}

PlanMarks::PlanMarks(const QueryPlan& plan) : plan_(PlanState::of(plan)) { told_.resize(plan_.places.stores.size()); }

void PlanMarks::add(std::span<const FieldColumns> fields, std::uint32_t num_rows) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const PlanTerm& field = plan_.field(i);
        const FieldColumns& columns = fields[i];
        if (!field.writes || columns.table == nullptr) continue;
        const auto add_rows = [&](RowRange rows) {
            for (std::uint32_t c = 0; c < field.num_columns; ++c)
                if (field.writes_column(c))
                    mark_column(*columns.table, columns.first_column + field.first_column + c, rows);
            for (const ToldRows& told : plan_.told)
                for (std::uint32_t row = rows.begin; told.store == plan_.store_of(i) && row < rows.end; ++row)
                    told_[told.store].push_back(row);
        };
        if (columns.rows == nullptr) add_rows({columns.first_row, columns.first_row + num_rows});
        for (std::uint32_t k = 0; columns.rows != nullptr && k < num_rows; ++k)
            if (columns.rows[k] != kNilRow) add_rows({columns.rows[k], columns.rows[k] + 1});
    }
}

void PlanMarks::finish(Executor* executor) {
    for (std::uint8_t store = 0; store < told_.size(); ++store)
        if (!told_[store].empty())
            plan_.places.stores[store].store->finish_writes(plan_.written_columns(store), told_[store], executor);
}

}  // namespace shoal::detail
