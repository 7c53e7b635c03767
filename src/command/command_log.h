#pragma once
// The commands of a database until it settles: loops, each with a log per chunk.
//
//     open_     [ pass 2, loop 1: chunk 0, 1, 2 | pass 1, loop 0: chunk 0 | ... ]     as they were opened
//     idle_     loops of earlier frames, with the memory of their lists
//     free_     memory that the logs of the chunks take and give back
//
// Thread: open(), here(), take_memory() and take_pending_block() from any thread; apply() between passes.

#include "shoal/command/commands.h"

#include <mutex>

namespace shoal {

// A pending entity: 1 in bit 30, which no living entity has there (with wide ids its generation is 0), then which
// settle it waits for, then its number.
inline constexpr EntityBits kPendingBit = EntityBits(1) << 30;
inline constexpr int kPendingNumberBits = 24;
inline constexpr EntityBits kPendingNumberMask = (EntityBits(1) << kPendingNumberBits) - 1;
inline constexpr EntityBits kPendingEpochMask = (EntityBits(1) << (30 - kPendingNumberBits)) - 1;

/// The commands of a loop over rows, or, with number 0, of a pass itself.
struct CommandLoop {
    std::uint32_t pass, number, num_chunks;
    std::uint64_t opened;                       // how many were before it
    Array<Commands> chunks{Owner("commands")};  // the first num_chunks
};

/// A command about an entity that others are about as well.
struct ContendedCommand {
    Entity entity;
    std::uint32_t chunk;
    const detail::CommandList* list;
    std::byte* row;
};

/// What settling writes down. Kept from one to the next.
struct CommandScratch {
    Array<Commands*> chunks{Owner("commands")};      // in the order that counts
    Array<std::uint32_t> owners{Owner("commands")};  // by block of pending entities: the chunk
    Array<Entity> made{Owner("commands")};           // by pending entity
    Array<Entity> entities{Owner("commands")};
    Array<const void*> values{Owner("commands")};  // of types that are more than bytes
    Array<std::byte> images{Owner("commands")};
    Array<std::uint32_t> order{Owner("commands")};
    Array<detail::CommandRow> moves{Owner("commands")};
    Array<std::uint64_t> once{Owner("commands")};   // by entity index: was it named,
    Array<std::uint64_t> twice{Owner("commands")};  // and again?
    Array<ContendedCommand> contended{Owner("commands")};
    Array<ComponentValues> given{Owner("commands")};
    Array<ComponentType> components{Owner("commands")};
    std::uint64_t num_rows = 0;  // of the commands
};

class CommandLog final : public DeferredChanges {
public:
    /// Returns the log of a database, and makes it when it is asked for the first time.
    static CommandLog& of(Database& database);
    Database& database() { return database_; }

    explicit CommandLog(Database& database) : database_(database) {}
    ~CommandLog();
    CommandLog(const CommandLog&) = delete;
    CommandLog& operator=(const CommandLog&) = delete;

    /// The commands of the pass that the calling thread runs. `is_locked`: a loop goes over the database.
    Commands& here(bool is_locked);
    Commands* open(std::uint32_t num_chunks);
    void apply(SettleCounts* counts) override;
    void release() override;

    detail::CommandBlock take_memory(std::size_t num_bytes, bool large);
    EntityBits take_pending_block();

private:
    friend class CommandSettler;

    CommandLoop& open_locked(std::uint32_t pass, std::uint32_t number, std::uint32_t num_chunks);
    void recycle(CommandLoop* loop);
    void trim();

    Database& database_;
    std::mutex mutex_;  // guards all below
    Array<CommandLoop*> open_{Owner("commands")};
    Array<CommandLoop*> idle_{Owner("commands")};
    /// Free memory of one of two sizes.
    struct FreeBlocks {
        Array<std::byte*> blocks{Owner("commands")};
        std::size_t num_used = 0;  // in the settle that goes on
        std::size_t num_kept = 0;  // that the settles of late have needed
    };
    FreeBlocks free_[2];
    std::uint32_t num_outer_loops_ = 0;
    std::uint64_t num_opened_ = 0;
    EntityBits epoch_ = 0, num_pending_ = 0;
    Array<CommandLoop*> settling_{Owner("commands")};
    CommandScratch scratch_;
    std::uint64_t num_kept_rows_ = 0;  // as FreeBlocks::num_kept, for scratch_
};

}  // namespace shoal
