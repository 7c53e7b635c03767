#pragma once
// The files of unloaded zones in snapshots: see save/zone_files.h.

#include "save/state_file.h"
#include "save/zone_files.h"
#include "shoal/base/string_id.h"
#include "support/changed_state.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace shoal_test {

inline std::string path_of_zone(shoal::Zone zone) { return "zones/" + std::to_string(zone) + "/file"; }

/// Returns the zones whose files a state has.
inline std::vector<shoal::Zone> zones_in(const shoal::Snapshot& state) {
    shoal::Array<shoal::SavedZone> saved{shoal::Owner("test")};
    must(shoal::SnapshotReader(state).array("zones/list", saved).ok());
    std::vector<shoal::Zone> zones;
    for (const shoal::SavedZone& one : saved) zones.push_back(one.zone);
    return zones;
}

/// What the file of a zone holds.
inline shoal::Snapshot file_in(const shoal::Snapshot& state, shoal::Zone zone) {
    const shoal::SnapshotPart part = state.part(state.find(path_of_zone(zone)));
    std::vector<std::byte> bytes(part.num_bytes());
    state.copy(part, 0, part.num_elements, bytes.data());
    shoal::SerialExecutor alone;
    return std::move(*shoal::read_state(bytes, alone));
}

/// A copy of a state with another file of a zone, which is listed with its size and hash.
inline shoal::Snapshot with_file(const shoal::Snapshot& from, shoal::Zone zone, const shoal::Snapshot& rows) {
    shoal::SerialExecutor alone;
    const shoal::Array<std::byte> bytes = std::move(*shoal::write_state(rows, alone));
    return with_parts(from, [&](ChangedPart& part) {
        if (part.path == path_of_zone(zone)) part.bytes.assign(bytes.begin(), bytes.end());
        for (std::size_t at = 0; part.path == "zones/list" && at < part.bytes.size(); at += sizeof(shoal::SavedZone)) {
            shoal::SavedZone saved{};
            std::memcpy(&saved, part.bytes.data() + at, sizeof saved);
            if (saved.zone != zone) continue;
            saved.num_bytes = bytes.size();
            saved.hash = shoal::hash_bytes(bytes.data(), bytes.size());
            std::memcpy(part.bytes.data() + at, &saved, sizeof saved);
        }
        return true;
    });
}

}  // namespace shoal_test
