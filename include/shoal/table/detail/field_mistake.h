#pragma once
// Checks the member that names a field, before the field's layout is used, so that compilers report one error without
// follow-up errors. Code that looks up or sets fields has a message for each mistake.
// Thread: values at compile time.

#include "shoal/table/detail/column.h"

namespace shoal::detail {

/// The mistake in a member that names a field. The first mistake that applies is reported.
enum class FieldMistake : std::uint8_t {
    kNone,
    kUndeclared,  ///< a component type without SHOAL_COMPONENT
    kAllFields,   ///< all_fields<T>
    kNoField,     ///< a member that the declaration does not name
    kOpaque,      ///< an opaque value, which set() does not accept
    kComputed,    ///< a component that its store computes, which set() does not accept
};

template <auto kMember>
constexpr FieldMistake find_field_mistake() {
    using Component = ComponentOf<kMember>;
    if constexpr (!kIsDescribed<Component>)
        return FieldMistake::kUndeclared;
    else if constexpr (kNamesAllFields<kMember>)
        return FieldMistake::kAllFields;
    else if constexpr (DescriptionOf<Component>::template field_index<kMember>() < 0)
        return FieldMistake::kNoField;
    else
        return FieldMistake::kNone;
}
template <auto kMember>
constexpr FieldMistake find_set_mistake() {
    constexpr FieldMistake kMistake = find_field_mistake<kMember>();
    if constexpr (kMistake != FieldMistake::kNone)
        return kMistake;
    else if constexpr (FieldTraits<ValueOf<kMember>>::type == FieldType::kOpaque)
        return FieldMistake::kOpaque;
    else if constexpr (kIsComputed<ComponentOf<kMember>>)
        return FieldMistake::kComputed;
    else
        return FieldMistake::kNone;
}

/// For static_assert conditions, because compilers print this name.
template <FieldMistake kFound, FieldMistake kOne>
inline constexpr bool kDiffersFrom = kFound != kOne;

}  // namespace shoal::detail
