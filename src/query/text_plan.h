#pragma once
// What a text query consists of once its text was read.

#include "shoal/database/match.h"
#include "shoal/query/detail/term_stores.h"
#include "shoal/query/text_query.h"

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
    explicit Plan(std::size_t num_terms) : places(num_terms) {}
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
    ~Plan() { delete further; }

    detail::TermStores places;                            // its first terms are the components, in order
    Array<TextComponent> components{Owner("query")};      // that are shown
    Array<ComponentType> types{Owner("query")};           // by component; none unless the database has it
    Array<TextComparison> comparisons{Owner("query")};    // all must hold
    Array<TextComparison> of_singletons{Owner("query")};  // the same, about components of which there is one
    Array<OwnedRows*> singletons{Owner("query")};         // by component; nullptr: it is no singleton
    Array<Access> accesses{Owner("query")};               // by component, and of the links to parents
    Array<OwnedRows*> locked{Owner("query")};             // while a loop runs
    mutable Array<DatabaseMatch> match{Owner("query")};   // one, if a component is of the database
    Plan* further = nullptr;  // of the values of a `many` type of the database that are not the first of their entities
};

}  // namespace shoal
