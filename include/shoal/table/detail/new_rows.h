#pragma once
// The rows that a call has just created, passed to the function that writes their values. The function writes directly
// to the columns, without creating and copying structs.
//
//     const auto swim_apart = [&](const NewRows& rows) {
//         const Column position = rows.column<&Position::value>();
//         const Column velocity = rows.column<&Velocity::value>();
//         for (std::size_t i = 0; i < rows.size(); ++i) {
//             position[i] = {float(rows.first() + i), 0, 0};
//             velocity[i] = {0, 1, 0};
//         }
//     };
//     const Status made = sea.create_in_place<Position, Velocity, Disabled<Asleep>>(fish, near, swim_apart);
//
// Values that the function does not write keep the defaults of the component type. The function is called once for each
// run of rows whose entities are consecutive in the call, so usually only once:
//
//     entities of the call    e0 e1 e2 e3 e4
//     rows of the table       .. e0 e1 e2 .. e3 e4       first() is 0 and size() is 3; then 3 and 2
//
// If the function adds, removes or moves rows of the store, the program ends.
// Lifetime: rows and columns are valid until the function returns. Thread: the calling thread.

#include "shoal/table/detail/column.h"
#include "shoal/table/detail/table.h"

namespace shoal {

class NewRows {
public:
    /// A component of the rows, and where its columns begin.
    struct Component {
        const Schema* schema;
        std::uint32_t first_column;
    };

    /// `first` is the position of the first row's entity in the call.
    NewRows(Table& table, RowRange rows, std::size_t first, std::span<const Component> components)
        : table_(&table), rows_(rows), first_(first), components_(components) {}

    std::size_t size() const { return rows_.size(); }
    /// The position of the first row's entity in the call; the entities of the other rows follow it.
    std::size_t first() const { return first_; }
    std::span<const Entity> entities() const { return table_->entities().subspan(rows_.begin, rows_.size()); }
    /// Returns the view for writing a field of these rows. Shape: size(). Requires: the call names the field's
    /// component.
    template <auto kMember>
    WriteColumn<kMember> column() const {
        const std::uint32_t first = first_column(schema_of<ComponentOf<kMember>>());
        const auto data = [&](std::uint32_t c) {
            return table_->unmarked_column(first + c) +
                   std::size_t(rows_.begin) * table_->schema().column(first + c).element_bytes;
        };
        std::size_t struct_offset = 0;
        if constexpr (FieldLayout<kMember>::kLayout == ColumnLayout::kWhole)
            struct_offset = FieldLayout<kMember>::struct_offset();
        return make_column<kMember, ValueOf<kMember>>(data, struct_offset, rows_.size(), *table_, first);
    }

private:
    std::uint32_t first_column(const Schema& component) const {
        for (const Component& one : components_)
            if (one.schema->id() == component.id()) return one.first_column;
        refuse(component);
    }
    [[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse(const Schema& component) const;

    Table* table_;
    RowRange rows_;
    std::size_t first_;
    std::span<const Component> components_;
};

/// Calls fill(rows) for each run of rows that belong to the entities of a call. row_of(entity) returns the row of an
/// entity, or kNilRow if it has none.
template <class RowOf, class Fill>
void fill_new_rows(Table& table, std::span<const Entity> entities, std::span<const NewRows::Component> components,
                   RowOf&& row_of, Fill&& fill) {
    for (std::size_t first = 0; first < entities.size();) {
        const std::uint32_t row = row_of(entities[first]);
        if (row == kNilRow) {
            ++first;
            continue;
        }
        const std::span<const Entity> owners = table.entities().subspan(row), rest = entities.subspan(first);
        std::uint32_t count = 1;
        while (count < owners.size() && count < rest.size() && owners[count] == rest[count]) ++count;
        fill(NewRows(table, {row, row + count}, first, components));
        first += count;
    }
}

}  // namespace shoal
