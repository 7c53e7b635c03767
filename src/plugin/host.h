#pragma once
// What stands behind the opaque types of shoal_abi.h, and the table of functions that plugins get.
//
//     shoal_world       a world as one plugin sees it: lists what that has made, so that it can be removed
//     shoal_query       a TextQuery, and where the columns are that were asked for
//     shoal_channel     an event channel of the world, by name
//     shoal_component   the id of a component type; its store and schema are looked up, because they change
//
// The functions translate, and nothing more. Thread: see shoal_abi.h.

#include "shoal/plugin/shoal_abi.h"
#include "shoal/query/text_query.h"
#include "shoal/world/world.h"

#include <string>

namespace shoal {

/// A component type of a world.
struct KeptComponent {
    Store* store = nullptr;  ///< nullptr: no store keeps it, or shows it
    const Schema* schema = nullptr;
    explicit operator bool() const { return store != nullptr; }
};

struct PluginPass;

/// What all plugins of a world share.
struct PluginHost {
    explicit PluginHost(World& world_of_all) : world(world_of_all) {}
    PluginHost(const PluginHost&) = delete;
    PluginHost& operator=(const PluginHost&) = delete;
    ~PluginHost();

    World& world;
    Array<shoal_component*> components{Owner("plugins")};
    Array<shoal_world*> plugins{Owner("plugins")};  // that are loaded, or load
    std::uint32_t num_calls = 0;                    // of load(), unload() and reactions that are under way
};

/// A reaction that a plugin has added.
struct PluginReactionEntry {
    ReactionId id;
    ComponentId component;
};

}  // namespace shoal

struct shoal_component {
    shoal::ComponentId id;
    std::string name;
};

struct shoal_channel {
    shoal::detail::EventLog& log;
    std::string name;
    std::uint32_t event_bytes;
};

/// The commands of a chunk.
struct shoal_commands {
    shoal::Commands& commands;
    shoal::World& world;
};

struct shoal_world {
    shoal_world(shoal::PluginHost& shared, std::string_view plugin);
    shoal_world(const shoal_world&) = delete;
    shoal_world& operator=(const shoal_world&) = delete;
    ~shoal_world();

    /// Removes what may call functions of the plugin.
    void remove_calls();
    /// Removes the rest of what it has made, but for what is the world's.
    void remove_rest();
    /// Takes back what load() has done, or lets it be.
    void end_load(bool keep);

    shoal::PluginHost& host;
    shoal::World& world;
    const std::string name;
    shoal::Array<shoal::PluginPass*> passes{shoal::Owner("plugins")};
    shoal::Array<shoal_query*> queries{shoal::Owner("plugins")};
    shoal::Array<shoal_channel*> channels{shoal::Owner("plugins")};
    shoal::Array<shoal::PluginReactionEntry> reactions{shoal::Owner("plugins")};
    // While it loads.
    bool is_loading = false;
    shoal::Array<shoal::Entity> made_entities{shoal::Owner("plugins")};
    shoal::Array<shoal::Store*> made_stores{shoal::Owner("plugins")};
    shoal::Array<shoal::SchemaChange*> changes{shoal::Owner("plugins")};
};

namespace shoal {

inline constexpr std::uint32_t kMostPluginColumns = 64;

/// A column that a query shows.
struct PluginColumn {
    std::size_t component = 0;
    std::uint32_t column = 0;
    std::uint32_t offset = 0;  // in its elements
};

/// The columns of one batch, as a plugin sees them.
struct PluginBatch {
    PluginBatch(const shoal_query& query, const TextBatch& batch);

    shoal_batch batch{};
    shoal_column columns[kMostPluginColumns];
    const shoal_column* places[kMostPluginColumns];
};

/// A function of a plugin that is called for rows.
struct PluginFunction {
    shoal_pass_function run = nullptr;
    void* context = nullptr;
};

}  // namespace shoal

struct shoal_query {
    shoal_query(shoal_world& of, std::string_view of_text, shoal::TextQuery&& made)
        : owner(of), text(of_text), query(std::move(made)) {}

    shoal_world& owner;
    const std::string text;
    const shoal::TextQuery query;
    shoal::Array<shoal::PluginColumn> columns{shoal::Owner("plugins")};

    /// Calls a function for all rows. `context`: of the pass; nullptr: outside of passes.
    void run(shoal::Executor* executor, const shoal::PluginFunction& function, const shoal::PassContext* context) const;
};

namespace shoal {

/// A pass of a plugin.
struct PluginPass {
    PluginPass(shoal_world& of, const char* named) : owner(of), name(named) {}

    shoal_world& owner;
    const std::string name;
    shoal_query* query = nullptr;  // of the owner; nullptr: the function is called once
    PluginFunction function;
    Array<Access> accesses{Owner("plugins")};

    void run(const PassContext& context, Executor& executor) const;
};

/// What a function of a pass gets; the first part is what the plugin knows.
struct PluginPassView : shoal_pass {
    PluginPassView(const PassContext* of, shoal_commands* given);
    const PassContext* context;  // nullptr: outside of passes
};

/// The table of functions. Lifetime: the program's.
const shoal_host& plugin_host_table();
/// Its groups; those of queries and passes.
const shoal_query_functions& plugin_query_functions();
const shoal_pass_functions& plugin_pass_functions();
const shoal_component_functions& plugin_component_functions();

/// Fills an error, if the plugin wants it. Returns 0.
int refuse(shoal_error* error, std::string_view message);
inline int answer(shoal_error* error, const Status& status) { return status ? 1 : refuse(error, status.message()); }

/// Returns what a plugin gives in a struct that may be shorter or longer than it is here; `size` must be set.
template <class T>
T copy_given(const T& given) {
    T copy{};
    copy_bytes(static_cast<void*>(&copy), &given, given.size < sizeof(T) ? given.size : sizeof(T));
    return copy;
}

/// Returns the handle of a component type; the same for all plugins.
shoal_component* component_of(PluginHost& host, const Schema& schema);
KeptComponent find_kept(const World& world, ComponentId component);
/// The error for a component type that no store keeps.
Status unknown_component(const World& world, std::string_view name);
/// Returns the plugin that has queries, passes or reactions about a component type, or nullptr.
const shoal_world* find_user(const PluginHost& host, const Schema& component, const Store& store);

template <class T, class... Arguments>
T* make_owned(Arguments&&... arguments) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return ::new (allocate_memory(sizeof(T), "plugins")) T(std::forward<Arguments>(arguments)...);
}
template <class T>
void destroy_owned(T* owned) {
    owned->~T();
    release_memory(owned, sizeof(T), "plugins");
}

}  // namespace shoal
