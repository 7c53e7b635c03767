#include "shoal/plugin/plugins.h"

#include "plugin/host.h"
#include "shoal/base/shared_library.h"
#include "shoal/base/text.h"
#include "shoal/job/work_scope.h"

#include <algorithm>

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
    SharedLibrary library;  // ends behind all that is below
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

/// Errors: what the plugin says of itself does not fit this program.
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

/// While it lives, functions of plugins that are called may not load or unload others.
class CallScope {
public:
    explicit CallScope(PluginHost& host) : host_(host) { ++host_.num_calls; }
    CallScope(const CallScope&) = delete;
    CallScope& operator=(const CallScope&) = delete;
    ~CallScope() { --host_.num_calls; }

private:
    PluginHost& host_;
};

}  // namespace

Plugins::Plugins(World& world) : shared_(make_owned<Shared>(world)) {}

Plugins::~Plugins() {
    require_idle();
    for (; !loaded_.empty(); loaded_.pop_back()) {
        stop(*loaded_.back());
        destroy(loaded_.back());
    }
    destroy_owned(shared_);
}

void Plugins::destroy(Loaded* loaded) { destroy_owned(loaded); }

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

void Plugins::require_idle() const {
    SHOAL_ASSERT(WorkScope::current() == nullptr, "a pass loaded or unloaded a plugin; do it between steps");
    SHOAL_ASSERT(shared_->num_calls == 0,
                 "a function of a plugin loaded or unloaded a plugin; let the program do it between steps");
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
    return make_owned<Loaded>(*shared_, path, std::move(*library), *exported);
}

/// Errors: another plugin that it depends on is not loaded.
Status Plugins::check_needs(const Loaded& opened) const {
    for (std::uint32_t i = 0; i < opened.plugin.num_depends_on; ++i)
        if (const char* needed = opened.plugin.depends_on[i]; find(needed) == loaded_.size() || needed == opened.name)
            return Status::error(concat("plugin \"", opened.name, "\" depends on plugin \"", needed,
                                        "\", which is not loaded; load that one first"));
    return {};
}

/// Calls load(). Errors: it failed, or its passes have no order; all that it has made is removed.
Status Plugins::start(Loaded& opened) {
    Schedule& schedule = shared_->world.schedule();
    const bool was_ordered = schedule.prepare().ok();
    shoal_error error{sizeof error, {}};
    opened.state = nullptr;
    opened.world.is_loading = true;
    Status status;
    {
        const CallScope scope(*shared_);
        if (opened.plugin.load(&plugin_host_table(), &opened.world, &opened.state, &error) == 0)
            status =
                Status::error(concat("plugin \"", opened.name,
                                     "\" failed to load: ", error.text[0] == 0 ? "it does not say why" : error.text));
    }
    const bool has_loaded = status.ok();
    if (has_loaded && was_ordered) status = schedule.prepare();
    opened.world.is_loading = has_loaded && !status;
    if (has_loaded && !status) {  // its own unload() frees the state, and then all is taken back
        const CallScope scope(*shared_);
        opened.world.remove_calls();
        if (opened.plugin.unload != nullptr) opened.plugin.unload(&opened.world, opened.state);
    }
    if (!status) {
        opened.world.remove_calls();
        opened.world.remove_rest();
    }
    opened.world.end_load(status.ok());
    return status;
}

void Plugins::stop(Loaded& loaded) {
    loaded.world.remove_calls();
    {
        const CallScope scope(*shared_);
        if (loaded.plugin.unload != nullptr) loaded.plugin.unload(&loaded.world, loaded.state);
    }
    loaded.world.remove_calls();
    loaded.world.remove_rest();
}

Status Plugins::load(const std::string& path) {
    require_idle();
    const Result<Loaded*> opened = open(path);
    if (!opened) return opened.status();
    Status status;
    if (const std::size_t same = find((*opened)->name); same != loaded_.size())
        status = Status::error(concat("a plugin \"", (*opened)->name, "\" is loaded already, from ",
                                      loaded_[same]->path, "; reload or unload that one"));
    if (status) status = check_needs(**opened);
    if (status) status = start(**opened);
    if (status) return loaded_.push_back(*opened), Status();
    destroy(*opened);
    return error_in(path, status.message());
}

Status Plugins::unload(std::string_view name) {
    require_idle();
    const std::size_t index = find(name);
    if (index == loaded_.size()) return Status::error(concat("no plugin \"", name, "\" is loaded"));
    for (const Loaded* other : loaded_)
        if (other->depends_on(name))
            return Status::error(concat("plugin \"", name, "\" stays, because plugin \"", other->name,
                                        "\" depends on it; unload that one first"));
    Loaded* const loaded = loaded_[index];
    loaded_.erase(loaded_.begin() + static_cast<std::ptrdiff_t>(index));
    stop(*loaded);
    destroy(loaded);
    return {};
}

Status Plugins::reload(std::string_view name) {
    require_idle();
    const std::size_t index = find(name);
    if (index == loaded_.size()) return Status::error(concat("no plugin \"", name, "\" is loaded"));
    Loaded* const older = loaded_[index];
    const Result<Loaded*> opened = open(older->path);
    if (!opened) return opened.status();
    Status status;
    if ((*opened)->name != name)
        status = Status::error(concat("the file has plugin \"", (*opened)->name, "\" now, not \"", name, "\""));
    if (status) status = check_needs(**opened);
    if (!status) {
        destroy(*opened);
        return error_in(older->path, status.message());
    }
    stop(*older);
    status = start(**opened);
    if (!status) {
        destroy(*opened);
        return restart(index, older, status);
    }
    loaded_[index] = *opened;
    destroy(older);
    return {};
}

/// Starts a plugin again whose newer version has failed.
Status Plugins::restart(std::size_t index, Loaded* older, const Status& failure) {
    const Status again = start(*older);
    if (again) return error_in(older->path, concat(failure.message(), "; the one before works on"));
    const Status status = error_in(
        older->path, concat(failure.message(), "; and the one before failed to load again: ", again.message()));
    loaded_.erase(loaded_.begin() + static_cast<std::ptrdiff_t>(index));
    destroy(older);
    return status;
}

}  // namespace shoal
