#pragma once
// The plan of a query whose terms are C++ types: the terms as plain data, and the query's stores.
//
//     Write<&Body::position>, AnyOf<Crew, Sail>      {body, columns 1 to 3, writes}, {crew, any of 1}, {sail, any of 1}
//
// Thread: plain values.

#include "shoal/query/detail/query_plan.h"
#include "shoal/query/detail/terms.h"

namespace shoal::detail {

/// Converts a term to PlanTerms, and appends them to the array that begins at `first`. `number` identifies the term;
/// for `is_each_value`, see kVisitsEachValue.
template <class Term>
void add_plan_terms(const PlanTerm* first, PlanTerm*& to, std::uint16_t number, bool is_each_value) {
    if constexpr (Term::kIsAny) {
        Term::for_each_component(
            [&]<class T>() { *to++ = {.component = &schema_of<T>(), .is_optional = true, .any_of = number}; });
    } else {
        if constexpr (Term::kIsOfParent) {
            PlanTerm& link = *to++;
            link = {.is_optional = true, .is_link = true};
            if constexpr (kHasLink<Term>) {
                using Layout = FieldLayout<Term::kLink>;
                link.component = &schema_of<typename Layout::Component>();
                link.first_column = Layout::kFirstColumn;
                if constexpr (Layout::kLayout == ColumnLayout::kWhole)
                    link.offset = static_cast<std::uint32_t>(Layout::struct_offset());
                else
                    link.field = Layout::kIndex;
            }
        }
        PlanTerm& term = *to++;
        term = {.component = &schema_of<typename Term::Component>(),
                .is_field = Term::kIsField,
                .writes = Term::kWrites,
                .is_optional = Term::kIsOptional,
                .excludes = Term::kExcludes,
                .is_each_value = is_each_value};
        if constexpr (Term::kIsNoted) term.noted = Term::kNoted;
        if constexpr (Term::kIsOfParent) term.link = static_cast<std::uint16_t>(&term - first - 1);
        if constexpr (Term::kIsRemoved) {
            term.is_optional = true;  // the entity need not currently have the component
        } else if constexpr (Term::kIsField) {
            using Layout = FieldLayout<Term::kMember>;
            term.first_column = Layout::kFirstColumn, term.num_columns = Layout::kNumColumns;
            term.is_whole = Layout::kLayout == ColumnLayout::kWhole;
            if constexpr (Layout::kLayout == ColumnLayout::kWhole)
                term.offset = static_cast<std::uint32_t>(Layout::struct_offset());
            else if constexpr (!kNamesAllFields<Term::kMember>)
                term.field = Layout::kIndex;
        }
    }
}

/// Returns a number that increases with the value. A NaN is greater than all other values; both zeros are equal.
template <class Value>
std::uint64_t rank_of(Value value) {
    if constexpr (std::is_enum_v<Value>) {
        return rank_of(static_cast<std::underlying_type_t<Value>>(value));
    } else if constexpr (std::is_floating_point_v<Value>) {
        if (value != value) return ~std::uint64_t(0);
        const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, static_cast<double>(value) + 0.0);
        return bits >> 63 != 0 ? ~bits : bits | std::uint64_t(1) << 63;
    } else if constexpr (std::is_signed_v<Value>) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ std::uint64_t(1) << 63;
    } else {
        return value;
    }
}
template <auto kMember>
SortKey sort_key() {
    using Layout = FieldLayout<kMember>;
    SortKey key{.column = Layout::kFirstColumn, .stride = Layout::column_bytes(0)};
    key.of = [](const std::byte* bytes) {
        ValueOf<kMember> value;
        copy_bytes(&value, bytes, sizeof value);
        return rank_of(value);
    };
    if constexpr (Layout::kLayout == ColumnLayout::kWhole)
        key.offset = static_cast<std::uint32_t>(Layout::struct_offset());
    return key;
}

template <class Term>
constexpr std::size_t num_plan_terms() {
    if constexpr (Term::kIsAny)
        return Term::kNumComponents;
    else
        return Term::kIsOfParent ? 2 : 1;  // one more for the link
}

/// Converts a store to a PlanStore.
template <class T>
PlanStore plan_store(Manager<T>& manager) {
    return {&manager.core(), &manager.core().rows()};
}
template <class Database>
PlanStore plan_store(Database& database) {
    return {&database, nullptr};
}

/// Plans a query over stores: a directory, or a database and managers.
template <class List>
struct TypedPlan;
template <class... Terms>
struct TypedPlan<TermList<Terms...>> {
    static constexpr std::size_t kNumTerms = (0 + ... + num_plan_terms<Terms>());

    template <class... Stores>
    static QueryPlan make(Stores&... stores) {
        PlanTerm terms[kNumTerms + 1], *to = terms;
        [[maybe_unused]] std::uint16_t number = 0;
        constexpr bool kIsEachValue = kVisitsEachValue<Terms...>;
        (add_plan_terms<Terms>(terms, to, number++, kIsEachValue && kIsOfValues<Terms, Terms...>), ...);
        if constexpr ((std::is_same_v<Stores, ComponentDirectory> || ...)) {
            return QueryPlan(stores..., {terms, kNumTerms});
        } else {
            const PlanStore given[] = {plan_store(stores)...};
            return QueryPlan(std::span<const PlanStore>(given), {terms, kNumTerms});
        }
    }
};

}  // namespace shoal::detail
