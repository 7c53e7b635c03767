#pragma once
// Rows that move between listed archetypes. What a row consists of is a constant here, so that copying it is a dozen
// instructions in the loop that asks for it, instead of a call that goes through lists of columns.
//
//     Has<Position, Velocity>  --add Mass-->  Has<Position, Velocity, Mass>      kept: two columns of 12 bytes
//
// Thread: that of the database.

#include "shoal/database/row_move.h"

namespace shoal {

/// An archetype, by its component types in any order. Enableable ones belong to it, enabled or disabled.
template <DescribedComponent... Ts>
struct Has {};

/// All archetypes of a program.
template <class... Types>
struct Archetypes {};

namespace detail {

template <class List>
inline constexpr bool kNamesEachOnce = false;
template <class... Ts>
inline constexpr bool kNamesEachOnce<Has<Ts...>> = kDiffer<Ts...>;

template <class T, class List>
inline constexpr bool kLists = false;
template <class T, class... Ts>
inline constexpr bool kLists<T, Has<Ts...>> = (std::is_same_v<T, Ts> || ...);

/// Whether a listed archetype has all of these component types, and whether it has no others.
template <class List, class... Ts>
inline constexpr bool kListsAll = (kLists<Ts, List> && ...);
template <class List, class... Ts>
inline constexpr bool kListsOnly = false;
template <class... Listed, class... Ts>
inline constexpr bool kListsOnly<Has<Listed...>, Ts...> = (kLists<Listed, Has<Ts...>> && ...);

/// How many columns there are of each size that rows are moved in; in a path they stand in this order.
struct ColumnCounts {
    std::size_t of_4 = 0, of_8 = 0, of_12 = 0, of_16 = 0;
    bool is_plain = true;  // there are no others

    constexpr void add(std::size_t bytes) {
        ++(bytes == 4 ? of_4 : bytes == 8 ? of_8 : bytes == 12 ? of_12 : of_16);
        is_plain = is_plain && (bytes == 4 || bytes == 8 || bytes == 12 || bytes == 16);
    }
    constexpr std::size_t all() const { return of_4 + of_8 + of_12 + of_16; }
};

template <class T>
constexpr void count_columns(ColumnCounts& counts) {
    counts.is_plain = counts.is_plain && !kHasOpaque<T> && !kIsEnableable<T>;
    if constexpr (DescriptionOf<T>::kWhole && DescriptionOf<T>::kNumFields != 0)
        counts.add(sizeof(T));
    else if constexpr (!DescriptionOf<T>::kWhole)
        DescriptionOf<T>::for_each_field([&]<auto kMember, std::uint32_t, bool kSplit>() {
            const std::size_t num_lanes = kSplit ? kLanesOf<ValueOf<kMember>> : 1;
            for (std::size_t lane = 0; lane < num_lanes; ++lane) counts.add(sizeof(ValueOf<kMember>) / num_lanes);
        });
}

/// The step from an archetype to the one with some more component types, or some less.
template <bool kAdds, class From, class... Ts>
struct TypedStep;
template <bool kAdds, class... Us, class... Ts>
struct TypedStep<kAdds, Has<Us...>, Ts...> {
    /// Whether a row moves, and its columns can be moved by their sizes alone.
    static constexpr bool kIsPlain = [] {
        ColumnCounts counts;
        (count_columns<Us>(counts), ...);
        (count_columns<Ts>(counts), ...);
        const bool moves = kAdds ? !(kLists<Ts, Has<Us...>> && ...) : (kLists<Ts, Has<Us...>> || ...);
        return counts.is_plain && moves;
    }();
    /// Whether `To` is where it leads.
    template <class To>
    static constexpr bool kLeadsTo =
        kAdds ? kListsAll<To, Us..., Ts...> && kListsOnly<To, Us..., Ts...>
              : ((kLists<Us, To> != kLists<Us, Has<Ts...>>) && ...) && kListsOnly<To, Us...>;

    static constexpr ColumnCounts kKept = [] {
        ColumnCounts result;
        ((kAdds || !kLists<Us, Has<Ts...>> ? count_columns<Us>(result) : void()), ...);
        return result;
    }();
    static constexpr ColumnCounts kLost = [] {
        ColumnCounts result;
        ((!kAdds && kLists<Us, Has<Ts...>> ? count_columns<Us>(result) : void()), ...);
        return result;
    }();

    SHOAL_INLINE static void copy(const RowPath& path, std::size_t row, std::size_t last, std::size_t to_row) {
        [[maybe_unused]] constexpr std::size_t kNumColumns = kKept.all() + kLost.all();
        SHOAL_CHECK(path.columns().size() == kNumColumns, "the columns are not those of the listed archetype");
        const RowPath::Column* column = path.columns().data();
        for_each_size<kKept>([&]<std::size_t kBytes>() SHOAL_INLINED {
            copy_element<kBytes>(column->to + to_row * kBytes, column->from + row * kBytes);
            copy_element<kBytes>(column->from + row * kBytes, column->from + last * kBytes);
            ++column;
        });
        for_each_size<kLost>([&]<std::size_t kBytes>() SHOAL_INLINED {
            copy_element<kBytes>(column->from + row * kBytes, column->from + last * kBytes);
            ++column;
        });
    }

private:
    template <std::size_t kBytes, std::size_t... kIndices, class Visit>
    SHOAL_INLINE static void repeat(std::index_sequence<kIndices...>, Visit&& visit) {
        ((static_cast<void>(kIndices), visit.template operator()<kBytes>()), ...);
    }
    template <const ColumnCounts& kCounts, class Visit>
    SHOAL_INLINE static void for_each_size(Visit&& visit) {
        repeat<4>(std::make_index_sequence<kCounts.of_4>(), visit);
        repeat<8>(std::make_index_sequence<kCounts.of_8>(), visit);
        repeat<12>(std::make_index_sequence<kCounts.of_12>(), visit);
        repeat<16>(std::make_index_sequence<kCounts.of_16>(), visit);
    }
};

/// Moves the row of an entity if that leads from one of `Types` to another; `numbers` are theirs, in order.
template <bool kAdds, class... Ts, class... Types>
SHOAL_INLINE MovedRow move_listed(Database& database, Entity entity, TypedKey key, const std::uint32_t* numbers,
                                  Archetypes<Types...>) {
    const RowMove move = RowMove::find<kAdds>(database, entity, key);
    MovedRow moved;
    if (SHOAL_UNLIKELY(!move)) return moved;
    const auto try_type = [&]<class From>(std::uint32_t number) SHOAL_INLINED {
        using Step = TypedStep<kAdds, From, Ts...>;
        if constexpr (Step::kIsPlain && (Step::template kLeadsTo<Types> || ...)) {
            if (move.type_number() != number) return false;
            moved = move.make(database, entity,
                              [entity](const RowPath& path, Table& from, Table& to, std::uint32_t at) SHOAL_INLINED {
                                  return path.take(from, to, at, entity,
                                                   [&path](std::size_t row, std::size_t last, std::size_t to_row)
                                                       SHOAL_INLINED { Step::copy(path, row, last, to_row); });
                              });
            return true;
        } else {
            return false;
        }
    };
    (try_type.template operator()<Types>(*numbers++) || ...);
    return moved;
}

}  // namespace detail
}  // namespace shoal
