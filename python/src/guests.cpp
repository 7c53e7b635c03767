// What a world calls Python for besides passes, and what Python asks of it as a whole: observers, channels of events, states,
// copies and reloads.

#include "guests.h"

#include "shoal/save/save.h"
#include "shoal/world/copy.h"

#include <utility>
#include <vector>

namespace shoal_python {

PythonHost::PythonHost(WorldState& of, World& of_world)
    : GuestHost(of_world, "python",
                {"program", "declare it in the shoal.Schema of the world", "open it with World.channel() before"},
                true),
      state(of) {}

void PythonHost::rethrow() {
    if (const std::exception_ptr thrown = std::exchange(failure, nullptr)) std::rethrow_exception(thrown);
}

// --- observers ---------------------------------------------------------------------------------------------------

namespace {

/// What fields were, by name: copies. Fields that have no array are left out.
py::dict fields_before(const GuestObserver& observer, const ObservedBatch& batch) {
    py::dict before;
    for (const Field& field : batch.component.fields()) {
        if (field.type == FieldType::kOpaque || field.type == FieldType::kBlobArray) continue;
        if (!observer.field.empty() && field.name != observer.field) continue;
        const ArrayType type = array_type(value_type_of(field), field.name);
        before[py::str(field.name)] = view_of(type, batch.entities.size(), batch.values_before + field.struct_offset,
                                              batch.component.struct_bytes(), py::none(), false)
                                          .attr("copy")();
    }
    return before;
}

}  // namespace

/// What the function raises is raised when the world has settled: the library throws nothing on the way.
void PythonHost::tell(Guest&, const GuestObserver& observer, const ObservedBatch& batch) {
    try {
        const auto function = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(observer.function));
        const py::array entities = to_array(batch.entities);
        is_telling = true;
        if (observer.kind == ObserverKind::kAdd)
            function(entities);
        else
            function(entities, batch.values_before == nullptr ? py::object(py::none())
                                                              : py::object(fields_before(observer, batch)));
    } catch (...) {
        if (failure == nullptr) failure = std::current_exception();
    }
    is_telling = false;
}

void PythonHost::end(const GuestObserver& observer) { Py_DECREF(reinterpret_cast<PyObject*>(observer.function)); }

std::uint32_t WorldState::add_observer(const std::string& kind, const std::string& path, const py::object& function) {
    require_free("adding an observer");
    if (PyCallable_Check(function.ptr()) == 0) throw py::type_error("an observer needs a function");
    const std::size_t dot = std::min(path.find('.'), path.size());
    GuestObserver observer{.component = ComponentId(path.substr(0, dot)), .name = path.substr(0, dot)};
    observer.kind = kind == "add"      ? ObserverKind::kAdd
                    : kind == "remove" ? ObserverKind::kRemove
                                       : ObserverKind::kChange;
    if (dot != path.size()) observer.field = path.substr(dot + 1);
    component(observer.name);
    observer.function = reinterpret_cast<std::uintptr_t>(function.inc_ref().ptr());
    const Result<std::uint32_t> number = parts_->guest.add(observer);
    if (!number) function.dec_ref();
    if (!number) throw Error(concat("observer of ", quoted(path), ": ", number.message()));
    return *number;
}

void WorldState::remove_observer(std::int64_t number) {
    require_free("removing an observer");
    shoal_python::require(parts_->guest.remove_observer(number));
}

// --- events ------------------------------------------------------------------------------------------------------

namespace {

thread_local const GuestPass* running_pass = nullptr;

}  // namespace

PassScope::PassScope(const GuestPass& pass) : before_(std::exchange(running_pass, &pass)) {}
PassScope::~PassScope() { running_pass = before_; }

void WorldState::open_channel(const std::string& name, const py::object& given) {
    const py::dtype dtype = py::dtype::from_args(given);
    require_free("opening a channel");
    if (name.empty()) throw py::value_error("a channel needs a name");
    if (dtype.attr("hasobject").cast<bool>()) throw py::type_error("events are plain values, and no objects of Python");
    const auto num_bytes = static_cast<std::uint32_t>(dtype.itemsize());
    if (num_bytes == 0) throw py::type_error(concat("events of channel ", quoted(name), " have no fields"));
    Guest& guest = parts_->guest;
    if (const auto* const known = static_cast<const PythonChannel*>(guest.find_channel(name)); known != nullptr) {
        if (known->dtype.equal(dtype)) return;
        throw Error(concat("channel ", quoted(name), " is open for events of another dtype"));
    }
    detail::EventLog* const log = shoal_python::require(parts_->world.events().named(name, num_bytes));
    guest.channels.push_back(new PythonChannel(guest, name, *log, dtype));
}

