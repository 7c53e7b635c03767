#pragma once
// The loop that all queries share. It calls a function for the rows of one table; their fields are in columns
// ("lanes").
//
//     words of bits    1111...1 | 0110...1 | 0000...0        rows that are chosen, where some are not
//                       plain     one by     skipped         all 64 rows of a word, as of a loop without bits
//                       loop      one, or
//                                 blended                    see blend() in terms.h
//
// Thread: any number of loops may run in parallel if their rows do not overlap.

#include "shoal/base/detail/bits.h"
#include "shoal/base/detail/row_range.h"
#include "shoal/command/detail/loop_scope.h"
#include "shoal/query/detail/blended_values.h"
#include "shoal/query/detail/query_plan.h"

namespace shoal::detail {

template <std::size_t>
using LanePointer = std::byte*;

/// For loops over a run in which all fields of an entity are in the entity's own row.
struct SameRows {
    static constexpr bool kChooses = false, kMayBlend = false;
    const Entity* owners;
    std::size_t num_rows;

    template <std::size_t kField>
    SHOAL_INLINE std::uint32_t row(std::uint32_t owner_row) const {
        return owner_row;
    }
    template <std::size_t kField>
    std::size_t size() const {
        return num_rows;
    }
};

/// For runs in which rows may be disabled (if `kMayChoose` is true) or may lack some of the fields.
template <bool kMayChoose, class... Fields>
struct SomeRows : SameRows {
    static constexpr bool kChooses = kMayChoose, kMayBlend = true;
    static constexpr bool kIsOptional[sizeof...(Fields) + 1] = {Fields::kIsOptional..., false};
    static constexpr bool kIsOfParent[sizeof...(Fields) + 1] = {Fields::kIsOfParent..., false};
    static constexpr bool kMayBeDisabled[sizeof...(Fields) + 1] = {kCanBeDisabled<typename Fields::Component>...,
                                                                   false};

    explicit SomeRows(const FoundRows& found) : SameRows{found.owners, found.rows.end}, bits_(found.bits) {
        if constexpr ((Fields::kIsOptional || ...))
            for (std::size_t field = 0; field < sizeof...(Fields); ++field) {
                tables_[field] = found.fields[field].table;
                enabled_[field] = found.fields[field].enabled;
                lists_[field] = found.fields[field].rows;
                looks_up_[field] = found.fields[field].index != nullptr;
                if (looks_up_[field]) entries_[field] = found.fields[field].index->entries();
            }
    }
    SHOAL_INLINE std::uint64_t word(std::uint32_t index) const {
        return bits_ == nullptr ? ~std::uint64_t(0) : bits_->word(index);
    }
    template <std::size_t kField>
    SHOAL_INLINE std::uint32_t row(std::uint32_t owner_row) const {
        if constexpr (kIsOfParent[kField]) {
            return lists_[kField][owner_row];
        } else if constexpr (kIsOptional[kField]) {
            if (looks_up_[kField]) return RowIndex::find_in(entries_[kField], owners[owner_row]);
            if (tables_[kField] == nullptr) return kNilRow;
            if constexpr (kMayBeDisabled[kField])
                if (enabled_[kField] != nullptr && !test_bit(enabled_[kField], owner_row)) return kNilRow;
        }
        return owner_row;
    }

    template <std::size_t kField>
    std::size_t size() const {
        if constexpr (kIsOptional[kField])
            return tables_[kField] == nullptr ? 0 : tables_[kField]->num_rows();
        else
            return num_rows;
    }

private:
    const RowBits* bits_;
    const Table* tables_[sizeof...(Fields) + 1] = {};
    std::span<const EntityBits> entries_[sizeof...(Fields) + 1] = {};  // for fields that are looked up
    bool looks_up_[sizeof...(Fields) + 1] = {};
    const std::uint32_t* lists_[sizeof...(Fields) + 1] = {};  // for related entities
    const std::uint64_t* enabled_[sizeof...(Fields) + 1] = {};
};

/// For loops over a join's block, which has a list of rows for each field.
template <class... Fields>
struct RowsOfBlock {
    static constexpr bool kChooses = true, kMayBlend = false;
    const Entity* owners;

