#include "save/world_state.h"

#include "save/state_file.h"
#include "save/state_migration.h"
#include "save/zone_files.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/entity/detail/saved_entities.h"
#include "shoal/react/service.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/save.h"
#include "shoal/world/detail/text_uses.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::uint32_t kFormat = 1;
constexpr std::uint32_t kFormatWithZones = 2;  // some zones are unloaded; readers of version 1 would lose them

/// Returns a loop that runs on the executor's workers.
SnapshotLoop loop_on(Executor& executor) {
    const auto run = [](void* context, std::size_t count, std::size_t at_once,
                        void (*some)(void* job, std::size_t begin, std::size_t end), void* job) {
        const RowCuts cuts = cut_rows(static_cast<std::uint32_t>(count), 1, static_cast<std::uint32_t>(at_once));
        for_rows(*static_cast<Executor*>(context), cuts,
                 [&](RowRange blocks, std::uint32_t) { some(job, blocks.begin, blocks.end); });
    };
    return {run, &executor};
}

/// Returns the stamp at which a state was saved, or 0 if there is no state.
std::uint64_t stamp_of(const Snapshot* state) {
    if (state == nullptr) return 0;
    SnapshotReader from(*state);
    Clocks then{};
    return from.has("world/clocks") && from.value("world/clocks", then) ? then.stamp : 0;
}

/// Returns the owners of all rows of a store.
Array<Entity> owners_in(const Store& store) {
    Array<Entity> owners{Owner("world")};
    for (const Table* table : store.tables())
        for (const Entity owner : table->entities())
            if (owner) owners.push_back(owner);
    return owners;
}

}  // namespace

std::string WorldState::name_of(const Store& store) const {
    if (dynamic_cast<const Database*>(&store) == nullptr)  // a database is not named after a component type
        return store.schemas().empty() ? std::string(store.kind()) : store.schemas().front()->name();
    const Array<Database*> databases = list_databases(world_.directory());
    const auto number = std::ranges::find(databases, &store) - databases.begin();
    return number == 0 ? std::string("database") : concat("database ", number);
}

Store* WorldState::find_store(std::string_view name) const {
    const auto find = [&](std::string_view named) {
        return stores_by_name_.find_if(hash_text(named), [&](Store* store) { return name_of(*store) == named; });
    };
    for (; num_named_ < world_.directory().stores().size(); ++num_named_) {
        Store* const store = world_.directory().stores()[num_named_];
        const std::string named = name_of(*store);
        if (find(named) == nullptr) stores_by_name_.add(hash_text(named), store);  // the first store with this name
    }
    Store* const* const found = find(name);
    return found == nullptr ? nullptr : *found;
}

// --- saving ------------------------------------------------------------------------------------------------------

Status WorldState::save(Snapshot& state, const Snapshot* before, LastingTypes* lasting, bool borrows) const {
    const ZoneFiles* const zones = ZoneFiles::of(world_);
    const bool has_zones = zones != nullptr && !zones->unloaded().empty();
    Status status = save_but_zones(state, before, lasting, borrows, has_zones);
    if (!status || zones == nullptr) return status;
    SnapshotWriter to(state, before);
    zones->save(to, name_of(zones->database()));
    return to.status();
}

Status WorldState::save_but_zones(Snapshot& state, const Snapshot* before, LastingTypes* lasting, bool borrows,
                                  bool has_zones) const {
    Clocks clocks{world_.frame(), world_.stamp(), world_.random().state()};
    SnapshotWriter to(state, before, stamp_of(before));
    to.use_loop(loop_on(world_.executor()));
    if (borrows) to.borrow_columns();
    if (lasting != nullptr) to.check_values();
    if (lasting == nullptr) state.take_lease(world_.strings().lease());
    {
        const SnapshotPath::Scope scope = to.in("world");
        to.value("format", has_zones ? kFormatWithZones : kFormat);
        to.value("clocks", clocks);
        Array<SavedLayout> layouts{Owner("world")};
        for (const Store* store : world_.directory().stores())
            for (const Schema* schema : store->schemas()) layouts.push_back({schema->id(), schema->layout_hash()});
        to.array("layouts", layouts);
        world_.directory().singletons().save(to);
    }
    const Array<const Schema*> types = types_to_save(lasting != nullptr);
    LastingTypes passing;
    if (lasting != nullptr || !types.empty())
        save_types(to, types, lasting != nullptr, lasting == nullptr ? passing : *lasting);
    world_.entities().save(to);
    std::string stores;
    to.gather_columns();
    for (const Store* store : world_.directory().stores()) {
        const std::string name = name_of(*store);
        if (find_store(name) != store)
            to.refuse(concat("two stores would have the name \"", name,
                             "\" in the save; give the component type another name"));
        stores += concat(name, '\t', store->kind(), '\n');
        const SnapshotPath::Scope scope = to.in(concat("stores/", name));
        store->save(to);
    }
    to.finish_columns();
    to.text("stores", stores);
    commands().save(to);
    save_arrays(to, state, before);
    {
        const SnapshotPath::Scope scope = to.in("schedule");
        world_.schedule().save(to);
    }
    save_services(to);
    world_.events().save(to);
    return to.status();
}

