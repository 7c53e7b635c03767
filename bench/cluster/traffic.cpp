#include "traffic.h"

#include <algorithm>

namespace shoal_bench {

using namespace shoal;

Borders::Borders(const cluster::ZoneDivision& division, std::span<const std::uint32_t> owners, std::uint32_t num_ranks)
    : owners_(owners), num_ranks_(num_ranks), peers_(num_ranks) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> neighbours;
    for (Zone zone = 0; zone < owners.size(); ++zone) {
        const std::uint32_t rank = owners[zone];
        division.for_each_near(division.first() + zone, [&](Zone near) {
            const std::uint32_t other = owners[near - division.first()];
            if (other == rank) return;
            copied_.push_back({other, rank, near - division.first()});
        });
    }
    std::ranges::sort(copied_);
    copied_.erase(std::ranges::unique(copied_).begin(), copied_.end());
    for (const Pair& pair : copied_) {
        if (neighbours.empty() || neighbours.back() != std::pair(pair.owner, pair.peer))
            neighbours.emplace_back(pair.owner, pair.peer);
    }
    for (const auto& [owner, peer] : neighbours) peers_[owner].push_back(peer), peers_[peer].push_back(owner);
    for (std::vector<std::uint32_t>& peers : peers_) {
        std::ranges::sort(peers);
        peers.erase(std::ranges::unique(peers).begin(), peers.end());
    }
}

std::vector<RankTraffic> Borders::count(const FrameTrace& frame) const {
    constexpr std::uint64_t kMessagesToPeer = 3;  // commands, changed rows, list of blocks
    std::vector<RankTraffic> ranks(num_ranks_);
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
        ranks[rank].num_messages = peers_[rank].size() * kMessagesToPeer + (num_ranks_ > 1 ? kMessagesToAll : 0);
    }
    std::vector<bool> is_entered(owners_.size());  // by entities of another rank
    std::vector<std::pair<std::uint32_t, std::uint32_t>> crossings;
    for (const FrameTrace::Move& move : frame.moves) {
        const std::uint32_t from = owners_[move.from], to = owners_[move.to];
        if (from == to) continue;
        ranks[from].num_crossed += move.num_entities;
        crossings.emplace_back(from, to);
        is_entered[move.to] = true;
    }
    for (auto pair = copied_.begin(); pair != copied_.end();) {
        const auto [owner, peer, zone] = *pair;
        std::uint64_t bytes = 0, again = 0;
        for (; pair != copied_.end() && pair->owner == owner && pair->peer == peer; ++pair)
            bytes += frame.halo_bytes[pair->zone], again += is_entered[pair->zone] ? frame.all_bytes[pair->zone] : 0;
        ranks[owner].halo_bytes += bytes, ranks[owner].most_halo_bytes += bytes + again;
        if (bytes != 0) ++ranks[owner].num_messages;  // the blocks
    }
    std::ranges::sort(crossings);
    crossings.erase(std::ranges::unique(crossings).begin(), crossings.end());
    for (const auto& [from, to] : crossings) ++ranks[from].num_messages;
    return ranks;
}

}  // namespace shoal_bench
