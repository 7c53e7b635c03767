#pragma once
// Objects, such as passes and queries, that code in other languages adds to a world. C plugins and Lua scripts are
// guests. A guest has passes, queries, event channels and observers. They are removed when the guest is unloaded, and
// recreated when stores change.
//
//     GuestHost       all guests of one language in a world
//     Guest           one plugin or script: what it has made, and what a failed load undoes
//     GuestQuery      a text query; the language defines its columns
//     GuestPass       a pass of the schedule; it is paused while something it needs is missing
//     GuestChannel    a channel of events, by its name
//     GuestObserver   a function that is called for additions, removals and changes
//     SpawnedImages   the components passed to a store of a guest, in one form
//
// A language derives its host from GuestHost and its parts from GuestPart, and adds its own functions and data.
//
//     load     is_loading = true | the code of the guest runs | end_load(keep)
//     reload   suspend() the older one | load the newer one | on an error: resume() the older one
//     unload   remove_parts() | the language's own parts | remove_channels()
//
// Thread: the structural thread of the world, between its steps, except for GuestPass::run().

#include "shoal/query/text_query.h"
#include "shoal/react/observers.h"
#include "shoal/react/service.h"
#include "shoal/world/detail/named_components.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace shoal {

class OwnedRows;
class SchemaChange;
class Table;
struct SpawnBatch;
struct Guest;
struct GuestHost;

/// An object that a guest has made. Derived classes add the data of their language.
struct GuestPart {
    explicit GuestPart(Guest& of) : guest(of) {}
    GuestPart(const GuestPart&) = delete;
    GuestPart& operator=(const GuestPart&) = delete;
    /// Destroys and frees the part.
    virtual void destroy() = 0;

    Guest& guest;

protected:
    ~GuestPart() = default;
};

/// A field, or a part of a field, that a query gives access to in each row.
struct GuestColumn {
    std::string name;  ///< "wheel.angle"
    ValueType type{};
    std::size_t component = 0;  ///< index in TextQuery::components()
    std::uint32_t column = 0;   ///< index in Schema::columns()
    std::uint32_t offset = 0;   ///< byte offset in each element of the column
};
inline constexpr std::size_t kMostGuestColumns = 64;

/// A guest's text query. Requires: the language calls make() before using `query`.
struct SHOAL_API GuestQuery : GuestPart {
    GuestQuery(Guest& of, std::string_view of_text, Array<std::string>&& of_columns)
        : GuestPart(of), text(of_text), column_names(std::move(of_columns)) {}

    /// Makes the query, replacing an earlier one. Errors: those of TextQuery::make() and find_columns(). On error, the
    /// query is empty, and `problem` is set.
    Status make();
    void forget();
    std::uint64_t num_rows() const { return query ? query->num_rows() : 0; }

    const std::string text;
    const Array<std::string> column_names;
    std::optional<TextQuery> query;  ///< empty while something that the text names is missing
    Array<GuestColumn> columns{Owner("guests")};
    Status problem;

protected:
    ~GuestQuery() = default;
    /// Finds the columns in `query`. Errors: a column is missing, or the language cannot represent it.
    virtual Status find_columns() = 0;
    virtual void forget_columns() {}
    /// Lets loops write only `columns`, not whole components. Called by find_columns().
    void limit_writes();
};

/// The component and field to which a column name in a query refers, such as "wheel.angle" or "^wheel.angle".
struct NamedColumn {
    std::size_t component = 0;  ///< index in TextQuery::components()
    const Schema* schema = nullptr;
    std::string_view field;
};
/// Errors: the field does not exist, or the query does not have the component.
SHOAL_API Result<NamedColumn> find_named_column(const TextQuery& query, std::string_view name);

/// An event channel that a guest has opened.
struct GuestChannel : GuestPart {
    GuestChannel(Guest& of, std::string_view named, detail::EventLog& of_world)
        : GuestPart(of), log(of_world), name(named) {}

    detail::EventLog& log;
    const std::string name;

protected:
    ~GuestChannel() = default;
};

/// A guest's pass.
struct SHOAL_API GuestPass : GuestPart {
    GuestPass(Guest& of, std::string_view named) : GuestPart(of), name(named) {}
    virtual void run(const PassContext& context, Executor& executor) = 0;

