#pragma once
// Counts what the ranks of a cluster send in a frame, from the division of the zones and a recorded run on one rank. No
// other rank has to run for it.
//
//     run on one rank  --record-->  by zone and frame: blocks written; by frame: moves to other zones
//     division         --count-->   by rank: messages, bytes of halos
//
// In a frame, a rank exchanges: with each rank that has zones within its reach (a peer), commands, which rows have
// changed, which blocks follow, and the blocks; with ranks to which entities went, these entities; and with all ranks,
// which entities died.

#include "cluster/zone_division.h"

#include <cstdint>
#include <span>
#include <vector>

namespace shoal_bench {

/// What happened in a frame. Shape: by zone.
struct FrameTrace {
    struct Move {
        shoal::Zone from, to;
        std::uint32_t num_entities;
    };
    std::vector<std::uint64_t> halo_bytes;  ///< of written blocks, in columns that are read in halos
    std::vector<std::uint64_t> all_bytes;   ///< of all blocks in these columns
    std::vector<Move> moves;
};

struct RankTraffic {
    std::uint64_t num_messages = 0, halo_bytes = 0, num_crossed = 0;
    /// Halo bytes if zones that entities of other ranks entered are sent again, whole: see check_traffic.cpp.
    std::uint64_t most_halo_bytes = 0;
};

/// Which zones each rank needs from which other ranks.
class Borders {
public:
    /// Shape: owners: by zone.
    Borders(const shoal::cluster::ZoneDivision& division, std::span<const std::uint32_t> owners,
            std::uint32_t num_ranks);

    /// Messages of the collectives in which all ranks tell who has died: how many did, and which.
    static constexpr std::uint64_t kMessagesToAll = 2;

    /// Returns what each rank sends in a frame, with those messages.
    std::vector<RankTraffic> count(const FrameTrace& frame) const;

private:
    struct Pair {
        std::uint32_t owner, peer;
        shoal::Zone zone;

        friend auto operator<=>(const Pair&, const Pair&) = default;
    };

    std::span<const std::uint32_t> owners_;
    std::uint32_t num_ranks_;
    std::vector<Pair> copied_;                       // ascending
    std::vector<std::vector<std::uint32_t>> peers_;  // by rank
};

}  // namespace shoal_bench
