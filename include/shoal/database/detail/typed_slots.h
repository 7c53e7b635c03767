#pragma once
// What the database needs of C++ types. Each one, and each list of them, has a small number in this process: the place
// where every database keeps the component type, or the table used last. It is a cache and no identity: that is the
// component's name.

#include "shoal/database/detail/table.h"

namespace shoal {

namespace detail {

/// The smallest number that no type has, for *slot; the one that it has when another thread was faster.
SHOAL_API std::uint32_t take_typed_slot(std::uint32_t* slot);

template <class... Ts>
struct TypedSlot {
    static inline std::uint32_t number = 0;  // 0: none yet
    /// 0 before the first get().
    SHOAL_INLINE static std::uint32_t known() { return __atomic_load_n(&number, __ATOMIC_RELAXED); }
    /// Stands for the types without a look at the number: a loop need not load it, or anything else, again. Another
    /// library of the same program has another one. Lifetime: a library stays loaded as long as any database to which
    /// it has given or from which it has taken components.
    static constexpr TypedKey key() { return &number; }
    SHOAL_INLINE static std::uint32_t get() {
        const std::uint32_t slot = known();
        return SHOAL_LIKELY(slot != 0) ? slot : take_typed_slot(&number);
    }
};

/// The number and the address that stand for a list of component types, in whatever call.
struct ComponentList;
template <class... Ts>
using ListSlot = TypedSlot<ComponentList, Ts...>;

template <class T, class... Ts>
inline constexpr int kTimesIn = (0 + ... + (std::is_same_v<T, Ts> ? 1 : 0));
/// Whether none of these types is named twice.
template <class... Ts>
inline constexpr bool kDiffer = ((kTimesIn<Ts, Ts...> == 1) && ...);

template <class T>
inline constexpr bool kHasOpaque = [] {
    bool result = false;
    DescriptionOf<T>::for_each_field([&]<auto kMember, std::uint32_t, bool>() {
        result |= FieldTraits<ValueOf<kMember>>::type == FieldType::kOpaque;
    });
    return result;
}();

template <class T>
inline constexpr bool kIsEnableable = shoal_describe(ComponentTag<T>{}).component.enableable;

/// The value of a component that is given, disabled or not.
template <class Given>
SHOAL_INLINE const ComponentOfGiven<Given>& value_of_given(const Given& given) {
    if constexpr (kIsDisabled<Given>)
        return given.value;
    else
        return given;
}

/// Writes the component of a row to columns that data_of(c) gives, by number among those of the component.
template <class T, class DataOf>
SHOAL_INLINE void write_component_to(DataOf&& data_of, std::uint32_t row, const T& value) {
    const auto write = [&]<auto kMember>() {
        const auto column = make_column<kMember, ValueOf<kMember>>(data_of, DatabaseTable::struct_offset<kMember>(),
                                                                   std::size_t(row) + 1);
        if constexpr (std::is_array_v<ValueOf<kMember>>)
            for (std::size_t i = 0; i < std::extent_v<ValueOf<kMember>>; ++i) column[row][i] = ((&value)->*kMember)[i];
        else
            column[row] = (&value)->*kMember;
    };
    static_cast<void>(write);
    DescriptionOf<T>::for_each_field(
        [&]<auto kMember, std::uint32_t, bool>() { write.template operator()<kMember>(); });
}
template <class T>
SHOAL_INLINE void write_component(Table& table, std::uint32_t first_column, std::uint32_t row, const T& value) {
    write_component_to([&](std::uint32_t c) { return table.unmarked_column(first_column + c); }, row, value);
}

/// How many columns a component has.
template <class T>
inline constexpr std::uint32_t kNumColumns =
    DescriptionOf<T>::kWhole ? DescriptionOf<T>::kNumFields != 0 : DescriptionOf<T>::first_column(int(kMaxFields));

}  // namespace detail

}  // namespace shoal
