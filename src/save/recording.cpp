#include "shoal/save/recording.h"

#include "save/frame_hashes.h"
#include "save/state_log.h"
#include "save/world_state.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/react/service.h"
#include "shoal/save/save.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace shoal {
namespace {

/// The log base that distinguishes a recording from the log of a persisted world.
constexpr std::uint64_t kBase = 0x676E6964726F6365;  // "ecording"
constexpr std::uint32_t kRecordingFormat = 1;
constexpr std::string_view kScope = "recording";

struct FrameFacts {
    float dt;
    std::uint32_t zero;
};

}  // namespace

// --- recording ---------------------------------------------------------------------------------------------------

struct Recorder::Work final : WorldService {
    explicit Work(World& of) : WorldService("recorder"), world(of) { world.services().add(*this); }
    ~Work() override {
        world.schedule().set_observer(nullptr);
        world.services().remove(*this);
    }
    void fields_changed() override { types = {}; }

    /// Saves the state of the next record: the world and the parts of the recording.
    template <class WriteParts>
    Status take(WriteParts&& write_parts) {
        before = last;
        Snapshot& now = before == &states[0] ? states[1] : states[0];
        now.clear();
        if (Status status = WorldState(world).save(now, before, &types); !status) return status;
        SnapshotWriter to(now, before);
        {
            const SnapshotPath::Scope scope = to.in(kScope);
            write_parts(to);
        }
        last = &now;
        last_frame = world.frame();
        return to.status();
    }
    /// Writes the record.
    Status append() { return log.append(*last, before, last_frame); }

    World& world;
    StateLogWriter log;
    LastingTypes types;
    Snapshot states[2];  // states of the previous and the current record
    const Snapshot *before = nullptr, *last = nullptr;
    std::uint64_t last_frame = 0;
    FrameHashes hashes;
    // For the frame that is being stepped.
    float dt = 0;
    std::vector<std::byte> inputs;
};

Recorder::Recorder(World& world) : world_(world) {}

Recorder::~Recorder() { static_cast<void>(stop()); }

Status Recorder::start(const std::string& path, std::span<const std::byte> setup) {
    SHOAL_ASSERT(!is_recording(), "a recorder was started that records; stop() it first, or make another");
    status_ = {};
    num_frames_ = num_bytes_ = 0;
    auto work = std::make_unique<Work>(world_);
    const Status status = work->take([&](SnapshotWriter& to) {
        to.value("format", kRecordingFormat);
        to.array("setup", setup);
    });
    if (!status) return Status::error(concat(path, ": ", status.message()));
    Result<StateLogWriter> log = StateLogWriter::replace(path, kBase, *work->last, work->last_frame);
    if (!log) return log.status();
    work->log = std::move(*log);
    num_bytes_ = work->log.num_bytes();
    work_ = work.release();
    return {};
}

Status Recorder::stop() {
    if (work_ == nullptr) return status_;
    status_ = work_->log.flush();
    num_bytes_ = work_->log.num_bytes();
    delete std::exchange(work_, nullptr);
    return status_;
}

void Recorder::end(const Status& status) {
    log(LogLevel::kError, concat("the world is no longer recorded: ", status.message()));
    delete std::exchange(work_, nullptr);
    status_ = status;
}

Recorder::Frame::Frame(Recorder& owner, float dt, std::span<const std::byte> inputs) : recorder(owner) {
    Work* const work = recorder.work_;
    if (work == nullptr) return;
    if (recorder.world_.frame() != work->last_frame) {
        recorder.end(Status::error(concat("it is at frame ", recorder.world_.frame(), " and was recorded up to frame ",
                                          work->last_frame,
                                          "; step it with Recorder::step() alone, and start() anew after loading or "
                                          "rewinding it")));
        return;
    }
    work->dt = dt;
    work->inputs.assign(inputs.begin(), inputs.end());
    work->hashes.begin(recorder.world_);
    recorder.world_.schedule().set_observer(&work->hashes);
}

Recorder::Frame::~Frame() {
    if (recorder.work_ == nullptr) return;
    recorder.world_.schedule().set_observer(nullptr);
    recorder.work_->hashes.end();
    if (const Status status = recorder.write_frame(); !status) recorder.end(status);
}

