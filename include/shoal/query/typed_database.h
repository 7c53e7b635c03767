#pragma once
// A view of a database for a program that knows its archetypes beforehand. The program lists the archetypes once, and
// the compiler rejects component types that no listed archetype has.
//
//     using Types = Archetypes<Has<Position, Velocity>, Has<Position, Food>>;
//     TypedDatabase<Types> sea(database);  // numbers the component types: 0, 1, 2
//     if (Status s = sea.create<Position, Velocity>(fish, near, Position{}, Velocity{{0, 0, 1}}); !s) return s;
//     // sea.create<Velocity, Food>(fish, near) does not compile: no listed archetype has just these components
//     sea.query<Write<&Position::value>, Read<&Velocity::value>>().for_each([](Vec3& p, Vec3 v) { p += v; });
//     static_assert(sea.kNumMatching<Read<&Position::value>> == 2);
//
// The view has no rows of its own and calls the database, so both may be used side by side. The components that an
// entity gains or loses in a call are known only at run time, so a call fails if it would lead to an archetype that is
// not listed. Calls that bypass the view (database calls, commands, spawning) are not checked; validate() finds rows of
// archetypes that are not listed. Look-ups are faster than the database's, because the numbers of the component types
// are constants.
// Thread: as for Database.

#include "shoal/database/database.h"
#include "shoal/query/query.h"

#include <array>

namespace shoal {

/// An archetype, given by its component types in any order. Enableable types are part of it even if they are disabled.
template <DescribedComponent... Ts>
struct Has {};

/// All archetypes of a program.
template <class... Types>
struct Archetypes {};

namespace detail {

template <class List>
inline constexpr bool kNamesEachOnce = false;
template <class... Ts>
inline constexpr bool kNamesEachOnce<Has<Ts...>> = kDiffer<Ts...>;

template <class T, class List>
inline constexpr bool kLists = false;
template <class T, class... Ts>
inline constexpr bool kLists<T, Has<Ts...>> = (std::is_same_v<T, Ts> || ...);

/// kListsAll: whether a listed archetype has all of these component types. kListsOnly: whether it has no others.
template <class List, class... Ts>
inline constexpr bool kListsAll = (kLists<Ts, List> && ...);
template <class List, class... Ts>
inline constexpr bool kListsOnly = false;
template <class... Listed, class... Ts>
inline constexpr bool kListsOnly<Has<Listed...>, Ts...> = (kLists<Listed, Has<Ts...>> && ...);

/// The terms whose components are in the database, if these managers are also given.
template <class List, class... Ts>
struct LocalTerms;
template <class... Terms, class... Ts>
struct LocalTerms<TermList<Terms...>, Ts...> {
    template <class Term>
    static constexpr bool kIsOfManager = (std::is_same_v<typename Term::Component, Ts> || ...);
    using List =
        typename JoinedLists<TermList<>, std::conditional_t<kIsOfManager<Terms>, TermList<>, TermList<Terms>>...>::List;
};

/// Each component type once, in the order of its first mention.
template <class Joined, class... Lists>
struct UnitedTypes {
    using List = Joined;
};
template <class... Us, class T, class... Ts, class... Lists>
struct UnitedTypes<Has<Us...>, Has<T, Ts...>, Lists...>
    : UnitedTypes<std::conditional_t<kLists<T, Has<Us...>>, Has<Us...>, Has<Us..., T>>, Has<Ts...>, Lists...> {};
template <class... Us, class... Lists>
struct UnitedTypes<Has<Us...>, Has<>, Lists...> : UnitedTypes<Has<Us...>, Lists...> {};

/// Whether rows of a listed archetype can match terms of a query.
template <class List, class Term>
constexpr bool fits_term() {
    using Component = typename Term::Component;
    if constexpr (!kIsDescribed<Component>)
        return true;  // the query itself reports it
    else if constexpr (requires_component<Term>())
        return kLists<Component, List>;
    else if constexpr (excludes_component<Term>())
        return !kLists<Component, List> || kIsEnableable<Component>;
    else
        return true;
}
template <class List, class Terms>
inline constexpr bool kFits = false;
template <class List, class... Terms>
inline constexpr bool kFits<List, TermList<Terms...>> = (fits_term<List, Terms>() && ...);

/// The type-erased part of TypedDatabase.
class ListedTypes {
public:
    explicit ListedTypes(Database& database) : database_(&database) {}
    /// Requires: this is the component type's number in the database.
    SHOAL_API void add_component(const Schema& schema, std::uint32_t number);
    SHOAL_API void add_type(std::span<const ComponentType> components);
    /// Errors: an entity would change to an archetype that is not listed.
    SHOAL_API Status check_step(std::span<const Entity> entities, std::span<const ComponentType> components, bool adds);
    SHOAL_API Status validate() const;

