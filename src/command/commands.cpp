// Records the commands of a chunk.

#include "shoal/command/commands.h"

#include "command/command_log.h"
#include "command/made_list.h"
#include "command/spawn_lists.h"
#include "command/text_call.h"
#include "shoal/base/detail/string_table.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "shoal/entity/entity_text.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace detail {
namespace {

constexpr std::size_t kMostRunBytes = kLogBlockBytes[1] - kCacheLineBytes;
constexpr std::size_t kFirstRows = 8;  // rows in a chunk's first run of a list

std::byte* aligned(std::byte* address, std::size_t alignment) {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    return address + (round_up(value, alignment) - value);
}

}  // namespace

CommandRecorder::~CommandRecorder() {
    for (const MadeList* made : made_) destroy_owned("commands", made);
}

CommandRecorder::Stream& CommandRecorder::stream_of(const CommandList& list) {
    for (Stream& stream : streams_)
        if (stream.end.list == &list) return stream;
    if (SHOAL_UNLIKELY(log_->has_loaded_lists()) && list.origin == ListOrigin::kCompiled)
        for (Stream& stream : streams_) {
            const CommandList& loaded = *stream.end.list;
            if (loaded.origin != ListOrigin::kLoaded || !made(loaded).is_like(list)) continue;
            HashMap<std::uint64_t, const CommandList*> others{Owner("commands")};
            others.set(reinterpret_cast<std::uintptr_t>(&loaded), &list);
            replace_lists(others);  // new commands continue the loaded runs
            return stream;
        }
    streams_.push_back({{&list, nullptr, 0, 0}});
    return streams_.back();
}

CommandCursor CommandRecorder::hold(const CommandList& list, bool was_held) {
    Stream& stream = stream_of(list);
    if (was_held) stream.end.num_rows = stream.end.capacity;
    if (stream.end.num_rows == stream.end.capacity) begin_run(stream);
    return stream.end;
}

void CommandRecorder::release(const CommandList& list, std::size_t num_rows) {
    stream_of(list).end.num_rows = num_rows;
}

NewRow CommandRecorder::add_row(const CommandList& list) {
    Stream& stream = stream_of(list);
    if (SHOAL_UNLIKELY(stream.end.num_rows == stream.end.capacity)) begin_run(stream);
    return stream.end.add_row();
}

void CommandRecorder::begin_run(Stream& stream, std::size_t least_rows) {
    SHOAL_ASSERT(is_open_, "commands were kept beyond a settle; ask for them anew");
    CommandCursor& end = stream.end;
    const std::size_t row_bytes = end.list->row_bytes;
    const std::size_t most_rows = std::max<std::size_t>(1, kMostRunBytes / row_bytes);
    note_rows(stream);
    end.capacity = std::max(std::min(end.capacity == 0 ? kFirstRows : end.capacity * 4, most_rows), least_rows);
    end.begin = take_memory(end.capacity * row_bytes, end.list->alignment);
    end.num_rows = 0;
    stream.run = static_cast<std::uint32_t>(runs_.size());
    runs_.push_back({end.list, end.begin, static_cast<std::uint32_t>(end.capacity), 0});
}

/// Records the number of rows in a list's last run.
void CommandRecorder::note_rows(const Stream& stream) {
    if (stream.end.capacity != 0) runs_[stream.run].num_rows = static_cast<std::uint32_t>(stream.end.num_rows);
}

std::span<const CommandBatch> CommandRecorder::runs() {
    for (const Stream& stream : streams_) note_rows(stream);
    return runs_;
}

void CommandRecorder::close() {
    runs();
    is_open_ = false;
    for (Stream& stream : streams_) stream.end.capacity = stream.end.num_rows;
}

WaitingCommands& CommandRecorder::waiting() const { return *log_; }

std::byte* CommandRecorder::take_memory(std::size_t num_bytes, std::size_t alignment) {
    std::byte* result = aligned(free_begin_, alignment);
    if (free_begin_ == nullptr || num_bytes + alignment > static_cast<std::size_t>(free_end_ - free_begin_)) {
        blocks_.push_back(log_->take_memory(num_bytes + alignment, !blocks_.empty()));
        free_end_ = blocks_.back().data + blocks_.back().num_bytes;
        result = aligned(blocks_.back().data, alignment);
    }
    free_begin_ = result + num_bytes;
    return result;
}

EntityBits CommandRecorder::take_pending_block() {
    pending_blocks_.push_back(log_->take_pending_block());
    return pending_blocks_.back();
}

