#include "command/command_log.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace shoal {

using detail::CommandBlock;
using detail::CommandRecorder;

namespace {

thread_local PassScope* current_scope = nullptr;

/// Counts the values of one component type that refer to `resource`.
std::uint64_t count_pins_in(const detail::CommandRun& run, const detail::CommandPart& part, const Schema& schema,
                            ResourceId resource) {
    std::uint64_t num_pins = 0;
    for (const Field& field : schema.fields())
        for (std::uint32_t i = 0; field.type == FieldType::kBlobArray && i < field.num_values(); ++i)
            for (const std::byte* row = run.begin; row != run.end; row += run.list->row_bytes) {
                BlobArrayBase array;
                std::memcpy(static_cast<void*>(&array), row + part.offset + field.struct_offset + i * sizeof array,
                            sizeof array);
                num_pins += array.count > 0 && array.resource == resource;
            }
    return num_pins;
}

}  // namespace

PassScope::PassScope(std::uint32_t pass) : pass_(pass), outer_(std::exchange(current_scope, this)) {}
PassScope::~PassScope() { current_scope = outer_; }

detail::LoopScope::LoopScope() : pass_(std::exchange(current_scope, nullptr)) {}
detail::LoopScope::~LoopScope() { current_scope = pass_; }

CommandLog::~CommandLog() {
    for_each_chunk(open_, [](CommandRecorder& chunk) { chunk.clear(); });
    for (CommandLoop* loop : open_) recycle(loop);
    for (CommandLoop* loop : idle_) {
        loop->~CommandLoop();
        release_memory(loop, sizeof(CommandLoop), "commands");
    }
    for (FreeBlocks& free : free_)
        for (std::byte* block : free.blocks) release_memory(block, kCommandBlockBytes[&free - free_], "commands");
}

Commands& CommandLog::here(bool is_locked) {
    SHOAL_ASSERT(current_scope != nullptr || !is_locked,
                 "a function of a loop asked for the commands of its pass; take a Commands& as its first argument");
    const std::uint32_t pass = current_scope == nullptr ? 0 : current_scope->pass_;
    const std::lock_guard lock(mutex_);
    for (CommandLoop* loop : open_)
        if (loop->pass == pass && loop->number == 0) return loop->chunks.front();
    return open_locked(pass, 0, 1).chunks.front();
}

Commands* CommandLog::open(std::uint32_t num_chunks) {
    const std::lock_guard lock(mutex_);
    const std::uint32_t pass = current_scope == nullptr ? 0 : current_scope->pass_;
    const std::uint32_t number = current_scope == nullptr ? ++num_outer_loops_ : ++current_scope->num_loops_;
    return open_locked(pass, number, num_chunks).chunks.data();
}

CommandLoop& CommandLog::open_locked(std::uint32_t pass, std::uint32_t number, std::uint32_t num_chunks) {
    CommandLoop* loop = nullptr;
    if (idle_.empty()) {
        loop = ::new (allocate_memory(sizeof(CommandLoop), "commands")) CommandLoop();
    } else {
        loop = idle_.back();
        idle_.pop_back();
    }
    loop->pass = pass;
    loop->number = number;
    loop->num_chunks = num_chunks;
    loop->opened = num_opened_++;
    loop->chunks.reserve(num_chunks);
    while (loop->chunks.size() < num_chunks) loop->chunks.emplace_back(*this);
    for_each_chunk({&loop, 1}, [](CommandRecorder& chunk) { chunk.open(); });
    open_.push_back(loop);
    return *loop;
}

/// Keeps the memory of a loop for another. Requires: its chunks are cleared.
void CommandLog::recycle(CommandLoop* loop) {
    for_each_chunk({&loop, 1}, [&](CommandRecorder& chunk) {
        for (const CommandBlock& block : chunk.blocks()) give_back(block);
        chunk.blocks().clear();
    });
    idle_.push_back(loop);
}

void CommandLog::give_back(const CommandBlock& block) {
    if (block.num_bytes != kCommandBlockBytes[0] && block.num_bytes != kCommandBlockBytes[1])
        return release_memory(block.data, block.num_bytes, "commands");
    FreeBlocks& free = free_[block.num_bytes == kCommandBlockBytes[1]];
    free.blocks.push_back(block.data);
    ++free.num_used;
}

