#pragma once
// A pass over rows: its function is called for each row of a query, on all workers.
//
//     [](auto&& velocity)                                                        as in a loop; see query/query.h
//     [](const PassContext& frame, auto&& velocity)                              and what the pass is given before it
//     [](const PassContext& frame, Commands& commands, Entity body, auto&& velocity)          before everything else
//
// Thread: all calls of a run are given one context, from all workers at once.

#include "shoal/command/commands.h"
#include "shoal/query/query.h"
#include "shoal/world/schedule_pass.h"

namespace shoal {

/// Rows that know what a loop over them touches.
template <class Rows>
concept PassRows = requires(const Rows& rows) {
    std::span<const Access>(rows.accesses());
    rows.num_rows();
};

/// A function of a pass whose first argument is bound.
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
template <class Function>
inline constexpr bool kBlends<WithContext<Function>> = kBlends<Function>;

namespace detail {

/// Whether a function fits a loop over `Rows`. Rows that are no query say it themselves.
template <class Rows, class Function>
constexpr bool fits_rows() {
    if constexpr (requires { Rows::template kFits<Function>; })
        return Rows::template kFits<Function>;
    else
        return true;
}
/// Whether it takes a PassContext before what the loop gives. A function that fits without one is not tried with one:
/// it might be generic, and fit too.
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
    void run(PassContext& context) override {
        if constexpr (takes_context<Rows, Function>())
            rows_.for_each(context.executor, WithContext<Function>{function_, context});
        else
            rows_.for_each(context.executor, function_);
        context.num_rows = rows_.num_rows();
        context.num_bytes = context.num_rows * Rows::bytes_per_row();
    }

private:
    Rows rows_;
    Function function_;
};

}  // namespace detail
}  // namespace shoal
