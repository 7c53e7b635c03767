#pragma once
// The implementation of the opaque types in shoal_abi.h, and the table of functions for plugins.
//
//     shoal_world        a world as one plugin sees it: a guest, with the verbs, types and stores of the plugin
//     shoal_query        a query of a guest, and where the columns are that were asked for
//     shoal_channel      an event channel of a guest
//     shoal_component    the id of a component type; its store and schema are looked up, because they change
//     shoal_compilation  the arguments of a C++ compile function
//
// The functions only convert arguments and results. Thread: see shoal_abi.h.

#include "shoal/plugin/detail/guest.h"
#include "shoal/plugin/shoal_abi.h"
#include "shoal/resource/migration.h"

#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

namespace shoal {

class ComponentManager;
class PluginStore;
struct PluginType;

/// The data of a plugin's store, saved while the plugin is being replaced.
struct SavedStore {
    std::string component;
    std::uint32_t version = 0;
    std::uint64_t num_rows = 0;
    Array<std::byte> bytes{Owner("plugins")};
    bool has_bytes = true;  // if false, the store cannot be saved, so its rows are lost
    bool was_loaded = false;
};

/// The state shared by all plugins of a world.
struct PluginHost : GuestHost {
    explicit PluginHost(World& world_of_all);
    ~PluginHost() override;
    void tell(Guest& guest, const GuestObserver& observer, const ObservedBatch& batch) override;

    Array<shoal_component*> components{Owner("plugins")};
    std::mutex compiling;           // held while a compile function runs, because several threads may compile
    std::vector<SavedStore> saved;  // the stores of the plugin being replaced
};

/// A verb that a plugin adds to the tool.
struct PluginVerb {
    std::string name, summary, operands;
    int (*run)(void* context, const shoal_verb_call*, shoal_error*) = nullptr;
    void* context = nullptr;
};

}  // namespace shoal

struct shoal_component {
    shoal::ComponentId id;
    std::string name;
};

struct shoal_channel final : shoal::GuestChannel {
    shoal_channel(shoal::Guest& of, std::string_view named, shoal::detail::EventLog& of_world, std::uint32_t num_bytes)
        : GuestChannel(of, named, of_world), event_bytes(num_bytes) {}
    void destroy() override { shoal::destroy_owned("plugins", this); }

    const std::uint32_t event_bytes;
};

/// The commands of a chunk.
struct shoal_commands {
    shoal::Commands& commands;
    shoal::GuestHost& host;
};

struct shoal_compilation {
    const shoal::CompileInput& input;
    shoal::CompileOutput& output;
};

struct shoal_writer {
    shoal::Array<std::byte>& bytes;
};

struct shoal_world final : shoal::Guest {
    shoal_world(shoal::PluginHost& shared, std::string_view plugin) : Guest(shared, plugin) {}
    ~shoal_world();

    shoal::PluginHost& plugins() const { return static_cast<shoal::PluginHost&>(host); }
    /// Removes everything that may call the plugin's functions or use its stores. Then removes the stores, newest
    /// first.
    void remove_calls();
    /// Ends a load, keeping or undoing what load() has done.
    void finish_load(bool keep);

    shoal::Array<shoal::PluginType*> types{shoal::Owner("plugins")};
    shoal::Array<shoal::PluginStore*> stores{shoal::Owner("plugins")};
    std::vector<shoal::PluginVerb> verbs;
    shoal::Array<shoal::ComponentManager*> replaced{shoal::Owner("plugins")};  // kept until loading ends
};

namespace shoal {

/// A plugin function that is called with rows.
struct PluginFunction {
    shoal_pass_function run = nullptr;
    void* context = nullptr;
    bool may_command = true;
};

}  // namespace shoal

struct shoal_query final : shoal::GuestQuery {
    using GuestQuery::GuestQuery;
    void destroy() override { shoal::destroy_owned("plugins", this); }
    /// Calls a function for all rows. `context` is that of the pass, or nullptr outside of passes.
    void run(shoal::Executor* executor, const shoal::PluginFunction& function, const shoal::PassContext* context) const;

    mutable std::uint32_t num_loops = 0;  // number of running for_each_batch() calls

private:
    shoal::Status find_columns() override;
};

namespace shoal {

/// The argument of a pass function. Plugins only see the base class.
struct PluginPassView : shoal_pass {
    PluginPassView(const PassContext* of, shoal_commands* given);
    const PassContext* context;  // nullptr outside of passes
};

/// Sets the commands that a plugin's function may use on this thread.
class CommandScope {
public:
    explicit CommandScope(const shoal_commands& commands);
    CommandScope(const CommandScope&) = delete;
    CommandScope& operator=(const CommandScope&) = delete;
    ~CommandScope();
    static bool is_open(const shoal_commands* commands);

private:
    const shoal_commands* before_;
};

/// A migration step. The function is its only pointer into the plugin.
struct PluginMigration {
    std::uint32_t from_version = 0;
    std::vector<NamedType> olds, news;
    void (*migrate)(const void* const* olds, void* const* news, std::size_t num_rows) = nullptr;
};

/// A component type that a plugin has declared, and its functions.
struct PluginType {
    PluginType(shoal_world& of, const shoal_component& named, const Schema& declared)
        : owner(of), component(named), schema(declared) {}

