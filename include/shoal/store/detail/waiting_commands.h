#pragma once
// The commands that wait in a directory of stores: how they are carried out, saved and searched. command/commands.h
// says what commands are, and what they do.
//
//     Commands --record--> lists of chunks --apply()--> entities, and the stores of the directory
//
// Thread: between passes, but of_directory() and here() from any thread.

#include "shoal/store/store.h"

#include <string_view>

namespace shoal {

class Blob;
class Commands;
class ComponentDirectory;
struct SpawnOverride;

/// What a command does to the texts of an entity.
enum class TextChange : std::uint8_t { kName, kTag, kUntag };

/// What commands need beside stores: who spawns, copies, keeps texts, and knows what saved commands refer to. A world
/// is one.
class CommandHost {
public:
    /// Spawns copies of a blob. `firsts` live and have nothing yet: they become blob entity 0 of each copy. Entities
    /// for which the blob names no zone lie in `zone`; kNoZone: the stores decide. `overrides` are of the copies.
    /// Returns how many entities there are now. Shape: poses: as firsts, or empty. Errors: nothing was spawned, and
    /// `firsts` are destroyed.
    virtual Result<std::uint32_t> spawn(const Blob& blob, std::span<const Entity> firsts,
                                        std::span<const RootPose> poses, Zone zone,
                                        std::span<const SpawnOverride> overrides) = 0;
    /// The same for copies of a living entity and all below it; with poses, that is where the copies lie.
    virtual Result<std::uint32_t> copy(Entity original, std::span<const Entity> firsts,
                                       std::span<const RootPose> poses) = 0;
    /// Names a living entity, gives it a tag, or takes one away; the host keeps the text.
    /// Errors: there is no such text for a tag; no memory; another text has the same hash. Nothing has changed.
    virtual Status change_text(TextChange change, Entity entity, std::string_view text) = 0;

    /// Errors: a store would not take these images, or poses, though all are values.
    virtual Status check_images(const Schema& schema, std::span<const std::byte> images) const = 0;
    virtual Status check_poses(std::span<const RootPose> poses) const = 0;
    /// Returns the name under which find_blob() finds a blob, or nothing: it does not.
    virtual std::string_view name_of_blob(const Blob& blob) const = 0;
    virtual const Blob* find_blob(ResourceId resource) const = 0;

protected:
    ~CommandHost() = default;
};

class WaitingCommands {
public:
    /// Returns the commands that wait in a directory; the first call makes the object. Thread: any. (The room command
    /// has the body, and all that commands are.)
    SHOAL_API static WaitingCommands& of_directory(ComponentDirectory& directory);
    WaitingCommands(const WaitingCommands&) = delete;
    WaitingCommands& operator=(const WaitingCommands&) = delete;

    /// Returns the commands of the pass that the calling thread runs, or those from outside of passes. Thread: any.
    virtual Commands& here() = 0;

    /// From now on, commands that spawn, copy, name and tag ask `host`, which outlives them; nullptr: they are refused.
    void set_host(CommandHost* host) { host_ = host; }
    CommandHost* host() const { return host_; }

    /// Carries all out and adds what was done to `counts`, if any.
    virtual void apply(SettleCounts* counts) = 0;
    /// Whether apply() runs now.
    virtual bool is_applying() const = 0;
    /// Drops them.
    virtual void discard() = 0;

    /// Returns how many wait.
    std::uint64_t num_waiting() {
        std::uint64_t sum = 0;
        count([](void* context, std::uint32_t, std::string_view,
                 std::uint64_t waiting) { *static_cast<std::uint64_t*>(context) += waiting; },
              &sum);
        return sum;
    }
    /// Returns the place in the order of passes, from 1, of the first that has asked for something; 0: none waits.
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
    /// Calls visit(context, pass, kind, count) for what passes have asked for, some kinds of a pass several times.
    /// `pass`: its place, as above; 0: outside of passes. `kind`: "destroyed", "created", "moved", "added", "removed",
    /// "spawned", "copied", "called" or "set". `count`: of entities.
    virtual void count(void (*visit)(void* context, std::uint32_t pass, std::string_view kind, std::uint64_t count),
                       void* context) = 0;
    /// Appends the component types that they name, some of them several times, and behind that of a field which is set
    /// the schema of its value, of the same name. Lifetime: as long as they wait.
    virtual void list_schemas(Array<const Schema*>& schemas) = 0;
    /// Returns how many values refer to arrays of `resource`, or spawn it.
    virtual std::uint64_t count_pins(ResourceId resource) = 0;
    /// Calls visit(context, element_type, array) with a copy of each read-only array in values. The copy takes the
    /// place of the array if visit() returns that it has changed it.
    virtual void visit_arrays(bool (*visit)(void* context, FieldType element_type, BlobArrayBase& array),
                              void* context) = 0;
    /// Calls visit(context, bytes) for values that may have ids of texts: string ids and numbers of 32 bits, and all
    /// that spawns override.
    virtual void visit_values(void (*visit)(void* context, std::span<const std::byte>), void* context) = 0;

    /// Writes those that wait, as "commands". The writer refuses those that cannot be saved.
    virtual void save(SnapshotWriter& to) = 0;
    /// Puts what save() wrote, which may be false, in place of what waits. `saved`: schemas of component types that no
    /// store keeps. Errors: it does not fit; nothing waits then.
    virtual Status load(SnapshotReader& from, std::span<const Schema> saved = {}) = 0;

protected:
    WaitingCommands() = default;
    ~WaitingCommands() = default;

private:
    CommandHost* host_ = nullptr;
};

}  // namespace shoal
