#include "save/zone_files.h"

#include "save/state_file.h"
#include "shoal/base/detail/append_file.h"
#include "shoal/base/file.h"
#include "shoal/base/log.h"
#include "shoal/base/string_id.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/entity/entity_text.h"
#include "shoal/react/service.h"
#include "shoal/save/persistence.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

namespace shoal {
namespace {

constexpr std::string_view kPrefix = "zone_", kEnding = ".rows";
constexpr std::uint64_t kSettlesUntilRetry = 60;  // wait after a failure; its cause may be gone by then

/// Whether a file name has a form that path_of() uses, or that older versions used.
bool is_zone_file(std::string_view name) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kEnding) || name.size() <= kPrefix.size() + kEnding.size())
        return false;
    name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kEnding.size());
    return std::all_of(name.begin(), name.end(), [](char c) { return c == '_' || (c >= '0' && c <= '9'); });
}

/// Returns a new, unique number for a file.
std::uint64_t next_file_number() {
    static std::atomic<std::uint64_t> num_files{0};
    return num_files.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

std::uint64_t ZoneFiles::hash_of(std::span<const std::byte> bytes) { return hash_bytes(bytes.data(), bytes.size()); }

Status ZoneFiles::about(std::string_view what, Zone zone, const Status& status) {
    return Status::error(concat("cannot ", what, " zone ", zone, ": ", status.message()));
}

ZoneFiles::ZoneFiles(World& world, Database& database)
    : world_(world), database_(database), deaths_(world.entities(), "zones in files") {}

ZoneFiles::~ZoneFiles() {
    if (watches_) database_.watch_zones(false);
    for (const File& file : files_) remove(file);
}

/// The name contains the number because during a load, a zone's old and new files exist at the same time.
std::string ZoneFiles::path_of(const File& file) const {
    return concat(folder_, '/', kPrefix, file.zone, '_', file.number, kEnding);
}

void ZoneFiles::remove(const File& file) const {
    if (const Status status = remove_file(path_of(file)); !status) log(LogLevel::kWarning, status.message());
}

Status ZoneFiles::start(const std::string& folder, const ZoneFileOptions& options) {
    if (Status status = make_folder(folder); !status) return status;
    Result<FileLock> lock = FileLock::take(concat(folder, "/lock"));
    if (!lock) return lock.status();
    const Result<std::vector<std::string>> names = list_folder(folder);
    if (!names) return names.status();
    for (const std::string& name : *names)
        if (is_zone_file(name))
            if (Status status = remove_file(concat(folder, '/', name)); !status) return status;
    folder_ = folder;
    lock_ = std::move(*lock);
    options_ = options;
    return {};
}

void ZoneFiles::watch() {
    watches_ = true;
    database_.watch_zones(true);
}

Zone ZoneFiles::zone_of(Entity entity) const {
    for (const File& file : files_)
        if (std::binary_search(file.owners.begin(), file.owners.end(), entity)) return file.zone;
    return kNoZone;
}

ZoneFiles* ZoneFiles::of(const World& world) {
    const auto* const streaming = dynamic_cast<const ZoneStreaming*>(world.services().find(ServiceStage::kZones));
    return streaming == nullptr ? nullptr : streaming->files_;
}

// --- deaths ------------------------------------------------------------------------------------------------------

/// Returns the entities that have died since the last note_deaths() and may have a row in a file, ascending.
Array<Entity> ZoneFiles::new_dead() const {
    if (deaths_.fell_behind()) return Array<Entity>("zone files");
    return deaths_.dead([this](Entity entity) { return has_row_.test(entity.index()); });
}

/// Returns the entities of new_dead() that have a row in a file.
Array<Entity> ZoneFiles::new_gone(const File& file, std::span<const Entity> dead) const {
    Array<Entity> gone("zone files");
    if (deaths_.fell_behind()) {
        for (const Entity owner : file.owners)
            if (!world_.entities().alive(owner)) gone.push_back(owner);
    } else {
        for (const Entity entity : dead)
            if (std::binary_search(file.owners.begin(), file.owners.end(), entity)) gone.push_back(entity);
    }
    return gone;
}

/// Records which owners of rows in a file are dead. Shape: `gone` is ascending.
void ZoneFiles::set_gone(File& file, Array<Entity> gone) const {
    file.owners.insert(file.owners.end(), file.gone.begin(), file.gone.end());
    erase_if(file.owners, [&](Entity owner) { return std::binary_search(gone.begin(), gone.end(), owner); });
    std::sort(file.owners.begin(), file.owners.end());
    file.gone = std::move(gone);
}

/// Starts tracking the deaths of a file's owners. Some of the owners may already be dead.
void ZoneFiles::note_owners(File& file) {
    Array<Entity> gone = file.gone;
    for (const Entity owner : file.owners) {
        has_row_.set(owner.index());
        if (!world_.entities().alive(owner)) gone.push_back(owner);
    }
    std::sort(gone.begin(), gone.end());
    set_gone(file, std::move(gone));
}

void ZoneFiles::note_deaths() {
    if (deaths_.is_at_end()) return;
    const Array<Entity> dead = new_dead();
    if (!dead.empty() || deaths_.fell_behind())
        for (File& file : files_) {
            Array<Entity> gone = new_gone(file, dead);
            if (gone.empty()) continue;
            gone.insert(gone.end(), file.gone.begin(), file.gone.end());
            std::sort(gone.begin(), gone.end());
            set_gone(file, std::move(gone));
        }
    deaths_.pass_all();
}

// --- unloading ---------------------------------------------------------------------------------------------------

Status ZoneFiles::unload(Zone zone) {
    note_deaths();
    if (database_.num_rows(zone) == 0) return {};
    if (find(zone) != nullptr) {  // the zone has new rows
        // The rows in its file are known to be writable. The new rows are tested here, while the file still exists.
        Snapshot state;
        if (Status status = save_rows(zone, state); !status) return about("unload", zone, status);
        if (Status status = load(zone); !status) return status;
    }
    File file;
    file.zone = zone;
    file.num_rows = database_.num_rows(zone);
    if (Status status = write_rows(file); !status) return about("unload", zone, status);
    for (const DatabaseTable* table : database_.all_tables())
        if (table != nullptr && table->zone() == zone)
            file.owners.insert(file.owners.end(), table->entities().begin(), table->entities().end());
    std::sort(file.owners.begin(), file.owners.end());
    note_owners(file);
    database_.drop_zone(zone);
    files_.insert(std::ranges::lower_bound(files_, zone, {}, &File::zone), std::move(file));
    unloaded_.insert(zone);
    refused_.erase(zone);
    ++num_unloads_;
    return {};
}

/// Errors: rows cannot be written.
Status ZoneFiles::save_rows(Zone zone, Snapshot& state) const {
    SnapshotWriter to(state);
    to.check_values();
    database_.write_zone(zone, to);
    return to.status();
}

Status ZoneFiles::write_rows(File& file) const {
    Snapshot state;
    if (Status status = save_rows(file.zone, state); !status) return status;
    list_texts(state, file);
    const Result<Array<std::byte>> bytes = write_state(state, world_.executor());
    return bytes ? write(file, *bytes) : bytes.status();
}

/// Lists the strings that the rows refer to. String ids are aligned to their size, so all aligned words are tested.
void ZoneFiles::list_texts(const Snapshot& rows, File& file) const {
    if (world_.strings().size() == 0) return;
    Array<std::byte> room{Owner("zone files")};
    StringId id, last;
    for (std::size_t number = 0; number < rows.num_parts(); ++number) {
        const SnapshotPart part = rows.part(number);
        if (part.element_bytes % sizeof id != 0) continue;
        for (std::size_t i = 0; i < part.num_blocks(); ++i) {
            const std::span<const std::byte> bytes = rows.block(part, i, room);
            for (std::size_t at = 0; at < bytes.size(); at += sizeof id, last = id) {
                std::memcpy(&id, bytes.data() + at, sizeof id);
                if (id != last && !world_.strings().text(id).empty()) file.texts.push_back(id);
            }
        }
    }
    std::ranges::sort(file.texts);
    file.texts.erase(std::unique(file.texts.begin(), file.texts.end()), file.texts.end());
}

/// Only this run of the program reads the file, so it is not flushed.
Status ZoneFiles::write(File& file, std::span<const std::byte> bytes) const {
    file.number = next_file_number();
    const std::string path = path_of(file);
    Result<AppendFile> made = AppendFile::create(path);
    if (!made) return made.status();
    if (Status status = made->append(bytes); !status) {
        static_cast<void>(remove_file(path));
        return status;
    }
    file.num_bytes = bytes.size();
    file.hash = hash_of(bytes);
    return {};
}

// --- loading -----------------------------------------------------------------------------------------------------

Status ZoneFiles::load(Zone zone) {
    note_deaths();
    const File* const file = find(zone);
    if (file == nullptr) return {};
    if (Status status = read_rows(*file); !status) return about("load", zone, status);
    forget(zone);
    last_visits_.set(zone, world_.stamp());
    ++num_loads_;
    return {};
}

/// Errors: the file is missing, or has changed.
Result<std::string> ZoneFiles::read(const File& file) const {
    const std::string path = path_of(file);
    Result<std::string> bytes = read_file(path);
    if (!bytes) return bytes;
    if (bytes->size() != file.num_bytes || hash_of(std::as_bytes(std::span(*bytes))) != file.hash)
        return Status::error(concat('"', path, "\" is not what was written: it has ", bytes->size(), " bytes of ",
                                    file.num_bytes, ", or different content; restore the file and try again"));
    return bytes;
}

Status ZoneFiles::read_rows(const File& file) {
    const Result<std::string> bytes = read(file);
    if (!bytes) return bytes.status();
    constexpr std::uint64_t kAny = ~std::uint64_t(0);  // the checksum of the file was checked, so any size is allowed
    const Result<Snapshot> state = read_state(std::as_bytes(std::span(*bytes)), world_.executor(), kAny);
    if (!state) return state.status();
    SnapshotReader from(*state, false);
    return database_.read_zone(file.zone, from, file.gone).status();
}

/// Removes the file of a zone.
void ZoneFiles::forget(Zone zone) {
    remove(*find(zone));
    files_.erase(files_.begin() + (find(zone) - files_.data()));
    unloaded_.erase(zone);
    if (files_.empty()) has_row_.clear();
}

Status ZoneFiles::load_all() {
    Status first;
    const ZoneSet zones = unloaded_;
    zones.for_each([&](Zone zone) {
        const Status status = load(zone);
        if (!status && first) first = status;
    });
    return first;
}

// --- settling ----------------------------------------------------------------------------------------------------

void ZoneFiles::load_visited() {
    const std::uint64_t now = world_.stamp();
    database_.take_watched_zones().for_each([&](Zone zone) {
        last_visits_.set(zone, now);
        File* const file = find(zone);
        if (file == nullptr) return;
        if (file->failed_at != 0 && now - file->failed_at < kSettlesUntilRetry) return;
        const Status status = load(zone);
        if (status) return;
        if (file->failed_at == 0) log(LogLevel::kError, status.message());
        file->failed_at = now;
    });
}

void ZoneFiles::keep_budget() {
    const auto is_kept = [&](std::uint64_t num_rows, std::uint64_t num_bytes) {
        return (options_.max_rows == 0 || num_rows <= options_.max_rows) &&
               (options_.max_bytes == 0 || num_bytes <= options_.max_bytes);
    };
    if (options_.max_rows == 0 && options_.max_bytes == 0) return;
    const std::uint64_t now = world_.stamp();
    Array<Candidate> candidates{Owner("zone files")};
    HashMap<Zone, std::uint32_t> candidate_of{Owner("zone files")};
    std::uint64_t num_rows = 0, num_bytes = 0;
    for (const DatabaseTable* table : database_.all_tables()) {
        if (table == nullptr || table->num_rows() == 0) continue;
        const std::uint64_t bytes = table->memory_use().used_bytes;
        num_rows += table->num_rows(), num_bytes += bytes;
        const Zone zone = table->zone();
        const std::uint64_t last_visit = last_visits_.find_or(zone, 0);
        // The first zone stays: it holds entities without a zone, and queries without zones expect their rows in
        // memory.
        if (zone == database_.first_zone() || last_visit == now || options_.kept.contains(zone)) continue;
        const std::uint64_t* const refused_at = refused_.find(zone);
        if (refused_at != nullptr && now - *refused_at < kSettlesUntilRetry) continue;
        const std::uint32_t number = candidate_of.find_or(zone, static_cast<std::uint32_t>(candidates.size()));
        candidate_of.set(zone, number);
        if (number == candidates.size()) candidates.push_back({last_visit, zone, 0, 0});
        candidates[number].num_rows += table->num_rows(), candidates[number].num_bytes += bytes;
    }
    if (is_kept(num_rows, num_bytes)) return;
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.last_visit != b.last_visit ? a.last_visit < b.last_visit : a.zone < b.zone;
    });
    for (const Candidate& next : candidates) {
        if (is_kept(num_rows, num_bytes)) return;
        if (const Status status = unload(next.zone); !status) {
            if (refused_.find(next.zone) == nullptr) log(LogLevel::kError, status.message());
            refused_.set(next.zone, now);
            continue;
        }
        num_rows -= next.num_rows, num_bytes -= next.num_bytes;
    }
}

