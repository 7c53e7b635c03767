#pragma once
// Predicts the traffic of the ranks of a cluster in a frame, from the division of the zones and a recorded run on one
// rank.
//
//     run on one rank  --record-->  by zone and frame: blocks written; by frame: moves to other zones
//     division         --count-->   by rank: messages, bytes of halos
//
// In a frame, a rank exchanges commands, changed rows, a list of blocks and the blocks with each rank that has zones
// within its reach (a peer). It sends entities that cross to their new ranks, and the names of dead entities to all
// ranks.

#include "cluster/zone_division.h"

#include <cstdint>
#include <span>
#include <vector>

namespace shoal_bench {

/// The writes and moves of a frame. Shape: by zone.
struct FrameTrace {
    struct Move {
        shoal::Zone from, to;
        std::uint32_t num_entities;
    };
    std::vector<std::uint64_t> halo_bytes;  ///< written blocks of columns that are read in halos
    std::vector<std::uint64_t> all_bytes;   ///< all blocks of these columns
    std::vector<Move> moves;
};

struct RankTraffic {
    std::uint64_t num_messages = 0, halo_bytes = 0, num_crossed = 0;
    /// Halo bytes if all zones that entities of other ranks entered are sent twice: see check_traffic.cpp.
    std::uint64_t most_halo_bytes = 0;
};

/// The zones that each rank copies from other ranks.
class Borders {
public:
    /// Shape: owners: by zone.
    Borders(const shoal::cluster::ZoneDivision& division, std::span<const std::uint32_t> owners,
            std::uint32_t num_ranks);

    /// Messages of the collectives about deaths: one for sizes, and one for names.
    static constexpr std::uint64_t kMessagesToAll = 2;

    /// Returns the traffic of each rank in a frame, including these messages.
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
