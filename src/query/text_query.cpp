// The loop of a text query: the blocks of a join, or whole tables, as batches of columns.

#include "shoal/query/text_query.h"

#include "query/text_plan.h"
#include "shoal/command/commands.h"
#include "shoal/database/lock.h"
#include "shoal/query/detail/told_rows.h"
#include "shoal/query/held_rows.h"
#include "shoal/store/owned_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace shoal {

using detail::JoinBlock;
using detail::QueryPart;

namespace {

/// What `a` is to `b`.
template <class T>
std::uint8_t order(T a, T b) {
    return static_cast<std::uint8_t>((a < b ? kLess : 0) | (a == b ? kEqual : 0) | (a > b ? kGreater : 0) |
                                     (a != a || b != b ? kUnordered : 0));
}

/// Where the values of a comparison are in a table.
struct ComparedColumn {
    const std::byte* first = nullptr;
    std::size_t stride = 0;
    const std::uint32_t* rows = nullptr;  // by place in the block
};

template <class T>
void keep_those(const ComparedColumn& column, const TextComparison& comparison, std::uint64_t* words) {
    T wanted;
    std::memcpy(&wanted, comparison.value.bytes().data(), sizeof wanted);
    for (std::uint32_t word = 0; word < JoinBlock::kWords; ++word) {
        std::uint64_t kept = 0;
        for_each_bit(words[word], word * 64, [&](std::size_t i) {
            T value;
            std::memcpy(&value, column.first + column.rows[i] * column.stride, sizeof value);
            kept |= std::uint64_t((order(value, wanted) & comparison.holds_for) != 0) << (i % 64);
        });
        words[word] = kept;
    }
}

/// Leaves those of `words` for which a comparison holds.
void keep_those(const ComparedColumn& column, const TextComparison& comparison, std::uint64_t* words) {
    switch (comparison.part.type.type) {
        case FieldType::kInt8:
            return keep_those<std::int8_t>(column, comparison, words);
        case FieldType::kInt16:
            return keep_those<std::int16_t>(column, comparison, words);
        case FieldType::kInt32:
            return keep_those<std::int32_t>(column, comparison, words);
        case FieldType::kInt64:
            return keep_those<std::int64_t>(column, comparison, words);
        case FieldType::kFloat:
            return keep_those<float>(column, comparison, words);
        case FieldType::kDouble:
            return keep_those<double>(column, comparison, words);
        default:
            break;
    }
    switch (comparison.part.type.value_bytes) {  // unsigned numbers, and bits that are equal or not
        case 1:
            return keep_those<std::uint8_t>(column, comparison, words);
        case 2:
            return keep_those<std::uint16_t>(column, comparison, words);
        case 4:
            return keep_those<std::uint32_t>(column, comparison, words);
        default:
            return keep_those<std::uint64_t>(column, comparison, words);
    }
}

/// Calls mark(column) for those columns of a component that a bit of `written` stands for; for those from 64 on too.
template <class Mark>
void mark_columns(std::uint32_t first, std::size_t num_columns, std::uint64_t written, Mark&& mark) {
    for (std::uint32_t c = 0; c < num_columns; ++c)
        if (c >= 64 || (written >> c & 1) != 0) mark(first + c);
}

/// What a loop marks as written when it has visited a batch, and tells to stores that compute more from it.
enum class TextMarks : std::uint8_t {
    kNone,
    kAll,
    kJoined  // of stores that do not drive; threads share the loop, and the driver's rows are marked when it has ended
};

/// Those of a query's stores that are told which rows were written.
Array<detail::ToldRows> told_stores(const detail::TermStores& places) {
    Array<detail::ToldRows> told("query");
    for (std::uint8_t store = 0; store < places.stores.size(); ++store)
        if (places.stores[store].is_told) told.push_back(detail::ToldRows(store));
    return told;
}

}  // namespace

TextColumn TextBatch::column(std::size_t component, std::size_t column) const {
    const TextComponent& shown = components_[component];
    SHOAL_ASSERT(shown.has_columns, "the component's store keeps its fields in another form");
    SHOAL_ASSERT(column < shown.schema->columns().size(), "the component has no such column");
    const ComponentRows& place = places_[component];
    if (place.table == nullptr) return {nullptr, 0, nullptr, shown.is_written, num_rows()};
    const std::size_t stride = place.is_singleton ? 0 : shown.schema->columns()[column].element_bytes;
    std::byte* const first = place.table->unmarked_column(place.first_column + static_cast<std::uint32_t>(column));
    const std::size_t first_row = place.rows == nullptr ? place.first_row + first_row_ : 0;
    return {first + first_row * stride, stride, place.rows, shown.is_written, num_rows()};
}

