#pragma once
// Sends a snapshot of a world over a network that loses and reorders datagrams. The snapshot is split into chunks. The
// receiver reports which chunks it has, and the sender resends the missing ones.
//
//     receiver   want(nothing yet)                    want(7 missing, then 1 0 1 ...)          want(all received)
//     sender                        chunks 0 to 47                             chunks 7, 9 ...
//
// Thread: one thread at a time.

#include "datagram.h"

#include <shoal/base/status.h>
#include <vector>

namespace duel {

class SnapshotSender {
public:
    /// Requires: there are 1 to kMaxSnapshotBytes bytes.
    SnapshotSender(std::uint32_t frame, std::vector<std::uint8_t> bytes);

    std::uint32_t frame() const { return frame_; }
    std::size_t num_bytes() const { return bytes_.size(); }
    bool has_arrived() const { return first_missing_ == num_chunks_of(std::uint32_t(bytes_.size())); }
    /// Records which chunks the receiver has. Ignores reports about a different snapshot.
    void note(const WantDatagram& want);
    /// Returns the chunks to send at frame `now`: chunks that are not confirmed and were not sent recently.
    std::vector<ChunkDatagram> chunks(std::uint64_t now);

private:
    std::uint32_t frame_;
    std::vector<std::uint8_t> bytes_;
    std::uint64_t hash_;
    std::uint32_t first_missing_ = 0;
    std::vector<std::uint8_t> has_come_;      // by chunk
    std::vector<std::uint64_t> sent_before_;  // by chunk: 1 + the frame in which it was last sent, or 0
};

class SnapshotReceiver {
public:
    /// Adds a chunk. Errors: the chunk is from a different snapshot than the first chunk.
    shoal::Status take(const ChunkDatagram& chunk);
    WantDatagram want() const;
    bool is_complete() const { return num_chunks_ != 0 && first_missing_ == num_chunks_; }
    std::uint32_t frame() const { return frame_; }
    /// Returns the complete snapshot. Requires: is_complete(). Errors: the hash differs from the sender's.
    shoal::Result<std::span<const std::byte>> bytes() const;

private:
    std::uint32_t frame_ = 0, num_chunks_ = 0, first_missing_ = 0;
    std::uint64_t hash_ = 0;
    std::vector<std::uint8_t> bytes_, has_come_;
};

}  // namespace duel
