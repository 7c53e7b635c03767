// The loop of a text query: turns the rows that its plan finds into batches of columns.

#include "shoal/query/text_query.h"

#include "query/join_block.h"
#include "query/plan_state.h"
#include "query/text_plan.h"
#include "shoal/command/commands.h"
#include "shoal/query/detail/held_rows.h"

#include <algorithm>
#include <cstring>

namespace shoal {

using detail::JoinBlock;

namespace {

/// The order of `a` and `b`.
template <class T>
std::uint8_t order(T a, T b) {
    return static_cast<std::uint8_t>((a < b ? kLess : 0) | (a == b ? kEqual : 0) | (a > b ? kGreater : 0) |
                                     (a != a || b != b ? kUnordered : 0));
}

/// Where the values for a comparison are in a table.
struct ComparedColumn {
    const std::byte* first = nullptr;
    std::size_t stride = 0;
    const std::uint32_t* rows = nullptr;  // the row for each place in the block
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

/// Keeps the bits of `words` for which a comparison holds.
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
    switch (comparison.part.type.value_bytes) {  // unsigned numbers, and values whose bits are compared for equality
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

/// A loop: the function that it calls, and how found rows become a batch.
struct TextQuery::Visitor {
    const Plan& plan;
    void (*visit)(void* context, const TextBatch& batch) = nullptr;
    void (*visit_with)(void* context, Commands& commands, const TextBatch& batch) = nullptr;  // used instead of `visit`
    void* context = nullptr;
    ComponentDirectory* directory = nullptr;  // the directory that the commands apply to
    bool marks = true;                        // whether the loop marks visited rows as written

    void run(Executor* executor) const {
        if (!singletons_hold()) return;
        plan.rows->run(executor, {.call = show,
                                  .context = const_cast<Visitor*>(this),  // NOLINT: it is called as what it is
                                  .takes_commands = visit_with != nullptr,
                                  .directory = directory,
                                  .skips_disabled = false,
                                  .looks_at_each = !plan.comparisons.empty(),
                                  .marks = marks});
    }
    /// The batch of all rows if only one table is visited; otherwise an empty batch.
    TextBatch all_of_table(std::span<TextBatch::ComponentRows> places) const {
        const std::span<const TextComponent> components(plan.components.data(), plan.components.size());
        Table* const table = plan.rows->only_table();
        const auto is_elsewhere = [](const TextComponent& component) {
            return component.is_of_parent || component.is_singleton;
        };
        if (table == nullptr || !plan.comparisons.empty() || table->num_holes() != 0 ||
            std::ranges::any_of(components, is_elsewhere))
            return {components, {}};
        const detail::PlanState& found = detail::PlanState::of(*plan.rows);
        for (std::size_t i = 0; i < places.size(); ++i)
            places[i] = {table, found.places.first_column[found.fields[i]], 0, nullptr, false};
        TextBatch all(components, places);
        all.entities_ = table->entities();
        return all;
    }

private:
    /// Whether the singletons of a query exist, and all comparisons with their fields hold.
    bool singletons_hold() const {
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
    static void show(void* self, detail::FoundRows& found) {
        const Visitor& visitor = *static_cast<Visitor*>(self);
        if (visitor.visit_with == nullptr)
            return visitor.show_batch(found, [&](const TextBatch& batch) { visitor.visit(visitor.context, batch); });
        detail::RangeCommands commands(*found.commands);
        visitor.show_batch(found,
                           [&](const TextBatch& batch) { visitor.visit_with(visitor.context, commands, batch); });
    }
    template <class Call>
    void show_batch(detail::FoundRows& found, Call&& call) const {
        const std::size_t num_shown = plan.components.size();
        detail::Room<TextBatch::ComponentRows, 16> places(num_shown);
        for (std::size_t i = 0; i < num_shown; ++i) places[i] = place_of(i, found);
        TextBatch batch({plan.components.data(), num_shown}, {places.data(), num_shown});
        if (found.words == nullptr) {
            batch.first_row_ = found.rows.begin;
            batch.entities_ = {found.owners + found.rows.begin, found.rows.size()};
            return call(batch);
        }
        for (const TextComparison& comparison : plan.comparisons)
            keep_holding(comparison, places[comparison.component], found);
        std::uint32_t chosen[JoinBlock::kRows], num_chosen = 0;
        for (std::uint32_t word = 0; word < JoinBlock::kWords; ++word)
            for_each_bit(found.words[word], word * 64,
                         [&](std::size_t i) { chosen[num_chosen++] = static_cast<std::uint32_t>(i); });
        if (num_chosen == 0) return;
        Entity entities[JoinBlock::kRows];
        detail::Room<std::uint32_t[JoinBlock::kRows], 8> lists(num_shown);
        batch.entities_ = {found.owners + found.rows.begin, num_chosen};
        if (num_chosen != found.rows.size()) {
            for (std::uint32_t k = 0; k < num_chosen; ++k) entities[k] = found.owners[found.rows.begin + chosen[k]];
            batch.entities_ = {entities, num_chosen};
        }
        for (std::size_t i = 0; i < num_shown; ++i)
            if (places[i].table != nullptr && !places[i].is_singleton)
                choose_rows(places[i], {chosen, num_chosen}, found.rows.size(), lists[i]);
        call(batch);
    }
    TextBatch::ComponentRows place_of(std::size_t component, const detail::FoundRows& found) const {
        if (plan.components[component].is_singleton) return {&plan.singletons[component]->table(), 0, 0, nullptr, true};
        const std::size_t field = plan.fields[component];
        if (found.columns != nullptr) return {found.table, found.columns[field], 0, nullptr, false};
        const detail::FieldColumns& columns = found.fields[field];
        return {columns.table, columns.first_column, columns.first_row, columns.rows, false};
    }
    /// Keeps those rows of a block for which a comparison holds.
    void keep_holding(const TextComparison& comparison, const TextBatch::ComponentRows& place,
                      detail::FoundRows& found) const {
        if (plan.components[comparison.component].is_of_parent)
            for (std::uint32_t i = 0; i < found.rows.size(); ++i)
                if (place.table == nullptr || place.rows[i] == kNilRow)
                    found.words[i / 64] &= ~(std::uint64_t(1) << (i % 64));
        if (place.table == nullptr) return;  // no row was found there
        const FieldPart& part = comparison.part;
        const std::span<const ColumnDefinition> columns = plan.components[comparison.component].schema->columns();
        keep_those({place.table->column(place.first_column + part.first_column) + part.offset_in_column,
                    columns[part.first_column].element_bytes, place.rows},
                   comparison, found.words);
    }
    /// Makes a list of the chosen rows, or a run if they are consecutive.
    static void choose_rows(TextBatch::ComponentRows& place, std::span<const std::uint32_t> chosen,
                            std::size_t num_rows, std::uint32_t* list) {
        bool follow = chosen.size() == num_rows && place.rows[0] != kNilRow;
        for (std::size_t k = 0; k < chosen.size(); ++k) {
            list[k] = place.rows[chosen[k]];
            follow = follow && list[k] == place.rows[0] + k;
        }
        place.first_row = follow ? list[0] : 0;
        place.rows = follow ? nullptr : list;
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
    plan_->rows->write_columns(plan_->fields[component], columns);
}

std::span<const Access> TextQuery::accesses() const { return {plan_->accesses.data(), plan_->accesses.size()}; }

std::uint64_t TextQuery::num_rows() const { return plan_->rows->num_rows(); }

const Store& TextQuery::driver() const { return plan_->rows->driver(); }

void TextQuery::look_at_table(void (*look)(void* context, const TextBatch& batch), void* context) const {
    Array<TextBatch::ComponentRows> places("query");
    places.resize(plan_->components.size());
    const TextBatch all = Visitor{.plan = *plan_}.all_of_table(places);
    if (!all.places_.empty()) look(context, all);
}

void TextQuery::for_each_batch(void (*visit)(void* context, const TextBatch& batch), void* context) const {
    Visitor{.plan = *plan_, .visit = visit, .context = context}.run(nullptr);
}

void TextQuery::for_each_batch(Executor& executor, void (*visit)(void* context, const TextBatch& batch),
                               void* context) const {
    Visitor{.plan = *plan_, .visit = visit, .context = context}.run(&executor);
}

void TextQuery::for_each_batch(Executor& executor, ComponentDirectory& directory,
                               void (*visit)(void* context, Commands& commands, const TextBatch& batch),
                               void* context) const {
    Visitor{.plan = *plan_, .visit_with = visit, .context = context, .directory = &directory}.run(&executor);
}

// --- rows that are kept ------------------------------------------------------------------------------------------

namespace {

/// A run of at least this number of rows stays a run.
constexpr std::uint32_t kLongRun = 4096;

}  // namespace

struct TextQuery::Held {
    explicit Held(const Plan& of_query) : plan(of_query), rows(detail::PlanState::of(*of_query.rows)) {}

    using ComponentRows = TextBatch::ComponentRows;

    /// A batch, and the data that it refers to outside of tables.
    struct Batch {
        TextBatch batch;
        Array<ComponentRows> places{Owner("query")};       // where the batch's rows are; first_row_ is 0
        Array<Entity> entities{Owner("query")};            // empty: the entities are consecutive in a table
        Array<Array<std::uint32_t>> rows{Owner("query")};  // indexed by component; empty: consecutive rows

        bool lists(std::size_t c) const { return !rows[c].empty(); }
        bool is_long() const {
            return batch.num_rows() >= kLongRun && entities.empty() &&
                   std::ranges::all_of(rows, [](const auto& listed) { return listed.empty(); });
        }
    };

    const Plan& plan;
    const detail::HeldPlan rows;
    Array<Batch> batches{Owner("query")};

    static bool is_same_table(const ComponentRows& a, const ComponentRows& b) {
        return a.table == b.table && a.first_column == b.first_column && a.is_singleton == b.is_singleton;
    }
    static bool can_join(const Batch& a, const Batch& b) {
        return std::ranges::equal(a.batch.places_, b.batch.places_, is_same_table);
    }
    /// Whether `b` continues where `a` ends, in every component for which neither batch has a list of rows.
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

    /// Whether a run continues where the last batch, also a run, ends.
    bool extends_last(const TextBatch& found) const {
        const Batch& last = batches.back();
        const TextBatch& before = last.batch;
        if (!last.entities.empty()) return false;
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

    /// Adds the rows that the loop passes.
    void add(const TextBatch& found) {
        if (!batches.empty() && extends_last(found)) {
            std::span<const Entity>& entities = batches.back().batch.entities_;
            entities = {entities.data(), entities.size() + found.num_rows()};
            return;
        }
        Batch made{found};
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
    /// Whether a batch's entities are in one of the batch's own tables. Other entities are in buffers that the loop
    /// reuses.
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
    TextQuery::Visitor{.plan = plan, .visit = keep, .context = held_, .marks = false}.run(nullptr);
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
    detail::PlanMarks marks(*held_->plan.rows);
    Array<detail::FieldColumns> fields("query");
    for (const TextQuery::Held::Batch& batch : held_->batches) {
        fields.clear();
        for (std::size_t i = 0; i < batch.places.size(); ++i) {
            const TextQuery::Held::ComponentRows& place = batch.places[i];
            if (held_->plan.fields[i] != TextQuery::Plan::kNoField)
                fields.push_back({place.table, place.first_column, place.first_row, place.rows});
        }
        marks.add(fields, batch.batch.num_rows());
    }
    marks.finish(executor);
}

TextQuery& TextQuery::operator=(TextQuery&& other) noexcept {
    std::swap(plan_, other.plan_);
    return *this;
}

}  // namespace shoal
