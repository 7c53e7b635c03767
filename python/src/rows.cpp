// Queries, the batches that their blocks show, and passes written in Python.

#include "guests.h"
#include "shoal/table/detail/value_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace shoal_python {

// --- queries -----------------------------------------------------------------------------------------------------

QueryState::QueryState(WorldState& world, const std::string& of_text)
    : GuestQuery(world.parts_->guest, of_text, Array<std::string>(Owner("python"))) {
    shoal_python::require(guest.add(*this));
}

QueryState::~QueryState() {
    if (is_added_) guest.remove(*this);
}

const TextQuery& QueryState::require() const {
    if (query) return *query;
    throw Error(problem ? concat("query ", quoted(text), " is of a world that is closed") : problem.message());
}

PythonQuery WorldState::query(const std::string& text) {
    require_open("making a query");
    prepare_names(text);
    return {shared_from_this(), std::make_shared<QueryState>(*this, text)};
}

std::uint64_t PythonQuery::num_rows() const {
    world_->require_open("counting rows");
    return query_->require().num_rows();
}

py::list PythonQuery::components() const {
    py::list names;
    for (const TextComponent& component : query_->require().components())
        names.append(concat(component.is_written ? "&" : "", component.is_optional ? "?" : "",
                            component.is_of_parent ? "^" : "", component.schema->name()));
    return names;
}

py::list PythonQuery::enter() {
    const std::string reader = concat("query ", quoted(query_->text));
    query_->require();
    world_->require_open("opening a query");
    if (open_ != nullptr) throw BusyError(concat(reader, " is open already; leave its block"));
    const std::shared_ptr<Hold> hold = open_ = world_->hold(query_, reader);
    py::list batches;
    for (std::size_t i = 0; i < hold->rows.num_batches(); ++i) batches.append(PythonBatch(hold, i));
    return batches;
}

void PythonQuery::leave() {
    const std::shared_ptr<Hold> hold = std::move(open_);
    open_ = nullptr;
    if (hold != nullptr) hold->close();
}

// --- rows that stay in place -------------------------------------------------------------------------------------

namespace {

/// What an array over memory of a world refers to.
struct Use {
    Use(std::shared_ptr<Hold> of, std::string array) : hold(std::move(of)), name(std::move(array)) {
        ++hold->in_use[name];
    }
    ~Use() {
        if (--hold->in_use[name] == 0) hold->in_use.erase(name);
    }
    Use(const Use&) = delete;
    std::shared_ptr<Hold> hold;
    std::string name;
};

py::capsule use(const std::shared_ptr<Hold>& hold, const std::string& name) {
    return py::capsule(new Use(hold, name), [](void* done) { delete static_cast<Use*>(done); });
}

/// Copies elements of a size that the compiler knows, 0: that it does not. Those of entities without the component are left
/// out.
template <std::size_t kBytes>
void copy_sized(const TextColumn& column, std::size_t num_bytes, std::byte* values, bool back) {
    const std::size_t size = kBytes == 0 ? num_bytes : kBytes;
    for (std::uint32_t i = 0; i < column.num_rows; ++i) {
        const std::byte* const at = column.at(i);
        if (at == nullptr) continue;
        std::byte* const element = const_cast<std::byte*>(at);
        if (back)
            std::memcpy(element, values + i * size, size);
        else
            std::memcpy(values + i * size, element, size);
    }
}

/// The same for floats that do not lie side by side.
void copy_lanes(TextColumn column, std::size_t lane_stride, std::size_t num_bytes, std::byte* values, bool back) {
    for (std::uint32_t i = 0; i < column.num_rows; ++i) {
        std::byte* const element = const_cast<std::byte*>(column.at(i));
        if (element == nullptr) continue;
        for (std::size_t at = 0, from = 0; at < num_bytes; at += sizeof(float), from += lane_stride) {
            std::byte* const value = values + i * num_bytes + at;
            std::memcpy(back ? element + from : value, back ? value : element + from, sizeof(float));
        }
    }
}

/// Copies elements from where they are to an array, or back.
void copy_elements(const TextColumn& column, std::size_t lane_stride, std::size_t num_bytes, std::byte* values,
                   bool back) {
    if (lane_stride != 0) return copy_lanes(column, lane_stride, num_bytes, values, back);
    switch (num_bytes) {
        case 4:
            return copy_sized<4>(column, num_bytes, values, back);
        case 8:
            return copy_sized<8>(column, num_bytes, values, back);
        case 12:
            return copy_sized<12>(column, num_bytes, values, back);
        case 16:
            return copy_sized<16>(column, num_bytes, values, back);
        default:
            return copy_sized<0>(column, num_bytes, values, back);
    }
}

}  // namespace

