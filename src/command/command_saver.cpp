// Writes pending commands to a snapshot. command_loader.cpp reads them.

#include "command/command_log.h"
#include "command/saved_layout.h"
#include "command/spawn_lists.h"
#include "command/text_call.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/saved_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {

using detail::CommandBatch;
using detail::CommandKind;
using detail::CommandPart;
using detail::CommandRecorder;
using detail::ListOrigin;
using detail::SpawnValue;

static_assert(std::uint32_t(SavedCommandKind::kText) == std::uint32_t(CommandKind::kCall));
static_assert(std::uint32_t(SavedCommandKind::kSet) == std::uint32_t(CommandKind::kSet));
static_assert(sizeof(SavedCommandLoop) == 80 && sizeof(SavedCommandChunk) == 12 && sizeof(SavedCommandList) == 16);
static_assert(WorkPosition::kMostSteps == 4);

std::string_view name_of_kind(SavedCommandKind kind) {
    constexpr std::string_view kNames[] = {"destroy", "create", "move",        "add", "remove",
                                           "spawn",   "copy",   "name_or_tag", "set"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::uint64_t count_saved_commands(const Snapshot& state, SavedCommandKind kind) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        const SnapshotPart part = state.part(i);
        if ((part.path != "commands/lists" && !part.path.ends_with("/commands/lists")) ||
            part.element_bytes != sizeof(SavedCommandList))
            continue;
        Array<SavedCommandList> lists(static_cast<std::size_t>(part.num_elements), {}, Owner("commands"));
        state.copy(part, 0, part.num_elements, lists.data());
        for (const SavedCommandList& list : lists) count += list.kind == kind ? list.num_rows : 0;
    }
    return count;
}

std::uint64_t count_saved_commands(const Snapshot& state) {
    std::uint64_t count = 0;
    for (std::uint32_t kind = 0; kind < kNumSavedCommandKinds; ++kind)
        count += count_saved_commands(state, static_cast<SavedCommandKind>(kind));
    return count;
}

namespace {

/// Copies one column of a component type out of struct images. Bytes between the fields are not written.
void copy_column(const Schema& schema, std::uint32_t column, const std::byte* images, std::size_t num_images,
                 std::byte* to) {
    const ColumnDefinition& definition = schema.columns()[column];
    const bool is_whole = definition.field_index == ColumnDefinition::kWholeComponent;
    for (std::size_t i = 0; i < num_images; ++i, images += schema.struct_bytes(), to += definition.element_bytes) {
        if (!is_whole) std::memcpy(to, images + definition.struct_offset, definition.element_bytes);
        for (const Field& field : schema.fields())
            if (is_whole && field.first_column == column)
                std::memcpy(to + schema.offset_in_column(field), images + field.struct_offset, field.size);
    }
}

class CommandSaver {
public:
    CommandSaver(CommandLog& log, SnapshotWriter& to) : directory_(log.directory()), host_(log.host()), to_(to) {}

    // --- loops and chunks -------------------------------------------------------------------------------------------

    /// Numbers the blocks of pending entities. Shape: `loops` has all loops, in the order of execution.
    /// The order in which chunks take blocks depends on the workers, so blocks are renumbered. Blocks for commands from
    /// outside of passes and loops keep their numbers, because the program may hold the entities until the world
    /// settles.
    void number_blocks(std::span<CommandLoop* const> loops, EntityBits epoch, EntityBits num_pending) {
        epoch_ = epoch & kPendingEpochMask;
        new_blocks_.resize(static_cast<std::size_t>(num_pending / CommandRecorder::kPendingBlock));
        Array<std::uint32_t> in_order{Owner("commands")};
        for (std::uint32_t i = 0; i < new_blocks_.size(); ++i) new_blocks_[i] = i;
        for (CommandLoop* loop : loops) {
            if (loop->is_of_pass && loop->place.pass == 0) continue;
            for (const CommandRecorder& chunk : std::span(loop->chunks).first(loop->num_chunks))
                for (const EntityBits block : chunk.pending_blocks()) in_order.push_back(block_of({block}));
        }
        Array<std::uint32_t> numbers = in_order;
        std::sort(numbers.begin(), numbers.end());
        for (std::size_t i = 0; i < numbers.size(); ++i) new_blocks_[in_order[i]] = numbers[i];
    }