namespace {

/// Shoal's own services have fixed part names, which are part of the format.
std::string part_of(const WorldService& service) {
    const bool is_own = service.stage() != ServiceStage::kProgram;
    return is_own ? std::string(service.name()) : concat("services/", service.name());
}

}  // namespace

void WorldState::save_services(SnapshotWriter& to) const {
    const WorldServices& services = world_.services();
    services.for_each([&](const WorldService& service) {
        const std::uint32_t version = service.state_version();
        if (version == 0) return;
        const SnapshotPath::Scope scope = to.in(part_of(service));
        if (service.stage() == ServiceStage::kProgram) to.value("version", version);
        service.save_part(to);
    });
}

Status WorldState::load_services(SnapshotReader& from) {
    Status status;
    world_.services().for_each([&](WorldService& service) {
        if (!status || service.state_version() == 0) return;
        const SnapshotPath::Scope scope = from.in(part_of(service));
        std::uint32_t version = service.state_version();
        if (service.stage() == ServiceStage::kProgram) {
            version = 0;
            if (from.has("version")) status = from.value("version", version);
            if (status && version > service.state_version())
                status = from.error("version", concat("the service \"", service.name(), "\" has written version ",
                                                      version, ", and here it reads versions up to ",
                                                      service.state_version(), "; load it with the newer program"));
        }
        if (status) status = service.load_part(from, version);
    });
    return status;
}

/// Returns the component types whose schemas are saved. These are the types that occur in commands but in no store. If
/// another run of the program may read the state, the types in the stores are also included.
Array<const Schema*> WorldState::types_to_save(bool is_lasting) const {
    Array<const Schema*> types{Owner("world")}, named{Owner("world")};
    for (const Store* store : world_.directory().stores()) {
        if (is_lasting) types.insert(types.end(), store->schemas().begin(), store->schemas().end());
    }
    commands().list_schemas(named);
    for (const Schema* schema : named) {
        const auto is_same = [&](const Schema* other) { return other->id() == schema->id(); };
        if (find_kept_schema(schema->id()) == nullptr && std::none_of(types.begin(), types.end(), is_same))
            types.push_back(schema);
    }
    return types;
}

/// Returns a key that changes when component types or strings are added. Changes to schemas are reported separately by
/// fields_changed().
std::uint64_t WorldState::key_of(std::span<const Schema* const> types) const {
    std::uint64_t key = 1 + world_.strings().version();
    for (const Schema* schema : types) {
        const SavedLayout layout{schema->id(), schema->layout_hash()};
        key = hash_bytes(&layout, sizeof layout, key);
    }
    return key;
}

/// Lists all of the world's strings, or only the used and permanent ones.
void WorldState::list_texts(bool only_used, Array<std::string_view>& texts) const {
    BitSet listed{Owner("world")};
    if (only_used)
        listed = TextUses(world_).find();
    else
        listed.set_range(0, world_.strings().size());
    world_.strings().mark_lasting(listed);
    std::size_t number = 0;
    world_.strings().for_each([&](StringId, std::string_view text) {
        if (listed.test(number++)) texts.push_back(text);
    });
}

