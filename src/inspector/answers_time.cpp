// Shows the journal of the last frames, the kept frames, and the differences between two kept frames.

#include "inspector/answers.h"
#include "inspector/frame_values.h"
#include "inspector/json_text.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/inspect/describe_entity.h"
#include "shoal/react/observers.h"

#include <algorithm>

namespace shoal::inspect {
namespace {

constexpr std::uint64_t kUsualFrames = 60, kMostFrames = 600;
constexpr std::size_t kMostNamed = 100;        // entities in a journal entry
constexpr std::size_t kMostDifferences = 500;  // in an answer
constexpr std::uint64_t kMostKept = 10'000;    // frames

void write_entry(const JournalEntry& entry, std::uint64_t frame, const World& world, JsonText& json) {
    json.builder.begin_mapping();
    json.builder.unsigned_integer("frame", frame);
    json.builder.string("kind", entry.kind == JournalEntry::Kind::kAdded ? "added" : "removed");
    const KeptComponent kept = world.directory().find_kept(entry.component);
    json.text("component", kept ? kept.schema->name() : "(gone)");
    json.builder.unsigned_integer("count", entry.entities.size());
    json.builder.begin_list("entities");
    for (const Entity entity : entry.entities.first(std::min(entry.entities.size(), kMostNamed)))
        json.builder.string(entity_text(entity));
    json.builder.end();
    json.builder.end();
}

void write_frame(const FrameRecord& record, JsonText& json) {
    json.builder.begin_mapping();
    json.builder.unsigned_integer("frame", record.frame);
    json.builder.unsigned_integer("created", record.settled.num_created);
    json.builder.unsigned_integer("destroyed", record.settled.num_destroyed);
    json.builder.unsigned_integer("moved", record.settled.num_moved);
    json.builder.begin_list("events");
    for (const FrameRecord::ChannelCount& channel : record.events) {
        json.builder.begin_mapping();
        json.text("channel", channel.name);
        json.builder.unsigned_integer("count", channel.count);
        json.builder.end();
    }
    json.builder.end();
    json.builder.begin_list("passes");
    for (const FrameRecord::PassCount& pass : record.passes) {
        json.builder.begin_mapping();
        json.text("pass", pass.pass);
        json.text("kind", pass.kind);
        json.builder.unsigned_integer("count", pass.count);
        json.builder.end();
    }
    json.builder.end();
    json.builder.end();
}

void write_frames(Session& session, JsonText& json) {
    const Frames* const frames = session.frames();
    const FrameStatistics kept = frames == nullptr ? FrameStatistics() : frames->statistics();
    json.builder.begin_mapping();
    for (const std::string_view key : {"first", "last"}) {
        json.builder.key(key);
        if (kept.num_frames == 0)
            json.builder.null();
        else
            json.builder.unsigned_integer(key == "first" ? kept.first : kept.last);
    }
    json.builder.unsigned_integer("frame", session.world.frame());
    json.builder.unsigned_integer("kept", kept.num_frames);
    json.builder.unsigned_integer("max", kept.max_frames);
    json.builder.unsigned_integer("bytes", kept.last_state_bytes);
    json.builder.end();
}

Response frames_response(Session& session) {
    JsonText json;
    write_frames(session, json);
    return {200, "application/json", json.finish()};
}

Response compare(Session& session, std::uint64_t from, std::uint64_t to) {
    World& world = session.world;
    Frames& frames = *session.frames();
    if (const Status status = frames.rewind(from, LaterFrames::kUntilStep); !status)
        return refuse(400, status.message());
    const FrameValues values(world);
    if (const Status status = frames.rewind(to, LaterFrames::kUntilStep); !status) return refuse(400, status.message());
    JsonText json;
    DocumentBuilder& builder = json.builder;
    const EntityWriter writer(world);
    builder.begin_mapping();
    builder.begin_list("differences");
    std::uint64_t total = 0;
    values.compare(world, [&](const ValueDifference& difference) {
        if (++total > kMostDifferences) return;
        builder.begin_mapping();
        builder.string("entity", entity_text(difference.entity));
        json.text("name", writer.name_of(difference.entity));
        json.text("component", difference.schema->name());
        json.text("field", difference.field == nullptr ? std::string_view() : difference.field->name);
        builder.string("kind", difference.kind);
        for (const auto& [key, value] : {std::pair("from", difference.from), std::pair("to", difference.to)}) {
            builder.key(key);
            if (value == nullptr)
                builder.null();
            else
                writer.write_value(difference.type, value, builder);
        }
        builder.end();
    });
    builder.end();
    builder.unsigned_integer("total", total);
    builder.boolean("more", total > kMostDifferences);
    builder.end();
    return {200, "application/json", json.finish()};
}

}  // namespace

Response show_journal(Session& session, const Request& request) {
    session.watch_journal();
    const std::uint64_t num_frames = number_parameter(request, "frames", kUsualFrames, kMostFrames);
    const std::size_t count = std::min<std::size_t>(session.records.size(), num_frames);
    const auto first = session.records.end() - static_cast<std::ptrdiff_t>(count);
    JsonText json;
    json.builder.begin_mapping();
    const Journal journal = session.world.observers().journal(count == 0 ? session.world.stamp() : first->stamp);
    json.builder.boolean("complete", journal.is_complete);
    json.builder.begin_list("entries");
    for (const JournalEntry& entry : journal.entries) {
        // A record's stamp is taken after the frame has settled.
        const auto frame =
            std::upper_bound(first, session.records.end(), entry.stamp,
                             [](std::uint64_t stamp, const FrameRecord& one) { return stamp < one.stamp; });
        if (frame != session.records.end()) write_entry(entry, frame->frame, session.world, json);
    }
    json.builder.end();
    json.builder.begin_list("frames");
    for (auto record = first; record != session.records.end(); ++record) write_frame(*record, json);
    json.builder.end();
    json.builder.end();
    return {200, "application/json", json.finish()};
}

Response show_frames(Session& session, const Request&) { return frames_response(session); }

Response keep_frames(Session& session, const Request& request) {
    const RequestBody body(request);
    if (body.refusal) return *body.refusal;
    const std::optional<std::uint64_t> keep = body.number("keep");
    if (!keep || *keep > kMostKept) return refuse(400, concat("`keep` is a number of frames, at most ", kMostKept));
    session.keep_frames(static_cast<std::uint32_t>(*keep));
    return frames_response(session);
}

Response rewind(Session& session, const Request& request) {
    const RequestBody body(request);
    if (body.refusal) return *body.refusal;
    const std::optional<std::uint64_t> frame = body.number("frame");
    if (!frame) return refuse(400, "`frame` is the frame to go to; GET /api/frames says which are kept");
    if (session.frames() == nullptr)
        return refuse(400, "no frames are kept; POST /api/frames {\"keep\": 60} begins with it");
    if (const Status status = session.frames()->rewind(*frame, LaterFrames::kUntilStep); !status)
        return refuse(400, status.message());
    session.control.is_paused = true;
    session.control.num_steps = 0;
    return frames_response(session);
}

Response compare_frames(Session& session, const Request& request) {
    if (session.frames() == nullptr)
        return refuse(400, "no frames are kept; POST /api/frames {\"keep\": 60} begins with it");
    if (!session.options.allow_edits)
        return refuse(403, "frames are compared by going back to them, which the program does not allow");
    if (!session.control.is_paused) return refuse(400, "pause the world before frames are compared");
    if (session.has_unkept_edits)
        return refuse(
            400, "the last edits are in no frame yet, and comparing would undo them; step once, or take them back");
    const std::uint64_t now = session.world.frame();
    const std::uint64_t from = number_parameter(request, "from", now, ~0ull),
                        to = number_parameter(request, "to", now, ~0ull);
    Response response = compare(session, from, to);
    if (const Status status = session.frames()->rewind(now, LaterFrames::kUntilStep); !status)
        return refuse(500, status.message());
    return response;
}

}  // namespace shoal::inspect
