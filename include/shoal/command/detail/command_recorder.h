#pragma once
// How one chunk records its commands: rows of the same kind and component types lie side by side.
//
//     row of add<Position, Velocity>    entity, number | Position | Velocity     each aligned as C++ wants it
//     run                               row row row ...                          as far as one piece of memory reaches
//     stream                            the runs of one list; the last one grows
//
// Thread: a recorder belongs to one thread at a time.

#include "shoal/database/database.h"

namespace shoal {

class CommandLog;

namespace detail {

enum class CommandKind : std::uint8_t { kDestroy, kCreate, kMove, kAdd, kRemove, kSpawn, kCopy, kCall };

/// A component type that a command names, or, in a call, the function.
struct CommandPart {
    ComponentType component{};                            // of a part without `find`
    ComponentType (*find)(Database& database) = nullptr;  // of a C++ type: registers it
    const Schema& (*schema)() = nullptr;                  // the same
    std::uint32_t offset = 0;                             // of its struct in a row; 0: no value
    decltype(ComponentValues::write) write = nullptr;     // for types that are more than bytes
    void (*destroy)(std::byte* value) = nullptr;          // the same
    void (*call)(std::byte* closure, Entity entity, Entity other) = nullptr;
};

/// What commands of one kind with the same component types have in common.
struct CommandList {
    CommandKind kind;
    std::uint32_t row_bytes, alignment;
    std::span<const CommandPart> parts;
};

/// Memory of a log.
struct LogBlock {
    std::byte* data = nullptr;
    std::size_t num_bytes = 0;
};

/// What every command but destroy begins with.
struct CommandRow {
    Entity entity;
    std::uint32_t number;  // create, move, spawn: the zone; add, remove, call: when, in the chunk
};

/// Rows of one list that lie side by side.
struct CommandRun {
    const CommandList* list;
    std::byte* begin;
    std::byte* end;

    std::uint32_t num_rows() const { return static_cast<std::uint32_t>((end - begin) / list->row_bytes); }
    /// Requires: not of destroyed entities.
    CommandRow& row(std::size_t i) const { return *reinterpret_cast<CommandRow*>(begin + i * list->row_bytes); }
};

/// Entities and nothing more.
inline constexpr CommandList kDestroyList{CommandKind::kDestroy, sizeof(Entity), alignof(Entity), {}};

/// Copies of a blob, or of an entity.
struct SpawnRow {
    CommandRow row;  // of the pending entity that becomes the first of the copy
    const Blob* blob;
    Entity original;
    bool has_pose;
    RootPose pose;
};
inline constexpr CommandList kSpawnList{CommandKind::kSpawn, sizeof(SpawnRow), alignof(SpawnRow), {}};
inline constexpr CommandList kCopyList{CommandKind::kCopy, sizeof(SpawnRow), alignof(SpawnRow), {}};

/// What every call begins with, whatever the function.
struct CallHead {
    CommandRow row;
    Entity other;
};

/// The list of calls of a function.
template <class Function>
struct CallCommand {
    static constexpr std::uint32_t kOffset = round_up(sizeof(CallHead), alignof(Function));
    static constexpr std::uint32_t kAlignment = alignof(Function) > alignof(CallHead) ? alignof(Function)
                                                                                      : alignof(CallHead);
    static constexpr CommandPart kPart{
        .offset = kOffset,
        .destroy = [](std::byte* function) { reinterpret_cast<Function*>(function)->~Function(); },
        .call =
            [](std::byte* closure, Entity entity, Entity other) {
                Function& function = *reinterpret_cast<Function*>(closure);
                if constexpr (std::is_invocable_v<Function&, Entity, Entity>)
                    function(entity, other);
                else
                    static_cast<void>(other), function(entity);
            },
    };
    static constexpr CommandList kList{
        CommandKind::kCall, std::uint32_t(round_up(kOffset + sizeof(Function), kAlignment)), kAlignment, {&kPart, 1}};
};

/// The list of commands that name C++ types.
template <CommandKind kKind, class... Ts>
struct TypedCommand {
    struct Layout {
        std::uint32_t offsets[sizeof...(Ts) + 1] = {}, row_bytes = sizeof(CommandRow), alignment = alignof(CommandRow);
    };
    static constexpr Layout kLayout = [] {
        Layout layout;
        std::size_t end = sizeof(CommandRow), alignment = alignof(CommandRow), i = 0;
        static_cast<void>(i);
        const auto add = [&](std::size_t bytes, std::size_t aligned) {
            layout.offsets[i++] = static_cast<std::uint32_t>(end = round_up(end, aligned));
            end += bytes;
            alignment = aligned > alignment ? aligned : alignment;
        };
        static_cast<void>(add);
        if constexpr (kKind != CommandKind::kRemove) (add(sizeof(Ts), alignof(Ts)), ...);
        layout.row_bytes = static_cast<std::uint32_t>(round_up(end, alignment));
        layout.alignment = static_cast<std::uint32_t>(alignment);
        return layout;
    }();