bool TextBatch::read(std::size_t component, const FieldPart& part, std::uint32_t i, std::byte* value) const {
    SHOAL_ASSERT(components_[component].has_columns, "the component's store keeps its fields in another form");
    SHOAL_ASSERT(i < num_rows(), "the row is past the end of the batch");
    const ComponentRows& place = places_[component];
    const std::uint32_t row = place.is_singleton      ? 0
                              : place.rows != nullptr ? place.rows[i]
                                                      : place.first_row + first_row_ + i;
    if (place.table == nullptr || row == kNilRow) return false;
    read_part(*place.table, place.first_column, row, part, value);
    return true;
}

/// A loop, or what one thread does of it.
class TextQuery::Loop {
public:
    using Visit = void (*)(void* context, const TextBatch& batch);

    /// `shared`: what all threads of a loop tell together.
    Loop(const Plan& plan, Visit visit, void* context, TextMarks marks, std::span<detail::ToldRows> shared = {})
        : plan_(plan),
          match_(plan.match.empty() ? nullptr : &plan.match[0]),
          visit_(visit),
          context_(context),
          marks_(marks),
          places_(plan.components.size(), TextBatch::ComponentRows(), Owner("query")),
          batch_({plan.components.data(), plan.components.size()}, {places_.data(), places_.size()}),
          told_(shared) {
        for (const TextComponent& component : plan.components) any_parents_ |= component.is_of_parent;
        if (marks != TextMarks::kAll) return;
        own_told_ = told_stores(plan.places);
        told_ = own_told_;
    }

    /// Makes room for what a block finds. A loop that visits whole tables needs none.
    void open_blocks() {
        if (finder_) return;
        const Plan& plan = plan_;
        fetched_ = fetched_columns(plan);
        finder_.emplace(plan.places, match_, nullptr, fetched_.data(), fetched_.size());
        const std::size_t num_stores = plan.places.stores.size(), num_shown = plan.components.size();
        found_.resize((num_stores + num_shown * (any_parents_ ? 2 : 1)) * JoinBlock::kRows);
        block_.found = reinterpret_cast<std::uint32_t(*)[JoinBlock::kRows]>(found_.data());
        shown_ = block_.found + num_stores;
        of_parents_ = shown_ + num_shown;
        if (match_ == nullptr) return;
        tables_.resize(JoinBlock::kRows * 2);
        block_.tables = tables_.data();
        for (std::size_t i = 0; i < num_shown; ++i)
            if (plan.components[i].is_of_parent && plan.types[i])
                block_.tables_of_parents = tables_.data() + JoinBlock::kRows;
    }

    /// Calls visit(part) for the rows of the driver.
    template <class VisitPart>
    static void for_each_part(const Plan& plan, VisitPart&& visit) {
        const detail::TermStores& places = plan.places;
        const DatabaseMatch* const match = plan.match.empty() ? nullptr : &plan.match[0];
        const std::uint8_t driver = places.driver(match == nullptr ? 0 : match->num_rows());
        if (driver == places.database)
            return match->for_each_table(
                [&](DatabaseTable& table) { visit(QueryPart{&table.table(), &table, {0, table.num_rows()}}); });
        Table& table = places.stores[driver].rows->table();
        visit(QueryPart{&table, nullptr, {0, table.num_rows()}});
    }
    /// Prepares a loop of several threads, which tell stores together. Returns whether they may share it.
    static bool share(const Plan& plan, std::span<detail::ToldRows> told) {
        const std::uint64_t num_database_rows = plan.match.empty() ? 0 : plan.match[0].num_rows();
        const std::uint8_t driver = plan.places.driver(num_database_rows);
        const OwnedRows* const driving = plan.places.stores[driver].rows;
        const std::uint64_t num_rows = driving == nullptr ? num_database_rows : driving->num_rows();
        if (!told.empty() && num_rows <= kUsualRowsPerChunk) return false;
        bool writes_others = false;
        for (std::size_t i = 0; i < plan.components.size(); ++i)
            writes_others |= plan.components[i].is_written && plan.places.store_of[i] != driver;
        return detail::ToldRows::share(told, plan.places, driver, writes_others, true);
    }
    /// Marks all rows of a part of the driver as written.
    static void mark_part(const Plan& plan, const QueryPart& part) {
        const std::uint8_t driver = plan.places.driver_of(part);
        for (std::size_t i = 0; i < plan.components.size(); ++i) {
            if (!plan.components[i].is_written || plan.places.store_of[i] != driver) continue;
            const std::uint32_t first = part.of_database != nullptr ? part.of_database->first_column(plan.types[i])
                                                                    : plan.places.first_column[i];
            if (first != kNoColumn)
                mark_columns(first, num_columns(plan, i), plan.components[i].written_columns,
                             [&](std::uint32_t column) { detail::mark_column(*part.table, column, part.rows); });
        }
    }

