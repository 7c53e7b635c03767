#include "scripts.h"

#include "shoal/base/file_watch.h"
#include "shoal/base/text.h"
#include "shoal/source/compiler.h"
#include "sources.h"

#if defined(SHOAL_TOOL_HAS_SCRIPTS)
#include "shoal/script/lua_types.h"
#include "shoal/script/scripts.h"
#endif

namespace shoal_tool {

using namespace shoal;

#if defined(SHOAL_TOOL_HAS_SCRIPTS)

namespace {

/// Sources that scripts spawn are compiled with the component types that the world has then.
Status compile_for_script(void* of, std::string_view source, Array<std::byte>& bytes) {
    const World& world = *static_cast<const World*>(of);
    ComponentRegistry registry;
    if (Status status = add_built_ins(registry); !status) return status;
    for (const Store* store : world.stores())
        for (const Schema* schema : store->schemas())
            if (registry.find(schema->name()) == nullptr)
                if (Status status = registry.add(*schema); !status) return status;
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("text of a script", std::string(source));
    const Result<CompiledSource> compiled = compile_file(file, registry, {}, diagnostics);
    if (!compiled) return diagnostics.num_errors() == 0 ? compiled.status() : Status::error(diagnostics.format());
    bytes.assign(compiled->blob.begin(), compiled->blob.end());
    return {};
}

ScriptOptions options_for(World& world) {
    ScriptOptions options;
    options.compile = compile_for_script;
    options.compile_context = &world;
    return options;
}

}  // namespace

struct LevelScripts::Loaded {
    explicit Loaded(World& world) : scripts(world, options_for(world)) {}

    Scripts scripts;
    std::vector<FileWatch*> watches;  // by script
};

LevelScripts::LevelScripts(World& world) : loaded_(new Loaded(world)) {}

LevelScripts::~LevelScripts() {
    for (const FileWatch* watch : loaded_->watches) delete watch;
    delete loaded_;
}

Status LevelScripts::load(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        auto* const watch = new FileWatch;
        loaded_->watches.push_back(watch);
        watch->set({path});
        if (Status status = loaded_->scripts.load(path); !status) return status;
    }
    return {};
}

void LevelScripts::look(bool all, const std::function<void(const std::string& line)>& tell) {
    for (std::size_t i = 0; i < loaded_->watches.size() && i < loaded_->scripts.num_scripts(); ++i) {
        const bool has_changed = loaded_->watches[i]->has_changed();
        if (!has_changed && !all) continue;
        const ScriptInfo script = loaded_->scripts.script(i);
        const std::string name(script.name), path(script.path);
        const Status status = loaded_->scripts.reload(name);
        if (status && !has_changed) continue;
        tell(status ? concat("reloaded ", path) : std::string(status.message()));
    }
}

Result<std::string> annotations_of(std::span<const Schema* const> schemas) { return lua_types(schemas); }

#else

namespace {
Status no_lua() { return Status::error("this tool was built without LuaJIT; install it and build the tool again"); }
}  // namespace

struct LevelScripts::Loaded {};
LevelScripts::LevelScripts(World&) : loaded_(nullptr) {}
LevelScripts::~LevelScripts() = default;
Status LevelScripts::load(const std::vector<std::string>& paths) { return paths.empty() ? Status() : no_lua(); }
void LevelScripts::look(bool, const std::function<void(const std::string& line)>&) {}
Result<std::string> annotations_of(std::span<const Schema* const>) { return no_lua(); }

#endif

}  // namespace shoal_tool
