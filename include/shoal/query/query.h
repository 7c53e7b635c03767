#pragma once
// A query selects rows by their component types and passes fields of each row to a function.
//
//     auto moving = query<Write<&Body::position>, Read<&Body::velocity>, Without<Frozen>>(database);
//     moving.for_each([dt](auto&& p, Vec3 v) { p += v * dt; });                     // on this thread
//     moving.in(near).for_each(executor, [dt](auto&& p, Vec3 v) { p += v * dt; });  // on all, in some zones
//     moving.for_each_batch([&](auto&& batch) {                                     // columns and entities
//         draw(batch.entities(), batch.template column<&Body::position>());
//     });
//
// The rows are in stores: a manager has one table, a database has many. If a query has several stores, it joins them by
// entity.
//
//     query<...>(bodies)                      all rows of a manager
//     query<...>(bodies, winds)               a term is about the manager of its component
//     query<...>(database)                    the rows of all tables whose archetypes match
//     query<...>(database, sails)             components that no given manager keeps are in the database
//     world.query<...>()                       a term is about the store of the world that keeps its component
//
//     term                rows visited                          the function gets
//     Read<&T::field>     those that have T                     the field, const
//     Write<&T::field>    those that have T                     a reference: take it as `auto&&`
//     Maybe<&T::field>    all                                   a pointer to const, null without T
//     With<T>             those that have T                     nothing
//     Without<T>          those that lack T                     nothing
//
// A Read field cannot be written by accident: it is const even as `auto&&`, in any layout. For a split field, the
// argument is a value that is used like a reference or a pointer (see column.h): `p.x += 1`, `if (wind) v += *wind`.
//
// all_fields<T> stands for the whole component in any of these terms: the function gets a `const T&`, a `T&` or a
// pointer to const T. T may be kept in any layout: if its fields are in columns, only the fields that the function uses
// are loaded before the call and stored after it.
//
//     auto falling = query<Write<all_fields<Body>>, Read<&Wind::force>>(bodies, winds);
//     falling.for_each([dt](Body& body, Vec3 force) {
//         body.velocity += force * (dt / body.mass);
//         body.position += body.velocity * dt;
//     });
//
// A query over a world, world.query<...>(), finds the stores when it is made: managers, the database, and the stores of
// types such as Transform (transform/transform.h), Owned or Tag. Values that a store computes, such as WorldPose, are
// read-only: Write does not compile if their type is declared `computed`. A query over a world may have more terms:
//
//     Parent<Read<&T::field>>   all                             a pointer to const; null for roots, or without T
//     Related<&M::target, Read<&T::field>>   all                the same, of the entity that the field `target` names
//     AnyOf<A, B, C>            those that have A, B or C       nothing
//     Added<T>, Changed<T>      those that gained T since the last loop, or whose T has another value
//     Removed<T>                those that have lost T          what it was, a const T&
//                               (a copy of such a query starts over, also if in() or the like returns it: keep it)
//     Singleton<Read<&T::field>>   all                             the value of the world's only T
//
// It may also require tags with tagged("enemy"), or exclude them with untagged("enemy"). The list of entities that have
// a tag is joined like a store. `world.query<>().tagged("enemy")` needs no other term.
//
// A query that has only Singleton terms calls its function once, and may write the singletons:
// Singleton<Write<&T::field>>. No other query may write singletons, because its loops run on several threads.
//
//     world.query<Write<&Body::velocity>, Read<&WorldPose::matrix>, Without<Frozen>>().for_each(
//         [](auto&& v, const Matrix3x4& pose) { v += pull_at(pose); });
//
// If a component type is `many`, a query that reads or writes it visits each value: an entity is visited once for each
// of its values, and the fields of the other terms are the same each time. A query reads at most one such type; other
// `many` types may be named in With, Without and AnyOf.
//
// A disabled component counts as missing. Inactive entities (see components/activity.h) are skipped, unless a query
// calls with_inactive() or names Inactive. If an entity must be in several stores, a loop visits the rows of the
// smallest store, called the driver, in blocks of 256 rows, and looks up each entity in the other stores. driver()
// returns the driver. The order of the visited rows depends only on the rows.
//
//     auto pushed = query<Write<&Body::velocity>, Maybe<&Wind::force>>(bodies, winds);
//     pushed.for_each([](auto&& v, const Vec3* force) {
//         if (force) v += *force;
//     });
//     auto sailing = query<Write<&Boat::position>, Read<&Sail::area>>(database, sails);  // both have it
//
// The function's arguments are, in this order: the EventWriters of writing() (see events.h); a Commands& and the
// Entity, if the function takes them; one argument per field. If the function takes Commands, the managers that the
// query names must be in a world or in a ComponentDirectory (see commands.h). The function of a pass may take a const
// PassContext& before all of these (see world/schedule.h). A manager with an identity index has holes. A function that
// takes the Entity is not called for them; other functions are. Keep a query rather than recreating it: it remembers
// which tables match, and checks only new tables.
//
// While a loop runs, its function must not access a field that the query writes, except through the function's
// argument. The compiler assumes that nothing else reads or writes that column, so Manager::get() or Database::get()
// may return an old or a new value. To read a written field of other rows, use a copy or a second pass. Other fields
// may be read in any way.
//
// On an executor, the threads share the rows of the driver in runs of 4,096 or more (see grain()), whichever stores are
// written. Even in a join, no two calls write the same row of a store. A loop that visits each value of a `many` type
// and writes another store stays on the calling thread, because its calls for one entity write the same row.
//
// A query joins at most one database. If a world has several, the terms select one of them.
//
// A program that uses a Database includes database/database.h; one that uses Commands includes command/commands.h.
// Lifetime: a query refers to its stores; each loop looks up the columns again.
// Thread: a query is used between structural calls; a structural call inside a loop ends the program (see RowLock,
// DatabaseLock). Loops of two queries may run in parallel if neither writes a field that the other names. Only one
// thread, and the chunks of the query's own loop, may use a query.

