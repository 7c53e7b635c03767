#include "guests.h"

#include "shoal/components/debug_name.h"
#include "shoal/components/tag.h"
#include "shoal/database/detail/zone_statistics.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/inspect/describe_entity.h"
#include "shoal/inspect/picture.h"
#include "shoal/inspect/report.h"
#include "shoal/react/position_links.h"
#include "shoal/save/state_hash.h"
#include "shoal/table/detail/value_text.h"
#include "shoal/transform/transform.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace shoal_python {

namespace {

/// Whether a text has a word.
bool names(std::string_view text, std::string_view word) {
    const auto is_part = [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
    }
    return false;
}

WorldOptions world_options(const WorldOptionsOfPython& options, Executor* executor, ResourceLibrary& library) {
    return {.executor = executor,
            .library = &library,
            .seed = options.seed,
            .default_store = options.in_database ? DefaultStore::kDatabase : DefaultStore::kManagers};
}

}  // namespace

// --- life --------------------------------------------------------------------------------------------------------

WorldState::Parts::Parts(WorldState& state, const WorldOptionsOfPython& options)
    : executor(options.num_workers == 1 ? nullptr : std::make_unique<ThreadedExecutor>(options.num_workers)),
      world(entities, world_options(options, executor.get(), library)),
      host(state, world),
      guest(host, "Python") {
    guest.is_loading = true;  // a pass may name others that are added later; step() finds the order
    if (options.is_reloadable) reloader.emplace(world);
}

WorldState::WorldState(std::shared_ptr<SchemaSet> schema, const WorldOptionsOfPython& options)
    : schema_(std::move(schema)), in_database_(options.in_database), parts_(std::make_unique<Parts>(*this, options)) {
    const std::span<const RegisteredComponent* const> known = schema_->registry.components();
    for (std::size_t i = schema_->num_built_in; i < known.size(); ++i) component(known[i]->name);
}

WorldState::~WorldState() { end(); }

void WorldState::close() {
    if (is_closed()) return;
    require_rest("closing the world");
    end();
}

/// Functions of Python that go with the world may run what calls the world: it is closed by then.
void WorldState::end() {
    if (is_closed()) return;
    const std::unique_ptr<Parts> parts = std::move(parts_);
    parts->guest.remove_parts();
    parts->guest.remove_channels();
}

World& WorldState::require_open(std::string_view what) const {
    if (is_closed()) throw Error("the world is closed");
    if (passes_run_)
        throw BusyError(
            concat("passes run, and ", what, " has to wait for the end of the step; a pass asks its frame"));
    return parts_->world;
}

World& WorldState::require_free(std::string_view what) {
    World& world = require_open(what);
    if (num_conversions_ != 0)
        throw BusyError(concat("another call of the world is under way; ", what, " has to wait"));
    if (!holds_.empty()) throw BusyError(concat(uses(), " before ", what));
    if (!must_settle_) return world;
    must_settle_ = false;
    settle_now();
    return world;
}

/// Says what is left of the first hold.
std::string WorldState::uses() const {
    const Hold& hold = *holds_.front();
    if (hold.is_open) return concat(hold.reader, " is open; leave its block");
    std::string list;
    int num_arrays = 0;
    for (const auto& [name, count] : hold.in_use) {
        list += concat(list.empty() ? "" : ", ", name);
        num_arrays += count;
    }
    if (num_arrays == 1)
        return concat("1 array of ", hold.reader, " is still in use (", list,
                      "); delete it (del), or keep a copy (array.copy()),");
    return concat(num_arrays, " arrays of ", hold.reader, " are still in use (", list,
                  "); delete them (del), or keep copies (array.copy()),");
}

ValueContext WorldState::values() const { return {&parts_->entities, &parts_->world.strings(), &parts_->library}; }

// --- component types ---------------------------------------------------------------------------------------------

void WorldState::refuse_unknown(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const RegisteredComponent* known : schema_->registry.components()) names.push_back(known->name);
    for (const Store* store : parts_->world.directory().stores())
        for (const Schema* schema : store->schemas()) names.push_back(schema->name());
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    throw Error(concat("there is no component type ", quoted(name), "; ", hint_for(name, names)));
}

