#include "command/command_log.h"

#include "command/spawn_lists.h"

#include "shoal/base/detail/bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {

using detail::CommandRecorder;

namespace {

/// Calls visit(element_type, array) with copies of the arrays in values of one component type. If visit() returns true,
/// it has changed the copy, and the copy replaces the array.
template <class Visit>
void visit_arrays_in(const detail::CommandBatch& run, const detail::CommandPart& part, const Schema& schema,
                     Visit&& visit) {
    for (const Field& field : schema.fields())
        for (std::uint32_t i = 0; field.type == FieldType::kBlobArray && i < field.num_values(); ++i)
            for (std::uint32_t row = 0; row < run.num_rows; ++row) {
                std::byte* const place = run.value(part, row) + field.struct_offset + i * sizeof(BlobArrayBase);
                auto array = read_as<BlobArrayBase>(place);
                if (visit(field.element_type, array))
                    std::memcpy(place, static_cast<const void*>(&array), sizeof array);
            }
}

std::uint64_t count_spawns(const detail::CommandBatch& run, const Blob& blob) {
    const auto* const values = reinterpret_cast<const detail::SpawnValue*>(run.column(detail::SpawnValue::kOffset));
    return static_cast<std::uint64_t>(std::count_if(
        values, values + run.num_rows, [&](const detail::SpawnValue& value) { return value.blob == &blob; }));
}

}  // namespace

detail::LoopScope::LoopScope() : scope_(WorkScope::current()) {
    if (scope_ != nullptr) scope_->begin_function();
}
detail::LoopScope::~LoopScope() {
    if (scope_ != nullptr) scope_->end_function();
}

CommandLog::~CommandLog() {
    for_each_chunk(open_, [](CommandRecorder& chunk) { chunk.clear(); });
    for (CommandLoop* loop : open_) recycle(loop);
    forget_loaded();
    for (const CommandLoop* loop : idle_) destroy_owned("commands", loop);
}

Commands& CommandLog::here() {
    const WorkScope* const scope = WorkScope::current();
    const bool in_pass = scope != nullptr && !scope->is_in_loop();
    const auto is_looped_over = [](const Store* store) { return store->places_whole_entities() && store->is_held(); };
    const bool is_outside = scope == nullptr && !directory_.entities().is_held() &&
                            std::ranges::none_of(directory_.stores(), is_looped_over);
    SHOAL_ASSERT(in_pass || is_outside,
                 "a function of a loop asked for the commands of its pass; take a Commands& as its first argument");
    WorkPosition place;
    place.pass = in_pass ? scope->pass() : 0;
    const std::lock_guard lock(mutex_);
    for (CommandLoop* loop : open_)
        if (loop->is_of_pass && loop->place.pass == place.pass) return loop->commands;
    CommandLoop& opened = open_locked(place, 1);
    opened.is_of_pass = true;
    opened.commands.take_up(opened.chunks.front());
    return opened.commands;
}

CommandRecorder* CommandLog::open(const WorkPosition& loop, std::uint32_t num_chunks) {
    const std::lock_guard lock(mutex_);
    return open_locked(loop, num_chunks).chunks.data();
}

detail::CommandRecorder& CommandLog::open_for_passed(std::uint32_t pass) {
    const std::lock_guard lock(mutex_);
    for (CommandLoop* loop : open_)
        if (loop->is_passed && loop->place.pass == pass) return loop->chunks.front();
    WorkPosition place;
    place.pass = pass;
    CommandLoop& opened = open_locked(place, 1);
    opened.is_passed = true;
    return opened.chunks.front();
}

CommandLoop& CommandLog::open_locked(const WorkPosition& place, std::uint32_t num_chunks) {
    CommandLoop* loop = nullptr;
    num_idle_ = 0;
    if (idle_.empty()) {
        loop = make_owned<CommandLoop>("commands");
    } else {
        loop = idle_.back();
        idle_.pop_back();
    }
    loop->place = place;
    loop->num_chunks = num_chunks;
    loop->opened = num_opened_++;
    loop->chunks.reserve(num_chunks);
    while (loop->chunks.size() < num_chunks) loop->chunks.emplace_back(*this);
    for_each_chunk({&loop, 1}, [](CommandRecorder& chunk) { chunk.open(); });
    open_.push_back(loop);
    return *loop;
}