    shoal_world& owner;
    const shoal_component& component;
    Schema schema;
    bool is_defined = false;
    bool has_entry = false;  // whether the world's registry has an entry, which is removed with the type
    shoal_component_definition definition{};
    std::vector<PluginMigration> migrations;

    /// Adds the type to a registry. Errors: the registry has a different type with the same name, or different
    /// functions for it.
    Status add_to(ComponentRegistry& registry) const;
    /// Removes the entry from the world's registry.
    void leave_registry();
};

/// The components of a batch in the form that plugins use.
struct PluginSpawn : SpawnedImages {
    PluginSpawn(const SpawnBatch& batch, const Schema& schema);
    shoal_spawn view{};
};

/// The table of functions. Lifetime: as long as the program.
const shoal_host& plugin_host_table();
/// Each of these functions fills in its part of the table.
void add_component_functions(shoal_host& table);
void add_source_functions(shoal_host& table);
void add_store_functions(shoal_host& table);
void add_query_functions(shoal_host& table);

/// Fills in `error`, unless it is NULL. Returns 0.
int refuse(shoal_error* error, std::string_view message);
inline int answer(shoal_error* error, const Status& status) { return status ? 1 : refuse(error, status.message()); }
/// Logs an error, for calls without an error argument. Returns 0.
int complain(const Status& status);

/// A pointer argument of a call.
struct Given {
    const void* pointer;
    const char* what;  ///< "the world"
};
/// Errors: one of the pointers is NULL; the message names it.
Status check_given(std::string_view call, std::initializer_list<Given> all);

/// Returns a copy of a plugin's struct, which may be shorter or longer than the struct in this version. Requires: its
/// `size` is set.
template <class T>
T copy_given(const T& given) {
    T copy{};
    copy_bytes(static_cast<void*>(&copy), &given, given.size < sizeof(T) ? given.size : sizeof(T));
    return copy;
}
/// Whether a struct is long enough for the first version's fields up to `field`.
template <class T, class Field>
bool reaches(const T& given, const Field T::* field) {
    const T zero{};
    const auto* const at = reinterpret_cast<const char*>(&(zero.*field));
    return given.size >= static_cast<std::size_t>(at - reinterpret_cast<const char*>(&zero)) + sizeof(Field);
}

/// Returns element `i` of a list of structs, which must all have the same size. Returns nullptr if the sizes differ, or
/// if the structs end before `last`, the last field of the first version.
template <class T, class Field>
const T* element_of(const T* list, std::uint32_t i, const Field T::* last) {
    const std::uint32_t size = list->size;
    if (!reaches(*list, last) || size % alignof(T) != 0) return nullptr;
    const T* const element = reinterpret_cast<const T*>(reinterpret_cast<const char*>(list) + std::size_t(i) * size);
    return element->size == size ? element : nullptr;
}

/// Returns the handle to a component type, which is the same for all plugins.
shoal_component* component_of(PluginHost& host, const Schema& schema);
/// Finds a component type that is stored as bytes. Errors: the type is stored in a different way; the message gives the
/// reason.
Result<KeptComponent> find_bytes(GuestHost& host, const shoal_component& component);
/// Reads a plugin's declaration of a component type. Errors: the declaration is invalid.
Result<Schema> read_schema(const shoal_schema& schema);
/// Reads a field of a schema. Errors: plugins cannot declare its type, or a flag is unknown.
Status read_field(const shoal_field& given, FieldDefinition& field);
/// Records that a plugin has declared a component type.
PluginType& note_type(shoal_world& plugin, const shoal_component& component, const Schema& schema);
/// The compile function for all component types from plugins; `context` is a PluginType.
bool compile_by_plugin(void* context, const CompileInput& input, CompileOutput& output);
/// The spawn function for all component types from plugins; `context` is a PluginType.
Status spawn_by_plugin(void* context, const SpawnBatch& batch);
/// Calls a plugin function that, on failure, returns 0 and fills in an error.
template <class Call>
Status call_plugin(std::string_view what, Call&& call) {
    shoal_error error{sizeof error, {}};
    if (call(&error) != 0) return {};
    error.text[sizeof error.text - 1] = 0;
    return Status::error(error.text[0] == 0 ? std::string(what) + " failed, and does not say why"
                                            : std::string(error.text));
}

/// Copies a string to a plugin's buffer, truncates it to the capacity, and terminates it with NUL. Returns the full
/// length.
std::uint32_t give_text(std::string_view given, char* text, std::uint32_t capacity);

}  // namespace shoal
