#pragma once
// Passes, in the order in which they were added, each timed.
//
//     schedule.add("fall", query<Write<&Body::velocity>>(bodies), [](auto&& v) { v.z -= 9.81f / 60; });
//     schedule.add("count", [&](PassContext& pass) { pass.num_rows = bodies.num_rows(); });
//
// A pass over a query runs on all workers, cut into ranges of rows that depend on the number of rows only, so that its
// results do not depend on the number of workers. Inside a pass the fields that its query names, look-ups and const
// calls are free; structural changes wait until the schedule has run.
// Thread: one at a time; the functions of a pass over a query are called from all workers at once.

#include "shoal/base/file.h"
#include "shoal/store/query.h"

#include <string>

namespace shoal::inline SHOAL_ABI {

/// What a pass is given, and what it reports for its line in the table.
struct PassContext {
    Executor& executor;
    float dt = 0;                 ///< Units: seconds
    std::uint64_t frame = 0;      ///< frames before this one
    std::uint64_t num_rows = 0;   ///< set by the pass: rows that it went through
    std::uint64_t num_bytes = 0;  ///< set by the pass: bytes that it read and wrote, as far as it knows
};

/// A pass of a schedule. Interface for those that need state; most are a query and a function.
class Pass {
public:
    virtual ~Pass() = default;
    virtual void run(PassContext& context) = 0;
};

/// What a pass has cost so far.
struct PassStatistics {
    std::string_view name;  ///< Lifetime: until a pass comes or goes
    bool enabled = true;
    std::uint64_t num_runs = 0;
    std::uint64_t num_rows = 0;   ///< of the last run
    std::uint64_t num_bytes = 0;  ///< of the last run
    std::uint64_t total_rows = 0;
    std::uint64_t total_bytes = 0;
    std::int64_t last_ns = 0;
    std::int64_t total_ns = 0;
};

class Schedule {
public:
    Schedule() = default;
    SHOAL_API ~Schedule();
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    /// Adds a pass that calls `function` for each row of `rows`; see store/query.h.
    /// Requires: no pass of this schedule has the name; the schedule does not run.
    template <class T, class... Terms, class Function>
    void add(std::string_view name, const ManagerQuery<T, Terms...>& rows, Function function) {
        emplace<QueryPass<ManagerQuery<T, Terms...>, Function>>(name, rows, std::move(function));
    }
    /// Adds a pass that is one call of `function(PassContext&)`: for whole columns, or for what depends on dt.
    template <class Function>
        requires std::is_invocable_v<Function&, PassContext&>
    void add(std::string_view name, Function function) {
        emplace<FunctionPass<Function>>(name, std::move(function));
    }

    /// Takes a pass out. Requires: the schedule does not run. Errors: there is none of that name.
    SHOAL_API Status remove(std::string_view name);
    /// Takes all passes out. Requires: the schedule does not run.
    SHOAL_API void clear();
    /// Switches a pass off or on. Errors: there is none of that name.
    SHOAL_API Status enable(std::string_view name, bool enabled);

    /// Runs the passes that are on, in order. Requires: it does not run already.
    SHOAL_API void run(Executor& executor, float dt, std::uint64_t frame);

    std::size_t num_passes() const { return entries_.size(); }
    SHOAL_API PassStatistics statistics(std::size_t pass) const;

private:
    template <class Query, class Function>
    class QueryPass final : public Pass {
    public:
        QueryPass(const Query& rows, Function function) : rows_(rows), function_(std::move(function)) {}
        void run(PassContext& context) override {
            rows_.for_each(context.executor, function_);
            context.num_rows = rows_.num_rows();
            context.num_bytes = context.num_rows * Query::bytes_per_row();
        }

    private:
        Query rows_;
        Function function_;
    };

    template <class Function>
    class FunctionPass final : public Pass {
    public:
        explicit FunctionPass(Function function) : function_(std::move(function)) {}
        void run(PassContext& context) override { function_(context); }

    private:
        Function function_;
    };

    struct Entry {
        std::string name;
        Pass* pass;
        void (*destroy)(Pass*);
        PassStatistics statistics;
    };

    template <class P, class... Arguments>
    void emplace(std::string_view name, Arguments&&... arguments) {
        void* memory = allocate_memory(sizeof(P), "schedule");
        static_assert(alignof(P) <= alignof(std::max_align_t));
        append(name, ::new (memory) P(std::forward<Arguments>(arguments)...), [](Pass* pass) {
            static_cast<P*>(pass)->~P();
            release_memory(pass, sizeof(P), "schedule");
        });
    }
    SHOAL_API void append(std::string_view name, Pass* pass, void (*destroy)(Pass*));
    Entry* find(std::string_view name);
    void require_idle() const;

    Array<Entry> entries_ = Array<Entry>("schedule");
    bool is_running_ = false;
};

}  // namespace shoal::inline SHOAL_ABI