Status Recorder::write_frame() {
    Work& work = *work_;
    Status status = work.take([&](SnapshotWriter& to) {
        to.value("frame", FrameFacts{work.dt, 0});
        to.array("inputs", work.inputs);
        work.hashes.save(to);
    });
    if (status) status = work.append();
    num_frames_ += status.ok();
    num_bytes_ = work.log.num_bytes();
    return status;
}

// --- playing it again --------------------------------------------------------------------------------------------

std::string ReplayDifference::text() const {
    if (!*this) return {};
    return concat("frame ", frame, ", ", pass.empty() ? "settle" : concat("pass \"", pass, '"'), ": ",
                  problem.empty() ? value.text("here", "in the recording") : problem);
}

struct Replay::Work {
    explicit Work(StateLogReader reader) : log(std::move(reader)) {}

    /// Reads the recording's own parts from the last record. Errors: the parts do not describe a frame.
    Status read_frame() {
        const Snapshot parts = log.state(nullptr, kScope);
        SnapshotReader from(parts, false);
        const SnapshotPath::Scope scope = from.in(kScope);
        if (Status status = from.value("frame", facts); !status) return status;
        if (Status status = from.array("inputs", inputs); !status) return status;
        return recorded.load(from);
    }
    Status read_setup() {
        const Snapshot parts = log.state(nullptr, kScope);
        SnapshotReader from(parts, false);
        const SnapshotPath::Scope scope = from.in(kScope);
        std::uint32_t format = 0;
        if (Status status = from.value("format", format); !status) return status;
        if (format != kRecordingFormat)
            return from.error("format", concat("it has version ", format, ", and this program reads version ",
                                               kRecordingFormat, "; play it with the program that made it"));
        return from.array("setup", setup);
    }

    StateLogReader log;
    Status problem;
    Array<std::byte> setup{Owner("recording")}, inputs{Owner("recording")};
    FrameFacts facts{};
    FrameHashes here, recorded;
};

Result<Replay> Replay::open(std::span<const std::byte> bytes) { return open(bytes, LoadOptions()); }

Result<Replay> Replay::open(std::span<const std::byte> bytes, const LoadOptions& options) {
    Result<StateLogReader> log = StateLogReader::open(bytes, kBase, nullptr, options.max_bytes);
    if (!log)
        return Status::error(concat("the file is not a recording: ", log.message(),
                                    "; take a file that was recorded with this version"));
    Replay replay(new Work(std::move(*log)));
    Work& work = *replay.work_;
    Status status;
    if (!work.log.next())
        status = work.log.is_at_end() ? Status::error("it ends after the header") : work.log.problem();
    else
        status = work.read_setup();
    if (work.log.may_be_whole()) return status;
    if (!status)
        return Status::error(concat("the recording has no whole beginning: ", status.message(), "; record it again"));
    return replay;
}

bool Replay::is_recording(std::span<const std::byte> bytes) { return StateLogReader::open(bytes, kBase).ok(); }

Replay::Replay(Replay&& other) noexcept
    : world_(other.world_), work_(std::exchange(other.work_, nullptr)), difference_(std::move(other.difference_)) {}

Replay& Replay::operator=(Replay&& other) noexcept {
    std::swap(world_, other.world_);
    std::swap(work_, other.work_);
    std::swap(difference_, other.difference_);
    return *this;
}

Replay::~Replay() { delete work_; }

std::span<const std::byte> Replay::setup() const { return work_->setup; }

Status Replay::begin(World& world) {
    SHOAL_ASSERT(work_->log.num_records() == 1, "a replay was begun after next(); begin() it first");
    world_ = &world;
    return load(world, work_->log.state(), false);
}

bool Replay::next() {
    if (!work_->problem || !work_->log.next()) return false;
    work_->problem = work_->read_frame();
    return work_->problem.ok();
}

Status Replay::status() const {
    const Status& problem = work_->problem ? work_->log.problem() : work_->problem;
    const std::uint64_t num_whole = work_->log.num_records() - (work_->problem ? 1 : 2);
    if (problem) return {};
    return Status::error(concat("the recording ", work_->log.may_be_whole() ? "cannot be read" : "is damaged",
                                " after ", num_whole, num_whole == 1 ? " frame: " : " frames: ", problem.message()));
}