    /// Returns where the components are if all rows of one table, not of a database, are visited; otherwise nothing.
    static Array<TextBatch::ComponentRows> places_of_table(const Plan& plan) {
        Array<TextBatch::ComponentRows> places{Owner("query")};
        const auto is_elsewhere = [](const TextComponent& component) {
            return component.is_of_parent || component.is_singleton;
        };
        const bool is_plain = plan.match.empty() && plan.comparisons.empty() && plan.places.is_one_table() &&
                              std::ranges::none_of(plan.components, is_elsewhere);
        if (!is_plain || plan.places.stores[0].rows->table().num_holes() != 0) return places;
        for (std::size_t i = 0; i < plan.components.size(); ++i)
            places.push_back({&plan.places.stores[0].rows->table(), plan.places.first_column[i], 0, nullptr, false});
        return places;
    }
    /// The batch of all rows of that table; empty if there are no places.
    static TextBatch all_of(const Plan& plan, std::span<const TextBatch::ComponentRows> places) {
        TextBatch all({plan.components.data(), plan.components.size()}, places);
        if (!places.empty()) all.entities_ = places[0].table->entities();
        return all;
    }
    /// Calls visit(context, batch) for rows of that table.
    static void visit_table(const TextBatch& all, const InactiveEntities* left_out, const QueryPart& part, Visit visit,
                            void* context) {
        detail::for_each_run(left_out, part, [&](RowRange rows) {
            TextBatch batch = all;
            batch.first_row_ = rows.begin;
            batch.entities_ = all.entities_.subspan(rows.begin, rows.size());
            visit(context, batch);
        });
    }

    void run(Executor* executor) {
        begin();
        for_each_part(plan_, [&](const QueryPart& part) { run_part(part); });
        tell(executor);
    }
    void begin() {
        for (detail::ToldRows& told : told_) told.begin(0);
    }
    /// Marks a batch that was visited before. Requires: its first_row_ is 0.
    void mark(const TextBatch& visited) {
        std::copy(visited.places_.begin(), visited.places_.end(), places_.begin());
        batch_.entities_ = visited.entities_;
        mark();
    }
    /// Tells stores that compute more from what is written which rows were marked.
    void tell(Executor* executor) { tell(plan_, told_, executor); }
    static void tell(const Plan& plan, std::span<detail::ToldRows> all, Executor* executor) {
        for (detail::ToldRows& told : all)
            told.tell(*plan.places.stores[told.store].store, written_columns(plan, told.store), executor);
    }
    void run_part(const QueryPart& part) {
        if (part.rows.size() == 0) return;
        driver_ = plan_.places.driver_of(part);
        if (visits_all(part))
            return detail::for_each_run(plan_.places.left_out(), part,
                                        [&](RowRange rows) { visit_all({part.table, part.of_database, rows}); });
        open_blocks();
        for (std::uint32_t begin = part.rows.begin; begin < part.rows.end; begin += JoinBlock::kRows) {
            finder_->find(block_, part, begin);
            if (any_parents_) find_parents();
            block_.for_each_pair_of_tables([&](DatabaseTable* table, DatabaseTable* of_parents,
                                               const std::uint64_t* words) { visit_block(table, of_parents, words); });
        }
    }

private:
    /// The columns of small components: of those with many, few are looked at.
    static Array<detail::FetchedColumn> fetched_columns(const Plan& plan) {
        constexpr std::size_t kMostColumns = 8;
        Array<detail::FetchedColumn> fetched("query");
        for (std::size_t i = 0; i < plan.components.size(); ++i) {
            const TextComponent& component = plan.components[i];
            const std::span<const ColumnDefinition> columns = component.schema->columns();
            const std::uint8_t store = plan.places.store_of[i];
            if (plan.types[i] || !component.has_columns || columns.size() > kMostColumns) continue;
            if (component.is_of_parent || component.is_singleton) continue;
            const Table& table = plan.places.stores[store].rows->table();
            for (std::uint32_t c = 0; c < columns.size(); ++c)
                fetched.push_back({store, table.column(plan.places.first_column[i] + c), columns[c].element_bytes});
        }
        return fetched;
    }
    static std::size_t num_columns(const Plan& plan, std::size_t component) {
        return plan.components[component].schema->columns().size();
    }
    /// A bit for each column of a store that the query writes.
    static std::uint64_t written_columns(const Plan& plan, std::uint8_t store) {
        std::uint64_t columns = 0;
        for (std::size_t i = 0; i < plan.components.size(); ++i)
            if (plan.components[i].is_written && plan.places.store_of[i] == store)
                for (std::size_t c = 0; c < num_columns(plan, i); ++c)
                    if ((plan.components[i].written_columns >> c & 1) != 0)
                        columns |= std::uint64_t(1) << (plan.places.first_column[i] + c);
        return columns;
    }