    template <class T>
    static constexpr CommandPart part(std::uint32_t offset) {
        CommandPart result{.schema = []() -> const Schema& { return schema_of<T>(); }, .offset = offset};
        if constexpr (!DescriptionOf<T>::kMany || !kIsToggled<T>)
            result.find = [](Database& database) { return database.component<T>(); };
        if constexpr (kHasOpaque<T>) {
            result.write = [](const void* rows, Table& table, std::uint32_t first_column, std::uint32_t row,
                              std::size_t i) {
                write_component(table, first_column, row,
                                *static_cast<const T*>(static_cast<const void* const*>(rows)[i]));
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

class CommandRecorder {
public:
    static constexpr std::uint32_t kPendingBlock = 64;  // ids that a chunk takes at once

    explicit CommandRecorder(CommandLog& log) : log_(&log) {}
    CommandRecorder(CommandRecorder&&) = default;
    CommandRecorder& operator=(CommandRecorder&&) = delete;
    SHOAL_API ~CommandRecorder();

    // --- recording

    Entity take_pending() {
        if (SHOAL_UNLIKELY(next_pending_ % kPendingBlock == 0)) take_pending_block();
        return {next_pending_++};
    }
    void destroy(Entity entity) {
        if (SHOAL_UNLIKELY(destroyed_.cursor == destroyed_.room_end)) begin_run(destroyed_);
        ::new (static_cast<void*>(destroyed_.cursor)) Entity(entity);
        destroyed_.cursor += sizeof(Entity);
    }
    /// Numbers the adds and removes of the chunk.
    std::uint32_t next_number() { return ++num_ordered_; }
    /// Adds a row and returns it; its values are still to be made.
    SHOAL_INLINE std::byte* add_row(const CommandList& list, Entity entity, std::uint32_t number) {
        Stream* stream = streams_.data();
        Stream* const end = stream + streams_.size();
        while (stream != end && stream->list != &list) ++stream;
        if (SHOAL_UNLIKELY(stream == end)) stream = &add_stream(list);
        if (SHOAL_UNLIKELY(stream->cursor == stream->room_end)) begin_run(*stream);
        std::byte* const to = stream->cursor;
        stream->cursor += list.row_bytes;
        ::new (static_cast<void*>(to)) CommandRow{entity, number};
        return to;
    }
    template <CommandKind kKind, class... Ts>
    void record(Entity entity, std::uint32_t number, const Ts&... values) {
        using Command = TypedCommand<kKind, Ts...>;
        std::byte* const to = add_row(Command::kList, entity, number);
        std::size_t i = 0;
        static_cast<void>(to), static_cast<void>(i);
        (::new (static_cast<void*>(to + Command::kLayout.offsets[i++])) Ts(values), ...);
    }
    /// The same for component types that are known at run time only; `values` are those of some of them.
    SHOAL_API void record(CommandKind kind, Entity entity, std::uint32_t number,
                          std::span<const ComponentType> components, std::span<const ComponentValues> values);

    // --- for the log and the settler

    /// Takes commands until close().
    void open() { is_open_ = true; }
    void close();
    /// The rows so far, in the order in which runs were begun.
    std::span<const CommandRun> runs();
    /// The first of each kPendingBlock ids that the chunk took; it has given out those before next_pending().
    std::span<const EntityBits> pending_blocks() const { return pending_blocks_; }
    EntityBits next_pending() const { return next_pending_; }
    /// Ends the values of all rows and forgets them.
    void clear();
    Array<LogBlock>& blocks() { return blocks_; }

private:
    struct MadeList;
    struct Stream {
        const CommandList* list;
        std::byte* cursor = nullptr;
        std::byte* room_end = nullptr;
        std::uint32_t run = 0, num_rows = 0;  // the last run, and the rows that it has room for
    };

    SHOAL_API Stream& add_stream(const CommandList& list);
    SHOAL_API void begin_run(Stream& stream);
    SHOAL_API void take_pending_block();
    std::byte* take_memory(std::size_t num_bytes, std::size_t alignment);
    const CommandList& made_list(CommandKind kind, std::span<const ComponentType> components,
                                 std::span<const ComponentValues> values);

    CommandLog* log_;
    EntityBits next_pending_ = 0;
    std::uint32_t num_ordered_ = 0;
    Stream destroyed_{&kDestroyList};
    Array<Stream> streams_{Owner("commands")};
    Array<CommandRun> runs_{Owner("commands")};  // as they were begun
    Array<EntityBits> pending_blocks_{Owner("commands")};
    Array<LogBlock> blocks_{Owner("commands")};
    Array<MadeList*> made_{Owner("commands")};
    std::byte* free_begin_ = nullptr;
    std::byte* free_end_ = nullptr;
    bool is_open_ = false;
};

}  // namespace detail
}  // namespace shoal
