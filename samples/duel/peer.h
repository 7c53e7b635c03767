#pragma once
// One of the two players' machines: a world, a socket, and the rules that keep both worlds equal.
//
//     frame       ... 40      41      42      43      44      45
//     my input        known   known   known   known   known   now
//     theirs          known   known   known   guess   guess   guess       a guess repeats the last known input
//                                     |confirmed
//                                             |<- at most 8 frames ->|
//
// If an input arrives that differs from the guess, the world is rewound to the beginning of that frame, and all later
// frames are replayed. The state at the end of a confirmed frame can no longer change. The peers exchange and compare
// the hashes of these states.
//
// Everything is resent until the other side has confirmed it, so datagrams may be lost, delayed, reordered or
// duplicated.
//
// Joining. A waiting peer plays alone, with the default input for the other peer. When another peer asks to join, the
// waiting peer saves its world, sends the save in chunks, and continues to play. When all chunks have been received,
// the waiting peer chooses the first frame for which the other peer has inputs:
//
//     waits       | plays on ................ | sends: from 112 on | ... 8 frames at most without inputs ...
//     joins       wants a snapshot .. loads 75 .................. plays 75 to 111 again, then its own inputs
//
// Thread: one thread at a time for each peer. Peers share no data.

#include "arena.h"
#include "datagram.h"
#include "link.h"
#include "snapshot.h"

#include <shoal/save/frames.h>

#include <optional>
#include <vector>

namespace duel {

/// How many frames may be played on guessed inputs.
inline constexpr std::uint64_t kMaxAhead = 8;
/// How many frames are kept. A rollback needs fewer, but frames whose hashes differ must still be available.
inline constexpr std::uint32_t kKeptFrames = 64;

struct PeerOptions {
    ArenaOptions arena;
    LinkOptions link;
    std::uint64_t num_frames = 600;  ///< length of the match, below 2^31
    std::uint32_t side = 0;          ///< 0: the red fleet; 1: the blue fleet
    bool waits = false;              ///< if true, plays alone until the other peer joins
    bool joins = false;              ///< if true, begins with a snapshot of the other peer's world
};

/// The counts and durations that a peer reports after a run.
struct PeerCounts {
    std::vector<double> tick_ms;  ///< duration of each tick: receiving, replaying, playing and sending
    std::uint64_t num_steps = 0, num_rollbacks = 0, num_replayed = 0, deepest = 0;
    double rewind_ms = 0, rollback_ms = 0, worst_rollback_ms = 0;  ///< a rollback rewinds and replays
    std::uint64_t num_stalls = 0;                                  ///< ticks without a frame, for lack of inputs
    std::uint64_t num_received = 0, num_refused = 0;
    std::string refused;  ///< why the last datagram was refused
    std::uint64_t snapshot_frame = 0, snapshot_bytes = 0, joins_at = 0;
};

/// The first frame in which the hashes differ.
struct HashDifference {
    std::uint64_t frame = 0, mine = 0, theirs = 0;
};

class Peer {
public:
    /// Lifetime: `socket` must outlive the peer.
    Peer(const PeerOptions& options, Socket& socket, std::uint16_t other_port);

    /// Spawns the ships, unless this peer joins a match. Errors: out of memory.
    shoal::Status begin();
    /// Receives, rolls back if necessary, plays frames if enough inputs are known, and sends.
    /// Errors: the socket fails; a snapshot cannot be loaded or saved.
    shoal::Status tick();
    /// Handles a received datagram, as tick() does. Returns whether the datagram came from the other side.
    bool take(std::span<const std::byte> bytes);

    /// Returns whether the match is over, all inputs are confirmed and all hashes are compared, on both sides.
    bool is_done() const;
    /// Returns a number that increases while the match makes progress.
    std::uint64_t progress() const;
    const std::optional<HashDifference>& difference() const { return difference_; }

    Arena& arena() { return arena_; }
    const Arena& arena() const { return arena_; }
    /// The last frames of the peer's world.
    shoal::Frames& frames() { return frames_; }
    const PeerCounts& counts() const { return counts_; }
    const LinkCounts& link_counts() const { return link_.counts(); }
    std::uint64_t key() const { return key_; }

private:
    std::uint64_t frame() const { return arena_.world.frame(); }
    std::uint64_t num_confirmed() const { return std::min<std::uint64_t>(theirs_.size(), frame()); }
    bool is_alone() const { return options_.waits && joins_at_ == kNoFrame; }

    shoal::Status receive();
    void take(const InputsDatagram& datagram);
    void take(const WantDatagram& datagram);
    void take(const ChunkDatagram& datagram);
    void refuse(std::string_view why);
    void begin_history(std::uint64_t frame);

    shoal::Status load_snapshot();
    shoal::Status save_snapshot();
    shoal::Status roll_back();
    bool may_step() const;
    void advance();
    void step();
    void compare_hashes();
    void send();
    void send(std::variant<InputsDatagram, WantDatagram, ChunkDatagram> body);

    PeerOptions options_;
    Arena arena_;
    shoal::Frames frames_{arena_.world, 0};
    Socket& socket_;
    std::uint16_t other_port_;
    Link link_;
    std::uint64_t key_;
    std::uint64_t now_ = 0;  // number of ticks
    bool has_world_ = false;

    std::vector<Input> mine_, theirs_, guessed_;     // by frame; guessed_ has the guesses that were played
    std::uint64_t replay_from_ = ~std::uint64_t(0);  // first frame that was played on a wrong guess
    std::uint64_t num_mine_known_ = 0;               // the other side has my inputs for all frames before this one

    std::vector<std::uint64_t> my_hashes_, their_hashes_;  // hash at the end of each frame; [0] is unused
    std::uint64_t num_my_hashes_known_ = 1, next_compared_ = 1;
    std::optional<HashDifference> difference_;

    std::uint32_t joins_at_ = kNoFrame;
    bool is_wanted_ = false;  // whether the other side requested a snapshot
    std::optional<SnapshotSender> sender_;
    SnapshotReceiver receiver_;
    PeerCounts counts_;
};

}  // namespace duel
