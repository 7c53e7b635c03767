#pragma once
// What the peers send each other, as bytes. All numbers are little-endian.
//
//      0   the letters `duel`
//      4   the key of the match (8 bytes): datagrams of another one are not ours
//     12   the kind (1), the side of the sender (1)
//     14   the fields of the kind, in the order of the structs below; a list is its length (2 bytes), then its elements
//    end   the hash of all bytes before it (8)
//
// Anybody can send anything to a port. The reader checks every length, range and flag before it is believed, and reads
// nothing behind the end. The hash tells of damage, not of forgery: a game that meets strangers signs what it sends.
// Thread: any; values.

#include "input.h"

#include <shoal/base/status.h>

#include <span>
#include <variant>
#include <vector>

namespace duel {

inline constexpr std::size_t kMaxDatagramBytes = 1200;  ///< what every path carries whole
inline constexpr std::size_t kMaxInputs = 256, kMaxHashes = 32, kChunkBytes = 1024, kNumMaskBytes = 64;
inline constexpr std::uint32_t kMaxSnapshotBytes = 64 << 20;
inline constexpr std::uint32_t kNoFrame = ~std::uint32_t(0);

/// The inputs that the other side has not confirmed yet, and the hashes of frames that will not change any more.
struct InputsDatagram {
    std::uint32_t joins_at = kNoFrame;   ///< the frame from which the inputs of the peer that joins count
    std::uint32_t first_input = 0;       ///< the frame of inputs[0]
    std::uint32_t num_known_inputs = 0;  ///< the sender knows the inputs of the other side before this frame
    std::uint32_t first_hash = 0;        ///< the frame of hashes[0]
    std::uint32_t num_known_hashes = 0;  ///< the same for hashes
    std::vector<Input> inputs;           ///< at most kMaxInputs
    std::vector<std::uint64_t> hashes;   ///< at most kMaxHashes

    friend bool operator==(const InputsDatagram&, const InputsDatagram&) = default;
};

/// Asks for a snapshot, or for what is missing of it.
struct WantDatagram {
    std::uint32_t num_chunks = 0;     ///< of the snapshot; 0: not known yet
    std::uint32_t first_missing = 0;  ///< chunks before it have come; num_chunks: all of them
    std::vector<std::uint8_t> mask;   ///< bit i: chunk first_missing + i has come. Shape: kNumMaskBytes, or none

    friend bool operator==(const WantDatagram&, const WantDatagram&) = default;
};

/// A piece of a snapshot. All have kChunkBytes but the last.
struct ChunkDatagram {
    std::uint32_t frame = 0;      ///< whose end it shows
    std::uint32_t num_bytes = 0;  ///< of the snapshot, at most kMaxSnapshotBytes
    std::uint64_t hash = 0;       ///< of the snapshot
    std::uint32_t index = 0;
    std::vector<std::uint8_t> bytes;

    friend bool operator==(const ChunkDatagram&, const ChunkDatagram&) = default;
};

struct Datagram {
    std::uint8_t side = 0;  ///< of the sender: 0 or 1
    std::variant<InputsDatagram, WantDatagram, ChunkDatagram> body;

    friend bool operator==(const Datagram&, const Datagram&) = default;
};

inline std::uint32_t num_chunks_of(std::uint32_t num_bytes) {
    return static_cast<std::uint32_t>((num_bytes + kChunkBytes - 1) / kChunkBytes);
}

/// Requires: the lists are no longer than they may be.
std::vector<std::byte> write_datagram(const Datagram& datagram, std::uint64_t key);
/// Errors: the bytes are no datagram of this match; the message says what is wrong.
shoal::Result<Datagram> read_datagram(std::span<const std::byte> bytes, std::uint64_t key);

}  // namespace duel
