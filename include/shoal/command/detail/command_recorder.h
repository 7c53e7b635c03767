#pragma once
// Records the commands of one chunk. Commands of the same kind with the same component types are stored together, in
// columns, so that they can be passed to the stores' span calls.
//
//     run of add<Position, Velocity>    entities | numbers | positions | velocities     in one piece of memory
//     stream                            the runs of one list; the last one grows
//     cursor                            the end of a stream, which the Commands of a loop hold in registers
//
// Thread: a recorder belongs to one thread at a time.

#include "shoal/database/database.h"

namespace shoal {

class Blob;
class CommandLog;
class WaitingCommands;

namespace detail {

enum class CommandKind : std::uint8_t { kDestroy, kCreate, kMove, kAdd, kRemove, kSpawn, kCopy, kCall, kSet };
inline constexpr std::size_t kNumCommandKinds = 9;

/// A component type that a command names; for a call, its function; for a spawn, its overrides.
struct CommandPart {
    const Schema& (*schema)() = nullptr;               // the schema of a C++ type
    const Schema* made = nullptr;                      // the schema of a component type without a C++ type
    std::uint32_t offset = 0;                          // bytes per row of the columns before this one; 0: no value
    std::uint32_t num_bytes = 0;                       // bytes of a value
    decltype(ComponentValues::write) write = nullptr;  // for types that are not plain bytes
    void (*destroy)(std::byte* value) = nullptr;       // for types that are not plain bytes
    bool is_disabled = false;                          // the component is disabled
    void (*call)(std::byte* closure, Entity entity, Entity other) = nullptr;
    std::uint32_t field = kAllFields;           // the field that is set
    const Schema& (*field_schema)() = nullptr;  // the schema of the field's value, for a C++ type
    const Schema* made_field = nullptr;         // the value's schema if there is no C++ type: see make_field_schema()

    bool sets_field() const { return field != kAllFields; }
    bool names_component() const { return schema != nullptr || made != nullptr; }
    /// Requires, here and below: names_component().
    const Schema& component() const { return made != nullptr ? *made : schema(); }
    /// The schema of the value: the schema of the component, or of the field that is set.
    const Schema& value_schema() const {
        if (!sets_field()) return component();
        return made_field != nullptr ? *made_field : field_schema();
    }
    static constexpr std::uint32_t kAllFields = 0xFFFFFFFF;
};

/// Returns a schema with the component's name and only this field, at offset 0, for values that set the field.
/// Requires: the field is plain bytes.
SHOAL_API Schema make_field_schema(const Schema& component, std::uint32_t field);
template <auto kMember>
const Schema& field_schema_of() {
    static const Schema schema =
        make_field_schema(schema_of<ComponentOf<kMember>>(), static_cast<std::uint32_t>(FieldLayout<kMember>::kIndex));
    return schema;
}

/// How a list was made: by the compiler, by one chunk, or by loading a state (from a list that was kCompiled in the
/// program that saved it).
enum class ListOrigin : std::uint8_t { kCompiled, kMade, kLoaded };
/// The data that all commands of one kind with the same component types share.
struct CommandList {
    CommandKind kind;
    std::uint32_t row_bytes, alignment;  // bytes per row of all columns
    std::span<const CommandPart> parts;
    ListOrigin origin = ListOrigin::kCompiled;
};
struct MadeList;

/// Memory of a log.
struct LogBlock {
    std::byte* data = nullptr;
    std::size_t num_bytes = 0;
};

/// Bytes per row of the head, which all commands except destroy commands have: an entity and a number. `alignment` is
/// the alignment of the values after it.
constexpr std::uint32_t head_bytes(std::size_t alignment) {
    return static_cast<std::uint32_t>(round_up(sizeof(Entity) + sizeof(std::uint32_t), alignment));
}

/// A run of commands in one list. Each column begins at `capacity` times the total element size of the preceding
/// columns, so that the columns are aligned for any capacity.
struct CommandBatch {
    const CommandList* list;
    std::byte* begin;
    std::uint32_t capacity, num_rows;

