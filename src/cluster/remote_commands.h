#pragma once
// Forwards commands on entities that other ranks own. They are removed from the queue, sent to the owner, and carried
// out there in the same settle, after the owner's own commands of the same pass.
//
//     rank 0   pass "hunt": destroy(e7)   e7 is a copy of 12:7   --names-->   rank 1   destroy(e31), which is 12:7
//
// Thread: the structural thread of the world.

#include "cluster/entity_names.h"
#include "cluster/message.h"
#include "shoal/base/status.h"
#include "shoal/command/detail/passed_commands.h"
#include "shoal/world/world.h"

#include <map>

namespace shoal::cluster {

class RemoteCommands {
public:
    RemoteCommands(World& world, EntityNames& names, std::uint32_t rank) : world_(world), names_(names), rank_(rank) {}

    /// Removes commands on entities of other ranks from the queue, and returns a message for each owner.
    /// rank_of(entity) returns the owner of a copy.
    template <class RankOf>
    std::map<std::uint32_t, MessageWriter> take(RankOf&& rank_of) {
        rank_of_ = [](const void* context, Entity entity) {
            return (*static_cast<const std::remove_reference_t<RankOf>*>(context))(entity);
        };
        context_ = &rank_of;
        take_all();
        return std::move(messages_);
    }
    /// Adds the commands of another rank to the queue. Errors: the message is invalid. On error, some commands may have
    /// been added.
    Status give(std::span<const std::byte> message);
    /// Gives names to the entities that were pending at the last take() and to which the sent commands refer. Returns
    /// the names of entities that were not created or have died.
    std::vector<Name> name_created();

    std::uint64_t num_sent() const { return num_sent_; }

private:
    void take_all();
    void write(const PassedCommand& command);
    void write_part(const PassedPart& part, MessageWriter& to);
    Name name_of_pending(Entity pending);
    void forget_created() { created_.clear(), names_of_created_.clear(), name_of_pending_.clear(); }
    struct ReadPart;
    Status read_parts(MessageReader& from, std::uint32_t count, std::vector<ReadPart>& parts);

    World& world_;
    EntityNames& names_;
    std::uint32_t rank_;
    std::uint32_t (*rank_of_)(const void* context, Entity entity) = nullptr;
    const void* context_ = nullptr;
    std::map<std::uint32_t, MessageWriter> messages_;
    std::vector<Entity> created_;         // entities that commands refer to; pending until the commands are carried out
    std::vector<Name> names_of_created_;  // indexed as created_
    std::map<EntityBits, Name> name_of_pending_;  // by id of the pending entity
    std::uint64_t num_sent_ = 0;
    bool has_warned_of_values_ = false, has_warned_of_reach_ = false, has_warned_of_links_ = false;
};

}  // namespace shoal::cluster
