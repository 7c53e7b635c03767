#pragma once
// A match between two peers in this process. Each has its own world, socket and simulated network. They communicate
// only by datagrams, as two machines would.
//
// Without a clock (`fast`), the peers take turns on one thread, so a run depends almost only on its seed. With a clock,
// each peer has its own thread and ticks 60 times a second.
// Thread: one thread at a time for each match.

#include "peer.h"

#include <atomic>
#include <memory>

namespace duel {

struct MatchOptions {
    ArenaOptions arena;
    LinkOptions link;
    std::uint64_t num_frames = 600;
    std::uint64_t join_frame = 0;  ///< the second peer starts at this frame; 0: both start together
    bool fast = false;
};

class Match {
public:
    explicit Match(const MatchOptions& options) : options_(options) {}

    /// Opens the sockets and creates both worlds. Errors: no socket is available; out of memory.
    shoal::Status begin();
    /// Plays until both sides are done. Errors: a peer fails; there is no progress for 20 simulated seconds; the worlds
    /// differ. In the last case, the message names the difference, and both worlds are rewound to the end of the first
    /// frame in which they differ.
    shoal::Status run();
    /// Compares the worlds. Errors: they are not equal. If the difference is known, the message names it.
    shoal::Status check_equal() const;

    Peer& peer(std::size_t side) { return *peers_[side]; }
    const Peer& peer(std::size_t side) const { return *peers_[side]; }
    const MatchOptions& options() const { return options_; }
    Socket& socket(std::size_t side) { return sockets_[side]; }

private:
    struct Stuck {
        std::uint64_t progress = 0, num_ticks = 0;
    };

    shoal::Status tick(std::size_t side, std::uint64_t number, Stuck& stuck);
    shoal::Status run_fast();
    shoal::Status run_paced();
    void run_paced(std::size_t side);
    shoal::Status name_difference();

    MatchOptions options_;
    Socket sockets_[2];
    std::unique_ptr<Peer> peers_[2];
    std::atomic<int> num_done_{0};
    std::atomic<bool> ends_{false};
    shoal::Status statuses_[2];
};

}  // namespace duel