    std::span<Entity> entities() const { return {reinterpret_cast<Entity*>(begin), num_rows}; }
    /// For create, move and spawn, the zones; for add, remove, call and set, the order in the chunk. Requires: these
    /// are not destroy commands.
    std::span<const std::uint32_t> numbers() const {
        return {reinterpret_cast<const std::uint32_t*>(column(sizeof(Entity))), num_rows};
    }
    std::byte* column(std::uint32_t offset) const { return begin + std::size_t(capacity) * offset; }
    std::byte* value(const CommandPart& part, std::size_t row) const {
        return column(part.offset) + row * part.num_bytes;
    }
};

/// The list of destroy commands, which have only entities.
struct DestroyCommand {
    static constexpr CommandList kList{CommandKind::kDestroy, sizeof(Entity), alignof(Entity), {}};
};

/// A copy of a blob, or of an entity. In kSpawnAtList and kCopyAtList, a pose follows. The entity of the command is the
/// pending entity that becomes the first entity of the copy.
struct SpawnValue {
    static constexpr std::uint32_t kOffset = head_bytes(alignof(const Blob*));

    const Blob* blob;
    Entity original;
};
inline constexpr std::uint32_t kPoseOffset = SpawnValue::kOffset + sizeof(SpawnValue);
inline constexpr std::uint32_t kPosedBytes = kPoseOffset + sizeof(RootPose);
inline constexpr CommandList kSpawnList{CommandKind::kSpawn, kPoseOffset, alignof(SpawnValue), {}};
inline constexpr CommandList kSpawnAtList{CommandKind::kSpawn, kPosedBytes, alignof(SpawnValue), {}};
inline constexpr CommandList kCopyList{CommandKind::kCopy, kPoseOffset, alignof(SpawnValue), {}};
inline constexpr CommandList kCopyAtList{CommandKind::kCopy, kPosedBytes, alignof(SpawnValue), {}};

/// The head of a call's value, which is the same for all functions.
struct CallHead {
    Entity other;
};

/// The list for calls to a function.
template <class Function>
struct CallCommand {
    struct Value : CallHead {
        Value(Entity with, Function&& called) : CallHead{with}, function(std::move(called)) {}
        Function function;
    };
    static constexpr std::uint32_t kOffset = head_bytes(alignof(Value));
    static constexpr CommandPart kPart{
        .offset = kOffset,
        .num_bytes = sizeof(Value),
        .destroy = [](std::byte* value) { reinterpret_cast<Value*>(value)->~Value(); },
        .call =
            [](std::byte* value, Entity entity, Entity other) {
                Function& function = reinterpret_cast<Value*>(value)->function;
                if constexpr (std::is_invocable_v<Function&, Entity, Entity>)
                    function(entity, other);
                else
                    static_cast<void>(other), function(entity);
            },
    };
    static constexpr CommandList kList{CommandKind::kCall, kOffset + sizeof(Value), alignof(Value), {&kPart, 1}};
};

/// The list for commands that name C++ types.
template <CommandKind kKind, class... Ts>
struct TypedCommand {
    struct Layout {
        std::uint32_t offsets[sizeof...(Ts) + 1] = {}, row_bytes = head_bytes(1), alignment = alignof(Entity);
    };
    static constexpr Layout kLayout = [] {
        Layout layout;
        std::size_t end = head_bytes(1), alignment = alignof(Entity), i = 0;
        static_cast<void>(i);
        const auto add = [&](std::size_t bytes, std::size_t aligned) {
            layout.offsets[i++] = static_cast<std::uint32_t>(end = round_up(end, aligned));
            end += bytes;
            alignment = aligned > alignment ? aligned : alignment;
        };
        static_cast<void>(add);
        if constexpr (kKind != CommandKind::kRemove) (add(sizeof(Ts), alignof(Ts)), ...);
        layout.row_bytes = static_cast<std::uint32_t>(end);
        layout.alignment = static_cast<std::uint32_t>(alignment);
        return layout;
    }();

