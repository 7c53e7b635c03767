#include "shoal/plugin/plugins.h"

#include "plugin/store.h"
#include "shoal/base/detail/shared_library.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"

#include <algorithm>
#include <vector>

namespace shoal {

struct Plugins::Shared : PluginHost {
    using PluginHost::PluginHost;
};

struct Plugins::Loaded {
    Loaded(PluginHost& host, std::string_view of_path, SharedLibrary&& opened, const shoal_plugin& exported)
        : path(of_path),
          library(std::move(opened)),
          plugin(copy_given(exported)),
          name(plugin.name),
          world(host, name) {
        if (plugin.version != nullptr) version = plugin.version;
    }

    const std::string path;
    SharedLibrary library;  // first, so that it is destroyed last
    const shoal_plugin plugin;
    const std::string name;
    std::string version;
    shoal_world world;
    void* state = nullptr;

    bool depends_on(std::string_view other) const {
        return std::any_of(plugin.depends_on, plugin.depends_on + plugin.num_depends_on,
                           [&](const char* needed) { return other == needed; });
    }
};

namespace {

constexpr const char* kEntry = "shoal_plugin_entry";

Status error_in(std::string_view path, std::string_view why) {
    return Status::error(concat("cannot load plugin ", path, ": ", why));
}

/// Errors: the plugin was built for a different version or entity size.
Status check_versions(const shoal_plugin& plugin) {
    if (plugin.size < offsetof(shoal_plugin, abi_version) + sizeof plugin.abi_version)
        return Status::error("what it exports does not begin with sizeof(shoal_plugin)");
    if (plugin.abi_version != SHOAL_ABI_VERSION)
        return Status::error(concat("it was built for version ", plugin.abi_version,
                                    " of the interface, and this program has version ", SHOAL_ABI_VERSION,
                                    "; build it with the header of this program"));
    if (plugin.size < offsetof(shoal_plugin, unload) + sizeof plugin.unload)
        return Status::error(concat("what it exports has ", plugin.size, " bytes, fewer than the first version had"));
    if (plugin.entity_bytes != sizeof(shoal_entity))
        return Status::error(concat("its entities have ", plugin.entity_bytes, " bytes, and those of this program ",
                                    sizeof(shoal_entity), "; build it ", sizeof(shoal_entity) == 8 ? "with" : "without",
                                    " SHOAL_WIDE_IDS"));
    if (plugin.host_bytes > sizeof(shoal_host))
        return Status::error("it was built with a newer header, and may call what this program does not have");
    return {};
}

/// Errors: a name or a function is missing.
Status check_contents(const shoal_plugin& plugin) {
    if (plugin.name == nullptr || *plugin.name == 0) return Status::error("it has no name");
    if (plugin.load == nullptr) return Status::error(concat("plugin \"", plugin.name, "\" has no function load"));
    if (plugin.num_depends_on != 0 && plugin.depends_on == nullptr)
        return Status::error(concat("plugin \"", plugin.name, "\" depends on others, but the list of them is NULL"));
    for (std::uint32_t i = 0; i < plugin.num_depends_on; ++i)
        if (plugin.depends_on[i] == nullptr)
            return Status::error(concat("plugin \"", plugin.name, "\": name ", i, " of depends_on is NULL"));
    return {};
}

/// Returns a list such as `300 components of "cell"` for all stores of a plugin.
std::string data_text(const shoal_world& plugin) {
    std::string text;
    for (const PluginStore* store : plugin.stores)
        if (store->num_rows() != 0)
            text +=
                concat(text.empty() ? "" : ", ", store->num_rows(), " components of \"", store->schema().name(), '"');
    return text;
}

/// Errors: a pass of the program or another plugin uses a store that is to be removed.
Status check_users(const shoal_world& plugin, bool by_plugins) {
    const Schedule& schedule = plugin.world.schedule();
    const auto is_own = [&](std::string_view name) {
        return std::ranges::any_of(plugin.host.guests,
                                   [&](const Guest* each) { return each->find_pass(name) != nullptr; });
    };
    for (const PluginStore* store : plugin.stores) {
        for (std::size_t i = 0; i < schedule.num_passes(); ++i)
            if (const std::string_view pass = schedule.statistics(i).name; schedule.touches(i, *store) && !is_own(pass))
                return Status::error(concat("plugin \"", plugin.name, "\" stays, because the pass \"", pass,
                                            "\" of the program uses its store of \"", store->schema().name(),
                                            "\"; remove that pass first"));
        const Guest* const user = by_plugins ? plugin.host.find_user(store->schema(), *store, &plugin) : nullptr;
        if (user != nullptr)
            return Status::error(concat("plugin \"", plugin.name, "\" stays, because plugin \"", user->name,
                                        "\" uses its store of \"", store->schema().name(),
                                        "\"; unload that one first"));
    }
    return {};
}

/// Saves the stores of a plugin for its next version. Errors: a store cannot be saved.
Status save_stores(const shoal_world& plugin, std::vector<SavedStore>& saved) {
    saved.clear();
    for (const PluginStore* store : plugin.stores) {
        if (!store->is_saved() && store->num_rows() == 0) continue;
        saved.emplace_back();
        saved.back().component = store->schema().name();
        saved.back().version = store->schema().version();
        saved.back().num_rows = store->num_rows();
        saved.back().has_bytes = store->is_saved();
        if (!store->is_saved()) continue;
        if (Status status = store->save(saved.back().bytes); !status) return status;
    }
    return {};
}

void log_lost(const shoal_world& plugin, const std::vector<SavedStore>& saved) {
    for (const SavedStore& store : saved) {
        if (store.was_loaded) continue;
        const std::string why =
            store.has_bytes ? concat("has no store of \"", store.component, "\" any more")
                            : concat("was exchanged, and its store of \"", store.component, "\" has no function save");
        log(LogLevel::kWarning,
            concat("plugin \"", plugin.name, "\" ", why, ", so ", store.num_rows, " components of it are gone"));
    }
}

}  // namespace

Plugins::Plugins(World& world) : shared_(make_owned<Shared>("plugins", world)) {}

Plugins::~Plugins() {
    shared_->require_idle();
    for (; !loaded_.empty(); loaded_.pop_back()) {
        const Status status = check_users(loaded_.back()->world, false);
        SHOAL_ASSERT(status.ok(), status.ok() ? "" : status.message().data());
        const Array<std::string> passes = loaded_.back()->world.pass_names();
        stop(*loaded_.back());
        shared_->forget_passes(passes);
        destroy(loaded_.back());
    }
    destroy_owned("plugins", shared_);
}

void Plugins::destroy(Loaded* loaded) { destroy_owned("plugins", loaded); }

std::size_t Plugins::find(std::string_view name) const {
    std::size_t i = 0;
    while (i < loaded_.size() && loaded_[i]->name != name) ++i;
    return i;
}

PluginInfo Plugins::plugin(std::size_t index) const {
    SHOAL_ASSERT(index < loaded_.size(), "there are fewer plugins; ask num_plugins()");
    const Loaded& loaded = *loaded_[index];
    return {loaded.name, loaded.version, loaded.path};
}

// --- loading -----------------------------------------------------------------------------------------------------

Result<Plugins::Loaded*> Plugins::open(const std::string& path) const {
    Result<SharedLibrary> library = SharedLibrary::open(path);
    if (!library) return error_in(path, library.message());
    const auto entry = reinterpret_cast<shoal_plugin_entry_function>(library->find(kEntry));
    if (entry == nullptr)
        return error_in(path, concat("it exports no function ", kEntry, "; define it with SHOAL_PLUGIN_EXPORT"));
    const shoal_plugin* const exported = entry();
    if (exported == nullptr) return error_in(path, concat(kEntry, "() returned NULL"));
    if (Status status = check_versions(*exported); !status) return error_in(path, status.message());
    if (Status status = check_contents(*exported); !status) return error_in(path, status.message());
    return make_owned<Loaded>("plugins", *shared_, path, std::move(*library), *exported);
}

/// Errors: a plugin that it depends on is not loaded.
Status Plugins::check_needs(const Loaded& opened) const {
    for (std::uint32_t i = 0; i < opened.plugin.num_depends_on; ++i)
        if (const char* needed = opened.plugin.depends_on[i]; find(needed) == loaded_.size() || needed == opened.name)
            return Status::error(concat("plugin \"", opened.name, "\" depends on plugin \"", needed,
                                        "\", which is not loaded; load that one first"));
    return {};
}

/// Calls load(). Errors: load() failed, or the passes have no valid order. On error, everything that the plugin has
/// made is removed.
Status Plugins::start(Loaded& opened, bool was_ordered) {
    Schedule& schedule = shared_->world.schedule();
    shoal_error error{sizeof error, {}};
    opened.state = nullptr;
    opened.world.is_loading = true;
    Status status;
    {
        const GuestCallScope scope(*shared_);
        if (opened.plugin.load(&plugin_host_table(), &opened.world, &opened.state, &error) == 0)
            status =
                Status::error(concat("plugin \"", opened.name,
                                     "\" failed to load: ", error.text[0] == 0 ? "it does not say why" : error.text));
    }
    const bool has_loaded = status.ok();
    if (has_loaded && was_ordered) status = schedule.prepare();
    opened.world.is_loading = has_loaded && !status;
    if (has_loaded && !status) {  // its own unload() frees the state before everything else is removed
        const GuestCallScope scope(*shared_);
        opened.world.remove_calls();
        if (opened.plugin.unload != nullptr) opened.plugin.unload(&opened.world, opened.state);
    }
    if (!status) {
        opened.world.remove_calls();
        opened.world.remove_channels();
    }
    opened.world.finish_load(status.ok());
    return status;
}

/// Removes everything that a plugin has made, including its stores.
void Plugins::stop(Loaded& loaded) {
    loaded.world.remove_calls();
    {
        const GuestCallScope scope(*shared_);
        if (loaded.plugin.unload != nullptr) loaded.plugin.unload(&loaded.world, loaded.state);
    }
    loaded.world.remove_calls();
    loaded.world.remove_channels();
}

Status Plugins::load(const std::string& path) {
    shared_->require_idle();
    const Result<Loaded*> opened = open(path);
    if (!opened) return opened.status();
    Status status;
    if (const std::size_t same = find((*opened)->name); same != loaded_.size())
        status = Status::error(concat("a plugin \"", (*opened)->name, "\" is loaded already, from ",
                                      loaded_[same]->path, "; reload or unload that one"));
    if (status) status = check_needs(**opened);
    if (status) status = start(**opened, shared_->world.schedule().prepare().ok());
    if (status) return loaded_.push_back(*opened), Status();
    destroy(*opened);
    return error_in(path, status.message());
}

Status Plugins::unload(std::string_view name) {
    shared_->require_idle();
    const std::size_t index = find(name);
    if (index == loaded_.size()) return Status::error(concat("no plugin \"", name, "\" is loaded"));
    for (const Loaded* other : loaded_)
        if (other->depends_on(name))
            return Status::error(concat("plugin \"", name, "\" stays, because plugin \"", other->name,
                                        "\" depends on it; unload that one first"));
    Loaded* const loaded = loaded_[index];
    if (Status status = check_users(loaded->world, true); !status) return status;
    loaded_.erase(loaded_.begin() + static_cast<std::ptrdiff_t>(index));
    const Array<std::string> passes = loaded->world.pass_names();
    if (const std::string data = data_text(loaded->world); !data.empty())
        log(LogLevel::kNote, concat("plugin \"", name, "\" goes, and with it ", data));
    stop(*loaded);
    shared_->forget_passes(passes);
    destroy(loaded);
    return {};
}

Status Plugins::reload(std::string_view name) {
    shared_->require_idle();
    const std::size_t index = find(name);
    if (index == loaded_.size()) return Status::error(concat("no plugin \"", name, "\" is loaded"));
    Loaded* const older = loaded_[index];
    const Result<Loaded*> opened = open(older->path);
    if (!opened) return opened.status();
    Status status;
    if ((*opened)->name != name)
        status = Status::error(concat("the file has plugin \"", (*opened)->name, "\" now, not \"", name, "\""));
    if (status) status = check_needs(**opened);
    if (status) status = check_users(older->world, false);
    if (status) status = save_stores(older->world, shared_->saved);
    if (!status) {
        shared_->saved.clear();
        destroy(*opened);
        return error_in(older->path, status.message());
    }
    status = exchange(index, *opened);
    shared_->saved.clear();
    shared_->renew_all();
    return status;
}

/// Replaces an older version with a newer one. Errors: the newer version does not start. On error, the older version is
/// started again, or removed if that fails.
Status Plugins::exchange(std::size_t index, Loaded* newer) {
    Loaded* const older = loaded_[index];
    const bool was_ordered = shared_->world.schedule().prepare().ok();
    const Array<std::string> passes = older->world.pass_names();
    stop(*older);
    const Status status = start(*newer, was_ordered);
    if (status) {
        log_lost(newer->world, shared_->saved);
        loaded_[index] = newer;
        destroy(older);
        return status;
    }
    destroy(newer);
    for (SavedStore& saved : shared_->saved) saved.was_loaded = false;
    const Status again = start(*older, was_ordered);
    if (again) {
        log_lost(older->world, shared_->saved);
        return error_in(older->path, concat(status.message(), "; the one before works on"));
    }
    const Status both =
        error_in(older->path, concat(status.message(), "; and the one before failed to load again: ", again.message()));
    log_lost(older->world, shared_->saved);
    loaded_.erase(loaded_.begin() + static_cast<std::ptrdiff_t>(index));
    destroy(older);
    shared_->forget_passes(passes);
    return both;
}

// --- what plugins add to tools -----------------------------------------------------------------------------------

Status Plugins::register_components(ComponentRegistry& registry) const {
    for (const Loaded* loaded : loaded_)
        for (const PluginType* type : loaded->world.types)
            if (Status status = type->add_to(registry); !status)
                return Status::error(concat("plugin \"", loaded->name, "\": ", status.message()));
    return {};
}

std::size_t Plugins::num_verbs() const {
    std::size_t count = 0;
    for (const Loaded* loaded : loaded_) count += loaded->world.verbs.size();
    return count;
}

namespace {

/// Returns a verb by its index among the verbs of all plugins.
const PluginVerb& verb_at(const PluginHost& host, std::size_t index) {
    for (const Guest* guest : host.guests) {
        const std::vector<PluginVerb>& verbs = static_cast<const shoal_world*>(guest)->verbs;
        if (index < verbs.size()) return verbs[index];
        index -= verbs.size();
    }
    fail_assertion({"index < num_verbs()", "there are fewer verbs; ask num_verbs()", __FILE__, __LINE__});
}

/// A call to a verb. Plugins only see the base class.
struct VerbCall : shoal_verb_call {
    void (*print_to)(void* context, std::string_view text) = nullptr;
    void* context = nullptr;
};

}  // namespace

PluginVerbInfo Plugins::verb(std::size_t index) const {
    const PluginVerb& verb = verb_at(*shared_, index);
    return {verb.name, verb.summary, verb.operands};
}

Status Plugins::run_verb(std::size_t index, std::span<const std::string> words,
                         void (*print)(void* context, std::string_view text), void* context) {
    shared_->require_idle();
    const PluginVerb& verb = verb_at(*shared_, index);
    Array<const char*> texts{Owner("plugins")};
    for (const std::string& word : words) texts.push_back(word.c_str());
    VerbCall call;
    call.size = sizeof(shoal_verb_call);
    call.num_words = static_cast<std::uint32_t>(texts.size());
    call.words = texts.data();
    call.print_to = print, call.context = context;
    call.print = [](const shoal_verb_call* of, const char* text) {
        const VerbCall& self = *static_cast<const VerbCall*>(of);
        if (text != nullptr) self.print_to(self.context, text);
    };
    const GuestCallScope scope(*shared_);
    return call_plugin(concat("the verb \"", verb.name, "\""),
                       [&](shoal_error* error) { return verb.run(verb.context, &call, error); });
}

}  // namespace shoal