void CommandRecorder::clear() {
    close();
    for (const CommandBatch& run : runs_)
        for (const CommandPart& part : run.list->parts)
            for (std::uint32_t i = 0; part.destroy != nullptr && part.offset != 0 && i < run.num_rows; ++i)
                part.destroy(run.value(part, i));
    streams_.clear();
    runs_.clear();
    pending_blocks_.clear();
    numbers_ = {};
    free_begin_ = free_end_ = nullptr;
}

// --- what was saved ----------------------------------------------------------------------------------------------

CommandBatch CommandRecorder::begin_run(const CommandList& list, std::uint32_t num_rows) {
    Stream& stream = stream_of(list);
    begin_run(stream, num_rows);
    stream.end.num_rows = num_rows;
    note_rows(stream);
    return runs_.back();
}

void CommandRecorder::restore_numbers(std::span<const EntityBits> pending_blocks, const CommandNumbers& numbers) {
    pending_blocks_.assign(pending_blocks.begin(), pending_blocks.end());
    numbers_ = numbers;
}

void CommandRecorder::replace_lists(const HashMap<std::uint64_t, const CommandList*>& others) {
    const auto replace = [&](const CommandList*& list) {
        list = others.find_or(reinterpret_cast<std::uintptr_t>(list), list);
    };
    for (Stream& stream : streams_) replace(stream.end.list);
    for (CommandBatch& run : runs_) replace(run.list);
}

// --- component types that are known at run time only -------------------------------------------------------------

/// Returns the list of commands with these component types. The component types in `values` have a value.
const CommandList& CommandRecorder::made_list(CommandKind kind, Entity entity, const Database& database,
                                              std::span<const ComponentType> components,
                                              std::span<const ComponentValues> values) {
    MadeList list(kind);
    for (const ComponentType component : components) {
        database.require_component(component, entity);
        const ComponentValues* const given = find_values(values, component);
        const bool brings_value = given != nullptr && given->has_values();
        SHOAL_ASSERT(!brings_value || given->write == nullptr,
                     "a command brings values that are bytes; name the C++ type instead");
        const Schema& schema = database.schema(component);
        list.add({.made = &schema}, brings_value ? &schema : nullptr);
    }
    return made_list(std::move(list));
}

const CommandList& CommandRecorder::made_list(MadeList&& list) {
    for (MadeList* known : made_) {
        if (known->is_like(list)) return *known;
    }
    made_.push_back(make_owned<MadeList>("commands", std::move(list)));
    made_.back()->own_its_schemas();
    return *made_.back();
}

void CommandRecorder::record(CommandKind kind, Entity entity, std::uint32_t number, const Schema& component,
                             const std::byte* image) {
    SHOAL_ASSERT(!component.has_opaque(), "a command brings values that are bytes; name the C++ type instead");
    MadeList asked(kind);
    asked.add({.made = &component}, kind == CommandKind::kAdd ? &component : nullptr);
    const CommandList& list = made_list(std::move(asked));
    const CommandPart& part = list.parts.front();
    const NewRow added = add_row(list);
    added.set_entity(entity);
    added.set_number(number);
    if (part.num_bytes == 0) return;
    std::memcpy(added.value(part.offset, part.num_bytes), image != nullptr ? image : component.default_image().data(),
                part.num_bytes);
}

void CommandRecorder::record(CommandKind kind, Entity entity, std::uint32_t number, const Database& database,
                             std::span<const ComponentType> components, std::span<const ComponentValues> values) {
    const CommandList& list = made_list(kind, entity, database, components, values);
    const NewRow added = add_row(list);
    added.set_entity(entity);
    added.set_number(number);
    for (const CommandPart& part : list.parts) {
        if (part.offset == 0) continue;
        const Schema& schema = part.component();
        const ComponentValues& given = *find_values(values, database.find_component(schema.id()));
        std::byte* const to = added.value(part.offset, part.num_bytes);
        if (given.images != nullptr) {
            std::memcpy(to, given.images, schema.struct_bytes());
            continue;
        }
        std::memcpy(to, schema.default_image().data(), schema.struct_bytes());
        for (std::size_t c = 0; c < schema.columns().size(); ++c)
            std::memcpy(to + schema.columns()[c].struct_offset, given.columns[c], schema.columns()[c].element_bytes);
    }
}

}  // namespace detail

