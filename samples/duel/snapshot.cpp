#include "snapshot.h"

#include <shoal/base/assert.h>
#include <shoal/base/string_id.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace duel {

using namespace shoal;

namespace {

constexpr std::size_t kMostChunksPerFrame = 48, kChunksInMask = 8 * kNumMaskBytes;
constexpr std::uint64_t kFramesToRepeat = 20;  // longer than a round trip

}  // namespace

// --- sender --------------------------------------------------------------------------------------------------------

SnapshotSender::SnapshotSender(std::uint32_t frame, std::vector<std::uint8_t> bytes)
    : frame_(frame), bytes_(std::move(bytes)), hash_(hash_bytes(bytes_.data(), bytes_.size())) {
    SHOAL_ASSERT(!bytes_.empty() && bytes_.size() <= kMaxSnapshotBytes, "a snapshot is too large for its datagrams");
    has_come_.resize(num_chunks_of(static_cast<std::uint32_t>(bytes_.size())));
    sent_before_.resize(has_come_.size());
}

void SnapshotSender::note(const WantDatagram& want) {
    if (want.num_chunks != has_come_.size()) return;
    std::fill_n(has_come_.begin(), want.first_missing, std::uint8_t(1));
    for (std::size_t i = 0; i < 8 * want.mask.size() && want.first_missing + i < has_come_.size(); ++i)
        if ((want.mask[i / 8] >> (i % 8) & 1) != 0) has_come_[want.first_missing + i] = 1;
    while (first_missing_ < has_come_.size() && has_come_[first_missing_] != 0) ++first_missing_;
}

std::vector<ChunkDatagram> SnapshotSender::chunks(std::uint64_t now) {
    std::vector<ChunkDatagram> out;
    // The receiver cannot confirm chunks beyond the mask.
    const std::size_t end = std::min(has_come_.size(), first_missing_ + kChunksInMask);
    for (std::size_t i = first_missing_; i < end && out.size() < kMostChunksPerFrame; ++i) {
        if (has_come_[i] != 0 || (sent_before_[i] != 0 && now < sent_before_[i] + kFramesToRepeat)) continue;
        sent_before_[i] = now + 1;
        const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(i * kChunkBytes);
        const std::size_t count = std::min(kChunkBytes, bytes_.size() - i * kChunkBytes);
        out.push_back({frame_, static_cast<std::uint32_t>(bytes_.size()), hash_, static_cast<std::uint32_t>(i),
                       std::vector<std::uint8_t>(begin, begin + static_cast<std::ptrdiff_t>(count))});
    }
    return out;
}

// --- receiver ------------------------------------------------------------------------------------------------------

Status SnapshotReceiver::take(const ChunkDatagram& chunk) {
    if (num_chunks_ == 0) {
        frame_ = chunk.frame;
        hash_ = chunk.hash;
        num_chunks_ = num_chunks_of(chunk.num_bytes);
        bytes_.resize(chunk.num_bytes);
        has_come_.resize(num_chunks_);
    }
    if (chunk.frame != frame_ || chunk.hash != hash_ || chunk.num_bytes != bytes_.size())
        return Status::error("it is a chunk of another snapshot than the first one was");
    std::copy(chunk.bytes.begin(), chunk.bytes.end(),
              bytes_.begin() + static_cast<std::ptrdiff_t>(chunk.index * kChunkBytes));
    has_come_[chunk.index] = 1;
    while (first_missing_ < num_chunks_ && has_come_[first_missing_] != 0) ++first_missing_;
    return {};
}

WantDatagram SnapshotReceiver::want() const {
    WantDatagram want{num_chunks_, first_missing_, {}};
    if (num_chunks_ == 0) return want;
    want.mask.resize(kNumMaskBytes);
    for (std::size_t i = 0; i < kChunksInMask && first_missing_ + i < num_chunks_; ++i)
        if (has_come_[first_missing_ + i] != 0) want.mask[i / 8] |= static_cast<std::uint8_t>(1 << (i % 8));
    return want;
}

Result<std::span<const std::byte>> SnapshotReceiver::bytes() const {
    if (hash_bytes(bytes_.data(), bytes_.size()) != hash_)
        return Status::error("the snapshot is damaged: its hash is not the one that its sender said");
    return std::as_bytes(std::span(bytes_));
}

}  // namespace duel