#include "shoal/query/detail/mistakes.h"
#include "shoal/query/detail/query_batch.h"
#include "shoal/query/detail/singleton_terms.h"
#include "shoal/query/detail/typed_plan.h"
#include "shoal/query/detail/writing_query.h"

namespace shoal {

namespace detail {

/// A tag, given by its id or its text.
struct TagName {
    TagName(StringId tag) : id(tag) {}                            // NOLINT: that is what it is for
    TagName(std::string_view tag) : id(tag) {}                    // NOLINT
    TagName(const char* tag) : TagName(std::string_view(tag)) {}  // NOLINT
    StringId id;
};

/// The type of a batch's table, which is in a database, in a manager, or in either.
template <class Stores>
struct BatchTableOf {
    using Type = Table;
};
template <class... Managers>
struct BatchTableOf<From<Database, Managers...>> {
    using Type = DatabaseTable;
};
template <>
struct BatchTableOf<From<ComponentDirectory>> {
    using Type = TableOfBatch;
};

}  // namespace detail

/// Made by query<Terms...>(stores...). To keep one as a member: Query<From<Database>, Write<&Body::position>>.
template <class Stores, class... Terms>
class Query;
template <class Query, class Function, bool kBatches>
class StartedQuery;

template <class... Stores, class... Terms>
class Query<From<Stores...>, Terms...> {
    using Singletons = detail::SingletonTerms<detail::TermsOfSingletons<Terms...>>;
    static constexpr bool kHasSingletons = (Terms::kIsSingleton || ...),
                          kIsOfSingletons = detail::kOnlySingletons<Terms...>;
    static constexpr bool kIsOfWorld = std::is_same_v<From<Stores...>, From<ComponentDirectory>>;
    using Visited = typename detail::VisitedTerms<detail::TermsOfRows<Terms...>, detail::FirstOf<Terms...>>::Type;
    using Leaf = typename detail::LeafOf<Visited>::Type;
    using Loop = typename Leaf::Loop;
    using BatchTable = typename detail::BatchTableOf<From<Stores...>>::Type;
    /// The function that a loop calls.
    template <class Function>
    using Called =
        typename detail::CalledWithSingletons<kHasSingletons, std::remove_reference_t<Function>, Terms...>::Type;
    static constexpr bool kHasDatabase = detail::StoreList<From<Stores...>>::kHasDatabase;
    static constexpr bool kMayJoin = kIsOfWorld || sizeof...(Stores) > 1 ||
                                     (kHasDatabase && detail::kVisitsEachValue<Terms...>);

public:
    using Batch = QueryBatch<BatchTable, typename Leaf::Fields>;
    /// Whether a function can be called with the fields of a row.
    template <class Function>
    static constexpr bool kFits = Loop::template kFits<Called<Function>>;
    template <class Function>
    static constexpr bool kTakesBatch =
        !(Terms::kIsRemoved || ...) &&
        (detail::Callable<Called<Function>, Commands&, Batch> || detail::Callable<Called<Function>, Batch>);

