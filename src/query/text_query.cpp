// The loop of a text query: the blocks of a join, or whole tables, as batches of columns.

#include "shoal/query/text_query.h"

#include "query/text_plan.h"
#include "shoal/command/loop_scope.h"
#include "shoal/database/lock.h"
#include "shoal/query/detail/join_block.h"
#include "shoal/store/owned_rows.h"

#include <cstring>

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

void mark_columns(Table& table, std::uint32_t first, std::size_t num_columns, RowRange rows) {
    for (std::uint32_t c = 0; c < num_columns; ++c) detail::mark_column(table, first + c, rows);
}

}  // namespace

TextColumn TextBatch::column(std::size_t component, std::size_t column) const {
    const TextComponent& shown = components_[component];
    SHOAL_ASSERT(shown.has_columns, "the component's store keeps its fields in another form");
    SHOAL_ASSERT(column < shown.schema->columns().size(), "the component has no such column");
    const Place& place = places_[component];
    if (place.table == nullptr) return {nullptr, 0, nullptr, shown.is_written, num_rows()};
    const std::size_t stride = shown.schema->columns()[column].element_bytes;
    std::byte* const first = place.table->unmarked_column(place.first_column + static_cast<std::uint32_t>(column));
    return {first + place.first_row * stride, stride, place.rows, shown.is_written, num_rows()};
}

bool TextBatch::read(std::size_t component, const FieldPart& part, std::uint32_t i, std::byte* value) const {
    SHOAL_ASSERT(components_[component].has_columns, "the component's store keeps its fields in another form");
    SHOAL_ASSERT(i < num_rows(), "the row is past the end of the batch");
    const Place& place = places_[component];
    const std::uint32_t row = place.rows != nullptr ? place.rows[i] : place.first_row + i;
    if (place.table == nullptr || row == kNilRow) return false;
    read_part(*place.table, place.first_column, row, part, value);
    return true;
}

/// One loop.
class TextQuery::Loop {
public:
    using Visit = void (*)(void* context, const TextBatch& batch);

    Loop(const Plan& plan, Visit visit, void* context)
        : plan_(plan),
          match_(plan.match.empty() ? nullptr : &plan.match[0]),
          fetched_(fetched_columns(plan)),
          finder_(plan.places, match_, nullptr, {fetched_.data(), fetched_.size()}),
          visit_(visit),
          context_(context),
          batch_({plan.components.data(), plan.components.size()}) {
        const std::size_t num_stores = plan.places.stores.size(), num_shown = plan.components.size();
        found_.resize((num_stores + num_shown) * JoinBlock::kRows);
        block_.found = reinterpret_cast<std::uint32_t(*)[JoinBlock::kRows]>(found_.data());
        shown_ = block_.found + num_stores;
        if (match_ == nullptr) return;
        tables_.resize(JoinBlock::kRows);
        block_.tables = tables_.data();
    }

    void run() {
        const detail::TermPlaces& places = plan_.places;
        const std::uint8_t driver = places.driver(match_ == nullptr ? 0 : match_->num_rows());
        if (driver == places.database)
            return match_->for_each_table(
                [&](DatabaseTable& table) { run_part({&table.table(), &table, {0, table.num_rows()}}); });
        Table& table = places.stores[driver].rows->table();
        run_part({&table, nullptr, {0, table.num_rows()}});
    }

private:
    /// The columns of small components: of those with many, few are looked at.
    static Array<detail::FetchedColumn> fetched_columns(const Plan& plan) {
        constexpr std::size_t kMostColumns = 8;
        Array<detail::FetchedColumn> fetched("query");
        for (std::size_t i = 0; i < plan.components.size(); ++i) {
            const std::span<const ColumnDefinition> columns = plan.components[i].schema->columns();
            const std::uint8_t store = plan.places.store_of[i];
            if (plan.types[i] || !plan.components[i].has_columns || columns.size() > kMostColumns) continue;
            const Table& table = plan.places.stores[store].rows->table();
            for (std::uint32_t c = 0; c < columns.size(); ++c)
                fetched.push_back({store, table.column(plan.places.first_column[i] + c), columns[c].element_bytes});
        }
        return fetched;
    }

    void run_part(const QueryPart& part) {
        if (part.rows.size() == 0) return;
        if (visits_all(part))
            return detail::for_each_run(plan_.places.left_out(), part,
                                        [&](RowRange rows) { visit_all({part.table, part.of_database, rows}); });
        for (std::uint32_t begin = part.rows.begin; begin < part.rows.end; begin += JoinBlock::kRows) {
            finder_.find(block_, part, begin);
            block_.for_each_table([&](DatabaseTable* table, const std::uint64_t* words) { visit_block(table, words); });
        }
    }
    /// Whether all rows of a part match, and all that is shown lies in its table.
    bool visits_all(const QueryPart& part) const {
        if (!plan_.comparisons.empty()) return false;
        if (part.of_database == nullptr) return plan_.places.is_one_table() && part.table->num_holes() == 0;
        if (plan_.places.stores.size() != 1 || !match_->all_rows(*part.of_database)) return false;
        for (std::size_t i = 0; i < plan_.components.size(); ++i)
            if (part.of_database->presence(plan_.types[i]) != nullptr && plan_.components[i].is_optional) return false;
        return true;
    }
    void visit_all(const QueryPart& part) {
        bind(part.of_database);
        for (std::size_t i = 0; i < plan_.components.size(); ++i) batch_.places_[i].first_row = part.rows.begin;
        batch_.entities_ = part.table->entities().subspan(part.rows.begin, part.rows.size());
        visit_(context_, batch_);
        for (std::size_t i = 0; i < plan_.components.size(); ++i)
            if (plan_.components[i].is_written && batch_.places_[i].table != nullptr)
                mark_columns(*part.table, batch_.places_[i].first_column, num_columns(i), part.rows);
    }

