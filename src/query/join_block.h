#pragma once
// Finds the rows of a join, block by block. Type-erased.
//
//     driver's rows       0 1 2 3 4 5 6 7        a block of 256 rows
//     another store's     7 8 9 - - 3 4 0        looked up for the whole block, and prefetched
//     visited             1 1 1 0 0 1 1 1        a bit for each row
//
// Thread: any number of finders may run in parallel; each loop has its own block.

#include "query/recent_rows.h"
#include "query/term_stores.h"
#include "shoal/base/detail/bits.h"
#include "shoal/base/detail/bytes.h"
#include "shoal/database/detail/table.h"

namespace shoal::detail {

struct PlanState;

/// The entities in a link field of a block's rows, and where these entities are in the database.
struct LinkedRows {
    static constexpr std::uint32_t kRows = 256;

    bool are_in_database = false;    ///< whether any field of the entities is in the database
    bool are_same = false;           ///< whether the last loop found the same entities for these rows
    DatabaseTable* shown = nullptr;  ///< the table in `tables` that the loop currently visits
    DatabaseTable* only = nullptr;   ///< the only table with rows of these entities; nullptr: see `tables`
    std::uint32_t* rows = nullptr;   ///< the row of each entity in its table; in RecentRows, or own_rows
    Entity* entities = nullptr;      ///< the entity that each row names; null: none. In RecentLinks, or own_entities
    DatabaseTable* tables[kRows];    ///< the table of each entity; nullptr: none
    Entity own_entities[kRows];      ///< for blocks that are not in the order of a store
    std::uint32_t own_rows[kRows];   ///< likewise

    DatabaseTable* table_of(std::uint32_t i) const {
        return only == nullptr ? tables[i] : rows[i] != kNilRow ? only : nullptr;
    }
    /// Whether each of the linked entities has a row in the database.
    bool are_all_found(std::uint32_t num_rows) const {
        bool are_found = true;
        for (std::uint32_t i = 0; i < num_rows; ++i) are_found &= (rows[i] != kNilRow) | !entities[i];
        return are_found;
    }
};

/// If all rows that have a table have the same table, returns it; otherwise returns nullptr.
inline DatabaseTable* only_table_of(DatabaseTable* const* tables, std::uint32_t num_rows) {
    DatabaseTable* const table = tables[0];
    bool is_only = true;
    for (std::uint32_t i = 0; i < num_rows; ++i) is_only &= (tables[i] == table) | (tables[i] == nullptr);
    return is_only ? table : nullptr;
}

/// Rows of the driver, and the rows of the same entities in the other stores.
struct JoinBlock {
    static constexpr std::uint32_t kRows = LinkedRows::kRows;  // the data of one block fits the innermost caches
    static constexpr std::uint32_t kWords = kRows / 64;

    RowRange rows;
    std::uint8_t driver = 0;         ///< kNone: the rows are not in the order of a store
    std::uint8_t shows = 0;          ///< the store whose table is shown in batches: see PlanState::shown_store()
    const Entity* owners = nullptr;  ///< the owners in the driver's table
    DatabaseTable* of_database = nullptr;
    std::uint64_t words[kWords];              ///< the rows to visit
    std::uint64_t runs = 0;                   ///< a bit for each store in which the rows were found to be consecutive
    std::uint64_t unlisted = 0;               ///< those of these stores whose lists have only their first row
    std::uint32_t (*found)[kRows] = nullptr;  ///< indexed by store: the rows there, or kNilRow; see list_runs()
    DatabaseTable** tables = nullptr;         ///< the table of each row, if a joined database is not the driver
    std::span<LinkedRows> links;              ///< one element per link of the plan

