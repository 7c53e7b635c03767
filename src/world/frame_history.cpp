#include "world/frame_history.h"

#include "shoal/base/log.h"
#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {

void FrameHistory::keep(const World& world) {
    Frame made;
    made.number = world.frame();
    const bool could_keep = status_.ok();
    if (world.entities_.num_worlds() != 1)
        status_ =
            Status::error(concat(world.entities_.num_worlds(),
                                 " worlds share the entities, and a frame has all of them; keep frames of a world "
                                 "with an entity manager of its own"));
    else
        status_ = world.save(made.state, frames_.empty() ? nullptr : &frames_.back().state);
    if (!status_) {
        if (could_keep) log(LogLevel::kError, concat("no frame is kept: ", status_.message()));
        return frames_.clear();
    }
    // The history may begin, or begin anew, within a frame.
    if (!frames_.empty() && frames_.back().number == made.number) frames_.pop_back();
    if (frames_.size() == max_frames_) frames_.erase(frames_.begin());
    frames_.push_back(std::move(made));
}

Status FrameHistory::rewind(World& world, std::uint64_t frame) {
    const auto at =
        std::find_if(frames_.begin(), frames_.end(), [&](const Frame& kept) { return kept.number == frame; });
    if (at == frames_.end() && frames_.empty())
        return Status::error(concat("frame ", frame, " cannot be gone back to, because no frame is kept",
                                    status_ ? std::string() : concat(": ", status_.message())));
    if (at == frames_.end())
        return Status::error(concat("frame ", frame, " is not kept; those from ", frames_.front().number, " to ",
                                    frames_.back().number, " are, of ", max_frames_, " at most; keep more frames"));
    Status status = world.load_kept(at->state);
    if (status) frames_.erase(at + 1, frames_.end());
    return status;
}

void FrameHistory::clear() { frames_.clear(); }

FrameStatistics FrameHistory::statistics() const {
    FrameStatistics result;
    if (frames_.empty()) return result;
    result.num_frames = static_cast<std::uint32_t>(frames_.size());
    result.first = frames_.front().number;
    result.last = frames_.back().number;
    result.last_state_bytes = frames_.back().state.num_bytes();
    result.last_own_bytes = frames_.back().state.num_own_bytes();
    return result;
}

// --- the calls of a world ----------------------------------------------------------------------------------------

void World::keep_frames(std::uint32_t max_frames) {
    SHOAL_ASSERT(is_at_rest(), "a pass or a callback asked for frames to be kept; do it between steps");
    delete history_;
    history_ = max_frames == 0 ? nullptr : new FrameHistory(max_frames);
    if (history_ != nullptr) history_->keep(*this);
}

Status World::rewind(std::uint64_t frame) {
    SHOAL_ASSERT(is_at_rest(), "a pass or a callback took the world back; do it between steps");
    if (history_ == nullptr)
        return Status::error("the world keeps no frames that it could go back to; call World::keep_frames() before");
    return history_->rewind(*this, frame);
}

FrameStatistics World::frame_statistics() const {
    return history_ == nullptr ? FrameStatistics() : history_->statistics();
}

}  // namespace shoal