std::shared_ptr<Hold> WorldState::hold(std::shared_ptr<QueryState> query, const std::string& reader) {
    if (num_conversions_ != 0)
        throw BusyError(concat("another call of the world is under way; ", reader, " has to wait"));
    if (parts_->host.is_telling)
        throw BusyError(concat("an observer runs; ", reader, " has to wait, but read() reads values"));
    return std::make_shared<Hold>(shared_from_this(), std::move(query), reader);
}

Hold::Hold(std::shared_ptr<WorldState> of, std::shared_ptr<QueryState> of_query, std::string of_reader)
    : world(std::move(of)),
      query(std::move(of_query)),
      rows(query->require()),
      reader(std::move(of_reader)),
      shown(rows.num_batches()) {
    world->holds_.push_back(this);
}

Hold::~Hold() { std::erase(world->holds_, this); }

void Hold::close() {
    if (!is_open) return;
    is_open = false;
    const std::span<const TextComponent> components = query->require().components();
    bool writes = false;
    for (const TextComponent& component : components) writes |= component.is_written;
    for (std::map<std::string, ShownColumn>& batch : shown)
        for (auto& [name, column] : batch)
            for (std::size_t i = 0; i < column.arrays.size(); ++i) {
                // A program may have resized an array that owns its memory.
                const std::size_t num_bytes = column.columns[i].num_rows * column.element_bytes;
                if (!column.is_view && components[column.component].is_written &&
                    static_cast<std::size_t>(column.arrays[i].nbytes()) == num_bytes)
                    copy_elements(column.columns[i], column.lane_stride, column.element_bytes,
                                  const_cast<std::byte*>(static_cast<const std::byte*>(column.arrays[i].data())), true);
                set_read_only(column.arrays[i]);
            }
    if (writes) rows.finish();
    shown.clear();
}

// --- batches -----------------------------------------------------------------------------------------------------

namespace {

struct FoundColumn {
    std::size_t component = 0;
    FieldPart part;
};

std::string shown_name(const TextComponent& component) {
    return concat(component.is_of_parent ? "^" : "", component.schema->name());
}

/// Finds the component of a query that a name begins with. Errors: there is none; the message says which there are.
std::size_t find_component(std::span<const TextComponent> shown, std::string_view name) {
    if (name.starts_with('$')) name.remove_prefix(1);
    std::string list;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (shown_name(shown[i]) == name) return i;
        list += concat(list.empty() ? "" : ", ", shown_name(shown[i]));
    }
    throw Error(concat("the query shows no component ", quoted(name), "; it shows ", list.empty() ? "none" : list));
}

FoundColumn find_column(std::span<const TextComponent> shown, std::string_view name) {
    const std::size_t dot = name.find('.');
    const std::size_t component = find_component(shown, name.substr(0, dot));
    const Schema& schema = *shown[component].schema;
    if (!shown[component].has_columns)
        throw Error(concat("the store of ", quoted(schema.name()), " keeps its fields in a form without columns"));
    if (dot != std::string_view::npos) return {component, require(find_field_part(schema, name.substr(dot + 1)))};
    if (schema.fields().size() == 1) return {component, field_part(schema, schema.fields()[0])};
    std::string list;
    for (const Field& field : schema.fields()) list += concat(list.empty() ? "" : ", ", name, ".", field.name);
    throw Error(concat("component ", quoted(name), " has ", schema.fields().empty() ? "no" : "several", " fields",
                       list.empty() ? "" : "; write one of ", list));
}

}  // namespace

