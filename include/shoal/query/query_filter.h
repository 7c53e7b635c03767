#pragma once
// Which tables and rows of a database the terms of a query choose: tables by what archetypes have, rows by the bits
// of toggled component types. See query_database.h.
// Thread: as for the query.

#include "shoal/query/query_tables.h"
#include "shoal/query/query_terms.h"

namespace shoal::detail {

/// Whether rows are visited only where the term's component type is on, or only where it is off.
template <class Term>
constexpr bool requires_component() {
    if constexpr (Term::kIsField)
        return !Term::kIsOptional;
    else
        return !Term::kExcludes;
}
template <class Term>
constexpr bool excludes_component() {
    if constexpr (Term::kIsField)
        return false;
    else
        return Term::kExcludes;
}
template <class Term>
inline constexpr bool kRequiresToggled = requires_component<Term>() && kIsToggled<typename Term::Component>;
template <class Term>
inline constexpr bool kExcludesToggled = excludes_component<Term>() && kIsToggled<typename Term::Component>;

/// Whether writes to the term's field count for changed_since().
template <class Term>
constexpr bool is_watched() {
    if constexpr (Term::kIsField)
        return !Term::kWrites && !Term::kGathers;
    else
        return false;
}

/// Which rows of a table are on, by the toggled component types that they must have and must not have.
template <std::size_t kNumRequired, std::size_t kNumExcluded>
class RowBits {
public:
    static constexpr bool kChooses = kNumRequired + kNumExcluded > 0;

    RowBits(const DatabaseTable& table, const ComponentType* required, const ComponentType* excluded) {
        for (std::size_t i = 0; i < kNumRequired; ++i) on_[i] = table.presence(required[i]);
        for (std::size_t i = 0; i < kNumExcluded; ++i) off_[i] = table.presence(excluded[i]);
    }
    /// Rows 64 * index to 64 * index + 63. Bits past the last row are arbitrary.
    SHOAL_INLINE std::uint64_t word(std::uint32_t index) const {
        std::uint64_t bits = ~std::uint64_t(0);
        for (std::size_t i = 0; i < kNumRequired; ++i) bits &= on_[i][index];
        for (std::size_t i = 0; i < kNumExcluded; ++i)
            if (off_[i] != nullptr) bits &= ~off_[i][index];
        return bits;
    }

private:
    const std::uint64_t* on_[kNumRequired + 1] = {};
    const std::uint64_t* off_[kNumExcluded + 1] = {};  // nullptr: the table's archetype lacks it
};

/// Makes RowBits for tables. Toggled component types rule out rows, not tables.
template <class List>
class RowFilter;

template <class... Terms>
class RowFilter<TermList<Terms...>> {
public:
    static constexpr std::size_t kNumRequired = (0 + ... + (kRequiresToggled<Terms> ? 1 : 0));
    static constexpr std::size_t kNumExcluded = (0 + ... + (kExcludesToggled<Terms> ? 1 : 0));
    using Bits = RowBits<kNumRequired, kNumExcluded>;

    explicit RowFilter(Database& database) {
        std::size_t num_required = 0, num_excluded = 0;
        const auto add = [&]<class Term>(std::type_identity<Term>) {
            if constexpr (kRequiresToggled<Term>)
                required_[num_required++] = database.component<typename Term::Component>();
            if constexpr (kExcludesToggled<Term>)
                excluded_[num_excluded++] = database.component<typename Term::Component>();
        };
        static_cast<void>(add), static_cast<void>(database);
        (add(std::type_identity<Terms>()), ...);
    }
    SHOAL_INLINE Bits bits(const DatabaseTable& table) const { return Bits(table, required_, excluded_); }

private:
    ComponentType required_[kNumRequired + 1], excluded_[kNumExcluded + 1];
};

/// The tables whose archetypes have what `Terms` require and lack what they exclude.
template <class... Terms>
QueryTables make_tables(Database& database, TermList<Terms...>) {
    ComponentType with[sizeof...(Terms) + 1], without[sizeof...(Terms) + 1];
    WatchedColumns watched[sizeof...(Terms) + 1];
    std::size_t num_with = 0, num_without = 0, num_watched = 0;
    const auto add = [&]<class Term>(std::type_identity<Term>) {
        if constexpr (requires_component<Term>()) with[num_with++] = database.component<typename Term::Component>();
        if constexpr (excludes_component<Term>())
            without[num_without++] = database.component<typename Term::Component>();
        if constexpr (is_watched<Term>()) {
            using Place = FieldPlace<Term::kMember>;
            watched[num_watched++] = {database.component<typename Term::Component>(), Place::kFirstColumn,
                                      Place::kNumColumns};
        }
    };
    static_cast<void>(add), static_cast<void>(database);
    (add(std::type_identity<Terms>()), ...);
    return QueryTables(database, {with, num_with}, {without, num_without}, {watched, num_watched});
}

}  // namespace shoal::detail
