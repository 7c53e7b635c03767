#include "peer.h"

#include <shoal/base/clock.h>
#include <shoal/base/string_id.h>
#include <shoal/base/text.h>
#include <shoal/save/save.h>
#include <shoal/save/state_hash.h>

#include <algorithm>
#include <vector>

namespace duel {

using namespace shoal;

namespace {

double ms_since(std::int64_t begin_ns) { return static_cast<double>(monotonic_ns() - begin_ns) * 1e-6; }

/// Returns a hash of all options that both peers must agree on.
std::uint64_t key_of(const PeerOptions& options) {
    const std::uint64_t numbers[] = {options.arena.seed, options.arena.num_ships, options.num_frames};
    return hash_bytes(numbers, sizeof numbers);
}

}  // namespace

Peer::Peer(const PeerOptions& options, Socket& socket, std::uint16_t other_port)
    : options_(options),
      arena_(options.arena),
      socket_(socket),
      other_port_(other_port),
      link_(socket, options.link, options.arena.seed * 2 + options.side),
      key_(key_of(options)),
      guessed_(options.num_frames),
      my_hashes_(options.num_frames + 1),
      their_hashes_(1) {
    if (!options.waits && !options.joins) joins_at_ = 0;
}

Status Peer::begin() {
    if (options_.joins) return {};
    if (Status status = arena_.spawn(); !status) return status;
    frames_.keep(kKeptFrames);
    has_world_ = true;
    return {};
}

Status Peer::tick() {
    const std::int64_t begin_ns = monotonic_ns();
    if (Status status = link_.flush(now_); !status) return status;
    if (Status status = receive(); !status) return status;
    if (Status status = load_snapshot(); !status) return status;
    if (Status status = save_snapshot(); !status) return status;
    if (has_world_) {
        if (Status status = roll_back(); !status) return status;
        advance();
        compare_hashes();
    }
    send();
    ++now_;
    counts_.tick_ms.push_back(ms_since(begin_ns));
    return {};
}

bool Peer::is_done() const {
    const std::uint64_t last = options_.num_frames;
    return has_world_ && frame() == last && theirs_.size() == last && next_compared_ == last + 1 &&
           (is_alone() || (num_mine_known_ == last && num_my_hashes_known_ == last + 1));
}

std::uint64_t Peer::progress() const {
    return frame() + theirs_.size() + their_hashes_.size() + next_compared_ + num_mine_known_ + num_my_hashes_known_ +
           receiver_.want().first_missing;
}

// --- receiving -----------------------------------------------------------------------------------------------------

Status Peer::receive() {
    std::byte bytes[kMaxDatagramBytes + 1];  // one more byte, to detect datagrams that are too long
    while (true) {
        std::uint16_t from_port = 0;
        const Result<std::ptrdiff_t> count = socket_.receive(bytes, from_port);
        if (!count) return count.status();
        if (*count < 0) return {};
        if (from_port != other_port_)
            refuse("it came from another port than that of the other side");
        else
            take(std::span<const std::byte>(bytes).first(static_cast<std::size_t>(*count)));
    }
}

void Peer::refuse(std::string_view why) {
    ++counts_.num_refused;
    counts_.refused = why;
}

bool Peer::take(std::span<const std::byte> bytes) {
    ++counts_.num_received;
    const Result<Datagram> datagram = read_datagram(bytes, key_);
    if (!datagram) return refuse(datagram.message()), false;
    if (datagram->side == options_.side) return refuse("it says that it comes from this side"), false;
    std::visit([&](const auto& body) { take(body); }, datagram->body);
    return true;
}

void Peer::take(const InputsDatagram& datagram) {
    if (!has_world_ || is_alone()) return;  // this peer is not in a match yet
    if (options_.joins && joins_at_ == kNoFrame && datagram.joins_at >= frame() &&
        datagram.joins_at <= options_.num_frames) {
        joins_at_ = datagram.joins_at;
        counts_.joins_at = joins_at_;
        mine_.resize(joins_at_);
    }
    // A valid list starts at or before the first missing input. A list that leaves a gap is ignored.
    for (std::size_t i = 0; i < datagram.inputs.size(); ++i) {
        const std::uint64_t at = std::uint64_t(datagram.first_input) + i;
        if (at != theirs_.size() || at >= options_.num_frames) continue;
        theirs_.push_back(datagram.inputs[i]);
        if (at < frame() && guessed_[at] != datagram.inputs[i]) replay_from_ = std::min(replay_from_, at);
    }
    for (std::size_t i = 0; i < datagram.hashes.size(); ++i) {
        const std::uint64_t at = std::uint64_t(datagram.first_hash) + i;
        if (at == their_hashes_.size() && at <= options_.num_frames) their_hashes_.push_back(datagram.hashes[i]);
    }
    // Ignore impossible counts, because the other side cannot know inputs that were never sent.
    if (datagram.num_known_inputs <= mine_.size())
        num_mine_known_ = std::max<std::uint64_t>(num_mine_known_, datagram.num_known_inputs);
    if (datagram.num_known_hashes <= num_confirmed() + 1)
        num_my_hashes_known_ = std::max<std::uint64_t>(num_my_hashes_known_, datagram.num_known_hashes);
}

void Peer::take(const WantDatagram& datagram) {
    if (!is_alone()) return;
    is_wanted_ = true;
    if (!sender_) return;
    sender_->note(datagram);
    if (!sender_->has_arrived()) return;
    joins_at_ = static_cast<std::uint32_t>(frame());
    counts_.joins_at = joins_at_;
}

void Peer::take(const ChunkDatagram& datagram) {
    if (!options_.joins || has_world_) return;
    if (Status status = receiver_.take(datagram); !status) refuse(status.message());
}

// --- joining -------------------------------------------------------------------------------------------------------

/// Starts exchanging inputs and hashes after `frame`.
void Peer::begin_history(std::uint64_t frame) {
    num_mine_known_ = frame;
    their_hashes_.resize(frame + 1);
    num_my_hashes_known_ = next_compared_ = frame + 1;
}

Status Peer::save_snapshot() {
    if (!is_wanted_ || sender_) return {};
    Array<std::byte> bytes{Owner("snapshot")};
    if (Status status = shoal::save(arena_.world, bytes); !status) return status;
    if (bytes.size() > kMaxSnapshotBytes)
        return Status::error(concat("the snapshot has ", bytes.size(), " bytes, and ", kMaxSnapshotBytes,
                                    " are the most that a peer takes; play with fewer entities"));
    std::vector<std::uint8_t> copy(bytes.size());
    std::transform(bytes.begin(), bytes.end(), copy.begin(),
                   [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
    counts_.snapshot_frame = frame();
    counts_.snapshot_bytes = copy.size();
    sender_.emplace(static_cast<std::uint32_t>(frame()), std::move(copy));
    begin_history(frame());
    return {};
}

Status Peer::load_snapshot() {
    if (has_world_ || !receiver_.is_complete()) return {};
    const Result<std::span<const std::byte>> bytes = receiver_.bytes();
    if (!bytes) return bytes.status();
    if (Status status = shoal::load(arena_.world, *bytes); !status)
        return Status::error(concat("the snapshot of the other side: ", status.message()));
    if (frame() != receiver_.frame() || frame() > options_.num_frames)
        return Status::error(concat("the snapshot of the other side is of frame ", frame(), ", not of frame ",
                                    receiver_.frame(), " as its sender says, or behind the end of the match"));
    counts_.snapshot_frame = frame();
    counts_.snapshot_bytes = bytes->size();
    theirs_.resize(frame());
    frames_.keep(kKeptFrames);
    begin_history(frame());
    has_world_ = true;
    return {};
}

// --- playing -------------------------------------------------------------------------------------------------------

Status Peer::roll_back() {
    if (replay_from_ >= frame()) return {};
    const std::int64_t begin_ns = monotonic_ns();
    const std::uint64_t now = frame(), depth = now - replay_from_;
    if (Status status = frames_.rewind(replay_from_); !status) return status;
    counts_.rewind_ms += ms_since(begin_ns);
    while (frame() < now) step();
    replay_from_ = ~std::uint64_t(0);
    const double took_ms = ms_since(begin_ns);
    ++counts_.num_rollbacks;
    counts_.num_replayed += depth;
    counts_.deepest = std::max(counts_.deepest, depth);
    counts_.rollback_ms += took_ms;
    counts_.worst_rollback_ms = std::max(counts_.worst_rollback_ms, took_ms);
    return {};
}

bool Peer::may_step() const {
    return frame() < options_.num_frames && (joins_at_ != kNoFrame || is_alone()) &&
           (is_alone() || frame() < theirs_.size() + kMaxAhead);
}

/// Plays a frame, or several if the other side is ahead.
void Peer::advance() {
    constexpr std::uint64_t kMostSteps = 4;
    if (!may_step()) counts_.num_stalls += frame() < options_.num_frames;
    for (std::uint64_t i = 0; i < kMostSteps && may_step(); ++i) {
        if (i != 0 && theirs_.size() <= frame() + i) return;
        if (is_alone()) theirs_.resize(frame() + 1);
        if (mine_.size() == frame()) mine_.push_back(scripted_input(options_.arena.seed, options_.side, frame()));
        step();
    }
}

void Peer::step() {
    const std::uint64_t at = frame();
    guessed_[at] = at < theirs_.size() ? theirs_[at] : theirs_.empty() ? Input() : theirs_.back();
    FleetInputs inputs;
    inputs[options_.side] = mine_[at];
    inputs[1 - options_.side] = guessed_[at];
    arena_.step(inputs);
    my_hashes_[at + 1] = state_hash(arena_.world);
    ++counts_.num_steps;
}

void Peer::compare_hashes() {
    if (is_alone() && !sender_) next_compared_ = frame() + 1;
    for (; next_compared_ < their_hashes_.size() && next_compared_ <= num_confirmed(); ++next_compared_) {
        const std::uint64_t mine = my_hashes_[next_compared_], theirs = their_hashes_[next_compared_];
        if (mine == theirs) continue;
        if (!difference_) difference_ = {next_compared_, mine, theirs};
        return;
    }
}

// --- sending -------------------------------------------------------------------------------------------------------

void Peer::send(std::variant<InputsDatagram, WantDatagram, ChunkDatagram> body) {
    link_.send(write_datagram({static_cast<std::uint8_t>(options_.side), std::move(body)}, key_), other_port_, now_);
}

void Peer::send() {
    if (options_.joins && joins_at_ == kNoFrame) send(receiver_.want());
    if (!has_world_) return;
    if (sender_ && is_alone())
        for (ChunkDatagram& chunk : sender_->chunks(now_)) send(std::move(chunk));
    if (is_alone() && !sender_) return;  // no peer has joined
    InputsDatagram told;
    told.joins_at = joins_at_;
    told.first_input = static_cast<std::uint32_t>(num_mine_known_);
    told.num_known_inputs = static_cast<std::uint32_t>(theirs_.size());
    told.first_hash = static_cast<std::uint32_t>(num_my_hashes_known_);
    told.num_known_hashes = static_cast<std::uint32_t>(their_hashes_.size());
    for (std::uint64_t i = num_mine_known_; i < mine_.size() && told.inputs.size() < kMaxInputs; ++i)
        told.inputs.push_back(mine_[i]);
    for (std::uint64_t i = num_my_hashes_known_; i <= num_confirmed() && told.hashes.size() < kMaxHashes; ++i)
        told.hashes.push_back(my_hashes_[i]);
    send(std::move(told));
}

}  // namespace duel