KeptComponent WorldState::component(const std::string& name) {
    World& world = parts_->world;
    if (const KeptComponent kept = world.directory().find_kept(ComponentId(name)); kept.store != nullptr) return kept;
    require_no_hold(concat("the first use of ", quoted(name)));
    if (name == schema_of<ChildOf>().name() || name == schema_of<WorldPose>().name())
        world.directory().require_or_end(schema_of<Transform>());
    const RegisteredComponent* const known = schema_->registry.find(name);
    if (known == nullptr || known->schema == nullptr) {
        if (const KeptComponent kept = world.directory().find_kept(ComponentId(name)); kept.store != nullptr)
            return kept;
        refuse_unknown(name);
    }
    const Schema& schema = *known->schema;
    if (schema.id() == schema_of<SpawnZone>().id() || schema.id() == schema_of<SpawnDisabled>().id())
        throw Error(concat(quoted(name), " says how a source is spawned; entities do not have it"));
    if (require(world.directory().require(schema)) == nullptr) {
        const bool fits_database = !schema.many() || !schema.enableable();
        if (in_database_ && fits_database)
            require(world.database().take_component(schema));
        else
            require(world.manager(schema).status());
    }
    if (schema.singleton()) world.directory().singletons().require(schema);
    const KeptComponent kept = world.directory().find_kept(schema.id());
    if (kept.store == nullptr) throw Error(concat("no store keeps ", quoted(name)));
    return kept;
}

/// Stores are not made while rows are held.
void WorldState::require_no_hold(std::string_view what) const {
    if (!holds_.empty()) throw BusyError(concat(uses(), " before ", what));
}

void WorldState::prepare_names(std::string_view text) {
    for (const RegisteredComponent* known : schema_->registry.components())
        if (known->id != schema_of<SpawnZone>().id() && known->id != schema_of<SpawnDisabled>().id() &&
            names(text, known->name))
            component(known->name);
    if (text.find('#') != std::string_view::npos) component(schema_of<Tag>().name());
    if (text.find('^') != std::string_view::npos || names(text, "child_of") || names(text, "world_pose"))
        component(schema_of<Transform>().name());
}

std::vector<std::byte> WorldState::images(const Schema& schema, std::size_t count, const py::dict& values) {
    if (schema.has_opaque()) throw Error(concat(quoted(schema.name()), " has fields that are more than bytes"));
    const std::size_t num_images = std::max<std::size_t>(count, 1);  // values are checked, also for no entity
    std::vector<std::byte> images(num_images * schema.struct_bytes());
    for (std::size_t i = 0; i < num_images; ++i)
        std::ranges::copy(schema.default_image(),
                          images.begin() + static_cast<std::ptrdiff_t>(i * schema.struct_bytes()));
    for (const auto& [key, value] : py::dict(values.attr("copy")())) {
        const auto field_name = py::cast<std::string>(py::str(key));
        const FieldPart part = require(find_field_part(schema, field_name));
        const std::size_t offset = part.field->struct_offset + part.offset_in_field;
        fill(images.data() + offset, schema.struct_bytes(), count, part.type, part.lane_stride,
             py::reinterpret_borrow<py::object>(value), this->values(), concat(schema.name(), '.', field_name));
    }
    return images;
}

// --- entities ----------------------------------------------------------------------------------------------------

void WorldState::require_living(std::span<const Entity> entities) const {
    for (std::size_t i = 0; i < entities.size(); ++i)
        if (!parts_->entities.alive(entities[i]))
            throw Error(entities.size() == 1 ? concat("entity ", std::uint64_t(entities[i].id), " is dead")
                                             : concat("entity ", i, " of ", entities.size(), ", ",
                                                      std::uint64_t(entities[i].id), ", is dead"));
}

