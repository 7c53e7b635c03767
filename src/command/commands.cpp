// What a chunk asks for, on its way into the log.

#include "shoal/command/commands.h"

#include "command/command_log.h"
#include "command/command_settler.h"

#include <algorithm>
#include <tuple>

namespace shoal {
namespace {

// The first block of a chunk is small: most chunks ask for little.
constexpr std::size_t kBlockBytes[] = {std::size_t(4) << 10, std::size_t(32) << 10};
constexpr std::size_t kMostRunBytes = kBlockBytes[1] - kCacheLineBytes;
constexpr std::uint32_t kFirstRows = 8;  // of the first run of a list in a chunk

thread_local PassScope* current_scope = nullptr;

std::byte* aligned(std::byte* address, std::size_t alignment) {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    return address + (round_up(value, alignment) - value);
}

}  // namespace

/// A list that no C++ types name.
struct Commands::MadeList {
    detail::CommandList list;
    Array<detail::CommandPart> parts{Owner("commands")};
};

// --- writing -----------------------------------------------------------------------------------------------------

Commands::~Commands() {
    for (MadeList* made : made_) {
        made->~MadeList();
        release_memory(made, sizeof(MadeList), "commands");
    }
}

Commands::Stream& Commands::add_stream(const detail::CommandList& list) {
    streams_.push_back({&list});
    return streams_.back();
}

void Commands::begin_run(Stream& stream) {
    SHOAL_ASSERT(is_open_, "commands were kept beyond a settle; ask for them anew");
    const std::uint32_t row_bytes = stream.list->row_bytes;
    const auto most_rows = static_cast<std::uint32_t>(std::max<std::size_t>(1, kMostRunBytes / row_bytes));
    if (stream.num_rows != 0) runs_[stream.run].end = stream.cursor;
    stream.num_rows = stream.num_rows == 0 ? kFirstRows : std::min(stream.num_rows * 4, most_rows);
    stream.num_rows = std::min(stream.num_rows, most_rows);
    stream.cursor = take_memory(std::size_t(stream.num_rows) * row_bytes, stream.list->alignment);
    stream.room_end = stream.cursor + std::size_t(stream.num_rows) * row_bytes;
    stream.run = static_cast<std::uint32_t>(runs_.size());
    runs_.push_back({stream.list, stream.cursor, stream.cursor});
}

/// Notes where the last run of each list ends, and takes no more rows.
void Commands::close_runs() {
    is_open_ = false;
    if (destroyed_.num_rows != 0) runs_[destroyed_.run].end = destroyed_.room_end = destroyed_.cursor;
    for (Stream& stream : streams_) runs_[stream.run].end = stream.room_end = stream.cursor;
}

std::byte* Commands::take_memory(std::size_t num_bytes, std::size_t alignment) {
    std::byte* result = aligned(free_begin_, alignment);
    if (free_begin_ == nullptr || num_bytes + alignment > static_cast<std::size_t>(free_end_ - free_begin_)) {
        blocks_.push_back(log_->take_memory(num_bytes + alignment, !blocks_.empty()));
        free_end_ = blocks_.back().data + blocks_.back().num_bytes;
        result = aligned(blocks_.back().data, alignment);
    }
    free_begin_ = result + num_bytes;
    return result;
}

void Commands::take_pending_block() {
    next_pending_ = log_->take_pending_block();
    pending_blocks_.push_back(next_pending_);
}

/// Ends the values of all rows and forgets them; the blocks stay.
void Commands::forget() {
    close_runs();
    for (const Run& run : runs_)
        for (const detail::CommandPart& part : std::span(run.list->parts, run.list->num_parts))
            for (std::byte* row = run.begin; part.destroy != nullptr && part.offset != 0 && row != run.end;
                 row += run.list->row_bytes)
                part.destroy(row + part.offset);
    destroyed_ = {&detail::kDestroyList};
    streams_.clear();
    runs_.clear();
    pending_blocks_.clear();
    next_pending_ = 0;
    num_ordered_ = 0;
    free_begin_ = free_end_ = nullptr;
}

// --- component types that are known at run time only -------------------------------------------------------------

/// Returns the list of commands with these component types, of which `values` says which bring a value.
const detail::CommandList& Commands::made_list(detail::CommandKind kind, std::span<const ComponentType> components,
                                               std::span<const ComponentValues> values) {
    Array<detail::CommandPart> parts("commands");
    std::size_t end = sizeof(detail::CommandRow), alignment = alignof(detail::CommandRow);
    for (const ComponentType component : components) {
        SHOAL_ASSERT(component.number < log_->database().schemas().size(),
                     "the component type is not registered in this database");
        detail::CommandPart part{.component = component};
        const auto given = std::find_if(values.begin(), values.end(),
                                        [&](const ComponentValues& value) { return value.component == component; });
        if (given != values.end() && given->has_values()) {
            SHOAL_ASSERT(given->write == nullptr, "a command brings values that are bytes; name the C++ type instead");
            const Schema& schema = log_->database().schema(component);
            end = round_up(end, schema.struct_alignment());
            part.offset = static_cast<std::uint32_t>(end);
            end += schema.struct_bytes();
            alignment = std::max<std::size_t>(alignment, schema.struct_alignment());
        }
        parts.push_back(part);
    }
    for (const MadeList* made : made_)
        if (made->list.kind == kind && std::equal(parts.begin(), parts.end(), made->parts.begin(), made->parts.end(),
                                                  [](const detail::CommandPart& a, const detail::CommandPart& b) {
                                                      return a.component == b.component && a.offset == b.offset;
                                                  }))
            return made->list;
    auto* made = ::new (allocate_memory(sizeof(MadeList), "commands")) MadeList();
    made->parts = std::move(parts);
    made->list = {kind, static_cast<std::uint32_t>(round_up(end, alignment)), static_cast<std::uint32_t>(alignment),
                  made->parts.data(), static_cast<std::uint32_t>(made->parts.size())};
    made_.push_back(made);
    return made->list;
}

void Commands::write_values(const detail::CommandList& list, Entity entity, std::uint32_t number,
                            std::span<const ComponentValues> values) {
    std::byte* const to = row(list, entity, number);
    for (std::uint32_t i = 0; i < list.num_parts; ++i) {
        const detail::CommandPart& part = list.parts[i];
        if (part.offset == 0) continue;
        const Schema& schema = log_->database().schema(part.component);
        const auto given = std::find_if(values.begin(), values.end(), [&](const ComponentValues& value) {
            return value.component == part.component;
        });
        if (given->images != nullptr) {
            std::memcpy(to + part.offset, given->images, schema.struct_bytes());
            continue;
        }
        std::memcpy(to + part.offset, schema.default_image().data(), schema.struct_bytes());
        for (std::size_t c = 0; c < schema.columns().size(); ++c)
            std::memcpy(to + part.offset + schema.columns()[c].struct_offset, given->columns[c],
                        schema.columns()[c].element_bytes);
    }
}

Entity Commands::create(const Archetype& type, Zone zone, std::span<const ComponentValues> values) {
    SHOAL_ASSERT(zone < kMaxZones, "zones are 0 to kMaxZones - 1");
    for (const ComponentValues& given : values)
        SHOAL_ASSERT(type.has(given.component), "values were given for a component type that the archetype lacks");
    const Entity entity = take_pending();
    write_values(made_list(detail::CommandKind::kCreate, type.components(), values), entity, zone, values);
    return entity;
}

void Commands::add(Entity entity, std::span<const ComponentValues> values) {
    Array<ComponentType> components("commands");
    for (const ComponentValues& given : values) components.push_back(given.component);
    write_values(made_list(detail::CommandKind::kAdd, components, values), entity, ++num_ordered_, values);
}

void Commands::remove(Entity entity, std::span<const ComponentType> components) {
    row(made_list(detail::CommandKind::kRemove, components, {}), entity, ++num_ordered_);
}

// --- the log -----------------------------------------------------------------------------------------------------

PassScope::PassScope(std::uint32_t pass) : pass_(pass), outer_(std::exchange(current_scope, this)) {}
PassScope::~PassScope() { current_scope = outer_; }

detail::LoopScope::LoopScope() : pass_(std::exchange(current_scope, nullptr)) {}
detail::LoopScope::~LoopScope() { current_scope = pass_; }

CommandLog::~CommandLog() {
    for (CommandLoop* loop : open_) recycle(loop);
    for (CommandLoop* loop : idle_) {
        loop->~CommandLoop();
        release_memory(loop, sizeof(CommandLoop), "commands");
    }
    for (FreeBlocks& free : free_)
        for (std::byte* block : free.blocks) release_memory(block, kBlockBytes[&free - free_], "commands");
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
    for (Commands& commands : std::span(loop->chunks).first(num_chunks)) commands.is_open_ = true;
    open_.push_back(loop);
    return *loop;
}

/// Forgets what a loop has asked for and keeps its memory for another.
void CommandLog::recycle(CommandLoop* loop) {
    for (Commands& commands : std::span(loop->chunks).first(loop->num_chunks)) {
        commands.forget();
        for (const detail::CommandBlock& block : commands.blocks_)
            if (block.num_bytes == kBlockBytes[0] || block.num_bytes == kBlockBytes[1]) {
                FreeBlocks& free = free_[block.num_bytes == kBlockBytes[1]];
                free.blocks.push_back(block.data);
                ++free.num_used;
            } else {
                release_memory(block.data, block.num_bytes, "commands");
            }
        commands.blocks_.clear();
    }
    idle_.push_back(loop);
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
    // What destruction callbacks ask for waits for the next settle.
    std::sort(settling_.begin(), settling_.end(), [](const CommandLoop* a, const CommandLoop* b) {
        return std::tie(a->pass, a->number, a->opened) < std::tie(b->pass, b->number, b->opened);
    });
    if (!settling_.empty()) {
        CommandSettler settler(database_, scratch_, settling_, epoch, num_pending);
        settler.run();
        if (counts != nullptr) *counts += settler.counts();
    }
    const std::lock_guard lock(mutex_);
    for (CommandLoop* loop : settling_) recycle(loop);
    settling_.clear();
    trim();
}

/// Gives memory back that the settles of late did not need.
void CommandLog::trim() {
    const auto kept_of = [](auto used, auto kept) { return std::max<decltype(kept)>(used, kept - (kept + 15) / 16); };
    for (FreeBlocks& free : free_) {
        free.num_kept = kept_of(std::exchange(free.num_used, 0), free.num_kept);
        for (; free.blocks.size() > free.num_kept; free.blocks.pop_back())
            release_memory(free.blocks.back(), kBlockBytes[&free - free_], "commands");
    }
    num_kept_rows_ = kept_of(std::exchange(scratch_.num_rows, 0), num_kept_rows_);
    const std::size_t capacity = std::max({scratch_.entities.capacity(), scratch_.made.capacity(),
                                           scratch_.moves.capacity(), scratch_.contended.capacity()});
    if (capacity / 8 > num_kept_rows_ + 4096) scratch_ = CommandScratch();
}

detail::CommandBlock CommandLog::take_memory(std::size_t num_bytes, bool large) {
    const bool kind = large || num_bytes > kBlockBytes[0];
    const std::lock_guard lock(mutex_);
    if (Array<std::byte*>& blocks = free_[kind].blocks; num_bytes <= kBlockBytes[kind] && !blocks.empty()) {
        std::byte* const block = blocks.back();
        blocks.pop_back();
        return {block, kBlockBytes[kind]};
    }
    const std::size_t size = std::max(num_bytes, kBlockBytes[kind]);
    return {static_cast<std::byte*>(allocate_memory(size, "commands")), size};
}

EntityBits CommandLog::take_pending_block() {
    const EntityBits first = __atomic_fetch_add(&num_pending_, Commands::kPendingBlock, __ATOMIC_RELAXED);
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
