#pragma once
// Values that a loop passes to a function instead of references into columns:
//
//     LoadedComponent    a component whose fields are in columns: loaded for a call, and stored when it has returned
//     BlendedValue       for blend(), in a word of rows of which some are disabled: put into the row under a mask
//
// In a loop over columns that do not overlap, the compiler omits loads and stores for fields that the function does not
// use. See row_loop.h.
// Thread: plain values of one row.

#include "shoal/base/detail/bytes.h"
#include "shoal/query/detail/terms.h"

namespace shoal::detail {

/// Whether a function writes a whole component whose fields are in columns.
template <class Field>
inline constexpr bool kIsLoaded = Field::kWrites && ViewOf<Field>::kLayout == ColumnLayout::kInColumns;

template <class View>
class LoadedComponent {
public:
    using Value = typename View::Value;

    SHOAL_INLINE LoadedComponent(const View& view, std::size_t row) : view_(view), row_(row), value_(view.get(row)) {}
    LoadedComponent(const LoadedComponent&) = delete;
    LoadedComponent& operator=(const LoadedComponent&) = delete;
    SHOAL_INLINE ~LoadedComponent() { view_.set(row_, value_); }
    SHOAL_INLINE Value& value() { return value_; }

private:
    const View& view_;
    std::size_t row_;
    Value value_;
};

/// Converts an argument to the type that the function takes.
template <class View>
SHOAL_INLINE typename View::Value& given(LoadedComponent<View>&& loaded) {
    return loaded.value();
}
template <class Argument>
SHOAL_INLINE Argument&& given(Argument&& argument) {
    return static_cast<Argument&&>(argument);
}

/// The type of the argument for a field.
template <class Field>
struct ArgumentOf {
    static auto choose() {
        if constexpr (Field::kIsOptional)
            return std::type_identity<OptionalOf<ViewOf<Field>>>();
        else if constexpr (kIsLoaded<Field>)
            return std::type_identity<ValueOf<Field::kMember>&>();
        else
            return std::type_identity<decltype(std::declval<const ViewOf<Field>&>()[0])>();
    }
    using Type = typename decltype(choose())::type;
};

/// A value to be written to a row that may be disabled.
template <class Field>
class BlendedValue {
public:
    using View = ViewOf<Field>;
    using Value = typename View::Value;

    SHOAL_INLINE BlendedValue(const View& view, std::size_t row) : value_(view[row]) {}
    SHOAL_INLINE Value& argument() { return value_; }
    /// `mask` is all ones to store the value, or 0 to keep the old value of the row.
    SHOAL_INLINE void put(const View& view, std::size_t row, std::uint32_t mask) const {
        static_assert(std::is_trivially_copyable_v<Value> && !std::is_array_v<Value>,
                      "blend() is for functions that write plain values; call this one without it");
        using Word = std::conditional_t<sizeof(Value) % 4 == 0, std::uint32_t, std::uint8_t>;
        constexpr std::size_t kNumWords = sizeof(Value) / sizeof(Word);
        const Value old = view[row];
        Word kept[kNumWords], made[kNumWords];
        copy_bytes(kept, &old, sizeof old);
        copy_bytes(made, &value_, sizeof value_);
        for (std::size_t i = 0; i < kNumWords; ++i) made[i] = static_cast<Word>((made[i] & mask) | (kept[i] & ~mask));
        Value result = old;
        copy_bytes(static_cast<void*>(&result), made, sizeof result);
        view[row] = result;
    }

private:
    Value value_;
};

/// The argument for a field that a function only reads. Has the same functions as BlendedValue.
template <class Argument>
struct UnblendedValue {
    Argument value;
    SHOAL_INLINE Argument& argument() { return value; }
    template <class View>
    SHOAL_INLINE void put(const View&, std::size_t, std::uint32_t) const {}
};

}  // namespace shoal::detail