std::vector<Entity> WorldState::create(std::size_t count, const py::dict& components) {
    require_free("creating entities");
    if (count > parts_->entities.max_entities())
        throw Error(concat("there is no room for ", count, " entities; at most ", parts_->entities.max_entities(),
                           " can live"));
    std::vector<Entity> made(count);
    require(parts_->entities.create(made));
    try {
        for (const auto& [name, values] : py::dict(components.attr("copy")())) {
            if (!py::isinstance<py::dict>(values))
                throw py::type_error(concat("component ", quoted(std::string(py::str(name))),
                                            " takes a dict of its fields, such as {}"));
            add(made, py::cast<std::string>(py::str(name)), py::reinterpret_borrow<py::dict>(values));
        }
    } catch (...) {
        if (!is_closed()) parts_->entities.destroy(made);
        throw;
    }
    return made;
}

std::size_t WorldState::destroy(std::span<const Entity> entities) {
    require_free("destroying entities");
    return parts_->entities.destroy(entities);
}

/// Keeps a blob whose arrays rows refer to.
void WorldState::keep_arrays(const Blob& blob) {
    const auto has_arrays = [](const BlobComponents& c) { return c.schema->has(FieldType::kBlobArray); };
    if (std::ranges::none_of(blob.component_types(), has_arrays)) return;
    const Blob* const known = parts_->library.find(blob.id());
    if (known == nullptr) {
        require(parts_->library.load(blob.bytes()).status());
    } else if (!std::ranges::equal(known->bytes(), blob.bytes())) {
        throw Error(concat("the world refers to arrays of another blob ", quoted(blob.name()),
                           "; spawn this one into another world"));
    }
}

/// Returns the value that Python gives for a path: of the type of the field.
AnyValue WorldState::value_for(const std::string& path, const py::object& given) {
    const Conversion conversion(*this);
    if (path.starts_with("properties.")) return guessed_value(given, path);
    const Result<FieldPath> found = parts_->world.find_field(path);
    require(found.status());
    return any_value(found->type(), given, values(), path);
}

/// Reads {entity: {path: value}}; an entity of one copy is (entity, copy).
Array<SpawnOverride> WorldState::overrides_from(const py::dict& given) {
    Array<SpawnOverride> overrides;
    for (const auto& [who, values] : py::dict(given.attr("copy")())) {
        const bool is_of_copy = py::isinstance<py::tuple>(who);
        if (is_of_copy && py::len(who) != 2) throw py::type_error("an entity of one copy is given as (entity, copy)");
        const auto parts = is_of_copy ? py::reinterpret_borrow<py::tuple>(who) : py::make_tuple(who);
        const auto entity = py::cast<std::string>(parts[0]);
        if (!py::isinstance<py::dict>(values))
            throw py::type_error(concat("entity ", quoted(entity), " takes a dict of paths and values"));
        const auto copy = is_of_copy ? py::cast<std::uint32_t>(parts[1]) : SpawnOverride::kAllCopies;
        for (const auto& [path, value] : py::dict(values.attr("copy")())) {
            const auto field = py::cast<std::string>(path);
            overrides.push_back({entity, field, value_for(field, py::reinterpret_borrow<py::object>(value)), copy});
        }
    }
    return overrides;
}

std::vector<Entity> WorldState::spawn(const LoadedBlob& loaded, std::uint32_t copies, const py::object& positions,
                                      const py::dict& given) {
    std::vector<RootPose> poses;
    if (!positions.is_none()) {
        const Conversion conversion(*this);
        poses.resize(copies);
        std::vector<Vec3> places(copies);
        const ValueType type{FieldType::kVec3, FieldType(0), 0, sizeof(Vec3), {}};
        fill(reinterpret_cast<std::byte*>(places.data()), sizeof(Vec3), copies, type, positions, {}, "positions");
        for (std::size_t i = 0; i < copies; ++i) {
            if (!std::isfinite(places[i].x + places[i].y + places[i].z))
                throw py::value_error(concat("position ", i, " is not finite"));
            poses[i].position = places[i];
        }
    }
    World& world = require_free("spawning");
    const Blob& blob = loaded.blob;
    if (std::uint64_t(copies) * blob.num_entities() > parts_->entities.max_entities())
        throw Error(concat("there is no room for ", copies, " copies of ", blob.num_entities(), " entities"));
    keep_arrays(blob);
    require(world.adopt_schemas(blob));
    const Array<SpawnOverride> overrides = overrides_from(given);
    require_free("spawning");
    const Result<Spawned> spawned = world.spawn(
        blob,
        {.copies = copies, .root_poses = poses, .overrides = overrides, .fail_on_unknown = true, .keep_names = false});
    require(spawned.status());
    return {spawned->entities().begin(), spawned->entities().end()};
}

