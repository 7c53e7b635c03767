#pragma once
// A pass over rows calls its function for each row of a query. All workers take part.
//
//     [](auto&& velocity)                                                        as in a loop; see query/query.h
//     [](const PassContext& frame, auto&& velocity)                              with the context of the pass
//     [](const PassContext& frame, Commands& commands, Entity body, auto&& velocity)         with all that it may take,
//                                                                              except the writers of query.writing()
//
// Thread: all workers call the function concurrently, with the same context.

#include "shoal/command/commands.h"
#include "shoal/query/query.h"
#include "shoal/world/detail/schedule_pass.h"

namespace shoal {

/// A type of rows that a pass can loop over. It lists the columns that the loop accesses. Queries have such a type, and
/// a program can define others.
template <class Rows>
concept PassRows = requires(const Rows& rows) {
    std::span<const Access>(rows.accesses());
    rows.num_rows();
};

namespace detail {

/// The function of a pass, with its first argument bound.
template <class Function>
struct WithContext {
    Function& function;
    const PassContext& context;

    template <class... Arguments>
    SHOAL_INLINE auto operator()(Arguments&&... arguments)
        -> decltype(function(context, static_cast<Arguments&&>(arguments)...)) {
        return function(context, static_cast<Arguments&&>(arguments)...);
    }
};

}  // namespace detail

template <class Function>
inline constexpr bool kBlends<detail::WithContext<Function>> = kBlends<Function>;

namespace detail {

/// Returns whether a loop over `Rows` can call a function. A row type that defines kFits makes the decision. Without
/// kFits, every function fits.
template <class Rows, class Function>
constexpr bool fits_rows() {
    if constexpr (requires { Rows::template kFits<Function>; })
        return Rows::template kFits<Function>;
    else
        return true;
}
/// Returns whether a function takes a PassContext as its first argument. If a function fits without a context, it is
/// not tried with one, because a generic function may fit both ways.
template <class Rows, class Function>
constexpr bool takes_context() {
    if constexpr (fits_rows<Rows, Function>())
        return false;
    else
        return fits_rows<Rows, WithContext<Function>>();
}
template <class Rows, class Function>
inline constexpr bool kFitsPass = fits_rows<Rows, Function>() || takes_context<Rows, Function>();

template <class Rows, class Function>
class RowsPass final : public Pass {
public:
    RowsPass(const Rows& rows, Function function) : rows_(rows), function_(std::move(function)) {}
    void run(PassContext& context, Failure& failure) override {
        failure.guard(0, [&] {
            if constexpr (takes_context<Rows, Function>())
                rows_.for_each(context.executor, WithContext<Function>{function_, context});
            else
                rows_.for_each(context.executor, function_);
        });
        context.num_rows = rows_.num_rows();
        context.num_bytes = context.num_rows * Rows::bytes_per_row();
    }

private:
    Rows rows_;
    Function function_;
};

}  // namespace detail
}  // namespace shoal