    /// Whether the last check was for the same archetype and the same components.
    bool was_checked(DatabaseRow at, TypedKey key) const {
        return at && checked_key_ == key && checked_type_ == at.table->type_number();
    }
    void note_checked(const Archetype& type, TypedKey key) { checked_type_ = type.number(), checked_key_ = key; }

private:
    bool has(const Archetype& type) const;

    Database* database_;
    Array<const Archetype*> types_{Owner("typed database")};
    std::uint32_t checked_type_ = 0;
    TypedKey checked_key_ = nullptr;
};

}  // namespace detail

template <class List>
class TypedDatabase;

template <class... Types>
class TypedDatabase<Archetypes<Types...>> : detail::UndeclaredCalls {
    static_assert((detail::kNamesEachOnce<Types> && ...),
                  "an archetype has each component once; a Has<...> names one twice");

public:
    using Components = typename detail::UnitedTypes<Has<>, Types...>::List;
    /// Whether an archetype with exactly these component types is listed.
    template <class... Ts>
    static constexpr bool kListed = ((detail::kListsAll<Types, Ts...> && detail::kListsOnly<Types, Ts...>) || ...);
    /// The number of listed archetypes that have all of these component types.
    template <class... Ts>
    static constexpr int kNumWith = (0 + ... + (detail::kListsAll<Types, Ts...> ? 1 : 0));
    template <class... Ts>
    static constexpr bool kSomeHas = kNumWith<Ts...> != 0;
    /// The number of listed archetypes whose rows match the terms of a query.
    template <class... Terms>
    static constexpr int kNumMatching = (0 + ... + (detail::kFits<Types, detail::TermList<Terms...>> ? 1 : 0));

    /// Registers the component types in the order in which the list first names them.
    /// Requires: the database has no component types yet, or its first component types are the same. Lifetime:
    /// `database` outlives this object.
    explicit TypedDatabase(Database& database) : database_(&database), types_(database) { add(Components()); }

    Database& database() const { return *database_; }
    /// The component type. Requires: a listed archetype has it.
    template <class T>
    static constexpr ComponentType component() {
        static_assert(kSomeHas<T>, "no listed archetype has this component; add it to a Has<...> of Archetypes");
        return component_of<T>();
    }

    /// Like Database::create(), with default values, one value per type or one span per type, and with or without a
    /// zone.
    template <DescribedComponent... Ts, class... Values>
    Status create(std::span<Entity> out, const Values&... zone_and_values) {
        static_assert(kListed<Ts...>, "no listed archetype has just these components; add Has<...> to Archetypes");
        if constexpr (kListed<Ts...>) return database_->template create<Ts...>(out, zone_and_values...);
    }
    template <DescribedComponent... Ts>
    Result<bool> insert(Entity entity, const Ts&... values) {
        return insert(entity, database_->first_zone(), values...);
    }
    template <DescribedComponent... Ts>
    Result<bool> insert(Entity entity, Zone zone, const Ts&... values) {
        static_assert(kListed<Ts...>, "no listed archetype has just these components; add Has<...> to Archetypes");
        if constexpr (kListed<Ts...>) return database_->insert(entity, zone, values...);
    }
    /// Like Database::add() and Database::remove(). Until the database settles, dead entities keep their rows: like
    /// living entities, they can lose components, but they cannot gain any. Errors: as in Database, or an entity, dead
    /// or alive, would change to an archetype that is not listed. On error, nothing has changed.
    template <DescribedComponent... Ts>
    Result<AddCounts> add(std::span<const Entity> entities, const Ts&... values) {
        static_assert(kSomeHas<Ts...>, "no listed archetype has these components; add Has<...> to Archetypes");
        if (Status status = check<true, Ts...>(entities); !status) return status;
        return database_->add(entities, values...);
    }
    template <DescribedComponent... Ts>
    Result<AddCounts> add(Entity entity, const Ts&... values) {
        static_assert(kSomeHas<Ts...>, "no listed archetype has these components; add Has<...> to Archetypes");
        if (Status status = check<true, Ts...>({&entity, 1}); !status) return status;
        return database_->add(entity, values...);
    }
    template <DescribedComponent... Ts>
    Result<std::uint32_t> remove(std::span<const Entity> entities) {
        static_assert((kSomeHas<Ts> && ...), "no listed archetype has this component; there is none to remove");
        if (Status status = check<false, Ts...>(entities); !status) return status;
        return database_->template remove<Ts...>(entities);
    }
    template <DescribedComponent... Ts>
    Result<bool> remove(Entity entity) {
        static_assert((kSomeHas<Ts> && ...), "no listed archetype has this component; there is none to remove");
        if (Status status = check<false, Ts...>({&entity, 1}); !status) return status;
        return database_->template remove<Ts...>(entity);
    }