    /// Whether all rows of a part match, and all that is shown lies in its table.
    bool visits_all(const QueryPart& part) const {
        if (!plan_.comparisons.empty() || !plan_.places.any.empty() || any_parents_) return false;
        if (part.of_database == nullptr) return plan_.places.is_one_table() && part.table->num_holes() == 0;
        if (plan_.places.stores.size() != 1 || !match_->all_rows(*part.of_database)) return false;
        for (std::size_t i = 0; i < plan_.components.size(); ++i)
            if (plan_.types[i] && part.of_database->presence(plan_.types[i]) != nullptr &&
                plan_.components[i].is_optional)
                return false;
        return true;
    }
    void visit_all(const QueryPart& part) {
        bind(part.of_database, nullptr);
        for (std::size_t i = 0; i < plan_.components.size(); ++i) places_[i].first_row = part.rows.begin;
        batch_.entities_ = part.table->entities().subspan(part.rows.begin, part.rows.size());
        visit_(context_, batch_);
        if (marks_ != TextMarks::kNone) mark();
    }

    /// Notes the tables of the components; those of the database for the rows, and for their parents.
    void bind(DatabaseTable* own, DatabaseTable* of_parents) {
        for (std::size_t i = 0; i < plan_.components.size(); ++i) {
            TextBatch::ComponentRows& place = places_[i];
            place = {};
            if (plan_.types[i]) {
                DatabaseTable* const table = plan_.components[i].is_of_parent ? of_parents : own;
                const std::uint32_t first = table == nullptr ? kNoColumn : table->first_column(plan_.types[i]);
                if (first != kNoColumn) place = {&table->table(), first, 0, nullptr, false};
            } else if (plan_.components[i].is_singleton) {
                place = {&plan_.singletons[i]->table(), 0, 0, nullptr, true};
            } else {
                place = {&plan_.places.stores[plan_.places.store_of[i]].rows->table(), plan_.places.first_column[i], 0,
                         nullptr, false};
            }
        }
    }
    /// Finds the rows of the components that are those of parents.
    void find_parents() {
        for (std::size_t c = 0; c < plan_.components.size(); ++c) {
            if (!plan_.components[c].is_of_parent) continue;
            const detail::JoinedStore& store = plan_.places.stores[plan_.places.store_of[c]];
            const ComponentType type = plan_.types[c];
            for (std::uint32_t i = 0; i < block_.size(); ++i) {
                of_parents_[c][i] = kNilRow;
                if (!block_.is_visited(i)) continue;
                if (!type)
                    of_parents_[c][i] = plan_.places.parent_row(block_.entities()[i], store);
                else
                    of_parents_[c][i] = find_parent_in(static_cast<Database&>(*store.store), type, i);
            }
        }
    }
    /// Returns the row of the parent of a row if it has the component, and notes its table.
    std::uint32_t find_parent_in(Database& database, ComponentType type, std::uint32_t i) {
        const auto at = database.find(plan_.places.parent_of(block_.entities()[i]));
        block_.tables_of_parents[i] = at.table;
        return at && at.table->has(type, at.row) ? at.row : kNilRow;
    }

