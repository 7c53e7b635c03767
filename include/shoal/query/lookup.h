#pragma once
// Reads and sets a field of an entity, in whichever store keeps the component. A C++ member names the field.
//
//     const Lookup<&PointMass::mass> mass(world.directory());  // finds the store once
//     for (const Entity entity : hit)
//         if (auto m = mass.find(entity)) total += *m;  // a pointer to const, or what is used like one
//     return mass.set(hit[0], 3);                       // an error if it has no such component
//
//     component type --directory--> store    a manager: entity -> row of its table
//                                            a database: entity -> table, row; the archetype knows the column
//
// World::get() and World::set() look up a single value: world.get<&PointMass::mass>(entity). A disabled component
// counts as missing, and so does a component of a dead entity whose rows have not been removed yet. For a `many` type,
// find() returns the first value. set() goes through the store: setting a transform moves its children. For access to
// fields by name, see store/field_path.h.
// Lifetime: a Lookup is valid until the store is detached or destroyed, even if rows are added, removed or moved. The
// result of find() is valid until the next structural call.
// Thread: find() counts as a const call to the store. A pass that calls set() must declare that it writes the field,
// and must call set() on one thread only.

#include "shoal/database/database.h"
#include "shoal/query/detail/terms.h"
#include "shoal/store/detail/owned_rows.h"
#include "shoal/store/field_path.h"
#include "shoal/table/detail/field_mistake.h"

namespace shoal {

namespace detail {

/// Where a component type is kept. Type-erased.
class LookupStore {
public:
    /// Finds the store; the result has no store if none keeps the component type. Requires: if there is a store, it has
    /// the fields in columns, with the layout of `component`.
    SHOAL_API static LookupStore find_in(const ComponentDirectory& directory, const Schema& component);
    /// Like find_in(), but prepares for many look-ups, and makes the store of a built-in component type if necessary.
    /// Requires: a store keeps the component type.
    SHOAL_API static LookupStore require_in(ComponentDirectory& directory, const Schema& component);

    /// A row with an enabled component. Lifetime: until the next structural call.
    struct Row {
        const PhysicalColumn* columns = nullptr;  ///< the component's columns; nullptr: the entity lacks the component
        std::uint32_t row = kNilRow;
        const Table* table = nullptr;    ///< only set in checked builds
        std::uint32_t first_column = 0;  ///< only set in checked builds
    };
    template <bool kCanBeDisabled>
    SHOAL_INLINE Row find(Entity entity) const {
        if (columns_ == nullptr) return find_owned(entity);
        const DatabaseDirectory::Location at = database_->directory().find(entity);
        if (SHOAL_UNLIKELY(!at)) return {};
        const PhysicalColumn* const columns = (*columns_)[at.table];
        if (SHOAL_UNLIKELY(columns == nullptr) || database_->is_dead(entity)) return {};
        if constexpr (kCanBeDisabled)
            if (!database_->all_tables()[at.table]->has(type_, at.row)) return {};
        return {columns, at.row};
    }
    /// See FieldPath::write_at().
    SHOAL_API Status set(Entity entity, std::uint32_t field, const std::byte* value) const;

private:
    LookupStore(const ComponentDirectory& directory, const Schema& component);

    static Row row_of(const Table& table, std::uint32_t row, std::uint32_t first_column) {
        return {&table.physical_column(first_column), row, &table, first_column};
    }
    SHOAL_INLINE Row find_owned(Entity entity) const {
        if (SHOAL_UNLIKELY(own_columns_ == nullptr)) return find_rare(entity);
        const std::uint32_t row = rows_->find(entity);
        if (row == kNilRow || rows_->is_dead(entity)) return {};
        return {own_columns_, row, &rows_->table(), first_column_};
    }
    /// Like find(), for a single look-up in a database, and for a store with rows that lack the component. Pure: a loop
    /// may reuse the result.
    __attribute__((pure)) SHOAL_API Row find_rare(Entity entity) const;