    explicit Query(Stores&... stores) : plan_(detail::TypedPlan<Visited>::make(stores...)), singletons_(stores...) {
        if constexpr (kIsOfSingletons) plan_.see_inactive();
    }

    /// Returns a copy of this query, limited to the rows in some zones.
    Query in(const ZoneSet& zones) const {
        static_assert(!(Terms::kIsRemoved || ...), "what was removed lies in no zone any more");
        static_assert(kHasDatabase, "zones are a database's; say query<...>(database, managers...)");
        Query result = *this;
        if constexpr (kHasDatabase) result.plan_.set_zones(zones);
        return result;
    }
    /// Returns a copy of this query, limited to the zones that are in `zones` when a loop begins.
    Query in(const LiveZones& zones) const {
        Query result = in(zones.now());
        if constexpr (kHasDatabase) result.plan_.set_live_zones(zones);
        return result;
    }
    /// Returns a copy of this query, limited to blocks of 1,024 rows that changed at stamp `stamp` or later. A block
    /// changes when a field that the query reads is written, or rows are added or moved there. A stamp of 0 means all
    /// rows. In a join, a row is visited if its block in any of the stores changed; fields of parents and related
    /// entities do not count.
    Query changed_since(std::uint64_t stamp) const {
        constexpr bool kWatches =
            ((Terms::kIsField && !Terms::kWrites && !Terms::kIsOfParent && !Terms::kIsSingleton) || ...);
        static_assert(kWatches,
                      "changed_since() asks for writes to the fields that a query reads; add a Read or Maybe");
        Query result = *this;
        result.plan_.set_since(stamp);
        return result;
    }
    /// Returns a copy of this query that also visits inactive entities (see components/activity.h).
    Query with_inactive() const {
        Query result = *this;
        result.plan_.see_inactive();
        return result;
    }
    /// Returns a copy of this query whose loops visit the rows in ascending order of a field's values. Rows with equal
    /// values keep their usual order. The order is kept between loops, and updated when a loop begins. If several
    /// threads share the rows, each gets a contiguous part of that order. Cost: a walk over the rows before each loop,
    /// a merge if the order of values has changed, and a look-up for each row.
    /// Requires: the query names the field with Read or Write; the field is a number, a bool or an enumeration.
    template <auto kMember>
    Query sorted_by() const {
        using Value = ValueOf<kMember>;
        constexpr bool kIsNamed = (names_key<kMember, Terms>() || ...);
        constexpr bool kIsOrdered = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;
        constexpr bool kIsOnce = !detail::kVisitsEachValue<Terms...> && !kIsOfSingletons;
        static_assert(kMayJoin, "a query over one store alone is not sorted; say world.query<...>()");
        static_assert(kIsNamed, "a query is sorted by a field that it names with Read or Write");
        static_assert(kIsOrdered, "rows are sorted by numbers, bools and enumerations");
        static_assert(!(Terms::kIsRemoved || ...), "what was removed is visited as it lay; sort what you keep of it");
        static_assert(kIsOnce, "rows of which each value is visited, and singletons, are not sorted");
        Query result = *this;
        if constexpr (kMayJoin && kIsNamed && kIsOrdered && kIsOnce)
            result.plan_.sort_by(Leaf::template field_number<kMember>(), detail::sort_key<kMember>());
        return result;
    }
    /// Returns a copy of this query, limited to entities that have a tag (see components/tag.h). Call it twice to
    /// require two tags. The tag's list of entities is joined like a store; if it is the shortest, it is the driver. It
    /// is not an error if no entity has the tag.
    /// Requires: a manager keeps the tags, which is true unless ComponentDirectory::claim() has set another store.
    Query tagged(detail::TagName tag) const {
        static_assert(kIsOfWorld, "tags are those of a world; say world.query<...>()");
        return with_tag(tag.id, false);
    }
    /// Returns a copy of this query, limited to entities that lack a tag. Requires: as for tagged().
    Query untagged(detail::TagName tag) const {
        static_assert(kIsOfWorld, "tags are those of a world; say world.query<...>()");
        return with_tag(tag.id, true);
    }
    /// Returns a copy of this query whose function takes an EventWriter<T>& for each channel before its other
    /// arguments. The writer is faster than the channel itself (see command/events.h). A pass that uses the result must
    /// declare writes() for the channels. Requires: no two channels have the same type.
    template <class... Ts>
    WritingQuery<Query, Ts...> writing(Events<Ts>&... events) const {
        return {*this, events...};
    }