    void visit_block(DatabaseTable* own, DatabaseTable* of_parents, const std::uint64_t* visited) {
        std::uint64_t words[JoinBlock::kWords];
        for (std::uint32_t word = 0; word < JoinBlock::kWords; ++word) words[word] = visited[word];
        bind(own, of_parents);
        for (const TextComparison& comparison : plan_.comparisons) {
            if (plan_.components[comparison.component].is_of_parent) leave_out_without(comparison.component, words);
            keep_those(column_of(comparison), comparison, words);
        }
        if (!choose(words)) return;
        visit_(context_, batch_);
        if (marks_ != TextMarks::kNone) mark();
    }
    void leave_out_without(std::size_t component, std::uint64_t* words) const {
        for (std::uint32_t i = 0; i < block_.size(); ++i)
            if (of_parents_[component][i] == kNilRow) words[i / 64] &= ~(std::uint64_t(1) << (i % 64));
    }
    ComparedColumn column_of(const TextComparison& comparison) const {
        const TextBatch::ComponentRows& place = places_[comparison.component];
        if (place.table == nullptr) return {};  // then no row was found there
        const Schema& schema = *plan_.components[comparison.component].schema;
        const FieldPart& part = comparison.part;
        const Table& table = *place.table;
        return {table.column(place.first_column + part.first_column) + part.offset_in_column,
                schema.columns()[part.first_column].element_bytes, found(comparison.component)};
    }
    const std::uint32_t* found(std::size_t component) const {
        if (plan_.components[component].is_of_parent) return of_parents_[component];
        return block_.found[plan_.places.store_of[component]];
    }
    /// Makes the chosen rows of the block the batch. Returns whether there are some.
    bool choose(const std::uint64_t* words) {
        std::uint32_t num_chosen = 0;
        for (std::uint32_t word = 0; word < JoinBlock::kWords; ++word)
            for_each_bit(words[word], word * 64,
                         [&](std::size_t i) { chosen_[num_chosen++] = static_cast<std::uint32_t>(i); });
        if (num_chosen == 0) return false;
        if (num_chosen == block_.size()) {
            batch_.entities_ = block_.entities();
        } else {
            for (std::uint32_t k = 0; k < num_chosen; ++k) entities_[k] = block_.entities()[chosen_[k]];
            batch_.entities_ = {entities_, num_chosen};
        }
        for (std::size_t i = 0; i < plan_.components.size(); ++i)
            if (places_[i].table != nullptr && !places_[i].is_singleton) choose_rows(i);
        return true;
    }
    void choose_rows(std::size_t component) {
        const std::uint32_t* const rows = found(component);
        const std::uint32_t num_chosen = batch_.num_rows();
        TextBatch::ComponentRows& place = places_[component];
        const bool is_optional = plan_.components[component].is_optional;
        if (num_chosen == block_.size() && !is_optional) {
            const bool follow = block_.follow_each_other(rows);
            place.first_row = follow ? rows[0] : 0;
            place.rows = follow ? nullptr : rows;
            return;
        }
        std::uint32_t* const out = shown_[component];
        for (std::uint32_t k = 0; k < num_chosen; ++k) out[k] = rows[chosen_[k]];
        place.rows = out;
        if (!is_optional || plan_.components[component].is_of_parent) return;
        for (std::uint32_t k = 0; k < num_chosen; ++k)
            if (!has(component, chosen_[k], out[k])) out[k] = kNilRow;
    }
    bool has(std::size_t component, std::uint32_t i, std::uint32_t row) const {
        if (plan_.types[component]) return row != kNilRow && block_.table_of(i)->has(plan_.types[component], row);
        return plan_.places.stores[plan_.places.store_of[component]].has(row);
    }
    void mark() {
        for (std::size_t i = 0; i < plan_.components.size(); ++i) {
            const TextBatch::ComponentRows& place = places_[i];
            if (!plan_.components[i].is_written || place.table == nullptr) continue;
            if (is_marked_later(i) && told_.empty()) continue;
            if (place.rows == nullptr) {
                mark_rows(i, {place.first_row, place.first_row + batch_.num_rows()});
                continue;
            }
            for (std::uint32_t k = 0; k < batch_.num_rows(); ++k)
                if (place.rows[k] != kNilRow) mark_rows(i, {place.rows[k], place.rows[k] + 1});
        }
    }
    bool is_marked_later(std::size_t component) const {
        return marks_ == TextMarks::kJoined && plan_.places.store_of[component] == driver_;
    }
    void mark_rows(std::size_t component, RowRange rows) {
        for (detail::ToldRows& told : told_)
            if (told.store == plan_.places.store_of[component]) told.add_all(rows);
        if (is_marked_later(component)) return;
        const TextBatch::ComponentRows& place = places_[component];
        mark_columns(place.first_column, num_columns(plan_, component), plan_.components[component].written_columns,
                     [&](std::uint32_t column) {
                         if (marks_ == TextMarks::kAll) return detail::mark_column(*place.table, column, rows);
                         for (std::uint32_t row = rows.begin; row < rows.end; ++row)
                             place.table->mark_shared(column, &row, std::array{std::uint64_t(1)});
                     });
    }

    const Plan& plan_;
    const DatabaseMatch* match_;
    Array<detail::FetchedColumn> fetched_{Owner("query")};
    std::optional<detail::JoinFinder> finder_;  // once blocks are looked at
    Visit visit_;
    void* context_;
    TextMarks marks_;
    std::uint8_t driver_ = 0;  // of the part
    bool any_parents_ = false;
    Array<TextBatch::ComponentRows> places_;  // by component
    TextBatch batch_;
    JoinBlock block_;
    Array<std::uint32_t> found_{Owner("query")};  // by store, by component, by component of parents: rows of a block
    Array<DatabaseTable*> tables_{Owner("query")};
    std::uint32_t (*shown_)[JoinBlock::kRows] = nullptr;       // by component: the rows of a batch
    std::uint32_t (*of_parents_)[JoinBlock::kRows] = nullptr;  // the same: of the parents, by place in the block
    Array<detail::ToldRows> own_told_{Owner("query")};
    std::span<detail::ToldRows> told_;        // these, or those of all threads
    std::uint32_t chosen_[JoinBlock::kRows];  // places in the block
    Entity entities_[JoinBlock::kRows];
};

/// The function of a loop: one of the two.
struct TextQuery::Visitor {
    Loop::Visit visit = nullptr;
    void (*visit_with)(void* context, Commands& commands, const TextBatch& batch) = nullptr;
    void* context = nullptr;
    ComponentDirectory* directory = nullptr;  // of the commands
    bool marks = true;                        // what is visited, if one thread runs the loop; several mark it always

    /// Calls run(visit, context) with the plain function that a loop calls.
    template <class Run>
    void bind(detail::CommandRecorder* recorder, Run&& run) const {
        if (visit_with == nullptr) return run(visit, context);
        struct Bound {
            const Visitor& visitor;
            detail::RangeCommands commands;
        } bound{*this, detail::RangeCommands(*recorder)};
        run(
            [](void* all, const TextBatch& batch) {
                Bound& self = *static_cast<Bound*>(all);
                self.visitor.visit_with(self.visitor.context, self.commands, batch);
            },
            &bound);
    }
};