void WorldState::add(std::span<const Entity> entities, const std::string& name, const py::dict& values) {
    require_free("adding components");
    const KeptComponent kept = component(name);
    if (kept.schema->singleton())
        throw Error(concat("the world has one ", quoted(name), "; set it: world.set(\"", name, ".field\", value)"));
    std::vector<std::byte> bytes;
    {
        const Conversion conversion(*this);
        bytes = images(*kept.schema, entities.size(), values);
    }
    require_free("adding components");
    require_living(entities);
    const AddedValues added{.images = bytes.data(), .stride = kept.schema->struct_bytes()};
    require(kept.store->add_values(*kept.schema, entities, added).status());
}

std::size_t WorldState::remove(std::span<const Entity> entities, const std::string& name) {
    require_free("removing components");
    const KeptComponent kept = component(name);
    return require(kept.store->remove_values(*kept.schema, entities));
}

void WorldState::change_tag(std::span<const Entity> entities, const std::string& tag, bool adds) {
    World& world = require_free("changing tags");
    require_living(entities);
    world.directory().require_or_end(schema_of<Tag>());
    TagManager tags(world.manager<Tag>(), world.strings());
    for (const Entity entity : entities) {
        if (adds)
            require(tags.add_tag(entity, tag));
        else
            tags.remove_tag(entity, tag);
    }
}

void WorldState::set_name(Entity entity, const std::string& name) {
    World& world = require_free("naming an entity");
    require_living({&entity, 1});
    require(world.directory().require(schema_of<DebugName>()).status());
    DebugNameManager names(world.manager<DebugName>(), world.strings());
    require(names.set_name(entity, name));
}

// --- values ------------------------------------------------------------------------------------------------------

py::object WorldState::get(const py::object& entity, const std::string& path) {
    const bool is_singleton = entity.is_none();
    const std::vector<Entity> of = is_singleton ? std::vector<Entity>() : entities_from(entity);
    World& world = require_open("reading a value");
    const Conversion conversion(*this);
    if (is_singleton) return to_python(require(std::as_const(world).get(path)), values());
    if (of.size() != 1) throw py::type_error("get() takes one entity; read() takes many");
    require_living(of);
    return to_python(require(std::as_const(world).get(of[0], path)), values());
}

void WorldState::set(const py::object& entity, const std::string& path, const py::object& value) {
    const bool is_singleton = entity.is_none();
    const std::vector<Entity> of = is_singleton ? std::vector<Entity>() : entities_from(entity);
    World& world = require_free("setting a value");
    if (names(path.substr(0, path.find_first_of(".[")), "tag"))
        throw Error("tags are added and removed with tag() and untag()");
    if (!is_singleton && of.size() != 1) throw py::type_error("set() takes one entity; write() takes many");
    const AnyValue converted = value_for(path, value);
    require_free("setting a value");
    if (is_singleton) return require(world.set(path, converted));
    require_living(of);
    require(world.set(of[0], path, converted));
}

py::array WorldState::read(std::span<const Entity> entities, const std::string& path) {
    World& world = require_open("reading values");
    require_living(entities);
    component(path.substr(0, path.find_first_of(".[")));
    const FieldPath found = require(world.find_field(path));
    const ArrayType type = array_type(found.type(), path);
    std::vector<std::byte> bytes(entities.size() * found.type().num_bytes());
    for (std::size_t i = 0; i < entities.size(); ++i) {
        const AnyValue value = require(found.read(entities[i]));
        std::memcpy(bytes.data() + i * value.bytes().size(), value.bytes().data(), value.bytes().size());
    }
    return view_of(type, entities.size(), bytes.data(), found.type().num_bytes(), py::none(), false).attr("copy")();
}

