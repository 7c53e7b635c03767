#pragma once
// What the database needs to know about C++ types. Each type, and each list of types, has a small number in this
// process: the slot in which every database caches the component type, or the table used last. The number is only for
// this cache; a component type is identified by its name.

#include "shoal/database/detail/table.h"

namespace shoal {

namespace detail {

/// Sets *slot to the smallest number that no type has, unless another thread has set *slot, and returns the number.
SHOAL_API std::uint32_t take_typed_slot(std::uint32_t* slot);

template <class... Ts>
struct TypedSlot {
    static inline std::uint32_t number = 0;  // 0: none yet
    /// Returns 0 before the first get().
    SHOAL_INLINE static std::uint32_t known() { return __atomic_load_n(&number, __ATOMIC_RELAXED); }
    /// Identifies the types without reading the number, so that a loop need not reload it. Each library of a program
    /// has its own key. Lifetime: a library must stay loaded as long as any database exists in which it has added or
    /// removed components.
    static constexpr TypedKey key() { return &number; }
    SHOAL_INLINE static std::uint32_t get() {
        const std::uint32_t slot = known();
        return SHOAL_LIKELY(slot != 0) ? slot : take_typed_slot(&number);
    }
};

/// The number and the address for a list of component types; all calls share them.
struct ComponentList;
template <class... Ts>
using ListSlot = TypedSlot<ComponentList, Ts...>;

template <class T, class... Ts>
inline constexpr int kTimesIn = (0 + ... + (std::is_same_v<T, Ts> ? 1 : 0));
/// Whether all of these types are different.
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

/// Returns the value of a given component, disabled or not.
template <class Given>
SHOAL_INLINE const ComponentOfGiven<Given>& value_of_given(const Given& given) {
    if constexpr (kIsDisabled<Given>)
        return given.value;
    else
        return given;
}

/// Writes the component of a row; data_of(c) returns the data of the component's column number c.
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
