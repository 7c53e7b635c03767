#include "inspector/session.h"

#include "shoal/react/observers.h"

#include <algorithm>
#include <unordered_map>

namespace shoal::inspect {

namespace {

constexpr std::int64_t kWatchedNs = 10'000'000'000;  // the time after a request for which a page counts as watching
constexpr std::size_t kMostRecords = 600;            // frames
constexpr std::size_t kMostJournal = 100'000;        // entities
constexpr std::uint32_t kTracedEvents = 4096;        // per worker

}  // namespace

Session::~Session() {
    if (own_trace_ && world.schedule().trace() == &*own_trace_) world.schedule().set_trace(nullptr);
    if (keeps_journal_) world.observers().keep_journal(0);
}

void Session::note_commands() {
    if (journal_asked_ns_ == 0) return;
    WaitingCommands::of_directory(world.directory())
        .count(
            [](void* context, std::uint32_t pass, std::string_view kind, std::uint64_t count) {
                auto& session = *static_cast<Session*>(context);
                const std::string_view name = session.world.schedule().name_at(pass);
                for (FrameRecord::PassCount& known : session.commands_)
                    if (known.pass == name && known.kind == kind) return void(known.count += count);
                session.commands_.push_back({std::string(name), std::string(kind), count});
            },
            this);
}

void Session::note_frame() {
    const std::int64_t now = monotonic_ns();
    has_unkept_edits = false;
    std::erase_if(kept_answers, [now](const auto& kept) { return kept.second.until_ns < now; });
    if (frame_began_ns_ != 0) frame_ns = now - frame_began_ns_;
    if (trace_asked_ns_ != 0 && now - trace_asked_ns_ > kWatchedNs) {
        trace_asked_ns_ = 0;
        if (own_trace_ && world.schedule().trace() == &*own_trace_) world.schedule().set_trace(nullptr);
        own_trace_.reset();
    }
    if (journal_asked_ns_ == 0) return;
    if (now - journal_asked_ns_ > kWatchedNs) {
        journal_asked_ns_ = 0;
        records.clear();
        if (keeps_journal_) world.observers().keep_journal(0);
        keeps_journal_ = false;
        return;
    }
    // If the world went back in time, the later records are for frames that were undone.
    while (!records.empty() && records.back().frame >= world.frame()) records.pop_back();
    FrameRecord record{world.frame(), world.stamp(), world.settle_statistics().last, {}, std::move(commands_)};
    commands_.clear();
    world.events().for_each_count([&](std::string_view name, std::uint64_t count) {
        if (count != 0) record.events.push_back({std::string(name), count});
    });
    records.push_back(std::move(record));
    if (records.size() > kMostRecords) records.pop_front();
}

std::shared_ptr<const SpawnSource> Session::source_of(const Blob& blob) {
    for (const SpawnRecord& spawn : spawns)
        if (spawn.source->checksum == blob.header().checksum && spawn.source->guids.size() == blob.num_entities())
            return spawn.source;
    auto source = std::make_shared<SpawnSource>();
    source->resource = blob.name();
    source->checksum = blob.header().checksum;
    std::unordered_map<std::string_view, std::uint32_t> number_of;  // index of each file
    for (std::uint32_t entity = 0; entity < blob.num_entities(); ++entity) {
        const std::string_view file = blob.source_file(entity);
        const auto [at, is_new] = number_of.try_emplace(file, static_cast<std::uint32_t>(source->file_names.size()));
        if (is_new) source->file_names.emplace_back(file);
        source->files.push_back(at->second);
        source->guids.push_back(blob.guid(entity));
        source->lines.push_back(file.empty() ? 0 : blob.source_line(entity));
    }
    return source;
}

void Session::note_spawn(const Blob& blob, const Spawned& spawned) {
    if (spawned.entities().empty()) return;
    SpawnRecord record{source_of(blob), {spawned.entities().begin(), spawned.entities().end()}};
    spawns.push_back(std::move(record));
    if (spawns.size() < next_sweep_) return;
    // Keep only spawns with living entities, for programs that spawn and destroy entities continuously.
    std::erase_if(spawns, [&](const SpawnRecord& old) {
        return std::ranges::none_of(old.entities, [&](Entity entity) { return world.entities().alive(entity); });
    });
    next_sweep_ = std::max<std::size_t>(16, 2 * spawns.size());
}

Frames* Session::frames() { return static_cast<Frames*>(world.services().find(ServiceStage::kFrames)); }

void Session::keep_frames(std::uint32_t max_frames) {
    if (max_frames == 0) return own_frames_.reset();
    if (Frames* const kept = frames(); kept == nullptr)
        own_frames_.emplace(world, max_frames);
    else
        kept->keep(max_frames);
}

const Trace& Session::trace() {
    trace_asked_ns_ = monotonic_ns();
    if (const Trace* const of_program = world.schedule().trace(); of_program != nullptr) return *of_program;
    own_trace_.emplace(world.executor().num_workers(), kTracedEvents);
    world.schedule().set_trace(&*own_trace_);
    return *own_trace_;
}

void Session::watch_journal() {
    if (journal_asked_ns_ == 0) records.push_back({world.frame(), world.stamp(), {}, {}, {}});
    journal_asked_ns_ = monotonic_ns();
    if (world.observers().keeps_journal()) return;
    world.observers().keep_journal(kMostJournal);
    keeps_journal_ = true;
}

}  // namespace shoal::inspect