void WorldState::write(std::span<const Entity> entities, const std::string& path, const py::object& given) {
    World& world = require_free("writing values");
    const FieldPath found = require(world.find_field(path));
    if (names(path.substr(0, path.find_first_of(".[")), "tag"))
        throw Error("tags are added and removed with tag() and untag()");
    const std::size_t num_bytes = found.type().num_bytes();
    std::vector<std::byte> bytes(entities.size() * num_bytes);
    {
        const Conversion conversion(*this);
        fill(bytes.data(), num_bytes, entities.size(), found.type(), given, values(), path);
    }
    require_free("writing values");
    require_living(entities);
    for (const Entity entity : entities) require(found.read(entity).status());
    for (std::size_t i = 0; i < entities.size(); ++i)
        require(found.write(entities[i], AnyValue(found.type(), bytes.data() + i * num_bytes)));
}

// --- zones -------------------------------------------------------------------------------------------------------

void WorldState::keep_in_tiles(const std::string& path, const py::object& origin, float tile_size, std::uint32_t num_x,
                               std::uint32_t num_y) {
    if (!(tile_size > 0) || !std::isfinite(tile_size)) throw py::value_error("the size of tiles is above 0");
    if (num_x == 0 || num_y == 0 || std::uint64_t(num_x) * num_y + 1 > kMaxZones)
        throw py::value_error(concat("there are 1 to ", kMaxZones - 1, " tiles"));
    const ValueType vec3{FieldType::kVec3, FieldType(0), 0, sizeof(Vec3), {}};
    const Vec3 corner = *any_value(vec3, origin, {}, "origin").as<Vec3>();
    if (!std::isfinite(corner.x + corner.y + corner.z)) throw py::value_error("the origin of tiles is not finite");
    World& world = require_free("making tiles");
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos) throw Error(concat(quoted(path), " names no field; write component.field"));
    const KeptComponent kept = component(path.substr(0, dot));
    const int field = kept.schema->find_field(path.substr(dot + 1));
    if (field < 0) throw Error(concat(quoted(kept.schema->name()), " has no field ", quoted(path.substr(dot + 1))));
    const GridZones tiles({.origin = corner, .tile_size = tile_size, .num_x = num_x, .num_y = num_y});
    require(world.position_links().keep_in_tiles(kept.schema->id(), static_cast<std::uint32_t>(field), tiles));
}

py::list WorldState::zones() const {
    const World& world = require_open("counting zones");
    const Conversion conversion(*this);
    py::list zones;
    if (find_database(world.directory()) == nullptr) return zones;
    for (const ZoneStatistics& zone : zone_statistics(*find_database(world.directory())))
        zones.append(py::dict(py::arg("zone") = zone.zone, py::arg("component") = std::string(zone.held.component),
                              py::arg("rows") = zone.held.num_rows, py::arg("used") = zone.held.rows.used_bytes,
                              py::arg("committed") = zone.held.rows.committed_bytes));
    return zones;
}

// --- bindings ----------------------------------------------------------------------------------------------------