    /// Returns a copy of this query whose loops are cut into chunks of at least `rows` rows, rounded up to a multiple
    /// of 64. Use it if a call takes microseconds: with the usual 4,096 rows per chunk, a small loop would stay on one
    /// thread. The cuts depend only on the numbers of rows, not on the number of workers. Requires: rows > 0.
    Query grain(std::uint32_t rows) const {
        SHOAL_ASSERT(rows > 0, "a chunk has at least one row");
        Query result = *this;
        result.grain_ = rows;
        return result;
    }

    /// The store whose rows a loop would currently visit.
    const Store& driver() const { return plan_.driver(); }
    /// Requires: this is a query over a database.
    Database& database() const { return plan_.database(); }
    /// The number of the driver's rows that match, including disabled ones. A loop visits at most this number of rows.
    /// If the query has an Added, Changed or Removed term, returns the number of rows that the last loop found. Cost: a
    /// step per table.
    std::uint64_t num_rows() const { return plan_.num_rows(); }
    /// Returns the number of bytes that the named fields occupy in one row, for computing data rates. Singletons count
    /// only if the query has no other terms.
    static constexpr std::size_t bytes_per_row() { return (0 + ... + bytes_of<Terms>()); }
    static constexpr bool writes() { return (Terms::kWrites || ...); }
    /// A loop's accesses, for schedules.
    Array<Access> accesses() const {
        Array<Access> accesses = plan_.accesses();
        if constexpr (kHasSingletons)
            for (const Access& access : singletons_.accesses()) accesses.push_back(access);
        return accesses;
    }

    // The checks are in the functions that users call, because each further call level adds a line to the compiler's
    // error message.

    /// Calls `function` for each row, and marks the written fields.
    template <class Function>
    void for_each(Function&& function) const {
        static_assert(
            kFits<Function>,
            "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
            "const for Maybe, Parent and Related, a const T& for Removed, and optionally Commands& and an Entity "
            "before them");
        if constexpr (kFits<Function>) run<false>(nullptr, function);
    }
    /// Calls `function` for each row, on several threads at the same time, and marks the written fields. Small loops
    /// stay on the calling thread.
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        static_assert(
            kFits<Function>,
            "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
            "const for Maybe, Parent and Related, a const T& for Removed, and optionally Commands& and an Entity "
            "before them");
        if constexpr (kFits<Function>) run<false>(&executor, function);
    }
    /// Starts a loop on several threads and returns a StartedQuery, whose wait() marks the written fields.
    /// Lifetime: this query and `function` outlive the result.
    template <class Function>
    auto start(Executor& executor, Function& function) const {
        static_assert(
            kFits<Function>,
            "the function takes one argument per field: a value for Read, `auto&&` for Write, a pointer to "
            "const for Maybe, Parent and Related, a const T& for Removed, and optionally Commands& and an Entity "
            "before them");
        if constexpr (kFits<Function>) return StartedQuery<Query, Function, false>(*this, executor, function);
    }

    /// Calls `function` with a Batch (and a Commands& first, if it takes one) until all rows are visited, and marks the
    /// written fields. A batch is a run of consecutive rows in a table, or in one chunk of a table. In a join, the rows
    /// are consecutive in all stores, so a batch may be a single row.
    template <class Function>
    void for_each_batch(Function&& function) const {
        static_assert(
            kTakesBatch<Function>,
            "the function takes an `auto&&` batch, or Commands& and a batch; what was Removed has no columns to show");
        if constexpr (kTakesBatch<Function>) run<true>(nullptr, function);
    }
    template <class Function>
    void for_each_batch(Executor& executor, Function&& function) const {
        static_assert(
            kTakesBatch<Function>,
            "the function takes an `auto&&` batch, or Commands& and a batch; what was Removed has no columns to show");
        if constexpr (kTakesBatch<Function>) run<true>(&executor, function);
    }

private:
    template <class, class, bool>
    friend class StartedQuery;
    template <class Function, bool kBatches>
    static constexpr bool takes_commands() {
        if constexpr (kBatches)
            return detail::Callable<Function, Commands&, Batch>;
        else
            return Loop::template kTakesCommands<Function>;
    }

