#pragma once
// What a query knows of a database: the tables whose archetypes have what the terms require, the rows of them that
// enableable component types leave enabled, and where the columns of the fields are.
//
// The database's own types are named through Later, so that a query over managers compiles without their headers.
// Thread: as for the query.

#include "shoal/query/detail/row_loop.h"
#include "shoal/query/detail/started_query.h"
#include "shoal/store/zone.h"

namespace shoal {

class DatabaseLock;
class DatabaseMatch;
struct ComponentType;

}  // namespace shoal

namespace shoal::detail {

/// What a table says of a component that its archetype lacks.
inline constexpr std::uint32_t kLacksColumns = 0xFFFF;

template <class Term>
inline constexpr bool kRequiresBit = requires_component<Term>() && kCanBeDisabled<typename Term::Component>;
template <class Term>
inline constexpr bool kExcludesBit = excludes_component<Term>() && kCanBeDisabled<typename Term::Component>;

/// Which rows of a table are chosen by the enableable component types that they must have and must not have.
/// `kMayLack`: perhaps fewer than these, because other stores have some of the component types.
template <std::size_t kNumRequired, std::size_t kNumExcluded, bool kMayLack = false>
class RowBits {
public:
    static constexpr bool kChooses = kNumRequired + kNumExcluded > 0;

    RowBits() = default;
    template <class Table, class ComponentType>
    RowBits(const Table& table, const ComponentType* required, const ComponentType* excluded) {
        for (std::size_t i = 0; i < kNumRequired; ++i)
            if (!kMayLack || required[i]) required_bits_[i] = table.presence(required[i]);
        for (std::size_t i = 0; i < kNumExcluded; ++i)
            if (!kMayLack || excluded[i]) excluded_bits_[i] = table.presence(excluded[i]);
    }
    /// Rows 64 * index to 64 * index + 63. Bits past the last row are arbitrary.
    SHOAL_INLINE std::uint64_t word(std::uint32_t index) const {
        std::uint64_t bits = ~std::uint64_t(0);
        for (std::size_t i = 0; i < kNumRequired; ++i)
            if (!kMayLack || required_bits_[i] != nullptr) bits &= required_bits_[i][index];
        for (std::size_t i = 0; i < kNumExcluded; ++i)
            if (excluded_bits_[i] != nullptr) bits &= ~excluded_bits_[i][index];
        return bits;
    }
    SHOAL_INLINE bool is_on(std::uint32_t row) const { return !kChooses || (word(row / 64) >> (row % 64) & 1) != 0; }

private:
    const std::uint64_t* required_bits_[kNumRequired + 1] = {};
    const std::uint64_t* excluded_bits_[kNumExcluded + 1] = {};  // nullptr: the table's archetype lacks it
};

template <class Stores, class Terms, class Fields>
class DatabaseSide;

template <class Stores, class... Terms, class... Fields>
class DatabaseSide<Stores, TermList<Terms...>, TermList<Fields...>> {
    using Database = typename Later<Stores, shoal::Database>::Type;
    using DatabaseTable = typename Later<Stores, shoal::DatabaseTable>::Type;
    using DatabaseMatch = typename Later<Stores, shoal::DatabaseMatch>::Type;
    using ComponentType = typename Later<Stores, shoal::ComponentType>::Type;
    using List = StoreList<Stores>;
    using Loop = QueryLoop<Fields...>;
    template <class Term>
    static constexpr bool kIsHere = List::template kIsOfDatabase<Term>;

    static constexpr std::size_t kNumFields = sizeof...(Fields);
    static constexpr std::size_t kNumRequired = (0 + ... + (kIsHere<Terms> && kRequiresBit<Terms> ? 1 : 0));
    static constexpr std::size_t kNumExcluded = (0 + ... + (kIsHere<Terms> && kExcludesBit<Terms> ? 1 : 0));

public:
    using Lock = typename Later<Stores, DatabaseLock>::Type;
    using Bits = RowBits<kNumRequired, kNumExcluded, std::is_same_v<Stores, From<ComponentDirectory>>>;

    explicit DatabaseSide(Database& database) : DatabaseSide(database, [](const Schema&) { return true; }) {}
    /// For those of the terms for whose components is_here(schema) is true.
    template <class IsHere>
        requires std::is_invocable_v<IsHere&, const Schema&>
    DatabaseSide(Database& database, IsHere&& is_here) : DatabaseSide(database, Chosen(database, is_here)) {}

    Database& database() const { return *database_; }
    /// Which tables match, and which of their rows. Requires: refreshed.
    const DatabaseMatch& match() const { return match_; }
    /// nullptr: in all zones.
    const ZoneSet* zones() const { return in_zones_ ? &zones_ : nullptr; }
    void set_zones(const ZoneSet& zones) {
        zones_ = zones;
        in_zones_ = true;
    }

