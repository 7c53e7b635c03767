#pragma once
// The terms of a query as types, and their properties at compile time. query.h describes them for users.
//
//     From<Database, Manager<Sail>, Manager<Crew>>       stores, in the order in which a query was given them
//              0            1              2             a term's store: where its component lies
//
// Thread: types, and plain values of one row.

#include "shoal/command/detail/loop_scope.h"
#include "shoal/query/detail/query_plan.h"
#include "shoal/store/manager.h"
#include "shoal/table/detail/found_value.h"

#include <cstddef>

namespace shoal {

class Database;
class ComponentDirectory;

namespace detail {

/// The properties of a term.
struct TermKind {
    bool is_field = true;
    bool writes = false;        ///< the function gets a reference
    bool is_optional = false;   ///< the function gets a pointer to const, or null
    bool excludes = false;      ///< the entity lacks the component
    bool of_parent = false;     ///< the field is read from another entity: the parent or a related entity
    bool is_any = false;        ///< the entity has at least one of several component types
    bool is_noted = false;      ///< the entity has gained, lost or changed the component since the last loop
    bool is_singleton = false;  ///< the field is in a singleton
};

template <TermKind kKind>
struct Term {
    static constexpr bool kIsField = kKind.is_field, kWrites = kKind.writes;
    static constexpr bool kIsOptional = kKind.is_optional, kExcludes = kKind.excludes;
    static constexpr bool kIsOfParent = kKind.of_parent, kIsAny = kKind.is_any, kIsSingleton = kKind.is_singleton;
    static constexpr bool kIsNoted = kKind.is_noted, kIsRemoved = kKind.is_noted && kKind.is_field;
};

template <auto kMember_, TermKind kKind>
struct FieldTerm : Term<kKind> {
    static constexpr auto kMember = kMember_;
    using Component = ComponentOf<kMember_>;
};

}  // namespace detail

/// A field that is read: the function gets it as const.
template <auto kMember>
struct Read : detail::FieldTerm<kMember, detail::TermKind{}> {};

/// A field that is read and written: the function gets a reference (take it as `auto&&`).
template <auto kMember>
struct Write : detail::FieldTerm<kMember, detail::TermKind{.writes = true}> {};

/// A field that the entity may lack: the function gets a pointer to const, or null.
template <auto kMember>
struct Maybe : detail::FieldTerm<kMember, detail::TermKind{.is_optional = true}> {};

/// A field of the entity's parent: Parent<Read<&Body::position>>. The function gets a pointer to const, which is null
/// if the entity is a root or its parent lacks the component. For queries over a world. ChildOf names the parent; the
/// transforms keep ChildOf unless the program has made another store for it.
template <class Term>
struct Parent : detail::FieldTerm<Term::kMember, detail::TermKind{.is_optional = true, .of_parent = true}> {
    static_assert(Term::kIsField && !Term::kWrites && !Term::kIsOptional,
                  "Parent<> is for a field that is read: Parent<Read<&Body::position>>");
};

/// A field of a related entity: Related<&Missile::target, Read<&Ship::position>> reads the position of the missile's
/// target. The function gets a pointer to const, which is null if the entity lacks the field, the field is null, or the
/// related entity lacks the component. For queries over a world. The field need not be declared a relation.
template <auto kLink_, class Term>
struct Related : detail::FieldTerm<Term::kMember, detail::TermKind{.is_optional = true, .of_parent = true}> {
    static constexpr auto kLink = kLink_;
    static_assert(std::is_same_v<ValueOf<kLink_>, Entity>, "the first of Related<> is a field that holds an Entity");
    static_assert(Term::kIsField && !Term::kWrites && !Term::kIsOptional,
                  "Related<> is for a field that is read: Related<&Missile::target, Read<&Ship::position>>");
};

/// A field of a singleton: Singleton<Read<&Wind::force>>. The function gets the field's value for each row. With Write,
/// it gets a reference, and all terms of the query must be singletons. Only for queries over a world.
template <class Term>
struct Singleton : detail::FieldTerm<Term::kMember, detail::TermKind{.writes = Term::kWrites, .is_singleton = true}> {
    static_assert(Term::kIsField && !Term::kIsOptional && !Term::kIsOfParent,
                  "Singleton<> is for a field that is read or written: Singleton<Read<&Wind::force>>");
};

/// A component type that the entity must have.
template <class T>
struct With : detail::Term<detail::TermKind{.is_field = false}> {
    using Component = T;
};

/// A component type that the entity must lack.
template <class T>
struct Without : detail::Term<detail::TermKind{.is_field = false, .excludes = true}> {
    using Component = T;
};

/// A component type that the entity has gained since the query's last loop. The first loop visits all entities that
/// have the component. For queries over a world; a query may have only one such term. A copy of a query starts over:
/// its next loop is a first loop.
///
///     world.schedule().add("greet", world.query<Added<Guest>, Read<&Guest::name>>(), greet);
///
/// The query compares the current state with the state in its last loop, whatever happened in between: a component that
/// was added and removed is not visited, and a component that moved to another table does not count as added. Disabled
/// components count as missing. Inactive entities are skipped, and changes that are made while they are inactive are
/// not visited later. When a loop begins, it marks all changes that it finds as seen, even if its function throws
/// later. The seen state is not part of a world's state: when a world is rolled back or loaded, the query finds the
/// differences from the state that it last saw. Observers are rolled back with the world: see react/observers.h.
/// Cost: a mirror of the component type, and a comparison of the row blocks that were written (see component_mirror.h).
template <class T>
struct Added : detail::Term<detail::TermKind{.is_field = false, .is_noted = true}> {
    using Component = T;
    static constexpr auto kNoted = detail::Noted::kAdded;
};
/// A component type that the entity had in the last loop and still has, with at least one changed field. Otherwise like
/// Added.
template <class T>
struct Changed : detail::Term<detail::TermKind{.is_field = false, .is_noted = true}> {
    using Component = T;
    static constexpr auto kNoted = detail::Noted::kChanged;
};
/// A component type that the entity has lost since the last loop; the entity may be dead. The function gets a const T&,
/// the component as it was in the last loop. Otherwise like Added. Requires: T has fields, all of which are plain
/// bytes.
template <class T>
struct Removed : detail::FieldTerm<all_fields<T>, detail::TermKind{.is_noted = true}> {
    static_assert(alignof(T) <= alignof(std::max_align_t), "values that were removed are kept side by side, as bytes");
    static constexpr auto kNoted = detail::Noted::kRemoved;
};

/// Component types of which the entity has at least one. For queries over a world.
template <class First, class... Others>
struct AnyOf : detail::Term<detail::TermKind{.is_field = false, .is_optional = true, .is_any = true}> {
    using Component = First;
    static constexpr std::size_t kNumComponents = 1 + sizeof...(Others);

