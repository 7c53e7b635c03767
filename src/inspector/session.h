#pragma once
// What the inspector knows of a world beside the world itself: whether it is paused, what was edited, where entities came
// from, what the last frames did. The answers to requests (answers.h) read and change it.
// Thread: that of the world.

#include "inspector/http.h"
#include "shoal/base/clock.h"
#include "shoal/command/event_channels.h"
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

/// An edit that was made, and can be taken back.
struct Edit {
    Entity entity;
    std::string field;
    AnyValue before, after;
};

/// Whether frames follow each other, and how fast.
struct Control {
    bool is_paused = false;
    std::uint64_t num_steps = 0;          ///< frames to run before the next pause, while paused
    std::optional<std::uint64_t> run_to;  ///< pause when World::frame() is this
    double speed = 1;                     ///< below 1: frames wait, so that they take so much longer
};

/// What a frame did, for the journal.
struct FrameRecord {
    struct ChannelCount {
        std::string name;
        std::uint64_t count = 0;
    };
    /// Entities that commands of a pass were about.
    struct PassCount {
        std::string pass, kind;
        std::uint64_t count = 0;
    };
    std::uint64_t frame = 0, stamp = 0;  ///< World::frame() and World::stamp() at its end
    SettleCounts settled;
    std::vector<ChannelCount> events;
    std::vector<PassCount> passes;
};

/// What a blob says of where its entities come from. Shape: by entity of the blob.
struct SpawnSource {
    std::string resource;
    std::uint64_t checksum = 0;
    std::vector<std::uint32_t> lines;  ///< 0: it does not say
    std::vector<std::uint32_t> files;  ///< an index into file_names
    std::vector<std::uint64_t> guids;
    std::vector<std::string> file_names;
};

/// The entities of a spawn. Shape: by entity of the blob, copy after copy.
struct SpawnRecord {
    std::shared_ptr<const SpawnSource> source;  ///< spawns of one blob share it
    std::vector<Entity> entities;
};

/// An answer that is given again until it is out of date.
struct KeptAnswer {
    Response response;
    std::int64_t until_ns = 0;  ///< as monotonic_ns() counts
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

    /// Commands are about to be carried out.
    void note_commands();
    /// A frame has ended. Afterwards, pause_ended() says that the next one begins: what lies between is not part of it.
    void note_frame();
    void pause_ended() { frame_began_ns_ = monotonic_ns(); }
    void note_spawn(const Blob& blob, const Spawned& spawned);
    /// Stores or fields have changed: edits of earlier ones are not taken back.
    void forget_edits() { undo.clear(), redo.clear(); }

    /// Returns the frames that are kept: those of the program, or those of the inspector, or nullptr.
    Frames* frames();
    void keep_frames(std::uint32_t max_frames);
    /// The trace of the last frames: that of the program, or one of the inspector that begins now.
    const Trace& trace();
    /// From now on, records what frames do, and the journal of the world.
    void watch_journal();

    World& world;
    const ServerOptions options;
    Control control;
    std::vector<Edit> undo, redo;
    std::deque<FrameRecord> records;  ///< the oldest first, while somebody watches the journal
    std::vector<SpawnRecord> spawns;
    bool has_unkept_edits = false;         ///< something was edited since the last frame, which no kept frame has
    std::int64_t frame_ns = 0;             ///< of the last frame, without what the inspector did
    std::unique_ptr<sql::Connection> sql;  ///< nullptr: not used yet
    std::unordered_map<std::string, KeptAnswer> kept_answers;  ///< by path and query

private:
    std::shared_ptr<const SpawnSource> source_of(const Blob& blob);

    std::size_t next_sweep_ = 16;  // of spawns
    std::optional<Frames> own_frames_;
    std::optional<Trace> own_trace_;
    std::vector<FrameRecord::PassCount> commands_;            // of this frame, while the journal is watched
    std::int64_t journal_asked_ns_ = 0, trace_asked_ns_ = 0;  // 0: nobody watches them
    std::int64_t frame_began_ns_ = 0;
    bool keeps_journal_ = false;  // the journal of the world is kept for the inspector
};

}  // namespace shoal::inspect