    std::uint32_t size() const { return rows.size(); }
    std::span<const Entity> entities() const { return {owners + rows.begin, size()}; }
    DatabaseTable* table_of(std::uint32_t i) const {
        return of_database != nullptr || tables == nullptr ? of_database : tables[i];
    }
    bool is_visited(std::uint32_t i) const { return (words[i / 64] >> (i % 64) & 1) != 0; }
    void leave_out(std::uint32_t i) { words[i / 64] &= ~(std::uint64_t(1) << (i % 64)); }
    /// The bits of the block's rows in word `word`.
    std::uint64_t rows_of_word(std::uint32_t word) const {
        const std::uint32_t num_left = size() > word * 64 ? size() - word * 64 : 0;
        return num_left >= 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << num_left) - 1;
    }
    /// Whether all rows are among `visited`.
    bool are_all(const std::uint64_t* visited) const {
        std::uint64_t missing = 0;
        for (std::uint32_t word = 0; word < kWords; ++word) missing |= ~visited[word] & rows_of_word(word);
        return missing == 0;
    }
    /// Whether the rows in a store are of_store[0], of_store[0] + 1, and so on. Shape: the number of rows in the block.
    bool follow_each_other(const std::uint32_t* of_store) const {
        std::uint32_t differs = of_store[0] == kNilRow ? 1 : 0;
        for (std::uint32_t i = 0; i < size(); ++i) differs |= of_store[i] - of_store[0] - i;
        return differs == 0;
    }
    /// Whether `of_store` is the block's list for a store, and its rows were found to be consecutive.
    bool are_run(std::uint8_t store, const std::uint32_t* of_store) const {
        return of_store == found[store] && store < 64 && (runs >> store & 1) != 0;
    }
    /// Notes that the rows in a store are first, first + 1, and so on. If the block is shown as a run, its list is not
    /// needed.
    void note_run(std::uint8_t store, std::uint32_t first) {
        if (SHOAL_UNLIKELY(store >= 64)) return number_rows(found[store], first);
        runs |= std::uint64_t(1) << store, unlisted |= std::uint64_t(1) << store;
        found[store][0] = first;
    }
    /// Completes the lists of runs. Must be called before `found` is read, except for the first rows.
    void list_runs() {
        for_each_bit(unlisted, 0, [&](std::size_t store) { number_rows(found[store], found[store][0]); });
        unlisted = 0;
    }
    /// Writes first, first + 1, ... to the rows of a whole block. Reads nothing, so that the loop vectorises.
    static void number_rows(std::uint32_t* rows, std::uint32_t first) {
        for (std::uint32_t i = 0; i < kRows; ++i) rows[i] = first + i;
    }
    template <class Visit>
    void for_each_visited(Visit&& visit) const {
        for (std::uint32_t word = 0; word * 64 < size(); ++word) for_each_bit(words[word], word * 64, visit);
    }
    /// Calls visit(table, words) for each database table that has visited rows, or once if there is no database.
    template <class Visit>
    void for_each_table(Visit&& visit) const {
        if (tables == nullptr || of_database != nullptr)
            return visit(of_database, static_cast<const std::uint64_t*>(words));
        for_each_of(tables, words, visit);
    }
    /// Calls visit(table, words) for each combination of the rows' table and the tables of linked entities. During the
    /// call, `shown` of each link is the link's table.
    template <class Visit>
    void for_each_combination(Visit&& visit) {
        for_each_table([&](DatabaseTable* table, const std::uint64_t* here) { combine(0, table, here, visit); });
    }