    using UndeclaredCalls::create, UndeclaredCalls::insert, UndeclaredCalls::add, UndeclaredCalls::remove;

    DatabaseRow find(Entity entity) const { return database_->find(entity); }
    template <class T>
    bool has(Entity entity) const {
        const DatabaseRow row = find(entity);
        return row && row.table->has(component<T>(), row.row);
    }
    /// Requires: the row is not nil and has the component.
    template <auto kMember>
    SHOAL_INLINE decltype(auto) get(DatabaseRow row) const {
        static_assert(kSomeHas<ComponentOf<kMember>>,
                      "no listed archetype has this component; add it to a Has<...> of Archetypes");
        constexpr ComponentType kComponent = component_of<ComponentOf<kMember>>();
        if constexpr (SHOAL_CHECKED != 0) database_->require_current(row, schema_of<ComponentOf<kMember>>());
        if (SHOAL_UNLIKELY(row.table == nullptr || row.row >= row.table->num_rows() ||
                           !row.table->type().has_column_of(kComponent)))
            detail::refuse_row_of<ComponentOf<kMember>>(row.table, row.row);
        return static_cast<const DatabaseTable*>(row.table)->template column<kMember>(kComponent)[row.row];
    }
    template <auto kMember>
    void set(DatabaseRow row, const ValueOf<kMember>& value) {
        static_assert(kSomeHas<ComponentOf<kMember>>,
                      "no listed archetype has this component; add it to a Has<...> of Archetypes");
        database_->template set<kMember>(row, value);
    }

    /// Returns query<...>(database, managers...).
    template <class... Terms, class... Ts>
    auto query(Manager<Ts>&... managers) const {
        using List = typename detail::LocalTerms<detail::TermList<Terms...>, Ts...>::List;
        constexpr bool kMatches = (detail::kFits<Types, List> || ...);
        static_assert(kMatches, "no listed archetype matches this query; add Has<...> to Archetypes");
        if constexpr (kMatches)
            return shoal::query<Terms...>(*database_, managers...);
        else
            return detail::RefusedQuery();
    }

    /// Errors: some rows belong to an archetype that is not listed.
    Status validate() const { return types_.validate(); }

private:
    template <class T>
    static constexpr ComponentType component_of() {
        return {number_of<T>(Components())};
    }
    template <class T, class... Ts>
    static constexpr std::uint32_t number_of(Has<Ts...>) {
        std::uint32_t number = 0;
        static_cast<void>(((std::is_same_v<T, Ts> || (++number, false)) || ...));
        return number;
    }
    template <class... Ts>
    void add(Has<Ts...>) {
        (types_.add_component(schema_of<Ts>(), component<Ts>().number), ...);
        (add_type(Types()), ...);
    }
    template <class... Ts>
    void add_type(Has<Ts...>) {
        const std::array<ComponentType, sizeof...(Ts)> components = {component<Ts>()...};
        types_.add_type(components);
    }
    template <bool kAdds, class... Ts>
    Status check(std::span<const Entity> entities) {
        constexpr TypedKey key = detail::TypedSlot<std::bool_constant<kAdds>, Has<Ts...>>::key();
        const DatabaseRow first = entities.empty() ? DatabaseRow() : find(entities.front());
        if (SHOAL_LIKELY(entities.size() == 1 && types_.was_checked(first, key))) return {};
        const ComponentType components[] = {component<Ts>()...};
        Status status = types_.check_step(entities, components, kAdds);
        // Dead entities were not checked, because they cannot gain components.
        if (status && first && (!kAdds || database_->entity_manager().alive(entities.front())))
            types_.note_checked(first.table->type(), key);
        return status;
    }

    Database* database_;
    detail::ListedTypes types_;
};

}  // namespace shoal