/// A loop that threads share.
struct TextQuery::SharedLoop {
    SharedLoop(const Plan& of, const Visitor& calls, std::span<detail::ToldRows> stores)
        : plan(of),
          visitor(calls),
          told(stores),
          places(told.empty() ? Loop::places_of_table(of) : Array<TextBatch::ComponentRows>(Owner("query"))),
          all(Loop::all_of(of, {places.data(), places.size()})),
          left_out(places.empty() ? nullptr : of.places.left_out()) {}

    const Plan& plan;
    const Visitor& visitor;
    const std::span<detail::ToldRows> told;
    const Array<TextBatch::ComponentRows> places;  // by component, if all rows of one table are visited; else empty
    const TextBatch all;                           // these
    const InactiveEntities* const left_out;
    Failure failure{};

    static void run(void* shared, detail::CommandRecorder* recorder, const QueryPart& part) {
        SharedLoop& self = *static_cast<SharedLoop*>(shared);
        self.failure.guard(reinterpret_cast<std::uintptr_t>(&part), [&] {
            self.visitor.bind(recorder, [&](Loop::Visit visit, void* context) {
                if (self.places.empty())
                    return Loop(self.plan, visit, context, TextMarks::kJoined, self.told).run_part(part);
                Loop::visit_table(self.all, self.left_out, part, visit, context);
            });
        });
    }
    static void mark(void* shared, const QueryPart& part) {
        Loop::mark_part(static_cast<const SharedLoop*>(shared)->plan, part);
    }
};

TextQuery::~TextQuery() { delete plan_; }

std::span<const TextComponent> TextQuery::components() const {
    return {plan_->components.data(), plan_->components.size()};
}

void TextQuery::write_columns(std::size_t component, std::uint64_t columns) {
    SHOAL_ASSERT(component < plan_->components.size() && plan_->components[component].is_written,
                 "the query does not write the component; write &name in its text");
    plan_->components[component].written_columns = columns;
    if (plan_->further != nullptr) plan_->further->components[component].written_columns = columns;
}

std::span<const Access> TextQuery::accesses() const { return {plan_->accesses.data(), plan_->accesses.size()}; }

std::uint64_t TextQuery::num_rows() const {
    const detail::TermStores& places = plan_->places;
    if (places.has_database()) plan_->match[0].refresh();
    const std::uint64_t num_database_rows = places.has_database() ? plan_->match[0].num_rows() : 0;
    const std::uint8_t driver = places.driver(num_database_rows);
    if (plan_->further != nullptr) return num_database_rows + plan_->further->places.stores[0].rows->num_rows();
    return driver == places.database ? num_database_rows : places.stores[driver].rows->num_rows();
}

const Store& TextQuery::driver() const {
    const detail::TermStores& places = plan_->places;
    if (places.has_database()) plan_->match[0].refresh();
    return *places.stores[places.driver(places.has_database() ? plan_->match[0].num_rows() : 0)].store;
}

namespace {

/// Whether the singletons of a query are there, and what it says of them holds.
template <class Plan>
bool singletons_hold(const Plan& plan) {
    for (const OwnedRows* singleton : plan.singletons)
        if (singleton != nullptr && singleton->num_rows() != 1) return false;
    for (const TextComparison& comparison : plan.of_singletons) {
        const Table& table = plan.singletons[comparison.component]->table();
        const std::uint32_t first_row = 0;
        std::uint64_t words[JoinBlock::kWords] = {1};
        keep_those({table.column(comparison.part.first_column) + comparison.part.offset_in_column, 0, &first_row},
                   comparison, words);
        if (words[0] == 0) return false;
    }
    return true;
}

}  // namespace

void TextQuery::run(const Plan& plan, Executor* executor, const Visitor& visitor) {
    if (!singletons_hold(plan)) return;
    const bool takes_commands = visitor.visit_with != nullptr;
    Array<detail::ToldRows> told = told_stores(plan.places);
    if (executor == nullptr || !Loop::share(plan, told)) {
        detail::CommandRecorder* const recorder =
            takes_commands ? &detail::open_commands_of_loop(visitor.directory) : nullptr;
        const detail::LoopScope scope;
        return visitor.bind(recorder, [&](Loop::Visit visit, void* context) {
            Loop(plan, visit, context, visitor.marks ? TextMarks::kAll : TextMarks::kNone).run(executor);
        });
    }
    SharedLoop shared(plan, visitor, told);
    detail::StartedLoop loop;
    Loop::for_each_part(plan, [&](const QueryPart& part) { loop.add(part); });
    loop.cut(kUsualRowsPerChunk);
    loop.start(executor, takes_commands, visitor.directory, &shared, SharedLoop::run, SharedLoop::mark);
    loop.wait();
    Loop::tell(plan, told, executor);
    shared.failure.rethrow();
}