std::uint64_t Replay::frame() const { return work_->log.frame(); }
float Replay::dt() const { return work_->facts.dt; }
std::span<const std::byte> Replay::inputs() const { return work_->inputs; }

Replay::Frame::Frame(Replay& owner) : replay(owner) {
    SHOAL_ASSERT(replay.world_ != nullptr, "a replay was stepped before begin()");
    replay.work_->here.begin(*replay.world_);
    replay.world_->schedule().set_observer(&replay.work_->here);
}

Replay::Frame::~Frame() {
    replay.world_->schedule().set_observer(nullptr);
    replay.work_->here.end();
    replay.compare();
}

namespace {

/// Returns the index of the first pass that differs between the frames. If there is none, returns the number of passes
/// in the frame with fewer passes.
std::size_t first_differing_pass(const FrameHashes& here, const FrameHashes& recorded) {
    const auto [mine, theirs] = std::ranges::mismatch(here.passes(), recorded.passes());
    return static_cast<std::size_t>(mine - here.passes().begin());
}

/// If the pass at `number` ran in only one of the frames, describes the difference. Otherwise returns an empty string.
std::string text_of_missing_pass(const FrameHashes& here, const FrameHashes& recorded, std::size_t number,
                                 std::string& pass) {
    const std::string_view mine = number < here.passes().size() ? here.passes()[number].name : std::string_view();
    const std::string_view theirs =
        number < recorded.passes().size() ? recorded.passes()[number].name : std::string_view();
    if (mine == theirs) return {};
    const bool runs_here =
        std::ranges::none_of(recorded.passes(), [&](const auto& other) { return other.name == mine; });
    pass = mine.empty() || (!runs_here && !theirs.empty()) ? theirs : mine;
    return pass == mine ? "it runs here, and not in the recording at this place"
                        : "it runs in the recording, and not here at this place";
}

/// Finds the first value in these fields that differs at the end of the frame. Temporarily loads the recorded state
/// into the world.
void name_value(World& world, const Snapshot& recorded, std::vector<FieldName>& names, StateDifference& value) {
    if (names.empty()) return;
    value.kind = DifferenceKind::kOther;
    value.component = names[0].component, value.field = names[0].field;
    remove_unknown(world, names);
    struct Look {
        const World& world;
        std::span<const FieldName> names;
        std::vector<FieldValues> values;
    } there{world, names, {}};
    const std::vector<FieldValues> here = values_of(world, names);
    const auto look = [](void* context) {
        Look& it = *static_cast<Look*>(context);
        it.values = values_of(it.world, it.names);
    };
    if (WorldState(world).visit(recorded, look, &there)) value = compare_values(here, there.values);
}

}  // namespace

void Replay::compare() {
    const FrameHashes &here = work_->here, &recorded = work_->recorded;
    difference_ = {};
    if (here.equals(recorded) && world_->frame() == frame()) return;
    difference_.is_found = true;
    difference_.frame = frame();
    if (world_->frame() != frame()) {
        difference_.problem = concat("the world is at frame ", world_->frame(), " here");
        return;
    }
    const std::size_t number = first_differing_pass(here, recorded);
    difference_.problem = text_of_missing_pass(here, recorded, number, difference_.pass);
    if (!difference_.problem.empty()) return;
    std::vector<FieldName> names = differing_fields(here.fields(), recorded.fields());
    if (number < here.passes().size()) {
        const PassHashes& mine = here.passes()[number];
        difference_.pass = mine.name;
        const std::vector<FieldName> written = differing_fields(mine.fields, recorded.passes()[number].fields);
        const auto at = written.empty() ? names.end() : std::find(names.begin(), names.end(), written[0]);
        if (written.empty())
            difference_.problem = "what it writes is recorded in another form";
        else if (at == names.end())
            difference_.problem = concat(written[0].component, '.', written[0].field,
                                         " differs after it, and is the same again at the end of the frame");
        if (!difference_.problem.empty()) return;
        std::rotate(names.begin(), at, at + 1);
    } else if (names.empty()) {
        difference_.problem = "the hashes of zones differ, and those of fields do not";
    }
    name_value(*world_, work_->log.state(), names, difference_.value);
}

}  // namespace shoal