ZoneFileStatistics ZoneFiles::statistics() const {
    ZoneFileStatistics result{.num_unloads = num_unloads_, .num_loads = num_loads_};
    for (const File& file : files_) {
        ++result.num_unloaded;
        result.num_rows += file.num_rows, result.file_bytes += file.num_bytes;
    }
    return result;
}

// --- the service -------------------------------------------------------------------------------------------------

ZoneStreaming::ZoneStreaming(World& world) : WorldService("zones", ServiceStage::kZones), world_(&world) {
    world.services().add(*this);
}

ZoneStreaming::~ZoneStreaming() {
    if (world_ == nullptr) return;
    stop_persistence();
    world_->services().remove(*this);
    world_ends();
}

/// Stops persisting the world. Its last state is written while the files still exist, because later states would lack
/// the rows in these files.
void ZoneStreaming::stop_persistence() {
    auto* const persistence = static_cast<Persistence*>(world_->services().find(ServiceStage::kPersistence));
    if (files_ == nullptr || files_->unloaded().empty() || persistence == nullptr) return;
    if (!persistence->statistics().is_running) return;
    const Status status = persistence->stop();
    log(LogLevel::kWarning,
        concat(
            "the world is no longer persisted, because the object that streams its zones has ended; make it before the "
            "Persistence, so that it ends after it",
            status ? "" : "; the last state was not written: ", status ? "" : status.message()));
}