void TextQuery::look_at_table(void (*look)(void* context, const TextBatch& batch), void* context) const {
    const Array<TextBatch::ComponentRows> places = Loop::places_of_table(*plan_);
    if (places.empty()) return;
    look(context, Loop::all_of(*plan_, {places.data(), places.size()}));
}

void TextQuery::for_each_batch(void (*visit)(void* context, const TextBatch& batch), void* context) const {
    run_all(nullptr, {.visit = visit, .context = context});
}

void TextQuery::for_each_batch(Executor& executor, void (*visit)(void* context, const TextBatch& batch),
                               void* context) const {
    run_all(&executor, {.visit = visit, .context = context});
}

void TextQuery::for_each_batch(Executor& executor, ComponentDirectory& directory,
                               void (*visit)(void* context, Commands& commands, const TextBatch& batch),
                               void* context) const {
    run_all(&executor, {.visit_with = visit, .context = context, .directory = &directory});
}

void TextQuery::run_all(Executor* executor, const Visitor& visitor) const {
    const detail::TermStores& places = plan_->places;
    Database* const database =
        places.has_database() ? static_cast<Database*>(places.stores[places.database].store) : nullptr;
    const DatabaseLock database_lock(database);
    const RowLock lock(std::span<OwnedRows* const>(plan_->locked));
    if (database != nullptr) plan_->match[0].refresh();
    run(*plan_, executor, visitor);
    if (plan_->further != nullptr) run(*plan_->further, executor, visitor);
}

// --- rows that are kept ------------------------------------------------------------------------------------------

namespace {

/// A run of at least as many rows stays a run.
constexpr std::uint32_t kLongRun = 4096;

}  // namespace

struct TextQuery::Held {
    explicit Held(const Plan& of_query)
        : plan(of_query),
          database(of_query.places.has_database()
                       ? static_cast<Database*>(of_query.places.stores[of_query.places.database].store)
                       : nullptr),
          lock(std::span<OwnedRows* const>(of_query.locked)) {}

    using ComponentRows = TextBatch::ComponentRows;

    /// A batch, and what it refers to if that is not in a table.
    struct Batch {
        TextBatch batch;
        const Plan* plan = nullptr;
        Array<ComponentRows> places{Owner("query")};       // those of the batch, whose first_row_ is 0
        Array<Entity> entities{Owner("query")};            // empty: they follow each other in a table
        Array<Array<std::uint32_t>> rows{Owner("query")};  // by component; empty: they follow each other

        bool lists(std::size_t c) const { return !rows[c].empty(); }
        bool is_long() const {
            return batch.num_rows() >= kLongRun && entities.empty() &&
                   std::ranges::all_of(rows, [](const auto& listed) { return listed.empty(); });
        }
    };

    const Plan& plan;
    DatabaseLock database;
    RowLock lock;
    const Plan* visited = nullptr;  // the plan whose loop runs
    Array<Batch> batches{Owner("query")};

    static bool is_same_table(const ComponentRows& a, const ComponentRows& b) {
        return a.table == b.table && a.first_column == b.first_column && a.is_singleton == b.is_singleton;
    }
    static bool can_join(const Batch& a, const Batch& b) {
        return a.plan == b.plan && std::ranges::equal(a.batch.places_, b.batch.places_, is_same_table);
    }
    /// Whether b goes on where a ends, or one of them lists rows.
    static bool goes_on(const Batch& a, const Batch& b) {
        for (std::size_t c = 0; c < a.rows.size(); ++c)
            if (breaks(a, b, c)) return false;
        return true;
    }
    static bool breaks(const Batch& a, const Batch& b, std::size_t c) {
        const ComponentRows& place = a.batch.places_[c];
        if (place.table == nullptr || place.is_singleton || a.lists(c) || b.lists(c)) return false;
        return b.batch.places_[c].first_row != place.first_row + a.batch.num_rows();
    }
    static void list_rows(Batch& batch, std::size_t c) {
        if (batch.lists(c)) return;
        for (std::uint32_t i = 0; i < batch.batch.num_rows(); ++i)
            batch.rows[c].push_back(batch.batch.places_[c].first_row + i);
    }
    static void append(Batch& a, Batch& b) {
        for (std::size_t c = 0; c < a.rows.size(); ++c) {
            if (!a.lists(c) && !b.lists(c) && !breaks(a, b, c)) continue;
            list_rows(a, c), list_rows(b, c);
            a.rows[c].insert(a.rows[c].end(), b.rows[c].begin(), b.rows[c].end());
        }
        std::span<const Entity>& entities = a.batch.entities_;
        const std::span<const Entity> more = b.batch.entities_;
        if (a.entities.empty() && b.entities.empty() && more.data() == entities.data() + entities.size()) {
            entities = {entities.data(), entities.size() + more.size()};
            return;
        }
        if (a.entities.empty()) a.entities.assign(entities.begin(), entities.end());
        a.entities.insert(a.entities.end(), more.begin(), more.end());
        entities = a.entities;
    }

