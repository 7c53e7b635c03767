#include "shoal/command/detail/passed_commands.h"

#include "command/command_log.h"
#include "command/saved_layout.h"
#include "command/text_call.h"
#include "shoal/command/commands.h"
#include "shoal/table/detail/entity_fields.h"

#include <algorithm>
#include <compare>
#include <cstring>
#include <utility>

namespace shoal {

using detail::CommandBatch;
using detail::CommandKind;
using detail::CommandPart;
using detail::CommandRecorder;
using detail::MadeList;

namespace {

/// Whether the commands in a list can be passed on.
bool may_pass(const detail::CommandList& list) {
    switch (list.kind) {
        case CommandKind::kDestroy:
        case CommandKind::kMove:
        case CommandKind::kAdd:
        case CommandKind::kRemove:
        case CommandKind::kSet:
            return true;
        case CommandKind::kCall:
            return &list == &TextCommand::kList;
        default:
            return false;
    }
}

/// Whether a part has no value, or a value of plain bytes.
bool is_bytes(const CommandPart& part) { return part.offset == 0 || part.destroy == nullptr; }

PassedPart view_of(const CommandBatch& run, const CommandPart& part, std::uint32_t row) {
    PassedPart passed{&part.component(), part.field, part.is_disabled, nullptr, {}};
    if (part.offset == 0) return passed;
    passed.value_schema = &part.value_schema();
    passed.value = {run.value(part, row), passed.value_schema->struct_bytes()};
    return passed;
}

/// Finds the pending entities that the commands of a chunk create and do not destroy again. Only commands of the same
/// chunk may refer to them; other references to pending entities become null.
class Created {
public:
    explicit Created(CommandRecorder& chunk) : blocks_(chunk.pending_blocks()), end_(chunk.next_pending()) {
        for (const CommandBatch& run : chunk.runs()) {
            if (run.list->kind != CommandKind::kDestroy) continue;
            for (const Entity entity : run.entities())
                if (is_pending(entity)) destroyed_.push_back(entity);
        }
        std::sort(destroyed_.begin(), destroyed_.end());
    }
    bool has(Entity pending) const {
        for (const EntityBits block : blocks_) {
            const EntityBits end = block == blocks_.back() ? end_ : block + CommandRecorder::kPendingBlock;
            if (pending.id >= block && pending.id < end)
                return !std::binary_search(destroyed_.begin(), destroyed_.end(), pending);
        }
        return false;
    }

private:
    std::span<const EntityBits> blocks_;
    EntityBits end_;
    Array<Entity> destroyed_{Owner("commands")};  // ascending
};

/// A command to be taken from a chunk. Each run has commands of only one list, so the order of all commands is found
/// from their numbers.
struct RowToTake {
    std::uint32_t number;  // 0: a kind that is carried out before the numbered kinds
    const CommandBatch* run;
    std::uint32_t row;
    auto operator<=>(const RowToTake&) const = default;
};

std::uint32_t number_of(const CommandBatch& run, std::uint32_t row) {
    const bool has_number = run.list->kind != CommandKind::kDestroy && run.list->kind != CommandKind::kMove;
    return has_number ? run.numbers()[row] : 0;
}

/// Takes commands out of a run by setting their entities to null, so that they do nothing.
class Taker {
public:
    Taker(std::uint32_t pass, const Created& created, void (*visit)(void* context, const PassedCommand& command),
          void* context)
        : pass_(pass), created_(created), visit_(visit), context_(context) {}

