#pragma once
// The format of the datagrams that peers exchange. All numbers are little-endian.
//
//      0   the letters `duel`
//      4   the key of the match (8 bytes): datagrams of another one are not ours
//     12   the kind (1), the side of the sender (1)
//     14   the fields of the kind, in the order of the structs below; a list is its length (2 bytes), then its elements
//    end   the hash of all bytes before it (8)
//
// Anyone can send anything to a port. The reader checks every length, range and flag before use, and never reads past
// the end. The hash detects damage, but not forgery. A game between strangers must sign its datagrams.
// Thread: as for built-in types.

#include "input.h"

#include <shoal/base/status.h>

#include <span>
#include <variant>
#include <vector>

namespace duel {

inline constexpr std::size_t kMaxDatagramBytes = 1200;  ///< small enough to avoid fragmentation on all paths
inline constexpr std::size_t kMaxInputs = 256, kMaxHashes = 32, kChunkBytes = 1024, kNumMaskBytes = 64;
inline constexpr std::uint32_t kMaxSnapshotBytes = 64 << 20;
inline constexpr std::uint32_t kNoFrame = ~std::uint32_t(0);

/// The sender's inputs that the other side has not confirmed yet, and the hashes of frames that can no longer change.
struct InputsDatagram {
    std::uint32_t joins_at = kNoFrame;   ///< first frame for which the joining peer has inputs
    std::uint32_t first_input = 0;       ///< the frame of inputs[0]
    std::uint32_t num_known_inputs = 0;  ///< the sender has the other side's inputs for all frames before this one
    std::uint32_t first_hash = 0;        ///< the frame of hashes[0]
    std::uint32_t num_known_hashes = 0;  ///< the sender has the other side's hashes for all frames before this one
    std::vector<Input> inputs;           ///< at most kMaxInputs elements
    std::vector<std::uint64_t> hashes;   ///< at most kMaxHashes elements

    friend bool operator==(const InputsDatagram&, const InputsDatagram&) = default;
};

/// Requests a snapshot, or its missing chunks.
struct WantDatagram {
    std::uint32_t num_chunks = 0;     ///< number of chunks in the snapshot; 0: unknown
    std::uint32_t first_missing = 0;  ///< first chunk not yet received, or num_chunks if none is missing
    std::vector<std::uint8_t> mask;   ///< bit i: chunk first_missing + i was received. Shape: kNumMaskBytes, or none

    friend bool operator==(const WantDatagram&, const WantDatagram&) = default;
};

/// A piece of a snapshot. All chunks except the last have kChunkBytes.
struct ChunkDatagram {
    std::uint32_t frame = 0;      ///< the snapshot is the state at the end of this frame
    std::uint32_t num_bytes = 0;  ///< size of the snapshot, at most kMaxSnapshotBytes
    std::uint64_t hash = 0;       ///< hash of the snapshot
    std::uint32_t index = 0;
    std::vector<std::uint8_t> bytes;

    friend bool operator==(const ChunkDatagram&, const ChunkDatagram&) = default;
};

struct Datagram {
    std::uint8_t side = 0;  ///< side of the sender: 0 or 1
    std::variant<InputsDatagram, WantDatagram, ChunkDatagram> body;

    friend bool operator==(const Datagram&, const Datagram&) = default;
};

inline std::uint32_t num_chunks_of(std::uint32_t num_bytes) {
    return static_cast<std::uint32_t>((num_bytes + kChunkBytes - 1) / kChunkBytes);
}

/// Requires: no list exceeds its limit.
std::vector<std::byte> write_datagram(const Datagram& datagram, std::uint64_t key);
/// Errors: the bytes are not a datagram of this match. The message says what is wrong.
shoal::Result<Datagram> read_datagram(std::span<const std::byte> bytes, std::uint64_t key);

}  // namespace duel