    /// Like for_each_combination(), but in the order of the rows, with one call for each range of consecutive rows that
    /// have the same tables.
    template <class Visit>
    void for_each_stretch(Visit&& visit) {
        std::uint64_t here[kWords] = {};
        DatabaseTable* own = nullptr;
        bool any = false;
        for_each_visited([&](std::size_t bit) {
            const auto i = static_cast<std::uint32_t>(bit);
            bool goes_on = any && table_of(i) == own;
            for (const LinkedRows& linked : links)
                goes_on &= !linked.are_in_database || linked.table_of(i) == linked.shown;
            if (!goes_on) {
                if (any) visit(own, static_cast<const std::uint64_t*>(here));
                for (std::uint64_t& word : here) word = 0;
                own = table_of(i);
                for (LinkedRows& linked : links) linked.shown = linked.are_in_database ? linked.table_of(i) : nullptr;
            }
            here[i / 64] |= std::uint64_t(1) << (i % 64);
            any = true;
        });
        if (any) visit(own, static_cast<const std::uint64_t*>(here));
    }

private:
    template <class Visit>
    void combine(std::size_t link, DatabaseTable* table, const std::uint64_t* here, Visit& visit) {
        while (link < links.size() && !links[link].are_in_database) ++link;
        if (SHOAL_LIKELY(link == links.size())) return visit(table, here);
        if (SHOAL_LIKELY(links[link].only != nullptr)) {
            links[link].shown = links[link].only;  // entities without a table are marked in the lists of rows
            return combine(link + 1, table, here, visit);
        }
        for_each_of(links[link].tables, here, [&](DatabaseTable* of_link, const std::uint64_t* words_of_all) {
            links[link].shown = of_link;
            combine(link + 1, table, words_of_all, visit);
        });
    }
    /// Calls visit(table, words) for each table with rows in `visited`; `words` has the bits of these rows. Shape:
    /// `tables` is indexed by row of the block.
    template <class Visit>
    static void for_each_of(DatabaseTable* const* tables, const std::uint64_t* visited, Visit&& visit) {
        std::uint64_t left[kWords], here[kWords];
        copy_bytes(left, visited, sizeof left);
        for (std::uint32_t word = 0; word < kWords;) {
            if (left[word] == 0) {
                ++word;
                continue;
            }
            DatabaseTable* const table = tables[word * 64 + lowest_bit(left[word])];
            for (std::uint32_t w = 0; w < kWords; ++w) {
                here[w] = 0;
                for_each_bit(left[w], w * 64,
                             [&](std::size_t i) { here[w] |= std::uint64_t(tables[i] == table) << (i % 64); });
                left[w] &= ~here[w];
            }
            visit(table, static_cast<const std::uint64_t*>(here));
        }
    }
};

class JoinFinder {
public:
    /// Lifetime: the plan outlives the finder. Requires: the plan has been refreshed.
    explicit JoinFinder(const PlanState& plan);

    /// Sets `block` to the rows of `part` from `begin` on, and finds their entities' rows in the other stores.
    /// Requires: `found` has a list for each store; `tables` is set if a database is joined and is not the driver.
    void find(JoinBlock& block, const QueryPart& part, std::uint32_t begin) const;
    /// Returns the rows of a field in its table, for a block that was found; kNilRow where an entity lacks the
    /// component. Writes these rows to `room` if the block has no list of them; see JoinBlock::list_runs(). Shape: the
    /// number of rows in the block.
    const std::uint32_t* rows_of_field(JoinBlock& block, std::size_t field, std::uint32_t* room) const;

private:
    void choose_of_driver(JoinBlock& block) const;
    static void leave_out_those(const InactiveEntities& inactive, JoinBlock& block);
    void leave_out_holes(JoinBlock& block, const JoinedStore& store) const;
    void find_in(std::uint8_t number, JoinBlock& block) const;
    bool find_rows_in(std::uint8_t number, JoinBlock& block) const;
    void find_in_database(JoinBlock& block) const;
    void find_linked(JoinBlock& block, std::size_t link) const;
    bool read_changed_links(const JoinBlock& block, std::size_t link) const;
    void read_all_links(JoinBlock& block, std::size_t link) const;
    void read_links(JoinBlock& block, std::size_t link, Entity* entities) const;
    std::uint32_t find_rows_of_linked(const JoinBlock& block, std::size_t link) const;
    void find_in_database(LinkedRows& linked, std::uint32_t num_rows) const;
    bool find_in_recent_table(LinkedRows& linked, std::uint32_t num_rows) const;
    RecentLinks::OfTable* recent_links(const JoinBlock& block, std::size_t link) const;
    std::uint32_t* recent_rows(const JoinBlock& block, std::size_t number) const;
    const std::uint32_t* rows_of_term(JoinBlock& block, std::uint32_t term, std::uint32_t* room) const;
    std::size_t leave_out_without_any(JoinBlock& block, std::size_t first) const;

    const PlanState& plan_;
    const TermStores& places_;
};

}  // namespace shoal::detail