    explicit RowsOfBlock(const FoundRows& found) : owners(found.owners), found_(found) {
        for (std::size_t field = 0; field < sizeof...(Fields); ++field) rows_[field] = found.fields[field].rows;
    }
    SHOAL_INLINE std::uint64_t word(std::uint32_t index) const { return found_.words[index - found_.rows.begin / 64]; }
    template <std::size_t kField>
    SHOAL_INLINE std::uint32_t row(std::uint32_t owner_row) const {
        return rows_[kField][owner_row - found_.rows.begin];
    }
    template <std::size_t kField>
    std::size_t size() const {
        const FieldColumns& columns = found_.fields[kField];
        return columns.table != nullptr ? columns.table->num_rows() : columns.values != nullptr ? found_.rows.end : 0;
    }

private:
    const FoundRows& found_;
    const std::uint32_t* rows_[sizeof...(Fields) + 1] = {};
};

template <class... Fields>
class QueryLoop {
public:
    static constexpr std::size_t kNumFields = sizeof...(Fields);
    static constexpr std::size_t kNumLanes = (0 + ... + LayoutOf<Fields>::kNumColumns);
    using FieldIndices = std::make_index_sequence<kNumFields>;
    struct Lanes {
        std::byte* data[kNumLanes == 0 ? 1 : kNumLanes] = {};
    };

    template <class Field>
    using Argument = typename ArgumentOf<Field>::Type;
    template <class Function>
    static constexpr bool kTakesEntity = Callable<Function, Entity, Argument<Fields>...>;
    template <class Function>
    static constexpr bool kFitsAlone = kTakesEntity<Function> || Callable<Function, Argument<Fields>...>;
    /// Whether the function takes a Commands& before these arguments.
    template <class Function>
    static constexpr bool kTakesCommands =
        !kFitsAlone<Function> && kFitsAlone<WithFirst<std::remove_reference_t<Function>, Commands>>;
    template <class Function>
    static constexpr bool kFits = kFitsAlone<Function> || kTakesCommands<Function>;

    /// Returns the addresses of the fields' values in row `row` of the found rows. Always inlined because g++ 12.2 -O3
    /// otherwise assumes, in a large source file, that the lanes are still null; -fno-ipa-modref also avoids this.
    template <bool kMayJoin>
    SHOAL_INLINE static Lanes collect(const FoundRows& found, std::uint32_t row = 0) {
        Lanes lanes;
        [[maybe_unused]] std::size_t field = 0;
        if constexpr (!(Fields::kIsOptional || ...)) {
            if (!kMayJoin || found.columns != nullptr) {
                ((collect_columns<Fields>(*found.table, found.columns[field], row, lanes.data + first_lane(field)),
                  ++field),
                 ...);
                return lanes;
            }
        }
        if constexpr (kMayJoin || (Fields::kIsOptional || ...))
            ((collect_field<Fields>(found.fields[field], row, lanes.data + first_lane(field)), ++field), ...);
        return lanes;
    }

    /// Calls `function` for the rows that `lookup` chooses.
    template <class Function, class RowLookup>
    static void run(const RowLookup& lookup, Function& function, RowRange rows, const Lanes& lanes) {
        expand(lookup, function, rows, lanes, std::make_index_sequence<kNumLanes>());
    }

    /// The first lane of a field.
    static constexpr std::size_t first_lane(std::size_t field) {
        const std::size_t counts[] = {LayoutOf<Fields>::kNumColumns..., 0};
        std::size_t lane = 0;
        for (std::size_t i = 0; i < field; ++i) lane += counts[i];
        return lane;
    }

private:
    template <class Field>
    SHOAL_INLINE static void collect_field(const FieldColumns& columns, std::uint32_t row, std::byte** lanes) {
        if (Field::kIsOptional && columns.table == nullptr) return;
        const std::uint32_t first_row = columns.first_row + row;  // may wrap; see FieldColumns::first_row
        if constexpr (Field::kIsRemoved) {                        // the function gets the component as const
            lanes[0] =
                const_cast<std::byte*>(columns.values) + std::size_t(first_row) * LayoutOf<Field>::column_bytes(0);
            return;
        }
        collect_columns<Field>(*columns.table, columns.first_column, first_row, lanes);
    }
    template <class Field>
    SHOAL_INLINE static void collect_columns(Table& table, std::uint32_t first_column, std::size_t first_row,
                                             std::byte** lanes) {
        using Layout = LayoutOf<Field>;
        for (std::uint32_t c = 0; c < Layout::kNumColumns; ++c) {
            lanes[c] = table.unmarked_column(first_column + Layout::kFirstColumn + c);
            if (lanes[c] == nullptr) continue;  // the table has never held a row
            lanes[c] += first_row * Layout::column_bytes(c);
            if constexpr (Layout::kLayout == ColumnLayout::kWhole) lanes[c] += Layout::struct_offset();
        }
    }

