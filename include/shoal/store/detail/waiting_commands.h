#pragma once
// The commands that wait in a directory of stores: how they are carried out, saved and searched. command/commands.h
// explains commands.
//
//     Commands --record--> lists of chunks --apply()--> entities, and the stores of the directory
//
// Thread: of_directory() and here() from any thread; all other calls between passes.

#include "shoal/store/store.h"

#include <string_view>

namespace shoal {

class Blob;
class Commands;
class ComponentDirectory;
struct SpawnOverride;

/// The change that a command makes to an entity's name or tags.
enum class TextChange : std::uint8_t { kName, kTag, kUntag };

/// The object, such as a world, that spawns and copies entities for commands, keeps names and tags, and finds the blobs
/// and stores that saved commands refer to.
class CommandHost {
public:
    /// Spawns copies of a blob. `firsts` are living entities without components; each becomes blob entity 0 of one
    /// copy. Entities for which the blob names no zone are put into `zone`; if that is kNoZone, the stores choose the
    /// zone. `overrides` apply to the copies. Returns the total number of entities in the copies. Shape: `poses` is as
    /// long as `firsts`, or empty. On error, nothing has been spawned, and `firsts` are destroyed.
    virtual Result<std::uint32_t> spawn(const Blob& blob, std::span<const Entity> firsts,
                                        std::span<const RootPose> poses, Zone zone,
                                        std::span<const SpawnOverride> overrides) = 0;
    /// Like spawn(), but copies a living entity and all its descendants; `poses` are the poses of the copies.
    virtual Result<std::uint32_t> copy(Entity original, std::span<const Entity> firsts,
                                       std::span<const RootPose> poses) = 0;
    /// Names a living entity, or adds or removes one of its tags. The host keeps the text.
    /// Errors: the text cannot be a tag; no memory; a different string has the same hash. On error, nothing has
    /// changed.
    virtual Status change_text(TextChange change, Entity entity, std::string_view text) = 0;

    /// Checks whether the stores accept these images or poses. Errors: a store would refuse them, although they are
    /// valid values.
    virtual Status check_images(const Schema& schema, std::span<const std::byte> images) const = 0;
    virtual Status check_poses(std::span<const RootPose> poses) const = 0;
    /// Returns the name under which find_blob() finds a blob, or an empty name.
    virtual std::string_view name_of_blob(const Blob& blob) const = 0;
    virtual const Blob* find_blob(ResourceId resource) const = 0;

protected:
    ~CommandHost() = default;
};

class WaitingCommands {
public:
    /// Returns the commands that wait in a directory; the first call creates the object. Thread: any. (Defined in
    /// src/command.)
    SHOAL_API static WaitingCommands& of_directory(ComponentDirectory& directory);
    WaitingCommands(const WaitingCommands&) = delete;
    WaitingCommands& operator=(const WaitingCommands&) = delete;

    /// Returns the commands of the pass that the calling thread is running. Outside of passes, returns the commands
    /// that belong to no pass. Thread: any.
    virtual Commands& here() = 0;

    /// From now on, commands that spawn, copy, name or tag use `host`, which outlives this object. If `host` is null,
    /// these commands are refused.
    void set_host(CommandHost* host) { host_ = host; }
    CommandHost* host() const { return host_; }

    /// Carries out all commands. If `counts` is not null, adds the totals to it.
    virtual void apply(SettleCounts* counts) = 0;
    /// Whether apply() is running.
    virtual bool is_applying() const = 0;
    /// Drops all commands.
    virtual void discard() = 0;

    /// Returns how many commands are waiting.
    std::uint64_t num_waiting() {
        std::uint64_t sum = 0;
        count([](void* context, std::uint32_t, std::string_view,
                 std::uint64_t waiting) { *static_cast<std::uint64_t*>(context) += waiting; },
              &sum);
        return sum;
    }
    /// Returns the 1-based position of the first pass with waiting commands, or 0 if there is none.
    std::uint32_t first_waiting_pass() {
        std::uint32_t first = 0;
        count(
            [](void* context, std::uint32_t pass, std::string_view, std::uint64_t) {
                std::uint32_t& least = *static_cast<std::uint32_t*>(context);
                if (pass != 0 && (least == 0 || pass < least)) least = pass;
            },
            &first);
        return first;
    }
    /// Calls visit(context, pass, kind, count) for the waiting commands, possibly several times for the same kind and
    /// pass. `pass` is the 1-based position of the pass, or 0 outside of passes. `kind` is "destroyed", "created",
    /// "moved", "added", "removed", "spawned", "copied", "called" or "set". `count` is the number of entities.
    virtual void count(void (*visit)(void* context, std::uint32_t pass, std::string_view kind, std::uint64_t count),
                       void* context) = 0;
    /// Appends the component types that the commands name, possibly with duplicates. For a command that sets a field,
    /// appends the component type and then the schema of the field's value, which has the same name. Lifetime: until
    /// the commands are carried out or dropped.
    virtual void list_schemas(Array<const Schema*>& schemas) = 0;
    /// Returns the number of values that refer to arrays in `resource`, plus the number of commands that spawn that
    /// resource.
    virtual std::uint64_t count_pins(ResourceId resource) = 0;
    /// Calls visit(context, element_type, array) with a copy of each read-only array in the values of commands. If
    /// visit() changes the copy and returns true, the copy replaces the array.
    virtual void visit_arrays(bool (*visit)(void* context, FieldType element_type, BlobArrayBase& array),
                              void* context) = 0;
    /// Calls visit(context, bytes) for values that may contain string ids: StringId fields, 32-bit numbers, and all
    /// spawn overrides.
    virtual void visit_values(void (*visit)(void* context, std::span<const std::byte>), void* context) = 0;

    /// Writes the waiting commands under the name "commands". Refuses commands that cannot be saved.
    virtual void save(SnapshotWriter& to) = 0;
    /// Replaces the waiting commands with what save() wrote, which may be corrupt. `saved` holds the schemas of
    /// component types that no store keeps. Errors: the data does not fit. On error, no commands are waiting.
    virtual Status load(SnapshotReader& from, std::span<const Schema> saved = {}) = 0;

protected:
    WaitingCommands() = default;
    ~WaitingCommands() = default;

private:
    CommandHost* host_ = nullptr;
};

}  // namespace shoal
