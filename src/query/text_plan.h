#pragma once
// What a text query consists of once its text was read.

#include "shoal/query/detail/query_plan.h"
#include "shoal/query/text_query.h"

#include <optional>

namespace shoal {

/// What `a` may be to `b`; a comparison holds for some of them.
enum : std::uint8_t { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

/// A part of a field against a value of its type.
struct TextComparison {
    std::size_t component = 0;  ///< among those of the query
    FieldPart part;
    std::uint8_t holds_for = 0;
    AnyValue value;
};

struct TextQuery::Plan {
    static constexpr std::size_t kNoField = ~std::size_t(0);

    std::optional<detail::QueryPlan> rows;                // where they are found; its fields are the components
    Array<TextComponent> components{Owner("query")};      // that are shown
    Array<std::size_t> fields{Owner("query")};            // by component: its number there; kNoField: a singleton
    Array<TextComparison> comparisons{Owner("query")};    // all must hold
    Array<TextComparison> of_singletons{Owner("query")};  // the same, about components of which there is one
    Array<OwnedRows*> singletons{Owner("query")};         // by component; nullptr: it is no singleton
    Array<Access> accesses{Owner("query")};
};

}  // namespace shoal