    /// Notes the tables of the components; that of the database, for those which it keeps.
    void bind(DatabaseTable* of_database) {
        for (std::size_t i = 0; i < plan_.components.size(); ++i) {
            TextBatch::Place& place = batch_.places_[i];
            place = {};
            if (plan_.types[i]) {
                const std::uint32_t first =
                    of_database == nullptr ? kNoColumn : of_database->first_column(plan_.types[i]);
                if (first != kNoColumn) place = {&of_database->table(), first, 0, nullptr};
            } else {
                place = {&plan_.places.stores[plan_.places.store_of[i]].rows->table(), plan_.places.first_column[i], 0,
                         nullptr};
            }
        }
    }
    void visit_block(DatabaseTable* table, const std::uint64_t* visited) {
        std::uint64_t words[JoinBlock::kWords];
        for (std::uint32_t word = 0; word < JoinBlock::kWords; ++word) words[word] = visited[word];
        bind(table);
        for (const TextComparison& comparison : plan_.comparisons) keep_those(column_of(comparison), comparison, words);
        if (!choose(words)) return;
        visit_(context_, batch_);
        mark();
    }
    ComparedColumn column_of(const TextComparison& comparison) const {
        const TextBatch::Place& place = batch_.places_[comparison.component];
        if (place.table == nullptr) return {};  // then no row was found there
        const Schema& schema = *plan_.components[comparison.component].schema;
        const FieldPart& part = comparison.part;
        const Table& table = *place.table;
        return {table.column(place.first_column + part.first_column) + part.offset_in_column,
                schema.columns()[part.first_column].element_bytes, found(comparison.component)};
    }
    const std::uint32_t* found(std::size_t component) const { return block_.found[plan_.places.store_of[component]]; }
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
            if (batch_.places_[i].table != nullptr) choose_rows(i);
        return true;
    }
    void choose_rows(std::size_t component) {
        const std::uint32_t* const rows = found(component);
        const std::uint32_t num_chosen = batch_.num_rows();
        TextBatch::Place& place = batch_.places_[component];
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
        if (!is_optional) return;
        for (std::uint32_t k = 0; k < num_chosen; ++k)
            if (!has(component, chosen_[k], out[k])) out[k] = kNilRow;
    }
    bool has(std::size_t component, std::uint32_t i, std::uint32_t row) const {
        if (plan_.types[component]) return row != kNilRow && block_.table_of(i)->has(plan_.types[component], row);
        return plan_.places.stores[plan_.places.store_of[component]].has(row);
    }
    void mark() const {
        for (std::size_t i = 0; i < plan_.components.size(); ++i) {
            const TextBatch::Place& place = batch_.places_[i];
            if (!plan_.components[i].is_written || place.table == nullptr) continue;
            if (place.rows == nullptr)
                mark_columns(*place.table, place.first_column, num_columns(i),
                             {place.first_row, place.first_row + batch_.num_rows()});
            else
                for (std::uint32_t k = 0; k < batch_.num_rows(); ++k)
                    if (place.rows[k] != kNilRow)
                        mark_columns(*place.table, place.first_column, num_columns(i),
                                     {place.rows[k], place.rows[k] + 1});
        }
    }
    std::size_t num_columns(std::size_t component) const {
        return plan_.components[component].schema->columns().size();
    }

    const Plan& plan_;
    const DatabaseMatch* match_;
    Array<detail::FetchedColumn> fetched_;
    detail::JoinFinder finder_;
    Visit visit_;
    void* context_;
    TextBatch batch_;
    JoinBlock block_;
    Array<std::uint32_t> found_{Owner("query")};  // by store, then by component: the rows of a block
    Array<DatabaseTable*> tables_{Owner("query")};
    std::uint32_t (*shown_)[JoinBlock::kRows] = nullptr;  // by component: the rows of a batch
    std::uint32_t chosen_[JoinBlock::kRows];              // places in the block
    Entity entities_[JoinBlock::kRows];
};

TextQuery::~TextQuery() { delete plan_; }

std::span<const TextComponent> TextQuery::components() const {
    return {plan_->components.data(), plan_->components.size()};
}

std::span<const Access> TextQuery::accesses() const { return {plan_->accesses.data(), plan_->accesses.size()}; }

std::uint64_t TextQuery::num_rows() const {
    const detail::TermPlaces& places = plan_->places;
    if (places.has_database()) plan_->match[0].refresh();
    const std::uint64_t num_database_rows = places.has_database() ? plan_->match[0].num_rows() : 0;
    const std::uint8_t driver = places.driver(num_database_rows);
    if (plan_->further != nullptr) return num_database_rows + plan_->further->places.stores[0].rows->num_rows();
    return driver == places.database ? num_database_rows : places.stores[driver].rows->num_rows();
}

const Store& TextQuery::driver() const {
    const detail::TermPlaces& places = plan_->places;
    if (places.has_database()) plan_->match[0].refresh();
    return *places.stores[places.driver(places.has_database() ? plan_->match[0].num_rows() : 0)].store;
}

void TextQuery::for_each_batch(void (*visit)(void* context, const TextBatch& batch), void* context) const {
    const detail::TermPlaces& places = plan_->places;
    Database* const database =
        places.has_database() ? static_cast<Database*>(places.stores[places.database].store) : nullptr;
    const DatabaseLock database_lock(database);
    const RowLock lock(std::span<OwnedRows* const>(plan_->locked));
    if (database != nullptr) plan_->match[0].refresh();
    const detail::LoopScope scope;
    Loop(*plan_, visit, context).run();
    if (plan_->further != nullptr) Loop(*plan_->further, visit, context).run();
}

}  // namespace shoal