std::shared_ptr<Hold> PythonBatch::require() const {
    std::shared_ptr<Hold> hold = hold_.lock();
    if (hold == nullptr || !hold->is_open)
        throw Error("the block of this batch has ended; open the query again, and copy what you keep (array.copy())");
    return hold;
}

ShownColumn PythonBatch::make(const std::shared_ptr<Hold>& hold, const std::string& name) const {
    const std::span<const TextComponent> components = hold->query->require().components();
    const FoundColumn found = find_column(components, name);
    const TextComponent& component = components[found.component];
    const FieldPart& part = found.part;
    ValueType element = part.type;
    if (part.num_columns > 1) element = {FieldType::kFloat, FieldType(0), 0, sizeof(float), {}};
    ArrayType type = array_type(element, name);
    type.lane_stride = part.lane_stride;
    ShownColumn made;
    made.component = found.component;
    made.field = part.field;
    made.element_bytes = element.num_bytes();
    made.lane_stride = part.lane_stride;
    for (std::uint32_t lane = 0; lane < part.num_columns; ++lane) {
        TextColumn column = rows(*hold).column(found.component, part.first_column + lane);
        if (column.first != nullptr) column.first += part.offset_in_column;
        made.is_view = column.rows == nullptr && column.first != nullptr;
        const bool is_writable = component.is_written && !component.is_singleton;
        if (made.is_view) {
            made.arrays.push_back(
                view_of(type, column.num_rows, column.first, column.stride, use(hold, name), is_writable));
        } else {
            std::vector<py::ssize_t> shape = {column.num_rows};
            shape.insert(shape.end(), type.shape.begin(), type.shape.end());
            py::array values(py::module_::import("numpy").attr("zeros")(shape, type.dtype));
            copy_elements(column, made.lane_stride, made.element_bytes, static_cast<std::byte*>(values.mutable_data()),
                          false);
            made.arrays.push_back(std::move(values));
            if (!is_writable) set_read_only(made.arrays.back());
        }
        made.columns.push_back(column);
    }
    if (made.arrays.size() == 1) {
        made.shown = made.arrays[0];
    } else {
        made.shown = py::module_::import("shoal.parts").attr("Parts")(py::cast(made.arrays));
    }
    return made;
}

/// Errors: a copy of the same field would be written back, too.
void PythonBatch::require_alone(const Hold& hold, const ShownColumn& made, const std::string& name) const {
    if (made.is_view || !hold.query->require().components()[made.component].is_written) return;
    for (const auto& [other, column] : hold.shown[index_])
        if (column.component == made.component && column.field == made.field)
            throw Error(concat(quoted(name), " and ", quoted(other),
                               " are copies of one field here, and both would be written back; ask for one of them"));
}

ShownColumn& PythonBatch::find(const std::string& name) const {
    const std::shared_ptr<Hold> hold = require();
    const auto at = hold->shown[index_].find(name);
    if (at != hold->shown[index_].end()) return at->second;
    ShownColumn made = make(hold, name);
    if (!hold->is_open)  // making arrays runs Python code, which may have left the block
        for (const py::array& array : made.arrays) set_read_only(array);
    require();
    require_alone(*hold, made, name);
    return hold->shown[index_].emplace(name, std::move(made)).first->second;
}

void PythonBatch::set_column(const std::string& name, const py::object& value) const {
    const ShownColumn& column = find(name);
    if (value.is(column.shown)) return;  // what an operator such as += leaves
    const py::object to = column.shown;
    to.attr("__setitem__")(py::slice(py::none(), py::none(), py::none()), value);
}

