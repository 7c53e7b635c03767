// Values of `many` component types. The first is in the entity's row, where every loop and every reader of columns
// finds it. The other values are rows of one table for the whole database: an entity's chain begins with its second
// value. These rows are found by row numbers and move only when other values are removed, so they stay where they are
// when the row of the entity moves to another archetype or zone.

#include "database/arguments.h"
#include "database/rows.h"
#include "shoal/base/text.h"
#include "shoal/table/detail/copy_elements.h"

#include <algorithm>

namespace shoal {
namespace {

/// Swaps two opaque values.
void swap_opaque(const OpaqueOperations& operations, std::byte* a, std::byte* b) {
    constexpr std::size_t kMostLocalBytes = 256;
    alignas(kCacheLineBytes) std::byte local[kMostLocalBytes];
    const std::size_t bytes = operations.size + kCacheLineBytes;
    const bool is_local = operations.size <= kMostLocalBytes;
    auto* const allocated = is_local ? nullptr : static_cast<std::byte*>(allocate_memory(bytes, "database"));
    std::byte* const spare =
        is_local ? local : allocated + kCacheLineBytes - reinterpret_cast<std::uintptr_t>(allocated) % kCacheLineBytes;
    operations.move_construct(spare, a);
    operations.destroy(a);
    operations.move_construct(a, b);
    operations.destroy(b);
    operations.move_construct(b, spare);
    operations.destroy(spare);
    if (!is_local) release_memory(allocated, bytes, "database");
}

}  // namespace

// --- adding ------------------------------------------------------------------------------------------------------

/// Whether one of the component types is `many`.
bool Database::names_many(std::span<const ComponentValues> values) const {
    for (const ComponentValues& given : values)
        if (further_values(given.component) != nullptr) return true;
    return false;
}

/// Makes room for the first values that the entities of a call already have. These values move when others are added
/// before them. Errors: out of memory. On error, nothing has changed.
Status Database::reserve_further(Arguments& arguments) {
    const bool may_repeat = arguments.entities().size() > 1;
    BitSet named{Owner("database")};
    for (const ComponentValues& given : arguments.values()) {
        OwnedRows* const further = further_values(given.component);
        if (further == nullptr) continue;
        arguments.keep_apart_from(further->table());
        std::size_t count = 0;
        std::uint32_t highest = 0;
        if (may_repeat) named.clear(entities_.num_indices_used() + 1);
        for (const Entity entity : arguments.entities()) {
            if (!entities_.alive(entity)) continue;
            const bool is_repeated = may_repeat && named.test_and_set(entity.index());
            if (!is_repeated && !has(entity, given.component)) continue;
            ++count;
            highest = std::max(highest, entity.index());
        }
        if (Status status = further->reserve(count, highest); !status) return status;
    }
    return {};
}

/// Moves the value in a row to second place in its entity's list, to free the row for another value. Opaque fields in
/// the row are then default-constructed, and other fields hold arbitrary bytes. Requires: room is reserved.
void Database::push_first(DatabaseTable& table, std::uint32_t row, ComponentType component) {
    const std::uint32_t second = further_values(component)->append(table.entities()[row]);
    swap_value(table, row, component, second);
    tables_.count_changes();
}

/// Swaps the value in a row with a further value.
void Database::swap_value(DatabaseTable& table, std::uint32_t row, ComponentType component, std::uint32_t further_row) {
    const std::span<const ColumnDefinition> columns = schema(component).columns();
    Table& further = further_values(component)->table();
    for (std::uint32_t c = 0; c < columns.size(); ++c) {
        const std::size_t bytes = columns[c].element_bytes;
        std::byte* const a = table.table_.unmarked_column(table.first_column(component) + c) + row * bytes;
        std::byte* const b = further.unmarked_column(c) + further_row * bytes;
        if (columns[c].opaque != nullptr)
            swap_opaque(*columns[c].opaque, a, b);
        else
            swap_elements(a, b, bytes);
    }
}

// --- removing ----------------------------------------------------------------------------------------------------

/// Removes the further values of an entity that leaves an archetype, for the types that `to` lacks or, if `to` is
/// nullptr, for all types.
void Database::drop_further(Entity entity, const Archetype& from, const Archetype* to) {
    for (const ComponentType component : from.many())
        if (to == nullptr || !to->has(component)) further_values(component)->remove({&entity, 1});
}

Status Database::remove_one_value(const Schema& component, Entity entity, const ComponentRow&, std::uint32_t index) {
    return remove_value(entity, find_component(component.id()), index).status();
}

Result<bool> Database::remove_value(Entity entity, ComponentType component, std::uint32_t index) {
    require_unlocked("remove_value()");
    graph_.require(component, entity);
    if (index >= num_values(entity, component)) return false;
    OwnedRows* const further = further_values(component);
    const std::uint32_t second = further == nullptr ? kNilRow : further->find(entity);
    if (second == kNilRow) {
        const Result<std::uint32_t> count = remove(std::span<const Entity>(&entity, 1), {&component, 1});
        if (!count) return count.status();
        return true;
    }
    const DatabaseRow at = find(entity);
    std::uint32_t removed = second;
    if (index == 0) {
        swap_value(*at.table, at.row, component, second);
        for (std::uint32_t c = 0; c < schema(component).num_columns(); ++c)
            at.table->table_.mark_written(at.table->first_column(component) + c, {at.row, at.row + 1});
    }
    for (; index > 1; --index) removed = further->table().links(LinkColumn::kChainNext)[removed];
    tables_.count_changes();
    further->remove_row(removed);
    return true;
}

// --- look-up -----------------------------------------------------------------------------------------------------

std::uint32_t Database::num_values(Entity entity, ComponentType component) const {
    graph_.require(component);
    if (!has(entity, component)) return 0;
    std::uint32_t count = 1;
    const OwnedRows* const further = further_values(component);
    std::uint32_t row = further == nullptr ? kNilRow : further->find(entity);
    for (; row != kNilRow; row = further->table().links(LinkColumn::kChainNext)[row]) ++count;
    return count;
}

/// Checks that every entity with further values has a first value.
Status Database::validate_further(ComponentType component) const {
    const OwnedRows& further = *further_values(component);
    if (Status status = further.validate(); !status) return status;
    for (const Entity owner : further.table().entities())
        if (!has(owner, component))
            return Status::error(concat("database: an entity has further values of \"", schema(component).name(),
                                        "\", but none in its row"));
    return {};
}

}  // namespace shoal
