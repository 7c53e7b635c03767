#pragma once
// The terms of a query: which fields and component types it names, and what its function gets for each.
//
//     term                rows visited                          the function gets
//     Read<&T::field>     those that have T                     const T's field, or its value
//     Write<&T::field>    those that have T                     a reference: take it as `auto&&`
//     Maybe<&T::field>    all                                   a pointer to const, null without T
//     Gather<&T::field>   all; T is in a manager beside         a pointer to const, null without T
//     With<T>             those that have T                     nothing
//     Without<T>          those that lack T                     nothing
//
// A toggled component type that is off is not had.
// Thread: they are types, and values of one row.

#include "shoal/store/manager.h"

namespace shoal {

/// A field that is read: the function gets its value.
template <auto kMember_>
struct Read {
    static constexpr auto kMember = kMember_;
    static constexpr bool kIsField = true, kWrites = false, kGathers = false, kIsOptional = false;
    using Component = ComponentOf<kMember_>;
};

/// A field that is read and written: the function gets a reference (take it as `auto&&`).
template <auto kMember_>
struct Write {
    static constexpr auto kMember = kMember_;
    static constexpr bool kIsField = true, kWrites = true, kGathers = false, kIsOptional = false;
    using Component = ComponentOf<kMember_>;
};

/// A field that the entity may lack: the function gets a pointer to const, or null.
template <auto kMember_>
struct Maybe {
    static constexpr auto kMember = kMember_;
    static constexpr bool kIsField = true, kWrites = false, kGathers = false, kIsOptional = true;
    using Component = ComponentOf<kMember_>;
};

/// A field of another manager, looked up by entity: the function gets a pointer to const, or null.
template <auto kMember_>
struct Gather {
    static constexpr auto kMember = kMember_;
    static constexpr bool kIsField = true, kWrites = false, kGathers = true, kIsOptional = true;
    using Component = ComponentOf<kMember_>;
};

/// A component type that the entity has.
template <class T>
struct With {
    static constexpr bool kIsField = false, kWrites = false, kGathers = false, kIsOptional = false, kExcludes = false;
    using Component = T;
};

/// A component type that the entity lacks.
template <class T>
struct Without {
    static constexpr bool kIsField = false, kWrites = false, kGathers = false, kIsOptional = false, kExcludes = true;
    using Component = T;
};

/// Says that a function does nothing but write its arguments. Rows whose toggled component is off may then be
/// computed and thrown away, which is several times faster where on and off lie mixed:
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
    return {std::move(function)};
}

namespace detail {

/// The value of a field that may be missing; a split one is put together here.
template <class View>
class OptionalValue {
public:
    SHOAL_INLINE OptionalValue(const View& view, std::uint32_t row) {
        if (row == kNilRow) return;
        if constexpr (View::kLayout == ColumnLayout::kSplit) {
            value_ = view[row];
            pointer_ = &value_;
        } else {
            pointer_ = &view[row];
        }
    }
    SHOAL_INLINE operator const typename View::Value *() const { return pointer_; }  // NOLINT: it is passed as one

private:
    struct None {};
    [[no_unique_address]] std::conditional_t<View::kLayout == ColumnLayout::kSplit, typename View::Value, None>
        value_{};
    const typename View::Value* pointer_ = nullptr;
};

template <class Function>
inline constexpr bool kBlends = false;
template <class Function>
inline constexpr bool kBlends<Blend<Function>> = true;

template <auto kMember, class Term>
constexpr bool names_member() {
    if constexpr (Term::kIsField)
        return kSameMember<kMember, Term::kMember>;
    else
        return false;
}
/// Whether `Term` is the only one that names its field.
template <class Term, class... Terms>
constexpr bool names_once() {
    if constexpr (Term::kIsField)
        return (0 + ... + (names_member<Term::kMember, Terms>() ? 1 : 0)) == 1;
    else
        return true;
}
template <class... Terms>
inline constexpr bool kNamesEachFieldOnce = (names_once<Terms, Terms...>() && ...);
template <class... Terms>
inline constexpr bool kAreDeclared = (kIsDescribed<typename Terms::Component> && ...);

template <class Term>
constexpr bool names_field() {
    if constexpr (Term::kIsField && kIsDescribed<typename Term::Component>)
        return DescriptionOf<typename Term::Component>::template field_index<Term::kMember>() >= 0;
    else
        return true;
}
/// Whether the members are among the fields of their components' declarations.
template <class... Terms>
inline constexpr bool kNameFields = (names_field<Terms>() && ...);
/// Whether a query can be made of the terms. The functions that make queries say what is wrong.
template <class... Terms>
inline constexpr bool kAreSound =
    sizeof...(Terms) > 0 && kAreDeclared<Terms...>&& kNameFields<Terms...>&& kNamesEachFieldOnce<Terms...>;

/// How a term's field is seen: separate from the term, which can then be looked at when it is wrong.
template <class Term>
using ViewOf = Column<std::conditional_t<Term::kWrites, ValueOf<Term::kMember>, const ValueOf<Term::kMember>>,
                      FieldPlace<Term::kMember>::kLayout>;

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

/// Those of the terms that name a field.
template <class... Terms>
using FieldTerms =
    typename JoinedLists<TermList<>, std::conditional_t<Terms::kIsField, TermList<Terms>, TermList<>>...>::List;

}  // namespace detail

}  // namespace shoal