void CommandLog::apply(SettleCounts* counts) {
    EntityBits epoch = 0, num_pending = 0;
    {
        const std::lock_guard lock(mutex_);
        SHOAL_ASSERT(settling_.empty(), "a destruction callback settled the database that settles; settle it later");
        settling_.swap(open_);
        num_pending = std::exchange(num_pending_, 0);
        epoch = std::exchange(epoch_, epoch_ + (num_pending != 0));
        num_outer_loops_ = 0;
    }
    // Commands of destruction callbacks wait for the next settle.
    if (!settling_.empty()) {
        std::sort(settling_.begin(), settling_.end(), [](const CommandLoop* a, const CommandLoop* b) {
            return std::tie(a->pass, a->number, a->opened) < std::tie(b->pass, b->number, b->opened);
        });
        chunks_.clear();
        for_each_chunk(settling_, [&](CommandRecorder& chunk) {
            chunk.close();
            chunks_.push_back(&chunk);
        });
        const SettleCounts settled = settler_.settle(chunks_, epoch, num_pending);
        if (counts != nullptr) *counts += settled;
    }
    // The destructors of values may do what callbacks may, so the mutex is not held.
    for_each_chunk(settling_, [](CommandRecorder& chunk) { chunk.clear(); });
    const std::lock_guard lock(mutex_);
    for (CommandLoop* loop : settling_) recycle(loop);
    settling_.clear();
    trim();
}

/// Gives memory back that the recent settles did not need.
void CommandLog::trim() {
    for (FreeBlocks& free : free_) {
        free.num_kept = decaying_peak(std::exchange(free.num_used, 0), free.num_kept);
        for (; free.blocks.size() > free.num_kept; free.blocks.pop_back())
            release_memory(free.blocks.back(), kCommandBlockBytes[&free - free_], "commands");
    }
    settler_.trim();
}

std::uint64_t CommandLog::count_pins(ResourceId resource) {
    std::uint64_t num_pins = 0;
    const auto count = [&](CommandRecorder& chunk) {
        for (const detail::CommandRun& run : chunk.runs())
            for (const detail::CommandPart& part : run.list->parts)
                if (part.offset != 0)
                    num_pins += count_pins_in(
                        run, part, part.schema == nullptr ? database_.schema(part.component) : part.schema(), resource);
    };
    const std::lock_guard lock(mutex_);
    for_each_chunk(settling_, count);
    for_each_chunk(open_, count);
    return num_pins;
}

CommandBlock CommandLog::take_memory(std::size_t num_bytes, bool large) {
    const bool size_index = large || num_bytes > kCommandBlockBytes[0];
    const std::lock_guard lock(mutex_);
    if (Array<std::byte*>& blocks = free_[size_index].blocks;
        num_bytes <= kCommandBlockBytes[size_index] && !blocks.empty()) {
        std::byte* const block = blocks.back();
        blocks.pop_back();
        return {block, kCommandBlockBytes[size_index]};
    }
    const std::size_t size = std::max(num_bytes, kCommandBlockBytes[size_index]);
    return {static_cast<std::byte*>(allocate_memory(size, "commands")), size};
}

EntityBits CommandLog::take_pending_block() {
    const EntityBits first = __atomic_fetch_add(&num_pending_, CommandRecorder::kPendingBlock, __ATOMIC_RELAXED);
    SHOAL_ASSERT(first >> kPendingNumberBits == 0, "commands ask for more entities than there can be");
    return kPendingBit | (epoch_ & kPendingEpochMask) << kPendingNumberBits | first;
}

CommandLog& CommandLog::of(Database& database) {
    DeferredChanges* const known = database.deferred_changes();
    if (SHOAL_LIKELY(known != nullptr)) return static_cast<CommandLog&>(*known);
    auto* const made = ::new (allocate_memory(sizeof(CommandLog), "commands")) CommandLog(database);
    DeferredChanges& kept = database.set_deferred_changes(*made);
    if (&kept != made) made->release();  // another thread was first
    return static_cast<CommandLog&>(kept);
}

void CommandLog::release() {
    this->~CommandLog();
    release_memory(this, sizeof(CommandLog), "commands");
}

Commands& Database::commands() { return CommandLog::of(*this).here(directory_.is_held()); }

Commands* detail::open_commands(Database& database, std::uint32_t num_chunks) {
    return CommandLog::of(database).open(num_chunks);
}

}  // namespace shoal
