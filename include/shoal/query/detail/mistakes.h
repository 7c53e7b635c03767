#pragma once
// Mistakes in the terms of a query. They are checked in order, and only the first one is reported, so that its
// consequences are not reported as well. query() has a message for each mistake.
//
// Thread: types and compile-time values.

#include "shoal/query/detail/access.h"
#include "shoal/query/detail/singleton_terms.h"
#include "shoal/query/detail/terms.h"

namespace shoal::detail {

enum class Mistake : std::uint8_t {
    kNone,
    kNoTerm,             ///< a component type where a term is expected
    kIncomplete,         ///< a store's header is missing
    kTwoDatabases,       ///< at least two databases are given
    kNamesNothing,       ///< there are no terms
    kUndeclared,         ///< a component type without SHOAL_COMPONENT
    kFieldsAreNotPlain,  ///< all_fields of a type that has no fields, or has fields that are not plain
    kNoField,            ///< a member that the declaration does not name
    kNamedTwice,         ///< two terms name the same field
    kNeedsWorld,         ///< a term that only a query over a world may have
    kNotesTwice,         ///< more than one of `Added`, `Removed` and `Changed`
    kNotesMany,          ///< `Added`, `Removed` or `Changed` of a `many` type, or in a query that reads a `many` type
    kLinksMany,          ///< `Related` by a field of a `many` type
    kRemovedIsEmpty,     ///< `Removed` of a type that has no fields, or has fields that are not plain bytes
    kNoSingleton,        ///< `Singleton` of a type that is not a singleton
    kWritesSingleton,    ///< a query that also visits rows writes a singleton
    kWritesOfParents,    ///< a component is written, and is also read from parents
    kWritesComputed,     ///< a computed component is written
    kBesideWorld,        ///< a directory is given together with another store
    kNoManager,          ///< none of the given stores has the component
    kNoDriver,           ///< no term selects rows
    kIgnoresDatabase,    ///< a database is given but no term uses it
    kJoinsMany,          ///< a joined store may have several components for one entity
    kReadsMany,          ///< a `many` type is read together with other fields
};

/// A condition for static_assert. Compilers print it, so the message shows the mistake that was found.
template <Mistake kFound, Mistake kOne>
inline constexpr bool kIsNot = kFound != kOne;

/// True if the query visits each value of a `many` type, or if every field that it reads has one value per entity.
template <class Stores, class... Terms>
constexpr bool reads_all_values() {
    constexpr bool kIsOfWorld = std::is_same_v<Stores, From<ComponentDirectory>>;
    if (kVisitsEachValue<Terms...> && (kIsOfWorld || std::is_same_v<Stores, From<Database>>)) return true;
    return !(((kIsOfWorld || StoreList<Stores>::template kIsOfDatabase<Terms>) && reads_many<Terms>()) || ...);
}

/// Whether a term is `Related` by a field of a `many` type.
template <class Term>
constexpr bool links_many() {
    if constexpr (kHasLink<Term>)
        return DescriptionOf<ComponentOf<Term::kLink>>::kMany;
    else
        return false;
}

/// Returns the first mistake about fields. Requires: the component types of the terms are declared.
template <class... Terms>
constexpr Mistake find_mistake_of_fields() {
    if constexpr (((Terms::kIsNoted && !fields_are_plain<Terms>()) || ...))
        return Mistake::kRemovedIsEmpty;
    else if constexpr (!(fields_are_plain<Terms>() && ...))
        return Mistake::kFieldsAreNotPlain;
    else if constexpr (!kNameFields<Terms...>)
        return Mistake::kNoField;
    else if constexpr (!kNamesEachFieldOnce<Terms...>)
        return Mistake::kNamedTwice;
    else if constexpr ((0 + ... + (Terms::kIsNoted ? 1 : 0)) > 1)
        return Mistake::kNotesTwice;
    else if constexpr (((Terms::kIsNoted && DescriptionOf<typename Terms::Component>::kMany) || ...) ||
                       ((Terms::kIsNoted || ...) && (reads_many<Terms>() || ...)))
        return Mistake::kNotesMany;
    else if constexpr ((links_many<Terms>() || ...))
        return Mistake::kLinksMany;
    else if constexpr (!((!Terms::kIsSingleton || kIsSingleton<typename Terms::Component>) && ...))
        return Mistake::kNoSingleton;
    else if constexpr (!kOnlySingletons<Terms...> && ((Terms::kIsSingleton && Terms::kWrites) || ...))
        return Mistake::kWritesSingleton;
    else if constexpr ((is_written_and_of_parent<Terms, Terms...>() || ...))
        return Mistake::kWritesOfParents;
    else if constexpr (((Terms::kWrites && kIsComputed<typename Terms::Component>) || ...))
        return Mistake::kWritesComputed;
    else
        return Mistake::kNone;
}

/// Returns the first mistake about stores. Requires: the terms have none of the mistakes above.
template <class StoresGiven, class... Terms>
constexpr Mistake find_mistake_of_stores() {
    using List = StoreList<StoresGiven>;
    using Decides = Deciding<StoresGiven, Terms...>;
    constexpr bool kIsOfWorld = std::is_same_v<StoresGiven, From<ComponentDirectory>>;
    constexpr bool kNamesRows = kOnlySingletons<Terms...> || sizeof...(Terms) == 0 ||
                                ((!Terms::kIsSingleton && requires_component<Terms>()) || ...);
    if constexpr (!kIsOfWorld &&
                  ((Terms::kIsOfParent || Terms::kIsAny || Terms::kIsSingleton || Terms::kIsNoted) || ...))
        return Mistake::kNeedsWorld;
    else if constexpr (!((List::template store_of<Terms>() != kNoStore) && ...))
        return Mistake::kNoManager;
    else if constexpr (Decides::kNumRequired == 0 || (kIsOfWorld && !kNamesRows))
        return Mistake::kNoDriver;
    else if constexpr (Decides::kIgnoresDatabase)
        return Mistake::kIgnoresDatabase;
    else if constexpr (!kIsOfWorld && Decides::kJoins && List::kAnyKeepsMany)
        return Mistake::kJoinsMany;
    else if constexpr (!reads_all_values<StoresGiven, Terms...>())
        return Mistake::kReadsMany;
    else
        return Mistake::kNone;
}

template <class StoresGiven, class... Terms>
struct MistakeOf;
template <class... Stores, class... Terms>
struct MistakeOf<From<Stores...>, TermList<Terms...>> {
    static constexpr Mistake find() {
        constexpr bool kIsOfWorld = (std::is_same_v<Stores, ComponentDirectory> || ...);
        if constexpr (!(kIsTerm<Terms> && ...)) {
            return Mistake::kNoTerm;
        } else if constexpr (!(requires { sizeof(Stores); } && ...)) {
            return Mistake::kIncomplete;
        } else if constexpr (kIsOfWorld && sizeof...(Stores) > 1) {
            return Mistake::kBesideWorld;
        } else if constexpr (StoreList<From<Stores...>>::kNumDatabases > 1) {
            return Mistake::kTwoDatabases;
        } else if constexpr (sizeof...(Terms) == 0 && !kIsOfWorld) {  // a query over a world may name only tags
            return Mistake::kNamesNothing;
        } else if constexpr (!kAreDeclared<Terms...>) {
            return Mistake::kUndeclared;
        } else {
            constexpr Mistake kOfFields = find_mistake_of_fields<Terms...>();
            if constexpr (kOfFields != Mistake::kNone)
                return kOfFields;
            else
                return find_mistake_of_stores<From<Stores...>, Terms...>();
        }
    }
};
/// Returns the first mistake in a query.
template <class StoresGiven, class... Terms>
constexpr Mistake find_mistake() {
    return MistakeOf<StoresGiven, TermList<Terms...>>::find();
}

/// query() returns this if it finds a mistake. It accepts every call that a query accepts, so the compiler reports
/// nothing else.
struct RefusedQuery {
    template <class Function>
    static constexpr bool kFits = true;
    template <class Function>
    static constexpr bool kTakesBatch = true;

    struct Started {
        void wait() const {}
    };

    static constexpr std::size_t bytes_per_row() { return 0; }
    static constexpr bool writes() { return false; }
    const Store& driver() const;
    Database& database() const;
    template <class... Arguments>
    Started start(Arguments&&...) const {
        return {};
    }
    Array<Access> accesses() const { return {}; }
    std::uint64_t num_rows() const { return 0; }
    template <class... Arguments>
    void for_each(Arguments&&...) const {}
    template <class... Arguments>
    void for_each_batch(Arguments&&...) const {}
    template <class Zones>
    RefusedQuery in(const Zones&) const {
        return {};
    }
    RefusedQuery changed_since(std::uint64_t) const { return {}; }
    RefusedQuery with_inactive() const { return {}; }
    template <class Tag>
    RefusedQuery tagged(const Tag&) const {
        return {};
    }
    template <class Tag>
    RefusedQuery untagged(const Tag&) const {
        return {};
    }
    template <class... Channels>
    RefusedQuery writing(Channels&...) const {
        return {};
    }
    RefusedQuery grain(std::uint32_t) const { return {}; }
    template <auto kMember>
    RefusedQuery sorted_by() const {
        return {};
    }
};

}  // namespace shoal::detail
