#pragma once
// The types that fields can have, and the C++ types to which they correspond.
//
//     bool, 8- to 64-bit integers, float, double       stored as they are
//     Vec2, Vec3, Vec4, Quaternion, Matrix3x4          floats; the first four can be split into lanes
//     an enum described with SHOAL_ENUM                stored as its integer, written by name
//     StringId, ResourceId                             the hash of a string
//     Entity                                           a reference, translated when a blob is spawned
//     std::array<T, N>, T[N] of any of these           N values side by side
//     FixedString<N>                                   up to N - 1 bytes of UTF-8, in place
//     BlobArray<T>                                     a read-only array that stays in its blob
//     anything else                                    opaque: moved and destroyed by its own functions, never in blobs
//
// For a program's own type with the same bytes as one of these, specialise FieldTraits:
//
//     template <>
//     struct shoal::FieldTraits<glm::vec3> : shoal::PlainField<shoal::FieldType::kVec3> {};

#include "shoal/base/math.h"
#include "shoal/entity/entity.h"
#include "shoal/table/detail/field_values.h"

#include <array>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

namespace shoal {

enum class FieldType : std::uint8_t {
    kBool = 1,
    kInt8,
    kInt16,
    kInt32,
    kInt64,
    kUint8,
    kUint16,
    kUint32,
    kUint64,
    kFloat,
    kDouble,
    kVec2,
    kVec3,
    kVec4,
    kQuaternion,
    kMatrix3x4,
    kEnum,
    kStringId,
    kResourceId,
    kEntity,
    kFixedString,
    kBlobArray,
    kOpaque,
};
inline constexpr int kNumFieldTypes = static_cast<int>(FieldType::kOpaque) + 1;

/// Returns the name used in schema files and messages: "float", "vec3", "entity".
SHOAL_API std::string_view field_type_name(FieldType type);
/// Returns the type called `name`, or FieldType(0) if there is none. "opaque" is not accepted.
SHOAL_API FieldType field_type_from_name(std::string_view name);

/// The size of one value in bytes; 0 for types whose size varies (enum, fixed string, opaque).
constexpr std::uint32_t field_type_bytes(FieldType type) {
    constexpr std::uint8_t kBytes[kNumFieldTypes] = {
        0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 12, 16, 16, 48, 0, 8, 8, sizeof(Entity), 0, 24, 0};
    return kBytes[static_cast<int>(type)];
}
constexpr std::uint32_t field_type_alignment(FieldType type) {
    constexpr std::uint8_t kAlignment[kNumFieldTypes] = {
        0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 4, 4, 4, 4, 4, 0, 8, 8, sizeof(Entity), 1, 8, 0};
    return kAlignment[static_cast<int>(type)];
}
/// The number of floats in a value of a type that can be split; 1 for other types.
constexpr std::uint32_t field_type_lanes(FieldType type) {
    return type < FieldType::kVec2 || type > FieldType::kQuaternion ? 1 : field_type_bytes(type) / sizeof(float);
}

/// The functions that make, move and destroy values of an opaque type. All take pointers to values of `size` bytes.
struct OpaqueOperations {
    std::uint32_t size;
    std::uint32_t alignment;
    void (*construct)(void* value);
    void (*move_construct)(void* to, void* from);        ///< `from` must be destroyed afterwards
    void (*copy_construct)(void* to, const void* from);  ///< nullptr if values cannot be copied
    void (*destroy)(void* value);
};

template <class T>
const OpaqueOperations& opaque_operations() {
    static constexpr OpaqueOperations kOperations{
        sizeof(T),
        alignof(T),
        [](void* value) { ::new (value) T(); },
        [](void* to, void* from) { ::new (to) T(std::move(*static_cast<T*>(from))); },
        [] {
            void (*copy)(void*, const void*) = nullptr;
            if constexpr (std::is_copy_constructible_v<T>)
                copy = [](void* to, const void* from) { ::new (to) T(*static_cast<const T*>(from)); };
            return copy;
        }(),
        [](void* value) { static_cast<T*>(value)->~T(); }};
    return kOperations;
}

// --- enums -------------------------------------------------------------------------------------------------------

/// One named value of an enum.
struct Enumerator {
    std::string_view name;
    std::int64_t value;
};
template <class E>
struct EnumTag {};
template <class E>
concept DescribedEnum = std::is_enum_v<E> && requires { shoal_enumerators(EnumTag<E>{}); };

// --- from C++ type to field type ---------------------------------------------------------------------------------

/// What the schema needs to know about a field's C++ type.
struct FieldTypeInfo {
    FieldType type = FieldType::kOpaque;
    FieldType element_type = FieldType(0);  ///< the type of a BlobArray's elements
    std::uint32_t array_length = 0;         ///< 0: one value
    std::uint32_t value_bytes = 0;          ///< size of one value
    std::uint32_t value_alignment = 0;
    const OpaqueOperations* opaque = nullptr;
    std::span<const Enumerator> enumerators;
};

template <FieldType kType>
struct PlainField {
    static constexpr FieldType type = kType;
    static constexpr FieldTypeInfo info() {
        return {kType, FieldType(0), 0, field_type_bytes(kType), field_type_alignment(kType), nullptr, {}};
    }
};

template <class T>
constexpr FieldType integer_field_type() {
    constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<FieldType>(static_cast<int>(std::is_signed_v<T> ? FieldType::kInt8 : FieldType::kUint8) + kLog);
}

template <class T>
struct FieldTraits {
    static constexpr FieldType type = FieldType::kOpaque;
    static FieldTypeInfo info() {
        return {FieldType::kOpaque, FieldType(0), 0, sizeof(T), alignof(T), &opaque_operations<T>(), {}};
    }
};
template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8)
struct FieldTraits<T> : PlainField<integer_field_type<T>()> {};
template <class T>
    requires(std::is_enum_v<T> && !DescribedEnum<T>)