/// Keeps a loop's memory for another loop. Requires: the loop's chunks have been cleared.
void CommandLog::recycle(CommandLoop* loop) {
    loop->is_of_pass = loop->is_passed = false;
    for_each_chunk({&loop, 1}, [&](CommandRecorder& chunk) {
        for (const detail::LogBlock& block : chunk.blocks()) blocks_.give_back(block);
        chunk.blocks().clear();
    });
    idle_.push_back(loop);
}

/// Sorts loops into the order in which their commands are carried out.
void CommandLog::sort(std::span<CommandLoop*> loops) {
    std::sort(loops.begin(), loops.end(), [](const CommandLoop* a, const CommandLoop* b) {
        if (comes_before(a->place, b->place)) return true;
        return !comes_before(b->place, a->place) && a->opened < b->opened;
    });
}

void CommandLog::apply(SettleCounts* counts) {
    const std::span<Entity> awaited = std::exchange(awaited_, {});
    if (num_idle_ == kMostIdle) return;
    EntityBits epoch = 0, num_pending = 0;
    {
        const std::lock_guard lock(mutex_);
        ++num_idle_;
        SHOAL_ASSERT(settling_.empty(), "a destruction callback settled the database that settles; settle it later");
        settling_.swap(open_);
        num_pending = std::exchange(num_pending_, 0);
        epoch = std::exchange(epoch_, epoch_ + (num_pending != 0));
    }
    // Commands that destruction callbacks record wait for the next settle.
    if (!settling_.empty()) {
        sort(settling_);
        unify_lists(settling_);
        chunks_.clear();
        for_each_chunk(settling_, [&](CommandRecorder& chunk) {
            chunk.close();
            chunks_.push_back(&chunk);
        });
        const SettleCounts settled = settler_.settle(chunks_, epoch, num_pending, awaited);
        if (counts != nullptr) *counts += settled;
    }
    // The destructors of values may make the same calls as callbacks, so the mutex is not held.
    for_each_chunk(settling_, [](CommandRecorder& chunk) { chunk.clear(); });
    const std::lock_guard lock(mutex_);
    for (CommandLoop* loop : settling_) recycle(loop);
    settling_.clear();
    forget_loaded();
    blocks_.trim();
    settler_.trim();
}

std::uint64_t CommandLog::count_pins(ResourceId resource) {
    std::uint64_t num_pins = 0;
    const Blob* const blob = host() == nullptr ? nullptr : host()->find_blob(resource);
    const auto count_pin = [&](FieldType, const BlobArrayBase& array) {
        num_pins += array.count > 0 && array.resource == resource;
        return false;
    };
    const auto count = [&](CommandRecorder& chunk) {
        for (const detail::CommandBatch& run : chunk.runs()) {
            if (blob != nullptr && run.list->kind == detail::CommandKind::kSpawn) num_pins += count_spawns(run, *blob);
            visit_arrays_of(run, count_pin);
        }
    };
    const std::lock_guard lock(mutex_);
    for_each_chunk(settling_, count);
    for_each_chunk(open_, count);
    return num_pins;
}

template <class Visit>
void CommandLog::visit_arrays_of(const detail::CommandBatch& run, Visit&& visit) {
    if (run.list->kind == detail::CommandKind::kSpawn) return;  // overrides have no arrays
    for (const detail::CommandPart& part : run.list->parts)
        if (part.offset != 0 && part.call == nullptr) visit_arrays_in(run, part, part.value_schema(), visit);
}

void CommandLog::visit_arrays(bool (*visit)(void* context, FieldType element_type, BlobArrayBase& array),
                              void* context) {
    const auto visit_all = [&](CommandRecorder& chunk) {
        for (const detail::CommandBatch& run : chunk.runs())
            visit_arrays_of(run, [&](FieldType type, BlobArrayBase& array) { return visit(context, type, array); });
    };
    const std::lock_guard lock(mutex_);
    for_each_chunk(settling_, visit_all);
    for_each_chunk(open_, visit_all);
}