    /// Adds a loop. Loops and chunks without commands are left out.
    void add(CommandLoop& loop) {
        const std::size_t num_before = saved_chunks_.size();
        for (CommandRecorder& chunk : std::span(loop.chunks).first(loop.num_chunks)) add(chunk);
        const auto num_chunks = static_cast<std::uint32_t>(saved_chunks_.size() - num_before);
        if (num_chunks == 0) return;
        SavedCommandLoop saved{loop.place.pass, num_chunks, loop.place.num_steps, loop.is_of_pass, {}};
        for (std::uint32_t i = 0; i < WorkPosition::kMostSteps; ++i)
            saved.steps[i] = {loop.place.steps[i].loop, loop.place.steps[i].chunk, 0};
        if (saved.pass == 0 && saved.num_steps != 0) {  // a program never resets the numbers of loops outside of passes
            num_outer_loops_ += outer_loop_ != saved.steps[0].loop;
            outer_loop_ = std::exchange(saved.steps[0].loop, num_outer_loops_);
        }
        loops_.push_back(saved);
    }

    // --- commands ---------------------------------------------------------------------------------------------------

    void write() {
        if (loops_.empty()) return;
        for (std::size_t i = 0; i < lists_.size(); ++i) {
            const SnapshotPath::Scope scope = to_.in(concat("list/", i));
            write_list(lists_[i]);
        }
        to_.text("types", type_names_);
        to_.text("blobs", blob_names_);
        to_.array("lists", saved_lists_);
        to_.array("parts", parts_);
        to_.array("loops", loops_);
        to_.array("chunks", saved_chunks_);
        to_.array("pending_blocks", blocks_);
        to_.array("runs", runs_);
    }

private:
    struct List {
        const detail::CommandList* list;
        Array<const CommandBatch*> runs{Owner("commands")};
        std::uint32_t num_rows = 0;
    };

    static std::uint32_t block_of(Entity pending) {
        return static_cast<std::uint32_t>((pending.id & kPendingNumberMask) / CommandRecorder::kPendingBlock);
    }
    void refuse(const List& list, const Schema& schema, std::string_view why) {
        refuse(list, concat('"', schema.name(), "\" ", why));
    }
    /// Writes the elements that column_of(run) returns, for all runs of a list.
    template <class T, class ColumnOf>
    void write_column(std::string_view name, const List& list, ColumnOf&& column_of) {
        Array<T> all{Owner("commands")};
        all.reserve(list.num_rows);
        for (const CommandBatch* run : list.runs) {
            const T* const first = column_of(*run);
            all.insert(all.end(), first, first + run->num_rows);
        }
        if constexpr (std::is_same_v<T, Entity>)
            for (Entity& entity : all) entity = translate(entity);
        to_.array(name, all);
    }

    Entity translate(Entity entity) const {
        if (!is_pending(entity) || (entity.id >> kPendingNumberBits & kPendingEpochMask) != epoch_) return entity;
        const std::uint32_t block = block_of(entity);
        if (block >= new_blocks_.size()) return entity;  // the entity was never handed out
        return {entity.id + EntityBits(new_blocks_[block]) * CommandRecorder::kPendingBlock -
                EntityBits(block) * CommandRecorder::kPendingBlock};
    }

    void add(CommandRecorder& chunk) {
        SavedCommandChunk saved{0, 0, chunk.numbers().num_ordered};
        for (const CommandBatch& run : chunk.runs()) {
            if (run.num_rows == 0) continue;
            runs_.push_back({number_of(run), run.num_rows});
            ++saved.num_runs;
        }
        const std::span<const EntityBits> blocks = chunk.pending_blocks();
        for (const EntityBits block : blocks) blocks_.push_back(new_blocks_[block_of({block})]);
        if (!blocks.empty())
            saved.num_pending = static_cast<std::uint32_t>((blocks.size() - 1) * CommandRecorder::kPendingBlock +
                                                           (chunk.next_pending() - blocks.back()));
        if (saved.num_runs != 0 || saved.num_pending != 0) saved_chunks_.push_back(saved);
    }

    std::uint32_t number_of(const CommandBatch& run) {
        const auto next = static_cast<std::uint32_t>(lists_.size());
        const std::uint32_t number = *list_numbers_.insert(reinterpret_cast<std::uintptr_t>(run.list), next).value;
        if (number == next) lists_.push_back({run.list});
        lists_[number].runs.push_back(&run);
        lists_[number].num_rows += run.num_rows;
        return number;
    }

    void write_list(const List& list) {
        const CommandKind kind = list.list->kind;
        const bool is_spawn = kind == CommandKind::kSpawn || kind == CommandKind::kCopy;
        const bool has_parts = kind == CommandKind::kCreate || kind == CommandKind::kAdd ||
                               kind == CommandKind::kRemove || kind == CommandKind::kSet;
        SavedCommandList saved{static_cast<SavedCommandKind>(kind), 0, 0, list.num_rows};
        if (has_parts) saved.num_parts = static_cast<std::uint32_t>(list.list->parts.size());
        if (list.list->origin == ListOrigin::kMade) saved.flags |= SavedCommandList::kOfChunk;
        if (is_spawn && has_poses(*list.list)) saved.flags |= SavedCommandList::kHasPoses;
        if (is_spawn && has_overrides(*list.list)) saved.flags |= SavedCommandList::kHasOverrides;
        saved_lists_.push_back(saved);
        write_column<Entity>("entity", list, [](const CommandBatch& run) { return run.entities().data(); });
        if (kind != CommandKind::kDestroy)
            write_column<std::uint32_t>("number", list, [](const CommandBatch& run) { return run.numbers().data(); });
        if (is_spawn) return write_spawns(list);
        if (kind == CommandKind::kCall) return write_texts(list);
        for (std::size_t i = 0; i < saved.num_parts; ++i) write_part(list, list.list->parts[i]);
    }

