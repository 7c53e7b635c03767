#pragma once
// A world as Python has it, and what keeps its memory valid while arrays show it.
//
//     Query --with--> Hold --batch["body.mass"]--> array --base--> Use --> Hold --> Query, World
//
// An array over a column refers to a Use, which refers to the Hold of its rows, which keeps the rows in place, and with them
// the query and the world. As long as one Hold of a world lives, calls that would move rows are refused with a BusyError that
// says which arrays are left. So no array ever shows memory that is not there, and no call changes rows under an array.
// Batches, queries and passes refer to holds weakly: only arrays and open `with` blocks count.
// Thread: the one that has the interpreter's lock. step() gives it up while passes run on several workers.

#include "shoal/plugin/detail/guest.h"
#include "shoal/query/detail/held_rows.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/library.h"
#include "shoal/source/compiler.h"
#include "values.h"

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace shoal_python {

/// Component types and rules for sources.
struct SchemaSet {
    SchemaSet();
    /// Errors: throws CompileError with all that is wrong; nothing is added.
    void add_text(const std::string& text, const std::string& name);
    void add_file(const std::string& path);
    py::dict components() const;

    ComponentRegistry registry;
    SourceRules rules;
    std::size_t num_built_in = 0;
};

/// A compiled resource.
struct LoadedBlob {
    explicit LoadedBlob(Blob loaded) : blob(std::move(loaded)) {}
    Blob blob;
    std::string warnings;
};

struct Hold;
struct QueryState;
class PythonQuery;

struct WorldOptionsOfPython {
    std::uint64_t seed = 1;
    std::uint32_t num_workers = 1;
    bool in_database = false;
    bool is_reloadable = false;  ///< it remembers what was spawned from which blob
};

class WorldState;
struct PythonChannel;

/// Calls what Python has given to a world.
struct PythonHost final : GuestHost {
    PythonHost(WorldState& of, World& of_world);
    void tell(Guest& guest, const GuestObserver& observer, const ObservedBatch& batch) override;
    void end(const GuestObserver& observer) override;
    /// Throws what the first observer has raised since the last call.
    void rethrow();

    WorldState& state;
    std::exception_ptr failure;
    bool is_telling = false;
};

class WorldState : public std::enable_shared_from_this<WorldState> {
public:
    WorldState(std::shared_ptr<SchemaSet> schema, const WorldOptionsOfPython& options);
    ~WorldState();

    /// While it lives, Python code that is run meanwhile, such as __array__() or a finalizer, cannot change the world.
    struct Conversion {
        explicit Conversion(const WorldState& of) : state(of) { ++state.num_conversions_; }
        ~Conversion() { --state.num_conversions_; }
        Conversion(const Conversion&) = delete;
        const WorldState& state;
    };

    /// Ends the world. Errors: arrays or blocks are left.
    void close();
    bool is_closed() const { return parts_ == nullptr; }
    /// Errors: the world is closed, or passes run.
    World& require_open(std::string_view what) const;
    /// The same for what may move rows. Errors: as above; arrays or `with` blocks are left.
    World& require_free(std::string_view what);
    ValueContext values() const;

    /// Finds the store of a component type, or makes it. Errors: nobody knows the type; the message says which there are.
    KeptComponent component(const std::string& name);
    /// Makes the stores of the component types that a text names.
    void prepare_names(std::string_view text);

    std::vector<Entity> create(std::size_t count, const py::dict& components);
    std::size_t destroy(std::span<const Entity> entities);
    std::vector<Entity> spawn(const LoadedBlob& blob, std::uint32_t copies, const py::object& positions,
                              const py::dict& overrides);
    void add(std::span<const Entity> entities, const std::string& name, const py::dict& values);
    std::size_t remove(std::span<const Entity> entities, const std::string& name);
    void change_tag(std::span<const Entity> entities, const std::string& tag, bool adds);
    void set_name(Entity entity, const std::string& name);
    py::object get(const py::object& entity, const std::string& path);
    void set(const py::object& entity, const std::string& path, const py::object& value);
    py::array read(std::span<const Entity> entities, const std::string& path);
    void write(std::span<const Entity> entities, const std::string& path, const py::object& values);

    /// Lets the database move rows to the tile of a Vec3 field when the world settles.
    void keep_in_tiles(const std::string& path, const py::object& origin, float tile_size, std::uint32_t num_x,
                       std::uint32_t num_y);
    /// Rows and bytes by zone and component type.
    py::list zones() const;

    /// Copies an entity with all below it. Returns the copies of itself.
    std::vector<Entity> copy(Entity original, std::uint32_t copies);

    /// `kind`: "add", "remove" or "change". Returns a number.
    std::uint32_t add_observer(const std::string& kind, const std::string& path, const py::object& function);
    void remove_observer(std::int64_t number);
    void open_channel(const std::string& name, const py::object& dtype);
    PythonChannel& channel(const std::string& name, bool writes) const;

    py::bytes save();
    void load(const py::bytes& state);
    /// Brings what was spawned from a blob to a newer version of it.
    py::dict reload(const LoadedBlob& before, const LoadedBlob& after);

    /// `query`: its text, or None. `given`: lists of names, such as after, and every_frames and every_seconds.
    void add_pass(const std::string& name, const py::object& query, py::object function, const py::dict& order);
    void remove_pass(const std::string& name);
    void step(float dt);
    void settle();

    PythonQuery query(const std::string& text);
    /// Returns rows that stay in place. Errors: the world is closed, or a call is under way.
    std::shared_ptr<Hold> hold(std::shared_ptr<QueryState> query, const std::string& reader);
    const ResourceLibrary& library() const { return parts_->library; }

private:
    friend struct Hold;
    friend struct QueryState;
    friend struct FrameState;

    AnyValue value_for(const std::string& path, const py::object& given);
    Array<SpawnOverride> overrides_from(const py::dict& given);

    /// In the order in which they are made.
    struct Parts {
        Parts(WorldState& state, const WorldOptionsOfPython& options);
        ResourceLibrary library;
        EntityManager entities;
        std::unique_ptr<ThreadedExecutor> executor;
        World world;
        PythonHost host;
        Guest guest;
        std::optional<Reloader> reloader;
    };
    void end();
    /// The same as require_free() for what may not be done while observers run.
    World& require_rest(std::string_view what);
    void settle_now();
    std::vector<std::byte> images(const Schema& schema, std::size_t count, const py::dict& values);
    [[noreturn]] void refuse_unknown(const std::string& name) const;
    void require_living(std::span<const Entity> entities) const;
    void keep_arrays(const Blob& blob);
    std::string uses() const;
    void require_no_hold(std::string_view what) const;

    std::shared_ptr<SchemaSet> schema_;
    bool in_database_;
    std::unique_ptr<Parts> parts_;
    std::vector<Hold*> holds_;
    bool passes_run_ = false;
    bool must_settle_ = false;  // passes have run, and arrays that they kept were in the way
    mutable int num_conversions_ = 0;
};

/// A query of a world, which is empty once the world is closed. Who has one has the world, too, or belongs to it.
struct QueryState final : GuestQuery {
    QueryState(WorldState& world, const std::string& of_text);
    ~QueryState();
    const TextQuery& require() const;
    void destroy() override { is_added_ = false; }  // it ends with the last that has it

private:
    Status find_columns() override { return {}; }

    bool is_added_ = true;
};

/// A column that was asked for.
struct ShownColumn {
    py::object shown;               ///< an array, or the parts of a split field
    std::vector<py::array> arrays;  ///< one, or one per part
    std::size_t component = 0;
    const Field* field = nullptr;
    std::vector<TextColumn> columns;  ///< as arrays
    std::size_t element_bytes = 0, lane_stride = 0;
    bool is_view = false;
};

/// Rows that stay in place.
struct Hold {
    Hold(std::shared_ptr<WorldState> of, std::shared_ptr<QueryState> of_query, std::string of_reader);
    ~Hold();
    /// Writes copies back, marks what was written, and makes the arrays read-only.
    void close();

    std::shared_ptr<WorldState> world;
    std::shared_ptr<QueryState> query;
    HeldRows rows;
    bool is_open = true;
    std::string reader;                                     ///< for messages: query "body"
    std::map<std::string, int> in_use;                      ///< arrays over memory of the world, by name
    std::vector<std::map<std::string, ShownColumn>> shown;  ///< by batch
};

/// A query as Python has it: a context manager.
class PythonQuery {
public:
    PythonQuery(std::shared_ptr<WorldState> world, std::shared_ptr<QueryState> query)
        : world_(std::move(world)), query_(std::move(query)) {}
    PythonQuery(const PythonQuery&) = delete;
    PythonQuery(PythonQuery&&) = default;
    ~PythonQuery() { leave(); }

    const std::string& text() const { return query_->text; }
    std::uint64_t num_rows() const;
    py::list components() const;
    py::list enter();
    void leave();

private:
    std::shared_ptr<WorldState> world_;
    std::shared_ptr<QueryState> query_;
    std::shared_ptr<Hold> open_;
};

/// A batch of rows, as long as its block is open.
class PythonBatch {
public:
    PythonBatch(const std::shared_ptr<Hold>& hold, std::size_t index) : hold_(hold), index_(index) {}

    std::size_t num_rows() const { return rows(*require()).num_rows(); }
    py::array entities() const { return to_array(rows(*require()).entities()); }
    py::object column(const std::string& name) const { return find(name).shown; }
    void set_column(const std::string& name, const py::object& value) const;
    bool is_view(const std::string& name) const { return find(name).is_view; }
    py::array has(const std::string& component) const;
    py::list columns() const;

private:
    std::shared_ptr<Hold> require() const;
    const TextBatch& rows(const Hold& hold) const { return hold.rows.batch(index_); }
    ShownColumn& find(const std::string& name) const;
    ShownColumn make(const std::shared_ptr<Hold>& hold, const std::string& name) const;
    void require_alone(const Hold& hold, const ShownColumn& made, const std::string& name) const;

    std::weak_ptr<Hold> hold_;
    std::size_t index_;
};

/// What a pass in Python is given beside its rows, as long as it runs.
struct FrameState {
    float dt = 0;
    std::uint64_t number = 0, seed = 0;
    WorldState* world = nullptr;  ///< nullptr: the pass has ended
    std::set<EntityBits> pending;

    Commands& commands() const;
    std::vector<Entity> create(std::size_t count, const py::dict& components);
    void destroy(std::span<const Entity> entities);
    void add(std::span<const Entity> entities, const std::string& name, const py::dict& values);
    void remove(std::span<const Entity> entities, const std::string& name);
    void tag(std::span<const Entity> entities, const std::string& tag, bool adds);
    std::vector<Entity> copy(std::span<const Entity> originals);

private:
    void require_known(std::span<const Entity> entities) const;
    KeptComponent kept(const std::string& name) const;
};

void bind_schema(py::module_& module);
void bind_world(py::module_& module);
void bind_sql(py::module_& module);  ///< behind it
void bind_rows(py::module_& module);
void bind_guests(py::module_& module);

}  // namespace shoal_python