namespace {

void visit_overrides_of(const detail::CommandBatch& run, void (*visit)(void* context, std::span<const std::byte>),
                        void* context) {
    for (std::uint32_t i = 0; has_overrides(*run.list) && i < run.num_rows; ++i)
        for (const SpawnOverride& one : overrides_at(run, i)) visit(context, one.value.bytes());
}

/// Calls visit(context, bytes) for the string ids of a part, and for its integers, because properties store strings in
/// integers.
void visit_words_in(const detail::CommandBatch& run, const detail::CommandPart& part, const Schema& schema,
                    void (*visit)(void* context, std::span<const std::byte>), void* context) {
    for (const Field& field : schema.fields())
        if (field.type == FieldType::kStringId || field.type == FieldType::kUint32)
            for (std::uint32_t row = 0; row < run.num_rows; ++row)
                visit(context, {run.value(part, row) + field.struct_offset, field.size});
}

}  // namespace

void CommandLog::visit_values(void (*visit)(void* context, std::span<const std::byte>), void* context) {
    const auto visit_all = [&](CommandRecorder& chunk) {
        for (const detail::CommandBatch& run : chunk.runs())
            if (run.list->kind == detail::CommandKind::kSpawn)
                visit_overrides_of(run, visit, context);
            else
                for (const detail::CommandPart& part : run.list->parts)
                    if (part.offset != 0 && part.call == nullptr)
                        visit_words_in(run, part, part.value_schema(), visit, context);
    };
    const std::lock_guard lock(mutex_);
    for_each_chunk(settling_, visit_all);
    for_each_chunk(open_, visit_all);
}

void CommandLog::count(void (*visit)(void* context, std::uint32_t pass, std::string_view kind, std::uint64_t count),
                       void* context) {
    constexpr std::string_view kKinds[detail::kNumCommandKinds] = {"destroyed", "created", "moved",  "added", "removed",
                                                                   "spawned",   "copied",  "called", "set"};
    const std::lock_guard lock(mutex_);
    for (CommandLoop* loop : open_)
        for_each_chunk({&loop, 1}, [&](CommandRecorder& chunk) {
            for (const detail::CommandBatch& run : chunk.runs())
                visit(context, loop->place.pass, kKinds[static_cast<std::size_t>(run.list->kind)], run.num_rows);
        });
}

void CommandLog::discard() {
    {
        const std::lock_guard lock(mutex_);
        SHOAL_ASSERT(settling_.empty(), "a callback loaded the world that settles; load it later");
        settling_.swap(open_);
        if (std::exchange(num_pending_, 0) != 0) ++epoch_;
    }
    // As in apply(), the mutex is not held.
    for_each_chunk(settling_, [](CommandRecorder& chunk) { chunk.close(), chunk.clear(); });
    const std::lock_guard lock(mutex_);
    for (CommandLoop* loop : settling_) recycle(loop);
    settling_.clear();
    forget_loaded();
}

detail::LogBlock CommandLog::take_memory(std::size_t num_bytes, bool large) {
    const std::lock_guard lock(mutex_);
    return blocks_.take(num_bytes, large);
}

EntityBits CommandLog::take_pending_block() {
    const EntityBits first = __atomic_fetch_add(&num_pending_, CommandRecorder::kPendingBlock, __ATOMIC_RELAXED);
    SHOAL_ASSERT(first >> kPendingNumberBits == 0, "commands ask for more entities than there can be");
    return kPendingBit | (epoch_ & kPendingEpochMask) << kPendingNumberBits | first;
}

CommandLog& CommandLog::of(ComponentDirectory& directory) {
    WaitingCommands* const known = directory.commands();
    if (SHOAL_LIKELY(known != nullptr)) return static_cast<CommandLog&>(*known);
    CommandLog* const made = make_owned<CommandLog>("commands", directory);
    const auto release = [](WaitingCommands& commands) {
        destroy_owned("commands", &static_cast<CommandLog&>(commands));
    };
    WaitingCommands& kept = directory.set_commands(*made, release);
    if (&kept != made) release(*made);  // another thread was first
    return static_cast<CommandLog&>(kept);
}

WaitingCommands& WaitingCommands::of_directory(ComponentDirectory& directory) { return CommandLog::of(directory); }

Commands& Database::commands() { return CommandLog::of(*component_directory()).here(); }

CommandRecorder* detail::open_commands(ComponentDirectory& directory, const WorkPosition& loop,
                                       std::uint32_t num_chunks) {
    return CommandLog::of(directory).open(loop, num_chunks);
}

}  // namespace shoal
