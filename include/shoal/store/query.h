#pragma once
// Rows of a manager, by the fields that a pass reads and writes.
//
//     auto moving = query<Write<&Body::position>, Read<&Body::velocity>>(bodies);
//     moving.for_each([dt](auto&& p, Vec3 v) { p += v * dt; });
//
// The first manager drives: every row of it is visited, in memory order. Fields of other managers are gathered by
// entity and come as a pointer, which is null where the entity lacks the component:
//
//     auto pushed = query<Write<&Body::velocity>, Gather<&Wind::force>>(bodies, winds);
//     pushed.for_each([](auto&& v, const Vec3* force) { if (force) v += *force; });
//
// The function is called with one argument per term, in order, and with the Entity before them if it takes one.
// Lifetime: a query refers to its managers; columns are looked up anew by each loop.
// Thread: between structural calls; made inside a loop, they end the program (see RowLock). Two loops may run at once
// if neither writes what the other names.

#include "shoal/job/row_ranges.h"
#include "shoal/store/manager.h"

namespace shoal::inline SHOAL_ABI {

/// A field of the driving manager that is read: the function gets its value.
template <auto kMember_>
struct Read {
    static constexpr auto kMember = kMember_;
    static constexpr bool kWrites = false, kGathers = false;
    using View = ReadColumn<kMember_>;
};

/// A field of the driving manager that is read and written: the function gets a reference (take it as `auto&&`).
template <auto kMember_>
struct Write {
    static constexpr auto kMember = kMember_;
    static constexpr bool kWrites = true, kGathers = false;
    using View = WriteColumn<kMember_>;
};

/// A field of another manager, looked up by entity: the function gets a pointer to const, or null.
template <auto kMember_>
struct Gather {
    static constexpr auto kMember = kMember_;
    static constexpr bool kWrites = false, kGathers = true;
    using View = ReadColumn<kMember_>;
};

namespace detail {

/// The value of a gathered field; a split one is put together here.
template <class View>
class Gathered {
public:
    SHOAL_INLINE Gathered(const View& view, std::uint32_t row) {
        if (row == kNilRow) return;
        if constexpr (View::kLayout == ColumnLayout::kSplit) {
            value_ = view[row];
            pointer_ = &value_;
        } else {
            pointer_ = &view[row];
        }
    }
    SHOAL_INLINE operator const typename View::Value *() const { return pointer_; }  // NOLINT: it is passed as one

private:
    struct None {};
    [[no_unique_address]] std::conditional_t<View::kLayout == ColumnLayout::kSplit, typename View::Value, None>
        value_{};
    const typename View::Value* pointer_ = nullptr;
};

template <auto kMember, auto... kOthers>
inline constexpr int kTimesNamed = (0 + ... + (kSameMember<kMember, kOthers> ? 1 : 0));

template <std::size_t>
using LanePointer = std::byte*;
}  // namespace detail

template <class T, class... Terms>
class ManagerQuery {
public:
    static_assert(sizeof...(Terms) > 0, "a query names at least one field");
    static_assert(((detail::kTimesNamed<Terms::kMember, Terms::kMember...> == 1) && ...),
                  "a query names each field once; Write gives the old value too");
    static_assert((!Terms::kGathers || ...),
                  "a query reads or writes at least one field of the manager that drives it");
    static_assert(((Terms::kGathers || std::is_same_v<ComponentOf<Terms::kMember>, T>) && ...),
                  "Read and Write name fields of the first manager; use Gather for those of others");

    /// One manager per Gather term's component, in any order; `driver` may not be gathered from.
    template <class... Others>
    explicit ManagerQuery(Manager<T>& driver, Others&... others) : driver_(driver) {
        std::size_t term = 0;
        ((cores_[term++] = core_for<Terms>(driver, others...)), ...);
    }

    Manager<T>& driver() const { return driver_; }
    std::uint32_t num_rows() const { return driver_.num_rows(); }
    /// Bytes of the named fields in one row, for rates.
    static constexpr std::size_t bytes_per_row() { return (0 + ... + sizeof(ValueOf<Terms::kMember>)); }
    static constexpr bool writes() { return (Terms::kWrites || ...); }

    /// Calls `function` for each row, and marks the written fields.
    template <class Function>
    void for_each(Function&& function) const {
        check<Function>();
        const RowLock lock(cores_);
        for_rows(function, {0, num_rows()});
        mark_written();
    }
    /// The same on several threads; `function` is called from all of them at once.
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        check<Function>();
        const RowLock lock(cores_);
        shoal::for_rows(executor, num_rows(), kByteGranularity,
                        [&](RowRange rows, std::uint32_t) { for_rows(function, rows); });
        mark_written();
    }

    /// Calls `function` for some rows, without a mark: for loops that mark when all ranges are done.
    template <class Function>
    void for_rows(Function& function, RowRange rows) const {
        SHOAL_ASSERT(rows.end <= num_rows(), "the rows do not exist");
        std::byte* lanes[kNumLanes];
        collect_lanes(lanes);
        run_lanes(function, rows, lanes, std::make_index_sequence<kNumLanes>());
    }
    void mark_written() const {
        std::size_t term = 0;
        (mark_term<Terms>(*cores_[term++]), ...);
    }

private:
    static constexpr std::size_t kNumTerms = sizeof...(Terms);
    static constexpr std::size_t kNumLanes = (0 + ... + FieldPlace<Terms::kMember>::kNumColumns);
    static constexpr bool kGathersAny = (Terms::kGathers || ...);

