#pragma once
// The pending commands of a directory of stores, grouped by loop, with a recorder for each chunk.
//
//     open_     [ pass 2, loop 1: chunk 0, 1, 2 | pass 1, loop 0: chunk 0 | ... ]     as they were opened
//     idle_     loops of earlier frames, with the memory of their lists
//     blocks_   memory that the chunks take and give back
//
// Thread: open(), here(), take_memory() and take_pending_block() from any thread; all other calls between passes.

#include "command/command_settler.h"
#include "command/log_blocks.h"
#include "command/made_list.h"
#include "shoal/command/commands.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/waiting_commands.h"

#include <mutex>

namespace shoal {

/// The commands of a loop over rows, or the commands that a pass itself records before its first loop.
struct CommandLoop {
    WorkPosition place;
    std::uint32_t num_chunks;
    std::uint64_t opened;                                      // the number of loops opened before this one
    Array<detail::CommandRecorder> chunks{Owner("commands")};  // only the first num_chunks are in use
    bool is_passed = false;                                    // for the commands of give_command()
    bool is_of_pass = false;                                   // for a pass itself, which records through `commands`
    Commands commands;
};

class CommandLog final : public WaitingCommands {
public:
    /// Returns the log of a directory. The first call makes it.
    static CommandLog& of(ComponentDirectory& directory);
    ComponentDirectory& directory() { return directory_; }

    explicit CommandLog(ComponentDirectory& directory) : directory_(directory), settler_(*this) {}
    ~CommandLog();

    /// Returns the commands of the pass that the calling thread is running.
    Commands& here() override;
    detail::CommandRecorder* open(const WorkPosition& loop, std::uint32_t num_chunks);
    /// Returns the recorder for commands that another directory passes on, to be carried out after the commands of a
    /// pass.
    detail::CommandRecorder& open_for_passed(std::uint32_t pass);
    /// Calls visit(loop, chunk) for all chunks with pending commands, in order.
    template <class Visit>
    void visit_chunks(Visit&& visit) {
        sort(open_);
        for (CommandLoop* loop : open_)
            for_each_chunk({&loop, 1}, [&](detail::CommandRecorder& chunk) { visit(*loop, chunk); });
        for (CommandLoop* loop : open_)
            if (loop->is_of_pass) loop->commands.take_up(loop->chunks.front());
    }
    void apply(SettleCounts* counts) override;
    /// See passed_commands.h.
    void resolve_when_created(std::span<Entity> pending) { awaited_ = pending; }
    bool is_applying() const override { return !settling_.empty(); }
    std::uint64_t count_pins(ResourceId resource) override;
    void visit_arrays(bool (*visit)(void* context, FieldType element_type, BlobArrayBase& array),
                      void* context) override;
    void visit_values(void (*visit)(void* context, std::span<const std::byte>), void* context) override;
    void save(SnapshotWriter& to) override;
    Status load(SnapshotReader& from, std::span<const Schema> saved) override;
    void list_schemas(Array<const Schema*>& schemas) override;
    void count(void (*visit)(void* context, std::uint32_t pass, std::string_view kind, std::uint64_t count),
               void* context) override;
    void discard() override;

    detail::LogBlock take_memory(std::size_t num_bytes, bool large);
    EntityBits take_pending_block();
    /// Whether loaded commands are pending. Thread: any, but not while the log changes.
    bool has_loaded_lists() const { return !loaded_lists_.empty(); }

private:
    /// After this number of calls without commands, there is no memory left to release.
    static constexpr std::uint32_t kMostIdle = 512;

    friend class CommandLoader;
    CommandLoop& open_locked(const WorkPosition& place, std::uint32_t num_chunks);
    void recycle(CommandLoop* loop);
    static void sort(std::span<CommandLoop*> loops);
    void unify_lists(std::span<CommandLoop* const> loops);
    void forget_loaded();
    template <class Visit>
    void visit_arrays_of(const detail::CommandBatch& run, Visit&& visit);
    template <class Visit>
    static void for_each_chunk(std::span<CommandLoop* const> loops, Visit&& visit) {
        for (CommandLoop* loop : loops) {
            if (loop->is_of_pass) loop->commands.release();
            for (detail::CommandRecorder& chunk : std::span(loop->chunks).first(loop->num_chunks)) visit(chunk);
        }
    }

    ComponentDirectory& directory_;
    std::mutex mutex_;  // guards all members below
    Array<CommandLoop*> open_{Owner("commands")};
    Array<CommandLoop*> idle_{Owner("commands")};
    LogBlocks blocks_{"commands"};
    std::uint64_t num_opened_ = 0;
    std::uint32_t num_idle_ = kMostIdle;  // calls to apply() since a recorder was last opened; up to kMostIdle
    EntityBits epoch_ = 0, num_pending_ = 0;
    Array<detail::MadeList*> loaded_lists_{Owner("commands")};
    Array<Schema*> loaded_schemas_{Owner("commands")};  // the schemas that loaded_lists_ point to
    Array<CommandLoop*> settling_{Owner("commands")};
    Array<detail::CommandRecorder*> chunks_{Owner("commands")};  // the chunks of settling_, in the order of execution
    CommandSettler settler_;
    std::span<Entity> awaited_;  // pending entities, to be replaced in the next settle
};

}  // namespace shoal