/// Errors: the pass that runs has not declared that it reads, or writes, the channel.
PythonChannel& WorldState::channel(const std::string& name, bool writes) const {
    if (is_closed()) throw Error("the world is closed");
    auto* const found = static_cast<PythonChannel*>(parts_->guest.find_channel(name));
    if (found == nullptr) throw Error(concat("there is no channel ", quoted(name), "; open it with World.channel()"));
    if (!passes_run_) return *found;
    if (running_pass == nullptr) throw BusyError("passes run, and events wait for the end of the step");
    if (running_pass->is_everything || running_pass->declares(*found, writes)) return *found;
    throw Error(concat("pass ", quoted(running_pass->name), " does not declare the channel; add ",
                       writes ? "writes_to" : "reads_from", "=[", quoted(name), "] to it"));
}

void PythonEvents::write(const py::object& given) const {
    const py::dtype dtype = world->channel(name, true).dtype;
    const py::object made = py::module_::import("numpy").attr("ascontiguousarray")(given, dtype);
    const auto events = py::reinterpret_borrow<py::array>(made);
    PythonChannel& channel = world->channel(name, true);  // the conversion may have run any code
    if (!channel.dtype.equal(dtype)) throw Error(concat("channel ", quoted(name), " was closed"));
    channel.log.append({static_cast<const std::byte*>(events.data()), static_cast<std::size_t>(events.nbytes())});
}

py::array PythonEvents::read(bool last) const {
    const PythonChannel& channel = world->channel(name, false);
    const std::span<const std::byte> bytes = last ? channel.log.read_last() : channel.log.read();
    const py::ssize_t event_bytes = channel.dtype.itemsize();
    return py::array(channel.dtype, {static_cast<py::ssize_t>(bytes.size()) / event_bytes}, {event_bytes},
                     bytes.data());  // a copy
}

// --- copies, states, reloads -------------------------------------------------------------------------------------

std::vector<Entity> WorldState::copy(Entity original, std::uint32_t copies) {
    World& world = require_free("copying");
    require_living({&original, 1});
    if (copies > parts_->entities.max_entities()) throw Error(concat("there is no room for ", copies, " copies"));
    const Result<Spawned> made = shoal::copy(world, original, {.copies = copies});
    shoal_python::require(made.status());
    std::vector<Entity> roots;
    for (std::uint32_t i = 0; i < made->num_copies(); ++i) roots.push_back(made->entity(0, i));
    return roots;
}

World& WorldState::require_rest(std::string_view what) {
    if (!is_closed() && parts_->host.is_telling)
        throw BusyError(concat("an observer runs, and ", what, " has to wait until the world has settled"));
    return require_free(what);
}

py::bytes WorldState::save() {
    Array<std::byte> bytes{Owner("python")};
    shoal_python::require(shoal::save(require_rest("saving"), bytes));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void WorldState::load(const py::bytes& state) {
    const std::string_view bytes = state;
    const std::span<const char> chars(bytes);
    shoal_python::require(shoal::load(require_rest("loading"), std::as_bytes(chars)));
}

py::dict WorldState::reload(const LoadedBlob& before, const LoadedBlob& after) {
    require_rest("reloading");
    if (!parts_->reloader)
        throw Error("the world does not remember what was spawned from which blob; make it with reloadable=True");
    ResourceLibrary& library = parts_->library;
    const bool is_kept = library.find(before.blob.id()) != nullptr;  // rows refer to its arrays
    std::optional<Blob> kept;
    if (is_kept) kept = shoal_python::require(library.replace(shoal_python::require(Blob::load(after.blob.bytes()))));
    const Result<ReloadReport> report = parts_->reloader->reload(is_kept ? *kept : before.blob, after.blob);
    if (!report && is_kept) shoal_python::require(library.replace(std::move(*kept)).status());
    if (!report) throw Error(report.message());
    return py::dict(py::arg("copies") = report->num_copies, py::arg("created") = report->num_created,
                    py::arg("destroyed") = report->num_destroyed, py::arg("changed") = report->num_changed,
                    py::arg("fields") = report->num_fields, py::arg("left_out") = report->num_left_out,
                    py::arg("other_copies") = report->num_other_copies);
}

void bind_guests(py::module_& module) {
    py::class_<PythonEvents>(module, "Channel", "A channel of events: arrays of one dtype.")
        .def_readonly("name", &PythonEvents::name, "As it was opened.")
        .def("write", &PythonEvents::write, "Writes events; a pass says writes_to=[name].")
        .def(
            "read", [](const PythonEvents& events) { return events.read(false); },
            "Returns the events of this frame so far; a pass says reads_from=[name].")
        .def(
            "read_last", [](const PythonEvents& events) { return events.read(true); },
            "Returns the events of the frame before.");
}

}  // namespace shoal_python
