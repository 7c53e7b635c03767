#include "shoal/save/frames.h"

#include "save/world_state.h"
#include "shoal/base/assert.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/react/service.h"
#include "shoal/save/save.h"
#include "shoal/world/world.h"

#include <algorithm>

namespace shoal {

Frames::Frames(World& world, std::uint32_t max_frames) : WorldService("frames", ServiceStage::kFrames), world_(&world) {
    world.services().add(*this);
    keep(max_frames);
}

Frames::~Frames() {
    if (world_ != nullptr) world_->services().remove(*this);
}

void Frames::world_ends() {
    frames_.clear();  // because states share memory with the world
    world_ = nullptr;
}

void Frames::keep(std::uint32_t max_frames) {
    SHOAL_ASSERT(world_ != nullptr, "frames were to be kept of a world that has ended");
    SHOAL_ASSERT(world_->services().is_at_rest(),
                 "a pass or a callback asked for frames to be kept; do it between steps");
    max_frames_ = max_frames;
    after_load();
}

void Frames::after_load() {
    frames_.clear();
    status_ = {};
    after_frame();
}

void Frames::after_frame() {
    if (max_frames_ == 0) return;
    Frame made;
    made.number = world_->frame();
    // If the world has stepped from an earlier frame, the later kept states are obsolete.
    while (!frames_.empty() && frames_.back().number > made.number) frames_.pop_back();
    const bool could_keep = status_.ok();
    const std::uint32_t num_worlds = world_->entities().num_worlds();
    if (num_worlds != 1)
        status_ = Status::error(concat(num_worlds,
                                       " worlds share the entities, and a frame has all of them; keep frames of a "
                                       "world with an entity manager of its own"));
    else
        status_ = save(*world_, made.state, frames_.empty() ? nullptr : &frames_.back().state);
    if (!status_) {
        if (could_keep) log(LogLevel::kError, concat("no frame is kept: ", status_.message()));
        return frames_.clear();
    }
    // keep() may be called when the frame already has an entry.
    if (!frames_.empty() && frames_.back().number == made.number) frames_.pop_back();
    if (frames_.size() == max_frames_) frames_.erase(frames_.begin());
    frames_.push_back(std::move(made));
}

Status Frames::rewind(std::uint64_t frame, LaterFrames later) {
    SHOAL_ASSERT(world_ != nullptr, "a world that has ended was to be taken back");
    SHOAL_ASSERT(world_->services().is_at_rest(), "a pass or a callback took the world back; do it between steps");
    if (max_frames_ == 0)
        return Status::error("the world keeps no frames that it could go back to; call Frames::keep() before");
    const auto at =
        std::find_if(frames_.begin(), frames_.end(), [&](const Frame& kept) { return kept.number == frame; });
    if (at == frames_.end() && frames_.empty())
        return Status::error(concat("frame ", frame, " cannot be gone back to, because no frame is kept",
                                    status_ ? std::string() : concat(": ", status_.message())));
    if (at == frames_.end())
        return Status::error(concat("frame ", frame, " is not kept; those from ", frames_.front().number, " to ",
                                    frames_.back().number, " are, of ", max_frames_, " at most; keep more frames"));
    Status status = WorldState(*world_).load(at->state, true);
    if (status && later == LaterFrames::kForget) frames_.erase(at + 1, frames_.end());
    return status;
}

FrameStatistics Frames::statistics() const {
    FrameStatistics result;
    result.max_frames = max_frames_;
    if (frames_.empty()) return result;
    result.num_frames = static_cast<std::uint32_t>(frames_.size());
    result.first = frames_.front().number;
    result.last = frames_.back().number;
    result.last_state_bytes = frames_.back().state.num_bytes();
    result.last_own_bytes = frames_.back().state.num_own_bytes();
    return result;
}

std::string Frames::describe() const {
    if (frames_.empty()) return "none is kept";
    return concat(frames_.size(), " of ", max_frames_, " are kept, from ", frames_.front().number, " to ",
                  frames_.back().number);
}

}  // namespace shoal
