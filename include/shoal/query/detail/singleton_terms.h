#pragma once
// The singletons that a query names. The function gets their fields together with the fields of a row.
//
//     world.query<Write<&Boat::velocity>, Singleton<Read<&Wind::force>>, Read<&Boat::mass>>()
//
//     the loop calls            (entity, velocity,               mass)
//     the function gets         (entity, velocity, wind.force,   mass)
//
// The rows of the loop are found as if the singletons were not named. Fields that are only read are copied once for
// each chunk, when the chunk's loop begins. A query can write singletons only if all of its terms are singletons. It
// then visits only the row of the first singleton.
// Thread: as for the query.

#include "shoal/query/detail/access.h"
#include "shoal/query/detail/started_loop.h"
#include "shoal/query/detail/terms.h"
#include "shoal/store/detail/component_directory.h"

#include <array>

namespace shoal::detail {

/// The terms that are not singletons.
template <class... Terms>
using TermsOfRows =
    typename JoinedLists<TermList<>, std::conditional_t<Terms::kIsSingleton, TermList<>, TermList<Terms>>...>::List;
template <class... Terms>
using TermsOfSingletons =
    typename JoinedLists<TermList<>, std::conditional_t<Terms::kIsSingleton, TermList<Terms>, TermList<>>...>::List;
template <class... Terms>
inline constexpr bool kOnlySingletons = sizeof...(Terms) > 0 && (Terms::kIsSingleton && ...);

/// The terms that select the visited rows: the terms that are not singletons or, if there are none, the first term.
template <class List, class First>
struct VisitedTerms {
    using Type = List;
};
template <class First>
struct VisitedTerms<TermList<>, First> {
    using Type = TermList<With<typename First::Component>>;
};
template <>
struct VisitedTerms<TermList<>, void> {
    using Type = TermList<>;
};

/// What the function gets for a singleton: a copied value, or a reference into the row.
template <class Term>
class SingletonValue {
    using Component = typename Term::Component;

public:
    explicit SingletonValue(Table& table) : component_(row(table)) {}
    SHOAL_INLINE decltype(auto) get() const {
        if constexpr (kNamesAllFields<Term::kMember>)
            return (component_);
        else
            return ((&component_)->*Term::kMember);
    }

private:
    static Component& row(Table& table) {
        SHOAL_ASSERT(
            table.num_rows() == 1,
            "a query names a singleton that is not there; its entity was destroyed, and World::singleton() makes it "
            "again");
        return *reinterpret_cast<Component*>(table.unmarked_column(0));
    }
    std::conditional_t<Term::kWrites, Component&, const Component> component_;
};

template <class List>
class SingletonTerms;

template <>
class SingletonTerms<TermList<>> {
public:
    template <class... Stores>
    explicit SingletonTerms(Stores&...) {}
};

template <class... Terms>
class SingletonTerms<TermList<Terms...>> {
public:
    /// The values of all terms; each is found by the type of its term.
    struct Values : SingletonValue<Terms>... {
        explicit Values(const SingletonTerms& singletons) : Values(singletons, std::index_sequence_for<Terms...>()) {}
        template <std::size_t... kIndices>
        Values(const SingletonTerms& singletons, std::index_sequence<kIndices...>)
            : SingletonValue<Terms>(singletons.managers_[kIndices]->table())... {}
    };

    explicit SingletonTerms(ComponentDirectory& directory)
        : managers_{&directory.singletons().require(schema_of<typename Terms::Component>())...} {}

    std::array<Access, sizeof...(Terms)> accesses() const {
        std::size_t i = 0;
        return {field_access<Terms::kMember>(*managers_[i++], Terms::kWrites)...};
    }
    void mark_written() const {
        std::size_t i = 0;
        ((Terms::kWrites ? mark_column(managers_[i++]->table(), 0, {0, 1}) : void(++i)), ...);
    }

private:
    ComponentManager* managers_[sizeof...(Terms)];
};

/// The types that a function gets: the first `kNumLeading` of `Arguments`, then the rest with the singletons inserted.
/// Each step removes at most one argument from the front and appends one at the end.
template <std::size_t kNumLeading, class Terms, class... Arguments>
struct WithSingletonsBetween;
template <class... Arguments>
struct WithSingletonsBetween<0, TermList<>, Arguments...> {
    template <class Function>
    static constexpr bool kIsInvocable = Callable<Function, Arguments...>;