    /// Calls visit.operator()<T>() for each component type.
    template <class Visit>
    static void for_each_component(Visit&& visit) {
        visit.template operator()<First>();
        (visit.template operator()<Others>(), ...);
    }
};

/// Declares that a function has no effect except on its arguments. Results for rows whose component is disabled may
/// then be computed and discarded, which is several times faster if enabled and disabled rows are mixed:
///
///     moving.for_each(blend([dt](auto&& p, Vec3 v) { p += v * dt; }));
template <class Function>
struct Blend {
    Function function;

    template <class... Arguments>
    SHOAL_INLINE auto operator()(Arguments&&... arguments)
        -> decltype(function(static_cast<Arguments&&>(arguments)...)) {
        return function(static_cast<Arguments&&>(arguments)...);
    }
};
template <class Function>
Blend<Function> blend(Function function) {
    return {static_cast<Function&&>(function)};
}

/// Whether a function was wrapped by blend(). Function wrappers specialize this.
template <class Function>
inline constexpr bool kBlends = false;
template <class Function>
inline constexpr bool kBlends<Blend<Function>> = true;

/// The stores of a query: an optional Database followed by Managers; or a World, which knows its stores.
template <class... Stores>
struct From {};

namespace detail {

/// Whether a function uses a separate object for each run of rows, so that the compiler can keep the object in
/// registers. with_own_of_range(then) makes the object, and calls then(f) with a function f that uses it.
template <class Function>
concept kHasOwnOfRange = requires(Function& function) { function.with_own_of_range([](auto&) {}); };

/// Whether a function accepts these arguments. Used instead of std::is_invocable because the compiler's error is ten
/// lines shorter if the body of the function does not compile with the arguments.
template <class Function, class... Arguments>
concept Callable =
    requires(Function& function, Arguments&&... arguments) { function(static_cast<Arguments&&>(arguments)...); };

/// A function whose first argument is bound.
template <class Function, class First>
struct WithFirst {
    Function& function;
    First& first;

