// Saves and loads unloaded zones, whose files are copied unchanged.

#include "save/state_file.h"
#include "save/zone_files.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/entity/detail/saved_entities.h"
#include "shoal/state/snapshot.h"

#include <algorithm>
#include <utility>

namespace shoal {
namespace {

constexpr std::string_view kPartEnding = "/file";

Zone zone_of(Zone zone) { return zone; }
template <class T>
Zone zone_of(const T& saved) {
    return saved.zone;
}

/// Reads a list from a state. It has one element per zone. Reads nothing if the state does not have the list. Errors:
/// the list is not ascending, or a zone is out of range.
template <class T>
Status read_zones(SnapshotReader& from, std::string_view name, Array<T>& all) {
    if (!from.has(name)) return {};
    if (Status status = from.array(name, all); !status) return status;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (zone_of(all[i]) >= kMaxZones || (i != 0 && zone_of(all[i]) <= zone_of(all[i - 1])))
            return from.error(name, concat("zone ", zone_of(all[i]), " is out of range, or not in its place"));
    return {};
}

using ZoneStamps = HashMap<Zone, std::uint64_t>;

void save_stamps(SnapshotWriter& to, std::string_view name, const ZoneStamps& stamps) {
    Array<SavedZoneStamp> saved{Owner("zone files")};
    stamps.for_each([&](Zone zone, std::uint64_t stamp) { saved.push_back({zone, 0, stamp}); });
    std::ranges::sort(saved, {}, &SavedZoneStamp::zone);
    to.array(name, saved);
}

void set_stamps(ZoneStamps& stamps, std::span<const SavedZoneStamp> saved) {
    stamps.clear();
    for (const SavedZoneStamp& one : saved) stamps.set(one.zone, one.stamp);
}

}  // namespace

std::string ZoneFiles::part_name(Zone zone) { return concat(zone, kPartEnding); }

/// Reads the dead owners of rows in a file.
Status ZoneFiles::read_gone(SnapshotReader& from, Zone zone, Array<Entity>& gone) {
    const std::string name = concat(zone, "/gone");
    if (!from.has(name)) return {};
    Status status = read_entities(from, name, gone);
    std::sort(gone.begin(), gone.end());
    return status;
}

// --- saving ------------------------------------------------------------------------------------------------------

void ZoneFiles::save(SnapshotWriter& to, std::string_view store) const {
    const SnapshotPath::Scope scope = to.in(kScope);
    Array<Zone> visited{Owner("zone files")};
    database_.watched_zones().for_each([&](Zone zone) { visited.push_back(zone); });
    to.text("store", store);
    save_stamps(to, "visits", last_visits_);
    save_stamps(to, "refused", refused_);
    to.array("visited", visited);
    if (files_.empty()) return;
    Array<SavedZone> zones{Owner("zone files")};
    for (const File& file : files_)
        zones.push_back({file.zone, 0, file.num_rows, file.num_bytes, file.hash, file.failed_at});
    to.array("list", zones);
    const Array<Entity> dead = new_dead();
    for (const File& file : files_) {
        Array<Entity> gone = new_gone(file, dead);
        gone.insert(gone.end(), file.gone.begin(), file.gone.end());
        std::sort(gone.begin(), gone.end());
        if (!gone.empty()) to.array(concat(file.zone, "/gone"), gone);
        const std::string name = part_name(file.zone);
        if (to.share(name, file.number)) continue;
        const Result<std::string> bytes = read(file);
        if (!bytes) return to.refuse(concat("zone ", file.zone, " is unloaded, and ", bytes.message()));
        to.elements(name, bytes->data(), 1, bytes->size(), file.number);
    }
}

// --- loading -----------------------------------------------------------------------------------------------------

Result<std::string> ZoneFiles::store_in(SnapshotReader& from) {
    const SnapshotPath::Scope scope = from.in(kScope);
    return from.has("store") ? from.text("store") : Result<std::string>(std::string());
}

Status ZoneFiles::read_list(SnapshotReader& from, Array<SavedZone>& zones) { return read_zones(from, "list", zones); }

Status ZoneFiles::check_parts(const Snapshot& state, SnapshotReader& from, bool has_unloaded) {
    const SnapshotPath::Scope scope = from.in(kScope);
    Array<SavedZone> zones{Owner("zone files")};
    if (Status status = read_list(from, zones); !status) return status;
    constexpr std::string_view kAdvice = "; take another copy of the save";
    if (has_unloaded == zones.empty())
        return from.error("list",
                          concat(has_unloaded ? "it lists no zone, and \"world/format\" says that some are unloaded"
                                              : "it lists zones, and \"world/format\" says that none is unloaded",
                                 kAdvice));
    if (has_unloaded && !from.has("store"))
        return from.error("store", concat("it is missing, and zones are unloaded", kAdvice));
    Array<std::string> listed{Owner("zone files")};
    for (const SavedZone& saved : zones) {
        const std::string name = part_name(saved.zone);
        if (!from.has(name)) return from.error(name, concat("it is missing, and its zone is listed", kAdvice));
        listed.push_back(name);
    }
    std::ranges::sort(listed);
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        std::string_view name = state.part(i).path;
        if (!name.starts_with(concat(kScope, '/')) || !name.ends_with(kPartEnding)) continue;
        name.remove_prefix(kScope.size() + 1);
        if (!std::ranges::binary_search(listed, name))
            return from.error(name, concat("it is there, and its zone is not listed", kAdvice));
    }
    return {};
}

