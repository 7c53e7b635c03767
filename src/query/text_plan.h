#pragma once
// The parsed form of a text query.

#include "shoal/query/detail/query_plan.h"
#include "shoal/query/text_query.h"

#include <optional>

namespace shoal {

/// The possible orders of two values; a comparison holds for some of them.
enum : std::uint8_t { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

/// Compares a part of a field with a value of its type.
struct TextComparison {
    std::size_t component = 0;  ///< index in the query's components
    FieldPart part;
    std::uint8_t holds_for = 0;
    AnyValue value;
};

struct TextQuery::Plan {
    static constexpr std::size_t kNoField = ~std::size_t(0);

    std::optional<detail::QueryPlan> rows;                // finds the rows; its fields are the components
    Array<TextComponent> components{Owner("query")};      // the shown components
    Array<std::size_t> fields{Owner("query")};            // each component's field in `rows`; kNoField: a singleton
    Array<TextComparison> comparisons{Owner("query")};    // all must hold
    Array<TextComparison> of_singletons{Owner("query")};  // comparisons with singletons, which must all hold
    Array<OwnedRows*> singletons{Owner("query")};         // for each component; nullptr: it is not a singleton
    Array<Access> accesses{Owner("query")};
};

}  // namespace shoal