    template <class... Arguments>
    SHOAL_INLINE auto operator()(Arguments&&... arguments)
        -> decltype(function(first, static_cast<Arguments&&>(arguments)...)) {
        return function(first, static_cast<Arguments&&>(arguments)...);
    }
};

/// `T`, as a dependent name, so that the database's types may be incomplete until a template is instantiated.
template <class User, class T>
struct Later {
    using Type = T;
};

/// A function whose first argument is the commands of a chunk.
template <class Function>
struct WithCommands {
    template <class Called>
    using Bound = WithFirst<Called, Commands>;

    Function& function;
    CommandRecorder& recorder;

    template <class... Arguments>
    SHOAL_INLINE auto operator()(Arguments&&... arguments)
        -> decltype(function(std::declval<Commands&>(), static_cast<Arguments&&>(arguments)...)) {
        typename Later<Function, RangeCommands>::Type own(recorder);
        return function(own, static_cast<Arguments&&>(arguments)...);
    }
    template <class Then>
    SHOAL_INLINE void with_own_of_range(Then&& then) {
        typename Later<Function, RangeCommands>::Type own(recorder);
        if constexpr (kHasOwnOfRange<Function>) {
            function.with_own_of_range([&](auto& f) SHOAL_INLINED {
                Bound<std::remove_reference_t<decltype(f)>> bound{f, own};
                then(bound);
            });
        } else {
            Bound<Function> bound{function, own};
            then(bound);
        }
    }
};

/// The value of an optional field that is split into several columns. The value is assembled from the columns; it is
/// used and passed like a pointer to the field.
template <class View>
class OptionalValue : public FoundValue<typename View::Value> {
public:
    SHOAL_INLINE OptionalValue(const View& view, std::uint32_t row) : FoundValue<typename View::Value>(nullptr) {
        if (row != kNilRow) this->put(view[row]);
    }
    SHOAL_INLINE operator const typename View::Value *() const {  // NOLINT: it is passed as one
        return *this ? &**this : nullptr;
    }
};

/// The type that a function gets for an optional field: a pointer to const, or a type that is used like a pointer.
template <class View>
using OptionalOf =
    std::conditional_t<View::kLayout == ColumnLayout::kSplit || View::kLayout == ColumnLayout::kInColumns,
                       OptionalValue<View>, const typename View::Value*>;
template <class View>
SHOAL_INLINE OptionalOf<View> optional_value(const View& view, std::uint32_t row) {
    if constexpr (std::is_pointer_v<OptionalOf<View>>) {
        if (row == kNilRow) return nullptr;
        const OptionalOf<View> value = &view[row];
        if (value == nullptr) __builtin_unreachable();  // lets the compiler drop the function's null test
        return value;
    } else
        return {view, row};
}

// --- properties of terms -----------------------------------------------------------------------------------------

/// Whether a term restricts the visited rows to rows that have its component type, or to rows that lack it.
template <class Term>
constexpr bool requires_component() {
    return !Term::kIsOptional && !Term::kExcludes;
}
template <class Term>
constexpr bool excludes_component() {
    return Term::kExcludes;
}

/// Whether the component type is declared `enableable`. In a database, such components can be disabled.
template <class T>
inline constexpr bool kCanBeDisabled = shoal_describe(ComponentTag<T>{}).component.enableable;

/// Whether rows that have the component of a term may be disabled.
template <class Term>
constexpr bool may_be_disabled() {
    if constexpr (kIsDescribed<typename Term::Component>)
        return kCanBeDisabled<typename Term::Component>;
    else
        return false;
}

template <auto kMember, class Term>
constexpr bool names_member() {
    if constexpr (Term::kIsField)
        return !Term::kIsOfParent && kSameMember<kMember, Term::kMember>;
    else
        return false;
}
/// Whether a term names the field `kMember`, or both name the same component and one of them names all of its fields.
template <auto kMember, class Term>
constexpr bool names_part_of() {
    if constexpr (names_member<kMember, Term>())
        return true;
    else if constexpr (Term::kIsField && std::is_same_v<typename Term::Component, ComponentOf<kMember>>)
        return !Term::kIsOfParent && (kNamesAllFields<kMember> || kNamesAllFields<Term::kMember>);
    else
        return false;
}
/// Whether no other term names the field of `Term`.
template <class Term, class... Terms>
constexpr bool names_once() {
    if constexpr (Term::kIsField && !Term::kIsOfParent)
        return (0 + ... + (names_part_of<Term::kMember, Terms>() ? 1 : 0)) == 1;
    else
        return true;
}
/// Whether a term has a link field, which names another entity.
template <class Term>
inline constexpr bool kHasLink = requires { Term::kLink; };
/// Whether a type is a term.
template <class T>
inline constexpr bool kIsTerm = requires { T::kIsField; };
template <class... Terms>
inline constexpr bool kNamesEachFieldOnce = (names_once<Terms, Terms...>() && ...);
template <class Term>
constexpr bool is_declared() {
    if constexpr (kHasLink<Term>)
        return kIsDescribed<typename Term::Component> && kIsDescribed<ComponentOf<Term::kLink>>;
    else
        return kIsDescribed<typename Term::Component>;
}
template <class... Terms>
inline constexpr bool kAreDeclared = (is_declared<Terms>() && ...);

template <class Term>
constexpr bool names_field() {
    if constexpr (Term::kIsField && kIsDescribed<typename Term::Component>)
        return kNamesAllFields<Term::kMember> ||
               DescriptionOf<typename Term::Component>::template field_index<Term::kMember>() >= 0;
    else
        return true;
}
/// False if a term names all fields of a component that has none, or has fields that cannot be copied as bytes.
template <class Term>
constexpr bool fields_are_plain() {
    if constexpr (Term::kIsField && kIsDescribed<typename Term::Component>)
        return !kNamesAllFields<Term::kMember> || (DescriptionOf<typename Term::Component>::kNumFields != 0 &&
                                                   DescriptionOf<typename Term::Component>::kIsPlain);
    else
        return true;
}
/// Whether the members are among the fields of their components' declarations.
template <class... Terms>
inline constexpr bool kNameFields = (names_field<Terms>() && ...);

/// The layout of a component whose values are struct images.
template <class T>
struct ImageLayout {
    using Component = T;
    static constexpr ColumnLayout kLayout = ColumnLayout::kWhole;
    static constexpr std::uint32_t kFirstColumn = 0, kNumColumns = 1;
    static constexpr std::size_t column_bytes(std::uint32_t) { return sizeof(T); }
    static std::size_t struct_offset() { return 0; }
};
/// The layout of a term's field.
template <class Term>
struct LayoutOfTerm {
    static auto choose() {
        if constexpr (Term::kIsRemoved)
            return std::type_identity<ImageLayout<typename Term::Component>>();
        else
            return std::type_identity<FieldLayout<Term::kMember>>();
    }
    using Type = typename decltype(choose())::type;
};
template <class Term>
using LayoutOf = typename LayoutOfTerm<Term>::Type;

/// The view of a term's field: separate from the term, so that an invalid term can still be checked.
template <class Term>
using ViewOf = Column<std::conditional_t<Term::kWrites, ValueOf<Term::kMember>, const ValueOf<Term::kMember>>,
                      LayoutOf<Term>::kLayout>;

/// Whether a term writes a component that `Term` reads from parents.
template <class Term, class... Terms>
constexpr bool is_written_and_of_parent() {
    return Term::kIsOfParent &&
           ((Terms::kWrites && std::is_same_v<typename Terms::Component, typename Term::Component>) || ...);
}

// --- stores of terms ---------------------------------------------------------------------------------------------

/// Whether an entity may have several components in a store.
template <class Store>
inline constexpr bool kKeepsMany = false;
template <class T>
inline constexpr bool kKeepsMany<Manager<T>> = DescriptionOf<T>::kMany;
/// Whether a term reads or writes a field of a `many` type.
template <class Term>
constexpr bool reads_many() {
    if constexpr (Term::kIsField && kIsDescribed<typename Term::Component>)
        return DescriptionOf<typename Term::Component>::kMany;
    else
        return false;
}

/// The component of the first term that reads a `many` type.
template <class... Terms>
struct ManyOf {
    using Type = void;
};
template <class First, class... Terms>
struct ManyOf<First, Terms...> {
    static auto choose() {
        if constexpr (reads_many<First>())
            return std::type_identity<typename First::Component>();
        else
            return std::type_identity<typename ManyOf<Terms...>::Type>();
    }
    using Type = typename decltype(choose())::type;
};
/// Whether a term reads no `many` type, or reads a field of `Many` and requires the component.
template <class Term, class Many>
constexpr bool reads_none_but() {
    return !reads_many<Term>() || (std::is_same_v<typename Term::Component, Many> && requires_component<Term>() &&
                                   !Term::kIsOfParent && !Term::kIsSingleton);
}

/// Whether a query visits each value of a `many` type: it reads fields of exactly one such type, or its only term
/// requires one. An entity is visited once for each of its values.
template <class... Terms>
inline constexpr bool kVisitsEachValue =
    (reads_many<Terms>() || ...) && (reads_none_but<Terms, typename ManyOf<Terms...>::Type>() && ...);
template <class Term>
inline constexpr bool kVisitsEachValue<Term> = [] {
    if constexpr (requires_component<Term>() && !Term::kIsOfParent && !Term::kIsSingleton &&
                  kIsDescribed<typename Term::Component>)
        return DescriptionOf<typename Term::Component>::kMany;
    else
        return false;
}();

/// Whether a term reads the values that a query visits one by one.
template <class Term, class... Terms>
inline constexpr bool kIsOfValues = sizeof...(Terms) == 1 || reads_many<Term>();

inline constexpr std::size_t kNoStore = ~std::size_t(0);

/// Finds each term's store in a list of stores.
template <class Stores>
struct StoreList;
template <class... Stores>
struct StoreList<From<Stores...>> {
    static constexpr std::size_t kNumStores = sizeof...(Stores);
    static constexpr std::size_t kNumDatabases = (0 + ... + (std::is_same_v<Stores, Database> ? 1 : 0));
    static constexpr bool kHasDatabase = kNumDatabases != 0;
    static constexpr bool kAnyKeepsMany = (kKeepsMany<Stores> || ...);