void WorldState::save_types(SnapshotWriter& to, std::span<const Schema* const> schemas, bool with_texts,
                            LastingTypes& lasting) const {
    const std::uint64_t key = key_of(schemas);
    if (lasting.key == key) return to.array("types", lasting.bytes);
    BlobWriter types;
    types.set_name("types");
    Array<std::string_view> texts{Owner("world")};
    for (const Schema* schema : schemas)
        if (!schema->has_opaque())
            if (const Result<std::uint32_t> type = types.add_component_type(*schema); !type) to.refuse(type.message());
    if (with_texts) list_texts(lasting.only_used_texts, texts);
    std::sort(texts.begin(), texts.end());
    for (const std::string_view text : texts)
        if (const Result<StringId> kept = types.add_text(text); !kept) to.refuse(kept.message());
    Result<std::vector<std::byte>> bytes = types.write();
    if (!bytes) return to.refuse(bytes.message());
    lasting.key = key;
    lasting.bytes = std::move(*bytes);
    to.array("types", lasting.bytes);
}

// --- loading -----------------------------------------------------------------------------------------------------

Status WorldState::load(const Snapshot& state, bool is_trusted) { return load(state, is_trusted, true); }

Status WorldState::load(const Snapshot& state, bool is_trusted, bool with_zones) {
    SnapshotReader ids(state);
    if (Status status = EntityManager::check_ids(ids); !status) return status;
    if (world_.entities().num_worlds() != 1)
        return Status::error(concat(world_.entities().num_worlds(),
                                    " worlds share the entities, which a state has all of; load it into a world with "
                                    "an entity manager of its own"));
    if (Status status = check_builds(ids); !status) return status;
    Snapshot converted;
    if (Status status = migrate_state(*this, state, is_trusted, converted); !status) return status;
    converted.set_max_bytes(state.max_bytes());
    const std::size_t num_owned = world_.directory().num_owned();
    Status status = load_fitting(converted.empty() ? state : converted, is_trusted, with_zones);
    if (!status) world_.directory().destroy_after(num_owned);
    return status;
}

Status WorldState::visit(const Snapshot& other, void (*look)(void* context), void* context) {
    Snapshot mine;
    if (Status status = save_but_zones(mine, nullptr, nullptr, false, false); !status) return status;
    const std::size_t num_owned = world_.directory().num_owned();
    if (Status status = load(other, false, false); !status) return status;
    look(context);
    if (Status back = load(mine, true, false); !back) {  // a program's or plugin's store has rejected the old state
        log(LogLevel::kError, concat("the state that a world had a moment ago could not be loaded again, and the world "
                                     "keeps the one that was looked at: ",
                                     back.message()));
        return back;
    }
    world_.directory().destroy_after(num_owned);
    return {};
}

/// Loads a state whose fields match the world's.
Status WorldState::load_fitting(const Snapshot& state, bool is_trusted, bool with_zones) {
    SnapshotReader from(state, is_trusted);
    if (Status status = make_stores(from); !status) return status;
    const Result<Database*> of_zones = with_zones ? find_database_of_zones(state, from) : Result<Database*>(nullptr);
    if (!of_zones) return of_zones.status();
    world_.directory().singletons().note_deaths();
    world_.services().for_each(
        [](WorldService& service) { service.note_deaths(); });  // loading moves their death cursors to the end
    // Files are prepared before the world changes, and the current files are kept until nothing can fail anymore.
    ZoneFiles* const files = with_zones ? ZoneFiles::of(world_) : nullptr;
    ZoneFiles::Loaded zones(files);
    const bool stay_unloaded = files != nullptr && *of_zones == &files->database();
    if (stay_unloaded)
        if (Status status = files->prepare(from, zones); !status) return status;
    // Whether the data is valid is known only after all of it has been loaded. If it is not valid, `now` is restored.
    // If `state` is trusted, `now` shares unchanged data with it.
    Snapshot now;
    if (const Status kept = save_but_zones(now, is_trusted ? &state : nullptr, nullptr, false, false); !kept)
        return Status::error(
            concat("what is in the world now could not be brought back if loading fails, because ", kept.message()));
    Status status = replace(state, is_trusted, &now);
    if (status && *of_zones != nullptr && !stay_unloaded) status = ZoneFiles::read_into(world_, **of_zones, from);
    if (status && files != nullptr) files->take(zones);
    if (status) return status;
    SnapshotReader back(now);
    Status restored = make_stores(back);  // reads the world's own list of stores again
    if (restored) restored = replace(now, true, nullptr);
    if (restored) return status;
    return Status::error(
        concat(status.message(), "; and what the world had before cannot be brought back: ", restored.message()));
}