struct FieldTraits<T> : PlainField<integer_field_type<std::underlying_type_t<T>>()> {};
template <DescribedEnum T>
struct FieldTraits<T> {
    static constexpr FieldType type = FieldType::kEnum;
    static FieldTypeInfo info() {
        return {FieldType::kEnum, FieldType(0), 0, sizeof(T), alignof(T), nullptr, shoal_enumerators(EnumTag<T>{})};
    }
};
template <>
struct FieldTraits<bool> : PlainField<FieldType::kBool> {};
template <>
struct FieldTraits<float> : PlainField<FieldType::kFloat> {};
template <>
struct FieldTraits<double> : PlainField<FieldType::kDouble> {};
template <>
struct FieldTraits<Vec2> : PlainField<FieldType::kVec2> {};
template <>
struct FieldTraits<Vec3> : PlainField<FieldType::kVec3> {};
template <>
struct FieldTraits<Vec4> : PlainField<FieldType::kVec4> {};
template <>
struct FieldTraits<Quaternion> : PlainField<FieldType::kQuaternion> {};
template <>
struct FieldTraits<Matrix3x4> : PlainField<FieldType::kMatrix3x4> {};
template <>
struct FieldTraits<StringId> : PlainField<FieldType::kStringId> {};
template <>
struct FieldTraits<ResourceId> : PlainField<FieldType::kResourceId> {};
template <>
struct FieldTraits<Entity> : PlainField<FieldType::kEntity> {};
template <std::uint32_t kCapacity>
struct FieldTraits<FixedString<kCapacity>> {
    static constexpr FieldType type = FieldType::kFixedString;
    static constexpr FieldTypeInfo info() { return {type, FieldType(0), 0, kCapacity, 1, nullptr, {}}; }
};
template <class T>
struct FieldTraits<BlobArray<T>> {
    static_assert(FieldTraits<T>::type != FieldType::kOpaque, "a BlobArray holds plain field types");
    static constexpr FieldType type = FieldType::kBlobArray;
    static constexpr FieldTypeInfo info() { return {type, FieldTraits<T>::type, 0, 24, 8, nullptr, {}}; }
};

/// How many values a C++ type holds side by side: the length of an array, otherwise 1.
template <class T>
inline constexpr std::size_t kNumValues = 1;
template <class T, std::size_t kLength>
inline constexpr std::size_t kNumValues<std::array<T, kLength>> = kLength;
template <class T, std::size_t kLength>
inline constexpr std::size_t kNumValues<T[kLength]> = kLength;
template <class T>
inline constexpr bool kIsArray = std::is_array_v<T>;
template <class T, std::size_t kLength>
inline constexpr bool kIsArray<std::array<T, kLength>> = true;

template <class T, std::size_t kLength>
struct FieldTraits<std::array<T, kLength>> {
    static_assert(!kIsArray<T>, "an array of arrays cannot be a field; use one array");
    static_assert(kLength > 0, "an array without elements cannot be a field");
    static constexpr FieldType type = FieldTraits<T>::type;
    static FieldTypeInfo info() {
        FieldTypeInfo result = FieldTraits<T>::info();
        result.array_length = kLength;
        return result;
    }
};
template <class T, std::size_t kLength>
struct FieldTraits<T[kLength]> : FieldTraits<std::array<T, kLength>> {};

}  // namespace shoal