    template <class Function, class RowLookup, std::size_t... kLanes>
    static void expand(const RowLookup& lookup, Function& function, RowRange rows, const Lanes& lanes,
                       std::index_sequence<kLanes...>) {
        run_lanes<Function, RowLookup, kLanes...>(lookup, function, rows, lanes.data[kLanes]...);
    }

    // The lanes are restrict-qualified parameters: if they were members or locals, the loop would not vectorise.
    template <class Function, class RowLookup, std::size_t... kLanes>
    static __attribute__((noinline)) void run_lanes(const RowLookup& lookup, Function& function, RowRange rows,
                                                    LanePointer<kLanes> __restrict... lane) {
        std::byte* const lanes[] = {lane..., nullptr};
        if constexpr (kHasOwnOfRange<Function>)
            function.with_own_of_range([&](auto& own)
                                           SHOAL_INLINED { run_views(lookup, own, rows, lanes, FieldIndices()); });
        else
            run_views(lookup, function, rows, lanes, FieldIndices());
    }

    template <class Function, class RowLookup, std::size_t... kFields>
    SHOAL_INLINE static void run_views(const RowLookup& lookup, Function& function, RowRange rows,
                                       std::byte* const* lanes, std::index_sequence<kFields...>) {
        run_rows(lookup, function, rows, view<Fields>(lanes + first_lane(kFields), lookup.template size<kFields>())...);
    }

    template <class Function, class RowLookup, class... Views>
    SHOAL_INLINE static void run_rows(const RowLookup& lookup, Function& function, RowRange rows,
                                      const Views&... views) {
        if constexpr (RowLookup::kChooses)
            run_chosen(lookup, function, rows, views...);
        else  // 64 bits: the compiled loop then increments only an address
            for (std::size_t row = rows.begin; row < rows.end; ++row)
                call(function, lookup, static_cast<std::uint32_t>(row), FieldIndices(), views...);
    }

    template <class Field>
    SHOAL_INLINE static ViewOf<Field> view(std::byte* const* lanes, std::size_t num_rows) {
        using Value = std::conditional_t<Field::kWrites, ValueOf<Field::kMember>, const ValueOf<Field::kMember>>;
        if constexpr (Field::kIsRemoved)
            return {lanes[0], sizeof(Value), num_rows};
        else
            return make_column<Field::kMember, Value>(
                [&](std::uint32_t c) { return lanes[c - LayoutOf<Field>::kFirstColumn]; }, 0, num_rows);
    }

    template <class Function, class RowLookup, class... Views>
    SHOAL_INLINE static void run_chosen(const RowLookup& lookup, Function& function, RowRange rows,
                                        const Views&... views) {
        for (std::uint32_t begin = rows.begin; begin < rows.end;) {
            const std::uint32_t first = begin / 64 * 64;
            std::uint32_t end = rows.end - first < 64 ? rows.end : first + 64;
            std::uint64_t bits = lookup.word(first / 64);
            if (bits == ~std::uint64_t(0)) {
                // Consecutive full words are visited in one loop.
                while (end != rows.end && lookup.word(end / 64) == ~std::uint64_t(0))
                    end = rows.end - end < 64 ? rows.end : end + 64;
                for (std::size_t row = begin; row < end; ++row)
                    call(function, lookup, static_cast<std::uint32_t>(row), FieldIndices(), views...);
            } else if (kBlends<Function> && RowLookup::kMayBlend && end - begin == 64) {
                blend_word(lookup, function, first, bits, views...);
            } else {
                if (end - first < 64) bits &= (std::uint64_t(1) << (end - first)) - 1;
                for (bits &= ~std::uint64_t(0) << (begin - first); bits != 0; bits &= bits - 1)
                    call(function, lookup, first + lowest_bit(bits), FieldIndices(), views...);
            }
            begin = end;
        }
    }

    template <class Function, class RowLookup, class... Views>
    SHOAL_INLINE static void blend_word(const RowLookup& lookup, Function& function, std::uint32_t first,
                                        std::uint64_t bits, const Views&... views) {
        if (bits == 0) return;
        for (std::uint32_t half = 0; half < 2; ++half) {
            const auto half_bits = static_cast<std::uint32_t>(bits >> (half * 32));
            const std::size_t half_first =
                std::size_t(first) + half * 32;  // 64 bits, so that adding `i` below does not wrap
            for (std::uint32_t i = 0; i < 32; ++i)
                blend_row(lookup, function, half_first + i, 0u - (half_bits >> i & 1u), FieldIndices(), views...);
        }
    }

