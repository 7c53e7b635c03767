#include "match.h"

#include <shoal/base/clock.h>
#include <shoal/base/text.h>
#include <shoal/save/state_difference.h>

#include <chrono>
#include <thread>

namespace duel {

using namespace shoal;

namespace {

constexpr std::uint64_t kMostIdleTicks = 1200;
constexpr const char* kHere[2] = {"in the world of the first peer", "in that of the second"};

}  // namespace

Status Match::begin() {
    for (Socket& socket : sockets_) {
        Result<Socket> opened = Socket::open();
        if (!opened) return opened.status();
        socket = std::move(*opened);
    }
    for (std::uint32_t side = 0; side < 2; ++side) {
        PeerOptions options{
            .arena = options_.arena, .link = options_.link, .num_frames = options_.num_frames, .side = side};
        if (side == 0) options.arena.sabotage_frame = 0;
        options.waits = side == 0 && options_.join_frame != 0;
        options.joins = side == 1 && options_.join_frame != 0;
        peers_[side] = std::make_unique<Peer>(options, sockets_[side], sockets_[1 - side].port());
        if (Status status = peers_[side]->begin(); !status) return status;
    }
    return {};
}

/// Ticks a peer if it has started. Errors: as for Peer::tick(); the peer has waited too long for the other one.
Status Match::tick(std::size_t side, std::uint64_t number, Stuck& stuck) {
    if (side == 1 && number < options_.join_frame) return {};
    if (Status status = peers_[side]->tick(); !status) return status;
    const std::uint64_t progress = peers_[side]->progress();
    stuck.num_ticks = progress == stuck.progress ? stuck.num_ticks + 1 : 0;
    stuck.progress = progress;
    if (stuck.num_ticks < kMostIdleTicks || peers_[side]->is_done()) return {};
    const PeerCounts& counts = peers_[side]->counts();
    return Status::error(
        concat("peer ", side, " has waited ", kMostIdleTicks, " frames for the other one in vain, at frame ",
               peers_[side]->arena().world.frame(), "; ", counts.num_received, " datagrams have come",
               counts.num_refused == 0
                   ? std::string()
                   : concat(", ", counts.num_refused, " were refused, the last one because: ", counts.refused),
               "; lose fewer with --loss"));
}

Status Match::run() {
    if (Status status = options_.fast ? run_fast() : run_paced(); !status) return status;
    if (peers_[0]->difference() || peers_[1]->difference()) return name_difference();
    return {};
}

Status Match::run_fast() {
    Stuck stuck[2];
    for (std::uint64_t number = 0; !(peers_[0]->is_done() && peers_[1]->is_done()); ++number)
        for (const std::size_t side : {0u, 1u}) {
            if (Status status = tick(side, number, stuck[side]); !status) return status;
            if (peers_[side]->difference()) return {};
        }
    return {};
}

Status Match::run_paced() {
    std::thread second([this] { run_paced(1); });
    run_paced(0);
    second.join();
    for (const Status& status : statuses_)
        if (!status) return status;
    return {};
}

void Match::run_paced(std::size_t side) {
    const std::int64_t begin_ns = monotonic_ns();
    Stuck stuck;
    bool was_done = false;
    for (std::uint64_t number = 0; !ends_ && num_done_ < 2; ++number) {
        statuses_[side] = tick(side, number, stuck);
        if (!statuses_[side] || peers_[side]->difference()) ends_ = true;
        if (!was_done && peers_[side]->is_done()) was_done = true, ++num_done_;
        const auto end_ns =
            begin_ns + static_cast<std::int64_t>(static_cast<double>(number + 1) * double(kFrameSeconds) * 1e9);
        if (const std::int64_t left_ns = end_ns - monotonic_ns(); left_ns > 0)
            std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
    }
}

/// Rewinds both worlds to the first frame in which they differ, and returns an error that describes the difference.
Status Match::name_difference() {
    const std::optional<HashDifference>& found =
        peers_[0]->difference() ? peers_[0]->difference() : peers_[1]->difference();
    std::string text = concat("the worlds differ since frame ", found->frame);
    for (const auto& peer : peers_) {
        Status status;
        if (peer->arena().world.frame() != found->frame) status = peer->frames().rewind(found->frame);
        if (!status) return Status::error(concat(text, "; what differs is not known: ", status.message()));
    }
    const StateDifference difference = find_difference(peers_[0]->arena().world, peers_[1]->arena().world);
    return Status::error(concat(text, ": ", difference.text(kHere[0], kHere[1])));
}

Status Match::check_equal() const {
    const StateDifference difference = find_difference(peers_[0]->arena().world, peers_[1]->arena().world);
    if (!difference) return {};
    return Status::error(concat("the worlds differ: ", difference.text(kHere[0], kHere[1])));
}

}  // namespace duel
