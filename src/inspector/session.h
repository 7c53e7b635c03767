#pragma once
// The state of the inspector: the paused flag, the edits, the sources of entities, and the results of the last frames.
// The answers to requests (answers.h) read and change this state.
// Thread: the same as for the world.

#include "inspector/http.h"
#include "shoal/base/clock.h"
#include "shoal/command/detail/event_channels.h"
#include "shoal/inspector/server.h"
#include "shoal/save/frames.h"
#include "shoal/sql/sql.h"
#include "shoal/world/trace.h"
#include "shoal/world/world.h"

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>

namespace shoal::inspect {

/// An edit that can be undone.
struct Edit {
    Entity entity;
    std::string field;
    AnyValue before, after;
};

/// Whether the world is running, and at what speed.
struct Control {
    bool is_paused = false;
    std::uint64_t num_steps = 0;          ///< while paused, the number of frames to run before the next pause
    std::optional<std::uint64_t> run_to;  ///< the world pauses when World::frame() reaches this
    double speed = 1;                     ///< below 1: frames are delayed in proportion
};

/// The changes of a frame, for the journal.
struct FrameRecord {
    struct ChannelCount {
        std::string name;
        std::uint64_t count = 0;
    };
    /// The number of entities that a pass's commands have changed.
    struct PassCount {
        std::string pass, kind;
        std::uint64_t count = 0;
    };
    std::uint64_t frame = 0, stamp = 0;  ///< World::frame() and World::stamp() at the end of the frame
    SettleCounts settled;
    std::vector<ChannelCount> events;
    std::vector<PassCount> passes;
};

/// The sources of a blob's entities. Shape: the arrays are indexed by the blob's entities.
struct SpawnSource {
    std::string resource;
    std::uint64_t checksum = 0;
    std::vector<std::uint32_t> lines;  ///< 0: unknown
    std::vector<std::uint32_t> files;  ///< index into file_names
    std::vector<std::uint64_t> guids;
    std::vector<std::string> file_names;
};

/// The entities of a spawn. Shape: `entities` has the blob's entities in order, copy after copy.
struct SpawnRecord {
    std::shared_ptr<const SpawnSource> source;  ///< spawns of one blob share it
    std::vector<Entity> entities;
};

/// An answer that is reused until it is out of date.
struct KeptAnswer {
    Response response;
    std::int64_t until_ns = 0;  ///< in the time of monotonic_ns()
};

class Session {
public:
    Session(World& world, const ServerOptions& options) : world(world), options(options) {
        control.is_paused = options.begin_paused;
        if (options.keep_frames != 0) keep_frames(options.keep_frames);
    }
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Called before commands are carried out.
    void note_commands();
    /// Called at the end of a frame. pause_ended() is called before the next frame begins, so the time between the two
    /// is not counted.
    void note_frame();
    void pause_ended() { frame_began_ns_ = monotonic_ns(); }
    void note_spawn(const Blob& blob, const Spawned& spawned);
    /// Called after stores or fields have changed. Earlier edits can then no longer be undone.
    void forget_edits() { undo.clear(), redo.clear(); }

    /// Returns the frames that the program or the inspector keeps; nullptr if none are kept.
    Frames* frames();
    void keep_frames(std::uint32_t max_frames);
    /// Returns the trace of the last frames, which is the program's trace, or one that the inspector starts now.
    const Trace& trace();
    /// Starts to record the world's journal and the changes in each frame.
    void watch_journal();

    World& world;
    const ServerOptions options;
    Control control;
    std::vector<Edit> undo, redo;
    std::deque<FrameRecord> records;  ///< oldest first; recorded while the journal is watched
    std::vector<SpawnRecord> spawns;
    bool has_unkept_edits = false;                             ///< there are edits that no kept frame contains
    std::int64_t frame_ns = 0;                                 ///< duration of the last frame without the inspector
    std::unique_ptr<sql::Connection> sql;                      ///< nullptr: not used yet
    std::unordered_map<std::string, KeptAnswer> kept_answers;  ///< by path and query

private:
    std::shared_ptr<const SpawnSource> source_of(const Blob& blob);

    std::size_t next_sweep_ = 16;  // number of records at which to remove those without living entities
    std::optional<Frames> own_frames_;
    std::optional<Trace> own_trace_;
    std::vector<FrameRecord::PassCount> commands_;            // in this frame, while the journal is watched
    std::int64_t journal_asked_ns_ = 0, trace_asked_ns_ = 0;  // 0: not watched
    std::int64_t frame_began_ns_ = 0;
    bool keeps_journal_ = false;  // the inspector has enabled the journal
};

}  // namespace shoal::inspect
