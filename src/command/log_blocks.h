#pragma once
// Memory of a log: blocks of two sizes, which are kept from one frame to the next.
//
//     chunk     4 KiB | 32 KiB | 32 KiB ...      the first block of a chunk is small: most chunks write little
//
// Memory that recent frames have needed is kept; the rest is released.
// Thread: one thread at a time.

#include "shoal/command/detail/command_recorder.h"

namespace shoal {

inline constexpr std::size_t kLogBlockBytes[] = {std::size_t(4) << 10, std::size_t(32) << 10};

/// Returns how much recent frames have needed: the amount for this frame, or a little less than the previous result,
/// whichever is larger.
constexpr std::uint64_t decaying_peak(std::uint64_t now, std::uint64_t before) {
    const std::uint64_t less = before - (before + 15) / 16;
    return now > less ? now : less;
}

class LogBlocks {
public:
    explicit LogBlocks(const char* owner) : owner_(owner) {}
    ~LogBlocks();
    LogBlocks(const LogBlocks&) = delete;
    LogBlocks& operator=(const LogBlocks&) = delete;

    /// Returns a block of at least `num_bytes`, aligned like std::max_align_t.
    detail::LogBlock take(std::size_t num_bytes, bool large);
    void give_back(const detail::LogBlock& block);
    /// Releases memory that recent frames did not need. Call it once per frame.
    void trim();

private:
    struct Free {
        explicit Free(const char* owner) : blocks(owner) {}
        Array<std::byte*> blocks;
        std::size_t num_used = 0;  // blocks used in the current frame
        std::size_t num_kept = 0;  // blocks that recent frames have needed
    };

    const char* owner_;
    Free free_[2] = {Free(owner_), Free(owner_)};
};

}  // namespace shoal