    /// Whether a run goes on where the last batch, which is one too, ends.
    bool extends_last(const TextBatch& found) const {
        const Batch& last = batches.back();
        const TextBatch& before = last.batch;
        if (last.plan != visited || !last.entities.empty()) return false;
        if (found.entities_.data() != before.entities_.data() + before.num_rows()) return false;
        for (std::size_t c = 0; c < last.rows.size(); ++c) {
            const ComponentRows &from = before.places_[c], &to = found.places_[c];
            if (last.lists(c) || to.rows != nullptr || !is_same_table(from, to)) return false;
            const std::uint32_t first_row = to.first_row + found.first_row_;
            if (to.table != nullptr && !to.is_singleton && first_row != from.first_row + before.num_rows())
                return false;
        }
        return true;
    }

    /// Keeps what the loop shows.
    void add(const TextBatch& found) {
        if (!batches.empty() && extends_last(found)) {
            std::span<const Entity>& entities = batches.back().batch.entities_;
            entities = {entities.data(), entities.size() + found.num_rows()};
            return;
        }
        Batch made{found, visited};
        made.places.assign(found.places_.begin(), found.places_.end());
        made.batch.places_ = made.places;
        made.batch.first_row_ = 0;
        for (ComponentRows& place : made.places) {
            if (place.rows == nullptr) place.first_row += found.first_row_;
            made.rows.push_back(Array<std::uint32_t>(Owner("query")));
            if (place.rows != nullptr) made.rows.back().assign(place.rows, place.rows + found.num_rows());
        }
        if (!lies_in_table(found)) {
            made.entities.assign(found.entities_.begin(), found.entities_.end());
            made.batch.entities_ = made.entities;
        }
        if (!batches.empty() && can_join(batches.back(), made) && goes_on(batches.back(), made))
            append(batches.back(), made);
        else
            batches.push_back(std::move(made));
    }
    /// Whether the entities of a batch are those of a table that it shows; others lie in the loop, which goes on.
    static bool lies_in_table(const TextBatch& found) {
        return std::ranges::any_of(found.places_, [&](const ComponentRows& place) {
            if (place.table == nullptr) return false;
            const std::span<const Entity> all = place.table->entities();
            return found.entities_.data() >= all.data() && found.entities_.data() < all.data() + all.size();
        });
    }

    /// Joins short batches of the same tables.
    void join_short() {
        std::size_t last = 0;
        for (std::size_t i = 1; i < batches.size(); ++i) {
            if (!batches[last].is_long() && !batches[i].is_long() && can_join(batches[last], batches[i]))
                append(batches[last], batches[i]);
            else if (++last != i)
                batches[last] = std::move(batches[i]);
        }
        while (batches.size() > last + 1) batches.pop_back();
        for (Batch& batch : batches) {
            if (!batch.entities.empty()) batch.batch.entities_ = batch.entities;
            for (std::size_t c = 0; c < batch.rows.size(); ++c)
                if (batch.lists(c)) batch.places[c].rows = batch.rows[c].data(), batch.places[c].first_row = 0;
        }
    }
};

HeldRows::HeldRows(const TextQuery& query) : held_(nullptr) {
    const TextQuery::Plan& plan = *query.plan_;
    void* const memory = allocate_memory(sizeof(TextQuery::Held), "query");
    held_ = ::new (memory) TextQuery::Held(plan);
    const auto keep = [](void* held, const TextBatch& batch) { static_cast<TextQuery::Held*>(held)->add(batch); };
    if (plan.places.has_database()) plan.match[0].refresh();
    for (const TextQuery::Plan* visited : {&plan, static_cast<const TextQuery::Plan*>(plan.further)}) {
        held_->visited = visited;
        if (visited != nullptr) TextQuery::run(*visited, nullptr, {.visit = keep, .context = held_, .marks = false});
    }
    if (!held_->batches.empty()) held_->join_short();
}

HeldRows::~HeldRows() {
    held_->~Held();
    release_memory(held_, sizeof(TextQuery::Held), "query");
}

std::size_t HeldRows::num_batches() const { return held_->batches.size(); }

const TextBatch& HeldRows::batch(std::size_t index) const {
    SHOAL_ASSERT(index < held_->batches.size(), "there are fewer batches; ask num_batches()");
    return held_->batches[index].batch;
}

void HeldRows::finish(Executor* executor) {
    for (const TextQuery::Plan* plan : {&held_->plan, static_cast<const TextQuery::Plan*>(held_->plan.further)}) {
        if (plan == nullptr) continue;
        TextQuery::Loop loop(*plan, nullptr, nullptr, TextMarks::kAll);
        loop.begin();
        for (const TextQuery::Held::Batch& batch : held_->batches)
            if (batch.plan == plan) loop.mark(batch.batch);
        loop.tell(executor);
    }
}

TextQuery& TextQuery::operator=(TextQuery&& other) noexcept {
    std::swap(plan_, other.plan_);
    return *this;
}

}  // namespace shoal
