#include "scripts.h"

#include "shoal/base/file_watch.h"
#include "shoal/base/text.h"
#include "shoal/source/compiler.h"
#include "sources.h"

#include <algorithm>

#if defined(SHOAL_TOOL_HAS_SCRIPTS)
#include "shoal/script/detail/lua_types.h"
#include "shoal/script/scripts.h"
#endif

namespace shoal_tool {

using namespace shoal;

#if defined(SHOAL_TOOL_HAS_SCRIPTS)

namespace {

Status compile_for_script(void* of, std::string_view source, Array<std::byte>& bytes);

ScriptOptions options_for(void* loaded, bool is_quiet) {
    ScriptOptions options;
    options.compile = compile_for_script;
    options.compile_context = loaded;
    options.is_quiet = is_quiet;
    return options;
}

}  // namespace

struct LevelScripts::Loaded {
    Loaded(World& of_world, LevelScripts& of, bool is_quiet)
        : world(of_world), scripts(world, options_for(&of, is_quiet)) {}

    World& world;
    Scripts scripts;
    std::vector<FileWatch*> watches;  // one per script
};

namespace {

/// Registers the scripts' component types with their compile functions, and all other component types in the world.
Status add_types(const World& world, const LevelScripts& scripts, ComponentRegistry& registry) {
    if (Status status = add_built_ins(registry); !status) return status;
    if (Status status = scripts.register_components(registry); !status) return status;
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas())
            if (registry.find(schema->name()) == nullptr)
                if (Status status = registry.add(*schema); !status) return status;
    return {};
}

/// Compiles a source that a script spawns.
Status compile_for_script(void* of, std::string_view source, Array<std::byte>& bytes) {
    const LevelScripts& scripts = *static_cast<const LevelScripts*>(of);
    ComponentRegistry registry;
    if (Status status = add_types(scripts.world(), scripts, registry); !status) return status;
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("text of a script", std::string(source));
    const Result<CompiledSource> compiled = compile_file(file, registry, {}, diagnostics);
    if (!compiled) return diagnostics.num_errors() == 0 ? compiled.status() : Status::error(diagnostics.format());
    bytes.assign(compiled->blob.begin(), compiled->blob.end());
    return {};
}

}  // namespace

LevelScripts::LevelScripts(World& world, bool is_quiet) : loaded_(new Loaded(world, *this, is_quiet)) {}

World& LevelScripts::world() const { return loaded_->world; }

Status LevelScripts::register_components(ComponentRegistry& registry) const {
    return loaded_->scripts.register_components(registry);
}
std::uint64_t LevelScripts::num_failures() const { return loaded_->scripts.num_failures(); }
std::string LevelScripts::last_failure() const { return std::string(loaded_->scripts.last_failure().message()); }

LevelScripts::~LevelScripts() {
    for (const FileWatch* watch : loaded_->watches) delete watch;
    delete loaded_;
}

Status LevelScripts::load(std::span<const std::string> paths) {
    for (const std::string& path : paths) {
        auto* const watch = new FileWatch;
        loaded_->watches.push_back(watch);
        watch->set({path});
        if (Status status = loaded_->scripts.load(path); !status) return status;
    }
    return {};
}

void LevelScripts::look(const std::function<void(const std::string& line)>& tell) {
    for (std::size_t i = 0; i < loaded_->watches.size() && i < loaded_->scripts.num_scripts(); ++i) {
        if (!loaded_->watches[i]->has_changed()) continue;
        const ScriptInfo script = loaded_->scripts.script(i);
        const std::string name(script.name), path(script.path);
        const Status status = loaded_->scripts.reload(name);
        tell(status ? concat("reloaded ", path) : std::string(status.message()));
    }
}

Result<std::string> annotations_of(std::span<const Schema* const> schemas) { return lua_types(schemas); }

#else

namespace {
Status no_lua() { return Status::error("this tool was built without LuaJIT; install it and build the tool again"); }
}  // namespace

struct LevelScripts::Loaded {};
LevelScripts::LevelScripts(World&, bool) : loaded_(nullptr) {}
LevelScripts::~LevelScripts() = default;
Status LevelScripts::load(std::span<const std::string> paths) { return paths.empty() ? Status() : no_lua(); }
void LevelScripts::look(const std::function<void(const std::string& line)>&) {}
Status LevelScripts::register_components(ComponentRegistry&) const { return {}; }
std::uint64_t LevelScripts::num_failures() const { return 0; }
std::string LevelScripts::last_failure() const { return {}; }
Result<std::string> annotations_of(std::span<const Schema* const>) { return no_lua(); }

#endif

Status SourceScripts::load(std::span<const std::string> paths, const ComponentRegistry& known) {
    if (Status status = make_managers(world_, known); !status) return status;
    return scripts_.load(paths);
}

Status SourceScripts::register_components(ComponentRegistry& registry, bool& any) const {
    const auto count = [&] {
        return std::ranges::count_if(registry.components(),
                                     [](const RegisteredComponent* component) {
                                         return component->schema != nullptr && component->compile != nullptr;
                                     }) +
               static_cast<std::ptrdiff_t>(registry.components().size());
    };
    const std::ptrdiff_t num_before = count();
    const Status status = scripts_.register_components(registry);
    any = count() != num_before;
    return status;
}

Status check_script_paths(std::span<const std::string> paths) {
    for (const std::string& path : paths)
        if (is_standard_stream(path)) return Status::error("--script needs a file, not standard input");
    return {};
}

}  // namespace shoal_tool
