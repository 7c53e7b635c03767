// Checkpoints: each rank writes a file with its zones, and a manifest lists where each zone is stored. The manifest is
// written last, and replaced by a rename, so a folder always contains a complete checkpoint, either the new one or the
// previous one.
//
//     FOLDER/manifest             program, frame, schedule; for each zone its file, place, bytes, rows and a hash
//     FOLDER/000600_rank_2.zones  the zones that rank 2 owned in frame 600, as they are sent when zones change hands
//     FOLDER/000600_1_rank_2.zones    the same, from a second checkpoint of that frame

#include "cluster/cluster_body.h"
#include "shoal/base/detail/folder.h"
#include "shoal/base/detail/lines.h"
#include "shoal/base/file.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/entity_blob.h"

#include <algorithm>
#include <utility>

namespace shoal {

using cluster::Bytes;

struct SavedZonePlace {
    Zone zone;
    std::uint32_t rank;  // the rank whose file has the zone
    std::uint64_t begin, num_bytes, hash, num_rows;
};

struct ClusterBody::CheckpointFiles {
    std::uint64_t frame = 0, attempt = 0, num_temporary = 0, random = 0;
    Snapshot schedule;
    std::vector<SavedZonePlace> zones;

    /// Returns the prefix of all file names of this checkpoint.
    std::string prefix() const {
        std::string number = concat(frame);
        number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
        return attempt == 0 ? concat(number, "_rank_") : concat(number, '_', attempt, "_rank_");
    }
    std::string path(const std::string& folder, std::uint32_t rank) const {
        return concat(folder, '/', prefix(), rank, ".zones");
    }
    /// Whether a file name has the format of path().
    static bool is_of_zones(std::string_view name) {
        const std::size_t rank = name.find("_rank_");
        const auto is_number = [](std::string_view text) {
            return !text.empty() && text.find_first_not_of("0123456789_") == std::string_view::npos;
        };
        return name.ends_with(".zones") && rank != std::string_view::npos && is_number(name.substr(0, rank)) &&
               is_number(name.substr(rank + 6, name.size() - rank - 12));
    }
    /// Chooses unused file names, so that older checkpoints remain intact.
    void take_new_names(const std::string& folder) {
        const Result<std::vector<std::string>> all = list_folder(folder);
        for (; all && std::ranges::any_of(*all, [&](const auto& name) { return name.starts_with(prefix()); });
             ++attempt) {
        }
    }
    /// Removes the zones of other checkpoints.
    void remove_others(const std::string& folder) const {
        const Result<std::vector<std::string>> all = list_folder(folder);
        for (std::size_t i = 0; all && i < all->size(); ++i)
            if (is_of_zones((*all)[i]) && !(*all)[i].starts_with(prefix()))
                static_cast<void>(remove_file(concat(folder, '/', (*all)[i])));
    }
    static std::string manifest(const std::string& folder) { return concat(folder, "/manifest"); }
};

namespace {

constexpr std::string_view kMagic = "shoal cluster checkpoint 3";

/// Writes a small state for read_state().
void write_state(const Snapshot& state, cluster::MessageWriter& to) {
    to.value(static_cast<std::uint64_t>(state.num_parts()));
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        const SnapshotPart part = state.part(i);
        Bytes bytes(static_cast<std::size_t>(part.num_bytes()));
        state.copy(part, 0, part.num_elements, bytes.data());
        to.text(part.path);
        to.value(part.element_bytes);
        to.array(bytes);
    }
}

Status read_state(cluster::MessageReader& from, Snapshot& state) {
    SnapshotWriter to(state);
    const auto num_parts = from.value<std::uint64_t>();
    for (std::uint64_t i = 0; i < num_parts && from.is_sound(); ++i) {
        const std::string path = from.text();
        const auto element_bytes = from.value<std::uint32_t>();
        const auto bytes = from.array<std::byte>();
        if (element_bytes == 0 || element_bytes > kMaxSnapshotElementBytes || bytes.size() % element_bytes != 0 ||
            path.size() > kMaxSnapshotPathBytes)
            from.refuse();
        else
            to.elements(path, bytes.data(), element_bytes, bytes.size() / element_bytes);
    }
    return from.is_sound() ? to.status() : Status::error("its part about passes is damaged");
}

Status damaged(const std::string& path, std::string_view what) {
    return Status::error(concat("the checkpoint \"", path, "\" cannot be continued: ", what));
}

}  // namespace