    /// The store of a term's component: its manager if one was given, otherwise the database. kNoStore: none.
    template <class Term>
    static constexpr std::size_t store_of() {
        if (Term::kIsOfParent || Term::kIsAny) return kNoStore;
        constexpr bool kIsIts[] = {std::is_same_v<Stores, Manager<typename Term::Component>>...};
        for (std::size_t i = 0; i < kNumStores; ++i)
            if (kIsIts[i]) return i;
        return kHasDatabase ? 0 : kNoStore;
    }
    template <class Term>
    static constexpr bool kIsOfDatabase = kHasDatabase && store_of<Term>() == 0;
};

/// In a directory, a term's store is found when the query is made.
template <>
struct StoreList<From<ComponentDirectory>> {
    static constexpr std::size_t kNumStores = 1;
    static constexpr std::size_t kNumDatabases = 1;  ///< number of databases that the query uses
    static constexpr bool kHasDatabase = true;
    static constexpr bool kAnyKeepsMany = false;  ///< each value of a joined store is visited
    template <class Term>
    static constexpr std::size_t store_of() {
        return 0;
    }
    /// Whether the component of a term may be in the database.
    template <class Term>
    static constexpr bool kIsOfDatabase =
        !Term::kIsOfParent && !Term::kIsAny &&
        !(DescriptionOf<typename Term::Component>::kMany && kCanBeDisabled<typename Term::Component>);
};

/// The stores that decide which rows are visited.
template <class Stores, class... Terms>
struct Deciding {
    using List = StoreList<Stores>;
    /// Whether a term requires, or excludes, a row in a store.
    static constexpr bool is_required(std::size_t store) {
        return (List::kHasDatabase && store == 0) ||
               ((requires_component<Terms>() && List::template store_of<Terms>() == store) || ...);
    }
    static constexpr bool is_excluded(std::size_t store) {
        return !(List::kHasDatabase && store == 0) &&
               ((excludes_component<Terms>() && List::template store_of<Terms>() == store) || ...);
    }
    static constexpr std::size_t count(bool excluded) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < List::kNumStores; ++i) count += excluded ? is_excluded(i) : is_required(i);
        return count;
    }
    static constexpr std::size_t kNumRequired = count(false);
    static constexpr bool kJoins = kNumRequired > 1 || count(true) > 0;
    /// Whether a database is joined but no term uses it: entities without a row in it would be silently missed.
    static constexpr bool kIgnoresDatabase =
        List::kHasDatabase && kJoins && !(List::template kIsOfDatabase<Terms> || ...);
};

template <class... Terms>
struct TermList {};
template <class... Lists>
struct JoinedLists;
template <class... Terms>
struct JoinedLists<TermList<Terms...>> {
    using List = TermList<Terms...>;
};
template <class... As, class... Bs, class... Lists>
struct JoinedLists<TermList<As...>, TermList<Bs...>, Lists...> : JoinedLists<TermList<As..., Bs...>, Lists...> {};

/// The terms that name a field.
template <class... Terms>
using FieldTerms =
    typename JoinedLists<TermList<>, std::conditional_t<Terms::kIsField, TermList<Terms>, TermList<>>...>::List;

}  // namespace detail
}  // namespace shoal