    void write_part(const List& list, const CommandPart& part) {
        check_part(list, part, part.component());
        if (!to_.status()) return;
        const Schema& schema = part.value_schema();
        const auto known = std::find(types_.begin(), types_.end(), schema.id());
        SavedCommandPart saved{static_cast<std::uint32_t>(known - types_.begin()), 0};
        if (known == types_.end()) types_.push_back(schema.id()), type_names_ += concat(schema.name(), '\n');
        if (part.offset != 0) saved.flags |= SavedCommandPart::kBringsValue;
        if (part.offset != 0 && part.is_disabled) saved.flags |= SavedCommandPart::kIsDisabled;
        if (part.sets_field()) saved.flags |= part.field << SavedCommandPart::kFieldShift;
        parts_.push_back(saved);
        if (part.offset == 0) return;
        const SnapshotPath::Scope scope = to_.in(schema.name());
        Array<std::byte> images{Owner("commands")};
        for (const CommandBatch* run : list.runs)
            images.insert(images.end(), run->value(part, 0), run->value(part, run->num_rows));
        for_each_entity(schema, images.data(), list.num_rows, [this](Entity& entity) { entity = translate(entity); });
        if (to_.checks_values())
            if (const Status status = check_command_values(host_, schema, list.num_rows, images); !status)
                refuse(list, schema, concat("bring what no program would load: ", status.message()));
        for (std::uint32_t c = 0; c < schema.columns().size(); ++c) {
            const std::uint32_t bytes = schema.columns()[c].element_bytes;
            Array<std::byte> column(std::size_t(list.num_rows) * bytes, std::byte(0), Owner("commands"));
            copy_column(schema, c, images.data(), list.num_rows, column.data());
            to_.elements(saved_column_name(schema, c), column.data(), bytes, list.num_rows);
        }
    }

    void refuse(const List& list, std::string_view why) {
        to_.refuse(concat(list.num_rows, " commands that wait to ", name_of_kind(SavedCommandKind(list.list->kind)),
                          ' ', why, "; settle first, with World::settle()"));
    }

    /// Refuses parts that could not be loaded again.
    void check_part(const List& list, const CommandPart& part, const Schema& schema) {
        const Schema* kept = directory_.find_schema(schema.id());
        const bool is_kept = kept != nullptr;
        const bool brings_all = part.offset != 0 && !part.sets_field();
        if (schema.has_opaque() && (brings_all || !is_kept))
            return refuse(list, schema, "have values with a field that only C++ knows");
        if (part.offset != 0 && part.destroy != nullptr)
            return refuse(list, schema, "have values of a C++ type that is more than its fields");
        if (kept != nullptr && kept->layout_hash() != schema.layout_hash())
            return refuse(list, schema, "have other fields than the world has now");
        const auto num_alike =
            std::count_if(list.list->parts.begin(), list.list->parts.end(),
                          [&](const CommandPart& other) { return other.component().id() == schema.id(); });
        if (num_alike > 1) refuse(list, schema, "name it twice");
    }

    void write_spawns(const List& list) {
        Array<Entity> originals{Owner("commands")};
        Array<std::uint32_t> blobs{Owner("commands")};
        const bool copies = list.list->kind == CommandKind::kCopy;
        for (const CommandBatch* run : list.runs) {
            const auto* const values = reinterpret_cast<const SpawnValue*>(run->column(SpawnValue::kOffset));
            for (std::uint32_t i = 0; i < run->num_rows; ++i)
                copies ? originals.push_back(translate(values[i].original))
                       : blobs.push_back(number_of_blob(*values[i].blob));
        }
        if (copies)
            to_.array("original", originals);
        else
            to_.array("blob", blobs);
        if (has_overrides(*list.list)) write_overrides(list);
        if (!has_poses(*list.list)) return;
        const auto poses_of = [](const CommandBatch& run) {
            return reinterpret_cast<const RootPose*>(run.column(detail::kPoseOffset));
        };
        write_column<RootPose>("pose", list, poses_of);
        if (!to_.checks_values() || host_ == nullptr) return;
        for (const CommandBatch* run : list.runs)
            if (const Status status = host_->check_poses({poses_of(*run), run->num_rows}); !status)
                return refuse(list, concat("something where no program would load it: ", status.message()));
    }

