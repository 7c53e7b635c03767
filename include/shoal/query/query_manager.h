#pragma once
// Queries over the rows of one manager. See query.h.

#include "shoal/job/row_ranges.h"
#include "shoal/query/access.h"
#include "shoal/query/query_loop.h"
#include "shoal/query/query_run.h"

#include <array>

namespace shoal {

template <class T, class... Terms>
class ManagerQuery {
public:
    static_assert(sizeof...(Terms) > 0, "a query names at least one field");
    static_assert(((Terms::kIsField && Terms::kIsOptional == Terms::kGathers) && ...),
                  "With, Without and Maybe are for databases; use Gather for fields of other managers");
    static_assert(detail::kNamesEachFieldOnce<Terms...>,
                  "a query names each field once; Write gives the old value too");
    static_assert((!Terms::kGathers || ...),
                  "a query reads or writes at least one field of the manager that drives it");
    static_assert(((Terms::kGathers || std::is_same_v<typename Terms::Component, T>) && ...),
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
    /// What a loop touches; for schedules.
    std::array<Access, sizeof...(Terms)> accesses() const {
        std::size_t term = 0;
        return {field_access<Terms::kMember>(*cores_[term++], Terms::kWrites)...};
    }

    /// The same query; its function may take a Commands& first, those of `database`.
    ManagerQuery asking(Database& database) const {
        ManagerQuery result = *this;
        result.asked_ = &database;
        return result;
    }

    /// Calls `function` for each row, and marks the written fields.
    template <class Function>
    void for_each(Function&& function) const {
        static_assert(Loop::template kFits<Function>,
                      "the function takes one argument per term: a value for Read, `auto&&` for Write, a pointer to "
                      "const for Gather, and optionally Commands& and an Entity before them");
        const RowLock lock(cores_);
        Commands* const commands = open_commands<Function>(1);
        bind<Function>(function, commands, [&](auto& bound) { for_rows(bound, {0, num_rows()}); });
        mark_written();
    }
    /// The same on several threads; `function` is called from all of them at once.
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        static_assert(Loop::template kFits<Function>,
                      "the function takes one argument per term: a value for Read, `auto&&` for Write, a pointer to "
                      "const for Gather, and optionally Commands& and an Entity before them");
        const RowLock lock(cores_);
        const RowCuts cuts = cut_rows(num_rows());
        Commands* const commands = open_commands<Function>(cuts.num_chunks);
        shoal::for_rows(executor, cuts, [&](RowRange rows, std::uint32_t) {
            Commands* const own = commands == nullptr ? nullptr : commands + rows.begin / cuts.rows_per_chunk;
            bind<Function>(function, own, [&](auto& bound) { for_rows(bound, rows); });
        });
        mark_written();
    }

    /// Calls `function` for some rows, without a mark: for loops that mark when all ranges are done.
    template <class Function>
    void for_rows(Function& function, RowRange rows) const {
        SHOAL_ASSERT(rows.end <= num_rows(), "the rows do not exist");
        Loop::run(Places{driver_.entities().data(), *this}, function, rows, lanes());
    }
    void mark_written() const {
        std::size_t term = 0;
        (mark_term<Terms>(*cores_[term++]), ...);
    }

private:
    using Loop = detail::QueryLoop<Terms...>;

    template <class Function>
    Commands* open_commands(std::uint32_t num_chunks) const {
        if (!Loop::template kTakesCommands<Function>) return nullptr;
        SHOAL_ASSERT(asked_ != nullptr,
                     "a function over a manager takes commands of no database; say asking(database)");
        return detail::open_commands(*asked_, num_chunks);
    }
    template <class Function, class Run>
    SHOAL_INLINE static void bind(Function& function, Commands* commands, Run&& run) {
        detail::bind_commands<Loop::template kTakesCommands<Function>>(function, commands, run);
    }

    struct Places {
        static constexpr bool kChooses = false;
        const Entity* owners;
        const ManagerQuery& query;

        template <std::size_t kField>
        SHOAL_INLINE std::uint32_t row(std::uint32_t owner_row) const {
            constexpr bool kGathers[] = {Terms::kGathers...};
            if constexpr (kGathers[kField])
                return query.cores_[kField]->instance(owners[owner_row]).row;
            else
                return owner_row;
        }
        template <std::size_t kField>
        std::size_t size() const {
            return query.cores_[kField]->num_rows();
        }
    };

    template <class Term, class... Others>
    static ComponentManager* core_for(Manager<T>& driver, Others&... others) {
        if constexpr (!Term::kGathers) {
            return &driver.core();
        } else {
            static_assert((std::is_same_v<Others, Manager<typename Term::Component>> || ...),
                          "the manager of a gathered field is missing: query<...>(driver, manager_of_that_component)");
            ComponentManager* core = nullptr;
            ((std::is_same_v<Others, Manager<typename Term::Component>> ? void(core = &others.core()) : void()), ...);
            return core;
        }
    }

    typename Loop::Lanes lanes() const {
        typename Loop::Lanes lanes;
        Loop::for_each_field([&]<class Field>(std::size_t term, std::size_t lane) {
            Loop::template collect<Field>(cores_[term]->table(), 0, lanes.data + lane);
        });
        return lanes;
    }

    template <class Term>
    static void mark_term(ComponentManager& core) {
        if constexpr (Term::kWrites)
            for (std::uint32_t c = 0; c < FieldPlace<Term::kMember>::kNumColumns; ++c)
                core.table().mark_written(FieldPlace<Term::kMember>::kFirstColumn + c, {0, core.num_rows()});
    }

    Manager<T>& driver_;
    Database* asked_ = nullptr;
    ComponentManager* cores_[sizeof...(Terms)] = {};  // by term
};

/// Makes a query over the rows of `driver`; see query.h.
template <class... Terms, class T, class... Others>
ManagerQuery<T, Terms...> query(Manager<T>& driver, Others&... others) {
    return ManagerQuery<T, Terms...>(driver, others...);
}

}  // namespace shoal