    template <class Term>
    using Argument = std::conditional_t<Term::kGathers, detail::Gathered<typename Term::View>,
                                        decltype(std::declval<const typename Term::View&>()[0])>;
    template <class Function>
    static constexpr bool kTakesEntity = std::is_invocable_v<Function&, Entity, Argument<Terms>...>;
    template <class Function>
    static constexpr void check() {
        static_assert(kTakesEntity<Function> || std::is_invocable_v<Function&, Argument<Terms>...>,
                      "the function takes one argument per term: a value for Read, `auto&&` for Write, a pointer to "
                      "const for Gather, and optionally an Entity before them");
    }

    static constexpr std::size_t first_lane(std::size_t term) {
        const std::size_t counts[] = {FieldPlace<Terms::kMember>::kNumColumns...};
        std::size_t lane = 0;
        for (std::size_t i = 0; i < term; ++i) lane += counts[i];
        return lane;
    }

    template <class Term, class... Others>
    static ComponentManager* core_for(Manager<T>& driver, Others&... others) {
        if constexpr (!Term::kGathers) {
            return &driver.core();
        } else {
            static_assert((std::is_same_v<Others, Manager<ComponentOf<Term::kMember>>> || ...),
                          "the manager of a gathered field is missing: query<...>(driver, manager_of_that_component)");
            ComponentManager* core = nullptr;
            ((std::is_same_v<Others, Manager<ComponentOf<Term::kMember>>> ? void(core = &others.core()) : void()), ...);
            return core;
        }
    }

    void collect_lanes(std::byte** lanes) const {
        std::size_t term = 0, lane = 0;
        const auto collect = [&]<class Term>(Term) {
            using Place = FieldPlace<Term::kMember>;
            ComponentManager& core = *cores_[term++];
            for (std::uint32_t c = 0; c < Place::kNumColumns; ++c) {
                std::byte* data = core.table().unmarked_column(Place::kFirstColumn + c);
                if (Place::kLayout == ColumnLayout::kWhole && data != nullptr)  // nullptr: it never held a row
                    data += core.schema().fields()[Place::kIndex].struct_offset;
                lanes[lane++] = data;
            }
        };
        (collect(Terms()), ...);
    }

    template <class Term>
    static typename Term::View view(std::byte* const* lanes, std::size_t num_rows) {
        using Value = std::conditional_t<Term::kWrites, ValueOf<Term::kMember>, const ValueOf<Term::kMember>>;
        return make_column<Term::kMember, Value>(
            [&](std::uint32_t c) { return lanes[c - FieldPlace<Term::kMember>::kFirstColumn]; }, 0, num_rows);
    }

    template <class Function, std::size_t... kLanes>
    void run_lanes(Function& function, RowRange rows, std::byte* const* lanes, std::index_sequence<kLanes...>) const {
        run<Function, kLanes...>(*this, function, rows, lanes[kLanes]...);
    }

    // The lanes are restrict-qualified parameters: as members or locals they would not let the loop vectorise.
    template <class Function, std::size_t... kLanes>
    static __attribute__((noinline)) void run(const ManagerQuery& query, Function& function, RowRange rows,
                                              detail::LanePointer<kLanes> __restrict... lane) {
        std::byte* const lanes[] = {lane...};
        run_terms(query, function, rows, lanes, std::make_index_sequence<kNumTerms>());
    }

    template <class Function, std::size_t... kTerms>
    SHOAL_INLINE static void run_terms(const ManagerQuery& query, Function& function, RowRange rows,
                                       std::byte* const* lanes, std::index_sequence<kTerms...>) {
        const auto call = [&](std::uint32_t row, const auto&... views) __attribute__((always_inline)) {
            const Entity* owners = query.driver_.entities().data();
            if constexpr (kTakesEntity<Function>) {
                if (owners[row]) function(owners[row], argument<Terms>(query, kTerms, views, row)...);
            } else {
                function(argument<Terms>(query, kTerms, views, row)...);
            }
        };
        const auto loop = [&](const auto&... views) __attribute__((always_inline)) {
            for (std::uint32_t row = rows.begin; row < rows.end; ++row) call(row, views...);
        };
        loop(view<Terms>(lanes + first_lane(kTerms), query.cores_[kTerms]->num_rows())...);
    }

    template <class Term>
    SHOAL_INLINE static decltype(auto) argument(const ManagerQuery& query, std::size_t term,
                                                const typename Term::View& view, std::uint32_t row) {
        if constexpr (Term::kGathers)
            return detail::Gathered<typename Term::View>(
                view, query.cores_[term]->instance(query.driver_.entities()[row]).row);
        else
            return view[row];
    }

    template <class Term>
    static void mark_term(ComponentManager& core) {
        if constexpr (Term::kWrites)
            for (std::uint32_t c = 0; c < FieldPlace<Term::kMember>::kNumColumns; ++c)
                core.table().mark_written(FieldPlace<Term::kMember>::kFirstColumn + c, {0, core.num_rows()});
    }

    Manager<T>& driver_;
    ComponentManager* cores_[kNumTerms] = {};  // by term
};

/// Makes a query over the rows of `driver`; see the top of this file.
template <class... Terms, class T, class... Others>
ManagerQuery<T, Terms...> query(Manager<T>& driver, Others&... others) {
    return ManagerQuery<T, Terms...>(driver, others...);
}

}  // namespace shoal::inline SHOAL_ABI