    template <class Term>
    static constexpr std::size_t bytes_of() {
        if constexpr (Term::kIsField && (!Term::kIsSingleton || kIsOfSingletons))
            return sizeof(ValueOf<Term::kMember>);
        else
            return 0;
    }

    template <auto kMember, class Term>
    static constexpr bool names_key() {
        return detail::names_member<kMember, Term>() && !Term::kIsOptional && !Term::kIsSingleton;
    }
    Query with_tag(StringId tag, bool excludes) const {
        constexpr bool kIsOfRows = !kIsOfSingletons;
        constexpr bool kReadsOne = !(detail::reads_many<Terms>() || ...);
        static_assert(kIsOfRows, "a query of singletons alone visits no rows, so no tag chooses among them");
        static_assert(kReadsOne,
                      "an entity may have several of the component, and a query that names a tag visits it once; "
                      "say With, and read them of each entity");
        Query result = *this;
        if constexpr (kIsOfWorld && kIsOfRows && kReadsOne) result.plan_.add_tag(tag, excludes);
        return result;
    }

    /// The function that a loop calls, and the query with its singletons.
    template <class Function>
    struct Call {
        const Query& query;
        Function& function;
    };
    template <bool kBatches, class Function>
    detail::LoopFunction loop_function(Call<Function>& call) const {
        return {.call = show<kBatches, Function>,
                .context = &call,
                .takes_commands = takes_commands<Called<Function>, kBatches>(),
                .takes_runs = kBatches,
                .grain = grain_};
    }
    template <bool kBatches, class Function>
    void run(Executor* executor, Function& function) const {
        Call<Function> call{*this, function};
        const MarkSingletons mark{singletons_};
        plan_.run(executor, loop_function<kBatches>(call));
    }
    template <bool kBatches, class Function>
    static void show(void* context, detail::FoundRows& found) {
        static_assert(!kHasSingletons || !kBatches,
                      "a batch shows columns; read singletons before the loop, World::singleton()");
        const Call<Function>& call = *static_cast<Call<Function>*>(context);
        if constexpr (kHasSingletons) {
            const typename Singletons::Values values(call.query.singletons_);
            Called<Function> called{call.function, values};
            show_to<kBatches>(called, found);
        } else {
            show_to<kBatches>(call.function, found);
        }
    }
    template <bool kBatches, class Function>
    SHOAL_INLINE static void show_to(Function& function, detail::FoundRows& found) {
        if constexpr (takes_commands<Function, kBatches>()) {
            detail::WithCommands<Function> bound{function, *found.commands};
            show_bound<kBatches>(bound, found);
        } else {
            show_bound<kBatches>(function, found);
        }
    }
    template <bool kBatches, class Function>
    SHOAL_INLINE static void show_bound(Function& function, detail::FoundRows& found) {
        if constexpr (!kBatches)
            Leaf::template run<kMayJoin>(function, found);
        else if constexpr (kIsOfWorld)
            function(Batch({*found.table, found.of_database}, found));
        else if constexpr (kHasDatabase)
            function(Batch(*found.of_database, found));
        else
            function(Batch(*found.table, found));
    }
    /// Marks the written singletons when a loop ends, even if its function throws.
    struct MarkSingletons {
        const Singletons& singletons;
        ~MarkSingletons() {
            if constexpr (kIsOfSingletons && writes()) singletons.mark_written();
        }
    };

    detail::QueryPlan plan_;
    [[no_unique_address]] Singletons singletons_;
    std::uint32_t grain_ = kUsualRowsPerChunk;
};

/// A query's loop that was started on an executor's threads.
///
///     auto run = moving.start(executor, move);     // jobs are at work
///     look_at(other_things);
///     run.wait();                                  // this thread helps; then what was written is marked
template <class Query, class Function, bool kBatches>
class StartedQuery {
public:
    StartedQuery(const Query& query, Executor& executor, Function& function)
        : mark_{query.singletons_},
          call_{query, function},
          loop_(query.plan_, &executor, query.template loop_function<kBatches>(call_)) {}
    StartedQuery(const StartedQuery&) = delete;
    StartedQuery& operator=(const StartedQuery&) = delete;