/// Writes this rank's zones to a file, and records their places in it. Errors: the same as pack(); the file cannot be
/// written.
Status ClusterBody::write_zones(const std::string& folder, CheckpointFiles& files) {
    Bytes all;
    Status packed;
    const std::vector<std::uint64_t> rows = count_rows();
    zones.own.now().for_each([&](Zone zone) {
        if (!packed) return;
        MessageWriter to;
        std::vector<cluster::ColumnPiece> no_columns;
        Gone saved;
        packed = pack_zone(zone, nullptr, to, no_columns, saved);
        const std::uint64_t hash = hash_bytes(to.bytes().data(), to.bytes().size());
        files.zones.push_back({zone, ranks.rank(), all.size(), to.bytes().size(), hash, rows[zone - division.first()]});
        all.insert(all.end(), to.bytes().begin(), to.bytes().end());
    });
    return packed ? write_file(files.path(folder, ranks.rank()), std::span<const std::byte>(all)) : packed;
}

/// Writes the places of all zones, and the state of the schedule.
Status ClusterBody::write_manifest(const std::string& folder, CheckpointFiles& files) const {
    SnapshotWriter schedule(files.schedule);
    world.schedule().save(schedule);
    MessageWriter to;
    to.text(kMagic);
    to.text(cluster::facts_of(world, options));
    to.value(files.frame), to.value(files.attempt), to.value(files.num_temporary), to.value(world.random().state());
    std::ranges::sort(files.zones, {}, &SavedZonePlace::zone);
    to.array(files.zones);
    write_state(files.schedule, to);
    to.value(hash_bytes(to.bytes().data(), to.bytes().size()));
    return write_file(CheckpointFiles::manifest(folder), std::span<const std::byte>(to.bytes()));
}

Status ClusterBody::checkpoint(const std::string& folder) {
    if (!is_started) return Status::error("a cluster that has not started has no zones; call Cluster::start() before");
    CheckpointFiles files;
    files.frame = world.frame();
    Status written = check_at_rest();
    if (written && ranks.rank() == 0) {
        if (!is_directory(folder)) written = make_folder(folder);
        files.take_new_names(folder);
    }
    files.attempt = ranks.sum(files.attempt);  // also a barrier: rank 0 has created the folder
    if (written) written = write_zones(folder, files);
    MessageWriter mine;
    mine.value(bool(written));
    mine.value(names.num_temporary());
    mine.array(files.zones);
    files.zones.clear();
    bool is_written = true;
    for (const Bytes& bytes : ranks.gather(mine.bytes())) {
        MessageReader from(bytes);
        is_written &= from.value<bool>();
        files.num_temporary = std::max(files.num_temporary, from.value<std::uint64_t>());
        for (const SavedZonePlace& place : from.array<SavedZonePlace>()) files.zones.push_back(place);
    }
    if (!is_written)
        return written ? Status::error("another rank has not written its zones; its message says why") : written;
    if (ranks.rank() == 0) written = write_manifest(folder, files);
    if (!ranks.all(bool(written)))
        return written ? Status::error("rank 0 has not written the manifest; its message says why") : written;
    if (ranks.rank() == 0) files.remove_others(folder);
    return {};
}

/// Destroys the entities in all zones, and removes all names.
void ClusterBody::destroy_zones() {
    std::vector<Entity> gone = entities_in(world, all_zones());
    names.for_each_copy([&](Entity entity, Name) { gone.push_back(entity); });
    names.for_each_away([&](Entity entity, Name) { gone.push_back(entity); });
    std::sort(gone.begin(), gone.end());
    gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
    cluster::strip(world, gone);
    world.entities().destroy(gone);
    names = cluster::EntityNames(division.num_zones());
    deaths_.pass_all();
    own_rows_.clear(), copied_rows_.clear();
}

