#pragma once
// The hashes of a frame: hashes of the fields that each pass has written, and of all fields and zones at the end of the
// frame. The hashes are saved as parts of a snapshot, so that a state log contains them:
//
//     recording/passes        a line for each pass that ran: its name, and a tab and a field for each of its hashes
//     recording/pass_hashes   the hashes, in the same order
//     recording/fields        lines; recording/field_hashes: numbers
//     recording/zones         numbers; recording/zone_hashes: numbers
//
// Thread: observe() on any worker, all other functions on the structural thread.

#include "save/field_values.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/schedule.h"

#include <vector>

namespace shoal {

/// The hash of a field over all zones.
struct FieldHash {
    FieldName name;
    std::uint64_t hash = 0;
    friend bool operator==(const FieldHash&, const FieldHash&) = default;
};

struct PassHashes {
    std::string name;  ///< empty if the pass did not run
    std::vector<FieldHash> fields;
    friend bool operator==(const PassHashes&, const PassHashes&) = default;
};

class FrameHashes final : public PassObserver {
public:
    /// Begins a frame. Lifetime: `world` must outlive the frame.
    void begin(const World& world);
    void observe(std::string_view pass, std::uint32_t number, std::span<const Access> accesses) override;
    /// Ends the frame, after the world has settled.
    void end();

    void save(SnapshotWriter& to) const;
    Status load(SnapshotReader& from);

    /// For each pass that ran, in schedule order, the hashes of the fields that it has written.
    const std::vector<PassHashes>& passes() const { return passes_; }
    const std::vector<FieldHash>& fields() const { return fields_; }
    /// Whether both frames have the same hashes.
    bool equals(const FrameHashes& other) const {
        return passes_ == other.passes_ && fields_ == other.fields_ && zones_ == other.zones_ &&
               zone_hashes_ == other.zone_hashes_;
    }

private:
    const World* world_ = nullptr;
    std::vector<PassHashes> passes_;
    std::vector<FieldHash> fields_;  // sorted like StateHashes::parts()
    std::vector<Zone> zones_;        // ascending
    std::vector<std::uint64_t> zone_hashes_;
};

/// Returns the fields whose hashes differ between the lists, in the order of `differing_fields()`.
std::vector<FieldName> differing_fields(std::span<const FieldHash> here, std::span<const FieldHash> there);

}  // namespace shoal