    /// Takes in what has changed since the last call: tables that came or went, archetypes that have formed.
    SHOAL_INLINE void refresh() const {
        match_.refresh();
        if (SHOAL_UNLIKELY(in_zones_)) database_->note_visit(zones_);
        const std::size_t num_types = database_->num_archetypes();
        if (kNumFields != 0 && SHOAL_UNLIKELY(first_columns_.size() != num_types * kNumFields)) note_types();
    }
    /// Calls visit(table) for each table, in an order that depends on the tables only. Requires: refreshed.
    template <class Visit>
    SHOAL_INLINE void for_each_table(Visit&& visit) const {
        if (SHOAL_UNLIKELY(in_zones_))
            match_.for_each_table(zones_, visit);
        else
            match_.for_each_table(visit);
    }
    /// Rows of the tables, whatever their bits say.
    std::uint64_t num_rows() const {
        match_.refresh();
        return in_zones_ ? match_.num_rows(zones_) : match_.num_rows();
    }
    SHOAL_INLINE Bits bits(const DatabaseTable& table) const { return Bits(table, required_, excluded_); }

    /// Whether an entity has the component of a Maybe field.
    bool has_field(const DatabaseTable& table, std::size_t field, std::uint32_t row) const {
        return table.has(components_[field], row);
    }
    /// The bits of a Maybe field's component in a table; nullptr when all rows have it, or none.
    const std::uint64_t* presence(const DatabaseTable& table, std::size_t field) const {
        return table.presence(components_[field]);
    }
    /// The first column of a field's component in a table; kLacksColumns.
    SHOAL_INLINE std::uint32_t first_column(const DatabaseTable& table, std::size_t field) const {
        return first_columns_[table.type_number() * kNumFields + field];
    }
    /// Writes where a field's columns begin to `lanes`; nullptr for a Maybe field that the table lacks.
    template <class Field>
    SHOAL_INLINE void collect(DatabaseTable& table, std::size_t field, std::byte** lanes) const {
        const std::uint32_t first = first_column(table, field);
        if (!Field::kIsOptional || first != kLacksColumns)
            Loop::template collect<Field>(table.table(), first, lanes);
        else
            for (std::uint32_t c = 0; c < FieldLayout<Field::kMember>::kNumColumns; ++c) lanes[c] = nullptr;
    }

private:
    /// The component types that decide which tables match.
    struct Chosen {
        template <class IsHere>
        Chosen(Database& database, IsHere&& is_here) {
            [[maybe_unused]] const auto choose = [&]<class Term>(auto&& add) {
                if (is_here(schema_of<typename Term::Component>())) add();
            };
            [[maybe_unused]] std::size_t field = 0;
            ((choose.template operator()<Fields>([&] { add_field<Fields>(database, field); }), ++field), ...);
            (choose.template operator()<Terms>([&] { add<Terms>(database); }), ...);
        }
        template <class Field>
        void add_field([[maybe_unused]] Database& database, [[maybe_unused]] std::size_t field) {
            if constexpr (List::template kHasColumnsInDatabase<Field>)
                fields[field] = database.template component<typename Field::Component>();
        }
        template <class Term>
        void add([[maybe_unused]] Database& database) {
            if constexpr (kIsHere<Term> && requires_component<Term>()) {
                required[num_required++] = database.template component<typename Term::Component>();
                if constexpr (kRequiresBit<Term>) bits_required[num_bits_required++] = required[num_required - 1];
            }
            if constexpr (kIsHere<Term> && excludes_component<Term>()) {
                excluded[num_excluded++] = database.template component<typename Term::Component>();
                if constexpr (kExcludesBit<Term>) bits_excluded[num_bits_excluded++] = excluded[num_excluded - 1];
            }
        }

        ComponentType fields[kNumFields + 1];  // none when a manager has it
        ComponentType required[sizeof...(Terms) + 1], excluded[sizeof...(Terms) + 1];
        ComponentType bits_required[kNumRequired + 1], bits_excluded[kNumExcluded + 1];
        std::size_t num_required = 0, num_excluded = 0, num_bits_required = 0, num_bits_excluded = 0;
    };
    DatabaseSide(Database& database, const Chosen& chosen)
        : database_(&database),
          match_(database, {chosen.required, chosen.num_required}, {chosen.excluded, chosen.num_excluded}) {
        for (std::size_t i = 0; i < kNumRequired; ++i) required_[i] = chosen.bits_required[i];
        for (std::size_t i = 0; i < kNumExcluded; ++i) excluded_[i] = chosen.bits_excluded[i];
        for (std::size_t i = 0; i < kNumFields; ++i) components_[i] = chosen.fields[i];
    }

    SHOAL_NOINLINE void note_types() const {
        const auto types = database_->archetypes();
        constexpr std::size_t kWidth = kNumFields == 0 ? 1 : kNumFields;
        for (std::size_t type = first_columns_.size() / kWidth; type < types.size(); ++type)
            for (std::size_t field = 0; field < kNumFields; ++field)
                first_columns_.push_back(static_cast<std::uint16_t>(types[type]->first_column(components_[field])));
    }

    Database* database_;
    mutable DatabaseMatch match_;  // refreshed by the first loop after a table came or went
    // [archetype][field]; of a manager's fields: any. Here, so that a loop over many tables need not ask archetypes.
    mutable Array<std::uint16_t> first_columns_{Owner("query")};
    ComponentType components_[kNumFields + 1];  // by field; none when a manager has it
    ComponentType required_[kNumRequired + 1], excluded_[kNumExcluded + 1];
    ZoneSet zones_;
    bool in_zones_ = false;
};

}  // namespace shoal::detail