    const EntityManager* entities_;
    const Schema* component_;
    Store* store_ = nullptr;
    OwnedRows* rows_ = nullptr;           // nullptr: the store is a database, or there is no store
    const Database* database_ = nullptr;  // set if the store is a database
    ComponentType type_;                  // the component type in that database
    // Its columns in that database. nullptr for a single look-up, and in a checked build.
    const Array<const PhysicalColumn*>* columns_ = nullptr;
    // Its columns in `rows_`; nullptr if some of the rows lack the component: see OwnedColumns::needs_parent.
    const PhysicalColumn* own_columns_ = nullptr;
    std::uint32_t first_column_ = 0;  // the first of these columns
};

}  // namespace detail

template <auto kMember>
class Lookup {
    using Mistake = detail::FieldMistake;
    static constexpr Mistake kMistake = detail::find_field_mistake<kMember>();
    static constexpr bool kIsRight = kMistake == Mistake::kNone;
    static_assert(detail::kDiffersFrom<kMistake, Mistake::kUndeclared>,
                  "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
    static_assert(detail::kDiffersFrom<kMistake, Mistake::kAllFields>,
                  "one field is looked up; name it, &T::field, in place of all_fields<T>");
    static_assert(detail::kDiffersFrom<kMistake, Mistake::kNoField>,
                  "the member is not among the fields of its SHOAL_COMPONENT declaration");

public:
    /// Finds the store, as a query over `directory` does. Requires: a store keeps the component type, or can be made on
    /// demand; the store has the fields in columns; if the store must be made, no pass is running.
    explicit Lookup(ComponentDirectory& directory) : Lookup(detail::LookupStore::require_in(directory, schema())) {}
    /// For a single look-up: finds nothing if no store keeps the component type.
    static Lookup once(const ComponentDirectory& directory) {
        return Lookup(detail::LookupStore::find_in(directory, schema()));
    }

    /// Returns the field in the form in which a query passes a Maybe field: a pointer to const or, if the field is
    /// split, an object that is used like a pointer. It is null if the entity is dead or has no such component, or if
    /// the component is disabled. Any id is allowed. Cost: a look-up in the store.
    SHOAL_INLINE auto find(Entity entity) const {
        if constexpr (kIsRight) {
            using View = ReadColumn<kMember>;
            const detail::LookupStore::Row at =
                store_.template find<detail::kCanBeDisabled<ComponentOf<kMember>>>(entity);
            if (at.columns == nullptr) return detail::optional_value(View(), kNilRow);
            const auto first_of = [&](std::uint32_t c)
                                      SHOAL_INLINED { return static_cast<const std::byte*>(at.columns[c].data); };
            if constexpr (SHOAL_CHECKED != 0)
                return detail::optional_value(make_column<kMember, const ValueOf<kMember>>(
                                                  first_of, offset_, at.table->num_rows(), *at.table, at.first_column),
                                              at.row);
            else
                return detail::optional_value(
                    make_column<kMember, const ValueOf<kMember>>(first_of, offset_, std::size_t(at.row) + 1), at.row);
        } else {
            return static_cast<const ValueOf<kMember>*>(nullptr);
        }
    }
    /// Sets the field through the store, and marks it as written.
    /// Errors: the entity is dead or has no such component, or the component is disabled; the store rejects the value.
    /// The message states the cause. On error, nothing has changed.
    Status set(Entity entity, const ValueOf<kMember>& value) const {
        constexpr Mistake kOfSet = detail::find_set_mistake<kMember>();
        static_assert(detail::kDiffersFrom<kOfSet, Mistake::kOpaque>,
                      "a field whose type only C++ knows is not set here; say Manager::set() or Database::set()");
        static_assert(detail::kDiffersFrom<kOfSet, Mistake::kComputed>,
                      "the store of a component computes it, so its fields are not set; call the store");
        if constexpr (kOfSet == Mistake::kNone)
            return store_.set(entity, FieldLayout<kMember>::kIndex, reinterpret_cast<const std::byte*>(&value));
        else
            return {};
    }

private:
    explicit Lookup(const detail::LookupStore& store) : store_(store) {
        if constexpr (kIsRight)
            if constexpr (FieldLayout<kMember>::kLayout == ColumnLayout::kWhole)
                offset_ = FieldLayout<kMember>::struct_offset();
    }
    static const Schema& schema() {
        if constexpr (kIsRight)
            return schema_of<ComponentOf<kMember>>();
        else
            __builtin_trap();  // never compiled
    }

    detail::LookupStore store_;
    std::size_t offset_ = 0;  // the offset in the struct, if the component is kept whole
};

}  // namespace shoal