Result<Snapshot> ZoneFiles::open(SnapshotReader& from, const SavedZone& saved, Executor& executor,
                                 Array<std::byte>& bytes) {
    const std::string name = part_name(saved.zone);
    if (Status status = from.bytes(name, bytes, 1, saved.num_bytes); !status) return status;
    if (!from.is_trusted() && hash_of(bytes) != saved.hash) return from.error(name, "its hash is wrong");
    // The limit applies to all zones together, although they are read one by one, because a small save could expand to
    // any number of large zones. The limit includes the owners, which stay in memory.
    const std::uint64_t left = from.left_memory();
    if (Status status = from.take_memory(name, unpacked_bytes(bytes)); !status) return status;
    Result<Snapshot> state = read_state(bytes, executor, std::max<std::uint64_t>(left, 1));
    return state ? std::move(state) : Result<Snapshot>(from.error(name, state.message()));
}

Status ZoneFiles::read_into(World& world, Database& database, SnapshotReader& from) {
    const SnapshotPath::Scope scope = from.in(kScope);
    Array<SavedZone> zones{Owner("zone files")};
    if (Status status = read_list(from, zones); !status) return status;
    for (const SavedZone& saved : zones) {
        Array<std::byte> bytes{Owner("zone files")};
        const Result<Snapshot> state = open(from, saved, world.executor(), bytes);
        if (!state) return state.status();
        Array<Entity> gone{Owner("zone files")};
        if (Status status = read_gone(from, saved.zone, gone); !status) return status;
        SnapshotReader rows(*state, from.is_trusted());
        if (const Result<std::uint32_t> read = database.read_zone(saved.zone, rows, gone); !read)
            return about("load", saved.zone, read.status());
    }
    return {};
}

Status ZoneFiles::prepare(SnapshotReader& from, Loaded& loaded) const {
    const SnapshotPath::Scope scope = from.in(kScope);
    Array<SavedZone> zones{Owner("zone files")};
    if (Status status = read_list(from, zones); !status) return status;
    if (Status status = read_zones(from, "visits", loaded.visits_); !status) return status;
    if (Status status = read_zones(from, "refused", loaded.refused_); !status) return status;
    if (Status status = read_zones(from, "visited", loaded.visited_); !status) return status;
    for (const SavedZone& saved : zones) {
        Result<File> file = prepare(from, saved);
        if (!file) return file.status();
        loaded.files_.push_back(std::move(*file));
    }
    return {};
}

/// Writes the file of a zone. An existing file with the same size and hash is reused, but is written again if it was
/// truncated or removed. A check for other damage would take as long as writing the file.
Result<ZoneFiles::File> ZoneFiles::prepare(SnapshotReader& from, const SavedZone& saved) const {
    File file;
    file.zone = saved.zone;
    file.failed_at = saved.failed_at;
    if (Status status = read_gone(from, saved.zone, file.gone); !status) return status;
    const File* const known = find(files_, saved.zone);
    const bool is_known = known != nullptr && known->num_bytes == saved.num_bytes && known->hash == saved.hash;
    if (from.is_trusted() && is_known && file_stamp(path_of(*known)).num_bytes == saved.num_bytes) {
        file.number = known->number;
        return file;
    }
    Array<std::byte> bytes{Owner("zone files")};
    const Result<Snapshot> state = open(from, saved, world_.executor(), bytes);
    if (!state) return state.status();
    list_texts(*state, file);
    SnapshotReader rows(*state, from.is_trusted());
    Result<Array<Entity>> owners = database_.check_zone(saved.zone, rows);
    if (!owners) return about("load", saved.zone, owners.status());
    file.owners = std::move(*owners);
    file.num_rows = file.owners.size();
    if (file.num_rows != saved.num_rows)
        return from.error("list", concat("zone ", saved.zone, " has ", file.num_rows, " rows, not ", saved.num_rows));
    set_gone(file, std::exchange(file.gone, Array<Entity>("zone files")));
    if (Status status = write(file, bytes); !status) return about("load", saved.zone, status);
    return file;
}

ZoneFiles::Loaded::~Loaded() {
    for (const File& file : files_) {
        const File* const known = find(owner_->files_, file.zone);
        const bool is_used = known != nullptr && known->number == file.number;
        if (!is_used && file.number != 0) owner_->remove(file);
    }
}

void ZoneFiles::take(Loaded& loaded) {
    std::swap(files_, loaded.files_);
    unloaded_.clear();
    for (File& file : files_) {
        unloaded_.insert(file.zone);
        File* const known = find(loaded.files_, file.zone);
        if (known == nullptr || known->number != file.number) {
            note_owners(file);
            continue;
        }
        known->failed_at = file.failed_at;
        Array<Entity> gone = std::move(file.gone);
        file = std::move(*known);
        if (gone != file.gone) set_gone(file, std::move(gone));
        known->number = 0;
    }
    // `loaded` now has the old files, and its destructor removes them.
    set_stamps(last_visits_, loaded.visits_);
    set_stamps(refused_, loaded.refused_);
    ZoneSet visited;
    for (const Zone zone : loaded.visited_) visited.insert(zone);
    static_cast<void>(database_.take_watched_zones());
    database_.note_visit(visited);
}

}  // namespace shoal
