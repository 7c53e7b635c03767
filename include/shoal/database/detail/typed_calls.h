#pragma once
// The calls of Database with C++ types. Included by database.h.

#include "shoal/database/database.h"
#include "shoal/database/detail/row_move.h"
#include "shoal/database/detail/typed_slots.h"

namespace shoal {

/// The archetype, table and addresses that calls with one list of C++ types last used.
struct Database::TypedList {
    const Archetype* type = nullptr;
    DatabaseTable* table = nullptr;                // may be nullptr
    std::uint64_t placement = 0;                   // the table's placement when the addresses were looked up
    Array<std::byte*> columns{Owner("database")};  // the columns of all component types in the list, in its order
    Array<PresenceBits*> bits{Owner("database")};  // the bits of its enableable component types, in its order

    /// Whether the table has room for the bits of one more row.
    bool has_reserved_bits() const {
        for (const PresenceBits* of_type : bits)
            if (SHOAL_UNLIKELY(table->num_rows() >= of_type->num_reached())) return false;
        return true;
    }
};

// --- component types ---------------------------------------------------------------------------------------------

template <class T>
SHOAL_INLINE ComponentType Database::component() {
    static_assert(kIsDescribed<T>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
    static_assert(
        !DescriptionOf<T>::kMany || !detail::kIsEnableable<T>,
        "one bit cannot say which of several values are disabled; leave out `enableable`, or use a manager for `many`");
    const std::uint32_t known = component_slots_.find(detail::TypedSlot<T>::known());
    if (SHOAL_LIKELY(known != detail::ComponentSlots::kNone)) return {known};
    return remember_component(detail::TypedSlot<T>::get(), schema_of<T>());
}

template <class T>
SHOAL_INLINE ComponentType Database::find_component() const {
    const std::uint32_t known = component_slots_.find(detail::TypedSlot<T>::known());
    if (SHOAL_LIKELY(known != detail::ComponentSlots::kNone)) return {known};
    return find_unknown<T>();
}

/// Not inline, so that callers need no stack space for this.
template <class T>
SHOAL_NOINLINE ComponentType Database::find_unknown() const {
    return find_described(schema_of<T>());
}

template <class... Ts>
SHOAL_INLINE Database::TypedList& Database::typed_list() {
    const std::uint32_t slot = detail::ListSlot<Ts...>::known();
    if (SHOAL_LIKELY(slot < lists_.size() && lists_[slot] != nullptr)) return *lists_[slot];
    return find_list<Ts...>();
}

template <class... Ts>
SHOAL_NOINLINE Database::TypedList& Database::find_list() {
    const ComponentType components[] = {component<Ts>()...};
    return remember_list(detail::ListSlot<Ts...>::get(), components);
}

template <class... Ts>
const Archetype& Database::archetype() {
    if constexpr (sizeof...(Ts) == 0)
        return archetype(std::span<const ComponentType>());
    else
        return *typed_list<Ts...>().type;
}

/// `value` is one value for all entities, or a span of values.
template <class T, class Value>
ComponentValues Database::typed_values(const Value& value) {
    constexpr bool kOne = std::is_same_v<T, Value>;
    const T* first;
    if constexpr (kOne)
        first = &value;
    else
        first = value.data();
    ComponentValues result{.component = component<T>()};
    if constexpr (detail::kHasOpaque<T>) {
        result.context = first;
        result.write = [](const void* context, Table& table, std::uint32_t first_column, std::uint32_t row,
                          std::size_t entity) {
            detail::write_component(table, first_column, row, static_cast<const T*>(context)[kOne ? 0 : entity]);
        };
    } else {
        result.images = reinterpret_cast<const std::byte*>(first);
        result.stride = kOne ? 0 : sizeof(T);
    }
    return result;
}

template <class Given>
ComponentValues Database::values_of_given(const Given& given) {
    return values_given_as<Given>(detail::value_of_given(given));
}

/// `value` is one value for all entities, or a span of values; `Given` may be Disabled<T>.
template <class Given, class Value>
ComponentValues Database::values_given_as(const Value& value) {
    ComponentValues result = typed_values<detail::ComponentOfGiven<Given>>(value);
    result.is_disabled = detail::kIsDisabled<Given>;
    return result;
}

// --- entities ----------------------------------------------------------------------------------------------------

template <DescribedComponent... Ts>
Status Database::create(std::span<Entity> out, Zone zone)
    requires(sizeof...(Ts) > 0)
{
    require_unlocked_for<Ts...>("create()");
    if constexpr ((detail::kHasOpaque<Ts> || ...))  // only C++ code knows the defaults of opaque fields
        return create<Ts...>(out, zone, Ts{}...);
    else
        return create(out, archetype<Ts...>(), zone);
}

template <DescribedComponent... Ts>
Status Database::create(std::span<Entity> out, Zone zone, const std::type_identity_t<Ts>&... values)
    requires(sizeof...(Ts) > 0)
{
    require_unlocked_for<Ts...>("create()");
    if (out.size() == 1) {
        const Result<Entity> made = create(zone, values...);
        out.front() = made ? *made : kNullEntity;
        if (!made) return made.status();
        return {};
    }
    const ComponentValues given[] = {typed_values<Ts>(values)...};
    return create(out, archetype<Ts...>(), zone, given);
}

template <GivenComponent... Ts>
Result<Entity> Database::create(Zone zone, const Ts&... values)
    requires(sizeof...(Ts) > 0)
{
    require_unlocked_for<detail::ComponentOfGiven<Ts>...>("create()");
    Result<Entity> made = entities_.create();
    if (!made) return made;
    const Result<bool> inserted = insert(*made, zone, values...);
    if (SHOAL_LIKELY(inserted)) return made;
    entities_.destroy(*made);
    return inserted.status();
}

template <GivenComponent... Ts>
Status Database::create(std::span<Entity> out, Zone zone, std::span<const detail::ComponentOfGiven<Ts>>... values)
    requires(sizeof...(Ts) > 0)
{
    require_unlocked_for<detail::ComponentOfGiven<Ts>...>("create()");
    SHOAL_ASSERT(((values.size() == out.size()) && ...), "one value per entity is needed");
    const ComponentValues given[] = {values_given_as<Ts>(values)...};
    return create(out, archetype<detail::ComponentOfGiven<Ts>...>(), zone, given);
}

template <GivenComponent... Ts>
Result<AddCounts> Database::insert(std::span<const Entity> entities, Zone zone,
                                   std::span<const detail::ComponentOfGiven<Ts>>... values)
    requires(sizeof...(Ts) > 0)
{
    require_unlocked_for<detail::ComponentOfGiven<Ts>...>("insert()");
    SHOAL_ASSERT(((values.size() == entities.size()) && ...), "one value per entity is needed");
    const ComponentValues given[] = {values_given_as<Ts>(values)...};
    return insert(entities, archetype<detail::ComponentOfGiven<Ts>...>(), zone, given);
}

template <GivenComponent... Ts>
SHOAL_INLINE Result<bool> Database::insert(Entity entity, Zone zone, const Ts&... values)
    requires(sizeof...(Ts) > 0)
{
    static_assert(detail::kDiffer<detail::ComponentOfGiven<Ts>...>,
                  "a component type is named twice in one call; give each value once");
    require_unlocked_for<detail::ComponentOfGiven<Ts>...>("insert()");
    constexpr bool kHasBits = (detail::kIsEnableable<detail::ComponentOfGiven<Ts>> || ...);
    TypedList& list = typed_list<detail::ComponentOfGiven<Ts>...>();
    DatabaseTable* const table = list.table;
    // The call below handles other cases, such as the first row of a table.
    if (SHOAL_LIKELY(table != nullptr && table->zone_ == zone && table->table_.placement() == list.placement &&
                     table->has_reserved_row() && (!kHasBits || list.has_reserved_bits()) &&
                     directory_.is_free_unless_held(entity) && entities_.alive(entity))) {
        const std::uint32_t row = table->table_.append_one(entity);
        directory_.set_reserved(entity, table->number_, row);
        tables_.count_changes();
        std::byte* const* columns = list.columns.data();
        [[maybe_unused]] PresenceBits* const* bits = list.bits.data();
        const auto write = [&]<class Given>(const Given& given) SHOAL_INLINED {
            using Component = detail::ComponentOfGiven<Given>;
            detail::write_component_to([&](std::uint32_t c) { return columns[c]; }, row, detail::value_of_given(given));
            columns += detail::kNumColumns<Component>;
            if constexpr (detail::kIsEnableable<Component>) (*bits++)->set(row, !detail::kIsDisabled<Given>);
        };
        (write(values), ...);
        return true;
    }
    return insert_through_span<Ts...>(entity, zone, list, values...);
}

/// Takes the values by value: if their addresses were passed, insert() could not hold its values in registers.
template <class... Ts>
SHOAL_NOINLINE Result<bool> Database::insert_through_span(Entity entity, Zone zone, TypedList& list, Ts... values) {
    const ComponentValues given[] = {values_of_given(values)...};
    Result<AddCounts> counts = insert(std::span<const Entity>(&entity, 1), *list.type, zone, given);
    if (!counts) return counts.status();
    const ComponentType components[] = {component<detail::ComponentOfGiven<Ts>>()...};
    note_table(list, zone, components);
    return counts->num_added != 0;
}

template <GivenComponent... Ts>
Status Database::create(std::span<Entity> out, Zone zone, const Ts&... values)
    requires detail::kSomeDisabled<Ts...>
{
    require_unlocked_for<detail::ComponentOfGiven<Ts>...>("create()");
    const ComponentValues given[] = {values_of_given(values)...};
    return create(out, archetype<detail::ComponentOfGiven<Ts>...>(), zone, given);
}

namespace detail {

/// Keeps the rows of a database in place. DatabaseLock does the same, but needs the whole header.
struct PlacedRows {
    explicit PlacedRows(Database& held) : database(held) { held.hold_rows(true); }
    PlacedRows(const PlacedRows&) = delete;
    PlacedRows& operator=(const PlacedRows&) = delete;
    ~PlacedRows() { database.hold_rows(false); }

    Database& database;
};

}  // namespace detail

/// Creates entities with default components, some of which may be disabled.
template <class... Ts>
Status Database::create_defaults(std::span<Entity> out, Zone zone) {
    if constexpr (!(detail::kHasOpaque<detail::ComponentOfGiven<Ts>> || ...)) {
        const ComponentValues given[] = {
            {.component = component<detail::ComponentOfGiven<Ts>>(), .is_disabled = detail::kIsDisabled<Ts>}...};
        return create(out, archetype<detail::ComponentOfGiven<Ts>...>(), zone, given);
    } else if constexpr (detail::kSomeDisabled<Ts...>) {
        return create(out, zone, Ts{}...);
    } else {
        return create<Ts...>(out, zone);
    }
}

template <GivenComponent... Ts, class Fill>
Status Database::create_in_place(std::span<Entity> out, Zone zone, Fill&& fill)
    requires(sizeof...(Ts) > 0 && std::is_invocable_v<Fill&, const NewRows&>)
{
    require_unlocked_for<detail::ComponentOfGiven<Ts>...>("create_in_place()");
    if (Status status = create_defaults<Ts...>(out, zone); !status || out.empty()) return status;
    DatabaseTable& table = *find(out.front()).table;
    const NewRows::Component components[] = {
        {&schema_of<detail::ComponentOfGiven<Ts>>(), table.first_column(component<detail::ComponentOfGiven<Ts>>())}...};
    const detail::PlacedRows placed(*this);
    fill_new_rows(
        table.table_, out, components, [this](Entity entity) { return directory_.rows().find(entity); }, fill);
    return {};
}

template <auto kMember>
void Database::spawn_into_tiles(const GridZones& tiles) {
    static_assert(std::is_same_v<ValueOf<kMember>, Vec3>, "a place is a Vec3");
    using Component = ComponentOf<kMember>;
    const Field& field = schema_of<Component>().fields()[FieldLayout<kMember>::kIndex];
    const Status status = spawn_into_tiles(component<Component>(), field.name, tiles);
    SHOAL_ASSERT(status.ok(), status.message().data());
}

template <GivenComponent... Ts>
Result<AddCounts> Database::add(std::span<const Entity> entities, const Ts&... values)
    requires(sizeof...(Ts) > 0)
{
    const ComponentValues given[] = {values_of_given(values)...};
    return add(entities, given);
}

template <DescribedComponent T>
Result<AddCounts> Database::add(std::span<const Entity> entities, std::span<const std::type_identity_t<T>> values) {
    SHOAL_ASSERT(values.size() == entities.size(), "one value per entity is needed");
    const ComponentValues given[] = {typed_values<T>(values)};
    return add(entities, given);
}

template <GivenComponent... Ts>
SHOAL_INLINE Result<AddCounts> Database::add(Entity entity, const Ts&... values)
    requires(sizeof...(Ts) > 0)
{
    if constexpr (detail::kSomeDisabled<Ts...>) {
        return add(std::span<const Entity>(&entity, 1), values...);
    } else {
        static_assert(detail::kDiffer<Ts...>, "a component type is named twice in one call; give each value once");
        constexpr TypedKey key = detail::ListSlot<Ts...>::key();
        if constexpr (sizeof...(Ts) == 1 && (detail::kIsEnableable<Ts> && ...)) {
            if (const DatabaseRow at = find_enableable(entity, key); SHOAL_LIKELY(at && !is_dead(entity))) {
                write_plain(*at.table, at.row, values...);
                const bool gains = set_enabled(at, true);
                return AddCounts{.num_added = gains, .num_set = !gains};
            }
        }
        if (const MovedRow moved = RowMove::find_and_make<true>(*this, entity, key);
            SHOAL_LIKELY(moved.step != nullptr)) {
            detail::write_gained(moved, values...);
            return AddCounts{.num_added = 1};
        }
        return add_through_span<Ts...>(entity, values...);
    }
}

/// Takes the values by value: if their addresses were passed, add() could not hold its values in registers.
template <class... Ts>
SHOAL_NOINLINE Result<AddCounts> Database::add_through_span(Entity entity, Ts... values) {
    const ComponentValues given[] = {typed_values<Ts>(values)...};
    return add_one(entity, given, detail::ListSlot<Ts...>::key());
}

template <DescribedComponent... Ts>
Result<std::uint32_t> Database::remove(std::span<const Entity> entities) {
    const ComponentType components[] = {component<Ts>()...};
    return remove(entities, components);
}

template <DescribedComponent... Ts>
SHOAL_INLINE Result<bool> Database::remove(Entity entity) {
    constexpr TypedKey key = detail::ListSlot<Ts...>::key();
    if constexpr (sizeof...(Ts) == 1 && (detail::kIsEnableable<Ts> && ...)) {
        if (const DatabaseRow at = find_enableable(entity, key); SHOAL_LIKELY(at)) return set_enabled(at, false);
    } else if (SHOAL_LIKELY(RowMove::find_and_make<false>(*this, entity, key).step != nullptr)) {
        return true;
    }
    return remove_through_span<Ts...>(entity);
}

template <DescribedComponent T>
Result<bool> Database::remove_value(Entity entity, std::uint32_t index) {
    return remove_value(entity, component<T>(), index);
}

template <class... Ts>
SHOAL_NOINLINE Result<bool> Database::remove_through_span(Entity entity) {
    const ComponentType components[] = {component<Ts>()...};
    return remove_one(entity, components, detail::ListSlot<Ts...>::key());
}

/// Returns the row of an entity if the component type of `key` is the one that was last enabled or disabled in its
/// table; otherwise nil.
SHOAL_INLINE DatabaseRow Database::find_enableable(Entity entity, TypedKey key) const {
    const DatabaseDirectory::Location place = directory_.find_unless_held(entity);
    if (SHOAL_UNLIKELY(!place)) return {};
    DatabaseTable& table = tables_[place.table];
    return SHOAL_LIKELY(table.last_enableable_.key == key) ? DatabaseRow{&table, place.row} : DatabaseRow();
}

/// Sets a bit and returns whether it has changed.
SHOAL_INLINE bool Database::set_enabled(DatabaseRow at, bool on) {
    std::uint64_t& word = at.table->last_enableable_.bits->words()[at.row / 64];
    const std::uint64_t bit = std::uint64_t(1) << (at.row % 64);
    if (((word & bit) != 0) == on) return false;
    word ^= bit;
    at.table->table_.stamp_row(at.row);
    tables_.count_changes();
    return true;
}

/// Sets a component of a row, and marks it as written.
template <class T>
void Database::write_plain(DatabaseTable& table, std::uint32_t row, const T& value) {
    if constexpr (DescriptionOf<T>::kNumFields != 0) {
        const std::uint32_t first = table.first_column(component<T>());
        detail::write_component(table.table_, first, row, value);
        for (std::uint32_t c = 0; c < schema_of<T>().num_columns(); ++c) table.table_.write_element(first + c, row);
    }
}

// --- look-up -----------------------------------------------------------------------------------------------------

inline bool Database::has(Entity entity, ComponentType component) const {
    const DatabaseRow row = find(entity);
    return row && row.table->has(component, row.row);
}

template <class T>
bool Database::has(Entity entity) const {
    const ComponentType component = find_component<T>();
    return component && has(entity, component);
}

template <DescribedComponent T>
std::uint32_t Database::num_values(Entity entity) const {
    const ComponentType component = find_component<T>();
    return component ? num_values(entity, component) : 0;
}

template <auto kMember>
decltype(auto) Database::get_value(Entity entity, std::uint32_t index) const {
    const ComponentRow at = find_value(find_component<ComponentOf<kMember>>(), entity, index);
    SHOAL_ASSERT(at, "the entity has fewer values of this component; ask num_values() first");
    return make_column<kMember, const ValueOf<kMember>>(
        [&](std::uint32_t c) { return at.table->column(at.first_column + c); }, DatabaseTable::struct_offset<kMember>(),
        at.table->num_rows())[at.row];
}

template <auto kMember>
void Database::set_value(Entity entity, std::uint32_t index, const ValueOf<kMember>& value) {
    const ComponentRow at = find_value(find_component<ComponentOf<kMember>>(), entity, index);
    SHOAL_ASSERT(at, "the entity has fewer values of this component; ask num_values() first");
    Table& table = const_cast<Table&>(*at.table);  // NOLINT: a table of this database
    assign_value(make_column<kMember, ValueOf<kMember>>(
                     [&](std::uint32_t c) { return table.write_element(at.first_column + c, at.row); },
                     DatabaseTable::struct_offset<kMember>(), 1)[0],
                 value);
}

template <auto kMember, class Visit>
void Database::for_each_value(Entity entity, Visit&& visit) const {
    const ComponentType component = find_component<ComponentOf<kMember>>();
    const DatabaseRow at = find(entity);
    if (!component || !at || !at.table->has(component, at.row)) return;
    visit(get<kMember>(at));
    const OwnedRows* const further = further_values(component);
    if (further == nullptr || further->find(entity) == kNilRow) return;
    const Table& table = further->table();
    const auto column = make_column<kMember, const ValueOf<kMember>>(
        [&](std::uint32_t c) { return table.column(c); }, DatabaseTable::struct_offset<kMember>(), table.num_rows());
    const std::span<const std::uint32_t> next = table.links(LinkColumn::kChainNext);
    for (std::uint32_t row = further->find(entity); row != kNilRow; row = next[row]) visit(column[row]);
}

template <auto kMember>
SHOAL_INLINE decltype(auto) Database::get(DatabaseRow row) const {
    if constexpr (SHOAL_CHECKED != 0) require_current(row, schema_of<ComponentOf<kMember>>());
    const ComponentType component = find_component<ComponentOf<kMember>>();
    if (SHOAL_UNLIKELY(row.table == nullptr || row.row >= row.table->num_rows() ||
                       !row.table->type().has_column_of(component)))
        detail::refuse_row_of<ComponentOf<kMember>>(row.table, row.row);
    return static_cast<const DatabaseTable*>(row.table)->column<kMember>(component)[row.row];
}

template <auto kMember>
void Database::set(DatabaseRow row, const ValueOf<kMember>& value) {
    using Layout = FieldLayout<kMember>;
    if constexpr (SHOAL_CHECKED != 0) require_current(row, schema_of<ComponentOf<kMember>>());
    const ComponentType component = find_component<ComponentOf<kMember>>();
    if (SHOAL_UNLIKELY(row.table == nullptr || row.row >= row.table->num_rows() ||
                       !row.table->type().has_column_of(component)))
        detail::refuse_row_of<ComponentOf<kMember>>(row.table, row.row);
    const auto column = row.table->unmarked_column<kMember>(component);
    if constexpr (std::is_array_v<ValueOf<kMember>>)
        for (std::size_t i = 0; i < std::extent_v<ValueOf<kMember>>; ++i) column[row.row][i] = value[i];
    else
        column[row.row] = value;
    for (std::uint32_t c = 0; c < Layout::kNumColumns; ++c)
        row.table->table_.write_element(row.table->first_column(component) + Layout::kFirstColumn + c, row.row);
}

}  // namespace shoal