    /// Sets `accesses` for the current stores. Errors: a store, a channel or the query is missing.
    Status find_accesses();
    /// Whether the pass has declared that it reads from a channel or, if `writes` is set, that it writes to the
    /// channel.
    bool declares(const GuestChannel& channel, bool writes) const;
    /// Updates `accesses`. Pauses the pass if something is missing, and otherwise resumes it.
    void renew();

    const std::string name;
    GuestQuery* query = nullptr;  ///< owned by this pass; nullptr: run() does not visit rows
    Array<std::string> reads{Owner("guests")}, writes{Owner("guests")};          ///< not in the query
    Array<std::string> reads_from{Owner("guests")}, writes_to{Owner("guests")};  ///< event channels
    Array<std::string> after{Owner("guests")}, before{Owner("guests")};          ///< names of passes
    std::uint32_t every_frames = 0;                                              ///< 0 to run in every frame
    float every_seconds = 0;
    Array<Access> accesses{Owner("guests")};
    bool is_added = false;       ///< whether the schedule has the pass
    bool is_everything = false;  ///< may access anything without declaring it, because its host runs one pass at a time
    bool rests = false;          ///< paused because something that it needs is missing
    bool is_told = false;        ///< whether this was logged

protected:
    ~GuestPass() = default;
};

/// A guest's observer, with the data needed to add it again.
struct GuestObserver {
    ComponentId component{};
    ObserverKind kind = ObserverKind::kAdd;
    std::string name{};   ///< name of the component type
    std::string field{};  ///< empty: any field
    // An address, or a reference to a function of the language. Used by GuestHost::tell().
    std::uintptr_t function = 0;
    void* context = nullptr;
    // Maintained by the guest.
    std::uint32_t number = 0;
    ObserverId id{};
    const Store* store = nullptr;  ///< the observed store; nullptr if no store has the component type
};

/// One plugin or script.
struct SHOAL_API Guest {
    /// Adds itself to the host, after all other guests.
    Guest(GuestHost& of, std::string_view named);
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;
    /// Requires: everything that the guest has made has been removed.
    ~Guest();

    /// Makes a query and adds it. Errors: those of GuestQuery::make(). On error, the query is destroyed.
    Status add(GuestQuery& made);
    /// Requires: no pass uses the query.
    void remove(GuestQuery& query);
    /// Adds a pass to the schedule. Errors: those of GuestPass::find_accesses(), the pass's name is taken, or the
    /// passes have no valid order (not an error while the guest is loading, because it may add more passes). On error,
    /// the pass and its query are destroyed.
    Status add(GuestPass& made);
    /// Errors: the program has removed the pass from the schedule.
    Status remove(GuestPass& pass);
    GuestPass* find_pass(std::string_view named) const;
    Array<std::string> pass_names() const;
    GuestChannel* find_channel(std::string_view named) const;
    /// Adds an observer, and returns its number. Errors: no store has the component type, or the type does not have the
    /// field.
    Result<std::uint32_t> add(GuestObserver observer);
    /// Errors: the observer does not exist.
    Status remove_observer(std::int64_t number);

    /// Declares a component type. Makes its table, or changes the fields of an existing type.
    /// Errors: those of World::manager() and begin_schema_change(), or a guest's query, pass or observer uses the type.
    Status declare(const Schema& schema);
    /// Records entities that were made during the load, so that end_load() can destroy them.
    void note_made(std::span<const Entity> entities);
    /// Ends a load. Unless `keep` is set, destroys the entities that were made during the load, and undoes declare().
    void end_load(bool keep);

    /// suspend() removes passes and observers from the world, and resume() adds them again. Errors: those of add().
    /// On error, passes and observers that have not been added yet stay out of the world.
    void suspend();
    Status resume();
    /// Recreates queries, passes and observers.
    void renew();
    /// Whether a query, a pass or an observer waits for something that was removed.
    bool lacks_something() const;
    /// Removes passes, observers and queries, the newest first.
    void remove_parts();
    void remove_channels();

    GuestHost& host;
    World& world;
    const std::string name;
    Array<GuestPass*> passes{Owner("guests")};
    Array<GuestQuery*> queries{Owner("guests")};
    Array<GuestChannel*> channels{Owner("guests")};
    Array<GuestObserver> observers{Owner("guests")};
    std::uint32_t num_observers = 0;  ///< number of observers added so far
    bool is_active = true;            ///< false while it is suspended, because a newer version is being tried
    bool is_loading = false;
    // These are used only during loading.
    Array<Entity> made_entities{Owner("guests")};
    Array<Store*> made_stores{Owner("guests")};
    Array<SchemaChange*> changes{Owner("guests")};
};