/// Finds the database that a state's zone files belong to. Returns nullptr if there are no files. Errors: the world has
/// no database with that name, or parts are missing.
Result<Database*> WorldState::find_database_of_zones(const Snapshot& state, SnapshotReader& from) const {
    std::uint32_t format = 0;
    if (Status status = from.value("world/format", format); !status) return status;
    if (!from.is_trusted())
        if (Status status = ZoneFiles::check_parts(state, from, format == kFormatWithZones); !status) return status;
    const Result<std::string> name = ZoneFiles::store_in(from);
    if (!name) return name.status();
    if (name->empty()) return nullptr;
    auto* const database = dynamic_cast<Database*>(find_store(*name));
    if (database == nullptr) return from.error("zones/store", concat('"', *name, "\" is no database of the world"));
    return database;
}

/// Reads the list of stores, and creates the stores that the world does not have.
Status WorldState::make_stores(SnapshotReader& from) {
    saved_.clear();
    types_.reset();
    stores_by_name_.clear();
    num_named_ = 0;
    {
        const SnapshotPath::Scope scope = from.in("world");
        std::uint32_t format = 0;
        if (Status status = from.value("format", format); !status) return status;
        if (format != kFormat && format != kFormatWithZones)
            return from.error("format", concat("it has version ", format, ", and this program reads versions up to ",
                                               kFormatWithZones));
    }
    const Result<std::string> lines = from.text("stores");
    if (!lines) return lines.status();
    for_each_line(*lines, [&](std::string_view line) {
        const std::size_t tab = std::min(line.find('\t'), line.size());
        saved_.push_back({std::string(line.substr(0, tab)), std::string(line.substr(std::min(tab + 1, line.size())))});
    });
    saved_names_.clear();
    for (const SavedStore& saved : saved_) saved_names_.push_back(saved.name);
    std::sort(saved_names_.begin(), saved_names_.end());
    if (const auto twice = std::adjacent_find(saved_names_.begin(), saved_names_.end()); twice != saved_names_.end())
        return from.error("stores", concat("it lists \"", *twice, "\" twice"));
    if (from.has("types"))
        if (Status status = load_types(from); !status) return status;
    if (Status status = check_layouts(from); !status) return status;
    for (const SavedStore& saved : saved_)
        if (find_store(saved.name) == nullptr)
            return from.error("stores", concat("it has ", saved.kind, " for \"", saved.name,
                                               "\", and the world has none; make it before loading, as the program did "
                                               "that saved"));
    return {};
}

/// Errors: the fields of a component type have changed.
Status WorldState::check_layouts(SnapshotReader& from) const {
    const SnapshotPath::Scope scope = from.in("world");
    Array<SavedLayout> layouts{Owner("world")};
    if (Status status = from.array("layouts", layouts); !status) return status;
    for (const SavedLayout& saved : layouts)
        if (const Schema* const kept = find_kept_schema(saved.component);
            kept != nullptr && kept->layout_hash() != saved.layout)
            return from.error("layouts",
                              concat("it has \"", kept->name(), "\" with other fields than the world, which has ",
                                     kept->to_text(), "; load it with the fields with which it was saved"));
    return {};
}