    template <class T>
    static constexpr CommandPart part(std::uint32_t offset) {
        using Component = ComponentOfGiven<T>;
        CommandPart result{.schema = []() -> const Schema& { return schema_of<Component>(); },
                           .offset = offset,
                           .num_bytes = sizeof(T)};
        result.is_disabled = kIsDisabled<T>;
        if constexpr (kHasOpaque<Component>) {
            result.write = [](const void* rows, Table& table, std::uint32_t first_column, std::uint32_t row,
                              std::size_t i) {
                write_component(table, first_column, row,
                                *static_cast<const Component*>(static_cast<const void* const*>(rows)[i]));
            };
        }
        if constexpr (!std::is_trivially_destructible_v<T>)
            result.destroy = [](std::byte* value) { reinterpret_cast<T*>(value)->~T(); };
        return result;
    }
    template <std::size_t... kIndices>
    static constexpr auto make_parts(std::index_sequence<kIndices...>) {
        struct {
            CommandPart data[sizeof...(Ts) + 1];
        } parts{{part<Ts>(kLayout.offsets[kIndices])..., CommandPart()}};
        return parts;
    }
    static constexpr auto kParts = make_parts(std::index_sequence_for<Ts...>());
    static constexpr CommandList kList{kKind, kLayout.row_bytes, kLayout.alignment, {kParts.data, sizeof...(Ts)}};
};

/// The bytes of a field.
template <class Value>
struct FieldImage {
    alignas(Value) std::byte bytes[sizeof(Value)];
    SHOAL_INLINE explicit FieldImage(const Value& value) { copy_bytes(bytes, &value, sizeof value); }
};

/// The list for commands that set a field.
template <auto kMember>
struct SetCommand {
    using Value = FieldImage<ValueOf<kMember>>;
    struct Layout {
        std::uint32_t offsets[1] = {head_bytes(alignof(Value))};
    };
    static constexpr Layout kLayout{};
    static constexpr CommandPart kPart{
        .schema = []() -> const Schema& { return schema_of<ComponentOf<kMember>>(); },
        .offset = kLayout.offsets[0],
        .num_bytes = sizeof(Value),
        .field = static_cast<std::uint32_t>(FieldLayout<kMember>::kIndex),
        .field_schema = []() -> const Schema& { return field_schema_of<kMember>(); },
    };
    static constexpr std::uint32_t kAlignment = alignof(Value) > alignof(Entity) ? alignof(Value) : alignof(Entity);
    static constexpr CommandList kList{CommandKind::kSet, kPart.offset + kPart.num_bytes, kAlignment, {&kPart, 1}};
};

/// A new row of a run. The row's values have not been constructed yet.
struct NewRow {
    std::byte* begin;
    std::size_t capacity, row;

    template <class T>
    SHOAL_INLINE T* column(std::uint32_t offset) const {
        return reinterpret_cast<T*>(begin + capacity * offset);
    }
    SHOAL_INLINE std::byte* value(std::uint32_t offset, std::size_t num_bytes) const {
        return column<std::byte>(offset) + row * num_bytes;
    }
    SHOAL_INLINE void set_entity(Entity entity) const {
        ::new (static_cast<void*>(column<Entity>(0) + row)) Entity(entity);
    }
    /// Requires: this is not a destroy command.
    SHOAL_INLINE void set_number(std::uint32_t number) const {
        ::new (static_cast<void*>(column<std::uint32_t>(sizeof(Entity)) + row)) std::uint32_t(number);
    }
};

/// The end of the last run of a list.
struct CommandCursor {
    const CommandList* list;  // nullptr: there is no list
    std::byte* begin;
    std::size_t num_rows, capacity;