namespace {

py::dict memory_of(const MemoryUse& use) {
    return py::dict(py::arg("used") = use.used_bytes, py::arg("committed") = use.committed_bytes,
                    py::arg("reserved") = use.reserved_bytes);
}

py::dict facts_of(const WorldState& state) {
    const World& world = state.require_open("a report");
    const WorldState::Conversion conversion(state);
    const WorldReport report = report_world(world);
    py::list passes, components, memory;
    for (const PassReport& pass : report.passes)
        passes.append(py::dict(py::arg("name") = pass.name, py::arg("runs") = pass.num_runs,
                               py::arg("rows") = pass.num_rows, py::arg("total_ms") = pass.total_ms(),
                               py::arg("mean_ms") = pass.mean_ms(), py::arg("last_ms") = pass.last_ms(),
                               py::arg("enabled") = pass.enabled));
    for (const ComponentReport& component : report.components)
        components.append(py::dict(
            py::arg("name") = component.name, py::arg("rows") = component.num_rows,
            py::arg("dead") = component.num_dead_rows, py::arg("row_bytes") = component.row_bytes,
            py::arg("bytes_per_row") = component.bytes_per_row(), py::arg("used") = component.rows.used_bytes,
            py::arg("committed") = component.rows.committed_bytes, py::arg("reserved") = component.rows.reserved_bytes,
            py::arg("index") = component.index.committed_bytes, py::arg("wasted") = component.wasted_bytes()));
    for (const OwnerReport& owner : report.memory) {
        py::dict line = memory_of(owner.memory);
        line["owner"] = owner.name;
        memory.append(line);
    }
    return py::dict(py::arg("entities") = report.num_entities, py::arg("frame") = report.frame,
                    py::arg("passes") = passes, py::arg("components") = components, py::arg("memory") = memory,
                    py::arg("text") = report_text(report));
}

py::dict schema_of_store(const Schema& schema) {
    py::dict fields;
    for (const Field& field : schema.fields()) fields[py::str(field.name)] = value_type_of(field).to_text();
    return fields;
}

py::dict components_of(const WorldState& state) {
    const World& world = state.require_open("looking at components");
    const WorldState::Conversion conversion(state);
    py::dict components;
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas()) components[py::str(schema->name())] = schema_of_store(*schema);
    return components;
}

std::shared_ptr<WorldState> make_world(std::shared_ptr<SchemaSet> schema, std::uint64_t seed, std::uint32_t workers,
                                       const std::string& default_store, bool reloadable) {
    if (workers < 1 || workers > 1024) throw py::value_error("workers is a number from 1 to 1024");
    if (default_store != "managers" && default_store != "database")
        throw py::value_error(
            "default_store is \"managers\" or \"database\": where component types of blobs and schemas are kept");
    if (schema == nullptr) schema = std::make_shared<SchemaSet>();
    return std::make_shared<WorldState>(std::move(schema),
                                        WorldOptionsOfPython{seed, workers, default_store == "database", reloadable});
}

py::array_t<bool> living(const WorldState& world, const py::object& given) {
    const std::vector<Entity> entities = entities_from(given);
    if (world.is_closed()) throw Error("the world is closed");
    const WorldState::Conversion conversion(world);
    py::array_t<bool> result(static_cast<py::ssize_t>(entities.size()));
    for (std::size_t i = 0; i < entities.size(); ++i)
        result.mutable_data()[i] = world.values().entities->alive(entities[i]);
    return result;
}

std::string picture_of(const WorldState& world, const std::string& title, const std::string& subtitle) {
    PictureOptions options;
    options.title = title;
    options.subtitle = subtitle;
    return draw_world(world.require_open("drawing"), options).svg;
}

/// Draws points that a query has found.
std::string picture_of_points(const std::string& name, const py::array_t<float, py::array::c_style>& points) {
    if (points.ndim() != 2 || points.shape(1) < 2) throw py::value_error("points have at least two coordinates");
    PictureLayer layer;
    layer.name = name;
    for (py::ssize_t i = 0; i < points.shape(0); ++i) layer.points.push_back({points.at(i, 0), points.at(i, 1)});
    PictureOptions options;
    options.title = name;
    return draw_picture({&layer, 1}, options).svg;
}

}  // namespace