    void write_overrides(const List& list) {
        SpawnOverrides all;
        Array<std::uint32_t> counts{Owner("commands")};
        for (const CommandBatch* run : list.runs)
            for (std::uint32_t i = 0; i < run->num_rows; ++i) {
                const SpawnOverrides& some = overrides_at(*run, i);
                counts.push_back(static_cast<std::uint32_t>(some.size()));
                all.insert(all.end(), some.begin(), some.end());
            }
        for (SpawnOverride& one : all) for_each_entity(one, [&](Entity& entity) { entity = translate(entity); });
        to_.array("num_overrides", counts);
        save_overrides(to_, all);
    }

    std::uint32_t number_of_blob(const Blob& blob) {
        const auto known = std::find(blobs_.begin(), blobs_.end(), &blob);
        const auto number = static_cast<std::uint32_t>(known - blobs_.begin());
        if (known != blobs_.end()) return number;
        const std::string_view name = host_ == nullptr ? std::string_view() : host_->name_of_blob(blob);
        if (name.empty() || name.find('\n') != std::string_view::npos)
            to_.refuse(
                "commands wait to spawn a blob that is not in the library of the world, where it would be found again; "
                "settle first, with World::settle(), or add the blob to WorldOptions::library");
        blobs_.push_back(&blob);
        blob_names_ += concat(name, '\n');
        return number;
    }

    /// Writes names and tags. Other calls have functions, which cannot be saved.
    void write_texts(const List& list) {
        if (list.list != &TextCommand::kList)
            return to_.refuse(
                concat("commands.call() about ", entity_text(list.runs.front()->entities().front()),
                       " waits, and its C++ function cannot be saved; settle first, with World::settle()"));
        Array<std::uint8_t> changes{Owner("commands")};
        Array<std::uint32_t> sizes{Owner("commands")};
        std::string text;
        for (const CommandBatch* run : list.runs)
            for (std::uint32_t i = 0; i < run->num_rows; ++i) {
                const auto& call = *reinterpret_cast<const TextCommand::Value*>(run->value(TextCommand::kPart, i));
                changes.push_back(static_cast<std::uint8_t>(call.function.change));
                sizes.push_back(static_cast<std::uint32_t>(call.function.text.size()));
                text += call.function.text;
            }
        to_.array("change", changes);
        to_.array("text_bytes", sizes);
        to_.text("text", text);
    }

    const ComponentDirectory& directory_;
    const CommandHost* host_;
    SnapshotWriter& to_;
    EntityBits epoch_ = 0;
    Array<std::uint32_t> new_blocks_{Owner("commands")};  // indexed by block of pending entities, as taken
    std::uint64_t num_outer_loops_ = 0, outer_loop_ = 0;
    Array<List> lists_{Owner("commands")};
    HashMap<std::uint64_t, std::uint32_t> list_numbers_{Owner("commands")};  // keyed by address
    Array<SavedCommandList> saved_lists_{Owner("commands")};
    Array<SavedCommandPart> parts_{Owner("commands")};
    Array<SavedCommandLoop> loops_{Owner("commands")};
    Array<SavedCommandChunk> saved_chunks_{Owner("commands")};
    Array<std::uint32_t> blocks_{Owner("commands")};
    Array<SavedCommandBatch> runs_{Owner("commands")};
    Array<ComponentId> types_{Owner("commands")};
    Array<const Blob*> blobs_{Owner("commands")};
    std::string type_names_, blob_names_;
};

}  // namespace

// --- the log -----------------------------------------------------------------------------------------------------

void CommandLog::save(SnapshotWriter& to) {
    const SnapshotPath::Scope scope = to.in("commands");
    const std::lock_guard lock(mutex_);
    if (const auto epoch = static_cast<std::uint32_t>(epoch_ & kPendingEpochMask); epoch != 0) to.value("epoch", epoch);
    for_each_chunk(open_, [](CommandRecorder&) {});  // records the numbers of rows
    unify_lists(open_);
    Array<CommandLoop*> loops = open_;
    sort(loops);
    CommandSaver saver(*this, to);
    saver.number_blocks(loops, epoch_, num_pending_);
    for (CommandLoop* loop : loops) saver.add(*loop);
    saver.write();
}

void CommandLog::list_schemas(Array<const Schema*>& schemas) {
    const std::lock_guard lock(mutex_);
    for_each_chunk(open_, [&](CommandRecorder& chunk) {
        for (const CommandBatch& run : chunk.runs())
            for (const CommandPart& part : run.list->parts)
                if (part.names_component()) {
                    schemas.push_back(&part.component());
                    if (part.sets_field()) schemas.push_back(&part.value_schema());
                }
    });
}

}  // namespace shoal