/// Creates stores for component types that have none, and adds the strings.
Status WorldState::load_types(SnapshotReader& from) {
    Array<std::byte> bytes{Owner("world")};
    if (Status status = from.array("types", bytes); !status) return status;
    Result<Blob> types = Blob::load(bytes);
    if (!types) return from.error("types", types.message());
    HashMap<ComponentId, const BlobComponents*> type_by_id{Owner("world")};
    for (const BlobComponents& type : types->component_types()) {
        type_by_id.add(type.id, &type);
        const Schema* const taken = find_kept_schema(type.id);
        if (taken != nullptr && taken->layout_hash() != type.schema->layout_hash())
            return from.error("types", concat("it has ", type.schema->to_text(), ", and the world has ",
                                              taken->to_text(), "; load it with the fields with which it was saved"));
    }
    for (const BlobText& text : types->texts())
        if (const Result<StringId> kept = world_.strings().intern_until_unused(types->string(text.text)); !kept)
            return kept.status();
    for (const SavedStore& saved : saved_) {
        Store* store = find_store(saved.name);
        if (store == nullptr && saved.name == "database") store = &world_.database();
        if (auto* const database = dynamic_cast<Database*>(store); database != nullptr) {
            const SnapshotPath::Scope scope = from.in(concat("stores/", saved.name));
            const Result<std::string> names = from.text("components");
            if (!names) return names.status();
            Status status;
            for_each_line(*names, [&](std::string_view name) {
                const BlobComponents* const type = type_by_id.find_or(ComponentId(name), nullptr);
                if (status && type != nullptr && world_.directory().find(type->id) == nullptr)
                    status = database->take_component(*type->schema);
            });
            if (!status) return status;
        }
        if (store != nullptr) continue;
        const BlobComponents* const type = type_by_id.find_or(ComponentId(std::string_view(saved.name)), nullptr);
        if (type == nullptr || world_.directory().find(type->id) != nullptr) continue;
        const Result<Store*> made = world_.directory().require(*type->schema);
        if (!made) return made.status();
        if (*made == nullptr)
            if (const Result<ComponentManager*> manager = world_.manager(*type->schema); !manager)
                return manager.status();
    }
    types_.emplace(std::move(*types));
    return {};
}

Status WorldState::replace(const Snapshot& state, bool is_trusted, const Snapshot* present) {
    SnapshotReader from(state, is_trusted, present);
    world_.strings().use_all();
    from.use_loop(loop_on(world_.executor()));
    commands().discard();
    for (Store* store : world_.directory().stores()) {
        if (std::binary_search(saved_names_.begin(), saved_names_.end(), std::string_view(name_of(*store)))) continue;
        store->drop(owners_in(*store));
    }
    if (Status status = world_.entities().load(from); !status) return status;
    if (Status status = load_world(from); !status) return status;
    if (Status status = load_stores(from); !status) return status;
    return load_rest(from);
}

Status WorldState::load_world(SnapshotReader& from) {
    const SnapshotPath::Scope scope = from.in("world");
    Clocks clocks{};
    if (Status status = from.value("clocks", clocks); !status) return status;
    if (Status status = world_.directory().singletons().load(from); !status) return status;
    if (clocks.stamp == 0 || (!from.is_trusted() && clocks.stamp > ~std::uint64_t(0) / 4))
        return from.error("clocks", "the stamp is out of range");
    world_.schedule().set_frame(clocks.frame);
    world_.directory().set_stamp(clocks.stamp);
    world_.random() = Random(clocks.random);
    return {};
}

Status WorldState::load_stores(SnapshotReader& from) {
    for (const SavedStore& saved : saved_) {
        const SnapshotPath::Scope scope = from.in(concat("stores/", saved.name));
        Store& store = *find_store(saved.name);
        if (Status status = store.load(from); !status) return status;
    }
    if (Status status = load_commands(from); !status) return status;
    for (Store* store : world_.directory().stores()) store->finish_load();
    if (Status status = world_.directory().singletons().finish_load(from); !status) return status;
    return from.is_trusted() ? Status() : check_arrays(from);
}

/// Loads the commands. In older states, they are in the part of the first database.
Status WorldState::load_commands(SnapshotReader& from) {
    std::string within;
    bool has_lists = false;
    for (const SavedStore& saved : saved_) {
        const std::string part = concat("stores/", saved.name);
        const bool waits = from.has(concat(part, "/commands/lists"));
        if (waits && has_lists)
            return from.error("stores", "commands wait in two databases; settle before the state is saved");
        if (waits || (!has_lists && from.has(concat(part, "/commands/epoch")))) within = part;
        has_lists |= waits;
    }
    const SnapshotPath::Scope scope = from.in(within);
    return commands().load(from, types_ ? types_->schemas() : std::span<const Schema>());
}

Status WorldState::load_rest(SnapshotReader& from) {
    {
        const SnapshotPath::Scope scope = from.in("schedule");
        if (Status status = world_.schedule().load(from); !status) return status;
    }
    if (Status status = load_services(from); !status) return status;
    return world_.events().load(from);
}

}  // namespace shoal
