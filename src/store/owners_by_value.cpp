// Builds each value's list of owners, and rows from these lists.

#include "shoal/store/detail/owners_by_value.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace shoal {
namespace {

constexpr std::uint64_t kNeverBuilt = ~std::uint64_t(0);

/// Returns a schema without fields that allows at most one component per entity.
Schema member_of(const Schema& component) {
    ComponentDefinition definition;
    definition.name = component.name();
    Result<Schema> made = Schema::make(std::move(definition));
    SHOAL_ASSERT(made.ok(), "the name of a component type is that of another");
    return *made;
}

}  // namespace

/// Held while lists are read or built, because several concurrent passes may make the first request.
class OwnersByValue::Guard {
public:
    explicit Guard(OwnersByValue& owners) : owners_(owners) {
        while (__atomic_test_and_set(&owners_.is_guarded_, __ATOMIC_ACQUIRE)) std::this_thread::yield();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { __atomic_clear(&owners_.is_guarded_, __ATOMIC_RELEASE); }

private:
    OwnersByValue& owners_;
};

OwnersByValue::OwnersByValue(OwnedRows& rows, PagePool& pool)
    : source_(rows), pool_(pool), member_(member_of(rows.schema())), built_at_(kNeverBuilt) {
    SHOAL_ASSERT(rows.schema().fields().size() == 1 && rows.schema().fields()[0].type == FieldType::kStringId &&
                     rows.schema().fields()[0].array_length == 0,
                 "owners are listed by a component whose one field is a string id");
}

OwnersByValue::~OwnersByValue() {
    rows_by_value_.for_each([](StringId, OwnedRows* rows) { delete rows; });
    if (callback_.number != 0) source_.entity_manager().remove_destruction_callback(callback_);
}

std::span<const Entity> OwnersByValue::living(StringId value) {
    const Guard guard(*this);
    EntityManager& entities = source_.entity_manager();
    if (callback_.number == 0 && !entities.is_held()) {
        callback_ = entities.add_destruction_callback(
            [](void* self, std::span<const Entity>) { ++static_cast<OwnersByValue*>(self)->num_deaths_; }, this);
        ++num_deaths_;  // deaths before this point were not counted
    }
    build();
    const std::uint32_t* const place = list_by_value_.find(value);
    if (place == nullptr) return {};
    List& list = lists_[*place];
    if (list.num_deaths != num_deaths_ || callback_.number == 0) {
        const std::span<Entity> all = owners(list);
        const auto end = std::remove_if(all.begin(), all.end(), [&](Entity e) { return !entities.alive(e); });
        list.count = static_cast<std::uint32_t>(end - all.begin());
        list.num_deaths = num_deaths_;
    }
    return owners(list);
}

OwnedRows& OwnersByValue::rows_of(StringId value) {
    const Guard guard(*this);
    if (OwnedRows** const known = rows_by_value_.find(value)) return **known;
    build();
    // These rows are never settled, so they do not follow the list of deaths.
    auto* const made = new OwnedRows(
        member_, source_.entity_manager(), pool_,
        {.index = RowIndexKind::kHash, .capacity_rows = source_.options().capacity_rows, .follows_deaths = false});
    fill(value, *made);
    return *rows_by_value_.add(value, made);
}

void OwnersByValue::refresh() {
    if (__atomic_load_n(&built_at_, __ATOMIC_ACQUIRE) == source_.num_structural_changes()) return;
    const Guard guard(*this);
    build();
}

/// Builds the lists, and the rows of all values in rows_by_value_, unless they are up to date.
void OwnersByValue::build() {
    const std::uint64_t num_changes = source_.num_structural_changes();
    if (built_at_ == num_changes) return;
    lists_.clear();
    list_by_value_.clear();
    count_values();
    std::uint32_t begin = 0;
    for (List& list : lists_) {
        list.begin = begin;
        begin += std::exchange(list.count, 0);
    }
    owners_.resize(begin);
    // All rows of an entity are visited together, so if they contain a value twice, the entity is already at the end of
    // the list.
    const std::span<const Entity> of_rows = source_.table().entities();
    const EntityManager& entities = source_.entity_manager();
    for (std::uint32_t row = 0; row < of_rows.size(); ++row) {
        const Entity owner = of_rows[row];
        if (!entities.alive(owner) || source_.find(owner) != row) continue;
        for_each_value(row, [&](StringId value) {
            List& list = list_of(value);
            Entity* const end = owners_.data() + list.begin + list.count;
            if (list.count > 0 && end[-1] == owner) return;
            *end = owner;
            ++list.count;
        });
    }
    rows_by_value_.for_each([&](StringId value, OwnedRows* rows) { fill(value, *rows); });
    __atomic_store_n(&built_at_, num_changes, __ATOMIC_RELEASE);
}

/// Calls visit(value) for each row of the entity whose first row is `row`.
template <class Visit>
void OwnersByValue::for_each_value(std::uint32_t row, Visit&& visit) const {
    const Table& table = source_.table();
    const auto* const values = reinterpret_cast<const StringId*>(table.column(0));
    const bool has_more = table.has_chain();
    while (row != kNilRow) {
        visit(values[row]);
        row = has_more ? table.links(LinkColumn::kChainNext)[row] : kNilRow;
    }
}

/// Makes a list for each value and counts its rows.
void OwnersByValue::count_values() {
    const auto* const values = reinterpret_cast<const StringId*>(source_.table().column(0));
    for (std::uint32_t row = 0; row < source_.num_rows(); ++row) ++list_of(values[row]).count;
}

OwnersByValue::List& OwnersByValue::list_of(StringId value) {
    const auto [place, is_new] = list_by_value_.insert(value, static_cast<std::uint32_t>(lists_.size()));
    if (is_new) lists_.push_back({.value = value, .num_deaths = num_deaths_});
    return lists_[*place];
}

void OwnersByValue::fill(StringId value, OwnedRows& rows) {
    rows.clear();
    const std::uint32_t* const place = list_by_value_.find(value);
    if (place == nullptr) return;
    const Result<AddCounts> added =
        rows.add(owners(lists_[*place]), [](void*, Table&, RowRange, std::size_t) {}, nullptr);
    SHOAL_ASSERT(added.ok(), added.ok() ? "" : added.message().data());
}

}  // namespace shoal