    template <class Function, class RowLookup, std::size_t... kFields, class... Views>
    SHOAL_INLINE static void blend_row(const RowLookup& lookup, Function& function, std::size_t row, std::uint32_t mask,
                                       std::index_sequence<kFields...>, const Views&... views) {
        const auto with_values = [&](auto... values) SHOAL_INLINED {
            if constexpr (kTakesEntity<Function>)
                function(lookup.owners[row], values.argument()...);
            else
                function(values.argument()...);
            (values.put(views, row, mask), ...);
        };
        with_values(blended<Fields, kFields>(lookup, views, row)...);
    }
    template <class Field, std::size_t kField, class RowLookup>
    SHOAL_INLINE static auto blended(const RowLookup& lookup, const ViewOf<Field>& view, std::size_t row) {
        if constexpr (Field::kWrites)
            return BlendedValue<Field>(view, row);
        else if constexpr (Field::kIsOptional)
            return UnblendedValue<Argument<Field>>{
                optional_value(view, lookup.template row<kField>(static_cast<std::uint32_t>(row)))};
        else
            return UnblendedValue<Argument<Field>>{view[row]};
    }

    template <class Function, class RowLookup, std::size_t... kFields, class... Views>
    SHOAL_INLINE static void call(Function& function, const RowLookup& lookup, std::uint32_t owner_row,
                                  std::index_sequence<kFields...>, const Views&... views) {
        if constexpr (kTakesEntity<Function>) {
            const Entity owner = lookup.owners[owner_row];
            if (owner) call_with<kFields...>(function, lookup, owner_row, views..., owner);
        } else {
            call_with<kFields...>(function, lookup, owner_row, views...);
        }
    }
    template <std::size_t... kFields, class Function, class RowLookup, class... Owner>
    SHOAL_INLINE static void call_with(Function& function, const RowLookup& lookup, std::uint32_t owner_row,
                                       const ViewOf<Fields>&... views, const Owner&... owner) {
        if constexpr ((kIsLoaded<Fields> || ...))  // loaded fields are stored at the end of the call
            function(owner..., given(argument<Fields>(views, lookup.template row<kFields>(owner_row)))...);
        else
            function(owner..., argument<Fields>(views, lookup.template row<kFields>(owner_row))...);
    }
    template <class Field>
    SHOAL_INLINE static decltype(auto) argument(const ViewOf<Field>& view, std::uint32_t row) {
        if constexpr (Field::kIsOptional)
            return optional_value(view, row);
        else if constexpr (kIsLoaded<Field>)
            return LoadedComponent<ViewOf<Field>>(view, row);
        else
            return view[row];
    }
};

/// The code that is compiled for a query and a function: the loops over the rows that a plan has found.
template <class List>
struct LeafOf;
template <class... Terms>
struct LeafOf<TermList<Terms...>> {
    template <class List>
    struct Of;
    template <class... FieldTerms_>
    struct Of<TermList<FieldTerms_...>> {
        using Fields = TermList<FieldTerms_...>;
        using Loop = QueryLoop<FieldTerms_...>;
        static constexpr bool kMayChoose = ((!Terms::kIsOptional && !Terms::kIsAny && may_be_disabled<Terms>()) || ...);
        static constexpr bool kAnyOptional = (FieldTerms_::kIsOptional || ...);

        /// The index of the term that names the field.
        template <auto kMember>
        static constexpr std::size_t field_number() {
            std::size_t number = 0;
            static_cast<void>(((names_member<kMember, FieldTerms_>() || (++number, false)) || ...));
            return number;
        }
        template <bool kMayJoin, class Function>
        SHOAL_INLINE static void run(Function& function, const FoundRows& found) {
            const typename Loop::Lanes lanes = Loop::template collect<kMayJoin>(found);
            if constexpr (kMayJoin)
                if (found.words != nullptr)
                    return Loop::run(RowsOfBlock<FieldTerms_...>(found), function, found.rows, lanes);
            if constexpr (kMayChoose || kAnyOptional)
                Loop::run(SomeRows<kMayChoose, FieldTerms_...>(found), function, found.rows, lanes);
            else
                Loop::run(SameRows{found.owners, found.rows.end}, function, found.rows, lanes);
        }
    };
    using Type = Of<FieldTerms<Terms...>>;
};

}  // namespace shoal::detail