    SHOAL_INLINE NewRow add_row() { return {begin, capacity, num_rows++}; }
};

/// The numbers that a chunk has handed out.
struct CommandNumbers {
    EntityBits next_pending = 0;
    std::uint32_t num_ordered = 0;  // adds, removes, calls and sets
};

class CommandRecorder {
public:
    static constexpr std::uint32_t kPendingBlock = 64;  // how many ids a chunk takes at a time

    explicit CommandRecorder(CommandLog& log) : log_(&log) {}
    CommandRecorder(CommandRecorder&&) = default;
    CommandRecorder& operator=(CommandRecorder&&) = delete;
    SHOAL_API ~CommandRecorder();

    // --- for Commands, which hold the ends of some lists for a while

    /// Returns the end of a list, with room for a row. `was_held` is true if the caller held the list and has filled
    /// its last run.
    SHOAL_API CommandCursor hold(const CommandList& list, bool was_held);
    /// Ends the hold on a list, whose last run has `num_rows` rows.
    SHOAL_API void release(const CommandList& list, std::size_t num_rows);
    /// Adds a row to a list that is not held.
    SHOAL_API NewRow add_row(const CommandList& list);
    /// Adds a command with component types that are known only at run time; `values` has the values of some of them.
    SHOAL_API void record(CommandKind kind, Entity entity, std::uint32_t number, const Database& database,
                          std::span<const ComponentType> components, std::span<const ComponentValues> values);
    /// Adds a command for one component type in any store; `image` is the value to add.
    SHOAL_API void record(CommandKind kind, Entity entity, std::uint32_t number, const Schema& component,
                          const std::byte* image);
    /// Takes the next ids for pending entities, and returns the first.
    SHOAL_API EntityBits take_pending_block();
    const CommandNumbers& numbers() const { return numbers_; }
    void set_numbers(const CommandNumbers& numbers) { numbers_ = numbers; }

    // --- for the log and the settler. Requires: no list is held

    /// Accepts commands until close().
    void open() { is_open_ = true; }
    void close();
    /// Returns the runs of commands so far, in the order in which they were begun.
    std::span<const CommandBatch> runs();
    /// The first id of each block of kPendingBlock ids that the chunk has taken. The chunk has used the ids before
    /// next_pending().
    std::span<const EntityBits> pending_blocks() const { return pending_blocks_; }
    EntityBits next_pending() const { return numbers_.next_pending; }
    /// Destroys the values of all rows, and discards the rows.
    void clear();

    // These functions load commands. The list has origin kMade; the caller fills the rows of the run; replace_lists()
    // replaces lists with equal lists.
    const CommandList& made_list(MadeList&& list);
    CommandBatch begin_run(const CommandList& list, std::uint32_t num_rows);
    void restore_numbers(std::span<const EntityBits> pending_blocks, const CommandNumbers& numbers);
    void replace_lists(const HashMap<std::uint64_t, const CommandList*>& others);  // keyed by address
    SHOAL_API WaitingCommands& waiting() const;
    Array<LogBlock>& blocks() { return blocks_; }

private:
    struct Stream {
        CommandCursor end{};
        std::uint32_t run = 0;  // the index of the run in runs_
    };

    Stream& stream_of(const CommandList& list);
    void begin_run(Stream& stream, std::size_t least_rows = 1);
    void note_rows(const Stream& stream);
    std::byte* take_memory(std::size_t num_bytes, std::size_t alignment);
    const CommandList& made_list(CommandKind kind, Entity entity, const Database& database,
                                 std::span<const ComponentType> components, std::span<const ComponentValues> values);

    CommandLog* log_;
    CommandNumbers numbers_;
    Array<Stream> streams_{Owner("commands")};
    Array<CommandBatch> runs_{Owner("commands")};  // in the order in which they were begun
    Array<EntityBits> pending_blocks_{Owner("commands")};
    Array<LogBlock> blocks_{Owner("commands")};
    Array<MadeList*> made_{Owner("commands")};
    std::byte* free_begin_ = nullptr;
    std::byte* free_end_ = nullptr;
    bool is_open_ = false;
};

}  // namespace detail
}  // namespace shoal