    void take(const CommandBatch& run, std::uint32_t row) {
        PassedCommand command{.kind = static_cast<SavedCommandKind>(run.list->kind), .pass = pass_};
        command.entity = std::exchange(run.entities()[row], kNullEntity);
        if (run.list->kind == CommandKind::kMove) command.zone = run.numbers()[row];
        if (run.list->kind == CommandKind::kCall) {
            const auto& call = *reinterpret_cast<const TextCommand::Value*>(run.value(TextCommand::kPart, row));
            command.change = call.function.change, command.text = call.function.text;
        } else {
            parts_.clear();
            for (const CommandPart& part : run.list->parts) {
                if (part.offset != 0)
                    for_each_entity(part.value_schema(), run.value(part, row), 1, [&](Entity& other) {
                        if (is_pending(other) && !created_.has(other)) other = kNullEntity;
                    });
                parts_.push_back(view_of(run, part, row));
            }
            command.parts = parts_;
        }
        visit_(context_, command);
    }

private:
    std::uint32_t pass_;
    const Created& created_;
    void (*visit_)(void* context, const PassedCommand& command);
    void* context_;
    Array<PassedPart> parts_{Owner("commands")};
};

}  // namespace

std::uint64_t take_commands(ComponentDirectory& directory, bool (*is_elsewhere)(const void* context, Entity entity),
                            void (*visit)(void* context, const PassedCommand& command), void* context) {
    std::uint64_t num_dropped = 0;
    Array<RowToTake> rows{Owner("commands")};
    CommandLog::of(directory).visit_chunks([&](const CommandLoop& loop, CommandRecorder& chunk) {
        rows.clear();
        for (const CommandBatch& run : chunk.runs()) {
            if (!may_pass(*run.list)) continue;
            const bool is_plain =
                run.list->kind == CommandKind::kCall || std::ranges::all_of(run.list->parts, is_bytes);
            for (std::uint32_t row = 0; row < run.num_rows; ++row) {
                if (!is_elsewhere(context, run.entities()[row])) continue;
                if (is_plain)
                    rows.push_back({number_of(run, row), &run, row});
                else
                    run.entities()[row] = kNullEntity, ++num_dropped;
            }
        }
        if (rows.empty()) return;
        std::sort(rows.begin(), rows.end());
        const Created created(chunk);
        Taker taker(loop.place.pass, created, visit, context);
        for (const RowToTake& each : rows) taker.take(*each.run, each.row);
    });
    return num_dropped;
}

void resolve_when_created(ComponentDirectory& directory, std::span<Entity> pending) {
    CommandLog::of(directory).resolve_when_created(pending);
}

namespace {

/// Returns the list for a command with these parts.
const detail::CommandList& list_for(CommandRecorder& to, const PassedCommand& command) {
    MadeList list(static_cast<CommandKind>(command.kind));
    for (const PassedPart& passed : command.parts) {
        CommandPart part{.made = passed.component, .is_disabled = passed.is_disabled, .field = passed.field};
        const Schema* value = passed.value_schema;
        if (part.sets_field()) {
            list.own_schemas.push_back(make_owned<Schema>("commands", *value));
            part.made_field = value = list.own_schemas.back();
        }
        list.add(part, value);
    }
    return to.made_list(std::move(list));
}

/// Adds a row with the values of a command.
void add_row(CommandRecorder& to, const PassedCommand& command) {
    const detail::CommandList& list = list_for(to, command);
    detail::CommandNumbers numbers = to.numbers();
    const detail::NewRow added = to.add_row(list);
    added.set_entity(command.entity);
    added.set_number(++numbers.num_ordered);
    to.set_numbers(numbers);
    for (std::size_t i = 0; i < list.parts.size(); ++i)
        if (const CommandPart& part = list.parts[i]; part.offset != 0)
            std::memcpy(added.value(part.offset, part.num_bytes), command.parts[i].value.data(), part.num_bytes);
}

void change_text(Commands& commands, const PassedCommand& command) {
    switch (command.change) {
        case TextChange::kName:
            return commands.name(command.entity, command.text);
        case TextChange::kTag:
            return commands.tag(command.entity, command.text);
        case TextChange::kUntag:
            return commands.untag(command.entity, command.text);
    }
}

}  // namespace

static_assert(PassedPart::kNoField == CommandPart::kAllFields);

Schema value_schema_of(const Schema& component, std::uint32_t field) {
    return detail::make_field_schema(component, field);
}

Status check_passed_value(ComponentDirectory& directory, const Schema& schema, std::span<const std::byte> image) {
    return check_command_values(CommandLog::of(directory).host(), schema, 1, image);
}

void give_command(ComponentDirectory& directory, const PassedCommand& command) {
    CommandRecorder& to = CommandLog::of(directory).open_for_passed(command.pass);
    switch (command.kind) {
        case SavedCommandKind::kDestroy:
            return detail::RangeCommands(to).destroy(command.entity);
        case SavedCommandKind::kMove:
            return detail::RangeCommands(to).move(command.entity, command.zone);
        case SavedCommandKind::kText: {
            detail::RangeCommands commands(to);
            return change_text(commands, command);
        }
        case SavedCommandKind::kAdd:
        case SavedCommandKind::kRemove:
        case SavedCommandKind::kSet:
            return add_row(to, command);
        default:
            SHOAL_ASSERT(false, "a command that creates, spawns or copies was handed on; it stays where it is");
    }
}

}  // namespace shoal