/// Reads the manifest. Errors: the manifest is missing, damaged, or from another program.
Status ClusterBody::read_manifest(const std::string& folder, CheckpointFiles& files) const {
    const std::string path = CheckpointFiles::manifest(folder);
    const Result<std::string> read = read_file(path);
    if (!read) return read.status();
    const std::span<const std::byte> bytes = std::as_bytes(std::span(*read));
    const std::size_t num_bytes = bytes.size() - std::min(bytes.size(), sizeof(std::uint64_t));
    MessageReader from(bytes.first(num_bytes)), last(bytes.subspan(num_bytes));
    if (from.text() != kMagic || last.value<std::uint64_t>() != hash_bytes(bytes.data(), num_bytes))
        return damaged(path, "it is damaged, or no checkpoint of a cluster; name the folder of one");
    if (const std::string other = cluster::find_other_fact(from.text(), cluster::facts_of(world, options));
        !other.empty())
        return damaged(path, concat(other, "; continue it with the program that wrote it"));
    files.frame = from.value<std::uint64_t>();
    files.attempt = from.value<std::uint64_t>();
    files.num_temporary = from.value<std::uint64_t>();
    files.random = from.value<std::uint64_t>();
    files.zones = from.array<SavedZonePlace>();
    for (const SavedZonePlace& place : files.zones)
        if (!division.has(place.zone)) return damaged(path, "it has zones that this program does not divide");
    return read_state(from, files.schedule);
}

/// Reads the zones that this rank will own. Errors: a file is missing or damaged.
Status ClusterBody::read_zones(const std::string& folder, const CheckpointFiles& files,
                               std::span<const std::uint32_t> next, std::vector<Bytes>& own) const {
    std::map<std::uint32_t, std::string> read;
    for (const SavedZonePlace& place : files.zones) {
        if (next[place.zone - division.first()] != ranks.rank()) continue;
        const std::string path = files.path(folder, place.rank);
        if (!read.contains(place.rank)) {
            Result<std::string> file = read_file(path);
            if (!file) return file.status();
            read[place.rank] = std::move(*file);
        }
        const std::span<const std::byte> all = std::as_bytes(std::span(read[place.rank]));
        if (place.num_bytes > all.size() || place.begin > all.size() - place.num_bytes)
            return damaged(path, concat("zone ", place.zone, " is not in it"));
        const std::span<const std::byte> zone = all.subspan(place.begin, place.num_bytes);
        if (hash_bytes(zone.data(), zone.size()) != place.hash)
            return damaged(path, concat("zone ", place.zone, " is damaged"));
        own.emplace_back(zone.begin(), zone.end());
    }
    return {};
}

Status ClusterBody::restore(const std::string& folder) {
    if (!status) return status;
    if (Status same = check_ranks(); !same) return same;
    CheckpointFiles files;
    std::vector<Bytes> own;
    Status sound = read_manifest(folder, files);
    std::vector<std::uint32_t> next;
    if (sound) {
        std::vector<std::uint64_t> weights(division.num_zones());
        for (const SavedZonePlace& place : files.zones) weights[place.zone - division.first()] = place.num_rows;
        Result<std::vector<std::uint32_t>> divided = division.divide(weights, ranks.size(), options);
        sound = divided.status();
        if (divided) next = std::move(*divided);
    }
    if (sound) sound = read_zones(folder, files, next, own);
    if (sound = agree(std::move(sound)); !sound) return sound;
    if (Status same = check_division(next); !same) return same;
    Snapshot before;
    SnapshotWriter keep(before);
    world.schedule().save(keep);
    SnapshotReader schedule(files.schedule);
    sound = agree(world.schedule().load(schedule));
    if (sound) sound = take_division(std::move(next));
    if (!sound) {
        SnapshotReader back(before);
        static_cast<void>(world.schedule().load(back));
        return sound;
    }
    destroy_zones();
    names.num_temporary() = files.num_temporary;
    for (const Bytes& zone : own) {
        MessageReader from(zone);
        if (const Status unpacked = unpack_zone(from, nullptr); !unpacked) fail("the checkpoint", unpacked);
    }
    world.schedule().set_frame(files.frame);
    world.random() = Random(files.random);
    is_started = true;
    renew_halo();
    tell_what_is_known();
    return {};
}

}  // namespace shoal