void ZoneStreaming::world_ends() {
    delete std::exchange(files_, nullptr);
    world_ = nullptr;
}

void ZoneStreaming::before_commands(const SettleContext&) {
    if (files_ != nullptr) files_->load_visited();
}

void ZoneStreaming::after_commands(const SettleContext&) {
    if (files_ != nullptr) files_->keep_budget();
}

void ZoneStreaming::note_deaths() {
    if (files_ != nullptr) files_->note_deaths();
}

void ZoneStreaming::before_detach(Store& store) {
    if (files_ == nullptr || &store != &files_->database()) return;
    if (const Status status = files_->load_all(); !status) log(LogLevel::kError, status.message());
}

void ZoneStreaming::forget(const Store& store) {
    if (files_ != nullptr && &store == &files_->database()) delete std::exchange(files_, nullptr);
}

void ZoneStreaming::mark_texts(TextMarks& marks) const {
    if (files_ != nullptr) files_->for_each_text([&](StringId id) { marks.mark(id); });
}

std::string ZoneStreaming::describe() const {
    if (files_ == nullptr) return "none are streamed";
    const ZoneFileStatistics now = files_->statistics();
    return concat(now.num_unloaded, " with ", now.num_rows, " rows are unloaded to \"", files_->folder(), '"');
}