py::array PythonBatch::has(const std::string& component) const {
    const std::shared_ptr<Hold> hold = require();
    const std::span<const TextComponent> components = hold->query->require().components();
    const std::size_t index = find_component(components, component);
    const Schema& schema = *components[index].schema;
    py::array_t<bool> result(static_cast<py::ssize_t>(num_rows()));
    if (schema.columns().empty()) {
        if (components[index].is_optional)
            throw Error(concat("component ", quoted(component), " has no fields; ask World.has()"));
        std::fill_n(result.mutable_data(), num_rows(), true);
        return result;
    }
    const TextColumn column = rows(*hold).column(index, 0);
    for (std::uint32_t i = 0; i < column.num_rows; ++i) result.mutable_data()[i] = column.at(i) != nullptr;
    return result;
}

py::list PythonBatch::columns() const {
    const std::shared_ptr<Hold> hold = require();
    py::list names;
    for (const TextComponent& component : hold->query->require().components()) {
        if (!component.has_columns) continue;
        for (const Field& field : component.schema->fields())
            if (field.type != FieldType::kOpaque && field.type != FieldType::kBlobArray)
                names.append(concat(shown_name(component), '.', field.name));
    }
    return names;
}

// --- passes ------------------------------------------------------------------------------------------------------

namespace {

/// Ends what a pass was given.
struct FrameScope {
    FrameScope(WorldState& world, const PassContext& context) : frame(std::make_shared<FrameState>()) {
        frame->dt = context.dt;
        frame->number = context.frame;
        frame->seed = context.random_seed;
        frame->world = &world;
    }
    ~FrameScope() { frame->world = nullptr; }
    FrameScope(const FrameScope&) = delete;
    std::shared_ptr<FrameState> frame;
};

struct HoldScope {
    explicit HoldScope(std::shared_ptr<Hold> of) : hold(std::move(of)) {}
    ~HoldScope() { hold->close(); }
    HoldScope(const HoldScope&) = delete;
    std::shared_ptr<Hold> hold;
};

}  // namespace

/// A function of Python, and the rows that it is called with.
struct PythonPass final : GuestPass {
    PythonPass(WorldState& of_world, Guest& of, const std::string& named, py::object called)
        : GuestPass(of, named), world(of_world), function(std::move(called)) {}
    void destroy() override { delete this; }
    void run(const PassContext& context, Executor&) override {
        const py::gil_scoped_acquire lock;
        const PassScope running(*this);
        const FrameScope scope(world, context);
        if (rows == nullptr) {
            function(scope.frame);
            return;
        }
        const HoldScope held(world.hold(rows, concat("pass ", quoted(name))));
        for (std::size_t i = 0; i < held.hold->rows.num_batches(); ++i)
            function(PythonBatch(held.hold, i), scope.frame);
    }
    /// What add_pass() was given beside the query and the function. Errors: throws what is wrong with it.
    void read(const py::dict& given);

    WorldState& world;
    std::shared_ptr<QueryState> rows;
    py::object function;
};

void PythonPass::read(const py::dict& given) {
    const std::pair<const char*, Array<std::string>*> lists[] = {{"reads", &reads},           {"writes", &writes},
                                                                 {"reads_from", &reads_from}, {"writes_to", &writes_to},
                                                                 {"after", &after},           {"before", &before}};
    for (const auto& [key, names] : lists) {
        if (!given.contains(key)) continue;
        const py::object list = given[key];
        const auto texts = py::isinstance<py::str>(list) ? std::vector<std::string>{list.cast<std::string>()}
                                                         : list.cast<std::vector<std::string>>();
        names->assign(texts.begin(), texts.end());
    }
    if (given.contains("every_frames")) {
        every_frames = given["every_frames"].cast<std::uint32_t>();
        if (every_frames == 0) throw py::value_error("every_frames is a number above 0");
    }
    if (given.contains("every_seconds")) every_seconds = given["every_seconds"].cast<float>();
    if (!(every_seconds >= 0) || every_seconds > 1e9f) throw py::value_error("every_seconds is a time above 0");
}

