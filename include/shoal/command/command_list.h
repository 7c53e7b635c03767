#pragma once
// How a command lies in the log of its chunk: rows of the same kind and component types side by side.
//
//     row of add<Position, Velocity>      entity, number | Position | Velocity      each aligned as C++ wants it
//
// Thread: constants.

#include "shoal/database/database.h"

namespace shoal {

/// Whether this stands for an entity that a command will make.
constexpr bool is_pending(Entity entity) { return entity.id >> 30 == 1; }

namespace detail {

enum class CommandKind : std::uint8_t { kDestroy, kCreate, kMove, kAdd, kRemove };

/// A component type that a command names.
struct CommandPart {
    ComponentType component{};                            // of a part without `find`
    ComponentType (*find)(Database& database) = nullptr;  // of a C++ type: registers it
    std::uint32_t offset = 0;                             // of its struct in a row; 0: no value
    decltype(ComponentValues::write) write = nullptr;     // for types that are more than bytes
    void (*destroy)(std::byte* value) = nullptr;          // the same
};

/// What commands of one kind with the same component types have in common.
struct CommandList {
    CommandKind kind;
    std::uint32_t row_bytes, alignment;
    const CommandPart* parts;
    std::uint32_t num_parts;
};

/// Memory of the logs.
struct CommandBlock {
    std::byte* data = nullptr;
    std::size_t num_bytes = 0;
};

/// What every command but destroy begins with.
struct CommandRow {
    Entity entity;
    std::uint32_t number;  // create, move: the zone; add, remove: when, in the chunk
};

/// Entities and nothing more.
inline constexpr CommandList kDestroyList{CommandKind::kDestroy, sizeof(Entity), alignof(Entity), nullptr, 0};

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
        CommandPart result{.find = [](Database& database) { return database.component<T>(); }, .offset = offset};
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
    static constexpr CommandList kList{kKind, kLayout.row_bytes, kLayout.alignment, kParts.data, sizeof...(Ts)};
};

}  // namespace detail

}  // namespace shoal