/// The components of a spawned batch, as struct images. Used by stores that guests implement. Entity fields refer to
/// the new entities.
struct SHOAL_API SpawnedImages {
    SpawnedImages(const SpawnBatch& batch, const Schema& schema);

    Array<Entity> owners{Owner("guests")};   ///< the owners in all copies
    Array<Entity> parents{Owner("guests")};  ///< the parents of `owners`; empty if no owner has a parent
    Array<std::byte> images{Owner("guests")};
};
/// Copies a row from columns to a struct image. Shape: `columns` has one column for each of Schema::columns().
SHOAL_API void read_columns(const Schema& schema, std::span<const std::byte* const> columns, std::size_t row,
                            std::byte* image);
/// Like read_columns(), but reads a table of one component type.
SHOAL_API void read_image(const Table& table, const Schema& schema, std::uint32_t row, std::byte* image);
/// Returns the entities in `entities` that are dead but still have a row. Used by OwnedRowsOptions::remove_dead.
SHOAL_API Array<Entity> dead_owners(const OwnedRows& rows, std::span<const Entity> entities);

/// Copies an entity's component from any store to a struct image, leaving out fields with C++ types.
/// Errors: the entity is dead, or does not have the component.
SHOAL_API Status read_component(const World& world, const KeptComponent& kept, Entity entity, std::byte* image);

/// Words for messages about a language's guests.
struct GuestWords {
    const char* guest;           ///< "plugin"
    const char* how_to_declare;  ///< advice for a component type without a store
    const char* how_to_open;     ///< advice for a channel that the guest has not opened
};

/// All guests in a world that use one language.
struct SHOAL_API GuestHost : WorldService {
    GuestHost(World& of, std::string_view service_name, const GuestWords& words_for_guests, bool one_at_a_time);
    ~GuestHost() override;

    /// Calls an observer's function.
    virtual void tell(Guest& guest, const GuestObserver& observer, const ObservedBatch& batch) = 0;
    /// Frees a removed observer's function.
    virtual void end(const GuestObserver& /*observer*/) {}
    /// Recreates the queries, passes and observers of all guests after stores have changed. A pass that needs a
    /// missing store is paused until the store exists.
    virtual void renew_all();
    void fields_changed() override { renew_all(); }
    void forget(const Store& store) override;
    void before_commands(const SettleContext& context) override;

    /// Removes the names of destroyed passes from other passes' after() and before(), except names that new passes
    /// have.
    void forget_passes(const Array<std::string>& names);
    /// Errors: no store has the component type.
    virtual Result<KeptComponent> find_kept(std::string_view component);
    /// Returns a guest that uses a component type in queries, passes or observers; nullptr if there is none. Ignores
    /// the guest `but`.
    const Guest* find_user(const Schema& component, const Store& store, const Guest* but = nullptr) const;
    Guest* find_guest(std::string_view name) const;
    /// Ends the program if a guest's pass or function is running. Called by functions that load or unload guests.
    void require_idle() const;

    World& world;
    const GuestWords words;
    const bool runs_one_at_a_time;  ///< the language is single-threaded
    bool is_exchanging = false;     ///< guests are being replaced; paused parts may resume afterwards
    bool has_lost_stores = false;   ///< stores were removed after the last renewal; the next settle renews guests again
    std::size_t num_known_stores = 0;  ///< stores of the world at the last renewal; new ones may be what guests lack
    std::uint32_t num_calls = 0;       ///< number of guest functions that are running, except passes
    Array<Guest*> guests{Owner("guests")};
};

/// Exists during a call to a guest's function, when guests must not be loaded or unloaded.
class GuestCallScope {
public:
    explicit GuestCallScope(GuestHost& host) : host_(host) { ++host_.num_calls; }
    GuestCallScope(const GuestCallScope&) = delete;
    GuestCallScope& operator=(const GuestCallScope&) = delete;
    ~GuestCallScope() { --host_.num_calls; }

private:
    GuestHost& host_;
};

}  // namespace shoal
