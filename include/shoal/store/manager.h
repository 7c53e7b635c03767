#pragma once
// The typed interface of a component manager.
//
//     Manager<PointMass>& masses = world.manager<PointMass>();
//     if (auto added = masses.add(stones, {.mass = 2}); !added) return added.status();  // a span: the real operation
//     if (auto i = masses.instance(stone)) {                                            // one look-up,
//         masses.set<&PointMass::mass>(i, 3);                                           // many fields
//         masses.set<&PointMass::position>(i, {0, 0, masses.get<&PointMass::position>(i).z + 1});
//     }
//     for (float m : masses.column<&PointMass::mass>()) total += m;  // packed
//     Column v = masses.write_column<&PointMass::velocity>();        // marks the column as written
//     for (std::size_t row = 0; row < v.size(); ++row) v[row].z -= 9.81f * dt;
//
// The attributes `split` and `whole` in the declaration change the layout of the rows, but not this code.
// Thread: as for ComponentManager.

#include "shoal/store/detail/component_manager.h"
#include "shoal/store/detail/stable_span.h"
#include "shoal/table/detail/column.h"
#include "shoal/table/detail/new_rows.h"

namespace shoal {

template <class T>
class Manager {
    static_assert(kIsDescribed<T>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");

public:
    /// Requires: `entities` and `pool` outlive the manager.
    Manager(EntityManager& entities, PagePool& pool, const ManagerOptions& options = {})
        : core_(schema_of<T>(), entities, pool, options) {
        for (const Field& field : core_.schema().fields())
            offsets_[&field - core_.schema().fields().data()] = field.struct_offset;
    }

    ComponentManager& core() { return core_; }
    const ComponentManager& core() const { return core_; }

    // --- structural calls ----------------------------------------------------------------------------------------

    /// Adds a component to `entity`, or sets the component that it already has. With `many`, adds a component before
    /// the existing ones. Returns the nil instance if the entity is not alive. Errors: out of memory. On error, nothing
    /// has changed.
    SHOAL_INLINE Result<Instance> add(Entity entity, T value = T{}) {
        const std::uint32_t row = core_.rows().try_append(entity);
        if (SHOAL_UNLIKELY(row == kNilRow)) return add_through_span(entity, std::move(value));
        write_rows({row, row + 1}, &value, 0);
        return core_.rows().instance_at(row);
    }
    /// Does not compile, because only a database keeps disabled components.
    template <class Other>
    Result<Instance> add(Entity, const Disabled<Other>&) {
        static_assert(!detail::kIsDisabled<Disabled<Other>>,
                      "a manager has no bit per row, so it keeps no disabled components; keep the type in a database");
        return kNilInstance;
    }
    /// Adds a component with this value to each of `entities`. See ComponentManager::add.
    Result<AddCounts> add(std::span<const Entity> entities, const T& value = T{})
        requires std::is_copy_assignable_v<T>
    {
        return add_values(entities, &value, 0);
    }
    /// Adds a component with its own value to each of `entities`. Shape: as many values as entities.
    Result<AddCounts> add(std::span<const Entity> entities, std::span<const T> values)
        requires std::is_copy_assignable_v<T>
    {
        SHOAL_ASSERT(values.size() == entities.size(), "one value per entity is needed");
        return add_values(entities, values.data(), 1);
    }

    /// Adds a component to each of `entities`, and calls fill(rows) to write the values into the columns: see NewRows.
    /// Values that `fill` does not write are defaults, even if the entity already had a component. Entities that are
    /// not alive get no rows. Errors: as for add(). On error, `fill` has not been called. Requires: `fill` makes no
    /// structural calls to this manager.
    template <class Fill>
    Result<AddCounts> add_in_place(std::span<const Entity> entities, Fill&& fill)
        requires(std::is_copy_assignable_v<T> && std::is_invocable_v<Fill&, const NewRows&>)
    {
        static_assert(!DescriptionOf<T>::kMany, "an entity may have several of these; add them with their values");
        // The list may be the table's own list of owners, which this call changes.
        const StableSpan<Entity> stable(entities, core_.table().entities());
        Result<AddCounts> counts = add(stable.get());
        if (!counts) return counts;
        OwnedRows* const rows = &core_.rows();
        const RowLock lock(&rows, 1);
        const NewRows::Component component{&core_.schema(), 0};
        fill_new_rows(
            core_.table(), stable.get(), {&component, 1}, [rows](Entity entity) { return rows->find(entity); }, fill);
        return counts;
    }

    /// Makes room for `count` more components. See ComponentManager::reserve.
    Status reserve(std::size_t count) { return core_.reserve(count); }

    bool remove(Entity entity) {
        if (SHOAL_UNLIKELY(!core_.rows().has_plain_rows()))
            return core_.remove(std::span<const Entity>(&entity, 1)) != 0;
        return core_.rows().remove_plain(entity, [this](std::uint32_t to, std::uint32_t from) { copy_row(to, from); });
    }
    std::uint32_t remove(std::span<const Entity> entities) { return core_.remove(entities); }
    void remove(Instance instance) { core_.remove(instance); }
    void clear() { core_.clear(); }

    // --- look-up -------------------------------------------------------------------------------------------------

    Instance instance(Entity entity) const { return core_.instance(entity); }
    bool has(Entity entity) const { return core_.has(entity); }
    Instance next(Instance instance) const { return core_.next(instance); }
    Entity entity(Instance instance) const { return core_.entity(instance); }
    std::uint32_t num_rows() const { return core_.num_rows(); }
    std::uint32_t num_components() const { return core_.num_components(); }

    // --- single fields -------------------------------------------------------------------------------------------

    /// Returns a field of an instance: by reference, or by value if it is split. Requires: the instance is not nil.
    template <auto kMember>
    decltype(auto) get(Instance instance) const {
        core_.rows().require(instance);
        return column<kMember>()[instance.row];
    }
    /// Sets a field and marks it as written. Requires: the instance is not nil.
    template <auto kMember>
    void set(Instance instance, const ValueOf<kMember>& value) {
        assign_value(written_element<kMember>(instance), value);
    }
    template <auto kMember>
        requires(FieldTraits<ValueOf<kMember>>::type == FieldType::kOpaque)
    void set(Instance instance, ValueOf<kMember>&& value) {
        written_element<kMember>(instance) = std::move(value);
    }
    /// Returns the whole component. Requires: the instance is not nil, and all opaque fields of the component can be
    /// copied.
    T value(Instance instance) const {
        core_.rows().require(instance);
        T result{};
        DescriptionOf<T>::for_each_field(
            [&]<auto kMember, std::uint32_t, bool>() { assign_value((&result)->*kMember, get<kMember>(instance)); });
        return result;
    }

    // --- columns -------------------------------------------------------------------------------------------------

    /// Shape: num_rows(). Lifetime: until the next structural call; see column.h for what checked builds detect.
    std::span<const Entity> entities() const { return core_.table().entities(); }
    template <auto kMember>
    ReadColumn<kMember> column() const {
        static_assert(std::is_same_v<ComponentOf<kMember>, T>, "the field belongs to another component");
        return make_column<kMember, const ValueOf<kMember>>([&](std::uint32_t c) { return core_.table().column(c); },
                                                            offset<kMember>(), num_rows(), core_.table(), 0);
    }
    /// Marks the rows (by default all) as written and returns the whole column.
    template <auto kMember>
    WriteColumn<kMember> write_column() {
        return write_column<kMember>({0, num_rows()});
    }
    template <auto kMember>
    WriteColumn<kMember> write_column(RowRange rows) {
        static_assert(std::is_same_v<ComponentOf<kMember>, T>, "the field belongs to another component");
        return make_column<kMember, ValueOf<kMember>>(
            [&](std::uint32_t c) { return core_.table().write_column(c, rows); }, offset<kMember>(), num_rows(),
            core_.table(), 0);
    }

    /// Writes the field of each entity to `out`, or `missing` if the entity does not have the component. Returns how
    /// many entities have the component.
    /// Shape: as many values as entities. Cost: look-ups are prefetched, which makes this three times as fast as single
    /// calls.
    template <auto kMember>
    std::size_t gather(std::span<const Entity> entities, std::span<ValueOf<kMember>> out,
                       const ValueOf<kMember>& missing = {}) const {
        SHOAL_ASSERT(out.size() == entities.size(), "one place per entity is needed");
        const auto values = column<kMember>();
        std::size_t num_found = 0;
        core_.index().find_each(
            entities, num_rows() > kCachedRows ? kFarAhead : 0,
            [&](std::size_t i, std::uint32_t row) {
                num_found += row != kNilRow;
                out[i] = row != kNilRow ? ValueOf<kMember>(values[row]) : missing;
            },
            [&](std::uint32_t row) SHOAL_INLINED { prefetch_row(values, row); });
        return num_found;
    }

private:
    static constexpr std::size_t kFarAhead = 96;         // index entries are prefetched this many look-ups ahead;
                                                         // rows are prefetched half as far ahead
    static constexpr std::uint32_t kCachedRows = 16384;  // tables with at most this many rows are not prefetched

    template <auto kMember>
    std::size_t offset() const {
        if constexpr (kNamesAllFields<kMember>)
            return 0;
        else
            return offsets_[FieldLayout<kMember>::kIndex];
    }
    template <class Column>
    SHOAL_INLINE static void prefetch_row(const Column& column, std::uint32_t row) {
        if constexpr (Column::kLayout == ColumnLayout::kSplit)
            for (std::uint32_t lane = 0; lane < Column::kNumLanes; ++lane)
                __builtin_prefetch(column.lane(lane).data() + row);
        else if constexpr (Column::kLayout == ColumnLayout::kInColumns)
            for (std::uint32_t c = 0; c < Column::kNumColumns; ++c) __builtin_prefetch(column.element(c, row));
        else
            __builtin_prefetch(&column[row]);
    }
    SHOAL_INLINE void copy_row(std::uint32_t to, std::uint32_t from) {
        const auto copy = [&]<std::size_t kBytes>(std::uint32_t column) {
            std::byte* const data = core_.table().unmarked_column(column);
            copy_element<kBytes>(data + std::size_t(to) * kBytes, data + std::size_t(from) * kBytes);
        };
        if constexpr (DescriptionOf<T>::kWhole && DescriptionOf<T>::kNumFields != 0)
            copy.template operator()<sizeof(T)>(0);
        else
            DescriptionOf<T>::for_each_field([&]<auto kMember, std::uint32_t kFirst, bool>() {
                constexpr std::uint32_t kNumColumns = FieldLayout<kMember>::kNumColumns;
                for (std::uint32_t c = 0; c < kNumColumns; ++c)
                    copy.template operator()<sizeof(ValueOf<kMember>) / kNumColumns>(kFirst + c);
            });
    }
    template <auto kMember>
    decltype(auto) written_element(Instance instance) {
        static_assert(std::is_same_v<ComponentOf<kMember>, T>, "the field belongs to another component");
        core_.rows().require(instance);
        return make_column<kMember, ValueOf<kMember>>(
            [&](std::uint32_t c) { return core_.table().write_existing(c, instance.row); }, offset<kMember>(), 1)[0];
    }

    /// Takes `value` by value: if its address were passed, add() could not hold it in registers.
    SHOAL_NOINLINE Result<Instance> add_through_span(Entity entity, T value) {
        Result<AddCounts> counts = add_values(std::span<const Entity>(&entity, 1), &value, 0);
        if (!counts) return counts.status();
        return counts->num_skipped == 0 ? instance(entity) : kNilInstance;
    }

    /// Adds values[k * step] to entities[k].
    template <class Value>
    Result<AddCounts> add_values(std::span<const Entity> entities, Value* values, std::size_t step) {
        struct Source {
            Manager& manager;
            Value* values;
            std::size_t step;
        } source{*this, values, step};
        return core_.add(
            entities,
            [](void* context, Table&, RowRange rows, std::size_t first) {
                const Source& from = *static_cast<Source*>(context);
                from.manager.write_rows(rows, from.values + first * from.step, from.step);
                from.manager.core_.table().stamp_rows(rows);
            },
            &source);
    }

    /// Writes values[k * step] to row rows.begin + k. Const values are copied; other values are moved.
    template <class Value>
    SHOAL_INLINE void write_rows(RowRange rows, Value* values, std::size_t step) {
        DescriptionOf<T>::for_each_field([&]<auto kMember, std::uint32_t, bool>() {
            const auto column = make_column<kMember, ValueOf<kMember>>(
                [&](std::uint32_t c) { return core_.table().unmarked_column(c); }, offset<kMember>(), num_rows());
            for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
                auto& value = (&values[(row - rows.begin) * step])->*kMember;
                if constexpr (std::is_const_v<Value>)
                    assign_value(column[row], value);
                else
                    assign_value(column[row], std::move(value));
            }
        });
    }

    ComponentManager core_;
    static constexpr std::size_t num_fields() {
        if constexpr (kIsDescribed<T>)
            return DescriptionOf<T>::kNumFields;
        else
            return 0;  // avoids a second error message after the one above
    }
    std::uint32_t offsets_[num_fields() + 1] = {};  // the offset of each field in T
};

}  // namespace shoal
