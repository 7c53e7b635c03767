#pragma once
// A query whose function writes events: the function gets a writer for each channel, before its other arguments.
//
//     loop of a run of rows     | writers, in registers | row row row ... | what they hold goes to the chunk's buffer |
//
// Thread: as for the query; each run of rows has its own writers.

#include "shoal/command/events.h"
#include "shoal/query/detail/access.h"
#include "shoal/query/detail/terms.h"

namespace shoal {

namespace detail {

/// A channel, distinguished from other channels by its type.
template <class T>
struct ChannelOf {
    Events<T>* events;
};

/// A function whose first arguments are writers.
template <class Function, class... Ts>
struct WithWriters : ChannelOf<Ts>... {
    /// The function with its own writers for one run of rows.
    struct OfRange : EventWriter<Ts>... {
        Function& function;

        SHOAL_INLINE explicit OfRange(const WithWriters& of)
            : EventWriter<Ts>(*static_cast<const ChannelOf<Ts>&>(of).events)..., function(of.function) {}
        template <class... Arguments>
        SHOAL_INLINE auto operator()(Arguments&&... arguments)
            -> decltype(function(std::declval<EventWriter<Ts>&>()..., static_cast<Arguments&&>(arguments)...)) {
            return function(static_cast<EventWriter<Ts>&>(*this)..., static_cast<Arguments&&>(arguments)...);
        }
    };

    Function& function;

    WithWriters(Function& f, const ChannelOf<Ts>&... channels) : ChannelOf<Ts>(channels)..., function(f) {}
    template <class... Arguments>
    SHOAL_INLINE auto operator()(Arguments&&... arguments)
        -> decltype(function(std::declval<EventWriter<Ts>&>()..., static_cast<Arguments&&>(arguments)...)) {
        OfRange own(*this);
        return own(static_cast<Arguments&&>(arguments)...);
    }
    template <class Then>
    SHOAL_INLINE void with_own_of_range(Then&& then) {
        OfRange own(*this);
        then(own);
    }
};

}  // namespace detail

/// Made by Query::writing().
template <class Query, class... Ts>
class WritingQuery : detail::ChannelOf<Ts>... {
    template <class Function>
    using Called = detail::WithWriters<std::remove_reference_t<Function>, Ts...>;

public:
    template <class Function>
    static constexpr bool kFits = Query::template kFits<Called<Function>>;

    WritingQuery(const Query& query, Events<Ts>&... events) : detail::ChannelOf<Ts>{&events}..., query_(query) {}

    /// Calls `function` as the query does, with an EventWriter<T>& for each channel before the other arguments.
    template <class Function>
    void for_each(Function&& function) const {
        static_assert(
            kFits<Function>,
            "the function takes an EventWriter<T>& for each channel, and then what a function of the query takes");
        if constexpr (kFits<Function>) query_.for_each(called(function));
    }
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        static_assert(
            kFits<Function>,
            "the function takes an EventWriter<T>& for each channel, and then what a function of the query takes");
        if constexpr (kFits<Function>) query_.for_each(executor, called(function));
    }
    template <class Function>
    void for_each_batch(Function&& function) const {
        query_.for_each_batch(called(function));
    }
    template <class Function>
    void for_each_batch(Executor& executor, Function&& function) const {
        query_.for_each_batch(executor, called(function));
    }

    std::uint64_t num_rows() const { return query_.num_rows(); }
    static constexpr std::size_t bytes_per_row() { return Query::bytes_per_row(); }
    /// A loop's accesses: the query's accesses, and a write to each channel.
    Array<Access> accesses() const {
        Array<Access> accesses = query_.accesses();
        (accesses.push_back(shoal::writes(*static_cast<const detail::ChannelOf<Ts>&>(*this).events)), ...);
        return accesses;
    }

private:
    template <class Function>
    auto called(Function& function) const {
        return Called<Function>(function, static_cast<const detail::ChannelOf<Ts>&>(*this)...);
    }

    Query query_;
};

}  // namespace shoal