void WorldState::add_pass(const std::string& name, const py::object& text, py::object function, const py::dict& given) {
    require_free("adding a pass");
    if (name.empty()) throw py::value_error("a pass needs a name");
    if (PyCallable_Check(function.ptr()) == 0) throw py::type_error("a pass needs a function");
    auto pass = std::make_unique<PythonPass>(*this, parts_->guest, name, std::move(function));
    pass->read(given);
    require_free("adding a pass");  // the lists may have run any code
    for (const Array<std::string>* names : {&pass->reads, &pass->writes})
        for (const std::string& touched : *names) component(touched);
    if (!text.is_none()) {
        const auto query_text = text.cast<std::string>();
        prepare_names(query_text);
        pass->rows = std::make_shared<QueryState>(*this, query_text);
        pass->query = pass->rows.get();
    }
    const Status status = parts_->guest.add(*pass.release());
    if (!status) throw Error(concat("pass ", quoted(name), ": ", status.message()));
}

void WorldState::remove_pass(const std::string& name) {
    World& world = require_free("removing a pass");
    GuestPass* const pass = parts_->guest.find_pass(name);
    shoal_python::require(pass == nullptr ? world.schedule().remove(name) : parts_->guest.remove(*pass));
}

void WorldState::step(float dt) {
    World& world = require_rest("a step");
    if (!std::isfinite(dt)) throw py::value_error("the time of a step is a finite number of seconds");
    shoal_python::require(world.schedule().prepare());
    std::exception_ptr failure;
    passes_run_ = true;
    try {
        std::optional<py::gil_scoped_release> unlocked;
        if (parts_->executor != nullptr) unlocked.emplace();
        world.run_passes(dt);
    } catch (...) {
        failure = std::current_exception();
    }
    passes_run_ = false;
    must_settle_ = !holds_.empty();
    if (!must_settle_) world.settle();
    if (failure) std::rethrow_exception(failure);
    parts_->host.rethrow();
    if (must_settle_) throw BusyError(concat(uses(), " before the world settles"));
}

void WorldState::settle() {
    require_rest("settling");
    settle_now();
}

void WorldState::settle_now() {
    parts_->world.settle();
    parts_->host.rethrow();
}

// --- what passes ask for -----------------------------------------------------------------------------------------

Commands& FrameState::commands() const {
    if (world == nullptr) throw Error("the pass of this frame has ended");
    return world->parts_->world.commands();
}

void FrameState::require_known(std::span<const Entity> entities) const {
    commands();
    for (const Entity entity : entities)
        if (!world->parts_->entities.alive(entity) && pending.count(entity.id) == 0)
            throw Error(concat("entity ", std::uint64_t(entity.id), " is dead"));
}

KeptComponent FrameState::kept(const std::string& name) const {
    const KeptComponent kept = world->parts_->world.directory().find_kept(ComponentId(std::string_view(name)));
    if (kept && !kept.schema->singleton()) return kept;
    throw Error(concat("no store keeps ", quoted(name), " yet; name it in a query or World.add() before passes run"));
}

std::vector<Entity> FrameState::create(std::size_t count, const py::dict& components) {
    if (count > 1'000'000) throw py::value_error("a pass creates at most 1,000,000 entities at once");
    std::vector<Entity> made(count);
    std::vector<std::pair<std::string, py::dict>> added;
    for (const auto& [name, values] : components)
        added.emplace_back(py::cast<std::string>(py::str(name)), py::cast<py::dict>(values));
    for (const auto& [name, values] : added) kept(name);
    for (Entity& entity : made) entity = commands().create(), pending.insert(entity.id);
    for (const auto& [name, values] : added) add(made, name, values);
    return made;
}

void FrameState::destroy(std::span<const Entity> entities) {
    require_known(entities);
    commands().destroy(entities);
}

std::vector<Entity> FrameState::copy(std::span<const Entity> originals) {
    require_known(originals);
    std::vector<Entity> made;
    for (const Entity original : originals) pending.insert(made.emplace_back(commands().copy(original)).id);
    return made;
}