/// Returns the world, which must be at rest. If it is not, the message uses `asked` to name the call.
World& ZoneStreaming::world_now(std::string_view asked) const {
    SHOAL_ASSERT(world_ != nullptr, "zones of a world that has ended were to be streamed");
    if (!world_->services().is_at_rest())
        fail_assertion("the world is at rest", concat("a pass or a callback ", asked));
    return *world_;
}

Status ZoneStreaming::start(const std::string& folder, const ZoneFileOptions& options) {
    World& world = world_now("asked for zones to be streamed; do it between steps");
    if (files_ != nullptr && files_->folder() == folder) return files_->set_options(options), Status();
    auto* const made = new ZoneFiles(world, world.database());
    Status status = made->start(folder, options);
    if (status) status = stop();  // the old folder is used until the new one is ready
    if (!status) return delete made, status;
    files_ = made;
    made->watch();
    return {};
}

Status ZoneStreaming::stop() {
    if (files_ == nullptr) return {};
    if (Status status = load_all(); !status) return status;
    delete std::exchange(files_, nullptr);
    return {};
}

Status ZoneStreaming::unload(Zone zone) {
    world_now("unloaded a zone; do it between steps");
    require_zone(zone);
    if (files_ == nullptr)
        return Status::error(concat("zone ", zone, " has no file to go to; call ZoneStreaming::start() before"));
    return files_->unload(zone);
}

Status ZoneStreaming::load(Zone zone) {
    world_now("loaded a zone; visit it with a query, or do it between steps");
    return files_ == nullptr ? Status() : files_->load(zone);
}

Status ZoneStreaming::load_all() {
    world_now("loaded zones; do it between steps");
    return files_ == nullptr ? Status() : files_->load_all();
}

ZoneSet ZoneStreaming::unloaded_zones() const { return unloaded(); }

Zone ZoneStreaming::unloaded_zone_of(Entity entity) const {
    return files_ == nullptr ? kNoZone : files_->zone_of(entity);
}

ZoneSet ZoneStreaming::unloaded() const { return files_ == nullptr ? ZoneSet() : files_->unloaded(); }

ZoneFileStatistics ZoneStreaming::statistics() const {
    return files_ == nullptr ? ZoneFileStatistics() : files_->statistics();
}

}  // namespace shoal
