// Blocks of joins: looks up the entities of the driver's rows in the other stores.

#include "query/join_block.h"

#include "query/plan_state.h"
#include "shoal/database/database.h"

namespace shoal::detail {
namespace {

constexpr std::uint32_t kFetchDistance = 32;
constexpr std::size_t kCachedRows = 1 << 16;  // an index of up to this number of rows is mostly in the cache
constexpr std::size_t kMostFetched = 16;      // at most this number of columns per store are prefetched

/// Returns a bit for each of 64 rows: the bit is set if the row is not nil. Makes bytes first, which vectorises, and
/// then packs eight bytes at a time.
std::uint64_t rows_had(const std::uint32_t* rows) {
    std::uint8_t had[64];
    for (std::uint32_t i = 0; i < 64; ++i) had[i] = rows[i] != kNilRow;
    std::uint64_t bits = 0;
    for (std::uint32_t byte = 0; byte < 8; ++byte) {
        std::uint64_t eight;
        copy_bytes(&eight, had + byte * 8, sizeof eight);
        bits |= (eight * 0x0102040810204080u >> 56) << (byte * 8);
    }
    return bits;
}

/// A column that a loop uses. Its elements for the found rows are prefetched.
struct FetchedColumn {
    const std::byte* first = nullptr;
    std::size_t element_bytes = 0;
};

/// Adds the columns of a field in a table, unless the field has many columns.
void add_fetched(const PlanTerm& field, Table& table, std::uint32_t first_column, FetchedColumn* fetched,
                 std::size_t& num_fetched) {
    constexpr std::uint32_t kMostColumns = 8;
    if (field.num_columns > kMostColumns || num_fetched + field.num_columns > kMostFetched) return;
    for (std::uint32_t c = field.first_column; c < std::uint32_t(field.first_column) + field.num_columns; ++c) {
        std::byte* const first = table.unmarked_column(first_column + c);
        fetched[num_fetched++] = {first + field.offset, field.component->columns()[c].element_bytes};
    }
}

/// For each of `entities`, writes its row to `found` and prefetches the row's data. `kNumColumns` is the number of
/// columns; 2: there are several.
template <std::size_t kNumColumns>
void find_rows(const RowIndex& index, std::span<const Entity> entities, std::uint32_t* found,
               std::span<const FetchedColumn> columns) {
    const FetchedColumn first = columns.empty() ? FetchedColumn() : columns[0];
    if constexpr (kNumColumns == 0)
        return index.find_each(
            entities, 0, [&](std::size_t i, std::uint32_t row) SHOAL_INLINED { found[i] = row; }, [](std::uint32_t) {});
    index.find_each(
        entities, kFetchDistance,
        [&](std::size_t i, std::uint32_t row) SHOAL_INLINED {
            found[i] = row;
            // Without a row, prefetches row 0, because prefetching an address outside of the column would walk the page
            // tables.
            const std::size_t fetched = row == kNilRow ? 0 : row;
            if constexpr (kNumColumns == 1)
                __builtin_prefetch(first.first + fetched * first.element_bytes);
            else
                for (const FetchedColumn& column : columns)
                    __builtin_prefetch(column.first + fetched * column.element_bytes);
        },
        [](std::uint32_t) {});
}

/// Whether these entities own consecutive rows from `first` on, in the same order. Entities that were added together
/// are in the same order in each store, so most joins need no look-ups.
bool own_run(const OwnedRows& rows, std::uint32_t first, std::span<const Entity> entities) {
    const std::span<const Entity> owners = rows.table().entities();
    return first <= owners.size() && entities.size() <= owners.size() - first && rows.table().num_holes() == 0 &&
           !rows.schema().many() &&
           __builtin_memcmp(owners.data() + first, entities.data(), entities.size_bytes()) == 0;
}

/// For each of `entities`, writes find(entity) to `rows`. Neighbouring rows often link to the same entity.
template <class Find>
void find_linked_rows(std::span<const Entity> entities, std::uint32_t* rows, Find&& find) {
    Entity before;
    std::uint32_t row = kNilRow;
    for (std::size_t i = 0; i < entities.size(); ++i) {
        if (entities[i] != before) before = entities[i], row = find(before);
        rows[i] = row;
    }
}

/// Like find_linked_rows(), but `rows` has the rows of an earlier loop. Those that still belong to their entities stay.
/// Shape: `owners` is indexed by row of the linked entities' table. Requires: the table has no holes.
template <class Find>
SHOAL_INLINE void find_moved_rows(std::span<const Entity> owners, std::span<const Entity> entities, std::uint32_t* rows,
                                  Find&& find) {
    for (std::size_t i = 0; i < entities.size(); ++i)
        if (SHOAL_UNLIKELY(rows[i] >= owners.size() || owners[rows[i]] != entities[i])) rows[i] = find(entities[i]);
}

/// Returns the address of a link field in row 0. Requires: the component's columns in `table` begin at `first_column`.
const std::byte* first_link(const PlanTerm& link, const Table& table, std::uint32_t first_column) {
    return table.column(first_column + link.first_column) + link.offset;
}

/// Reads the entity in an element of a column, which may be part of a larger element; null for kNilRow.
Entity read_link(const std::byte* column, std::size_t element_bytes, std::uint32_t row) {
    Entity entity;
    if (row != kNilRow) copy_bytes(&entity, column + row * element_bytes, sizeof entity);
    return entity;
}

bool has_component(const TermStores& places, const JoinBlock& block, const AnyOfOption& place, std::uint32_t i) {
    const std::uint32_t row = block.found[place.store][i];
    if (place.store == places.database) return row != kNilRow && block.table_of(i)->has({place.component}, row);
    return places.stores[place.store].has(row);
}

}  // namespace

TermStores::TermStores(std::size_t num_terms) : num_terms_(num_terms) {
    store_of.append(num_terms, 0);
    first_column.append(num_terms, 0);
}

std::uint8_t TermStores::add(const JoinedStore& store) {
    for (std::uint8_t i = 0; i < stores.size(); ++i)
        if (stores[i].store == store.store && stores[i].rows == store.rows &&
            stores[i].needs_parent == store.needs_parent)
            return i;
    stores.push_back(store);
    entities = store.rows != nullptr ? &store.rows->entity_manager()
                                     : &static_cast<const Database&>(*store.store).entity_manager();
    return static_cast<std::uint8_t>(stores.size() - 1);
}

OwnersByValue* find_tag_lists(Store& store) {
    for (const Schema* schema : store.schemas()) {
        if (schema->id() != ComponentId(kTagName)) continue;
        const OwnedColumns columns = store.find_columns(*schema);
        return columns && columns.has_fields && columns.first_column == 0 ? &columns.rows->owners_by_value() : nullptr;
    }
    return nullptr;
}

void TermStores::add_tag(Store& store, StringId tag, bool excludes) {
    OwnersByValue* const lists = find_tag_lists(store);
    SHOAL_ASSERT(lists != nullptr, "the store keeps no tags, or does not list who has them");
    const std::uint8_t number =
        add({.store = &store, .rows = &lists->rows_of(tag), .is_looked_up = true, .lists = lists});
    stores[number].is_required |= !excludes;
    stores[number].is_excluded |= excludes;
    ++num_terms_;
}

std::uint8_t TermStores::driver(std::uint64_t num_database_rows) const {
    std::uint8_t fewest = kNone;
    std::uint64_t num_rows = ~std::uint64_t(0);
    for (std::uint8_t i = 0; i < stores.size(); ++i) {
        const JoinedStore& store = stores[i];
        if (store.is_driver) return i;
        if (!store.is_required) continue;
        // An entity may have several rows in this store, but is visited once.
        if (fewest != kNone && store.rows != nullptr && store.rows->schema().many()) continue;
        const bool is_last_choice =
            fewest != kNone && stores[fewest].rows != nullptr && stores[fewest].rows->schema().many();
        const std::uint64_t count = i == database ? num_database_rows : store.rows->num_rows();
        if (count >= num_rows && !is_last_choice) continue;
        fewest = i;
        num_rows = count;
    }
    SHOAL_ASSERT(fewest != kNone, "the query says of no entity that it visits it; name a component, or a tag");
    return fewest;
}

std::uint8_t TermStores::driver_of(const QueryPart& part) const {
    if (part.of_database != nullptr) return database;
    std::uint8_t store = 0;
    const auto drives = [&](const JoinedStore& one) {
        return one.is_required && one.rows != nullptr && &one.rows->table() == part.table;
    };
    while (!drives(stores[store])) ++store;
    return store;
}

bool TermStores::is_one_table() const {
    if (stores.size() != 1 || !any.empty()) return false;
    const JoinedStore& only = stores[0];
    return only.rows != nullptr && visits_all(only);
}

FewArray<OwnedRows*, 4> TermStores::locked() const {
    FewArray<OwnedRows*, 4> rows{Owner("query")};
    for (const JoinedStore& store : stores)
        if (store.rows != nullptr) rows.push_back(store.lists != nullptr ? &store.lists->source() : store.rows);
    return rows;
}

JoinFinder::JoinFinder(const PlanState& plan) : plan_(plan), places_(plan.places) {}

void JoinFinder::find(JoinBlock& block, const QueryPart& part, std::uint32_t begin) const {
    block.rows = {begin, part.rows.end - begin < JoinBlock::kRows ? part.rows.end : begin + JoinBlock::kRows};
    block.of_database = part.of_database, block.runs = block.unlisted = 0;
    if (SHOAL_UNLIKELY(part.owners != nullptr)) {
        block.driver = TermStores::kNone, block.owners = part.owners;
        for (std::uint32_t word = 0; word < JoinBlock::kWords; ++word) block.words[word] = block.rows_of_word(word);
    } else {
        block.driver = places_.driver_of(part), block.owners = part.table->entities().data();
        choose_of_driver(block);
    }
    if (const InactiveEntities* left_out = places_.left_out(); SHOAL_UNLIKELY(left_out != nullptr))
        leave_out_those(*left_out, block);
    for (std::uint8_t i = 0; i < places_.stores.size(); ++i) {
        if (i == block.driver || !places_.stores[i].is_looked_up) continue;
        if (i == places_.database)
            find_in_database(block);
        else
            find_in(i, block);
    }
    for (std::size_t i = 0; i < places_.any.size();) i = leave_out_without_any(block, i);
    for (std::size_t link = 0; link < block.links.size(); ++link) find_linked(block, link);
}

void JoinFinder::choose_of_driver(JoinBlock& block) const {
    const JoinedStore& store = places_.stores[block.driver];
    block.note_run(block.driver, block.rows.begin);
    for (std::uint32_t word = 0; word < JoinBlock::kWords; ++word)
        block.words[word] = store.is_excluded ? 0 : block.rows_of_word(word);
    if (store.rows != nullptr) return leave_out_holes(block, store);
    if (plan_.match[0].all_rows(*block.of_database)) return;
    for (std::uint32_t word = 0; word * 64 < block.size(); ++word)
        block.words[word] &= plan_.match[0].rows_of_word(*block.of_database, block.rows.begin / 64 + word);
}

void JoinFinder::leave_out_those(const InactiveEntities& inactive, JoinBlock& block) {
    block.for_each_visited([&](std::size_t i) {
        if (inactive.has(block.entities()[i])) block.leave_out(static_cast<std::uint32_t>(i));
    });
}

void JoinFinder::leave_out_holes(JoinBlock& block, const JoinedStore& store) const {
    const bool visits_once = places_.visits_each_once(store);
    if (!visits_once && !store.needs_parent && store.rows->table().num_holes() == 0) return;
    for (std::uint32_t i = 0; i < block.size(); ++i) {
        const Entity owner = block.entities()[i];
        const std::uint32_t row = block.rows.begin + i;
        if (!owner || !store.has(row) || (visits_once && store.rows->find(owner) != row)) block.leave_out(i);
    }
}

/// Finds the rows in a store. Returns whether they are consecutive; if not, prefetches their fields.
bool JoinFinder::find_rows_in(std::uint8_t number, JoinBlock& block) const {
    const JoinedStore& store = places_.stores[number];
    std::uint32_t* const found = block.found[number];
    if (const std::uint32_t first = store.rows->find(block.entities()[0]);
        own_run(*store.rows, first, block.entities())) {
        block.note_run(number, first);
        return true;
    }
    for (std::uint32_t i = block.size(); i % 64 != 0; ++i) found[i] = kNilRow;  // bits are made for whole words
    FetchedColumn fetched[kMostFetched];
    std::size_t num_fetched = 0;
    for (std::size_t i = 0; store.rows->num_rows() > kRowsPerStampBlock && i < plan_.fields.size(); ++i)
        if (plan_.store_of(i) == number && !plan_.field(i).is_related())
            add_fetched(plan_.field(i), store.rows->table(), places_.first_column[plan_.fields[i]], fetched,
                        num_fetched);
    const std::span<const FetchedColumn> columns(fetched, num_fetched);
    const auto find = num_fetched == 0 ? find_rows<0> : num_fetched == 1 ? find_rows<1> : find_rows<2>;
    find(store.rows->index(), block.entities(), found, columns);
    return false;
}

/// Leaves out entities that lack a required row or have an excluded one.
void JoinFinder::find_in(std::uint8_t number, JoinBlock& block) const {
    const JoinedStore& store = places_.stores[number];
    const std::uint32_t* const found = block.found[number];
    const bool are_run = find_rows_in(number, block);
    if (!store.is_excluded && (!store.is_required || (are_run && !store.needs_parent))) return;
    if (store.needs_parent) block.list_runs();
    for (std::uint32_t word = 0; word * 64 < block.size(); ++word) {
        std::uint64_t had = are_run ? block.rows_of_word(word) : rows_had(found + word * 64);
        if (SHOAL_UNLIKELY(store.needs_parent))
            for_each_bit(had, word * 64, [&](std::size_t i) {
                if (!store.has(found[i])) had &= ~(std::uint64_t(1) << (i % 64));
            });
        if (store.is_required) block.words[word] &= had;
        if (store.is_excluded) block.words[word] &= ~had;
    }
}

void JoinFinder::find_in_database(JoinBlock& block) const {
    const JoinedStore& store = places_.stores[places_.database];
    const Database& database = plan_.database();
    const DatabaseMatch& match = plan_.match[0];
    const std::span<const Entity> owners = block.entities();
    const DatabaseTable* last = nullptr;  // the table of the previous row, and the results for it
    bool matches = false, has_all_rows = false;
    FetchedColumn fetched[kMostFetched];
    std::size_t num_fetched = 0;
    for (std::uint32_t i = 0; i < block.size(); ++i) {
        if (i + kFetchDistance < block.size()) database.directory().prefetch(owners[i + kFetchDistance]);
        const auto at = database.find(owners[i]);
        block.tables[i] = at.table, block.found[places_.database][i] = at.row;
        if (!at) {
            if (store.is_required) block.leave_out(i);
            continue;
        }
        if (at.table != last) {
            last = at.table;
            matches = match.matches(*last) && (!plan_.in_zones || plan_.zones_now().contains(last->zone()));
            has_all_rows = match.all_rows(*last);
            num_fetched = 0;
            for (std::size_t f = 0; matches && f < plan_.fields.size(); ++f) {
                if (!plan_.is_of_database(f) || plan_.field(f).is_related()) continue;
                const std::uint32_t first = plan_.first_column(*last, f);
                if (first != kNoColumn) add_fetched(plan_.field(f), at.table->table(), first, fetched, num_fetched);
            }
        }
        if (!matches || (!has_all_rows && (match.rows_of_word(*last, at.row / 64) >> (at.row % 64) & 1) == 0)) {
            block.leave_out(i);
            continue;
        }
        for (std::size_t f = 0; f < num_fetched; ++f)
            __builtin_prefetch(fetched[f].first + at.row * fetched[f].element_bytes);
    }
}

namespace {

/// Returns the rows, with kNilRow for rows that lack a component of the database. The result is the unchanged list, or
/// a copy in `out`. `only` is the only table that has any of the rows; nullptr: use `tables`.
const std::uint32_t* keep_having(JoinBlock& block, ComponentType type, const DatabaseTable* only,
                                 DatabaseTable* const* tables, const std::uint32_t* rows, std::uint32_t* out) {
    if (only != nullptr && only->type().has(type) && only->presence(type) == nullptr) return rows;
    block.list_runs();
    const DatabaseTable* last = nullptr;
    bool is_there = false;
    const std::uint64_t* bits = nullptr;
    for (std::uint32_t i = 0; i < block.size(); ++i) {
        const DatabaseTable* const table = only != nullptr ? only : tables[i];
        if (table != last && table != nullptr) is_there = table->type().has(type), bits = table->presence(type);
        last = table;
        const bool has =
            table != nullptr && rows[i] != kNilRow && is_there && (bits == nullptr || test_bit(bits, rows[i]));
        out[i] = has ? rows[i] : kNilRow;
    }
    return out;
}

}  // namespace

/// Returns the entities' own rows in the store of a term; kNilRow where an entity lacks the component.
const std::uint32_t* JoinFinder::rows_of_term(JoinBlock& block, std::uint32_t term, std::uint32_t* room) const {
    const std::uint8_t number = places_.store_of[term];
    const JoinedStore& store = places_.stores[number];
    if (const ComponentType type = plan_.types[term]) {
        const DatabaseTable* const only =
            block.of_database != nullptr ? block.of_database : only_table_of(block.tables, block.size());
        return keep_having(block, type, only, block.tables, block.found[number], room);
    }
    if (!store.needs_parent) return block.found[number];
    block.list_runs();
    for (std::uint32_t i = 0; i < block.size(); ++i)
        room[i] = store.has(block.found[number][i]) ? block.found[number][i] : kNilRow;
    return room;
}

/// Finds the entities that the rows name in a link field. If any of their fields are in the database, also finds their
/// rows there.
void JoinFinder::find_linked(JoinBlock& block, std::size_t link) const {
    LinkedRows& linked = block.links[link];
    RecentLinks::OfTable* const recent = recent_links(block, link);
    if (recent == nullptr) {
        linked.entities = linked.own_entities, linked.are_same = false;
        read_links(block, link, linked.entities);
    } else {
        linked.entities = recent->entities.data() + block.rows.begin;
        linked.are_same = plan_.recent_links[link].are_known(*recent, block.rows);
        if (!linked.are_same || !read_changed_links(block, link)) read_all_links(block, link);
    }
    const std::uint32_t table = linked.are_in_database ? find_rows_of_linked(block, link) : RecentLinks::kNoTable;
    if (recent != nullptr) plan_.recent_links[link].note(*recent, block.rows, table);
}

/// Reads the links that may have changed since the last loop. Returns false, without having read any, if links are not
/// remembered or many of them may have changed.
bool JoinFinder::read_changed_links(const JoinBlock& block, std::size_t link) const {
    LinkedRows& linked = block.links[link];
    RecentLinks::OfTable& recent = *recent_links(block, link);
    const ChangedRows& changed = plan_.recent_links[link].changed();
    if (recent.owners.empty() || changed.are_many()) return false;
    const Entity* const now = block.entities().data();
    Entity* const owners = recent.owners.data() + block.rows.begin;
    std::uint32_t* const rows = recent.link_rows.data() + block.rows.begin;
    const bool are_owners_same = __builtin_memcmp(owners, now, block.size() * sizeof(Entity)) == 0;
    if (are_owners_same && !changed.any()) return true;
    std::uint32_t fresh[JoinBlock::kRows], num_fresh = 0;  // a list, because branches would often be mispredicted
    const ChangedRows::Groups groups = changed.groups();
    for (std::uint32_t i = 0; i < block.size(); ++i) {
        fresh[num_fresh] = i;
        num_fresh += std::uint32_t(owners[i] != now[i]) | std::uint32_t(groups.has(rows[i]));
    }
    if (num_fresh > block.size() / 2) return false;
    const std::uint32_t number = plan_.links[link];
    const PlanTerm& term = plan_.terms[number];
    const OwnedRows& store = *places_.stores[places_.store_of[number]].rows;
    const std::byte* const column = first_link(term, store.table(), places_.first_column[number]);
    const std::size_t bytes = term.component->columns()[term.first_column].element_bytes;
    for (const std::uint32_t i : std::span<const std::uint32_t>(fresh, num_fresh)) {
        owners[i] = now[i], rows[i] = store.find(now[i]);
        const Entity entity = read_link(column, bytes, rows[i]);
        linked.are_same &= entity == linked.entities[i];
        linked.entities[i] = entity;
    }
    return true;
}

/// Reads all links and remembers them.
void JoinFinder::read_all_links(JoinBlock& block, std::size_t link) const {
    LinkedRows& linked = block.links[link];
    RecentLinks::OfTable& recent = *recent_links(block, link);
    const std::size_t num_bytes = block.size() * sizeof(Entity);
    read_links(block, link, linked.own_entities);
    linked.are_same = linked.are_same && __builtin_memcmp(linked.entities, linked.own_entities, num_bytes) == 0;
    copy_bytes(linked.entities, linked.own_entities, num_bytes);
    if (recent.owners.empty()) return;
    block.list_runs();
    copy_bytes(recent.owners.data() + block.rows.begin, block.entities().data(), num_bytes);
    copy_bytes(recent.link_rows.data() + block.rows.begin, block.found[places_.store_of[plan_.links[link]]],
               block.size() * sizeof(std::uint32_t));
}

void JoinFinder::read_links(JoinBlock& block, std::size_t link, Entity* entities) const {
    const std::uint32_t number = plan_.links[link];
    const std::uint8_t store = places_.store_of[number];
    const PlanTerm& term = plan_.terms[number];
    const ComponentType type = plan_.types[number];
    std::uint32_t room[JoinBlock::kRows];
    if (!places_.stores[store].is_looked_up && store != block.driver) find_rows_in(store, block);
    // In a store that is not a database, a row without the component has a null link: see OwnedColumns::needs_parent.
    const std::uint32_t* const rows = type ? rows_of_term(block, number, room) : block.found[store];
    const std::size_t bytes = term.component->columns()[term.first_column].element_bytes;
    DatabaseTable* last = type ? block.of_database : nullptr;
    const std::byte* column = nullptr;
    if (!type)
        column = first_link(term, places_.stores[store].rows->table(), places_.first_column[number]);
    else if (last != nullptr && rows[0] != kNilRow)
        column = first_link(term, last->table(), last->first_column(type));
    const bool are_run = block.are_run(store, rows) || block.follow_each_other(rows);
    if (column != nullptr && bytes == sizeof(Entity) && are_run)
        return copy_bytes(entities, column + rows[0] * bytes, block.size() * bytes);
    block.list_runs();
    last = nullptr;
    for (std::uint32_t i = 0; i < block.size(); ++i) {
        if (DatabaseTable* const table = type && rows[i] != kNilRow ? block.table_of(i) : last; table != last)
            last = table, column = first_link(term, table->table(), table->first_column(type));
        entities[i] = read_link(column, bytes, rows[i]);
    }
}

/// Returns what the last loop found for a link and the driver's table of a block. nullptr: the rows are not in the order
/// of a store.
RecentLinks::OfTable* JoinFinder::recent_links(const JoinBlock& block, std::size_t link) const {
    if (block.driver == TermStores::kNone) return nullptr;
    return &plan_.recent_links[link].of(block.of_database == nullptr ? 0 : block.of_database->number());
}

/// Finds the rows of linked entities in the database. Returns the number of the table that has a row for each of them, or
/// RecentLinks::kNoTable.
std::uint32_t JoinFinder::find_rows_of_linked(const JoinBlock& block, std::size_t link) const {
    LinkedRows& linked = block.links[link];
    const RecentLinks::OfTable* const recent = recent_links(block, link);
    linked.rows = recent == nullptr ? linked.own_rows : recent_rows(block, link);
    if (linked.are_same && RecentLinks::are_unmoved(*recent, block.rows)) {
        linked.only = recent->unmoved;
        return linked.only->number();
    }
    if (recent == nullptr || !find_in_recent_table(linked, block.size())) find_in_database(linked, block.size());
    const bool are_in_one = linked.only != nullptr && linked.are_all_found(block.size());
    return are_in_one ? linked.only->number() : RecentLinks::kNoTable;
}

/// Returns the rows that the last loop found for a block, for a link or a field: see PlanState::recent. nullptr: the
/// rows are not in the order of a store.
std::uint32_t* JoinFinder::recent_rows(const JoinBlock& block, std::size_t number) const {
    if (block.driver == TermStores::kNone) return nullptr;
    return plan_.recent[number].of(block.of_database == nullptr ? 0 : block.of_database->number()) + block.rows.begin;
}

/// If all linked entities of the last block were in one table, and those of this block are there, finds their rows.
bool JoinFinder::find_in_recent_table(LinkedRows& linked, std::uint32_t num_rows) const {
    if (linked.only == nullptr || linked.rows[0] == kNilRow) return false;
    const DatabaseDirectory& directory = plan_.database().directory();
    bool are_there = true;
    find_moved_rows(linked.only->entities(), {linked.entities, num_rows}, linked.rows,
                    [&, table = linked.only->number()](Entity entity) {
                        const DatabaseDirectory::Location at = directory.find(entity);
                        are_there &= !at || at.table == table;
                        return at.row;
                    });
    return are_there;
}

/// Finds where linked entities are in the database.
void JoinFinder::find_in_database(LinkedRows& linked, std::uint32_t num_rows) const {
    const DatabaseDirectory& directory = plan_.database().directory();
    DatabaseTable* const* const tables = plan_.database().all_tables().data();
    const std::span<const Entity> entities(linked.entities, num_rows);
    if (directory.rows().max_index() > kCachedRows)
        for (const Entity entity : entities) directory.prefetch(entity);
    std::uint32_t bits_of_any = 0, bits_of_all = 0xFFFFFFFF;  // equal if all rows are in the table with this number
    const auto find_all = [&](const auto& look_up) SHOAL_INLINED {
        find_linked_rows(entities, linked.rows, [&](Entity entity) SHOAL_INLINED {
            const DatabaseDirectory::Location at = look_up.find(entity);
            if (at) bits_of_any |= at.table, bits_of_all &= at.table;
            return at.row;
        });
    };
    directory.covers(entities) ? find_all(directory.covered()) : find_all(directory);
    linked.only = bits_of_any == bits_of_all ? tables[bits_of_any] : nullptr;
    for (std::uint32_t i = 0; linked.only == nullptr && i < num_rows; ++i)
        linked.tables[i] = linked.rows[i] == kNilRow ? nullptr : tables[directory.table_of(entities[i].index())];
}

const std::uint32_t* JoinFinder::rows_of_field(JoinBlock& block, std::size_t field, std::uint32_t* room) const {
    const PlanTerm& term = plan_.field(field);
    if (term.noted == Noted::kRemoved) {  // the rows are in the order of the entities
        JoinBlock::number_rows(room, block.rows.begin);
        return room;
    }
    if (!term.is_optional) return block.found[plan_.store_of(field)];
    if (!term.is_related()) return rows_of_term(block, plan_.fields[field], room);
    const LinkedRows& linked = block.links[plan_.link_of(field)];
    if (plan_.is_of_database(field))
        return keep_having(block, plan_.types[plan_.fields[field]], linked.only, linked.tables, linked.rows, room);
    const JoinedStore& store = places_.stores[plan_.store_of(field)];
    const std::span<const Entity> entities(linked.entities, block.size());
    const RowIndex& index = store.rows->index();
    if (store.rows->num_rows() > kCachedRows)
        for (const Entity entity : entities) index.prefetch(entity);
    if (std::uint32_t* const recent = recent_rows(block, block.links.size() + field);
        recent != nullptr && !store.needs_parent && !store.rows->schema().many() &&
        store.rows->table().num_holes() == 0) {
        room = recent;
        if (linked.are_same && !plan_.recent[block.links.size() + field].moved.any()) return recent;
        if (recent[0] != kNilRow) {
            find_moved_rows(store.rows->table().entities(), entities, recent,
                            [&](Entity entity) { return index.find(entity); });
            return recent;
        }
    }
    if (store.needs_parent) {
        find_linked_rows(entities, room, [&](Entity entity) SHOAL_INLINED {
            const std::uint32_t row = store.rows->find(entity);
            return store.has(row) ? row : kNilRow;
        });
    } else if (index.covers(entities)) {
        find_linked_rows(entities, room, [entries = index.entries().data()](Entity entity) SHOAL_INLINED {
            return RowIndex::row_in(entries[entity.index()], entity);
        });
    } else {
        find_linked_rows(entities, room, [&](Entity entity) SHOAL_INLINED { return index.find(entity); });
    }
    return room;
}

/// Leaves out entities that have none of the component types in an AnyOf term. Returns the index after the term's
/// types.
std::size_t JoinFinder::leave_out_without_any(JoinBlock& block, std::size_t first) const {
    std::size_t end = first;
    while (end < places_.any.size() && places_.any[end].term == places_.any[first].term) ++end;
    block.list_runs();
    block.for_each_visited([&](std::size_t bit) {
        const auto i = static_cast<std::uint32_t>(bit);
        bool has = false;
        for (std::size_t k = first; k < end && !has; ++k) has = has_component(places_, block, places_.any[k], i);
        if (!has) block.leave_out(i);
    });
    return end;
}

}  // namespace shoal::detail
