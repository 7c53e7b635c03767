#pragma once
// What a function wrapped by blend() is given in a word of rows of which some are off: values of its own, that are put
// into the row under a mask. See row_loop.h.
// Thread: values of one row.

#include "shoal/base/bytes.h"
#include "shoal/query/detail/terms.h"

namespace shoal::detail {

/// A written value on its way into a row that may be off.
template <class Field>
class BlendedValue {
public:
    using View = ViewOf<Field>;
    using Value = typename View::Value;

    SHOAL_INLINE BlendedValue(const View& view, std::size_t row) : value_(view[row]) {}
    SHOAL_INLINE Value& argument() { return value_; }
    /// `mask` is all ones, or 0: the row keeps what it has.
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

/// What a function gets for a field that it only reads, with the same calls.
template <class Argument>
struct UnblendedValue {
    Argument value;
    SHOAL_INLINE Argument& argument() { return value; }
    template <class View>
    SHOAL_INLINE void put(const View&, std::size_t, std::uint32_t) const {}
};

}  // namespace shoal::detail