    /// Waits until all rows are done, and then marks the written fields. If the function throws, the other chunks still
    /// run; afterwards, wait() rethrows the exception from the first row that threw one. The destructor also waits, but
    /// logs the exception.
    void wait() {
        loop_.finish();
        loop_.rethrow();
    }

private:
    const typename Query::MarkSingletons mark_;
    typename Query::template Call<Function> call_;
    detail::StartedPlan loop_;
};

/// Makes a query over the rows of stores: an optional Database followed by Managers, or the stores of a directory.
template <class... Terms, class... Stores>
auto query(Stores&... stores) {
    using enum detail::Mistake;
    constexpr detail::Mistake kFound = detail::find_mistake<From<Stores...>, Terms...>();
    static_assert(detail::kIsNot<kFound, kNoTerm>,
                  "a term says what is done with a component: Read<&T::field> or Write<&T::field>, Read<all_fields<T>> "
                  "or Write<all_fields<T>>, With<T>, Without<T>");
    static_assert(detail::kIsNot<kFound, kIncomplete>,
                  "the database's header is missing; include shoal/database/database.h");
    static_assert(detail::kIsNot<kFound, kTwoDatabases>,
                  "a query joins one database with managers; make a query for each");
    static_assert(detail::kIsNot<kFound, kNamesNothing>, "a query names at least one component type");
    static_assert(detail::kIsNot<kFound, kUndeclared>,
                  "a component is not declared; write SHOAL_COMPONENT(Name, fields...)");
    static_assert(detail::kIsNot<kFound, kFieldsAreNotPlain>,
                  "all_fields<T> is for components with fields, whose types are those of field.h; name the fields one "
                  "by one: Read<&T::field>");
    static_assert(detail::kIsNot<kFound, kNoField>,
                  "the member is not among the fields of its SHOAL_COMPONENT declaration");
    static_assert(detail::kIsNot<kFound, kNamedTwice>, "a query names each field once; Write gives the old value too");
    static_assert(detail::kIsNot<kFound, kNeedsWorld>,
                  "Parent, Related, AnyOf, Singleton, Added, Removed and Changed need to know all stores; say "
                  "world.query<...>()");
    static_assert(detail::kIsNot<kFound, kNotesTwice>,
                  "a query asks once for what was Added, Removed or Changed; make a query for each");
    static_assert(detail::kIsNot<kFound, kNotesMany>,
                  "Added, Removed and Changed are for types of which an entity has one, and stand beside no field of "
                  "which it may have several; ask observers");
    static_assert(detail::kIsNot<kFound, kLinksMany>,
                  "Related<> goes by a field of which an entity has one; look the others up");
    static_assert(
        detail::kIsNot<kFound, kRemovedIsEmpty>,
        "Removed<> gives what a component was, so its type has fields that are bytes; ask observers for others");
    static_assert(detail::kIsNot<kFound, kNoSingleton>,
                  "the component of a Singleton<> is not declared singleton; declare it with (Name, singleton)");
    static_assert(detail::kIsNot<kFound, kWritesSingleton>,
                  "a query over rows cannot write a singleton: its loops run on several threads; write it alone");
    static_assert(
        detail::kIsNot<kFound, kWritesOfParents>,
        "a query cannot write a component that it reads of parents or related entities; read it in a second query");
    static_assert(detail::kIsNot<kFound, kWritesComputed>,
                  "the store of a component computes it, so a query does not write it; say Read, or call the store");
    static_assert(detail::kIsNot<kFound, kBesideWorld>, "a world has all of its stores; give the world alone");
    static_assert(detail::kIsNot<kFound, kNoManager>,
                  "the manager of a component is missing; give it too: query<...>(manager, others...), or "
                  "query<...>(database, managers...)");
    static_assert(
        detail::kIsNot<kFound, kNoDriver>,
        "a query over managers or a world needs a Read, Write, With, Added or Changed: it says whose rows to visit");
    static_assert(detail::kIsNot<kFound, kIgnoresDatabase>, "no term is about the database; leave it out");
    static_assert(detail::kIsNot<kFound, kJoinsMany>,
                  "a join needs managers with one component per entity; world.query<...>() runs once per value");
    static_assert(detail::kIsNot<kFound, kReadsMany>,
                  "an entity may have several of the component: a query over a world or a database visits those of one "
                  "such type with Read or Write; of others say With or Without, and Database::for_each_value()");
    if constexpr (kFound == kNone)
        return Query<From<Stores...>, Terms...>(stores...);
    else
        return detail::RefusedQuery();
}

}  // namespace shoal