void bind_world(py::module_& module) {
    py::class_<WorldState, std::shared_ptr<WorldState>>(module, "World", "See shoal.World.")
        .def(py::init(&make_world), py::arg("schema") = py::none(), py::kw_only(), py::arg("seed") = 1,
             py::arg("workers") = 1, py::arg("default_store") = "managers", py::arg("reloadable") = false)
        .def("close", &WorldState::close,
             "Ends the world; calls raise Error from then on. Refused while arrays are in use.")
        .def_property_readonly("closed", &WorldState::is_closed, "Whether the world has ended.")
        .def("_create", [](WorldState& w, std::size_t n, const py::dict& c) { return to_array(w.create(n, c)); })
        .def("_destroy", [](WorldState& w, const py::object& ids) { return w.destroy(entities_from(ids)); })
        .def("_alive", &living)
        .def("_spawn", [](WorldState& w, const LoadedBlob& blob, std::uint32_t copies, const py::object& at,
                          const py::dict& overrides) { return to_array(w.spawn(blob, copies, at, overrides)); })
        .def("_add", [](WorldState& w, const py::object& ids, const std::string& name,
                        const py::dict& values) { w.add(entities_from(ids), name, values); })
        .def("_remove", [](WorldState& w, const py::object& ids,
                           const std::string& name) { return w.remove(entities_from(ids), name); })
        .def("_tag", [](WorldState& w, const py::object& ids, const std::string& tag,
                        bool adds) { w.change_tag(entities_from(ids), tag, adds); })
        .def("_name",
             [](WorldState& w, const py::object& id, const std::string& name) {
                 const std::vector<Entity> of = entities_from(id);
                 if (of.size() != 1) throw py::type_error("name() takes one entity");
                 w.set_name(of[0], name);
             })
        .def("_has",
             [](WorldState& w, const py::object& ids, const std::string& name) {
                 const std::vector<Entity> entities = entities_from(ids);
                 w.require_open("looking at components");
                 const WorldState::Conversion conversion(w);
                 const KeptComponent kept = w.component(name);
                 py::array_t<bool> result(static_cast<py::ssize_t>(entities.size()));
                 for (std::size_t i = 0; i < entities.size(); ++i) {
                     const bool lives = w.values().entities->alive(entities[i]);
                     const ComponentRow row =
                         lives ? kept.store->find_row(kept.schema->id(), entities[i], 0) : ComponentRow();
                     result.mutable_data()[i] = row && row.is_enabled;
                 }
                 return result;
             })
        .def("_get", &WorldState::get)
        .def("_set", &WorldState::set)
        .def("_read", [](WorldState& w, const py::object& ids,
                         const std::string& path) { return w.read(entities_from(ids), path); })
        .def("_write", [](WorldState& w, const py::object& ids, const std::string& path,
                          const py::object& values) { w.write(entities_from(ids), path, values); })
        .def("_keep_in_tiles", &WorldState::keep_in_tiles)
        .def("_zones", &WorldState::zones)
        .def("_query", &WorldState::query)
        .def("_copy",
             [](WorldState& w, const py::object& id, std::uint32_t copies) {
                 const std::vector<Entity> of = entities_from(id);
                 if (of.size() != 1) throw py::type_error("copy() takes one entity");
                 return to_array(w.copy(of[0], copies));
             })
        .def("_observe", &WorldState::add_observer)
        .def("_off", &WorldState::remove_observer)
        .def("_channel",
             [](const std::shared_ptr<WorldState>& w, const std::string& name, const py::object& dtype) {
                 w->open_channel(name, dtype);
                 return PythonEvents{w, name};
             })
        .def("_save", &WorldState::save)
        .def("_load", &WorldState::load)
        .def("_reload", &WorldState::reload)
        .def("_add_pass", &WorldState::add_pass)
        .def("_remove_pass", &WorldState::remove_pass)
        .def("_step", &WorldState::step)
        .def("settle", &WorldState::settle,
             "Does what was asked for, and removes the rows of the dead, as step() does when the passes have ended.")
        .def("_facts", &facts_of)
        .def_property_readonly("components", &components_of,
                               "Fields and their types, by component type that the world keeps.")
        .def(
            "describe",
            [](const WorldState& w, std::uint64_t id) {
                return describe(w.require_open("describing an entity"), Entity{static_cast<EntityBits>(id)});
            },
            "Returns all that an entity has, as text.")
        .def(
            "state_hash", [](const WorldState& w) { return state_hash(w.require_open("a hash")); },
            "Returns a hash of all rows: equal for equal worlds.")
        .def_property_readonly(
            "frame", [](const WorldState& w) { return w.require_open("the frame").frame(); },
            "How many steps there were.")
        .def("_picture", &picture_of);
    module.def("_picture_of_points", &picture_of_points);
}

}  // namespace shoal_python