    template <class Function, class Values>
    SHOAL_INLINE static decltype(auto) call(Function& function, const Values&, Arguments... arguments) {
        return function(static_cast<Arguments>(arguments)...);
    }
};
template <std::size_t kNumLeading, class Terms, class First, class... Arguments>
    requires(kNumLeading > 0)
struct WithSingletonsBetween<kNumLeading, Terms, First, Arguments...> {
    using Next = WithSingletonsBetween<kNumLeading - 1, Terms, Arguments..., First>;
    template <class Function>
    static constexpr bool kIsInvocable = Next::template kIsInvocable<Function>;

    template <class Function, class Values>
    SHOAL_INLINE static decltype(auto) call(Function& function, const Values& values, First first,
                                            Arguments... arguments) {
        return Next::call(function, values, static_cast<Arguments>(arguments)..., static_cast<First>(first));
    }
};
template <class Term, class... Terms, class First, class... Arguments>
    requires(Term::kIsField && !Term::kIsSingleton)
struct WithSingletonsBetween<0, TermList<Term, Terms...>, First, Arguments...>
    : WithSingletonsBetween<1, TermList<Terms...>, First, Arguments...> {};
template <class Term, class... Terms, class... Arguments>
    requires(!Term::kIsField)
struct WithSingletonsBetween<0, TermList<Term, Terms...>, Arguments...>
    : WithSingletonsBetween<0, TermList<Terms...>, Arguments...> {};
template <class Term, class... Terms, class... Arguments>
    requires(Term::kIsSingleton)
struct WithSingletonsBetween<0, TermList<Term, Terms...>, Arguments...> {
    using Value = decltype(std::declval<const SingletonValue<Term>&>().get());
    using Next = WithSingletonsBetween<0, TermList<Terms...>, Arguments..., Value>;
    template <class Function>
    static constexpr bool kIsInvocable = Next::template kIsInvocable<Function>;

    template <class Function, class Values>
    SHOAL_INLINE static decltype(auto) call(Function& function, const Values& values, Arguments... arguments) {
        return Next::call(function, values, static_cast<Arguments>(arguments)...,
                          static_cast<const SingletonValue<Term>&>(values).get());
    }
};

/// Wraps a function, and adds singletons to the arguments of each call.
template <class Function, class... Terms>
struct WithSingletons {
    static constexpr std::size_t kNumFields = (0 + ... + (Terms::kIsField && !Terms::kIsSingleton ? 1 : 0));
    using Values = typename SingletonTerms<TermsOfSingletons<Terms...>>::Values;

    Function& function;
    const Values& values;

    template <class... Arguments>
    static constexpr bool is_invocable() {
        if constexpr (sizeof...(Arguments) < kNumFields)
            return false;
        else
            return WithSingletonsBetween<sizeof...(Arguments) - kNumFields, TermList<Terms...>,
                                         Arguments&&...>::template kIsInvocable<Function>;
    }
    template <class... Arguments>
        requires(is_invocable<Arguments...>())
    SHOAL_INLINE decltype(auto) operator()(Arguments&&... arguments) {
        return WithSingletonsBetween<sizeof...(Arguments) - kNumFields, TermList<Terms...>, Arguments&&...>::call(
            function, values, static_cast<Arguments&&>(arguments)...);
    }
    template <class Then>
        requires kHasOwnOfRange<Function>
    SHOAL_INLINE void with_own_of_range(Then&& then) {
        function.with_own_of_range([&](auto& own) SHOAL_INLINED {
            WithSingletons<std::remove_reference_t<decltype(own)>, Terms...> with_singletons{own, values};
            then(with_singletons);
        });
    }
};

/// What a loop calls: the function itself, or a wrapper that adds singletons.
template <bool kHasSingletons, class Function, class... Terms>
struct CalledWithSingletons {
    using Type = Function;
};
template <class Function, class... Terms>
struct CalledWithSingletons<true, Function, Terms...> {
    using Type = WithSingletons<Function, Terms...>;
};

template <class...>
struct FirstOfTerms {
    using Type = void;  // the query names only tags
};
template <class First, class... Others>
struct FirstOfTerms<First, Others...> {
    using Type = First;
};
template <class... Terms>
using FirstOf = typename FirstOfTerms<Terms...>::Type;

}  // namespace shoal::detail

namespace shoal {

template <class Function, class... Terms>
inline constexpr bool kBlends<detail::WithSingletons<Function, Terms...>> = kBlends<Function>;

}  // namespace shoal