void Commands::record_create(detail::CommandRecorder& recorder, Entity entity, const Database& database,
                             const Archetype& type, Zone zone, std::span<const ComponentValues> values) {
    if (zone != kNoZone) require_zone(zone);
    for (const ComponentValues& given : values)
        SHOAL_ASSERT(type.has(given.component), "values were given for a component type that the archetype lacks");
    recorder.record(Kind::kCreate, entity, zone, database, type.components(), values);
}

namespace {

void log_dropped_text(Entity entity, const Status& why) {
    const std::string who = is_pending(entity) ? "an entity to come" : concat("entity ", entity_text(entity));
    log(LogLevel::kError, concat("a command to name or tag ", who, " was dropped: ", why.message()));
}

}  // namespace

void TextCall::operator()(Entity self) const {
    CommandHost* const host = commands->host();
    SHOAL_ASSERT(host != nullptr,
                 "a command names or tags an entity, whose texts a world keeps, but the database belongs to none; "
                 "attach it to a world");
    if (Status status = host->change_text(change, self, text); !status) log_dropped_text(self, status);
}

void Commands::record_text(TextChange change, Entity entity, std::string_view text) {
    if (Status status = StringTable::check(text); !status)  // the command could not be saved while it is pending
        return log_dropped_text(entity, status);
    call(entity, TextCall{&recorder_->waiting(), change, std::string(text)});
}

void Commands::name(Entity entity, std::string_view name) { record_text(TextChange::kName, entity, name); }
void Commands::tag(Entity entity, std::string_view tag) { record_text(TextChange::kTag, entity, tag); }
void Commands::untag(Entity entity, std::string_view tag) { record_text(TextChange::kUntag, entity, tag); }

void Commands::record_add(detail::CommandRecorder& recorder, Entity entity, std::uint32_t number,
                          const Database& database, std::span<const ComponentValues> values) {
    Array<ComponentType> components("commands");
    for (const ComponentValues& given : values) components.push_back(given.component);
    recorder.record(Kind::kAdd, entity, number, database, components, values);
}

Entity Commands::spawn(const Blob& blob, const RootPose& pose, Zone zone) {
    if (zone != kNoZone) require_zone(zone);
    return record_spawn(detail::kSpawnAtList, zone, &blob, {}, &pose);
}

Entity Commands::copy(Entity original, const RootPose& pose) {
    return record_spawn(detail::kCopyAtList, kNoZone, nullptr, original, &pose);
}

Entity Commands::spawn(const Blob& blob, Zone zone, Array<SpawnOverride> overrides) {
    return record_spawn(blob, nullptr, zone, std::move(overrides));
}
Entity Commands::spawn(const Blob& blob, const RootPose& pose, Zone zone, Array<SpawnOverride> overrides) {
    return record_spawn(blob, &pose, zone, std::move(overrides));
}

namespace {

/// Errors: the override could not be saved while it is pending, or is for a copy that the command does not make.
Status check_waiting(const SpawnOverride& given) {
    if (given.copy != 0 && given.copy != SpawnOverride::kAllCopies)
        return Status::error(concat("the override of ", quoted(given.field), " of ", quoted(given.entity),
                                    " is of copy ", given.copy, "; a command makes copy 0 alone"));
    return check_override(given);
}

}  // namespace

Entity Commands::record_spawn(const Blob& blob, const RootPose* pose, Zone zone, Array<SpawnOverride>&& overrides) {
    if (zone != kNoZone) require_zone(zone);
    const Entity first = take_pending();
    SpawnOverrides kept;
    for (const SpawnOverride& given : overrides) {
        if (Status status = check_waiting(given); !status) {
            log(LogLevel::kError, concat("a command to spawn a resource was dropped: ", status.message()));
            destroy(first);  // cancels its creation
            return first;
        }
        kept.push_back(copy_to_keep(given));
    }
    const detail::CommandList& list = pose == nullptr ? OverridingSpawn<false>::kList : OverridingSpawn<true>::kList;
    const detail::NewRow added = add_row(list, first, zone);
    ::new (static_cast<void*>(added.value(detail::SpawnValue::kOffset, sizeof(detail::SpawnValue))))
        detail::SpawnValue{&blob, kNullEntity};
    if (pose != nullptr) ::new (static_cast<void*>(added.value(detail::kPoseOffset, sizeof(RootPose)))) RootPose(*pose);
    const detail::CommandPart& part = list.parts.front();
    ::new (static_cast<void*>(added.value(part.offset, part.num_bytes))) SpawnOverrides(std::move(kept));
    return first;
}

}  // namespace shoal
