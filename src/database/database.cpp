// What a database knows of: component types, archetypes, tables.

#include "shoal/database/database.h"

#include "database/database_internals.h"
#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {
namespace {

template <class T, class... Arguments>
T* make_owned(Arguments&&... arguments) {
    return ::new (allocate_memory(sizeof(T), "database")) T(std::forward<Arguments>(arguments)...);
}

template <class T>
void destroy_owned(const T* object) {
    if (object == nullptr) return;
    object->~T();
    release_memory(const_cast<T*>(object), sizeof(T), "database");
}

}  // namespace

std::uint32_t detail::take_typed_slot(std::uint32_t* slot) {
    static std::uint32_t last = 0;
    std::uint32_t expected = 0;
    const std::uint32_t mine = __atomic_add_fetch(&last, 1u, __ATOMIC_RELAXED);
    const bool is_first = __atomic_compare_exchange_n(slot, &expected, mine, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return is_first ? mine : expected;
}

Database::Database(EntityManager& entities, PagePool& pool, const DatabaseOptions& options)
    : DatabaseState(entities, pool, options) {
    selection_ = make_owned<Selection>();
    SHOAL_ASSERT(options.first_zone < kMaxZones, "zones are 0 to kMaxZones - 1");
    SHOAL_ASSERT(options.capacity_rows < kDefaultCapacityRows, "a table of a database holds fewer than 2^22 rows");
    cursor_ = entities.open_death_cursor();
    deaths_seen_ = entities.deaths_end();
}

Database::~Database() {
    if (deferred_changes_ != nullptr) deferred_changes_->release();
    keep_journal(0);
    entities_.close_death_cursor(cursor_);
    for (const DatabaseTable* table : tables_) destroy_owned(table);
    for (const Archetype* type : types_) destroy_owned(type);
    for (const TakePlan* plan : plans_) destroy_owned(plan);
    for (const TypedList* list : lists_) destroy_owned(list);
    for (const Schema* schema : schemas_) destroy_owned(schema);
    destroy_owned(selection_);
}

// --- component types ---------------------------------------------------------------------------------------------

ComponentType Database::find_component(ComponentId component) const { return {component_by_id_.find(component.hash)}; }

Result<ComponentType> Database::add_component(const Schema& schema) {
    if (const ComponentType known = find_component(schema.id())) {
        const Schema& there = this->schema(known);
        if (there.layout_hash() == schema.layout_hash() && there.name() == schema.name()) return known;
        return Status::error(concat("the database has another component type \"", there.name(), "\": ", there.to_text(),
                                    ", not ", schema.to_text()));
    }
    if (schema.many())
        return Status::error(concat("the component \"", schema.name(),
                                    "\" may occur several times in an entity; keep it in a component manager"));
    require_unlocked();
    const ComponentType component{static_cast<std::uint32_t>(schemas_.size())};
    schemas_.push_back(make_owned<Schema>(schema));
    component_by_id_.set(schema.id().hash, component.number);
    return component;
}

ComponentType Database::remember_component(std::uint32_t slot, const Schema& schema) {
    const Result<ComponentType> component = add_component(schema);
    SHOAL_ASSERT(component.ok(), component.ok() ? "" : component.message().data());
    component_by_slot_.set(slot, component->number);
    return *component;
}

Database::TypedList& Database::remember_list(std::uint32_t slot, std::span<const ComponentType> components) {
    if (lists_.size() <= slot) lists_.resize(slot + 1, nullptr);
    auto* list = make_owned<TypedList>();
    list->type = &archetype(components);
    return *(lists_[slot] = list);
}

/// Looks up where the next row of a list goes, unless it has bits.
void Database::note_table(TypedList& list, Zone zone, std::span<const ComponentType> components) {
    DatabaseTable* const table = find_table(*list.type, zone);
    if (table == nullptr || !list.type->toggled().empty()) return;
    list.table = table;
    list.placement = table->table_.placement();
    list.columns.clear();
    Call{*this}.list_columns(*table, components, list.columns);
}

// --- archetypes ------------------------------------------------------------------------------------------------

const Archetype& Database::archetype(std::span<const ComponentType> components) {
    Signature signature;
    for (const ComponentType component : components) {
        SHOAL_ASSERT(component.number < schemas_.size(), "the component type is not registered in this database");
        signature.add(component.number);
    }
    return Call{*this}.make_type(signature);
}

const Archetype& Database::Call::make_type(const Signature& signature) {
    std::uint64_t key = signature.hash();
    for (std::uint32_t known; (known = d.type_by_signature_.find(key)) != NumberMap::kNone; ++key)
        if (d.types_[known]->signature() == signature) return *d.types_[known];
    Array<ComponentType> components("database");
    Array<const Schema*> schemas("database");
    signature.for_each([&](std::uint32_t number) {
        components.push_back({number});
        schemas.push_back(d.schemas_[number]);
    });
    const auto number = static_cast<std::uint32_t>(d.types_.size());
    d.types_.push_back(make_owned<Archetype>(number, components, schemas));
    d.type_by_signature_.set(key, number);
    return *d.types_.back();
}

const Archetype& Database::Call::neighbour(const Archetype& type, ComponentType component, bool with) {
    SHOAL_ASSERT(component.number < d.schemas_.size(), "the component type is not registered in this database");
    if (type.has(component) == with) return type;
    const std::uint64_t key = NumberMap::key(type.number(), component.number * 2 + with);
    if (const std::uint32_t known = d.neighbours_.find(key); known != NumberMap::kNone) return *d.types_[known];
    Signature signature = type.signature();
    if (with)
        signature.add(component.number);
    else
        signature.remove(component.number);
    const Archetype& made = make_type(signature);
    d.neighbours_.set(key, made.number());
    d.neighbours_.set(NumberMap::key(made.number(), component.number * 2 + !with), type.number());
    return made;
}

const Archetype& Database::with(const Archetype& type, ComponentType component) {
    return Call{*this}.neighbour(type, component, true);
}
const Archetype& Database::without(const Archetype& type, ComponentType component) {
    return Call{*this}.neighbour(type, component, false);
}

const TakePlan& Database::Call::plan(const Archetype& from, const Archetype& to) {
    const std::uint64_t key = NumberMap::key(from.number(), to.number());
    if (const std::uint32_t known = d.plan_by_types_.find(key); known != NumberMap::kNone) return *d.plans_[known];
    auto* plan = make_owned<TakePlan>();
    for (const ComponentType component : from.components()) {
        const std::span<const ColumnDefinition> columns = d.schema(component).columns();
        if (to.has(component))
            plan->keep(from.first_column(component), to.first_column(component), columns);
        else
            plan->drop(from.first_column(component), columns);
    }
    d.plan_by_types_.set(key, static_cast<std::uint32_t>(d.plans_.size()));
    d.plans_.push_back(plan);
    return *plan;
}

// --- tables ------------------------------------------------------------------------------------------------------

DatabaseTable* Database::find_table(const Archetype& type, Zone zone) const {
    const std::uint32_t number = table_by_place_.find(NumberMap::key(zone, type.number()));
    return number == NumberMap::kNone ? nullptr : tables_[number];
}

Result<DatabaseTable*> Database::Call::table_for(const Archetype& type, Zone zone) {
    SHOAL_ASSERT(zone < kMaxZones, "zones are 0 to kMaxZones - 1");
    SHOAL_ASSERT(type.number() < d.types_.size() && d.types_[type.number()] == &type,
                 "the archetype is of another database");
    if (DatabaseTable* known = d.find_table(type, zone)) return known;
    const bool is_new = d.free_tables_.empty();
    const std::uint32_t number = is_new ? static_cast<std::uint32_t>(d.tables_.size()) : d.free_tables_.back();
    if (Status status = d.directory_.reserve_tables(number + 1); !status) return status;
    auto* table = make_owned<DatabaseTable>(number, type, zone, d.pool_, d.options_.capacity_rows, d.directory_.rows());
    if (d.journal_ != nullptr) table->table_.watch_changes(true);
    if (is_new) {
        d.tables_.push_back(table);
        d.occupied_.resize((d.tables_.size() + 63) / 64, 0);
        d.table_list_.push_back(&table->table_);
    } else {
        d.free_tables_.pop_back();
        d.tables_[number] = table;
        ++d.table_list_epoch_;
        list_tables();
    }
    d.table_by_place_.set(NumberMap::key(zone, type.number()), number);
    const std::uint32_t next = d.first_in_zone_.find(zone);
    table->next_in_zone_ = next == NumberMap::kNone ? nullptr : d.tables_[next];
    d.first_in_zone_.set(zone, number);
    return table;
}

/// Returns the table to which an entity goes that gains or loses the components that `key` stands for, and remembers
/// it unless that is nullptr. `find_type(type)` tells which archetype that is.
template <class FindType>
Result<DatabaseTable*> Database::Call::step(DatabaseTable& from, DatabaseTable::Step& last, TypedKey key,
                                            FindType&& find_type) {
    if (key != nullptr && last.key == key) return last.target;
    const Archetype& type = find_type(from.type());
    Result<DatabaseTable*> target = table_for(type, from.zone());
    if (!target || key == nullptr) return target;
    last.key = key;
    last.target = *target;
    last.path.follow(plan(from.type(), type));
    return target;
}

/// Looks up the addresses of the step that a row has just taken, so that the next one need not look them up.
void Database::Call::prepare(DatabaseTable& from, DatabaseTable::Step& step, TypedKey key,
                             std::span<const ComponentValues> gained) {
    if (step.key != key || step.path.is_known(from.table_, step.target->table_)) return;
    if (!from.is_plain() || !step.target->is_plain() || !step.path.look_up(from.table_, step.target->table_)) return;
    step.gained.clear();
    for (const ComponentValues& given : gained) list_columns(*step.target, {&given.component, 1}, step.gained);
}

/// Appends the addresses of all columns of some component types.
void Database::Call::list_columns(DatabaseTable& table, std::span<const ComponentType> components,
                                  Array<std::byte*>& columns) {
    for (const ComponentType component : components)
        for (std::uint32_t c = 0; c < d.schema(component).columns().size(); ++c)
            columns.push_back(table.table_.unmarked_column(table.first_column(component) + c));
}

/// Returns the table for entities that gain components.
Result<DatabaseTable*> Database::Call::target_with(DatabaseTable& from, std::span<const ComponentValues> values,
                                                   TypedKey key) {
    return step(from, from.last_added_, key, [&](const Archetype& before) -> const Archetype& {
        const Archetype* type = &before;
        for (const ComponentValues& given : values) type = &neighbour(*type, given.component, true);
        return *type;
    });
}

/// Returns the table for entities that lose components; toggled ones stay in their archetype.
Result<DatabaseTable*> Database::Call::target_without(DatabaseTable& from, std::span<const ComponentType> components,
                                                      TypedKey key) {
    return step(from, from.last_removed_, key, [&](const Archetype& before) -> const Archetype& {
        const Archetype* type = &before;
        for (const ComponentType component : components) {
            SHOAL_ASSERT(component.number < d.schemas_.size(), "the component type is not registered in this database");
            if (!d.schema(component).toggled()) type = &neighbour(*type, component, false);
        }
        return *type;
    });
}

/// Frees the number of an empty table. Steps and lists that lead to it are the caller's.
void Database::Call::retire(DatabaseTable& table) {
    SHOAL_ASSERT(table.num_rows() == 0, "a table with rows cannot go");
    const std::uint32_t first = d.first_in_zone_.find(table.zone());
    if (d.tables_[first] == &table) {
        if (table.next_in_zone_ == nullptr)
            d.first_in_zone_.erase(table.zone());
        else
            d.first_in_zone_.set(table.zone(), table.next_in_zone_->number());
    } else {
        DatabaseTable* before = d.tables_[first];
        while (before->next_in_zone_ != &table) before = before->next_in_zone_;
        before->next_in_zone_ = table.next_in_zone_;
    }
    d.table_by_place_.erase(NumberMap::key(table.zone(), table.type().number()));
    d.free_tables_.push_back(table.number());
    d.tables_[table.number()] = nullptr;
    destroy_owned(&table);
}

/// Forgets where steps and lists led, for tables have gone.
void Database::Call::forget_tables() {
    ++d.table_list_epoch_;
    for (TypedList* list : d.lists_)
        if (list != nullptr) list->table = nullptr;
    for (DatabaseTable* table : d.tables_)
        if (table != nullptr) table->last_added_ = table->last_removed_ = {};
    list_tables();
}

void Database::Call::list_tables() {
    d.table_list_.clear();
    for (const DatabaseTable* table : d.tables_)
        if (table != nullptr) d.table_list_.push_back(&table->table_);
}

/// Makes room for `count` more rows. Errors: no memory; nothing has changed.
Status Database::Call::reserve_rows(DatabaseTable& table, std::size_t count) {
    if (count == 0) return {};
    const std::uint32_t room = d.options_.capacity_rows - table.num_rows();
    if (count > room)
        return Status::error(concat("zone ", table.zone(), " holds ", table.num_rows(), " entities of \"",
                                    table.type().schema().name(), "\" and at most ", d.options_.capacity_rows, "; ",
                                    count, " more do not fit"));
    table.table_.set_stamp(std::max(d.stamp_, table.table_.stamp()));
    for (PresenceBits& bits : table.presence_)
        if (Status status = bits.reserve(table.num_rows() + static_cast<std::uint32_t>(count)); !status) return status;
    return table.table_.reserve(static_cast<std::uint32_t>(count));
}

void DatabaseState::note_rows(const DatabaseTable& table) {
    const std::uint64_t bit = std::uint64_t(1) << (table.number() % 64);
    std::uint64_t& word = occupied_[table.number() / 64];
    word = table.num_rows() != 0 ? word | bit : word & ~bit;
}

}  // namespace shoal
