#pragma once
// A value of any field type, for code that learns the type at run time: scripts, consoles, inspectors, tests.
//
//     AnyValue speed = 2.5f;                                           // a float
//     if (Result<float> number = speed.as<float>()) total += *number;  // any other type is an error
//     AnyValue shape = "box";                                          // a string, enumerator or string id
//     std::string line = AnyValue(Vec3{1, 2, 3}).to_text();            // [1.0 2.0 3.0]
//
// A value is a copy of the bytes; up to 48 bytes need no allocation. The names of enumerators come from the schema with
// which the value was read.
// Thread: different objects may be used on different threads.

#include "shoal/base/detail/bytes.h"
#include "shoal/table/detail/value_text.h"

namespace shoal {

/// A C++ type whose values an AnyValue can hold.
template <class T>
concept PlainValue =
    FieldTraits<T>::type != FieldType::kOpaque && std::is_trivially_copyable_v<T> && !std::is_array_v<T>;

class AnyValue {
public:
    /// Holds nothing.
    AnyValue() = default;
    template <class T>
        requires(!std::is_same_v<T, AnyValue> && PlainValue<T>)
    AnyValue(const T& value) : AnyValue(value_type_of<T>(), reinterpret_cast<const std::byte*>(&value)) {}  // NOLINT
    /// Holds the text as a fixed string of the same length.
    SHOAL_API AnyValue(std::string_view text);                               // NOLINT
    AnyValue(const char* text) : AnyValue(std::string_view(text)) {}         // NOLINT
    AnyValue(const std::string& text) : AnyValue(std::string_view(text)) {}  // NOLINT
    /// Requires: the type is not opaque, and its enumerators outlive the value.
    SHOAL_API explicit AnyValue(const ValueType& type);  ///< all bytes are zero
    SHOAL_API AnyValue(const ValueType& type, const std::byte* value);

    // A move copies the value, because a moved-from value would have a type but no bytes.
    AnyValue(const AnyValue&) = default;
    AnyValue& operator=(const AnyValue&) = default;

    /// FieldType(0) if this holds nothing.
    const ValueType& type() const { return type_; }
    /// Lifetime: the value.
    std::span<const std::byte> bytes() const { return {data(), type_.num_bytes()}; }
    /// Requires: the caller writes a value of the type.
    SHOAL_API std::span<std::byte> bytes();

    template <PlainValue T>
    bool is() const {
        return type_ == value_type_of<T>();
    }
    /// Errors: the value has a different type. The message names both types.
    template <PlainValue T>
    Result<T> as() const {
        if (!is<T>()) return type_error(value_type_of<T>());
        T value;
        copy_bytes(static_cast<void*>(&value), data(), sizeof value);
        return value;
    }
    /// The text of a fixed string; empty for other types.
    SHOAL_API std::string_view text() const;
    /// Whether the value is a string.
    bool is_text() const { return type_.type == FieldType::kFixedString && type_.array_length == 0; }

    /// Converts the value to `type`. A whole number becomes a number of any type if the result is exact. A double
    /// becomes a float. A string becomes an enumerator, an id or a fixed string. Any other value must already have the
    /// type.
    /// Errors: the conversion does not exist, or the value does not fit. In the message, the target is called `name`.
    SHOAL_API Result<AnyValue> convert(const ValueType& type, std::string_view name) const;

    /// Returns the value as one line of text: see value_text.h.
    SHOAL_API std::string to_text(const ValueNames& names) const;
    /// Returns the value as one line; ids that are not in `texts` are written as hashes.
    std::string to_text(const StringTable* texts = nullptr) const { return to_text(PlainNames(texts)); }

    /// Whether both values have the same type and the same bytes.
    friend bool operator==(const AnyValue& a, const AnyValue& b) { return a.equals(b); }

private:
    static constexpr std::size_t kInlineBytes = sizeof(Matrix3x4);

    const std::byte* data() const { return large_.empty() ? small_ : large_.data(); }
    SHOAL_API Status type_error(const ValueType& wanted) const;
    std::string given_text() const;
    SHOAL_API bool equals(const AnyValue& other) const;
    Result<AnyValue> convert_text(const ValueType& type, std::string_view name) const;

    ValueType type_;
    alignas(8) std::byte small_[kInlineBytes] = {};
    Array<std::byte> large_{Owner("any value")};  // for more than kInlineBytes
};

}  // namespace shoal