void FrameState::add(std::span<const Entity> entities, const std::string& name, const py::dict& values) {
    require_known(entities);
    const KeptComponent to = kept(name);
    std::vector<std::byte> bytes;
    {
        const WorldState::Conversion conversion(*world);
        bytes = world->images(*to.schema, entities.size(), values);
    }
    Commands& asked = commands();
    for (std::size_t i = 0; i < entities.size(); ++i)
        asked.add(entities[i], *to.schema, bytes.data() + i * to.schema->struct_bytes());
}

void FrameState::remove(std::span<const Entity> entities, const std::string& name) {
    require_known(entities);
    const KeptComponent from = kept(name);
    for (const Entity entity : entities) commands().remove(entity, *from.schema);
}

void FrameState::tag(std::span<const Entity> entities, const std::string& tag, bool adds) {
    require_known(entities);
    if (tag.empty()) throw py::value_error("a tag has at least one letter");
    for (const Entity entity : entities) {
        if (adds)
            commands().tag(entity, tag);
        else
            commands().untag(entity, tag);
    }
}

// --- bindings ----------------------------------------------------------------------------------------------------

void bind_rows(py::module_& module) {
    py::class_<PythonQuery>(module, "Query")
        .def_property_readonly("text", &PythonQuery::text)
        .def_property_readonly("num_rows", &PythonQuery::num_rows)
        .def_property_readonly("components", &PythonQuery::components)
        .def("_enter", &PythonQuery::enter)
        .def("_leave", &PythonQuery::leave);
    py::class_<PythonBatch>(module, "Batch", "A run of rows of a query, as long as its block is open.")
        .def("__len__", &PythonBatch::num_rows)
        .def_property_readonly("entities", &PythonBatch::entities, "The entities of the rows: a copy.")
        .def_property_readonly("columns", &PythonBatch::columns, "The names of the fields that the batch shows.")
        .def("__getitem__", &PythonBatch::column,
             "The array of a field, such as batch[\"body.mass\"], or the Parts of a split one.")
        .def("__setitem__", &PythonBatch::set_column, "Sets all rows of a field.")
        .def("is_view", &PythonBatch::is_view,
             "Whether the array of a field is the column itself; otherwise it is a copy that is written back.")
        .def("has", &PythonBatch::has, "Which rows have a component, as bools: for ?name.");
    py::class_<FrameState, std::shared_ptr<FrameState>>(
        module, "Frame",
        "What a pass is given beside its rows: time, and what changes entities when the world settles.")
        .def_readonly("dt", &FrameState::dt, "Seconds since the pass ran last.")
        .def_readonly("number", &FrameState::number, "Frames before this one.")
        .def_readonly("seed", &FrameState::seed, "Another number for each seed of the world, pass and frame.")
        .def("rng", [](const FrameState& f) { return py::module_::import("numpy.random").attr("default_rng")(f.seed); })
        .def(
            "create",
            [](FrameState& f, std::size_t n, const py::kwargs& components) {
                return to_array(f.create(n, components));
            },
            py::arg("count"))
        .def(
            "destroy", [](FrameState& f, const py::object& ids) { f.destroy(entities_from(ids)); },
            "Destroys entities when the world settles.")
        .def(
            "add",
            [](FrameState& f, const py::object& ids, const std::string& name, const py::kwargs& values) {
                f.add(entities_from(ids), name, values);
            },
            "Gives entities a component, or sets it, when the world settles.")
        .def(
            "remove",
            [](FrameState& f, const py::object& ids, const std::string& name) { f.remove(entities_from(ids), name); },
            "Takes a component from entities when the world settles.")
        .def(
            "copy", [](FrameState& f, const py::object& ids) { return to_array(f.copy(entities_from(ids))); },
            "Copies entities, with all below them, when the world settles. Returns the copies.")
        .def(
            "tag",
            [](FrameState& f, const py::object& ids, const std::string& tag) { f.tag(entities_from(ids), tag, true); },
            "Gives entities a tag when the world settles.")
        .def(
            "untag",
            [](FrameState& f, const py::object& ids, const std::string& tag) { f.tag(entities_from(ids), tag, false); },
            "Takes a tag from entities when the world settles.");
}

}  // namespace shoal_python
